"""The records of each number of points, of each lead and of each leader of a scorecard, learnt or given.

Covers are computed by the backend from sums of points (:meth:`Backend.levels`).
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.columns import CATEGORY, Column
from diverse_rule_sets._input.values import NUMBER
from diverse_rule_sets.data._backend import Backend, Cover
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
        self._ahead: dict[tuple[Any, Any], _AtLeast] | None = None

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
        counts = {
            level: self.backend.class_counts(self.backend.intersection(records, cover))
            for level, records in self.of(column).items()
        }
        return {level: row for level, row in counts.items() if row.any()}

    def cuts(self, column: ScorecardColumn, most: int) -> frozenset[int]:
        """Return the points t of the conditions ``at least t``: all that occur except the fewest points, if not many.

        Of more than ``most``, those are chosen that divide the records into about equal parts.
        """
        levels = list(self.of(column))
        if len(levels) - 1 <= most:
            return frozenset(levels[1:])
        sizes = [int(self.backend.class_counts(cover).sum()) for cover in self.of(column).values()]
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

    def _at_least(self, label: Any, other: Any, lead: int) -> Cover:
        """Return the records of which a label is ahead of another one by at least so many points."""
        return self._compared()[label, other].cover(lead)

    def _compared(self) -> dict[tuple[Any, Any], _AtLeast]:
        """Return by how many points each label is ahead of each other label."""
        if self._ahead is None:
            self._ahead, card, backend = {}, self.card, self.backend
            for one, other in itertools.combinations(card.labels, 2):
                base = card.base.get(one, 0) - card.base.get(other, 0)
                differences = [sign.points.get(one, 0) - sign.points.get(other, 0) for sign in card.signs]
                levels = {base + level: cover for level, cover in backend.levels(self._covers, differences).items()}
                self._ahead[one, other] = _AtLeast(backend, levels)
                self._ahead[other, one] = _AtLeast(backend, {-level: levels[level] for level in reversed(levels)})
        return self._ahead

    def _leaders(self) -> dict[Any, Cover]:
        """Return the records of which each label leads: of labels with equally many points the first."""
        labels, found = self.card.labels, {}
        for k, label in enumerate(labels):
            behind = [self._at_least(label, other, 1 if j < k else 0) for j, other in enumerate(labels) if j != k]
            found[label] = reduce(self.backend.intersection, behind)
        return found

    def _leads(self) -> dict[int, Cover]:
        """Return the records of each lead, ascending."""
        backend, labels, above = self.backend, self.card.labels, self.backend.nothing
        found: dict[int, Cover] = {}
        possible = {abs(level) for ahead in self._compared().values() for level in ahead.levels}
        for lead in sorted(possible | {0}, reverse=True):
            cover = above
            for label in labels:
                others = (self._at_least(label, other, lead) for other in labels if other != label)
                cover = backend.union(cover, reduce(backend.intersection, others))
            level, above = backend.difference(cover, above), cover
            if backend.class_counts(level).any():
                found[lead] = level
        return dict(sorted(found.items()))


class _AtLeast:
    """The records with at least some number of points.

    Parameters
    ----------
    backend : the data
    levels : the records of each number of points, ascending
    """

    def __init__(self, backend: Backend, levels: Mapping[int, Cover]) -> None:
        self.levels = list(levels)
        covers = list(itertools.accumulate(reversed(list(levels.values())), backend.union))
        self._covers = [*reversed(covers), backend.nothing]

    def cover(self, points: int) -> Cover:
        return self._covers[bisect.bisect_left(self.levels, points)]
