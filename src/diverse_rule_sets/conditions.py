"""Conditions: one test of one column, a frozen value in the units of the table.

What a condition says of a record is defined here, in :meth:`Condition.holds`, and nowhere else: the
learner packs these answers into bits, prediction asks them of new records.
"""

from __future__ import annotations

import datetime
import json
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._tables import BOOLEAN, CATEGORY, DATE, INSTANT, NUMBER, TEXT, Column, plain

Flags = NDArray[np.bool_]
Bound = float | datetime.datetime | None

# Names that read like something else: operators, quotes, keywords, numbers, brackets, blanks at the ends.
_AWKWARD = re.compile(
    r"[=<>\"'`{}]|^\[|^\s|\s$|^$|^[-+.\d][-+.\de]*$|^(IF|AND|THEN|OTHERWISE)\b|\b(AND|THEN|is missing)\b|\bin$"
)


@dataclass(frozen=True)
class Condition(ABC):
    """One test of one column; the base of :class:`Interval`, :class:`Equals`, :class:`IsIn` and the others."""

    column: Hashable

    @abstractmethod
    def holds(self, column: Column) -> Flags:
        """Tell for each record of the column whether the condition holds."""

    def meet(self, other: Condition) -> Condition:
        """Return the condition on the same column that holds where both do."""
        if self == other:
            return self
        raise ValueError(f"no value can meet both {self} and {other}")

    def _mismatch(self, column: Column, expected: str) -> ValueError:
        return ValueError(
            f"column {self.column!r} holds {column.kind} values, expected {expected} values for the condition {self}"
        )


@dataclass(frozen=True)
class Interval(Condition):
    """``low < column <= high``; a bound of None is absent. Missing values are in no interval.

    Examples
    --------
    >>> print(Interval("age", low=37, high=60))
    37 < age <= 60
    >>> print(Interval("petal width (cm)", high=0.8))
    petal width (cm) <= 0.8
    """

    low: Bound = None
    high: Bound = None

    def __post_init__(self) -> None:
        if self.low is None and self.high is None:
            raise ValueError(f"an interval of {self.column!r} needs low or high, or both")

    @property
    def kind(self) -> str:
        """The kind of column that the interval speaks of."""
        bound = self.high if self.low is None else self.low
        if isinstance(bound, datetime.datetime):
            return DATE if bound.tzinfo is None else INSTANT
        return NUMBER

    def holds(self, column: Column) -> Flags:
        """Tell for each record whether its value lies in the interval."""
        if column.kind != self.kind:
            if column.missing.all():
                return np.zeros(column.values.size, np.bool_)
            raise self._mismatch(column, self.kind)
        low, high = (_comparable(bound) for bound in (self.low, self.high))
        if low is None:
            return np.asarray(column.values <= high)
        above = np.asarray(column.values > low)
        return above if high is None else above & (column.values <= high)

    def meet(self, other: Condition) -> Condition:
        """Return the interval that two intervals have in common."""
        if not isinstance(other, Interval):
            return super().meet(other)
        lows: list[Any] = [bound for bound in (self.low, other.low) if bound is not None]
        highs: list[Any] = [bound for bound in (self.high, other.high) if bound is not None]
        return Interval(self.column, max(lows, default=None), min(highs, default=None))

    def __str__(self) -> str:
        name = format_name(self.column)
        if self.low is None:
            return f"{name} <= {format_value(self.high)}"
        if self.high is None:
            return f"{name} > {format_value(self.low)}"
        return f"{format_value(self.low)} < {name} <= {format_value(self.high)}"


@dataclass(frozen=True)
class Equals(Condition):
    """``column = value``. A missing value equals nothing, nor does a category never seen before.

    Parameters
    ----------
    column, value : the column, and the value it must have
    mixed : the column may hold values of several kinds, such as strings and numbers; where it holds none of this
        kind, nothing equals the value. Otherwise a column of another kind is an error

    Examples
    --------
    >>> print(Equals("sex", "F"))
    sex = "F"
    """

    value: Any
    mixed: bool = field(default=False, compare=False)

    def holds(self, column: Column) -> Flags:
        """Tell for each record whether its value is the one named."""
        if column.kind in (TEXT, BOOLEAN, CATEGORY):
            fits = column.kind == CATEGORY or isinstance(self.value, bool) == (column.kind == BOOLEAN)
            if fits and not (column.kind == TEXT and not isinstance(self.value, str)):
                return np.asarray(column.values == column.positions.get(self.value, -2))
        elif column.kind == NUMBER and isinstance(self.value, numbers.Real) and not isinstance(self.value, bool):
            return np.asarray(column.values == self.value)
        if self.mixed or column.missing.all():
            return np.zeros(column.values.size, np.bool_)
        kinds = {str: TEXT, bool: BOOLEAN}
        raise self._mismatch(column, kinds.get(type(self.value), CATEGORY))

    def meet(self, other: Condition) -> Condition:
        """Return this condition if its value is among those that the other allows."""
        return _of_values(self.column, _allowed((self.value,), other), self.mixed) or super().meet(other)

    def __str__(self) -> str:
        return f"{format_name(self.column)} = {format_value(self.value)}"


