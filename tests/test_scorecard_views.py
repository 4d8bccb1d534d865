"""What people see of scorecards: data frame, notebook, report page, plots, terminal."""

import io
import itertools
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from rich.console import Console
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, IsMissing, Rule, RuleSet, Scorecard, Sign
from diverse_rule_sets._util.colours import class_colour
from diverse_rule_sets.cli import _predicting, _terminal
from diverse_rule_sets.cli._reading import load
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.report import CoverageDisplay, OverlapDisplay, RuleDisplay, ScorecardDisplay, html, write_html
from diverse_rule_sets.report._summary import summarise
from test_notebook import NOTEBOOKS, Reader, in_notebook
from test_plots import visible_texts

matplotlib.use("Agg")
HOSTILE = "</script><img src=x onerror=window.pwned=1><!--{{ 7*7 }}\u2028'\""
CONTROL = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e\r\x08"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def empty(rules, classes, **options):
    """Return a rule set without counts."""
    return RuleSet(tuple(rules), tuple(classes), classes[0], (0,) * len(classes), (0,) * len(classes), **options)


def records(n=400, seed=0):
    """Return records with missing values."""
    rng = np.random.default_rng(seed)
    ages, jobs = rng.integers(20, 90, n).astype(float), rng.choice(["clerk", "sales", None], n)
    X = pd.DataFrame({"age": ages, "job": jobs, "x": rng.random(n)})
    X.loc[rng.random(n) < 0.1, "age"] = None
    return X, rng


def two_classes():
    """Return a rule set for two classes with one scorecard; its records and labels."""
    X, rng = records()
    signs = (
        Sign(Interval("age", low=55), {"ill": 3}),
        Sign(Equals("job", "clerk"), {"ill": 2}),
        Sign(Interval("x", high=0.5), {"ill": -1}),
    )
    card = Scorecard("points", (*signs, Sign(IsMissing("age"), {"ill": 1})))
    y = np.where(rng.random(len(X)) < 1 / (1 + np.exp(1.5 - card.points(X)[:, 0])), "ill", "well")
    rules = Rule((card.between(low=3),), "ill"), Rule((card.between(0, 1), Interval("x", low=0.3)), "well")
    return empty(rules, ("ill", "well"), fallbacks=(Rule((card.between(high=1),), "well"),)).evaluated(X, y), X, y


def four_classes():
    """Return a rule set for four classes with one scorecard; its records and labels."""
    X, rng = records(seed=1)
    signs = (
        Sign(Interval("age", low=60), {"old": 3, "mid": 1}),
        Sign(Interval("age", high=35), {"new": 3}),
        Sign(Equals("job", "clerk"), {"mid": 2}),
        Sign(Interval("x", low=0.7), {"sub": 4, "old": -1}),
    )
    card = Scorecard("points", signs, ("new", "mid", "old", "sub"), {"mid": 1})
    y = np.array(card.labels)[np.argmax(card.points(X) + rng.normal(0, 1, (len(X), 4)), axis=1)]
    rules = [Rule((card.leads(label), card.lead_between(low=1)), label) for label in card.labels]
    rules += [Rule((card.lead_between(high=0),), "mid"), Rule((card.between(3, None, "mid"),), "mid")]
    return empty(rules, ("mid", "new", "old", "sub"), conflict="smoothed").evaluated(X, y), X, y


def hostile_set(text):
    """Return a rule set in which every name, value and label contains a text; its records and labels."""
    labels = sorted(f"{letter}{text}" for letter in "abc")
    X = pd.DataFrame({0: [1.0, 5.0, 9.0, None] * 10, 1: pd.Series([f"v{text}", "w"] * 20, dtype=object)}).set_axis(
        pd.Index([f"n{text}", f"w{text}"], dtype=object), axis=1
    )
    number, word = (
        Interval(f"n{text}", low=3),
        Equals(f"w{text}", f"v{text}"),
    )
    several = Scorecard(f"card{text}", (Sign(number, {labels[0]: 2, labels[1]: 1}), Sign(word, {labels[2]: 1})))
    one = Scorecard(f"one{text}", (Sign(number, {labels[0]: 2}), Sign(word, {labels[0]: 1})))
    rules = [Rule((several.leads(labels[0]), several.lead_between(low=1)), labels[0])]
    rules += [Rule((one.between(high=1),), labels[1]), Rule((several.between(0, 1, labels[2]),), labels[2])]
    y = np.array(labels, object)[np.arange(40) % 3]
    return empty(rules, labels).evaluated(X, y), X, y


