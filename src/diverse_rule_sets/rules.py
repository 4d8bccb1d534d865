"""Rules and rule sets: frozen values in the units of the table.

Neither the encoder nor the compiled kernels are needed to use a fitted rule set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._tables import Table, as_table
from diverse_rule_sets.conditions import Condition, Flags, format_label


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, then the label.

    Two rules are equal when their conditions and label are; the counts are evidence, not identity.

    Parameters
    ----------
    conditions : tuple of Condition, at most one per column
    label : what the rule predicts
    class_counts : pairs of (label, number of training records of that class that the rule covers)

    Examples
    --------
    >>> from diverse_rule_sets import Equals, Interval
    >>> rule = Rule((Interval("age", high=37), Equals("sex", "F")), "good", (("bad", 1), ("good", 9)))
    >>> print(rule)
    IF age <= 37 AND sex = "F" THEN good
    >>> rule.n_covered, rule.precision
    (10, 0.9)
    >>> import numpy as np
    >>> Rule((Interval("x0", low=2),), "high").covers(np.array([[1.0], [3.0]]))
    array([False,  True])
    """

    conditions: tuple[Condition, ...]
    label: Any
    class_counts: tuple[tuple[Any, int], ...] = field(default=(), compare=False)

    @property
    def n_covered(self) -> int:
        """How many training records the rule covers."""
        return sum(count for _, count in self.class_counts)

    @property
    def precision(self) -> float:
        """Share of the covered training records that have the rule's label; NaN if it covers none."""
        own = sum(count for label, count in self.class_counts if label == self.label)
        return own / self.n_covered if self.n_covered else math.nan

    def covers(self, X: Any) -> Flags:
        """Tell for each record of a table whether all conditions hold. Only the columns named are read."""
        table = as_table(X)
        covered = np.ones(table.n_records, np.bool_)
        for condition in self.conditions:
            covered &= condition.holds(table.column(condition.column))
        return covered

    def __str__(self) -> str:
        body = " AND ".join(map(str, self.conditions)) or "anything"
        return f"IF {body} THEN {format_label(self.label)}"


# Records times rules that are looked at in one go.
_BLOCK = 1 << 22

Conflict = str | Callable[[tuple[Rule, ...]], Rule]

# Who speaks where several rules cover a record.
CONFLICTS = {
    "precision": "the most precise one speaks",
    "smoothed": "the most precise one speaks (precision smoothed towards the class shares)",
    "f1": "the one with the highest F1 score speaks",
    "first": "the first one speaks",
    "vote": "they vote, each with its smoothed precision",
    "counts": "their class counts are added up and the largest class wins",
}


