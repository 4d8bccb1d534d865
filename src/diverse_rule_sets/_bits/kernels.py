"""The compiled loops behind :mod:`diverse_rule_sets._bits.bitset`; the only file that imports numba.

Every kernel turns integers into integers: no chance and no floating point lives here, so that the
answers are the same on any number of threads and with the compiler switched off. Kernels release
the GIL and are cut into slices by their callers; they start no threads of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import intrinsic

# BitRows of each bit row that are worked on together: 4 KiB of each row in use stay in the second-level cache.
BLOCK = 512


if numba.config.DISABLE_JIT:

    def _popcount(word: Any) -> int:
        """Count the set bits of one word in plain Python."""
        return int(word).bit_count()

else:

    @intrinsic
    def _popcount(typingctx: Any, word: Any) -> Any:
        """Count the set bits of one word with the processor's own instruction."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return word(word), codegen


def _kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the GIL, and keep the result on disk where some folder can be written."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder to keep it in: compile once per process instead
        return numba.njit(nogil=True)(function)


@_kernel
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


@_kernel
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


@_kernel
def count_members(rows, columns, out):  # type: ignore[no-untyped-def]
    """Count, for each bit column, the rows whose bit is set there."""
    for j in range(columns.shape[0]):
        word = columns[j] >> 6
        shift = np.uint64(columns[j] & 63)
        n = 0
        for i in range(rows.shape[0]):
            if (rows[i, word] >> shift) & np.uint64(1):
                n += 1
        out[j] = n


@_kernel
def kth_set(words, places, ks, out):  # type: ignore[no-untyped-def]
    """Find, for each k, the place of the k-th set bit of the word at its place."""
    for j in range(places.shape[0]):
        word = words[places[j]]
        for _ in range(ks[j]):
            word &= word - np.uint64(1)
        out[j] = places[j] * 64 + np.int64(_popcount((word - np.uint64(1)) & ~word))


@_kernel
def members_of(rows, columns, starts, out):  # type: ignore[no-untyped-def]
    """List, for each bit column, the rows whose bit is set there, in ascending order."""
    for j in range(columns.shape[0]):
        word = columns[j] >> 6
        shift = np.uint64(columns[j] & 63)
        k = starts[j]
        for i in range(rows.shape[0]):
            if (rows[i, word] >> shift) & np.uint64(1):
                out[k] = i
                k += 1


@_kernel
def all_set(rows, starts, members, columns, out):  # type: ignore[no-untyped-def]
    """Tell, for each list, whether all its rows have their bit set at its bit column."""
    for j in range(columns.shape[0]):
        word = columns[j] >> 6
        shift = np.uint64(columns[j] & 63)
        held = True
        for i in range(starts[j], starts[j + 1]):
            if not (rows[members[i], word] >> shift) & np.uint64(1):
                held = False
                break
        out[j] = held


@_kernel
def claim(rows, starts, members, masks, own, left, out):  # type: ignore[no-untyped-def]
    """Let lists, in order, take the bits of their AND out of ``left`` if one lies under their own mask; say which."""
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
