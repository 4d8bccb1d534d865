"""Functions for all exporters: numbers as exact text, the values in conditions, and checks of conditions."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from diverse_rule_sets._input.columns import column_of_objects, type_of_values
from diverse_rule_sets._input.values import BOOLEAN, BYTES, DATE, INSTANT, NUMBER, TEXT, type_of
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import Scorecard, ScorecardColumn


def exact_text(value: float | int) -> str:
    """Return a number as text that is read back as the same number; integers have no decimal point."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def check_known(condition: Condition, language: str) -> None:
    """Raise TypeError for a condition of a user-defined class, which cannot be exported."""
    if not isinstance(condition, Interval | Equals | IsIn | IsNotIn | IsMissing):
        raise TypeError(f"cannot write the condition {condition} ({type(condition).__name__}) as {language}")


def values_by_column(rule_set: RuleSet) -> dict[Hashable, list[Any]]:
    """Return the values and bounds of the conditions on each column of the table, columns in the order of first use."""
    values: dict[Hashable, list[Any]] = {}
    for condition in _plain_conditions(rule_set):
        values.setdefault(condition.column, []).extend(_values_of(condition))
    return values


def compared_values(rule_set: RuleSet, column: Hashable) -> Iterator[Any]:
    """Yield the values and bounds of the conditions on one column; :func:`values_by_column` is faster for several."""
    for condition in _plain_conditions(rule_set):
        if condition.column == column:
            yield from _values_of(condition)


def _plain_conditions(rule_set: RuleSet) -> Iterator[Condition]:
    """Yield the conditions of the rules on columns of the table; those of the signs of each scorecard once."""
    seen: set[Scorecard] = set()
    for rule in rule_set.all_rules:
        for condition in rule.conditions:
            if isinstance(condition.column, ScorecardColumn):
                if condition.column.scorecard in seen:
                    continue
                seen.add(condition.column.scorecard)
            yield from condition.plain_conditions


def _values_of(condition: Condition) -> Iterator[Any]:
    yield from condition.values_named
    yield from (bound for _, bound in condition.comparisons)


def kind_of_values(rule_set: RuleSet, column: Hashable, several: bool = False) -> str:
    """Return the type of the values in the conditions on a column; raise ValueError if there are several types.

    One of ``"number"``, ``"text"``, ``"boolean"``, ``"date"``, ``"instant"`` (a date with a time zone), or ``"none"``
    if no condition has a value. The argument ``several`` allows several types, for which the result is ``"several"``,
    and infinite numbers.
    """
    return common_kind(compared_values(rule_set, column), column, several)


def common_kind(values: Iterable[Any], column: Hashable, several: bool = False) -> str:
    """Return the type of some values of a column, as :func:`kind_of_values` does."""
    found = {_value_kind(value, column, several): value for value in values}
    if len(found) > 1 and several:
        return "several"
    if len(found) > 1:
        examples = " and ".join(repr(value) for value in list(found.values())[:2])
        raise ValueError(
            f"the column {column!r} is compared with values of several types, such as {examples}; a column in another "
            "program has one type: convert the column before fitting"
        )
    return next(iter(found), "none")


_KINDS = {NUMBER: "number", TEXT: "text", BOOLEAN: "boolean", DATE: "date", INSTANT: "instant", BYTES: "bytes"}


def exported_codes(rule_set: RuleSet, column: Hashable, kind: str) -> tuple[Any, ...]:
    """Return the codes for missing values of a column that a column of one type can hold.

    Parameters
    ----------
    rule_set, column : the column of the rule set
    kind : the type of the values in the conditions on it, see :func:`kind_of_values`; if there are none, the type in
        training counts, or else that of the codes
    """
    codes = rule_set.codes_read.get(column, ())
    if kind == "none" and codes:
        kind = _KINDS.get(type_of_values(rule_set.kind(column))) or common_kind(codes, column)
    own = tuple(code for code in codes if _KINDS[type_of(code)] == kind)
    common_kind(own, column)  # raises an error for infinite numbers and bytes
    return own


def other_date_codes(rule_set: RuleSet, column: Hashable, kind: str) -> tuple[Any, ...]:
    """Return the codes of a column of dates that are dates of the other type, with or without a time zone.

    Only a program that stores dates as text can hold them beside the dates of the column.
    """
    if kind == "none":
        kind = _KINDS.get(type_of_values(rule_set.kind(column)), kind)
    other = {"date": INSTANT, "instant": DATE}.get(kind)
    return tuple(code for code in rule_set.codes_read.get(column, ()) if type_of(code) == other)


def codes_that_meet(condition: Condition, codes: Sequence[Any]) -> tuple[Any, ...]:
    """Return the codes that a comparison by order must exclude, because they are above or below its bounds."""
    if not codes:
        return ()
    flags = condition.holds(column_of_objects(condition.column, list(codes), condition.kind))
    return tuple(code for code, holds in zip(codes, flags.tolist(), strict=True) if holds)


def _value_kind(value: Any, column: Hashable, several: bool) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float) and (several or -sys.float_info.max <= value <= sys.float_info.max):
        return "number"
    if isinstance(value, datetime.date):
        return "instant" if getattr(value, "tzinfo", None) is not None else "date"
    raise ValueError(
        f"the column {column!r} is compared with {value!r} ({type(value).__name__}), which cannot be exported"
    )
