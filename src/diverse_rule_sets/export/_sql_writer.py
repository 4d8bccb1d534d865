"""Conditions and values in one dialect of SQL."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from diverse_rule_sets._input.values import NUMBER
from diverse_rule_sets.export import _sql_dialects
from diverse_rule_sets.export._points import point_tests
from diverse_rule_sets.export._sql_dates import next_moment, sqlite_date, sqlite_text, sqlite_zone
from diverse_rule_sets.export._sql_limits import (
    check_different,
    check_unambiguous,
    is_exact_integer,
    warn_about_values,
)
from diverse_rule_sets.export._values import (
    check_known,
    codes_that_meet,
    common_kind,
    exact_text,
    exported_codes,
    other_date_codes,
    values_by_column,
)
from diverse_rule_sets.model._conditions import Condition, Equals, IsIn
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import ScorecardColumn

_MAX_TERMS = 50


def sqlglot_expressions() -> Any:
    """Return the module of sqlglot expressions; raise an error with a hint if sqlglot is not installed."""
    try:
        from sqlglot import exp
    except ImportError:
        raise ImportError("SQL needs sqlglot; install the extra: pip install 'diverse-rule-sets[sql]'") from None
    return exp


def checked_text(name: str, value: Any) -> str:
    """Return a name after checking that SQL can represent it."""
    if not isinstance(value, str) or not value:
        raise TypeError(f"{name} must be a string that is not empty, got {value!r}")
    return _check_writable(value, name)


def _check_writable(text: str, what: str) -> str:
    """Return a text; raise ValueError if SQL cannot represent it."""
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError(f"SQL cannot write {what} {text!r}: it contains a NUL character or half of a surrogate pair")
    return text


def column_of(exp: Any, name: str, source: str) -> Any:
    """Return a column of a table or a step, its name quoted."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=exp.Identifier(this=source, quoted=False))


