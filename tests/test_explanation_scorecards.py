"""Explanations of rule sets with scorecards: points are named, and every reported change is true and the nearest."""

import datetime
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import DRSClassifier, Equals, Interval, IsMissing, Rule, RuleSet, Scorecard, Sign
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.model import _point_moves
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._regions import MovedRecords, axes_of
from models import as_polars
from scorecard_models import scorecard_rule_sets
from test_explanation import is_missing_in, labels_and_changes, some_records, values_around

CARD = Scorecard.parse(
    "points (for ill): 3 if age > 55, 2 if bp > 140, 2 if sex = 'F', 2 if income <= 1000, 1 if age > 70, "
    "1 if job in {'a', 'b'}"
)
LABELS = Scorecard.parse(
    "points (for setosa, versicolor, virginica): 1 for virginica always, 3 for setosa if width <= 0.8, "
    "2 for versicolor if 0.8 < width <= 1.7, 2 for virginica if width > 1.7, 2 for versicolor if length <= 5, "
    "2 for virginica if length > 5, 1 for setosa if sepal > 3"
)


def of_points(*texts, fallbacks=(), default="ok", cards=(CARD,), conflict="first"):
    """Return a rule set whose rules may test points."""
    parsed, last = (tuple(Rule.parse(text, cards) for text in some) for some in (texts, fallbacks))
    classes = sorted({default, *(rule.label for rule in parsed + last), *(label for c in cards for label in c.labels)})
    zeros = (9,) * len(classes)
    return RuleSet(parsed, tuple(classes), default, zeros, zeros, conflict, last)


ILL = {"age": 60, "bp": 150, "sex": "F", "income": None, "job": "c"}
RULES = ("IF points >= 6 THEN ill", "IF points <= 1 AND age <= 40 THEN ok")


def reason(rule_set, record):
    return rule_set.reasons(pd.DataFrame([record]))[0]


def test_a_reason_names_the_points_of_the_record():
    rule_set = of_points(*RULES, fallbacks=["IF points >= 4 THEN ill"])
    assert reason(rule_set, ILL) == (
        'IF points >= 6 THEN ill: 7 of 11 points: 3 for age > 55, 2 for bp > 140, 2 for sex = "F"; '
        "not known: income <= 1000 (2 points)"
    )
    young = {**ILL, "age": 30, "bp": 1, "sex": "M", "job": None}
    assert reason(rule_set, young) == (
        "IF points <= 1 AND age <= 40 THEN ok: 0 of 11 points: no sign holds; "
        'not known: income <= 1000 (2 points), job in {"a", "b"} (1 point)'
    )
    assert reason(rule_set, {**ILL, "sex": "M"}) == (
        "no rule covers this record; the first fallback rule that does: IF points >= 4 THEN ill: "
        "5 of 11 points: 3 for age > 55, 2 for bp > 140; not known: income <= 1000 (2 points)"
    )
    assert reason(rule_set, {**ILL, "sex": "M", "bp": 1, "income": 2000}) == (
        "no rule and no fallback rule covers this record: default label ok; 3 of 11 points: 3 for age > 55"
    )


def test_the_reason_of_a_rule_that_tests_no_points_names_none():
    rule_set = of_points("IF age > 5 THEN ok", "IF points >= 6 THEN ill")
    assert reason(rule_set, ILL) == "IF age > 5 THEN ok; rule 2 contradicts"


def test_the_reason_names_the_leader_and_the_next_label():
    rule_set = of_points(
        "IF most points for setosa THEN setosa",
        "IF most points for virginica AND lead >= 2 THEN virginica",
        "IF points for versicolor >= 3 THEN versicolor",
        default="virginica",
        cards=[LABELS],
    )
    assert reason(rule_set, {"width": 0.5, "length": 2, "sepal": 4}) == (
        "IF most points for setosa THEN setosa: most points for setosa: 4 (3 for width <= 0.8, 1 for sepal > 3); "
        "next versicolor: 2 (2 for length <= 5); lead 2"
    )
    assert reason(rule_set, {"width": 1.2, "length": 2, "sepal": None}) == (
        "IF points for versicolor >= 3 THEN versicolor: "
        "points for versicolor: 4 (2 for 0.8 < width <= 1.7, 2 for length <= 5); not known: sepal > 3 (1 for setosa)"
    )
    assert reason(rule_set, {"width": 0.5, "length": 9, "sepal": 1}).endswith(
        "most points for setosa: 3 (3 for width <= 0.8); next virginica: 3 (1 always, 2 for length > 5); "
        "lead 0 (the label that is listed first leads)"
    )


