import itertools
import tracemalloc

import numpy as np
import pytest

import naive
from covers import cover_of, flags_of
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._paper_search import search
from diverse_rule_sets.learn._selection import SearchSettings
from diverse_rule_sets.learn.samplers import RejectionSampler


def random_data(seed, n=60, n_items=9, n_classes=3):
    rng = np.random.default_rng(seed)
    items = rng.random((n, n_items)) < 0.45
    y = (items[:, 0].astype(int) + (items[:, 1] & items[:, 2]) + (rng.random(n) < 0.1)) % n_classes
    y[:n_classes] = np.arange(n_classes)
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, n_classes)
    return items, y, backend


def settings(**changes):
    """Return the settings of these tests; changes are limits or other settings, by name."""
    limits = {"max_rules": 12, "min_recall_gain": 0.02}
    limits |= {name: changes.pop(name) for name in Limits._fields if name in changes}
    values = {"n_candidates": 12, "diversity": "strict", "second_pass": True, "limits": Limits(**limits)}
    return SearchSettings(**(values | changes))


def run(backend, seed=0, columns=None, **changes):
    calls = []
    found = search(
        backend,
        RejectionSampler(backend),
        np.arange(backend.n_items) if columns is None else columns,
        settings(**changes),
        np.random.default_rng(seed),
        lambda *arguments: calls.append(arguments),
    )
    return found, calls


@pytest.mark.parametrize("second_pass", [False, True])
@pytest.mark.parametrize("diversity", ["strict", "permissive", "none"])
def test_the_search_equals_algorithm_2(diversity, second_pass):
    """With the same candidates, the oracle (Algorithm 2 literally) returns the same rules in the same order."""
    lengths = []
    for seed in range(12):
        items, y, backend = random_data(seed, n=90, n_items=14)
        rng, sampler = np.random.default_rng(seed), RejectionSampler(backend)

        def draw(label, covered, rng=rng, sampler=sampler, n=y.size, backend=backend):
            flags = np.isin(np.arange(n), list(covered))
            return list(sampler.draw(label, 12, cover_of(backend, flags), rng).tuples())

        records = [frozenset(np.flatnonzero(row).tolist()) for row in items]
        expected, lambda_ = naive.diverse_rule_set(draw, records, y.tolist(), 3, 12, 0.02, diversity, second_pass)
        found, _ = run(backend, seed, diversity=diversity, second_pass=second_pass)
        assert [(step.body, step.label) for step in found.steps] == expected
        np.testing.assert_allclose(found.lambda_, lambda_)
        lengths.append(len(expected))
        np.testing.assert_allclose(found.objective, naive.objective(expected, records, y.tolist(), lambda_))
    assert max(lengths) > 8


def test_measures_of_each_step():
    items, y, backend = random_data(1)
    records = [frozenset(np.flatnonzero(row).tolist()) for row in items]
    found, calls = run(backend)
    covered = set()
    for step, before in zip(found.steps, range(len(found.steps)), strict=True):
        cover = naive.cover(step.body, records)
        earlier = [naive.cover(s.body, records) for s in found.steps[:before]]
        np.testing.assert_allclose(step.distance_gain, sum(naive.jaccard_distance(cover, c) for c in earlier))
        np.testing.assert_allclose(step.quality, naive.quality((step.body, step.label), records, y.tolist()))
        np.testing.assert_allclose(
            step.recall_gain, sum(y[i] == step.label for i in cover - covered) / (y == step.label).sum()
        )
        assert step.class_counts.tolist() == [sum(y[i] == c for i in cover) for c in range(3)]
        covered |= cover
    assert set(np.flatnonzero(flags_of(backend, found.covered))) == covered
    assert {stage for stage, _, _ in calls} == {"first pass", "second pass"}


def test_the_second_pass_never_lowers_the_objective():
    better = 0
    for seed in range(30):
        _, _, backend = random_data(seed)
        first, _ = run(backend, seed, second_pass=False)
        both, _ = run(backend, seed)
        assert len(both.steps) == len(first.steps)
        assert both.objective >= first.objective
        assert both.pass_ == 1 + (both.objective > first.objective)
        better += both.objective > first.objective
    assert better > 10


def test_limits():
    _, _, backend = random_data(2)
    assert len(run(backend, max_rules=2)[0].steps) == 2
    assert run(backend, max_rules=0)[0].steps == []
    assert run(backend, min_recall_gain=1.0)[0].steps == []
    for step in run(backend, min_recall_gain=0.2, second_pass=False)[0].steps:
        assert step.recall_gain > 0.2


@pytest.mark.parametrize("second_pass", [False, True])
@pytest.mark.parametrize(
    ("limit", "is_within"),
    [
        ({"max_conditions": 2}, lambda body, cover, covered: len(body) <= 2),
        ({"min_support": 15}, lambda body, cover, covered: len(cover) >= 15),
        ({"max_overlap": 0.2}, lambda body, cover, covered: len(cover & covered) <= 0.2 * len(cover)),
        ({"max_overlap": 0.0}, lambda body, cover, covered: not cover & covered),
    ],
)
def test_limits_of_single_rules(limit, is_within, second_pass):
    """Both passes respect the limits, and rules exceed them without the limit."""
    within = {True: [], False: []}
    for seed, limited in itertools.product(range(8), within):
        items, _, backend = random_data(seed)
        records = [frozenset(np.flatnonzero(row).tolist()) for row in items]
        covered = frozenset()
        limits = limit if limited else {}
        for step in run(backend, seed, diversity="none", second_pass=second_pass, **limits)[0].steps:
            cover = naive.cover(step.body, records)
            within[limited].append(is_within(step.body, cover, covered))
            covered |= cover
    assert all(within[True])
    assert len(within[True]) > 8
    assert not all(within[False])


def test_items_of_one_column_count_as_one_condition():
    _, _, backend = random_data(2)
    single = run(backend, max_conditions=1)[0].steps
    assert {len(step.body) for step in single} == {1}
    pairs = np.arange(backend.n_items) // 3
    bodies = [step.body for step in run(backend, columns=pairs, max_conditions=1)[0].steps]
    assert all(len(set(pairs[list(body)])) == 1 for body in bodies)
    assert max(map(len, bodies)) > 1


def test_diversity_as_a_number_is_lambda():
    _, _, backend = random_data(3)
    assert run(backend, diversity=2.5)[0].lambda_ == 2.5
    bodies = [[step.body for step in run(backend, diversity=weight)[0].steps] for weight in (2.5, 0.0)]
    assert bodies[0] != bodies[1]


def test_no_items_gives_no_rules():
    backend = LocalBackend(np.zeros((0, 1), np.uint64), np.array([0, 1, 0]), 2)
    found, _ = run(backend)
    assert (found.steps, found.lambda_, found.objective) == ([], 0.0, 0.0)


def test_memory_does_not_grow_with_the_number_of_classes():
    """The memory of a candidate does not depend on the number of classes."""
    items, _, _ = random_data(0, n=400, n_items=30)
    y = np.arange(400) % 100
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, 100)
    tracemalloc.start()
    run(backend, n_candidates=100, max_rules=10, min_recall_gain=0.0, second_pass=False)
    first = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    run(backend, n_candidates=100, max_rules=10, min_recall_gain=0.0)
    both = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_candidates = 100 * 100 * 10
    assert first < 3e6
    assert both < n_candidates * 300  # class counts alone would be 800 bytes each
