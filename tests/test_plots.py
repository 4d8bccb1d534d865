"""What the pictures draw, against a slow count with ``rule.covers``; and that they can be drawn whatever comes."""

import datetime
import itertools
import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from conftest import make_mixed
from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    DiversityPath,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    Rule,
    RuleSet,
    baselines,
    diversity_path,
)
from diverse_rule_sets._util.plotting import GREY, class_colours, colours
from diverse_rule_sets.path import PathPoint
from diverse_rule_sets.report import CoverageDisplay, FitPathDisplay, OverlapDisplay, RuleDisplay, TradeOffDisplay
from diverse_rule_sets.report._summary import summarise
from diverse_rule_sets.report._text_layout import joined, readable, rule_words, shortened, told_apart, width_of, wrapped

matplotlib.use("Agg")
ON_RULES = (CoverageDisplay, OverlapDisplay, RuleDisplay)
WITH_CLASSIFIER = (*ON_RULES, FitPathDisplay)
X, y = load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def wine():
    return DiverseRuleSetClassifier(random_state=0, max_overlap=1.0).fit(X, y)


@pytest.fixture(scope="module")
def mixed():
    table, labels = make_mixed()
    frame = pd.DataFrame(table)
    return DiverseRuleSetClassifier(random_state=0, max_overlap=0.2).fit(frame, labels), frame, labels


def rule_set(rules, classes=("p", "q"), fallbacks=()):
    rules, fallbacks = ([Rule(tuple(conditions), label) for conditions, label in some] for some in (rules, fallbacks))
    zeros = (0,) * len(classes)
    return RuleSet(tuple(rules), tuple(classes), classes[0], zeros, zeros, fallbacks=tuple(fallbacks))


def words(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def bars(ax):
    """Lengths of the coloured parts at each height: {height: [(colour, left, length), ...]}."""
    found = {}
    for patch in ax.patches:
        if patch.get_width() > 0:
            height = round(patch.get_y() + patch.get_height() / 2, 6)
            found.setdefault(height, []).append((patch.get_facecolor(), patch.get_x(), patch.get_width()))
    return [sorted(parts, key=lambda part: part[1]) for _, parts in sorted(found.items())]


def counted(flags, labels, classes):
    return [int((flags & (np.asarray(labels, object) == label)).sum()) for label in classes]


# Coverage


def test_bars_are_the_records_under_each_rule_backup_and_default(mixed):
    clf, frame, labels = mixed
    rules, fallbacks, classes = clf.rule_set_.rules, clf.rule_set_.fallbacks, clf.rule_set_.classes
    free = ~np.any([rule.covers(frame) for rule in rules], axis=0)
    ref = [counted(rule.covers(frame), labels, classes) for rule in rules]
    ref_covered = len(frame) - int(free.sum())
    for rule in fallbacks:
        spoken = rule.covers(frame) & free
        ref.append(counted(spoken, labels, classes))
        free &= ~spoken
    ref.append(counted(free, labels, classes))

    display = CoverageDisplay.from_estimator(clf, frame, labels)
    assert display.counts.tolist() == ref
    assert fallbacks
    shades = [matplotlib.colors.to_rgba(shade) for shade in colours(len(classes))]
    for row, own, parts in zip(ref, display.own, bars(display.ax_), strict=True):
        order = [own, *(k for k in range(len(classes)) if k != own)]
        assert parts[0][1] == 0
        assert [(colour, length) for colour, _, length in parts] == [(shades[k], row[k]) for k in order if row[k]]
        assert all(a[1] + a[2] == b[1] for a, b in itertools.pairwise(parts))
    said = words(display.figure_)
    assert f"{ref_covered} of {len(frame)} records are under some rule" in " ".join(said)
    for row, own in zip(ref, display.own, strict=True):
        assert f" {row[own] / sum(row):.2f} of {sum(row)}" in said
    assert display.names[0] == f"1. {rules[0]}"
    assert display.names[-1] == f"OTHERWISE {clf.rule_set_.default}"


def test_shares_make_all_bars_as_long(mixed):
    clf, frame, labels = mixed
    display = CoverageDisplay.from_estimator(clf, frame, labels).plot(shares=True)
    assert [sum(length for _, _, length in parts) for parts in bars(display.ax_)] == pytest.approx(
        [1.0] * len(display.counts)
    )


def test_of_many_classes_a_bar_shows_its_own_and_the_others():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 26, 500)
    table = pd.DataFrame({"a": labels + rng.normal(0, 0.5, 500)})
    rules = rule_set([([Interval("a", high=2.5)], 1), ([Interval("a", low=20)], 22)], range(26))
    display = CoverageDisplay.from_rule_set(rules, table, labels)
    for row, own, parts in zip(display.counts, display.own, bars(display.ax_), strict=True):
        assert [length for _, _, length in parts] == [n for n in (row[own], row.sum() - row[own]) if n]
        assert parts[-1][0] == matplotlib.colors.to_rgba(GREY)


