import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diverse_rule_sets import Condition, Equals, Interval, IsMissing, Rule, RuleSet
from diverse_rule_sets._tables import as_table

UTC = datetime.UTC


def holds(condition, values):
    return condition.holds(as_table(pd.DataFrame({condition.column: values})).column(condition.column)).tolist()


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval("petal width (cm)", high=0.8), "petal width (cm) <= 0.8"),
        (Interval("age", 37, 60), "37 < age <= 60"),
        (Interval("age", 37.0), "age > 37"),
        (Interval("a = b", high=1e20), "`a = b` <= 1e+20"),
        (Interval(3, high=-0.25), "[3] <= -0.25"),
        (Interval("x\ny", high=1), "`x\\ny` <= 1"),
        (Interval("", high=1), "`` <= 1"),
        (Interval("SAND", high=1), "SAND <= 1"),
        (Interval("37", high=1), "`37` <= 1"),
        (Interval("1e5", high=1), "`1e5` <= 1"),
        (Interval("2nd visit", high=1), "2nd visit <= 1"),
        (Interval("[0]", high=1), "`[0]` <= 1"),
        (Interval("a`b", high=1), "`a``b` <= 1"),
        (Interval("A AND B", high=1), "`A AND B` <= 1"),
        (Interval("since", datetime.datetime(2020, 1, 31)), "since > 2020-01-31"),
        (Interval("since", datetime.datetime(2020, 1, 31, 14, 30)), "since > 2020-01-31 14:30:00"),
        (Interval("since", high=datetime.datetime(2020, 1, 31, tzinfo=UTC)), "since <= 2020-01-31Z"),
        (Equals("sex", "F"), 'sex = "F"'),
        (Equals("sex", 'a "b" \n'), 'sex = "a \\"b\\" \\n"'),
        (Equals("land", "Österreich"), 'land = "Österreich"'),
        (Equals("smoker", True), "smoker = True"),
        (Equals("code", 7), "code = 7"),
        (IsMissing("income"), "income is missing"),
    ],
)
def test_conditions_read_well(condition, text):
    assert str(condition) == text


def test_conditions_of_missing_outlying_and_unseen_values():
    assert holds(Interval("a", 2, 4), [1, 2, 2.1, 4, 4.1, None]) == [False, False, True, True, False, False]
    assert holds(Interval("a", 2), [-1e300, np.inf, 1e300, None]) == [False, True, True, False]
    assert holds(Interval("a", high=2), [-1e300, np.inf, None]) == [True, False, False]
    assert holds(Equals("a", "F"), ["F", "M", "f", "new", None]) == [True, False, False, False, False]
    assert holds(Equals("a", True), [True, False, None]) == [True, False, False]
    assert holds(Equals("a", 2), pd.Categorical([1, 2, None])) == [False, True, False]
    assert holds(Equals("a", 2), [1.0, 2.0, None]) == [False, True, False]
    assert holds(IsMissing("a"), ["F", None]) == [False, True]
    day = datetime.datetime(2020, 1, 1)
    assert holds(Interval("a", day), pd.to_datetime(["2019-05-05", "2020-01-01", "2020-01-02", None])) == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "condition", [Interval("a", 1), Equals("a", "F"), Equals("a", True), Interval("a", datetime.datetime(2020, 1, 1))]
)
@pytest.mark.parametrize(
    "values", [[np.nan, np.nan], pd.Series([None, None], dtype=object), pd.to_datetime([None, None])]
)
def test_a_column_of_missing_values_satisfies_no_comparison_whatever_its_type(condition, values):
    assert holds(condition, values) == [False, False]


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        (Interval("a", 1), ["1", "2"]),
        (Interval("a", 1), [True, False]),
        (Equals("a", "1"), [1, 2]),
        (Equals("a", "True"), [True, False]),
        (Equals("a", True), ["True", "False"]),
        (Equals("a", 1), ["1", "2"]),
        (Equals("a", True), [1, 0]),
        (Interval("a", datetime.datetime(2020, 1, 1)), [1, 2]),
        (Interval("a", datetime.datetime(2020, 1, 1)), pd.to_datetime(["2020-01-01"]).tz_localize("UTC")),
    ],
)
def test_a_column_of_another_kind_is_an_error_that_names_it(condition, values):
    with pytest.raises(ValueError, match=r"column 'a' holds .* values, expected .* values for the condition"):
        holds(condition, values)


