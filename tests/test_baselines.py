"""What all baselines promise alike."""

import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import diverse_rule_sets
from diverse_rule_sets import RuleSet, baselines, metrics
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier

BASELINES = [CBAClassifier, CN2Classifier, IDSClassifier]
each_baseline = pytest.mark.parametrize("Baseline", BASELINES)
iris = load_iris(as_frame=True)


def test_the_public_names():
    assert baselines.__all__ == ["CBAClassifier", "CN2Classifier", "IDSClassifier"]
    assert diverse_rule_sets.baselines is baselines


@each_baseline
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_every_check_of_scikit_learn_passes(Baseline):
    results = check_estimator(Baseline(), on_fail=None)
    assert len(results) > 50
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}


@each_baseline
def test_it_learns(Baseline):
    assert cross_val_score(Baseline(), iris.data, iris.target, cv=5).mean() > 0.9
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    assert cross_val_score(Baseline(max_conditions=2), X, y, cv=3).mean() > 0.85


@each_baseline
def test_grid_search_clone_and_pickle(Baseline):
    grid = GridSearchCV(Baseline(), {"max_rules": [0, 20]}, cv=3).fit(iris.data, iris.target)
    assert grid.best_params_ == {"max_rules": 20}
    clf = grid.best_estimator_
    assert clone(clf).get_params() == clf.get_params()
    assert pickle.loads(pickle.dumps(clf)).rule_set_ == clf.rule_set_


@each_baseline
def test_tables_of_any_kind_give_the_same_rules(Baseline, mixed):
    frame, y = mixed
    same = pl.from_pandas(frame).with_columns(pl.col("size").cast(pl.String).cast(pl.Enum(["S", "M", "L"])))
    clf = Baseline().fit(frame, y)
    other = Baseline(n_jobs=2).fit(same, y)  # the order of sizes is kept: ties go by it
    assert isinstance(clf.rule_set_, RuleSet)
    assert len(clf.rule_set_) >= 2
    assert other.rule_set_ == clf.rule_set_
    assert other.predict(same).tolist() == clf.predict(frame).tolist()
    for conditions in ("bins", "thresholds"):
        for binning in ("uniform", "quantile", "supervised"):
            odd = Baseline(conditions=conditions, binning=binning, n_bins=3, max_conditions=2).fit(frame, y)
            assert (odd.predict(frame) == y).mean() > 0.5


def test_same_rules_without_the_compiler():
    script = textwrap.dedent("""
        import numba, sys
        from sklearn.datasets import load_iris
        from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
        X, y = load_iris(return_X_y=True)
        for clf in (CBAClassifier(), CN2Classifier(), IDSClassifier(weights="tuned", random_state=0)):
            print(clf.fit(X, y).rule_set_)
        print(numba.config.DISABLE_JIT, file=sys.stderr)
    """)
    outputs = []
    for disabled in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": disabled}
        how = {"capture_output": True, "text": True, "check": True, "env": environment}
        done = subprocess.run([sys.executable, "-c", script], **how)
        assert done.stderr.split() == [disabled]
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("OTHERWISE") == 3


@each_baseline
def test_rules_explain_and_are_measured_like_all_others(Baseline):
    clf = Baseline().fit(iris.data, iris.target_names[iris.target])
    told = clf.explain(iris.data)
    assert told["label"].tolist() == clf.predict(iris.data).tolist()
    assert told["covering"].map(len).to_numpy().tolist() == clf.rule_set_.covers(iris.data).sum(axis=1).tolist()
    assert 0 < metrics.coverage(clf.rule_set_, iris.data) <= 1
    assert 1 <= metrics.mean_conditions(clf.rule_set_) <= 3
    assert "OTHERWISE" in str(clf.rule_set_)
    probabilities = clf.predict_proba(iris.data)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert clf.classes_[np.argmax(probabilities, axis=1)].tolist() == clf.predict(iris.data).tolist()


