"""Rule sets that divide all records by points: which division is the best, limits and constraints."""

import numpy as np
import pandas as pd
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.learn import _learner
from diverse_rule_sets.learn._default_search import given_rules
from diverse_rule_sets.learn._partitions import PARTITION, partitions
from diverse_rule_sets.learn._selection import FoundRules


def additive(n_classes, n=600, seed=0):
    """Return a table in which weak signs add up."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{k}": rng.normal(size=n).round(2) for k in range(6)})
    scores = X.to_numpy() @ rng.normal(size=(6, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, np.array(list("abcd"))[scores.argmax(axis=1)]


def divided(X, y, **parameters):
    """Return the division of the records of a table, the value of rules, and the data."""
    clf = DiverseRuleSetClassifier(random_state=0, **parameters)
    classes, codes = np.unique(y, return_inverse=True)
    plan, data, _ = clf._prepare(as_table(X), classes.tolist(), codes, None, None)
    search = _learner._make_local_search(data, plan, plan.settings.limits)
    value = _learner._make_value(data, plan, search)
    cards = list(data.scorecards.levels)
    like = FoundRules([], 1.0, 0.0, 1, data.backend.nothing)
    return partitions(value, cards, like, given_rules(data.backend, search)), value, data


@pytest.mark.parametrize("seed", range(3))
def test_with_two_labels_the_best_cut_of_points_divides_the_records(seed):
    found, value, data = divided(*additive(2, seed=seed))
    backend = data.backend
    bodies = [step.body for step in found.steps]
    worth = []
    for item in range(data.without_scorecards.backend.n_items, backend.n_items):
        pair = [(item,), (int(data.encoder.opposites[item]),)]
        worth.append(sum(value.gain(body, backend.cover(body)) for body in pair) - value.price(pair))
    got = sum(value.gain(body, backend.cover(body)) for body in bodies) - value.price(bodies)
    assert got == pytest.approx(max(worth))
    assert len(bodies) == 2
    assert sum(backend.class_counts(backend.cover(body)).sum() for body in bodies) == backend.n_records
    assert backend.class_counts(found.covered).sum() == backend.n_records
    assert {step.phase for step in found.steps} == {PARTITION}


@pytest.mark.parametrize("n_classes", [3, 4])
def test_with_more_labels_the_label_with_the_most_points_divides_the_records(n_classes):
    found, _, data = divided(*additive(n_classes))
    conditions = [str(data.encoder.conditions[step.body[0]]) for step in found.steps]
    assert sorted(conditions) == [f"most points for {label}" for label in "abcd"[:n_classes]]
    assert data.backend.class_counts(found.covered).sum() == data.backend.n_records


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_rules": 1},
        {"max_overlap": 1.0},
        {"given_rules": ["IF x0 > 0 THEN a"]},
        {"required": ["x0"]},
    ],
)
def test_no_division_beyond_limits_or_beside_given_rules(parameters):
    X, y = additive(2)
    found, _, _ = divided(X, y, **parameters)
    assert found is None


def test_each_part_has_the_support_that_rules_need():
    X, y = additive(2)
    found, _, _ = divided(X, y, min_support=200)
    assert all(step.class_counts.sum() >= 200 for step in found.steps)


def test_fits_cover_nearly_all_records_of_additive_tables_with_few_statements():
    for n_classes in (2, 3):
        X, y = additive(n_classes, n=1000)
        clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
        covers = clf.rule_set_.covers(X)
        assert covers.any(axis=1).mean() > 0.95
        assert (covers.sum(axis=1) > 1).mean() <= 0.01
        assert len(clf.rule_set_) + len(clf.rule_set_.fallbacks) <= 3 * n_classes


def test_large_tables_are_divided_too(monkeypatch):
    """Only searches without scorecards are left out on tables of many records, because they take long."""
    X, y = additive(2, n=2000, seed=2)
    small = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    monkeypatch.setattr(_learner, "_MAX_COMPARED", 100)
    large = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    assert {step["phase"] for step in large.history_} == {PARTITION}
    assert large.rule_set_ == small.rule_set_


def test_directions_hold_for_divisions():
    X, y = additive(2)
    clf = DiverseRuleSetClassifier(random_state=0, monotone={"x0": {"a": "increasing"}}).fit(X, y)
    more = X.assign(x0=X["x0"] + 5)
    was_a = clf.predict(X) == "a"
    plain = [rule for rule in clf.rule_set_ if rule.label == "a"]
    for rule in plain:
        assert not (rule.covers(X) & ~rule.covers(more)).any()
    assert was_a.any()
