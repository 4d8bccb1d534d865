"""What the commands that use a model do: predict, evaluate, explain."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from diverse_rule_sets import RuleSet
from diverse_rule_sets._util.files import is_special, whole_file
from diverse_rule_sets.cli._column_types import TEXT, as_labels
from diverse_rule_sets.cli._errors import InputError, UsageError
from diverse_rule_sets.cli._files import STANDARD, write_out, writing
from diverse_rule_sets.cli._reading import Loaded, load
from diverse_rule_sets.model._answers import no_answers

ALL = "all"
_BLOCK = 100_000  # records written to a pipe in one go
_EXPLAINED = 500  # records explained in one go
_LISTED = 20  # classes named in a message


def names_read(rule_set: RuleSet) -> list[str]:
    """Return the columns that the rules read."""
    for name in rule_set.columns:
        if not isinstance(name, str):
            raise InputError(f"the rules read a column called {name!r} ({type(name).__name__}), which no file can have")
    return [str(name) for name in rule_set.columns]


def load_for(rule_set: RuleSet, path: str, reading: Mapping[str, Any], also: Sequence[str] = ()) -> Loaded:
    """Read the columns of a table that the rules need, and some more."""
    return load(path, reading, None if ALL in also else {*names_read(rule_set), *also})


def records_for(rule_set: RuleSet, table: Loaded, also: Sequence[str] = ()) -> pl.DataFrame:
    """Return the columns that the rules read, as values of the kinds that they had in training, and some more."""
    named: dict[Any, list[Any]] = {}
    for rule in rule_set.all_rules:
        for condition in rule.conditions:
            named.setdefault(condition.column, []).extend(condition.values_named)
    columns = [table.read(name, rule_set.kind(name) or None, tuple(named[name])) for name in names_read(rule_set)]
    if not columns:  # rules without a condition: any column will do
        columns = [pl.Series("x", np.zeros(table.frame.height))]
    return pl.DataFrame([*columns, *(table.read(name) for name in also if name not in rule_set.columns)])


def labels_for(rule_set: RuleSet, table: Loaded, target: str) -> list[Any]:
    """Return the labels of a table's records, each one of the model's classes."""
    labels = as_labels(_labels_as_told(rule_set, table, target), rule_set.classes)
    if not labels:
        raise InputError(f"{table.name}: the table has no records")
    gone = sum(label is None for label in labels)
    if gone:
        raise InputError(
            f"{table.name}: {gone:,} of {len(labels):,} records have no value in the target {target!r}; leave them out "
            "with --drop-unlabelled"
        )
    return labels


def _labels_as_told(rule_set: RuleSet, table: Loaded, target: str) -> pl.Series:
    """Return the labels of a table: word for word if the model has just these words, `2.50` not as the number 2.5."""
    if table.bare:
        cells = table.cells.present(table.column(target))
        if set(cells.drop_nulls().unique()) <= set(rule_set.classes):
            return cells
    return table.labels(target)


def labelled(table: Loaded, target: str, drop_unlabelled: bool) -> Loaded:
    """Return the table, less the records without a label if that is wished."""
    present = table.labels(target).is_not_null()
    return replace(table, frame=table.frame.filter(present)) if drop_unlabelled else table


def predictions(
    rule_set: RuleSet, table: Loaded, keep: Sequence[str], proba: bool, prefix: str, typed: bool = False
) -> pl.DataFrame:
    """Return a frame with the columns to keep, the label, the number of the rule that decides, and probabilities.

    Columns to keep are as they are in the file, or, ``typed``, values of the kinds that they are read as.
    """
    X = records_for(rule_set, table)
    kept = [table.column(name) for name in (table.frame.columns if ALL in keep else dict.fromkeys(keep))]
    if table.bare and typed:
        kept = [X[column.name] if column.name in rule_set.columns else table.read(column.name) for column in kept]
        kept = [table.read(column.name, TEXT) if column.dtype == pl.Object else column for column in kept]
    elif table.bare:  # an empty cell stays one
        kept = [column.set(column == "", None) for column in kept]
    answers = rule_set.answer(X) if X.height else no_answers(rule_set)
    numbers = answers.deciding + 1
    labels = pl.Series(list(rule_set.classes), strict=False)
    new = [
        labels.gather(answers.labels).alias(f"{prefix}label"),
        pl.Series(f"{prefix}rule", numbers).set(pl.Series(numbers == 0), None),
    ]
    if proba:
        shares = answers.probabilities
        new += [pl.Series(f"{prefix}probability_{label}", shares[:, k]) for k, label in enumerate(rule_set.classes)]
    for column in new:
        if column.name in [old.name for old in kept]:
            raise UsageError(f"the table has a column {column.name!r} already; give --prefix, such as --prefix my_")
    return pl.DataFrame([*kept, *new])


def write_frame(frame: pl.DataFrame, output: str | None) -> None:
    """Write a frame as CSV, TSV (packed or not), Parquet or Arrow by the end of the name; CSV for a pipe."""
    if output is None or output == STANDARD:
        for begin in range(0, max(frame.height, 1), _BLOCK):
            buffer = io.BytesIO()
            frame.slice(begin, _BLOCK).write_csv(buffer, include_header=begin == 0)
            write_out(buffer.getvalue())
        return
    write = _writer(output)
    with writing(output), whole_file(output) as path, path.open("wb") as file:
        write(frame, file)


def has_types(output: str | None) -> bool:
    """Tell whether the format of an output knows numbers, dates and booleans, as Parquet and Arrow do."""
    return output is not None and output != STANDARD and _writer(output) in (_write_parquet, pl.DataFrame.write_ipc)


def check_writer(output: str | None) -> None:
    """Refuse a name whose end does not tell a format, before any work is done."""
    if output is not None and output != STANDARD:
        _writer(output)


def _writer(output: str) -> Callable[[pl.DataFrame, Any], None]:
    ending = "csv" if is_special(output) else next((end for end in _WRITERS if output.lower().endswith(f".{end}")), "")
    if not ending:
        raise UsageError(f"--output must end in one of {', '.join('.' + name for name in _WRITERS)}, got {output!r}")
    return _WRITERS[ending]


def _packed(write: Callable[[pl.DataFrame, Any], None]) -> Callable[[pl.DataFrame, Any], None]:
    """Return a function that writes the same, packed by gzip; without the time, so that the same is the same file."""

    def pack(frame: pl.DataFrame, file: Any) -> None:
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            write(frame, packed)

    return pack


def _write_tsv(frame: pl.DataFrame, file: Any) -> None:
    frame.write_csv(file, separator="\t")


def _write_parquet(frame: pl.DataFrame, file: Any) -> None:
    buffer = io.BytesIO()  # polars does not say why a file could not be written
    frame.write_parquet(buffer)
    file.write(buffer.getbuffer())


_WRITERS: dict[str, Callable[[pl.DataFrame, Any], None]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": _write_tsv,
    "csv.gz": _packed(pl.DataFrame.write_csv),
    "tsv.gz": _packed(_write_tsv),
    "parquet": _write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "feather": pl.DataFrame.write_ipc,
}


def evaluation(rule_set: RuleSet, X: pl.DataFrame, y: Sequence[Any]) -> dict[str, Any]:
    """Return what a rule set does on records with known labels, as a plain dict."""
    from diverse_rule_sets import metrics
    from diverse_rule_sets.report._summary import summarise

    summary = summarise(rule_set, X, y)
    facts = summary.facts()
    likely = summary.probabilities[np.arange(len(y)), summary.codes]
    n = facts["n_records"]
    return facts | {
        "log_loss": float(-np.log(np.maximum(likely, 1e-15)).mean()),
        "baseline": {"label": facts["classes"][int(np.argmax(facts["class_totals"]))]}
        | {"accuracy": max(facts["class_totals"]) / n},
        "mean_conditions": metrics.mean_conditions(rule_set),
        "overlap_share": facts["n_overlap"] / n,
        "uncovered_share": 1 - facts["n_covered"] / n,
    }


def label_for(rule_set: RuleSet, words: str) -> Any:
    """Return the label of the model that was named."""
    label = as_labels(pl.Series([words]), rule_set.classes)[0]
    if label not in rule_set.classes:
        more = ", ..." if len(rule_set.classes) > _LISTED else ""
        known = ", ".join(map(repr, rule_set.classes[:_LISTED])) + more
        raise UsageError(f"--label must be one of {known}, got {words!r}")
    return label


def explanations(rule_set: RuleSet, X: pl.DataFrame, rows: Sequence[int], label: Any) -> Iterator[tuple[str, str]]:
    """Say for some records, counted from 1, why they get their label, and what would have had to differ.

    ``label`` is the other label that is spoken of; None for the nearest.
    """
    for row in rows:
        if not 1 <= row <= X.height:
            raise UsageError(f"--row must be from 1 to {X.height:,}, the number of records, got {row}")
    chosen = X[[row - 1 for row in rows]]
    if not chosen.height:
        return
    for begin in range(0, chosen.height, _EXPLAINED):  # the first words come at once, however long the table
        part = chosen[begin : begin + _EXPLAINED]
        for row, reason in zip(rows[begin : begin + _EXPLAINED], rule_set.why(part, label=label), strict=True):
            yield f"record {row}", reason
