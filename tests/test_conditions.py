import datetime
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets import Condition, Equals, Interval, IsIn, IsInRange, IsMissing, IsNotIn, Rule
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.model._conditions import merge_conditions

UTC = datetime.UTC


def holds(condition, values):
    return condition.holds(as_table(pd.DataFrame({condition.column: values})).column(condition.column)).tolist()


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval("petal width (cm)", high=0.8), "petal width (cm) <= 0.8"),
        (Interval("age", 37, 60), "37 < age <= 60"),
        (Interval("age", 37.0), "age > 37"),
        (Interval("a = b", high=1e20), "`a = b` <= 1e+20"),
        (Interval(3, high=-0.25), "[3] <= -0.25"),
        (Interval("x\ny", high=1), "`x\\ny` <= 1"),
        (Interval("", high=1), "`` <= 1"),
        (Interval("SAND", high=1), "SAND <= 1"),
        (Interval("37", high=1), "`37` <= 1"),
        (Interval("1e5", high=1), "`1e5` <= 1"),
        (Interval("2nd visit", high=1), "2nd visit <= 1"),
        (Interval("[0]", high=1), "`[0]` <= 1"),
        (Interval("a`b", high=1), "`a``b` <= 1"),
        (Interval("A AND B", high=1), "`A AND B` <= 1"),
        (Interval("since", datetime.datetime(2020, 1, 31)), "since > 2020-01-31"),
        (Interval("since", datetime.datetime(2020, 1, 31, 14, 30)), "since > 2020-01-31 14:30:00"),
        (Interval("since", high=datetime.datetime(2020, 1, 31, tzinfo=UTC)), "since <= 2020-01-31Z"),
        (Equals("sex", "F"), 'sex = "F"'),
        (Equals("sex", 'a "b" \n'), 'sex = "a \\"b\\" \\n"'),
        (Equals("land", "Österreich"), 'land = "Österreich"'),
        (Equals("smoker", True), "smoker = True"),
        (Equals("code", 7), "code = 7"),
        (IsMissing("income"), "income is missing"),
        (IsIn("job", ("clerk", "sales")), 'job in {"clerk", "sales"}'),
        (IsIn("code", (7, 8.5, "x y")), 'code in {7, 8.5, "x y"}'),
        (IsIn("a {b}", (True, False)), "`a {b}` in {True, False}"),
        (IsNotIn("job", ("clerk",)), 'job != "clerk"'),
        (IsNotIn("job", ("clerk", "sales")), 'job not in {"clerk", "sales"}'),
        (IsNotIn("job", ()), "job not in {}"),
        (IsInRange("grade", ("B", "A"), order=("C", "B", "A")), 'grade >= "B"'),
        (IsInRange("grade", ("C", "B"), order=("C", "B", "A")), 'grade <= "B"'),
        (IsInRange("a = b", ("C", "B"), order=("D", "C", "B", "A")), '"C" <= `a = b` <= "B"'),
        (IsInRange("grade", ("C", "B"), order=("C", "B")), '"C" <= grade <= "B"'),
        (IsInRange("size", (10, 20), order=(5, 10, 20)), "size >= 10"),
        (IsNotIn(3, ('a "b"', "é")), '[3] not in {"a \\"b\\"", "é"}'),
    ],
)
def test_the_text_of_a_condition(condition, text):
    assert str(condition) == text


