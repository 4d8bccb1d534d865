"""Reading tables from files and pipes: CSV, TSV, Parquet and Arrow, with or without gzip compression."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets._util.files import is_special
from diverse_rule_sets.cli._codes import CodeTexts, texts_of
from diverse_rule_sets.cli._errors import InputError, UsageError, print_message
from diverse_rule_sets.cli._files import STANDARD, standard_input
from diverse_rule_sets.cli._reading_options import FORMATS
from diverse_rule_sets.sources._cells import BOOLEAN, MISSING, NUMBER, TEXT, Cells
from diverse_rule_sets.sources._text_files import TextFormat, decompress, file_errors, read_cells, select_positions

_ENDINGS = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "arrows": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
}
_OTHER_ENDINGS = {
    **dict.fromkeys(("xlsx", "xls", "ods"), "save the table as CSV first"),
    **dict.fromkeys(("zip", "bz2", "xz", "zst", "7z"), "decompress it first"),
}
_SEPARATORS = "\t;|, "
_LINES = "is --separator right, and are the column names in the first line?"
_QUOTES = "if commas separate the cells, numbers with --decimal , need quotes; or give --separator, such as ';'"


@dataclass(frozen=True)
class LoadedTable:
    """A table as it is in the file.

    Parameters
    ----------
    frame : the selected columns
    names : the names of all columns
    name : the name of the file in messages
    is_text : all columns are text that is not yet converted to other types
    cells : how to convert the text
    kinds : the column types that the user has given
    codes : the texts of codes for missing values that the user has given, by column
    """

    frame: pl.DataFrame
    names: list[str]
    name: str
    is_text: bool
    cells: Cells
    kinds: Mapping[str, str] = field(default_factory=dict)
    codes: CodeTexts = field(default_factory=dict)

    def column(self, name: str) -> pl.Series:
        """Return a column as it is in the file; raise an error that lists the columns if there is no such column."""
        if name not in self.frame.columns:
            raise InputError(f"{self.name}: there is no column {name!r}; {_columns_text(self.names, name)}")
        return self.frame[name]

    def read(
        self, name: str, kind: str | None = None, values: tuple[Any, ...] = (), missing: Sequence[str] = ()
    ) -> pl.Series:
        """Return a column with its cells as values of a type; by default the type that the user gave, or that fits.

        ``values`` are those of the rules, and ``missing`` are the texts of missing values of the model.
        """
        column, given = self.column(name), self.kinds.get(name)
        if column.dtype != pl.String:
            return column.cast(pl.String) if given == TEXT else column
        if not self.is_text and (kind or given or TEXT) == TEXT:
            return column
        cells = self.cells_of(name).with_missing(missing)
        return cells.read(column, kind or given or cells.guess_kind(column), values)

    def cells_of(self, name: str) -> Cells:
        """Return how to convert the text of a column; codes for missing values are missing."""
        return self.cells.with_missing(texts_of(self.codes, name))

    def labels(self, name: str) -> pl.Series:
        """Return a column of labels: numbers, booleans, or text without outer blanks; null if missing."""
        column = self.column(name)
        if not self.is_text:
            column = column.fill_nan(None) if column.dtype.is_float() else column
            return column.cast(pl.String) if self.kinds.get(name) == TEXT else column
        kind = self.kinds.get(name) or self.cells.guess_kind(column)
        return self.cells.read(column, kind) if kind in (NUMBER, BOOLEAN) else self.cells.strip(column)


def _columns_text(names: list[str], wanted: str) -> str:
    """Return a text that lists the columns and suggests one instead of the wanted one, for errors."""
    listed = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    mark = next((mark for mark in _SEPARATORS if mark in names[0]), None) if len(names) == 1 else None
    if mark is not None:
        return f"its only column is {listed}: if {mark!r} separates the cells, give --separator {_argument(mark)}"
    return f"its columns are {listed}{did_you_mean(wanted, names)}"


def _argument(mark: str) -> str:
    """Return a separator as a user types it."""
    return {"\t": "tab", " ": "space"}.get(mark, f"'{mark}'")


def load(path: str, reading: Mapping[str, Any], only: Collection[str] | None = None) -> LoadedTable:
    """Read a table; ``only`` names the columns to read, None for all."""
    form = reading.get("format") or _format_of(path)
    name = "the standard input" if path == STANDARD else path
    cells = Cells(tuple(reading.get("missing", MISSING)), reading.get("date_format"), reading.get("decimal", "."))
    is_text = form in ("csv", "tsv")
    encoding = reading.get("encoding", "utf-8")
    with _open(path, name) as file, file_errors(name, encoding):
        if is_text:
            separator = reading.get("separator") or ("\t" if form == "tsv" else ",")
            hint = _QUOTES if separator == cells.decimal == "," else _LINES
            text_format = TextFormat(encoding, separator, hint, partial(print_message, level="warning"))
            frame, names = read_cells(file, name, text_format, only)
        else:
            frame = _read_binary(file.read(), form, name)
            names = frame.columns
            frame = frame.select(names[j] for j in select_positions(names, only))
    unknown = set(reading.get("kind", {})) - set(names)
    if unknown:
        raise UsageError(f"--kind names {min(unknown)!r}, but {_columns_text(names, min(unknown))}")
    return LoadedTable(frame, names, name, is_text, cells, reading.get("kind", {}))


def _format_of(path: str) -> str:
    """Return the format of a file, by the ending of its name."""
    if path == STANDARD or is_special(path):
        return "csv"
    ending = Path(path.lower().removesuffix(".gz")).suffix[1:]
    if Path(path).is_dir():
        raise InputError(f"{path}: expected a table, got a folder")
    if ending in _OTHER_ENDINGS:
        raise InputError(f"{path}: expected a CSV, TSV, Parquet or Arrow file; {_OTHER_ENDINGS[ending]}")
    if ending not in _ENDINGS:
        raise UsageError(f"the format of {path!r} is unknown; give --format, one of {', '.join(FORMATS)}")
    return _ENDINGS[ending]


@contextmanager
def _open(path: str, name: str) -> Iterator[BinaryIO]:
    """Open a file or the standard input; decompress gzip files, independent of their names."""
    if path == STANDARD:
        yield decompress(standard_input(), name)
        return
    if Path(path).is_dir():
        raise InputError(f"{path}: expected a table, got a folder")
    with open(path, "rb") as file:
        yield decompress(file, name)


def _read_binary(content: bytes, form: str, name: str) -> pl.DataFrame:
    try:
        return _BINARY[form](content)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{name}: cannot be read as {form}: {str(error).splitlines()[0]}") from None


def _read_parquet(content: bytes) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(content))


def _read_arrow(content: bytes) -> pl.DataFrame:
    if content.startswith(b"ARROW1"):
        return pl.read_ipc(io.BytesIO(content))
    return pl.read_ipc_stream(io.BytesIO(content))


_BINARY: dict[str, Callable[[bytes], pl.DataFrame]] = {"parquet": _read_parquet, "arrow": _read_arrow}
