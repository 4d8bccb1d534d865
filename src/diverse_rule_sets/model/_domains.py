"""What is known about the values of a column in training, so that :meth:`RuleSet.why` names values that exist."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import EMPTY, Column
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER, identity

# Maximum number of values that a domain lists.
MAX_VALUES = 256
# One day, in the microseconds of date columns.
DAY = 24 * 3600 * 10**6


@dataclass(frozen=True)
class Domain:
    """The values of a column in training.

    Parameters
    ----------
    values : the different values of a column of text, booleans or categories, in the order of the column; if there are
        too many, the most frequent. None for a column of numbers or dates
    whole : whether all values of a column of numbers were whole numbers, or all values of a column of dates were dates
        without a time of day
    """

    values: tuple[Any, ...] | None = None
    whole: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether `values` are all values of the column."""
        return self.values is not None and len(self.values) < MAX_VALUES

    def __contains__(self, value: Any) -> bool:
        return not self.is_complete or identity(value) in self._identities

    @cached_property
    def _identities(self) -> frozenset[Any]:
        return frozenset(map(identity, self.values or ()))

    def union(self, other: Domain) -> Domain:
        """Return the values of both domains."""
        if self.values is None or other.values is None:
            return Domain(whole=self.whole and other.whole)
        values = {identity(value): value for value in (*self.values, *other.values)}
        return Domain(tuple(values.values())[:MAX_VALUES])


def domain_of(column: Column) -> Domain:
    """Return what is known about the values of a column of training records."""
    if column.kind == EMPTY:
        return Domain()
    if column.kind in (DATE, INSTANT):
        known = column.values[~column.missing].astype(np.int64)
        return Domain(whole=_all_multiples(known, DAY))
    if column.kind == NUMBER:
        return Domain(whole=_all_multiples(column.values[~column.missing], 1))
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.categories))
    present = np.flatnonzero(counts)
    if present.size > MAX_VALUES:
        present = np.sort(present[np.argsort(-counts[present], kind="stable")[:MAX_VALUES]])
    return Domain(tuple(column.categories[k] for k in present.tolist()))


def _all_multiples(values: NDArray[Any], unit: int) -> bool:
    """Return whether all values are multiples of a unit; the first ones are tried first, because few are needed."""
    finite = values[np.isfinite(values)]
    return not (finite[:100] % unit).any() and not (finite % unit).any()
