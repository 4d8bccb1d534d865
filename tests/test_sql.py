"""SQL, executed in real databases: the same label, rule and probabilities as the rule set gives."""

import contextlib
import datetime
import math
import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.dialects.dialect import Dialect, Dialects

from diverse_rule_sets import Equals, Interval, IsMissing, Rule, RuleSet, baselines
from diverse_rule_sets.export._sql_dialects import LOOSE_TEXT
from internal import classifier
from models import HOSTILE, as_polars, kinds_of, records_for, rule_sets
from servers import postgres

ID = "number of the record"
STANDARD = {"number": "DOUBLE PRECISION", "text": "VARCHAR", "boolean": "BOOLEAN", "date": "TIMESTAMP"}
STANDARD["date (UTC)"] = "TIMESTAMP WITH TIME ZONE"
SQLITE = {"number": "REAL", "text": "TEXT", "boolean": "BOOLEAN", "date": "TEXT", "date (UTC)": "TEXT"}


class Database:
    """One of the three behind the same two questions."""

    def __init__(self, dialect, connection):
        self.dialect, self._connection = dialect, connection

    def fill(self, table, kinds):
        """Put a table of lists into the database."""
        cursor = self._connection.cursor()
        types = SQLITE if self.dialect == "sqlite" else STANDARD
        columns = {ID: "INTEGER", **{name: types[kind] for name, kind in kinds.items()}}
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns.items())
        cursor.execute("DROP TABLE IF EXISTS records")
        cursor.execute(f"CREATE TABLE records ({declared})")
        mark = "%s" if self.dialect == "postgres" else "?"
        rows = list(zip(*table.values(), strict=True)) if table else []
        rows = [(k, *map(self._stored, row)) for k, row in enumerate(rows)]
        cursor.executemany(f"INSERT INTO records VALUES ({', '.join([mark] * len(columns))})", rows)

    def _stored(self, value):
        if self.dialect == "sqlite" and isinstance(value, datetime.datetime):
            return value.isoformat(sep=" ")
        return value

    def run(self, statement):
        cursor = self._connection.cursor()
        cursor.execute(statement)
        return cursor

    def rows(self, query):
        return self.run(query).fetchall()

    def ask(self, query):
        cursor = self.run(query)
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
        return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@contextlib.contextmanager
def opened(dialect):
    if dialect == "postgres":
        with postgres() as connection:
            yield Database(dialect, connection)
        return
    connection = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    with contextlib.closing(connection):
        yield Database(dialect, connection)


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "postgres"])
def database(request):
    with opened(request.param) as database:
        yield database


def check(database, rule_set, table, kinds):
    """Run the query and compare with the rule set itself."""
    if rule_set.scorecards and database.dialect == "sqlite" and {"true", "false"} & {name.lower() for name in table}:
        return  # see test_names_that_sqlite_loses_in_steps
    database.fill(table, kinds)
    frame = as_polars(table, kinds)
    query = rule_set.to_sql(dialect=database.dialect, keep=[ID])
    answer = database.ask(query)
    order = np.argsort(answer[ID])
    assert [answer[ID][k] for k in order] == list(range(len(frame)))
    assert [answer["predicted_label"][k] for k in order] == rule_set.predict(frame).tolist()
    rules = [None if j < 0 else j + 1 for j in rule_set.deciding_rules(frame).tolist()]
    assert [answer["predicted_rule"][k] for k in order] == rules
    shares = np.array(
        [values for name, values in answer.items() if name.startswith("predicted_probability_")], float
    ).T[order]
    np.testing.assert_allclose(shares, rule_set.predict_proba(frame), atol=1e-9)
    assert len(answer) == 3 + len(rule_set.classes)


@settings(max_examples=200)
@given(rule_sets(scorecards=True), st.integers(0, 1000))
def test_random_models_answer_the_same(database, drawn, seed):
    rule_set, columns = drawn
    check(database, rule_set, records_for(columns, seed), {name: kind for name, (kind, _) in columns.items()})


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["precision", "smoothed", "f1", "first", "vote", "counts"]))
def test_fitted_models_answer_the_same(database, seed, conflict):
    from conftest import make_mixed

    table, y = make_mixed(150, seed % 1000)
    X = pl.DataFrame(table)
    clf = classifier(random_state=seed, conflict=conflict, max_overlap=1.0, n_candidates=4, negation=bool(seed % 2))
    rule_set = clf.fit(X, y).rule_set_
    kinds = kinds_of(pl.DataFrame(table))
    assert all(kinds[name] == kind for name, kind in rule_set.kinds)
    check(database, rule_set, table, kinds)


