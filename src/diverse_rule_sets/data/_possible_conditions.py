"""The possible conditions on a column: thresholds or bins, categories and sets of categories, ``is missing``."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.checks import warn
from diverse_rule_sets._input.columns import CATEGORY, EMPTY, Column, values_text
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.data._categories import CategoryTotals, select_categories
from diverse_rule_sets.data._cut_points import MAX_SET, Target, category_sets, supervised_cuts
from diverse_rule_sets.data._rounding import as_datetime, shortest
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._ranges import category_range

# Maximum number of edges that the user gives for a column.
_MAX_EDGES = 1000

Edges = Sequence[Any]
Binning = str | Mapping[Any, str | Edges]


class CutOptions(NamedTuple):
    """How columns become conditions.

    Parameters
    ----------
    binning : ``"supervised"``, ``"uniform"``, ``"quantile"``, or a mapping from column names to one of these or to
        edges given by the user
    n_bins : number of bins of a numeric or date column without given edges
    thresholds : True for ``x <= t`` and ``x > t`` at every edge and for sets of categories; False for the bins between
        edges and for single categories
    negation : whether to use ``not in`` if it lists fewer categories
    default_binning : the binning of columns that a mapping does not name
    forbidden : columns without conditions; they are not read
    kept : columns whose values are used even if they look like identifiers, besides those that a binning names
    named_in : the parameters in which the user can name such columns, for warnings
    directed : columns that a monotone constraint names: a condition with one bound keeps it
    """

    binning: Binning
    n_bins: int
    thresholds: bool = False
    negation: bool = False
    default_binning: str = "uniform"
    forbidden: frozenset[Hashable] = frozenset()
    kept: frozenset[Hashable] = frozenset()
    named_in: str = "binning"
    directed: frozenset[Hashable] = frozenset()


def _binning_of(options: CutOptions, name: Hashable) -> str | Edges:
    if isinstance(options.binning, Mapping):
        return options.binning.get(name, options.default_binning)
    return options.binning


def _has_own_binning(options: CutOptions, name: Hashable) -> bool:
    return isinstance(options.binning, Mapping) and name in options.binning


# Conditions on a column, in order, each with the condition that holds for the other records, or None.
PossibleConditions = dict[Condition, Condition | None]


def possible_conditions(
    column: Column, options: CutOptions, target: Target, totals: CategoryTotals | None = None
) -> PossibleConditions:
    """Return the possible conditions on a column, in order, ``is missing`` last.

    Parameters
    ----------
    column : a value for each record, or for each group of records of a summary
    options : how columns become conditions
    target : the classes of the same records or groups
    totals : for a summary that does not list all categories, how many there are
    """
    binning = _binning_of(options, column.name)
    missing = column.missing
    found: PossibleConditions = {}
    if column.kind in (NUMBER, DATE, INSTANT):
        _check_numbers(column, missing)
        if not missing.all():
            edges = _edges(column, ~missing, binning, options.n_bins, target)
            found = _thresholds(column, edges) if options.thresholds else _bins(column, edges)
    elif not isinstance(binning, str) and column.kind != EMPTY:
        raise ValueError(f"binning gives edges for the column {column.name!r}, which holds {values_text(column.kind)}")
    elif column.kind != EMPTY:
        is_kept = column.name in options.kept or _has_own_binning(options, column.name)
        present = select_categories(column, is_kept, options.named_in, target, totals)
        if options.thresholds and column.order and present.size:
            found = _ranges(column, options, target)
        else:
            found = _sets(column, present, options, target) if options.thresholds else _equalities(column, present)
    if missing.any():
        found[IsMissing(column.name)] = None
    return found


def _check_numbers(column: Column, missing: NDArray[np.bool_]) -> None:
    if column.kind == NUMBER and np.isinf(column.values[~missing]).any():
        raise ValueError(f"Input X contains infinity in the column {column.name!r}, expected finite numbers or NaN")
    if column.rounded:
        warn(
            f"column {column.name!r} holds whole numbers from 2**53 on, which are compared as floating point and "
            "so not exactly. Leave the column out if it is an identifier, or turn it into strings"
        )


def _equalities(column: Column, present: Integers) -> PossibleConditions:
    """Return a condition for each category."""
    mixed = column.kind == CATEGORY
    return {Equals(column.name, column.categories[k], mixed=mixed): None for k in present}


def _ranges(column: Column, options: CutOptions, target: Target) -> PossibleConditions:
    """Return both sides of the cut points of ordered categories: all of them if there are few, otherwise the best."""
    n_present, mixed = len(column.categories), column.kind == CATEGORY
    cuts: Integers = np.arange(1, n_present)
    if n_present > options.n_bins:
        known = ~column.missing
        values = column.values[known].astype(np.int64)
        cuts = supervised_cuts(values, n_present, target.take(known), options.n_bins - 1)
    found: PossibleConditions = {}
    for cut in cuts.tolist():
        below = category_range(column.name, column.order, high=column.categories[cut - 1], mixed=mixed)
        above = category_range(column.name, column.order, low=column.categories[cut], mixed=mixed)
        found |= {below: above, above: below}
    return found


def _sets(column: Column, present: Integers, options: CutOptions, target: Target) -> PossibleConditions:
    """Return conditions for every category and for sets that separate classes, each with its opposite if possible."""
    known = np.isin(column.values, present)
    parts = [(int(k),) for k in present] + category_sets(column.values[known], present, target.take(known))
    everything = set(present.tolist())

    def condition_of(part: tuple[int, ...]) -> Condition | None:
        """Return the condition for a set of categories; None if the set is too long."""
        values = tuple(column.categories[k] for k in part)
        mixed = column.kind == CATEGORY
        if len(values) == 1:
            return Equals(column.name, values[0], mixed)
        others = tuple(column.categories[k] for k in sorted(everything - set(part)))
        if options.negation and len(others) < len(values) and len(others) <= MAX_SET:
            return IsNotIn(column.name, others, mixed)
        return IsIn(column.name, values, mixed) if len(values) <= MAX_SET else None

    found: PossibleConditions = {}
    for part in parts:
        condition, others = condition_of(part), tuple(sorted(everything - set(part)))
        if condition is not None:
            found[condition] = condition_of(others) if others else None
    return found


def _edges(column: Column, known: NDArray[np.bool_], binning: str | Edges, n_bins: int, target: Target) -> list[Any]:
    """Return the cut points of a numeric or date column, ascending; computed ones with as few digits as possible."""
    if not isinstance(binning, str):
        if len(binning) > _MAX_EDGES:
            problem = f"binning gives {len(binning):,} edges for the column {column.name!r}"
            raise ValueError(f"{problem}, expected at most {_MAX_EDGES}")
        return sorted({_check_edge(edge, column) for edge in binning})
    subset = target.take(known)
    values, first, ranks = _distinct(column.values[known])
    counts = subset.count_by(ranks, values.size)
    lows = values if column.lows is None else column.lows[known][first]
    if binning == "supervised":
        cuts = supervised_cuts(ranks, values.size, subset, n_bins - 1)
        edges = [_midpoint(values[cut - 1], lows[cut]) for cut in cuts.tolist()]
    else:
        edges = (
            _uniform_edges(lows, values, n_bins) if binning == "uniform" else _quantile_edges(values, counts, n_bins)
        )
    # An edge without values above it separates nothing, and would bound the outer interval.
    return sorted({shortest(edge, values, counts, column.kind, lows) for edge in edges if edge < values[-1]})


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], Integers, Integers]:
    """Return the sorted distinct values, the first position of each, and which of them each value is."""
    new = np.append(True, values[1:] != values[:-1])
    if (values[1:] >= values[:-1]).all():  # those of a summary are sorted
        first = np.flatnonzero(new)
        return values[first], first, np.cumsum(new) - 1
    distinct, first, which = np.unique(values, return_index=True, return_inverse=True)
    return distinct, first, which.reshape(-1)


def _midpoint(low: Any, high: Any) -> Any:
    """Return the middle of two values, at least low and below high."""
    if isinstance(low, np.datetime64):
        return low + (high - low) // 2
    middle = low / 2 + high / 2  # the sum of both might overflow
    return middle if low <= middle < high else low


def _bins(column: Column, edges: list[Any]) -> PossibleConditions:
    """Return disjoint intervals between the edges that cover all values."""
    if not edges:
        return {}
    return {Interval(column.name, low, high): None for low, high in itertools.pairwise([None, *edges, None])}


def _thresholds(column: Column, edges: list[Any]) -> PossibleConditions:
    """Return both sides of every edge."""
    found: PossibleConditions = {}
    for edge in edges:
        below, above = Interval(column.name, high=edge), Interval(column.name, low=edge)
        found |= {below: above, above: below}
    return found


def _uniform_edges(lows: NDArray[Any], values: NDArray[Any], n_bins: int) -> list[Any]:
    """Return the inner edges of bins of equal width (as in the paper)."""
    low, high = _as_float(np.array([lows[0], values[-1]]))
    if low == high:
        return []
    scale = 1.0 if max(-low, high) < 1e300 else 4.0  # so that the difference of extreme values does not overflow
    inner = np.linspace(low / scale, high / scale, n_bins + 1)[1:-1] * scale
    return _from_float(inner, values.dtype)


def _quantile_edges(values: NDArray[Any], counts: NDArray[Any], n_bins: int) -> list[Any]:
    """Return the inner edges of bins with about equal numbers of records: quantiles by the inverted distribution."""
    if values.size == 1:
        return []
    below = np.cumsum(counts)
    wanted = below[-1] * (np.arange(1, n_bins) / n_bins)
    positions = np.searchsorted(below, wanted)  # the first value with at least so many records up to it
    return _from_float(_as_float(values[positions]), values.dtype)


def _as_float(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.int64).astype(np.float64) if values.dtype.kind == "M" else values


def _from_float(edges: NDArray[np.float64], dtype: np.dtype[Any]) -> list[Any]:
    return list(edges.astype(np.int64).astype(dtype) if dtype.kind == "M" else edges)


def _check_edge(edge: Any, column: Column) -> Any:
    """Return an edge given by the user as a value of the column; raises ValueError if it is none."""
    try:
        if column.kind == NUMBER:
            number = float(edge)
            if not math.isfinite(number):
                raise ValueError
            return number
        return _check_date(edge, column.kind)
    except (TypeError, ValueError):
        raise ValueError(
            f"binning gives the edge {edge!r} for the column {column.name!r}, expected a {_EDGE_TYPES[column.kind]}"
        ) from None


_EDGE_TYPES = {NUMBER: "finite number", DATE: "date without a time zone", INSTANT: "date and time with a time zone"}


def _check_date(edge: Any, kind: str) -> datetime.datetime:
    """Return a date given by the user (text, date, datetime, numpy or pandas date) as a datetime."""
    if isinstance(edge, str):
        edge = datetime.datetime.fromisoformat(edge)
    elif isinstance(edge, np.datetime64):
        edge = as_datetime(edge, DATE)
    elif not isinstance(edge, datetime.date):
        raise TypeError
    if not isinstance(edge, datetime.datetime):
        edge = datetime.datetime(edge.year, edge.month, edge.day)
    if (edge.tzinfo is None) != (kind == DATE):
        raise ValueError
    # A plain datetime, also for a pandas Timestamp.
    whole = datetime.datetime.fromisoformat(edge.isoformat()[:26] if edge.tzinfo is None else edge.isoformat())
    return whole if kind == DATE else whole.astimezone(datetime.UTC)
