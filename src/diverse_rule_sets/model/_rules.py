"""Rules and rule sets: frozen values in the units of the table.

Neither the encoder nor the compiled kernels are needed to use a fitted rule set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.tables import EMPTY, Table, as_table, plain
from diverse_rule_sets.model import _notebook
from diverse_rule_sets.model._answers import Answers, answer, find_covers
from diverse_rule_sets.model._conditions import Condition, Flags
from diverse_rule_sets.model._decision import CONFLICTS, Decision, Evidence, decide
from diverse_rule_sets.model._formatting import format_body, format_label
from diverse_rule_sets.model._grammar import parse_rule
from diverse_rule_sets.model._methods import Doors
from diverse_rule_sets.model._text import page


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", plain(self.label))

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule as ``str`` prints it. It has no counts until it meets data, as in :meth:`RuleSet.with_rule`.

        Besides, ``'text'`` in single quotes, ``==``, ``!=``, ``>=`` and ``<`` are understood. Names of columns stand as
        they are, or in backticks where they hold operators, quotes or the words AND and THEN.

        Examples
        --------
        >>> from diverse_rule_sets import Equals, Interval
        >>> rule = Rule.parse("IF age <= 37 AND sex = 'F' THEN good")
        >>> rule.conditions == (Interval("age", high=37), Equals("sex", "F"))
        True
        >>> print(rule)
        IF age <= 37 AND sex = "F" THEN good
        """
        return cls(*parse_rule(text))

    @property
    def n_covered(self) -> int:
        """How many training records the rule covers."""
        return sum(count for _, count in self.class_counts)

    @property
    def n_correct(self) -> int:
        """How many training records under the rule have its label."""
        return sum(count for label, count in self.class_counts if label == self.label)

    @property
    def precision(self) -> float:
        """Share of the covered training records that have the rule's label; NaN if it covers none."""
        return self.n_correct / self.n_covered if self.n_covered else math.nan

    def covers(self, X: Any) -> Flags:
        """Tell for each record of a table whether all conditions hold. Only the columns named are read."""
        table = as_table(X)
        covered = np.ones(table.n_records, np.bool_)
        for condition in self.conditions:
            covered &= condition.holds(table.column(condition.column))
        return covered

    def __str__(self) -> str:
        return f"IF {format_body(self.conditions)} THEN {format_label(self.label)}"


Conflict = str | Callable[[tuple[Rule, ...]], Rule]


