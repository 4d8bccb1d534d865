import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from diverse_rule_sets.learn import _diversify as diversify


def random_pool(seed, n):
    """Return qualities, and Jaccard distances between random covers, many of them equal or similar."""
    rng = np.random.default_rng(seed)
    covers = [frozenset(np.flatnonzero(rng.random(15) < rng.choice([0.1, 0.3, 0.6])).tolist()) for _ in range(n)]
    covers += covers[: n // 4]
    qualities = rng.choice([0.0, 1.0, rng.random(), 5 * rng.random()], len(covers))
    distance = np.array([[naive.jaccard_distance(a, b) for b in covers] for a in covers])
    return qualities, distance


def run(qualities, distance, lambda_, k):
    return diversify.greedy(qualities, lambda_, k, lambda some, others: distance[np.ix_(some, others)])


@pytest.mark.parametrize("batch", [1, 3, 512])
@pytest.mark.parametrize("lambda_", [0.0, 0.3, 4.0])
def test_the_lazy_greedy_equals_the_eager_one(lambda_, batch, monkeypatch):
    monkeypatch.setattr(diversify, "_BATCH", batch)
    for seed in range(40):
        qualities, distance = random_pool(seed, 20)
        choice = run(qualities, distance, lambda_, 8)
        assert choice.chosen == naive.greedy(qualities.tolist(), distance.tolist(), lambda_, 8)
        value = diversify.objective(qualities[choice.chosen], np.array(choice.distance_gains), lambda_)
        np.testing.assert_allclose(value, naive.value(choice.chosen, qualities, distance, lambda_))


@given(st.integers(0, 10_000), st.integers(1, 5), st.floats(0, 10))
def test_the_greedy_reaches_at_least_half_of_the_optimum(seed, k, lambda_):
    qualities, distance = random_pool(seed, 7)
    chosen = run(qualities, distance, lambda_, k).chosen
    assert len(set(chosen)) == k
    best = naive.best_value(qualities, distance, lambda_, k)
    assert naive.value(chosen, qualities, distance, lambda_) >= best / 2 - 1e-9


def test_few_distances_are_computed():
    """Candidates of low quality need no distance while better ones are left."""
    rng = np.random.default_rng(0)
    n = 20_000
    n_computed = 0

    def distances(some, others):
        nonlocal n_computed
        n_computed += len(some) * len(others)
        return np.ones((len(some), len(others)))

    diversify.greedy(rng.pareto(1.5, n), 5.0, 20, distances)
    assert n_computed < n * 20 / 5


def test_k_above_the_number_of_candidates_gives_all_candidates():
    qualities, distance = random_pool(0, 4)
    assert sorted(run(qualities, distance, 1.0, 99).chosen) == list(range(qualities.size))


@pytest.mark.parametrize("batch", [1, 3, 512])
def test_the_next_candidate_equals_that_of_the_eager_greedy(batch, monkeypatch):
    monkeypatch.setattr(diversify, "_SMALL_BATCH", batch)
    for seed in range(60):
        qualities, distance = random_pool(seed, 20)
        chosen = list(range(seed % 6))
        lambda_ = [0.0, 0.3, 4.0][seed % 3]
        sums = distance[:, chosen].sum(axis=1)
        scores = 0.5 * qualities + lambda_ * sums
        best = int(np.argmax(scores))
        arguments = (qualities, lambda_, len(chosen), lambda some, sums=sums: sums[some])
        assert diversify.best_candidate(*arguments) == (best, scores[best], sums[best])
        assert diversify.best_candidate(*arguments, scores[best] - 0.01) == (best, scores[best], sums[best])
        assert diversify.best_candidate(*arguments, scores[best]) is None


def test_row_sums_add_from_left_to_right():
    distances = np.random.default_rng(0).random((50, 30))
    expected = np.zeros(50)
    for column in distances.T:
        expected += column
    np.testing.assert_array_equal(diversify.row_sums(distances), expected)
    assert diversify.row_sums(np.zeros((3, 0))).tolist() == [0, 0, 0]
