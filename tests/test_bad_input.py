"""Bad input: an error that names the argument, the value and what was expected; nothing lost."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, metrics

X = np.random.default_rng(0).random((40, 3))
y = np.arange(40) % 2


def fit(X=X, y=y, **params):
    return DiverseRuleSetClassifier(**({"random_state": 0} | params)).fit(X, y)


def fit_as_in_paper(X=X, y=y, **params):
    return DRSClassifier(**({"random_state": 0, "n_candidates": 20} | params)).fit(X, y)


both = pytest.mark.parametrize("fit", [fit, fit_as_in_paper])


@both
@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_rules": -1}, ValueError, "max_rules must be an integer at least 0 and at most 10000, got -1"),
        ({"max_rules": 2.5}, TypeError, "max_rules must be an integer at least 0 and at most 10000, got 2.5 .float"),
        ({"max_rules": True}, TypeError, "max_rules must be an integer"),
        (
            {"binning": "tree"},
            ValueError,
            "binning must be one of 'supervised', 'uniform', 'quantile', or a dict of columns, got 'tree'",
        ),
        ({"binning": {"x0": "tree"}}, ValueError, "binning.'x0'. must be one of"),
        (
            {"binning": {"x0": 5}},
            ValueError,
            "binning.'x0'. must be one of 'supervised', 'uniform', 'quantile', or a list of edges, got 5",
        ),
        ({"binning": {"x0": None}}, ValueError, "binning.'x0'. must be one of"),
        ({"binning": {"x9": [1]}}, ValueError, "binning names the column 'x9'"),
        ({"conflict": lambda: 0}, TypeError, "conflict must be a function of one argument, the covering rules, got"),
        (
            {"conflict": "loudest"},
            ValueError,
            "conflict must be one of 'precision', 'smoothed', 'f1', 'fi.*or a function",
        ),
        ({"default": "nobody"}, ValueError, "default must be"),
        ({"default": np.array([0, 1])}, ValueError, "default must be"),
        ({"random_state": "seed"}, ValueError, "random_state must be"),
        ({"random_state": -1}, ValueError, "random_state must be"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs must be an integer"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"verbose": -1}, ValueError, "verbose must be"),
        ({"verbose": "loud"}, TypeError, "verbose must be"),
        ({"max_conditions": 0}, ValueError, "max_conditions must be an integer at least 1 and at most 10000, got 0"),
        ({"max_conditions": 2.5}, TypeError, "max_conditions must be an integer"),
        ({"max_overlap": 1.5}, ValueError, "max_overlap must be a number at least 0 and at most 1, got 1.5"),
        (
            {"max_overlap": None},
            TypeError,
            "max_overlap must be a number at least 0 and at most 1, or a dict .*got None",
        ),
        ({"max_overlap": True}, TypeError, r"max_overlap must be a number.*got True \(bool\)"),
        ({"max_overlap": {}}, ValueError, "max_overlap must be .*'agree' and 'contradict', got a dict without keys"),
        ({"max_overlap": {"agrees": 1}}, ValueError, "max_overlap .*got the key 'agrees'; did you mean 'agree'"),
        ({"max_overlap": {1: 1}}, ValueError, "max_overlap .*got the key 1"),
        ({"max_overlap": {"agree": 2}}, ValueError, r"max_overlap\['agree'\] must be a number .*at most 1, got 2"),
        ({"max_overlap": {"contradict": "0"}}, TypeError, r"max_overlap\['contradict'\] must be a number .*got '0'"),
        ({"min_support": 0}, ValueError, "min_support must be an integer at least 1, got 0"),
        ({"min_support": 0.1}, TypeError, "min_support must be an integer"),
    ],
)
def test_a_parameter_out_of_range_is_named(fit, params, error, message):
    with pytest.raises(error, match=message):
        fit(**params)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"n_candidates": 0}, ValueError, "n_candidates must be an integer at least 1 and at most 100,000, got 0"),
        ({"n_candidates": 2.5}, TypeError, "n_candidates must be an integer at least 1 and at most 100,000, got 2.5"),
        ({"n_candidates": None}, TypeError, "n_candidates must be an integer"),
        ({"n_bins": 1}, ValueError, "n_bins must be an integer at least 2 and at most 1000, got 1"),
        ({"n_bins": 10**6}, ValueError, "n_bins must be"),
        ({"n_bins": None}, TypeError, "n_bins must be an integer"),
        ({"min_recall_gain": 1.5}, ValueError, "min_recall_gain must be a number at least 0 and at most 1, got 1.5"),
        ({"min_recall_gain": float("nan")}, ValueError, "min_recall_gain must be a number"),
        (
            {"diversity": "much"},
            ValueError,
            "diversity must be one of 'none', 'permissive', 'strict', or a number, got 'much'",
        ),
        ({"diversity": -1}, ValueError, "diversity must be a number at least 0 and at most 1e.09, got -1"),
        ({"diversity": float("inf")}, ValueError, "diversity must be a number"),
        (
            {"diversity": None},
            ValueError,
            "diversity must be one of 'none', 'permissive', 'strict', or a number, got None",
        ),
        ({"measure": "quads"}, ValueError, "measure must be one of 'pairs', 'triples', got 'quads'"),
        ({"second_pass": "no"}, TypeError, "second_pass must be True or False, got 'no'"),
    ],
)
def test_a_parameter_of_the_paper_out_of_range_is_named(params, error, message):
    with pytest.raises(error, match=message):
        fit_as_in_paper(**params)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_fallbacks": -1}, ValueError, "max_fallbacks must be an integer at least 0 and at most 10000, got -1"),
        ({"max_fallbacks": None}, TypeError, "max_fallbacks must be an integer"),
        (
            {"class_weight": "heavy"},
            ValueError,
            "class_weight must be one of 'balanced', None, or a dict of labels, got 'heavy'",
        ),
        ({"class_weight": [1, 2]}, ValueError, "class_weight must be one of"),
        ({"class_weight": {7: 1.0}}, ValueError, "class_weight names the label 7, which y does not have; its labels"),
        ({"class_weight": {1: 0}}, ValueError, "class_weight.1. must be a number"),
        ({"class_weight": {1: "much"}}, TypeError, "class_weight.1. must be a number"),
        ({"negation": 1}, TypeError, "negation must be True or False, got 1"),
        ({"min_evidence": -0.1}, ValueError, "min_evidence must be a number at least 0"),
        ({"min_evidence": float("nan")}, ValueError, "min_evidence must be a number"),
        ({"smoothing": -1}, ValueError, "smoothing must be a number at least 0"),
        ({"smoothing": "some"}, TypeError, "smoothing must be a number"),
    ],
)
def test_a_parameter_of_the_default_out_of_range_is_named(params, error, message):
    with pytest.raises(error, match=message):
        fit(**params)


@pytest.mark.parametrize("kind", [DiverseRuleSetClassifier, DRSClassifier])
def test_every_parameter_is_checked(kind):
    """So that a parameter that is added later is not forgotten."""
    assert set(kind._parameter_checks) == set(kind().get_params())


@pytest.mark.parametrize("kind", [DiverseRuleSetClassifier, DRSClassifier])
@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (np.zeros((0, 3)), [], ValueError, r"0 sample\(s\)"),
        (pd.DataFrame({"a": []}), [], ValueError, r"0 sample\(s\)"),
        (pl.DataFrame({"a": []}), [], ValueError, r"0 sample\(s\)"),
        (np.zeros((3, 0)), [0, 1, 0], ValueError, r"0 feature\(s\)"),
        (X, y[:-1], ValueError, "X has 40 records but y has 39 labels"),
        (X, None, ValueError, "requires y to be passed"),
        (X, [None, *y[1:]], ValueError, "y contains NaN: 1 missing"),
        (X, pd.Series(["a", None] * 20), ValueError, "y contains NaN: 20 missing"),
        (X, pd.Series(["a", pd.NA] * 20, dtype="string"), ValueError, "y contains NaN"),
        (X, pl.Series(["a", None] * 20), ValueError, "y contains NaN"),
        (X, np.where(y, 1.0, np.nan), ValueError, "y contains NaN"),
        (X, np.where(y, 1.0, np.inf), ValueError, "y contains infinity"),
        (X, pd.to_datetime([None, "2020-01-01"] * 20), ValueError, "y contains NaN: 20 missing labels"),
        (X, np.linspace(0.1, 0.9, 40), ValueError, "Unknown label type"),
        (X, np.array(["2024-01-01", "2025-01-01"] * 20, "datetime64[us]"), ValueError, "y holds datetime64.* values"),
        (X, [1, "a"] * 20, ValueError, "y holds labels of kind number and string"),
        (X, np.array([1, "a"] * 20, object), ValueError, "y holds labels of kind number and string"),
        (X, np.array([True, 1] * 20, object), ValueError, "y holds labels of kind boolean and number"),
        (X, np.array([datetime.date(2020, 1, 1)] * 40, object), ValueError, "y holds labels of kind date"),
        (X, np.zeros((40, 2)), ValueError, "y should be a 1d array"),
        (scipy.sparse.csr_array(X), y, TypeError, "Sparse data was passed"),
        (X.astype(complex), y, ValueError, "Complex data not supported"),
        (None, y, TypeError, "X must be a two-dimensional array, .* got None"),
        ("table.csv", y, ValueError, "table.csv: there is no such file or folder"),
        ({"a": [1, 2]}, y, TypeError, "X must be a two-dimensional array, .* got dict"),
        ([{"a": 1}, {"a": 2}], y, TypeError, "X must be a two-dimensional array, .* got list of dict"),
        (X[0], y, ValueError, "Expected 2D array"),
        (np.where(X > 0.99, np.inf, X), y, ValueError, "infinity in the column"),
        (pd.DataFrame({"a": [[1, 2]] * 40}), y, TypeError, "column 'a' holds a list"),
    ],
)
def test_bad_tables_and_labels_are_refused(kind, X, y, error, message):
    clf = kind(random_state=0)
    with pytest.raises(error, match=message):
        clf.fit(X, y)
    assert not hasattr(clf, "rule_set_")


@pytest.mark.parametrize("kind", [DiverseRuleSetClassifier, DRSClassifier])
def test_a_bad_default_is_refused_before_the_search(kind):
    watched = kind._with_internal(learner=lambda *_: pytest.fail("searched"))
    with pytest.raises(ValueError, match="default must be"):
        watched(default="nobody").fit(X, y)
    with pytest.raises(pytest.fail.Exception, match="searched"):  # so that the test above can fail
        watched().fit(X, y)


def test_a_failed_fit_keeps_the_fit_before_it():
    clf = fit()
    before = clf.rule_set_
    with pytest.raises(ValueError, match="labels"):
        clf.fit(X, y[:-1])
    assert clf.rule_set_ is before
    clf.predict(X)


def test_not_fitted():
    for method in ("predict", "predict_proba", "explain"):
        with pytest.raises(NotFittedError):
            getattr(DiverseRuleSetClassifier(), method)(X)


@pytest.mark.parametrize("X", [np.zeros((1, 2)), np.array([["a", None]], object), pd.DataFrame({"a": [1]})])
def test_one_record_gives_a_default_and_no_rules(X):
    clf = fit(X, ["only"])
    assert len(clf.rule_set_) == 0
    assert clf.predict(X).tolist() == ["only"]
    assert clf.predict_proba(X).tolist() == [[1.0]]
    assert str(clf.rule_set_) == "   OTHERWISE only (no rule covers 1 of 1 records: 1 only)"


def test_one_class_gives_a_default_and_no_rules():
    clf = fit(y=np.full(40, "same"))
    assert len(clf.rule_set_) == 0
    assert set(clf.predict(X)) == {"same"}
    assert clf.explain(X)["reason"].tolist() == ["no rule covers this record: default label same"] * 40
    assert metrics.diversity(clf.rule_set_, X) == 1


def test_all_missing_and_constant_columns_are_no_obstacle():
    frame = pd.DataFrame({"gone": [None] * 40, "nan": np.nan, "same": 5, "word": "w", "x": X[:, 0]})
    clf = fit(frame, (X[:, 0] > 0.5).astype(int))
    assert clf.rule_set_.columns == ("x",)
    only = fit(frame[["gone", "nan", "same", "word"]], y)
    assert len(only.rule_set_) == 0
    assert set(only.predict(frame)) == {0}


def test_records_that_cannot_be_told_apart_get_no_rules():
    clf = fit(np.repeat([[1.0, 2.0]], 10, axis=0), np.arange(10) % 2)
    assert len(clf.rule_set_) == 0


def test_a_class_of_one_record():
    with pytest.warns(UserWarning, match=r"fewer than min_support=3 records of some labels.* 1 \(1 record\)"):
        clf = fit(X, np.array([1] + [0] * 39))
    assert set(clf.classes_) == {0, 1}
    clf.predict(X)


def test_identifiers_as_a_column_warn_and_are_left_out():
    frame = pd.DataFrame({"id": [f"customer {k}" for k in range(100_000)], "x": np.tile(X[:, 0], 2500)})
    with pytest.warns(UserWarning, match=r"column 'id' looks like an identifier \(100,000 different values in 100,000"):
        clf = fit(frame, np.tile(X[:, 0] > 0.5, 2500))
    assert clf.rule_set_.columns == ("x",)
    assert clf.score(frame.head(100), np.tile(X[:, 0] > 0.5, 2500)[:100]) > 0.9


@pytest.mark.parametrize(
    "column", [[f"customer {k}" for k in range(300)], np.arange(300) + 2**53], ids=["categories", "numbers"]
)
def test_a_warning_points_at_the_line_that_called_fit(column):
    clf = DiverseRuleSetClassifier(random_state=0)
    with pytest.warns(UserWarning, match="column 'id'") as caught:
        clf.fit(pd.DataFrame({"id": column}), np.arange(300) % 2)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "name",
    [
        "'; DROP TABLE x; --",
        "<script>alert(1)</script>",
        "__import__('os').system('x')",
        "{0.__class__}",
        "%s%n",
        "a\x00b\x1b[31m",
    ],
)
def test_hostile_names_and_values_are_only_text(name):
    frame = pd.DataFrame({name: [name, "other"] * 20, "x": X[:, 0]})
    labels = np.array([name, "other"] * 20, object)
    clf = fit(frame, labels)
    assert clf.predict(frame).tolist() == labels.tolist()
    page = str(clf.rule_set_)
    assert page.isprintable() or set(page) - {"\n"} == {c for c in page if c.isprintable()}


def test_metrics_refuse_what_does_not_fit():
    clf = fit()
    for metric in (metrics.overlap, metrics.overlap_share, metrics.coverage, metrics.diversity):
        with pytest.raises(TypeError, match=r"rule_set must be a RuleSet, such as clf\.rule_set_, got DiverseRuleSet"):
            metric(clf, X)
    with pytest.raises(TypeError, match="lambda_ must be a number at least 0, got 'x'"):
        metrics.objective(clf.rule_set_, X, y, lambda_="x")
    with pytest.raises(ValueError, match="X has 40 records but y has 3 labels"):
        metrics.objective(clf.rule_set_, X, [0, 1, 0], lambda_=1.0)
    with pytest.raises(ValueError, match="labels that are not classes of the rule set: 7"):
        metrics.objective(clf.rule_set_, X, np.full(40, 7), lambda_=1.0)
