"""Columns of text that look like identifiers are left out of learnt rules, unless the user names them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.data._categories import MAX_CATEGORIES, select_categories
from diverse_rule_sets.model._conditions import IsMissing

LEFT_OUT = "it is left out of the rules"


def selected(values, asked_for=False, dtype=None):
    """Return the values that conditions use, and the warnings."""
    column = as_table(pd.DataFrame({"c": pd.Series(values, dtype=dtype)})).column("c")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        positions = select_categories(column, asked_for)
    return [column.categories[k] for k in positions], [str(warning.message) for warning in caught]


def make_tickets(n=400, missing=False):
    """Return a table with a ticket for each record, and labels that the tickets give away in training."""
    rng = np.random.default_rng(0)
    ticket = np.array([f"T{k:04}" for k in rng.permutation(n)], object)
    if missing:
        ticket[::3] = None
    x = rng.random(n).round(2)
    return pd.DataFrame({"ticket": ticket, "x": x}), np.where((x > 0.6) ^ (rng.random(n) < 0.15), "yes", "no")


@pytest.mark.parametrize(
    "values",
    [
        [f"name {k}" for k in range(140)] + [f"name {k}" for k in range(10)],
        [f"name {k}" for k in range(25)] + [f"name {k}" for k in range(5)],
        [f"name {k // 2}" for k in range(600)] + [f"only {k}" for k in range(100)],
        [f"name {k}" for k in range(100_000)] + ["often"] * 5,
        [f"name {k}" for k in range(1000)] + ["often"] * 50,
    ],
)
@pytest.mark.parametrize("dtype", [None, "category"])
def test_a_column_of_nearly_as_many_values_as_records_is_an_identifier(values, dtype):
    found, messages = selected(values, dtype=dtype)
    assert found == []
    size = rf"column 'c' looks like an identifier ({len(set(values)):,} different values in {len(values):,} records)"
    assert messages == [f"{size}; {LEFT_OUT}. To use its values, group them, or name the column in binning"]
    assert len(selected(values, asked_for=True)[0]) == min(len(set(values)), MAX_CATEGORIES)


@pytest.mark.parametrize(
    "values",
    [
        [f"name {k}" for k in range(20)],
        [f"city {k % 1000}" for k in range(100_000)],
        [f"name {k // 2}" for k in range(400)],
        [f"town {k}" for k in range(1000)] + [f"city {k % 5}" for k in range(200)],
    ],
)
def test_other_columns_are_no_identifiers(values):
    found, messages = selected(values)
    assert len(found) == min(len(set(values)), MAX_CATEGORIES)
    assert not any("identifier (" in message for message in messages)


@pytest.mark.parametrize("kind", [DiverseRuleSetClassifier, DRSClassifier, CBAClassifier, CN2Classifier, IDSClassifier])
def test_no_classifier_uses_an_identifier(kind):
    X, y = make_tickets()
    with pytest.warns(UserWarning, match="column 'ticket' looks like an identifier") as caught:
        clf = kind().fit(X, y)
    assert "ticket" not in clf.rule_set_.columns
    named_in = "binning or required" if "required" in clf.get_params() else "binning"
    assert any(str(warning.message).endswith(f"or name the column in {named_in}") for warning in caught)


def test_without_identifiers_the_rules_are_those_of_the_table_without_the_column():
    X, y = make_tickets()
    with pytest.warns(UserWarning, match=LEFT_OUT):
        clf = DiverseRuleSetClassifier(random_state=0).fit(pl.from_pandas(X), y)
    alone = DiverseRuleSetClassifier(random_state=0).fit(X[["x"]], y)
    assert clf.rule_set_.rules == alone.rule_set_.rules
    assert clf.rule_set_.fallbacks == alone.rule_set_.fallbacks


@pytest.mark.parametrize(
    "params",
    [
        {"required": ["ticket"]},
        {"binning": {"ticket": "supervised"}},
        {"given_rules": ['IF ticket = "T0003" THEN no']},
    ],
    ids=repr,
)
def test_a_column_that_the_user_names_is_used(params):
    X, y = make_tickets(200)
    clf = DiverseRuleSetClassifier(random_state=0, min_evidence=0, **params).fit(X[["ticket"]], y)
    learnt = clf.rule_set_.rules[len(params.get("given_rules", ())) :]
    assert any(condition.column == "ticket" for rule in learnt for condition in rule.conditions)


def test_whether_an_identifier_is_missing_may_be_a_condition():
    X, _ = make_tickets(missing=True)
    with pytest.warns(UserWarning, match="looks like an identifier .*; rules use only whether it is missing"):
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, min_evidence=1).fit(X, X.ticket.isna())
    assert {condition for rule in clf.rule_set_ for condition in rule.conditions} == {IsMissing("ticket")}


def test_whether_an_identifier_is_missing_may_be_a_sign_but_not_its_values():
    X, y = make_tickets(missing=True)
    labels = np.where(X.ticket.isna() | (y == "yes"), "in", "out")
    with pytest.warns(UserWarning, match="looks like an identifier .*; rules use only whether it is missing"):
        clf = DiverseRuleSetClassifier(random_state=0).fit(X, labels)
    signs = [sign.condition for card in clf.rule_set_.scorecards for sign in card.signs]
    plain = [one for rule in clf.rule_set_ for one in rule.conditions if one.column in X]
    assert IsMissing("ticket") in {*signs, *plain}
    assert {one for one in [*signs, *plain] if one.column == "ticket"} == {IsMissing("ticket")}


def test_numbers_as_text_get_another_advice():
    values = [str(k / 8) for k in range(500)] + [" "] * 20 + ["n/a"] * 5 + ["?", "unknown"]
    found, messages = selected(values)
    assert found == []
    assert messages == [
        "column 'c' holds numbers as text (504 different values in 527 records), except for values such as ' ', 'n/a', "
        f"'?'; {LEFT_OUT}. Convert it to numbers; to use it as it is, name it in binning"
    ]
    assert "holds numbers as text (40 different values" in selected([f"{k},5" for k in range(40)])[1][0]
    assert "identifier" in selected([str(k) for k in range(80)] + [f"A{k}" for k in range(20)])[1][0]


def test_codes_as_text_that_occur_often_are_bounded_with_advice():
    found, messages = selected([f"{k % 900:05}" for k in range(9000)])
    assert len(found) == MAX_CATEGORIES
    assert messages == [
        "column 'c' holds numbers as text (900 different values); rules use only the 256 most frequent. Convert it to "
        "numbers, or group its values"
    ]


def test_numbers_as_categories_are_named_so():
    assert (
        "column 'c' holds numbers as categories (90 different values in 90 records); it is left out"
        in (selected(np.arange(90), dtype="category")[1][0])
    )
