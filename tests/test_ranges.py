"""Ranges of ordered categories: conditions, text, learning, editing and files."""

import html
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    DRSClassifier,
    Equals,
    IsIn,
    IsInRange,
    IsNotIn,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
)
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._ranges import category_range
from diverse_rule_sets.report import write_html
from diverse_rule_sets.report._plain_text import phrase
from models import NAMES, TEXTS, ranges_of

GRADES = ("E", "D", "C", "B", "A")
AT_LEAST_C = IsInRange("grade", ("C", "B", "A"), order=GRADES)


def holds(condition, values):
    return condition.holds(as_table(pd.DataFrame({condition.column: values})).column(condition.column)).tolist()


def test_it_holds_for_the_categories_of_the_range_in_any_column():
    values = ["E", "C", "A", "new", None]
    expected = [False, True, True, False, False]
    assert holds(AT_LEAST_C, values) == expected
    assert holds(AT_LEAST_C, pd.Categorical(values)) == expected
    assert holds(AT_LEAST_C, pd.Categorical(values, ["new", *GRADES], ordered=True)) == expected
    assert holds(AT_LEAST_C, pd.Categorical(values[:3], GRADES[::-1], ordered=True)) == expected[:3]


@given(st.data())
def test_two_ranges_meet_as_their_values_do(data):
    order = tuple(range(data.draw(st.integers(2, 6))))
    one, other = data.draw(ranges_of("x", order)), data.draw(ranges_of("x", order))
    both = [value for value in one.values if value in other.values]
    if not both:
        with pytest.raises(ValueError, match="no value can meet both"):
            one.meet(other)
    elif len(both) == 1:
        assert one.meet(other) == Equals("x", both[0])
    else:
        assert one.meet(other) == IsInRange("x", tuple(both), order=order)


