"""Validation of tables: numpy arrays, nested lists, pandas, polars and Arrow tables become columns of a few types.

A :class:`Table` has named columns and returns one at a time as a :class:`Column`; a column is converted when it is
read. The columns of an array are named ``x0``, ``x1``, ... as in scikit-learn.
"""

from __future__ import annotations

import datetime
import numbers
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBER, DATE, INSTANT = "number", "date", "date (UTC)"
BOOLEAN, TEXT, CATEGORY, EMPTY = "boolean", "text", "category", "empty"
KINDS = (NUMBER, DATE, INSTANT, BOOLEAN, TEXT, CATEGORY, EMPTY)


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : the column's name
    kind : the column type: ``"number"`` (values are float64, NaN is missing), ``"date"`` or ``"date (UTC)"``
        (datetime64[us], NaT is missing), ``"boolean"``, ``"text"`` or ``"category"`` (values are positions in
        ``categories``, -1 is missing), or ``"empty"`` (all values are missing)
    values : array (n_records,)
    categories : the distinct values, in order
    rounded : whether some integers may have been too large for float64
    """

    name: Hashable
    kind: str
    values: NDArray[Any]
    categories: tuple[Any, ...] = ()
    rounded: bool = False

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The position of each category."""
        return {value: k for k, value in enumerate(self.categories)}

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Flags of the records without a value in this column."""
        if self.kind == NUMBER:
            return np.isnan(self.values)
        if self.kind in (DATE, INSTANT):
            return np.isnat(self.values)
        return np.asarray(self.values < 0)


class Table:
    """The columns of any supported table; see :func:`as_table`."""

    def __init__(self, names: Sequence[Hashable], n_records: int, series: Any, named: bool) -> None:
        self.names = list(names)
        self.n_records = n_records
        self.named = named  # False for arrays, whose columns are named x0, x1, ...
        self._series = series  # function: position -> array or narwhals series, for _column
        self._position = {name: j for j, name in enumerate(self.names)}
        self._records: NDArray[np.int64] | None = None  # numbers of the records; None: all
        self._decoded: dict[Hashable, Column] | None = None  # cache of columns; None: no cache

    def __contains__(self, name: Hashable) -> bool:
        return name in self._position

    def column(self, name: Hashable) -> Column:
        """Return one column; raises an error that names it if it does not exist or holds values of an unknown type."""
        if name not in self._position:
            known = ", ".join(repr(n) for n in self.names[:20]) + (", ..." if len(self.names) > 20 else "")
            hint = "" if self.named else " (X is an array, whose columns have no names of their own)"
            raise ValueError(f"X has no column {name!r}, which the rules use; its columns are {known}{hint}")
        if self._decoded is not None and name in self._decoded:
            return self._decoded[name]
        column = _column(name, self._series(self._position[name]))
        if self._records is not None:
            column = replace(column, values=column.values[self._records])
        if self._decoded is not None:
            self._decoded[name] = column
        return column

    def with_cache(self) -> Table:
        """Return the same table with a cache of columns, for callers that read a column several times."""
        table = Table(self.names, self.n_records, self._series, self.named)
        table._records, table._decoded = self._records, {}
        return table

    def take(self, records: NDArray[np.int64]) -> Table:
        """Return a table of the records with the given numbers."""
        table = Table(self.names, len(records), self._series, self.named)
        table._records = records if self._records is None else self._records[records]
        return table

    def rename(self, names: Sequence[Hashable]) -> Table:
        """Return the same columns with other names, by position."""
        table = Table(names, self.n_records, self._series, named=True)
        table._records = self._records
        return table


def as_table(X: Any) -> Table:
    """Return a two-dimensional array or list, or a pandas, polars or Arrow table, as a :class:`Table`."""
    if isinstance(X, Table):
        return X
    if not isinstance(X, np.ndarray | list | tuple):
        frame = _frame(X)
        if frame is not None:
            return Table(frame.columns, len(frame), lambda j: frame[:, j], named=True)
    array = _array(X)
    return Table([f"x{j}" for j in range(array.shape[1])], array.shape[0], lambda j: array[:, j], named=False)


def _frame(X: Any) -> Any:
    """Return X as a narwhals data frame; None if X is not a data frame."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"the columns of X must have different names. {error}") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a lazy table ({type(X).__module__}); collect it first: X.collect() or X.compute()")
    if not isinstance(frame, nw.DataFrame):
        return None
    if len(frame) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is required.")
    if len(frame.columns) == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
    return frame


