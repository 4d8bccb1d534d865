"""Packed rows of bits that count with factors: sums of weights from segments of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diverse_rule_sets._bits.bitset import BitRows, Integers, Lists, _kernels, _run_slices

# If segments have fewer words than this on average, a factor for each word takes less time than one for each segment.
_SHORT = 32


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of words that are counted with factors.

    Parameters
    ----------
    starts : the first word of each segment, followed by the number of words
    factors : what a bit of each segment counts: 0, or a power of 2 with any sign
    owners : the number of the sum to which each segment belongs
    n_owners : number of sums
    """

    starts: Integers
    factors: Integers
    owners: Integers
    n_owners: int

    @classmethod
    def merged(cls, starts: Integers, factors: Integers, owners: Integers, n_owners: int) -> Segments:
        """Return segments, of which neighbours with the same owner and factor are one."""
        new = np.ones(factors.size, np.bool_)
        new[1:] = (factors[1:] != factors[:-1]) | (owners[1:] != owners[:-1])
        return cls(np.append(starts[:-1][new], starts[-1]), factors[new], owners[new], n_owners)

    @property
    def are_short(self) -> bool:
        """Whether a factor for each word takes less time than one for each segment."""
        return bool(self.starts[-1] < _SHORT * self.factors.size)

    @cached_property
    def shifts(self) -> BitRows:
        """The power of 2 of each word."""
        powers = np.log2(np.maximum(np.abs(self.factors), 1)).astype(np.uint64)
        return np.repeat(powers, np.diff(self.starts))

    @cached_property
    def ranges(self) -> Integers:
        """Ranges of words of one sum and sign: rows of first word, end, owner and sign; without those of factor 0."""
        signs, found = np.sign(self.factors), list[list[int]]()
        for begin, end, owner, sign in zip(
            self.starts[:-1].tolist(), self.starts[1:].tolist(), self.owners.tolist(), signs.tolist(), strict=True
        ):
            if found and found[-1][1:] == [begin, owner, sign]:
                found[-1][1] = end
            elif sign:
                found.append([begin, end, owner, sign])
        return np.array(found, np.int64).reshape(len(found), 4)


def count_weighted(rows: BitRows, masks: BitRows, segments: Segments, n_threads: int = 1) -> Integers:
    """Add up the factors of the bits of each row under each mask: int64 array (n_owners, n_masks, n_rows)."""
    compiled = _kernels()
    out = np.zeros((segments.n_owners, masks.shape[0], rows.shape[0]), np.int64)
    short = (segments.ranges, segments.shifts) if segments.are_short else None

    def part(first: int, last: int) -> None:
        if short is not None:
            compiled.count_shifted(rows, first, last, masks, *short, out)
        else:
            compiled.count_weighted(rows, first, last, masks, segments.starts, segments.factors, segments.owners, out)

    _run_slices(part, rows.shape[0], rows.size * masks.shape[0], n_threads)
    return out


def count_lists_weighted(
    rows: BitRows, lists: Lists, masks: BitRows, segments: Segments, n_threads: int = 1
) -> Integers:
    """Add up the factors of the bits of the AND of each list's rows under each mask: (n_owners, n_lists, n_masks)."""
    compiled = _kernels()
    out = np.zeros((segments.n_owners, lists.size, masks.shape[0]), np.int64)
    work = (lists.members.size + lists.size * masks.shape[0]) * rows.shape[1]
    starts, factors, owners = segments.starts, segments.factors, segments.owners

    def part(first: int, last: int) -> None:
        compiled.count_lists_weighted(
            rows, lists.starts, lists.members, first, last, masks, starts, factors, owners, out
        )

    _run_slices(part, lists.size, work, n_threads)
    return out


def weights_of_blocks(words: BitRows, columns: Integers, weights: Integers, block: int) -> Integers:
    """Return the sum of the weights of the records whose bit column is set, for each block of so many records."""
    out = np.zeros(-(-columns.size // block), np.int64)
    _kernels().weights_of_blocks(words, columns, weights, block, out)
    return out


def kth_by_weight(
    words: BitRows, columns: Integers, weights: Integers, block: int, before: Integers, ks: Integers
) -> Integers:
    """Return the record that the k-th unit of weight belongs to, among the records whose bit column is set.

    ``before`` is the weight before each block of records.
    """
    blocks = np.searchsorted(before, ks, side="right") - 1
    out = np.empty(ks.size, np.int64)
    _kernels().kth_by_weight(words, columns, weights, block, blocks, ks - before[blocks], out)
    return out
