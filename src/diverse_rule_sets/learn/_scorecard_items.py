"""Items made from items: the cuts of a scorecard, ``points >= t`` and ``points <= t - 1``, leaders and leads.

Once these items exist, the search treats them like all other items: sampling, quality, distances, limits and splits
need no special case. Covers are those of :mod:`._scorecard_levels`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from diverse_rule_sets.data._backend import Cover
from diverse_rule_sets.learn._scorecard_levels import ScorecardLevels
from diverse_rule_sets.model._conditions import Condition, Interval
from diverse_rule_sets.model._scorecards import LEAD, LEADER, POINTS, ScorecardColumn

# Maximum number of cuts of points; of the lead, and of the points for each of several labels.
_MAX_CUTS, _MAX_LABEL_CUTS = 100, 12


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

    def add_cuts(self, column: ScorecardColumn, number: int, levels: ScorecardLevels, most: int) -> None:
        """Add both sides of up to ``most`` cuts between two levels of points."""
        backend, covers = levels.backend, levels.of(column)
        self.levels[column] = tuple(covers)
        at_least, cuts = backend.nothing, levels.cuts(column, most)
        for level in list(covers)[:0:-1]:
            at_least = backend.union(at_least, covers[level])
            if level in cuts:
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


def scorecard_items(levels: ScorecardLevels) -> ScorecardItems:
    """Return the cuts of a scorecard; of many cuts of a column, those that divide the records into equal parts."""
    items, card = ScorecardItems(), levels.card
    if not card.has_leader:
        items.add_cuts(card.column(), 0, levels, _MAX_CUTS)
        return items
    for label, cover in levels.of(card.column(LEADER)).items():
        items.add(card.leads(label), 0, cover)
    items.add_cuts(card.column(LEAD), 1, levels, _MAX_LABEL_CUTS)
    for number, label in enumerate(card.labels, 2):
        items.add_cuts(card.column(POINTS, label), number, levels, _MAX_LABEL_CUTS)
    return items
