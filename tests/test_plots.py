"""The plots: what they draw against slow counts with ``rule.covers``, and plots of unusual rule sets and tables."""

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
from diverse_rule_sets._util.colours import GREY, class_colours
from diverse_rule_sets.path import PathPoint
from diverse_rule_sets.report import CoverageDisplay, FitPathDisplay, OverlapDisplay, RuleDisplay, TradeOffDisplay
from diverse_rule_sets.report._summary import summarise
from diverse_rule_sets.report._text_layout import (
    distinct_names,
    escape_missing,
    join_conditions,
    left_to_right,
    rule_text,
    shorten,
    width_of,
    wrap,
)

matplotlib.use("Agg")
RULE_DISPLAYS = (CoverageDisplay, OverlapDisplay, RuleDisplay)
CLASSIFIER_DISPLAYS = (*RULE_DISPLAYS, FitPathDisplay)
X, y = load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def wine():
    return DiverseRuleSetClassifier(random_state=0, max_overlap=1.0, scorecards=None).fit(X, y)


@pytest.fixture(scope="module")
def mixed():
    table, labels = make_mixed()
    frame = pd.DataFrame(table)
    clf = DiverseRuleSetClassifier(random_state=0, max_overlap=0.2, scorecards=None, min_evidence=1)
    return clf.fit(frame, labels), frame, labels


def rule_set(rules, classes=("p", "q"), fallbacks=()):
    rules, fallbacks = ([Rule(tuple(conditions), label) for conditions, label in pairs] for pairs in (rules, fallbacks))
    zeros = (0,) * len(classes)
    return RuleSet(tuple(rules), tuple(classes), classes[0], zeros, zeros, fallbacks=tuple(fallbacks))


def texts_of(figure):
    """Return all texts of a figure."""
    return [text.get_text() for text in figure.findobj(Text)]


def bars(ax):
    """Return the coloured parts of each bar from top to bottom: [[(colour, left, length), ...], ...]."""
    parts_at = {}
    for patch in ax.patches:
        if patch.get_width() > 0:
            height = round(patch.get_y() + patch.get_height() / 2, 6)
            parts_at.setdefault(height, []).append((patch.get_facecolor(), patch.get_x(), patch.get_width()))
    return [sorted(parts, key=lambda part: part[1]) for _, parts in sorted(parts_at.items())]


def class_counts(flags, labels, classes):
    """Count the flagged records of each class."""
    return [int((flags & (np.asarray(labels, object) == label)).sum()) for label in classes]


# Coverage


def test_bars_are_the_class_counts_of_each_rule_fallback_rule_and_the_default_label(mixed):
    clf, frame, labels = mixed
    rules, fallbacks, classes = clf.rule_set_.rules, clf.rule_set_.fallbacks, clf.rule_set_.classes
    uncovered = ~np.any([rule.covers(frame) for rule in rules], axis=0)
    ref = [class_counts(rule.covers(frame), labels, classes) for rule in rules]
    ref_covered = len(frame) - int(uncovered.sum())
    for rule in fallbacks:
        decided = rule.covers(frame) & uncovered
        ref.append(class_counts(decided, labels, classes))
        uncovered &= ~decided
    ref.append(class_counts(uncovered, labels, classes))

    display = CoverageDisplay.from_estimator(clf, frame, labels)
    assert display.counts.tolist() == ref
    assert fallbacks
    shades = [matplotlib.colors.to_rgba(shade) for shade in class_colours(len(classes))]
    for row, own, parts in zip(ref, display.own, bars(display.ax_), strict=True):
        order = [own, *(k for k in range(len(classes)) if k != own)]
        assert parts[0][1] == 0
        assert [(colour, length) for colour, _, length in parts] == [(shades[k], row[k]) for k in order if row[k]]
        assert all(a[1] + a[2] == b[1] for a, b in itertools.pairwise(parts))
    texts = texts_of(display.figure_)
    assert f"At least one rule covers {ref_covered} of {len(frame)} records" in " ".join(texts)
    for row, own in zip(ref, display.own, strict=True):
        assert f" {row[own] / sum(row):.2f} of {sum(row)}" in texts
    assert display.names[0] == f"1. {rules[0]}"
    assert display.names[-1] == f"OTHERWISE {clf.rule_set_.default}"


def test_with_shares_all_bars_have_the_same_length(mixed):
    clf, frame, labels = mixed
    display = CoverageDisplay.from_estimator(clf, frame, labels).plot(shares=True)
    assert [sum(length for _, _, length in parts) for parts in bars(display.ax_)] == pytest.approx(
        [1.0] * len(display.counts)
    )


def test_with_many_classes_a_bar_shows_its_own_class_and_all_others():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 26, 500)
    table = pd.DataFrame({"a": labels + rng.normal(0, 0.5, 500)})
    rules = rule_set([([Interval("a", high=2.5)], 1), ([Interval("a", low=20)], 22)], range(26))
    display = CoverageDisplay.from_rule_set(rules, table, labels)
    for row, own, parts in zip(display.counts, display.own, bars(display.ax_), strict=True):
        assert [length for _, _, length in parts] == [n for n in (row[own], row.sum() - row[own]) if n]
        assert parts[-1][0] == matplotlib.colors.to_rgba(GREY)


