"""Given scorecards: their points, their items, given rules that test them, and every mistake in them."""

import itertools
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from cards import rule_sets_with_scorecards
from covers import flags_of
from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    DRSClassifier,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
)
from diverse_rule_sets._bits.bitset import pack
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets.data._given import GivenCondition, GivenConditions
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._sharded import ShardedBackend
from diverse_rule_sets.learn._given_covers import GivenCovers
from diverse_rule_sets.learn._point_directions import banned_cuts
from diverse_rule_sets.learn._scorecard_items import scorecard_items
from diverse_rule_sets.model._formatting import format_name
from diverse_rule_sets.path import diversity_path
from tests import naive

CARD = "points (for sick): 3 if age > 55; 2 if smoker = True; 1 if bmi > 28; -2 if job = 'sales'"
OF_TWO = (
    "risk (for sick, well): 3 for sick if age > 55; 2 for sick, -1 for well if smoker = True; 2 for well if "
    "job = 'sales'; 2 for well always"
)
MAKERS = {"local": LocalBackend, **{f"{n} shards": partial(ShardedBackend.split, n_shards=n) for n in (1, 3, 9)}}


def make_patients(n=300, seed=0, n_classes=2):
    """Return a table in which the points of CARD matter; some ages are missing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.05, np.nan, rng.integers(18, 90, n)),
            "smoker": rng.random(n) < 0.3,
            "job": rng.choice(["clerk", "sales", "none"], n),
            "bmi": rng.normal(26, 4, n).round(1),
        }
    )
    sums = 3 * (X.age > 55) + 2 * X.smoker + (X.bmi > 28) - 2 * (X.job == "sales") + 0.6 * rng.logistic(size=n)
    labels = np.array(["well", "sick", "worst"][:n_classes])
    return X, labels[np.searchsorted([2.5, 4.5][: n_classes - 1], sums)]


def fitted(X, y, scorecards, **params):
    return DiverseRuleSetClassifier(**{"scorecards": scorecards, "random_state": 0, **params}).fit(X, y)


def points_of(card, X):
    """Return the points of each record by label, by the oracle."""

    def test_of(condition):
        if isinstance(condition, Interval):
            return "order", (condition.low, condition.with_low, condition.high, condition.with_high)
        return ("missing", None) if isinstance(condition, IsMissing) else ("in", condition.values_named)

    signs = [(sign.condition.column, test_of(sign.condition), dict(sign.points)) for sign in card.signs]
    return [naive.points(card.labels, card.base, signs, record) for record in X.to_dict("records")]


# --- points ------------------------------------------------------------------------------------------------------

CONDITIONS = [
    *(Interval("a", low, high) for low, high in itertools.combinations([None, 1.0, 2.0, 4.0, None], 2) if low or high),
    *(Equals("b", value) for value in "xyz"),
    IsIn("b", ("x", "z")),
    IsMissing("a"),
]


@st.composite
def cards(draw, labels=("u", "v", "w")):
    chosen = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=3, unique=True))
    conditions = draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=5, unique=True))
    points = st.integers(-4, 4).filter(bool)
    signs = []
    for condition in conditions:
        some = draw(st.lists(st.sampled_from(chosen), min_size=1, unique=True))
        signs.append(Sign(condition, {label: draw(points) for label in some}))
    always = draw(st.lists(st.sampled_from(chosen), unique=True)) if len(chosen) > 1 else []
    return Scorecard("points", tuple(signs), tuple(chosen), {label: draw(points) for label in always})


def covers_on(make, X, codes, conditions):
    """Return a backend without items, and the covers of given conditions."""
    flags = np.array([Rule((one,), "u").covers(X) for one in conditions])
    backend = make(np.zeros((0, pack(flags).shape[1]), np.uint64), codes, 3, 1, pack(flags))
    return backend, GivenCovers(backend, GivenConditions(GivenCondition(one, "") for one in conditions))


def small_table(seed, n=37):
    rng = np.random.default_rng(seed)
    a = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 6, n))
    return pd.DataFrame({"a": a, "b": rng.choice(list("xyz"), n)}), rng.integers(0, 3, n)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@settings(max_examples=40)
@given(card=cards(), seed=st.integers(0, 99))
def test_points_leads_and_leaders_are_those_of_the_oracle(make, card, seed):
    X, codes = small_table(seed)
    backend, covers = covers_on(make, X, codes, [sign.condition for sign in card.signs])
    levels, found = covers.levels(card), points_of(card, X)
    for column in card.derived_columns():
        values = [naive.derived(column.part, column.label, card.labels, one) for one in found]
        got = {value: flags_of(backend, cover).tolist() for value, cover in levels.of(column).items()}
        assert {value: flags for value, flags in got.items() if any(flags)} == {
            value: [one == value for one in values] for value in set(values)
        }
        if column.counts_points:
            assert list(got) == sorted(set(values))
            within = covers.of_condition(card.signs[0].condition)
            inside = flags_of(backend, within)
            counts = levels.counts_by_points(column, within)
            kept = [(value, code) for value, code, one in zip(values, codes.tolist(), inside, strict=True) if one]
            ref = naive.levels([value for value, _ in kept], [code for _, code in kept], range(3))
            assert {level: row.tolist() for level, row in counts.items()} == ref
            low, high = sorted([values[0], values[-1]])
            interval = Interval(column, low, high, with_low=True)
            assert flags_of(backend, levels.cover(interval)).tolist() == [low <= value <= high for value in values]
    rule = Rule((card.signs[0].condition, card.derived_columns()[0].scorecard.between(0, label=card.labels[0])), "u")
    assert flags_of(backend, covers.of_conditions(rule.conditions)).tolist() == rule.covers(X).tolist()


@settings(max_examples=60)
@given(card=cards(), direction=st.sampled_from(["increasing", "decreasing"]))
def test_directions_hold_through_points(card, direction):
    """A condition on points is allowed only if larger values never end it."""
    labels, grid = ["u", "v", "w"], [k / 2 for k in range(12)]
    conditions = [card.between(low, label=label) for label in card.labels for low in (-1, 1, 3)]
    conditions += [card.between(high=high, label=label) for label in card.labels for high in (-1, 1, 3)]
    if card.has_leader:
        conditions += [card.leads(label) for label in card.labels]
        conditions += [Interval(card.column("lead"), low=low, with_low=True) for low in (1, 3)]
        conditions += [Interval(card.column("lead"), high=high) for high in (0, 2)]
    banned = banned_cuts(conditions, {"a": {0: direction}}, labels)
    assert not banned[1:].any()
    for j, condition in enumerate(conditions):
        follows = True
        for b in "xyz":
            records = pd.DataFrame({"a": grid, "b": b})
            holds = dict(zip(grid, Rule((condition,), "u").covers(records).tolist(), strict=True))
            follows &= naive.follows_direction(holds.__getitem__, grid, direction)
        assert follows or banned[0, j]  # what is allowed follows the direction
    rising = Scorecard(
        "points", (Sign(Interval("a", low=1.0, high=3.0), {"u": 1}), Sign(Interval("a", low=3.0), {"u": 2}))
    )
    cuts = [rising.between(1), rising.between(high=1)]
    assert banned_cuts(cuts, {"a": {0: "increasing"}}, labels)[0].tolist() == [False, True]
    assert banned_cuts(cuts, {"a": {0: "decreasing"}}, labels)[0].tolist() == [True, False]
    assert not banned_cuts(cuts, {"b": {0: "increasing"}}, labels).any()


def test_many_levels_give_a_limited_number_of_cuts():
    """Points of hundreds, as in credit scores: at most 100 cuts, which divide the records about equally."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(2000, 12)), columns=[f"m{j}" for j in range(12)])
    signs = [f"{n} if m{j} > 0" for j, n in enumerate([1, 2, 4, 8, 16, 32, 64, 128, 256, -3, 7, 11])]
    card = Scorecard.parse(f"points (for u): {', '.join(signs)}")
    backend, covers = covers_on(LocalBackend, X, np.zeros(2000, np.int64), [sign.condition for sign in card.signs])
    levels = covers.levels(card)
    n_levels = len(levels.of(card.column()))
    items = scorecard_items(levels)
    assert n_levels > 400
    assert 190 <= len(items.conditions) <= 200
    sizes = np.sort([int(backend.class_counts(cover).sum()) for cover in items.covers[::2]])
    assert np.diff([0, *sizes, 2000]).max() < 60
    y = np.where(points := card.points(X)[:, 0] > 200, "u", "v")
    assert points.any()
    clf = fitted(X, y, [card], max_rules=2)
    assert clf.score(X, y) > 0.97