def test_what_is_not_all_and_not_nothing_does_not_read_as_if_it_were():
    table = pd.DataFrame({"a": np.arange(2000.0)})
    labels = ["q", *["p"] * 999, *["q"] * 999, "p"]  # all but one below 1000 are p, all but one above are q
    rules = rule_set([([Interval("a", high=999.5)], "p"), ([Interval("a", 999.5, 1998.5)], "p")])
    display = CoverageDisplay.from_rule_set(rules, table, labels)
    assert {" >0.99 of 1,000", " 0.00 of 999", " 1.00 of 1"} <= set(words(display.figure_))
    labels[1000] = "p"
    assert " <0.01 of 999" in words(CoverageDisplay.from_rule_set(rules, table, labels).figure_)
    steps = [{"quality": 0.1, "distance_gain": 0.0, "recall_gain": 0.5}] * 2
    for n, told in ((2000, ">99.9% in the end"), (1999, "100% in the end")):
        display = FitPathDisplay._told(summarise(rules, table[:n], labels[:n]), steps, 0.5).plot()
        assert told in words(display.figure_)


# Overlap


def test_the_matrix_and_the_combinations_are_counted_right(wine):
    rules, classes = wine.rule_set_.rules, wine.rule_set_.classes
    covers = np.array([rule.covers(X) for rule in rules])
    display = OverlapDisplay.from_estimator(wine, X, y)
    n = len(rules)
    ref = [[int((covers[i] & covers[j]).sum()) for j in range(n)] for i in range(n)]
    assert display.shared.tolist() == ref
    drawn = display.ax_.images[-1].get_array()
    for i, j in itertools.product(range(n), range(n)):
        visible = i > j and ref[i][j] > 0
        assert np.ma.getmaskarray(drawn)[i, j] == (not visible)
        clash = ref[i][j] > 0 and rules[i].label != rules[j].label
        assert display.contradictions[i, j] == clash
        if visible or i == j:
            assert f"{ref[i][j]}{'×' if clash else ''}" in words(display.figure_)

    ref_groups = {}
    for record in range(len(X)):
        group = tuple((np.flatnonzero(covers[:, record]) + 1).tolist())
        if len(group) > 1:
            ref_groups.setdefault(group, [0] * len(classes))[classes.index(y[record])] += 1
    assert {one.rules: list(one.class_counts) for one in display.combinations} == ref_groups
    sizes = [one.n_records for one in display.combinations]
    assert sizes == sorted(sizes, reverse=True)
    assert any(one.contradiction for one in display.combinations)
    assert [sum(part[2] for part in row) for row in bars(display.axes_[2])] == sizes
    members = sorted({j for group in ref_groups for j in group})
    columns = [tuple(members[int(x)] for x in line.get_xdata()) for line in display.axes_[1].lines]
    assert columns == [one.rules for one in display.combinations]
    assert f"{sum(sizes)} of {len(X)} are under two rules or more" in " ".join(words(display.figure_))


def test_what_is_not_drawn_is_said(wine):
    display = OverlapDisplay.from_estimator(wine, X, y).plot(max_combinations=2)
    rest = display.combinations[2:]
    assert len(display.axes_[1].lines) == 2
    told = f"not drawn: {len(rest)} combinations, {sum(one.n_records for one in rest)} records"
    assert told in " ".join(words(display.figure_))


def test_no_overlap_is_said_in_words():
    rules = rule_set([([Interval("alcohol", high=13)], 0), ([Interval("alcohol", low=13)], 1)], (0, 1, 2))
    display = OverlapDisplay.from_rule_set(rules, X, y)
    assert display.combinations == []
    assert "No record is under\ntwo rules or more." in words(display.figure_)


def test_many_rules_go_by_number_in_a_figure_of_bounded_width():
    for n_rules in (15, 21, 60, 150):
        rng = np.random.default_rng(0)
        table = pd.DataFrame(rng.random((300, 3)), columns=list("abc"))
        rules = [([Interval("abc"[j % 3], low=0.9 * rng.random())], "pq"[j % 2]) for j in range(n_rules)]
        display = OverlapDisplay.from_rule_set(rule_set(rules), table, rng.choice(["p", "q"], 300))
        assert display.figure_.get_size_inches()[0] <= 14
        named = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert all(name.isdecimal() for name in named) == (n_rules > 20)
        assert len(display.rules) == n_rules


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_the_more_records_are_shared_the_more_a_cell_stands_out(style, wine):
    with plt.style.context(style):
        image = OverlapDisplay.from_estimator(wine, X, y).ax_.images[-1]
        ground = np.array(matplotlib.colors.to_rgb(plt.rcParams["axes.facecolor"]))
    shares = np.unique(np.ma.compressed(image.get_array()))
    apart = [np.abs(np.array(image.cmap(image.norm(n))[:3]) - ground).sum() for n in shares]
    assert len(apart) > 3
    assert apart == sorted(apart)