def test_shares_close_to_one_or_zero_are_not_shown_as_one_or_zero():
    table = pd.DataFrame({"a": np.arange(2000.0)})
    labels = ["q", *["p"] * 999, *["q"] * 999, "p"]  # all but one below 1000 are p, all but one above are q
    rules = rule_set([([Interval("a", high=999.5)], "p"), ([Interval("a", 999.5, 1998.5)], "p")])
    display = CoverageDisplay.from_rule_set(rules, table, labels)
    assert {" >0.99 of 1,000", " 0.00 of 999", " 1.00 of 1"} <= set(texts_of(display.figure_))
    labels[1000] = "p"
    assert " <0.01 of 999" in texts_of(CoverageDisplay.from_rule_set(rules, table, labels).figure_)
    steps = [{"quality": 0.1, "distance_gain": 0.0, "recall_gain": 0.5}] * 2
    for n, text in ((2000, "final value >99.9%"), (1999, "final value 100%")):
        display = FitPathDisplay._from_history(summarise(rules, table[:n], labels[:n]), steps, 0.5).plot()
        assert text in texts_of(display.figure_)


# Overlap


def test_the_matrix_and_the_combinations_equal_slow_counts(wine):
    rules, classes = wine.rule_set_.rules, wine.rule_set_.classes
    covers = np.array([rule.covers(X) for rule in rules])
    display = OverlapDisplay.from_estimator(wine, X, y)
    n = len(rules)
    ref = [[int((covers[i] & covers[j]).sum()) for j in range(n)] for i in range(n)]
    assert display.shared.tolist() == ref
    agreeing, contradicting = (~np.ma.getmaskarray(image.get_array()) for image in display.ax_.images[-2:])
    for i, j in itertools.product(range(n), range(n)):
        visible = i > j and ref[i][j] > 0
        contradicts = ref[i][j] > 0 and rules[i].label != rules[j].label
        assert agreeing[i, j] == (visible and not contradicts)
        assert contradicting[i, j] == (visible and contradicts)
        assert display.contradictions[i, j] == contradicts
        if visible or i == j:
            assert f"{ref[i][j]}{'×' if contradicts else ''}" in texts_of(display.figure_)

    ref_groups = {}
    for record in range(len(X)):
        group = tuple((np.flatnonzero(covers[:, record]) + 1).tolist())
        if len(group) > 1:
            ref_groups.setdefault(group, [0] * len(classes))[classes.index(y[record])] += 1
    assert {each.rules: list(each.class_counts) for each in display.combinations} == ref_groups
    sizes = [each.n_records for each in display.combinations]
    assert sizes == sorted(sizes, reverse=True)
    assert any(each.contradiction for each in display.combinations)
    assert [sum(part[2] for part in row) for row in bars(display.axes_[2])] == sizes
    members = sorted({j for group in ref_groups for j in group})
    columns = [tuple(members[int(x)] for x in line.get_xdata()) for line in display.axes_[1].lines]
    assert columns == [each.rules for each in display.combinations]
    assert f"two or more rules cover {sum(sizes)} of {len(X)} records" in " ".join(texts_of(display.figure_))


def test_a_note_counts_the_combinations_that_are_not_drawn(wine):
    display = OverlapDisplay.from_estimator(wine, X, y).plot(max_combinations=2)
    rest = display.combinations[2:]
    assert len(display.axes_[1].lines) == 2
    note = f"not drawn: {len(rest)} combinations, {sum(each.n_records for each in rest)} records"
    assert note in " ".join(texts_of(display.figure_))


def test_without_overlap_a_message_is_shown():
    rules = rule_set([([Interval("alcohol", high=13)], 0), ([Interval("alcohol", low=13)], 1)], (0, 1, 2))
    display = OverlapDisplay.from_rule_set(rules, X, y)
    assert display.combinations == []
    assert "No record is covered\nby two or more rules." in texts_of(display.figure_)


def test_many_rules_are_shown_by_number_in_a_figure_of_limited_width():
    for n_rules in (15, 21, 60, 150):
        rng = np.random.default_rng(0)
        table = pd.DataFrame(rng.random((300, 3)), columns=list("abc"))
        rules = [([Interval("abc"[j % 3], low=0.9 * rng.random())], "pq"[j % 2]) for j in range(n_rules)]
        display = OverlapDisplay.from_rule_set(rule_set(rules), table, rng.choice(["p", "q"], 300))
        assert display.figure_.get_size_inches()[0] <= 14
        names = [label.get_text() for label in display.ax_.get_yticklabels()]
        assert all(name.isdecimal() for name in names) == (n_rules > 20)
        assert len(display.rules) == n_rules


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_cells_with_more_shared_records_have_more_contrast(style):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((300, 3)), columns=list("abc"))
    rules = rule_set([([Interval("abc"[j % 3], low=0.9 * rng.random())], "pq"[j % 2]) for j in range(12)])
    with plt.style.context(style):
        images = OverlapDisplay.from_rule_set(rules, table, rng.choice(["p", "q"], 300)).ax_.images[-2:]
        background = np.array(matplotlib.colors.to_rgb(plt.rcParams["axes.facecolor"]))
    for image in images:
        shares = np.unique(np.ma.compressed(image.get_array()))
        contrasts = [np.abs(np.array(image.cmap(image.norm(n))[:3]) - background).sum() for n in shares]
        assert len(contrasts) > 3
        assert contrasts == sorted(contrasts)


