"""Packed rows of bits in another order: sorted by class. Rows that are the complement of another row."""

from __future__ import annotations

from typing import Any

import numpy as np

from diverse_rule_sets._bits.bitset import BitRows, Integers, _kernels, _run_slices, n_words

# The steps of compression of so many words are made at a time, and kept if these are all: 32 MB.
_MAX_STEPS = 1 << 22
# Rows of fewer words are counted so fast that complements are not worth finding.
LONG = 1024
# Number of operations that a word of a row takes.
_WORK_PER_WORD = 60


class WordSorter:
    """Sorts the bits of rows by class; each class starts at a new word, in the order of the bits.

    The bits of a class are taken out of each word by compression in six steps, each of which moves some of the bits by
    a power of two (H. S. Warren, "Hacker's Delight", 2nd edition, section 7-4), and are added to the bits before them.

    Parameters
    ----------
    masks : array (n_classes, n_words), the bits of each class; every bit has at most one class
    """

    def __init__(self, masks: BitRows) -> None:
        self._masks = masks
        self._sizes = np.bitwise_count(masks).astype(np.int64)
        self.starts = np.zeros(masks.shape[0] + 1, np.int64)
        np.cumsum([n_words(int(n)) for n in self._sizes.sum(axis=1)], out=self.starts[1:])
        self._together = max(1, _MAX_STEPS // (6 * max(masks.shape[1], 1)))  # number of classes at a time
        self._steps: BitRows | None = None  # of all classes, if they are not many

    def sort(self, rows: BitRows, members: Integers, out: BitRows, n_threads: int = 1) -> None:
        """Write the sorted rows with some numbers to ``out``, an array (members.size, n_words) of zeros."""
        kernels, n_classes = _kernels(), len(self._masks)
        for label in range(0, n_classes, self._together):
            some = slice(label, min(label + self._together, n_classes))
            of_classes = self._masks[some], self._sizes[some], self._steps_of(some), self.starts[some]

            def part(first: int, last: int, of_classes: Any = of_classes) -> None:
                kernels.sort_bits(rows, members, first, last, *of_classes, out)

            _run_slices(part, members.size, members.size * rows.shape[1] * _WORK_PER_WORD, n_threads)

    def _steps_of(self, some: slice) -> BitRows:
        """Return which bits each step moves for some classes: array (n, 6, n_words)."""
        if self._together < len(self._masks):
            return _compression_steps(self._masks[some])
        if self._steps is None:
            self._steps = _compression_steps(self._masks)
        return self._steps


def _compression_steps(masks: BitRows) -> BitRows:
    """Return the bits that are moved by 1, 2, 4, ..., 32 so that the bits under a mask become the lowest of a word.

    The result is an array (n_masks, 6, n_words).
    """
    steps = np.empty((len(masks), 6, masks.shape[1]), np.uint64)
    left, zeros_below = masks.copy(), ~masks << np.uint64(1)  # the zeros to the right of each bit are counted
    for k in range(6):
        parity = zeros_below.copy()
        for shift in (1, 2, 4, 8, 16, 32):
            parity ^= parity << np.uint64(shift)
        moved = parity & left
        left = (left ^ moved) | (moved >> np.uint64(1 << k))
        steps[:, k] = moved
        zeros_below &= ~parity
    return steps


def complements(rows: BitRows, every: BitRows) -> tuple[Integers, Integers]:
    """Find rows that are set exactly where the row before and, possibly, one later row are not.

    Parameters
    ----------
    rows : array (n_rows, n_words)
    every : the bits that are in use

    Returns
    -------
    two arrays (n_rows,): the row before, and the later row, or -1; both are -1 for rows that are no such complement.
    Rows that are named are no complements themselves. Short rows are not compared.
    """
    first, other = np.full(rows.shape[0], -1, np.int64), np.full(rows.shape[0], -1, np.int64)
    if rows.shape[1] >= LONG:
        _kernels().find_complements(rows, every, first, other)
    return first, other
