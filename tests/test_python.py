"""Python source, executed: the same label, rule and probabilities as the rule set gives."""

import ast
import datetime
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, IsIn, IsMissing, IsNotIn, Rule, RuleSet
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.model._decision import CONFLICTS
from models import HOSTILE, as_polars, kinds_of, records_for, rule_sets

KINDS = ("function", "pandas", "polars")


def run_source(rule_set, kind, frame):
    """Run the source on a polars frame; return labels, rules and probabilities."""
    source = rule_set.to_python(kind=kind)
    space = {}
    exec(compile(source, "rules", "exec"), space)
    if kind == "function":
        results = [space["predict"](record) for record in frame.to_dicts()]
        shares = [list(result["probabilities"].values()) for result in results]
        return [result["label"] for result in results], [result["rule"] for result in results], shares
    if kind == "polars":
        result = frame.with_columns(space["predict"]())
        return (
            result["predicted_label"].to_list(),
            result["predicted_rule"].to_list(),
            result.select(cs.starts_with("predicted_probability_")).to_numpy(),
        )
    result = space["predict"](frame.to_pandas())
    rules = [None if pd.isna(number) else number for number in result["predicted_rule"]]
    return result["predicted_label"].tolist(), rules, result.filter(like="probability_").to_numpy()


def check(rule_set, kind, frame):
    labels, rules, shares = run_source(rule_set, kind, frame)
    assert labels == rule_set.predict(frame).tolist()
    assert rules == [None if j < 0 else j + 1 for j in rule_set.deciding_rules(frame).tolist()]
    np.testing.assert_allclose(
        np.array(shares, float).reshape(len(frame), -1), rule_set.predict_proba(frame), atol=1e-9
    )


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200)
@given(drawn=rule_sets(scorecards=True), seed=st.integers(0, 1000))
def test_random_models_give_the_same_results(kind, drawn, seed):
    rule_set, columns = drawn
    check(rule_set, kind, as_polars(records_for(columns, seed), {name: kind for name, (kind, _) in columns.items()}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("conflict", CONFLICTS)
def test_fitted_models_give_the_same_results(kind, conflict):
    from conftest import make_mixed

    table, y = make_mixed(200, 5)
    frame = pl.DataFrame(table)
    clf = DiverseRuleSetClassifier(random_state=0, conflict=conflict, max_overlap=1.0, negation=True)
    check(clf.fit(frame, y).rule_set_, kind, frame)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("baseline", [CBAClassifier(), CN2Classifier(), IDSClassifier()])
def test_baselines_give_the_same_results(kind, baseline):
    from conftest import make_mixed

    table, y = make_mixed(300, 3)
    frame = pl.DataFrame(table)
    assert kinds_of(frame)
    check(baseline.fit(frame, y).rule_set_, kind, frame)


def small(*rules):
    return RuleSet(rules or (Rule.parse("IF age <= 37 THEN good"),), ("bad", "good"), "bad", (5, 5), (5, 1))


def test_the_function_imports_nothing():
    tree = ast.parse(small().to_python())
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_and_values_are_only_constants(kind):
    harmless = ast.parse(small(Rule((Equals("name", "name"), IsMissing("name2")), "good")).to_python(kind=kind))
    for text in HOSTILE:
        tree = ast.parse(small(Rule((Equals(text, text), IsMissing(text + "2")), "good")).to_python(kind=kind))
        assert [type(node) for node in ast.walk(tree)] == [type(node) for node in ast.walk(harmless)]
        assert text in {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_the_function_accepts_all_forms_of_missing_values():
    space = {}
    exec(small(Rule.parse("IF x is missing THEN good")).to_python(), space)
    for value in (None, math.nan, np.nan, pd.NA, pd.NaT, np.float64("nan")):
        assert space["predict"]({"x": value})["rule"] == 1
    assert space["predict"]({"x": 0})["rule"] is None


def test_the_function_accepts_dates_and_time_zones():
    space = {}
    exec(small(Rule.parse("IF t <= 2020-01-31 12:00:00Z THEN good")).to_python(), space)
    cet = datetime.timezone(datetime.timedelta(hours=1))
    noon = datetime.datetime(2020, 1, 31, 13, tzinfo=cet)
    assert space["predict"]({"t": noon})["rule"] == 1
    assert space["predict"]({"t": pd.Timestamp(noon)})["rule"] == 1
    assert space["predict"]({"t": noon + datetime.timedelta(microseconds=1)})["rule"] is None


def test_mixed_columns_work_in_the_function_and_in_pandas_and_raise_an_error_for_polars():
    mixed = small(Rule((Equals("x", 1, mixed=True),), "good"), Rule((Equals("x", "a", mixed=True),), "good"))
    space = {}
    exec(mixed.to_python(), space)
    values = [1, "a", "b", True, 1.0, np.int8(1), np.bool_(True), None, math.nan]
    numbers = [1, 2, None, None, 1, 1, None, None, None]
    assert [space["predict"]({"x": x})["rule"] for x in values] == numbers
    exec(mixed.to_python(kind="pandas"), space)
    found = space["predict"](pd.DataFrame({"x": pd.Series(values, dtype=object)}))["predicted_rule"]
    assert [None if pd.isna(number) else number for number in found] == numbers
    with pytest.raises(ValueError, match="values of several types"):
        mixed.to_python(kind="polars")


def test_pandas_keeps_the_index_and_accepts_nullable_types():
    space = {}
    exec(small().to_python(kind="pandas", name="label_records"), space)
    frame = pd.DataFrame({"age": pd.array([30, None, 50], "Int64")}, index=["a", "b", "c"])
    result = space["label_records"](frame)
    assert result.index.tolist() == ["a", "b", "c"]
    assert result["predicted_label"].tolist() == ["good", "bad", "bad"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "java"}, "kind must be one of 'function', 'pandas', 'polars', got 'java'"),
        ({"name": "import os; x"}, "name must be a name that a Python function can have"),
        ({"name": "class"}, "name must be a name"),
        ({"name": "LABELS"}, "name must be one that the source does not use"),
        ({"name": "next"}, "name must be one that the source does not use"),
        ({"name": "np", "kind": "pandas"}, "name must be one that the source does not use"),
    ],
)
def test_errors_name_the_argument(options, message):
    with pytest.raises(ValueError, match=message):
        small().to_python(**options)


