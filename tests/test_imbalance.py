"""Classes of very different sizes: bounded balanced weights, evidence, scorecards, and fits with a few stray labels."""

import json
import re
import runpy
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score

import naive
from diverse_rule_sets import DiverseRuleSetClassifier, RuleSet, metrics
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.estimators._class_weights import class_weights
from diverse_rule_sets.learn import _scorecards
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.model._class_weights import are_balanced, balanced_weights

class_sizes = st.lists(st.one_of(st.integers(1, 30), st.integers(1, 100_000)), min_size=2, max_size=8)


def make_table(kind, n, n_positive, seed):
    """Return records of two classes: the second differs in six columns, in a conjunction, or not at all."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n - n_positive, n_positive])
    X = rng.normal(size=(n, 8))
    if kind == "additive":
        X[y == 1] += [0.8, 0.7, 0.6, 0.5, 0.5, 0.4, 0.0, 0.0]
    if kind == "conjunction":
        inside = (y == 1) & (rng.random(n) < 0.9)
        X[inside, 0] = 0.8 + np.abs(X[inside, 0])
        X[inside, 1] = -0.5 - np.abs(X[inside, 1])
    order = rng.permutation(n)
    return pd.DataFrame(X[order].round(3), columns=list("abcdefgh")), y[order]


@given(class_sizes)
@example([3990, 6000, 10])
@example([7000, 1])
def test_balanced_weights_equal_the_oracle(sizes):
    np.testing.assert_allclose(balanced_weights(sizes), naive.balanced_weights(sizes), rtol=1e-12)
    assert are_balanced((3.0 * balanced_weights(sizes)).tolist(), sizes)


@given(class_sizes)
def test_balanced_weights_are_bounded_and_larger_for_smaller_classes(sizes):
    weights, n, k = balanced_weights(sizes), sum(sizes), len(sizes)
    assert weights.max() <= max(10, n / (20 * k)) * (1 + 1e-12)
    assert (np.diff(weights[np.argsort(sizes)]) <= 0).all()
    assert (weights * sizes).max() <= n / k * (1 + 1e-12)  # no class has more than its share of the total weight


@given(st.lists(st.integers(20, 100_000), min_size=2, max_size=8))
def test_classes_of_twenty_records_have_the_same_total_weight(sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    weights, rare, _ = class_weights("balanced", list(range(len(sizes))), codes, 3)
    assert rare is None
    assert weights.tolist() == (codes.size / (len(sizes) * np.array(sizes, float))).tolist()  # exactly


@given(st.lists(st.integers(0, 3000), min_size=2, max_size=4), st.data())
def test_evidence_equals_the_oracle_for_classes_of_very_different_sizes(outside, data):
    inside = [data.draw(st.integers(0, 40)) for _ in outside]
    totals = [a + b + 1 for a, b in zip(inside, outside, strict=True)]
    weights = naive.balanced_weights(totals)
    measures = Measures(np.array(totals), np.array(weights), 5.0, 0.03)
    assert measures.evidence(np.array(inside)) == pytest.approx(naive.evidence(inside, totals, weights), abs=1e-9)


@pytest.mark.parametrize(("totals", "expected"), [((1000, 100), 1), ((500, 500), 1), ((1210, 384, 69, 65), 1)])
def test_the_information_of_moderate_imbalance_is_one(totals, expected):
    assert Measures(np.array(totals), balanced_weights(totals), 5.0, 0.03).information == expected


def test_the_information_of_strong_imbalance():
    """A rule that covers the larger class alone gains at most four times what it gains by records."""
    for size in (90, 50, 20):
        measures = Measures(np.array([10_000, size]), balanced_weights([10_000, size]), 5.0, 0.03)
        by_records = -100 * np.log(10_000 / (10_000 + size))
        assert measures.evidence(np.array([100, 0])) == pytest.approx(4 * by_records)
    assert Measures(np.array([10_000, 20]), np.ones(2), 5.0, 0.03).information == 1
    rare = np.array([False, False, True])
    with_rare = Measures(np.array([10_000, 20, 1]), np.array([0.5, 250, 1]), 5.0, 0.03, rare)
    assert with_rare.information == Measures(np.array([10_000, 20]), np.array([0.5, 250]), 5.0, 0.03).information
    assert Measures(np.array([10]), np.ones(1), 5.0, 0.03).information == 1


@pytest.mark.parametrize("class_weight", ["balanced", None])
@pytest.mark.parametrize(("n", "n_positive"), [(2000, 100), (2000, 20), (20_000, 40), (20_000, 200)])
@pytest.mark.parametrize(("min_evidence", "most"), [(0.25, 20), (1, 8)])
def test_noise_gives_few_statements(n, n_positive, class_weight, min_evidence, most):
    """With the default evidence there are more than with 1, but far fewer than the 56 that are possible."""
    n_statements = [
        metrics.size(
            DiverseRuleSetClassifier(random_state=0, class_weight=class_weight, min_evidence=min_evidence)
            .fit(*make_table("noise", n, n_positive, seed))
            .rule_set_
        ).statements
        for seed in range(3)
    ]
    assert np.mean(n_statements) <= most


@pytest.mark.parametrize("kind", ["additive", "conjunction"])
def test_alerts_at_one_in_five_hundred(kind):
    """Balanced weights find the alerts; without weights few or no records get the label, but the probabilities rank."""
    X, y = make_table(kind, 40_000, 80, 0)
    X_test, y_test = make_table(kind, 40_000, 2000, 1)
    balanced = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    assert balanced_accuracy_score(y_test, balanced.predict(X_test)) > 0.68
    assert metrics.size(balanced.rule_set_).statements <= 10
    plain = DiverseRuleSetClassifier(random_state=0, class_weight=None).fit(X, y)
    given = DiverseRuleSetClassifier(random_state=0, class_weight={1: 30}).fit(X, y)
    for clf in (balanced, plain, given):
        scores = clf.predict_proba(X_test)[:, 1]
        assert roc_auc_score(y_test, scores) > 0.7
        assert average_precision_score(y_test, scores) > 2 * 0.05
    alarms = [int(clf.predict(X_test).sum()) for clf in (plain, given, balanced)]
    assert alarms == sorted(alarms)  # the larger the weight, the more alarms
    assert plain.predict_proba(X)[:, 1].sum() == pytest.approx(80, rel=0.5)


def test_a_sample_for_scorecards_has_records_of_small_classes():
    """They weigh as much less as there are more of them; a sample of other classes is a random one."""
    codes = np.repeat([0, 1], [49_900, 100])
    backend = LocalBackend(np.zeros((1, bitset.n_words(codes.size)), np.uint64), codes, 2)
    ks, factors = _scorecards._sample_records(backend, np.array([0, 1]))
    counts = np.bincount(codes[ks])
    assert counts[1] == 100
    assert factors[0] == 1
    assert factors[1] == pytest.approx(100 * 5000 / 50_000 / 100)
    codes = np.repeat([0, 1], [45_000, 5000])
    backend = LocalBackend(np.zeros((1, bitset.n_words(codes.size)), np.uint64), codes, 2)
    ks, factors = _scorecards._sample_records(backend, np.array([0, 1]))
    assert factors.tolist() == [1, 1]
    np.testing.assert_array_equal(ks, np.sort(np.random.default_rng(0).permutation(codes.size)[:5000]))
    few = np.repeat([0, 1, 2], [300, 9, 2])
    backend = LocalBackend(np.zeros((1, bitset.n_words(few.size)), np.uint64), few, 3)
    ks, factors = _scorecards._sample_records(backend, np.array([0, 1]))  # the third class is rare
    assert (ks.tolist(), factors.tolist()) == (list(range(309)), [1, 1])


STRAY = "y has fewer than min_support=3 records of some labels"


@pytest.mark.parametrize("class_weight", ["balanced", None])
@pytest.mark.parametrize(
    ("sizes", "warns"),
    [
        ((900, 600, 1), True),  # a stray third label
        ((1500, 1), True),  # one record of two classes
        ((1500, 3), False),
        ((4,) * 5, False),
        ((3,) * 100, False),
        ((100,) * 25 + (2,), True),
        ((100,) * 25 + (4,), False),
        ((2, 1), False),
    ],
)
def test_a_few_records_of_a_class_end_no_fit(sizes, warns, class_weight):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    X = rng.normal(size=(y.size, 3)) * 0.3 + np.c_[y % 5, y // 5, np.zeros(y.size)]
    clf = DiverseRuleSetClassifier(random_state=0, class_weight=class_weight)
    with pytest.warns(UserWarning, match=STRAY) if warns else warnings.catch_warnings():
        clf.fit(X, y)
    assert clf.classes_.tolist() == list(range(len(sizes)))
    probabilities = clf.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-9)
    assert (probabilities > 0).all()
    large = np.flatnonzero(np.array(sizes) >= 100)
    if large.size:
        assert np.mean([(clf.predict(X[y == k]) == k).mean() for k in large]) > 0.6


@pytest.fixture(scope="module")
def small_class():
    """A table with a class of eight records among thousands, and its fit."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.array(["a", "b", "c"], object), [2000, 1000, 8]))
    shift = {"a": (0, 0), "b": (1, 0), "c": (0, 4)}
    X = pd.DataFrame(rng.normal(size=(y.size, 2)) + [shift[label] for label in y], columns=["u", "v"]).round(3)
    return X, y, DiverseRuleSetClassifier(random_state=0).fit(X, y)


