"""Weights of records after the fit: metrics, editing, files, exports, the path, the report and the command line."""

import json
import sqlite3
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, make_scorer, max_error

import naive
from conftest import make_mixed
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, Rule, RuleSet, diversity_path, metrics
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier
from diverse_rule_sets.model._counts import count_text
from diverse_rule_sets.report import (
    CoverageDisplay,
    FitPathDisplay,
    OverlapDisplay,
    RuleDisplay,
    ScorecardDisplay,
    html,
    write_html,
)
from diverse_rule_sets.report._summary import summarise

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
MODELS = {
    "default": partial(DiverseRuleSetClassifier, random_state=0),
    "overlapping": partial(DRSClassifier, random_state=0, n_candidates=30, max_rules=8),
    "added counts": CN2Classifier,
}
each = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module")
def table():
    columns, y = make_mixed(300, 1)
    return pd.DataFrame(columns), y


def copies_of(X, y, weights):
    records = np.repeat(np.arange(len(y)), weights)
    return X.iloc[records].reset_index(drop=True), y[records]


def whole_weights(n, seed=0):
    return np.random.default_rng(seed).integers(0, 4, n)


def other_weights(n, seed=0):
    return np.random.default_rng(seed).lognormal(0, 1, n)


@each
def test_metrics_and_score_of_weights_are_those_of_copies(make, table):
    X, y = table
    clf, weights = make().fit(X, y), whole_weights(len(y))
    rules, (copies, labels) = clf.rule_set_, copies_of(X, y, weights)
    for measure in (
        *(partial(metrics.overlap, kind=kind) for kind in ("any", "agree", "contradict")),
        *(partial(metrics.overlap_share, kind=kind) for kind in ("any", "agree", "contradict")),
        metrics.coverage,
        metrics.diversity,
    ):
        got = measure(rules, X, sample_weight=weights)
        assert got == measure(rules, copies)
        assert type(got) is type(measure(rules, copies))
    got = metrics.objective(rules, X, y, lambda_=0.3, sample_weight=weights)
    assert got == pytest.approx(metrics.objective(rules, copies, labels, lambda_=0.3), rel=1e-12)
    assert clf.score(X, y, weights) == clf.score(copies, labels)
    none = np.full(len(y), 2.5)
    assert metrics.overlap(rules, X, sample_weight=none) == metrics.overlap(rules, X)


@each
def test_metrics_of_other_weights(make, table):
    X, y = table
    rules, weights = make().fit(X, y).rule_set_, other_weights(len(y))
    units, unit = naive.weights_in_units(weights.tolist())
    covering = [{j for j in range(len(rules)) if row[j]} for row in rules.covers(X)]
    several = sum(n for n, some in zip(units, covering, strict=True) if len(some) > 1)
    some = sum(n for n, some in zip(units, covering, strict=True) if some)
    assert metrics.overlap(rules, X, sample_weight=weights) == pytest.approx(float(several * unit), abs=0.01)
    assert metrics.coverage(rules, X, sample_weight=weights) == pytest.approx(some / sum(units), abs=1e-4)


@each
def test_counts_of_edited_rule_sets(make, table):
    X, y = table
    rules, weights = make().fit(X, y).rule_set_, whole_weights(len(y), 2)
    copies = copies_of(X, y, weights)
    new = "IF age > 40 THEN good"
    edits = [
        lambda *data, **options: rules.evaluated(*data, **options),
        lambda *data, **options: rules.with_rule(new, *data, position=1, **options),
        lambda *data, **options: rules.without_rule(1, *data, **options),
        lambda *data, **options: rules.replace(1, new, *data, **options),
    ]
    if rules.scorecards:
        sign = "2 if age > 33" if not rules.scorecards[0].has_leader else "2 for good if age > 33"
        edits += [
            lambda *data, **options: rules.with_sign(sign, *data, **options),
            lambda *data, **options: rules.without_sign(1, *data, **options),
            lambda *data, **options: rules.with_points(1, 5, *data, **options),
        ]
    for edit in edits:
        got = edit(X, y, sample_weight=weights)
        assert got == edit(*copies)
        assert [rule.class_counts for rule in got.all_rules] == [rule.class_counts for rule in edit(*copies).all_rules]
        assert all(isinstance(n, int) for n in (*got.class_totals, *got.uncovered_counts))