@dataclass(frozen=True, eq=False)
class _OfValues(Condition):
    """A condition that names several values, in whatever order."""

    values: tuple[Any, ...]
    mixed: bool = False

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Hashable, frozenset[Any]]:
        return self.column, frozenset(self.values)


@dataclass(frozen=True, eq=False)
class IsIn(_OfValues):
    """``column in {values}``. A missing value is in no set, nor is a category never seen before.

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
        """Tell for each record whether its value is one of those named."""
        answers = np.zeros(column.values.size, np.bool_)
        for value in self.values:
            answers |= Equals(self.column, value, self.mixed).holds(column)
        return answers

    def meet(self, other: Condition) -> Condition:
        """Return the values that both conditions allow."""
        return _of_values(self.column, _allowed(self.values, other), self.mixed) or super().meet(other)

    def __str__(self) -> str:
        return f"{format_name(self.column)} in {{{', '.join(map(format_value, self.values))}}}"


@dataclass(frozen=True, eq=False)
class IsNotIn(_OfValues):
    """``column not in {values}``. It holds for a category never seen before, but not for a missing value.

    Examples
    --------
    >>> print(IsNotIn("job", ("clerk",)))
    job not in {"clerk"}
    """

    def holds(self, column: Column) -> Flags:
        """Tell for each record whether it has a value, and none of those named."""
        return ~IsIn(self.column, self.values, self.mixed).holds(column) & ~column.missing

    def meet(self, other: Condition) -> Condition:
        """Return what both conditions allow."""
        if isinstance(other, IsNotIn):
            more = tuple(value for value in other.values if value not in self.values)
            return IsNotIn(self.column, self.values + more, self.mixed)
        return other.meet(self)

    def __str__(self) -> str:
        return f"{format_name(self.column)} not in {{{', '.join(map(format_value, self.values))}}}"


def _allowed(values: tuple[Any, ...], other: Condition) -> tuple[Any, ...]:
    """Return those of the values that the other condition allows, in order."""
    if isinstance(other, Equals):
        return tuple(value for value in values if value == other.value)
    if isinstance(other, IsIn):
        return tuple(value for value in values if value in other.values)
    if isinstance(other, IsNotIn):
        return tuple(value for value in values if value not in other.values)
    return ()


def _of_values(column: Hashable, values: tuple[Any, ...], mixed: bool) -> Condition | None:
    """Return the condition that allows just these values; None if there are none."""
    if len(values) == 1:
        return Equals(column, values[0], mixed)
    return IsIn(column, values, mixed) if values else None


@dataclass(frozen=True)
class IsMissing(Condition):
    """``column is missing``: the table has no value there.

    Examples
    --------
    >>> print(IsMissing("income"))
    income is missing
    """

    def holds(self, column: Column) -> Flags:
        """Tell for each record whether it has no value."""
        return column.missing

    def __str__(self) -> str:
        return f"{format_name(self.column)} is missing"


def merged(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Put the conditions on each column together into one, columns in order of first use.

    Examples
    --------
    >>> print(*merged([Interval("age", low=37), Equals("sex", "F"), Interval("age", high=60)]), sep=", ")
    37 < age <= 60, sex = "F"
    """
    by_column: dict[Hashable, Condition] = {}
    for condition in conditions:
        known = by_column.get(condition.column)
        by_column[condition.column] = condition if known is None else known.meet(condition)
    return tuple(by_column.values())


def _comparable(bound: Bound) -> Any:
    """Turn a bound into what numpy compares quickly."""
    if isinstance(bound, datetime.datetime):
        if bound.tzinfo is not None:
            bound = bound.astimezone(datetime.UTC).replace(tzinfo=None)
        return np.datetime64(bound, "us")
    return bound


def format_name(name: Hashable) -> str:
    """Return a column's name as it is, or marked off where it could be misread."""
    if not isinstance(name, str):
        return f"[{name}]"
    if not name.isprintable():
        name = name.encode("unicode_escape").decode("ascii")
        return f"`{name.replace('`', '``')}`"
    return f"`{name.replace('`', '``')}`" if _AWKWARD.search(name) else name


def format_label(label: Any) -> str:
    """Return a label as a person would write it."""
    label = plain(label)
    return label if isinstance(label, str) and label.isprintable() and label else format_value(label)


def format_value(value: Any) -> str:
    """Return a value as a person would write it: strings quoted, whole numbers whole, dates as ISO."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, datetime.datetime):
        zone = "" if value.tzinfo is None else "Z"
        moment = value.replace(tzinfo=None)
        text = moment.isoformat(sep=" ")
        return (text[:10] if moment.time() == datetime.time() else text) + zone
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
