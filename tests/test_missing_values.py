"""Codes for missing values: a table with codes gives what the table with missing values instead of them gives."""

import datetime
import json
import pickle
import sqlite3
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import naive
from diverse_rule_sets import (
    DiverseRuleSetClassifier,
    DRSClassifier,
    Interval,
    IsMissing,
    IsNotIn,
    Rule,
    RuleSet,
    Scorecard,
    metrics,
)
from diverse_rule_sets._input.missing import settle_codes
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.path import diversity_path
from diverse_rule_sets.report import html
from diverse_rule_sets.report._summary import summarise

LOWEST = -(2**63)
OLD = datetime.datetime(1900, 1, 1)
CODES = {"income": (-7, -8), "rate": (99.9,), "job": ("?", "n/a"), "since": (OLD,), "total": (LOWEST,), "size": ("-",)}
LIST = [-7, -8, 99.9, "?", "n/a", OLD, LOWEST, "-"]


def coded_table(n=300, seed=0):
    """Return lists of values by column, with codes, and labels that depend on values and on missing values."""
    rng = np.random.default_rng(seed)
    columns = {
        "income": rng.integers(0, 1000, n),
        "rate": rng.integers(0, 80, n) / 8,
        "job": rng.choice(["clerk", "nurse", "sales"], n),
        "since": np.array([datetime.datetime(2015, 1, 1) + datetime.timedelta(days=int(d)) for d in range(n)]),
        "total": rng.integers(0, 50, n),
        "size": rng.choice(["S", "M", "L"], n),
    }
    y = np.where((columns["income"] > 400) ^ (columns["job"] == "nurse"), "yes", "no")
    table = {name: values.tolist() for name, values in columns.items()}
    for name, codes in CODES.items():
        for k in np.flatnonzero(rng.random(n) < 0.2).tolist():
            table[name][k] = codes[int(rng.integers(len(codes)))]
            y[k] = "no" if name in ("income", "size") else y[k]
    return table, y


def cleaned(table, codes=CODES):
    return {name: naive.without_codes(values, codes.get(name, ())) for name, values in table.items()}


SIZES = ["S", "M", "-", "L"]


def as_pandas(table):
    frame = pd.DataFrame(table)
    dtypes = {"income": "Int64", "total": "Int64"} if None in table["income"] else {}
    frame = frame.astype(dtypes)
    frame["size"] = pd.Categorical(frame["size"], [size for size in SIZES if size in table["size"]], ordered=True)
    return frame


def as_polars(table):
    frame = pl.DataFrame(table)
    return frame.with_columns(pl.col("size").cast(pl.Enum([size for size in SIZES if size in table["size"]])))


def as_arrow(table):
    return pa.table({name: values for name, values in table.items() if name != "size"})


def as_objects(table):
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in table.items()})


LIBRARIES = (as_pandas, as_polars, as_arrow, as_objects)
CLASSIFIERS = {
    "diverse": lambda **codes: DiverseRuleSetClassifier(random_state=0, **codes),
    "paper": lambda **codes: DRSClassifier(random_state=0, **codes),
    "cba": lambda **codes: CBAClassifier(min_support=0.05, **codes),
    "cn2": CN2Classifier,
    "ids": lambda **codes: IDSClassifier(min_support=0.1, **codes),
}


def assert_same_model(coded, clean, X, Z):
    """A model of a table with codes is that of the table with missing values, and answers alike on both tables."""
    assert replace(coded.rule_set_, missing_values=()) == clean.rule_set_
    assert coded.rule_set_.domains == clean.rule_set_.domains
    for table in (X, Z):
        np.testing.assert_array_equal(coded.predict(table), clean.predict(Z))
        np.testing.assert_array_equal(coded.predict_proba(table), clean.predict_proba(Z))
        np.testing.assert_array_equal(coded.rule_set_.covers(table), clean.rule_set_.covers(Z))
    assert coded.rule_set_.reasons(X) == clean.rule_set_.reasons(Z)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("codes", [LIST, CODES])
