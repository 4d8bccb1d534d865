import datetime
import decimal
import itertools
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive
from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    Rule,
    Scorecard,
)
from diverse_rule_sets._bits.bitset import unpack
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets.data import _categories, _rounding
from diverse_rule_sets.data import _encoder as encoding
from diverse_rule_sets.data._cut_points import MAX_SET, Target
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.data._given import GivenCondition, GivenConditions
from diverse_rule_sets.data._possible_conditions import CutOptions
from diverse_rule_sets.data._rounding import shortest_date, shortest_number

floats = st.floats(allow_nan=False, allow_infinity=False)
BINNINGS = ["uniform", "quantile", "supervised"]


def encode_all(X, binning="uniform", n_bins=5, y=None, **how):
    """Encode a table for the classes y with equal weights; for one class if y is None."""
    table = as_table(X)
    codes = np.zeros(table.n_records, np.int64) if y is None else np.asarray(y, np.int64)
    return encode(table, CutOptions(binning, n_bins, **how), Target(codes, np.ones(codes.max() + 1)))


def encode(table, options, target):
    """Return the conditions of a table and its bits; fit and transform separately must give the same."""
    encoder = Encoder(options)
    rows = encoder.fit_transform(table, target).rows
    with warnings.catch_warnings(action="ignore"):
        separate = Encoder(options).fit(table, target)
    assert separate.conditions == encoder.conditions
    assert separate.columns.tolist() == encoder.columns.tolist()
    assert separate.opposites.tolist() == encoder.opposites.tolist()
    assert np.array_equal(separate.transform(table).rows, rows)
    return SimpleNamespace(
        conditions=encoder.conditions, columns=encoder.columns, opposites=encoder.opposites, rows=rows
    )


def encoded(X, *args, **how):
    found = encode_all(X, *args, **how)
    return [str(c) for c in found.conditions], unpack(found.rows, len(X))


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40), st.integers(2, 8))
def test_uniform_bins_equal_those_of_pandas_cut(values, n_bins):
    low, high = min(values), max(values)
    assume(high - low > 1e-3)
    edges = np.linspace(low, high, n_bins + 1)
    # Values on an edge are excluded: there both may round differently.
    assume(np.abs(np.subtract.outer(values, edges[1:-1])).min() > 1e-7 * max(abs(low), abs(high)))
    _, bits = encoded(np.array(values)[:, None], n_bins=n_bins)
    expected = pd.cut(np.array(values), bins=n_bins, labels=False)
    assert {tuple(row) for row in bits} == {tuple(expected == b) for b in set(expected)} or len(set(expected)) == 1
    assert (bits.sum(axis=0) == 1).all() or len(set(expected)) == 1


@given(floats, floats, st.floats(0, 1))
def test_shortest_number_separates_as_the_edge_does(a, b, where):
    low, high = min(a, b), max(a, b)
    assume(low < high)
    edge = min(max(low + (high / 2 - low / 2) * where * 2, low), np.nextafter(high, -np.inf))
    assert low <= shortest_number(edge, low, high) < high


@given(st.floats(-1e4, 1e4), st.floats(1e-4, 1e3), st.floats(0, 0.999))
def test_shortest_number_equals_the_oracle(low, width, where):
    high = low + width
    edge = low + width * where
    assume(low <= edge < high)
    got, ref = shortest_number(edge, low, high), naive.shortest_number(edge, low, high)
    assert got == ref or abs(got - edge) == pytest.approx(abs(ref - edge), rel=1e-9)  # equally near on the other side
    assert len(repr(got)) <= len(repr(ref)) + 1


def test_shortest_number_does_not_depend_on_the_callers_decimal_context():
    with decimal.localcontext() as context:
        context.traps[decimal.Inexact] = True
        context.prec = 3
        assert shortest_number(0.58, 0.55, 0.6) == 0.58


@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize(
    "values", [[0, 0, 0, 1, 1, 1], [1.0, np.nextafter(1, 2)], [1, 2, 3, 9, 9, 9, 9], [5e-324, 0.0]]
)
def test_outer_intervals_are_open(values, binning):
    """Values outside the range of the training records belong to the outer bins."""
    conditions = encode_all(np.array(values, float)[:, None], binning, y=np.array(values) > min(values)).conditions
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


