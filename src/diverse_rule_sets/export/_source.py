"""Functions for all Python exports: literals, names of variables, and lookup tables."""

from __future__ import annotations

import datetime
import itertools
import math
import pprint
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

from diverse_rule_sets._input.values import BOOLEAN, BYTES, DATE, INSTANT, NUMBER, TEXT, plain, type_of
from diverse_rule_sets.export._source_points import PointSource
from diverse_rule_sets.export._values import check_known, compared_values
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._counts import as_counts
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import ScorecardColumn


def literal(value: Any) -> str:
    """Return a value as source, if its ``repr`` is a literal."""
    value = plain(value)
    if isinstance(value, tuple):
        return "(" + "".join(f"{literal(part)}, " for part in value) + ")"
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    if value is None or (type(value) in (str, int, float, bool, bytes) and value == value):
        return repr(value)
    raise ValueError(f"Python source cannot represent {value!r} ({type(value).__name__}) without an import")


def date_parts(value: datetime.date) -> tuple[int, ...]:
    """Return a date as integers: year, month, day, hour, minute, second, microsecond; in UTC if it has a time zone."""
    if not isinstance(value, datetime.datetime):
        return (value.year, value.month, value.day, 0, 0, 0, 0)
    date = value.astimezone(datetime.UTC) if value.tzinfo is not None else value
    return (*date.timetuple()[:6], date.microsecond)


def _assignment(name: str, values: Any) -> str:
    """Return an assignment of a constant."""
    return f"{name} = {pprint.pformat(values, width=110, compact=True)}"


# Source of functions that both the function of a record and the function of a pandas table need.
VALUE_HELPERS = '''

def _known(value):
    """Return a value; None if it is missing."""
    kind = type(value).__name__
    if value is None or kind in ("NAType", "NaTType"):
        return None
    if kind == "Decimal":
        return None if value.is_nan() else value
    if kind == "datetime64":
        return value.astype("datetime64[us]").item()
    return value if value == value else None


def _parts(value, utc):
    """Return a date or time as whole numbers that compare."""
    if not hasattr(value, "hour"):
        return (value.year, value.month, value.day, 0, 0, 0, 0)
    if not utc:
        return (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    try:
        return (*value.utctimetuple()[:6], value.microsecond)
    except OverflowError:  # outside the years 1 to 9999 in UTC
        return (10000,) if value.year > 5000 else (0,)


def _typed(value):
    """Return a value with its type, because True equals 1 in Python; text is unchanged; None if it is missing."""
    value = _known(value)
    if value is None or isinstance(value, (str, bytes)):
        return value
    if type(value).__name__ in ("bool", "bool_"):
        return ("boolean", bool(value))
    if hasattr(value, "year"):
        utc = getattr(value, "tzinfo", None) is not None
        return ("date (UTC)" if utc else "date", _parts(value, utc))
    return ("number", int(value) if getattr(value, "denominator", 0) == 1 else float(value))

'''


def number_literal(value: Any) -> str:
    """Return a value as source; a whole number as a float if the column is compared in floats that may round it."""
    value = plain(value)
    is_large = type(value) is int and abs(value) >= 2**53
    return literal(float(value) if is_large else value)


def typed_literal(value: Any) -> str:
    """Return a value as the source of what ``_typed`` returns for it."""
    if isinstance(value, str | bytes):
        return literal(value)
    inner = date_parts(value) if isinstance(value, datetime.date) else value
    return f"({type_of(value)!r}, {literal(inner)})"


