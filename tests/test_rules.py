import copy
import json
import math
import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import Equals, Interval, IsIn, IsMissing, Rule, RuleSet
from diverse_rule_sets.model import _answers as answers_module
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._rules import CONFLICTS


def test_rules_are_values():
    rule = Rule((Interval("a", 1), Equals("b", "x")), "yes", (("no", 1), ("yes", 3)))
    assert rule == Rule((Interval("a", 1.0), Equals("b", "x")), "yes")
    assert len({rule, Rule(rule.conditions, "yes"), Rule(rule.conditions, "no")}) == 2
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert (rule.n_covered, rule.precision) == (4, 0.75)
    assert np.isnan(Rule((), "yes").precision)
    with pytest.raises(AttributeError):
        rule.label = "no"


def test_covers_reads_only_the_columns_it_needs_from_any_table():
    rule = Rule((Interval("a", 1), Equals("b", "x")), "yes")
    table = {"b": ["x", "x", "y"], "a": [1, 2, 3], "odd": [{}, {}, {}]}
    assert rule.covers(pd.DataFrame(table)).tolist() == [False, True, False]
    assert rule.covers(pl.DataFrame(table)).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="X has no column 'a'"):
        rule.covers(pd.DataFrame({"b": ["x"]}))


def a_set(conflict="precision", **changes):
    """Return rules on one column: a > 3 covers few records of one class, a > 1 and a > 2 more, with another label."""
    rules = (
        Rule((Interval("a", 3),), "no", (("no", 3), ("yes", 0))),
        Rule((Interval("a", 1),), "yes", (("no", 20), ("yes", 80))),
        Rule((Interval("a", 2),), "yes", (("no", 10), ("yes", 30))),
    )
    values = {
        "rules": rules,
        "classes": ("no", "yes"),
        "default": "no",
        "class_totals": (100, 100),
        "uncovered_counts": (80, 20),
        "conflict": conflict,
    }
    return RuleSet(**(values | changes))


X = pd.DataFrame({"a": [0, 1.5, 2.5, 3.5, None]})


def test_which_rule_decides():
    covers = a_set().covers(X)
    assert covers.tolist() == [
        [False, False, False],
        [False, True, False],
        [False, True, True],
        [True, True, True],
        [False, False, False],
    ]
    assert a_set("precision").deciding_rules(X).tolist() == [-1, 1, 1, 0, -1]
    assert a_set("smoothed").deciding_rules(X).tolist() == [-1, 1, 1, 0, -1]  # (3 + 1) / (3 + 2) = .8 > .794
    assert a_set("vote").deciding_rules(X).tolist() == [-1, 1, 1, 1, -1]
    assert a_set(lambda rules: rules[-1]).deciding_rules(X).tolist() == [-1, 1, 2, 2, -1]
    small = a_set().rules[0], Rule((Interval("a", 1),), "yes", (("no", 20), ("yes", 380)))
    totals = (400, 400)
    assert a_set("precision", rules=small, class_totals=totals).deciding_rules(X).tolist()[3] == 0
    assert a_set("smoothed", rules=small, class_totals=totals).deciding_rules(X).tolist()[3] == 1


def rule_of(column, label, counts):
    """Return a rule that covers the records with a one in a column of an array; counts are those of no and of yes."""
    return Rule((Interval(f"x{column}", 0),), label, tuple(zip(("no", "yes"), counts, strict=True)))


def test_votes_are_weighted_by_smoothed_precision():
    """Votes are weighted by smoothed precision: a rule that covers one record loses to a larger, less precise rule."""
    rules = (rule_of(0, "no", (1, 1)), rule_of(1, "yes", (0, 1)), rule_of(2, "no", (1, 1)))
    table = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1]])
    # Smoothed: .5 + .5 for no and 2/3 for yes; then .5 and 2/3.
    assert a_set("vote", rules=rules).deciding_rules(table).tolist() == [0, 1, 2]
    weak = (rule_of(0, "no", (6, 4)), rule_of(1, "yes", (0, 1)))  # plain .6 < 1, smoothed .583 < .667
    assert a_set("vote", rules=weak).deciding_rules(np.ones((1, 2))).tolist() == [1]
    strong = (rule_of(0, "no", (9, 1)), rule_of(1, "yes", (0, 1)))  # plain .9 < 1, smoothed .833 > .667
    assert a_set("vote", rules=strong).deciding_rules(np.ones((1, 2))).tolist() == [0]
    assert a_set("precision", rules=strong).deciding_rules(np.ones((1, 2))).tolist() == [1]


def test_the_first_rule_or_the_rule_with_the_highest_f1_score_decides():
    assert a_set("first").deciding_rules(X).tolist() == [-1, 1, 1, 0, -1]
    assert a_set("first", rules=a_set().rules[::-1]).deciding_rules(X).tolist() == [-1, 1, 0, 0, -1]
    # F1 = 2 * hits / (covered + class size): 6/103, 160/200, 60/140.
    assert a_set("f1").deciding_rules(X).tolist() == [-1, 1, 1, 1, -1]
    assert a_set("f1", rules=a_set().rules[::2]).deciding_rules(X).tolist() == [-1, -1, 1, 1, -1]


