"""From a table to items: :class:`Encoder` learns which conditions each column contributes, and the bits of each.

An *item* is the number of one condition. Its bit row is what :meth:`Condition.holds` says of every record,
packed. Columns are read one at a time, and only the packed rows stay.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import BitRows, Integers, n_words, pack
from diverse_rule_sets._input.tables import Column, Table
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._offers import Binning, CutOptions, offered_conditions
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._rules import Rule

# Share of the machine's memory that the bit rows may take; the search may hold them twice.
_MEMORY_SHARE = 0.4


class Encoded(NamedTuple):
    """Records as bits: a row for each condition, and one for each given rule."""

    rows: BitRows
    given: BitRows


class Encoder:
    """Learns which conditions each column contributes, and turns records into bit rows.

    :meth:`fit` learns the conditions; :meth:`transform` gives the bits of any block of records. :meth:`fit_transform`
    does both and reads each column once. Conditions that hold for no record or for every record tell no two records
    apart, and are left out.

    Parameters
    ----------
    options : how columns become conditions
    given_rules : rules whose covers are wanted as well; their conditions do not become items

    Attributes
    ----------
    conditions : list of Condition, an item each
    columns : array (n_items,), the number of the column of each condition
    opposites : array (n_items,), the item that holds for just the other records with a value in that column, -1 where
        there is none
    """

    conditions: list[Condition]
    columns: Integers
    opposites: Integers

    def __init__(self, options: CutOptions, given_rules: Sequence[Rule] = ()) -> None:
        self.options = options
        self._given_rules = tuple(given_rules)

    def fit(self, table: Table, target: Target) -> Encoder:
        """Learn the conditions.

        Parameters
        ----------
        table : the records
        target : the classes that supervised cuts are to tell apart
        """
        self._learn(table, target, None)
        return self

    def fit_transform(self, table: Table, target: Target) -> Encoded:
        """Learn the conditions and return the bits of the same records; each column is read once."""
        blocks = _Blocks(table.n_records, self._given_rules)
        self._learn(table, target, blocks)
        return blocks.finish()

    def transform(self, table: Table) -> Encoded:
        """Return the bits of some records; each column is read once."""
        blocks = _Blocks(table.n_records, self._given_rules)
        by_column: dict[Hashable, list[Condition]] = {}
        for condition in self.conditions:
            by_column.setdefault(condition.column, []).append(condition)
        for name in self._columns_read(table):
            conditions = by_column.get(name, [])
            if conditions or blocks.reads(name):
                column = table.column(name)
                for condition in conditions:
                    blocks.append(condition.holds(column))
                blocks.add_given(column)
        return blocks.finish()

    def _columns_read(self, table: Table) -> list[Hashable]:
        """Return the columns that become items or that given rules use, in the order of the table."""
        used = {condition.column for rule in self._given_rules for condition in rule.conditions}
        return [name for name in table.names if name in used or name not in self.options.forbidden]

    def _learn(self, table: Table, target: Target, blocks: _Blocks | None) -> None:
        """Learn the conditions column by column; where blocks are given, add the bits to them."""
        _check_columns_of(self.options.binning, table)
        self.conditions, columns = [], []
        wanted: list[Condition | None] = []
        number = -1
        for name in self._columns_read(table):
            column = table.column(name)
            if blocks is not None:
                blocks.add_given(column)
            if name in self.options.forbidden:
                continue
            number += 1
            seen = column if blocks is not None else replace(column, values=np.unique(column.values))
            for condition, opposite in offered_conditions(column, self.options, target).items():
                answers = condition.holds(seen)
                if answers.any() and not answers.all():
                    if blocks is not None:
                        blocks.append(answers)
                    self.conditions.append(condition)
                    columns.append(number)
                    wanted.append(opposite)
        item_of = {condition: item for item, condition in enumerate(self.conditions)}
        opposites = [-1 if opposite is None else item_of.get(opposite, -1) for opposite in wanted]
        self.columns, self.opposites = np.array(columns, np.int64), np.array(opposites, np.int64)


class _Blocks:
    """The bit rows of some records, while columns are read one after the other."""

    def __init__(self, n_records: int, given_rules: Sequence[Rule]) -> None:
        self._rows = _Rows(n_records)
        self._rules = given_rules
        self._given = np.tile(pack(np.ones(n_records, np.bool_)), (len(given_rules), 1))

    def reads(self, name: Hashable) -> bool:
        """Tell whether a given rule has a condition on a column."""
        return any(condition.column == name for rule in self._rules for condition in rule.conditions)

    def append(self, answers: NDArray[np.bool_]) -> None:
        """Add the row of a condition."""
        self._rows.append(pack(answers))

    def add_given(self, column: Column) -> None:
        """Apply the conditions of the given rules on a column."""
        for row, rule in zip(self._given, self._rules, strict=True):
            for condition in rule.conditions:
                if condition.column == column.name:
                    try:
                        row &= pack(condition.holds(column))
                    except ValueError as error:
                        raise ValueError(f"given_rules has the rule {rule}: {error}") from None

    def finish(self) -> Encoded:
        """Return all rows."""
        return Encoded(self._rows.finish(), self._given)


class _Rows:
    """A matrix of bit rows that grows without ever being held twice."""

    def __init__(self, n_bits: int) -> None:
        self._words = np.zeros((16, n_words(n_bits)), np.uint64)
        self._used = 0
        self._limit = _MEMORY_SHARE * _physical_memory()

    def append(self, row: BitRows) -> None:
        if self._used == self._words.shape[0]:
            n_rows = self._used + max(16, self._used // 4)
            needed = n_rows * self._words.shape[1] * 8
            try:
                if needed > self._limit:
                    raise MemoryError
                self._words.resize((n_rows, self._words.shape[1]), refcheck=False)
            except MemoryError:
                raise MemoryError(
                    f"the table has over {self._used:,} items, whose bits would take more than {needed / 1e9:.1f} GB; "
                    "lower n_bins, leave out columns or categories, or fit on a sample of the records"
                ) from None
        self._words[self._used] = row
        self._used += 1

    def finish(self) -> BitRows:
        self._words.resize((self._used, self._words.shape[1]), refcheck=False)
        return self._words


def _physical_memory() -> float:
    """Bytes of memory of this machine or of its container; infinite where neither says."""
    try:
        memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        memory = math.inf
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit:
            return min(memory, float(limit.read()))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return memory


def _check_columns_of(binning: Binning, table: Table) -> None:
    if isinstance(binning, Mapping):
        for name in binning:
            if name not in table:
                raise ValueError(
                    f"binning names the column {name!r}, which X does not have; its columns: {table.names}"
                )
