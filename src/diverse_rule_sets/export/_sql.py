"""A rule set as one SQL query, through sqlglot: label, rule and probabilities of each record.

Names and values enter the query as quoted identifiers and literals of the dialect and in no other way.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets.export._sql_writer import SqlWriter, checked_text, column_of, sqlglot_expressions
from diverse_rule_sets.export._values import exact_text
from diverse_rule_sets.model._rules import Rule, RuleSet

# Where quotes do not change which table a name means; and where they do not if it is in small letters.
_CASELESS, _LOWER = frozenset(("duckdb", "sqlite")), frozenset(("postgres", "redshift", "materialize", "risingwave"))
# Where a step can be asked to be computed once.
_MATERIALIZED = frozenset(("duckdb", "postgres", "sqlite"))
_MAX_ADDED = 1000
_MAX_NAME = 40
_SUM_OF = 50


def to_sql(
    rule_set: RuleSet,
    *,
    dialect: str,
    table: str | Sequence[str],
    keep: str | Sequence[str],
    columns: Mapping[Hashable, str] | None,
    prefix: str,
) -> str:
    """Return the query; see :meth:`RuleSet.to_sql`, which has the defaults."""
    unknown = [name for name in columns or {} if name not in rule_set.columns]
    if unknown:
        raise ValueError(
            f"columns names {unknown[0]!r}, which the rules do not read; they read {list(rule_set.columns)}"
        )
    writer = SqlWriter(rule_set, _dialect(dialect), dict(columns or {}))
    names = _Names(rule_set.classes, checked_text("prefix", prefix))
    kept: str | list[str] = "*" if keep == "*" else _name_list("keep", keep)
    if not isinstance(kept, str):
        _check_kept(kept, names, rule_set)
    source = _source_table(table, writer.dialect)
    if rule_set.decision.ballots is None:
        query = _first_that_covers(rule_set, writer, names, source, kept)
    else:
        query = _added_up(rule_set, writer, names, source, kept)
    return str(query.sql(dialect=writer.dialect, pretty=True)) + "\n"


def _dialect(word: Any) -> str:
    """Check the name of a dialect."""
    sqlglot_expressions()
    from sqlglot.dialects.dialect import Dialects

    aliases = {"postgresql": "postgres", "sqlserver": "tsql", "mssql": "tsql"}
    known = sorted({one.value for one in Dialects} - {"", "dax", "prql"})  # these two are no SQL
    chosen = aliases.get(word, word) if isinstance(word, str) else word
    if chosen not in known:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, known))}, got {word!r}")
    return str(chosen)


def _name_list(name: str, values: Any) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise TypeError(f"{name} must be '*' or a list of column names, got {values!r}")
    return [checked_text(name, value) for value in values]


def _check_kept(kept: list[str], names: _Names, rule_set: RuleSet) -> None:
    """Refuse to pass on a column that is called like one that the query adds; databases may not tell a from A."""
    steps = [f"{names.prefix}{part}{k}" for part in "fs" for k in range(max(len(rule_set), len(rule_set.classes)))]
    steps += [f"{names.prefix}{part}" for part in ("n", "winner", "fallback", "total")]
    taken = {name.casefold() for name in (names.label, names.rule, *names.probabilities, *steps)}
    for name in kept:
        if name.casefold() in taken:
            raise ValueError(
                f"keep names {name!r}, which the query adds itself; choose another prefix than {names.prefix!r}"
            )


def _source_table(name: Any, dialect: str) -> Any:
    """Return the table: plain words with dots, a tuple of names quoted as they are."""
    exp = sqlglot_expressions()
    if isinstance(name, str):
        if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*){0,2}", name):
            raise ValueError(
                f"table must be a name such as 'records' or 'schema.records', or a tuple of names that are quoted as "
                f"they are, got {name!r}"
            )
        # Quoted, a word that means something in SQL is a name too; but that must not change how the case is folded.
        parts, quoted = name.split("."), dialect in _CASELESS or (dialect in _LOWER and name == name.lower())
    else:
        parts, quoted = _name_list("table", name), True
        if not 1 <= len(parts) <= 3:
            raise ValueError(f"table must have one to three names, got {name!r}")
    identifiers = [exp.to_identifier(part, quoted=quoted) for part in reversed(parts)]
    keys = ("this", "db", "catalog")
    return exp.Table(**dict(zip(keys, identifiers, strict=False)))


class _Names:
    """The names of the columns that the query adds."""

    def __init__(self, classes: Sequence[Any], prefix: str) -> None:
        self.prefix, self.label, self.rule = prefix, f"{prefix}label", f"{prefix}rule"
        self.probabilities: list[str] = []
        folded = [str(label).casefold() for label in classes]  # some databases do not tell a from A
        for k, label in enumerate(classes):
            text = str(label)
            plain = text.isprintable() and 0 < len(text.encode("utf8", "replace")) <= _MAX_NAME
            clear = plain and folded.count(folded[k]) == 1 and not folded[k].startswith("class ")
            self.probabilities.append(f"{prefix}probability_{text if clear else f'class {k + 1}'}")


def _kept(exp: Any, keep: str | list[str], source: str) -> list[Any]:
    """Return the columns of the table that the query passes on."""
    if keep == "*":
        return [exp.Column(this=exp.Star(), table=exp.to_identifier(source))]
    return [column_of(exp, name, source) for name in keep]


def _in_steps(writer: SqlWriter, source: Any, *steps: tuple[str, list[Any]]) -> Any:
    """Return a query in steps, each from the one before: pairs of a step's name and its columns, the last without name.

    Databases would otherwise write each step out wherever the next one uses it, which grows beyond all bounds. Nothing
    is copied here either: queries may be long.
    """
    exp = writer.exp
    inner, queries = exp.alias_(source, "r", table=True), []
    for name, columns in steps:
        query = exp.select(*columns, copy=False).from_(inner, copy=False)
        step = f"drs_{name}"
        while step == source.name.casefold():  # a table of that name would be taken for the step itself
            step += "_"
        queries.append((step, query))
        inner = exp.alias_(exp.to_table(step), name, table=True) if name else None
    last = queries.pop()[1]
    fence = True if writer.dialect in _MATERIALIZED else None
    for name, query in queries:
        last = last.with_(name, as_=query, materialized=fence, copy=False)
    return last


def _first_that_covers(rule_set: RuleSet, writer: SqlWriter, names: _Names, source: Any, keep: str | list[str]) -> Any:
    """The first covering rule in the order speaks: one CASE, then its label and probabilities."""
    exp = writer.exp
    speakers = [int(j) for j in rule_set.decision.order] + _backup_places(rule_set)
    ordered = [(writer.holds(rule_set.all_rules[j]), writer.whole(j + 1)) for j in speakers]
    rule = exp.alias_(writer.case(ordered), names.rule, quoted=True, copy=False)
    spoke = column_of(exp, names.rule, "s")
    shares, default = rule_set.rule_probabilities, rule_set.classes.index(rule_set.default)
    labels = rule_set.labels_of(np.arange(len(shares) - 1))
    outer = [_labels(writer, rule_set, spoke, labels, default)]
    for k in range(len(rule_set.classes)):
        outer.append(_by_speaker(writer, spoke, shares[:, k]))
    aliased = [
        exp.alias_(e, name, quoted=True, copy=False)
        for e, name in zip(outer, [names.label, *names.probabilities], strict=True)
    ]
    # The rule comes first: where a table has a column of that name already, it is the new one that is read.
    return _in_steps(writer, source, ("s", [rule, *_kept(exp, keep, "r")]), ("", [*_kept(exp, "*", "s"), *aliased]))


def _backup_places(rule_set: RuleSet) -> list[int]:
    return list(range(len(rule_set.rules), len(rule_set.all_rules)))


def _labels(writer: SqlWriter, rule_set: RuleSet, spoke: Any, labels: Any, default: int) -> Any:
    """Return the label of the rule that spoke."""
    pairs = []
    for k, label in enumerate(rule_set.classes):
        places = np.flatnonzero(labels == k)
        if k != default and places.size:
            pairs.append((writer.one_of(spoke.copy(), (places + 1).tolist()), writer.value(label)))
    return writer.case(pairs, writer.value(rule_set.classes[default]))


def _by_speaker(writer: SqlWriter, spoke: Any, values: Any) -> Any:
    """Return a number that depends on who spoke; the last is the default's."""
    groups: dict[float, list[int]] = {}
    for j, value in enumerate(values[:-1].tolist()):
        groups.setdefault(value, []).append(j + 1)
    literal = writer.exp.Literal.number
    pairs = [(writer.one_of(spoke.copy(), places), literal(exact_text(value))) for value, places in groups.items()]
    return writer.double(writer.case(pairs, literal(exact_text(float(values[-1])))))


