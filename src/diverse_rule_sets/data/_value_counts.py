"""Counts of the values of a numeric or date column by class, in bounded memory.

Values are counted exactly up to a number of pairs of a value and a class. With more, neighbouring values are merged
into groups: the values whose float64 bits (or microseconds) agree without the last few bits. The number of these bits
is the smallest with which the pairs are within the bound, so that the result depends on the counted records only, not
on their order or on how they are divided into batches. Each group has its smallest and largest value and exact counts,
so the counts on both sides of a cut between two groups are exact.

A group of several values that holds more than ``MAX_GROUP_SHARE`` of the records is *coarse*. Its records are counted
again, in a further pass over the table, with fewer bits left out. So a cut point of a summary is at most this share of
the records away from any other cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.weights import sums_by

Keys = NDArray[np.uint64]
# Maximum number of pairs of a value and a class of one column; fewer in wide tables, so that all columns fit in memory.
MAX_PAIRS, MAX_ALL_PAIRS, MIN_PAIRS = 2**18, 2**23, 2**14
# A group of several values with a larger share of the records is divided.
MAX_GROUP_SHARE = 1 / 1024
_SIGN = np.uint64(1 << 63)


def pairs_for(n_columns: int) -> int:
    """Return the maximum number of pairs of a column in a table with so many columns."""
    return max(MIN_PAIRS, min(MAX_PAIRS, MAX_ALL_PAIRS // max(n_columns, 1)))


def as_keys(values: NDArray[Any]) -> Keys:
    """Return float64 numbers or dates in microseconds as unsigned integers of the same order; equal values are equal.

    Examples
    --------
    >>> keys = as_keys(np.array([-1.5, -0.0, 0.0, 2.0]))
    >>> bool((keys[1:] >= keys[:-1]).all()), bool(keys[1] == keys[2])
    (True, True)
    """
    if values.dtype.kind == "M":
        return values.view(np.uint64) ^ _SIGN
    keys = (values + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    turned = (keys.view(np.int64) >> 63).view(np.uint64)  # all bits of a negative number, none of another one
    turned |= _SIGN
    keys ^= turned
    return keys


def from_keys(keys: Keys, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the values of keys."""
    if dtype.kind == "M":
        return (keys ^ _SIGN).view(dtype)
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


class Groups(NamedTuple):
    """Groups of neighbouring values, ascending: the smallest and largest key, and the number of records of each."""

    low: Keys
    high: Keys
    counts: NDArray[Any]


_EMPTY = Groups(np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.int64))


class GroupRows(NamedTuple):
    """A row for each group and each class that occurs in it.

    Parameters
    ----------
    low, high : smallest and largest key of the group, of all classes
    classes : the class
    counts : number of records of this class in the group, or their weight
    """

    low: Keys
    high: Keys
    classes: Integers
    counts: NDArray[Any]

    def take(self, rows: NDArray[Any]) -> GroupRows:
        """Return some of the rows."""
        return GroupRows(self.low[rows], self.high[rows], self.classes[rows], self.counts[rows])