# The path of the fit, and the trade-off


def path_point(**values):
    """Return a point of a path with the given values, and others that do not matter."""
    accuracies = ("balanced_accuracy", "accuracy", "auc", "log_loss")
    rest = {"max_statements": None, "max_rules": 5, "diversity": "none", "max_overlap": 0.0, "statements": 4.0}
    rest |= dict.fromkeys(accuracies, 0.9) | {f"{name}_sd": 0.01 for name in accuracies}
    rest |= {"scores": {"balanced_accuracy": 0.9}, "scores_sd": {"balanced_accuracy": 0.01}, "signs": 0.0}
    rest |= {"conditions": 6.0, "rules": 3.0, "fallbacks": 0.0, "overlap": 0.1, "uncovered": 0.1}
    return PathPoint(**rest | values)


def test_the_axes_of_mean_distance_and_overlap_start_at_zero():
    flowers, species = load_iris(return_X_y=True)
    clf = DiverseRuleSetClassifier(random_state=0, max_overlap=0).fit(flowers, species)
    display = FitPathDisplay.from_estimator(clf, flowers, species)
    assert np.nanmin(display.mean_distance) == 1
    assert display.axes_[3].get_ylim() == (0, 1.05)
    for share, high in ((0.0, 1), (0.3, 30)):
        points = [path_point(max_overlap=limit, overlap=share * limit) for limit in (0, 1)]
        low, top = TradeOffDisplay.from_path(DiversityPath(points)).axes_[1].get_xlim()
        assert low == 0
        assert top == pytest.approx(high, rel=0.1)


def test_the_fit_path_equals_a_slow_computation(wine):
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


def test_a_classifier_without_history_raises_an_error():
    baseline = baselines.CN2Classifier().fit(X, y)
    with pytest.raises(TypeError, match=r"clf must have the attribute history_.*got CN2Classifier"):
        FitPathDisplay.from_estimator(baseline, X, y)
    assert CoverageDisplay.from_estimator(baseline, X, y).n_rules == len(baseline.rule_set_)


def test_the_trade_off_display_draws_the_points_of_the_path():
    options = {"max_rules": [1, 3], "max_overlap": [0, 1], "cv": 2}
    clf = DiverseRuleSetClassifier(random_state=0)
    path = diversity_path(clf, X, y, **options)
    measured, existing = TradeOffDisplay.from_estimator(clf, X, y, **options), TradeOffDisplay.from_path(path)
    assert list(measured.path) == list(path)
    for display in (measured, existing):
        left, right = display.axes_
        drawn = [(x, y) for box in left.containers for x, y in zip(*box.lines[0].get_data(), strict=True)]
        order = sorted(path, key=lambda p: (p.max_overlap, p.statements))
        assert drawn == [(p.statements, p.balanced_accuracy) for p in order]
        assert len(right.collections) == 2
    _, axes = plt.subplots(1, 2)
    assert TradeOffDisplay(path).plot(axes).ax_ is axes[0]
    with pytest.raises(TypeError, match="path must be a DiversityPath, got list"):
        TradeOffDisplay.from_path(list(path))
    with pytest.raises(ValueError, match="ax must be 2 axes, got 1"):
        TradeOffDisplay.from_path(path, ax=axes[0])


def test_many_lines_of_a_path_have_a_legend_beside_the_panels_and_an_empty_path_has_none():
    points = [path_point(max_rules=n, max_overlap=share / 10) for n in (1, 3) for share in range(10)]
    left, right = TradeOffDisplay.from_path(DiversityPath(points)).axes_
    assert left.get_legend() is None
    assert len(right.get_legend().get_texts()) == 10
    left, right = TradeOffDisplay.from_path(DiversityPath([])).axes_
    assert left.get_legend() is right.get_legend() is None


# Rectangles


def test_a_rectangle_has_the_bounds_of_the_rule_and_sides_without_bound_are_at_the_edge():
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
def test_listed_numbers_are_lines_and_excluded_numbers_give_the_whole_axis(condition, across):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5], "k": [1, 2, 3, 4]})
    display = RuleDisplay.from_rule_set(rule_set([((condition,), "p")]), frame, list("pqpq"), features=("x", "k"))
    ends = (display.x.low, display.x.high)
    assert [(box.left, box.right) for box in display.boxes] == [span or ends for span in across]


