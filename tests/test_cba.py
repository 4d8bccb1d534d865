import numpy as np
import pandas as pd
import pytest

import naive
from diverse_rule_sets import Interval, metrics
from diverse_rule_sets.baselines import CBAClassifier
from small import as_records, named, rules_of, table_of_letters


@pytest.mark.filterwarnings("ignore:no condition reaches")
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(("support", "confidence"), [(0.05, 0.5), (0.1, 0.3), (0.2, 0.0)])
def test_the_classifier_is_that_of_the_literal_algorithm(seed, support, confidence):
    X, y = table_of_letters(seed, n_columns=4 + seed % 2, n_values=2 + seed % 3, n_classes=2 + seed % 2)
    records, conditions = as_records(X)
    ref, default = naive.cba(records, y.tolist(), support, confidence)
    clf = CBAClassifier(min_support=support, min_confidence=confidence, max_conditions=None).fit(X, y)
    assert rules_of(clf) == named(ref, conditions)
    assert clf.rule_set_.default == default


@pytest.mark.parametrize("seed", range(15))
def test_the_same_holds_for_thresholds_and_few_conditions(seed):
    """Items of one column may hold together there, and conditions are counted by column."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (40, 3)).astype(float)
    X, y = pd.DataFrame(values, columns=list("abc")), rng.integers(0, 2, 40)
    y = np.where(rng.random(40) < 0.7, (values[:, 0] > 1) & (values[:, 0] < 4), y).astype(int)
    edges = {name: [1.5, 3.5] for name in X}
    items = [Interval(c, high=e) if side else Interval(c, low=e) for c in X for e in edges[c] for side in (True, False)]
    holds = [(X[i.column] <= i.high) if i.high is not None else (X[i.column] > i.low) for i in items]
    records = [frozenset(k for k, flags in enumerate(holds) if flags[r]) for r in range(40)]
    longest = 1 + seed % 3
    ref, default = naive.cba(records, y.tolist(), 0.1, 0.4, lambda body: len({k // 4 for k in body}) <= longest)
    how = {"conditions": "thresholds", "binning": edges, "max_conditions": longest}
    clf = CBAClassifier(min_support=0.1, min_confidence=0.4, **how).fit(X, y)
    assert [(rule.label, rule.covers(X).tolist()) for rule in clf.rule_set_] == [
        (label, [set(body) <= record for record in records]) for body, label in ref
    ]
    assert clf.rule_set_.default == default


def test_rules_are_found_and_the_first_one_speaks():
    X, y = table_of_letters(1, n=200)
    clf = CBAClassifier().fit(X, y)
    assert clf.rule_set_.conflict == "first"
    assert 3 <= len(clf.rule_set_) <= clf.n_association_rules_
    fired = clf.rule_set_.covers(X)
    first = [rule.label for rule in clf.rule_set_] + [clf.rule_set_.default]
    ref = [first[np.flatnonzero([*row, True])[0]] for row in fired]
    assert clf.predict(X).tolist() == ref
    assert metrics.overlap(clf.rule_set_, X) > 0


def test_rules_have_the_support_and_confidence_asked_for():
    X, y = table_of_letters(2, n=200)
    clf = CBAClassifier(min_support=0.08, min_confidence=0.6).fit(X, y)
    for rule in clf.rule_set_:
        right = rule.covers(X) & (y == rule.label)
        assert right.sum() >= 16
        assert right.sum() / rule.covers(X).sum() == pytest.approx(rule.precision)
        assert rule.precision >= 0.6


def test_limits_on_rules_and_conditions():
    X, y = table_of_letters(3, n=200)
    whole = CBAClassifier(min_confidence=0, max_conditions=None).fit(X, y)
    assert max(len(rule.conditions) for rule in whole.rule_set_) > 1
    assert rules_of(CBAClassifier(min_confidence=0, max_conditions=None, max_rules=3).fit(X, y)) == rules_of(whole)[:3]
    assert rules_of(CBAClassifier(max_rules=0).fit(X, y)) == []
    short = CBAClassifier(min_confidence=0, max_conditions=1).fit(X, y)
    assert max(len(rule.conditions) for rule in short.rule_set_) == 1


def test_thresholds_merge_into_intervals_within_the_limit_on_conditions():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300), "b": rng.random(300)})
    y = ((X["a"] > 0.3) & (X["a"] < 0.6)).to_numpy()
    clf = CBAClassifier(conditions="thresholds", max_conditions=1).fit(X, y)
    assert (clf.predict(X) == y).all()
    inner = [rule.conditions[0] for rule in clf.rule_set_ if rule.conditions[0].low and rule.conditions[0].high]
    assert inner
    assert max(len(rule.conditions) for rule in clf.rule_set_) == 1


def test_too_low_a_support_is_stopped_by_the_limit_with_advice():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.integers(0, 2, (200, 40)).astype(str)), rng.integers(0, 2, 200)
    X.columns = X.columns.astype(str)
    clf = CBAClassifier(min_support=0.001, max_candidates=10_000)
    with pytest.raises(
        ValueError, match=r"more than max_candidates=10,000 bodies reach min_support=0.001; raise min_s"
    ):
        clf.fit(X, y)
    assert not hasattr(clf, "rule_set_")
    assert CBAClassifier(min_support=0.2, max_candidates=10_000).fit(X, y).n_candidates_ < 10_000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"min_support": 0}, "min_support must be an integer at least 1, got 0"),
        ({"min_support": 0.0}, "min_support must be a number above 0 and at most 1, got 0.0"),
        (
            {"min_support": "low"},
            "min_support must be one of 'auto', a number of records, or a share of them, got 'low'",
        ),
        ({"min_support": 2.0}, "min_support must be a number above 0 and at most 1, got 2.0"),
        ({"min_confidence": "high"}, "min_confidence must be a number at least 0 and at most 1, got 'high'"),
        ({"max_rules": -1}, "max_rules must be an integer at least 0 and at most 10000, got -1"),
        ({"max_conditions": 0}, "max_conditions must be an integer at least 1 and at most 10000, got 0"),
        ({"max_candidates": 0}, r"max_candidates must be an integer at least 1 and at most 10,000,000, got 0"),
        ({"n_bins": None}, "n_bins must be an integer at least 2 and at most 1000, got None"),
        ({"conditions": "points"}, "conditions must be one of 'thresholds', 'bins', got 'points'"),
        ({"binning": "random"}, "binning must be one of"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"verbose": -1}, "verbose must be an integer at least 0, got -1"),
    ],
)
def test_bad_parameters_are_named(changes, words):
    X, y = table_of_letters(0)
    with pytest.raises((TypeError, ValueError), match=words):
        CBAClassifier(**changes).fit(X, y)
