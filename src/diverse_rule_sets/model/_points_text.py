"""The probabilities of a rule by points as text: every number of points that records can have, in a few groups."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from diverse_rule_sets.model._figures import digits, weight_word
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._reachable import reachable_points

if TYPE_CHECKING:
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet

# Largest number of groups in a row of probabilities by points.
_MAX_GROUPS = 9


@dataclass(frozen=True)
class PointsGroup:
    """Some numbers of points, and the probabilities of the label of a rule for them.

    Parameters
    ----------
    points : the numbers of points that can occur, ascending
    shares : the probability for each of them
    """

    points: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def low(self) -> int:
        """The smallest number of points."""
        return self.points[0]

    @property
    def high(self) -> int:
        """The largest number of points."""
        return self.points[-1]

    @property
    def points_text(self) -> str:
        """The points as text, such as ``3`` or ``5 to 7``."""
        return points_text(self.low, self.high)

    def shares_text(self, form: str = ".2f") -> str:
        """Return the probabilities as text, such as ``0.81`` or ``0.81 to 0.85``, in the order of the points."""
        ends = sorted((min(self.shares), max(self.shares)), reverse=self.shares[0] > self.shares[-1])
        first, last = (digits(share, form) for share in ends)
        return first if first == last else f"{first} to {last}"


def points_text(low: int, high: int) -> str:
    """Return a range of points as text, such as ``3`` or ``5 to 7``."""
    return str(low) if low == high else f"{low} to {high}"


def points_row(rule: Rule, rule_set: RuleSet) -> str:
    """Return the probability of the label of a rule by points as one line; empty if the rule follows no points."""
    if rule.points_table is None or not rule_set.follows_points:
        return ""
    groups = points_groups(rule, rule_set.classes)
    texts = ", ".join(f"{group.points_text}: {group.shares_text()}" for group in groups)
    note = gaps_text(rule, groups)
    heading = f"{probability_name(rule_set)} of {format_label(rule.label)} by {rule.points_table.column}"
    return f"{heading}: {texts}{f' ({note})' if note else ''}"


def probability_name(rule_set: RuleSet) -> str:
    """Return what probabilities are called: ``balanced probability`` if they treat classes as equally frequent."""
    return f"{weight_word(rule_set)} probability".lstrip()


def gaps_text(rule: Rule, groups: Sequence[PointsGroup]) -> str:
    """Return what is said after the groups of a rule if a reader could miss one; empty if not.

    Numbers of points are missing between two groups, or between a bound in the rule and the first or last group.
    """
    followed = [one for one in rule.conditions if rule.points_table and one.column == rule.points_table.column]
    bounds = [int(bound) for condition in followed for _, bound in condition.comparisons]
    outside = any(not groups[0].low <= bound <= groups[-1].high for bound in bounds)
    between = any(after.low > before.high + 1 for before, after in itertools.pairwise(groups))
    return "others cannot occur" if outside or between else ""


def points_groups(rule: Rule, classes: Sequence[Any]) -> list[PointsGroup]:
    """Return the probabilities of the label of a rule by points: every number of points that can occur, in few groups.

    Numbers of points with equal probabilities, rounded to two digits, are one group; if these are too many,
    probabilities of a group differ by as little as possible.
    """
    table = rule.points_table
    if table is None:
        return []
    points = reachable_points(table.column, rule.conditions) or list(range(table.low, table.high + 1))
    shares = table.probabilities(np.array(points))[:, list(classes).index(rule.label)].tolist()
    for hundredths in range(101):
        groups = _grouped(points, shares, hundredths)
        if len(groups) <= _MAX_GROUPS:
            break
    return groups


def _grouped(points: Sequence[int], shares: Sequence[float], hundredths: int) -> list[PointsGroup]:
    """Return groups of neighbouring points whose probabilities, rounded, differ by at most some hundredths."""
    groups: list[PointsGroup] = []
    for number, share in zip(points, shares, strict=True):
        if groups and _are_near((*groups[-1].shares, share), hundredths):
            groups[-1] = PointsGroup((*groups[-1].points, number), (*groups[-1].shares, share))
        else:
            groups.append(PointsGroup((number,), (share,)))
    return groups


def _are_near(shares: Sequence[float], hundredths: int) -> bool:
    """Return whether rounded probabilities differ by at most some hundredths; by 0 if they are printed equally."""
    if not hundredths:
        return digits(min(shares)) == digits(max(shares))
    return round(100 * max(shares)) - round(100 * min(shares)) <= hundredths
