"""Conditions in plain language, for readers who never saw a formula."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from diverse_rule_sets.model._conditions import Condition, Equals, IsIn
from diverse_rule_sets.model._formatting import ANYTHING, format_label, format_name, format_value

_OF_NUMBERS = {">": "over", ">=": "at least", "<": "under", "<=": "at most"}
_OF_DATES = {">": "after", ">=": "from", "<": "before", "<=": "up to"}


def name_of(column: Hashable) -> str:
    """Return a column's name as it is; marked off only where nothing could be seen of it."""
    seen = isinstance(column, str) and column.isprintable() and column.strip() == column != ""
    return str(column) if seen else format_name(column)


def value_of(value: Any) -> str:
    """Return a value as a person would write it; a string is quoted only where it could be misread in a list."""
    return format_value(value) if isinstance(value, str) and ("," in value or " or " in value) else format_label(value)


def phrase(condition: Condition) -> dict[str, Any]:
    """Return what a condition says: its column, a verb, and values of which one must be met.

    Examples
    --------
    >>> from diverse_rule_sets import Interval, IsIn
    >>> phrase(Interval("age", 37, 60))
    {'column': 'age', 'verb': 'is', 'values': ['over 37 and at most 60']}
    >>> phrase(IsIn("job", ("clerk", "sales")))
    {'column': 'job', 'verb': 'is one of', 'values': ['clerk', 'sales']}
    """
    verb, values = _verb_and_values(condition)
    return {"column": name_of(condition.column), "verb": verb, "values": values}


def _verb_and_values(condition: Condition) -> tuple[str, list[str]]:
    if condition.holds_if_missing:
        return "is missing", []
    if condition.comparisons:
        words = _OF_NUMBERS if condition.kind == "number" else _OF_DATES
        return "is", [" and ".join(f"{words[test]} {format_value(bound)}" for test, bound in condition.comparisons)]
    values = [value_of(value) for value in condition.values_named]
    if condition.excludes:
        return "is known, but not" if len(values) == 1 else "is known, but none of", values
    if isinstance(condition, Equals):
        return "is", values
    return ("is one of", values) if isinstance(condition, IsIn) else ("passes", [str(condition)])


def sentence(phrases: Sequence[dict[str, Any]]) -> str:
    """Return phrases as one line of text.

    Examples
    --------
    >>> from diverse_rule_sets import Interval, IsMissing
    >>> sentence([phrase(Interval("age", 37)), phrase(IsMissing("job"))])
    'age is over 37 and job is missing'
    """
    parts = (" ".join([p["column"], p["verb"], ", ".join(p["values"])]).strip() for p in phrases)
    return " and ".join(parts) or ANYTHING
