"""Plots, report page and diversity paths of classifiers inside the pipelines and searches of scikit-learn."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.text import Text
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, StandardScaler

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, diversity_path, metrics
from diverse_rule_sets.baselines import CN2Classifier
from diverse_rule_sets.report import (
    CoverageDisplay,
    FitPathDisplay,
    OverlapDisplay,
    RuleDisplay,
    TradeOffDisplay,
    html,
    write_html,
)

matplotlib.use("Agg")
DISPLAYS = (CoverageDisplay, OverlapDisplay, RuleDisplay, FitPathDisplay)
GRID = {"max_rules": [1, 3]}


@pytest.fixture(autouse=True)
def _close_figures():
    plt.close("all")  # those of tests that ran before
    yield
    plt.close("all")


def some_records(n=150):
    """Return a table of numbers and words with missing values, and labels."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, n).astype(float), "job": rng.choice(["clerk", "sales"], n)})
    X["income"] = 1000 * rng.random(n) + 10 * X["age"]
    X.loc[rng.random(n) < 0.1, "income"] = np.nan
    y = np.where((X["age"] > 45) ^ (X["job"] == "clerk") ^ (rng.random(n) < 0.05), "good", "bad")
    return X, y


X, y = some_records()
NUMBERS = ["age", "income"]


def columns_of(condition):
    """Return the columns of the table that a condition tests, through points as well."""
    column = condition.column
    return [sign.condition.column for sign in column.scorecard.signs] if hasattr(column, "scorecard") else [column]


def clf(**params):
    return DiverseRuleSetClassifier(random_state=0, max_rules=4, **params)


def columns():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return ColumnTransformer([("num", numbers, NUMBERS), ("cat", OrdinalEncoder(), ["job"])])


def only_numbers(table):
    return table[NUMBERS]


# The model, and the columns that the earlier steps return; None: without names
MODELS = {
    "only a classifier": (lambda: Pipeline([("clf", clf())]), ["age", "job", "income"]),
    "columns": (lambda: make_pipeline(columns(), clf()), ["num__age", "num__income", "cat__job"]),
    "pandas": (
        lambda: make_pipeline(columns().set_output(transform="pandas"), clf()),
        ["num__age", "num__income", "cat__job"],
    ),
    "polars": (
        lambda: make_pipeline(columns().set_output(transform="polars"), clf()),
        ["num__age", "num__income", "cat__job"],
    ),
    "function of a data frame": (lambda: make_pipeline(FunctionTransformer(only_numbers), clf()), NUMBERS),
    "function without names": (
        lambda: make_pipeline(
            FunctionTransformer(only_numbers), SimpleImputer(), FunctionTransformer(np.asarray), clf()
        ),
        ["x0", "x1"],
    ),
    "several steps": (
        lambda: make_pipeline(FunctionTransformer(only_numbers), SimpleImputer(), StandardScaler(), clf()),
        NUMBERS,
    ),
    "passthrough": (lambda: Pipeline([("none", "passthrough"), ("clf", clf())]), ["age", "job", "income"]),
    "pipeline in a pipeline": (
        lambda: make_pipeline(columns(), make_pipeline(StandardScaler(), clf())),
        ["num__age", "num__income", "cat__job"],
    ),
    "search": (lambda: GridSearchCV(clf(), GRID, cv=2), ["age", "job", "income"]),
    "search of a pipeline": (
        lambda: GridSearchCV(Pipeline([("columns", columns()), ("clf", clf())]), {"clf__max_rules": [1, 3]}, cv=2),
        ["num__age", "num__income", "cat__job"],
    ),
    "pipeline of a search": (
        lambda: make_pipeline(columns(), RandomizedSearchCV(clf(), GRID, n_iter=2, cv=2, random_state=0)),
        ["num__age", "num__income", "cat__job"],
    ),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: make().fit(X, y) for name, (make, _) in MODELS.items()}


