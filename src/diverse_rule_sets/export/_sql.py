"""A rule set as one SQL query, written with sqlglot: label, rule and probabilities of each record.

Names and values are written only as quoted identifiers and literals of the dialect.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets.export import _sql_dialects
from diverse_rule_sets.export._sql_limits import check_added, check_n_columns
from diverse_rule_sets.export._sql_writer import SqlWriter, checked_text, column_of, sqlglot_expressions
from diverse_rule_sets.model._rules import Rule, RuleSet

_MAX_RULES = 1000
_MAX_NAME = 40
# What sqlglot writes instead of a line break, and replaces in the end.
_LINE_BREAK = "__SQLGLOT__LB__"


def to_sql(
    rule_set: RuleSet,
    *,
    dialect: str,
    table: str | Sequence[str],
    keep: str | Sequence[str],
    columns: Mapping[Hashable, str] | None,
    prefix: str,
) -> str:
    """Return the query; see :meth:`RuleSet.to_sql`, which has the defaults of the parameters."""
    dialect, read, given = _dialect(dialect), set(rule_set.columns), dict(columns or {})
    unknown = [name for name in given if name not in read]
    if unknown:
        raise ValueError(
            f"columns names {unknown[0]!r}, which the rules do not read; they read {list(rule_set.columns)}"
        )
    adds_up = rule_set.decision.ballots is not None
    names = _Names(rule_set, checked_text("prefix", prefix), adds_up)
    kept = [] if keep == "*" else _name_list("keep", keep)
    check_added(names.all, kept, prefix, dialect)
    source, writer = _source_table(table, dialect), SqlWriter(rule_set, dialect, given)
    selected = "*" if keep == "*" else kept
    decide = _decide_by_sums if adds_up else _decide_by_order
    query = decide(rule_set, writer, names, source, selected)
    texts = itertools.chain([prefix, str(table)], kept, writer.texts)
    return _text(query, dialect, pretty=not any(_LINE_BREAK in text for text in texts))


def _text(query: Any, dialect: str, pretty: bool) -> str:
    """Return the text of a query; raise ValueError if the dialect has no form for a part of it."""
    from sqlglot.errors import ErrorLevel, UnsupportedError

    try:
        # Not copied, because queries may be long.
        text = query.sql(dialect=dialect, pretty=pretty, copy=False, unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as error:
        raise ValueError(f"the rules cannot be written in the dialect {dialect!r}: {error}") from None
    return str(text) + "\n"


def _dialect(name: Any) -> str:
    """Check the name of a dialect."""
    sqlglot_expressions()
    from sqlglot.dialects.dialect import Dialects

    aliases = {"postgresql": "postgres", "sqlserver": "tsql", "mssql": "tsql"}
    known = sorted({one.value for one in Dialects} - {"", "dax", "prql"})  # these two are not SQL
    chosen = aliases.get(name, name) if isinstance(name, str) else name
    if chosen not in known:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, known))}, got {name!r}")
    return str(chosen)


def _name_list(name: str, values: Any) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise TypeError(f"{name} must be '*' or a list of column names, got {values!r}")
    return [checked_text(name, value) for value in values]


def _source_table(name: Any, dialect: str) -> Any:
    """Return the table: a string is a name with optional dots, a tuple has names that are quoted unchanged."""
    exp = sqlglot_expressions()
    if isinstance(name, str):
        if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*){0,2}", name):
            raise ValueError(
                f"table must be a name such as 'records' or 'schema.records', or a tuple of names that are quoted "
                f"unchanged, got {name!r}"
            )
        # With quotes, a keyword of SQL can be a name; but quotes must not change how the database folds the case.
        parts, quoted = (
            name.split("."),
            dialect in _sql_dialects.CASELESS or (dialect in _sql_dialects.LOWER and name == name.lower()),
        )
    else:
        parts, quoted = _name_list("table", name), True
        if not 1 <= len(parts) <= 3:
            raise ValueError(f"table must have one to three names, got {name!r}")
    identifiers = [exp.to_identifier(part, quoted=quoted) for part in reversed(parts)]
    keys = ("this", "db", "catalog")
    return exp.Table(**dict(zip(keys, identifiers, strict=False)))


class _Names:
    """The names of the columns that the query adds; ``all`` includes those of its steps."""

    def __init__(self, rule_set: RuleSet, prefix: str, adds_up: bool) -> None:
        self.prefix, self.label, self.rule = prefix, f"{prefix}label", f"{prefix}rule"
        self.probabilities: list[str] = []
        texts = [str(label) for label in rule_set.classes]
        counts = Counter(text.casefold() for text in texts)  # in some databases a and A are the same name
        for k, text in enumerate(texts):
            folded = text.casefold()
            usable = text.isprintable() and 0 < len(text.encode("utf8", "replace")) <= _MAX_NAME
            unique = usable and counts[folded] == 1 and not folded.startswith("class ")
            self.probabilities.append(f"{prefix}probability_{text if unique else f'class {k + 1}'}")
        self.all = [self.label, self.rule, *self.probabilities]
        if adds_up:
            steps = [*("n", "winner", "fallback", "total"), *(f"f{j}" for j in range(len(rule_set)))]
            steps += [f"s{k}" for k in range(len(texts))]
            self.all += [f"{prefix}{step}" for step in steps]


def _kept_columns(exp: Any, keep: str | list[str], source: str) -> list[Any]:
    """Return the columns of the table that the query returns."""
    if keep == "*":
        return [exp.Column(this=exp.Star(), table=exp.to_identifier(source))]
    return [column_of(exp, name, source) for name in keep]


def _chain_steps(writer: SqlWriter, source: Any, *steps: tuple[str, list[Any]]) -> Any:
    """Return a query in steps, each of which selects from the step before.

    A step is a pair of a name and columns; the last step has an empty name. Without steps, databases would repeat each
    expression wherever the next one uses it, and the query would grow exponentially. Expressions are not copied here,
    because queries may be long.
    """
    exp = writer.exp
    inner, queries = exp.alias_(source, "r", table=True), []
    for name, columns in steps:
        query = exp.select(*columns, copy=False).from_(inner, copy=False)
        step = f"drs_{name}"
        while step == source.name.casefold():  # otherwise the name would mean the step and not the table
            step += "_"
        queries.append((step, query))
        inner = exp.alias_(exp.to_table(step), name, table=True) if name else None
    last = queries.pop()[1]
    materialized = True if writer.dialect in _sql_dialects.MATERIALIZED else None
    for name, query in queries:
        last = last.with_(name, as_=query, materialized=materialized, copy=False)
    return last


def _decide_by_order(rule_set: RuleSet, writer: SqlWriter, names: _Names, source: Any, keep: str | list[str]) -> Any:
    """Return a query in which the first covering rule in the order decides: one CASE, then label and probabilities."""
    exp = writer.exp
    check_n_columns(len(keep) + 2 + len(rule_set.classes), writer.dialect)
    order = [int(j) for j in rule_set.decision.order] + _fallback_positions(rule_set)
    all_rules = rule_set.all_rules
    ordered = [(writer.covers(all_rules[j]), writer.whole(j + 1)) for j in order]
    rule = exp.alias_(writer.case(ordered), names.rule, quoted=True, copy=False)
    deciding = column_of(exp, names.rule, "s")
    shares, default = rule_set.rule_probabilities, rule_set.classes.index(rule_set.default)
    labels = rule_set.labels_of(np.arange(len(shares) - 1))
    outer = [_labels(writer, rule_set, deciding, labels, default)]
    for k in range(len(rule_set.classes)):
        outer.append(_by_rule(writer, deciding, shares[:, k]))
    aliased = [
        exp.alias_(e, name, quoted=True, copy=False)
        for e, name in zip(outer, [names.label, *names.probabilities], strict=True)
    ]
    # The rule is the first column: if the table already has a column of that name, the new one is read.
    return _chain_steps(
        writer, source, ("s", [rule, *_kept_columns(exp, keep, "r")]), ("", [*_kept_columns(exp, "*", "s"), *aliased])
    )


def _fallback_positions(rule_set: RuleSet) -> list[int]:
    """Return the positions of the fallback rules among all rules."""
    return list(range(len(rule_set.rules), len(rule_set.all_rules)))


def _labels(writer: SqlWriter, rule_set: RuleSet, deciding: Any, labels: Any, default: int) -> Any:
    """Return the label of the deciding rule."""
    pairs = []
    for k in range(len(rule_set.classes)):
        positions = np.flatnonzero(labels == k)
        if k != default and positions.size:
            pairs.append((writer.one_of(deciding, (positions + 1).tolist()), _label_of(writer, rule_set, k)))
    return writer.case(pairs, _label_of(writer, rule_set, default))


def _label_of(writer: SqlWriter, rule_set: RuleSet, k: int) -> Any:
    """Return the label of a class; of one type for all classes."""
    label = rule_set.classes[k]
    floats = any(isinstance(one, float) for one in rule_set.classes)
    return writer.label(float(label) if floats else label)


def _by_rule(writer: SqlWriter, deciding: Any, values: Any) -> Any:
    """Return a number that depends on the deciding rule; the last value is for the default label."""
    groups: dict[float, list[int]] = {}
    for j, value in enumerate(values[:-1].tolist()):
        groups.setdefault(value, []).append(j + 1)
    pairs = [(writer.one_of(deciding, rules), writer.text_of(value)) for value, rules in groups.items()]
    return writer.double(writer.case(pairs, writer.text_of(float(values[-1]))))


def _decide_by_sums(rule_set: RuleSet, writer: SqlWriter, names: _Names, source: Any, keep: str | list[str]) -> Any:
    """Return a query that adds up ballots: flags of the rules, sums of the classes, the winner, the deciding rule."""
    if keep == "*":
        raise ValueError(
            f"keep must list columns, such as keep=['id'], if conflict is {rule_set.conflict!r}: the query has several "
            "steps, and '*' would also return their columns"
        )
    if len(rule_set) > _MAX_RULES:
        raise ValueError(f"at most {_MAX_RULES} rules can be added up in SQL, got {len(rule_set)}")
    check_n_columns(len(keep) + len(rule_set) + len(rule_set.classes) + 5, writer.dialect)
    exp, steps = writer.exp, _Steps(rule_set, writer, names)
    return _chain_steps(
        writer,
        source,
        ("f", [*_kept_columns(exp, keep, "r"), *steps.flags()]),
        ("t", [*_kept_columns(exp, "*", "f"), *steps.sums()]),
        ("w", [*_kept_columns(exp, "*", "t"), steps.winner(), *steps.total()]),
        ("s", [*_kept_columns(exp, "*", "w"), steps.deciding_rule()]),
        ("", [*_kept_columns(exp, keep, "s"), *steps.outputs()]),
    )


class _Steps:
    """The steps of a query that adds up ballots."""

    def __init__(self, rule_set: RuleSet, writer: SqlWriter, names: _Names) -> None:
        self._rule_set, self._writer, self._names, self._exp = rule_set, writer, names, writer.exp
        self._decision = rule_set.decision
        self._n_classes = len(rule_set.classes)

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
        return list(zip(_fallback_positions(self._rule_set), self._rule_set.fallbacks, strict=True))

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

    def outputs(self) -> list[Any]:
        """Return rule, label and probabilities."""
        exp, writer, rule_set, names = self._exp, self._writer, self._rule_set, self._names
        deciding, winner = self._named("rule", "s"), self._named("winner", "s")
        labels = rule_set.labels_of(np.arange(len(rule_set.all_rules)))
        default = rule_set.classes.index(rule_set.default)
        wins = [
            (exp.EQ(this=winner, expression=writer.whole(k)), _label_of(writer, rule_set, k))
            for k in range(self._n_classes)
        ]
        label = writer.case(wins, _labels(writer, rule_set, deciding, labels, default))
        shares = rule_set.rule_probabilities
        alone = [_by_rule(writer, deciding, shares[:, k]) for k in range(self._n_classes)]
        if rule_set.adds_counts:
            covered = exp.Not(this=exp.Is(this=winner, expression=exp.Null()))
            together = self._together()
            alone = [writer.case([(covered, t)], a) for t, a in zip(together, alone, strict=True)]
        named = zip([label, *alone], [names.label, *names.probabilities], strict=True)
        return [deciding, *(exp.alias_(expression, name, quoted=True, copy=False) for expression, name in named)]

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