def test_the_sum_of_class_counts_may_give_a_label_that_no_rule_has():
    counts = [(60, 0, 40), (0, 60, 45)]
    rules = tuple(
        Rule((Interval(f"x{j}", 0),), label, tuple(zip("abc", row, strict=True)))
        for j, (label, row) in enumerate(zip("ab", counts, strict=True))
    )
    both = RuleSet(rules, ("a", "b", "c"), "a", (100, 100, 100), (5, 1, 0), "counts", smoothing=3.0)
    table = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    assert both.predict(table).tolist() == ["c", "a", "b", "a"]
    assert both.deciding_rules(table).tolist() == [-1, 0, 1, -1]  # neither rule has the label c
    expected = [[61 / 208, 61 / 208, 86 / 208], [61 / 103, 1 / 103, 41 / 103], [1 / 108, 61 / 108, 46 / 108]]
    np.testing.assert_allclose(both.predict_proba(table), [*expected, [6 / 9, 2 / 9, 1 / 9]])
    assert both.reasons(table) == [
        "rules 1 and 2 together: 85 c, 60 a, 60 b, so the label is c",
        "IF x0 > 0 THEN a: 60 a, 40 c",
        "IF x1 > 0 THEN b: 60 b, 45 c",
        "no rule covers this record: default label a",
    ]
    assert "\nIf several rules cover a record, their class counts are added up and the largest class wins." in str(both)


def test_a_fallback_rule_does_not_decide_if_covering_rules_exist_but_none_has_the_label_that_wins():
    abc = "abc"
    rules = tuple(
        Rule((Interval(f"x{j}", 0),), label, tuple(zip(abc, row, strict=True)))
        for j, (label, row) in enumerate([("a", (60, 0, 40)), ("b", (0, 60, 45))])
    )
    fallback = Rule((Interval("x2", 0),), "b", tuple(zip(abc, (0, 3, 0), strict=True)))
    both = RuleSet(rules, tuple(abc), "a", (100, 100, 100), (5, 4, 0), "counts", (fallback,))
    table = np.array([[1, 1, 1], [0, 0, 1], [0, 0, 0]])
    assert both.deciding_rules(table).tolist() == [-1, 2, -1]
    assert both.predict(table).tolist() == ["c", "b", "a"]
    assert both.reasons(table) == [
        "rules 1 and 2 together: 85 c, 60 a, 60 b, so the label is c",
        "no rule covers this record; the first fallback rule that does: IF x2 > 0 THEN b",
        "no rule and no fallback rule covers this record: default label a",
    ]


def test_sums_of_counts_are_not_smoothed_and_the_larger_class_wins_a_tie():
    rules = (rule_of(0, "no", (2, 2)), rule_of(1, "yes", (1, 2)), rule_of(2, "no", (1, 0)))
    table = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])
    few = a_set("counts", rules=rules, class_totals=(900, 100), smoothing=5.0)
    assert few.predict(table).tolist() == ["yes", "no", "yes", "no"]  # 3 : 4, 4 : 4, 1 : 2, 2 : 2
    many = a_set("counts", rules=rules, class_totals=(100, 900), smoothing=5.0)
    assert many.predict(table).tolist() == ["yes"] * 4
    assert many.reasons(table)[3] == "IF x0 > 0 THEN no: 2 no, 2 yes, so the label is yes"
    weighted = a_set("counts", rules=rules, class_weights=(2.0, 1.0))
    assert weighted.predict(table).tolist() == ["no"] * 4


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_results_do_not_depend_on_the_size_of_blocks(conflict, monkeypatch):
    rng = np.random.default_rng(0)
    labels, counts = ("no", "yes", "no", "no", "yes"), ((5, 3), (2, 9), (7, 7), (3, 0), (1, 4))
    rules = tuple(rule_of(j, label, both) for j, (label, both) in enumerate(zip(labels, counts, strict=True)))
    table = rng.integers(0, 2, (301, 6))
    rule_set = a_set(conflict, rules=rules, fallbacks=(rule_of(5, "yes", (0, 2)),))
    methods = (RuleSet.predict, RuleSet.deciding_rules, RuleSet.predict_proba, RuleSet.reasons)
    ref = [method(rule_set, table) for method in methods]
    labels = rule_set.answer(table).labels
    monkeypatch.setattr(answers_module, "_BLOCK", 1)
    for method, expected in zip(methods, ref, strict=True):
        np.testing.assert_array_equal(method(rule_set, table), expected)
    np.testing.assert_array_equal(rule_set.answer(table).labels, labels)


def test_an_unknown_value_of_conflict_is_an_error():
    with pytest.raises(
        ValueError, match=r"conflict must be one of 'precision', .*'counts', or a function .*, got 'loudest'"
    ):
        a_set("loudest")


def test_of_equally_precise_rules_the_larger_decides_then_the_earlier():
    larger = (rule_of(0, "no", (3, 0)), rule_of(1, "yes", (0, 5)))
    equal = (rule_of(0, "no", (5, 0)), rule_of(1, "yes", (0, 5)))
    assert a_set(rules=larger).deciding_rules(np.ones((1, 2))).tolist() == [1]
    assert a_set(rules=equal).deciding_rules(np.ones((1, 2))).tolist() == [0]


def test_a_conflict_function_must_return_one_of_the_rules():
    with pytest.raises(ValueError, match="conflict returned 'yes', expected one of the covering rules"):
        a_set(lambda rules: "yes").predict(X)


