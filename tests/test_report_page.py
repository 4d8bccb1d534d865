"""The report page: its figures against slow computations, its security, and its predictions in a real browser."""

import datetime
import json
import os
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from browser import chromium, contrast
from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
)
from diverse_rule_sets._util.colours import GREY, class_colour, class_colours
from diverse_rule_sets.baselines import CBAClassifier
from diverse_rule_sets.model._point_probabilities import PointsTable, followed_column
from diverse_rule_sets.model._rules import CONFLICTS
from diverse_rule_sets.report import _page as page_module
from diverse_rule_sets.report import html, write_html
from diverse_rule_sets.report._summary import summarise
from models import consistent_counts, missing_values_of, ranges_of

UTC = datetime.UTC
MOMENTS = [datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=37 * k, microseconds=k) for k in range(9)]


def some_records(n=60, seed=0):
    """Return a table with columns of every type and missing values, and labels of three classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.integers(-3, 4, n) / 2,
            "word": rng.choice(["a", "b", "c", None], n),
            "flag": pd.array(rng.choice([True, False, None], n), dtype="boolean"),
            "mixed": pd.Series(rng.choice(np.array(["x", 1, 2.5, None], object), n), dtype=object),
            "day": rng.choice(pd.array([pd.Timestamp(2020, 1, d) for d in range(1, 9)]), n),
            "moment": pd.Series(rng.choice(MOMENTS, n)).dt.tz_localize("UTC"),
            "whole": rng.integers(0, 4, n),
            "unused": rng.choice(["p", "q"], n),
        }
    )
    X.loc[rng.random(n) < 0.2, ["size", "day", "moment"]] = None
    return X, rng.choice(["no", "perhaps", "yes"], n)


def conditions():
    """Generate conditions of all classes on the columns of some_records."""
    halves = st.integers(-3, 3).map(lambda k: k / 2)
    days = st.integers(1, 9).map(lambda d: datetime.datetime(2020, 1, d))
    moments = st.sampled_from(MOMENTS).map(lambda moment: moment.replace(tzinfo=UTC))
    sides = st.tuples(st.booleans(), st.booleans())

    def intervals(column, bounds):
        lower = st.builds(lambda low, ends: Interval(column, low, None, *ends), bounds, sides)
        upper = st.builds(lambda high, ends: Interval(column, None, high, *ends), bounds, sides)
        both = st.builds(lambda low, high, ends: Interval(column, low, high, *ends), bounds, bounds, sides)
        return lower | upper | both.filter(lambda interval: not interval.empty)

    def sets(column, values, mixed=False):
        lists = st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True).map(tuple)
        kinds = st.sampled_from([IsIn, IsNotIn])
        several = st.builds(lambda kind, chosen: kind(column, chosen, mixed), kinds, lists)
        return several | st.sampled_from(values).map(lambda value: Equals(column, value, mixed))

    return st.one_of(
        intervals("size", halves),
        intervals("day", days),
        intervals("moment", moments),
        sets("word", ["a", "b", "c", "not in the table"]),
        ranges_of("word", ("b", "not in the table", "a", "c")),
        ranges_of("mixed", ("x", 1, 2.5, True, "absent")).map(lambda one: replace(one, mixed=True)),
        sets("flag", [True, False]),
        sets("mixed", ["x", 1, 2.5, True, "absent"], mixed=True),
        sets("whole", [0, 1, 2, 7.5]),
        st.sampled_from(["size", "word", "flag", "mixed", "day", "moment"]).map(IsMissing),
    )


CLASSES = ("no", "perhaps", "yes")


@st.composite
def scorecards(draw):
    """Generate scorecards for one or more labels, with negative points and base points."""
    labels = draw(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=3, unique=True))
    points = st.dictionaries(st.sampled_from(labels), st.integers(-3, 5).filter(bool), min_size=1)
    signs = draw(st.lists(conditions(), min_size=1, max_size=6, unique=True))
    base = draw(points) if len(labels) > 1 and draw(st.booleans()) else {}
    name = draw(st.sampled_from(["points", "risk", "<b>points</b>"]))
    return Scorecard(name, tuple(Sign(condition, draw(points)) for condition in signs), tuple(labels), base)


def point_conditions(card):
    """Generate conditions on the points, the leader and the lead of a scorecard."""
    bounds = st.tuples(st.none() | st.integers(-4, 3), st.none() | st.integers(3, 12)).filter(any)
    if not card.has_leader:
        return bounds.map(lambda pair: card.between(*pair))
    labels = st.sampled_from(card.labels)
    points = st.builds(lambda pair, label: card.between(*pair, label), bounds, labels)
    return points | labels.map(card.leads) | bounds.map(lambda pair: card.lead_between(*pair))


@st.composite
def points_tables(draw, body):
    """Generate class probabilities by points for some conditions; None if they follow no points."""
    followed = followed_column(body)
    if followed is None or draw(st.integers(0, 3)) == 0:
        return None
    least, most = followed[0].range
    low = draw(st.integers(least, most))
    weights = st.lists(st.integers(1, 9), min_size=3, max_size=3)
    rows = draw(st.lists(weights, min_size=1, max_size=min(5, most - low + 1)))
    return PointsTable(followed[0], low, [[n / sum(row) for n in row] for row in rows])


@st.composite
def rule_sets(draw, conflict=None):
    """Generate rule sets with scorecards, fallback rules, class weights and counts, also those of huge tables."""
    counts = st.lists(st.sampled_from([0, 1, 2, 7, 10**6, 10**9]), min_size=3, max_size=3)
    card = draw(st.none() | scorecards())

    def rule():
        body = draw(st.lists(conditions(), min_size=0, max_size=3))
        if card is not None:
            body += draw(st.lists(point_conditions(card), max_size=2))
        body = tuple({c.column: c for c in body}.values())
        numbers = tuple(zip(CLASSES, draw(counts), strict=True))
        return Rule(body, draw(st.sampled_from(CLASSES)), numbers, draw(points_tables(body)))

    rules = tuple(rule() for _ in range(draw(st.integers(0, 6))))
    fallbacks = tuple(rule() for _ in range(draw(st.integers(0, 3))))
    totals, uncovered = consistent_counts(rules, fallbacks, CLASSES, draw(counts), draw(counts))
    rule_set = RuleSet(
        rules,
        CLASSES,
        draw(st.sampled_from(CLASSES)),
        totals,
        uncovered,
        conflict or draw(st.sampled_from(list(CONFLICTS))),
        fallbacks,
        draw(st.none() | st.lists(st.floats(0.01, 100), min_size=3, max_size=3).map(tuple)),
        draw(st.none() | st.sampled_from([0, 0.5, 10])),
    )
    return replace(rule_set, missing_values=draw(missing_values_of(rule_set.all_rules, POOLS)))


# Values of the columns of some_records that may be codes for missing values.
POOLS = {
    "size": ("number", [-1.5, -0.5, 0.0, 1.0]),
    "word": ("text", ["a", "b", "c"]),
    "flag": ("boolean", [True, False]),
    "mixed": ("category", ["x", 2.5]),
    "day": ("date", [datetime.datetime(2020, 1, d) for d in range(1, 9)]),
    "moment": ("date (UTC)", [moment.replace(tzinfo=UTC) for moment in MOMENTS]),
    "whole": ("number", [0, 1, 2, 3]),
}


def example_set(conflict="smoothed", n_rules=8, seed=1):
    """Return a rule set with class counts from some_records; its rules overlap and do not cover all records."""
    X, y = some_records(400, seed)
    rng = np.random.default_rng(seed)
    bodies = [
        (Interval("size", -0.5, 1.0), IsIn("word", ("a", "not in the table"))),
        (Equals("flag", True), Interval("day", datetime.datetime(2020, 1, 4))),
        (IsNotIn("mixed", (1, "x"), True), Interval("size", high=0.5)),
        (Interval("moment", None, MOMENTS[4].replace(tzinfo=UTC)), Equals("flag", False)),
        (IsMissing("size"), IsNotIn("word", ("b",))),
        (Interval("whole", 1, 3, True, False), Interval("size", low=0)),
        (Equals("mixed", 2.5, True), IsMissing("day")),
        (Equals("word", "c"), Interval("size", -1, 2)),
    ]
    rules = []
    for body in [*bodies[:n_rules], (Interval("size", low=-1),), (IsMissing("flag"),)]:
        rules.append(Rule(body, str(rng.choice(CLASSES))))
    zeros, weights = (0, 0, 0), (1.0, 2.0, 0.5)
    rule_set = RuleSet(tuple(rules[:-2]), CLASSES, "perhaps", zeros, zeros, conflict, tuple(rules[-2:]), weights)
    return rule_set.evaluated(X, y)


def as_rgb(colour):
    """Return a colour as browsers write it."""
    return "rgb({}, {}, {})".format(*(int(colour[k : k + 2], 16) for k in (1, 3, 5)))


def embedded(page):
    """Return the data that a page embeds."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


