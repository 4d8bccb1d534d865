"""No rule set exceeds the limits, on any table, with either search."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from conftest import make_mixed
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from diverse_rule_sets.learn import _learner as learner
from internal import classifier


def mixed_table():
    import pandas as pd

    table, y = make_mixed(600)
    return pd.DataFrame(table), y


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


TABLES = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": digits,
    "mixed": mixed_table,
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"scorecards": None},
        {"max_overlap": 0.0},
        {"max_overlap": 0.0, "scorecards": None},
        {"max_overlap": 0.0, "min_evidence": 0.0, "min_recall_gain": 0.0, "max_conditions": None},
        {"max_overlap": 0.05, "max_rules": 4, "max_conditions": 2, "min_support": 10, "min_evidence": 0.2},
        {"max_overlap": 0.3, "max_conditions": 1, "min_evidence": 0.0, "diversity": "none"},
        {"paper_search": True, "n_candidates": 60, "max_overlap": 0.0, "max_conditions": 3, "min_support": 5},
        {"paper_search": True, "n_candidates": 60, "max_overlap": 0.1, "max_rules": 6, "thresholds": False},
    ],
)
def test_no_limit_is_exceeded(table, params):
    X, y = TABLES[table]()
    clf = classifier(random_state=1, **params).fit(X, y)
    check_limits(clf, X, y)
    assert len(clf.rule_set_.fallbacks) <= clf.max_fallbacks


@pytest.mark.parametrize(
    ("params", "tables"),
    [
        ({"max_overlap": 0.1, "max_rules": 6, "min_recall_gain": 0.0}, set(TABLES)),
        ({"max_overlap": 0.0, "min_support": 5}, set(TABLES) - {"digits"}),
        ({"max_overlap": 0.3, "max_conditions": 10, "diversity": "none", "second_pass": False}, {"wine", "cancer"}),
        ({"max_overlap": 0.0, "max_conditions": 2, "n_candidates": 200}, {"iris", "wine", "mixed"}),
    ],
)
def test_no_limit_is_exceeded_by_the_search_of_the_paper(params, tables):
    """Drawn bodies have half of the items of a record; on tables of few columns, some of them are within the limits."""
    for table in sorted(tables):
        X, y = TABLES[table]()
        clf = DRSClassifier(**({"random_state": 1, "n_candidates": 60} | params)).fit(X, y)
        check_limits(clf, X, y)
        assert clf.rule_set_.fallbacks == ()


def check_limits(clf, X, y):
    rule_set = clf.rule_set_
    assert 0 < len(rule_set) <= clf.max_rules
    covers = rule_set.covers(X)
    earlier = np.zeros(len(y), bool)
    for rule, covered in zip(rule_set, covers.T, strict=True):
        assert len({condition.column for condition in rule.conditions}) == len(rule.conditions)
        assert clf.max_conditions is None or len(rule.conditions) <= clf.max_conditions
        assert covered.sum() >= clf.min_support
        assert rule.n_covered == covered.sum()
        assert (covered & earlier).sum() <= clf.max_overlap * covered.sum()
        earlier |= covered
    if clf.max_overlap == 0:
        assert (covers.sum(axis=1) <= 1).all()


def test_rules_overlap_without_a_limit(monkeypatch):
    """The tests above would fail without the limit."""
    monkeypatch.setattr(learner, "_MAX_COMPARED", 0)  # do not compare the rules with those without scorecards
    plain = classifier(max_overlap=1.0, diversity="none", scorecards=None)
    with_points = classifier(max_overlap=1.0, diversity="none", min_evidence=0)
    for clf, table in ((plain, "wine"), (with_points, "mixed"), (DRSClassifier(diversity="none"), "wine")):
        X, y = TABLES[table]()
        rule_set = clf.set_params(random_state=0).fit(X, y).rule_set_
        assert (rule_set.covers(X).sum(axis=1) > 1).any()
        assert bool(rule_set.scorecards) == (clf is with_points)


@pytest.mark.parametrize("seed", range(4))
def test_the_limit_on_overlap_is_not_exceeded_on_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 6)), rng.integers(0, 3, 200)
    clf = DiverseRuleSetClassifier(random_state=seed, max_overlap=0, min_evidence=0, min_support=1).fit(X, y)
    assert len(clf.rule_set_) > 3
    assert (clf.rule_set_.covers(X).sum(axis=1) <= 1).all()


def test_min_evidence_excludes_spurious_rules():
    """A search over thousands of bodies always finds some that are good by chance."""
    found = {}
    for evidence in (0.0, 0.05, 0.25):
        rng = np.random.default_rng(0)
        clf = DiverseRuleSetClassifier(random_state=0, min_evidence=evidence)
        tables = [(rng.normal(size=(300, 30)), rng.integers(0, 2, 300)) for _ in range(4)]
        found[evidence] = sum(len(clf.fit(X, y).rule_set_) for X, y in tables)
    assert found[0.25] == 0
    assert found[0.05] < found[0.0] / 3


def test_limits_that_leave_no_rule_of_the_paper_warn():
    """On wide tables nearly all drawn rules are longer than a small limit."""
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(UserWarning, match="no rule was found within max_conditions=3, max_overlap=1.0, min_support=1"):
        clf = DRSClassifier(max_conditions=3, n_candidates=50, random_state=0).fit(X, y)
    assert len(clf.rule_set_) == 0
