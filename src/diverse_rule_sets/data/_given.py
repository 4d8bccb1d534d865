"""Conditions that the user gave, in rules or as signs of scorecards: their bits are computed, but they are no items."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from diverse_rule_sets._bits.bitset import Flags
from diverse_rule_sets._input.codes import CodesByColumn
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets.model._checks import check_no_codes
from diverse_rule_sets.model._conditions import Condition


class GivenCondition(NamedTuple):
    """A condition on a column of the table, and where it comes from: the start of an error about it."""

    condition: Condition
    origin: str

    def holds(self, column: Column) -> Flags:
        """Return whether the condition holds for each record; an error says where the condition comes from."""
        try:
            return self.condition.holds(column)
        except ValueError as error:
            raise ValueError(f"{self.origin}: {error}") from None


class GivenConditions:
    """Given conditions on columns of the table, numbered from 0; equal conditions have one number.

    Parameters
    ----------
    conditions : the conditions; of equal ones the first is used
    """

    def __init__(self, conditions: Iterable[GivenCondition] = ()) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._conditions: list[GivenCondition] = []
        self._by_column: dict[Hashable, list[int]] = {}
        for given in conditions:
            key = _key(given.condition)
            if key not in self._numbers:
                self._numbers[key] = len(self._conditions)
                self._by_column.setdefault(given.condition.column, []).append(len(self._conditions))
                self._conditions.append(given)

    def number(self, condition: Condition) -> int:
        """Return the number of a condition; raises KeyError if it was not given."""
        return self._numbers[_key(condition)]

    @property
    def columns(self) -> frozenset[Hashable]:
        """The columns that the conditions test."""
        return frozenset(self._by_column)

    def holds(self, column: Column) -> Iterator[tuple[int, Flags]]:
        """Iterate over the conditions on a column: the number of each, and whether it holds for each record."""
        for number in self._by_column.get(column.name, ()):
            yield number, self._conditions[number].holds(column)

    def check_codes(self, codes: CodesByColumn) -> None:
        """Raise ValueError if a condition lists a code for missing values as a value."""
        for given in self._conditions:
            check_no_codes([given.condition], codes, f"{given.origin}: ")

    def __iter__(self) -> Iterator[GivenCondition]:
        return iter(self._conditions)

    def __len__(self) -> int:
        return len(self._conditions)


def _key(condition: Condition) -> Hashable:
    """Return a key that also says whether the column may hold values of several types: equality does not."""
    return condition, getattr(condition, "mixed", False)


NO_CONDITIONS = GivenConditions()
