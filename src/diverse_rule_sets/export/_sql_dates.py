"""Dates in SQL, truncated to microseconds as in this package."""

from __future__ import annotations

import datetime
from typing import Any

_SECONDS = "%Y-%m-%d %H:%M:%S"
# The position of the fraction in '2020-01-31 12:00:00.5'.
_FRACTION = 20


def next_moment(moment: datetime.date) -> datetime.datetime | None:
    """Return the next microsecond; None after the last one that Python has."""
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime(moment.year, moment.month, moment.day)
    try:
        return moment + datetime.timedelta(microseconds=1)
    except OverflowError:
        return None


def sqlite_text(moment: datetime.datetime) -> str:
    """Return a date without time zone as text of which the alphabetical order is the order in time.

    Examples
    --------
    >>> sqlite_text(datetime.datetime(2020, 1, 31, 12, 0, 0, 500000))
    '2020-01-31 12:00:00.5'
    """
    return moment.isoformat(sep=" ", timespec="seconds") + f".{moment.microsecond:06}".rstrip("0").rstrip(".")


def sqlite_zone(exp: Any, column: Any) -> Any:
    """Return the time zone of a SQLite column of dates in ISO 8601: the text after the digits; empty without one."""
    start = exp.Literal(this=str(_FRACTION), is_string=False)
    end = exp.Anonymous(this="SUBSTR", expressions=[column, start])
    return exp.Anonymous(this="LTRIM", expressions=[end, exp.Literal.string(".0123456789")])


def sqlite_date(exp: Any, column: Any) -> Any:
    """Return a SQLite column of dates in ISO 8601 as text in the form of :func:`sqlite_text`, in UTC.

    SQLite's own functions round to milliseconds. So the fraction is taken from the text, and they get the rest of it:
    the text up to the seconds, and the time zone. Text of another form becomes NULL.
    """

    def call(name: str, *arguments: Any) -> Any:
        return exp.Anonymous(this=name, expressions=list(arguments))

    def text(value: str) -> Any:
        return exp.Literal.string(value)

    def whole(value: int) -> Any:
        return exp.Literal(this=str(value), is_string=False)

    end, zone = call("SUBSTR", column, whole(_FRACTION)), sqlite_zone(exp, column)
    rest = exp.DPipe(this=call("SUBSTR", column, whole(1), whole(_FRACTION - 1)), expression=zone)
    fraction = call("SUBSTR", call("REPLACE", end, zone, text("")), whole(1), whole(7))
    shortest = call("RTRIM", call("RTRIM", fraction, text("0")), text("."))
    return exp.DPipe(this=call("STRFTIME", text(_SECONDS), rest), expression=shortest)