def test_the_model_is_that_of_the_table_with_missing_values(library, codes):
    table, y = coded_table()
    X, Z = library(table), library(cleaned(table))
    names = as_table(X).names
    codes = {name: codes[name] for name in names} if codes is CODES else codes
    coded = DiverseRuleSetClassifier(random_state=0, missing_values=codes).fit(X, y)
    clean = DiverseRuleSetClassifier(random_state=0).fit(Z, y)
    assert_same_model(coded, clean, X, Z)
    assert "income" in coded.rule_set_.columns
    assert coded.why(X[:9] if library is not as_arrow else X.slice(0, 9)) == clean.why(
        Z[:9] if library is not as_arrow else Z.slice(0, 9)
    )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_all_classifiers_have_the_parameter(name):
    table, y = coded_table()
    X, Z = as_pandas(table), as_pandas(cleaned(table))
    assert_same_model(CLASSIFIERS[name](missing_values=LIST).fit(X, y), CLASSIFIERS[name]().fit(Z, y), X, Z)
    X = X.drop(columns="total")  # whose codes are rounded as numbers, with a warning
    plain = CLASSIFIERS[name]().fit(X, y)
    assert plain.rule_set_.missing_values == ()
    assert plain.rule_set_ == CLASSIFIERS[name](missing_values=[]).fit(X, y).rule_set_
    assert plain.rule_set_.columns != () != plain.rule_set_.rules


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int16, object])
def test_arrays(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (300, 3))
    y = (X[:, 0] > 50) ^ (X[:, 1] > 30)
    X[rng.random(X.shape) < 0.2] = -9
    y[X[:, 0] == -9] = False
    Z = np.where(X == -9, np.nan, X.astype(float))
    coded = DiverseRuleSetClassifier(random_state=0, missing_values=-9).fit(X.astype(dtype), y)
    clean = DiverseRuleSetClassifier(random_state=0).fit(Z, y)
    assert_same_model(coded, clean, X.astype(dtype), Z)
    assert dict(coded.rule_set_.missing_values) == {"x0": (-9,), "x1": (-9,), "x2": (-9,)}
    by_name = clone(coded).set_params(missing_values={"x0": -9, "x1": np.float32(-9), "x2": Decimal(-9)})
    assert by_name.fit(X, y).rule_set_ == coded.rule_set_


VALUES = st.sampled_from([0, 1, -9, 2.5, True, False, "", "?", "1", "True", None, OLD, datetime.datetime(2020, 5, 5)])


@settings(max_examples=300)
@given(
    st.lists(VALUES, min_size=1, max_size=8),
    st.lists(VALUES, max_size=4),
    st.sampled_from(["objects", "polars", "category"]),
)
def test_columns_of_any_values(values, codes, form):
    """Codes are compared by type and value; the type of the column is that of the other values."""

    def table(some):
        if form == "polars":
            return as_table(pl.DataFrame({"a": pl.Series("a", some, pl.Object)}))
        series = pd.Series(some, dtype=object)
        return as_table(pd.DataFrame({"a": series if form == "objects" else pd.Categorical(series, ordered=False)}))

    if form == "category":  # of pandas, in which True equals 1
        values = [value for value in values if not isinstance(value, bool)]
        values = values if len({type(value) for value in values} - {type(None)}) == 1 else ["?", "b"]
    raw = table(values)
    coded = raw.with_codes(settle_codes(codes, raw)).column("a")
    ref = table(naive.without_codes(values, [code for code in codes if code is not None])).column("a")
    assert coded.kind == ref.kind
    np.testing.assert_array_equal(coded.values, ref.values)
    used = set(coded.values.tolist()) if coded.categories else set()
    assert [coded.categories[k] for k in sorted(used - {-1})] == [ref.categories[k] for k in sorted(used - {-1})]


def test_large_integers_are_compared_exactly():
    near = [LOWEST, LOWEST + 1, 2**53, 2**53 + 1, 2**62, 5, -9]
    for dtype in ("int64", "Int64", object):
        X = pd.DataFrame({"a": pd.Series(near, dtype=dtype)})
        for code in near:
            rule = Rule((IsMissing("a"),), 1)
            assert rule.covers(X, missing_values=code).tolist() == [value == code for value in near]
    assert Rule((IsMissing("a"),), 1).covers(pl.DataFrame({"a": near}), missing_values=2**53).sum() == 1
    table = as_table(pd.DataFrame({"a": [LOWEST, 1, 2]})).with_codes({"a": (LOWEST,)})
    assert not table.column("a").rounded