class SourceWriter(ABC):
    """Writes one kind of source: the conditions, and the code around them.

    ``missing``, ``known`` and ``compared`` are the tests whether a value ``{x}`` is missing, is not missing, and is
    above or below a bound, which is false for a missing value. ``negation`` negates a test, ``both`` joins two tests,
    and ``always`` is a test that is always true. ``base`` and ``term`` are the terms of a sum of points: ``{n}`` points
    always, and ``{n}`` points if ``{test}`` is true.
    """

    missing: str
    known: str
    compared: str
    negation = "~"
    both = " & "
    always: str
    base: str
    term: str

    def __init__(self, rule_set: RuleSet, prefix: str) -> None:
        self.rule_set = rule_set
        self.points = PointSource(rule_set)
        self.prefix = prefix
        self.names = self._variables()
        # The variables whose values have several types, or types that Python compares otherwise than this package.
        self.typed = {x for column, x in self.names.items() if self._is_typed(column)}
        self.codes = rule_set.codes_read

    def _variables(self) -> dict[Hashable, str]:
        """Return the name of a variable for each column, similar to the name of the column."""
        names: dict[Hashable, str] = {}
        for column in self.rule_set.columns:
            text = re.sub(r"[^a-zA-Z0-9]+", "_", str(column)).strip("_").lower()[:30]
            name = f"x_{text or 'column'}"
            used, numbered = set(names.values()), (f"{name}_{k}" for k in itertools.count(2))
            names[column] = next(n for n in itertools.chain((name,), numbered) if n not in used)
        return names

    def _is_typed(self, column: Hashable) -> bool:
        """Return whether the values of a column must be compared together with their types."""
        if self.rule_set.expected_kind(column) in (NUMBER, DATE, INSTANT, TEXT, BOOLEAN, BYTES):
            return False
        return any(not isinstance(value, str | bytes) for value in compared_values(self.rule_set, column))

    def _may_occur(self, value: Any, column: Hashable) -> bool:
        """Return whether a column may hold a value; in Python a number could equal a value of another type."""
        kind = self.rule_set.expected_kind(column)
        return type_of(value) == kind or kind not in (NUMBER, DATE, INSTANT, TEXT, BOOLEAN, BYTES)

    def without_codes(self, column: Hashable, values: str) -> str:
        """Return the source of values in which codes for missing values are missing values."""
        codes = "".join(f"{typed_literal(code)}, " for code in self.codes.get(column, ()))
        return f"_without({values}, ({codes}))" if codes else values

    def covers(self, rule: Rule) -> str:
        """Return the test whether a rule covers a record."""
        tests = [test for condition in rule.conditions for test in self.tests(condition)]
        return self.both.join(tests) if tests else self.always

    def tests(self, condition: Condition) -> list[str]:
        """Return the tests of a condition, which must all be true."""
        check_known(condition, "Python")
        if isinstance(condition.column, ScorecardColumn):
            return self.points.tests(condition)
        x = self.names[condition.column]
        if condition.holds_if_missing:
            return [self.missing.format(x=x)]
        if condition.comparisons:
            return [self.compared.format(x=x, test=test, bound=self.value(b)) for test, b in condition.comparisons]
        among = self.among(x, [value for value in condition.values_named if self._may_occur(value, condition.column)])
        return [self.known.format(x=x), f"{self.negation}{among}"] if condition.excludes else [among]

    def point_terms(self) -> dict[str, list[str]]:
        """Return the terms of each sum of points, by the name of its variable."""
        return self.points.sums(self.base, self.term, lambda condition: self.both.join(self.tests(condition)))

    def point_variables(self) -> str:
        """Return the assignments of the variables of scorecards."""
        sums = {name: "sum([" + ", ".join(terms) + "])" for name, terms in self.point_terms().items()}
        return "".join(f"    {name} = {value}\n" for name, value in (sums | self.points.compared()).items())

    @abstractmethod
    def value(self, value: Any) -> str:
        """Return a value as source."""

    @abstractmethod
    def among(self, x: str, values: Sequence[Any]) -> str:
        """Return the test whether a value is one of some values; false for a missing value and without values."""

    @abstractmethod
    def source(self, name: str) -> str:
        """Return the whole source."""

    def labels(self) -> list[Any]:
        """Return the default label, then the label of each rule and fallback rule."""
        return [self.rule_set.default, *(rule.label for rule in self.rule_set.all_rules)]

    def shares(self) -> list[list[float]]:
        """Return the probabilities of the default label, then of each rule and fallback rule, then those by points."""
        shares = self.rule_set.rule_probabilities.tolist()
        return [shares[-1], *shares[:-1], *self.points.rows()]

    def tables(self) -> str:
        """Return the lookup tables as source."""
        rule_set, decision = self.rule_set, self.rule_set.decision
        lines = [
            _assignment("CLASSES", list(rule_set.classes)),
            "# Of the default label, then of each rule and fallback rule in the order of their numbers.",
            _assignment("LABELS", self.labels()),
            _assignment("PROBABILITIES", self.shares()),
            "# The numbers of the rules, sorted by priority.",
            _assignment("ORDER", [j + 1 for j in decision.order.tolist()]),
        ]
        if self.points.follows:
            lines += [
                "# For each rule that follows points: what to add to its points to get the row of PROBABILITIES.",
                _assignment("BY_POINTS", self.points.offsets(1 + len(rule_set.all_rules))),
            ]
        if decision.ballots is not None:
            lines += [
                "# What each rule adds to the sum of each class; of equal sums the first class in PREFERENCE wins.",
                _assignment("BALLOTS", decision.ballots.tolist()),
                _assignment("PREFERENCE", decision.preference.tolist()),
            ]
        if rule_set.adds_counts:
            evidence = rule_set.evidence
            lines += [
                "# Class counts of each rule, numbers that smoothing adds to their sum, weights of the classes.",
                _assignment("COUNTS", [as_counts(row) for row in evidence.counts]),
                _assignment("ADDED", evidence.added.tolist()),
                _assignment("WEIGHTS", evidence.class_weights.tolist()),
                _assignment("UNKNOWN", evidence.unknown.tolist()),
            ]
        return "\n".join(lines)

    def list_tests(self, rules: tuple[Rule, ...]) -> str:
        """Return the tests of some rules as a list."""
        return "[\n" + "".join(f"        {self.covers(rule)},\n" for rule in rules) + "    ]"
