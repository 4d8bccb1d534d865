"""What notebooks show: training figures, escaped text, no scripts, readable in Jupyter on light and dark themes."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from diverse_rule_sets import Equals, Interval, IsIn, Progress, Rule, RuleSet
from diverse_rule_sets._util.colours import GREY, class_colour

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
    bad, good = class_colour(0), class_colour(1)
    rects = [attributes for tag, attributes in read.tags if tag == "rect"]
    assert [swatch["fill"] for swatch in rects[:3]] == [bad, good, good]  # the legend, the label of the first rule
    assert [(bar["x"], bar["width"], bar["height"], bar["fill"]) for bar in rects[3:5]] == [
        ("0.00%", "90.00%", "100%", good),
        ("90.00%", "10.00%", "50%", bad),
    ]


def test_it_has_no_scripts_and_styles_only_itself():
    read = Reader(a_set()._repr_html_())
    names = {tag for tag, _ in read.tags}
    assert not names & {"script", "link", "img", "iframe"}
    me, *others = read.tags[0][1]["class"].split()
    assert others == ["tex2jax_ignore", "mathjax_ignore"]  # so that a $ in a name starts no formula
    rules = re.sub(r"@media \(.*?\) \{(.*)\}", r"\1", read.styles, flags=re.DOTALL)
    selectors = [part.strip() for part in re.findall(r"([^{}]+)\{", rules) for part in part.split(",")]
    assert selectors
    assert all(selector.startswith(f".{me}.{me}") for selector in selectors)
    names = {name for _, attributes in read.tags[1:] for name in attributes.get("class", "").split()}
    assert names
    assert all(name.startswith("drs-") for name in names)  # no name that the notebook has a style for
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
    note = "In the bars the label of the rule has its colour, and all other classes are grey."
    assert read.cells[:3] == [note, "1", "anything"]
    rects = [(rect["fill"], rect["width"]) for tag, rect in read.tags if tag == "rect"]
    own = class_colour(3)
    assert rects == [(own, "100%"), (own, "3.85%"), (GREY, "96.15%"), (class_colour(0), "100%")]  # label, bar, default
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
            "Precision counts records as they are. Balanced figures and the labels of rules treat all classes as "
            "equally frequent: in the data, a rare class is less likely.",
        ),
        (
            (1.0, 5.0),
            "Weighted figures and the labels of rules count every record by the weight of its class: bad 1, good 5.",
        ),
    ],
)
def test_the_sentence_about_class_weights_is_the_one_that_is_printed(weights, text):
    rules = a_set(class_weights=weights)
    last = Reader(rules._repr_html_()).cells[-1]
    assert (last == str(rules).split("\n")[-1]) == bool(text)
    assert text in last


# One rule, and other objects that end a cell of a notebook


def test_a_rule_is_shown_as_one_line_of_text_and_as_html():
    rule = a_set()[0]
    assert repr(rule) == '<Rule: IF age > 37 AND sex = "F" THEN good>'
    assert repr([rule, Rule((), 1)]) == f"[{rule!r}, <Rule: IF anything THEN 1>]"
    assert "\n" not in repr(Rule((Equals("a\nb", "c\nd"),), "e\nf"))
    read = Reader(rule._repr_html_())
    assert read.cells == [
        'IF age > 37 AND sex = "F" THEN good',
        "precision 90%, covers 10 training records: 9 good, 1 bad",
    ]
    rects = [(rect["fill"], rect["width"]) for tag, rect in read.tags if tag == "rect"]
    assert rects == [(class_colour(1), "100%"), (class_colour(1), "90.00%"), (class_colour(0), "10.00%")]
    parsed = Reader(Rule.parse("IF age > 37 THEN good")._repr_html_())
    assert parsed.cells == ["IF age > 37 THEN good"]  # no counts, so no classes and no bar
    assert not [tag for tag, _ in parsed.tags if tag == "rect"]


def test_html_in_a_rule_is_escaped():
    bad = "</style><script>alert(1)</script>\"'&amp;"
    read = Reader(Rule((Equals(bad, bad),), bad, ((bad, 2), ("good", 1)))._repr_html_())
    assert "script" not in {tag for tag, _ in read.tags}
    assert read.cells[0].endswith(f"THEN {bad}")


@pytest.mark.parametrize("name", ["\ud800", "\u202eabc", "a\nb", "", "$x$", "<b>", "\x00", "x" * 500])
def test_unusual_names_are_readable_and_can_be_encoded(name):
    rule = Rule((Equals(name, name), IsIn("b", (name, "z"))), name, ((name, 2), ("good", 1)))
    for source in (
        rule._repr_html_(),
        a_set(rules=(rule,), fallbacks=(), classes=(name, "good"), default=name)._repr_html_(),
    ):
        source.encode("utf8")  # a notebook is stored as UTF-8
        text = "".join(Reader(source).cells)
        assert text.isprintable()
        assert "\u202e" not in source
    repr(rule).encode("utf8")
    assert repr(rule).isprintable()


HEBREW = "\u05e9\u05dd"


def test_conditions_and_counts_are_written_from_left_to_right(browser, tmp_path):
    rule = Rule((Interval(HEBREW, low=-0.5),), HEBREW, (("good", 13), (HEBREW, 11)))
    browser.open(in_notebook(rule._repr_html_(), tmp_path / "cell.html", "lab"))
    code = """
    const walk = document.createTreeWalker(document.querySelectorAll("p")[arguments[0]], NodeFilter.SHOW_TEXT);
    const found = [];
    while (walk.nextNode()) [...walk.currentNode.data].forEach((letter, k) => {
      const range = document.createRange();
      range.setStart(walk.currentNode, k);
      range.setEnd(walk.currentNode, k + 1);
      found.push([range.getBoundingClientRect().left, letter]);
    });
    return found;
    """
    first, second = ("".join(letter for _, letter in sorted(browser.run(code, k))) for k in (0, 1))
    assert first.split() == ["IF", HEBREW[::-1], ">", "-0.5", "THEN", HEBREW[::-1]]
    assert second.split(":")[1].split() == ["13", "good,", "11", HEBREW[::-1]]


def test_a_very_long_label_is_cut_and_its_full_text_is_its_title():
    long = "y" * 100 + "z" * 300
    rules = (Rule((), long, ((long, 3),)),)
    read = Reader(a_set(classes=(long, "good"), default=long, rules=rules, fallbacks=())._repr_html_())
    titles = {attributes["title"] for _, attributes in read.tags if "title" in attributes}
    assert titles == {long}
    assert read.cells[3] == "y" * 60 + "…" + "z" * 30


def test_results_are_shown_in_one_line():
    answers = a_set().answer(pd.DataFrame({"age": [1, 50], "sex": ["F", "M"]}))
    assert repr(answers) == f"<Answers: 2 records, rule set {a_set()!r}>"
    assert repr(answers.covers) == "<Covers: 2 rules, 2 records>"
    assert repr(Progress("mining")) == "Progress(stage='mining', n_rules=None, coverage=None, detail='')"


# In a browser, with the styles of notebooks

JUPYTERLAB = """
body { color: COLOUR; background: BACKGROUND; font: 14px sans-serif; }
.jp-OutputArea-child { display: table; table-layout: fixed; width: 100%; }
.jp-OutputArea-output { display: table-cell; width: 100%; height: auto; overflow: auto; }
.jp-RenderedHTMLCommon table { border-collapse: collapse; border-spacing: 0; border: none; font-size: 12px;
  table-layout: fixed; margin-left: auto; margin-bottom: 1em; margin-right: auto; }
