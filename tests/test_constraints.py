"""Learnt rules and fallback rules satisfy the constraints, on every table and with both searches."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.model_selection import GridSearchCV

import naive
from covers import cover_of
from diverse_rule_sets import (
    Equals,
    Interval,
    IsMissing,
    Rule,
    diversity_path,
)
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn import _default_search as default_search
from diverse_rule_sets.learn import _diversify as diversify
from diverse_rule_sets.learn import _improvement
from diverse_rule_sets.learn._constraints import UNCONSTRAINED, Constraints, GivenRule
from diverse_rule_sets.learn._fallbacks import find_fallbacks
from diverse_rule_sets.learn._learner import Budget
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._paper_search import search
from diverse_rule_sets.learn._selection import SearchSettings
from diverse_rule_sets.learn.samplers import ConstrainedSampler, RejectionSampler
from internal import classifier, finish
from test_default_search import data, wider_of
from test_paper_search import random_data as small_data

COLUMNS = ("a", "b", "c", "d")
DIRECTIONS = ("increasing", "decreasing")
PAPER = {"paper_search": True, "n_candidates": 30}
SEARCHES = [{}, {"scorecards": None}, PAPER]


def random_table(seed, n_classes=2, n=120):
    """Return numbers in `a`, `b` (some missing) and `c`, letters in `d`; classes are not monotone in the numbers."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 12, n).astype(float),
            "b": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(1)),
            "c": rng.integers(0, 5, n),
            "d": rng.choice(["x", "y", "z"], n),
        }
    )
    y = ((X["a"] > 3) & (X["a"] <= 9)).to_numpy().astype(int) + ((X["b"] > 0) ^ (X["d"] == "x")).to_numpy()
    y = np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, n), y) % n_classes
    y[:n_classes] = np.arange(n_classes)
    return X, y


@st.composite
def fits(draw):
    """Draw a random table, and parameters of a fit that finds many rules on it."""
    X, y = random_table(draw(st.integers(0, 10_000)), draw(st.sampled_from([2, 3])))
    params = {
        "random_state": draw(st.integers(0, 99)),
        "max_rules": draw(st.integers(3, 12)),
        "max_overlap": draw(st.sampled_from([0.0, 0.1, 1.0])),
        "min_evidence": draw(st.sampled_from([0.0, 0.5])),
        "thresholds": draw(st.booleans()),
        "class_weight": draw(st.sampled_from(["balanced", None])),
        "second_pass": draw(st.booleans()),
        "split": draw(st.booleans()),
    }
    return X, y, params | draw(st.sampled_from(SEARCHES))


some_rules = st.lists(
    st.sampled_from(
        [
            Rule((Interval("a", low=4.0, high=8.0),), 1),
            Rule((Interval("a", high=2.0), Equals("d", "x")), 0),
            Rule((Equals("d", "z"),), "1"),
            Rule((IsMissing("b"),), 0),
            Rule((Interval("c", low=99.0),), 1),  # covers no record
            Rule((Interval("a", high=5.0), Interval("b", high=0.5), Interval("c", low=1.0, high=3.0)), np.int64(1)),
        ]
    ),
    min_size=1,
    max_size=3,
)


def learnt_of(clf):
    """Return the learnt rules and all fallback rules."""
    n_given = len(clf.given_rules or ())
    return [*clf.rule_set_.rules[n_given:], *clf.rule_set_.fallbacks]


# --- given rules -------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(fits(), some_rules)
def test_given_rules_come_first_and_learnt_rules_respect_the_limits(fit, rules):
    X, y, params = fit
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = classifier(given_rules=rules, **params).fit(X, y)
    assert [str(warning.message).split(":")[0] for warning in caught] == [
        f"given_rules has the rule {rule}" for rule in clf.rule_set_[: len(rules)] if not rule.covers(X).any()
    ]
    rule_set = clf.rule_set_
    assert [rule.conditions for rule in rule_set[: len(rules)]] == [rule.conditions for rule in rules]
    assert [rule.label for rule in rule_set[: len(rules)]] == [int(rule.label) for rule in rules]
    assert len(rules) <= len(rule_set) <= clf.max_rules
    assert [step["pass"] == 0 for step in clf.history_] == [j < len(rules) for j in range(len(rule_set))]

    covers = [frozenset(np.flatnonzero(rule.covers(X)).tolist()) for rule in rule_set]
    before = frozenset()
    for j, (rule, cover, step) in enumerate(zip(rule_set, covers, clf.history_, strict=True)):
        assert dict(rule.class_counts) == {label: sum(y[i] == label for i in cover) for label in set(y.tolist())}
        distance = sum(naive.jaccard_distance(cover, other) for other in covers[:j])
        assert step["distance_gain"] == pytest.approx(distance)
        new = sum(y[i] == rule.label for i in cover - before)
        assert step["recall_gain"] == pytest.approx(new / (y == rule.label).sum())
        if j >= len(rules):
            assert len(cover & before) <= clf.max_overlap * len(cover)
            assert cover not in covers[: len(rules)]
        before |= cover
    total = sum(step["quality"] for step in clf.history_) + clf.lambda_ * naive.dispersion(covers)
    assert clf.objective_ == pytest.approx(total)
    assert rule_set.uncovered_counts == tuple(
        sum(y[i] == label for i in range(len(y)) if i not in before) for label in sorted(set(y.tolist()))
    )


