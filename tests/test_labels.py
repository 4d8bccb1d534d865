"""Labels of every library, and labels that are refused."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets._input.labels import encode_labels
from diverse_rule_sets.baselines import CBAClassifier

WORDS = ["a"] * 20 + ["b"] * 20
FLAGS = [word == "a" for word in WORDS]
X = pd.DataFrame({"v": np.arange(40.0)})
W = pd.DataFrame({"v": [1.0, 0.0] * 20})


@pytest.mark.parametrize(
    "y",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, object),
        np.array(WORDS, np.dtypes.StringDType()),
        pd.Series(WORDS, dtype="string"),
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string())),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pl.Series(WORDS, dtype=pl.Enum(["b", "a"])),
        pa.array(WORDS),
        pa.array(WORDS, pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pa.chunked_array([WORDS[:7], WORDS[7:]]),
    ],
)
def test_text_of_every_library(y):
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    assert clf.classes_.tolist() == ["a", "b"]
    assert clf.predict(X).tolist() == WORDS


@pytest.mark.parametrize(
    "y", [FLAGS, np.array(FLAGS), pd.Series(FLAGS, dtype="boolean"), pl.Series(FLAGS), pa.array(FLAGS)]
)
def test_booleans_of_every_library(y):
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    assert clf.classes_.dtype == bool
    assert clf.predict(X).tolist() == FLAGS


@pytest.mark.parametrize("form", [list, np.array, lambda y: pa.array(y, pa.uint64()), pl.Series])
def test_integers_from_2_to_the_63_on(form):
    y = [2**63 + flag for flag in FLAGS]
    for table in (X, pl.from_pandas(X), pa.Table.from_pandas(X)):
        clf = DiverseRuleSetClassifier(random_state=0).fit(table, form(y))
        assert clf.predict(table).tolist() == y
        explained = clf.explain(table)
        labels = explained["label"].to_pylist() if isinstance(table, pa.Table) else explained["label"].to_list()
        assert labels == y


def test_half_surrogate_pairs():
    y = ["\ud800" if flag else "b" for flag in FLAGS]
    for table, label in ((X, "\ud800"), (pl.from_pandas(X), r"\ud800"), (pa.Table.from_pandas(X), r"\ud800")):
        clf = DiverseRuleSetClassifier(random_state=0).fit(table, y)
        assert clf.predict(table).tolist() == y
        explained = clf.explain(table)
        first = explained["label"].to_pylist()[0] if isinstance(table, pa.Table) else explained["label"].to_list()[0]
        assert first == label  # polars and Arrow cannot store half of a pair, and get its escape sequence
        str(clf.rule_set_).encode("utf-8")


def test_128_bit_integers():
    y = pl.Series([int(flag) for flag in FLAGS], dtype=pl.Int128)
    assert DiverseRuleSetClassifier(random_state=0).fit(X, y).predict(X).tolist() == y.to_list()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([2**63, -1] * 20, r"y holds the number 9.223372036854776e\+18, too large"),
        ([2**63 + 1, -1] * 20, "y holds the number 9223372036854775809, too large"),
        ([10**30, 1] * 20, "y holds the number 10{30}, too large"),
        ([1e300, 1.0] * 20, r"y holds the number 1e\+300, too large"),
        ([1j, 2] * 20, "y holds labels of kind complex and number"),
        (np.array([1j, 2] * 20), "y holds complex numbers"),
        (np.ma.array([0, 1] * 20, mask=[True, False] * 20), "20 masked labels"),
        ([b"a", b"b"] * 20, "y holds labels of kind bytes"),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 20, "y holds labels of kind date"),
        ([True, 1] * 20, "y holds labels of kind boolean and number"),
        (["a", None] * 20, "20 missing labels"),
        (pa.array(["a", None] * 20), "20 missing labels"),
    ],
)
def test_labels_that_are_refused_in_one_line(y, message):
    with pytest.raises(ValueError, match=message) as caught:
        DiverseRuleSetClassifier().fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("large", [2**63, 2**64 - 1])
def test_whole_numbers_that_fit_into_64_bits_without_a_sign(large):
    for y in ([large, 0] * 20, pd.Series([large, 0] * 20, dtype=object), np.array([large, 0] * 20, np.uint64)):
        clf = DiverseRuleSetClassifier(random_state=0).fit(W, y)
        assert clf.classes_.tolist() == [0, large]
        assert clf.predict(W).tolist() == [large, 0] * 20
        assert clf.score(W, y) == 1


@pytest.mark.parametrize("labels", [[2**64, 0], [2**63, -1]])
def test_whole_numbers_that_fit_into_no_64_bits_are_an_error(labels):
    with pytest.raises(ValueError, match="too large; use strings"):
        DiverseRuleSetClassifier().fit(W, labels * 20)


@pytest.mark.parametrize(
    "y",
    [
        pl.Series([1, 0] * 20, dtype=pl.Int128),
        pa.array(["a", "b"] * 20),
        pa.chunked_array([[True, False] * 20]),
        pd.Series(["a", "b"] * 20, dtype="string"),
        pd.Series([1, 0] * 20, dtype="Int64"),
        pd.Series(["a", "b"] * 20, dtype="category"),
        [True, False] * 20,
    ],
    ids=str,
)
def test_the_score_accepts_the_labels_that_a_fit_accepts(y):
    for kind in (DiverseRuleSetClassifier, CBAClassifier):
        clf = kind().fit(W, y)
        assert clf.score(W, y) == 1
        assert clf.score(W, y, sample_weight=np.ones(40)) == 1


@pytest.mark.parametrize(
    "labels",
    [
        np.array(list("cabbac"), object),
        np.array(["b", "a", "b", ""], object),
        np.array([3, -2, 3, 0, -2]),
        np.array([200, 3, 200], np.uint8),
        np.array([5, 2**62, 5]),
        np.array([-(2**62), 2**62, 5]),
        np.array([True, False, True]),
        np.array([1.0, 3.0, 1.0]),
        np.array([7], np.int8),
        np.array([-128, 127, 0], np.int8),
    ],
)
def test_codes_are_those_of_sorted_distinct_labels(labels):
    classes, codes = encode_labels(labels, labels.size)
    assert classes.tolist() == sorted(set(labels.tolist()))
    assert [classes[k] for k in codes] == labels.tolist()
    assert (classes.dtype, codes.dtype) == (labels.dtype, np.int64)


@pytest.mark.parametrize("make", [str, int, float])
@pytest.mark.parametrize(("n_classes", "n_records", "warns"), [(20, 20, False), (21, 21, True), (21, 40, True)])
def test_many_labels_warn_as_in_scikit_learn(make, n_classes, n_records, warns):
    labels = np.array([make(k % n_classes) for k in range(n_records)], object)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        encode_labels(labels, n_records)
    assert bool(found) == warns


@pytest.mark.parametrize("make", [str, int, float])
def test_many_labels_of_several_records_do_not_warn(make):
    labels = np.array([make(k % 50) for k in range(100)], object)
    assert encode_labels(labels, 100)[0].size == 50
