"""Scorecards against the oracle; their text, equality and pickles; probabilities by points; bad input."""

import itertools
import math
import os
import pickle
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import naive
from cards import NAMES, conditions_on_card, rule_sets_with_scorecards, scorecards
from diverse_rule_sets import (
    Equals,
    Interval,
    IsIn,
    IsInRange,
    IsMissing,
    IsNotIn,
    PointsTable,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
)
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._point_probabilities import counts_by_points, followed_column, points_of_rule
from models import as_polars, records_for
from test_grammar import conditions, names, numbers, text

CARD = Scorecard.parse("points (for ill): 3 if age > 55, 2 if age <= 20, 2 if sex = 'F'")
BOTH = Scorecard.parse(
    "points (for ill, ok, dead): 1 for ok always, 3 for ill, 1 for ok if age > 55, 2 for ok if sex = 'F'"
)


def as_test(condition):
    """Return a condition as the oracle takes it: the column, and a test of it."""
    if isinstance(condition, IsMissing):
        return condition.column, ("missing", None)
    if isinstance(condition, Interval):
        return condition.column, ("between", (condition.low, condition.with_low, condition.high, condition.with_high))
    return condition.column, ("not in" if isinstance(condition, IsNotIn) else "in", condition.values_named)


def naive_points(card, record):
    signs = [(*as_test(sign.condition), sign.points) for sign in card.signs]
    return naive.points(card.labels, card.base, signs, record)


