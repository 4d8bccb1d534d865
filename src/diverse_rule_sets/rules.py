"""Conditions, rules and rule sets: frozen values in the units of the table.

What a condition says of a record is defined here, in :meth:`Condition.holds`, and nowhere else: the
learner packs these answers into bits, prediction asks them of new records. Neither the encoder nor the
compiled kernels are needed to use a fitted rule set.
"""

from __future__ import annotations

import datetime
import json
import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._tables import BOOLEAN, CATEGORY, DATE, INSTANT, NUMBER, TEXT, Column, as_table, plain

Flags = NDArray[np.bool_]
Bound = float | datetime.datetime | None

# Names that read like something else: operators, quotes, keywords, numbers, brackets, blanks at the ends.
_AWKWARD = re.compile(
    r"[=<>\"'`{}]|^\[|^\s|\s$|^$|^[-+.\d][-+.\de]*$|^(IF|AND|THEN|OTHERWISE)\b|\b(AND|THEN|is missing)\b"
)


@dataclass(frozen=True)
class Condition(ABC):
    """One test of one column; the base of :class:`Interval`, :class:`Equals` and :class:`IsMissing`."""

    column: Hashable

    @abstractmethod
    def holds(self, column: Column) -> Flags:
        """Tell for each record of the column whether the condition holds."""

    def _mismatch(self, column: Column, expected: str) -> ValueError:
        return ValueError(
            f"column {self.column!r} holds {column.kind} values, expected {expected} values for the condition {self}"
        )


@dataclass(frozen=True)
class Interval(Condition):
    """``low < column <= high``; a bound of None is absent. Missing values are in no interval.

    Examples
    --------
    >>> print(Interval("age", low=37, high=60))
    37 < age <= 60
    >>> print(Interval("petal width (cm)", high=0.8))
    petal width (cm) <= 0.8
    """

    low: Bound = None
    high: Bound = None

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ValueError(f"an interval of {self.column!r} needs low or high, or both")

    @property
    def kind(self) -> str:
        """The kind of column that the interval speaks of."""
        bound = self.high if self.low is None else self.low
        if isinstance(bound, datetime.datetime):
            return DATE if bound.tzinfo is None else INSTANT
        return NUMBER

    def holds(self, column: Column) -> Flags:
        """Tell for each record whether its value lies in the interval."""
        if column.kind != self.kind:
            if column.missing.all():
                return np.zeros(column.values.size, np.bool_)
            raise self._mismatch(column, self.kind)
        low, high = (_comparable(bound) for bound in (self.low, self.high))
        if low is None:
            return np.asarray(column.values <= high)
        above = np.asarray(column.values > low)
        return above if high is None else above & (column.values <= high)

    def __str__(self) -> str:
        name = format_name(self.column)
        if self.low is None:
            return f"{name} <= {format_value(self.high)}"
        if self.high is None:
            return f"{name} > {format_value(self.low)}"
        return f"{format_value(self.low)} < {name} <= {format_value(self.high)}"


@dataclass(frozen=True)
class Equals(Condition):
    """``column = value``. A missing value equals nothing, nor does a category never seen before.

    Parameters
    ----------
    column, value : the column, and the value it must have
    mixed : the column may hold values of several kinds, such as strings and numbers; where it holds none of this
        kind, nothing equals the value. Otherwise a column of another kind is an error

    Examples
    --------
    >>> print(Equals("sex", "F"))
    sex = "F"
    """

    value: Any
    mixed: bool = field(default=False, compare=False)

    def holds(self, column: Column) -> Flags:
        """Tell for each record whether its value is the one named."""
        if column.kind in (TEXT, BOOLEAN, CATEGORY):
            fits = column.kind == CATEGORY or isinstance(self.value, bool) == (column.kind == BOOLEAN)
            if fits and not (column.kind == TEXT and not isinstance(self.value, str)):
                return np.asarray(column.values == column.positions.get(self.value, -2))
        elif column.kind == NUMBER and isinstance(self.value, numbers.Real) and not isinstance(self.value, bool):
            return np.asarray(column.values == self.value)
        if self.mixed or column.missing.all():
            return np.zeros(column.values.size, np.bool_)
        kinds = {str: TEXT, bool: BOOLEAN}
        raise self._mismatch(column, kinds.get(type(self.value), CATEGORY))

    def __str__(self) -> str:
        return f"{format_name(self.column)} = {format_value(self.value)}"


@dataclass(frozen=True)
class IsMissing(Condition):
    """``column is missing``: the table has no value there.

    Examples
    --------
    >>> print(IsMissing("income"))
    income is missing
    """

    def holds(self, column: Column) -> Flags:
        """Tell for each record whether it has no value."""
        return column.missing

    def __str__(self) -> str:
        return f"{format_name(self.column)} is missing"


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


