"""The grammar of rules: what ``str`` prints, read back.

::

    rule       IF condition AND condition ... THEN label     (IF anything THEN label, without conditions)
    condition  37 < age <= 60  |  age > 37  |  sex = "F"  |  job in {"clerk", "sales"}  |  job not in {"clerk"}  |
               income is missing
    name       as it is, or in backticks where it could be misread, or [5] where it is no string
    value      a number, "text", True, False, or a date: 2020-01-31, 2020-01-31 12:00:00, with Z if it has a time zone

Nothing of it is ever executed. Beyond what is printed, ``'text'``, ``==``, ``!=``, ``>=`` and ``<`` are understood, and
conditions on the same column are put together. The number before a printed rule and the figures behind it are passed
over.
"""

from __future__ import annotations

import ast
import datetime
import json
import math
import re
from typing import Any

from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn, merged
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
_COMPARED = re.compile(rf"(?P<name>{_NAME})\s*(?P<test><=|>=|<|>)\s*(?P<value>{_BOUND}){_END}", re.DOTALL)
_EQUAL = re.compile(rf"(?P<name>{_NAME})\s*(?P<test>==?|!=)\s*(?P<value>{_VALUE}){_END}", re.DOTALL)
_AMONG = re.compile(rf"(?P<name>{_NAME})\s+(?P<test>in|not\s+in)\s*(?P<values>{_SET}){_END}", re.DOTALL)
_TURNED = re.compile(rf"(?P<value>{_BOUND})\s*(?P<test><=|>=|<|>)\s*(?P<name>{_NAME}){_END}", re.DOTALL)
_MISSING = re.compile(rf"(?P<name>{_NAME})\s+is\s+missing{_END}", re.DOTALL)
_ONE_VALUE = re.compile(_VALUE, re.DOTALL)
_DATE_ONLY = re.compile(_DATE)
_NUMBER_ONLY = re.compile(_NUMBER)
_GAP = re.compile(r"\s+")
# What people write that is not understood, and what to say then.
_HINTS = (
    (r"\b(?:and|then)\b", "AND and THEN stand in capitals"),
    (r"\bis\s+not\s+missing\b", "there is no 'is not missing'; every comparison holds for known values only"),
    (r"[<>]=?\s*[\"']", "only numbers and dates have an order, and they stand without quotes"),
    (r"=\s*(?:true|false|TRUE|FALSE)\b", "True and False are written so"),
    (r"=\s*[^\W\d]", "text stands in quotes"),
)


def parse_rule(text: str) -> tuple[tuple[Condition, ...], Any]:
    """Return the conditions and the label of a rule in words."""
    if not isinstance(text, str):
        raise TypeError(f"a rule in words must be a string, got {type(text).__name__}")
    begin = re.match(r"\s*(?:\d+\.\s*)?IF\s+", text)
    if begin is None:
        raise _error(text, 0, "IF, then conditions, THEN and a label, as in 'IF age <= 37 THEN good'")
    position = begin.end()
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
            return merged(conditions), _label(text, position)


def _condition(text: str, position: int) -> tuple[Condition, int]:
    """Read one condition; return it and where it ends."""
    for pattern, make in _FORMS:
        found = pattern.match(text, position)
        if found:
            try:
                return make(_name(found["name"]), found), found.end()
            except TypeError as error:
                raise ValueError(f"cannot read the condition {found[0]!r}: {error}") from None
    piece = re.split(r"\s(?:AND|THEN)\b", text[position:], maxsplit=1)[0]
    hint = next((f" ({words})" for pattern, words in _HINTS if re.search(pattern, piece)), "")
    raise _error(
        text, position, f'a condition such as age <= 37, sex = "F", job in {{"clerk"}} or income is missing{hint}'
    )


def _between(name: Any, found: re.Match[str]) -> Condition:
    low, high = _value(found["low"]), _value(found["high"])
    interval = Interval(name, low, high, with_low=found["above"] == "<=", with_high=found["below"] == "<=")
    if interval.empty:
        raise ValueError(f"no value can meet {interval}")
    return interval


