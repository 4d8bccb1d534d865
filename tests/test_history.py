"""What a fit tells about itself: ``history_``, the stages of its progress, and scorecards that no rule uses."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, diversity_path
from diverse_rule_sets.estimators import _scorecards as scorecards_of_a_fit
from diverse_rule_sets.learn import _learner as learner
from diverse_rule_sets.learn._learner import Budget
from diverse_rule_sets.learn._points import Pair
from diverse_rule_sets.learn._scorecards import LearntScorecard
from diverse_rule_sets.model._scorecards import scorecards_of
from internal import classifier

PASSES = ["first pass", "second pass", "splitting", "growth", "merging"]
REFINED = ["exceptions", "refitting", "growth", "done"]  # stages after the last search
STAGES = ["conditions", "scorecards", *PASSES, *(f"{name}, without scorecards" for name in PASSES), "done"]


def told_by(clf, X, y):
    """Fit a classifier and return all messages about its progress."""
    told = []
    clf.fit(X, y, on_progress=told.append)
    return told


# --- history -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("params", [{}, {"scorecards": None}, {"min_evidence": 0.0, "max_overlap": 0.3}])
def test_each_rule_has_its_phase_and_its_scorecards(load, params):
    X, y = load(return_X_y=True)
    clf = classifier(random_state=0, **params).fit(X, y)
    assert len(clf.history_) == len(clf.rule_set_)
    for row, rule in zip(clf.history_, clf.rule_set_, strict=True):
        assert row["phase"] in ("first pass", "second pass", "partition", "splitting", "exceptions", "refitting")
        if row["phase"] in ("first pass", "second pass"):
            assert row["phase"] == {1: "first pass", 2: "second pass"}[row["pass"]]
        assert row["scorecards"] == [card.name for card in scorecards_of([rule])]
        assert bool(row["scorecards"]) == any("points" in str(c) or "lead" in str(c) for c in rule.conditions)
    assert any(row["scorecards"] for row in clf.history_) == bool(clf.rule_set_.scorecards)
    if params.get("scorecards", "auto") is None:
        assert not clf.rule_set_.scorecards
    assert list(pd.DataFrame(clf.history_).columns[-2:]) == ["phase", "scorecards"]


def test_given_rules_have_their_own_phase_and_the_second_scorecard_its_name():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (600, 10)), columns=[f"s{j}" for j in range(10)])
    y = np.where(X.sum(axis=1) + rng.normal(0, 1, 600) > 5, "ill", "well")
    card = "severity (for ill): 2 if s0 = 1, 1 if s1 = 1"
    given = ["IF s0 = 1 AND s1 = 1 AND s2 = 1 AND s3 = 1 THEN ill", "IF severity <= 0 AND s2 = 0 THEN well"]
    clf = DiverseRuleSetClassifier(scorecards=[card], given_rules=given, random_state=0).fit(X, y)
    assert [(row["phase"], row["pass"], row["scorecards"]) for row in clf.history_[:2]] == [
        ("given", 0, []),
        ("given", 0, ["severity"]),
    ]
    assert all(row["phase"] != "given" for row in clf.history_[2:])


def test_the_phase_of_split_rules():
    X, y = load_digits(return_X_y=True)
    params = {"random_state": 0, "scorecards": None, "max_overlap": 1.0, "min_evidence": 1.0}
    clf = DiverseRuleSetClassifier(**params).fit(X[:500], y[:500])
    assert {row["phase"] for row in clf.history_} > {"splitting"}
    told = told_by(DiverseRuleSetClassifier(**params), X[:500], y[:500])
    n_splits = sum(progress.stage == "splitting" for progress in told)
    n_parts = sum(row["phase"] == "splitting" for row in clf.history_)
    assert n_splits + 1 <= n_parts <= 2 * n_splits  # a part that is split again is no rule any more


def test_the_phases_of_the_paper():
    clf = DRSClassifier(random_state=0, n_candidates=30).fit(*load_iris(return_X_y=True))
    assert len({row["phase"] for row in clf.history_}) == 1
    for row in clf.history_:
        assert row["phase"] == {1: "first pass", 2: "second pass"}[row["pass"]]
        assert row["scorecards"] == []


# --- progress ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scorecards", ["auto", None])
def test_the_stages_of_a_fit_come_in_order(scorecards):
    X, y = load_breast_cancer(return_X_y=True)
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=scorecards, min_evidence=0)
    told = told_by(clf, X, y)
    names = [progress.stage for progress in told]
    n_searched = next((k for k, name in enumerate(names) if name in ("exceptions", "refitting")), len(names))
    order = [STAGES.index(name) for name in names[:n_searched]]
    assert order == sorted(order)
    assert set(names[n_searched:]) <= set(REFINED)
    assert n_searched < len(names) or scorecards == "auto"
    stages = set(names)
    assert {"conditions", "first pass", "done"} <= stages
    assert ("scorecards" in stages) == (scorecards == "auto")
    conditions, *others = told
    assert (conditions.stage, conditions.n_rules, conditions.coverage) == ("conditions", None, None)
    assert conditions.detail.endswith(" possible conditions")
    assert str(conditions) == f"conditions: {conditions.detail}"
    if scorecards == "auto":
        assert (others[0].stage, others[0].n_rules) == ("scorecards", None)
        assert others[0].detail == f"{len(clf.rule_set_.scorecards[0].signs)} signs"
    assert told[-1].coverage == clf.rule_set_.covers(X).any(axis=1).mean()
    n_growths = 0
    for stage, some in itertools.groupby(told, key=lambda progress: progress.stage):
        growth = list(some)
        if stage == "growth":  # of one set: the number of rules stays, and the coverage rises
            n_growths += 1
            assert len({progress.n_rules for progress in growth}) == 1
            coverage = [progress.coverage for progress in growth]
            assert coverage == sorted(set(coverage))
    assert n_growths or scorecards == "auto"
    assert told[-1].n_rules == len(clf.rule_set_)
    assert told[-2].coverage == told[-1].coverage or told[-2].stage.endswith("without scorecards")


def test_given_scorecards_and_those_of_several_kinds_are_counted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300), "b": rng.random(300)})
    y = np.where(X.a + X.b > 1, "u", "v")
    cards = ["one (for u): 1 if a > 0.5, 1 if b > 0.5", "two (for u): 1 if a > 0.3"]
    told = told_by(DiverseRuleSetClassifier(random_state=0, scorecards=cards), X, y)
    assert [progress.detail for progress in told if progress.stage == "scorecards"] == ["2 signs, 1 signs"]


# --- scorecards that no rule uses --------------------------------------------------------------------------------


def useless_scorecard(found, *_):
    """Return a scorecard of one sign, the last item, which says nothing about the classes of :func:`noisy`."""
    return LearntScorecard((Pair(len(found.sample.items) - 1, 1, 1),), ())


def noisy(n=500):
    """Return a table whose last column is noise, and labels that depend on the others."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.random(n), "b": rng.random(n), "noise": rng.integers(0, 2, n)})
    return X, np.where(((X.a > 0.6) & (X.b > 0.3)) ^ (rng.random(n) < 0.05), "yes", "no")


