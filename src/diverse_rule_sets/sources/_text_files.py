"""Text files as lines and cells: decompressed, decoded and parted within bounds, so that no file fills the memory."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import math
import os
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, TextIO

import polars as pl

from diverse_rule_sets._input.checks import warn
from diverse_rule_sets.sources._errors import InputError

MAX_RECORD = 50_000_000  # characters of one record, or of a file without line ends
MAX_COLUMNS = 1_000_000
# A compressed file is refused if it is larger than this many bytes and this many times as large as when compressed.
MAX_UNPACKED, MAX_RATIO = 2**28, 500
_BLOCK, _BLOCK_CELLS = 20_000, 4_000_000  # the most records and cells that are converted at a time
_CELL = 16  # bytes of a cell of polars besides its text
_NAMED = 3  # columns without a name that a message lists
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decompress(file: io.BufferedReader, name: str) -> io.BufferedReader:
    """Return the content of a file: that of a gzip file decompressed, whatever the name of the file."""
    start = file.peek(4)[:4]
    if start == b"PK\3\4":
        raise InputError(f"{name}: is a zip file or a file of a spreadsheet program; save the table as CSV first")
    if start[:2] == b"\x1f\x8b":
        return io.BufferedReader(_Unpacked(file, name), 2**16)
    return file


class _Unpacked(io.RawIOBase):
    """The content of a gzip file; reading stops if the file is compressed more than a table can be."""

    def __init__(self, file: io.BufferedReader, name: str) -> None:
        self._packed = _Counted(file)
        self._file = gzip.GzipFile(fileobj=self._packed, mode="rb")  # type: ignore[call-overload]
        self._name = name
        self._n_unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(buffer)
        self._n_unpacked += n
        if self._n_unpacked > max(MAX_UNPACKED, MAX_RATIO * self._packed.n):
            raise InputError(
                f"{self._name}: more than {self._n_unpacked // 2**20:,} MB are compressed to less than "
                f"{self._packed.n // 2**10 + 1:,} kB, which is unusual for a table; if it is one, decompress it first "
                "(gunzip)"
            )
        return n


class _Counted:
    """A file that counts the bytes that are read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.n = 0

    def read(self, n: int = -1) -> bytes:
        content = self._file.read(n)
        self.n += len(content)
        return content


@contextmanager
def file_errors(name: str, encoding: str) -> Iterator[None]:
    """Turn errors of libraries about a damaged file into errors that name the file, and the encoding of its text."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: the compressed file is cut off or damaged ({error})") from None
    except UnicodeError as error:
        content = getattr(error, "object", b"")
        example = "utf-16" if content[:2] in _UTF_16 and error.start == 0 else "latin-1"  # type: ignore[attr-defined]
        raise InputError(f"{name}: is not {encoding} text ({error}); give --encoding, such as {example}") from None


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written, and how its reader reports problems.

    Parameters
    ----------
    encoding, separator : as the user gave them
    hint : what could be wrong if a line has not as many cells as the first
    report : function that is called with each warning
    """

    encoding: str = "utf-8"
    separator: str = ","
    hint: str = "are the column names in the first line?"
    report: Callable[[str], None] = warn


def read_cells(
    file: BinaryIO, name: str, form: TextFormat, only: Collection[str] | None
) -> tuple[pl.DataFrame, list[str]]:
    """Read a text file.

    Parameters
    ----------
    file : the content
    name : the name of the file in messages
    form : how it is written
    only : the columns to read; None for all

    Returns
    -------
    frame : the selected columns as text
    names : the names of all columns
    """
    names: list[str] = []
    blocks: list[pl.DataFrame] = []
    size, limit = 0.0, memory() / 2  # the blocks and the whole table are in memory at the same time
    for block in read_blocks(file, name, form, only, names):
        blocks.append(block)
        size += block.estimated_size() + _CELL * block.height * block.width
        if size > limit:
            read = f"{sum(map(len, blocks)):,} records need {size / 1e9:.1f} GB, and there are more"
            raise InputError(f"{name}: the table does not fit into the memory: {read}; take a part of the records")
    return pl.concat(blocks, rechunk=True), names