def test_points_are_filled_if_covered_empty_if_only_the_drawn_conditions_hold_and_pale_otherwise(mixed):
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
    pale, empty, filled = display.ax_.collections
    counts = [len(points.get_offsets()) for points in (pale, empty, filled)]
    assert counts == [(~ref_within).sum(), (ref_within & ~ref_covered).sum(), ref_covered.sum()]
    assert min(counts) > 0
    assert empty.get_facecolors().size == 0
    assert display.class_counts.tolist() == [class_counts(ref_covered, labels, clf.rule_set_.classes)]
    assert f"not drawn: AND {rule.conditions[1]}" in " ".join(texts_of(display.figure_))


def _column(frame, name):
    from diverse_rule_sets._input.tables import as_table

    return as_table(frame).column(name)


@st.composite
def tables_and_rules(draw):
    """Generate a small table with columns of every type and missing values, and conditions on two of its columns."""
    n = draw(st.integers(1, 12))
    days = [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=k) for k in range(5)]
    values = {
        "number": st.sampled_from([-1.5, 0.25, 3.0, 7.5, 1e9, np.inf]),
        "whole": st.integers(-2, 4).map(float),
        "word": st.sampled_from(["a", "b", "c", "$d$"]),
        "date": st.sampled_from(days),
    }
    columns = {
        name: draw(st.lists(st.none() | strategy, min_size=n, max_size=n))
        if draw(st.booleans())
        else draw(st.lists(strategy, min_size=n, max_size=n))
        for name, strategy in values.items()
    }
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})

    def condition(name):
        if draw(st.booleans()) and draw(st.booleans()):
            return IsMissing(name)
        if name == "word":
            words = tuple(draw(st.lists(values["word"], min_size=2, max_size=3, unique=True)))
            return draw(st.sampled_from([Equals(name, words[0]), IsIn(name, words), IsNotIn(name, words[:1])]))
        bounds = days if name == "date" else [-2.0, -1.0, 0.0, 0.25, 2.0, 7.0]
        low, high = sorted(draw(st.tuples(st.sampled_from(bounds), st.sampled_from(bounds))))
        both = (low, high, low == high)  # an interval of one value contains it
        return Interval(name, *draw(st.sampled_from([(low, None), (None, high), both])))

    names = draw(st.permutations(list(values)))[:2]
    return frame, names, [condition(name) for name in names[: draw(st.integers(1, 2))]]


@given(tables_and_rules())
def test_a_record_is_inside_a_rectangle_if_and_only_if_it_meets_the_conditions(example):
    frame, names, conditions = example
    rules = rule_set([(conditions, "p")])
    summary = summarise(rules, frame, ["p"] * len(frame))
    display = RuleDisplay._from_summary(summary, [1], tuple(names), 100, np.random.default_rng(0))
    ref = rules[0].covers(frame)[display.records]
    for x, y_, meets in zip(display.x.positions, display.y.positions, ref, strict=True):
        inside = [box.left < x < box.right and box.bottom < y_ < box.top for box in display.boxes]
        around = [box.left <= x <= box.right and box.bottom <= y_ <= box.top for box in display.boxes]
        assert any(around) if meets else not any(inside)


def test_positions_are_values_ticks_of_dates_are_dates_and_missing_values_are_in_the_strip(mixed):
    clf, frame, labels = mixed
    display = RuleDisplay.from_estimator(clf, frame, labels, rule=2, features=["since", "age"])
    ages = frame["age"].to_numpy()[display.records]
    present = ~np.isnan(ages)
    assert display.y.positions[present].tolist() == ages[present].tolist()
    low, high = display.y.strip
    assert ((low < display.y.positions[~present]) & (display.y.positions[~present] < high)).all()
    assert high < np.nanmin(ages)
    display.figure_.canvas.draw()
    assert {"2016", "2018", "2020", "2022"} <= set(texts_of(display.figure_))
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        assert [label.get_text() for label in axis.get_minorticklabels()] == ["missing"]


def test_rules_with_one_condition_several_rules_and_one_feature(wine):
    pair = rule_set(
        [([Interval("ash", high=2.1)], 1), ([Interval("hue", low=1), Interval("ash", low=2.1)], 0)], (0, 1, 2)
    )
    display = RuleDisplay.from_rule_set(pair, X, y)
    assert (display.x.name, display.y.name) == ("ash", "hue")  # the column that the other rule uses
    assert display.boxes == [(1, display.x.low, 2.1, display.y.low, display.y.high)]
    alone = RuleDisplay.from_rule_set(rule_set([([Interval("ash", high=2.1)], 1)], (0, 1, 2)), X, y)
    assert alone.y.name is None
    assert len(set(alone.y.positions.tolist())) == len(X)
    both = RuleDisplay.from_rule_set(pair, X, y, rule=[2, 1])
    assert both.numbers == (2, 1)
    assert {box.number for box in both.boxes} == {1, 2}
    drawable = RuleDisplay.from_estimator(wine, X, y, rule=None, features=["flavanoids", "proline"])
    ref = []
    for number, rule in enumerate(wine.rule_set_, 1):
        used = {c.column for c in rule.conditions}
        if used <= {"flavanoids", "proline"} or used >= {"flavanoids", "proline"}:
            ref.append(number)
    assert drawable.numbers == tuple(ref)
    assert ref


