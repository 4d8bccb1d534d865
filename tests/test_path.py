import math

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from diverse_rule_sets import DiverseRuleSetClassifier, DiversityPath, DRSClassifier, diversity_path, metrics
from diverse_rule_sets.learn import _learner as learner
from diverse_rule_sets.learn._learner import Budget

matplotlib.use("Agg")
X, y = load_wine(return_X_y=True, as_frame=True)
LIMITS = [2, 4, 7, None]
GIVEN = ["IF alcohol > 13.5 THEN 0", "IF hue > 1.1 THEN 1", "IF hue <= 0.7 THEN 2"]


def folds_of(X, y, n=3):
    return list(StratifiedKFold(n, shuffle=True, random_state=1).split(X, y))


@pytest.fixture(scope="module")
def path():
    """The path against rules."""
    return diversity_path(
        DiverseRuleSetClassifier(random_state=3), X, y, max_rules=[1, 3], max_overlap=[0, 0.5], cv=3, random_state=1
    )


@pytest.fixture(scope="module")
def by_statements():
    clf = DiverseRuleSetClassifier(random_state=3)
    return diversity_path(clf, X, y, max_statements=LIMITS, cv=3, random_state=1)


def test_a_point_against_rules_is_what_fits_on_the_folds_give(path):
    scores, shares = [], []
    for train, test in folds_of(X, y):
        clf = DiverseRuleSetClassifier(random_state=3, max_rules=3, max_overlap=0.5).fit(X.iloc[train], y.iloc[train])
        scores.append(clf.score(X.iloc[test], y.iloc[test]))
        shares.append(metrics.overlap_share(clf.rule_set_, X.iloc[train]))
    point = next(p for p in path if (p.max_rules, p.max_overlap) == (3, 0.5))
    assert point.max_statements is None
    assert point.accuracy == pytest.approx(np.mean(scores))
    assert point.overlap == pytest.approx(np.mean(shares))
    assert point.rules == 3


def figures_of_a_fit(clf, X, y, X_test, y_test):
    """Return all figures of a fit, computed by scikit-learn."""
    clf.fit(X, y)
    rules, proba, labels = clf.rule_set_, clf.predict_proba(X_test), clf.predict(X_test)
    several = {"multi_class": "ovo", "labels": clf.classes_} if len(clf.classes_) > 2 else {}
    return {
        "balanced_accuracy": balanced_accuracy_score(y_test, labels),
        "accuracy": accuracy_score(y_test, labels),
        "auc": roc_auc_score(y_test, proba if several else proba[:, 1], **several),
        "log_loss": log_loss(y_test, proba, labels=clf.classes_),
        "statements": len(rules.rules) + len(rules.fallbacks) + 1,
        "conditions": metrics.size(rules).conditions,
        "rules": len(rules),
        "fallbacks": len(rules.fallbacks),
        "signs": sum(len(card.signs) for card in rules.scorecards),
        "overlap": metrics.overlap_share(rules, X),
        "uncovered": 1 - metrics.coverage(rules, X),
    }


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_a_point_is_what_fits_with_max_statements_on_the_folds_give(load):
    X, codes = load(return_X_y=True, as_frame=True)
    y = load().target_names[codes]
    path = diversity_path(DiverseRuleSetClassifier(random_state=3), X, y, max_statements=LIMITS, cv=3, random_state=1)
    assert [point.max_statements for point in path] == LIMITS
    for point in path:
        rows = []
        for train, test in folds_of(X, y):
            clf = DiverseRuleSetClassifier(random_state=3, max_statements=point.max_statements)
            rows.append(figures_of_a_fit(clf, X.iloc[train], y[train], X.iloc[test], y[test]))
        for name in rows[0]:
            values = [row[name] for row in rows]
            assert getattr(point, name) == pytest.approx(np.mean(values)), name
            if hasattr(point, f"{name}_sd"):
                assert getattr(point, f"{name}_sd") == pytest.approx(np.std(values)), name
        assert point.scores == {"balanced_accuracy": point.balanced_accuracy}
        assert (point.score, point.score_sd) == (point.balanced_accuracy, point.balanced_accuracy_sd)


