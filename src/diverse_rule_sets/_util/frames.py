"""Data frames for results, of the library of the input."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable
from typing import Any


def frame_like(X: Any, columns: dict[str, list[Any]], **kinds: str) -> Any:
    """Return a data frame of the library of X; if X is an array, of pandas or else polars.

    Parameters
    ----------
    X : the input of the user; the index of a pandas frame is used if it has the same number of rows
    columns : the values of each column
    kinds : pandas types of columns that may have missing values, such as ``rule="Int64"``
    """
    module = _frame_library(X)
    if module.__name__ != "pandas":
        columns = {name: [_encodable(value) for value in values] for name, values in columns.items()}
    if module.__name__ == "polars":
        overrides = dict.fromkeys(kinds, module.Int64)
        if "covering" in columns:
            overrides["covering"] = module.List(module.Int64)
        return module.DataFrame(columns, schema_overrides=overrides)
    if module.__name__ == "pyarrow":
        return module.table({name: _arrow_array(module, values) for name, values in columns.items()})
    length = len(next(iter(columns.values()), []))
    index = X.index if hasattr(X, "iloc") and len(X) == length else None
    values = {name: _pandas_values(module, column, index) for name, column in columns.items()}
    return module.DataFrame(values, index).astype(kinds)


def join_frames(frames: Iterable[Any]) -> Any:
    """Return data frames of one library, one below the other."""
    import narwhals as nw

    parts = [nw.from_native(frame) for frame in frames]
    if not parts:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: X has no records")
    return nw.to_native(nw.concat(parts))


def take_rows(frame: Any, rows: list[int]) -> Any:
    """Return some rows of a data frame."""
    import narwhals as nw

    return nw.to_native(nw.from_native(frame, eager_only=True)[rows])


def without_columns(frame: Any, names: Collection[Any]) -> Any:
    """Return a data frame without some columns."""
    import narwhals as nw

    wrapped = nw.from_native(frame, eager_only=True)
    return nw.to_native(wrapped.select([name for name in wrapped.columns if name not in names]))


def _pandas_values(pandas: Any, values: list[Any], index: Any) -> Any:
    """Return values for pandas, as objects if some text is half of a surrogate pair."""
    if all(_encodable(text) == text for text in {value for value in values if isinstance(value, str)}):
        return values
    return pandas.Series(values, index, dtype=object)


def _encodable(value: Any) -> Any:
    """Return text without half surrogate pairs, which pyarrow and polars cannot store; other values unchanged."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _arrow_array(pyarrow: Any, values: list[Any]) -> Any:
    """Return an Arrow array, of unsigned integers if some are too large for signed ones."""
    large = any(isinstance(value, int) and value >= 2**63 for value in values)
    return pyarrow.array(values, pyarrow.uint64() if large else None)


def _frame_library(X: Any) -> Any:
    """Return the library for data frames like X."""
    import narwhals as nw

    if isinstance(nw.from_native(X, pass_through=True), nw.DataFrame):
        library = nw.get_native_namespace(X)
        if library.__name__ in ("pandas", "polars", "pyarrow"):
            return library
    for name in ("pandas", "polars"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError("a data frame as the answer needs pandas or polars; install one of them")
