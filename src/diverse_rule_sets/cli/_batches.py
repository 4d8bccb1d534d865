"""Large files and folders: read in batches, predicted and written batch by batch."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from diverse_rule_sets import RuleSet
from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._util.files import is_special, whole_file
from diverse_rule_sets.cli._errors import InputError
from diverse_rule_sets.cli._files import STANDARD, write_errors
from diverse_rule_sets.cli._predicting import (
    ALL,
    check_rows,
    column_names,
    figures,
    labels_for,
    predictions,
    records_for,
    target_of,
    texts_of,
    write_frame,
)
from diverse_rule_sets.cli._reading import LoadedTable
from diverse_rule_sets.cli._weights import weight_values, weights_of
from diverse_rule_sets.model._batches import join_answers
from diverse_rule_sets.sources._cells import MISSING, Cells, KindGuess
from diverse_rule_sets.sources._errors import optional
from diverse_rule_sets.sources._files import FileSource, paths_of
from diverse_rule_sets.sources._text_source import TextReading

# Files of at least so many bytes are read in batches.
LARGE = 2**26


def is_large(path: str) -> bool:
    """Return whether a table is read in batches: a folder, or a large file."""
    if path == STANDARD or is_special(path):
        return False
    return os.path.isdir(path) or (os.path.isfile(path) and os.path.getsize(path) >= LARGE)


def source_of(path: str, reading: Mapping[str, Any]) -> FileSource:
    """Return the files of a table, read with the options of the user."""
    cells = Cells(tuple(reading.get("missing", MISSING)), reading.get("date_format"), reading.get("decimal", "."))
    text = TextReading(
        cells, reading.get("encoding", "utf-8"), reading.get("separator"), reading.get("kind", {}), options=True
    )
    return FileSource(paths_of(path), reading=text, form=reading.get("format"))


def loaded_batches(
    source: FileSource, also: Sequence[str], rule_set: RuleSet, typed: bool = False
) -> Iterator[LoadedTable]:
    """Iterate over the records of a table as tables in memory, with the cells of text files as text.

    Parameters
    ----------
    source : the files
    also : columns to read besides those of the rules
    rule_set : the rules
    typed : whether all columns of text files need a type, which is found from all files
    """
    names = [str(name) for name in source.names]
    wanted = names if ALL in also else [name for name in names if name in {*column_names(rule_set), *also}]
    wanted = wanted or names[:1]
    cells = source.reading.cells
    kinds = _kinds(source, [name for name in wanted if name not in rule_set.columns]) if typed else {}
    for file in source.files:
        is_text = hasattr(file, "blocks")
        for frame in file.blocks(wanted) if is_text else file.batches(frozenset(wanted)):
            content: Any = frame if is_text else pl.from_arrow(frame)
            yield LoadedTable(content, names, file.path, is_text, cells, kinds if is_text else {})


def _kinds(source: FileSource, names: Sequence[str]) -> dict[str, str]:
    """Return the types of some columns of text files, from all their cells."""
    guesses = {name: KindGuess(source.reading.cells) for name in names}
    for file in source.files if names else ():
        if hasattr(file, "blocks"):
            for block in file.blocks(names):
                for name, guess in guesses.items():
                    guess.add(block[name])
    return {name: guess.kind for name, guess in guesses.items()}


def predict_in_batches(
    rule_set: RuleSet,
    path: str,
    reading: Mapping[str, Any],
    keep: Sequence[str],
    proba: bool,
    prefix: str,
    output: str | None,
    typed: bool,
) -> None:
    """Predict the records of a table batch by batch; the output is written completely or not at all."""
    source = source_of(path, reading)
    n_batches = 0
    with _writer(output) as write:
        for table in loaded_batches(source, keep, rule_set, typed):
            frame = predictions(rule_set, table, keep, proba, prefix, typed)
            write(_with_wide_numbers(frame) if typed and table.is_text else frame)
            n_batches += 1
        if not n_batches:
            raise InputError(f"{source.name}: the table has no records")


def _with_wide_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers of text files as float64, except for the number of the rule: a later batch may need it."""
    return frame.with_columns(pl.selectors.integer().exclude(r"^.*rule$").cast(pl.Float64))


