"""Rule sets as JSON: written and read back, valid by the schema; wrong files raise an error and execute nothing."""

import datetime
import json
import math
import time
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diverse_rule_sets
from cards import rule_sets_with_scorecards
from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, Rule, RuleSet, baselines
from diverse_rule_sets._input.columns import KINDS
from diverse_rule_sets.export import _json_reading
from models import records_for, rule_sets

SCHEMA = json.loads((Path(diverse_rule_sets.__file__).parent / "export" / "schema.json").read_text("utf8"))


def small():
    rule = Rule.parse("IF age <= 37 AND sex = 'F' THEN good")
    counted = replace(rule, class_counts=(("bad", 1), ("good", 9)))
    return RuleSet((counted,), ("bad", "good"), "bad", (50, 50), (49, 41), kinds=(("age", "number"), ("sex", "text")))


@settings(max_examples=400)
@given(rule_sets() | rule_sets_with_scorecards(), st.integers(0, 1000))
def test_written_and_read_back(drawn, seed):
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
    latest = rule_set.missing_values or rule_set.orders
    assert json.loads(text)["version"] == (4 if latest else 3 if rule_set.scorecards else 2)
    assert again.missing_values == rule_set.missing_values
    assert ("scorecards" in json.loads(text)) == bool(rule_set.scorecards)
    assert again.scorecards == rule_set.scorecards
    assert [rule.points_table for rule in again.all_rules] == [rule.points_table for rule in rule_set.all_rules]
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


def test_a_change_of_the_model_changes_only_its_own_lines():
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
def test_columns_whose_names_are_not_strings(column):
    rule_set = RuleSet((Rule((Equals(column, "x"),), "a"),), ("a",), "a", (1,), (0,))
    again = RuleSet.from_json(rule_set.to_json())
    assert again == rule_set
    assert type(again.rules[0].conditions[0].column) is type(column)


@pytest.mark.parametrize(
    "value", [b"\x00\xff", datetime.datetime(2020, 1, 1), 10**30, -0.0, 5e-324, math.inf, -math.inf]
)
def test_unusual_values(value):
    rule_set = RuleSet((Rule((Equals("x", value, mixed=True),), 1),), (0, 1), 0, (1, 1), (0, 0))
    again = RuleSet.from_json(rule_set.to_json()).rules[0].conditions[0]
    assert (again.value, type(again.value), again.mixed) == (value, type(value), True)


def test_values_that_json_cannot_represent_are_named_in_the_error():
    complex_name = RuleSet((Rule((Equals(1j, "x"),), "a"),), ("a",), "a", (1,), (0,))
    with pytest.raises(ValueError, match=r"the name of a column such as 1j \(complex\)"):
        complex_name.to_json()
    with pytest.raises(ValueError, match="conflict is a function"):
        replace(small(), conflict=lambda rules: rules[0]).to_json()


def test_every_cut_off_file_raises_an_error():
    text = small().to_json()
    for end in range(len(text) - 2):
        with pytest.raises(ValueError, match="not a rule set"):
            RuleSet.from_json(text[:end])


def test_a_changed_file_raises_an_error_unless_its_checksum_is_removed():
    text = small().to_json()
    changed = text.replace('"<=": 37', '"<=": 38')
    with pytest.raises(ValueError, match="was changed after it was written"):
        RuleSet.from_json(changed)
    edited = "\n".join(line for line in changed.splitlines() if "checksum" not in line).replace("  ],\n}", "  ]\n}")
    edited = edited.replace('"fallbacks": [],', '"fallbacks": []')
    assert RuleSet.from_json(edited).rules[0].conditions[0].high == 38


def small_with(**changes):
    content = json.loads(small().to_json())
    del content["checksum"]
    return {**content, **changes}