def _added_up(rule_set: RuleSet, writer: SqlWriter, names: _Names, source: Any, keep: str | list[str]) -> Any:
    """Ballots are added up: flags of the rules, sums of the classes, the winner, then who speaks for it."""
    if keep == "*":
        raise ValueError(
            f"keep must list columns, such as keep=['id'], where conflict is {rule_set.conflict!r}: the query works in "
            "steps, and '*' would pass on their columns too"
        )
    if len(rule_set) > _MAX_ADDED:
        raise ValueError(f"at most {_MAX_ADDED} rules can be added up in SQL, got {len(rule_set)}")
    exp, steps = writer.exp, _Steps(rule_set, writer, names)
    return _in_steps(
        writer,
        source,
        ("f", [*_kept(exp, keep, "r"), *steps.flags()]),
        ("t", [*_kept(exp, "*", "f"), *steps.sums()]),
        ("w", [*_kept(exp, "*", "t"), steps.winner(), *steps.total()]),
        ("s", [*_kept(exp, "*", "w"), steps.speaker()]),
        ("", [*_kept(exp, keep, "s"), *steps.answers()]),
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
        """Whether each rule covers the record, 1 or 0; and the first fallback that does."""
        writer, exp = self._writer, self._exp
        one, none = exp.cast(writer.whole(1), "bigint"), exp.cast(writer.whole(0), "bigint")
        flags = [
            self._alias(writer.case([(writer.holds(rule), one.copy())], none.copy()), f"f{j}")
            for j, rule in enumerate(self._rule_set.rules)
        ]
        spare = [(writer.holds(rule), writer.whole(j + 1)) for j, rule in self._backups()]
        return [*flags, self._alias(exp.cast(writer.case(spare), "bigint"), "fallback")]

    def _backups(self) -> list[tuple[int, Rule]]:
        return list(zip(_backup_places(self._rule_set), self._rule_set.fallbacks, strict=True))

    def sums(self) -> list[Any]:
        """What each class gets, and how many rules cover the record."""
        ballots = self._decision.ballots
        assert ballots is not None
        by_class = [
            self._alias(self._sum({j: int(ballots[j, k]) for j in np.flatnonzero(ballots[:, k]).tolist()}), f"s{k}")
            for k in range(self._n_classes)
        ]
        return [*by_class, self._alias(self._sum(dict.fromkeys(range(len(self._rule_set)), 1)), "n")]

    def _sum(self, weights: dict[int, int]) -> Any:
        """Add up flags times weights, in groups: databases limit how deep an expression is."""
        exp, writer = self._exp, self._writer
        terms = [
            self._named(f"f{j}", "f")
            if weight == 1
            else exp.Mul(this=self._named(f"f{j}", "f"), expression=writer.whole(weight))
            for j, weight in weights.items()
        ]
        while len(terms) > 1:
            groups = [terms[k : k + _SUM_OF] for k in range(0, len(terms), _SUM_OF)]
            terms = [exp.paren(_chained(exp.Add, group), copy=False) for group in groups]
        return terms[0] if terms else exp.cast(writer.whole(0), "bigint")

    def winner(self) -> Any:
        """The class with the largest sum; none where no rule covers the record."""
        exp, writer = self._exp, self._writer
        pairs = [(exp.EQ(this=self._named("n", "t"), expression=writer.whole(0)), exp.Null())]
        order = [int(k) for k in self._decision.preference]
        for place, k in enumerate(order[:-1]):
            others = [
                exp.GTE(this=self._named(f"s{k}", "t"), expression=self._named(f"s{i}", "t"))
                for i in order[place + 1 :]
            ]
            pairs.append((exp.and_(*others, copy=False), writer.whole(k)))
        return self._alias(writer.case(pairs, writer.whole(order[-1])), "winner")

    def speaker(self) -> Any:
        """The rule that speaks for the winner, or the fallback."""
        exp, writer, decision = self._exp, self._writer, self._decision
        pairs = [(exp.Is(this=self._named("winner", "w"), expression=exp.Null()), self._named("fallback", "w"))]
        for j in decision.order.tolist():
            wins = exp.EQ(this=self._named("winner", "w"), expression=writer.whole(int(decision.labels[j])))
            fires = exp.EQ(this=self._named(f"f{j}", "w"), expression=writer.whole(1))
            pairs.append((exp.and_(wins, fires, copy=False), writer.whole(j + 1)))
        return self._alias(writer.case(pairs), "rule")

    def answers(self) -> list[Any]:
        """Rule, label and probabilities."""
        exp, writer, rule_set, names = self._exp, self._writer, self._rule_set, self._names
        spoke, winner = self._named("rule", "s"), self._named("winner", "s")
        labels = rule_set.labels_of(np.arange(len(rule_set.all_rules)))
        default = rule_set.classes.index(rule_set.default)
        wins = [
            (exp.EQ(this=winner.copy(), expression=writer.whole(k)), writer.value(label))
            for k, label in enumerate(rule_set.classes)
        ]
        label = writer.case(wins, _labels(writer, rule_set, spoke, labels, default))
        shares = rule_set.rule_probabilities
        alone = [_by_speaker(writer, spoke, shares[:, k]) for k in range(self._n_classes)]
        if rule_set.adds_counts:
            covered = exp.Not(this=exp.Is(this=winner.copy(), expression=exp.Null()))
            together = self._together()
            alone = [writer.case([(covered.copy(), t)], a) for t, a in zip(together, alone, strict=True)]
        named = zip([label, *alone], [names.label, *names.probabilities], strict=True)
        return [spoke, *(exp.alias_(expression, name, quoted=True, copy=False) for expression, name in named)]

    def total(self) -> list[Any]:
        """What the probabilities of all covering rules together are shares of."""
        if not self._rule_set.adds_counts:
            return []
        return [self._alias(_chained(self._exp.Add, self._parts("t")), "total")]

    def _parts(self, source: str) -> list[Any]:
        """What each class has under all covering rules together: their counts, smoothed and weighted."""
        exp, writer, evidence, scale = self._exp, self._writer, self._rule_set.evidence, self._decision.scale
        assert scale is not None
        factors, added = evidence.class_weights / scale, evidence.class_weights * evidence.added
        parts = []
        for k in range(self._n_classes):
            count = writer.double(self._named(f"s{k}", source))
            weighted = exp.Mul(this=count, expression=writer.double(float(factors[k])))
            parts.append(exp.paren(exp.Add(this=weighted, expression=writer.double(float(added[k])))))
        return parts

    def _together(self) -> list[Any]:
        """The probabilities of all covering rules together."""
        exp, writer, total = self._exp, self._writer, self._named("total", "s")
        nothing = exp.EQ(this=total.copy(), expression=writer.whole(0))
        unknown = self._rule_set.evidence.unknown
        return [
            writer.case(
                [(nothing.copy(), writer.double(float(unknown[k])))],
                exp.Div(this=part, expression=total.copy(), typed=False, safe=False),
            )
            for k, part in enumerate(self._parts("s"))
        ]


def _chained(kind: Any, terms: Sequence[Any]) -> Any:
    chain = terms[0].copy()
    for term in terms[1:]:
        chain = kind(this=chain, expression=term.copy())
    return chain