# --- fits --------------------------------------------------------------------------------------------------------


def test_a_given_scorecard_is_used_as_it_is():
    X, y = make_patients()
    clf = fitted(X, y, [CARD], max_rules=4)
    assert clf.rule_set_.scorecards == (Scorecard.parse(CARD),)
    assert clf.rule_set_.follows_points
    assert clf.rule_set_.evaluated(X, y) == clf.rule_set_
    same = fitted(X, y, (Scorecard.parse(CARD),), max_rules=4)
    assert same.rule_set_ == clf.rule_set_
    test = make_patients(2000, 1)
    assert clf.score(*test) > fitted(X, y, None, max_rules=4).score(*test)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("text", [CARD, OF_TWO, CARD.replace("sick", "well")])
def test_the_printed_text_gives_the_same_predictions(seed, n_classes, text):
    X, y = make_patients(seed=seed, n_classes=n_classes)
    clf = fitted(X, y, [text], max_overlap=0.0, max_rules=8, random_state=seed)
    read = RuleSet.parse(str(clf.rule_set_), classes=list(clf.classes_))
    assert read.scorecards == clf.rule_set_.scorecards != ()
    np.testing.assert_array_equal(read.predict(X), clf.predict(X))


@pytest.mark.parametrize("seed", range(4))
def test_points_as_a_column_give_the_same_covers(seed):
    """Each rule covers the records that it covers if the points are handed over as a column of whole numbers."""
    X, y = make_patients(seed=seed)
    card = Scorecard.parse(CARD)
    points = [one["sick"] for one in points_of(card, X)]
    texts = ["IF points >= 5 THEN sick", "IF points <= -1 AND smoker = False THEN well"]
    clf = fitted(X, y, [card], given_rules=texts, random_state=seed, max_rules=8)
    table = X.assign(points=points)
    assert len(clf.rule_set_.rules) > 3
    for rule in clf.rule_set_.rules:
        as_column = Rule.parse(str(rule))
        assert as_column.covers(table).tolist() == rule.covers(X).tolist()
        counts = {label: int(((y == label) & rule.covers(X)).sum()) for label in ("sick", "well")}
        assert dict(rule.class_counts) == counts
    edges = {"points": [k + 0.5 for k in range(-2, 6)]}
    column = DiverseRuleSetClassifier(random_state=seed, given_rules=texts, binning=edges, max_rules=8).fit(table, y)
    given_counts = [[rule.class_counts for rule in one.rule_set_.rules[:2]] for one in (clf, column)]
    assert given_counts[0] == given_counts[1]


