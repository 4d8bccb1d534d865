"""Conditions: tests of one column each, immutable values in the units of the table.

Only :meth:`Condition.holds` defines whether a condition holds for a record: training packs its result into bits, and
prediction computes it for new records.
"""

from __future__ import annotations

import datetime
import math
import numbers
import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.tables import BOOLEAN, CATEGORY, DATE, INSTANT, NUMBER, TEXT, Column, plain
from diverse_rule_sets.model._formatting import format_name, format_value

Flags = NDArray[np.bool_]
Bound = float | datetime.datetime | None


@dataclass(frozen=True)
class Condition(ABC):
    """A test of one column; the base class of :class:`Interval`, :class:`Equals`, :class:`IsIn` and the others."""

    column: Hashable

    @property
    def kind(self) -> str:
        """The type of column that the condition tests; empty if it can be any type."""
        return ""

    @property
    def values_named(self) -> tuple[Any, ...]:
        """The values that the condition lists; empty for an interval and for ``is missing``."""
        return ()

    @property
    def comparisons(self) -> tuple[tuple[str, Any], ...]:
        """The comparisons that must hold for a value, pairs of an operator and a bound; empty except for intervals."""
        return ()

    @property
    def excludes(self) -> bool:
        """Whether the condition holds for the values that it does not list."""
        return False

    @property
    def holds_if_missing(self) -> bool:
        """Whether the condition holds for a missing value, and for nothing else."""
        return False

    @abstractmethod
    def holds(self, column: Column) -> Flags:
        """Return whether the condition holds for each record of the column."""

    def meet(self, other: Condition) -> Condition:
        """Return the condition on the same column that holds if and only if both hold."""
        if self == other:
            return self
        raise self._no_common_value(other)

    def _no_common_value(self, other: Condition) -> ValueError:
        return ValueError(f"no value can meet both {self} and {other}")

    def _none_of(self, column: Column) -> Flags:
        """Return False for each record of a column of another type; raises ValueError unless all values are missing."""
        if column.missing.all():
            return np.zeros(column.values.size, np.bool_)
        dates = column.kind in (DATE, INSTANT) and self.kind == CATEGORY
        hint = "; write a single date as an interval: 2020-01-31 <= day <= 2020-01-31" if dates else ""
        expected = f"expected {self.kind} values for the condition {self}"
        raise ValueError(f"column {self.column!r} holds {column.kind} values, {expected}{hint}")


@dataclass(frozen=True)
class Interval(Condition):
    """``low < column <= high``; a bound of None is absent. Missing values are in no interval.

    Parameters
    ----------
    column : the column
    low, high : finite numbers or dates
    with_low, with_high : whether the bound itself is in the interval; in learnt rules only the upper bound is

    Examples
    --------
    >>> print(Interval("age", low=37, high=60))
    37 < age <= 60
    >>> print(Interval("petal width (cm)", high=0.8))
    petal width (cm) <= 0.8
    >>> print(Interval("age", low=18, with_low=True))
    age >= 18
    """

    low: Bound = None
    high: Bound = None
    with_low: bool = False
    with_high: bool = True

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ValueError(f"an interval of {self.column!r} must have low or high, or both")
        for side in ("low", "high"):
            object.__setattr__(self, side, _bound(getattr(self, side), self.column))
        low, high = self.low, self.high
        if low is not None and high is not None and _kind_of(low) != _kind_of(high):
            raise TypeError(f"the bounds of an interval of {self.column!r} have different types: {low!r} and {high!r}")
        object.__setattr__(self, "with_low", bool(self.with_low) and low is not None)
        object.__setattr__(self, "with_high", bool(self.with_high) or high is None)

    @property
    def kind(self) -> str:
        """The type of column that the interval tests."""
        return _kind_of(self.high if self.low is None else self.low)

    @property
    def comparisons(self) -> tuple[tuple[str, Any], ...]:
        """The comparisons that must hold for a value: pairs of an operator and a bound, the lower bound first."""
        low = [(">=" if self.with_low else ">", self.low)] if self.low is not None else []
        high = [("<=" if self.with_high else "<", self.high)] if self.high is not None else []
        return (*low, *high)

    @property
    def empty(self) -> bool:
        """Whether the interval contains no value."""
        low: Any = self.low
        if low is None or self.high is None:
            return False
        return bool(low > self.high or (low == self.high and not (self.with_low and self.with_high)))

    def holds(self, column: Column) -> Flags:
        """Return whether the value of each record is in the interval."""
        if column.kind != self.kind:
            return self._none_of(column)
        flags = [_COMPARE[test](column.values, _comparable(bound)) for test, bound in self.comparisons]
        return np.asarray(flags[0] if len(flags) == 1 else flags[0] & flags[1])

    def meet(self, other: Condition) -> Condition:
        """Return the intersection of two intervals."""
        if isinstance(other, Equals | IsIn):
            return other.meet(self)
        if other.holds_if_missing:
            raise self._no_common_value(other)
        if not isinstance(other, Interval) or other.kind != self.kind:
            raise ValueError(f"{self} and {other} cannot be combined into one condition")
        lows: list[Any] = [one.low for one in (self, other) if one.low is not None]
        highs: list[Any] = [one.high for one in (self, other) if one.high is not None]
        low, high = max(lows, default=None), min(highs, default=None)
        with_low = all(one.with_low for one in (self, other) if one.low == low)
        with_high = all(one.with_high for one in (self, other) if one.high == high)
        both = Interval(self.column, low, high, with_low, with_high)
        if both.empty:
            raise self._no_common_value(other)
        return both

    def __str__(self) -> str:
        name = format_name(self.column)
        if self.low is None or self.high is None:
            ((test, bound),) = self.comparisons
            return f"{name} {test} {format_value(bound)}"
        (above, low), (below, high) = self.comparisons
        return f"{format_value(low)} {above.replace('>', '<')} {name} {below} {format_value(high)}"


