"""Sums of points over packed rows, as planes of bits: plane p holds bit p of the sum of each record.

Rows are added word by word, 64 records at a time, as an adder of a processor does. So the sum of each record is never
written as a number of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from diverse_rule_sets._bits.bitset import BitRows, _kernels

# Number of rows that are copied at a time.
_TOGETHER = 32


def sums_as_planes(
    rows: Sequence[BitRows], values: Sequence[int], every: BitRows, after_some: Callable[[], None] = lambda: None
) -> tuple[BitRows, int]:
    """Add up the values of the rows in which each bit is set.

    Parameters
    ----------
    rows : bit rows
    values : what each row adds; possibly negative
    every : the bits that are in use
    after_some : called after some rows are read

    Returns
    -------
    array (n_planes, n_words) with the bits of non-negative numbers, and the number to add to get the sums
    """
    # A row that subtracts v is the complement that adds v, and v less for every record.
    least = sum(min(value, 0) for value in values)
    n_planes = max(1, sum(map(abs, values)).bit_length())
    planes = np.zeros((n_planes, every.size), np.uint64)
    used = [(row, value) for row, value in zip(rows, values, strict=True) if value]
    for begin in range(0, len(used), _TOGETHER):
        some = used[begin : begin + _TOGETHER]
        added = np.array([row if value > 0 else every & ~row for row, value in some])
        _kernels().add_to_planes(added, np.array([abs(value) for _, value in some], np.int64), planes)
        after_some()
    return planes, least


def levels_of(planes: BitRows, every: BitRows) -> Iterator[tuple[int, BitRows]]:
    """Yield each number that occurs among the bits in use, ascending, with the row of its bits."""
    if not every.any():
        return
    stack = [(0, len(planes), every)]
    while stack:
        number, n_left, row = stack.pop()
        if not n_left:
            yield number, row
            continue
        plane = planes[n_left - 1]
        for bit in (1, 0):  # the smaller numbers are on top of the stack
            part = row & plane if bit else row & ~plane
            if part.any():
                stack.append((number | bit << (n_left - 1), n_left - 1, part))