@given(st.lists(floats, min_size=1, max_size=30), st.sampled_from(BINNINGS), st.integers(2, 7))
def test_intervals_of_a_column_partition_its_records(values, binning, n_bins):
    _, bits = encoded(np.array(values)[:, None], binning, n_bins, y=np.arange(len(values)) % 3)
    if len(bits):
        assert (bits.sum(axis=0) == 1).all()
    assert len(bits) <= n_bins
    assert len(bits) != 1  # an item that holds for all records is left out


def test_quantile_bins_have_equal_numbers_of_records():
    """On large tables, each cut may be rounded past 2 of 1,000 records."""
    values = np.random.default_rng(0).lognormal(0, 3, 400)
    _, bits = encoded(values[:, None], "quantile", 5)
    assert bits.sum(axis=1).tolist() == [80] * 5
    values = np.random.default_rng(0).lognormal(0, 3, 1000)
    names, bits = encoded(values[:, None], "quantile", 5)
    below = np.cumsum(bits.sum(axis=1))
    assert (np.abs(below - [200, 400, 600, 800, 1000]) <= 2).all()
    assert (bits.sum(axis=0) == 1).all()
    assert max(len(name) for name in names) < len("0.0123 < x0 <= 0.1234")


def test_given_edges_are_used_unchanged():
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
    assert names[-1] == "since > 2023-01-01"  # one of the 500 records changes sides
    assert (bits.sum(axis=0) == 1).all()


@pytest.mark.parametrize("thresholds", [False, True])
def test_many_categories_are_bounded_with_a_warning(thresholds):
    values = [f"shop {k // 2}" for k in range(100_000)] + ["often"] * 5
    with pytest.warns(UserWarning, match=r"column 'customer' has 50,001 different values.*256 most frequent"):
        found = encode_all(pd.DataFrame({"customer": values}), thresholds=thresholds)
    single = [c for c in found.conditions if isinstance(c, Equals)]
    assert len(single) == 256
    assert Equals("customer", "often") in single
    assert thresholds or len(found.conditions) == 256


def test_a_warning_has_the_location_of_the_line_that_called_fit():
    X = pd.DataFrame({"id": [2**53 + 1, 2**53 + 3] * 10})
    with pytest.warns(UserWarning, match="2\\*\\*53") as caught:
        DiverseRuleSetClassifier().fit(X, [0, 1] * 10)
    assert {Path(warning.filename) for warning in caught} == {Path(__file__)}


def test_no_warning_for_the_maximum_number_of_categories():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names, _ = encoded(pd.DataFrame({"c": [str(k) for k in range(_categories.MAX_CATEGORIES)] * 2}))
    assert len(names) == _categories.MAX_CATEGORIES


def test_more_items_than_memory_is_an_error_that_says_what_to_change(monkeypatch):
    assert 1e8 < encoding._physical_memory() < 1e15
    monkeypatch.setattr(encoding, "_physical_memory", lambda: 10_000.0)
    X = np.random.default_rng(0).random((1000, 50))
    with pytest.raises(MemoryError, match="leave out columns, group categories, or fit on a sample"):
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
def test_an_error_names_an_invalid_edge(binning, message):
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


def test_a_warning_for_integers_that_float64_rounds():
    with pytest.warns(UserWarning, match="column 'id' holds whole numbers from"):
        encoded(pd.DataFrame({"id": np.arange(200) + 2**53}))


def test_an_error_names_a_column_with_infinite_values():
    with pytest.raises(ValueError, match="infinity in the column 'b'"):
        encoded(pd.DataFrame({"a": [1, 2.0], "b": [1, np.inf]}))


def test_dates_out_of_range_are_an_error():
    with pytest.raises(ValueError, match="outside the years"):
        _rounding.as_datetime(np.datetime64("20000-01-01", "us"), "date")
    assert _rounding.as_datetime(np.datetime64("2000-01-01", "us"), "date (UTC)") == datetime.datetime(
        2000, 1, 1, tzinfo=datetime.UTC
    )


# --- thresholds and sets -----------------------------------------------------------------------------------------


def fine(X, y=None, binning="supervised", n_bins=20, **how):
    """Encode with thresholds and sets, as DiverseRuleSetClassifier does by default."""
    return encode_all(X, binning, n_bins, y, thresholds=True, default_binning="supervised", **how)


def test_thresholds_are_both_sides_of_each_edge():
    found = fine(pd.DataFrame({"age": [10, 20, None, 40]}), binning={"age": [30, 12.5]})
    expected = [(None, 12.5), (12.5, None), (None, 30), (30, None)]
    assert found.conditions == [*(Interval("age", low, high) for low, high in expected), IsMissing("age")]
    assert unpack(found.rows, 4)[:4].tolist() == [
        [True, False, False, False],
        [False, True, False, True],
        [True, True, False, False],
        [False, False, False, True],
    ]
    assert found.opposites.tolist() == [1, 0, 3, 2, -1]