.jp-RenderedHTMLCommon thead { border-bottom: 1px solid grey; vertical-align: bottom; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr { vertical-align: middle;
  padding: 0.5em; line-height: normal; white-space: normal; max-width: none; border: none; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td, :not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon tr { text-align: right; }
.jp-RenderedHTMLCommon p { text-align: left; margin: 0; margin-bottom: 1em; }
.jp-RenderedHTMLCommon svg { max-width: 100%; height: auto; }
.jp-OutputArea-output.jp-RenderedHTMLCommon table { margin-left: 0; margin-right: 0; }
"""
# Of the classic notebook, whose style sheet contains Bootstrap.
CLASSIC = """
body { color: COLOUR; background: BACKGROUND; }
.rendered_html table { margin: 0 auto; border: none; border-collapse: collapse; font-size: 12px; table-layout: fixed; }
.rendered_html tr, .rendered_html th, .rendered_html td { text-align: right; vertical-align: middle; padding: 0.5em;
  line-height: normal; white-space: normal; max-width: none; border: none; }
.rendered_html svg { max-width: 100%; height: auto; }
.label { display: inline; padding: .2em .6em .3em; font-size: 75%; font-weight: bold; color: #fff; }
"""
NOTEBOOKS = {
    "lab": (JUPYTERLAB, "jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output"),
    "classic": (CLASSIC, "output_html rendered_html output_subarea"),
}


def in_notebook(source, path, notebook, dark=False):
    """Write a page that shows HTML as a notebook does. The styles come last, as JupyterLab may load them."""
    style, names = NOTEBOOKS[notebook]
    style = style.replace("COLOUR", "#ffffff" if dark else "#000000").replace("BACKGROUND", "#111" if dark else "#fff")
    output = f'<div class="jp-OutputArea-child"><div class="{names}">{source}</div></div>'
    head = '<!DOCTYPE html><meta charset="utf8"><meta name="viewport" content="width=device-width">'
    path.write_text(f"{head}<body>{output}<style>{style}</style>", "utf8")
    return path


def wide_set(n_rules, n_classes, long):
    """Return rules, with long names and labels if `long`."""
    classes = tuple(f"Department of long names, section {k:02}" if long else f"c{k}" for k in range(n_classes))
    column = "a measurement with a rather long name" if long else "size"
    rules = []
    for j in range(n_rules):
        body = [Interval(f"{column} {k}", -1.25, 7.75) for k in range(3)]
        body.append(IsIn("word", tuple(f"value {k}" for k in range(4 if long else 1))))
        counts = tuple((label, 100 + k) for k, label in enumerate(classes))
        rules.append(Rule(tuple(body), classes[j % n_classes], counts))
    totals = (1000,) * n_classes
    return RuleSet(tuple(rules), classes, classes[0], totals, (500,) * n_classes)


BOXES = """
const box = (node) => node.getBoundingClientRect();
const cells = [...document.querySelectorAll("tbody tr")].map((row) => [...row.children]);
return {
  layout: getComputedStyle(document.querySelector("table")).tableLayout,
  widths: cells[0].map((cell) => box(cell).width),
  inside: cells.flat().every((cell) => cell.scrollWidth <= cell.clientWidth + 1),
  apart: cells.every((row) => row.every((cell) => [...cell.querySelectorAll("bdi, svg")].every((node) =>
    box(node).left >= box(cell).left - 0.5 && box(node).right <= box(cell).right + 0.5))),
  bars: [...document.querySelectorAll("td svg.drs-bar")].map((bar) => box(bar).height),
  colours: [...document.querySelectorAll("bdi")].map((node) => getComputedStyle(node).color),
  right: box(document.querySelector("table")).right,
};
"""


@pytest.mark.parametrize("notebook", NOTEBOOKS)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("n_rules", "n_classes", "long"), [(3, 2, False), (40, 12, True)])
def test_the_table_is_readable_with_the_styles_of_notebooks(
    browser, tmp_path, notebook, dark, n_rules, n_classes, long
):
    source = wide_set(n_rules, n_classes, long)._repr_html_()
    for width in (1100, 700, 420):
        browser.open(in_notebook(source, tmp_path / "cell.html", notebook, dark), width=width)
        got = browser.run(BOXES)
        assert got["layout"] == "auto"
        assert got["widths"][1] == max(got["widths"])  # the conditions
        assert width == 420 or got["widths"][1] > (0.35 if long else 0.45) * width
        assert got["inside"]
        assert got["apart"]
        assert {round(height, 1) for height in got["bars"]} == {9.6 if width == 420 else 10.4}
        assert set(got["colours"]) == {"rgb(255, 255, 255)" if dark else "rgb(0, 0, 0)"}
        assert got["right"] <= width + 1
    assert browser.messages == []


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_rule_is_readable_with_the_styles_of_notebooks(browser, tmp_path, notebook):
    source = wide_set(12, 12, True)[5]._repr_html_()
    browser.open(in_notebook(source, tmp_path / "cell.html", notebook), width=700)
    assert browser.run("return document.documentElement.scrollWidth") <= 700
    lines = browser.find("p").text
    assert lines.startswith("IF -1.25 < a measurement with a rather long name 0 <= 7.75")
    assert lines.endswith("THEN Department of long names, section 05")
    colours = "return [...document.querySelectorAll('bdi')].map((node) => getComputedStyle(node).color)"
    assert set(browser.run(colours)) == {"rgb(0, 0, 0)"}
