"""Parts of a PMML document: elements, values as text, and the tests of a condition.

Names and values are written only as the text of attributes, which the XML library escapes.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from typing import Any
from xml.etree import ElementTree

from diverse_rule_sets.export._points import point_tests
from diverse_rule_sets.export._values import check_known, exact_text
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._scorecards import ScorecardColumn

Element = ElementTree.Element
# One comparison: the operator, whose name is the same in predicates and in functions, and its value or None.
Test = tuple[str, Any]

_OPERATORS = {">": "greaterThan", ">=": "greaterOrEqual", "<": "lessThan", "<=": "lessOrEqual", "=": "equal"}
# Characters that XML 1.0 cannot represent.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(tag: str, *parts: Element, **attributes: Any) -> Element:
    """Return an element with child elements; attributes that are None are left out."""
    new = Element(tag, {key: value_text(value) for key, value in attributes.items() if value is not None})
    new.extend(parts)
    return new


def child(parent: Element, tag: str, *parts: Element, **attributes: Any) -> Element:
    """Add an element to another and return it."""
    new = element(tag, *parts, **attributes)
    parent.append(new)
    return new


def value_text(value: Any) -> str:
    """Return a value as text, in the form of its PMML type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        date = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        return date.isoformat()
    if isinstance(value, datetime.date):
        return f"{value.isoformat()}T00:00:00"
    text = value if isinstance(value, str) else exact_text(value)
    found = _UNWRITABLE.search(text)
    if found:
        raise ValueError(f"XML cannot write the character {found[0]!r} of {text[:60]!r}")
    return text


def unused(name: str, used_names: Collection[str]) -> str:
    """Return the name, with underscores added until it is not one of the used names."""
    while name in used_names:
        name += "_"
    return name


def alternatives(condition: Condition) -> list[list[Test]]:
    """Return the tests of a condition, as lists: of each list at least one test must be true."""
    check_known(condition, "PMML")
    if isinstance(condition.column, ScorecardColumn):
        return [[(_OPERATORS[test], n)] for test, n in point_tests(condition)]
    if condition.holds_if_missing:
        return [[("isMissing", None)]]
    if condition.comparisons:
        return [[(_OPERATORS[test], bound)] for test, bound in condition.comparisons]
    if condition.excludes:
        return [[("isNotMissing", None)], *([("notEqual", value)] for value in condition.values_named)]
    return [[("equal", value) for value in condition.values_named]]


def simple(field: str, operator: str, value: Any = None) -> Element:
    """Return a predicate that compares one field with one value."""
    return element("SimplePredicate", field=field, operator=operator, value=value)


def combined(operator: str, predicates: list[Element]) -> Element:
    """Return one predicate that combines several; without predicates, True for "and", False for "or"."""
    if not predicates:
        return element("True" if operator == "and" else "False")
    if len(predicates) == 1:
        return predicates[0]
    return element("CompoundPredicate", *predicates, booleanOperator=operator)
