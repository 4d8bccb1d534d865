import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diverse_rule_sets import Equals, Interval, Rule, RuleSet
from diverse_rule_sets.model import _answers as answers_module
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
    assert a_set("precision", rules=small).deciding_rules(X).tolist()[3] == 0
    assert a_set("smoothed", rules=small).deciding_rules(X).tolist()[3] == 1


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
    rules = a_set(conflict, rules=a_set().rules[1:], fallbacks=(sure,))
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
        "   OTHERWISE no (some rule or fallback rule covers each of the 200 records)",
    ]


def test_smoothing_and_class_weights_in_probabilities():
    """w_k * (n_k + m * p_k), scaled to sum to 1."""
    some = {"class_totals": (150, 50), "fallbacks": FALLBACKS}  # p = 3/4, 1/4
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
    nothing = some | {"uncovered_counts": (0, 0), "smoothing": 0}
    np.testing.assert_allclose(a_set(**nothing).predict_proba(Z)[2], [3 / 4, 1 / 4])
    np.testing.assert_allclose(a_set(**nothing, class_weights=(1, 3)).predict_proba(Z)[2], [1 / 2, 1 / 2])


def test_which_rule_decides_depends_on_smoothing_and_class_weights():
    rules = (rule_of(0, "no", (3, 0)), rule_of(1, "yes", (5, 95)))
    both = np.ones((1, 2))
    for smoothing, weights, deciding in ((0, None, 0), (5, None, 1), (5, (10, 1), 0), (0, (1, 10), 0)):
        known = a_set("smoothed", rules=rules, smoothing=smoothing, class_weights=weights)
        assert known.deciding_rules(both).tolist() == [deciding]
        assert a_set("precision", rules=rules, smoothing=smoothing, class_weights=weights).deciding_rules(both) == [0]


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
