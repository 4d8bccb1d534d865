"""Class probabilities that follow the points of a scorecard: a table of probabilities by points for a rule.

A rule that tests points says more than one number: of two records that it covers, the one with more points is likelier
to have the label that the points are for. The log-odds of this label at s points are ``constant + slope * s``; the
other classes share the rest in the same proportions as under the rule. All rules that follow the same points have one
slope, at least 0. A *band* is a rule that tests nothing but these points, such as ``points >= 6`` or ``3 <= points <=
5``. All bands have nearly the same constant, so that the probability rises steadily from one band to the next. The
constant of any other rule is such that the mean probability of its training records is that of the rule. The
probability is bounded so that the label of the rule stays the likeliest class if it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

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
# Penalties on squares, in records: of the log-odds that the slope gives each sign, of the common constant, of how much
# the constant of a band differs from the common one, and that of another rule. Then steps of Newton's method.
_RIDGE, _RIDGE_CONSTANT, _RIDGE_BAND, _RIDGE_RULE = 1.0, 0.01, 10.0, 0.3
_MAX_STEPS, _TOLERANCE = 200, 1e-10
_SMALLEST = 1e-300  # replaces 0 in denominators
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


def _is_band(conditions: Sequence[Condition], column: ScorecardColumn, leads: bool) -> bool:
    """Return whether a rule tests nothing but the followed points; with a lead, its label must be the leader."""
    others = [one for one in conditions if one.column != column]
    if column.part != LEAD:
        return not others
    return leads and all(_is_leader(one, column.scorecard) for one in others)


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
    is_band : whether the rule tests nothing but the followed points, such as ``3 <= points <= 5``
    """

    column: ScorecardColumn
    label: int
    points: range
    counts: Mapping[int, Integers]
    shares: Floats
    rule_label: int
    is_band: bool = False

    @property
    def share(self) -> float:
        """The probability of the followed label under the rule, neither 0 nor 1."""
        return min(max(float(self.shares[self.label]), _TINY), 1 - _TINY)

    def table(self, curve: Curve) -> PointsTable:
        """Return the probabilities for each number of points."""
        low, high = self._bounds()
        rows = []
        for s in self.points:
            p = min(max(_logistic(curve.constant + curve.slope * s), low), high)
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
        others = np.delete(self.shares, self.label)
        rest = 1 - float(self.shares[self.label])
        rest = rest if rest >= _TINY else max(float(others.sum()), _SMALLEST)  # the difference is rounded
        largest = float(others.max(initial=0.0)) / rest  # of the other classes, as a share of what is left
        if self.rule_label == self.label:
            # p = (1 + margin) * (1 - p) * largest
            limit = (1 + _MARGIN) * largest / (1 + (1 + _MARGIN) * largest)
            return min(limit, float(self.shares[self.label])), 1 - _TINY
        limit = largest / (1 + _MARGIN + largest)
        return _TINY, max(limit, min(float(self.shares[self.label]), own))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _logistics(x: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -500, 500))))


def counts_by_points(
    points: Integers, codes: Integers, n_classes: int, weights: Weights | None = None
) -> dict[int, Integers]:
    """Return the class counts of some records by points, ascending; by weight, if they have weights."""
    levels, which = np.unique(points, return_inverse=True)
    counts = count_by(which.reshape(-1) * n_classes + codes, levels.size * n_classes, weights)
    counts = counts.reshape(levels.size, n_classes)
    return dict(zip(levels.tolist(), counts, strict=True))


class Curve(NamedTuple):
    """The log-odds of the followed label of a rule: ``constant + slope * points``."""

    constant: float
    slope: float


def fit_curves(rules: Sequence[FollowedRule], class_weights: Sequence[float] | None) -> list[Curve]:
    """Return the curve of each rule, by maximum likelihood of the followed labels with a ridge penalty.

    Rules that follow the same column have one slope, at least 0. The constant of a band is drawn towards a common one,
    so that neighbouring bands have nearly one curve. The constant of any other rule is such that the mean probability
    of its records is that of the rule.
    """
    weights = _scaled(class_weights, rules)
    curves: dict[int, Curve] = {}
    for column in dict.fromkeys(rule.column for rule in rules):
        own = [j for j, rule in enumerate(rules) if rule.column == column]
        curves.update(zip(own, _fit_column([rules[j] for j in own], weights), strict=True))
    return [curves[j] for j in range(len(rules))]


def _scaled(class_weights: Sequence[float] | None, rules: Sequence[FollowedRule]) -> Floats:
    """Return class weights by which the total weight of the records of all rules is their number."""
    sizes = sum((counts for rule in rules for counts in rule.counts.values()), np.zeros(rules[0].shares.size))
    weights = np.ones(sizes.size) if class_weights is None else np.array(class_weights, np.float64)
    relative = weights / max(float(weights.max()), _SMALLEST)
    total = float(sizes @ relative)
    return relative * (float(sizes.sum()) / total) if total > 0 else np.ones(sizes.size)


