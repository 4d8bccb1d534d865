"""From a table to items: which conditions each column may contribute, and the bits of each.

An *item* is the number of one condition. Its bit row is what :meth:`Condition.holds` says of every record,
packed. Columns are read one at a time, and only the packed rows stay.
"""

from __future__ import annotations

import datetime
import itertools
import math
import os
from collections.abc import Hashable, Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Words, n_words, pack
from diverse_rule_sets._input.checks import warn
from diverse_rule_sets._input.tables import CATEGORY, DATE, EMPTY, INSTANT, NUMBER, Column, Table
from diverse_rule_sets.data._cut_points import MAX_SET, Target, category_sets, supervised_cuts
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn

# A category column contributes at most this many of its values, the most frequent ones.
MAX_CATEGORIES = 256
# Share of the machine's memory that the bit rows may take; the search may hold them twice.
_MEMORY_SHARE = 0.4

Edges = Sequence[Any]
Binning = str | Mapping[Any, str | Edges]


class Encoding(NamedTuple):
    """The conditions in use, and row by row the records for which each one holds.

    ``columns`` numbers the column of each condition. ``opposites`` is the number of the condition that holds for just
    the other records with a value in that column, -1 where there is none.
    """

    conditions: list[Condition]
    rows: Words
    columns: Integers
    opposites: Integers


class Cutting(NamedTuple):
    """How columns become conditions.

    Parameters
    ----------
    binning : ``"supervised"``, ``"uniform"``, ``"quantile"``, or a mapping from column names to one of these or to
        given edges; columns not named are cut as ``otherwise`` says
    n_bins : bins of a numeric or date column where no edges are given
    thresholds : offer ``x <= t`` and ``x > t`` at every edge, and sets of categories; otherwise the bins between
        edges, and single categories
    negation : offer ``not in`` where it names fewer categories
    otherwise : how columns are cut that a mapping does not name
    forbidden : columns that become no conditions, and are not even read
    """

    binning: Binning
    n_bins: int
    thresholds: bool = False
    negation: bool = False
    otherwise: str = "uniform"
    forbidden: frozenset[Hashable] = frozenset()


def encode(table: Table, cutting: Cutting, target: Target) -> Encoding:
    """Learn the conditions of every column and pack their answers.

    Conditions that hold for no record or for every record tell no two records apart, and are left out.

    Parameters
    ----------
    table : the records
    cutting : how columns become conditions
    target : the classes that supervised cuts are to tell apart
    """
    _check_columns_of(cutting.binning, table)
    conditions: list[Condition] = []
    columns: list[int] = []
    wanted: list[Condition | None] = []
    rows = _Rows(table.n_records)
    for number, name in enumerate(name for name in table.names if name not in cutting.forbidden):
        column = table.column(name)
        offers = _offers(column, cutting, target)
        for condition, opposite in offers.items():
            answers = condition.holds(column)
            if answers.any() and not answers.all():
                rows.append(pack(answers))
                conditions.append(condition)
                columns.append(number)
                wanted.append(opposite)
    item_of = {condition: item for item, condition in enumerate(conditions)}
    opposites = [-1 if opposite is None else item_of.get(opposite, -1) for opposite in wanted]
    return Encoding(conditions, rows.finished(), np.array(columns, np.int64), np.array(opposites, np.int64))


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


def _binning_of(cutting: Cutting, name: Hashable) -> str | Edges:
    if isinstance(cutting.binning, Mapping):
        return cutting.binning.get(name, cutting.otherwise)
    return cutting.binning


# Conditions of a column, in order, each with the one that holds for the other records, if there is one.
Offers = dict[Condition, Condition | None]


def _offers(column: Column, cutting: Cutting, target: Target) -> Offers:
    """List the conditions that a column may contribute, in order, `is missing` last."""
    binning = _binning_of(cutting, column.name)
    missing = column.missing
    offers: Offers = {}
    if column.kind in (NUMBER, DATE, INSTANT):
        _check_numbers(column, missing)
        if not missing.all():
            edges = _edges(column, ~missing, binning, cutting.n_bins, target)
            offers = _thresholds(column, edges) if cutting.thresholds else _bins(column, edges)
    elif not isinstance(binning, str) and column.kind != EMPTY:
        raise ValueError(f"binning gives edges for the column {column.name!r}, which holds {column.kind} values")
    elif column.kind != EMPTY:
        present = _present_categories(column)
        offers = _sets(column, present, cutting, target) if cutting.thresholds else _equalities(column, present)
    if missing.any():
        offers[IsMissing(column.name)] = None
    return offers


