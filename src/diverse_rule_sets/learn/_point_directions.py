"""The direction of columns within scorecards: which conditions on points a monotone constraint allows.

A rule may contain a condition on points if it holds for larger values of a column whenever it holds for smaller ones
(direction "increasing") or the opposite ("decreasing"), the other columns unchanged. This follows from the points that
the signs on the column give to ascending values; missing values do not matter.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Flags
from diverse_rule_sets.model._conditions import Condition, Equals
from diverse_rule_sets.model._outcomes import ascending_outcomes
from diverse_rule_sets.model._ranges import NO_ORDERS, Orders
from diverse_rule_sets.model._scorecards import LEAD, Scorecard, ScorecardColumn


class _Trend(NamedTuple):
    """Whether points never fall, and whether they never rise, as the value of a column rises."""

    never_falls: bool
    never_rises: bool

    def along(self, direction: str) -> _Trend:
        """Return the trend in a direction of the column."""
        return self if direction == "increasing" else _Trend(self.never_rises, self.never_falls)


def banned_cuts(
    conditions: Sequence[Condition],
    directions: Mapping[Hashable, Mapping[int, str]],
    labels: Sequence[Any],
    orders: Orders = NO_ORDERS,
) -> Flags:
    """Return which conditions on points rules of each label may not have, because of the directions of columns.

    Parameters
    ----------
    conditions : conditions on scorecards
    directions : the direction in which rules of a label may use a column, by column and number of the label
    labels : the classes
    orders : the orders of the columns of ordered categories
    """
    banned = np.zeros((len(labels), len(conditions)), np.bool_)
    trends = cache(_trends)
    for name, by_label in directions.items():
        for j, condition in enumerate(conditions):
            column = condition.column
            if isinstance(column, ScorecardColumn) and name in column.scorecard.columns:
                for k, direction in by_label.items():
                    found = {
                        pair: one.along(direction)
                        for pair, one in trends(column.scorecard, name, orders.get(name, ())).items()
                    }
                    banned[k, j] |= not _allows(condition, column, found)
    return banned


def _allows(condition: Condition, column: ScorecardColumn, trends: Mapping[Any, _Trend]) -> bool:
    """Return whether a rule may have a condition, given the trends of points and of their differences.

    ``lead >= 2`` may hold because any label leads, and whether a rule also says which one is not known here. So it is
    allowed only if the column changes no points.
    """
    card = column.scorecard
    if isinstance(condition, Equals):
        compared = [trends[pair] for pair in trends if pair[0] == condition.value and pair[1] is not None]
        return all(one.never_falls for one in compared)
    if column.part == LEAD:
        return all(one.never_falls and one.never_rises for one in trends.values())
    trend = trends[card.labels[0] if column.label is None else column.label, None]
    needed = {">=": trend.never_falls, "<=": trend.never_rises}
    return all(needed[test] for test, _ in condition.comparisons)


def _trends(card: Scorecard, column: Hashable, order: tuple[Any, ...]) -> dict[tuple[Any, Any], _Trend]:
    """Return the trends of the points of each label (label, None), and of each label less those of another one."""
    signs = [sign for sign in card.signs if sign.condition.column == column]
    outcomes = ascending_outcomes([sign.condition for sign in signs], order).astype(np.int64)
    points = {label: outcomes @ [sign.points.get(label, 0) for sign in signs] for label in card.labels}
    found = {(label, None): _trend(own) for label, own in points.items()}
    for label in card.labels:
        for other in card.labels:
            if other != label:
                found[label, other] = _trend(points[label] - points[other])
    return found


def _trend(points: Any) -> _Trend:
    steps = np.diff(points)
    return _Trend(bool((steps >= 0).all()), bool((steps <= 0).all()))