def test_a_side_without_records_is_no_opposite():
    found = fine(pd.DataFrame({"age": [10, 20, None]}), binning={"age": [30]})
    assert found.conditions == [Interval("age", high=30), IsMissing("age")]
    assert found.opposites.tolist() == [-1, -1]


values_or_none = st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(0, 3))
letters_or_none = st.one_of(st.none(), st.sampled_from("abcdefghijklmnop"), st.sampled_from("xyz"))


@given(
    st.lists(st.tuples(values_or_none, letters_or_none, st.integers(0, 2)), min_size=2, max_size=60),
    st.sampled_from(BINNINGS),
    st.booleans(),
)
def test_opposites_are_mutual_and_hold_for_exactly_the_other_values(records, binning, negation):
    numbers, words, y = zip(*records, strict=True)
    frame = pd.DataFrame({"n": np.array(numbers, float), "w": pd.Series(words, dtype=object)})
    found = fine(frame, y, binning, n_bins=5, negation=negation)
    bits, present = unpack(found.rows, len(frame)), frame.notna().to_numpy().T
    assert [c.column for c in found.conditions] == [frame.columns[k] for k in found.columns]
    for item, opposite in enumerate(found.opposites.tolist()):
        if opposite < 0:
            assert not isinstance(found.conditions[item], Interval) or np.array_equal(
                bits[item], present[found.columns[item]]
            )
        else:
            assert found.opposites[opposite] == item
            assert found.columns[opposite] == found.columns[item]
            assert bits[opposite].tolist() == (~bits[item] & present[found.columns[item]]).tolist()


@given(st.lists(floats, min_size=2, max_size=60, unique=True), st.data())
def test_the_step_of_a_step_function_is_the_cut(values, data):
    step = data.draw(st.integers(1, len(values) - 1))
    above = np.array(values) >= sorted(values)[step]
    found = fine(np.array(values)[:, None], above)
    assert unpack(found.rows, len(values)).tolist() == [(~above).tolist(), above.tolist()]


def test_several_steps_are_all_found():
    x = np.arange(400.0)
    found = fine(x[:, None], np.digitize(x, [41, 134, 284]) % 2)
    assert [str(c) for c in found.conditions[::2]] == ["x0 <= 40", "x0 <= 133", "x0 <= 283"]


def test_at_most_n_bins_minus_one_cuts_the_best_first():
    x = np.random.default_rng(0).random(499)  # with 500 records, cuts may be rounded past one
    y = np.random.default_rng(1).random(499) < np.where(x > 0.6, 0.9, 0.1)
    cuts = [{c.low for c in fine(x[:, None], y, n_bins=n).conditions} - {None} for n in (2, 4, 20)]
    assert [len(some) for some in cuts] == [1, 3, 4]  # one has evidence; with it, at most the best four
    assert cuts[0] < cuts[1]
    assert cuts[0] < cuts[2]
    assert abs(min(cuts[0]) - 0.6) < 0.01


def test_dates_are_cut_to_the_microsecond():
    start = np.datetime64("2021-03-04T05:06:07.000000", "us")
    days = start + np.arange(300) * np.timedelta64(1, "us")
    for step in (1, 137, 299):
        after = np.arange(300) >= step
        found = fine(pd.DataFrame({"day": days}), after)
        assert unpack(found.rows, 300).tolist() == [(~after).tolist(), after.tolist()]
        assert found.conditions[0].high == days[step - 1].astype(datetime.datetime)


@pytest.mark.parametrize("start", [1e15, -1e15, 2.0**52, 1.0, 5e-324, 1e300])
@pytest.mark.parametrize("step", [37, 38])
def test_neighbouring_numbers_of_any_size_are_cut_exactly(start, step):
    whole = start + np.arange(100)
    neighbours = (np.float64(start).view(np.int64) + np.arange(100)).view(np.float64)
    for x in (neighbours, whole) if 1 < abs(start) < 1e300 else (neighbours,):
        above = np.sort(x)[step] <= x
        found = fine(x[:, None], above)
        assert unpack(found.rows, 100).tolist() == [(~above).tolist(), above.tolist()]