def _compared(name: Any, found: re.Match[str]) -> Condition:
    bound, closed = _value(found["value"]), found["test"].endswith("=")
    if found["test"].startswith(">"):
        return Interval(name, low=bound, with_low=closed)
    return Interval(name, high=bound, with_high=closed)


def _turned(name: Any, found: re.Match[str]) -> Condition:
    """Read `37 <= age` as `age >= 37`."""
    bound, closed = _value(found["value"]), found["test"].endswith("=")
    if found["test"].startswith("<"):
        return Interval(name, low=bound, with_low=closed)
    return Interval(name, high=bound, with_high=closed)


def _equal(name: Any, found: re.Match[str]) -> Condition:
    value = _value(found["value"])
    return IsNotIn(name, (value,)) if found["test"] == "!=" else Equals(name, value)


def _among(name: Any, found: re.Match[str]) -> Condition:
    values = tuple(_value(one) for one in _ONE_VALUE.findall(found["values"]))
    if found["test"] != "in":
        return IsNotIn(name, values)
    return IsIn(name, values) if len(values) != 1 else Equals(name, values[0])


_FORMS = (
    (_BETWEEN, _between),
    (_COMPARED, _compared),
    (_TURNED, _turned),
    (_EQUAL, _equal),
    (_AMONG, _among),
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
    """Read one character that was escaped as in a Python string."""
    try:
        if escape[1:2] not in tuple("\\nrtxuU"):
            raise ValueError
        return escape.encode("ascii").decode("unicode_escape")
    except ValueError:  # which a UnicodeError is too
        raise ValueError(f"{escape!r} in a column name is no escaped character; a backslash is written \\\\") from None


def _value(text: str) -> Any:
    """Read a value: text in quotes, a boolean, a date or a number."""
    if text[0] == '"':
        return _unquoted(text)
    if text[0] == "'":
        inner = re.sub(r'\\?"', r'\\"', text[1:-1].replace("\\'", "'"))
        return _unquoted(f'"{inner}"')
    if text in ("True", "False"):
        return text == "True"
    if _DATE_ONLY.fullmatch(text):
        return _moment(text)
    if text.endswith("inf"):
        return float(text)
    number = float(text)  # of any number of digits
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number if set(text) & set(".eE") else int(text)


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        raise ValueError(
            f'cannot read the text {text}; quotes and backslashes in it are written \\" and \\\\'
        ) from None


def _moment(text: str) -> datetime.datetime:
    start = "T00:00" if text[10:11] in ("Z", "+", "-") else ""
    try:
        moment = datetime.datetime.fromisoformat(text[:10] + start + text[10:])
    except ValueError:
        raise ValueError(f"{text} is no date; expected one such as 2020-01-31 or 2020-01-31 12:00:00") from None
    return moment if moment.tzinfo is None else moment.astimezone(datetime.UTC)


def _label(text: str, position: int) -> Any:
    """Read the label: all that is left."""
    label = text[position:].strip()
    if not label:
        raise _error(text, position, "a label after THEN")
    if label[0] in "\"'":
        quoted = re.match(_QUOTED, label, re.DOTALL)
        if quoted is None or (quoted[0] != label and not FIGURES.fullmatch(label, quoted.end())):
            raise _error(text, position, "a label in quotes, and nothing after it")
        return _value(quoted[0])
    label = FIGURES.sub("", label)
    if label in ("True", "False") or _NUMBER_ONLY.fullmatch(label):
        return _value(label)
    return _GAP.sub(" ", label) if "\n" in label else label


def _error(text: str, position: int, expected: str) -> ValueError:
    there = text[position : position + 60]
    found = f"found {there!r}" if there.strip() else "the text ends"
    return ValueError(
        f"cannot read the rule {text[:200]!r}: expected {expected}, but at character {position + 1} {found}"
    )