@pytest.mark.parametrize("Baseline", [CBAClassifier, IDSClassifier])
def test_an_automatic_support_is_as_low_as_the_candidates_allow(Baseline):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    wide = pd.concat([X.add_prefix("a"), X.add_prefix("b"), X.add_prefix("c")], axis=1)
    clf = Baseline(max_candidates=3000).fit(wide, y)
    assert clf.min_support_ > Baseline(max_conditions=1).fit(wide, y).min_support_ == -(-y.size * Baseline._lowest // 1)
    assert clf.score(wide, y) > 0.85
    longest = max(len(rule.conditions) for rule in clf.rule_set_)
    given = Baseline(max_candidates=3000, min_support=clf.min_support_, max_conditions=longest).fit(wide, y)
    assert given.rule_set_ == clf.rule_set_
    assert (
        Baseline(max_candidates=3000, min_support=clf.min_support_ / y.size).fit(wide, y).min_support_
        == clf.min_support_
    )
    with pytest.raises(ValueError, match="more than max_candidates=3,000 bodies reach min_support"):
        Baseline(max_candidates=3000, min_support=int(clf.min_support_ / 1.1) - 1).fit(wide, y)


@pytest.mark.parametrize("Baseline", [CBAClassifier, IDSClassifier])
def test_a_very_wide_table_gets_shorter_rules_rather_than_none(Baseline):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.integers(0, 2, (300, 300)).astype(str)), rng.integers(0, 2, 300)
    X.columns = X.columns.astype(str)
    y = np.where(rng.random(300) < 0.9, (X["7"] == "1").astype(int), y)
    clf = Baseline(max_candidates=700).fit(X, y)
    assert {len(rule.conditions) for rule in clf.rule_set_} == {1}
    assert clf.n_candidates_ >= 600
    assert clf.score(X, y) > 0.8


@pytest.mark.parametrize("Baseline", [CBAClassifier, IDSClassifier])
def test_all_bodies_that_fit_are_found_however_many_are_looked_through(Baseline):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.integers(0, 5, (500, 110)).astype(str)), rng.integers(0, 2, 500)
    X.columns = X.columns.astype(str)
    clf = Baseline(min_support=0.13, max_candidates=600, max_conditions=2).fit(X, y)
    singles = [(X[c] == v) for c in X for v in X[c].unique()]
    if Baseline is IDSClassifier:
        assert clf.n_candidates_ == 2 * sum(one.mean() >= 0.13 for one in singles)
    else:
        assert clf.n_candidates_ == sum(max((one & (y == k)).mean() for k in (0, 1)) >= 0.13 for one in singles)


@pytest.mark.parametrize("Baseline", [CBAClassifier, IDSClassifier])
def test_a_support_that_nothing_reaches_is_said(Baseline):
    with pytest.warns(UserWarning, match="no condition reaches a support of 149 records, so there are no rules; lower"):
        assert len(Baseline(min_support=149).fit(iris.data, iris.target).rule_set_) == 0


@each_baseline
def test_nothing_to_tell_apart_gives_no_rules(Baseline):
    one_class = Baseline().fit(iris.data, ["a"] * 150)
    assert one_class.predict(iris.data[:3]).tolist() == ["a"] * 3
    assert len(one_class.rule_set_) == 0
    same = Baseline().fit(pd.DataFrame({"a": [1.0] * 20}), [0, 1] * 10)
    assert len(same.rule_set_) == 0
    assert same.predict(pd.DataFrame({"a": [1.0]})).tolist() == [0]
    noise = Baseline().fit(pd.DataFrame({"a": [np.nan, "x"] * 10}), ["u"] * 19 + ["v"])
    assert noise.predict(pd.DataFrame({"a": ["x", None, "new"]})).tolist() == ["u"] * 3


@each_baseline
def test_the_configuration_of_the_paper(Baseline):
    wanted = {
        CBAClassifier: {"min_support": 0.1, "min_confidence": 0.3, "max_rules": 100, "max_conditions": None},
        CN2Classifier: {"beam_width": 10, "min_covered": 15, "max_rules": 100, "max_conditions": 5, "significance": 1},
        IDSClassifier: {
            "weights": "tuned",
            "epsilon": 0.05,
            "min_support": 0.1,
            "search": "deterministic",
            "step": "first",
        },
    }[Baseline]
    shared = {"conditions": "bins", "binning": "uniform", "n_bins": 5}
    parameters = Baseline.as_in_paper().get_params()
    assert {name: parameters[name] for name in wanted | shared} == wanted | shared
    assert Baseline.as_in_paper(n_bins=3).n_bins == 3


@each_baseline
def test_progress_is_told_and_silence_is_kept(Baseline, capfd):
    Baseline().fit(iris.data, iris.target)
    assert capfd.readouterr() == ("", "")
    Baseline(verbose=2).fit(iris.data, iris.target)
    told = capfd.readouterr().err
    assert told.splitlines()[-1].startswith(f"{len(Baseline().fit(iris.data, iris.target).rule_set_)} rules cover ")
    assert len(told.splitlines()) >= 3


@each_baseline
def test_a_fit_that_fails_changes_nothing(Baseline):
    clf = Baseline().fit(iris.data, iris.target)
    before = clf.rule_set_
    clf.set_params(max_rules=-1)
    with pytest.raises(ValueError, match="max_rules must be an integer at least 0 and at most 10000, got -1"):
        clf.fit(iris.data, iris.target)
    assert clf.rule_set_ is before
