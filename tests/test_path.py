import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import KFold, StratifiedKFold

from diverse_rule_sets import DiverseRuleSetClassifier, DiversityPath, DRSClassifier, diversity_path, metrics

matplotlib.use("Agg")
X, y = load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def path():
    return diversity_path(
        DiverseRuleSetClassifier(random_state=3), X, y, max_rules=[1, 3], max_overlap=[0, 0.5], cv=3, random_state=1
    )


def test_a_point_is_what_fits_on_the_folds_give(path):
    scores, shares = [], []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
        clf = DiverseRuleSetClassifier(random_state=3, max_rules=3, max_overlap=0.5).fit(X.iloc[train], y.iloc[train])
        scores.append(clf.score(X.iloc[test], y.iloc[test]))
        shares.append(metrics.overlap_share(clf.rule_set_, X.iloc[train]))
    point = next(p for p in path if (p.max_rules, p.max_overlap) == (3, 0.5))
    assert point.accuracy == pytest.approx(np.mean(scores))
    assert point.overlap == pytest.approx(np.mean(shares))
    assert point.rules == 3


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
    frame = path.frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["max_rules"].tolist() == [1, 3, 1, 3]
    assert isinstance(path.frame(pl.DataFrame({"a": [1]})), pl.DataFrame)
    left, right = path.plot()
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["max_overlap=0", "max_overlap=0.5"]
    assert len(right.collections) == 2


def test_defaults_and_diversity_weights():
    clf = DRSClassifier(max_rules=3, n_candidates=50)
    path = diversity_path(clf, X, y, max_overlap=[1], diversity=["none", 5.0], cv=2)
    assert isinstance(path, DiversityPath)
    assert [(p.diversity, p.max_rules) for p in path] == [(d, n) for d in ("none", 5.0) for n in (1, 2, 3)]
    assert "diversity=none" in path.plot()[0].get_legend().get_texts()[0].get_text() + str(path._lines())


@pytest.mark.parametrize(
    ("clf", "diversity"),
    [
        (DiverseRuleSetClassifier(max_rules=3), "strict"),
        (DRSClassifier(max_rules=3, n_candidates=50, diversity="permissive"), "permissive"),
    ],
)
def test_without_values_the_weight_is_the_one_of_the_classifier(clf, diversity):
    path = diversity_path(clf, X, y, max_overlap=[1], cv=2)
    assert [(p.diversity, p.max_rules) for p in path] == [(diversity, n) for n in (1, 2, 3)]


def test_weights_are_compared_for_the_paper_only():
    with pytest.raises(ValueError, match=r"diversity can be compared for DRSClassifier only, .* got \['none'\]"):
        diversity_path(DiverseRuleSetClassifier(), X, y, diversity=["none"])


def test_any_table_and_any_splitter():
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    folds = KFold(2, shuffle=True, random_state=0)
    same = [
        diversity_path(DiverseRuleSetClassifier(), table, y, max_rules=[2], max_overlap=[0], cv=folds)[0]
        for table in (X, frame)
    ]
    assert same[0] == same[1]


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
    ],
)
def test_bad_values_are_named(params, message):
    with pytest.raises((TypeError, ValueError), match=message):
        diversity_path(DRSClassifier(), X, y, **params)
    if "diversity" not in params:
        with pytest.raises((TypeError, ValueError), match=message):
            diversity_path(DiverseRuleSetClassifier(), X, y, **params)


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