@pytest.mark.parametrize("params", SEARCHES)
def test_the_quality_of_a_given_rule_is_that_of_its_own_label(params):
    X, y = random_table(0, 3)
    rule = Rule((Interval("a", low=6.0), Equals("d", "x")), 2)
    clf = classifier(given_rules=[rule], class_weight=None, random_state=0, **params).fit(X, y)
    inside = [int((y[rule.covers(X)] == label).sum()) for label in range(3)]
    totals = np.bincount(y).tolist()
    if params == PAPER:
        records = [frozenset([0]) if flag else frozenset() for flag in rule.covers(X)]
        expected = naive.quality(((0,), 2), records, y.tolist())
    else:
        best, label = naive.refined_quality(inside, totals, [1.0] * 3, 5.0, 0.03, 2)
        expected = best * inside[2] / inside[label]
    assert clf.history_[0]["quality"] == pytest.approx(expected)


@pytest.mark.parametrize("params", SEARCHES)
def test_learnt_rules_do_not_overlap_given_ones(params):
    """The given rule is the first that an unconstrained search finds."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    unconstrained = classifier(random_state=0, max_overlap=0.0, **params).fit(X, y)
    first = unconstrained.rule_set_[0]
    clf = classifier(random_state=1, max_overlap=0.0, given_rules=[first], **params).fit(X, y)
    assert clf.rule_set_[0] == first
    assert clf.rule_set_[0].class_counts == first.class_counts
    assert len(clf.rule_set_) > 1
    covers = clf.rule_set_.covers(X)
    assert not covers[covers[:, 0], 1:].any()


@pytest.mark.parametrize("params", SEARCHES)
def test_as_many_given_rules_as_max_rules(params):
    X, y = random_table(1)
    rules = [Rule((Interval("a", low=4.0),), 1), Rule((Equals("d", "x"),), 0)]
    clf = classifier(given_rules=rules, max_rules=2, diversity=2.5, random_state=0, **params).fit(X, y)
    assert list(clf.rule_set_) == rules
    assert clf.rule_set_.fallbacks == ()
    assert clf.lambda_ == 2.5
    distance = naive.dispersion([frozenset(np.flatnonzero(rule.covers(X))) for rule in rules])
    assert clf.objective_ == pytest.approx(sum(step["quality"] for step in clf.history_) + 2.5 * distance)


@pytest.mark.parametrize("params", [*SEARCHES, {"max_overlap": 0.2, "split": False}])
def test_one_search_gives_the_rule_sets_of_several_fits(params):
    X, y = load_breast_cancer(return_X_y=True)
    rules = [Rule((Interval("x0", low=16.0),), 0), Rule((Interval("x1", low=9.0, high=15.0),), "1")]
    several = classifier(given_rules=rules, random_state=0, **params)._rule_sets(X, y, [Budget(n) for n in (2, 3, 5)])
    for n, rule_set in zip([2, 3, 5], several, strict=True):
        alone = classifier(given_rules=rules, random_state=0, max_rules=n, **params).fit(X, y).rule_set_
        assert str(alone) == str(rule_set)


def test_a_path_begins_with_the_given_rules():
    X, y = load_iris(return_X_y=True)
    rules = [Rule((Interval("x3", high=0.8),), 0), Rule((Interval("x3", low=1.8),), 2)]
    clf = classifier(given_rules=rules, max_rules=5)
    path = diversity_path(clf, X, y, max_overlap=[0.0], cv=3)
    assert [point.max_statements for point in path] == [3, 5, 8, 10, 15, 20, None]
    assert path[0].rules == 2.0
    assert [point.rules for point in diversity_path(clf, X, y, max_rules=[2], cv=3)] == [2.0]
    with pytest.raises(ValueError, match="given_rules holds 2 rules, more than max_rules=1"):
        diversity_path(clf, X, y, max_rules=[1, 3], cv=3)


def test_given_rules_with_a_single_class():
    X, y = random_table(0)
    rule = Rule((Equals("d", "x"),), "only")
    clf = classifier(given_rules=[rule]).fit(X, ["only"] * len(y))
    assert list(clf.rule_set_) == [rule]


@pytest.mark.parametrize("conflict", ["smoothed", "precision", "f1", "first", "vote", "counts"])
def test_a_given_rule_that_covers_no_record(conflict):
    X, y = load_iris(return_X_y=True)
    rule = Rule((Interval("x0", low=1e6),), 1)
    with pytest.warns(UserWarning, match="given_rules has the rule IF x0 > 1000000 THEN 1: no record has x0 > 1000000"):
        clf = classifier(given_rules=[rule], conflict=conflict, random_state=0).fit(X, y)
    assert clf.rule_set_[0].class_counts == ((0, 0), (1, 0), (2, 0))
    assert "nan" not in str(clf.rule_set_)
    assert "THEN 1 (covers none of 150 records)" in str(clf.rule_set_)
    assert clf.score(X, y) > 0.9
    assert clf.predict([[1e7, 3.0, 60.0, 50.0]]).size == 1


def test_rules_may_be_given_as_text(monkeypatch):
    X, y = load_iris(return_X_y=True)
    texts = {"IF x3 <= 0.8 THEN 0": Rule((Interval("x3", high=0.8),), "0")}
    monkeypatch.setattr(Rule, "parse", staticmethod(lambda text, scorecards, orders=None: texts[text]), raising=False)
    clf = classifier(given_rules=list(texts), random_state=0).fit(X, y)
    assert clf.rule_set_[0] == Rule((Interval("x3", high=0.8),), 0)


@pytest.mark.parametrize(
    ("labels", "given_label", "expected"),
    [
        ([1.0, 2.0], "2", 2.0),
        ([1.0, 2.0], "2.0", 2.0),
        (["1", "2"], 2, "2"),
        ([True, False], "True", True),
        (["a", "b"], np.str_("a"), "a"),
    ],
)
def test_the_label_of_a_given_rule_becomes_that_of_y(labels, given_label, expected):
    X = pd.DataFrame({"a": np.arange(40.0)})
    clf = classifier(given_rules=[Rule((Interval("a", high=9.0),), given_label)]).fit(X, labels * 20)
    assert clf.rule_set_[0].label == expected
    assert type(clf.rule_set_[0].label) is type(expected)


@pytest.mark.parametrize("default", ["least_covered", "majority"])
def test_the_default_label_depends_on_given_rules(default):
    """A given rule covers all records of class 0, so another class is the least covered."""
    X, y = load_iris(return_X_y=True)
    rules = [Rule((Interval("x3", high=0.8),), 0), Rule((Interval("x3", low=1.8),), 2)]
    clf = classifier(given_rules=rules, max_rules=2, default=default).fit(X, y)
    assert clf.rule_set_.default == 1


def test_clone_pickle_grid_search_threads_and_polars():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = classifier(
        given_rules=[Rule((Interval("mean radius", low=17.0),), 0)],
        forbidden=["mean area"],
        required=["mean texture"],
        monotone={"mean texture": "decreasing"},
        random_state=0,
        max_rules=6,
    ).fit(X, y)
    text = str(clf.rule_set_)
    assert str(clone(clf).fit(X, y).rule_set_) == text
    assert str(pickle.loads(pickle.dumps(clf)).rule_set_) == text
    assert str(clone(clf).set_params(n_jobs=2).fit(pl.from_pandas(X), y.to_numpy()).rule_set_) == text
    grid = GridSearchCV(clf, {"max_rules": [2, 4], "forbidden": [None, ["mean area"]]}, cv=2).fit(X, y)
    assert grid.best_score_ > 0.8
    assert grid.best_estimator_.rule_set_[0] == clf.given_rules[0]


# --- forbidden ---------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(fits(), st.sets(st.sampled_from(COLUMNS), min_size=1, max_size=3))
def test_forbidding_a_column_equals_dropping_it(fit, names):
    X, y, params = fit
    clf = classifier(forbidden=sorted(names), **params).fit(X, y)
    without = classifier(**params).fit(X.drop(columns=sorted(names)), y)
    assert str(clf.rule_set_) == str(without.rule_set_)
    assert clf.lambda_ == without.lambda_
    assert clf.n_features_in_ == len(COLUMNS)
    np.testing.assert_array_equal(clf.predict(X), without.predict(X.drop(columns=sorted(names))))


def test_the_forbidden_column_is_used_otherwise():
    X, y = random_table(0)
    for scorecards in (None, "auto"):
        assert "a" in fitted(X, y, scorecards=scorecards, min_evidence=0.03).rule_set_.columns
        assert "a" not in fitted(X, y, scorecards=scorecards, forbidden=["a"], min_evidence=0.03).rule_set_.columns
    plain = fitted(X, y, scorecards=None, min_evidence=0.03).rule_set_
    assert any("a" in {c.column for c in rule.conditions} for rule in plain)


def fitted(X, y, **params):
    return classifier(random_state=0, **params).fit(X, y)


def test_a_forbidden_column_is_not_read():
    X, y = random_table(0)
    X["lists"] = [[1, 2]] * len(X)
    with pytest.raises(TypeError, match="lists"):
        fitted(X, y)
    assert len(fitted(X, y, forbidden=["lists"], min_evidence=0.03).rule_set_) > 0


@pytest.mark.parametrize("params", SEARCHES)
def test_all_columns_forbidden(params):
    X, y = random_table(0)
    clf = fitted(X, y, forbidden=X.columns, **params)
    assert len(clf.rule_set_) == 0
    assert clf.predict(X).shape == y.shape
    rule = Rule((Interval("a", low=4.0),), 1)
    clf = fitted(X, y, forbidden=list(X.columns), given_rules=[rule], **params)
    assert list(clf.rule_set_) == [rule]


def test_forbidden_columns_do_not_lower_the_number_of_bins():
    """Tables of over 200 columns get fewer bins; forbidden columns do not count."""
    X, y = random_table(0)
    wide = pd.concat([X, pd.DataFrame(np.zeros((len(X), 900)), columns=[f"z{j}" for j in range(900)])], axis=1)
    assert str(fitted(wide, y, forbidden=list(wide.columns[4:])).rule_set_) == str(fitted(X, y).rule_set_)


# --- required ----------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(fits(), st.sets(st.sampled_from(COLUMNS), min_size=1, max_size=3), st.integers(3, 4))
def test_every_learnt_rule_and_fallback_rule_uses_the_required_columns(fit, names, max_conditions):
    X, y, params = fit
    clf = classifier(required=sorted(names), max_conditions=max_conditions, **params).fit(X, y)
    for rule in learnt_of(clf):
        assert names <= {condition.column for condition in rule.conditions}
        assert len(rule.conditions) <= max_conditions


def test_required_columns_of_noise_lower_the_accuracy_little():
    """The rules use the required columns, and still separate the classes by two others of thirty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 30))
    y = ((X[:, 3] > 0) & (X[:, 20] > -0.3)).astype(int)
    for names in (["x7"], ["x7", "x8"], ["x3", "x7", "x8"]):
        unconstrained = fitted(X[:600], y[:600])
        clf = fitted(X[:600], y[:600], required=names)
        assert not any(set(names) <= {c.column for c in rule.conditions} for rule in unconstrained.rule_set_)
        assert all(set(names) <= {c.column for c in rule.conditions} for rule in learnt_of(clf))
        assert clf.score(X[600:], y[600:]) > 0.85


