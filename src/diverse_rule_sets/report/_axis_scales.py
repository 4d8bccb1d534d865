"""A column along an axis: where its values stand, missing ones too, and which stretch a condition takes."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.tables import DATE, EMPTY, INSTANT, NUMBER, Column
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import format_name, format_value
from diverse_rule_sets.report._legends import SMALL, USUAL, name_ticks
from diverse_rule_sets.report._text_layout import as_written, readable, shortened, told_apart, width_of, wrapped

Floats = NDArray[np.float64]
Span = tuple[float, float]
# Whole numbers of at most so many values stand apart from one another, as categories do.
_MAX_WHOLE = 30
# The most categories with a place of their own, beside those that conditions name.
_MAX_CATEGORIES = 14
# Larger numbers stand at the edge, infinite ones too.
_LARGEST = 1e300
# Dates that matplotlib can write, in days from 1970.
_FIRST_DAY, _LAST_DAY = -719_000.0, 2_932_000.0
_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False)
class AxisScale:
    """One column along an axis.

    Parameters
    ----------
    column : the column, of all records; None for a strip, along which records are only spread out
    positions : where each record stands: its value, or days from 1970, or the place of its category; values that stand
        apart are spread a little, so that equal ones do not hide one another
    low, high : the ends of the axis, without the strip of missing values
    strip : where missing values stand; None if there are none
    places : where the distinct values stand, if they stand apart
    values : the distinct values that stand there, one list a place
    names : what is written there
    """

    column: Column | None
    positions: Floats
    low: float
    high: float
    strip: Span | None = None
    places: tuple[float, ...] = ()
    values: tuple[tuple[float, ...], ...] = ()
    names: tuple[str, ...] = ()

    @property
    def name(self) -> Hashable:
        """The name of the column; None for a strip."""
        return None if self.column is None else self.column.name

    @property
    def ends(self) -> Span:
        """The ends of the axis, missing values included."""
        return (self.low if self.strip is None else self.strip[0]), self.high

    def spans(self, condition: Condition | None) -> list[Span]:
        """Return the stretches of the axis on which a condition holds; all of it where there is none.

        Open sides run to the end of the axis. Where values stand apart, a stretch ends between two of them.
        """
        if condition is None or self.column is None:
            return [self.ends]
        if condition.holds_if_missing:
            return [] if self.strip is None else [self.strip]
        if self.column.kind == EMPTY:
            return []
        if self.places:
            return self._runs(condition)
        if condition.comparisons:
            bounds = {test[0]: _position(bound) for test, bound in condition.comparisons}
            low, high = bounds.get(">", self.low), bounds.get("<", self.high)
            return [(low, high)] if low <= high else []
        if condition.values_named and not condition.excludes:
            return [(float(value),) * 2 for value in condition.values_named if isinstance(value, numbers.Real)]
        some = condition.excludes or condition.holds(self.column).any()  # a list of no values holds for none
        return [(self.low, self.high)] if some else []

    def _runs(self, condition: Condition) -> list[Span]:
        """Return the stretches of neighbouring places whose values meet a condition."""
        assert self.column is not None
        half = _half_gap(self.places)
        found: list[Span] = []
        before = -2
        for k, (place, values) in enumerate(zip(self.places, self.values, strict=True)):
            dtype = self.column.values.dtype
            distinct = Column(self.name, self.column.kind, np.array(values, dtype), self.column.categories)
            if not condition.holds(distinct).all():
                continue
            start = self.low if k == 0 else place - half
            if before == k - 1:
                start = found.pop()[0]
            found.append((start, self.high if k == len(self.places) - 1 else place + half))
            before = k
        return found

    def draw(self, ax: Any, which: str) -> None:
        """Write the column and its values along one axis, ``"x"`` or ``"y"``."""
        axis = getattr(ax, f"{which}axis")
        getattr(ax, f"set_{which}lim")(*self.ends)
        axis.set_tick_params(labelsize=SMALL)
        if self.column is None:
            name_ticks(axis, [], [])
            return
        words = wrapped(shortened(readable(format_name(self.name)), 120), 62)
        as_written([getattr(ax, f"set_{which}label")(words, fontsize=USUAL)])
        if self.names:
            crowded = which == "x" and sum(map(width_of, self.names)) > 64
            name_ticks(axis, self.places, self.names, fontsize=SMALL, rotation=90 if crowded else 0)
        elif self.column.kind in (DATE, INSTANT):
            name_ticks(axis, *_date_ticks(self.low, self.high), fontsize=SMALL)
        elif self.column.kind == EMPTY:
            name_ticks(axis, [], [])
        if self.strip is not None:
            self._draw_strip(ax, axis, which)

    def _draw_strip(self, ax: Any, axis: Any, which: str) -> None:
        """Set missing values apart by a line, and name them; numbers are written on their own side of it."""
        from matplotlib.ticker import FixedLocator, MaxNLocator

        assert self.strip is not None
        assert self.column is not None
        line = ax.axvline if which == "x" else ax.axhline
        line(self.low, color=axis.label.get_color(), lw=0.8, ls=":")
        if not self.names and self.column.kind == NUMBER:
            ticks = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(self.low, self.high)
            axis.set_major_locator(FixedLocator([tick for tick in ticks if self.low <= tick <= self.high]))
        axis.set_ticks([sum(self.strip) / 2], labels=["missing"], minor=True, fontsize=SMALL, style="italic")
        axis.set_tick_params(which="minor", length=0)


def strip_scale(n: int, rng: np.random.Generator) -> AxisScale:
    """Return an axis without a column, along which records are spread out so that they do not hide one another."""
    return AxisScale(None, rng.uniform(-0.4, 0.4, n), -0.5, 0.5)


def scale_of(
    column: Column, records: NDArray[np.int64], conditions: Sequence[Condition], rng: np.random.Generator
) -> AxisScale:
    """Lay a column out along an axis.

    Parameters
    ----------
    column : the column, of all records
    records : which of the records are drawn
    conditions : what rules say of the column; their bounds and categories are to be seen
    rng : how records of equal values are spread out
    """
    gone = bool(column.missing.any())
    noise = rng.uniform(-1.0, 1.0, records.size)
    if column.kind in (NUMBER, DATE, INSTANT):
        values = _as_floats(column)
        distinct = np.unique(values[~np.isnan(values)])
        if column.kind == NUMBER and distinct.size <= _MAX_WHOLE and _all_whole(distinct):
            return _whole_scale(column, values[records], distinct, noise, gone)
        return _number_scale(column, values[records], distinct, conditions, noise, gone)
    return _category_scale(column, records, conditions, noise, gone)


def _number_scale(
    column: Column, values: Floats, distinct: Floats, conditions: Iterable[Condition], noise: Floats, gone: bool
) -> AxisScale:
    """Lay out numbers or dates, with some room at both ends."""
    bounds = [_position(bound) for one in conditions for _, bound in one.comparisons]
    finite = distinct[np.abs(distinct) <= _LARGEST]
    seen = np.array([*finite[:1], *finite[-1:], *bounds]) if finite.size or bounds else np.array([0.0, 1.0])
    room = 0.05 * (seen.max() - seen.min()) or 0.05 * abs(seen.min()) or 0.5
    low, high = float(seen.min() - room), float(seen.max() + room)
    strip = _strip(low, high) if gone else None
    values = np.clip(values, low, high)  # what is infinite stands at the edge
    return AxisScale(column, values if strip is None else _with_missing(values, strip, noise), low, high, strip)


def _whole_scale(column: Column, values: Floats, distinct: Floats, noise: Floats, gone: bool) -> AxisScale:
    """Lay out a few whole numbers, those of equal values side by side."""
    places = tuple(distinct.tolist())
    half = _half_gap(places)
    low, high = places[0] - 1.2 * half, places[-1] + 1.2 * half
    strip = _strip(low, high) if gone else None
    positions = values + 0.6 * half * noise
    return AxisScale(
        column,
        positions if strip is None else _with_missing(positions, strip, noise),
        low,
        high,
        strip,
        places,
        tuple((value,) for value in places),
        tuple(f"{value:.0f}" for value in places) if len(places) <= _MAX_CATEGORIES else (),
    )


def _category_scale(
    column: Column, records: NDArray[np.int64], conditions: Sequence[Condition], noise: Floats, gone: bool
) -> AxisScale:
    """Lay out categories, each at its place; where there are very many, the rare ones share the last."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.categories))
    named = {k for k, value in enumerate(column.categories) if any(value in one.values_named for one in conditions)}
    common = np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES].tolist()
    alone = sorted(named | set(common)) if counts.size > _MAX_CATEGORIES + 1 else list(range(counts.size))
    rare = [k for k in range(counts.size) if k not in set(alone)]
    groups: tuple[tuple[int, ...], ...] = (*((k,) for k in alone), *([tuple(rare)] if rare else []))
    values = tuple(readable(format_value(column.categories[k])) for k in alone)
    names = [told_apart(values, 22)[value] for value in values]
    place = np.full(counts.size + 1, np.nan)
    for where, group in enumerate(groups):
        place[list(group)] = where
    high = max(len(groups), 1) - 0.5
    strip = _strip(-0.5, high) if gone else None
    positions = place[column.values[records]] + 0.32 * noise
    return AxisScale(
        column,
        positions if strip is None else _with_missing(positions, strip, noise),
        -0.5,
        high,
        strip,
        tuple(float(k) for k in range(len(groups))),
        groups,
        (*names, *([f"{len(rare)} others"] if rare else [])),
    )


