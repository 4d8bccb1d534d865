"""Series: an array of numpy or a column of pandas, polars or Arrow becomes a :class:`Column`."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.codes import column_without, objects_without
from diverse_rule_sets._input.columns import (
    EMPTY,
    VALUES,
    Column,
    as_any_values,
    categorical,
    column_of_objects,
    column_of_values,
    convert,
    empty_column,
    has_rounded_integers,
)
from diverse_rule_sets._input.values import (
    BOOLEAN,
    DATE,
    INSTANT,
    NUMBER,
    as_float,
    canonical,
    identity,
    is_missing,
    microseconds,
    to_microseconds,
)


def decode(name: Hashable, series: Any, expected: str = "", codes: Sequence[Any] = ()) -> Column:
    """Return a numpy array or narwhals series as a column.

    Parameters
    ----------
    name : the column's name
    series : the values
    expected : the type of the column, if it is known: every value must have this type. By default the most specific
        type that fits all values; with ``VALUES`` never one that is compared by order; with ``ANY`` dates with and
        without a time zone are no error
    codes : values that mean that a value is missing; they have no influence on the type

    Raises
    ------
    TypeError, ValueError : with the name of the column, if it holds values of another or of an unknown type
    """
    try:
        values = _typed_column(name, series)
        if not isinstance(values, Column):
            return column_of_objects(name, objects_without(values, codes), expected)
        known = column_without(values, codes, lambda: _objects(series))
        column = convert(known, lambda: objects_without(_objects(series), codes), expected)
        return as_any_values(column) if expected == VALUES and holds_objects(series) else column
    except (TypeError, ValueError, OverflowError) as error:
        text = str(error)
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(text if text.startswith("column ") else f"column {name!r} {text}") from None


def _typed_column(name: Hashable, series: Any) -> Column | list[Any]:
    """Return the column of a series whose values all have one type; the values as a list if they are objects."""
    if isinstance(series, np.ndarray):
        return _column_of_array(name, series)
    import narwhals as nw

    dtype = series.dtype
    native = series.to_native()
    if _is_pandas_categorical(native):
        return _column_of_categories(name, series, dtype)
    if dtype.is_numeric():
        floats = _floats(series, dtype)
        return Column(name, NUMBER, floats, rounded=dtype.is_integer() and has_rounded_integers(floats))
    if dtype == nw.Boolean:
        return _column_of_booleans(name, series)
    if dtype == nw.Datetime or dtype == nw.Date:
        return _column_of_dates(name, series, dtype)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _column_of_categories(name, series, dtype)
    if dtype == nw.Object or dtype == nw.Binary:
        return list(series.to_list())
    if dtype == nw.Unknown:
        return _unknown_column(name, series, native)
    raise _unknown_type(name, dtype)


# Types of Arrow whose values are supported, but which narwhals does not know.
_ONLY_AS_OBJECTS = ("string_view", "binary_view", "fixed_size_binary", "decimal")


def _unknown_column(name: Hashable, series: Any, native: Any) -> Column | list[Any]:
    """Return the column of a series whose type narwhals does not support."""
    dtype = getattr(native, "dtype", getattr(native, "type", None))
    text = str(dtype)
    if getattr(dtype, "tz", None) is not None:  # narwhals does not support every time zone
        moments = native.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return Column(name, INSTANT, to_microseconds(moments))
    if series.null_count() == len(series) and not text.startswith("date64"):
        return empty_column(name, len(series))
    if text == "object":
        return list(series.to_list())
    if text.startswith("Sparse"):
        return _column_of_array(name, native.to_numpy())
    if isinstance(dtype, np.dtype):  # in another byte order
        return _column_of_array(name, native.to_numpy().astype(dtype.newbyteorder("=")))
    if text.startswith("date64"):
        dates = [None if is_missing(v) else np.datetime64(microseconds(v), "us") for v in series.to_list()]
        return Column(name, DATE, np.array(dates, "datetime64[us]"))
    if text.startswith(_ONLY_AS_OBJECTS):
        return list(series.to_list())
    raise _unknown_type(name, dtype)


def _unknown_type(name: Hashable, dtype: Any) -> TypeError:
    return TypeError(
        f"column {name!r} holds {dtype} values: argument must be a string or a number, a boolean, a date or missing; "
        "convert the column (durations, for instance, to a number of seconds) or leave it out"
    )


def _floats(series: Any, dtype: Any) -> NDArray[np.float64]:
    """Return a numeric series as float64, NaN where a value is missing."""
    values = series.to_numpy() if not _is_wide(dtype) else np.array(series.to_list(), object)
    if values.dtype == object:
        values = np.array([np.nan if is_missing(v) else as_float(v) for v in values], np.float64)
    return _as_float64(values)


def _as_float64(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as float64, those that are too large as infinity; reading a strided column is slow later."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float64)


def _is_wide(dtype: Any) -> bool:
    """Return whether numbers of a type do not fit into a numpy array of numbers."""
    import narwhals as nw

    return dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128)


def _column_of_array(name: Hashable, values: NDArray[Any]) -> Column | list[Any]:
    """Return the column of a numpy array; the values as a list if they are objects."""
    if values.dtype.kind in "fiu":
        floats = _as_float64(values)
        return Column(name, NUMBER, floats, rounded=values.dtype.kind in "iu" and has_rounded_integers(floats))
    if values.dtype.kind == "b":
        return Column(name, BOOLEAN, values.astype(np.int32), (False, True))
    if values.dtype.kind == "M":
        return Column(name, DATE, to_microseconds(values))
    if values.dtype.kind in "OUTS":
        return list(values.tolist())
    raise TypeError(f"has dtype {values.dtype}: argument must be a string or a number, a boolean, a date or missing")


def _column_of_booleans(name: Hashable, series: Any) -> Column:
    if series.null_count() == 0:
        values = series.to_numpy().astype(np.int32)
    else:
        values = np.array([-1 if is_missing(v) else int(v) for v in series.to_list()], np.int32)
    return Column(name, BOOLEAN, values, (False, True)) if (values >= 0).any() else empty_column(name, len(series))


def _column_of_dates(name: Hashable, series: Any, dtype: Any) -> Column:
    """Return a column of dates and times in microseconds; those with a time zone are converted to UTC."""
    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = series.to_numpy()
    if values.dtype.kind != "M":
        dates = [None if is_missing(v) else np.datetime64(microseconds(v), "us") for v in series.to_list()]
        values = np.array(dates, dtype="datetime64[us]")
    return Column(name, DATE if zone is None else INSTANT, to_microseconds(values))


def _column_of_categories(name: Hashable, series: Any, dtype: Any) -> Column:
    """Return a column of strings or categoricals, as positions among the distinct values."""
    native = series.to_native()
    pandas = sys.modules.get("pandas")
    if _is_pandas_categorical(native):
        return _used_categories(name, native.cat.categories, native.cat.codes.to_numpy(), bool(native.cat.ordered))
    if pandas is not None and isinstance(native, pandas.Series):
        codes, uniques = pandas.factorize(native)
        return categorical(name, uniques.tolist(), codes)
    if hasattr(dtype, "categories"):  # an Enum declares its order
        categories = np.array(dtype.categories, object)
        return _used_categories(name, categories, series.to_native().to_physical().fill_null(-1).to_numpy(), True)
    if hasattr(native, "combine_chunks") and str(native.type) in ("string", "large_string"):
        encoded = native.combine_chunks().dictionary_encode()
        if hasattr(encoded, "indices"):
            codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return categorical(name, encoded.dictionary.to_pylist(), codes)
    return column_of_values(name, series.to_list())


def _used_categories(name: Hashable, categories: Any, codes: NDArray[Any], ordered: bool) -> Column:
    """Return a column of those categories that occur: there may be a million others."""
    used, positions = np.unique(codes, return_inverse=True)
    n_missing = int(used.size > 0 and used[0] < 0)
    present = categories[used[n_missing:]].tolist()
    column = categorical(name, present, positions.reshape(-1) - n_missing, ordered)
    if not ordered or column.kind in (BOOLEAN, EMPTY):
        return column
    return replace(column, order=_order(categories.tolist() if len(categories) <= _MAX_ORDER else present))


def _order(categories: list[Any]) -> tuple[Any, ...]:
    """Return ordered categories without repetitions; empty if there are too many, or fewer than two."""
    distinct = {identity(value): value for value in map(canonical, categories)}
    return tuple(distinct.values()) if 1 < len(distinct) <= _MAX_ORDER else ()


# Maximum number of categories that have an order; of more declared categories, those that occur.
_MAX_ORDER = 256


def has_order(series: Any) -> bool:
    """Return whether a series holds ordered categories, without reading its values."""
    if isinstance(series, np.ndarray):
        return False
    native = series.to_native()
    return bool(native.cat.ordered) if _is_pandas_categorical(native) else hasattr(series.dtype, "categories")


def _is_pandas_categorical(native: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(getattr(native, "dtype", None), pandas.CategoricalDtype)


# What pandas finds in categories that are Python objects of one type.
_ONE_TYPE = ("string", "bytes", "boolean", "integer", "floating", "mixed-integer-float", "decimal", "date")


def holds_objects(series: Any) -> bool:
    """Return whether a series holds Python objects, whose types may differ from one slice to the next.

    The types of a pandas category are those of all its declared categories, which slices have in common.
    """
    native: Any = series if isinstance(series, np.ndarray) else series.to_native()
    if _is_pandas_categorical(native):
        categories = native.cat.categories
        return categories.dtype == object and categories.inferred_type not in _ONE_TYPE
    return str(getattr(native, "dtype", "")) in ("object", "Object")  # the second is of polars


def _objects(series: Any) -> list[Any]:
    """Return the values of a series as Python objects."""
    return list(series.tolist() if isinstance(series, np.ndarray) else series.to_list())
