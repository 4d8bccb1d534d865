"""Columns and the pieces into which the conditions of a rule set divide them; :mod:`._regions` makes them.

All values of a piece meet the same conditions. Missing values are one piece, always the last.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import CATEGORY, Column
from diverse_rule_sets._input.values import BOOLEAN, NUMBER, identity
from diverse_rule_sets.model._conditions import Condition, Equals, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._formatting import format_value
from diverse_rule_sets.model._ranges import category_range, orders_of

Codes = NDArray[np.int64]

# The distance to a value that occurred in training or that a condition lists, and to a value of which neither is known.
KNOWN, UNKNOWN = 1.0, 2.0
# The largest distance to a value; a missing value is farther than any value.
LARGEST, MISSING = 1e300, 1e301
# A missing value as text; text values are in quotes.
MISSING_TEXT = "missing"
# Up to _FEW values are always named; of more values than _MOST, some are named.
_FEW, _MOST = 3, 8


@dataclass(frozen=True, eq=False)
class Axis:
    """A column and its pieces.

    In this base class every record is a piece and no value is changed: for columns with conditions of an unknown class.

    Parameters
    ----------
    values : a value of each piece
    codes : the piece that contains the value of each record
    destinations : the pieces that a record may be moved to; the missing values only if some condition tests for them
    """

    values: Column
    codes: Codes
    destinations: tuple[int, ...]

    @property
    def name(self) -> Hashable:
        """The name of the column."""
        return self.values.name

    def pieces_of(self, condition: Condition) -> Codes:
        """Return the pieces in which a condition holds."""
        return np.flatnonzero(condition.holds(self.values)) if self.destinations else np.zeros(0, np.int64)

    def distances(self, records: slice) -> NDArray[np.float64]:
        """Return the distances from the values of some records to each piece: an array (records, pieces).

        The distance to a piece without a possible value is infinite.
        """
        return np.zeros((len(self.codes[records]), 0))

    def expand(self, start: int, pieces: Collection[int]) -> tuple[int, ...]:
        """Return those of some pieces that one condition can describe together with the piece to start from."""
        return (start,)

    def condition(self, pieces: Sequence[int]) -> Condition:
        """Return the condition that holds in exactly these pieces, or for some of the values in them."""
        raise TypeError(f"the pieces of the column {self.name!r} are unknown")

    def format(self, value: Any) -> str:
        """Return a value as text."""
        return MISSING_TEXT if value is None else format_value(value)


@dataclass(frozen=True, eq=False)
class CategoricalAxis(Axis):
    """A column of text, booleans or categories.

    Its pieces are the values that conditions list, then all other values (if there are any), then missing values.

    Parameters
    ----------
    known : for each piece without the missing values, its values that occurred in training, or that a condition lists
        if the values in training are not known
    other : the piece of all values that no condition lists, -1 if there is none
    has_others : whether that piece may contain further values
    order : the categories in their order, if they have one; they are the first pieces
    """

    known: tuple[tuple[Any, ...], ...]
    other: int
    has_others: bool
    order: tuple[Any, ...] = ()

    def distances(self, records: slice) -> NDArray[np.float64]:
        """Return 0 for the value of the record, 1 for another value, 2 for a value that is not known."""
        lengths = [KNOWN if values else np.inf for values in self.known]
        if self.other >= 0 and self.has_others and not self.known[self.other]:
            lengths[self.other] = UNKNOWN
        distances = np.tile([*lengths, MISSING], (len(self.codes[records]), 1))
        distances[np.arange(len(distances)), self.codes[records]] = 0
        return distances

    def expand(self, start: int, pieces: Collection[int]) -> tuple[int, ...]:
        """Return the pieces without missing values; if their values are named, only pieces with few values."""
        if start == len(self.known):
            return (start,)
        if start < len(self.order):
            low, high = start, start
            while low - 1 in pieces:
                low -= 1
            while high + 1 in pieces and high + 1 < len(self.order):
                high += 1
            return tuple(range(low, high + 1))
        present = sorted(piece for piece in pieces if piece != len(self.known))
        listed = [piece for piece in present if piece != self.other]
        n_listed = len(self.known) - (self.other >= 0)
        if self.other in present and not self.known[self.other] and self.has_others:
            shorter = start != self.other and len(listed) <= n_listed - len(listed)
            return tuple(listed if shorter else present)
        if self._excludes(present):
            return tuple(present)
        chosen, n_values = [start], len(self.known[start])
        for piece in present:
            n = len(self.known[piece])
            if piece != start and n and n_values + n <= _MOST:
                chosen.append(piece)
                n_values += n
        return tuple(sorted(chosen))

    def condition(self, pieces: Sequence[int]) -> Condition:
        """Return the condition for the values of these pieces; it lists the values that they contain, or the others."""
        if pieces[0] == len(self.known):
            return IsMissing(self.name)
        mixed = self.values.kind == CATEGORY
        first, last = pieces[0], pieces[-1]
        if last < len(self.order) and tuple(pieces) == tuple(range(first, last + 1)):
            return category_range(self.name, self.order, self.order[first], self.order[last], mixed=mixed)
        if self._excludes(pieces):
            excluded = [k for k in range(len(self.known)) if k not in pieces]
            return IsNotIn(self.name, tuple(self.values.categories[k] for k in excluded), mixed)
        values = tuple(value for k in pieces for value in self.known[k])[:_MOST]
        return Equals(self.name, values[0], mixed) if len(values) == 1 else IsIn(self.name, values, mixed)

    def _excludes(self, pieces: Sequence[int]) -> bool:
        """Return whether a condition for these pieces lists the values that they do not contain."""
        if self.other not in pieces:
            return False
        if not self.known[self.other]:
            return self.has_others
        n_values = sum(len(self.known[piece]) for piece in pieces)
        n_excluded = len(self.known) - len(pieces)
        return n_excluded == 0 or (n_excluded <= _MOST and n_values > max(_FEW, n_excluded))


def listed_values(conditions: Sequence[Condition]) -> tuple[Any, ...]:
    """Return the values that conditions list, those of `Equals` first."""
    order = sorted(conditions, key=lambda condition: not isinstance(condition, Equals))
    return distinct(value for condition in order for value in condition.values_named)


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values without repetitions, in the order of first use."""
    return tuple({identity(value): value for value in values}.values())


