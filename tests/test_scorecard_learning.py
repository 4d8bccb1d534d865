"""Learning scorecards: the loss, the choice of signs, items made from items, and what a fit makes of them."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, Rule
from diverse_rule_sets._bits.bitset import pack
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._sharded import ShardedBackend
from diverse_rule_sets.learn import _points
from diverse_rule_sets.learn._constraints import UNCONSTRAINED
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._points import Pair, PointsSearch, Sample, Scored
from diverse_rule_sets.learn._scorecard_items import scorecard_items
from diverse_rule_sets.learn._scorecard_levels import ScorecardLevels
from diverse_rule_sets.learn._scorecards import cross_fit
from diverse_rule_sets.model._scorecards import LEAD, Scorecard
from tests import naive


def make_sample(seed, n=60, n_items=8, n_classes=2, columns=None):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n)
    codes[:n_classes] = np.arange(n_classes)
    items = (rng.random((n_items, n)) < 0.5) ^ ((codes % 2 == 1) & (rng.random((n_items, n)) < 0.3))
    allowed = np.ones((n_items, n_classes), np.bool_)
    if n_classes == 2:
        allowed[:, 0] = False
    weights = n / (n_classes * np.bincount(codes, minlength=n_classes))
    return Sample(items, codes, weights, allowed, np.arange(n_items) if columns is None else columns)


def naive_loss(sample, pairs):
    points = [
        [sum(p.points for p in pairs if p.label == k and record[p.item]) for k in range(sample.n_classes)]
        for record in sample.items.T
    ]
    squares = sum(p.points**2 for p in pairs)
    return naive.points_loss(points, sample.codes.tolist(), sample.weights.tolist(), squares)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_loss_is_that_of_the_oracle(seed, n_classes):
    sample = make_sample(seed, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    labels = [1] if n_classes == 2 else range(n_classes)
    options = [Pair(i, k, int(rng.integers(1, 6))) for i in range(8) for k in labels]
    pairs = [options[j] for j in rng.choice(len(options), 3, replace=False)]
    got = _points.parameters(sample, pairs)
    assert got.loss == pytest.approx(naive_loss(sample, pairs), rel=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_an_addition_is_about_the_best_of_all_pairs_and_points(seed):
    """Candidates are ranked by a prediction of the loss, so the best one is found up to a small difference."""
    sample = make_sample(seed)
    search = PointsSearch(sample, max_points=4)
    before = (Pair(0, 1, 2), Pair(1, 1, 2))
    pairs, model = search.best_addition(Scored(before, _points.parameters(sample, before)), max_signs=10)
    (*others, pair), loss = pairs, model.loss
    assert tuple(others) == before
    losses = {
        (item, points): naive_loss(sample, [*before, Pair(item, 1, points)])
        for item in range(2, 8)
        for points in range(1, 5)
    }
    assert losses[pair.item, pair.points] == pytest.approx(loss, rel=1e-4)
    unchanged = naive_loss(sample, before)
    assert unchanged - loss >= 0.9 * (unchanged - min(losses.values())) - 1e-6


def test_every_size_of_the_path_keeps_to_the_limits():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 5, 12)
    sample = make_sample(1, n=200, n_items=12, n_classes=3, columns=columns)
    path = list(PointsSearch(sample, max_points=9, every=2).grow(max_signs=4, max_pairs=9))
    assert path
    losses = [_points.parameters(sample, pairs).loss for pairs, _ in path]
    assert all(b < a for a, b in itertools.pairwise(losses))
    np.testing.assert_allclose([model.loss for _, model in path], losses, rtol=1e-6)
    for size, (pairs, _) in enumerate(path, 1):
        assert len(pairs) == size == len({(pair.item, pair.label) for pair in pairs})
        signs = {pair.item for pair in pairs}
        assert len(signs) <= 4
        assert max(np.bincount(columns[list(signs)])) <= 2
        assert all(1 <= pair.points <= 9 for pair in pairs)


@pytest.mark.parametrize("seed", range(4))
def test_an_addition_for_one_of_three_classes_is_about_the_best(seed):
    sample = make_sample(seed, n_classes=3)
    before = (Pair(0, 1, 3), Pair(1, 2, 2))
    search = PointsSearch(sample, max_points=4)
    pairs, model = search.best_addition(Scored(before, _points.parameters(sample, before)), max_signs=10)
    losses = {
        (item, label, points): naive_loss(sample, [*before, Pair(item, label, points)])
        for item in range(2, 8)
        for label in range(3)
        for points in range(1, 5)
    }
    assert losses[pairs[-1]] == pytest.approx(model.loss, rel=1e-3)
    unchanged = naive_loss(sample, before)
    assert unchanged - model.loss >= 0.9 * (unchanged - min(losses.values())) - 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_sums_over_the_records_of_items(seed):
    """Items of one column divide its records into parts; the sums follow from those of the parts."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(0, 4, 15))
    items = rng.random((15, 80)) < rng.random((15, 1))
    items[columns == 1] = rng.integers(0, 9, 80) > np.arange(9)[: (columns == 1).sum(), None]
    codes = rng.integers(0, 2, 80)
    sample = Sample(items, codes, np.ones(2), np.ones((15, 2), np.bool_), columns)
    values = rng.normal(size=(3, 80))
    expected = [[sum(round(v * 2**20) for v in row[item]) / 2**20 for row in values] for item in items]
    np.testing.assert_array_equal(sample.sums(values), expected)
    some = rng.permutation(80)[:30]
    expected = [[sum(round(v * 2**20) for v in row[some][item[some]]) / 2**20 for row in values] for item in items]
    np.testing.assert_array_equal(sample.take(some).sums(values[:, some]), expected)


