"""Records in several shards: every answer is put together from those of the shards.

Each shard is a backend of its own. Counts are added up, and the k-th record of a cover is found by how many records of
it lie in the shards before. Nothing here depends on where a shard is, so that shards on disk or on other machines need
no more than this.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, DistinctRecords, TooManyRecordsError
from diverse_rule_sets.data._local import LocalBackend, LocalCover

# The covers of each shard.
ShardedCover = tuple[LocalCover, ...]


class ShardedBackend:
    """Records in several shards; a :class:`~diverse_rule_sets.data._backend.Backend`.

    Parameters
    ----------
    shards : a backend for the records of each shard, in the order of the records; the same items and classes
    """

    def __init__(self, shards: Sequence[LocalBackend]) -> None:
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
        n_shards: int = 3,
    ) -> ShardedBackend:
        """Cut the arrays that a :class:`LocalBackend` is made of into shards of about equally many records."""
        cuts = np.linspace(0, y.size, n_shards + 1).astype(np.int64).tolist()
        shards, first_word = [], 0
        for begin, end in itertools.pairwise(cuts):
            parts = [None if some is None else _cut(some, begin, end, y.size) for some in (rows, given)]
            assert parts[0] is not None
            shards.append(LocalBackend(parts[0], y[begin:end], n_classes, n_threads, parts[1], first_word))
            first_word += parts[0].shape[1]
        return cls(shards)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return sum(shard.n_records for shard in self._shards)

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
        return self._added(lambda shard: shard.class_totals)

    def _added(self, ask: Callable[..., Integers], *covers: ShardedCover) -> Integers:
        """Add up what the shards answer; ``ask`` is given a shard and its parts of the covers."""
        return reduce(np.add, (ask(*parts) for parts in zip(self._shards, *covers, strict=True)))

    # Counts

    def class_counts_of(self, bodies: Lists, within: ShardedCover | None = None) -> Integers:
        """Count the records of each class under each body, all or those within a cover."""
        if within is None:
            return self._added(lambda shard: shard.class_counts_of(bodies))
        return self._added(lambda shard, part: shard.class_counts_of(bodies, part), within)

    def class_counts(self, cover: ShardedCover) -> Integers:
        """Count the records of each class in a cover."""
        return self._added(lambda shard, part: shard.class_counts(part), cover)

    def shared(self, bodies: Lists, covers: Sequence[ShardedCover]) -> Integers:
        """Count the records under each body that lie in each cover."""
        return self._added(lambda shard, *parts: shard.shared(bodies, parts), *covers)

    def sizes_within(self, covers: Sequence[ShardedCover], within: ShardedCover) -> Integers:
        """Count the records of each cover that lie within another one."""
        return self._added(lambda shard, part, *parts: shard.sizes_within(parts, part), within, *covers)

    def extended(self, bodies: Sequence[Body], marked: ShardedCover) -> Integers:
        """Count the records of each body with each item added, by class and, last, those that are marked."""
        return self._added(lambda shard, part: shard.extended(bodies, part), marked)

    def fingerprints(self, bodies: Lists) -> NDArray[np.uint64]:
        """Return an integer for each body that is the same for bodies that cover the same records."""
        return np.asarray(reduce(np.add, (shard.fingerprints(bodies) for shard in self._shards)))

    def fingerprint(self, cover: ShardedCover) -> int:
        """Return an integer that is the same for covers of the same records."""
        return sum(shard.fingerprint(part) for shard, part in zip(self._shards, cover, strict=True)) % 2**64

    # Covers

    @cached_property
    def everything(self) -> ShardedCover:
        """All records."""
        return tuple(shard.everything for shard in self._shards)

    @cached_property
    def nothing(self) -> ShardedCover:
        """No record."""
        return tuple(shard.nothing for shard in self._shards)

    def cover(self, body: Body) -> ShardedCover:
        """Return the records that a body covers."""
        return tuple(shard.cover(body) for shard in self._shards)

    def of_class(self, label: int) -> ShardedCover:
        """Return the records of a class."""
        return tuple(shard.of_class(label) for shard in self._shards)

    def given_cover(self, number: int) -> ShardedCover:
        """Return the records that a given rule covers."""
        return tuple(shard.given_cover(number) for shard in self._shards)

    def union(self, one: ShardedCover, other: ShardedCover) -> ShardedCover:
        """Return the records that lie in either cover."""
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
        """Group the records by the sum of the points of the covers that each record lies in."""
        parts = list(zip(*covers, strict=True)) if covers else [()] * len(self._shards)
        found = [shard.levels(part, points, wanted) for shard, part in zip(self._shards, parts, strict=True)]
        every = sorted({level for one in found for level in one})
        return {
            level: tuple(one.get(level, shard.nothing) for shard, one in zip(self._shards, found, strict=True))
            for level in every
        }

    # Records that are drawn by count

    def _shards_of(
        self, cover: ShardedCover, ks: Integers
    ) -> list[tuple[LocalBackend, LocalCover, Integers, Integers]]:
        """Return, for each shard that holds some of the k-th records: it, its cover, which of the ks, and k there."""
        ends = np.cumsum([part.size for part in cover])
        owner = np.searchsorted(ends, ks, side="right")
        before = ends - [part.size for part in cover]
        some = []
        for number, (shard, part) in enumerate(zip(self._shards, cover, strict=True)):
            own = np.flatnonzero(owner == number)
            if own.size:
                some.append((shard, part, own, ks[own] - before[number]))
        return some

    def items_at(self, cover: ShardedCover, ks: Integers) -> Lists:
        """List the items of the k-th record of a cover, for each k."""
        found = self._shards_of(cover, ks)
        lists = Lists.joined([shard.items_at(part, inner) for shard, part, _, inner in found])
        order = np.concatenate([own for _, _, own, _ in found]) if found else np.zeros(0, np.int64)
        return lists.take(np.argsort(order, kind="stable"))

    def classes_at(self, cover: ShardedCover, ks: Integers) -> Integers:
        """Return the class of the k-th record of a cover, for each k."""
        out = np.empty(ks.size, np.int64)
        for shard, part, own, inner in self._shards_of(cover, ks):
            out[own] = shard.classes_at(part, inner)
        return out

    def contain(self, bodies: Lists, cover: ShardedCover, ks: Integers) -> Flags:
        """Tell whether the j-th body covers the ``ks[j]``-th record of a cover."""
        out = np.empty(ks.size, np.bool_)
        for shard, part, own, inner in self._shards_of(cover, ks):
            out[own] = shard.contain(bodies.take(own), part, inner)
        return out

    def contain_all(self, bodies: Lists, cover: ShardedCover, ks: Integers) -> Flags:
        """Tell which bodies cover which of the k-th records of a cover."""
        out = np.empty((bodies.size, ks.size), np.bool_)
        for shard, part, own, inner in self._shards_of(cover, ks):
            out[:, own] = shard.contain_all(bodies, part, inner)
        return out

    def pick(self, cover: ShardedCover, ks: Integers) -> ShardedCover:
        """Return the cover of the k-th records of a cover."""
        picked = {id(shard): shard.pick(part, inner) for shard, part, _, inner in self._shards_of(cover, ks)}
        return tuple(picked.get(id(shard), shard.nothing) for shard in self._shards)

    def distinct(self, cover: ShardedCover, most: int) -> DistinctRecords:
        """Return the different records of a cover; TooManyRecordsError if there are more than ``most``."""
        found = [shard.distinct(part, most) for shard, part in zip(self._shards, cover, strict=True)]
        every = np.concatenate([one.items for one in found])
        counts = np.concatenate([one.counts for one in found])
        items, which = np.unique(every, axis=0, return_inverse=True)
        if len(items) > most:
            raise TooManyRecordsError(f"{len(items):,} distinct records, more than {most:,}")
        return DistinctRecords(items, np.bincount(which.reshape(-1), counts, minlength=len(items)).astype(np.int64))

    # What single methods need

    def restricted(self, cover: ShardedCover) -> ShardedBackend:
        """Return a backend of the records of a cover alone."""
        return ShardedBackend([shard.restricted(part) for shard, part in zip(self._shards, cover, strict=True)])

    def claims(self, bodies: Lists, labels: Integers) -> Flags:
        """Tell which rules, in order, cover an unclaimed record of their own label."""
        out, left = np.zeros(bodies.size, np.bool_), self.everything
        for j, (body, label) in enumerate(zip(bodies.tuples(), labels.tolist(), strict=True)):
            cover = self.cover(body)
            out[j] = self.class_counts(self.intersection(cover, left))[label] > 0
            if out[j]:
                left = self.difference(left, cover)
        return out


def _cut(rows: BitRows, begin: int, end: int, n_bits: int) -> BitRows:
    """Return some of the bits of each row, packed anew."""
    parts = [bitset.pack(bitset.unpack(row, n_bits)[begin:end]) for row in rows]
    return np.array(parts, np.uint64).reshape(len(rows), bitset.n_words(end - begin))


_: type[Backend] = ShardedBackend  # for type checkers: it answers all questions
