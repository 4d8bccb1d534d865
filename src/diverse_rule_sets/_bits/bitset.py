"""Packed rows of bits: pack, unpack, AND, count. This module does not depend on rules or records.

A *row* is a boolean vector of ``n_bits`` values, packed into 64-bit words. The first value is the lowest bit of the
first word, and the unused bits of the last word are zero. A matrix of rows is an array ``(n_rows, n_words)``. Rows
that are to be combined are given by their numbers, as one list of a :class:`Lists`.

The compiled kernels are loaded on first use: importing this module does not import numba.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BitRows = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

# With fewer word operations than this for each thread, starting a thread takes longer than it saves.
_WORTH_A_THREAD = 2_000_000

# From so many masks on, rows are counted under several masks at a time.
_SEVERAL_MASKS = 4

# Rows of at most so many words are short.
_SHORT = 4096

# Row numbers that are listed at a time.
_MAX_BUFFER = 1 << 22


class Lists(NamedTuple):
    """Many short ascending lists of row numbers in one array: list j is ``members[starts[j]:starts[j + 1]]``."""

    starts: Integers
    members: NDArray[np.int32]

    @classmethod
    def of(cls, lists: Iterable[Sequence[int]]) -> Lists:
        """Return the lists given as Python sequences."""
        lists = list(lists)
        starts = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(one) for one in lists], out=starts[1:])
        members = np.fromiter((i for one in lists for i in one), np.int32, int(starts[-1]))
        return cls(starts, members)

    @classmethod
    def concatenate(cls, parts: Sequence[Lists]) -> Lists:
        """Return the lists of all parts, in order."""
        lengths = [part.lengths for part in parts]
        starts = np.zeros(sum(map(len, lengths)) + 1, np.int64)
        if lengths:
            np.cumsum(np.concatenate(lengths), out=starts[1:])
        members = [part.members for part in parts]
        return cls(starts, np.concatenate(members) if members else np.zeros(0, np.int32))

    @property
    def size(self) -> int:
        """Number of lists."""
        return self.starts.size - 1

    @property
    def lengths(self) -> Integers:
        """Number of members of each list."""
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

    def take(self, numbers: Integers) -> Lists:
        """Return the lists with the given numbers, in that order."""
        lengths = self.starts[numbers + 1] - self.starts[numbers]
        starts = np.zeros(numbers.size + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        positions = np.arange(starts[-1]) + np.repeat(self.starts[numbers] - starts[:-1], lengths)
        return Lists(starts, self.members[positions])

    def equal_to(self, members: NDArray[np.int32], among: Integers) -> Flags:
        """Return which of the lists with the numbers ``among`` have exactly these members."""
        equal = self.starts[among + 1] - self.starts[among] == members.size
        same_length = self.starts[among[equal]]
        equal[equal] = (self.members[same_length[:, None] + np.arange(members.size)] == members).all(axis=1)
        return equal

    def keep_members(self, keep: Flags) -> Lists:
        """Return the same number of lists, with only the members whose flag is set; lists may become empty."""
        before = np.zeros(keep.size + 1, np.int64)
        np.cumsum(keep, out=before[1:])
        return Lists(before[self.starts], self.members[keep])


def n_words(n_bits: int) -> int:
    """Return the number of 64-bit words that hold ``n_bits`` bits."""
    return -(-n_bits // 64)


def pack(flags: Flags) -> BitRows:
    """Pack a boolean array into words along its last axis."""
    width = n_words(flags.shape[-1])
    out = np.zeros((*flags.shape[:-1], width * 8), np.uint8)
    packed = np.packbits(flags, axis=-1, bitorder="little")
    out[..., : packed.shape[-1]] = packed
    return out.view("<u8").astype(np.uint64, copy=False)


def unpack(words: BitRows, n_bits: int) -> Flags:
    """Return the boolean array that was packed."""
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=n_bits, bitorder="little").view(np.bool_)


def distinct_rows(flags: Flags) -> tuple[Flags, Integers]:
    """Return the distinct rows of a boolean array (n_rows, n_columns), usually few, and which of them each row is."""
    if not flags.shape[1]:
        return flags[:1], np.zeros(len(flags), np.int64)
    packed = np.packbits(flags, axis=1)
    values = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), np.uint8)
    values[:, : packed.shape[1]] = packed
    words = values.view(np.uint64)
    if words.shape[1] > 1:
        words = values.view(np.dtype((np.void, values.shape[1])))  # a row as one value sorts faster
    _, first, which = np.unique(words.reshape(-1), return_index=True, return_inverse=True)
    return flags[first], which.reshape(-1)


def popcount(words: BitRows) -> Integers:
    """Count the set bits along the last axis."""
    return np.bitwise_count(words).sum(axis=-1, dtype=np.int64)


def conjunction(rows: BitRows, members: NDArray[np.int32]) -> BitRows:
    """Return the AND of the rows with the given numbers; at least one."""
    return np.bitwise_and.reduce(rows[members], axis=0)


@cache
def _kernels() -> ModuleType:
    """Import the compiled kernels on first use."""
    from diverse_rule_sets._bits import kernels

    return kernels


def count(rows: BitRows, lists: Lists, masks: BitRows, n_threads: int = 1) -> Integers:
    """Count the bits of the AND of each list's rows under each mask.

    Parameters
    ----------
    rows : array (n_rows, n_words)
    lists : Lists of row numbers; the AND of an empty list is all ones
    masks : array (n_masks, n_words), unused bits zero
    n_threads : number of threads; the result does not depend on it

    Returns
    -------
    array (lists.size, n_masks) of int64
    """
    kernels = _kernels()
    out = np.zeros((lists.size, masks.shape[0]), np.int64)
    work = (lists.members.size + lists.size * masks.shape[0]) * rows.shape[1]

    def part(first: int, last: int) -> None:
        kernels.count(rows, lists.starts, lists.members, first, last, masks, out)

    _run_slices(part, lists.size, work, n_threads)
    return out


def count_lists_segments(rows: BitRows, lists: Lists, starts: Integers, n_threads: int = 1) -> Integers:
    """Count the bits of the AND of each list's rows in each segment of words: int64 array (lists.size, n_segments).

    No list is empty; ``starts`` and ``n_threads`` are as for :func:`count_segments`.
    """
    kernels = _kernels()
    out = np.zeros((lists.size, starts.size - 1), np.int64)

    def part(first: int, last: int) -> None:
        kernels.count_lists_segments(rows, lists.starts, lists.members, first, last, starts, out)

    _run_slices(part, lists.size, lists.members.size * rows.shape[1], n_threads)
    return out


def count_segments(rows: BitRows, masks: BitRows, starts: Integers, n_threads: int = 1) -> Integers:
    """Count the bits of each row under each mask, separately for each segment of words.

    Parameters
    ----------
    rows, masks : arrays (n_rows, n_words) and (n_masks, n_words)
    starts : the first word of each segment, followed by n_words
    n_threads : number of threads; the result does not depend on it

    Returns
    -------
    array (n_segments, n_masks, n_rows) of int64
    """
    kernels = _kernels()
    out = np.zeros((starts.size - 1, masks.shape[0], rows.shape[0]), np.int64)

    count_part = kernels.count_segments if masks.shape[0] < _SEVERAL_MASKS else kernels.count_segments_of_many

    def part(first: int, last: int) -> None:
        count_part(rows, first, last, masks, starts, out)

    _run_slices(part, rows.shape[0], rows.size * masks.shape[0], n_threads)
    return out


def _run_slices(part: Callable[[int, int], None], n: int, work: int, n_threads: int) -> None:
    """Call ``part(first, last)`` for slices of 0..n, one slice per thread; one slice if there is little work."""
    n_threads = int(min(n_threads, 1 + work // _WORTH_A_THREAD))
    if n_threads <= 1:
        part(0, n)
        return
    cuts = np.linspace(0, n, n_threads + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(part, first, last) for first, last in itertools.pairwise(cuts)]
        for future in futures:
            future.result()


def members_of(rows: BitRows, columns: Integers) -> Lists:
    """List, for each bit column, the rows whose bit is set there."""
    step = max(1, _MAX_BUFFER // max(rows.shape[0], 1))
    parts = []
    for begin in range(0, columns.size, step):
        some = columns[begin : begin + step]
        starts = np.zeros(some.size + 1, np.int64)
        buffer = np.empty(some.size * rows.shape[0], np.int32)  # as if every bit were set
        _kernels().members_of(rows, some, starts[1:], buffer)
        parts.append(Lists(starts, buffer[: starts[-1]].copy()))
    return parts[0] if len(parts) == 1 else Lists.concatenate(parts)


def kth_set(words: BitRows, before: Integers, ks: Integers) -> Integers:
    """Return the position of the k-th set bit of a row (from 0), for each k.

    ``before`` is the number of set bits before each word.
    """
    numbers = np.searchsorted(before, ks, side="right") - 1  # of the word that holds each bit
    out = np.empty(ks.size, np.int64)
    _kernels().kth_set(words, numbers, ks - before[numbers], out)
    return out


def at(words: BitRows, positions: Integers) -> Flags:
    """Return the bits of a row at some positions."""
    return ((words[positions >> 6] >> (positions & 63).astype(np.uint64)) & np.uint64(1)).astype(np.bool_)


@lru_cache(maxsize=16)
def _numbers(first: int, n: int) -> BitRows:
    """Return a number for each word from the first one on; for short rows the result is kept."""
    return np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def checksum(words: BitRows, first: int = 0) -> int:
    """Return a hash of a row: the sum of a hash of each word, modulo 2**64. Different rows almost surely differ.

    Parameters
    ----------
    words : the row
    first : the number of its first word, if the row is a part of a longer row; the hashes of the parts add up, modulo
        2**64, to the hash of the longer row
    """
    mixed = words ^ (_numbers if words.size <= _SHORT else _numbers.__wrapped__)(first, words.size)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 0xD6E8FEB86659FD93)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    mixed ^= mixed >> np.uint64(32)
    return int(mixed.sum(dtype=np.uint64))


def all_set(rows: BitRows, lists: Lists, columns: Integers) -> Flags:
    """Return for each list whether all its rows are set at its bit column; True for an empty list."""
    out = np.empty(columns.size, np.bool_)
    _kernels().all_set(rows, lists.starts, lists.members, columns, out)
    return out


def claim(rows: BitRows, lists: Lists, masks: BitRows, own: Integers, left: BitRows) -> tuple[Flags, BitRows]:
    """Assign bits to lists, in order: a list gets the remaining bits of the AND of its rows, or none.

    It gets none if none of these bits lies under the mask of the list.

    Parameters
    ----------
    rows, masks : arrays (n_rows, n_words) and (n_masks, n_words)
    lists : Lists of row numbers
    own : the number of the mask of each list
    left : the bits that can be assigned

    Returns
    -------
    boolean array (lists.size,), which lists got bits; and the bits that remain
    """
    out, left = np.empty(lists.size, np.bool_), left.copy()
    _kernels().claim(rows, lists.starts, lists.members, masks, own, left, out)
    return out, left
