"""A rule set as PMML 4.4: a RuleSetModel with the rules sorted by priority, in which the first covering rule decides.

If ballots are added up, a rule can only decide if its label has the largest sum (:mod:`._pmml_sums`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.checks import warn
from diverse_rule_sets._input.values import BOOLEAN, DATE, INSTANT, NUMBER
from diverse_rule_sets.export._pmml_parts import (
    Element,
    alternatives,
    child,
    combined,
    element,
    simple,
    unused,
    value_text,
)
from diverse_rule_sets.export._pmml_points import Points
from diverse_rule_sets.export._pmml_sums import NO_CLASS, Sums
from diverse_rule_sets.export._values import common_kind, exported_codes, values_by_column
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet

_NAMESPACE = "http://www.dmg.org/PMML-4_4"
_TYPES = {
    "number": ("continuous", "double"),
    "boolean": ("categorical", "boolean"),
    "text": ("categorical", "string"),
    "date": ("ordinal", "dateTime"),
    "instant": ("ordinal", "dateTime"),
}
DEFAULT = "default"


def to_pmml(rule_set: RuleSet, *, name: str) -> str:
    """Return the document; see :meth:`RuleSet.to_pmml`, which has the default of the parameter."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    fields = {column: column if isinstance(column, str) else str(column) for column in rule_set.columns}
    target = unused("predicted_label", fields.values())
    used_names = [*fields.values(), target]
    points = Points(rule_set, used_names)
    tested = fields | points.fields
    sums = None if rule_set.decision.ballots is None else Sums(rule_set, tested, used_names)
    root = element("PMML", xmlns=_NAMESPACE, version="4.4")
    header = child(root, "Header", description="If-then rules; the first rule that covers a record decides its label.")
    child(header, "Application", name="diverse-rule-sets")
    _dictionary(root, rule_set, fields, target)
    model = child(
        root, "RuleSetModel", modelName=name, functionName="classification", algorithmName="diverse-rule-sets"
    )
    _schema(model, fields, target)
    _output(model, rule_set, used_names, sums, points)
    if sums is not None or points.fields:
        local = child(model, "LocalTransformations")
        points.declare(local, fields)
        if sums is not None:
            sums.declare(local)
    _write_rules(model, rule_set, tested, sums)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _dictionary(root: Element, rule_set: RuleSet, fields: dict[Hashable, str], target: str) -> None:
    """Declare the columns and the label."""
    if len(set(fields.values())) < len(fields):
        raise ValueError(f"two columns have the same name as text: {sorted(fields.values())}")
    if "" in fields.values():
        raise ValueError("PMML cannot name a column ''; rename it before fitting")
    dictionary = child(root, "DataDictionary", numberOfFields=len(fields) + 1)
    values, kinds = values_by_column(rule_set), dict(rule_set.kinds)
    for column, field in fields.items():
        codes = exported_codes(rule_set, column, common_kind(values[column], column))
        is_category = kinds.get(column, "").startswith("category")
        _warn_if_rounded(column, [*values[column], *codes] if is_category else codes)
        optype, data_type = _TYPES[_field_kind(column, values[column] or list(codes), kinds.get(column, ""))]
        field_element = child(dictionary, "DataField", name=field, optype=optype, dataType=data_type)
        for code in codes:
            child(field_element, "Value", value=code, property="missing")
    label = child(dictionary, "DataField", name=target, optype="categorical", dataType=_label_type(rule_set.classes))
    for one in rule_set.classes:
        child(label, "Value", value=one)


def _label_type(classes: Sequence[Any]) -> str:
    """Return the type of the labels; programs read an integer of PMML as one of 32 bits."""
    if any(isinstance(label, int) and abs(label) > 2**53 for label in classes):
        largest = max((label for label in classes if isinstance(label, int)), key=abs)
        raise ValueError(f"PMML programs cannot return the label {largest} exactly; convert the labels to text")
    if all(isinstance(label, bool) for label in classes):
        return "boolean"
    if all(isinstance(label, str) for label in classes):
        return "string"
    whole = all(isinstance(label, int) and -(2**31) <= label < 2**31 for label in classes)
    return "integer" if whole else "double"


def _warn_if_rounded(column: Hashable, values: Sequence[Any]) -> None:
    """Warn if integers that are categories or codes for missing values, and thus exact, are rounded."""
    large = [value for value in values if isinstance(value, int) and abs(value) > 2**53]
    if large:
        warn(f"PMML compares the column {column!r} with {large[0]} as a double, which is rounded to 53 bits")


def _field_kind(column: Hashable, values: Sequence[Any], training_kind: str) -> str:
    """Return the type of a column, by the values in the conditions, or else by its type in training."""
    compared = common_kind(values, column)
    if compared != "none":
        return compared
    return {NUMBER: "number", BOOLEAN: "boolean", DATE: "date", INSTANT: "instant"}.get(training_kind, "text")


def _schema(model: Element, fields: dict[Hashable, str], target: str) -> None:
    schema = child(model, "MiningSchema")
    for field in fields.values():
        child(schema, "MiningField", name=field, invalidValueTreatment="asIs")
    child(schema, "MiningField", name=target, usageType="target")


