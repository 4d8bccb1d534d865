"""Edited scorecards: a sign is added, removed or gets other points, and all counts are computed on given data."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from diverse_rule_sets._input.checks import did_you_mean, warn
from diverse_rule_sets.model._checks import error, shown
from diverse_rule_sets.model._conditions import Condition, Equals
from diverse_rule_sets.model._editing import Examples, as_position, examples_of, known_orders, likeliest_labels, recount
from diverse_rule_sets.model._formatting import label_position
from diverse_rule_sets.model._ranges import NO_ORDERS, Orders, orders_of
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecard_grammar import parse_condition, parse_sign
from diverse_rule_sets.model._scorecards import Scorecard, ScorecardColumn
from diverse_rule_sets.model._signs import Sign


def with_sign(
    rule_set: RuleSet,
    sign: Sign | str,
    X: Any,
    y: Any,
    name: str | None,
    position: int | None,
    sample_weight: Any = None,
) -> RuleSet:
    """Return the rule set with one more sign of a scorecard; see :meth:`RuleSet.with_sign`."""
    card = _scorecard(rule_set, name)
    examples, signs = examples_of(rule_set, X, y, sample_weight), list(card.signs)
    added = _as_sign(sign, card, known_orders(rule_set, X))
    if any(known.condition == added.condition for known in signs):
        raise ValueError(
            f"the scorecard {card.name!r} has the sign {added.condition} already; with_points changes its points"
        )
    signs.insert(len(signs) if position is None else as_position("position", position, len(signs) + 1), added)
    return _with_signs(rule_set, card, signs, examples)


def without_sign(
    rule_set: RuleSet, sign: Sign | Condition | str | int, X: Any, y: Any, name: str | None, sample_weight: Any = None
) -> RuleSet:
    """Return the rule set without one sign of a scorecard; see :meth:`RuleSet.without_sign`."""
    card = _scorecard(rule_set, name)
    position = _find(sign, card)
    if len(card.signs) == 1:
        raise ValueError(
            f"{card.signs[0].condition} is the only sign of the scorecard {card.name!r}; remove the rules that use it"
        )
    signs = [*card.signs[:position], *card.signs[position + 1 :]]
    return _with_signs(rule_set, card, signs, examples_of(rule_set, X, y, sample_weight))


def with_points(
    rule_set: RuleSet,
    sign: Sign | Condition | str | int,
    points: Any,
    X: Any,
    y: Any,
    name: str | None,
    sample_weight: Any = None,
) -> RuleSet:
    """Return the rule set with other points of a sign of a scorecard; see :meth:`RuleSet.with_points`."""
    card = _scorecard(rule_set, name)
    position, signs = _find(sign, card), list(card.signs)
    if not isinstance(points, Mapping):
        if card.has_leader:
            raise TypeError(
                f"points must be a dict of the labels {shown(list(card.labels))} to whole numbers, got {shown(points)}"
            )
        points = {card.labels[0]: points}
    signs[position] = _as_sign(Sign(signs[position].condition, points), card)
    return _with_signs(rule_set, card, signs, examples_of(rule_set, X, y, sample_weight))


def _scorecard(rule_set: RuleSet, name: str | None) -> Scorecard:
    """Return the scorecard with a name; the only one if no name is given."""
    cards = {card.name: card for card in rule_set.scorecards}
    if not cards:
        raise ValueError("the rule set has no scorecards: no rule tests points")
    if name is None and len(cards) == 1:
        return rule_set.scorecards[0]
    if name not in cards:
        hint = "" if name is None else did_you_mean(name, cards)
        raise ValueError(f"scorecard must be one of the names {', '.join(map(repr, cards))}, got {name!r:.60}{hint}")
    return cards[name]


def _as_sign(sign: Any, card: Scorecard, orders: Orders = NO_ORDERS) -> Sign:
    """Return a sign, also from text; its labels become those of the scorecard with the same text."""
    if isinstance(sign, str):
        sign = parse_sign(sign, None if card.has_leader else card.labels[0], orders)
    if not isinstance(sign, Sign):
        raise TypeError(f"sign must be a Sign or a text such as '3 if age > 55', got {shown(sign)}")
    points = {}
    for label, number in sign.points.items():
        position = label_position(label, card.labels)
        if position is None:
            raise error("points", f"points for the labels {shown(list(card.labels))} of the scorecard", label)
        points[card.labels[position]] = number
    return Sign(sign.condition, points)


def _find(sign: Any, card: Scorecard) -> int:
    """Return the position of a sign, given by its number, from 1 in the printed order, by its condition, or itself."""
    if isinstance(sign, numbers.Integral) and not isinstance(sign, bool):
        return as_position("sign", sign, len(card.signs))
    orders = orders_of(one.condition for one in card.signs)
    condition = parse_condition(sign, orders) if isinstance(sign, str) else sign
    condition = condition.condition if isinstance(condition, Sign) else condition
    if not isinstance(condition, Condition):
        raise TypeError(
            f"sign must be a number from 1 to {len(card.signs)}, in the printed order, a Sign, its condition or text, "
            f"got {shown(sign)}"
        )
    conditions = [one.condition for one in card.signs]
    if condition not in conditions:
        raise ValueError(
            f"sign must be a sign of the scorecard {card.name!r} or its number, from 1 to {len(conditions)}, in the "
            f"printed order, got {condition!s:.80}{did_you_mean(str(condition), map(str, conditions))}"
        )
    return conditions.index(condition)


def _with_signs(rule_set: RuleSet, card: Scorecard, signs: list[Sign], examples: Examples) -> RuleSet:
    """Return the rule set with other signs of a scorecard, in all rules and fallback rules that use it."""
    changed = Scorecard(card.name, tuple(signs), card.labels, card.base)
    rules, fallbacks = (
        tuple(_with_scorecard(rule, card, changed) for rule in some) for some in (rule_set.rules, rule_set.fallbacks)
    )
    edited = recount(replace(rule_set, rules=rules, fallbacks=fallbacks), likeliest_labels(rule_set), examples)
    for number, (before, after) in enumerate(zip(rule_set.all_rules, edited.all_rules, strict=True), 1):
        for old, new in zip(before.conditions, after.conditions, strict=True):
            outcome, reason = _fixed_outcome(new)
            if outcome and outcome != _fixed_outcome(old)[0]:
                noun = "rule" if number <= len(rule_set.rules) else "fallback rule"
                warn(f"{noun} {number}, {after!s:.200}: the condition {new} {outcome}, because {reason}")
    return edited


def _with_scorecard(rule: Rule, card: Scorecard, changed: Scorecard) -> Rule:
    """Return a rule that uses a changed scorecard, without probabilities by points."""
    conditions = []
    for condition in rule.conditions:
        column = condition.column
        if isinstance(column, ScorecardColumn) and column.scorecard == card:
            condition = replace(condition, column=replace(column, scorecard=changed))
        conditions.append(condition)
    return replace(rule, conditions=tuple(conditions), points_table=None)


# What is said of a condition that holds for no record, and of one that holds for every record.
_NEVER, _ALWAYS = "can no longer hold", "now always holds"


def _fixed_outcome(condition: Condition) -> tuple[str, str]:
    """Return whether a condition on a scorecard holds for no record or for every record, and why; empty if neither."""
    column = condition.column
    if not isinstance(column, ScorecardColumn):
        return "", ""
    if isinstance(condition, Equals):
        return _fixed_leader(column.scorecard, condition.value)
    low, high = column.range
    reason = f"{column} can be from {low} to {high}"
    tests = [(low, high, bound) if test == ">=" else (-high, -low, -bound) for test, bound in condition.comparisons]
    if any(bound > most for _, most, bound in tests):
        return _NEVER, reason
    return (_ALWAYS, reason) if all(bound <= least for least, _, bound in tests) else ("", "")


def _fixed_leader(card: Scorecard, label: Any) -> tuple[str, str]:
    """Return whether a label never or always has the most points, as far as the ranges of points tell, and why."""
    own, position = card.ranges[label], card.labels.index(label)
    others = [(card.ranges[other], k < position) for k, other in enumerate(card.labels) if k != position]
    if any(own[1] < low + is_first for (low, _), is_first in others):
        return _NEVER, "another label always has more points, or as many and is listed first"
    if all(own[0] >= high + is_first for (_, high), is_first in others):
        return _ALWAYS, "no other label can have more points"
    return "", ""