# The path of the fit, and the trade-off


def test_what_is_all_one_or_all_nought_is_drawn_on_an_axis_from_nought():
    flowers, species = load_iris(return_X_y=True)
    clf = DiverseRuleSetClassifier(random_state=0, max_overlap=0).fit(flowers, species)
    display = FitPathDisplay.from_estimator(clf, flowers, species)
    assert np.nanmin(display.mean_distance) == 1
    assert display.axes_[3].get_ylim() == (0, 1.05)
    figures = (0.9, 0.01, 0.9, 3.0, 2.0)
    for share, high in ((0.0, 1), (0.3, 30)):
        points = [PathPoint(n, 0.5, "none", *figures, share * n, 0.1, 0.0) for n in (0, 1)]
        low, top = TradeOffDisplay.from_path(DiversityPath(points)).axes_[1].get_xlim()
        assert low == 0
        assert top == pytest.approx(high, rel=0.1)


def test_the_path_of_the_fit(wine):
    display = FitPathDisplay.from_estimator(wine, X, y)
    covered, steps = np.zeros(len(X), bool), list(zip(wine.history_, wine.rule_set_, strict=True))
    total = 0.0
    for k, (step, rule) in enumerate(steps):
        covered |= rule.covers(X)
        total += step["quality"] + wine.lambda_ * step["distance_gain"]
        assert display.coverage[k] == covered.mean()
        assert display.objective[k] == pytest.approx(total)
        assert np.isnan(display.mean_distance[k]) if k == 0 else display.mean_distance[k] == step["distance_gain"] / k
    assert display.objective[-1] == pytest.approx(wine.objective_)
    objective, coverage, quality, _, recall = display.axes_
    stacked = [low.get_height() + high.get_height() for low, high in zip(*objective.containers, strict=True)]
    assert stacked == pytest.approx(display.objective.tolist())
    assert coverage.lines[-1].get_ydata().tolist() == (100 * display.coverage).tolist()
    assert [bar.get_height() for bar in quality.patches] == [step["quality"] for step, _ in steps]
    assert [bar.get_height() for bar in recall.patches] == [step["recall_gain"] for step, _ in steps]


def test_without_history_there_is_no_path():
    baseline = baselines.CN2Classifier().fit(X, y)
    with pytest.raises(TypeError, match=r"clf must keep the history of its fit.*got CN2Classifier"):
        FitPathDisplay.from_estimator(baseline, X, y)
    assert CoverageDisplay.from_estimator(baseline, X, y).n_rules == len(baseline.rule_set_)


def test_the_trade_off_is_what_the_path_draws():
    options = {"max_rules": [1, 3], "max_overlap": [0, 1], "cv": 2}
    clf = DiverseRuleSetClassifier(random_state=0)
    path = diversity_path(clf, X, y, **options)
    measured, given_path = TradeOffDisplay.from_estimator(clf, X, y, **options), TradeOffDisplay.from_path(path)
    assert list(measured.path) == list(path)
    for display in (measured, given_path):
        left, right = display.axes_
        drawn = [(x, y) for box in left.containers for x, y in zip(*box.lines[0].get_data(), strict=True)]
        assert drawn == [(p.rules, p.balanced_accuracy) for p in sorted(path, key=lambda p: p.max_overlap)]
        assert len(right.collections) == 2
    _, axes = plt.subplots(1, 2)
    assert TradeOffDisplay(path).plot(axes).ax_ is axes[0]
    with pytest.raises(TypeError, match="path must be a DiversityPath, got list"):
        TradeOffDisplay.from_path(list(path))
    with pytest.raises(ValueError, match="ax must be 2 axes, got 1"):
        TradeOffDisplay.from_path(path, ax=axes[0])


def test_many_lines_of_a_path_are_named_beside_the_panels_and_none_not_at_all():
    figures = (0.9, 0.01, 0.9, 3.0, 2.0, 0.1, 0.1, 0.0)
    points = [PathPoint(n, share / 10, "none", *figures) for n in (1, 3) for share in range(10)]
    left, right = TradeOffDisplay.from_path(DiversityPath(points)).axes_
    assert left.get_legend() is None
    assert len(right.get_legend().get_texts()) == 10
    left, right = TradeOffDisplay.from_path(DiversityPath([])).axes_
    assert left.get_legend() is right.get_legend() is None