# -------------------------------------------------------------------------------------- figures


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_the_figures_equal_those_of_a_slow_computation(conflict):
    rules = example_set(conflict)
    X, y = some_records(150, 3)
    facts = summarise(rules, X, y).facts()
    predicted, deciding = rules.predict(X), rules.deciding_rules(X)
    covers = [rule.covers(X) for rule in rules]
    depth = np.sum(covers, axis=0)
    assert facts["accuracy"] == pytest.approx(np.mean(predicted == y))
    assert facts["balanced_accuracy"] == pytest.approx(np.mean([np.mean(predicted[y == k] == k) for k in CLASSES]))
    assert facts["confusion"] == [[int(((y == a) & (predicted == b)).sum()) for b in CLASSES] for a in CLASSES]
    assert (facts["n_covered"], facts["n_overlap"]) == ((depth > 0).sum(), (depth > 1).sum())
    assert facts["uncovered_counts"] == [int(((y == k) & (depth == 0)).sum()) for k in CLASSES]
    for j, (rule, fact) in enumerate(zip(rules.all_rules, facts["rules"], strict=True)):
        covered = covers[j] if j < len(rules) else deciding == j
        assert fact["class_counts"] == [int(((y == k) & covered).sum()) for k in CLASSES]
        assert fact["precision"] == (pytest.approx(np.mean(y[covered] == rule.label)) if covered.any() else None)
        assert fact["n_decided"] == (deciding == j).sum()
        assert fact["n_right"] == ((deciding == j) & (predicted == y)).sum()
        assert fact["training"]["precision"] == (pytest.approx(rule.precision) if rule.n_covered else None)
    pairs = {tuple(pair["rules"]): pair for pair in facts["overlaps"]}
    for a in range(len(rules)):
        for b in range(a + 1, len(rules)):
            shared = covers[a] & covers[b]
            assert ((a + 1, b + 1) in pairs) == shared.any()
            if shared.any():
                pair = pairs[a + 1, b + 1]
                assert pair["class_counts"] == [int(((y == k) & shared).sum()) for k in CLASSES]
                assert pair["contradiction"] == (rules[a].label != rules[b].label)
    by_label = np.array([[covers[j][i] for j in range(len(rules))] for i in range(len(y))])
    labels = np.array([rule.label for rule in rules])
    n_of_label = np.array([by_label[:, labels == k].sum(axis=1) for k in CLASSES])
    assert facts["n_agree"] == (n_of_label > 1).any(axis=0).sum()
    assert facts["n_contradict"] == ((n_of_label > 0).sum(axis=0) > 1).sum()
    assert facts["default"]["n_decided"] == ((deciding == -1) & (depth == 0)).sum()
    assert facts["together"]["n_decided"] == ((deciding == -1) & (depth > 0)).sum()


def test_of_very_many_overlaps_the_page_contains_those_with_the_most_shared_records():
    X, y = some_records(50)
    rules = tuple(Rule((Interval("whole", low=-1 - k),), CLASSES[k % 3]) for k in range(40))
    rule_set = RuleSet(rules, CLASSES, "no", (3, 2, 1), (3, 2, 1))
    page, facts = html(rule_set, X, y), summarise(rule_set, X, y).facts()
    data = embedded(page)
    assert len(facts["overlaps"]) == data["n_pairs"] == 780
    assert data["facts"]["overlaps"] == facts["overlaps"][:100]
    assert "780 pairs of rules share records" in " ".join(page.split())


def test_a_class_without_records_gives_no_warning():
    X, y = some_records(50)
    keep = y != "yes"
    facts = summarise(example_set(), X[keep], y[keep]).facts()
    recalls = [facts["confusion"][k][k] / sum(facts["confusion"][k]) for k in (0, 1)]
    assert facts["balanced_accuracy"] == pytest.approx(np.mean(recalls))


def test_the_page_embeds_the_figures_and_a_sample_of_records():
    X, y = some_records(300, 5)
    rules = example_set()
    data = embedded(html(rules, X, y, n_samples=6))
    assert data["facts"] == summarise(rules, X, y).facts()
    predicted, deciding, covers = rules.predict(X), rules.deciding_rules(X), rules.covers(X)
    for record in data["records"]:
        row = record["row"] - 1
        assert (CLASSES[record["actual"]], CLASSES[record["predicted"]]) == (y[row], predicted[row])
        assert record["deciding"] == deciding[row]
    for j, examples in enumerate(data["examples"]):
        rows = {side: [data["records"][k]["row"] - 1 for k in examples[side]] for side in examples}
        assert len(rows["right"]) + len(rows["wrong"]) <= 6
        label = (*rules.rules, *rules.fallbacks)[j].label if j < 10 else rules.default
        covered = covers[:, j] if j < len(rules) else deciding == (j if j < 10 else -1)
        assert all(covered[row] and y[row] == label for row in rows["right"])
        assert all(covered[row] and y[row] != label for row in rows["wrong"])
        assert len(rows["right"]) + len(rows["wrong"]) == min(6, covered.sum())
    uncovered = [data["records"][k]["row"] - 1 for side in data["uncovered"].values() for k in side]
    assert uncovered
    assert not covers[uncovered].any()


