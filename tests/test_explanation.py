"""Explanations of labels: every change that is reported gives the label that the text states."""

import datetime
import math
import re
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, IsIn, IsMissing, IsNotIn, Rule, RuleSet
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.model._answers import answer, table_for
from diverse_rule_sets.model._changes import find_changes
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._domains import Domain, domain_of
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._regions import axes_of
from models import as_polars, records_for, rule_sets


def rules(*texts, default="bad", **options):
    parsed = tuple(Rule.parse(text) for text in texts)
    return RuleSet(parsed, ("bad", "good", "ugly"), default, (9, 9, 9), (1, 1, 1), "first", **options)


def test_the_explanation_of_one_record():
    rule_set = rules("IF 30 < age <= 40 AND sex = 'F' THEN good", "IF age > 60 AND job in {'a', 'b'} THEN ugly")
    assert rule_set.why({"age": 35, "sex": "F", "job": None}) == (
        'good, decided by rule 1: IF 30 < age <= 40 AND sex = "F" THEN good.\n'
        'In this record age is 35 and sex is "F".\n'
        "It would be bad if age <= 30 (it is 35): default label, because no rule would cover it.\n"
        'It would be ugly if age > 60 (it is 35) and job in {"a", "b"} (it is missing): decided by rule 2.'
    )
    text = rule_set.why({"age": None, "sex": "F", "job": "a"})
    assert text.splitlines() == [
        "bad (default label): no rule covers this record.",
        "It would be good if 30 < age <= 40 (it is missing): decided by rule 1.",
        "It would be ugly if age > 60 (it is missing): decided by rule 2.",
    ]
    assert rule_set.why({"age": None, "sex": "F", "job": "a"}, label="ugly").count("It would be") == 1


def test_a_change_that_is_not_sufficient_is_reported_as_such():
    rule_set = rules("IF age > 30 THEN good", "IF sex = 'F' THEN ugly")
    assert rule_set.why({"age": 35, "sex": "M"}).splitlines()[-1] == (
        'Rule 2, the nearest with label ugly, would cover it if sex = "F" (it is "M"), but rule 1 would decide.'
    )
    between = rules("IF b > 4 THEN ugly", "IF a > 0 THEN good", "IF a <= 0 THEN good", "IF b > 5 THEN bad")
    assert between.why({"a": 1, "b": 1}, label="bad").endswith("if b > 5 (it is 1), but rule 1 would decide.")
    several = rules("IF b > 7 THEN good", "IF b > 4 THEN ugly", "IF a > 0 THEN good", "IF b > 5 THEN bad")
    assert several.why({"a": 1, "b": 1}, label="bad").splitlines()[-1] == (
        "It would be bad if a <= 0 (it is 1): default label, because no rule would cover it."
    )
    assert replace(several, default="good").why({"a": 1, "b": 1}, label="bad").splitlines()[-1] == (
        "Rule 4, the nearest with label bad, would cover it if b > 5 (it is 1), but rule 1 or 2 would decide."
    )
    covered = rules("IF a > 0 THEN good", "IF a > 0 THEN ugly")
    assert covered.why({"a": 1}, label="ugly").splitlines()[-1] == (
        "Rule 2, the nearest with label ugly, covers it already, but it is decided by rule 1."
    )
    impossible = rules("IF a > 0 THEN good", "IF a <= 0 THEN good", "IF f not in {True, False} THEN bad")
    text = impossible.why({"a": 1, "f": True}, label="bad")
    assert text.endswith("No change was found that gives the label bad.")


def test_another_rule_is_reported_if_the_nearest_would_not_decide():
    rule_set = rules("IF age > 30 THEN good", "IF sex = 'F' THEN ugly", "IF age <= 30 AND sex = 'X' THEN ugly")
    assert rule_set.why({"age": 35, "sex": "M"}).splitlines()[-1] == (
        'It would be ugly if age <= 30 (it is 35) and sex = "X" (it is "M"): decided by rule 3.'
    )


def test_a_condition_is_restricted_to_values_that_give_the_label():
    rule_set = rules("IF a > 50 THEN ugly", "IF a > 10 THEN good")
    assert rule_set.why({"a": 5.0}).splitlines()[1:] == [
        "It would be good if 10 < a <= 50 (it is 5): decided by rule 2.",
        "It would be ugly if a > 50 (it is 5): decided by rule 1.",
    ]
    names = rules("IF job = 'b' THEN ugly", "IF job in {'a', 'b', 'c'} THEN good")
    assert names.why({"job": "d"}, label="good").endswith('good if job in {"a", "c"} (it is "d"): decided by rule 2.')
    assert names.why({"job": "a"}, label="bad").splitlines()[-1] == (
        'It would be bad if job not in {"b", "a", "c"} (it is "a"): default label, because no rule would cover it.'
    )