# Rectangles


def test_a_rectangle_has_the_bounds_of_the_rule_and_open_sides_run_to_the_edge():
    flowers, species = load_iris(return_X_y=True, as_frame=True)
    length, width = "petal length (cm)", "petal width (cm)"
    rules = rule_set([([Interval(length, high=4.95), Interval(width, 0.8, 1.65)], 1)], (0, 1, 2))
    display = RuleDisplay.from_rule_set(rules, flowers, species)
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert display.boxes == [(1, left, 4.95, 0.8, 1.65)]
    frame = next(patch for patch in display.ax_.patches if isinstance(patch, Rectangle) and not patch.get_fill())
    assert frame.get_bbox().extents.tolist() == pytest.approx([left, 0.8, 4.95, 1.65])
    assert left < flowers[length].min() < flowers[length].max() < right
    assert bottom < flowers[width].min() < flowers[width].max() < top
    assert (display.x.name, display.y.name) == (length, width)


@pytest.mark.parametrize(
    ("condition", "across"),
    [
        (Equals("x", 0.5), [(0.5, 0.5)]),
        (IsIn("x", (0.5, 2.5)), [(0.5, 0.5), (2.5, 2.5)]),
        (IsIn("x", ()), []),
        (IsNotIn("x", (0.5,)), [None]),
        (IsNotIn("x", ()), [None]),
    ],
)
def test_listed_numbers_are_lines_and_all_but_some_are_the_whole_axis(condition, across):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5], "k": [1, 2, 3, 4]})
    display = RuleDisplay.from_rule_set(rule_set([((condition,), "p")]), frame, list("pqpq"), features=("x", "k"))
    ends = (display.x.low, display.x.high)
    assert [(box.left, box.right) for box in display.boxes] == [span or ends for span in across]


def test_points_are_filled_under_the_rule_hollow_within_what_is_drawn_faint_elsewhere(mixed):
    clf, frame, labels = mixed
    columns = ["age", "income (€ / year)", "sex"]
    number, rule = next(
        (number, rule) for number, rule in enumerate(clf.rule_set_, 1) if [c.column for c in rule.conditions] == columns
    )
    display = RuleDisplay.from_estimator(clf, frame, labels, rule=number, features=["sex", "age"])
    ref_covered = rule.covers(frame)
    ref_within = np.all([rule.conditions[k].holds(_column(frame, rule.conditions[k].column)) for k in (0, 2)], axis=0)
    assert sorted(display.records.tolist()) == list(range(len(frame)))
    assert display.covered.tolist() == ref_covered[display.records].tolist()
    assert display.within.tolist() == ref_within[display.records].tolist()
    faint, hollow, filled = display.ax_.collections
    counts = [len(some.get_offsets()) for some in (faint, hollow, filled)]
    assert counts == [(~ref_within).sum(), (ref_within & ~ref_covered).sum(), ref_covered.sum()]
    assert min(counts) > 0
    assert hollow.get_facecolors().size == 0
    assert display.class_counts.tolist() == [counted(ref_covered, labels, clf.rule_set_.classes)]
    assert f"not drawn: AND {rule.conditions[1]}" in " ".join(words(display.figure_))


def _column(frame, name):
    from diverse_rule_sets._input.tables import as_table

    return as_table(frame).column(name)


@st.composite
def tables_and_rules(draw):
    """A small table of every kind of column, with gaps, and a rule of any conditions on two of them."""
    n = draw(st.integers(1, 12))
    days = [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=k) for k in range(5)]
    values = {
        "number": st.sampled_from([-1.5, 0.25, 3.0, 7.5, 1e9, np.inf]),
        "whole": st.integers(-2, 4).map(float),
        "word": st.sampled_from(["a", "b", "c", "$d$"]),
        "date": st.sampled_from(days),
    }
    columns = {
        name: draw(st.lists(st.none() | some, min_size=n, max_size=n))
        if draw(st.booleans())
        else draw(st.lists(some, min_size=n, max_size=n))
        for name, some in values.items()
    }
    frame = pd.DataFrame({name: pd.Series(given_values, dtype=object) for name, given_values in columns.items()})

    def condition(name):
        if draw(st.booleans()) and draw(st.booleans()):
            return IsMissing(name)
        if name == "word":
            some = tuple(draw(st.lists(values["word"], min_size=2, max_size=3, unique=True)))
            return draw(st.sampled_from([Equals(name, some[0]), IsIn(name, some), IsNotIn(name, some[:1])]))
        bounds = days if name == "date" else [-2.0, -1.0, 0.0, 0.25, 2.0, 7.0]
        low, high = sorted(draw(st.tuples(st.sampled_from(bounds), st.sampled_from(bounds))))
        return Interval(name, *draw(st.sampled_from([(low, None), (None, high), (low, high)])))

    names = draw(st.permutations(list(values)))[:2]
    return frame, names, [condition(name) for name in names[: draw(st.integers(1, 2))]]


