"""A table in parts that different processes read: summaries and bits of each part, and how they are put together.

Each part is a source of its own. The first pass returns a :class:`PartScan` for each part, and those of consecutive
parts are merged, in any grouping; the result is that of one pass over all records (:mod:`._scan`). The second pass
returns the bits of each part, from which the shards of a backend are made. This module does not depend on how the work
is distributed.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers, n_words, popcount
from diverse_rule_sets._input.batch_labels import BatchLabels
from diverse_rule_sets._input.checks import kept_warnings
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.data._encoder import Encoded, Encoder
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._scan import Scan
from diverse_rule_sets.data._shard import Shard
from diverse_rule_sets.data._summaries import ColumnSummary
from diverse_rule_sets.sources._source import Batch, Source


class FrameSource(Source):
    """One data frame as a source; it may have no records.

    Parameters
    ----------
    frame : a data frame of pandas or polars, or an Arrow table
    origin : the part of the table, for errors
    """

    def __init__(self, frame: Any, origin: str) -> None:
        self._frame, self.name = frame, origin

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns."""
        return list(self._frame.columns)

    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Return the records as one batch."""
        if len(self._frame):
            yield Batch(self._frame, self.name)


def with_labels(frame: Any, labels: Any, name: Hashable, origin: str) -> Any:
    """Return a pandas frame with a column of labels, which have as many records."""
    if len(frame) != len(labels):
        raise ValueError(
            f"{origin} has {len(frame):,} records, but {len(labels):,} labels in y, expected one label per record; "
            "X and y must have the same partitions"
        )
    out = frame.copy(deep=False)
    out[name] = labels.array
    return out


class PartPlan(NamedTuple):
    """How the parts of a table are read.

    Parameters
    ----------
    target : the column that holds the labels
    missing_values : the parameter of the classifiers
    codes : the codes for missing values of each column, when they are known
    finer : summaries without records, which count some values again; None in the first pass
    """

    target: Hashable
    missing_values: Any = None
    codes: Mapping[Hashable, tuple[Any, ...]] | None = None
    finer: Mapping[Hashable, ColumnSummary] | None = None


@dataclass
class PartScan:
    """Some consecutive parts of a table after a pass.

    Parameters
    ----------
    names : the columns that rules may read
    labels : the labels; the summaries count by their provisional codes
    sizes : number of records of each part
    totals : number of records of each provisional code, a row for each part
    summaries : the summary of each column
    codes : the codes for missing values of the columns with values
    objects : the columns that hold Python objects
    warnings : the warnings of reading
    """

    names: list[Hashable]
    labels: BatchLabels
    sizes: list[int]
    totals: list[Integers]
    summaries: dict[Hashable, ColumnSummary]
    codes: dict[Hashable, tuple[Any, ...]] = field(default_factory=dict)
    objects: set[Hashable] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def add(self, other: PartScan) -> None:
        """Add the parts that follow."""
        if set(other.names) != set(self.names):
            odd = sorted(map(repr, set(other.names) ^ set(self.names)))[0]
            raise ValueError(f"the partitions of X have different columns: {odd} is only in some; expected the same")
        mapping = self.labels.merge(other.labels)
        self.sizes += other.sizes
        for totals in other.totals:
            moved = np.zeros(int(mapping[: totals.size].max(initial=-1)) + 1, np.int64)
            moved[mapping[: totals.size]] = totals
            self.totals.append(moved)
        for name, summary in self.summaries.items():
            summary.merge(other.summaries[name], mapping)
        for name, codes in other.codes.items():
            self.codes.setdefault(name, codes)
        self.objects |= other.objects
        self.warnings += [text for text in other.warnings if text not in self.warnings]

    def table_of_totals(self, order: Integers) -> Integers:
        """Return the number of records of each class in each part: array (n_parts, n_classes)."""
        out = np.zeros((len(self.totals), order.size), np.int64)
        for row, totals in zip(out, self.totals, strict=True):
            row[order[: totals.size]] = totals
        return out


def scan_part(source: Source, plan: PartPlan) -> PartScan:
    """Read a part once."""
    with kept_warnings() as messages:
        source = source.with_labels(plan.target)
        scan = Scan(source, plan.target, None, plan.missing_values, None)
        if plan.finer is None:
            scan.read()
        else:
            scan.summaries = {name: summary.for_part() for name, summary in plan.finer.items()}
            _scan_again(scan, source, plan)
    codes = np.concatenate(scan.labels.parts or [np.zeros(0, np.int32)])
    totals = np.bincount(codes[codes >= 0], minlength=len(scan.labels.labels))
    labels = scan.labels.without_records()
    return PartScan(scan.names, labels, [codes.size], [totals], scan.summaries, scan.codes, scan.objects, messages)


def _scan_again(scan: Scan, source: Source, plan: PartPlan) -> None:
    """Count some columns again."""
    for batch in source.batches(frozenset({*scan.summaries, plan.target})):
        table = as_table(batch.frame).with_codes(plan.codes or {})
        labels = scan.labels.add(table.native(plan.target), batch.origin)
        for name, summary in scan.summaries.items():
            summary.add(table.column(name), labels, batch.origin)


def merge_scans(scans: Sequence[PartScan]) -> PartScan:
    """Return the scans of consecutive parts as one; they are not changed, because the task may be run again."""
    first, *others = copy.deepcopy(scans)
    for other in others:
        first.add(other)
    return first


class PackPlan(NamedTuple):
    """How the records of a table become bits.

    Parameters
    ----------
    encoder : the conditions
    target : the column that holds the labels
    classes : the sorted labels
    codes : the codes for missing values of each column
    totals : array (n_parts, n_classes), the number of records in the first pass
    """

    encoder: Encoder
    target: Hashable
    classes: NDArray[Any]
    codes: Mapping[Hashable, tuple[Any, ...]]
    totals: Integers


class Packed(NamedTuple):
    """The bits of some records: rows of items and of given conditions, and the class of each record."""

    rows: BitRows
    given: BitRows
    y: Integers


def pack_part(source: Source, plan: PackPlan, number: int) -> Packed:
    """Return the bits of a part; raise an error if its records are not those of the first pass."""
    encoder, found, y = plan.encoder, [], [np.zeros(0, np.int64)]
    position = {_label_key(label): k for k, label in enumerate(plan.classes.tolist())}
    with kept_warnings():
        for batch in source.with_labels(plan.target).batches():
            table = as_table(batch.frame)
            labels = BatchLabels(plan.target)
            codes = labels.add(table.native(plan.target), batch.origin)
            own = np.array([position.get(_label_key(label), -1) for label in labels.labels], np.int64)
            y.append(np.where(codes < 0, -1, own[codes]) if own.size else codes)
            found.append((encoder.transform(table.with_codes(plan.codes)), codes.size))
    classes = np.concatenate(y)
    counts = np.bincount(classes[classes >= 0], minlength=plan.classes.size)
    if (classes < 0).any() or not np.array_equal(counts, plan.totals[number]):
        raise ValueError(
            f"{source.name}: the records changed between two readings; a table must give the same records in the same "
            "order each time it is read. Call persist() on a Dask DataFrame that is made at random"
        )
    n_items = len(encoder.conditions)
    rows = _joined([(one.rows, n) for one, n in found], n_items, classes.size)
    return Packed(rows, _joined([(one.given, n) for one, n in found], encoder.n_given, classes.size), classes)


def _label_key(label: Any) -> Any:
    """Return a key of a label: equal for equal labels, but True is not 1."""
    return type(label) is bool, label


def _joined(parts: Sequence[tuple[BitRows, int]], n_rows: int, n_bits: int) -> BitRows:
    """Return rows of bits one after the other; each part has a number of bits."""
    if len(parts) == 1:
        return parts[0][0]
    out, begin = np.zeros((n_rows, n_words(n_bits)), np.uint64), 0
    for rows, n in parts:
        first, shift, width = begin // 64, begin % 64, rows.shape[1]
        out[:, first : first + width] |= rows << np.uint64(shift)
        if shift and width:
            carried = (rows >> np.uint64(64 - shift))[:, : out.shape[1] - first - 1]
            out[:, first + 1 : first + 1 + carried.shape[1]] |= carried
        begin += n
    return out


def sizes_of(packed: Packed) -> Integers:
    """Return the number of records of each item."""
    return popcount(packed.rows)


def make_shard(
    parts: Sequence[Packed], kept: Flags, n_given: int, n_classes: int, n_threads: int, first_word: int, number: int
) -> Shard:
    """Return a shard of the records of some parts; items that are not kept are left out."""
    sizes = [part.y.size for part in parts]
    n = sum(sizes)
    rows = [(part.rows[kept], size) for part, size in zip(parts, sizes, strict=True)]
    given = [(part.given, size) for part, size in zip(parts, sizes, strict=True)]
    y = np.concatenate([np.zeros(0, np.int64), *(part.y for part in parts)])
    encoded = Encoded(_joined(rows, int(kept.sum()), n), _joined(given, n_given, n))
    return Shard(LocalBackend(encoded.rows, y, n_classes, n_threads, encoded.given, first_word), number)