@dataclass(frozen=True)
class RuleSet:
    """Rules, how a contradiction between them is settled, and what is said of a record that none covers.

    Iterating gives the rules, in the order in which they were chosen; the backups are kept and counted apart.

    Parameters
    ----------
    rules : tuple of Rule
    classes : all labels, sorted
    default : the label of a record that neither a rule nor a backup covers
    class_totals : training records of each class
    uncovered_counts : training records of each class that no rule covers
    conflict : who speaks where several rules cover a record: one of the words in ``CONFLICTS``, or a function that is
        given the covering rules and returns one of them
    backups : tuple of Rule, asked in order where no rule covers a record; the first that covers it speaks. Their
        class counts are those of the training records for which they speak
    class_weights : how much a record of each class counts in precisions and probabilities; None: all the same
    smoothing : a rule's shares are mixed with those of the whole table as if it covered so many records
        more; None: as many as there are classes
    """

    rules: tuple[Rule, ...]
    classes: tuple[Any, ...]
    default: Any
    class_totals: tuple[int, ...]
    uncovered_counts: tuple[int, ...]
    conflict: Conflict = "precision"
    backups: tuple[Rule, ...] = ()
    class_weights: tuple[float, ...] | None = None
    smoothing: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.conflict) and self.conflict not in CONFLICTS:
            words = ", ".join(repr(word) for word in CONFLICTS)
            raise ValueError(
                f"conflict must be one of {words}, or a function of the covering rules, got {self.conflict!r}"
            )

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rule, ...]: ...
    def __getitem__(self, index: int | slice) -> Rule | tuple[Rule, ...]:
        return self.rules[index]

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns that some rule or backup reads, in the order of first use."""
        return tuple(dict.fromkeys(c.column for rule in self.rules + self.backups for c in rule.conditions))

    def fires(self, X: Any) -> Flags:
        """Tell which rules cover which records: an array (n_records, n_rules)."""
        table = as_table(X)
        return _unpacked(_fires(self.rules, table), 0, table.n_records)

    def speakers(self, X: Any) -> NDArray[np.int64]:
        """Return who speaks for each record: a position in ``rules + backups``, or -1.

        -1 means the default; where class counts are added up also that no covering rule has the label that wins.
        """
        return self._by_blocks(X, lambda covered, spoke: spoke)

    def _by_blocks(self, X: Any, tell: Callable[[Flags, NDArray[np.int64]], NDArray[Any]]) -> NDArray[Any]:
        """Ask about some records after the other, so that many rules on many records fit into memory.

        ``tell`` is given which rules cover each record of a block, and who speaks for it.
        """
        table = as_table(X)
        fired = _fires(self.rules + self.backups, table)
        size = max(8, _BLOCK // (len(fired) + 1) // 8 * 8)
        blocks = []
        for begin in range(0, table.n_records, size):
            flags = _unpacked(fired, begin, min(begin + size, table.n_records))
            covered, spare = flags[:, : len(self.rules)], flags[:, len(self.rules) :]
            spoke = self._settled(covered)
            if self.backups:
                backup = np.where(spare.any(axis=1), len(self.rules) + np.argmax(spare, axis=1), -1)
                spoke = np.where(covered.any(axis=1), spoke, backup)
            blocks.append(tell(covered, spoke))
        return np.concatenate(blocks)

    def _settled(self, fired: Flags) -> NDArray[np.int64]:
        """Return the position of the rule that speaks for each record, -1 where none covers it."""
        if not self.rules:
            return np.full(fired.shape[0], -1, np.int64)
        if callable(self.conflict):
            groups, which = firing_groups(fired)
            return np.array([self._settle(group) for group in groups], np.int64)[which]
        if self.conflict in ("vote", "counts"):
            patterns, which = _patterns(fired)
            return self._by_ballots(patterns)[which]
        order = self._order()
        first = np.argmax(fired[:, order], axis=1)
        return np.where(fired.any(axis=1), order[first], -1)

    def answers(self, X: Any) -> NDArray[np.int64]:
        """Return the position in ``classes`` of each record's label."""
        return self._by_blocks(X, self._said)

    def _said(self, covered: Flags, spoke: NDArray[np.int64]) -> NDArray[np.int64]:
        said = self.said_by(spoke)
        if self.conflict == "counts":  # may say what no rule alone says
            patterns, which = _patterns(covered)
            said = np.where(covered.any(axis=1), self._largest(patterns)[which], said)
        return said

    def predict(self, X: Any) -> NDArray[Any]:
        """Return each record's label: that of the rule or backup that speaks, or the default."""
        classes = np.empty(len(self.classes), object)
        classes[:] = self.classes
        return classes[self.answers(X)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return each record's class probabilities: the smoothed class counts of the rule that speaks.

        ``w_k * (n_k + m * p_k) / (n + m)`` for class k, scaled to sum to 1: n_k of the n training records under the
        rule are of class k, m is ``smoothing``, p_k the share of class k in the training data, w_k the class
        weight. A record left to the default takes the :attr:`default_counts`; where ``conflict`` is ``"counts"``, those
        of all covering rules are added up first. Columns are ordered as ``classes``.
        """
        counts = np.vstack([self._counts(self.rules + self.backups), np.array([self.default_counts], np.float64)])
        alone = self._smooth(counts)

        def shares(covered: Flags, spoke: NDArray[np.int64]) -> NDArray[np.float64]:
            if self.conflict != "counts":
                return alone[spoke]
            patterns, which = _patterns(covered)
            together = self._smooth(patterns @ self._counts(self.rules))[which]
            return np.where(covered.any(axis=1, keepdims=True), together, alone[spoke])

        return self._by_blocks(X, shares)

    def reasons(self, X: Any) -> list[str]:
        """Say for each record in one sentence why it gets its label."""
        numbered = [str(rule) for rule in self.rules]
        numbered += [f"no rule covers it; the first backup that does: {rule}" for rule in self.backups]
        nobody = "no rule and no backup covers it" if self.backups else "no rule covers it"
        sentences = np.array([*numbered, f"{nobody}: {format_label(self.default)}"], object)

        def told(covered: Flags, spoke: NDArray[np.int64]) -> NDArray[Any]:
            if self.conflict != "counts":
                return sentences[spoke]
            patterns, which = _patterns(covered)
            labels = self._largest(patterns).tolist()
            groups = [self._together(np.flatnonzero(row), k) for row, k in zip(patterns, labels, strict=True)]
            return np.where(covered.any(axis=1), np.array(groups, object)[which], sentences[spoke])

        return list(self._by_blocks(X, told))

    def _together(self, group: NDArray[np.int64], answer: int) -> str:
        """Say what the class counts of some rules come to; nothing for no rules."""
        if not group.size:
            return ""
        if group.size == 1:
            rule = self.rules[group[0]]
            sentence = f"{rule}{_tally(rule.class_counts)}"
            hence = "" if rule.label == self.classes[answer] else f", hence {format_label(self.classes[answer])}"
            return sentence + hence
        added = self._counts(tuple(self.rules[j] for j in group)).sum(axis=0).astype(int)
        names = ", ".join(str(j + 1) for j in group[:-1]) + f" and {group[-1] + 1}"
        tally = _tally(tuple(zip(self.classes, added.tolist(), strict=True)))
        return f"rules {names} together{tally}, hence {format_label(self.classes[answer])}"

    @property
    def likeliest_default(self) -> Any:
        """The class with the highest probability among records left to the default."""
        return self.classes[int(np.argmax(self._smooth(np.array([self.default_counts], np.float64))[0]))]

    @property
    def default_counts(self) -> tuple[int, ...]:
        """Training records of each class that are left to the default; if there are none, all that no rule covers."""
        answered = self._counts(self.backups).sum(axis=0)
        left = tuple(int(n) for n in np.maximum(np.array(self.uncovered_counts) - answered, 0))
        return next((counts for counts in (left, self.uncovered_counts) if any(counts)), self.class_totals)

    def said_by(self, speakers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position in ``classes`` of what each speaker says; -1 is the default."""
        labels = [self.classes.index(rule.label) for rule in self.rules + self.backups]
        return np.array([*labels, self.classes.index(self.default)], np.int64)[speakers]

    def _counts(self, rules: tuple[Rule, ...]) -> NDArray[np.float64]:
        """Class counts of each rule, in the order of ``classes``."""
        rows = [[dict(rule.class_counts).get(label, 0) for label in self.classes] for rule in rules]
        return np.array(rows, np.float64).reshape(len(rules), len(self.classes))

    def _smooth(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        prior = np.array(self.class_totals) / max(sum(self.class_totals), 1)
        added = len(self.classes) if self.smoothing is None else self.smoothing
        covered = counts.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            shares = np.where(covered + added > 0, (counts + added * prior) / (covered + added), prior)
        if self.class_weights is not None:
            shares = shares * np.array(self.class_weights)
            shares = shares / shares.sum(axis=1, keepdims=True)
        return np.asarray(np.round(shares, 12))  # classes that are as likely are so exactly: rounding decides no label

    def _precisions(self, smoothed: bool) -> NDArray[np.float64]:
        if not smoothed:
            return np.nan_to_num(np.array([rule.precision for rule in self.rules]))
        own = [self.classes.index(rule.label) for rule in self.rules]
        return self._smooth(self._counts(self.rules))[np.arange(len(self.rules)), own]

    def _f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall of each rule, for its own label."""
        own = np.array([self.classes.index(rule.label) for rule in self.rules], np.int64)
        hits = self._counts(self.rules)[np.arange(len(self.rules)), own]
        sizes = np.array([rule.n_covered for rule in self.rules]) + np.array(self.class_totals)[own]
        return np.asarray(2 * hits / np.maximum(sizes, 1))

    def _order(self) -> NDArray[np.int64]:
        """Order in which rules are asked; of equals the one that covers more, then the earlier."""
        places = np.arange(len(self.rules))
        if self.conflict == "first":
            return places
        merit = self._f1() if self.conflict == "f1" else self._precisions(smoothed=self.conflict != "precision")
        sizes = np.array([rule.n_covered for rule in self.rules])
        return np.lexsort((places, -sizes, -merit))

    def _largest(self, patterns: Flags) -> NDArray[np.int64]:
        """Return the class with the most (weighted) records under each combination of rules; of equals the larger."""
        added = patterns @ self._counts(self.rules)
        if self.class_weights is not None:
            added = np.round(added * np.array(self.class_weights), 9)
        leads = added == added.max(axis=1, keepdims=True)
        return np.argmax(np.where(leads, np.array(self.class_totals), -1), axis=1)

    def _by_ballots(self, patterns: Flags) -> NDArray[np.int64]:
        """Return the covering rule that speaks best for the label that wins, -1 if none of them has that label.

        In a vote that is the most precise rule of the label, where counts are added up the one with most records of it.
        """
        places = np.arange(len(self.rules))
        label = np.array([self.classes.index(rule.label) for rule in self.rules])
        merit = np.full((len(self.rules), len(self.classes)), -1.0)
        if self.conflict == "counts":
            winner = self._largest(patterns)
            merit[places, label] = self._counts(self.rules)[places, label]
        else:
            ballots = np.zeros_like(merit)
            ballots[places, label] = self._precisions(smoothed=True)
            winner = np.argmax(patterns @ ballots, axis=1)
            merit[self._order(), label[self._order()]] = places[::-1]
        offered = np.where(patterns, merit[:, winner].T, -1.0)
        best = np.argmax(offered, axis=1)
        return np.where(offered[np.arange(len(patterns)), best] >= 0, best, -1)

    def _settle(self, covering: NDArray[np.int64]) -> int:
        """Return which of the covering rules speaks, by the user's function."""
        if covering.size < 2:
            return int(covering[0]) if covering.size else -1
        assert callable(self.conflict)
        offered = tuple(self.rules[j] for j in covering)
        answer = self.conflict(offered)
        if answer not in offered:
            raise ValueError(f"conflict returned {answer!r}, expected one of the covering rules it was given")
        return int(covering[offered.index(answer)])

    def __repr__(self) -> str:
        spare = f", {len(self.backups)} backups" if self.backups else ""
        return f"<RuleSet: {len(self.rules)} rules{spare}, {len(self.classes)} classes, default {self.default!r}>"

    def __str__(self) -> str:
        """Return the rules as a page to read, then the backups, the default last."""
        total = sum(self.class_totals)
        number = len(str(len(self.rules) + len(self.backups)))
        pages = [f"{j:>{number}}. {_page(rule, total, number + 2)}" for j, rule in enumerate(self.rules, 1)]
        n_uncovered = sum(self.uncovered_counts)
        rest = f"no rule covers {n_uncovered:,} of {total:,} records{_tally(self._uncovered)}"
        rest = rest if n_uncovered else f"some rule covers each of the {total:,} records"
        if self.backups:
            pages.append(f"Where no rule covers a record ({rest}), the first of these speaks:")
            for j, rule in enumerate(self.backups, len(self.rules) + 1):
                pages.append(f"{j:>{number}}. {_backup_page(rule, number + 2)}")
            n_left = n_uncovered - sum(rule.n_covered for rule in self.backups)
            left = tuple(zip(self.classes, self.default_counts, strict=True))
            are_left = "record is left" if n_left == 1 else "records are left"
            rest = f"{n_left:,} {are_left}{_tally(left)}" if n_left else "no record is left"
        pages.append(f"{'':{number}}  OTHERWISE {format_label(self.default)} ({rest})")
        if len(self.rules) > 1:
            how = CONFLICTS.get(self.conflict) if isinstance(self.conflict, str) else None
            pages.append(f"Where several rules cover a record, {how or 'a function of those rules decides'}.")
        if self.class_weights is not None and max(self.class_weights) > 1.1 * min(self.class_weights):
            pages.append(_weight_words(self.classes, self.class_weights, self.class_totals))
        return "\n".join(pages)

    @property
    def _uncovered(self) -> tuple[tuple[Any, int], ...]:
        return tuple(zip(self.classes, self.uncovered_counts, strict=True))


def _fires(rules: Sequence[Rule], table: Table) -> NDArray[np.uint8]:
    """Tell which rules cover which records: a row of packed bits a rule. Each column is read once."""
    fired = np.full((len(rules), -(-table.n_records // 8)), 255, np.uint8)
    by_column: dict[Hashable, dict[Condition, list[int]]] = {}
    for j, rule in enumerate(rules):
        for condition in rule.conditions:
            by_column.setdefault(condition.column, {}).setdefault(condition, []).append(j)
    for name, conditions in by_column.items():
        column = table.column(name)
        for condition, where in conditions.items():
            fired[where] &= np.packbits(condition.holds(column))
    return fired


def _unpacked(fired: NDArray[np.uint8], begin: int, end: int) -> Flags:
    """Return which rules cover the records from ``begin``, a multiple of 8, to ``end``: an array (records, rules)."""
    octets = fired[:, begin // 8 : -(-end // 8)]
    flags = np.unpackbits(octets, axis=1, count=end - begin).view(np.bool_)
    return np.ascontiguousarray(flags.T)  # much is asked record by record


def _patterns(fired: Flags) -> tuple[Flags, NDArray[np.int64]]:
    """Return the combinations of rules that occur, few as a rule, and which of them each record has."""
    if not fired.shape[1]:
        return fired[:1], np.zeros(len(fired), np.int64)
    packed = np.ascontiguousarray(np.packbits(fired, axis=1))
    whole = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)  # a row as one value sorts faster
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    return fired[first], which.reshape(-1)


def firing_groups(fired: Flags) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Return the combinations of rules that occur, as positions, and which of them each record has."""
    patterns, which = _patterns(fired)
    return [np.flatnonzero(row) for row in patterns], which


def _page(rule: Rule, total: int, indent: int) -> str:
    """Return one rule with its figures, wrapped."""
    margin = " " * indent
    one_line = f"IF {' AND '.join(map(str, rule.conditions)) or 'anything'}"
    body = one_line if len(one_line) <= 88 else "IF " + f"\n{margin}AND ".join(map(str, rule.conditions))
    figures = f"precision {rule.precision:.2f}, covers {rule.n_covered:,} of {total:,} records"
    figures = figures if rule.n_covered else f"covers none of {total:,} records"
    return f"{body}\n{margin}THEN {format_label(rule.label)} ({figures}{_tally(rule.class_counts)})"


def _weight_words(classes: Sequence[Any], weights: Sequence[float], totals: Sequence[int]) -> str:
    """Say how classes are weighted."""
    mass = [weight * total for weight, total in zip(weights, totals, strict=True)]
    if max(mass) < 1.001 * min(mass):
        return "Every class counts the same, whatever its size: a label is the class that is unusually common there."
    words = (f"{format_label(label)} {weight:.3g}" for label, weight in zip(classes, weights, strict=True))
    return f"A record counts by its class: {', '.join(words)}."


def _backup_page(rule: Rule, indent: int) -> str:
    """Return one backup with its figures, on one line if it fits."""
    body, answer = str(rule).rsplit(" THEN ", 1)
    figures = f"({rule.precision:.2f} of {rule.n_covered:,}{_tally(rule.class_counts)})"
    gap = " " if len(body) + len(answer) + len(figures) < 100 else "\n" + " " * indent
    return f"{body}{gap}THEN {answer} {figures}"


def _tally(class_counts: Sequence[tuple[Any, int]]) -> str:
    """Return `: 38 virginica, 1 versicolor`, the largest class first; nothing for no records."""
    present = sorted((pair for pair in class_counts if pair[1]), key=lambda pair: -pair[1])
    words = (f"{n:,} {'' if isinstance(label, str) else 'of class '}{format_label(label)}" for label, n in present)
    return ": " + ", ".join(words) if present else ""