@given(tables_and_rules())
def test_a_record_stands_in_a_rectangle_just_if_it_meets_the_conditions(example):
    frame, names, conditions = example
    rules = rule_set([(conditions, "p")])
    summary = summarise(rules, frame, ["p"] * len(frame))
    display = RuleDisplay._of(summary, [1], tuple(names), 100, np.random.default_rng(0))
    ref = rules[0].covers(frame)[display.records]
    for x, y_, meets in zip(display.x.positions, display.y.positions, ref, strict=True):
        inside = [box.left < x < box.right and box.bottom < y_ < box.top for box in display.boxes]
        around = [box.left <= x <= box.right and box.bottom <= y_ <= box.top for box in display.boxes]
        assert any(around) if meets else not any(inside)


def test_positions_are_the_values_dates_are_dates_and_missing_ones_stand_apart(mixed):
    clf, frame, labels = mixed
    display = RuleDisplay.from_estimator(clf, frame, labels, rule=2, features=["since", "age"])
    ages = frame["age"].to_numpy()[display.records]
    there = ~np.isnan(ages)
    assert display.y.positions[there].tolist() == ages[there].tolist()
    low, high = display.y.strip
    assert ((low < display.y.positions[~there]) & (display.y.positions[~there] < high)).all()
    assert high < np.nanmin(ages)
    display.figure_.canvas.draw()
    assert {"2016", "2018", "2020", "2022"} <= set(words(display.figure_))
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert [label.get_text() for label in axis.get_minorticklabels()] == ["missing"]


def test_rules_of_one_condition_several_rules_and_strips(wine):
    one = rule_set(
        [([Interval("ash", high=2.1)], 1), ([Interval("hue", low=1), Interval("ash", low=2.1)], 0)], (0, 1, 2)
    )
    display = RuleDisplay.from_rule_set(one, X, y)
    assert (display.x.name, display.y.name) == ("ash", "hue")  # what the other rule reads
    assert display.boxes == [(1, display.x.low, 2.1, display.y.low, display.y.high)]
    alone = RuleDisplay.from_rule_set(rule_set([([Interval("ash", high=2.1)], 1)], (0, 1, 2)), X, y)
    assert alone.y.name is None
    assert len(set(alone.y.positions.tolist())) == len(X)
    both = RuleDisplay.from_rule_set(one, X, y, rule=[2, 1])
    assert both.numbers == (2, 1)
    assert {box.number for box in both.boxes} == {1, 2}
    everything = RuleDisplay.from_estimator(wine, X, y, rule=None, features=["flavanoids", "proline"])
    ref = []
    for number, rule in enumerate(wine.rule_set_, 1):
        read = {c.column for c in rule.conditions}
        if read <= {"flavanoids", "proline"} or read >= {"flavanoids", "proline"}:
            ref.append(number)
    assert everything.numbers == tuple(ref)
    assert ref


def test_of_many_records_some_are_drawn_and_the_picture_says_so():
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(20_500, 2)), rng.choice(["p", "q"], 20_500)
    rules = rule_set([([Interval("x0", low=1), Interval("x1", high=0)], "p")])
    display = RuleDisplay.from_rule_set(rules, table, labels)
    assert len(set(display.records.tolist())) == 20_000
    assert "20,000 of 20,500 records are drawn, chosen by chance" in " ".join(words(display.figure_))
    few, again, other = (
        RuleDisplay.from_rule_set(rules, table, labels, max_points=50, random_state=seed).records.tolist()
        for seed in (1, 1, 2)
    )
    assert few == again != other
    assert display.class_counts.sum() == rules[0].covers(table).sum()  # of all, drawn or not


