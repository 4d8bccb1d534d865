"""Rule sets: immutable values in the units of the table.

A fitted rule set works without the encoder and without the compiled kernels.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import EMPTY
from diverse_rule_sets._input.values import identity
from diverse_rule_sets._util.pickles import pickled_state, restored_state
from diverse_rule_sets.model import _notebook
from diverse_rule_sets.model._answers import Answers, CoverPlan, answer, expected_kinds
from diverse_rule_sets.model._batches import answers_of, joined
from diverse_rule_sets.model._checks import check_parts, error, shown, sorted_labels
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._conditions import Flags
from diverse_rule_sets.model._counts import Count, as_counts
from diverse_rule_sets.model._decision import CONFLICTS, Decision, Evidence, decide
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._methods import RuleSetMethods
from diverse_rule_sets.model._ranges import orders_of
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._scorecard_grammar import parse_rule_set
from diverse_rule_sets.model._scorecards import Scorecard, check_scorecards, scorecards_of
from diverse_rule_sets.model._text import rule_set_text

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
    class_totals : number of training records of each class; with sample weights their weight, see :class:`Rule`
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
    missing_values : codes for missing values: pairs of (column, tuple of values that mean that a value is missing), or
        a dict, for any columns. They are applied, by type and value, to every table that the rule set is applied to;
        those of columns that the rules read are compared
    """

    rules: tuple[Rule, ...]
    classes: tuple[Any, ...]
    default: Any
    class_totals: tuple[Count, ...]
    uncovered_counts: tuple[Count, ...]
    conflict: Conflict = "precision"
    fallbacks: tuple[Rule, ...] = ()
    class_weights: tuple[float, ...] | None = None
    smoothing: float | None = None
    kinds: tuple[tuple[Hashable, str], ...] = ()
    target: str | None = None
    domains: tuple[tuple[Hashable, Domain], ...] = ()
    similar_columns: tuple[Hashable, ...] = ()
    missing_values: Any = ()

    def __post_init__(self) -> None:
        for name, value in check_parts(self, Rule).items():
            object.__setattr__(self, name, value)
        check_scorecards(self.all_rules, self.classes)
        orders_of(plain_conditions(self.all_rules))

    @classmethod
    def parse(cls, text: str, *, classes: Sequence[Any] | None = None) -> RuleSet:
        r"""Read a rule set from text as ``str`` prints it: scorecards, rules, fallback rules and the default label.

        All counts are 0: :meth:`evaluated` computes them, and the probabilities, on given data. Printed figures are
        ignored.

        Parameters
        ----------
        text : the rule set
        classes : all labels; by default the labels that the text contains, sorted

        Examples
        --------
        >>> lines = ["IF age <= 37 THEN good", "OTHERWISE bad"]
        >>> print(RuleSet.parse("\n".join(lines)))
        1. IF age <= 37
           THEN good (covers none of 0 records)
           OTHERWISE bad
        """
        parsed = parse_rule_set(text)
        rules, fallbacks = ([Rule(*parts) for parts in some] for some in (parsed.rules, parsed.fallbacks))
        if classes is None:
            cards = [label for card in parsed.scorecards for label in card.labels]
            classes = sorted_labels({rule.label for rule in (*rules, *fallbacks)} | {parsed.default, *cards})
        zeros = (0,) * len(classes)
        conflict = parsed.conflict or "precision"
        rule_set = cls(tuple(rules), tuple(classes), parsed.default, zeros, zeros, conflict, tuple(fallbacks))
        return replace(rule_set, missing_values=parsed.missing_values)

    @cached_property
    def _identity(self) -> tuple[Hashable, ...]:
        """All that determines an answer or an error; of the types of columns, those that the rules read."""
        return (
            *(self.rules, self.fallbacks, self.class_counts(self.all_rules).tobytes()),
            tuple(rule.points_table for rule in self.all_rules),
            tuple(getattr(c, "mixed", False) for c in plain_conditions(self.all_rules)),
            *(self.classes, isinstance(self.default, bool), self.default, self.class_totals, self.uncovered_counts),
            *(self.conflict, self.class_weights, self.smoothing, tuple(self.column_kinds.items())),
            tuple((name, frozenset(map(identity, codes))) for name, codes in self.codes_read.items()),
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

    @cached_property
    def follows_points(self) -> bool:
        """Whether the probabilities of some rule depend on points; never if votes or class counts are added up."""
        return self.conflict not in ("vote", "counts") and any(rule.points_table for rule in self.all_rules)

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
        for condition in plain_conditions(self.all_rules):
            if not kinds.get(condition.column):
                kinds[condition.column] = known.get(condition.column) or condition.kind
        return kinds

    @cached_property
    def codes_read(self) -> dict[Hashable, tuple[Any, ...]]:
        """The codes for missing values of the columns that the rules read, in the order of first use."""
        codes = dict(self.missing_values)
        return {name: codes[name] for name in self.columns if name in codes}

    @property
    def orders(self) -> dict[Hashable, tuple[Any, ...]]:
        """The categories from the lowest to the highest of the columns that conditions compare by order."""
        return orders_of(plain_conditions(self.all_rules))

    @cached_property
    def scorecards(self) -> tuple[Scorecard, ...]:
        """The scorecards that the rules and fallback rules use, in the order of first use."""
        return scorecards_of(self.all_rules)

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

    @cached_property
    def cover_plan(self) -> CoverPlan:
        """What is needed of the rules and fallback rules to find which records they cover."""
        return CoverPlan(self.all_rules)

    def answer(self, X: Any) -> Answers:
        """Apply the rule set to a table and return all results from one pass over it: see :class:`Answers`.

        The other methods that take a table return one result each and need a pass each.
        """
        return answer(self, X)

    def _all_answers(self, X: Any) -> Iterator[Answers]:
        """Iterate over the results of a table: one, or one for each batch of a table that is read in batches."""
        return answers_of(self, X, self.answer)

    def covers(self, X: Any) -> Flags:
        """Return which rules cover which records: a boolean array (n_records, n_rules)."""
        from diverse_rule_sets.model._batched_table import covers_of

        return covers_of(self, X, CoverPlan(self.rules)).flags()

    def deciding_rules(self, X: Any) -> NDArray[np.int64]:
        """Return the deciding rule of each record: a position in ``rules + fallbacks``, or -1.

        -1 means the default label, or, if class counts are added up, also that no covering rule has the label that
        wins.
        """
        return joined(answers.deciding for answers in self._all_answers(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each record: that of the deciding rule or fallback rule, or the default label."""
        return joined(answers.predictions() for answers in self._all_answers(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each record: the smoothed class counts of the deciding rule.

        ``w_k * (n_k + m * p_k) / (n + m)`` for class k, scaled to sum to 1: the rule covers n training records, n_k of
        them of class k; m is ``smoothing``, p_k the share of class k in the training data, w_k the class weight. For
        records with the default label :attr:`default_counts` are used. If ``conflict`` is ``"counts"``, the class
        counts of all covering rules are added up first. A rule with a ``points_table`` has the probabilities of the
        points of the record instead. Columns are in the order of ``classes``.
        """
        return joined(answers.probabilities for answers in self._all_answers(X))

    def reasons(self, X: Any) -> list[str]:
        """Return the reason for the label of each record, one sentence each.

        If several rules cover the record, it names those that agree with the deciding rule or contradict it.
        """
        return [reason for answers in self._all_answers(X) for reason in answers.reasons()]

    @property
    def likeliest_default(self) -> Any:
        """The class with the highest probability among the records that get the default label."""
        return self.classes[int(np.argmax(self.rule_probabilities[-1]))]

    @cached_property
    def evidence(self) -> Evidence:
        """The class counts of the rules as arrays, by position in ``classes``."""
        return Evidence(
            self.class_counts(self.rules),
            self.labels_of(np.arange(len(self.rules))),
            np.array(self.class_totals),
            None if self.class_weights is None else np.array(self.class_weights, np.float64),
            float(len(self.classes) if self.smoothing is None else self.smoothing),
        )

    @cached_property
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
    def default_counts(self) -> tuple[Count, ...]:
        """Number of training records of each class that no rule and no fallback rule covers.

        If there are none, that of the records that no rule covers; if there are none either, that of all records.
        """
        decided = self.class_counts(self.fallbacks).sum(axis=0)
        own = tuple(as_counts(np.maximum(np.array(self.uncovered_counts) - decided, 0)))
        return next((counts for counts in (own, self.uncovered_counts) if any(counts)), self.class_totals)

    def labels_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the labels of the rules at some positions in ``all_rules``, -1 for the default label, as positions."""
        return self._label_positions[positions]

    @cached_property
    def _label_positions(self) -> NDArray[np.int64]:
        """The labels of the rules, the fallback rules and the default label, as positions in ``classes``."""
        position = {label: k for k, label in enumerate(self.classes)}
        return np.array([position[label] for label in (*(r.label for r in self.all_rules), self.default)], np.int64)

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
