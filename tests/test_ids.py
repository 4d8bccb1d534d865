import itertools
from functools import reduce

import numpy as np
import pandas as pd
import pytest

import naive
from covers import flags_of
from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets.baselines import IDSClassifier
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.estimators._ids import deterministic_search, draw_validation, mean_gains, smooth_search
from diverse_rule_sets.estimators._ids_objective import Pool, Selection
from small import as_records, named, rules_of, table_of_letters


def pool_of(seed, n_bodies, n=25, n_classes=2):
    """Return a pool of some bodies of a small table, and candidates, records and labels for the oracle."""
    X, y = table_of_letters(seed, n_columns=4, n=n, n_classes=n_classes)
    records, _ = as_records(X)
    items = sorted(set().union(*records))
    rows = np.array([[item in record for record in records] for item in items])
    rng = np.random.default_rng(seed)
    every = [body for size in (1, 2, 3) for body in itertools.combinations(items, size) if naive.cover(body, records)]
    bodies = [every[j] for j in sorted(rng.choice(len(every), n_bodies, replace=False))]
    backend = LocalBackend(np.array([pack(row) for row in rows]), y, n_classes)
    lists = Lists.of(bodies)
    pool = Pool(backend, lists, np.array([len(body) for body in bodies]))
    return pool, [(body, label) for body in bodies for label in range(n_classes)], records, y.tolist()


def pack(flags):
    octets = np.packbits(flags, bitorder="little")
    return np.concatenate([octets, np.zeros(-octets.size % 8, np.uint8)]).view(np.uint64)


def chosen_of(choice, candidates):
    return [rule for rule, is_in in zip(candidates, choice.reshape(-1), strict=True) if is_in]


@pytest.mark.parametrize("seed", range(20))
def test_the_seven_terms_are_those_of_the_oracle(seed):
    pool, candidates, records, y = pool_of(seed, 12, n_classes=2 + seed % 2)
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.1, 0.5, 1.0):
        choice = rng.random(pool.shape) < share
        ref = naive.ids_terms(chosen_of(choice, candidates), candidates, records, y)
        assert pool.terms(choice).tolist() == ref


@pytest.mark.parametrize("seed", range(10))
def test_gains_are_correct_while_rules_are_added_and_dropped(seed):
    pool, candidates, records, y = pool_of(seed, 8, n_classes=2 + seed % 2)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 20, 7).astype(float)
    chosen = Selection(pool, weights, rng.random(pool.shape) < 0.2)
    for _ in range(6):
        chosen.flip(int(rng.integers(pool.shape[0])), int(rng.integers(pool.shape[1])))
        gains = chosen.gains()
        for b, c in np.ndindex(pool.shape):
            with_it, without = chosen.choice.copy(), chosen.choice.copy()
            with_it[b, c], without[b, c] = True, False
            ref = [
                naive.ids_value(chosen_of(s, candidates), candidates, records, y, weights) for s in (with_it, without)
            ]
            assert gains[b, c] == pytest.approx(ref[0] - ref[1], abs=1e-6)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_the_deterministic_search_is_that_of_the_oracle(seed, first):
    pool, candidates, records, y = pool_of(seed, 7)
    weights = np.random.default_rng(seed).choice([0.5, 1, 7, 30], 7)
    for epsilon in (0.05, 1e-4):
        ref = naive.ids_local_search(candidates, records, y, weights, epsilon, first)
        got = set(chosen_of(deterministic_search(pool, weights, epsilon, first), candidates))
        value = [naive.ids_value(sorted(s), candidates, records, y, weights) for s in (ref, got)]
        assert got == ref or (not first and value[0] == pytest.approx(value[1], rel=1e-12))  # equally good steps


def without_constants(chosen, candidates, records, y, weights):
    """Return the value without the additive constants: the difference to the empty set."""
    empty = naive.ids_value([], candidates, records, y, weights)
    return naive.ids_value(chosen, candidates, records, y, weights) - empty


@pytest.mark.parametrize("seed", range(12))
def test_the_deterministic_search_never_ends_below_a_third_of_the_best(seed):
    """That is the proved bound; without the constants, compared with the empty set, it is nearly always the best."""
    pool, candidates, records, y = pool_of(seed, 5)
    weights = np.random.default_rng(seed).choice([0.5, 1, 10, 100], 7)
    sets = [s for size in range(len(candidates) + 1) for s in itertools.combinations(candidates, size)]
    best = max(sets, key=lambda s: naive.ids_value(s, candidates, records, y, weights))
    got = chosen_of(deterministic_search(pool, weights, 0.001, first=seed % 2 == 0), candidates)
    value, top = (naive.ids_value(s, candidates, records, y, weights) for s in (got, best))
    assert top / 3 <= value <= top
    gain, most = (without_constants(s, candidates, records, y, weights) for s in (got, best))
    assert gain >= most / 3 or most <= 0


