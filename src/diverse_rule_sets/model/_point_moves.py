"""Changes of several columns of a record, so that its points meet conditions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.model._axes import Axis, Codes
from diverse_rule_sets.model._conditions import Condition, Equals, Interval
from diverse_rule_sets.model._scorecards import LEAD, Scorecard, ScorecardColumn

# Number of combinations of pieces of several columns that are tried for a record.
_MAX_MOVES = 8192
# Farther from 0 than any sum of points; a bound may be any whole number.
_FAR = 1 << 40


class PiecePoints:
    """The points that each piece of each column gives.

    Parameters
    ----------
    axes : the columns
    scorecards : the scorecards
    """

    def __init__(self, axes: Sequence[Axis], scorecards: Sequence[Scorecard]) -> None:
        self._points: dict[Scorecard, list[Codes]] = {}
        for card in scorecards:
            self._points[card] = []
            for axis in axes:
                points = np.zeros((axis.values.values.size, len(card.labels)), np.int64)
                for sign in card.signs:
                    if sign.condition.column == axis.name:
                        points += sign.condition.holds(axis.values)[:, None] * card.points_of(sign.points)
                self._points[card].append(points)

    def __bool__(self) -> bool:
        return bool(self._points)

    def sums(self, card: Scorecard, codes: Codes) -> Codes:
        """Return the points of records that are given by their pieces: an array (n_records, n_labels)."""
        parts = [points[codes[:, a]] for a, points in enumerate(self._points[card])]
        return np.asarray(sum(parts, start=card.points_of(card.base)))

    def values(self, column: ScorecardColumn, codes: Codes) -> list[Any]:
        """Return the numbers or labels in a column of a scorecard, of records that are given by their pieces."""
        values = column.of_sums(self.sums(column.scorecard, codes))
        return [values.categories[k] if values.categories else k for k in values.values.astype(np.int64).tolist()]

    def lacking(self, conditions: Sequence[Condition], codes: Codes) -> Codes:
        """Return by how many points records, given by their pieces, fail to meet conditions on scorecards."""
        leaders = {column_of(one).scorecard: one.value for one in conditions if isinstance(one, Equals)}
        total = np.zeros(len(codes), np.int64)
        for condition in conditions:
            column = column_of(condition)
            sums, leader = self.sums(column.scorecard, codes), leaders.get(column.scorecard)
            if isinstance(condition, Equals):
                total += np.maximum(0, -_margins(column.scorecard, condition.value, sums, ties=True))
                continue
            if column.part == LEAD and leader is not None:
                values = _margins(column.scorecard, leader, sums, ties=False)
            else:
                values = column.of_sums(sums).values.astype(np.int64)
            for test, bound in condition.comparisons:
                near = min(max(bound, -_FAR), _FAR)
                total += np.maximum(0, near - values if test == ">=" else values - near)
        return total

    def reach(
        self,
        own: Codes,
        start: Codes,
        steps: Sequence[tuple[int, int]],
        distances: Sequence[NDArray[np.float64]],
        conditions: Sequence[Condition],
    ) -> Codes | None:
        """Return the pieces of a record that is changed so that it meets conditions on scorecards.

        One column after the other is changed, always the one that brings the points closest to the conditions, of
        these the nearest. If the only condition is a lower or an upper limit on the points of a label, no other change
        needs fewer columns. Returns None if the conditions cannot be met in this way.

        Parameters
        ----------
        own, start : the pieces of the record, and those to start from
        steps : the pieces that may be used, pairs of a column and a piece
        distances : the distance from the record to each piece of each column
        conditions : the conditions on scorecards
        """
        cell, lacking = start, int(self.lacking(conditions, start[None])[0])
        columns, pieces = np.array(steps, np.int64).reshape(-1, 2).T
        lengths = np.array([distances[a][piece] for a, piece in steps])
        while lacking:
            moved = np.repeat(cell[None], len(steps), axis=0)
            moved[np.arange(len(steps)), columns] = pieces
            after = self.lacking(conditions, moved)
            best = np.lexsort((lengths, (moved != own).sum(axis=1), after))[:1]
            if not best.size or after[best[0]] >= lacking:
                return None
            cell, lacking = moved[best[0]], int(after[best[0]])
        return cell


def column_of(condition: Condition) -> ScorecardColumn:
    """Return the column of a condition on a scorecard."""
    assert isinstance(condition.column, ScorecardColumn)
    return condition.column


def _margins(card: Scorecard, label: Any, sums: Codes, *, ties: bool) -> Codes:
    """Return how many points more than any other label a label has; with ``ties``, one less than those listed first."""
    position = card.labels.index(label)
    others = sums + np.array([ties and k < position for k in range(len(card.labels))], np.int64)
    return np.asarray(sums[:, position] - np.delete(others, position, axis=1).max(axis=1))


def opposites(condition: Condition) -> list[Condition]:
    """Return the conditions on the same column of a scorecard one of which holds if the condition does not."""
    column = column_of(condition)
    if isinstance(condition, Equals):
        return [Equals(column, label) for label in column.scorecard.labels if label != condition.value]
    sides = {">=": lambda bound: Interval(column, high=bound - 1), "<=": lambda bound: Interval(column, low=bound)}
    return [sides[test](bound) for test, bound in condition.comparisons]


def combined_moves(steps: Sequence[Sequence[int]], n_columns: int) -> Codes:
    """Return all choices of steps on different columns, a row each; if there are too many, only of the first steps.

    Parameters
    ----------
    steps : the numbers of the steps along each column, the nearest first
    n_columns : how many columns are changed
    """
    sizes = [len(some) for some in steps]
    while _n_choices(sizes, n_columns) > _MAX_MOVES and max(sizes) > 1:
        largest = sizes.index(max(sizes))
        sizes[largest] = (sizes[largest] + 1) // 2
    if _n_choices(sizes, n_columns) > _MAX_MOVES:
        return np.zeros((0, n_columns), np.int64)
    kept = [some[:size] for some, size in zip(steps, sizes, strict=True) if size]
    rows = [row for chosen in itertools.combinations(kept, n_columns) for row in itertools.product(*chosen)]
    return np.array(rows, np.int64).reshape(-1, n_columns)


def _n_choices(sizes: Sequence[int], n_columns: int) -> int:
    """Return the number of choices of one step each on some columns."""
    counts = [1] + [0] * n_columns
    for size in sizes:
        for k in range(n_columns, 0, -1):
            counts[k] += size * counts[k - 1]
    return counts[n_columns]
