"""Numbers of records: whole, or multiples of 2**-10 if the records had weights that are no whole numbers.

Sums of such numbers are exact. Whole numbers are always stored as integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from diverse_rule_sets._input.weights import UNIT_BITS

# The largest sum of counts: up to here every integer is a float, and every count a multiple of the unit.
MAX_COUNT = 2**53
# Counts are multiples of 1 / UNITS.
UNITS = 2**UNIT_BITS

Count = int | float


def as_count(number: Any, whole: bool = False) -> Count:
    """Return a number of records as an integer, or as a float if it is not whole; raises ValueError if it is none.

    With ``whole`` a number that is not an integer is an error as well.
    """
    if type(number) is int and 0 <= number <= MAX_COUNT:
        return number
    if type(number) is float and not whole and 0 <= number * UNITS <= MAX_COUNT and (number * UNITS).is_integer():
        return int(number) if number.is_integer() else number
    raise ValueError(number)


def as_counts(numbers: Iterable[Any]) -> list[Count]:
    """Return exact sums of counts, of any type of number, as counts."""
    return [int(n) if float(n).is_integer() else float(n) for n in numbers]


def is_fractional(counts: Iterable[Count]) -> bool:
    """Return whether some count is not whole."""
    return any(isinstance(n, float) for n in counts)


def count_text(count: Any) -> str:
    """Return a count as text: whole numbers exactly, others with one digit after the point, small ones with two digits.

    Examples
    --------
    >>> count_text(1234), count_text(1234.5625), count_text(12.0), count_text(0.5625)
    ('1,234', '1,234.6', '12', '0.56')
    """
    if float(count).is_integer():
        return f"{int(count):,}"
    return f"{count:,.1f}" if count >= 9.95 else f"{count:.2g}"
