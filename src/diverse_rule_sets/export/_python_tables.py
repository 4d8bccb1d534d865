"""Python source for tables: a function for pandas, and expressions for polars."""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable, Sequence
from typing import Any

from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.export._source import (
    VALUE_HELPERS,
    SourceWriter,
    date_parts,
    literal,
    number_literal,
    typed_literal,
)
from diverse_rule_sets.export._values import common_kind, exported_codes, kind_of_values

_PANDAS_HEAD = '''"""If-then rules as a function of a pandas table."""

import numpy as np
import pandas as pd

'''
_PANDAS_BODY = """    rule_covers, fallback_covers = (
        np.array(rows, bool).reshape(len(rows), len(frame)).T for rows in (rule_covers, fallback_covers)
    )
    covered = rule_covers.any(axis=1)
    eligible = rule_covers[:, np.array(ORDER, int) - 1]
{added}    fallback_numbers = rule_covers.shape[1] + 1 + np.arange(fallback_covers.shape[1])
    deciding = np.where(covered, _first(eligible, ORDER), _first(fallback_covers, fallback_numbers))
    label = np.array([*LABELS, None], object)[:-1][deciding]
{row}    probabilities = np.array(PROBABILITIES)[row]
{counts}    rule = pd.array(deciding, "Int64")
    rule[deciding == 0] = pd.NA
    columns = {{PREFIX + "label": label, PREFIX + "rule": rule}}
    columns |= {{f"{{PREFIX}}probability_{{one}}": probabilities[:, k] for k, one in enumerate(CLASSES)}}
    return pd.DataFrame(columns, index=frame.index).infer_objects()
"""
_PANDAS_ROW = """    row = deciding
"""
_PANDAS_FOLLOWED = """    row, followed = deciding, {followed}
    for number, start in BY_POINTS.items():
        row = np.where(deciding == number, start + followed[number], row)
"""
_PANDAS_POINTS = '''
def _leader(points):
    """Return the position of the first of the largest numbers of points of each record."""
    return np.argmax(np.column_stack(points), axis=1)


def _lead(points):
    """Return by how many points the largest number of points of each record is larger than the next one."""
    ascending = np.sort(np.column_stack(points), axis=1)
    return ascending[:, -1] - ascending[:, -2]

'''
_PANDAS_CODES = '''
def _without(series, codes):
    """Return a series with missing values instead of codes."""
    if series.dtype in ("int64", "float64"):
        coded = series.isin([code[1] for code in codes if type(code) is tuple and code[0] == "number"])
    else:
        coded = pd.Series([_typed(value) in codes for value in series], series.index, bool)
    return series.mask(coded) if coded.any() else series

'''
_PANDAS_FIRST = '''

def _first(flags, numbers):
    """Return for each record the number of the first flag that is set, 0 if none is."""
    position = np.argmax(np.column_stack([flags, np.ones(len(flags), bool)]), axis=1)
    return np.array([*numbers, 0])[position]

'''
_PANDAS_ADDED = """    ballots = np.array(BALLOTS, np.int64).reshape(-1, len(CLASSES))
    sums = (rule_covers.astype(np.int64) @ ballots)[:, PREFERENCE]
    winner = np.array(PREFERENCE)[sums.argmax(axis=1)]
    labels = np.array([CLASSES.index(LABELS[number]) for number in ORDER], int)
    eligible = eligible & (labels == winner[:, None])
"""
_PANDAS_COUNTS = """    label[covered] = np.array([*CLASSES, None], object)[:-1][winner[covered]]
    parts = (rule_covers @ np.array(COUNTS, float).reshape(-1, len(CLASSES)) + ADDED) * WEIGHTS
    total = parts.sum(axis=1, keepdims=True)
    together = np.where(total > 0, parts / np.where(total > 0, total, 1), UNKNOWN)
    probabilities[covered] = together[covered]
"""