def test_conditions_on_several_columns_are_restricted_together():
    rule_set = rules("IF a > 5 AND b > 5 THEN bad", "IF a > 3 AND b > 3 THEN good")
    assert rule_set.why({"a": 0, "b": 0}, label="good").splitlines()[-1] == (
        "It would be good if a > 3 (it is 0) and 3 < b <= 5 (it is 0): decided by rule 2."
    )
    cuts = [f"IF {n} <= a <= {n} THEN bad" for n in range(10, 90)]
    many = rules(*cuts, "IF a > 3 AND b > 3 AND c > 3 THEN good")
    assert many.why({"a": 0, "b": 0, "c": 0}, label="good").splitlines()[-1] == (
        "It would be good if 3 < a < 10 (it is 0), b > 3 (it is 0) and c > 3 (it is 0): decided by rule 81."
    )


def test_the_smallest_change_is_reported():
    """The size of a change is its share of the range of the bounds on the column, whichever rule decides then."""
    rule_set = rules(
        "IF age > 55 THEN good",
        "IF income > 90000 THEN ugly",
        "IF age <= 42 AND income <= 24000 THEN bad",
        default="good",
    )
    record = {"age": 40, "income": 23944}
    assert rule_set.why(record, label="good").splitlines()[-1] == (
        "It would be good if 24000 < income <= 90000 (it is 23944): default label, because no rule would cover it."
    )
    assert rule_set.why({**record, "age": 42}, label="good").splitlines()[-1] == (
        "It would be good if age > 42 (it is 42): decided by rule 1 or the default label."
    )


def test_a_value_that_a_condition_lists_is_nearer_than_other_values():
    rule_set = rules("IF sex = 'F' AND age > 9 THEN good", "IF sex = 'M' AND age > 9 THEN ugly")
    text = rule_set.why({"sex": "F", "age": 30}, label="ugly")
    assert text.endswith('ugly if sex = "M" (it is "F"): decided by rule 2.')
    alone = rules("IF sex = 'F' THEN good", "IF sex = 'M' THEN bad")
    assert alone.why({"sex": "F"}, label="bad").endswith('bad if sex = "M" (it is "F"): decided by rule 2.')


def test_changes_from_and_to_a_missing_value():
    rule_set = rules("IF a is missing THEN good")
    assert rule_set.why({"a": None}).endswith(
        "bad if a is not missing (it is missing): default label, because no rule would cover it."
    )
    assert rule_set.why({"a": 3}).endswith("good if a is missing (it is 3): decided by rule 1.")
    assert "missing" not in rules("IF a > 3 THEN good").why({"a": 4})


def test_a_fallback_rule_may_decide():
    rule_set = rules("IF a > 5 THEN good", fallbacks=(Rule.parse("IF b > 5 THEN ugly"),))
    assert rule_set.why({"a": 9, "b": 9}).splitlines()[-1] == (
        "It would be ugly if a <= 5 (it is 9): decided by fallback rule 2."
    )
    fallback = replace(rule_set.fallbacks[0], class_counts=(("bad", 1), ("ugly", 3)))
    counted = replace(rule_set, fallbacks=(fallback,), uncovered_counts=(1, 1, 3))
    assert counted.why({"a": 0, "b": 9}).splitlines() == [
        "ugly, decided by fallback rule 2, because no rule covers this record: IF b > 5 THEN ugly.",
        "In this record b is 9.",
        "Of 4 training records that it decides, 3 were ugly.",
        "It would be bad if b <= 5 (it is 9): default label, because no rule and no fallback rule would cover it.",
        "It would be good if a > 5 (it is 0): decided by rule 1.",
    ]
    assert rule_set.why({"a": 0, "b": 0}).splitlines()[0] == (
        "bad (default label): no rule and no fallback rule covers this record."
    )


def test_the_training_records_of_the_deciding_rule_are_counted():
    counted = replace(Rule.parse("IF a > 5 THEN good"), class_counts=(("bad", 2), ("good", 1234)))
    rule_set = RuleSet((counted,), ("bad", "good"), "bad", (2000, 2000), (1998, 766))
    assert rule_set.why({"a": 9}).splitlines()[2] == "Of 1,236 training records that it covers, 1,234 were good."


