"""A rule set as JSON, the main file format of models; :mod:`._json_reading` reads it.

The format is described by ``schema.json`` in this folder (JSON Schema).
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from diverse_rule_sets._input.values import plain
from diverse_rule_sets.export._json_domains import domain_to_json
from diverse_rule_sets.export._json_reading import (
    FORMAT,
    VERSION,
    VERSION_OF_SCORECARDS,
    VERSION_WITHOUT_FRACTIONS,
    VERSION_WITHOUT_SCORECARDS,
    checksum,
    from_json,
)
from diverse_rule_sets.export._json_scorecards import column_to_json, scorecard_to_json, table_to_json
from diverse_rule_sets.export._values import check_known
from diverse_rule_sets.model._checks import shown
from diverse_rule_sets.model._conditions import Condition, Equals
from diverse_rule_sets.model._counts import is_fractional
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._ranges import IsInRange
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import ScorecardColumn

__all__ = ["from_json", "to_json"]


def to_json(rule_set: RuleSet) -> str:
    """Return a rule set as JSON text, with one line per condition and label, so that files are easy to compare."""
    if callable(rule_set.conflict):
        raise ValueError(
            f"conflict is a function, {rule_set.conflict!r}, which a file cannot contain; expected one of "
            f"{', '.join(map(repr, CONFLICTS))}"
        )
    kinds, scorecards = dict(rule_set.kinds), rule_set.scorecards
    domains = {name: domain_to_json(domain, _json_value) for name, domain in rule_set.domains}
    content = {
        "format": FORMAT,
        "version": _version(rule_set),
        **({} if rule_set.target is None else {"target": _json_value(rule_set.target, "the name of the target")}),
        "classes": [_json_value(label, "a label") for label in rule_set.classes],
        "class_totals": list(rule_set.class_totals),
        "class_weights": None if rule_set.class_weights is None else list(rule_set.class_weights),
        "smoothing": rule_set.smoothing,
        "conflict": rule_set.conflict,
        "default": _json_value(rule_set.default, "a label"),
        "uncovered_counts": list(rule_set.uncovered_counts),
        "columns": [
            {
                "name": _json_value(name, "the name of a column"),
                "kind": kinds.get(name, ""),
                **domains.get(name, {}),
            }
            for name in rule_set.columns
        ],
        **_similar_columns(rule_set),
        **_missing_values(rule_set),
        **({"scorecards": [scorecard_to_json(c, _json_value, _condition) for c in scorecards]} if scorecards else {}),
        "rules": [_rule(rule, rule_set.classes) for rule in rule_set.rules],
        "fallbacks": [_rule(rule, rule_set.classes) for rule in rule_set.fallbacks],
    }
    return _layout({**content, "checksum": checksum(content)})


def _version(rule_set: RuleSet) -> int:
    """Return the lowest version of the format that can hold a rule set."""
    counts = (n for rule in rule_set.all_rules for _, n in rule.class_counts)
    if is_fractional([*rule_set.class_totals, *rule_set.uncovered_counts, *counts]):
        return VERSION
    if rule_set.missing_values or rule_set.orders or any(domain.limits for _, domain in rule_set.domains):
        return VERSION_WITHOUT_FRACTIONS
    return VERSION_OF_SCORECARDS if rule_set.scorecards else VERSION_WITHOUT_SCORECARDS


def _similar_columns(rule_set: RuleSet) -> dict[str, Any]:
    """Return the columns that some databases cannot tell apart, which few tables have."""
    names = [_json_value(name, "the name of a column") for name in rule_set.similar_columns]
    return {"similar_columns": names} if names else {}


def _missing_values(rule_set: RuleSet) -> dict[str, Any]:
    """Return the codes for missing values, each list of codes once, with its columns.

    Columns that the rules do not read are left out if JSON cannot represent their names or codes.
    """
    groups: dict[str, dict[str, list[Any]]] = {}
    for name, codes in rule_set.missing_values:
        try:
            column = _json_value(name, "the name of a column")
            values = [_json_value(code, "a code for missing values") for code in codes]
        except ValueError:
            if name in rule_set.columns:
                raise
            continue
        groups.setdefault(json.dumps(values), {"columns": [], "values": values})["columns"].append(column)
    return {"missing_values": list(groups.values())} if rule_set.missing_values else {}


def _rule(rule: Rule, classes: Sequence[Any]) -> dict[str, Any]:
    counts, table = dict(rule.class_counts), rule.points_table
    return {
        "if": [_condition(condition) for condition in rule.conditions],
        "then": _json_value(rule.label, "a label"),
        "class_counts": [counts.get(label, 0) for label in classes],
        **({} if table is None else {"points_table": table_to_json(table, _json_value)}),
    }


def _condition(condition: Condition) -> dict[str, Any]:
    check_known(condition, "JSON")
    if isinstance(condition.column, ScorecardColumn):
        content = column_to_json(condition.column, _json_value)
    else:
        content = {"column": _json_value(condition.column, "the name of a column")}
    if condition.holds_if_missing:
        content["missing"] = True
    elif isinstance(condition, IsInRange):
        content |= {test: _json_value(bound, "a value") for test, bound in condition.bounds}
        content["order"] = [_json_value(value, "a value") for value in condition.order]
    elif condition.comparisons:
        content |= {test: _json_value(bound, "a bound") for test, bound in condition.comparisons}
    elif isinstance(condition, Equals):
        content["="] = _json_value(condition.value, "a value")
    else:
        content["not in" if condition.excludes else "in"] = [_json_value(v, "a value") for v in condition.values_named]
    return {**content, "mixed": True} if getattr(condition, "mixed", False) else content


def _json_value(value: Any, description: str) -> Any:
    """Return a value for JSON: text, numbers and booleans unchanged, other values as an object with one key."""
    value = plain(value)
    if isinstance(value, datetime.datetime):
        return _json_moment(value, description)
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple):
        return {"tuple": [_json_value(part, description) for part in value]}
    if isinstance(value, float) and math.isinf(value):
        return {"number": repr(value)}
    if isinstance(value, str) and not _PAIR.search(value):
        return str(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"JSON cannot represent {description} such as {shown(value)} ({type(value).__name__})")


# Two surrogates in a row: JSON would read them as one character.
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _json_moment(moment: datetime.datetime, description: str) -> dict[str, str]:
    """Return a date as an object with one key."""
    try:
        zoned = moment.tzinfo is not None
        date = moment.astimezone(datetime.UTC).replace(tzinfo=None) if zoned else moment
        text = date.isoformat()
        if len(text) <= 26:  # a pandas Timestamp may have nanoseconds
            return {"instant" if zoned else "datetime": text}
    except (OverflowError, ValueError):
        pass
    raise ValueError(f"JSON cannot represent {description} such as {shown(moment)} ({type(moment).__name__})")


def _layout(content: Mapping[str, Any]) -> str:
    """Return the JSON text, with one line per key, per condition and per sign."""
    lines = []
    for key, value in content.items():
        if key in _BLOCKS and value:
            blocks = [_BLOCKS[key](one) for one in value]
            lines.append(f"  {_one_line(key)}: [\n" + ",\n".join(blocks) + "\n  ]")
        else:
            lines.append(f"  {_one_line(key)}: {_one_line(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _block(content: Mapping[str, Any], several: str) -> str:
    """Return an object with one line per key; the values of the key ``several`` have a line each."""
    lines = []
    for key, value in content.items():
        if key == several and value:
            listed = ",\n".join(f"        {_one_line(one)}" for one in value)
            lines.append(f"      {_one_line(key)}: [\n{listed}\n      ]")
        else:
            lines.append(f"      {_one_line(key)}: {_one_line(value)}")
    return "    {\n" + ",\n".join(lines) + "\n    }"


_BLOCKS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "columns": lambda column: f"    {_one_line(column)}",
    "missing_values": lambda codes: f"    {_one_line(codes)}",
    "scorecards": lambda card: _block(card, "signs"),
    "rules": lambda rule: _block(rule, "if"),
    "fallbacks": lambda rule: _block(rule, "if"),
}


def _one_line(value: Any) -> str:
    """Return JSON on one line, with unprintable characters escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return re.sub(r"[^\x20-\U0010ffff]|[\x7f-\x9f\u2028\u2029\ud800-\udfff]", _unicode_escape, text)


def _unicode_escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
