"""What exporters share: numbers as exact text, the values that a column is compared with, the conditions they know."""

from __future__ import annotations

import datetime
import math
from collections.abc import Hashable, Iterator
from typing import Any

from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._rules import RuleSet


def exact_text(value: float | int) -> str:
    """Return a number as text that reads back as the same number; whole numbers without a point."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def check_known(condition: Condition, language: str) -> None:
    """Refuse a condition of a user's own class, which no other language can express."""
    if not isinstance(condition, Interval | Equals | IsIn | IsNotIn | IsMissing):
        raise TypeError(f"no {language} is known for the condition {condition} ({type(condition).__name__})")


def compared_values(rule_set: RuleSet, column: Hashable) -> Iterator[Any]:
    """Give the values and bounds that the conditions compare a column with."""
    for rule in rule_set.all_rules:
        for condition in rule.conditions:
            if condition.column == column:
                yield from condition.values_named
                yield from (bound for _, bound in condition.comparisons)


def kind_of_values(rule_set: RuleSet, column: Hashable, several: bool = False) -> str:
    """Return the one kind of values that the conditions compare a column with; several kinds are refused.

    One of ``"number"``, ``"text"``, ``"boolean"``, ``"date"``, ``"instant"``; ``"none"`` if no condition names a value;
    ``"several"`` if that is allowed, and then infinity is too.
    """
    found = {_value_kind(value, column, several): value for value in compared_values(rule_set, column)}
    if len(found) > 1 and several:
        return "several"
    if len(found) > 1:
        examples = " and ".join(repr(value) for value in list(found.values())[:2])
        raise ValueError(
            f"the column {column!r} is compared with values of several kinds, such as {examples}; another program's "
            "column holds one kind: convert the column before fitting"
        )
    return next(iter(found), "none")


def _value_kind(value: Any, column: Hashable, several: bool) -> str:
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
