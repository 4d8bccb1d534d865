"""Merging and dropping rules at the end: the value of rule sets, single steps and limits."""

import numpy as np
import pandas as pd
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, metrics
from diverse_rule_sets.learn import _merging, _value
from random_rules import Setting


def merged(setting):
    return _merging.merge(setting.value, setting.found, setting.wider, lambda *_: None, setting.given)


@pytest.mark.parametrize("limits", [{}, {"max_overlap": 1.0, "max_agreeing": 0.5, "max_contradicting": 0.3}])
@pytest.mark.parametrize("n_given", [0, 2])
@pytest.mark.parametrize("seed", range(5))
def test_gains_and_prices_are_those_of_the_oracle(seed, n_given, limits):
    setting = Setting(seed, n_given=n_given, **limits)
    rules = setting.rules()
    assert rules.total(rules.bodies, rules.covers) == pytest.approx(setting.naive_value(setting.bodies))
    assert rules.total([], []) == pytest.approx(setting.naive_value([]))


def test_the_price_of_reading_is_a_share_of_the_records():
    setting = Setting(0)
    bodies = setting.bodies
    cheap = setting.value._replace(reading_price=0.0)
    assert setting.value.price(bodies) - cheap.price(bodies) == pytest.approx(0.002 * 150 * len(bodies))
    assert cheap.price(bodies) == pytest.approx(sum(setting.price(setting.length(body)) - 0.3 for body in bodies))
    assert cheap.price([]) == 0


@pytest.mark.parametrize("seed", range(12))
def test_merging_raises_the_value_until_no_step_does(seed):
    setting = Setting(seed)
    found = merged(setting)
    bodies = [step.body for step in found.steps]
    assert len(bodies) <= len(setting.bodies)
    before, after = setting.naive_value(setting.bodies), setting.naive_value(bodies)
    assert after >= before - 1e-9
    assert (after > before + 1e-9) == (bodies != setting.bodies)
    for _, _, others in setting.fewer(bodies):
        assert setting.naive_value(others) <= after + 1e-6 or not setting.allowed(others)


@pytest.mark.parametrize("max_overlap", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_the_limit_on_overlap_holds_and_counts_are_taken_anew(seed, max_overlap):
    setting = Setting(seed, max_overlap=max_overlap)
    found = merged(setting)
    assert setting.allowed([step.body for step in found.steps])
    for step in found.steps:
        labels = [setting.y[i] for i in setting.cover(step.body)]
        assert step.class_counts.tolist() == [labels.count(label) for label in range(3)]
        assert step.label == setting.label(step.body)


def test_without_a_limit_on_overlap_nothing_is_merged():
    setting = Setting(3, max_overlap=1.0)
    assert merged(setting) is setting.found


def test_banned_items_do_not_enter_by_merging():
    for seed in range(20):
        plain = Setting(seed)
        new = [step for step in merged(plain).steps if step.body not in plain.bodies]
        if not new:
            continue
        banned = np.zeros((3, plain.backend.n_items), np.bool_)
        for step in new:
            banned[step.label, list(step.body)] = True
        setting = Setting(seed)
        setting.search.constraints = Setting(seed, n_rules=0, banned=banned).search.constraints
        kept = {(step.body, step.label) for step in merged(setting).steps}
        assert not kept & {(step.body, step.label) for step in new}
        return
    pytest.fail("no seed merges rules")


def test_neighbouring_bands_of_points_become_one_rule():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({f"m{j}": rng.normal(size=600).round(2) for j in range(6)})
    y = np.where((X > 0).sum(axis=1) + rng.logistic(size=600) > 3, "yes", "no")
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    rules = clf.rule_set_
    (card,) = rules.scorecards
    assert len(rules) == 2
    assert {str(rule.conditions[0].column) for rule in rules} == {"points"}
    assert metrics.coverage(rules, X) == 1
    assert card.labels == ("yes",)


def test_records_with_the_same_fingerprint_are_counted_once(monkeypatch):
    setting, calls = Setting(1), []
    gain = _value.Value.gain
    monkeypatch.setattr(_value.Value, "gain", lambda self, *args: calls.append(args[0]) or gain(self, *args))
    rules = setting.rules()
    first = rules.total(rules.bodies, rules.covers)
    n_calls = len(calls)
    assert rules.total(rules.bodies, rules.covers) == first
    assert len(calls) == n_calls > 0
