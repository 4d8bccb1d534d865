"""The backend of weighted records in the memory of this process: sums of weights over copies of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset, segments
from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers, Lists
from diverse_rule_sets._bits.mapped import with_rows
from diverse_rule_sets._bits.segments import Segments
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets.data._backend import Backend, Body, DistinctRecords, Leaders, TooManyRecordsError
from diverse_rule_sets.data._copies import Copies, Layout
from diverse_rule_sets.data._local import LocalBackend, LocalCover, contain_all

# Numbers of records whose weights are added up at a time to find a record, and that are unpacked at a time.
_BLOCK, _UNPACKED = 64, 64 * 256


class WeightedBackend:
    """Packed items and classes of weighted records; a :class:`~diverse_rule_sets.data._backend.Backend`.

    Parameters
    ----------
    copies : the copies of the records, as bits
    layout : where they are
    weights : the weights of the records
    by_weight : True to count weights, False to count records
    """

    def __init__(self, copies: Copies, layout: Layout, weights: Weights, by_weight: bool = True) -> None:
        self._copies, self._layout, self._weights, self._by_weight = copies, layout, weights, by_weight
        self._bits = bits = LocalBackend(*copies)  # type: ignore[arg-type] # classes take less memory than int64
        self._units = weights.units if by_weight else np.ones(weights.units.size, np.int64)
        factors = layout.factors if by_weight else layout.first.astype(np.int64)
        self._segments = Segments.merged(layout.starts, factors, layout.classes, bits.n_classes)
        self._together = Segments.merged(layout.starts, factors, np.zeros_like(layout.classes), 1)

    @classmethod
    def of(
        cls,
        rows: BitRows,
        y: Integers,
        n_classes: int,
        n_threads: int = 1,
        given: BitRows | None = None,
        first_word: int = 0,
        *,
        weights: Weights,
    ) -> WeightedBackend:
        """Return the backend of records given as for :class:`LocalBackend`, with their weights."""
        layout = Layout.of(y, weights.units)
        used = layout.sources >= 0
        classes = np.full(used.size, -1, np.int32)  # unused bits have no class
        classes[used] = y[layout.sources[used]]
        arranged = None if given is None else layout.arrange(given)
        copies = Copies(layout.arrange(rows), classes, n_classes, n_threads, arranged, first_word)
        return cls(copies, layout, weights)

    def _scaled(self, units: Integers) -> Any:
        """Return numbers of units as weights: integers if the unit is 1, otherwise exact multiples of it."""
        return units if self.unit == 1 else units * self.unit

    @property
    def unit(self) -> float:
        """The unit of weights."""
        return self._weights.unit if self._by_weight else 1.0

    @property
    def n_records(self) -> Any:
        """Total weight of the records."""
        return self.class_totals.sum().item()

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._bits.n_items

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self._bits.n_classes

    @cached_property
    def class_totals(self) -> Any:
        """Total weight of the records of each class."""
        return self.class_counts(self.everything)

    @property
    def by_record(self) -> WeightedBackend:
        """The same records, each of which counts once."""
        return WeightedBackend(self._copies, self._layout, self._weights, by_weight=False)

    # Counts

    def _units_of(self, words: BitRows) -> Integers:
        """Return the units of each class in a bit row."""
        out = np.zeros(self.n_classes, np.int64)
        if words.size:
            sizes = np.add.reduceat(np.bitwise_count(words), self._segments.starts[:-1], dtype=np.int64)
            np.add.at(out, self._segments.owners, sizes * self._segments.factors)
        return out

    def class_counts_of(self, bodies: Lists, within: LocalCover | None = None) -> Any:
        """Add up the weights of the records of each class that each body covers, of all records or within a cover."""
        return self._scaled(self._count_lists(bodies, [within or self.everything], self._segments)[:, :, 0].T)

    def class_counts(self, cover: LocalCover) -> Any:
        """Add up the weights of the records of each class in a cover."""
        return self._scaled(self._units_of(cover.words))

    def shared_counts(self, bodies: Lists, covers: Sequence[LocalCover]) -> Any:
        """Add up the weights of the records that each body shares with each cover."""
        return self._scaled(self._count_lists(bodies, covers, self._together)[0])

    def _count_lists(self, bodies: Lists, covers: Sequence[LocalCover], sums: Segments) -> Integers:
        masks = np.array([cover.words for cover in covers], np.uint64).reshape(len(covers), self._layout.n_words)
        return segments.count_lists_weighted(self._copies.rows, bodies, masks, sums, self._copies.n_threads)

    def sizes_within(self, covers: Sequence[LocalCover], within: LocalCover) -> Any:
        """Add up the weights of the records of each cover that lie within another one."""
        sizes = [int(self._units_of(cover.words & within.words).sum()) for cover in covers]
        return self._scaled(np.array(sizes, np.int64))

    def class_counts_within(self, covers: Sequence[LocalCover], within: LocalCover) -> Any:
        """Add up the weights of each class of several covers that lie within another one."""
        counts = [self.class_counts(LocalCover(cover.words & within.words)) for cover in covers]
        return np.array(counts).reshape(len(covers), self.n_classes)

    def extension_counts(self, bodies: Sequence[Body], marked: LocalCover) -> Any:
        """Add up the weights of each body with each item added, by class, and those of the marked ones among them."""
        out = np.empty((self.n_classes + 1, len(bodies), self.n_items + 1), np.int64)
        covers = self._covers(bodies)
        out[:-1] = self._count_extended(covers, self._segments)
        covers &= marked.words
        out[-1] = self._count_extended(covers, self._together)[0] if covers.any() else 0
        return self._scaled(out)

    def extension_counts_within(self, bodies: Sequence[Body], cover: LocalCover) -> Any:
        """Add up the weights of the records of a cover that each body with each item added covers, by class."""
        return self._scaled(self._count_extended(self._covers(bodies) & cover.words, self._segments))

    def _covers(self, bodies: Sequence[Body]) -> BitRows:
        """Return the records that each body covers as bit rows."""
        covers = [self._bits.cover(body).words for body in bodies]
        return np.array(covers, np.uint64).reshape(len(bodies), self._layout.n_words)

    def _count_extended(self, covers: BitRows, sums: Segments) -> Integers:
        """Return the units of bit rows with each item added and, last, without an added item, for each owner."""
        rows, n_threads = self._copies.rows, self._copies.n_threads
        out = np.empty((sums.n_owners, len(covers), self.n_items + 1), np.int64)
        out[..., :-1] = segments.count_weighted(rows, covers, sums, n_threads)
        out[..., -1:] = segments.count_weighted(self.everything.words[None], covers, sums, n_threads)
        return out

    def fingerprints(self, bodies: Lists) -> NDArray[np.uint64]:
        """Return a hash of the records that each body covers."""
        return self._bits.fingerprints(bodies)

    def fingerprint(self, cover: LocalCover) -> int:
        """Return a hash of the records of a cover."""
        return self._bits.fingerprint(cover)

    # Covers

    @property
    def everything(self) -> LocalCover:
        """The cover of all records."""
        return self._bits.everything

    @property
    def nothing(self) -> LocalCover:
        """The cover without records."""
        return self._bits.nothing

    def cover(self, body: Body) -> LocalCover:
        """Return the records that a body covers."""
        return self._bits.cover(body)

    def of_class(self, label: int) -> LocalCover:
        """Return the records of a class."""
        return self._bits.of_class(label)

    def given_cover(self, number: int) -> LocalCover:
        """Return the records for which a given condition holds."""
        return self._bits.given_cover(number)

    def union(self, one: LocalCover, other: LocalCover) -> LocalCover:
        """Return the records that lie in at least one of two covers."""
        return self._bits.union(one, other)

    def intersection(self, one: LocalCover, other: LocalCover) -> LocalCover:
        """Return the records that lie in both covers."""
        return self._bits.intersection(one, other)

    def difference(self, one: LocalCover, other: LocalCover) -> LocalCover:
        """Return the records of the first cover that do not lie in the second."""
        return self._bits.difference(one, other)

    def levels(
        self, covers: Sequence[LocalCover], points: Sequence[int], wanted: Sequence[int] | None = None
    ) -> Mapping[int, LocalCover]:
        """Group the records by the sum of the points of the covers in which each record lies."""
        return self._used(self._bits.levels(covers, points, wanted), keep_empty=wanted is not None)

    def leaders(self, covers: Sequence[LocalCover], points: Integers, base: Integers) -> Leaders:
        """Group the records by the largest of several sums of points."""
        found = self._bits.leaders(covers, points, base)
        leaders = [self.intersection(cover, self.everything) for cover in found.leaders]
        return Leaders(leaders, self._used(found.leads, keep_empty=False))

    def _used(self, covers: Mapping[int, LocalCover], keep_empty: bool) -> dict[int, LocalCover]:
        """Return covers without unused bits."""
        used = {number: self.intersection(cover, self.everything) for number, cover in covers.items()}
        return {number: cover for number, cover in used.items() if keep_empty or cover.words.any()}

    def with_items(self, covers: Sequence[LocalCover]) -> WeightedBackend:
        """Return a backend with further items, each of which holds for the records of a cover."""
        rows = with_rows(self._copies.rows, [cover.words for cover in covers])
        return WeightedBackend(self._copies._replace(rows=rows), self._layout, self._weights, self._by_weight)

    # Records chosen by position

    def n_positions(self, cover: LocalCover) -> int:
        """Return the weight of a cover in units."""
        return int(self._units_of(cover.words).sum())

    def _records(self, cover: LocalCover, ks: Integers) -> Integers:
        """Return the record to which the k-th unit of a cover belongs, for each k."""
        columns, units, key = self._layout.columns, self._units, "by_weight" if self._by_weight else "by_record"
        if key not in cover.__dict__:
            sizes = segments.weights_of_blocks(cover.words, columns, units, _BLOCK)
            cover.__dict__[key] = np.cumsum(sizes) - sizes
        return segments.kth_by_weight(cover.words, columns, units, _BLOCK, cover.__dict__[key], ks)

    def _positions(self, cover: LocalCover, ks: Integers) -> Integers:
        """Return the bit that represents the record of the k-th unit of a cover, for each k."""
        return self._layout.columns[self._records(cover, ks)]

    def items_at(self, cover: LocalCover, ks: Integers) -> Lists:
        """Return the items of the record of the k-th unit of a cover, for each k."""
        return bitset.members_of(self._copies.rows, self._positions(cover, ks))

    def items_of(self, drawn: Sequence[tuple[LocalCover, Integers]]) -> Lists:
        """Return the items of the records at some positions in several covers, one after the other."""
        return Lists.concatenate([self.items_at(cover, ks) for cover, ks in drawn])

    def classes_at(self, cover: LocalCover, ks: Integers) -> Integers:
        """Return the class of the record of the k-th unit of a cover, for each k."""
        return self._copies.y[self._positions(cover, ks)].astype(np.int64)

    def weights_at(self, cover: LocalCover, ks: Integers) -> NDArray[np.float64]:
        """Return the weight of the record of the k-th unit of a cover, for each k."""
        return np.asarray(self._weights.values[self._records(cover, ks)], np.float64)

    def contain(self, bodies: Lists, cover: LocalCover, ks: Integers) -> Flags:
        """Return whether the j-th body covers the record of the ``ks[j]``-th unit of a cover."""
        return bitset.all_set(self._copies.rows, bodies, self._positions(cover, ks))

    def contain_all(self, bodies: Lists, cover: LocalCover, ks: Integers) -> Flags:
        """Return whether each body covers each of the records of the k-th units of a cover."""
        return contain_all(self._copies.rows, bodies, self._positions(cover, ks))

    def pick(self, cover: LocalCover, ks: Integers) -> LocalCover:
        """Return the cover of the records of the k-th units of a cover."""
        flags = np.zeros(self._units.size, np.bool_)
        flags[self._records(cover, ks)] = True
        return LocalCover(self._layout.arrange(bitset.pack(flags)[None])[0])

    def distinct(self, cover: LocalCover, most: int) -> DistinctRecords:
        """Return the distinct records of a cover; raises TooManyRecordsError if there are more than ``most``."""
        records = np.flatnonzero(bitset.at(cover.words, self._layout.columns))
        _, first, which = np.unique(self._record_groups[records], return_index=True, return_inverse=True)
        if first.size > most:
            raise TooManyRecordsError(f"{first.size:,} distinct records, more than {most:,}")
        items = bitset.members_of(self._copies.rows, self._layout.columns[records[first]])
        dense = np.zeros((first.size, self.n_items), np.bool_)
        dense[np.repeat(np.arange(first.size), items.lengths), items.members] = True
        units = np.zeros(first.size, np.int64)
        np.add.at(units, which.reshape(-1), self._units[records])
        return DistinctRecords(dense, self._scaled(units))

    @cached_property
    def _record_groups(self) -> Integers:
        """A number for each record: the same for records with the same items, and in the order of the items."""
        n_records, columns = self._units.size, self._layout.columns
        octets = np.empty((n_records, -(-self.n_items // 8)), np.uint8)
        for begin in range(0, n_records, _UNPACKED):
            some = columns[begin : begin + _UNPACKED]
            flags = np.array([bitset.at(row, some) for row in self._copies.rows]).reshape(self.n_items, some.size)
            octets[begin : begin + some.size] = np.packbits(flags.T, axis=1)
        whole = octets.view(np.dtype((np.void, octets.shape[1]))).reshape(-1)
        return np.unique(whole, return_inverse=True)[1].reshape(-1)

    # Queries of single methods

    def restrict(self, cover: LocalCover) -> WeightedBackend:
        """Return a backend of the records of a cover, with the same items and classes."""
        return self._reweighted(np.where(bitset.at(cover.words, self._layout.columns), self._units, 0))

    def divide(self, drawn: Sequence[tuple[LocalCover, Integers]]) -> tuple[WeightedBackend, WeightedBackend]:
        """Return a backend of the k-th units of some covers, and one of all other units."""
        inside = np.zeros(self._units.size, np.int64)
        for cover, ks in drawn:
            np.add.at(inside, self._records(cover, ks), 1)
        return self._reweighted(inside), self._reweighted(self._units - inside)

    def _reweighted(self, units: Integers) -> WeightedBackend:
        """Return a backend of the records with other weights; records without weight are left out."""
        records = np.flatnonzero(units)
        columns = self._layout.columns[records]
        rows = [bitset.pack(bitset.at(row, columns)) for row in self._copies.rows]
        packed = np.array(rows, np.uint64).reshape(self.n_items, bitset.n_words(records.size))
        y, weights = self._copies.y[columns].astype(np.int64), Weights(units[records], self.unit)
        return WeightedBackend.of(packed, y, self.n_classes, self._copies.n_threads, weights=weights)

    def claims(self, bodies: Lists, labels: Integers) -> Flags:
        """Return which rules are correct for a record that no earlier such rule covers."""
        return self._bits.claims(bodies, labels)


_: type[Backend] = WeightedBackend  # for type checkers: it has all methods of the protocol
