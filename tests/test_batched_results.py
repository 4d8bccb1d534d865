"""Metrics, editing, the path and explanations of tables that are read in batches: as of the table in memory."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, Rule, RuleSet, diversity_path, metrics
from diverse_rule_sets.baselines import CN2Classifier
from diverse_rule_sets.cli import _batches
from diverse_rule_sets.model._batched_table import BatchedTable
from diverse_rule_sets.model._domains import domain_of
from diverse_rule_sets.model._editing import examples_of
from diverse_rule_sets.report import CoverageDisplay, html
from diverse_rule_sets.sources import _arrow_files, _text_files
from diverse_rule_sets.sources._as_source import as_source
from tests.test_sources import FRAME, Again, N, write_parquet

RNG = np.random.default_rng(3)
TABLE = FRAME.assign(
    w=RNG.integers(0, 4, N),
    share=RNG.lognormal(0, 1, N).round(3),
    size=pd.Categorical(RNG.choice(["S", "M", "L"], N), ["S", "M", "L"], ordered=True),
)
X, Y = TABLE.drop(columns=["y", "w", "share"]), TABLE.y
MODELS = {
    "default": DiverseRuleSetClassifier(random_state=0),
    "overlapping": DRSClassifier(random_state=0, n_candidates=30, max_rules=8),
    "added counts": CN2Classifier(max_rules=6),
}
SOURCES = {
    "batches": lambda tmp: Again([TABLE[:3], TABLE[3:3], TABLE[3:700], TABLE[700:]]),
    "file": lambda tmp: write_parquet(TABLE, tmp / "t.parquet"),
    "csv": lambda tmp: csv(tmp / "t.csv"),
    "frame": lambda tmp: TABLE,
    "polars": lambda tmp: pl.from_pandas(TABLE),
}
each_source = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
each_weight = pytest.mark.parametrize("weight", [None, "w", "share"])


def csv(path):
    TABLE.to_csv(path, index=False)
    return str(path)


@pytest.fixture(scope="module", params=MODELS)
def rules(request):
    with warnings.catch_warnings(action="ignore"):
        return MODELS[request.param].fit(X, Y).rule_set_


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(_text_files, "_BLOCK", 190)
    monkeypatch.setattr(_arrow_files, "batch_size", lambda n: 170)


def vector(weight):
    return None if weight is None else TABLE[weight]


@each_source
@each_weight
def test_metrics(make, weight, rules, tmp_path):
    source, own = make(tmp_path), vector(weight)
    for kind in ("any", "agree", "contradict"):
        for measure in (metrics.overlap, metrics.overlap_share):
            expected = measure(rules, X, kind=kind, sample_weight=own)
            assert measure(rules, source, kind=kind, sample_weight=weight) == expected
    for measure in (metrics.coverage, metrics.diversity):
        assert measure(rules, source, sample_weight=weight) == measure(rules, X, sample_weight=own)
    expected = metrics.objective(rules, X, Y, lambda_=0.5, sample_weight=own)
    assert metrics.objective(rules, source, "y", lambda_=0.5, sample_weight=weight) == expected


EDITS = {
    "evaluated": lambda rules, *data: rules.evaluated(*data),
    "with_rule": lambda rules, X, y, w: rules.with_rule(
        "IF kids >= 3 AND day > 2020-06-01 THEN yes", X, y, sample_weight=w
    ),
    "with categories": lambda rules, X, y, w: rules.with_rule(
        'IF job in {"cook", "ü"} AND size >= "M" AND paid = True THEN no', X, y, position=1, sample_weight=w
    ),
    "with number": lambda rules, X, y, w: rules.with_rule(
        "IF kids = 4 AND late is missing THEN no", X, y, sample_weight=w
    ),
    "without_rule": lambda rules, X, y, w: rules.without_rule(1, X, y, sample_weight=w),
    "replace": lambda rules, X, y, w: rules.replace(1, "IF income > 0 THEN yes", X, y, sample_weight=w),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@each_source
@each_weight
def test_edited_rule_sets(make, weight, edit, rules, tmp_path):
    expected, source = edit(rules, X, Y, vector(weight)), make(tmp_path)
    if edit is EDITS["with categories"] and make not in (SOURCES["batches"], SOURCES["frame"]):  # as in memory
        with pytest.raises(ValueError, match="the order of its categories is not known"):
            edit(rules, source, "y", weight)
        return
    assert edit(rules, source, "y", weight).to_json() == expected.to_json()


def points_rules():
    lines = ["Scorecard points (for yes):", "   3 if kids > 6", "   2 if job = 'cook'", "IF points >= 3 THEN yes"]
    return RuleSet.parse("\n".join([*lines, "OTHERWISE no"])).evaluated(X, Y)


@each_source
@each_weight
def test_edited_scorecards(make, weight, tmp_path):
    rules, own, source = points_rules(), vector(weight), make(tmp_path)
    pairs = [
        (
            rules.with_sign("1 if income > 0.4", source, "y", sample_weight=weight),
            rules.with_sign("1 if income > 0.4", X, Y, sample_weight=own),
        ),
        (rules.without_sign(2, source, "y", sample_weight=weight), rules.without_sign(2, X, Y, sample_weight=own)),
        (rules.with_points(1, 4, source, "y", sample_weight=weight), rules.with_points(1, 4, X, Y, sample_weight=own)),
    ]
    for found, expected in pairs:
        assert found.to_json() == expected.to_json()
    np.testing.assert_array_equal(rules.scorecards[0].points(source), rules.scorecards[0].points(X))


@each_source
def test_covers_and_explanations(make, rules, tmp_path):
    source = make(tmp_path)
    np.testing.assert_array_equal(rules.covers(source), rules.covers(X))
    rule = Rule.parse('IF income > 0 AND job != "cook" THEN yes')
    np.testing.assert_array_equal(rule.covers(source), rule.covers(X))
    codes = {"job": ["clerk"]}
    np.testing.assert_array_equal(rule.covers(source, missing_values=codes), rule.covers(X, missing_values=codes))
    some = RuleSet.parse("IF kids > 6 THEN yes\nIF income <= 0.4 THEN no\nOTHERWISE no")
    assert some.why(source) == some.why(X)


def test_why_of_a_classifier(tmp_path):
    clf = CN2Classifier(max_rules=3).fit(X[["kids", "paid"]], Y)
    path = write_parquet(TABLE[:300], tmp_path / "t.parquet")
    assert clf.why(path) == clf.why(X[:300])
    assert clf.why([TABLE[:9], TABLE[9:20]], label="yes") == clf.why(X[:20], label="yes")
    with pytest.raises(TypeError, match="one record must be a dict"):
        clf.why("no file")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("IF kids > 99 THEN yes", "no record has kids > 99; its values are from 0 to 8"),
        ("IF 2.2 < kids < 2.8 THEN yes", "no record has 2.2 < kids < 2.8; its values are from 0 to 8"),
        ('IF job = "cok" THEN yes', 'no record has job = "cok"; did you mean "cook"?'),
        ('IF job in {"cook", "clerc"} THEN yes', 'no record has job = "clerc"; did you mean "clerk"?'),
        ("IF kids in {3, 77} THEN yes", "no record has kids = 77; its values are from 0 to 8"),
        ("IF day > 2030-01-01 THEN yes", "no record has day > 2030-01-01; its values are from 2020-01-0"),
        ("IF kids > 6 AND kids_ > 3 THEN yes", None),
    ],
)
def test_warnings_about_new_rules_are_the_same(text, words, tmp_path):
    rules, table = (
        RuleSet.parse("IF kids > 7 THEN yes\nOTHERWISE no"),
        TABLE.assign(kids_=TABLE.kids.where(TABLE.kids < 7)),
    )
    found = []
    for data in ((table.drop(columns="y"), Y), ([table[:500], table[500:]], "y")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rules.with_rule(text, *data)
        found.append([str(one.message) for one in caught])
    assert found[0] == found[1]
    assert len(found[0]) == 1
    assert words is None or words in found[0][0]


@pytest.mark.parametrize("name", ["income", "kids", "job", "day", "paid", "late", "size", "nothing", "many"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_domains_of_columns(name, weight):
    """The values that a rule set keeps of a column, the most frequent ones if there are many."""
    rng = np.random.default_rng(0)
    table = TABLE.assign(nothing=None, many=[f"m{k}" for k in (rng.pareto(0.3, N) * 9).astype(int) % 600])
    table = table[table.w > 0].reset_index(drop=True)
    rules = RuleSet.parse("IF kids > 7 THEN yes\nOTHERWISE no")
    examples = examples_of(rules, [table[:40], table[40:41], table[41:]], "y", weight)
    memory = examples_of(rules, table, "y", weight)
    own = None if weight is None else memory.weights.values
    assert examples.table.domains({name: ""}, examples.weights) == {name: domain_of(memory.table.column(name), own)}


def test_errors_name_the_batch_and_the_argument(tmp_path):
    rules = RuleSet.parse("IF kids > 7 THEN yes\nOTHERWISE no")
    parts = [TABLE[:500], TABLE[500:].assign(kids="x")]
    for call in (
        lambda: metrics.coverage(rules, parts),
        lambda: rules.evaluated(parts, "y"),
        lambda: rules.covers(parts),
    ):
        with pytest.raises((TypeError, ValueError), match="batch 2: "):
            call()
    wrong = [TABLE[:500], TABLE[500:].assign(y="?")]
    with pytest.raises(ValueError, match=r"batch 2: y has labels that are not classes of the rule set: '?'"):
        rules.evaluated(wrong, "y")
    for data in (write_parquet(TABLE, tmp_path / "t.parquet"), [TABLE]):
        with pytest.raises(TypeError, match="y must be the name of the column of X with the labels"):
            rules.evaluated(data, Y)
        with pytest.raises(ValueError, match=r"y must be the name of a column of .*, got 'Y'; .* did you mean 'y'"):
            metrics.objective(rules, data, "Y", lambda_=1)
        with pytest.raises(ValueError, match=r"sample_weight must be the name of a column of .*, got 'W'"):
            metrics.overlap(rules, data, sample_weight="W")
        with pytest.raises(TypeError, match="sample_weight must be the name of the column of X with the weights"):
            rules.evaluated(data, "y", TABLE.w)
    with pytest.raises(ValueError, match="y must be a vector of labels or the name of a column of X, got 'Y'"):
        rules.evaluated(TABLE, "Y")
    with pytest.raises(ValueError, match="sample_weight must be a vector of weights or the name of a column of X"):
        metrics.overlap(rules, TABLE, sample_weight="W")
    with pytest.raises(ValueError, match=r"a minimum of 1 is required|there are no records"):
        metrics.coverage(rules, [TABLE[:0]])


# The path


@each_source
@pytest.mark.parametrize("weight", [None, "share"])
def test_the_path_over_a_source(make, weight, tmp_path):
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, forbidden=["late"])
    arguments = {"max_statements": [2, 4], "cv": 3, "scoring": ["accuracy", "roc_auc"]}
    table = X.assign(size=X["size"].astype(str)) if "csv" in str(source := make(tmp_path)) else X
    drop = {None: ["w", "share"], "share": ["w"]}[weight]
    clf.set_params(forbidden=["late", *drop])
    expected = clf.set_params(forbidden=["late", *drop]).__class__(**clf.get_params())
    whole = diversity_path(expected, table.assign(**TABLE[drop]), Y, sample_weight=vector(weight), **arguments)
    assert str(diversity_path(clf, source, "y", sample_weight=weight, **arguments)) == str(whole)


def test_the_path_with_pipelines():
    frame = TABLE[["income", "kids", "y", "w"]].fillna(0)
    clf = make_pipeline(FunctionTransformer(np.tanh), DiverseRuleSetClassifier(random_state=0, scorecards=None))
    arguments = {"max_statements": [3], "cv": 2}
    expected = diversity_path(clf, frame[["income", "kids"]], frame.y, sample_weight=frame.w, **arguments)
    assert str(diversity_path(clf, frame, "y", sample_weight="w", **arguments)) == str(expected)
    with pytest.raises(TypeError, match=r"X is read in batches .* which the earlier steps of .*Pipeline cannot do"):
        diversity_path(clf, [frame], "y")


# The report and the command line


@each_source
def test_reports_with_names_of_columns(make, tmp_path):
    source = make(tmp_path)
    if "csv" in str(source):
        return
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, Y)
    expected = html(clf, X, Y, sample_weight=TABLE.w, n_samples=0)
    found = html(clf, source, "y", sample_weight="w", n_samples=0)
    assert len(found) == len(expected)
    display = CoverageDisplay.from_estimator(clf, source, "y", sample_weight="w")
    reference = CoverageDisplay.from_estimator(clf, X, Y, sample_weight=TABLE.w)
    assert vars(display).keys() == vars(reference).keys()


@pytest.mark.parametrize("table", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("options", ["", "--row 1003 --row 2 --row 500 --row 2", "--row 7 --label yes"])
def test_explain_in_batches(drs, tmp_path, monkeypatch, table, options):
    monkeypatch.chdir(tmp_path)
    csv(tmp_path / "t.csv")
    write_parquet(TABLE, tmp_path / "t.parquet")
    fit = "fit t.csv -t y -o m.json --test-size 0 --drop w --drop share --drop size --max-rules 4 --scorecards none"
    assert drs(*fit.split())[0] == 0
    line = f"explain m.json {table} {options}".split()
    expected = drs(*line)
    assert expected[0] == 0
    monkeypatch.setattr(_batches, "LARGE", 0)
    assert drs(*line) == expected
    assert expected[1].count("record ") >= (N if not options else 1)
    code, out, err = drs(*f"explain m.json {table} --row 1004".split())
    assert (code, out) == (2, "")
    assert "--row must be from 1 to 1,003, the number of records, got 1004" in err


def test_few_values_of_a_column_are_kept():
    n = 5000
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(n), "y": ["u", "v"] * (n // 2)})
    rules = RuleSet.parse("IF a > 0.5 THEN u\nOTHERWISE v")
    batched = BatchedTable(rules, as_source([frame[k : k + 100] for k in range(0, n, 100)]))
    values = batched.columns([condition for rule in rules.rules for condition in rule.conditions], {"a": ""})[
        "a"
    ].values
    assert (values.min(), values.max(), values.size) == (frame.a.min(), frame.a.max(), 3)
    assert (values > 0.5).sum() == 2
