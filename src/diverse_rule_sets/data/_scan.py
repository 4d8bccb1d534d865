"""Reading a source: one pass for types, labels and summaries of columns, further ones only for coarse summaries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.batch_labels import BatchLabels
from diverse_rule_sets._input.columns import EMPTY
from diverse_rule_sets._input.missing import settle_codes
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets._util.progress import OnProgress, RecordProgress
from diverse_rule_sets.data._summaries import ColumnSummary
from diverse_rule_sets.data._summary_table import SummaryTable
from diverse_rule_sets.data._value_counts import pairs_for
from diverse_rule_sets.sources._source import Batch, Source, changed, check_target, free_memory


class Scanned(NamedTuple):
    """A source after the first pass.

    Parameters
    ----------
    table : the summaries of the columns
    classes : the sorted labels
    codes : the class of each record
    """

    table: SummaryTable
    classes: NDArray[Any]
    codes: Integers


def scan(
    source: Source,
    target: Hashable,
    missing_values: Any = None,
    weights: Weights | None = None,
    on_progress: OnProgress | None = None,
) -> Scanned:
    """Read a source once, and again only where a column has very many values; see :mod:`._summaries`.

    Parameters
    ----------
    source : the records
    target : the column that holds the labels
    missing_values : the parameter of the classifiers
    weights : the weights of the records; None if each counts once
    on_progress : function that is called during the passes
    """
    source = source.with_labels(target)
    return Scan(source, target, weights, missing_values, on_progress).run()


class Scan:
    """The state of :func:`scan`."""

    def __init__(
        self,
        source: Source,
        target: Hashable,
        weights: Weights | None,
        missing_values: Any,
        on_progress: OnProgress | None,
    ) -> None:
        self._source, self._target, self._missing_values = source, target, missing_values
        self._on_progress = on_progress
        self._counts: Any = None if weights is None else weights.values
        check_target(target, source)
        self.names = [name for name in source.names if name != target]
        if not self.names:
            raise ValueError(f"{source.name} has no column for rules besides the target {target!r}")
        self.summaries = {name: ColumnSummary(name, pairs_for(len(self.names))) for name in self.names}
        self.labels = BatchLabels(target)
        self.codes: dict[Hashable, tuple[Any, ...]] = {}
        self.objects: set[Hashable] = set()

    def read(self) -> None:
        """Read all records once."""
        progress = RecordProgress("reading", self._source.n_records, self._on_progress)
        for batch in self._source.batches():
            table = self._table(batch)
            counts = self._counts_of(progress.n, table.n_records)
            labels = self.labels.add(table.native(self._target), batch.origin)
            known = labels >= 0  # others are an error at the end, which counts them
            for name in self.names:
                column = _read(table, name, batch.origin)
                if column.kind != EMPTY and table.holds_objects(name):
                    self.objects.add(name)
                if known.all():
                    self.summaries[name].add(column, labels, batch.origin, counts)
            progress.add(table.n_records)

    def run(self) -> Scanned:
        """Return the summaries of all columns."""
        self.read()
        classes, order, codes = self.labels.finish()
        self._refine(order, codes)
        free_memory()
        known_codes = settled_codes(self.names, self.codes, self._missing_values)
        blocks = _Blocks(self._source, self._target, self.names, known_codes, classes, codes)
        table = SummaryTable(
            self.names, codes.size, self.summaries, order, known_codes, frozenset(self.objects), blocks
        )
        return Scanned(table, classes, codes)

    def _counts_of(self, begin: int, n_records: int) -> NDArray[Any] | None:
        """Return the weights of the records of a batch; None if each counts once."""
        if self._counts is None:
            return None
        counts: NDArray[Any] = self._counts[begin : begin + n_records]
        if counts.size < n_records:
            raise changed(self._source)
        return counts

    def _table(self, batch: Batch) -> Table:
        """Return a batch as a table, in which the codes for missing values are missing values."""
        table = as_table(batch.frame)
        if self._missing_values is None:
            return table
        own = table.select(self.names)
        codes = settle_codes(self._missing_values, own)
        for name in self.names:
            if own.column(name).kind != EMPTY:
                self.codes.setdefault(name, codes.get(name, ()))
        return table.with_codes(codes)

    def _refine(self, order: Integers, codes: Integers) -> None:
        """Read the columns of coarse summaries again, until none is coarse."""
        provisional = np.empty_like(order)
        provisional[order] = np.arange(order.size)
        while True:
            finer = {name: found for name in self.names if (found := self.summaries[name].finer()) is not None}
            if not finer:
                return
            progress = RecordProgress("reading again", codes.size, self._on_progress)
            begin = 0
            for batch in self._source.batches(frozenset(finer)):
                table = as_table(batch.frame).with_codes(self.codes)
                labels = provisional[codes[begin : begin + table.n_records]]
                if labels.size < table.n_records:
                    raise changed(self._source)
                counts = self._counts_of(begin, table.n_records)
                for name, summary in finer.items():
                    summary.add(_read(table, name, batch.origin), labels, batch.origin, counts)
                begin += table.n_records
                progress.add(table.n_records)


def settled_codes(
    names: Sequence[Hashable], found: Mapping[Hashable, tuple[Any, ...]], missing_values: Any
) -> dict[Hashable, tuple[Any, ...]]:
    """Return the codes of each column that fit its type; columns without values keep all."""
    if missing_values is None:
        return {}
    empty = [name for name in names if name not in found]
    nothing = as_table(np.full((1, max(len(empty), 1)), None, object)).rename(empty or ["x"])
    value = missing_values
    if isinstance(value, dict):
        value = {name: codes for name, codes in value.items() if name in empty}
    known = settle_codes(value, nothing) if empty else {}
    return {name: codes for name, codes in {**found, **known}.items() if codes}


class _Blocks:
    """The records of a source, as tables; raises an error if they are not those of the first pass."""

    def __init__(
        self,
        source: Source,
        target: Hashable,
        names: list[Hashable],
        codes: dict[Hashable, tuple[Any, ...]],
        classes: NDArray[Any],
        labels: Integers,
    ) -> None:
        self._source, self._target, self._names, self._codes = source, target, names, codes
        self._classes, self._labels = classes, labels

    def __call__(self, columns: frozenset[Hashable]) -> Iterator[Table]:
        begin = 0
        for batch in self._source.batches(columns | {self._target}):
            table = as_table(batch.frame)
            end = begin + table.n_records
            found = BatchLabels(self._target)
            found.add(table.native(self._target), batch.origin)
            classes, _, codes = found.finish()
            expected = self._labels[begin:end]
            if expected.size < codes.size or not np.array_equal(self._classes[expected], classes[codes]):
                raise changed(self._source)
            with_codes = table.with_codes(self._codes)
            with_codes.origin = batch.origin
            yield with_codes
            begin = end
        if begin != self._labels.size:
            raise changed(self._source)


def _read(table: Table, name: Hashable, origin: str) -> Any:
    """Return a column of a batch; an error names the file."""
    try:
        return table.column(name)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{origin}: {error}") from None
