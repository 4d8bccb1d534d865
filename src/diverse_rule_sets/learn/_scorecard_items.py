"""Items made from items: the cuts of a scorecard, ``points >= t`` and ``points <= t - 1``, leaders and leads.

Once these items exist, the search treats them like all other items: sampling, quality, distances, limits and splits
need no special case. Covers are computed by the backend from sums of points (:meth:`Backend.levels`,
:meth:`Backend.leaders`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

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
    base = np.array([card.base.get(label, 0) for label in card.labels], np.int64)
    found = backend.leaders(covers, np.array(list(points.values()), np.int64).T, base)
    for label, cover in zip(card.labels, found.leaders, strict=True):
        items.add(card.leads(label), 0, cover)
    items.add_cuts(card.column(LEAD), 1, found.leads, backend)
    cuts = {label: _shifted(backend.levels(covers, points[label]), card.base.get(label, 0)) for label in card.labels}
    if 2 * sum(len(levels) - 1 for levels in cuts.values()) <= _MAX_LABEL_CUTS:
        for number, (label, levels) in enumerate(cuts.items(), 2):
            items.add_cuts(card.column(POINTS, label), number, levels, backend)
    return items


def _shifted(levels: Mapping[int, Cover], base: int) -> dict[int, Cover]:
    return {level + base: cover for level, cover in levels.items()}
