"""What all kinds of Python source share: literals, names of variables, the tables that answers are looked up in."""

from __future__ import annotations

import datetime
import itertools
import math
import pprint
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any

from diverse_rule_sets._input.tables import plain
from diverse_rule_sets.export._values import check_known
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._rules import Rule, RuleSet


def literal(value: Any) -> str:
    """Return a value as source: only what ``repr`` writes without a call."""
    value = plain(value)
    if isinstance(value, tuple):
        return "(" + "".join(f"{literal(part)}, " for part in value) + ")"
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    if value is None or (type(value) in (str, int, float, bool, bytes) and value == value):
        return repr(value)
    raise ValueError(f"Python source cannot hold {value!r} ({type(value).__name__}) without an import")


def moment_parts(value: datetime.date) -> tuple[int, ...]:
    """Return a moment as whole numbers: year, month, day, hour, minute, second, microsecond; with a zone, in UTC."""
    if not isinstance(value, datetime.datetime):
        return (value.year, value.month, value.day, 0, 0, 0, 0)
    moment = value.astimezone(datetime.UTC) if value.tzinfo is not None else value
    return (*moment.timetuple()[:6], moment.microsecond)


def _assignment(name: str, values: Any) -> str:
    """Return a table of numbers as an assignment."""
    return f"{name} = {pprint.pformat(values, width=110, compact=True)}"


class SourceWriter(ABC):
    """Writes one kind of source: conditions, and what stands around them.

    The tests of a value ``{x}``: that it is missing, that it is not, and that it is above or below a bound, which a
    missing one never is. Then how a test is negated, how several are joined, and a test that always comes out true.
    """

    missing: str
    known: str
    compared: str
    negation = "~"
    both = " & "
    always: str

    def __init__(self, rule_set: RuleSet, prefix: str) -> None:
        self.rule_set = rule_set
        self.prefix = prefix
        self.names = self._variables()

    def _variables(self) -> dict[Hashable, str]:
        """Return a variable for each column, with a name that reminds of it."""
        names: dict[Hashable, str] = {}
        for column in self.rule_set.columns:
            words = re.sub(r"[^a-zA-Z0-9]+", "_", str(column)).strip("_").lower()[:30]
            name = f"x_{words or 'column'}"
            taken, further = set(names.values()), (f"{name}_{k}" for k in itertools.count(2))
            names[column] = next(n for n in itertools.chain((name,), further) if n not in taken)
        return names

    def covers(self, rule: Rule) -> str:
        """Return the test whether a rule covers a record."""
        tests = [test for condition in rule.conditions for test in self.tests(condition)]
        return self.both.join(tests) if tests else self.always

    def tests(self, condition: Condition) -> list[str]:
        """Return the tests that all must come out true."""
        check_known(condition, "Python")
        x = self.names[condition.column]
        if condition.holds_if_missing:
            return [self.missing.format(x=x)]
        if condition.comparisons:
            return [self.compared.format(x=x, test=test, bound=self.value(b)) for test, b in condition.comparisons]
        among = self.among(x, condition.values_named)
        return [self.known.format(x=x), f"{self.negation}{among}"] if condition.excludes else [among]

    @abstractmethod
    def value(self, value: Any) -> str:
        """Return a value as source."""

    @abstractmethod
    def among(self, x: str, values: Sequence[Any]) -> str:
        """Return the test whether a value is one of some, which may be none; a missing one is not."""

    @abstractmethod
    def source(self, name: str) -> str:
        """Return the whole source."""

    def labels(self) -> list[Any]:
        """Return the label of each rule and fallback, and of the default, which comes first."""
        return [self.rule_set.default, *(rule.label for rule in self.rule_set.all_rules)]

    def shares(self) -> list[list[float]]:
        """Return the probabilities of each rule and fallback, and of the default, which comes first."""
        shares = self.rule_set.rule_probabilities.tolist()
        return [shares[-1], *shares[:-1]]

    def tables(self) -> str:
        """Return the tables that the source looks things up in."""
        rule_set, decision = self.rule_set, self.rule_set.decision
        lines = [
            _assignment("CLASSES", list(rule_set.classes)),
            "# Of the default, then of each rule and fallback as numbered.",
            _assignment("LABELS", self.labels()),
            _assignment("PROBABILITIES", self.shares()),
            "# The order in which rules are asked.",
            _assignment("ORDER", [j + 1 for j in decision.order.tolist()]),
        ]
        if decision.ballots is not None:
            lines += [
                "# What each rule adds to each class; of equal sums the first of the preferred classes wins.",
                _assignment("BALLOTS", decision.ballots.tolist()),
                _assignment("PREFERENCE", decision.preference.tolist()),
            ]
        if rule_set.adds_counts:
            evidence = rule_set.evidence
            lines += [
                "# Class counts of each rule, what is added to their sum, weights of the classes.",
                _assignment("COUNTS", evidence.counts.astype(int).tolist()),
                _assignment("ADDED", evidence.added.tolist()),
                _assignment("WEIGHTS", evidence.class_weights.tolist()),
                _assignment("UNKNOWN", evidence.unknown.tolist()),
            ]
        return "\n".join(lines)

    def listed(self, rules: tuple[Rule, ...]) -> str:
        """Return the tests of some rules as a list."""
        return "[\n" + "".join(f"        {self.covers(rule)},\n" for rule in rules) + "    ]"
