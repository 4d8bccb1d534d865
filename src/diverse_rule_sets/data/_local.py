"""All records in the memory of this process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import Flags, Integers, Lists, Words


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
        self.class_masks = np.stack([bitset.pack(y == label) for label in range(n_classes)])

    def taken(self, records: Integers) -> LocalBackend:
        """Return the same of some of the records only; all items stay, some perhaps empty."""
        rows = [bitset.pack(bitset.unpack(row, self.n_records)[records]) for row in self.rows]
        packed = np.array(rows, np.uint64).reshape(self.n_items, bitset.n_words(records.size))
        return LocalBackend(packed, self.y[records], self.n_classes, self.n_threads)

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
        return bitset.popcount(self.class_masks)

    @cached_property
    def sizes(self) -> NDArray[np.int32]:
        """How many items hold for each record."""
        sizes = np.zeros(self.n_records, np.int32)
        for row in self.rows:
            sizes += bitset.unpack(row, self.n_records)
        return sizes

    @cached_property
    def kinds(self) -> Integers:
        """A number for each record, the same for records with the same items."""
        octets = np.empty((self.n_records, -(-self.n_items // 8)), np.uint8)
        step = 64 * 256  # records unpacked at a time
        for begin in range(0, self.n_records, step):
            end = min(begin + step, self.n_records)
            words = np.ascontiguousarray(self.rows[:, begin // 64 : bitset.n_words(end)])
            octets[begin:end] = np.packbits(bitset.unpack(words, end - begin).T, axis=1)
        whole = octets.view(np.dtype((np.void, octets.shape[1]))).reshape(-1)
        return np.unique(whole, return_inverse=True)[1].reshape(-1)

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
        return bitset.count(self.rows, bodies, self.class_masks, self.n_threads)

    def shared(self, bodies: Lists, covers: Words) -> Integers:
        """Count the records under each body that lie in each of the given covers."""
        return bitset.count(self.rows, bodies, covers, self.n_threads)

    def cover(self, body: NDArray[np.int32]) -> Words:
        """Return which records a body covers, as a bit row; an empty body covers all."""
        return bitset.conjunction(self.rows, body) if body.size else self.everything

    def extended(self, bodies: Sequence[tuple[int, ...]], marked: Words) -> Integers:
        """Count the records of each body where each item holds, by class and, last, the marked ones.

        Returns an array (n_classes + 1, n_bodies, n_items + 1), whose last entries are of the bodies themselves.
        """
        by_class = self._by_class
        covers = by_class.covers(bodies)
        out = np.empty((self.n_classes + 1, len(bodies), self.n_items + 1), np.int64)
        out[:-1] = bitset.count_segments(by_class.rows, covers, by_class.starts, self.n_threads)
        whole = np.array([0, by_class.n_words])
        covers &= by_class.arranged_marks(marked)
        out[-1] = bitset.count_segments(by_class.rows, covers, whole, self.n_threads)[0] if covers.any() else 0
        return out

    @cached_property
    def _by_class(self) -> _ByClass:
        return _ByClass(self.rows, self.y, self.class_totals)

    def class_counts(self, cover: Words) -> Integers:
        """Count the records of each class in a cover."""
        return bitset.popcount(self.class_masks & cover)

    def flags(self, cover: Words) -> Flags:
        """Return a cover as one truth value per record."""
        return bitset.unpack(cover, self.n_records)

    def items_of(self, records: Integers) -> Lists:
        """List the items that hold for each of the records."""
        return bitset.members_of(self.rows, records, self.sizes[records])

    def contained(self, bodies: Lists, records: Integers) -> Flags:
        """Tell whether the j-th body covers the j-th record."""
        return bitset.all_set(self.rows, bodies, records)


class _ByClass:
    """The bit rows with the records of each class together, from a word of their own on.

    To count by class is then to count by stretches of words: once over a row, however many classes there are.

    Parameters
    ----------
    rows, y : as for :class:`LocalBackend`
    class_totals : records of each class
    """

    def __init__(self, rows: Words, y: Integers, class_totals: Integers) -> None:
        self.starts = np.zeros(class_totals.size + 1, np.int64)
        np.cumsum([bitset.n_words(int(n)) for n in class_totals], out=self.starts[1:])
        before = np.cumsum(class_totals) - class_totals
        order = np.argsort(y, kind="stable")
        self._n_records = y.size
        self._marks: tuple[Words, Words] | None = None
        self._where = np.empty(y.size, np.int64)  # the new place of each record
        self._where[order] = np.arange(y.size) + np.repeat(64 * self.starts[:-1] - before, class_totals)
        self.rows = np.empty((rows.shape[0] + 1, self.n_words), np.uint64)
        for old, new in zip(rows, self.rows, strict=False):
            new[:] = self.arranged(old)
        self.rows[-1] = self.arranged(bitset.pack(np.ones(y.size, np.bool_)))  # no item: every record

    @property
    def n_words(self) -> int:
        return int(self.starts[-1])

    def covers(self, bodies: Sequence[tuple[int, ...]]) -> Words:
        """Return which records each body covers; bodies of one length are worked on together."""
        out = np.empty((len(bodies), self.n_words), np.uint64)
        by_length: dict[int, list[int]] = {}
        for place, body in enumerate(bodies):
            by_length.setdefault(len(body), []).append(place)
        for length, places in by_length.items():
            items = np.array([bodies[place] for place in places]) if length else np.full((len(places), 1), -1)
            out[places] = np.bitwise_and.reduce(self.rows[items], axis=1)
        return out

    def arranged_marks(self, marked: Words) -> Words:
        """Return the same of a row that is asked for many times in a row."""
        if self._marks is None or not np.array_equal(self._marks[0], marked):
            self._marks = marked.copy(), self.arranged(marked)
        return self._marks[1]

    def arranged(self, row: Words) -> Words:
        """Return a bit row with the records of each class together."""
        flags = np.zeros(64 * self.n_words, np.bool_)
        flags[self._where] = bitset.unpack(row, self._n_records)
        return bitset.pack(flags)
