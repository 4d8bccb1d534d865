"""Bit rows with the records sorted by class, so that one pass over a row counts it for every class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import BitRows, Integers, Lists
from diverse_rule_sets._bits.mapped import is_released, release
from diverse_rule_sets._bits.sorting import WordSorter, complements
from diverse_rule_sets.data._backend import Body

# Rows that are mapped from a file are released after so many rows are read.
_RELEASED = 32


class ByClass:
    """The bit rows with the records sorted by class; each class starts at a new word.

    The counts of all classes are then the counts of consecutive segments of words. Of two items that hold for opposite
    records, such as ``x <= 3`` and ``x > 3``, only the first is stored: the counts of the second are those of all
    records of a body, less those of the first, less those of the item for missing values.

    Parameters
    ----------
    rows : array (n_items, n_words), the bit row of each item over the records in their order
    class_masks : array (n_classes, n_words), the records of each class
    n_threads : number of threads; no result depends on it
    """

    def __init__(self, rows: BitRows, class_masks: BitRows, n_threads: int) -> None:
        self._n_items, self._n_threads = rows.shape[0], n_threads
        self._sorter = WordSorter(class_masks)
        self.starts = self._sorter.starts
        every = np.bitwise_or.reduce(class_masks, axis=0)
        self._first, self._missing = complements(rows, every)
        self._stored = np.flatnonzero(self._first < 0)
        self._derived = np.flatnonzero(self._first >= 0)
        self._place = np.full(self._n_items + 1, -1, np.int64)  # where the row of each item is stored
        self._place[self._stored], self._place[-1] = np.arange(self._stored.size), self._stored.size
        self.rows = np.zeros((self._stored.size + 1, self.n_words), np.uint64)
        step = _RELEASED if is_released(rows) else max(self._stored.size, 1)
        for begin in range(0, self._stored.size, step):
            some = self._stored[begin : begin + step]
            self._sorter.sort(rows, some, self.rows[begin : begin + some.size], n_threads)
            release(rows)
        self._sorter.sort(every[None], np.zeros(1, np.int64), self.rows[-1:])  # without an item: every record
        self._last: tuple[Any, BitRows] | None = None

    @property
    def n_words(self) -> int:
        """Number of words of a row."""
        return int(self.starts[-1])

    def covers(self, bodies: Sequence[Body]) -> BitRows:
        """Return the records that each body covers as bit rows; bodies of one length are processed together."""
        out = np.empty((len(bodies), self.n_words), np.uint64)
        by_length: dict[int, list[int]] = {}
        for number, body in enumerate(bodies):
            by_length.setdefault(len(body), []).append(number)
        for length, numbers in by_length.items():
            items = np.array([bodies[j] for j in numbers]) if length else np.full((len(numbers), 1), self._n_items)
            if not self._derived.size:
                out[numbers] = np.bitwise_and.reduce(self.rows[items], axis=1)
                continue
            out[numbers] = self._rows_of(items[:, 0])
            for k in range(1, items.shape[1]):
                out[numbers] &= self._rows_of(items[:, k])
        return out

    def _rows_of(self, items: Integers) -> BitRows:
        """Return the rows of some items; the last number stands for every record."""
        place = self._place[items]
        found = self.rows[place]
        for j in np.flatnonzero(place < 0).tolist():
            first, missing = int(self._first[items[j]]), int(self._missing[items[j]])
            found[j] = self.rows[-1] & ~self.rows[self._place[first]]
            if missing >= 0:
                found[j] &= ~self.rows[self._place[missing]]
        return found

    def arranged(self, cover: Any) -> BitRows:
        """Return a cover with the records sorted by class; the last result is kept for repeated calls."""
        if self._last is None or self._last[0] is not cover:
            out = np.zeros((1, self.n_words), np.uint64)
            self._sorter.sort(cover.words[None], np.zeros(1, np.int64), out)
            self._last = cover, out[0]
        return self._last[1]

    def count(self, covers: BitRows) -> Integers:
        """Count the records of sorted covers with each item, by class: array (n_classes, n_covers, n_items + 1)."""
        return self._with_derived(bitset.count_segments(self.rows, covers, self.starts, self._n_threads))

    def count_bodies(self, bodies: Lists) -> Integers | None:
        """Count the records of each body by class; None if some bodies have no items, or if rows are not stored."""
        if self._derived.size or not bodies.lengths.all():
            return None
        return bitset.count_lists_segments(self.rows, bodies, self.starts, self._n_threads)

    def count_all(self, covers: BitRows) -> Integers:
        """Do the same for all classes together: array (n_covers, n_items + 1)."""
        whole = np.array([0, self.n_words])
        return np.asarray(self._with_derived(bitset.count_segments(self.rows, covers, whole, self._n_threads))[0])

    def _with_derived(self, counts: Integers) -> Integers:
        """Return the counts of all items from those of the stored ones, which are the last axis."""
        if not self._derived.size:
            return counts
        out = np.empty((*counts.shape[:-1], self._n_items + 1), np.int64)
        out[..., self._stored], out[..., -1] = counts[..., :-1], counts[..., -1]
        rest = out[..., -1:] - out[..., self._first[self._derived]]
        missing = self._missing[self._derived]
        some = np.flatnonzero(missing >= 0)
        rest[..., some] -= out[..., missing[some]]
        out[..., self._derived] = rest
        return out
