"""From a table to items: :class:`Encoder` learns the conditions of each column and computes their bit rows.

An *item* is the number of one condition. Its bit row is the result of :meth:`Condition.holds` for every record, packed.
Columns are read one at a time, and only the packed rows are kept.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import BitRows, Integers, n_words, pack
from diverse_rule_sets._bits.mapped import SpareRows, rows_with_room
from diverse_rule_sets._input.checks import did_you_mean, kept_warnings, list_text, warn
from diverse_rule_sets._input.codes import CodesByColumn
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._util.memory import MEMORY_SHARE, free_unused
from diverse_rule_sets._util.memory import physical_memory as _physical_memory
from diverse_rule_sets._util.threads import WORTH_A_THREAD, in_order
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._given import NO_CONDITIONS, GivenConditions
from diverse_rule_sets.data._possible_conditions import Binning, CutOptions, PossibleConditions, possible_conditions
from diverse_rule_sets.data._summaries import Summarised, summarised
from diverse_rule_sets.data._summary_table import SummaryTable
from diverse_rule_sets.data._value_counts import pairs_for
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._ranges import side_of
from diverse_rule_sets.model._whole_numbers import at_fewest_points, in_whole_numbers


class Encoded(NamedTuple):
    """Records as bits: a row for each item (``rows``) and for each given condition (``given``)."""

    rows: BitRows
    given: BitRows


class Encoder:
    """Learns the conditions of each column, and computes their bit rows.

    :meth:`fit` learns the conditions; :meth:`transform` returns the bits of any block of records. :meth:`fit_transform`
    does both and reads each column once. Conditions that hold for no record or for every record are left out, because
    they do not distinguish records.

    Parameters
    ----------
    options : how columns become conditions
    given : conditions of given rules and scorecards, whose bits are computed as well; they do not become items
    n_threads : number of threads on which columns of large tables are read; no result depends on it

    Attributes
    ----------
    conditions : list of Condition, one for each item
    columns : array (n_items,), the number of the column of each condition
    opposites : array (n_items,), the item that holds for exactly the other records with a value in that column; -1 if
        there is none
    kinds : type of each column that was read, by name
    domains : what is known about the values of each of these columns, by name
    codes : the codes for missing values of the columns of the table, by name
    orders : the categories of the columns that are compared by order, from the lowest to the highest, by name
    """

    conditions: list[Condition]
    columns: Integers
    opposites: Integers
    kinds: dict[Hashable, str]
    domains: dict[Hashable, Domain]
    codes: CodesByColumn
    orders: dict[Hashable, tuple[Any, ...]]

    def __init__(self, options: CutOptions, given: GivenConditions = NO_CONDITIONS, n_threads: int = 1) -> None:
        self.options = options
        self._given = given
        self._n_threads = n_threads
        # Conditions, and the wider items among them.
        self._wider: tuple[list[Condition], dict[int, tuple[int, ...]]] | None = None

    def extended(self, conditions: Sequence[Condition], columns: Sequence[int], opposites: Sequence[int]) -> Encoder:
        """Return a copy with further conditions, such as cuts of a scorecard, for items made from other items.

        Parameters
        ----------
        conditions : the conditions; their bits are not computed by :meth:`transform`
        columns : number of the derived column of each, from 0; they are numbered after the columns of the table
        opposites : position of the opposite of each among these conditions, or -1
        """
        encoder = copy.copy(self)
        n_items, n_columns = len(self.conditions), int(self.columns.max(initial=-1)) + 1
        encoder.conditions = [*self.conditions, *conditions]
        encoder.columns = np.append(self.columns, np.array(columns, np.int64) + n_columns)
        positions = np.array(opposites, np.int64)
        encoder.opposites = np.append(self.opposites, np.where(positions < 0, -1, positions + n_items))
        return encoder

    def readable(self, condition: Condition, in_scorecard: bool = False) -> Condition:
        """Return a condition as rules contain it: the same for the training records, but easier to read.

        Parameters
        ----------
        condition : the condition of an item, or what several items of one column have in common
        in_scorecard : whether it is that of a sign; in a column with a direction it is not changed then, because the
            points of numbers between two whole numbers would not follow the direction
        """
        domain, directed = self.domains.get(condition.column), condition.column in self.options.directed
        if domain is None:
            return at_fewest_points(condition)
        if directed and in_scorecard:
            return condition
        return in_whole_numbers(condition, domain, keep_sides=directed)

    def for_transform(self) -> Encoder:
        """Return a copy with what :meth:`transform` needs and no more, to be sent to other processes."""
        encoder = Encoder(self.options, self._given)
        encoder.conditions, encoder.kinds = self.conditions, self.kinds
        return encoder

    @property
    def wider_items(self) -> dict[int, tuple[int, ...]]:
        """The items with a bound on the same side of the same column that hold for more records, nearest first.

        Only items with one bound are listed, such as ``age > 50`` for ``age > 60``.
        """
        if self._wider is None or self._wider[0] is not self.conditions:
            self._wider = self.conditions, self._find_wider_items()
        return self._wider[1]

    def _find_wider_items(self) -> dict[int, tuple[int, ...]]:
        """Return the wider items; they are kept until there are other conditions."""
        by_side: dict[tuple[int, str], list[tuple[Any, int]]] = {}
        for item, (condition, column) in enumerate(zip(self.conditions, self.columns.tolist(), strict=True)):
            side = side_of(condition, self.orders.get(condition.column, ()))
            sides = condition.comparisons if side is None else (side,)
            if len(sides) == 1:
                test, bound = sides[0]
                by_side.setdefault((column, test), []).append((bound, item))
        wider: dict[int, tuple[int, ...]] = {}
        for (_, test), found in by_side.items():
            items = [item for _, item in sorted(found, reverse=test.startswith("<"))]
            wider.update({item: tuple(items[:j][::-1]) for j, item in enumerate(items)})
        return wider

    def fit(self, table: Table, target: Target) -> Encoder:
        """Learn the conditions.

        Parameters
        ----------
        table : the records
        target : the classes that supervised cut points separate
        """
        self._learn(table, target, None)
        return self

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave out some items: those that turn out to hold for no or for every record."""
        self.conditions = [condition for condition, flag in zip(self.conditions, kept, strict=True) if flag]
        position = np.append(np.cumsum(kept) - 1, -1)
        position[:-1][~kept] = -1
        self.columns, self.opposites = self.columns[kept], position[self.opposites[kept]]

    def fit_transform(self, table: Table, target: Target) -> Encoded:
        """Learn the conditions and return the bits of the same records; each column is read once."""
        blocks = _Blocks(table.n_records, self._given)
        self._learn(table, target, blocks)
        return blocks.finish()

    def transform(self, table: Table) -> Encoded:
        """Return the bits of some records; each column is read once."""
        blocks = _Blocks(table.n_records, self._given)
        by_column: dict[Hashable, list[Condition]] = {}
        for condition in self.conditions:
            by_column.setdefault(condition.column, []).append(condition)
        for name in self._columns_read(table):
            conditions = by_column.get(name, [])
            if conditions or name in self._given.columns:
                column = table.column(name, self.kinds.get(name, ""))
                rows = [pack(condition.holds(column)) for condition in conditions]
                blocks.append(rows, [(number, pack(flags)) for number, flags in self._given.holds(column)])
        return blocks.finish()

    def columns_tested(self, table: Table) -> frozenset[Hashable]:
        """Return the columns that :meth:`transform` reads."""
        tested = {condition.column for condition in self.conditions}
        return frozenset(name for name in table.names if name in tested or name in self._given.columns)

    @property
    def n_given(self) -> int:
        """Number of given conditions."""
        return len(self._given)

    @property
    def given_conditions(self) -> GivenConditions:
        """The given conditions, whose bits are computed beside those of the items."""
        return self._given

    def _columns_read(self, table: Table) -> list[Hashable]:
        """Return the columns that become items or that given conditions test, in the order of the table."""
        used = self._given.columns
        return [name for name in table.names if name in used or name not in self.options.forbidden]

    def _learn(self, table: Table, target: Target, blocks: _Blocks | None) -> None:
        """Learn the conditions column by column; if blocks are given, add the bits to them.

        Columns of large tables are read on several threads; what they give is put together in their order.
        """
        _check_binning(self.options.binning, table)
        self.conditions, self.kinds, self.domains, self.orders, columns = [], {}, {}, {}, []
        self.codes = table.codes
        opposite_conditions: list[Condition | None] = []
        number, names = -1, self._columns_read(table)
        is_large = blocks is not None and table.n_records >= WORTH_A_THREAD
        learn_one = partial(self._learn_column, table, target, blocks is not None)
        for name, found in zip(names, in_order(learn_one, names, self._n_threads if is_large else 1), strict=True):
            for message in found.warnings:
                warn(message)
            self.kinds[name], self.domains[name] = found.column.kind, found.domain
            if found.column.order:
                self.orders[name] = found.column.order
            if blocks is not None:
                blocks.append(found.rows, found.given)
            if is_large:
                free_unused()  # what the column took on its thread
            if name in self.options.forbidden:
                continue
            number += 1
            self.conditions.extend(found.conditions)
            columns.extend([number] * len(found.conditions))
            opposite_conditions.extend(found.conditions.values())
        item_of = {condition: item for item, condition in enumerate(self.conditions)}
        opposites = [-1 if one is None else item_of.get(one, -1) for one in opposite_conditions]
        self.columns, self.opposites = np.array(columns, np.int64), np.array(opposites, np.int64)

    def _learn_column(self, table: Table, target: Target, with_rows: bool, name: Hashable) -> _LearntColumn:
        """Learn the conditions on one column, and compute their bits if they are wanted."""
        with kept_warnings() as messages:
            if isinstance(table, SummaryTable):
                groups = table.summarised(name, target.weights)
                column = groups.column
            else:
                column = table.column(name)
                groups = summarised(column, target, pairs_for(len(table.names)))
            given = [(number, pack(flags)) for number, flags in self._given.holds(column)] if with_rows else []
            found: PossibleConditions = {}
            rows: list[BitRows] = []
            values = column if with_rows else replace(column, values=np.unique(column.values), lows=None)
            possible = {} if name in self.options.forbidden else self._possible_conditions(groups)
            for condition, opposite in possible.items():
                flags = condition.holds(values)
                # Groups do not tell whether a condition inside a group holds for some records.
                if (flags.any() and not flags.all()) or (not with_rows and not groups.exact):
                    found[condition] = opposite
                    if with_rows:
                        rows.append(pack(flags))
        return _LearntColumn(replace(column, values=column.values[:0]), groups.domain, found, rows, given, messages)

    def _possible_conditions(self, groups: Summarised) -> PossibleConditions:
        """Return the possible conditions on a column; an error names it."""
        column = groups.column
        try:
            return possible_conditions(column, self.options, groups.target, groups.totals)
        except ValueError as error:
            text = str(error)
            raise ValueError(text if repr(column.name) in text else f"column {column.name!r}: {text}") from None


