"""A few records of another class, such as mislabelled ones, change neither the weights nor the search."""

import warnings

import numpy as np
import pandas as pd
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from diverse_rule_sets.data._cut_points import Target, category_sets
from diverse_rule_sets.estimators._class_weights import class_weights
from diverse_rule_sets.learn._measures import Measures

MESSAGE = "y has fewer than min_support=3 records of some labels, so no rule is learnt for them: "


def make_contracts(n, seed):
    """Return customers, and whether each one leaves, which is likelier with a short contract and a high charge."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "contract": rng.choice(["month", "one year", "two years"], n, p=[0.55, 0.21, 0.24]),
            "tenure": rng.integers(0, 73, n),
            "charge": rng.gamma(4, 16, n).round(2) + 18,
            "internet": rng.choice(["none", "dsl", "fiber"], n, p=[0.22, 0.34, 0.44]),
            "payment": rng.choice(["check", "mail", "bank", "card"], n),
        }
    )
    odds = 2.0 * (X.contract == "month") - 0.05 * X.tenure + 1.2 * (X.internet == "fiber") + 0.02 * X.charge - 2.6
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "Yes", "No").astype(object)


X, Y = make_contracts(2000, 0)
X_TEST, Y_TEST = make_contracts(2000, 1)


def mislabel(sizes, seed=0):
    """Return labels of which some records have other labels: so many records of each."""
    y, at = Y.copy(), np.random.default_rng(seed).permutation(len(Y))
    for number, size in enumerate(sizes):
        y[at[:size]], at = f"stray {number}", at[size:]
    return y


def balanced_accuracy(clf):
    """Return the balanced accuracy over the two large classes, on other records."""
    predicted = clf.predict(X_TEST)
    return np.mean([(predicted[label == Y_TEST] == label).mean() for label in ("No", "Yes")])


def plain_accuracy(clf):
    """Return the share of right predictions on other records."""
    return np.mean(clf.predict(X_TEST) == Y_TEST)


@pytest.mark.parametrize("class_weight", ["balanced", None, {"Yes": 2}])
@pytest.mark.parametrize("sizes", [(1,), (2,), (1, 1, 1), (2, 1, 2)])
def test_a_few_stray_labels_leave_the_rules_about_as_good(sizes, class_weight):
    y = mislabel(sizes)
    known = np.isin(y, ["No", "Yes"])
    differences = []
    for seed in range(5):  # other candidates are drawn, so single fits differ by chance
        without = DiverseRuleSetClassifier(random_state=seed, class_weight=class_weight).fit(X[known], y[known])
        clf = DiverseRuleSetClassifier(random_state=seed, class_weight=class_weight)
        with pytest.warns(UserWarning, match=MESSAGE) as caught:
            clf.fit(X, y)
        # Without class weights, rules are for plain accuracy.
        accuracy = plain_accuracy if class_weight is None else balanced_accuracy
        accuracies = accuracy(clf), accuracy(without)
        differences.append((len(clf.rule_set_) - len(without.rule_set_), accuracies[0] - accuracies[1]))
    assert (np.abs(np.mean(differences, axis=0)) < [3, 0.02]).all()
    assert clf.classes_.tolist() == sorted(set(y))
    assert clf.rule_set_.class_totals == tuple(int((y == label).sum()) for label in clf.classes_)
    assert {rule.label for rule in clf.rule_set_} == {"No", "Yes"}
    for number, size in enumerate(sizes):
        assert f"'stray {number}' ({size} record{'s' if size > 1 else ''})" in str(caught[0].message)
    probabilities = clf.predict_proba(X)
    assert probabilities[:, 2:].min() > 0
    assert probabilities[:, 2:].sum() < 3 * sum(sizes)


@pytest.mark.parametrize("default", ["majority", "least_covered"])
def test_a_rare_class_is_not_the_default_label(default):
    with pytest.warns(UserWarning, match=MESSAGE):
        clf = DiverseRuleSetClassifier(random_state=0, default=default, max_fallbacks=0).fit(X, mislabel((1, 1)))
    assert clf.rule_set_.default in ("No", "Yes")


def test_no_class_is_rare_with_a_support_of_one_or_with_its_own_weight():
    y = mislabel((2,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DiverseRuleSetClassifier(random_state=0, min_support=1, max_rules=2).fit(X, y)
        DiverseRuleSetClassifier(random_state=0, class_weight={"stray 0": 1.0}, max_rules=2).fit(X, y)


PAPER_MESSAGE = "y has fewer than {} records of some labels, so they are not the default label: 'stray 0'"


@pytest.mark.parametrize("default", ["least_covered", "majority"])
@pytest.mark.parametrize(("min_support", "limit", "size"), [(1, "3", 1), (1, "3", 2), (5, "min_support=5", 4)])
def test_in_the_method_of_the_paper_a_rare_class_is_not_the_default_label(default, min_support, limit, size):
    clf = DRSClassifier(random_state=0, n_candidates=50, default=default, min_support=min_support)
    with pytest.warns(UserWarning, match=PAPER_MESSAGE.format(limit)) as caught:
        clf.fit(X, mislabel((size,)))
    assert str(caught[0].message).endswith("Correct these labels if they are mistakes, or give default")
    assert clf.rule_set_.default in ("No", "Yes")
    assert balanced_accuracy(clf) > 0.5


@pytest.mark.parametrize("sizes", [(), (1,), (2, 1)])
def test_the_rules_of_the_paper_do_not_depend_on_rare_classes(sizes):
    """The search counts all classes; only the default label differs from that of a user who gives it."""
    y = mislabel(sizes)
    clf = DRSClassifier(random_state=0, n_candidates=50)
    with pytest.warns(UserWarning, match=PAPER_MESSAGE.format(3)) if sizes else warnings.catch_warnings():
        clf.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = DRSClassifier(random_state=0, n_candidates=50, default=clf.rule_set_.default).fit(X, y)
        stray = DRSClassifier(random_state=0, n_candidates=50, default=clf.classes_[-1]).fit(X, y)
    assert clf.rule_set_ == given.rule_set_
    assert stray.rule_set_.default == clf.classes_[-1]  # a label that is given is used
    for other in (given, stray):
        assert (clf.rule_set_.rules, clf.history_) == (other.rule_set_.rules, other.history_)
        assert (clf.objective_, clf.lambda_) == (other.objective_, other.lambda_)


def test_a_class_smaller_than_the_support_gives_a_warning():
    """It is too large to be a rare class, and keeps its weight."""
    codes = np.repeat([0, 1, 2], [12, 12, 2])
    message = r"so rules may not find them: 'typo' \(2 records\)\. Correct .* mistakes, or lower min_support"
    with pytest.warns(UserWarning, match=f"y has fewer than min_support=3 records of some labels, {message}"):
        weights, rare, not_default = class_weights("balanced", ["a", "b", "typo"], codes, 3)
    np.testing.assert_allclose(weights, codes.size / 3 / np.bincount(codes))
    assert rare is None
    assert not not_default.any()
    table, y = np.random.default_rng(0).random((codes.size, 2)) + codes[:, None], np.array(["a", "b", "typo"])[codes]
    for clf in (DiverseRuleSetClassifier(random_state=0), DRSClassifier(random_state=0, min_support=3)):
        with pytest.warns(UserWarning, match=message):
            clf.fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DiverseRuleSetClassifier(random_state=0, min_support=2).fit(table, y)
        DiverseRuleSetClassifier(random_state=0, class_weight={"typo": 2}).fit(table, y)
        DRSClassifier(random_state=0).fit(table, y)


def test_weights_of_rare_classes():
    codes = np.repeat([0, 1, 2, 3], [600, 200, 2, 1])
    labels = ["a", "b", "c", "d"]
    with pytest.warns(UserWarning, match=r"'c' \(2 records\), 'd' \(1 record\)\. Correct these labels"):
        weights, rare, not_default = found = class_weights("balanced", labels, codes, 3)
    np.testing.assert_allclose(weights, [800 / 1200, 800 / 400, 1, 1])
    assert rare.tolist() == [False, False, True, True]
    assert not_default.tolist() == rare.tolist()
    np.testing.assert_allclose(found.for_search, [800 / 1200, 800 / 400, 0, 0])
    with pytest.warns(UserWarning, match="so no rule is learnt for them: 'd'"):
        weights, rare, _ = class_weights({"c": 5}, labels, codes, 3)
    assert weights.tolist() == [1, 1, 5, 1]
    assert rare.tolist() == [False, False, False, True]


def test_one_large_class_and_a_rare_one():
    """There must be two classes to learn from; the weight of the rare one is limited."""
    codes = np.repeat([0, 1], [7000, 1])
    with pytest.warns(UserWarning, match=r"so their weight is limited: True \(1 record\)"):
        weights, rare, not_default = class_weights("balanced", [False, True], codes, 3)
    assert rare is None
    assert not_default.tolist() == [False, True]
    assert weights[1] == 10 * weights[0]
    with pytest.warns(UserWarning, match=r"so rules may not find them: True \(1 record\)"):
        assert class_weights(None, [False, True], codes, 3).weights.tolist() == [1, 1]


def test_a_warning_lists_a_few_rare_classes():
    codes = np.append(np.repeat([0, 1], 500), np.arange(2, 100))
    with pytest.warns(UserWarning, match=r"2 \(1 record\), 3 .*, 6 \(1 record\), and 93 more"):
        class_weights("balanced", list(range(100)), codes, 3)


@pytest.mark.parametrize("sizes", [(6, 2, 2), (4, 4, 2), (2, 2, 2, 2, 2), (8, 1, 1), (8, 9, 2, 1)])
def test_in_a_small_table_no_class_is_rare(sizes):
    codes = np.repeat(np.arange(len(sizes)), sizes)
    weights, rare, _ = class_weights("balanced", list(range(len(sizes))), codes, 3)
    assert rare is None
    np.testing.assert_allclose(weights * sizes, codes.size / len(sizes))
    table = np.random.default_rng(0).random((codes.size, 3)) + codes[:, None]
    clf = DiverseRuleSetClassifier(random_state=0).fit(table, codes)
    assert clf.classes_.tolist() == list(range(len(sizes)))


def test_measures_are_those_of_the_table_without_rare_classes():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 20, (50, 4))
    totals = counts.sum(axis=0) + 5
    weights = np.array([0.7, 1.0, 1.9, 1.0])
    rare = np.array([False, True, False, True])
    measures = Measures(totals, weights, 5.0, 0.03, rare)
    reference = Measures(totals[~rare], weights[~rare], 5.0, 0.03)
    got, labels = measures.quality(counts, 2)
    expected = reference.quality(counts[:, ~rare], 2, np.searchsorted([0, 2], labels * ~rare[labels]))[0]
    np.testing.assert_allclose(got, np.where(rare[labels], 0, expected))
    assert rare[labels].any()
    np.testing.assert_array_equal(labels, np.argmax(measures.shares(counts), axis=1))
    for name in ("evidence", "log_likelihood", "weighted_gain"):
        np.testing.assert_allclose(getattr(measures, name)(counts), getattr(reference, name)(counts[:, ~rare]))


def test_a_class_of_weight_zero_adds_no_sets_of_categories():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 6, 400), rng.integers(0, 2, 400)
    expected = category_sets(codes, np.arange(6), Target(y, np.array([1.0, 1.0])))
    y[7] = 2
    assert category_sets(codes, np.arange(6), Target(y, np.array([1.0, 1.0, 0.0]))) == expected
    assert category_sets(codes, np.arange(6), Target(y, np.array([1.0, 1.0, 1.0]))) != expected