class _Tables(SourceWriter):
    """The code that pandas and polars share."""

    def _check_labels(self) -> None:
        """Raise ValueError for a label that the text columns of tables cannot hold."""
        for label in self.rule_set.classes:
            if isinstance(label, str) and any("\ud800" <= c <= "\udfff" for c in label):
                raise ValueError(f"a table cannot hold the label {label!r}, which has half of a surrogate pair")

    def _named_tables(self) -> str:
        self._check_labels()
        return f"# Start of the names of the new columns.\nPREFIX = {literal(self.prefix)}\n{self.tables()}"


class Pandas(_Tables):
    """Writes a function of a pandas table."""

    missing = "{x}.isna().to_numpy(bool)"
    known = "{x}.notna().to_numpy(bool)"
    compared = "({x} {test} {bound}).to_numpy(bool, na_value=False)"
    always = "np.ones(len(frame), bool)"
    base = "np.full(len(frame), {n})"
    term = "np.where({test}, {n}, 0)"

    def among(self, x: str, values: Sequence[Any]) -> str:
        constant = typed_literal if x in self.typed else self.value
        return f"{x}.isin([{', '.join(constant(value) for value in values)}]).to_numpy(bool)"

    def value(self, value: Any) -> str:
        if not isinstance(value, datetime.date):
            return number_literal(value)
        zone = ', tz="UTC"' if getattr(value, "tzinfo", None) is not None else ""
        return f"pd.Timestamp({datetime.datetime(*date_parts(value)).isoformat()!r}{zone})"  # type: ignore[arg-type]

    def _read(self, column: Hashable, x: str) -> str:
        series = self.without_codes(column, f"frame[{literal(column)}]")
        if x in self.typed:
            return f"pd.Series([_typed(value) for value in {series}], dtype=object)"
        kind, training_kind = kind_of_values(self.rule_set, column), self.rule_set.expected_kind(column)
        if kind == "number" and training_kind == NUMBER:
            return f'pd.Series({series}.to_numpy("float64", na_value=np.nan))'
        if kind in ("date", "instant") and training_kind in (DATE, INSTANT):
            return f"pd.to_datetime({series}{', utc=True' if kind == 'instant' else ''}).dt.floor('us')"
        return f"pd.Series(list({series}), dtype=object)" if kind != "none" or training_kind != NUMBER else series

    def source(self, name: str) -> str:
        rule_set = self.rule_set
        adding = rule_set.decision.ballots is not None
        body = _PANDAS_BODY.format(
            added=_PANDAS_ADDED if adding else "",
            row=_PANDAS_FOLLOWED.format(followed=self.points.followed()) if self.points.follows else _PANDAS_ROW,
            counts=_PANDAS_COUNTS if rule_set.adds_counts else "",
        )
        rule_covers, fallback_covers = (self.list_tests(rules) for rules in (rule_set.rules, rule_set.fallbacks))
        return (
            _PANDAS_HEAD
            + self._named_tables()
            + (VALUE_HELPERS if self.typed or self.codes else "")
            + (_PANDAS_CODES if self.codes else "")
            + _PANDAS_FIRST
            + (_PANDAS_POINTS if self.points.compared() else "")
            + f"\ndef {name}(frame):\n"
            + '    """Return label, rule (the number of the deciding rule) and probabilities of each record."""\n'
            + "".join(f"    {x} = {self._read(column, x)}\n" for column, x in self.names.items())
            + self.point_variables()
            + f"    rule_covers = {rule_covers}\n    fallback_covers = {fallback_covers}\n"
            + body
        )