def test_conditions_on_missing_values_extreme_values_and_new_categories():
    assert holds(Interval("a", 2, 4), [1, 2, 2.1, 4, 4.1, None]) == [False, False, True, True, False, False]
    assert holds(Interval("a", 2), [-1e300, np.inf, 1e300, None]) == [False, True, True, False]
    assert holds(Interval("a", high=2), [-1e300, np.inf, None]) == [True, False, False]
    assert holds(Equals("a", "F"), ["F", "M", "f", "new", None]) == [True, False, False, False, False]
    assert holds(Equals("a", True), [True, False, None]) == [True, False, False]
    assert holds(Equals("a", 2), pd.Categorical([1, 2, None])) == [False, True, False]
    assert holds(Equals("a", 2), [1.0, 2.0, None]) == [False, True, False]
    assert holds(IsMissing("a"), ["F", None]) == [False, True]
    assert holds(IsIn("a", ("F", "M")), ["F", "M", "f", "new", None]) == [True, True, False, False, False]
    assert holds(IsIn("a", (2, 3)), [1.0, 2.0, 3.0, None]) == [False, True, True, False]
    assert holds(IsIn("a", ("F", "never seen")), ["F", "M", None]) == [True, False, False]
    assert holds(IsNotIn("a", ("F", "M")), ["F", "M", "f", "new", None]) == [False, False, True, True, False]
    assert holds(IsNotIn("a", (2,)), pd.Categorical([1, 2, None])) == [True, False, False]
    assert holds(IsNotIn("a", ("never seen",)), ["F", None]) == [True, False]
    day = datetime.datetime(2020, 1, 1)
    assert holds(Interval("a", day), pd.to_datetime(["2019-05-05", "2020-01-01", "2020-01-02", None])) == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "condition",
    [
        Interval("a", 1),
        Equals("a", "F"),
        Equals("a", True),
        Interval("a", datetime.datetime(2020, 1, 1)),
        IsIn("a", ("F", "M")),
        IsNotIn("a", ("F", "M")),
    ],
)
@pytest.mark.parametrize(
    "values", [[np.nan, np.nan], pd.Series([None, None], dtype=object), pd.to_datetime([None, None])]
)
def test_no_comparison_holds_in_a_column_of_missing_values_of_any_type(condition, values):
    assert holds(condition, values) == [False, False]


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        (Interval("a", 1), ["1", "2"]),
        (Interval("a", 1), [True, False]),
        (Equals("a", "1"), [1, 2]),
        (Equals("a", "True"), [True, False]),
        (Equals("a", True), ["True", "False"]),
        (Equals("a", 1), ["1", "2"]),
        (Equals("a", True), [1, 0]),
        (IsIn("a", ("1", "2")), [1, 2]),
        (IsNotIn("a", ("1", "2")), [1, 2]),
        (IsIn("a", (1, 2)), ["1", "2"]),
        (Interval("a", datetime.datetime(2020, 1, 1)), [1, 2]),
        (Interval("a", datetime.datetime(2020, 1, 1)), pd.to_datetime(["2020-01-01"]).tz_localize("UTC")),
    ],
)
def test_a_column_of_another_type_is_an_error_that_names_it(condition, values):
    with pytest.raises(ValueError, match=r"column 'a' holds .* values, expected .* values for the condition"):
        holds(condition, values)


def test_an_interval_needs_a_bound_and_the_base_class_is_abstract():
    with pytest.raises(ValueError, match="an interval of 'a' must have low or high, or both"):
        Interval("a")
    with pytest.raises(TypeError):
        Condition("a")


