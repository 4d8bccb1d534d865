"""Scorecards as part of the data of a search: learnt or given scorecards become items with prices and constraints."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn._point_directions import banned_cuts
from diverse_rule_sets.learn._scorecard_items import ScorecardItems, scorecard_items
from diverse_rule_sets.learn._scorecard_levels import ScorecardLevels
from diverse_rule_sets.learn._scorecard_prices import ScorecardPrices
from diverse_rule_sets.learn._scorecards import LearntScorecard
from diverse_rule_sets.model._conditions import Equals
from diverse_rule_sets.model._formatting import format_name
from diverse_rule_sets.model._scorecards import DEFAULT_NAME, Scorecard
from diverse_rule_sets.model._signs import Sign


@dataclass(frozen=True, eq=False)
class ScorecardData:
    """Scorecards as items.

    Parameters
    ----------
    encoder, backend, constraints : those of the table, with the items of the scorecards
    prices : what the use of learnt scorecards costs. None for given scorecards: their readers know them, and nothing
        was chosen on the training records, so their cuts cost and need as much evidence as conditions on a column
    levels : the records by points of each scorecard
    """

    encoder: Encoder
    backend: Backend
    constraints: Constraints
    prices: ScorecardPrices | None
    levels: Mapping[Scorecard, ScorecardLevels] = field(default_factory=dict)


def levels_of_learnt(
    learnt: LearntScorecard, encoder: Encoder, backend: Backend, labels: Sequence[Any], name: str
) -> ScorecardLevels:
    """Return a learnt scorecard in the units of the table, with the records by points."""
    signs = []
    for item in learnt.items:
        points = {pair.label: pair.points for pair in learnt.pairs if pair.item == item}
        condition = encoder.readable(encoder.conditions[item], in_scorecard=True)
        signs.append(Sign(condition, {labels[k]: points[k] for k in sorted(points)}))
    leading = [labels[k] for k in range(len(labels)) if learnt.base or any(pair.label == k for pair in learnt.pairs)]
    base = {labels[k]: n for k, n in enumerate(learnt.base) if n}
    covers = [backend.cover((item,)) for item in learnt.items]
    return ScorecardLevels(backend, Scorecard(name, tuple(signs), tuple(leading), base), covers)


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
    cards: Sequence[ScorecardLevels],
    encoder: Encoder,
    backend: Backend,
    constraints: Constraints,
    directions: Mapping[Hashable, Mapping[int, str]],
    labels: Sequence[Any],
    given: bool = False,
) -> ScorecardData:
    """Return the data of a search with the items of scorecards.

    Parameters
    ----------
    cards : the scorecards, with the records by points
    encoder, backend, constraints : the data without them
    directions : the direction in which rules of a label may use a column, by column and number of the label
    labels : the classes
    given : whether the scorecards were given, not learnt
    """
    of_item = [-1] * backend.n_items
    for number, levels in enumerate(cards):
        items = _separating(backend, scorecard_items(levels))
        encoder = encoder.extended(items.conditions, items.columns, items.opposites)
        backend = backend.with_items(items.covers)
        constraints = _extended(
            constraints, encoder.columns, banned_cuts(items.conditions, directions, labels, encoder.orders)
        )
        of_item += [number] * len(items.conditions)
    n_signs = [levels.card.n_pairs for levels in cards]
    prices = None if given else ScorecardPrices(np.array(of_item, np.int64), np.array(n_signs, np.int64))
    return ScorecardData(encoder, backend, constraints, prices, {levels.card: levels for levels in cards})


def _separating(backend: Backend, items: ScorecardItems) -> ScorecardItems:
    """Return the items that hold for some records but not for all."""
    kept = [j for j, cover in enumerate(items.covers) if 0 < backend.class_counts(cover).sum() < backend.n_records]
    position = {j: k for k, j in enumerate(kept)}
    return replace(
        items,
        conditions=[items.conditions[j] for j in kept],
        covers=[items.covers[j] for j in kept],
        columns=[items.columns[j] for j in kept],
        opposites=[position.get(items.opposites[j], -1) for j in kept],
    )


def _extended(constraints: Constraints, columns: Integers, banned: Flags) -> Constraints:
    """Return the constraints with flags of the items that are banned for each label, for further items.

    If all items are banned, because no rule can have a condition on a required column, further items are banned too.
    """
    before = constraints.banned
    if before is not None and before.all():
        banned = np.ones_like(banned)
    if before is None and not banned.any():
        return replace(constraints, columns=columns)
    n_before = columns.size - banned.shape[1]
    known = np.zeros((len(banned), n_before), np.bool_) if before is None else before
    return replace(constraints, columns=columns, banned=np.hstack([known, banned]))
