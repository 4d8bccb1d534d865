"""The option --weight: a column of a table as the weights of its records."""

from __future__ import annotations

import polars as pl

from diverse_rule_sets._input.weights import EVERY_RECORD, Weighted, weighted_records
from diverse_rule_sets.cli._column_types import NUMBER
from diverse_rule_sets.cli._errors import InputError, UsageError
from diverse_rule_sets.cli._reading import LoadedTable


def read_weights(table: LoadedTable, name: str | None, target: str) -> Weighted:
    """Return the records of positive weight and their weights; all records if no column is named."""
    if name is None:
        return EVERY_RECORD
    if name == target:
        raise UsageError(f"--weight names the target, {name!r}")
    column, kind = table.column(name), f"the column {name!r} of --weight"
    if table.is_text:
        guessed = table.cells.guess_kind(column)
        values = table.cells.read(column, NUMBER) if guessed == NUMBER else table.cells.strip(column)
    else:
        values = column
    if values.dtype == pl.Null or not values.dtype.is_numeric():
        raise InputError(f"{table.name}: {kind} must hold numbers, got {_example(values)}")
    if values.null_count():
        row = values.is_null().arg_max()
        raise InputError(
            f"{table.name}: {kind} has no value in {values.null_count():,} of {len(values):,} records, the first is "
            f"record {(row or 0) + 1}; expected a number for each record, 0 to leave it out"
        )
    try:
        return weighted_records(values.to_numpy(), len(values), kind)
    except (TypeError, ValueError) as error:
        raise InputError(f"{table.name}: {error}") from None


def _example(values: pl.Series) -> str:
    """Return the first value that is no number, and its record."""
    for row, value in enumerate(values.to_list(), 1):
        try:
            float(value)
        except (TypeError, ValueError):
            if value is not None:
                return f"{value!r:.60} in record {row}"
    return f"values of type {values.dtype}"
