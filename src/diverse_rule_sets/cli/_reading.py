"""Tables read from files and pipes: CSV, TSV, Parquet and Arrow, packed or not."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import polars as pl

from diverse_rule_sets._util.files import is_special
from diverse_rule_sets.cli._column_types import BOOLEAN, NUMBER, TEXT, Cells
from diverse_rule_sets.cli._errors import InputError, UsageError, complain
from diverse_rule_sets.cli._files import STANDARD
from diverse_rule_sets.cli._reading_options import FORMATS, MISSING

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
_ROWS_AT_ONCE = 20_000
_QUOTES = "where commas part the cells, numbers with --decimal , need quotes; or give --separator, such as ';'"


@dataclass(frozen=True)
class Loaded:
    """A table as it was in the file.

    Parameters
    ----------
    frame : the columns that were asked for
    names : the names of all columns
    name : what the file is called in messages
    bare : all cells are text that is still to be read
    cells : how they are read
    kinds : the kinds of columns that the user told
    """

    frame: pl.DataFrame
    names: list[str]
    name: str
    bare: bool
    cells: Cells
    kinds: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str) -> pl.Series:
        """Return a column as it is in the file; an error says which there are."""
        if name not in self.frame.columns:
            raise InputError(f"{self.name}: there is no column {name!r}; {_columns_there(self.names)}")
        return self.frame[name]

    def read(self, name: str, kind: str | None = None, values: tuple[Any, ...] = ()) -> pl.Series:
        """Return a column with its cells read as values of a kind, or of that which they look like."""
        column, told = self.column(name), self.kinds.get(name)
        if column.dtype != pl.String:
            return column.cast(pl.String) if told == TEXT else column
        if not self.bare and (kind or told or TEXT) == TEXT:
            return column
        return self.cells.read(column, kind or told or self.cells.guessed(column), values)

    def with_comma(self, name: str) -> str | None:
        """Return a cell that shows that a column read as text holds numbers with a decimal comma; None if it does not.

        What the user told of a column is not doubted.
        """
        return self.cells.with_comma(self.column(name)) if self.bare and name not in self.kinds else None

    def labels(self, name: str) -> pl.Series:
        """Return a column of labels: whole numbers, booleans or text without blanks around it; null if missing."""
        column = self.column(name)
        if not self.bare:
            column = column.fill_nan(None) if column.dtype.is_float() else column
            return column.cast(pl.String) if self.kinds.get(name) == TEXT else column
        kind = self.kinds.get(name) or self.cells.guessed(column)
        return self.cells.read(column, kind) if kind in (NUMBER, BOOLEAN) else self.cells.present(column)


def _columns_there(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|,"):
        mark = next(mark for mark in "\t;|," if mark in names[0])
        return f"its only column is {shown}: if cells are parted by {mark!r}, give --separator {_typed(mark)}"
    return f"its columns are {shown}"


def _typed(mark: str) -> str:
    return "tab" if mark == "\t" else f"'{mark}'"


def load(path: str, reading: Mapping[str, Any], only: Collection[str] | None = None) -> Loaded:
    """Read a table; ``only`` names the columns that are needed, if not all are."""
    form = reading.get("format") or _format_of(path)
    name = "the standard input" if path == STANDARD else path
    cells = Cells(tuple(reading.get("missing", MISSING)), reading.get("date_format"), reading.get("decimal", "."))
    bare = form in ("csv", "tsv")
    with _opened(path) as file, _said_of(name):
        if bare:
            separator = reading.get("separator") or ("\t" if form == "tsv" else ",")
            with _decoded(file, reading.get("encoding", "utf-8")) as lines:
                hint = _QUOTES if separator == cells.decimal == "," else "is --separator right?"
                frame, names = _read_text(csv.reader(lines, delimiter=separator, strict=True), name, only, hint)
        else:
            frame = _read_binary(file.read(), form, name)
            names = frame.columns
            frame = frame.select(names[j] for j in _wanted(names, only))
    unknown = set(reading.get("kind", {})) - set(names)
    if unknown:
        raise UsageError(f"--kind names {min(unknown)!r}, but {_columns_there(names)}")
    return Loaded(frame, names, name, bare, cells, reading.get("kind", {}))


def _wanted(names: list[str], only: Collection[str] | None) -> list[int]:
    """Return the positions of the columns asked for; of the first if there are none, so that records can be counted."""
    return [j for j, name in enumerate(names) if only is None or name in only] or [0]


def _format_of(path: str) -> str:
    """Tell the format by the end of the name."""
    if path == STANDARD or is_special(path):
        return "csv"
    ending = Path(path.lower().removesuffix(".gz")).suffix[1:]
    if Path(path).is_dir():
        raise InputError(f"{path}: expected a table, got a folder")
    if ending not in _ENDINGS:
        raise UsageError(f"the name {path!r} does not tell the format; give --format {', '.join(FORMATS)}")
    return _ENDINGS[ending]


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """Open a file or the standard input; what is packed by gzip is unpacked, whatever its name."""
    if path == STANDARD:
        yield _unpacked(sys.stdin.buffer)  # type: ignore[arg-type]
        return
    if Path(path).is_dir():
        raise InputError(f"{path}: expected a table, got a folder")
    with open(path, "rb") as file:
        yield _unpacked(file)


def _unpacked(file: io.BufferedReader) -> BinaryIO:
    if file.peek(2)[:2] == b"\x1f\x8b":
        return io.BufferedReader(gzip.GzipFile(fileobj=file))  # type: ignore[type-var,return-value]
    return file


@contextmanager
def _said_of(name: str) -> Iterator[None]:
    """Turn what libraries say of a broken file into one line."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: the packed file is cut off or damaged ({error})") from None
    except UnicodeError as error:
        encoding = getattr(error, "encoding", "utf-8")
        raise InputError(f"{name}: is not {encoding} text ({error}); give --encoding, such as latin-1") from None


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


