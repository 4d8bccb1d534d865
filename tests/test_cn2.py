import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import naive
from diverse_rule_sets.baselines import CN2Classifier
from small import as_records, named, rules_of, table_of_letters

# Tables, settings and the rules that Orange 3.40 found: made by `python benchmarks/baselines.py --record FILE`.
ORANGE = json.loads((Path(__file__).parent / "orange_cn2.json").read_text(encoding="utf8"))


def literal(records, y, like_orange=False, **settings):
    return [
        (body, label)
        for label in sorted(set(y))
        for body in naive.cn2(records, y, label, **settings, like_orange=like_orange)
    ]


@pytest.mark.parametrize("seed", range(30))
def test_the_rules_are_those_of_the_literal_algorithm(seed):
    X, y = table_of_letters(seed, n=60 + seed, n_values=2 + seed % 3, n_classes=2 + seed % 2)
    if seed % 2:
        X = X.assign(c1=X["c0"], c5=X["c2"])  # a body that only says the same again must not take a place in the beam
    records, conditions = as_records(X)
    beam_width, min_covered, longest = (1, 3, 10)[seed % 3], 1 + seed % 4, 2 + seed % 3
    ref = literal(records, y.tolist(), beam_width=beam_width, min_covered=min_covered, longest=longest)
    clf = CN2Classifier(beam_width=beam_width, min_covered=min_covered, max_conditions=longest).fit(X, y)
    assert rules_of(clf) == named(ref, conditions)


@pytest.mark.parametrize("case", ORANGE, ids=lambda case: case["name"])
def test_what_differs_from_orange_is_explained(case):
    """The literal algorithm with Orange's two habits finds Orange's rules; without them, ours."""
    X, y, settings = pd.DataFrame(case["records"], columns=case["columns"]), case["labels"], case["settings"]
    records, conditions = as_records(X)
    theirs = [({conditions_of(conditions)[tuple(pair)] for pair in body}, label) for body, label in case["rules"]]
    assert named(literal(records, y, like_orange=True, **settings), conditions) == theirs
    how = {"beam_width": settings["beam_width"], "min_covered": settings["min_covered"]}
    clf = CN2Classifier(**how, max_conditions=settings["longest"]).fit(X, y)
    assert rules_of(clf) == named(literal(records, y, **settings), conditions)
    assert any(rule in theirs for rule in rules_of(clf))


def conditions_of(conditions):
    return {(condition.column, condition.value): condition for condition in conditions}


def test_class_counts_of_all_covering_rules_are_added_up():
    X, y = table_of_letters(1, n=200)
    clf = CN2Classifier().fit(X, y)
    fired = clf.rule_set_.covers(X)
    counts = np.array([[n for _, n in rule.class_counts] for rule in clf.rule_set_])
    assert (counts.sum(axis=1) == fired.sum(axis=0)).all()
    summed = fired @ counts
    clear = np.sort(summed, axis=1)[:, -1] > np.sort(summed, axis=1)[:, -2]
    assert clear.sum() > 100
    assert (clf.predict(X)[clear] == np.argmax(summed, axis=1)[clear]).all()
    reasons = clf.explain(X)["reason"]
    assert reasons.str.startswith("rules ").sum() == (fired.sum(axis=1) > 1).sum() > 0


def test_entropy_prefers_pure_bodies_of_the_class_and_never_its_absence():
    X = pd.DataFrame({"a": ["x"] * 50 + ["y"] * 50, "b": (["u"] * 4 + ["v"]) * 20})
    y = ["yes"] * 48 + ["no"] * 51 + ["yes"]
    clf = CN2Classifier(evaluation="entropy", min_covered=1, max_conditions=1).fit(X, y)
    first = {label: next(str(rule) for rule in clf.rule_set_ if rule.label == label) for label in ("no", "yes")}
    assert first == {"no": 'IF a = "y" THEN no', "yes": 'IF a = "x" THEN yes'}
    rare = pd.DataFrame({"a": ["0"] * 90 + ["1"] * 10})
    y = [1] * 5 + [0] * 85 + [1] + [0] * 9
    few = CN2Classifier(evaluation="entropy", min_covered=2).fit(rare, y).rule_set_
    assert {rule.label for rule in few} == {0}  # a = "0" has less of class 1 than the table, and a = "1" too few


def test_a_condition_that_changes_nothing_takes_no_place_in_the_beam():
    """Within a = x, class 1 is where c and d differ; b says again what a says, and is met before c and d."""
    rows = [("x", "x", c, d) for c in "uv" for d in "uv" for _ in range(25)] + [("y", "y", "u", "v")] * 100
    X = pd.DataFrame(rows, columns=list("abcd"))
    y = ((X["a"] == "x") & (X["c"] != X["d"])).astype(int)
    clf = CN2Classifier(beam_width=1, max_conditions=3).fit(X, y)
    first = next(rule for rule in clf.rule_set_ if rule.label == 1)
    assert first.precision == 1
    assert {condition.column for condition in first.conditions} == {"a", "c", "d"}


def test_insignificant_rules_are_not_made():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.integers(0, 3, (200, 4)).astype(str), columns=list("abcd")), rng.integers(0, 2, 200)
    assert len(CN2Classifier(significance=1e-6).fit(X, y).rule_set_) == 0
    assert len(CN2Classifier(significance=1e-320).fit(X, y).rule_set_) == 0
    many, few = CN2Classifier().fit(X, y), CN2Classifier(significance=0.01).fit(X, y)
    assert len(many.rule_set_) > len(few.rule_set_)
    X, y = table_of_letters(0, n=300)
    sure = CN2Classifier(significance=1e-4).fit(X, y)
    assert len(sure.rule_set_) >= 2
    left = np.ones(y.size, bool)
    for before, rule in zip([None, *sure.rule_set_], sure.rule_set_, strict=False):
        if before is None or before.label != rule.label:
            left[:] = True
        share = (y == rule.label).mean()
        inside = rule.covers(X) & left
        observed = np.array([(y[inside] == rule.label).sum(), (y[inside] != rule.label).sum()])
        expected = np.array([share, 1 - share]) * inside.sum()
        assert observed[0] > expected[0]
        terms = [o * np.log(o / e) for o, e in zip(observed, expected, strict=True) if o]
        assert 2 * sum(terms) >= 15.13  # chi-square with one degree of freedom, 1e-4
        left &= ~(inside & (y == rule.label))


def test_limits_on_rules_conditions_and_records():
    X, y = table_of_letters(3, n=200)
    whole = CN2Classifier().fit(X, y)
    assert rules_of(CN2Classifier(max_rules=4).fit(X, y)) == rules_of(whole)[:4]
    assert max(len(rule.conditions) for rule in whole.rule_set_) > 2
    assert max(len(rule.conditions) for rule in CN2Classifier(max_conditions=2).fit(X, y).rule_set_) == 2
    assert all((rule.covers(X) & (y == rule.label)).sum() >= 5 for rule in whole.rule_set_)
    assert whole.n_candidates_ > 100


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"evaluation": "gini"}, "evaluation must be one of 'laplace', 'entropy', got 'gini'"),
        ({"beam_width": 0}, "beam_width must be an integer at least 1 and at most 1000, got 0"),
        ({"min_covered": 0.5}, "min_covered must be an integer at least 1, got 0.5"),
        ({"significance": 0}, "significance must be a number above 0 and at most 1, got 0"),
    ],
)
def test_bad_parameters_are_named(changes, words):
    X, y = table_of_letters(0)
    with pytest.raises((TypeError, ValueError), match=words):
        CN2Classifier(**changes).fit(X, y)