def test_true_is_not_one():
    X = pd.DataFrame({"a": pd.Series([1, True, 0, False, "1", None], dtype=object)})
    missing = Rule((IsMissing("a"),), "x")
    assert missing.covers(X, missing_values=1).tolist() == [True, False, False, False, False, True]
    assert missing.covers(X, missing_values=[True, False]).tolist() == [False, True, False, True, False, True]
    assert missing.covers(X, missing_values="1").tolist() == [False, False, False, False, True, True]
    flags = pd.DataFrame({"a": [True, False]})
    assert not missing.covers(flags, missing_values=[0, 1]).any()
    assert settle_codes([0, True, "?"], as_table(flags)) == {"a": (True,)}


def test_a_code_applies_where_it_can_be_compared():
    days = pd.to_datetime(["2020-01-01", "2021-01-01"])
    X = pd.DataFrame({"n": [1, 2], "t": pd.Series(["a", "b"], dtype="string"), "d": days, "z": days.tz_localize("UTC")})
    X["o"] = pd.Series([1, 2], dtype=object)
    X["m"] = pd.Series([1, "a"], dtype=object)
    X["e"] = pd.Series([None, None], dtype=object)
    X["s"] = pd.to_timedelta([1, 2])
    zoned = OLD.replace(tzinfo=datetime.UTC)
    codes = [-9, "?", OLD, zoned, None, float("nan"), -9.0, b"x"]
    each = (-9, "?", OLD, zoned, b"x")
    assert settle_codes(codes, as_table(X)) == {
        "n": (-9,),
        "t": ("?",),
        "d": (OLD,),
        "z": (zoned,),
        "o": (-9, "?"),  # Python objects may be text beside numbers
        "m": each,
        "e": each,
        "s": each,  # which is an error only if the column is used
    }
    assert settle_codes({9, -9, 8}, as_table(X[["n"]])) == {"n": (-9, 8, 9)}
    assert settle_codes(np.array([1, 2]), as_table(X[["n"]])) == {"n": (1, 2)}
    assert settle_codes(None, as_table(X)) == settle_codes([], as_table(X)) == settle_codes({}, as_table(X)) == {}


@pytest.mark.parametrize(
    ("codes", "error", "message"),
    [
        (
            {"incme": -7},
            ValueError,
            r"missing_values names the column 'incme', .*did you mean 'income'",
        ),
        (
            {"income": "?"},
            ValueError,
            r"missing_values\['income'\] must hold codes .* number values, got '\?' \(text",
        ),
        ({"income": [-7, True]}, ValueError, r"missing_values\['income'\] .* number values, got True \(boolean\)"),
        ({"job": -7}, ValueError, r"\['job'\] .* text values, got -7 \(number\); did you mean the text '-7'\?"),
        ({"since": "1900-01-01"}, ValueError, r"\['since'\] .* date values, got '1900-01-01' \(text\)"),
        ({"size": 3}, ValueError, r"\['size'\] .* text values, got 3"),
        (
            {"income": [[1]]},
            TypeError,
            r"missing_values\['income'\]\[0\] must be text, .*, got \[1\] \(list\)",
        ),
        ([-7, [1]], TypeError, r"missing_values\[1\] must be text, a number"),
        (
            datetime.timedelta(1),
            TypeError,
            r"missing_values must be None, a code for missing .* got .*timedelta",
        ),
        ([datetime.timedelta(1)], TypeError, r"missing_values\[0\] must be text"),
        ([10**400], ValueError, r"missing_values\[0\] contains a number too large for float64, got 10000"),
        (1 + 2j, TypeError, r"missing_values must be None, a code"),
    ],
)
def test_mistakes_are_named(codes, error, message):
    table, y = coded_table(60)
    with pytest.raises(error, match=message):
        DiverseRuleSetClassifier(missing_values=codes).fit(as_polars(table), y)


