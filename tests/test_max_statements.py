"""The parameter ``max_statements``: rules, fallback rules and the default label together."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, Rule, RuleSet, metrics
from diverse_rule_sets.learn._learner import Budget


def table(seed, n=160, n_classes=3):
    """Return a table with numbers, strings and missing values, and labels that depend on three columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.random(n).round(2), "b": rng.random(n).round(2), "c": rng.choice(list("uvw"), n)})
    score = (X.a > 0.5).astype(int) + (X.b > 0.6) * (X.c != "u")
    y = np.where(rng.random(n) < 0.15, rng.integers(0, n_classes, n), score % n_classes)
    return X.mask(rng.random(X.shape) < 0.1), np.array(["x", "y", "z"])[y]


GIVEN = ["IF a > 0.9 THEN y", "IF c = 'w' AND b <= 0.2 THEN x"]


@st.composite
def cases(draw):
    n_given = draw(st.integers(0, 2))
    return {
        "max_statements": draw(st.integers(1 + n_given, 9)),
        "max_rules": draw(st.integers(n_given, 12)),
        "max_fallbacks": draw(st.sampled_from([0, 1, 15])),
        "max_overlap": draw(st.sampled_from([0, 0.05, 0.5, 1.0, {"agree": 1.0}])),
        "given_rules": GIVEN[:n_given] or None,
        "scorecards": draw(st.sampled_from(["auto", None])),
        "min_evidence": draw(st.sampled_from([0, 0.25, 1])),
        "required": draw(st.sampled_from([None, ["a"]])),
        "random_state": 0,
    }


@settings(max_examples=25, deadline=None)
@given(cases(), st.integers(0, 20), st.sampled_from([2, 3]))
def test_no_more_statements_than_the_limit(params, seed, n_classes):
    X, y = table(seed, n_classes=n_classes)
    rule_set = DiverseRuleSetClassifier(**params).fit(X, y).rule_set_
    size = metrics.size(rule_set)
    assert size.statements == len(rule_set) + len(rule_set.fallbacks) + 1 <= params["max_statements"]
    assert size.rules <= params["max_rules"]
    assert size.fallbacks <= params["max_fallbacks"]
    own = params["given_rules"] or []
    assert [str(rule) for rule in rule_set.rules[: len(own)]] == [str(Rule.parse(rule)) for rule in own]
    covered = np.zeros(len(X), bool)
    for j, (rule, flags) in enumerate(zip(rule_set, rule_set.covers(X).T, strict=True)):
        if j >= len(own):
            assert flags.sum() >= 3
            assert params["required"] is None or "a" in {condition.column for condition in rule.conditions}
            if not isinstance(params["max_overlap"], dict):
                assert (flags & covered).sum() <= params["max_overlap"] * flags.sum()
        covered |= flags


def test_the_limit_of_one_statement_is_the_default_label_alone():
    X, y = table(0)
    clf = DiverseRuleSetClassifier(max_statements=1, random_state=0).fit(X, y)
    assert metrics.size(clf.rule_set_) == (1, 0, 0, 0, 0)
    assert set(clf.predict(X)) == {clf.rule_set_.default}
    assert clf.history_ == []


def test_given_rules_and_the_default_label_may_be_all():
    X, y = table(0)
    clf = DiverseRuleSetClassifier(max_statements=3, given_rules=GIVEN, random_state=0).fit(X, y)
    assert [str(rule) for rule in clf.rule_set_] == [str(Rule.parse(rule)) for rule in GIVEN]
    assert not clf.rule_set_.fallbacks


def test_one_class():
    X, _ = table(0)
    clf = DiverseRuleSetClassifier(max_statements=2, random_state=0).fit(X, ["x"] * len(X))
    assert metrics.size(clf.rule_set_).statements == 1
    clf = DiverseRuleSetClassifier(max_statements=2, given_rules=["IF a > 0.9 THEN x"]).fit(X, ["x"] * len(X))
    assert metrics.size(clf.rule_set_).statements == 2


def test_fewer_statements_cost_accuracy_only_slowly():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    clf = DiverseRuleSetClassifier(scorecards=None, random_state=0)
    rule_sets = clf._rule_sets(X, y, [Budget(40, n) for n in (1, 6, 11, 21)])
    scores = [(rule_set.predict(X) == y).mean() for rule_set in rule_sets]
    assert scores == sorted(scores)
    assert scores[0] < 0.15
    assert scores[1] > 0.35
    assert scores[3] > 0.75


def test_fallback_rules_take_the_place_of_rules_where_they_are_worth_more():
    """Of all limits on several tables, some sets have fallback rules, and some have none."""
    found = set()
    for seed in range(4):
        X, y = table(seed)
        clf = DiverseRuleSetClassifier(scorecards=None, random_state=0)
        for rule_set in clf._rule_sets(X, y, [Budget(40, n) for n in range(1, 10)]):
            found.add(len(rule_set.fallbacks))
    assert 0 in found
    assert found - {0}


# --- one search for several limits, threads -----------------------------------------------------------------