BOTH = pytest.mark.parametrize("make", [two_classes, four_classes])


def all_words(text):
    return " ".join(text.split())


# Data frame


@BOTH
def test_the_frame_has_a_row_for_each_pair_of_a_sign_and_a_label(make):
    rules, _, _ = make()
    (card,) = rules.scorecards
    frame = rules.to_frame()
    n = len(rules.all_rules) + 1
    assert frame["part"][:n].isin(["rule", "fallback", "default"]).all()
    assert frame["points"][:n].isna().all()
    pairs = [(str(sign.condition), label, points) for sign in card.signs for label, points in sign.points.items()]
    pairs = [("always", label, points) for label, points in card.base.items()] + pairs
    assert list(frame[n:][["if", "then", "points"]].itertuples(index=False, name=None)) == pairs
    assert set(frame["part"][n:]) <= {"sign", "base"}
    assert (frame["part"] == "sign").sum() == card.n_pairs
    assert (frame["scorecard"][n:] == "points").all()
    assert frame["covers"].dtype == "Int64"
    polars = rules.to_frame(pl.DataFrame())
    assert polars["points"].dtype == pl.Int64
    assert polars["points"].to_list() == [None if pd.isna(p) else p for p in frame["points"]]
    import pyarrow

    assert rules.to_frame(pyarrow.table({"a": [1]}))["points"].to_pylist() == polars["points"].to_list()


def test_without_scorecards_the_frame_has_no_column_of_points():
    X, _ = records()
    rules = empty([Rule((Interval("x", low=0.5),), "a")], ("a", "b")).evaluated(X, ["a", "b"] * 200)
    assert not {"points", "scorecard"} & set(rules.to_frame().columns)
    assert rules.to_frame()["covers"].dtype == "int64"


# Notebook


def test_a_notebook_shows_the_points_of_one_label_and_the_probabilities():
    rules, _, _ = two_classes()
    read = Reader(rules._repr_html_())
    cells = [all_words(cell) for cell in read.cells]
    title = cells.index("Scorecard points: a record gets the points for ill of all signs that hold for it.")
    signs = ["age > 55", "3", 'job = "clerk"', "2", "x <= 0.5", "-1", "age is missing", "1"]
    assert cells[title + 1 : title + 11] == [*signs, "possible sums", "-1 to 5"]
    first = next(cell for cell in cells if cell.startswith("points >= 3"))
    shares = [f"{p:.0%}" for p, _ in rules[0].points_table.rows]
    assert first == "points >= 3probability of ill by points: " + " ".join(
        f"{3 + k} {share}" for k, share in enumerate(shares)
    )
    alone = [all_words(cell) for cell in Reader(rules[0]._repr_html_()).cells]
    assert any(cell.startswith("Scorecard points") for cell in alone)
    assert rules[0]._repr_html_().count('class="drs-step"') == len(shares)


def test_a_notebook_shows_a_column_for_each_label_in_its_colour():
    rules, _, _ = four_classes()
    read = Reader(rules._repr_html_())
    cells = [all_words(cell) for cell in read.cells]
    start = cells.index("always")
    assert cells[start : start + 5] == ["always", "", "1", "", ""]
    assert cells[start + 5 : start + 10] == ["age > 60", "", "1", "3", ""]
    assert "-1 to 3" in cells
    note = "The label with the most points leads; the lead is by how many points."
    assert any(cell.startswith(note) for cell in cells)
    table = rules._repr_html_().split('<table class="drs-card">')[1].split("</thead>")[0]
    fills = re.findall(r'fill="(#\w+)"', table)
    assert fills == [class_colour(rules.classes.index(label)) for label in ("new", "mid", "old", "sub")]


def test_of_votes_a_notebook_shows_no_probabilities_by_points():
    rules, _, _ = two_classes()
    votes = RuleSet(rules.rules, rules.classes, "ill", rules.class_totals, rules.uncovered_counts, "vote")
    assert "drs-step" not in votes._repr_html_().split("</style>")[1]
    assert "drs-step" in rules._repr_html_().split("</style>")[1]


