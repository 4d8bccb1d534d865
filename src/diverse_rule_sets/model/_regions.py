"""The pieces that the conditions of a rule set cut a column into: of one piece, all values are answered alike.

Numbers and dates are cut at the bounds of all conditions on their column; of other values each that is named is a
piece, and all others together are one. That a value is missing is a piece of its own, always the last.
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

from diverse_rule_sets._input.tables import BOOLEAN, CATEGORY, DATE, EMPTY, INSTANT, NUMBER, Column, Table
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn, is_number
from diverse_rule_sets.model._formatting import format_value
from diverse_rule_sets.model._rules import RuleSet

Codes = NDArray[np.int64]
Cut = tuple[Any, bool]  # a coordinate, and whether the cut is after it or before it

# What it counts to take another value that is named, one that is not, and the farthest that anything is.
_ANOTHER, _UNNAMED, _FARTHEST = 1.0, 2.0, 1e300
_YEAR = 365 * 24 * 3600 * 10**6  # in microseconds


@dataclass(frozen=True, eq=False)
class Axis:
    """A column whose values stay as they are, as nothing is known of its conditions: every record is a piece.

    Parameters
    ----------
    values : a value of each piece
    codes : the piece that each record's value lies in
    offered : the pieces that a record may be moved to; a missing value only where some rule speaks of that
    """

    values: Column
    codes: Codes
    offered: tuple[int, ...]

    @property
    def name(self) -> Hashable:
        """The column's name."""
        return self.values.name

    def allowed(self, condition: Condition) -> Codes:
        """Return the pieces in which a condition holds."""
        return np.flatnonzero(condition.holds(self.values)) if self.offered else np.zeros(0, np.int64)

    def distances(self, records: slice) -> NDArray[np.float64]:
        """Return how far each piece is from the values of some records: an array (records, pieces)."""
        return np.zeros((len(self.codes[records]), 0))

    def around(self, start: int, pieces: Collection[int]) -> tuple[int, ...]:
        """Return those of some pieces that one condition can name together with the one to start from."""
        return (start,)

    def stated(self, pieces: Sequence[int]) -> Condition:
        """Return the condition that holds in just these pieces."""
        raise TypeError(f"of the column {self.name!r} no pieces are known")

    def shown(self, value: Any) -> str:
        """Return a value in words."""
        return "missing" if value is None else format_value(value)


@dataclass(frozen=True, eq=False)
class _Named(Axis):
    """A column of text, booleans or categories: the values named, any other unless there is none, missing."""

    named: tuple[Any, ...]
    other: int  # the piece of all values that are not named

    def distances(self, records: slice) -> NDArray[np.float64]:
        """Return 1 for every other value, 2 if it is not named."""
        far = np.full((len(self.codes[records]), self.values.values.size), _ANOTHER)
        if self.other >= 0:
            far[:, self.other] = _UNNAMED
        far[np.arange(len(far)), self.codes[records]] = 0
        return far

    def around(self, start: int, pieces: Collection[int]) -> tuple[int, ...]:
        """Return all of the pieces but the missing value; of named ones and all but some, what is shorter to say."""
        missing = self.values.values.size - 1
        if start == missing:
            return (start,)
        kept = [piece for piece in pieces if piece != missing]
        positive = [piece for piece in kept if piece != self.other]
        if start != self.other and len(positive) <= len(self.named) - len(positive):
            kept = positive
        return tuple(sorted(kept))

    def stated(self, pieces: Sequence[int]) -> Condition:
        """Return the condition that holds in just these pieces."""
        if pieces[0] == self.values.values.size - 1:
            return IsMissing(self.name)
        mixed = self.values.kind == CATEGORY
        if self.other in pieces:
            left = tuple(value for k, value in enumerate(self.named) if k not in pieces)
            return IsNotIn(self.name, left, mixed)
        values = tuple(self.named[k] for k in pieces)
        return Equals(self.name, values[0], mixed) if len(values) == 1 else IsIn(self.name, values, mixed)


