"""Rules as text: every printed rule is read back, and other text is an error."""

import datetime
import math
import pickle
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier, Equals, Interval, IsIn, IsMissing, IsNotIn, Rule, RuleSet
from diverse_rule_sets._input.values import canonical, identity
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._ranges import orders_of
from models import ranges_of

# Text with any characters, lone surrogates included.
text = st.text(st.characters(), max_size=12) | st.sampled_from(
    ["age", "a AND b", "x THEN y", "IF", "born in", "not", "a not", "is missing", "b is missing c", "2", "1E5", "1e5x",
     "[1]", "`", "``", "a`b", "\\n", "\n", "a\\", "\\x41", '"', "'", "a=b", "{", "in {", "True", "2020-01-01", "", " ",
     "a  b", " a", "anything", "ünï", "x\x00y", "\u2028", "🦊", "1 2", "nan", "inf", "-", "+", ".", "5 < x", "THEN",
     "is  missing", "-inf", "+inf", "None", 'b"x"', "b'x", 'b"x" y', "\ud800", "\udfff", "\ud83d\ude00", "🦊\n",
     "\U000e0001", "[x] y", "x (0.85 of 13: 2 a) y", "x (decides no records) y"]
)  # fmt: skip
numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
naive = st.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31))
offsets = st.integers(-14, 14).map(lambda hours: datetime.timezone(datetime.timedelta(hours=hours)))
inner = st.datetimes(datetime.datetime(2, 1, 1), datetime.datetime(9998, 12, 31))  # valid in UTC too
zoned = st.builds(lambda moment, zone: moment.replace(tzinfo=zone), inner, offsets)
infinite = st.sampled_from([math.inf, -math.inf])
values = text | numbers | infinite | st.booleans() | naive | zoned | st.binary(max_size=8)
atoms = (
    text | numbers | infinite | st.booleans() | st.none() | naive | zoned | st.binary(max_size=8) | st.dates()
    | st.timedeltas() | st.decimals(allow_nan=False)
    | naive.filter(lambda moment: 1700 < moment.year < 2200).map(pd.Timestamp)
    | st.timedeltas(datetime.timedelta(-9999), datetime.timedelta(9999)).map(pd.Timedelta)
    | st.integers(-9, 9).map(np.int64)
)  # fmt: skip


