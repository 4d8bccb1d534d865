"""Edited scorecards: all rules use the new scorecard, and all counts and probabilities are those of the given data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import Equals, Interval, Rule, RuleSet, Scorecard, Sign
from models import as_polars, records_for
from scorecard_models import scorecard_rule_sets

CARD = Scorecard.parse("points (for ill): 3 if age > 55, 2 if sex = 'F', 2 if income <= 1000")
SEVERAL = Scorecard.parse("score (for ill, ok): 2 for ill if age > 55, 1 for ok if age <= 30, 1 for ok if sex = 'F'")


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(10, 80, n), "sex": rng.choice(["F", "M"], n)})
    X["income"] = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 3000, n))
    X["bp"] = rng.integers(90, 180, n)
    odds = CARD.points(X)[:, 0] + (X.bp > 150) - 4
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "ill", "ok")


X, Y = table()


def edited_rule_set(*cards):
    texts = ["IF points >= 5 THEN ill", "IF points <= 2 AND bp <= 120 THEN ok"]
    texts += ["IF most score for ok THEN ok"] if SEVERAL in cards else []
    rules = tuple(Rule.parse(text, cards) for text in texts)
    fallbacks = (Rule.parse("IF points >= 3 THEN ok", cards),)
    return RuleSet(rules, ("ill", "ok"), "ok", (0, 0), (0, 0), "smoothed", fallbacks).evaluated(X, Y)


def same_as_written(rule_set, *cards):
    """Check that an edited rule set is the one that is written with the new scorecards and evaluated."""
    texts = [str(rule) for rule in rule_set.rules], [str(rule) for rule in rule_set.fallbacks]
    rules, fallbacks = (tuple(Rule.parse(text, cards) for text in some) for some in texts)
    written = RuleSet(rules, ("ill", "ok"), rule_set.default, (0, 0), (0, 0), "smoothed", fallbacks).evaluated(X, Y)
    assert rule_set == written
    assert rule_set.scorecards == cards
    np.testing.assert_array_equal(rule_set.predict_proba(X), written.predict_proba(X))


def test_a_sign_is_added_removed_and_changed():
    before = edited_rule_set(CARD)
    more = before.with_sign("1 if bp > 150", X, Y)
    text = "points (for ill): 3 if age > 55, 2 if sex = 'F', 2 if income <= 1000, 1 if bp > 150"
    same_as_written(more, Scorecard.parse(text))
    assert more.rules[0].n_covered > before.rules[0].n_covered
    assert more.rules[0].points_table.high == 8
    first = before.with_sign(Sign(Interval("bp", low=150), {"ill": 1}), X, Y, scorecard="points", position=1)
    assert first.scorecards[0].signs == (more.scorecards[0].signs[-1], *CARD.signs)
    for sign in (4, "bp > 150", "1 if bp > 150", "9 for ill if bp > 150", Interval("bp", low=150), np.int64(4)):
        assert more.without_sign(sign, X, Y) == before
    assert (
        before.with_sign("1 if bp > 150", X, Y).without_sign(CARD.signs[0], X, Y).scorecards[0].signs[:2]
        == CARD.signs[1:]
    )
    fewer = before.with_points("sex = 'F'", 1, X, Y)
    same_as_written(fewer, Scorecard.parse("points (for ill): 3 if age > 55, 1 if sex = 'F', 2 if income <= 1000"))
    assert before.with_points(2, {"ill": np.int64(1)}, X, Y) == fewer
    assert fewer.with_points(2, 2, X, Y) == before


def test_one_of_several_scorecards_is_edited():
    before = edited_rule_set(CARD, SEVERAL)
    more = before.with_sign("2 for ill, -1 for ok if bp > 150", X, Y, scorecard="score")
    text = "score (for ill, ok): 2 for ill if age > 55, 1 for ok if age <= 30, 1 for ok if sex = 'F', "
    same_as_written(more, CARD, Scorecard.parse(text + "2 for ill, -1 for ok if bp > 150"))
    other = more.with_points("bp > 150", {"ok": -1}, X, Y, scorecard="score")
    assert other.scorecards[1].signs[-1] == Sign(Interval("bp", low=150), {"ok": -1})
    assert other.without_sign(4, X, Y, scorecard="score") == before


def test_labels_in_text_become_those_of_the_scorecard():
    y = np.where(Y == "ill", 1, 0)
    card = Scorecard.parse("points: 3 if age > 55", label=1)
    rule_set = RuleSet((Rule((card.between(3),), 1),), (0, 1), 0, (0, 0), (0, 0)).evaluated(X, y)
    with pytest.warns(UserWarning, match="rule 1"):
        rule_set.with_points(1, 2, X, y)
    for text in ("2 if sex = 'F'", "2 for 1 if sex = 'F'", "2 for '1' if sex = 'F'"):
        assert rule_set.with_sign(text, X, y).scorecards[0].signs[1] == Sign(Equals("sex", "F"), {1: 2})


def test_domains_and_types_of_new_columns_are_known():
    more = edited_rule_set(CARD).with_sign("1 if job = 'a'", X.assign(job=["a", "b"] * 150), Y)
    assert dict(more.domains)["job"].values == ("a", "b")
    assert dict(more.kinds)["job"] == "text"
    assert "job" in more.columns


def test_labels_of_fallback_rules_follow_the_likeliest_class():
    before = edited_rule_set(CARD)
    assert before.fallbacks[0].label == "ok"
    changed = before.with_points("sex = 'F'", 1, X, Y)
    (fallback,) = changed.fallbacks
    assert fallback.label == "ill"
    assert dict(fallback.class_counts)["ill"] > dict(fallback.class_counts)["ok"]
    decided = changed.deciding_rules(X) == len(changed)
    assert decided.any()
    assert changed.predict_proba(X)[decided].argmax(axis=1).tolist() == [0] * int(decided.sum())


def test_a_warning_names_the_rule_whose_condition_can_no_longer_hold():
    rule_set = edited_rule_set(CARD)
    expected = "^rule 1, IF points >= 5 THEN ill: the condition points >= 5 can no longer hold, because points can be "
    with pytest.warns(UserWarning, match=expected + "from 0 to 4$"):
        changed = rule_set.without_sign("age > 55", X, Y)
    assert str(changed.rules[0]) == "IF points >= 5 THEN ill"
    assert changed.rules[0].n_covered == 0
    again = changed.with_sign("-1 if bp > 150", X, Y)  # there is no warning if the condition could not hold before
    assert again.rules[0].n_covered == 0


def test_a_warning_names_conditions_that_always_hold():
    card = Scorecard.parse("points (for ill): 3 if age > 55, -2 if sex = 'F'")
    rules = [Rule.parse("IF points <= 2 THEN ok", [card]), Rule.parse("IF points >= 0 THEN ill", [card])]
    rule_set = RuleSet((rules[0],), ("ill", "ok"), "ok", (0, 0), (0, 0), fallbacks=(rules[1],)).evaluated(X, Y)
    with pytest.warns(UserWarning, match="^rule 1, .*: the condition points <= 2 now always holds, because points"):
        rule_set.with_points(1, 2, X, Y)
    with pytest.warns(UserWarning, match="^fallback rule 2, .*: the condition points >= 0 now always holds"):
        rule_set.without_sign(2, X, Y)


def test_warnings_about_the_leader():
    card = Scorecard.parse("points (for ill, ok): 1 for ok always, 2 for ill if age > 55, 1 for ok if age <= 30")
    rules = tuple(Rule.parse(f"IF most points for {label} THEN {label}", [card]) for label in ("ill", "ok"))
    rule_set = RuleSet(rules, ("ill", "ok"), "ok", (0, 0), (0, 0)).evaluated(X, Y)
    with pytest.warns(UserWarning, match="most points") as caught:
        rule_set.with_points(1, {"ok": 1}, X, Y)
    assert [str(one.message) for one in caught] == [
        "rule 1, IF most points for ill THEN ill: the condition most points for ill can no longer hold, because "
        "another label always has more points, or as many and is listed first",
        "rule 2, IF most points for ok THEN ok: the condition most points for ok now always holds, because no other "
        "label can have more points",
    ]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda r: r.with_sign("1 if bp > 1", X, Y, scorecard="pionts"), ValueError,
         "scorecard must be one of the names 'points', got 'pionts'; did you mean 'points'"),
        (lambda r: r.without_sign("age > 54", X, Y), ValueError,
         "sign must be a sign of the scorecard 'points' or its number, from 1 to 3, .* got age > 54; did you mean"),
        (lambda r: r.without_sign(0, X, Y), ValueError, "sign must be a number from 1 to 3"),
        (lambda r: r.without_sign(True, X, Y), TypeError, "sign must be a number from 1 to 3.* got True"),
        (lambda r: r.without_sign("age", X, Y), ValueError, "cannot read the condition"),
        (lambda r: r.without_sign("age > 55 AND sex = 'F'", X, Y), ValueError, "cannot read the condition"),
        (lambda r: r.with_points("age > 55", 0, X, Y), ValueError, r"points\['ill'\] must be a whole number other"),
        (lambda r: r.with_points("age > 55", 1.5, X, Y), ValueError, r"points\['ill'\] must be a whole number other"),
        (lambda r: r.with_points("age > 55", {"ok": 2}, X, Y), ValueError, r"for the labels \['ill'\]"),
        (lambda r: r.with_points("age > 55", {}, X, Y), ValueError, "points must be a dict of labels to whole numbers"),
        (lambda r: r.with_sign("0 if bp > 1", X, Y), ValueError, "must be a whole number other than 0"),
        (lambda r: r.with_sign("2 if age > 55", X, Y), ValueError, "has the sign age > 55 already; with_points"),
        (lambda r: r.with_sign("2 always", X, Y), ValueError, "points, 'if', one condition and nothing else"),
        (lambda r: r.with_sign("bp > 1", X, Y), ValueError, "points and a condition, as in '3 if age > 55'"),
        (lambda r: r.with_sign("2 if bp > 1, 3 if bp > 2", X, Y), ValueError, "one condition and nothing else"),
        (lambda r: r.with_sign("2 for ok if bp > 1", X, Y), ValueError, r"points for the labels \['ill'\]"),
        (lambda r: r.with_sign("2 if points > 1", X, Y), ValueError, "a part of the scorecard 'points' and also"),
        (lambda r: r.with_sign("2 if height > 1", X, Y), ValueError, "no column 'height'"),
        (lambda r: r.with_sign("2 if bp > 1", X, Y, position=9), ValueError, "position must be a number from 1 to 4"),
        (lambda r: r.with_sign(5, X, Y), TypeError, "sign must be a Sign or a text such as '3 if age > 55', got 5"),
        (lambda r: RuleSet.parse("IF age > 1 THEN ill\nOTHERWISE ok").with_sign("2 if bp > 1", X, Y), ValueError,
         "the rule set has no scorecards"),
        (lambda r: edited_rule_set(CARD, SEVERAL).with_sign("2 if bp > 1", X, Y), ValueError,
         "scorecard must be one of the names 'points', 'score', got None"),
        (lambda r: edited_rule_set(CARD, SEVERAL).with_points(1, 2, X, Y, scorecard="score"), TypeError,
         r"points must be a dict of the labels \['ill', 'ok'\]"),
    ],
)  # fmt: skip
def test_invalid_arguments_are_errors(change, error, message):
    with pytest.raises(error, match=message):
        change(edited_rule_set(CARD))


def test_the_only_sign_is_not_removed():
    card = Scorecard.parse("points (for ill): 3 if age > 55")
    rule_set = RuleSet((Rule((card.between(3),), "ill"),), ("ill", "ok"), "ok", (0, 0), (0, 0))
    with pytest.raises(ValueError, match="age > 55 is the only sign of the scorecard 'points'; remove the rules"):
        rule_set.without_sign(1, X, Y)


def test_rules_are_added_with_the_scorecards_of_the_rule_set():
    rule_set = edited_rule_set(CARD)
    more = rule_set.with_rule("IF points >= 7 THEN ill", X, Y, position=1)
    assert more.rules[0] == Rule((CARD.between(7),), "ill")
    assert more.rules[0].n_covered == int((CARD.points(X) >= 7).sum())
    assert more.without_rule("IF points >= 7 THEN ill", X, Y) == rule_set
    assert rule_set.replace(1, "IF points = 7 THEN ill", X, Y).rules[0] == Rule((CARD.between(7, 7),), "ill")
    assert rule_set.without_rule(1, X, Y).scorecards == (CARD,)


@settings(max_examples=60)
@given(scorecard_rule_sets(), st.integers(0, 1000), st.data())
@pytest.mark.filterwarnings("ignore:(fallback )?rule")
def test_a_sign_that_is_added_and_removed_changes_nothing(drawn, seed, data):
    rule_set, columns = drawn
    table = as_polars(records_for(columns, seed), {name: kind for name, (kind, _) in columns.items()})
    y = np.empty(len(table), object)
    y[:] = [rule_set.classes[k] for k in np.random.default_rng(seed).integers(0, len(rule_set.classes), len(table))]
    before = rule_set.evaluated(table, y)
    card = data.draw(st.sampled_from(before.scorecards))
    sign = data.draw(st.integers(1, len(card.signs)))
    own = card.signs[sign - 1]
    changed = before.with_points(sign, {label: n + 1 if n + 1 else 1 for label, n in own.points.items()}, table, y,
                                 scorecard=card.name)  # fmt: skip
    again = changed.with_points(own.condition, dict(own.points), table, y, scorecard=card.name)
    assert again.rules == before.rules
    assert [f.conditions for f in again.fallbacks] == [f.conditions for f in before.fallbacks]
    assert again.scorecards == before.scorecards
    if len(card.signs) > 1:
        fewer = before.without_sign(own, table, y, scorecard=card.name)
        assert fewer.with_sign(own, table, y, scorecard=card.name, position=sign).rules == before.rules
