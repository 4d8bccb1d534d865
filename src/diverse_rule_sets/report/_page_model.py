"""The rule set and the columns as plain numbers, from which the script of the page predicts the label of a record.

For columns of choices the script does not evaluate conditions itself: ``Condition.holds`` is called here for each
choice, and the page embeds the results.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diverse_rule_sets._input.columns import CATEGORY, EMPTY, Column
from diverse_rule_sets._input.values import BOOLEAN, DATE, INSTANT, NUMBER, identity, microseconds, type_of
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn, comparable
from diverse_rule_sets.model._counts import as_counts
from diverse_rule_sets.model._decision import Evidence
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.report._plain_text import name_of, value_of
from diverse_rule_sets.report._summary import Integers

# Largest number of frequent values to choose from in a column, besides the values in rules and sampled records.
_MAX_CHOICES = 60
_MAX_TEXT = 200
_ORDERED = (NUMBER, DATE, INSTANT)
_KNOWN = (Interval, Equals, IsIn, IsNotIn, IsMissing)


@dataclass(frozen=True, eq=False)
class Field:
    """A column as the page embeds it.

    Parameters
    ----------
    column : the column of the table, with the column type that the rules expect
    choices : the values to choose from; empty for numbers and dates
    used : whether at least one rule uses the column
    codes : the codes for missing values of a column of numbers or dates; those of choices are no choices
    """

    column: Column
    choices: tuple[Any, ...]
    used: bool
    codes: tuple[Any, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers or dates."""
        return self.column.kind in _ORDERED

    def cells(self, records: Integers) -> list[Any]:
        """Return the values of records: numbers, microseconds as text, or positions of choices; None if missing."""
        values = self.column.values[records]
        if self.ordered:
            return [_json_number(value) if self.column.kind == NUMBER else _microseconds(value) for value in values]
        position = {identity(value): k for k, value in enumerate(self.choices)}
        return [None if code < 0 else position[identity(self.column.categories[code])] for code in values.tolist()]

    def start(self) -> Any:
        """Return the (lower) median or the most frequent value of a column that rules use; None for other columns."""
        present = np.flatnonzero(~self.column.missing)
        if not present.size or not self.used:
            return None
        values = self.column.values[present]
        if self.ordered:
            middle = np.argsort(values, kind="stable")[(values.size - 1) // 2]
        else:
            middle = np.argmax(values == np.bincount(values).argmax())
            if identity(self.column.categories[values[middle]]) not in set(map(identity, self.choices)):
                return -1
        return self.cells(present[[middle]])[0]

    def to_dict(self) -> dict[str, Any]:
        """Return the description of the column for the page."""
        kind = self.column.kind
        present = self.column.values[~self.column.missing]
        days = kind in (DATE, INSTANT) and present.size and not (present.astype(np.int64) % _DAY).any()
        return {
            "name": name_of(self.column.name),
            "kind": "number" if kind == NUMBER else "date" if self.ordered else "choice",
            "utc": kind == INSTANT,
            "days": bool(days),
            "other": kind != BOOLEAN and not self.ordered,
            "choices": [_truncate(value_of(value)) for value in self.choices],
            "start": self.start(),
            "used": self.used,
            "codes": self._code_cells(),
        }

    def _code_cells(self) -> list[Any]:
        """Return the codes for missing values in the form of :meth:`cells`."""
        codes = [code for code in self.codes if self.ordered and type_of(code) == self.column.kind]
        return [_json_number(code) if self.column.kind == NUMBER else str(microseconds(code)) for code in codes]

    def condition(self, condition: Condition) -> dict[str, Any]:
        """Return a condition in the form that the function `holds` of the page evaluates."""
        if not self.ordered:
            return self._choice_test(condition)
        if condition.holds_if_missing:
            return {"missing": True}
        if condition.comparisons:
            return {"tests": [[test, self._bound(bound)] for test, bound in condition.comparisons]}
        values = [value for value in condition.values_named if type_of(value) == self.column.kind]
        return {"values": [self._bound(value) for value in values], "not": condition.excludes}

    def _choice_test(self, condition: Condition) -> dict[str, Any]:
        """Return for which choices a condition holds, and whether it holds for other values and for missing values."""
        n = len(self.choices)
        probe = replace(self.column, values=np.array([*range(n + 1), -1], np.int32), categories=self.choices)
        holds = condition.holds(probe).tolist()
        return {"choices": [k for k in range(n) if holds[k]], "other": holds[n], "missing": holds[n + 1]}

    def _bound(self, bound: Any) -> Any:
        return float(bound) if self.column.kind == NUMBER else _microseconds(comparable(bound))


_DAY = 86_400_000_000


def field_of(column: Column, rule_set: RuleSet, records: Integers) -> Field:
    """Return a column of the table as the page embeds it, with the values of rules and sampled records as choices.

    If there is a sample, frequent values of columns that rules use are added to the choices. A column that has only
    missing values gets the column type that the rules expect.
    """
    used = column.name in rule_set.columns
    if column.kind == EMPTY:
        column = _with_kind(column, rule_set.kind(column.name))
    codes = dict(rule_set.missing_values).get(column.name, ())
    if column.kind in _ORDERED:
        return Field(column, (), used, codes)
    if column.kind == BOOLEAN:
        return Field(column, tuple(v for v in (False, True) if identity(v) not in set(map(identity, codes))), used)
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.categories))
    frequent = np.argsort(-counts, kind="stable")[: _MAX_CHOICES if used and records.size else 0]
    selection = set(frequent.tolist()) | set(column.values[records].tolist())
    conditions = (c for c in plain_conditions(rule_set.all_rules) if c.column == column.name)
    named = {identity(value): value for condition in conditions for value in condition.values_named}
    known = {column.positions[key] for key in named if key in column.positions}
    choices = [column.categories[k] for k in sorted(selection | known - {-1}) if k in known or (k >= 0 and counts[k])]
    choices += [value for key, value in named.items() if key not in column.positions and _belongs_to(value, column)]
    return Field(column, tuple(choices), used)