def test_of_many_records_a_random_sample_is_drawn_and_a_note_says_so():
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(20_500, 2)), rng.choice(["p", "q"], 20_500)
    rules = rule_set([([Interval("x0", low=1), Interval("x1", high=0)], "p")])
    display = RuleDisplay.from_rule_set(rules, table, labels)
    assert len(set(display.records.tolist())) == 20_000
    assert "20,000 of 20,500 records are drawn, selected at random" in " ".join(texts_of(display.figure_))
    few, again, other = (
        RuleDisplay.from_rule_set(rules, table, labels, max_points=50, random_state=seed).records.tolist()
        for seed in (1, 1, 2)
    )
    assert few == again != other
    assert display.class_counts.sum() == rules[0].covers(table).sum()  # of all records, drawn or not


def test_rare_categories_share_the_last_position():
    labels = ["p", "q"] * 100
    names = [f"c{k:02}" for k in range(40)]
    table = pd.DataFrame({"c": [names[k % 40] for k in range(200)], "v": np.arange(200.0)})
    rules = rule_set([([IsIn("c", ("c38", "c39")), Interval("v", low=9.5)], "p")])
    display = RuleDisplay.from_rule_set(rules, table, labels)
    assert display.x.names[-1] == "24 others"
    assert '"c38"' in display.x.names
    places = np.rint(display.x.positions)
    names_drawn = [display.x.names[int(place)] for place in places]
    ref = [f'"{table["c"][record]}"' for record in display.records]
    assert all(got in (want, "24 others") for got, want in zip(names_drawn, ref, strict=True))
    assert display.boxes == [(1, 13.5, 15.5, 9.5, display.y.high)]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rule": 99}, ValueError, "rule must be an integer at least 1 and at most"),
        ({"rule": "1"}, TypeError, "rule must be an integer"),
        ({"rule": 0}, ValueError, "rule must be"),
        ({"features": ["ash", "ash"]}, ValueError, "features must be the names of one or two different columns, got"),
        (
            {"features": ["ash", "hue", "proline"]},
            ValueError,
            "features must be the names of one or two different columns",
        ),
        ({"features": 7}, ValueError, "features must be names of columns of X, got 7, which is not a column"),
        (
            {"features": ["ash", "nowhere"]},
            ValueError,
            "features must be names of columns of X, got 'nowhere', which is not a column",
        ),
        ({"max_points": 0}, ValueError, "max_points must be an integer at least 1"),
        ({"ax": "here"}, TypeError, "ax must be matplotlib axes, got str"),
    ],
)
def test_invalid_arguments_raise_errors_that_name_them(wine, options, error, message):
    with pytest.raises(error, match=message):
        RuleDisplay.from_estimator(wine, X, y, **options)


# All displays


@pytest.mark.parametrize("kind", CLASSIFIER_DISPLAYS)
def test_displays_follow_the_conventions_of_scikit_learn(kind, wine):
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
    with pytest.raises(
        TypeError, match=r"clf must be a RuleSet or a fitted classifier of this package.*got GaussianNB"
    ):
        kind.from_estimator(GaussianNB(), X, y)


@pytest.mark.parametrize("kind", RULE_DISPLAYS)
def test_a_rule_set_is_drawn_as_its_classifier_for_pandas_and_polars(kind, wine):
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    displays = [
        kind.from_estimator(wine, X, y),
        kind.from_rule_set(wine.rule_set_, X, y.tolist()),
        kind.from_rule_set(wine.rule_set_, frame, y),
    ]
    assert len({tuple(sorted(texts_of(display.figure_))) for display in displays}) == 1


AWKWARD = ["$x_^{", r"$\frac{1}{0}$", "_hidden", "W" * 150, "年齢" * 40, "возраст\n\t", "<b>&amp;", "%s {0}"]


@pytest.fixture(scope="module")
def awkward():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, len(AWKWARD))), columns=AWKWARD)
    labels = np.array(AWKWARD, object)[(table > 0).to_numpy() @ np.array([1, 2, 4, 0, 0, 0, 0, 0])]
    return DiverseRuleSetClassifier(random_state=0).fit(table, labels), table, labels


