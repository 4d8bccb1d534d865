"""Short cut points: the number with the fewest digits, or the start of the longest period, between two values."""

from __future__ import annotations

import datetime
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.values import INSTANT, NUMBER


def shortest(edge: Any, values: NDArray[Any], kind: str) -> Any:
    """Return the shortest number or date that has the same values on each side as the edge."""
    position = int(np.searchsorted(values, edge, side="right"))
    low = values[max(position - 1, 0)]
    high = values[position]
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
