"""Learnt conditions on columns of whole numbers, written in whole numbers."""

from __future__ import annotations

import math
from typing import Any

from diverse_rule_sets._input.values import NUMBER
from diverse_rule_sets.model._condition_base import Condition
from diverse_rule_sets.model._conditions import Equals, Interval
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._scorecards import ScorecardColumn

# Numbers at which counts and codes begin: nothing is expected below them.
_STARTS = (0, 1)
# From this number on, ``> 40`` is written instead of ``>= 41``: the number is rounder.
_FIRST_ROUND = 10


def in_whole_numbers(condition: Condition, domain: Domain, keep_sides: bool = False) -> Condition:
    """Return a condition that holds for the same whole numbers of a column in training, as it is written best.

    ``children > 2`` becomes ``children >= 3``, ``2 < children <= 5`` becomes ``3 <= children <= 5``, and ``2 < children
    <= 3`` becomes ``children = 3``. If the smallest number in training is 0 or 1, ``children <= 0`` becomes ``children
    = 0``. If training has only two numbers, one greater than the other by 1, both conditions become equalities.
    ``hours > 40`` stays as it is, because 40 is rounder than 41. Other conditions are returned unchanged.

    Parameters
    ----------
    condition : a condition on a column of the table
    domain : the values of the column in training
    keep_sides : whether a condition with one bound keeps it, because it must hold for all smaller or larger numbers

    Examples
    --------
    >>> children = Domain(whole=True, limits=(0, 9))
    >>> for low, high in [(2, None), (2, 5), (2, 3), (None, 0), (None, 1), (8, None)]:
    ...     print(in_whole_numbers(Interval("children", low, high), children))
    children >= 3
    3 <= children <= 5
    children = 3
    children = 0
    children <= 1
    children >= 9
    """
    if not isinstance(condition, Interval):
        return condition
    if not domain.whole or domain.limits is None or condition.kind != NUMBER:
        return condition
    low, high = _whole_bounds(condition)
    least, most = low, high
    if not keep_sides:
        first, last = domain.limits
        is_pair = last == first + 1
        least = first if low is None and (first in _STARTS or is_pair) else low
        most = last if high is None and is_pair else high
    if least is not None and least == most:
        return Equals(condition.column, least)
    if low is not None and high is not None and low > high:  # no whole number is between the bounds
        return condition
    if low is not None and _is_rounder(low - 1, low):
        return Interval(condition.column, low - 1, high)
    return Interval(condition.column, low, high, with_low=True)


def _is_rounder(number: int, other: int) -> bool:
    """Return whether a number has fewer digits than another one, not counting zeros at the end; at least 10."""
    return abs(number) >= _FIRST_ROUND and len(str(abs(number)).rstrip("0")) < len(str(abs(other)).rstrip("0"))


def at_fewest_points(condition: Condition) -> Condition:
    """Return a condition on points as it is written best: ``lead <= 0`` is ``lead = 0``, because no lead is smaller."""
    if isinstance(condition, Interval) and isinstance(condition.column, ScorecardColumn):
        least = condition.column.range[0]
        if condition.low is None and condition.high == least:
            return Interval(condition.column, least, least, with_low=True)
    return condition


def _whole_bounds(interval: Interval) -> tuple[int | None, int | None]:
    """Return the first and the last whole number in an interval."""
    low: Any = interval.low
    high: Any = interval.high
    if low is not None:
        low = math.ceil(low) if interval.with_low else math.floor(low) + 1
    if high is not None:
        high = math.floor(high) if interval.with_high else math.ceil(high) - 1
    return low, high