def _array(X: Any) -> NDArray[Any]:
    """Return X as a two-dimensional numpy array with unchanged values."""
    from sklearn.utils.validation import check_array

    inner = f" of {type(X[0]).__name__}" if isinstance(X, list | tuple) and X else ""
    if X is None or (isinstance(X, str | bytes | Mapping) and not hasattr(X, "shape")) or inner == " of dict":
        got = "None" if X is None else type(X).__name__ + inner
        raise TypeError(f"X must be a two-dimensional array, or a pandas, polars or Arrow table, got {got}")
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object), np.nan)
    if isinstance(X, list | tuple) and np.asarray(X).dtype.kind in "US":
        X = np.array(X, dtype=object)  # numpy would convert numbers to strings if one value is a string
    return np.asarray(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))


def _column(name: Hashable, series: Any) -> Column:
    """Return a numpy array or narwhals series as a column of its type."""
    if isinstance(series, np.ndarray):
        return _column_of_array(name, series)
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric():
        floats = _floats(series)
        return Column(name, NUMBER, floats, rounded=dtype.is_integer() and _has_rounded_integers(floats))
    if dtype == nw.Boolean:
        if series.null_count() == 0:
            values = series.to_numpy().astype(np.int32)
        else:
            values = np.array([-1 if _is_missing(v) else int(v) for v in series.to_list()], np.int32)
        return Column(name, BOOLEAN, values, (False, True)) if (values >= 0).any() else _empty_column(name, len(series))
    if dtype == nw.Datetime or dtype == nw.Date:
        return _column_of_dates(name, series, dtype)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _column_of_categories(name, series, dtype)
    if dtype == nw.Unknown and series.null_count() == len(series):
        return _empty_column(name, len(series))
    if dtype in (nw.Object, nw.Unknown):
        native = series.to_native()
        if _is_pandas_categorical(native):  # narwhals supports categories of strings only
            return _column_of_categories(name, series, nw.Categorical)
        if str(getattr(native, "dtype", "object")) == "object" or dtype == nw.Object:
            return _column_of_objects(name, series.to_list())
        if str(native.dtype).startswith("Sparse"):
            return _column_of_array(name, native.to_numpy())
        if getattr(native.dtype, "tz", None) is not None:  # narwhals does not support every time zone
            moments = native.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
            return Column(name, INSTANT, moments.astype("datetime64[us]"))
        dtype = native.dtype
    raise TypeError(
        f"column {name!r} holds {dtype} values: argument must be a string or a number, a boolean, a date or missing; "
        "convert the column (durations, for instance, to a number of seconds) or leave it out"
    )


def _floats(series: Any) -> NDArray[np.float64]:
    """Return a numeric series as float64, NaN where a value is missing."""
    import narwhals as nw

    if series.dtype.is_decimal():
        series = series.cast(nw.Float64)
    values = series.to_numpy()
    if values.dtype == object:
        values = np.array([np.nan if _is_missing(v) else float(v) for v in values])
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    return np.ascontiguousarray(values, dtype=np.float64)


def _has_rounded_integers(floats: NDArray[np.float64]) -> bool:
    """Return whether some integer may have been rounded to float64; for example 2**53 + 1 becomes 2**53."""
    return bool(np.abs(floats).max(initial=0.0, where=~np.isnan(floats)) >= 2.0**53)


def _column_of_array(name: Hashable, values: NDArray[Any]) -> Column:
    """Return a column of a numpy array."""
    if values.dtype.kind in "fiu":
        floats = np.ascontiguousarray(values, dtype=np.float64)  # reading a strided column is slow
        return Column(name, NUMBER, floats, rounded=values.dtype.kind in "iu" and _has_rounded_integers(floats))
    if values.dtype.kind == "b":
        return Column(name, BOOLEAN, values.astype(np.int32), (False, True))
    if values.dtype.kind == "M":
        return Column(name, DATE, values.astype("datetime64[us]"))
    if values.dtype.kind in "OUT":
        return _column_of_objects(name, values.tolist())
    raise TypeError(
        f"column {name!r} has dtype {values.dtype}: argument must be a string or a number, a boolean, a date or missing"
    )


def _column_of_dates(name: Hashable, series: Any, dtype: Any) -> Column:
    """Return a column of dates and times in microseconds; those with a time zone are converted to UTC."""
    import narwhals as nw

    zone = getattr(dtype, "time_zone", None)
    if zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = series.to_numpy()
    if values.dtype.kind != "M":
        values = np.array(series.cast(nw.Datetime("us")).to_list(), dtype="datetime64[us]")
    return Column(name, DATE if zone is None else INSTANT, values.astype("datetime64[us]"))


def _column_of_categories(name: Hashable, series: Any, dtype: Any) -> Column:
    """Return a column of strings or categoricals, as positions among the distinct values."""
    native = series.to_native()
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(native, pandas.Series):
        if _is_pandas_categorical(native):
            categories, codes = native.cat.categories.tolist(), native.cat.codes.to_numpy()
            ordered = bool(native.cat.ordered)
        else:
            codes, uniques = pandas.factorize(native)
            categories, ordered = uniques.tolist(), False
    else:
        ordered = hasattr(dtype, "categories")  # an Enum declares its order
        categories = list(dtype.categories) if ordered else series.drop_nulls().unique().to_list()
        position = {value: k for k, value in enumerate(categories)}
        codes = np.array([position.get(value, -1) for value in series.to_list()], np.int32)
    return _categorical(name, categories, codes, ordered)


