"""Learnt conditions on columns of whole numbers are written in whole numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    DRSClassifier,
    Equals,
    Interval,
    IsMissing,
    Rule,
    RuleSet,
    Scorecard,
)
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._whole_numbers import at_fewest_points, in_whole_numbers

BOUNDS = st.none() | st.integers(-3, 12) | st.floats(-3, 12)


def is_written_with_a_whole_bound(test, bound):
    """Return whether a condition contains its bound; ``x > 40`` is written instead of ``x >= 41``, as 40 is rounder."""
    return test in (">=", "<=") or (test == ">" and bound >= 10 and bound % 10 == 0)


@example(low=11, high=None, with_low=True, with_high=False, first=2, width=9, keep_sides=False)  # x > 10
@given(BOUNDS, BOUNDS, st.booleans(), st.booleans(), st.integers(-2, 3), st.integers(0, 9), st.booleans())
def test_it_holds_for_the_same_whole_numbers_of_training(low, high, with_low, with_high, first, width, keep_sides):
    if low is None and high is None:
        return
    before = Interval("x", low, high, with_low, with_high)
    if before.empty:
        return
    after = in_whole_numbers(before, Domain(whole=True, limits=(first, first + width)), keep_sides)
    numbers = pd.DataFrame({"x": np.arange(first, first + width + 1.0)})
    old, new = Rule((before,), 0).covers(numbers), Rule((after,), 0).covers(numbers)
    assert (old == new).all()
    if old.any():
        assert all(type(bound) is int for _, bound in after.comparisons)
        assert all(is_written_with_a_whole_bound(*one) for one in after.comparisons)
    if isinstance(after, Interval) and len(after.comparisons) == 2 and not after.empty:
        assert after == before or after.low < after.high
    if keep_sides and len(before.comparisons) == 1:  # the same for all whole numbers, in training or not
        everything = pd.DataFrame({"x": np.arange(-50, 50.0)})
        assert (Rule((before,), 0).covers(everything) == Rule((after,), 0).covers(everything)).all()


@pytest.mark.parametrize(
    ("limits", "interval", "text"),
    [
        ((0, 9), (2, None), "x >= 3"),
        ((0, 9), (2, 5), "3 <= x <= 5"),
        ((0, 9), (2, 3), "x = 3"),
        ((0, 9), (2.5, 5.5), "3 <= x <= 5"),
        ((0, 9), (None, 0), "x = 0"),
        ((0, 9), (None, 0.5), "x = 0"),
        ((1, 9), (None, 1), "x = 1"),
        ((-1, 9), (None, 0), "x <= 0"),  # -1 occurs
        ((-5, 9), (None, -5), "x <= -5"),  # there may be smaller numbers than -5
        ((17, 90), (None, 17), "x <= 17"),
        ((0, 9), (8, None), "x >= 9"),
        ((0, 1), (0, None), "x = 1"),
        ((1, 2), (None, 1), "x = 1"),
        ((-8, -7), (None, -8), "x = -8"),
        (None, (2, 5), "2 < x <= 5"),
    ],
)
def test_the_forms(limits, interval, text):
    assert str(in_whole_numbers(Interval("x", *interval), Domain(whole=True, limits=limits))) == text


def test_the_least_number_of_points():
    card = Scorecard.parse("points (for u, v): 1 for u, 2 for v if a > 1; 2 for u if b > 2")
    for column, least, text in [
        (card.column("lead"), 0, "lead = 0"),
        (card.column("points", "v"), 0, "points for v = 0"),
    ]:
        assert str(at_fewest_points(Interval(column, high=least))) == text
        assert at_fewest_points(Interval(column, high=1)) == Interval(column, high=1)


def families(n=800, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "children": rng.integers(0, 7, n),
            "age": rng.integers(18, 80, n).astype(float),
            "member": rng.integers(0, 2, n).astype(np.int8),
            "income": rng.normal(30, 9, n).round(2),
        }
    )
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    points = (X["children"] == 0) * 2 + X["children"].between(3, 4) * 2 + (X["age"] > 60) + X["member"]
    return X, np.where(points + (X["income"] > 35) + rng.normal(0, 0.4, n) > 2, "yes", "no")


FITS = {
    "rules": lambda: DiverseRuleSetClassifier(scorecards=None, random_state=0),
    "scorecard": lambda: DiverseRuleSetClassifier(min_evidence=0, random_state=0),
    "paper": lambda: DRSClassifier(random_state=0),
    "edges": lambda: DiverseRuleSetClassifier(binning={"age": [29.5, 60]}, random_state=0),
    "CBA": CBAClassifier,
    "CN2": CN2Classifier,
}


@pytest.mark.parametrize("name", FITS)
def test_learnt_conditions_name_whole_numbers(name):
    X, y = families()
    rule_set = FITS[name]().fit(X, y).rule_set_
    seen = set()
    for condition in plain_conditions(rule_set.all_rules):
        assert isinstance(condition, Interval | Equals | IsMissing)
        if condition.column != "income":
            seen.add(type(condition))
            assert all(type(bound) is int for _, bound in condition.comparisons)
            assert all(is_written_with_a_whole_bound(test, bound) for test, bound in condition.comparisons)
            assert all(type(value) is int for value in condition.values_named)
    assert Equals in seen
    # Counts are those of the items, so that the printed conditions are those that were learnt.
    counted = rule_set.evaluated(X, y)
    assert [rule.class_counts for rule in counted.all_rules] == [rule.class_counts for rule in rule_set.all_rules]
    assert RuleSet.parse(str(rule_set)).same_rules(rule_set)


def test_a_number_below_the_training_range_does_not_meet_an_equality():
    X = pd.DataFrame({"children": [0, 1, 2, 3] * 50})
    y = np.where(X["children"] == 0, "none", "some")
    rule_set = DiverseRuleSetClassifier(random_state=0).fit(X, y).rule_set_
    assert {str(c) for rule in rule_set for c in rule.conditions} == {"children = 0", "children >= 1"}
    new = pd.DataFrame({"children": [-1, 0, 0.5, 1, 9]})
    assert rule_set.covers(new).any(axis=1).tolist() == [False, True, False, True, True]


def test_large_numbers_and_fractions_keep_their_bounds():
    X = pd.DataFrame({"big": np.array([2**53, 2**53 + 8] * 50, float), "half": [0, 0.5] * 50})
    for name in X:
        rule_set = DiverseRuleSetClassifier(random_state=0).fit(X[[name]], [0, 1] * 50).rule_set_
        tests = {test for rule in rule_set for c in rule.conditions for test, _ in c.comparisons}
        assert tests == {"<=", ">"}


def test_booleans_beside_numbers_keep_their_bounds():
    """In a rule of its own, False is not 0."""
    X, y = [[False], [1]] * 20, ["a", "b"] * 20
    rule_set = DiverseRuleSetClassifier(random_state=0).fit(X, y).rule_set_
    assert {str(c) for rule in rule_set for c in rule.conditions} == {"x0 <= 0", "x0 > 0"}
    assert rule_set[0].covers(X).sum() == 20


def test_columns_with_a_direction_keep_their_sides():
    X, y = families()
    clf = DiverseRuleSetClassifier(monotone={"children": "decreasing", "member": "increasing"}, random_state=0)
    rule_set = clf.fit(X, y).rule_set_
    conditions = [c for c in plain_conditions(rule_set.all_rules) if c.column in ("children", "member")]
    assert conditions
    assert all(isinstance(c, Interval) and len(c.comparisons) == 1 for c in conditions)


def test_why_names_numbers_of_training_only():
    X = pd.DataFrame({"children": [0, 1, 2, 3] * 50, "flag": [0] * 100 + [1] * 100})
    y = np.where((X["children"] == 0) & (X["flag"] == 1), "yes", "no")
    clf = DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(X, y)
    told = clf.why({"children": 2, "flag": 1})
    assert "It would be yes if children = 0 (it is 2)" in told
    assert "It would be yes if flag = 1 (it is 0)" in clf.why({"children": 0, "flag": 0})
    assert "It would be no if children >= 1 (it is 0)" in clf.why({"children": 0, "flag": 1}) or (
        "It would be no if flag = 0 (it is 1)" in clf.why({"children": 0, "flag": 1})
    )
    assert "children < 0" not in told
    read = RuleSet.from_json(clf.rule_set_.to_json())
    assert read == clf.rule_set_
    assert read.domains == clf.rule_set_.domains
    assert read.why({"children": 2, "flag": 1}) == told


def test_limits_are_part_of_the_file_only_if_they_are_needed():
    X, y = families()
    assert (
        '"version": 2'
        in DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(X[["age", "income"]], y).rule_set_.to_json()
    )
    text = DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(X, y).rule_set_.to_json()
    assert '"version": 4' in text
    assert '"limits": [0, 6]' in text


@pytest.mark.parametrize("limits", ["[3, 0]", "[0]", "[0, 1.5]", "[0, true]", "0", "null", "[-9007199254740993, 0]"])
def test_wrong_limits_in_a_file_are_an_error(limits):
    X, y = families()
    text = DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(X, y).rule_set_.to_json()
    text = re.sub(r',\n  "checksum": "[^"]*"', "", text).replace("[0, 6]", limits)
    with pytest.raises(
        ValueError, match=r"columns\[\d\]\.limits must be two whole numbers, the smaller one first, got"
    ):
        RuleSet.from_json(text)


def test_rounder_numbers_keep_their_side():
    hours = Domain(whole=True, limits=(0, 99_999))
    cases = {
        (40, None): "hours > 40",
        (36, None): "hours >= 37",
        (9, None): "hours >= 10",
        (10, 20): "10 < hours <= 20",
        (5100, None): "hours > 5100",
        (5101, None): "hours >= 5102",
        (0, None): "hours >= 1",
        (39, 40): "hours = 40",
    }
    for (low, high), text in cases.items():
        assert str(in_whole_numbers(Interval("hours", low, high), hours)) == text
