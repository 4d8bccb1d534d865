"""Validation of tables: numpy arrays, nested lists, pandas, polars and Arrow tables become columns of a few types.

A :class:`Table` has named columns and returns one at a time as a :class:`Column`; a column is converted when it is
read. The columns of an array are named ``x0``, ``x1``, ... as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets._input.codes import CodesByColumn
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.series import decode, has_order, holds_objects
from diverse_rule_sets._input.values import equals_no_name, plain

# Up to this number of columns narwhals finds a column as fast as the library itself; the time grows with the number.
_NARROW = 100


class Table:
    """The columns of any supported table; see :func:`as_table`."""

    def __init__(self, names: Sequence[Hashable], n_records: int, series: Any, named: bool) -> None:
        self.names = list(names)
        self.n_records = n_records
        self.named = named  # False for arrays, whose columns are named x0, x1, ...
        self._series = series  # function: position -> array or narwhals series
        self._position = {name: j for j, name in enumerate(self.names)}
        self._records: NDArray[np.int64] | None = None  # numbers of the records; None: all
        self._decoded: dict[tuple[Hashable, str], Column] | None = None  # cache of columns; None: no cache
        self.codes: CodesByColumn = {}  # values that mean in some columns that a value is missing
        self.origin = ""  # the file or batch of these records, for errors

    def __contains__(self, name: Hashable) -> bool:
        return name in self._position

    def column(self, name: Hashable, expected: str = "") -> Column:
        """Return one column.

        Parameters
        ----------
        name : the column
        expected : the type that every value must have, see :func:`decode`; by default it is found from the values

        Raises
        ------
        TypeError, ValueError : with the name of the column, if it does not exist or holds values of another type
        """
        if name not in self._position:
            known = ", ".join(repr(n) for n in self.names[:20]) + (", ..." if len(self.names) > 20 else "")
            hint = "" if self.named else " (X is an array, whose columns have no names of their own)"
            hint += did_you_mean(name, self.names)
            raise ValueError(f"X has no column {name!r}, which the rules use; its columns are {known}{hint}")
        if self._decoded is not None and (name, expected) in self._decoded:
            return self._decoded[name, expected]
        column = decode(name, self._series(self._position[name]), expected, self.codes.get(name, ()))
        if self._records is not None:
            column = replace(column, values=column.values[self._records])
        if self._decoded is not None:
            self._decoded[name, expected] = column
        return column

    def holds_objects(self, name: Hashable) -> bool:
        """Return whether a column is stored as Python objects, whose types may differ."""
        return holds_objects(self._series(self._position[name]))

    def with_codes(self, codes: CodesByColumn) -> Table:
        """Return the same table with codes for missing values; columns that are decoded already have none any more."""
        # Compared by identity, which is enough to keep a cache: (1,) equals (True,).
        if self._series is None or all(self.codes.get(name) is some for name, some in codes.items()):
            return self
        table = self._copy()
        table._records, table._decoded = self._records, None if self._decoded is None else {}
        table.codes = {**self.codes, **codes}
        return table

    def has_order(self, name: Hashable) -> bool:
        """Return whether a column exists and holds ordered categories; its values are not read."""
        return name in self._position and has_order(self._series(self._position[name]))

    def with_cache(self) -> Table:
        """Return the same table with a cache of columns, for callers that read a column several times."""
        table = self._copy()
        table._records, table._decoded = self._records, {}
        return table

    def native(self, name: Hashable) -> Any:
        """Return a column as the array or series that the table holds."""
        series = self._series(self._position[name])
        return series if isinstance(series, np.ndarray) else series.to_native()

    def select(self, names: Sequence[Hashable]) -> Table:
        """Return a table of some of the columns."""
        positions = [self._position[name] for name in names]
        table = Table(names, self.n_records, lambda j: self._series(positions[j]), self.named)
        table._records = self._records
        table.codes = {name: codes for name, codes in self.codes.items() if name in table}
        return table

    def take(self, records: NDArray[np.int64]) -> Table:
        """Return a table of the records with the given numbers."""
        table = self._copy(len(records))
        table._records = records if self._records is None else self._records[records]
        return table

    def select_records(self, records: NDArray[np.int64]) -> Table:
        """Return a table of the records with the given numbers, as if X had no others: for types and categories too."""
        series, kept = self._series, records if self._records is None else self._records[records]
        table = Table(self.names, len(records), lambda j: series(j)[kept], self.named)
        table.codes = self.codes
        return table

    def rename(self, names: Sequence[Hashable]) -> Table:
        """Return the same columns with other names, by position."""
        table = Table(names, self.n_records, self._series, named=True)
        table._records = self._records
        table.codes = {new: self.codes[old] for old, new in zip(self.names, names, strict=True) if old in self.codes}
        return table

    def _copy(self, n_records: int | None = None) -> Table:
        """Return the same columns."""
        table = Table(self.names, self.n_records if n_records is None else n_records, self._series, self.named)
        table.codes = self.codes
        return table


def as_table(X: Any) -> Table:
    """Return a two-dimensional array or list, or a pandas, polars or Arrow table, as a :class:`Table`."""
    if isinstance(X, Table):
        return X
    if not isinstance(X, np.ndarray | list | tuple):
        frame = _frame(X)
        if frame is not None:
            _check_names(frame.columns)
            names = [plain(name) for name in frame.columns]
            return Table(names, len(frame), _series_reader(frame), named=True)
    array = _array(X)
    return Table([f"x{j}" for j in range(array.shape[1])], array.shape[0], lambda j: array[:, j], named=False)


def _frame(X: Any) -> Any:
    """Return X as a narwhals data frame; None if X is not a data frame."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"the columns of X must have different names. {' '.join(str(error).split())}") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"X is a lazy table ({type(X).__module__}); collect it first: X.collect() or X.compute()")
    if not isinstance(frame, nw.DataFrame):
        return None
    if len(frame) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is required.")
    if len(frame.columns) == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
    return frame