def test_among_very_many_values_the_cut_is_off_by_few_records():
    x = np.random.default_rng(0).random(50_000)
    y = x > 0.3
    found = fine(x[:, None], y, n_bins=2)
    assert len(found.conditions) == 2
    assert (unpack(found.rows, x.size)[1] != y).sum() <= x.size / 1000


@pytest.mark.parametrize("n", range(1, 9))
def test_few_records_and_an_unrelated_column(n):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"x": rng.integers(0, 4, n).astype(float), "w": rng.choice(list("abcd"), n)})
        frame.loc[rng.random(n) < 0.2, "x"] = np.nan
        found = fine(frame, rng.integers(0, 3, n))
        sizes = unpack(found.rows, n).sum(axis=1)
        assert ((sizes > 0) & (sizes < n)).all()


def test_constant_columns_give_no_thresholds():
    frame = pd.DataFrame({"same": [3] * 6, "word": ["a"] * 6, "gone": [None] * 6, "x": [5, None] * 3})
    found = fine(frame, [0, 1, 1, 0, 1, 0])
    assert found.conditions == [IsMissing("x")]
    assert fine(np.arange(6.0)[:, None], np.zeros(6)).conditions == []  # nor does a single class


def test_the_order_of_records_does_not_matter_to_the_cuts():
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame({"x": rng.normal(size=n), "k": rng.integers(0, 50, n), "w": rng.choice(list("abcdefgh"), n)})
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 2000, n), "D")
    frame["id"] = [f"{k:02}" for k in rng.integers(0, 40, n)]
    y = ((frame["x"] > 0.3) + (frame["k"] > 30) + (rng.random(n) < 0.2)).to_numpy(int)
    expected = fine(frame, y)
    assert len(expected.conditions) > 90
    for _ in range(3):
        order = rng.permutation(n)
        shuffled = fine(frame.iloc[order], y[order])
        assert shuffled.conditions == expected.conditions
        assert shuffled.opposites.tolist() == expected.opposites.tolist()


def test_class_weights_move_the_cuts():
    """The only cut point separates the class with the larger weight."""
    x = np.arange(300.0)
    y = np.where(x < 100, 0, np.where(x < 250, 1, 2))
    table = as_table(x[:, None])
    edges = [
        encode(table, CutOptions("supervised", 2, thresholds=True), Target(y, np.array(weights))).conditions[0].high
        for weights in ((10.0, 1.0, 0.1), (0.1, 1.0, 10.0))
    ]
    assert edges == [99, 249]


def test_categories_with_the_same_class_are_a_set():
    words = np.array(list("abcdef") * 20)
    y = np.isin(words, ["a", "d", "f"])
    found = fine(pd.DataFrame({"w": words}), y)
    together, others = IsIn("w", ("a", "d", "f")), IsIn("w", ("b", "c", "e"))
    assert {together, others} <= set(found.conditions)
    assert found.opposites[found.conditions.index(together)] == found.conditions.index(others)
    assert unpack(found.rows, 120)[found.conditions.index(together)].tolist() == y.tolist()
    assert [c for c in found.conditions if isinstance(c, Equals)] == [Equals("w", letter) for letter in "abcdef"]
    assert {type(c) for c in found.conditions} == {Equals, IsIn}


def test_there_are_sets_for_each_class():
    words = np.array(list("abcdef") * 20)
    y = np.select([np.isin(words, ["a", "d"]), np.isin(words, ["b", "f"])], [0, 1], 2)
    found = set(fine(pd.DataFrame({"w": words}), y).conditions)
    assert {IsIn("w", ("a", "d")), IsIn("w", ("b", "f")), IsIn("w", ("c", "e"))} <= found


@pytest.mark.parametrize("negation", [False, True])
@pytest.mark.parametrize("n", [9, 10, 12, 13, 40])
def test_a_set_names_few_values(n, negation):
    words = np.array([f"{k % n:02}" for k in range(50 * n)])
    few = ["01", "03", "04", "07", "08"]
    y = np.isin(words, few)
    found = fine(pd.DataFrame({"w": words}), y, negation=negation)
    together = IsNotIn("w", ("00", "02", "05", "06")) if negation and n == 9 else IsIn("w", tuple(few))
    assert unpack(found.rows, words.size)[found.conditions.index(together)].tolist() == y.tolist()
    assert len([c for c in found.conditions if isinstance(c, Equals)]) == n
    sizes = [len(c.values) for c in found.conditions if isinstance(c, IsIn | IsNotIn)]
    assert min(sizes) >= 1
    assert max(sizes) <= MAX_SET == 8


