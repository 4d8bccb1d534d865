"""Frequent bodies, shortest first: what CBA and IDS choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend

# Bodies that are counted in one go.
_BLOCK = 1 << 17
# At most so many bodies are counted for each one that may be kept, but always so many in all.
_COUNTED_EACH, _COUNTED = 20, 10_000_000

Tell = Callable[[Integers], Flags]


class Mined(NamedTuple):
    """Bodies with the class counts of their records; shorter ones first, those of one length in the order of items.

    ``parents`` are the positions of two bodies that are shorter by one item, -1 for bodies of a single item.
    """

    bodies: Lists
    class_counts: Integers
    parents: Integers


class TooManyBodiesError(Exception):
    """More bodies than the limit, or too many to look through; the text says which."""


class _Level(NamedTuple):
    """Bodies of one length, as rows of items in lexical order; parents by their place in the level before."""

    items: NDArray[np.int32]
    counts: Integers
    widths: Integers
    parents: Integers

    def take(self, kept: Flags) -> _Level:
        return _Level(self.items[kept], self.counts[kept], self.widths[kept], self.parents[kept])


class Mining(NamedTuple):
    """What is to be listed.

    Parameters
    ----------
    enough : tells from class counts (n_bodies, n_classes) which bodies cover enough records; where one does not, no
        longer one may
    max_conditions : the most columns of a body; None for any number
    limit : the most bodies
    exclusive : two items of one column never hold for the same record
    final : tells from class counts which bodies need not be made longer; None for none
    same_cover : keep bodies that cover the same records as a shorter one
    """

    enough: Tell
    max_conditions: int | None
    limit: int
    exclusive: bool = False
    final: Tell | None = None
    same_cover: bool = False


def frequent_bodies(
    backend: Backend, columns: Integers, mining: Mining, report: Callable[[str], None] = lambda _: None
) -> Mined:
    """List the bodies that cover enough records, level by level (Apriori, on bits).

    Unless ``same_cover`` is set, a body that covers the same records as one of the two parents it is made from is left
    out, and so is every body made from it: the parent says the same in fewer words.

    Parameters
    ----------
    backend : the records
    columns : the column of each item, ascending
    mining : what is to be listed
    report : is told in words how far it is

    Raises
    ------
    TooManyBodiesError : if there are more than the limit, or if very many more must be counted to find them
    """
    levels = [_singles(backend, mining.enough)]
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
            joined = _joined(backend, columns, levels[-1], first, second)
            kept = mining.enough(joined.counts)
            if not mining.same_cover:
                kept &= _covers_less(joined, levels[-1])
            found.append(joined.take(kept))
            n_kept += len(found[-1].items)
            if n_kept > mining.limit:
                raise TooManyBodiesError("reach")
        if not any(len(part.items) for part in found):
            return _mined(levels)
        levels.append(_Level(*(np.concatenate(parts) for parts in zip(*found, strict=True))))


def _singles(backend: Backend, enough: Tell) -> _Level:
    """Return the bodies of one item."""
    items = np.arange(backend.n_items, dtype=np.int32)[:, None]
    counts = backend.class_counts_of(_lists(items))
    ones = np.ones(items.size, np.int64)
    return _Level(items, counts, ones, np.full((items.size, 2), -1)).take(enough(counts))


def _siblings(level: _Level, columns: Integers, mining: Mining) -> Iterator[tuple[Integers, Integers]]:
    """Pair bodies that differ in their last item only, in lexical order, a block of pairs at a time.

    Left out are pairs that cannot hold together, or that would have more columns than allowed.
    """
    final = np.zeros(len(level.items), np.bool_) if mining.final is None else mining.final(level.counts)
    growing = np.flatnonzero(~final)
    items, widths = level.items[growing], level.widths[growing]
    if not growing.size:
        return
    begins = np.ones(growing.size, np.bool_)
    begins[1:] = (items[1:, :-1] != items[:-1, :-1]).any(axis=1)
    last_columns = columns[items[:, -1]]
    turns = begins.copy()
    turns[1:] |= last_columns[1:] != last_columns[:-1]
    group_end, column_end = _ends(begins), _ends(turns)
    longest = len(columns) if mining.max_conditions is None else mining.max_conditions
    first_partner = column_end if mining.exclusive else np.arange(growing.size) + 1
    partners = np.maximum(np.where(widths < longest, group_end, column_end) - first_partner, 0)
    before = np.append(0, np.cumsum(partners))
    begin = 0
    while begin < growing.size:
        end = max(int(np.searchsorted(before, before[begin] + _BLOCK, side="right")) - 1, begin + 1)
        first = np.repeat(np.arange(begin, end), partners[begin:end])
        second = np.arange(first.size) - (before[first] - before[begin]) + first_partner[first]
        if first.size:
            yield growing[first], growing[second]
        begin = end


def _ends(begins: Flags) -> Integers:
    """Return for each place where its run ends, given where runs begin."""
    ends = np.append(np.flatnonzero(begins)[1:], begins.size)
    return np.asarray(ends[np.cumsum(begins) - 1])


def _joined(backend: Backend, columns: Integers, level: _Level, first: Integers, second: Integers) -> _Level:
    """Join pairs of bodies to bodies of one item more."""
    added = level.items[second, -1]
    widths = level.widths[first] + (columns[level.items[first, -1]] != columns[added])
    items = np.column_stack([level.items[first], added])
    return _Level(items, backend.class_counts_of(_lists(items)), widths, np.column_stack([first, second]))


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