Conflict = str | Callable[[tuple[Rule, ...]], Rule]


@dataclass(frozen=True)
class RuleSet:
    """Rules, how a contradiction between them is settled, and what is said of a record that none covers.

    Iterating gives the rules, in the order in which they were chosen.

    Parameters
    ----------
    rules : tuple of Rule
    classes : all labels, sorted
    default : the label of a record that no rule covers
    class_totals : training records of each class
    uncovered_counts : training records of each class that no rule covers
    conflict : which covering rule speaks: ``"precision"``, ``"smoothed"``, ``"vote"``, or a function that is given the
        covering rules and returns one of them
    """

    rules: tuple[Rule, ...]
    classes: tuple[Any, ...]
    default: Any
    class_totals: tuple[int, ...]
    uncovered_counts: tuple[int, ...]
    conflict: Conflict = "precision"

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
        """The columns that some rule reads, in the order of first use."""
        return tuple(dict.fromkeys(c.column for rule in self.rules for c in rule.conditions))

    def fires(self, X: Any) -> Flags:
        """Tell which rules cover which records: an array (n_records, n_rules)."""
        table = as_table(X)
        fired = np.ones((len(self.rules), table.n_records), np.bool_)
        for name in self.columns:
            column = table.column(name)
            answers: dict[Condition, Flags] = {}
            for j, rule in enumerate(self.rules):
                for condition in rule.conditions:
                    if condition.column == name:
                        if condition not in answers:
                            answers[condition] = condition.holds(column)
                        fired[j] &= answers[condition]
        return fired.T

    def speakers(self, fired: Flags) -> NDArray[np.int64]:
        """Return the position of the rule that speaks for each record, -1 where none covers it.

        Parameters
        ----------
        fired : what :meth:`fires` returned
        """
        if not self.rules:
            return np.full(fired.shape[0], -1, np.int64)
        if self.conflict in ("precision", "smoothed"):
            order = self._by_precision(smoothed=self.conflict == "smoothed")
            first = np.argmax(fired[:, order], axis=1)
            return np.where(fired.any(axis=1), order[first], -1)
        if self.conflict == "vote":
            return self._by_vote(fired)
        groups, which = firing_groups(fired)
        return np.array([self._settle(group) for group in groups], np.int64)[which]

    def answers(self, X: Any) -> NDArray[np.int64]:
        """Return the position in ``classes`` of each record's label."""
        return self.said_by(self.speakers(self.fires(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return each record's label: that of the rule that speaks, or the default."""
        classes = np.empty(len(self.classes), object)
        classes[:] = self.classes
        return classes[self.answers(X)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return each record's class probabilities: the smoothed class counts of the rule that speaks.

        ``(n_k + c * p_k) / (n + c)`` for class k, where n_k of the n training records under the rule are of class
        k, c is the number of classes and p_k the share of class k in the training data. Uncovered records take the
        counts of the uncovered training records. Columns are ordered as ``classes``.
        """
        counts = np.vstack([self._counts(), np.array([self.uncovered_counts], np.float64)])
        return self._smooth(counts)[self.speakers(self.fires(X))]

    def said_by(self, speakers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position in ``classes`` of what each speaker says; -1 is the default."""
        labels = [self.classes.index(rule.label) for rule in self.rules]
        return np.array([*labels, self.classes.index(self.default)], np.int64)[speakers]

    def _counts(self) -> NDArray[np.float64]:
        """Class counts of each rule, in the order of ``classes``."""
        rows = [[dict(rule.class_counts).get(label, 0) for label in self.classes] for rule in self.rules]
        return np.array(rows, np.float64).reshape(len(self.rules), len(self.classes))

    def _smooth(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        prior = np.array(self.class_totals) / max(sum(self.class_totals), 1)
        n_classes = len(self.classes)
        return (counts + n_classes * prior) / (counts.sum(axis=1, keepdims=True) + n_classes)

    def _precisions(self, smoothed: bool) -> NDArray[np.float64]:
        if not smoothed:
            return np.nan_to_num(np.array([rule.precision for rule in self.rules]))
        own = [self.classes.index(rule.label) for rule in self.rules]
        return self._smooth(self._counts())[np.arange(len(self.rules)), own]

    def _by_precision(self, smoothed: bool) -> NDArray[np.int64]:
        """Order of the rules, most precise first; of equals the one that covers more, then the earlier."""
        sizes = np.array([rule.n_covered for rule in self.rules])
        return np.lexsort((np.arange(len(self.rules)), -sizes, -self._precisions(smoothed)))

    def _by_vote(self, fired: Flags) -> NDArray[np.int64]:
        """Return the most precise covering rule of the label that wins; of equals the first label."""
        label = np.array([self.classes.index(rule.label) for rule in self.rules])
        ballots = np.zeros((len(self.rules), len(self.classes)))
        ballots[np.arange(len(self.rules)), label] = self._precisions(smoothed=True)
        winner = np.argmax(fired @ ballots, axis=1)
        order = self._by_precision(smoothed=True)
        speaks = fired & (label == winner[:, None])
        return np.where(fired.any(axis=1), order[np.argmax(speaks[:, order], axis=1)], -1)

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
        return f"<RuleSet: {len(self.rules)} rules, {len(self.classes)} classes, default {self.default!r}>"

    def __str__(self) -> str:
        """Return the rules as a page to read, the default last."""
        total = sum(self.class_totals)
        number = len(str(len(self.rules)))
        pages = [f"{j:>{number}}. {_page(rule, total, number + 2)}" for j, rule in enumerate(self.rules, 1)]
        uncovered = tuple(zip(self.classes, self.uncovered_counts, strict=True))
        n_uncovered = sum(self.uncovered_counts)
        rest = f"no rule covers {n_uncovered:,} of {total:,} records{_tally(uncovered)}"
        rest = rest if n_uncovered else f"some rule covers each of the {total:,} records"
        pages.append(f"{'':{number}}  OTHERWISE {format_label(self.default)} ({rest})")
        if len(self.rules) > 1:
            how = _CONFLICT_WORDS.get(self.conflict) if isinstance(self.conflict, str) else None
            pages.append(f"Where several rules cover a record, {how or 'a function of those rules decides'}.")
        return "\n".join(pages)


def firing_groups(fired: Flags) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Return the combinations of rules that occur, few as a rule, and which of them each record has."""
    patterns, which = np.unique(np.packbits(fired, axis=1), axis=0, return_inverse=True)
    groups = [np.flatnonzero(row) for row in np.unpackbits(patterns, axis=1, count=fired.shape[1])]
    return groups, which.reshape(-1)


_CONFLICT_WORDS = {
    "precision": "the most precise one speaks",
    "smoothed": "the most precise one speaks (precision smoothed towards the class shares)",
    "vote": "they vote, each with its smoothed precision",
}


def _page(rule: Rule, total: int, indent: int) -> str:
    """Return one rule with its figures, wrapped."""
    margin = " " * indent
    one_line = f"IF {' AND '.join(map(str, rule.conditions)) or 'anything'}"
    body = one_line if len(one_line) <= 88 else "IF " + f"\n{margin}AND ".join(map(str, rule.conditions))
    figures = f"precision {rule.precision:.2f}, covers {rule.n_covered:,} of {total:,} records"
    return f"{body}\n{margin}THEN {format_label(rule.label)} ({figures}{_tally(rule.class_counts)})"


def _tally(class_counts: Sequence[tuple[Any, int]]) -> str:
    """Return `: 38 virginica, 1 versicolor`, the largest class first; nothing for no records."""
    present = sorted((pair for pair in class_counts if pair[1]), key=lambda pair: -pair[1])
    words = (f"{n:,} {'' if isinstance(label, str) else 'of class '}{format_label(label)}" for label, n in present)
    return ": " + ", ".join(words) if present else ""


def _comparable(bound: Bound) -> Any:
    """Turn a bound into what numpy compares quickly."""
    if isinstance(bound, datetime.datetime):
        if bound.tzinfo is not None:
            bound = bound.astimezone(datetime.UTC).replace(tzinfo=None)
        return np.datetime64(bound, "us")
    return bound


def format_name(name: Hashable) -> str:
    """Return a column's name as it is, or marked off where it could be misread."""
    if not isinstance(name, str):
        return f"[{name}]"
    if not name.isprintable():
        name = name.encode("unicode_escape").decode("ascii")
        return f"`{name}`"
    return f"`{name.replace('`', '``')}`" if _AWKWARD.search(name) else name


def format_label(label: Any) -> str:
    """Return a label as a person would write it."""
    label = plain(label)
    return label if isinstance(label, str) and label.isprintable() and label else format_value(label)


def format_value(value: Any) -> str:
    """Return a value as a person would write it: strings quoted, whole numbers whole, dates as ISO."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, datetime.datetime):
        zone = "" if value.tzinfo is None else "Z"
        moment = value.replace(tzinfo=None)
        text = moment.isoformat(sep=" ")
        return (text[:10] if moment.time() == datetime.time() else text) + zone
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
