"""The colours of classes: the same in all pictures, and readable for everybody on light and on dark backgrounds."""

import itertools
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from browser import contrast
from diverse_rule_sets import Interval, Rule, RuleSet
from diverse_rule_sets._util.colours import (
    GREY,
    MAX_DISTINCT,
    class_colour,
    class_colours,
    some_class_colours,
    text_colour_on,
)
from diverse_rule_sets.report import CoverageDisplay, FitPathDisplay, OverlapDisplay, RuleDisplay, html
from diverse_rule_sets.report._summary import summarise

matplotlib.use("Agg")
ALL = [*class_colours(60), GREY]
# White; the dark backgrounds of the report page, of JupyterLab (with its striped rows) and of matplotlib.
BACKGROUNDS = ["#ffffff", "#1b1d20", "#111111", "#212121", "#000000"]
# Colours as people with full dichromacy see them, in linear RGB (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
WHITE = [0.95047, 1.0, 1.08883]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def lab(colour, vision):
    """Return a colour in CIELAB, where distances are about those that people see."""
    shares = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    x, y, z = np.array(TO_XYZ) @ np.clip(np.array(VISION[vision]) @ linear, 0, 1) / WHITE
    a, b, c = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z))
    return np.array([116 * b - 16, 500 * (a - b), 200 * (b - c)])


def smallest_distance(colours, vision):
    points = [lab(colour, vision) for colour in colours]
    return min(np.linalg.norm(one - other) for one, other in itertools.combinations(points, 2))


@pytest.mark.parametrize(
    ("vision", "limit"), [("normal", 30), ("protanopia", 10), ("deuteranopia", 10), ("tritanopia", 10)]
)
def test_ten_classes_and_grey_can_be_distinguished_also_by_colour_blind_readers(vision, limit):
    assert MAX_DISTINCT == 10
    assert smallest_distance([*class_colours(MAX_DISTINCT), GREY], vision) >= limit


def test_distances_of_similar_colours_are_small():
    assert smallest_distance(["#ff0000", "#fe0000"], "normal") < 2
    assert (
        smallest_distance(["#1f83c7", "#7d79d3"], "deuteranopia")
        < 10
        < smallest_distance(["#1f83c7", "#7d79d3"], "normal")
    )


def test_sixty_classes_have_different_colours_and_further_ones_start_again():
    assert len(set(ALL)) == 61
    assert smallest_distance(class_colours(60), "normal") > 2
    assert class_colours(12) == class_colours(60)[:12]
    assert class_colour(60) == class_colour(0)


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_colours_have_contrast_on_light_and_dark_backgrounds(background):
    assert min(contrast(colour, background) for colour in ALL) >= 3


@pytest.mark.parametrize("colour", [*ALL, "#000000", "#ffffff", "#767676"])
def test_text_on_a_colour_is_legible(colour):
    codes = {"black": "#000000", "white": "#ffffff"}
    chosen = text_colour_on(colour)
    assert contrast(colour, codes[chosen]) == max(contrast(colour, code) for code in codes.values())
    assert contrast(colour, codes[chosen]) >= 4.5
    assert text_colour_on(matplotlib.colors.to_rgba(colour)) == chosen


def test_of_many_classes_without_names_next_to_them_only_the_first_preferred_have_a_colour():
    assert some_class_colours(10, []) == (class_colours(10), False)
    shades, others = some_class_colours(26, [4, 4, 7, *range(8, 26)])
    assert others
    coloured = [k for k, shade in enumerate(shades) if shade != GREY]
    assert coloured == [4, *range(7, 15)]
    assert [shades[k] for k in coloured] == [class_colour(k) for k in coloured]


# The same colours everywhere


def a_model(n_classes):
    """Return rules, one for each class, that overlap and cover records of all classes; records; labels."""
    rng = np.random.default_rng(0)
    classes = tuple(f"class {k:02}" for k in range(n_classes))
    codes = np.arange(40 * n_classes) % n_classes
    X = pd.DataFrame({"a": codes + rng.normal(0, 2, codes.size), "b": rng.normal(size=codes.size)})
    rules = [Rule((Interval("a", k - 2.5, k + 2.5), Interval("b", low=-1.0)), classes[k]) for k in range(n_classes)]
    rules.append(Rule((Interval("a", -1.5, 0.5),), classes[0]))  # overlaps with a rule of the same class
    zeros = (0,) * n_classes
    return (
        RuleSet(tuple(rules), classes, classes[0], zeros, zeros).evaluated(X, np.array(classes)[codes]),
        X,
        np.array(classes)[codes],
    )


def faces(artists):
    return {to_hex(artist.get_facecolor()) for artist in artists if artist.get_width()}


def drawn_legend(figure, classes):
    """Return the colour of each class in the legend of a figure."""
    legend = figure.legends[0]
    pairs = zip(legend.get_texts(), legend.legend_handles, strict=True)
    return {text.get_text(): to_hex(handle.get_facecolor()) for text, handle in pairs if text.get_text() in classes}