def test_points_with_another_name_and_negative_points():
    card = Scorecard.parse("risk (for ill): 1 if age > 55, -2 if sport = True, 3 if bp is missing")
    rule_set = of_points("IF risk >= -1 THEN ill", cards=[card])
    record = {"age": 60, "sport": True, "bp": None}
    assert reason(rule_set, record) == (
        "IF risk >= -1 THEN ill: risk 2 (possible: -2 to 4): 1 for age > 55, -2 for sport = True, 3 for bp is missing"
    )
    assert rule_set.why(record).splitlines()[1:] == [
        "It has risk 2 (possible: -2 to 4): 1 for age > 55 (it is 60), -2 for sport = True, 3 for bp is missing.",
        "It would be ok if age <= 55 (it is 60) and bp is not missing (it is missing): risk -2 instead of 2, "
        "default label, because no rule would cover it.",
    ]


def test_points_of_rules_that_decide_together():
    rule_set = of_points("IF points >= 3 THEN ill", "IF age > 5 THEN ok", conflict="counts")
    text = reason(rule_set.evaluated(pd.DataFrame([ILL]), ["ill"]), ILL)
    assert text.startswith("rules 1 and 2 together: 2 ill, so the label is ill; 7 of 11 points: 3 for age > 55, ")


def test_the_explanation_of_one_record_with_points():
    rule_set = of_points("IF points >= 6 THEN ill", "IF points <= 1 AND age <= 40 THEN ok", "IF points <= 5 THEN ok")
    assert rule_set.why(ILL).splitlines() == [
        "ill, decided by rule 1: IF points >= 6 THEN ill.",
        'It has 7 of 11 points: 3 for age > 55 (it is 60), 2 for bp > 140 (it is 150), 2 for sex = "F"; '
        "not known: income <= 1000 (2 points).",
        "It would be ok if bp <= 140 (it is 150): 5 points instead of 7, decided by rule 3.",
    ]
    assert rule_set.why({**ILL, "age": 30, "sex": "M"}).splitlines()[-1] == (
        "It would be ill if age > 70 (it is 30): 6 points instead of 2, decided by rule 1."
    )
    assert rule_set.why({**ILL, "age": 30, "sex": "M", "bp": 1}).splitlines()[-1] == (
        "It would be ill if age > 70 (it is 30) and bp > 140 (it is 1): 6 points instead of 0, decided by rule 1."
    )


def test_points_of_many_columns_are_changed():
    """More columns than are tried in all combinations: one column after the other is changed."""
    names = "abcdefgh"
    card = Scorecard.parse("points (for ill): " + ", ".join(f"1 if {name} > 5" for name in names))
    rule_set = of_points("IF points >= 6 THEN ill", "IF points <= 0 THEN well", cards=[card])
    record = dict.fromkeys(names, 0)
    tests = ", ".join(f"{name} > 5 (it is 0)" for name in names[:5])
    assert rule_set.why(record, label="ill").splitlines()[-1] == (
        f"It would be ill if {tests} and f > 5 (it is 0): 6 points instead of 0, decided by rule 1."
    )
    high = dict.fromkeys(names, 9)
    tests = [f"{name} <= 5 (it is 9)" for name in names]
    assert rule_set.why(high).splitlines()[2:] == [
        f"It would be ok if {tests[0]}, {tests[1]} and {tests[2]}: 5 points instead of 8, default label, because no "
        "rule would cover it.",
        f"It would be well if {', '.join(tests[:-1])} and {tests[-1]}: 0 points instead of 8, decided by rule 2.",
    ]
    middle = of_points("IF points >= 2 THEN ill", cards=[card])
    assert middle.why(high).splitlines()[-1].startswith(f"It would be ok if {', '.join(tests[:6])} and {tests[6]}: 1")


def test_the_points_of_other_labels_are_lowered_or_the_own_are_raised():
    names = "abcd"
    card = Scorecard.parse(
        "points: " + ", ".join(f"2 for x if {n} > 5, 1 for y if {n} <= 5, 1 for z if {n} is missing" for n in names)
    )
    rule_set = of_points("IF most points for y AND lead >= 3 THEN y", default="z", cards=[card])
    tests = ", ".join(f"{name} <= 5 (it is 9)" for name in "abc")
    assert rule_set.why(dict.fromkeys(names, 9), label="y").splitlines()[-1] == (
        f"It would be y if {tests} and d <= 5 (it is 9): most points for y instead of x, lead 4 instead of 8, "
        "decided by rule 1."
    )


