"""Columns as axes of a plot: the positions of values, missing ones included, and the ranges that conditions allow."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import EMPTY, Column
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.model._conditions import Condition, DerivedColumn
from diverse_rule_sets.model._formatting import format_label, format_name, format_value
from diverse_rule_sets.report._legends import NORMAL, SMALL, label_ticks
from diverse_rule_sets.report._text_layout import (
    distinct_names,
    draw_literally,
    escape_missing,
    shorten,
    width_of,
    wrap,
)

Floats = NDArray[np.float64]
Span = tuple[float, float]
# A column of integers with at most this number of distinct values is drawn like categories.
_MAX_INTEGERS = 30
# Largest number of categories with their own position, besides those that conditions contain.
_MAX_CATEGORIES = 14
# Larger numbers and infinity are drawn at the end of the axis.
_LARGEST = 1e300
# Range of the dates that matplotlib can format, in days since 1970.
_FIRST_DAY, _LAST_DAY = -719_000.0, 2_932_000.0
_DAY = 86_400_000_000


@dataclass(frozen=True, eq=False)
class AxisScale:
    """One column along an axis.

    An axis is discrete for categories and for integers of few distinct values, continuous for other numbers and dates.

    Parameters
    ----------
    column : the column with all records; None for an axis without a column, along which records have random positions
    positions : position of each record that is drawn: its value, days since 1970, or the number of its category. On a
        discrete axis positions have random noise, so that equal values do not hide one another
    low, high : the ends of the axis, without the strip of missing values
    strip : the ends of the strip of missing values; None if no value is missing
    places : positions of the distinct values on a discrete axis
    values : the distinct values at each of these positions
    names : tick labels of these positions
    """

    column: Column | None
    positions: Floats
    low: float
    high: float
    strip: Span | None = None
    places: tuple[float, ...] = ()
    values: tuple[tuple[float, ...], ...] = ()
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        name = str(self.name) if isinstance(self.name, DerivedColumn) else repr(self.name)
        return f"<AxisScale: {name}, {self.positions.size} positions from {self.low:.6g} to {self.high:.6g}>"

    @property
    def name(self) -> Hashable:
        """The name of the column; None for an axis without a column."""
        return None if self.column is None else self.column.name

    @property
    def ends(self) -> Span:
        """The ends of the axis, with the strip of missing values."""
        return (self.low if self.strip is None else self.strip[0]), self.high

    def spans(self, condition: Condition | None) -> list[Span]:
        """Return the ranges of the axis in which a condition holds; the whole axis if the condition is None.

        A range without a bound extends to the end of the axis. On a discrete axis ranges end between two values.
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
            numbers_and_dates = numbers.Real | datetime.datetime
            return [(_position(value),) * 2 for value in condition.values_named if isinstance(value, numbers_and_dates)]
        some = condition.excludes or condition.holds(self.column).any()  # an empty list of values holds for no record
        return [(self.low, self.high)] if some else []

    def _runs(self, condition: Condition) -> list[Span]:
        """Return the ranges of neighbouring positions whose values all meet a condition."""
        assert self.column is not None
        half = _half_gap(self.places)
        spans: list[Span] = []
        previous = -2
        for k, (place, values) in enumerate(zip(self.places, self.values, strict=True)):
            dtype = self.column.values.dtype
            distinct = Column(self.name, self.column.kind, np.array(values, dtype), self.column.categories)
            if not condition.holds(distinct).all():
                continue
            start = self.low if k == 0 else place - half
            if previous == k - 1:
                start = spans.pop()[0]
            spans.append((start, self.high if k == len(self.places) - 1 else place + half))
            previous = k
        return spans

    def draw(self, ax: Any, which: str) -> None:
        """Set the label, limits and ticks of one axis of a plot, ``"x"`` or ``"y"``."""
        axis = getattr(ax, f"{which}axis")
        getattr(ax, f"set_{which}lim")(*self.ends)
        axis.set_tick_params(labelsize=SMALL)
        if self.column is None:
            label_ticks(axis, [], [])
            return
        text = wrap(shorten(escape_missing(format_name(self.name)), 120), 62)
        draw_literally([getattr(ax, f"set_{which}label")(text, fontsize=NORMAL)])
        if self.names:
            crowded = which == "x" and sum(map(width_of, self.names)) > 64
            label_ticks(axis, self.places, self.names, fontsize=SMALL, rotation=90 if crowded else 0)
        elif self.column.kind in (DATE, INSTANT):
            label_ticks(axis, *_date_ticks(self.low, self.high), fontsize=SMALL)
        elif self.column.kind == EMPTY:
            label_ticks(axis, [], [])
        if self.strip is not None:
            self._draw_strip(ax, axis, which)

    def _draw_strip(self, ax: Any, axis: Any, which: str) -> None:
        """Draw a line and a label for the strip of missing values; ticks of numbers stay outside the strip."""
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
    """Return an axis without a column: records have random positions, so that they do not hide one another."""
    return AxisScale(None, rng.uniform(-0.4, 0.4, n), -0.5, 0.5)


