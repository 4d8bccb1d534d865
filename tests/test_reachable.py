"""Which points can occur, and whether rules cover every possible record, against all records of small tables."""

import datetime
import io
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import naive
from diverse_rule_sets import (
    Condition,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    PointsTable,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
)
from diverse_rule_sets.cli import _terminal
from diverse_rule_sets.model._figures import percent
from diverse_rule_sets.model._point_probabilities import followed_column, points_of_rule
from diverse_rule_sets.model._points_text import points_groups
from diverse_rule_sets.model._reachable import cover_everything, reachable_points
from diverse_rule_sets.report import html
from scorecard_models import scorecard_rules, scorecards_over
from test_scorecards import naive_holds, naive_points

COLUMNS = {
    "x": ("number", [0.0, 1.0, 2.0]),
    "t": ("text", ["a", "b", "c"]),
    "f": ("boolean", [False, True]),
    "d": ("date", [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]),
}
CLASSES = ["bad", "good", "new"]


def all_records(conditions):
    """Return records of all combinations of values that conditions, and signs of their scorecards, can tell apart."""
    named = {}
    for condition in (plain for one in conditions for plain in one.plain_conditions):
        bounds = [bound for _, bound in condition.comparisons]
        named.setdefault(condition.column, []).extend([*condition.values_named, *bounds])
    return naive.possible_records({name: list(dict.fromkeys(some)) for name, some in named.items()})


def holds(conditions, record):
    return all(naive_holds(condition, record) for condition in conditions)


@st.composite
def some_rules(draw, most=4):
    """Draw rules on a few columns and on one or two scorecards, and the scorecards."""
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=3, unique=True))
    columns = {name: COLUMNS[name] for name in names}
    cards = [draw(scorecards_over(name, columns, CLASSES)) for name in ("points", "risk")[: draw(st.integers(1, 2))]]
    return draw(st.lists(scorecard_rules(cards, columns, CLASSES), min_size=1, max_size=most)), cards


@settings(max_examples=400)
@given(some_rules(most=1))
def test_the_points_that_can_occur_are_those_of_all_possible_records(drawn):
    (rule,), cards = drawn
    for card in cards:
        everything = all_records([*rule.conditions, *(sign.condition for sign in card.signs)])
        sums = [naive_points(card, record) for record in everything if holds(rule.conditions, record)]
        for column in card.derived_columns():
            if column.counts_points:
                expected = {naive.derived(column.part, column.label, card.labels, found) for found in sums}
                assert reachable_points(column, rule.conditions) == sorted(expected)


@settings(max_examples=300)
@given(some_rules(most=1))
def test_the_range_of_a_scorecard_is_that_of_the_points_that_can_occur(drawn):
    _, cards = drawn
    for card in cards:
        found = [naive_points(card, record) for record in all_records([sign.condition for sign in card.signs])]
        for label, ends in card.ranges.items():
            sums = [one[label] for one in found]
            assert ends == (min(sums), max(sums))


@settings(max_examples=400)
@given(some_rules())
def test_rules_cover_everything_if_they_cover_all_possible_records(drawn):
    rules, _ = drawn
    records = all_records([condition for rule in rules for condition in rule.conditions])
    expected = all(any(holds(rule.conditions, record) for rule in rules) for record in records)
    assert cover_everything([rule.conditions for rule in rules]) == expected


@settings(max_examples=200)
@given(some_rules(most=1))
def test_a_rule_and_the_opposites_of_its_conditions_cover_everything(drawn):
    (rule,), _ = drawn
    assert cover_everything([rule.conditions, *((other,) for one in rule.conditions for other in opposites(one))])


def opposites(condition):
    """Return conditions of which one holds if another condition does not."""
    column = condition.column
    if condition.holds_if_missing:
        return [IsNotIn(column, ())]
    if isinstance(condition, Interval):
        found = []
        if condition.low is not None:
            found.append(Interval(column, high=condition.low, with_high=not condition.with_low))
        if condition.high is not None:
            found.append(Interval(column, condition.high, with_low=not condition.with_high))
    elif isinstance(column, str):
        found = [(IsIn if condition.excludes else IsNotIn)(column, condition.values_named)]
    else:
        found = [Equals(column, label) for label in column.scorecard.labels if label != condition.value]
    return [*found, IsMissing(column)] if isinstance(column, str) else found


def test_conditions_of_one_column_exclude_and_imply_each_other():
    card = Scorecard.parse("points (for ill): 2 if x > 33, 5 if x > 31.3, 3 if job = 'a', 4 if job = 'b'")
    assert reachable_points(card.column()) == [0, 3, 4, 5, 7, 8, 9, 10, 11]
    assert reachable_points(card.column(), [Equals("job", "c"), Interval("x", high=32)]) == [0, 5]
    assert reachable_points(card.column(), [Interval("x", 40), IsMissing("x")]) == []


class Odd(Condition):
    """A condition of a class that the package does not know."""

    def holds(self, column):
        return column.values % 2 == 1

    def __str__(self):
        return f"{self.column} is odd"