def _is_pandas_categorical(native: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(getattr(native, "dtype", None), pandas.CategoricalDtype)


def _column_of_objects(name: Hashable, values: list[Any]) -> Column:
    """Return a column of Python objects, with the most specific type that fits all of them."""
    missing = [_is_missing(v) for v in values]
    types = {type(v) for v, absent in zip(values, missing, strict=True) if not absent}
    if not types:
        return _empty_column(name, len(values))
    if all(issubclass(t, bool | np.bool_) for t in types):
        codes = np.array([-1 if absent else int(v) for v, absent in zip(values, missing, strict=True)], np.int32)
        return Column(name, BOOLEAN, codes, (False, True))
    if all(_is_real(t) for t in types):
        return _column_of_real_objects(name, values, missing)
    if all(issubclass(t, datetime.date | np.datetime64) for t in types):
        return _column_of_date_objects(name, values, missing)
    for v, absent in zip(values, missing, strict=True):
        if not absent and not isinstance(v, str | bytes | numbers.Real | datetime.date | np.datetime64 | np.bool_):
            raise TypeError(
                f"column {name!r} holds a {type(v).__name__}, {v!r:.80}: argument must be a string or a number, "
                "a boolean, a date or missing"
            )
    position: dict[Any, int] = {}
    codes = np.array(
        [-1 if absent else position.setdefault(v, len(position)) for v, absent in zip(values, missing, strict=True)],
        np.int32,
    )
    return _categorical(name, list(position), codes, ordered=False)


def _column_of_real_objects(name: Hashable, values: list[Any], missing: list[bool]) -> Column:
    """Return a column of numbers that are Python objects."""
    try:
        floats = np.array(
            [np.nan if absent else float(v) for v, absent in zip(values, missing, strict=True)], np.float64
        )
    except OverflowError:
        raise ValueError(f"Input X contains a number too large for float64 in the column {name!r}") from None
    whole = any(isinstance(v, numbers.Integral) for v in values)
    return Column(name, NUMBER, floats, rounded=whole and _has_rounded_integers(floats))


def _is_real(t: type) -> bool:
    return issubclass(t, numbers.Real | np.bool_) or t.__name__ == "Decimal"


def _column_of_date_objects(name: Hashable, values: list[Any], missing: list[bool]) -> Column:
    """Return a column of dates that are Python objects; all with a time zone, or all without."""
    zoned = {getattr(v, "tzinfo", None) is not None for v, absent in zip(values, missing, strict=True) if not absent}
    if len(zoned) > 1:
        raise TypeError(f"column {name!r} mixes dates with and without a time zone; convert them to one of the two")
    dates = np.array(
        [None if absent else _without_zone(v) for v, absent in zip(values, missing, strict=True)], "datetime64[us]"
    )
    return Column(name, INSTANT if zoned.pop() else DATE, dates)


def _without_zone(value: Any) -> Any:
    """Return a date without a time zone, converted to UTC if it has one."""
    if getattr(value, "tzinfo", None) is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _categorical(name: Hashable, categories: list[Any], codes: NDArray[Any], ordered: bool) -> Column:
    """Return a column of categories; unordered ones are sorted, so that the order of records does not matter."""
    codes = np.asarray(codes, np.int32)
    if not categories or not (codes >= 0).any():
        return _empty_column(name, codes.size)
    if not ordered:
        order = sorted(range(len(categories)), key=lambda k: _sort_key(categories[k]))
        rank = np.empty(len(categories) + 1, np.int32)
        rank[order] = np.arange(len(categories))
        rank[-1] = -1
        codes, categories = rank[codes], [categories[k] for k in order]
    kind = TEXT if all(isinstance(c, str) for c in categories) else CATEGORY
    if kind == CATEGORY and all(isinstance(c, bool | np.bool_) for c in categories):
        kind = BOOLEAN
    return Column(name, kind, codes, tuple(plain(c) for c in categories))


def _sort_key(value: Any) -> tuple[str, Any]:
    if isinstance(value, numbers.Real):
        return "", value
    return type(value).__name__, value


def _empty_column(name: Hashable, n_records: int) -> Column:
    return Column(name, EMPTY, np.full(n_records, -1, np.int32))


def plain(value: Any) -> Any:
    """Return a numpy scalar as a Python value; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _is_missing(value: Any) -> bool:
    """Return whether a Python object is a missing value: None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Number | np.datetime64) and bool(value != value)


def n_missing(values: Iterable[Any]) -> int:
    """Count the missing values among Python objects."""
    return sum(_is_missing(v) for v in values)