SIZES = [(40, 3), (40, 9), (40, None), (5, 9), (40, 5), (5, None), (40, 1), (2, 3)]
BUDGETS = [Budget(*sizes) for sizes in SIZES]


@pytest.mark.parametrize("params", [{}, {"scorecards": None}, {"max_overlap": {"agree": 1.0}}, {"max_fallbacks": 0}])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_one_search_gives_the_rule_sets_of_several_fits(load, params):
    X, y = load(return_X_y=True)
    together = DiverseRuleSetClassifier(random_state=0, **params)._rule_sets(X, y, BUDGETS)
    for budget, rule_set in zip(BUDGETS, together, strict=True):
        alone = DiverseRuleSetClassifier(random_state=0, **params, **budget._asdict()).fit(X, y).rule_set_
        assert rule_set == alone
        assert str(rule_set) == str(alone)


def test_the_limits_of_a_search_do_not_depend_on_each_other():
    """The sizes that are kept for a small limit are no options for a large one."""
    for seed in range(3):
        X, y = table(seed, n=300)
        limits = [Budget(40, n) for n in range(1, 12)]
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, min_evidence=0)
        together = clf._rule_sets(X, y, limits)
        assert together == [clf._rule_sets(X, y, [limit])[0] for limit in limits]


def test_a_generator_is_used_once_for_limited_and_unlimited_sets():
    X, y = table(1)
    for budgets in ([Budget(40)], [Budget(40, 4)], [Budget(40, 4), Budget(40)]):
        rng = np.random.default_rng(5)
        DiverseRuleSetClassifier(random_state=rng)._rule_sets(X, y, budgets)
        assert rng.bit_generator.state != np.random.default_rng(5).bit_generator.state


@pytest.mark.parametrize("scorecards", ["auto", None])
def test_threads_give_the_same_rules(scorecards):
    """Shards are compared in ``test_backends.py``."""
    X, y = load_breast_cancer(return_X_y=True)
    params = {"max_statements": 5, "scorecards": scorecards, "random_state": 0}
    expected = DiverseRuleSetClassifier(**params).fit(X, y).rule_set_
    assert DiverseRuleSetClassifier(**params, n_jobs=2).fit(X, y).rule_set_ == expected


# --- the parameter --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "error"),
    [(0, ValueError), (-1, ValueError), (2.5, TypeError), ("3", TypeError), (True, TypeError), (30_000, ValueError)],
)
def test_bad_values_raise_clear_errors(value, error):
    X, y = table(0)
    message = f"max_statements must be an integer at least 1 and at most 20001, got {value!r}"
    with pytest.raises(error, match=message):
        DiverseRuleSetClassifier(max_statements=value).fit(X, y)


@pytest.mark.parametrize("value", [1, 2])
def test_fewer_statements_than_given_rules_raise_a_clear_error(value):
    X, y = table(0)
    message = f"max_statements must be at least 3, the number of given_rules and the default label, got {value}"
    with pytest.raises(ValueError, match=message):
        DiverseRuleSetClassifier(max_statements=value, given_rules=GIVEN).fit(X, y)
    with pytest.raises(ValueError, match=message):
        DiverseRuleSetClassifier(given_rules=GIVEN)._rule_sets(X, y, [Budget(40), Budget(40, value)])


def test_clone_and_parameters():
    clf = DiverseRuleSetClassifier(max_statements=np.int64(4), random_state=0)
    assert clone(clf).get_params()["max_statements"] == 4
    assert DiverseRuleSetClassifier().max_statements is None
    assert "max_statements" not in DRSClassifier().get_params()
    X, y = table(2)
    assert clone(clf).fit(X, y).rule_set_ == clf.fit(X, y).rule_set_
    assert clf.set_params(max_statements=2).fit(X, y).rule_set_.fallbacks == ()


def test_grid_search_over_statements():
    X, y = table(3, n=300)
    grid = GridSearchCV(DiverseRuleSetClassifier(random_state=0), {"max_statements": [1, 6, None]}, cv=2).fit(X, y)
    assert grid.best_params_["max_statements"] != 1
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_model_files_have_no_new_fields():
    X, y = table(1)
    files = [
        json.loads(DiverseRuleSetClassifier(max_statements=n, random_state=0).fit(X, y).rule_set_.to_json())
        for n in (4, None)
    ]
    assert set(files[0]) == set(files[1])
    rule_set = DiverseRuleSetClassifier(max_statements=4, random_state=0).fit(X, y).rule_set_
    assert RuleSet.from_json(rule_set.to_json()) == rule_set
    assert "max_statements" not in rule_set.to_json()


def test_smaller_sets_are_reported():
    X, y = load_digits(return_X_y=True)
    told = []
    clf = DiverseRuleSetClassifier(max_statements=4, scorecards=None, random_state=0)
    clf.fit(X[:400], y[:400], on_progress=told.append)
    n_rules = [progress.n_rules for progress in told if progress.stage == "merging"]
    assert n_rules[-1] <= 3
    assert told[-1].n_rules == len(clf.rule_set_) <= 3