def test_very_many_labels_are_listed_in_one_column():
    labels = tuple(f"c{k:02}" for k in range(26))
    card = Scorecard("points", tuple(Sign(Interval("x", low=k), {label: k + 1}) for k, label in enumerate(labels)))
    rules = empty([Rule((card.leads("c25"),), "c25")], labels)
    cells = [all_words(cell) for cell in Reader(rules._repr_html_()).cells]
    assert cells[cells.index("x > 25") + 1] == "26 for c25"
    page = html(rules.evaluated(*_many(labels)), *_many(labels))
    assert page.count('<span class="point">') == 26


def _many(labels):
    return pd.DataFrame({"x": np.arange(52) % 30.0}), np.array(labels)[np.arange(52) % 26]


@pytest.mark.parametrize("show", [lambda rules: rules, lambda rules: rules[0], lambda rules: rules.scorecards[0]])
def test_html_in_a_scorecard_is_escaped_in_notebooks(show):
    rules, _, _ = hostile_set(HOSTILE)
    source = show(rules)._repr_html_()
    read = Reader(source)
    assert not {"script", "img"} & {tag for tag, _ in read.tags}
    assert "onerror=window.pwned=1" in " ".join(read.cells)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_scorecards_are_readable_in_notebooks(browser, tmp_path, notebook):
    rules, _, _ = four_classes()
    for width, dark in ((1000, True), (420, False)):
        browser.open(in_notebook(rules._repr_html_(), tmp_path / "cell.html", notebook, dark), width=width)
        assert browser.run("return document.documentElement.scrollWidth") <= width
        colours = (
            "return [...document.querySelectorAll('td, th, .drs-step')].map((node) => getComputedStyle(node).color)"
        )
        assert set(browser.run(colours)) == {"rgb(255, 255, 255)" if dark else "rgb(0, 0, 0)"}
        lefts = browser.run(
            "return [...document.querySelectorAll('.drs-card tr')].map("
            "(row) => [...row.children].map((cell) => cell.getBoundingClientRect().left))"
        )
        assert len({tuple(row) for row in lefts}) == 1  # points are below their labels
    assert browser.messages == []


def test_a_right_to_left_label_does_not_change_the_order_of_a_condition(browser, tmp_path):
    label = "\u05e9\u05dd"
    card = Scorecard("points", (Sign(Interval("x", low=1), {label: 2}), Sign(Interval("x", high=0), {"a": 2})))
    source = Rule((card.between(1, 3, label),), label)._repr_html_()
    (tmp_path / "cell.html").write_text(f'<!DOCTYPE html><meta charset="utf8">{source}', "utf8")
    browser.open(tmp_path / "cell.html")
    code = """
    const line = document.querySelector(".drs-condition");
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    const lefts = [];
    while (walker.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      lefts.push([range.getBoundingClientRect().left, walker.currentNode.data]);
    }
    return lefts.sort((a, b) => a[0] - b[0]).map((pair) => pair[1]);
    """
    parts = browser.run(code)
    assert parts[0].startswith("1 <=")
    assert parts[-1].endswith("<= 3")


# Report page

STATE = """
const text = (node) => node.textContent.replace(/\\s+/g, " ").trim();
const mark = (row) => row.querySelector("[role=img]").getAttribute("aria-label");
return [...document.querySelectorAll("#points .scorecard")].map((card) => ({
  sum: text(card.querySelector(".points-sum")),
  ticks: [...card.querySelectorAll("tbody tr")].map(mark),
  total: [...card.querySelectorAll("tfoot td")].map(text),
  steps: [...document.querySelectorAll("#reasons .checked.decides [aria-current]")].map(text),
  label: document.getElementById("result").dataset.label,
  probabilities: JSON.parse(document.getElementById("result").dataset.probabilities),
}));
"""
PICK = """
const pick = document.getElementById("pick");
pick.value = arguments[0];
pick.dispatchEvent(new Event("change"));
"""