class ShardedClassifier(DiverseRuleSetClassifier):
    """The classifier on three shards."""

    _make_backend = ShardedBackend.split


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shards_and_threads_give_the_same_rules(n_classes):
    X, y = make_patients(n_classes=n_classes)
    params = {
        "scorecards": [CARD, OF_TWO],
        "given_rules": ["IF points >= 6 THEN sick", "IF most risk for well AND lead of risk >= 4 THEN well"],
        "monotone": {"age": {"sick": "increasing"}},
        "random_state": 0,
    }
    local = DiverseRuleSetClassifier(**params).fit(X, y)
    assert len(local.rule_set_.scorecards) == 2
    assert len(local.rule_set_) > 2
    for other in (ShardedClassifier(**params), DiverseRuleSetClassifier(**params, n_jobs=2)):
        assert other.fit(X, y).rule_set_ == local.rule_set_
    assert local.rule_set_.evaluated(X, y) == local.rule_set_


def test_limits_and_directions_hold():
    X, y = make_patients(500)
    directions = {"sick": "increasing", "well": "decreasing"}
    clf = fitted(X, y, [CARD], max_conditions=2, max_overlap=0, min_support=12, monotone={"age": directions})
    rules = clf.rule_set_
    assert rules.scorecards
    covers = rules.covers(X)
    assert covers.sum(axis=1).max() <= 1
    assert covers.sum(axis=0).min() >= 12
    assert max(len(rule.conditions) for rule in rules.all_rules) <= 2
    ages = [float(age) for age in range(10, 100)]
    for rule in rules.all_rules:
        for smoker, job, bmi in itertools.product([True, False], ["sales", "none"], [20.0, 30.0]):
            records = pd.DataFrame({"age": ages, "smoker": smoker, "job": job, "bmi": bmi})
            holds = dict(zip(ages, rule.covers(records).tolist(), strict=True))
            assert naive.follows_direction(holds.__getitem__, ages, directions[rule.label]), rule


