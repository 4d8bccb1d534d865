"""Which combinations of conditions on one column can hold together: the possible outcomes of testing one value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.columns import CATEGORY, Column, as_any_values, column_of_values
from diverse_rule_sets._input.values import BOOLEAN, NUMBER, identity, type_of
from diverse_rule_sets.model._condition_base import Condition, Flags, comparable


def possible_outcomes(conditions: Sequence[Condition]) -> Flags:
    """Return the outcomes of testing all possible values, and a missing value, of one column.

    Returns a boolean array (n_outcomes, n_conditions) with different rows. If conditions compare by order, the column
    has the type of their bounds; if they name booleans only, it has no other values; otherwise its values may have any
    type.

    Examples
    --------
    >>> from diverse_rule_sets import Interval
    >>> possible_outcomes([Interval("age", high=30), Interval("age", low=60)]).astype(int).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    kinds = {condition.kind for condition in conditions if condition.comparisons}
    values = [value for condition in conditions for value in condition.values_named]
    types = {CATEGORY if getattr(one, "mixed", False) else type_of(v) for one in conditions for v in one.values_named}
    if len(kinds) == 1:
        column = _ordered(conditions, kinds.pop(), values)
    elif types == {BOOLEAN}:
        column = Column(conditions[0].column, BOOLEAN, np.array([0, 1, -1], np.int32), (False, True))
    else:
        column = _listed(conditions)
    packed = np.packbits([condition.holds(column) for condition in conditions], axis=0)  # a row may be very long
    return np.unpackbits(np.unique(packed, axis=1), axis=0, count=len(conditions)).T.astype(np.bool_)


def ascending_outcomes(conditions: Sequence[Condition], order: Sequence[Any] = ()) -> Flags:
    """Return the outcomes of testing values of one column in ascending order, none of them missing.

    The column holds numbers or dates, or categories whose order is given. Returns a boolean array (n_values,
    n_conditions); neighbouring rows may be equal. One row of False if no condition names a value.

    Examples
    --------
    >>> from diverse_rule_sets import Interval
    >>> np.unique(ascending_outcomes([Interval("age", low=60)]).astype(int)).tolist()
    [0, 1]
    """
    if order:
        column = as_any_values(column_of_values("", order))
        positions = [column.positions[identity(value)] for value in order]
        return np.array([condition.holds(column) for condition in conditions]).T[np.argsort(column.values)[positions]]
    values = [value for condition in conditions for value in condition.values_named]
    kinds = {condition.kind for condition in conditions if condition.comparisons} | set(map(type_of, values))
    if len(kinds) != 1:
        return np.zeros((1, len(conditions)), np.bool_)
    column = _ordered(conditions, kinds.pop(), values)
    ascending = np.argsort(column.values, kind="stable")[: np.count_nonzero(~column.missing)]  # missing values are last
    return np.array([condition.holds(column) for condition in conditions]).T[ascending]


def _listed(conditions: Sequence[Condition]) -> Column:
    """Return a column with a value for each group of conditions that name it, another value, and a missing value."""
    known: dict[Any, tuple[Any, list[int]]] = {}
    for k, condition in enumerate(conditions):
        for value in condition.values_named:
            known.setdefault(identity(value), (value, []))[1].append(k)
    values = {tuple(which): value for value, which in known.values()}.values()
    other = next(text for text in (f"other {k}" for k in range(len(known) + 1)) if identity(text) not in known)
    return as_any_values(column_of_values(conditions[0].column, [*values, other, None]))


def _ordered(conditions: Sequence[Condition], kind: str, values: Sequence[Any]) -> Column:
    """Return a column of numbers or dates: every bound and value, what is next to it, and a missing value."""
    bounds = [bound for condition in conditions for _, bound in condition.comparisons]
    points = [comparable(value) for value in [*bounds, *values] if type_of(value) == kind]
    if kind == NUMBER:
        near = [
            near for point in points for near in (math.nextafter(point, -math.inf), math.nextafter(point, math.inf))
        ]
        return Column(conditions[0].column, NUMBER, np.array([*points, *near, math.nan], np.float64))
    step = np.timedelta64(1, "us")
    near = [near for point in points for near in (point - step, point + step)]
    missing = np.datetime64("NaT", "us")
    return Column(conditions[0].column, kind, np.array([*points, *near, missing], "datetime64[us]"))
