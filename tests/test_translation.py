"""Learnt rules list only values that some training record under the rule has."""

import numpy as np
import pandas as pd
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, IsIn, IsNotIn, Rule, Scorecard
from diverse_rule_sets._bits.bitset import Lists, pack
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._possible_conditions import CutOptions
from diverse_rule_sets.data._sharded import ShardedBackend
from diverse_rule_sets.estimators._translation import CountedRule, Items, _own_points_first, translate
from diverse_rule_sets.model._conditions import merge_conditions
from internal import classifier


def people(n=500, seed=0):
    """Return a made table in which many combinations of values do not occur."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], n)
    jobs = np.array(["clerk", "sales", "nurse", "driver", "cook", "judge"])
    job = np.where(sex == "F", rng.choice(jobs[:3], n), rng.choice(jobs[1:], n))
    town = np.where(np.isin(job, ["clerk", "cook"]), rng.choice(["A", "B"], n), rng.choice(["B", "C", "D"], n))
    age = rng.integers(18, 80, n)
    score = np.isin(job, ["clerk", "sales", "judge"]) * 2 + np.isin(town, ["A", "C"]) + (age > 45)
    y = np.where(score + rng.normal(0, 0.7, n) > 2, "yes", "no")
    X = pd.DataFrame({"sex": sex, "job": job, "town": town, "age": age})
    return X.mask(rng.random(X.shape) < 0.03), y


def listed_without_record(rule, X):
    """Return the values listed by a rule that no record has which meets its other conditions, by column of the table.

    Conditions on points list no values of the table.
    """
    found = {}
    for condition in rule.conditions:
        if condition.column not in X:
            assert str(condition.column) == "points"
            continue
        others = tuple(one for one in rule.conditions if one is not condition)
        seen = set(X[condition.column][Rule(others, 0).covers(X)])
        found[condition.column] = [value for value in condition.values_named if value not in seen]
    return found


FITS = {
    "default": lambda: DiverseRuleSetClassifier(random_state=0, scorecards=None),
    "many rules": lambda: DiverseRuleSetClassifier(random_state=0, scorecards=None, max_rules=40, min_support=1),
    "not in": lambda: classifier(random_state=0, scorecards=None, negation=True, max_rules=40, min_support=1),
    "scorecard": lambda: DiverseRuleSetClassifier(random_state=0, min_support=1, min_evidence=0.2),
    "scorecard, not in": lambda: DiverseRuleSetClassifier(random_state=0, negation=True, min_support=1, min_evidence=0),
    "CBA": lambda: CBAClassifier(conditions="thresholds"),
    "CN2": lambda: CN2Classifier(conditions="thresholds"),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FITS)
def test_every_listed_value_has_a_record(name, seed):
    X, y = people(seed=seed)
    rule_set = FITS[name]().fit(X, y).rule_set_
    n_sets, n_points = 0, 0
    for rule in rule_set.all_rules:
        n_sets += sum(len(one.values_named) > 1 for one in rule.conditions)
        listed = listed_without_record(rule, X)
        for condition in rule.conditions:
            absent = listed.get(condition.column, [])
            assert not absent or (condition.excludes and absent == list(condition.values_named))
        n_points += len(rule.conditions) - len(listed)
    for card in rule_set.scorecards:  # the signs of a scorecard list values that occur in the table
        for sign in card.signs:
            n_sets += len(sign.condition.values_named) > 1
            assert set(sign.condition.values_named) <= set(X[sign.condition.column])
    assert n_sets
    assert bool(n_points) == bool(rule_set.scorecards) == name.startswith("scorecard")
    counted = rule_set.evaluated(X, y)
    assert [rule.class_counts for rule in counted.all_rules] == [rule.class_counts for rule in rule_set.all_rules]


def encoded(X, y, make, negation=True):
    """Return a table as items, with sets of categories and their opposites."""
    encoder = Encoder(CutOptions("supervised", 8, thresholds=True, negation=negation))
    rows = encoder.fit_transform(as_table(X), Target(y, np.ones(2))).rows
    return Items(encoder, make(rows, y, 2, 1, None))


def random_rules(items, rng, n=200):
    """Return rules of items: a random condition on each of some columns, such that a record is covered."""
    columns = items.encoder.columns
    bodies = set()
    for _ in range(n):
        chosen = rng.choice(np.unique(columns), rng.integers(1, 4), replace=False)
        bodies.add(tuple(sorted(int(rng.choice(np.flatnonzero(columns == column))) for column in chosen)))
    bodies = sorted(bodies)
    counts = items.backend.class_counts_of(Lists.of(bodies))
    return [CountedRule(body, 1, row) for body, row in zip(bodies, counts, strict=True) if row.sum()]


@pytest.mark.parametrize("make", [LocalBackend, ShardedBackend.split])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("negation", [False, True])
def test_values_are_left_out_without_a_change_of_the_cover(make, seed, negation):
    """Also if values are left out of several conditions, and with missing values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.choice([*"vwxyz", None], 25, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]) for name in "abc"})
    y = rng.integers(0, 2, 25)
    items = encoded(X, y, make, negation)
    rules = random_rules(items, rng)
    n_left_out, kinds = {IsIn: 0, IsNotIn: 0}, set()
    for before, after in zip(rules, translate(items, rules, ["no", "yes"]), strict=True):
        conditions = merge_conditions(items.encoder.conditions[item] for item in before.body)
        assert [one.column for one in conditions] == [one.column for one in after.conditions]
        assert (Rule(conditions, 0).covers(X) == after.covers(X)).all()
        for old, new in zip(conditions, after.conditions, strict=True):
            left_out = set(old.values_named) - set(new.values_named)
            if left_out:
                n_left_out[type(old)] += 1
            kinds.add((type(old), type(new)))
            inside = set(X[new.column][after.covers(X)])
            if not new.excludes:
                allowed = set(old.values_named) if not old.excludes else set(X[old.column]) - set(old.values_named)
                assert set(new.values_named) == allowed & inside
                assert isinstance(new, Equals) == (len(new.values_named) == 1)
            elif len(new.values_named) >= len(inside):  # it excludes nothing beside the other conditions
                others = tuple(one for one in after.conditions if one is not new)
                assert new == old
                assert not set(X[new.column][Rule(others, 0).covers(X)]) & set(new.values_named)
    if negation:
        assert {(IsNotIn, IsNotIn), (IsIn, IsIn)} <= kinds
        assert kinds & {(IsNotIn, IsIn), (IsNotIn, Equals)}
        assert all(n_left_out.values())
    else:
        assert not {after for _, after in kinds} & {IsNotIn}
        assert n_left_out[IsIn]