def test_no_value_of_a_rule_may_be_a_code():
    table, y = coded_table()
    message = r"""given_rules .*: the condition job = "\?" names '\?', which is a code for missing values"""
    with pytest.raises(ValueError, match=message):
        DiverseRuleSetClassifier(missing_values="?", given_rules=["IF job = '?' THEN no"]).fit(as_polars(table), y)
    card = "points (for yes): 1 if job in {'?', 'nurse'}"
    with pytest.raises(ValueError, match=r"names '\?', which is a code"):
        DiverseRuleSetClassifier(missing_values="?", scorecards=[card]).fit(as_polars(table), y)
    rules = RuleSet.parse("IF job not in {'?'} THEN yes\nOTHERWISE no")
    with pytest.raises(ValueError, match="test it by 'is missing'"):
        replace(rules, missing_values={"job": "?"})
    assert replace(rules, missing_values={"job": -9, "other": "?"}).missing_values == (
        ("job", (-9,)),
        ("other", ("?",)),
    )
    for wrong in (5, "ab", [("a",)], [("a", 1), ("a", 2)]):
        with pytest.raises(ValueError, match="missing_values must be a dict, or pairs, of columns"):
            replace(rules, missing_values=wrong)
    with pytest.raises(TypeError, match=r"missing_values\['a'\] must be text"):
        replace(rules, missing_values={"a": object()})


def test_given_rules_scorecards_and_constraints():
    table, y = coded_table()
    parameters = {
        "given_rules": ["IF income is missing THEN no", "IF income <= 0 AND job not in {'nurse'} THEN no"],
        "scorecards": ["points (for yes): 2 if income > 400, -1 if size is missing, 1 if job not in {'nurse'}"],
        "monotone": {"income": "increasing"},
        "random_state": 0,
    }
    X, Z = as_polars(table), as_polars(cleaned(table))
    with pytest.warns(UserWarning, match="no record has income <= 0; its values are from"):
        coded = DiverseRuleSetClassifier(missing_values=LIST, **parameters).fit(X, y)
    with pytest.warns(UserWarning, match="no record has income <= 0; its values are from"):
        clean = DiverseRuleSetClassifier(**parameters).fit(Z, y)
    assert_same_model(coded, clean, X, Z)
    card = Scorecard.parse(parameters["scorecards"][0])
    np.testing.assert_array_equal(card.points(X, missing_values=LIST), card.points(Z))
    assert not np.array_equal(card.points(X), card.points(Z))


@pytest.fixture(scope="module")
def fitted():
    table, y = coded_table()
    X, Z = as_polars(table), as_polars(cleaned(table))
    return DiverseRuleSetClassifier(random_state=0, missing_values=CODES).fit(X, y), X, Z, y


def test_edited_rule_sets_keep_the_codes(fitted):
    clf, X, Z, y = fitted
    rules, codes = clf.rule_set_, clf.rule_set_.missing_values
    assert dict(codes) == CODES
    unread = next(name for name in ("total", "rate") if name not in rules.columns)
    edited = rules.with_rule(f"IF {unread} is missing THEN no", X, y)
    assert edited[-1].n_covered == sum(value is None for value in Z[unread])
    for changed in (edited, rules.evaluated(X, y), rules.replace(1, "IF size is missing THEN no", X, y)):
        assert changed.missing_values == codes
        assert changed.predict(X).tolist() == changed.predict(Z).tolist()
        assert changed == changed.evaluated(Z, y)
    shorter = edited.without_rule(len(edited), X, y)
    assert shorter.missing_values == codes
    assert metrics.coverage(rules, X) == metrics.coverage(rules, Z)
    assert metrics.objective(rules, X, y, lambda_=1) == metrics.objective(rules, Z, y, lambda_=1)
    assert summarise(clf, X, y).facts() == summarise(clf, Z, y).facts()
    assert html(rules, X, y) == html(rules, Z, y)


def test_only_codes_of_columns_that_the_rules_read_matter_for_equality(fitted):
    rules = fitted[0].rule_set_
    read = {name: codes for name, codes in CODES.items() if name in rules.columns}
    assert read != CODES
    assert replace(rules, missing_values=read) == rules
    assert hash(replace(rules, missing_values=read)) == hash(rules)
    assert replace(rules, missing_values={**read, "income": (-8, -7.0)}) == rules
    assert replace(rules, missing_values={**read, "income": (-8,)}) != rules
    assert pickle.loads(pickle.dumps(rules)).missing_values == rules.missing_values


