"""The answer for a record does not depend on the other records of the table."""

import datetime
import decimal
import fractions
import math
import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, Equals, IsIn, IsNotIn, Rule, RuleSet
from diverse_rule_sets._input.tables import as_table

DAY = datetime.datetime(2020, 1, 1)
ZONE = datetime.timezone(datetime.timedelta(hours=5))
# Values of every type, among them values that Python treats as equal although their types differ.
VALUES = [
    *(True, False, np.bool_(True), 0, 1, 1.0, np.int8(1), np.float32(0.5), 0.5, decimal.Decimal("0.5")),
    *(fractions.Fraction(1, 2), 2**53, 2**53 + 1, float(2**53), -(2**70), math.inf),
    *("1", "True", "2020-01-01", "n/a", np.str_("n/a"), b"1", b"n/a"),
    *(DAY, DAY.date(), np.datetime64("2020-01-01"), pd.Timestamp("2020-01-01 00:00:00.000000001")),
    *(DAY.replace(microsecond=1), DAY.replace(tzinfo=datetime.UTC), DAY.replace(hour=5, tzinfo=ZONE)),
]
MISSING = [None, math.nan, pd.NA, pd.NaT, decimal.Decimal("NaN"), decimal.Decimal("sNaN"), np.datetime64("NaT")]


KINDS = (DiverseRuleSetClassifier, partial(DiverseRuleSetClassifier, scorecards=None), DRSClassifier)


def objects(values):
    return pd.DataFrame({"m": pd.Series(values, dtype=object)})


def assert_no_batch(clf, X):
    labels, probabilities = clf.predict(X), clf.predict_proba(X)
    for i in range(len(X)):
        record = X.slice(i, 1) if isinstance(X, pa.Table) else X[i : i + 1]
        assert clf.predict(record)[0] == labels[i]
        assert clf.predict_proba(record)[0].tolist() == probabilities[i].tolist()


@pytest.mark.parametrize(
    "values",
    [
        ["n/a", DAY],
        [1, True],
        [1, True, "a"],
        [True, 1.5, b"a"],
        [2**53, 2**53 + 1, "a"],
        [2**53, 2**53 + 2, 5],
        [DAY, DAY.date(), "x"],
        [DAY.replace(tzinfo=datetime.UTC), DAY.replace(hour=5, tzinfo=ZONE), DAY, "x"],
        [decimal.Decimal("0.5"), "a", 0.5],
    ],
)
@pytest.mark.parametrize("kind", KINDS, ids=["scorecards", "plain", "as in the paper"])
@pytest.mark.filterwarnings("ignore:column 'm' holds whole numbers from 2")
def test_a_record_alone_gets_the_label_that_it_gets_in_a_table(kind, values):
    X = objects(values * (60 // len(values)))
    y = [["no", "yes", "maybe"][i % len(values) % 3] for i in range(len(X))]
    clf = kind(random_state=0).fit(X, y)
    assert_no_batch(clf, X)
    again = RuleSet.from_json(clf.rule_set_.to_json())
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert [again.predict(X[i : i + 1])[0] for i in range(len(X))] == clf.predict(X).tolist()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([value for value in VALUES if value != math.inf] + MISSING), min_size=4, max_size=14),
    st.lists(st.sampled_from(["no", "yes", "maybe"]), min_size=14, max_size=14),
    st.sampled_from(["series", "array", "list"]),
    st.sampled_from([None, "auto"]),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_mixture_of_values(values, labels, form, scorecards):
    X = objects(values)
    if form == "array":
        X = X.to_numpy()
    elif form == "list":
        X = [[value, "text"] for value in values]
    clf = DiverseRuleSetClassifier(random_state=0, min_support=1, min_evidence=0, scorecards=scorecards)
    zones = {naive.value_type(value) for value in values if not naive.is_missing(value)}
    if zones == {"date", "date in UTC"}:
        with pytest.raises(TypeError, match=r"column '.*' mixes dates with and without a time zone"):
            clf.fit(X, labels[: len(values)])
        return
    clf.fit(X, labels[: len(values)])
    assert_no_batch(clf, X)
    for rule in clf.rule_set_.all_rules:
        if form == "series":
            again = Rule.parse(str(rule), clf.rule_set_.scorecards, orders=clf.rule_set_.orders)
            assert again == rule
            assert again.covers(X).tolist() == rule.covers(X).tolist()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(VALUES + MISSING), min_size=1, max_size=8),
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
)
def test_values_are_compared_by_type_and_value(values, listed):
    column = as_table(objects(values)).column("m", "category")
    same = [[naive.same_value(value, one) for one in listed] for value in values]
    known = [not naive.is_missing(value) for value in values]
    assert Equals("m", listed[0]).holds(column).tolist() == [row[0] for row in same]
    assert IsIn("m", tuple(listed)).holds(column).tolist() == [any(row) for row in same]
    expected = [is_known and not any(row) for is_known, row in zip(known, same, strict=True)]
    assert IsNotIn("m", tuple(listed)).holds(column).tolist() == expected
    for one in listed:
        for other in listed:
            assert (Equals("m", one) == Equals("m", other)) == naive.same_value(one, other)
            if naive.same_value(one, other):
                assert hash(Equals("m", one)) == hash(Equals("m", other))