class ValueCounts:
    """Counts the values of a column by class.

    Parameters
    ----------
    max_pairs : maximum number of pairs of a group and a class
    ranges : the keys to count, as groups whose lowest and highest key matter; None for all
    whole : the counts of all records of the column, if these are counts of coarse groups
    """

    def __init__(self, max_pairs: int, ranges: Groups | None = None, whole: ValueCounts | None = None) -> None:
        self._max_pairs, self._ranges = max_pairs, ranges
        self._whole = self if whole is None else whole
        self._by_class: dict[int, Groups] = {}
        self._finer: ValueCounts | None = None  # counts of the coarse groups
        self.shift = 0  # number of last bits that are left out
        self.n_records: float = 0

    def add(self, keys: Keys, classes: Integers, weights: NDArray[Any] | None = None) -> None:
        """Count records: the key of each one's value, its class, and its weight; by default each counts once."""
        if self._ranges is not None:
            inside = _within(keys, self._ranges)
            keys, classes, weights = keys[inside], classes[inside], None if weights is None else weights[inside]
        self.n_records += keys.size if weights is None else weights.sum().item()
        for label in np.flatnonzero(np.bincount(classes)).tolist():
            own = classes == label
            if weights is None:
                values, counts = _counted(keys[own])
            else:
                values, which = np.unique(keys[own], return_inverse=True)
                counts = sums_by(which.reshape(-1), values.size, weights[own])
            self._merge(label, Groups(values, values, counts))
        self._coarsen()

    def merge(self, other: ValueCounts, labels: Integers) -> None:
        """Add the counts of other records; ``labels`` has the class that each of their classes has here.

        Coarse groups of a part are at most as coarse as those of the whole, because the whole has no fewer pairs.
        """
        self.n_records += other.n_records
        if other.shift > self.shift:
            self.shift = other.shift
            self._by_class = {label: _merged([groups], self.shift) for label, groups in self._by_class.items()}
        for label, groups in other._by_class.items():
            self._merge(int(labels[label]), groups)
        self._coarsen()

    def for_part(self) -> ValueCounts:
        """Return counts without records, for a part of the records; they count the same groups."""
        return ValueCounts(self._max_pairs, self._ranges)

    def _merge(self, label: int, new: Groups) -> None:
        before, new = self._by_class.get(label, _EMPTY), _joined(new, self.shift)
        self._by_class[label] = _with_groups(before, new, self.shift) if before.low.size else new

    def _coarsen(self) -> None:
        """Leave out as many bits as needed, and no more."""
        if sum(groups.low.size for groups in self._by_class.values()) <= self._max_pairs:
            return
        low, high = self.shift, 64  # too many pairs with `low`, few enough with `high`
        while high - low > 1:
            middle = (low + high) // 2
            n_pairs = sum(_n_groups(groups.low, middle) for groups in self._by_class.values())
            low, high = (low, middle) if n_pairs <= self._max_pairs else (middle, high)
        self.shift = high
        self._by_class = {label: _merged([groups], high) for label, groups in self._by_class.items()}

    def coarse(self) -> Groups:
        """Return the groups of several values with too many records; none if all values are counted exactly."""
        if not self.shift:
            return _EMPTY
        every = _merged(list(self._by_class.values()), self.shift)
        flags = (every.low < every.high) & (every.counts > MAX_GROUP_SHARE * self._whole.n_records)
        return Groups(every.low[flags], every.high[flags], every.counts[flags])

    def finer(self) -> ValueCounts | None:
        """Return counts for a further pass over the same records, for the coarse groups; None if there are none."""
        if self._finer is None:
            coarse = self.coarse()
            self._finer = ValueCounts(self._max_pairs, coarse, self._whole) if coarse.low.size else None
            return self._finer
        return self._finer.finer() if self._finer.shift < self.shift else None

    def rows(self) -> GroupRows:
        """Return all groups by class, sorted by value."""
        every = _merged(list(self._by_class.values()), self.shift)
        label = np.repeat(list(self._by_class), [groups.low.size for groups in self._by_class.values()]).astype(
            np.int64
        )
        low = np.concatenate([groups.low for groups in self._by_class.values()] or [_EMPTY.low])
        counts = np.concatenate([groups.counts for groups in self._by_class.values()] or [_EMPTY.counts])
        group = np.searchsorted(every.low, low, side="right") - 1
        rows = GroupRows(every.low[group], every.high[group], label, counts)
        if self._finer is not None and self._finer._by_class:
            kept = ~_within(rows.low, self.coarse())
            parts = [rows.take(kept), self._finer.rows()]
            rows = GroupRows._make(np.concatenate(both) for both in zip(*parts, strict=True))
        return rows.take(np.lexsort([rows.classes, rows.low]))


def _counted(keys: Keys) -> tuple[Keys, Integers]:
    """Return the distinct keys, ascending, and how often each occurs; the keys are sorted in place."""
    keys.sort()
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[starts], np.diff(starts, append=keys.size)


def _merged(parts: list[Groups], shift: int) -> Groups:
    """Return groups of which those with the same first bits are merged."""
    if len(parts) == 1:  # sorted already
        return _joined(parts[0], shift)
    low, high, counts = (np.concatenate(columns) for columns in zip(*(parts or [_EMPTY]), strict=True))
    if not low.size:
        return _EMPTY
    order = np.argsort(low, kind="stable")  # merges sorted parts fast
    return _joined(Groups(low[order], high[order], counts[order]), shift)


def _joined(groups: Groups, shift: int) -> Groups:
    """Return sorted groups of which those with the same first bits are merged."""
    low, high, counts = groups
    if not low.size:
        return groups
    starts = np.flatnonzero(np.append(True, _differ(low, shift)))
    if starts.size == low.size:
        return groups
    return Groups(low[starts], np.maximum.reduceat(high, starts), np.add.reduceat(counts, starts))


def _with_groups(before: Groups, new: Groups, shift: int) -> Groups:
    """Return groups with others added; both are sorted, and most of the others are among the first."""
    if shift >= 64:
        return _merged([before, new], shift)
    bits, new_bits = before.low >> np.uint64(shift), new.low >> np.uint64(shift)
    position = np.searchsorted(bits, new_bits)
    known = bits[np.minimum(position, bits.size - 1)] == new_bits
    at, low, high, counts = position[known], before.low.copy(), before.high.copy(), before.counts.copy()
    low[at], high[at] = np.minimum(low[at], new.low[known]), np.maximum(high[at], new.high[known])
    counts[at] += new.counts[known]
    if known.all():
        return Groups(low, high, counts)
    pairs = zip((low, high, counts), new, strict=True)
    return Groups(*(np.insert(old, position[~known], one[~known]) for old, one in pairs))


def _differ(low: Keys, shift: int) -> NDArray[np.bool_]:
    """Return whether each key but the first differs from the one before it without the last bits."""
    if shift >= 64:
        return np.zeros(max(low.size - 1, 0), np.bool_)
    bits = low >> np.uint64(shift)
    return np.asarray(bits[1:] != bits[:-1])


def _n_groups(low: Keys, shift: int) -> int:
    return int(low.size > 0) + int(np.count_nonzero(_differ(low, shift)))


def _within(keys: Keys, ranges: Groups) -> NDArray[np.bool_]:
    """Return which keys lie in one of several ranges."""
    if not ranges.low.size:
        return np.zeros(keys.size, np.bool_)
    position = np.searchsorted(ranges.low, keys, side="right") - 1
    return np.asarray((position >= 0) & (keys <= ranges.high[position]))