def test_given_rules_are_unchanged():
    X, y = people()
    given = Rule.parse("IF job in {'clerk', 'nurse', 'pilot'} AND sex = 'M' THEN yes")
    clf = DiverseRuleSetClassifier(random_state=0, given_rules=[given])
    with pytest.warns(UserWarning, match='no record has job = "pilot"'):
        clf.fit(X, y)
    assert clf.rule_set_[0] == given


def test_a_record_that_two_conditions_exclude_stays_excluded():
    """The values of (p, r) may be left out of one of the two conditions, but not of both."""
    X = pd.DataFrame([("p", "r"), ("q", "k"), ("m", "s"), ("m", "k"), ("n", "l")], columns=["a", "b"])
    conditions = [IsNotIn("a", ("p", "q")), IsNotIn("b", ("r", "s"))]
    conditions += [Equals(column, value) for column in "ab" for value in X[column].unique()]
    encoder = Encoder(CutOptions("supervised", 8, thresholds=True, negation=True))
    encoder.fit(as_table(X), Target(np.zeros(5, np.int64), np.ones(1)))
    encoder.conditions, encoder.columns = conditions, np.array([0, 1] + [0] * 4 + [1] * 4)
    rows = pack(np.array([Rule((one,), 0).covers(X) for one in conditions]))
    items = Items(encoder, LocalBackend(rows, np.zeros(5, np.int64), 1, 1, None))
    (rule,) = translate(items, [CountedRule((0, 1), 0, np.array([2]))], ["yes"])
    assert rule.conditions == (IsNotIn("a", ("q",)), IsIn("b", ("k", "l")))
    assert rule.covers(X).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("negation", [False, True])