@pytest.mark.parametrize("kind", CLASSIFIER_DISPLAYS)
@pytest.mark.parametrize("style", ["dark_background", "classic"])
def test_names_and_labels_are_drawn_literally_in_all_styles(kind, style, awkward):
    clf, table, labels = awkward
    with plt.style.context(style):
        display = kind.from_estimator(clf, table, labels)
        display.figure_.canvas.draw()  # invalid formulas raise errors, missing glyphs raise warnings
        text_colours = {text.get_color() for text in display.ax_.get_yticklabels()}
        assert text_colours <= {plt.rcParams["ytick.color"], plt.rcParams["text.color"]}
    dollars = [text for text in display.figure_.findobj(Text) if "$" in text.get_text()]
    assert all(not text.get_parse_math() for text in dollars)
    if kind is not OverlapDisplay:
        legend = display.figure_.legends[0]
        assert "_hidden" in [text.get_text() for text in legend.get_texts()]


HOSTILE = ["\ud800", "\u202eabc\u200f", "<img src=x onerror=alert(1)>", "a\r\nb", "\x00", "", "\u05e9\u05dd", "😀" * 60]


@pytest.mark.parametrize("kind", CLASSIFIER_DISPLAYS)
@pytest.mark.parametrize("n_classes", [2, 8])
def test_unusual_names_values_and_labels_are_drawn_as_visible_text(kind, n_classes):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 8)), columns=pd.Index(HOSTILE, dtype=object))
    table["word"] = pd.Series(rng.choice(np.array(HOSTILE, object), 200), dtype=object)
    labels = rng.choice(np.array(HOSTILE[:n_classes], object), 200)
    rules = [
        ([Interval(name, low=-0.5), IsIn("word", (name, "a"))], HOSTILE[k % n_classes])
        for k, name in enumerate(HOSTILE)
    ]
    rules = rule_set(rules, sorted(HOSTILE[:n_classes]))
    if kind is FitPathDisplay:
        steps = [{"quality": 0.1, "distance_gain": 0.5, "recall_gain": 0.1}] * len(rules)
        displays = [kind._from_history(summarise(rules, table, labels), steps, 0.5).plot()]
    elif kind is RuleDisplay:
        pairs = enumerate(HOSTILE, 1)
        displays = [kind.from_rule_set(rules, table, labels, rule=j, features=[name, "word"]) for j, name in pairs]
    else:
        displays = [kind.from_rule_set(rules, table, labels)]
    for display in displays:
        display.figure_.canvas.draw()
        for text in texts_of(display.figure_):
            assert text.replace("\n", "").replace("\u200e", "").isprintable(), ascii(text)
            text.encode("utf8")


def test_a_hebrew_name_does_not_change_the_order_of_the_text():
    name, mark = "\u05e9\u05dd \u05d0\u05e8\u05d5\u05da", "\u200e"
    assert left_to_right(f"IF {name} > -0.5") == f"IF {name}{mark} > -0.5"
    assert left_to_right(name) == name + mark
    assert left_to_right("IF ab > -0.5 AND é <= 1") == "IF ab > -0.5 AND é <= 1"
    table = pd.DataFrame({name: np.arange(10.0)})
    rules = rule_set([([Interval(name, low=4.5)], "p")])
    for kind in (CoverageDisplay, OverlapDisplay, RuleDisplay):
        texts = texts_of(kind.from_rule_set(rules, table, ["p", "q"] * 5).figure_)
        assert any(f"{name}{mark} > 4.5" in text for text in texts)


def small_set(n_rules):
    """Return overlapping rules of one condition, a table and labels."""
    table = pd.DataFrame({"a": np.linspace(0, 1, 121), "b": np.tile([0.0, 1.0, 2.0], 41)[:121]})
    rules = [([Interval("a", j / 60, (j + 1.5) / 60)], "pq"[j % 2]) for j in range(n_rules)]
    return rule_set(rules, fallbacks=rules[:15]), table, ["p", "q"] * 60 + ["p"]


@pytest.mark.parametrize("kind", RULE_DISPLAYS)
@pytest.mark.parametrize("n_rules", [0, 1, 60])
def test_few_and_many_rules_and_one_record(kind, n_rules):
    rules, table, labels = small_set(n_rules)
    display = kind.from_rule_set(rules, table, labels)
    display.figure_.draw_without_rendering()
    kind.from_rule_set(rules, table[:1], labels[:1]).figure_.draw_without_rendering()
    box = display.figure_.get_tightbbox()
    width, height = display.figure_.get_size_inches()
    assert box.x0 >= -0.01
    assert box.y0 >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01


def long_text_set(n_rules):
    """Return rules with long categories and labels, a table and labels."""
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


