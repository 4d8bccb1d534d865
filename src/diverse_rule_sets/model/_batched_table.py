"""A table that is read in batches, as the methods that count records by rules need it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import EMPTY, Column, categorical
from diverse_rule_sets._input.labels import as_labels
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.values import BOOLEAN, DATE, INSTANT, NUMBER, identity
from diverse_rule_sets._input.weights import Weights, sums_by
from diverse_rule_sets.model._answers import CoverPlan, Covers, find_covers, table_for
from diverse_rule_sets.model._batches import batches_for, errors_of, join_covers
from diverse_rule_sets.model._condition_base import Condition
from diverse_rule_sets.model._conditions import Equals
from diverse_rule_sets.model._domains import Domain, domain_of
from diverse_rule_sets.sources._as_source import as_source
from diverse_rule_sets.sources._errors import InputError
from diverse_rule_sets.sources._source import Source, check_target

if TYPE_CHECKING:
    from diverse_rule_sets.model._rules import RuleSet

# Maximum number of categories of a column that are counted: those that occur first.
_MAX_CATEGORIES = 2**17


class BatchedTable:
    """The records of a source, of which only covers, labels and values that rules name are kept.

    Parameters
    ----------
    rule_set : its types and codes for missing values are those of the columns
    source : the records
    """

    def __init__(self, rule_set: RuleSet, source: Source) -> None:
        self._rule_set, self.source = rule_set, source

    def blocks(self, columns: Iterable[Hashable]) -> Iterator[tuple[Table, str]]:
        """Iterate over the records, as tables with some columns, and the file or batch of each."""
        for batch in batches_for(self._rule_set, self.source, list(columns)):
            yield table_for(self._rule_set, batch.frame), batch.origin

    def first(self) -> Table:
        """Return some records with all columns."""
        for batch in batches_for(self._rule_set, self.source, every=True):
            return table_for(self._rule_set, batch.frame)
        raise InputError(f"{self.source.name}: there are no records")

    def covers(self, plan: CoverPlan, expected: Mapping[Hashable, str]) -> Covers:
        """Return which rules cover which records."""
        parts = []
        for table, origin in self.blocks(plan.by_column):
            with errors_of(origin):
                parts.append(find_covers(plan, table, expected))
        if not parts:
            raise InputError(f"{self.source.name}: there are no records")
        return join_covers(parts)

    def labels(self, y: Hashable, classes: Sequence[Any]) -> NDArray[np.int64]:
        """Return the position of the label of each record among some classes."""
        check_target(y, self.source)
        codes = [np.zeros(0, np.int64)]
        for batch in self.source.with_labels(y).batches([y]):
            table = as_table(batch.frame)
            with errors_of(batch.origin):
                codes.append(as_labels(table.native(y), classes, table.n_records))
        return np.concatenate(codes)

    def columns(self, conditions: Sequence[Condition], expected: Mapping[Hashable, str]) -> dict[Hashable, Column]:
        """Return columns with those values that tell which conditions, and which values that they name, occur."""
        found = {condition.column: _Values() for condition in conditions}
        for table, origin in self.blocks(found):
            with errors_of(origin):
                columns = {name: table.column(name, expected[name]) for name in found}
            for name, column in columns.items():
                found[name].add(column, [one for one in conditions if one.column == name])
        return {name: values.column() for name, values in found.items()}

    def domains(self, kinds: Mapping[Hashable, str], weights: Weights | None) -> dict[Hashable, Domain]:
        """Return what is known about the values of some columns, which are read as given types."""
        found = {name: _Values() for name in kinds}
        begin = 0
        for table, origin in self.blocks(kinds):
            own = None if weights is None else weights.values[begin : begin + table.n_records]
            begin += table.n_records
            for name, kind in kinds.items():
                with errors_of(origin):
                    column = table.column(name, kind)
                found[name].add(column, (), own)
        return {name: values.domain for name, values in found.items()}


def covers_of(rule_set: RuleSet, X: Any, plan: CoverPlan) -> Covers:
    """Return which of some rules cover which records of a table, or of a source."""
    source = as_source(X)
    if source is None:
        return find_covers(plan, table_for(rule_set, X), rule_set.expected_kinds)
    return BatchedTable(rule_set, source).covers(plan, rule_set.expected_kinds)


class _Values:
    """Some values of a column: the categories with their counts, or numbers and dates that matter for conditions."""

    def __init__(self) -> None:
        self._type: Column | None = None
        self._ends: NDArray[Any] | None = None  # the smallest and the largest number or date
        self._examples: dict[Condition, NDArray[Any]] = {}  # a number or date for which each condition holds
        self._counts: dict[Hashable, tuple[Any, Any]] = {}  # the category and its number of records, by identity
        self._has_missing = False
        self._domain: Domain | None = None

    def add(self, column: Column, conditions: Sequence[Condition], counts: NDArray[Any] | None = None) -> None:
        """Add the records of a batch; ``counts`` are their weights, None if each counts once."""
        missing = column.missing
        self._has_missing |= bool(missing.any())
        if self._type is None or self._type.kind == EMPTY:
            self._type = column
        if missing.all():
            return
        if column.kind not in (NUMBER, DATE, INSTANT):
            self._add_categories(column, counts)
            return
        domain = domain_of(column)
        self._domain = domain if self._domain is None else self._domain.union(domain)
        known = column.values[~missing]
        ends = np.array([known.min(), known.max()])
        self._ends = (
            ends if self._ends is None else np.array([min(ends[0], self._ends[0]), max(ends[1], self._ends[1])])
        )
        for condition in conditions:
            mixed = bool(getattr(condition, "mixed", False))
            single = [Equals(condition.column, value, mixed) for value in condition.values_named]
            for one in (condition, *single):
                if one not in self._examples:
                    self._examples[one] = column.values[one.holds(column) & ~missing][:1]
                    if not self._examples[one].size:
                        del self._examples[one]

    def _add_categories(self, column: Column, counts: NDArray[Any] | None) -> None:
        known = column.values >= 0
        own = None if counts is None else counts[known]
        for category, n in zip(
            column.categories, sums_by(column.values[known], len(column.categories), own).tolist(), strict=True
        ):
            key = identity(category)
            if n and (key in self._counts or len(self._counts) < _MAX_CATEGORIES):
                self._counts[key] = category, n + (self._counts[key][1] if key in self._counts else 0)

    def column(self) -> Column:
        """Return a column of the values; of categories each occurs once."""
        assert self._type is not None
        own = self._type
        if own.kind in (NUMBER, DATE, INSTANT):
            parts = [own.values[:0] if self._ends is None else self._ends, *self._examples.values()]
            known = np.unique(np.concatenate(parts))
            none = np.full(int(self._has_missing), np.nan if own.kind == NUMBER else np.datetime64("NaT", "us"))
            return replace(own, values=np.append(known, none.astype(own.values.dtype)), lows=None)
        values = [category for category, _ in self._counts.values()]
        codes = np.append(np.arange(len(values)), np.full(int(self._has_missing), -1)).astype(np.int32)
        if own.kind == EMPTY:
            return replace(own, values=own.values[: int(self._has_missing)])
        if own.kind == BOOLEAN:
            return replace(own, values=np.array([*map(int, values), -1], np.int32)[codes], categories=(False, True))
        if own.order:
            rank = {identity(value): k for k, value in enumerate(own.order)}
            values.sort(key=lambda value: rank[identity(value)])
            return replace(own, values=codes, categories=tuple(values))
        found = categorical(own.name, values, codes, kind=own.kind)
        return replace(own, values=found.values, categories=found.categories)

    @property
    def domain(self) -> Domain:
        """What is known about the values."""
        assert self._type is not None
        if self._type.kind in (NUMBER, DATE, INSTANT):
            return self._domain or domain_of(replace(self._type, values=self._type.values[:0]))
        column = self.column()
        by_key = {key: n for key, (_, n) in self._counts.items()}
        counts = [by_key[identity(column.categories[k])] if k >= 0 else 0 for k in column.values.tolist()]
        return domain_of(column, np.array(counts)) if counts and column.kind != EMPTY else domain_of(column)