def test_the_text_names_the_codes_and_is_read_back(fitted):
    rules = fitted[0].rule_set_
    (line,) = (line for line in str(rules).splitlines() if line.startswith("Missing values: "))
    assert "income: -7, -8" in line
    assert all((f"{name}: " in line) == (name in rules.columns) for name in CODES)
    parsed = RuleSet.parse(str(rules))
    assert dict(parsed.missing_values) == {name: codes for name, codes in CODES.items() if name in rules.columns}
    assert parsed.same_rules(rules)
    assert (
        replace(parsed.evaluated(fitted[1], fitted[3]), class_weights=rules.class_weights).covers(fitted[1]).tolist()
        == rules.covers(fitted[1]).tolist()
    )
    assert line in rules._repr_html_().replace("&quot;", '"')


NAMES = ["income", "a: b", "a; b", "a, b", ":", "`", "x = 1", "Missing values", " lead", "n\nl", 5, ("a", 1), "5", ""]


@settings(max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from(NAMES) | st.text(max_size=5),
        st.lists(VALUES.filter(lambda v: v is not None) | st.text(max_size=5) | st.integers() | st.binary(max_size=3)),
        min_size=1,
        max_size=3,
    )
)
def test_any_codes_are_read_back_from_text_and_json(codes):
    rule = Rule(tuple(map(IsMissing, codes)), "yes")
    rules = RuleSet((rule,), ("no", "yes"), "no", (0, 0), (0, 0), missing_values=codes)
    assert RuleSet.parse(str(rules), classes=rules.classes) == rules
    assert RuleSet.from_json(rules.to_json()) == rules
    # Columns with the same codes stand together in JSON.
    assert dict(RuleSet.from_json(rules.to_json()).missing_values) == dict(rules.missing_values)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Missing values:", "the name of a column and a colon"),
        ("Missing values: income", "the name of a column and a colon"),
        ("Missing values: income: ", "a number, a text in quotes"),
        ("Missing values: income: x", "a number, a text in quotes"),
        ("Missing values: income: -7,", "a number, a text in quotes"),
        ("Missing values: income: -7 -8", "a comma and a further value"),
        ("Missing values: income: -7; ", "the name of a column and a colon"),
        ("Missing values: income: -7; income: -8", "missing_values must be a dict, or pairs, .* different columns"),
    ],
)
def test_mistakes_in_the_text(line, message):
    with pytest.raises(ValueError, match=message):
        RuleSet.parse(f"IF income > 5 THEN yes\nOTHERWISE no\n{line}")


def test_json_groups_the_columns_and_older_files_have_no_codes(fitted):
    rules = RuleSet.parse("IF a > 5 AND b > 6 THEN yes\nOTHERWISE no\nMissing values: a: -7, -8; b: -7, -8")
    rules = replace(rules, missing_values={**dict(rules.missing_values), Decimal(5): (1,), "c": ("\ud83d\ude00",)})
    content = json.loads(rules.to_json())
    assert content["version"] == 4
    assert content["missing_values"] == [{"columns": ["a", "b"], "values": [-7, -8]}]  # JSON cannot represent the rest
    assert json.loads(replace(rules, missing_values=()).to_json())["version"] == 2
    with pytest.raises(ValueError, match="cannot represent a code for missing values"):
        replace(rules, missing_values={"a": "\ud83d\ude00"}).to_json()
    del content["checksum"]
    for wrong, message in [
        ({}, "missing_values must be a list"),
        ([5], r"missing_values\[0\] must be an object"),
        ([{"columns": ["a"]}], r"missing_values\[0\] lacks 'values'"),
        ([{"columns": ["a"], "values": [], "x": 1}], r"missing_values\[0\] has 'x', which version 4"),
        ([{"columns": ["a"], "values": []}], r"missing_values\[0\].values must be a list of at least one value"),
        ([{"columns": "a", "values": [1]}], r"missing_values\[0\].columns must be a list"),
        ([{"columns": ["a"], "values": [None]}], r"missing_values\[0\].values\[0\] must be text, a number"),
        ([{"columns": ["a", "a"], "values": [1]}], r"missing_values\[0\].columns\[1\] lists the column 'a' a second"),
        ([{"columns": [[]], "values": [1]}], r"missing_values\[0\].columns\[0\] must be text"),
    ]:
        with pytest.raises(ValueError, match=message):
            RuleSet.from_json(json.dumps({**content, "missing_values": wrong}))
    with pytest.raises(ValueError, match="'missing_values', which version 3 of the format does not have"):
        RuleSet.from_json(json.dumps({**content, "version": 3}))


