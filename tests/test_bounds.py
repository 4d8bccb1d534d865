"""Parameters that drive memory and time have upper bounds, and large values are processed in blocks."""

import tracemalloc
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, sample_rules
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.data._cut_points import Target, supervised_cuts
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.estimators import _cn2
from diverse_rule_sets.learn import _selection
from diverse_rule_sets.learn.samplers import _enumeration, _rejection
from tests import naive

RNG = np.random.default_rng(0)
X = RNG.random((150, 6)).round(1)
Y = (X[:, 0] + X[:, 1] > 1) ^ (RNG.random(150) < 0.1)
HUGE = 10**9
SEARCH = (DiverseRuleSetClassifier, DRSClassifier)
BASELINES = (CBAClassifier, CN2Classifier, IDSClassifier)


@pytest.mark.parametrize(
    ("kinds", "name", "high"),
    [
        ((*SEARCH, *BASELINES), "max_rules", "10000"),
        ((*SEARCH, *BASELINES), "max_conditions", "10000"),
        ((*SEARCH, *BASELINES), "n_jobs", "1000"),
        ((DiverseRuleSetClassifier,), "max_fallbacks", "10000"),
        ((DRSClassifier,), "n_candidates", "100,000"),
        ((DRSClassifier, *BASELINES), "n_bins", "1000"),
        ((CBAClassifier,), "max_candidates", "10,000,000"),
        ((IDSClassifier,), "max_candidates", "10000"),
        ((CN2Classifier,), "beam_width", "1000"),
    ],
)
def test_a_value_above_the_bound_is_an_error_that_names_the_bound(kinds, name, high):
    for kind in kinds:
        with pytest.raises(ValueError, match=f"^{name} must be an integer .*at most {high}, got {HUGE}$"):
            kind(**{name: HUGE}).fit(X, Y)


@pytest.mark.parametrize("kind", [*SEARCH, *BASELINES])
@pytest.mark.parametrize("name", ["max_rules", "max_conditions", "n_bins", "beam_width", "max_fallbacks", "n_jobs"])
def test_the_largest_value_is_as_good_as_no_bound(kind, name):
    """And takes no memory of its own."""
    if name not in kind().get_params():
        return
    check = kind._parameter_checks[name]
    high = int(getattr(getattr(check, "check", check), "high", 1000))
    kind(**{name: high}).fit(X[:40], Y[:40])
    tracemalloc.start()
    kind(**{name: high}).fit(X[:40], Y[:40])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize("name", ["min_support", "min_covered"])
def test_a_support_above_the_number_of_records_gives_no_rules(name):
    for kind in (*SEARCH, CN2Classifier):
        if name in kind().get_params():
            clf = kind(**{name: 10**30})
            message = "rules may not find them|no rule was found within"
            with pytest.warns(UserWarning, match=message) if kind in SEARCH else nullcontext():
                clf.fit(X, Y)
            assert len(clf.rule_set_) == 0


def test_too_many_edges_are_an_error():
    clf = DiverseRuleSetClassifier(binning={"x0": np.linspace(0, 1, 2000)})
    with pytest.raises(ValueError, match="binning gives 2,000 edges for the column 'x0', expected at most 1000"):
        clf.fit(X, Y)
    DiverseRuleSetClassifier(binning={"x0": np.linspace(0, 1, 1000)}, max_rules=1).fit(X, Y)


def test_mining_tries_no_more_conditions_than_there_are_columns():
    tried = []

    class Spy(CBAClassifier):
        def _mine_at(self, items, support, longest, report):
            tried.append(longest)
            return super()._mine_at(items, support, longest, report)

    few = X[:, :2]
    Spy(max_conditions=5000, max_candidates=3).fit(few, Y)
    assert max(tried) == 2
    assert len(tried) < 20


def test_the_beam_is_extended_in_blocks_with_the_same_result(monkeypatch):
    expected = CN2Classifier(beam_width=50).fit(X, Y).rule_set_
    monkeypatch.setattr(_cn2, "_MAX_COUNTS", 7 * 3 * 30)
    sizes = []
    extend = LocalBackend.extension_counts
    monkeypatch.setattr(
        LocalBackend,
        "extension_counts",
        lambda self, bodies, cover: sizes.append(len(bodies)) or extend(self, bodies, cover),
    )
    assert CN2Classifier(beam_width=50).fit(X, Y).rule_set_ == expected
    assert 1 < max(sizes) <= 30


def test_the_candidates_of_the_second_pass_are_bounded(monkeypatch):
    clf = DRSClassifier(random_state=0, n_candidates=200)
    clf.fit(X, Y)
    monkeypatch.setattr(_selection, "_MAX_MEMBERS", 1000)
    with pytest.raises(MemoryError, match=r"over 1,000 items; lower n_candidates or max_rules.*second_pass=False"):
        clf.fit(X, Y)
    clf.set_params(second_pass=False).fit(X, Y)