def test_rules_that_decide_together():
    counted = [(("bad", 6), ("good", 7)), (("bad", 6), ("ugly", 7))]
    read = [Rule.parse("IF a > 5 THEN good"), Rule.parse("IF b > 5 THEN ugly")]
    some = tuple(replace(rule, class_counts=counts) for rule, counts in zip(read, counted, strict=True))
    rule_set = RuleSet(some, ("bad", "good", "ugly"), "ugly", (20, 20, 20), (1, 1, 1), "counts")
    text = rule_set.why({"a": 9, "b": 0}, label="bad")
    assert text.endswith("bad if b > 5 (it is 0): decided by several rules together.")
    assert rule_set.why({"a": 9, "b": 9}).splitlines()[0] == (
        "bad: rules 1 and 2 together: 12 bad, 7 good, 7 ugly, so the label is bad."
    )


def test_long_numbers_are_rounded_but_never_across_a_bound():
    rule_set = rules("IF a > 50.03 THEN good")
    assert "a is 53.456." in rule_set.why({"a": 53.45584192064786})
    assert "a is 50.03000001." in rule_set.why({"a": 50.030000012345})
    assert "(it is 50.03)" in rule_set.why({"a": 50.02999999999})
    below = rules("IF a < 50.03 THEN good")
    assert "a is 50.02999999999." in below.why({"a": 50.02999999999})
    assert "(it is 1234567.12)" in rules("IF a <= 3 THEN good").why({"a": 1234567.1234567})


def test_the_column_of_a_user_defined_condition_is_never_changed():
    @dataclass(frozen=True)
    class IsEven(Condition):
        def holds(self, column):
            return column.values % 2 == 0

    own = Rule((IsEven("a"), Interval("b", low=3)), "good")
    rule_set = RuleSet((own,), ("bad", "good"), "bad", (9, 9), (1, 1), "first")
    assert rule_set.why({"a": 2, "b": 1}).splitlines()[-1] == "It would be good if b > 3 (it is 1): decided by rule 1."
    assert rule_set.why({"a": 1, "b": 4}, label="good").endswith("No change was found that gives the label good.")


@pytest.mark.parametrize("value", [5, "x", True, None])
def test_columns_of_several_types(value):
    conditions = (Equals("a", "x", mixed=True), IsIn("a", (5, 6), mixed=True), IsNotIn("a", ("x", 5), mixed=True))
    labels = ("good", "ugly", "bad")
    some = tuple(Rule((one,), label) for one, label in zip(conditions, labels, strict=True))
    rule_set = RuleSet(some, ("bad", "good", "ugly"), "bad", (9, 9, 9), (1, 1, 1), "first")
    text = rule_set.why({"a": value})
    assert ('good if a = "x" ' in text) == (value != "x")
    assert ("ugly if a in {5, 6} " in text) == (value != 5)


@pytest.mark.parametrize("named", [math.inf, -math.inf])
def test_infinite_numbers(named):
    rule_set = RuleSet((Rule((Equals("a", named),), 1),), (0, 1), 0, (9, 9), (1, 1), "first")
    assert f"It would be 1 if a = {named} (it is 3): decided by rule 1." in rule_set.why({"a": 3})
    last = replace(rule_set, kinds=(("a", "number"),)).why({"a": named}).splitlines()[-1]
    assert ("a <= 1.7976931348623157e+308" if named > 0 else "a >= -1.7976931348623157e+308") in last
    assert f"It would be 0 if a != {named} (" in rule_set.why({"a": named})  # whether x is a number is unknown


def values_around(kind, pool):
    """Return a value of every piece into which conditions divide a column: their values and the next values."""
    if kind == "number":
        beside = [math.nextafter(v, end) for v in pool for end in (math.inf, -math.inf)]
        return [None, *pool, *beside, math.inf, -math.inf]
    if kind in ("date", "date (UTC)"):
        return [None, *pool, *(moment + datetime.timedelta(microseconds=d) for moment in pool for d in (-1, 1))]
    return [None, *pool, *(["never seen", max(pool, key=len) + "?"] if kind == "text" else [])]


def some_records(columns, seed, n):
    """Return the types of the columns that models.rule_sets drew, and n records of them."""
    kinds = {name: kind for name, (kind, _) in columns.items()}
    return kinds, as_polars(records_for(columns, seed, n), kinds)


def labels_and_changes(rule_set, frame):
    """Return the labels and the changes of some records."""
    table = table_for(rule_set, frame)
    labels = rule_set.predict(frame).tolist()
    axes = axes_of(rule_set, {name: table.column(name) for name in rule_set.columns})
    return labels, find_changes(rule_set, axes, labels, None)


