"""Checks of exports: a stored or translated model gives the same answers."""

import datetime
import pickle
import sqlite3
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import diverse_rule_sets as drs

from .outcome import CheckError, refusal

EXACT = "exact number"  # whole numbers as integers, others as doubles
NUMBER, TEXT, BOOLEAN, DATE, INSTANT = "number", "text", "boolean", "date", "date (UTC)"
_DATABASE_KINDS = {
    "category of numbers": EXACT,
    "category of dates": DATE,
    "category of dates (UTC)": INSTANT,
    **{kind: kind for kind in (NUMBER, TEXT, BOOLEAN, DATE, INSTANT)},
}


def check_json(run):
    """JSON read back gives an equal rule set and the same answers."""
    text, error = refusal(run.rule_set.to_json)
    if error is not None:
        run.exempt.append("no JSON")
        return
    again = drs.RuleSet.from_json(text)
    code = "again = drs.RuleSet.from_json(clf.rule_set_.to_json())\nassert again == clf.rule_set_"
    if again != run.rule_set:
        raise CheckError("the rule set read from JSON is another one", code)
    run.compare(run.answer(model=again), "read from JSON", code, run.answer(model=run.rule_set))


def check_pickle(run):
    """A pickled classifier gives the same answers."""
    if callable(run.clf.__dict__.get("conflict")):
        return
    again = pickle.loads(pickle.dumps(run.clf))
    run.compare(run.answer(model=again), "pickled", "import pickle\nprint(pickle.loads(pickle.dumps(clf)).predict(X))")


def records_of(run):
    """Return the training records as dicts of Python values; None if the library cannot give them."""
    X, names = run.X, list(getattr(run.clf, "feature_names_in_", ()))
    try:
        if isinstance(X, pd.DataFrame):
            lists = [X.iloc[:, j].tolist() for j in range(X.shape[1])]
        elif isinstance(X, pl.DataFrame):
            lists = [column.to_list() for column in X.get_columns()]
        elif isinstance(X, pa.Table):
            lists = [column.to_pylist() for column in X.columns]
        else:
            array = X.astype("M8[us]") if isinstance(X, np.ndarray) and X.dtype.kind == "M" else X
            rows = array.tolist() if isinstance(array, np.ndarray) else array
            lists = [list(column) for column in zip(*rows, strict=True)]
            names = [f"x{j}" for j in range(len(lists))]
        if isinstance(X, np.ndarray) and X.dtype.kind == "M" and any(isinstance(v, int) for row in rows for v in row):
            return None
    except Exception:  # dates beyond those of Python
        return None
    return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]


def check_python(run):
    """The plain Python function gives the same answers for records as dicts of Python values."""
    text, error = refusal(run.rule_set.to_python)
    records = records_of(run)
    if error is not None or records is None:
        run.exempt.append("no Python function")
        return
    space = {}
    exec(compile(text, "<rules>", "exec"), space)
    answers = [space["predict"](record) for record in records]
    code = "space = {}\nexec(clf.rule_set_.to_python(), space)  # call space['predict'] with a dict of a record"
    shares = np.array([list(answer["probabilities"].values()) for answer in answers]).reshape(len(records), -1)
    labels = [answer["label"] for answer in answers]
    run.compare((labels, shares), "Python function", code, run.answer(model=run.rule_set))
    rules = [answer["rule"] or 0 for answer in answers]
    if rules != (run.rule_set.deciding_rules(run.X) + 1).tolist():
        raise CheckError("the Python function names other deciding rules", code)


