"""Weights of records in fits: weight 2 is two copies, weight 0 is absence, on the rules themselves."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import naive
from conftest import make_mixed
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, RuleSet
from diverse_rule_sets._input.weights import MAX_WEIGHT, UNIT_BITS, weighted_records
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.data._sharded import ShardedBackend
from diverse_rule_sets.learn import _scorecards
from internal import classifier
from test_backends import ESTIMATORS

FIVE = {
    "default": partial(DiverseRuleSetClassifier, random_state=0),
    "paper": partial(DRSClassifier, random_state=0, n_candidates=30, max_rules=8),
    "CBA": CBAClassifier,
    "CN2": CN2Classifier,
    "IDS": partial(IDSClassifier, random_state=0),
}
each = pytest.mark.parametrize("make", FIVE.values(), ids=FIVE)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def repeated(X, y, weights):
    """Return a table in which each record is repeated as often as its weight says."""
    records = np.repeat(np.arange(len(y)), weights)
    return X.iloc[records].reset_index(drop=True), np.asarray(y)[records]


def mixed_table(seed=3, n=400):
    table, y = make_mixed(n, seed)
    X = pd.DataFrame(table)
    X["size"] = pd.Categorical(X["size"], ["S", "M", "L"], ordered=True)
    return X, y


def three_classes(seed=0, n=300):
    """Return a table of strings, numbers and gaps in which weak signs add up to one of three labels."""
    rng = np.random.default_rng(seed)
    signs = rng.random((n, 6)) < 0.5
    score = signs.sum(axis=1) + rng.normal(0, 0.7, n)
    X = pd.DataFrame({f"a{j}": np.where(signs[:, j], "yes", "no") for j in range(6)})
    X["n"] = np.where(rng.random(n) < 0.1, np.nan, np.round(score + rng.normal(0, 2, n), 2))
    X["town"] = rng.choice([f"t{j}" for j in range(30)], n)
    return X, np.where(score < 2.5, "low", np.where(score < 3.8, "middle", "high"))


def attributes(clf):
    """Return everything that a fit learns, as values that can be compared."""
    known = {name: getattr(clf, name, None) for name in ("history_", "objective_", "min_support_", "n_candidates_")}
    return clf.rule_set_.to_json(), clf.classes_.tolist(), known


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_weight_is_a_number_of_copies(name):
    """All column types, gaps, constraints, scorecards learnt and given; rules, counts, probabilities, attributes."""
    X, y = mixed_table()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    got = ESTIMATORS[name]().fit(X, y, sample_weight=weights)
    expected = ESTIMATORS[name]().fit(*repeated(X, y, weights))
    assert len(got.rule_set_) > 1
    assert attributes(got) == attributes(expected)


@each
@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_a_number_of_copies_with_three_classes(make, seed):
    X, y = three_classes(seed)
    weights = np.random.default_rng(seed).integers(0, 5, len(y)) * np.where(y == "high", 3, 1)
    assert attributes(make().fit(X, y, weights)) == attributes(make().fit(*repeated(X, y, weights)))


def test_scorecards_of_a_sample_are_those_of_the_repeated_table(monkeypatch):
    """With more records than the sample for scorecards has; also with so many that they are drawn class by class."""
    X, y = three_classes(1, 400)
    for two in (False, True):
        labels = np.where(y == "high", "high", "other") if two else y
        weights = np.random.default_rng(1).integers(0, 60, len(y)) // np.where(y == "high", 9, 1)
        assert weights.sum() > 5000
        make = partial(classifier, random_state=0, max_rules=8)
        found = [make().fit(X, labels, weights), make().fit(*repeated(X, labels, weights))]
        assert attributes(found[0]) == attributes(found[1])
        assert found[0].rule_set_.scorecards
        with monkeypatch.context() as patched:
            patched.setattr(_scorecards, "_MAX_PERMUTED", 1000)
            drawn = [make().fit(X, labels, weights), make().fit(*repeated(X, labels, weights))]
            assert attributes(drawn[0]) == attributes(drawn[1])
            assert drawn[0].rule_set_.scorecards


@pytest.mark.parametrize("binning", ["supervised", "uniform", "quantile"])
@pytest.mark.parametrize(
    "make", [partial(classifier, min_evidence=0, random_state=0), CBAClassifier], ids=["thresholds", "bins"]
)
def test_cut_points_and_categories_are_counted_by_weight(make, binning):
    """Also of columns with over 256 categories, and of identifiers, which depend on how often values occur."""
    rng = np.random.default_rng(5)
    n = 1500
    X = pd.DataFrame({"x": rng.normal(size=n).round(3), "many": rng.integers(0, 400, n).astype(str)})
    X["id"] = [f"r{j}" for j in range(n)]
    X["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    y = np.where((X["x"] > 0.3) ^ (rng.random(n) < 0.2), "b", "a")
    weights = rng.integers(0, 4, n)
    got = make(binning=binning).fit(X, y, weights)
    assert attributes(got) == attributes(make(binning=binning).fit(*repeated(X, y, weights)))
    copies = make(binning=binning).fit(X, y, np.full(n, 30))
    assert attributes(copies) == attributes(make(binning=binning).fit(*repeated(X, y, np.full(n, 30))))


@each
def test_weight_0_is_absence(make):
    """Of values, types, bad labels and whole classes that other records do not have."""
    X, y = mixed_table(4)
    X, y = X.astype({"age": object}), np.append(y, ["ugly", None, "good"])
    other = {"age": "unknown", "income (€ / year)": np.inf, "sex": "X", "smoker": "perhaps"}
    odd = pd.DataFrame([{**X.iloc[0].to_dict(), **other}] * 3).astype({"size": X["size"].dtype})
    whole = pd.concat([X, odd], ignore_index=True)
    weights = np.ones(len(y), int)
    weights[:40] = 0
    weights[-3:] = 0
    got = make().fit(whole, y, weights)
    assert attributes(got) == attributes(make().fit(X[40:].reset_index(drop=True), y[40:-3]))
    assert got.classes_.tolist() == ["bad", "good"]


@each
def test_equal_weights_below_1_or_of_1_change_nothing(make):
    X, y = mixed_table(5)
    expected = attributes(make().fit(X, y))
    for weights in (None, np.ones(len(y)), np.full(len(y), 0.3), [True] * len(y), pl.Series([1] * len(y))):
        assert attributes(make().fit(X, y, weights)) == expected
    assert attributes(make().fit(X, y, np.full(len(y), 2))) == attributes(make().fit(*repeated(X, y, [2] * len(y))))


@each
def test_other_weights_are_scaled(make):
    """Only their ratios matter, and the counts of the fit are those of the same weights on the same data."""
    X, y = mixed_table(6)
    weights = np.random.default_rng(2).lognormal(0, 1, len(y))
    got = make().fit(X, y, weights)
    assert attributes(got) == attributes(make().fit(X, y, weights * 4096))
    assert sum(got.rule_set_.class_totals) == pytest.approx(len(y), rel=1e-3)
    assert got.rule_set_.evaluated(X, y, weights) == got.rule_set_
    order = np.random.default_rng(3).permutation(len(y))
    other = got.rule_set_.evaluated(X.iloc[order], y[order], weights[order])
    assert other == got.rule_set_


@pytest.mark.parametrize("kind", ["whole", "fractions"])
@pytest.mark.parametrize("name", ["scorecards", "agreeing", "paper", "given scorecards", "CBA", "CN2", "IDS, tuned"])
def test_shards_and_threads_change_nothing(name, kind, monkeypatch):
    X, y = mixed_table(3)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 6, len(y)) if kind == "whole" else rng.random(len(y))
    expected = attributes(ESTIMATORS[name]().fit(X, y, weights))
    for make in (ShardedBackend.split, partial(ShardedBackend.split, n_shards=40)):
        clf = ESTIMATORS[name]()
        with monkeypatch.context() as patched:
            patched.setattr(type(clf), "_make_weighted_backend", staticmethod(make))
            assert attributes(clf.fit(X, y, weights)) == expected
    assert attributes(ESTIMATORS[name]().set_params(n_jobs=3).fit(X, y, weights)) == expected


@given(st.lists(st.integers(1, MAX_WEIGHT), min_size=1, max_size=30))
def test_whole_numbers_are_exact(weights):
    records, found = weighted_records(np.array(weights), len(weights))
    assert records is None
    assert (found is None) == (set(weights) == {1})
    if found is not None:
        assert (found.units.tolist(), found.unit) == naive.weights_in_units(weights)
        assert found.values.dtype == np.int64


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=30))
def test_other_weights_are_rounded_within_the_bound(weights):
    if all(weight == int(weight) for weight in weights):
        return
    ref, unit = naive.weights_in_units(weights)
    _, found = weighted_records(weights, len(weights))
    got = np.full(len(weights), 2**UNIT_BITS) if found is None else found.units
    assert found is None or found.unit == float(unit) == 2**-UNIT_BITS
    assert np.abs(got - ref).max() <= 1  # rounding errors of the scaled weights decide between two multiples
    exact = [naive.Fraction(weight) for weight in weights]
    scaled = [weight * len(exact) / sum(exact) for weight in exact]
    tiny = naive.Fraction(1, 2**40)
    for n, weight in zip(got.tolist(), scaled, strict=True):
        bound = unit / 2 if weight >= unit else unit
        assert abs(n * unit - weight) <= bound + tiny * max(weight, 1)


BAD_WEIGHTS = [
    ([1, -2, 3], ValueError, "sample_weight contains a negative number: record 2 has the weight -2.0, expected finite"),
    ([1, np.nan, 3], ValueError, "sample_weight contains NaN: record 2 has the weight nan"),
    ([1, None, 3], ValueError, "sample_weight contains NaN: record 2"),
    (pd.Series([1, pd.NA, 3], dtype="Int64"), ValueError, "sample_weight contains NaN: record 2"),
    ([1, np.inf, 3], ValueError, "sample_weight contains infinity: record 2 has the weight inf"),
    ([0, 0, 0], ValueError, "sample_weight is zero for every record, expected a positive weight for at least one"),
    ([1, 2], ValueError, "X has 3 records but sample_weight has 2 weights, expected one per record"),
    ([[1], [2], [3]], ValueError, r"sample_weight must be one-dimensional, .* got shape \(3, 1\)"),
    (["1", "b", "3"], TypeError, "sample_weight"),
    (np.array([1, "b", 3], object), TypeError, "sample_weight has the value 'b' for record 2, expected a vector"),
    (pd.to_datetime(["2020"] * 3), TypeError, "sample_weight holds values of type datetime64"),
    ("balanced", TypeError, "sample_weight is 'balanced', expected a vector of numbers, one per record"),
    (2.0, TypeError, "sample_weight is 2.0, expected a vector of numbers"),
    ([1, 2**31, 1], ValueError, "record 2 has the weight 2.14748e.09, expected at most 2,147,483,647"),
    ([1e300, 1e300, 1e300], ValueError, "sample_weight has whole numbers, which count records"),
]


@each
@pytest.mark.parametrize(("weights", "kind", "message"), BAD_WEIGHTS)
def test_bad_weights_are_refused_and_nothing_is_fitted(make, weights, kind, message):
    clf = make()
    with pytest.raises(kind, match=message):
        clf.fit([[1.0], [2.0], [3.0]], ["a", "b", "a"], weights)
    assert not hasattr(clf, "rule_set_")


def test_bad_weights_of_score():
    clf = CN2Classifier().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    with pytest.raises(ValueError, match="sample_weight contains a negative number: record 2"):
        clf.score([[1.0], [2.0], [3.0]], ["a", "b", "a"], [1, -2, 3])


@pytest.mark.parametrize("container", [list, np.array, pd.Series, pl.Series, "arrow", "objects"])
def test_weights_in_any_container(container):
    import pyarrow as pa

    weights = [0.5, 2.25, 1.0] * 50
    X, y = load_iris(return_X_y=True)
    make = {"arrow": pa.array, "objects": lambda some: np.array(some, object)}.get(container, container)
    expected = DiverseRuleSetClassifier(random_state=0).fit(X, y, np.array(weights)).rule_set_
    assert DiverseRuleSetClassifier(random_state=0).fit(X, y, make(weights)).rule_set_ == expected


@each
def test_tables_of_other_libraries(make):
    X, y = mixed_table(7)
    weights = np.random.default_rng(7).integers(0, 3, len(y))
    X["size"] = X["size"].astype(object)
    frame = pl.from_pandas(X)
    kept = np.repeat(np.arange(len(y)), weights)
    for table, part in ((frame, frame[kept]), (frame.to_arrow(), frame[kept].to_arrow())):
        assert attributes(make().fit(table, y, weights)) == attributes(make().fit(part, y[kept]))
    numbers = load_iris().data
    some = np.random.default_rng(8).integers(0, 3, 150)
    copies = np.repeat(np.arange(150), some)
    y = load_iris().target
    assert attributes(make().fit(numbers, y, some)) == attributes(make().fit(numbers[copies], y[copies]))
    lists = numbers.tolist()
    assert attributes(make().fit(lists, y, some)) == attributes(make().fit([lists[k] for k in copies], y[copies]))


def test_huge_weights_take_no_memory_for_copies():
    X, y = mixed_table(8, 200)
    weights = np.random.default_rng(0).integers(1, 2**30, len(y))
    for make in (*FIVE.values(), partial(IDSClassifier, weights="tuned", max_candidates=100, random_state=0)):
        clf = make().fit(X, y, weights)
        assert sum(clf.rule_set_.class_totals) == weights.sum()
        assert clf.rule_set_.evaluated(X, y, weights) == clf.rule_set_


def test_weights_matter():
    X = pd.DataFrame({"x": [1, 2, 3, 4] * 20, "z": [1, 1, 2, 2] * 20})
    y = np.array(["a", "b"] * 40)
    light = np.where(X["x"].isin([1, 4]), 5.5, 1.25)
    clf = DiverseRuleSetClassifier(random_state=0, class_weight=None).fit(X, y, light)
    heavy = light[y == "a"].sum() / light.sum()
    assert clf.rule_set_.class_totals[0] / sum(clf.rule_set_.class_totals) == pytest.approx(heavy, abs=1e-3)
    assert clf.score(X, y, light) == pytest.approx(np.average(clf.predict(X) == y, weights=light))


def test_progress_counts_by_weight():
    X, y = mixed_table(9)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    seen = []
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y, weights, on_progress=seen.append)
    n_covered = sum(clf.rule_set_.class_totals) - sum(clf.rule_set_.uncovered_counts)
    assert seen[-1].coverage == pytest.approx(n_covered / weights.sum())
    assert all(0 <= one.coverage <= 1 for one in seen if one.coverage is not None)


def test_metadata_routing_passes_weights_on():
    import sklearn
    from sklearn.model_selection import GridSearchCV

    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 3, 150)
    with sklearn.config_context(enable_metadata_routing=True):
        clf = CN2Classifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        grid = GridSearchCV(clf, {"max_rules": [2, 5]}, cv=3).fit(X, y, sample_weight=weights)
    best = grid.best_estimator_.rule_set_
    assert sum(best.class_totals) == weights.sum()


def test_the_rules_are_printed_and_read_back():
    X, y = mixed_table(6)
    weights = np.random.default_rng(2).lognormal(0, 1, len(y))
    for make in FIVE.values():
        rule_set = make().fit(X, y, weights).rule_set_
        read = RuleSet.parse(str(rule_set))
        assert read.same_rules(rule_set) or read.evaluated(X, y).same_rules(rule_set.evaluated(X, y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert RuleSet.from_json(rule_set.to_json()) == rule_set


@pytest.mark.parametrize("make", FIVE.values(), ids=FIVE)
def test_the_equivalence_check_of_scikit_learn_holds_in_the_order_of_the_records(make):
    """The check shuffles the weighted records, which changes what the first two classifiers draw at random."""
    rng = np.random.RandomState(42)
    X, y, weights = pd.DataFrame(rng.rand(15, 30)), rng.randint(0, 3, size=15), rng.randint(0, 5, size=15)
    got, expected = make().fit(X, y, weights), make().fit(*repeated(X, y, weights))
    np.testing.assert_array_equal(got.predict_proba(X), expected.predict_proba(X))


def test_bits_that_do_not_fit_into_memory_are_refused(monkeypatch):
    from diverse_rule_sets.data import _copies

    X, y = mixed_table(1)
    weights = np.random.default_rng(0).lognormal(0, 1, len(y))
    make = partial(DiverseRuleSetClassifier, random_state=0)
    with monkeypatch.context() as patched:
        patched.setattr(_copies, "physical_memory", lambda: 40_000.0)
        make().fit(X, y)
        with pytest.raises(
            MemoryError, match=r"items, whose bits with sample_weight would take .* GB; leave out columns"
        ):
            make().fit(X, y, weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_signs_of_a_sample_that_counts_records_are_those_of_copies(n_classes):
    """Records that are no copies have their weights in the sample for scorecards."""
    from diverse_rule_sets.learn._points import PointsSearch, Sample, log_losses

    rng = np.random.default_rng(n_classes)
    items, codes = rng.random((12, 150)) < 0.4, rng.integers(0, n_classes, 150)
    items[:n_classes] |= codes == np.arange(n_classes)[:, None]
    counts, columns = rng.integers(1, 5, 150), np.repeat(np.arange(6), 2)
    allowed, weights = np.ones((12, n_classes), bool), rng.random(n_classes) + 0.5
    copies = np.repeat(np.arange(150), counts)
    weighted = Sample(items, codes, weights, allowed, columns, counts.astype(float))
    repeated = Sample(items[:, copies], codes[copies], weights, allowed, columns)
    part = np.arange(0, 150, 2)
    for one, other in ((weighted, repeated), (weighted.take(part), repeated.take(np.flatnonzero(copies % 2 == 0)))):
        found, ref = (list(PointsSearch(sample, 9, 3).grow(4, 8)) for sample in (one, other))
        assert [scored.pairs for scored in found] == [scored.pairs for scored in ref]
        assert len(found) > 1
        np.testing.assert_allclose([scored.model.loss for scored in found], [scored.model.loss for scored in ref])
        losses = [log_losses(sample, *scored[-1]).sum() for sample, scored in ((one, found), (other, ref))]
        assert losses[0] == pytest.approx(losses[1])