def _with_kind(column: Column, kind: str) -> Column:
    """Return a column that has only missing values with another column type."""
    n = column.values.size
    if kind == NUMBER:
        return Column(column.name, NUMBER, np.full(n, np.nan))
    if kind in (DATE, INSTANT):
        return Column(column.name, kind, np.full(n, "NaT", "datetime64[us]"))
    categories = (False, True) if kind == BOOLEAN else ()
    return Column(column.name, kind or CATEGORY, column.values, categories)


def no_panel_reason(rule_set: RuleSet) -> str:
    """Return why the page cannot predict labels as the rule set does; an empty string if it can."""
    if callable(rule_set.conflict):
        return (
            "If several rules cover a record, a Python function written for this rule set selects one of them. "
            "The page cannot run this function."
        )
    for condition in plain_conditions(rule_set.all_rules):
        if not isinstance(condition, _KNOWN):
            kind = type(condition).__name__
            return f"A rule has a condition of a user-defined class ({kind}), which the page cannot evaluate."
    return ""


def model_of(rule_set: RuleSet, by_name: Mapping[Hashable, tuple[int, Field]]) -> dict[str, Any]:
    """Return the conditions of all rules and the :class:`Decision` as plain numbers.

    Ballots are text, because their sums can exceed the integers that floating-point numbers represent exactly.

    Parameters
    ----------
    rule_set : the rules
    by_name : the position and the field of each column that conditions test
    """
    decision = rule_set.decision
    return {
        "n_rules": len(rule_set),
        "bodies": [_body_dicts(rule.conditions, by_name) for rule in rule_set.all_rules],
        "labels": rule_set.labels_of(np.arange(len(rule_set.all_rules) + 1)).tolist(),
        "order": decision.order.tolist(),
        "ballots": None if decision.ballots is None else [[str(n) for n in row] for row in decision.ballots.tolist()],
        "preference": decision.preference.tolist(),
        "probabilities": rule_set.rule_probabilities.tolist(),
        "count_evidence": _count_evidence(rule_set.evidence) if rule_set.adds_counts else None,
    }


def _count_evidence(evidence: Evidence) -> dict[str, Any]:
    """Return the numbers from which the page computes probabilities if class counts of rules are added up."""
    return {
        "counts": [as_counts(row) for row in evidence.counts],
        "totals": as_counts(evidence.totals),
        "weights": None if evidence.weights is None else evidence.weights.tolist(),
        "smoothing": evidence.smoothing,
    }


def _body_dicts(conditions: Iterable[Condition], by_name: Mapping[Hashable, tuple[int, Field]]) -> list[dict[str, Any]]:
    """Return the conditions of a rule, each with the position of its column."""
    fields = [(condition, *by_name[condition.column]) for condition in conditions]
    return [{"column": j, **field.condition(condition)} for condition, j, field in fields]


def _belongs_to(value: Any, column: Column) -> bool:
    return column.kind == CATEGORY or type_of(value) == column.type_of_values


def _json_number(value: Any) -> Any:
    """Return a number as JSON represents it: None for NaN, a string for infinity."""
    number = float(value)
    if number != number:
        return None
    if number in (np.inf, -np.inf):
        return "Infinity" if number > 0 else "-Infinity"
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _microseconds(value: Any) -> str | None:
    """Return a date as microseconds since 1970, as text so that no JSON parser rounds it; None if it is missing."""
    return None if np.isnat(value) else str(int(value.astype(np.int64)))


def _truncate(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