COLUMNS = {
    "text": pd.Series(["1", "2", None] * 10),
    "bytes": pd.Series([b"1", b"2", None] * 10, dtype=object),
    "number": pd.Series([1.0, 2.0, None] * 10),
    "boolean": pd.Series([True, False, None] * 10, dtype="boolean"),
    "date": pd.Series([DAY, DAY.replace(day=2), None] * 10),
    "date (UTC)": pd.Series([DAY, DAY.replace(day=2), None] * 10).dt.tz_localize("UTC"),
    "category of numbers": pd.Series([1, 2, None] * 10, dtype="category"),
    "category of dates": pd.Series([DAY, DAY.replace(day=2), None] * 10, dtype="category"),
    "category of dates (UTC)": pd.Series(
        pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02", None] * 10, utc=True))
    ),
}
# Pairs of a type in training and another type whose values can be the same.
COMPATIBLE = {
    *(("number", "category of numbers"), ("category of numbers", "number")),
    *(("number", "boolean"), ("category of numbers", "boolean")),
    *(("date", "category of dates"), ("category of dates", "date")),
    *(("date (UTC)", "category of dates (UTC)"), ("category of dates (UTC)", "date (UTC)")),
}


@pytest.mark.parametrize("later", COLUMNS)
@pytest.mark.parametrize("training", COLUMNS)
def test_a_column_of_another_type_than_in_training_is_an_error(training, later):
    y = ["a", "b", "a"] * 10
    clf = DiverseRuleSetClassifier(random_state=0).fit(pd.DataFrame({"c": COLUMNS[training]}), y)
    assert dict(clf.rule_set_.kinds) == {"c": training}
    expected = clf.predict(pd.DataFrame({"c": COLUMNS[training]}))
    for form in (COLUMNS[later], COLUMNS[later].astype(object)):
        new = pd.DataFrame({"c": form})
        if training == later or ((training, later) in COMPATIBLE and later != "boolean"):
            assert clf.predict(new).tolist() == expected.tolist()
        elif (training, later) in COMPATIBLE:
            clf.predict(new)
        else:
            with pytest.raises(ValueError, match=r"column 'c' holds .*values.*, expected .*values"):
                clf.predict(new)
    assert clf.predict(pd.DataFrame({"c": [None] * 3})).tolist() == [clf.predict(new_missing(training))[0]] * 3


def new_missing(kind):
    return pd.DataFrame({"c": COLUMNS[kind][2:3]})


def test_a_column_of_several_types_accepts_each_of_them_alone():
    X = objects(["n/a", DAY, 5, True] * 10)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, ["a", "b", "c", "a"] * 10)
    a, b, c, d = clf.predict(X)[:4]
    assert clf.predict(pd.DataFrame({"m": ["n/a", "n/a"]})).tolist() == [a, a]
    assert clf.predict(pd.DataFrame({"m": [DAY, DAY]})).tolist() == [b, b]
    assert clf.predict(pd.DataFrame({"m": [5.0, 5.0]})).tolist() == [c, c]
    assert clf.predict(pl.DataFrame({"m": [True, True]})).tolist() == [d, d]
    assert clf.predict(pa.table({"m": pa.array([DAY.date()])})).tolist() == [b]


def test_an_error_names_the_value_of_another_type():
    clf = DiverseRuleSetClassifier(random_state=0).fit(pd.DataFrame({"c": ["x", "y"] * 20}), ["a", "b"] * 20)
    with pytest.raises(ValueError, match=r"column 'c' holds number values such as 5, expected text values"):
        clf.predict(pd.DataFrame({"c": pd.Series(["x", 5], dtype=object)}))