def read_blocks(
    file: BinaryIO,
    name: str,
    form: TextFormat,
    only: Collection[str] | None,
    names: list[str],
    n_records: int | None = None,
) -> Iterator[pl.DataFrame]:
    """Read a text file block by block: first a block without records, then blocks of up to ``n_records`` records.

    Parameters
    ----------
    file, name, form, only : as for :func:`read_cells`
    names : a list that gets the names of all columns
    n_records : maximum number of records of a block; by default 20,000
    """
    with _decode(file, form.encoding) as text:
        records = iter(_Rows(text, name, form))
        header = _next_block(records, 1)
        if not header:
            raise InputError(f"{name}: the table is empty; expected a line of column names and a line for each record")
        names[:] = _column_names(header[0], name, form.report)
        selected = select_positions(names, only)
        yield pl.DataFrame({names[j]: [] for j in selected}, dict.fromkeys((names[j] for j in selected), pl.String))
        n = max(1, min(n_records or _BLOCK, _BLOCK_CELLS // len(names)))
        while block := _next_block(records, n):
            columns = list(zip(*block, strict=True))
            yield pl.DataFrame([pl.Series(names[j], columns[j], pl.String) for j in selected])


def _next_block(records: Iterator[list[str]], n: int) -> list[list[str]]:
    """Return the next records; the limit of the csv module holds for the whole process, so it is set back."""
    limit = csv.field_size_limit(MAX_RECORD)
    try:
        return list(itertools.islice(records, n))
    finally:
        csv.field_size_limit(limit)


@contextmanager
def _decode(file: BinaryIO, encoding: str) -> Iterator[TextIO]:
    """Open a file as text; a byte order mark at its start is not part of the first column name."""
    if codecs.lookup(encoding).name == "utf-8":
        encoding = "utf-8-sig"
    text = io.TextIOWrapper(file, encoding, newline="")
    try:
        yield text
    finally:
        text.detach()  # the caller closes the file


class _Rows:
    """The lines of cells of a text file, and the place of the last one in the file.

    An empty line is a record with a missing value if the table has one column. Otherwise it is no record; a warning
    counts those between records.
    """

    def __init__(self, text: TextIO, name: str, form: TextFormat) -> None:
        self._text, self._name, self._hint, self._report = text, name, form.hint, form.report
        self._reader = csv.reader(self._lines(), delimiter=form.separator, strict=True)
        self._first_line = 1  # of the current record
        self._length = 0  # of the current record, as far as it is read

    def _lines(self) -> Iterator[str]:
        """Yield the lines; raise an error if a record, which may have several lines, is longer than any record."""
        line = self._text.readline(MAX_RECORD + 1).removeprefix("\ufeff")
        while line:
            self._length += len(line)
            if self._length > MAX_RECORD:
                raise InputError(
                    f"{self._place()}: the record has more than {MAX_RECORD:,} characters; expected a line for each "
                    "record (is a quote left open?)"
                )
            yield line
            line = self._text.readline(MAX_RECORD + 1)

    def _place(self) -> str:
        """Return the file and the lines of the current record, for errors."""
        first, last = self._first_line, max(self._reader.line_num, self._first_line)
        return f"{self._name}, line {first}" if first == last else f"{self._name}, lines {first} to {last}"

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the cells of each record, after those of the first line; raise an error if their number differs."""
        width = n_empty = n_skipped = first_skipped = 0
        try:
            for row in self._reader:
                if row or width == 1:
                    width = width or len(row)
                    if len(row or [""]) != width:
                        raise InputError(self._wrong_width(len(row), width))
                    yield row or [""]
                    n_skipped, n_empty = n_skipped + n_empty, 0
                elif width:
                    first_skipped = first_skipped or self._first_line
                    n_empty += 1
                self._first_line, self._length = self._reader.line_num + 1, 0
        except csv.Error as error:
            raise InputError(f"{self._place()}: {error} (is a quote left open?)") from None
        if n_skipped:
            lines = "1 empty line is" if n_skipped == 1 else f"{n_skipped:,} empty lines are"
            message = f"{self._name}: {lines} not read as records; the first is line {first_skipped}"
            self._report(message)

    def _wrong_width(self, n: int, width: int) -> str:
        cells = "cell" if n == 1 else "cells"
        return f"{self._place()}: {n} {cells}, expected {width} as in the first line ({self._hint})"


def memory() -> float:
    """Return the memory in bytes that this process may use; infinity if the system does not tell."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return math.inf
    return installed if limit == resource.RLIM_INFINITY else min(limit, installed)


def select_positions(names: list[str], only: Collection[str] | None) -> list[int]:
    """Return the positions of the selected columns; if none is selected, of the first, to count the records."""
    return [j for j, name in enumerate(names) if only is None or name in only] or [0]


def _column_names(header: list[str], name: str, report: Callable[[str], None]) -> list[str]:
    """Return the names in the first line, and check that they differ; a column without a name gets one."""
    if any("\0" in column for column in header) or header[0].startswith(("PAR1", "ARROW1")):
        raise InputError(
            f"{name}: is not a text file; give --format parquet or --format arrow, or --encoding, such as utf-16"
        )
    if len(header) > MAX_COLUMNS:
        raise InputError(f"{name}, line 1: expected at most {MAX_COLUMNS:,} column names, got {len(header):,}")
    names = [column.strip() or f"column_{j}" for j, column in enumerate(header, 1)]
    duplicate = next((column for column, n in Counter(names).items() if n > 1), None)
    if duplicate is not None:
        raise InputError(f"{name}: two columns are called {duplicate!r}; expected different names")
    unnamed = [j for j, column in enumerate(header, 1) if not column.strip()]
    for j in unnamed[:_NAMED]:
        report(f"{name}: column {j} has no name and is called 'column_{j}'")
    if len(unnamed) > _NAMED:
        report(f"{name}: so have {len(unnamed) - _NAMED:,} more columns")
    return names