RULE = {"if": [], "then": "bad", "class_counts": [0, 0]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "expected an object"),
        ({}, "expected an object"),
        ({"format": "something else"}, 'expected an object with "format": "diverse-rule-sets", got'),
        ({"rules": "diverse-rule-sets"}, "expected an object with .* got {'rules': 'diverse-rule-sets'}"),
        (small_with(version=6), "of version 6, written by a later release; this one reads up to 5"),
        (small_with(version="1"), "version must be an integer at least 1, got '1'"),
        (small_with(version=True), "version must be an integer"),
        (small_with(extra=1), "the file has 'extra', which version 2"),
        (small_with(version=1, target="y"), "the file has 'target', which version 1"),
        (small_with(target=5), "target must be a string or None, got 5"),
        ({key: value for key, value in small_with().items() if key != "rules"}, "lacks 'rules'"),
        (small_with(classes=[]), "classes must be different labels"),
        (small_with(classes=["bad", "bad"]), "classes must be different labels"),
        (small_with(classes=["bad", None]), "classes must be different labels"),
        (small_with(class_totals=[1]), "class_totals must be 2 integers at least 0"),
        (small_with(class_totals=[1.5, 2]), "class_totals must be 2 integers at least 0"),
        (small_with(class_totals=[-1, 2]), "class_totals must be 2 integers at least 0"),
        (small_with(uncovered_counts=[51, 2]), "uncovered_counts must be at most the class_totals"),
        (small_with(class_weights=[1, 0]), "class_weights must be 2 numbers greater than 0, from 1e-100 to 1e\\+100"),
        (small_with(class_weights=[1, 5e-324]), "class_weights must be 2 numbers greater than 0, from 1e-100"),
        (small_with(class_weights=[1, 10**400]), "class_weights must be 2 numbers greater than 0"),
        (small_with(class_weights=[1, True]), "class_weights must be 2 numbers greater than 0"),
        (small_with(class_weights="balanced"), "class_weights must be a list, got 'balanced'"),
        (small_with(smoothing=-1), "smoothing must be a number at least 0"),
        (small_with(smoothing=5e-324), "smoothing must be a number at least 0: 0, or from 1e-100 to 1e\\+100"),
        (small_with(smoothing=1e200), "smoothing must be a number at least 0"),
        (small_with(smoothing="1"), "smoothing must be a number at least 0"),
        (small_with(class_totals=[2**53, 1]), r"class_totals must be 2 integers .* sum of at most 2\*\*53"),
        (small_with(class_totals="12"), "class_totals must be 2 integers at least 0"),
        (small_with(conflict="loudest"), "conflict must be one of 'precision'"),
        (small_with(conflict=["precision"]), "conflict must be one of"),
        (small_with(default="ugly"), "default must be one of the classes"),
        (small_with(rules={}), "rules must be a list"),
        (small_with(rules=[3]), r"rules\[0\] must be an object, got 3"),
        (small_with(rules=[{**RULE, "then": "ugly"}]), r"rules\[0\].then must be one of the classes"),
        (small_with(rules=[{**RULE, "class_counts": [51, 0]}], columns=[]), r"rules\[0\].class_counts must be at most"),
        (small_with(rules=[{**RULE, "if": [{"column": "a", ">": 1}, {"column": "a", "<": 2}]}]), r"rules\[0\].if: conditions must have at most one condition"),  # noqa: E501
        (small_with(rules=[{**RULE, "if": 1}]), r"rules\[0\].if must be a list"),
        (small_with(rules=[{**RULE, "if": [{"column": "age"}]}]), r"rules\[0\].if\[0\] must be one test"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "<=": "x"}]}]), r"rules\[0\].if\[0\]: a bound"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "<=": 1, "<": 1}]}]), "one lower and one upper bound"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "<=": 1, "=": 1}]}]), "must be one test"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "~": 1}]}]), "has '~', which version 2"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "missing": False}]}]), "missing must be true"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "in": "abc"}]}]), "in must be a list"),
        (small_with(rules=[{**RULE, "if": [{"column": [1], "=": 1}]}]), "column must be text"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "=": {"py/object": "os.system"}}]}]), "= must be text"),
        (small_with(rules=[{**RULE, "if": [{"column": "age", "<=": {"datetime": "soon"}}]}]), "the form .datetime."),
        (small_with(rules=[{**RULE, "if": [{"column": "a", "=": {"tuple": [{"tuple": [{"tuple": [{"tuple": [{"tuple": [{"tuple": []}]}]}]}]}]}}]}]), "must be text"),  # noqa: E501
        (small_with(rules=[{**RULE, "if": [{"column": "a", "=": None}]}]), r"rules\[0\].if\[0\].= must be text"),
        (small_with(rules=[{**RULE, "if": [{"column": "a", "in": [{"tuple": []}]}]}]), r"if\[0\].in must be text"),
        (small_with(columns=[]), "columns must list exactly the columns that the rules read"),
        (small_with(columns=[{"name": "age", "kind": "colour"}]), r"columns\[0\].kind must be one of"),
        (small_with(columns=[{"name": "age", "kind": ["text"]}]), r"columns\[0\].kind must be one of"),
        (small_with(version=1, columns=[{"name": "age", "kind": "bytes"}]), r"columns\[0\].kind must be one of"),
        (small_with(rules=[{**RULE, "if": [{"column": "a", ">": {"instant": "9999-12-31T23:59:59-05:00"}}]}]), r"rules\[0\].if\[0\].> must be a value of the form .instant."),  # noqa: E501
    ],
)  # fmt: skip
def test_errors_name_the_place_and_what_was_expected(content, message):
    with pytest.raises(ValueError, match=message):
        RuleSet.from_json(json.dumps(content))


