"""Rules that test scorecards, in every program: ties, probabilities by points, names, sizes."""

import ast
import contextlib
import itertools
import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sqlglot.dialects.dialect import Dialect, Dialects

import test_pmml
import test_python
import test_sql
from diverse_rule_sets import Equals, Interval, IsIn, IsMissing, IsNotIn, Rule, RuleSet, Scorecard, Sign
from diverse_rule_sets.export._sql_dialects import LOOSE_TEXT
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._decision import CONFLICTS
from models import HOSTILE, as_polars, with_random_tables
from servers import jpmml

CLASSES = ("a", "b", "c")
KINDS = {"x": "number", "y": "number", "z": "text"}
VALUES = {"x": (0.0, 1.0, 2.0, None), "y": (0.0, 1.0, None), "z": ("u", "v", None)}
# All combinations of the values.
TABLE = dict(zip(VALUES, map(list, zip(*itertools.product(*VALUES.values()), strict=True)), strict=True))


def leaders(name="points"):
    """Return a scorecard of three labels, listed in another order than the classes, in which many records tie."""
    signs = (
        Sign(Interval("x", low=0), {"c": 2, "b": -1}),
        Sign(Interval("x", low=1), {"b": 3}),
        Sign(IsMissing("y"), {"a": 1, "c": 1}),
        Sign(Equals("z", "u"), {"a": 2}),
    )
    return Scorecard(name, signs, ("c", "a", "b"), {"b": 1})


def one_label():
    """Return a scorecard of one label with several signs on one column."""
    signs = [(Interval("x", low=0), 2), (Interval("x", low=1), 3), (IsNotIn("z", ("u",)), -1), (IsMissing("z"), 4)]
    return Scorecard("risk", tuple(Sign(condition, {"b": n}) for condition, n in signs))


def model(conflict="first"):
    """Return a rule set with two scorecards, rules and a fallback rule that follow points."""
    card, risk = leaders(), one_label()
    rules = (
        Rule((card.leads("c"), card.lead_between(1)), "c", (("a", 3), ("c", 9))),
        Rule((risk.between(2, 5), Equals("z", "v")), "b", (("b", 7), ("c", 2))),
        Rule((card.between(3, label="b"),), "a", (("a", 4), ("b", 2))),
        Rule((card.lead_between(0, 0),), "b", (("b", 4), ("a", 3))),
    )
    fallbacks = (Rule((risk.between(4),), "b", (("b", 4), ("a", 1))), Rule((card.leads("a"),), "a", (("a", 4),)))
    return with_random_tables(RuleSet(rules, CLASSES, "c", (30, 30, 30), (9, 9, 9), conflict, fallbacks), 1)


@pytest.fixture(scope="module")
def places():
    """Open the three databases and start Java."""
    with contextlib.ExitStack() as stack:
        databases = [stack.enter_context(test_sql.opened(name)) for name in ("duckdb", "sqlite", "postgres")]
        yield databases, jpmml()


def check_everywhere(places, rule_set, table, kinds):
    """Compare label, rule and probabilities with those of the rule set, in every program."""
    databases, java = places
    for database in databases:
        test_sql.check(database, rule_set, table, kinds)
    test_pmml.check(java, rule_set, table, kinds)
    for kind in test_python.KINDS:
        test_python.check(rule_set, kind, as_polars(table, kinds))


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_every_way_to_settle_conflicts(places, conflict):
    rule_set = model(conflict)
    assert rule_set.follows_points == (conflict not in ("vote", "counts"))
    deciding = rule_set.deciding_rules(pl.DataFrame(TABLE, strict=False))
    assert len(set(deciding.tolist())) > 4
    check_everywhere(places, rule_set, TABLE, KINDS)