def test_plain_conditions_and_signs_of_a_column_are_changed_together():
    rule_set = of_points("IF points >= 6 AND age <= 60 THEN ill", "IF age > 50 THEN well")
    text = rule_set.why({**ILL, "age": 20, "bp": 1, "job": "a"}, label="ill").splitlines()[-1]
    assert text == "It would be ill if 55 < age <= 60 (it is 20): 6 points instead of 3, decided by rule 1."
    none = of_points("IF points >= 10 AND age <= 55 THEN ill")
    assert none.why(ILL, label="ill").endswith("No change was found that gives the label ill.")


def test_a_rule_with_points_that_would_not_decide_is_reported_as_such():
    rule_set = of_points("IF age > 5 THEN ok", "IF age <= 5 THEN ok", "IF points >= 7 AND bp > 120 THEN ill")
    assert rule_set.why({**ILL, "bp": 1, "sex": "M", "job": "x"}, label="ill").splitlines()[-1] == (
        'Rule 3, the nearest with label ill, would cover it if bp > 140 (it is 1) and sex = "F" (it is "M"), '
        "but rule 1 would decide."
    )


def columns_to_change(rule_set, columns, kinds, row):
    """Return for each label the fewest columns whose change gives it, by trying all values; slow and obvious."""
    fewest = {}
    for n in range(1, len(rule_set.columns) + 1):
        for names in itertools.combinations(rule_set.columns, n):
            values = [[v for v in values_around(*columns[name]) if v is not None] for name in names]
            moved = [{**row, **dict(zip(names, some, strict=True))} for some in itertools.product(*values)]
            frame = as_polars({name: [one[name] for one in moved] for name in columns}, kinds)
            for label in rule_set.predict(frame).tolist():
                fewest.setdefault(label, n)
    return fewest


@settings(max_examples=80)
@given(scorecard_rule_sets(), st.integers(0, 1000))
def test_a_change_is_true_for_every_value_and_has_the_fewest_columns(drawn, seed):
    rule_set, columns = drawn
    kinds, frame = some_records(columns, seed, n=3)
    labels, all_changes = labels_and_changes(rule_set, frame)
    for i, (label, changes) in enumerate(zip(labels, all_changes, strict=True)):
        row = frame.row(i, named=True)
        for change in changes:
            check_change(rule_set, columns, kinds, row, change)
        fewest = columns_to_change(rule_set, columns, kinds, row)
        fewest.pop(label, None)
        expected = {other: n for other, n in fewest.items() if n <= 3}
        found = {
            change.label: len(change.conditions)
            for change in changes
            if change.is_sufficient and not is_missing_in(change)
        }
        assert {other: n for other, n in found.items() if other in expected} == expected
        assert found.keys() <= fewest.keys()


@settings(max_examples=60)
@given(scorecard_rule_sets(), st.integers(0, 1000))
def test_the_nearest_change_of_the_fewest_columns_is_reported(drawn, seed):
    """Of all combinations of pieces of as many columns that give the label, the reported ones contain the nearest."""
    rule_set, columns = drawn
    _, frame = some_records(columns, seed, n=3)
    table = as_table(frame)
    axes = axes_of(rule_set, {name: table.column(name) for name in rule_set.columns})
    _, all_changes = labels_and_changes(rule_set, frame)
    for i, changes in enumerate(all_changes):
        distances = [axis.distances(slice(i, i + 1))[0] for axis in axes]
        own = np.array([axis.codes[i] for axis in axes])
        cells = np.array(list(itertools.product(*({*axis.destinations, own[a]} for a, axis in enumerate(axes)))))
        found = rule_set.answer(MovedRecords(axes, cells)).predictions()
        lengths = sum(distances[a][cells[:, a]] for a in range(len(axes))) if len(axes) else np.zeros(1)
        n_changed = (cells != own).sum(axis=1)
        for change in changes:
            if not change.is_sufficient or is_missing_in(change) or len(change.conditions) > 3:
                continue
            inside = Rule(change.conditions, 0).covers(MovedRecords(axes, cells))
            as_many = n_changed == len(change.conditions)
            assert lengths[inside & as_many].min() == lengths[as_many & (found == change.label)].min()


@settings(max_examples=60)
@given(scorecard_rule_sets(), st.integers(0, 1000))
def test_changes_are_true_if_not_all_combinations_are_tried(drawn, seed):
    rule_set, columns = drawn
    kinds, frame = some_records(columns, seed, n=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_point_moves, "_MAX_MOVES", seed % 5)
        _, all_changes = labels_and_changes(rule_set, frame)
    for i, changes in enumerate(all_changes):
        for change in changes:
            check_change(rule_set, columns, kinds, frame.row(i, named=True), change)


