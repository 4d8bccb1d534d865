"""Changes of a rule set as a whole: estimates, steps, limits and constraints, and smaller sets."""

import itertools

import numpy as np
import pytest

from diverse_rule_sets.learn import _improvement, _set_search
from diverse_rule_sets.learn._exceptions import Exceptions
from diverse_rule_sets.learn._merging import fewer
from diverse_rule_sets.learn._refitting import Refits
from random_rules import Setting

BY_LABEL = {"max_overlap": 1.0, "max_agreeing": 0.5, "max_contradicting": 0.05}


def banned_items(seed):
    """Ban some items for each label, as the directions of columns do."""
    return np.random.default_rng(seed).random((3, 18)) < 0.25


SETTINGS = {
    "plain": lambda seed: Setting(seed),
    "no overlap": lambda seed: Setting(seed, max_overlap=0.0),
    "much overlap": lambda seed: Setting(seed, max_overlap=0.4),
    "by label": lambda seed: Setting(seed, **BY_LABEL),
    "given rules": lambda seed: Setting(seed, n_rules=4, n_given=2, max_overlap=0.3),
    "given rules by label": lambda seed: Setting(seed, n_rules=4, n_given=2, **BY_LABEL),
    "few short rules": lambda seed: Setting(seed, max_rules=7, max_conditions=2, min_support=12),
    "required": lambda seed: Setting(seed, n_rules=4, required=(0,), max_overlap=0.3),
    "banned": lambda seed: Setting(seed, banned=banned_items(seed)),
    "missing values": lambda seed: Setting(seed, missing=0.2),
}


class Changes:
    """All changes that an improvement tries."""

    def __init__(self, setting):
        self._setting, self._refits, self._exceptions = setting, Refits(), Exceptions(setting.encoder.opposites)

    def __call__(self, rules):
        yield from fewer(rules, self._setting.wider)
        yield from self._exceptions.changes(rules)
        yield from self._refits.changes(rules)


def changed(bodies, change):
    """Return the bodies after a change: new ones take the place of the first removed one."""
    after = [list(change.bodies) if j == change.removed[0] else [body] for j, body in enumerate(bodies)]
    return [body for j, some in enumerate(after) if j not in change.removed[1:] for body in some]