def test_texts_that_are_too_deep_too_long_or_not_json_raise_an_error(monkeypatch):
    with pytest.raises(ValueError, match="nested too deeply"):
        RuleSet.from_json('["diverse-rule-sets", ' + "[" * 200_000)
    for depth in (30, 300, 900, 990):  # some of them can be read as JSON, but are no rule sets
        deep = "[" * depth + "]" * depth
        with pytest.raises(ValueError, match=r"nested too deeply|its checksum does not match"):
            RuleSet.from_json(json.dumps({**small_with(rules="x"), "checksum": "y"}).replace('"x"', deep))
        with pytest.raises(ValueError, match=r"nested too deeply|rules\[0\] must be an object"):
            RuleSet.from_json(json.dumps(small_with(rules="x")).replace('"x"', deep))
    with pytest.raises(ValueError, match="not a rule set"):
        RuleSet.from_json('{"format": "diverse-rule-sets", "x": ' + "9" * 10_000 + "}")
    many = '{"format": "diverse-rule-sets"' + "".join(f', "k{i}": 1' for i in range(50_000)) + ', "k1": 2}'
    with pytest.raises(ValueError, match="'k1' occurs twice"):
        RuleSet.from_json(many)
    content = small_with()
    content["rules"][0]["if"][0]["<="] = int("9" * 400)
    with pytest.raises(ValueError, match=r"rules\[0\].if\[0\]"):
        RuleSet.from_json(json.dumps(content))
    with pytest.raises(ValueError, match="NaN is not a number"):
        RuleSet.from_json('{"format": "diverse-rule-sets", "version": NaN}')
    with pytest.raises(ValueError, match="'format' occurs twice"):
        RuleSet.from_json('{"format": "diverse-rule-sets", "format": 2}')
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


def paths(content, path=()):
    """Yield the path to every value."""
    yield path
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield from paths(value, (*path, key))


@settings(max_examples=800)
@given(rule_sets() | rule_sets_with_scorecards(), st.data())
def test_any_altered_file_is_read_or_raises_a_value_error(drawn, data):
    content = json.loads(drawn[0].to_json())
    del content["checksum"]
    path = data.draw(st.sampled_from([path for path in paths(content) if path]))
    parent = content
    for key in path[:-1]:
        parent = parent[key]
    if data.draw(st.booleans()):
        parent[path[-1]] = data.draw(json_values)
    else:
        del parent[path[-1]]
    try:
        rule_set = RuleSet.from_json(json.dumps(content))
    except ValueError as error:
        refused = error
    else:
        assert RuleSet.from_json(rule_set.to_json()) == rule_set
        str(rule_set)
        return
    assert type(refused) is ValueError
    assert len(str(refused).splitlines()) == 1


