"""Conditions: tests of one column each, immutable values in the units of the table.

Only :meth:`Condition.holds` defines whether a condition holds for a record: training packs its result into bits, and
prediction computes it for new records.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diverse_rule_sets._input.columns import CATEGORY, Column
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER, TEXT, identity, type_of
from diverse_rule_sets.model._condition_base import (
    Bound,
    Condition,
    DerivedColumn,
    Flags,
    canonical_value,
    checked_bound,
    comparable,
    is_number,
)
from diverse_rule_sets.model._formatting import format_name, format_value

__all__ = [
    "Condition",
    "DerivedColumn",
    "Equals",
    "Flags",
    "Interval",
    "IsIn",
    "IsMissing",
    "IsNotIn",
    "comparable",
    "is_number",
    "merge_conditions",
]


_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


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
        super().__post_init__()
        if self.low is None and self.high is None:
            raise ValueError(f"an interval of {self.column!r} must have low or high, or both")
        for side in ("low", "high"):
            object.__setattr__(self, side, checked_bound(getattr(self, side), self.column))
        low, high = self.low, self.high
        if low is not None and high is not None and type_of(low) != type_of(high):
            raise TypeError(f"the bounds of an interval of {self.column!r} have different types: {low!r} and {high!r}")
        object.__setattr__(self, "with_low", bool(self.with_low) and low is not None)
        object.__setattr__(self, "with_high", bool(self.with_high) or high is None)
        if isinstance(self.column, DerivedColumn):
            self._use_whole_bounds(self.column)

    def _use_whole_bounds(self, column: DerivedColumn) -> None:
        """Replace the bounds by whole numbers that are in the interval: ``points > 5`` is ``points >= 6``."""
        if not column.counts_points:
            raise ValueError(f"a condition on {column} must name a label, got the bounds {self.low} and {self.high}")
        if self.kind != NUMBER:
            raise ValueError(f"an interval of {column} must have whole numbers as bounds, got {self.low}, {self.high}")
        low: Any = self.low
        high: Any = self.high
        if low is not None:
            object.__setattr__(self, "low", math.ceil(low) if self.with_low else math.floor(low) + 1)
            object.__setattr__(self, "with_low", True)
        if high is not None:
            object.__setattr__(self, "high", math.floor(high) if self.with_high else math.ceil(high) - 1)
            object.__setattr__(self, "with_high", True)

    @property
    def kind(self) -> str:
        """The type of column that the interval tests."""
        bound = self.high if self.low is None else self.low
        return type_of(bound) if isinstance(bound, datetime.datetime) else NUMBER

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
        flags = [_COMPARE[test](column.values, comparable(bound)) for test, bound in self.comparisons]
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
        if self.low == self.high and isinstance(self.column, DerivedColumn):
            return f"{name} = {format_value(self.low)}"
        (above, low), (below, high) = self.comparisons
        return f"{format_value(low)} {above.replace('>', '<')} {name} {below} {format_value(high)}"


@dataclass(frozen=True, eq=False)
class Equals(Condition):
    """``column = value``. It does not hold for a missing value, nor for a category that did not occur in training.

    Values are compared by type and value: ``True`` is not ``1``. A date is truncated to microseconds.

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
    mixed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        derived = isinstance(self.column, DerivedColumn)
        value = self.column.checked_value(self.value) if isinstance(self.column, DerivedColumn) else self.value
        object.__setattr__(self, "value", canonical_value(value, self.column))
        object.__setattr__(self, "mixed", self.mixed and not derived)

    @property
    def kind(self) -> str:
        """The type of the value; ``"category"`` for a column of several types."""
        return CATEGORY if self.mixed else type_of(self.value)

    @property
    def values_named(self) -> tuple[Any, ...]:
        """The value."""
        return (self.value,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equals) and (self.column, self._identity) == (other.column, other._identity)

    def __hash__(self) -> int:
        return hash((self.column, self._identity))

    @property
    def _identity(self) -> Any:
        return identity(self.value)

    def holds(self, column: Column) -> Flags:
        """Return whether the value of each record equals the value of the condition."""
        value, of_type = self.value, type_of(self.value)
        if column.kind in (NUMBER, DATE, INSTANT):
            if of_type == column.kind:
                return np.asarray(column.values == comparable(value))
        elif column.kind == CATEGORY or column.type_of_values == of_type:
            return np.asarray(column.values == column.positions.get(self._identity, -2))
        return np.zeros(column.values.size, np.bool_) if self.mixed else self._none_of(column)

    def meet(self, other: Condition) -> Condition:
        """Return this condition if the other condition allows its value."""
        return _of_values(self.column, _allowed((self.value,), other), self.mixed) or super().meet(other)

    def __str__(self) -> str:
        if isinstance(self.column, DerivedColumn):
            return self.column.format(self.value)
        return f"{format_name(self.column)} = {format_value(self.value)}"