def test_an_interval_needs_a_bound_and_a_condition_a_kind():
    with pytest.raises(ValueError, match="an interval of 'a' needs low or high"):
        Interval("a")
    with pytest.raises(TypeError):
        Condition("a")


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
    fired = a_set().fires(X)
    assert fired.tolist() == [
        [False, False, False],
        [False, True, False],
        [False, True, True],
        [True, True, True],
        [False, False, False],
    ]
    assert a_set("precision").speakers(fired).tolist() == [-1, 1, 1, 0, -1]
    assert a_set("smoothed").speakers(fired).tolist() == [-1, 1, 1, 0, -1]  # (3 + 1) / (3 + 2) = .8 > .794
    assert a_set("vote").speakers(fired).tolist() == [-1, 1, 1, 1, -1]
    assert a_set(lambda rules: rules[-1]).speakers(fired).tolist() == [-1, 1, 2, 2, -1]
    small = a_set().rules[0], Rule((Interval("a", 1),), "yes", (("no", 20), ("yes", 380)))
    assert a_set("precision", rules=small).speakers(fired[:, :2]).tolist()[3] == 0
    assert a_set("smoothed", rules=small).speakers(fired[:, :2]).tolist()[3] == 1


def test_votes_are_weighted_by_smoothed_precision():
    """Two small pure rules lose to one large good one, though their plain precisions are higher in sum."""

    def rule(label, counts):
        return Rule((Interval("a", 1),), label, tuple(zip(("no", "yes"), counts, strict=True)))

    rules = (rule("no", (1, 1)), rule("yes", (0, 1)), rule("no", (1, 1)))
    fired = np.array([[True, True, True], [True, True, False], [False, False, True]])
    # Smoothed: .5 + .5 for no against 2/3 for yes; alone, .5 against 2/3.
    assert a_set("vote", rules=rules).speakers(fired).tolist() == [0, 1, 2]
    weak = (rule("no", (6, 4)), rule("yes", (0, 1)))  # plain .6 < 1, smoothed .583 < .667
    assert a_set("vote", rules=weak).speakers(np.ones((1, 2), bool)).tolist() == [1]
    strong = (rule("no", (9, 1)), rule("yes", (0, 1)))  # plain .9 < 1, smoothed .833 > .667
    assert a_set("vote", rules=strong).speakers(np.ones((1, 2), bool)).tolist() == [0]
    assert a_set("precision", rules=strong).speakers(np.ones((1, 2), bool)).tolist() == [1]


def test_equally_precise_rules_give_way_to_the_larger_then_the_earlier():
    def rule(label, n):
        return Rule((Interval("a", 1),), label, ((label, n),))

    fired = np.ones((1, 2), bool)
    assert a_set(rules=(rule("no", 3), rule("yes", 5))).speakers(fired).tolist() == [1]
    assert a_set(rules=(rule("no", 5), rule("yes", 5))).speakers(fired).tolist() == [0]


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
    assert empty.fires(X).shape == (5, 0)
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


def test_long_rules_are_wrapped_and_odd_labels_are_quoted():
    long = Rule(tuple(Interval(f"a rather long column name {k}", 1) for k in range(4)), "a\nb", (("a\nb", 1),))
    page = str(a_set(rules=(long,), classes=("a\nb", "no"), uncovered_counts=(0, 0)))
    assert max(map(len, page.splitlines())) < 100
    assert 'THEN "a\\nb" (precision 1.00' in page
