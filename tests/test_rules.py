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
    """Rules on one column, for a > 1, a > 2, a > 3: small and pure, large, and of another label."""
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


def test_which_rule_speaks():
    fired = a_set().covers(X)
    assert fired.tolist() == [
        [False, False, False],
        [False, True, False],
        [False, True, True],
        [True, True, True],
        [False, False, False],
    ]
    assert a_set("precision").deciding(X).tolist() == [-1, 1, 1, 0, -1]
    assert a_set("smoothed").deciding(X).tolist() == [-1, 1, 1, 0, -1]  # (3 + 1) / (3 + 2) = .8 > .794
    assert a_set("vote").deciding(X).tolist() == [-1, 1, 1, 1, -1]
    assert a_set(lambda rules: rules[-1]).deciding(X).tolist() == [-1, 1, 2, 2, -1]
    small = a_set().rules[0], Rule((Interval("a", 1),), "yes", (("no", 20), ("yes", 380)))
    assert a_set("precision", rules=small).deciding(X).tolist()[3] == 0
    assert a_set("smoothed", rules=small).deciding(X).tolist()[3] == 1


def rule_of(column, label, counts):
    """A rule that covers the records with a one in a column of an array, with so many records of no and of yes."""
    return Rule((Interval(f"x{column}", 0),), label, tuple(zip(("no", "yes"), counts, strict=True)))


def test_votes_are_weighted_by_smoothed_precision():
    """Two small pure rules lose to one large good one, though their plain precisions are higher in sum."""
    rules = (rule_of(0, "no", (1, 1)), rule_of(1, "yes", (0, 1)), rule_of(2, "no", (1, 1)))
    fired = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1]])
    # Smoothed: .5 + .5 for no against 2/3 for yes; alone, .5 against 2/3.
    assert a_set("vote", rules=rules).deciding(fired).tolist() == [0, 1, 2]
    weak = (rule_of(0, "no", (6, 4)), rule_of(1, "yes", (0, 1)))  # plain .6 < 1, smoothed .583 < .667
    assert a_set("vote", rules=weak).deciding(np.ones((1, 2))).tolist() == [1]
    strong = (rule_of(0, "no", (9, 1)), rule_of(1, "yes", (0, 1)))  # plain .9 < 1, smoothed .833 > .667
    assert a_set("vote", rules=strong).deciding(np.ones((1, 2))).tolist() == [0]
    assert a_set("precision", rules=strong).deciding(np.ones((1, 2))).tolist() == [1]


def test_the_first_rule_or_the_one_with_the_highest_f1_may_speak():
    assert a_set("first").deciding(X).tolist() == [-1, 1, 1, 0, -1]
    assert a_set("first", rules=a_set().rules[::-1]).deciding(X).tolist() == [-1, 1, 0, 0, -1]
    # F1 = 2 * hits / (covered + class size): 6/103, 160/200, 60/140.
    assert a_set("f1").deciding(X).tolist() == [-1, 1, 1, 1, -1]
    assert a_set("f1", rules=a_set().rules[::2]).deciding(X).tolist() == [-1, -1, 1, 1, -1]


def test_added_class_counts_may_say_what_no_rule_says_alone():
    counts = [(60, 0, 40), (0, 60, 45)]
    rules = tuple(
        Rule((Interval(f"x{j}", 0),), label, tuple(zip("abc", row, strict=True)))
        for j, (label, row) in enumerate(zip("ab", counts, strict=True))
    )
    both = RuleSet(rules, ("a", "b", "c"), "a", (100, 100, 100), (5, 1, 0), "counts", smoothing=3.0)
    fired = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    assert both.predict(fired).tolist() == ["c", "a", "b", "a"]
    assert both.deciding(fired).tolist() == [-1, 0, 1, -1]  # neither rule speaks for class c
    expected = [[61 / 208, 61 / 208, 86 / 208], [61 / 103, 1 / 103, 41 / 103], [1 / 108, 61 / 108, 46 / 108]]
    np.testing.assert_allclose(both.predict_proba(fired), [*expected, [6 / 9, 2 / 9, 1 / 9]])
    assert both.reasons(fired) == [
        "rules 1 and 2 together: 85 c, 60 a, 60 b, hence c",
        "IF x0 > 0 THEN a: 60 a, 40 c",
        "IF x1 > 0 THEN b: 60 b, 45 c",
        "no rule covers it: a",
    ]
    assert "their class counts are added up" in str(both)