def test_of_many_columns_those_that_separate_the_classes_are_used():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 300)
    items = rng.random((100, 300)) < 0.5
    for item in (3, 50, 99):
        items[item] = (codes == 1) ^ (rng.random(300) < 0.3)
    allowed = np.tile([False, True], (100, 1))
    sample = Sample(items, codes, np.ones(2), allowed, np.arange(100))
    search = PointsSearch(sample, 5)
    assert search.sample.allowed[:, 1].sum() == 64
    *_, (pairs, _) = search.grow(3, 3)
    assert {pair.item for pair in pairs} == {3, 50, 99}


@pytest.mark.parametrize("column", [0, 50, 99])
def test_of_many_columns_one_may_have_no_usable_item(column):
    rng = np.random.default_rng(0)
    allowed = np.tile([False, True], (100, 1))
    allowed[column] = False
    sample = Sample(rng.random((100, 50)) < 0.5, rng.integers(0, 2, 50), np.ones(2), allowed, np.arange(100))
    kept = PointsSearch(sample, 5).sample.allowed
    assert kept[:, 1].sum() == 64
    assert not kept[column].any()


def test_signs_on_one_column_differ_for_one_in_twenty_records():
    rng = np.random.default_rng(0)
    x, other = rng.normal(size=1000), rng.normal(size=1000)
    cuts = np.sort(rng.normal(size=30))
    items = np.vstack([[x > cut for cut in cuts], [x <= cut for cut in cuts], [other > 0]])
    codes = (x + 0.3 * other + rng.normal(size=1000) > 0).astype(np.int64)
    columns = np.array([0] * 60 + [1])
    sample = Sample(items, codes, np.ones(2), np.tile([False, True], (61, 1)), columns)
    *_, (pairs, _) = PointsSearch(sample, 9, 3, max_per_column=8).grow(9, 9)
    signs = [pair.item for pair in pairs if pair.item < 60]
    assert len(signs) > 3
    for one, two in itertools.combinations(signs, 2):
        assert 0.05 <= np.mean(items[one] != items[two]) <= 0.95