def _check_numbers(column: Column, missing: NDArray[np.bool_]) -> None:
    if column.kind == NUMBER and np.isinf(column.values[~missing]).any():
        raise ValueError(f"Input X contains infinity in the column {column.name!r}, expected finite numbers or NaN")
    if column.rounded:
        warn(
            f"column {column.name!r} holds whole numbers from 2**53 on, which are compared as floating point and "
            "so not exactly. Leave the column out if it is an identifier, or turn it into strings"
        )


def _present_categories(column: Column) -> Integers:
    """Return the positions of the categories to speak of, ascending."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.categories))
    present = np.flatnonzero(counts)
    if present.size > MAX_CATEGORIES:
        warn(
            f"column {column.name!r} has {present.size:,} different values; rules will speak only of the "
            f"{MAX_CATEGORIES} most frequent. Leave the column out if it is an identifier, or group its values"
        )
        frequent = np.argsort(-counts[present], kind="stable")[:MAX_CATEGORIES]
        present = np.sort(present[frequent])
    return present


def _equalities(column: Column, present: Integers) -> Offers:
    mixed = column.kind == CATEGORY
    return {Equals(column.name, column.categories[k], mixed=mixed): None for k in present}


def _sets(column: Column, present: Integers, cutting: Cutting, target: Target) -> Offers:
    """Offer every category, and the sets that tell classes apart, with their opposites where both can be named."""
    known = np.isin(column.values, present)
    subset = Target(target.codes[known], target.weights)
    parts = [(int(k),) for k in present] + category_sets(column.values[known], present, subset)
    everything = set(present.tolist())

    def named(part: tuple[int, ...]) -> Condition | None:
        values = tuple(column.categories[k] for k in part)
        mixed = column.kind == CATEGORY
        if len(values) == 1:
            return Equals(column.name, values[0], mixed)
        others = tuple(column.categories[k] for k in sorted(everything - set(part)))
        if cutting.negation and len(others) < len(values) and len(others) <= MAX_SET:
            return IsNotIn(column.name, others, mixed)
        return IsIn(column.name, values, mixed) if len(values) <= MAX_SET else None

    offers: Offers = {}
    for part in parts:
        condition, rest = named(part), tuple(sorted(everything - set(part)))
        if condition is not None:
            offers[condition] = named(rest) if rest else None
    return offers


def _edges(column: Column, known: NDArray[np.bool_], binning: str | Edges, n_bins: int, target: Target) -> list[Any]:
    """Return where a numeric or date column is cut, ascending, each edge in the fewest digits."""
    if not isinstance(binning, str):
        return sorted({_given(edge, column) for edge in binning})
    present = column.values[known]
    if binning == "supervised":
        values, ranks = np.unique(present, return_inverse=True)
        subset = Target(target.codes[known], target.weights)
        cuts = supervised_cuts(ranks.reshape(-1), values.size, subset, n_bins - 1)
        edges = [_between(values[cut - 1], values[cut]) for cut in cuts.tolist()]
    else:
        values = np.unique(present)
        edges = _EDGES[binning](present, values, n_bins)
    # An edge with nothing above it separates nothing, and would close the outer interval.
    return sorted({_short(edge, values, column.kind) for edge in edges if edge < values[-1]})


def _between(low: Any, high: Any) -> Any:
    """Return a value in the middle, from low on but below high."""
    if isinstance(low, np.datetime64):
        return low + (high - low) // 2
    middle = low / 2 + high / 2  # their sum might overflow
    return middle if low <= middle < high else low


def _bins(column: Column, edges: list[Any]) -> Offers:
    """Cut a column into intervals that share no value and leave none out."""
    if not edges:
        return {}
    return {Interval(column.name, low, high): None for low, high in itertools.pairwise([None, *edges, None])}


def _thresholds(column: Column, edges: list[Any]) -> Offers:
    """Offer both sides of every edge."""
    offers: Offers = {}
    for edge in edges:
        below, above = Interval(column.name, high=edge), Interval(column.name, low=edge)
        offers |= {below: above, above: below}
    return offers


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