def test_predictions_and_probabilities():
    rules = a_set()
    assert rules.predict(X).tolist() == ["no", "yes", "yes", "no", "no"]
    expected = [[81 / 102, 21 / 102], [21 / 102, 81 / 102], [21 / 102, 81 / 102], [4 / 5, 1 / 5], [81 / 102, 21 / 102]]
    np.testing.assert_allclose(rules.predict_proba(X), expected)


def test_a_rule_set_without_rules_gives_the_default_label():
    empty = a_set(rules=())
    assert empty.predict(X).tolist() == ["no"] * 5
    assert empty.covers(X).shape == (5, 0)
    np.testing.assert_allclose(empty.predict_proba(X)[0], [81 / 102, 21 / 102])
    assert str(empty) == "   OTHERWISE no (no rule covers 100 of 200 records: 80 no, 20 yes)"


def test_a_rule_set_is_a_sequence_of_rules():
    rules = a_set()
    assert len(rules) == 3
    assert list(rules) == [rules[0], rules[1], rules[2]]
    assert rules[-1] == rules[2]
    assert rules[:2] == (rules[0], rules[1])
    assert rules.columns == ("a",)
    assert repr(rules) == "<RuleSet: 3 rules, 2 classes, default 'no'>"
    assert pickle.loads(pickle.dumps(rules)) == rules


def test_a_printed_rule_set():
    assert str(a_set()) == (
        "1. IF a > 3\n"
        "   THEN no (precision 1.00, covers 3 of 200 records: 3 no)\n"
        "2. IF a > 1\n"
        "   THEN yes (precision 0.80, covers 100 of 200 records: 80 yes, 20 no)\n"
        "3. IF a > 2\n"
        "   THEN yes (precision 0.75, covers 40 of 200 records: 30 yes, 10 no)\n"
        "   OTHERWISE no (no rule covers 100 of 200 records: 80 no, 20 yes)\n"
        "If several rules cover a record, the one with the highest precision decides."
    )
    sentences = {
        "smoothed": "the one with the highest smoothed precision decides",
        "f1": "the one with the highest F1 score decides",
        "first": "the first one decides",
        "vote": "they vote, each weighted by its smoothed precision",
        "counts": "their class counts are added up and the largest class wins",
    }
    for conflict, text in sentences.items():
        assert str(a_set(conflict)).splitlines()[-1] == f"If several rules cover a record, {text}."
    own = str(a_set(lambda rules: rules[0])).splitlines()[-1]
    assert own == "If several rules cover a record, a user-defined function of these rules decides."


FALLBACKS = (
    Rule((Interval("b", 1),), "yes", (("no", 1), ("yes", 3))),
    Rule((Interval("b", 0),), "no", (("no", 9), ("yes", 1))),
)
# Covered by both fallback rules, by the second, by none; by a rule and both fallback rules; with missing values.
Z = pd.DataFrame({"a": [0, 0, 0, 2.5, None, None], "b": [2, 1, 0, 2, 2, None]})


def test_the_first_fallback_rule_that_covers_a_record_decides_if_no_rule_covers_it():
    rules = a_set(fallbacks=FALLBACKS)
    assert rules.deciding_rules(Z).tolist() == [3, 4, -1, 1, 3, -1]
    assert rules.predict(Z).tolist() == ["yes", "no", "no", "yes", "yes", "no"]
    assert a_set(fallbacks=FALLBACKS[::-1]).deciding_rules(Z).tolist() == [3, 3, -1, 1, 3, -1]
    assert a_set(fallbacks=FALLBACKS, rules=()).deciding_rules(Z).tolist() == [0, 1, -1, 0, 0, -1]
    assert a_set(fallbacks=FALLBACKS, default="yes").predict(Z).tolist() == ["yes", "no", "yes", "yes", "yes", "yes"]
    assert a_set(fallbacks=()).deciding_rules(Z).tolist() == [-1, -1, -1, 1, -1, -1]


@pytest.mark.parametrize("conflict", [*CONFLICTS, lambda rules: rules[0]])
def test_a_fallback_rule_never_takes_part_in_a_conflict(conflict):
    sure = Rule((Interval("a", -1),), "no", (("no", 1000), ("yes", 0)))
    many = {"class_totals": (2000, 1000), "uncovered_counts": (1000, 20)}
    rules = a_set(conflict, rules=a_set().rules[1:], fallbacks=(sure,), **many)
    assert rules.deciding_rules(pd.DataFrame({"a": [0, 1.5, 2.5]})).tolist() == [2, 0, 0]


def test_fallback_rules_are_not_among_the_rules():
    rules = a_set(fallbacks=FALLBACKS)
    assert len(rules) == 3
    assert list(rules) == list(a_set())
    assert rules.covers(Z).shape == (6, 3)
    assert rules.columns == ("a", "b")
    assert rules.labels_of(np.array([0, 1, 2, 3, 4, -1])).tolist() == [0, 1, 1, 1, 0, 0]
    assert repr(rules) == "<RuleSet: 3 rules, 2 fallbacks, 2 classes, default 'no'>"
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert rules != a_set(fallbacks=FALLBACKS[::-1])


def test_probabilities_of_fallback_rules_are_their_own_smoothed_counts():
    expected = [[2 / 6, 4 / 6], [10 / 12, 2 / 12], [71 / 88, 17 / 88], [21 / 102, 81 / 102]]
    np.testing.assert_allclose(a_set(fallbacks=FALLBACKS).predict_proba(Z)[:4], expected)


