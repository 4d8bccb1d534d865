"""The pieces into which the conditions of a rule set divide a column: all values of a piece meet the same conditions.

A column of numbers or dates is divided at the bounds of all conditions on it. In other columns each value that some
condition lists is a piece, and all other values together are one piece. Missing values are one piece, always the last.
"""

from __future__ import annotations

import bisect
import datetime
import math
import sys
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import CATEGORY, EMPTY, Column
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._input.values import BOOLEAN, DATE, INSTANT, NUMBER, type_of
from diverse_rule_sets.model._axes import (
    KNOWN,
    LARGEST,
    MISSING,
    Axis,
    Codes,
    categorical_axis,
    destinations,
    listed_values,
)
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._domains import DAY, Domain
from diverse_rule_sets.model._formatting import format_value
from diverse_rule_sets.model._rules import RuleSet

Cut = tuple[Any, bool]  # a coordinate, and whether the column is divided after it or before it

_YEAR = 365 * DAY


@dataclass(frozen=True, eq=False)
class _OrderedAxis(Axis):
    """A column of numbers or dates, divided at bounds; a coordinate is the number, or the date in microseconds.

    Parameters
    ----------
    coordinates : the coordinate of the value of each record
    cuts : the begin and the end of each piece without the missing values; None for no limit
    ends : the first and the last coordinate of each of these pieces, as floats
    possible : whether each of these pieces contains a possible value: whole numbers or whole days if all values in
        training were
    bounds : the bound at each coordinate, as the conditions contain it
    scale : the difference of coordinates that is a distance of 1
    whole : whether all values in training and of the records are whole numbers
    """

    coordinates: NDArray[Any]
    cuts: tuple[tuple[Cut | None, Cut | None], ...]
    ends: NDArray[np.float64]
    possible: NDArray[np.bool_]
    bounds: Mapping[Any, Any]
    scale: float
    whole: bool = False

    def distances(self, records: slice) -> NDArray[np.float64]:
        """Return the distances as shares of the range of the bounds; 1 from a missing value."""
        codes, missing = self.codes[records], len(self.cuts)
        coordinate = self.coordinates[records].astype(np.float64)[:, None]
        with np.errstate(all="ignore"):
            gap = np.fmax(np.fmax(self.ends[:, 0] - coordinate, coordinate - self.ends[:, 1]), 0)
            distances = np.fmin(gap / self.scale, LARGEST)
        distances[codes == missing] = KNOWN
        distances[:, ~self.possible] = math.inf
        distances = np.column_stack([distances, np.full(len(codes), MISSING)])
        distances[np.arange(len(codes)), codes] = 0
        return distances

    def expand(self, start: int, pieces: Collection[int]) -> tuple[int, ...]:
        """Return the pieces that are connected with the piece to start from."""
        missing, low, high = len(self.cuts), start, start
        if start != missing:
            while low - 1 in pieces:
                low -= 1
            while high + 1 in pieces and high + 1 != missing:
                high += 1
        possible = [piece for piece in range(low, high + 1) if piece == missing or self.possible[piece]]
        if possible == [start] and start != missing and self.ends[start, 0] == self.ends[start, 1]:
            return (start,)  # such as `flag = 1` and not `flag >= 1`
        return tuple(range(low, high + 1))

    def condition(self, pieces: Sequence[int]) -> Condition:
        """Return the condition that holds from the first to the last of these pieces."""
        if pieces[0] == len(self.cuts):
            return IsMissing(self.name)
        low, high = self.cuts[pieces[0]][0], self.cuts[pieces[-1]][1]
        if low is None and high is None:
            return IsNotIn(self.name, ())
        if self.whole:
            return self._whole_condition(low, high)
        point = _point(low, high)
        if point is not None:
            return Equals(self.name, self.bounds[point])
        begin = (None, False) if low is None else (self._finite(low[0]), not low[1] or low[0] == -math.inf)
        end = (None, True) if high is None else (self._finite(high[0]), high[1] or high[0] == math.inf)
        return Interval(self.name, begin[0], end[0], begin[1], end[1])

    def _whole_condition(self, low: Cut | None, high: Cut | None) -> Condition:
        """Return the condition for the whole numbers from a cut to the next; all cuts are before a whole number."""
        first, last = None if low is None else int(low[0]), None if high is None else int(high[0]) - 1
        if first is not None and first == last:
            return Equals(self.name, first)
        return Interval(self.name, first, last, with_low=True)

    def _finite(self, coordinate: Any) -> Any:
        """Return the bound at a coordinate; for an infinite coordinate the largest finite number."""
        largest = sys.float_info.max
        return math.copysign(largest, coordinate) if abs(coordinate) == math.inf else self.bounds[coordinate]

    def format(self, value: Any) -> str:
        """Return a value as text; a long number is rounded, but never to a value of another piece."""
        if not isinstance(value, float) or len(repr(value)) < 11 or not 1e-5 < abs(value) < 1e15:
            return super().format(value)
        for digits in range(max(2, 4 - math.floor(math.log10(abs(value)))), 20):
            rounded = round(value, digits)
            if self._piece(rounded) == self._piece(value):
                return format_value(rounded)
        return super().format(value)

    def _piece(self, coordinate: Any) -> int:
        """Return the piece that contains a coordinate."""
        after, before = self._sides
        return bisect.bisect_left(after, coordinate) + bisect.bisect_right(before, coordinate)

    @cached_property
    def _sides(self) -> tuple[list[Any], list[Any]]:
        """The coordinates after which, and those before which, a piece ends."""
        return _sides(self.cuts)