def test_limits_on_statements_hold_and_larger_ones_give_more_to_read(by_statements):
    sizes = [point.statements for point in by_statements]
    assert all(point.statements <= point.max_statements for point in by_statements[:-1])
    assert sizes[:3] == sorted(sizes[:3])
    assert sizes[0] < sizes[1]
    assert by_statements[2].balanced_accuracy > by_statements[0].balanced_accuracy
    for point in by_statements:
        assert point.statements == pytest.approx(point.rules + point.fallbacks + 1)
        assert point.max_rules == 40


def test_both_limits_give_all_combinations():
    clf = DiverseRuleSetClassifier(random_state=3)
    path = diversity_path(clf, X, y, max_statements=[3, None], max_rules=[1, 3], cv=2, random_state=1)
    assert [(p.max_rules, p.max_statements) for p in path] == [(1, 3), (1, None), (3, 3), (3, None)]
    assert all(p.rules <= p.max_rules and p.statements <= (p.max_statements or math.inf) for p in path)
    for point in path:
        scores = []
        for train, test in folds_of(X, y, 2):
            clf = DiverseRuleSetClassifier(
                random_state=3, max_statements=point.max_statements, max_rules=point.max_rules
            ).fit(X.iloc[train], y.iloc[train])
            scores.append(clf.score(X.iloc[test], y.iloc[test]))
        assert point.accuracy == pytest.approx(np.mean(scores))
    names = [text.get_text() for text in path.plot()[0].get_legend().get_texts()]
    assert names == ["max_rules=1", "max_rules=3"]


