"""Scorecards as part of the data of a search: learnt or given scorecards become items with prices and constraints."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn._local_search import ScorecardPrices
from diverse_rule_sets.learn._scorecard_items import ScorecardItems, scorecard_items
from diverse_rule_sets.learn._scorecards import LearntScorecard
from diverse_rule_sets.model._conditions import Condition, Equals
from diverse_rule_sets.model._formatting import format_name
from diverse_rule_sets.model._scorecards import DEFAULT_NAME, POINTS, Scorecard, ScorecardColumn
from diverse_rule_sets.model._signs import Sign

# For each derived column that counts points, the numbers of points that occur, and the item "at least so many"; -1 for
# the smallest number.
PointItems = dict[ScorecardColumn, dict[int, int]]


@dataclass(frozen=True, eq=False)
class ScorecardData:
    """Scorecards as items.

    Parameters
    ----------
    encoder, backend, constraints : those of the table, with the items of the scorecards
    prices : what the use of a scorecard costs
    points : the items by points
    """

    encoder: Encoder
    backend: Backend
    constraints: Constraints
    prices: ScorecardPrices
    points: PointItems = field(default_factory=dict)

    def wider_items(self) -> dict[int, tuple[int, ...]]:
        """Return, for each cut of points, the cuts in the same direction that hold for more records, nearest first."""
        wider = {}
        for at_least in self.points.values():
            lower = [item for item in at_least.values() if item >= 0]
            upper = [int(self.encoder.opposites[item]) for item in reversed(lower)]
            for items in (lower, upper):
                wider.update({item: tuple(items[:j][::-1]) for j, item in enumerate(items) if item >= 0})
        return wider

    def counts_by_points(self, column: ScorecardColumn, cover: Cover) -> dict[int, Integers]:
        """Return the class counts of the records of a cover, by points."""
        at_least = self.points[column]
        bodies = Lists.of([() if item < 0 else (item,) for item in at_least.values()])
        counts = self.backend.class_counts_of(bodies, cover)
        counts[:-1] -= counts[1:]
        return {level: row for level, row in zip(at_least, counts, strict=True) if row.any()}


class CountedScorecard(NamedTuple):
    """A scorecard, and the records for which each of its signs holds."""

    card: Scorecard
    covers: Sequence[Cover]


def counted_scorecard(
    learnt: LearntScorecard, encoder: Encoder, backend: Backend, labels: Sequence[Any], name: str
) -> CountedScorecard:
    """Return a learnt scorecard in the units of the table."""
    signs = []
    for item in learnt.items:
        points = {pair.label: pair.points for pair in learnt.pairs if pair.item == item}
        signs.append(Sign(encoder.conditions[item], {labels[k]: points[k] for k in sorted(points)}))
    leading = [labels[k] for k in range(len(labels)) if learnt.base or any(pair.label == k for pair in learnt.pairs)]
    base = {labels[k]: n for k, n in enumerate(learnt.base) if n}
    covers = [backend.cover((item,)) for item in learnt.items]
    return CountedScorecard(Scorecard(name, tuple(signs), tuple(leading), base), covers)


def unused_name(columns: Sequence[Hashable], cards: Sequence[Scorecard], labels: Sequence[Any]) -> str:
    """Return a name for a scorecard: ``points``, or ``points (2)`` and so on if a column has one of its names."""
    taken = {format_name(column) for column in columns} | {str(one) for card in cards for one in card.derived_columns()}
    condition = Equals("column", 0)
    number = 1
    while True:
        name = DEFAULT_NAME if number == 1 else f"{DEFAULT_NAME} ({number})"
        several = Scorecard(name, (Sign(condition, dict.fromkeys(labels, 1)),), tuple(labels))
        one = Scorecard(name, (Sign(condition, {labels[0]: 1}),))
        if not taken & {str(column) for card in (one, several) for column in card.derived_columns()}:
            return name
        number += 1


def add_scorecards(
    cards: Sequence[CountedScorecard],
    encoder: Encoder,
    backend: Backend,
    constraints: Constraints,
    directions: Mapping[Hashable, Mapping[int, str]],
    labels: Sequence[Any],
) -> ScorecardData:
    """Return the data of a search with the items of scorecards.

    Parameters
    ----------
    cards : the scorecards
    encoder, backend, constraints : the data without them
    directions : the direction in which rules of a label may use a column, by column and number of the label
    labels : the classes
    """
    of_item = [-1] * backend.n_items
    points: PointItems = {}
    for number, (card, covers) in enumerate(cards):
        items = _separating(backend, scorecard_items(backend, card, covers))
        first = backend.n_items
        banned = _banned_items(items.conditions, directions, labels)
        encoder = encoder.extended(items.conditions, items.columns, items.opposites)
        backend = backend.with_items(items.covers)
        constraints = _extended(constraints, encoder.columns, banned)
        of_item += [number] * len(items.conditions)
        for column, levels in items.levels.items():
            at_least = {
                condition.comparisons[0][1]: first + j
                for j, condition in enumerate(items.conditions)
                if condition.column == column and condition.comparisons[0][0] == ">="
            }
            points[column] = {level: at_least.get(level, -1) for level in levels}
    prices = ScorecardPrices(
        np.array(of_item, np.int64),
        np.array([card.card.n_pairs for card in cards], np.int64),
    )
    return ScorecardData(encoder, backend, constraints, prices, points)


def _separating(backend: Backend, items: ScorecardItems) -> ScorecardItems:
    """Return the items that hold for some records but not for all."""
    kept = [j for j, cover in enumerate(items.covers) if 0 < int(backend.class_counts(cover).sum()) < backend.n_records]
    position = {j: k for k, j in enumerate(kept)}
    return replace(
        items,
        conditions=[items.conditions[j] for j in kept],
        covers=[items.covers[j] for j in kept],
        columns=[items.columns[j] for j in kept],
        opposites=[position.get(items.opposites[j], -1) for j in kept],
    )


def _extended(constraints: Constraints, columns: Integers, banned: Flags) -> Constraints:
    """Return the constraints with flags of the items that are banned for each label, for further items."""
    before = constraints.banned
    if before is None and not banned.any():
        return replace(constraints, columns=columns)
    n_before = columns.size - banned.shape[1]
    known = np.zeros((len(banned), n_before), np.bool_) if before is None else before
    return replace(constraints, columns=columns, banned=np.hstack([known, banned]))


def _banned_items(
    conditions: Sequence[Condition], directions: Mapping[Hashable, Mapping[int, str]], labels: Sequence[Any]
) -> Flags:
    """Return which conditions on points rules of each label may not have, because of the directions of columns.

    If the direction of some column of the signs is given for a label, a rule of this label has no upper bound on the
    points for it, and no lower bound on the points for another label.
    """
    banned = np.zeros((len(labels), len(conditions)), np.bool_)
    for k, label in enumerate(labels):
        restricted = {column for column, by_label in directions.items() if k in by_label}
        for j, condition in enumerate(conditions):
            column = condition.column
            if isinstance(column, ScorecardColumn) and restricted & set(column.scorecard.columns):
                banned[k, j] = any(bound in _forbidden_bounds(column, label) for bound in _bounds(condition))
    return banned


def _bounds(condition: Condition) -> Iterator[str | tuple[str, Any]]:
    """Iterate over what a condition on points demands: ``">="``, ``"<="``, or the label that leads."""
    if isinstance(condition, Equals):
        yield "leader", condition.value
    for test, _ in condition.comparisons:
        yield test


def _forbidden_bounds(column: ScorecardColumn, label: Any) -> list[str | tuple[str, Any]]:
    if column.part == POINTS:
        gets_points = (column.scorecard.labels[0] if column.label is None else column.label) == label
        return ["<=" if gets_points else ">="]
    return ["<=", *(("leader", other) for other in column.scorecard.labels if other != label)]
