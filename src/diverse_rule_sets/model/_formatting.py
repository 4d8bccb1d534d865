"""Names, values and labels as text: what ``str`` prints of a rule, so that :mod:`._grammar` can read it back."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.tables import plain

# The conditions of a rule that has none.
ANYTHING = "anything"
# Names that read like something else: operators, quotes, keywords, numbers, brackets, blanks at the ends.
_AWKWARD = re.compile(
    r"[=<>!\"'`{}]|^\[|^\s|\s$|^$|^[-+.\d][-+.:\deEZT ]*$|^(IF|AND|THEN|OTHERWISE)\b"
    r"|\b(AND|THEN|is missing)\b|\b(in|not)$"
)
# The figures that are printed behind a label.
FIGURES = re.compile(
    r"\s+\((?:precision [<>]?\d\.\d\d, covers [\d,]+ of|covers none of|[<>]?\d\.\d\d of) [\d,]+"
    r"(?: records)?(?::.*)?\)\Z",
    re.DOTALL,
)
# Labels that read like something else: numbers, dates, words for booleans, quotes or blanks at the ends.
_AWKWARD_LABEL = re.compile(r"^$|^[\s\"']|[\s\"']$|^[-+.\d][-+.:\deEZT ]*$|^(True|False|None|nan|inf)$")


def format_body(conditions: Iterable[Any]) -> str:
    """Return the conditions of a rule as text.

    Examples
    --------
    >>> format_body(["age <= 37", "income is missing"]), format_body([])
    ('age <= 37 AND income is missing', 'anything')
    """
    return " AND ".join(map(str, conditions)) or ANYTHING


def format_name(name: Hashable) -> str:
    """Return a column's name as it is, or marked off where it could be misread."""
    name = plain(name)
    if not isinstance(name, str):
        return f"[{format_value(name) if isinstance(name, datetime.datetime) else repr(name)}]"
    if name.isprintable() and not _AWKWARD.search(name):
        return name
    escaped = "".join(c if c.isprintable() and c != "\\" else _escape(c) for c in name)
    return f"`{escaped.replace('`', '``')}`"


def _escape(character: str) -> str:
    """Return a character as Python would write it in a string."""
    return character.encode("unicode_escape").decode("ascii")


def format_label(label: Any) -> str:
    """Return a label as a person would write it: a string without quotes unless it reads like something else."""
    label = plain(label)
    bare = isinstance(label, str) and label.isprintable()
    bare = bare and not _AWKWARD_LABEL.search(label) and not FIGURES.search(label)
    return str(label) if bare else format_value(label)


def label_position(label: Any, labels: Sequence[Any]) -> int | None:
    """Return where a label stands among others: itself, or else the only one that reads the same; None if neither."""
    label = plain(label)
    if np.ndim(label) == 0 and label in labels:
        return list(labels).index(label)
    said = {str(label), format_label(label)}
    alike = [k for k, known in enumerate(labels) if said & {str(known), format_label(known)}]
    return alike[0] if len(alike) == 1 else None


def format_value(value: Any) -> str:
    """Return a value as a person would write it: strings quoted, whole numbers whole, dates as ISO."""
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