def test_values_that_source_cannot_represent_raise_an_error():
    with pytest.raises(ValueError, match="conflict is a function"):
        replace(small(), conflict=lambda rules: rules[0]).to_python()
    with pytest.raises(ValueError, match="cannot represent"):
        small(Rule((IsMissing(datetime.datetime(2020, 1, 1)),), "good")).to_python()


def test_columns_with_the_same_name_in_polars_raise_an_error():
    with pytest.raises(ValueError, match="two columns are both called '1'"):
        small(Rule((IsMissing(1), IsMissing("1")), "good")).to_python(kind="polars")


def test_large_integers_and_infinity_are_compared_as_in_the_rule_set():
    rule_set = replace(small(Rule.parse("IF x > 9007199254740992 THEN good")), kinds=(("x", "number"),))
    frame = pl.DataFrame({"x": [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2]})
    for kind in KINDS:
        check(rule_set, kind, frame)
    space = {}
    exec(small(Rule((Equals("x", math.inf, mixed=True),), "good")).to_python(), space)
    assert [space["predict"]({"x": x})["rule"] for x in (math.inf, -math.inf, "inf")] == [1, None, None]


def test_dates_are_cut_to_microseconds_as_in_the_rule_set():
    rule_set = small(Rule.parse("IF t > 2020-01-01 THEN good"))
    frame = pd.DataFrame({"t": pd.to_datetime(["2020-01-01 00:00:00.000000500", "2020-01-01 00:00:00.000001"])})
    space = {}
    exec(rule_set.to_python(kind="pandas"), space)
    assert space["predict"](frame)["predicted_label"].tolist() == rule_set.predict(frame).tolist() == ["bad", "good"]


