"""Cells of text files as numbers, booleans, dates and text: by the column types of a model, or else by their form.

A column has a type if all its cells have it. Numbers that start with a zero, such as zip codes, are text.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from diverse_rule_sets.sources._errors import InputError

# Texts of a missing value, besides the empty cell.
MISSING = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")

NUMBER, DATE, INSTANT, BOOLEAN, TEXT, CATEGORY = "number", "date", "date (UTC)", "boolean", "text", "category"
# Types of categories: the cells are values of the type, which rules compare with single values and not by order.
_CATEGORIES_OF = {
    "category of numbers": NUMBER,
    "category of dates": DATE,
    "category of dates (UTC)": INSTANT,
}
# The definition of a number: at most one sign, digits of ASCII, at most one decimal mark and one exponent.
_WHOLE = r"\A[-+]?[0-9]+\z"
_REAL = {  # by the decimal mark
    mark: rf"\A[-+]?(?:(?:[0-9]+[{mark}]?[0-9]*|[{mark}][0-9]+)(?:[eE][-+]?[0-9]+)?|(?i:inf|infinity|nan))\z"
    for mark in (".", ",")
}
_GROUPED = r"\A[-+]?[0-9]{1,3},[0-9]{3}\z"  # could be thousands or decimals
_NEARLY_ALL = 0.95
_CODE = r"^[-+]?0[0-9]"
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|[-+]\d\d(:?\d\d)?))?)?", re.ASCII)


@dataclass(frozen=True)
class Cells:
    """How to read cells.

    Parameters
    ----------
    missing : texts of a missing value, in addition to the empty cell
    date_format : the format of dates, such as `%d.%m.%Y`; None: ISO 8601
    decimal : the decimal mark of numbers, a point or a comma; a cell with the other one is not a number
    """

    missing: tuple[str, ...] = MISSING
    date_format: str | None = None
    decimal: str = "."

    def with_missing(self, texts: Iterable[str]) -> Cells:
        """Return the same with further texts of a missing value."""
        return replace(self, missing=(*self.missing, *texts))

    def parse_number(self, cell: str) -> int | float | None:
        """Return the number of a cell; None if it is not a number."""
        if not _is_number(cell, self.decimal):
            return None
        return int(cell) if re.fullmatch("[-+]?[0-9]+", cell) else float(cell.replace(",", "."))

    def strip(self, column: pl.Series, values: Collection[Any] = ()) -> pl.Series:
        """Return the cells without outer blanks, and null for missing values; a text in ``values`` is not missing."""
        stripped = column.str.strip_chars()
        return stripped.set(stripped.is_in(["", *(text for text in self.missing if text not in values)]), None)

    def guess_kind(self, column: pl.Series) -> str:
        """Return the type of a column, by the form of its cells."""
        guess = KindGuess(self)
        guess.add(column)
        return guess.kind

    def find_decimal_comma(self, column: pl.Series) -> str | None:
        """Return a number with a decimal comma if nearly all cells could be such numbers but are read as text."""
        cells = self.strip(column).drop_nulls()
        if self.decimal == "," or cells.is_empty():
            return None
        numbers = cells.filter(cells.str.contains(_REAL[","]))
        examples = numbers.filter(numbers.str.contains(",", literal=True) & ~numbers.str.contains(_GROUPED))
        return examples[0] if len(examples) and len(numbers) >= _NEARLY_ALL * len(cells) else None

    def find_exceptions(self, column: pl.Series) -> list[str]:
        """Return the cells that are not numbers, the most frequent first, if nearly all cells are numbers."""
        cells = self.strip(column).drop_nulls()
        is_number = cells.str.contains(_REAL[self.decimal])
        if is_number.all() or is_number.sum() < _NEARLY_ALL * len(cells) or cells.str.contains(_CODE).any():
            return []
        counts = cells.filter(~is_number).alias("cell").value_counts().sort(["count", "cell"], descending=[True, False])
        return counts["cell"].to_list()

    def parse_date(self, cell: str) -> datetime.datetime | None:
        """Return the date of a cell, with or without a time and a time zone; None if it is not a date."""
        try:
            if self.date_format is not None:
                if any(character.isdigit() and not character.isascii() for character in cell):
                    return None
                date = datetime.datetime.strptime(cell, self.date_format)
            elif _ISO.fullmatch(cell):
                date = datetime.datetime.fromisoformat(cell.replace(" +", "+").replace(" Z", "Z"))
            else:
                return None
        except ValueError:
            return None
        return date

    def _expected(self, kind: str) -> str:
        """Return a description of the cells of a type, for errors."""
        if kind in (DATE, INSTANT) and self.date_format is not None:
            return f"a date in the format {self.date_format}"
        return "a number such as 1,5" if kind == NUMBER and self.decimal == "," else _EXPECTED[kind]

    def read(self, column: pl.Series, kind: str, values: Sequence[Any] = ()) -> pl.Series:
        """Return the cells of a column as values of a type; raise an error for the first cell of another type.

        ``values`` are the values in the conditions of the rules, for text columns and columns of several types: a text
        such as NA is a value, and not missing, if a condition has it.
        """
        kind = _CATEGORIES_OF.get(kind, kind)
        if kind == CATEGORY:
            return self._as_values(self.strip(column, values), values)
        if kind not in _READERS:  # text is unchanged, with outer blanks
            return column.set(self.strip(column, values).is_null(), None)
        cells = self.strip(column)
        read = _READERS[kind](self, cells)
        wrong = (read.is_null() & cells.is_not_null()).arg_true()
        if len(wrong):
            place = f"column {column.name!r}, record {wrong[0] + 1}"
            hint = self._hint(kind, cells[wrong[0]])
            raise InputError(f"{place}: expected {self._expected(kind)}, got {column[wrong[0]]!r}{hint}")
        return read

    def _hint(self, kind: str, cell: str) -> str:
        """Return what could be wrong with a cell that is not of a type, for errors."""
        if kind == NUMBER and self.decimal == "." and _is_number(cell, ","):
            return " (is it a decimal comma? give --decimal ,)"
        date = self.parse_date(cell) if kind == INSTANT else None
        return " (in UTC it is outside the years 1 to 9999)" if date is not None and date.tzinfo is not None else ""

    def _as_values(self, cells: pl.Series, values: Sequence[Any]) -> pl.Series:
        """Return the cells of a column of several types: as values of the rules, or else as numbers or text."""
        known = {str(value): value for value in values}

        def value(cell: str | None) -> Any:
            if cell is None or cell in known:
                return None if cell is None else known[cell]
            return float(cell.replace(",", ".")) if _is_number(cell, self.decimal) else cell

        return pl.Series(cells.name, [value(cell) for cell in cells], pl.Object)


class KindGuess:
    """The type of a column by the form of its cells, which may come in several parts, in any order.

    Parameters
    ----------
    cells : how to read cells
    """

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._is_empty = self._booleans = self._numbers = self._dates = True
        self._codes = False
        self._zones: set[bool] = set()

    def add(self, column: pl.Series) -> None:
        """Add the cells of some records."""
        cells = self._cells.strip(column).drop_nulls().unique()
        if cells.is_empty():
            return
        self._is_empty = False
        self._booleans = self._booleans and bool(cells.str.to_lowercase().is_in(["true", "false"]).all())
        if self._numbers:
            self._numbers = bool(cells.str.contains(_REAL[self._cells.decimal]).all())
            self._codes = self._codes or bool(cells.str.contains(_CODE).any())
        if self._dates:
            for cell in cells:
                date = self._cells.parse_date(cell)
                if date is None:
                    self._dates = False
                    break
                self._zones.add(date.tzinfo is not None)

    def merge(self, other: KindGuess) -> None:
        """Add the cells of other records."""
        self._is_empty = self._is_empty and other._is_empty
        self._booleans = self._booleans and other._booleans
        self._numbers = self._numbers and other._numbers
        self._dates = self._dates and other._dates
        self._codes = self._codes or other._codes
        self._zones |= other._zones

    @property
    def kind(self) -> str:
        """The type that fits all cells."""
        if self._is_empty:
            return TEXT
        if self._booleans:
            return BOOLEAN
        if self._numbers:
            return TEXT if self._codes else NUMBER
        if not self._dates or len(self._zones) > 1:
            return TEXT
        return INSTANT if self._zones == {True} else DATE


def _is_number(cell: str, decimal: str) -> bool:
    return re.match(_REAL[decimal].replace(r"\z", r"\Z"), cell) is not None  # the end of the text in Rust and Python


def _numbers(settings: Cells, cells: pl.Series) -> pl.Series:
    """Return the cells as numbers: as integers if all of them are integers."""
    numbers = cells.set(~cells.str.contains(_REAL[settings.decimal]), None)
    numbers = numbers.str.strip_prefix("+").str.replace(",", ".", literal=True)
    if numbers.str.contains(_WHOLE).all():
        whole = numbers.cast(pl.Int64, strict=False)
        if whole.null_count() == numbers.null_count():
            return whole
    return numbers.cast(pl.Float64, strict=False)


def _booleans(_: Cells, cells: pl.Series) -> pl.Series:
    lower = cells.str.to_lowercase()
    return lower.is_in(["true", "1"]).set(~lower.is_in(["true", "false", "1", "0"]) | lower.is_null(), None)


def _dates(zoned: bool) -> Callable[[Cells, pl.Series], pl.Series]:
    def read(settings: Cells, cells: pl.Series) -> pl.Series:
        dates = {}
        for cell in cells.drop_nulls().unique():
            date = settings.parse_date(cell)
            if date is not None and (date.tzinfo is not None) == zoned:
                dates[cell] = _in_utc(date) if zoned else date
        return pl.Series(cells.name, [dates.get(cell) for cell in cells], pl.Datetime("us", "UTC" if zoned else None))

    return read


def _in_utc(date: datetime.datetime) -> datetime.datetime | None:
    """Return a date with a time zone in UTC; None if that is outside the years 1 to 9999."""
    try:
        return date.astimezone(datetime.UTC)
    except OverflowError:
        return None


_READERS: dict[str, Callable[[Cells, pl.Series], pl.Series]] = {
    NUMBER: _numbers,
    BOOLEAN: _booleans,
    DATE: _dates(zoned=False),
    INSTANT: _dates(zoned=True),
}
_EXPECTED = {
    NUMBER: "a number",
    BOOLEAN: "true or false",
    DATE: "a date such as 2024-12-31 (or give --date-format)",
    INSTANT: "a date with a time zone such as 2024-12-31T12:00Z",
}


def as_labels(labels: pl.Series, classes: Sequence[Any]) -> list[Any]:
    """Return labels as those of the model: `1`, `1.0` and the text "1" are the same label; None if missing."""
    by_key: dict[str, list[Any]] = {}
    for label in classes:
        by_key.setdefault(_label_key(label), []).append(label)
    known = {(type(label), label): label for label in classes}
    for key, labels_of_key in by_key.items():
        if len(labels_of_key) == 1:  # otherwise the key is ambiguous
            known.setdefault((str, key), labels_of_key[0])

    def convert(label: Any) -> Any:
        same = known.get((str, str(label)), label)  # 2.0 and the text "2.0"
        return known.get((type(label), label), known.get((str, _label_key(label)), same))

    return [None if label is None else convert(label) for label in labels.to_list()]


def _label_key(label: Any) -> str:
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    text = str(label)
    return text.lower() if text in ("True", "False", "TRUE", "FALSE") else text