def inner(model):
    """Return the classifier and the records as it sees them, slowly."""
    table = X
    while not isinstance(model, DiverseRuleSetClassifier):
        if isinstance(model, Pipeline):
            for _, step in model.steps[:-1]:
                table = table if step == "passthrough" else step.transform(table)
            model = model.steps[-1][1]
        else:
            model = model.best_estimator_
    return model, table


def texts_of(figure):
    return " ".join(text.get_text() for text in figure.findobj(Text))


@pytest.mark.parametrize("name", MODELS)
def test_plots_of_the_last_step_with_the_columns_of_the_steps_before(fitted, name):
    model, names = fitted[name], MODELS[name][1]
    last, table = inner(model)
    coverage, overlap = CoverageDisplay.from_estimator(model, X, y), OverlapDisplay.from_estimator(model, X, y)
    assert len(coverage.rules) == len(last.rule_set_.all_rules) > 0
    assert coverage.counts.tolist() == CoverageDisplay.from_estimator(last, table, y).counts.tolist()
    assert overlap.shared.tolist() == OverlapDisplay.from_estimator(last, table, y).shared.tolist()
    drawn = RuleDisplay.from_estimator(model, X, y, features=names[:1])
    values = np.asarray(table[names[0]] if hasattr(table, "columns") else table[:, 0], float)
    assert drawn.x.name == names[0]
    assert drawn.x.positions.tolist() == values[drawn.records].tolist()
    path = FitPathDisplay.from_estimator(model, X, y)
    assert path.objective[-1] == pytest.approx(last.objective_)
    used = {name for rule in coverage.rules for condition in rule.conditions for name in columns_of(condition)}
    assert used
    assert used <= set(names)
    assert all(column in texts_of(coverage.figure_) for column in used)


@pytest.mark.parametrize("name", MODELS)
def test_the_page_of_the_last_step_with_the_columns_of_the_steps_before(fitted, tmp_path, name):
    model, names = fitted[name], MODELS[name][1]
    page = write_html(model, X, y, tmp_path / "page.html").read_text("utf8")
    accuracy = np.mean(model.predict(X) == y)
    assert f"<dd>{100 * accuracy:.1f}%</dd>".replace(".0%", "%") in page
    last, _ = inner(model)
    numbers = {name for rule in last.rule_set_.all_rules for one in rule.conditions for name in columns_of(one)}
    positions = [list(getattr(last, "feature_names_in_", [f"x{j}" for j in range(9)])).index(c) for c in numbers]
    for j in positions:
        assert f'<bdi class="column">{names[j]}</bdi>' in page


def test_the_index_of_the_records_is_that_of_the_table_that_is_given(fitted):
    named = X.set_axis([f"person {k}" for k in range(len(X))], axis=0)
    assert "person 7" in html(fitted["columns"], named, y, n_samples=1000)


def test_names_that_are_not_distinct_are_not_used():
    steps = ColumnTransformer([("a", "passthrough", ["age"]), ("b", "passthrough", ["age"])])
    steps = make_pipeline(steps, FunctionTransformer(feature_names_out=lambda *_: np.array(["v", "v"], object)))
    model = make_pipeline(steps, clf()).fit(X, y)
    rules = CoverageDisplay.from_estimator(model, X, y).rules
    assert {name for rule in rules for condition in rule.conditions for name in columns_of(condition)} <= {"x0", "x1"}


class NoInput(FunctionTransformer):
    """Has a method for names without the parameter that scikit-learn passes."""

    def get_feature_names_out(self):
        return ["v", "w"]


@pytest.mark.parametrize("last", [NoInput(), FunctionTransformer()])
def test_steps_that_give_no_names_are_no_error(last):
    model = make_pipeline(FunctionTransformer(only_numbers), SimpleImputer(), last, clf()).fit(X, y)
    rules = CoverageDisplay.from_estimator(model, X, y).rules
    assert {name for rule in rules for condition in rule.conditions for name in columns_of(condition)} <= {"x0", "x1"}


