"""A rule set as one SQL query, written with sqlglot: label, rule and probabilities of each record.

Names and values are written only as quoted identifiers and literals of the dialect.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from diverse_rule_sets.export import _sql_dialects
from diverse_rule_sets.export._points import used_scorecards
from diverse_rule_sets.export._sql_limits import check_added, check_n_columns, check_not_added
from diverse_rule_sets.export._sql_points import point_steps
from diverse_rule_sets.export._sql_steps import Names, Outputs, Step, chain_steps, kept_columns
from diverse_rule_sets.export._sql_sums import decide_by_sums
from diverse_rule_sets.export._sql_writer import SqlWriter, checked_text, sqlglot_expressions
from diverse_rule_sets.model._rules import RuleSet

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
    used = used_scorecards(rule_set)
    names = Names(rule_set, checked_text("prefix", prefix), adds_up, used)
    kept = [] if keep == "*" else _name_list("keep", keep)
    check_added(names.all, kept, prefix, dialect)
    source, writer = _source_table(table, dialect), SqlWriter(rule_set, dialect, given, names.points)
    if keep == "*":
        check_not_added(list(writer.names.values()), names.all, prefix, dialect)
    selected = "*" if keep == "*" else kept
    decide = decide_by_sums if adds_up else _decide_by_order
    query = decide(rule_set, writer, names, source, selected, point_steps(rule_set, used, writer, names, selected))
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


def _decide_by_order(
    rule_set: RuleSet, writer: SqlWriter, names: Names, source: Any, keep: str | list[str], first: Sequence[Step]
) -> Any:
    """Return a query in which the first covering rule in the order decides: one CASE, then label and probabilities.

    The steps ``first`` compute what the rules test.
    """
    exp = writer.exp
    n_points = max((len(columns) for _, columns in first), default=0)
    check_n_columns(len(keep) + 2 + max(len(rule_set.classes), n_points), writer.dialect)
    all_rules = rule_set.all_rules
    order = [*rule_set.decision.order.tolist(), *range(len(rule_set.rules), len(all_rules))]
    ordered = [(writer.covers(all_rules[j]), writer.whole(j + 1)) for j in order]
    rule = exp.alias_(writer.case(ordered), names.rule, quoted=True, copy=False)
    outputs = Outputs(rule_set, writer, names)
    expressions = [outputs.label(), *(outputs.probability(k) for k in range(len(rule_set.classes)))]
    aliased = [
        exp.alias_(expression, name, quoted=True, copy=False)
        for expression, name in zip(expressions, [names.label, *names.probabilities], strict=True)
    ]
    followed = [] if keep == "*" else [names.points[column] for column in outputs.followed_columns]
    # The rule is the first column: if the table already has a column of that name, the new one is read.
    decide = ("s", [rule, *kept_columns(exp, keep, "r"), *kept_columns(exp, followed, "r")])
    selected = kept_columns(exp, [names.rule, *keep] if followed else "*", "s")
    return chain_steps(writer, source, *first, decide, ("", [*selected, *aliased]), outputs=outputs)