def scale_of(
    column: Column, records: NDArray[np.int64], conditions: Sequence[Condition], rng: np.random.Generator
) -> AxisScale:
    """Return the axis of a column.

    Parameters
    ----------
    column : the column with all records
    records : positions of the records to draw
    conditions : conditions of rules on the column; their bounds and categories must be visible
    rng : random generator for the noise of positions
    """
    has_missing = bool(column.missing.any())
    noise = rng.uniform(-1.0, 1.0, records.size)
    if column.kind in (NUMBER, DATE, INSTANT):
        values = _as_floats(column)
        distinct = np.unique(values[~np.isnan(values)])
        if column.kind == NUMBER and distinct.size <= _MAX_INTEGERS and _all_integers(distinct):
            return _integer_scale(column, values[records], distinct, noise, has_missing)
        return _number_scale(column, values[records], distinct, conditions, noise, has_missing)
    return _category_scale(column, records, conditions, noise, has_missing)


def _number_scale(
    column: Column, values: Floats, distinct: Floats, conditions: Iterable[Condition], noise: Floats, has_missing: bool
) -> AxisScale:
    """Return the continuous axis of numbers or dates, with a margin at both ends."""
    bounds = [_position(bound) for condition in conditions for _, bound in condition.comparisons]
    finite = distinct[np.abs(distinct) <= _LARGEST]
    limits = np.array([*finite[:1], *finite[-1:], *bounds]) if finite.size or bounds else np.array([0.0, 1.0])
    margin = 0.05 * (limits.max() - limits.min()) or 0.05 * abs(limits.min()) or 0.5
    low, high = float(limits.min() - margin), float(limits.max() + margin)
    strip = _strip(low, high) if has_missing else None
    values = np.clip(values, low, high)  # infinite values are drawn at the end
    return AxisScale(column, values if strip is None else _with_missing(values, strip, noise), low, high, strip)


def _integer_scale(column: Column, values: Floats, distinct: Floats, noise: Floats, has_missing: bool) -> AxisScale:
    """Return the discrete axis of a column of integers with few distinct values."""
    places = tuple(distinct.tolist())
    half = _half_gap(places)
    low, high = places[0] - 1.2 * half, places[-1] + 1.2 * half
    strip = _strip(low, high) if has_missing else None
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
    column: Column, records: NDArray[np.int64], conditions: Sequence[Condition], noise: Floats, has_missing: bool
) -> AxisScale:
    """Return the discrete axis of categories; if there are very many, rare categories share the last position."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.categories))
    named = {
        k
        for k, value in enumerate(column.categories)
        if any(value in condition.values_named for condition in conditions)
    }
    frequent = np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES].tolist()
    alone = sorted(named | set(frequent)) if counts.size > _MAX_CATEGORIES + 1 else list(range(counts.size))
    rare = [k for k in range(counts.size) if k not in set(alone)]
    groups: tuple[tuple[int, ...], ...] = (*((k,) for k in alone), *([tuple(rare)] if rare else []))
    form = format_label if isinstance(column.name, DerivedColumn) else format_value  # labels have no quotes
    values = tuple(escape_missing(form(column.categories[k])) for k in alone)
    names = [distinct_names(values, 22)[value] for value in values]
    place_of = np.full(counts.size + 1, np.nan)
    for place, group in enumerate(groups):
        place_of[list(group)] = place
    high = max(len(groups), 1) - 0.5
    strip = _strip(-0.5, high) if has_missing else None
    positions = place_of[column.values[records]] + 0.32 * noise
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
    """Return the ends of the strip of missing values, below the low end of the axis."""
    return low - 0.09 * (high - low), low


def _with_missing(positions: Floats, strip: Span, noise: Floats) -> Floats:
    middle, half = sum(strip) / 2, (strip[1] - strip[0]) / 2
    return np.where(np.isnan(positions), middle + 0.6 * half * noise, positions)


def _half_gap(places: Sequence[float]) -> float:
    """Return half of the smallest distance between neighbouring positions."""
    return float(np.diff(places).min()) / 2 if len(places) > 1 else 0.5


def _all_integers(distinct: Floats) -> bool:
    return bool(distinct.size and (distinct == np.rint(distinct)).all() and np.abs(distinct).max() < 2**52)


def _as_floats(column: Column) -> Floats:
    """Return the values of a column as floats; dates as days since 1970."""
    if column.kind == NUMBER:
        return column.values
    days = column.values.astype(np.int64) / _DAY
    return np.where(np.isnat(column.values), np.nan, np.clip(days, _FIRST_DAY, _LAST_DAY))


def _position(bound: Any) -> float:
    """Return the position of a bound on its axis."""
    if not isinstance(bound, datetime.datetime):
        return float(bound)
    zone = None if bound.tzinfo is None else datetime.UTC
    return (bound - datetime.datetime(1970, 1, 1, tzinfo=zone)) / datetime.timedelta(microseconds=1) / _DAY


def _date_ticks(low: float, high: float) -> tuple[list[float], list[str]]:
    """Return positions and labels of ticks along an axis of days since 1970."""
    from matplotlib import dates

    untyped: Any = dates
    locator = untyped.AutoDateLocator(minticks=3, maxticks=7)
    ends = [np.datetime64(round(end * _DAY), "us").astype(datetime.datetime) for end in (low, high)]
    numbers = locator.tick_values(*ends)
    origin = float(untyped.date2num(np.datetime64("1970-01-01")))  # depends on the user's settings of matplotlib
    inside = [number for number in numbers if low <= number - origin <= high]
    labels = untyped.ConciseDateFormatter(locator).format_ticks(inside)
    return [float(number) - origin for number in inside], list(labels)