def test_a_backup_is_not_asked_where_rules_cover_a_record_but_none_has_the_label_that_wins():
    abc = "abc"
    rules = tuple(
        Rule((Interval(f"x{j}", 0),), label, tuple(zip(abc, row, strict=True)))
        for j, (label, row) in enumerate([("a", (60, 0, 40)), ("b", (0, 60, 45))])
    )
    spare = Rule((Interval("x2", 0),), "b", tuple(zip(abc, (0, 3, 0), strict=True)))
    both = RuleSet(rules, tuple(abc), "a", (100, 100, 100), (5, 4, 0), "counts", (spare,))
    table = np.array([[1, 1, 1], [0, 0, 1], [0, 0, 0]])
    assert both.deciding(table).tolist() == [-1, 2, -1]
    assert both.predict(table).tolist() == ["c", "b", "a"]
    assert [reason.split(":")[0] for reason in both.reasons(table)] == [
        "rules 1 and 2 together",
        "no rule covers it; the first fallback that does",
        "no rule and no fallback covers it",
    ]


def test_added_counts_are_not_smoothed_and_a_tie_goes_to_the_larger_class():
    rules = (rule_of(0, "no", (2, 2)), rule_of(1, "yes", (1, 2)), rule_of(2, "no", (1, 0)))
    table = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])
    few = a_set("counts", rules=rules, class_totals=(900, 100), smoothing=5.0)
    assert few.predict(table).tolist() == ["yes", "no", "yes", "no"]  # 3 : 4, 4 : 4, 1 : 2, 2 : 2
    many = a_set("counts", rules=rules, class_totals=(100, 900), smoothing=5.0)
    assert many.predict(table).tolist() == ["yes"] * 4
    assert many.reasons(table)[3] == "IF x0 > 0 THEN no: 2 no, 2 yes, hence yes"
    weighted = a_set("counts", rules=rules, class_weights=(2.0, 1.0))
    assert weighted.predict(table).tolist() == ["no"] * 4


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_many_records_are_looked_at_in_blocks(conflict, monkeypatch):
    rng = np.random.default_rng(0)
    labels, counts = ("no", "yes", "no", "no", "yes"), ((5, 3), (2, 9), (7, 7), (3, 0), (1, 4))
    rules = tuple(rule_of(j, label, both) for j, (label, both) in enumerate(zip(labels, counts, strict=True)))
    spare = (rule_of(5, "yes", (0, 2)),)
    table = rng.integers(0, 2, (301, 6))
    together = a_set(conflict, rules=rules, fallbacks=spare)
    ask = (RuleSet.answers, RuleSet.deciding, RuleSet.predict_proba, RuleSet.reasons)
    ref = [one(together, table) for one in ask]
    monkeypatch.setattr(answers_module, "_BLOCK", 1)
    for one, expected in zip(ask, ref, strict=True):
        np.testing.assert_array_equal(one(together, table), expected)


def test_an_unknown_way_to_settle_conflicts_is_refused():
    with pytest.raises(
        ValueError, match=r"conflict must be one of 'precision', .*'counts', or a function .*, got 'loudest'"
    ):
        a_set("loudest")


def test_equally_precise_rules_give_way_to_the_larger_then_the_earlier():
    larger = (rule_of(0, "no", (3, 0)), rule_of(1, "yes", (0, 5)))
    equal = (rule_of(0, "no", (5, 0)), rule_of(1, "yes", (0, 5)))
    assert a_set(rules=larger).deciding(np.ones((1, 2))).tolist() == [1]
    assert a_set(rules=equal).deciding(np.ones((1, 2))).tolist() == [0]