def draw_long_texts(kind, n_rules):
    """Return a figure of the display with rules that have long texts."""
    rules, table, labels = long_text_set(n_rules)
    if kind is FitPathDisplay:
        steps = [{"quality": 0.1, "distance_gain": 0.9 * j, "recall_gain": 1 / n_rules} for j in range(n_rules)]
        return kind._from_history(summarise(rules, table, labels), steps, 0.5).plot().figure_
    if kind is TradeOffDisplay:
        values = itertools.product((1, n_rules), (0.0, 0.01, 0.1), ("none", "low", "high")[: 1 + n_rules // 20])
        points = [
            path_point(max_rules=n, max_overlap=share, diversity=word, statements=n + 1.0, overlap=share / 3)
            for n, share, word in values
        ]
        return kind.from_path(DiversityPath(points)).figure_
    return kind.from_rule_set(rules, table, labels).figure_


def visible_texts(figure):
    """Return the visible texts. matplotlib also keeps the labels of ticks outside the limits of an axis."""
    hidden = set()
    for ax in figure.findobj(matplotlib.axes.Axes):
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if not ax.axison or not low <= tick.get_loc() <= high:
                    hidden |= {tick.label1, tick.label2}
            if not ax.axison:
                hidden.add(axis.label)
    texts = (text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip())
    return [text for text in texts if text not in hidden]


@pytest.mark.parametrize("kind", [*CLASSIFIER_DISPLAYS, TradeOffDisplay])
@pytest.mark.parametrize("n_rules", [17, 60])
def test_no_text_is_cut_off_at_any_resolution(kind, n_rules):
    for dpi in (70, 100, 200):
        figure = draw_long_texts(kind, n_rules)  # a new figure: drawing twice would correct small errors of the layout
        figure.set_dpi(dpi)
        figure.draw_without_rendering()
        texts = visible_texts(figure)
        assert len(texts) > 10
        for text in texts:
            box = text.get_window_extent()
            inside = box.x0 > -1 and box.y0 > -1 and box.x1 < figure.bbox.width + 1 and box.y1 < figure.bbox.height + 1
            assert inside, (dpi, text.get_text(), box.extents, figure.bbox.extents)
        plt.close(figure)


@pytest.mark.parametrize("kind", CLASSIFIER_DISPLAYS)
@pytest.mark.parametrize("n_classes", [9, 30])
@pytest.mark.filterwarnings("ignore:y has fewer than min_support")
def test_nine_and_thirty_classes_of_different_sizes(kind, n_classes):
    rng = np.random.default_rng(0)
    shares = np.r_[0.9, np.full(n_classes - 1, 0.1 / (n_classes - 1))]
    labels = np.r_[np.arange(n_classes), rng.choice(n_classes, 1000, p=shares)]
    table = pd.DataFrame({"u": labels + rng.normal(0, 0.3, labels.size), "w": rng.normal(size=labels.size)})
    clf = DiverseRuleSetClassifier(random_state=0).fit(table, labels)
    kind.from_estimator(clf, table, labels).figure_.draw_without_rendering()


def test_a_classifier_without_rules_can_be_drawn():
    clf = DiverseRuleSetClassifier(max_rules=0).fit(X, y)
    for kind in CLASSIFIER_DISPLAYS:
        kind.from_estimator(clf, X, y).figure_.draw_without_rendering()
    assert "There are no rules." in texts_of(FitPathDisplay.from_estimator(clf, X, y).figure_)


# Representation


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (CoverageDisplay, "<CoverageDisplay: {rules} rules, {fallbacks} fallback rules, 178 records>"),
        (OverlapDisplay, "<OverlapDisplay: {rules} rules, {combinations} combinations, 178 records>"),
        (RuleDisplay, "<RuleDisplay: rule 1 on {x} and {y}, 178 records>"),
        (FitPathDisplay, "<FitPathDisplay: {rules} rules, objective {objective:.4g}, coverage {coverage:.1%}>"),
    ],
)
def test_the_representation_of_a_display_is_one_short_line(wine, kind, text):
    display = kind.from_estimator(wine, X, y)
    overlap, rule = OverlapDisplay.from_estimator(wine, X, y), RuleDisplay.from_estimator(wine, X, y)
    values = {
        "rules": len(wine.rule_set_),
        "fallbacks": len(wine.rule_set_.fallbacks),
        "combinations": len(overlap.combinations),
        "x": rule.x.name,
        "y": rule.y.name,
        "objective": wine.objective_,
        "coverage": wine.rule_set_.covers(X).any(axis=1).mean(),
    }
    assert repr(display) == text.format(**values)


def test_the_representation_of_displays_of_paths_and_without_rules_is_one_line(awkward):
    assert repr(TradeOffDisplay.from_path(DiversityPath([]))) == "<TradeOffDisplay: 0 points>"
    clf = DiverseRuleSetClassifier(max_rules=0).fit(X, y)
    assert repr(FitPathDisplay.from_estimator(clf, X, y)) == "<FitPathDisplay: 0 rules>"
    clf, table, labels = awkward
    for rule in range(1, len(clf.rule_set_) + 1):
        display = RuleDisplay.from_estimator(clf, table, labels, rule=rule)
        for shown in (repr(display), repr(display.x)):
            assert "\n" not in shown
            assert len(shown) < 250
    assert "array" not in repr(display.x)


def test_the_representation_of_an_axis_names_a_column_of_points_as_rules_do():
    clf = DiverseRuleSetClassifier(random_state=0, max_signs=6).fit(X, y)
    display = RuleDisplay.from_estimator(clf, X, y, rule=1)
    assert str(display.x.name) == "most points"
    assert repr(display.x).startswith("<AxisScale: most points, 178 positions from ")
    assert repr(display) == f"<RuleDisplay: rule 1 on most points and {display.y.name}, 178 records>"