def _check_names(names: Sequence[Hashable]) -> None:
    """Raise ValueError if columns cannot be found by their names."""
    for j, name in enumerate(names):
        if type(name) is str:
            continue
        if equals_no_name(name):
            raise ValueError(f"column {j + 1} of X has the name {name!r}, which equals no name; rename the column")
        if _has_numpy_date(name):
            raise ValueError(f"column {j + 1} of X has the name {name!r}; use a string or a datetime as name")
    if len(set(names)) < len(names):
        same = next(name for j, name in enumerate(names) if name in names[:j])
        raise ValueError(f"the columns of X must have different names; several are called {same!r}")


def _has_numpy_date(name: Hashable) -> bool:
    """Return whether a name, or a part of it, is a date of numpy, whose Python value may be another moment."""
    if isinstance(name, tuple | frozenset):
        return any(map(_has_numpy_date, name))
    return isinstance(name, np.datetime64 | np.timedelta64)


def _series_reader(frame: Any) -> Callable[[int], Any]:
    """Return a function that returns one column of a narwhals data frame, by its position."""
    import narwhals as nw

    native = frame.to_native()
    if hasattr(native, "to_series"):  # polars reads a name such as ^a.*$ as a pattern
        return lambda j: nw.from_native(native.to_series(j).rename("values"), series_only=True)
    is_wide = len(frame.columns) > _NARROW
    if is_wide and hasattr(native, "iloc"):  # pandas
        return lambda j: nw.from_native(native.iloc[:, j], series_only=True)
    if is_wide and hasattr(native, "column"):  # Arrow
        return lambda j: nw.from_native(native.column(j), series_only=True)
    return lambda j: frame[:, j]


def _array(X: Any) -> NDArray[Any]:
    """Return X as a two-dimensional numpy array with unchanged values."""
    from sklearn.utils.validation import check_array

    inner = f" of {type(X[0]).__name__}" if isinstance(X, list | tuple) and X else ""
    if X is None or (isinstance(X, str | bytes | Mapping) and not hasattr(X, "shape")) or inner == " of dict":
        got = "None" if X is None else type(X).__name__ + inner
        raise TypeError(f"X must be a two-dimensional array, or a pandas, polars or Arrow table, got {got}")
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise ValueError("Complex data not supported: column 'x0' of X holds complex numbers")
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object), np.nan)
    try:
        if isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple):
            X = np.array(X, dtype=object)  # numpy would convert all values to one type
        return np.asarray(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))
    except ValueError as error:
        text = " ".join(str(error).split())
        raise ValueError(f"X must be a table of records and columns: {text:.500}") from None