def test_many_categories_share_the_last_place():
    labels = ["p", "q"] * 100
    names = [f"c{k:02}" for k in range(40)]
    table = pd.DataFrame({"c": [names[k % 40] for k in range(200)], "v": np.arange(200.0)})
    rules = rule_set([([IsIn("c", ("c38", "c39")), Interval("v", low=9.5)], "p")])
    display = RuleDisplay.from_rule_set(rules, table, labels)
    assert display.x.names[-1] == "24 others"
    assert '"c38"' in display.x.names
    places = np.rint(display.x.positions)
    shown = [display.x.names[int(place)] for place in places]
    ref = [f'"{table["c"][record]}"' for record in display.records]
    assert all(got in (want, "24 others") for got, want in zip(shown, ref, strict=True))
    assert display.boxes == [(1, 13.5, 15.5, 9.5, display.y.high)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rule": 99}, ValueError, "rule must be an integer at least 1 and at most"),
        ({"rule": "1"}, TypeError, "rule must be an integer"),
        ({"rule": 0}, ValueError, "rule must be"),
        ({"features": ["ash", "ash"]}, ValueError, "features must name two columns, or one, got"),
        ({"features": ["ash", "hue", "proline"]}, ValueError, "features must name two columns"),
        ({"features": 7}, ValueError, "features must name columns of X, and there is none called 7"),
        (
            {"features": ["ash", "nowhere"]},
            ValueError,
            "features must name columns of X, and there is none called 'nowhere'",
        ),
        ({"max_points": 0}, ValueError, "max_points must be an integer at least 1"),
        ({"ax": "here"}, TypeError, "ax must be matplotlib axes, got str"),
    ],
)
def test_bad_arguments_are_named(wine, options, error, message):
    with pytest.raises(error, match=message):
        RuleDisplay.from_estimator(wine, X, y, **options)


# What holds for all pictures


@pytest.mark.parametrize("kind", WITH_CLASSIFIER)
def test_the_conventions_of_displays(kind, wine):
    display = kind.from_estimator(wine, X, y)
    assert isinstance(display, kind)
    assert display.ax_ is display.axes_[0]
    assert display.figure_ is display.ax_.figure
    figure, ax = plt.subplots()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert kind.from_estimator(wine, X, y, ax=ax).ax_ is ax
    with pytest.raises(TypeError, match="ax must be matplotlib axes, got int"):
        display.plot(3)
    _, too_many = plt.subplots(1, 7)
    with pytest.raises(ValueError, match=r"ax must be .*got 7"):
        display.plot(too_many)
    with pytest.raises(NotFittedError, match="this DiverseRuleSetClassifier is not fitted yet"):
        kind.from_estimator(DiverseRuleSetClassifier(), X, y)
    with pytest.raises(TypeError, match="expected a RuleSet or a fitted classifier of this package, got GaussianNB"):
        kind.from_estimator(GaussianNB(), X, y)


@pytest.mark.parametrize("kind", ON_RULES)
def test_a_rule_set_is_drawn_as_its_classifier_on_any_table(kind, wine):
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    pictures = [
        kind.from_estimator(wine, X, y),
        kind.from_rule_set(wine.rule_set_, X, y.tolist()),
        kind.from_rule_set(wine.rule_set_, frame, y),
    ]
    assert len({tuple(sorted(words(display.figure_))) for display in pictures}) == 1


AWKWARD = ["$x_^{", r"$\frac{1}{0}$", "_hidden", "W" * 150, "年齢" * 40, "возраст\n\t", "<b>&amp;", "%s {0}"]


@pytest.fixture(scope="module")
def awkward():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, len(AWKWARD))), columns=AWKWARD)
    labels = np.array(AWKWARD, object)[(table > 0).to_numpy() @ np.array([1, 2, 4, 0, 0, 0, 0, 0])]
    return DiverseRuleSetClassifier(random_state=0).fit(table, labels), table, labels


@pytest.mark.parametrize("kind", WITH_CLASSIFIER)
@pytest.mark.parametrize("style", ["dark_background", "classic"])
def test_names_and_labels_are_drawn_letter_by_letter_in_any_style(kind, style, awkward):
    clf, table, labels = awkward
    with plt.style.context(style):
        display = kind.from_estimator(clf, table, labels)
        display.figure_.canvas.draw()  # formulas that cannot be read are errors, letters without a font warnings
        inks = {text.get_color() for text in display.ax_.get_yticklabels()}
        assert inks <= {plt.rcParams["ytick.color"], plt.rcParams["text.color"]}
    told = [text for text in display.figure_.findobj(Text) if "$" in text.get_text()]
    assert all(not text.get_parse_math() for text in told)
    if kind is not OverlapDisplay:
        legend = display.figure_.legends[0]
        assert "_hidden" in [text.get_text() for text in legend.get_texts()]


def small(n_rules):
    table = pd.DataFrame({"a": np.linspace(0, 1, 121), "b": np.tile([0.0, 1.0, 2.0], 41)[:121]})
    rules = [([Interval("a", j / 60, (j + 1.5) / 60)], "pq"[j % 2]) for j in range(n_rules)]
    return rule_set(rules, fallbacks=rules[:15]), table, ["p", "q"] * 60 + ["p"]