def axes_of(rule_set: RuleSet, columns: Mapping[Hashable, Column]) -> list[Axis]:
    """Return an axis for each column that the rules read, in the order of first use."""
    by_column: dict[Hashable, list[Condition]] = {}
    for condition in plain_conditions(rule_set.all_rules):
        by_column.setdefault(condition.column, []).append(condition)
    kinds, domains, codes = dict(rule_set.kinds), dict(rule_set.domains), rule_set.codes_read
    return [
        _axis(columns[name], conditions, kinds.get(name), domains.get(name, Domain()), codes.get(name, ()))
        for name, conditions in by_column.items()
    ]


def _axis(
    column: Column, conditions: Sequence[Condition], training_kind: str | None, domain: Domain, codes: Sequence[Any]
) -> Axis:
    """Return the axis of one column; no record is moved to a code for missing values."""
    known = Interval | Equals | IsIn | IsNotIn | IsMissing
    kinds = {condition.kind for condition in conditions} - {""}
    kind = next((kind for kind in (column.kind, training_kind) if kind not in (EMPTY, None)), _common_kind(kinds))
    only_booleans = kinds == {BOOLEAN} and all(isinstance(value, bool) for value in column.categories)
    if kind == CATEGORY and training_kind is None and only_booleans:
        kind = BOOLEAN
    if kind is None or not all(isinstance(condition, known) for condition in conditions):
        return Axis(column, np.arange(column.values.size), ())
    has_bounds = any(condition.comparisons for condition in conditions)
    mixed = any(getattr(condition, "mixed", False) for condition in conditions)
    if kind in (DATE, INSTANT) or (kind == NUMBER and (has_bounds or not mixed)):
        return _ordered_axis(column, conditions, kind, domain, [code for code in codes if type_of(code) == kind])
    if kind == BOOLEAN and codes and domain.values is None:
        domain = Domain(tuple(value for value in (False, True) if not any(value is code for code in codes)))
    return categorical_axis(column, conditions, CATEGORY if mixed else kind, domain)


def _common_kind(kinds: set[str]) -> str | None:
    """Return the column type that fits all conditions on a column, given their types; None if they differ."""
    if kinds == {NUMBER, CATEGORY}:
        return NUMBER
    return next(iter(kinds), CATEGORY) if len(kinds) < 2 else None


def _ordered_axis(
    column: Column, conditions: Sequence[Condition], kind: str, domain: Domain, codes: Sequence[Any]
) -> Axis:
    """Return the axis of a column of numbers or dates."""
    bounds: dict[Any, Any] = {}
    cuts: set[Cut] = set()
    for condition in conditions:
        for test, bound in condition.comparisons:
            bounds.setdefault(_coordinate(bound), bound)
            cuts.add((_coordinate(bound), test in (">", "<=")))
    for value in listed_values(conditions):
        if type_of(value) == kind:
            bounds.setdefault(_coordinate(value), value)
            cuts |= {(_coordinate(value), False), (_coordinate(value), True)}
    whole = kind == NUMBER and domain.whole and _is_whole([*column.values[~column.missing], *bounds])
    if whole:  # nothing is between 2 and 3: a column that is divided after 2 is divided before 3
        cuts = {(coordinate + 1 if after else coordinate, False) for coordinate, after in cuts}
    order: list[Any] = sorted(cuts - {(math.inf, True), (-math.inf, False)})
    pairs = [pair for pair in zip([None, *order], [*order, None], strict=True) if _first(pair[0]) <= _last(pair[1])]
    last_of = _last_whole if whole else _last
    ends = np.array([(_first(low), last_of(high)) for low, high in pairs], np.float64)
    inner = [_first(low) if low else last_of(high) if high else 0 for low, high in pairs]
    if kind == NUMBER:
        values, coordinates = np.array([*inner, math.nan], np.float64), column.values.astype(np.float64)
    else:
        values = np.array([*np.array(inner, np.int64).astype("datetime64[us]"), None], "datetime64[us]")
        coordinates = column.values.astype(np.int64)
    pieces = np.where(column.missing, len(pairs), _pieces(coordinates, _sides(pairs)))
    unit, coded = (1 if kind == NUMBER else DAY) if domain.whole else 0, set(map(_coordinate, codes))
    possible = [_is_possible(_first(low), last_of(high), unit, domain, coded) for low, high in pairs]
    moves, scale = destinations(conditions, len(values)), _scale(list(bounds), kind)
    column, flags = Column(column.name, kind, values), np.array(possible, np.bool_)
    return _OrderedAxis(column, pieces, moves, coordinates, tuple(pairs), ends, flags, bounds, scale, whole)