@BOTH
def test_the_panel_shows_the_signs_that_hold_their_sum_and_the_probability(browser, tmp_path, make):
    rules, X, y = make()
    (card,) = rules.scorecards
    browser.open(write_html(rules, X, y, tmp_path / "page.html"))
    points, answers, steps = card.points(X), rules.answer(X), set()
    held = np.column_stack([Rule((sign.condition,), "x").covers(X) for sign in card.signs])
    for position, record in enumerate(browser.data["records"]):
        browser.run(PICK, position)
        row = record["row"] - 1
        (state,) = browser.run(STATE)
        marks = ["holds" if flag else "does not hold" for flag in held[row]]
        assert state["ticks"] == (["holds"] if card.base else []) + marks
        sums = points[row]
        if card.has_leader:
            leader, lead = int(np.argmax(sums)), int(np.sort(sums)[-1] - np.sort(sums)[-2])
            assert f"{card.labels[leader]} leads with {sums[leader]} point" in state["sum"]
            assert f"lead {lead}" in state["sum"]
            expected = "".join(f"{n} {label}" for n, label in zip(sums, card.labels, strict=True))
            assert state["total"][-1] == expected
        else:
            assert f"{sums[0]} point{'' if sums[0] == 1 else 's'} for ill" in state["sum"]
            assert state["total"][-1] == str(sums[0])
        assert int(state["label"]) == answers.labels[row]
        np.testing.assert_allclose(state["probabilities"], answers.probabilities[row], rtol=0, atol=1e-9)
        deciding = answers.deciding[row]
        if deciding >= 0 and rules.all_rules[deciding].points_table is not None:
            (step,) = state["steps"]
            share = state["probabilities"][answers.labels[row]]
            assert abs(float(step.split()[-1].strip("<>%")) / 100 - share) < 0.011
            steps.add(step)
    assert len(steps) > 3
    assert browser.messages == []


def test_a_missing_value_in_the_panel_takes_away_its_points_with_the_keyboard_only(browser, tmp_path):
    rules, X, y = two_classes()
    browser.open(write_html(rules, X, y, tmp_path / "page.html"))
    position = [column["name"] for column in browser.data["columns"]].index("age")
    field = browser.find(f"#field-{position}")
    field.clear()
    field.send_keys("80")
    (before,) = browser.run(STATE)
    assert before["ticks"][0] == "holds"
    browser.press("TAB", "SPACE")
    (after,) = browser.run(STATE)
    assert (after["ticks"][0], after["ticks"][3]) == ("does not hold", "holds")
    assert int(after["total"][-1]) == int(before["total"][-1]) - 2


@pytest.mark.parametrize("classes", [(False, True), (0, 1, 2), (-1.5, 2.5, 7.0)])
def test_labels_that_are_no_text(browser, tmp_path, classes):
    X, rng = records()
    signs = [Sign(Interval("age", low=20 + 15 * k), {label: 2}) for k, label in enumerate(classes)]
    card = Scorecard("points", (*signs, Sign(Equals("job", "clerk"), {classes[0]: 1})), classes)
    y = rng.choice(np.array(classes), len(X))
    rules = empty([Rule((card.leads(label),), label) for label in classes], classes).evaluated(X, y)
    answers = rules.answer(X)
    browser.open(write_html(rules, X, y, tmp_path / "page.html"))
    for position, record in enumerate(browser.data["records"][:20]):
        browser.run(PICK, position)
        (state,) = browser.run(STATE)
        assert int(state["label"]) == answers.labels[record["row"] - 1]
        leader = classes[int(np.argmax(card.points(X)[record["row"] - 1]))]
        assert f"{format_label(leader)} leads" in state["sum"]
    display = ScorecardDisplay.from_rule_set(rules, X, y)
    assert {level.leader for level in display.levels[0]} == {cut.leader for cut in display.cuts[0]}
    assert "Scorecard points" in on_screen(rules, 80)[0]
    assert "Scorecard" in rules._repr_html_()


