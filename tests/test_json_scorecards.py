"""Scorecards in model files: written once, read with every check, valid by the schema."""

import json
import time
from dataclasses import replace

import jsonschema
import pytest

from diverse_rule_sets import Equals, PointsTable, Rule, RuleSet, Scorecard
from test_json import RULE, SCHEMA, small


def with_scorecards(*changes):
    """Return the content of a file with a scorecard of one label and one of two, changed at some places."""
    card = Scorecard.parse("points (for good): 3 if age > 55, 2 if sex = 'F'")
    both = Scorecard.parse(
        "risk (for good, bad): 1 for bad always, 3 for good, 1 for bad if age > 55, 2 for bad if x > 1"
    )
    tables = (
        PointsTable(card.column(), 2, ((0.5, 0.5), (0.25, 0.75))),
        PointsTable(both.column("lead"), 0, ((0.5, 0.5),)),
    )
    rules = (
        Rule((card.between(2), Equals("sex", "F")), "good", (("bad", 1), ("good", 9)), tables[0]),
        Rule((both.leads("good"), both.lead_between(1, 2), both.between(0, 3, "bad")), "good", (), tables[1]),
    )
    content = json.loads(replace(small(), rules=rules, kinds=()).to_json())
    del content["checksum"]
    for path, value in changes:
        parent = content
        for key in path[:-1]:
            parent = parent[key]
        if value is None:
            del parent[path[-1]]
        else:
            parent[path[-1]] = value
    return content


def test_a_file_with_scorecards():
    """Every scorecard stands once in the file, with one line per sign; the scorecards of the rules are one object."""
    content = with_scorecards()
    jsonschema.validate(content, SCHEMA)
    assert content["version"] == 3
    assert content["scorecards"] == [
        {
            "name": "points",
            "labels": ["good"],
            "base": [],
            "signs": [
                {"if": {"column": "age", ">": 55}, "points": [["good", 3]]},
                {"if": {"column": "sex", "=": "F"}, "points": [["good", 2]]},
            ],
        },
        {
            "name": "risk",
            "labels": ["good", "bad"],
            "base": [["bad", 1]],
            "signs": [
                {"if": {"column": "age", ">": 55}, "points": [["good", 3], ["bad", 1]]},
                {"if": {"column": "x", ">": 1}, "points": [["bad", 2]]},
            ],
        },
    ]
    assert content["rules"][1]["if"] == [
        {"scorecard": "risk", "part": "leader", "=": "good"},
        {"scorecard": "risk", "part": "lead", ">=": 1, "<=": 2},
        {"scorecard": "risk", "part": "points", "label": "bad", ">=": 0, "<=": 3},
    ]
    table = {"scorecard": "points", "part": "points", "low": 2, "rows": [[0.5, 0.5], [0.25, 0.75]]}
    assert content["rules"][0]["points_table"] == table
    again = RuleSet.from_json(json.dumps(content))
    assert [column["name"] for column in content["columns"]] == ["age", "sex", "x"] == list(again.columns)
    assert again.rules[1].conditions[0].column.scorecard is again.rules[1].conditions[2].column.scorecard
    text = again.to_json()
    assert '        {"if": {"column": "age", ">": 55}, "points": [["good", 3]]},\n' in text
    with pytest.raises(ValueError, match="was changed after it was written"):
        RuleSet.from_json(text.replace('[["good", 3]]', '[["good", 4]]'))


def test_points_in_a_file_have_their_one_form():
    more = with_scorecards((("rules", 0, "if", 0), {"scorecard": "points", "part": "points", ">": 1, "<": 5}))
    again = RuleSet.from_json(json.dumps(more))
    assert str(again.rules[0].conditions[0]) == "2 <= points <= 4"
    assert json.loads(again.to_json())["rules"][0]["if"][0] == {
        "scorecard": "points", "part": "points", ">=": 2, "<=": 4,
    }  # fmt: skip