def test_what_is_shorter_beside_the_other_conditions_is_written(negation):
    """Of the jobs of F, only d is excluded; of those of M, only a is allowed."""
    pairs = [("F", "a"), ("F", "b"), ("F", "c"), ("F", "d"), ("M", "a"), ("M", "d"), ("M", "e"), ("M", "f"), ("M", "g")]
    X = pd.DataFrame(pairs * 3, columns=["sex", "job"])
    items = encoded(X, np.isin(X["job"], ["a", "b", "c"]).astype(int), LocalBackend, negation)
    item_of = {one: item for item, one in enumerate(items.encoder.conditions)}
    job = item_of[IsIn("job", ("a", "b", "c"))]
    bodies = [tuple(sorted((job, item_of[Equals("sex", sex)]))) for sex in "FM"]
    counts = items.backend.class_counts_of(Lists.of(bodies))
    rules = translate(items, [CountedRule(body, 1, row) for body, row in zip(bodies, counts, strict=True)], [0, 1])
    of_f = 'job != "d"' if negation else 'job in {"a", "b", "c"}'
    assert [sorted(map(str, rule.conditions)) for rule in rules] == [[of_f, 'sex = "F"'], ['job = "a"', 'sex = "M"']]


@pytest.mark.parametrize("make", [LocalBackend, ShardedBackend.split])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_without_effect_are_left_out(make, seed):
    """A bound of an interval is kept if and only if some record under the other conditions is beyond it."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.normal(size=40).round(1) for name in "abc"}).mask(rng.random((40, 3)) < 0.1)
    y = rng.integers(0, 2, 40)
    items = encoded(X, y, make)
    columns, bodies = items.encoder.columns, set()
    for _ in range(300):
        chosen = rng.choice(np.unique(columns), rng.integers(1, 4), replace=False)
        pairs = [rng.choice(np.flatnonzero(columns == c), 2, replace=False).tolist() for c in chosen]
        bodies.add(tuple(sorted(item for pair in pairs for item in pair)))
    bodies = sorted(bodies)
    counts = items.backend.class_counts_of(Lists.of(bodies))
    rules = [CountedRule(body, 1, row) for body, row in zip(bodies, counts, strict=True) if row.sum()]
    n_dropped = n_kept = 0
    for before, after in zip(rules, translate(items, rules, ["no", "yes"]), strict=True):
        conditions = merge_conditions(items.encoder.conditions[item] for item in before.body)
        assert [one.column for one in conditions] == [one.column for one in after.conditions]
        covered = after.covers(X)
        assert (Rule(conditions, 0).covers(X) == covered).all()
        for old, new in zip(conditions, after.conditions, strict=True):
            n_dropped += len(old.comparisons) > len(new.comparisons)
            assert set(new.comparisons) <= set(old.comparisons)
            if len(new.comparisons) == 2:
                n_kept += 1
                others = tuple(one for one in after.conditions if one is not new)
                for wider in (Interval(new.column, low=new.low), Interval(new.column, high=new.high)):
                    assert (Rule((*others, wider), 0).covers(X) != covered).any()
    assert n_dropped
    assert n_kept


def test_the_points_for_the_label_of_a_rule_come_before_those_for_others():
    """Probabilities follow the first condition on points; other conditions keep their places."""
    card = Scorecard.parse("points (for u, v, w): 1 for u, 2 for v if a > 1; 1 for w if b > 2")
    plain, lead = Interval("a", low=3), Interval(card.column("lead"), low=1, with_low=True)
    of = {label: Interval(card.column("points", label), low=1, with_low=True) for label in "uvw"}
    found = _own_points_first((of["u"], plain, of["v"], lead, of["w"]), "w")
    assert found == (of["w"], plain, of["u"], lead, of["v"])
    assert _own_points_first((plain, lead), "w") == (plain, lead)