def test_the_same_seed_gives_the_same_page():
    X, y = some_records(300, 5)
    assert html(example_set(), X, y, random_state=3) == html(example_set(), X, y, random_state=3)
    assert html(example_set(), X, y, random_state=3) != html(example_set(), X, y, random_state=4)


def test_without_samples_the_page_contains_no_record():
    X, y = some_records(300, 5)
    X["unused"] = [f"secret-{k}" for k in range(len(X))]
    X["word"] = X["unused"].where(X.index % 2 == 0, "a")
    page = html(example_set(), X, y, n_samples=0)
    assert embedded(page)["records"] == []
    assert "secret" in html(example_set(), X, y, n_samples=1)
    assert "secret" not in page


@pytest.mark.parametrize(
    "index",
    [
        np.arange(300)[::-1],
        [f"patient {k}" for k in range(300)],
        pd.MultiIndex.from_product([["a", "b"], range(150)]),
        [pd.NaT, *pd.date_range("2020-01-01", periods=299)],
    ],
)
def test_records_have_the_index_of_a_data_frame(index):
    X, y = some_records(300, 5)
    assert {record["name"] for record in embedded(html(example_set(), X, y))["records"]} == {None}
    named = X.set_axis(index, axis=0)
    page = embedded(html(example_set(), named, y))
    assert page["records"]
    assert [record["name"] for record in page["records"]] == [str(named.index[r["row"] - 1]) for r in page["records"]]
    assert embedded(html(example_set(), named, y, n_samples=0))["records"] == []


def test_the_page_shows_the_index_beside_the_number_of_a_record(browser, tmp_path):
    X, y = some_records(300, 5)
    X.index = [f"patient {k}" for k in range(300)]
    browser.open(write_html(example_set(), X, y, tmp_path / "page.html"))
    browser.find("tbody.rule .opener").click()
    number, name = browser.find("#examples-0 tbody th").text.split("\n")
    assert name == f"index patient {int(number) - 1}"
    browser.find("#examples-0 tbody th button").click()
    assert browser.run(PICK).startswith(f"record {number} ({name}): ")


def test_classifiers_arrays_and_columns_of_unsupported_types_that_no_rule_uses(mixed):
    frame, y = mixed
    clf = CBAClassifier().fit(frame, y)
    unsupported = frame.assign(lists=[[1]] * len(frame))
    columns = [column["name"] for column in embedded(html(clf, unsupported, y))["columns"]]
    assert "lists" not in columns
    assert set(columns) == set(frame.columns)
    X = np.random.default_rng(0).normal(size=(80, 3))
    fitted = DiverseRuleSetClassifier(random_state=0).fit(X, X[:, 0] > 0)
    data = embedded(html(fitted, X, X[:, 0] > 0))
    assert data["facts"]["classes"] == ["False", "True"]
    assert data["columns"][0]["name"] == "x0"


# -------------------------------------------------------------------------------------- input validation and files


def test_invalid_arguments_raise_errors_that_name_them(tmp_path):
    X, y = some_records()
    rules, path = example_set(), tmp_path / "page.html"
    with pytest.raises(TypeError, match=r"clf must be a RuleSet or a fitted classifier of this package.*got object"):
        write_html(object(), X, y, path)
    with pytest.raises(NotFittedError, match="this CBAClassifier is not fitted yet"):
        write_html(CBAClassifier(), X, y, path)
    with pytest.raises(TypeError, match="title must be a string or None, got 3"):
        write_html(rules, X, y, path, title=3)
    with pytest.raises(ValueError, match="n_samples must be an integer at least 0"):
        write_html(rules, X, y, path, n_samples=-1)
    with pytest.raises(ValueError, match="random_state must be"):
        write_html(rules, X, y, path, random_state="x")
    with pytest.raises(TypeError, match="path must be a string or path of a file, got 3"):
        write_html(rules, X, y, 3)
    for wrong in (tmp_path, tmp_path / "no" / "page.html"):
        with pytest.raises(ValueError, match="path must be a file in an existing folder"):
            write_html(rules, X, y, wrong)
    with pytest.raises(ValueError, match="labels that are not classes of the rule set"):
        write_html(rules, X, ["?"] * len(X), path)
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_written_completely_or_not_at_all(tmp_path, monkeypatch):
    X, y = some_records()
    path = tmp_path / "page.html"
    assert write_html(example_set(), X, y, str(path), title="first") == path
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    for function in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, function, fail)
            with pytest.raises(OSError, match="disk full"):
                write_html(example_set(), X, y, path, title="second")
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]


def test_without_jinja2_the_error_names_the_extra(monkeypatch):
    page_module._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"diverse-rule-sets\[report\]"):
        html(example_set(), *some_records())


def test_single_surrogates_and_right_to_left_overrides_in_values(tmp_path):
    X, y = some_records()
    X["word"] = pd.Series([{"a": "\ud800", "b": "\u202etxt"}.get(word, "c") for word in X["word"]], dtype=object)
    text = write_html(example_set(), X, y, tmp_path / "page.html").read_text("utf8")
    assert "\u202e" not in text
    assert "\\u202etxt" in text


def test_a_title_with_a_single_surrogate_can_be_encoded():
    assert "<title>a?b</title>" in html(example_set(), *some_records(), title="a\ud800b").encode("utf8").decode("utf8")


def test_very_long_labels_are_cut_and_stay_distinct(browser, tmp_path):
    classes = tuple("x" * 200 + letter + "y" * 200 for letter in "abc")
    X, y = some_records(60)
    y = np.array(classes)[[CLASSES.index(label) for label in y]]
    rules = tuple(Rule((Interval("whole", low=k - 0.5),), classes[k]) for k in range(3))
    browser.open(write_html(RuleSet(rules, classes, classes[0], (1,) * 3, (1,) * 3), X, y, tmp_path / "page.html"))
    for place in (".confusion", "#rule-table", "#probabilities"):
        code = f"[...document.querySelectorAll('{place} bdi[title]')].map((node) => [node.textContent, node.title])"
        shown = {tuple(pair) for pair in browser.run(f"return {code}")}
        assert {full for _, full in shown} == set(classes)
        assert len({short for short, _ in shown}) == 3
        assert all(len(short) <= 100 for short, _ in shown)
    assert max(browser.run("return [...document.querySelectorAll('.mix bdi')].map((n) => n.textContent.length)")) <= 100


