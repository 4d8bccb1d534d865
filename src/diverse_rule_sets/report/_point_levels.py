"""The records of a table by their points, and the points that rules test: the bars and strips of a ScorecardDisplay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from diverse_rule_sets.model._counts import Count, as_counts
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._reachable import reachable_points
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import LEAD, LEADER, POINTS, Scorecard, ScorecardColumn
from diverse_rule_sets.report._summary import Flags, Integers, Summary

# Largest number of bars of a scorecard; if there are more points, neighbouring ones share a bar.
_MAX_BARS = 48


class Level(NamedTuple):
    """The records with some number of points; one bar of the plot.

    Parameters
    ----------
    leader : the label that leads, as text; None if the scorecard is for one label
    low, high : their points, or by how many points the label leads
    class_counts : number of these records of each class
    """

    leader: str | None
    low: int
    high: int
    class_counts: tuple[Count, ...]


class Cut(NamedTuple):
    """The points that a rule tests; one strip of the plot.

    Parameters
    ----------
    number : number of the rule as printed
    label : position of the label of the rule among the classes
    leader : the label that must lead, as text; None for any label, or if the scorecard is for one label
    low, high : the smallest and the largest number of points, or of the lead; None without a bound
    alone : whether the rule has no further conditions
    """

    number: int
    label: int
    leader: str | None
    low: int | None
    high: int | None
    alone: bool


def columns_of_cuts(cuts: Sequence[Cut]) -> list[list[Cut]]:
    """Divide strips into columns in which none overlaps another."""
    columns: list[list[Cut]] = []
    for cut in cuts:
        free = [column for column in columns if not any(_overlap(cut, other) for other in column)]
        if free:
            free[0].append(cut)
        else:
            columns.append([cut])
    return columns


def _overlap(one: Cut, other: Cut) -> bool:
    """Return whether two strips have points in common."""
    if one.leader is not None and other.leader is not None and one.leader != other.leader:
        return False
    lows = [cut.low for cut in (one, other) if cut.low is not None]
    highs = [cut.high for cut in (one, other) if cut.high is not None]
    return not lows or not highs or max(lows) <= min(highs)


def find_cuts(rule_set: RuleSet, card: Scorecard) -> tuple[list[Cut], list[int]]:
    """Return the strips of the rules that test a scorecard, and the numbers of those that have none."""
    cuts, undrawn = [], []
    for number, rule in enumerate(rule_set.all_rules, 1):
        if not any(isinstance(c.column, ScorecardColumn) and c.column.scorecard == card for c in rule.conditions):
            continue
        cut = _cut(number, rule, card, rule_set.classes.index(rule.label))
        if cut is None:
            undrawn.append(number)
        else:
            cuts.append(cut)
    return cuts, undrawn


def _cut(number: int, rule: Rule, card: Scorecard, label: int) -> Cut | None:
    """Return the strip of a rule; None if it tests neither the leader nor the lead of a scorecard of several labels."""
    axis = card.column(LEAD) if card.has_leader else card.column(POINTS)
    leaders = [c.values_named[0] for c in rule.conditions if card.has_leader and c.column == card.column(LEADER)]
    bounds = {test: int(bound) for c in rule.conditions if c.column == axis for test, bound in c.comparisons}
    n_drawn = len(leaders) + any(c.column == axis for c in rule.conditions)
    if not n_drawn:
        return None
    leader = format_label(leaders[0]) if leaders else None
    return Cut(number, label, leader, bounds.get(">="), bounds.get("<="), n_drawn == len(rule.conditions))


def find_levels(summary: Summary, card: Scorecard, cuts: Sequence[Cut]) -> list[Level]:
    """Return the bars of a scorecard, from the lowest: of the last label first, because the first is at the top."""
    if not card.has_leader:
        points = summary.column(card.column(POINTS)).values.astype(np.int64)
        bars = _bars(summary, None, points, np.ones(points.size, np.bool_), cuts, _MAX_BARS)
        return _possible(bars, reachable_points(card.column(POINTS)))
    leads = summary.column(card.column(LEAD)).values.astype(np.int64)
    leaders = summary.column(card.column(LEADER)).values
    tested = {cut.leader for cut in cuts}
    labels = [k for k, label in enumerate(card.labels) if (leaders == k).any() or format_label(label) in tested]
    most = max(_MAX_BARS // max(len(labels), 1), 2)
    groups = []
    for k in reversed(labels):
        name = format_label(card.labels[k])
        own = [cut for cut in cuts if cut.leader in (None, name)]
        bars = _bars(summary, name, leads, leaders == k, own, most)
        groups += _possible(bars, reachable_points(card.column(LEAD), [card.leads(card.labels[k])]))
    return groups


def _possible(bars: list[Level], points: Sequence[int] | None) -> list[Level]:
    """Return the bars without those whose points cannot occur; all bars if it is not known which points can."""
    if points is None:
        return bars
    found = [bar for bar in bars if sum(bar.class_counts) or any(bar.low <= n <= bar.high for n in points)]
    return found or bars


def _bars(
    summary: Summary, leader: str | None, points: Integers, records: Flags, cuts: Sequence[Cut], most: int
) -> list[Level]:
    """Return a bar for each number of points of some records; for several numbers of points if there are too many."""
    bounds = [bound for cut in cuts for bound in (cut.low, cut.high) if bound is not None]
    seen = [*points[records].tolist(), *bounds] or [0]
    low, high = (0 if leader is not None else min(seen)), max(seen)
    width = -(-(high - low + 1) // most)
    return [
        Level(
            leader,
            start,
            start + width - 1,
            tuple(as_counts(summary.count_by_class(records & (points >= start) & (points < start + width)))),
        )
        for start in range(low, high + 1, width)
    ]
