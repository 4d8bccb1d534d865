"""Rules as text: every printed rule is read back, and other text is an error."""

import datetime
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets import Equals, Interval, IsIn, IsMissing, IsNotIn, Rule, RuleSet
from diverse_rule_sets.model._formatting import format_label

text = st.text(max_size=12) | st.sampled_from(
    ["age", "a AND b", "x THEN y", "IF", "born in", "not", "a not", "is missing", "b is missing c", "2", "1E5", "1e5x",
     "[1]", "`", "``", "a`b", "\\n", "\n", "a\\", "\\x41", '"', "'", "a=b", "{", "in {", "True", "2020-01-01", "", " ",
     "a  b", " a", "anything", "ünï", "x\x00y", "\u2028", "🦊", "1 2", "nan", "inf", "-", "+", ".", "5 < x", "THEN"]
)  # fmt: skip
names = text | st.integers() | st.tuples(text, st.integers()) | st.booleans()
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
naive = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31))
offsets = st.integers(-14, 14).map(lambda hours: datetime.timezone(datetime.timedelta(hours=hours)))
inner = st.datetimes(datetime.datetime(2, 1, 1), datetime.datetime(9998, 12, 31))  # valid in UTC too
zoned = st.builds(lambda moment, zone: moment.replace(tzinfo=zone), inner, offsets)
values = text | numbers | st.booleans()


@st.composite
def conditions(draw, column):
    kind = draw(st.sampled_from(["interval", "equals", "in", "not in", "missing"]))
    if kind == "interval":
        same_type = draw(st.sampled_from([numbers, naive, zoned]))
        low, high = draw(st.none() | same_type), draw(same_type)
        if low is None and draw(st.booleans()):
            low, high = high, None
        if low is not None and high is not None:
            low, high = sorted((low, high))
        made = Interval(column, low, high, draw(st.booleans()), draw(st.booleans()))
        return Interval(column, low, high, True, True) if made.empty else made
    if kind == "equals":
        return Equals(column, draw(values))
    several = tuple(draw(st.lists(values, min_size=2, max_size=4, unique=True)))
    if kind == "in":
        return IsIn(column, several)
    return IsNotIn(column, several[: draw(st.integers(0, 3))]) if kind == "not in" else IsMissing(column)


@st.composite
def rules(draw):
    columns = draw(st.lists(names, max_size=4, unique=True))
    label = draw(text | numbers | st.booleans())
    return Rule(tuple(draw(conditions(column)) for column in columns), label)


@given(rules())
def test_a_printed_rule_is_read_back(rule):
    again = Rule.parse(str(rule))
    assert again == rule
    assert [type(c.column) for c in again.conditions] == [type(c.column) for c in rule.conditions]
    assert type(again.label) is type(rule.label) or isinstance(rule.label, float)
    assert str(again) == str(rule)


@given(rules())
def test_a_rule_on_several_lines_is_read(rule):
    body = "\n  AND ".join(map(str, rule.conditions)) or "anything"
    assert Rule.parse(f"IF {body}\n  THEN {format_label(rule.label)}\n") == rule


