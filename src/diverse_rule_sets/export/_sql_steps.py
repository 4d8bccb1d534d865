"""The steps of a SQL query, the names of the columns that it adds, and its last step: label and probabilities."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets.export import _sql_dialects
from diverse_rule_sets.export._points import UsedScorecard, followed_points
from diverse_rule_sets.export._sql_writer import SqlWriter, column_of
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import POINTS, ScorecardColumn

# The name of a step, and its columns.
Step = tuple[str, list[Any]]

_MAX_NAME = 40
_MAX_CASES = 500


class Names:
    """The names of the columns that the query adds.

    ``points`` are the names of the derived columns of scorecards; ``all`` includes them and those of the other steps.
    """

    def __init__(self, rule_set: RuleSet, prefix: str, adds_up: bool, scorecards: Sequence[UsedScorecard]) -> None:
        self.prefix, self.label, self.rule = prefix, f"{prefix}label", f"{prefix}rule"
        texts = _class_names(rule_set.classes)
        self.probabilities = [f"{prefix}probability_{text}" for text in texts]
        self.points = {
            column: prefix + _point_name(used.number, column, dict(zip(rule_set.classes, texts, strict=True)))
            for used in scorecards
            for column in used.columns
        }
        self.all = [self.label, self.rule, *self.probabilities, *self.points.values()]
        if adds_up:
            steps = [*("n", "winner", "fallback", "total"), *(f"f{j}" for j in range(len(rule_set)))]
            steps += [f"s{k}" for k in range(len(texts))]
            self.all += [f"{prefix}{step}" for step in steps]


def _class_names(classes: Sequence[Any]) -> list[str]:
    """Return each class as a part of names: its text, or its number if the text is long or like that of another."""
    texts = [str(label) for label in classes]
    counts = Counter(text.casefold() for text in texts)  # in some databases a and A are the same name
    names = []
    for k, text in enumerate(texts):
        folded = text.casefold()
        usable = text.isprintable() and 0 < len(text.encode("utf8", "replace")) <= _MAX_NAME
        unique = usable and counts[folded] == 1 and not folded.startswith("class ")
        names.append(text if unique else f"class {k + 1}")
    return names


def _point_name(number: int, column: ScorecardColumn, class_names: Mapping[Any, str]) -> str:
    """Return the name of a derived column: points, points_versicolor, lead, leader; points2 of the second scorecard."""
    part = column.part if number == 1 else f"{column.part}{number}"
    return part if column.part != POINTS or column.label is None else f"{part}_{class_names[column.label]}"


class Outputs:
    """The label and the probabilities of the deciding rule.

    They are found by CASE. In some databases the time of that grows with the square of the number of cases, so many
    rules, or rules of many classes, are a table that is joined. If the probabilities of rules follow points, the table
    has a row for each number of points of these rules.

    Parameters
    ----------
    rule_set, writer : the rule set and the writer of its conditions
    names : the names of the columns of the step before the last, called "s": the deciding rule, and the points
    """

    def __init__(self, rule_set: RuleSet, writer: SqlWriter, names: Names) -> None:
        self._writer, self._exp, self._deciding = writer, writer.exp, column_of(writer.exp, names.rule, "s")
        self._followed = followed_points(rule_set, rule_set.all_rules)
        self._points = {column: column_of(writer.exp, names.points[column], "s") for column in self.followed_columns}
        self._shares = rule_set.rule_probabilities
        self._labels = rule_set.labels_of(np.arange(len(self._shares)))
        floats = any(isinstance(label, float) for label in rule_set.classes)  # then all labels are
        self.labels = [writer.label(float(label) if floats else label) for label in rule_set.classes]
        n_cases = self._shares.size + sum(one.shares.size for one in self._followed.values())  # of all probabilities
        self._joined = n_cases > _MAX_CASES and writer.dialect in _sql_dialects.VALUES

    @property
    def followed_columns(self) -> list[ScorecardColumn]:
        """The derived columns that probabilities follow; the step before the last must have them."""
        return list(dict.fromkeys(followed.column for followed in self._followed.values()))

    def label(self) -> Any:
        """Return the label of the deciding rule."""
        default = self.labels[self._labels[-1]]
        if self._joined:
            return self._looked_up("label", default)
        pairs = []
        for k, label in enumerate(self.labels):
            positions = np.flatnonzero(self._labels[:-1] == k)
            if k != self._labels[-1] and positions.size:
                pairs.append((self._writer.one_of(self._deciding, (positions + 1).tolist()), label))
        return self._writer.case(pairs, default)

    def probability(self, k: int) -> Any:
        """Return the probability of a class that the deciding rule gives."""
        writer, values = self._writer, self._shares[:, k].tolist()
        default = writer.text_of(values[-1])
        if self._joined:
            return writer.double(self._looked_up(f"p{k}", default))
        groups: dict[float, list[int]] = {}
        for j, value in enumerate(values[:-1]):
            if j not in self._followed:
                groups.setdefault(value, []).append(j + 1)
        pairs = [(writer.one_of(self._deciding, rules), writer.text_of(value)) for value, rules in groups.items()]
        pairs += [(writer.one_of(self._deciding, [j + 1]), self._by_points(j, k)) for j in self._followed]
        return writer.double(writer.case(pairs, default))

    def _by_points(self, j: int, k: int) -> Any:
        """Return the probability of a class that a rule gives by points; neighbours with the same one are one case."""
        writer, followed = self._writer, self._followed[j]
        values, points = followed.shares[:, k].tolist(), self._points[followed.column]
        pairs = []
        for s, (value, following) in enumerate(itertools.pairwise(values), followed.low):
            if value != following:
                up_to = self._exp.LTE(this=points, expression=writer.integer(s))
                pairs.append((up_to, writer.text_of(value)))
        return writer.case(pairs, writer.text_of(values[-1]))

    def _looked_up(self, name: str, default: Any) -> Any:
        return self._exp.Coalesce(this=column_of(self._exp, name, "p"), expressions=[default])

    def join(self, query: Any, name: str) -> Any:
        """Return the query with the table of the rules, if it is used; the table gets the given name."""
        if not self._joined:
            return query
        exp, writer = self._exp, self._writer
        points = ["points"] if self._followed else []
        rows = [
            exp.Tuple(expressions=[*keys[: 1 + len(points)], self.labels[label], *map(writer.text_of, shares)])
            for keys, label, shares in self._rows()
        ]
        columns = ["rule", *points, "label", *(f"p{k}" for k in range(len(self.labels)))]
        quoted = [exp.Identifier(this=column, quoted=True) for column in columns]
        alias = exp.TableAlias(this=exp.to_identifier(name), columns=quoted)
        same = exp.EQ(this=column_of(exp, "rule", "p"), expression=self._deciding)
        if points:
            same = exp.And(this=same, expression=exp.EQ(this=column_of(exp, "points", "p"), expression=self._level()))
        table = exp.alias_(exp.to_table(name), "p", table=True)
        joined = query.join(table, on=same, join_type="left", copy=False)
        return joined.with_(alias, as_=exp.Values(expressions=rows), copy=False)

    def _rows(self) -> Iterator[tuple[list[Any], int, list[float]]]:
        """Yield the rows of the table of rules: the rule and its points, the label, the probabilities."""
        writer = self._writer
        for j, (label, shares) in enumerate(zip(self._labels[:-1], self._shares[:-1].tolist(), strict=True)):
            if j in self._followed:
                followed = self._followed[j]
                for k, row in enumerate(followed.shares.tolist()):
                    yield [writer.whole(j + 1), writer.integer(followed.low + k)], label, row
            else:
                yield [writer.whole(j + 1), writer.whole(0)], label, shares

    def _level(self) -> Any:
        """Return the points that the deciding rule follows; 0 for rules that follow none."""
        pairs = []
        for column, points in self._points.items():
            rules = [j + 1 for j, followed in self._followed.items() if followed.column == column]
            pairs.append((self._writer.one_of(self._deciding, rules), points))
        return self._writer.case(pairs, self._writer.whole(0))


def kept_columns(exp: Any, keep: str | list[str], source: str) -> list[Any]:
    """Return the columns of the table that the query returns."""
    if keep == "*":
        return [exp.Column(this=exp.Star(), table=exp.to_identifier(source))]
    return [column_of(exp, name, source) for name in keep]


def chain_steps(writer: SqlWriter, source: Any, *steps: Step, outputs: Outputs) -> Any:
    """Return a query in steps, each of which selects from the step before.

    A step is a pair of a name and columns; the last step has an empty name. Without steps, databases would repeat each
    expression wherever the next one uses it, and the query would grow exponentially. Expressions are not copied here,
    because queries may be long.
    """
    exp = writer.exp
    inner, queries = exp.alias_(source, "r", table=True), []
    for name, columns in steps:
        query = exp.select(*columns, copy=False).from_(inner, copy=False)
        step = _unused(f"drs_{name}", source)
        queries.append((step, query))
        inner = exp.alias_(exp.to_table(step), name, table=True) if name else None
    last = queries.pop()[1]
    materialized = True if writer.dialect in _sql_dialects.MATERIALIZED else None
    for name, query in queries:
        last = last.with_(name, as_=query, materialized=materialized, copy=False)
    return outputs.join(last, _unused("drs_p", source))


def _unused(step: str, source: Any) -> str:
    """Return a name for a step that is not the name of the table, which would then mean the step."""
    while step == source.name.casefold():
        step += "_"
    return step
