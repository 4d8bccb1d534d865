"""The grammar of scorecards and rule sets: reads back the text that ``str`` prints.

::

    scorecard  Scorecard points (0 to 5 for ill):
                  3 if age > 55
                  2 if sex = "F"
               or, with several labels, the first of which leads if they have equally many points:
               Scorecard points (for setosa, virginica):
                  1 for virginica always
                  3 for setosa, 2 for virginica if petal width <= 0.8

The word Scorecard, the labels and the range in brackets may be left out, and signs may be separated by commas or
semicolons. Labels that are not plain words are written in quotes. The text is never executed.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._grammar import (
    NO_COLUMNS,
    Source,
    condition_at,
    derived_columns,
    grammar_error,
    read_rule,
    short_messages,
)
from diverse_rule_sets.model._literals import excerpt, is_label, name_at, read_value, value_at
from diverse_rule_sets.model._ranges import NO_ORDERS, Orders, checked_order
from diverse_rule_sets.model._scorecards import Scorecard
from diverse_rule_sets.model._signs import Sign

_QUOTED = r'"(?:[^"\\]++|\\.)*+"' + r"|'(?:[^'\\]++|\\.)*+'"
_KEYWORD = re.compile(r"\s*+(?:Scorecard\s++)?+")
_NAME = re.compile(r"[^`\"'():\n]++(?:\(\d{1,9}\))?+")
_LABELS = re.compile(r"\s*+\((?:-?\d++\s++to\s++-?\d++\s++)?+for\s++")
_COLON = re.compile(r"\s*+:")
_MISSING = re.compile(r"\s*+Missing values:\s*+")
_COLUMN = re.compile(r"[^`:;\n]++")
_SEMICOLON = re.compile(r"\s*+;\s*+")
_BLANKS = re.compile(r"\s*+")
_SEPARATOR = re.compile(r"(?:\s|[,;])*+")
_POINTS = re.compile(r"([-+]?\d{1,9})(?:\s++for\s++)?+")
_WORD = r"[^\s,;:()\"']++"
_LABEL = re.compile(rf"(?P<quoted>{_QUOTED})|{_WORD}(?:[ \t]++(?!if\b|always\b){_WORD})*+", re.DOTALL)
_COMMA = re.compile(r"\s*+,\s*+")
_IF, _ALWAYS = re.compile(r"\s++if\s++"), re.compile(r"\s++always\b")
_SIGN_START = re.compile(r"\s*+[-+]?\d{1,9}\s++(?:if|for)\s")
_SIGN_END = re.compile(r"(?=\s*+(?:[,;]|\Z)|[ \t]*+\n)")
_TIES = re.compile(
    r"Of labels with equally many points, the one that is listed first leads"
    r"(?:; the lead is how many more points it has than the next label)?+\.?+"
)


def parse_scorecard(text: str, label: Any = None, orders: Orders = NO_ORDERS) -> Scorecard:
    """Return a scorecard that is given as text; ``label`` gets the points if the text names no label."""
    if not isinstance(text, str):
        raise TypeError(f"the text of a scorecard must be a string, got {type(text).__name__}")
    with short_messages():
        return _scorecard(Source(text, _SIGN_END, what="scorecard", orders=orders), label)


def _scorecard(source: Source, default: Any) -> Scorecard:
    text = source.text
    name, position = _name(source)
    labels: list[Any] = []
    opening = _LABELS.match(text, position)
    if opening:
        labels, position = _labels(source, opening.end())
    colon = _COLON.match(text, position)
    if colon is None:
        raise grammar_error(source, position, "a colon after the name and the labels, as in 'points (for ill): ...'")
    if not labels and default is not None:
        labels = [default]
    position = colon.end()
    signs: list[Sign] = []
    base: dict[Any, int] = {}
    while True:
        position = _end(_SEPARATOR, text, position)
        position = _end(_SEPARATOR, text, _end(_TIES, text, position))
        if position == len(text):
            break
        points, condition, position = _sign(source, position, labels[0] if len(labels) == 1 else None)
        if condition is None:
            if not base.keys().isdisjoint(points):
                raise grammar_error(source, position, "the points that a label always has once")
            base |= points
        else:
            signs.append(Sign(condition, points))
    if not signs:
        raise grammar_error(source, position, "at least one sign, as in '3 if age > 55'")
    return Scorecard(name, tuple(signs), tuple(labels), base)


def parse_sign(text: str, label: Any = None, orders: Orders = NO_ORDERS) -> Sign:
    """Return a sign that is given as text; ``label`` gets the points if the text names no label."""
    with short_messages():
        source = Source(text, _SIGN_END, what="sign", orders=orders)
        points, condition, position = _sign(source, _end(_SEPARATOR, text, 0), label)
        if condition is None or text[position:].strip():
            raise grammar_error(source, position, "points, 'if', one condition and nothing else, as in '3 if age > 55'")
        return Sign(condition, points)


def parse_condition(text: str, orders: Orders = NO_ORDERS) -> Condition:
    """Return a condition on a column that is given as text, or that of a sign, such as ``3 if age > 55``."""
    if _SIGN_START.match(text):
        return parse_sign(text, "", orders).condition
    with short_messages():
        source = Source(text, _SIGN_END, what="condition", orders=orders)
        condition, position = condition_at(source, _end(_SEPARATOR, text, 0))
        if text[position:].strip():
            raise grammar_error(source, position, "one condition and nothing else, as in 'age > 55'")
        return condition


def _sign(source: Source, position: int, label: Any) -> tuple[dict[Any, int], Condition | None, int]:
    """Read points and a condition, which is None for points that every record has; return the position of the end."""
    points, position = _points(source, position, label)
    always, if_ = _ALWAYS.match(source.text, position), _IF.match(source.text, position)
    if always:
        return points, None, always.end()
    if if_ is None:
        raise grammar_error(source, position, "'if' and a condition, as in '3 if age > 55'")
    condition, position = condition_at(source, if_.end())
    return points, condition, position


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return position if found is None else found.end()


def _name(source: Source) -> tuple[str, int]:
    """Read the name of a scorecard; return it and the position of its end."""
    position = _end(_KEYWORD, source.text, 0)
    if source.text.startswith("`", position):
        return name_at(source.text, position)
    found = _NAME.match(source.text, position)
    if found is None:
        raise grammar_error(source, position, "the name of the scorecard and a colon, as in 'points: 3 if age > 55'")
    return found[0].strip(), found.end()


def _labels(source: Source, position: int) -> tuple[list[Any], int]:
    """Read labels, separated by commas, up to a closing bracket."""
    labels: list[Any] = []
    while True:
        label, position = _label(source, position)
        labels.append(label)
        comma = _COMMA.match(source.text, position)
        if comma is None:
            break
        position = comma.end()
    closing = re.compile(r"\s*+\)").match(source.text, position)
    if closing is None:
        raise grammar_error(source, position, "a closing bracket after the labels")
    return labels, closing.end()


def _label(source: Source, position: int) -> tuple[Any, int]:
    """Read a label: text in quotes, a number, a boolean or plain words."""
    found = _LABEL.match(source.text, position)
    if found is None:
        raise grammar_error(source, position, "a label, in quotes if it is not plain words")
    text = found[0].rstrip()
    is_text = found["quoted"] is None and not is_label(text)
    return (text if is_text else read_value(text)), found.end()


def _points(source: Source, position: int, default: Any) -> tuple[dict[Any, int], int]:
    """Read the points of a sign by label, such as `3` or `3 for setosa, 2 for virginica`."""
    points: dict[Any, int] = {}
    while True:
        found = _POINTS.match(source.text, position)
        if found is None:
            raise grammar_error(source, position, "points and a condition, as in '3 if age > 55'")
        label, position = default, found.end()
        if found[0] != found[1]:
            label, position = _label(source, position)
        elif default is None:
            raise grammar_error(
                source, position, "the label that gets the points, as in 'points (for ill): 3 if age > 55'"
            )
        if label in points:
            raise grammar_error(source, position, f"points for {label!r} once in each sign")
        points[label] = int(found[1])
        comma = _COMMA.match(source.text, position)
        if comma is None or found[0] == found[1]:
            return points, position
        position = comma.end()


class ParsedRuleSet(NamedTuple):
    """The parts of a rule set that its text contains; rules are pairs of conditions and a label."""

    scorecards: tuple[Scorecard, ...]
    rules: tuple[tuple[tuple[Condition, ...], Any], ...]
    fallbacks: tuple[tuple[tuple[Condition, ...], Any], ...]
    default: Any
    conflict: str | None
    missing_values: tuple[tuple[Hashable, tuple[Any, ...]], ...] = ()


_BLOCK = re.compile(
    r"\s*+(?:(?P<scorecard>Scorecard\b)|(?P<rule>(?:\d++\.\s*+)?+IF\b)|(?P<fallbacks>Fallback rules\b)"
    r"|(?P<default>OTHERWISE\b|The rules (?:and fallback rules )?+cover every possible record: )"
    r"|(?P<row>(?:balanced |weighted )?+probability of .*: \d)|(?P<conflict>If several rules cover a record, )"
    r"|(?P<missing>Missing values:)|(?P<order>Order of ))"
)


_DEFAULT = re.compile(
    r"\A\s*+(?:OTHERWISE|The rules (?:and fallback rules )?+cover every possible record: none gets the default label)"
)


def parse_rule_set(text: str) -> ParsedRuleSet:
    """Return the parts of a rule set that is given as text; counts and probabilities are ignored."""
    if not isinstance(text, str):
        raise TypeError(f"the text of a rule set must be a string, got {type(text).__name__}")
    with short_messages():
        return _rule_set(text)


def _rule_set(text: str) -> ParsedRuleSet:
    blocks = _blocks(text)
    names = [kind for kind, _ in blocks]
    if names.count("default") != 1 or names.count("fallbacks") > 1 or "rule" in names[names.index("default") :]:
        raise ValueError(
            f"cannot read the rule set {excerpt(text)}: expected scorecards, rules, perhaps fallback rules, and at the "
            "end OTHERWISE and the default label"
        )
    orders = dict(_order(block) for kind, block in blocks if kind == "order")
    scorecards = tuple(parse_scorecard(block, None, orders) for kind, block in blocks if kind == "scorecard")
    derived = derived_columns(scorecards)
    border = names.index("fallbacks") if "fallbacks" in names else len(blocks)
    parsed = [
        (k < border, read_rule(block, derived, orders)) for k, (kind, block) in enumerate(blocks) if kind == "rule"
    ]
    default = next(block for kind, block in blocks if kind == "default")
    sentence = next((block for kind, block in blocks if kind == "conflict"), "")
    conflict = next((name for name, known in CONFLICTS.items() if known in sentence), None)
    return ParsedRuleSet(
        scorecards,
        tuple(rule for is_rule, rule in parsed if is_rule),
        tuple(rule for is_rule, rule in parsed if not is_rule),
        read_rule(_DEFAULT.sub("IF anything THEN", default, count=1), NO_COLUMNS)[1],
        conflict,
        tuple(pair for kind, block in blocks if kind == "missing" for pair in _missing_values(block)),
    )


def _missing_values(text: str) -> Iterator[tuple[Hashable, tuple[Any, ...]]]:
    """Yield each column and its codes of a line such as `Missing values: income: -7, -8; job: "?"`."""
    source, position = Source(text, _SIGN_END, what="line of missing values"), _end(_MISSING, text, 0)
    while True:
        name, position = _listed_name(source, position)
        codes: list[Any] = []
        while True:
            found = value_at(text, position)
            if found is None:
                raise grammar_error(source, position, "a number, a text in quotes or another value, as in 'income: -7'")
            codes.append(found[0])
            position = found[1]
            comma = _COMMA.match(text, position)
            if comma is None:
                break
            position = comma.end()
        yield name, tuple(codes)
        semicolon = _SEMICOLON.match(text, position)
        if semicolon is None and text[position:].strip():
            raise grammar_error(source, position, "a comma and a further value, or a semicolon and a further column")
        if semicolon is None:
            return
        position = semicolon.end()


def _listed_name(source: Source, position: int) -> tuple[Hashable, int]:
    """Read the name of a column and the colon after it."""
    text = source.text
    plain = _COLUMN.match(text, position)
    name: Hashable = None if plain is None else plain[0].rstrip()
    if text[position : position + 1] in ("`", "["):
        name, position = name_at(text, position)
    elif plain is not None:
        position = plain.end()
    colon = _COLON.match(text, position)
    if colon is None or name is None:
        raise grammar_error(source, position, "the name of a column and a colon, as in 'income: -7'")
    return name, _end(_BLANKS, text, colon.end())


def _order(line: str) -> tuple[Hashable, tuple[Any, ...]]:
    """Read the order of a column, such as `Order of grade: "C" < "B" < "A"`."""
    start = _ORDER.match(line)
    assert start is not None
    position = start.end()
    if line.startswith(("`", "["), position):
        name, position = name_at(line, position)
        values = _ordered_values(line, position) if line.startswith(":", position) else None
        return name, _checked_values(values, name, line)
    last = _VALUES_BEGIN.search(line, position)
    colon = line.find(": ", position, len(line) if last is None else last.start())
    while colon >= 0:  # a name may contain colons
        values, name = _ordered_values(line, colon), line[position:colon]
        if values is not None:
            return name, _checked_values(values, name, line)
        colon = line.find(": ", colon + 1, len(line) if last is None else last.start())
    raise _order_error(line)


_ORDER = re.compile(r"\s*+Order of ")
_VALUES_BEGIN = re.compile(r"[<\"']")
_LESS = re.compile(r"\s*+<\s*+")


def _ordered_values(line: str, colon: int) -> tuple[Any, ...] | None:
    """Return the values after a colon, separated by `<`, up to the end of the line; None if there is another text."""
    values: list[Any] = []
    found = value_at(line, _end(_SEPARATOR, line, colon + 1))
    while found is not None:
        values.append(found[0])
        following = _LESS.match(line, found[1])
        if following is None:
            return None if line[found[1] :].strip() else tuple(values)
        found = value_at(line, following.end())
    return None


def _checked_values(values: tuple[Any, ...] | None, name: Hashable, line: str) -> tuple[Any, ...]:
    if values is None:
        raise _order_error(line)
    return checked_order(values, name)


def _order_error(line: str) -> ValueError:
    expected = 'a column and its categories, as in Order of grade: "C" < "B" < "A"'
    return ValueError(f"cannot read the line {excerpt(line)} of a rule set: expected {expected}")


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return the parts of the text: pairs of what a part is, and its lines."""
    blocks: list[tuple[str, list[str]]] = []
    after_default = False  # sentences about conflicts and weights follow
    for line in text.splitlines():
        found = _BLOCK.match(line)
        kind = None if found is None else found.lastgroup
        if kind is not None:
            blocks.append((kind, [line]))
            after_default |= kind == "default"
        elif blocks and (line[:1].isspace() or blocks[-1][0] == "rule"):
            blocks[-1][1].append(line)
        elif line.strip() and not after_default:
            raise ValueError(
                f"cannot read the line {excerpt(line)} of a rule set: expected a scorecard, a rule or OTHERWISE"
            )
    return [(kind, "\n".join(lines)) for kind, lines in blocks]
