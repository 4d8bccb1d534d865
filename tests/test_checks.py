"""Checks of arguments: similar names, lists in errors, random states."""

import time

import numpy as np
import pandas as pd
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, sample_rules
from diverse_rule_sets._input.checks import did_you_mean, find_similar, list_text
from diverse_rule_sets.baselines import IDSClassifier

RNG = np.random.default_rng(0)
X = pd.DataFrame({"tenure": RNG.integers(0, 72, 200), "contract type": RNG.choice(["a", "b"], 200), 3: RNG.random(200)})
Y = np.where(X.tenure > 30, "Yes", "No")


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("Month to month", ["One year", "Month-to-month", "Two year"], ["Month-to-month"]),
        ("TENURE ", ["tenures", "tenure"], ["tenure"]),
        ("tenuer", ["age", "tenure"], ["tenure"]),
        ("contract_type", ["contract", "contract type"], ["contract type"]),
        ("yes", [1, "Yes", None], ["Yes"]),
        (3, [30.5, "3"], ["3"]),
        ("age", ["income"], []),
        ("x" * 1000, ["x" * 999], []),
        ("a", [], []),
        ("", ["a"], []),
    ],
)
def test_the_most_similar_name(name, known, expected):
    assert find_similar(name, known) == expected
    assert did_you_mean(name, known) == (f"; did you mean {expected[0]!r}?" if expected else "")


def test_the_search_for_a_similar_name_is_bounded():
    names = [f"column {k}" for k in range(200_000)]
    begin = time.perf_counter()
    assert find_similar("colunm 12", names) == ["column 12"]
    assert find_similar("q" * 9, names) == []
    assert time.perf_counter() - begin < 20


