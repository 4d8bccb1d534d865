import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import naive
from covers import flags_of
from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn import _learner as learner
from diverse_rule_sets.learn._constraints import UNCONSTRAINED
from diverse_rule_sets.learn._fallbacks import _shorten, find_fallbacks
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
            # Each one saves at least 3 nats: what saves less is mostly found by chance.
            assert loss(others, other_shares, default_shares, records, y, uncovered) > full_loss + 3


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


def digits():
    X, y = load_digits(return_X_y=True, as_frame=True)
    return X[:500], y[:500]


@pytest.mark.parametrize("params", [{"scorecards": None}, {"max_signs": 15}], ids=["plain", "scorecard"])
def test_fallback_rules_of_a_fitted_classifier(params, monkeypatch):
    monkeypatch.setattr(learner, "_MANY_UNCOVERED", 1.0)  # do not compare the rules with those without scorecards
    monkeypatch.setattr(learner, "_MAX_COMPARED", 0)
    X, y = digits()
    clf = DiverseRuleSetClassifier(random_state=0, max_rules=5, **params).fit(X, y)
    rule_set = clf.rule_set_
    assert 0 < len(rule_set.fallbacks) <= clf.max_fallbacks
    uncovered = ~rule_set.covers(X).any(axis=1)
    deciding = rule_set.deciding_rules(X)
    n_widened = 0
    for j, fallback in enumerate(rule_set.fallbacks, len(rule_set)):
        origins = [rule for rule in rule_set if not (rule.covers(X) & ~fallback.covers(X)).any()]
        columns = {c.column for c in fallback.conditions}
        if not any(columns < {c.column for c in rule.conditions} for rule in origins):
            (rule,) = (rule for rule in origins if columns == {c.column for c in rule.conditions})
            changed = set(fallback.conditions) - set(rule.conditions)
            assert [condition.column in X for condition in changed] == [False]  # one condition on points is wider
            n_widened += 1
        assert (fallback.covers(X) & uncovered)[deciding == j].all()
        assert dict(fallback.class_counts) == {c: int((y[deciding == j] == c).sum()) for c in rule_set.classes}
    assert bool(n_widened) == bool(rule_set.scorecards) == ("scorecards" not in params)
    assert (deciding == -1).any()
    n_classes = len(rule_set.classes)
    assert rule_set.default_counts == tuple(np.bincount(y[deciding == -1], minlength=n_classes).tolist())
    explanations = clf.explain(X[uncovered])
    of_uncovered = pd.Series(rule_set.deciding_rules(X[uncovered]))
    assert (of_uncovered[of_uncovered >= 0] >= len(rule_set)).all()
    for reason, rule in zip(explanations["reason"], explanations["rule"], strict=True):
        if pd.isna(rule):
            expected = f"no rule and no fallback rule covers this record: default label {rule_set.default}"
            tests_points = bool(rule_set.scorecards)
        else:
            fallback = rule_set.fallbacks[int(rule) - 1 - len(rule_set)]
            expected = f"no rule covers this record; the first fallback rule that does: {fallback}"
            tests_points = any(condition.column not in X for condition in fallback.conditions)
        assert reason.startswith(expected) if tests_points else reason == expected
    assert DiverseRuleSetClassifier(random_state=0, max_fallbacks=0, **params).fit(X, y).rule_set_.fallbacks == ()


def test_fallback_rules_are_more_accurate_than_one_default_label():
    X, y = load_digits(return_X_y=True)
    scores = {}
    for most in (0, 15):
        clf = DiverseRuleSetClassifier(max_rules=5, max_fallbacks=most, random_state=0).fit(X[:500], y[:500])
        scores[most] = clf.score(X[500:], y[500:])
    assert scores[15] > scores[0] + 0.05


# --- shortened rules with wider items ----------------------------------------------------------------------------


def shortened_slowly(bodies, columns, required, wider):
    """Return the bodies with columns left out or one item widened or left out, by the number of conditions dropped."""
    found = {}
    for body in bodies:
        used = sorted({columns[item] for item in body})
        for left in itertools.chain.from_iterable(itertools.combinations(used, n) for n in range(1, len(used))):
            dropped = len(used) - len(left)
            if set(required) & set(used) <= set(left):
                short = tuple(item for item in body if columns[item] in left)
                found[short] = min(dropped, found.get(short, dropped))
        for item in body:
            rest = tuple(other for other in body if other != item)
            for other in wider.get(item, ()):
                found[tuple(sorted((*rest, other)))] = 1
            if item in wider and columns[item] in {columns[other] for other in rest}:
                found[rest] = 1
    return {body: n for body, n in found.items() if body not in bodies}


@pytest.mark.parametrize("required", [(), (0,), (1, 2)])
def test_shortened_rules_with_wider_items_equal_the_slow_ones(required):
    """Items 0 to 4 are lower bounds of column 0, 5 to 9 are upper bounds, ascending; column 1 has no wider items."""
    columns = np.array([0] * 10 + [1, 1, 2, 2, 3])
    wider = {item: tuple(range(item - 1, -1, -1)) for item in range(5)}
    wider |= {item: tuple(range(item + 1, 10)) for item in range(5, 10)}
    n_widened = n_sides = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        bodies = []
        for _ in range(3):
            body = set(rng.choice(np.arange(10, 15), rng.integers(0, 4), replace=False).tolist())
            body |= {int(rng.integers(5))} if rng.random() < 0.6 else set()
            body |= {int(rng.integers(5, 10))} if rng.random() < 0.6 else set()
            body |= {next(iter(np.flatnonzero(columns == j).tolist())) for j in required}
            bodies.append(tuple(sorted(body)))
        bodies = [body for body in bodies if body]
        found = _shorten(bodies, columns, required, wider)
        assert found == shortened_slowly(bodies, columns.tolist(), required, wider)
        for body, n in found.items():
            assert set(required) <= {int(columns[item]) for item in body}
            origins = [one for one in bodies if not set(body) < set(one)]
            n_widened += n == 1 and len(origins) == len(bodies)
            n_sides += any(
                len(one) == len(body) + 1 and set(columns[list(one)]) == set(columns[list(body)]) for one in bodies
            )
        without = _shorten(bodies, columns, required)
        assert set(without) <= set(found)
        assert all(found[body] <= n for body, n in without.items())
        assert without == shortened_slowly(bodies, columns.tolist(), required, {})
    assert n_widened > 50
    assert n_sides > 10


def test_a_fallback_rule_may_have_a_wider_item():
    """The label is 1 from 5 on; the rule requires 8, so the fallback rule with 5 decides for the records between."""
    values = np.repeat(np.arange(10), 20)
    items = np.array([values >= bound for bound in range(1, 10)])
    y = (values >= 5).astype(int)
    backend = LocalBackend(bitset.pack(items), y, 2)
    measures = Measures(backend.class_totals, np.ones(2), 5.0, 0.0)
    wider = {item: tuple(range(item - 1, -1, -1)) for item in range(9)}
    rule = (7,)  # values >= 8
    arguments = backend, np.zeros(9, np.int64), measures, [rule], backend.cover(rule), Limits(9), 15, UNCONSTRAINED
    assert find_fallbacks(*arguments) == []
    (fallback,) = find_fallbacks(*arguments, wider)
    assert (fallback.body, fallback.label, fallback.class_counts.tolist()) == ((4,), 1, [0, 60])
