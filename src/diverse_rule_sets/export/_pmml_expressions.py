"""Expressions of PMML, for derived fields and outputs."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from diverse_rule_sets.export._pmml_parts import Element, Test, alternatives, child, element, value_text
from diverse_rule_sets.model._conditions import Condition


def derive(local: Element, name: str, expression: Element) -> None:
    """Add a derived field with a number."""
    child(local, "DerivedField", expression, name=name, optype="continuous", dataType="double")


def ref(field: str) -> Element:
    """Return the value of a field."""
    return element("FieldRef", field=field)


def constant(value: Any) -> Element:
    """Return a date, a boolean or a number."""
    data_type = "dateTime" if isinstance(value, datetime.date) else "boolean" if isinstance(value, bool) else "double"
    constant = element("Constant", dataType=data_type)
    constant.text = value_text(value)
    return constant


def apply(function: str, *arguments: Element, **attributes: Any) -> Element:
    """Return the call of a function."""
    return element("Apply", *arguments, function=function, **attributes)


def choose(test: Element, value: Element, otherwise: Element) -> Element:
    """Return one of two values, depending on a test."""
    return apply("if", test, value, otherwise)


def add(terms: Sequence[Element]) -> Element:
    """Return the sum of some terms."""
    return apply("sum", *terms) if terms else constant(0.0)


def largest_position(fields: Sequence[str], largest: str, order: Sequence[int]) -> Element:
    """Return the position of the first field, in an order of positions, that has the largest value."""
    position = constant(float(order[-1]))
    for k in reversed(order[:-1]):
        position = choose(apply("equal", ref(fields[k]), ref(largest)), constant(float(k)), position)
    return position


def all_hold(conditions: Iterable[Condition], fields: Mapping[Hashable, str]) -> Element:
    """Return whether all conditions hold."""
    tests = [
        _joined("or", [_compare(fields[condition.column], test) for test in some])
        for condition in conditions
        for some in alternatives(condition)
    ]
    return _joined("and", tests)


def _joined(operator: str, tests: list[Element]) -> Element:
    if not tests:
        return constant(operator == "and")
    return tests[0] if len(tests) == 1 else apply(operator, *tests)


def _compare(field: str, test: Test) -> Element:
    """Return one comparison as an expression; it is false for a missing value, whatever the operator."""
    operator, value = test
    if value is None:
        return apply(operator, ref(field))
    if isinstance(value, str):  # in an attribute: XML readers change line ends in the text of an element
        equal = element("NormDiscrete", field=field, value=value, mapMissingTo=0)
        return apply(operator, equal, constant(1.0))
    return apply(operator, ref(field), constant(value), mapMissingTo=False)