_KINDS = {str: TEXT, bool: BOOLEAN}


@dataclass(frozen=True)
class Equals(Condition):
    """``column = value``. It does not hold for a missing value, nor for a category that did not occur in training.

    Parameters
    ----------
    column, value : the column, and the value it must have
    mixed : whether the column may contain values of several types, such as strings and numbers. If so, the condition
        does not hold in a column of another type; if not, a column of another type raises ValueError

    Examples
    --------
    >>> print(Equals("sex", "F"))
    sex = "F"
    """

    value: Any
    mixed: bool = field(default=False, compare=False)

    @property
    def kind(self) -> str:
        """The type of column that the value belongs to."""
        return CATEGORY if self.mixed else _KINDS.get(type(self.value), CATEGORY)

    @property
    def values_named(self) -> tuple[Any, ...]:
        """The value."""
        return (self.value,)

    def holds(self, column: Column) -> Flags:
        """Return whether the value of each record equals the value of the condition."""
        if column.kind in (TEXT, BOOLEAN, CATEGORY):
            fits = column.kind == CATEGORY or isinstance(self.value, bool) == (column.kind == BOOLEAN)
            if fits and not (column.kind == TEXT and not isinstance(self.value, str)):
                return np.asarray(column.values == column.positions.get(self.value, -2))
        elif column.kind == NUMBER and is_number(self.value):
            return np.asarray(column.values == self.value)
        return np.zeros(column.values.size, np.bool_) if self.mixed else self._none_of(column)

    def meet(self, other: Condition) -> Condition:
        """Return this condition if the other condition allows its value."""
        return _of_values(self.column, _allowed((self.value,), other), self.mixed) or super().meet(other)

    def __str__(self) -> str:
        return f"{format_name(self.column)} = {format_value(self.value)}"


@dataclass(frozen=True, eq=False)
class _OfValues(Condition):
    """A condition that lists several values, in any order."""

    values: tuple[Any, ...]
    mixed: bool = False

    @property
    def kind(self) -> str:
        """The type of column that the values belong to."""
        kinds = {Equals(self.column, value, self.mixed).kind for value in self.values}
        return kinds.pop() if len(kinds) == 1 else CATEGORY

    @property
    def values_named(self) -> tuple[Any, ...]:
        """The values, in the order in which they were given."""
        return self.values

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Hashable, frozenset[Any]]:
        return self.column, frozenset(self.values)

    def __str__(self) -> str:
        test = "not in" if self.excludes else "in"
        return f"{format_name(self.column)} {test} {{{', '.join(map(format_value, self.values))}}}"