def test_signs_against_a_direction_ban_both_sides():
    X, _ = make_patients()
    card = "points (for sick): 3 if 30 < age <= 60, 2 if smoker = True, 2 if bmi > 26"
    y = np.where(Scorecard.parse(card).points(X)[:, 0] > 3, "sick", "well")
    rules = fitted(X, y, [card], monotone={"age": "increasing"}).rule_set_
    assert rules.scorecards == ()
    assert fitted(X, y, [card]).rule_set_.scorecards


def test_a_scorecard_that_no_rule_uses_is_dropped():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    y = np.where(X.a > 0, "u", "v")
    clf = fitted(X, y, ["points (for u): 1 if b > 0"])
    assert clf.rule_set_.scorecards == ()
    assert clf.rule_set_.same_rules(fitted(X, y, None).rule_set_)


def test_labels_are_found_by_their_text():
    X, y = make_patients()
    for labels in ([0, 1], [False, True], ["0", "1"]):
        own = np.array(labels)[(y == "sick").astype(int)]
        text = labels[1] if isinstance(labels[1], bool) else "1"
        card = CARD.replace("sick", f'"{text}"')
        clf = fitted(X, own, [card], given_rules=[f"IF points >= 6 THEN {text}"], max_rules=4)
        assert clf.rule_set_.scorecards[0].labels == (labels[1],)
        assert clf.rule_set_.evaluated(X, own) == clf.rule_set_
        two = OF_TWO.replace("sick", f'"{labels[1]}"').replace("well", f'"{labels[0]}"')
        rule = Rule.parse(
            f'IF most risk for "{labels[1]}" AND risk for "{labels[0]}" <= 3 THEN {text}', [Scorecard.parse(two)]
        )
        clf = fitted(X, own, [two], given_rules=[rule], max_rules=2)
        assert clf.rule_set_.scorecards[0].labels == (labels[1], labels[0])
        assert clf.rule_set_[0].conditions[0].value is clf.rule_set_.classes[1]


def test_each_column_is_read_once(monkeypatch):
    X, y = make_patients()
    read = []
    column = Table.column
    monkeypatch.setattr(Table, "column", lambda self, name, *kind: read.append(name) or column(self, name, *kind))
    fitted(X, y, [CARD, OF_TWO], given_rules=["IF points >= 6 AND age > 60 THEN sick"], max_rules=3)
    assert sorted(read) == sorted(X.columns)


def test_one_class_and_paths():
    X, y = make_patients()
    clf = fitted(X, ["sick"] * len(y), [CARD], given_rules=["IF points >= 6 THEN sick"])
    assert len(clf.rule_set_) == 1
    path = diversity_path(DiverseRuleSetClassifier(scorecards=[CARD], random_state=0), X, y, max_rules=[1, 3])
    assert path[0].rules == 1.0


# --- given rules that test points --------------------------------------------------------------------------------

OWN = Scorecard.parse("severity (for sick): 3 if age > 55, 2 if smoker = True")