def test_a_range_meets_other_conditions():
    assert AT_LEAST_C.meet(Equals("grade", "B")) == Equals("grade", "B")
    assert AT_LEAST_C.meet(IsIn("grade", ("D", "B", "A"))) == IsIn("grade", ("B", "A"))
    assert AT_LEAST_C.meet(IsNotIn("grade", ("B",))) == IsIn("grade", ("C", "A"))
    assert IsNotIn("grade", ("B",)).meet(AT_LEAST_C) == IsIn("grade", ("C", "A"))
    assert IsIn("grade", ("C", "B", "A")) != AT_LEAST_C
    assert IsInRange("grade", ("C", "B", "A"), order=GRADES[1:]) != AT_LEAST_C


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IsInRange("g", ("A",), order=GRADES), "two or more that follow each other"),
        (lambda: IsInRange("g", ("C", "A"), order=GRADES), "two or more that follow each other"),
        (lambda: IsInRange("g", ("B", "C"), order=GRADES), "two or more that follow each other"),
        (lambda: IsInRange("g", ("C", "x"), order=GRADES), "two or more that follow each other"),
        (lambda: IsInRange("g", ("C", "B"), order=("C", "B", "C")), "two or more different categories"),
        (lambda: IsInRange("g", ("C", "B"), order=("C", None)), "must not be missing"),
        (lambda: category_range("g", GRADES, low="F"), 'the order of g does not contain "F"; it is "E", "D"'),
        (lambda: category_range("g", GRADES, low="B", high="D"), "no category of g is between the bounds"),
        (lambda: Rule.parse('IF g >= "B" THEN x'), r"give it by the parameter orders, such as orders=\{'g': \["),
        (lambda: Rule.parse('IF "B" <= g THEN x'), "the order of its categories is not known"),
        (lambda: Rule.parse('IF "B" = g THEN x'), "expected a condition"),
        (lambda: Rule.parse('IF "B" <= "C" THEN x', orders={"g": GRADES}), "expected a condition"),
        (lambda: Rule.parse('IF g >= "x" THEN x', orders={"g": GRADES}), 'the order of g does not contain "x"'),
        (lambda: Rule.parse('IF g >= "B" THEN x', orders={"g": ["B"]}), "two or more different categories"),
    ],
)
def test_errors_name_the_column_and_the_value(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_orders_of_another_type_are_an_error():
    with pytest.raises(TypeError, match="orders must be a dict of columns to lists of categories"):
        Rule.parse("IF a > 1 THEN x", orders=["C", "B"])
    with pytest.raises(TypeError, match="the order of 'g' must be a list of its categories"):
        Rule.parse("IF a > 1 THEN x", orders={"g": "CBA"})
    rules = (Rule((AT_LEAST_C,), "x"), Rule((IsInRange("grade", ("C", "B"), order=("C", "B")),), "x"))
    with pytest.raises(ValueError, match="the conditions on 'grade' have different orders"):
        RuleSet(rules, ("x",), "x", (0,), (0,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('grade >= "C"', AT_LEAST_C),
        ("grade > 'D'", AT_LEAST_C),
        ('"C" <= grade', AT_LEAST_C),
        ('"D" < grade <= "A"', AT_LEAST_C),
        ('grade >= "C" AND grade < "A"', IsInRange("grade", ("C", "B"), order=GRADES)),
        ('grade >= "C" AND grade != "B"', IsIn("grade", ("C", "A"))),
        ('grade > "B"', Equals("grade", "A")),
        ('grade <= "E"', Equals("grade", "E")),
    ],
)
def test_forms_that_are_read(text, expected):
    rule = Rule.parse(f"IF {text} THEN x", orders={"grade": GRADES})
    assert rule.conditions == (expected,)
    assert Rule.parse(str(rule), orders={"grade": GRADES}) == rule


VALUES = TEXTS | st.integers(-9, 9) | st.booleans() | st.binary(max_size=3) | st.dates(min_value=pd.Timestamp(1, 1, 1))


@given(st.data(), NAMES | st.sampled_from(["a: 1", "a: b: c", "Order of x", "True", "inf"]))
def test_a_rule_set_is_read_back_with_its_orders(data, name):
    order = tuple(data.draw(st.lists(TEXTS, min_size=2, max_size=5, unique=True) | st.just((3, 1, 2))))
    rules = tuple(Rule((data.draw(ranges_of(name, order)),), "x") for _ in range(2))
    rule_set = RuleSet(rules, ("x", "y"), "y", (0, 0), (0, 0))
    assert RuleSet.parse(str(rule_set), classes=["x", "y"]).same_rules(rule_set)
    assert Rule.parse(str(rules[0]), orders={name: order}) == rules[0]
    assert RuleSet.from_json(rule_set.to_json()) == rule_set


@pytest.mark.parametrize("line", ["Order of grade:", "Order of grade", 'Order of grade: "A" <', 'Order of `g`: "A" x'])
def test_a_line_that_is_not_an_order_is_an_error(line):
    with pytest.raises(ValueError, match="expected a column and its categories, as in Order of grade"):
        RuleSet.parse(f"IF a > 1 THEN x\nOTHERWISE y\n{line}")


def graded(n=600, seed=0):
    rng = np.random.default_rng(seed)
    grade, size = rng.choice(GRADES, n), rng.integers(1, 30, n)
    X = pd.DataFrame(
        {
            "grade": pd.Categorical(grade, ["F", *GRADES], ordered=True),
            "size": pd.Categorical(size, list(range(1, 30)), ordered=True),
            "job": rng.choice(["clerk", "cook", "nurse"], n),
        }
    )
    X.loc[rng.random(n) < 0.1, "grade"] = None
    good = (X["grade"] >= "B") | ((X["size"] > 20) & (X["job"] != "cook"))
    return X, np.where(good, "good", "bad")


@pytest.mark.parametrize("scorecards", [None, "auto"])
def test_ranges_are_learnt(scorecards):
    X, y = graded()
    clf = DiverseRuleSetClassifier(scorecards=scorecards, min_evidence=0, random_state=0).fit(X, y)
    rule_set = clf.rule_set_
    conditions = list(plain_conditions(rule_set.all_rules))
    assert clf.score(X, y) > 0.97
    assert 'grade >= "B"' in map(str, conditions)
    assert any(one.column == "size" and isinstance(one, IsInRange) for one in conditions), str(rule_set)
    assert not any(type(one) in (IsIn, IsNotIn) and one.column in ("grade", "size") for one in conditions)
    assert rule_set.orders["grade"] == ("F", *GRADES)
    assert str(rule_set).count("Order of grade: ") == 1
    assert RuleSet.parse(str(rule_set)).same_rules(rule_set)
    # Any other form of the table gives the same answers.
    expected = rule_set.predict(X)
    plain = X.astype({"grade": object, "size": float})
    assert (rule_set.predict(plain.astype({"size": "category"})) == expected).all()
    counted = rule_set.evaluated(X, y)
    assert [rule.class_counts for rule in counted.all_rules] == [rule.class_counts for rule in rule_set.all_rules]
    new = pd.DataFrame({"grade": ["Z"], "size": pd.Categorical([99])})
    assert not any(Rule((one,), 0).covers(new).any() for one in conditions if isinstance(one, IsInRange))


def test_an_enum_of_polars_has_the_same_rules():
    X, y = graded()
    X = X[["grade", "job"]]
    grades = [None if pd.isna(grade) else grade for grade in X["grade"]]
    frame = pl.DataFrame({"grade": grades, "job": X["job"].tolist()})
    frame = frame.with_columns(pl.col("grade").cast(pl.Enum(["F", *GRADES])))
    one, other = (DiverseRuleSetClassifier(random_state=0).fit(table, y).rule_set_ for table in (X, frame))
    assert one.same_rules(other)
    assert other.orders == {"grade": ("F", *GRADES)}


def test_the_paper_uses_single_categories():
    X, y = graded()
    rule_set = DRSClassifier(random_state=0).fit(X, y).rule_set_
    assert not rule_set.orders


def test_the_order_of_many_declared_categories_is_that_of_those_that_occur():
    codes = np.arange(600) % 20
    names = [f"level {k:04d}" for k in range(1000)]
    X = pd.DataFrame({"level": pd.Categorical.from_codes(codes * 50, names, ordered=True)})
    rule_set = DiverseRuleSetClassifier(random_state=0).fit(X, codes >= 7).rule_set_
    assert rule_set.orders["level"] == tuple(names[::50])
    assert {str(c) for rule in rule_set for c in rule.conditions} == {'level <= "level 0300"', 'level >= "level 0350"'}


def test_given_rules_take_the_order_of_the_column():
    X, y = graded()
    clf = DiverseRuleSetClassifier(given_rules=['IF grade >= "C" AND size <= 9 THEN bad'], random_state=0).fit(X, y)
    assert list(map(str, clf.rule_set_[0].conditions)) == ['grade >= "C"', "size <= 9"]
    assert all(isinstance(one, IsInRange) for one in clf.rule_set_[0].conditions)
    with pytest.raises(ValueError, match="must be a pandas ordered Categorical or a polars Enum"):
        DiverseRuleSetClassifier(given_rules=['IF job >= "cook" THEN bad']).fit(X, y)
    with pytest.raises(ValueError, match='the order of grade does not contain "Z"'):
        DiverseRuleSetClassifier(given_rules=['IF grade >= "Z" THEN bad']).fit(X, y)
    card = Scorecard("risk", (Sign(AT_LEAST_C, {"good": 2}), Sign(Equals("job", "cook"), {"good": 1})))
    assert Scorecard.parse(str(card), orders={"grade": GRADES}) == card
    X = X.assign(grade=X["grade"].cat.remove_unused_categories())
    y = np.where((X["grade"] >= "C") & (X["job"] == "cook"), "good", "bad")
    rule_set = DiverseRuleSetClassifier(scorecards=[card], min_evidence=0, random_state=0).fit(X, y).rule_set_
    assert rule_set.scorecards[0].signs[0].condition == AT_LEAST_C


def test_rules_and_signs_are_edited():
    X, y = graded()
    rules = RuleSet.parse('IF job = "cook" THEN bad\nOTHERWISE good').evaluated(X, y)
    more = rules.with_rule('IF grade >= "B" THEN good', X, y)
    assert more.orders == {"grade": ("F", *GRADES)}
    plain = X.assign(grade=X["grade"].astype(object))
    assert str(more.replace(2, 'IF grade <= "D" THEN bad', plain, y)[1].conditions[0]) == 'grade <= "D"'
    assert more.without_rule('IF grade >= "B" THEN good', plain, y).orders == {}
    with pytest.raises(ValueError, match="the order of its categories is not known"):
        rules.with_rule('IF grade >= "B" THEN good', plain, y)
    card = Scorecard("points", (Sign(AT_LEAST_C, {"good": 2}), Sign(Equals("job", "cook"), {"good": 1})))
    scored = RuleSet((Rule((card.between(2),), "good"),), ("bad", "good"), "bad", (0, 0), (0, 0)).evaluated(plain, y)
    edited = scored.with_sign('3 if grade >= "B"', plain, y).without_sign('grade >= "C"', plain, y)
    assert list(map(str, (sign.condition for sign in edited.scorecards[0].signs))) == ['job = "cook"', 'grade >= "B"']


@pytest.mark.parametrize("direction", ["increasing", "decreasing"])
def test_ordered_categories_may_have_a_direction(direction):
    X, y = graded()
    clf = DiverseRuleSetClassifier(scorecards=None, monotone={"grade": direction}, random_state=0).fit(X, y)
    banned = {"good": "<=", "bad": ">="} if direction == "increasing" else {"good": ">=", "bad": "<="}
    found = 0
    for rule in clf.rule_set_.rules:
        for condition in rule.conditions:
            if condition.column == "grade" and isinstance(condition, IsInRange):
                found += 1
                assert [test for test, _ in condition.bounds] != [banned[rule.label]]
    assert found or direction == "decreasing"
    with pytest.raises(ValueError, match="expected numbers, dates or ordered categories"):
        DiverseRuleSetClassifier(monotone={"job": "increasing"}).fit(X, y)


def test_why_names_categories_in_their_order():
    X, _ = graded()
    clf = DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(X[["grade", "job"]], X["grade"] >= "B")
    assert 'It would be True if grade >= "B" (it is "D")' in clf.why({"grade": "D", "job": "cook"})


def test_notebooks_and_the_page_show_the_order(tmp_path):
    X, y = graded()
    hostile = X.rename(columns={"grade": "<b>grade</b>"})
    rule_set = DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(hostile, y).rule_set_
    write_html(rule_set, hostile, y, tmp_path / "page.html")
    for text in (rule_set._repr_html_(), (tmp_path / "page.html").read_text("utf8")):
        shown = html.unescape(text)
        assert 'Order of `<b>grade</b>`: "F" < "E" < "D"' in shown
        assert "<b>grade</b>" not in text
    assert phrase(AT_LEAST_C) == {"column": "grade", "verb": "is", "values": ["at least C"]}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('">=": "C"', '">=": "Z"', "does not contain"),
        ('">=": "C"', '">": "C"', ">= or <= or both beside order"),
        ('">=": "C", ', "", ">= or <= or both beside order"),
        ('">=": "C"', '">=": "A"', "a range of two categories or more"),
        ('"order": ["E", ', '"order": ["A", ', "two or more different categories"),
        ('"order": [', '"order": [null, ', "order must be text"),
        ('"order": ["E", "D", "C", "B", "A"]', '"order": 3', "order must be a list"),
        ('"version": 4', '"version": 3', "has 'order', which version 3 of the format does not have"),
    ],
)
def test_a_file_with_a_wrong_order_is_an_error(before, after, message):
    text = RuleSet((Rule((AT_LEAST_C,), "x"),), ("x", "y"), "y", (1, 1), (0, 1)).to_json()
    text = re.sub(r',\n  "checksum": "[^"]*"', "", text)
    assert RuleSet.from_json(text)[0].conditions == (AT_LEAST_C,)
    assert before in text
    with pytest.raises(ValueError, match=message):
        RuleSet.from_json(text.replace(before, after))
