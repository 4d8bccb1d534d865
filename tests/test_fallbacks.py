import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

import naive
from covers import flags_of
from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn._fallbacks import find_fallbacks
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._measures import Measures


def some_rules(seed, n=300):
    rng = np.random.default_rng(seed)
    items = rng.random((n, 8)) < 0.5
    y = np.where(items[:, 0] & items[:, 1] | items[:, 2] & items[:, 3], 1, 0)
    y = np.where(rng.random(n) < 0.1, 1 - y, y)
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, 2)
    bodies = [(0, 1, 4), (2, 3, 5)]
    covered = backend.union(*map(backend.cover, bodies))
    measures = Measures(backend.class_totals, np.ones(2), 5.0, 0.0)
    return items, y, backend, bodies, covered, measures


def loss(bodies, shares, default_shares, records, y, uncovered):
    """Return the log loss of the uncovered records if the first body that covers a record decides."""
    total = 0.0
    for i in np.flatnonzero(uncovered):
        j = naive.first_that_holds(bodies, records[i])
        total -= np.log((shares[j] if j >= 0 else default_shares)[y[i]])
    return total


def test_fallback_rules_are_shorter_rules_and_each_improves_the_loss():
    for seed in range(5):
        items, y, backend, bodies, covered, measures = some_rules(seed)
        found = find_fallbacks(backend, np.arange(8), measures, bodies, covered, Limits(9, min_support=3), 10)
        records = [frozenset(np.flatnonzero(row).tolist()) for row in items]
        uncovered = ~flags_of(backend, covered)
        assert found
        chosen = [fallback.body for fallback in found]
        deciding = np.array([naive.first_that_holds(chosen, record) for record in records])
        for j, fallback in enumerate(found):
            assert any(set(fallback.body) < set(body) for body in bodies)
            decided = uncovered & (deciding == j)
            assert fallback.class_counts.tolist() == np.bincount(y[decided], minlength=2).tolist()
        default_shares = measures.shares(np.bincount(y[uncovered], minlength=2))
        inside = [uncovered & np.array([naive.covers(body, record) for record in records]) for body in chosen]
        shares = [measures.shares(np.bincount(y[flags], minlength=2)) for flags in inside]
        full_loss = loss(chosen, shares, default_shares, records, y, uncovered)
        assert full_loss < loss([], [], default_shares, records, y, uncovered) - 1
        for j in range(len(chosen)):
            assert inside[j].sum() >= 3
            others, other_shares = chosen[:j] + chosen[j + 1 :], shares[:j] + shares[j + 1 :]
            assert loss(others, other_shares, default_shares, records, y, uncovered) > full_loss + 0.099


def test_fallback_rules_with_fewer_dropped_conditions_come_first_then_the_most_precise():
    _, y, backend, bodies, covered, measures = some_rules(1)
    found = find_fallbacks(backend, np.arange(8), measures, bodies, covered, Limits(9), 10)
    uncovered = ~flags_of(backend, covered)
    keys = []
    for fallback in found:
        inside = uncovered & flags_of(backend, backend.cover(fallback.body))
        keys.append((3 - len(fallback.body), -measures.shares(np.bincount(y[inside], minlength=2)).max()))
    assert len(keys) > 1
    assert keys == sorted(keys)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_there_are_at_most_as_many_as_the_limit(most):
    _, _, backend, bodies, covered, measures = some_rules(2)
    assert len(find_fallbacks(backend, np.arange(8), measures, bodies, covered, Limits(9), most)) <= most


def test_there_are_none_for_rules_of_one_condition_or_without_uncovered_records():
    _, _, backend, _, _, measures = some_rules(3)
    assert find_fallbacks(backend, np.arange(8), measures, [(0,)], backend.cover((0,)), Limits(9), 5) == []
    assert find_fallbacks(backend, np.arange(8), measures, [(0, 1)], backend.everything, Limits(9), 5) == []


def test_fallback_rules_of_a_fitted_classifier():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    rule_set = clf.rule_set_
    assert 0 < len(rule_set.fallbacks) <= clf.max_fallbacks
    uncovered = ~rule_set.covers(X).any(axis=1)
    deciding = rule_set.deciding_rules(X)
    for j, fallback in enumerate(rule_set.fallbacks, len(rule_set)):
        assert any({c.column for c in fallback.conditions} < {c.column for c in rule.conditions} for rule in rule_set)
        assert (fallback.covers(X) & uncovered)[deciding == j].all()
        assert dict(fallback.class_counts) == {c: int((y[deciding == j] == c).sum()) for c in (0, 1)}
    if (deciding == -1).any():
        assert rule_set.default_counts == tuple(np.bincount(y[deciding == -1], minlength=2).tolist())
    explanations = clf.explain(X[uncovered])
    of_uncovered = pd.Series(rule_set.deciding_rules(X[uncovered]))
    assert (of_uncovered[of_uncovered >= 0] >= len(rule_set)).all()
    for reason, rule in zip(explanations["reason"], explanations["rule"], strict=True):
        if pd.isna(rule):
            assert reason == f"no rule and no fallback rule covers this record: default label {rule_set.default}"
        else:
            fallback = rule_set.fallbacks[int(rule) - 1 - len(rule_set)]
            assert reason == f"no rule covers this record; the first fallback rule that does: {fallback}"
    assert DiverseRuleSetClassifier(random_state=0, max_fallbacks=0).fit(X, y).rule_set_.fallbacks == ()


def test_fallback_rules_are_more_accurate_than_one_default_label():
    X, y = load_digits(return_X_y=True)
    scores = {}
    for most in (0, 15):
        clf = DiverseRuleSetClassifier(max_rules=5, max_fallbacks=most, random_state=0).fit(X[:500], y[:500])
        scores[most] = clf.score(X[500:], y[500:])
    assert scores[15] > scores[0] + 0.05