def records_of(columns, seed):
    """Return records as a polars frame and as a list of dicts."""
    table = records_for(columns, seed, 30)
    frame = as_polars(table, {name: kind for name, (kind, _) in columns.items()})
    return frame, [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def naive_holds(condition, record):
    """Return whether a condition on the table or on a scorecard holds for a record."""
    column = condition.column
    if isinstance(column, str):
        return naive.holds(as_test(condition)[1], record[column])
    card, found = column.scorecard, naive_points(column.scorecard, record)
    if column.part == "leader":
        return naive.leader(card.labels, found) == condition.value
    s = naive.lead(card.labels, found) if column.part == "lead" else found[column.label or card.labels[0]]
    if column.part == "points" and column.label is not None:
        s = found[column.label]
    return (condition.low is None or s >= condition.low) and (condition.high is None or s <= condition.high)


@settings(max_examples=200)
@given(rule_sets_with_scorecards(), st.integers(0, 1000))
def test_points_leader_lead_and_covers_equal_the_oracle(drawn, seed):
    rule_set, columns = drawn
    frame, records = records_of(columns, seed)
    for card in rule_set.scorecards:
        ref = [[naive_points(card, record)[label] for label in card.labels] for record in records]
        got = card.points(frame)
        assert got.tolist() == ref
        for k, label in enumerate(card.labels):
            low, high = card.ranges[label]
            assert low <= min(row[k] for row in ref)
            assert high >= max(row[k] for row in ref)
    for rule in rule_set.all_rules:
        ref = [all(naive_holds(condition, record) for condition in rule.conditions) for record in records]
        assert rule.covers(frame).tolist() == ref
    ref = [[all(naive_holds(one, record) for one in rule.conditions) for rule in rule_set.rules] for record in records]
    assert rule_set.covers(frame).tolist() == ref


@settings(max_examples=100)
@given(rule_sets_with_scorecards(), st.integers(0, 1000))
def test_one_record_at_a_time_equals_the_whole_table(drawn, seed):
    rule_set, columns = drawn
    frame, _ = records_of(columns, seed)
    labels, shares = rule_set.predict(frame), rule_set.predict_proba(frame)
    for i in range(len(frame)):
        assert rule_set.predict(frame[i : i + 1])[0] == labels[i]
        np.testing.assert_array_equal(rule_set.predict_proba(frame[i : i + 1])[0], shares[i])
    order = np.random.default_rng(seed).permutation(len(frame))
    np.testing.assert_array_equal(rule_set.predict_proba(frame[order.tolist()]), shares[order])
    np.testing.assert_array_equal(rule_set.predict_proba(frame.select(reversed(frame.columns))), shares)


def renamed_condition(condition, name_of, cards):
    if isinstance(condition.column, str):
        return replace(condition, column=name_of[condition.column])
    column = condition.column
    return replace(condition, column=cards[column.scorecard].column(column.part, column.label))


@settings(max_examples=100)
@given(rule_sets_with_scorecards(), st.integers(0, 1000))
def test_renaming_columns_and_scorecards_changes_no_answer(drawn, seed):
    rule_set, columns = drawn
    frame, _ = records_of(columns, seed)
    name_of = {name: f"column {k}" for k, name in enumerate(columns)}
    cards = {
        card: Scorecard(
            f"card {k}",
            tuple(Sign(renamed_condition(sign.condition, name_of, {}), sign.points) for sign in card.signs),
            card.labels,
            card.base,
        )
        for k, card in enumerate(rule_set.scorecards)
    }

    def renamed(rule):
        body = tuple(renamed_condition(condition, name_of, cards) for condition in rule.conditions)
        table = rule.points_table
        if table is not None:
            old = table.column
            table = replace(table, column=cards[old.scorecard].column(old.part, old.label))
        return Rule(body, rule.label, rule.class_counts, table)

    other = replace(
        rule_set,
        rules=tuple(map(renamed, rule_set.rules)),
        fallbacks=tuple(map(renamed, rule_set.fallbacks)),
        kinds=tuple((name_of[name], kind) for name, kind in rule_set.kinds),
    )
    np.testing.assert_array_equal(other.predict_proba(frame.rename(name_of)), rule_set.predict_proba(frame))
    np.testing.assert_array_equal(other.covers(frame.rename(name_of)), rule_set.covers(frame))


def test_ties_and_missing_values():
    X = pd.DataFrame({"age": [60, 60, None, None, 30], "sex": ["M", "F", None, "F", "M"]})
    assert CARD.points(X)[:, 0].tolist() == [3, 5, 0, 2, 0]
    assert BOTH.points(X).tolist() == [[3, 2, 0], [3, 4, 0], [0, 1, 0], [0, 3, 0], [0, 1, 0]]
    tied = Scorecard("points", (Sign(Interval("age", low=55), {"b": 1}), Sign(Equals("sex", "M"), {"a": 1})))
    other = replace(tied, labels=("a", "b"))
    assert tied.labels == ("b", "a")
    assert Rule((tied.leads("b"),), "b").covers(X).tolist() == [True, True, True, True, False]
    assert Rule((other.leads("b"),), "b").covers(X).tolist() == [False, True, False, False, False]
    assert Rule((other.lead_between(high=0),), "b").covers(X).tolist() == [True, False, True, True, False]
    missing = Scorecard.parse("points (for a): 2 if age is missing, 1 if age > 0")
    assert missing.points(X)[:, 0].tolist() == [1, 1, 2, 2, 1]
    assert missing.ranges == {"a": (0, 2)}
    with pytest.raises((KeyError, ValueError), match="age"):
        missing.points(X[["sex"]])


@given(st.integers(-20, 20), st.sampled_from([0.0, 0.25, 0.5]), st.booleans())
def test_bounds_of_points_have_one_form(whole, fraction, closed):
    column = CARD.column()
    low, high = (
        Interval(column, low=whole + fraction, with_low=closed),
        Interval(column, high=whole + fraction, with_high=closed),
    )
    assert low == CARD.between(
        low=min(s for s in range(-30, 30) if s > whole + fraction or (closed and s == whole + fraction))
    )
    assert high == CARD.between(
        high=max(s for s in range(-30, 30) if s < whole + fraction or (closed and s == whole + fraction))
    )
    assert Rule.parse(f"IF points {'>=' if closed else '>'} {whole + fraction} THEN ill", [CARD]).conditions == (low,)
    assert Rule.parse(f"IF {whole + fraction} {'<=' if closed else '<'} points THEN ill", [CARD]).conditions == (low,)
    assert hash(Rule((low,), "ill")) == hash(Rule.parse(f"IF {low} THEN ill", (CARD,)))


@st.composite
def hostile_cards(draw):
    """Draw a scorecard with any name, labels and conditions."""
    labels = text | numbers | st.just(True)
    classes = draw(st.lists(labels, min_size=1, max_size=4, unique=True))
    kinds = {type(label) if not isinstance(label, float) else int for label in classes}
    assume(len(kinds) == 1 and all(not isinstance(label, str) or label == label for label in classes))
    columns = draw(st.lists(names(), min_size=1, max_size=3, unique=True))
    # Ranges are read back with their orders only, which a rule set prints (tests/test_ranges.py).
    plain = st.sampled_from(columns).flatmap(conditions).filter(lambda one: not isinstance(one, IsInRange))
    some = st.lists(plain, min_size=1, max_size=4, unique=True)
    return draw(scorecards(some, classes, NAMES | text))


@settings(max_examples=400)
@given(hostile_cards(), st.data())
def test_a_printed_scorecard_and_rules_on_it_are_read_back(card, data):
    printed = str(card)
    again = Scorecard.parse(printed)
    assert again == card
    assert hash(again) == hash(card)
    assert str(again) == printed
    assert [list(sign.points.items()) for sign in again.signs] == [list(sign.points.items()) for sign in card.signs]
    assert [type(label) is bool for label in again.labels] == [type(label) is bool for label in card.labels]
    assert all(line.isprintable() for line in printed.splitlines())
    assert Scorecard.parse(printed.replace("\n   ", "; ").replace(":;", ":")) == card
    no_ranges = names().flatmap(conditions).filter(lambda one: not isinstance(one, IsInRange))
    plain = data.draw(st.lists(no_ranges, max_size=2, unique_by=lambda one: one.column))
    body = data.draw(st.permutations([*plain, *data.draw(conditions_on_card(card))]))
    rule = Rule(tuple(body), data.draw(st.sampled_from(card.labels)))
    try:
        rule_set = RuleSet((rule,), card.labels, card.labels[0], (0,) * len(card.labels), (0,) * len(card.labels))
    except ValueError:  # a column has the name of the scorecard, or values of several types
        reject()
    assert Rule.parse(str(rule), [card]) == rule
    assert str(Rule.parse(str(rule), [card])) == str(rule)
    read = RuleSet.parse(str(rule_set), classes=rule_set.classes)
    assert read.same_rules(rule_set)
    assert read.scorecards == rule_set.scorecards


@settings(max_examples=200)
@given(rule_sets_with_scorecards())
def test_a_printed_rule_set_is_read_back(drawn):
    rule_set, _ = drawn
    assume(not any(getattr(condition, "empty", False) for rule in rule_set.all_rules for condition in rule.conditions))
    assume(not any(getattr(sign.condition, "empty", False) for card in rule_set.scorecards for sign in card.signs))
    again = RuleSet.parse(str(rule_set), classes=rule_set.classes)
    assert again.same_rules(rule_set)
    assert again.scorecards == rule_set.scorecards
    assert again.conflict == (rule_set.conflict if len(rule_set.rules) > 1 else "precision")
    assert str(RuleSet.parse(str(again), classes=again.classes)) == str(again)
    for rule in rule_set.all_rules:
        assert Rule.parse(str(rule), rule_set.scorecards, orders=rule_set.orders) == rule


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_the_sentence_about_conflicts_is_read(conflict):
    rules = (Rule((CARD.between(3),), "ill"), Rule((CARD.between(high=2),), "ok"))
    rule_set = RuleSet(rules, ("ill", "ok"), "ok", (5, 50), (0, 0), conflict, class_weights=(10.0, 1.0))
    assert RuleSet.parse(str(rule_set)).conflict == conflict
    fallback = replace(rule_set, rules=rules[:1], fallbacks=rules[1:])
    assert RuleSet.parse(str(fallback)).same_rules(fallback)


def test_a_printed_rule_with_its_probabilities_is_read():
    X = pd.DataFrame({"age": [60, 60, 10, 30] * 9, "sex": ["F", "M", "F", "M"] * 9})
    rule_set = RuleSet((Rule((CARD.between(2),), "ill"),), ("ill", "ok"), "ok", (0, 0), (0, 0))
    printed = str(rule_set.evaluated(X, ["ill", "ill", "ok", "ok"] * 9))
    lines = printed[printed.index("1. IF") : printed.index("   OTHERWISE")]
    assert "probability of ill by points: " in lines
    assert Rule.parse(lines, [CARD]) == rule_set.rules[0]


@settings(max_examples=100)
@given(hostile_cards())
def test_equal_scorecards_have_equal_hashes_and_copies(card):
    other = Scorecard(card.name, card.signs, card.labels, dict(reversed(list(card.base.items()))))
    assert other == card
    assert hash(other) == hash(card)
    assert pickle.loads(pickle.dumps(card)) == card
    for changed in (
        replace(card, name=card.name + "x"),
        replace(card, labels=(*card.labels, *_another(card.labels)), base={}),
        replace(card, signs=(*card.signs, Sign(IsMissing(("another", "column")), {card.labels[0]: 1}))),
        replace(card, signs=(replace(card.signs[0], points=dict.fromkeys(card.signs[0].points, 99)), *card.signs[1:])),
    ):
        assert changed != card
        assert changed.derived_columns()[0] != card.derived_columns()[0]


def _another(labels):
    if isinstance(labels[0], bool):
        return [one for one in (False, True) if one not in labels] or reject()
    if isinstance(labels[0], str):
        return ["".join(labels) + "x"]
    return [next(n for n in range(len(labels) + 1) if n not in labels)]


def test_a_pickle_read_by_a_process_with_another_hash_seed_is_equal(tmp_path):
    rule_set = RuleSet(
        (Rule((CARD.between(3), Equals("sex", "F")), "ill"), Rule((CARD.between(high=2),), "ok")),
        ("dead", "ill", "ok"), "ok", (1, 2, 3), (0, 0, 0),
    )  # fmt: skip
    hash(rule_set)  # what is kept of it must not be pickled
    (tmp_path / "rules.pkl").write_bytes(pickle.dumps((rule_set, BOTH, {CARD: 1, BOTH.column("lead"): 2})))
    program = (
        "import pickle, sys\n"
        "from diverse_rule_sets import RuleSet, Scorecard\n"
        "rule_set, both, by_card = pickle.load(open(sys.argv[1], 'rb'))\n"
        "again = RuleSet.from_json(rule_set.to_json())\n"
        "assert again == rule_set and hash(again) == hash(rule_set)\n"
        "card = Scorecard.parse(str(rule_set.scorecards[0]))\n"
        "assert {card, rule_set.scorecards[0]} == {card} and card in by_card and both.column('lead') in by_card\n"
        "assert Scorecard.parse(str(both)) in {both}\n"
        "print(hash(card))"
    )
    found = set()
    for seed in "123":
        run = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "rules.pkl")],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        found.add(run.stdout)
    assert len(found) > 1


