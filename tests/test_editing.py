"""Edited rule sets: the rules are as requested, and all counts are those of the given data."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, Rule, RuleSet
from models import as_polars, records_for, rule_sets


@pytest.fixture
def fitted(mixed):
    """Rules without scorecards, with fallback rules; test_scorecard_editing.py has those with scorecards."""
    X, y = mixed
    X = X.assign(size=X["size"].astype(object))  # without their order, some records are uncovered
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, max_rules=4, min_evidence=0).fit(X, y)
    assert clf.rule_set_.fallbacks
    return clf, X, y


@pytest.mark.parametrize("scorecards", [None, "auto"])
def test_a_rule_set_evaluated_on_its_own_data_is_itself(mixed, scorecards):
    X, y = mixed
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=scorecards).fit(X, y)
    assert bool(clf.rule_set_.scorecards) == (scorecards == "auto")
    again = clf.rule_set_.evaluated(X, y)
    assert again == clf.rule_set_
    assert str(again) == str(clf.rule_set_)
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@given(rule_sets(), st.integers(0, 1000))
def test_counts_are_those_of_the_data(drawn, seed):
    rule_set, columns = drawn
    kinds = {name: kind for name, (kind, _) in columns.items()}
    X = as_polars(records_for(columns, seed), kinds)
    rng = np.random.default_rng(seed)
    y = np.empty(len(X), object)
    y[:] = [rule_set.classes[k] for k in rng.integers(0, len(rule_set.classes), len(X))]
    again = rule_set.evaluated(X, y)
    assert again.rules == rule_set.rules
    left = np.ones(len(X), bool)
    for rule in again.rules:
        covered = rule.covers(X, missing_values=dict(rule_set.missing_values))
        assert dict(rule.class_counts) == {label: int((y[covered] == label).sum()) for label in rule_set.classes}
        left &= ~covered
    assert again.uncovered_counts == tuple(int((y[left] == label).sum()) for label in rule_set.classes)
    assert again.class_totals == tuple(int((y == label).sum()) for label in rule_set.classes)
    for fallback in again.fallbacks:
        decided = fallback.covers(X, missing_values=dict(rule_set.missing_values)) & left
        assert dict(fallback.class_counts) == {label: int((y[decided] == label).sum()) for label in rule_set.classes}
        left &= ~decided


def test_a_rule_is_added_and_removed(fitted):
    clf, X, y = fitted
    before = clf.rule_set_
    more = before.with_rule("IF age <= 30 THEN bad", X, y)
    assert more.rules == (*before.rules, Rule.parse("IF age <= 30 THEN bad"))
    assert more.rules[-1].n_covered == int((X["age"] <= 30).sum())
    assert more.fallbacks == before.fallbacks
    assert sum(more.uncovered_counts) < sum(before.uncovered_counts)
    other = next(label for label in before.classes if label != before[0].label)
    same_records = before.with_rule(Rule(before[0].conditions, other), X, y)
    assert same_records.fallbacks == before.fallbacks  # no more records are covered
    assert same_records.uncovered_counts == before.uncovered_counts
    assert more.without_rule(len(more), X, y) == before
    assert more.without_rule(more.rules[-1], X, y) == before
    assert more.without_rule("IF age <= 30 THEN bad", X, y) == before
    first = before.with_rule("IF age <= 30 THEN bad", X, y, position=1)
    assert first.rules[1:] == before.rules
    clf.rule_set_ = first
    assert clf.explain(X)["covering"].tolist() == [(np.flatnonzero(row) + 1).tolist() for row in first.covers(X)]


def test_fallback_rules_and_the_default_label_follow_the_likeliest_class(fitted):
    clf, X, y = fitted
    rule_set = clf.rule_set_
    assert len(rule_set) > 1
    assert rule_set.fallbacks
    changes = [rule_set.with_rule("IF age > 30 THEN good", X, y), rule_set.replace(1, "IF age > 70 THEN good", X, y)]
    changes += [rule_set.without_rule(number, X, y) for number in range(1, len(rule_set) + 1)]
    while len(changes[-1]):
        changes.append(changes[-1].without_rule(1, X, y))
    for changed in changes:
        alone = changed.deciding_rules(X) >= len(changed)
        alone |= changed.deciding_rules(X) < 0
        likeliest = np.array(changed.classes)[changed.predict_proba(X).argmax(axis=1)]
        assert changed.predict(X)[alone].tolist() == likeliest[alone].tolist()
    assert any(changed.fallbacks != rule_set.fallbacks for changed in changes[2 : 2 + len(rule_set)])
    assert rule_set.without_rule(1, X, y).with_rule(rule_set[0], X, y, position=1) == rule_set


def test_a_label_that_the_user_gives_is_not_changed(fitted):
    clf, X, y = fitted
    number = len(clf.rule_set_) + 1
    fallback = clf.rule_set_.fallbacks[0]
    other = next(label for label in clf.classes_ if label != fallback.label)
    changed = clf.rule_set_.replace(number, Rule(fallback.conditions, other), X, y)
    assert changed.fallbacks[0].label == other
    assert changed.without_rule(1, X, y).fallbacks[0].label == other
    empty = RuleSet((), ("bad", "good"), "bad", (0, 0), (0, 0))
    with pytest.warns(UserWarning, match="the rule IF age > 200 THEN good: no record has age > 200; its values are"):
        assert empty.with_rule("IF age > 200 THEN good", X, y).default == "bad"


def test_a_rule_is_replaced(fitted):
    clf, X, y = fitted
    before = clf.rule_set_
    changed = before.replace(1, "IF age > 70 THEN good", X, y)
    assert changed.rules[0] == Rule.parse("IF age > 70 THEN good")
    assert changed.rules[1:] == before.rules[1:]
    number = len(before) + 1
    assert changed.replace(number, "IF age > 75 THEN bad", X, y).fallbacks[0] == Rule.parse("IF age > 75 THEN bad")
    assert len(before.without_rule(number, X, y).fallbacks) == len(before.fallbacks) - 1


def test_balanced_weights_are_balanced_on_other_data(fitted):
    clf, X, y = fitted
    part = np.flatnonzero((y == "good") | (np.arange(len(y)) % 3 == 0))
    again = clf.rule_set_.evaluated(X.iloc[part], y[part])
    mass = np.array(again.class_weights) * np.array(again.class_totals)
    np.testing.assert_allclose(mass, mass[0])
    plain = DiverseRuleSetClassifier(random_state=0, class_weight={"good": 3.0}).fit(X, y).rule_set_
    assert plain.evaluated(X.iloc[part], y[part]).class_weights == plain.class_weights


def test_weights_of_an_empty_rule_set_do_not_change():
    empty = RuleSet((), ("a", "b"), "a", (0, 0), (0, 0), class_weights=(5.0, 1.0))
    assert empty.evaluated(np.zeros((3, 1)), ["a", "b", "b"]).class_weights == (5.0, 1.0)


def test_a_label_in_text_becomes_the_class_with_this_text():
    X = pd.DataFrame({"age": [10, 20, 30]})
    numbers = RuleSet((), (0, 1), 0, (0, 0), (0, 0))
    assert numbers.with_rule("IF age > 15 THEN 1", X, [0, 1, 1]).rules[0].label == 1
    texts = RuleSet((), ("0", "1"), "0", (0, 0), (0, 0))
    label = texts.with_rule("IF age > 15 THEN 1", X, ["0", "1", "1"]).rules[0].label
    assert (label, type(label)) == ("1", str)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda r, X, y: r.with_rule("IF age > 1 THEN ugly", X, y), ValueError, "label 'ugly', expected one of"),
        (lambda r, X, y: r.with_rule("IF size > 1 THEN good", X, y), ValueError, "holds text values"),
        (lambda r, X, y: r.with_rule("IF height > 1 THEN good", X, y), ValueError, "no column 'height'"),
        (lambda r, X, y: r.with_rule(5, X, y), TypeError, "rule must be a Rule or a text such as"),
        (
            lambda r, X, y: r.with_rule("IF age > 1 THEN good", X, y, position=0),
            ValueError,
            "position must be a number",
        ),
        (lambda r, X, y: r.without_rule(0, X, y), ValueError, "rule must be a number from 1"),
        (lambda r, X, y: r.without_rule(99, X, y), ValueError, "rule must be a number from 1"),
        (
            lambda r, X, y: r.without_rule("IF age > 1 THEN good", X, y),
            ValueError,
            "rule must be a rule of the rule set or its number, .* got IF age > 1 THEN good",
        ),
        (lambda r, X, y: r.evaluated(X, y[:-1]), ValueError, "one label per record"),
        (lambda r, X, y: r.evaluated(X, ["ugly"] * len(y)), ValueError, "not classes of the rule set: 'ugly'"),
    ],
)
def test_invalid_arguments_are_errors(fitted, change, error, message):
    clf, X, y = fitted
    with pytest.raises(error, match=message):
        change(clf.rule_set_, X, y)


def test_a_rule_set_as_a_data_frame(fitted):
    clf, X, _ = fitted
    rules = clf.rule_set_
    frame = rules.to_frame(X)
    assert len(frame) == len(rules) + len(rules.fallbacks) + 1
    assert frame["if"].iloc[0] == " AND ".join(map(str, rules[0].conditions))
    assert frame["precision"].iloc[0] == rules[0].precision
    assert frame["covers"].iloc[: len(rules)].tolist() == [rule.n_covered for rule in rules]
    assert frame["part"].tolist()[-1] == "default"
    assert frame["covers"][frame["part"] != "rule"].sum() == sum(rules.uncovered_counts)
    assert (frame["n bad"] + frame["n good"] == frame["covers"]).all()
    assert type(rules.to_frame(__import__("polars").DataFrame())).__module__.startswith("polars")


def test_an_empty_column_keeps_its_type(fitted):
    clf, X, y = fitted
    rule_set = clf.rule_set_
    column = rule_set.columns[0]
    kind = rule_set.kind(column)
    emptied = rule_set.evaluated(X.assign(**{column: None}), y)
    assert emptied.kind(column) == kind
    assert RuleSet.from_json(emptied.to_json()).kind(column) == kind


CONTRACTS = pd.DataFrame({"contract": ["Month-to-month", "One year", "Two year"] * 4, "n": range(12)})
MISSPELT = [
    ('contract = "Two yeer"', 'no record has contract = "Two yeer"; did you mean "Two year"?'),
    ('contract in {"One year", "Two yeer"}', 'no record has contract = "Two yeer"; did you mean "Two year"?'),
    ('contract != "Month-to-mont"', 'no record has contract = "Month-to-mont"; did you mean "Month-to-month"?'),
    ("n in {3, 99}", "no record has n = 99; its values are from 0 to 11"),
    ('contract != "xyz"', 'no record has contract = "xyz"'),
    ("n > 50", "no record has n > 50; its values are from 0 to 11"),
    ("n > 11", "no record has n > 11; its values are from 0 to 11"),
]


@pytest.mark.parametrize(("condition", "message"), MISSPELT)
@pytest.mark.parametrize("way", ["given_rules", "with_rule", "replace a rule", "replace a fallback rule"])
def test_values_and_rules_that_no_record_meets_give_a_warning(condition, message, way):
    y, rule = ["No", "Yes", "No"] * 4, f"IF {condition} THEN No"
    known = Rule.parse("IF n > 5 THEN Yes")
    rules = RuleSet((known,), ("No", "Yes"), "No", (0, 0), (0, 0), fallbacks=(known,))
    calls = {
        "given_rules": lambda: DiverseRuleSetClassifier(given_rules=[rule], random_state=0).fit(CONTRACTS, y),
        "with_rule": lambda: rules.with_rule(rule, CONTRACTS, y),
        "replace a rule": lambda: rules.replace(1, rule, CONTRACTS, y),
        "replace a fallback rule": lambda: rules.replace(2, rule, CONTRACTS, y),
    }
    with pytest.warns(UserWarning, match="no record has") as caught:
        calls[way]()
    start = "given_rules has the rule" if way == "given_rules" else "the rule"
    assert [str(warning.message) for warning in caught] == [f"{start} {rule}: {message}"]


def test_the_warnings_about_a_rule_with_many_unknown_values_are_few():
    rules = RuleSet((), ("No", "Yes"), "No", (0, 0), (0, 0))
    with pytest.warns(UserWarning, match="no record has") as caught:
        rules.with_rule(
            'IF contract in {"One year", "a", "b", "c", "d", "e"} THEN No', CONTRACTS, ["No", "Yes", "No"] * 4
        )
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 3
    assert texts[-1].endswith('no record has contract = "c" (nor 2 more of its values)')


def test_rules_whose_values_occur_give_no_warning():
    """A fallback rule that decides no record may still cover some."""
    rules = RuleSet((Rule.parse("IF n > -1 THEN Yes"),), ("No", "Yes"), "No", (0, 0), (0, 0))
    rules = replace(rules, fallbacks=rules.rules)
    changed = rules.replace(2, 'IF contract in {"One year", "Two year"} THEN No', CONTRACTS, ["No", "Yes", "No"] * 4)
    assert changed.fallbacks[0].n_covered == 0
    changed.with_rule('IF contract not in {"One year"} AND n <= 3 THEN No', CONTRACTS, ["No", "Yes", "No"] * 4)