def check_source(run):
    """The source for pandas or polars gives the same answers for the training table."""
    kind = run.case.library
    if kind not in ("pandas", "polars") or any(column.kind.name == "polars pl.Object" for column in run.case.columns):
        return
    if kind == "pandas" and any("sNaN" in column.kind.name for column in run.case.columns):
        run.exempt.append("pandas raises an error for a signalling NaN")
        return
    if sum(len(rule.conditions) for rule in run.rule_set.all_rules) > 1000:
        run.exempt.append("source of over 1,000 conditions")  # polars needs long to plan so many
        return
    text, error = refusal(lambda: run.rule_set.to_python(kind=kind))
    if error is not None:
        run.exempt.append(f"no {kind} source")
        return
    space = {}
    exec(compile(text, "<rules>", "exec"), space)
    code = f"space = {{}}\nexec(clf.rule_set_.to_python(kind={kind!r}), space)\n"
    if kind == "pandas":
        result = space["predict"](run.X)
        code += "print(space['predict'](X))"
        labels, shares = result.iloc[:, 0].tolist(), result.iloc[:, 2:].to_numpy(float)
    else:
        expressions = space["predict"]()
        result = run.X.with_columns(expressions)
        code += "print(X.with_columns(space['predict']()))"
        label, _, *chances = [result.get_column(one.meta.output_name()) for one in expressions]
        labels, shares = label.to_list(), np.column_stack(chances)
    run.compare((labels, shares), f"{kind} source", code, run.answer(model=run.rule_set), 1e-9)


def check_pmml(run):
    """PMML is well-formed XML."""
    text, error = refusal(run.rule_set.to_pmml)
    if error is not None:
        run.exempt.append("no PMML")
        return
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise CheckError(f"PMML is not well-formed: {error}", "print(clf.rule_set_.to_pmml())") from None


def check_duckdb(run):
    """SQL in DuckDB gives the same answers."""
    _check_sql(run, "duckdb", _ask_duckdb)


def check_sqlite(run):
    """SQL in SQLite gives the same answers."""
    _check_sql(run, "sqlite", _ask_sqlite)


_ID = "number of the record"


def _check_sql(run, dialect, ask):
    import warnings

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        query, error = refusal(lambda: run.rule_set.to_sql(dialect=dialect, keep=[_ID]))
    if error is not None or any(issubclass(w.category, UserWarning) for w in seen):
        run.exempt.append(f"no {dialect}" if error is not None else f"{dialect} warns of a limit")
        return
    records = records_of(run)
    kinds = {name: _DATABASE_KINDS.get(run.rule_set.kind(name)) for name in run.rule_set.columns}
    if records is None or None in kinds.values() or len(records) > 300 or _has_inexact_codes(run, records):
        run.exempt.append(f"{dialect} not compared")
        return
    try:
        table = {name: [_stored(record[name], kind) for record in records] for name, kind in kinds.items()}
        _check_storable(table, kinds, dialect)
    except (ValueError, ArithmeticError, TypeError):
        run.exempt.append(f"{dialect} cannot hold the values")
        return
    rows = sorted(ask(query, {str(name): values for name, values in table.items()}, [*kinds.values()], len(records)))
    code = f"print(clf.rule_set_.to_sql(dialect={dialect!r}, keep=['id']))"
    if [row[0] for row in rows] != list(range(len(records))):
        raise CheckError(f"{dialect} gives {len(rows)} rows for {len(records)} records", code)
    labels = [_label(row[1], run.rule_set.classes) for row in rows]
    shares = np.array([row[3:] for row in rows], float).reshape(len(rows), -1)
    run.compare((labels, shares), dialect, code, run.answer(model=run.rule_set), 1e-9)
    rules = [row[2] or 0 for row in rows]
    if rules != (run.rule_set.deciding_rules(run.X) + 1).tolist():
        raise CheckError(f"{dialect} names other deciding rules", code)


def _has_inexact_codes(run, records):
    """Return whether codes are compared with integers or booleans that the database would hold as floats."""
    read = run.rule_set.codes_read
    large = any(isinstance(code, int) and abs(code) >= 2**53 for codes in read.values() for code in codes)
    return large or any(isinstance(record[name], bool | np.bool_) for record in records for name in read)


def _label(value, classes):
    """Return a label that a database gives as the class that it equals: SQLite has no booleans."""
    return next((label for label in classes if label == value), value)