@BOTH
def test_the_page_has_a_table_of_points_also_on_a_phone_in_print_and_in_the_dark(browser, tmp_path, make):
    rules, X, y = make()
    (card,) = rules.scorecards
    path = write_html(rules, X, y, tmp_path / "page.html")
    for width, dark in ((1280, False), (390, True)):
        browser.open(path, width=width, dark=dark)
        assert browser.run("return document.documentElement.scrollWidth") <= width
        text = all_words(browser.find("#scorecards").text)
        assert "age is over" in text
        assert all(label in text for label in card.labels)
    browser.open(path)
    rows = browser.run("return [...document.querySelectorAll('#scorecards tbody tr')].map((row) => row.innerText)")
    assert len(rows) == len(card.signs) + bool(card.base)
    numbers = [[int(n) for n in re.findall(r"-?\d+", row.split("\t", 1)[1])] for row in rows[bool(card.base) :]]
    assert numbers == [[sign.points[label] for label in card.labels if label in sign.points] for sign in card.signs]
    browser.print()
    assert browser.find("#scorecards table").is_displayed()
    assert not browser.find("#try").is_displayed()
    assert "Probability of" in browser.find("#rules").text
    assert browser.messages == []


def test_a_page_without_scorecards_does_not_mention_them():
    X, _ = records()
    rules = empty([Rule((Interval("x", low=0.5),), "a")], ("a", "b")).evaluated(X, ["a", "b"] * 200)
    body = html(rules, X, ["a", "b"] * 200).split("<body>")[1].split("<script")[0]
    assert "scorecard" not in body.lower()


def test_html_in_a_scorecard_is_shown_as_text_in_the_page(browser, tmp_path):
    browser.open(write_html(*hostile_set(HOSTILE), tmp_path / "page.html", title=HOSTILE))
    for position in range(len(browser.data["records"])):
        browser.run(PICK, position)
    assert browser.run("return window.pwned") is None
    assert browser.run("return document.querySelectorAll('img, iframe, object').length") == 0
    assert browser.run("return document.scripts.length") == 2
    assert "onerror=window.pwned=1" in browser.find("#scorecards").text
    assert "onerror=window.pwned=1" in browser.find("#points").text
    browser.open(tmp_path / "page.html", width=390)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    assert browser.messages == []


# Plots


@BOTH
def test_the_bars_are_the_records_by_points_and_the_strips_the_bounds_of_the_rules(make):
    rules, X, y = make()
    (card,) = rules.scorecards
    display = ScorecardDisplay.from_rule_set(rules, X, y)
    points, classes = card.points(X), list(rules.classes)
    two = np.sort(points, axis=1)
    for level in display.levels[0]:
        values = points[:, 0] if level.leader is None else two[:, -1] - two[:, -2]
        chosen = (values >= level.low) & (values <= level.high)
        if level.leader is not None:
            chosen &= np.array(card.labels)[np.argmax(points, axis=1)] == level.leader
        assert level.class_counts == tuple(int((y[chosen] == label).sum()) for label in classes)
    assert sum(sum(level.class_counts) for level in display.levels[0]) == len(X)
    cuts = {cut.number: cut for cut in display.cuts[0]}
    if card.has_leader:
        assert display.undrawn == [[6]]
        assert (cuts[1].leader, cuts[1].low, cuts[1].high, cuts[1].alone) == ("new", 1, None, True)
        assert (cuts[5].leader, cuts[5].low, cuts[5].high) == (None, None, 0)
    else:
        assert display.undrawn == [[]]
        assert [(cut.number, cut.low, cut.high, cut.alone) for cut in display.cuts[0]] == [
            *((1, 3, None, True), (2, 0, 1, False), (3, None, 1, True))
        ]
    strips = [p for p in display.ax_.patches if isinstance(p, Rectangle) and p.get_x() > 1]
    shades = {to_hex(strip.get_edgecolor()) for strip in strips if strip.get_linewidth() == 1.2}
    assert shades == {class_colour(classes.index(rules.all_rules[number - 1].label)) for number in cuts}
    assert repr(display) == "<ScorecardDisplay: 1 scorecard, 400 records>"


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    values=st.lists(st.integers(-1000, 1000).filter(bool), min_size=1, max_size=6),
    low=st.integers(-3000, 3000),
    width=st.integers(0, 500),
)
def test_a_strip_covers_exactly_the_bars_of_its_points(values, low, width):
    """Also if neighbouring points share a bar: then the strip ends inside a bar, in proportion.

    Points that cannot occur have no bar.
    """
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice([0.0, 1.0], (60, len(values))), columns=[f"x{k}" for k in range(len(values))])
    card = Scorecard("points", tuple(Sign(Interval(f"x{k}", low=0.5), {"a": n}) for k, n in enumerate(values)))
    rules = empty([Rule((card.between(low, low + width),), "b")], ("a", "b"))
    display = ScorecardDisplay.from_rule_set(rules, X, rng.choice(["a", "b"], 60))
    bars, points = display.levels[0], card.points(X)[:, 0]
    assert len(bars) <= 48
    sums = {sum(some) for n in range(len(values) + 1) for some in itertools.combinations(values, n)}
    seen = range(min(points.min(), low), max(points.max(), low + width) + 1)
    assert all(any(bar.low <= one <= bar.high for one in sums) for bar in bars)
    assert all(any(bar.low <= one <= bar.high for bar in bars) for one in sums if one in seen)
    assert sum(sum(bar.class_counts) for bar in bars) == 60
    (strip,) = [p for p in display.ax_.patches if p.get_linewidth() == 1.2]
    size = bars[0].high - bars[0].low + 1

    def height(end):
        """Return how much of the bars is below a number of points."""
        return sum(min(max(end - bar.low, 0), size) / size for bar in bars)

    assert strip.get_y() == pytest.approx(height(low) - 0.5)
    assert strip.get_height() == pytest.approx(height(low + width + 1) - height(low))
    plt.close("all")