@settings(max_examples=250)
@given(rule_sets(), st.integers(0, 1000))
def test_a_change_gives_its_label_for_every_value_that_meets_its_conditions(drawn, seed):
    rule_set, columns = drawn
    codes = dict(rule_set.missing_values)
    kinds, frame = some_records(columns, seed, n=8)
    labels, all_changes = labels_and_changes(rule_set, frame)
    for i, changes in enumerate(all_changes):
        assert len({change.label for change in changes}) == len(changes) <= 3
        for change in changes:
            values = [values_around(*columns[one.column]) for one in change.conditions]
            names = [one.column for one in change.conditions]
            moved = [{**frame.row(i, named=True), **dict(zip(names, row, strict=True))} for row in product(*values)]
            every = as_polars({name: [row[name] for row in moved] for name in columns}, kinds)
            changed = every.filter(Rule(change.conditions, 0).covers(every, missing_values=codes))
            assert change.label != labels[i]
            assert len(changed) > 0
            assert not Rule(change.conditions, 0).covers(frame, missing_values=codes)[i] or not change.conditions
            assert ((rule_set.predict(changed) == change.label) == change.is_sufficient).all()
            deciding = rule_set.deciding_rules(changed)
            alone = (deciding >= 0) | ~rule_set.covers(changed).any(axis=1)
            assert set(np.where(alone, deciding, -2).tolist()) == set(change.deciding)
            if not change.is_sufficient:
                assert rule_set.rules[change.rule].covers(changed, missing_values=codes).all()
                assert rule_set.rules[change.rule].label == change.label


@settings(max_examples=150)
@given(rule_sets(), st.integers(0, 1000))
def test_one_column_is_changed_if_that_is_sufficient(drawn, seed):
    """A change to a missing value is reported only if no other change gives the label."""
    rule_set, columns = drawn
    codes, (kinds, frame) = dict(rule_set.missing_values), some_records(columns, seed, n=6)
    tested = {one.column for rule in rule_set.all_rules for one in rule.conditions if is_missing(one)}
    for i, (label, changes) in enumerate(zip(*labels_and_changes(rule_set, frame), strict=True)):
        by_value, by_missing = set(), set()
        for name in rule_set.columns:
            values = [value for value in values_around(*columns[name]) if value not in (None, *codes.get(name, ()))]
            row = frame.row(i, named=True)
            moved = {other: [row[other]] * (len(values) + 1) for other in columns} | {name: [*values, None]}
            *labels, last = rule_set.predict(as_polars(moved, kinds)).tolist()
            by_value |= set(labels) - {label}
            by_missing |= {last} - {label} if name in tested else set()
        enough = [change for change in changes if change.is_sufficient]
        single = {change.label for change in enough if len(change.conditions) == 1 and not is_missing_in(change)}
        assert single <= by_value
        assert len(single) == min(len(by_value), 3)
        assert len(enough) >= min(len(by_value | by_missing), 3)
        assert not any(change.label in by_value for change in enough if is_missing_in(change))


def is_missing(condition):
    return isinstance(condition, IsMissing)


def is_missing_in(change):
    return any(map(is_missing, change.conditions))


@settings(max_examples=60)
@given(rule_sets(), st.integers(0, 1000))
def test_every_record_of_a_table_gets_an_explanation(drawn, seed):
    rule_set, columns = drawn
    _, frame = some_records(columns, seed, n=10)
    texts = rule_set.why(frame)
    assert len(texts) == 10
    for text, label in zip(texts, rule_set.predict(frame).tolist(), strict=True):
        assert text.startswith(format_label(label))
    assert rule_set.why(frame.row(0, named=True)) == rule_set.why(frame[:1])[0]


def test_every_form_of_a_record(mixed):
    X, y = mixed
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    texts = clf.why(X.head(5))
    assert clf.why(X.iloc[0]) == texts[0] == clf.why(X.iloc[0].to_dict())
    array = np.array([[1.0, 2.0], [3.0, 4.0]] * 10)
    numbers = DiverseRuleSetClassifier(random_state=0).fit(array, [0, 1] * 10)
    assert len(numbers.why(array[:3])) == 3
    assert numbers.why({"x0": 1.0, "x1": 2.0}) == numbers.why(array[:1])[0]


def test_dates_can_be_changed():
    rule_set = rules("IF t > 2020-01-31 THEN good")
    text = rule_set.why({"t": datetime.datetime(2019, 5, 1)})
    assert text.endswith("It would be good if t > 2020-01-31 (it is 2019-05-01): decided by rule 1.")