@pytest.mark.parametrize("seed", range(4))
def test_mean_gains_estimate_the_expectation(seed):
    """Compare with the sum over all sets of a tiny pool, each with its probability."""
    pool, candidates, records, y = pool_of(seed, 3)
    weights = np.random.default_rng(seed).choice([0.5, 1, 10, 100], 7)
    choice = np.zeros(pool.shape, bool)
    choice[0, 0] = choice[2, 1] = True
    chance = np.where(choice, 2 / 3, 1 / 3).reshape(-1)  # (1 + delta) / 2 and (1 - delta) / 2 with delta = 1/3
    value = {}
    for flags in itertools.product([False, True], repeat=len(candidates)):
        chosen = [rule for rule, is_in in zip(candidates, flags, strict=True) if is_in]
        value[flags] = naive.ids_value(chosen, candidates, records, y, weights)
    exact = np.zeros(len(candidates))
    for flags in value:
        likely = np.prod(np.where(flags, chance, 1 - chance))
        for j in range(len(candidates)):
            with_it, without = (*flags[:j], True, *flags[j + 1 :]), (*flags[:j], False, *flags[j + 1 :])
            exact[j] += likely * (value[with_it] - value[without])
    mean, error = mean_gains(pool, weights, choice, 0.0, np.random.default_rng(seed))
    assert (np.abs(mean.reshape(-1) - exact) <= 4.5 * error.reshape(-1) + 1e-9).all()
    assert error.max() < 0.2 * np.abs(exact).max()


def test_the_smooth_search_finds_a_candidate_with_a_large_gain():
    """If the gain of one rule is above the threshold, the sets drawn at the end contain it more often."""
    pool, candidates, _, _ = pool_of(1, 4)
    weights = np.array([0, 0, 0, 0, 0, 0, 1.0])
    drawn = np.array([smooth_search(pool, weights, np.random.default_rng(s)).reshape(-1) for s in range(60)])
    best = int(np.argmax(pool.correct.reshape(-1)))
    assert len(candidates) == 8
    assert drawn[:, best].mean() > 0.55  # two thirds if it was added, else one third; or all except it


def test_the_smooth_search_ends():
    X, y = table_of_letters(0, n=200)
    clf = IDSClassifier(search="smooth", weights=(0.05, 0, 0, 0, 0, 0, 1), max_conditions=1, random_state=0).fit(X, y)
    assert clf.n_candidates_ == 45


def test_all_others_are_chosen_if_they_are_better():
    """The required gain is so large that one rule is chosen; all other rules together have a higher value."""
    pool, candidates, records, y = pool_of(2, 6)
    weights = np.array([0, 0, 0, 0, 0, 0, 1.0])
    choice = deterministic_search(pool, weights, 1e6)
    assert choice.sum() == len(candidates) - 1
    ref = naive.ids_local_search(candidates, records, y, weights, 1e6)
    assert set(chosen_of(choice, candidates)) == ref


def test_with_equal_weights_the_smooth_search_draws_a_third_of_all_candidates():
    X, y = table_of_letters(0, n=200)
    clf = IDSClassifier(search="smooth", random_state=0).fit(X, y)
    assert len(clf.rule_set_) / clf.n_candidates_ == pytest.approx(1 / 3, abs=0.1)


def test_candidates_are_the_frequent_bodies_with_every_label():
    X, y = table_of_letters(4, n=60)
    records, conditions = as_records(X)
    clf = IDSClassifier(min_support=0.1, max_conditions=2).fit(X, y)
    bodies = [body for body in naive.frequent(records, y.tolist(), lambda inside: len(inside) >= 6) if len(body) <= 2]
    assert clf.n_candidates_ == 3 * len(bodies)
    candidates = [(body, label) for body in bodies for label in range(3)]
    chosen = [rule for rule in candidates if named([rule], conditions)[0] in rules_of(clf)]
    assert len(chosen) == len(clf.rule_set_) > 1
    assert clf.terms_.tolist() == naive.ids_terms(chosen, candidates, records, y.tolist())
    assert clf.objective_ == clf.terms_.sum()


def test_rules_are_sorted_by_f1_and_the_highest_decides():
    X, y = table_of_letters(5, n=300)
    clf = IDSClassifier(weights=(1, 1, 0, 0, 1, 1, 10)).fit(X, y)
    f1 = [
        2 * (rule.covers(X) & (y == rule.label)).sum() / (rule.n_covered + (y == rule.label).sum())
        for rule in clf.rule_set_
    ]
    assert len(f1) > 5
    assert f1 == sorted(f1, reverse=True)
    covering = clf.rule_set_.covers(X)
    assert (covering.sum(axis=1) > 1).any()
    labels = np.array([rule.label for rule in clf.rule_set_])
    covered = covering.any(axis=1)
    assert (clf.predict(X)[covered] == labels[np.argmax(covering, axis=1)][covered]).all()
    assert rules_of(IDSClassifier(weights=(1, 1, 0, 0, 1, 1, 10), max_rules=3).fit(X, y)) == rules_of(clf)[:3]