def test_a_printed_rule_set_with_fallback_rules():
    lines = str(a_set(fallbacks=FALLBACKS)).splitlines()
    assert lines[:6] == str(a_set()).splitlines()[:6]
    assert lines[6:] == [
        "Fallback rules: if no rule covers a record (no rule covers 100 of 200 records: 80 no, 20 yes), "
        "the first fallback rule that covers it decides:",
        "4. IF b > 1 THEN yes (0.75 of 4: 3 yes, 1 no)",
        "5. IF b > 0 THEN no (0.90 of 10: 9 no, 1 yes)",
        "   OTHERWISE no (no rule and no fallback rule covers 86 of 200 records: 70 no, 16 yes)",
        "If several rules cover a record, the one with the highest precision decides.",
    ]
    full = a_set(fallbacks=(FALLBACKS[0], Rule((), "no")), uncovered_counts=(1, 3), conflict="first")
    assert str(full).splitlines()[7:10] == [
        "4. IF b > 1 THEN yes (0.75 of 4: 3 yes, 1 no)",
        "5. IF anything THEN no (decides no records)",
        "   The rules and fallback rules cover every possible record: none gets the default label no",
    ]


def test_smoothing_and_class_weights_in_probabilities():
    """w_k * (n_k + m * p_k), scaled to sum to 1."""
    some = {"class_totals": (300, 100), "fallbacks": FALLBACKS}  # p = 3/4, 1/4
    plain = [[1, 3], [9, 1], [70, 16], [20, 80]]  # (80, 20) uncovered, without the records that fallback rules decide
    np.testing.assert_allclose(
        a_set(**some, smoothing=0).predict_proba(Z)[:4], [[n / sum(c) for n in c] for c in plain]
    )
    smoothed = [[4 / 8, 4 / 8], [12 / 14, 2 / 14], [73 / 90, 17 / 90], [23 / 104, 81 / 104]]
    np.testing.assert_allclose(a_set(**some, smoothing=4).predict_proba(Z)[:4], smoothed)
    weighted = [[4 / 16, 12 / 16], [12 / 18, 6 / 18], [73 / 124, 51 / 124], [23 / 266, 243 / 266]]
    for weights in ((1, 3), (0.5, 1.5)):
        got = a_set(**some, smoothing=4, class_weights=weights).predict_proba(Z)
        np.testing.assert_allclose(got[:4], weighted)
    # Without counts the probabilities are the class shares of the whole table, with smoothing or without.
    nothing = some | {"uncovered_counts": (0, 0), "smoothing": 0, "fallbacks": ()}
    np.testing.assert_allclose(a_set(**nothing).predict_proba(Z)[2], [3 / 4, 1 / 4])
    np.testing.assert_allclose(a_set(**nothing, class_weights=(1, 3)).predict_proba(Z)[2], [1 / 2, 1 / 2])


def test_which_rule_decides_depends_on_smoothing_and_class_weights():
    rules = (rule_of(0, "no", (3, 0)), rule_of(1, "yes", (5, 95)))
    both = np.ones((1, 2))
    for smoothing, weights, deciding in ((0, None, 0), (5, None, 1), (5, (10, 1), 0), (0, (1, 10), 0)):
        numbers = {"uncovered_counts": (80, 5), "smoothing": smoothing, "class_weights": weights}
        known = a_set("smoothed", rules=rules, **numbers)
        assert known.deciding_rules(both).tolist() == [deciding]
        assert a_set("precision", rules=rules, **numbers).deciding_rules(both) == [0]


def test_long_rules_are_wrapped_and_labels_with_line_breaks_are_quoted():
    long = Rule(tuple(Interval(f"a rather long column name {k}", 1) for k in range(4)), "a\nb", (("a\nb", 1),))
    text = str(a_set(rules=(long,), classes=("a\nb", "no"), uncovered_counts=(0, 0)))
    assert max(map(len, text.splitlines())) < 100
    assert 'THEN "a\\nb" (precision 1.00' in text