class SqlWriter:
    """Writes conditions and values in one dialect.

    Expressions of conditions and columns are used several times in one query without being copied, because queries may
    be long.

    Parameters
    ----------
    rule_set, dialect : the rules and the dialect
    columns : names of columns in the database, if they differ from those in training
    points : the names of the columns of points that the query computes
    """

    def __init__(
        self,
        rule_set: RuleSet,
        dialect: str,
        columns: Mapping[Hashable, str],
        points: Mapping[ScorecardColumn, str],
    ) -> None:
        self._points = points
        self.exp = sqlglot_expressions()
        self.dialect = dialect
        values = values_by_column(rule_set)
        self._values, self._classes = values, rule_set.classes
        self._compared = {name: common_kind(some, name) for name, some in values.items()}
        self._codes = {name: self._codes_of(rule_set, name) for name in values}
        self._compared |= {name: common_kind(codes, name) for name, codes in self._codes.items() if codes}
        # SQLite stores dates as text, so that a column may hold dates of the other type that mean missing values.
        self._other_dates = {
            name: other_date_codes(rule_set, name, kind) if dialect == "sqlite" else ()
            for name, kind in self._compared.items()
        }
        kinds = dict(rule_set.kinds)
        self._numbers = {name for name, kind in self._compared.items() if "number" in (kind, kinds.get(name))}
        self._exact = {name for name in self._numbers if kinds.get(name, "").startswith("category")}
        self.names = {name: _database_name(name, columns) for name in values}
        check_different(self.names, dialect)
        check_unambiguous(rule_set, {n: text for n, text in self.names.items() if n not in columns}, dialect)
        warn_about_values(values, self._exact, dialect)
        warn_about_values(self._codes, set(self._codes), dialect)
        self._columns = {name: self._column(name, some) for name, some in values.items()}
        self._conditions: dict[Condition, Any] = {}
        self._integers: dict[int, Any] = {}

    @property
    def texts(self) -> Iterator[str]:
        """Everything in the rule set that is text: names of columns in the database, values and labels."""
        yield from self.names.values()
        for values in (*self._values.values(), *self._codes.values(), self._classes):
            yield from (value for value in values if isinstance(value, str))

    def _column(self, name: Hashable, values: Sequence[Any]) -> Any:
        """Return a column in the form in which it is compared."""
        exp, kind, column = self.exp, self._compared[name], self._plain_column(name)
        if kind == "number" and name not in self._exact and any(abs(value) >= 2**53 for value in values):
            return self._cast(column, "double")  # as in this package
        if self.dialect == "sqlite" and kind in ("date", "instant"):
            return sqlite_date(exp, column)
        if self.dialect == "sqlite" and kind == "text":
            return exp.Collate(this=column, expression=exp.Var(this="BINARY"))  # the column may ignore the case
        return column

    def _codes_of(self, rule_set: RuleSet, name: Hashable) -> tuple[Any, ...]:
        """Return the codes for missing values of a column; empty text is NULL in some dialects."""
        codes = exported_codes(rule_set, name, self._compared[name])
        return tuple(code for code in codes if code != "" or self.dialect not in _sql_dialects.EMPTY_IS_NULL)

    def _plain_column(self, name: Hashable) -> Any:
        return column_of(self.exp, self.names[name], "r")

    def _cast(self, expression: Any, data_type: str) -> Any:
        return self.exp.Cast(this=expression, to=self._data_types[data_type])

    @cached_property
    def _data_types(self) -> dict[str, Any]:
        return {name: self.exp.DataType.build(name) for name in ("double", "bigint", "timestamp", "timestamptz")}

    def covers(self, rule: Rule) -> Any:
        """Return the test whether a rule covers a record."""
        return self.all_of([self.condition(condition) for condition in rule.conditions])

    def all_of(self, tests: Sequence[Any]) -> Any:
        """Return the test whether all tests are true."""
        return self.chain(self.exp.And, tests) if tests else self._constant(1)

    def chain(self, kind: Any, terms: Sequence[Any]) -> Any:
        """Return terms joined by an operator, in groups, because databases limit the depth of expressions."""
        while len(terms) > _MAX_TERMS:
            groups = [terms[k : k + _MAX_TERMS] for k in range(0, len(terms), _MAX_TERMS)]
            terms = [self.exp.Paren(this=self.chain(kind, group)) for group in groups]
        chain = terms[0]
        for term in terms[1:]:
            chain = kind(this=chain, expression=term)
        return chain

    def _constant(self, truth: int) -> Any:
        """Return a test that is always true or always false; the word TRUE could be the name of a column."""
        return self.exp.EQ(this=self.whole(1), expression=self.whole(truth))

    def condition(self, condition: Condition) -> Any:
        """Return a condition; rules have many conditions in common, so that each is written once."""
        check_known(condition, "SQL")
        if condition not in self._conditions:
            self._conditions[condition] = self._exclude_other_dates(condition, self._write_condition(condition))
        return self._conditions[condition]

    def _write_condition(self, condition: Condition) -> Any:
        if isinstance(condition.column, ScorecardColumn):
            points = column_of(self.exp, self._points[condition.column], "r")
            tests = point_tests(condition)
            return self.all_of([self._makers[test](this=points, expression=self.integer(n)) for test, n in tests])
        number = condition.column in self._numbers
        if condition.holds_if_missing:
            return self._missing(condition.column, number)
        if condition.comparisons:
            return self._compare(condition)
        if condition.excludes and self._codes[condition.column]:
            codes = self.exp.Not(this=self._coded(condition.column, self._codes[condition.column]))
            listed = [self._among(condition)] if condition.values_named else []
            test = self.all_of([*listed, codes])
        else:
            test = self._among(condition)
        return self._exclude_nan(test, condition.column, number and condition.excludes)

    def _missing(self, column: Hashable, number: bool) -> Any:
        exp = self.exp
        tests = [exp.Is(this=self._plain_column(column), expression=exp.Null())]
        if number and self._nan is not None:
            tests.append(exp.EQ(this=self._columns[column], expression=self._nan))
        if self._codes[column]:
            tests.append(self._coded(column, self._codes[column]))
        if self._other_dates[column]:
            tests.append(self._among_other_dates(column))
        return tests[0] if len(tests) == 1 else exp.Paren(this=self.chain(exp.Or, tests))

    def _coded(self, column: Hashable, codes: Sequence[Any]) -> Any:
        """Return the test whether a value is one of some codes for missing values; integers are not rounded."""
        if self._compared[column] == "number":
            numbers = [self.integer(code) if isinstance(code, int) else self.value(code) for code in codes]
            return self.exp.In(this=self._plain_column(column), expressions=numbers)
        return self._among(IsIn(column, tuple(codes)))

    def _among_other_dates(self, column: Hashable) -> Any:
        """Return the test whether a date of SQLite is one of the codes with a time zone, or one of those without."""
        exp, plain, codes = self.exp, self._plain_column(column), self._other_dates[column]
        zoned = exp.NEQ if codes[0].tzinfo is not None else exp.EQ
        zone = zoned(this=sqlite_zone(exp, plain), expression=exp.Literal.string(""))
        listed = exp.In(this=sqlite_date(exp, plain), expressions=[self.value(code) for code in codes])
        return exp.Paren(this=exp.And(this=listed, expression=zone))

    def _exclude_other_dates(self, condition: Condition, test: Any) -> Any:
        """Return the test of a value, and that it is none of the codes of the other type of dates."""
        if condition.holds_if_missing or not self._other_dates.get(condition.column):
            return test
        return self.all_of([test, self.exp.Not(this=self._among_other_dates(condition.column))])

    def _compare(self, condition: Condition) -> Any:
        sides = [self._side(condition.column, test, bound) for test, bound in condition.comparisons]
        unbounded = all(test in (">", ">=") for test, _ in condition.comparisons)
        codes = codes_that_meet(condition, self._codes[condition.column])
        if codes:
            sides.append(self.exp.Not(this=self._coded(condition.column, codes)))
        return self._exclude_nan(self.all_of(sides), condition.column, condition.kind == NUMBER and unbounded)

    def _side(self, column: Hashable, test: str, bound: Any) -> Any:
        """Return one comparison of a column with a bound.

        Timestamps are truncated to microseconds, also those of a dialect that has more digits: there the test is with
        the next microsecond.
        """
        if self._is_fine_date(column) and test in (">", "<="):
            following = next_moment(bound)
            test, bound = (test, bound) if following is None else ({">": ">=", "<=": "<"}[test], following)
        return self._makers[test](this=self._columns[column], expression=self.value(bound))

    @cached_property
    def _makers(self) -> dict[str, Any]:
        exp = self.exp
        return {">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE, "=": exp.EQ}

    def _is_fine_date(self, column: Hashable) -> bool:
        """Return whether the timestamps of a column may have more digits than microseconds."""
        return self.dialect in _sql_dialects.FINE_DATES and self._compared[column] in ("date", "instant")

    def _among(self, condition: Condition) -> Any:
        """Return the test whether a value is one of the listed values, or neither missing nor one of them."""
        exp, name, values = self.exp, condition.column, condition.values_named
        if not values:
            known = exp.Not(this=exp.Is(this=self._plain_column(name), expression=exp.Null()))
            return known if condition.excludes else self._constant(0)
        if self._is_fine_date(name):
            same = [self.all_of([self._side(name, ">=", value), self._side(name, "<=", value)]) for value in values]
            among = same[0] if isinstance(condition, Equals) else exp.Paren(this=self.chain(exp.Or, same))
            return exp.Not(this=among) if condition.excludes else among
        column = self._columns[name]
        if isinstance(condition, Equals):
            return exp.EQ(this=column, expression=self._member(name, condition.value))
        among = exp.In(this=column, expressions=[self._member(name, value) for value in values])
        return exp.Not(this=among) if condition.excludes else among

    def _member(self, column: Hashable, value: Any) -> Any:
        """Return a listed value; an integer that is a category is not rounded."""
        return self.integer(value) if column in self._exact and isinstance(value, int) else self.value(value)

    @property
    def _nan(self) -> Any:
        """NaN in the dialect; None if NaN is never true in a comparison."""
        if self.dialect not in _sql_dialects.NAN_IS_LARGEST:
            return None
        return self._cast(self.exp.Literal.string("NaN"), "double")

    def _exclude_nan(self, test: Any, column: Hashable, number: bool) -> Any:
        """Return the test, and for numbers also that the value is not NaN, if large numbers pass the test."""
        if not number or self._nan is None:
            return test
        known = self.exp.NEQ(this=self._columns[column], expression=self._nan)
        return self.exp.And(this=test, expression=known)

    def value(self, value: Any) -> Any:
        """Return a value as a literal."""
        exp = self.exp
        if isinstance(value, bool):
            if self.dialect in _sql_dialects.BITS:
                return self.whole(int(value))
            return exp.true() if value else exp.false()
        if isinstance(value, str):
            if not value and self.dialect in _sql_dialects.EMPTY_IS_NULL:
                raise ValueError(f"{self.dialect} has no empty text: '' is NULL; replace '' before fitting")
            return exp.Literal.string(_check_writable(value, "the text"))
        if isinstance(value, datetime.date):
            return self._date(value)
        return self._number(float(value) if isinstance(value, float) or abs(value) >= 2**53 else int(value))

    def label(self, label: Any) -> Any:
        """Return a label as a literal: integers exactly, other numbers as doubles."""
        if isinstance(label, int) and not isinstance(label, bool):
            if not is_exact_integer(label, self.dialect):
                raise ValueError(f"{self.dialect} cannot return the label {label}: its integers are smaller")
            return self.integer(label)
        if isinstance(label, float):
            number = self._number(label)
            return number if isinstance(number, self.exp.Cast) else self._cast(number, "double")
        return self.value(label)

    def integer(self, value: int) -> Any:
        """Return an integer, which may be negative, as a literal."""
        literal = self.whole(abs(value))
        return self.exp.Neg(this=literal) if value < 0 else literal

    def _number(self, value: float | int) -> Any:
        """Return a number as a literal that is compared exactly."""
        exp, text = self.exp, exact_text(value)
        if self.dialect == "sqlite":
            text = text if _short_enough(text) else _as_product(float(value))
        literal = exp.Literal(this=text.lstrip("-"), is_string=False)
        literal = exp.Neg(this=literal) if text.startswith("-") else literal
        with np.errstate(over="ignore"):
            plain = self.dialect in _sql_dialects.PLAIN_NUMBERS or (
                float(np.float32(value)) == value and abs(value) < 2**31
            )
        return literal if plain else self._cast(literal, "double")

    def _date(self, value: datetime.date) -> Any:
        """Return a date as a literal."""
        exp = self.exp
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime(value.year, value.month, value.day)
        zoned = value.tzinfo is not None
        date = value.astimezone(datetime.UTC).replace(tzinfo=None) if zoned else value
        if self.dialect == "sqlite":
            return exp.Literal.string(sqlite_text(date))
        text = exp.Literal.string(date.isoformat(sep=" ") + ("+00:00" if zoned else ""))
        return self._cast(text, "timestamptz" if zoned else "timestamp")

    def double(self, number: Any) -> Any:
        """Return a number, or an expression, as a double: many databases read a number with a point as a decimal."""
        return self._cast(self.text_of(number) if isinstance(number, float) else number, "double")

    def bigint(self, expression: Any) -> Any:
        """Return an expression as a large integer."""
        return self._cast(expression, "bigint")

    def text_of(self, number: float) -> Any:
        """Return a number as a literal with its exact text."""
        return self.exp.Literal(this=exact_text(number), is_string=False)

    def case(self, pairs: Sequence[tuple[Any, Any]], otherwise: Any = None) -> Any:
        """Return CASE WHEN test THEN value ... ELSE otherwise END; only the last value if there are no pairs."""
        if not pairs:
            return self.exp.Null() if otherwise is None else otherwise
        ifs = [self.exp.If(this=test, true=value) for test, value in pairs]
        return self.exp.Case(ifs=ifs) if otherwise is None else self.exp.Case(ifs=ifs, default=otherwise)

    def whole(self, number: int) -> Any:
        """Return an integer that is not negative as a literal."""
        if number not in self._integers:
            self._integers[number] = self.exp.Literal(this=str(number), is_string=False)
        return self._integers[number]

    def one_of(self, column: Any, numbers: Sequence[int]) -> Any:
        """Return the test whether a column is one of some integers."""
        return self.exp.In(this=column, expressions=[self.whole(number) for number in numbers])


def _database_name(name: Hashable, given: Mapping[Hashable, str]) -> str:
    """Return the name of a column in the database."""
    text = given.get(name, name if isinstance(name, str) else str(name))
    return checked_text(f"the column of {name!r}", text)


def _short_enough(text: str) -> bool:
    """Return whether SQLite reads a number exactly: at most 15 digits, and neither very large nor very small."""
    digits, _, power = text.lstrip("-").partition("e")
    return len(digits.replace(".", "").strip("0")) <= 15 and abs(int(power or 0)) <= 15 and len(digits) <= 17


def _as_product(value: float) -> str:
    """Return a number as an integer times or divided by powers of two, which is exact in every step."""
    mantissa, power = np.frexp(abs(value))
    whole, power = int(mantissa * 2**53), int(power) - 53
    while whole and whole % 2 == 0:
        whole, power = whole // 2, power + 1
    sign, factor = ("*", power) if power > 0 else ("/", -power)
    text = f"{whole}.0"
    while factor > 0:
        text += f" {sign} {2 ** min(factor, 49)}.0"
        factor -= 49
    return ("-" if value < 0 else "") + f"({text})"