def test_of_labels_with_equally_many_points_the_first_leads(places):
    card = leaders()
    points = card.points(pl.DataFrame(TABLE, strict=False))
    ties = (points == points.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert ties.sum() > 5
    for label in card.labels:
        rule_set = RuleSet((Rule((card.leads(label),), "a"),), CLASSES, "b", (9, 9, 9), (1, 1, 1))
        check_everywhere(places, rule_set, TABLE, KINDS)


def test_the_lead_if_all_points_are_negative(places):
    signs = (
        Sign(Interval("x", low=0), {"a": -2, "b": 1}),
        Sign(Equals("z", "u"), {"c": -4}),
        Sign(IsMissing("y"), {"b": -3}),
    )
    card = Scorecard("points", signs, CLASSES, {"a": -3, "b": -5, "c": -7})
    assert max(high for _, high in card.ranges.values()) < 0
    rules = tuple(Rule((card.lead_between(n, n),), CLASSES[n % 3]) for n in range(8))
    rule_set = RuleSet(rules, CLASSES, "a", (9, 9, 9), (1, 1, 1), "first")
    assert len(set(rule_set.deciding_rules(pl.DataFrame(TABLE, strict=False)).tolist())) > 2
    check_everywhere(places, rule_set, TABLE, KINDS)


def test_bounds_beyond_the_points(places):
    card = leaders()
    rules = (
        Rule((card.between(10**300, label="c"),), "a"),
        Rule((card.between(-(10**300), label="c"), card.lead_between(2)), "b"),
    )
    check_everywhere(places, RuleSet(rules, CLASSES, "c", (9, 9, 9), (1, 1, 1)), TABLE, KINDS)


def test_points_that_are_the_same_for_all_records(places):
    card = Scorecard("points", (Sign(IsIn("x", ()), {"a": 2}), Sign(Equals("z", "u"), {"b": 2})), base={"c": 3})
    rules = Rule((card.between(0, 0, "a"), Equals("z", "u")), "a"), Rule((card.between(3, 3, "c"),), "b")
    check_everywhere(places, RuleSet(rules, CLASSES, "c", (9, 9, 9), (1, 1, 1), "first"), TABLE, KINDS)


@pytest.mark.parametrize("dtype", ["int", "bool", "float"])
def test_labels_that_are_no_text(places, dtype):
    classes = {"int": (-1, 0, 7), "bool": (False, True), "float": (0.5, 1.0, 2.5)}[dtype]
    signs = (Sign(Interval("x", low=0), {classes[0]: 2}), Sign(Equals("z", "u"), {classes[1]: 2}))
    card = Scorecard("points", signs, (classes[1], classes[0]))
    rules = (
        Rule((card.leads(classes[0]),), classes[0], ((classes[0], 5),)),
        Rule((card.between(1, label=classes[1]),), classes[1], ((classes[0], 2),)),
    )
    rule_set = RuleSet(rules, classes, classes[0], (9,) * len(classes), (1,) * len(classes), "first")
    check_everywhere(places, with_random_tables(rule_set, 3), TABLE, KINDS)


def many_points(n_rules, n_classes=4, n_signs=12):
    """Return many rules over one scorecard of one label, with a probability for each number of points."""
    classes = tuple(range(n_classes))
    card = Scorecard("points", tuple(Sign(Interval("x", low=float(k)), {0: 1 + k % 3}) for k in range(n_signs)))
    rules = tuple(
        Rule((card.between(j % 20), Interval("y", high=float(j))), j % n_classes, ((0, j),)) for j in range(n_rules)
    )
    return with_random_tables(RuleSet(rules, classes, 0, (999,) * n_classes, (1,) * n_classes, "first"), 0)


def test_many_rows_by_points_are_a_table_that_is_joined(places):
    rule_set = many_points(60)
    assert " JOIN " in rule_set.to_sql()
    assert " JOIN " not in many_points(3).to_sql()
    rng = np.random.default_rng(0)
    numbers = {"x": rng.integers(-1, 14, 50), "y": rng.integers(-1, 60, 50)}
    table = {name: [*values.astype(float).tolist(), None] for name, values in numbers.items()}
    check_everywhere(places, rule_set, table, {"x": "number", "y": "number"})


def many_labels(n_labels):
    """Return a rule set with a scorecard of many labels."""
    classes = tuple(sorted(f"class {k}" for k in range(n_labels)))
    signs = tuple(Sign(Interval("x", low=float(k)), {label: 1 + k % 2}) for k, label in enumerate(classes))
    card = Scorecard("points", signs)
    rules = tuple(Rule((card.leads(label), card.lead_between(0, k % 3)), label) for k, label in enumerate(classes))
    return RuleSet(rules[:40], classes, "class 7", (9,) * n_labels, (1,) * n_labels, "first")


def test_many_labels(places):
    table = {"x": [-1.0, 0.5, 7.5, 20.5, 140.0, None]}
    check_everywhere(places, many_labels(60), table, {"x": "number"})
    for database in places[0]:
        test_sql.check(database, many_labels(130), table, {"x": "number"})
    for kind in test_python.KINDS:
        test_python.check(many_labels(130), kind, as_polars(table, {"x": "number"}))


def test_the_sum_is_written_once_for_all_rules():
    sign = Sign(Interval("x", low=123456.0), {"b": 1})
    card = Scorecard("points", (sign, Sign(Equals("z", "u"), {"b": 2})))
    rules = tuple(Rule((card.between(k % 3),), "b") for k in range(30))
    rule_set = RuleSet(rules, CLASSES, "c", (9, 9, 9), (1, 1, 1))
    assert rule_set.to_sql().count("123456") == 1
    assert rule_set.to_pmml().count("123456") == 1
    for kind in test_python.KINDS:
        assert rule_set.to_python(kind=kind).count("123456") == 1


def test_polars_computes_points_once_for_all_rules():
    def size(n_rules):
        space = {}
        exec(many_points(n_rules, 3, 30).to_python(kind="polars"), space)
        return len(space["predict"]()[0].meta.serialize())

    assert size(40) < 3 * size(10)


# Names.


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_of_columns_scorecards_and_labels(places, text):
    classes = tuple(sorted({text, "zz"}))
    signs = (Sign(Interval(text, low=0), {text: 2}), Sign(Equals(text + "2", text), {"zz": 3}))
    card = Scorecard(text + "3", signs, (text, "zz"))
    rules = Rule((card.leads(text), card.lead_between(1)), text), Rule((card.between(3, label="zz"),), "zz")
    rule_set = with_random_tables(RuleSet(rules, classes, "zz", (9, 9), (1, 1), "first"), 5)
    table = {text: [0.0, 1.0, None, 1.0], text + "2": ["q", text, None, None]}
    check_everywhere(places, rule_set, table, {text: "number", text + "2": "text"})


def hostile(text):
    """Return a rule set with a text as the name of a scorecard, as a label, and in signs."""
    signs = (Sign(Equals(text, text), {text: 2}), Sign(IsMissing(text + "2"), {"zz": 1}))
    card = Scorecard(text + "3", signs, (text, "zz"))
    rules = Rule((card.leads(text), card.lead_between(1)), text), Rule((card.between(1, label="zz"),), "zz")
    return with_random_tables(RuleSet(rules, tuple(sorted((text, "zz"))), "zz", (9, 9), (1, 1), "first"), 5)


@pytest.mark.parametrize("kind", test_python.KINDS)
def test_hostile_texts_are_only_constants_in_python(kind):
    def shape(text):
        return sorted(type(node).__name__ for node in ast.walk(ast.parse(hostile(text).to_python(kind=kind))))

    assert {tuple(shape(text)) for text in HOSTILE} == {tuple(shape("name"))}


def test_hostile_texts_are_only_attributes_in_pmml():
    def tags(text):
        return sorted(node.tag for node in ElementTree.fromstring(hostile(text).to_pmml()).iter())

    assert {tuple(tags(text)) for text in HOSTILE} == {tuple(tags("name"))}


@pytest.mark.parametrize("dialect", sorted({one.value for one in Dialects} - {"", "dax", "prql"}))
def test_hostile_texts_are_identifiers_and_literals_in_every_dialect(dialect):
    def kinds(text):
        query = hostile(text).to_sql(dialect=dialect, keep=["id"])
        return sorted(str(token.token_type) for token in Dialect.get_or_raise(dialect).tokenize(query))

    expected = pytest.warns(UserWarning, match=test_sql.loose) if dialect in LOOSE_TEXT else contextlib.nullcontext()
    with expected:
        harmless = kinds("name")
        for text in HOSTILE:
            if dialect == "sqlite" and text == "true":
                continue
            assert kinds(text) == harmless


def test_all_columns_and_the_points_are_returned_with_a_star(places):
    rule_set = model()
    for database in places[0]:
        database.fill(TABLE, KINDS)
        answer = database.ask(rule_set.to_sql(dialect=database.dialect))
        points = ["predicted_points_a", "predicted_points_b", "predicted_points_c", "predicted_points2"]
        added = ["predicted_rule", "predicted_label", *(f"predicted_probability_{label}" for label in CLASSES)]
        assert set(answer) == {test_sql.ID, *TABLE, *points, "predicted_lead", "predicted_leader", *added}
        frame = pl.DataFrame({name: answer[name] for name in TABLE}, strict=False)
        assert answer["predicted_label"] == rule_set.predict(frame).tolist()
        sums = leaders().points(frame)
        assert [answer[name] for name in ("predicted_points_c", "predicted_points_a")] == sums[:, :2].T.tolist()
        shares = np.array([answer[f"predicted_probability_{label}"] for label in CLASSES], float).T
        np.testing.assert_allclose(shares, rule_set.predict_proba(frame), atol=1e-9)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_table_that_was_scored_before_is_scored_again(dialect):
    rule_set = model()
    with test_sql.opened(dialect) as database:
        database.fill(TABLE, KINDS)
        database.run("CREATE TABLE scored AS " + rule_set.to_sql(dialect=dialect))
        database.run("UPDATE scored SET predicted_points_b = 99, predicted_lead = 99, predicted_points2 = 99")
        for keep in ("*", [test_sql.ID]):
            query = rule_set.to_sql(dialect=dialect, table="scored", keep=keep)
            cursor = database.run(query)
            names = [column[0] for column in cursor.description]
            rule, record = names.index("predicted_rule"), names.index(test_sql.ID)
            found = {row[record]: row[rule] for row in cursor.fetchall()}
            deciding = rule_set.deciding_rules(pl.DataFrame(TABLE, strict=False)).tolist()
            assert [found[k] for k in range(len(found))] == [None if j < 0 else j + 1 for j in deciding]


def test_a_column_with_the_name_of_points(places):
    card = Scorecard("risk", (Sign(Interval("predicted_points", low=0), {"b": 2}),))
    rule_set = RuleSet((Rule((card.between(1),), "b"),), CLASSES, "c", (9, 9, 9), (1, 1, 1))
    check_everywhere(places, rule_set, {"predicted_points": [0.0, 1.0, None]}, {"predicted_points": "number"})
    tested = replace(rule_set, rules=(Rule((card.between(1), Interval("predicted_points", high=5)), "b"),))
    message = "the rules read the column 'predicted_points', and the query adds a column of this name.*choose another"
    with pytest.raises(ValueError, match=message):
        tested.to_sql()
    with pytest.raises(ValueError, match="keep names 'predicted_POINTS', which the query adds itself"):
        rule_set.to_sql(keep=["predicted_POINTS"])
    for database in places[0]:
        database.fill({"predicted_points": [0.0, 1.0, 7.0]}, {"predicted_points": "number"})
        answer = database.ask(tested.to_sql(dialect=database.dialect, prefix="q_"))
        assert answer["q_label"] == ["c", "b", "c"]


def test_columns_with_the_names_of_derived_fields_in_pmml(places):
    names = ["points(1)", "points(1)_", "points(1, 1)", "lead(1)", "leader(1)", "most points(1)", "points of the rule"]
    signs = tuple(Sign(Interval(name, low=0), {CLASSES[k % 3]: 1 + k}) for k, name in enumerate(names))
    cards = Scorecard("points", signs), Scorecard("risk", (Sign(Interval("points(1)", low=1), {"b": 2}),))
    rules = (
        Rule((cards[1].between(1), Interval("lead(1)", low=0)), "b"),
        Rule((cards[0].leads("a"), cards[0].lead_between(2)), "a"),
    )
    rule_set = with_random_tables(RuleSet(rules, CLASSES, "c", (9, 9, 9), (1, 1, 1), "first"), 2)
    rng = np.random.default_rng(0)
    table = {name: rng.choice([-1.0, 1.0, 2.0], 30).tolist() for name in names}
    check_everywhere(places, rule_set, table, dict.fromkeys(names, "number"))


def test_names_that_sqlite_loses_in_steps():
    card = Scorecard("risk", (Sign(Interval("true", low=0), {"b": 2}),))
    rule_set = RuleSet((Rule((card.between(1),), "b"),), CLASSES, "c", (9, 9, 9), (1, 1, 1))
    with test_sql.opened("sqlite") as database:
        database.fill({"true": [0.0, 1.0]}, {"true": "number"})
        answer = database.ask(rule_set.to_sql(dialect="sqlite", keep=[test_sql.ID]))
        assert answer["predicted_label"] == ["c", "b"]
    message = "sqlite loses the column name 'true' in a query of several steps"
    with pytest.raises(ValueError, match=message):
        rule_set.to_sql(dialect="sqlite", keep=["true"])
    tested = replace(rule_set, rules=(Rule((card.between(1), Interval("true", low=3)), "b"),))
    with pytest.raises(ValueError, match=message):
        tested.to_sql(dialect="sqlite")
    assert tested.to_sql(dialect="duckdb", keep=["true"])


# Values.


def test_nan_gives_no_points_in_databases_that_hold_it():
    card = Scorecard("risk", (Sign(Interval("x", low=0), {"b": 2}), Sign(IsMissing("x"), {"b": 1})))
    rules = Rule((card.between(2),), "b"), Rule((card.between(1, 1),), "a")
    rule_set = RuleSet(rules, CLASSES, "c", (9, 9, 9), (1, 1, 1), "first")
    for dialect in ("duckdb", "postgres"):
        with test_sql.opened(dialect) as database:
            test_sql.check(database, rule_set, {"x": [math.nan, None, 1.0, -1.0, math.inf]}, {"x": "number"})


def test_mixed_columns_work_in_the_function_and_in_pandas():
    signs = Sign(Equals("x", 1, mixed=True), {"b": 2}), Sign(Equals("x", "a", mixed=True), {"b": 1})
    card = Scorecard("points", signs)
    rules = Rule((card.between(2),), "b"), Rule((card.between(1),), "a")
    rule_set = RuleSet(rules, CLASSES, "c", (9, 9, 9), (1, 1, 1), "first")
    values = pd.Series([1, "a", "b", True, 1.0, None], dtype=object)
    expected = rule_set.predict(pd.DataFrame({"x": values})).tolist()
    assert expected == ["b", "a", "c", "c", "b", "c"]
    space = {}
    exec(rule_set.to_python(), space)
    assert [space["predict"]({"x": value})["label"] for value in values] == expected
    exec(rule_set.to_python(kind="pandas"), space)
    assert space["predict"](pd.DataFrame({"x": values}))["predicted_label"].tolist() == expected
    for write in (RuleSet.to_sql, RuleSet.to_pmml, lambda rules: rules.to_python(kind="polars")):
        with pytest.raises(ValueError, match="values of several types"):
            write(rule_set)


def test_an_empty_table_gives_an_empty_result():
    for kind in ("pandas", "polars"):
        space = {}
        exec(model().to_python(kind=kind), space)
        frame = pl.DataFrame(TABLE, strict=False).head(0)
        result = space["predict"](frame.to_pandas()) if kind == "pandas" else frame.with_columns(space["predict"]())
        assert len(result) == 0
        assert "predicted_label" in result.columns


class Known(Condition):
    """A condition of a user's own."""

    def holds(self, column):
        return ~column.missing

    def __str__(self):
        return f"{self.column} is known"


@pytest.mark.parametrize("write", [RuleSet.to_sql, RuleSet.to_pmml, RuleSet.to_python])
def test_signs_with_conditions_of_a_users_own_class_are_refused(write):
    card = Scorecard("points", (Sign(Known("age"), {"b": 1}),))
    rule_set = RuleSet((Rule((card.between(1),), "b"),), CLASSES, "c", (9, 9, 9), (1, 1, 1))
    with pytest.raises(TypeError, match=r"cannot write the condition age is known \(Known\)"):
        write(rule_set)