def evaluation_in_batches(
    rule_set: RuleSet,
    path: str,
    reading: Mapping[str, Any],
    given: str | None,
    drop_unlabelled: bool,
    weight: str | None = None,
) -> dict[str, Any]:
    """Return the figures of a rule set on a table with known labels, which is read in batches."""
    from diverse_rule_sets.report._summary import Summary

    target, source = target_of(rule_set, given), source_of(path, reading)
    answers, codes, position = [], [], {label: k for k, label in enumerate(rule_set.classes)}
    values: list[NDArray[np.float64]] = []
    file, n_before = "", 0
    for table in loaded_batches(source, [target, *([] if weight is None else [weight])], rule_set):
        n_before = n_before if table.name == file else 0
        table, own = _labelled(table, target, drop_unlabelled, weight, n_before)
        file, n_before = table.name, n_before + own.size
        values.append(own)
        if table.frame.height:
            codes.append(np.array([position[label] for label in labels_for(rule_set, table, target)], np.int64))
            answers.append(rule_set.answer(records_for(rule_set, table)))
    weights = None if weight is None else weights_of(source.name, np.concatenate(values), weight).weights
    if not answers:
        raise InputError(f"{source.name}: the table has no records")
    joined = join_answers(answers)
    n_records = joined.all_covers.n_records
    empty = Table([], n_records, None, named=True)
    return figures(rule_set, Summary(rule_set, empty, np.concatenate(codes), joined, weights=weights))


def _labelled(
    table: LoadedTable, target: str, drop_unlabelled: bool, weight: str | None, n_before: int
) -> tuple[LoadedTable, NDArray[np.float64]]:
    """Return the records of a batch with a label and a positive weight, and all weights of records with a label."""
    if target not in table.names:
        raise InputError(
            f"{table.name}: there is no column {target!r}; give --target, the column with the labels"
            f"{did_you_mean(target, table.names)}"
        )
    if drop_unlabelled:
        table = replace(table, frame=table.frame.filter(table.labels(target).is_not_null()))
    if weight is None or not table.frame.height:
        return table, np.zeros(0)
    values = weight_values(table, weight, target, n_before)
    return replace(table, frame=table.frame.filter(pl.Series(values > 0))), values


def explanations_in_batches(
    rule_set: RuleSet, path: str, reading: Mapping[str, Any], rows: Sequence[int] | None, label: Any
) -> Iterator[tuple[str, str]]:
    """Yield the same as :func:`explanations` for a table that is read in batches."""
    wanted = None if rows is None else np.unique(rows)
    kept: dict[int, pl.DataFrame] = {}
    n_before = 0
    for table in loaded_batches(source_of(path, reading), [], rule_set):
        X = records_for(rule_set, table)
        if wanted is None:
            yield from texts_of(rule_set, X, range(n_before + 1, n_before + X.height + 1), label)
        else:
            inside = wanted[(wanted > n_before) & (wanted <= n_before + X.height)].tolist()
            kept |= {row: X[row - n_before - 1 : row - n_before] for row in inside}
        n_before += X.height
    if rows:
        check_rows(rows, n_before)
        yield from texts_of(rule_set, pl.concat([kept[row] for row in rows], rechunk=True), rows, label)


@contextmanager
def _writer(output: str | None) -> Iterator[Any]:
    """Yield a function that writes a frame; an error in the block leaves the output as it was."""
    if output is None or output == STANDARD:
        first = [True]

        def write_part(frame: pl.DataFrame) -> None:
            write_frame(frame, None, header=first[0])
            first[0] = False

        yield write_part
        return
    with write_errors(output), whole_file(output) as path, path.open("wb") as file, ExitStack() as stack:
        if output.lower().endswith((".parquet", ".arrow", ".feather")):
            yield _ArrowWriter(file, output, stack)
        else:
            content: Any = file
            if output.lower().endswith(".gz"):
                content = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
            yield _TextWriter(content, "\t" if ".tsv" in output.lower()[-8:] else ",")


class _TextWriter:
    """Writes frames as CSV, one after the other."""

    def __init__(self, file: Any, separator: str) -> None:
        self._file, self._separator, self._header = file, separator, True

    def __call__(self, frame: pl.DataFrame) -> None:
        frame.write_csv(self._file, include_header=self._header, separator=self._separator)
        self._header = False


class _ArrowWriter:
    """Writes frames as Parquet or Arrow, one after the other; all have the types of the first."""

    def __init__(self, file: Any, output: str, stack: ExitStack) -> None:
        self._file, self._is_parquet, self._stack = file, output.lower().endswith(".parquet"), stack
        self._writer: Any = None

    def __call__(self, frame: pl.DataFrame) -> None:
        table = frame.to_arrow()
        if self._writer is None:
            if self._is_parquet:
                parquet = optional("pyarrow.parquet", "writing Parquet files in batches")
                self._writer = parquet.ParquetWriter(self._file, table.schema)
            else:
                ipc = optional("pyarrow.ipc", "writing Arrow files in batches")
                self._writer = ipc.new_file(self._file, table.schema)
            self._stack.enter_context(self._writer)
            self._schema = table.schema
        self._writer.write_table(table.cast(self._schema))
