"""Why a record gets its label, in words, and what would have had to differ for another one."""

from __future__ import annotations

import datetime
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diverse_rule_sets._tables import DATE, INSTANT, NUMBER, Column, Table, as_table
from diverse_rule_sets.conditions import (
    Condition,
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    format_label,
    format_name,
    format_value,
    label_position,
)
from diverse_rule_sets.rules import Rule, RuleSet

# Rules of a label that are tried, and other labels that are spoken of unless one is named.
_TRIED, _TOLD = 5, 3
Record = dict[Hashable, Any]


@dataclass(frozen=True)
class Change:
    """What would make a record fall under a rule of another label.

    Parameters
    ----------
    label : the other label
    rule : number of the rule, as printed
    conditions : those of its conditions that the record does not meet
    values : what the record would have there instead, the nearest that does
    enough : whether the record then gets the label
    speaker : who speaks then, a position in rules and backups; -1 if no one alone does
    """

    label: Any
    rule: int
    conditions: tuple[Condition, ...]
    values: tuple[Any, ...]
    enough: bool = False
    speaker: int = -1


def why(rule_set: RuleSet, X: Any, label: Any) -> Any:
    """Say why one record, or each record of a table, gets its label; see :meth:`RuleSet.why`."""
    if isinstance(X, np.ndarray) and X.ndim == 1:
        raise TypeError("one record must be a dict or a row of a pandas table, which name its values, got an array")
    if isinstance(X, Mapping) or _is_series(X):
        return told(rule_set, _one_record(rule_set, dict(X.items())), label)[0]
    return told(rule_set, as_table(X), label)


def _is_series(X: Any) -> bool:
    """Tell whether X is a row of a pandas table."""
    return hasattr(X, "index") and hasattr(X, "items") and getattr(X, "ndim", 0) == 1


def _one_record(rule_set: RuleSet, record: Record) -> Table:
    """Make a table of one record."""
    gone = [name for name in rule_set.columns if name not in record]
    if gone:
        raise ValueError(
            f"the record has no value for the column {gone[0]!r}, which the rules use (None if it is missing)"
        )
    return _table([record], list(record) or ["x"])


def _table(records: Sequence[Record], names: Sequence[Hashable]) -> Table:
    """Make a table of some records."""
    columns = []
    for name in names:
        values = np.empty(len(records), object)
        values[:] = [record.get(name) for record in records]
        columns.append(values)
    return Table(names, len(records), lambda j: columns[j], named=True)


def told(rule_set: RuleSet, table: Table, label: Any) -> list[str]:
    """Say for each record of a table why it gets its label."""
    if label is not None:
        position = label_position(label, rule_set.classes)
        if position is None:
            raise ValueError(f"label must be one of {list(rule_set.classes)}, got {label!r}")
        label = rule_set.classes[position]
    columns = {name: table.column(name) for name in rule_set.columns}
    spoke = rule_set.speakers(table).tolist()
    answers = [rule_set.classes[k] for k in rule_set.answers(table).tolist()]
    reasons = rule_set.reasons(table)
    pages = []
    records = records_of(columns, table.n_records)
    for i, changes in enumerate(changed(rule_set, columns, records, answers, label)):
        record = records[i]
        lines = _spoken(rule_set, spoke[i], answers[i], reasons[i], record)
        if label is not None and not changes:
            said = format_label(label)
            there = any(rule.label == label for rule in rule_set.rules)
            nothing = f"No change was found that makes it {said}." if there else f"No rule says {said}."
            lines.append(f"It is {said} already." if answers[i] == label else nothing)
        pages.append("\n".join([*lines, *(_words(change, record) for change in changes)]))
    return pages


def records_of(columns: Mapping[Hashable, Column], n_records: int) -> list[Record]:
    """Return the records as dicts of Python values, None where one is missing."""
    lists = [_raw(column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)] if lists else [{}] * n_records


def _raw(column: Column) -> list[Any]:
    """Return the values of a column as Python values, None where one is missing."""
    values = column.values.tolist()  # of dates too, at microseconds
    if column.kind == INSTANT:
        values = [None if value is None else value.replace(tzinfo=datetime.UTC) for value in values]
    elif column.kind not in (NUMBER, DATE):
        values = [column.categories[k] if k >= 0 else None for k in values]
    return [None if gone else value for value, gone in zip(values, column.missing.tolist(), strict=True)]


def _spoken(rule_set: RuleSet, speaker: int, answer: Any, reason: str, record: Record) -> list[str]:
    """Say who spoke, with the record's own values beside the conditions, and how good that is."""
    if speaker < 0:
        return [f"{format_label(answer)}: {reason}."]
    rule = (rule_set.rules + rule_set.backups)[speaker]
    who = f"rule {speaker + 1}" if speaker < len(rule_set.rules) else f"backup {speaker + 1}, as no rule covers it"
    lines = [f"{format_label(answer)}, by {who}: {rule}."]
    values = [f"{format_name(condition.column)} is {_said(record[condition.column])}" for condition in rule.conditions]
    if values:
        lines.append(f"Here {_listed(values)}.")
    if rule.n_covered:
        lines.append(
            f"Of {rule.n_covered:,} training records under it, {rule.n_correct:,} were {format_label(rule.label)}."
        )
    if rule_set.conflict == "counts" and speaker < len(rule_set.rules):
        lines[0] = f"{format_label(answer)}: {reason}."
    return lines


