"""Cells of text files become numbers, booleans, dates and text: by the kinds a model knows, or else by their looks.

A column is of a kind if all its cells are. What looks like a number but starts with a zero, such as a zip code, is
text.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from diverse_rule_sets.cli._errors import InputError
from diverse_rule_sets.cli._reading_options import MISSING

NUMBER, DATE, INSTANT, BOOLEAN, TEXT, CATEGORY = "number", "date", "date (UTC)", "boolean", "text", "category"
_WHOLE = r"^[-+]?[0-9]+$"
_REAL = {  # by the decimal mark
    mark: rf"^[-+]?([0-9]+[{mark}]?[0-9]*|[{mark}][0-9]+)([eE][-+]?[0-9]+)?$|^[-+]?(?i:inf|infinity|nan)$"
    for mark in (".", ",")
}
_GROUPED = r"^[-+]?[0-9]{1,3},[0-9]{3}$"  # as likely a thousand as a thousandth
_NEARLY_ALL = 0.95
_CODE = r"^[-+]?0[0-9]"
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|[-+]\d\d(:?\d\d)?))?)?")


@dataclass(frozen=True)
class Cells:
    """How cells are read.

    Parameters
    ----------
    missing : words that stand for a missing value, besides the empty cell
    date_format : how dates are written, as in `%d.%m.%Y`; None: as ISO 8601 has it
    decimal : the decimal mark of numbers, a point or a comma; with one of them the other makes no number
    """

    missing: tuple[str, ...] = MISSING
    date_format: str | None = None
    decimal: str = "."

    def present(self, column: pl.Series, named: Collection[Any] = ()) -> pl.Series:
        """Return the cells without blanks around them, missing ones as null; a word that is named is none of these."""
        trimmed = column.str.strip_chars()
        return trimmed.set(trimmed.is_in(["", *(word for word in self.missing if word not in named)]), None)

    def guessed(self, column: pl.Series) -> str:
        """Tell by their looks what all the cells of a column are."""
        cells = self.present(column).drop_nulls().unique()
        if cells.is_empty():
            return TEXT
        if cells.str.to_lowercase().is_in(["true", "false"]).all():
            return BOOLEAN
        if cells.str.contains(_REAL[self.decimal]).all():
            return TEXT if cells.str.contains(_CODE).any() else NUMBER
        zones = set()
        for cell in cells:
            moment = self.moment(cell)
            if moment is None:
                return TEXT
            zones.add(moment.tzinfo is not None)
        if len(zones) > 1:
            return TEXT
        return INSTANT if zones.pop() else DATE

    def with_comma(self, column: pl.Series) -> str | None:
        """Return a cell that shows that nearly all are numbers with a decimal comma, which are not read as such."""
        cells = self.present(column).drop_nulls()
        if self.decimal == "," or cells.is_empty():
            return None
        like = cells.filter(cells.str.contains(_REAL[","]))
        telling = like.filter(like.str.contains(",", literal=True) & ~like.str.contains(_GROUPED))
        return telling[0] if len(telling) and len(like) >= _NEARLY_ALL * len(cells) else None

    def moment(self, cell: str) -> datetime.datetime | None:
        """Read a date, with or without a time and a zone; None if it is none."""
        try:
            if self.date_format is not None:
                moment = datetime.datetime.strptime(cell, self.date_format)
            elif _ISO.fullmatch(cell):
                moment = datetime.datetime.fromisoformat(cell.replace(" +", "+").replace(" Z", "Z"))
            else:
                return None
        except ValueError:
            return None
        return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC)

    def _expected(self, kind: str) -> str:
        """Say what a cell of a kind looks like."""
        if kind in (DATE, INSTANT) and self.date_format is not None:
            return f"a date as {self.date_format} writes it"
        return "a number such as 1,5" if kind == NUMBER and self.decimal == "," else _EXPECTED[kind]

    def read(self, column: pl.Series, kind: str, values: Sequence[Any] = ()) -> pl.Series:
        """Read the cells of a column as values of a kind; the first that is of another is an error that names it.

        ``values`` are those that the rules name, for columns of several kinds and of text: a word such as NA that a
        rule names is a value.
        """
        if kind == CATEGORY:
            return self._as_values(self.present(column, values), values)
        if kind not in _READERS:  # text stays as it is, blanks included
            return column.set(self.present(column, values).is_null(), None)
        cells = self.present(column)
        read = _READERS[kind](self, cells)
        wrong = (read.is_null() & cells.is_not_null()).arg_true()
        if len(wrong):
            where, cell = f"column {column.name!r}, record {wrong[0] + 1}", column[wrong[0]]
            hint = " (is it a decimal comma? give --decimal ,)" if kind == NUMBER and re.match(_REAL[","], cell) else ""
            raise InputError(f"{where}: expected {self._expected(kind)}, got {cell!r}{hint}")
        return read

    def _as_values(self, cells: pl.Series, values: Sequence[Any]) -> pl.Series:
        """Read cells of a column that held values of several kinds: as what the rules name, or as a number, or text."""
        known = {str(value): value for value in values}

        def value(cell: str | None) -> Any:
            if cell is None or cell in known:
                return None if cell is None else known[cell]
            return float(cell.replace(",", ".")) if re.match(_REAL[self.decimal], cell) else cell

        return pl.Series(cells.name, [value(cell) for cell in cells], pl.Object)


def _numbers(how: Cells, cells: pl.Series) -> pl.Series:
    """Read numbers: whole ones exactly, where all are."""
    cells = cells.str.strip_prefix("+")
    if cells.str.contains(_WHOLE).all():
        whole = cells.cast(pl.Int64, strict=False)
        if whole.null_count() == cells.null_count():
            return whole
    real = cells.set(~cells.str.contains(_REAL[how.decimal]), None)
    return real.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def _booleans(_: Cells, cells: pl.Series) -> pl.Series:
    lower = cells.str.to_lowercase()
    return lower.is_in(["true", "1"]).set(~lower.is_in(["true", "false", "1", "0"]) | lower.is_null(), None)


def _dates(zoned: bool) -> Callable[[Cells, pl.Series], pl.Series]:
    def read(how: Cells, cells: pl.Series) -> pl.Series:
        fitting = {}
        for cell in cells.drop_nulls().unique():
            moment = how.moment(cell)
            if moment is not None and (moment.tzinfo is not None) == zoned:
                fitting[cell] = moment
        return pl.Series(cells.name, [fitting.get(cell) for cell in cells], pl.Datetime("us", "UTC" if zoned else None))

    return read


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
    """Return labels as the model writes them, so that `1`, `1.0` and the text "1" are one label; None if missing."""
    alike: dict[str, list[Any]] = {}
    for label in classes:
        alike.setdefault(_label_key(label), []).append(label)
    known = {(type(label), label): label for label in classes}
    for key, some in alike.items():
        if len(some) == 1:  # otherwise only the label itself will do
            known.setdefault((str, key), some[0])

    def found(label: Any) -> Any:
        same = known.get((str, str(label)), label)  # 2.0 and the text "2.0"
        return known.get((type(label), label), known.get((str, _label_key(label)), same))

    return [None if label is None else found(label) for label in labels.to_list()]


def _label_key(label: Any) -> str:
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    text = str(label)
    return text.lower() if text in ("True", "False", "TRUE", "FALSE") else text
