"""A SQL query that adds up ballots, in steps: which rules cover, sums of the classes, the winner, the deciding rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from diverse_rule_sets.export._sql_limits import check_n_columns
from diverse_rule_sets.export._sql_steps import Names, Outputs, Step, chain_steps, kept_columns
from diverse_rule_sets.export._sql_writer import SqlWriter, column_of
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet

_MAX_RULES = 1000


def decide_by_sums(
    rule_set: RuleSet, writer: SqlWriter, names: Names, source: Any, keep: str | list[str], first: Sequence[Step]
) -> Any:
    """Return a query that adds up ballots: flags of the rules, sums of the classes, the winner, the deciding rule.

    The steps ``first`` compute what the rules test.
    """
    if keep == "*":
        raise ValueError(
            f"keep must list columns, such as keep=['id'], if conflict is {rule_set.conflict!r}: the query has several "
            "steps, and '*' would also return their columns"
        )
    if len(rule_set) > _MAX_RULES:
        raise ValueError(f"at most {_MAX_RULES} rules can be added up in SQL, got {len(rule_set)}")
    check_n_columns(len(keep) + len(rule_set) + len(rule_set.classes) + 5, writer.dialect)
    exp, steps = writer.exp, _Steps(rule_set, writer, names)
    return chain_steps(
        writer,
        source,
        *first,
        ("f", [*kept_columns(exp, keep, "r"), *steps.flags()]),
        ("t", [*kept_columns(exp, "*", "f"), *steps.sums()]),
        ("w", [*kept_columns(exp, "*", "t"), steps.winner(), *steps.total()]),
        ("s", [*kept_columns(exp, "*", "w"), steps.deciding_rule()]),
        ("", [*kept_columns(exp, keep, "s"), *steps.columns()]),
        outputs=steps.outputs,
    )


class _Steps:
    """The steps of a query that adds up ballots."""

    def __init__(self, rule_set: RuleSet, writer: SqlWriter, names: Names) -> None:
        self._rule_set, self._writer, self._names, self._exp = rule_set, writer, names, writer.exp
        self._decision = rule_set.decision
        self._n_classes = len(rule_set.classes)
        self.outputs = Outputs(rule_set, writer, names)

    def _named(self, name: str, source: str) -> Any:
        return column_of(self._exp, f"{self._names.prefix}{name}", source)

    def _alias(self, expression: Any, name: str) -> Any:
        return self._exp.alias_(expression, f"{self._names.prefix}{name}", quoted=True, copy=False)

    def flags(self) -> list[Any]:
        """Return whether each rule covers the record, 1 or 0; and the number of the first covering fallback rule."""
        writer = self._writer
        one, none = writer.bigint(writer.whole(1)), writer.bigint(writer.whole(0))
        flags = [
            self._alias(writer.case([(writer.covers(rule), one)], none), f"f{j}")
            for j, rule in enumerate(self._rule_set.rules)
        ]
        fallbacks = [(writer.covers(rule), writer.whole(j + 1)) for j, rule in self._fallbacks()]
        return [*flags, self._alias(writer.bigint(writer.case(fallbacks)), "fallback")]

    def _fallbacks(self) -> list[tuple[int, Rule]]:
        return list(enumerate(self._rule_set.fallbacks, len(self._rule_set.rules)))

    def sums(self) -> list[Any]:
        """Return the sum of each class, and the number of rules that cover the record."""
        ballots = self._decision.ballots
        assert ballots is not None
        by_class = [
            self._alias(self._sum({j: int(ballots[j, k]) for j in np.flatnonzero(ballots[:, k]).tolist()}), f"s{k}")
            for k in range(self._n_classes)
        ]
        return [*by_class, self._alias(self._sum(dict.fromkeys(range(len(self._rule_set)), 1)), "n")]

    def _sum(self, weights: dict[int, int]) -> Any:
        """Return the sum of flags times weights."""
        exp, writer = self._exp, self._writer
        terms = [
            self._named(f"f{j}", "f")
            if weight == 1
            else exp.Mul(this=self._named(f"f{j}", "f"), expression=writer.whole(weight))
            for j, weight in weights.items()
        ]
        return writer.chain(exp.Add, terms) if terms else writer.bigint(writer.whole(0))

    def winner(self) -> Any:
        """Return the class with the largest sum; NULL if no rule covers the record."""
        exp, writer = self._exp, self._writer
        pairs = [(exp.EQ(this=self._named("n", "t"), expression=writer.whole(0)), exp.Null())]
        order = [int(k) for k in self._decision.preference]
        for position, k in enumerate(order[:-1]):
            others = [
                exp.GTE(this=self._named(f"s{k}", "t"), expression=self._named(f"s{i}", "t"))
                for i in order[position + 1 :]
            ]
            pairs.append((writer.all_of(others), writer.whole(k)))
        return self._alias(writer.case(pairs, writer.whole(order[-1])), "winner")

    def deciding_rule(self) -> Any:
        """Return the number of the first covering rule with the winning label, or of the fallback rule."""
        exp, writer, decision = self._exp, self._writer, self._decision
        pairs = [(exp.Is(this=self._named("winner", "w"), expression=exp.Null()), self._named("fallback", "w"))]
        for j in decision.order.tolist():
            wins = exp.EQ(this=self._named("winner", "w"), expression=writer.whole(int(decision.labels[j])))
            covers = exp.EQ(this=self._named(f"f{j}", "w"), expression=writer.whole(1))
            pairs.append((writer.all_of([wins, covers]), writer.whole(j + 1)))
        return self._alias(writer.case(pairs), "rule")

    def columns(self) -> list[Any]:
        """Return rule, label and probabilities."""
        exp, writer, outputs, names = self._exp, self._writer, self.outputs, self._names
        winner = self._named("winner", "s")
        wins = [(exp.EQ(this=winner, expression=writer.whole(k)), outputs.labels[k]) for k in range(self._n_classes)]
        label = writer.case(wins, outputs.label())
        alone = [outputs.probability(k) for k in range(self._n_classes)]
        if self._rule_set.adds_counts:
            covered = exp.Not(this=exp.Is(this=winner, expression=exp.Null()))
            together = self._together()
            alone = [writer.case([(covered, t)], a) for t, a in zip(together, alone, strict=True)]
        named = zip([label, *alone], [names.label, *names.probabilities], strict=True)
        aliased = [exp.alias_(expression, name, quoted=True, copy=False) for expression, name in named]
        return [self._named("rule", "s"), *aliased]

    def total(self) -> list[Any]:
        """Return the sum of the smoothed and weighted counts of all classes, the divisor of the probabilities."""
        if not self._rule_set.adds_counts:
            return []
        return [self._alias(self._writer.chain(self._exp.Add, self._parts("t")), "total")]

    def _parts(self, source: str) -> list[Any]:
        """Return the counts of each class in all covering rules together, smoothed and weighted."""
        exp, writer, evidence, scale = self._exp, self._writer, self._rule_set.evidence, self._decision.scale
        assert scale is not None
        factors, added = evidence.class_weights / scale, evidence.class_weights * evidence.added
        parts = []
        for k in range(self._n_classes):
            count = writer.double(self._named(f"s{k}", source))
            weighted = exp.Mul(this=count, expression=writer.double(float(factors[k])))
            parts.append(exp.Paren(this=exp.Add(this=weighted, expression=writer.double(float(added[k])))))
        return parts

    def _together(self) -> list[Any]:
        """Return the probabilities of all covering rules together."""
        exp, writer, total = self._exp, self._writer, self._named("total", "s")
        is_zero = exp.EQ(this=total, expression=writer.whole(0))
        unknown = self._rule_set.evidence.unknown
        return [
            writer.case(
                [(is_zero, writer.double(float(unknown[k])))],
                exp.Div(this=part, expression=total, typed=False, safe=False),
            )
            for k, part in enumerate(self._parts("s"))
        ]