def test_the_explanation_of_one_other_label():
    rule_set = RuleSet((Rule.parse("IF age > 30 THEN 1"),), (0, 1, 2), 0, (9, 9, 9), (1, 1, 1), "first")
    assert rule_set.why({"age": 3}, label="1").endswith("It would be 1 if age > 30 (it is 3): decided by rule 1.")
    assert rule_set.why({"age": 3}, label=0).endswith("It is 0 already.")
    assert rule_set.why({"age": 3}, label=2).endswith("No rule has the label 2.")


def test_errors_name_what_is_wrong():
    rule_set = rules("IF age > 30 THEN good")
    with pytest.raises(ValueError, match="no value for the column 'age'"):
        rule_set.why({"sex": "F"})
    with pytest.raises(TypeError, match="one record must be a dict or a row"):
        rule_set.why(np.array([1.0]))
    with pytest.raises(ValueError, match="label must be one of"):
        rule_set.why({"age": 3}, label="great")
    with pytest.raises(ValueError, match="no column 'age'"):
        rule_set.why(pd.DataFrame({"sex": ["F"]}))


def offer(n=600, seed=0):
    """Return a made table of whole numbers, categories and missing values, in which several columns matter."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "contract": rng.choice(["month", "one year", "two years"], n),
            "service": rng.choice(["cable", "fibre", "none"], n),
            "region": rng.choice([f"region {k}" for k in range(14)], n),
            "rating": [rng.choice(["a", "b"]) if k % 3 else int(rng.integers(2, 4)) for k in range(n)],
            "months": rng.integers(0, 73, n),
            "paid": rng.choice([True, False], n),
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D"),
            "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(10, 1, n).round(2)),
        }
    )
    score = 2 * (table.contract == "month") + (table.service == "fibre") + (table.months < 30) + (table.rating == 3)
    score += table.region.isin(["region 1", "region 5", "region 11"]) + (table.income.isna() | ~table.paid)
    y = np.where(score + rng.random(n) > 4, "leaves", np.where(score + rng.random(n) > 2, "unsure", "stays"))
    return table, y


def possible_values(column):
    """Return the values of a column in training, and values between them that are possible too."""
    values = column.dropna().unique().tolist()
    if column.dtype.kind == "f":
        return [*values, *(value + 0.01 for value in values)]
    return values


def check_changes(rule_set, X, records):
    """Check that each change names values that occur in X, and that all possible values give its label; count them."""
    labels, all_changes = labels_and_changes(rule_set, records)
    rng, n_checked = np.random.default_rng(0), 0
    for i, changes in enumerate(all_changes):
        for change in changes:
            known = [possible_values(X[one.column]) for one in change.conditions]
            chosen = []
            for one, values in zip(change.conditions, known, strict=True):
                frame = pd.DataFrame({one.column: pd.Series(values, dtype=X[one.column].dtype)})
                assert set(one.values_named) <= set(values)
                inside = np.flatnonzero(Rule((one,), 0).covers(frame))
                chosen.append([values[k] for k in inside] or [None] * one.holds_if_missing)
                assert chosen[-1], f"no value meets {one}"
            rows = [[some[int(rng.integers(len(some)))] for some in chosen] for _ in range(5)]
            moved = pd.concat([records.iloc[[i]]] * len(rows), ignore_index=True)
            for one, values in zip(change.conditions, zip(*rows, strict=True), strict=True):
                moved[one.column] = pd.Series(values, dtype=X[one.column].dtype)
            assert ((rule_set.predict(moved) == change.label) == change.is_sufficient).all()
            assert change.label != labels[i]
            n_checked += 1
    return n_checked


@pytest.mark.parametrize("options", [{}, {"max_rules": 40, "min_support": 2}, {"conflict": "counts"}])
def test_every_change_names_values_that_exist(options):
    X, y = offer()
    rule_set = DiverseRuleSetClassifier(random_state=0, **options).fit(X, y).rule_set_
    assert check_changes(rule_set, X, X.sample(150, random_state=1)) > 250


def knowing(rule_set, **domains):
    """Return a rule set that knows the values of some columns in training."""
    known = {
        name: Domain(tuple(values)) if values is not True else Domain(whole=True) for name, values in domains.items()
    }
    return replace(rule_set, domains=tuple(known.items()))


def test_only_values_of_the_training_data_are_named():
    rule_set = rules("IF job = 'a' THEN good", "IF job in {'b', 'c'} THEN ugly")
    assert 'job not in {"a", "b", "c"}' in rule_set.why({"job": "a"}, label="bad")
    listed = knowing(rule_set, job="abc")
    assert listed.why({"job": "a"}, label="bad").endswith("No change was found that gives the label bad.")
    assert listed.why({"job": "never seen"}).splitlines()[1:] == [
        'It would be good if job = "a" (it is "never seen"): decided by rule 1.',
        'It would be ugly if job in {"b", "c"} (it is "never seen"): decided by rule 2.',
    ]
    assert 'bad if job = "d" (it is "a"): default label' in knowing(rule_set, job="abcd").why({"job": "a"})
    assert 'bad if job in {"d", "e"} (it is "a")' in knowing(rule_set, job="abcde").why({"job": "a"})
    assert 'bad if job not in {"a", "b", "c"} (it' in knowing(rule_set, job="abcdefghi").why({"job": "a"})
    assert 'ugly if job = "c" (it is "a")' in knowing(rule_set, job="ac").why({"job": "a"})
    assert "ugly" not in knowing(rule_set, job="ad").why({"job": "a"})


def test_values_are_named_instead_of_those_that_are_excluded():
    rule_set = knowing(rules("IF job not in {'a'} THEN good"), job="abc")
    assert 'good if job in {"b", "c"} (it is "a"): decided by rule 1.' in rule_set.why({"job": "a"})
    assert "good if job is not missing (it is missing)" in knowing(
        rules("IF job is missing THEN bad", default="good"), job="ab"
    ).why({"job": None})
    two = knowing(rules("IF job not in {'a'} AND age > 30 THEN good"), job="abc", age=True)
    assert 'if job in {"b", "c"} (it is "a") and age > 30 (it is 3)' in two.why({"job": "a", "age": 3})


def test_of_many_values_some_are_named():
    letters = [f"v{k:02}" for k in range(40)]
    excluded = ", ".join(f"'{letter}'" for letter in letters[:10])
    rule_set = knowing(rules(f"IF job in {{{excluded}}} THEN good"), job=letters)
    expected = ", ".join(f'"{letter}"' for letter in letters[10:18])
    assert f"bad if job in {{{expected}}} (it is" in rule_set.why({"job": "v00"})
    expected = ", ".join(f'"{letter}"' for letter in letters[:8])
    assert f"good if job in {{{expected}}} (it is" in rule_set.why({"job": "v20"})
    too_many = [str(k) for k in range(400)]
    some = knowing(rules("IF job = '399' THEN good", "IF job = '2' THEN ugly"), job=too_many[:256])
    assert 'bad if job not in {"399", "2"} (it is "2")' in some.why({"job": "2"})
    assert 'good if job = "399" (it is "2")' in some.why({"job": "2"})  # rare values are possible


def test_a_boolean_that_never_occurred_is_not_proposed():
    rule_set = rules("IF paid = True THEN good", "IF paid = False THEN bad")
    assert "bad if paid = False (it is True)" in rule_set.why({"paid": True})
    assert (
        knowing(rule_set, paid=[True])
        .why({"paid": True}, label="bad")
        .endswith("No change was found that gives the label bad.")
    )


def test_whole_numbers_and_whole_days():
    rule_set = rules("IF 3 < n < 4 THEN good", "IF n > 6.5 THEN ugly", "IF n = 4.5 THEN good")
    assert "good if 3 < n < 4 (it is 2)" in rule_set.why({"n": 2})
    assert knowing(rule_set, n=True).why({"n": 2}).splitlines()[1:] == [
        "It would be ugly if n > 6.5 (it is 2): decided by rule 2."
    ]
    late = "2020-01-31T08:00:00", "2020-01-31T17:00:00"
    days = rules(f"IF {late[0]} < t <= {late[1]} THEN good", f"IF {late[0]} < u <= 2020-02-01 THEN ugly")
    record = {"t": datetime.datetime(2019, 5, 1), "u": datetime.datetime(2019, 5, 1)}
    assert "It would be good if " in days.why(record)
    assert "It would be good if " not in knowing(days, t=True, u=True).why(record)
    assert "It would be ugly if 2020-01-31 08:00:00 < u <= 2020-02-01" in knowing(days, t=True, u=True).why(record)


def test_a_missing_value_is_proposed_only_if_no_other_change_gives_the_label():
    near = rules("IF a is missing THEN good", "IF b > 1000 THEN good")
    assert near.why({"a": 3, "b": 0}).endswith("good if b > 1000 (it is 0): decided by rule 2.")
    several = rules("IF a is missing THEN good", "IF b > 5 AND c > 5 THEN good")
    assert several.why({"a": 3, "b": 0, "c": 0}).endswith(
        "good if b > 5 (it is 0) and c > 5 (it is 0): decided by rule 2."
    )
    useless = rules("IF a is missing THEN good", "IF b > 5 THEN bad", "IF b > 7 THEN good")
    assert useless.why({"a": 3, "b": 0}).endswith("good if a is missing (it is 3): decided by rule 1.")


def test_a_fit_knows_the_values_of_its_columns():
    X, y = offer()
    rule_set = DiverseRuleSetClassifier(random_state=0).fit(X, y).rule_set_
    domains = dict(rule_set.domains)
    assert set(domains) == set(rule_set.columns)
    assert domains["contract"] == Domain(("month", "one year", "two years"))
    assert domains["months"] == Domain(whole=True)
    assert domain_of(as_table(X).column("income")) == Domain()
    assert domain_of(as_table(X).column("since")) == Domain(whole=True)
    assert domain_of(as_table(X[["paid"]][X.paid]).column("paid")) == Domain((True,))
    many = pd.DataFrame({"k": [f"{k:03}" for k in range(300)] + ["299"] * 3})
    assert domain_of(as_table(many).column("k")).values == (*(f"{k:03}" for k in range(255)), "299")


def test_edited_rules_know_the_values_of_the_table():
    X, y = offer()
    rule_set = (
        DiverseRuleSetClassifier(random_state=0)
        .fit(
            X,
            y,
        )
        .rule_set_
    )
    fixed = RuleSet((), rule_set.classes, "stays", (1, 1, 1), (1, 1, 1))
    edited = fixed.with_rule("IF contract = 'month' THEN leaves", X, y)
    assert dict(edited.domains) == {"contract": Domain(("month", "one year", "two years"))}
    assert 'unsure if contract in {"one year", "two years"} (it is "month")' in edited.why({"contract": "month"})
    renamed = X.assign(contract=X.contract.replace("month", "week"))
    more = edited.with_rule("IF contract = 'week' THEN leaves", renamed, y)
    assert dict(more.domains)["contract"].values == ("month", "one year", "two years", "week")
    assert dict(rule_set.without_rule(1, X, y).domains).items() <= dict(rule_set.domains).items()


MIXED = [True, 1, "x", "1", datetime.datetime(2020, 1, 31), 2.5, False]


def of_several_types(n=400, seed=0):
    """Return a table with a column of values of several types, and labels that differ for True, 1 and "1"."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(MIXED), n)
    m = pd.Series([MIXED[k] for k in chosen], dtype=object).mask(rng.random(n) < 0.1, None)
    X = pd.DataFrame({"m": m, "age": rng.integers(18, 80, n)})
    y = np.where(rng.random(n) < 0.1, 3, np.array([0, 1, 1, 2, 0, 2, 1])[chosen])
    return X, np.where((X.age > 60) & (y != 2), 3, y)


