"""Model files keep the values of columns in training, which `why` names."""

import datetime
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import diverse_rule_sets
from diverse_rule_sets import DiverseRuleSetClassifier, Rule, RuleSet
from diverse_rule_sets.model._domains import Domain

SCHEMA = json.loads((Path(diverse_rule_sets.__file__).parent / "export" / "schema.json").read_text("utf8"))
VALUES = (
    True,
    1,
    2.5,
    "x",
    datetime.datetime(2020, 1, 31, 8),
    datetime.datetime(2020, 1, 31, tzinfo=datetime.UTC),
    b"a",
)


def rule_set_with(domain, text="IF a = 'x' THEN yes"):
    return RuleSet((Rule.parse(text),), ("no", "yes"), "no", (9, 9), (1, 1), domains=(("a", domain),))


def columns_of(rule_set):
    return json.loads(rule_set.to_json())["columns"]


@pytest.mark.parametrize("domain", [Domain(VALUES), Domain(("x", "y")), Domain(whole=True), Domain(()), Domain()])
def test_values_are_kept(domain):
    rule_set = rule_set_with(domain)
    text = rule_set.to_json()
    jsonschema.validate(json.loads(text), SCHEMA)
    again = RuleSet.from_json(text)
    assert dict(again.domains).get("a", Domain()) == domain
    known = dict(again.domains).get("a", Domain()).values or ()
    assert [type(value) for value in known] == [type(value) for value in domain.values or ()]
    assert again.to_json() == text


def test_a_file_of_a_fit_gives_the_same_explanations():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"contract": rng.choice(["month", "one year", "two years"], 300), "n": rng.integers(0, 9, 300)})
    y = np.where((X.contract == "month") ^ (X.n > 5), "leaves", "stays")
    rule_set = DiverseRuleSetClassifier(random_state=0).fit(X, y).rule_set_
    entries = {column["name"]: column for column in columns_of(rule_set)}
    assert entries["contract"]["values"] == ["month", "one year", "two years"]
    assert entries["n"]["whole"] is True
    assert RuleSet.from_json(rule_set.to_json()).why(X) == rule_set.why(X)


def test_only_columns_that_the_rules_read_are_written():
    rule_set = rule_set_with(Domain(("x", "y")))
    more = replace(rule_set, domains=(*rule_set.domains, ("b", Domain(("z",)))))
    assert more.to_json() == rule_set.to_json()


def test_values_that_json_cannot_represent_are_left_out():
    assert columns_of(rule_set_with(Domain((pd.Interval(0, 1), "x"), whole=True))) == [
        {"name": "a", "kind": "", "whole": True}
    ]


def changed(version=2, **keys):
    content = json.loads(rule_set_with(Domain(("x", "y"))).to_json())
    del content["checksum"]
    content["version"] = version
    content["columns"][0] |= keys
    return json.dumps(content)


def test_files_of_version_1_know_no_values():
    content = json.loads(changed(version=1))
    del content["columns"][0]["values"]
    assert RuleSet.from_json(json.dumps(content)).domains == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(version=1), r"columns\[0\] has 'values', which version 1 of the format does not have"),
        (changed(values="xy"), r"columns\[0\].values must be a list of at most 256 values, got 'xy'"),
        (changed(values=None), r"columns\[0\].values must be a list of at most 256 values, got None"),
        (changed(values=list(range(257))), r"columns\[0\].values must be a list of at most 256 values"),
        (changed(values=["x", "x"]), r"columns\[0\].values must be different values"),
        (changed(values=[1, 1.0]), r"columns\[0\].values must be different values"),
        (changed(values=["x", None]), r"columns\[0\].values\[1\] must be text, a number"),
        (changed(values=["x", {"tuple": [1]}]), r"columns\[0\].values\[1\] must be text, a number"),
        (changed(values=["x", ["y"]]), r"columns\[0\].values\[1\] must be text, a number"),
        (changed(whole=1), r"columns\[0\].whole must be true or false, got 1"),
    ],
)
def test_errors_name_the_place(text, message):
    with pytest.raises(ValueError, match=message):
        RuleSet.from_json(text)


def test_true_and_1_are_different_values():
    assert dict(RuleSet.from_json(changed(values=[1, True])).domains)["a"].values == (1, True)