@pytest.mark.parametrize("name", SETTINGS)
def test_estimates_count_the_rules_that_stay_first(name):
    setting = SETTINGS[name](0)
    rules = setting.rules()
    changes = list(Changes(setting)(rules))
    assert {change.phase for change in changes} >= {None}
    for change in changes:
        expected = setting.estimate(rules.bodies, change.removed, change.bodies)
        assert rules._estimates(iter([(0, change)]))[0][0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", SETTINGS)
def test_each_step_raises_the_value_and_keeps_limits_and_constraints(name, monkeypatch):
    """The step is the one with the largest estimate among those that the limits allow and that raise the value."""
    monkeypatch.setattr(_set_search, "_MAX_TRIED", 1000)
    phases = set()
    for seed in range(4):
        setting = SETTINGS[name](seed)
        rules, changes = setting.rules(), Changes(setting)
        assert setting.allowed(rules.bodies)
        for _ in range(30):
            before, possible = list(rules.bodies), list(changes(rules))
            value = setting.naive_value(before)
            ways = {}
            for change in possible:
                after = changed(before, change)
                raises = setting.naive_value(after) > value + 1e-9 and setting.allowed(after)
                estimate = setting.estimate(before, change.removed, change.bodies)
                if raises and estimate > 1e-9:
                    ways.setdefault(tuple(after), estimate)
            total = rules.total(rules.bodies, rules.covers)
            made = rules.step(possible)
            assert made == bool(ways)
            if not made:
                break
            assert ways[tuple(rules.bodies)] == pytest.approx(max(ways.values()))
            gain = setting.naive_value(rules.bodies) - value
            assert rules.total(rules.bodies, rules.covers) - total == pytest.approx(gain)
            assert gain > 0
            assert setting.allowed(rules.bodies)
            assert rules.labels == [setting.label(body) for body in rules.bodies]
        found = rules.result(setting.given)
        assert [step.body for step in found.learnt] == rules.bodies
        assert [(step.label, step.phase) for step in found.steps[: found.n_given]] == [
            (k, "given") for k in range(len(setting.given_bodies))
        ]
        assert [step.phase for step in found.learnt] == rules.phases
        phases |= set(rules.phases)
    assert phases & {"exceptions", "refitting"}


def test_all_kinds_of_changes_are_made():
    phases, n_fewer = set(), 0
    for seed in range(12):
        setting = Setting(seed)
        rules, changes = setting.rules(), Changes(setting)
        while rules.step(changes(rules)):
            phases |= set(rules.phases)
        n_fewer += len(rules.bodies) < len(setting.bodies)
    assert phases == {"first pass", "exceptions", "refitting"}
    assert n_fewer


def test_only_the_most_promising_changes_are_tried(monkeypatch):
    setting = Setting(1)
    monkeypatch.setattr(_set_search, "_MAX_TRIED", 0)
    assert not setting.rules().step(Changes(setting)(setting.rules()))
    assert setting.rules().step(fewer(setting.rules(), setting.wider), forced=True)


@pytest.mark.parametrize("name", SETTINGS)
def test_refined_rules_have_a_higher_value_and_keep_limits_and_constraints(name, monkeypatch):
    """Growth is left out, because it may lower the value for coverage."""
    monkeypatch.setattr(_improvement, "grow", lambda backend, search, found, *_: found)
    n_refined = 0
    for seed in range(4):
        setting, reported = SETTINGS[name](seed), []
        found = setting.improvement(lambda *event, told=reported: told.append(event)).refined(setting.found)
        bodies = [step.body for step in found.learnt]
        assert setting.allowed(bodies)
        before, after = setting.naive_value(setting.bodies), setting.naive_value(bodies)
        assert (after > before + 1e-9) == (bodies != setting.bodies) == bool(reported)
        assert {stage for stage, *_ in reported} <= {"exceptions", "refitting"}
        assert [n for _, n, _ in reported][-1:] in ([], [len(found.steps)])
        assert found.n_given == len(setting.given_bodies)
        n_refined += bodies != setting.bodies
    assert n_refined


def test_without_a_limit_on_overlap_the_rules_stay():
    """Then half of the best objective is guaranteed."""
    for seed in range(4):
        setting = Setting(seed, max_overlap=1.0)
        assert setting.improvement().refined(setting.found) is setting.found


@pytest.mark.parametrize("name", SETTINGS)
def test_smaller_sets_lower_the_value_least(name, monkeypatch):
    monkeypatch.setattr(_improvement, "grow", lambda backend, search, found, *_: found)
    n_merged = 0
    for seed in range(3):
        setting = SETTINGS[name](seed)
        n_given, n = len(setting.given_bodies), len(setting.found.steps)
        sets = setting.improvement().reduced(setting.found, set(range(n)))
        assert sorted(sets) == list(range(n_given, n + 1))
        assert sets[n] is setting.found
        bodies = list(setting.bodies)
        for size in range(n - 1, n_given - 1, -1):
            smaller = [step.body for step in sets[size].learnt]
            assert setting.allowed(smaller)
            ways = [way for way in setting.fewer(bodies) if setting.allowed(way[2])]
            estimates = {tuple(after): setting.estimate(bodies, removed, new) for removed, new, after in ways}
            assert estimates[tuple(smaller)] == pytest.approx(max(estimates.values()))
            if setting.limits.max_overlap == 0:  # then the order of rules does not matter
                values = [setting.naive_value(after) for _, _, after in ways]
                assert setting.naive_value(smaller) == pytest.approx(max(values))
            n_merged += any(body not in bodies for body in smaller)
            bodies = smaller
    assert n_merged or name in ("required", "banned", "given rules by label")


@pytest.mark.parametrize("name", ["plain", "given rules", "banned"])
def test_smaller_sets_of_some_sizes_are_those_of_all_sizes(name):
    """With growth: the sets that are returned grow, and the next smaller one is made from the set before growth."""
    for seed in range(3):
        setting = SETTINGS[name](seed)
        n_given, n = len(setting.given_bodies), len(setting.found.steps)
        every = setting.improvement().reduced(setting.found, set(range(n)))
        for size, one in every.items():
            assert len(one.steps) == size
            assert one.n_given == n_given
            assert setting.allowed([step.body for step in one.learnt])
        for some in itertools.combinations(range(n), 2):
            sets = setting.improvement().reduced(setting.found, set(some))
            assert set(sets) == {n, *(size for size in some if size >= n_given)}
            for size, one in sets.items():
                assert [step.body for step in one.learnt] == [step.body for step in every[size].learnt]


def test_no_sizes_and_no_value_give_the_rules_alone():
    setting = Setting(0)
    n = len(setting.found.steps)
    assert setting.improvement().reduced(setting.found, set()) == {n: setting.found}
    assert setting.improvement()._replace(value=None).reduced(setting.found, {1}) == {n: setting.found}
    assert setting.improvement()._replace(value=None).refined(setting.found) is setting.found


def test_without_opposites_there_are_no_exceptions():
    phases = set()
    for seed in range(6):
        setting = Setting(seed)
        improvement = setting.improvement()._replace(opposites=None)
        phases |= {step.phase for step in improvement.refined(setting.found).steps}
    assert phases == {"first pass", "refitting"}


def test_no_two_rules_cover_the_same_records():
    """If rules of one label may overlap in any way, a rule does not become a copy of another one."""
    setting = Setting(0, max_overlap=1.0, max_agreeing=1.0, max_contradicting=0.9)
    rules = setting.rules()
    first, second = rules.bodies[:2]
    assert not rules.step([_set_search.Change((0,), (second,))], forced=True)
    assert rules.bodies[:2] == [first, second]