def _stored(value, kind):
    """Return a Python value as a database holds it: None, float, str, bool or datetime."""
    if (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (not isinstance(value, str) and value != value)
    ):
        return None
    if kind == EXACT and isinstance(value, int | np.integer) and not isinstance(value, bool) and abs(value) < 2**63:
        return int(value)
    if kind in (NUMBER, EXACT):
        return float(value)
    if kind == TEXT:
        str(value).encode("utf8")
        return str(value)
    if kind == BOOLEAN:
        return bool(value)
    if isinstance(value, np.datetime64):
        value = value.astype("M8[us]").item()
    if isinstance(value, pd.Timestamp):
        value = value.floor("us").to_pydatetime()
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    return value if value.tzinfo is None else value.astimezone(datetime.UTC)


def _check_storable(table, kinds, dialect):
    """Raise ValueError for values that a database cannot hold: its documented limits."""
    for name, kind in kinds.items():
        if kind == EXACT and len({type(v) for v in table[name] if v is not None}) > 1:
            raise ValueError
        for value in table[name]:
            dates = kind in (DATE, INSTANT) and value is not None and dialect != "sqlite"
            if dates and (value.tzinfo is not None) != (kind == INSTANT):
                raise ValueError  # a code for missing values of the other type of dates
            if kind == TEXT and value is not None and "\0" in value and dialect == "sqlite":
                raise ValueError


_ARROW = {NUMBER: pa.float64(), TEXT: pa.string(), BOOLEAN: pa.bool_(), DATE: pa.timestamp("us")}
_ARROW[EXACT] = None  # Arrow chooses int64 or float64
_ARROW[INSTANT] = pa.timestamp("us", "UTC")
_connections = {}


def _ask_duckdb(query, table, kinds, n):
    import duckdb

    if "duckdb" not in _connections:
        _connections["duckdb"] = duckdb.connect(config={"threads": 1})
    columns = [pa.array(range(n))] + [pa.array(v, _ARROW[kind]) for v, kind in zip(table.values(), kinds, strict=True)]
    connection = _connections["duckdb"]
    connection.register("records", pa.table(columns, names=[_ID, *table]))
    try:
        return _in_order(connection.execute(query))
    finally:
        connection.unregister("records")


_SQLITE = {NUMBER: "REAL", EXACT: "NUMERIC", TEXT: "TEXT", BOOLEAN: "BOOLEAN", DATE: "TEXT", INSTANT: "TEXT"}


def _ask_sqlite(query, table, kinds, n):
    if "sqlite" not in _connections:
        _connections["sqlite"] = sqlite3.connect(":memory:")
    connection = _connections["sqlite"]
    names = [f'"{name}"'.replace('"', '""')[1:-1] for name in table]
    declared = ", ".join(f"{name} {_SQLITE[kind]}" for name, kind in zip(names, kinds, strict=True))
    connection.execute("DROP TABLE IF EXISTS records")
    connection.execute(f'CREATE TABLE records ("{_ID}" INTEGER{", " if names else ""}{declared})')
    columns = [
        [v.isoformat(sep=" ") if isinstance(v, datetime.datetime) else v for v in values] for values in table.values()
    ]
    marks = ", ".join(["?"] * (1 + len(columns)))
    connection.executemany(f"INSERT INTO records VALUES ({marks})", zip(range(n), *columns, strict=True))
    return _in_order(connection.execute(query))


def _in_order(cursor):
    """Return rows of the number of the record, the label, the rule and the probabilities."""
    names = [column[0] for column in cursor.description]
    start = [names.index(_ID), names.index("predicted_label"), names.index("predicted_rule")]
    rest = [j for j, name in enumerate(names) if name.startswith("predicted_probability_")]
    return [tuple(row[j] for j in start + rest) for row in cursor.fetchall()]


CHECKS = [
    ("json", check_json, 0.5),
    ("pickle", check_pickle, 0.2),
    ("python", check_python, 0.3),
    ("source", check_source, 0.08),
    ("pmml", check_pmml, 0.1),
    ("duckdb", check_duckdb, 0.06),
    ("sqlite", check_sqlite, 0.1),
]