def test_several_scorecards_shares_given_axes_and_none():
    rules, X, y = two_classes()
    other = Scorecard("risk", (Sign(Interval("x", low=0.2), {"well": 1}),))
    more = empty([*(Rule(r.conditions, r.label) for r in rules), Rule((other.between(low=1),), "well")], rules.classes)
    display = ScorecardDisplay.from_rule_set(more, X, y)
    assert [ax.get_ylabel() for ax in display.axes_] == ["points", "risk"]
    _, axes = plt.subplots(2)
    shares = display.plot(axes, shares=True)
    assert shares.ax_ is axes[0]
    assert axes[0].get_xlabel() == "share of the records"
    with pytest.raises(ValueError, match="ax must be one axes or 2"):
        display.plot(plt.subplots(3)[1])
    clf = DiverseRuleSetClassifier(max_rules=2, random_state=0).fit(X[["x"]], y)
    none = ScorecardDisplay.from_estimator(clf, X[["x"]], y)
    if not clf.rule_set_.scorecards:
        assert [text.get_text() for text in none.ax_.texts] == ["No rule uses a scorecard"]


@pytest.mark.parametrize("kind", [ScorecardDisplay, CoverageDisplay, OverlapDisplay, RuleDisplay])
@pytest.mark.parametrize("text", [HOSTILE, "$x_1^{", "\x00\ud800", "\u05e9\u05dd", "long " * 40, "_"])
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_names_of_scorecards_are_drawn_literally(kind, text, style):
    with plt.style.context(style):
        display = kind.from_rule_set(*hostile_set(text))
        display.figure_.canvas.draw()
    dollars = [found for found in display.figure_.findobj(Text) if "$" in found.get_text()]
    assert all(not found.get_parse_math() for found in dollars)
    width, _ = display.figure_.canvas.get_width_height()
    boxes = [found.get_window_extent() for found in visible_texts(display.figure_)]
    assert all(box.x0 > -2 and box.x1 < width + 2 for box in boxes)


@BOTH
def test_a_rule_display_draws_points_as_an_axis(make):
    rules, X, y = make()
    name = "lead" if rules.scorecards[0].has_leader else "points"
    for number, rule in enumerate(rules.rules, 1):
        display = RuleDisplay.from_rule_set(rules, X, y, rule=number)
        covered = rule.covers(X)[display.records]
        assert (display.covered == covered).all()
        inside = np.zeros(len(X), bool)
        for box in display.boxes:
            inside |= (
                (display.x.positions >= box.left)
                & (display.x.positions <= box.right)
                & (display.y.positions >= box.bottom)
                & (display.y.positions <= box.top)
            )
        assert (inside == display.within).all()
    display = RuleDisplay.from_rule_set(rules, X, y, rule=1, features=name)
    assert str(display.x.name) == name
    with pytest.raises(ValueError, match=rf"features must be names of columns of X or of points \(.*'{name}'"):
        RuleDisplay.from_rule_set(rules, X, y, features=["age", "point"])