def test_a_precision_below_1_is_not_printed_as_1():
    counts = [(("a", 4521), ("b", 2)), (("a", 1), ("b", 4000)), (("a", 10), ("b", 0))]
    rules = tuple(Rule((Interval("x", low=float(j)),), "a", pairs) for j, pairs in enumerate(counts))
    text = str(RuleSet(rules, ("a", "b"), "a", (9000, 9000), (0, 0)))
    assert "precision >0.99, covers 4,523" in text
    assert "precision <0.01, covers 4,001" in text
    assert "precision 1.00, covers 10 of" in text


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            ((Interval("a", 1), Interval("a", high=5)), "x"),
            ValueError,
            "conditions must have at most one condition for",
        ),
        (((IsMissing(1), IsMissing(True)), "x"), ValueError, "conditions must have at most one condition for each"),
        ((Interval("a", 1), "x"), TypeError, "conditions must be a tuple of conditions, got Interval"),
        (("IF a > 1", "x"), TypeError, "conditions must be a tuple of conditions, got 'IF a > 1'"),
        (((), "x", (("x", -1),)), ValueError, r"class_counts must be pairs of \(label, number of records at least 0\)"),
        (((), "x", (("x", 1.55),)), ValueError, "class_counts must be pairs"),
        (((), "x", (("x", True),)), ValueError, "class_counts must be pairs"),
        (((), "x", (("x", 2**53 + 1),)), ValueError, "class_counts must be pairs"),
        (((), "x", (("x", 1), ("x", 2))), ValueError, "class_counts must be pairs .* with different labels"),
        (((), "x", (1, 2)), ValueError, "class_counts must be pairs"),
        (((), "x", (("x", 1, 2),)), ValueError, "class_counts must be pairs"),
        (((), "x", 5), ValueError, "class_counts must be pairs"),
        (((), "x", (([], 1),)), ValueError, "class_counts must be pairs"),
    ],
)
def test_a_rule_checks_its_parts(arguments, error, message):
    with pytest.raises(error, match=message):
        Rule(*arguments)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"classes": ()}, ValueError, "classes must be different labels, at least one"),
        ({"classes": ("no", "no")}, ValueError, "classes must be different labels"),
        ({"classes": ("no", 1)}, ValueError, "classes must be different labels, .* all text, all numbers"),
        ({"classes": (False, 1)}, ValueError, "classes must be different labels"),
        ({"classes": (b"a", b"b")}, ValueError, "classes must be different labels"),
        ({"classes": ("no", None)}, ValueError, "classes must be different labels"),
        ({"classes": (1.0, math.nan)}, ValueError, "classes must be different labels"),
        ({"classes": (1.0, math.inf)}, ValueError, "classes must be different labels"),
        ({"classes": "ny"}, ValueError, "classes must be different labels"),
        ({"classes": 5}, ValueError, "classes must be different labels"),
        ({"classes": ([], [])}, ValueError, "classes must be different labels"),
        ({"default": "maybe"}, ValueError, r"default must be one of the classes \['no', 'yes'\], got 'maybe'"),
        ({"default": ["no"]}, ValueError, "default must be one of the classes"),
        ({"rules": (), "classes": (0, 1), "default": True}, ValueError, "default must be one of the classes"),
        ({"rules": (Rule((), "maybe"),)}, ValueError, r"rules\[0\].label must be one of the classes .*, got 'maybe'"),
        ({"fallbacks": (Rule((), "maybe"),)}, ValueError, r"fallbacks\[0\].label must be one of the classes"),
        ({"rules": ("IF a > 1 THEN no",)}, TypeError, r"rules\[0\] must be a Rule, got 'IF a > 1"),
        ({"rules": 5}, TypeError, "rules must be a tuple of rules, got 5"),
        (
            {"rules": (Rule((), "no", (("no", 101),)),)},
            ValueError,
            r"rules\[0\].class_counts must be at most the class_t",
        ),
        (
            {"rules": (Rule((), "no", (("on", 1),)),)},
            ValueError,
            r"rules\[0\].class_counts must be counts of the classes",
        ),
        ({"fallbacks": (Rule((), "no", (("on", 0),)),)}, ValueError, r"fallbacks\[0\].class_counts must be counts of"),
        ({"class_totals": (100,)}, ValueError, "class_totals must be 2 integers at least 0"),
        ({"class_totals": (100, -1)}, ValueError, "class_totals must be 2 integers at least 0"),
        ({"class_totals": (100, 1.55)}, ValueError, "class_totals must be 2 integers at least 0"),
        ({"class_totals": (100, 2**53)}, ValueError, r"class_totals must be .* sum of at most 2\*\*53"),
        ({"class_totals": None}, ValueError, "class_totals must be 2 integers at least 0"),
        ({"uncovered_counts": (1, 2, 3)}, ValueError, "uncovered_counts must be 2 integers at least 0"),
        ({"uncovered_counts": (1, 101)}, ValueError, "uncovered_counts must be at most the class_totals"),
        ({"class_weights": (1.0,)}, ValueError, "class_weights must be 2 numbers greater than 0"),
        ({"class_weights": (1.0, 0.0)}, ValueError, "class_weights must be 2 numbers greater than 0"),
        ({"class_weights": (1.0, 5e-324)}, ValueError, "class_weights must be 2 numbers .* from 1e-100 to 1e"),
        ({"class_weights": (1.0, math.nan)}, ValueError, "class_weights must be 2 numbers greater than 0"),
        ({"class_weights": (1.0, math.inf)}, ValueError, "class_weights must be 2 numbers greater than 0"),
        ({"class_weights": ("1", "1")}, ValueError, "class_weights must be 2 numbers greater than 0"),
        ({"class_weights": 2.0}, ValueError, "class_weights must be 2 numbers greater than 0"),
        ({"smoothing": -1}, ValueError, "smoothing must be a number at least 0"),
        ({"smoothing": math.nan}, ValueError, "smoothing must be a number at least 0"),
        ({"smoothing": math.inf}, ValueError, "smoothing must be a number at least 0"),
        ({"smoothing": 5e-324}, ValueError, "smoothing must be a number at least 0: 0, or from 1e-100"),
        ({"smoothing": "1"}, ValueError, "smoothing must be a number at least 0"),
        ({"smoothing": False}, ValueError, "smoothing must be a number at least 0"),
        ({"kinds": (("a", "colour"),)}, ValueError, r"kinds must be pairs of \(column, type\)"),
        ({"kinds": (("a", "number"), ("a", "text"))}, ValueError, "kinds must be pairs .* with different columns"),
        ({"kinds": ("a",)}, ValueError, "kinds must be pairs"),
        ({"kinds": 5}, ValueError, "kinds must be pairs"),
        ({"conflict": ["first"]}, ValueError, "conflict must be one of"),
        ({"target": 5}, ValueError, "target must be a string or None, got 5"),
    ],
)
def test_a_rule_set_checks_its_parts(changes, error, message):
    with pytest.raises(error, match=message) as caught:
        a_set(**changes)
    assert "\n" not in str(caught.value)


