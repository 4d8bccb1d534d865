"""Warnings about given rules that cover no record, such as rules with a misspelt value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diverse_rule_sets._input.checks import find_similar, warn
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import format_value
from diverse_rule_sets.model._rule import Rule


def warn_about_empty_rules(given: Sequence[Rule], backend: Backend, table: Table) -> None:
    """Warn about each given rule that covers no record, with the reason; only its columns are read again."""
    for number, rule in enumerate(given):
        if not backend.class_counts(backend.given_cover(number)).any():
            warn(f"given_rules has the rule {rule}: {_reason(rule, table)}")


def _reason(rule: Rule, table: Table) -> str:
    """Return why a rule covers no record."""
    for condition in rule.conditions:
        column = table.column(condition.column)
        if not condition.holds(column).any():
            verb = "meets" if condition.holds_if_missing else "has"
            return f"no record {verb} {condition}{_hint(condition, column)}"
    return "each of its conditions holds for some records, but no record meets all of them"


def _hint(condition: Condition, column: Column) -> str:
    """Return what the values of a column are: the most similar value, or the smallest and the largest one."""
    known = column.values[~column.missing]
    if not known.size:
        return "; all its values are missing" if column.missing.any() else ""
    if column.kind in (NUMBER, DATE, INSTANT):
        zone = "Z" if column.kind == INSTANT else ""
        low, high = (f"{format_value(value.item())}{zone}" for value in (known.min(), known.max()))
        return f"; its values are from {low} to {high}"
    if condition.excludes or not condition.values_named:
        return ""
    counts = np.bincount(known, minlength=len(column.categories))
    frequent = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    values = [column.categories[k] for k in frequent.tolist()]
    similar = [found for value in condition.values_named for found in find_similar(value, values)]
    return f"; did you mean {format_value(similar[0])}?" if similar else ""