def test_displays_and_page_of_a_pipeline_that_renames_the_columns():
    """The step gives a column the name of the scorecard, which then has a number."""
    _, X, _ = two_classes()
    X = X[["age", "x"]].fillna(0)
    card = Scorecard("points", (Sign(Interval("x0", low=55), {"ill": 3}), Sign(Interval("x1", high=0.5), {"ill": 1})))
    y = np.where(X["age"] > 60, "ill", "well")
    steps = FunctionTransformer(np.asarray, feature_names_out=lambda *_: np.array(["age", "points"], object))
    model = make_pipeline(steps, DiverseRuleSetClassifier(max_rules=1, random_state=0)).fit(X, y)
    rules = empty([Rule((card.between(low=3),), "ill"), Rule((card.between(high=2),), "well")], ("ill", "well"))
    model[-1].rule_set_ = rules.evaluated(X.to_numpy(), y)
    summary = summarise(model, X, y)
    (renamed,) = summary.rule_set.scorecards
    assert renamed.name == "points (2)"
    assert renamed.columns == ("age", "points")
    assert (summary.probabilities == model.predict_proba(X)).all()
    assert "points (2)" in html(model, X, y)
    assert ScorecardDisplay.from_estimator(model, X, y).scorecards == (renamed,)


# Terminal


def on_screen(rules, width):
    """Return what a terminal shows, without colours, and with them."""
    screen = Console(file=io.StringIO(), width=width, force_terminal=True, color_system="standard", markup=False)
    _terminal._RulePrinter(rules, screen).show()
    seen = screen.file.getvalue()
    return re.sub(r"\x1b\[[0-9;]*m", "", seen), seen


@BOTH
@pytest.mark.parametrize("width", [120, 60, 40])
def test_a_terminal_shows_scorecards_within_its_width(make, width):
    rules, _, _ = make()
    (card,) = rules.scorecards
    bare, coloured = on_screen(rules, width)
    assert max(map(len, bare.splitlines())) <= width
    words = all_words(bare)
    assert words.index("Scorecard points") < words.index("IF ")
    assert all(f"if {sign.condition}" in words for sign in card.signs)
    assert re.search(r"\x1b\[([0-9]+;)*3[0-7]m", coloured)
    low = 2 if card.has_leader else 3  # the smallest points that can occur under the rule
    table = rules[0].points_table
    share = table.rows[low - table.low][rules.classes.index(rules[0].label)]
    assert f"probability of {rules[0].label} by {'lead' if card.has_leader else 'points'}: {low}: {share:.2f}" in words


def test_a_terminal_shows_the_points_of_labels_below_their_names_or_as_a_list():
    rules, _, _ = four_classes()
    bare, _ = on_screen(rules, 100)
    lines = bare.splitlines()
    head = next(line for line in lines if line.split() == ["new", "mid", "old", "sub"])
    row = next(line for line in lines if line.endswith("if age > 60") or "if age > 60 " in line)
    assert row.split()[:2] == ["1", "3"]
    assert row.index("1") == head.index("mid") + 2
    assert row.index("3") == head.index("old") + 2
    narrow, _ = on_screen(rules, 40)
    assert "3 old, 1 mid" in all_words(narrow)


@pytest.mark.parametrize("width", [100, 30])
def test_nothing_in_a_scorecard_controls_the_terminal(width):
    rules, _, _ = hostile_set(CONTROL)
    bare, _ = on_screen(rules, width)
    assert {c for c in bare if not c.isprintable()} <= {"\n"}
    assert "title" in bare
    stream = io.StringIO()
    _terminal.show_rules(rules, plain=True, file=stream)
    assert {c for c in stream.getvalue() if not c.isprintable()} <= {"\n"}


def test_the_columns_of_signs_are_read_from_a_file(tmp_path):
    rules, X, _ = two_classes()
    X.to_csv(tmp_path / "t.csv", index=False)
    table = load(str(tmp_path / "t.csv"), {}, None)
    found = _predicting.predictions(rules, table, (), True, "")
    assert found["label"].to_list() == rules.predict(X).tolist()
    np.testing.assert_allclose(found["probability_ill"].to_numpy(), rules.predict_proba(X)[:, 0], atol=1e-12)
