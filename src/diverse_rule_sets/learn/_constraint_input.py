"""Constraints as the user gives them: validation, and translation to constraints on items.

The parameters are ``given_rules`` (part of every rule set), ``forbidden`` (columns that no learnt rule uses),
``required`` (columns that every learnt rule uses) and ``monotone`` (the direction in which columns may be used). They
are validated here once, and translated to :class:`diverse_rule_sets.learn._constraints.Constraints`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from diverse_rule_sets._input.checks import check_choice, did_you_mean, list_text, warn
from diverse_rule_sets._input.columns import EMPTY, values_text
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.data._given import GivenCondition, GivenConditions
from diverse_rule_sets.learn._constraints import Constraints, GivenRule
from diverse_rule_sets.learn._given_covers import GivenCovers
from diverse_rule_sets.learn._given_scorecards import KnownScorecard, ScorecardInput, points_hint
from diverse_rule_sets.model._conditions import Condition, DerivedColumn
from diverse_rule_sets.model._formatting import label_position
from diverse_rule_sets.model._grammar import UnknownOrderError
from diverse_rule_sets.model._ranges import TableOrders, side_of
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._scorecards import Scorecard

# The bound that conditions of each direction must not have.
_BANNED_BOUNDS = {"increasing": "high", "decreasing": "low"}
_OPERATORS = {"low": ">", "high": "<"}
_OPPOSITE = {"increasing": "decreasing", "decreasing": "increasing"}


class ConstraintParameters(NamedTuple):
    """The parameters as the user gave them, and the given scorecards, which given rules may test."""

    given_rules: Any = None
    forbidden: Any = None
    required: Any = None
    monotone: Any = None
    scorecards: tuple[Scorecard, ...] = ()

    @property
    def n_given(self) -> int:
        """Number of given rules."""
        return 0 if self.given_rules is None else len(self.given_rules)

    def check(self, max_rules: int, max_conditions: int | None) -> None:
        """Raise an error if the parameters are invalid for every table."""
        self._check_given(max_rules)
        for name, value in (("forbidden", self.forbidden), ("required", self.required)):
            _check_names(name, value)
        required = set() if self.required is None else set(self.required)
        both = [name for name in required if self.forbidden is not None and name in set(self.forbidden)]
        if both:
            raise ValueError(f"required and forbidden both name {_join(both)}, expected one of the two")
        if max_conditions is not None and len(required) > max_conditions:
            raise ValueError(f"required names {len(required)} columns, more than max_conditions={max_conditions}")
        if self.monotone is not None and not isinstance(self.monotone, Mapping):
            raise TypeError(f"monotone must be a dict of columns, got {self.monotone!r}")
        for name, directions in ({} if self.monotone is None else self.monotone).items():
            _check_directions(name, directions)

    def _check_given(self, max_rules: int) -> None:
        if self.given_rules is None:
            return
        if not isinstance(self.given_rules, list | tuple):
            raise TypeError(f"given_rules must be a list of rules, got {self.given_rules!r}")
        for j, rule in enumerate(self.given_rules):
            if not isinstance(rule, Rule | str):
                raise TypeError(
                    f"given_rules[{j}] must be a Rule or a rule as text, got {rule!r} ({type(rule).__name__})"
                )
            if isinstance(rule, str):
                _check_text(j, rule, self.scorecards)
        if len(self.given_rules) > max_rules:
            raise ValueError(f"given_rules holds {len(self.given_rules)} rules, more than max_rules={max_rules}")


def _check_text(j: int, text: str, cards: Sequence[Scorecard]) -> None:
    """Raise an error if a text is not a rule; its conditions may test the scorecards."""
    try:
        Rule.parse(text, cards)
    except UnknownOrderError:  # the table has the order
        return
    except ValueError as error:
        raise ValueError(f"given_rules[{j}] must be a rule as text: {error}") from None


def _check_names(argument: str, value: Any) -> None:
    """Raise an error if a value is not a collection of column names."""
    if value is None:
        return
    if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping):
        raise TypeError(f"{argument} must be a list of column names, got {value!r}")
    for name in value:
        if not isinstance(name, Hashable):
            raise TypeError(f"{argument} must be a list of column names, got {name!r} among them")


def _check_directions(name: Hashable, directions: Any) -> None:
    """Raise an error if a value is neither a direction nor a mapping of labels to directions."""
    if isinstance(directions, Mapping):
        for label, direction in directions.items():
            check_choice(f"monotone[{name!r}][{label!r}]", direction, _BANNED_BOUNDS)
    else:
        check_choice(f"monotone[{name!r}]", directions, _BANNED_BOUNDS, ", or a dict of labels to one of these")


def _join(names: Collection[Hashable]) -> str:
    return ", ".join(sorted(repr(name) for name in names))


class CheckedConstraints(NamedTuple):
    """The constraints after validation against a table: all names are columns, all labels are those of y.

    Parameters
    ----------
    given : the given rules
    forbidden, required : names of columns
    monotone : column names to the directions of labels, by the number of the label
    scorecards : the given scorecards, whose cuts may be conditions of learnt rules
    of_rules : further scorecards, which only given rules test
    """

    given: tuple[Rule, ...] = ()
    forbidden: frozenset[Hashable] = frozenset()
    required: tuple[Hashable, ...] = ()
    monotone: Mapping[Hashable, Mapping[int, str]] = {}
    scorecards: tuple[KnownScorecard, ...] = ()
    of_rules: tuple[KnownScorecard, ...] = ()

    @property
    def conditions(self) -> GivenConditions:
        """The conditions of given rules and of the signs of given scorecards on columns of the table."""
        of_rules = (
            GivenCondition(condition, f"given_rules has the rule {rule}")
            for rule in self.given
            for condition in rule.conditions
            if not isinstance(condition.column, DerivedColumn)
        )
        of_signs = (one.given_conditions() for one in (*self.scorecards, *self.of_rules))
        return GivenConditions(itertools.chain(of_rules, *of_signs))

    @property
    def named(self) -> frozenset[Hashable]:
        """The columns that are required or that a given rule or scorecard uses."""
        return frozenset(self.required) | self.conditions.columns


def check_constraints(parameters: ConstraintParameters, table: Table, labels: list[Any]) -> CheckedConstraints:
    """Validate the parameters against a table and its labels; errors name the parameter and the value."""
    names = {
        name: _known_names(name, getattr(parameters, name), table) for name in ("forbidden", "required", "monotone")
    }
    cards = ScorecardInput(parameters.scorecards, table, labels)
    given = [_known_rule(rule, table, labels, parameters.scorecards, cards) for rule in parameters.given_rules or ()]
    monotone = {name: _directions(name, parameters.monotone[name], table, labels) for name in names["monotone"]}
    forbidden = frozenset(names["forbidden"])
    for card, origin in cards.given:
        both = forbidden & set(card.columns)
        if both:
            raise ValueError(f"{origin} has signs on {_join(both)}, which forbidden names; expected one of the two")
    of_rules = tuple(one for one in cards.all if one not in cards.given)
    return CheckedConstraints(tuple(given), forbidden, names["required"], monotone, cards.given, of_rules)


def _known_names(argument: str, value: Collection[Hashable] | None, table: Table) -> tuple[Hashable, ...]:
    """Return the names without repetitions; raise an error if the table lacks one of them."""
    names = tuple(dict.fromkeys(value)) if value is not None else ()
    unknown = [name for name in names if name not in table]
    if unknown:
        raise ValueError(
            f"{argument} names {_join(unknown)}, which X does not have as columns; its columns: "
            f"{list_text(table.names)}{did_you_mean(unknown[0], table.names)}"
        )
    return names


def _known_rule(
    rule: Rule | str, table: Table, labels: list[Any], scorecards: Sequence[Scorecard], cards: ScorecardInput
) -> Rule:
    """Return a given rule with the labels of y; raise an error if the table lacks a column or y a label."""
    if isinstance(rule, str):
        rule = _parsed(rule, table, scorecards)
    for condition in rule.conditions:
        name = condition.column
        if not isinstance(name, DerivedColumn) and name not in table:
            raise ValueError(
                f"given_rules has the rule {rule}, which names the column {name!r}; X does not have it, "
                f"its columns: {list_text(table.names)}{points_hint(name, table.names, scorecards)}"
            )
    conditions = tuple(cards.translate(condition, rule) for condition in rule.conditions)
    label = labels[_label_number(f"given_rules has the rule {rule} with", rule.label, labels)]
    return Rule(conditions, label, rule.class_counts)


def _parsed(text: str, table: Table, scorecards: Sequence[Scorecard]) -> Rule:
    """Return a given rule that is text; the order of categories is that of the column of the table."""
    try:
        return Rule.parse(text, scorecards, orders=TableOrders(table))
    except UnknownOrderError as error:
        raise ValueError(
            f"given_rules has the rule {text!r:.200}, which compares categories by order: the column must be a pandas "
            f"ordered Categorical or a polars Enum, or give a Rule.parse with orders. {error}"
        ) from None


def _label_number(context: str, label: Any, labels: list[Any]) -> int:
    """Return the number of a label, which is given as in y or as the text of exactly one label."""
    position = label_position(label, labels)
    if position is None:
        raise ValueError(
            f"{context} the label {label!r}, which y does not have; its labels: {list_text(labels)}"
            f"{did_you_mean(label, labels)}"
        )
    return position


def _directions(name: Hashable, directions: str | Mapping[Any, str], table: Table, labels: list[Any]) -> dict[int, str]:
    """Return the directions of a column, by the number of the label."""
    column = table.column(name)
    if column.kind not in (NUMBER, DATE, INSTANT, EMPTY) and not column.order:
        held, expected = values_text(column.kind), "numbers, dates or ordered categories"
        raise ValueError(f"monotone names the column {name!r}, which holds {held}, expected {expected}")
    if isinstance(directions, Mapping):
        return {
            _label_number(f"monotone[{name!r}] names", label, labels): direction
            for label, direction in directions.items()
        }
    if len(labels) > 2:
        raise ValueError(
            f"monotone[{name!r}] is {directions!r}, which is the direction of the second of two labels; y has "
            f"{len(labels)} labels, so give a dict by label, such as {{{labels[-1]!r}: {directions!r}}}"
        )
    return {0: _OPPOSITE[directions], 1: directions} if len(labels) == 2 else {}


def item_constraints(
    constraints: CheckedConstraints, encoder: Encoder, covers: GivenCovers, labels: Sequence[Any]
) -> Constraints:
    """Translate constraints on columns to constraints on items; ``covers`` are those of the given conditions."""
    column_numbers = {
        condition.column: int(column)
        for condition, column in zip(encoder.conditions, encoder.columns.tolist(), strict=True)
    }
    banned = np.zeros((len(labels), len(encoder.conditions)), np.bool_)
    for item, condition in enumerate(encoder.conditions):
        for label, direction in constraints.monotone.get(condition.column, {}).items():
            order = encoder.orders.get(condition.column, ())
            banned[label, item] = _has_bound(condition, order, _BANNED_BOUNDS[direction])
    without_items = [name for name in constraints.required if name not in column_numbers]
    if without_items:
        warn(f"required names {_join(without_items)}, on which no condition separates records; no rule can be learnt")
        banned[:] = True
    required = tuple(column_numbers[name] for name in constraints.required if name in column_numbers)
    given = tuple(
        GivenRule(list(labels).index(rule.label), covers.of_conditions(rule.conditions), len(rule.conditions))
        for rule in constraints.given
    )
    return Constraints(given, encoder.columns, required, banned if banned.any() or without_items else None)


def _has_bound(condition: Condition, order: Sequence[Any], side: str) -> bool:
    """Return whether a condition has a bound on a side; an order is that of the categories of its column."""
    if order and condition.values_named:
        found = side_of(condition, order)
        return found is None or found[0].startswith(_OPERATORS[side])
    return any(test.startswith(_OPERATORS[side]) for test, _ in condition.comparisons)
