"""The distribution of the samplers, compared by chi-square with the oracle's enumeration of all bodies."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

import naive
from diverse_rule_sets import sample_rules
from diverse_rule_sets.learn.samplers import _enumeration

N_TABLES = 80


def random_table(seed):
    """Return a small random table with one of several special cases."""
    rng = np.random.default_rng(seed)
    n, n_items = int(rng.integers(3, 14)), int(rng.integers(2, 7))
    items = rng.random((n, n_items)) < rng.choice([0.3, 0.5, 0.8])
    y = rng.random(n) < 0.5
    y[0] = True
    covered = rng.random(n) < 0.3
    shape = seed % 6
    if shape == 0:  # duplicates
        items[n // 2 :] = items[: n - n // 2]
    elif shape == 1:  # records contained in one another
        items[1:] &= items[:1]
    elif shape == 2:  # no negatives
        y[:] = True
    elif shape == 3:  # nothing covered
        covered[:] = False
    elif shape == 4:  # everything covered but one record
        covered[1:] = True
        covered[0] = False
    return items, y, covered


def as_records(items):
    return [frozenset(np.flatnonzero(row).tolist()) for row in items]


def p_value(drawn, expected):
    """Return the p-value of a chi-square test; bodies expected fewer than five times are one cell."""
    counts = Counter(drawn)
    assert set(counts) <= set(expected), "a body of probability 0 was drawn"
    n = len(drawn)
    common = [body for body, p in expected.items() if p * n >= 5]
    rest = 1 - sum(expected[body] for body in common)
    observed = [counts[body] for body in common] + [n - sum(counts[body] for body in common)]
    theory = [n * expected[body] for body in common] + [n * rest]
    if theory[-1] < 1e-9:
        observed, theory = observed[:-1], theory[:-1]
    return stats.chisquare(observed, np.array(theory) * sum(observed) / sum(theory)).pvalue if len(theory) > 1 else 1.0


@pytest.mark.parametrize("alpha", [1.0, 0.4])
@pytest.mark.parametrize("measure", ["pairs", "triples"])
@pytest.mark.parametrize(("method", "n"), [("rejection", 4000), ("enumeration", 1000)])
def test_bodies_have_the_specified_distribution(method, n, measure, alpha):
    p_values = []
    for seed in range(N_TABLES):
        items, y, covered = random_table(seed)
        expected = naive.law(as_records(items), y, True, covered, measure, alpha)
        drawn = sample_rules(
            items,
            y,
            True,
            n=n,
            covered=covered,
            measure=measure,
            method=method,
            length_odds=alpha,
            random_state=1000 + seed,
        )
        if not expected:
            assert drawn == []
            continue
        assert len(drawn) == n
        p_values.append(p_value(drawn, expected))
    assert len(p_values) >= 50
    assert min(p_values) > 1e-4
    spread = [p for p in p_values if p < 1.0]
    assert stats.kstest(spread, "uniform").pvalue > 1e-3, "the p-values themselves are not uniform"


def test_a_wrong_distribution_is_detected():
    """The same chi-square test rejects another alpha, the other measure, and the paper's Algorithm 1 for triples."""
    items = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1]], bool)
    y, covered = np.array([True, True, False, False]), np.array([False, False, False, True])
    records = as_records(items)
    drawn = sample_rules(items, y, True, n=4000, covered=covered, measure="triples", random_state=0)
    assert p_value(drawn, naive.law(records, y, True, covered, "triples", 1.0)) > 1e-3
    assert p_value(drawn, naive.law(records, y, True, covered, "triples", 0.7)) < 1e-6
    assert p_value(drawn, naive.law(records, y, True, covered, "pairs", 1.0)) < 1e-6
    # {0, 1} excludes x- = {0, 2} by item 1 and xu = {1, 2} by item 0; Algorithm 1 never returns it, as each item of
    # x+ = {0, 1} is in one of the two.
    assert (0, 1) in drawn


@pytest.mark.parametrize("measure", ["pairs", "triples"])
@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_weights_of_tuples_equal_the_oracle(measure, alpha):
    """The weight of each tuple is the total weight of its bodies."""
    for seed in range(20):
        items, y, covered = random_table(seed)
        sampler = _enumeration.EnumerationSampler(None, measure, alpha)
        plus = items[y & ~covered]
        groups = [items[~(y & ~covered)]] if measure == "pairs" else [items[~y & ~covered], items[covered]]
        groups = [group for group in groups if len(group)]
        if not len(plus):
            continue
        got = sampler._weights(plus, groups) * (1 + alpha) ** plus.sum(axis=1).max()
        for index in np.ndindex(*got.shape):
            own = frozenset(np.flatnonzero(plus[index[0]]).tolist())
            others = [frozenset(np.flatnonzero(g[i]).tolist()) for g, i in zip(groups, index[1:], strict=True)]
            bodies = (b for b in naive.law([own], [1], 1, [False], "pairs", 1.0))
            total = sum(alpha ** len(b) for b in bodies if not any(naive.covers(b, o) for o in others))
            np.testing.assert_allclose(got[index], total, atol=1e-9)