def test_two_categories_need_no_set():
    found = fine(pd.DataFrame({"w": ["a", "b", None] * 5, "flag": [True, False, True] * 5}), [0, 1, 1] * 5)
    assert [str(c) for c in found.conditions] == ['w = "a"', 'w = "b"', "w is missing", "flag = False", "flag = True"]
    assert found.opposites.tolist() == [1, 0, -1, 4, 3]


def test_negation_only_if_allowed_and_shorter():
    frame = pd.DataFrame({"w": [*"abcdef", None] * 20, "x": np.arange(140)})
    y = np.isin(frame["w"], ["a", "d"])
    plain, negated = fine(frame, y).conditions, fine(frame, y, negation=True).conditions
    assert not any(isinstance(c, IsNotIn) for c in plain)
    assert IsIn("w", ("b", "c", "e", "f")) in plain
    assert IsNotIn("w", ("a", "d")) in negated
    assert IsIn("w", ("b", "c", "e", "f")) not in negated
    assert IsIn("w", ("a", "d")) in negated
    assert {c.values for c in negated if isinstance(c, IsNotIn)} >= {(letter,) for letter in "abcdef"}
    assert max(len(c.values) for c in negated if isinstance(c, IsIn | IsNotIn)) == 3
    assert [c for c in negated if c.column == "x"] == [c for c in plain if c.column == "x"]


def test_there_are_no_sets_with_bins():
    words = np.array(list("abcdef") * 20)
    found = encode_all(pd.DataFrame({"w": words}), "supervised", 20, np.isin(words, ["a", "d"]), negation=True)
    assert found.conditions == [Equals("w", letter) for letter in "abcdef"]
    assert found.opposites.tolist() == [-1] * 6


def test_columns_that_binning_does_not_name_have_the_default_binning():
    frame = pd.DataFrame({"age": np.arange(100), "income": np.arange(100)[::-1] * 1000, "w": list("abcde") * 20})
    y = frame["age"] > 61
    names = [str(c) for c in fine(frame, y, binning={"age": [25]}).conditions if c.column != "w"]
    assert names == ["age <= 25", "age > 25", "income <= 37000", "income > 37000"]
    assert [str(c) for c in fine(frame, y, binning={"age": "uniform"}, n_bins=2).conditions][:4] == [
        "age <= 49",
        "age > 49",
        "income <= 37000",
        "income > 37000",
    ]
    names, _ = encoded(frame, {"age": [25]}, 2, y)
    assert names[:4] == ["age <= 25", "age > 25", "income <= 49000", "income > 49000"]
    sets = {c for c in fine(frame, y, binning={"w": "quantile"}).conditions if c.column == "w"}
    assert sets == {c for c in fine(frame, y).conditions if c.column == "w"}


@pytest.mark.parametrize("thresholds", [True, False])
def test_the_bits_of_blocks_are_those_of_the_whole_table(mixed, thresholds):
    """The bits do not depend on the blocks, also for given conditions whose bounds are not cut points."""
    X, y = mixed
    conditions = [Interval("age", low=33.3), Equals("sex", "F"), IsMissing("since"), Interval("age", high=40.0)]
    given = GivenConditions(GivenCondition(one, "") for one in [*conditions, Equals("sex", "F")])
    options = CutOptions(
        "supervised", 8, thresholds, default_binning="supervised", forbidden=frozenset(["age", "size"])
    )
    encoder = Encoder(options, given)
    whole = encoder.fit_transform(as_table(X), Target((y == "good").astype(int), np.ones(2)))
    assert {"age", "size"}.isdisjoint(condition.column for condition in encoder.conditions)
    for cuts in ([0, 400], [0, 1, 130, 131, 400], [0, 64, 400]):
        blocks = [encoder.transform(as_table(X.iloc[a:b])) for a, b in itertools.pairwise(cuts)]
        for name in ("rows", "given"):
            parts = [unpack(getattr(one, name), n) for one, n in zip(blocks, np.diff(cuts).tolist(), strict=True)]
            assert np.array_equal(np.hstack(parts), unpack(getattr(whole, name), 400))
    for number, (condition, row) in enumerate(zip(conditions, unpack(whole.given, 400), strict=True)):
        assert row.tolist() == Rule((condition,), "good").covers(X).tolist()
        assert given.number(condition) == number


