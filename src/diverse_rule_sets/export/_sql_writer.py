"""Conditions and values in one dialect of SQL."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.tables import NUMBER
from diverse_rule_sets.export import _sql_dialects
from diverse_rule_sets.export._values import check_known, compared_values, exact_text, kind_of_values
from diverse_rule_sets.model._conditions import Condition, Equals
from diverse_rule_sets.model._rules import Rule, RuleSet


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
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(source))


class SqlWriter:
    """Writes conditions and values in one dialect."""

    def __init__(self, rule_set: RuleSet, dialect: str, columns: dict[Hashable, str]) -> None:
        self.exp = sqlglot_expressions()
        self.dialect = dialect
        compared = {name: kind_of_values(rule_set, name) for name in rule_set.columns}
        self._numbers = {name for name, kind in compared.items() if NUMBER in (kind, rule_set.kind(name))}
        self._large = {name for name in self._numbers if _beyond_exact(rule_set, name)}
        names = {name: self._database_name(name, columns) for name in rule_set.columns}
        fold = str if dialect in _sql_dialects.CASE_SENSITIVE else str.casefold
        folded = [fold(text) for text in names.values()]
        same = [text for text in names.values() if folded.count(fold(text)) > 1]
        if same:
            raise ValueError(
                f"the columns {same} would be one column in a database; give them different names with columns={{...}}"
            )
        self._columns = {name: self._column(name, text) for name, text in names.items()}

    @staticmethod
    def _database_name(name: Hashable, given: dict[Hashable, str]) -> str:
        """Return the name of a column in the database."""
        text = given.get(name, name if isinstance(name, str) else str(name))
        return checked_text(f"the column of {name!r}", text)

    def _column(self, name: Hashable, text: str) -> Any:
        """Return a column; as doubles if integers are compared with very large numbers, as in this package."""
        column = column_of(self.exp, text, "r")
        return self.exp.cast(column, "double") if name in self._large else column

    def covers(self, rule: Rule) -> Any:
        """Return the test whether a rule covers a record."""
        tests = [self._condition(condition) for condition in rule.conditions]
        return self.exp.and_(*tests, copy=False) if tests else self._constant(1)

    def _constant(self, truth: int) -> Any:
        """Return a test that is always true or always false; the word TRUE could be the name of a column."""
        return self.exp.EQ(this=self.whole(1), expression=self.whole(truth))

    def _condition(self, condition: Condition) -> Any:
        check_known(condition, "SQL")
        column = self._columns[condition.column].copy()
        number = condition.column in self._numbers
        if condition.holds_if_missing:
            return self._missing(column, number)
        if condition.comparisons:
            return self._compare(column, condition)
        return self._exclude_nan(self._among(column, condition), column, number and condition.excludes)

    def _missing(self, column: Any, number: bool) -> Any:
        exp = self.exp
        null = exp.Is(this=column, expression=exp.Null())
        if not number or self._nan is None:
            return null
        return exp.paren(exp.or_(null, exp.EQ(this=column.copy(), expression=self._nan)))

    def _compare(self, column: Any, condition: Condition) -> Any:
        exp = self.exp
        makers = {">": exp.GT, ">=": exp.GTE, "<": exp.LT, "<=": exp.LTE}
        sides = [
            makers[test](this=self._date_column(column.copy(), bound), expression=self.value(bound))
            for test, bound in condition.comparisons
        ]
        unbounded = all(test in (">", ">=") for test, _ in condition.comparisons)
        return self._exclude_nan(exp.and_(*sides, copy=False), column, condition.kind == NUMBER and unbounded)

    def _among(self, column: Any, condition: Condition) -> Any:
        """Return the test whether a value is one of the listed values, or neither missing nor one of them."""
        exp, values = self.exp, condition.values_named
        if not values:
            known = exp.Not(this=exp.Is(this=column, expression=exp.Null()))
            return known if condition.excludes else self._constant(0)
        column = self._date_column(column, values[0])
        if isinstance(condition, Equals):
            return exp.EQ(this=column, expression=self.value(condition.value))
        among = exp.In(this=column, expressions=[self.value(value) for value in values])
        return exp.Not(this=among) if condition.excludes else among

    @property
    def _nan(self) -> Any:
        """NaN in the dialect; None if NaN is never true in a comparison."""
        if self.dialect not in _sql_dialects.NAN_IS_LARGEST:
            return None
        return self.exp.cast(self.exp.Literal.string("NaN"), "double")

    def _exclude_nan(self, test: Any, column: Any, number: bool) -> Any:
        """Return the test, and for numbers also that the value is not NaN, if large numbers pass the test."""
        if not number or self._nan is None:
            return test
        return self.exp.and_(test, self.exp.NEQ(this=column.copy(), expression=self._nan))

    def _date_column(self, column: Any, value: Any) -> Any:
        """Return the column in a form to compare with a date: SQLite stores dates as text in several forms."""
        if self.dialect != "sqlite" or not isinstance(value, datetime.date):
            return column
        form = self.exp.Literal.string("%Y-%m-%d %H:%M:%f")
        return self.exp.Anonymous(this="STRFTIME", expressions=[form, column])

    def value(self, value: Any) -> Any:
        """Return a value as a literal."""
        exp = self.exp
        if isinstance(value, bool):
            if self.dialect in _sql_dialects.BITS:
                return exp.Literal.number(int(value))
            return exp.true() if value else exp.false()
        if isinstance(value, str):
            return exp.Literal.string(_check_writable(value, "the text"))
        if isinstance(value, datetime.date):
            return self._date(value)
        return self._number(float(value) if isinstance(value, float) or abs(value) >= 2**53 else int(value))

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
        return literal if plain else exp.cast(literal, "double")

    def _date(self, value: datetime.date) -> Any:
        """Return a date as a literal."""
        exp = self.exp
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime(value.year, value.month, value.day)
        zoned = value.tzinfo is not None
        date = value.astimezone(datetime.UTC).replace(tzinfo=None) if zoned else value
        if self.dialect == "sqlite":
            return exp.Literal.string(date.isoformat(sep=" ", timespec="milliseconds"))
        text = exp.Literal.string(date.isoformat(sep=" ") + ("+00:00" if zoned else ""))
        return exp.cast(text, "timestamptz" if zoned else "timestamp")

    def double(self, number: Any) -> Any:
        """Return a number, or an expression, as a double: many databases read a number with a point as a decimal."""
        expression = self.exp.Literal.number(exact_text(number)) if isinstance(number, float) else number
        return self.exp.cast(expression, "double", copy=False)

    def case(self, pairs: Sequence[tuple[Any, Any]], otherwise: Any = None) -> Any:
        """Return CASE WHEN test THEN value ... ELSE otherwise END; only the last value if there are no pairs."""
        if not pairs:
            return self.exp.Null() if otherwise is None else otherwise
        case = self.exp.Case(ifs=[self.exp.If(this=test, true=value) for test, value in pairs])
        return case if otherwise is None else case.else_(otherwise, copy=False)

    def whole(self, number: int) -> Any:
        """Return an integer as a literal."""
        return self.exp.Literal.number(int(number))

    def one_of(self, column: Any, numbers: Sequence[int]) -> Any:
        """Return the test whether a column is one of some integers."""
        return self.exp.In(this=column, expressions=[self.whole(number) for number in numbers])


def _beyond_exact(rule_set: RuleSet, column: Hashable) -> bool:
    """Return whether a column is compared with a number so large that not every integer is a double."""
    return any(abs(value) >= 2**53 for value in compared_values(rule_set, column))


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
