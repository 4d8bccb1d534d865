"""What databases hold: names, dates, numbers and text in the forms in which tables have them, and their limits."""

import datetime
import itertools
import json
import math
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    Rule,
    RuleSet,
)
from diverse_rule_sets._util.names import similar_names
from test_sql import check, database, opened, quoted

__all__ = ["database"]

YES = ("no", "yes")


def model(*conditions, **fields):
    """Return a rule set with one rule: yes if all conditions hold."""
    return RuleSet((Rule(conditions, "yes", (("no", 1), ("yes", 3))),), YES, "no", (9, 9), (5, 5), "first", **fields)


def labels(database, rule_set, **options):
    """Return the labels that a database gives, in the order of the records."""
    query = rule_set.to_sql(dialect=database.dialect, **options)
    return [row[0] for row in database.rows(f"SELECT predicted_label FROM ({query}) AS answers")]


def stored(database, values, column_type):
    """Put values into a table with one column x of a type."""
    database.run("DROP TABLE IF EXISTS records")
    database.run(f"CREATE TABLE records (x {column_type})")
    database.run("INSERT INTO records VALUES " + ", ".join(f"({value})" for value in values))


# Names.


def two_cases(n=200):
    """Return a table with columns a and A, of which only A matters."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n), "A": rng.normal(size=n)})
    return frame, np.where(frame["A"] > 0, "yes", "no")


@pytest.mark.parametrize("order", [["a", "A"], ["A", "a"]])
def test_a_column_with_the_same_name_in_another_case_is_not_read_by_mistake(order):
    frame, y = two_cases()
    frame = frame[order]
    rule_set = DiverseRuleSetClassifier(random_state=0).fit(frame, y).rule_set_
    assert rule_set.columns == ("A",)
    for dialect in ("duckdb", "sqlite", "mysql", "tsql", "redshift"):
        message = rf"{dialect} cannot tell the columns 'A' and 'a' of the training table apart; give .*columns={{'A': "
        with pytest.raises(ValueError, match=message):
            rule_set.to_sql(dialect=dialect)
    connection = duckdb.connect()  # it renames the second of the two columns
    names = [row[0] for row in connection.execute("DESCRIBE SELECT * FROM frame").fetchall()]
    query = rule_set.to_sql(table="frame", columns={"A": names[order.index("A")]}, prefix="q_")
    assert connection.execute(query).df()["q_label"].tolist() == rule_set.predict(frame).tolist()
    only = frame[["A"]]
    query = rule_set.to_sql(table="only", columns={"A": "A"}, prefix="q_")  # the user knows that there is no other
    assert connection.execute(query).df()["q_label"].tolist() == rule_set.predict(only).tolist()


def test_names_that_differ_in_case_are_two_columns_in_postgres():
    frame, y = two_cases()
    rule_set = DiverseRuleSetClassifier(random_state=0).fit(frame, y).rule_set_
    with opened("postgres") as database:
        database.fill({name: frame[name].tolist() for name in frame}, {"a": "number", "A": "number"})
        check_labels(database, rule_set, frame)


def check_labels(database, rule_set, frame, **options):
    answer = database.ask(rule_set.to_sql(dialect=database.dialect, keep=["number of the record"], **options))
    order = np.argsort(answer["number of the record"])
    assert [answer["predicted_label"][k] for k in order] == rule_set.predict(frame).tolist()


def test_forbidden_columns_are_known_and_files_keep_them():
    frame, y = two_cases()
    clf = DiverseRuleSetClassifier(random_state=0, forbidden=["a"]).fit(frame, y)
    assert clf.rule_set_.similar_columns == ("a", "A")
    again = RuleSet.from_json(clf.rule_set_.to_json())
    assert again.similar_columns == ("a", "A")
    with pytest.raises(ValueError, match="cannot tell the columns 'A' and 'a'"):
        again.to_sql()
    edited = again.with_rule(Rule.parse("IF a > 1 THEN yes"), frame, y)
    with pytest.raises(ValueError, match="would be one column"):
        edited.to_sql()
    assert "similar_columns" not in json.loads(model(IsMissing("x")).to_json())
    broken = json.loads(again.to_json()) | {"similar_columns": "a"}
    del broken["checksum"]
    with pytest.raises(ValueError, match="similar_columns must be a list, got 'a'"):
        RuleSet.from_json(json.dumps(broken))


def test_similar_names():
    assert similar_names(["a", "b", "A", 1, "1", "é", "É", "x" * 63, "x" * 64]) == (
        *("a", "A", 1, "1", "é", "É"),
        *("x" * 63, "x" * 64),
    )
    assert similar_names([]) == ()
    assert similar_names(["ab", "ba", "x" * 62 + "1", "x" * 62 + "2"]) == ()


def test_only_letters_of_ascii_have_no_case_in_duckdb_and_sqlite():
    rule_set = model(Interval("é", high=1), similar_columns=("é", "É"))
    for dialect in ("duckdb", "sqlite"):
        with opened(dialect) as database:
            database.fill({"é": [1.0, 2.0], "É": [2.0, 1.0]}, {"é": "number", "É": "number"})
            assert labels(database, rule_set) == ["yes", "no"]
    with pytest.raises(ValueError, match="cannot tell"):
        rule_set.to_sql(dialect="bigquery")


def test_long_names_that_postgres_cuts_off():
    first, second = "x" * 63 + "1", "x" * 63 + "2"
    rule_set = model(Interval(second, high=1), similar_columns=similar_names([first, second]))
    with pytest.raises(ValueError, match="postgres cannot tell the columns"):
        rule_set.to_sql(dialect="postgres")
    with pytest.raises(ValueError, match="would be one column"):
        model(Interval(first, high=1), Interval(second, high=1)).to_sql(dialect="postgres")
    with opened("postgres") as database:
        database.run(f"CREATE TABLE records ({quoted(first)} DOUBLE PRECISION, other DOUBLE PRECISION)")
        database.run("INSERT INTO records VALUES (0, 2)")
        assert labels(database, rule_set, columns={second: "other"}) == ["no"]
        assert labels(database, model(Interval(first, high=1))) == ["yes"]  # cut off in the table and in the query
    assert "x2" in rule_set.to_sql()


def test_system_columns_are_not_read_by_mistake():
    rule_set = model(Interval("tableoid", high=1))
    with pytest.raises(
        ValueError, match="'tableoid' is a system column of postgres; give the name that 'tableoid' has"
    ):
        rule_set.to_sql(dialect="postgres")
    assert '"other"' in rule_set.to_sql(dialect="postgres", columns={"tableoid": "other"})
    assert '"tableoid"' in rule_set.to_sql(dialect="duckdb")


def test_new_columns_have_different_names():
    rule_set = replace(model(Interval("x", high=1)), conflict="vote")
    with pytest.raises(ValueError, match=r"postgres cannot tell the new columns .* apart; choose a shorter prefix"):
        rule_set.to_sql(dialect="postgres", keep=["x"], prefix="p" * 62)
    assert "p" * 62 in rule_set.to_sql(keep=["x"], prefix="p" * 62)
    for keep in (["x", "x"], ["x", "X"]):
        with pytest.raises(ValueError, match=r"keep names the column 'x' twice|keep names the column 'X' twice"):
            rule_set.to_sql(keep=keep)
    assert '"X"' in rule_set.to_sql(dialect="postgres", keep=["x", "X"])


@pytest.mark.parametrize("text", ["__SQLGLOT__LB__", "a\n  b", "a\r\n\tb", "\u2028", "--\n", "a" * 5000])
def test_texts_are_unchanged_by_the_layout_of_the_query(database, text):
    if database.dialect == "postgres" and len(text) > 63:
        text = text[:63]
    rule_set = RuleSet((Rule((Equals(text, text),), text),), (text, "zz"), "zz", (1, 1), (0, 0))
    check(database, rule_set, {text: [text, "\n", "a\nb", None]}, {text: "text"})


# Dates.

MICROSECOND = datetime.timedelta(microseconds=1)
moments = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30))
fractions = st.sampled_from([0, 1, 499, 500, 501, 999, 1000, 123456, 500000, 999499, 999500, 999999])


@st.composite
def bounds(draw):
    """Draw a bound, with digits at which functions of databases round."""
    return draw(moments).replace(microsecond=draw(fractions))


def forms(moment):
    """Yield a date without time zone in the forms of ISO 8601 that SQLite reads."""
    for sep, digits in itertools.product(" T", ("seconds", "milliseconds", "microseconds")):
        yield moment.isoformat(sep, digits)
    text = moment.isoformat(" ", "microseconds")
    yield text.rstrip("0").rstrip(".")
    yield text + "789"  # more digits are cut off
    if moment.second == moment.microsecond == 0:
        yield moment.isoformat(" ", "minutes")
        if moment.hour == moment.minute == 0:
            yield moment.date().isoformat()


def read_back(text):
    """Return the date that a text means, truncated to microseconds."""
    return datetime.datetime.fromisoformat(text[:-3] if text.endswith("789") and len(text) == 29 else text)


@pytest.fixture(scope="module")
def sqlite():
    with opened("sqlite") as database:
        yield database


@given(bounds(), st.sampled_from(["+00:00", "Z", "+05:00", "-11:30", ""]))
def test_sqlite_compares_dates_to_the_microsecond(sqlite, bound, zone):
    near = [bound + k * MICROSECOND for k in (-1000, -500, -1, 0, 1, 499, 500, 1000)]
    near += [bound.replace(microsecond=0), bound.replace(second=0, microsecond=0)]
    near.append(datetime.datetime(bound.year, bound.month, bound.day))
    texts = [text for moment in near for text in forms(moment)]
    known = [read_back(text) for text in texts]
    if zone:
        hours = datetime.datetime.fromisoformat(f"2000-01-01T00:00{zone}").utcoffset()
        known, bound = [one.replace(tzinfo=datetime.UTC) - hours for one in known], bound.replace(tzinfo=datetime.UTC)
        texts = [text + zone if ":" in text else f"{text} 00:00{zone}" for text in texts]
        bound -= hours
    stored(sqlite, [f"'{text}'" for text in texts], "TEXT")
    tests = [
        (Interval("x", high=bound), lambda t: t <= bound),
        (Interval("x", low=bound), lambda t: t > bound),
        (
            Interval("x", low=bound, with_low=True, high=bound + MICROSECOND),
            lambda t: t in (bound, bound + MICROSECOND),
        ),
        (Interval("x", high=bound, with_high=False), lambda t: t < bound),
        (Equals("x", bound), lambda t: t == bound),
        (IsIn("x", (bound, bound + MICROSECOND)), lambda t: t in (bound, bound + MICROSECOND)),
        (IsNotIn("x", (bound,)), lambda t: t != bound),
    ]
    for condition, holds in tests:
        assert labels(sqlite, model(condition)) == [YES[holds(one)] for one in known], str(condition)


def test_the_first_and_the_last_date(database):
    first, last = datetime.datetime.min, datetime.datetime.max
    table = {"x": [first, first + MICROSECOND, datetime.datetime(1500, 2, 28), last - MICROSECOND, last, None]}
    for condition in (
        Interval("x", high=first),
        Interval("x", low=first),
        Interval("x", high=last),
        Interval("x", low=last),
        Interval("x", low=last, with_low=True),
        Interval("x", high=last, with_high=False),
        Interval("x", low=datetime.datetime(1500, 2, 28), high=datetime.datetime(1582, 10, 10)),
    ):
        check(database, model(condition), table, {"x": "date"})


@pytest.mark.parametrize("column_type", ["TIMESTAMP_NS", "TIMESTAMP", "TIMESTAMPTZ"])
@pytest.mark.parametrize("year", [1960, 2020])
def test_nanoseconds_are_truncated_in_duckdb(column_type, year):
    zone = "+00" if "TZ" in column_type else ""
    bound = datetime.datetime(year, 1, 1, tzinfo=datetime.UTC if zone else None)
    texts = [f"{year - 1}-12-31 23:59:59.999999999", f"{year}-01-01 00:00:00", f"{year}-01-01 00:00:00.000000001"]
    texts += [f"{year}-01-01 00:00:00.000000999", f"{year}-01-01 00:00:00.000001", f"{year}-01-01 00:00:00.000001999"]
    if not column_type.endswith("NS"):  # DuckDB itself rounds them when they are stored
        texts = [text[:26] for text in texts]
    microseconds = [-1, 0, 0, 0, 1, 1]
    with opened("duckdb") as database:
        stored(database, [f"'{text}{zone}'" for text in texts], column_type)
        after = bound + MICROSECOND
        for condition, holds in (
            (Interval("x", high=bound), lambda k: k <= 0),
            (Interval("x", low=bound), lambda k: k > 0),
            (Interval("x", low=bound, with_low=True), lambda k: k >= 0),
            (Interval("x", high=bound, with_high=False), lambda k: k < 0),
            (Equals("x", bound), lambda k: k == 0),
            (IsIn("x", (bound, after)), lambda k: k in (0, 1)),
            (IsNotIn("x", (bound,)), lambda k: k != 0),
            (IsNotIn("x", (bound, after)), lambda k: k not in (0, 1)),
        ):
            assert labels(database, model(condition)) == [YES[holds(k)] for k in microseconds], str(condition)


def test_frames_with_nanoseconds_give_the_same_labels_in_duckdb():
    times = pd.to_datetime(["2020-01-01 00:00:00.000000999", "2020-01-01 00:00:00.000001", None])
    frame = pd.DataFrame({"t": times.astype("datetime64[ns]")})
    rule_set = model(Interval("t", high=datetime.datetime(2020, 1, 1)))
    got = duckdb.sql(rule_set.to_sql(table="frame")).df()["predicted_label"].tolist()
    assert got == rule_set.predict(frame).tolist() == ["yes", "no", "no"]


@pytest.mark.parametrize("column_type", ["TIMESTAMP_S", "TIMESTAMP_MS", "DATE"])
def test_coarse_dates_in_duckdb(column_type):
    with opened("duckdb") as database:
        stored(database, ["'2019-12-31'", "'2020-01-01'", "NULL"], column_type)
        late = datetime.datetime(2019, 12, 31, 23, 59, 59, 999999)
        assert labels(database, model(Interval("x", high=late))) == ["yes", "no", "no"]
        assert labels(database, model(Equals("x", datetime.date(2020, 1, 1)))) == ["no", "yes", "no"]


# Categories.


@pytest.mark.parametrize("kind", ["category of dates", "category of dates (UTC)"])
def test_dates_as_categories(database, kind):
    zone = datetime.UTC if "UTC" in kind else None
    values = [datetime.datetime(2020, 1, 31, 12, 0, 0, 123456, tzinfo=zone) + k * MICROSECOND for k in range(4)]
    column = "date (UTC)" if zone else "date"
    fields = {"kinds": (("x", kind),)}
    database.fill({"x": [*values, None]}, {"x": column})
    assert labels(database, model(Equals("x", values[1]), **fields)) == ["no", "yes", "no", "no", "no"]
    assert labels(database, model(IsIn("x", tuple(values[:2])), **fields)) == ["yes", "yes", "no", "no", "no"]
    assert labels(database, model(IsNotIn("x", tuple(values[:2])), **fields)) == ["no", "no", "yes", "yes", "no"]


def test_integers_as_categories_are_not_rounded(database):
    numbers = [2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63 - 2, 5]
    stored(database, [*numbers, "NULL"], "BIGINT")
    kinds = {"kinds": (("x", "category of numbers"),)}
    for value in numbers:
        expected = [YES[number == value] for number in numbers]
        assert labels(database, model(Equals("x", value), **kinds)) == [*expected, "no"]
    two = tuple(numbers[:2])
    assert labels(database, model(IsIn("x", two), **kinds)) == [*(YES[n in two] for n in numbers), "no"]
    assert labels(database, model(IsNotIn("x", two), **kinds)) == [*(YES[n not in two] for n in numbers), "no"]
    rounded = model(Equals("x", 2**53 + 1), kinds=(("x", "number"),))  # a column of numbers is read as float64
    assert labels(database, rounded)[:2] == ["yes", "yes"]


def test_integers_that_sqlite_has_not_give_a_warning():
    large = model(Equals("id", 2**63), kinds=(("id", "category of numbers"),))
    with pytest.warns(UserWarning, match="sqlite may answer differently for the column 'id', .*: its integers are sma"):
        large.to_sql(dialect="sqlite")
    assert str(2**63) in large.to_sql(dialect="duckdb")
    assert str(2**63) in large.to_sql(dialect="postgres")


@pytest.mark.parametrize("write", [RuleSet.to_sql, RuleSet.to_pmml])
def test_values_that_cannot_be_written_raise_an_error_that_names_the_column(write):
    with pytest.raises(
        ValueError, match=r"the column 'x' is compared with b'\\x00a' \(bytes\), which cannot be exported"
    ):
        write(model(Equals("x", b"\0a"), kinds=(("x", "bytes"),)))
    several = model(IsIn("x", (1, datetime.datetime(2020, 1, 1)), mixed=True), kinds=(("x", "category"),))
    with pytest.raises(ValueError, match="the column 'x' is compared with values of several types, such as 1 and"):
        write(several)
    with pytest.raises(ValueError, match="the column 'x' is compared with inf"):
        write(model(Equals("x", math.inf)))
    assert write(model(IsMissing("x"), kinds=(("x", "bytes"),)))


# Text, numbers, booleans.


@pytest.mark.parametrize("collation", ["NOCASE", "RTRIM"])
def test_collations_of_sqlite_columns_do_not_count(sqlite, collation):
    values = ["a", "A", "a ", "b", "B "]
    stored(sqlite, [*(f"'{value}'" for value in values), "NULL"], f"TEXT COLLATE {collation}")
    for condition, holds in (
        (Equals("x", "a"), lambda v: v == "a"),
        (IsIn("x", ("a", "b")), lambda v: v in ("a", "b")),
        (IsNotIn("x", ("a", "b")), lambda v: v not in ("a", "b")),
    ):
        assert labels(sqlite, model(condition)) == [*(YES[holds(v)] for v in values), "no"], str(condition)


def test_enumerations_can_be_compared():
    with opened("duckdb") as database:
        frame = pd.DataFrame({"x": pd.Categorical(["a", "b", None])})
        database.run("CREATE TYPE letters AS ENUM ('a', 'b')")
        stored(database, ["'a'", "'b'", "NULL"], "letters")
        rule_set = model(IsNotIn("x", ("a", "not in the type")))
        assert labels(database, rule_set) == rule_set.predict(frame).tolist()


@pytest.mark.parametrize(
    ("column_type", "values"),
    [
        ("REAL", [0.1, 0.5, 2.0**-149, -0.0]),
        ("DOUBLE PRECISION", [0.1, 0.5, 5e-324, -0.0]),
        ("DECIMAL(15, 3)", [0.1, 0.5, 123456789012.345, 0.0]),
        ("BIGINT", [-(2**63), -1, 0, 2**53 + 1, 2**63 - 1]),
        ("SMALLINT", [-(2**15), -1, 0, 2**15 - 1]),
    ],
)
def test_numbers_of_every_type_are_compared_as_doubles(database, column_type, values):
    stored(database, [*map(repr, values), "NULL"], column_type)
    single = column_type == "REAL" and database.dialect != "sqlite"
    doubles = [float(np.float32(value)) if single else float(value) for value in values]
    for bound in {
        0.1,
        0.5,
        0.0,
        -0.0,
        1e300,
        -1e300,
        2.0**53,
        2.0**63,
        123456789012.345,
        float(np.float32(0.1)),
        *doubles,
    }:
        for condition in (Interval("x", high=bound), Interval("x", low=bound), IsNotIn("x", (bound,))):
            rule_set = model(condition, kinds=(("x", "number"),))
            expected = rule_set.predict(pl.DataFrame({"x": [*doubles, None]})).tolist()
            assert labels(database, rule_set) == expected, str(condition)


def test_labels_are_exact_numbers(database):
    database.fill({"x": [1.0, 2.0]}, {"x": "number"})
    for classes in ((2**53 + 1, 2**60 + 1), (-(2**63), 5), (0.1, 0.5), (0.30000000000000004, 1e-7), (1, 2.5)):
        rule_set = RuleSet((Rule((Interval("x", high=1),), classes[1]),), classes, classes[0], (1, 1), (0, 0))
        got = labels(database, rule_set)
        assert got == [classes[1], classes[0]]
        assert {type(label) for label in got} == {float if 2.5 in classes or 0.5 in classes or 1e-7 in classes else int}
    rule_set = RuleSet((), (5, 2**63), 5, (1, 1), (0, 0))
    with pytest.raises(ValueError, match="sqlite cannot return the label 9223372036854775808"):
        rule_set.to_sql(dialect="sqlite")


def test_labels_of_oracle_cannot_be_empty():
    with pytest.raises(ValueError, match="oracle has no empty text"):
        model(Equals("x", "")).to_sql(dialect="oracle")
    with pytest.raises(ValueError, match="oracle has no empty text"):
        RuleSet((), ("", "a"), "a", (1, 1), (0, 0)).to_sql(dialect="oracle")


@pytest.mark.parametrize(
    ("dialect", "condition", "reason"),
    [
        ("mysql", Equals("x", "a"), "compared with 'a': it ignores the case of text or blanks"),
        ("mysql", Interval("x", high=datetime.datetime(2020, 1, 1, 0, 0, 0, 500000)), "0 digits of a second"),
        ("trino", Interval("x", high=datetime.datetime(2020, 1, 1, 0, 0, 0, 500)), "3 digits of a second"),
        ("clickhouse", Interval("x", high=datetime.datetime(1850, 1, 1)), "from 1900 to 2299 only"),
        ("oracle", Interval("x", high=datetime.datetime(1500, 1, 1)), "from 1583 to 9999 only"),
    ],
)
def test_limits_of_other_dialects_give_a_warning(dialect, condition, reason):
    with pytest.warns(UserWarning, match=f"{dialect} may answer differently for the column 'x'.*{reason}"):
        model(condition).to_sql(dialect=dialect)


def test_no_warning_if_the_bounds_do_not_need_it():
    day = model(Interval("x", high=datetime.datetime(2020, 1, 1)))
    for dialect in ("mysql", "trino", "clickhouse", "oracle", "duckdb", "sqlite", "postgres"):
        assert "2020-01-01" in day.to_sql(dialect=dialect)


def test_what_a_dialect_cannot_express_is_an_error():
    zoned = model(Interval("x", high=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)))
    with pytest.raises(ValueError, match=r"the rules cannot be written in the dialect 'dremio': .*time-zone"):
        zoned.to_sql(dialect="dremio")


# Sizes.


def many_rules(n_rules, n_classes=3, n_fallbacks=0, conflict="first"):
    classes = tuple(f"c{k:04}" for k in range(n_classes))
    rules = [
        Rule(
            (Interval("x", low=float(j), high=j + 1.5),), classes[j % n_classes], ((classes[j % n_classes], 1 + j % 7),)
        )
        for j in range(n_rules + n_fallbacks)
    ]
    totals, uncovered = (199_999,) * n_classes, (99_999,) * n_classes
    return RuleSet(tuple(rules[:n_rules]), classes, classes[0], totals, uncovered, conflict, tuple(rules[n_rules:]))


@pytest.mark.parametrize("conflict", ["first", "smoothed", "vote", "counts"])
def test_many_rules(database, conflict):
    rule_set = many_rules(300, 5, 200, conflict)
    values = [0.0, 1.0, 1.2, 299.7, 300.2, 400.0, 499.5, 502.0, None]
    check(database, rule_set, {"x": values}, {"x": "number"})


def test_a_table_that_was_scored_before_by_many_rules():
    for dialect in ("duckdb", "sqlite"):
        with opened(dialect) as database:
            database.fill({"x": [0.5, 250.5]}, {"x": "number"})
            rule_set = many_rules(300)
            database.run("CREATE TABLE drs_p AS " + rule_set.to_sql(dialect=dialect))
            rows = database.rows(rule_set.to_sql(dialect=dialect, table="drs_p"))
            assert [row[0] for row in rows] == [1, 250]


def test_many_classes_and_conditions(database):
    deep = tuple(Interval(f"x{k}", high=1.0) for k in range(1200))
    columns = deep if database.dialect == "duckdb" else deep[:900]
    table = {condition.column: [0.0, 2.0] for condition in columns}
    check(database, model(*columns), table, dict.fromkeys(table, "number"))
    for conflict in ("vote", "counts"):
        check(database, many_rules(50, 60, conflict=conflict), {"x": [0.0, 20.2, None]}, {"x": "number"})


def test_too_many_columns_are_an_error():
    wide = many_rules(900, 1200, conflict="vote")
    with pytest.raises(
        ValueError, match=r"the query would have 2106 columns in one of its steps, .*; sqlite allows 2000"
    ):
        wide.to_sql(dialect="sqlite", keep=["x"])
    with pytest.raises(ValueError, match="postgres allows 1664"):
        wide.to_sql(dialect="postgres", keep=["x"])
    with pytest.raises(ValueError, match="postgres allows 1664"):
        many_rules(5, 1700).to_sql(dialect="postgres", keep=["x"])


@pytest.mark.parametrize("conflict", ["first", "vote", "counts"])
@pytest.mark.parametrize("write", [lambda rules: rules.to_sql(keep=["x"]), RuleSet.to_pmml])
def test_the_rule_set_is_read_once_and_not_for_every_rule(monkeypatch, write, conflict):
    counts = []
    for n_rules in (5, 60):
        with monkeypatch.context() as patch:
            reads = []
            for name in ("decision", "evidence", "rule_probabilities", "all_rules", "columns"):
                patch.setattr(RuleSet, name, counted(getattr(RuleSet, name), reads))
            patch.setattr(RuleSet, "kind", lambda rules, column, reads=reads: reads.append(column) or "number")
            write(many_rules(n_rules, 3, n_rules, conflict))
        counts.append(len(reads))
    assert counts[0] == counts[1]


def counted(prop, reads):
    compute = prop.fget if isinstance(prop, property) else prop.func
    return property(lambda rules: reads.append(prop) or compute(rules))


def test_a_name_that_duckdb_gives_to_another_column():
    rules = replace(model(Interval("A_1", high=1.0)), similar_columns=("a", "A"))
    with pytest.raises(ValueError, match="duckdb cannot tell the columns 'A_1' and 'a' of the training table apart"):
        rules.to_sql()
    assert rules.to_sql(columns={"A_1": "A_1_1"})
    assert rules.to_sql(dialect="postgres")


@pytest.mark.parametrize("name", ["predicted_label", "Predicted_Rule", "predicted_probability_yes"])
def test_a_column_that_the_rules_read_is_none_of_the_new_columns(name):
    rule_set = model(Interval(name, low=1))
    for change in ({}, {"columns": {name: name.upper()}}):
        with pytest.raises(ValueError, match="would have two; choose another prefix than 'predicted_'"):
            rule_set.to_sql(**change)
    other = model(Interval("other", low=1))
    with pytest.raises(ValueError, match="choose another prefix"):
        other.to_sql(columns={"other": name})
    for change in ({"prefix": "new_"}, {"keep": ["id"]}, {"columns": {name: "label"}}):
        assert "SELECT" in rule_set.to_sql(**change)
