"""Conditions of rules without what has no effect: needless bounds, and values that cannot occur beside the others.

A rule covers the same training records before and after.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets._input.values import identity
from diverse_rule_sets.data._backend import Backend, Body
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.model._conditions import Condition, Equals, IsIn, IsNotIn
from diverse_rule_sets.model._ranges import IsInRange


class Items(NamedTuple):
    """The training records as items."""

    encoder: Encoder
    backend: Backend

    def n_records(self, bodies: Sequence[Body]) -> list[int]:
        """Return the number of records that have all items of each body."""
        return self.backend.class_counts_of(Lists.of(bodies)).sum(axis=1).tolist() if bodies else []


def without_needless_bounds(items: Items, bodies: Iterable[Body]) -> list[Body]:
    """Return bodies without items that exclude no record, if another item on the same column is left.

    ``3 <= points <= 9`` becomes ``points >= 3`` if no record that meets the other conditions has more than 9 points. Of
    two bounds that can be left out, the one that excludes fewer records by itself is.
    """
    bodies = list(bodies)
    columns = items.encoder.columns.tolist()
    candidates = [_candidates(items, body, columns) for body in bodies]
    n_records = items.n_records(bodies)
    while True:
        asked: list[tuple[int, Body]] = []
        for j, body in enumerate(bodies):
            while candidates[j]:
                item = candidates[j].pop(0)
                if sum(columns[other] == columns[item] for other in body) > 1:
                    asked.append((j, tuple(other for other in body if other != item)))
                    break
        if not asked:
            return bodies
        for (j, shorter), count in zip(asked, items.n_records([body for _, body in asked]), strict=True):
            if count == n_records[j]:
                bodies[j] = shorter


def _candidates(items: Items, body: Body, columns: Sequence[int]) -> list[int]:
    """Return the items of a body on columns with several items, the most frequent one first."""
    used = [columns[item] for item in body]
    several = [item for item in body if used.count(columns[item]) > 1]
    counts = dict(zip(several, items.n_records([(item,) for item in several]), strict=True))
    return sorted(several, key=lambda item: (-counts[item], item))


def with_shortest_lists(
    items: Items, bodies: Sequence[Body], merged: Sequence[Sequence[Condition]]
) -> list[tuple[Condition, ...]]:
    """Return the conditions of rules with as few listed values as possible.

    ``column in {...}`` lists the values of the training records that the rule covers. ``column not in {...}`` lists the
    values of the other training records that meet the other conditions; it is used if it is allowed (``negation``),
    and lists fewer values. One condition is changed after the other: after a ``not in``, the later ones are compared
    with the records that meet the conditions without it.

    Parameters
    ----------
    items : the training records
    bodies : the items of each rule
    merged : the conditions of each rule, one for each column
    """
    found = [list(conditions) for conditions in merged]
    ignored: list[set[Hashable]] = [set() for _ in bodies]
    columns = _Columns(items.encoder)
    for n in range(max(map(len, found), default=0)):
        lists = {j: _Values(some[n], columns) for j, some in enumerate(found) if n < len(some) and _lists(some[n])}
        asked = [body for j, one in lists.items() for body in one.bodies(bodies[j], ignored[j], columns)]
        counts = iter(items.n_records(asked))
        for j, one in lists.items():
            found[j][n] = one.shortest(counts, columns.negation)
            if found[j][n].excludes:
                ignored[j].add(one.condition.column)
    return [tuple(some) for some in found]


def _lists(condition: Condition) -> bool:
    return isinstance(condition, IsIn | IsNotIn) and not isinstance(condition, IsInRange)


class _Columns:
    """The items that test for single values, by column."""

    def __init__(self, encoder: Encoder) -> None:
        self.conditions, self.domains = encoder.conditions, encoder.domains
        self.negation = encoder.options.negation
        self._single: dict[Hashable, list[tuple[Any, int]]] = {}
        for item, one in enumerate(encoder.conditions):
            if isinstance(one, Equals):
                self._single.setdefault(one.column, []).append((one.value, item))

    def single(self, column: Hashable) -> list[tuple[Any, int]]:
        """Return the values of a column that have an item, with the item."""
        return self._single.get(column, [])

    def has_all(self, column: Hashable) -> bool:
        """Return whether all values of a column in training have an item."""
        domain = self.domains[column]
        known = {identity(value) for value, _ in self.single(column)}
        return domain.is_complete and known.issuperset(map(identity, domain.values or ()))


class _Values:
    """The values that a condition on a column allows, and the others, each with its item."""

    def __init__(self, condition: Condition, columns: _Columns) -> None:
        self.condition = condition
        self.has_all = columns.has_all(condition.column)
        named = set(map(identity, condition.values_named))
        single = columns.single(condition.column)
        self.allowed = [pair for pair in single if (identity(pair[0]) in named) != condition.excludes]
        self.others = [pair for pair in single if (identity(pair[0]) in named) == condition.excludes]
        known = {identity(value) for value, _ in single}
        self.without_item = [value for value in condition.values_named if identity(value) not in known]

    def bodies(self, body: Body, ignored: set[Hashable], columns: _Columns) -> list[Body]:
        """Return the bodies that :meth:`shortest` needs the numbers of records of."""
        left_out = {*ignored, self.condition.column}
        beside = [item for item in body if columns.conditions[item].column not in left_out]
        inside = [tuple(sorted({*body, item})) for _, item in self.allowed]
        return inside + [tuple(sorted({*beside, item})) for _, item in self.others]

    def shortest(self, counts: Any, negation: bool) -> Condition:
        """Return the condition that lists the fewest values, from the numbers of records of the bodies."""
        condition: Any = self.condition
        inside = [value for value, _ in self.allowed if next(counts)]
        outside = [value for value, _ in self.others if next(counts)]
        if condition.excludes:
            outside += self.without_item
        else:
            inside += self.without_item
        may_exclude = outside and (condition.excludes or (negation and self.has_all))
        may_list = inside and ((self.has_all and outside) or not condition.excludes)
        if may_exclude and (not may_list or len(outside) < len(inside)):
            return IsNotIn(condition.column, tuple(outside), condition.mixed)
        if not may_list:
            return self.condition
        if len(inside) == 1:
            return Equals(condition.column, inside[0], condition.mixed)
        return IsIn(condition.column, tuple(inside), condition.mixed)
