"""Counts of the values of a column of categories by class, in bounded memory.

Up to ``MAX_VALUES`` different values, all are counted. With more, only a sample of them: those whose hash begins with
some zero bits, as many as are needed for the bound. Beside it, the records of each of ``_N_BUCKETS`` buckets of hashes
are counted; in a further pass over the table, all values of the largest buckets are counted. So all values that occur
more often than the records of the largest bucket that is left out are counted exactly. The result depends on the
counted records only, not on their order or on how they are divided into batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.values import identity
from diverse_rule_sets.data._categories import CategoryTotals, totals_of

# Maximum number of values of a column that are all counted.
MAX_VALUES = 2**17
_N_BUCKETS = 2**16
# Number of buckets whose values are counted in a further pass.
_N_FREQUENT = 1024


class CategoryCounts:
    """Counts the values of a column by class.

    Parameters
    ----------
    max_values : maximum number of values that are all counted
    """

    def __init__(self, max_values: int = MAX_VALUES) -> None:
        self._max_values = max_values
        self._values: dict[Hashable, Any] = {}  # by their identity
        self._counts: dict[Hashable, NDArray[Any]] = {}  # by class
        self._buckets: NDArray[np.float64] | None = None  # number of records; None as long as all values are counted
        self._level = 0  # number of first bits of a hash that are zero
        self._frequent: CategoryCounts | None = None
        self._wanted: frozenset[int] | None = None  # the buckets to count; None for all

    def add(self, categories: Sequence[Any], counts: NDArray[Any]) -> None:
        """Count records: different values, and an array (n_values, n_classes) of the number or weight of records."""
        for category, row in zip(categories, counts, strict=True):
            key = identity(category)
            if key not in self._counts and (self._buckets is not None or self._wanted is not None):
                number = _hash(key)
                if self._wanted is not None and number % _N_BUCKETS not in self._wanted:
                    continue
                if self._buckets is not None:
                    self._buckets[number % _N_BUCKETS] += row.sum()
                    if number >> (64 - self._level):
                        continue
            elif self._buckets is not None:
                self._buckets[_hash(key) % _N_BUCKETS] += row.sum()
            self._add(key, category, row)
        self._reduce()

    def merge(self, other: CategoryCounts, labels: NDArray[np.int64]) -> None:
        """Add the counts of other records; ``labels`` has the class that each of their classes has here."""
        if other._buckets is not None:
            own = self._start_buckets() if self._buckets is None else self._buckets
            self._buckets = own + other._buckets
        elif self._buckets is not None:
            for key, row in other._counts.items():
                self._buckets[_hash(key) % _N_BUCKETS] += row.sum()
        self._raise_level(max(self._level, other._level))
        for key, row in other._counts.items():
            if self._level and _hash(key) >> (64 - self._level):
                continue
            by_class = np.zeros(int(labels[: row.size].max(initial=-1)) + 1, row.dtype)
            by_class[labels[: row.size]] = row
            self._add(key, other._values[key], by_class)
        self._reduce()

    def for_part(self) -> CategoryCounts:
        """Return counts without records, for a part of the records; they count the same values."""
        counts = CategoryCounts(self._max_values)
        counts._wanted = self._wanted
        return counts

    def _add(self, key: Hashable, category: Any, row: NDArray[Any]) -> None:
        before = self._counts.get(key)
        if before is None:
            self._values[key], self._counts[key] = category, row.copy()
        elif before.size < row.size:
            self._counts[key] = row + np.pad(before, (0, row.size - before.size))
        else:
            before[: row.size] += row

    def _reduce(self) -> None:
        """Keep a sample of the values if there are too many."""
        if len(self._values) <= self._max_values or self._wanted is not None:
            return
        if self._buckets is None:
            self._buckets = self._start_buckets()
        hashes = {key: _hash(key) for key in self._values}
        level = self._level
        while len(hashes) > self._max_values:
            level += 1
            hashes = {key: number for key, number in hashes.items() if not number >> (64 - level)}
        self._raise_level(level)

    def _start_buckets(self) -> NDArray[np.float64]:
        """Return the number of records of each bucket, of the values so far."""
        buckets = np.zeros(_N_BUCKETS)  # sums are exact up to 2**53
        numbers = np.array([_hash(key) % _N_BUCKETS for key in self._counts], np.int64)
        np.add.at(buckets, numbers, [self._counts[key].sum() for key in self._counts])
        return buckets

    def _raise_level(self, level: int) -> None:
        """Keep the values whose hash begins with so many zero bits."""
        if level > self._level:
            self._level = level
            for key in [key for key in self._values if _hash(key) >> (64 - level)]:
                del self._values[key], self._counts[key]

    def finer(self) -> CategoryCounts | None:
        """Return counts for a further pass over the same records; None if all values are counted."""
        if self._buckets is None or self._frequent is not None:
            return None
        expected = len(self._values) * 2**self._level // _N_BUCKETS + 1  # values in a bucket
        n_buckets = max(16, min(_N_FREQUENT, 2 * self._max_values // expected))
        self._frequent = CategoryCounts(self._max_values)
        self._frequent._wanted = frozenset(np.argsort(-self._buckets, kind="stable")[:n_buckets].tolist())
        return self._frequent

    def rows(self, n_classes: int) -> tuple[list[Any], NDArray[Any]]:
        """Return the counted values, and an array (n_values, n_classes) of their numbers of records."""
        values, counts = dict(self._values), dict(self._counts)
        if self._frequent is not None:
            values |= self._frequent._values
            counts |= self._frequent._counts
        table = np.zeros((len(values), n_classes), next((row.dtype for row in counts.values()), np.dtype(np.int64)))
        for row, key in zip(table, values, strict=True):
            row[: counts[key].size] = counts[key]
        return list(values.values()), table

    def totals(self) -> CategoryTotals | None:
        """Return the size of the column, estimated from the sample; None if all values are counted."""
        if self._buckets is None:
            return None
        of_sample = totals_of(np.array([row.sum() for row in self._counts.values()]))
        found = {} if self._frequent is None else self._frequent._counts
        n_frequent = totals_of(np.array([row.sum() for row in found.values()])).n_frequent
        scale, n_known = 2**self._level, float(self._buckets.sum())
        return CategoryTotals(
            of_sample.n_values * scale, n_known, min(n_known, max(n_frequent, of_sample.n_frequent * scale))
        )


def _hash(key: Hashable) -> int:
    """Return 64 bits that depend on a value only, in any process."""
    text = key if type(key) is str else repr(key)
    return int.from_bytes(hashlib.blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest(), "big")