@pytest.mark.parametrize(
    ("kind", "n_learnt"),
    [
        (partial(DiverseRuleSetClassifier, scorecards=None), 0),
        (DiverseRuleSetClassifier, 1),
        (DRSClassifier, 0),
    ],
    ids=["no scorecards", "scorecards", "as in the paper"],
)
def test_a_given_rule_may_carry_its_scorecard(kind, n_learnt):
    X, y = make_patients()
    rule = Rule((OWN.between(3), Interval("bmi", low=20)), "sick")
    clf = kind(given_rules=[rule], random_state=0, max_rules=4).fit(X, y)
    assert clf.rule_set_[0] == rule
    assert clf.rule_set_.scorecards[0] == OWN
    assert [card.name for card in clf.rule_set_.scorecards[1:]] == ["points"] * n_learnt
    assert clf.rule_set_[0].points_table is not None
    assert clf.rule_set_.evaluated(X, y) == clf.rule_set_
    found, covered = points_of(OWN, X), rule.covers(X)
    ref = naive.levels(
        [one["sick"] for one, inside in zip(found, covered, strict=True) if inside],
        y[covered].tolist(),
        ["sick", "well"],
    )
    assert sum(map(sum, ref.values())) == clf.rule_set_[0].n_covered
    assert clf.history_[0]["pass"] == 0


def test_a_scorecard_of_a_rule_beside_given_and_learnt_ones():
    X, y = make_patients(500)
    rule = Rule((OWN.between(5),), "sick")
    both = fitted(X, y, [CARD], given_rules=[rule], max_rules=4).rule_set_
    assert both.scorecards == (OWN, Scorecard.parse(CARD))
    assert all("severity" not in str(one) for one in both.all_rules[1:])
    points = Scorecard("points", OWN.signs)
    learnt = fitted(X, y, "auto", given_rules=[Rule((points.between(5),), "sick")], max_rules=4).rule_set_
    assert [card.name for card in learnt.scorecards] == ["points", "points (2)"]
    forbidden = fitted(X, y, None, given_rules=[rule], forbidden=["age"], max_rules=4).rule_set_
    assert all("age" not in condition.columns for one in forbidden.all_rules[1:] for condition in one.conditions)
    the_same = fitted(X, y, [OWN], given_rules=[rule, "IF severity = 2 THEN well"], max_rules=4).rule_set_
    assert the_same.scorecards == (OWN,)


@pytest.mark.parametrize(
    ("rule", "scorecards", "message"),
    [
        ("IF points >= 6 THEN sick", None, "to test points, give the scorecard by the parameter scorecards"),
        ("IF points for sick >= 6 THEN sick", "auto", "to test points, give the scorecard by the parameter"),
        ("IF most points for sick THEN sick", None, "given_rules.0. must be a rule as text: .*give the scorecard"),
        ("IF point >= 6 THEN sick", [CARD], "the given scorecards have .'points'.; did you mean 'points'"),
        ("IF Age >= 6 THEN sick", [CARD], "did you mean 'age'"),
        ("IF points = 'a' THEN sick", [CARD], "given_rules.0. must be a rule as text"),
        ("IF points >= 6 THEN sik", [CARD], "the label 'sik', which y does not have; .*did you mean 'sick'"),
        (
            Rule((Scorecard("risk", OWN.signs).between(1),), "sick"),
            [OF_TWO],
            "has the name of another scorecard, 'risk'",
        ),
        (
            Rule((Scorecard("age", OWN.signs).between(1),), "sick"),
            None,
            "'age' would mean its points and also the column",
        ),
        (
            Rule((Scorecard.parse("s (for sick): 1 if hight > 1").between(1),), "sick"),
            None,
            "given_rules has the rule IF s >= 1 THEN sick, whose scorecard 's' has the sign .* the column 'hight'",
        ),
        (
            Rule((Scorecard.parse("s (for ill): 1 if age > 50").between(1),), "sick"),
            None,
            "'s' gives points to the label 'ill'",
        ),
    ],
)
def test_mistakes_in_rules_that_test_points(rule, scorecards, message):
    X, y = make_patients(60)
    with pytest.raises(ValueError, match=message):
        fitted(X, y, scorecards, given_rules=[rule])


