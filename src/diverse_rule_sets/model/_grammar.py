"""The grammar of rules: reads back the text that ``str`` prints.

::

    rule       IF condition AND condition ... THEN label     (IF anything THEN label, without conditions)
    condition  37 < age <= 60  |  age > 37  |  sex = "F"  |  job in {"clerk", "sales"}  |  job not in {"clerk"}  |
               income is missing
               and for ordered categories: grade >= "B"  |  "B" <= grade <= "D"
               and on a scorecard that is given: points >= 6  |  3 <= points <= 5  |  points = 4  |
               most points for ill  |  lead >= 2  |  points for ill >= 4
    name       unchanged, or in backticks if it could be misread, or in brackets, such as [5], if it is not a string
    value      a number, "text", True, False, a date or b"bytes"; see :mod:`._literals`

The text is never executed. In addition to the printed forms, ``'text'``, ``==``, ``!=``, ``>=`` and ``<`` are accepted,
and several conditions on a column are combined into one. The number before a printed rule and the figures after it are
ignored. Reading takes time in proportion to the length of the text.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from diverse_rule_sets.model._checks import shown
from diverse_rule_sets.model._combination import combine_conditions
from diverse_rule_sets.model._conditions import (
    Condition,
    DerivedColumn,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
)
from diverse_rule_sets.model._formatting import ANYTHING, find_figures, format_name, format_value
from diverse_rule_sets.model._literals import (
    Found,
    excerpt,
    is_label,
    is_value,
    name_at,
    read_value,
    value_at,
)
from diverse_rule_sets.model._ranges import NO_ORDERS, Orders, category_range
from diverse_rule_sets.model._scorecards import LEADER, Scorecard, ScorecardColumn, check_names

_QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+"' + r"|'(?:[^'\\]++|\\.)*+'", re.DOTALL)
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
# The printed name of a part of a scorecard: words, or text in quotes or backticks, each after one blank.
_WORD = rf"`(?:[^`]++|``)*+`|{_QUOTED.pattern}|(?!(?:AND|THEN|in|not|is)\b)[^\s<>=!`\"'{{}}]++"
_DERIVED = re.compile(rf"(?:{_WORD})(?: (?:{_WORD}))*+", re.DOTALL)
# The line of probabilities that is printed after the figures of a rule.
_POINTS_ROW = re.compile(r"\n[^\S\n]*+(?:balanced |weighted )?+probability of [^\n]*+\s*+\Z")
_MAX_MESSAGE = 600
# Frequent mistakes, and the hints that are added to the error message.
_HINTS = (
    (r"\b(?:and|then)\b", "AND and THEN must be in capital letters"),
    (r"\bis\s+not\s+missing\b", "'is not missing' is not supported; comparisons never hold for missing values"),
    (
        r"^most\s.*\sfor\s",
        "to test points, give the scorecard by the parameter scorecards",
    ),
    (r"=\s*(?:true|false|TRUE|FALSE)\b", "booleans are written True and False"),
    (r"=\s*[^\W\d]", "text must be in quotes"),
)


# Derived columns by their printed names; the leader by the text of the condition on each label, with this label.
DerivedColumns = Mapping[str, tuple[ScorecardColumn, Any]]
NO_COLUMNS: DerivedColumns = MappingProxyType({})


class Source(NamedTuple):
    """The text that is read.

    Parameters
    ----------
    text : the whole text
    end : matches at the end of a condition
    derived : the derived columns that conditions may test, see :func:`derived_columns`
    what : what is read, for error messages
    orders : the orders of the columns of ordered categories
    """

    text: str
    end: re.Pattern[str] = _END
    derived: DerivedColumns = NO_COLUMNS
    what: str = "rule"
    orders: Orders = NO_ORDERS


class UnknownOrderError(ValueError):
    """A text compares categories by order, and their order is not known."""


def parse_rule(
    text: str, scorecards: Iterable[Scorecard] = (), orders: Orders = NO_ORDERS
) -> tuple[tuple[Condition, ...], Any]:
    """Return the conditions and the label of a rule that is given as text; conditions may test the scorecards."""
    if not isinstance(text, str):
        raise TypeError(f"the text of a rule must be a string, got {type(text).__name__}")
    with short_messages():
        return read_rule(text, derived_columns(scorecards), orders)


@contextlib.contextmanager
def short_messages() -> Iterator[None]:
    """Shorten the message of a ValueError, which may contain a long name or value."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        kind = UnknownOrderError if isinstance(error, UnknownOrderError) else ValueError
        raise kind(message if len(message) <= _MAX_MESSAGE else message[:_MAX_MESSAGE] + "...") from None


