"""The records of each number of points, of each lead and of each leader of a scorecard, learnt or given.

Covers are computed by the backend from sums of points (:meth:`Backend.levels`, :meth:`Backend.leaders`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.columns import CATEGORY, Column
from diverse_rule_sets._input.values import NUMBER
from diverse_rule_sets.data._backend import Backend, Cover, Leaders
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._scorecards import LEAD, LEADER, Scorecard, ScorecardColumn


class ScorecardLevels:
    """The records of each value of the derived columns of a scorecard.

    Parameters
    ----------
    backend : the data; one with further items of the same records may be used as well
    card : the scorecard
    covers : the records for which the condition of each sign holds
    """

    def __init__(self, backend: Backend, card: Scorecard, covers: Sequence[Cover]) -> None:
        self.backend, self.card = backend, card
        self._covers = tuple(covers)
        self._levels: dict[ScorecardColumn, dict[Any, Cover]] = {}
        self._leading: Leaders | None = None

    def of(self, column: ScorecardColumn) -> Mapping[Any, Cover]:
        """Return the records of each value of a derived column: of points, ascending, or of labels that lead."""
        if column not in self._levels:
            find = {LEAD: self._leads, LEADER: self._leaders}.get(column.part)
            self._levels[column] = self._points(column.label) if find is None else find()
        return self._levels[column]

    def cover(self, condition: Condition) -> Cover:
        """Return the records for which a condition on the scorecard holds."""
        column = condition.column
        assert isinstance(column, ScorecardColumn)
        levels = self.of(column)
        values = (
            Column(column, NUMBER, np.array(list(levels), np.float64))
            if column.counts_points
            else Column(column, CATEGORY, np.arange(len(levels), dtype=np.int32), tuple(levels))
        )
        covers = [
            cover for cover, holds in zip(levels.values(), condition.holds(values).tolist(), strict=True) if holds
        ]
        return reduce(self.backend.union, covers, self.backend.nothing)

    def counts_by_points(self, column: ScorecardColumn, cover: Cover) -> dict[int, Integers]:
        """Return the class counts of the records of a cover, by points."""
        levels = self.of(column)
        counts = self.backend.class_counts_within(list(levels.values()), cover)
        return {level: row for level, row in zip(levels, counts, strict=True) if row.any()}

    def cuts(self, column: ScorecardColumn, most: int) -> frozenset[int]:
        """Return the points t of the conditions ``at least t``: all that occur except the fewest points, if not many.

        Of more than ``most``, those are chosen that divide the records into about equal parts.
        """
        levels = list(self.of(column))
        if len(levels) - 1 <= most:
            return frozenset(levels[1:])
        sizes = [self.backend.class_counts(cover).sum() for cover in self.of(column).values()]
        below = np.cumsum(sizes)[:-1]  # the number of records below each of the other levels
        wanted = np.arange(1, most + 1) * self.backend.n_records / (most + 1)
        return frozenset(levels[1 + k] for k in np.unique(np.searchsorted(below[:-1], wanted)).tolist())

    @property
    def constant(self) -> bool:
        """Whether all records have the same points for every label."""
        columns = [column for column in self.card.derived_columns() if column.part not in (LEAD, LEADER)]
        return all(len(self.of(column)) < 2 for column in columns)

    def _points(self, label: Any) -> dict[int, Cover]:
        """Return the records of each number of points for a label."""
        card = self.card
        label = card.labels[0] if label is None else label
        levels = self.backend.levels(self._covers, [sign.points.get(label, 0) for sign in card.signs])
        return {level + card.base.get(label, 0): cover for level, cover in levels.items()}

    def _grouped(self) -> Leaders:
        """Return the records of each leader and of each lead."""
        if self._leading is None:
            card = self.card
            points = [[sign.points.get(label, 0) for label in card.labels] for sign in card.signs]
            base = np.array([card.base.get(label, 0) for label in card.labels], np.int64)
            self._leading = self.backend.leaders(self._covers, np.array(points, np.int64), base)
        return self._leading

    def _leaders(self) -> dict[Any, Cover]:
        """Return the records of which each label leads: of labels with equally many points the first."""
        return dict(zip(self.card.labels, self._grouped().leaders, strict=True))

    def _leads(self) -> dict[int, Cover]:
        """Return the records of each lead, ascending."""
        return dict(self._grouped().leads)
