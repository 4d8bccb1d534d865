"""Which rules a RuleDisplay draws, and on which columns."""

from __future__ import annotations

import itertools
import numbers
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np

from diverse_rule_sets._input.checks import check_number
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.report._summary import Summary

Features = tuple[Hashable | None, Hashable | None]
# The pair of columns is selected among this number of columns at most.
_MAX_COLUMNS = 20


def rule_numbers(rule: Any, n_rules: int) -> list[int] | None:
    """Validate the numbers of the rules to draw; None means all that can be drawn."""
    if rule is None:
        return None
    listed = list(rule) if isinstance(rule, Sequence | np.ndarray) and not isinstance(rule, str) else [rule]
    if not n_rules and listed == [1]:
        return []  # no rules, and 1 is the default value
    for number in listed:
        check_number("rule", number, numbers.Integral, low=1, high=n_rules)
    return list(dict.fromkeys(int(number) for number in listed))


def feature_pair(summary: Summary, selection: Sequence[int] | None, features: Any) -> Features:
    """Return the columns of the two axes; the second is None if there is only one."""
    if features is not None:
        several = isinstance(features, Sequence | np.ndarray) and not isinstance(features, str)
        listed = list(features) if several else [features]
        if len(listed) not in (1, 2) or len(set(listed)) < len(listed):
            raise ValueError(f"features must be the names of one or two different columns, got {features!r}")
        columns = [_column(summary, name) for name in listed]
        return (columns[0], columns[1] if len(columns) == 2 else None)
    rule_set = summary.rule_set
    rules = rule_set.rules if selection is None else tuple(rule_set.all_rules[j - 1] for j in selection)
    best = _best_pair(rules)
    used = [*best, *(name for name in _by_use(rule_set.all_rules) if name not in best)]
    used = used or summary.table.names
    return (used[0], used[1] if len(used) > 1 else None)


def _column(summary: Summary, name: Any) -> Hashable:
    """Return the column that a name means: one of the table, or else one that a scorecard of the rules derives."""
    if name in summary.table.names:
        return cast(Hashable, name)
    derived = {str(column): column for card in summary.rule_set.scorecards for column in card.derived_columns()}
    if name in derived.values():
        return cast(Hashable, name)
    if name not in derived:
        scorecards = f" or of points ({', '.join(map(repr, derived))})" if derived else ""
        raise ValueError(f"features must be names of columns of X{scorecards}, got {name!r}, which is not a column")
    return derived[name]


def _best_pair(rules: Sequence[Rule]) -> list[Hashable]:
    """Return the two columns on which most rules can be drawn; fewer if the rules use fewer columns."""
    names = _by_use(rules)[:_MAX_COLUMNS]
    if len(names) < 2:
        return names
    pairs = list(itertools.combinations(names, 2))
    counts = [sum(can_draw(rule, pair) for rule in rules) for pair in pairs]
    return list(pairs[int(np.argmax(counts))])


def _by_use(rules: Sequence[Rule]) -> list[Hashable]:
    """Return the columns that rules use, sorted by the number of rules that use them, largest first."""
    uses = Counter(condition.column for rule in rules for condition in rule.conditions)
    return [name for name, _ in uses.most_common()]


def can_draw(rule: Rule, pair: Features) -> bool:
    """Return whether a rule uses both columns, or no other columns."""
    used = {condition.column for condition in rule.conditions}
    return bool(used) and (set(pair) <= used or used <= set(pair))