def test_long_lists_are_shortened_in_errors():
    assert list_text(["a", 1]) == "['a', 1]"
    assert list_text(range(20)) == repr(list(range(20)))
    assert list_text(range(21)) == repr(list(range(20)))[:-1] + ", ...]"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"forbidden": ["Tenure"]}, "forbidden names 'Tenure', which X does not have .*; did you mean 'tenure'?"),
        ({"required": ["contract_type"]}, "required names 'contract_type'.*; did you mean 'contract type'?"),
        ({"monotone": {"tenures": "increasing"}}, "monotone names 'tenures'.*; did you mean 'tenure'?"),
        ({"monotone": {"tenure": {"yes": "increasing"}}}, "names the label 'yes'.*; did you mean 'Yes'?"),
        ({"binning": {"tenur": [3]}}, "binning names the column 'tenur'.*; did you mean 'tenure'?"),
        ({"class_weight": {"yes": 2}}, "class_weight names the label 'yes'.*; did you mean 'Yes'?"),
        ({"default": "yes"}, "got 'yes'; did you mean 'Yes'?"),
        ({"default": "majorty"}, "got 'majorty'; did you mean 'majority'?"),
        ({"given_rules": ["IF tenur > 3 THEN Yes"]}, "names the column 'tenur'.*; did you mean 'tenure'?"),
        ({"given_rules": ["IF tenure > 3 THEN Yess"]}, "with the label 'Yess'.*; did you mean 'Yes'?"),
        ({"conflict": "smooth"}, "conflict must be one of .*, got 'smooth'; did you mean 'smoothed'?"),
    ],
    ids=repr,
)
def test_an_error_about_a_wrong_name_names_a_similar_one(params, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?$")):
        DiverseRuleSetClassifier(**params).fit(X, Y)


def test_without_a_similar_name_there_is_no_question():
    with pytest.raises(ValueError, match=r"its columns: \['tenure', 'contract type', 3\]$"):
        DiverseRuleSetClassifier(forbidden=["weather"]).fit(X, Y)


@pytest.mark.parametrize(
    "clf",
    [
        DiverseRuleSetClassifier(min_evidence=0),
        DRSClassifier(n_candidates=20),
        IDSClassifier(weights="tuned", max_candidates=100),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_numpys_seed_makes_fits_without_a_random_state_repeatable(clf):
    table = np.random.default_rng(0).random((120, 4))
    y = (table[:, 0] + table[:, 1] > 1) ^ (np.random.default_rng(1).random(120) < 0.2)

    def fit(seed):
        np.random.seed(seed)  # noqa: NPY002  the global state is what is tested
        return clf.fit(table, y).rule_set_

    first = fit(0)
    assert fit(0) == first
    assert clf.fit(table, y).rule_set_ is not first
    if not isinstance(clf, IDSClassifier):  # whose random numbers choose the validation records only
        assert any(fit(seed) != first for seed in range(1, 6))


def test_successive_draws_without_a_random_state_differ():
    items, y = np.random.default_rng(0).random((40, 10)) < 0.5, np.arange(40) % 2
    np.random.seed(0)  # noqa: NPY002
    first, second = (sample_rules(items, y, 1, n=20) for _ in range(2))
    np.random.seed(0)  # noqa: NPY002
    assert sample_rules(items, y, 1, n=20) == first != second


GIVEN = pd.DataFrame(
    {
        "contract": RNG.choice(["Month-to-month", "One year", "Two year"], 300),
        "tenure": np.arange(300) % 72,
        "code": pd.Categorical(RNG.integers(0, 3, 300), categories=range(9)),
        "start": pd.date_range("2020-01-01", periods=300),
        "sent": pd.date_range("2020-01-01", periods=300, tz="UTC"),
        "none": [None] * 300,
    }
)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (
            'IF contract = "Month to month" THEN Yes',
            'no record has contract = "Month to month"; did you mean "Month-to-month"?',
        ),
        (
            'IF tenure > 5 AND contract in {"Q", "TWO YEAR"} THEN Yes',
            'no record has contract in {"Q", "TWO YEAR"}; did you mean "Two year"?',
        ),
        ('IF contract = "weekly" THEN Yes', 'no record has contract = "weekly"'),
        ("IF tenure > 71 THEN Yes", "no record has tenure > 71; its values are from 0 to 71"),
        ("IF start < 2020-01-01 THEN Yes", "no record has start < 2020-01-01; its values are from 2020-01-01 to "),
        ("IF sent < 2020-01-01Z THEN Yes", "no record has sent < 2020-01-01Z; its values are from 2020-01-01Z to "),
        ("IF contract is missing THEN Yes", "no record meets contract is missing"),
        ("IF code = 7 THEN Yes", "no record has code = 7"),
        ("IF none > 1 THEN Yes", "no record has none > 1; all its values are missing"),
        (
            "IF tenure < 1 AND 2020-01-02 <= start <= 2020-01-03 THEN Yes",
            "each of its conditions holds for some records, but no record meets all of them",
        ),
    ],
    ids=lambda text: text[:40],
)
@pytest.mark.parametrize("kind", [DiverseRuleSetClassifier, DRSClassifier])
def test_a_given_rule_that_covers_no_record_warns(kind, rule, reason):
    y = np.where(GIVEN.tenure > 30, "Yes", "No")
    clf = kind(random_state=0, given_rules=[rule, "IF tenure > 50 THEN Yes"], max_rules=3)
    with pytest.warns(UserWarning, match="given_rules") as caught:
        clf.fit(GIVEN, y)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith(f"given_rules has the rule {clf.rule_set_[0]}: {reason}")
    assert text.endswith(reason) or reason.endswith("to ")


def test_the_similar_value_of_a_column_with_many_values_is_a_frequent_one():
    values = [f"city {k:05}" for k in range(50_000)] + ["Rotterdam"] * 3
    table = pd.DataFrame({"city": values * 2})
    clf = DiverseRuleSetClassifier(random_state=0, max_rules=1, given_rules=['IF city = "Roterdam" THEN True'])
    with pytest.warns(UserWarning, match="column 'city' has|no record") as caught:
        clf.fit(table, table.index % 2 == 0)
    assert str(caught[-1].message).endswith('no record has city = "Roterdam"; did you mean "Rotterdam"?')