def _is_whole(numbers: Sequence[float]) -> bool:
    """Return whether all numbers are whole and small enough that the next whole number is another float."""
    values = np.array(numbers, np.float64)
    return bool((np.abs(values) < 2.0**53).all() and not (values % 1).any())


def _is_possible(first: Any, last: Any, unit: int, domain: Domain, coded: Collection[Any]) -> bool:
    """Return whether a possible value lies between two coordinates or is one of them.

    If there is a unit, only its multiples are possible. Codes for missing values and values beyond the limits are not.
    """
    if first == last and first in coded:
        return False
    if domain.limits is not None:
        first, last = max(first, domain.limits[0]), min(last, domain.limits[1])
    return first <= last and (not unit or _has_multiple(first, last, unit))


def _has_multiple(first: Any, last: Any, unit: int) -> bool:
    """Return whether a multiple of a unit lies between two coordinates or is one of them."""
    if first == -math.inf or last == math.inf:
        return True
    return bool(-(-first // unit) * unit <= last)


def _coordinate(bound: Any) -> Any:
    """Return the coordinate of a bound: a float, or an integer number of microseconds."""
    if isinstance(bound, datetime.datetime):
        moment = bound if bound.tzinfo is None else bound.astimezone(datetime.UTC).replace(tzinfo=None)
        return int(np.datetime64(moment, "us").astype(np.int64))
    return float(bound)


def _first(low: Cut | None) -> Any:
    """Return the first coordinate after a cut."""
    if low is None:
        return -math.inf
    coordinate, after = low
    if not after:
        return coordinate
    return coordinate + 1 if isinstance(coordinate, int) else math.nextafter(coordinate, math.inf)


def _last(high: Cut | None) -> Any:
    """Return the last coordinate before a cut."""
    if high is None:
        return math.inf
    coordinate, after = high
    if after:
        return coordinate
    return coordinate - 1 if isinstance(coordinate, int) else math.nextafter(coordinate, -math.inf)


def _last_whole(high: Cut | None) -> Any:
    """Return the last whole number before a cut that is before a whole number."""
    return math.inf if high is None else high[0] - 1


def _point(low: Cut | None, high: Cut | None) -> Any:
    """Return the only coordinate between two cuts if they are the two sides of one coordinate, or else None."""
    if low is not None and (low[0] == math.inf or (high is not None and low[0] == high[0])):
        return low[0]
    return -math.inf if high == (-math.inf, True) else None


def _sides(cuts: Sequence[tuple[Cut | None, Cut | None]]) -> tuple[list[Any], list[Any]]:
    """Return the coordinates after which, and those before which, a piece ends."""
    ends = [high for _, high in cuts if high is not None]
    after_end = [coordinate for coordinate, after in ends if after]
    return after_end, [coordinate for coordinate, after in ends if not after]


def _pieces(coordinates: NDArray[Any], sides: tuple[Sequence[Any], Sequence[Any]]) -> Codes:
    """Return the piece that contains each coordinate: the number of cuts below it."""
    after, before = (np.array(side, coordinates.dtype) for side in sides)
    return np.asarray(np.searchsorted(after, coordinates, "left") + np.searchsorted(before, coordinates, "right"))


def _scale(coordinates: Sequence[Any], kind: str) -> float:
    """Return the range of the bounds; of a single bound its absolute value, or one year for dates."""
    finite = [coordinate for coordinate in coordinates if abs(coordinate) < math.inf]
    spread = min(float(max(finite, default=0) - min(finite, default=0)), sys.float_info.max)
    if spread > 0:
        return spread
    return (abs(finite[0]) if finite else 0) or 1.0 if kind == NUMBER else float(_YEAR)


class MovedRecords(Table):
    """A table of records that are given by the piece of each column, to apply a rule set to changed records."""

    def __init__(self, axes: Sequence[Axis], codes: Codes) -> None:
        super().__init__([axis.name for axis in axes], len(codes), None, named=True)
        self._axes, self._codes = axes, codes

    def column(self, name: Hashable, expected: str = "") -> Column:
        """Return one column, with one value of the piece of each record."""
        a = self._position[name]
        values = self._axes[a].values
        return replace(values, values=values.values[self._codes[:, a]])
