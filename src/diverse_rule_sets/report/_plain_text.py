"""Conditions as text in plain English, without operators."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from diverse_rule_sets.model._conditions import Condition, Equals, IsIn
from diverse_rule_sets.model._counts import Count, count_text
from diverse_rule_sets.model._formatting import ANYTHING, format_label, format_name, format_value
from diverse_rule_sets.model._ranges import IsInRange
from diverse_rule_sets.model._scorecards import LEADER, POINTS, ScorecardColumn

_NUMBER_WORDS = {">": "over", ">=": "at least", "<": "under", "<=": "at most"}
_DATE_WORDS = {">": "after", ">=": "from", "<": "before", "<=": "up to"}


def name_of(column: Hashable) -> str:
    """Return the name of a column, in quotes only if it is empty, or has blanks at its ends or invisible characters."""
    visible = isinstance(column, str) and column.isprintable() and column.strip() == column != ""
    return str(column) if visible else format_name(column)


def value_of(value: Any) -> str:
    """Return a value as text; a string is quoted only if it could be misread in a list of values."""
    return format_value(value) if isinstance(value, str) and ("," in value or " or " in value) else format_label(value)


def phrase(condition: Condition) -> dict[str, Any]:
    """Return the parts of a condition: its column, a verb, and its values, of which one must be met.

    Examples
    --------
    >>> from diverse_rule_sets import Interval, IsIn
    >>> phrase(Interval("age", 37, 60))
    {'column': 'age', 'verb': 'is', 'values': ['over 37 and at most 60']}
    >>> phrase(IsIn("job", ("clerk", "sales")))
    {'column': 'job', 'verb': 'is one of', 'values': ['clerk', 'sales']}
    >>> from diverse_rule_sets import Scorecard
    >>> phrase(Scorecard.parse("points (for ill): 3 if age > 55, 2 if sex = 'F'").between(low=3))
    {'column': 'points', 'verb': 'are', 'values': ['at least 3']}
    """
    verb, values = _verb_and_values(condition)
    return {"column": name_of(condition.column), "verb": verb, "values": values}


def _verb_and_values(condition: Condition) -> tuple[str, list[str]]:
    if isinstance(condition.column, ScorecardColumn):
        return _verb_and_points(condition, condition.column)
    if condition.holds_if_missing:
        return "is missing", []
    if condition.comparisons:
        operators = _NUMBER_WORDS if condition.kind == "number" else _DATE_WORDS
        return "is", [" and ".join(f"{operators[test]} {format_value(bound)}" for test, bound in condition.comparisons)]
    values = [value_of(value) for value in condition.values_named]
    if condition.excludes:
        return "is known, but not" if len(values) == 1 else "is known, but none of", values
    if isinstance(condition, Equals):
        return "is", values
    if isinstance(condition, IsInRange):
        words = [f"{_NUMBER_WORDS[test]} {value_of(bound)}" for test, bound in condition.bounds]
        return "is", [" and ".join(words)]
    return ("is one of", values) if isinstance(condition, IsIn) else ("passes", [str(condition)])


def _verb_and_points(condition: Condition, column: ScorecardColumn) -> tuple[str, list[str]]:
    """Return the verb and the values of a condition on a scorecard."""
    if column.part == LEADER:
        return "for", [value_of(value) for value in condition.values_named]
    bounds = [format_value(bound) for _, bound in condition.comparisons]
    words = [f"{_NUMBER_WORDS[test]} {format_value(bound)}" for test, bound in condition.comparisons]
    verb = "are" if column.part == POINTS and column.scorecard.name.casefold().startswith("points") else "is"
    return verb, [bounds[0] if len(bounds) == 2 and bounds[0] == bounds[1] else " and ".join(words)]


def sentence(phrases: Sequence[dict[str, Any]]) -> str:
    """Join phrases to one line of text.

    Examples
    --------
    >>> from diverse_rule_sets import Interval, IsMissing
    >>> sentence([phrase(Interval("age", 37)), phrase(IsMissing("job"))])
    'age is over 37 and job is missing'
    """
    parts = (" ".join([p["column"], p["verb"], ", ".join(p["values"])]).strip() for p in phrases)
    return " and ".join(parts) or ANYTHING


def with_noun(n: Count, noun: str, plural: str | None = None) -> str:
    """Return a number with a noun in singular or plural.

    Examples
    --------
    >>> with_noun(1, "rule"), with_noun(1234, "class", "classes")
    ('1 rule', '1,234 classes')
    """
    return f"{count_text(n)} {noun if n == 1 else plural or noun + 's'}"
