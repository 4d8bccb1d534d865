"""The grammar of rules: reads back the text that ``str`` prints.

::

    rule       IF condition AND condition ... THEN label     (IF anything THEN label, without conditions)
    condition  37 < age <= 60  |  age > 37  |  sex = "F"  |  job in {"clerk", "sales"}  |  job not in {"clerk"}  |
               income is missing
    name       unchanged, or in backticks if it could be misread, or in brackets, such as [5], if it is not a string
    value      a number, "text", True, False, or a date: 2020-01-31, 2020-01-31 12:00:00, with Z if it has a time zone

The text is never executed. In addition to the printed forms, ``'text'``, ``==``, ``!=``, ``>=`` and ``<`` are accepted,
and several conditions on a column are combined into one. The number before a printed rule and the figures after it are
ignored.
"""

from __future__ import annotations

import ast
import datetime
import json
import math
import re
from typing import Any

from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn, merge_conditions
from diverse_rule_sets.model._formatting import ANYTHING, FIGURES

_QUOTED = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'"
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_DATE = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?(?:Z|[-+]\d\d:\d\d)?"
_BOUND = rf"{_DATE}|{_NUMBER}"
_VALUE = rf"{_QUOTED}|True\b|False\b|-?inf\b|{_BOUND}"
_BARE = r"(?!\s)(?:(?!\b(?:AND|THEN)\b|\bis missing\b)[^=<>!\"'`{}])+?"
_NAME = rf"`(?:[^`]|``)*`|\[(?:{_QUOTED}|[^\]'\"])*\]|{_BARE}"
_SET = rf"\{{\s*(?:(?:{_VALUE})(?:\s*,\s*(?:{_VALUE}))*)?\s*\}}"
_END = r"(?=\s+(?:AND|THEN)\b|\s*\Z)"

_BETWEEN = re.compile(
    rf"(?P<low>{_BOUND})\s*(?P<above><=?)\s*(?P<name>{_NAME})\s*(?P<below><=?)\s*(?P<high>{_BOUND}){_END}", re.DOTALL
)
_COMPARISON = re.compile(rf"(?P<name>{_NAME})\s*(?P<test><=|>=|<|>)\s*(?P<value>{_BOUND}){_END}", re.DOTALL)
_EQUAL = re.compile(rf"(?P<name>{_NAME})\s*(?P<test>==?|!=)\s*(?P<value>{_VALUE}){_END}", re.DOTALL)
_MEMBER = re.compile(rf"(?P<name>{_NAME})\s+(?P<test>in|not\s+in)\s*(?P<values>{_SET}){_END}", re.DOTALL)
_REVERSED = re.compile(rf"(?P<value>{_BOUND})\s*(?P<test><=|>=|<|>)\s*(?P<name>{_NAME}){_END}", re.DOTALL)
_MISSING = re.compile(rf"(?P<name>{_NAME})\s+is\s+missing{_END}", re.DOTALL)
_ONE_VALUE = re.compile(_VALUE, re.DOTALL)
_DATE_ONLY = re.compile(_DATE)
_NUMBER_ONLY = re.compile(_NUMBER)
_BLANKS = re.compile(r"\s+")
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
    start = re.match(r"\s*(?:\d+\.\s*)?IF\s+", text)
    if start is None:
        raise _error(text, 0, "IF, then conditions, THEN and a label, as in 'IF age <= 37 THEN good'")
    position = start.end()
    conditions: list[Condition] = []
    anything = re.compile(rf"{ANYTHING}\s+THEN\b").match(text, position)
    if anything:
        return (), _label(text, anything.end())
    while True:
        condition, position = _condition(text, position)
        conditions.append(condition)
        following = re.compile(r"\s+(AND|THEN)\b\s*").match(text, position)
        if following is None:
            raise _error(text, position, "AND and a condition, or THEN and a label")
        position = following.end()
        if following[1] == "THEN":
            return merge_conditions(conditions), _label(text, position)


def _condition(text: str, position: int) -> tuple[Condition, int]:
    """Read one condition; return it and the position of its end."""
    for pattern, make in _FORMS:
        found = pattern.match(text, position)
        if found:
            try:
                return make(_name(found["name"]), found), found.end()
            except TypeError as error:
                raise ValueError(f"cannot read the condition {found[0]!r}: {error}") from None
    piece = re.split(r"\s(?:AND|THEN)\b", text[position:], maxsplit=1)[0]
    hint = next((f" ({message})" for pattern, message in _HINTS if re.search(pattern, piece)), "")
    raise _error(
        text, position, f'a condition such as age <= 37, sex = "F", job in {{"clerk"}} or income is missing{hint}'
    )


def _between(name: Any, found: re.Match[str]) -> Condition:
    """Read `37 < age <= 60`."""
    low, high = _value(found["low"]), _value(found["high"])
    interval = Interval(name, low, high, with_low=found["above"] == "<=", with_high=found["below"] == "<=")
    if interval.empty:
        raise ValueError(f"no value can meet {interval}")
    return interval


