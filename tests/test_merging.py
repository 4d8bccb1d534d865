"""Merging and dropping rules at the end: the value of rule sets, single steps and limits."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import naive
from covers import flags_of
from diverse_rule_sets import DiverseRuleSetClassifier, metrics
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._possible_conditions import CutOptions
from diverse_rule_sets.learn import _merging, _value
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._selection import ChosenRules
from diverse_rule_sets.learn._splitting import rebuilt

EVIDENCE, SMOOTHING = 0.8, 5.0


class Setting:
    """Random records with items at three cut points of three columns, and random rules within a limit on overlap."""

    def __init__(self, seed, n_rules=6, max_overlap=0.1, constraints=None):
        rng = np.random.default_rng(seed)
        self.X = pd.DataFrame(rng.random((150, 3)).round(2), columns=list("abc"))
        y = (self.X.a > 0.5).astype(int) + (self.X.b > 0.6)
        self.y = np.where(rng.random(150) < 0.2, rng.integers(0, 3, 150), y)
        self.weights = 150 / (3.0 * np.bincount(self.y, minlength=3))
        options = CutOptions({name: [0.25, 0.5, 0.75] for name in "abc"}, 4, thresholds=True)
        self.encoder = Encoder(options)
        table = as_table(self.X)
        rows = self.encoder.fit_transform(table, Target(self.y, self.weights)).rows
        self.backend = LocalBackend(rows, self.y, 3)
        self.limits = Limits(max_rules=10, max_conditions=3, max_overlap=max_overlap, min_support=3)
        measures = Measures(self.backend.class_totals, self.weights, SMOOTHING, 0.03)
        options = {} if constraints is None else {"constraints": constraints}
        self.search = LocalSearch(self.backend, self.encoder.columns, measures, self.limits, EVIDENCE, **options)
        self.value = _value.Value(self.backend, self.encoder, measures, self.search, lambda card: None)
        self.given = ChosenRules(self.backend)
        self.bodies = self._rules(rng, n_rules)
        empty = ChosenRules(self.backend).result(0.5, 1)
        self.found = rebuilt(
            self.backend, self.search, self.bodies, ["first pass"] * len(self.bodies), empty, ChosenRules(self.backend)
        )

    def _rules(self, rng, n_rules):
        bodies, covered = [], np.zeros(150, bool)
        for _ in range(400):
            body = tuple(sorted(rng.choice(self.backend.n_items, rng.integers(1, 4), replace=False).tolist()))
            flags = self.flags(body)
            if flags.sum() >= 3 and (flags & covered).sum() <= self.limits.max_overlap * flags.sum():
                bodies.append(body)
                covered |= flags
            if len(bodies) == n_rules:
                break
        return bodies

    def flags(self, body):
        return flags_of(self.backend, self.backend.cover(body))

    def price(self, n_conditions):
        return 0.5 * EVIDENCE * (n_conditions * math.log(self.backend.n_items) + 0.5 * 2 * math.log(150))

    def naive_value(self, bodies):
        rules = [
            (set(np.flatnonzero(self.flags(body)).tolist()), len({int(self.encoder.columns[i]) for i in body}))
            for body in bodies
        ]
        return naive.set_value(rules, self.y.tolist(), self.weights.tolist(), SMOOTHING, self.price, 1.0)

    def merged(self):
        return _merging.merge(self.value, self.found, self.encoder.wider_items, lambda *_: None, self.given)

    def hull(self, one, other):
        """Return the conditions on columns that both bodies bound on one side, with the wider bound of the two."""
        items = set()
        for a, b in itertools.product(one, other):
            first, second = self.encoder.conditions[a], self.encoder.conditions[b]
            (test, bound), (other_test, other_bound) = first.comparisons[0], second.comparisons[0]
            if first.column == second.column and test == other_test:
                wider = max if test.startswith("<") else min
                items.add(a if wider(bound, other_bound) == bound else b)
        return tuple(sorted(items))


@pytest.mark.parametrize("seed", range(5))
def test_gains_and_prices_are_those_of_the_oracle(seed):
    setting = Setting(seed)
    rules = _merging._Rules(setting.value, setting.found, setting.given, setting.encoder.wider_items)
    got = rules._total(rules.bodies, rules._covers)
    assert got == pytest.approx(setting.naive_value(setting.bodies))


@pytest.mark.parametrize("seed", range(12))
def test_merging_raises_the_value_until_no_step_does(seed):
    setting = Setting(seed)
    found = setting.merged()
    bodies, labels = [step.body for step in found.steps], [step.label for step in found.steps]
    assert len(bodies) <= len(setting.bodies)
    before, after = setting.naive_value(setting.bodies), setting.naive_value(bodies)
    assert after >= before - 1e-9
    assert (after > before + 1e-9) == (bodies != setting.bodies)
    for j in range(len(bodies)):
        assert setting.naive_value(bodies[:j] + bodies[j + 1 :]) <= after + 1e-6
    for i, j in itertools.combinations(range(len(bodies)), 2):
        hull = setting.hull(bodies[i], bodies[j])
        if labels[i] == labels[j] and hull:
            others = [hull if k == i else body for k, body in enumerate(bodies) if k != j]
            if setting.naive_value(others) > after + 1e-6:
                assert not within_limits(setting, others) or not keeps_label(setting, hull, labels[i])


def within_limits(setting, bodies):
    covered = np.zeros(150, bool)
    for body in bodies:
        flags = setting.flags(body)
        if (flags & covered).sum() > setting.limits.max_overlap * flags.sum():
            return False
        covered |= flags
    return True


def keeps_label(setting, body, label):
    counts = np.bincount(setting.y[setting.flags(body)], minlength=3)
    prior = np.bincount(setting.y, minlength=3) / 150
    return np.argmax((counts + SMOOTHING * prior) * setting.weights) == label


@pytest.mark.parametrize("max_overlap", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_the_limit_on_overlap_holds_and_counts_are_taken_anew(seed, max_overlap):
    setting = Setting(seed, max_overlap=max_overlap)
    found = setting.merged()
    assert within_limits(setting, [step.body for step in found.steps])
    for step in found.steps:
        assert step.class_counts.tolist() == np.bincount(setting.y[setting.flags(step.body)], minlength=3).tolist()
        assert keeps_label(setting, step.body, step.label)


def test_without_a_limit_on_overlap_nothing_is_merged():
    setting = Setting(3, max_overlap=1.0)
    assert setting.merged() is setting.found


def test_banned_items_do_not_enter_by_merging():
    for seed in range(8):
        free = Setting(seed).merged()
        banned = np.zeros((3, Setting(seed).backend.n_items), np.bool_)
        new = [step for step in free.steps if step.body not in Setting(seed).bodies]
        for step in new:
            banned[step.label, list(step.body)] = True
        if new:
            setting = Setting(seed, constraints=Constraints(columns=Setting(seed).encoder.columns, banned=banned))
            kept = {(step.body, step.label) for step in setting.merged().steps}
            assert not kept & {(step.body, step.label) for step in new}
            return
    pytest.fail("no seed merges rules")


def test_neighbouring_bands_of_points_become_one_rule():
    rng = np.random.default_rng(0)
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
    rules = _merging._Rules(setting.value, setting.found, setting.given, setting.encoder.wider_items)
    first = rules._total(rules.bodies, rules._covers)
    n_calls = len(calls)
    assert rules._total(rules.bodies, rules._covers) == first
    assert len(calls) == n_calls