def tiles(seed, n=500):
    """Return a table in which a class has several small regions, so that limits on statements matter."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n, 4)).round(2), columns=list("abcd"))
    codes = (2 * (X.a > 0.5) + (X.b > 0.6)) % 3 + (X.c > 0.8)
    return X, np.where(rng.random(n) < 0.1, "w", np.array(["u", "v", "w", "z"])[codes])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scorecards", ["auto", None])
def test_each_of_several_budgets_gives_the_rules_of_a_fit_alone(seed, scorecards):
    """Whatever the other budgets and their order."""
    X, y = tiles(seed)
    clf = DiverseRuleSetClassifier(random_state=seed, scorecards=scorecards)
    rng = np.random.default_rng(seed)
    budgets = [Budget(n, most) for n in (2, 40) for most in (1, 2, 3, 5, 9, 14, None)]
    alone = {}
    for budget in budgets:
        fit = clone(clf).set_params(max_rules=budget.max_rules, max_statements=budget.max_statements).fit(X, y)
        alone[budget] = fit.rule_set_
        assert len(fit.rule_set_.all_rules) + 1 <= (budget.max_statements or math.inf)
    assert len({len(rules.all_rules) for rules in alone.values()}) >= 4
    for size in (2, 5, len(budgets)):
        some = [budgets[j] for j in rng.permutation(len(budgets))[:size]]
        for budget, rules in zip(some, clf._rule_sets(X, y, some), strict=True):
            assert rules == alone[budget]
            assert str(rules) == str(alone[budget])


def test_a_path_needs_no_more_searches_than_fits(monkeypatch):
    searches, search = [], learner._learn
    monkeypatch.setattr(learner, "_learn", lambda *args: searches.append(args) or search(*args))
    X, y = tiles(0)
    for scorecards in ("auto", None):
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=scorecards)
        diversity_path(clf, X, y, cv=3, random_state=1)
        n_searches = len(searches)
        searches.clear()
        for train, _ in folds_of(X, y):
            clf.fit(X.iloc[train], y[train])
        assert n_searches <= len(searches) + 3 * (scorecards == "auto")  # one limit may need rules of points only
        searches.clear()


@pytest.mark.parametrize(
    ("params", "limits"),
    [
        ({}, [2, 3, 5, 8, 10, 15, 20, None]),
        ({"max_statements": 9}, [2, 3, 5, 8, 9]),
        ({"max_statements": 30}, [2, 3, 5, 8, 10, 15, 20, 30]),
        ({"max_statements": 1}, [1]),
        ({"given_rules": GIVEN}, [5, 8, 10, 15, 20, None]),
    ],
)
def test_the_default_path_is_against_statements(params, limits):
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, max_overlap=0.2, **params)
    path = diversity_path(clf, X, y, cv=2)
    assert [point.max_statements for point in path] == limits
    assert {(point.max_rules, point.max_overlap, point.diversity) for point in path} == {(40, 0.2, "strict")}
    assert [p.max_statements for p in diversity_path(clf, X, y, max_rules=[3, 5], cv=2)] == 2 * limits[-1:]


def test_a_point_of_the_paper_is_what_fits_on_the_folds_give():
    paper = {"random_state": 3, "n_candidates": 30}
    path = diversity_path(
        DRSClassifier(**paper), X, y, max_rules=[2, 6], max_overlap=[1], diversity=["none", 0.5], cv=3, random_state=1
    )
    found = {(p.max_rules, p.diversity): p for p in path}
    assert set(found) == {(2, "none"), (2, 0.5), (6, "none"), (6, 0.5)}
    for (max_rules, diversity), point in found.items():
        scores, shares = [], []
        for train, test in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
            clf = DRSClassifier(**paper, max_rules=max_rules, diversity=diversity, max_overlap=1)
            clf.fit(X.iloc[train], y.iloc[train])
            scores.append(clf.score(X.iloc[test], y.iloc[test]))
            shares.append(metrics.overlap_share(clf.rule_set_, X.iloc[train]))
        assert point.accuracy == pytest.approx(np.mean(scores))
        assert point.overlap == pytest.approx(np.mean(shares))


def test_every_combination_is_measured_and_limits_hold(path):
    assert [(p.max_overlap, p.max_rules) for p in path] == [(0, 1), (0, 3), (0.5, 1), (0.5, 3)]
    assert all(p.overlap == 0 for p in path if p.max_overlap == 0)
    assert all(p.rules <= p.max_rules for p in path)
    assert path[1].balanced_accuracy > path[0].balanced_accuracy


def test_print_frame_and_plot(path):
    lines = str(path).splitlines()
    assert len(lines) == 5
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split()[:4] == ["max_rules", "max_overlap", "balanced_accuracy", "auc"]
    frame = path.frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["max_rules"].tolist() == [1, 3, 1, 3]
    assert frame["max_statements"].isna().all()
    assert isinstance(path.frame(pl.DataFrame({"a": [1]})), pl.DataFrame)
    left, right = path.plot()
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["max_overlap=0", "max_overlap=0.5"]
    assert len(right.collections) == 2
    assert "overlap" in right.get_title()


def test_print_frame_and_plot_against_statements(by_statements):
    lines = str(by_statements).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= 120
    names = "max_statements balanced_accuracy auc log_loss statements rules conditions signs overlap uncovered"
    assert lines[0].split() == names.split()
    assert [line.split()[0] for line in lines[1:]] == ["2", "4", "7", "None"]
    assert f"{by_statements[1].balanced_accuracy:.3f} ({by_statements[1].balanced_accuracy_sd:.3f})" in lines[2]
    assert by_statements.frame()["max_statements"].tolist() == [2, 4, 7, pd.NA]
    polars = by_statements.frame(pl.DataFrame({"a": [1]}))
    assert polars["max_statements"].to_list() == [2, 4, 7, None]
    assert polars["auc"].to_list() == [point.auc for point in by_statements]
    assert by_statements.frame(pa.table({"a": [1]})).column("max_statements").to_pylist() == [2, 4, 7, None]
    left, right = by_statements.plot()
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["balanced accuracy", "AUC"]
    for ax, figures in ((left, [("statements", "score"), ("statements", "auc")]), (right, [("conditions", "score")])):
        assert len(ax.containers) == len(figures)
        for box, names in zip(ax.containers, figures, strict=True):
            drawn = [tuple(map(float, point)) for point in zip(*box.lines[0].get_data(), strict=True)]
            points = sorted(by_statements, key=lambda point: getattr(point, names[0]))
            assert drawn == [tuple(getattr(point, name) for name in names) for point in points]
        assert ax.get_xlim()[0] == 0


def test_an_empty_path_can_be_printed_and_drawn():
    assert len(str(DiversityPath([])).splitlines()) == 1
    assert DiversityPath([]).plot()[0].get_legend() is None


def test_defaults_and_diversity_weights():
    clf = DRSClassifier(max_rules=3, n_candidates=50)
    path = diversity_path(clf, X, y, max_overlap=[1], diversity=["none", 5.0], cv=2)
    assert isinstance(path, DiversityPath)
    assert [(p.diversity, p.max_rules) for p in path] == [(d, n) for d in ("none", 5.0) for n in (1, 2, 3)]
    assert {p.max_statements for p in path} == {None}
    names = [text.get_text() for text in path.plot()[0].get_legend().get_texts()]
    assert names == ["diversity=none", "diversity=5.0"]
    assert len({p.max_overlap for p in diversity_path(clf, X, y, max_rules=[2], cv=2)}) == 4


@pytest.mark.parametrize(
    ("clf", "diversity"),
    [
        (DiverseRuleSetClassifier(max_rules=3), "strict"),
        (DRSClassifier(max_rules=3, n_candidates=50, diversity="permissive"), "permissive"),
    ],
)
def test_without_values_the_weight_is_the_one_of_the_classifier(clf, diversity):
    path = diversity_path(clf, X, y, max_rules=[1, 2, 3], max_overlap=[1], cv=2)
    assert [(p.diversity, p.max_rules) for p in path] == [(diversity, n) for n in (1, 2, 3)]


def test_weights_are_compared_for_the_paper_only():
    with pytest.raises(ValueError, match=r"diversity can be compared for DRSClassifier only, .* got \['none'\]"):
        diversity_path(DiverseRuleSetClassifier(), X, y, diversity=["none"])


def test_statements_are_compared_for_the_default_method_only():
    with pytest.raises(
        ValueError, match=r"max_statements can be compared for DiverseRuleSetClassifier only, .* got \[2\]"
    ):
        diversity_path(DRSClassifier(), X, y, max_statements=[2])


def test_any_table_and_any_splitter():
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    folds = KFold(2, shuffle=True, random_state=0)
    options = {"max_statements": [4], "cv": folds, "scoring": "neg_log_loss"}
    same = [
        list(diversity_path(DiverseRuleSetClassifier(), table, y, **options))
        for table in (X, frame, frame.to_arrow(), X.to_numpy(), X.to_numpy().tolist())
    ]
    assert all(points == same[0] for points in same)


# Scores


class Inverted:
    """A scorer as an object without a name."""

    def __call__(self, estimator, X, y):
        return -np.mean(estimator.predict(X) != y)


def size_of(estimator, X, y):
    """Return how many rules there are; scorers may look at the rules."""
    assert isinstance(X, pd.DataFrame)
    assert estimator.predict(X).dtype == y.dtype
    assert estimator.predict_proba(X).shape == (len(X), len(estimator.classes_))
    assert estimator.get_params()["max_statements"] == 4
    return len(estimator.rule_set_)


@pytest.mark.parametrize("labels", [np.array([-5, 7]), np.array([False, True]), np.array(["bad", "good"])])
def test_scores_are_those_of_fits_whatever_the_type_of_the_labels(labels):
    X, codes = load_breast_cancer(return_X_y=True, as_frame=True)
    y = labels[codes]
    f1 = make_scorer(f1_score, pos_label=labels[1])
    scoring = {"area": "roc_auc", "f1": f1, "loss": "neg_log_loss", "size": size_of, "odd": Inverted()}
    clf = DiverseRuleSetClassifier(random_state=3)
    (point,) = diversity_path(clf, X, y, max_statements=[4], scoring=scoring, cv=3, random_state=1)
    assert list(point.scores) == list(point.scores_sd) == list(scoring)
    rows = []
    for train, test in folds_of(X, y):
        fit = DiverseRuleSetClassifier(random_state=3, max_statements=4).fit(X.iloc[train], y[train])
        named = {name: get_scorer(one) if isinstance(one, str) else one for name, one in scoring.items()}
        rows.append({name: scorer(fit, X.iloc[test], y[test]) for name, scorer in named.items()})
    for name in scoring:
        assert point.scores[name] == pytest.approx(np.mean([row[name] for row in rows]))
        assert point.scores_sd[name] == pytest.approx(np.std([row[name] for row in rows]))
    assert point.score == point.scores["area"] == pytest.approx(point.auc)
    assert point.scores["loss"] == pytest.approx(-point.log_loss)
    assert point.scores["size"] == point.rules


@pytest.mark.parametrize(
    ("scoring", "names"),
    [
        (None, ["balanced_accuracy"]),
        ("neg_log_loss", ["neg_log_loss"]),
        ("roc_auc_ovo", ["roc_auc_ovo"]),
        (["accuracy", "f1_macro"], ["accuracy", "f1_macro"]),
        (("balanced_accuracy", size_of), ["balanced_accuracy", "size_of"]),
        (size_of, ["size_of"]),
        (Inverted(), ["score"]),
    ],
)
def test_the_forms_of_scoring(scoring, names):
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None)
    path = diversity_path(clf, X, y, max_statements=[4], scoring=scoring, cv=2)
    assert list(path[0].scores) == names
    columns = list(path.frame().columns)
    for name in names:
        if name == "balanced_accuracy":
            assert columns.count("score_balanced_accuracy") == 0
        else:
            assert path.frame()[f"score_{name}"].tolist() == [path[0].scores[name]]
            assert path.frame()[f"score_{name}_sd"].tolist() == [path[0].scores_sd[name]]
    assert str(path).splitlines()[0].split()[1] == names[0]
    left, _ = path.plot()
    assert left.get_ylabel() == f"{names[0].replace('_', ' ')}, held-out records"
    other_share = 0 <= path[0].score <= 1 and "auc" not in names[0]
    assert [text.get_text() for text in left.get_legend().get_texts()][1:] == ["AUC"] * other_share


@pytest.mark.parametrize(
    ("scoring", "error", "message"),
    [
        ("acuracy", ValueError, "scoring must be the name of a scorer .*, got 'acuracy'; did you mean 'accuracy'"),
        (["accuracy", "nothing"], ValueError, "scoring must be .*, got 'nothing'"),
        ({"a": "nothing"}, ValueError, r"scoring\['a'\] must be .*, got 'nothing'"),
        ({3: "accuracy"}, TypeError, r"keys of scoring must be names of scores, got 3 \(int\)"),
        ([], ValueError, r"scoring must be .*, got \[\]"),
        ({}, ValueError, r"scoring must be .*, got \{\}"),
        (3, TypeError, r"scoring must be .*, got 3 \(int\)"),
        ([3], TypeError, r"scoring must be .*, got 3 \(int\)"),
        (f1_score, TypeError, "scoring must be .*make_scorer makes a scorer"),
        (["accuracy", "accuracy"], ValueError, "scoring must name each scorer once, got 'accuracy' twice"),
        ("precision", ValueError, "scoring: 'precision' cannot be computed: Target is multiclass"),
        (lambda estimator, X, y: "high", TypeError, r"scoring: '<lambda>' must return a number, got 'high' \(str\)"),
    ],
)
def test_bad_scorers_are_named(scoring, error, message):
    with pytest.raises(error, match=message):
        diversity_path(DiverseRuleSetClassifier(scorecards=None), X, y, max_statements=[2], scoring=scoring, cv=2)


def test_figures_of_folds_that_lack_a_class_are_left_out():
    """Class 2 is missing among the held-out records of the first fold, and among the training records of the second."""
    numbers = np.where(y == 2, 1, np.arange(len(y)) % 2)
    options = {"max_statements": [4], "cv": PredefinedSplit(numbers)}
    clf = DiverseRuleSetClassifier(random_state=0)
    scoring = ["roc_auc_ovo", "neg_log_loss", "accuracy"]
    (point,) = diversity_path(clf, X, y, scoring=scoring, **options)
    (train, test), _ = PredefinedSplit(numbers).split()
    fit = DiverseRuleSetClassifier(random_state=0, max_statements=4).fit(X.iloc[train], y.iloc[train])
    assert set(y.iloc[test]) == {0, 1}
    assert point.log_loss == pytest.approx(log_loss(y.iloc[test], fit.predict_proba(X.iloc[test]), labels=fit.classes_))
    assert math.isnan(point.auc)
    assert math.isnan(point.auc_sd)
    assert math.isnan(point.scores["roc_auc_ovo"])
    assert math.isnan(point.scores["neg_log_loss"])
    assert 0 < point.scores["accuracy"] == pytest.approx(point.accuracy)
    path = diversity_path(clf, X, y, scoring=scoring, **options)
    assert list(path) == [point]
    assert "nan (nan)" in str(path)
    path.plot()
    assert math.isnan(path.frame()["auc"][0])


def test_a_single_class_has_no_auc():
    (point,) = diversity_path(DiverseRuleSetClassifier(), X, ["a"] * len(X), max_statements=[3], cv=2)
    assert (point.accuracy, point.statements) == (1, 1)
    assert point.log_loss == pytest.approx(0)
    assert math.isnan(point.auc)


def test_scorers_of_a_pipeline_get_the_records_of_its_last_step():
    seen = []

    def scorer(estimator, X, y):
        seen.append((type(estimator).__name__, np.abs(np.mean(X)) < 0.5))
        return np.mean(estimator.predict(X) == y)

    model = make_pipeline(StandardScaler(), DiverseRuleSetClassifier(random_state=0, scorecards=None))
    (point,) = diversity_path(model, X, y, max_statements=[4], scoring=scorer, cv=2)
    assert seen == [("DiverseRuleSetClassifier", True)] * 2
    assert point.score == pytest.approx(point.accuracy)


def test_long_names_and_many_scores_fit_into_120_columns():
    scoring = {f"a long $name$\n of a score {j} {'x' * j}": "accuracy" for j in range(20)}
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None)
    path = diversity_path(clf, X, y, max_statements=[3, 5], max_overlap=[0, {"agree": 1}], scoring=scoring, cv=2)
    lines = str(path).splitlines()
    assert len(lines) == 5
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= 120
    assert len(path.frame().columns) == 19 + 2 * 20
    path.plot()[0].figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_rules": 3}, "max_rules must be a list of values to compare, got 3"),
        ({"diversity": "none"}, "diversity must be a list of values to compare, got 'none'"),
        ({"max_overlap": []}, "max_overlap must name at least one value"),
        ({"max_overlap": [2.0]}, "max_overlap must be"),
        ({"max_overlap": {"agree": 1}}, "max_overlap must be a list of values to compare"),
        ({"max_overlap": [{"both": 1}]}, "max_overlap must be .*got the key 'both'"),
        ({"max_rules": [-1]}, "max_rules must be"),
        ({"max_rules": [2.5]}, r"max_rules must be .*, got 2.5 \(float\)"),
    ],
)
def test_bad_values_are_named(params, message):
    with pytest.raises((TypeError, ValueError), match=message):
        diversity_path(DRSClassifier(), X, y, **params)
    if "diversity" not in params:
        with pytest.raises((TypeError, ValueError), match=message):
            diversity_path(DiverseRuleSetClassifier(), X, y, **params)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (3, "max_statements must be a list of values to compare, got 3"),
        ([], "max_statements must name at least one value"),
        ([0], "max_statements must be .*, got 0"),
        (["3"], r"max_statements must be .*, got '3' \(str\)"),
        ([5, 2], "max_statements must be at least 3, the number of given_rules and the default label, got 2"),
    ],
)
def test_bad_limits_on_statements_are_named(values, message):
    clf = DiverseRuleSetClassifier(given_rules=["IF hue > 1 THEN 1", "IF hue <= 0.7 THEN 2"])
    with pytest.raises((TypeError, ValueError), match=message):
        diversity_path(clf, X, y, max_statements=values)


def test_limits_by_label_are_printed_and_plotted():
    by_label = {"contradict": 0.01, "agree": 1}
    path = diversity_path(DiverseRuleSetClassifier(), X, y, max_rules=[3], max_overlap=[0, by_label, by_label], cv=2)
    assert [point.max_overlap for point in path] == [0, {"agree": 1, "contradict": 0.01}]
    lines = str(path).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "agree=1,contradict=0.01" in lines[2]
    assert path.frame()["max_overlap"].tolist() == ["0", "agree=1,contradict=0.01"]
    left, _ = path.plot()
    names = [text.get_text() for text in left.get_legend().get_texts()]
    assert names == ["max_overlap=0", "max_overlap=agree=1,contradict=0.01"]


def test_another_estimator_is_refused():
    with pytest.raises(TypeError, match=r"clf must be a DiverseRuleSetClassifier or a DRSClassifier, .*got 'clf'"):
        diversity_path("clf", X, y)