def test_nothing_is_said_about_conditions_of_unknown_classes():
    card = Scorecard("points", (Sign(Interval("x", 1), {"ill": 2}),))
    assert reachable_points(card.column(), [Odd("x")]) is None
    assert not cover_everything([[Odd("x")], [IsNotIn("x", ())], [IsMissing("x")]])
    assert cover_everything([[card.between(1)], [card.between(high=1)], [Odd("x")]])


def test_nothing_is_said_about_values_of_several_types():
    card = Scorecard("points", (Sign(Interval("x", 1), {"ill": 2}),))
    assert reachable_points(card.column(), [Equals("x", "a")]) is None
    assert not cover_everything([[Interval("x", 1)], [Equals("x", "a")]])


def test_with_too_many_sums_all_points_between_the_bounds_are_shown():
    """Ten labels with twenty signs each: all combinations of sums would be too many."""
    labels = [f"c{k}" for k in range(10)]
    pairs = [(j, k) for j in range(20) for k in range(10)]
    signs = tuple(Sign(Interval(f"x{j}", low=k), {labels[k]: 1 + (3 * j + k) % 5}) for j, k in pairs)
    card = Scorecard("points", signs, tuple(labels))
    column = card.column("lead")
    assert reachable_points(column, [card.leads("c0")]) is None
    points = points_of_rule(column, [card.leads("c0")])
    rows = tuple((0.1 + s / 1000, *[(0.9 - s / 1000) / 9] * 9) for s in range(len(points)))
    rule = Rule((card.leads("c0"),), "c0", points_table=PointsTable(column, points[0], rows))
    groups = points_groups(rule, labels)
    assert [number for group in groups for number in group.points] == list(points)


def test_many_rules_are_not_compared_for_long():
    """Each of 200 rules tests two of 40 columns: the sets of rules that may hold are too many."""
    bodies = [[Interval(f"x{k % 40}", k), Interval(f"x{(7 * k + 1) % 40}", k)] for k in range(200)]
    assert not cover_everything(bodies)
    assert cover_everything([*bodies, []])


@settings(max_examples=300)
@given(some_rules(most=1), st.data())
def test_every_number_of_points_that_can_occur_is_in_one_group(drawn, data):
    (rule,), _ = drawn
    followed = followed_column(rule.conditions)
    if followed is None:
        return
    column, low = followed[0], data.draw(st.integers(*followed[0].range))
    numbers = st.lists(st.integers(0, 100), min_size=1, max_size=column.range[1] - low + 1)
    rows = tuple((p / 100, 0.0, 1 - p / 100) for p in data.draw(numbers))
    rule = Rule(rule.conditions, "bad", points_table=PointsTable(column, low, rows))
    groups = points_groups(rule, CLASSES)
    expected = reachable_points(column, rule.conditions) or list(range(low, low + len(rows)))
    assert [number for group in groups for number in group.points] == expected
    assert len(groups) <= 9
    for group in groups:
        own = [rows[min(max(s, low), low + len(rows) - 1) - low][0] for s in group.points]
        assert list(group.shares) == own
        shown = [float(text.strip("<>")) for text in group.shares_text().split(" to ")]
        assert min(shown) == pytest.approx(min(own), abs=0.0051)
        assert max(shown) == pytest.approx(max(own), abs=0.0051)