def destinations(conditions: Sequence[Condition], n_pieces: int) -> tuple[int, ...]:
    """Return the pieces that a record may be moved to; the last, missing values, only if a condition tests for them."""
    missing = any(condition.holds_if_missing for condition in conditions)
    return tuple(range(n_pieces if missing else n_pieces - 1))


def categorical_axis(column: Column, conditions: Sequence[Condition], kind: str, domain: Domain) -> CategoricalAxis:
    """Return the axis of a column of text, booleans or categories.

    Parameters
    ----------
    column : the records
    conditions : all conditions on the column
    kind : the type of the column
    domain : what is known about the values in training
    """
    order = () if kind == BOOLEAN else orders_of(conditions).get(column.name, ())
    listed = (False, True) if kind == BOOLEAN else distinct((*order, *listed_values(conditions)))
    other = -1 if kind == BOOLEAN else len(listed)
    position = {identity(value): k for k, value in enumerate(listed)}
    indices, missing = column.values, len(listed) + (other >= 0)
    if column.kind == NUMBER:
        unique, indices = np.unique(indices, return_inverse=True)
        categories = tuple(unique.tolist())
    else:
        categories = column.categories
    pieces = np.array([*(position.get(identity(value), other) for value in categories), missing], np.int64)
    codes = np.where(column.missing, missing, pieces[indices])
    values = Column(column.name, kind, np.array([*range(missing), -1], np.int32), listed)
    known = _known_values(listed, other, domain)
    axis = destinations(conditions, missing + 1)
    return CategoricalAxis(values, codes, axis, known, other, not domain.is_complete, order)


def _known_values(listed: Sequence[Any], other: int, domain: Domain) -> tuple[tuple[Any, ...], ...]:
    """Return for each piece without the missing values the values that are known."""
    pieces = [(value,) if value in domain else () for value in listed]
    names = set(map(identity, listed))
    others = tuple(value for value in domain.values or () if identity(value) not in names)
    return (*pieces, others) if other >= 0 else tuple(pieces)