@pytest.mark.parametrize("baseline", [baselines.CBAClassifier(), baselines.CN2Classifier(), baselines.IDSClassifier()])
def test_rivals_answer_the_same(database, baseline):
    from conftest import make_mixed

    table, y = make_mixed(300, 3)
    rule_set = baseline.fit(pl.DataFrame(table), y).rule_set_
    kinds = kinds_of(pl.DataFrame(table))
    assert len(rule_set) > 1
    check(database, rule_set, table, kinds)


def test_nan_is_missing_in_databases_that_hold_it():
    rules = (Rule.parse("IF x > 1 THEN b"), Rule.parse("IF x is missing THEN c"), Rule.parse("IF y != 5 THEN a"))
    rule_set = RuleSet(rules, ("a", "b", "c"), "a", (9, 9, 9), (0, 0, 0), "first", kinds=(("x", "number"),))
    table = {"x": [math.nan, None, 2.0, 0.0, math.inf], "y": [5.0, 5.0, 5.0, math.nan, 5.0]}
    for dialect in ("duckdb", "postgres"):
        with opened(dialect) as database:
            check(database, rule_set, table, {"x": "number", "y": "number"})


def test_single_precision_columns_are_compared_exactly():
    rule_set = RuleSet((Rule((Interval("x", high=0.1),), "b"),), ("a", "b"), "a", (1, 1), (0, 0))
    connection = duckdb.connect()
    connection.execute("CREATE TABLE records AS SELECT CAST(0.1 AS FLOAT) AS x")
    assert not float(np.float32(0.1)) <= 0.1
    assert connection.execute(rule_set.to_sql()).fetchall()[0][2] == "a"


def test_dates_in_sqlite_in_whatever_form():
    moment = datetime.datetime(2020, 1, 31)
    rule_set = RuleSet((Rule((Interval("t", high=moment),), "b"),), ("a", "b"), "a", (1, 1), (0, 0))
    texts = [
        "2020-01-31",
        "2020-01-31 00:00",
        "2020-01-31T00:00:00",
        "2020-01-31 00:00:00.000",
        "2020-01-31 00:00:00.001",
        None,
    ]
    with opened("sqlite") as database:
        database.fill({"t": texts}, {"t": "text"})
        assert database.ask(rule_set.to_sql(dialect="sqlite"))["predicted_label"] == ["b", "b", "b", "b", "a", "a"]


def test_all_columns_pass_by_default_and_names_can_be_changed():
    rule_set = RuleSet((Rule((Equals(5, "x"),), 1),), (0, 1), 0, (1, 1), (0, 0))
    with opened("duckdb") as database:
        database.fill({"fünf": ["x", "y"]}, {"fünf": "text"})
        query = rule_set.to_sql(table=("main", "records"), columns={5: "fünf"}, prefix="q_")
        answer = database.ask(query)
    assert list(answer) == ["q_rule", ID, "fünf", "q_label", "q_probability_0", "q_probability_1"]
    assert answer["q_label"] == [1, 0]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_table_that_was_scored_before_is_scored_again(dialect):
    first = RuleSet((Rule.parse("IF x > 1 THEN b"),), ("a", "b"), "a", (5, 5), (1, 1))
    second = replace(first, rules=(Rule.parse("IF x <= 2 THEN b"),))
    with opened(dialect) as database:
        database.fill({"x": [1.0, 2.0, 3.0]}, {"x": "number"})
        database.run("CREATE TABLE scored AS " + first.to_sql(dialect=dialect))
        rows = database.rows(second.to_sql(dialect=dialect, table="scored"))
    assert [row[0] for row in rows] == [1, 1, None]
    assert [row[-3] for row in rows] == ["b", "b", "a"]
    with pytest.raises(ValueError, match="keep names 'PREDICTED_rule', which the query adds"):
        second.to_sql(keep=["x", "PREDICTED_rule"])


@pytest.mark.parametrize("table", ["s", "drs_s", "order", "select", "r", "f"])
def test_tables_of_any_name(database, table):
    rule_set = RuleSet((Rule.parse("IF x > 1 THEN b"),), ("a", "b"), "a", (5, 5), (1, 1))
    for conflict in ("first", "vote"):
        database.fill({"x": [1.0, 2.0]}, {"x": "number"})
        database.run(f'DROP TABLE IF EXISTS "{table}"')
        database.run(f'ALTER TABLE records RENAME TO "{table}"')
        query = replace(rule_set, conflict=conflict).to_sql(dialect=database.dialect, table=table, keep=["x"])
        assert database.ask(query)["predicted_label"] == ["a", "b"]
        database.run(f'DROP TABLE "{table}"')


def test_large_whole_numbers_are_compared_as_here(database):
    rule_set = RuleSet((Rule.parse("IF x > 9007199254740992 THEN b"),), ("a", "b"), "a", (5, 5), (1, 1))
    numbers = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2]
    database.run("DROP TABLE IF EXISTS records")
    database.run("CREATE TABLE records (x BIGINT)")
    database.run("INSERT INTO records VALUES " + ", ".join(f"({x})" for x in numbers))
    answer = database.ask(rule_set.to_sql(dialect=database.dialect))
    assert answer["predicted_label"] == rule_set.predict(pl.DataFrame({"x": answer["x"]})).tolist()