def test_a_conflict_function_must_return_one_of_the_rules():
    with pytest.raises(ValueError, match="conflict returned 'yes', expected one of the covering rules"):
        a_set(lambda rules: "yes").predict(X)


def test_predictions_and_probabilities():
    rules = a_set()
    assert rules.predict(X).tolist() == ["no", "yes", "yes", "no", "no"]
    expected = [[81 / 102, 21 / 102], [21 / 102, 81 / 102], [21 / 102, 81 / 102], [4 / 5, 1 / 5], [81 / 102, 21 / 102]]
    np.testing.assert_allclose(rules.predict_proba(X), expected)


def test_a_set_without_rules_answers_with_its_default():
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


def test_the_page():
    assert str(a_set()) == (
        "1. IF a > 3\n"
        "   THEN no (precision 1.00, covers 3 of 200 records: 3 no)\n"
        "2. IF a > 1\n"
        "   THEN yes (precision 0.80, covers 100 of 200 records: 80 yes, 20 no)\n"
        "3. IF a > 2\n"
        "   THEN yes (precision 0.75, covers 40 of 200 records: 30 yes, 10 no)\n"
        "   OTHERWISE no (no rule covers 100 of 200 records: 80 no, 20 yes)\n"
        "Where several rules cover a record, the most precise one speaks."
    )


BACKUPS = (
    Rule((Interval("b", 1),), "yes", (("no", 1), ("yes", 3))),
    Rule((Interval("b", 0),), "no", (("no", 9), ("yes", 1))),
)
# Under no rule and both fallbacks, the second fallback, none; under a rule and both fallbacks; and with gaps.
Z = pd.DataFrame({"a": [0, 0, 0, 2.5, None, None], "b": [2, 1, 0, 2, 2, None]})


def test_the_first_backup_that_covers_a_record_speaks_where_no_rule_does():
    rules = a_set(fallbacks=BACKUPS)
    assert rules.deciding(Z).tolist() == [3, 4, -1, 1, 3, -1]
    assert rules.predict(Z).tolist() == ["yes", "no", "no", "yes", "yes", "no"]
    assert a_set(fallbacks=BACKUPS[::-1]).deciding(Z).tolist() == [3, 3, -1, 1, 3, -1]
    assert a_set(fallbacks=BACKUPS, rules=()).deciding(Z).tolist() == [0, 1, -1, 0, 0, -1]
    assert a_set(fallbacks=BACKUPS, default="yes").predict(Z).tolist() == ["yes", "no", "yes", "yes", "yes", "yes"]
    assert a_set(fallbacks=()).deciding(Z).tolist() == [-1, -1, -1, 1, -1, -1]


@pytest.mark.parametrize("conflict", [*CONFLICTS, lambda rules: rules[0]])
def test_a_backup_never_takes_part_in_a_conflict(conflict):
    sure = Rule((Interval("a", -1),), "no", (("no", 1000), ("yes", 0)))
    rules = a_set(conflict, rules=a_set().rules[1:], fallbacks=(sure,))
    assert rules.deciding(pd.DataFrame({"a": [0, 1.5, 2.5]})).tolist() == [2, 0, 0]


def test_backups_are_counted_apart_from_the_rules():
    rules = a_set(fallbacks=BACKUPS)
    assert len(rules) == 3
    assert list(rules) == list(a_set())
    assert rules.covers(Z).shape == (6, 3)
    assert rules.columns == ("a", "b")
    assert rules.labels_of(np.array([0, 1, 2, 3, 4, -1])).tolist() == [0, 1, 1, 1, 0, 0]
    assert repr(rules) == "<RuleSet: 3 rules, 2 fallbacks, 2 classes, default 'no'>"
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert rules != a_set(fallbacks=BACKUPS[::-1])


def test_probabilities_of_backups_are_their_own_smoothed_counts():
    expected = [[2 / 6, 4 / 6], [10 / 12, 2 / 12], [71 / 88, 17 / 88], [21 / 102, 81 / 102]]
    np.testing.assert_allclose(a_set(fallbacks=BACKUPS).predict_proba(Z)[:4], expected)