def test_bad_weights_name_the_argument(table):
    X, y = table
    rules = CBAClassifier().fit(X, y).rule_set_
    bad = np.ones(len(y))
    bad[3] = -1
    for call in (
        lambda: rules.evaluated(X, y, bad),
        lambda: rules.with_rule("IF age > 40 THEN good", X, y, sample_weight=bad),
        lambda: metrics.coverage(rules, X, sample_weight=bad),
        lambda: metrics.objective(rules, X, y, lambda_=1, sample_weight=bad),
        lambda: summarise(rules, X, y, bad),
        lambda: html(rules, X, y, sample_weight=bad),
        lambda: diversity_path(DiverseRuleSetClassifier(), X, y, sample_weight=bad),
    ):
        with pytest.raises(
            ValueError, match=r"sample_weight contains a negative number: record 4 has the weight -1\.0"
        ):
            call()


@each
def test_files_exports_and_text_of_fractions(make, table):
    """JSON, Python source and SQL give the labels and probabilities of the rule set."""
    X, y = table
    X = X.drop(columns="since")
    clf = make().fit(X, y, other_weights(len(y)))
    rules = clf.rule_set_
    content = json.loads(rules.to_json())
    assert content["version"] == 5
    assert any(isinstance(n, float) for n in content["class_totals"])
    assert RuleSet.from_json(rules.to_json()) == rules
    assert RuleSet.from_json(rules.to_json()).to_json() == rules.to_json()
    assert RuleSet.parse(str(rules)).rules == rules.rules
    space = {}
    exec(rules.to_python(), space)
    records = X.astype(object).where(X.notna(), None).to_dict("records")
    answers = [space["predict"](record) for record in records]
    assert [one["label"] for one in answers] == rules.predict(X).tolist()
    got = [[one["probabilities"][label] for label in rules.classes] for one in answers]
    np.testing.assert_allclose(got, rules.predict_proba(X), atol=1e-9)
    with sqlite3.connect(":memory:") as connection:
        X.astype(object).assign(id=range(len(X))).to_sql("records", connection, index=False)
        query = rules.to_sql(dialect="sqlite", keep=["id"])
        rows = pd.read_sql(query, connection).sort_values("id")
    assert rows["predicted_label"].tolist() == rules.predict(X).tolist()
    shares = rows[[f"predicted_probability_{label}" for label in rules.classes]].to_numpy()
    np.testing.assert_allclose(shares, rules.predict_proba(X), atol=1e-9)
    assert "recordCount" in rules.to_pmml()
    frame = rules.to_frame()
    assert frame["covers"].iloc[0] == rules[0].n_covered
    assert count_text(rules[0].n_covered) in rules._repr_html_()
    assert rules.why(X.iloc[[0]])


def test_whole_weights_need_no_new_version_of_the_file(table):
    X, y = table
    rules = CBAClassifier().fit(X, y, whole_weights(len(y))).rule_set_
    assert json.loads(rules.to_json())["version"] < 5
    assert "." not in rules.to_json().split('"class_totals": [')[1].split("]")[0]


def test_counts_that_are_no_multiples_of_the_unit_are_refused():
    rule = Rule.parse("IF a > 1 THEN x")
    made = RuleSet((rule,), ("x", "y"), "y", (1.5, 2.0), (0.25, 2))
    assert made.class_totals == (1.5, 2)
    assert [type(n) for n in made.class_totals] == [float, int]
    for wrong in (0.1, 1.5 + 2**-11, -0.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"class_totals must be 2 integers at least 0, or multiples of 2\*\*-10,"):
            RuleSet((rule,), ("x", "y"), "y", (wrong, 2), (0, 2))
    text = made.to_json()
    with pytest.raises(ValueError, match="class_totals must be 2 integers at least 0 with a sum"):
        RuleSet.from_json(
            text.replace('"version": 5', '"version": 4')
            .replace(text[text.index('  "checksum"') :], '"x":1}')
            .replace(',\n"x":1}', "\n}")
        )


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (1234567, "1,234,567"), (12.0, "12"), (1234.5625, "1,234.6"), (9.5, "9.5"), (2**-10, "0.00098")],
)
def test_text_of_counts(count, text):
    assert count_text(count) == text