def test_rules_for_a_function_that_decides_keep_their_columns():
    def first_on_x0(rules):
        return min(rules, key=lambda rule: [c.column for c in rule.conditions])

    model = make_pipeline(columns(), clf(conflict=first_on_x0, max_overlap=1.0)).fit(X, y)
    display = CoverageDisplay.from_estimator(model, X, y)
    assert {c.column for rule in display.rules for c in rule.conditions} <= {"x0", "x1", "x2"}


def test_a_rule_set_and_a_baseline_are_accepted_as_before():
    last = clf().fit(X, y)
    assert CoverageDisplay.from_rule_set(last.rule_set_, X, y).rules == last.rule_set_.all_rules
    baseline = make_pipeline(columns(), CN2Classifier()).fit(X, y)
    assert CoverageDisplay.from_estimator(baseline, X, y).n_rules == len(baseline[-1].rule_set_)
    with pytest.raises(TypeError, match=r"clf must have the attribute history_.*got CN2Classifier in a Pipeline"):
        FitPathDisplay.from_estimator(baseline, X, y)


# Models that cannot be drawn

EXPECTED = (
    "clf must be a RuleSet or a fitted classifier of this package, or a Pipeline or a search such as GridSearchCV that "
    "ends in one, got "
)
WRONG = {
    "LogisticRegression in a Pipeline": lambda: make_pipeline(columns(), LogisticRegression()).fit(X, y),
    "LogisticRegression in a Pipeline in a GridSearchCV": lambda: GridSearchCV(
        make_pipeline(columns(), LogisticRegression()), {"logisticregression__C": [1]}, cv=2
    ).fit(X, y),
    "CalibratedClassifierCV in a Pipeline": lambda: make_pipeline(columns(), CalibratedClassifierCV(clf(), cv=2)).fit(
        X, y
    ),
    "CalibratedClassifierCV": lambda: CalibratedClassifierCV(clf(), cv=2).fit(X, y),
    "StandardScaler in a Pipeline": lambda: make_pipeline(columns(), StandardScaler()).fit(X, y),
    "'passthrough' in a Pipeline": lambda: Pipeline([("columns", columns()), ("last", "passthrough")]).fit(X, y),
    "Pipeline": lambda: Pipeline([]),
    "NoneType": lambda: None,
    "'clf'": lambda: "clf",
}


@pytest.mark.parametrize("text", WRONG)
def test_another_last_step_is_an_error_that_names_it(text, tmp_path):
    model = WRONG[text]()
    calls = [lambda kind=kind: kind.from_estimator(model, X, y) for kind in DISPLAYS]
    for call in [*calls, lambda: html(model, X, y), lambda: write_html(model, X, y, tmp_path / "page.html")]:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == EXPECTED + text
    with pytest.raises(TypeError) as caught:
        CoverageDisplay.from_rule_set(model, X, y)
    assert str(caught.value) == EXPECTED.replace("clf", "rule_set") + text
    for call in (diversity_path, TradeOffDisplay.from_estimator):
        with pytest.raises(TypeError) as caught:
            call(model, X, y)
        assert str(caught.value) == (
            "clf must be a DiverseRuleSetClassifier or a DRSClassifier, or a Pipeline or a fitted search such as "
            f"GridSearchCV that ends in one, got {text}"
        )


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (make_pipeline(columns(), clf()), "this DiverseRuleSetClassifier in a Pipeline is not fitted yet; call fit"),
        (make_pipeline(clf()), "this DiverseRuleSetClassifier in a Pipeline is not fitted yet; call fit"),
        (GridSearchCV(clf(), GRID), "this GridSearchCV is not fitted yet; call fit"),
        (make_pipeline(columns(), RandomizedSearchCV(clf(), GRID)), "this RandomizedSearchCV is not fitted yet"),
    ],
)
def test_a_model_that_is_not_fitted_is_an_error(model, text):
    for kind in DISPLAYS:
        with pytest.raises(NotFittedError, match=text):
            kind.from_estimator(model, X, y)
    with pytest.raises(NotFittedError, match=text):
        html(model, X, y)