def test_no_two_rules_next_to_the_bars_or_cells_overlap():
    for kind in (CoverageDisplay, OverlapDisplay):
        figure = draw_long_texts(kind, 17)
        figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
        boxes = sorted((box.y0, box.y1) for box in boxes)
        assert all(below[1] <= above[0] + 1 for below, above in itertools.pairwise(boxes))


# Text layout


@given(st.lists(st.text("abcWx_ 1", max_size=6), min_size=1, max_size=8), st.integers(7, 40), st.booleans())
def test_shortened_names_stay_distinct(parts, width, spaced):
    gap = " " if spaced else ""
    names = tuple(f"a name that begins{gap}{part}{gap}and ends as all of the others do" for part in parts)
    short = distinct_names((*names, "short"), width)
    assert len(set(short.values())) == len({*names, "short"})
    assert all(width_of(text) <= width for text in short.values())
    assert short["short"] == "short"


def test_the_different_part_of_names_is_kept():
    names = tuple(f"mean temperature of sensor_{k}_in the hall" for k in (1, 2, 12))
    assert [text.split("…")[1] for text in distinct_names(names, 24).values()] == ["1", "2", "12"]


@pytest.mark.parametrize("kind", RULE_DISPLAYS)
def test_long_columns_and_labels_that_start_and_end_alike_stay_distinct(kind):
    names = [f"a very long column name of sensor {k} in the hall of something" for k in range(6)]
    classes = [f"a class with a rather long name, the {word}, that ends alike" for word in ("first", "other")]
    table = pd.DataFrame(np.random.default_rng(0).random((60, 6)), columns=names)
    rules = rule_set([([Interval(name, 0.123456, 0.987654)], classes[k % 2]) for k, name in enumerate(names)], classes)
    options = {"rule": None, "features": names[:2]} if kind is RuleDisplay else {}
    display = kind.from_rule_set(rules, table, classes * 30, **options)
    entries = [text.get_text() for legend in display.figure_.legends for text in legend.get_texts()]
    assert any("first" in name for name in entries)
    assert any("other" in name for name in entries)
    if kind is not RuleDisplay:
        rows = [label.get_text().replace("\n", " ") for label in display.ax_.get_yticklabels()][:6]
        bodies = ["IF".join(text.split(".", 1)[1].split("IF")).split(" THEN ")[0] for text in rows]
        assert len(set(bodies)) == 6


@given(st.text(min_size=1), st.integers(4, 40))
def test_shorten_and_wrap_do_not_exceed_the_width(text, width):
    assert width_of(shorten(text, width)) <= width
    assert all(width_of(line) <= width for line in wrap(text, width).split("\n"))
    assert wrap(text, width).replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")


@given(st.lists(st.text("abc <=9", min_size=1, max_size=60), min_size=1, max_size=6), st.integers(30, 120))
def test_joined_conditions_do_not_exceed_the_width_and_omitted_ones_are_counted(conditions, width):
    text = join_conditions(conditions, width)
    assert width_of(text) <= width
    if sum(map(len, conditions)) + 5 * (len(conditions) - 1) <= width:
        assert text == " AND ".join(conditions)
    n_parts = text.count(" AND ") + 1
    assert n_parts >= len(conditions) or text.endswith(f" AND {len(conditions) - n_parts + 1} more")


def test_the_text_of_a_rule():
    rule = Rule((Interval("age", 37, 60), Equals("sex", "F")), "yes")
    assert rule_text(3, rule, 80) == f"3. {rule}"
    assert rule_text(3, rule, 80, 25) == '3. IF 37 < age <= 60\nAND sex = "F" THEN yes'
    assert rule_text(1, Rule((), "no"), 80) == "1. IF anything THEN no"


def test_letters_without_a_font_are_written_as_python_escapes():
    assert escape_missing("plain $x$ Ωж") == "plain $x$ Ωж"
    assert escape_missing("a\U000f0000b") == r"a\U000f0000b"  # private use: no font contains it


# Imports


def test_importing_the_report_imports_no_matplotlib():
    code = "import sys; from diverse_rule_sets import report; print(sorted(report.__all__) == report.__all__, "
    code += "[name for name in ('matplotlib', 'jinja2') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True []"


def test_without_matplotlib_the_error_names_the_extra(wine, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for kind in CLASSIFIER_DISPLAYS:
        with pytest.raises(ImportError, match=r"pip install 'diverse-rule-sets\[report\]'"):
            kind.from_estimator(wine, X, y)


def test_a_rule_set_that_was_changed_after_fit_raises_an_error():
    X, y = load_iris(return_X_y=True)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    clf.rule_set_ = clf.rule_set_.without_rule(1, X, y)
    with pytest.raises(ValueError, match="rule_set_ was changed"):
        FitPathDisplay.from_estimator(clf, X, y)
