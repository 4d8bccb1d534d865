"""The compiled loops behind :mod:`diverse_rule_sets._bits.bitset`. No other file imports numba.

Every kernel of this module computes integers from integers, without random numbers and without floating point. So the
results are the same on any number of threads and with the compiler switched off. Kernels release the GIL and start no
threads; the caller divides the work into slices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

# Number of words of each row that are processed together: 4 KiB of each row in use stay in the second-level cache.
BLOCK = 512
# The same for loops over several masks, of which 1 KiB each stay in the first-level cache.
SHORT_BLOCK = 128


if numba.config.DISABLE_JIT:

    def _popcount(word: Any) -> int:
        """Count the set bits of one word in plain Python."""
        return int(word).bit_count()

else:

    @intrinsic
    def _popcount(typingctx: Any, word: Any) -> Any:
        """Count the set bits of one word with one instruction of the processor."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return word(word), codegen


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that releases the GIL, and cache it on disk if there is a folder to write to."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder for the cache: compile once per process instead
        return numba.njit(nogil=True)(function)


@kernel
def count(rows, starts, members, first, last, masks, out):  # type: ignore[no-untyped-def]
    """Count, for lists first..last, the bits of the AND of their rows under each mask."""
    # Slices, not `rows[row, begin + w]`: only then does the compiler use vector instructions (14 times as fast).
    n_words = rows.shape[1]
    buffer = np.empty(BLOCK, np.uint64)
    for begin in range(0, n_words, BLOCK):
        end = min(begin + BLOCK, n_words)
        both = buffer[: end - begin]
        for j in range(first, last):
            both[:] = np.uint64(0xFFFFFFFFFFFFFFFF)
            for i in range(starts[j], starts[j + 1]):
                row = rows[members[i], begin:end]
                for w in range(row.size):
                    both[w] &= row[w]
            for m in range(masks.shape[0]):
                mask = masks[m, begin:end]
                total = np.uint64(0)
                for w in range(mask.size):
                    total += np.uint64(_popcount(both[w] & mask[w]))
                out[j, m] += np.int64(total)


@kernel
def count_segments(rows, first, last, masks, starts, out):  # type: ignore[no-untyped-def]
    """Count, for rows first..last under each mask, the bits in each segment of words."""
    for i in range(first, last):
        for m in range(masks.shape[0]):
            for s in range(starts.size - 1):
                row = rows[i, starts[s] : starts[s + 1]]
                mask = masks[m, starts[s] : starts[s + 1]]
                total = np.uint64(0)
                for w in range(row.size):
                    total += np.uint64(_popcount(row[w] & mask[w]))
                out[s, m, i] = np.int64(total)


@kernel
def count_segments_of_many(rows, first, last, masks, starts, out):  # type: ignore[no-untyped-def]
    """Do the same for at least four masks: a few words of a row stay in the first-level cache for all masks.

    Each word that is read is counted under four masks, so that reading takes less time than counting.
    """
    n_masks = masks.shape[0]
    for s in range(starts.size - 1):
        for begin in range(starts[s], starts[s + 1], SHORT_BLOCK):
            end = min(begin + SHORT_BLOCK, starts[s + 1])
            for i in range(first, last):
                row = rows[i, begin:end]
                for m in range(0, n_masks - 3, 4):
                    mask0, mask1 = masks[m, begin:end], masks[m + 1, begin:end]
                    mask2, mask3 = masks[m + 2, begin:end], masks[m + 3, begin:end]
                    total0, total1, total2, total3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
                    for w in range(row.size):
                        word = row[w]
                        total0 += np.uint64(_popcount(word & mask0[w]))
                        total1 += np.uint64(_popcount(word & mask1[w]))
                        total2 += np.uint64(_popcount(word & mask2[w]))
                        total3 += np.uint64(_popcount(word & mask3[w]))
                    out[s, m, i] += np.int64(total0)
                    out[s, m + 1, i] += np.int64(total1)
                    out[s, m + 2, i] += np.int64(total2)
                    out[s, m + 3, i] += np.int64(total3)
                for m in range(n_masks - n_masks % 4, n_masks):
                    mask = masks[m, begin:end]
                    total = np.uint64(0)
                    for w in range(row.size):
                        total += np.uint64(_popcount(row[w] & mask[w]))
                    out[s, m, i] += np.int64(total)


