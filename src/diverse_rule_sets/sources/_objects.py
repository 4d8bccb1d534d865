"""Tables of other libraries as sources: Arrow datasets, lazy tables, relations of DuckDB, and iterables of frames."""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Any

from diverse_rule_sets.sources._arrow_files import arrow_errors, in_batches
from diverse_rule_sets.sources._errors import InputError, optional
from diverse_rule_sets.sources._source import Batch, Source, batch_size


class DatasetSource(Source):
    """A pyarrow Dataset."""

    name = "the dataset"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns."""
        return list(self._dataset.schema.names)

    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Iterate over the records."""
        selected = _selected(self.names, columns)
        with arrow_errors(self.name, "a dataset"):
            scanner = self._dataset.scanner(
                columns=selected, batch_size=batch_size(len(selected)), batch_readahead=2, fragment_readahead=1
            )
            for table in in_batches(scanner.to_batches(), batch_size(len(selected))):
                yield Batch(table, self.name)

    def parts(self) -> list[Source]:
        """Return a source for each file of the dataset; the dataset itself if it does not consist of files."""
        kind = sys.modules["pyarrow.dataset"].FileSystemDataset
        if not isinstance(self._dataset, kind):
            return [self]
        own = self._dataset
        return [
            DatasetSource(kind([fragment], own.schema, own.format, own.filesystem)) for fragment in own.get_fragments()
        ] or [self]


class LazySource(Source):
    """A LazyFrame of polars."""

    name = "the lazy table"

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns."""
        return list(self._frame.collect_schema().names())

    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Iterate over the records."""
        import polars as pl

        selected = _selected(self.names, columns)
        wanted, n = self._frame.select(pl.col(str(name)) for name in selected), batch_size(len(selected))
        try:
            for frame in wanted.collect_batches(chunk_size=n, maintain_order=True) if _in_batches(wanted) else ():
                if frame.height:
                    yield Batch(frame, self.name)
            begin = 0
            while not _in_batches(wanted):  # an earlier version of polars
                frame = wanted.slice(begin, n).collect()
                if not frame.height:
                    break
                yield Batch(frame, self.name)
                begin += n
        except pl.exceptions.PolarsError as error:
            text = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(f"{self.name}: cannot be read: {text:.300}") from None


def _in_batches(frame: Any) -> bool:
    return hasattr(frame, "collect_batches")


class RelationSource(Source):
    """A relation of DuckDB."""

    name = "the relation"

    def __init__(self, relation: Any) -> None:
        optional("pyarrow", "reading a relation of DuckDB")
        self._relation = relation

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns."""
        return list(self._relation.columns)

    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Iterate over the records."""
        selected = _selected(self.names, columns)
        quoted = ", ".join('"' + str(name).replace('"', '""') + '"' for name in selected)
        n = batch_size(len(selected))
        try:
            relation = self._relation.project(quoted)
            read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
            for table in in_batches(iter(read(n)), n):
                yield Batch(table, self.name)
        except sys.modules["duckdb"].Error as error:
            raise InputError(f"{self.name}: cannot be read: {str(error).splitlines()[0]:.300}") from None


class FramesSource(Source):
    """Data frames, one after the other; all have the same columns.

    Parameters
    ----------
    frames : an iterable that can be read several times
    """

    def __init__(self, frames: Iterable[Any]) -> None:
        self._frames = frames
        self.name = f"the batches of X ({type(frames).__name__})"
        if iter(frames) is frames:
            raise InputError(
                f"X is {type(frames).__name__}, an iterator that can be read only once, but a table is read several "
                "times; give a list of data frames, or an object whose __iter__ starts anew"
            )
        self._names: list[Hashable] | None = None

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns, those of the first frame."""
        if self._names is None:
            first = next(iter(self._frames), None)
            if first is None:
                raise InputError(f"{self.name}: there are no batches")
            self._names = list(_wrapped(_as_frame(first), 1).columns)
        return self._names

    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Iterate over the records; empty frames are left out."""
        names = set(self.names)
        for number, frame in enumerate(map(_as_frame, self._frames), 1):
            wrapped = _wrapped(frame, number)
            if set(wrapped.columns) != names:
                other = sorted(map(repr, names ^ set(wrapped.columns)))[0]
                raise InputError(
                    f"batch {number} of X has other columns than the first one: {other} is only in one of them"
                )
            if len(wrapped):
                yield Batch(frame, f"batch {number}")


def _as_frame(frame: Any) -> Any:
    """Return a record batch of Arrow as a table; anything else unchanged."""
    batch = getattr(sys.modules.get("pyarrow"), "RecordBatch", None)
    return sys.modules["pyarrow"].Table.from_batches([frame]) if batch and isinstance(frame, batch) else frame


def _wrapped(frame: Any, number: int) -> Any:
    """Return a frame as one of narwhals; raise an error if it is none."""
    import narwhals as nw

    wrapped = nw.from_native(frame, pass_through=True, eager_only=True)
    if not isinstance(wrapped, nw.DataFrame):
        raise TypeError(f"batch {number} of X must be a data frame of pandas, polars or Arrow, got {type(frame)}")
    return wrapped


def _selected(names: list[Hashable], columns: Collection[Hashable] | None) -> list[Hashable]:
    """Return the columns to read; if no column is wanted, the first one, to count the records."""
    return [name for name in names if columns is None or name in columns] or names[:1]