def test_fallback_rules_use_the_required_columns():
    X, y = load_digits(return_X_y=True, as_frame=True)
    clf = fitted(X[:600], y[:600], required=["pixel_3_4"], scorecards=None, max_rules=5)
    assert len(clf.rule_set_.fallbacks) > 3
    assert all("pixel_3_4" in {c.column for c in rule.conditions} for rule in clf.rule_set_.fallbacks)


@pytest.mark.parametrize("params", SEARCHES)
def test_given_rules_need_not_use_the_required_columns(params):
    X, y = random_table(0)
    rule = Rule((Equals("d", "y"),), 1)
    clf = fitted(X, y, required=["a"], given_rules=[rule], min_evidence=0.0, **params)
    assert clf.rule_set_[0] == rule
    assert len(clf.rule_set_) > 1


@pytest.mark.parametrize("params", SEARCHES)
def test_a_required_column_without_conditions_gives_a_warning(params):
    X, y = random_table(0)
    X["same"] = 1.0
    with pytest.warns(
        UserWarning, match="required names 'same', on which no condition separates records; no rule can be learnt"
    ):
        clf = fitted(X, y, required=["a", "same"], **params)
    assert len(clf.rule_set_) == 0


# --- monotone ----------------------------------------------------------------------------------------------------


def has_directions(rule, directions):
    """Return whether the conditions of a rule have the directions by column and label."""
    for condition in rule.conditions:
        direction = directions.get((condition.column, rule.label))
        if direction is not None and isinstance(condition, Interval):
            banned_bound = condition.high if direction == "increasing" else condition.low
            if banned_bound is not None:
                return False
    return True


