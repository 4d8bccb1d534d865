"""Mining of frequent bodies, shortest first: the candidates of CBA and IDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend

# Number of bodies that are counted at a time.
_BLOCK = 1 << 17
# The maximum number of bodies to count: so many for each body that may be kept, but never less than the second number.
_COUNTED_EACH, _COUNTED = 20, 10_000_000

# From class counts (n_bodies, n_classes) to a flag for each body.
Predicate = Callable[[Integers], Flags]


class FrequentBodies(NamedTuple):
    """Bodies with their class counts; shorter bodies first, those of one length in lexicographic order of their items.

    ``parents`` are the positions of two bodies that are shorter by one item, -1 for bodies of a single item.
    """

    bodies: Lists
    class_counts: Integers
    parents: Integers


class TooManyBodiesError(Exception):
    """There are more bodies than the limit ("reach"), or too many to count ("may reach")."""


class _Level(NamedTuple):
    """Bodies of one length, as rows of items in lexicographic order; parents by their position in the level before."""

    items: NDArray[np.int32]
    counts: Integers
    widths: Integers
    parents: Integers

    def select(self, keep: Flags) -> _Level:
        """Return the bodies whose flag is set."""
        return _Level(self.items[keep], self.counts[keep], self.widths[keep], self.parents[keep])


class Mining(NamedTuple):
    """The bodies to find.

    Parameters
    ----------
    is_frequent : returns from class counts (n_bodies, n_classes) which bodies are frequent; a body that contains an
        infrequent one must be infrequent
    max_conditions : maximum number of columns of a body; None for no limit
    limit : maximum number of bodies
    exclusive : whether two items of one column never hold for the same record
    is_final : returns from class counts which bodies need not be extended; None for none
    same_cover : whether to keep bodies that cover the same records as a shorter one
    """

    is_frequent: Predicate
    max_conditions: int | None
    limit: int
    exclusive: bool = False
    is_final: Predicate | None = None
    same_cover: bool = False


def frequent_bodies(
    backend: Backend, columns: Integers, mining: Mining, report: Callable[[str], None] = lambda _: None
) -> FrequentBodies:
    """Return the frequent bodies, found level by level (Apriori on bit rows).

    Unless ``same_cover`` is set, a body that covers the same records as one of its two parents is left out, and so is
    every extension of it: the parent is shorter and covers the same records.

    Parameters
    ----------
    backend : the records
    columns : the column of each item, ascending
    mining : the bodies to find
    report : called with the progress as text

    Raises
    ------
    TooManyBodiesError : if there are more bodies than the limit, or if too many must be counted to find them
    """
    levels = [_single_items(backend, mining.is_frequent)]
    n_kept, n_counted = len(levels[0].items), backend.n_items
    most = max(_COUNTED, _COUNTED_EACH * mining.limit)
    while True:
        if n_kept > mining.limit:
            raise TooManyBodiesError("reach")
        report(f"{n_kept:,} frequent bodies of up to {len(levels)} items")
        found = []
        for first, second in _siblings(levels[-1], columns, mining):
            n_counted += first.size
            if n_counted > most:
                raise TooManyBodiesError("may reach")
            joined = _join(backend, columns, levels[-1], first, second)
            keep = mining.is_frequent(joined.counts)
            if not mining.same_cover:
                keep &= _covers_less(joined, levels[-1])
            found.append(joined.select(keep))
            n_kept += len(found[-1].items)
            if n_kept > mining.limit:
                raise TooManyBodiesError("reach")
        if not any(len(part.items) for part in found):
            return _concatenate(levels)
        levels.append(_Level(*(np.concatenate(parts) for parts in zip(*found, strict=True))))


def _single_items(backend: Backend, is_frequent: Predicate) -> _Level:
    """Return the bodies of one item."""
    items = np.arange(backend.n_items, dtype=np.int32)[:, None]
    counts = backend.class_counts_of(_lists(items))
    ones = np.ones(items.size, np.int64)
    return _Level(items, counts, ones, np.full((items.size, 2), -1)).select(is_frequent(counts))


def _siblings(level: _Level, columns: Integers, mining: Mining) -> Iterator[tuple[Integers, Integers]]:
    """Yield pairs of bodies that differ in their last item only, in lexicographic order, a block of pairs at a time.

    Pairs that exclude each other, or that would have more columns than allowed, are left out.
    """
    final = np.zeros(len(level.items), np.bool_) if mining.is_final is None else mining.is_final(level.counts)
    extensible = np.flatnonzero(~final)
    items, widths = level.items[extensible], level.widths[extensible]
    if not extensible.size:
        return
    begins = np.ones(extensible.size, np.bool_)
    begins[1:] = (items[1:, :-1] != items[:-1, :-1]).any(axis=1)
    last_columns = columns[items[:, -1]]
    column_begins = begins.copy()
    column_begins[1:] |= last_columns[1:] != last_columns[:-1]
    group_end, column_end = _ends(begins), _ends(column_begins)
    longest = len(columns) if mining.max_conditions is None else mining.max_conditions
    first_partner = column_end if mining.exclusive else np.arange(extensible.size) + 1
    partners = np.maximum(np.where(widths < longest, group_end, column_end) - first_partner, 0)
    before = np.append(0, np.cumsum(partners))
    begin = 0
    while begin < extensible.size:
        end = max(int(np.searchsorted(before, before[begin] + _BLOCK, side="right")) - 1, begin + 1)
        first = np.repeat(np.arange(begin, end), partners[begin:end])
        second = np.arange(first.size) - (before[first] - before[begin]) + first_partner[first]
        if first.size:
            yield extensible[first], extensible[second]
        begin = end


def _ends(begins: Flags) -> Integers:
    """Return for each position the end of its run, given flags of the positions at which runs begin."""
    ends = np.append(np.flatnonzero(begins)[1:], begins.size)
    return np.asarray(ends[np.cumsum(begins) - 1])


def _join(backend: Backend, columns: Integers, level: _Level, first: Integers, second: Integers) -> _Level:
    """Return the union of each pair of bodies, which has one item more."""
    added = level.items[second, -1]
    widths = level.widths[first] + (columns[level.items[first, -1]] != columns[added])
    items = np.column_stack([level.items[first], added])
    return _Level(items, backend.class_counts_of(_lists(items)), widths, np.column_stack([first, second]))


def _covers_less(joined: _Level, level: _Level) -> Flags:
    """Return which bodies cover fewer records than each of their parents."""
    parents = level.counts.sum(axis=1)[joined.parents]
    return np.asarray((joined.counts.sum(axis=1, keepdims=True) < parents).all(axis=1))


def _concatenate(levels: list[_Level]) -> FrequentBodies:
    """Return the bodies of all levels in order."""
    starts = np.cumsum([0, *(len(level.items) for level in levels)])
    parents = [levels[0].parents, *(level.parents + start for level, start in zip(levels[1:], starts, strict=False))]
    counts = np.concatenate([level.counts for level in levels])
    return FrequentBodies(Lists.concatenate([_lists(level.items) for level in levels]), counts, np.concatenate(parents))


def _lists(items: NDArray[np.int32]) -> Lists:
    """Return the rows of an array as lists."""
    return Lists(np.arange(len(items) + 1) * items.shape[1], np.ascontiguousarray(items).reshape(-1))
