"""The work of the commands that use a model: predict, evaluate and explain."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from diverse_rule_sets import RuleSet
from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets._util.files import is_special, whole_file
from diverse_rule_sets.cli._codes import texts_in_model
from diverse_rule_sets.cli._errors import InputError, UsageError
from diverse_rule_sets.cli._files import STANDARD, write_errors, write_standard_output
from diverse_rule_sets.cli._reading import LoadedTable, load
from diverse_rule_sets.model._answers import no_answers
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.sources._cells import TEXT, as_labels

ALL = "all"
_WRITE_BLOCK = 100_000  # records written to a pipe at a time
_EXPLAIN_BLOCK = 500  # records explained at a time
_MAX_CLASSES = 20  # listed in a message


def column_names(rule_set: RuleSet) -> list[str]:
    """Return the names of the columns that the rules read."""
    for name in rule_set.columns:
        if not isinstance(name, str):
            raise InputError(
                f"the rules read a column called {name!r} ({type(name).__name__}), which a file cannot have"
            )
    return [str(name) for name in rule_set.columns]


def load_for(rule_set: RuleSet, path: str, reading: Mapping[str, Any], also: Sequence[str] = ()) -> LoadedTable:
    """Read the columns of a table that the rules read, and some others."""
    return load(path, reading, None if ALL in also else {*column_names(rule_set), *also})


def records_for(rule_set: RuleSet, table: LoadedTable, also: Sequence[str] = ()) -> pl.DataFrame:
    """Return the columns that the rules read, with their types in training, and some others."""
    values: dict[Any, list[Any]] = {}
    for condition in plain_conditions(rule_set.all_rules):
        values.setdefault(condition.column, []).extend(condition.values_named)
    codes = {name: texts_in_model(some) for name, some in rule_set.missing_values}
    columns = [
        table.read(name, rule_set.kind(name) or None, tuple(values[name]), codes.get(name, ()))
        for name in column_names(rule_set)
    ]
    if not columns:  # no rule has a condition: only the number of records matters
        columns = [pl.Series("x", np.zeros(table.frame.height))]
    return pl.DataFrame(
        [*columns, *(table.read(name, missing=codes.get(name, ())) for name in also if name not in rule_set.columns)]
    )


def labels_for(rule_set: RuleSet, table: LoadedTable, target: str) -> list[Any]:
    """Return the labels of the records of a table, as classes of the model."""
    labels = as_labels(_read_labels(rule_set, table, target), rule_set.classes)
    if not labels:
        raise InputError(f"{table.name}: the table has no records")
    n_missing = sum(label is None for label in labels)
    if n_missing:
        raise InputError(
            f"{table.name}: {n_missing:,} of {len(labels):,} records have no value in the target {target!r}; "
            "leave them out with --drop-unlabelled"
        )
    unknown = [label for label in dict.fromkeys(labels) if label not in rule_set.classes]
    if unknown:
        raise InputError(
            f"{table.name}: the target {target!r} has labels that are not classes of the rule set: {_list(unknown)}; "
            f"its classes are {_list(rule_set.classes)}"
        )
    return labels


def _list(labels: Sequence[Any]) -> str:
    return ", ".join(map(repr, labels[:_MAX_CLASSES])) + (", ..." if len(labels) > _MAX_CLASSES else "")


def _read_labels(rule_set: RuleSet, table: LoadedTable, target: str) -> pl.Series:
    """Return the labels of a table: as unchanged text if all are classes of the model, so that `2.50` stays `2.50`."""
    if table.is_text:
        cells = table.cells.strip(table.column(target))
        if set(cells.drop_nulls().unique()) <= set(rule_set.classes):
            return cells
    return table.labels(target)


def target_of(rule_set: RuleSet, given: str | None) -> str:
    """Return the name of the target: the one that the user gave, or else that of training."""
    target = given if given is not None else rule_set.target
    if target is None:
        raise UsageError("--target is missing, and the model does not name the column that had the labels in training")
    return target


def load_labelled(
    rule_set: RuleSet,
    path: str,
    reading: Mapping[str, Any],
    given: str | None,
    drop_unlabelled: bool,
    also: Sequence[str] = (),
) -> tuple[LoadedTable, str]:
    """Read a table with labels; return it, and the name of its target.

    The target is the one that the user gave, or else that of training. Records without a label are left out if
    ``drop_unlabelled``.
    """
    target = target_of(rule_set, given)
    table = load_for(rule_set, path, reading, [target, *also])
    if given is None and target not in table.names:
        raise InputError(
            f"{table.name}: there is no column {target!r}, the target in training; give --target, the column with the "
            f"labels{did_you_mean(target, table.names)}"
        )
    present = table.labels(target).is_not_null()
    return replace(table, frame=table.frame.filter(present)) if drop_unlabelled else table, target


def predictions(
    rule_set: RuleSet, table: LoadedTable, keep: Sequence[str], proba: bool, prefix: str, typed: bool = False
) -> pl.DataFrame:
    """Return a frame with the columns to keep, the label, the number of the deciding rule, and the probabilities.

    The columns to keep are unchanged text of the file, or, if ``typed``, values of their column types.
    """
    X = records_for(rule_set, table)
    kept = [table.column(name) for name in (table.frame.columns if ALL in keep else dict.fromkeys(keep))]
    if table.is_text and typed:
        kept = [X[column.name] if column.name in rule_set.columns else table.read(column.name) for column in kept]
        kept = [table.read(column.name, TEXT) if column.dtype == pl.Object else column for column in kept]
    elif table.is_text:  # an empty cell stays empty
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


def write_frame(frame: pl.DataFrame, output: str | None, header: bool = True) -> None:
    """Write a frame as CSV, TSV, Parquet or Arrow, by the ending of the file name; as CSV to a pipe.

    ``header`` says whether the column names are written to a pipe.
    """
    if output is None or output == STANDARD:
        for start in range(0, max(frame.height, 1), _WRITE_BLOCK):
            buffer = io.BytesIO()
            frame.slice(start, _WRITE_BLOCK).write_csv(buffer, include_header=header and start == 0)
            write_standard_output(buffer.getvalue())
        return
    write = _writer(output)
    with write_errors(output), whole_file(output) as path, path.open("wb") as file:
        write(frame, file)


def has_types(output: str | None) -> bool:
    """Return whether the format of an output has types for numbers, dates and booleans: Parquet and Arrow."""
    return output is not None and output != STANDARD and _writer(output) in (_write_parquet, pl.DataFrame.write_ipc)


def check_writer(output: str | None) -> None:
    """Raise an error if the ending of a file name is not a known format, before any other work is done."""
    if output is not None and output != STANDARD:
        _writer(output)


def _writer(output: str) -> Callable[[pl.DataFrame, Any], None]:
    ending = "csv" if is_special(output) else next((end for end in _WRITERS if output.lower().endswith(f".{end}")), "")
    if not ending:
        raise UsageError(f"--output must end in one of {', '.join('.' + name for name in _WRITERS)}, got {output!r}")
    return _WRITERS[ending]


def _compress(write: Callable[[pl.DataFrame, Any], None]) -> Callable[[pl.DataFrame, Any], None]:
    """Return a function that writes the same, compressed by gzip; without a time stamp, to give identical files."""

    def write_compressed(frame: pl.DataFrame, file: Any) -> None:
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as compressed:
            write(frame, compressed)

    return write_compressed


def _write_tsv(frame: pl.DataFrame, file: Any) -> None:
    frame.write_csv(file, separator="\t")


def _write_parquet(frame: pl.DataFrame, file: Any) -> None:
    buffer = io.BytesIO()  # the errors of polars do not state why a file could not be written
    frame.write_parquet(buffer)
    file.write(buffer.getbuffer())


_WRITERS: dict[str, Callable[[pl.DataFrame, Any], None]] = {
    "csv": pl.DataFrame.write_csv,
    "tsv": _write_tsv,
    "csv.gz": _compress(pl.DataFrame.write_csv),
    "tsv.gz": _compress(_write_tsv),
    "parquet": _write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "feather": pl.DataFrame.write_ipc,
}


def evaluation(rule_set: RuleSet, X: pl.DataFrame, y: Sequence[Any], weights: Any = None) -> dict[str, Any]:
    """Return the figures of a rule set on records with known labels, as a dict."""
    from diverse_rule_sets.report._summary import summarise

    return figures(rule_set, summarise(rule_set, X, y, weights))


def figures(rule_set: RuleSet, summary: Any) -> dict[str, Any]:
    """Return the figures of a summary as a dict."""
    from diverse_rule_sets import metrics

    y = summary.codes
    facts = summary.facts()
    likelihoods = summary.probabilities[np.arange(len(y)), summary.codes]
    own = None if summary.weights is None else summary.weights.values
    n = facts["n_records"]
    log_loss = float(np.average(-np.log(np.maximum(likelihoods, 1e-15)), weights=own))
    return facts | {
        "log_loss": round(log_loss, 12),  # so that a weight of 2 gives the same figure as two equal records
        "baseline": {"label": facts["classes"][int(np.argmax(facts["class_totals"]))]}
        | {"accuracy": max(facts["class_totals"]) / n},
        "mean_conditions": metrics.mean_conditions(rule_set),
        "overlap_share": facts["n_overlap"] / n,
        "agree_share": facts["n_agree"] / n,
        "contradict_share": facts["n_contradict"] / n,
        "uncovered_share": 1 - facts["n_covered"] / n,
    }


def label_for(rule_set: RuleSet, text: str) -> Any:
    """Return the class of the model that a text names."""
    label = as_labels(pl.Series([text]), rule_set.classes)[0]
    if label not in rule_set.classes:
        hint = did_you_mean(text, rule_set.classes)
        raise UsageError(f"--label must be one of {_list(rule_set.classes)}, got {text!r}{hint}")
    return label


def explanations(
    rule_set: RuleSet, X: pl.DataFrame, rows: Sequence[int] | None, label: Any
) -> Iterator[tuple[str, str]]:
    """Yield for records, counted from 1, a heading, and the text that explains the label and possible changes.

    Parameters
    ----------
    rule_set, X : the rules and the records
    rows : the numbers of the records to explain; None for all
    label : the other label that the text explains; None for the nearest labels
    """
    if rows is not None:
        check_rows(rows, X.height)
        X = X[[row - 1 for row in rows]]
    yield from texts_of(rule_set, X, range(1, X.height + 1) if rows is None else rows, label)


def check_rows(rows: Sequence[int], n_records: int) -> None:
    """Raise an error if there is no record with one of some numbers."""
    for row in rows:
        if not 1 <= row <= n_records:
            raise UsageError(f"--row must be from 1 to {n_records:,}, the number of records, got {row}")


def texts_of(rule_set: RuleSet, X: pl.DataFrame, numbers: Sequence[int], label: Any) -> Iterator[tuple[str, str]]:
    """Yield for each record a heading with its number, and the text that explains its label."""
    for start in range(0, X.height, _EXPLAIN_BLOCK):  # in blocks, so that the first text is printed soon
        part, own = X[start : start + _EXPLAIN_BLOCK], numbers[start : start + _EXPLAIN_BLOCK]
        for number, reason in zip(own, rule_set.why(part, label=label), strict=True):
            yield f"record {number}", reason