def derived_columns(scorecards: Iterable[Scorecard]) -> DerivedColumns:
    """Return the derived columns of scorecards; raises ValueError if two scorecards have the same name."""
    several = isinstance(scorecards, Iterable) and not isinstance(scorecards, str)
    cards: tuple[Any, ...] = tuple(scorecards) if several else (scorecards,)
    for card in cards:
        if not isinstance(card, Scorecard):
            raise TypeError(f"scorecards must be a list of scorecards, got {shown(card)}")
    check_names(cards)
    return {
        column.format(label): (column, label)
        for card in cards
        for column in card.derived_columns()
        for label in (card.labels if column.part == LEADER else (None,))
    }


def read_rule(text: str, derived: DerivedColumns, orders: Orders = NO_ORDERS) -> tuple[tuple[Condition, ...], Any]:
    """Read the conditions and the label of a rule."""
    source = Source(text, derived=derived, orders=orders)
    start = _START.match(text)
    if start is None:
        raise grammar_error(source, 0, "IF, then conditions, THEN and a label, as in 'IF age <= 37 THEN good'")
    position = start.end()
    anything = _NO_CONDITION.match(text, position)
    if anything:
        return (), _label(source, anything.end())
    conditions: list[Condition] = []
    while True:
        condition, position = condition_at(source, position)
        conditions.append(condition)
        following = _NEXT.match(text, position)
        if following is None:
            raise grammar_error(source, position, "AND and a condition, or THEN and a label")
        position = following.end()
        if following[1] == "THEN":
            return combine_conditions(conditions), _label(source, position)


def condition_at(source: Source, position: int) -> Found:
    """Read one condition; return it and the position of its end."""
    text = source.text
    derived = _derived(source, position)
    if derived is not None and derived[0].part == LEADER and source.end.match(text, derived[2]):
        return Equals(derived[0], derived[1]), derived[2]
    operand = _operand(source, position)
    test = None if operand is None else _TEST.match(text, operand.end)
    if operand is None or test is None or (operand.is_text and not test["order"]):
        raise _condition_error(source, position)
    read = next(read for group, read in _FORMS.items() if test[group])
    try:
        found = read(source, operand, test)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"cannot read the condition {excerpt(text, position)}: {error}") from None
    if found is None or not source.end.match(text, found[1]):
        raise _condition_error(source, position)
    return found


def _derived(source: Source, position: int) -> tuple[ScorecardColumn, Any, int] | None:
    """Return the derived column at a position, the label if it is the leader, and where its name ends; else None."""
    found = _DERIVED.match(source.text, position) if source.derived else None
    known = None if found is None else source.derived.get(found[0])
    return None if found is None or known is None else (*known, found.end())


class _Operand(NamedTuple):
    """The name of a column, the position of its end, and whether it could also be a value, or can only be one."""

    name: Any
    end: int
    is_bound: bool = False
    is_text: bool = False


def _operand(source: Source, position: int) -> _Operand | None:
    """Read the name of a column, or the bound before `<`; None if there is none."""
    text = source.text
    derived = _derived(source, position)
    if derived is not None and (_TEST.match(text, derived[2]) or source.end.match(text, derived[2])):
        return _Operand(derived[0], derived[2])
    if text.startswith(("`", "["), position):
        return _Operand(*name_at(text, position))
    value = value_at(text, position) if text.startswith(_TEXT_STARTS, position) else None
    if value is not None:
        return _Operand(text[position : value[1]], value[1], is_bound=True, is_text=True)
    found = _NAME_END.search(text, position)
    written = text[position : len(text) if found is None else found.start()].rstrip()
    if found is not None and found[0] == "{":
        written = _before_in(written)
    return _Operand(written, position + len(written), is_value(written)) if written else None


# What begins a value that is text or bytes; a name that begins like this is written in backticks.
_TEXT_STARTS = ('"', "'", 'b"', "b'")


def _before_in(written: str) -> str:
    """Return the name before `in` or `not in`; empty if there is neither."""
    name = written.removesuffix("in")
    if name == written or name == name.rstrip():
        return ""
    name = name.rstrip()
    without_not = name.removesuffix("not")
    return without_not.rstrip() if without_not.rstrip() != without_not else name


