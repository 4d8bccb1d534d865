"""Why a record gets its label, in words: what is said is what happens."""

import datetime
import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, IsIn, IsMissing, IsNotIn, Rule, RuleSet
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.model._changes import find_changes
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._regions import axes_of
from models import as_polars, records_for, rule_sets


def rules(*words, default="bad", **options):
    read = tuple(Rule.parse(word) for word in words)
    return RuleSet(read, ("bad", "good", "ugly"), default, (9, 9, 9), (1, 1, 1), "first", **options)


def test_one_record_in_words():
    rule_set = rules("IF 30 < age <= 40 AND sex = 'F' THEN good", "IF age > 60 AND job in {'a', 'b'} THEN ugly")
    assert rule_set.why({"age": 35, "sex": "F", "job": None}) == (
        'good, by rule 1: IF 30 < age <= 40 AND sex = "F" THEN good.\n'
        'Here age is 35 and sex is "F".\n'
        "It would be bad if age <= 30 (it is 35): the default, as no rule covers it.\n"
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
    between = rules("IF b > 4 THEN ugly", "IF a > 0 THEN good", "IF a <= 0 THEN good", "IF b > 5 THEN bad")
    assert between.why({"a": 1, "b": 1}, label="bad").endswith("if b > 5 (it is 1), but rule 1 would speak.")
    several = rules("IF b > 7 THEN good", "IF b > 4 THEN ugly", "IF a > 0 THEN good", "IF b > 5 THEN bad")
    assert several.why({"a": 1, "b": 1}, label="bad").splitlines()[-1] == (
        "It would be bad if a <= 0 (it is 1): the default, as no rule covers it."
    )
    assert replace(several, default="good").why({"a": 1, "b": 1}, label="bad").splitlines()[-1] == (
        "Rule 4, the nearest that says bad, covers it if b > 5 (it is 1), but rule 1 or 2 would speak."
    )
    covered = rules("IF a > 0 THEN good", "IF a > 0 THEN ugly")
    assert covered.why({"a": 1}, label="ugly").splitlines()[-1] == (
        "Rule 2, the nearest that says ugly, covers it as it is, but rule 1 would speak."
    )
    impossible = rules("IF a > 0 THEN good", "IF a <= 0 THEN good", "IF f not in {True, False} THEN bad")
    said = impossible.why({"a": 1, "f": True}, label="bad")
    assert said.endswith("No change was found that makes it bad.")


def test_a_further_rule_is_named_where_the_nearest_would_not_be_enough():
    rule_set = rules("IF age > 30 THEN good", "IF sex = 'F' THEN ugly", "IF age <= 30 AND sex = 'X' THEN ugly")
    assert rule_set.why({"age": 35, "sex": "M"}).splitlines()[-1] == (
        'It would be ugly if age <= 30 (it is 35) and sex = "X" (it is "M"): rule 3.'
    )


def test_a_condition_is_narrowed_to_what_is_true():
    rule_set = rules("IF a > 50 THEN ugly", "IF a > 10 THEN good")
    assert rule_set.why({"a": 5.0}).splitlines()[1:] == [
        "It would be good if 10 < a <= 50 (it is 5): rule 2.",
        "It would be ugly if a > 50 (it is 5): rule 1.",
    ]
    names = rules("IF job = 'b' THEN ugly", "IF job in {'a', 'b', 'c'} THEN good")
    assert names.why({"job": "d"}, label="good").endswith('good if job in {"a", "c"} (it is "d"): rule 2.')
    assert names.why({"job": "a"}, label="bad").splitlines()[-1] == (
        'It would be bad if job not in {"b", "a", "c"} (it is "a"): the default, as no rule covers it.'
    )


def test_several_columns_are_narrowed_together():
    rule_set = rules("IF a > 5 AND b > 5 THEN bad", "IF a > 3 AND b > 3 THEN good")
    assert rule_set.why({"a": 0, "b": 0}, label="good").splitlines()[-1] == (
        "It would be good if a > 3 (it is 0) and 3 < b <= 5 (it is 0): rule 2."
    )
    cuts = [f"IF {n} <= a <= {n} THEN bad" for n in range(10, 90)]
    many = rules(*cuts, "IF a > 3 AND b > 3 AND c > 3 THEN good")
    assert many.why({"a": 0, "b": 0, "c": 0}, label="good").splitlines()[-1] == (
        "It would be good if 3 < a < 10 (it is 0), b > 3 (it is 0) and c > 3 (it is 0): rule 81."
    )


def test_the_smallest_change_is_named():
    """By the stretch that the bounds of a column lie in, whoever speaks then."""
    rule_set = rules(
        "IF age > 55 THEN good",
        "IF income > 90000 THEN ugly",
        "IF age <= 42 AND income <= 24000 THEN bad",
        default="good",
    )
    record = {"age": 40, "income": 23944}
    assert rule_set.why(record, label="good").splitlines()[-1] == (
        "It would be good if 24000 < income <= 90000 (it is 23944): the default, as no rule covers it."
    )
    assert rule_set.why({**record, "age": 42}, label="good").splitlines()[-1] == (
        "It would be good if age > 42 (it is 42): rule 1 or the default."
    )


def test_a_value_that_a_rule_names_comes_before_any_other():
    rule_set = rules("IF sex = 'F' AND age > 9 THEN good", "IF sex = 'M' AND age > 9 THEN ugly")
    assert rule_set.why({"sex": "F", "age": 30}, label="ugly").endswith('ugly if sex = "M" (it is "F"): rule 2.')
    alone = rules("IF sex = 'F' THEN good", "IF sex = 'M' THEN bad")
    assert alone.why({"sex": "F"}, label="bad").endswith('bad if sex = "M" (it is "F"): rule 2.')


def test_a_value_that_is_missing_could_be_there():
    rule_set = rules("IF a is missing THEN good")
    assert rule_set.why({"a": None}).endswith(
        "bad if a is not missing (it is missing): the default, as no rule covers it."
    )
    assert rule_set.why({"a": 3}).endswith("good if a is missing (it is 3): rule 1.")
    assert "missing" not in rules("IF a > 3 THEN good").why({"a": 4})


def test_a_backup_may_be_the_one_to_speak():
    rule_set = rules("IF a > 5 THEN good", fallbacks=(Rule.parse("IF b > 5 THEN ugly"),))
    assert rule_set.why({"a": 9, "b": 9}).splitlines()[-1] == "It would be ugly if a <= 5 (it is 9): fallback 2."


def test_rules_that_win_together_are_named_so():
    counted = [(("bad", 6), ("good", 7)), (("bad", 6), ("ugly", 7))]
    read = [Rule.parse("IF a > 5 THEN good"), Rule.parse("IF b > 5 THEN ugly")]
    some = tuple(replace(rule, class_counts=counts) for rule, counts in zip(read, counted, strict=True))
    rule_set = RuleSet(some, ("bad", "good", "ugly"), "ugly", (20, 20, 20), (1, 1, 1), "counts")
    assert rule_set.why({"a": 9, "b": 0}, label="bad").endswith("bad if b > 5 (it is 0): rules together.")


def test_long_numbers_are_rounded_but_never_across_a_bound():
    rule_set = rules("IF a > 50.03 THEN good")
    assert "a is 53.456." in rule_set.why({"a": 53.45584192064786})
    assert "a is 50.03000001." in rule_set.why({"a": 50.030000012345})
    assert "(it is 50.03)" in rule_set.why({"a": 50.02999999999})
    below = rules("IF a < 50.03 THEN good")
    assert "a is 50.02999999999." in below.why({"a": 50.02999999999})
    assert "(it is 1234567.12)" in rules("IF a <= 3 THEN good").why({"a": 1234567.1234567})


def test_a_condition_of_ones_own_is_left_alone():
    @dataclass(frozen=True)
    class IsEven(Condition):
        def holds(self, column):
            return column.values % 2 == 0

    own = Rule((IsEven("a"), Interval("b", low=3)), "good")
    rule_set = RuleSet((own,), ("bad", "good"), "bad", (9, 9), (1, 1), "first")
    assert rule_set.why({"a": 2, "b": 1}).splitlines()[-1] == "It would be good if b > 3 (it is 1): rule 1."
    assert rule_set.why({"a": 1, "b": 4}, label="good").endswith("No change was found that makes it good.")


@pytest.mark.parametrize("value", [5, "x", True, None])
def test_columns_of_several_kinds(value):
    conditions = (Equals("a", "x", mixed=True), IsIn("a", (5, 6), mixed=True), IsNotIn("a", ("x", 5), mixed=True))
    labels = ("good", "ugly", "bad")
    some = tuple(Rule((one,), label) for one, label in zip(conditions, labels, strict=True))
    rule_set = RuleSet(some, ("bad", "good", "ugly"), "bad", (9, 9, 9), (1, 1, 1), "first")
    said = rule_set.why({"a": value})
    assert ('good if a = "x" ' in said) == (value != "x")
    assert ("ugly if a in {5, 6} " in said) == (value != 5)


@pytest.mark.parametrize("named", [math.inf, -math.inf])
def test_numbers_without_end(named):
    rule_set = RuleSet((Rule((Equals("a", named),), 1),), (0, 1), 0, (9, 9), (1, 1), "first")
    assert f"It would be 1 if a = {named} (it is 3): rule 1." in rule_set.why({"a": 3})
    last = rule_set.why({"a": named}).splitlines()[-1]
    assert ("a <= 1.7976931348623157e+308" if named > 0 else "a >= -1.7976931348623157e+308") in last


def around(kind, pool):
    """Return a value of every piece that conditions cut a column into: the values named, and those beside them."""
    if kind == "number":
        beside = [math.nextafter(v, end) for v in pool for end in (math.inf, -math.inf)]
        return [None, *pool, *beside, math.inf, -math.inf]
    if kind in ("date", "date (UTC)"):
        return [None, *pool, *(moment + datetime.timedelta(microseconds=d) for moment in pool for d in (-1, 1))]
    return [None, *pool, *(["never seen", max(pool, key=len) + "?"] if kind == "text" else [])]


def some_records(columns, seed, n):
    """Return the kinds of the columns that models.rule_sets drew, and n records of them."""
    kinds = {name: kind for name, (kind, _) in columns.items()}
    return kinds, as_polars(records_for(columns, seed, n), kinds)


def found(rule_set, frame):
    """Return the answers and the changes of some records."""
    table = as_table(frame)
    answers = rule_set.predict(frame).tolist()
    axes = axes_of(rule_set, {name: table.column(name) for name in rule_set.columns})
    return answers, find_changes(rule_set, axes, answers, None)


@settings(max_examples=250)
@given(rule_sets(), st.integers(0, 1000))
def test_what_is_said_is_true_of_every_value_that_meets_it(drawn, seed):
    rule_set, columns = drawn
    kinds, frame = some_records(columns, seed, n=8)
    answers, found_changes = found(rule_set, frame)
    for i, changes in enumerate(found_changes):
        assert len({change.label for change in changes}) == len(changes) <= 3
        for change in changes:
            values = [around(*columns[one.column]) for one in change.conditions]
            names = [one.column for one in change.conditions]
            moved = [{**frame.row(i, named=True), **dict(zip(names, row, strict=True))} for row in product(*values)]
            every = as_polars({name: [row[name] for row in moved] for name in columns}, kinds)
            kept = every.filter(Rule(change.conditions, 0).covers(every))
            assert change.label != answers[i]
            assert len(kept) > 0
            assert not Rule(change.conditions, 0).covers(frame)[i] or not change.conditions
            assert ((rule_set.predict(kept) == change.label) == change.enough).all()
            who = rule_set.deciding(kept)
            alone = (who >= 0) | ~rule_set.covers(kept).any(axis=1)
            assert set(np.where(alone, who, -2).tolist()) == set(change.deciding)
            if not change.enough:
                assert rule_set.rules[change.rule].covers(kept).all()
                assert rule_set.rules[change.rule].label == change.label


@settings(max_examples=150)
@given(rule_sets(), st.integers(0, 1000))
def test_one_column_is_changed_where_one_is_enough(drawn, seed):
    rule_set, columns = drawn
    kinds, frame = some_records(columns, seed, n=6)
    spoken_of = {one.column for rule in rule_set.all_rules for one in rule.conditions if is_missing(one)}
    for i, (answer, changes) in enumerate(zip(*found(rule_set, frame), strict=True)):
        reached = set()
        for name in rule_set.columns:
            values = [value for value in around(*columns[name]) if value is not None or name in spoken_of]
            row = frame.row(i, named=True)
            moved = {other: [row[other]] * len(values) for other in columns} | {name: values}
            reached |= set(rule_set.predict(as_polars(moved, kinds)).tolist())
        single = {change.label for change in changes if change.enough and len(change.conditions) == 1}
        assert single <= reached - {answer}
        assert len(single) == min(len(reached - {answer}), 3)


def is_missing(condition):
    return isinstance(condition, IsMissing)


@settings(max_examples=60)
@given(rule_sets(), st.integers(0, 1000))
def test_every_record_of_a_table_gets_words(drawn, seed):
    rule_set, columns = drawn
    _, frame = some_records(columns, seed, n=10)
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