def _fit_column(rules: Sequence[FollowedRule], weights: Floats) -> list[Curve]:
    """Return the curves of rules that follow the same column."""
    rows = [(j, s, counts * weights) for j, rule in enumerate(rules) for s, counts in rule.counts.items()]
    of_rule = np.array([j for j, _, _ in rows], np.int64)
    points = np.array([s for _, s, _ in rows], np.float64)
    ones = np.array([weighted[rules[j].label] for j, _, weighted in rows])
    total = np.array([weighted.sum() for _, _, weighted in rows])
    centre = float(points @ total / total.sum()) if total.sum() > 0 else 0.0
    spread = max(float(np.abs(points - centre).max(initial=0.0)), 1.0)
    # A constant, the points, and the constant of each rule beside the common one.
    design = np.zeros((len(rows), 2 + len(rules)))
    design[:, 0], design[:, 1] = 1.0, (points - centre) / spread
    design[np.arange(len(rows)), 2 + of_rule] = 1.0
    ridge_slope = _RIDGE * max(_squared_points(rules[0].column), 1.0) / spread**2
    ridge = np.array([_RIDGE_CONSTANT, ridge_slope, *(_RIDGE_BAND if rule.is_band else _RIDGE_RULE for rule in rules)])
    fitted = _logistic_regression(design, ones, total, ridge)
    if fitted[1] < 0:
        design[:, 1] = 0.0
        fitted = _logistic_regression(design, ones, total, ridge)
    slope = float(fitted[1]) / spread
    constants = fitted[0] + fitted[2:] - slope * centre
    for j, rule in enumerate(rules):
        if not rule.is_band:
            own = of_rule == j
            constants[j] = _constant(rule.share, slope * (points[own] - centre), total[own]) - slope * centre
    return [Curve(float(constant), slope) for constant in constants]


def _squared_points(column: ScorecardColumn) -> float:
    """Return the sum of the squared points of all signs for the label of a column; for a lead, the mean over labels."""
    given = [points for sign in column.scorecard.signs for points in sign.points.items()]
    if column.part == LEAD:
        return sum(float(n) ** 2 for _, n in given) / len(column.scorecard.labels)
    label = column.scorecard.labels[0] if column.label is None else column.label
    return sum(float(n) ** 2 for own, n in given if own == label)


def _logistic_regression(design: Floats, ones: Floats, total: Floats, ridge: Floats) -> Floats:
    """Return the coefficients with the smallest penalised loss, by Newton's method; steps are halved if it rises.

    Parameters
    ----------
    design : array (n, n_coefficients)
    ones, total : arrays (n,), the weight of the records of the label and of all records
    ridge : array (n_coefficients,), the penalty on half of each squared coefficient
    """

    def loss(coefficients: Floats) -> float:
        scores = design @ coefficients
        return float((total * np.logaddexp(0.0, scores) - ones * scores).sum() + ridge @ coefficients**2 / 2)

    found = np.zeros(ridge.size)
    lowest = loss(found)
    for _ in range(_MAX_STEPS):
        p = _logistics(design @ found)
        gradient = design.T @ (ones - total * p) - ridge * found
        step = np.linalg.solve((design * (total * p * (1 - p))[:, None]).T @ design + np.diag(ridge), gradient)
        following = loss(found + step)
        while following > lowest and np.abs(step).max() > _TOLERANCE:
            step = step / 2
            following = loss(found + step)
        if following > lowest:
            break
        found, lowest = found + step, following
        if np.abs(step).max() <= _TOLERANCE:
            break
    return found


def _constant(share: float, offsets: Floats, total: Floats) -> float:
    """Return the constant with which the mean of the probabilities is ``share``; the mean rises in the constant.

    Without records, ``share`` is the probability at the mean points of all rules, where offsets are 0.
    """
    middle = math.log(share / (1 - share))
    if not total.sum() > 0:
        return middle
    low, high = middle - float(offsets.max()), middle - float(offsets.min())
    while high - low > _TOLERANCE * max(1.0, abs(low), abs(high)):
        middle = (low + high) / 2
        is_low = float(_logistics(middle + offsets) @ total / total.sum()) < share
        low, high = (middle, high) if is_low else (low, middle)
    return (low + high) / 2


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
            conditions, own = all_rules[j].conditions, int(labels[j])
            found = followed_column(conditions)
            if found is not None:
                column, label = found
                position = rule_set.classes.index(label)
                is_band = _is_band(conditions, column, position == own)
                possible = points_of_rule(column, conditions)
                followed[j] = FollowedRule(column, position, possible, by_points, shares[j], own, is_band)
    fitted = fit_curves(list(followed.values()), rule_set.class_weights) if followed else []
    curves = dict(zip(followed, fitted, strict=True))
    tables = [followed[j].table(curves[j]) if j in followed else None for j in range(len(all_rules))]
    changed = [replace(rule, points_table=table) for rule, table in zip(all_rules, tables, strict=True)]
    n_rules = len(rule_set.rules)
    return replace(rule_set, rules=tuple(changed[:n_rules]), fallbacks=tuple(changed[n_rules:]))