def test_tuned_weights_come_from_the_grid_and_the_seed():
    X, y = table_of_letters(6, n=200)
    clf = IDSClassifier(weights="tuned", random_state=3).fit(X, y)
    assert set(clf.weights_) <= {1, 10, 100, 500, 1000}
    again = IDSClassifier(weights="tuned", random_state=3).fit(X, y)
    assert again.weights_.tolist() == clf.weights_.tolist()
    assert rules_of(again) == rules_of(clf)
    given = IDSClassifier(weights=clf.weights_).fit(X, y)
    assert rules_of(given) == rules_of(clf)


def validation_of(y, rng):
    """Return flags of the validation records; they do not depend on the items."""
    backend = LocalBackend(pack(np.ones(len(y), bool))[None], y, y.max() + 1)
    covers = [backend.pick(cover, ks) for cover, ks in draw_validation(backend, rng)]
    return flags_of(backend, reduce(backend.union, covers))


def test_tuning_is_the_literal_coordinate_search():
    X, y = table_of_letters(7, n=150)
    held_out = validation_of(y, np.random.default_rng(5))
    weights = [0.5] * 7
    for term in range(7):
        scores = {}
        for value in (1, 10, 100, 500, 1000):
            weights[term] = value
            clf = IDSClassifier(weights=weights, min_support=10).fit(X[~held_out], y[~held_out])
            labels = clf.predict(X[held_out])
            scores[value] = np.mean([(labels[y[held_out] == k] == k).mean() for k in range(3)])
        weights[term] = max(scores, key=scores.get)
    tuned = IDSClassifier(weights="tuned", min_support=10, random_state=np.random.default_rng(5)).fit(X, y)
    assert len(set(tuned.weights_)) > 1
    assert tuned.weights_.tolist() == weights


def test_an_interval_is_one_condition():
    X = pd.DataFrame({"a": np.repeat([1.0, 2.0, 3.0, 4.0], 25)})
    y = np.isin(X["a"], [2, 3]).astype(int)
    clf = IDSClassifier(conditions="thresholds", max_conditions=None).fit(X, y)
    both = [rule for rule in clf.rule_set_ if rule.label == 1]
    assert len(both) == 1
    assert both[0].conditions[0].low is not None
    assert both[0].conditions[0].high is not None
    n_rules = len(clf.rule_set_)
    assert clf.terms_[1] == clf.n_candidates_ - n_rules  # every rule has one condition


def test_tuning_without_validation_records_uses_all_records():
    clf = IDSClassifier(weights="tuned", random_state=0).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
    assert set(clf.weights_) <= {1, 10, 100, 500, 1000}


def test_a_fifth_of_each_class_is_drawn_for_validation():
    y = np.repeat([0, 1, 2, 3], [100, 10, 2, 1])
    flags = validation_of(y, np.random.default_rng(0))
    assert np.bincount(y[flags], minlength=4).tolist() == [20, 2, 1, 0]


def test_an_error_for_too_many_candidates_says_what_to_change():
    X, y = table_of_letters(0, n=100)
    with pytest.raises(
        ValueError, match=r"more than max_candidates=20 bodies reach min_support=0.05; raise min_support"
    ):
        IDSClassifier(min_support=0.05, max_candidates=20).fit(X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": "best"}, "weights must be one of 'tuned', or 7 numbers, got 'best'"),
        ({"weights": (1, 2)}, r"weights must be 'tuned' or 7 numbers, got \(1, 2\)"),
        ({"weights": [1, 2, 3, [4], 5, 6, 7]}, r"weights\[3\] must be a number .*, got \[4\]"),
        ({"weights": 3}, "weights must be 'tuned' or 7 numbers, got 3"),
        ({"weights": (1, 1, 1, -1, 1, 1, 1)}, r"weights\[3\] must be a number at least 0 and at most 1e\+09, got -1"),
        ({"search": "greedy"}, "search must be one of 'deterministic', 'smooth', got 'greedy'"),
        ({"step": "worst"}, "step must be one of 'best', 'first', got 'worst'"),
        ({"epsilon": 0}, "epsilon must be a number above 0"),
        ({"min_support": -1}, "min_support must be an integer at least 1, got -1"),
        ({"max_candidates": 10**6}, "max_candidates must be an integer at least 1 and at most 10000, got 1000000"),
        ({"random_state": "x"}, "random_state must be None, an integer"),
    ],
)
def test_an_error_names_an_invalid_parameter(changes, message):
    X, y = table_of_letters(0)
    with pytest.raises((TypeError, ValueError), match=message):
        IDSClassifier(**changes).fit(X, y)
