"""All records in the memory of this process."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets import _bitset
from diverse_rule_sets._bitset import Flags, Integers, Lists, Words


class LocalBackend:
    """Packed items and classes of all records.

    Parameters
    ----------
    rows : array (n_items, n_words), the bit row of each item over the records
    y : array (n_records,), the class of each record, from 0
    n_classes : how many classes there are
    n_threads : threads that share the counting; no answer depends on it
    """

    def __init__(self, rows: Words, y: Integers, n_classes: int, n_threads: int = 1) -> None:
        self.rows = rows
        self.y = y
        self.n_threads = n_threads
        self.class_masks = np.stack([_bitset.pack(y == label) for label in range(n_classes)])

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return self.y.size

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.rows.shape[0]

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.class_masks.shape[0]

    @cached_property
    def class_totals(self) -> Integers:
        """How many records each class has."""
        return _bitset.popcount(self.class_masks)

    @cached_property
    def sizes(self) -> NDArray[np.int32]:
        """How many items hold for each record."""
        sizes = np.zeros(self.n_records, np.int32)
        for row in self.rows:
            sizes += _bitset.unpack(row, self.n_records)
        return sizes

    @cached_property
    def kinds(self) -> Integers:
        """A number for each record, the same for records with the same items."""
        octets = np.empty((self.n_records, -(-self.n_items // 8)), np.uint8)
        step = 64 * 256  # records unpacked at a time
        for begin in range(0, self.n_records, step):
            end = min(begin + step, self.n_records)
            words = np.ascontiguousarray(self.rows[:, begin // 64 : _bitset.n_words(end)])
            octets[begin:end] = np.packbits(_bitset.unpack(words, end - begin).T, axis=1)
        whole = octets.view(np.dtype((np.void, octets.shape[1]))).reshape(-1)
        return np.unique(whole, return_inverse=True)[1].reshape(-1)

    @cached_property
    def _single_items(self) -> Lists:
        return Lists(np.arange(self.n_items + 1, dtype=np.int64), np.arange(self.n_items, dtype=np.int32))

    @cached_property
    def everything(self) -> Words:
        """A cover with all records."""
        return np.bitwise_or.reduce(self.class_masks, axis=0)

    @property
    def nothing(self) -> Words:
        """A cover without any record."""
        return np.zeros(self.rows.shape[1], np.uint64)

    def class_counts_of(self, bodies: Lists) -> Integers:
        """Count the records of each class under each body."""
        return _bitset.count(self.rows, bodies, self.class_masks, self.n_threads)

    def shared(self, bodies: Lists, covers: Words) -> Integers:
        """Count the records under each body that lie in each of the given covers."""
        return _bitset.count(self.rows, bodies, covers, self.n_threads)

    def cover(self, body: NDArray[np.int32]) -> Words:
        """Return which records a body covers, as a bit row; an empty body covers all."""
        return _bitset.conjunction(self.rows, body) if body.size else self.everything

    def extended(self, covers: Words, marked: Words) -> Integers:
        """Count the records of each cover where each item holds, by class and, last, the marked ones.

        Returns an array (n_classes + 1, n_covers, n_items).
        """
        masks = (covers[:, None, :] & self._kinds_of_record(marked)).reshape(-1, covers.shape[1])
        counts = _bitset.count(self.rows, self._single_items, masks, self.n_threads)
        counts = counts.reshape(self.n_items, covers.shape[0], self.n_classes + 1)
        return np.ascontiguousarray(counts.transpose(2, 1, 0))

    def counted(self, covers: Words, marked: Words) -> Integers:
        """Count the records of each cover by class and, last, the marked ones: (n_classes + 1, n_covers)."""
        return _bitset.popcount(self._kinds_of_record(marked)[:, None, :] & covers)

    def _kinds_of_record(self, marked: Words) -> Words:
        return np.vstack([self.class_masks, marked])

    def class_counts(self, cover: Words) -> Integers:
        """Count the records of each class in a cover."""
        return _bitset.popcount(self.class_masks & cover)

    def flags(self, cover: Words) -> Flags:
        """Return a cover as one truth value per record."""
        return _bitset.unpack(cover, self.n_records)

    def items_of(self, records: Integers) -> Lists:
        """List the items that hold for each of the records."""
        return _bitset.members_of(self.rows, records, self.sizes[records])

    def contained(self, bodies: Lists, records: Integers) -> Flags:
        """Tell whether the j-th body covers the j-th record."""
        return _bitset.all_set(self.rows, bodies, records)
