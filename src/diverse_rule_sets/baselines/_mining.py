"""Frequent bodies, shortest first: what CBA and IDS choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bitset import Flags, Integers, Lists
from diverse_rule_sets.backends import LocalBackend

# Bodies that are counted in one go.
_BLOCK = 1 << 17
# So many bodies may be counted for each one that may be kept.
_COUNTED = 20

Enough = Callable[[Integers], Flags]


class Mined(NamedTuple):
    """Bodies with the class counts of their records; shorter ones first, those of one length in the order of items.

    ``parents`` are the positions of two bodies that are shorter by one item, -1 for bodies of a single item.
    """

    bodies: Lists
    class_counts: Integers
    parents: Integers


class TooManyBodiesError(Exception):
    """More bodies than the limit."""


class _Level(NamedTuple):
    """Bodies of one length, as rows of items in lexical order; parents by their place in the level before."""

    items: NDArray[np.int32]
    counts: Integers
    widths: Integers
    parents: Integers

    def take(self, kept: Flags) -> _Level:
        return _Level(self.items[kept], self.counts[kept], self.widths[kept], self.parents[kept])


def frequent_bodies(
    backend: LocalBackend,
    columns: Integers,
    enough: Enough,
    max_conditions: int | None,
    limit: int,
    report: Callable[[str], None] = lambda _: None,
    same_cover: bool = False,
) -> Mined:
    """List the bodies that cover enough records, level by level (Apriori, on bits).

    Unless ``same_cover`` is set, a body that covers the same records as one of the two parents it is made from is left
    out, and so is every body made from it: the parent says the same in fewer words.

    Parameters
    ----------
    backend : the records
    columns : the column of each item, ascending
    enough : tells from class counts (n_bodies, n_classes) which bodies cover enough records; where one does not, no
        longer one may
    max_conditions : the most columns of a body; None for any number
    limit : the most bodies
    report : is told in words how far it is
    same_cover : keep bodies that cover the same records as a shorter one

    Raises
    ------
    TooManyBodiesError : if there are more than the limit, or if very many more must be counted to find them
    """
    longest = backend.n_items if max_conditions is None else max_conditions
    levels = [_singles(backend, enough)]
    n_kept, n_counted = len(levels[0].items), backend.n_items
    while True:
        if n_kept > limit:
            raise TooManyBodiesError
        report(f"{n_kept:,} frequent bodies of up to {len(levels)} conditions")
        found = []
        for first, second in _siblings(levels[-1].items):
            n_counted += first.size
            joined = _joined(backend, columns, levels[-1], first, second, longest)
            kept = enough(joined.counts)
            if not same_cover:
                kept &= _covers_less(joined, levels[-1])
            found.append(joined.take(kept))
            n_kept += len(found[-1].items)
            if n_kept > limit or n_counted > _COUNTED * limit:
                raise TooManyBodiesError
        if not any(len(part.items) for part in found):
            return _mined(levels)
        levels.append(_Level(*(np.concatenate(parts) for parts in zip(*found, strict=True))))


def _singles(backend: LocalBackend, enough: Enough) -> _Level:
    """Return the bodies of one item."""
    items = np.arange(backend.n_items, dtype=np.int32)[:, None]
    counts = backend.class_counts_of(_lists(items))
    ones = np.ones(items.size, np.int64)
    return _Level(items, counts, ones, np.full((items.size, 2), -1)).take(enough(counts))


def _siblings(items: NDArray[np.int32]) -> Iterator[tuple[Integers, Integers]]:
    """Pair the bodies that differ in their last item only, a block of pairs at a time, in lexical order."""
    changes = np.flatnonzero((items[1:, :-1] != items[:-1, :-1]).any(axis=1)) + 1
    ends = np.append(changes, len(items))
    last = ends[np.searchsorted(changes, np.arange(len(items)), side="right")]
    partners = last - np.arange(len(items)) - 1
    before = np.append(0, np.cumsum(partners))
    begin = 0
    while begin < len(items):
        end = max(int(np.searchsorted(before, before[begin] + _BLOCK, side="right")) - 1, begin + 1)
        first = np.repeat(np.arange(begin, end), partners[begin:end])
        second = np.arange(first.size) - (before[first] - before[begin]) + first + 1
        if first.size:
            yield first, second
        begin = end


def _joined(
    backend: LocalBackend, columns: Integers, level: _Level, first: Integers, second: Integers, longest: int
) -> _Level:
    """Join pairs of bodies to bodies of one item more, within the most columns."""
    added = level.items[second, -1]
    widths = level.widths[first] + (columns[level.items[first, -1]] != columns[added])
    short = widths <= longest
    first, second = first[short], second[short]
    items = np.column_stack([level.items[first], added[short]])
    return _Level(items, backend.class_counts_of(_lists(items)), widths[short], np.column_stack([first, second]))


def _covers_less(joined: _Level, level: _Level) -> Flags:
    """Tell which bodies cover fewer records than either parent."""
    parents = level.counts.sum(axis=1)[joined.parents]
    return np.asarray((joined.counts.sum(axis=1, keepdims=True) < parents).all(axis=1))


def _mined(levels: list[_Level]) -> Mined:
    """Put the levels one after the other."""
    starts = np.cumsum([0, *(len(level.items) for level in levels)])
    parents = [levels[0].parents, *(level.parents + start for level, start in zip(levels[1:], starts, strict=False))]
    counts = np.concatenate([level.counts for level in levels])
    return Mined(Lists.joined([_lists(level.items) for level in levels]), counts, np.concatenate(parents))


def _lists(items: NDArray[np.int32]) -> Lists:
    """Return the rows of an array as lists."""
    return Lists(np.arange(len(items) + 1) * items.shape[1], np.ascontiguousarray(items).reshape(-1))
