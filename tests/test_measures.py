import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from diverse_rule_sets.learn._measures import jaccard_distance, quality

covers = st.frozensets(st.integers(0, 12))


def distance(a, b):
    return float(jaccard_distance(np.int64(len(a & b)), np.int64(len(a)), np.int64(len(b))))


@given(covers, covers, covers)
def test_distance_is_a_metric_and_equals_the_oracle(a, b, c):
    for one, other in itertools.product((a, b, c), repeat=2):
        assert distance(one, other) == naive.jaccard_distance(one, other)
        assert distance(one, other) == distance(other, one)
        assert (distance(one, other) == 0) == (one == other)
    assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1), st.integers(0, 2))
def test_quality_equals_the_oracle(records, label):
    y = [c for c, _ in records]
    items = [frozenset({0} if inside else ()) for _, inside in records]
    counts = np.array([[sum(c == k and inside for c, inside in records) for k in range(3)]])
    totals = np.array([y.count(k) for k in range(3)])
    got = quality(counts, np.array([label]), totals)[0]
    np.testing.assert_allclose(got, naive.quality(((0,), label), items, y), rtol=1e-12, atol=1e-12)


def test_the_quality_of_a_rule_as_precise_as_the_prior_is_zero():
    # 3 of 9 covered records and 10 of all 30 have the label: equal shares that differ in floating point.
    assert quality(np.array([[3, 6, 0]]), np.array([0]), np.array([10, 10, 10]))[0] == 0.0
    assert quality(np.array([[0, 0, 0]]), np.array([0]), np.array([10, 10, 10]))[0] == 0.0