# --- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scorecards", "message"),
    [
        ([], r"scorecards must hold at least one scorecard, got \[\]; None means no scorecards"),
        (CARD, r"scorecards must be a list of scorecards, got \"points .*; put it into a list: scorecards=\[...\]"),
        (Scorecard.parse(CARD), r"put it into a list"),
        ("all", "scorecards must be one of 'auto', None, a whole number, or a list of scorecards, got 'all'"),
        (np.array([1, 2]), "scorecards must be one of 'auto', None, a whole number, or a list of scorecards"),
        ([CARD, 5], r"scorecards\[1\] must be a Scorecard or a scorecard as text, got 5 \(int\)"),
        ([CARD, None], r"scorecards\[1\] must be a Scorecard"),
        ([OWN.signs[0]], r"scorecards\[0\] must be a Scorecard"),
        ([CARD, CARD], r"scorecards\[0\] and scorecards\[1\] have the same name 'points', expected different names"),
        (["points (for sick): 0 if age > 55"], "must be a whole number other than 0, from -1000 to 1000, got 0"),
        (
            ["points (for sick): 2 if age > 55, 1 if age > 55"],
            "signs must have different conditions, got age > 55 twice",
        ),
        (
            ["points (for sick): 2 if points >= 2"],
            "the column 'points'; X does not have it.* a sign cannot test points",
        ),
        (
            ["points (for sick): 2 if agee > 2"],
            r"scorecards\[0\] has the sign 2 for sick if agee > 2.*did you mean 'age'",
        ),
        (
            ["points (for sik): 2 if age > 2"],
            r"gives points to the label 'sik', which y does not have.*did you mean 'sick'",
        ),
        (["points (for sick) 2 if age > 2"], r"scorecards\[0\] must be a scorecard as text: .* expected a colon"),
        (["points: 2 if age > 2"], "expected the label that gets the points"),
        (["(for sick): 2 if age > 2"], "expected the name of the scorecard"),
        (["points (for sick): two if age > 2"], "expected points and a condition"),
        (["points (for sick): 2 if age > 2 AND bmi > 2"], r"scorecards\[0\] must be a scorecard as text"),
        (["points (for sick):"], "expected at least one sign"),
        (["points (for sick): 2 if job > 5"], "2 for sick if job > 5: column 'job' holds text values, expected number"),
        (["points (for sick): 2 if age = 'old'"], "column 'age' holds number values, expected text values"),
        (
            ["age (for sick): 2 if bmi > 25"],
            "called 'age', so that 'age' would mean .* also the column 'age' of the table",
        ),
    ],
)
def test_mistakes_are_named(scorecards, message):
    X, y = make_patients(60)
    with pytest.raises((TypeError, ValueError), match=message):
        fitted(X, y, scorecards)


def test_names_of_parts_that_are_columns():
    X, y = make_patients(60)
    card = OF_TWO.replace("risk", "points")
    for name in ("lead", "most points", "points for sick"):
        with pytest.raises(ValueError, match=f"called 'points', so that '{name}' would mean .* column '{name}'"):
            fitted(X.rename(columns={"bmi": name}), y, [card])
    fitted(X.rename(columns={"bmi": "points"}), y, [card], max_rules=1)  # the points of a label have other names


def test_forbidden_columns_of_a_given_scorecard():
    X, y = make_patients(60)
    with pytest.raises(ValueError, match=r"scorecards\[0\] has signs on 'age', 'job', which forbidden names"):
        fitted(X, y, [CARD], forbidden=["age", "job"])


