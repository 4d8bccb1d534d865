"""Pieces of a PMML document: elements, values as text, the tests that a condition consists of.

Names and values are text of attributes, escaped by the XML library and in no other way.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from typing import Any
from xml.etree import ElementTree

from diverse_rule_sets.export._values import check_known, exact_text
from diverse_rule_sets.model._conditions import Condition

Element = ElementTree.Element
# One comparison: the operator, which predicates and functions call by the same name, and the value if it has one.
Test = tuple[str, Any]

_OPERATORS = {">": "greaterThan", ">=": "greaterOrEqual", "<": "lessThan", "<=": "lessOrEqual"}
# What XML 1.0 can write in no way.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(tag: str, *parts: Element, **attributes: Any) -> Element:
    """Return an element with some parts; attributes that are None are left out."""
    made = Element(tag, {key: value_text(value) for key, value in attributes.items() if value is not None})
    made.extend(parts)
    return made


def child(parent: Element, tag: str, *parts: Element, **attributes: Any) -> Element:
    """Add an element to another and return it."""
    made = element(tag, *parts, **attributes)
    parent.append(made)
    return made


def value_text(value: Any) -> str:
    """Return a value as text: as PMML's types write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        return moment.isoformat()
    if isinstance(value, datetime.date):
        return f"{value.isoformat()}T00:00:00"
    text = value if isinstance(value, str) else exact_text(value)
    found = _UNWRITABLE.search(text)
    if found:
        raise ValueError(f"XML cannot write the character {found[0]!r} of {text[:60]!r}")
    return text


def unused(name: str, taken: Collection[str]) -> str:
    """Return a name, made longer until it is none of those taken."""
    while name in taken:
        name += "_"
    return name


def alternatives(condition: Condition) -> list[list[Test]]:
    """Return the tests of a condition: of each list at least one must come out true."""
    check_known(condition, "PMML")
    if condition.holds_if_missing:
        return [[("isMissing", None)]]
    if condition.comparisons:
        return [[(_OPERATORS[test], bound)] for test, bound in condition.comparisons]
    if condition.excludes:
        return [[("isNotMissing", None)], *([("notEqual", value)] for value in condition.values_named)]
    return [[("equal", value) for value in condition.values_named]]


def simple(field: str, operator: str, value: Any = None) -> Element:
    """Return a predicate: one field compared with one value."""
    return element("SimplePredicate", field=field, operator=operator, value=value)


def combined(operator: str, predicates: list[Element]) -> Element:
    """Return one predicate for several; of none, what the operator gives then."""
    if not predicates:
        return element("True" if operator == "and" else "False")
    if len(predicates) == 1:
        return predicates[0]
    return element("CompoundPredicate", *predicates, booleanOperator=operator)
