import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from diverse_rule_sets import encoding
from diverse_rule_sets._bitset import unpack
from diverse_rule_sets._tables import as_table
from diverse_rule_sets.encoding import encode, shortest_date, shortest_number

floats = st.floats(allow_nan=False, allow_infinity=False)


def encoded(X, binning="uniform", n_bins=5):
    table = as_table(X)
    found = encode(table, binning, n_bins)
    return [str(c) for c in found.conditions], unpack(found.rows, table.n_records)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.integers(2, 8))
def test_uniform_bins_put_records_together_as_pandas_cut_does(values, n_bins):
    low, high = min(values), max(values)
    assume(high - low > 1e-3)
    edges = np.linspace(low, high, n_bins + 1)
    # On an edge the two may round differently: left out.
    assume(np.abs(np.subtract.outer(values, edges[1:-1])).min() > 1e-7 * max(abs(low), abs(high)))
    _, bits = encoded(np.array(values)[:, None], n_bins=n_bins)
    expected = pd.cut(np.array(values), bins=n_bins, labels=False)
    assert {tuple(row) for row in bits} == {tuple(expected == b) for b in set(expected)} or len(set(expected)) == 1
    assert (bits.sum(axis=0) == 1).all() or len(set(expected)) == 1


@given(floats, floats, st.floats(0, 1))
def test_shortest_number_separates_as_the_edge_does(a, b, where):
    low, high = min(a, b), max(a, b)
    assume(low < high)
    edge = min(max(low + (high / 2 - low / 2) * 2 * where, low), np.nextafter(high, -np.inf))
    assert low <= shortest_number(edge, low, high) < high


@given(st.floats(-1e4, 1e4), st.floats(1e-4, 1e3), st.floats(0, 0.999))
def test_shortest_number_equals_the_oracle(low, width, where):
    high = low + width
    edge = low + width * where
    assume(low <= edge < high)
    got, ref = shortest_number(edge, low, high), naive.shortest_number(edge, low, high)
    assert got == ref or abs(got - edge) == pytest.approx(abs(ref - edge), rel=1e-9)  # as near on the other side
    assert len(repr(got)) <= len(repr(ref)) + 1


def test_shortest_number_does_not_depend_on_the_callers_decimal_context():
    with decimal.localcontext() as context:
        context.traps[decimal.Inexact] = True
        context.prec = 3
        assert shortest_number(0.58, 0.55, 0.6) == 0.58


@pytest.mark.parametrize("binning", ["uniform", "quantile"])
@pytest.mark.parametrize(
    "values", [[0, 0, 0, 1, 1, 1], [1.0, np.nextafter(1, 2)], [1, 2, 3, 9, 9, 9, 9], [5e-324, 0.0]]
)
def test_outer_intervals_are_open(values, binning):
    """Values beyond the range of training belong to the outer bins."""
    table = as_table(np.array(values, float)[:, None])
    conditions = encode(table, binning, 5).conditions
    beyond = as_table(np.array([[-1e300], [1e300]])).column("x0")
    assert [sum(c.holds(beyond)[k] for c in conditions) for k in (0, 1)] == [1, 1]


@pytest.mark.parametrize(
    ("edge", "low", "high", "short"),
    [
        (0.8, 0.6, 1.0, 0.8),
        (0.58, 0.5, 0.6, 0.5),
        (0.58, 0.55, 0.6, 0.58),
        (38.7, 37.0, 43.0, 40.0),
        (37.2, 37.0, 38.0, 37.0),
        (0.01, -3.0, 0.5, 0.0),
        (5.8, 1.0, 6.0, 5.0),
        (123456.7, 123456.0, 123457.0, 123456.0),
        (-0.123, -0.13, -0.12, -0.13),
        (1e-300, 0.0, 5e-300, 0.0),
        (1e300, 9e299, 2e300, 1e300),
    ],
)
def test_shortest_number(edge, low, high, short):
    assert shortest_number(edge, low, high) == short


@pytest.mark.parametrize(
    ("edge", "low", "high", "short"),
    [
        ("2019-12-20T10:11", "2019-10-01", "2020-03-01", "2020-01-01"),
        ("2020-02-10T10:11", "2020-01-20", "2020-03-05", "2020-02-01"),
        ("2020-02-10T10:11", "2020-02-09T01", "2020-02-11T01", "2020-02-10"),
        ("2020-02-10T10:11", "2020-02-10T10:05", "2020-02-10T10:15", "2020-02-10T10:11"),
        ("1960-05-05T10:00", "1960-01-01", "1961-01-01", "1960-01-01"),
    ],
)
def test_shortest_date(edge, low, high, short):
    edge, low, high, short = (np.datetime64(text, "us") for text in (edge, low, high, short))
    assert shortest_date(edge, low, high) == short


@given(st.lists(floats, min_size=1, max_size=30), st.sampled_from(["uniform", "quantile"]), st.integers(2, 7))
def test_intervals_of_a_column_partition_its_records(values, binning, n_bins):
    _, bits = encoded(np.array(values)[:, None], binning, n_bins)
    if len(bits):
        assert (bits.sum(axis=0) == 1).all()
    assert len(bits) <= n_bins
    assert len(bits) != 1  # an item that holds for all records tells nothing


def test_quantile_bins_hold_about_as_many_records_each():
    values = np.random.default_rng(0).lognormal(0, 3, 1000)
    _, bits = encoded(values[:, None], "quantile", 5)
    assert bits.sum(axis=1).tolist() == [200] * 5