def keeps_its_records(rule, directions, X):
    """Return whether a rule still covers its records after numbers change in the directions of its label.

    This holds for conditions on points as well.
    """
    covered = rule.covers(X)
    for column in X:
        direction = directions.get((column, rule.label))
        values = sorted(X[column].dropna().unique()) if direction is not None else []
        for value in values[:: max(1, len(values) // 12)] + values[-1:]:
            moved = X[column].where(X[column].isna(), np.maximum(X[column], value))
            if direction == "decreasing":
                moved = X[column].where(X[column].isna(), np.minimum(X[column], value))
            if (covered & ~rule.covers(X.assign(**{column: moved.astype(X[column].dtype)}))).any():
                return False
    return True


@settings(max_examples=50)
@given(
    fits(),
    st.dictionaries(
        st.sampled_from(COLUMNS[:3]), st.dictionaries(st.sampled_from([0, 1]), st.sampled_from(DIRECTIONS)), min_size=1
    ),
    st.sampled_from([(), ("a",), ("a", "b")]),
)
def test_every_learnt_rule_and_fallback_rule_has_the_directions(fit, monotone, required):
    X, y, params = fit
    clf = classifier(monotone=monotone, required=list(required), **params).fit(X, y)
    directions = {(name, label): direction for name, labels in monotone.items() for label, direction in labels.items()}
    for rule in learnt_of(clf):
        assert has_directions(rule, directions), str(rule)
        assert keeps_its_records(rule, directions, X), str(rule)
        assert set(required) <= {condition.column for condition in rule.conditions}
    if not params.get("paper_search"):  # the label is still the likeliest class, or one of those as likely
        shares = clf.predict_proba(X)
        assert (shares[np.arange(len(y)), clf.predict(X)] >= shares.max(axis=1) - 1e-9).all()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_single_direction_is_that_of_the_second_of_two_labels(direction):
    X, y = random_table(3)
    other = DIRECTIONS[1 - DIRECTIONS.index(direction)]
    single = fitted(X, y, monotone={"a": direction}, min_evidence=0)
    by_label = fitted(X, y, monotone={"a": {0: other, "1": direction}}, min_evidence=0)
    assert str(single.rule_set_) == str(by_label.rule_set_)
    assert str(single.rule_set_) != str(fitted(X, y, monotone={"a": other}, min_evidence=0).rule_set_)


def risk_table(n=3000, seed=0):
    """Return a table where risk increases with age and decreases with income, except for low risk at ages 40 to 50."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(20, 80, n).round(), "income": rng.lognormal(10, 0.5, n).round(-2)})
    risk = np.where((X["age"] > 40) & (X["age"] <= 50), 0.05, 0.1 + 0.7 * (X["age"] > 30) * (X["income"] < 24000))
    return X, np.where(rng.random(n) < risk, "ill", "well")


@pytest.mark.parametrize("params", SEARCHES)
def test_directions_change_the_rules(params):
    """Only unconstrained rules use the low risk at ages 40 to 50; constrained rules are nearly as accurate."""
    X, y = risk_table()
    monotone = {"age": {"ill": "increasing", "well": "decreasing"}, "income": {"ill": "decreasing"}}
    directions = {(name, label): direction for name, labels in monotone.items() for label, direction in labels.items()}
    unconstrained = fitted(X[:2000], y[:2000], **params)
    clf = fitted(X[:2000], y[:2000], monotone=monotone, **params)
    assert not all(keeps_its_records(rule, directions, X) for rule in learnt_of(unconstrained))
    assert all(has_directions(rule, directions) for rule in learnt_of(clf))
    assert all(keeps_its_records(rule, directions, X) for rule in learnt_of(clf))
    assert {rule.label for rule in clf.rule_set_} == {"ill", "well"}
    assert clf.score(X[2000:], y[2000:]) > unconstrained.score(X[2000:], y[2000:]) - 0.12
    assert clf.score(X[2000:], y[2000:]) > 0.65


def test_directions_of_dates():
    rng = np.random.default_rng(0)
    days = rng.integers(0, 3000, 400)
    X = pd.DataFrame({"since": pd.Timestamp("2015-01-01") + pd.to_timedelta(days, "D"), "noise": rng.random(400)})
    y = (days > 1000) & (days <= 2000)
    directions = {("since", True): "increasing", ("since", False): "decreasing"}
    for scorecards in (None, "auto"):
        unconstrained = fitted(X, y, scorecards=scorecards)
        clf = fitted(X, y, scorecards=scorecards, monotone={"since": "increasing"})
        assert not all(keeps_its_records(rule, directions, X) for rule in learnt_of(unconstrained))
        assert all(has_directions(rule, directions) for rule in learnt_of(clf))
        assert all(keeps_its_records(rule, directions, X) for rule in learnt_of(clf))
        assert "since" in clf.rule_set_.columns
    plain = learnt_of(fitted(X, y, scorecards=None))
    assert not all(has_directions(rule, directions) for rule in plain)


def test_directions_of_bins():
    X, y = risk_table()
    clf = fitted(X, y, thresholds=False, monotone={"age": {"ill": "increasing"}, "income": {"ill": "decreasing"}})
    ill = [rule for rule in clf.rule_set_ if rule.label == "ill"]
    assert ill
    assert all(has_directions(rule, {("age", "ill"): "increasing", ("income", "ill"): "decreasing"}) for rule in ill)


def find_and_split(seed, constraints, constrained=True):
    """Return the rules before and after splits; items of odd number are lower bounds of four columns.

    Splits ignore the constraints if ``constrained`` is False.
    """
    y, _, columns, opposites, backend = data(seed)
    limits = Limits(max_rules=14, max_conditions=3, min_support=3)
    measures = Measures(backend.class_totals, y.size / (3.0 * np.bincount(y)), 5.0, 0.02)
    local_search = LocalSearch(backend, columns, measures, limits, 0.3, constraints)
    search_settings, rng = SearchSettings(6, "strict", True, limits), np.random.default_rng(seed)
    sampler = ConstrainedSampler(backend, "pairs", 0.2, constraints)
    trace = default_search.first_pass(backend, sampler, local_search, search_settings, rng, lambda *_: None)
    local_search.constraints = constraints if constrained else UNCONSTRAINED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_improvement, "grow", lambda backend, local_search, found, *_: found)
        before, after = (finish(backend, local_search, trace, search_settings, items) for items in (None, opposites))
    return before.steps, after.steps


@pytest.mark.parametrize("required", [(), (3,)])
@pytest.mark.parametrize("label", range(3))
def test_splits_satisfy_the_constraints(label, required):
    """Splits that ignore the constraints violate them."""
    banned = np.zeros((3, 40), bool)
    banned[label, 1::2] = True
    constraints = Constraints((), np.repeat(np.arange(4), 10), required, banned)
    n_violations, n_splits = {True: 0, False: 0}, 0
    for seed, constrained in itertools.product((1, 4, 12, 16, 17, 19), n_violations):
        before, after = find_and_split(seed, constraints, constrained)
        assert all(constraints.allow(step.body, step.label) for step in before)
        n_violations[constrained] += sum(not constraints.allow(step.body, step.label) for step in after)
        n_splits += (len(after) - len(before)) * constrained
    assert n_splits > 0
    assert n_violations[True] == 0
    assert n_violations[False] > 0


def test_an_item_of_a_required_column_is_not_redundant():
    """Item 1 holds for all records of item 0, and is dropped unless its column is required."""
    items = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], bool)
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), np.array([0, 0, 1, 1]), 2)
    measures = Measures(backend.class_totals, np.ones(2), 1.0, 0.0)
    for required, expected in (((), (0,)), ((0,), (0,)), ((1,), (0, 1))):
        constraints = Constraints((), np.arange(3), required)
        local_search = LocalSearch(backend, np.arange(3), measures, Limits(5), 0.0, constraints)
        assert local_search.without_redundant_items((0, 1)) == expected


@pytest.mark.parametrize("required", [(), (2,)])
def test_fallback_rules_satisfy_the_constraints(required):
    """The label of a fallback rule depends on the records that earlier ones cover."""
    n_violations = {True: 0, False: 0}
    for seed, constrained in itertools.product(range(140), n_violations):
        rng = np.random.default_rng(seed)
        items, y = rng.random((3000, 10)) < 0.6, rng.integers(0, 3, 3000)
        y = np.where(items[:, 2] & (rng.random(3000) < 0.3), items[:, 0] + 1 * items[:, 1], y)
        backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, 3)
        measures, columns = Measures(backend.class_totals, np.ones(3), 5.0, 0.0), np.arange(10)
        constraints = Constraints((), columns, required, rng.random((3, 10)) < 0.2)
        bodies = [tuple(sorted({2, *rng.choice(10, 3).tolist()})) for _ in range(5)]
        used = constraints if constrained else UNCONSTRAINED
        found = find_fallbacks(backend, columns, measures, bodies, backend.nothing, Limits(9), 15, used)
        n_violations[constrained] += sum(not constraints.allow(fallback.body, fallback.label) for fallback in found)
    assert n_violations[True] == 0
    assert n_violations[False] > 50


# --- constraints on items ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_allow_extended_equals_allow(seed):
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(0, 4, 9))
    required = tuple(rng.choice(np.unique(columns), seed % 3, replace=False).tolist())
    constraints = Constraints((), columns, required, rng.random((3, 9)) < 0.2 if seed % 2 else None)
    bodies = [tuple(sorted(rng.choice(9, size, replace=False).tolist())) for size in (0, 1, 2, 3, 3)]
    used = np.array([np.isin(np.arange(columns.max() + 1), columns[list(body)]) for body in bodies])
    labels = rng.integers(0, 3, (5, 10))
    got = constraints.allow_extended(bodies, used, labels)
    for (j, body), item in itertools.product(enumerate(bodies), range(10)):
        longer = tuple(sorted({*body, item} - {9}))
        assert got[j, item] == constraints.allow(longer, int(labels[j, item]))


@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(0, 3))
def test_the_greedy_starts_from_given_members(seed, n_given, lambda_):
    rng = np.random.default_rng(seed)
    distance = rng.random((20, 20))
    distance = (distance + distance.T) / 2
    qualities, rest = rng.random(20), np.arange(n_given, 20)
    ref = naive.greedy(qualities.tolist(), distance.tolist(), lambda_, n_given + 5, range(n_given))
    sums = diversify.row_sums(distance[np.ix_(rest, range(n_given))])
    got = diversify.greedy(
        qualities[rest], lambda_, 5, lambda some, others: distance[np.ix_(rest[some], rest[others])], initial_sums=sums
    )
    assert [int(rest[j]) for j in got.chosen] == ref[n_given:]


def as_given(backend, bodies_and_labels):
    """Return bodies and labels as given rules."""
    covers = [backend.cover(body) for body, _ in bodies_and_labels]
    return tuple(
        GivenRule(label, cover, len(body)) for (body, label), cover in zip(bodies_and_labels, covers, strict=True)
    )


@pytest.mark.parametrize("diversity", ["strict", "none"])
def test_the_search_of_the_paper_with_given_rules_equals_the_oracle(diversity):
    """With the same candidates, the oracle (Algorithm 2 literally) returns the same rules, second pass included."""
    passes = set()
    for seed in range(20):
        items, y, backend = small_data(seed, n=90, n_items=14)
        rng, sampler = np.random.default_rng(seed), RejectionSampler(backend)

        def draw(label, covered, rng=rng, sampler=sampler, n=y.size, backend=backend):
            flags = np.isin(np.arange(n), list(covered))
            return list(sampler.draw(label, 12, cover_of(backend, flags), rng).tuples())

        records = [frozenset(np.flatnonzero(row).tolist()) for row in items]
        rules = [((0, 5), 1), ((3,), 2), ((1, 2, 3, 4, 5, 6, 7, 8, 9), 0)][: 1 + seed % 3]
        ref, lambda_ = naive.diverse_rule_set(draw, records, y.tolist(), 3, 9, 0.02, diversity, True, rules)
        search_settings = SearchSettings(12, diversity, True, Limits(9, min_recall_gain=0.02))
        rng = np.random.default_rng(seed)
        constraints = Constraints(as_given(backend, rules))
        sampler, columns = RejectionSampler(backend), np.arange(14)
        found = search(backend, sampler, columns, search_settings, rng, lambda *_: None, constraints)
        assert [(step.body, step.label) for step in found.learnt] == ref[len(rules) :]
        assert found.objective == pytest.approx(naive.objective(ref, records, y.tolist(), lambda_))
        passes.add(found.pass_)
    assert 2 in passes


@pytest.mark.parametrize("max_overlap", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("paper_search", [False, True])
def test_the_limit_on_overlap_includes_given_rules(paper_search, max_overlap):
    passes = set()
    for seed in range(10):
        steps, backend, rules, found = search_with_given(seed, paper_search, max_overlap)
        assert [step.label for step in steps[:2]] == [label for _, label in rules]
        assert 2 < len(steps) <= 9
        before = backend.union(backend.cover(rules[0][0]), backend.cover(rules[1][0]))
        for step in steps[2:]:
            cover = backend.cover(step.body)
            shared = backend.class_counts(backend.intersection(cover, before)).sum()
            assert shared <= max_overlap * backend.class_counts(cover).sum()
            before = backend.union(before, cover)
        assert backend.fingerprint(found.covered) == backend.fingerprint(before)
        passes.add(found.pass_)
    assert 2 in passes or not paper_search


def search_with_given(seed, paper_search, max_overlap, max_rules=9):
    """Search with two given rules."""
    y, _, columns, opposites, backend = data(seed)
    limits = Limits(max_rules, max_conditions=3, max_overlap=max_overlap, min_support=3)
    rules, on_choice = [((0, 16), 0), ((13, 29), 1)], lambda *_: None
    constraints = Constraints(as_given(backend, rules), columns)
    sampler, rng = RejectionSampler(backend, "pairs", 0.2), np.random.default_rng(seed)
    search_settings = SearchSettings(60 if paper_search else 12, "none", True, limits)
    if paper_search:
        found = search(backend, sampler, columns, search_settings, rng, on_choice, constraints)
    else:
        measures = Measures(backend.class_totals, y.size / (3.0 * np.bincount(y)), 5.0, 0.02)
        local_search = LocalSearch(backend, columns, measures, limits, 0.1, constraints)
        trace = default_search.first_pass(backend, sampler, local_search, search_settings, rng, on_choice)
        found = finish(backend, local_search, trace, search_settings, opposites, wider_of(columns))
    return found.steps, backend, rules, found


@pytest.mark.parametrize("diversity", ["strict", "permissive", 0.5])
def test_one_first_pass_gives_rule_sets_for_several_max_rules(diversity):
    """With given rules too, a long search begins with the rules of a short one; lambda is that of the first round."""
    for seed in range(6):
        y, _, columns, opposites, backend = data(seed)
        measures = Measures(backend.class_totals, y.size / (3.0 * np.bincount(y)), 5.0, 0.02)
        constraints = Constraints(as_given(backend, [((0, 16), 0), ((13, 29), 1)]), columns)
        results = {}
        for most in (10, 3, 4):
            limits = Limits(most, max_conditions=3, max_overlap=0.3, min_support=3)
            local_search = LocalSearch(backend, columns, measures, limits, 0.1, constraints)
            sampler, rng = RejectionSampler(backend, "pairs", 0.2), np.random.default_rng(seed)
            search_settings = SearchSettings(6, diversity, True, limits)
            trace = default_search.first_pass(backend, sampler, local_search, search_settings, rng, lambda *_: None)
            seen = [candidate.quality for candidate in trace.pool.candidates[: trace.n_seen[2]]]
            assert trace.lambda_ == {"strict": max(seen), "permissive": np.mean(seen)}.get(diversity, 0.5)
            for wanted in [n for n in (3, 4, 10) if n <= most]:
                search_settings = SearchSettings(6, diversity, True, limits._replace(max_rules=wanted))
                found = finish(backend, local_search, trace, search_settings, opposites, wider_of(columns))
                bodies = [(step.body, step.quality, step.distance_gain) for step in found.steps]
                assert len(bodies) <= wanted
                assert results.setdefault(wanted, bodies) == bodies


def test_local_search_starts_from_bodies_with_required_columns():
    """This holds for long drawn bodies too, which are shortened first."""
    X, y = load_breast_cancer(return_X_y=True)
    starts = []
    improve = LocalSearch.improve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            LocalSearch, "improve", lambda self, some: starts.append((self.constraints, some)) or improve(self, some)
        )
        fitted(X, y, length_odds=1.0, max_rules=3, required=["x0", "x9"])
    some = [(constraints, start) for constraints, bodies in starts for start in bodies if start]
    assert len(some) > 10
    assert all(constraints.has_required(start) and len(start) <= 8 for constraints, start in some)


@pytest.mark.parametrize("measure", ["pairs", "triples"])
def test_bodies_are_drawn_as_if_banned_items_held_for_no_record(measure):
    n_drawn = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        items, y = rng.random((40, 8)) < 0.5, rng.integers(0, 2, 40)
        banned = np.zeros((2, 8), bool)
        banned[1] = rng.random(8) < 0.5
        flags = rng.random(40) < 0.2
        full, reduced = (
            LocalBackend(bitset.pack(np.ascontiguousarray(t.T)), y, 2) for t in (items, items & ~banned[1])
        )
        constrained = ConstrainedSampler(full, measure, 0.7, Constraints((), np.arange(8), (), banned))
        for label, plain in ((0, full), (1, reduced)):
            sampler = RejectionSampler(plain, measure, 0.7)
            expected = sampler.draw(label, 30, cover_of(plain, flags), np.random.default_rng(seed))
            got = constrained.draw(label, 30, cover_of(full, flags), np.random.default_rng(seed))
            assert list(got.tuples()) == list(expected.tuples())
            n_drawn += got.size
    assert n_drawn > 500


def test_bodies_with_required_columns_have_the_documented_distribution():
    """One record has three items of the required column and one other: one of 15 subsets needs an item added."""
    backend = LocalBackend(bitset.pack(np.ones((4, 1), bool)), np.array([0]), 1)
    sampler = ConstrainedSampler(backend, "pairs", 1.0, Constraints((), np.array([0, 0, 0, 1]), (0,)))
    drawn = list(sampler.draw(0, 6000, backend.nothing, np.random.default_rng(0)).tuples())
    bodies = [b for size in range(1, 5) for b in itertools.combinations(range(4), size) if set(b) & {0, 1, 2}]
    assert set(drawn) == set(bodies)
    observed = [drawn.count(body) for body in bodies]
    expected = np.array([1 + (len(body) == 2 and 3 in body) / 3 for body in bodies]) / 15
    assert expected.sum() == pytest.approx(1)
    assert stats.chisquare(observed, 6000 * expected).pvalue > 1e-4
    assert stats.chisquare(observed, np.full(len(bodies), 6000 / len(bodies))).pvalue < 1e-4  # not uniform


def test_a_record_without_an_item_of_a_required_column_gives_no_body():
    items = np.array([[1, 0], [1, 0], [1, 1], [0, 0]], bool)
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), np.array([0, 0, 0, 1]), 2)
    sampler = ConstrainedSampler(backend, "pairs", 1.0, Constraints((), np.array([0, 1]), (1,)))
    drawn = list(sampler.draw(0, 50, backend.nothing, np.random.default_rng(0)).tuples())
    assert set(drawn) == {(1,), (0, 1)}
    assert sampler.draw(1, 50, backend.nothing, np.random.default_rng(0)).size == 0


def test_a_start_has_an_item_of_each_required_column():
    constraints = Constraints((), np.arange(12) // 3, (1, 3))
    for seed in range(50):
        rng = np.random.default_rng(seed)
        body = tuple(sorted({3, 9, *rng.choice(12, 8).tolist()}))
        start = constraints.select_start(body, 4, 3, rng)
        assert set(start) <= set(body)
        assert len(start) <= 4
        assert {1, 3} <= {item // 3 for item in start}
        assert len({item // 3 for item in start}) <= 3


# --- no constraints, and invalid ones ----------------------------------------------------------------------------


@pytest.mark.parametrize("params", SEARCHES)
def test_empty_constraints_change_nothing(params):
    X, y = random_table(5)
    empty = {"given_rules": [], "forbidden": [], "required": (), "monotone": {}}
    assert str(fitted(X, y, **empty, **params).rule_set_) == str(fitted(X, y, **params).rule_set_)
    assert str(fitted(X, y, monotone={"a": {}}, **params).rule_set_) == str(fitted(X, y, **params).rule_set_)


A_RULE = Rule((Interval("a", low=4.0),), 1)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"given_rules": A_RULE}, TypeError, "given_rules must be a list of rules, got <Rule: IF a > 4 THEN 1>"),
        ({"given_rules": "IF a > 4 THEN 1"}, TypeError, "given_rules must be a list of rules, got 'IF"),
        ({"given_rules": [A_RULE, 7]}, TypeError, r"given_rules\[1\] must be a Rule or a rule as text, got 7 \(int\)"),
        ({"given_rules": [A_RULE] * 3, "max_rules": 2}, ValueError, "given_rules holds 3 rules, more than max_rules=2"),
        (
            {"given_rules": [Rule((Interval("zz", low=4.0),), 1)]},
            ValueError,
            r"given_rules has the rule IF zz > 4 THEN 1, which names the column 'zz'.*\['a', 'b', 'c', 'd'\]",
        ),
        (
            {"given_rules": [Rule((Interval("a", low=4.0),), "yes")]},
            ValueError,
            r"given_rules has the rule IF a > 4 THEN yes with the label 'yes', which y does not have.*\[0, 1\]",
        ),
        (
            {"given_rules": [Rule((Interval("d", low=4.0),), 1)]},
            ValueError,
            "given_rules has the rule IF d > 4 THEN 1: column 'd' holds text values, expected number",
        ),
        ({"forbidden": "a"}, TypeError, "forbidden must be a list of column names, got 'a'"),
        ({"forbidden": {"a": 1}}, TypeError, "forbidden must be a list of column names, got {'a': 1}"),
        ({"required": 3}, TypeError, "required must be a list of column names, got 3"),
        ({"required": [["a"]]}, TypeError, r"required must be a list of column names, got \['a'\] among them"),
        ({"forbidden": ["q", "a"]}, ValueError, "forbidden names 'q', which X does not have as columns; its columns"),
        ({"required": ["q", "p"]}, ValueError, "required names 'p', 'q', which X does not have as columns"),
        (
            {"required": ["a", "b"], "forbidden": ["b"]},
            ValueError,
            "required and forbidden both name 'b', expected one of the two",
        ),
        (
            {"required": ["a", "b", "c"], "max_conditions": 2},
            ValueError,
            "required names 3 columns, more than max_conditions=2",
        ),
        ({"monotone": ["a"]}, TypeError, r"monotone must be a dict of columns, got \['a'\]"),
        (
            {"monotone": {"a": "up"}},
            ValueError,
            r"monotone\['a'\] must be one of 'increasing', 'decreasing', or a dict",
        ),
        (
            {"monotone": {"a": {1: 1}}},
            ValueError,
            r"monotone\['a'\]\[1\] must be one of 'increasing', 'decreasing', got 1",
        ),
        ({"monotone": {"a": {7: "increasing"}}}, ValueError, r"monotone\['a'\] names the label 7, which y does not"),
        ({"monotone": {"q": "increasing"}}, ValueError, "monotone names 'q', which X does not have as columns"),
        (
            {"monotone": {"d": "increasing"}},
            ValueError,
            "monotone names the column 'd', which holds text values, expected numbers, dates or ordered categories",
        ),
    ],
)
def test_invalid_constraints_raise_errors(params, error, message):
    X, y = random_table(0)
    with pytest.raises(error, match=message):
        classifier(**params).fit(X, y)


def test_a_single_direction_for_three_labels_raises_an_error():
    X, y = random_table(0, 3)
    with pytest.raises(ValueError, match=r"y has 3 labels, so give a dict by label, such as \{2: 'increasing'\}"):
        classifier(monotone={"a": "increasing"}).fit(X, y)
