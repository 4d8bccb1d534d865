"""A table that is known by the summaries of its columns, whose records are read again when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.codes import CodesByColumn
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets.data._summaries import ColumnSummary, Summarised


class SummaryTable(Table):
    """The columns of a source: each column has a row for every group of its values, not for every record.

    Parameters
    ----------
    names : the columns that rules may read
    n_records : number of records
    summaries : the summary of each column
    classes : the final number of each class of the summaries
    codes : the codes for missing values of each column
    objects : the columns that hold Python objects
    blocks : function of some columns that returns an iterator over the records, as tables of some records each
    """

    def __init__(
        self,
        names: Sequence[Hashable],
        n_records: int,
        summaries: Mapping[Hashable, ColumnSummary],
        classes: Integers,
        codes: CodesByColumn,
        objects: frozenset[Hashable],
        blocks: Callable[[frozenset[Hashable]], Iterator[Table]],
    ) -> None:
        super().__init__(names, n_records, None, named=True)
        self.codes = codes
        self.blocks = blocks
        self.storage: Any = None  # where the bits are kept, see data/_bit_file
        self._summaries, self._classes, self._objects = summaries, classes, objects

    def column(self, name: Hashable, expected: str = "") -> Column:
        """Return the groups of a column."""
        if name not in self._summaries:
            return super().column(name, expected)  # an error that lists the columns
        return self.summarised(name, np.ones(self._classes.size)).column

    def summarised(self, name: Hashable, weights: NDArray[np.float64]) -> Summarised:
        """Return the groups of a column with their numbers of records; ``weights`` are those of the classes."""
        return self._summaries[name].finish(self._classes, weights)

    def forget(self, kept: Collection[Hashable]) -> None:
        """Free the memory of the summaries of all but some columns; their conditions are known."""
        self._summaries = {name: summary for name, summary in self._summaries.items() if name in kept}

    def holds_objects(self, name: Hashable) -> bool:
        """Return whether a column is stored as Python objects in some batch."""
        return name in self._objects

    def has_order(self, name: Hashable) -> bool:
        """Return whether a column exists and holds ordered categories."""
        return name in self._summaries and bool(self._summaries[name].column.order)
