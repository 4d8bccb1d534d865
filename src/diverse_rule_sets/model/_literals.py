"""Constants in the text of rules: values of conditions, and names of columns in backticks or brackets.

::

    value     a number, "text", b"bytes", True, False, inf, or a date: 2020-01-31, 2020-01-31 12:00:00, with Z if it has
              a time zone
    name      `text`, or [constant]: a value, None, a tuple such as ('a', 1), date(2020, 1, 31), Decimal('1.5'),
              timedelta(days=1), frozenset({1, 2})

A constant is read character by character, and nothing is executed. The time is linear in the length of the text: a
pattern never gives back what a repetition has matched.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable
from typing import Any

_TEXT = r'"(?:[^"\\]++|\\.)*+"' + r"|'(?:[^'\\]++|\\.)*+'"
_NUMBER = r"[-+]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+"
_DATE = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6}+)?+)?+)?+(?:Z|[-+]\d\d:\d\d)?+"
_VALUE = rf"b?(?:{_TEXT})|(?:True|False|[-+]?inf)\b|{_DATE}|{_NUMBER}"

_VALUE_AT = re.compile(_VALUE, re.DOTALL)
_CONSTANT_AT = re.compile(rf"None\b|{_VALUE}", re.DOTALL)
_LABEL = re.compile(rf"True|False|[-+]?inf|{_NUMBER}")
_BLANKS = re.compile(r"\s*+")
_BACKTICKS = re.compile(r"`(?:[^`]++|``)*+`", re.DOTALL)
_NOT_A_NAME = re.compile(r"[-+]?nan\b|NaT\b|<NA>|NA\b|Decimal\(['\"][-+]?s?nan\d*+['\"]\)", re.IGNORECASE)
_ESCAPED_NAME = re.compile(r"\\(?:x..|u.{4}|U.{8}|.|$)", re.DOTALL)
# As in JSON, an escaped pair of surrogates is one character.
_HIGH, _LOW = r"\\u[dD][89abAB][\da-fA-F]{2}", r"\\u[dD][c-fC-F][\da-fA-F]{2}"
_ESCAPED_TEXT = re.compile(rf"{_HIGH}{_LOW}|\\(?:u[\da-fA-F]{{4}}|U[\da-fA-F]{{8}}|x[\da-fA-F]{{2}}|.)", re.DOTALL)
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {c: c for c in "\"'\\/"}
_MAX_DEPTH = 20
Found = tuple[Any, int]


def value_at(text: str, position: int) -> Found | None:
    """Return the value at a position, and where it ends; None if there is none."""
    found = _VALUE_AT.match(text, position)
    return None if found is None else (read_value(found[0]), found.end())


def is_value(text: str) -> bool:
    """Return whether the whole text is a value."""
    return _VALUE_AT.fullmatch(text) is not None


def is_label(text: str) -> bool:
    """Return whether the whole text is a label that is not text: a number or a boolean."""
    return _LABEL.fullmatch(text) is not None


def name_at(text: str, position: int) -> Found:
    """Return the name of a column in backticks or brackets at a position, and where it ends."""
    if text[position] == "[":
        return _name_in_brackets(text, position)
    found = _BACKTICKS.match(text, position)
    if found is None:
        raise ValueError(f"a column name in backticks has no end: {excerpt(text, position)}")
    inner = found[0][1:-1].replace("``", "`")
    return _ESCAPED_NAME.sub(lambda escape: _character(escape[0], "a column name"), inner), found.end()


def _name_in_brackets(text: str, position: int) -> Found:
    """Return a name that is not a string, such as [5] or [('a', 1)]."""
    if _NOT_A_NAME.match(text, position + 1):
        raise ValueError(f"NaN, NaT and NA cannot be the name of a column, got {excerpt(text, position)}")
    try:
        name, end = _constant(text, position + 1, 0)
        return name, _skip(text, end, "]")
    except (ValueError, OverflowError) as error:
        raise ValueError(
            "a column name in brackets must be a number, a date, a tuple or another constant, and a name that begins "
            f"with [ is written in backticks, got {excerpt(text, position)}: {error}"
        ) from None


def _constant(text: str, position: int, depth: int) -> Found:
    """Return the constant at a position, blanks before it included, and where it ends."""
    if depth > _MAX_DEPTH:
        raise ValueError("it is nested too deeply")
    position = _skip(text, position)
    if text[position : position + 1] == "(":
        parts, end, comma = _parts(text, position + 1, ")", depth)
        return (parts[0] if len(parts) == 1 and not comma else tuple(parts)), end
    found = _CONSTANT_AT.match(text, position)
    if found:
        return (None if found[0] == "None" else read_value(found[0], in_name=True)), found.end()
    for pattern, read in _CALLS:
        found = pattern.match(text, position)
        if found:
            return read(found), found.end()
    found = _FROZENSET.match(text, position)
    if found is None:
        raise ValueError(f"{excerpt(text, position)} is not a constant")
    parts, end, _ = _parts(text, found.end(), "}", depth)
    return frozenset(parts), _skip(text, end, ")")


def _parts(text: str, position: int, closing: str, depth: int) -> tuple[list[Any], int, bool]:
    """Return the constants up to a closing bracket, where it ends, and whether a comma follows the last constant."""
    parts: list[Any] = []
    comma = True
    while True:
        position = _skip(text, position)
        if text[position : position + 1] == closing:
            return parts, position + 1, comma and bool(parts)
        if not comma:
            raise ValueError(f"a comma is missing before {excerpt(text, position)}")
        part, position = _constant(text, position, depth + 1)
        parts.append(part)
        position = _skip(text, position)
        comma = text[position : position + 1] == ","
        position += comma


def _skip(text: str, position: int, expected: str = "") -> int:
    """Return the position after blanks, and after an expected character if one is given."""
    found = _BLANKS.match(text, position)
    position = position if found is None else found.end()
    if not text.startswith(expected, position):
        raise ValueError(f"{expected} is missing")
    return position + len(expected)


def _read_decimal(found: re.Match[str]) -> decimal.Decimal:
    """Read a decimal number."""
    try:
        number = decimal.Decimal(found[2])
    except ArithmeticError:
        raise ValueError(f"{excerpt(found[2])} is not a decimal number") from None
    if number.is_nan():
        raise ValueError("NaN cannot be part of a name")
    return number


def _read_duration(found: re.Match[str]) -> datetime.timedelta:
    """Read the parts of a duration, such as days=1, seconds=5."""
    parts = re.findall(r"(\w+)=([-+]?\d+)", found[0])
    return datetime.timedelta(**{unit: int(n) for unit, n in parts})


_DURATION = r"(?:days|seconds|microseconds)=[-+]?\d{1,18}+"
_CALLS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Any]], ...] = (
    (re.compile(r"Decimal\((['\"])([-+]?[\w.]++[-+]?\d*+)\1\)"), _read_decimal),
    (
        re.compile(r"(?:datetime\.)?date\((\d{1,4}+), ?(\d{1,2}+), ?(\d{1,2}+)\)"),
        lambda found: datetime.date(*map(int, found.groups())),
    ),
    (re.compile(rf"(?:datetime\.)?timedelta\({_DURATION}(?:, ?{_DURATION}){{0,2}}+\)"), _read_duration),
    (re.compile(r"frozenset\(\)"), lambda found: frozenset()),
)
_FROZENSET = re.compile(r"frozenset\(\s*+\{")


def read_value(text: str, in_name: bool = False) -> Any:
    """Read a value: text in quotes, bytes, a boolean, a date or a number.

    In a name, a date keeps its time zone, and two surrogates in a row are not one character.
    """
    if text[0] in "\"'":
        return _unquote(text, pairs=not in_name)
    if text[0] == "b":
        return _bytes(text)
    if text in ("True", "False"):
        return text == "True"
    if text.endswith("inf"):
        return float(text)
    if text[4:5] == "-" and text[:4].isdigit():
        return _moment(text, in_utc=not in_name)
    number = float(text)  # accepts any number of digits
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number if set(text) & set(".eE") else int(text)


def _unquote(text: str, pairs: bool) -> str:
    """Read text in quotes; ``pairs``: an escaped pair of surrogates is one character."""
    if "\\" not in text:
        return text[1:-1]

    def character(escape: re.Match[str]) -> str:
        code = escape[0][1:]
        if len(code) == 11:
            both = _character(escape[0], "a text")
            return both.encode("utf-16-le", "surrogatepass").decode("utf-16-le") if pairs else both
        if len(code) > 1:
            return _character(escape[0], "a text")
        if code not in _SHORT_ESCAPES:
            raise ValueError(
                f'cannot read the text {excerpt(text)}; write quotes and backslashes in it as \\" and \\\\'
            )
        return _SHORT_ESCAPES[code]

    return _ESCAPED_TEXT.sub(character, text[1:-1])


def _bytes(text: str) -> bytes:
    """Read bytes in quotes: ASCII characters and escape sequences."""
    try:
        return _unquote(text[1:], pairs=False).encode("latin-1" if text.isascii() else "ascii")
    except UnicodeEncodeError:
        raise ValueError(f"cannot read the bytes {excerpt(text)}; write characters beyond ASCII as \\x00") from None


def _character(escape: str, place: str) -> str:
    """Read a character, or two, escaped as in a Python string."""
    try:
        if escape[1:2] not in tuple("\\nrtxuU"):
            raise ValueError
        return escape.encode("ascii").decode("unicode_escape")
    except ValueError:  # includes UnicodeError
        raise ValueError(f"{escape!r} in {place} is not an escape sequence; write a backslash as \\\\") from None


def _moment(text: str, in_utc: bool) -> datetime.datetime:
    """Read a date, with or without a time; one with a time zone is converted to UTC."""
    start = "T00:00" if text[10:11] in ("Z", "+", "-") else ""
    try:
        moment = datetime.datetime.fromisoformat(text[:10] + start + text[10:])
        return moment.astimezone(datetime.UTC) if in_utc and moment.tzinfo is not None else moment
    except ValueError:
        raise ValueError(f"{text} is not a date; expected a date such as 2020-01-31 or 2020-01-31 12:00:00") from None
    except OverflowError:
        raise ValueError(f"{text} is not a date: in UTC its year would not be between 1 and 9999") from None


def excerpt(text: str, position: int = 0) -> str:
    """Return the beginning of the text from a position, in quotes and in one line."""
    return repr(text[position : position + 60] + ("..." if len(text) > position + 60 else ""))
