"""Items made from items: the cuts of a scorecard, ``points >= t`` and ``points <= t - 1``, leaders and leads.

Once these items exist, the search treats them like all other items: sampling, quality, distances, limits and splits
need no special case. Covers are computed by the backend from sums of points (:meth:`Backend.levels`).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.model._conditions import Condition, Interval
from diverse_rule_sets.model._scorecards import LEAD, POINTS, Scorecard, ScorecardColumn

# Maximum number of cuts of the points of single labels, if a scorecard gives points to several.
_MAX_LABEL_CUTS = 300


@dataclass
class ScorecardItems:
    """The items of a scorecard: conditions with their covers.

    Parameters
    ----------
    conditions, covers : the conditions, and the records for which each holds
    columns : the derived column of each, as a number from 0
    opposites : the position of the condition that holds for the other records, or -1
    levels : the numbers of points that occur, ascending, of each derived column that counts points
    """

    conditions: list[Condition] = field(default_factory=list)
    covers: list[Cover] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    opposites: list[int] = field(default_factory=list)
    levels: dict[ScorecardColumn, tuple[int, ...]] = field(default_factory=dict)

    def add_cuts(self, column: ScorecardColumn, number: int, levels: Mapping[int, Cover], backend: Backend) -> None:
        """Add both sides of every cut between two levels of points."""
        self.levels[column] = tuple(levels)
        at_least = backend.nothing
        for level in list(levels)[:0:-1]:
            at_least = backend.union(at_least, levels[level])
            position = len(self.conditions)
            self.conditions += [Interval(column, low=level, with_low=True), Interval(column, high=level - 1)]
            self.covers += [at_least, backend.difference(backend.everything, at_least)]
            self.columns += [number, number]
            self.opposites += [position + 1, position]

    def add(self, condition: Condition, number: int, cover: Cover) -> None:
        """Add a condition without an opposite."""
        self.conditions.append(condition)
        self.covers.append(cover)
        self.columns.append(number)
        self.opposites.append(-1)


def scorecard_items(backend: Backend, card: Scorecard, covers: Sequence[Cover]) -> ScorecardItems:
    """Return all cuts of a scorecard; ``covers`` are the records for which the condition of each sign holds."""
    items = ScorecardItems()
    if not card.has_leader:
        (label,) = card.labels
        levels = backend.levels(covers, [sign.points[label] for sign in card.signs])
        items.add_cuts(card.column(), 0, levels, backend)
        return items
    points = {label: [sign.points.get(label, 0) for sign in card.signs] for label in card.labels}
    leads = _Leads(backend, card, covers, points)
    for label in card.labels:
        items.add(card.leads(label), 0, leads.leader(label))
    items.add_cuts(card.column(LEAD), 1, leads.levels(), backend)
    cuts = {label: _shifted(backend.levels(covers, points[label]), card.base.get(label, 0)) for label in card.labels}
    if 2 * sum(len(levels) - 1 for levels in cuts.values()) <= _MAX_LABEL_CUTS:
        for number, (label, levels) in enumerate(cuts.items(), 2):
            items.add_cuts(card.column(POINTS, label), number, levels, backend)
    return items


def _shifted(levels: Mapping[int, Cover], base: int) -> dict[int, Cover]:
    return {level + base: cover for level, cover in levels.items()}


class _Leads:
    """The records of which each label is ahead of each other label, and by how much."""

    def __init__(
        self, backend: Backend, card: Scorecard, covers: Sequence[Cover], points: Mapping[object, Sequence[int]]
    ) -> None:
        self._backend, self._labels = backend, card.labels
        self._ahead: dict[tuple[object, object], dict[int, Cover]] = {}
        for one, other in itertools.combinations(card.labels, 2):
            base = card.base.get(one, 0) - card.base.get(other, 0)
            differences = [a - b for a, b in zip(points[one], points[other], strict=True)]
            levels = _shifted(backend.levels(covers, differences), base)
            self._ahead[one, other] = levels
            self._ahead[other, one] = {-level: cover for level, cover in reversed(levels.items())}

    def at_least(self, label: object, other: object, lead: int) -> Cover:
        """Return the records of which a label is ahead of another one by at least so many points."""
        levels = (cover for level, cover in self._ahead[label, other].items() if level >= lead)
        return reduce(self._backend.union, levels, self._backend.nothing)

    def leader(self, label: object) -> Cover:
        """Return the records of which a label leads: of labels with equally many points the first."""
        cover, before = self._backend.everything, True
        for other in self._labels:
            if other == label:
                before = False
            else:
                cover = self._backend.intersection(cover, self.at_least(label, other, 1 if before else 0))
        return cover

    def levels(self) -> dict[int, Cover]:
        """Return the records of each lead, ascending."""
        backend = self._backend
        largest = max((max(levels, default=0) for levels in self._ahead.values()), default=0)
        found: dict[int, Cover] = {}
        above = backend.nothing
        for lead in range(largest, 0, -1):
            cover = above
            for label in self._labels:
                others = (self.at_least(label, other, lead) for other in self._labels if other != label)
                cover = backend.union(cover, reduce(backend.intersection, others))
            level = backend.difference(cover, above)
            if backend.class_counts(level).any():
                found[lead] = level
            above = cover
        ties = backend.difference(backend.everything, above)
        if backend.class_counts(ties).any():
            found[0] = ties
        return dict(sorted(found.items()))