def test_a_mixed_set_is_tested_value_by_value():
    """A column of strings and numbers in training may contain only one of the two types later."""
    some, none = IsIn("a", ("A1", 7), mixed=True), IsNotIn("a", ("A1", 7), mixed=True)
    for values, expected in (
        (["A1", 7, "B2", None], [True, True, False, False]),
        ([7, 8], [True, False]),
        (["A1", "7"], [True, False]),
    ):
        column = pd.Series(values, dtype=object)
        assert holds(some, column) == expected
        assert holds(none, column) == [not e and v is not None for e, v in zip(expected, values, strict=True)]


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (Interval("a", 1), Interval("a", high=4), Interval("a", 1, 4)),
        (Interval("a", 1, 4), Interval("a", 2, 9), Interval("a", 2, 4)),
        (Interval("a", high=0), Interval("a", high=-1), Interval("a", high=-1)),
        (IsIn("a", ("p", "q", "r")), IsIn("a", ("r", "q", "s")), IsIn("a", ("q", "r"))),
        (IsIn("a", ("p", "q")), IsIn("a", ("q", "r")), Equals("a", "q")),
        (IsIn("a", ("p", "q")), Equals("a", "q"), Equals("a", "q")),
        (IsIn("a", ("p", "q", "r")), IsNotIn("a", ("q", "s")), IsIn("a", ("p", "r"))),
        (IsIn("a", ("p", "q")), IsNotIn("a", ("q",)), Equals("a", "p")),
        (Equals("a", "p"), IsNotIn("a", ("q",)), Equals("a", "p")),
        (IsNotIn("a", ("p", "q")), IsNotIn("a", ("q", "r")), IsNotIn("a", ("p", "q", "r"))),
    ],
)
def test_two_conditions_on_a_column_are_combined_into_one(one, other, both):
    assert one.meet(other) == both
    back = other.meet(one)
    assert type(back) is type(both)
    assert set(getattr(back, "values", ())) == set(getattr(both, "values", ()))
    assert merge_conditions([one, other]) == (both,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Equals("a", "p"), Equals("a", "q")),
        (Equals("a", "p"), IsNotIn("a", ("p",))),
        (IsIn("a", ("p", "q")), IsIn("a", ("r", "s"))),
        (IsIn("a", ("p", "q")), IsNotIn("a", ("q", "p"))),
        (IsMissing("a"), IsNotIn("a", ("p",))),
        (IsMissing("a"), Interval("a", 1)),
        (IsMissing("a"), Equals("a", "p")),
    ],
)
def test_two_conditions_without_a_common_value_are_an_error_that_names_both(one, other):
    for first, second in ((one, other), (other, one)):
        with pytest.raises(ValueError, match="no value can meet both") as error:
            first.meet(second)
        assert str(one) in str(error.value)
        assert str(other) in str(error.value)


def test_a_combined_condition_is_mixed_if_both_are():
    both = IsIn("a", ("A1", 7, 8), mixed=True).meet(IsNotIn("a", (7, 8), mixed=True))
    assert both == Equals("a", "A1")
    assert holds(both, [7, 8]) == [False, False]


bounds = st.one_of(st.none(), st.integers(-3, 3), st.floats(-3, 3))
intervals = st.tuples(bounds, bounds).filter(lambda pair: pair != (None, None)).map(lambda pair: Interval("n", *pair))


def sets(column, values):
    chosen = st.lists(st.sampled_from(values), min_size=1, max_size=len(values), unique=True).map(tuple)
    return st.one_of(
        st.sampled_from(values).map(lambda value: Equals(column, value)),
        chosen.map(lambda some: IsIn(column, some)),
        chosen.map(lambda some: IsNotIn(column, some)),
    )


TABLE = pd.DataFrame(
    {
        "n": [*np.arange(-3.5, 4, 0.5), -1e300, 1e300, None],
        "code": [*range(15), 0.5, -1, None],
        "t": [*"pqrstpqrstpqrst", "never seen", "", None],
    }
)


@given(
    st.lists(
        st.one_of(intervals, sets("code", [0, 1, 2, 3]), sets("t", list("pqrs")), st.sampled_from("nt").map(IsMissing)),
        max_size=6,
    )
)
def test_combined_conditions_hold_if_and_only_if_all_of_them_hold(conditions):
    table = as_table(TABLE)

    def of(column, some):
        flags = [c.holds(table.column(column)) for c in some if c.column == column]
        return np.logical_and.reduce(flags) if flags else np.ones(len(TABLE), bool)

    try:
        together = merge_conditions(conditions)
    except ValueError:
        assert any(not of(column, conditions).any() for column in TABLE.columns)
        return
    assert [c.column for c in together] == list(dict.fromkeys(c.column for c in conditions))
    for column in TABLE.columns:
        assert of(column, together).tolist() == of(column, conditions).tolist()


