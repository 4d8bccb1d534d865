"""The first steps of a SQL query whose rules test scorecards: the points of each record, the leader and the lead.

Each sum is written once, however many rules test it. After these steps the rules read the table and the points from
one step, which is called "r" as the table is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diverse_rule_sets.export._points import UsedScorecard, base_points, signs_of
from diverse_rule_sets.export._sql_dialects import folded_name
from diverse_rule_sets.export._sql_limits import check_carried
from diverse_rule_sets.export._sql_steps import Names, Step, kept_columns
from diverse_rule_sets.export._sql_writer import SqlWriter, column_of
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import ScorecardColumn

_MAX_TERMS = 50


def point_steps(
    rule_set: RuleSet, used: Sequence[UsedScorecard], writer: SqlWriter, names: Names, keep: str | list[str]
) -> list[Step]:
    """Return the steps that compute points; none if the rules test no scorecard."""
    if not used:
        return []
    exp, points = writer.exp, _Points(writer, names)
    tested = dict.fromkeys(condition.column for rule in rule_set.all_rules for condition in rule.conditions)
    read = [writer.names[column] for column in tested if not isinstance(column, ScorecardColumn)]
    check_carried(read, [] if keep == "*" else keep, names.points.values(), names.prefix, writer.dialect)
    carried = keep if keep == "*" else _carried(list(keep), read, writer.dialect)
    stages = [
        [points.sum(column) for one in used for column in one.sums],
        [points.leader(one, one.leader) for one in used if one.leader is not None],
        [points.lead(one, one.leader, one.lead) for one in used if one.leader is not None and one.lead is not None],
    ]
    stages = [stage for stage in stages if stage]
    sources, kept = [*"rcl"][: len(stages)], [carried, "*", "*"]
    # New columns come first: if the table already has a column of that name, the new one is read.
    columns = [
        [*stage, *kept_columns(exp, some, source)] for stage, source, some in zip(stages, sources, kept, strict=False)
    ]
    return list(zip([*sources[1:], "r"], columns, strict=True))


def _carried(keep: list[str], read: list[str], dialect: str) -> list[str]:
    """Return the columns of the table that later steps need: those that are kept, and those that the rules test."""
    known = {folded_name(name, dialect) for name in keep}
    return [*keep, *(name for name in read if folded_name(name, dialect) not in known)]


class _Points:
    """The columns of the steps; each step reads the columns of the step before."""

    def __init__(self, writer: SqlWriter, names: Names) -> None:
        self._writer, self._names, self._exp = writer, names, writer.exp
        self._greatest = "MAX" if writer.dialect == "sqlite" else "GREATEST"

    def _alias(self, expression: Any, column: ScorecardColumn) -> Any:
        return self._exp.alias_(expression, self._names.points[column], quoted=True, copy=False)

    def _columns(self, columns: Sequence[ScorecardColumn], source: str) -> list[Any]:
        return [column_of(self._exp, self._names.points[column], source) for column in columns]

    def _largest(self, terms: Sequence[Any]) -> Any:
        """Return the largest of some numbers, in groups, because databases limit the arguments of a function."""
        while len(terms) > 1:
            groups = [list(terms[k : k + _MAX_TERMS]) for k in range(0, len(terms), _MAX_TERMS)]
            terms = [
                self._exp.Anonymous(this=self._greatest, expressions=group) if len(group) > 1 else group[0]
                for group in groups
            ]
        return terms[0]

    def sum(self, column: ScorecardColumn) -> Any:
        """Return the sum of the points of the signs that hold; a condition that is NULL does not hold."""
        writer, base = self._writer, base_points(column)
        terms = [
            writer.case([(writer.condition(condition), writer.integer(n))], writer.whole(0))
            for condition, n in signs_of(column)
        ]
        terms = terms if terms and not base else [writer.integer(base), *terms]
        return self._alias(writer.chain(self._exp.Add, terms), column)

    def leader(self, used: UsedScorecard, leader: ScorecardColumn) -> Any:
        """Return the position of the first label with the most points."""
        exp, writer, points = self._exp, self._writer, self._columns(used.sums, "c")
        ifs = [exp.If(this=one, true=writer.whole(k)) for k, one in enumerate(points[:-1])]
        last = writer.whole(len(points) - 1)
        return self._alias(exp.Case(this=self._largest(points), ifs=ifs, default=last), leader)

    def lead(self, used: UsedScorecard, leader: ScorecardColumn, lead: ScorecardColumn) -> Any:
        """Return the points of the leader minus the largest points of the other labels."""
        exp, writer, points = self._exp, self._writer, self._columns(used.sums, "l")
        (first,), lowest = self._columns([leader], "l"), writer.integer(used.lowest)
        others = [
            writer.case([(exp.EQ(this=first, expression=writer.whole(k)), lowest)], one) for k, one in enumerate(points)
        ]
        return self._alias(exp.Sub(this=self._largest(points), expression=self._largest(others)), lead)
