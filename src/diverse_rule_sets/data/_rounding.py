"""Short cut points: the number with the fewest digits, or the start of the longest period, near a cut.

A cut may move past a small share of the records, ``MOVED_SHARE``, to a number with fewer digits. This is done before
the conditions are evaluated, so that what is printed is what was learnt.
"""

from __future__ import annotations

import datetime
import math
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.values import INSTANT, NUMBER

# Maximum share of the records by which a cut point may move to a rounder number: 2 of 1,000.
MOVED_SHARE = 0.002


def shortest(
    edge: Any, values: NDArray[Any], counts: NDArray[np.int64], kind: str, lows: NDArray[Any] | None = None
) -> Any:
    """Return the shortest number or date that has about the same records on each side as the edge.

    Parameters
    ----------
    edge : the cut point, less than the largest value
    values : the distinct values, ascending; or the largest value of each group of neighbouring values
    counts : number of records with each value or in each group, or their weight
    kind : type of the column
    lows : the smallest value of each group
    """
    lows = values if lows is None else lows
    below = np.cumsum(counts)  # number of records up to each value
    position = max(int(np.searchsorted(values, edge, side="right")), 1)
    moved = math.floor(MOVED_SHARE * below[-1])
    first = int(np.searchsorted(below, below[position - 1] - moved))
    last = min(int(np.searchsorted(below, below[position - 1] + moved, side="right")), values.size - 1)
    low, high = values[min(first, position - 1)], lows[max(last, position)]
    if kind == NUMBER:
        return shortest_number(float(edge), float(low), float(high))
    return as_datetime(shortest_date(edge, low, high), kind)


def shortest_number(edge: float, low: float, high: float) -> float:
    """Return the number with the fewest digits in [low, high); of several, the nearest to the edge.

    Examples
    --------
    >>> shortest_number(0.58, 0.5, 0.6)
    0.5
    >>> shortest_number(0.58, 0.55, 0.6)
    0.58
    >>> shortest_number(38.7, 37.0, 43.0)
    40.0
    """
    with localcontext(Context(prec=40)):
        exact = Decimal(edge)
        largest = Decimal(max(abs(low), abs(high))).adjusted() + 1
        for place in range(largest, largest - 20, -1):
            unit = Decimal(1).scaleb(place)
            below = (exact / unit).to_integral_value(ROUND_FLOOR) * unit
            for candidate in sorted((below, below + unit), key=lambda near: abs(near - exact)):
                if low <= float(candidate) < high:
                    return float(candidate)
    return low


_UNITS: tuple[Any, ...] = ("Y", "M", "D", "h", "m", "s", "ms", "us")


def shortest_date(edge: Any, low: Any, high: Any) -> Any:
    """Return the start of a year (or else of a month, a day, an hour, ...) in [low, high) nearest to the edge."""
    for unit in _UNITS:
        start = edge.astype(f"datetime64[{unit}]")
        near = sorted(
            (start, start + np.timedelta64(1, unit)), key=lambda moment: abs(moment.astype("datetime64[us]") - edge)
        )
        for candidate in near:
            moment = candidate.astype("datetime64[us]")
            if low <= moment < high:
                return moment
    return low


def as_datetime(value: Any, kind: str) -> datetime.datetime:
    """Return a numpy date as the Python value that conditions hold."""
    moment = np.datetime64(value, "us").astype(datetime.datetime)
    if not isinstance(moment, datetime.datetime):
        raise ValueError(f"the date {value} is outside the years 1 to 9999")
    return moment.replace(tzinfo=datetime.UTC) if kind == INSTANT else moment
