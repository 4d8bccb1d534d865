"""From a table to items: which conditions each column may contribute, and the bits of each.

An *item* is the number of one condition. Its bit row is what :meth:`Condition.holds` says of every record,
packed. Columns are read one at a time, and only the packed rows stay.
"""

from __future__ import annotations

import datetime
import itertools
import math
import os
import warnings
from collections.abc import Hashable, Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bitset import Words, n_words, pack
from diverse_rule_sets._tables import CATEGORY, DATE, EMPTY, INSTANT, NUMBER, Column, Table
from diverse_rule_sets.rules import Condition, Equals, Interval, IsMissing

# A category column contributes at most this many of its values, the most frequent ones.
MAX_CATEGORIES = 256
# Share of the machine's memory that the bit rows may take.
_MEMORY_SHARE = 0.8

Edges = Sequence[Any]
Binning = str | Mapping[Any, str | Edges]


class Encoding(NamedTuple):
    """The conditions in use, and row by row the records for which each one holds."""

    conditions: list[Condition]
    rows: Words


def encode(table: Table, binning: Binning, n_bins: int) -> Encoding:
    """Learn the conditions of every column and pack their answers.

    Conditions that hold for no record or for every record tell no two records apart, and are left out.

    Parameters
    ----------
    table : the records
    binning : ``"uniform"``, ``"quantile"``, or a mapping from column names to one of these or to given edges; columns
        not named are ``"uniform"``
    n_bins : bins of a numeric or date column where no edges are given
    """
    _check_columns_of(binning, table)
    conditions: list[Condition] = []
    rows = _Rows(table.n_records)
    for name in table.names:
        column = table.column(name)
        for condition in _conditions(column, _binning_of(binning, name), n_bins):
            answers = condition.holds(column)
            if answers.any() and not answers.all():
                rows.append(pack(answers))
                conditions.append(condition)
    return Encoding(conditions, rows.finished())


class _Rows:
    """A matrix of bit rows that grows without ever being held twice."""

    def __init__(self, n_bits: int) -> None:
        self._words = np.zeros((16, n_words(n_bits)), np.uint64)
        self._used = 0
        self._limit = _MEMORY_SHARE * _physical_memory()

    def append(self, row: Words) -> None:
        if self._used == self._words.shape[0]:
            n_rows = self._used + max(16, self._used // 4)
            needed = n_rows * self._words.shape[1] * 8
            try:
                if needed > self._limit:
                    raise MemoryError
                self._words.resize((n_rows, self._words.shape[1]), refcheck=False)
            except MemoryError:
                raise MemoryError(
                    f"the table has over {self._used:,} items, whose bits would take more than {needed / 1e9:.1f} GB; "
                    "lower n_bins, leave out columns or categories, or fit on a sample of the records"
                ) from None
        self._words[self._used] = row
        self._used += 1

    def finished(self) -> Words:
        self._words.resize((self._used, self._words.shape[1]), refcheck=False)
        return self._words


def _physical_memory() -> float:
    """Bytes of memory of this machine or of its container; infinite where neither says."""
    try:
        memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        memory = math.inf
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit:
            return min(memory, float(limit.read()))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return memory


def _check_columns_of(binning: Binning, table: Table) -> None:
    if isinstance(binning, Mapping):
        for name in binning:
            if name not in table:
                raise ValueError(
                    f"binning names the column {name!r}, which X does not have; its columns: {table.names}"
                )


def _binning_of(binning: Binning, name: Hashable) -> str | Edges:
    if isinstance(binning, Mapping):
        return binning.get(name, "uniform")
    return binning


def _conditions(column: Column, binning: str | Edges, n_bins: int) -> list[Condition]:
    """List the conditions that a column may contribute, in order, `is missing` last."""
    missing = column.missing
    found: list[Condition] = []
    if column.kind in (NUMBER, DATE, INSTANT):
        present = column.values[~missing]
        if column.kind == NUMBER and np.isinf(present).any():
            raise ValueError(f"Input X contains infinity in the column {column.name!r}, expected finite numbers or NaN")
        if column.rounded:
            warnings.warn(
                f"column {column.name!r} holds whole numbers from 2**53 on, which are compared as floating point and "
                "so not exactly. Leave the column out if it is an identifier, or turn it into strings",
                UserWarning,
                stacklevel=5,  # past encode, _learn and fit: the line that called fit
            )
        if present.size:
            found += _intervals(column, present, binning, n_bins)
    elif not isinstance(binning, str) and column.kind != EMPTY:
        raise ValueError(f"binning gives edges for the column {column.name!r}, which holds {column.kind} values")
    elif column.kind != EMPTY:
        found += _equalities(column)
    if missing.any():
        found.append(IsMissing(column.name))
    return found


def _equalities(column: Column) -> list[Condition]:
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.categories))
    present = np.flatnonzero(counts)
    if present.size > MAX_CATEGORIES:
        warnings.warn(
            f"column {column.name!r} has {present.size:,} different values; rules will speak only of the "
            f"{MAX_CATEGORIES} most frequent. Leave the column out if it is an identifier, or group its values",
            UserWarning,
            stacklevel=6,  # past _conditions, encode, _learn and fit: the line that called fit
        )
        frequent = np.argsort(-counts[present], kind="stable")[:MAX_CATEGORIES]
        present = np.sort(present[frequent])
    return [Equals(column.name, column.categories[k], mixed=column.kind == CATEGORY) for k in present]