@dataclass(frozen=True, eq=False)
class _OfValues(Condition):
    """A condition that lists several values, in any order."""

    values: tuple[Any, ...]
    mixed: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_in_table(self)
        if isinstance(self.values, str | bytes):
            raise TypeError(f"values must be a tuple of values, got {self.values!r:.60}")
        object.__setattr__(self, "values", tuple(canonical_value(value, self.column) for value in self.values))

    @property
    def kind(self) -> str:
        """The type of the values; ``"category"`` if they have several types or the column has; empty without values."""
        kinds = {CATEGORY if self.mixed else type_of(value) for value in self.values}
        return CATEGORY if len(kinds) > 1 else next(iter(kinds), "")

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
        return self.column, frozenset(map(identity, self.values))

    def __str__(self) -> str:
        name, values = format_name(self.column), ", ".join(map(format_value, self.values))
        if self.excludes and len(self.values) == 1:
            return f"{name} != {values}"
        return f"{name} {'not in' if self.excludes else 'in'} {{{values}}}"


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
        if column.kind == self.kind == TEXT:  # the usual case, in one step
            listed = np.zeros(len(column.categories) + 1, np.bool_)  # the last one is for missing values
            listed[[column.positions[value] for value in self.values if value in column.positions]] = True
            return np.asarray(listed[column.values])
        flags = np.zeros(column.values.size, np.bool_)
        for value in self.values:
            flags |= Equals(self.column, value, self.mixed).holds(column)
        return flags

    def meet(self, other: Condition) -> Condition:
        """Return the condition for the values that both conditions allow."""
        return _of_values(self.column, _allowed(self.values, other), self.mixed) or super().meet(other)


@dataclass(frozen=True, eq=False)
class IsNotIn(_OfValues):
    """``column not in {values}``, ``column != value``. It holds for unseen categories, but not for a missing value.

    Examples
    --------
    >>> print(IsNotIn("job", ("clerk", "sales")), IsNotIn("sex", ("F",)), sep=", ")
    job not in {"clerk", "sales"}, sex != "F"
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
            known = set(map(identity, self.values))
            more = tuple(value for value in other.values if identity(value) not in known)
            return IsNotIn(self.column, self.values + more, self.mixed)
        return other.meet(self)


def _check_in_table(condition: Condition) -> None:
    """Raise ValueError if the column of a condition is derived; only intervals and equality can test such a column."""
    if isinstance(condition.column, DerivedColumn):
        expected = "expected an interval of points or a label with the most points"
        raise ValueError(f"{condition.column} cannot be tested by {type(condition).__name__}; {expected}")


def _allowed(values: tuple[Any, ...], other: Condition) -> tuple[Any, ...]:
    """Return those of the values that the other condition allows, in order."""
    if other.values_named or other.excludes:
        named = set(map(identity, other.values_named))
        return tuple(value for value in values if (identity(value) in named) != other.excludes)
    return tuple(value for value in values if other.comparisons and _is_inside(value, other))


def _is_inside(value: Any, interval: Condition) -> bool:
    """Return whether a value is in an interval."""
    if type_of(value) != interval.kind:
        return False
    coordinate = comparable(value)
    return all(bool(_COMPARE[test](coordinate, comparable(bound))) for test, bound in interval.comparisons)


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

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_in_table(self)

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
