"""A rule set as PMML 4.4: a RuleSetModel whose first rule that fires speaks, in the order in which rules are asked.

Names and values are text of attributes, escaped by the XML library and in no other way.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable
from typing import Any
from xml.etree import ElementTree

import numpy as np

from diverse_rule_sets._tables import BOOLEAN, DATE, INSTANT, NUMBER
from diverse_rule_sets.conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.export._values import exact_text, kind_of_values
from diverse_rule_sets.rules import Rule, RuleSet

_NAMESPACE = "http://www.dmg.org/PMML-4_4"
_OPERATORS = {">": "greaterThan", ">=": "greaterOrEqual", "<": "lessThan", "<=": "lessOrEqual"}
_TYPES = {
    "number": ("continuous", "double"),
    "boolean": ("categorical", "boolean"),
    "text": ("categorical", "string"),
    "date": ("ordinal", "dateTime"),
    "instant": ("ordinal", "dateTime"),
}
# What XML 1.0 can write in no way.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
DEFAULT = "default"


def to_pmml(rule_set: RuleSet, *, name: str = "rules") -> str:
    """Return the document; see :meth:`RuleSet.to_pmml`."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    decision = rule_set.decision
    if decision.ballots is not None:
        raise ValueError(
            f"conflict is {rule_set.conflict!r}, for which PMML's rule sets have no form; expected 'precision', "
            "'smoothed', 'f1' or 'first': dataclasses.replace(rule_set, conflict='smoothed')"
        )
    fields = {column: _field_name(column) for column in rule_set.columns}
    target = _unused("predicted_label", fields.values())
    root = ElementTree.Element("PMML", {"xmlns": _NAMESPACE, "version": "4.4"})
    header = _child(root, "Header", description="If-then rules; the first that fires speaks.")
    _child(header, "Application", name="diverse-rule-sets")
    _dictionary(root, rule_set, fields, target)
    model = _child(
        root, "RuleSetModel", modelName=name, functionName="classification", algorithmName="diverse-rule-sets"
    )
    _schema(model, fields, target)
    _output(model, rule_set, [*fields.values(), target])
    _rules(model, rule_set, fields)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _child(parent: ElementTree.Element, tag: str, **attributes: Any) -> ElementTree.Element:
    """Add an element; attributes that are None are left out."""
    given = {key: _writable(str(value)) for key, value in attributes.items() if value is not None}
    return ElementTree.SubElement(parent, tag, given)


def _writable(text: str) -> str:
    found = _UNWRITABLE.search(text)
    if found:
        raise ValueError(f"XML cannot write the character {found[0]!r} of {text[:60]!r}")
    return text


def _field_name(column: Hashable) -> str:
    return column if isinstance(column, str) else str(column)