def _intervals(column: Column, present: NDArray[Any], binning: str | Edges, n_bins: int) -> list[Condition]:
    """Cut a numeric or date column into intervals that share no value and leave none out."""
    values = np.unique(present)  # sorted
    if isinstance(binning, str):
        edges = _EDGES[binning](present, values, n_bins)
        # An edge with nothing above it separates nothing, and would close the outer interval.
        bounds: list[Any] = [_short(edge, values, column.kind) for edge in edges if edge < values[-1]]
    else:
        bounds = [_given(edge, column) for edge in binning]
    bounds = sorted(set(bounds))
    if not bounds:
        return []
    ends = [None, *bounds, None]
    return [Interval(column.name, low, high) for low, high in itertools.pairwise(ends)]


def _uniform_edges(present: NDArray[Any], values: NDArray[Any], n_bins: int) -> list[Any]:
    """Inner edges of bins of equal width (the paper's)."""
    low, high = _as_float(values[[0, -1]])
    if low == high:
        return []
    scale = 1.0 if max(-low, high) < 1e300 else 4.0  # the span of extreme values must not overflow
    inner = np.linspace(low / scale, high / scale, n_bins + 1)[1:-1] * scale
    return _from_float(inner, values.dtype)


def _quantile_edges(present: NDArray[Any], values: NDArray[Any], n_bins: int) -> list[Any]:
    """Inner edges of bins that hold about as many records each."""
    if values.size == 1:
        return []
    levels = np.arange(1, n_bins) / n_bins
    inner = np.quantile(_as_float(present), levels, method="inverted_cdf")
    return _from_float(inner, values.dtype)


_EDGES = {"uniform": _uniform_edges, "quantile": _quantile_edges}


def _as_float(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.int64).astype(np.float64) if values.dtype.kind == "M" else values


def _from_float(edges: NDArray[np.float64], dtype: np.dtype[Any]) -> list[Any]:
    return list(edges.astype(np.int64).astype(dtype) if dtype.kind == "M" else edges)


def _given(edge: Any, column: Column) -> Any:
    """Take an edge that the user gave as it is."""
    try:
        if column.kind == NUMBER:
            number = float(edge)
            if not math.isfinite(number):
                raise ValueError
            return number
        return _given_date(edge, column.kind)
    except (TypeError, ValueError):
        raise ValueError(
            f"binning gives the edge {edge!r} for the column {column.name!r}, expected a {_EDGE_WORDS[column.kind]}"
        ) from None


_EDGE_WORDS = {NUMBER: "finite number", DATE: "date without a time zone", INSTANT: "date and time with a time zone"}


def _given_date(edge: Any, kind: str) -> datetime.datetime:
    """Take a date that the user gave: text, date, datetime, or numpy's or pandas' own."""
    if isinstance(edge, str):
        edge = datetime.datetime.fromisoformat(edge)
    elif isinstance(edge, np.datetime64):
        edge = _moment(edge, DATE)
    elif not isinstance(edge, datetime.date):
        raise TypeError
    if not isinstance(edge, datetime.datetime):
        edge = datetime.datetime(edge.year, edge.month, edge.day)
    if (edge.tzinfo is None) != (kind == DATE):
        raise ValueError
    # A plain datetime also where pandas gave its own.
    whole = datetime.datetime.fromisoformat(edge.isoformat()[:26] if edge.tzinfo is None else edge.isoformat())
    return whole if kind == DATE else whole.astimezone(datetime.UTC)


def _short(edge: Any, values: NDArray[Any], kind: str) -> Any:
    """Return the shortest number or date that leaves the same values on each side of the edge."""
    position = int(np.searchsorted(values, edge, side="right"))
    low = values[max(position - 1, 0)]
    high = values[position]
    if kind == NUMBER:
        return shortest_number(float(edge), float(low), float(high))
    return _moment(shortest_date(edge, low, high), kind)


def shortest_number(edge: float, low: float, high: float) -> float:
    """Return the number with the fewest digits in [low, high), the nearest to the edge among those.

    Examples
    --------
    >>> shortest_number(0.58, 0.5, 0.6)
    0.5
    >>> shortest_number(0.58, 0.55, 0.6)
    0.58
    >>> shortest_number(38.7, 37.0, 43.0)
    40.0
    """
    with localcontext(Context(prec=40)):
        exact = Decimal(edge)
        largest = Decimal(max(abs(low), abs(high))).adjusted() + 1
        for place in range(largest, largest - 20, -1):
            unit = Decimal(1).scaleb(place)
            below = (exact / unit).to_integral_value(ROUND_FLOOR) * unit
            for candidate in sorted((below, below + unit), key=lambda near: abs(near - exact)):
                if low <= float(candidate) < high:
                    return float(candidate)
    return low


_UNITS: tuple[Any, ...] = ("Y", "M", "D", "h", "m", "s", "ms", "us")


def shortest_date(edge: Any, low: Any, high: Any) -> Any:
    """Return the start of a year, or else of a month, a day, an hour ... in [low, high), nearest to the edge."""
    for unit in _UNITS:
        start = edge.astype(f"datetime64[{unit}]")
        near = sorted(
            (start, start + np.timedelta64(1, unit)), key=lambda moment: abs(moment.astype("datetime64[us]") - edge)
        )
        for candidate in near:
            moment = candidate.astype("datetime64[us]")
            if low <= moment < high:
                return moment
    return low


def _moment(value: Any, kind: str) -> datetime.datetime:
    """Turn a numpy date into the Python value that conditions hold."""
    moment = np.datetime64(value, "us").astype(datetime.datetime)
    if not isinstance(moment, datetime.datetime):
        raise ValueError(f"the date {value} is outside the years 1 to 9999")
    return moment.replace(tzinfo=datetime.UTC) if kind == INSTANT else moment