@pytest.mark.parametrize("kind", ON_RULES)
@pytest.mark.parametrize("n_rules", [0, 1, 60])
def test_few_and_many_rules_one_record_and_none_covered(kind, n_rules):
    rules, table, labels = small(n_rules)
    display = kind.from_rule_set(rules, table, labels)
    display.figure_.draw_without_rendering()
    kind.from_rule_set(rules, table[:1], labels[:1]).figure_.draw_without_rendering()
    inside = display.figure_.get_tightbbox()
    wide, high = display.figure_.get_size_inches()
    assert inside.x0 >= -0.01
    assert inside.y0 >= -0.01
    assert inside.x1 <= wide + 0.01
    assert inside.y1 <= high + 0.01


def long_words(n_rules):
    """Rules of long categories and labels, an interval each, and what they are drawn on."""
    rng = np.random.default_rng(0)
    names = [f"Married with a spouse of the {kind} kind" for kind in ("civil", "absent", "armed", "other", "former")]
    classes = ["at most fifty thousand dollars a year", "more than fifty thousand dollars a year"]
    table = pd.DataFrame(
        {
            "years of age": rng.uniform(0, n_rules, 600),
            "marital status": rng.choice(names, 600),
            "occupation": rng.choice([name.upper() for name in names], 600),
        }
    )
    rules = []
    for j in range(n_rules):
        body = [
            IsIn("marital status", tuple(names[: 1 + j % 4])),
            Interval("years of age", j, j + 1),
            IsNotIn("occupation", (names[j % 5].upper(),)),
        ]
        rules.append(([body[1], *(body[k] for k in (0, 2) if j & (k + 1))], classes[j % 2]))
    labels = rng.choice(classes, 600)
    return rule_set(rules, classes, fallbacks=rules[: n_rules // 4]), table, labels


def drawn_of_long_words(kind, n_rules):
    rules, table, labels = long_words(n_rules)
    if kind is FitPathDisplay:
        steps = [{"quality": 0.1, "distance_gain": 0.9 * j, "recall_gain": 1 / n_rules} for j in range(n_rules)]
        return kind._told(summarise(rules, table, labels), steps, 0.5).plot().figure_
    if kind is TradeOffDisplay:
        figures = (0.9, 0.01, 0.9)
        wanted = itertools.product((1, n_rules), (0.0, 0.01, 0.1), ("none", "low", "high")[: 1 + n_rules // 20])
        points = [PathPoint(n, share, word, *figures, float(n), 2.0, share / 3, 0.1, 0.0) for n, share, word in wanted]
        return kind.from_path(DiversityPath(points)).figure_
    return kind.from_rule_set(rules, table, labels).figure_


def texts_drawn(figure):
    """The words that are seen; matplotlib also keeps the labels of ticks beyond the ends of an axis."""
    hidden = set()
    for ax in figure.findobj(matplotlib.axes.Axes):
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not ax.axison or not low <= tick.get_loc() <= high:
                    hidden |= {tick.label1, tick.label2}
            if not ax.axison:
                hidden.add(axis.label)
    seen = (text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip())
    return [text for text in seen if text not in hidden]


@pytest.mark.parametrize("kind", [*WITH_CLASSIFIER, TradeOffDisplay])
@pytest.mark.parametrize("n_rules", [17, 60])
def test_no_word_is_cut_off_at_any_resolution(kind, n_rules):
    for dpi in (70, 100, 200):
        figure = drawn_of_long_words(kind, n_rules)  # anew: a layout that is a little wrong mends when drawn again
        figure.set_dpi(dpi)
        figure.draw_without_rendering()
        texts = texts_drawn(figure)
        assert len(texts) > 10
        for text in texts:
            box = text.get_window_extent()
            inside = box.x0 > -1 and box.y0 > -1 and box.x1 < figure.bbox.width + 1 and box.y1 < figure.bbox.height + 1
            assert inside, (dpi, text.get_text(), box.extents, figure.bbox.extents)
        plt.close(figure)


@pytest.mark.parametrize("kind", WITH_CLASSIFIER)
@pytest.mark.parametrize("n_classes", [9, 30])
def test_few_and_many_classes_of_unequal_size(kind, n_classes):
    rng = np.random.default_rng(0)
    shares = np.r_[0.9, np.full(n_classes - 1, 0.1 / (n_classes - 1))]
    labels = np.r_[np.arange(n_classes), rng.choice(n_classes, 1000, p=shares)]
    table = pd.DataFrame({"u": labels + rng.normal(0, 0.3, labels.size), "w": rng.normal(size=labels.size)})
    clf = DiverseRuleSetClassifier(random_state=0).fit(table, labels)
    kind.from_estimator(clf, table, labels).figure_.draw_without_rendering()


def test_a_classifier_without_rules_has_an_empty_path():
    clf = DiverseRuleSetClassifier(max_rules=0).fit(X, y)
    for kind in WITH_CLASSIFIER:
        kind.from_estimator(clf, X, y).figure_.draw_without_rendering()
    assert "There are no rules." in words(FitPathDisplay.from_estimator(clf, X, y).figure_)


def test_colours_are_told_apart():
    for n in (3, 8, 26, 60):
        assert len(set(colours(n))) == n
    assert class_colours(8, [])[0] == colours(8)
    shades, others = class_colours(26, [4, 4, 7])
    assert others
    assert [k for k, shade in enumerate(shades) if shade != GREY] == [4, 7]


# BitRows


@given(st.lists(st.text("abcWx_ 1", max_size=6), min_size=1, max_size=8), st.integers(7, 40), st.booleans())
def test_names_that_are_cut_stay_different(parts, width, spaced):
    gap = " " if spaced else ""
    names = tuple(f"a name that begins{gap}{part}{gap}and ends as all of the others do" for part in parts)
    short = told_apart((*names, "short"), width)
    assert len(set(short.values())) == len({*names, "short"})
    assert all(width_of(text) <= width for text in short.values())
    assert short["short"] == "short"


def test_the_part_that_differs_is_kept():
    names = tuple(f"mean temperature of sensor_{k}_in the hall" for k in (1, 2, 12))
    assert [text.split("…")[1] for text in told_apart(names, 24).values()] == ["1", "2", "12"]


@pytest.mark.parametrize("kind", ON_RULES)
def test_long_columns_and_labels_that_begin_and_end_alike_are_told_apart(kind):
    names = [f"a very long column name of sensor {k} in the hall of something" for k in range(6)]
    classes = [f"a class with a rather long name, the {word}, that ends alike" for word in ("first", "other")]
    table = pd.DataFrame(np.random.default_rng(0).random((60, 6)), columns=names)
    rules = rule_set([([Interval(name, 0.123456, 0.987654)], classes[k % 2]) for k, name in enumerate(names)], classes)
    options = {"rule": None, "features": names[:2]} if kind is RuleDisplay else {}
    display = kind.from_rule_set(rules, table, classes * 30, **options)
    shown = [text.get_text() for legend in display.figure_.legends for text in legend.get_texts()]
    assert any("first" in name for name in shown)
    assert any("other" in name for name in shown)
    if kind is not RuleDisplay:
        told = [label.get_text().replace("\n", " ") for label in display.ax_.get_yticklabels()][:6]
        cut = ["IF".join(text.split(".", 1)[1].split("IF")).split(" THEN ")[0] for text in told]
        assert len(set(cut)) == 6


@given(st.text(min_size=1), st.integers(4, 40))
def test_shortened_and_wrapped_words_keep_within_their_width(text, width):
    assert width_of(shortened(text, width)) <= width
    assert all(width_of(line) <= width for line in wrapped(text, width).split("\n"))
    assert wrapped(text, width).replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")


@given(st.lists(st.text("abc <=9", min_size=1, max_size=60), min_size=1, max_size=6), st.integers(30, 120))
def test_joined_conditions_keep_within_their_width_and_none_is_lost_in_silence(conditions, width):
    text = joined(conditions, width)
    assert width_of(text) <= width
    if sum(map(len, conditions)) + 5 * (len(conditions) - 1) <= width:
        assert text == " AND ".join(conditions)
    shown = text.count(" AND ") + 1
    assert shown >= len(conditions) or text.endswith(f" AND {len(conditions) - shown + 1} more")


def test_a_rule_in_words():
    rule = Rule((Interval("age", 37, 60), Equals("sex", "F")), "yes")
    assert rule_words(3, rule, 80) == f"3. {rule}"
    assert rule_words(3, rule, 80, 25) == '3. IF 37 < age <= 60\nAND sex = "F" THEN yes'
    assert rule_words(1, Rule((), "no"), 80) == "1. IF anything THEN no"


def test_letters_that_no_font_has_are_written_as_python_writes_them():
    assert readable("plain $x$ Ωж") == "plain $x$ Ωж"
    assert readable("a\U000f0000b") == r"a\U000f0000b"  # of private use: no font has it


# Imports


def test_importing_the_report_imports_no_matplotlib():
    code = "import sys; from diverse_rule_sets import report; print(sorted(report.__all__) == report.__all__, "
    code += "[name for name in ('matplotlib', 'jinja2') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True []"


def test_without_matplotlib_the_error_names_the_extra(wine, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for kind in WITH_CLASSIFIER:
        with pytest.raises(ImportError, match=r"pip install 'diverse-rule-sets\[report\]'"):
            kind.from_estimator(wine, X, y)


def test_the_path_of_other_rules_is_refused():
    X, y = load_iris(return_X_y=True)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    clf.rule_set_ = clf.rule_set_.without_rule(1, X, y)
    with pytest.raises(ValueError, match="rule_set_ was changed"):
        FitPathDisplay.from_estimator(clf, X, y)
