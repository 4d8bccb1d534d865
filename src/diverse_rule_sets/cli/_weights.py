"""The option --weight: a column of a table as the weights of its records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from diverse_rule_sets import RuleSet
from diverse_rule_sets._input.named_columns import weight_text
from diverse_rule_sets._input.weights import (
    EVERY_RECORD,
    Weighted,
    Weights,
    as_numbers,
    check_finite,
    weighted_records,
)
from diverse_rule_sets.cli._errors import InputError, UsageError
from diverse_rule_sets.cli._predicting import labels_for, records_for
from diverse_rule_sets.cli._reading import LoadedTable
from diverse_rule_sets.sources._cells import NUMBER


def read_weights(table: LoadedTable, name: str | None, target: str) -> Weighted:
    """Return the records of positive weight and their weights; all records if no column is named."""
    if name is None:
        return EVERY_RECORD
    return weights_of(table.name, weight_values(table, name, target), name)


def weights_of(table: str, values: NDArray[np.float64], name: str) -> Weighted:
    """Return the records of positive weight of a table and their weights."""
    try:
        return weighted_records(values, values.size, weight_text(name, "--weight"))
    except ValueError as error:
        raise InputError(f"{table}: {error}") from None


def weight_values(table: LoadedTable, name: str, target: str, n_before: int = 0) -> NDArray[np.float64]:
    """Return the weights of the records of a table; errors count its records from ``n_before`` + 1."""
    if name == target:
        raise UsageError(f"--weight names the target, {name!r}")
    column, kind = table.column(name), weight_text(name, "--weight")
    if table.is_text:
        guessed = table.cells.guess_kind(column)
        values = table.cells.read(column, NUMBER) if guessed == NUMBER else table.cells.strip(column)
    else:
        values = column
    if values.dtype == pl.Null or not values.dtype.is_numeric():
        raise InputError(f"{table.name}: {kind} must hold numbers, got {_example(values, n_before)}")
    if values.null_count():
        row = values.is_null().arg_max()
        raise InputError(
            f"{table.name}: {kind} has no value in {values.null_count():,} of {len(values):,} records, the first is "
            f"record {n_before + (row or 0) + 1}; expected a number for each record, 0 to leave it out"
        )
    try:
        array = as_numbers(values.to_numpy(), kind, n_before)
        check_finite(array, kind, n_before)
    except (TypeError, ValueError) as error:
        raise InputError(f"{table.name}: {error}") from None
    return array


def weighted_records_for(
    rule_set: RuleSet, table: LoadedTable, target: str, weight: str | None, also: Sequence[str] = ()
) -> tuple[pl.DataFrame, list[Any], Weights | None]:
    """Return the records of positive weight for a model, with some other columns, their labels and their weights."""
    X, labels = records_for(rule_set, table, also), labels_for(rule_set, table, target)
    rows, weights = read_weights(table, weight, target)
    return (X, labels, weights) if rows is None else (X[rows], [labels[row] for row in rows], weights)


def _example(values: pl.Series, n_before: int) -> str:
    """Return the first value that is no number, and its record."""
    for row, value in enumerate(values.to_list(), n_before + 1):
        try:
            float(value)
        except (TypeError, ValueError):
            if value is not None:
                return f"{value!r:.60} in record {row}"
    return f"values of type {values.dtype}"