def test_comparisons_name_only_codes_that_meet_them():
    """SQL tests for codes only where a value that is a code would meet the condition."""
    rules = RuleSet.parse('IF a > 5 THEN yes\nIF a <= 3 THEN no\nIF b = "x" THEN no\nOTHERWISE yes')
    rules = replace(rules, missing_values={"a": (-9, 4, 99), "b": ("?", 5), "c": (1,)})
    lines = " ".join(rules.to_sql(dialect="sqlite").split())
    assert 'r."a" > 5 AND NOT r."a" IN (99)' in lines
    assert 'r."a" <= 3 AND NOT r."a" IN (-9)' in lines
    assert "?" not in lines


def test_codes_of_other_types_than_the_column():
    """A column of Python objects may hold text beside numbers; databases have columns of one type."""
    values = [3, "?", 8.5, -9, None, 2]
    X = pd.DataFrame({"a": pd.Series(values, dtype=object), "b": range(6)})
    given = ["IF a > 2.5 THEN y", "IF a is missing THEN n"]
    clf = DiverseRuleSetClassifier(missing_values=["?", -9], given_rules=given, min_support=1, max_rules=2)
    rules = clf.fit(X, ["y", "n", "y", "n", "n", "n"]).rule_set_
    assert rules.kind("a") == "number"
    assert dict(rules.missing_values)["a"] == ("?", -9)
    expected = ["y", "n", "y", "n", "n"]
    assert rules.predict(X).tolist()[:5] == expected
    space = {}
    exec(rules.to_python(), space)
    assert [space["predict"](record)["label"] for record in X.to_dict("records")][:5] == expected
    exec(rules.to_python(kind="pandas"), space)
    assert space["predict"](X)["predicted_label"].tolist()[:5] == expected
    typed = pl.DataFrame({"a": [3.0, None, 8.5, -9.0, None, 2.0], "b": range(6)})
    exec(rules.to_python(kind="polars"), space)
    assert typed.with_columns(space["predict"]())["predicted_label"].to_list()[:5] == expected
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE records (a REAL, b INTEGER)")
        connection.executemany("INSERT INTO records VALUES (?, ?)", typed.rows())
        rows = connection.execute(rules.to_sql(dialect="sqlite", keep=["b"])).fetchall()
    assert [row[2] for row in sorted(rows, key=lambda row: row[1])][:5] == expected


def test_large_codes_in_other_programs():
    near = [LOWEST, LOWEST + 1, 2**62, 2**62 + 1, 5]
    rules = RuleSet(
        (Rule((IsMissing("a"),), "m"), Rule((Interval("a", low=2.0**60),), "h")),
        ("h", "l", "m"), "l", (1, 1, 1), (0, 1, 0), kinds=(("a", "number"),), missing_values={"a": (LOWEST, 2**62)},
    )  # fmt: skip
    X = pl.DataFrame({"a": near, "k": range(5)})
    expected = ["m", "l", "m", "h", "l"]
    assert rules.predict(X).tolist() == expected
    space = {}
    exec(rules.to_python(), space)
    assert [space["predict"](record)["label"] for record in X.to_dicts()] == expected
    exec(rules.to_python(kind="pandas"), space)
    assert space["predict"](X.to_pandas())["predicted_label"].tolist() == expected
    exec(rules.to_python(kind="polars"), space)
    assert X.with_columns(space["predict"]())["predicted_label"].to_list() == expected
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE records (a INTEGER, k INTEGER)")
        connection.executemany("INSERT INTO records VALUES (?, ?)", X.rows())
        rows = connection.execute(rules.to_sql(dialect="sqlite", keep=["k"])).fetchall()
    assert [row[2] for row in sorted(rows, key=lambda row: row[1])] == expected


