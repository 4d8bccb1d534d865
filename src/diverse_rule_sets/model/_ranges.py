"""Ranges of ordered categories, such as ``grade >= "B"``, and the orders that they need."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._input.values import identity
from diverse_rule_sets.model._checks import shown
from diverse_rule_sets.model._condition_base import Condition, DerivedColumn, canonical_value
from diverse_rule_sets.model._conditions import Equals, IsIn
from diverse_rule_sets.model._formatting import format_name, format_value

# The categories of columns from the lowest to the highest, by the name of the column.
Orders = Mapping[Hashable, tuple[Any, ...]]
NO_ORDERS: Orders = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class IsInRange(IsIn):
    """``column >= value``, ``column <= value`` or both, for a column of ordered categories.

    The condition contains the order, so that it needs no table with ordered categories: it holds for the values of the
    range, and all exports list them. It does not hold for a missing value, nor for a category that is not in the order.

    Parameters
    ----------
    column, values : the column, and the values of the range, two or more that follow each other in the order
    mixed : as for :class:`Equals`
    order : all categories, from the lowest to the highest

    Examples
    --------
    >>> print(IsInRange("grade", ("B", "A"), order=("D", "C", "B", "A")))
    grade >= "B"
    """

    order: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "order", checked_order(self.order, self.column))
        positions = self._positions
        if len(self.values) < 2 or positions != list(range(positions[0], positions[0] + len(positions))):
            expected = f"two or more that follow each other in the order {shown(list(self.order))}"
            raise ValueError(f"the values of a range of {self.column!r} must be {expected}, got {shown(self.values)}")

    @property
    def _positions(self) -> list[int]:
        """The positions of the values in the order; -1 for a value that is not in it."""
        position = {identity(value): k for k, value in enumerate(self.order)}
        return [position.get(identity(value), -1) for value in self.values] or [-1]

    @property
    def bounds(self) -> tuple[tuple[str, Any], ...]:
        """Pairs of an operator and a category; a bound that is the end of the order is left out, unless both are."""
        first, last = self._positions[0] == 0, self._positions[-1] == len(self.order) - 1
        low = [(">=", self.values[0])] if not first or last else []
        high = [("<=", self.values[-1])] if not last or first else []
        return (*low, *high)

    @property
    def _identity(self) -> Any:
        return super()._identity, tuple(map(identity, self.order))

    def meet(self, other: Condition) -> Condition:
        """Return the condition for the values that both conditions allow."""
        both = super().meet(other)
        if isinstance(both, IsIn) and isinstance(other, IsInRange) and self._identity[1] == other._identity[1]:
            return IsInRange(self.column, both.values, self.mixed, self.order)
        return both

    def __str__(self) -> str:
        name, bounds = format_name(self.column), self.bounds
        if len(bounds) == 2:
            return f"{format_value(self.values[0])} <= {name} <= {format_value(self.values[-1])}"
        return f"{name} {bounds[0][0]} {format_value(bounds[0][1])}"


def category_range(
    column: Hashable, order: Sequence[Any], low: Any = None, high: Any = None, *,
    with_low: bool = True, with_high: bool = True, mixed: bool = False,
) -> Condition:  # fmt: skip
    """Return the condition for the categories between two bounds; None is no bound.

    Raises ValueError if the order lacks a bound, or if no category is between them.

    Examples
    --------
    >>> print(category_range("grade", ["C", "B", "A"], high="B"))
    grade <= "B"
    >>> print(category_range("grade", ["C", "B", "A"], low="B", with_low=False))
    grade = "A"
    """
    order = checked_order(order, column)
    position = {identity(value): k for k, value in enumerate(order)}
    for bound in (low, high):
        if bound is not None and identity(canonical_value(bound, column)) not in position:
            listed = ", ".join(map(format_value, order[:8])) + (", ..." if len(order) > 8 else "")
            raise ValueError(
                f"the order of {format_name(column)} does not contain {format_value(bound)}; it is {listed}"
            )
    first = 0 if low is None else position[identity(canonical_value(low, column))] + (not with_low)
    last = len(order) - 1 if high is None else position[identity(canonical_value(high, column))] - (not with_high)
    values = order[first : last + 1]
    if not values:
        raise ValueError(f"no category of {format_name(column)} is between the bounds {shown(low)} and {shown(high)}")
    return Equals(column, values[0], mixed) if len(values) == 1 else IsInRange(column, values, mixed, order)


def checked_order(order: Any, column: Hashable) -> tuple[Any, ...]:
    """Return an order of categories; raises an error that names the column unless it has different values."""
    if isinstance(column, DerivedColumn):
        raise ValueError(f"{column} has no order of categories")
    if isinstance(order, str | bytes) or not isinstance(order, Iterable):
        raise TypeError(f"the order of {column!r} must be a list of its categories, got {shown(order)}")
    values = tuple(canonical_value(value, column) for value in order)
    if len(values) < 2 or len(set(map(identity, values))) < len(values):
        raise ValueError(f"the order of {column!r} must be two or more different categories, got {shown(list(values))}")
    return values


def checked_orders(orders: Any) -> Orders:
    """Return the orders that a user gives by the names of columns."""
    if orders is None:
        return NO_ORDERS
    if isinstance(orders, TableOrders):
        return orders
    if not isinstance(orders, Mapping):
        expected = 'a dict of columns to lists of categories, such as {"grade": ["C", "B", "A"]}'
        raise TypeError(f"orders must be {expected}, got {shown(orders)}")
    return {name: checked_order(order, name) for name, order in orders.items()}


class TableOrders(Mapping[Hashable, tuple[Any, ...]]):
    """The orders of a rule set and, for other columns, those of a table, whose columns are read when needed."""

    def __init__(self, table: Table, known: Orders = NO_ORDERS) -> None:
        self._table, self._known = table, known

    def __getitem__(self, name: Hashable) -> tuple[Any, ...]:
        if name in self._known:
            return self._known[name]
        order = self._table.column(name).order if self._table.has_order(name) else ()
        if not order:
            raise KeyError(name)
        return order

    def __iter__(self) -> Iterator[Hashable]:
        return (name for name in dict.fromkeys([*self._known, *self._table.names]) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def side_of(condition: Condition, order: Sequence[Any]) -> tuple[str, int] | None:
    """Return the only bound of a condition within an order: the operator, and the position of the category.

    None if the condition has two bounds or lists values that do not follow each other.

    Examples
    --------
    >>> side_of(Equals("grade", "C"), ("C", "B", "A")), side_of(Equals("grade", "B"), ("C", "B", "A"))
    (('<=', 0), None)
    """
    position = {identity(value): k for k, value in enumerate(order)}
    found = sorted(position.get(identity(value), -1) for value in condition.values_named)
    if not found or found[0] < 0 or condition.excludes or found != list(range(found[0], found[0] + len(found))):
        return None
    if found[0] == 0:
        return "<=", found[-1]
    return (">=", found[0]) if found[-1] == len(order) - 1 else None


def orders_of(conditions: Iterable[Condition]) -> dict[Hashable, tuple[Any, ...]]:
    """Return the orders of the columns that ranges test; raises ValueError if a column has two orders."""
    found: dict[Hashable, tuple[Any, ...]] = {}
    for condition in conditions:
        if isinstance(condition, IsInRange):
            known = found.setdefault(condition.column, condition.order)
            if known is not condition.order and list(map(identity, known)) != list(map(identity, condition.order)):
                orders = f"{shown(list(known))} and {shown(list(condition.order))}"
                raise ValueError(f"the conditions on {condition.column!r} have different orders: {orders}")
    return found


def order_text(column: Hashable, order: Sequence[Any]) -> str:
    """Return the line that a rule set prints for an ordered column.

    Examples
    --------
    >>> print(order_text("grade", ("C", "B", "A")))
    Order of grade: "C" < "B" < "A"
    """
    return f"Order of {format_name(column)}: {' < '.join(map(format_value, order))}"
