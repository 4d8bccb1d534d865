"""What all conditions share: the base classes, and the values and bounds that conditions compare with."""

from __future__ import annotations

import datetime
import numbers
import sys
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import ANY, VALUES, Column, values_text
from diverse_rule_sets._input.values import canonical, equals_no_name, is_missing, microseconds, plain

Flags = NDArray[np.bool_]
Bound = float | datetime.datetime | None


class DerivedColumn(ABC):
    """A column that is computed from columns of the table, such as the points of a scorecard; it is hashable.

    A condition on a derived column has it as its ``column``, in place of the name of a column of the table.
    """

    @property
    @abstractmethod
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions on columns of the table from which the derived column is computed."""

    @property
    @abstractmethod
    def origin(self) -> Hashable:
        """What the column is computed from; columns of the same origin have the same conditions."""

    @property
    @abstractmethod
    def counts_points(self) -> bool:
        """Whether its values are whole numbers; otherwise they are labels. None of them is missing."""

    @abstractmethod
    def checked_value(self, value: Any) -> Any:
        """Return the value of a condition that the column equals it; raises ValueError if there can be no such one."""

    @abstractmethod
    def format(self, value: Any = None) -> str:
        """Return the name of the column; with a value, the text of the condition that it has this value."""

    def __str__(self) -> str:
        return self.format()


@dataclass(frozen=True)
class Condition(ABC):
    """A test of one column; the base class of :class:`Interval`, :class:`Equals`, :class:`IsIn` and the others.

    The column is the name of a column of the table, or a :class:`DerivedColumn`.
    """

    column: Hashable

    def __post_init__(self) -> None:
        if type(self.column) is not str:
            object.__setattr__(self, "column", _checked_name(self.column))

    @property
    def plain_conditions(self) -> tuple[Condition, ...]:
        """The conditions on columns of the table that are evaluated: the condition itself, or those of its column."""
        return self.column.conditions if isinstance(self.column, DerivedColumn) else (self,)

    @property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns of the table that the condition reads."""
        return tuple(dict.fromkeys(condition.column for condition in self.plain_conditions))

    @property
    def kind(self) -> str:
        """The type of column that the condition tests; empty if it can be any type."""
        return ""

    @property
    def expected(self) -> str:
        """The type as which to read the column, if its type in training is unknown; see :func:`decode`."""
        if self.values_named or self.excludes:
            return VALUES
        return ANY if self.holds_if_missing else self.kind

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
        expected = f"expected {values_text(self.kind)} for the condition {self}"
        raise ValueError(f"column {self.column!r} holds {values_text(column.kind)}, {expected}")


def plain_conditions(rules: Iterable[Any]) -> Iterator[Condition]:
    """Iterate over the conditions of rules on columns of the table, those of the signs of scorecards included once."""
    known: set[Hashable] = set()
    for rule in rules:
        for condition in rule.conditions:
            if isinstance(condition.column, DerivedColumn):
                if condition.column.origin in known:
                    continue
                known.add(condition.column.origin)
            yield from condition.plain_conditions


def _checked_name(name: Any) -> Hashable:
    """Return the name of a column as a Python value; raises an error if no column can have it."""
    try:
        hash(name)
    except TypeError:
        raise TypeError(f"column must be the name of a column, such as a string, got {name!r:.60}") from None
    if equals_no_name(name):
        raise ValueError(f"column must be the name of a column; NaN, NaT and NA equal no name, got {name!r:.60}")
    return plain(name)


def canonical_value(value: Any, column: Hashable) -> Any:
    """Return a value that a condition lists in its one form; raises an error that names the column."""
    if is_missing(value):
        raise ValueError(f"a value of a condition on {column!r} must not be missing, got {value!r}; see IsMissing")
    try:
        return canonical(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"a condition on {column!r} {error}") from None


def checked_bound(bound: Any, column: Hashable) -> Any:
    """Validate a bound and return it; a date becomes the start of the day, and is truncated to microseconds."""
    if bound is None:
        return None
    dates = isinstance(bound, datetime.date | np.datetime64) and not is_missing(bound)
    bound = bound if dates else plain(bound)
    largest = sys.float_info.max
    if not dates and (not is_number(bound) or not -largest <= bound <= largest):
        raise ValueError(f"a bound of an interval of {column!r} must be a finite number or a date, got {bound!r:.60}")
    return canonical_value(bound, column)


def is_number(value: Any) -> bool:
    """Return whether a value is a real number and not a boolean."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def comparable(bound: Any) -> Any:
    """Return a number or a date as a value that numpy compares with float64 or datetime64 values."""
    return np.datetime64(microseconds(bound), "us") if isinstance(bound, datetime.datetime) else float(bound)