def _ordered(source: Source, left: _Operand, test: re.Match[str]) -> Found | None:
    """Read `age > 37`, `37 <= age` or `37 < age <= 60`; for ordered categories the values may be of any type."""
    text = source.text
    bound = value_at(text, test.end())
    if bound is not None and not left.is_text and source.end.match(text, bound[1]):
        return _half_line(source, left.name, test["order"], bound[0]), bound[1]
    operand = _operand(source, test.end()) if left.is_bound else None
    if operand is None or operand.is_text:
        return None
    low, upper = read_value(left.name), _UPPER.match(text, operand.end)
    if upper is None:
        return _half_line(source, operand.name, _MIRRORED[test["order"]], low), operand.end
    high = value_at(text, upper.end())
    if high is None or test["order"].startswith(">"):
        return None
    closed = {"with_low": test["order"] == "<=", "with_high": upper[1] == "<="}
    interval = _between(source, operand.name, low, high[0], **closed)
    if isinstance(interval, Interval) and interval.empty:
        raise ValueError(f"no value can meet {interval}")
    return interval, high[1]


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _half_line(source: Source, name: Any, operator: str, bound: Any) -> Condition:
    """Return the interval or the range on one side of a bound."""
    closed = operator.endswith("=")
    if operator.startswith(">"):
        return _between(source, name, bound, None, with_low=closed)
    return _between(source, name, None, bound, with_high=closed)


def _between(
    source: Source, name: Any, low: Any, high: Any, with_low: bool = False, with_high: bool = True
) -> Condition:
    """Return an interval, or a range of categories if the order of the column is known."""
    order = source.orders.get(name) if not isinstance(name, DerivedColumn) else None
    if order is not None:
        return category_range(name, order, low, high, with_low=with_low, with_high=with_high)
    for bound in (low, high):
        if isinstance(bound, str | bytes | bool):
            value = format_value(bound)
            raise UnknownOrderError(
                f"cannot compare {format_name(name)} with {value} by order, because the order of its categories is not "
                f"known; give it by the parameter orders, such as orders={{{name!r}: [..., {value}, ...]}}, from the "
                "lowest category to the highest. Numbers and dates are written without quotes"
            )
    return Interval(name, low, high, with_low, with_high)


def _equal(source: Source, left: _Operand, test: re.Match[str]) -> Found | None:
    """Read `sex = "F"` or `sex != "F"`."""
    found = value_at(source.text, test.end())
    if found is None:
        return None
    value, end = found
    if isinstance(left.name, DerivedColumn) and test["equal"] != "!=":
        points = Interval(left.name, value, value, with_low=True)
        if points.empty:
            raise ValueError(f"no value can meet {left.name} = {shown(value)}; points are whole numbers")
        return points, end
    return (IsNotIn(left.name, (value,)) if test["equal"] == "!=" else Equals(left.name, value)), end


def _member(source: Source, left: _Operand, test: re.Match[str]) -> Found | None:
    """Read `job in {"clerk", "sales"}` or `job not in {"clerk"}`."""
    text = source.text
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


_FORMS: dict[str, Callable[[Source, _Operand, re.Match[str]], Found | None]] = {
    "order": _ordered,
    "equal": _equal,
    "member": _member,
    "missing": lambda source, left, test: (IsMissing(left.name), test.end("missing")),
}


def _label(source: Source, position: int) -> Any:
    """Read the label: the text from a position to the end, without figures."""
    text = source.text
    label = text[position:]
    row = _POINTS_ROW.search(label)
    label = label[: len(label) if row is None else row.start()].strip()
    if not label:
        raise grammar_error(source, position, "a label after THEN")
    quoted = _QUOTED.match(label)
    rest = "" if quoted is None else label[quoted.end() :]
    if quoted is not None and not (rest and find_figures(rest)):
        return read_value(quoted[0])
    if label[0] in "\"'":
        raise grammar_error(source, position, "a label in quotes and no text after it")
    label = label[: find_figures(label)]
    if is_label(label):
        return read_value(label)
    return _BLANKS.sub(" ", label) if "\n" in label else label


def _condition_error(source: Source, position: int) -> ValueError:
    """Return the error for a text that is not a condition, with a hint if the mistake is a frequent one."""
    text = source.text
    end = re.compile(r"\s(?:AND|THEN)\b").search(text, position)
    piece = text[position : len(text) if end is None else end.start()]
    hint = next((f" ({message})" for pattern, message in _HINTS if re.search(pattern, piece)), "")
    return grammar_error(
        source, position, f'a condition such as age <= 37, sex = "F", job in {{"clerk"}} or income is missing{hint}'
    )


def grammar_error(source: Source, position: int, expected: str) -> ValueError:
    """Return the error for a text that is not a rule: what was expected, and what was found at a position."""
    text = source.text
    following = text[position : position + 60]
    found = f"found {following!r}" if following.strip() else "the text ends"
    return ValueError(
        f"cannot read the {source.what} {text[:200]!r}: expected {expected}, but at character {position + 1} {found}"
    )
