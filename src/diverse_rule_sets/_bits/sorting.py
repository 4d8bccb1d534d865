"""Packed rows of bits in another order: sorted by class. Rows that are the complement of another row."""

from __future__ import annotations

import numpy as np

from diverse_rule_sets._bits.bitset import BitRows, Integers, _kernels, _run_slices, n_words

# The steps of compression are kept for repeated calls if there are no more classes than this.
_FEW_CLASSES = 8
# Rows of fewer words are counted so fast that complements are not worth finding.
_LONG = 256
# Rows of a thread at a time.
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
        self._steps: dict[int, BitRows] = {}

    def sort(self, rows: BitRows, members: Integers, out: BitRows, n_threads: int = 1) -> None:
        """Write the sorted rows with some numbers to ``out``, an array (members.size, n_words) of zeros."""
        kernels = _kernels()
        for label, (mask, sizes) in enumerate(zip(self._masks, self._sizes, strict=True)):
            steps, start = self._steps_of(label), int(self.starts[label])

            def part(first: int, last: int, mask=mask, sizes=sizes, steps=steps, start=start) -> None:  # type: ignore[no-untyped-def]
                kernels.sort_bits(rows, members, first, last, mask, sizes, steps, start, out)

            _run_slices(part, members.size, members.size * rows.shape[1] * _WORK_PER_WORD, n_threads)

    def _steps_of(self, label: int) -> BitRows:
        """Return which bits each step moves: array (6, n_words)."""
        if label in self._steps:
            return self._steps[label]
        steps = _compression_steps(self._masks[label])
        if len(self._masks) <= _FEW_CLASSES:
            self._steps[label] = steps
        return steps


def _compression_steps(mask: BitRows) -> BitRows:
    """Return the bits that are moved by 1, 2, 4, ..., 32 so that the bits under a mask become the lowest of a word."""
    steps = np.empty((6, mask.size), np.uint64)
    left, zeros_below = mask.copy(), ~mask << np.uint64(1)  # the zeros to the right of each bit are counted
    for k in range(6):
        parity = zeros_below.copy()
        for shift in (1, 2, 4, 8, 16, 32):
            parity ^= parity << np.uint64(shift)
        steps[k] = parity & left
        left = (left ^ steps[k]) | (steps[k] >> np.uint64(1 << k))
        zeros_below &= ~parity
    return steps


def complements(rows: BitRows, every: BitRows, n_threads: int = 1) -> tuple[Integers, Integers]:
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
    if rows.shape[1] >= _LONG:
        _kernels().find_complements(rows, every, first, other)
    return first, other