class Polars(_Tables):
    """Writes a function that returns polars expressions."""

    missing = "{x}.is_null()"
    known = "{x}.is_not_null()"
    compared = "({x} {test} {bound})"
    always = "pl.lit(True)"
    base = "pl.lit({n})"
    term = "pl.when({test}).then({n}).otherwise(0)"

    def among(self, x: str, values: Sequence[Any]) -> str:
        if any(isinstance(value, datetime.date) for value in values) or not values:
            return f"({' | '.join(f'({x} == {self.value(value)})' for value in values) or 'pl.lit(False)'})"
        return f"{x}.is_in([{', '.join(literal(float(v) if type(v) is int else v) for v in values)}])"

    def value(self, value: Any) -> str:
        if not isinstance(value, datetime.date):
            return f"pl.lit({literal(float(value) if type(value) is int else value)})"
        zone = ', time_zone="UTC"' if getattr(value, "tzinfo", None) is not None else ""
        return f"pl.datetime(*{date_parts(value)!r}{zone})"

    def _read(self, column: Hashable) -> str:
        kind, name = kind_of_values(self.rule_set, column), column if isinstance(column, str) else str(column)
        x = f"pl.col({(f'^{re.escape(name)}$' if _is_pattern(name) else name)!r})"
        codes = exported_codes(self.rule_set, column, kind)
        read = self._typed_column(x, common_kind(codes, column) if kind == "none" else kind, column)
        if not codes:
            return read
        tests = [f"({x if _is_large(code) else read} == {self._code(code)})" for code in codes]
        return f"pl.when({' | '.join(tests)}).then(None).otherwise({read})"

    def _code(self, code: Any) -> str:
        """Return a code for missing values as source; large integers are not rounded."""
        if isinstance(code, int) and not -(2**63) <= code < 2**63:
            raise ValueError(
                f"polars source cannot represent the code {code} for missing values: it has 64-bit integers"
            )
        return f"pl.lit({code})" if _is_large(code) else self.value(code)

    def _typed_column(self, x: str, kind: str, column: Hashable) -> str:
        """Return a column in the form in which it is compared."""
        if kind == "number" or (kind == "none" and self.rule_set.kind(column) == NUMBER):
            return f"{x}.cast(pl.Float64).fill_nan(None)"
        if kind == "date":
            return f'{x}.cast(pl.Datetime("us"))'
        if kind == "instant":
            return f'{x}.dt.convert_time_zone("UTC").cast(pl.Datetime("us", "UTC"))'
        return f"{x}.cast(pl.String)" if kind == "text" else x

    def source(self, name: str) -> str:
        rule_set, decision = self.rule_set, self.rule_set.decision
        texts = [str(column) for column in self.names]
        duplicates = [text for text in texts if texts.count(text) > 1]
        if duplicates:
            raise ValueError(f"two columns are both called {duplicates[0]!r} as text, and polars has only text names")
        together = rule_set.adds_counts
        lines = [f"    {x} = {self._read(column)}" for column, x in self.names.items()]
        lines += self._point_lines() if self.points else []
        lines += ["    covers = ["]
        lines += [f"        ({self.covers(rule)}).fill_null(False)," for rule in rule_set.all_rules]
        lines += ["    ]", f"    n_rules = {len(rule_set.rules)}"]
        lines.append(_POLARS_ORDERED if decision.ballots is None else _POLARS_ADDED)
        if self.points.follows:
            lines.append(_POLARS_FOLLOWED.replace("{followed}", self.points.followed()))
        number = "fallback" if together else "deciding"
        return (
            '"""If-then rules as polars expressions: frame.with_columns(predict())."""\n\nimport polars as pl\n\n'
            + self._named_tables()
            + "\n"
            + (_POLARS_POINTS if self.points.compared() else "")
            + f"\n\ndef {name}():\n"
            + '    """Return expressions: label, rule (the number of the deciding rule) and probabilities."""\n'
            + "\n".join(lines)
            + "\n"
            + _POLARS_END.format(number=number, row="row" if self.points.follows else number)
            + (_POLARS_COUNTS if together else "")
            + _POLARS_LAST
            + (_POLARS_BOUND if self.points else "    return results\n")
        )

    def _point_lines(self) -> list[str]:
        """Return the lines for points: a struct with all of them, whose fields the expressions read.

        An expression of polars that is used twice is computed twice; a field of a struct is computed once. The first
        field gives the struct one row for each record, even if all points are constants.
        """
        sums, compared = self.point_terms(), self.points.compared()
        lines = [f'    {name} = pl.field("{name}")' for name in (*sums, *compared)]
        lines += ["    points = pl.struct(", f'        {next(iter(self.names.values()))}.is_null().alias("first"),']
        lines += [f"        pl.sum_horizontal({', '.join(terms)}).alias({name!r})," for name, terms in sums.items()]
        lines.append("    )")
        lines += [f"    points = points.struct.with_fields({call}.alias({name!r}))" for name, call in compared.items()]
        return lines


