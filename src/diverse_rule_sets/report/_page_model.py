"""A rule set and some records as plain numbers, for the program in the page that answers for a record.

The page holds no conditions of its own making: what a condition says of each choice is asked of ``Condition.holds``.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diverse_rule_sets._input.tables import BOOLEAN, CATEGORY, DATE, EMPTY, INSTANT, NUMBER, TEXT, Column
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn, _comparable
from diverse_rule_sets.model._decision import Evidence
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.report._plain_text import name_of, value_of
from diverse_rule_sets.report._summary import Integers

# What a person may pick from in one column, besides what the rules and the sampled records name.
_MAX_CHOICES = 60
_MAX_TEXT = 200
_ORDERED = (NUMBER, DATE, INSTANT)
_KNOWN = (Interval, Equals, IsIn, IsNotIn, IsMissing)


@dataclass(frozen=True, eq=False)
class Field:
    """A column as the page keeps it.

    Parameters
    ----------
    column : the column of the table, under the kind that the rules expect
    choices : the values to pick from, where the column is neither of numbers nor of dates
    read : whether some rule reads the column
    """

    column: Column
    choices: tuple[Any, ...]
    read: bool

    @property
    def ordered(self) -> bool:
        """Whether values are numbers or dates, not choices."""
        return self.column.kind in _ORDERED

    def cells(self, records: Integers) -> list[Any]:
        """Return the values of some records: numbers, microseconds as text, positions of choices; None is missing."""
        values = self.column.values[records]
        if self.ordered:
            return [_json_number(value) if self.column.kind == NUMBER else _microseconds(value) for value in values]
        place = {value: k for k, value in enumerate(self.choices)}
        return [None if code < 0 else place[self.column.categories[code]] for code in values.tolist()]

    def start(self) -> Any:
        """Return a typical value of a column that rules read: the (lower) median, or the most frequent value."""
        present = np.flatnonzero(~self.column.missing)
        if not present.size or not self.read:
            return None
        values = self.column.values[present]
        if self.ordered:
            middle = np.argsort(values, kind="stable")[(values.size - 1) // 2]
        else:
            middle = np.argmax(values == np.bincount(values).argmax())
            if self.column.categories[values[middle]] not in self.choices:
                return -1
        return self.cells(present[[middle]])[0]

    def told(self) -> dict[str, Any]:
        """Return what the page is told of the column."""
        kind = self.column.kind
        present = self.column.values[~self.column.missing]
        days = kind in (DATE, INSTANT) and present.size and not (present.astype(np.int64) % _DAY).any()
        return {
            "name": name_of(self.column.name),
            "kind": "number" if kind == NUMBER else "date" if self.ordered else "choice",
            "utc": kind == INSTANT,
            "days": bool(days),
            "other": kind in (TEXT, CATEGORY),
            "choices": [_cut_short(value_of(value)) for value in self.choices],
            "start": self.start(),
            "used": self.read,
        }

    def condition(self, condition: Condition) -> dict[str, Any]:
        """Return what the page must know to tell whether a condition holds for a value."""
        if not self.ordered:
            return self._probed(condition)
        if condition.holds_if_missing:
            return {"missing": True}
        if condition.comparisons:
            return {"tests": [[test, self._bound(bound)] for test, bound in condition.comparisons]}
        values = [value for value in condition.values_named if self.column.kind == NUMBER and _is_number(value)]
        return {"values": [float(value) for value in values], "not": condition.excludes}

    def _probed(self, condition: Condition) -> dict[str, Any]:
        """Ask a condition about each choice, about a value never seen, and about a missing one."""
        n = len(self.choices)
        probe = replace(
            self.column, values=np.array([*range(n + 1), -1], np.int32), categories=(*self.choices, object())
        )
        holds = condition.holds(probe).tolist()
        return {"choices": [k for k in range(n) if holds[k]], "other": holds[n], "missing": holds[n + 1]}

    def _bound(self, bound: Any) -> Any:
        return float(bound) if self.column.kind == NUMBER else _microseconds(_comparable(bound))


_DAY = 86_400_000_000


def field_of(column: Column, rule_set: RuleSet, records: Integers) -> Field:
    """Return a column of the table as the page keeps it: the values that rules and sampled records have.

    Where there is a sample, frequent values of columns that rules read are added. A column of nothing but missing
    values takes the kind that the rules expect.
    """
    read = column.name in rule_set.columns
    if column.kind == EMPTY:
        column = _as_expected(column, rule_set.kind(column.name))
    if column.kind in _ORDERED:
        return Field(column, (), read)
    if column.kind == BOOLEAN:
        return Field(column, (False, True), read)
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.categories))
    frequent = np.argsort(-counts, kind="stable")[: _MAX_CHOICES if read and records.size else 0]
    kept = set(frequent.tolist()) | set(column.values[records].tolist())
    conditions = (c for rule in rule_set.all_rules for c in rule.conditions if c.column == column.name)
    named = dict.fromkeys(value for condition in conditions for value in condition.values_named)
    kept |= {column.positions[value] for value in named if value in column.positions}
    choices = [column.categories[k] for k in sorted(kept - {-1}) if counts[k] or column.categories[k] in named]
    choices += [value for value in named if value not in column.positions and _belongs_to(value, column.kind)]
    return Field(column, tuple(choices), read)


def _as_expected(column: Column, kind: str) -> Column:
    """Give a column without values the kind that the rules expect of it."""
    n = column.values.size
    if kind == NUMBER:
        return Column(column.name, NUMBER, np.full(n, np.nan))
    if kind in (DATE, INSTANT):
        return Column(column.name, kind, np.full(n, "NaT", "datetime64[us]"))
    categories = (False, True) if kind == BOOLEAN else ()
    return Column(column.name, kind if kind in (BOOLEAN, TEXT) else CATEGORY, column.values, categories)


def why_not(rule_set: RuleSet) -> str:
    """Say why no other program can answer as the rules do; empty if one can."""
    if callable(rule_set.conflict):
        return (
            "Where several rules cover a record, a function written for this rule set decides which one speaks. "
            "A page cannot run that function, so it cannot answer for a record."
        )
    for rule in rule_set.all_rules:
        for condition in rule.conditions:
            if not isinstance(condition, _KNOWN):
                kind = type(condition).__name__
                return f"A rule uses a condition of its own kind ({kind}), which a page cannot follow."
    return ""


def model_of(rule_set: RuleSet, fields: Iterable[Field]) -> dict[str, Any]:
    """Return how the rules answer: conditions, and the :class:`Decision` in numbers.

    Ballots are text, since their sums go beyond what floating point holds exactly.
    """
    by_name = {field.column.name: (j, field) for j, field in enumerate(fields)}
    decision = rule_set.decision
    return {
        "n_rules": len(rule_set),
        "bodies": [_body_in_numbers(rule.conditions, by_name) for rule in rule_set.all_rules],
        "labels": rule_set.labels_of(np.arange(len(rule_set.all_rules) + 1)).tolist(),
        "order": decision.order.tolist(),
        "ballots": None if decision.ballots is None else [[str(n) for n in row] for row in decision.ballots.tolist()],
        "preference": decision.preference.tolist(),
        "probabilities": rule_set.rule_probabilities.tolist(),
        "added": _added_counts(rule_set.evidence) if rule_set.adds_counts else None,
    }


def _added_counts(evidence: Evidence) -> dict[str, Any]:
    """Return what the probabilities of rules whose class counts are added up are made of."""
    return {
        "counts": evidence.counts.astype(np.int64).tolist(),
        "totals": evidence.totals.tolist(),
        "weights": None if evidence.weights is None else evidence.weights.tolist(),
        "smoothing": evidence.smoothing,
    }


def _body_in_numbers(
    conditions: Iterable[Condition], by_name: dict[Hashable, tuple[int, Field]]
) -> list[dict[str, Any]]:
    """Return the conditions of a rule, each with the position of its column."""
    found = [(condition, *by_name[condition.column]) for condition in conditions]
    return [{"column": j, **field.condition(condition)} for condition, j, field in found]


def _belongs_to(value: Any, kind: str) -> bool:
    return kind == CATEGORY or isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _json_number(value: Any) -> Any:
    """Return a number as JSON holds it: None for NaN, words for infinity."""
    number = float(value)
    if number != number:
        return None
    if number in (np.inf, -np.inf):
        return "Infinity" if number > 0 else "-Infinity"
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _microseconds(value: Any) -> str | None:
    """Return a date as microseconds since 1970 in text, which no reader of JSON rounds; None for a missing one."""
    return None if np.isnat(value) else str(int(value.astype(np.int64)))


def _cut_short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