@dataclass(frozen=True, eq=False)
class IsIn(_OfValues):
    """``column in {values}``. It does not hold for a missing value, nor for a category that did not occur in training.

    Parameters
    ----------
    column, values : the column, and the values it may have, two or more
    mixed : as for :class:`Equals`

    Examples
    --------
    >>> print(IsIn("job", ("clerk", "sales")))
    job in {"clerk", "sales"}
    """

    def holds(self, column: Column) -> Flags:
        """Return whether the value of each record is one of the values listed."""
        flags = np.zeros(column.values.size, np.bool_)
        for value in self.values:
            flags |= Equals(self.column, value, self.mixed).holds(column)
        return flags

    def meet(self, other: Condition) -> Condition:
        """Return the condition for the values that both conditions allow."""
        return _of_values(self.column, _allowed(self.values, other), self.mixed) or super().meet(other)


@dataclass(frozen=True, eq=False)
class IsNotIn(_OfValues):
    """``column not in {values}``. It holds for a category that did not occur in training, but not for a missing value.

    Examples
    --------
    >>> print(IsNotIn("job", ("clerk",)))
    job not in {"clerk"}
    """

    @property
    def excludes(self) -> bool:
        """Whether the condition holds for the values that it does not list."""
        return True

    def holds(self, column: Column) -> Flags:
        """Return whether each record has a value that is not one of the values listed."""
        return ~IsIn(self.column, self.values, self.mixed).holds(column) & ~column.missing

    def meet(self, other: Condition) -> Condition:
        """Return the condition for the values that both conditions allow."""
        if isinstance(other, IsNotIn):
            more = tuple(value for value in other.values if value not in self.values)
            return IsNotIn(self.column, self.values + more, self.mixed)
        return other.meet(self)


def _allowed(values: tuple[Any, ...], other: Condition) -> tuple[Any, ...]:
    """Return those of the values that the other condition allows, in order."""
    if other.values_named or other.excludes:
        return tuple(value for value in values if (value in other.values_named) != other.excludes)
    if other.comparisons and other.kind == NUMBER:
        reals = [float(value) if is_number(value) else math.nan for value in values]
        inside = other.holds(Column(other.column, NUMBER, np.array(reals)))
        return tuple(value for value, flag in zip(values, inside.tolist(), strict=True) if flag)
    return ()


def _of_values(column: Hashable, values: tuple[Any, ...], mixed: bool) -> Condition | None:
    """Return the condition that allows exactly these values; None if there are none."""
    if len(values) == 1:
        return Equals(column, values[0], mixed)
    return IsIn(column, values, mixed) if values else None


@dataclass(frozen=True)
class IsMissing(Condition):
    """``column is missing``: the record has no value in this column.

    Examples
    --------
    >>> print(IsMissing("income"))
    income is missing
    """

    @property
    def holds_if_missing(self) -> bool:
        """Whether the condition holds for a missing value, and for nothing else."""
        return True

    def holds(self, column: Column) -> Flags:
        """Return whether the value of each record is missing."""
        return column.missing

    def __str__(self) -> str:
        return f"{format_name(self.column)} is missing"


def merge_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Combine the conditions on each column into one, columns in the order of first use.

    Examples
    --------
    >>> print(*merge_conditions([Interval("age", low=37), Equals("sex", "F"), Interval("age", high=60)]), sep=", ")
    37 < age <= 60, sex = "F"
    """
    by_column: dict[Hashable, Condition] = {}
    for condition in conditions:
        known = by_column.get(condition.column)
        by_column[condition.column] = condition if known is None else known.meet(condition)
    return tuple(by_column.values())


_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


def _bound(bound: Any, column: Hashable) -> Any:
    """Validate a bound and return it; a date becomes the start of the day."""
    bound = plain(bound)
    if bound is None or (isinstance(bound, datetime.datetime) and bound.tzinfo is None):
        return bound
    if isinstance(bound, datetime.datetime):
        return bound.astimezone(datetime.UTC)
    if isinstance(bound, datetime.date):
        return datetime.datetime(bound.year, bound.month, bound.day)
    if not is_number(bound) or not -sys.float_info.max <= bound <= sys.float_info.max:
        raise ValueError(f"a bound of an interval of {column!r} must be a finite number or a date, got {bound!r:.60}")
    return bound


def is_number(value: Any) -> bool:
    """Return whether a value is a real number and not a boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _kind_of(bound: Any) -> str:
    """Return the type of column that a bound belongs to."""
    if isinstance(bound, datetime.datetime):
        return DATE if bound.tzinfo is None else INSTANT
    return NUMBER


def _comparable(bound: Bound) -> Any:
    """Return a bound as a type that numpy compares quickly."""
    if not isinstance(bound, datetime.datetime):
        return bound
    moment = bound if bound.tzinfo is None else bound.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(moment, "us")