def test_numbers_and_booleans_that_later_are_booleans_only():
    X = objects([0, 1, 2, True, False, 3] * 10)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, ["a", "b", "b", "b", "a", "b"] * 10)
    assert clf.predict(objects([True, False])).tolist() == ["b", "a"]
    assert clf.predict(pd.DataFrame({"m": [True, False]})).tolist() == ["b", "a"]


def test_nanoseconds_are_truncated_in_every_form():
    days = pd.to_datetime(["2020-01-01 00:00:00.000000999", "2020-01-01 00:00:00.000001001"] * 20)
    y = ["a", "b"] * 20
    for column in (days, pd.Categorical(days), pd.Series(days, dtype=object), [*days[:39], "x"]):
        X = pd.DataFrame({"t": pd.Series(column)})
        clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
        expected = clf.predict(X).tolist()
        assert expected[:39] == y[:39]
        assert RuleSet.from_json(clf.rule_set_.to_json()).predict(X).tolist() == expected
        space = {}
        exec(clf.rule_set_.to_python(), space)
        assert [space["predict"]({"t": value})["label"] for value in X["t"]] == expected
        numpy_dates = [v.to_datetime64() if isinstance(v, pd.Timestamp) else v for v in X["t"]]
        assert [space["predict"]({"t": value})["label"] for value in numpy_dates] == expected


def test_dates_that_microseconds_cannot_represent_are_an_error():
    X = pd.DataFrame({"t": np.array(["2020-01-01", "300000-01-01"], "datetime64[s]")})
    with pytest.raises(ValueError, match="column 't' contains the date 300000-01-01"):
        DiverseRuleSetClassifier().fit(X, ["a", "b"])
    clf = DiverseRuleSetClassifier(random_state=0).fit(
        pd.DataFrame({"t": np.array(["2020-01-01", "2021-01-01"] * 9, "datetime64[s]")}), ["a", "b"] * 9
    )
    with pytest.raises(ValueError, match="column 't' contains the date 300000-01-01"):
        clf.predict(X)


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_time_zone_may_lead_out_of_the_years_1_to_9999(hours):
    zone = datetime.timezone(datetime.timedelta(hours=hours))
    far = (datetime.datetime.max if hours < 0 else datetime.datetime.min).replace(tzinfo=zone)
    near = DAY.replace(tzinfo=datetime.UTC)
    X = objects([near, near.replace(year=2021)] * 10)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, ["a", "b"] * 10)
    assert clf.predict(objects([far, near])).tolist() == ["b" if hours < 0 else "a", "a"]
    space = {}
    exec(clf.rule_set_.to_python(), space)
    assert space["predict"]({"m": far})["label"] == ("b" if hours < 0 else "a")
    with pytest.raises(ValueError, match="outside the years 1 to 9999"):
        Equals("m", far)


@pytest.mark.parametrize(
    "name",
    [math.nan, pd.NaT, pd.NA, ("b", math.nan), ("b", (1, pd.NaT)), frozenset({pd.NA}), (decimal.Decimal("nan"),)],
)
def test_a_name_that_equals_no_name_is_an_error(name):
    with pytest.raises(ValueError, match=r"column 2 of X has the name .*; rename the column"):
        DiverseRuleSetClassifier().fit(
            pd.DataFrame([[1, 2], [3, 4]], columns=pd.Index(["a", name], dtype=object, tupleize_cols=False)), [0, 1]
        )


def test_rules_without_known_types_do_not_depend_on_the_batch():
    rules = RuleSet((Rule.parse("IF m = 1 THEN p"), Rule.parse("IF m = 'x' THEN p")), ("p", "q"), "q", (0, 0), (0, 0))
    X = objects(["x", 1, True, b"x", DAY, None])
    labels = rules.predict(X).tolist()
    assert labels == ["p", "p", "q", "q", "q", "q"]
    assert [rules.predict(X[i : i + 1])[0] for i in range(len(X))] == labels


@pytest.mark.parametrize("values", [["n/a", 1], [1, "n/a"], [True, "n/a", 2.5], ["n/a", DAY], ["n/a", b"x"]])
def test_rules_without_known_types_do_not_depend_on_the_batch_of_a_category(values):
    """The type of a category is that of all declared categories, which all slices have."""
    rules = RuleSet((Rule.parse('IF m = "n/a" THEN u'),), ("u", "v"), "v", (5, 5), (0, 5))
    X = pd.DataFrame({"m": pd.Categorical(values, categories=pd.Index(values, dtype=object))})
    labels = ["u" if value == "n/a" else "v" for value in values]
    assert rules.predict(X).tolist() == labels
    assert [rules.predict(X.iloc[[i]])[0] for i in range(len(X))] == labels


