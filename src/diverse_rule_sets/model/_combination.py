"""Many conditions on the same columns as one condition for each column, in linear time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

from diverse_rule_sets.model._conditions import Condition, Equals, IsIn, IsNotIn, merge_conditions
from diverse_rule_sets.model._formatting import format_name
from diverse_rule_sets.model._ranges import IsInRange


def combine_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return one condition for each column, in the order of first use, as ``merge_conditions`` does but in linear time.

    Conditions that list values are combined at once, and intervals before them: one by one, each would copy the values.
    """
    by_column: dict[Hashable, tuple[list[Condition], list[Condition]]] = {}
    for condition in conditions:
        lists_values = isinstance(condition, Equals | IsIn | IsNotIn) and not isinstance(condition, IsInRange)
        by_column.setdefault(condition.column, ([], []))[lists_values].append(condition)
    combined: list[Condition] = []
    for others, listing in by_column.values():
        combined += merge_conditions(others)
        combined += [_combine_values(listing)] if len(listing) > 1 else listing
    return merge_conditions(combined)


def _combine_values(conditions: list[Condition]) -> Condition:
    """Return the condition for the values that all conditions on a column allow; True and 1 are different values."""
    column = conditions[0].column
    required: list[dict[tuple[bool, Any], Any]] = []
    excluded: dict[tuple[bool, Any], Any] = {}
    for one in conditions:
        values = {(isinstance(value, bool), value): value for value in one.values_named}
        if one.excludes:
            excluded |= values
        else:
            required.append(values)
    if not required:
        return IsNotIn(column, tuple(excluded.values()))
    times = Counter(key for values in required for key in values)
    kept = [v for key, v in required[0].items() if times[key] == len(required) and key not in excluded]
    if not kept:
        two = f"both {conditions[0]} and {conditions[1]}"
        several = f"all {len(conditions)} conditions on {format_name(column)}"
        raise ValueError(f"no value can meet {two if len(conditions) == 2 else several}")
    return Equals(column, kept[0]) if len(kept) == 1 else IsIn(column, tuple(kept))