@settings(max_examples=300)
@given(st.binary(max_size=60) | st.text(max_size=60))
def test_any_other_text_raises_a_value_error(text):
    with pytest.raises(ValueError, match="not a rule set"):
        RuleSet.from_json(text)


HEAD = '{"format": "diverse-rule-sets", '
MILLION = 1_000_000
JUNK = {
    "a string without an end": HEAD + '"a": "' + '\\"' * MILLION,
    "empty lists": HEAD + '"rules": [' + "[]," * MILLION + "[]]}",
    "empty objects": HEAD + '"rules": [' + "{}," * MILLION + "{}]}",
    "objects": HEAD + '"rules": [' + '{"a":1},' * MILLION + "{}]}",
    "keys": HEAD + ",".join(f'"{k}":{k}' for k in range(MILLION)) + "}",
    "a long key": HEAD + f'"{"k" * MILLION}": 1' + "}",
    "numbers": "[" + "0," * MILLION + "0]",
    "brackets": "[]" * MILLION,
    "blanks": " " * MILLION,
    "other JSON": '{"a": [' + '{"b": 1},' * MILLION + "{}]}",
}


@pytest.mark.parametrize("text", JUNK.values(), ids=JUNK)
def test_long_texts_that_are_no_rule_sets_are_refused_soon_with_a_short_error(text):
    """The bound is generous: 45 million characters take a second or two; of an unknown format hardly any time."""
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"not a rule set|version must be an integer") as caught:
        RuleSet.from_json(text)
    assert time.perf_counter() - start < 10
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_a_text_without_the_name_of_the_format_is_not_read_as_json(monkeypatch):
    monkeypatch.setattr(_json_reading.json, "loads", lambda *arguments, **options: pytest.fail("was read as JSON"))
    with pytest.raises(ValueError, match='expected an object with "format": "diverse-rule-sets", got'):
        RuleSet.from_json('{"a": [1, 2, 3]}')


@pytest.mark.parametrize("place", ["classes", "conflict", "smoothing", "default", "version", "columns"])
@pytest.mark.parametrize(
    "huge", ["x" * MILLION, list(range(MILLION)), {str(k): k for k in range(1000)}, [[["x"] * 99]]]
)
def test_errors_about_long_values_are_short(place, huge):
    with pytest.raises(ValueError, match=place.removesuffix("es")) as caught:  # class_totals do not fit many classes
        RuleSet.from_json(json.dumps(small_with(**{place: huge})))
    assert len(str(caught.value)) < 700
    assert "\n" not in str(caught.value)


def test_the_target_is_written_and_read():
    rule_set = replace(small(), target="customer")
    again = RuleSet.from_json(rule_set.to_json())
    assert (again.target, again) == ("customer", rule_set)
    jsonschema.validate(json.loads(rule_set.to_json()), SCHEMA)
    assert rule_set == small()  # it changes no answer
    assert "target" not in json.loads(small().to_json())
    assert RuleSet.from_json(json.dumps(small_with(target=None))).target is None


def test_the_schema_names_all_types_of_columns():
    kinds = SCHEMA["properties"]["columns"]["items"]["properties"]["kind"]["enum"]
    assert set(KINDS) <= set(kinds)


def test_conditions_on_one_column_in_a_file_of_version_1_are_combined():
    rule = {"if": [{"column": "age", ">": 1}, {"column": "age", "<=": 2}], "then": "bad", "class_counts": [0, 0]}
    columns = [{"name": "age", "kind": "number"}]
    again = RuleSet.from_json(json.dumps(small_with(version=1, rules=[rule], columns=columns)))
    assert again.rules[0].conditions == (Interval("age", 1, 2),)


def test_an_instant_with_a_time_zone_is_converted():
    rule = {**RULE, "if": [{"column": "t", ">": {"instant": "2020-01-01T12:00:00+05:00"}}]}
    columns = [{"name": "t", "kind": "date (UTC)"}]
    again = RuleSet.from_json(json.dumps(small_with(rules=[rule], columns=columns)))
    assert again.rules[0].conditions[0].low == datetime.datetime(2020, 1, 1, 7, tzinfo=datetime.UTC)
