"""The backend of records in several shards: every result is computed from the results of the shards.

Each shard is a backend. Counts are added up, and the k-th record of a cover is found from the sizes of the cover in the
shards. Nothing here depends on where a shard is stored, so the same class serves shards on disk or on other machines.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers, Lists
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets.data._backend import Backend, Body, Cover, DistinctRecords, Leaders, TooManyRecordsError
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._weighted import WeightedBackend

# The covers of each shard.
ShardedCover = tuple[Cover, ...]


class ShardedBackend:
    """Records in several shards; a :class:`~diverse_rule_sets.data._backend.Backend`.

    Parameters
    ----------
    shards : a backend for each shard, in the order of the records; all with the same items and classes
    """

    def __init__(self, shards: Sequence[Backend]) -> None:
        if not shards:
            raise ValueError("shards must hold at least one backend, got none")
        self._shards = tuple(shards)

    @classmethod
    def split(
        cls,
        rows: BitRows,
        y: Integers,
        n_classes: int,
        n_threads: int = 1,
        given: BitRows | None = None,
        *,
        weights: Weights | None = None,
        n_shards: int = 3,
    ) -> ShardedBackend:
        """Divide the arrays of a :class:`LocalBackend` into shards with about equal numbers of records."""
        cuts = np.linspace(0, y.size, n_shards + 1).astype(np.int64).tolist()
        shards: list[LocalBackend | WeightedBackend] = []
        first_word = 0
        for begin, end in itertools.pairwise(cuts):
            parts = [None if bits is None else _slice_bits(bits, begin, end, y.size) for bits in (rows, given)]
            assert parts[0] is not None
            whole = parts[0], y[begin:end], n_classes, n_threads, parts[1], first_word
            if weights is None:
                shards.append(LocalBackend(*whole))
            else:
                shards.append(WeightedBackend.of(*whole, weights=weights.take(slice(begin, end))))
            first_word += shards[-1].everything.words.size
        return cls(shards)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return sum(shard.n_records for shard in self._shards)

    @property
    def unit(self) -> float:
        """The smallest weight that counts."""
        return self._shards[0].unit

    @property
    def by_record(self) -> ShardedBackend:
        """The same records, each of which counts once."""
        return ShardedBackend([shard.by_record for shard in self._shards])

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._shards[0].n_items

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self._shards[0].n_classes

    @cached_property
    def class_totals(self) -> Integers:
        """Number of records of each class."""
        return self._sum(lambda shard: shard.class_totals)

    def _sum(self, query: Callable[..., Integers], *covers: ShardedCover) -> Integers:
        """Return the sum of ``query(shard, *covers)`` over the shards, called with the covers of each shard."""
        return reduce(np.add, (query(*parts) for parts in zip(self._shards, *covers, strict=True)))

    # Counts

    def class_counts_of(self, bodies: Lists, within: ShardedCover | None = None) -> Integers:
        """Count the records of each class that each body covers, among all records or within a cover."""
        if within is None:
            return self._sum(lambda shard: shard.class_counts_of(bodies))
        return self._sum(lambda shard, part: shard.class_counts_of(bodies, part), within)

    def class_counts(self, cover: ShardedCover) -> Integers:
        """Count the records of each class in a cover."""
        return self._sum(lambda shard, part: shard.class_counts(part), cover)

    def shared_counts(self, bodies: Lists, covers: Sequence[ShardedCover]) -> Integers:
        """Count the records that each body shares with each cover."""
        return self._sum(lambda shard, *parts: shard.shared_counts(bodies, parts), *covers)

    def sizes_within(self, covers: Sequence[ShardedCover], within: ShardedCover) -> Integers:
        """Count the records of each cover that lie within another one."""
        return self._sum(lambda shard, part, *parts: shard.sizes_within(parts, part), within, *covers)

    def class_counts_within(self, covers: Sequence[ShardedCover], within: ShardedCover) -> Integers:
        """Count the records of each class of several covers that lie within another one."""
        return self._sum(lambda shard, part, *parts: shard.class_counts_within(parts, part), within, *covers)

    def extension_counts(self, bodies: Sequence[Body], marked: ShardedCover) -> Integers:
        """Count the records of each body with each item added, by class, and how many of them are marked."""
        return self._sum(lambda shard, part: shard.extension_counts(bodies, part), marked)

    def extension_counts_within(self, bodies: Sequence[Body], cover: ShardedCover) -> Integers:
        """Count the records of a cover that each body with each item added covers, by class."""
        return self._sum(lambda shard, part: shard.extension_counts_within(bodies, part), cover)

    def fingerprints(self, bodies: Lists) -> NDArray[np.uint64]:
        """Return a hash of the records that each body covers."""
        return np.asarray(reduce(np.add, (shard.fingerprints(bodies) for shard in self._shards)))

    def fingerprint(self, cover: ShardedCover) -> int:
        """Return a hash of the records of a cover."""
        return sum(shard.fingerprint(part) for shard, part in zip(self._shards, cover, strict=True)) % 2**64

    # Covers

    @cached_property
    def everything(self) -> ShardedCover:
        """The cover of all records."""
        return tuple(shard.everything for shard in self._shards)

    @cached_property
    def nothing(self) -> ShardedCover:
        """The cover without records."""
        return tuple(shard.nothing for shard in self._shards)

    def cover(self, body: Body) -> ShardedCover:
        """Return the records that a body covers."""
        return tuple(shard.cover(body) for shard in self._shards)

    def of_class(self, label: int) -> ShardedCover:
        """Return the records of a class."""
        return tuple(shard.of_class(label) for shard in self._shards)

    def given_cover(self, number: int) -> ShardedCover:
        """Return the records for which a given condition holds."""
        return tuple(shard.given_cover(number) for shard in self._shards)

    def union(self, one: ShardedCover, other: ShardedCover) -> ShardedCover:
        """Return the records that lie in at least one of two covers."""
        return tuple(shard.union(a, b) for shard, a, b in zip(self._shards, one, other, strict=True))

    def intersection(self, one: ShardedCover, other: ShardedCover) -> ShardedCover:
        """Return the records that lie in both covers."""
        return tuple(shard.intersection(a, b) for shard, a, b in zip(self._shards, one, other, strict=True))

    def difference(self, one: ShardedCover, other: ShardedCover) -> ShardedCover:
        """Return the records of the first cover that do not lie in the second."""
        return tuple(shard.difference(a, b) for shard, a, b in zip(self._shards, one, other, strict=True))

    def levels(
        self, covers: Sequence[ShardedCover], points: Sequence[int], wanted: Sequence[int] | None = None
    ) -> Mapping[int, ShardedCover]:
        """Group the records by the sum of the points of the covers in which each record lies."""
        parts = list(zip(*covers, strict=True)) if covers else [()] * len(self._shards)
        return self._merge(
            [shard.levels(part, points, wanted) for shard, part in zip(self._shards, parts, strict=True)]
        )

    def leaders(self, covers: Sequence[ShardedCover], points: Integers, base: Integers) -> Leaders:
        """Group the records by the largest of several sums of points."""
        parts = list(zip(*covers, strict=True)) if covers else [()] * len(self._shards)
        found = [shard.leaders(part, points, base) for shard, part in zip(self._shards, parts, strict=True)]
        return Leaders(
            list(zip(*(one.leaders for one in found), strict=True)), self._merge([one.leads for one in found])
        )

    def _merge(self, found: Sequence[Mapping[int, Cover]]) -> dict[int, ShardedCover]:
        """Return the covers of each number that occurs in some shard, ascending."""
        every = sorted({number for one in found for number in one})
        return {
            number: tuple(one.get(number, shard.nothing) for shard, one in zip(self._shards, found, strict=True))
            for number in every
        }

    def with_items(self, covers: Sequence[ShardedCover]) -> ShardedBackend:
        """Return a backend with further items, each of which holds for the records of a cover."""
        parts = list(zip(*covers, strict=True)) if covers else [()] * len(self._shards)
        return ShardedBackend([shard.with_items(part) for shard, part in zip(self._shards, parts, strict=True)])

    # Records chosen by position

    def _shards_of(self, cover: ShardedCover, ks: Integers) -> list[tuple[Backend, Cover, Integers, Integers]]:
        """Return, for each shard with some of the k-th records: shard, its cover, numbers of these ks, and k there."""
        sizes = [shard.n_positions(part) for shard, part in zip(self._shards, cover, strict=True)]
        ends = np.cumsum(sizes)
        owner = np.searchsorted(ends, ks, side="right")
        before = ends - sizes
        parts = []
        for number, (shard, part) in enumerate(zip(self._shards, cover, strict=True)):
            own = np.flatnonzero(owner == number)
            if own.size:
                parts.append((shard, part, own, ks[own] - before[number]))
        return parts

    def n_positions(self, cover: ShardedCover) -> int:
        """Return the number of units of weight of a cover."""
        return sum(shard.n_positions(part) for shard, part in zip(self._shards, cover, strict=True))

    def items_at(self, cover: ShardedCover, ks: Integers) -> Lists:
        """Return the items of the k-th record of a cover, for each k."""
        found = self._shards_of(cover, ks)
        lists = Lists.concatenate([shard.items_at(part, inner) for shard, part, _, inner in found])
        order = np.concatenate([own for _, _, own, _ in found]) if found else np.zeros(0, np.int64)
        return lists.take(np.argsort(order, kind="stable"))

    def items_of(self, drawn: Sequence[tuple[ShardedCover, Integers]]) -> Lists:
        """Return the items of the records at some positions in several covers, one after the other."""
        return Lists.concatenate([self.items_at(cover, ks) for cover, ks in drawn])

    def classes_at(self, cover: ShardedCover, ks: Integers) -> Integers:
        """Return the class of the k-th record of a cover, for each k."""
        out = np.empty(ks.size, np.int64)
        for shard, part, own, inner in self._shards_of(cover, ks):
            out[own] = shard.classes_at(part, inner)
        return out

    def weights_at(self, cover: ShardedCover, ks: Integers) -> NDArray[np.float64]:
        """Return the weight of the k-th record of a cover, for each k."""
        out = np.empty(ks.size)
        for shard, part, own, inner in self._shards_of(cover, ks):
            out[own] = shard.weights_at(part, inner)
        return out

    def contain(self, bodies: Lists, cover: ShardedCover, ks: Integers) -> Flags:
        """Return whether the j-th body covers the ``ks[j]``-th record of a cover."""
        out = np.empty(ks.size, np.bool_)
        for shard, part, own, inner in self._shards_of(cover, ks):
            out[own] = shard.contain(bodies.take(own), part, inner)
        return out

    def contain_all(self, bodies: Lists, cover: ShardedCover, ks: Integers) -> Flags:
        """Return whether each body covers each of the k-th records of a cover."""
        out = np.empty((bodies.size, ks.size), np.bool_)
        for shard, part, own, inner in self._shards_of(cover, ks):
            out[:, own] = shard.contain_all(bodies, part, inner)
        return out

    def pick(self, cover: ShardedCover, ks: Integers) -> ShardedCover:
        """Return the cover of the k-th records of a cover."""
        picked = {id(shard): shard.pick(part, inner) for shard, part, _, inner in self._shards_of(cover, ks)}
        return tuple(picked.get(id(shard), shard.nothing) for shard in self._shards)

    def distinct(self, cover: ShardedCover, most: int) -> DistinctRecords:
        """Return the distinct records of a cover; raises TooManyRecordsError if there are more than ``most``."""
        found = [shard.distinct(part, most) for shard, part in zip(self._shards, cover, strict=True)]
        rows = np.concatenate([one.items for one in found])
        counts = np.concatenate([one.counts for one in found])
        items, which = np.unique(rows, axis=0, return_inverse=True)
        if len(items) > most:
            raise TooManyRecordsError(f"{len(items):,} distinct records, more than {most:,}")
        return DistinctRecords(items, np.bincount(which.reshape(-1), counts, minlength=len(items)).astype(counts.dtype))

    # Queries of single methods

    def restrict(self, cover: ShardedCover) -> ShardedBackend:
        """Return a backend of the records of a cover, with the same items and classes."""
        return ShardedBackend([shard.restrict(part) for shard, part in zip(self._shards, cover, strict=True)])

    def divide(self, drawn: Sequence[tuple[ShardedCover, Integers]]) -> tuple[ShardedBackend, ShardedBackend]:
        """Return a backend of the k-th records of some covers, and one of all other records."""
        by_shard: dict[int, list[tuple[Cover, Integers]]] = {id(shard): [] for shard in self._shards}
        for cover, ks in drawn:
            for shard, part, _, inner in self._shards_of(cover, ks):
                by_shard[id(shard)].append((part, inner))
        pairs = [shard.divide(by_shard[id(shard)]) for shard in self._shards]
        return ShardedBackend([one for one, _ in pairs]), ShardedBackend([other for _, other in pairs])

    def claims(self, bodies: Lists, labels: Integers) -> Flags:
        """Return which rules are correct for a record that no earlier such rule covers."""
        out, left = np.zeros(bodies.size, np.bool_), self.everything
        for j, (body, label) in enumerate(zip(bodies.tuples(), labels.tolist(), strict=True)):
            cover = self.cover(body)
            out[j] = self.class_counts(self.intersection(cover, left))[label] > 0
            if out[j]:
                left = self.difference(left, cover)
        return out


def _slice_bits(rows: BitRows, begin: int, end: int, n_bits: int) -> BitRows:
    """Return the bits begin..end of each row as packed rows."""
    parts = [bitset.pack(bitset.unpack(row, n_bits)[begin:end]) for row in rows]
    return np.array(parts, np.uint64).reshape(len(rows), bitset.n_words(end - begin))


_: type[Backend] = ShardedBackend  # for type checkers: it has all methods of the protocol
