"""Rule sets as JSON: there and back, by the schema, and never anything executed or half understood."""

import datetime
import json
import math
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diverse_rule_sets
from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Rule, RuleSet, baselines
from diverse_rule_sets.export import _json_reading
from models import records_for, rule_sets

SCHEMA = json.loads((Path(diverse_rule_sets.__file__).parent / "export" / "schema.json").read_text("utf8"))


def small():
    rule = Rule.parse("IF age <= 37 AND sex = 'F' THEN good")
    counted = replace(rule, class_counts=(("bad", 1), ("good", 9)))
    return RuleSet((counted,), ("bad", "good"), "bad", (50, 50), (49, 41), kinds=(("age", "number"), ("sex", "text")))


@settings(max_examples=300)
@given(rule_sets(), st.integers(0, 1000))
def test_there_and_back(drawn, seed):
    import polars as pl

    rule_set, columns = drawn
    text = rule_set.to_json()
    again = RuleSet.from_json(text)
    assert again == rule_set
    assert [rule.class_counts for rule in again.all_rules] == [rule.class_counts for rule in rule_set.all_rules]
    assert all(again.kind(name) == rule_set.kind(name) for name in rule_set.columns)
    assert again.to_json() == text
    assert RuleSet.from_json(text.encode()) == rule_set
    jsonschema.validate(json.loads(text), SCHEMA)
    frame = pl.DataFrame(records_for(columns, seed), strict=False)
    np.testing.assert_array_equal(again.predict(frame), rule_set.predict(frame))
    np.testing.assert_array_equal(again.predict_proba(frame), rule_set.predict_proba(frame))


def test_fitted_models_of_every_kind(mixed):
    X, y = mixed
    for estimator in (DiverseRuleSetClassifier(random_state=0), baselines.CBAClassifier(), baselines.CN2Classifier()):
        rule_set = estimator.fit(X, y).rule_set_
        again = RuleSet.from_json(rule_set.to_json())
        assert again == rule_set
        assert again.kinds == rule_set.kinds
        np.testing.assert_array_equal(again.predict_proba(X), rule_set.predict_proba(X))


def test_the_text_is_made_to_be_compared():
    text = small().to_json()
    assert (
        '      "if": [\n        {"column": "age", "<=": 37},\n        {"column": "sex", "=": "F"}\n      ],\n' in text
    )
    assert '  "conflict": "precision",\n' in text
    assert text.endswith("}\n")
    changed = replace(small(), default="good").to_json()
    differing = [a for a, b in zip(text.splitlines(), changed.splitlines(), strict=True) if a != b]
    assert [line.split(":")[0].strip() for line in differing] == ['"default"', '"checksum"']


@pytest.mark.parametrize("column", [5, ("a", 1), 2.5, datetime.datetime(2020, 1, 1), None, True])
def test_columns_whose_names_are_no_strings(column):
    rule_set = RuleSet((Rule((Equals(column, "x"),), "a"),), ("a",), "a", (1,), (0,))
    again = RuleSet.from_json(rule_set.to_json())
    assert again == rule_set
    assert type(again.rules[0].conditions[0].column) is type(column)


@pytest.mark.parametrize("value", [b"\x00\xff", datetime.date(2020, 1, 1), 10**30, -0.0, 5e-324, math.inf, -math.inf])
def test_odd_values(value):
    rule_set = RuleSet((Rule((Equals("x", value, mixed=True),), 1),), (0, 1), 0, (1, 1), (0, 0))
    again = RuleSet.from_json(rule_set.to_json()).rules[0].conditions[0]
    assert (again.value, type(again.value), again.mixed) == (value, type(value), True)


def test_what_json_cannot_hold_is_named():
    odd = RuleSet((Rule((Equals("x", 1j),), "a"),), ("a",), "a", (1,), (0,))
    with pytest.raises(ValueError, match=r"a value such as 1j \(complex\)"):
        odd.to_json()
    with pytest.raises(ValueError, match="conflict is a function"):
        replace(small(), conflict=lambda rules: rules[0]).to_json()


def test_every_cut_off_file_is_refused():
    text = small().to_json()
    for end in range(len(text) - 2):
        with pytest.raises(ValueError, match="not a rule set"):
            RuleSet.from_json(text[:end])


def test_a_changed_file_is_refused_unless_the_change_was_meant():
    text = small().to_json()
    changed = text.replace('"<=": 37', '"<=": 38')
    with pytest.raises(ValueError, match="was changed after it was written"):
        RuleSet.from_json(changed)
    meant = "\n".join(line for line in changed.splitlines() if "checksum" not in line).replace("  ],\n}", "  ]\n}")
    meant = meant.replace('"fallbacks": [],', '"fallbacks": []')
    assert RuleSet.from_json(meant).rules[0].conditions[0].high == 38


def edited(**changes):
    content = json.loads(small().to_json())
    del content["checksum"]
    return {**content, **changes}


