"""Scorecards in the report page: tables of points, and the numbers from which the script computes points."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._util.colours import MAX_DISTINCT
from diverse_rule_sets.model._points_text import gaps_text, points_groups, probability_name
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import LEADER, Scorecard, ScorecardColumn
from diverse_rule_sets.report._page_model import Field
from diverse_rule_sets.report._plain_text import name_of, phrase


def scorecard_texts(rule_set: RuleSet) -> list[dict[str, Any]]:
    """Return what the page shows of each scorecard; labels are positions among the classes."""
    return [_texts(card, rule_set.classes) for card in rule_set.scorecards]


def _texts(card: Scorecard, classes: Sequence[Any]) -> dict[str, Any]:
    """Return the name, the labels, and the signs of a scorecard with their points for each label (0: none)."""
    return {
        "name": name_of(card.name),
        "labels": [classes.index(label) for label in card.labels],
        "wide": len(card.labels) > MAX_DISTINCT,  # too many labels for a column each
        "base": card.points_of(card.base).tolist(),
        "signs": [
            {"phrase": phrase(sign.condition), "points": card.points_of(sign.points).tolist()} for sign in card.signs
        ],
        "ranges": [list(card.ranges[label]) for label in card.labels],
    }


def steps_of(rule_set: RuleSet) -> list[dict[str, Any] | None]:
    """Return for each rule the probability of its label by points, as text; None if the rule follows no points."""
    return [_steps(rule, rule_set) for rule in rule_set.all_rules]


def _steps(rule: Rule, rule_set: RuleSet) -> dict[str, Any] | None:
    """Return what is shown of the points that a rule follows; a figure is lowest points, highest points, two texts."""
    table = rule.points_table
    if table is None or not rule_set.follows_points:
        return None
    groups = points_groups(rule, rule_set.classes)
    return {
        "name": probability_name(rule_set).capitalize(),
        "column": str(table.column),
        "figures": [[group.low, group.high, group.points_text, group.shares_text(".0%")] for group in groups],
        "note": gaps_text(rule, groups),
    }


def derived_fields(rule_set: RuleSet) -> list[Field]:
    """Return the derived columns that the rules test or follow, without records."""
    tested = [condition.column for rule in rule_set.all_rules for condition in rule.conditions]
    followed = [rule.points_table.column for rule in rule_set.all_rules if rule.points_table is not None]
    columns = [column for column in dict.fromkeys([*tested, *followed]) if isinstance(column, ScorecardColumn)]
    return [_derived_field(column) for column in columns]


def _derived_field(column: ScorecardColumn) -> Field:
    labels = column.scorecard.labels
    choices = labels if column.part == LEADER else ()
    return Field(column.of_sums(np.zeros((0, len(labels)), np.int64)), choices, used=True)


def points_model(rule_set: RuleSet, by_name: Mapping[Hashable, tuple[int, Field]]) -> dict[str, Any]:
    """Return the scorecards, the derived columns and the probabilities by points as plain numbers.

    Parameters
    ----------
    rule_set : the rules
    by_name : the position and the field of each column, those of the table first, then the derived ones
    """
    cards = rule_set.scorecards
    derived = [field for _, field in by_name.values() if isinstance(field.column.name, ScorecardColumn)]
    return {
        "scorecards": [_card_numbers(card, by_name) for card in cards],
        "derived": [field.to_dict() | _part_numbers(field.column.name, cards) for field in derived],
        "points_tables": [_table_numbers(rule, rule_set, by_name) for rule in rule_set.all_rules],
    }


def _card_numbers(card: Scorecard, by_name: Mapping[Hashable, tuple[int, Field]]) -> dict[str, Any]:
    """Return the base points and the signs of a scorecard; points are in the order of its labels."""
    signs = []
    for sign in card.signs:
        position, field = by_name[sign.condition.column]
        signs.append(
            {
                "condition": {"column": position, **field.condition(sign.condition)},
                "points": card.points_of(sign.points).tolist(),
            }
        )
    return {"base": card.points_of(card.base).tolist(), "signs": signs}


def _part_numbers(column: Any, cards: Sequence[Scorecard]) -> dict[str, Any]:
    """Return which part of which scorecard a derived column is."""
    labels = column.scorecard.labels
    label = 0 if column.label is None else labels.index(column.label)
    return {"scorecard": cards.index(column.scorecard), "part": column.part, "label": label}


def _table_numbers(
    rule: Rule, rule_set: RuleSet, by_name: Mapping[Hashable, tuple[int, Field]]
) -> dict[str, Any] | None:
    """Return the class probabilities of a rule by points, with the position of the derived column that it follows."""
    table = rule.points_table
    if table is None or not rule_set.follows_points:
        return None
    return {"column": by_name[table.column][0], "low": table.low, "rows": [list(row) for row in table.rows]}
