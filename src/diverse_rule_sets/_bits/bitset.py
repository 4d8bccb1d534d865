"""Packed rows of bits: pack, AND, count. Knows nothing of rules or records.

A *row* is a vector of ``n_bits`` truth values in 64-bit words, the first value in the lowest bit,
the unused bits of the last word zero. A matrix of rows is ``(n_rows, n_words)``. A list of rows that
are to be combined is one entry of a :class:`Lists`.

The compiled kernels are loaded on first use: importing this module does not import numba.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BitRows = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

# Below this many word operations a second thread costs more than it saves.
_WORTH_A_THREAD = 2_000_000


class Lists(NamedTuple):
    """Many short ascending lists of row numbers, end to end: list j is members[starts[j]:starts[j+1]]."""

    starts: Integers
    members: NDArray[np.int32]

    @classmethod
    def of(cls, lists: Iterable[Sequence[int]]) -> Lists:
        """Build from Python sequences."""
        lists = list(lists)
        starts = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(one) for one in lists], out=starts[1:])
        members = np.fromiter((i for one in lists for i in one), np.int32, int(starts[-1]))
        return cls(starts, members)

    @classmethod
    def joined(cls, parts: Sequence[Lists]) -> Lists:
        """Put several collections one after the other."""
        lengths = [part.lengths for part in parts]
        starts = np.zeros(sum(map(len, lengths)) + 1, np.int64)
        if lengths:
            np.cumsum(np.concatenate(lengths), out=starts[1:])
        members = [part.members for part in parts]
        return cls(starts, np.concatenate(members) if members else np.zeros(0, np.int32))

    @property
    def size(self) -> int:
        """How many lists there are."""
        return self.starts.size - 1

    @property
    def lengths(self) -> Integers:
        """How many members each list has."""
        return np.diff(self.starts)

    def one(self, j: int) -> NDArray[np.int32]:
        """Return the members of list j."""
        return self.members[self.starts[j] : self.starts[j + 1]]

    def body(self, j: int) -> tuple[int, ...]:
        """Return the members of list j as Python integers."""
        return tuple(self.one(j).tolist())

    def tuples(self) -> Iterator[tuple[int, ...]]:
        """Return each list as a tuple of Python integers."""
        flat, starts = self.members.tolist(), self.starts.tolist()
        return (tuple(flat[a:b]) for a, b in itertools.pairwise(starts))

    def take(self, chosen: Integers) -> Lists:
        """Return the chosen lists, in that order."""
        lengths = self.starts[chosen + 1] - self.starts[chosen]
        starts = np.zeros(chosen.size + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        positions = np.arange(starts[-1]) + np.repeat(self.starts[chosen] - starts[:-1], lengths)
        return Lists(starts, self.members[positions])

    def equal_to(self, members: NDArray[np.int32], among: Integers) -> Flags:
        """Tell which of the lists named are exactly these members."""
        equal = self.starts[among + 1] - self.starts[among] == members.size
        same_length = self.starts[among[equal]]
        equal[equal] = (self.members[same_length[:, None] + np.arange(members.size)] == members).all(axis=1)
        return equal

    def keep_members(self, kept: Flags) -> Lists:
        """Drop the members whose flag is unset; the lists stay, some perhaps empty."""
        before = np.zeros(kept.size + 1, np.int64)
        np.cumsum(kept, out=before[1:])
        return Lists(before[self.starts], self.members[kept])


def n_words(n_bits: int) -> int:
    """Return how many 64-bit words hold that many bits."""
    return -(-n_bits // 64)


def pack(flags: Flags) -> BitRows:
    """Pack truth values, along the last axis, into words."""
    width = n_words(flags.shape[-1])
    out = np.zeros((*flags.shape[:-1], width * 8), np.uint8)
    packed = np.packbits(flags, axis=-1, bitorder="little")
    out[..., : packed.shape[-1]] = packed
    return out.view("<u8").astype(np.uint64, copy=False)


def unpack(words: BitRows, n_bits: int) -> Flags:
    """Return the truth values that were packed."""
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=n_bits, bitorder="little").view(np.bool_)


def popcount(words: BitRows) -> Integers:
    """Count the set bits along the last axis."""
    return np.bitwise_count(words).sum(axis=-1, dtype=np.int64)


def conjunction(rows: BitRows, members: NDArray[np.int32]) -> BitRows:
    """AND the rows named; at least one."""
    return np.bitwise_and.reduce(rows[members], axis=0)


@cache
def _kernels() -> ModuleType:
    """Load the compiled kernels on first use."""
    from diverse_rule_sets._bits import kernels

    return kernels


def count(rows: BitRows, lists: Lists, masks: BitRows, n_threads: int = 1) -> Integers:
    """Count the bits of the AND of each list's rows under each mask.

    Parameters
    ----------
    rows : array (n_rows, n_words)
    lists : Lists of row numbers; the AND of an empty list is all ones
    masks : array (n_masks, n_words), unused bits zero
    n_threads : how many threads share the lists; the answer does not depend on it

    Returns
    -------
    array (lists.size, n_masks) of int64
    """
    kernels = _kernels()
    out = np.zeros((lists.size, masks.shape[0]), np.int64)
    work = (lists.members.size + lists.size * masks.shape[0]) * rows.shape[1]

    def part(first: int, last: int) -> None:
        kernels.count(rows, lists.starts, lists.members, first, last, masks, out)

    _shared_out(part, lists.size, work, n_threads)
    return out


def count_segments(rows: BitRows, masks: BitRows, starts: Integers, n_threads: int = 1) -> Integers:
    """Count the bits of each row under each mask, apart for each segment of words.

    Parameters
    ----------
    rows, masks : arrays (n_rows, n_words) and (n_masks, n_words)
    starts : the first word of each segment, and at last n_words
    n_threads : how many threads share the rows; the answer does not depend on it

    Returns
    -------
    array (n_segments, n_masks, n_rows) of int64
    """
    kernels = _kernels()
    out = np.zeros((starts.size - 1, masks.shape[0], rows.shape[0]), np.int64)

    def part(first: int, last: int) -> None:
        kernels.count_segments(rows, first, last, masks, starts, out)

    _shared_out(part, rows.shape[0], rows.size * masks.shape[0], n_threads)
    return out


def _shared_out(part: Callable[[int, int], None], n: int, work: int, n_threads: int) -> None:
    """Do the work of 0..n in slices, one for each thread if that is worth it."""
    n_threads = int(min(n_threads, 1 + work // _WORTH_A_THREAD))
    if n_threads <= 1:
        part(0, n)
        return
    cuts = np.linspace(0, n, n_threads + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        slices = [pool.submit(part, first, last) for first, last in itertools.pairwise(cuts)]
        for done in slices:
            done.result()


def members_of(rows: BitRows, columns: Integers) -> Lists:
    """List the rows set at each bit column."""
    starts = np.zeros(columns.size + 1, np.int64)
    _kernels().count_members(rows, columns, starts[1:])
    np.cumsum(starts, out=starts)
    members = np.empty(int(starts[-1]), np.int32)
    _kernels().members_of(rows, columns, starts, members)
    return Lists(starts, members)


def kth_set(words: BitRows, before: Integers, ks: Integers) -> Integers:
    """Return the place of the k-th set bit of a row, for each k from 0; ``before`` counts the bits before each word."""
    places = np.searchsorted(before, ks, side="right") - 1
    out = np.empty(ks.size, np.int64)
    _kernels().kth_set(words, places, ks - before[places], out)
    return out


def at(words: BitRows, places: Integers) -> Flags:
    """Return the bits of a row at some places."""
    return ((words[places >> 6] >> (places & 63).astype(np.uint64)) & np.uint64(1)).astype(np.bool_)


def checksum(words: BitRows, first: int = 0) -> int:
    """Return a number for a row, almost surely different for different rows: a hash of each word, added up.

    Parameters
    ----------
    words : the row
    first : the number of its first word, where the row is one part of a longer one; the parts' numbers add up, modulo
        2**64, to that of the whole row
    """
    mixed = np.arange(first + 1, first + words.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= words
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0xD6E8FEB86659FD93)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(32)
    return int(mixed.sum(dtype=np.uint64))


def all_set(rows: BitRows, lists: Lists, columns: Integers) -> Flags:
    """Tell for each list whether every row of it is set at its bit column; an empty list: yes."""
    out = np.empty(columns.size, np.bool_)
    _kernels().all_set(rows, lists.starts, lists.members, columns, out)
    return out


def claim(rows: BitRows, lists: Lists, masks: BitRows, own: Integers, left: BitRows) -> tuple[Flags, BitRows]:
    """Let lists, in order, claim bits that are left: the AND of their rows, if part of it lies under their own mask.

    Parameters
    ----------
    rows, masks : arrays (n_rows, n_words) and (n_masks, n_words)
    lists : Lists of row numbers
    own : the number of each list's mask
    left : the bits that are there to be claimed

    Returns
    -------
    which lists claimed bits, and the bits that are still left
    """
    out, left = np.empty(lists.size, np.bool_), left.copy()
    _kernels().claim(rows, lists.starts, lists.members, masks, own, left, out)
    return out, left
