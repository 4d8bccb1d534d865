"""Ballots in PMML: derived fields tell which rules fire, add up what these give each class, and name the winner."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Hashable
from typing import Any

from diverse_rule_sets.export._pmml_parts import Element, Test, alternatives, child, element, simple, unused, value_text
from diverse_rule_sets.model._rules import Rule, RuleSet

# What the winner is called where no rule fires.
NOBODY = -1


class Sums:
    """The derived fields of a rule set that adds up ballots, and what is asked of them.

    Parameters
    ----------
    rule_set : one whose ``decision`` has ballots
    fields : the name of each column in the document
    taken : names that no derived field may have
    """

    def __init__(self, rule_set: RuleSet, fields: dict[Hashable, str], taken: Collection[str]) -> None:
        self._rule_set, self._fields = rule_set, fields
        self._fires = [unused(f"fires({j + 1})", taken) for j in range(len(rule_set.rules))]
        self._sums = [unused(f"sum({k + 1})", taken) for k in range(len(rule_set.classes))]
        self._parts = [unused(f"part({k + 1})", taken) for k in range(len(rule_set.classes))]
        self._largest, self._winner, self._total = (unused(name, taken) for name in ("largest", "winner", "total"))

    def declare(self, model: Element) -> None:
        """Add the fields to a model."""
        local = child(model, "LocalTransformations")
        for name, rule in zip(self._fires, self._rule_set.rules, strict=True):
            _derive(local, name, _apply("if", self._covers(rule), _constant(1.0), _constant(0.0)))
        ballots = self._rule_set.decision.ballots
        assert ballots is not None
        for name, given in zip(self._sums, ballots.T.tolist(), strict=True):
            weighed = [(_ref(fires), float(n)) for fires, n in zip(self._fires, given, strict=True) if n]
            _derive(local, name, _added([_apply("*", fires, _constant(n)) for fires, n in weighed]))
        _derive(local, self._largest, _apply("max", *map(_ref, self._sums)))
        _derive(local, self._winner, self._named_winner())
        if self._rule_set.adds_counts:
            self._declare_parts(local)

    def _covers(self, rule: Rule) -> Element:
        """Return whether a rule covers a record."""
        needed = [
            _combined("or", [_compared(self._fields[condition.column], test) for test in tests])
            for condition in rule.conditions
            for tests in alternatives(condition)
        ]
        return _combined("and", needed)

    def _named_winner(self) -> Element:
        """Return the first of the preferred classes that has the largest sum; nobody where no rule fires."""
        preferred = [int(k) for k in self._rule_set.decision.preference]
        named = _constant(float(preferred[-1]))
        for k in reversed(preferred[:-1]):
            leads = _apply("equal", _ref(self._sums[k]), _ref(self._largest))
            named = _apply("if", leads, _constant(float(k)), named)
        covered = _apply("greaterThan", _added([_ref(name) for name in self._fires]), _constant(0.0))
        return _apply("if", covered, named, _constant(float(NOBODY)))

    def _declare_parts(self, local: Element) -> None:
        """Add what each class has of the probability, its counts smoothed and weighted, and the sum of all."""
        evidence, scale = self._rule_set.evidence, self._rule_set.decision.scale
        assert scale is not None
        factors, added = evidence.class_weights / scale, evidence.class_weights * evidence.added
        for k, name in enumerate(self._parts):
            counted = _apply("*", _ref(self._sums[k]), _constant(float(factors[k])))
            _derive(local, name, _apply("+", counted, _constant(float(added[k]))))
        _derive(local, self._total, _added([_ref(name) for name in self._parts]))

    def speaks(self, j: int) -> list[Element]:
        """Return the tests whether a rule speaks, where none that is asked earlier does."""
        return [self.wins(int(self._rule_set.decision.labels[j])), simple(self._fires[j], "equal", 1)]

    def wins(self, k: int) -> Element:
        """Return the test whether a class wins, or with ``NOBODY`` whether none does."""
        return simple(self._winner, "equal", k)

    def share(self, k: int, alone: Element) -> Element:
        """Return the probability of a class: of all rules that fire together, or of who speaks alone if none does."""
        together = _apply(
            "if",
            _apply("greaterThan", _ref(self._total), _constant(0.0)),
            _apply("/", _ref(self._parts[k]), _ref(self._total)),
            _constant(float(self._rule_set.evidence.unknown[k])),
        )
        return _apply("if", _apply("equal", _ref(self._winner), _constant(float(NOBODY))), alone, together)


def _derive(local: Element, name: str, expression: Element) -> None:
    child(local, "DerivedField", expression, name=name, optype="continuous", dataType="double")


def _ref(field: str) -> Element:
    return element("FieldRef", field=field)


def _constant(value: Any) -> Element:
    data_types = {bool: "boolean", datetime.datetime: "dateTime", datetime.date: "dateTime"}
    made = element("Constant", dataType=data_types.get(type(value), "double"))
    made.text = value_text(value)
    return made


def _apply(function: str, *arguments: Element, **attributes: Any) -> Element:
    return element("Apply", *arguments, function=function, **attributes)


def _added(terms: list[Element]) -> Element:
    return _apply("sum", *terms) if terms else _constant(0.0)


def _combined(operator: str, tests: list[Element]) -> Element:
    if not tests:
        return _constant(operator == "and")
    return tests[0] if len(tests) == 1 else _apply(operator, *tests)


def _compared(field: str, test: Test) -> Element:
    """Return one comparison as an expression; what is missing is like nothing and unlike nothing."""
    operator, value = test
    if value is None:
        return _apply(operator, _ref(field))
    if isinstance(value, str):  # in an attribute: the ends of lines in an element's text are not kept
        alike = element("NormDiscrete", field=field, value=value, mapMissingTo=0)
        return _apply(operator, alike, _constant(1.0))
    return _apply(operator, _ref(field), _constant(value), mapMissingTo=False)
