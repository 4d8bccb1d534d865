"""Weights of the records of a source: a column, which is read before all others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.checks import did_you_mean, list_text
from diverse_rule_sets._input.named_columns import weight_text
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets._input.weights import Weighted, Weights, as_numbers, check_finite, weighted_records
from diverse_rule_sets._util.progress import OnProgress, RecordProgress
from diverse_rule_sets.sources._errors import InputError
from diverse_rule_sets.sources._selected import SelectedSource
from diverse_rule_sets.sources._source import Source


class WeightedSource(NamedTuple):
    """The records of positive weight of a source, without the column of weights.

    Parameters
    ----------
    source : the records
    weights : their weights; None if all of them are 1
    values : the weights of all records of the source, as they were given; None if they have none
    """

    source: Source
    weights: Weights | None = None
    values: NDArray[np.float64] | None = None

    @property
    def records(self) -> NDArray[np.int64] | None:
        """The numbers of the records in the source; None for all records."""
        if self.values is None or self.values.all():
            return None
        return np.flatnonzero(self.values)


def with_weights(
    source: Source,
    sample_weight: Any,
    target: Any = None,
    on_progress: OnProgress | None = None,
    argument: str = "sample_weight",
) -> WeightedSource:
    """Return the records of positive weight of a source, and their weights.

    Parameters
    ----------
    source : the table
    sample_weight : the name of the column with the weights, or None; weights in units are passed on as they are
    target : the column with the labels, which cannot hold the weights as well
    on_progress : function that is called during the pass over the weights
    argument : what errors call the argument
    """
    if sample_weight is None or isinstance(sample_weight, Weights):
        return WeightedSource(source, sample_weight)
    _check_name(source, sample_weight, target, argument)
    text = weight_text(sample_weight, argument)
    values = _read(source, sample_weight, text, on_progress)
    records, weights = _weighted(source, text, values)
    flags = None if records is None else values > 0
    return WeightedSource(SelectedSource(source, [sample_weight], flags), weights, values)


def _check_name(source: Source, name: Any, target: Any, argument: str) -> None:
    """Raise an error unless a name is that of a column that can hold weights."""
    known = f"its columns: {list_text(source.names)}"
    if not isinstance(name, str | tuple):
        raise TypeError(
            f"{argument} must be the name of the column of X with the weights, because X is read in batches "
            f"({source.name}), got {type(name).__name__}"
        )
    if name not in source.names:
        raise ValueError(
            f"{argument} must be the name of a column of {source.name}, got {name!r}; {known}"
            f"{did_you_mean(name, source.names)}"
        )
    if name == target:
        raise ValueError(f"{argument} names the column {name!r}, which holds the labels")


def _read(source: Source, name: Any, text: str, on_progress: OnProgress | None) -> NDArray[np.float64]:
    """Return the weights of all records; an error names the file, and the record in the file."""
    progress = RecordProgress("reading weights", source.n_records, on_progress)
    parts: list[NDArray[np.float64]] = []
    origin, n_before = "", 0
    for batch in source.batches([name]):
        n_before = n_before if batch.origin == origin else 0
        origin = batch.origin
        try:
            part = as_numbers(as_table(batch.frame).native(name), text, n_before)
            check_finite(part, text, n_before)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{origin}: {error}") from None
        parts.append(part)
        n_before += part.size
        progress.add(part.size)
    if not parts:
        raise InputError(
            f"Found array with 0 sample(s) while a minimum of 1 is required: X has no records ({source.name})"
        )
    return np.concatenate(parts)


def _weighted(source: Source, text: str, values: NDArray[np.float64]) -> Weighted:
    try:
        return weighted_records(values, values.size, text)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
