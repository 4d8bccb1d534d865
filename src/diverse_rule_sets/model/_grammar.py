"""The grammar of rules: reads back the text that ``str`` prints.

::

    rule       IF condition AND condition ... THEN label     (IF anything THEN label, without conditions)
    condition  37 < age <= 60  |  age > 37  |  sex = "F"  |  job in {"clerk", "sales"}  |  job not in {"clerk"}  |
               income is missing
    name       unchanged, or in backticks if it could be misread, or in brackets, such as [5], if it is not a string
    value      a number, "text", True, False, a date or b"bytes"; see :mod:`._literals`

The text is never executed. In addition to the printed forms, ``'text'``, ``==``, ``!=``, ``>=`` and ``<`` are accepted,
and several conditions on a column are combined into one. The number before a printed rule and the figures after it are
ignored. Reading takes time in proportion to the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn, merge_conditions
from diverse_rule_sets.model._formatting import ANYTHING, find_figures
from diverse_rule_sets.model._literals import (
    Found,
    bound_at,
    excerpt,
    is_bound,
    is_label,
    name_at,
    read_value,
    value_at,
)

_START = re.compile(r"\s*+(?:\d++\.\s*+)?+IF\s++")
_NO_CONDITION = re.compile(rf"{ANYTHING}\s++THEN\b")
# The end of a name without backticks.
_NAME_END = re.compile(r"[=<>!\"'`{}]|\b(?:AND|THEN)\b|\bis\s+missing\b")
# What follows a name: an operator, a set or `is missing`.
_TEST = re.compile(
    r"\s*+(?:(?P<order>[<>]=?)|(?P<equal>==?|!=)|(?P<member>in|not\s++in)\s*+\{|(?P<missing>is\s++missing)\b)\s*+"
)
_UPPER = re.compile(r"\s*+(<=?)\s*+")
_COMMA = re.compile(r"\s*+,\s*+")
_SET_END = re.compile(r"\s*+\}")
_BLANKS = re.compile(r"\s+")
_END = re.compile(r"(?=\s++(?:AND|THEN)\b|\s*+\Z)")
_NEXT = re.compile(r"\s++(AND|THEN)\b\s*+")
_QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+"' + r"|'(?:[^'\\]++|\\.)*+'", re.DOTALL)
_MAX_MESSAGE = 600
# Frequent mistakes, and the hints that are added to the error message.
_HINTS = (
    (r"\b(?:and|then)\b", "AND and THEN must be in capital letters"),
    (r"\bis\s+not\s+missing\b", "'is not missing' is not supported; comparisons never hold for missing values"),
    (r"[<>]=?\s*[\"']", "only numbers and dates can be compared by order, and they are written without quotes"),
    (r"=\s*(?:true|false|TRUE|FALSE)\b", "booleans are written True and False"),
    (r"=\s*[^\W\d]", "text must be in quotes"),
)


def parse_rule(text: str) -> tuple[tuple[Condition, ...], Any]:
    """Return the conditions and the label of a rule that is given as text."""
    if not isinstance(text, str):
        raise TypeError(f"the text of a rule must be a string, got {type(text).__name__}")
    try:
        return _rule(text)
    except ValueError as error:
        message = str(error)  # may contain a long name or value
        raise ValueError(message if len(message) <= _MAX_MESSAGE else message[:_MAX_MESSAGE] + "...") from None


def _rule(text: str) -> tuple[tuple[Condition, ...], Any]:
    """Read the conditions and the label."""
    start = _START.match(text)
    if start is None:
        raise _error(text, 0, "IF, then conditions, THEN and a label, as in 'IF age <= 37 THEN good'")
    position = start.end()
    anything = _NO_CONDITION.match(text, position)
    if anything:
        return (), _label(text, anything.end())
    conditions: list[Condition] = []
    while True:
        condition, position = _condition(text, position)
        conditions.append(condition)
        following = _NEXT.match(text, position)
        if following is None:
            raise _error(text, position, "AND and a condition, or THEN and a label")
        position = following.end()
        if following[1] == "THEN":
            return _combine(conditions), _label(text, position)


def _combine(conditions: list[Condition]) -> tuple[Condition, ...]:
    """Return one condition for each column. Values that are excluded one by one are collected first, in linear time."""
    groups: dict[Hashable, list[IsNotIn]] = {}
    for condition in conditions:
        if isinstance(condition, IsNotIn):
            groups.setdefault(condition.column, []).append(condition)
    collected: list[Condition] = []
    for condition in conditions:
        group = groups[condition.column] if isinstance(condition, IsNotIn) else [condition]
        if condition is group[0]:
            collected.append(condition if len(group) == 1 else _exclude_all(condition.column, group))
    return merge_conditions(collected)


def _exclude_all(column: Hashable, conditions: list[Any]) -> IsNotIn:
    """Return the condition that excludes the values of several conditions; True and 1 are different values."""
    values = {(isinstance(value, bool), value): value for one in conditions for value in one.values}
    return IsNotIn(column, tuple(values.values()))


def _condition(text: str, position: int) -> Found:
    """Read one condition; return it and the position of its end."""
    operand = _operand(text, position)
    test = None if operand is None else _TEST.match(text, operand.end)
    if operand is None or test is None:
        raise _condition_error(text, position)
    read = next(read for group, read in _FORMS.items() if test[group])
    try:
        found = read(text, operand, test)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"cannot read the condition {excerpt(text, position)}: {error}") from None
    if found is None or not _END.match(text, found[1]):
        raise _condition_error(text, position)
    return found


class _Operand(NamedTuple):
    """The name of a column, the position of its end, and whether it could also be a number or a date."""

    name: Any
    end: int
    is_bound: bool = False


def _operand(text: str, position: int) -> _Operand | None:
    """Read the name of a column, or the bound before `<`; None if there is none."""
    if text.startswith(("`", "["), position):
        return _Operand(*name_at(text, position))
    found = _NAME_END.search(text, position)
    written = text[position : len(text) if found is None else found.start()].rstrip()
    if found is not None and found[0] == "{":
        written = _before_in(written)
    return _Operand(written, position + len(written), is_bound(written)) if written else None


def _before_in(written: str) -> str:
    """Return the name before `in` or `not in`; empty if there is neither."""
    name = written.removesuffix("in")
    if name == written or name == name.rstrip():
        return ""
    name = name.rstrip()
    without_not = name.removesuffix("not")
    return without_not.rstrip() if without_not.rstrip() != without_not else name


def _ordered(text: str, left: _Operand, test: re.Match[str]) -> Found | None:
    """Read `age > 37`, `37 <= age` or `37 < age <= 60`."""
    bound = bound_at(text, test.end())
    if bound is not None and _END.match(text, bound[1]):
        return _half_line(left.name, test["order"], bound[0]), bound[1]
    operand = _operand(text, test.end()) if left.is_bound else None
    if operand is None:
        return None
    low, upper = read_value(left.name), _UPPER.match(text, operand.end)
    if upper is None:
        return _half_line(operand.name, _MIRRORED[test["order"]], low), operand.end
    high = bound_at(text, upper.end())
    if high is None or test["order"].startswith(">"):
        return None
    interval = Interval(operand.name, low, high[0], with_low=test["order"] == "<=", with_high=upper[1] == "<=")
    if interval.empty:
        raise ValueError(f"no value can meet {interval}")
    return interval, high[1]


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _half_line(name: Any, operator: str, bound: Any) -> Interval:
    """Return the interval on one side of a bound."""
    closed = operator.endswith("=")
    if operator.startswith(">"):
        return Interval(name, low=bound, with_low=closed)
    return Interval(name, high=bound, with_high=closed)


def _equal(text: str, left: _Operand, test: re.Match[str]) -> Found | None:
    """Read `sex = "F"` or `sex != "F"`."""
    found = value_at(text, test.end())
    if found is None:
        return None
    value, end = found
    return (IsNotIn(left.name, (value,)) if test["equal"] == "!=" else Equals(left.name, value)), end


def _member(text: str, left: _Operand, test: re.Match[str]) -> Found | None:
    """Read `job in {"clerk", "sales"}` or `job not in {"clerk"}`."""
    values: list[Any] = []
    position = test.end()
    end = _SET_END.match(text, position)
    while end is None:
        found = value_at(text, position)
        if found is None:
            return None
        values.append(found[0])
        end, comma = _SET_END.match(text, found[1]), _COMMA.match(text, found[1])
        if end is None and comma is None:
            return None
        position = position if comma is None else comma.end()
    return (IsIn if test["member"] == "in" else IsNotIn)(left.name, tuple(values)), end.end()


_FORMS: dict[str, Callable[[str, _Operand, re.Match[str]], Found | None]] = {
    "order": _ordered,
    "equal": _equal,
    "member": _member,
    "missing": lambda text, left, test: (IsMissing(left.name), test.end("missing")),
}


def _label(text: str, position: int) -> Any:
    """Read the label: the text from a position to the end, without figures."""
    label = text[position:].strip()
    if not label:
        raise _error(text, position, "a label after THEN")
    quoted = _QUOTED.match(label)
    rest = "" if quoted is None else label[quoted.end() :]
    if quoted is not None and not (rest and find_figures(rest)):
        return read_value(quoted[0])
    if label[0] in "\"'":
        raise _error(text, position, "a label in quotes and no text after it")
    label = label[: find_figures(label)]
    if is_label(label):
        return read_value(label)
    return _BLANKS.sub(" ", label) if "\n" in label else label


def _condition_error(text: str, position: int) -> ValueError:
    """Return the error for a text that is not a condition, with a hint if the mistake is a frequent one."""
    end = re.compile(r"\s(?:AND|THEN)\b").search(text, position)
    piece = text[position : len(text) if end is None else end.start()]
    hint = next((f" ({message})" for pattern, message in _HINTS if re.search(pattern, piece)), "")
    return _error(
        text, position, f'a condition such as age <= 37, sex = "F", job in {{"clerk"}} or income is missing{hint}'
    )


def _error(text: str, position: int, expected: str) -> ValueError:
    """Return the error for a text that is not a rule: what was expected, and what was found at a position."""
    following = text[position : position + 60]
    found = f"found {following!r}" if following.strip() else "the text ends"
    return ValueError(
        f"cannot read the rule {text[:200]!r}: expected {expected}, but at character {position + 1} {found}"
    )
