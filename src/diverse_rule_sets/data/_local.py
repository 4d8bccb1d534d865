"""The backend of records in the memory of this process, as packed bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers, Lists
from diverse_rule_sets._bits.mapped import is_released, release, with_rows
from diverse_rule_sets._bits.planes import levels_of, sums_as_planes
from diverse_rule_sets._bits.sorting import LONG
from diverse_rule_sets.data._backend import Body, DistinctRecords, Leaders, TooManyRecordsError
from diverse_rule_sets.data._by_class import ByClass

# Number of records whose items are unpacked at a time.
_BLOCK = 64 * 256
# With no more classes, rows are counted under the mask of each class.
_FEW_CLASSES = 2
# Rows that are mapped from a file are released after so many rows are read.
_RELEASED = 32
# The items of so many records are read from mapped rows at a time.
_FEW_POSITIONS = 4


class LocalCover:
    """A set of records as a bit row."""

    __slots__ = ("__dict__", "words")

    def __init__(self, words: BitRows) -> None:
        self.words = words

    @cached_property
    def before(self) -> Integers:
        """Number of records of the cover before each word."""
        sizes = np.bitwise_count(self.words).astype(np.int64)
        return np.cumsum(sizes) - sizes


class LocalBackend:
    """Packed items and classes of all records; a :class:`~diverse_rule_sets.data._backend.Backend`.

    Parameters
    ----------
    rows : array (n_items, n_words), the bit row of each item over the records
    y : array (n_records,), the class of each record, from 0
    n_classes : number of classes
    n_threads : number of threads for counting; no result depends on it
    given : array (n_given, n_words), the bit row of each given condition; none by default
    first_word : number of words of the shards before this one, for fingerprints
    """

    def __init__(
        self,
        rows: BitRows,
        y: Integers,
        n_classes: int,
        n_threads: int = 1,
        given: BitRows | None = None,
        first_word: int = 0,
    ) -> None:
        self._rows = rows
        self._first_word = first_word
        self._y = y
        self._given = given
        self._n_threads = n_threads
        self._class_masks = np.stack([bitset.pack(y == label) for label in range(n_classes)])

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self._y.size

    @property
    def unit(self) -> float:
        """1: records have no weights."""
        return 1.0

    @property
    def by_record(self) -> LocalBackend:
        """The backend itself."""
        return self

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._rows.shape[0]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self._class_masks.shape[0]

    @cached_property
    def class_totals(self) -> Integers:
        """Number of records of each class."""
        return bitset.popcount(self._class_masks)

    # Counts

    def class_counts_of(self, bodies: Lists, within: LocalCover | None = None) -> Integers:
        """Count the records of each class that each body covers, among all records or within a cover."""
        if within is None and self.n_classes > _FEW_CLASSES and self._rows.shape[1] < LONG:
            counts = self._by_class.count_bodies(bodies)  # one pass over a row for all classes
            if counts is not None:
                return counts
        masks = self._class_masks if within is None else self._class_masks & within.words
        return bitset.count(self._rows, bodies, masks, self._n_threads)

    def class_counts(self, cover: LocalCover) -> Integers:
        """Count the records of each class in a cover."""
        return bitset.popcount(self._class_masks & cover.words)

    def shared_counts(self, bodies: Lists, covers: Sequence[LocalCover]) -> Integers:
        """Count the records that each body shares with each cover."""
        masks = np.array([cover.words for cover in covers]).reshape(len(covers), self._rows.shape[1])
        return bitset.count(self._rows, bodies, masks, self._n_threads)

    def sizes_within(self, covers: Sequence[LocalCover], within: LocalCover) -> Integers:
        """Count the records of each cover that lie within another one."""
        return np.array([bitset.popcount(cover.words & within.words) for cover in covers], np.int64)

    def class_counts_within(self, covers: Sequence[LocalCover], within: LocalCover) -> Integers:
        """Count the records of each class of several covers that lie within another one."""
        words = np.array([cover.words for cover in covers], np.uint64).reshape(len(covers), self._rows.shape[1])
        masks, whole = self._class_masks & within.words, np.array([0, self._rows.shape[1]])
        return bitset.count_segments(words, masks, whole, self._n_threads)[0].T

    def extension_counts(self, bodies: Sequence[Body], marked: LocalCover) -> Integers:
        """Count the records of each body with each item added, by class, and how many of them are marked."""
        by_class = self._by_class
        release(self._rows)
        covers = by_class.covers(bodies)
        out = np.empty((self.n_classes + 1, len(bodies), self.n_items + 1), np.int64)
        out[:-1] = by_class.count(covers)
        if marked is self.nothing:
            out[-1] = 0
            return out
        shared = covers & by_class.arranged(marked)
        none, every = ~shared.any(axis=1), (shared == covers).all(axis=1)
        out[-1] = np.where(every[:, None], out[:-1].sum(axis=0), 0)
        some = ~(none | every)
        if some.any():
            out[-1, some] = by_class.count_all(shared[some])
        return out

    def extension_counts_within(self, bodies: Sequence[Body], cover: LocalCover) -> Integers:
        """Count the records of a cover that each body with each item added covers, by class."""
        by_class = self._by_class
        return by_class.count(by_class.covers(bodies) & by_class.arranged(cover))

    @cached_property
    def _by_class(self) -> ByClass:
        return ByClass(self._rows, self._class_masks, self._n_threads)

    def fingerprints(self, bodies: Lists) -> NDArray[np.uint64]:
        """Return a hash of the records that each body covers."""
        return np.array([self.fingerprint(self.cover(body)) for body in bodies.tuples()], np.uint64)

    def fingerprint(self, cover: LocalCover) -> int:
        """Return a hash of the records of a cover."""
        return bitset.checksum(cover.words, self._first_word)

    # Covers

    @cached_property
    def everything(self) -> LocalCover:
        """The cover of all records."""
        return LocalCover(np.bitwise_or.reduce(self._class_masks, axis=0))

    @cached_property
    def nothing(self) -> LocalCover:
        """The cover without records."""
        return LocalCover(np.zeros(self._rows.shape[1], np.uint64))

    def cover(self, body: Body) -> LocalCover:
        """Return the records that a body covers."""
        if len(body) < 2:
            return LocalCover(self._rows[body[0]]) if body else self.everything
        return LocalCover(bitset.conjunction(self._rows, np.array(body, np.int32)))

    def of_class(self, label: int) -> LocalCover:
        """Return the records of a class."""
        return LocalCover(self._class_masks[label])

    def given_cover(self, number: int) -> LocalCover:
        """Return the records for which a given condition holds."""
        if self._given is None:
            raise IndexError(f"number must be that of a given condition, got {number}: there are none")
        return LocalCover(self._given[number])

    def union(self, one: LocalCover, other: LocalCover) -> LocalCover:
        """Return the records that lie in at least one of two covers."""
        return LocalCover(one.words | other.words)

    def intersection(self, one: LocalCover, other: LocalCover) -> LocalCover:
        """Return the records that lie in both covers."""
        return LocalCover(one.words & other.words)

    def difference(self, one: LocalCover, other: LocalCover) -> LocalCover:
        """Return the records of the first cover that do not lie in the second."""
        return LocalCover(one.words & ~other.words)

    def levels(
        self, covers: Sequence[LocalCover], points: Sequence[int], wanted: Sequence[int] | None = None
    ) -> Mapping[int, LocalCover]:
        """Group the records by the sum of the points of the covers in which each record lies."""
        every = self.everything.words
        rows = [cover.words for cover in covers]
        planes, least = sums_as_planes(rows, [int(value) for value in points], every, lambda: release(self._rows))
        found = {least + number: LocalCover(row) for number, row in levels_of(planes, every)}
        if wanted is None:
            return found
        return {level: found.get(level, self.nothing) for level in sorted(wanted)}

    def leaders(self, covers: Sequence[LocalCover], points: Integers, base: Integers) -> Leaders:
        """Group the records by the largest of several sums of points."""
        leader, lead = np.empty(self.n_records, np.int32), np.empty(self.n_records, np.int32)
        for begin in range(0, self.n_records, _BLOCK):
            end = min(begin + _BLOCK, self.n_records)
            sums = np.tile(base.astype(np.int32)[:, None], (1, end - begin))
            for cover, given in zip(covers, points.tolist(), strict=True):
                flags = bitset.unpack(cover.words[begin // 64 : bitset.n_words(end)], end - begin)
                for row, value in zip(sums, given, strict=True):
                    if value:
                        row[flags] += value
            leader[begin:end] = sums.argmax(axis=0)
            largest = np.partition(sums, -2, axis=0)
            lead[begin:end] = largest[-1] - largest[-2]
        of_labels = [LocalCover(bitset.pack(leader == k)) for k in range(base.size)]
        occurs = np.unique(lead).tolist()
        return Leaders(of_labels, {n: LocalCover(bitset.pack(lead == n)) for n in occurs})

    def with_items(self, covers: Sequence[LocalCover]) -> LocalBackend:
        """Return a backend with further items, each of which holds for the records of a cover."""
        rows = with_rows(self._rows, [cover.words for cover in covers])
        return LocalBackend(rows, self._y, self.n_classes, self._n_threads, self._given, self._first_word)

    # Records chosen by position

    def _positions(self, cover: LocalCover, ks: Integers) -> Integers:
        """Return the position of the k-th record of a cover, for each k."""
        return bitset.kth_set(cover.words, cover.before, ks)

    def n_positions(self, cover: LocalCover) -> int:
        """Return the number of records of a cover."""
        return int(bitset.popcount(cover.words))

    def items_at(self, cover: LocalCover, ks: Integers) -> Lists:
        """Return the items of the k-th record of a cover, for each k."""
        positions = self._positions(cover, ks)
        if not is_released(self._rows) or positions.size < 2:
            return bitset.members_of(self._rows, positions)
        parts = []
        for begin in range(0, positions.size, _FEW_POSITIONS):  # each touches a part of every row
            parts.append(bitset.members_of(self._rows, positions[begin : begin + _FEW_POSITIONS]))
            release(self._rows)
        return Lists.concatenate(parts)

    def items_of(self, drawn: Sequence[tuple[LocalCover, Integers]]) -> Lists:
        """Return the items of the records at some positions in several covers, one after the other."""
        return Lists.concatenate([self.items_at(cover, ks) for cover, ks in drawn])

    def classes_at(self, cover: LocalCover, ks: Integers) -> Integers:
        """Return the class of the k-th record of a cover, for each k."""
        return self._y[self._positions(cover, ks)]

    def weights_at(self, cover: LocalCover, ks: Integers) -> NDArray[np.float64]:
        """Return 1 for each k: the weight of the k-th record."""
        return np.ones(ks.size)

    def contain(self, bodies: Lists, cover: LocalCover, ks: Integers) -> Flags:
        """Return whether the j-th body covers the ``ks[j]``-th record of a cover."""
        release(self._rows)
        return bitset.all_set(self._rows, bodies, self._positions(cover, ks))

    def contain_all(self, bodies: Lists, cover: LocalCover, ks: Integers) -> Flags:
        """Return whether each body covers each of the k-th records of a cover."""
        return contain_all(self._rows, bodies, self._positions(cover, ks))

    def pick(self, cover: LocalCover, ks: Integers) -> LocalCover:
        """Return the cover of the k-th records of a cover."""
        flags = np.zeros(self.n_records, np.bool_)
        flags[self._positions(cover, ks)] = True
        return LocalCover(bitset.pack(flags))

    def distinct(self, cover: LocalCover, most: int) -> DistinctRecords:
        """Return the distinct records of a cover; raises TooManyRecordsError if there are more than ``most``."""
        records = np.flatnonzero(bitset.unpack(cover.words, self.n_records))
        _, first, counts = np.unique(self._record_groups[records], return_index=True, return_counts=True)
        if first.size > most:
            raise TooManyRecordsError(f"{first.size:,} distinct records, more than {most:,}")
        items = bitset.members_of(self._rows, records[first])
        dense = np.zeros((first.size, self.n_items), np.bool_)
        dense[np.repeat(np.arange(first.size), items.lengths), items.members] = True
        return DistinctRecords(dense, counts)

    @cached_property
    def _record_groups(self) -> Integers:
        """A number for each record: the same for records with the same items, and in the order of the items."""
        octets = np.empty((self.n_records, -(-self.n_items // 8)), np.uint8)
        for begin in range(0, self.n_records, _BLOCK):
            end = min(begin + _BLOCK, self.n_records)
            words = np.ascontiguousarray(self._rows[:, begin // 64 : bitset.n_words(end)])
            octets[begin:end] = np.packbits(bitset.unpack(words, end - begin).T, axis=1)
        whole = octets.view(np.dtype((np.void, octets.shape[1]))).reshape(-1)
        return np.unique(whole, return_inverse=True)[1].reshape(-1)

    # Queries of single methods

    def restrict(self, cover: LocalCover) -> LocalBackend:
        """Return a backend of the records of a cover, with the same items and classes."""
        records = np.flatnonzero(bitset.unpack(cover.words, self.n_records))
        packed = np.empty((self.n_items, bitset.n_words(records.size)), np.uint64)
        for number, row in enumerate(self._rows):
            packed[number] = bitset.pack(bitset.unpack(row, self.n_records)[records])
            if number % _RELEASED == 0:
                release(self._rows)
        return LocalBackend(packed, self._y[records], self.n_classes, self._n_threads, first_word=self._first_word)

    def divide(self, drawn: Sequence[tuple[LocalCover, Integers]]) -> tuple[LocalBackend, LocalBackend]:
        """Return a backend of the k-th records of some covers, and one of all other records."""
        inside = reduce(self.union, (self.pick(cover, ks) for cover, ks in drawn), self.nothing)
        return self.restrict(inside), self.restrict(self.difference(self.everything, inside))

    def claims(self, bodies: Lists, labels: Integers) -> Flags:
        """Return which rules are correct for a record that no earlier such rule covers."""
        return bitset.claim(self._rows, bodies, self._class_masks, labels, self.everything.words)[0]


def contain_all(rows: BitRows, bodies: Lists, positions: Integers) -> Flags:
    """Return whether each body covers the record at each position: a boolean array (bodies.size, positions.size)."""
    used, which = np.unique(bodies.members, return_inverse=True)
    holds = np.array([bitset.at(rows[item], positions) for item in used]).reshape(used.size, positions.size)
    out = np.ones((bodies.size, positions.size), np.bool_)
    for j in range(bodies.size):
        for number in which[bodies.starts[j] : bodies.starts[j + 1]].tolist():
            out[j] &= holds[number]
    return out
