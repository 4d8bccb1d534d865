"""The points of scorecards in Python source: variables for the derived columns, and probabilities by points."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from diverse_rule_sets.export._points import base_points, followed_points, point_tests, signs_of, used_scorecards
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import POINTS, ScorecardColumn


class PointSource:
    """The variables of derived columns: ``points_1``, or ``points_1_2`` of the second label; ``leader_1``, ``lead_1``.

    The leader is the position of its label in the labels of the scorecard.

    Parameters
    ----------
    rule_set : the rule set
    """

    def __init__(self, rule_set: RuleSet) -> None:
        self._used = used_scorecards(rule_set)
        self.names: dict[ScorecardColumn, str] = {}
        for used in self._used:
            for column in used.columns:
                part = "" if column.label is None else f"_{used.card.labels.index(column.label) + 1}"
                self.names[column] = f"{column.part}_{used.number}{part}"
        self._followed = followed_points(rule_set, rule_set.all_rules)

    def __bool__(self) -> bool:
        return bool(self.names)

    def tests(self, condition: Condition) -> list[str]:
        """Return the comparisons of a condition on a scorecard."""
        assert isinstance(condition.column, ScorecardColumn)
        name = self.names[condition.column]
        return [f"({name} {'==' if test == '=' else test} {n})" for test, n in point_tests(condition)]

    def sums(self, start: str, term: str, test: Callable[[Condition], str]) -> dict[str, list[str]]:
        """Return the terms of each sum of points.

        Parameters
        ----------
        start, term : how base points ``{n}`` are written, and the points ``{n}`` of a sign with the test ``{test}``
        test : the function that writes the condition of a sign
        """
        return {
            name: [
                start.format(n=base_points(column)),
                *(term.format(n=n, test=test(condition)) for condition, n in signs_of(column)),
            ]
            for column, name in self.names.items()
            if column.part == POINTS
        }

    def compared(self) -> dict[str, str]:
        """Return the variables of the leaders and of the leads, as calls of ``_leader`` and ``_lead``."""
        calls = {}
        for used in self._used:
            points = ", ".join(self.names[column] for column in used.sums)
            for column in (used.leader, used.lead):
                if column is not None:
                    calls[self.names[column]] = f"_{column.part}([{points}])"
        return calls

    @property
    def follows(self) -> bool:
        """Whether the probabilities of some rule depend on points."""
        return bool(self._followed)

    def rows(self) -> list[list[float]]:
        """Return the probabilities of all rules that follow points, by points."""
        return [row for followed in self._followed.values() for row in followed.shares.tolist()]

    def offsets(self, first: int) -> dict[int, int]:
        """Return what to add to the points to get a row, by number of the rule; ``first`` is the first of the rows."""
        sizes = [len(followed.shares) for followed in self._followed.values()]
        starts = itertools.accumulate(sizes, initial=first)
        return {
            j + 1: start - followed.low for (j, followed), start in zip(self._followed.items(), starts, strict=False)
        }

    def followed(self) -> str:
        """Return a dict, by number of the rule, of the points that the rule follows."""
        pairs = (f"{j + 1}: {self.names[followed.column]}" for j, followed in self._followed.items())
        return "{" + ", ".join(pairs) + "}"