def test_each_column_is_read_once(mixed, monkeypatch):
    X, y = mixed
    read = []
    column = Table.column
    monkeypatch.setattr(Table, "column", lambda self, name, *kind: read.append(name) or column(self, name, *kind))
    given = GivenConditions(GivenCondition(Interval("age", low=low), "") for low in (33.3, 50.0))
    encoder = Encoder(CutOptions("supervised", 8, thresholds=True), given)
    encoder.fit_transform(as_table(X), Target((y == "good").astype(int), np.ones(2)))
    assert read == list(X.columns)
    read.clear()
    encoder.transform(as_table(X))
    assert len(read) == len(set(read))


# --- wider items -------------------------------------------------------------------------------------------------


def wider_by_trying(conditions, columns, grid):
    """Return, for items with one bound, those on the same side of the same column that hold for more values.

    ``grid`` has for each column values between, below and above all bounds. The nearest item comes first.
    """
    holds = [one.holds(grid[column]).tolist() for one, column in zip(conditions, columns, strict=True)]
    bounded = [j for j, flags in enumerate(holds) if isinstance(conditions[j], Interval) and flags[0] != flags[-1]]
    wider = {}
    for j in bounded:
        same = [k for k in bounded if columns[k] == columns[j] and holds[k][0] == holds[j][0]]
        larger = [k for k in same if sum(holds[k]) > sum(holds[j])]
        assert all(mine <= other for k in larger for mine, other in zip(holds[j], holds[k], strict=True))
        wider[j] = tuple(sorted(larger, key=lambda k: sum(holds[k])))
    return wider


@pytest.mark.parametrize("thresholds", [True, False])
@pytest.mark.parametrize("binning", [*BINNINGS, {"a": [0.1, 0.101, 0.5, 0.9]}])
@pytest.mark.parametrize("seed", range(3))
def test_wider_items_are_those_on_the_same_side_that_hold_for_more_values(binning, thresholds, seed):
    """Numbers with missing values, whole numbers, dates, and text, which has no sides."""
    rng = np.random.default_rng(seed)
    n = 300
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    X = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, rng.random(n)),
            "b": rng.integers(0, 9, n),
            "c": rng.choice(["x", "y", "z"], n),
            "d": days,
        }
    )
    y = ((X["a"] > 0.4) & (X["b"] > 3)) ^ (X["d"] > "2021-01-01") ^ (rng.random(n) < 0.1)
    encoder = Encoder(CutOptions(binning, 6, thresholds=thresholds))
    encoder.fit(as_table(X), Target(y.to_numpy().astype(np.int64), np.ones(2)))
    fine = {
        "a": pd.DataFrame({"a": np.sort(np.append(np.linspace(-1, 2, 5000), [0.1005]))}),
        "b": pd.DataFrame({"b": np.linspace(-5.0, 20.0, 2001)}),
        "c": pd.DataFrame({"c": ["x", "y", "z"]}),
        "d": pd.DataFrame({"d": pd.date_range("2019-06-01", "2023-06-01", freq="h")}),
    }
    grid = [as_table(fine[name]).column(name) for name in X]
    expected = wider_by_trying(encoder.conditions, encoder.columns.tolist(), grid)
    assert encoder.wider_items == expected
    assert sum(map(len, expected.values())) > (20 if thresholds else -1)
    if not thresholds:  # the two outer bins of a column have nothing wider, the others have two bounds
        assert set(expected.values()) == {()}


def test_wider_items_of_points():
    """Cuts of points are numbered after all columns of the table, on both sides, and each derived column alone."""
    encoder = Encoder(CutOptions("uniform", 4, thresholds=True))
    encoder.fit(as_table(pd.DataFrame({"a": range(20)})), Target(np.zeros(20, np.int64), np.ones(1)))
    before = encoder.wider_items
    card = Scorecard.parse("points: 3 for u if a > 4, 2 for v if a <= 9, 2 for u if a > 12")
    cuts = [Interval(card.column("lead"), low=low, with_low=True) for low in (3, 1, 2)]
    cuts += [Interval(card.column("lead"), high=high) for high in (1, 0)]
    cuts += [Interval(card.column("points", "u"), low=4, with_low=True), card.leads("u")]
    cuts.append(Interval(card.column("points", "u"), low=1, high=3, with_low=True))
    n = len(encoder.conditions)
    extended = encoder.extended(cuts, [0, 0, 0, 0, 0, 1, 2, 1], [-1] * 8)
    assert extended.wider_items == before | {
        n: (n + 2, n + 1),
        n + 1: (),
        n + 2: (n + 1,),
        n + 3: (),
        n + 4: (n + 3,),
        n + 5: (),
    }
