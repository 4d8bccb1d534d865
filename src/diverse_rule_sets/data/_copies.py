"""Copies of weighted records as bits, so that sums of weights are sums of numbers of bits.

A weight in units is a whole number, written with the digits -1, 0 and 1 to the base 2 so that no two neighbouring
digits differ from 0 (the *non-adjacent form*): 7 is 8 - 1. On average a third of the digits differ from 0. A record is
stored once for each of them; these *copies* are arranged by class and digit, each group from a new word on. So the
weight of a cover is a sum over groups of ``(+-)2**digit`` times a number of bits: one pass over a row, and an exact
integer. The copy of the highest digit represents the record where single records are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers
from diverse_rule_sets._bits.mapped import folder_of, release
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets._util.memory import MEMORY_SHARE, physical_memory
from diverse_rule_sets.data._bit_file import rows_in_file

# Rows that are mapped from a file are released after so many rows are read.
_RELEASED = 32


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the copies of each record are.

    Parameters
    ----------
    starts : the first word of each group of copies, followed by the number of words
    classes : the class of each group
    factors : what a bit of each group counts, in units
    first : flags of the groups whose copies represent their records
    sources : array (64 * n_words,), the record of each bit; -1 for unused bits
    columns : array (n_records,), the bit that represents each record
    """

    starts: Integers
    classes: Integers
    factors: Integers
    first: Flags
    sources: Integers
    columns: Integers

    @classmethod
    def of(cls, y: Integers, units: Integers) -> Layout:
        """Return the layout for classes and weights of records."""
        triple = 3 * units
        positive, negative = (triple & ~units) >> 1, (units & ~triple) >> 1
        highest = np.frexp(positive.astype(np.float64))[1] - 1 if units.size else units
        highest = np.where(positive >> np.maximum(highest, 0) == 0, highest - 1, highest)  # rounded up as floats
        groups, members = [], []
        for digit in range(int(highest.max(initial=-1)) + 1):
            is_set, is_negative = positive >> digit & 1 == 1, negative >> digit & 1 == 1
            kinds = ((1, True, is_set & (highest == digit)), (1, False, is_set & (highest != digit)))
            for sign, first, flags in (*kinds, (-1, False, is_negative)):
                records = np.flatnonzero(flags)
                for label in np.unique(y[records]).tolist():
                    groups.append((label, sign << digit, first))
                    members.append(records[y[records] == label])
        order = sorted(range(len(groups)), key=lambda k: groups[k])  # groups that count alike follow one another
        starts = np.zeros(len(groups) + 1, np.int64)
        np.cumsum([bitset.n_words(members[k].size) for k in order], out=starts[1:])
        sources, columns = np.full(64 * int(starts[-1]), -1, np.int64), np.empty(y.size, np.int64)
        for place, k in enumerate(order):
            begin = 64 * int(starts[place])
            sources[begin : begin + members[k].size] = members[k]
            if groups[k][2]:
                columns[members[k]] = np.arange(begin, begin + members[k].size)
        labels, factors = (np.array([groups[k][part] for k in order], np.int64) for part in range(2))
        represent = np.array([groups[k][2] for k in order], np.bool_)
        return cls(starts, labels, factors, represent, sources, columns)

    @property
    def n_words(self) -> int:
        """Number of words of a row."""
        return int(self.starts[-1])

    def arrange(self, rows: BitRows) -> BitRows:
        """Return bit rows over records as bit rows over copies; those of rows in a file are in another file."""
        needed = rows.shape[0] * self.sources.size / 8
        if needed > MEMORY_SHARE * physical_memory():
            raise MemoryError(
                f"the table has {rows.shape[0]:,} items, whose bits with sample_weight would take {needed / 1e9:.1f} "
                "GB; leave out columns, group categories, or round the weights to fewer digits"
            )
        place = folder_of(rows)
        if place is not None and rows.size:
            return rows_in_file(self._arranged(rows), rows.shape[0], self.n_words, place)
        out = np.empty((rows.shape[0], self.n_words), np.uint64)
        for j, row in enumerate(self._arranged(rows)):
            out[j] = row
        return out

    def _arranged(self, rows: BitRows) -> Iterator[BitRows]:
        """Yield each row over copies."""
        used = self.sources >= 0
        sources = np.where(used, self.sources, 0)
        for j, row in enumerate(rows):
            flags = bitset.unpack(row, self.columns.size)[sources] if self.columns.size else used
            yield bitset.pack(flags & used)
            if j % _RELEASED == 0:
                release(rows)


def n_copies(weights: Weights | None) -> int:
    """Return the number of copies of weighted records; 0 without weights."""
    if weights is None:
        return 0
    return int(np.bitwise_count((3 * weights.units) ^ weights.units).sum())


class Copies(NamedTuple):
    """The copies of records as the arguments of :class:`LocalBackend`."""

    rows: BitRows
    y: NDArray[np.int32]
    n_classes: int
    n_threads: int
    given: BitRows | None
    first_word: int