def test_columns_that_a_database_could_not_tell_apart_are_refused():
    rule_set = replace(small(), rules=(Rule((IsMissing(1), IsMissing("1"), IsMissing("a"), IsMissing("A")), "good"),))
    with pytest.raises(ValueError, match="would be"):
        rule_set.to_sql()
    apart = {1: "one", "a": "small", "A": "large"}
    assert '"one"' in rule_set.to_sql(columns=apart)
    with pytest.raises(ValueError, match="columns names 'b', which the rules do not read"):
        rule_set.to_sql(columns={"b": "c"})


def test_names_of_probabilities_are_different_whatever_the_labels():
    labels = ("A", "a", "", "x" * 80, "class 1", "é\n")
    rule_set = RuleSet((), labels, "a", (1,) * 6, (1,) * 6)
    names = [column for column in duckdb_columns(rule_set) if "probability_" in column]
    assert len({name.casefold() for name in names}) == 6
    assert all(len(name.encode()) < 63 for name in names)


def duckdb_columns(rule_set):
    with opened("duckdb") as database:
        database.fill({"x": [1.0]}, {"x": "number"})
        return list(database.ask(rule_set.to_sql()))


def test_many_rules_that_are_added_up(database):
    rules = tuple(
        Rule((Interval("x", low=float(j)),), j % 3, tuple((k, 1 + (j * k) % 7) for k in range(3))) for j in range(900)
    )
    rule_set = RuleSet(rules, (0, 1, 2), 0, (9999,) * 3, (0,) * 3, "counts")
    check(database, rule_set, {"x": [0.0, 10.5, 500.0, 2000.0, None]}, {"x": "number"})


loose = "may answer differently for the column .*: it ignores the case of text"


@pytest.mark.parametrize("dialect", sorted({one.value for one in Dialects} - {"", "dax", "prql"}))
def test_hostile_names_and_values_are_one_identifier_and_one_literal_in_every_dialect(dialect):
    expected = pytest.warns(UserWarning, match=loose) if dialect in LOOSE_TEXT else contextlib.nullcontext()
    with expected:
        harmless = tokens("name", dialect)
    for text in HOSTILE:
        with expected:
            words = tokens(text, dialect)
        assert len(words) == len(harmless)
        assert [kind for kind, _ in words] == [kind for kind, _ in harmless]
        assert [word.replace("name", text) for _, word in harmless] == [word for _, word in words]


def tokens(text, dialect):
    """What the dialect reads in the query of a rule set that holds a text wherever it can."""
    rule = Rule((Equals(text, text), IsMissing(text + "2"), Interval(text + "3", low=0.1)), text)
    rule_set = RuleSet((rule,), (text, "zzz"), "zzz", (1, 1), (0, 0))
    query = rule_set.to_sql(dialect=dialect, table=(text,), keep=[text], columns={text + "2": text + text})
    read = Dialect.get_or_raise(dialect).tokenize(query)
    return [(token.token_type, token.text) for token in read if not token.text.startswith("predicted_probability_")]


def small():
    return RuleSet((Rule.parse("IF age <= 37 THEN good"),), ("bad", "good"), "bad", (5, 5), (5, 1))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dialect": "cobol"}, ValueError, "dialect must be one of .*'duckdb'.*got 'cobol'"),
        ({"table": "records; DROP TABLE x"}, ValueError, "table must be a name"),
        ({"table": ("a", "b", "c", "d")}, ValueError, "one to three names"),
        ({"table": 5}, TypeError, "table must be"),
        ({"keep": "id"}, TypeError, "keep must be '\\*' or a list"),
        ({"prefix": ""}, TypeError, "prefix must be a string"),
        ({"columns": {"age": "a\0"}}, ValueError, "NUL"),
    ],
)
def test_bad_arguments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        small().to_sql(**options)


def test_what_sql_cannot_say_is_refused():
    with pytest.raises(ValueError, match="conflict is a function"):
        replace(small(), conflict=lambda rules: rules[0]).to_sql()
    with pytest.raises(ValueError, match=r"keep must list columns"):
        replace(small(), conflict="vote").to_sql()
    mixed = (Rule((Equals("x", 1),), "good"), Rule((Equals("x", "a"),), "good"))
    with pytest.raises(ValueError, match="'x' is compared with values of several types, such as 1 and 'a'"):
        replace(small(), rules=mixed).to_sql()
    with pytest.raises(ValueError, match="SQL cannot write the text"):
        replace(small(), rules=(Rule((Equals("x", "a\0b"),), "good"),)).to_sql()
