"""Scorecards for the exporters of programs: which points are needed, conditions as whole numbers, rows by points.

The leader is written as the position of its label in the labels of the scorecard, so that no text is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.values import identity
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._point_probabilities import points_of_rule
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import LEAD, LEADER, POINTS, Scorecard, ScorecardColumn


@dataclass(frozen=True)
class UsedScorecard:
    """What the rules of a rule set use of one scorecard.

    Parameters
    ----------
    number : the number of the scorecard in the rule set, from 1
    card : the scorecard
    columns : the derived columns that are needed: columns of points first, then the leader and the lead. The leader
        and the lead need the points of all labels; the lead needs the leader
    """

    number: int
    card: Scorecard
    columns: tuple[ScorecardColumn, ...]

    @property
    def sums(self) -> list[ScorecardColumn]:
        """The columns of points."""
        return [column for column in self.columns if column.part == POINTS]

    @property
    def leader(self) -> ScorecardColumn | None:
        """The column of the leader, if it is needed."""
        return next((column for column in self.columns if column.part == LEADER), None)

    @property
    def lead(self) -> ScorecardColumn | None:
        """The column of the lead, if it is needed."""
        return next((column for column in self.columns if column.part == LEAD), None)

    @property
    def lowest(self) -> int:
        """The smallest number of points that a label can have."""
        return min(low for low, _ in self.card.ranges.values())


def used_scorecards(rule_set: RuleSet) -> list[UsedScorecard]:
    """Return what the rules use of each scorecard, scorecards in the order of first use."""
    needed = {condition.column for rule in rule_set.all_rules for condition in rule.conditions}
    if rule_set.follows_points:
        needed |= {rule.points_table.column for rule in rule_set.all_rules if rule.points_table is not None}
    return [UsedScorecard(k + 1, card, _needed_columns(card, needed)) for k, card in enumerate(rule_set.scorecards)]


def _needed_columns(card: Scorecard, needed: set[Any]) -> tuple[ScorecardColumn, ...]:
    if not card.has_leader:
        return (card.column(),)
    lead, leader = card.column(LEAD), card.column(LEADER)
    compares = [leader] if needed & {lead, leader} else []
    compares += [lead] if lead in needed else []
    sums = [card.column(POINTS, label) for label in card.labels]
    return (*(column for column in sums if compares or column in needed), *compares)


def base_points(column: ScorecardColumn) -> int:
    """Return the points of a column of points that every record has."""
    return int(column.scorecard.base.get(column.label, 0))


def signs_of(column: ScorecardColumn) -> list[tuple[Condition, int]]:
    """Return the conditions that add to a column of points, and their points."""
    label = column.scorecard.labels[0] if column.label is None else column.label
    return [(sign.condition, sign.points[label]) for sign in column.scorecard.signs if label in sign.points]


def point_tests(condition: Condition) -> list[tuple[str, int]]:
    """Return a condition on a scorecard as comparisons with whole numbers, operators ``>=``, ``<=`` and ``=``.

    Bounds beyond the range of the points are moved next to it, so that they are small numbers in every program.
    """
    column = condition.column
    assert isinstance(column, ScorecardColumn)
    if not column.counts_points:
        positions = {identity(label): k for k, label in enumerate(column.scorecard.labels)}
        return [("=", positions.get(identity(value), -1)) for value in condition.values_named]
    low, high = column.range
    return [(test, min(max(int(bound), low - 1), high + 1)) for test, bound in condition.comparisons]


@dataclass(frozen=True, eq=False)
class FollowedPoints:
    """The class probabilities of a rule that follows points, for all points that a record of the rule can have.

    Parameters
    ----------
    column : the column of points, or the lead
    low : the number of points of the first row
    shares : the class probabilities, an array (n_points, n_classes)
    """

    column: ScorecardColumn
    low: int
    shares: NDArray[np.float64]

    @property
    def high(self) -> int:
        """The number of points of the last row."""
        return self.low + len(self.shares) - 1


def followed_points(rule_set: RuleSet, all_rules: Sequence[Rule]) -> dict[int, FollowedPoints]:
    """Return the probabilities by points, by position of the rule."""
    found: dict[int, FollowedPoints] = {}
    for j, rule in enumerate(all_rules if rule_set.follows_points else ()):
        if rule.points_table is not None:
            points = points_of_rule(rule.points_table.column, rule.conditions)
            shares = rule.points_table.probabilities(np.array(points))
            found[j] = FollowedPoints(rule.points_table.column, points[0], shares)
    return found
