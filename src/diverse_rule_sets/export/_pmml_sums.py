"""Ballots in PMML: derived fields for the covering rules, the sum of their ballots per class, and the winning class."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping

from diverse_rule_sets.export._pmml_expressions import (
    add,
    all_hold,
    apply,
    choose,
    constant,
    derive,
    largest_position,
    ref,
)
from diverse_rule_sets.export._pmml_parts import Element, simple, unused
from diverse_rule_sets.model._rules import RuleSet

# The value of the winner if no rule covers the record.
NO_CLASS = -1


class Sums:
    """The derived fields of a rule set that adds up ballots, and tests and expressions that use them.

    Parameters
    ----------
    rule_set : a rule set whose ``decision`` has ballots
    fields : the name of each column in the document, derived columns included
    used_names : names that no derived field may have
    """

    def __init__(self, rule_set: RuleSet, fields: Mapping[Hashable, str], used_names: Collection[str]) -> None:
        self._rule_set, self._fields = rule_set, fields
        self._decision, self._evidence = rule_set.decision, rule_set.evidence
        self._covers = [unused(f"covers({j + 1})", used_names) for j in range(len(rule_set.rules))]
        self._sums = [unused(f"sum({k + 1})", used_names) for k in range(len(rule_set.classes))]
        self._parts = [unused(f"part({k + 1})", used_names) for k in range(len(rule_set.classes))]
        self._largest, self._winner, self._total = (unused(name, used_names) for name in ("largest", "winner", "total"))

    def declare(self, local: Element) -> None:
        """Add the fields to the transformations of a model."""
        for name, rule in zip(self._covers, self._rule_set.rules, strict=True):
            derive(local, name, choose(all_hold(rule.conditions, self._fields), constant(1.0), constant(0.0)))
        ballots = self._decision.ballots
        assert ballots is not None
        for name, weights in zip(self._sums, ballots.T.tolist(), strict=True):
            terms = [(ref(field), float(n)) for field, n in zip(self._covers, weights, strict=True) if n]
            derive(local, name, add([apply("*", field, constant(n)) for field, n in terms]))
        derive(local, self._largest, apply("max", *map(ref, self._sums)))
        derive(local, self._winner, self._find_winner())
        if self._rule_set.adds_counts:
            self._declare_parts(local)

    def _find_winner(self) -> Element:
        """Return an expression: the class with the largest sum, of equals the preferred one; or NO_CLASS."""
        winner = largest_position(self._sums, self._largest, [int(k) for k in self._decision.preference])
        covered = apply("greaterThan", add([ref(name) for name in self._covers]), constant(0.0))
        return choose(covered, winner, constant(float(NO_CLASS)))

    def _declare_parts(self, local: Element) -> None:
        """Add fields for the smoothed and weighted counts of each class, and for their sum."""
        evidence, scale = self._evidence, self._decision.scale
        assert scale is not None
        factors, added = evidence.class_weights / scale, evidence.class_weights * evidence.added
        for k, name in enumerate(self._parts):
            weighted = apply("*", ref(self._sums[k]), constant(float(factors[k])))
            derive(local, name, apply("+", weighted, constant(float(added[k]))))
        derive(local, self._total, add([ref(name) for name in self._parts]))

    def decides(self, j: int) -> list[Element]:
        """Return the tests whether a rule decides, if no rule with a higher priority does."""
        return [self.wins(int(self._decision.labels[j])), simple(self._covers[j], "equal", 1)]

    def wins(self, k: int) -> Element:
        """Return the test whether a class wins, or with ``NO_CLASS`` whether no rule covers the record."""
        return simple(self._winner, "equal", k)

    def share(self, k: int, alone: Element) -> Element:
        """Return the probability of a class: of all covering rules together, or ``alone`` if no rule covers."""
        together = choose(
            apply("greaterThan", ref(self._total), constant(0.0)),
            apply("/", ref(self._parts[k]), ref(self._total)),
            constant(float(self._evidence.unknown[k])),
        )
        return choose(apply("equal", ref(self._winner), constant(float(NO_CLASS))), alone, together)