@pytest.mark.parametrize("n_classes", [2, 3, 9, 10])
def test_a_class_has_the_same_colour_in_notebook_page_and_plots(n_classes):
    rules, X, y = a_model(n_classes)
    expected = dict(zip(rules.classes, class_colours(n_classes), strict=True))

    notebook = rules._repr_html_()
    labels = re.findall(r'<svg aria-hidden="true"><rect [^>]*fill="(.*?)"/></svg><bdi>(.*?)</bdi>', notebook)
    assert {name: colour for colour, name in labels} == expected
    assert set(re.findall(r'fill="(.*?)"', notebook)) == set(expected.values())
    for rule in rules:
        label = re.search(r'fill="([^"]*)"/></svg><bdi>(class \d\d)</bdi>', rule._repr_html_())
        assert expected[label.group(2)] == label.group(1)

    page = html(rules, X, y)
    styles = dict(re.findall(r"\.c(\d+) { fill: (#\w+); background: \2; }", page))
    assert {rules.classes[int(k)]: colour for k, colour in styles.items()} == expected
    swatches = re.findall(r'<i class="swatch c(\d+)" aria-hidden="true"></i><bdi>(.*?)</bdi>', page)
    assert {(rules.classes[int(k)] == name) for k, name in swatches} == {True}

    coverage, overlap = CoverageDisplay.from_rule_set(rules, X, y), OverlapDisplay.from_rule_set(rules, X, y)
    drawn = RuleDisplay.from_rule_set(rules, X, y, rule=range(1, n_classes + 1), features=["a", "b"])
    steps = [{"quality": 0.1, "distance_gain": 0.1 * j, "recall_gain": 0.1} for j in range(len(rules))]
    path = FitPathDisplay._from_history(summarise(rules, X, y), steps, 0.5).plot()
    for display in (coverage, overlap, drawn, path):
        assert drawn_legend(display.figure_, rules.classes) == expected
    for bar, rule in zip(coverage.ax_.patches[:: len(coverage.own)], rules.classes, strict=True):
        assert to_hex(bar.get_facecolor()) == expected[rule]
    assert faces(coverage.ax_.patches) == faces(overlap.axes_[2].patches) == set(expected.values())
    points = [points for points in drawn.ax_.collections if points.get_facecolors().size]
    assert {to_hex(face) for each in points for face in each.get_facecolors()} == set(expected.values())
    frames = [patch for patch in drawn.ax_.patches if not patch.get_fill()]
    assert [to_hex(frame.get_edgecolor()) for frame in frames] == [expected[rule.label] for rule in drawn.rules]
    for panel in (path.axes_[2], path.axes_[4]):
        assert [to_hex(bar.get_facecolor()) for bar in panel.patches] == [expected[rule.label] for rule in rules]
    assert [to_hex(face) for face in path.axes_[3].collections[0].get_facecolors()] == [
        expected[rule.label] for rule in rules
    ]


@pytest.mark.parametrize("n_classes", [11, 30])
def test_of_many_classes_the_label_of_a_rule_has_its_colour_and_others_are_grey(n_classes):
    rules, X, y = a_model(n_classes)
    expected = dict(zip(rules.classes, class_colours(n_classes), strict=True))
    rows = rules._repr_html_().split("<tbody>")[1].split("</tr>")[: len(rules)]
    for rule, row in zip(rules, rows, strict=True):
        swatch, *bar = re.findall(r'fill="(.*?)"', row)
        assert swatch == expected[rule.label]
        assert bar == [expected[rule.label], GREY]

    page = html(rules, X, y)
    assert dict(re.findall(r"\.(c\d+|rest) { fill: (#\w+);", page)) == {
        **{f"c{k}": colour for k, colour in enumerate(class_colours(n_classes))},
        "rest": GREY,
    }
    for rule, row in zip(rules, page.split('<tbody class="rule"')[1:], strict=False):
        own, *others = re.findall(r'<rect class="(c\d+|rest)"', row.split("</tbody>")[0])
        assert own == f"c{rules.classes.index(rule.label)}"
        assert set(others) == {"rest"}

    coverage = CoverageDisplay.from_rule_set(rules, X, y)
    for bar, label in zip(coverage.ax_.patches, rules.classes, strict=False):
        assert to_hex(bar.get_facecolor()) == expected[label]
    assert GREY in faces(coverage.ax_.patches)
    drawn = RuleDisplay.from_rule_set(rules, X, y, rule=[11, 5])
    frames = [patch for patch in drawn.ax_.patches if not patch.get_fill()]
    assert {to_hex(frame.get_edgecolor()) for frame in frames} == {class_colour(10), class_colour(4)}
    colours = {to_hex(face) for each in drawn.ax_.collections for face in each.get_facecolors()}
    assert colours <= {*class_colours(n_classes), GREY}
    assert len(colours) == MAX_DISTINCT


def test_shades_of_the_objective_are_not_the_colours_of_classes():
    rules, X, y = a_model(3)
    steps = [{"quality": 0.1, "distance_gain": 0.1 * j, "recall_gain": 0.1} for j in range(len(rules))]
    path = FitPathDisplay._from_history(summarise(rules, X, y), steps, 0.5).plot()
    assert not faces(path.axes_[0].patches) & set(class_colours(3))
    assert to_hex(path.axes_[1].lines[-1].get_color()) not in class_colours(60)
