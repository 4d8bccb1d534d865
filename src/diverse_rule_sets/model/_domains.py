"""What is known about the values of a column in training, so that :meth:`RuleSet.why` names values that exist."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import EMPTY, Column
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER, identity
from diverse_rule_sets._input.weights import sums_by
from diverse_rule_sets.model._condition_base import Condition

# Maximum number of values that a domain lists.
MAX_VALUES = 256
# One day, in the microseconds of date columns.
DAY = 24 * 3600 * 10**6
# From this number on, float64 does not represent all whole numbers.
_ROUNDED = 2.0**53


@dataclass(frozen=True)
class Domain:
    """The values of a column in training.

    Parameters
    ----------
    values : the different values of a column of text, booleans or categories, in the order of the column; if there are
        too many, the most frequent. None for a column of numbers or dates
    whole : whether all values of a column of numbers were whole numbers, or all values of a column of dates were dates
        without a time of day
    limits : the smallest and the largest value of a column of whole numbers, if they are known; not known if some are
        booleans, which equal no number in a rule of its own
    """

    values: tuple[Any, ...] | None = None
    whole: bool = False
    limits: tuple[int, int] | None = None

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
            limits = None
            if self.limits is not None and other.limits is not None:
                limits = min(self.limits[0], other.limits[0]), max(self.limits[1], other.limits[1])
            return Domain(whole=self.whole and other.whole, limits=limits if self.whole and other.whole else None)
        values = {identity(value): value for value in (*self.values, *other.values)}
        return Domain(tuple(values.values())[:MAX_VALUES])


def used_domains(
    domains: Mapping[Hashable, Domain], conditions: Iterable[Condition]
) -> tuple[tuple[Hashable, Domain], ...]:
    """Return pairs of a column that conditions test and its domain; limits only where a condition tests one number."""
    by_column: dict[Hashable, list[Condition]] = {}
    for condition in conditions:
        by_column.setdefault(condition.column, []).append(condition)
    return tuple(
        (name, domains[name] if any(one.values_named for one in some) else replace(domains[name], limits=None))
        for name, some in by_column.items()
    )


def domain_of(column: Column, counts: NDArray[Any] | None = None) -> Domain:
    """Return what is known about the values of a column of training records.

    ``counts`` is the number of records for which each value of the column stands, or its weight; by default one.
    """
    if column.kind == EMPTY:
        return Domain()
    if column.kind in (DATE, INSTANT):
        known = column.values[~column.missing].astype(np.int64)
        return Domain(whole=_all_multiples(known, DAY))
    if column.kind == NUMBER:
        numbers = column.values[~column.missing]
        whole = _all_multiples(numbers, 1)
        return Domain(whole=whole, limits=_limits(numbers) if whole and not column.booleans else None)
    is_known = column.values >= 0
    counts = sums_by(column.values[is_known], len(column.categories), None if counts is None else counts[is_known])
    present = np.flatnonzero(counts)
    if present.size > MAX_VALUES:
        present = np.sort(present[np.argsort(-counts[present], kind="stable")[:MAX_VALUES]])
    return Domain(tuple(column.categories[k] for k in present.tolist()))


def _limits(values: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return the smallest and the largest whole number; None if there is none, or float64 may have rounded one."""
    if not values.size or np.abs(values).max() >= _ROUNDED:
        return None
    return int(values.min()), int(values.max())


def _all_multiples(values: NDArray[Any], unit: int) -> bool:
    """Return whether all values are multiples of a unit; the first ones are tried first, because few are needed."""
    finite = values[np.isfinite(values)]
    if (finite[:100] % unit).any():
        return False
    if unit == 1:  # faster than the remainder
        return bool((np.floor(finite) == finite).all())
    return not (finite % unit).any()