def _strip(low: float, high: float) -> Span:
    """Return where missing values stand on an axis: below its low end."""
    return low - 0.09 * (high - low), low


def _with_missing(positions: Floats, strip: Span, noise: Floats) -> Floats:
    middle, half = sum(strip) / 2, (strip[1] - strip[0]) / 2
    return np.where(np.isnan(positions), middle + 0.6 * half * noise, positions)


def _half_gap(places: Sequence[float]) -> float:
    """Return half of the smallest distance between neighbouring places."""
    return float(np.diff(places).min()) / 2 if len(places) > 1 else 0.5


def _all_whole(distinct: Floats) -> bool:
    return bool(distinct.size and (distinct == np.rint(distinct)).all() and np.abs(distinct).max() < 2**52)


def _as_floats(column: Column) -> Floats:
    """Return numbers as they are, dates as days from 1970."""
    if column.kind == NUMBER:
        return column.values
    days = column.values.astype(np.int64) / _DAY
    return np.where(np.isnat(column.values), np.nan, np.clip(days, _FIRST_DAY, _LAST_DAY))


def _position(bound: Any) -> float:
    """Return where a bound stands on its axis."""
    if not isinstance(bound, datetime.datetime):
        return float(bound)
    zone = None if bound.tzinfo is None else datetime.UTC
    return (bound - datetime.datetime(1970, 1, 1, tzinfo=zone)) / datetime.timedelta(microseconds=1) / _DAY


def _date_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Return places for dates along an axis of days from 1970, and what is written there."""
    from matplotlib import dates

    untyped: Any = dates
    locator = untyped.AutoDateLocator(minticks=3, maxticks=7)
    ends = [np.datetime64(round(end * _DAY), "us").astype(datetime.datetime) for end in (low, high)]
    numbers = locator.tick_values(*ends)
    origin = float(untyped.date2num(np.datetime64("1970-01-01")))  # the user may count days from elsewhere
    inside = [number for number in numbers if low <= number - origin <= high]
    words = untyped.ConciseDateFormatter(locator).format_ticks(inside)
    return [float(number) - origin for number in inside], list(words)
