import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from covers import cover_of, flags_of
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn._covered import CoveredRecords
from diverse_rule_sets.learn._limits import READING_PRICE, Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures

counts = st.lists(st.integers(0, 30), min_size=3, max_size=3)


@given(counts, counts, st.lists(st.floats(0.1, 10), min_size=3, max_size=3), st.floats(0.5, 10), st.integers(0, 5))
def test_quality_label_shares_and_evidence_equal_the_oracle(inside, outside, weights, smoothing, n_conditions):
    totals = [a + b + 1 for a, b in zip(inside, outside, strict=True)]
    measures = Measures(np.array(totals), np.array(weights), smoothing, price=0.02)
    quality, label = measures.quality(np.array([inside]), np.array([n_conditions]))
    expected, best = naive.refined_quality(inside, totals, weights, smoothing, 0.02, n_conditions)
    np.testing.assert_allclose(quality[0], expected, rtol=1e-9, atol=1e-12)
    shares = naive.weighted_shares(inside, totals, weights, smoothing)
    np.testing.assert_allclose(measures.shares(np.array(inside)), shares)
    assert shares[label[0]] == pytest.approx(shares[best])
    np.testing.assert_allclose(
        measures.evidence(np.array([inside])), [naive.evidence(inside, totals, weights)], rtol=1e-9, atol=1e-9
    )


def test_small_pure_rules_have_low_quality():
    """The quality per record is lower for three records of one class than for thirty, and the evidence is small."""
    measures = Measures(np.array([500, 500]), np.ones(2), smoothing=5.0, price=0.0)
    (small, large), _ = measures.quality(np.array([[3, 0], [30, 0]]), 1)
    assert small * 10 < large * 0.7
    assert measures.evidence(np.array([3, 0])) == pytest.approx(3 * math.log(2))


def test_rules_of_the_majority_class_have_evidence_by_weight():
    """Fifty records of a class with 90 % of all records: little evidence by count, much by balanced weight."""
    measures = Measures(np.array([900, 100]), np.array([1 / 1.8, 5.0]), smoothing=5.0, price=0.0)
    assert measures.evidence(np.array([50, 0])) == pytest.approx(50 / 1.8 * math.log(2))


def random_data(seed, n=150, n_items=12, n_classes=3):
    rng = np.random.default_rng(seed)
    items = rng.random((n, n_items)) < 0.5
    y = (items[:, 0] & items[:, 1]).astype(int) + (items[:, 2] & ~items[:, 3])
    y = np.where(rng.random(n) < 0.05, rng.integers(0, n_classes, n), y)
    y[:n_classes] = np.arange(n_classes)
    covered = items[:, 11] & (rng.random(n) < 0.2)
    columns = np.arange(n_items) // 2
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, n_classes)
    return items, y, covered, columns, backend


@pytest.mark.parametrize("max_overlap", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("min_evidence", [0.0, 1.0])
def test_local_search_equals_the_oracle(max_overlap, min_evidence):
    n_found = 0
    for seed in range(8):
        items, y, covered, columns, backend = random_data(seed)
        weights = y.size / (3 * np.bincount(y))
        measures = Measures(np.bincount(y), weights, smoothing=5.0, price=0.02)
        limits = Limits(9, max_conditions=3, max_overlap=max_overlap, min_support=4, min_recall_gain=0.01)
        local_search = LocalSearch(backend, columns, measures, limits, min_evidence)
        local_search.set_covered(CoveredRecords(backend, cover_of(backend, covered)))
        records = [frozenset(np.flatnonzero(row).tolist()) for row in items]

        def score(body, y=y, columns=columns, records=records, covered=covered, weights=weights):
            inside = sorted(naive.cover(body, records)) if body else []
            length = len({int(columns[i]) for i in body})
            shared = sum(covered[i] for i in inside)
            inner = [sum(y[i] == c for i in inside) for c in range(3)]
            totals = np.bincount(y).tolist()
            quality, label = naive.refined_quality(inner, totals, weights.tolist(), 5.0, 0.02, length)
            needed = 0.5 * min_evidence * (length * math.log(12) + 0.5 * 2 * math.log(y.size)) + READING_PRICE * y.size
            needed = needed if min_evidence else 0.0
            if (
                len(inside) < 4
                or length > 3
                or shared > max_overlap * len(inside)
                or inner[label] / totals[label] <= 0.01
                or naive.evidence(inner, totals, weights.tolist()) < needed
                or quality * (1 - shared / len(inside)) <= 0
            ):
                return None
            return quality * (1 - shared / len(inside))

        starts = [(), (0,), (4, 7), (1, 2, 3)]
        expected = {naive.climb(start, range(12), score) for start in starts}
        expected = {(body, value) for body, value in expected if value is not None}
        got = {(c.body, c.score) for c in local_search.improve(starts)}
        assert {b for b, _ in got} == {b for b, _ in expected}
        np.testing.assert_allclose(sorted(v for _, v in got), sorted(v for _, v in expected))
        n_found += len(got)
        for candidate in local_search.improve(starts):
            flags = flags_of(backend, backend.cover(candidate.body))
            assert candidate.class_counts.tolist() == np.bincount(y[flags], minlength=3).tolist()
    assert n_found >= 2


def test_redundant_items_are_dropped():
    items = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], bool)
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), np.array([0, 0, 1, 1]), 2)
    local_search = LocalSearch(
        backend, np.array([0, 0, 1]), Measures(np.array([2, 2]), np.ones(2), 1.0, 0.0), Limits(5), 0.0
    )
    assert local_search.without_redundant_items((0, 1)) == (0,)  # item 1 holds for all records of item 0
    assert local_search.n_conditions((0, 1)) == 1