@st.composite
def evaluated_rule_sets(draw):
    """Draw a rule set with counts and tables from random records, the records, and their labels."""
    conflicts = tuple(name for name in CONFLICTS if name not in ("vote", "counts"))
    rule_set, columns = draw(rule_sets_with_scorecards(conflicts=conflicts))
    seed = draw(st.integers(0, 1000))
    frame, records = records_of(columns, seed)
    codes = np.random.default_rng(seed).integers(0, len(rule_set.classes), len(frame))
    labels = [rule_set.classes[code] for code in codes]
    return rule_set.evaluated(frame, labels), frame, records, codes.tolist()


def naive_curves(rule_set, followed, shares, weights):
    """Return the constant and the slope of each rule: the minimum of the oracle's loss, for each column by itself."""
    curves = {}
    for column in {column for _, _, column in followed.values()}:
        own = [j for j in followed if followed[j][2] == column]
        rules = [(followed[j][1], naive_is_band(rule_set, j, column, followed[j][0])) for j in own]
        squares = naive_squares(column)
        records = [(s, weights[c]) for seen, _ in rules for s, c, _ in seen]
        mean = sum(s * w for s, w in records) / sum(w for _, w in records) if records else 0.0

        def loss(x, rules=rules, squares=squares):
            value, derivatives = naive.curve_loss(x[0], x[1], x[2:], rules, weights, squares)
            return value, np.array(derivatives)

        bounds = [(None, None), (0, None), *[(None, None)] * len(own)]
        options = {"ftol": 0.0, "gtol": 1e-9, "maxiter": 5000, "maxfun": 5000}
        x = minimize(loss, np.zeros(2 + len(own)), method="L-BFGS-B", jac=True, bounds=bounds, options=options).x
        for j, (seen, is_band), extra in zip(own, rules, x[2:], strict=True):
            share = min(max(shares[j][followed[j][0]], 1e-6), 1 - 1e-6)
            alone = naive.constant_for(share, x[1], seen, weights, mean)
            curves[j] = (x[0] + extra - x[1] * mean if is_band else alone), x[1]
    return curves