def test_values_of_several_types_are_told_apart():
    X, y = of_several_types()
    clf = DiverseRuleSetClassifier(random_state=0, min_support=2).fit(X, y)
    rule_set = clf.rule_set_
    assert [type(v) for v in dict(rule_set.domains)["m"].values] == [type(v) for v in sorted(MIXED, key=sort_key)]
    own = {(type(value), value): clf.why({"m": value, "age": 30}) for value in MIXED}
    n_changes = 0
    for (_, value), text in own.items():
        record = {"m": value, "age": 30}
        assert text.startswith(f"{clf.predict(pd.DataFrame([record], dtype=object))[0]}")
        changes = labels_and_changes(rule_set, pd.DataFrame([record], dtype=object))[1][0]
        for change in changes:
            condition = change.conditions[0]
            for named in condition.values_named if len(change.conditions) == 1 else ():
                moved = pd.DataFrame([{**record, "m": named}], dtype=object)
                assert rule_set.predict(moved).tolist() == [change.label]
                assert (type(named), named) in own
                n_changes += 1
    assert n_changes > 10
    assert clf.why({"m": np.True_, "age": 30}) == own[bool, True]
    assert clf.why({"m": pd.Timestamp("2020-01-31"), "age": np.int8(30)}) == clf.why(
        {"m": datetime.date(2020, 1, 31), "age": 30.0}
    )
    for missing in (None, np.nan, pd.NaT, pd.NA):
        assert clf.why({"m": missing, "age": missing}) == clf.why(pd.DataFrame({"m": [None], "age": [None]}))[0]