def test_a_search_without_refit_is_an_error():
    search = GridSearchCV(clf(), GRID, cv=2, refit=False).fit(X, y)
    for call in (CoverageDisplay.from_estimator, diversity_path):
        with pytest.raises(ValueError, match="has no best_estimator_, expected refit=True, got refit=False"):
            call(search, X, y)


# Paths


class Recorder(TransformerMixin, BaseEstimator):
    """Replaces missing values by the mean of the training records, and records on how many it was fitted."""

    seen = []  # noqa: RUF012, shared with the copies

    def fit(self, X, y=None):
        Recorder.seen.append((sorted(X["id"].tolist()), None if y is None else list(y)))
        self.means_ = X[NUMBERS].mean()
        return self

    def transform(self, X):
        return X[NUMBERS].fillna(self.means_)


def test_a_path_fits_the_earlier_steps_on_the_training_records_only():
    table = X.assign(id=np.arange(len(X)))
    model = make_pipeline(Recorder(), StandardScaler(), clf())
    Recorder.seen.clear()
    path = diversity_path(model, table, y, max_rules=[1, 3], max_overlap=[0, 1], cv=3, random_state=1)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(table, y))
    assert Recorder.seen == [(train.tolist(), y[train].tolist()) for train, _ in folds]
    assert not hasattr(model[-1], "rule_set_")
    for point in path:
        scores, shares = [], []
        for train, test in folds:
            ref = clone(model).set_params(
                diverserulesetclassifier__max_rules=point.max_rules,
                diverserulesetclassifier__max_overlap=point.max_overlap,
            )
            ref.fit(table.iloc[train], y[train])
            scores.append(ref.score(table.iloc[test], y[test]))
            shares.append(metrics.overlap_share(ref[-1].rule_set_, ref[:-1].transform(table.iloc[train])))
        assert point.accuracy == pytest.approx(np.mean(scores))
        assert point.overlap == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("table", [X, pl.from_pandas(X)], ids=["pandas", "polars"])
def test_paths_of_pipelines_of_pandas_and_polars_tables(table):
    options = {"max_rules": [2], "max_overlap": [0], "cv": 2}
    whole = make_pipeline(columns(), make_pipeline(StandardScaler(), clf()))
    flat = make_pipeline(columns(), StandardScaler(), clf())
    assert list(diversity_path(whole, table, y, **options)) == list(diversity_path(flat, X, y, **options))


def test_a_pipeline_without_earlier_steps_has_the_path_of_its_classifier(fitted):
    options = {"max_rules": [1, 2], "max_overlap": [0.1], "cv": 2}
    paths = [diversity_path(model, X, y, **options) for model in (clf(), make_pipeline(clf()))]
    assert list(paths[0]) == list(paths[1])
    best = fitted["search"].best_estimator_
    assert list(diversity_path(fitted["search"], X, y, cv=2)) == list(diversity_path(best, X, y, cv=2))
    assert len(TradeOffDisplay.from_estimator(fitted["pipeline of a search"], X, y, **options).path) == 2


def test_a_path_of_a_pipeline_of_lists_and_of_the_method_of_the_paper():
    numbers = X[NUMBERS].to_numpy().tolist()
    model = make_pipeline(SimpleImputer(), DRSClassifier(random_state=0, n_candidates=20, max_rules=2))
    (point,) = diversity_path(model, numbers, y, max_rules=[2], max_overlap=[1], diversity=[0.5], cv=2)
    assert point.diversity == 0.5


@pytest.mark.parametrize("model", [GridSearchCV(clf(), GRID), make_pipeline(columns(), GridSearchCV(clf(), GRID))])
def test_a_path_needs_a_fitted_search(model):
    with pytest.raises(NotFittedError, match="this GridSearchCV is not fitted yet"):
        diversity_path(model, X, y)