def wide_set(n_rules=40, n_columns=40, n=20_000):
    """Return many rules on a table with many columns and records."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, n_columns)), columns=[f"measure number {k}" for k in range(n_columns)])
    X["place"] = rng.choice([f"place number {k}" for k in range(300)], n)
    y = np.where(X.iloc[:, 0] + rng.normal(size=n) > 0, "high", "low")
    rules = []
    for j in range(n_rules):
        conditions = [Interval(X.columns[(j + k) % n_columns], low=float(rng.normal() - 0.5)) for k in range(3)]
        covered = Rule(tuple(conditions), "high").covers(X)
        counts = tuple((label, int(((y == label) & covered).sum())) for label in ("high", "low"))
        rules.append(Rule((*conditions, IsNotIn("place", ("place number 3",))), ("high", "low")[j % 2], counts))
    totals = (int((y == "high").sum()), int((y == "low").sum()))
    return RuleSet(tuple(rules), ("high", "low"), "low", totals, (0, 0), "smoothed"), X, y


def test_the_page_of_forty_rules_and_forty_columns_is_smaller_than_three_megabytes(tmp_path):
    rules, X, y = wide_set()
    assert write_html(rules, X, y, tmp_path / "page.html").stat().st_size < 3e6
    assert write_html(rules, X, y, tmp_path / "page.html", n_samples=1000).stat().st_size < 3e6


def test_without_a_browser_tests_are_skipped_but_fail_in_continuous_integration(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install chromium"), chromium():
        pass
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="apt install chromium"), chromium():
        pass


# -------------------------------------------------------------------------------------- predictions in a browser

DECIDE = (page_module.Path(page_module.__file__).parent / "page" / "decide.js").read_text("utf8")
DECIDE_ALL = """
const page = arguments[0];
const model = readModel(page.model, page.columns);
return page.records.map((record) => {
  const result = decide(model, record.cells.map((cell, j) => readValue(page.columns[j], cell)));
  return [result.label, result.deciding, result.covering, result.probabilities];
});
"""


def decide_records(browser, data):
    """Return the results of the script of the page for the embedded records."""
    return browser.run(DECIDE + DECIDE_ALL, {part: data[part] for part in ("model", "columns", "records")})


def assert_same_results(rules, X, rows, results):
    labels, deciding_rules = rules.answer(X).labels, rules.deciding_rules(X)
    covers, shares = rules.covers(X), rules.predict_proba(X)
    for row, (label, deciding, covering, probabilities) in zip(rows, results, strict=True):
        assert (label, deciding) == (labels[row], deciding_rules[row])
        assert covering == np.flatnonzero(covers[row]).tolist()
        np.testing.assert_allclose(probabilities, shares[row], rtol=0, atol=1e-9)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rules=rule_sets(), seed=st.integers(0, 5))
def test_the_page_predicts_as_the_rule_set_does(browser, rules, seed):
    X, y = some_records(40, seed)
    data = embedded(html(rules, X, y, n_samples=1000))
    rows = [record["row"] - 1 for record in data["records"]]
    assert rows == list(range(40))
    assert_same_results(rules, X, rows, decide_records(browser, data))


def test_sums_of_ballots_are_exact_in_floating_point(browser):
    """The counts of two classes differ by one record in 10**9, and their weights by as little."""
    X, y = some_records(20)
    counts = tuple(zip(CLASSES, (999_999_998, 999_999_999, 0), strict=True))
    rules = (Rule((Interval("whole", low=-1),), "no", counts),)
    rule_set = RuleSet(rules, CLASSES, "no", (10**9,) * 3, (1, 1, 1), "counts", (), (1.0, 0.999999999, 1.0))
    ballots = rule_set.decision.ballots[0]
    assert ballots[0] < ballots[1]
    assert ballots.sum() <= 2**53
    data = embedded(html(rule_set, X, y, n_samples=100))
    results = decide_records(browser, data)
    assert_same_results(rule_set, X, range(20), results)
    assert {label for label, *_ in results} == {1}


def test_of_equal_sums_the_class_with_more_training_records_wins(browser):
    X, y = some_records(20)
    rules = (Rule((Interval("whole", low=-1),), "no", tuple(zip(CLASSES, (5, 2, 5), strict=True))),)
    rule_set = RuleSet(rules, CLASSES, "no", (6, 7, 8), (1, 1, 1), "counts")
    results = decide_records(browser, embedded(html(rule_set, X, y, n_samples=100)))
    assert_same_results(rule_set, X, range(20), results)
    assert {(label, deciding) for label, deciding, *_ in results} == {(2, -1)}


def test_infinite_numbers_distant_dates_and_columns_without_values(browser, tmp_path):
    X, y = some_records(60)
    X["size"] = np.random.default_rng(0).choice([np.inf, -np.inf, 0.5, np.nan], 60)
    X["day"] = np.random.default_rng(1).choice(
        np.array(["0004-02-29", "2020-01-05", "9999-12-31"], "datetime64[us]"), 60
    )
    X["word"], X["flag"], X["moment"] = None, None, None
    rules = example_set()
    browser.open(write_html(rules, X, y, tmp_path / "page.html", n_samples=100))
    assert_same_results(rules, X, range(60), decide_records(browser, browser.data))
    texts = {"word": ("choice", "0"), "flag": ("choice", "1"), "moment": ("date", "2020-01-02T10:00")}
    for j, column in enumerate(browser.data["columns"]):
        if column["name"] in texts:  # the type comes from the rules
            kind, text = texts[column["name"]]
            assert column["kind"] == kind
            browser.run(EDIT, [[j, text]])
            assert browser.find(f"#field-{j}").get_property("value") == text
    assert browser.messages == []


EDIT = """
for (const [j, value] of arguments[0]) {
  const field = document.getElementById(`field-${j}`);
  const box = document.getElementById(`field-${j}-missing`);
  if (box && (value === null) !== box.checked) box.click();
  if (box && value === null) continue;
  field.value = value === null ? "" : value;
  field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
}
const { label, deciding, covering, probabilities } = document.getElementById("result").dataset;
return [Number(label), Number(deciding), JSON.parse(covering), JSON.parse(probabilities)];
"""


def random_edit(column, rng):
    """Return a random text for an input field, and the value that it represents in Python."""
    if rng.random() < 0.3:
        return None, None
    if column["kind"] == "number":
        value = float(rng.integers(-8, 9)) / 4
        return repr(value), value
    if column["kind"] == "choice":
        names = {"True": True, "False": False, "1": 1, "2.5": 2.5}
        k = int(rng.integers(-1 if column["other"] else 0, len(column["choices"])))
        return str(k), "some other value" if k < 0 else names.get(column["choices"][k], column["choices"][k])
    moment = pd.Timestamp(2020, 1, int(rng.integers(1, 15)))
    if column["days"]:
        return moment.strftime("%Y-%m-%d"), moment
    moment += pd.Timedelta(int(rng.integers(0, 86400)), "s")
    return moment.strftime("%Y-%m-%dT%H:%M:%S"), moment.tz_localize("UTC") if column["utc"] else moment


CODES = {"size": (0.5, -1), "day": (datetime.datetime(2020, 1, 3), datetime.datetime(2020, 1, 7)), "whole": (2,)}


@pytest.mark.parametrize(("conflict", "codes"), [*((conflict, {}) for conflict in CONFLICTS), ("smoothed", CODES)])
def test_the_panel_predicts_as_the_rule_set_does(browser, tmp_path, conflict, codes):
    rules = replace(example_set(conflict), missing_values=codes)
    X, y = some_records(200, 7)
    browser.open(write_html(rules, X, y, tmp_path / "page.html"))
    columns, records = browser.data["columns"], browser.data["records"]
    used = [j for j, column in enumerate(columns) if column["used"]]
    assert {columns[j]["name"] for j in used} == set(X.columns) - {"unused"}
    rng = np.random.default_rng(0)
    deciding_rules = set()
    for _ in range(25):
        position = int(rng.integers(len(records)))
        select = "pick.value = arguments[0]; pick.dispatchEvent(new Event('change'));"
        browser.run(f"const pick = document.getElementById('pick'); {select}", position)
        row = records[position]["row"] - 1
        results = [browser.run(EDIT, [])]
        assert_same_results(rules, X, [row], results)
        values = {name: [value] for name, value in X.iloc[row].to_dict().items()}
        edits = []
        for j in rng.choice(used, 4, replace=False).tolist():
            text, value = random_edit(columns[j], rng)
            edits.append([j, text])
            values[columns[j]["name"]] = [value]
        values["mixed"] = pd.Series(values["mixed"], dtype=object)
        values["size"] = pd.array([None if pd.isna(v) else v for v in values["size"]], dtype="Float64")
        results = [browser.run(EDIT, edits)]
        assert_same_results(rules, pd.DataFrame(values), [0], results)
        deciding_rules.add(results[0][1])
    assert len(deciding_rules) > 3
    assert browser.messages == []
    lines = [element.text for element in browser.driver.find_elements("css selector", "#missing-values")]
    assert lines == (["Missing values: size: 0.5, -1; day: 2020-01-03, 2020-01-07; whole: 2."] if codes else [])


def test_the_panel_names_the_rules_that_agree_and_contradict(browser, tmp_path):
    rules = RuleSet.parse("IF a > 1 THEN yes\nIF a > 2 THEN yes\nIF a > 3 THEN no\nIF a > 4 THEN no\nOTHERWISE no")
    rules = replace(rules, conflict="first")
    browser.open(
        write_html(
            rules, pd.DataFrame({"a": [0.0, 1.5, 2.5, 3.5, 4.5]}), ["no", "yes", "yes", "no", "no"], tmp_path / "p.html"
        )
    )
    expected = {
        "1.5": "Only rule 1 covers this record; it decides.",
        "2.5": "2 rules cover this record: rule 1 decides, rule 2 agrees.",
        "3.5": "3 rules cover this record: rule 1 decides, rule 2 agrees, rule 3 contradicts.",
        "4.5": "4 rules cover this record: rule 1 decides, rule 2 agrees, rules 3 and 4 contradict.",
    }
    for value, text in expected.items():
        browser.run(EDIT, [[0, value]])
        assert text in browser.find("#prediction").text
        reason = rules.reasons(pd.DataFrame({"a": [float(value)]}))[0]
        assert re.findall("agrees?|contradicts?", reason) == re.findall("agrees?|contradicts?", text)
    section = browser.find("#overlaps").text
    assert "Two or more rules of one label cover 3 records, and rules of different labels cover 2 records." in section
    assert (section.count("agreement"), section.count("contradiction")) == (2, 4)


def test_the_panel_starts_from_medians_and_shows_the_deciding_rule_and_its_conditions(browser, tmp_path):
    X, y = some_records(201, 7)
    X["size"] = np.arange(201.0)
    rules = example_set("first")
    browser.open(write_html(rules, X, y, tmp_path / "page.html"))
    assert browser.find("#field-0").get_property("value") == "100"
    browser.find("#field-0").clear()
    browser.find("#field-0").send_keys("0.25")
    for j, column in enumerate(browser.data["columns"]):
        if column["name"] == "word":
            browser.run(EDIT, [[j, str(column["choices"].index("a"))]])
    assert browser.find("#result").get_attribute("data-deciding") == "0"
    assert re.search(
        r"rules cover this record: rule 1 decides(, rules? .* (agree|contradict)s?)*\.|Only rule 1 covers",
        browser.find("#prediction").text,
    )
    first = " ".join(browser.find("#reasons .checked.decides").text.split())
    assert first.startswith(f"Rule 1: label {rules[0].label} decides")
    assert "in this record: 0.25" in first
    marks = browser.run("return [...document.querySelectorAll('.checked.decides .met')].length")
    assert marks == 2
    browser.find("#others summary").click()
    assert browser.run("return document.querySelectorAll('#others .unmet').length") > 0
    probabilities = browser.find("#probabilities").text
    assert all(label in probabilities for label in CLASSES)


PICK = "return document.getElementById('pick').selectedOptions[0].textContent"


def test_an_edited_record_is_marked_and_selecting_it_again_restores_its_values(opened):
    pick = opened.find("#pick")
    record = opened.run("return document.querySelectorAll('#pick option')[1].textContent")
    for _ in range(2):
        pick.send_keys(record)
        assert opened.run(PICK) == record
        before = opened.find("#field-0").get_property("value")
        opened.find("#field-0").send_keys("7")
        assert opened.find("#field-0").get_property("value") != before
        assert opened.run(PICK) == "edited values"
    opened.run("pick.value = ''; pick.dispatchEvent(new Event('change'))")
    assert opened.run(PICK) == "typical values"


@pytest.mark.parametrize(
    ("text", "used"), [("7e", "7"), ("1e400", "1e+40"), ("-", "0.5")]
)  # the last valid text while typing
def test_invalid_numbers_are_reported_next_to_the_field_and_in_the_result(opened, text, used):
    field = opened.find("#field-0")
    field.clear()
    field.send_keys("0.5")
    assert field.get_attribute("aria-invalid") == "false"
    before = opened.run(EDIT, [])
    assert not opened.driver.find_elements("css selector", ".invalid-note")
    opened.run("arguments[0].select()", field)
    field.send_keys(text)
    assert field.get_attribute("aria-invalid") == "true"
    error = opened.find(f"#{field.get_attribute('aria-describedby')}")
    assert error.is_displayed()
    assert error.text == f"not a number; the value used is {used}"
    expected = f"In this result size is {used}, because the text in its field is not a number."
    assert opened.find("#prediction .invalid-note").text == expected
    field.clear()
    field.send_keys("0.5")
    assert field.get_attribute("aria-invalid") == "false"
    assert not error.is_displayed()
    assert not opened.driver.find_elements("css selector", ".invalid-note")
    assert opened.run(EDIT, []) == before


@pytest.mark.parametrize(
    ("weights", "text", "note"),
    [
        (None, "", ""),
        ((1.0, 2.0, 0.5), "the weight of its class: no 1, perhaps 2, yes 0.5.", "The probabilities count every record"),
        (
            "balanced",
            "Balanced figures and the labels of rules treat all",
            "The probabilities treat all classes as",
        ),
    ],
)
def test_the_page_shows_the_class_weights(weights, text, note):
    rules = example_set()
    if weights == "balanced":
        weights = tuple(1 / total for total in rules.class_totals)
    page = html(replace(rules, class_weights=weights), *some_records())
    assert ('id="weights"' in page) == ('id="probability-note"' in page) == bool(text)
    assert text in page
    assert note in page


@pytest.mark.parametrize("width", [1280, 1100, 800, 390])
def test_the_figures_at_the_top_fill_their_rows(browser, tmp_path, width):
    browser.open(write_html(example_set(), *some_records(), tmp_path / "page.html"), width=width)
    code = "return [...document.querySelectorAll('.tiles > div')].map((tile) => tile.getBoundingClientRect().toJSON())"
    rows = {}
    for tile in browser.run(code):
        rows.setdefault(round(tile["top"]), []).append(tile)
    edges = {(round(tiles[0]["left"]), round(tiles[-1]["right"])) for tiles in rows.values()}
    assert len(edges) == 1
    assert sorted(map(len, rows.values())) == {1280: [7], 390: [1, 2, 2, 2]}.get(width, [3, 4])


def test_with_many_classes_the_labels_of_rules_have_their_colour_and_others_are_grey(browser, tmp_path):
    classes = tuple(f"class {k:02}" for k in range(12))
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.random(300)})
    y = rng.choice(classes, 300)
    rules = tuple(Rule((Interval("size", low=k / 10),), classes[k]) for k in range(3))
    rule_set = RuleSet(rules, classes, classes[0], (1,) * 12, (1,) * 12)
    browser.open(write_html(rule_set, X, y, tmp_path / "page.html"))
    fills = "[...bar.querySelectorAll('rect:not(.hatched)')].map((part) => getComputedStyle(part).fill)"
    bars = browser.run(f"return [...document.querySelectorAll('svg.bar')].map((bar) => {fills})")
    own = [as_rgb(class_colour(k)) for k in range(3)]
    pairs = [[own[a - 1], own[b - 1]] for a, b in (pair["rules"] for pair in browser.data["facts"]["overlaps"])]
    for bar, colours in zip(bars, [*([colour] for colour in own), *pairs], strict=True):
        assert sorted(bar[: len(colours)]) == sorted(colours)
        assert bar[len(colours) :] == [as_rgb(GREY)] * (12 - len(colours))
    swatches = "[...document.querySelectorAll('.probability .swatch')].map((node) => getComputedStyle(node))"
    shown = browser.run(f"return {swatches}.map((style) => [style.display, style.backgroundColor])")
    assert {display for display, _ in shown} == {"block"}
    assert {colour for _, colour in shown} == {as_rgb(class_colour(k)) for k in range(12)}


def test_with_a_function_as_conflict_the_page_has_no_panel_and_shows_the_reason(browser, tmp_path):
    rules = example_set(lambda offered: offered[0])
    browser.open(write_html(rules, *some_records(), tmp_path / "page.html"))
    assert "function written for this rule set" in browser.find("#no-try").text
    assert browser.run("return document.getElementById('try-panel')") is None
    browser.find("tbody.rule .opener").click()
    assert browser.find("tbody.rule .opener").get_attribute("aria-expanded") == "true"
    assert browser.messages == []


# -------------------------------------------------------------------------------------- the page in a browser


@pytest.fixture
def opened(browser, tmp_path):
    X, y = some_records(300, 5)
    browser.open(write_html(example_set(), X, y, tmp_path / "page.html", title="A title"))
    yield browser
    assert browser.messages == []


def visible_rules(browser):
    """Return the numbers of the rules in the table that are not hidden, in their order."""
    rows = "[...document.querySelectorAll('#rule-table tbody.rule')].filter((row) => !row.hidden)"
    return [int(number) for number in browser.run(f"return {rows}.map((row) => row.dataset.number)")]


def test_the_page_shows_its_title_loads_no_file_and_does_not_shift(opened):
    assert opened.driver.title == "A title"
    assert opened.run("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []
    shift = """
    const done = arguments[0];
    let sum = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; }))
      .observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 200);
    """
    assert opened.driver.execute_async_script(shift) < 0.01


def test_search_and_filter(opened):
    opened.find("#search").send_keys("word known")
    assert visible_rules(opened) == [5]
    assert "1 of 8 rules" in opened.find("#match-count").text
    opened.find("#search").clear()
    opened.find("#search").send_keys("no such thing")
    assert visible_rules(opened) == []
    assert opened.find("#no-match").is_displayed()
    opened.find("#search").clear()
    opened.press("x", "BACKSPACE")
    rules = example_set()
    label = rules[0].label
    change = "list.value = arguments[0]; list.dispatchEvent(new Event('change'))"
    opened.run(f"const list = document.getElementById('label-filter'); {change}", str(CLASSES.index(label)))
    assert visible_rules(opened) == [j for j, rule in enumerate(rules, 1) if rule.label == label]


@pytest.mark.parametrize("key", ["number", "conditions", "label", "precision", "covered", "decided"])
def test_sort_by_any_column(opened, key):
    facts = opened.data["facts"]["rules"][:8]
    value = {
        "number": lambda rule: rule["number"],
        "conditions": lambda rule: len(rule["conditions"]),
        "label": lambda rule: rule["label_position"],
        "precision": lambda rule: -1 if rule["precision"] is None else rule["precision"],
        "covered": lambda rule: rule["n_covered"],
        "decided": lambda rule: rule["n_decided"],
    }[key]
    heading = f"th[data-key={key}]"
    directions = set()
    for _ in range(2):
        opened.find(f"{heading} button").click()
        direction = opened.find(heading).get_attribute("aria-sort")
        directions.add(direction)
        values = [value(facts[number - 1]) for number in visible_rules(opened)]
        assert values == sorted(values, reverse=direction == "descending")
        assert opened.run("return document.querySelectorAll('th[aria-sort$=ending]').length") == 1
    assert directions == {"ascending", "descending"}


def test_a_rule_can_be_opened_and_a_record_tried_with_the_keyboard_only(opened):
    opened.press("TAB")
    assert opened.run("return document.activeElement.className") == "skip"
    for _ in range(30):
        opened.press("TAB")
        if opened.run("return document.activeElement.className") == "opener":
            break
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert opened.run(outline) == "solid"
    opened.press("ENTER")
    assert opened.run("return document.activeElement.getAttribute('aria-expanded')") == "true"
    examples = opened.find("#examples-0")
    assert examples.is_displayed()
    assert "True label" in examples.text
    opened.press("TAB", "TAB")
    record = opened.run("return document.activeElement.textContent")
    opened.press("ENTER")
    selected = opened.run("return document.activeElement.selectedOptions[0].textContent")
    assert selected.startswith(f"record {record}:")
    opened.run("document.querySelector('tbody.rule .opener').focus()")
    opened.press("ENTER")
    assert not examples.is_displayed()


def test_the_link_of_an_overlap_opens_its_rule_also_if_it_is_filtered_out(opened):
    opened.find("#search").send_keys("no such thing")
    link = opened.find("[data-goto]")
    number = int(link.get_attribute("data-goto")) + 1
    opened.run("arguments[0].click()", link)
    assert opened.run("return document.activeElement.getAttribute('aria-label')").startswith(f"Rule {number}:")
    assert opened.find(f"#examples-{number - 1}").is_displayed()


def test_light_and_dark_colours_by_preference_and_by_button_have_enough_contrast(browser, tmp_path):
    path = write_html(example_set(), *some_records(), tmp_path / "page.html")
    pages = []
    for dark in (False, True):
        browser.open(path, dark=dark)
        for _ in range(2):
            style = "getComputedStyle(document.documentElement).getPropertyValue"
            long = "v.length === 4 ? '#' + [...v.slice(1)].map((c) => c + c).join('') : v"
            names = ["page", "surface", "sunk", "text", "muted", "accent", "right", "wrong"]
            code = f"return arguments[0].map((n) => {{ const v = {style}('--' + n).trim(); return {long}; }})"
            colours = dict(zip(names, browser.run(code, names), strict=True))
            pages.append(colours["page"])
            for background in ("page", "surface", "sunk"):
                texts = ("text", "muted", "accent", "right", "wrong")
                assert min(contrast(colours[name], colours[background]) for name in texts) >= 4.5
            fills = "[...document.querySelectorAll('#probabilities .fill')].map((n) => getComputedStyle(n))"
            shown = browser.run(f"return {fills}.map((style) => style.backgroundColor)")
            assert sorted(shown) == sorted(as_rgb(class_colour(k)) for k in range(3))  # the same in both themes
            assert min(contrast(colour, colours["surface"]) for colour in [*class_colours(60), GREY]) >= 3
            browser.find("#theme").click()
    assert pages[0] == pages[3] != pages[1] == pages[2]


HOSTILE = "</script><img src=x onerror=window.pwned=1><!--{{ 7*7 }}\u2028\"'"


def hostile_set():
    """Return rules, records and labels with HTML and scripts in all names, values and labels."""
    X, y = some_records(100, 2)
    X = X.rename(columns={"word": HOSTILE, "unused": HOSTILE + "2"})
    X[HOSTILE] = X[HOSTILE].map({"a": HOSTILE, "b": "javascript:pwned=1", "c": "&lt;b&gt;"})
    X[HOSTILE + "2"] = HOSTILE
    labels = {"no": HOSTILE, "perhaps": "<script>window.pwned=2</script>", "yes": "yes"}
    y = np.array([labels[label] for label in y], object)
    classes = tuple(sorted(labels.values()))
    rules = (
        Rule((IsIn(HOSTILE, (HOSTILE, "&lt;b&gt;")), Interval("size", high=1)), HOSTILE, ((HOSTILE, 3), ("yes", 1))),
        Rule((Equals(HOSTILE, "javascript:pwned=1"),), classes[1], ((classes[1], 3), ("yes", 1))),
        Rule((Interval("size", low=0),), "yes", (("yes", 4),)),
    )
    return RuleSet(rules, classes, HOSTILE, (5, 5, 5), (1, 1, 1)), X, y


def test_html_in_names_values_labels_and_titles_is_shown_as_text(browser, tmp_path):
    browser.open(write_html(*hostile_set(), tmp_path / "page.html", title=HOSTILE))
    for opener in browser.driver.find_elements("css selector", ".opener"):
        opener.click()
    for j, column in enumerate(browser.data["columns"]):
        if column["used"] and column["kind"] == "choice":
            for k in range(len(column["choices"])):
                browser.run(EDIT, [[j, str(k)]])
    assert browser.run("return window.pwned") is None
    assert browser.run("return document.querySelectorAll('img, iframe, object, a[href^=javascript]').length") == 0
    assert browser.run("return document.scripts.length") == 2
    visible = browser.find("main").text
    assert visible.count("</script><img src=x onerror=window.pwned=1><!--{{ 7*7 }}") > 10
    assert browser.find("#title").text.startswith("</script><img src=x")
    assert "\u2028" not in (tmp_path / "page.html").read_text("utf8").split('id="data">')[1]
    assert browser.messages == []


def test_the_content_security_policy_blocks_an_added_script(browser, tmp_path):
    """A script without its hash in the policy does not run, even if it gets into the page."""
    path = write_html(example_set(), *some_records(), tmp_path / "page.html")
    page = path.read_text("utf8").replace("</main>", "<script>window.pwned = 1</script></main>")
    path.write_text(page, "utf8")
    browser.open(path)
    assert browser.run("return window.pwned") is None
    assert any("Content Security Policy" in message for message in browser.messages)


@pytest.mark.parametrize("which", ["example", "hostile", "long", "none"])
def test_a_phone_needs_no_horizontal_scrolling_and_the_page_can_be_printed(browser, tmp_path, which):
    X, y = some_records(100, 2)
    rules = example_set()
    if which == "hostile":
        rules, X, y = hostile_set()
    if which == "long":
        name = "extraordinarily" * 8
        classes = tuple("class " + letter * 60 for letter in "abcdefghijklmnopqrstuvwxyz")
        y = np.random.default_rng(0).choice(classes, len(X))
        X = X.rename(columns={"size": name})
        rules = tuple(
            Rule((Interval(name, low=k / 60 - 1), IsNotIn("word", ("b",))), classes[k % 26]) for k in range(60)
        )
        rules = RuleSet(rules, classes, classes[0], (1,) * 26, (1,) * 26)
    if which == "none":
        rules = RuleSet((), CLASSES, "no", (3, 2, 1), (3, 2, 1))
    browser.open(write_html(rules, X, y, tmp_path / "page.html"), width=390)
    for opener in browser.driver.find_elements("css selector", ".opener")[:3]:
        browser.run("arguments[0].click()", opener)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    browser.print()
    assert not browser.find("#try").is_displayed()
    if len(rules):
        assert not browser.find("#search").is_displayed()
        assert browser.run("return getComputedStyle(document.querySelector('.rule > tr')).breakInside") == "avoid"
    assert browser.messages == []


def confused_set(n_classes, n=None):
    """Return classes with long names that start and end alike, and rules that give a quarter of each a wrong label."""
    n, rng = n or 40 * n_classes, np.random.default_rng(0)
    classes = tuple(f"Department of long and winding names, section {k:02} of all" for k in range(n_classes))
    codes = np.arange(n) % n_classes
    values = np.where(rng.random(n) < 0.25, (codes + rng.integers(1, 4, n)) % n_classes, codes)
    rules = tuple(Rule((Interval("a", k - 0.5, k + 0.5),), classes[k]) for k in range(n_classes - 1))
    zeros = (0,) * n_classes
    return RuleSet(rules, classes, classes[-1], zeros, zeros), pd.DataFrame({"a": values}), np.array(classes)[codes]


@pytest.mark.parametrize("n_classes", [9, 26, 60])
def test_the_confusion_matrix_of_many_classes_is_small_and_the_errors_are_listed(browser, tmp_path, n_classes):
    rules, X, y = confused_set(n_classes)
    browser.open(write_html(rules, X, y, tmp_path / "page.html"))
    facts = browser.data["facts"]
    confusion = np.array(facts["confusion"])
    cells = "[...row.querySelectorAll('td:not(.sum)')].map((cell) => cell.textContent.trim().replace('·', '0'))"
    numbers = browser.run(f"return [...document.querySelectorAll('.confusion tbody tr')].map((row) => {cells})")
    assert np.array(numbers).astype(int).tolist() == confusion.tolist()

    np.fill_diagonal(confusion, 0)
    texts = "[...row.children].map((cell) => cell.textContent.trim())"
    errors = browser.run(f"return [...document.querySelectorAll('#errors tbody tr')].map((row) => {texts})")
    assert [int(row[2]) for row in errors] == sorted(confusion[confusion > 0].tolist(), reverse=True)[:10]
    for actual, predicted, n, _ in errors:
        assert confusion[facts["classes"].index(actual), facts["classes"].index(predicted)] == int(n)

    names = "[...document.querySelectorAll('.confusion tbody th')].map((head) => [head.textContent.trim(), head.title])"
    short, full = zip(*browser.run(f"return {names}"), strict=True)
    assert list(full) == facts["classes"]
    assert len({text.split(maxsplit=1)[1] for text in short}) == n_classes  # shortened, but distinct
    heads = browser.run("return [...document.querySelectorAll('.confusion thead th:not(.sum)')].map((h) => h.title)")
    assert heads[1:] == facts["classes"]

    box = browser.run("return document.querySelector('.confusion').getBoundingClientRect().toJSON()")
    assert box["height"] < 30 * (n_classes + 1)
    assert box["width"] < 330 + 30 * n_classes
    scroll = "const box = document.querySelector('.tall'); box.scrollTop = 200; box.scrollLeft = 200;"
    left = "document.querySelector('.confusion tbody tr:last-child th').getBoundingClientRect().left"
    assert browser.run(f"{scroll} return {left} - box.getBoundingClientRect().left") == pytest.approx(0, abs=1.5)


@pytest.mark.parametrize("n_classes", [2, 8, 9, 26, 60])
def test_no_confusion_matrix_is_cut_off_in_print(browser, tmp_path, n_classes):
    browser.open(write_html(*confused_set(n_classes), tmp_path / "page.html"), width=680)  # A4 with its margins
    browser.print()
    edges = "[...document.querySelectorAll('#summary table')].map((table) => table.getBoundingClientRect().right)"
    assert max(browser.run(f"return {edges}")) <= 680
    sums = "[...document.querySelectorAll('.confusion tbody tr')].map((row) => row.innerText.includes('%'))"
    assert all(browser.run(f"return {sums}"))


def test_shares_close_to_one_or_zero_are_not_shown_as_one_or_zero(browser, tmp_path):
    X = pd.DataFrame({"a": np.arange(4000)})
    y = np.where(X["a"] < 1, "yes", "no")
    rules = RuleSet((Rule((Interval("a", low=-0.5, high=3998.5),), "no"),), ("no", "yes"), "no", (0, 0), (0, 0))
    browser.open(write_html(rules, X, y, tmp_path / "page.html"))
    assert [tile.text.split("\n")[1] for tile in browser.driver.find_elements("css selector", ".tiles > div")] == [
        *(">99.9%", "50%", "4,000", "1", "1.0", "0%", "<0.1%")
    ]
    text = browser.find("tbody.rule").text
    assert ">99.9%" in text
    assert "100%" not in text
    assert "<0.1%" in browser.find("#uncovered").text


def test_texts_about_one_pair_of_rules_and_without_example_records(browser, tmp_path):
    X = pd.DataFrame({"a": np.arange(40.0)})
    y = np.where(X["a"] < 20, "yes", "no")
    for label, text in (("yes", "the same label."), ("no", "different labels.")):
        rules = (Rule((Interval("a", high=9),), "yes"), Rule((Interval("a", low=5),), label))
        page = html(RuleSet(rules, ("no", "yes"), "no", (0, 0), (0, 0)), X, y)
        assert f"One pair of rules shares records; the two rules have {text}" in " ".join(page.split())
    rule_set = RuleSet(rules, ("no", "yes"), "no", (0, 0), (0, 0))
    browser.open(write_html(rule_set, X, y, tmp_path / "page.html", n_samples=0))
    browser.find("tbody.rule .opener").click()
    assert (
        browser.find("#examples-0").text
        == "It covers 10 records, 10 of them with its label. This file contains no records."
    )
    assert "Open a rule" not in browser.find("#rules").text
    assert browser.find("#try p").text.startswith("Start from typical values")
    assert browser.messages == []


def test_the_page_of_forty_rules_on_twenty_thousand_records_is_smaller_than_three_megabytes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 40))
    y = rng.choice(["no", "yes"], 20_000)
    texts = []
    for j in range(40):
        a, b, c, d = ((j + k) % 40 for k in range(4))
        body = f"{j / 50} < x{a} <= {j / 50 + 1} AND x{b} > 0 AND x{c} <= 1 AND x{d} > -1"
        texts.append(f"IF {body} THEN {('no', 'yes')[j % 2]}")
    rules = RuleSet(tuple(map(Rule.parse, texts)), ("no", "yes"), "no", (0, 0), (0, 0)).evaluated(X, y)
    assert len(page_module.html(rules, X, y).encode()) < 3_000_000