RULE = {"if": [], "then": "bad", "class_counts": [0, 0]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "expected an object"),
        ({}, "expected an object"),
        ({"format": "something else"}, 'got dict of 1'),
        (edited(version=2), "of version 2, written by a later release; this one reads up to 1"),
        (edited(version="1"), "version must be a whole number from 1, got '1'"),
        (edited(version=True), "version must be a whole number"),
        (edited(extra=1), "the file has 'extra', which version 1"),
        ({key: value for key, value in edited().items() if key != "rules"}, "lacks 'rules'"),
        (edited(classes=[]), "classes must be different labels"),
        (edited(classes=["bad", "bad"]), "classes must be different labels"),
        (edited(classes=["bad", None]), "classes must be different labels"),
        (edited(class_totals=[1]), "class_totals must be 2 whole numbers"),
        (edited(class_totals=[1.5, 2]), "class_totals must be 2 whole numbers"),
        (edited(class_totals=[-1, 2]), "class_totals must be 2 whole numbers"),
        (edited(uncovered_counts=[51, 2]), "uncovered_counts must be at most the class_totals"),
        (edited(class_weights=[1, 0]), "class_weights must be null, or 2 numbers above 0"),
        (edited(class_weights="balanced"), "class_weights must be null"),
        (edited(smoothing=-1), "smoothing must be null or a number from 0"),
        (edited(conflict="loudest"), "conflict must be one of 'precision'"),
        (edited(conflict=["precision"]), "conflict must be one of"),
        (edited(default="ugly"), "default must be one of the classes"),
        (edited(rules={}), "rules must be a list"),
        (edited(rules=[3]), r"rules\[0\] must be an object, got 3"),
        (edited(rules=[{**RULE, "then": "ugly"}]), r"rules\[0\].then must be one of the classes"),
        (edited(rules=[{**RULE, "class_counts": [51, 0]}]), r"rules\[0\].class_counts must be at most"),
        (edited(rules=[{**RULE, "if": 1}]), r"rules\[0\].if must be a list"),
        (edited(rules=[{**RULE, "if": [{"column": "age"}]}]), r"rules\[0\].if\[0\] must be one test"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "<=": "x"}]}]), r"rules\[0\].if\[0\]: a bound"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "<=": 1, "<": 1}]}]), "one lower and one upper bound"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "<=": 1, "=": 1}]}]), "must be one test"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "~": 1}]}]), "has '~', which version 1"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "missing": False}]}]), "missing must be true"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "in": "abc"}]}]), "in must be a list"),
        (edited(rules=[{**RULE, "if": [{"column": [1], "=": 1}]}]), "column must be text"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "=": {"py/object": "os.system"}}]}]), "= must be text"),
        (edited(rules=[{**RULE, "if": [{"column": "age", "<=": {"datetime": "soon"}}]}]), "must be a datetime"),
        (edited(rules=[{**RULE, "if": [{"column": "a", "=": {"tuple": [{"tuple": [{"tuple": [{"tuple": [{"tuple": [{"tuple": []}]}]}]}]}]}}]}]), "must be text"),  # noqa: E501
        (edited(columns=[]), "columns must list just the columns that the rules read"),
        (edited(columns=[{"name": "age", "kind": "colour"}]), r"columns\[0\].kind must be one of"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(content, message):
    with pytest.raises(ValueError, match=message):
        RuleSet.from_json(json.dumps(content))


def test_deep_huge_and_odd_texts_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="nested too deeply"):
        RuleSet.from_json("[" * 200_000)
    with pytest.raises(ValueError, match="not a rule set"):
        RuleSet.from_json('{"format": "diverse-rule-sets", "x": ' + "9" * 10_000 + "}")
    many = '{"format": "diverse-rule-sets"' + "".join(f', "k{i}": 1' for i in range(50_000)) + ', "k1": 2}'
    with pytest.raises(ValueError, match="'k1' stands there twice"):
        RuleSet.from_json(many)
    content = edited()
    content["rules"][0]["if"][0]["<="] = int("9" * 400)
    with pytest.raises(ValueError, match=r"rules\[0\].if\[0\]"):
        RuleSet.from_json(json.dumps(content))
    with pytest.raises(ValueError, match="NaN is not a number"):
        RuleSet.from_json('{"format": NaN}')
    with pytest.raises(ValueError, match="'format' stands there twice"):
        RuleSet.from_json('{"format": 1, "format": 2}')
    with pytest.raises(ValueError, match="not a rule set"):
        RuleSet.from_json(b"\xff\xfe\x00")
    with pytest.raises(TypeError, match="takes the text of a file, got dict"):
        RuleSet.from_json({})
    monkeypatch.setattr(_json_reading, "MAX_CHARACTERS", 100)
    with pytest.raises(ValueError, match="too long to be a rule set"):
        RuleSet.from_json(small().to_json())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def places(content, path=()):
    """List the path to every value inside."""
    yield path
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inside:
        yield from places(value, (*path, key))


@settings(max_examples=500)
@given(rule_sets(), st.data())
def test_any_altered_file_is_read_or_refused_with_a_value_error(drawn, data):
    content = json.loads(drawn[0].to_json())
    del content["checksum"]
    path = data.draw(st.sampled_from([path for path in places(content) if path]))
    inside = content
    for key in path[:-1]:
        inside = inside[key]
    if data.draw(st.booleans()):
        inside[path[-1]] = data.draw(json_values)
    else:
        del inside[path[-1]]
    try:
        rule_set = RuleSet.from_json(json.dumps(content))
    except ValueError:
        return
    assert RuleSet.from_json(rule_set.to_json()) == rule_set
    str(rule_set)


@settings(max_examples=300)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_text_is_refused_with_a_value_error(text):
    with pytest.raises(ValueError, match="not a rule set"):
        RuleSet.from_json(text)


def test_text_without_an_end_is_refused_in_linear_time():
    with pytest.raises(ValueError, match="JSON"):
        RuleSet.from_json('{"a": "' + '\\"' * 1_000_000)
