"""A part of a source: without some columns, or with some of the records."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.sources._source import Batch, ColumnTypes, Source, changed


class SelectedSource(Source):
    """Some columns and records of a source.

    Parameters
    ----------
    source : the whole table
    dropped : the columns that are left out
    records : flags of the records that are kept; None for all
    """

    def __init__(
        self, source: Source, dropped: Collection[Hashable] = (), records: NDArray[np.bool_] | None = None
    ) -> None:
        self._source, self._dropped, self._records = source, frozenset(dropped), records
        self.name = source.name

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns that are kept."""
        return [name for name in self._source.names if name not in self._dropped]

    @property
    def n_records(self) -> int | None:
        """The number of records that are kept, if it is known."""
        return self._source.n_records if self._records is None else int(self._records.sum())

    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Iterate over the records that are kept."""
        begin = 0
        for frame, origin in self._source.batches(self.names if columns is None else columns):
            if self._records is None:
                yield Batch(frame, origin)
                continue
            end = begin + len(frame)
            flags = self._records[begin:end]
            if flags.size < len(frame):
                raise changed(self)
            begin = end
            if flags.any():
                yield Batch(frame if flags.all() else _filtered(frame, flags), origin)
        if self._records is not None and begin < self._records.size:
            raise changed(self)

    def parts(self) -> list[Source] | None:
        """Return the same columns of the parts of the source; None if only some records are kept."""
        parts = None if self._records is not None else self._source.parts()
        return None if parts is None else [SelectedSource(part, self._dropped) for part in parts]

    def guesses(self) -> dict[Hashable, Any]:
        """Return what the cells of text columns tell about their types."""
        return self._source.guesses()

    def with_kinds(self, kinds: Mapping[Hashable, str]) -> SelectedSource:
        """Return the same part, whose text columns have types that were found from all parts of a table."""
        return SelectedSource(self._source.with_kinds(kinds), self._dropped, self._records)

    @property
    def has_texts(self) -> bool:
        """Whether there are text columns, which have no types of their own."""
        return self._source.has_texts

    def fingerprint(self) -> tuple[Any, ...] | None:
        """Return what tells whether the whole source has changed, and which part of it this is."""
        whole = self._source.fingerprint()
        if whole is None:
            return None
        packed = b"" if self._records is None else np.packbits(self._records).tobytes()
        return (*whole, sorted(map(repr, self._dropped)), hashlib.sha256(packed).hexdigest())

    def with_types(self, types: ColumnTypes) -> SelectedSource:
        """Return the same part, whose text columns are read as given types."""
        return SelectedSource(self._source.with_types(types), self._dropped, self._records)

    def with_labels(self, target: Hashable) -> SelectedSource:
        """Return the same part, in which a column of text files holds labels."""
        return SelectedSource(self._source.with_labels(target), self._dropped, self._records)


def _filtered(frame: Any, flags: NDArray[np.bool_]) -> Any:
    """Return some records of a data frame of any library."""
    import narwhals as nw

    return nw.to_native(nw.from_native(frame, eager_only=True).filter(flags.tolist()))
