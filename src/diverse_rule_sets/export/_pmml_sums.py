"""Ballots in PMML: derived fields for the covering rules, the sum of their ballots per class, and the winning class."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Hashable
from typing import Any

from diverse_rule_sets.export._pmml_parts import Element, Test, alternatives, child, element, simple, unused, value_text
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet

# The value of the winner if no rule covers the record.
NO_CLASS = -1


class Sums:
    """The derived fields of a rule set that adds up ballots, and tests and expressions that use them.

    Parameters
    ----------
    rule_set : a rule set whose ``decision`` has ballots
    fields : the name of each column in the document
    used_names : names that no derived field may have
    """

    def __init__(self, rule_set: RuleSet, fields: dict[Hashable, str], used_names: Collection[str]) -> None:
        self._rule_set, self._fields = rule_set, fields
        self._decision, self._evidence = rule_set.decision, rule_set.evidence
        self._covers = [unused(f"covers({j + 1})", used_names) for j in range(len(rule_set.rules))]
        self._sums = [unused(f"sum({k + 1})", used_names) for k in range(len(rule_set.classes))]
        self._parts = [unused(f"part({k + 1})", used_names) for k in range(len(rule_set.classes))]
        self._largest, self._winner, self._total = (unused(name, used_names) for name in ("largest", "winner", "total"))

    def declare(self, model: Element) -> None:
        """Add the fields to a model."""
        local = child(model, "LocalTransformations")
        for name, rule in zip(self._covers, self._rule_set.rules, strict=True):
            _derive(local, name, _apply("if", self._test(rule), _constant(1.0), _constant(0.0)))
        ballots = self._decision.ballots
        assert ballots is not None
        for name, weights in zip(self._sums, ballots.T.tolist(), strict=True):
            terms = [(_ref(field), float(n)) for field, n in zip(self._covers, weights, strict=True) if n]
            _derive(local, name, _sum([_apply("*", field, _constant(n)) for field, n in terms]))
        _derive(local, self._largest, _apply("max", *map(_ref, self._sums)))
        _derive(local, self._winner, self._find_winner())
        if self._rule_set.adds_counts:
            self._declare_parts(local)

    def _test(self, rule: Rule) -> Element:
        """Return an expression: whether a rule covers a record."""
        tests = [
            _combined("or", [_compare(self._fields[condition.column], test) for test in some])
            for condition in rule.conditions
            for some in alternatives(condition)
        ]
        return _combined("and", tests)

    def _find_winner(self) -> Element:
        """Return an expression: the class with the largest sum, of equals the preferred one; or NO_CLASS."""
        preference = [int(k) for k in self._decision.preference]
        winner = _constant(float(preference[-1]))
        for k in reversed(preference[:-1]):
            leads = _apply("equal", _ref(self._sums[k]), _ref(self._largest))
            winner = _apply("if", leads, _constant(float(k)), winner)
        covered = _apply("greaterThan", _sum([_ref(name) for name in self._covers]), _constant(0.0))
        return _apply("if", covered, winner, _constant(float(NO_CLASS)))

    def _declare_parts(self, local: Element) -> None:
        """Add fields for the smoothed and weighted counts of each class, and for their sum."""
        evidence, scale = self._evidence, self._decision.scale
        assert scale is not None
        factors, added = evidence.class_weights / scale, evidence.class_weights * evidence.added
        for k, name in enumerate(self._parts):
            weighted = _apply("*", _ref(self._sums[k]), _constant(float(factors[k])))
            _derive(local, name, _apply("+", weighted, _constant(float(added[k]))))
        _derive(local, self._total, _sum([_ref(name) for name in self._parts]))

    def decides(self, j: int) -> list[Element]:
        """Return the tests whether a rule decides, if no rule with a higher priority does."""
        return [self.wins(int(self._decision.labels[j])), simple(self._covers[j], "equal", 1)]

    def wins(self, k: int) -> Element:
        """Return the test whether a class wins, or with ``NO_CLASS`` whether no rule covers the record."""
        return simple(self._winner, "equal", k)

    def share(self, k: int, alone: Element) -> Element:
        """Return the probability of a class: of all covering rules together, or ``alone`` if no rule covers."""
        together = _apply(
            "if",
            _apply("greaterThan", _ref(self._total), _constant(0.0)),
            _apply("/", _ref(self._parts[k]), _ref(self._total)),
            _constant(float(self._evidence.unknown[k])),
        )
        return _apply("if", _apply("equal", _ref(self._winner), _constant(float(NO_CLASS))), alone, together)


def _derive(local: Element, name: str, expression: Element) -> None:
    child(local, "DerivedField", expression, name=name, optype="continuous", dataType="double")


def _ref(field: str) -> Element:
    return element("FieldRef", field=field)


def _constant(value: Any) -> Element:
    data_type = "dateTime" if isinstance(value, datetime.date) else "boolean" if isinstance(value, bool) else "double"
    constant = element("Constant", dataType=data_type)
    constant.text = value_text(value)
    return constant


def _apply(function: str, *arguments: Element, **attributes: Any) -> Element:
    return element("Apply", *arguments, function=function, **attributes)


def _sum(terms: list[Element]) -> Element:
    return _apply("sum", *terms) if terms else _constant(0.0)


def _combined(operator: str, tests: list[Element]) -> Element:
    if not tests:
        return _constant(operator == "and")
    return tests[0] if len(tests) == 1 else _apply(operator, *tests)


def _compare(field: str, test: Test) -> Element:
    """Return one comparison as an expression; it is false for a missing value, whatever the operator."""
    operator, value = test
    if value is None:
        return _apply(operator, _ref(field))
    if isinstance(value, str):  # in an attribute: XML readers change line ends in the text of an element
        equal = element("NormDiscrete", field=field, value=value, mapMissingTo=0)
        return _apply(operator, equal, _constant(1.0))
    return _apply(operator, _ref(field), _constant(value), mapMissingTo=False)
