"""Exceptions and refits: which changes of single rules are found, and what they bring in a fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

import naive
from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets.learn import _exceptions
from diverse_rule_sets.learn._exceptions import Exceptions
from diverse_rule_sets.learn._limits import READING_PRICE
from diverse_rule_sets.learn._refitting import Refits
from random_rules import EVIDENCE, PRICE, SMOOTHING, N, Setting

SETTINGS = [{}, {"missing": 0.2}, {"min_support": 12, "max_conditions": 2}, {"required": (0,), "n_rules": 3}]


def changes_of(setting, rules=None):
    """Return the exceptions of each rule, by position."""
    found = {}
    for change in Exceptions(setting.encoder.opposites).changes(setting.rules() if rules is None else rules):
        (j,) = change.removed
        assert change.phase == "exceptions"
        found.setdefault(j, []).append(change.bodies)
    return found


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_the_parts_of_an_exception_divide_the_records_of_the_rule(params):
    n_found = 0
    for seed in range(8):
        setting = Setting(seed, max_rules=30, **params)
        for j, found in changes_of(setting).items():
            body = setting.bodies[j]
            for parts in found:
                covers = [setting.cover(part) for part in parts]
                union = frozenset().union(*covers)
                assert sum(map(len, covers)) == len(union)
                left = setting.cover(body) - union
                assert union <= setting.cover(body)
                used = {setting.columns[item] for part in parts for item in part}
                columns = [list(setting.X)[column] for column in used]
                assert setting.X.iloc[sorted(left)][columns].isna().any(axis=1).all()
                assert min(map(len, covers)) >= setting.limits.min_support
                assert max(map(setting.length, parts)) <= setting.limits.max_conditions
                assert setting.label(parts[0]) != setting.label(body)
                assert len(covers) == 3
                assert "missing" in params or not left
                n_found += 1
    assert n_found > 5


def expected_exceptions(setting, body):
    """Return the worth and the covers of the best exception with each first condition, if it is worth its price."""
    limits = setting.limits
    every = naive.exceptions(
        body,
        setting.records,
        setting.y,
        setting.opposites,
        setting.columns,
        setting.weights,
        SMOOTHING,
        setting.price,
        limits.min_support,
        limits.max_conditions,
    )
    return [(worth, [setting.cover(part) for part in parts]) for worth, parts in every if worth > 1e-9]


@pytest.mark.parametrize("params", SETTINGS[:3], ids=str)
def test_the_best_exception_is_that_of_the_oracle(params, monkeypatch):
    """If all conditions are tried first; by default only those are that divide the rule best."""
    monkeypatch.setattr(_exceptions, "_N_FIRST", 1000)
    n_found = 0
    for seed in range(8):
        setting = Setting(seed, max_rules=30, **params)
        found = changes_of(setting)
        for j, body in enumerate(setting.bodies):
            expected = expected_exceptions(setting, body)
            assert bool(expected) == (j in found)
            assert len(found.get(j, ())) <= 2
            if expected:
                best = max(worth for worth, _ in expected)
                covers = [setting.cover(part) for part in found[j][0]]
                assert any(worth == pytest.approx(best) and covers == parts for worth, parts in expected)
                n_found += 1
    assert n_found > 2


def test_few_items_are_all_tried_first():
    """With one cut in each of four columns there are eight items."""
    n_found = 0
    for seed in range(30):
        setting = Setting(seed, n_rules=3, columns="abcd", cuts=1, max_rules=30)
        assert len(setting.opposites) == 8
        found = changes_of(setting)
        for j, body in enumerate(setting.bodies):
            expected = expected_exceptions(setting, body)
            assert bool(expected) == (j in found)
            if expected:
                covers = [setting.cover(part) for part in found[j][0]]
                best = max(worth for worth, _ in expected)
                assert any(worth == pytest.approx(best) and covers == parts for worth, parts in expected)
                n_found += 1
    assert n_found > 3


def test_exceptions_need_room_for_two_more_rules():
    for seed in range(8):
        setting = Setting(seed, max_rules=30)
        if changes_of(setting):
            n = len(setting.bodies)
            assert changes_of(Setting(seed, max_rules=n + 2)) == changes_of(setting)
            assert not changes_of(Setting(seed, max_rules=n + 1))
            return
    pytest.fail("no seed has exceptions")


def test_exceptions_of_a_rule_are_found_once(monkeypatch):
    setting = Setting(0)
    calls, best = [], Exceptions._best
    monkeypatch.setattr(Exceptions, "_best", lambda self, *args: calls.append(args[1]) or best(self, *args))
    exceptions = Exceptions(setting.encoder.opposites)
    first = list(exceptions.changes(setting.rules()))
    assert list(exceptions.changes(setting.rules())) == first
    assert calls == setting.bodies


@pytest.mark.parametrize("params", [{}, {"max_overlap": 0.3, "n_given": 2}], ids=str)
def test_refits_are_what_local_search_finds_beside_the_other_rules(params):
    n_found = 0
    for seed in range(3):
        setting = Setting(seed, n_rules=4, **params)
        rules = setting.rules()
        found = {}
        for change in Refits().changes(rules):
            (j,) = change.removed
            assert change.phase == "refitting"
            found.setdefault(j, []).extend(change.bodies)
        for j, body in enumerate(setting.bodies):
            others = [other for k, other in enumerate(setting.bodies) if k != j] + setting.given_bodies
            covered = frozenset().union(*map(setting.cover, others))
            starts = [body, *(body[:k] + body[k + 1 :] for k in range(len(body)))]
            climbed = [naive.climb(start, range(len(setting.columns)), scorer(setting, covered)) for start in starts]
            expected = {new for new, score in climbed if score is not None} - {body}
            assert set(found.get(j, ())) == expected
            n_found += len(expected)
    assert n_found > 3


def scorer(setting, covered):
    """Return the score of a body by the oracle; None outside the limits."""
    totals, known = [setting.y.count(label) for label in range(3)], {}

    def score(body):
        if body in known:
            return known[body]
        inside, length = setting.cover(body) if body else frozenset(), setting.length(body)
        shared, counts = len(inside & covered), [sum(setting.y[i] == label for i in inside) for label in range(3)]
        quality, _ = naive.refined_quality(counts, totals, setting.weights, SMOOTHING, PRICE, length)
        needed = naive.rule_price(length, len(setting.columns), 3, N, EVIDENCE, 0) / 2 + READING_PRICE * N
        value = quality * (1 - shared / max(len(inside), 1))
        enough = naive.evidence(counts, totals, setting.weights) >= needed
        within = shared <= setting.limits.max_overlap * len(inside) and length <= setting.limits.max_conditions
        known[body] = value if enough and within and len(inside) >= setting.limits.min_support and value > 0 else None
        return known[body]

    return score


def flipped_by_products(seed, n=1500):
    """The label follows a, and is flipped where the product of b and c is large; four columns mean nothing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-1, 1, (n, 7)).round(2), columns=list("abcdefg"))
    return X, np.where((X.a > 0) ^ (X.b * X.c > 0.25) ^ (rng.random(n) < 0.05), "yes", "no")


def test_exceptions_help_where_only_two_conditions_together_change_the_label():
    """Neither b nor c alone changes the label anywhere; without exceptions, large rules hide such parts."""
    gains, phases = [], set()
    for seed in range(3):
        X, y = flipped_by_products(seed)
        X_test, y_test = flipped_by_products(100 + seed)
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, binning="quantile").fit(X, y)
        phases |= {step["phase"] for step in clf.history_}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Exceptions, "changes", lambda self, rules: iter(()))
            without = DiverseRuleSetClassifier(random_state=0, scorecards=None, binning="quantile").fit(X, y)
        assert "exceptions" not in {step["phase"] for step in without.history_}
        after, before = (balanced_accuracy_score(y_test, one.predict(X_test)) for one in (clf, without))
        gains.append(after - before)
    assert "exceptions" in phases
    assert min(gains) > -0.01
    assert np.mean(gains) > 0.05