@kernel
def count_lists_segments(rows, list_starts, members, first, last, starts, out):  # type: ignore[no-untyped-def]
    """Count, for lists first..last, the bits of the AND of their rows in each segment of words."""
    buffer = np.empty(rows.shape[1], np.uint64)
    for j in range(first, last):
        buffer[:] = np.uint64(0xFFFFFFFFFFFFFFFF)  # assigning an array would take two seconds more to compile
        for i in range(list_starts[j], list_starts[j + 1]):
            row = rows[members[i]]
            for w in range(row.size):
                buffer[w] &= row[w]
        for s in range(starts.size - 1):
            part = buffer[starts[s] : starts[s + 1]]
            total = np.uint64(0)
            for w in range(part.size):
                total += np.uint64(_popcount(part[w]))
            out[j, s] = np.int64(total)


@kernel
def count_weighted(rows, first, last, masks, starts, factors, owners, out):  # type: ignore[no-untyped-def]
    """Add up, for rows first..last under each mask, the factor of each segment of words times its number of bits."""
    for s in range(starts.size - 1):
        if factors[s] == 0:
            continue
        for begin in range(starts[s], starts[s + 1], BLOCK):
            end = min(begin + BLOCK, starts[s + 1])
            for i in range(first, last):
                row = rows[i, begin:end]
                for m in range(masks.shape[0]):
                    mask = masks[m, begin:end]
                    total = np.uint64(0)
                    for w in range(row.size):
                        total += np.uint64(_popcount(row[w] & mask[w]))
                    out[owners[s], m, i] += factors[s] * np.int64(total)


@kernel
def count_shifted(rows, first, last, masks, ranges, shifts, out):  # type: ignore[no-untyped-def]
    """Do the same for short segments: ranges of words, each with its sum and sign, and a power of 2 for each word."""
    for r in range(ranges.shape[0]):
        for begin in range(ranges[r, 0], ranges[r, 1], BLOCK):
            end = min(begin + BLOCK, ranges[r, 1])
            shift = shifts[begin:end]
            for i in range(first, last):
                row = rows[i, begin:end]
                for m in range(masks.shape[0]):
                    mask = masks[m, begin:end]
                    total = np.uint64(0)
                    for w in range(row.size):
                        total += np.uint64(_popcount(row[w] & mask[w])) << shift[w]
                    out[ranges[r, 2], m, i] += ranges[r, 3] * np.int64(total)


@kernel
def count_lists_weighted(  # type: ignore[no-untyped-def]
    rows, list_starts, members, first, last, masks, starts, factors, owners, out
):
    """Add up, for the AND of the rows of each list under each mask, the factors of segments times their bits."""
    buffer = np.empty(rows.shape[1], np.uint64)
    for j in range(first, last):
        buffer[:] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for i in range(list_starts[j], list_starts[j + 1]):
            row = rows[members[i]]
            for w in range(row.size):
                buffer[w] &= row[w]
        for m in range(masks.shape[0]):
            for s in range(starts.size - 1):
                if factors[s] == 0:
                    continue
                both = buffer[starts[s] : starts[s + 1]]
                mask = masks[m, starts[s] : starts[s + 1]]
                total = np.uint64(0)
                for w in range(both.size):
                    total += np.uint64(_popcount(both[w] & mask[w]))
                out[owners[s], j, m] += factors[s] * np.int64(total)


