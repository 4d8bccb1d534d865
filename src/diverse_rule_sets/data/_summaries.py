"""Summaries of columns: what conditions are learnt from, without the records.

A summary counts the values of a column by class, batch by batch. It is exact for columns of up to
:data:`~diverse_rule_sets.data._value_counts.MAX_PAIRS` different values, and depends on the records only, not on their
order or on how they are divided into batches. Tables in memory use the same summaries for larger columns, so that a
table gives the same conditions however it is read.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.columns import EMPTY, Column, categorical, empty_column, values_text
from diverse_rule_sets._input.values import BOOLEAN, DATE, INSTANT, NUMBER
from diverse_rule_sets._input.weights import sums_by
from diverse_rule_sets.data._categories import CategoryTotals
from diverse_rule_sets.data._category_counts import MAX_VALUES, CategoryCounts
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._value_counts import ValueCounts, as_keys, from_keys
from diverse_rule_sets.model._domains import Domain, domain_of

ORDERED = (NUMBER, DATE, INSTANT)


class Summarised(NamedTuple):
    """The groups of a column: a row for each value, or group of neighbouring values, and class.

    Parameters
    ----------
    column : the value of each row; missing values are rows as well
    target : the class of each row, and its number of records
    domain : what is known about the values
    totals : the size of a column of which not all categories are listed
    exact : whether all values are listed
    """

    column: Column
    target: Target
    domain: Domain
    totals: CategoryTotals | None = None
    exact: bool = True


class ColumnSummary:
    """Counts the values of one column, batch by batch.

    Parameters
    ----------
    name : the column
    max_pairs : maximum number of pairs of a value and a class of a column of numbers or dates
    max_values : maximum number of categories
    """

    def __init__(self, name: Hashable, max_pairs: int, max_values: int = MAX_VALUES) -> None:
        self.name = name
        self.column = empty_column(name, 0)  # the type of the column, from the batches so far
        self.origin = ""  # where the type comes from, for errors
        self._max_pairs, self._max_values = max_pairs, max_values
        self._missing: NDArray[Any] = np.zeros(0, np.int64)  # number of records of each class
        self._domain: Domain | None = None
        self._dtype = np.dtype(np.float64)
        self._values: ValueCounts | None = None
        self._categories: CategoryCounts | None = None
        self._n_passes = 1

    def add(self, column: Column, classes: Integers, origin: str = "", counts: NDArray[Any] | None = None) -> None:
        """Count the records of a batch.

        Parameters
        ----------
        column, classes : the values and classes of the records
        origin : the file or batch, for errors
        counts : the weights of the records; None if each counts once

        Raises
        ------
        ValueError : if the column has another type than in earlier batches
        """
        missing = column.missing
        known = ~missing
        own = None if counts is None else counts[known]
        counted = sums_by(classes[missing], self._missing.size, None if counts is None else counts[missing])
        self._missing = counted + np.pad(self._missing, (0, counted.size - self._missing.size))
        if missing.all():
            self._settle_empty(column, origin)
            return
        self._settle(column, origin)
        if column.kind in ORDERED:
            domain = domain_of(column)
            self._domain = domain if self._domain is None else self._domain.union(domain)
            self._dtype = column.values.dtype
            self._values = self._values or ValueCounts(self._max_pairs)
            if known.all():  # without copies
                self._values.add(as_keys(column.values), classes, counts)
            else:
                self._values.add(as_keys(column.values[known]), classes[known], own)
        else:
            self._categories = self._categories or CategoryCounts(self._max_values)
            self._categories.add(*_counted(column, classes, own))

    def merge(self, other: ColumnSummary, labels: Integers) -> None:
        """Add the summary of later records; ``labels`` has the class that each of their classes has here."""
        size = int(labels[: other._missing.size].max(initial=-1)) + 1
        missing = np.zeros(max(size, self._missing.size), np.result_type(self._missing, other._missing))
        missing[: self._missing.size] = self._missing
        missing[labels[: other._missing.size]] += other._missing
        self._missing = missing
        if not other.origin:
            self._settle_empty(other.column, "")
        else:
            self._settle(other.column, other.origin)
        if other._domain is not None:
            self._domain = other._domain if self._domain is None else self._domain.union(other._domain)
            self._dtype = other._dtype
        if other._values is not None:
            self._values = self._values or other._values.for_part()
            self._values.merge(other._values, labels)
        if other._categories is not None:
            self._categories = self._categories or other._categories.for_part()
            self._categories.merge(other._categories, labels)

    def for_part(self) -> ColumnSummary:
        """Return a summary without records, for a part of the records; it counts the same values."""
        summary = ColumnSummary(self.name, self._max_pairs, self._max_values)
        summary._values = None if self._values is None else self._values.for_part()
        summary._categories = None if self._categories is None else self._categories.for_part()
        return summary

    def finer(self) -> ColumnSummary | None:
        """Return a summary for a further pass over the records, which makes this one finer; None if it needs none."""
        counts = self._values or self._categories
        finer = None if counts is None or self._n_passes > 64 else counts.finer()
        if finer is None:
            return None
        self._n_passes += 1
        further = ColumnSummary(self.name, self._max_pairs, self._max_values)
        if isinstance(finer, ValueCounts):
            further._values = finer
        else:
            further._categories = finer
        return further

    def _settle_empty(self, column: Column, origin: str) -> None:
        """Remember the type of a batch without values, in case no batch has any."""
        if self.column.kind == EMPTY and not self.origin:
            self.column = replace(column, values=column.values[:0])

    def _settle(self, column: Column, origin: str) -> None:
        """Remember the type of the column; raise an error if it differs from that of earlier batches."""
        before = self.column
        own = replace(column, values=column.values[:0], categories=(), lows=None)
        if not self.origin:
            self.column, self.origin = own, origin or "the first records"
            return
        if column.kind != before.kind:
            raise ValueError(
                f"{origin}: column {self.name!r} holds {values_text(column.kind)}, but {values_text(before.kind)} in "
                f"{self.origin}; expected one type"
            )
        if column.order != before.order:
            raise ValueError(
                f"{origin}: column {self.name!r} has the ordered categories {_listed(column)}, but {_listed(before)} "
                f"in {self.origin}; expected the same order"
            )
        rounded, booleans = before.rounded or column.rounded, before.booleans or column.booleans
        self.column = replace(before, rounded=rounded, booleans=booleans)

    def finish(self, classes: Integers, weights: np.ndarray) -> Summarised:
        """Return the groups.

        Parameters
        ----------
        classes : the final number of each class
        weights : the weight of each class, by final number
        """
        labels = np.flatnonzero(self._missing)
        n_missing = self._missing[labels]
        if self._values is not None:
            rows = self._values.rows()
            high, low = (from_keys(keys, self._dtype) for keys in (rows.high, rows.low))
            none = np.full(labels.size, np.datetime64("NaT", "us") if self._dtype.kind == "M" else np.nan, self._dtype)
            column = replace(self.column, values=np.append(high, none), lows=np.append(low, none))
            target = Target(classes[np.append(rows.classes, labels)], weights, np.append(rows.counts, n_missing))
            assert self._domain is not None
            return Summarised(column, target, self._domain, exact=not self._values.shift)
        if self._categories is None:
            column = replace(self.column, values=_missing_values(self.column, labels.size))
            return Summarised(column, Target(classes[labels], weights, n_missing), domain_of(column))
        values, counts = self._categories.rows(classes.size)
        which, label = np.nonzero(counts)
        codes = np.append(which, np.full(labels.size, -1)).astype(np.int32)
        column = self._column_of_categories(values, codes)
        numbers = np.append(counts[which, label], n_missing)
        totals = self._categories.totals()
        target = Target(classes[np.append(label, labels)], weights, numbers)
        return Summarised(column, target, domain_of(column, numbers), totals, totals is None)

    def _column_of_categories(self, values: list[Any], codes: np.ndarray) -> Column:
        """Return the column of the counted categories, as it would be read as a whole."""
        own = self.column
        if own.kind == BOOLEAN:
            codes = np.array([*map(int, values), -1], np.int32)[codes]
            return replace(own, values=codes, categories=(False, True))
        if own.order:
            rank = {value: k for k, value in enumerate(own.order)}
            order = sorted(range(len(values)), key=lambda k: rank[values[k]])
            position = np.empty(len(values) + 1, np.int32)
            position[order], position[-1] = np.arange(len(values)), -1
            return replace(own, values=position[codes], categories=tuple(values[k] for k in order))
        found = categorical(self.name, values, codes, kind=own.kind)
        return replace(own, values=found.values, categories=found.categories)


def _missing_values(column: Column, n: int) -> np.ndarray:
    """Return missing values of the type of a column."""
    if column.kind in ORDERED:
        return np.full(n, np.nan).astype(column.values.dtype) if column.kind == NUMBER else np.full(n, "NaT", "M8[us]")
    return np.full(n, -1, np.int32)


def _counted(column: Column, classes: Integers, own: NDArray[Any] | None) -> tuple[list[object], NDArray[Any]]:
    """Return the values of a column of categories, and an array (n_values, n_classes) of their numbers of records.

    ``own`` are the weights of the records that are not missing; None if each counts once.
    """
    known = column.values >= 0
    n_classes = int(classes.max(initial=0)) + 1
    n_values = len(column.categories)
    flat = sums_by(column.values[known] * np.int64(n_classes) + classes[known], n_values * n_classes, own)
    counts = flat.reshape(n_values, n_classes)
    present = np.flatnonzero(counts.any(axis=1))
    return [column.categories[k] for k in present.tolist()], counts[present]


def _listed(column: Column) -> str:
    return ", ".join(map(repr, column.order[:5])) + (", ..." if len(column.order) > 5 else "") or "without an order"


def summarised(column: Column, target: Target, max_pairs: int) -> Summarised:
    """Return the groups of a column in memory; small columns are their own summary, each record a group."""
    large = target.n_records > max_pairs if column.kind in ORDERED else len(column.categories) > MAX_VALUES
    if not large:
        return Summarised(column, target, domain_of(column, target.counts))
    summary = ColumnSummary(column.name, max_pairs)
    summary.add(column, target.codes, counts=target.counts)
    finer = summary.finer()
    while finer is not None:
        finer.add(column, target.codes, counts=target.counts)
        finer = summary.finer()
    return summary.finish(np.arange(target.weights.size), target.weights)
