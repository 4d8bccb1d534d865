"""Names, values and labels as text, in the form that ``str`` prints and that :mod:`._grammar` reads back."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.values import plain
from diverse_rule_sets.model._condition_base import DerivedColumn

# The text of the conditions of a rule that has none.
ANYTHING = "anything"
# Column names that could be misread: with operators, quotes, keywords, brackets or outer blanks, or like a number.
_AMBIGUOUS_NAME = re.compile(
    r"[=<>!\"'`{}]|^\[|^\s|\s$|^$|^[-+.\d][-+.:\deEZT ]*$|^(IF|AND|THEN|OTHERWISE)\b"
    r"|\b(AND|THEN|is +missing)\b|\b(in|not)$"
)
# A number of records, which need not be whole.
_COUNT = r"\d++(?:,\d\d\d)*+(?:\.\d++)?+"
# The figures that are printed after a label, of rules, fallback rules and the default label, up to the class counts.
_FIGURES = (
    r"\((?:decides no records|(?:precision [<>]?\d\.\d\d, (?:(?:balanced|weighted) [<>]?\d\.\d\d, )?+"
    rf"covers {_COUNT} of"
    rf"|covers none of|[<>]?\d\.\d\d of|no rule (?:and no fallback rule )?+covers {_COUNT} of"
    r"|some rule (?:or fallback rule )?+covers each of the)"
    rf" {_COUNT}(?: records)?+(?:, (?:balanced|weighted) [<>]?\d\.\d\d)?+"
    rf"|for records that no rule (?:and no fallback rule )?+covers: none of {_COUNT} in training)"
)
_FIGURES_IN_LABEL = re.compile(rf"\s{_FIGURES}[:)]")
_FIGURES_AFTER_LABEL = re.compile(rf"(?<=\s){_FIGURES}(?::|\)\Z)")
# Labels that could be misread: like numbers, dates or booleans, or with quotes or blanks at the ends.
_AMBIGUOUS_LABEL = re.compile(r"^$|^[\s\"']|[\s\"']$|^[-+.\d][-+.:\deEZT ]*$|^(True|False|None|nan|[-+]?inf)$")
# Words that need no quotes in the text of a scorecard, and words that have a meaning there.
_PLAIN_WORDS = re.compile(r"[^\W\d_][\w.%&/+-]*+(?: [\w.%&/+-]++)*+")
_NUMBERED = re.compile(r" \(\d{1,9}\)\Z")
_RESERVED = re.compile(
    r"\b(?:IF|AND|THEN|OTHERWISE|if|for|to|always|most|lead|of|is|in|not|True|False|None|nan|inf|Scorecard|Fallback|Of)\b"
)
_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def format_body(conditions: Iterable[Any]) -> str:
    """Return the conditions of a rule as text.

    Examples
    --------
    >>> format_body(["age <= 37", "income is missing"]), format_body([])
    ('age <= 37 AND income is missing', 'anything')
    """
    return " AND ".join(map(str, conditions)) or ANYTHING


def format_name(name: Hashable) -> str:
    """Return the name of a column as text: unchanged, or in backticks or brackets if it could be misread.

    Examples
    --------
    >>> format_name("petal width (cm)"), format_name("a = b"), format_name(("a", 1))
    ('petal width (cm)', '`a = b`', "[('a', 1)]")
    """
    name = plain(name)
    if isinstance(name, DerivedColumn):
        return str(name)
    if not isinstance(name, str):
        return f"[{_format_constant(name)}]"
    if name.isprintable() and not _AMBIGUOUS_NAME.search(name):
        return str(name)
    return quote_name(name)


def format_listed_name(name: Hashable) -> str:
    """Return the name of a column as text within a list: in backticks also if it contains a colon or a semicolon.

    Examples
    --------
    >>> format_listed_name("income"), format_listed_name("a: b")
    ('income', '`a: b`')
    """
    text = format_name(name)
    return quote_name(text) if isinstance(name, str) and text == name and re.search("[:;]", name) else text


def quote_name(name: str) -> str:
    """Return a name in backticks."""
    escaped = "".join(c if c.isprintable() and c != "\\" else _escape(c) for c in name)
    return f"`{escaped.replace('`', '``')}`"


def _format_constant(value: Any) -> str:
    """Return a name that is not a string, or a part of it, as a constant that :mod:`._literals` reads back."""
    value = plain(value)
    if isinstance(value, str):
        return str.__repr__(value)
    if isinstance(value, tuple):
        parts = [_format_constant(part) for part in value]
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if isinstance(value, frozenset):
        parts = sorted(map(_format_constant, value))  # the order of a set differs from run to run
        return f"frozenset({{{', '.join(parts)}}})" if parts else "frozenset()"
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return f"date({value.year}, {value.month}, {value.day})"
    if isinstance(value, datetime.timedelta):
        parts = [f"{unit}={n}" for unit in _TIME_UNITS if (n := getattr(value, unit, 0))]
        return f"timedelta({', '.join(parts) or 'days=0'})"
    if isinstance(value, decimal.Decimal):
        return f"Decimal('{decimal.Decimal.__str__(value)}')"
    if isinstance(value, float):
        return float.__repr__(value)  # with a decimal point: the name 5.0 is not the name 5
    if value is None or isinstance(value, bool | int | bytes | datetime.datetime):
        return format_value(value)
    return "".join(c if c.isprintable() else _escape(c) for c in repr(value))


# Attributes of a duration; only a pandas Timedelta has nanoseconds.
_TIME_UNITS = ("days", "seconds", "microseconds", "nanoseconds")


def _escape(character: str) -> str:
    """Return the escape sequence of a character in a Python string."""
    return character.encode("unicode_escape").decode("ascii")


def format_label(label: Any) -> str:
    """Return a label as text: a string without quotes, unless it could be misread."""
    label = plain(label)
    bare = isinstance(label, str) and label.isprintable()
    bare = bare and not _AMBIGUOUS_LABEL.search(label) and not _FIGURES_IN_LABEL.search(label)
    return str(label) if bare else format_value(label)


def format_list_label(label: Any) -> str:
    """Return a label as text that can be read back within a list: a string in quotes unless it is plain words.

    Examples
    --------
    >>> format_list_label("very good"), format_list_label("a, b"), format_list_label(1)
    ('very good', '"a, b"', '1')
    """
    label = plain(label)
    return str(label) if isinstance(label, str) and _is_plain_words(label) else format_value(label)


def format_scorecard_name(name: str) -> str:
    """Return the name of a scorecard as text: unchanged if it is plain words and perhaps a number, or in backticks.

    Examples
    --------
    >>> format_scorecard_name("points (2)"), format_scorecard_name("a: b")
    ('points (2)', '`a: b`')
    """
    return str(name) if _is_plain_words(_NUMBERED.sub("", name)) else quote_name(name)


def _is_plain_words(text: str) -> bool:
    return _PLAIN_WORDS.fullmatch(text) is not None and not _RESERVED.search(text)


def find_figures(text: str) -> int:
    """Return where the figures begin that are printed after a label; the length of the text if there are none.

    Examples
    --------
    >>> text = "good (precision 0.90, covers 10 of 20 records: 9 good, 1 bad)"
    >>> text[:find_figures(text)]
    'good'
    """
    found = _FIGURES_AFTER_LABEL.search(text) if text.endswith(")") else None
    return len(text if found is None else text[: found.start()].rstrip())


def label_position(label: Any, labels: Sequence[Any]) -> int | None:
    """Return the position of a label among some labels, or else of the only one with the same text; None if neither."""
    label = plain(label)
    if np.ndim(label) == 0 and label in labels:
        return list(labels).index(label)
    texts = {str(label), format_label(label)}
    matches = [k for k, known in enumerate(labels) if texts & {str(known), format_label(known)}]
    return matches[0] if len(matches) == 1 else None


def format_value(value: Any) -> str:
    r"""Return a value as text: strings in quotes, whole numbers without a decimal point, dates in ISO 8601.

    Examples
    --------
    >>> print(format_value('a "b"\n'), format_value(2.0), format_value(b"\x00a"))
    "a \"b\"\n" 2 b"\x00a"
    """
    if isinstance(value, str):
        return _format_text(value)
    if isinstance(value, bytes):
        return 'b"' + "".join(map(_format_byte, value)) + '"'
    if isinstance(value, datetime.datetime):
        return _format_moment(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else float.__repr__(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__repr__(value)
    return str(value)


def _format_text(text: str) -> str:
    """Return text in double quotes, as in JSON; characters that cannot be printed are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not text.isprintable():
        escaped = "".join(c if c.isprintable() else _ESCAPES.get(c) or _escape_code(ord(c)) for c in escaped)
    return f'"{escaped}"'


def _escape_code(code: int) -> str:
    """Return the escape sequence of a character; two surrogates in a row must not be read as one character."""
    return f"\\U{code:08x}" if code > 0xFFFF or 0xDC00 <= code <= 0xDFFF else f"\\u{code:04x}"


def _format_byte(code: int) -> str:
    if code in b'"\\':
        return "\\" + chr(code)
    return chr(code) if 32 <= code < 127 else f"\\x{code:02x}"


def _format_moment(moment: datetime.datetime) -> str:
    """Return a date in ISO 8601, without the time if that is midnight; in UTC and with Z if it has a time zone."""
    if moment != moment:  # NaT of pandas
        return "NaT"
    if moment.tzinfo is not None:
        try:
            moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
        except (OverflowError, ValueError):  # the year would be 0 or 10000
            return moment.isoformat(sep=" ")
        return _format_moment(moment) + "Z"
    midnight = moment.time() == datetime.time() and not getattr(moment, "nanosecond", 0)
    return moment.isoformat(sep=" ")[: 10 if midnight else None]