@kernel
def weights_of_blocks(words, columns, weights, block, out):  # type: ignore[no-untyped-def]
    """Add up the weights of the records whose bit column is set, for each block of consecutive records."""
    for j in range(columns.size):
        if (words[columns[j] >> 6] >> np.uint64(columns[j] & 63)) & np.uint64(1):
            out[j // block] += weights[j]


@kernel
def kth_by_weight(words, columns, weights, block, blocks, ks, out):  # type: ignore[no-untyped-def]
    """Find the record of a block at which the weights of the records whose bit column is set add up to above k."""
    for i in range(ks.size):
        left = ks[i]
        j = blocks[i] * block
        while True:
            if (words[columns[j] >> 6] >> np.uint64(columns[j] & 63)) & np.uint64(1):
                left -= weights[j]
                if left < 0:
                    break
            j += 1
        out[i] = j


@kernel
def kth_set(words, numbers, ks, out):  # type: ignore[no-untyped-def]
    """Find, for each word number and k, the position of the k-th set bit of that word in the row."""
    for j in range(numbers.shape[0]):
        word = words[numbers[j]]
        for _ in range(ks[j]):
            word &= word - np.uint64(1)
        out[j] = numbers[j] * 64 + np.int64(_popcount((word - np.uint64(1)) & ~word))


@kernel
def members_of(rows, columns, ends, out):  # type: ignore[no-untyped-def]
    """List, for each bit column, the rows whose bit is set there, in ascending order; ``ends`` gets where lists end."""
    k = 0
    for j in range(columns.shape[0]):
        word = columns[j] >> 6
        shift = np.uint64(columns[j] & 63)
        for i in range(rows.shape[0]):
            if (rows[i, word] >> shift) & np.uint64(1):
                out[k] = i
                k += 1
        ends[j] = k


@kernel
def all_set(rows, starts, members, columns, out):  # type: ignore[no-untyped-def]
    """Find, for each list, whether all its rows have their bit set at its bit column."""
    for j in range(columns.shape[0]):
        word = columns[j] >> 6
        shift = np.uint64(columns[j] & 63)
        every = True
        for i in range(starts[j], starts[j + 1]):
            if not (rows[members[i], word] >> shift) & np.uint64(1):
                every = False
                break
        out[j] = every


@kernel
def claim(rows, starts, members, masks, own, left, out):  # type: ignore[no-untyped-def]
    """Remove the AND of each list's rows from ``left`` if part of it lies under the list's mask; flag such lists."""
    for j in range(starts.shape[0] - 1):
        mask = masks[own[j]]
        found = False
        for w in range(left.shape[0]):
            both = left[w] & mask[w]
            if both:
                for i in range(starts[j], starts[j + 1]):
                    both &= rows[members[i], w]
                if both:
                    found = True
                    break
        if found:
            for w in range(left.shape[0]):
                both = left[w]
                if both:
                    for i in range(starts[j], starts[j + 1]):
                        both &= rows[members[i], w]
                    left[w] ^= both
        out[j] = found


@kernel
def sums_by_group(groups, values, out):  # type: ignore[no-untyped-def]
    """Add the values of each column of ``values`` to its group, for each row of group numbers."""
    for i in range(groups.shape[0]):
        for j in range(groups.shape[1]):
            group = groups[i, j]
            for k in range(values.shape[1]):
                out[group, k] += values[j, k]


@kernel
def sort_bits(rows, members, first, last, masks, sizes, steps, starts, out):  # type: ignore[no-untyped-def]
    """Append the bits of rows members[first..last] under each mask, word by word, from its first word of ``out`` on."""
    buffer = np.empty(masks.shape[1], np.uint64)
    for i in range(first, last):
        row = rows[members[i]]
        for c in range(masks.shape[0]):
            mask = masks[c]
            for w in range(mask.size):
                buffer[w] = row[w] & mask[w]
            for k in range(6):
                moved = steps[c, k]
                shift = np.uint64(1 << k)
                for w in range(mask.size):
                    some = buffer[w] & moved[w]
                    buffer[w] = (buffer[w] ^ some) | (some >> shift)
            place = out[i, starts[c] :]
            at = 0
            for w in range(mask.size):
                n = sizes[c, w]
                if n == 0:
                    continue
                inside = at & 63
                place[at >> 6] |= buffer[w] << np.uint64(inside)
                if inside + n > 64:
                    place[(at >> 6) + 1] |= buffer[w] >> np.uint64(64 - inside)
                at += n


@kernel
def find_complements(rows, every, first, other):  # type: ignore[no-untyped-def]
    """Find rows that are set where neither the row before nor, possibly, one later row is; see ``complements``."""
    n, n_words = rows.shape
    named = np.zeros(n, np.bool_)  # rows from which others follow
    rest = np.empty(n_words, np.uint64)
    for j in range(1, n):
        i = j - 1
        if first[i] >= 0 or named[j]:
            continue
        any_left = np.uint64(0)
        disjoint = True
        for w in range(n_words):
            if rows[i, w] & rows[j, w]:
                disjoint = False
                break
            rest[w] = every[w] & ~(rows[i, w] | rows[j, w])
            any_left |= rest[w]
        if not disjoint:
            continue
        found = -1
        if any_left:
            for m in range(j + 1, n):
                w = 0
                while w < n_words and rows[m, w] == rest[w]:
                    w += 1
                if w == n_words:
                    found = m
                    break
            if found < 0:
                continue
            named[found] = True
        named[i] = True
        first[j], other[j] = i, found


@kernel
def add_to_planes(rows, values, planes):  # type: ignore[no-untyped-def]
    """Add the value of each row to the numbers of its bits; plane p holds bit p of each number."""
    carry = np.empty(BLOCK, np.uint64)
    for begin in range(0, rows.shape[1], BLOCK):
        end = min(begin + BLOCK, rows.shape[1])
        for i in range(rows.shape[0]):
            row = rows[i, begin:end]
            for bit in range(planes.shape[0]):
                if not (values[i] >> bit) & 1:
                    continue
                for w in range(row.size):
                    carry[w] = row[w]
                for p in range(bit, planes.shape[0]):
                    plane = planes[p, begin:end]
                    left = np.uint64(0)
                    for w in range(row.size):
                        both = plane[w] & carry[w]
                        plane[w] ^= carry[w]
                        carry[w] = both
                        left |= both
                    if left == 0:
                        break