def test_banned_items_are_no_signs():
    sample = make_sample(2)
    sample.allowed[[0, 3, 5], 1] = False
    for pairs, _ in PointsSearch(sample, 5).grow(6, 6):
        assert not {0, 3, 5} & {pair.item for pair in pairs}


def backends(items, codes, n_classes):
    rows = pack(items)
    yield LocalBackend(rows, codes, n_classes)
    for n_shards in (2, 5):
        yield ShardedBackend.split(rows, codes, n_classes, n_shards=n_shards)


def flags_of(backend, cover):
    """Return the records of a cover as a boolean array, through the protocol alone."""
    n = int(backend.class_counts(cover).sum())
    chosen = backend.pick(cover, np.arange(n))
    inside = [
        backend.class_counts(backend.intersection(backend.pick(backend.everything, np.array([k])), chosen)).any()
        for k in range(backend.n_records)
    ]
    return np.array(inside)


@pytest.mark.parametrize("n_labels", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_items_of_a_scorecard_hold_where_its_conditions_hold(seed, n_labels):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, (40, 4)), columns=list("abcd")).astype(bool)
    labels = ["u", "v", "w"][:n_labels]
    signs = []
    for name in X:
        points = {label: int(rng.integers(1, 4)) for label in labels if rng.random() < 0.7 or label == "u"}
        signs.append(f"{', '.join(f'{n} for {label}' for label, n in points.items())} if {name} = True")
    base = "; 1 for v always" if n_labels > 1 else ""
    card = Scorecard.parse(f"points (for {', '.join(labels)}): {'; '.join(signs)}{base}")
    codes = rng.integers(0, 2, 40)
    for backend in backends(X.to_numpy().T.copy(), codes, 2):
        found = scorecard_items(ScorecardLevels(backend, card, [backend.cover((j,)) for j in range(4)]))
        extended = backend.with_items(found.covers)
        assert extended.n_items == 4 + len(found.conditions)
        for j, condition in enumerate(found.conditions):
            expected = Rule((condition,), "u").covers(X)
            np.testing.assert_array_equal(flags_of(extended, extended.cover((4 + j,))), expected)
            if found.opposites[j] >= 0:
                np.testing.assert_array_equal(flags_of(backend, found.covers[found.opposites[j]]), ~expected)
        kinds = {str(condition.column) for condition in found.conditions}
        given = {label for sign in card.signs for label in sign.points}
        assert kinds == ({"points"} if n_labels == 1 else {"most points", "lead", *(f"points for {k}" for k in given)})
        levels = card.column(LEAD if n_labels > 1 else "points")
        assert found.levels[levels] == tuple(sorted(found.levels[levels]))


