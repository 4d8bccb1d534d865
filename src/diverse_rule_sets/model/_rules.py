"""Rules and rule sets: immutable values in the units of the table.

A fitted rule set works without the encoder and without the compiled kernels.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import EMPTY
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets._util.pickles import pickled_state, restored_state
from diverse_rule_sets.model import _notebook
from diverse_rule_sets.model._answers import Answers, answer, expected_kinds, find_covers
from diverse_rule_sets.model._checks import check_class_counts, check_conditions, check_label, check_parts, error, shown
from diverse_rule_sets.model._conditions import Condition, Flags
from diverse_rule_sets.model._decision import CONFLICTS, Decision, Evidence, decide
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._formatting import format_body, format_label
from diverse_rule_sets.model._grammar import parse_rule
from diverse_rule_sets.model._methods import RuleSetMethods
from diverse_rule_sets.model._text import rule_set_text


@dataclass(frozen=True)
class Rule:
    """A rule: if all conditions hold for a record, its label is predicted.

    Two rules are equal if their conditions and labels are equal; the class counts are not compared.

    Parameters
    ----------
    conditions : tuple of Condition, at most one per column; an interval must contain a value
    label : the label that the rule predicts: text, a finite number or a boolean
    class_counts : pairs of (label, number of training records of that class that the rule covers); a label that is
        left out has the count 0

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
        object.__setattr__(self, "conditions", check_conditions(self.conditions))
        object.__setattr__(self, "label", check_label(self.label))
        object.__setattr__(self, "class_counts", check_class_counts(self.class_counts))

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule from text as ``str`` prints it.

        The rule has no class counts; :meth:`RuleSet.with_rule` computes them. In addition to the printed forms,
        ``'text'`` in single quotes, ``==``, ``!=``, ``>=`` and ``<`` are accepted. Names of columns are written
        unchanged, or in backticks if they begin with ``[`` or contain operators, quotes or the words AND and THEN.
        Names that are not strings are written in brackets, such as ``[5]`` or ``[('a', 1)]``; those of some types, such
        as fractions, cannot be read.

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
        """The number of training records that the rule covers."""
        return sum(count for _, count in self.class_counts)

    @property
    def n_correct(self) -> int:
        """The number of training records that the rule covers and that have its label."""
        return sum(count for label, count in self.class_counts if label == self.label)

    @property
    def precision(self) -> float:
        """The share of the covered training records that have the label of the rule; NaN if it covers none."""
        return self.n_correct / self.n_covered if self.n_covered else math.nan

    def covers(self, X: Any) -> Flags:
        """Return whether the rule covers each record of a table. Only the columns of its conditions are read."""
        table = as_table(X)
        covered = np.ones(table.n_records, np.bool_)
        for condition in self.conditions:
            covered &= condition.holds(table.column(condition.column, condition.expected))
        return covered

    def __str__(self) -> str:
        return f"IF {format_body(self.conditions)} THEN {format_label(self.label)}"

    def __repr__(self) -> str:
        return f"<Rule: {self}>"

    def _repr_html_(self) -> str:
        """Return the rule as HTML for notebooks."""
        return _notebook.rule_html(self)


Conflict = str | Callable[[tuple[Rule, ...]], Rule]


@dataclass(frozen=True, eq=False)
class RuleSet(RuleSetMethods):
    """Rules, the decision if several rules cover a record, fallback rules and a default label.

    Iteration, ``len`` and indexing include the rules, in the order in which they were chosen, but not the fallback
    rules; :meth:`statement` returns a rule or a fallback rule by its printed number. Two rule sets are equal if all
    that determines an answer or an error is equal, class counts included; :meth:`same_rules` compares conditions and
    labels only.

    Parameters
    ----------
    rules : tuple of Rule
    classes : all labels, sorted: all text, all numbers or all booleans
    default : the default label, of records that no rule and no fallback rule covers
    class_totals : number of training records of each class
    uncovered_counts : number of training records of each class that no rule covers
    conflict : which rule decides if several rules cover a record: one of the keys of ``CONFLICTS``, or a function that
        takes the covering rules and returns one of them
    fallbacks : tuple of Rule, the fallback rules. If no rule covers a record, the first fallback rule that covers it
        decides. The class counts of fallback rules are those of the training records that they decide
    class_weights : weight of a record of each class in precisions and probabilities, from 1e-100 to 1e100; None: all
        weights are 1
    smoothing : the class shares of a rule are computed as if it covered this many further records, with the class
        shares of the whole table: 0, or from 1e-100 to 1e100; None: as many as there are classes
    kinds : pairs of (column, type of the column in training, such as ``"number"`` or ``"text"``) for the columns that
        the rules read; other types are derived from the conditions
    target : the name of the column of labels in training, or None; it is not compared
    domains : pairs of (column, what is known about its values in training) for the columns that the rules read;
        :meth:`why` names only values that occurred. They are not compared
    similar_columns : columns of the training table, read or not, whose names some databases cannot tell apart, such as
        ``"a"`` and ``"A"``; :meth:`to_sql` asks for their names in the database. They are not compared
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
    kinds: tuple[tuple[Hashable, str], ...] = ()
    target: str | None = None
    domains: tuple[tuple[Hashable, Domain], ...] = ()
    similar_columns: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        for name, value in check_parts(self, Rule).items():
            object.__setattr__(self, name, value)

    @cached_property
    def _identity(self) -> tuple[Hashable, ...]:
        """All that determines an answer or an error; of the types of columns, those that the rules read."""
        return (
            *(self.rules, self.fallbacks, self.class_counts(self.all_rules).tobytes()),
            tuple(getattr(c, "mixed", False) for rule in self.all_rules for c in rule.conditions),
            *(self.classes, isinstance(self.default, bool), self.default, self.class_totals, self.uncovered_counts),
            *(self.conflict, self.class_weights, self.smoothing, tuple(self.column_kinds.items())),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleSet):
            return NotImplemented
        return self is other or self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def same_rules(self, other: RuleSet) -> bool:
        """Return whether two rule sets have the same rules, fallback rules and default label, whatever their counts.

        Rules are the same if their conditions and labels are, in the same order. Class counts, weights and the other
        numbers may still give other probabilities and other deciding rules.

        Examples
        --------
        >>> rule_set = RuleSet((Rule.parse("IF age <= 37 THEN good"),), ("bad", "good"), "bad", (5, 5), (5, 1))
        >>> other = replace(rule_set, class_totals=(9, 9))
        >>> rule_set == other, rule_set.same_rules(other)
        (False, True)
        """
        if not isinstance(other, RuleSet):
            raise TypeError(f"other must be a RuleSet, got {shown(other)}")
        return (self.rules, self.fallbacks, self.default) == (other.rules, other.fallbacks, other.default)

    def __getstate__(self) -> dict[str, Any]:
        return pickled_state({part.name: getattr(self, part.name) for part in fields(self)})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(restored_state(state))

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

    def statement(self, number: int) -> Rule:
        """Return the rule or fallback rule with a printed number, from 1; the numbers of fallback rules follow.

        Examples
        --------
        >>> rules = Rule.parse("IF age <= 37 THEN good"), Rule.parse("IF age <= 60 THEN good")
        >>> rule_set = RuleSet(rules[:1], ("bad", "good"), "bad", (5, 5), (5, 1), fallbacks=rules[1:])
        >>> print(rule_set.statement(2))
        IF age <= 60 THEN good
        """
        n_rules, n_all = len(self.rules), len(self.all_rules)
        is_number = isinstance(number, numbers.Integral) and not isinstance(number, bool)
        if not is_number or not 1 <= int(number) <= n_all:
            parts = [f"rules from 1 to {n_rules}"] if n_rules else []
            parts += [f"fallback rules from {n_rules + 1} to {n_all}"] if self.fallbacks else []
            exist = " and ".join(parts) or "no rules, only the default label"
            raise error("number", f"the printed number of a rule or fallback rule; there are {exist}", number)
        return self.all_rules[int(number) - 1]

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules, then the fallback rules: positions and printed numbers refer to this order."""
        return self.rules + self.fallbacks

    @property
    def adds_counts(self) -> bool:
        """Whether the class counts of all covering rules are added up to decide the label."""
        return self.conflict == "counts"

    @cached_property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns that the rules and fallback rules read, in the order of first use."""
        return tuple(self.column_kinds)

    @cached_property
    def column_kinds(self) -> dict[Hashable, str]:
        """The types of the columns that the rules read: as in training, or else from the conditions, or else empty."""
        known = dict(self.kinds)
        kinds: dict[Hashable, str] = {}
        for rule in self.all_rules:
            for condition in rule.conditions:
                if not kinds.get(condition.column):
                    kinds[condition.column] = known.get(condition.column) or condition.kind
        return kinds

    def kind(self, column: Hashable) -> str:
        """Return the type of a column: as in training, or else from the conditions on it; empty if unknown."""
        return self.column_kinds.get(column) or dict(self.kinds).get(column, "")

    def expected_kind(self, column: Hashable) -> str:
        """Return the type as which a column is read: each value of a table is converted to it by itself."""
        return self.expected_kinds.get(column, "")

    @cached_property
    def expected_kinds(self) -> dict[Hashable, str]:
        """The type as which each column that the rules read is read."""
        return expected_kinds(self.all_rules, dict(self.kinds))

    def answer(self, X: Any) -> Answers:
        """Apply the rule set to a table and return all results from one pass over it: see :class:`Answers`.

        The other methods that take a table return one result each and need a pass each.
        """
        return answer(self, X)

    def covers(self, X: Any) -> Flags:
        """Return which rules cover which records: a boolean array (n_records, n_rules)."""
        return find_covers(self.rules, as_table(X), self.expected_kinds).flags()

    def deciding_rules(self, X: Any) -> NDArray[np.int64]:
        """Return the deciding rule of each record: a position in ``rules + fallbacks``, or -1.

        -1 means the default label, or, if class counts are added up, also that no covering rule has the label that
        wins.
        """
        return self.answer(X).deciding

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each record: that of the deciding rule or fallback rule, or the default label."""
        return self.answer(X).predictions()

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each record: the smoothed class counts of the deciding rule.

        ``w_k * (n_k + m * p_k) / (n + m)`` for class k, scaled to sum to 1: the rule covers n training records, n_k of
        them of class k; m is ``smoothing``, p_k the share of class k in the training data, w_k the class weight. For
        records with the default label :attr:`default_counts` are used. If ``conflict`` is ``"counts"``, the class
        counts of all covering rules are added up first. Columns are in the order of ``classes``.
        """
        return self.answer(X).probabilities

    def reasons(self, X: Any) -> list[str]:
        """Return the reason for the label of each record, one sentence each."""
        return self.answer(X).reasons()

    @property
    def likeliest_default(self) -> Any:
        """The class with the highest probability among the records that get the default label."""
        return self.classes[int(np.argmax(self.rule_probabilities[-1]))]

    @property
    def evidence(self) -> Evidence:
        """The class counts of the rules as arrays, by position in ``classes``."""
        return Evidence(
            self.class_counts(self.rules),
            self.labels_of(np.arange(len(self.rules))),
            np.array(self.class_totals, np.int64),
            None if self.class_weights is None else np.array(self.class_weights, np.float64),
            float(len(self.classes) if self.smoothing is None else self.smoothing),
        )

    @property
    def decision(self) -> Decision:
        """How the covering rules of a record determine its label; all exporters use it."""
        if callable(self.conflict):
            raise ValueError(
                f"conflict is a function, {self.conflict!r}, which cannot be exported; expected one of "
                f"{', '.join(map(repr, CONFLICTS))}: dataclasses.replace(rule_set, conflict='smoothed')"
            )
        return decide(self.conflict, self.evidence)

    @property
    def rule_probabilities(self) -> NDArray[np.float64]:
        """Class probabilities of each rule, then of each fallback rule, then of the default label: a row each."""
        counts = [self.class_counts(self.all_rules), np.array([self.default_counts], np.float64)]
        return self.evidence.shares(np.vstack(counts))

    @property
    def default_counts(self) -> tuple[int, ...]:
        """Number of training records of each class that no rule and no fallback rule covers.

        If there are none, that of the records that no rule covers; if there are none either, that of all records.
        """
        decided = self.class_counts(self.fallbacks).sum(axis=0)
        own = tuple(int(n) for n in np.maximum(np.array(self.uncovered_counts) - decided, 0))
        return next((counts for counts in (own, self.uncovered_counts) if any(counts)), self.class_totals)

    def labels_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the labels of the rules at some positions in ``all_rules``, -1 for the default label, as positions."""
        position = {label: k for k, label in enumerate(self.classes)}
        labels = [position[rule.label] for rule in self.all_rules]
        return np.array([*labels, position[self.default]], np.int64)[positions]

    def class_counts(self, rules: Sequence[Rule]) -> NDArray[np.float64]:
        """Return the class counts of some rules, in the order of ``classes``: a row each."""
        known = [dict(rule.class_counts) for rule in rules]
        rows = [[counts.get(label, 0) for label in self.classes] for counts in known]
        return np.array(rows, np.float64).reshape(len(rules), len(self.classes))

    def __repr__(self) -> str:
        fallbacks = f", {len(self.fallbacks)} fallbacks" if self.fallbacks else ""
        return f"<RuleSet: {len(self.rules)} rules{fallbacks}, {len(self.classes)} classes, default {self.default!r}>"

    def __str__(self) -> str:
        """Return the rules as text, then the fallback rules, the default label last."""
        return rule_set_text(self)

    def _repr_html_(self) -> str:
        """Return the rules as an HTML table for notebooks."""
        return _notebook.table(self)


def set_kinds(rule_set: RuleSet, kinds: Mapping[Hashable, str]) -> RuleSet:
    """Return the rule set with the given column types; a column of type "empty" keeps its type."""
    before = dict(rule_set.kinds)
    known = {name: before.get(name, "") if kind == EMPTY else kind for name, kind in kinds.items()}
    return replace(rule_set, kinds=tuple((name, kind) for name, kind in known.items() if kind))