@contextmanager
def _decoded(file: BinaryIO, encoding: str) -> Iterator[TextIO]:
    """Open text; a mark of the byte order at its start is no part of the first name."""
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"
    text = io.TextIOWrapper(file, encoding, newline="")
    try:
        yield text
    finally:
        text.detach()  # who opened the file closes it


def _read_text(reader: Any, name: str, only: Collection[str] | None, hint: str) -> tuple[pl.DataFrame, list[str]]:
    """Read lines of cells, all of which stay text; returns the columns asked for, and the names of all."""
    rows = _rows(reader, name, hint)
    header = next(rows, None)
    if header is None:
        raise InputError(f"{name}: the table is empty; expected a line of column names and a line for each record")
    names = _names(header, name)
    wanted = _wanted(names, only)
    blocks = [pl.DataFrame({names[j]: [] for j in wanted}, dict.fromkeys((names[j] for j in wanted), pl.String))]
    while block := list(itertools.islice(rows, _ROWS_AT_ONCE)):
        columns = list(zip(*block, strict=True))
        blocks.append(pl.DataFrame([pl.Series(names[j], columns[j], pl.String) for j in wanted]))
    return pl.concat(blocks, rechunk=True), names


def _rows(reader: Any, name: str, hint: str) -> Iterator[list[str]]:
    """Yield the lines that are not blank; all must have as many cells as the first, or else the hint says why not."""
    width = None
    try:
        for row in reader:
            if not row:
                continue
            width = width or len(row)
            if len(row) != width:
                cells = "cell" if len(row) == 1 else "cells"
                raise InputError(
                    f"{name}, line {reader.line_num}: {len(row)} {cells}, expected {width} as in the first line "
                    f"({hint})"
                )
            yield row
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}: {error} (is a quote left open?)") from None


def _names(header: list[str], name: str) -> list[str]:
    """Check the first line: names that differ; a column without one gets one."""
    if "\0" in "".join(header) or header[0].startswith(("PAR1", "ARROW1")):
        raise InputError(f"{name}: is no text file; give its --format, parquet or arrow")
    names = [column.strip() or f"column_{j}" for j, column in enumerate(header, 1)]
    for j, column in enumerate(header, 1):
        if not column.strip():
            complain(f"{name}: column {j} has no name and is called 'column_{j}'", "warning")
    twice = next((column for column, n in Counter(names).items() if n > 1), None)
    if twice is not None:
        raise InputError(f"{name}: two columns are called {twice!r}; expected names that differ")
    return names