def sort_key(value):
    return {bool: "boolean", str: "text", datetime.datetime: "date"}.get(type(value), "number"), value


def test_errors_name_the_column():
    X, y = of_several_types()
    X["since"], X["job"], X["paid"] = pd.Timestamp("2020-01-31"), "clerk", True
    X.loc[::2, ["since", "job", "paid"]] = pd.Timestamp("2021-01-31"), "cook", False
    X["paid"] = X.paid.astype(bool)
    texts = ["IF since > 2020-06-01 AND job = 'clerk' THEN 1", "IF paid = True AND age > 30 THEN 2"]
    with pytest.warns(UserWarning, match="no record meets all of them"):
        clf = DiverseRuleSetClassifier(random_state=0, given_rules=texts).fit(X, y)
    good = X.iloc[0].to_dict()
    assert clf.why(good)
    wrong = {"age": "old", "since": 5, "job": 7, "paid": "yes", "m": [1]}
    for name, value in wrong.items():
        with pytest.raises((TypeError, ValueError), match=f"column '{name}' holds .*{re.escape(repr(value))}"):
            clf.why({**good, name: value})
    for name in wrong:
        with pytest.raises(ValueError, match=f"the record has no value for the column '{name}'"):
            clf.why({key: value for key, value in good.items() if key != name})
    assert clf.why({**good, "never seen": object(), 5: [1]}) == clf.why(good)
    with pytest.raises(ValueError, match="more than one value for the column 'age'"):
        clf.rule_set_.why(pd.concat([X.iloc[0], X.iloc[1][["age"]]]))
    for wrong in (5, "age", [30, "clerk"], np.array(5), np.array([1.0]), pd.Index([1])):
        with pytest.raises(TypeError, match=f"one record must be a dict or a row .* got {type(wrong).__name__}"):
            clf.rule_set_.why(wrong)