def test_a_small_class_has_bounded_weight_and_rules(small_class):
    X, y, clf = small_class
    rule_set = clf.rule_set_
    assert are_balanced(rule_set.class_weights, rule_set.class_totals)
    ratio = rule_set.class_weights[2] / rule_set.class_weights[0]
    assert ratio == pytest.approx(2000 / 20)
    assert "count every record by the weight of its class: a 0.627, b 1.25, c 62.7." in str(rule_set)
    assert "c" in {rule.label for rule in (*rule_set, *rule_set.fallbacks)}
    predicted = clf.predict(X)
    assert (predicted[y == "c"] == "c").mean() > 0.5
    assert (predicted[y != "c"] == "c").mean() < 0.05
    first = rule_set[0]
    shares = naive.weighted_shares(
        [dict(first.class_counts)[label] for label in rule_set.classes],
        rule_set.class_totals,
        naive.balanced_weights(rule_set.class_totals),
        5.0,
    )
    np.testing.assert_allclose(rule_set.rule_probabilities[0], shares, atol=1e-9)


def test_exports_of_bounded_weights_predict_the_same(small_class):
    X, _, clf = small_class
    rule_set = clf.rule_set_
    assert RuleSet.from_json(rule_set.to_json()) == rule_set
    np.testing.assert_allclose(json.loads(rule_set.to_json())["class_weights"], rule_set.class_weights)
    names = {}
    exec(rule_set.to_python(), names)
    records = X.iloc[:300]
    labels = [names["predict"](record)["label"] for record in records.to_dict("records")]
    assert labels == clf.predict(records).tolist()
    connection = duckdb.connect()
    connection.register("records", X.assign(number=np.arange(len(X))))
    found = connection.sql(rule_set.to_sql(keep=["number"])).df().sort_values("number")
    assert found["predicted_label"].tolist() == clf.predict(X).tolist()
    np.testing.assert_allclose(found["predicted_probability_c"], clf.predict_proba(X)[:, 2], atol=1e-9)