def _said(value: Any) -> str:
    return "missing" if value is None else format_value(value)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _words(change: Change, record: Record) -> str:
    """Say what would have had to differ."""
    tests = [f"{one} (it is {_said(record[one.column])})" for one in change.conditions]
    where = f"if {_listed(tests)}" if tests else "as it is"
    if change.enough:
        return f"It would be {format_label(change.label)} {where}: rule {change.rule}."
    who = "rules together would outweigh it" if change.speaker < 0 else f"rule {change.speaker + 1} would speak"
    return f"Rule {change.rule}, the nearest that says {format_label(change.label)}, covers it {where}, but {who}."


def changed(
    rule_set: RuleSet,
    columns: Mapping[Hashable, Column],
    records: Sequence[Record],
    answers: Sequence[Any],
    label: Any,
) -> list[list[Change]]:
    """Find for each record what would make it fall under rules of other labels, the nearest first.

    A rule is nearer the fewer of its conditions fail. A change is tried: the values that fail are moved just so far
    that the conditions hold, and the rule set is asked again.
    """
    failing = [[~one.holds(columns[one.column]) for one in rule.conditions] for rule in rule_set.rules]
    others = rule_set.classes if label is None else (label,)
    changes, tried = [], []
    for i, (record, answer) in enumerate(zip(records, answers, strict=True)):
        fails = [[bool(flags[i]) for flags in rule] for rule in failing]
        for j in _nearest(rule_set.rules, [other for other in others if other != answer], fails):
            rule = rule_set.rules[j]
            conditions = tuple(one for one, failed in zip(rule.conditions, fails[j], strict=True) if failed)
            values = tuple(_moved(one, record[one.column]) for one in conditions)
            if _NOWHERE not in values:
                changes.append({**record, **{one.column: v for one, v in zip(conditions, values, strict=True)}})
                tried.append((i, Change(rule.label, j + 1, conditions, values)))
    return _chosen(rule_set, len(answers), changes, tried, None if label is not None else _TOLD)


def _nearest(rules: Sequence[Rule], labels: Sequence[Any], fails: Sequence[Sequence[bool]]) -> list[int]:
    """Return the rules of some labels that fewest changes would reach: some of each label, the nearest label first."""
    order = sorted((j for j, rule in enumerate(rules) if rule.label in labels), key=lambda j: (sum(fails[j]), j))
    by_label: dict[Any, list[int]] = {}
    for j in order:
        by_label.setdefault(rules[j].label, []).append(j)
    return [j for some in by_label.values() for j in some[:_TRIED]]


def _chosen(
    rule_set: RuleSet, n_records: int, records: list[Record], tried: list[tuple[int, Change]], most: int | None
) -> list[list[Change]]:
    """Ask the rule set about the changed records, and keep for each label the first change that is enough."""
    chosen: list[dict[Any, Change]] = [{} for _ in range(n_records)]
    if records:
        names = list(rule_set.columns) or ["x"]
        moved = _table(records, names)
        answers = [rule_set.classes[k] for k in rule_set.answers(moved).tolist()]
        speakers = rule_set.speakers(moved).tolist()
        for (i, change), answer, speaker in zip(tried, answers, speakers, strict=True):
            known = chosen[i].get(change.label)
            enough = answer == change.label
            if known is None or (enough and not known.enough):
                chosen[i][change.label] = replace(change, enough=enough, speaker=speaker)
    return [list(changes.values())[:most] for changes in chosen]


_NOWHERE = object()


def _moved(condition: Condition, value: Any) -> Any:
    """Return the nearest value for which a condition holds that fails for this one; _NOWHERE if there is none."""
    if isinstance(condition, IsMissing):
        return None
    if isinstance(condition, Equals):
        return condition.value
    if isinstance(condition, IsIn):
        return condition.values[0] if condition.values else _NOWHERE
    if isinstance(condition, IsNotIn):
        return _another(condition.values)
    return _into(condition, value) if isinstance(condition, Interval) else _NOWHERE


def _into(interval: Interval, value: Any) -> Any:
    """Return the nearest value inside an interval."""
    low: Any = interval.low if interval.low is None or interval.with_low else _beside(interval.low, up=True)
    high: Any = interval.high if interval.high is None or interval.with_high else _beside(interval.high, up=False)
    if low is not None and high is not None and low > high:
        return _NOWHERE
    if value is None:
        return high if low is None else low
    return low if low is not None and value < low else high


def _beside(bound: Any, up: bool) -> Any:
    """Return the next value after or before a bound."""
    if isinstance(bound, datetime.datetime):
        return bound + (1 if up else -1) * datetime.timedelta(microseconds=1)
    return math.nextafter(float(bound), math.inf if up else -math.inf)


def _another(values: Sequence[Any]) -> Any:
    """Return a value of the same kind that is none of these."""
    if not values:
        return ""
    if all(isinstance(value, bool) for value in values):
        return next((value for value in (False, True) if value not in values), _NOWHERE)
    if all(isinstance(value, str) for value in values):
        return max(values, key=len) + "?"
    numbers = [value for value in values if isinstance(value, int | float)]
    return max(numbers) + 1 if len(numbers) == len(values) else _NOWHERE