@settings(max_examples=40)
@given(scorecard_rule_sets(), st.integers(0, 1000))
def test_a_record_has_the_same_explanation_in_every_table(drawn, seed):
    rule_set, columns = drawn
    _, frame = some_records(columns, seed, n=10)
    texts, reasons = rule_set.why(frame), rule_set.reasons(frame)
    for i, label in enumerate(rule_set.predict(frame).tolist()):
        assert texts[i].startswith(format_label(label))
        assert texts[i] == rule_set.why(frame[i : i + 1])[0]
        assert reasons[i] == rule_set.reasons(frame[i : i + 1])[0]
    assert rule_set.why(frame.row(0, named=True)) == texts[0]


def test_all_combinations_of_columns_are_tried_or_the_nearest_pieces(monkeypatch):
    steps = [[0, 1], [2], [], [3, 4, 5]]
    pairs = [[0, 2], [1, 2], *([a, b] for a in (0, 1) for b in (3, 4, 5)), [2, 3], [2, 4], [2, 5]]
    assert sorted(_point_moves.combined_moves(steps, 2).tolist()) == sorted(pairs)
    assert len(_point_moves.combined_moves(steps, 3)) == 2 * 3
    assert _point_moves.combined_moves(steps, 4).shape == (0, 4)
    monkeypatch.setattr(_point_moves, "_MAX_MOVES", 5)
    assert _point_moves.combined_moves(steps, 2).tolist() == [[0, 2], [0, 3], [0, 4], [2, 3], [2, 4]]
    monkeypatch.setattr(_point_moves, "_MAX_MOVES", 2)
    assert _point_moves.combined_moves(steps, 2).shape == (0, 2)


def check_change(rule_set, columns, kinds, row, change):
    """Check that all values that meet the conditions of a change give its label, rules and points."""
    names = [one.column for one in change.conditions]
    values = [values_around(*columns[name]) for name in names]
    moved = [{**row, **dict(zip(names, some, strict=True))} for some in itertools.product(*values)]
    every = as_polars({name: [one[name] for one in moved] for name in columns}, kinds)
    own = as_polars({name: [row[name]] for name in columns}, kinds)
    changed = every.filter(Rule(change.conditions, 0).covers(every))
    assert len(changed) > 0
    assert not any(Rule((one,), 0).covers(own)[0] for one in change.conditions)
    assert ((rule_set.predict(changed) == change.label) == change.is_sufficient).all()
    if not change.is_sufficient:
        assert rule_set.rules[change.rule].covers(changed).all()
    for column, before, after in change.points:
        assert value_of(column, own) == {before}
        assert value_of(column, changed) == set(after)
        assert before not in after


def value_of(column, frame):
    """Return the values of a derived column in a table, computed from the points."""
    card, found = column.scorecard, set()
    for row in card.points(frame).tolist():
        first, second = [*sorted(row, reverse=True), 0][:2]
        values = {"lead": first - second, "leader": card.labels[row.index(first)]}
        found.add(values.get(column.part, row[card.labels.index(column.label) if column.label is not None else 0]))
    return found


def test_a_column_whose_conditions_fit_no_common_type_is_not_changed():
    """The column x is compared with a date by a sign and with a number by a rule, so its pieces are not known."""
    date = Sign(Equals("x", datetime.datetime(1944, 2, 2)), {"a": 9})
    card = Scorecard("points", (Sign(Equals("y", "u"), {"a": 1}), date))
    other = Scorecard("risk", (Sign(IsMissing("x"), {"b": 1}),))
    rules = (
        Rule((card.between(1),), "c"),
        Rule((Equals("x", 1), Interval("z", high=datetime.datetime(2080, 1, 28))), "c"),
        Rule((other.between(None, 4),), "a"),
    )
    rule_set = RuleSet(rules, ("a", "b", "c"), "c", (9, 9, 9), (0, 1, 0))
    text = rule_set.why({"x": None, "y": None, "z": None})
    assert text.startswith("a, decided by rule 3")


def test_more_labels_than_are_reported_can_be_reached_by_two_columns():
    X = [[-55.6, 44.0], [100.1, 17.0], [100.1, 44.0], [100.1, 8.0], [100.1, 17.0]]
    clf = DRSClassifier(random_state=117).fit(X, ["a", "b", "c", "d", "e"])
    text = clf.why(X)[0]
    assert text.count("It would be") == 3


def test_bounds_that_are_larger_than_any_integer_of_numpy():
    card = Scorecard("points", (Sign(Interval("x", low=5), {"a": 1, "b": 2}),))
    rules = (Rule((card.lead_between(high=2**64),), "a"), Rule((card.between(2**70, label="b"),), "b"))
    rule_set = RuleSet(rules, ("a", "b"), "b", (9, 9), (1, 1))
    assert rule_set.why({"x": 7}).startswith("a, decided by rule 1")