def naive_is_band(rule_set, j, column, label):
    others = [one for one in rule_set.all_rules[j].conditions if one.column != column]
    if column.part != "lead":
        return not others
    leaders = [one for one in others if isinstance(one, Equals) and getattr(one.column, "part", None) == "leader"]
    return rule_set.classes.index(rule_set.all_rules[j].label) == label and len(leaders) == len(others)


def naive_squares(column):
    card = column.scorecard
    points = [(label, n) for sign in card.signs for label, n in sign.points.items()]
    if column.part == "lead":
        return sum(n * n for _, n in points) / len(card.labels)
    return sum(n * n for label, n in points if label == (card.labels[0] if column.label is None else column.label))


@settings(max_examples=200)
@given(evaluated_rule_sets())
def test_probabilities_by_points_equal_the_oracle(drawn):
    rule_set, frame, records, y = drawn
    classes = list(rule_set.classes)
    shares = rule_set.rule_probabilities
    followed, undecided = {}, set(range(len(records)))
    for j, rule in enumerate(rule_set.all_rules):
        covered = {i for i, record in enumerate(records) if all(naive_holds(one, record) for one in rule.conditions)}
        if j >= len(rule_set.rules):
            covered &= undecided
            undecided -= covered
        elif j == len(rule_set.rules) - 1:
            undecided -= {i for i, flags in enumerate(rule_set.covers(frame)) if flags.any()}
        found = followed_column(rule.conditions)
        assert (rule.points_table is None) == (found is None)
        if found is not None:
            card, label = found[0].scorecard, classes.index(found[1])
            by_record = {i: naive_points(card, records[i]) for i in covered}
            is_lead = found[0].part == "lead"
            s = {i: naive.lead(card.labels, p) if is_lead else p[found[1]] for i, p in by_record.items()}
            followed[j] = label, [(s[i], y[i], label) for i in sorted(covered)], found[0]
    all_seen = [one for _, seen, _ in followed.values() for one in seen]
    given_weights = rule_set.class_weights or [1.0] * len(classes)
    weights = naive.weights_of_records(given_weights, [c for _, c, _ in all_seen])
    curves = naive_curves(rule_set, followed, shares, weights)
    for j, (label, seen, column) in followed.items():
        rule, table = rule_set.all_rules[j], rule_set.all_rules[j].points_table
        possible = points_of_rule(column, rule.conditions)
        assert (table.low, table.high) == (possible[0], possible[-1])
        own = classes.index(rule.label)
        if len(classes) == 1 or max(shares[j]) == 1:  # nothing is left for the other classes to share
            continue
        constant, slope = curves[j]
        ref = [naive.probabilities_by_points(shares[j].tolist(), label, own, constant + slope * s) for s in possible]
        np.testing.assert_allclose(table.rows, ref, rtol=0, atol=2e-5)
        found = naive.levels([s for s, _, _ in seen], [classes[c] for _, c, _ in seen], classes)
        got = counts_by_points(
            np.array([s for s, _, _ in seen], np.int64), np.array([c for _, c, _ in seen], np.int64), len(classes)
        )
        assert {s: row.tolist() for s, row in got.items()} == found


@settings(max_examples=200)
@given(evaluated_rule_sets())
def test_probabilities_by_points_never_fall_and_keep_the_label(drawn):
    rule_set, frame, _, _ = drawn
    for rule, shares in zip(rule_set.all_rules, rule_set.rule_probabilities, strict=False):
        if rule.points_table is None:
            continue
        rows = np.array(rule.points_table.rows)
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-11)
        assert (rows >= 0).all()
        column, label = followed_column(rule.conditions)
        assert rule.points_table.column == column
        assert (np.diff(rows[:, rule_set.classes.index(label)]) >= -1e-15).all()
        own = rule_set.classes.index(rule.label)
        if shares[own] == shares.max():
            assert (rows[:, own] >= rows.max(axis=1) - 1e-12).all()
    answers = rule_set.answer(frame)
    for i, j in enumerate(answers.deciding.tolist()):
        table = rule_set.all_rules[j].points_table if j >= 0 else None
        if table is None:
            np.testing.assert_array_equal(answers.probabilities[i], rule_set.rule_probabilities[j])
        else:
            s = answers.all_covers.points[table.column][i]
            np.testing.assert_array_equal(
                answers.probabilities[i], table.rows[min(max(s, table.low), table.high) - table.low]
            )


def test_votes_and_added_counts_do_not_follow_points():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(10, 80, 200), "sex": rng.choice(["F", "M"], 200)})
    y = np.where(rng.random(200) < 1 / (1 + np.exp(3 - CARD.points(X)[:, 0])), "ill", "ok")
    rule_set = RuleSet((Rule((CARD.between(2),), "ill"),), ("ill", "ok"), "ok", (0, 0), (0, 0)).evaluated(X, y)
    assert rule_set.follows_points
    assert len(np.unique(rule_set.predict_proba(X), axis=0)) > 3
    for conflict in ("vote", "counts"):
        other = replace(rule_set, conflict=conflict)
        assert not other.follows_points
        assert len(np.unique(other.predict_proba(X), axis=0)) == 2
        assert all(rule.points_table is None for rule in other.evaluated(X, y).rules)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (1e-100, 1e100), (1e100, 1e-100), (1e100, 1e100), (1e-100, 1e-100)])
