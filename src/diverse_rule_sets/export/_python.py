"""A rule set as Python source: a plain function without imports, or a function for pandas or polars tables.

Names and values are written only as ``repr`` of strings, numbers, booleans and tuples.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import keyword
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from diverse_rule_sets._input.checks import check_choice
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.export._python_tables import Pandas, Polars
from diverse_rule_sets.export._source import (
    VALUE_HELPERS,
    SourceWriter,
    date_parts,
    literal,
    number_literal,
    typed_literal,
)
from diverse_rule_sets.model._rules import RuleSet


def to_python(rule_set: RuleSet, *, kind: str, name: str, prefix: str) -> str:
    """Return the source; see :meth:`RuleSet.to_python`, which has the defaults of the parameters."""
    check_choice("kind", kind, _WRITERS)
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise ValueError(f"name must be a name that a Python function can have, got {name!r}")
    if not isinstance(prefix, str):
        raise TypeError(f"prefix must be a string, got {prefix!r}")
    writer = _WRITERS[kind](rule_set, prefix)
    for value in (*rule_set.classes, *rule_set.columns):
        literal(value)
    if name in _used_names(writer.source(_PLACEHOLDER)):
        raise ValueError(f"name must be one that the source does not use for something else, got {name!r}")
    return writer.source(name)


_PLACEHOLDER = "name_of_the_function"


def _used_names(source: str) -> set[str]:
    """Return the names that the source defines in its module, and the builtins that it uses."""
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets}  # type: ignore[attr-defined]
    imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    }
    return functions | assigned | imported | (used & set(dir(builtins)))


_FUNCTION_HELPERS = '''
def _number(value):
    """Return a number as a float, None if it is missing: whole numbers of any size are compared as floats."""
    value = _known(value)
    return None if value is None else float(value)


def _moment(value, utc):
    """Return a date or time as whole numbers that compare; None if it is missing."""
    value = _known(value)
    return None if value is None else _parts(value, utc)

'''

_FUNCTION_CODES = '''
def _without(value, codes):
    """Return a value; None if it is a code for a missing value."""
    return None if _typed(value) in codes else value

'''
_FUNCTION_DOC = '''    """Return label, rule and probabilities of a record.

    The record is a dict of values by column; a missing value is None or NaN. The rule is the number of the
    deciding rule; None if no rule and no fallback rule decides.
    """
'''
_FUNCTION_ORDERED = """    deciding = next((number for number in ORDER if rule_covers[number - 1]), None)
    if deciding is None:
        deciding = next((number for number, covers in enumerate(fallback_covers, len(rule_covers) + 1) if covers), 0)
{followed}    label, probabilities = LABELS[deciding], PROBABILITIES[{row}]
"""
_FUNCTION_FOLLOWED = """    followed = {followed}
    row = BY_POINTS[deciding] + followed[deciding] if deciding in BY_POINTS else deciding
"""
_FUNCTION_ADDED = """    if any(rule_covers):
        ballots = [row for row, covers in zip(BALLOTS, rule_covers) if covers]
        sums = [sum(row[k] for row in ballots) for k in range(len(CLASSES))]
        winner = max(PREFERENCE, key=lambda k: sums[k])
        label = CLASSES[winner]
        deciding = next((number for number in ORDER if rule_covers[number - 1] and LABELS[number] == label), 0)
        probabilities = {probabilities}
    else:
        deciding = next((number for number, covers in enumerate(fallback_covers, len(rule_covers) + 1) if covers), 0)
        label, probabilities = LABELS[deciding], PROBABILITIES[deciding]
"""
_FUNCTION_RETURN = """    probabilities = dict(zip(CLASSES, probabilities))
    return {"label": label, "rule": deciding or None, "probabilities": probabilities}
"""
_FUNCTION_POINTS = '''
def _leader(points):
    """Return the position of the first of the largest numbers of points."""
    return points.index(max(points))


def _lead(points):
    """Return by how many points the largest number of points is larger than the next one."""
    second, first = sorted(points)[-2:]
    return first - second

'''
_FUNCTION_TOGETHER = '''

def _together(rule_covers):
    """Return the probabilities of all covering rules together."""
    counts = [sum(row[k] for row, covers in zip(COUNTS, rule_covers) if covers) for k in range(len(CLASSES))]
    parts = [weight * (count + added) for count, added, weight in zip(counts, ADDED, WEIGHTS)]
    return [part / sum(parts) for part in parts] if sum(parts) > 0 else UNKNOWN

'''


class _Function(SourceWriter):
    """Writes a plain function of one record, without imports."""

    missing = "{x} is None"
    known = "{x} is not None"
    compared = "{x} is not None and {x} {test} {bound}"
    negation = "not "
    both = " and "
    always = "True"
    base = "{n}"
    term = "({n} if {test} else 0)"

    def among(self, x: str, values: Sequence[Any]) -> str:
        constants = [typed_literal(value) if x in self.typed else self.value(value) for value in values]
        if len(constants) == 1:
            return f"{x} == {constants[0]}"
        return f"{x} in ({''.join(f'{constant}, ' for constant in constants)})"

    def value(self, value: Any) -> str:
        return literal(date_parts(value)) if isinstance(value, datetime.date) else number_literal(value)

    def _read(self, column: Hashable, x: str) -> str:
        value = self.without_codes(column, f"record[{literal(column)}]")
        kind = self.rule_set.expected_kind(column)
        if x in self.typed:
            return f"_typed({value})"
        if kind == NUMBER:
            return f"_number({value})"
        return f"_moment({value}, utc={kind == INSTANT})" if kind in (DATE, INSTANT) else f"_known({value})"

    def source(self, name: str) -> str:
        rule_set = self.rule_set
        adding = rule_set.decision.ballots is not None
        together = rule_set.adds_counts
        added = _FUNCTION_ADDED.replace(
            "{probabilities}", "_together(rule_covers)" if together else "PROBABILITIES[deciding]"
        )
        followed = _FUNCTION_FOLLOWED.replace("{followed}", self.points.followed()) if self.points.follows else ""
        ordered = _FUNCTION_ORDERED.replace("{followed}", followed).replace("{row}", "row" if followed else "deciding")
        rule_covers, fallback_covers = (self.list_tests(rules) for rules in (rule_set.rules, rule_set.fallbacks))
        return (
            '"""If-then rules as a plain function of one record; no imports are needed."""\n\n'
            + self.tables()
            + VALUE_HELPERS
            + _FUNCTION_HELPERS
            + (_FUNCTION_CODES if self.codes else "")
            + (_FUNCTION_TOGETHER if together else "")
            + (_FUNCTION_POINTS if self.points.compared() else "")
            + f"\ndef {name}(record):\n"
            + _FUNCTION_DOC
            + "".join(f"    {x} = {self._read(column, x)}\n" for column, x in self.names.items())
            + self.point_variables()
            + f"    rule_covers = {rule_covers}\n    fallback_covers = {fallback_covers}\n"
            + (added if adding else ordered)
            + _FUNCTION_RETURN
        )


_WRITERS: dict[str, Callable[[RuleSet, str], SourceWriter]] = {
    "function": _Function,
    "pandas": Pandas,
    "polars": Polars,
}
