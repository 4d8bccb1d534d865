import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import naive
from diverse_rule_sets import Interval, Rule, RuleSet, metrics


def make(bounds, labels):
    """Rules low < x0 <= low + 3 on the numbers 0..11."""
    rules = tuple(Rule((Interval("x0", low, low + 3),), label) for low, label in zip(bounds, labels, strict=True))
    return RuleSet(rules, (0, 1), 0, (6, 6), (0, 0))


X = np.arange(12.0)[:, None]
y = [0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 0]


@given(st.lists(st.tuples(st.integers(-5, 12), st.integers(0, 1)), max_size=5), st.floats(0, 3))
def test_metrics_equal_the_oracle(specs, lambda_):
    rule_set = make([low for low, _ in specs], [label for _, label in specs])
    covers = [frozenset(i for i in range(12) if low < i <= low + 3) for low, _ in specs]
    depth = [sum(i in cover for cover in covers) for i in range(12)]
    assert metrics.overlap(rule_set, X) == sum(d > 1 for d in depth)
    assert metrics.overlap_share(rule_set, X) == sum(d > 1 for d in depth) / 12
    np.testing.assert_allclose(metrics.coverage(rule_set, X), sum(d > 0 for d in depth) / 12)
    pairs = list(itertools.combinations(covers, 2))
    expected = naive.dispersion(covers) / len(pairs) if pairs else 1.0
    np.testing.assert_allclose(metrics.diversity(rule_set, X), expected)
    records = [frozenset(k for k, cover in enumerate(covers) if i in cover) for i in range(12)]
    value = naive.objective([((k,), label) for k, (_, label) in enumerate(specs)], records, y, lambda_)
    np.testing.assert_allclose(metrics.objective(rule_set, X, y, lambda_=lambda_), value, atol=1e-12)


def test_mean_conditions():
    assert metrics.mean_conditions(make([], [])) == 0
    two = Rule((Interval("x0", 1), Interval("x1", 1)), 0)
    assert metrics.mean_conditions(RuleSet((two, make([1], [0])[0]), (0, 1), 0, (1, 1), (0, 0))) == 1.5