@pytest.mark.parametrize("values", [[1, 2], [1.5, 2.5], [1, 2.5], [True, False], [b"x", b"y"], [DAY.date()]])
def test_a_category_of_another_type_is_an_error_for_a_rule_without_known_types(values):
    rules = RuleSet((Rule.parse('IF m = "n/a" THEN u'),), ("u", "v"), "v", (5, 5), (0, 5))
    for categories in (pd.Index(values), pd.Index(values, dtype=object)):
        X = pd.DataFrame({"m": pd.Categorical(values, categories=categories)})
        for part in (X, X.iloc[:1]):
            with pytest.raises(ValueError, match=r"column 'm' holds .*, expected text values for the condition"):
                rules.predict(part)


@pytest.mark.parametrize(
    ("later", "example"),
    [
        (pd.Series([None, "x", "y"]), "text values such as 'x'"),
        (pd.Series(["y", "x"], dtype="category"), "text values such as 'y'"),
        (pd.Series([DAY, DAY]), "date values such as datetime.datetime"),
        (pd.Series([b"x"], dtype=object), "bytes values such as b'x'"),
    ],
)
def test_an_error_names_a_value_of_the_wrong_type(later, example):
    clf = DiverseRuleSetClassifier(random_state=0).fit(pd.DataFrame({"c": range(40)}), [0] * 20 + [1] * 20)
    with pytest.raises(ValueError, match=f"column 'c' holds {re.escape(example)}.*, expected number values"):
        clf.predict(pd.DataFrame({"c": later}))
    texts = DiverseRuleSetClassifier(random_state=0).fit(pd.DataFrame({"c": list("ab") * 20}), [0, 1] * 20)
    with pytest.raises(ValueError, match=r"column 'c' holds number values such as 5.*, expected text values"):
        texts.predict(pd.DataFrame({"c": [5, 6]}))
    with pytest.raises(ValueError, match="column 'c' holds boolean values such as True, expected text values"):
        texts.predict(pd.DataFrame({"c": [True]}))


STORED = {
    "big-endian floats": pd.DataFrame({"c": np.array([1.5, 2.5] * 20, ">f8")}),
    "big-endian integers": pd.DataFrame({"c": np.array([1, 2] * 20, ">i4")}),
    "big-endian dates": pd.DataFrame({"c": np.array(["2020-01-01", "2021-01-01"] * 20, "M8[s]").astype(">M8[s]")}),
    "days of Arrow": pd.DataFrame({"c": pd.Series([DAY.date(), None] * 20, dtype="date32[pyarrow]")}),
    "a pattern of polars": pl.DataFrame({"^a.*$": [1, 2] * 20, "a1": [0, 0] * 20, "ab": ["x", "x"] * 20}),
}


@pytest.mark.parametrize("X", STORED.values(), ids=STORED)
def test_columns_that_libraries_store_in_another_way(X):
    """They are fitted, and a record has the same label in any batch."""
    for kind in KINDS:
        clf = kind(random_state=0).fit(X, ["p", "q"] * 20)
        assert clf.predict(X).tolist() == ["p", "q"] * 20
        assert [clf.predict(X[i : i + 1])[0] for i in range(4)] == ["p", "q", "p", "q"]
        assert clf.rule_set_.columns == (X.columns[0],)


@pytest.mark.parametrize(
    "later", [[True, False], pd.Series([True, False], dtype=object), pd.Categorical([True, False])]
)
def test_booleans_count_as_numbers_in_a_category_of_numbers(later):
    X = pd.DataFrame({"c": pd.Series([0, 1, 2] * 10, dtype="category")})
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, ["a", "b", "a"] * 10)
    assert clf.predict(pd.DataFrame({"c": later})).tolist() == ["b", "a"]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_date_outside_the_years_1_to_9999_is_explained(zone):
    days = pd.Series([DAY, DAY.replace(year=2021)] * 10).dt.tz_localize(zone)
    clf = DiverseRuleSetClassifier(random_state=0).fit(pd.DataFrame({"t": days}), ["a", "b"] * 10)
    far = pd.DataFrame({"t": pd.Series(np.array(["12000-01-01"], "datetime64[s]")).dt.tz_localize(zone)})
    assert "t is 12000-01-01T00:00:00" in clf.why(far)[0]
