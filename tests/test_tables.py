import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diverse_rule_sets._input.tables import as_table

NAN = float("nan")
DAY = datetime.datetime(2020, 5, 17)


def kinds(X):
    table = as_table(X)
    return [table.column(name).kind for name in table.names]


@pytest.mark.parametrize(
    ("series", "kind", "missing"),
    [
        (pd.Series([1, 2, 3]), "number", 0),
        (pd.Series([1, None, 3], dtype="Int64"), "number", 1),
        (pd.Series([1.5, None, NAN], dtype="Float32"), "number", 2),
        (pd.Series([1, None, 3], dtype="int64[pyarrow]"), "number", 1),
        (pd.Series([decimal.Decimal("1.5"), None, decimal.Decimal("NaN")]), "number", 2),
        (pd.Series([1, 2.5, None], dtype=object), "number", 1),
        (pd.Series([True, False, True]), "boolean", 0),
        (pd.Series([True, None, False], dtype="boolean"), "boolean", 1),
        (pd.Series([True, None, False], dtype=object), "boolean", 1),
        (pd.Series(["a", None, "b"]), "text", 1),
        (pd.Series(["a", None, "b"], dtype="string"), "text", 1),
        (pd.Series(["a", NAN, "b"], dtype=object), "text", 1),
        (pd.Series(["a", None, "b"], dtype="category"), "text", 1),
        (pd.Series([3, None, 1], dtype="category"), "category of numbers", 1),
        (pd.Series(["a", 1, None], dtype=object), "category", 1),
        (pd.Series([DAY, None, DAY]), "date", 1),
        (pd.Series([DAY.date(), None, DAY.date()], dtype=object), "date", 1),
        (pd.Series([DAY, None, DAY]).dt.tz_localize("Europe/Stockholm"), "date (UTC)", 1),
        (pd.Series([None, None, NAN], dtype=object), "empty", 3),
        (pd.Series([0.0, NAN, 2.0], dtype="Sparse[float]"), "number", 1),
        (pd.Series([None, None, None], dtype="category"), "empty", 3),
        (pl.Series([1, None, 3]), "number", 1),
        (pl.Series([decimal.Decimal("1.5"), None, decimal.Decimal("2.5")]), "number", 1),
        (pl.Series([True, None, False]), "boolean", 1),
        (pl.Series(["a", None, "b"]), "text", 1),
        (pl.Series(["a", None, "b"], dtype=pl.Categorical), "text", 1),
        (pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])), "text", 1),
        (pl.Series([DAY, None, DAY]), "date", 1),
        (pl.Series([DAY.date(), None, DAY.date()]), "date", 1),
        (pl.Series([DAY, None, DAY]).dt.replace_time_zone("Europe/Stockholm"), "date (UTC)", 1),
        (pl.Series([None, None, None]), "empty", 3),
    ],
)
def test_every_dtype_has_its_column_type_and_missing_values(series, kind, missing):
    frame = pd.DataFrame({"c": series}) if isinstance(series, pd.Series) else pl.DataFrame({"c": series})
    column = as_table(frame).column("c")
    assert column.kind == kind
    assert column.missing.sum() == missing


def test_arrays_and_lists():
    assert kinds(np.array([[1, 2.5]])) == ["number", "number"]
    assert kinds(np.array([[True]])) == ["boolean"]
    assert kinds([[1, "a"], [2.5, "b"]]) == ["number", "text"]  # numpy alone would convert the numbers to strings
    assert kinds(np.array([["a"], ["b"]])) == ["text"]
    assert kinds(np.array([["2020-01-01"]], dtype="datetime64[D]")) == ["date"]
    assert kinds(pa.table({"a": [1, None], "b": ["x", None]})) == ["number", "text"]
    assert as_table(np.zeros((2, 3))).names == ["x0", "x1", "x2"]


def test_categories_are_sorted_unless_they_declare_an_order():
    def categories(series):
        return as_table(pd.DataFrame({"c": series})).column("c").categories

    assert categories(pd.Series(["b", "a", "c"])) == ("a", "b", "c")
    assert categories(pd.Categorical(["b", "a"], categories=["b", "a"])) == ("a", "b")
    assert categories(pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True)) == ("b", "a")
    assert as_table(pl.DataFrame({"c": pl.Series(["a", "b"], dtype=pl.Enum(["b", "c", "a"]))})).column(
        "c"
    ).categories == ("b", "a")


def test_masked_entries_are_missing():
    column = as_table(np.ma.masked_array([[1], [2], [3]], [[False], [True], [False]])).column("x0")
    assert column.missing.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("zone", "utc"),
    [
        ("Europe/Stockholm", "2020-05-16T22:00"),
        ("America/New_York", "2020-05-17T04:00"),
        ("America/Argentina/Buenos_Aires", "2020-05-17T03:00"),
        ("Etc/GMT+5", "2020-05-17T05:00"),
        (datetime.timezone(datetime.timedelta(hours=-3)), "2020-05-17T03:00"),
    ],
)
def test_times_with_a_zone_are_converted_to_utc(zone, utc):
    column = as_table(pd.DataFrame({"c": pd.Series([DAY, None]).dt.tz_localize(zone)})).column("c")
    assert column.kind == "date (UTC)"
    assert column.values[0] == np.datetime64(utc)
    assert column.missing.tolist() == [False, True]


@pytest.mark.parametrize(
    "names", [["a b", "a=b", 'q"q', "é€", "", "x"], [0, 1, 2, 3, 4, 5], ["a", 1, (1, 2), 2.5, None, "b"]]
)
def test_any_column_name(names):
    table = as_table(pd.DataFrame(np.arange(12).reshape(2, 6), columns=pd.Index(names, dtype=object)))
    assert table.names == names
    assert [table.column(name).values[0] for name in names] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pd.DataFrame(index=[0]), ValueError, r"0 feature\(s\)"),
        (np.zeros((0, 2)), ValueError, r"0 sample\(s\)"),
        (np.zeros(3), ValueError, "Expected 2D array"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "different names"),
        (pl.DataFrame({"a": [1]}).lazy(), TypeError, "collect it first"),
        ("text", TypeError, "X must be a two-dimensional array"),
    ],
)
def test_an_invalid_table_is_an_error(X, error, message):
    with pytest.raises(error, match=message):
        as_table(X)


@pytest.mark.parametrize(
    "series",
    [
        pd.Series([pd.Timedelta(1, "h")]),
        pd.Series([{"a": 1}]),
        pd.Series([[1, 2]]),
        pd.Series([pd.Period("2020")]),
        pd.Series([1 + 2j]),
        pl.Series([datetime.time(1)]),
        pl.Series([[1, 2]]),
        pd.Series([DAY, DAY.replace(tzinfo=datetime.UTC)], dtype=object),
    ],
)
def test_an_error_names_a_column_of_an_unknown_type(series):
    frame = pd.DataFrame({"odd one": series}) if isinstance(series, pd.Series) else pl.DataFrame({"odd one": series})
    with pytest.raises(TypeError, match="column 'odd one'"):
        as_table(frame).column("odd one")


def test_python_integers_too_large_for_float64():
    assert as_table(pd.DataFrame({"a": pd.Series([2**53 + 1, 1], dtype=object)})).column("a").rounded
    with pytest.raises(ValueError, match="column 'a' contains a number too large for float64"):
        as_table(pd.DataFrame({"a": pd.Series([10**400, 1], dtype=object)})).column("a")


def test_an_error_names_a_missing_column():
    with pytest.raises(ValueError, match="X has no column 'b', which the rules use; its columns are 'a'"):
        as_table(pd.DataFrame({"a": [1]})).column("b")
