"""Why a record gets its label, in words, and what would have had to differ for another one."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.tables import DATE, INSTANT, NUMBER, Column, Table, as_table
from diverse_rule_sets.model._changes import DEFAULT, TOGETHER, Change, find_changes
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import format_label, format_name, label_position
from diverse_rule_sets.model._regions import Axis, axes_of
from diverse_rule_sets.model._rules import RuleSet

Record = dict[Hashable, Any]
ValueTexts = dict[Hashable, str]


def why(rule_set: RuleSet, X: Any, label: Any) -> Any:
    """Say why one record, or each record of a table, gets its label; see :meth:`RuleSet.why`."""
    if isinstance(X, np.ndarray) and X.ndim == 1:
        raise TypeError("one record must be a dict or a row of a pandas table, which name its values, got an array")
    if isinstance(X, Mapping) or _is_series(X):
        return explain(rule_set, _one_record(rule_set, dict(X.items())), label)[0]
    return explain(rule_set, as_table(X), label)


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


def explain(rule_set: RuleSet, table: Table, label: Any) -> list[str]:
    """Say for each record of a table why it gets its label."""
    if label is not None:
        position = label_position(label, rule_set.classes)
        if position is None:
            raise ValueError(f"label must be one of {list(rule_set.classes)}, got {label!r}")
        label = rule_set.classes[position]
    columns = {name: table.column(name) for name in rule_set.columns}
    answers = rule_set.answer(_Decoded(columns, table.n_records))
    deciding, reasons = answers.deciding.tolist(), answers.reasons()
    labels = [rule_set.classes[k] for k in answers.labels.tolist()]
    axes = axes_of(rule_set, columns)
    pages = []
    records = _shown(axes, columns, table.n_records)
    for i, changes in enumerate(find_changes(rule_set, axes, labels, label)):
        record = records[i]
        lines = _reason_words(rule_set, deciding[i], labels[i], reasons[i], record)
        if label is not None and not changes:
            lines.append(_no_change_words(rule_set, label, labels[i]))
        pages.append("\n".join([*lines, *(_change_words(rule_set, change, record) for change in changes)]))
    return pages


class _Decoded(Table):
    """A table of columns that are decoded already."""

    def __init__(self, columns: Mapping[Hashable, Column], n_records: int) -> None:
        super().__init__(list(columns), n_records, None, named=True)
        self._columns = columns

    def column(self, name: Hashable) -> Column:
        """Return one column."""
        return self._columns[name]


def _shown(axes: Sequence[Axis], columns: Mapping[Hashable, Column], n_records: int) -> list[ValueTexts]:
    """Return the values of each record in words."""
    lists = [[axis.shown(value) for value in _raw(columns[axis.name])] for axis in axes]
    names = [axis.name for axis in axes]
    return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)] if lists else [{}] * n_records


def _raw(column: Column) -> list[Any]:
    """Return the values of a column as Python values, None where one is missing."""
    values = column.values.tolist()  # of dates too, at microseconds
    if column.kind == INSTANT:
        values = [None if value is None else value.replace(tzinfo=datetime.UTC) for value in values]
    elif column.kind not in (NUMBER, DATE):
        values = [column.categories[k] if k >= 0 else None for k in values]
    return [None if gone else value for value, gone in zip(values, column.missing.tolist(), strict=True)]


def _reason_words(rule_set: RuleSet, deciding: int, label: Any, reason: str, record: ValueTexts) -> list[str]:
    """Name the rule that decides, with the record's own values beside the conditions, and how precise the rule is."""
    if deciding < 0:
        return [f"{format_label(label)}: {reason}."]
    rule, is_fallback = rule_set.all_rules[deciding], deciding >= len(rule_set.rules)
    who = f"fallback {deciding + 1}, as no rule covers it" if is_fallback else f"rule {deciding + 1}"
    lines = [f"{format_label(label)}, by {who}: {rule}."]
    if rule_set.adds_counts and not is_fallback:
        lines = [f"{format_label(label)}: {reason}."]
    values = [f"{format_name(condition.column)} is {record[condition.column]}" for condition in rule.conditions]
    if values:
        lines.append(f"Here {_listed(values)}.")
    if rule.n_covered:
        under = "that it answers for" if is_fallback else "under it"
        lines.append(
            f"Of {rule.n_covered:,} training records {under}, {rule.n_correct:,} were {format_label(rule.label)}."
        )
    return lines


def _no_change_words(rule_set: RuleSet, wanted: Any, label: Any) -> str:
    """Say why there is no change that gives a record the label wanted."""
    if label == wanted:
        return f"It is {format_label(wanted)} already."
    if wanted in [*(rule.label for rule in rule_set.all_rules), rule_set.default]:
        return f"No change was found that makes it {format_label(wanted)}."
    return f"No rule says {format_label(wanted)}."


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _change_words(rule_set: RuleSet, change: Change, record: ValueTexts) -> str:
    """Say what would have had to differ."""
    tests = [f"{_test(one)} (it is {record[one.column]})" for one in change.conditions]
    where = f"if {_listed(tests)}" if tests else "as it is"
    who = _who(rule_set, change.deciding)
    if change.rule is None:
        return f"It would be {format_label(change.label)} {where}: {who}."
    but = "rules together would outweigh it" if change.deciding == (TOGETHER,) else f"{who} would speak"
    return f"Rule {change.rule + 1}, the nearest that says {format_label(change.label)}, covers it {where}, but {but}."


def _test(condition: Condition) -> str:
    """Return a condition as text; one that excludes no value holds for all but missing values."""
    if condition.excludes and not condition.values_named:
        return f"{format_name(condition.column)} is not missing"
    return str(condition)


def _who(rule_set: RuleSet, deciding: Sequence[int]) -> str:
    """Name the rules that may decide."""
    if tuple(deciding) == (DEFAULT,):
        return "the default, as no rule covers it"
    n_rules = len(rule_set.rules)
    names = []
    for word, some in (
        ("rule", [j for j in deciding if 0 <= j < n_rules]),
        ("fallback", [j for j in deciding if j >= n_rules]),
    ):
        names += [f"{word if k == 0 else ''} {j + 1}".strip() for k, j in enumerate(some)]
    names += ["rules together"] * (TOGETHER in deciding) + ["the default"] * (DEFAULT in deciding)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]