@pytest.fixture
def unused(monkeypatch):
    """Scorecards are learnt, but useless; the list gets the number of searches of each fit."""
    monkeypatch.setattr(scorecards_of_a_fit, "learn_scorecard", useless_scorecard)
    searches, search = [], learner._learn
    monkeypatch.setattr(learner, "_learn", lambda *args: searches.append(args[0]) or search(*args))
    return searches


@pytest.mark.parametrize("params", [{}, {"max_overlap": 1.0}, {"min_evidence": 0.0, "max_rules": 3}])
@pytest.mark.parametrize("seed", range(3))
def test_without_a_used_scorecard_the_rules_are_those_without_scorecards(unused, seed, params):
    X, y = noisy()
    clf = DiverseRuleSetClassifier(random_state=seed, **params).fit(X, y)
    assert [data.scorecards is not None for data in unused][:2] == [True, False]
    unused.clear()
    plain = DiverseRuleSetClassifier(random_state=seed, scorecards=None, **params).fit(X, y)
    assert len(unused) == 1
    assert clf.rule_set_ == plain.rule_set_
    assert str(clf.rule_set_) == str(plain.rule_set_)
    assert clf.history_ == plain.history_
    assert clf.objective_ == plain.objective_
    assert clf.lambda_ == plain.lambda_
    np.testing.assert_array_equal(clf.predict_proba(X), plain.predict_proba(X))