def make_additive(n, seed, n_classes=2, noise=1.0):
    """Return a table in which weak signs add up."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)).round(2), columns=[f"m{j}" for j in range(6)])
    X["job"] = rng.choice(["a", "b", "c"], n)
    scores = (X.iloc[:, :5] > 0).sum(axis=1) + 1.5 * (X.job == "a") + noise * rng.logistic(size=n) * 0.5
    cuts = np.quantile(scores, np.arange(1, n_classes) / n_classes)
    return X, np.array(["low", "mid", "top"])[np.searchsorted(cuts, scores)] if n_classes == 3 else (
        np.where(scores > cuts[0], "yes", "no")
    )


def test_scorecards_help_where_weak_signs_add_up():
    X, y = make_additive(600, 0)
    X_test, y_test = make_additive(2000, 1)
    clf = DiverseRuleSetClassifier(scorecards="auto", max_rules=4, max_fallbacks=0, random_state=0).fit(X, y)
    plain = DiverseRuleSetClassifier(scorecards=None, max_rules=4, max_fallbacks=0, random_state=0).fit(X, y)
    (card,) = clf.rule_set_.scorecards
    assert card.labels == ("yes",)
    assert 4 <= len(card.signs) <= 10
    assert math.gcd(*(sign.points["yes"] for sign in card.signs)) == 1
    assert clf.score(X_test, y_test) > plain.score(X_test, y_test) + 0.05
    assert clf.rule_set_.follows_points


def test_without_a_scorecard_the_rules_are_those_without_the_parameter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)).round(1), rng.integers(0, 2, 150)
    clf = DiverseRuleSetClassifier(scorecards="auto", random_state=0).fit(X, y)
    assert clf.rule_set_.scorecards == ()
    assert clf.rule_set_ == DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(X, y).rule_set_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_limits_counts_and_probabilities_of_a_fit(n_classes):
    X, y = make_additive(500, 2, n_classes)
    X.loc[::7, "m0"] = np.nan
    clf = DiverseRuleSetClassifier(
        scorecards=1, max_overlap=0, min_support=10, max_conditions=2, max_signs=6, random_state=0
    ).fit(X, y)
    rules = clf.rule_set_
    (card,) = rules.scorecards
    assert card.has_leader == (n_classes > 2)
    assert len(card.signs) <= 6
    covers = rules.covers(X)
    assert covers.sum(axis=1).max() <= 1
    assert covers.sum(axis=0).min() >= 10
    assert max(len(rule.conditions) for rule in rules.all_rules) <= 2
    for sign in card.signs:
        holds = Rule((sign.condition,), y[0]).covers(X)
        assert 10 <= holds.sum() <= len(X) - 10
        assert all(1 <= points <= 9 for points in sign.points.values())
    assert rules.evaluated(X, y) == rules
    probabilities = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[probabilities.argmax(axis=1)])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    again = DiverseRuleSetClassifier(**clf.get_params()).set_params(n_jobs=2).fit(X, y)
    assert again.rule_set_ == rules


class ShardedClassifier(DiverseRuleSetClassifier):
    """The classifier on four shards."""

    _make_backend = ShardedBackend.split


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shards_give_the_same_scorecards_and_rules(n_classes):
    X, y = make_additive(300, 3, n_classes)
    local = DiverseRuleSetClassifier(scorecards="auto", random_state=0).fit(X, y)
    sharded = ShardedClassifier(scorecards="auto", random_state=0).fit(X, y)
    assert local.rule_set_.scorecards
    assert sharded.rule_set_ == local.rule_set_


def test_the_name_of_a_scorecard_is_not_that_of_a_column():
    X, y = make_additive(400, 4)
    clf = DiverseRuleSetClassifier(scorecards="auto", random_state=0).fit(X.rename(columns={"m5": "points"}), y)
    assert [card.name for card in clf.rule_set_.scorecards] == ["points (2)"]
    assert "points (2) >=" in str(clf.rule_set_)


def test_a_second_scorecard_has_other_columns():
    X, y = make_additive(600, 6)
    clf = DiverseRuleSetClassifier(scorecards=2, max_signs=3, random_state=0, max_rules=10).fit(X, y)
    cards = clf.rule_set_.scorecards
    used = [set(card.columns) for card in cards]
    assert all(not a & b for a, b in itertools.combinations(used, 2))


def test_forbidden_columns_and_directions_hold_for_signs():
    X, y = make_additive(500, 7)
    clf = DiverseRuleSetClassifier(
        scorecards="auto",
        forbidden=["m0"],
        monotone=dict.fromkeys(("m1", "m2"), "decreasing") | {"m3": "increasing"},
        random_state=0,
    ).fit(X, y)
    rules = clf.rule_set_
    (card,) = rules.scorecards
    assert "m0" not in rules.columns
    assert "m3" in card.columns
    for sign in card.signs:
        tests = {test for test, _ in sign.condition.comparisons}
        if sign.condition.column in ("m1", "m2"):
            assert not tests & {">", ">="}
        if sign.condition.column == "m3":
            assert not tests & {"<", "<="}
    for rule in rules.all_rules:
        for condition in rule.conditions:
            if condition.plain_conditions != (condition,):
                assert {test for test, _ in condition.comparisons} == ({">="} if rule.label == "yes" else {"<="})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("all", "scorecards must be one of 'auto', None, a whole number, or a list of scorecards, got 'all'"),
        (-1, "scorecards must be"),
        (1.5, "scorecards must be one of 'auto', None, a whole number, or a list of scorecards, got 1.5"),
        (True, "scorecards"),
    ],
)
def test_wrong_values_of_the_parameter(value, message):
    with pytest.raises((TypeError, ValueError), match=message):
        DiverseRuleSetClassifier(scorecards=value).fit([[0], [1]] * 5, [0, 1] * 5)


def test_rare_classes_get_no_points():
    X, y = make_additive(400, 8)
    y = y.astype(object)
    y[0] = "typo"
    with pytest.warns(UserWarning, match="typo"):
        clf = DiverseRuleSetClassifier(scorecards="auto", random_state=0).fit(X, y)
    assert [card.labels for card in clf.rule_set_.scorecards] == [("yes",)]


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_tables_of_a_few_records(n):
    X, y = np.arange(n)[:, None], np.arange(n) % 2
    clf = DiverseRuleSetClassifier(scorecards="auto", random_state=0, min_support=1).fit(X, y)
    assert clf.rule_set_ == DiverseRuleSetClassifier(scorecards=None, random_state=0, min_support=1).fit(X, y).rule_set_


def test_too_few_classes_give_no_scorecard():
    totals = np.array([5, 0])
    measures = Measures(totals, np.ones(2), 5.0, 0.03, np.array([False, True]))
    items = np.ones((1, 5), np.bool_)
    backend = LocalBackend(pack(items), np.zeros(5, np.int64), 2)
    assert cross_fit(backend, np.zeros(1, np.int64), measures, UNCONSTRAINED, 3, 10) is None


@pytest.mark.parametrize(("n_classes", "max_signs", "tried"), [(15, 20, True), (16, 20, False), (15, 9, False)])
def test_no_scorecard_for_many_classes(n_classes, max_signs, tried):
    """More than 15 labels would be too much to read; fewer than two pairs for each label could not tell them apart."""
    rng = np.random.default_rng(0)
    y = np.arange(480) % n_classes
    items = np.array([y % 2 == 0, y % 3 == 0, y < 5, rng.random(480) < 0.5])
    backend = LocalBackend(pack(items), y, n_classes)
    measures = Measures(backend.class_totals, np.ones(n_classes), 5.0, 0.03)
    assert (cross_fit(backend, np.arange(4), measures, UNCONSTRAINED, 3, max_signs) is not None) == tried


# --- tables that are mostly noise ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scorecards", ["auto", None])
@pytest.mark.parametrize(("n", "n_classes", "n_with_rules"), [(400, 2, 4), (400, 4, 1), (2000, 2, 2), (2000, 4, 1)])
def test_noise_gives_few_rules_or_none(n, n_classes, n_with_rules, scorecards):
    """Of six tables only some give rules, and these few: small tables with signal look much like noise."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, 8)), rng.integers(0, n_classes, n)
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=scorecards).fit(X, y)
        found.append(len(clf.rule_set_.all_rules))
    assert max(found) <= 3
    assert np.count_nonzero(found) <= n_with_rules


def test_weak_signal_on_few_records_gives_rules():
    scores = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1120, 5))
        y = (X[:, :2].sum(axis=1) + rng.logistic(size=1120) * 1.2 > 0).astype(int)
        clf = DiverseRuleSetClassifier(random_state=0).fit(X[:120], y[:120])
        scores.append(clf.score(X[120:], y[120:]))
    assert np.mean(scores) > 0.6  # without rules it is 0.5, and a logistic regression reaches 0.68


def test_interactions_are_found_although_no_single_condition_predicts():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 6))
    y = (X[:, 0] ^ X[:, 1]) ^ (rng.random(2000) < 0.1)
    for scorecards in ("auto", None):
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=scorecards).fit(X[:1000], y[:1000])
        assert clf.score(X[1000:], y[1000:]) > 0.85
        assert len(clf.rule_set_.all_rules) == 4
