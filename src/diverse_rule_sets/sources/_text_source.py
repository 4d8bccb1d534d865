"""CSV and TSV files, read in batches with the same rules as the command `drs`; see :mod:`._cells`."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from diverse_rule_sets._input.checks import warn
from diverse_rule_sets.sources._errors import InputError, optional
from diverse_rule_sets.sources._source import ColumnTypes

optional("polars", "reading CSV files")

import polars as pl  # noqa: E402

from diverse_rule_sets.sources._cells import BOOLEAN, NUMBER, Cells, KindGuess  # noqa: E402
from diverse_rule_sets.sources._text_files import TextFormat, decompress, file_errors, read_blocks  # noqa: E402

_OPTION = re.compile(r"(?:[;,]| \(| and)?(?: or)?(?: (?:if|is)\b[^;]*)?,? ?\(?give --.*$")
_ADVICE = "; to read it in another way, use polars.scan_csv or pandas"


@dataclass(frozen=True)
class TextReading:
    """How text files are read.

    Parameters
    ----------
    cells : how cells are read
    encoding : the encoding of the text
    separator : the character between two cells; None for that of the format
    kinds : column types that the user has chosen
    options : whether errors may name options of the command `drs`
    """

    cells: Cells = field(default_factory=Cells)
    encoding: str = "utf-8"
    separator: str | None = None
    kinds: Mapping[Hashable, str] = field(default_factory=dict)
    options: bool = False


class TextTypes:
    """The types of the columns of all text files of a source, found from all their cells.

    Parameters
    ----------
    types : the types that are known, and how to read them
    target : the column that holds labels
    reading : how cells are read
    """

    def __init__(self, types: ColumnTypes | None, target: Hashable | None, reading: TextReading | None = None) -> None:
        self.reading = reading or TextReading()
        self.files: list[TextFile] = []
        self._types, self._target = types, target
        self._guessed: dict[Hashable, str] = {**self.reading.kinds}

    def settle(self, columns: Collection[Hashable]) -> None:
        """Find the types of some columns that are not known yet; this reads all files."""
        known = set(self._guessed) if self._types is None else {*self._guessed, *self._types.kinds}
        unknown = [name for name in columns if name not in known]
        if not unknown:
            return
        self._guessed |= {name: guess.kind for name, guess in self.guesses(unknown).items()}

    def guesses(self, columns: Collection[Hashable]) -> dict[Hashable, KindGuess]:
        """Return what the cells of some columns tell about their types; this reads all files."""
        guesses = {name: KindGuess(self.reading.cells) for name in columns}
        for file in self.files:
            for block in file.blocks(columns):
                for name in columns:
                    guesses[name].add(block[str(name)])
        return guesses

    def read(self, column: pl.Series) -> pl.Series:
        """Return the cells of a column as values of its type."""
        name, cells = column.name, self.reading.cells
        if name == self._target:
            kind = self._guessed[name]
            return cells.read(column, kind) if kind in (NUMBER, BOOLEAN) else cells.strip(column)
        if self._types is None or name not in self._types.kinds:
            return cells.read(column, self._guessed[name])
        cells = cells.with_missing(self._types.missing.get(name, ()))
        return cells.read(column, self._types.kinds[name], self._types.values.get(name, ()))


class TextFile:
    """A CSV or TSV file.

    Parameters
    ----------
    path : the file
    form : ``"csv"`` or ``"tsv"``
    types : the types of its columns
    """

    n_records = None

    def __init__(self, path: str, form: str, types: TextTypes) -> None:
        self.path = path
        self.types, self._reading = types, types.reading
        separator = self._reading.separator or ("\t" if form == "tsv" else ",")
        self._format = TextFormat(self._reading.encoding, separator)
        self.names: list[str] = []
        with self._read() as file:
            next(read_blocks(file, path, self._format, None, self.names))
        self._format = replace(self._format, report=lambda _: None)  # warnings were given
        self._warned = False

    @contextmanager
    def _read(self) -> Iterator[Any]:
        try:
            with open(self.path, "rb") as file, file_errors(self.path, self._format.encoding):
                yield decompress(file, self.path)
        except InputError as error:
            text = str(error)
            text = text if self.path in text else f"{self.path}: {text}"
            raise InputError(self._without_options(text, _ADVICE)) from None
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None

    def blocks(self, columns: Collection[Hashable]) -> Iterator[pl.DataFrame]:
        """Iterate over the records, with the cells of some columns as text."""
        form = self._format if self._warned else replace(self._format, report=warn)
        self._warned = True
        with self._read() as file:
            for block in read_blocks(file, self.path, form, set(map(str, columns)), []):
                if block.height:
                    yield block

    def batches(self, columns: Collection[Hashable] | None) -> Iterator[pl.DataFrame]:
        """Iterate over the records as data frames of polars."""
        selected = [name for name in self.names if columns is None or name in columns] or self.names[:1]
        self.types.settle(selected)
        n_before = 0
        for block in self.blocks(selected):
            yield pl.DataFrame([self._read_column(block[name], n_before) for name in selected])
            n_before += block.height

    def _read_column(self, column: pl.Series, n_before: int) -> pl.Series:
        """Return the values of a column; an error names the file and the record in the file."""
        try:
            return self.types.read(column)
        except InputError as error:
            text = re.sub(r"record (\d+)", lambda found: f"record {int(found[1]) + n_before:,}", str(error), count=1)
            raise InputError(f"{self.path}: {self._without_options(text)}") from None

    def _without_options(self, text: str, advice: str = "") -> str:
        """Return the text of an error without options of the command `drs`."""
        return text if self._reading.options or "give --" not in text else _OPTION.sub("", text) + advice
