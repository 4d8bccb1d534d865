"""Single values: missing values, the types of values, and one form for values that are equal.

Two values are the same if they have the same type and are equal: ``True`` is not ``1``, but ``1`` and ``1.0`` are the
same number. A date is the same moment whatever class represents it; it is truncated to microseconds.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

# Types of values, which are also types of columns.
NUMBER, DATE, INSTANT, BOOLEAN, TEXT, BYTES = "number", "date", "date (UTC)", "boolean", "text", "bytes"

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_EXPECTED = "argument must be a string or a number, a boolean, a date or missing"


_NEVER_MISSING = frozenset((str, int, bool, bytes))


def plain(value: Any) -> Any:
    """Return a numpy scalar as a Python value; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def is_missing(value: Any) -> bool:
    """Return whether a Python object is a missing value: None, NaN, NaT or pandas' NA."""
    if type(value) in _NEVER_MISSING:
        return False
    if type(value) is float:
        return value != value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, decimal.Decimal):
        return value.is_nan()  # a comparison with a signalling NaN raises an error
    return isinstance(value, numbers.Real) and bool(value != value)


def equals_no_name(name: Any) -> bool:
    """Return whether a name, or a part of a name that is a tuple or a set, is NaN, NaT or NA: it equals no other name.

    Examples
    --------
    >>> equals_no_name(float("nan")), equals_no_name(("a", float("nan"))), equals_no_name(("a", None))
    (True, True, False)
    """
    if isinstance(name, tuple | frozenset):
        return any(map(equals_no_name, name))
    return name is not None and is_missing(name)


def n_missing(values: Iterable[Any]) -> int:
    """Count the missing values among Python objects."""
    return sum(is_missing(v) for v in values)


def type_of(value: Any) -> str:
    """Return the type of a value that is not missing; raises TypeError if it is a list, a duration or the like.

    Examples
    --------
    >>> type_of(True), type_of(1), type_of("a"), type_of(datetime.date(2020, 1, 31))
    ('boolean', 'number', 'text', 'date')
    """
    return type_of_class(type(value), value)


def type_of_class(kind: type, example: Any) -> str:
    """Return the type of the values of a class; dates of one class may or may not have a time zone."""
    if issubclass(kind, str):
        return TEXT
    if issubclass(kind, bool | np.bool_):
        return BOOLEAN
    if issubclass(kind, numbers.Real | decimal.Decimal) and not issubclass(kind, np.timedelta64):
        return NUMBER
    if issubclass(kind, datetime.date | np.datetime64):
        return DATE if getattr(example, "tzinfo", None) is None else INSTANT
    if issubclass(kind, bytes):
        return BYTES
    raise TypeError(f"holds a {kind.__name__}, {example!r:.80}: {_EXPECTED}")


def canonical(value: Any) -> Any:
    """Return the one form of a value: a str, bool, int, float, bytes or datetime.

    Raises TypeError for values of other types, and ValueError for numbers and dates out of range.

    Examples
    --------
    >>> canonical(decimal.Decimal("0.5")), canonical(datetime.date(2020, 1, 31))
    (0.5, datetime.datetime(2020, 1, 31, 0, 0))
    """
    return _CANONICAL[type_of(value)](value)


def identity(value: Any) -> Any:
    """Return a key that is equal for two canonical values if and only if they are the same value.

    Examples
    --------
    >>> identity(1) == identity(1.0), identity(1) == identity(True)
    (True, False)
    """
    return value if type(value) is str else (type_of(value), value)


def _number(value: Any) -> int | float:
    """Return a number as an int or a float."""
    if isinstance(value, int | numbers.Integral):
        number: int | float = int(value)
    elif isinstance(value, decimal.Decimal):
        if value.is_finite() and value.adjusted() > sys.float_info.max_10_exp:
            raise ValueError("contains a number too large for float64")  # its digits could fill the memory
        whole = value.is_finite() and value == value.to_integral_value()
        number = int(value) if whole else float(value)
    elif isinstance(value, numbers.Rational):
        number = int(value.numerator) if value.denominator == 1 else _ratio(value)
    else:
        number = float(value)
    if isinstance(number, int) and abs(number) > sys.float_info.max:
        raise ValueError("contains a number too large for float64")
    return number


def _ratio(value: numbers.Rational) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError("contains a number too large for float64") from None


def as_float(value: Any) -> float:
    """Return a number or a boolean as a float; raises ValueError if it is too large."""
    return value if type(value) is float else float(_number(value))


def _moment(value: Any) -> datetime.datetime:
    """Return a date as a datetime in microseconds, in UTC if it has a time zone."""
    moment = _EPOCH + microseconds(value) * _MICROSECOND if in_range(value) else None
    if moment is None:
        raise ValueError(f"contains the date {value}, which is outside the years 1 to 9999 in UTC")
    return moment if getattr(value, "tzinfo", None) is None else moment.replace(tzinfo=datetime.UTC)


_FIRST = (datetime.datetime.min - _EPOCH) // _MICROSECOND
_LAST = (datetime.datetime.max - _EPOCH) // _MICROSECOND


def in_range(value: Any) -> bool:
    """Return whether a date is within the years 1 to 9999 in UTC."""
    return _FIRST <= microseconds(value) <= _LAST


def microseconds(value: Any) -> int:
    """Return the microseconds from 1970 to a date, in UTC if it has a time zone; fractions are truncated.

    Raises ValueError if 64 bits do not suffice.
    """
    if isinstance(value, np.datetime64):
        return int(to_microseconds(np.array([value]))[0].astype(np.int64))
    if not isinstance(value, datetime.datetime):
        return (datetime.datetime(value.year, value.month, value.day) - _EPOCH) // _MICROSECOND
    if hasattr(value, "to_datetime64"):  # a pandas Timestamp, which may have nanoseconds or a year beyond 9999
        return microseconds(value.to_datetime64())
    offset = value.utcoffset() or datetime.timedelta()
    return (value.replace(tzinfo=None, fold=0) - _EPOCH) // _MICROSECOND - offset // _MICROSECOND


def to_microseconds(values: Any) -> Any:
    """Return an array of dates as datetime64[us]; raises ValueError if a date is out of the range of 64 bits."""
    dates = values.astype("datetime64[us]")
    unit, _ = np.datetime_data(values.dtype)
    if unit in ("ns", "ps", "fs", "as", "us", "generic"):
        return dates
    wrong = np.flatnonzero((dates.astype(values.dtype) != values) & ~np.isnat(values))
    if wrong.size:
        raise ValueError(f"contains the date {values[wrong[0]]}, too far from 1970 for microseconds in 64 bits")
    return dates


_CANONICAL: dict[str, Any] = {
    TEXT: lambda value: value if type(value) is str else str.__str__(value),
    BOOLEAN: bool,
    NUMBER: _number,
    DATE: _moment,
    INSTANT: _moment,
    BYTES: bytes,
}