def evaluated(text):
    """Return a rule set with the counts of random records: a column of numbers and one of text."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.integers(0, 10, 300), "t": rng.choice(["a", "b"], 300)})
    y = np.where(rng.random(300) < 0.06 * X["x"], "ill", "ok")
    return RuleSet.parse(text, classes=["ill", "ok"]).evaluated(X, y)


EVEN = "Scorecard points (for ill):\n" + "".join(f"   2 if x > {k}\n" for k in range(8)) + '   4 if t = "a"\n'
ON_EVEN = EVEN + "1. IF points >= 9 THEN ill\n2. IF points <= 8 THEN ok\n   OTHERWISE ok"


def test_a_printed_row_names_no_points_that_cannot_occur():
    rules = evaluated(ON_EVEN)
    printed = str(rules)
    rows = re.findall(r"probability of .* by points: (.*)", printed)
    named = [[int(n) for n in re.findall(r"(\d+)(?= to \d+:|:)", row)] for row in rows]
    assert {n for row in named for n in row} <= set(range(0, 21, 2))
    assert named[0][0] == 10
    assert [row.endswith(" (others cannot occur)") for row in rows] == [True, True]
    assert "(0 to 20 for ill)" in printed
    assert "   The rules cover every possible record: none gets the default label ok\n" in printed
    assert "OTHERWISE" not in printed
    assert RuleSet.parse(printed).same_rules(rules)


NONE = "none of 300 in training)"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("IF x <= 3 THEN ok\nIF x > 3 THEN ill", f"OTHERWISE ok (for records that no rule covers: {NONE}"),
        (
            "IF x <= 3 THEN ok\nIF x > 3 THEN ill\nIF x is missing THEN ok",
            "The rules cover every possible record: none gets the default label ok",
        ),
        ("IF x > 20 THEN ill", "OTHERWISE ok (no rule covers 300 of 300 records: "),
        (
            "IF t in {'a', 'b'} THEN ok\nIF t is missing THEN ill",
            f"OTHERWISE ok (for records that no rule covers: {NONE}",
        ),
        (
            "IF x <= 3 THEN ok\nFallback rules:\nIF anything THEN ill",
            "The rules and fallback rules cover every possible record: none gets the default label ok",
        ),
        (
            "IF x <= 3 THEN ok\nFallback rules:\nIF x > 3 THEN ill",
            f"OTHERWISE ok (for records that no rule and no fallback rule covers: {NONE}",
        ),
    ],
)
def test_the_line_of_the_default_label_says_for_which_records_it_is(text, line):
    rules = evaluated(f"{text}\nOTHERWISE ok")
    printed = str(rules)
    assert any(one.strip().startswith(line) for one in printed.splitlines())
    again = RuleSet.parse(printed, classes=rules.classes)
    assert again.same_rules(rules)
    assert again.default == "ok"


def test_without_records_the_default_label_has_no_figures():
    assert str(RuleSet.parse("IF x > 3 THEN ill\nOTHERWISE ok")).splitlines()[-1] == "   OTHERWISE ok"


def balanced(rules):
    return replace(rules, class_weights=tuple(1 / total for total in rules.class_totals))


def words(html_text):
    """Return the text of HTML, without its styles and scripts."""
    bare = re.sub(r"<style>.*?</style>|<script.*?</script>", "", html_text, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


def test_balanced_figures_are_named_in_every_view():
    """Precision counts records, probabilities do not: a reader sees which is which, and one number of both kinds."""
    rules = balanced(evaluated(ON_EVEN))
    rule = rules[0]
    n_ill, n_ok = dict(rule.class_counts)["ill"], dict(rule.class_counts)["ok"]
    of_ill, of_ok = rules.class_totals
    share = (n_ill / of_ill) / (n_ill / of_ill + n_ok / of_ok)
    assert abs(share - rule.precision) > 0.02
    printed = str(rules)
    assert f"THEN ill (precision {rule.precision:.2f}, balanced {share:.2f}, covers " in printed
    assert "   balanced probability of ill by points: " in printed
    assert "Balanced figures and the labels of rules treat all classes as equally frequent" in printed
    assert RuleSet.parse(printed).same_rules(rules)
    notebook = words(rules._repr_html_())
    assert f"% balanced {share:.0%} " in notebook
    assert "balanced probability of ill by points : 10 " in notebook
    X = pd.DataFrame({"x": [9, 1, 5], "t": ["a", "b", "a"]})
    note = f"{n_ill} were ill ({percent(rule.precision)}; {percent(share)} if all classes were equally frequent)."
    assert note in rules.why({"x": 9, "t": "a"})
    page = words(html(rules, X, ["ill", "ok", "ok"]))
    assert "Balanced probability of ill by points : 10 " in page
    here = (1 / of_ill) / (1 / of_ill + 1 / of_ok)  # of the three records, the rule covers one of each class
    assert f"precision 50% balanced {percent(here)} " in page
    screen = Console(file=io.StringIO(), width=120, force_terminal=True, color_system=None, markup=False)
    _terminal._RulePrinter(rules, screen).show()
    shown = " ".join(screen.file.getvalue().split())
    assert f"%), balanced {share:.2f} " in shown
    assert "balanced probability of ill by points: 10: " in shown
    assert "(others cannot occur)" in shown


def test_without_class_weights_nothing_is_called_balanced():
    rules = evaluated(ON_EVEN)
    for text in (str(rules), rules._repr_html_(), rules.why({"x": 9, "t": "a"})):
        assert "alanced" not in text
    assert "by class weights)" in replace(rules, class_weights=(5.0, 1.0)).why({"x": 9, "t": "a"})
    assert "weighted probability of ill" in str(replace(rules, class_weights=(5.0, 1.0)))


def test_views_do_not_offer_a_default_label_that_no_record_gets():
    rules = evaluated(ON_EVEN)
    X = pd.DataFrame({"x": [9, 1], "t": ["a", "b"]})
    every = "cover every possible record"
    page = words(html(rules, X, ["ill", "ok"]))
    assert every in page
    assert "A record that no rule covers gets the default label" not in page
    notebook = words(rules._repr_html_())
    assert every in notebook
    assert "OTHERWISE" not in notebook
    partial = evaluated("IF x <= 3 THEN ok\nIF x > 3 THEN ill\nOTHERWISE ok")
    assert "A record that no rule covers gets the default label" in words(html(partial, X, ["ill", "ok"]))
    assert "OTHERWISE ok (default label of 0 records)" in words(partial._repr_html_())