def test_facts_of_weights_are_those_of_copies(table):
    X, y = table
    for make in MODELS.values():
        rules, weights = make().fit(X, y).rule_set_, whole_weights(len(y), 3)
        got, expected = summarise(rules, X, y, weights).facts(), summarise(rules, *copies_of(X, y, weights)).facts()
        assert json.dumps(got) == json.dumps(expected)


def test_displays_and_page(table, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    X, y = table
    weights = other_weights(len(y))
    weights[:5] = 0
    for make in MODELS.values():
        clf = make().fit(X, y)
        total = sum(clf.rule_set_.evaluated(X, y, weights).class_totals)
        for display in (CoverageDisplay, OverlapDisplay, ScorecardDisplay):
            drawn = display.from_estimator(clf, X, y, sample_weight=weights)
            assert drawn.n_records == total
            assert count_text(total) in repr(drawn)
        counted = clf.rule_set_.evaluated(X, y, weights)
        coverage = CoverageDisplay.from_rule_set(clf.rule_set_, X, y, sample_weight=weights)
        assert coverage.counts[: len(counted)].tolist() == counted.class_counts(counted.rules).tolist()
        if hasattr(clf, "history_"):
            path = FitPathDisplay.from_estimator(clf, X, y, sample_weight=weights)
            expected = metrics.coverage(clf.rule_set_, X, sample_weight=weights)
            assert path.coverage[-1] == pytest.approx(expected)
        shown = RuleDisplay.from_estimator(clf, X, y, rule=1, sample_weight=weights)
        assert shown.total == total
        assert shown.records.min() >= 5
        plt.close("all")
        page = write_html(clf, X, y, tmp_path / "page.html", sample_weight=weights).read_text("utf8")
        assert "on which the rules are evaluated, by weight" in page
        assert count_text(total) in page
    whole = whole_weights(len(y))
    copies = CoverageDisplay.from_estimator(clf, *copies_of(X, y, whole))
    assert CoverageDisplay.from_estimator(clf, X, y, sample_weight=whole).counts.tolist() == copies.counts.tolist()
    plt.close("all")


def test_the_path_with_weights(table):
    X, y = table
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None)
    path = partial(diversity_path, clf, max_statements=[3, 6], cv=3)
    assert list(path(X, y, sample_weight=np.full(len(y), 0.7))) == list(path(X, y))
    weights = np.ones(len(y))
    weights[:60] = 0
    assert list(path(X, y, sample_weight=weights)) == list(path(X[60:].reset_index(drop=True), y[60:]))
    own = other_weights(len(y))
    scored = path(X, y, sample_weight=own, scoring=["balanced_accuracy", "accuracy"])
    for point in scored:
        assert point.scores["balanced_accuracy"] == pytest.approx(point.balanced_accuracy)
        assert point.scores["accuracy"] == pytest.approx(point.accuracy)
    assert next(iter(scored)).accuracy != next(iter(path(X, y))).accuracy

    def without_weights(estimator, table, labels):
        return balanced_accuracy_score(labels, estimator.predict(table))

    assert 0 < next(iter(path(X, y, sample_weight=own, scoring=without_weights))).score < 1


def test_scorers_that_take_no_weights_get_none():
    X = np.arange(60.0)[:, None]
    y = (X[:, 0] > 29).astype(int)
    weights = other_weights(60)
    scorer = make_scorer(max_error)
    clf = DiverseRuleSetClassifier(random_state=0)
    path = diversity_path(clf, X, y, max_statements=[3], cv=2, scoring={"error": scorer}, sample_weight=weights)
    assert 0 <= next(iter(path)).score <= 1


