import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from cards import rule_sets_with_scorecards
from diverse_rule_sets import Interval, Rule, RuleSet, metrics
from models import rule_sets


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
    labels = [[label for (_, label), cover in zip(specs, covers, strict=True) if i in cover] for i in range(12)]
    agree, contradict = sum(len(set(some)) < len(some) for some in labels), sum(len(set(some)) > 1 for some in labels)
    assert metrics.overlap(rule_set, X, kind="agree") == agree
    assert metrics.overlap(rule_set, X, kind="contradict") == contradict
    assert metrics.overlap_share(rule_set, X, kind="agree") == agree / 12
    assert metrics.overlap_share(rule_set, X, kind="contradict") == contradict / 12
    np.testing.assert_allclose(metrics.coverage(rule_set, X), sum(d > 0 for d in depth) / 12)
    pairs = list(itertools.combinations(covers, 2))
    expected = naive.dispersion(covers) / len(pairs) if pairs else 1.0
    np.testing.assert_allclose(metrics.diversity(rule_set, X), expected)
    records = [frozenset(k for k, cover in enumerate(covers) if i in cover) for i in range(12)]
    value = naive.objective([((k,), label) for k, (_, label) in enumerate(specs)], records, y, lambda_)
    np.testing.assert_allclose(metrics.objective(rule_set, X, y, lambda_=lambda_), value, atol=1e-12)


def test_an_unknown_kind_of_overlap_is_named():
    with pytest.raises(ValueError, match="kind must be one of 'any', 'agree', 'contradict', got 'agrees'; did you"):
        metrics.overlap(make([0], [1]), X, kind="agrees")


def test_mean_conditions():
    assert metrics.mean_conditions(make([], [])) == 0
    two = Rule((Interval("x0", 1), Interval("x1", 1)), 0)
    assert metrics.mean_conditions(RuleSet((two, make([1], [0])[0]), (0, 1), 0, (1, 1), (0, 0))) == 1.5


@given(rule_sets() | rule_sets_with_scorecards())
def test_size_counts_each_statement_condition_and_pair_of_a_sign_and_a_label(drawn):
    rule_set, _ = drawn
    found = metrics.size(rule_set)
    bodies = [len(rule.conditions) for rule in (*rule_set.rules, *rule_set.fallbacks)]
    cards = {condition.column.scorecard for rule in rule_set.all_rules for condition in rule.conditions
             if not isinstance(condition.column, str)}  # fmt: skip
    pairs = [(card, sign, label) for card in cards for sign in card.signs for label in sign.points]
    assert found == (
        len(bodies) + 1,
        sum(bodies) + len(pairs),
        len(rule_set.rules),
        len(rule_set.fallbacks),
        sum(len(card.signs) for card in cards),
    )
    assert found.statements == found.rules + found.fallbacks + 1


def test_size_of_examples():
    text = """
    Scorecard points (for a, b):
       1 for b always
       3 for a, 1 for b if x > 1
       2 for b if y = "u"
    1. IF most points for a AND lead >= 2 THEN a
    2. IF points for b >= 2 AND z is missing THEN b
    Fallback rules: if no rule covers a record, the first fallback rule that covers it decides:
    3. IF most points for a THEN a
       OTHERWISE b"""
    assert metrics.size(RuleSet.parse(text)) == (4, 8, 2, 1, 2)
    assert metrics.size(make([], [])) == (1, 0, 0, 0, 0)
    with pytest.raises(TypeError, match="rule_set must be a RuleSet"):
        metrics.size([])