def test_no_body_is_drawn_if_none_has_a_positive_probability():
    items = np.ones((4, 3), bool)
    for method in ("rejection", "enumeration"):
        # Every positive record is contained in every other one.
        assert sample_rules(items, [1, 1, 0, 0], 1, n=10, method=method, random_state=0) == []
        # All records are covered; no record has the label; there are no items; n is 0.
        assert sample_rules(items, [1, 1, 0, 0], 1, n=10, method=method, covered=np.ones(4), random_state=0) == []
        assert sample_rules(items, [1, 1, 0, 0], 2, n=10, method=method, random_state=0) == []
        assert sample_rules(np.zeros((4, 0)), [1, 1, 0, 0], 1, n=10, method=method, random_state=0) == []
        assert sample_rules(items, [1, 1, 0, 0], 1, n=0, method=method, random_state=0) == []


@pytest.mark.parametrize("alpha", [0.1, 0.4, 1.0, 2.0])
@pytest.mark.parametrize("method", ["rejection", "enumeration"])
def test_one_covered_record_can_exclude_all_bodies(method, alpha):
    """Rounding must not give tuples without bodies a positive weight."""
    for seed in range(60):
        items, y, covered = random_table(seed)
        items = np.vstack([items, np.ones_like(items[:1])])  # contains every other record
        arguments = {"covered": np.append(np.zeros_like(covered), True), "measure": "triples", "length_odds": alpha}
        drawn = sample_rules(items, np.append(y, False), True, n=5, method=method, random_state=0, **arguments)
        assert drawn == []


def test_tiny_length_odds_give_bodies_of_one_item():
    rng = np.random.default_rng(0)
    items, y = rng.random((6000, 30)) < 0.5, np.arange(6000) % 2
    drawn = sample_rules(items, y, 1, n=1000, length_odds=1e-20, random_state=0)
    assert [len(body) for body in drawn] == [1] * 1000
    assert sample_rules([[1, 0], [0, 1]], [1, 0], 1, n=3, length_odds=1e-20, method="enumeration") == [(0,)] * 3


def test_bodies_of_tiny_acceptance_probability_are_found():
    """Only one of 20,000 other records can be excluded: nearly all proposals are rejected."""
    items = np.ones((20_001, 2), bool)
    items[-1, 0] = False
    y = np.arange(20_001) == 0
    drawn = sample_rules(items, y, True, n=50, random_state=0)
    assert len(drawn) == 50
    assert set(drawn) == {(0,), (0, 1)}


def test_wide_records_do_not_overflow():
    rng = np.random.default_rng(0)
    items = rng.random((30, 5000)) < 0.5
    y = np.arange(30) % 2
    for measure in ("pairs", "triples"):
        for method in ("rejection", "enumeration"):
            drawn = sample_rules(
                items, y, 1, n=20, covered=np.arange(30) % 5 == 0, measure=measure, method=method, random_state=0
            )
            assert len(drawn) == 20
    short = sample_rules(items, y, 1, n=200, length_odds=0.001, random_state=0)
    assert 1 <= np.mean([len(body) for body in short]) < 8


def test_bodies_are_sorted_tuples_of_ints_and_depend_on_the_seed_only():
    items, y, covered = random_table(3)
    for method in ("rejection", "enumeration"):
        drawn = sample_rules(items, y, True, n=30, covered=covered, method=method, random_state=5)
        assert all(type(i) is int for body in drawn for i in body)
        assert all(list(body) == sorted(set(body)) for body in drawn)
        assert drawn == sample_rules(items, y, True, n=30, covered=covered, method=method, random_state=5)
        again = sample_rules(
            items, y, True, n=30, covered=covered, method=method, random_state=np.random.default_rng(5)
        )
        assert drawn == again


def test_too_many_tuples_to_enumerate_raises_an_error():
    rng = np.random.default_rng(0)
    items = rng.random((6000, 30)) < 0.5
    with pytest.raises(ValueError, match='use method="rejection"'):
        sample_rules(items, np.arange(6000) % 2, 1, n=1, method="enumeration")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": [[2, 0]]}, "items must be a boolean array"),
        ({"items": [1, 0]}, "items must be a boolean array"),
        ({"y": [1, 0]}, "y must have one label per record"),
        ({"n": -1}, "n must be an integer at least 0 and at most 1,000,000, got -1"),
        ({"length_odds": 0}, "length_odds must be a number above 0 and at most 1e.06, got 0"),
        ({"measure": "quads"}, "measure must be one of 'pairs', 'triples', got 'quads'"),
        ({"method": "magic"}, "method must be one of 'rejection', 'enumeration', got 'magic'"),
        ({"covered": [1, 0]}, "covered must be a boolean array of shape"),
        ({"random_state": "x"}, "random_state must be"),
    ],
)
def test_errors_name_the_argument_and_the_value(change, message):
    arguments = {"items": [[1, 0]], "y": [1], "label": 1, "n": 1} | change
    with pytest.raises(ValueError, match=message):
        sample_rules(**arguments)
