"""Names, values and labels as text, in the form that ``str`` prints and that :mod:`._grammar` reads back."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.tables import plain

# The text of the conditions of a rule that has none.
ANYTHING = "anything"
# Column names that could be misread: with operators, quotes, keywords, brackets or outer blanks, or like a number.
_AMBIGUOUS_NAME = re.compile(
    r"[=<>!\"'`{}]|^\[|^\s|\s$|^$|^[-+.\d][-+.:\deEZT ]*$|^(IF|AND|THEN|OTHERWISE)\b"
    r"|\b(AND|THEN|is missing)\b|\b(in|not)$"
)
# The figures that are printed after a label, of rules and of fallback rules.
FIGURES = re.compile(
    r"\s+\((?:decides no records|(?:precision [<>]?\d\.\d\d, covers [\d,]+ of|covers none of|[<>]?\d\.\d\d of) [\d,]+"
    r"(?: records)?(?::.*)?)\)\Z",
    re.DOTALL,
)
# Labels that could be misread: like numbers, dates or booleans, or with quotes or blanks at the ends.
_AMBIGUOUS_LABEL = re.compile(r"^$|^[\s\"']|[\s\"']$|^[-+.\d][-+.:\deEZT ]*$|^(True|False|None|nan|inf)$")


def format_body(conditions: Iterable[Any]) -> str:
    """Return the conditions of a rule as text.

    Examples
    --------
    >>> format_body(["age <= 37", "income is missing"]), format_body([])
    ('age <= 37 AND income is missing', 'anything')
    """
    return " AND ".join(map(str, conditions)) or ANYTHING


def format_name(name: Hashable) -> str:
    """Return the name of a column as text: unchanged, or in backticks or brackets if it could be misread."""
    name = plain(name)
    if not isinstance(name, str):
        return f"[{format_value(name) if isinstance(name, datetime.datetime) else repr(name)}]"
    if name.isprintable() and not _AMBIGUOUS_NAME.search(name):
        return name
    escaped = "".join(c if c.isprintable() and c != "\\" else _escape(c) for c in name)
    return f"`{escaped.replace('`', '``')}`"


def _escape(character: str) -> str:
    """Return the escape sequence of a character in a Python string."""
    return character.encode("unicode_escape").decode("ascii")


def format_label(label: Any) -> str:
    """Return a label as text: a string without quotes, unless it could be misread."""
    label = plain(label)
    bare = isinstance(label, str) and label.isprintable()
    bare = bare and not _AMBIGUOUS_LABEL.search(label) and not FIGURES.search(label)
    return str(label) if bare else format_value(label)


def label_position(label: Any, labels: Sequence[Any]) -> int | None:
    """Return the position of a label among some labels, or else of the only one with the same text; None if neither."""
    label = plain(label)
    if np.ndim(label) == 0 and label in labels:
        return list(labels).index(label)
    texts = {str(label), format_label(label)}
    matches = [k for k, known in enumerate(labels) if texts & {str(known), format_label(known)}]
    return matches[0] if len(matches) == 1 else None


def format_value(value: Any) -> str:
    """Return a value as text: strings in quotes, whole numbers without a decimal point, dates in ISO 8601."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, datetime.datetime):
        zone = "" if value.tzinfo is None else "Z"
        moment = value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
        text = moment.isoformat(sep=" ")
        return (text[:10] if moment.time() == datetime.time() else text) + zone
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