@pytest.mark.parametrize(
    ("classes", "given", "label"),
    [
        ((0, 1), ["1", 1, 1.0, np.int64(1)], "1"),
        ((False, True), [True, "True", np.True_], "True"),
        (("0", "1"), ["1"], '"1"'),
        ((0.5, 1.5), [1.5, "1.5"], "1.5"),
    ],
)
def test_labels_that_look_like_other_labels(classes, given, label):
    rule_set = RuleSet((Rule((Interval("a", low=3),), classes[1]),), classes, classes[0], (9, 9), (1, 1), "first")
    for one in given:
        assert rule_set.why({"a": 0}, label=one).endswith(f"It would be {label} if a > 3 (it is 0): decided by rule 1.")
    with pytest.raises(ValueError, match="label must be one of"):
        rule_set.why({"a": 0}, label="2")


def many_rules(n):
    """Return n rules over twenty columns, of numbers and of text."""
    rng = np.random.default_rng(0)
    classes = ("a", "b", "c")
    found = []
    for j in range(n):
        body = []
        for c in rng.choice(20, 3, replace=False).tolist():
            low = float(rng.normal())
            values = tuple(f"v{k}" for k in rng.choice(60, 4, replace=False))
            body.append(IsIn(f"x{c}", values) if c % 2 else Interval(f"x{c}", low, low + 1))
        found.append(Rule(tuple(body), classes[j % 3], (("a", 3), ("b", 2), ("c", 1))))
    return RuleSet(tuple(found), classes, "a", (9, 9, 9), (1, 1, 1), "first")


def test_a_rule_set_with_a_thousand_rules(monkeypatch):
    """The number of records to which the rules are applied grows with the number of rules, not faster."""
    applied = {}
    record = {f"x{c}": "v0" if c % 2 else 0.0 for c in range(20)}
    for n in (100, 1000):
        rule_set, sizes = many_rules(n), []
        monkeypatch.setattr(
            RuleSet, "answer", lambda own, X, sizes=sizes: (sizes.append(X.n_records), answer(own, X))[1]
        )
        assert rule_set.why(record).count("It would be") == 2
        applied[n] = sum(sizes)
    assert applied[1000] < 12 * applied[100]


def test_a_record_with_a_misspelt_column_name():
    rule_set = rules("IF age > 30 AND sex = 'F' THEN good")
    for record in ({"Age": 3, "sex": "f"}, pd.Series({"Age": 3, "sex": "f"})):
        with pytest.raises(ValueError, match=r"no value for the column 'age', .*; did you mean 'Age'\?$"):
            rule_set.why(record)
    with pytest.raises(
        ValueError, match=r"no value for the column 'age', which the rules use \(give None .*missing\)$"
    ):
        rule_set.why({"height": 3, "sex": "f"})