def test_the_page_with_backups():
    page = str(a_set(fallbacks=BACKUPS)).splitlines()
    assert page[:6] == str(a_set()).splitlines()[:6]
    assert page[6:] == [
        "Where no rule covers a record (no rule covers 100 of 200 records: 80 no, 20 yes), the first of these speaks:",
        "4. IF b > 1 THEN yes (0.75 of 4: 3 yes, 1 no)",
        "5. IF b > 0 THEN no (0.90 of 10: 9 no, 1 yes)",
        "   OTHERWISE no (86 records are left: 70 no, 16 yes)",
        "Where several rules cover a record, the most precise one speaks.",
    ]


def test_smoothing_and_class_weights_in_probabilities():
    """w_k * (n_k + m * p_k), scaled to sum to 1."""
    some = {"class_totals": (150, 50), "fallbacks": BACKUPS}  # p = 3/4, 1/4
    plain = [[1, 3], [9, 1], [70, 16], [20, 80]]  # (80, 20) uncovered, less what the fallbacks answer
    np.testing.assert_allclose(
        a_set(**some, smoothing=0).predict_proba(Z)[:4], [[n / sum(c) for n in c] for c in plain]
    )
    smoothed = [[4 / 8, 4 / 8], [12 / 14, 2 / 14], [73 / 90, 17 / 90], [23 / 104, 81 / 104]]
    np.testing.assert_allclose(a_set(**some, smoothing=4).predict_proba(Z)[:4], smoothed)
    weighted = [[4 / 16, 12 / 16], [12 / 18, 6 / 18], [73 / 124, 51 / 124], [23 / 266, 243 / 266]]
    for weights in ((1, 3), (0.5, 1.5)):
        got = a_set(**some, smoothing=4, class_weights=weights).predict_proba(Z)
        np.testing.assert_allclose(got[:4], weighted)
    # Without a count, smoothing or not, the classes are as common as in the whole table.
    nothing = some | {"uncovered_counts": (0, 0), "smoothing": 0}
    np.testing.assert_allclose(a_set(**nothing).predict_proba(Z)[2], [3 / 4, 1 / 4])
    np.testing.assert_allclose(a_set(**nothing, class_weights=(1, 3)).predict_proba(Z)[2], [1 / 2, 1 / 2])


def test_smoothing_and_class_weights_decide_which_rule_speaks():
    rules = (rule_of(0, "no", (3, 0)), rule_of(1, "yes", (5, 95)))
    both = np.ones((1, 2))
    for smoothing, weights, speaker in ((0, None, 0), (5, None, 1), (5, (10, 1), 0), (0, (1, 10), 0)):
        known = a_set("smoothed", rules=rules, smoothing=smoothing, class_weights=weights)
        assert known.deciding(both).tolist() == [speaker]
        assert a_set("precision", rules=rules, smoothing=smoothing, class_weights=weights).deciding(both) == [0]


def test_long_rules_are_wrapped_and_odd_labels_are_quoted():
    long = Rule(tuple(Interval(f"a rather long column name {k}", 1) for k in range(4)), "a\nb", (("a\nb", 1),))
    page = str(a_set(rules=(long,), classes=("a\nb", "no"), uncovered_counts=(0, 0)))
    assert max(map(len, page.splitlines())) < 100
    assert 'THEN "a\\nb" (precision 1.00' in page


def test_what_is_nearly_all_does_not_read_as_all():
    counts = [(("a", 4521), ("b", 2)), (("a", 1), ("b", 4000)), (("a", 10), ("b", 0))]
    rules = tuple(Rule((Interval("x", low=float(j)),), "a", pairs) for j, pairs in enumerate(counts))
    page = str(RuleSet(rules, ("a", "b"), "a", (9000, 9000), (0, 0)))
    assert "precision >0.99, covers 4,523" in page
    assert "precision <0.01, covers 4,001" in page
    assert "precision 1.00, covers 10 of" in page