class _LearntColumn(NamedTuple):
    """What a column gives: its type, conditions with their opposites, bit rows, those of given conditions, warnings."""

    column: Column
    domain: Domain
    conditions: PossibleConditions
    rows: list[BitRows]
    given: list[tuple[int, BitRows]]
    warnings: list[str]


class _Blocks:
    """The bit rows of some records, built while columns are read one after the other."""

    def __init__(self, n_records: int, given: GivenConditions) -> None:
        self._rows = _Rows(n_records)
        self._given = np.zeros((len(given), n_words(n_records)), np.uint64)

    def append(self, rows: Sequence[BitRows], given: Sequence[tuple[int, BitRows]]) -> None:
        """Add the rows of the conditions on a column, and those of given conditions with their numbers."""
        for row in rows:
            self._rows.append(row)
        for number, row in given:
            self._given[number] = row

    def finish(self) -> Encoded:
        """Return all rows."""
        return Encoded(self._rows.finish(), self._given)


class _Rows:
    """A matrix of bit rows that is extended in place, without a second copy in memory."""

    def __init__(self, n_bits: int) -> None:
        self._words = SpareRows((16, n_words(n_bits)), np.uint64)
        self._used = 0
        self._limit = MEMORY_SHARE * _physical_memory()

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
                    "leave out columns, group categories, or fit on a sample of the records"
                ) from None
        self._words[self._used] = row
        self._used += 1

    def finish(self) -> BitRows:
        return rows_with_room(self._words, self._used)


def _check_binning(binning: Binning, table: Table) -> None:
    if isinstance(binning, Mapping):
        for name in binning:
            if name not in table:
                raise ValueError(
                    f"binning names the column {name!r}, which X does not have; its columns: {list_text(table.names)}"
                    f"{did_you_mean(name, table.names)}"
                )