def _comparison(name: Any, found: re.Match[str]) -> Condition:
    """Read `age > 37`."""
    bound, closed = _value(found["value"]), found["test"].endswith("=")
    if found["test"].startswith(">"):
        return Interval(name, low=bound, with_low=closed)
    return Interval(name, high=bound, with_high=closed)


def _reversed(name: Any, found: re.Match[str]) -> Condition:
    """Read `37 <= age` as `age >= 37`."""
    bound, closed = _value(found["value"]), found["test"].endswith("=")
    if found["test"].startswith("<"):
        return Interval(name, low=bound, with_low=closed)
    return Interval(name, high=bound, with_high=closed)


def _equal(name: Any, found: re.Match[str]) -> Condition:
    """Read `sex = "F"` or `sex != "F"`."""
    value = _value(found["value"])
    return IsNotIn(name, (value,)) if found["test"] == "!=" else Equals(name, value)


def _member(name: Any, found: re.Match[str]) -> Condition:
    """Read `job in {"clerk", "sales"}` or `job not in {"clerk"}`."""
    values = tuple(_value(one) for one in _ONE_VALUE.findall(found["values"]))
    if found["test"] != "in":
        return IsNotIn(name, values)
    return IsIn(name, values) if len(values) != 1 else Equals(name, values[0])


_FORMS = (
    (_BETWEEN, _between),
    (_COMPARISON, _comparison),
    (_REVERSED, _reversed),
    (_EQUAL, _equal),
    (_MEMBER, _member),
    (_MISSING, lambda name, found: IsMissing(name)),
)


def _name(text: str) -> Any:
    """Read the name of a column."""
    if text.startswith("`"):
        inner = text[1:-1].replace("``", "`")
        return re.sub(r"\\(?:x..|u.{4}|U.{8}|.|$)", lambda found: _character(found[0]), inner, flags=re.DOTALL)
    if text.startswith("["):
        if _DATE_ONLY.fullmatch(text[1:-1]):
            return _moment(text[1:-1])
        try:
            name = ast.literal_eval(text[1:-1])  # constants only: nothing is executed
            hash(name)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            raise ValueError(f"a column name in brackets must be a number, a date or a tuple, got {text}") from None
        return name
    return text


def _character(escape: str) -> str:
    """Read one character that is escaped as in a Python string."""
    try:
        if escape[1:2] not in tuple("\\nrtxuU"):
            raise ValueError
        return escape.encode("ascii").decode("unicode_escape")
    except ValueError:  # includes UnicodeError
        raise ValueError(f"{escape!r} in a column name is not an escape sequence; write a backslash as \\\\") from None


def _value(text: str) -> Any:
    """Read a value: text in quotes, a boolean, a date or a number."""
    if text[0] == '"':
        return _unquote(text)
    if text[0] == "'":
        inner = re.sub(r'\\?"', r'\\"', text[1:-1].replace("\\'", "'"))
        return _unquote(f'"{inner}"')
    if text in ("True", "False"):
        return text == "True"
    if _DATE_ONLY.fullmatch(text):
        return _moment(text)
    if text.endswith("inf"):
        return float(text)
    number = float(text)  # accepts any number of digits
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number if set(text) & set(".eE") else int(text)


def _unquote(text: str) -> str:
    """Read text in double quotes."""
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        raise ValueError(f'cannot read the text {text}; write quotes and backslashes in it as \\" and \\\\') from None


def _moment(text: str) -> datetime.datetime:
    """Read a date, with or without a time."""
    start = "T00:00" if text[10:11] in ("Z", "+", "-") else ""
    try:
        moment = datetime.datetime.fromisoformat(text[:10] + start + text[10:])
    except ValueError:
        raise ValueError(f"{text} is not a date; expected a date such as 2020-01-31 or 2020-01-31 12:00:00") from None
    return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC)


def _label(text: str, position: int) -> Any:
    """Read the label: the text from a position to the end, without figures."""
    label = text[position:].strip()
    if not label:
        raise _error(text, position, "a label after THEN")
    if label[0] in "\"'":
        quoted = re.match(_QUOTED, label, re.DOTALL)
        if quoted is None or (quoted[0] != label and not FIGURES.fullmatch(label, quoted.end())):
            raise _error(text, position, "a label in quotes and no text after it")
        return _value(quoted[0])
    label = FIGURES.sub("", label)
    if label in ("True", "False") or _NUMBER_ONLY.fullmatch(label):
        return _value(label)
    return _BLANKS.sub(" ", label) if "\n" in label else label


def _error(text: str, position: int, expected: str) -> ValueError:
    """Return the error for a text that is not a rule: what was expected, and what was found at a position."""
    following = text[position : position + 60]
    found = f"found {following!r}" if following.strip() else "the text ends"
    return ValueError(
        f"cannot read the rule {text[:200]!r}: expected {expected}, but at character {position + 1} {found}"
    )