def test_other_forms_are_read():
    rule = Rule.parse("IF age >= 18 AND age < 65 AND sex == 'F' AND job != \"clerk\"\n  THEN good customer ")
    assert rule == Rule(
        (Interval("age", 18, 65, with_low=True, with_high=False), Equals("sex", "F"), IsNotIn("job", ("clerk",))),
        "good customer",
    )
    assert str(rule) == 'IF 18 <= age < 65 AND sex = "F" AND job not in {"clerk"} THEN good customer'
    assert Rule.parse("IF 18 <= age AND 65 > age THEN x").conditions == (Interval("age", 18, 65, True, False),)
    assert Rule.parse("IF x in {inf, -inf, 'a'} THEN x").conditions == (IsIn("x", (math.inf, -math.inf, "a")),)
    assert Rule.parse("IF age > 5 AND age in {3, 7, 9} AND age < 9 THEN x").conditions == (Equals("age", 7),)
    assert Rule.parse("""IF n = 'say \\"hi\\"' THEN x""").conditions == (Equals("n", 'say "hi"'),)
    moment = Rule((IsMissing(datetime.datetime(2020, 1, 31)),), "x")
    assert (str(moment), Rule.parse(str(moment))) == ("IF [2020-01-31] is missing THEN x", moment)
    assert Rule.parse("IF job in {'a'} THEN 1") == Rule((Equals("job", "a"),), 1)
    assert Rule.parse("IF note = 'it\\'s' THEN x").conditions == (Equals("note", "it's"),)
    assert Rule.parse("IF note = 'say \"hi\"' THEN x").conditions == (Equals("note", 'say "hi"'),)
    assert Rule.parse("IF born in city in {'a', 'b'} THEN x").conditions == (IsIn("born in city", ("a", "b")),)
    assert Rule.parse("IF since > 2020-01-31T12:00+01:00 THEN x").conditions[0].low == datetime.datetime(
        2020, 1, 31, 11, tzinfo=datetime.UTC
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected IF"),
        ("age <= 37 THEN good", "expected IF"),
        ("IF age <= 37", "THEN and a label"),
        ("IF age <= 37 THEN ", "a label after THEN"),
        ("IF age <= THEN good", "character 4"),
        ("IF age <= 37 OR sex = 'F' THEN good", "character 4"),
        ("IF age <= 37, sex = 'F' THEN good", "character 4"),
        ("IF age <= abc THEN good", "a condition such as"),
        ("IF sex = F THEN good", "a condition such as"),
        ("IF sex = 'F THEN good", "a condition such as"),
        ("IF day <= 2020-13-01 THEN x", "2020-13-01 is not a date; expected a date such as"),
        ("IF [__import__('os')] <= 1 THEN x", "column name in brackets"),
        ("IF age <= 37 THEN 'good' indeed", "a label in quotes and no text after it"),
        ("IF `a\\` <= 1 THEN x", "backslash"),
        ("IF age = 1 AND age = 2 THEN x", "no value can meet both"),
        ("IF age > 60 AND age <= 20 THEN x", "no value can meet both"),
        ("IF 60 < age <= 20 THEN x", "no value can meet 60 < age <= 20"),
        ("IF age > " + "9" * 400 + " THEN x", "is too large"),
        ("IF age = " + "9" * 5000 + " THEN x", "is too large"),
        ("IF [{}] > 1 THEN x", "column name in brackets"),
        ("IF t > 5 AND t > 2020-01-01 THEN x", "cannot be combined into one condition"),
        ("IF t > 2020-01-01 AND t > 2020-01-01Z THEN x", "cannot be combined into one condition"),
        ("IF 5 < t < 2020-01-01 THEN x", "have different types"),
        ("IF age > 5 AND age != 7 THEN x", "cannot be combined into one condition"),
        ("IF age > 5 AND age = 3 THEN x", "no value can meet both"),
        ("IF [[1]] > 1 THEN x", "column name in brackets"),
        ("IF job = 'a\\qb' THEN x", "cannot read the text"),
        # Frequent mistakes get a hint.
        ("IF age <= 37 and x > 3 THEN good", "AND and THEN must be in capital letters"),
        ("IF age <= 37 then good", "AND and THEN must be in capital letters"),
        ("IF a = true THEN x", "booleans are written True and False"),
        ("IF b > 2 AND a is not missing THEN x", "'is not missing' is not supported"),
        ("IF sex = F THEN x", "text must be in quotes"),
        ('IF day <= "2020-01-31" THEN x', "they are written without quotes"),
    ],
)
def test_text_that_is_not_a_rule_is_an_error(text, expected):
    with pytest.raises(ValueError, match=expected):
        Rule.parse(text)


def test_the_text_of_a_rule_must_be_a_string():
    with pytest.raises(TypeError, match="the text of a rule must be a string, got int"):
        Rule.parse(3)


@given(st.text(alphabet="IF AND THEN<>=`'\"{}[]ab1.in ", max_size=40))
def test_any_text_is_a_rule_or_an_error(some_text):
    try:
        rule = Rule.parse(some_text)
    except ValueError:
        return
    assert Rule.parse(str(rule)) == rule


LABELS = ["good", "2", "a (b)", "x (0.85 of 13: 2 a)", "x (decides no records)", '"q"', "THEN"]


@pytest.mark.parametrize("label", LABELS)
def test_a_printed_line_with_its_number_and_figures_is_read(label):
    rule = Rule.parse(f"IF age <= 37 AND sex = 'F' THEN {format_label(label)}")
    assert rule.label == label
    counted = replace(rule, class_counts=((label, 1234), ("b", 6)))
    for rule_set in (
        RuleSet((counted,), (label, "b"), "b", (2000, 2000), (766, 1994)),
        RuleSet((), (label, "b"), "b", (2000, 2000), (2000, 2000), fallbacks=(counted,)),
        RuleSet((rule,), (label, "b"), "b", (2000, 2000), (2000, 2000)),
        RuleSet((), (label, "b"), "b", (2000, 2000), (2000, 2000), fallbacks=(rule,)),
    ):
        printed = str(rule_set)
        line = printed[printed.index("1. IF") : printed.index(")\n", printed.index("THEN " + format_label(label))) + 1]
        assert line.startswith("1. IF")
        assert line.endswith(")")
        assert Rule.parse(line) == rule