def _unused(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name


def _dictionary(root: ElementTree.Element, rule_set: RuleSet, fields: dict[Hashable, str], target: str) -> None:
    """Declare the columns and the label."""
    if len(set(fields.values())) < len(fields):
        raise ValueError(f"two columns have the same name as text: {sorted(fields.values())}")
    if "" in fields.values():
        raise ValueError("PMML cannot name a column ''; rename it before fitting")
    dictionary = _child(root, "DataDictionary", numberOfFields=len(fields) + 1)
    for column, field in fields.items():
        optype, data_type = _TYPES[_kind(rule_set, column)]
        _child(dictionary, "DataField", name=field, optype=optype, dataType=data_type)
    labels = {bool: "boolean", int: "integer", float: "double"}
    kinds = {labels.get(type(label), "string") for label in rule_set.classes}
    data_type = kinds.pop() if len(kinds) == 1 else "double"
    label = _child(dictionary, "DataField", name=target, optype="categorical", dataType=data_type)
    for one in rule_set.classes:
        _child(label, "Value", value=_value(one))


def _kind(rule_set: RuleSet, column: Hashable) -> str:
    """Return the kind of a column, told by what it is compared with or by training."""
    compared = kind_of_values(rule_set, column)
    if compared != "none":
        return compared
    return {NUMBER: "number", BOOLEAN: "boolean", DATE: "date", INSTANT: "instant"}.get(rule_set.kind(column), "text")


def _schema(model: ElementTree.Element, fields: dict[Hashable, str], target: str) -> None:
    schema = _child(model, "MiningSchema")
    for field in fields.values():
        _child(schema, "MiningField", name=field, invalidValueTreatment="asIs")
    _child(schema, "MiningField", name=target, usageType="target")


def _output(model: ElementTree.Element, rule_set: RuleSet, taken: list[str]) -> None:
    """Give the label, the rule that spoke, and the probabilities under that rule."""
    output = _child(model, "Output")
    rule, label = _unused("rule", taken), _unused("label", taken)
    _child(output, "OutputField", name=label, feature="predictedValue", isFinalResult="true")
    _child(output, "OutputField", name=rule, optype="categorical", dataType="string", feature="entityId")
    shares = rule_set.speaker_probabilities
    names = [*(str(j + 1) for j in range(len(shares) - 1)), DEFAULT]
    for k, one in enumerate(rule_set.classes):
        name = _unused(f"probability({_value(one)})", taken)
        field = _child(
            output, "OutputField", name=name, optype="continuous", dataType="double", feature="transformedValue"
        )
        looked_up = _child(field, "MapValues", outputColumn="probability", dataType="double")
        _child(looked_up, "FieldColumnPair", field=rule, column="rule")
        table = _child(looked_up, "InlineTable")
        for place, share in zip(names, shares[:, k].tolist(), strict=True):
            row = _child(table, "row")
            _child(row, "rule").text = place
            _child(row, "probability").text = repr(share)


def _rules(model: ElementTree.Element, rule_set: RuleSet, fields: dict[Hashable, str]) -> None:
    """Write the rules in the order in which they are asked, then the backups, then the default."""
    shares = rule_set.speaker_probabilities
    default = rule_set.classes.index(rule_set.default)
    part = _child(
        model, "RuleSet", defaultScore=_value(rule_set.default), defaultConfidence=repr(float(shares[-1, default]))
    )
    _child(part, "RuleSelectionMethod", criterion="firstHit")
    everyone = rule_set.rules + rule_set.backups
    order = [*rule_set.decision.order.tolist(), *range(len(rule_set.rules), len(everyone))]
    for j in order:
        rule = everyone[j]
        simple = _simple_rule(part, str(j + 1), rule.label, rule_set, shares[j])
        simple.set("recordCount", str(rule.n_covered))
        simple.set("nbCorrect", str(rule.n_correct))
        simple.insert(0, _predicate(rule, fields))
    last = _simple_rule(part, DEFAULT, rule_set.default, rule_set, shares[-1])
    last.insert(0, ElementTree.Element("True"))


def _simple_rule(part: ElementTree.Element, number: str, label: Any, rule_set: RuleSet, shares: Any) -> Any:
    """Add a rule with its probabilities."""
    own = float(shares[rule_set.classes.index(label)])
    rule = _child(part, "SimpleRule", id=number, score=_value(label), confidence=repr(own))
    for k, one in enumerate(rule_set.classes):
        share = repr(float(np.asarray(shares)[k]))
        _child(rule, "ScoreDistribution", value=_value(one), recordCount=share, probability=share)
    return rule


def _predicate(rule: Rule, fields: dict[Hashable, str]) -> ElementTree.Element:
    """Return the test whether a rule covers a record."""
    tests = [test for condition in rule.conditions for test in _tests(condition, fields[condition.column])]
    return _joined("and", tests) if tests else ElementTree.Element("True")


def _tests(condition: Condition, field: str) -> list[ElementTree.Element]:
    """Return the tests that all must come out true."""
    if isinstance(condition, IsMissing):
        return [_simple(field, "isMissing")]
    if isinstance(condition, Interval):
        return [_simple(field, _OPERATORS[test], bound) for test, bound in condition.tests]
    if isinstance(condition, Equals):
        return [_simple(field, "equal", condition.value)]
    if isinstance(condition, IsIn):
        equal = [_simple(field, "equal", value) for value in condition.values]
        return [_joined("or", equal) if equal else ElementTree.Element("False")]
    if isinstance(condition, IsNotIn):
        return [_simple(field, "isNotMissing"), *(_simple(field, "notEqual", value) for value in condition.values)]
    raise TypeError(f"no PMML is known for the condition {condition} ({type(condition).__name__})")


def _simple(field: str, operator: str, value: Any = None) -> ElementTree.Element:
    attributes = {"field": _writable(field), "operator": operator}
    if value is not None:
        attributes["value"] = _value(value)
    return ElementTree.Element("SimplePredicate", attributes)


def _joined(operator: str, tests: list[ElementTree.Element]) -> ElementTree.Element:
    if len(tests) == 1:
        return tests[0]
    compound = ElementTree.Element("CompoundPredicate", {"booleanOperator": operator})
    compound.extend(tests)
    return compound


def _value(value: Any) -> str:
    """Return a value as text: as PMML's types write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        return moment.isoformat()
    if isinstance(value, datetime.date):
        return f"{value.isoformat()}T00:00:00"
    return _writable(value) if isinstance(value, str) else exact_text(value)