def test_paths_without_a_used_scorecard_are_those_without_scorecards(unused):
    X, y = noisy()
    several = [Budget(n) for n in (1, 2, 4, 4, 7)]
    found = DiverseRuleSetClassifier(random_state=0)._rule_sets(X, y, several)
    plain = DiverseRuleSetClassifier(random_state=0, scorecards=None)._rule_sets(X, y, several)
    assert found == plain
    assert [str(one) for one in found] == [str(one) for one in plain]
    assert any(data.scorecards is not None for data in unused)
    paths = [
        diversity_path(DiverseRuleSetClassifier(random_state=0, scorecards=one), X, y, max_rules=[1, 3, 5], cv=2)
        for one in ("auto", None)
    ]
    assert list(paths[0]) == list(paths[1])


def test_only_the_rule_sets_that_use_no_scorecard_are_learnt_again():
    """With one rule the scorecard may not pay, with more it does: each rule set is that of a fit alone."""
    X, y = load_breast_cancer(return_X_y=True)
    several = [1, 2, 5]
    together = DiverseRuleSetClassifier(random_state=0)._rule_sets(X, y, [Budget(n) for n in several])
    for n, rule_set in zip(several, together, strict=True):
        alone = DiverseRuleSetClassifier(random_state=0, max_rules=n).fit(X, y).rule_set_
        assert rule_set == alone
        assert str(rule_set) == str(alone)
        if not rule_set.scorecards:
            assert (
                rule_set == DiverseRuleSetClassifier(random_state=0, scorecards=None, max_rules=n).fit(X, y).rule_set_
            )


def test_some_rule_sets_of_a_path_use_a_scorecard_and_others_do_not(monkeypatch):
    """Whether a rule set uses a scorecard is decided for each one; the others stay as they are."""
    monkeypatch.setattr(learner, "_MANY_UNCOVERED", 1.0)
    uses = learner.Data.uses_scorecards
    several = lambda data, one: len(one.learnt) > 1 and uses(data, one)  # noqa: E731
    monkeypatch.setattr(learner.Data, "uses_scorecards", several)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (600, 8)), columns=[f"s{j}" for j in range(8)])
    y = np.where(X.sum(axis=1) + rng.normal(0, 0.5, 600) > 4, "ill", "well")
    first, second = DiverseRuleSetClassifier(random_state=0)._rule_sets(X, y, [Budget(1), Budget(2)])
    assert first == DiverseRuleSetClassifier(random_state=0, scorecards=None, max_rules=1).fit(X, y).rule_set_
    assert second.scorecards
    assert second == DiverseRuleSetClassifier(random_state=0, max_rules=2).fit(X, y).rule_set_


@pytest.mark.parametrize("seed", range(12))
def test_where_no_rule_tests_points_the_rules_are_those_without_scorecards(seed):
    """Of small tables where weak signs add up; few rules leave many records uncovered."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((150, 4)).round(2), columns=list("abcd"))
    score = X.to_numpy() @ rng.normal(size=4) + rng.normal(0, 0.3, 150)
    y = np.digitize(score, np.quantile(score, [0.5] if seed % 2 else [0.33, 0.67]))
    params = {"max_rules": 1 + seed % 4, "min_evidence": seed % 3, "random_state": seed}
    clf = DiverseRuleSetClassifier(**params).fit(X, y)
    plain = DiverseRuleSetClassifier(scorecards=None, **params).fit(X, y)
    if not clf.rule_set_.scorecards:
        assert clf.rule_set_ == plain.rule_set_
        assert clf.history_ == plain.history_
        assert clf.objective_ == plain.objective_


def test_a_search_among_points_that_finds_no_rule_is_not_used(unused, monkeypatch):
    """If the rules leave many records uncovered, and no rule on points is found, the rules stay, whatever they cost."""

    def nothing_allowed(data):
        banned = np.ones((data.backend.n_classes, data.backend.n_items), bool)
        return data._replace(constraints=replace(data.constraints, banned=banned))

    X, y = noisy()
    monkeypatch.setattr(learner.Data, "only_points", nothing_allowed)
    monkeypatch.setattr(learner, "_MANY_UNCOVERED", -1.0)
    monkeypatch.setattr(learner._Search, "value_of", lambda self, found: -len(found.steps))
    clf = DiverseRuleSetClassifier(random_state=0, max_rules=3).fit(X, y)
    assert [data.scorecards is not None for data in unused] == [True, False, True]
    plain = DiverseRuleSetClassifier(random_state=0, scorecards=None, max_rules=3).fit(X, y)
    assert len(plain.rule_set_) > 0
    assert clf.rule_set_ == plain.rule_set_
