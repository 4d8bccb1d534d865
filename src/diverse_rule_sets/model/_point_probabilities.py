"""Class probabilities that follow the points of a scorecard: a table of probabilities by points for a rule.

A rule that tests points says more than one number: of two records that it covers, the one with more points is likelier
to have the label that the points are for. Let p be the probability of this label under the rule. Its log-odds at s
points are those of p plus ``slope * (s - mean points under the rule)``; the other classes share the rest in the same
proportions as under the rule. One slope, at least 0, is fitted for all rules, by maximum likelihood. The probability is
bounded so that the label of the rule stays the likeliest class if it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.values import plain
from diverse_rule_sets._input.weights import Weights, count_by
from diverse_rule_sets.model._checks import error, shown
from diverse_rule_sets.model._conditions import Condition, Equals, is_number
from diverse_rule_sets.model._scorecards import LEAD, POINTS, Scorecard, ScorecardColumn

if TYPE_CHECKING:
    from diverse_rule_sets.model._rules import RuleSet

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# How much likelier than any other class the label of a rule stays, and how far from 0 and 1 a probability stays.
_MARGIN, _TINY = 0.01, 1e-6
# The slope is drawn towards 0 as if a record of variance 1 had no class; steps and tolerance of Newton's method.
_RIDGE, _MAX_STEPS, _TOLERANCE = 1.0, 500, 1e-12
# The largest difference of the sum of probabilities from 1.
_MAX_ERROR = 1e-9


@dataclass(frozen=True)
class PointsTable:
    """The class probabilities of a rule for each number of points.

    Parameters
    ----------
    column : the derived column that the rule follows: the points, the points of a label, or the lead
    low : the number of points of the first row; fewer points have the same probabilities
    rows : for each number of points from ``low`` on, the probability of each class, in the order of the classes of the
        rule set; more points than the last row have the same probabilities as the last row
    """

    column: ScorecardColumn
    low: int
    rows: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.column, ScorecardColumn) or not self.column.counts_points:
            raise ValueError(f"column must be the points or the lead of a scorecard, got {shown(self.column)}")
        object.__setattr__(self, "rows", _check_rows(self.rows))
        low, (smallest, largest) = plain(self.low), self.column.range
        if type(low) is not int or not smallest <= low <= self.high <= largest:
            expected = f"a whole number, and its rows must be for points from {smallest} to {largest}"
            raise ValueError(f"low must be {expected}, got {shown(low)} and {len(self.rows)} rows")
        object.__setattr__(self, "low", low)

    @property
    def high(self) -> int:
        """The number of points of the last row."""
        return self.low + len(self.rows) - 1

    def probabilities(self, points: NDArray[Any]) -> Floats:
        """Return the class probabilities for some numbers of points."""
        positions = np.clip(np.asarray(points).astype(np.int64), self.low, self.high) - self.low
        return np.array(self.rows)[positions]


def _check_rows(rows: Any) -> tuple[tuple[float, ...], ...]:
    """Return rows of class probabilities as tuples; raises ValueError if one of them is not."""
    try:
        checked = tuple(tuple(plain(p) for p in row) for row in rows)
        numbers = all(is_number(p) and p >= 0 for row in checked for p in row)
        equally_long = len({len(row) for row in checked}) == 1
        if numbers and equally_long and all(abs(math.fsum(row) - 1) < _MAX_ERROR for row in checked):
            return tuple(tuple(map(float, row)) for row in checked)
    except (TypeError, OverflowError):
        pass
    raise error("rows", "class probabilities that sum to 1, for one or more points", rows)


def check_points_table(table: Any, conditions: Sequence[Condition]) -> None:
    """Raise an error unless the table of a rule is for the column that its conditions follow."""
    if table is None:
        return
    if not isinstance(table, PointsTable):
        raise TypeError(f"points_table must be a PointsTable or None, got {table!r:.80}")
    followed = followed_column(conditions)
    if followed is None or followed[0] != table.column:
        found = "no column of a scorecard" if followed is None else f"{followed[0]!s:.80}"
        raise ValueError(
            f"points_table must be for the column that the conditions follow, {found}, got {table.column!s:.80}"
        )


def followed_column(conditions: Sequence[Condition]) -> tuple[ScorecardColumn, Any] | None:
    """Return the column of points that a rule follows, and the label that more points make likelier; None without.

    A rule follows the first scorecard that its conditions test: the lead if some label must have the most points,
    otherwise the points of the first condition. ``lead >= 2`` alone says nothing about a label, and is not followed.
    """
    columns = [condition.column for condition in conditions if isinstance(condition.column, ScorecardColumn)]
    card = columns[0].scorecard if columns else None
    own = [one for one in conditions if isinstance(one.column, ScorecardColumn) and one.column.scorecard == card]
    for condition in own:
        if isinstance(condition, Equals) and isinstance(condition.column, ScorecardColumn):
            return condition.column.scorecard.column(LEAD), condition.value
    for condition in own:
        column = condition.column
        if isinstance(column, ScorecardColumn) and column.part == POINTS:
            return column, column.scorecard.labels[0] if column.label is None else column.label
    return None


def points_of_rule(column: ScorecardColumn, conditions: Sequence[Condition]) -> range:
    """Return the numbers of points that records can have which meet the conditions of a rule; at least one number.

    The lead of a label is at most its largest sum of points less the smallest sums of all others.
    """
    smallest, largest = column.range
    if column.part == LEAD:
        largest = min([largest, *(_largest_lead(one) for one in conditions if _is_leader(one, column.scorecard))])
    low, high = smallest, largest
    for condition in conditions:
        for test, bound in condition.comparisons if condition.column == column else ():
            nearest = min(max(smallest, bound), largest)
            low, high = (max(low, nearest), high) if test == ">=" else (low, min(high, nearest))
    return range(low, max(low, high) + 1)


def _is_leader(condition: Condition, card: Scorecard) -> bool:
    column = condition.column
    return isinstance(condition, Equals) and isinstance(column, ScorecardColumn) and column.scorecard == card


def _largest_lead(condition: Condition) -> int:
    """Return the largest possible lead of the label that must have the most points; at least 0."""
    assert isinstance(condition, Equals)
    assert isinstance(condition.column, ScorecardColumn)
    ranges = condition.column.scorecard.ranges
    others = [low for label, (low, _) in ranges.items() if label != condition.value]
    return max(ranges[condition.value][1] - max(others), 0)


@dataclass(frozen=True, eq=False)
class FollowedRule:
    """A rule that follows points, with what is needed to compute its table.

    Parameters
    ----------
    column, label : the points, and the position of the class that more points make likelier
    points : the numbers of points that can occur
    counts : the number of training records of each class, by points
    shares : the class probabilities of the rule
    rule_label : the position of the label of the rule
    """

    column: ScorecardColumn
    label: int
    points: range
    counts: Mapping[int, Integers]
    shares: Floats
    rule_label: int

    @property
    def mean(self) -> float:
        """The mean of the points of the training records of the rule; the middle of the range without records."""
        sizes = {s: float(counts.sum()) for s, counts in self.counts.items()}
        total = sum(sizes.values())
        if not total:
            return (self.points[0] + self.points[-1]) / 2
        return sum(s * n for s, n in sizes.items()) / total

    @property
    def log_odds(self) -> float:
        """The logarithm of the odds of the followed label under the rule."""
        p = min(max(float(self.shares[self.label]), _TINY), 1 - _TINY)
        return math.log(p / (1 - p))

    def table(self, slope: float) -> PointsTable:
        """Return the probabilities for each number of points."""
        mean, log_odds, low, high = self.mean, self.log_odds, *self._bounds()
        rows = []
        for s in self.points:
            p = min(max(_logistic(log_odds + slope * (s - mean)), low), high)
            rows.append(tuple(self._shares_given(p).tolist()))
        return PointsTable(self.column, self.points[0], tuple(rows))

    def _shares_given(self, p: float) -> Floats:
        """Return class probabilities with p for the followed label; the others keep their proportions."""
        others = self.shares.copy()
        others[self.label] = 0.0
        total = others.sum()
        others = others / total if total > 0 else np.where(np.arange(others.size) == self.label, 0.0, 1.0)
        others = others / max(others.sum(), _TINY) * (1 - p)
        others[self.label] = p
        rounded = np.round(others / others.sum(), 12)
        # Equal probabilities become exactly equal here, so that no label depends on rounding errors.
        return np.minimum(rounded, rounded[self.rule_label]) if self._keeps_label else rounded

    @property
    def _keeps_label(self) -> bool:
        """Whether the label of the rule is its likeliest class; a rule that was given may have another label."""
        return bool(self.shares[self.rule_label] == self.shares.max())

    def _bounds(self) -> tuple[float, float]:
        """Return the bounds of the probability of the followed label that keep the label of the rule the likeliest."""
        own = float(self.shares[self.rule_label])
        if not self._keeps_label:
            return _TINY, 1 - _TINY
        rest = max(1 - float(self.shares[self.label]), _TINY)
        others = np.delete(self.shares, self.label)
        largest = float(others.max(initial=0.0)) / rest  # of the other classes, as a share of what is left
        if self.rule_label == self.label:
            # p = (1 + margin) * (1 - p) * largest
            limit = (1 + _MARGIN) * largest / (1 + (1 + _MARGIN) * largest)
            return min(limit, float(self.shares[self.label])), 1 - _TINY
        limit = largest / (1 + _MARGIN + largest)
        return _TINY, max(limit, min(float(self.shares[self.label]), own))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def counts_by_points(
    points: Integers, codes: Integers, n_classes: int, weights: Weights | None = None
) -> dict[int, Integers]:
    """Return the class counts of some records by points, ascending; by weight, if they have weights."""
    levels, which = np.unique(points, return_inverse=True)
    counts = count_by(which.reshape(-1) * n_classes + codes, levels.size * n_classes, weights)
    counts = counts.reshape(levels.size, n_classes)
    return dict(zip(levels.tolist(), counts, strict=True))


def fit_slope(rules: Sequence[FollowedRule], class_weights: Sequence[float] | None) -> float:
    """Return the slope, at least 0, that maximises the weighted likelihood of the followed labels."""
    offsets, steps, ones, alls = [], [], [], []
    for rule in rules:
        for s, counts in rule.counts.items():
            weighted = counts * (1.0 if class_weights is None else np.array(class_weights))
            offsets.append(rule.log_odds)
            steps.append(s - rule.mean)
            ones.append(float(weighted[rule.label]))
            alls.append(float(weighted.sum()))
    x, offset, y, n = (np.array(values, np.float64) for values in (steps, offsets, ones, alls))
    slope, low, high = 0.0, 0.0, math.inf  # the gradient falls in the slope; its root lies between low and high
    for _ in range(_MAX_STEPS):
        p = 1 / (1 + np.exp(-np.clip(offset + slope * x, -500, 500)))
        gradient = float(((y - n * p) * x).sum()) - _RIDGE * slope
        curvature = float((n * p * (1 - p) * x * x).sum()) + _RIDGE
        if slope == 0.0 and gradient <= 0:
            break
        low, high = (slope, high) if gradient > 0 else (low, slope)
        following = slope + min(1.0, gradient / curvature)
        if not low < following < high:
            following = slope if math.isinf(high) else (low + high) / 2
        step, slope = abs(following - slope), following
        if step < _TOLERANCE * max(1.0, slope):
            break
    return slope


def with_tables(rule_set: RuleSet, counts: Mapping[int, Mapping[int, Integers]]) -> RuleSet:
    """Return the rule set with the probabilities by points of its rules and fallback rules, computed anew.

    Parameters
    ----------
    rule_set : the rules, with their class counts
    counts : for the position of each rule that follows points, the class counts of its training records by points (of
        the records that it decides, if it is a fallback rule)
    """
    all_rules, shares = rule_set.all_rules, rule_set.rule_probabilities
    labels = rule_set.labels_of(np.arange(len(all_rules)))
    followed: dict[int, FollowedRule] = {}
    if rule_set.conflict not in ("vote", "counts"):
        for j, by_points in counts.items():
            found = followed_column(all_rules[j].conditions)
            if found is not None:
                column, label = found
                possible = points_of_rule(column, all_rules[j].conditions)
                own = int(labels[j])
                position = rule_set.classes.index(label)
                followed[j] = FollowedRule(column, position, possible, by_points, shares[j], own)
    slope = fit_slope(list(followed.values()), rule_set.class_weights) if followed else 0.0
    tables = [followed[j].table(slope) if j in followed else None for j in range(len(all_rules))]
    changed = [replace(rule, points_table=table) for rule, table in zip(all_rules, tables, strict=True)]
    n_rules = len(rule_set.rules)
    return replace(rule_set, rules=tuple(changed[:n_rules]), fallbacks=tuple(changed[n_rules:]))
