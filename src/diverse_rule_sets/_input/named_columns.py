"""Columns of X that hold the labels and the weights of the records: the arguments y and sample_weight as names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from diverse_rule_sets._input.checks import did_you_mean, list_text
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._input.weights import EVERY_RECORD, Floats, Weighted, check_weights, weighted_records


class Records(NamedTuple):
    """A table without the columns of labels and weights, the labels, and the weights.

    Parameters
    ----------
    table : the columns that rules may read
    y : the labels
    weights : the weights; None if the records have none
    text : what errors call the weights
    """

    table: Table
    y: Any
    weights: Any
    text: str = "sample_weight"

    def weighted(self) -> Weighted:
        """Return the records of positive weight and their weights as whole numbers of a unit."""
        if self.weights is None:
            return EVERY_RECORD
        return weighted_records(self.weights, self.table.n_records, self.text)

    def numbers(self) -> Floats | None:
        """Return the weights as they were given; None if the records have none."""
        return None if self.weights is None else check_weights(self.weights, self.table.n_records, self.text)


def split_columns(table: Table, y: Any, sample_weight: Any = None) -> Records:
    """Return the labels and weights, and the other columns; y and sample_weight may be names of columns.

    A text is the name of a column of weights only if the columns of the table have names.
    """
    weights, text = sample_weight, "sample_weight"
    if isinstance(sample_weight, str) and table.named:
        if isinstance(y, str) and y == sample_weight:
            raise ValueError(f"sample_weight names the column {y!r}, which holds the labels")
        _check_name("sample_weight", "a vector of weights", sample_weight, table)
        weights, text = table.native(sample_weight), weight_text(sample_weight)
        kept = _without(table, {sample_weight})
    else:
        kept = table.names
    if isinstance(y, str):
        _check_name("y", "a vector of labels", y, table)
        kept, y = [name for name in kept if name != y], table.native(y)
    return Records(table if len(kept) == len(table.names) else _selected(table, kept), y, weights, text)


def weight_text(name: Any, argument: str = "sample_weight") -> str:
    """Return what errors call weights of a column."""
    return f"the column {name!r} of {argument}"


def _without(table: Table, names: Collection[Any]) -> list[Any]:
    return [name for name in table.names if name not in names]


def _selected(table: Table, names: list[Any]) -> Table:
    if not names:
        raise ValueError("X has no column for rules besides those of y and sample_weight")
    return table.select(names)


def _check_name(argument: str, vector: str, name: str, table: Table) -> None:
    """Raise an error unless a name is that of a column."""
    if table.named and name in table:
        return
    names = table.names if table.named else []
    known = f"its columns: {list_text(names)}{did_you_mean(name, names)}" if names else "whose columns have no names"
    raise ValueError(f"{argument} must be {vector} or the name of a column of X, got {name!r}; X has {known}")
