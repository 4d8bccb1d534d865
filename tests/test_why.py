"""Why a record gets its label, in words: what is said is what happens."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, Rule, RuleSet
from diverse_rule_sets.conditions import format_label
from diverse_rule_sets.why import changed, records_of
from models import as_polars, records_for, rule_sets


def rules(*words, **options):
    read = tuple(Rule.parse(word) for word in words)
    return RuleSet(read, ("bad", "good", "ugly"), "bad", (9, 9, 9), (1, 1, 1), "first", **options)


def test_one_record_in_words():
    rule_set = rules("IF 30 < age <= 40 AND sex = 'F' THEN good", "IF age > 60 AND job in {'a', 'b'} THEN ugly")
    assert rule_set.why({"age": 35, "sex": "F", "job": None}) == (
        'good, by rule 1: IF 30 < age <= 40 AND sex = "F" THEN good.\n'
        'Here age is 35 and sex is "F".\n'
        'It would be ugly if age > 60 (it is 35) and job in {"a", "b"} (it is missing): rule 2.'
    )
    said = rule_set.why({"age": None, "sex": "F", "job": "a"})
    assert said.splitlines() == [
        "bad: no rule covers it: bad.",
        "It would be good if 30 < age <= 40 (it is missing): rule 1.",
        "It would be ugly if age > 60 (it is missing): rule 2.",
    ]
    assert rule_set.why({"age": None, "sex": "F", "job": "a"}, label="ugly").count("It would be") == 1


def test_a_change_that_is_not_enough_is_said_to_be_so():
    rule_set = rules("IF age > 30 THEN good", "IF sex = 'F' THEN ugly")
    assert rule_set.why({"age": 35, "sex": "M"}).splitlines()[-1] == (
        'Rule 2, the nearest that says ugly, covers it if sex = "F" (it is "M"), but rule 1 would speak.'
    )
    between = rules("IF b > 4 THEN ugly", "IF a > 0 THEN good", "IF b > 5 THEN bad")
    assert between.why({"a": 1, "b": 1}, label="bad").endswith("if b > 5 (it is 1), but rule 1 would speak.")
    impossible = rules("IF a > 0 THEN good", "IF f not in {True, False} THEN bad")
    said = impossible.why({"a": 1, "f": True}, label="bad")
    assert said.endswith("No change was found that makes it bad.")


def test_a_further_rule_is_named_where_the_nearest_would_not_be_enough():
    rule_set = rules("IF age > 30 THEN good", "IF sex = 'F' THEN ugly", "IF age <= 30 AND sex = 'X' THEN ugly")
    assert rule_set.why({"age": 35, "sex": "M"}).splitlines()[-1] == (
        'It would be ugly if age <= 30 (it is 35) and sex = "X" (it is "M"): rule 3.'
    )


@settings(max_examples=150)
@given(rule_sets(), st.integers(0, 1000))
def test_what_would_have_to_differ_is_enough(drawn, seed):
    rule_set, columns = drawn
    kinds = {name: kind for name, (kind, _) in columns.items()}
    frame = as_polars(records_for(columns, seed, n=8), kinds)
    answers = rule_set.predict(frame).tolist()
    from diverse_rule_sets._tables import as_table

    table = as_table(frame)
    read = {name: table.column(name) for name in rule_set.columns}
    records = records_of(read, 8)
    for i, changes in enumerate(changed(rule_set, read, records, answers, None)):
        record = records[i]
        for change in changes:
            rule = rule_set.rules[change.rule - 1]
            names = [condition.column for condition in change.conditions]
            moved = {**frame.row(i, named=True), **record, **dict(zip(names, change.values, strict=True))}
            one = as_polars({name: [moved[name]] for name in columns}, kinds)
            assert rule.label == change.label != answers[i]
            assert rule.covers(one)[0]
            assert set(names) == {c.column for c in rule.conditions if not Rule((c,), 0).covers(frame)[i]}
            assert (rule_set.predict(one)[0] == change.label) == change.enough
            assert rule_set.speakers(one)[0] == change.speaker


@settings(max_examples=60)
@given(rule_sets(), st.integers(0, 1000))
def test_every_record_of_a_table_gets_words(drawn, seed):
    rule_set, columns = drawn
    frame = as_polars(records_for(columns, seed, n=10), {name: kind for name, (kind, _) in columns.items()})
    pages = rule_set.why(frame)
    assert len(pages) == 10
    for page, answer in zip(pages, rule_set.predict(frame).tolist(), strict=True):
        assert page.startswith(format_label(answer))
    assert rule_set.why(frame.row(0, named=True)) == rule_set.why(frame[:1])[0]


def test_every_kind_of_record(mixed):
    X, y = mixed
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    pages = clf.why(X.head(5))
    assert clf.why(X.iloc[0]) == pages[0] == clf.why(X.iloc[0].to_dict())
    array = np.array([[1.0, 2.0], [3.0, 4.0]] * 10)
    numbers = DiverseRuleSetClassifier(random_state=0).fit(array, [0, 1] * 10)
    assert len(numbers.why(array[:3])) == 3
    assert numbers.why({"x0": 1.0, "x1": 2.0}) == numbers.why(array[:1])[0]


def test_dates_are_moved_too():
    rule_set = rules("IF t > 2020-01-31 THEN good")
    said = rule_set.why({"t": datetime.datetime(2019, 5, 1)})
    assert said.endswith("It would be good if t > 2020-01-31 (it is 2019-05-01): rule 1.")


def test_one_label_is_asked_for():
    rule_set = RuleSet((Rule.parse("IF age > 30 THEN 1"),), (0, 1, 2), 0, (9, 9, 9), (1, 1, 1), "first")
    assert rule_set.why({"age": 3}, label="1").endswith("It would be 1 if age > 30 (it is 3): rule 1.")
    assert rule_set.why({"age": 3}, label=0).endswith("It is 0 already.")
    assert rule_set.why({"age": 3}, label=2).endswith("No rule says 2.")


def test_what_is_wrong_is_named():
    rule_set = rules("IF age > 30 THEN good")
    with pytest.raises(ValueError, match="no value for the column 'age'"):
        rule_set.why({"sex": "F"})
    with pytest.raises(TypeError, match="one record must be a dict or a row"):
        rule_set.why(np.array([1.0]))
    with pytest.raises(ValueError, match="label must be one of"):
        rule_set.why({"age": 3}, label="great")
    with pytest.raises(ValueError, match="no column 'age'"):
        rule_set.why(pd.DataFrame({"sex": ["F"]}))