def _output(model: Element, rule_set: RuleSet, used_names: list[str], sums: Sums | None, points: Points) -> None:
    """Declare the outputs: the label, the deciding rule, and the probabilities."""
    output = child(model, "Output")
    rule, label = unused("rule", used_names), unused("label", used_names)
    child(output, "OutputField", name=label, feature="predictedValue", isFinalResult=True)
    text, number = ({"optype": "categorical", "dataType": "string"}, {"optype": "continuous", "dataType": "double"})
    shares = rule_set.rule_probabilities
    rule_ids = [*(str(j + 1) for j in range(len(shares) - 1)), DEFAULT]
    together = sums if rule_set.adds_counts else None
    if together is None:
        child(output, "OutputField", name=rule, **text, feature="entityId")
    else:  # a class may win that is the label of no covering rule: then the output is that of the default label
        entity = unused("deciding_rule", used_names)
        child(output, "OutputField", name=entity, **text, feature="entityId", isFinalResult=False)
        ids = [(rule_id,) for rule_id in rule_ids]
        number_of_rule = _lookup([entity], "number", ids, rule_ids, dataType="string", defaultValue=DEFAULT)
        child(output, "OutputField", number_of_rule, name=rule, **text, feature="transformedValue")
    start = 0 if together is None else len(rule_set.rules)  # these rules give the probabilities alone, not in sums
    keys: list[tuple[str, ...]] = [(rule_id,) for rule_id in rule_ids[start:]]
    known, rows = [rule], shares[start:]
    if points.followed:
        known.append(unused("points of the rule", used_names))
        level = points.level(rule)
        child(output, "OutputField", level, name=known[1], **number, feature="transformedValue", isFinalResult=False)
        keys, rows = _rows_by_points(rule_ids, shares, points)
    for k, one in enumerate(rule_set.classes):
        name = unused(f"probability({value_text(one)})", used_names)
        values = [repr(share) for share in rows[:, k].tolist()]
        share = _lookup(known, "probability", keys, values, dataType="double")
        share = share if together is None else together.share(k, share)
        child(output, "OutputField", share, name=name, **number, feature="transformedValue")


def _rows_by_points(
    rule_ids: Sequence[str], shares: NDArray[np.float64], points: Points
) -> tuple[list[tuple[str, ...]], NDArray[np.float64]]:
    """Return keys, which are rules and the points that they follow (0 for the others), and their probabilities."""
    keys: list[tuple[str, ...]] = []
    rows = []
    for j, rule_id in enumerate(rule_ids):
        followed = points.followed.get(j)
        low, own = (0, shares[j : j + 1]) if followed is None else (followed.low, followed.shares)
        keys += [(rule_id, str(s)) for s in range(low, low + len(own))]
        rows.append(own)
    return keys, np.vstack(rows)


def _lookup(
    fields: Sequence[str], column: str, keys: Sequence[tuple[str, ...]], values: Sequence[str], **attributes: str
) -> Element:
    """Return an expression that looks up the values of one or two fields in a table."""
    table, names = element("InlineTable"), ("rule", "points")
    for key, value in zip(keys, values, strict=True):
        row = child(table, "row")
        for name, text in zip((*names[: len(fields)], column), (*key, value), strict=True):
            child(row, name).text = text
    pairs = [element("FieldColumnPair", field=field, column=name) for field, name in zip(fields, names, strict=False)]
    return element("MapValues", *pairs, table, outputColumn=column, **attributes)


def _write_rules(model: Element, rule_set: RuleSet, fields: dict[Hashable, str], sums: Sums | None) -> None:
    """Write the rules sorted by priority, then the fallback rules, then the default label."""
    shares = rule_set.rule_probabilities
    default = rule_set.classes.index(rule_set.default)
    part = child(model, "RuleSet", defaultScore=rule_set.default, defaultConfidence=repr(float(shares[-1, default])))
    child(part, "RuleSelectionMethod", criterion="firstHit")
    n_rules, all_rules = len(rule_set.rules), rule_set.all_rules
    for j in rule_set.decision.order.tolist():
        tests = sums.decides(j) if sums is not None else _tests(all_rules[j], fields)
        _simple_rule(part, str(j + 1), all_rules[j], tests, rule_set, shares[j])
    if sums is not None and rule_set.adds_counts:
        for k, label in enumerate(rule_set.classes):
            child(part, "SimpleRule", sums.wins(k), id=f"{DEFAULT} {k + 1}", score=label)
    for j in range(n_rules, len(all_rules)):
        tests = _tests(all_rules[j], fields)
        if sums is not None:
            tests.insert(0, sums.wins(NO_CLASS))
        _simple_rule(part, str(j + 1), all_rules[j], tests, rule_set, shares[j])
    _simple_rule(part, DEFAULT, Rule((), rule_set.default), [], rule_set, shares[-1])


def _simple_rule(part: Element, number: str, rule: Rule, tests: list[Element], rule_set: RuleSet, shares: Any) -> None:
    """Add a rule with its probabilities."""
    counts = {"recordCount": rule.n_covered, "nbCorrect": rule.n_correct} if rule.conditions else {}
    own = repr(float(shares[rule_set.classes.index(rule.label)]))
    simple_rule = child(
        part, "SimpleRule", combined("and", tests), id=number, score=rule.label, confidence=own, **counts
    )
    for one, share in zip(rule_set.classes, map(repr, shares.tolist()), strict=True):
        child(simple_rule, "ScoreDistribution", value=one, recordCount=share, probability=share)


def _tests(rule: Rule, fields: dict[Hashable, str]) -> list[Element]:
    """Return the tests that must all be true for a rule to cover a record."""
    return [
        combined("or", [simple(fields[condition.column], *test) for test in tests])
        for condition in rule.conditions
        for tests in alternatives(condition)
    ]