SIGN = ("scorecards", 0, "signs", 0)
POINTS = (*SIGN, "points")
TEST = ("rules", 0, "if", 0)
TABLE = ("rules", 0, "points_table")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("version",), 2, "the file has 'scorecards', which version 2 of the format does not have"),
        (("version",), 1, "the file has 'scorecards', which version 1"),
        (("scorecards",), {}, "scorecards must be a list"),
        (("scorecards",), None, r"rules\[0\].if\[0\].scorecard must be one of the scorecards \[\], got 'points'"),
        (("scorecards", 0), 5, r"scorecards\[0\] must be an object, got 5"),
        (("scorecards", 0, "signs"), [], r"scorecards\[0\].signs must be a list that is not empty"),
        (("scorecards", 0, "signs"), None, r"scorecards\[0\] lacks 'signs'"),
        (("scorecards", 0, "signs"), [5], r"scorecards\[0\].signs\[0\] must be an object"),
        (("scorecards", 0, "signs"), [{}] * 1001, r"scorecards\[0\].signs must be at most 1,000 signs"),
        (("scorecards", 0, "extra"), 1, r"scorecards\[0\] has 'extra', which version 3"),
        (("scorecards", 0, "name"), "", r"scorecards\[0\]: name must be a string that is not empty"),
        (("scorecards", 0, "name"), 5, r"scorecards\[0\]: name must be a string"),
        (("scorecards", 0, "name"), "risk", r"scorecards\[1\].name is 'risk' a second time"),
        (("scorecards", 0, "name"), "other", r"rules\[0\].if\[0\].scorecard must be one of .* got 'points'"),
        (("scorecards", 0, "labels"), [], r"scorecards\[0\].labels must be a list that is not empty"),
        (("scorecards", 0, "labels"), ["ugly"], r"scorecards\[0\].labels\[0\] must be one of the classes"),
        (("scorecards", 0, "labels"), ["bad"], r"scorecards\[0\]: points must be points for the labels \['bad'\]"),
        (("scorecards", 1, "labels"), ["bad", "bad"], r"scorecards\[1\]: labels must be different labels"),
        (("scorecards", 0, "base"), {}, r"scorecards\[0\].base must be a list of pairs"),
        (("scorecards", 0, "base"), [["good", 1]], r"scorecards\[0\]: base must be an empty dict for a scorecard of"),
        (("scorecards", 1, "base"), [["bad", 0]], r"scorecards\[1\]: base\['bad'\] must be a whole number other than"),
        (POINTS, [], r"scorecards\[0\].signs\[0\]: points must be .* with at least one label"),
        (POINTS, [["good", 0]], r"signs\[0\]: points\['good'\] must be a whole number other than 0, .* got 0"),
        (POINTS, [["good", 1.5]], r"signs\[0\]: points\['good'\] must be a whole number other than 0, .* got 1.5"),
        (POINTS, [["good", 1.0]], r"signs\[0\]: points\['good'\] must be a whole number other than 0, .* got 1.0"),
        (POINTS, [["good", 10**300]], r"signs\[0\]: points\['good'\] must be a whole number other than 0, from -1000"),
        (POINTS, [["good", True]], r"signs\[0\]: points\['good'\] must be a whole number other than 0"),
        (POINTS, [["good", "3"]], r"signs\[0\]: points\['good'\] must be a whole number other than 0"),
        (POINTS, [["ugly", 3]], r"signs\[0\].points\[0\] must be one of the classes"),
        (POINTS, [["good", 3], ["good", 3]], r"signs\[0\].points\[1\] has the label 'good' a second time"),
        (POINTS, [["good"]], r"signs\[0\].points\[0\] must be a pair of a label and its points"),
        (POINTS, {"good": 3}, r"signs\[0\].points must be a list of pairs"),
        ((*SIGN, "if"), {"column": "sex", "=": "F"}, r"scorecards\[0\]: signs must have different conditions"),
        ((*SIGN, "if"), {"column": "sex", ">": 1}, r"scorecards\[0\]: signs compare the column 'sex' with values"),
        ((*SIGN, "if"), {"scorecard": "risk", "part": "lead", ">": 1}, r"scorecards\[0\].signs\[0\].if lacks 'column'"),
        ((*SIGN, "if"), [], r"scorecards\[0\].signs\[0\].if must be an object"),
        ((*TEST, "scorecard"), "other", r"rules\[0\].if\[0\].scorecard must be one of the scorecards .* got 'other'"),
        ((*TEST, "scorecard"), [], r"rules\[0\].if\[0\].scorecard must be one of the scorecards"),
        ((*TEST, "scorecard"), "risk", r"rules\[0\].if\[0\]: label must be one of the labels \['good', 'bad'\]"),
        ((*TEST, "part"), "leader", r"rules\[0\].if\[0\]: the scorecard 'points' gives points to one label only"),
        ((*TEST, "part"), "other", r"rules\[0\].if\[0\]: part must be one of 'points', 'lead', 'leader', got 'other'"),
        ((*TEST, "part"), ["points"], r"rules\[0\].if\[0\].part must be text"),
        ((*TEST, "part"), None, r"rules\[0\].if\[0\] lacks 'part'"),
        ((*TEST, "label"), "good", r"rules\[0\].if\[0\] has 'label', which is only for the points of one of several"),
        ((*TEST, "column"), "age", r"rules\[0\].if\[0\] has 'column', which version 3"),
        ((*TEST, "mixed"), True, r"rules\[0\].if\[0\] has 'mixed', which version 3"),
        ((*TEST, ">="), 1.5, r"rules\[0\].if\[0\] must have whole numbers as bounds of the points"),
        ((*TEST, ">="), "5", r"rules\[0\].if\[0\]: a bound of an interval"),
        ((*TEST, ">="), {"date": "2020-01-31"}, r"rules\[0\].if\[0\] must have whole numbers as bounds"),
        ((*TEST, "="), 5, r"rules\[0\].if\[0\] must be one test"),
        ((*TEST, ">="), None, r"rules\[0\].if\[0\] must be one test"),
        (("rules", 1, "if", 0, "="), "ugly", r"rules\[1\].if\[0\]: label must be one of the labels"),
        (("rules", 1, "if", 0), {"scorecard": "risk", "part": "leader", ">=": 1}, r"if\[0\] must have = and a label"),
        (("rules", 1, "if", 1), {"scorecard": "risk", "part": "lead", "in": [1]}, r"if\[1\] must have whole numbers"),
        (("rules", 1, "if", 2, "label"), "ugly", r"rules\[1\].if\[2\].label must be one of the classes"),
        (("rules", 0, "if"), [], "points_table must be for the column that the conditions follow, no column of a"),
        (TABLE, [], r"rules\[0\].points_table must be an object"),
        ((*TABLE, "low"), None, r"rules\[0\].points_table lacks 'low'"),
        ((*TABLE, "low"), 2.0, r"rules\[0\].points_table: low must be a whole number, .* from 0 to 5, got 2.0 and 2"),
        ((*TABLE, "low"), 10**30, r"rules\[0\].points_table: low must be a whole number"),
        ((*TABLE, "low"), 5, r"points_table: low must be a whole number, and its rows must be for points from 0 to 5"),
        ((*TABLE, "part"), "leader", r"rules\[0\].points_table: the scorecard 'points' gives points to one label"),
        ((*TABLE, "scorecard"), "none", r"rules\[0\].points_table.scorecard must be one of the scorecards"),
        (TABLE, {"scorecard": "risk", "part": "lead", "low": 0, "rows": [[1, 0]]}, r"rules\[0\]: points_table must be for the column that the conditions follow, points, got lead of risk"),  # noqa: E501
        ((*TABLE, "rows"), [], r"rules\[0\].points_table.rows must be a list of 1 to 10001 rows"),
        ((*TABLE, "rows"), [[1, 0]] * 10_002, r"rules\[0\].points_table.rows must be a list of 1 to 10001 rows"),
        ((*TABLE, "rows"), [[1]], r"rules\[0\].points_table.rows\[0\] must be a list of 2 probabilities"),
        ((*TABLE, "rows"), [[1, 0], [1, 0, 0]], r"rules\[0\].points_table.rows\[1\] must be a list of 2 probabilities"),
        ((*TABLE, "rows"), [0.5, 0.5], r"rules\[0\].points_table.rows\[0\] must be a list of 2 probabilities"),
        ((*TABLE, "rows"), [[0.5, 0.6]], r"rules\[0\].points_table: rows must be class probabilities that sum to 1"),
        ((*TABLE, "rows"), [[-0.5, 1.5]], r"rules\[0\].points_table: rows must be class probabilities"),
        ((*TABLE, "rows"), [["1", 0]], r"rules\[0\].points_table: rows must be class probabilities"),
        ((*TABLE, "rows"), [[True, False]], r"rules\[0\].points_table: rows must be class probabilities"),
        ((*TABLE, "rows"), [[10**400, 0]], r"rules\[0\].points_table: rows must be class probabilities"),
        (("rules",), [], "scorecards must list exactly the scorecards that the rules use; see 'points'"),
        (("columns",), [], "columns must list exactly the columns that the rules read; see 'age', 'sex', 'x'"),
        (("columns", 0, "name"), "points", "columns must list exactly the columns that the rules read"),
        (("rules", 0, "if", 1, "column"), "points", "columns must list exactly|would mean a part of the scorecard"),
    ],
)  # fmt: skip
def test_errors_about_scorecards_name_the_place_and_what_was_expected(path, value, message):
    with pytest.raises(ValueError, match=message) as caught:
        RuleSet.from_json(json.dumps(with_scorecards((path, value))))
    assert type(caught.value) is ValueError
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_probabilities_that_are_no_numbers_are_refused(word):
    text = json.dumps(with_scorecards(((*TABLE, "rows"), [["@", 1]]))).replace('"@"', word)
    with pytest.raises(ValueError, match=f"{word} is not a number in JSON"):
        RuleSet.from_json(text)