def test_given_edges_are_taken_as_they_are():
    frame = pd.DataFrame({"age": [10, 20, 30, 40], "since": pd.to_datetime(["2020", "2021", "2022", "2023"])})
    names, _ = encoded(frame, {"age": [25, 12.34567], "since": ["2021-06-01"]})
    assert names == [
        "age <= 12.34567",
        "12.34567 < age <= 25",
        "age > 25",
        "since <= 2021-06-01",
        "since > 2021-06-01",
    ]
    names, _ = encoded(frame, {"since": "quantile"}, n_bins=2)
    assert names == ["age <= 20", "age > 20", "since <= 2021-01-01", "since > 2021-01-01"]


def test_categories_missing_and_constants():
    frame = pd.DataFrame(
        {
            "sex": ["F", "M", None, "F"],
            "constant": ["a"] * 4,
            "gone": [None] * 4,
            "one": [1, 1, np.nan, 1],
            "flag": [True, False, True, True],
        }
    )
    names, bits = encoded(frame)
    assert names == ['sex = "F"', 'sex = "M"', "sex is missing", "one is missing", "flag = False", "flag = True"]
    assert bits[0].tolist() == [True, False, False, True]


def test_ordered_categories_keep_their_order():
    frame = pd.DataFrame({"size": pd.Categorical(["L", "S", "M"], ["S", "M", "L"], ordered=True)})
    assert encoded(frame)[0] == ['size = "S"', 'size = "M"', 'size = "L"']


def test_dates_are_cut_and_rounded():
    days = pd.date_range("2015-01-03", "2024-12-20", periods=500)
    names, bits = encoded(pd.DataFrame({"since": days}))
    assert names[0] == "since <= 2017-01-01"
    assert names[-1] == "since > 2022-12-23"
    assert (bits.sum(axis=0) == 1).all()


def test_many_categories_are_bounded_with_a_warning():
    values = [f"id {k}" for k in range(100_000)] + ["often"] * 5
    with pytest.warns(UserWarning, match=r"column 'customer' has 100,001 different values.*256 most frequent"):
        names, _ = encoded(pd.DataFrame({"customer": values}))
    assert len(names) == 256
    assert 'customer = "often"' in names


def test_exactly_as_many_categories_as_allowed_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names, _ = encoded(pd.DataFrame({"c": [str(k) for k in range(encoding.MAX_CATEGORIES)]}))
    assert len(names) == encoding.MAX_CATEGORIES


def test_more_items_than_memory_is_an_error_that_says_what_to_change(monkeypatch):
    assert 1e8 < encoding._physical_memory() < 1e15
    monkeypatch.setattr(encoding, "_physical_memory", lambda: 10_000.0)
    X = np.random.default_rng(0).random((1000, 50))
    with pytest.raises(MemoryError, match="lower n_bins"):
        encoded(X)


@pytest.mark.parametrize(
    ("binning", "message"),
    [
        ({"nope": [1]}, "binning names the column 'nope'"),
        ({"sex": [1]}, "binning gives edges for the column 'sex', which holds text values"),
        ({"age": ["old"]}, "binning gives the edge 'old' for the column 'age', expected a finite number"),
        ({"age": [np.inf]}, "binning gives the edge inf"),
        ({"day": [20200401]}, "edge 20200401 for the column 'day', expected a date without a time zone"),
        ({"day": ["2020-01-01T00:00+01:00"]}, "expected a date without a time zone"),
        ({"zoned": ["2020-01-01"]}, "expected a date and time with a time zone"),
    ],
)
def test_bad_edges_are_named(binning, message):
    days = pd.to_datetime(["2020-01-01", "2020-02-01"])
    frame = pd.DataFrame({"sex": ["F", "M"], "age": [1, 2], "day": days, "zoned": days.tz_localize("Europe/Stockholm")})
    with pytest.raises(ValueError, match=message):
        encoded(frame, binning)


@pytest.mark.parametrize(
    "edge",
    [
        "2020-01-15",
        datetime.date(2020, 1, 15),
        datetime.datetime(2020, 1, 15),
        np.datetime64("2020-01-15"),
        pd.Timestamp("2020-01-15"),
    ],
)
def test_dates_as_edges(edge):
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-02-01"])})
    assert encoded(frame, {"day": [edge]})[0] == ["day <= 2020-01-15", "day > 2020-01-15"]


def test_a_zoned_edge_on_a_zoned_column():
    days = pd.to_datetime(["2020-01-01", "2020-02-01"]).tz_localize("Europe/Stockholm")
    names, _ = encoded(pd.DataFrame({"day": days}), {"day": [pd.Timestamp("2020-01-15", tz="Europe/Stockholm")]})
    assert names == ["day <= 2020-01-14 23:00:00Z", "day > 2020-01-14 23:00:00Z"]


def test_whole_numbers_that_floating_point_cannot_tell_apart_are_warned_of():
    with pytest.warns(UserWarning, match="column 'id' holds whole numbers from"):
        encoded(pd.DataFrame({"id": np.arange(200) + 2**53}))


def test_infinite_values_are_named():
    with pytest.raises(ValueError, match="infinity in the column 'b'"):
        encoded(pd.DataFrame({"a": [1, 2.0], "b": [1, np.inf]}))


def test_dates_out_of_range_are_refused():
    with pytest.raises(ValueError, match="outside the years"):
        encoding._moment(np.datetime64("20000-01-01", "us"), "date")
    assert encoding._moment(np.datetime64("2000-01-01", "us"), "date (UTC)") == datetime.datetime(
        2000, 1, 1, tzinfo=datetime.UTC
    )