def test_polars_source_has_no_codes_beyond_64_bits():
    rules = RuleSet.parse("IF a > 5 THEN yes\nOTHERWISE no\nMissing values: a: 18446744073709551615")
    with pytest.raises(ValueError, match="polars source cannot represent the code 18446744073709551615"):
        rules.to_python(kind="polars")
    with pytest.warns(UserWarning, match="as a double, which is rounded"):
        assert '<Value value="18446744073709551615" property="missing" />' in rules.to_pmml()
    with pytest.warns(UserWarning, match="sqlite may answer differently for the column 'a'"):
        rules.to_sql(dialect="sqlite")


def test_infinite_codes_are_removed_before_a_fit():
    rng = np.random.default_rng(0)
    X = rng.random((100, 1))
    y = X[:, 0] > 0.5
    X[:20] = np.inf
    with pytest.raises(ValueError, match="infinit"):
        DiverseRuleSetClassifier(random_state=0).fit(X, y)
    clf = DiverseRuleSetClassifier(random_state=0, missing_values=np.inf).fit(X, y)
    assert clf.rule_set_.covers(X)[:20].sum() == sum(map(is_missing_rule, clf.rule_set_)) * 20
    assert RuleSet.from_json(clf.rule_set_.to_json()) == clf.rule_set_
    with pytest.raises(ValueError, match=r"inf .*cannot be exported"):
        clf.rule_set_.to_sql()


def is_missing_rule(rule):
    return all(isinstance(condition, IsMissing) for condition in rule.conditions)


def test_pipelines_paths_and_cross_validation():
    table, y = coded_table()
    X = as_pandas(table)[["income", "rate", "total"]]
    clf = DiverseRuleSetClassifier(random_state=0, missing_values=[-7, -8, 99.9, LOWEST])
    scores = cross_val_score(make_pipeline(FunctionTransformer(), clf), X, y, cv=3)
    Z = as_pandas(cleaned(table))[["income", "rate", "total"]]
    clean = clone(clf).set_params(missing_values=None)
    np.testing.assert_array_equal(scores, cross_val_score(clean, Z, y, cv=3))
    paths = [diversity_path(one, table, y, max_rules=[1, 2], cv=2) for one, table in ((clf, X), (clean, Z))]
    assert paths[0].frame().equals(paths[1].frame())


def test_not_in_does_not_hold_for_a_code_but_for_other_unseen_values():
    rules = RuleSet(
        (Rule((IsNotIn("job", ("a",)),), "y"),), ("n", "y"), "n", (1, 1), (1, 0), missing_values={"job": "?"}
    )
    assert rules.predict(pl.DataFrame({"job": ["a", "b", "?", "never seen", None]})).tolist() == list("nynyn")
    assert rules.why({"job": "?"}).splitlines()[0] == "n (default label): no rule covers this record."


def test_command_line(drs, tmp_path):
    table, y = coded_table()
    frame = pl.DataFrame({**{name: table[name] for name in ("income", "job", "since")}, "y": y.tolist()})
    cells = frame.with_columns(pl.all().cast(pl.String))
    cells[3, "income"], cells[4, "income"], cells[5, "income"] = "n/a", " -7 ", "-7.0"
    cells[6, "since"] = "?"
    cells.write_csv(tmp_path / "t.csv")
    options = [part for code in ("?", "n/a", "income=-7", "income=-8", "since=1900-01-01 00:00:00.000000")
               for part in ("--missing-values", code)]  # fmt: skip
    fit = ("fit", tmp_path / "t.csv", "-t", "y", "--test-size", 0, "-o", tmp_path / "m.json", *options)
    code, out, err = drs(*fit)
    assert (code, err) == (0, "")
    rules = RuleSet.from_json((tmp_path / "m.json").read_text())
    assert dict(rules.missing_values) == {
        "income": (-7, -8, "?", "n/a"),
        "job": ("?", "n/a"),
        "since": (OLD, "?", "n/a"),
    }
    assert "Missing values: income: -7, -8, " in out
    clean = {name: naive.without_codes(frame[name], CODES[name]) for name in ("income", "job", "since")}
    for k in (3, 4, 5):
        clean["income"][k] = None
    clean["since"][6] = None
    clf = DiverseRuleSetClassifier(random_state=0).fit(pl.DataFrame(clean), y)
    assert rules.same_rules(clf.rule_set_)
    _, out, _ = drs("predict", tmp_path / "m.json", tmp_path / "t.csv")
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == clf.predict(pl.DataFrame(clean)).tolist()
    frame.write_parquet(tmp_path / "t.parquet")
    assert drs("evaluate", tmp_path / "m.json", tmp_path / "t.parquet")[0] == 0
    _, out, _ = drs("explain", tmp_path / "m.json", tmp_path / "t.csv", "--row", 4)
    assert "income is missing" in out or "income" not in rules.columns
    assert drs("report", tmp_path / "m.json", tmp_path / "t.csv", "-o", tmp_path / "r.html")[0] == 0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "incom=-7",
            "names 'incom', which the table does not have as a column; did you mean 'income'?",
        ),
        ("y=no", "--missing-values names 'y', the target"),
        ("=", "--missing-values must be a code such as -9 or '?', or column=code, several times, got '='"),
        ("income=", "--missing-values must be a code such as -9"),
    ],
)
def test_mistakes_on_the_command_line(drs, tmp_path, option, message):
    (tmp_path / "t.csv").write_text("income,y\n" + "".join(f"{k},{'no' if k < 30 else 'yes'}\n" for k in range(60)))
    code, _, err = drs("fit", tmp_path / "t.csv", "-t", "y", "--missing-values", option)
    assert code == 2
    assert message in err