def test_an_identifier_may_be_a_sign():
    X, y = make_patients(200)
    X["ticket"] = [f"t{k}" for k in range(200)]
    text = 'points (for sick): 5 if ticket = "t7", 3 if age > 55'
    with pytest.warns(UserWarning, match="ticket"):
        fitted(X, y, None, max_rules=1)
    assert fitted(X, y, [text], max_rules=1).rule_set_.scorecards[0].columns == ("ticket", "age")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("3 if age > 55, 1 if bmi > 200", ["1 for sick if bmi > 200: no record has bmi > 200; its values are from"]),
        ("3 if age > 55, 1 if bmi > 0", ["bmi > 0 holds for every record, so that its points distinguish no records"]),
        ("1 if bmi > 0", ["holds for every record", "gives the same points to every record"]),
        ("3 if age > 55, 1 if job in {'clerk', 'slaes'}", ['no record has job = "slaes"; did you mean "sales"?']),
        ("3 if age > 55, 1 if job = 'clark'", ['no record has job = "clark"; did you mean "clerk"?']),
        ("2 if smoker = True, 2 if smoker = False", ["gives the same points to every record"]),
        (
            ", ".join(["3 if age > 55", *(f"1 if bmi > {1000 + k}" for k in range(8))]),
            ["no record has bmi"] * 5 + ["has 3 more signs that hold for no or for every record"],
        ),
    ],
)
def test_signs_that_distinguish_no_records_give_warnings(text, messages):
    X, y = make_patients(80)
    with pytest.warns(UserWarning, match="scorecards") as caught:
        fitted(X, y, [f"points (for sick): {text}"], max_rules=2)
    assert len(caught) == len(messages)
    for warning, message in zip(caught, messages, strict=True):
        assert str(warning.message).startswith("scorecards[0] ")
        assert message in str(warning.message)


def test_warnings_about_rules():
    X, y = make_patients(80)
    with pytest.warns(UserWarning, match="points >= 60 holds for no record; its values are from -2 to "):
        fitted(X, y, [CARD], given_rules=["IF points >= 60 AND age > 40 THEN sick"], max_rules=2)
    with pytest.warns(UserWarning, match="no record meets all of its conditions"):
        fitted(X, y, [CARD], given_rules=["IF points >= 5 AND smoker = False THEN sick"], max_rules=2)
    with pytest.warns(UserWarning, match="no record has bmi > 99"):
        fitted(X, y, [CARD], given_rules=["IF points >= 3 AND bmi > 99 THEN sick"], max_rules=2)
    never = "risk (for sick, well): 1 for sick if age > 55; 9 for well always"
    with pytest.warns(UserWarning, match="most risk for sick holds for no record$"):
        fitted(X, y, [never], given_rules=["IF most risk for sick THEN sick"], max_rules=2)


def test_too_few_rules():
    X, y = make_patients(80)
    with pytest.warns(UserWarning, match=r"scorecards\[0\] is used by no rule: max_rules=0 leaves no rule to learn"):
        assert fitted(X, y, [CARD], max_rules=0).rule_set_.scorecards == ()
    rules = ["IF points >= 4 THEN sick"]
    assert len(fitted(X, y, [CARD], max_rules=1, given_rules=rules).rule_set_.scorecards) == 1
    with pytest.raises(ValueError, match="given_rules holds 1 rules, more than max_rules=0"):
        fitted(X, y, [CARD], max_rules=0, given_rules=rules)


# --- scikit-learn and the command line ---------------------------------------------------------------------------


def test_parameters_are_not_changed():
    X, y = make_patients(150)
    given = [CARD, Scorecard.parse(OF_TWO)]
    clf = DiverseRuleSetClassifier(scorecards=given, given_rules=["IF points >= 6 THEN sick"], random_state=0)
    before = [str(one) for one in given]
    clf.fit(X, y)
    assert clf.scorecards is given
    assert [str(one) for one in given] == before
    copy = clone(clf)
    assert copy.scorecards == given
    assert copy.fit(X, y).rule_set_ == clf.rule_set_
    read = pickle.loads(pickle.dumps(clf))
    assert read.get_params()["scorecards"] == given
    assert read.rule_set_ == clf.rule_set_
    assert "scorecards=['points" in repr(clf)


def test_a_grid_search_over_scorecards():
    X, y = make_patients(200)
    values = [None, "auto", [CARD], [Scorecard.parse(OF_TWO)]]
    search = GridSearchCV(DiverseRuleSetClassifier(random_state=0, max_rules=3), {"scorecards": values}, cv=2).fit(X, y)
    assert list(search.cv_results_["param_scorecards"]) == values
    assert search.best_params_["scorecards"] in values


