"""The options for reading a table."""

from __future__ import annotations

import codecs
import datetime
import io

from diverse_rule_sets.cli._option_readers import one_of
from diverse_rule_sets.cli._options import Option, split_pair

FORMATS = ("csv", "tsv", "parquet", "arrow")
KINDS = ("number", "text", "boolean", "date")  # column types that a user can choose

_SAMPLE = 'A,"b"\n' * 5_000  # longer than what is read from a file at a time


def read_separator(text: str) -> str:
    """Return a separator: one character, or `tab`."""
    text = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if len(text) != 1 or text in '"\r\n':
        raise ValueError("one character, or tab")
    return text


def read_decimal_mark(text: str) -> str:
    """Return a decimal mark: a point or a comma."""
    if text not in (".", ","):
        raise ValueError("a point (.) or a comma (,)")
    return text


def read_encoding(text: str) -> str:
    """Return the name of an encoding with which text files can be read piece by piece.

    Other names of Python are refused: `hex` is not an encoding of text, and `idna` is one for names of computers.
    """
    try:
        content = io.BytesIO(_SAMPLE.encode(codecs.lookup(text).name))
        if "".join(io.TextIOWrapper(content, text, newline="")) != _SAMPLE:
            raise LookupError
    except (LookupError, ValueError, AssertionError, TypeError):
        raise ValueError("an encoding such as utf-8, latin-1, cp1252 or utf-16") from None
    return text


def read_date_format(text: str) -> str:
    """Return a date format such as `%d.%m.%Y`."""
    date = datetime.datetime(2024, 12, 31)
    try:
        if datetime.datetime.strptime(date.strftime(text), text).date() != date.date():
            raise ValueError
    except ValueError:
        raise ValueError("a date format with year, month and day, such as %d.%m.%Y") from None
    return text


def read_kinds(given: list[str]) -> dict[str, str]:
    """Return the column types of a list such as `zip=text`."""
    expected = f"column=type, where the type is one of {', '.join(KINDS)}"
    pairs = dict(split_pair(text, expected) for text in given)
    if not set(pairs.values()) <= set(KINDS):
        raise ValueError(expected)
    return pairs


def read_codes(given: list[str]) -> dict[str | None, list[str]]:
    """Return the texts of codes of `?`, for all columns, or `income=-9`, for one column."""
    codes: dict[str | None, list[str]] = {}
    for text in given:
        column, sign, code = text.rpartition("=")
        if not code or (sign and not column):
            raise ValueError("a code such as -9 or '?', or column=code, several times")
        codes.setdefault(column if sign else None, []).append(code)
    return codes


_PANEL = "Reading the table"
READING: tuple[Option, ...] = (
    Option(
        "format", one_of(*FORMATS), "WORD", "csv, tsv, parquet or arrow.", "by file name; csv for a pipe", panel=_PANEL
    ),
    Option("separator", read_separator, "CHAR", "The character between two cells.", "comma; tab for tsv", panel=_PANEL),
    Option("decimal", read_decimal_mark, "CHAR", "The decimal mark of numbers: a point or a comma.", ".", panel=_PANEL),
    Option("encoding", read_encoding, "NAME", "The encoding of the text, such as latin-1.", "utf-8", panel=_PANEL),
    Option(
        "missing",
        tuple,
        "WORD",
        "Text of a missing value in this file (repeat).",
        "NA, N/A, NaN, null, None",
        True,
        _PANEL,
    ),
    Option(
        "date_format", read_date_format, "FORMAT", "The format of dates, such as %d.%m.%Y.", "2024-12-31", panel=_PANEL
    ),
)
# A parameter of the classifiers: the model keeps the codes, and the other commands use them.
MISSING_VALUES = Option(
    "missing_values",
    read_codes,
    "CODE|COL=CODE",
    "A code for missing values, which the model keeps: -9 or age=-9 (repeat).",
    None,
    True,
    _PANEL,
)
# For commands without a model, which has the types of the columns.
KIND = Option(
    "kind",
    read_kinds,
    "COL=TYPE",
    "Type: number, text, boolean or date (repeat).",
    "by the cells",
    True,
    _PANEL,
)