@st.composite
def names(draw, depth=2):
    """Draw the name of a column: a constant, or a tuple or a frozenset of names."""
    kind = draw(st.sampled_from(["atom", "atom", "tuple", "frozenset"])) if depth else "atom"
    if kind == "atom":
        return draw(atoms)
    parts = [draw(names(depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    return tuple(parts) if kind == "tuple" else frozenset(parts)


@st.composite
def conditions(draw, column):
    kind = draw(st.sampled_from(["interval", "equals", "in", "not in", "range", "missing"]))
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
    if kind == "range":
        order = draw(st.lists(values, min_size=2, max_size=5, unique_by=lambda value: identity(canonical(value))))
        return draw(ranges_of(column, tuple(order)))
    several = tuple(draw(st.lists(values, max_size=4, unique=True)))
    if kind == "in":
        return IsIn(column, several)
    return IsNotIn(column, several) if kind == "not in" else IsMissing(column)


@st.composite
def rules(draw):
    columns = draw(st.lists(names(), max_size=4, unique=True))
    label = draw(text | numbers | st.booleans())
    return Rule(tuple(draw(conditions(column)) for column in columns), label)


@settings(max_examples=500)
@given(rules())
def test_a_printed_rule_is_read_back(rule):
    printed = str(rule)
    again = Rule.parse(printed, orders=orders_of(rule.conditions))
    assert again == rule
    assert [type(c) for c in again.conditions] == [type(c) for c in rule.conditions]
    assert [c.column for c in again.conditions] == [c.column for c in rule.conditions]
    for condition, other in zip(again.conditions, rule.conditions, strict=True):
        assert [type(v) is bool for v in condition.values_named] == [type(v) is bool for v in other.values_named]
        assert isinstance(condition.column, bool) == isinstance(other.column, bool)
    assert type(again.label) is type(rule.label) or isinstance(rule.label, float)
    assert str(again) == printed
    assert printed.isprintable()
    assert printed.encode("utf-8").decode("utf-8") == printed


@given(rules())
def test_a_rule_on_several_lines_is_read(rule):
    body = "\n  AND ".join(map(str, rule.conditions)) or "anything"
    text = f"IF {body}\n  THEN {format_label(rule.label)}\n"
    assert Rule.parse(text, orders=orders_of(rule.conditions)) == rule


def test_other_forms_are_read():
    rule = Rule.parse("IF age >= 18 AND age < 65 AND sex == 'F' AND job != \"clerk\"\n  THEN good customer ")
    assert rule == Rule(
        (Interval("age", 18, 65, with_low=True, with_high=False), Equals("sex", "F"), IsNotIn("job", ("clerk",))),
        "good customer",
    )
    assert str(rule) == 'IF 18 <= age < 65 AND sex = "F" AND job != "clerk" THEN good customer'
    assert Rule.parse("IF job not in {'clerk'} THEN x").conditions == (IsNotIn("job", ("clerk",)),)
    assert Rule.parse("IF 18 <= age AND 65 > age THEN x").conditions == (Interval("age", 18, 65, True, False),)
    assert Rule.parse("IF x in {inf, -inf, 'a'} THEN x").conditions == (IsIn("x", (math.inf, -math.inf, "a")),)
    assert Rule.parse("IF age > 5 AND age in {3, 7, 9} AND age < 9 THEN x").conditions == (Equals("age", 7),)
    assert Rule.parse("""IF n = 'say \\"hi\\"' THEN x""").conditions == (Equals("n", 'say "hi"'),)
    several = "IF a in {1, 2, 3, True} AND a != 2 AND b != 'x' AND b not in {'y', 'x'} AND a in {3, 1, 5, True} THEN x"
    assert Rule.parse(several).conditions == (IsIn("a", (1, 3, True)), IsNotIn("b", ("x", "y")))
    assert Rule.parse("IF a in {1, 2} AND a in {2, 3} THEN x").conditions == (Equals("a", 2),)
    moment = Rule((IsMissing(datetime.datetime(2020, 1, 31)),), "x")
    assert (str(moment), Rule.parse(str(moment))) == ("IF [2020-01-31] is missing THEN x", moment)
    assert Rule.parse("IF job in {'a'} THEN 1") == Rule((IsIn("job", ("a",)),), 1)
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
        ("IF age = 1 AND age = 2 THEN x", "no value can meet both age = 1 and age = 2"),
        ("IF age in {1, 2} AND age not in {2, 1, 0} THEN x", "no value can meet both age in {1, 2} and age not in"),
        ("IF age = 1 AND age = True THEN x", "no value can meet both age = 1 and age = True"),
        ("IF age in {} AND age = 1 THEN x", "no value can meet both"),
        ("IF age in {1, 2} AND age != 1 AND age != 2 THEN x", "no value can meet all 3 conditions on age"),
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
        ("IF job = 'a\\U00110000' THEN x", "in a text is not an escape sequence"),
        ("IF job = b'ü' THEN x", "cannot read the bytes"),
        ("IF a > 9999-12-31 23:59:59-05:00 THEN b", "is not a date: in UTC its year would not be between 1 and 9999"),
        ("IF a > 0001-01-01 00:00:00+05:00 THEN b", "is not a date: in UTC its year would not be between 1 and 9999"),
        ("IF [nan] > 1 THEN x", "NaN, NaT and NA cannot be the name of a column"),
        ("IF [NaT] is missing THEN x", "NaN, NaT and NA cannot be the name of a column"),
        ("IF [<NA>] is missing THEN x", "NaN, NaT and NA cannot be the name of a column"),
        ("IF [Decimal('NaN')] is missing THEN x", "NaN, NaT and NA cannot be the name of a column"),
        ("IF [(Decimal('sNaN'), 1)] is missing THEN x", "column name in brackets"),
        ("IF [Decimal('one')] is missing THEN x", "'one' is not a decimal number"),
        ("IF [date(2020, 2, 30)] is missing THEN x", "column name in brackets"),
        ("IF [timedelta(days=999999999999)] is missing THEN x", "column name in brackets"),
        ("IF [timedelta(hours=1)] is missing THEN x", "column name in brackets"),
        ("IF [" + "(" * 30 + "] is missing THEN x", "nested too deeply"),
        ("IF [(1 2)] is missing THEN x", "a comma is missing"),
        ("IF [(1, 2] is missing THEN x", "column name in brackets"),
        ("IF [os.system('x')] is missing THEN x", "column name in brackets"),
        ("IF [x] y > 1 THEN x", "a name that begins with \\[ is written in backticks"),
        ("IF `a > 1 THEN x", "a column name in backticks has no end"),
        ("IF a in {1 2} THEN x", "a condition such as"),
        ("IF a {1} THEN x", "a condition such as"),
        ("IF 5 > a <= 7 THEN x", "a condition such as"),
        ("IF " + "a" * 5000 + " > 9 AND " + "a" * 5000 + " < 5 THEN x", r"no value can meet both a.*\.\.\.$"),
        # Frequent mistakes get a hint.
        ("IF age <= 37 and x > 3 THEN good", "AND and THEN must be in capital letters"),
        ("IF age <= 37 then good", "AND and THEN must be in capital letters"),
        ("IF a = true THEN x", "booleans are written True and False"),
        ("IF b > 2 AND a is not missing THEN x", "'is not missing' is not supported"),
        ("IF sex = F THEN x", "text must be in quotes"),
        ('IF day <= "2020-01-31" THEN x', "are written without quotes"),
    ],
)
def test_text_that_is_not_a_rule_is_an_error(text, expected):
    with pytest.raises(ValueError, match=expected) as error:
        Rule.parse(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700


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
LABELS += ["x (0.85 of 13: 2 a) y", "x (decides no records) y", "b (0.50 of 1:)x", "\ud800"]


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


# Texts of about a million characters; each took minutes or more when the time was quadratic.
LONG = 1_000_000
HOSTILE = {
    "blanks after IF": "IF" + " " * LONG,
    "blanks in a name": "IF a" + " " * LONG + "b <= 5 THEN x",
    "blanks after a condition": "IF a <= 5" + " " * LONG,
    "blanks before THEN": "IF a <= 5" + " " * LONG + "THEN x",
    "blanks in a label": "IF a <= 5 THEN x" + " " * LONG + "y",
    "line breaks in a label": "IF a <= 5 THEN x" + "\n" * LONG + "y",
    "blanks in a set": "IF a in {" + " " * LONG,
    "blanks after is": "IF is" + " " * LONG + "missin THEN x",
    "digits": "IF a <= 0." + "1" * LONG + " THEN x",
    "quotes": "IF a = " + '"' * LONG,
    "escaped quotes": "IF a = '" + "\\'" * (LONG // 2),
    "backticks": "IF " + "`" * LONG,
    "brackets": "IF " + "[" * LONG,
    "nested tuples": "IF [" + "(" * LONG,
    "a long tuple": "IF [(" + "1," * (LONG // 4) + ")] > 1 THEN x",
    "a long set": "IF a in {" + ",".join(map(str, range(LONG // 7))) + "} THEN x",
    "braces": "IF a in " + "{" * LONG,
    "many conditions": "IF " + " AND ".join(f"a{k} > 1" for k in range(LONG // 20)) + " THEN x",
    "many conditions on a column": "IF " + "a > 1 AND " * (LONG // 20) + "a > 2 THEN x",
    "many excluded values": "IF " + " AND ".join(f"a != {k}" for k in range(LONG // 15)) + " THEN x",
    "two long sets": "IF " + " AND ".join(["a in {" + ",".join(map(str, range(LONG // 14))) + "}"] * 2) + " THEN x",
    "values and bounds": "IF a in {"
    + ",".join(map(str, range(LONG // 20)))
    + "}"
    + " AND a > 1" * (LONG // 20)
    + " THEN x",
    "values and excluded values": "IF a in {"
    + ",".join(map(str, range(LONG // 20)))
    + "} AND "
    + " AND ".join(f"a != {k}" for k in range(LONG // 20))
    + " AND a = 5 THEN x",
    "is": "IF " + "is " * (LONG // 3) + "> 1 THEN x",
    "in": "IF " + "a in " * (LONG // 5) + "{1} THEN x",
    "not": "IF a" + " not" * (LONG // 4) + " in {1} THEN x",
    "operators": "IF a" + "<" * LONG,
    "bounds": "IF 5 " + "< 5 " * (LONG // 4),
    "is not": "IF " + "is not " * (LONG // 7),
    "figures in a label": "IF a > 1 THEN b" + " (0.50 of 1:)" * (LONG // 13) + "x",
    "figures after a label": "IF a > 1 THEN b" + " (0.50 of 1:)" * (LONG // 13),
    "beginnings of figures": "IF a > 1 THEN b" + " (precision 0.50, covers 1" * (LONG // 26) + ")",
    "digits in figures": "IF a > 1 THEN b (0.50 of " + "1" * LONG + ")",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_long_texts_are_read_or_refused_in_linear_time(text):
    """The bound is generous: linear time is below 3 seconds for the slowest, and quadratic time is minutes."""
    start = time.perf_counter()
    try:
        said = str(Rule.parse(text))
    except ValueError as error:
        said = str(error)
    assert time.perf_counter() - start < 20
    assert len(said) < 2 * LONG
    assert "\n" not in said


def test_a_label_like_figures_is_printed_in_linear_time():
    label = "b" + " (0.50 of 1:)" * 200_000 + "x"
    start = time.perf_counter()
    rule = Rule((), label)
    assert Rule.parse(str(rule)) == rule
    assert time.perf_counter() - start < 10


def test_nothing_in_a_name_is_executed():
    """Names in brackets are constants: neither a call nor an expression is evaluated, whatever its name."""
    for inside in ("1 + 1", "int('5')", "(lambda: 5)()", "f'{1}'", "date(2020, 1, 1).year", "[5]", "{5}", "{'a': 1}"):
        with pytest.raises(ValueError, match="column name in brackets"):
            Rule.parse(f"IF [{inside}] > 1 THEN x")


@pytest.mark.parametrize(
    "name",
    [
        *(Fraction(1, 3), 1 + 2j, pd.Timestamp(1), pd.Timedelta(1, "ns"), pd.Interval(0, 1), pd.Period("2020")),
        *(datetime.time(1, 2), ("a", Fraction(1, 3)), frozenset({1j})),
    ],
    ids=repr,
)
def test_names_that_are_not_read_back(name):
    """A table with such a name is fitted; the text of its rules and its JSON are errors in one line."""
    names = pd.Index([name, "b"], dtype=object, tupleize_cols=False)
    X = pd.DataFrame(np.repeat([[1, 5], [2, 5]], 20, axis=0)).set_axis(names, axis=1)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, X.iloc[:, 0])
    assert clf.rule_set_.columns == (name,)
    again = pickle.loads(pickle.dumps(clf))
    assert again.predict(X).tolist() == X.iloc[:, 0].tolist()
    with pytest.raises(ValueError, match=r"^a column name in brackets must be a number, [^\n]*$"):
        Rule.parse(str(clf.rule_set_[0]))
    with pytest.raises(ValueError, match=r"^JSON cannot represent the name of a column such as [^\n]*$"):
        clf.rule_set_.to_json()
