"""The door for what domain experts ask of the rules: names and words become columns, labels and rules.

``given_rules`` stand, ``forbidden`` columns are never spoken of, ``required`` ones always, and ``monotone`` ones only
in one direction. What they say is checked here once, by name, and handed on in items as
:class:`diverse_rule_sets.learn._constraints.Constraints`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Flags
from diverse_rule_sets._input.checks import check_choice, warn
from diverse_rule_sets._input.tables import DATE, EMPTY, INSTANT, NUMBER, Table
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.learn._constraints import Constraints, GivenRule
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import label_position
from diverse_rule_sets.model._rules import Rule

# Which bound a direction leaves out.
_LEFT_OUT = {"increasing": "high", "decreasing": "low"}
_OPERATORS = {"low": ">", "high": "<"}
_OPPOSITE = {"increasing": "decreasing", "decreasing": "increasing"}


class ConstraintParameters(NamedTuple):
    """The parameters as the user gave them."""

    given_rules: Any = None
    forbidden: Any = None
    required: Any = None
    monotone: Any = None

    @property
    def n_given(self) -> int:
        """How many rules are given."""
        return 0 if self.given_rules is None else len(self.given_rules)

    def check(self, max_rules: int, max_conditions: int | None) -> None:
        """Refuse what makes no sense on any table."""
        self._check_given(max_rules)
        for name, value in (("forbidden", self.forbidden), ("required", self.required)):
            _check_names(name, value)
        required = set() if self.required is None else set(self.required)
        both = [name for name in required if self.forbidden is not None and name in set(self.forbidden)]
        if both:
            raise ValueError(f"required and forbidden both name {_listed(both)}, expected one of the two")
        if max_conditions is not None and len(required) > max_conditions:
            raise ValueError(f"required names {len(required)} columns, more than max_conditions={max_conditions}")
        if self.monotone is not None and not isinstance(self.monotone, Mapping):
            raise TypeError(f"monotone must be a dict of columns, got {self.monotone!r}")
        for name, ways in ({} if self.monotone is None else self.monotone).items():
            _check_ways(name, ways)

    def _check_given(self, max_rules: int) -> None:
        if self.given_rules is None:
            return
        if not isinstance(self.given_rules, list | tuple):
            raise TypeError(f"given_rules must be a list of rules, got {self.given_rules!r}")
        for j, rule in enumerate(self.given_rules):
            if not isinstance(rule, Rule | str):
                raise TypeError(
                    f"given_rules[{j}] must be a Rule or a rule in words, got {rule!r} ({type(rule).__name__})"
                )
            if isinstance(rule, str):
                _check_words(j, rule)
        if len(self.given_rules) > max_rules:
            raise ValueError(f"given_rules holds {len(self.given_rules)} rules, more than max_rules={max_rules}")


def _check_words(j: int, words: str) -> None:
    """Refuse a rule in words that cannot be read."""
    try:
        Rule.parse(words)
    except ValueError as error:
        raise ValueError(f"given_rules[{j}] must be a rule in words: {error}") from None


def _check_names(argument: str, value: Any) -> None:
    """Refuse what is no collection of names."""
    if value is None:
        return
    if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping):
        raise TypeError(f"{argument} must be a list of column names, got {value!r}")
    for name in value:
        if not isinstance(name, Hashable):
            raise TypeError(f"{argument} must be a list of column names, got {name!r} among them")


def _check_ways(name: Hashable, ways: Any) -> None:
    """Refuse what is no direction."""
    if isinstance(ways, Mapping):
        for label, way in ways.items():
            check_choice(f"monotone[{name!r}][{label!r}]", way, _LEFT_OUT)
    else:
        check_choice(f"monotone[{name!r}]", ways, _LEFT_OUT, ", or a dict of labels to one of these")


def _listed(names: Collection[Hashable]) -> str:
    return ", ".join(sorted(repr(name) for name in names))


class CheckedConstraints(NamedTuple):
    """What was asked, checked against a table: all names are columns, all labels are those of y.

    ``monotone`` is, for some columns, the direction of some labels, by number.
    """

    given: tuple[Rule, ...] = ()
    forbidden: frozenset[Hashable] = frozenset()
    required: tuple[Hashable, ...] = ()
    monotone: Mapping[Hashable, Mapping[int, str]] = {}


def checked(asked: ConstraintParameters, table: Table, labels: list[Any]) -> CheckedConstraints:
    """Refuse what does not go with the table and its labels; the error names it."""
    names = {name: _known_names(name, getattr(asked, name), table) for name in ("forbidden", "required", "monotone")}
    given = [_known_rule(rule, table, labels) for rule in asked.given_rules or ()]
    monotone = {name: _ways(name, asked.monotone[name], table, labels) for name in names["monotone"]}
    return CheckedConstraints(tuple(given), frozenset(names["forbidden"]), names["required"], monotone)


def _known_names(argument: str, value: Collection[Hashable] | None, table: Table) -> tuple[Hashable, ...]:
    """Return the names, each once, all of which the table has."""
    names = tuple(dict.fromkeys(value)) if value is not None else ()
    unknown = [name for name in names if name not in table]
    if unknown:
        raise ValueError(
            f"{argument} names {_listed(unknown)}, which X does not have as columns; its columns: {table.names}"
        )
    return names


def _known_rule(rule: Rule | str, table: Table, labels: list[Any]) -> Rule:
    """Return a given rule with its label as y has it."""
    if isinstance(rule, str):
        rule = Rule.parse(rule)
    for condition in rule.conditions:
        if condition.column not in table:
            raise ValueError(
                f"given_rules has the rule {rule}, which names the column {condition.column!r}; X does not have it, "
                f"its columns: {table.names}"
            )
    return replace(rule, label=labels[_code(f"given_rules has the rule {rule} with", rule.label, labels)])


def _code(what: str, label: Any, labels: list[Any]) -> int:
    """Return the number of a label, given as it is or as something that reads like one label only."""
    position = label_position(label, labels)
    if position is None:
        raise ValueError(f"{what} the label {label!r}, which y does not have; its labels: {labels}")
    return position


def _ways(name: Hashable, ways: str | Mapping[Any, str], table: Table, labels: list[Any]) -> dict[int, str]:
    """Return the direction of a column for some labels, by number."""
    kind = table.column(name).kind
    if kind not in (NUMBER, DATE, INSTANT, EMPTY):
        raise ValueError(f"monotone names the column {name!r}, which holds {kind} values, expected numbers or dates")
    if isinstance(ways, Mapping):
        return {_code(f"monotone[{name!r}] names", label, labels): way for label, way in ways.items()}
    if len(labels) > 2:
        raise ValueError(
            f"monotone[{name!r}] is {ways!r}, which speaks of the second of two labels; y has {len(labels)} labels, "
            f"so give a dict by label, such as {{{labels[-1]!r}: {ways!r}}}"
        )
    return {0: _OPPOSITE[ways], 1: ways} if len(labels) == 2 else {}


def item_constraints(
    constraints: CheckedConstraints, encoder: Encoder, backend: Backend, labels: Sequence[Any]
) -> Constraints:
    """Say in items what was asked."""
    number_of = {
        condition.column: int(column)
        for condition, column in zip(encoder.conditions, encoder.columns.tolist(), strict=True)
    }
    banned = np.zeros((len(labels), len(encoder.conditions)), np.bool_)
    for item, condition in enumerate(encoder.conditions):
        for label, way in constraints.monotone.get(condition.column, {}).items():
            banned[label, item] = _has_bound(condition, _LEFT_OUT[way])
    mute = [name for name in constraints.required if name not in number_of]
    if mute:
        warn(f"required names {_listed(mute)}, of which no condition tells records apart; no rule can be learnt")
        banned[:] = True
    required = tuple(number_of[name] for name in constraints.required if name in number_of)
    given = tuple(
        GivenRule(list(labels).index(rule.label), backend.given_cover(number), len(rule.conditions))
        for number, rule in enumerate(constraints.given)
    )
    return Constraints(given, encoder.columns, required, _unless_empty(banned))


def _has_bound(condition: Condition, side: str) -> bool:
    return any(test.startswith(_OPERATORS[side]) for test, _ in condition.comparisons)


def _unless_empty(banned: Flags) -> Flags | None:
    return banned if banned.any() else None