def test_the_class_counts_of_all_rules_together_are_limited():
    """Their sums must be exact, as integers and as floats."""
    half = Rule((Interval("a", 1),), "no", (("no", 2**52),))
    rules = tuple(replace(half, conditions=(Interval("a", j),)) for j in range(3))
    fits = RuleSet(rules[:2], ("no", "yes"), "no", (2**52, 0), (0, 0), "counts", class_weights=(2.0, 1.0))
    assert fits.predict(X).tolist() == ["no"] * 5
    with pytest.raises(ValueError, match=r"the class counts of rules must have a sum of at most 2\*\*53"):
        replace(fits, rules=rules)


def test_values_of_numpy_and_lists_become_python_values_and_tuples():
    rule = Rule([Interval("a", 1)], np.str_("no"), [(np.str_("no"), np.int64(3))])
    rules = RuleSet([rule], np.array(["no", "yes"]), np.str_("no"), np.array([9, 9]), [1, np.int64(1)], smoothing=1)
    assert (rule.conditions, type(rule.class_counts[0][1])) == ((Interval("a", 1),), int)
    assert (rules.rules, rules.classes, rules.class_totals, rules.uncovered_counts) == (
        (rule,),
        ("no", "yes"),
        (9, 9),
        (1, 1),
    )
    assert {type(n) for n in rules.class_totals + rules.uncovered_counts} == {int}
    assert hash(rules) == hash(RuleSet((rule,), ("no", "yes"), "no", (9, 9), (1, 1), smoothing=1.0))


FIRST, SECOND, THIRD = a_set().rules
DIFFERENT = [
    {"rules": (replace(FIRST, class_counts=(("no", 4),)), SECOND, THIRD)},
    {"rules": (FIRST, SECOND)},
    {"rules": (SECOND, FIRST, THIRD)},
    {"rules": (replace(FIRST, label="yes"), SECOND, THIRD)},
    {"fallbacks": (FIRST,)},
    {"fallbacks": (replace(FIRST, class_counts=()),)},
    {"class_totals": (200, 100)},
    {"uncovered_counts": (80, 19)},
    {"class_weights": (1.0, 2.0)},
    {"smoothing": 3.0},
    {"conflict": "first"},
    {"default": "yes"},
    {"kinds": (("a", "empty"),)},
    {"classes": ("yes", "no"), "class_totals": (100, 100), "uncovered_counts": (20, 80)},
]


def test_rule_sets_are_equal_if_all_that_determines_an_answer_is_equal():
    others = [a_set(**changes) for changes in [{}, *DIFFERENT]]
    for j, one in enumerate(others):
        for k, other in enumerate(others):
            assert (one == other) == (j == k)
            assert (hash(one) == hash(other)) == (j == k)
    same = a_set(kinds=(("a", "number"), ("unused", "text")), target="y")
    same = replace(same, rules=(replace(FIRST, class_counts=(("no", 3),)), *same.rules[1:]))
    assert (same, hash(same)) == (a_set(), hash(a_set()))  # a count that is left out is 0; a has the type number
    assert a_set() != a_set().rules
    numbers = RuleSet((), (0, 1), 0, (1, 1), (0, 0))
    assert numbers != RuleSet((), (False, True), False, (1, 1), (0, 0))
    several = Rule((Equals("b", "x"),), "no")
    assert a_set(rules=(several,), kinds=(("b", "category"),)) != a_set(
        rules=(Rule((Equals("b", "x", mixed=True),), "no"),), kinds=(("b", "category"),)
    )


def test_rule_sets_with_the_same_conditions_and_labels_have_the_same_rules():
    same = [a_set().same_rules(a_set(**changes)) for changes in DIFFERENT]
    assert same == [True, False, False, False, False, False, True, True, True, True, True, False, True, True]
    assert a_set(fallbacks=FALLBACKS).same_rules(a_set(fallbacks=tuple(replace(f, class_counts=()) for f in FALLBACKS)))
    with pytest.raises(TypeError, match="other must be a RuleSet, got 5"):
        a_set().same_rules(5)


def test_statements_by_their_printed_numbers():
    rules = a_set(fallbacks=FALLBACKS)
    assert [rules.statement(number) for number in range(1, 6)] == [*a_set(), *FALLBACKS]
    assert rules.statement(np.int64(4)) is FALLBACKS[0]
    for line in str(rules).splitlines():
        number = line.split(".")[0].strip()
        if number.isdigit():
            assert str(rules.statement(int(number))).split(" THEN")[0] in line
    for wrong in (0, -1, 6, 1.0, "1", True, None):
        with pytest.raises(ValueError, match="there are rules from 1 to 3 and fallback rules from 4 to 5, got"):
            rules.statement(wrong)
    with pytest.raises(ValueError, match="there are rules from 1 to 3, got 4"):
        a_set().statement(4)
    with pytest.raises(ValueError, match="there are fallback rules from 1 to 2, got 3"):
        a_set(rules=(), fallbacks=FALLBACKS).statement(3)
    with pytest.raises(ValueError, match="there are no rules, only the default label, got 1"):
        a_set(rules=()).statement(1)