def test_many_bodies_are_drawn_in_blocks(monkeypatch):
    items, y = RNG.random((60, 12)) < 0.5, np.arange(60) % 2
    expected = sample_rules(items, y, 1, n=500, random_state=0)
    sizes = []
    draw = _rejection._Positives.draw
    monkeypatch.setattr(
        _rejection._Positives, "draw", lambda self, backend, n, rng: sizes.append(n) or draw(self, backend, n, rng)
    )
    assert sample_rules(items, y, 1, n=500, random_state=0) == expected
    monkeypatch.setattr(_rejection, "_MAX_CELLS", 12 * 100)
    sizes.clear()
    bodies = sample_rules(items, y, 1, n=5000, random_state=0)
    assert len(bodies) == 5000
    assert max(sizes) == 100
    whole = np.mean([len(body) for body in expected])
    assert abs(np.mean([len(body) for body in bodies]) - whole) < 0.3


def test_the_number_of_bodies_is_bounded():
    with pytest.raises(ValueError, match=f"n must be an integer at least 0 and at most 1,000,000, got {HUGE}"):
        sample_rules([[1, 0], [0, 1]], [0, 1], 1, n=HUGE)


def test_enumeration_checks_the_size_of_the_table_first(monkeypatch):
    items, y = RNG.random((300, 8)) < 0.5, np.arange(300) % 2
    monkeypatch.setattr(_enumeration, "_MAX_BITS", 2000)

    def fail(*_):
        raise AssertionError("a table of all records")

    monkeypatch.setattr(LocalBackend, "distinct", fail)
    message = r"^300 records x 8 items are too many to find the distinct records; .*use method=\"rejection\"$"
    with pytest.raises(ValueError, match=message):
        sample_rules(items, y, 1, n=5, method="enumeration")
    # The rejection sampler, which enumerates if nearly all bodies are rejected, returns fewer bodies.
    same = np.ones((300, 8), np.bool_)
    assert sample_rules(same, y, 1, n=5, random_state=0) == []


def test_enumeration_of_a_large_table_takes_no_memory():
    n_records = 100_000
    rows = bitset.pack(np.ones((1, n_records), np.bool_))
    backend = LocalBackend(np.broadcast_to(rows, (6000, rows.shape[1])), np.arange(n_records) % 2, 2)
    sampler = _enumeration.EnumerationSampler(backend)
    tracemalloc.start()
    with pytest.raises(_enumeration.TooManyTuplesError, match="100,000 records x 6,000 items"):
        sampler.draw(1, 5, backend.nothing, np.random.default_rng(0))
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("strength", [0.0, 0.3, 0.8])
def test_cut_points_are_the_splits_of_a_tree_with_enough_evidence_or_the_best_four(n_classes, strength):
    ranks = RNG.integers(0, 40, 500)
    y = np.where(RNG.random(500) < strength, ranks * n_classes // 40, RNG.integers(0, n_classes, 500))
    weights = 500 / (n_classes * np.bincount(y))
    tree = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=12, min_weight_fraction_leaf=0.002, random_state=5
    )
    tree.fit(ranks[:, None], y, sample_weight=weights[y])
    inside = tree.decision_path(ranks[:, None]).toarray().astype(bool)
    gains = {}
    for node in np.flatnonzero(tree.tree_.feature >= 0):
        children = tree.tree_.children_left[node], tree.tree_.children_right[node]
        parts = [naive.log_likelihood(y[inside[:, one]], weights) for one in (*children, node)]
        gains[np.ceil(tree.tree_.threshold[node])] = parts[0] + parts[1] - parts[2]
    best = sorted(gains.values(), reverse=True)
    expected = sorted(cut for cut, gain in gains.items() if gain >= 4 or gain >= best[:4][-1])
    np.testing.assert_array_equal(supervised_cuts(ranks, 40, Target(y, weights), 11), expected)
    if strength == 0.0:
        assert len(expected) < 11
    if strength == 0.8:
        assert any(gain >= 4 for gain in gains.values())


def test_columns_have_more_cut_points_in_larger_tables():
    found = []
    for n in (100, 1000, 10_000, 100_000):
        ranks = RNG.integers(0, 1000, n)
        y = (RNG.random(n) < ranks / 1000).astype(np.int64)
        found.append(supervised_cuts(ranks, 1000, Target(y, n / (2.0 * np.bincount(y))), 19).size)
    assert found == sorted(found)
    assert found[0] <= 6
    assert found[-1] >= 8
