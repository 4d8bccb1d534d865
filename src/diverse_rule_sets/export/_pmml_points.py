"""Scorecards in PMML: derived fields for the points of each label, the leader and the lead."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping

from diverse_rule_sets.export._pmml_expressions import (
    add,
    all_hold,
    apply,
    choose,
    constant,
    derive,
    largest_position,
    ref,
)
from diverse_rule_sets.export._pmml_parts import Element, element, unused
from diverse_rule_sets.export._points import (
    FollowedPoints,
    UsedScorecard,
    base_points,
    followed_points,
    signs_of,
    used_scorecards,
)
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import ScorecardColumn


class Points:
    """The derived fields of a rule set that tests scorecards.

    The leader is the position of its label in the labels of the scorecard.

    Parameters
    ----------
    rule_set : the rule set
    used_names : names that no derived field may have
    """

    def __init__(self, rule_set: RuleSet, used_names: Collection[str]) -> None:
        self._used = used_scorecards(rule_set)
        self._largest = {used.number: unused(f"most points({used.number})", used_names) for used in self._used}
        self.fields: dict[Hashable, str] = {}
        for used in self._used:
            for column in used.columns:
                label = "" if column.label is None else f", {used.card.labels.index(column.label) + 1}"
                self.fields[column] = unused(f"{column.part}({used.number}{label})", used_names)
        self.followed: dict[int, FollowedPoints] = followed_points(rule_set, rule_set.all_rules)

    def declare(self, local: Element, fields: Mapping[Hashable, str]) -> None:
        """Add the fields to the transformations of a model; ``fields`` are the names of the columns of the table."""
        for used in self._used:
            for column in used.sums:
                terms = [
                    choose(all_hold([condition], fields), constant(float(n)), constant(0.0))
                    for condition, n in signs_of(column)
                ]
                derive(local, self.fields[column], add([constant(float(base_points(column))), *terms]))
            if used.leader is not None:
                self._declare_leader(local, used, used.leader)

    def _declare_leader(self, local: Element, used: UsedScorecard, leader: ScorecardColumn) -> None:
        """Add fields for the largest number of points, the first label that has it, and its lead."""
        points, largest = [self.fields[column] for column in used.sums], self._largest[used.number]
        derive(local, largest, apply("max", *map(ref, points)))
        derive(local, self.fields[leader], largest_position(points, largest, range(len(points))))
        if used.lead is not None:
            others = [
                choose(
                    apply("equal", ref(self.fields[leader]), constant(float(k))),
                    constant(float(used.lowest)),
                    ref(name),
                )
                for k, name in enumerate(points)
            ]
            derive(local, self.fields[used.lead], apply("-", ref(largest), apply("max", *others)))

    def level(self, rule: str) -> Element:
        """Return the points that the deciding rule follows, 0 if it follows none; ``rule`` is the field of the rule."""
        level = constant(0.0)
        for column in dict.fromkeys(followed.column for followed in self.followed.values()):
            rules = [
                element("NormDiscrete", field=rule, value=str(j + 1))
                for j, followed in self.followed.items()
                if followed.column == column
            ]
            level = choose(apply("greaterThan", add(rules), constant(0.0)), ref(self.fields[column]), level)
        return level