MOMENT = datetime.datetime(1909, 8, 6, 10)
ZONED = MOMENT.replace(tzinfo=datetime.UTC)


@pytest.mark.parametrize(("own", "code"), [(MOMENT, ZONED), (ZONED, MOMENT)])
@pytest.mark.parametrize("test", ["a is missing", "a > {}", "a <= {}", "a = {}", "a != {}"])
def test_in_sqlite_a_code_may_be_a_date_of_the_other_type(own, code, test):
    """SQLite stores dates as text, with or without a time zone; the same digits of the other type are no code."""
    bound = f"{MOMENT}{'Z' if own is ZONED else ''}"
    values = [own, code, own + datetime.timedelta(days=1), own - datetime.timedelta(days=1), None]
    X = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    rules = RuleSet.parse(f"IF {test.format(bound)} THEN yes\nOTHERWISE no")
    rules = replace(rules, kinds=(("a", "date (UTC)" if own is ZONED else "date"),), missing_values={"a": [code]})
    rows = [(value if value is None else value.isoformat(sep=" "),) for value in values]
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE records (a TEXT)")
        connection.executemany("INSERT INTO records VALUES (?)", rows)
        found = connection.execute(rules.to_sql(dialect="sqlite", keep=["a"])).fetchall()
    expected = rules.predict(X).tolist()
    assert [row[1] if row[1] in ("yes", "no") else row[2] for row in found] == expected
    assert len(set(expected)) == 2


def test_dates_with_and_without_zone_where_only_missing_values_matter():
    """A batch is not refused if none of its records is: the column had no values in training, so it has no type."""
    rules = RuleSet.parse("IF a is missing THEN yes\nOTHERWISE no")
    X = pd.DataFrame({"a": pd.Series([MOMENT, ZONED, None, datetime.date(2021, 6, 22), "text", 3], dtype=object)})
    expected = ["no", "no", "yes", "no", "no", "no"]
    assert rules.predict(X).tolist() == expected
    assert [rules.predict(X[k : k + 1])[0] for k in range(6)] == expected
    assert rules.predict(X[:4]).tolist() == expected[:4]
    assert Rule.parse("IF a is missing THEN yes").covers(X[:4]).tolist() == [False, False, True, False]
    card = Scorecard.parse("points (for yes): 2 if a is missing")
    assert card.points(X[:4])[:, 0].tolist() == [0, 0, 2, 0]
    fitted = DiverseRuleSetClassifier(given_rules=["IF a is missing THEN yes"])
    fitted.fit(pd.DataFrame({"a": pd.Series([None] * 4, dtype=object)}), ["yes", "no", "yes", "yes"])
    assert fitted.predict(X[:4]).shape == (4,)
    with pytest.raises(TypeError, match="mixes dates with and without a time zone"):
        DiverseRuleSetClassifier().fit(X[:2], ["yes", "no"])
