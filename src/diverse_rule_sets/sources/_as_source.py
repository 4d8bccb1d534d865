"""Which arguments are sources."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets.sources._source import Source


def as_source(X: Any) -> Source | None:
    """Return a table that is read in batches; None if X is a table in memory, or no table at all.

    Parameters
    ----------
    X : a path (text or :class:`os.PathLike`) of a file or a folder, a list of paths, a pyarrow Dataset, a LazyFrame of
        polars, a relation of DuckDB, or an iterable of data frames that can be read several times
    """
    if isinstance(X, Source):
        return X
    if _is_path(X) or (isinstance(X, list | tuple) and len(X) and all(map(_is_path, X))):
        from diverse_rule_sets.sources._files import FileSource, paths_of

        return FileSource(paths_of(X))
    for module, name, make in _CLASSES:
        found = getattr(sys.modules.get(module), name, None)
        if found is not None and isinstance(X, found):
            from diverse_rule_sets.sources import _objects

            return getattr(_objects, make)(X)
    if _holds_frames(X):
        from diverse_rule_sets.sources._objects import FramesSource

        return FramesSource(X)
    return None


def tables_of(X: Any, columns: Iterable[Hashable]) -> Iterator[tuple[Table, Sequence[Hashable]]]:
    """Iterate over a table, or over the batches of one with some columns, each with the names of all columns."""
    source = as_source(X)
    if source is None:
        table = as_table(X)
        yield table, table.names
        return
    names, n_batches = source.names, 0
    for n_batches, batch in enumerate(source.batches(frozenset(columns)), 1):  # noqa: B007 # counts the batches
        yield as_table(batch.frame), names
    if not n_batches:
        raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required: {source.name} has no records")


_CLASSES = (
    ("pyarrow.dataset", "Dataset", "DatasetSource"),
    ("polars", "LazyFrame", "LazySource"),
    ("duckdb", "DuckDBPyRelation", "RelationSource"),
)


def _is_path(X: Any) -> bool:
    return isinstance(X, str | os.PathLike)


def _holds_frames(X: Any) -> bool:
    """Return whether X is an iterable of data frames; only the first entry of a list is looked at."""
    if isinstance(X, list | tuple):
        return bool(X) and _is_frame(X[0])
    if isinstance(X, Iterator):  # an error later: it can be read only once
        return True
    if not isinstance(X, Iterable) or isinstance(X, Mapping | set | frozenset | bytes):
        return False
    table = ("shape", "__array__", "__array_interface__", "__dataframe__", "__arrow_c_stream__", "columns")
    return not any(hasattr(X, name) for name in table)


def _is_frame(X: Any) -> bool:
    if isinstance(X, list | tuple | dict | str | int | float):
        return False
    import narwhals as nw

    batch = getattr(sys.modules.get("pyarrow"), "RecordBatch", None)
    return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame) or bool(batch and isinstance(X, batch))