def test_labels_of_numpy_become_labels_of_python():
    rule_set = RuleSet((Rule((), np.str_("a")),), tuple(np.unique(["b", "a"])), np.str_("b"), (5, 5), (5, 1))
    assert [type(label) for label in (*rule_set.classes, rule_set.default, rule_set[0].label)] == [str] * 4
    space = {}
    exec(rule_set.to_python(), space)
    assert space["predict"]({})["label"] == "a"


def _overlapping(n_rules, n_classes, conflict):
    """Return rules that all overlap and have different class counts."""
    rules = tuple(
        Rule(
            (Interval("x", low=float(j)), Interval("y", high=float(3 * n_rules - j))),
            j % n_classes,
            tuple((k, 1 + (j * k) % 7) for k in range(n_classes)),
        )
        for j in range(n_rules)
    )
    return RuleSet(rules, tuple(range(n_classes)), 0, (9999,) * n_classes, (0,) * n_classes, conflict)


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_polars_expressions_do_not_grow_exponentially(conflict):
    def size(rule_set):
        space = {}
        exec(rule_set.to_python(kind="polars"), space)
        return sum(len(expression.meta.serialize()) for expression in space["predict"]())

    assert size(_overlapping(40, 8, conflict)) < 5 * size(_overlapping(20, 4, conflict))
    many = pl.DataFrame({"x": np.linspace(-1, 50, 200), "y": np.linspace(0, 130, 200)})
    check(_overlapping(40, 8, conflict), "polars", many)


def test_columns_of_dates_and_text_are_compared_as_in_the_rule_set():
    day = datetime.datetime(2020, 1, 31)
    values = [day, "unknown", None, datetime.datetime(2021, 1, 1), "other", 3]
    frame = pd.DataFrame({"when": pd.Series(values, dtype=object)})
    both = small(
        Rule((Equals("when", day, mixed=True),), "good"), Rule((Equals("when", "unknown", mixed=True),), "good")
    )
    alone = small(Rule((Equals("when", day, mixed=True),), "good"))
    number = small(Rule((Equals("when", 3, mixed=True),), "good"))
    for rule_set, kinds in ((both, ["function"]), (alone, ["function", "pandas"]), (number, ["function", "pandas"])):
        expected = [None if j < 0 else j + 1 for j in rule_set.deciding_rules(frame).tolist()]
        assert any(expected)
        for kind in kinds:
            space = {}
            exec(rule_set.to_python(kind=kind), space)
            if kind == "function":
                assert [space["predict"]({"when": value})["rule"] for value in values] == expected
            else:
                numbers = space["predict"](frame)["predicted_rule"]
                assert [None if pd.isna(number) else number for number in numbers] == expected


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_an_empty_table_gives_an_empty_result(conflict):
    rule_set = _overlapping(3, 2, conflict)
    for kind, frame in (
        ("pandas", pd.DataFrame({"x": [1.0], "y": [2.0]})),
        ("polars", pl.DataFrame({"x": [1.0], "y": [2.0]})),
    ):
        space = {}
        exec(rule_set.to_python(kind=kind), space)
        result = space["predict"](frame.head(0)) if kind == "pandas" else frame.head(0).with_columns(space["predict"]())
        assert len(result) == 0
        assert "predicted_label" in result.columns


def test_long_sets_of_categories_are_one_test_in_polars():
    rule_set = small(
        Rule((IsIn("x", tuple(f"value {j}" for j in range(3000))),), "good"), Rule((IsNotIn("x", ("a", "b")),), "bad")
    )
    frame = pl.DataFrame({"x": ["value 7", "a", None, "c"]})
    check(rule_set, "polars", frame)
    assert rule_set.to_python(kind="polars").count("==") < 10


def test_a_condition_without_values_does_not_change_the_type_of_a_column():
    rules = (Rule((Interval("day", high=datetime.datetime(2020, 1, 31)),), "a"), Rule((IsIn("day", ()),), "b"))
    rule_set = RuleSet(rules, ("a", "b"), "b", (5, 5), (1, 1))
    assert rule_set.expected_kinds == {"day": "date"}
    space = {}
    exec(rule_set.to_python(), space)
    assert space["predict"]({"day": datetime.datetime(2019, 1, 1)})["label"] == "a"
    assert space["predict"]({"day": None})["label"] == "b"
