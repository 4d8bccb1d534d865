"""The records that given rules cover, and the points that given scorecards give to records."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.data._given import GivenConditions
from diverse_rule_sets.learn._scorecard_levels import ScorecardLevels
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._scorecards import Scorecard, ScorecardColumn


class GivenCovers:
    """The records for which given conditions hold, those on scorecards included.

    Parameters
    ----------
    backend : the data
    conditions : the given conditions on columns of the table, in the order in which the backend numbers them
    """

    def __init__(self, backend: Backend, conditions: GivenConditions) -> None:
        self._backend = backend
        self._conditions = conditions
        self._levels: dict[Scorecard, ScorecardLevels] = {}

    def of_condition(self, condition: Condition) -> Cover:
        """Return the records for which a condition on a column of the table or on a scorecard holds."""
        if isinstance(condition.column, ScorecardColumn):
            return self.levels(condition.column.scorecard).cover(condition)
        return self._backend.given_cover(self._conditions.number(condition))

    def of_conditions(self, conditions: Iterable[Condition]) -> Cover:
        """Return the records for which all conditions hold: the cover of a given rule."""
        return reduce(self._backend.intersection, map(self.of_condition, conditions), self._backend.everything)

    def levels(self, card: Scorecard) -> ScorecardLevels:
        """Return the records by points of a scorecard whose signs are among the given conditions."""
        if card not in self._levels:
            covers = [self.of_condition(sign.condition) for sign in card.signs]
            self._levels[card] = ScorecardLevels(self._backend, card, covers)
        return self._levels[card]
