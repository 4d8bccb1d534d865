"""What exporters share about values: numbers as exact text, the one kind of values that a column holds."""

from __future__ import annotations

import datetime
import math
from collections.abc import Hashable, Iterator
from typing import Any

from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsNotIn
from diverse_rule_sets.model._rules import RuleSet


def exact_text(value: float | int) -> str:
    """Return a number as text that reads back as the same number; whole numbers without a point."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def values_of(condition: Condition) -> Iterator[Any]:
    """Give the values that a condition compares with."""
    if isinstance(condition, Interval):
        yield from (bound for _, bound in condition.comparisons)
    elif isinstance(condition, Equals):
        yield condition.value
    elif isinstance(condition, IsIn | IsNotIn):
        yield from condition.values


def kind_of_values(rule_set: RuleSet, column: Hashable, several: bool = False) -> str:
    """Return the one kind of values that the conditions compare a column with; several kinds are refused.

    One of ``"number"``, ``"text"``, ``"boolean"``, ``"date"``, ``"instant"``; ``"none"`` if no condition names a value;
    ``"several"`` if that is allowed, and then infinity is too.
    """
    rules = rule_set.rules + rule_set.backups
    found = {
        _kind(value, column, several): value
        for rule in rules
        for condition in rule.conditions
        if condition.column == column
        for value in values_of(condition)
    }
    if len(found) > 1 and several:
        return "several"
    if len(found) > 1:
        examples = " and ".join(repr(value) for value in list(found.values())[:2])
        raise ValueError(
            f"the column {column!r} is compared with values of several kinds, such as {examples}; another program's "
            "column holds one kind: convert the column before fitting"
        )
    return next(iter(found), "none")


def _kind(value: Any, column: Hashable, several: bool) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float) and (several or math.isfinite(value)):
        return "number"
    if isinstance(value, datetime.date):
        return "instant" if getattr(value, "tzinfo", None) is not None else "date"
    raise ValueError(
        f"the column {column!r} is compared with {value!r} ({type(value).__name__}), which cannot be exported"
    )