def test_deep_scorecards_are_refused():
    for depth in (30, 300, 900, 100_000):
        deep = "[" * depth + "]" * depth
        for path in (("scorecards",), POINTS, (*TABLE, "rows"), (*SIGN, "if")):
            with pytest.raises(ValueError, match=r"nested too deeply|scorecards\[0\]|points_table"):
                RuleSet.from_json(json.dumps(with_scorecards((path, "@"))).replace('"@"', deep))


@pytest.mark.parametrize(
    "change",
    [
        ("scorecards", 0, "name"), ("scorecards", 0, "signs"), ("scorecards", 0, "labels"), POINTS, (*POINTS, 0, 1),
        (*TEST, "part"), (*TEST, "scorecard"), (*TABLE, "low"), (*TABLE, "rows"), (*TABLE, "rows", 0, 0),
    ],
)  # fmt: skip
def test_the_schema_refuses_other_types(change):
    for value in ([], {}, True, -0.5, [["a"]], ""):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(with_scorecards((change, value)), SCHEMA)


def test_many_signs_labels_and_rules_are_read_in_linear_time():
    """The bound is generous: each file takes a second or two; quadratic time is minutes."""
    labels = [f"label {k}" for k in range(20_000)]
    card = {
        "name": "p",
        "labels": labels,
        "base": [],
        "signs": [{"if": {"column": "age", ">": 5}, "points": [[label, 1] for label in labels]}],
    }
    rule = {"if": [{"scorecard": "p", "part": "leader", "=": labels[-1]}], "then": labels[0], "class_counts": []}
    many = [{"if": {"column": "age", ">": k}, "points": [["good", 1 - 2 * (k % 2)]]} for k in range(1000)]
    start = time.perf_counter()
    zeros, column = [0] * len(labels), {"name": "age", "kind": "number"}
    content = with_scorecards((("scorecards",), [card]), (("classes",), labels), (("columns",), [column]))
    content |= {"rules": [{**rule, "class_counts": zeros}], "class_totals": zeros, "uncovered_counts": zeros}
    content["default"] = labels[0]
    assert len(RuleSet.from_json(json.dumps(content)).scorecards[0].labels) == len(labels)
    content = with_scorecards((("scorecards", 0, "signs"), many), (("scorecards", 1), None), (TABLE, None))
    content["rules"] = [{**RULE, "if": content["rules"][0]["if"][:1]}] * 20_000
    again = RuleSet.from_json(json.dumps({**content, "columns": [column]}))
    assert (len(again.rules), len(again.scorecards[0].signs)) == (20_000, 1000)
    assert time.perf_counter() - start < 20