@dataclass(frozen=True)
class RuleSet(Doors):
    """Rules, how a contradiction between them is settled, and what is said of a record that none covers.

    Iterating gives the rules, in the order in which they were chosen; the fallbacks are kept and counted apart.

    Parameters
    ----------
    rules : tuple of Rule
    classes : all labels, sorted
    default : the label of a record that neither a rule nor a fallback covers
    class_totals : training records of each class
    uncovered_counts : training records of each class that no rule covers
    conflict : who speaks where several rules cover a record: one of the words in ``CONFLICTS``, or a function that is
        given the covering rules and returns one of them
    fallbacks : tuple of Rule, asked in order where no rule covers a record; the first that covers it speaks. Their
        class counts are those of the training records for which they speak
    class_weights : how much a record of each class counts in precisions and probabilities; None: all the same
    smoothing : a rule's shares are mixed with those of the whole table as if it covered so many records
        more; None: as many as there are classes
    kinds : pairs of (column, kind of its values in training, such as ``"number"`` or ``"text"``) for the columns that
        are read; what is not said is told from the conditions
    """

    rules: tuple[Rule, ...]
    classes: tuple[Any, ...]
    default: Any
    class_totals: tuple[int, ...]
    uncovered_counts: tuple[int, ...]
    conflict: Conflict = "precision"
    fallbacks: tuple[Rule, ...] = ()
    class_weights: tuple[float, ...] | None = None
    smoothing: float | None = None
    kinds: tuple[tuple[Hashable, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(plain(label) for label in self.classes))
        object.__setattr__(self, "default", plain(self.default))
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
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules, then the fallbacks: positions and printed numbers count in this order."""
        return self.rules + self.fallbacks

    @property
    def adds_counts(self) -> bool:
        """Whether the class counts of all covering rules are added up, so that no single rule decides."""
        return self.conflict == "counts"

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns that some rule or fallback reads, in the order of first use."""
        return tuple(dict.fromkeys(c.column for rule in self.all_rules for c in rule.conditions))

    def kind(self, column: Hashable) -> str:
        """Return the kind of a column's values: as in training, or else what the conditions tell, if they do."""
        told = [c.kind for rule in self.all_rules for c in rule.conditions if c.column == column]
        return dict(self.kinds).get(column) or next(filter(None, told), "")

    def answer(self, X: Any) -> Answers:
        """Return all answers for a table from one pass over it: see :class:`Answers`.

        The other methods that take a table answer one question each and make a pass of their own.
        """
        return answer(self, X)

    def covers(self, X: Any) -> Flags:
        """Tell which rules cover which records: an array (n_records, n_rules)."""
        return find_covers(self.rules, as_table(X)).flags()

    def deciding(self, X: Any) -> NDArray[np.int64]:
        """Return who speaks for each record: a position in ``rules + fallbacks``, or -1.

        -1 means the default; where class counts are added up also that no covering rule has the label that wins.
        """
        return self.answer(X).deciding

    def answers(self, X: Any) -> NDArray[np.int64]:
        """Return the position in ``classes`` of each record's label."""
        return self.answer(X).labels

    def predict(self, X: Any) -> NDArray[Any]:
        """Return each record's label: that of the rule or fallback that speaks, or the default."""
        return self.answer(X).predictions()

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return each record's class probabilities: the smoothed class counts of the rule that speaks.

        ``w_k * (n_k + m * p_k) / (n + m)`` for class k, scaled to sum to 1: n_k of the n training records under the
        rule are of class k, m is ``smoothing``, p_k the share of class k in the training data, w_k the class
        weight. A record left to the default takes the :attr:`default_counts`; where ``conflict`` is ``"counts"``, those
        of all covering rules are added up first. Columns are ordered as ``classes``.
        """
        return self.answer(X).probabilities

    def reasons(self, X: Any) -> list[str]:
        """Say for each record in one sentence why it gets its label."""
        return self.answer(X).reasons()

    @property
    def likeliest_default(self) -> Any:
        """The class with the highest probability among records left to the default."""
        return self.classes[int(np.argmax(self.rule_probabilities[-1]))]

    @property
    def evidence(self) -> Evidence:
        """The counts of the rules, by position in ``classes``."""
        return Evidence(
            self.class_counts(self.rules),
            np.array([self.classes.index(rule.label) for rule in self.rules], np.int64),
            np.array(self.class_totals, np.int64),
            None if self.class_weights is None else np.array(self.class_weights, np.float64),
            float(len(self.classes) if self.smoothing is None else self.smoothing),
        )

    @property
    def decision(self) -> Decision:
        """How the rules that cover a record come to one answer; what every exporter follows."""
        if callable(self.conflict):
            raise ValueError(
                f"conflict is a function, {self.conflict!r}, which no other program can follow; expected one of "
                f"{', '.join(map(repr, CONFLICTS))}: dataclasses.replace(rule_set, conflict='smoothed')"
            )
        return decide(self.conflict, self.evidence)

    @property
    def rule_probabilities(self) -> NDArray[np.float64]:
        """Class probabilities under each rule, then each fallback, then the default: a row each."""
        counts = [self.class_counts(self.all_rules), np.array([self.default_counts], np.float64)]
        return self.evidence.shares(np.vstack(counts))

    @property
    def default_counts(self) -> tuple[int, ...]:
        """Training records of each class that are left to the default; if there are none, all that no rule covers."""
        answered = self.class_counts(self.fallbacks).sum(axis=0)
        left = tuple(int(n) for n in np.maximum(np.array(self.uncovered_counts) - answered, 0))
        return next((counts for counts in (left, self.uncovered_counts) if any(counts)), self.class_totals)

    def labels_of(self, speakers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position in ``classes`` of what each speaker says; -1 is the default."""
        labels = [self.classes.index(rule.label) for rule in self.all_rules]
        return np.array([*labels, self.classes.index(self.default)], np.int64)[speakers]

    def class_counts(self, rules: Sequence[Rule]) -> NDArray[np.float64]:
        """Return the class counts of some rules, in the order of ``classes``: a row each."""
        known = [dict(rule.class_counts) for rule in rules]
        rows = [[counts.get(label, 0) for label in self.classes] for counts in known]
        return np.array(rows, np.float64).reshape(len(rules), len(self.classes))

    def __repr__(self) -> str:
        spare = f", {len(self.fallbacks)} fallbacks" if self.fallbacks else ""
        return f"<RuleSet: {len(self.rules)} rules{spare}, {len(self.classes)} classes, default {self.default!r}>"

    def __str__(self) -> str:
        """Return the rules as a page to read, then the fallbacks, the default last."""
        return page(self)

    def _repr_html_(self) -> str:
        """Return the rules as a table, for notebooks."""
        return _notebook.table(self)


def with_kinds(rule_set: RuleSet, table: Table) -> RuleSet:
    """Note the kinds of the columns that the rules read; one that holds nothing in this table keeps what it was."""
    return note_kinds(rule_set, {name: table.column(name).kind for name in rule_set.columns})


def note_kinds(rule_set: RuleSet, kinds: Mapping[Hashable, str]) -> RuleSet:
    """Return the rule set with the kinds of its columns in some table; a column that is empty there keeps its kind."""
    before = dict(rule_set.kinds)
    known = {name: before.get(name, "") if kind == EMPTY else kind for name, kind in kinds.items()}
    return replace(rule_set, kinds=tuple((name, kind) for name, kind in known.items() if kind))