@dataclass(frozen=True, eq=False)
class _Ordered(Axis):
    """A column of numbers or dates, cut at bounds; a coordinate is the number, or microseconds.

    Parameters
    ----------
    places : the coordinate of each record's value
    cuts : where each piece but the missing value begins and ends; None: nowhere
    ends : the first and the last coordinate of each of these pieces, as floats
    bounds : the bound at each coordinate, as conditions name it
    scale : what a distance of 1 is
    """

    places: NDArray[Any]
    cuts: tuple[tuple[Cut | None, Cut | None], ...]
    ends: NDArray[np.float64]
    bounds: Mapping[Any, Any]
    scale: float

    def distances(self, records: slice) -> NDArray[np.float64]:
        """Return how far each piece is as a share of the stretch that bounds lie in; 1 from and to a missing value."""
        codes, missing = self.codes[records], len(self.cuts)
        place = self.places[records].astype(np.float64)[:, None]
        with np.errstate(all="ignore"):
            gap = np.fmax(np.fmax(self.ends[:, 0] - place, place - self.ends[:, 1]), 0)
            far = np.fmin(gap / self.scale, _FARTHEST)
        far = np.column_stack([far, np.full(len(codes), _ANOTHER)])
        far[codes == missing] = _ANOTHER
        far[np.arange(len(codes)), codes] = 0
        return far

    def around(self, start: int, pieces: Collection[int]) -> tuple[int, ...]:
        """Return the pieces that are connected with the one to start from."""
        missing, low, high = len(self.cuts), start, start
        if start != missing:
            while low - 1 in pieces:
                low -= 1
            while high + 1 in pieces and high + 1 != missing:
                high += 1
        return tuple(range(low, high + 1))

    def stated(self, pieces: Sequence[int]) -> Condition:
        """Return the condition that holds from the first to the last of these pieces."""
        if pieces[0] == len(self.cuts):
            return IsMissing(self.name)
        low, high = self.cuts[pieces[0]][0], self.cuts[pieces[-1]][1]
        if low is None and high is None:
            return IsNotIn(self.name, ())
        point = _point(low, high)
        if self.values.kind == NUMBER and point is not None:
            return Equals(self.name, self.bounds[point])
        begin = (None, False) if low is None else (self._finite(low[0]), not low[1] or low[0] == -math.inf)
        end = (None, True) if high is None else (self._finite(high[0]), high[1] or high[0] == math.inf)
        return Interval(self.name, begin[0], end[0], begin[1], end[1])

    def _finite(self, place: Any) -> Any:
        """Return the bound at a coordinate; the largest number there is for one that is larger than all."""
        largest = sys.float_info.max
        return math.copysign(largest, place) if abs(place) == math.inf else self.bounds[place]

    def shown(self, value: Any) -> str:
        """Return a value in words, a long number rounded, but to nothing that any condition tells from it."""
        if not isinstance(value, float) or len(repr(value)) < 11 or not 1e-5 < abs(value) < 1e15:
            return super().shown(value)
        for digits in range(max(2, 4 - math.floor(math.log10(abs(value)))), 20):
            rounded = round(value, digits)
            if self._piece(rounded) == self._piece(value):
                return format_value(rounded)
        return super().shown(value)

    def _piece(self, place: Any) -> int:
        after, before = self._sides
        return bisect.bisect_left(after, place) + bisect.bisect_right(before, place)

    @cached_property
    def _sides(self) -> tuple[list[Any], list[Any]]:
        return _sides(self.cuts)


def axes_of(rule_set: RuleSet, columns: Mapping[Hashable, Column]) -> list[Axis]:
    """Return the pieces of each column that a rule set reads."""
    by_column: dict[Hashable, list[Condition]] = {}
    for rule in rule_set.all_rules:
        for condition in rule.conditions:
            by_column.setdefault(condition.column, []).append(condition)
    kinds = dict(rule_set.kinds)
    return [_axis(columns[name], conditions, kinds.get(name)) for name, conditions in by_column.items()]


def _axis(column: Column, conditions: Sequence[Condition], trained: str | None) -> Axis:
    """Return the pieces of one column."""
    known = Interval | Equals | IsIn | IsNotIn | IsMissing
    kinds = {condition.kind for condition in conditions} - {""}
    kind = next((kind for kind in (column.kind, trained) if kind not in (EMPTY, None)), _only(kinds))
    if kind is None or not all(isinstance(condition, known) for condition in conditions):
        return Axis(column, np.arange(column.values.size), ())
    cut = any(condition.comparisons for condition in conditions)
    mixed = any(getattr(condition, "mixed", False) for condition in conditions)
    if kind in (DATE, INSTANT) or (kind == NUMBER and (cut or not mixed)):
        return _ordered(column, conditions, kind)
    return _of_names(column, conditions, CATEGORY if mixed else kind)


def _only(kinds: set[str]) -> str | None:
    """Return the kind of a column of which only the conditions are known; None if they do not agree."""
    if kinds == {NUMBER, CATEGORY}:
        return NUMBER
    return next(iter(kinds), CATEGORY) if len(kinds) < 2 else None


def _values(conditions: Sequence[Condition]) -> dict[Any, None]:
    """Return the values that conditions name, those of `Equals` first."""
    order = sorted(conditions, key=lambda condition: not isinstance(condition, Equals))
    return dict.fromkeys(value for condition in order for value in condition.values_named)


def _offered(conditions: Sequence[Condition], n_pieces: int) -> tuple[int, ...]:
    """Return the pieces that a record may be moved to: the last, missing values, only if a condition tests for them."""
    missing = any(condition.holds_if_missing for condition in conditions)
    return tuple(range(n_pieces if missing else n_pieces - 1))