def test_area_under_the_curve_of_weights_with_three_classes():
    from sklearn.datasets import load_iris
    from sklearn.metrics import roc_auc_score

    from diverse_rule_sets.path._measuring import _auc_of_pairs

    X, y = load_iris(return_X_y=True)
    probabilities = DiverseRuleSetClassifier(random_state=0, max_rules=2).fit(X[::2], y[::2]).predict_proba(X)
    expected = roc_auc_score(y, probabilities, multi_class="ovo", average="macro")
    assert _auc_of_pairs(y, probabilities, np.ones(150)) == pytest.approx(expected)
    weights = whole_weights(150)
    copies = np.repeat(np.arange(150), weights)
    expected = roc_auc_score(y[copies], probabilities[copies], multi_class="ovo", average="macro")
    kept = weights > 0
    assert _auc_of_pairs(y[kept], probabilities[kept], weights[kept]) == pytest.approx(expected)


@pytest.fixture
def people(tmp_path, table):
    X, y = table
    path = tmp_path / "people.csv"
    X.assign(label=y, persons=whole_weights(len(y)), share=other_weights(len(y))).to_csv(path, index=False)
    return path


def test_the_option_weight(drs, people, tmp_path):
    frame = pd.read_csv(people)
    repeated = frame.loc[frame.index.repeat(frame["persons"])].drop(columns=["persons", "share"])
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    models = [tmp_path / "a.json", tmp_path / "b.json"]
    arguments = ("--target", "label", "--test-size", "0", "-o")
    code, out, err = drs("fit", people, *arguments, models[0], "--weight", "persons", "--drop", "share")
    assert (code, err) == (0, "")
    assert drs("fit", tmp_path / "repeated.csv", *arguments, models[1])[0] == 0
    assert models[0].read_text("utf8") == models[1].read_text("utf8")
    assert f"of {len(repeated)} records" in out
    weighted = drs("evaluate", models[0], people, "--weight", "persons", "--json")
    assert weighted[0] == 0
    assert weighted[1] == drs("evaluate", models[1], tmp_path / "repeated.csv", "--json")[1]
    code, out, _ = drs("evaluate", models[0], people, "--weight", "share")
    assert code == 0
    assert "Measured on 300" in out
    page = tmp_path / "page.html"
    assert drs("report", models[0], people, "--weight", "share", "-o", page)[0] == 0
    assert "by weight" in page.read_text("utf8")
    code, out, err = drs("fit", people, "--target", "label", "--weight", "share", "--drop", "persons")
    assert (code, err) == (0, "")
    assert "records held out" in out
    assert "persons" not in models[0].read_text("utf8")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("weigth", "people.csv: there is no column 'weigth'; its columns are"),
        ("job", "people.csv: the column 'job' of --weight must hold numbers, got 'clerk' in record"),
        ("gaps", "people.csv: the column 'gaps' of --weight has no value in 2 of 300 records, the first is record 2;"),
        ("negative", "people.csv: the column 'negative' of --weight contains a negative number: record 3 has the"),
        ("zero", "people.csv: the column 'zero' of --weight is zero for every record"),
        ("label", "--weight names the target, 'label'"),
    ],
)
def test_bad_columns_of_weights(drs, people, tmp_path, column, message):
    frame = pd.read_csv(people).rename(columns={'job = "title"': "job"}).assign(gaps=1.5, negative=1, zero=0)
    frame.loc[[1, 4], "gaps"] = np.nan
    frame.loc[2, "negative"] = -1
    frame.to_csv(people, index=False)
    code, _, err = drs("fit", people, "--target", "label", "--weight", column)
    assert code in (1, 2)
    assert message in err
    assert err.count("\n") == 1
    model = tmp_path / "model.json"
    assert drs("fit", people, "--target", "label", "--test-size", "0", "-o", model)[0] == 0
    code, _, err = drs("evaluate", model, people, "--weight", column)
    assert code in (1, 2)
    assert message in err
    code, _, err = drs("fit", people, "--target", "label", "--weight", "persons", "--required", "persons")
    assert code == 2
    assert "--required names 'persons', the column of --weight" in err