def test_the_slope_is_found_for_extreme_weights_and_wide_ranges(weights):
    X = pd.DataFrame({f"c{k}": np.arange(400) % 2 ** (k + 1) >= 2**k for k in range(8)})
    card = Scorecard("points", tuple(Sign(Equals(f"c{k}", True), {"a": 1000 if k else 1}) for k in range(8)))
    for y in (np.where(card.points(X)[:, 0] > 3000, "a", "b"), np.where(np.arange(400) % 3, "a", "b")):
        rule_set = RuleSet((Rule((card.between(0),), "a"),), ("a", "b"), "b", (0, 0), (0, 0), class_weights=weights)
        rows = np.array(rule_set.evaluated(X, y).rules[0].points_table.rows)
        assert np.isfinite(rows).all()
        assert (np.diff(rows[:, 0]) >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-11)


AGE = Interval("age", low=55)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sign(AGE, {"ill": 0}), r"points\['ill'\] must be a whole number other than 0, .* got 0"),
        (lambda: Sign(AGE, {"ill": 1.5}), r"points\['ill'\] must be a whole number other than 0, .* got 1.5"),
        (lambda: Sign(AGE, {"ill": True}), r"points\['ill'\] must be a whole number other than 0"),
        (lambda: Sign(AGE, {"ill": 1001}), r"points\['ill'\] must be .* from -1000 to 1000, got 1001"),
        (lambda: Sign(AGE, {"ill": math.nan}), r"points\['ill'\] must be a whole number"),
        (lambda: Sign(AGE, {}), "points must be a dict .* with at least one label"),
        (lambda: Sign(AGE, 3), "points must be a dict of labels to whole numbers"),
        (lambda: Sign(AGE, {None: 3}), "label must be text, a finite number or a boolean, got None"),
        (lambda: Sign("age > 55", {"ill": 3}), "condition must be a condition such as"),
        (lambda: Sign(CARD.between(3), {"ill": 3}), "a sign must test a column of the table, got the scorecard"),
        (lambda: Scorecard("points", ()), "signs must be a tuple of one or more signs"),
        (lambda: Scorecard("points", 5), "signs must be a tuple of one or more signs, got 5"),
        (lambda: Scorecard("points", "3 if age > 55"), "signs must be a tuple of one or more signs"),
        (lambda: Scorecard("", CARD.signs), "name must be a string that is not empty"),
        (lambda: Scorecard(5, CARD.signs), "name must be a string that is not empty, got 5"),
        (lambda: Scorecard("p", (CARD.signs[0],) * 2), "signs must have different conditions, got age > 55 twice"),
        (lambda: Scorecard("p", (CARD.signs[0], Sign(AGE, {"ok": 1}))), "signs must have different conditions"),
        (lambda: Scorecard("p", CARD.signs, ("ok",)), r"points must be points for the labels \['ok'\], got 'ill'"),
        (lambda: Scorecard("p", CARD.signs, ("ill", 3)), "labels must be different labels"),
        (lambda: Scorecard("p", CARD.signs, ("ill", "ill")), "labels must be different labels"),
        (lambda: Scorecard("p", CARD.signs, base={"ill": 1}), "base must be an empty dict for a scorecard"),
        (lambda: Scorecard("p", BOTH.signs, BOTH.labels, {"ok": 0}), r"base\['ok'\] must be a whole number"),
        (lambda: Scorecard("p", (Sign(AGE, {1: 3}), Sign(Equals("a", 1), {True: 3}))), "labels must be different"),
        (lambda: Scorecard("p", (*CARD.signs, Sign(Equals("age", "x"), {"ill": 1}))), "'age' with values of the types"),
        (lambda: Scorecard("p", many_signs(1001)), "signs must be at most 1,000 signs, got 1,001"),
        (lambda: Scorecard("p", many_signs(12, 1000)), "signs must be points whose sums differ by at most 10,000"),
        (lambda: CARD.leads("ill"), "gives points to one label only, so there is no leader"),
        (lambda: CARD.lead_between(2), "gives points to one label only, so there is no lead"),
        (lambda: BOTH.leads("other"), "label must be one of the labels .* of the scorecard 'points', got 'other'"),
        (lambda: BOTH.between(3), "label must be one of the labels .* got None"),
        (lambda: BOTH.between(3, label=["ill"]), "label must be one of the labels"),
        (lambda: BOTH.column("points", "other"), "label must be one of the labels"),
        (lambda: BOTH.column("other"), "part must be one of 'points', 'lead', 'leader', got 'other'"),
        (lambda: Equals(CARD.column(), 3), "a condition on points must be an interval of points, got = 3"),
        (lambda: IsIn(CARD.column(), (3, 4)), "points cannot be tested by IsIn; expected an interval"),
        (lambda: IsMissing(CARD.column()), "points cannot be tested by IsMissing"),
        (lambda: Interval(BOTH.column("leader"), 3), "a condition on most points must name a label, got the bounds 3"),
        (lambda: CARD.between(pd.Timestamp("2020-01-31")), "an interval of points must have whole numbers as bounds"),
        (lambda: CARD.between(), "must have low or high, or both"),
        (lambda: PointsTable("points", 0, ((1.0,),)), "column must be the points or the lead of a scorecard"),
        (lambda: PointsTable(BOTH.column("leader"), 0, ((1.0,),)), "column must be the points or the lead of"),
        (lambda: PointsTable(CARD.column(), 0, ()), "rows must be class probabilities that sum to 1"),
        (lambda: PointsTable(CARD.column(), 0, ((0.5, 0.4),)), "rows must be class probabilities that sum to 1"),
        (lambda: PointsTable(CARD.column(), 0, ((1.0,), (0.5, 0.5))), "rows must be class probabilities"),
        (lambda: PointsTable(CARD.column(), 0, ((math.nan, 1.0),)), "rows must be class probabilities"),
        (lambda: PointsTable(CARD.column(), 0, ((-0.5, 1.5),)), "rows must be class probabilities"),
        (lambda: PointsTable(CARD.column(), 0, 5), "rows must be class probabilities"),
        (lambda: PointsTable(CARD.column(), 0.5, ((1.0,),)), "low must be a whole number, .* got 0.5"),
        (lambda: PointsTable(CARD.column(), 3, ((1.0,),) * 4), "rows must be for points from 0 to 5, got 3 and 4 rows"),
        (lambda: PointsTable(CARD.column(), -1, ((1.0,),)), "rows must be for points from 0 to 5"),
        (lambda: Rule((AGE,), "ill", (), PointsTable(CARD.column(), 0, ((1.0,),))), "follow, no column of a scorecard"),
        (lambda: Rule((CARD.between(3),), "ill", (), 5), "points_table must be a PointsTable or None"),
        (lambda: rule_set_of(CARD.between(3), classes=("ok", "well")), "a label of the scorecard 'points' must be one"),
        (lambda: rule_set_of(CARD.between(3), BOTH.leads("ill")), "two different scorecards have the name 'points'"),
        (lambda: rule_set_of(CARD.between(3), Equals("points", 3)), "rename the scorecard"),
        (lambda: rule_set_of(BOTH.leads("ill"), Equals("lead", 3)), "'lead' would mean a part of the scorecard"),
        (lambda: rule_set_of(BOTH.leads("ill"), Equals("points for ok", 3)), "rename the scorecard"),
        (lambda: Rule.parse("IF points >= 3 THEN ill", "points"), "scorecards must be a list of scorecards"),
        (lambda: Rule.parse("IF points >= 3 THEN ill", [5]), "scorecards must be a list of scorecards, got 5"),
        (lambda: Rule.parse("IF points >= 3 THEN ill", [CARD, BOTH]), "two different scorecards have the name"),
        (lambda: Scorecard.parse(5), "the text of a scorecard must be a string, got int"),
        (lambda: RuleSet.parse(5), "the text of a rule set must be a string, got int"),
    ],
)  # fmt: skip
def test_errors_say_what_was_expected(make, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        make()
    assert type(caught.value) in (TypeError, ValueError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def many_signs(n, points=1):
    return tuple(Sign(Equals(f"x{k}", 1), {"a": points}) for k in range(n))


def rule_set_of(*conditions, classes=("dead", "ill", "ok")):
    zeros = (0,) * len(classes)
    return RuleSet(tuple(Rule((one,), "ok") for one in conditions), classes, "ok", zeros, zeros)


def test_an_equal_scorecard_is_the_same_one():
    again = Scorecard.parse(str(CARD))
    rule_set = rule_set_of(CARD.between(3), again.between(high=2))
    assert rule_set.scorecards == (CARD,)
    assert Rule.parse("IF 3 <= points <= 4 THEN ill", [CARD, again]).conditions == (CARD.between(3, 4),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the name of the scorecard and a colon"),
        ("points", "a colon after the name and the labels"),
        ("points:", "at least one sign"),
        (": 3 if age > 55", "expected the name of the scorecard"),
        ("``: 3 for a if age > 55", "name must be a string that is not empty"),
        ("points: 3 if age > 55", "the label that gets the points"),
        ("points (for ill: 3 if age > 55", "a closing bracket after the labels"),
        ("points (for): 3 if age > 55", "a colon after the name"),
        ("points (for ill) 3 if age > 55", "a colon after the name"),
        ("points (for ill): three if age > 55", "points and a condition"),
        ("points (for ill): 3.5 if age > 55", "'if' and a condition"),
        ("points (for ill): 3 age > 55", "'if' and a condition"),
        ("points (for ill): 3 IF age > 55", "'if' and a condition"),
        ("points (for ill): 3 if", "'if' and a condition"),
        ("points (for ill): 3 if age", "a condition such as age <= 37"),
        ("points (for ill): 3 if age > old", "a condition such as age <= 37"),
        ("points (for ill): 3 if age > 55 AND sex = 'F'", "a condition such as age <= 37"),
        ("points (for ill): 3 if age > 55 2 if sex = 'F'", "a condition such as age <= 37"),
        ("points (for ill): 0 if age > 55", r"points\['ill'\] must be a whole number other than 0"),
        ("points (for ill): 1001 if age > 55", r"points\['ill'\] must be a whole number other than 0"),
        ("points (for ill): 99999999999 if age > 55", "'if' and a condition"),
        ("points (for ill): 3 for ok if age > 55", r"points must be points for the labels \['ill'\], got 'ok'"),
        ("points (for ill): 1 always, 3 if age > 55", "base must be an empty dict for a scorecard of one label"),
        ("points (for ill): 3 if age > 55, 2 if age > 55", "signs must have different conditions, got age > 55 twice"),
        ("points (for a, b): 1 for a always, 2 for a always, 3 for b if x > 1", "that a label always has once"),
        ("points (for a, b): 1 for a, 2 for a if x > 1", "points for 'a' once in each sign"),
        ("points (for a, b): 1 for a, 2 if x > 1", "the label that gets the points"),
        ("points (for a, a): 1 for a if x > 1", "labels must be different labels"),
        ("points (for a, 5): 1 for a if x > 1", "labels must be different labels"),
        ("points (for a): 1 if x > 1, 1 if x > 2020-01-31", "'x' with values of the types 'date' and 'number'"),
        ("`points (for a): 1 if x > 1", "in backticks has no end"),
    ],
)
def test_text_that_is_nearly_a_scorecard_is_an_error(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        Scorecard.parse(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("points = 4.5", "no value can meet points = 4.5; points are whole numbers"),
        ("4 < points < 5", "no value can meet"),
        ("points > 5 AND points < 3", "no value can meet both"),
        ("points != 4", "points cannot be tested by IsNotIn"),
        ("points in {3, 4}", "points cannot be tested by IsIn"),
        ("points is missing", "points cannot be tested by IsMissing"),
        ("points > 2020-01-31", "must have whole numbers as bounds"),
        ('points = "a"', "must be a finite number or a date"),
        ("points", "a condition such as"),
        ("lead of risk", "a condition such as"),
        ("most risk for a > 3", "a condition on most risk must name a label"),
        ("most risk for a = 3", "a condition on most risk must name a label"),
        ("most risk for a AND most risk for b", "no value can meet both most risk for a and most risk for b"),
        ("most risk for c", "a condition such as"),
    ],
)
def test_conditions_on_scorecards_that_cannot_be_read(condition, message):
    risk = Scorecard.parse("risk (for a, b): 2 for a if x > 1, 1 for b if y > 1")
    with pytest.raises(ValueError, match=message) as caught:
        Rule.parse(f"IF {condition} THEN a", [CARD, risk])
    assert "\n" not in str(caught.value)


def test_other_forms_of_conditions_on_scorecards():
    risk = Scorecard.parse("risk (for a, b): 2 for a if x > 1, 1 for b if y > 1")

    def read(text):
        return Rule.parse(f"IF {text} THEN a", [CARD, risk]).conditions

    assert read("points = 4") == read("4 <= points <= 4") == read("points >= 4 AND points < 5") == (CARD.between(4, 4),)
    assert read("3 < points") == read("points >= 4") == read("points > 3.5") == (CARD.between(4),)
    assert read("5 > points") == (CARD.between(high=4),)
    assert read("2 <= lead of risk AND most risk for b") == (risk.lead_between(2), risk.leads("b"))
    assert read("1 <= risk for b") == (risk.between(1, label="b"),)
    assert read("points for a > 3") == (Interval("points for a", low=3),)  # no part of a scorecard: a column
    assert read("points (2) > 3") == (Interval("points (2)", low=3),)
    assert read("my points > 3 AND points > 3") == (Interval("my points", low=3), CARD.between(4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "OTHERWISE and the default label"),
        ("IF a > 1 THEN x", "OTHERWISE and the default label"),
        ("hello", "expected a scorecard, a rule or OTHERWISE"),
        ("OTHERWISE", "a label after THEN"),
        ("OTHERWISE x\nOTHERWISE y", "OTHERWISE and the default label"),
        ("OTHERWISE x\nIF a > 1 THEN x", "OTHERWISE and the default label"),
        ("IF a > 1 THEN x\nOTHERWISE 3", "labels must be different labels, at least one: all text, all numbers"),
        ("IF a > 1 THEN True\nOTHERWISE 1", "must be one of the classes|labels must be"),
        ("IF a > 1\nOTHERWISE x", "AND and a condition, or THEN and a label"),
        ("Scorecard points (for a):\nOTHERWISE x", "at least one sign"),
        ("Scorecard points (for a):\n  1 if x > 1\nIF points > b THEN a\nOTHERWISE x", "a condition such as"),
        ("Scorecard p (for a): 1 if x > 1\nScorecard p (for a): 1 if x > 2\nOTHERWISE a", "two different scorecards"),
        ("Scorecard p (for a): 1 if x > 1\nIF p >= 1 AND `p` > 1 THEN a\nOTHERWISE a", "rename the scorecard"),
    ],
)
def test_text_that_is_nearly_a_rule_set_is_an_error(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        RuleSet.parse(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


@given(st.text(alphabet="points (for ab):,;\n123 if x>=always\"'`", max_size=60))
def test_any_text_is_a_scorecard_or_an_error(some):
    try:
        card = Scorecard.parse(some)
    except ValueError:
        return
    assert Scorecard.parse(str(card)) == card


# Texts of about half a million characters; quadratic time would be minutes.
LONG = 500_000
LABELS = [f"label {k}" for k in range(LONG // 25)]
SIGN = "1 if x > 1"
TIES = (
    "Of labels with equally many points, the one that is listed first leads; "
    "the lead is how many more points it has than the next label."
)


def label_points(k):
    return ", ".join(f"1 for l{j}" for j in range(k % 50, k % 50 + 40))


def hundred(k):
    return ",".join(map(str, range(100 * k, 100 * k + 100)))


HOSTILE = {
    "blanks": " " * LONG,
    "blanks in a name": "a" + " " * LONG + "b (for x): 1 if y > 1",
    "a long name": "a" * LONG + " (for x): 1 if y > 1",
    "a long name in backticks": "`" + "a" * LONG + "` (for x): 1 if y > 1",
    "backticks": "`" * LONG,
    "opening brackets": "(" * LONG,
    "brackets": "p " + "(for a)" * (LONG // 7),
    "blanks before a colon": "p (for a)" + " " * LONG + ": " + SIGN,
    "blanks between signs": "p (for a): " + SIGN + " " * LONG + ", 2 if y > 1",
    "line breaks": "p (for a):" + "\n" * LONG + SIGN,
    "separators": "p (for a):" + ",;" * (LONG // 2) + SIGN,
    "blanks at the end": "p (for a): " + SIGN + " " * LONG,
    "blanks and rubbish at the end": "p (for a): " + SIGN + " " * LONG + "x",
    "blanks after points": "p (for a): 1" + " " * LONG + "if x > 1",
    "blanks after if": "p (for a): 1 if" + " " * LONG + "x > 1",
    "digits": "p (for a): " + "1" * LONG + " if x > 1",
    "quotes in labels": "p (for " + '"' * LONG,
    "words in a label": "p (for " + "a " * (LONG // 2) + "): " + SIGN,
    "many labels": f"p (for {', '.join(LABELS)}): 1 for {LABELS[0]} if x > 1",
    "many labels in a sign": "p: " + ", ".join(f"1 for {label}" for label in LABELS) + " if x > 1",
    "many points always": "p: " + ", ".join(f"1 for {label}" for label in LABELS) + " always, 1 for a if x > 1",
    "one label often": "p: " + "1 for a, " * (LONG // 9) + "1 for a if x > 1",
    "many signs": "p (for a): " + ", ".join(f"1 if x > {k}" for k in range(LONG // 14)),
    "many labels of many signs": "p: " + ", ".join(f"1 for {LABELS[k]} if x > {k}" for k in range(LONG // 32)),
    "as many signs as allowed": "p: " + ", ".join(f"{label_points(k)} if x > {k}" for k in range(1000)),
    "many values": "p (for a): " + ", ".join(f"1 if x in {{{hundred(k)}}}" for k in range(1000)),
    "sentences": "p (for a, b): 1 for a if x > 1\n" + f"{TIES}\n" * (LONG // 70),
    "is": "p (for a): 1 if " + "is " * (LONG // 3),
    "always": "p (for a): 1" + " always" * (LONG // 7),
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_long_texts_are_read_or_refused_in_linear_time(text):
    """The bound is generous: linear time is below 3 seconds for the slowest."""
    start = time.perf_counter()
    for read in (Scorecard.parse, lambda text: RuleSet.parse(f"Scorecard {text}\nOTHERWISE a")):
        try:
            read(text)
        except ValueError as error:
            message = str(error)
        else:
            message = "read"
        assert "\n" not in message
        assert len(message) < 700
    assert time.perf_counter() - start < 20


MANY = "Scorecard p:\n   " + ", ".join(f"1 for {label}" for label in LABELS[:10_000]) + " if x > 1\n"
SIGNS = "Scorecard p (for a):\n" + "".join(f"   1 if x{k} > 1\n" for k in range(1000))
ON_LABELS = "".join(f"IF most p for {label} THEN a\n" for label in LABELS[:10_000])
OTHERS = " AND ".join(f"most p for a{k} > 1" for k in range(10_000))
CARDS = "".join(f"Scorecard p{k} (for a): 1 if x > {k}\n" for k in range(10_000))
RULE_SETS = {
    "rules on many labels": MANY + ON_LABELS + "OTHERWISE a",
    "rules on many signs": SIGNS + "IF p >= 3 THEN a\n" * 10_000 + "OTHERWISE a",
    "conditions that are no scorecards": f"{MANY}IF {OTHERS} THEN a\nOTHERWISE a",
    "scorecards": CARDS + "IF p7 >= 1 THEN a\nOTHERWISE a",
    "sentences": "IF x > 1 THEN a\n" * 10_000 + "OTHERWISE a\n" + "Some sentence.\n" * 20_000,
    "rows": "IF x > 1 THEN a\n" + "probability of a by p: 1\n" * 20_000 + "OTHERWISE a\n",
    "a long row": "IF x > 1 THEN a\nprobability of " + ": " * LONG + "\nOTHERWISE a\n",
    "line breaks in a label": "IF x > 1 THEN a" + "\n" * LONG + "OTHERWISE a\n",
}  # fmt: skip


@pytest.mark.parametrize("text", RULE_SETS.values(), ids=RULE_SETS)
def test_long_texts_of_rule_sets_are_read_in_linear_time(text):
    start = time.perf_counter()
    try:
        RuleSet.parse(text)
    except ValueError as error:
        message = str(error)
    else:
        message = "read"
    assert time.perf_counter() - start < 20
    assert "\n" not in message
    assert len(message) < 700


@pytest.mark.parametrize("seed", range(5))
def test_the_numbers_of_a_lead_are_those_that_the_leader_can_reach(seed):
    """No record has a larger lead, and a scorecard of one sign for each label reaches it."""
    rng = np.random.default_rng(seed)
    points, base = (dict(zip("uvw", rng.integers(1, 6, 3).tolist(), strict=True)) for _ in range(2))
    signs = [
        *(f"{n} for {k} if {k}{k} = 1" for k, n in points.items()),
        *(f"{n} for {k} always" for k, n in base.items()),
    ]
    card = Scorecard.parse(f"points (for u, v, w): {'; '.join(signs)}")
    given = [(f"{k}{k}", ("in", [1]), {k: n}) for k, n in points.items()]
    records = [dict(zip(("uu", "vv", "ww"), flags, strict=True)) for flags in itertools.product((0, 1), repeat=3)]
    sums = [naive.points("uvw", base, given, record) for record in records]
    for label in "uvw":
        leads = [naive.lead("uvw", found) for found in sums if naive.leader("uvw", found) == label]
        possible = points_of_rule(card.column("lead"), (card.leads(label),))
        assert possible[0] == 0
        assert possible[-1] == max(leads, default=0)