def _of_names(column: Column, conditions: Sequence[Condition], kind: str) -> Axis:
    """Return the pieces of a column of text, booleans or categories."""
    named = (False, True) if kind == BOOLEAN else tuple(_values(conditions))
    other = -1 if kind == BOOLEAN else len(named)
    position = {value: k for k, value in enumerate(named)}
    held, missing = column.values, len(named) + (other >= 0)
    if column.kind == NUMBER:
        kinds, held = np.unique(held, return_inverse=True)
        categories = tuple(kinds.tolist())
    else:
        categories = column.categories
    pieces = np.array([*(position.get(value, other) for value in categories), missing], np.int64)
    codes = np.where(column.missing, missing, pieces[held])
    values = Column(column.name, kind, np.array([*range(missing), -1], np.int32), (*named, object())[:missing])
    return _Named(values, codes, _offered(conditions, missing + 1), named, other)


def _ordered(column: Column, conditions: Sequence[Condition], kind: str) -> Axis:
    """Return the pieces of a column of numbers or dates."""
    bounds: dict[Any, Any] = {}
    cuts: set[Cut] = set()
    for condition in conditions:
        for test, bound in condition.comparisons:
            bounds.setdefault(_place(bound), bound)
            cuts.add((_place(bound), test in (">", "<=")))
    for value in _values(conditions) if kind == NUMBER else ():
        if is_number(value) and not math.isnan(value):
            bounds.setdefault(_place(value), value)
            cuts |= {(_place(value), False), (_place(value), True)}
    order: list[Any] = sorted(cuts - {(math.inf, True), (-math.inf, False)})
    pairs = [pair for pair in zip([None, *order], [*order, None], strict=True) if _first(pair[0]) <= _last(pair[1])]
    ends = np.array([(_first(low), _last(high)) for low, high in pairs], np.float64)
    inner = [_first(low) if low else _last(high) if high else 0 for low, high in pairs]
    if kind == NUMBER:
        values, places = np.array([*inner, math.nan], np.float64), column.values.astype(np.float64)
    else:
        values = np.array([*np.array(inner, np.int64).astype("datetime64[us]"), None], "datetime64[us]")
        places = column.values.astype(np.int64)
    codes = np.where(column.missing, len(pairs), _pieces(places, _sides(pairs)))
    offered = _offered(conditions, len(values))
    scale = _scale(list(bounds), kind)
    return _Ordered(Column(column.name, kind, values), codes, offered, places, tuple(pairs), ends, bounds, scale)


def _place(bound: Any) -> Any:
    """Return the coordinate of a bound: a float, or whole microseconds."""
    if isinstance(bound, datetime.datetime):
        moment = bound if bound.tzinfo is None else bound.astimezone(datetime.UTC).replace(tzinfo=None)
        return int(np.datetime64(moment, "us").astype(np.int64))
    return float(bound)


def _first(low: Cut | None) -> Any:
    """Return the first coordinate after a cut."""
    if low is None:
        return -math.inf
    place, after = low
    if not after:
        return place
    return place + 1 if isinstance(place, int) else math.nextafter(place, math.inf)


def _last(high: Cut | None) -> Any:
    """Return the last coordinate before a cut."""
    if high is None:
        return math.inf
    place, after = high
    if after:
        return place
    return place - 1 if isinstance(place, int) else math.nextafter(place, -math.inf)


def _point(low: Cut | None, high: Cut | None) -> Any:
    """Return the only coordinate between two cuts, if they are the two sides of one; None otherwise."""
    if low is not None and (low[0] == math.inf or (high is not None and low[0] == high[0])):
        return low[0]
    return -math.inf if high == (-math.inf, True) else None


def _sides(cuts: Sequence[tuple[Cut | None, Cut | None]]) -> tuple[list[Any], list[Any]]:
    """Return the coordinates after which, and those before which, a piece ends."""
    found = [high for _, high in cuts if high is not None]
    return [place for place, after in found if after], [place for place, after in found if not after]


def _pieces(places: NDArray[Any], sides: tuple[Sequence[Any], Sequence[Any]]) -> Codes:
    """Return the piece that each coordinate lies in: as many as cuts are below it."""
    after, before = (np.array(side, places.dtype) for side in sides)
    return np.asarray(np.searchsorted(after, places, "left") + np.searchsorted(before, places, "right"))


def _scale(places: Sequence[Any], kind: str) -> float:
    """Return the stretch that bounds lie in; of one bound its size, or a year, is the best that is known."""
    finite = [place for place in places if abs(place) < math.inf]
    spread = min(float(max(finite, default=0) - min(finite, default=0)), sys.float_info.max)
    if spread > 0:
        return spread
    return (abs(finite[0]) if finite else 0) or 1.0 if kind == NUMBER else float(_YEAR)


class Moved(Table):
    """Records as pieces of each column: what a rule set is asked about when values are moved."""

    def __init__(self, axes: Sequence[Axis], codes: Codes) -> None:
        super().__init__([axis.name for axis in axes], len(codes), None, named=True)
        self._axes, self._codes = axes, codes

    def column(self, name: Hashable) -> Column:
        """Return one column, with the value that stands for each piece."""
        at = self._position[name]
        values = self._axes[at].values
        return replace(values, values=values.values[self._codes[:, at]])