def test_bounded_weights_of_other_data(small_class):
    """Editing on the same records keeps the weights; on others they are balanced again, within the same bound."""
    X, y, clf = small_class
    rule_set = clf.rule_set_
    same = rule_set.without_rule(1, X, y)
    np.testing.assert_allclose(same.class_weights, rule_set.class_weights)
    half = np.arange(len(y)) % 2 == 0
    other = rule_set.without_rule(1, X[half], y[half])
    expected = np.array(naive.balanced_weights(other.class_totals))
    expected *= half.sum() / (expected @ other.class_totals)
    np.testing.assert_allclose(other.class_weights, expected)


def test_the_benchmark_runs(capsys, monkeypatch):
    """On made tables and one shipped table: all models have figures, and differences are ours minus the rival."""
    folder = Path(__file__).resolve().parents[1] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv("DRS_DATA", raising=False)  # tables that scikit-learn ships
    with warnings.catch_warnings():
        runpy.run_path(str(folder / "imbalance.py"))["main"](
            ["--made", "400", "--ratios", "20", "--seeds", "1", "--tables", "wine"]
        )
    text = capsys.readouterr().out
    assert "conjunction: 1 tables" in text
    ours, rival, difference = re.search(
        r"real, up to 8: 1 tables.*balanced +bacc (\S+) .*forest +bacc (\S+) .*\| bacc (\S+) .*\| auc", text, re.DOTALL
    ).groups()
    assert float(difference) == pytest.approx(float(ours) - float(rival), abs=0.0011)