def test_the_command_line(drs, tmp_path):
    X, y = make_patients(120)
    X.assign(state=y).to_csv(tmp_path / "t.csv", index=False)
    line = ("fit", tmp_path / "t.csv", "-t", "state", "--test-size", 0, "-o", tmp_path / "m.json")
    rule = ("--given-rules", "IF points >= 5 THEN sick", "--max-rules", 4)
    code, out, err = drs(*line, "--scorecards", CARD, "--scorecards", OF_TWO, *rule)
    assert (code, err) == (0, "")
    assert "Scorecard points" in out
    rules = RuleSet.from_json((tmp_path / "m.json").read_text("utf8"))
    assert rules == fitted(X, y, [CARD, OF_TWO], given_rules=[rule[1]], max_rules=4).rule_set_
    for words, message in [
        (["--scorecards", "x"], "--scorecards must be auto, a number, none, or text such as 'points (for ill)"),
        (["--scorecards", "points (for sik): 1 if age > 5"], "--scorecards[0] gives points to the label 'sik'"),
        (["--scorecards", "points (for sick): 1 if agee > 5"], "the table does not have it"),
        (["--scorecards", CARD, "--scorecards", "auto"], "--scorecards[1] must be a scorecard as text"),
        (["--scorecards", CARD, "--forbidden", "age"], "--scorecards[0] has signs on 'age'"),
        (rule, "to test points, give the scorecard with --scorecards, such as 'points (for ill): 3 if age > 55'"),
    ]:
        code, out, err = drs(*line, *words)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("\n") == 1


# --- hostile names, values and labels ----------------------------------------------------------------------------


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(made=rule_sets_with_scorecards(), seed=st.integers(0, 99))
def test_any_scorecard_and_any_rules_on_any_table(made, seed):
    """Given again to a fit, scorecards and rules stay as they are, and counts are those of an evaluation."""
    rules, columns = made
    derived = {str(column) for card in rules.scorecards for column in card.derived_columns()}
    assume(not derived & {format_name(name) for name in columns})  # an error, see above
    rng = np.random.default_rng(seed)
    n = 40
    pools = {name: [None, *pool] for name, (_, pool) in columns.items()}
    table = pl.DataFrame(
        {
            name: pl.Series([pool[k] for k in rng.integers(0, len(pool), n)], dtype=pl.Series(pool[1:]).dtype)
            for name, pool in pools.items()
        }
    )
    y = [rules.classes[k] for k in (*range(len(rules.classes)), *rng.integers(0, len(rules.classes), n))][:n]
    texts = [str(rule) for rule in rules.rules]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # conditions that hold for no record
        clf = fitted(table, y, list(rules.scorecards), given_rules=list(rules.rules), min_support=1)
        cards = [Scorecard.parse(str(card), orders=rules.orders) for card in rules.scorecards]
        parsed = [Rule.parse(text, cards, orders=rules.orders) for text in texts]
        by_text = fitted(table, y, cards, given_rules=parsed if rules.orders else texts, min_support=1)
    assert clf.rule_set_.rules[: len(rules)] == rules.rules
    assert by_text.rule_set_.same_rules(clf.rule_set_)
    assert clf.rule_set_.evaluated(table, y) == clf.rule_set_


@pytest.mark.parametrize("edge", [3, 100])
@pytest.mark.filterwarnings("ignore:scorecards.0. has the sign")
def test_no_rule_tests_points_if_a_required_column_separates_no_records(edge):
    """With the edge 100 there are no items at all, but the points separate records."""
    X, y = pd.DataFrame({"b": [1.0] * 40, "c": [1, 2, 3, 4] * 10}), ["no", "no", "no", "yes"] * 10
    params = {"required": ["b"], "binning": {"c": [edge]}, "min_evidence": 0.0}
    with pytest.warns(UserWarning, match="required names 'b', on which no condition separates records"):
        clf = fitted(X, y, ["risk (for yes): 3 if c > 3, 1 if b > 2"], **params)
    assert clf.rule_set_.all_rules == ()