def _is_large(code: Any) -> bool:
    return type(code) is int and abs(code) >= 2**53


def _is_pattern(name: str) -> bool:
    """Return whether polars would read a name as a pattern."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


_POLARS_ORDERED = """    order = [*ORDER, *range(n_rules + 1, len(covers) + 1)]
    deciding = pl.coalesce(*(pl.when(covers[number - 1]).then(number) for number in order), 0)"""
_POLARS_FOLLOWED = """    followed = {followed}
    row_numbers = [BY_POINTS[number] + followed[number] if number in BY_POINTS else number for number in order]
    row = pl.coalesce(*(pl.when(covers[number - 1]).then(n) for number, n in zip(order, row_numbers)), 0)"""
_POLARS_POINTS = '''

def _leader(points):
    """Return the position of the first of the largest numbers of points."""
    return pl.concat_list(points).list.arg_max()


def _lead(points):
    """Return by how many points the largest number of points is larger than the next one."""
    ascending = pl.concat_list(points).list.sort()
    return ascending.list.get(-1) - ascending.list.get(-2)
'''
_POLARS_BOUND = """    return [
        points.struct.with_fields(result.alias("result")).struct.field("result").alias(result.meta.output_name())
        for result in results
    ]
"""
_POLARS_ADDED = """    covered = pl.any_horizontal(*covers[:n_rules], False)
    sums = [
        pl.sum_horizontal(0, *(covers[j].cast(pl.Int64) * row[k] for j, row in enumerate(BALLOTS) if row[k]))
        for k in range(len(CLASSES))
    ]
    winner_position = pl.concat_list(*(sums[k] for k in PREFERENCE)).list.arg_max()
    deciding_by_winner = [
        pl.coalesce(*(pl.when(covers[number - 1]).then(number) for number in ORDER if LABELS[number] == CLASSES[k]), 0)
        for k in PREFERENCE
    ]
    fallback_numbers = range(n_rules + 1, len(covers) + 1)
    fallback = pl.coalesce(*(pl.when(covers[number - 1]).then(number) for number in fallback_numbers), 0)
    deciding = pl.concat_list(*deciding_by_winner).list.get(winner_position)
    deciding = pl.when(covered).then(deciding).otherwise(fallback)"""
_POLARS_END = """    label = {number}.replace_strict(range(len(LABELS)), LABELS)
    rows = range(len(PROBABILITIES))
    shares = [
        {row}.replace_strict(rows, [row[k] for row in PROBABILITIES], return_dtype=pl.Float64)
        for k in range(len(CLASSES))
    ]
"""
_POLARS_LAST = """    results = [
        label.alias(PREFIX + "label"),
        pl.when(deciding > 0).then(deciding).alias(PREFIX + "rule"),
        *(share.alias(f"{PREFIX}probability_{one}") for one, share in zip(CLASSES, shares)),
    ]
"""
_POLARS_COUNTS = """    rows = [[count * weight for count, weight in zip(row, WEIGHTS)] for row in COUNTS]
    start = [added * weight for added, weight in zip(ADDED, WEIGHTS)]
    parts = [
        pl.sum_horizontal(start[k], *(covers[j].cast(pl.Float64) * row[k] for j, row in enumerate(rows) if row[k]))
        for k in range(len(CLASSES))
    ]
    total = pl.sum_horizontal(sum(start), *(covers[j].cast(pl.Float64) * sum(row) for j, row in enumerate(rows)))
    together = [pl.when(total > 0).then(part / total).otherwise(share) for part, share in zip(parts, UNKNOWN)]
    winner_label = winner_position.replace_strict(range(len(CLASSES)), [CLASSES[k] for k in PREFERENCE])
    label = pl.when(covered).then(winner_label).otherwise(label)
    shares = [pl.when(covered).then(summed).otherwise(share) for summed, share in zip(together, shares)]
"""
