"""Results of rule sets with scorecards: they agree with those of single rules, single records and a slow sum."""

import collections

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import Rule, RuleSet, Scorecard
from diverse_rule_sets._bits.bitset import distinct_rows
from diverse_rule_sets._input.tables import Table
from models import as_polars, records_for
from scorecard_models import scorecard_rule_sets
from test_answers import slow_answers

CARD = Scorecard.parse("points (for ill): 3 if age > 55, 2 if sex = 'F', 1 if income <= 1000")
FRAME = pd.DataFrame({"age": [60.0, None, 30.0], "sex": ["F", None, "M"], "income": [9.0, 2000.0, None]})
RULES = RuleSet(
    (Rule((CARD.between(4),), "ill"), Rule.parse("IF age <= 40 AND points <= 1 THEN ok", [CARD])),
    ("ill", "ok"), "ok", (5, 5), (1, 1), fallbacks=(Rule((CARD.between(1),), "ill"),),
)  # fmt: skip


def slow_points(card, frame):
    """Return the points of each record, sign by sign and record by record."""
    rows = []
    for i in range(len(frame)):
        one = frame[i : i + 1]
        points = collections.Counter(card.base)
        for sign in card.signs:
            if Rule((sign.condition,), 0).covers(one)[0]:
                points.update(sign.points)
        rows.append([points[label] for label in card.labels])
    return rows


@settings(max_examples=80)
@given(scorecard_rule_sets(), st.integers(0, 1000))
def test_results_equal_those_of_single_rules_and_single_records(drawn, seed):
    rule_set, columns = drawn
    frame = as_polars(records_for(columns, seed, n=12), {name: kind for name, (kind, _) in columns.items()})
    answers = rule_set.answer(frame)
    covers, deciding, labels = slow_answers(rule_set, frame)
    np.testing.assert_array_equal(rule_set.covers(frame), covers)
    np.testing.assert_array_equal(answers.deciding, deciding)
    np.testing.assert_array_equal(answers.labels, labels)
    for card in rule_set.scorecards:
        expected = slow_points(card, frame)
        assert card.points(frame).tolist() == expected
        held, unknown = answers.all_covers.signs.flags(card)
        sums = [[sum(s.points.get(k, 0) for s, h in zip(card.signs, row, strict=True) if h) + card.base.get(k, 0)
                 for k in card.labels] for row in held]  # fmt: skip
        assert sums == expected
        assert not (held & unknown).any()
        for k, sign in enumerate(card.signs):
            missing = frame[sign.condition.column].is_null().to_numpy()
            np.testing.assert_array_equal(unknown[:, k], missing & ~held[:, k])
    for i in range(len(frame)):
        one = frame[i : i + 1]
        assert rule_set.deciding_rules(one).tolist() == [deciding[i]]
        np.testing.assert_array_equal(rule_set.covers(one)[0], covers[i])
        np.testing.assert_array_equal(rule_set.predict_proba(one)[0], answers.probabilities[i])


@pytest.mark.parametrize("absent", ["age", "sex", "income"])
def test_a_column_of_a_sign_that_is_absent_is_an_error(absent):
    frame = FRAME.drop(columns=absent)
    calls = [RULES.rules[0].covers, RULES.covers, RULES.deciding_rules, RULES.predict, RULES.reasons, RULES.why]
    for call in [*calls, CARD.points]:
        with pytest.raises(ValueError, match=f"X has no column '{absent}', which the rules use"):
            call(frame)
    with pytest.raises(ValueError, match=f"the record has no value for the column '{absent}'"):
        RULES.why(frame.iloc[0].to_dict())


def test_the_column_with_the_name_of_the_scorecard_is_not_read():
    frame = FRAME.assign(points=["not", "a", "number"])
    np.testing.assert_array_equal(RULES.covers(frame), RULES.covers(FRAME))
    assert RULES.rules[0].covers(frame).tolist() == [True, False, False]
    assert RULES.deciding_rules(frame).tolist() == [0, -1, 1]


def test_missing_values_give_no_points():
    empty = pd.DataFrame({"age": [None], "sex": [None], "income": [None]})
    assert CARD.points(empty).tolist() == [[0]]
    assert RULES.deciding_rules(empty).tolist() == [-1]
    assert RULES.reasons(empty) == [
        "no rule and no fallback rule covers this record: default label ok; 0 of 6 points: no sign holds; "
        'not known: age > 55 (3 points), sex = "F" (2 points), income <= 1000 (1 point)'
    ]


@pytest.mark.parametrize("method", ["predict", "predict_proba", "covers", "reasons", "why"])
def test_each_column_is_decoded_once(monkeypatch, method):
    counts, column = collections.Counter(), Table.column
    monkeypatch.setattr(Table, "column", lambda own, *args: (counts.update(args[:1]), column(own, *args))[1])
    getattr(RULES, method)(FRAME)
    assert counts == {"age": 1, "sex": 1, "income": 1}


@given(st.integers(1, 30), st.integers(0, 140), st.integers(0, 1000))
def test_distinct_rows(n_rows, n_columns, seed):
    flags = np.random.default_rng(seed).integers(0, 2, (n_rows, n_columns)).astype(bool)
    flags = flags[np.random.default_rng(seed + 1).integers(0, n_rows, n_rows)]
    patterns, which = distinct_rows(flags)
    np.testing.assert_array_equal(patterns[which], flags)
    assert len(patterns) == len({row.tobytes() for row in flags})
