"""The HTML table for notebooks: training figures, escaped text, no scripts, readable on light and dark themes."""

import re
from html.parser import HTMLParser

import pytest

from browser import contrast
from diverse_rule_sets import Equals, Interval, Rule, RuleSet
from diverse_rule_sets.model._notebook import COLOURS

VOID = {"br"}


class Reader(HTMLParser):
    """The text and the tags of some HTML; an element that is not closed, or closed twice, is an error."""

    def __init__(self, source):
        super().__init__()
        self.open, self.tags, self.cells, self.styles = [], [], [], ""
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "p", "summary"):
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            self.styles += data
        elif self.cells and not {"title", "th"} & set(self.open):
            self.cells[-1] += data


def a_set(**changes):
    values = {
        "rules": (
            Rule((Interval("age", 37), Equals("sex", "F")), "good", (("bad", 1), ("good", 9))),
            Rule((Interval("age", high=37),), "bad", (("bad", 30), ("good", 10))),
        ),
        "classes": ("bad", "good"),
        "default": "bad",
        "class_totals": (60, 40),
        "uncovered_counts": (29, 21),
        "fallbacks": (Rule((Interval("age", 37),), "good", (("bad", 5), ("good", 20))),),
    }
    return RuleSet(**(values | changes))


def test_rules_fallback_rules_and_default_label_with_their_figures():
    read = Reader(a_set()._repr_html_())
    assert read.cells[0] == "badgood"  # the legend, next to the colours
    assert read.cells[1:6] == ["1", 'age > 37 AND sex = "F"', "good", "90%", "1010%"]
    assert read.cells[6:11] == ["2", "age <= 37", "bad", "75%", "4040%"]
    assert read.cells[11] == (
        "1 fallback rule: if no rule covers a record (50 of 100), the first one that covers it decides"
    )
    assert read.cells[12:17] == ["3", "age > 37", "good", "80%", "2525%"]
    assert read.cells[17] == "OTHERWISE bad (default label of 25 records: 24 bad, 1 good)"
    assert read.cells[18] == (
        "If several rules cover a record, the one with the highest precision decides. "
        "All figures are for the training records."
    )
    assert len(read.cells) == 19
    bars = [tag for tag in read.tags if tag[0] == "rect"]
    assert [swatch["fill"] for _, swatch in bars[:2]] == list(COLOURS[:2])
    bars = bars[2:]
    assert [(bar["x"], bar["width"], bar["fill"]) for _, bar in bars[:2]] == [
        ("0.00%", "90.00%", COLOURS[1]),
        ("90.00%", "10.00%", COLOURS[0]),
    ]


def test_it_has_no_scripts_and_styles_only_itself():
    read = Reader(a_set()._repr_html_())
    names = {tag for tag, _ in read.tags}
    assert not names & {"script", "link", "img", "iframe"}
    me, *others = read.tags[0][1]["class"].split()
    assert others == ["tex2jax_ignore", "mathjax_ignore"]  # so that a $ in a name starts no formula
    selectors = [part.strip() for part in re.findall(r"([^{}]+)\{", read.styles) for part in part.split(",")]
    assert selectors
    assert all(selector.startswith(f".{me}") for selector in selectors)
    assert a_set()._repr_html_() == a_set()._repr_html_()
    assert Reader(a_set(default="good")._repr_html_()).tags[0][1]["class"].split()[0] != me


def test_html_in_names_and_values_is_escaped():
    bad = "</style></td><script>alert(1)</script>\"'&amp;"
    rules = (Rule((Equals(bad, bad),), bad, ((bad, 2), ("good", 1))),)
    read = Reader(a_set(rules=rules, classes=(bad, "good"), default=bad, fallbacks=())._repr_html_())
    assert not {"script"} & {tag for tag, _ in read.tags}
    assert read.cells[3] == bad
    assert "alert(1)" in read.cells[2]
    titles = [attributes for tag, attributes in read.tags if tag == "svg" and "aria-label" in attributes]
    assert bad in titles[0]["aria-label"]


def test_many_rules_many_classes_and_no_rules():
    many = a_set(rules=a_set().rules * 100)._repr_html_()
    assert "and 100 more; print the rule set" in many
    classes = tuple(f"c{k}" for k in range(26))
    rules = (Rule((), "c3", tuple((label, 1) for label in classes)),)
    read = Reader(RuleSet(rules, classes, "c0", (1,) * 26, (0,) * 26)._repr_html_())
    assert {bar["fill"] for tag, bar in read.tags if tag == "rect"} == {COLOURS[0]}
    assert read.cells[:3] == ["the label of the ruleall other classes", "1", "anything"]
    solid = ["fill-opacity" not in bar for tag, bar in read.tags if tag == "rect"]
    assert solid == [True, False, True] + [False] * 25  # the legend, then the bar
    empty = Reader(RuleSet((), ("a", "b"), "a", (2, 1), (2, 1))._repr_html_())
    assert empty.cells == ["OTHERWISE a (default label of 3 records: 2 a, 1 b)"]
    uncounted = Reader(a_set(rules=(Rule((Interval("age", 37),), "good"),))._repr_html_())
    assert uncounted.cells[4:6] == ["–", "00%"]


def test_shares_are_not_rounded_to_0_or_100_percent():
    counts = ((("bad", 4_521), ("good", 2)), (("bad", 0), ("good", 9)))
    rules = tuple(Rule((Interval("age", 37),), label, n) for label, n in zip(("bad", "good"), counts, strict=True))
    read = Reader(a_set(rules=rules, class_totals=(12_000, 8_000), fallbacks=())._repr_html_())
    assert (read.cells[4], read.cells[5]) == (">99.9%", "4,52322.6%")
    assert (read.cells[9], read.cells[10]) == ("100%", "9<0.1%")


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (None, ""),
        ((1.0, 1.05), ""),
        (
            (1 / 60, 1 / 40),
            "All classes have the same total weight: "
            "the label of a rule is the class that is unusually frequent in it.",
        ),
        ((1.0, 5.0), "Weight of a record by class: bad 1, good 5."),
    ],
)
def test_the_sentence_about_class_weights_is_the_one_that_is_printed(weights, text):
    rules = a_set(class_weights=weights)
    last = Reader(rules._repr_html_()).cells[-1]
    assert (last == str(rules).split("\n")[-1]) == bool(text)
    assert text in last


@pytest.mark.parametrize("background", ["#ffffff", "#111111"])
def test_colours_have_contrast_on_white_and_on_black(background):
    assert min(contrast(colour, background) for colour in COLOURS) >= 3
