"""The options that say how a table is read."""

from __future__ import annotations

import codecs
import datetime

from diverse_rule_sets.cli._options import Option, one_of, pair

FORMATS = ("csv", "tsv", "parquet", "arrow")
MISSING = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")
KINDS = ("number", "text", "boolean", "date")  # what a user can ask for


def a_separator(text: str) -> str:
    """Read one character, or `tab`."""
    text = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if len(text) != 1 or text in '"\r\n':
        raise ValueError("one character, or tab")
    return text


def a_decimal_mark(text: str) -> str:
    """Read a point or a comma."""
    if text not in (".", ","):
        raise ValueError("a point (.) or a comma (,)")
    return text


def an_encoding(text: str) -> str:
    """Read the name of an encoding."""
    try:
        codecs.lookup(text)
    except LookupError:
        raise ValueError("an encoding such as utf-8, latin-1, cp1252 or utf-16") from None
    return text


def a_date_format(text: str) -> str:
    """Read `%d.%m.%Y`."""
    moment = datetime.datetime(2024, 12, 31)
    try:
        if datetime.datetime.strptime(moment.strftime(text), text).date() != moment.date():
            raise ValueError
    except ValueError:
        raise ValueError("a way to write a date with year, month and day, such as %d.%m.%Y") from None
    return text


def kinds_of_columns(given: list[str]) -> dict[str, str]:
    """Read `zip=text`, several times."""
    expected = f"column=kind, where the kind is one of {', '.join(KINDS)}"
    pairs = dict(pair(text, expected) for text in given)
    if not set(pairs.values()) <= set(KINDS):
        raise ValueError(expected)
    return pairs


_PANEL = "How the table is read"
READING: tuple[Option, ...] = (
    Option(
        "format", one_of(*FORMATS), "WORD", "csv, tsv, parquet or arrow.", "by the name; csv for a pipe", panel=_PANEL
    ),
    Option("separator", a_separator, "CHAR", "What parts the cells of a line.", "comma; tab for tsv", panel=_PANEL),
    Option("decimal", a_decimal_mark, "CHAR", "The decimal mark of numbers, a point or a comma.", ".", panel=_PANEL),
    Option("encoding", an_encoding, "NAME", "How text is written, such as latin-1.", "utf-8", panel=_PANEL),
    Option("missing", tuple, "WORD", "A word for no value (repeat).", "NA, N/A, NaN, null, None", True, _PANEL),
    Option(
        "date_format", a_date_format, "FORMAT", "How dates are written, such as %d.%m.%Y.", "2024-12-31", panel=_PANEL
    ),
)
# Where there is no model that knows the kinds of columns.
KIND = Option(
    "kind",
    kinds_of_columns,
    "COL=KIND",
    "zip=text; number, text, boolean, date (repeat).",
    "by the cells",
    True,
    _PANEL,
)