def test_the_type_of_a_column_is_that_in_training_or_of_the_first_condition_that_has_one():
    rules = (Rule((IsMissing("a"), Equals("b", "x")), "no"), Rule((Interval("a", 1), IsMissing("c")), "no"))
    known = a_set(rules=rules, kinds=(("b", "category"), ("unused", "date")))
    assert known.columns == ("a", "b", "c")
    assert known.column_kinds == {"a": "number", "b": "category", "c": ""}
    assert [known.kind(name) for name in ("a", "b", "c", "unused", "unknown")] == ["number", "category", "", "date", ""]


factors = st.sampled_from([1e-100, 1e100, 1e-9, 1.0, 1e9, 1 / 3]) | st.floats(1e-100, 1e100)


@st.composite
def extreme_rule_sets(draw):
    """Draw a rule set with any numbers that are accepted, each rule on a column of its own."""
    classes = tuple("abcde")[: draw(st.integers(1, 5))]
    n = len(classes)
    limits = st.sampled_from([0, 1, 5, 2**50]) | st.integers(0, 2**50)
    covered, uncovered = (tuple(draw(st.lists(limits, min_size=n, max_size=n))) for _ in range(2))
    totals = tuple(map(sum, zip(covered, uncovered, strict=True)))

    def counts(most):
        return tuple(draw(st.sampled_from([0, total, total // 3])) for total in most)

    def rules(start, n_rules, most):
        return tuple(
            Rule(
                (Interval(f"x{start + j}", 0),),
                draw(st.sampled_from(classes)),
                tuple(zip(classes, counts(most), strict=True))[: draw(st.integers(0, n))],
            )
            for j in range(n_rules)
        )

    weights = draw(st.none() | st.lists(factors, min_size=n, max_size=n).map(tuple))
    smoothing = draw(st.none() | st.just(0.0) | factors)
    conflict = draw(st.sampled_from(list(CONFLICTS)))
    some, fallbacks = rules(0, 2, covered), rules(2, 1, uncovered)
    return RuleSet(some, classes, classes[0], totals, uncovered, conflict, fallbacks, weights, smoothing)


@settings(max_examples=400)
@given(extreme_rule_sets())
def test_probabilities_of_any_rule_set_are_finite_and_sum_to_1(rule_set):
    table = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    for rules in (rule_set, RuleSet.from_json(rule_set.to_json())):
        for shares in (rules.predict_proba(table), rules.rule_probabilities):
            assert np.isfinite(shares).all()
            assert shares.min() >= 0
            assert shares.max() <= 1
            np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-11)
        decision = rules.decision
        assert sorted(decision.order.tolist()) == [0, 1]
        assert decision.ballots is None or (decision.ballots >= 0).all()
        assert set(rules.predict(table)) <= set(rules.classes)
        assert "nan" not in str(rules)


def test_probabilities_without_training_records_are_equal():
    empty = RuleSet((), ("a", "b"), "a", (0, 0), (0, 0))
    np.testing.assert_array_equal(empty.predict_proba(np.zeros((1, 1))), [[0.5, 0.5]])
    weighted = replace(empty, class_weights=(1.0, 3.0), smoothing=0)
    np.testing.assert_array_equal(weighted.predict_proba(np.zeros((1, 1))), [[0.25, 0.75]])


SURROGATES = ("\ud800", "\udfff x", "a\udc80")


def rules_with_surrogates(column):
    rule = Rule((Equals(column, SURROGATES[2]),), SURROGATES[0], ((SURROGATES[0], 1), (SURROGATES[1], 1)))
    weights = (1.0, 2.0, 5.0)
    return RuleSet((rule,), SURROGATES, SURROGATES[2], (1, 2, 3), (0, 1, 3), "counts", class_weights=weights)


@pytest.mark.parametrize("column", ["x0", SURROGATES[1], (SURROGATES[1], 1)])
def test_lone_surrogates_are_escaped_in_all_texts(column):
    """They cannot be encoded as UTF-8."""
    rules = rules_with_surrogates(column)
    assert RuleSet.from_json(rules.to_json()) == rules
    assert RuleSet.from_json(rules.to_json().encode("utf-8")) == rules
    assert rules.to_json().isascii()
    assert Rule.parse(str(rules[0])) == rules[0]
    for text in (str(rules), repr(rules), rules._repr_html_(), rules.to_python(), rules.why({column: "b"})):
        assert text.encode("utf-8")
    with pytest.raises(ValueError, match="default must be one of the classes") as caught:
        replace(rules, default="\ud801")
    assert str(caught.value).encode("utf-8")


def test_labels_and_values_with_lone_surrogates_are_predicted():
    rules, table = rules_with_surrogates("x0"), np.array([[SURROGATES[2]], ["b"]], object)
    assert rules.predict(table).tolist() == [SURROGATES[1], SURROGATES[2]]
    assert all(reason.encode("utf-8") for reason in rules.reasons(table))


@pytest.mark.parametrize(
    ("like", "escaped"),
    [(pd.DataFrame({"a": [1]}), False), (pl.DataFrame({"a": [1]}), True), (None, False)],
    ids=["pandas", "polars", ""],
)
def test_a_data_frame_that_cannot_store_lone_surrogates_gets_their_escape_sequences(like, escaped):
    labels = rules_with_surrogates("x0").to_frame(like)["then"].to_list()
    expected = [SURROGATES[0], SURROGATES[2]]
    assert labels == ([text.encode("utf-8", "backslashreplace").decode() for text in expected] if escaped else expected)


def test_two_surrogates_in_a_row_cannot_be_written_as_json():
    label = "\ud83d\ude00"  # JSON would read them as one character
    rules = RuleSet((), (label, "b"), "b", (1, 1), (1, 1))
    with pytest.raises(ValueError, match="JSON cannot represent a label such as"):
        rules.to_json()
    assert str(rules).encode("utf-8")


def test_copies_of_a_rule_set():
    rules = a_set(fallbacks=FALLBACKS, target="y")
    hash(rules), rules.columns  # what is computed once is not copied with it
    for again in (copy.copy(rules), copy.deepcopy(rules), pickle.loads(pickle.dumps(rules))):
        assert (again, hash(again), again.target) == (rules, hash(rules), "y")
        assert again.rules[0].class_counts == rules.rules[0].class_counts
        np.testing.assert_array_equal(again.predict_proba(Z), rules.predict_proba(Z))


def test_many_rules_are_checked_without_a_comparison_of_all_pairs():
    """Every rule reads a column of its own: what compared all columns with all rules took minutes."""
    n = 20_000
    counts = (("no", 1), ("yes", 2))
    rules = tuple(Rule((Interval(f"x{j}", j), IsIn(f"y{j}", ("a", "b"))), "no", counts) for j in range(n))
    many = a_set(rules=rules)
    assert len(many.columns) == 2 * n
    assert json.loads(many.to_json())["columns"][-1] == {"name": f"y{n - 1}", "kind": ""}
    assert many == RuleSet.from_json(many.to_json())


@pytest.mark.parametrize("label", [None, math.nan, math.inf, ["p"], {}, object(), b"p", 1j, pd.NaT])
def test_a_label_is_text_a_finite_number_or_a_boolean(label):
    with pytest.raises(ValueError, match="label must be text, a finite number or a boolean, got"):
        Rule((), label)
    with pytest.raises(ValueError, match="class_counts must be pairs of"):
        Rule((), "p", ((label, 1),))


@pytest.mark.parametrize("column", [math.nan, pd.NaT, pd.NA, ("a", math.nan), ("a", frozenset({pd.NaT}))])
def test_a_condition_needs_a_name_that_equals_itself(column):
    for make in (partial(Interval, low=3), partial(Equals, value="x"), partial(IsIn, values=("x",)), IsMissing):
        with pytest.raises(ValueError, match="NaN, NaT and NA equal no name, got"):
            make(column)


@pytest.mark.parametrize("column", [["a"], {"a": 1}, ("a", ["b"])])
def test_a_condition_needs_a_name_that_can_be_the_name_of_a_column(column):
    for make in (partial(Interval, low=3), partial(Equals, value="x"), partial(IsIn, values=("x",)), IsMissing):
        with pytest.raises(TypeError, match="column must be the name of a column, such as a string, got"):
            make(column)


def test_a_rule_has_no_interval_that_contains_no_value():
    for empty in (Interval("a", 3, 1), Interval("a", 3, 3), Interval("a", 3, 3, True, False)):
        with pytest.raises(ValueError, match="must not have an interval that contains no value, got 3 <"):
            Rule((empty,), "u")
    assert Rule.parse(str(Rule((Interval("a", 3, 3, True, True),), "u"))).conditions[0].low == 3


def test_counts_of_a_rule_set_do_not_contradict_each_other():
    """No record is covered by a rule and uncovered, and each uncovered record is decided by one fallback rule."""
    rule = Rule((Interval("a", 3),), "u", (("u", 3), ("v", 0)))
    with pytest.raises(ValueError, match=r"rules\[0\].class_counts must be at most .* \(2, 5\), got \[3, 0\]"):
        RuleSet((rule,), ("u", "v"), "v", (5, 5), (3, 0))
    assert RuleSet((rule,), ("u", "v"), "v", (5, 5), (2, 5)).uncovered_counts == (2, 5)
    expected = r"sum of the class_counts of fallbacks must be at most the uncovered_counts \(5, 0\), .*, got \(6, 0\)"
    with pytest.raises(ValueError, match=expected):
        RuleSet((), ("u", "v"), "v", (9, 9), (5, 0), fallbacks=(rule, rule))
    assert RuleSet((), ("u", "v"), "v", (9, 9), (6, 0), fallbacks=(rule, rule)).default_counts == (6, 0)


@pytest.mark.parametrize(
    "domains", [(("a", "x"),), (("a",),), 5, (("a", Domain()), ("a", Domain())), ((["a"], Domain()),)]
)
def test_domains_are_pairs_of_a_column_and_its_domain(domains):
    with pytest.raises(ValueError, match=r"domains must be pairs of \(column, Domain\)"):
        a_set(domains=domains)


def test_a_set_of_values_is_not_a_text():
    with pytest.raises(TypeError, match="values must be a tuple of values, got 'abc'"):
        IsIn("a", "abc")


def test_a_column_is_compared_with_values_of_one_type():
    two = (Rule.parse("IF a > 2020-01-01 THEN no"), Rule.parse("IF a > 2020-01-01Z THEN yes"))
    with pytest.raises(ValueError, match=r"column 'a' with values of the types 'date' and 'date \(UTC\)'"):
        a_set(rules=two)