def test_the_order_of_conditions_does_not_change_where_they_hold():
    some = [IsIn("t", ("p", "q", "r")), IsNotIn("t", ("p",)), IsIn("t", ("r", "q", "s")), IsNotIn("t", ("s", "t"))]
    column = as_table(TABLE).column("t")
    for order in itertools.permutations(some):
        (one,) = merge_conditions(order)
        assert one.holds(column).tolist() == [value in ("q", "r") for value in TABLE["t"]]


def test_a_backtick_in_a_name_with_escape_sequences_is_doubled():
    assert str(Interval("a`\nb", high=1)) == r"`a``\nb` <= 1"


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=20), st.tuples(*[st.none() | st.integers(-3, 3)] * 4), st.data()
)
def test_an_intersection_contains_the_values_of_both_intervals(values, bounds, data):
    column = Column("x", "number", np.array(values, float))
    made = []
    for low, high in (bounds[:2], bounds[2:]):
        if low is None and high is None:
            return
        made.append(Interval("x", low, high, data.draw(st.booleans()), data.draw(st.booleans())))

    def inside(interval, value):
        above = interval.low is None or value > interval.low or (interval.with_low and value == interval.low)
        below = interval.high is None or value < interval.high or (interval.with_high and value == interval.high)
        return above and below

    for interval in made:
        assert interval.holds(column).tolist() == [inside(interval, value) for value in values]
    expected = [all(inside(one, value) for one in made) for value in values]
    grid = np.arange(-4, 4.25, 0.25)
    if not any(all(inside(one, value) for one in made) for value in grid):
        with pytest.raises(ValueError, match="no value can meet both"):
            made[0].meet(made[1])
        return
    both = made[0].meet(made[1])
    assert both.holds(column).tolist() == expected


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), "5", True, 1j])
def test_bounds_are_finite_numbers_or_dates(bound):
    with pytest.raises(ValueError, match="a bound of an interval of 'x' must be a finite number or a date"):
        Interval("x", low=bound)


def test_bounds_have_the_same_type():
    with pytest.raises(TypeError, match="have different types"):
        Interval("x", low=1, high=datetime.datetime(2020, 1, 1))
    assert Interval("x", low=datetime.date(2020, 1, 1)).low == datetime.datetime(2020, 1, 1)


@pytest.mark.parametrize("kind", ["datetime64[us]", "object", "category"])
def test_a_date_can_be_compared_for_equality(kind):
    days = pd.Series([datetime.datetime(2020, 1, 31), datetime.datetime(2020, 2, 1), None]).astype(kind)
    table = as_table(pd.DataFrame({"day": days}))
    for text, covered in (
        ("day = 2020-01-31", [True, False, False]),
        ("day in {2020-01-31, 2020-02-01}", [True, True, False]),
        ("day != 2020-01-31", [False, True, False]),
    ):
        assert Rule.parse(f"IF {text} THEN good").covers(table).tolist() == covered
    zoned = Rule.parse("IF day = 2020-01-31Z THEN good")
    if kind == "object":  # other records may hold values of other types
        assert not zoned.covers(table).any()
    else:
        with pytest.raises(ValueError, match=r"expected date \(UTC\) values"):
            zoned.covers(table)


def test_an_interval_can_contain_a_single_date():
    table = as_table(pd.DataFrame({"day": pd.to_datetime(["2020-01-31", "2020-02-01"])}))
    assert Rule.parse("IF 2020-01-31 <= day <= 2020-01-31 THEN good").covers(table).tolist() == [True, False]


def test_an_empty_interval_has_no_common_value_with_itself():
    empty = Interval("x", 0, 0)
    with pytest.raises(ValueError, match="no value can meet both"):
        empty.meet(empty)
