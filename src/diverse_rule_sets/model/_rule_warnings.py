"""Warnings about rules that a user writes: those that cover no record, and values that no record has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from diverse_rule_sets._input.checks import find_similar, warn
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.model._conditions import Condition, DerivedColumn, Equals
from diverse_rule_sets.model._formatting import format_value
from diverse_rule_sets.model._ranges import IsInRange

# Number of values of a rule about which there are warnings.
_MAX_VALUES = 3


def warn_about_rule(
    conditions: Sequence[Condition], covers_any: bool, read: Callable[[Hashable], Column], start: str
) -> None:
    """Warn if a rule covers no record, with the reason; otherwise about the values it lists that no record has.

    Parameters
    ----------
    conditions : the conditions of the rule
    covers_any : whether the rule covers at least one record
    read : function that returns a column of the records; only columns that are needed are read
    start : the start of the warning, with the text of the rule
    """
    in_table = [condition for condition in conditions if not isinstance(condition.column, DerivedColumn)]
    if not covers_any:
        reason = _reason(in_table, read)
        if reason is None and len(in_table) < len(conditions):  # whether points alone are the reason is not known here
            reason = "no record meets all of its conditions"
        warn(f"{start}: {reason or 'each of its conditions holds for some records, but no record meets all of them'}")
        return
    for condition in in_table:
        in_order = isinstance(condition, IsInRange)  # a range may contain categories that do not occur
        if (len(condition.values_named) > 1 and not in_order) or condition.excludes:  # a single value does occur
            for text in _absent_values(condition, read(condition.column)):
                warn(f"{start}: {text}")


def _reason(conditions: Sequence[Condition], read: Callable[[Hashable], Column]) -> str | None:
    """Return which condition holds for no record; None if each holds for some."""
    for condition in conditions:
        column = read(condition.column)
        if not condition.holds(column).any():
            verb = "meets" if condition.holds_if_missing else "has"
            return f"no record {verb} {condition}{_hint(condition, column)}"
    return None


def _absent_values(condition: Condition, column: Column) -> list[str]:
    """Return a text about each of the first listed values that no record has."""
    mixed = bool(getattr(condition, "mixed", False))
    single = [Equals(condition.column, value, mixed) for value in condition.values_named]
    absent = [one for one in single if not one.holds(column).any()]
    texts = [f"no record has {one}{_hint(one, column)}" for one in absent[:_MAX_VALUES]]
    if len(absent) > _MAX_VALUES:
        texts[-1] += f" (nor {len(absent) - _MAX_VALUES:,} more of its values)"
    return texts


def _hint(condition: Condition, column: Column) -> str:
    """Return what the values of a column are: the most similar value, or the smallest and the largest one."""
    known = column.values[~column.missing]
    if not known.size:
        return "; all its values are missing" if column.missing.any() else ""
    if column.kind in (NUMBER, DATE, INSTANT):
        zone = "Z" if column.kind == INSTANT else ""
        low, high = (f"{format_value(value.item())}{zone}" for value in (known.min(), known.max()))
        return f"; its values are from {low} to {high}"
    if condition.excludes or not condition.values_named:
        return ""
    counts = np.bincount(known, minlength=len(column.categories))
    frequent = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    values = [column.categories[k] for k in frequent.tolist()]
    similar = [found for value in condition.values_named for found in find_similar(value, values)]
    return f"; did you mean {format_value(similar[0])}?" if similar else ""
