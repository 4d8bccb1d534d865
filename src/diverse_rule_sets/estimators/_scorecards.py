"""Scorecards of a fit: the parameter, learnt or given scorecards as items, and class counts by points."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.checks import Check, check_choice, check_number, warn
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets.learn._constraint_input import CheckedConstraints
from diverse_rule_sets.learn._given_scorecards import read_scorecards
from diverse_rule_sets.learn._learner import Data, LearntRules
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._scorecard_data import add_scorecards, levels_of_learnt, unused_name
from diverse_rule_sets.learn._scorecard_levels import ScorecardLevels
from diverse_rule_sets.learn._scorecards import CrossFitted, cross_fit, learn_scorecard
from diverse_rule_sets.model._checks import shown
from diverse_rule_sets.model._point_probabilities import followed_column
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import Scorecard, scorecards_of

_MAX_SCORECARDS = 20


@dataclass(frozen=True)
class ScorecardsCheck(Check):
    """``"auto"``, None, a number of scorecards, or a list of scorecards, which is checked later with the table."""

    def __call__(self, name: str, value: Any) -> None:
        if value is None or (isinstance(value, str) and value == "auto"):
            return
        if isinstance(value, list | tuple):
            read_scorecards(value)
        elif isinstance(value, numbers.Integral):
            check_number(name, value, numbers.Integral, low=0, high=_MAX_SCORECARDS)
        elif isinstance(value, Scorecard) or (isinstance(value, str) and ":" in value):
            raise TypeError(
                f"{name} must be a list of scorecards, got {shown(value)}; put it into a list: {name}=[...]"
            )
        else:
            check_choice(name, value, ("auto",), ", None, a whole number, or a list of scorecards")


def given_scorecards(value: Any) -> tuple[Scorecard, ...]:
    """Return the given scorecards of a valid value of the parameter; none if scorecards are learnt."""
    return read_scorecards(value) if isinstance(value, list | tuple) else ()


def with_given(data: Data, limits: Limits, labels: Sequence[Any], constraints: CheckedConstraints) -> Data:
    """Return the data with the items of the given scorecards; a warning if no rule can use a scorecard."""
    n_learnt = limits.max_rules - len(constraints.given)
    used = scorecards_of(constraints.given)
    for card, origin in constraints.scorecards if n_learnt < 1 and len(labels) > 1 else ():
        if card not in used:
            warn(f"{origin} is used by no rule: max_rules={limits.max_rules} leaves no rule to learn")
    if not constraints.scorecards or n_learnt < 1:
        return data
    cards = [data.given.levels(one.card) for one in constraints.scorecards]
    return data.with_scorecards(
        add_scorecards(cards, data.encoder, data.backend, data.constraints, constraints.monotone, labels, given=True)
    )


def cross_fitted(data: Data, limits: Limits, max_signs: int, excluded: Sequence[int] = ()) -> CrossFitted | None:
    """Return what cross-fitting says about scorecards on the training records; None if it cannot say anything."""
    backend, columns = data.backend, data.encoder.columns
    measures, constraints, support = data.measures, data.constraints, limits.min_support
    return cross_fit(backend, columns, measures, constraints, support, max_signs, excluded, limits.deadline)


def with_learnt(
    data: Data,
    limits: Limits,
    table: Table,
    labels: Sequence[Any],
    constraints: CheckedConstraints,
    first: CrossFitted | None,
    n_scorecards: int,
    max_signs: int,
) -> Data:
    """Return the data with the items of learnt scorecards; unchanged if none is learnt.

    Parameters
    ----------
    data, limits : the data and limits of the search
    table, labels : the table and the classes
    constraints : the constraints on columns
    first : the result of cross-fitting without scorecards
    n_scorecards, max_signs : maximum number of scorecards and of signs
    """
    cards = list[ScorecardLevels]()
    of_rules = [one.card for one in constraints.of_rules]
    found = first
    while found is not None and len(cards) < n_scorecards:
        learnt = learn_scorecard(found, data.backend.n_classes, max_signs, limits.deadline)
        if learnt is None or limits.deadline.passed():  # no rule would be found that tests it
            break
        name = unused_name(table.names, [*of_rules, *(levels.card for levels in cards)], labels)
        cards.append(levels_of_learnt(learnt, data.encoder, data.backend, labels, name))
        if len(cards) < n_scorecards:
            used = {column for levels in cards for column in levels.card.columns}
            excluded = [item for item, condition in enumerate(data.encoder.conditions) if condition.column in used]
            found = cross_fitted(data, limits, max_signs, excluded)
    if not cards:
        return data
    return data.with_scorecards(
        add_scorecards(cards, data.encoder, data.backend, data.constraints, constraints.monotone, labels)
    )


def counts_by_points(learnt: LearntRules, data: Data, rule_set: RuleSet) -> dict[int, dict[int, Integers]]:
    """Return the class counts by points of each rule and fallback rule that follows points, by its position."""
    backend = data.backend
    covers = [rule.cover for rule in data.constraints.given] + [
        backend.cover(step.body) for step in learnt.found.learnt
    ]
    uncovered = backend.difference(backend.everything, learnt.found.covered)
    for fallback in learnt.fallbacks:
        cover = backend.intersection(backend.cover(fallback.body), uncovered)
        uncovered = backend.difference(uncovered, cover)
        covers.append(cover)
    counts = {}
    for j, (rule, cover) in enumerate(zip(rule_set.all_rules, covers, strict=True)):
        followed = followed_column(rule.conditions)
        if followed is not None:
            column = followed[0]
            counts[j] = data.levels(column.scorecard).counts_by_points(column, cover)
    return counts
