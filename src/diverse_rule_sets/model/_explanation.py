"""Text that explains the label of a record, and which changes of the record would give another label."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.values import DATE, INSTANT, NUMBER
from diverse_rule_sets.model._answers import Answers, table_for
from diverse_rule_sets.model._axes import MISSING_TEXT, Axis
from diverse_rule_sets.model._batches import batches_for, errors_of
from diverse_rule_sets.model._changes import DEFAULT, TOGETHER, Change, deciding_or_together, find_changes
from diverse_rule_sets.model._conditions import Condition, Equals
from diverse_rule_sets.model._counts import count_text
from diverse_rule_sets.model._figures import percent, weight_word, weighted_share
from diverse_rule_sets.model._formatting import format_label, format_list_label, format_name, label_position
from diverse_rule_sets.model._record_points import CardPoints, record_text
from diverse_rule_sets.model._regions import axes_of
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import DEFAULT_NAME, LEADER, POINTS, ScorecardColumn
from diverse_rule_sets.model._text import no_rule_text
from diverse_rule_sets.sources._as_source import as_source

ValueTexts = dict[Hashable, str]


def why(rule_set: RuleSet, X: Any, label: Any) -> Any:
    """Return the explanation of the label of one record, or of each record of a table; see :meth:`RuleSet.why`."""
    if isinstance(X, Mapping) or _is_series(X):
        return explain(rule_set, _one_record(rule_set, list(X.items())), label)[0]
    source = as_source(X) if _is_source(X) else None
    if source is not None:
        texts = list[str]()
        for batch in batches_for(rule_set, source):
            with errors_of(batch.origin):
                texts += explain(rule_set, as_table(batch.frame), label)
        return texts
    if _has_one_dimension(X):
        raise TypeError(
            f"one record must be a dict or a row of a pandas table, with names of columns, got {type(X).__name__}"
        )
    return explain(rule_set, as_table(X), label)


def _is_source(X: Any) -> bool:
    """Return whether X may be read in batches; text that is no path of a file is a value of a record."""
    paths = X if isinstance(X, list | tuple) and X else [X]
    if all(isinstance(path, str | os.PathLike) for path in paths):
        return all(map(os.path.exists, paths))
    return not isinstance(X, str | bytes)


def _is_series(X: Any) -> bool:
    """Return whether X is a row of a pandas table."""
    return hasattr(X, "index") and hasattr(X, "items") and getattr(X, "ndim", 0) == 1


def _has_one_dimension(X: Any) -> bool:
    """Return whether X is a single value, or a list of values without names of columns."""
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(value, str | bytes) or not hasattr(value, "__len__") for value in X)
    return isinstance(X, str | bytes | numbers.Number) or len(getattr(X, "shape", (0, 0))) < 2


def _one_record(rule_set: RuleSet, record: Sequence[tuple[Hashable, Any]]) -> Table:
    """Return a table of one record, given as pairs of a column and a value."""
    values = {name: np.empty(1, object) for name in rule_set.columns}
    known: set[Hashable] = set()
    for name, value in record:
        if name in known:
            raise ValueError(f"the record has more than one value for the column {name!r}, which the rules use")
        if name in values:
            known.add(name)
            values[name][0] = value
    absent = [name for name in values if name not in known]
    if absent:
        raise ValueError(
            f"the record has no value for the column {absent[0]!r}, which the rules use (give None if it is missing)"
            f"{did_you_mean(absent[0], (name for name, _ in record if name not in values))}"
        )
    columns = list(values.values())
    return Table(list(values), 1, lambda j: columns[j], named=True)


def explain(rule_set: RuleSet, table: Table, label: Any) -> list[str]:
    """Return the explanation of the label of each record of a table."""
    table = table_for(rule_set, table)
    if label is not None:
        position = label_position(label, rule_set.classes)
        if position is None:
            raise ValueError(f"label must be one of {list(rule_set.classes)}, got {label!r}")
        label = rule_set.classes[position]
    columns = {name: table.column(name, rule_set.expected_kind(name)) for name in rule_set.columns}
    answers = rule_set.answer(_ColumnTable(columns, table.n_records))
    deciding = deciding_or_together(answers).tolist()
    reasons, labels = answers.deciders().tolist(), [rule_set.classes[k] for k in answers.labels.tolist()]
    axes = axes_of(rule_set, columns)
    texts = []
    records = _value_texts(axes, columns, table.n_records)
    points = _points_texts(answers, records)
    for i, changes in enumerate(find_changes(rule_set, axes, labels, label)):
        record = records[i]
        lines = _reason_lines(rule_set, deciding[i], labels[i], reasons[i], record, points[i])
        if label is not None and not changes:
            lines.append(_no_change_text(rule_set, label, labels[i]))
        texts.append("\n".join([*lines, *(_change_text(rule_set, change, record) for change in changes)]))
    return texts


class _ColumnTable(Table):
    """A table of columns that are already decoded."""

    def __init__(self, columns: Mapping[Hashable, Column], n_records: int) -> None:
        super().__init__(list(columns), n_records, None, named=True)
        self._columns = columns

    def column(self, name: Hashable, expected: str = "") -> Column:
        """Return one column."""
        return self._columns[name]


def _value_texts(axes: Sequence[Axis], columns: Mapping[Hashable, Column], n_records: int) -> list[ValueTexts]:
    """Return the values of each record as text."""
    lists = [[axis.format(value) for value in _python_values(columns[axis.name])] for axis in axes]
    names = [axis.name for axis in axes]
    return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)] if lists else [{}] * n_records


def _python_values(column: Column) -> list[Any]:
    """Return the values of a column as Python values, None for a missing value."""
    values = column.values.tolist()  # dates become datetime objects, exact to the microsecond
    if column.kind in (DATE, INSTANT):
        values = [_moment(value, column.kind == INSTANT) for value in values]
    elif column.kind not in (NUMBER, DATE):
        values = [column.categories[k] if k >= 0 else None for k in values]
    return [None if missing else value for value, missing in zip(values, column.missing.tolist(), strict=True)]


def _moment(value: Any, utc: bool) -> Any:
    """Return a date of a column; numpy gives microseconds for one outside the years 1 to 9999."""
    if isinstance(value, int):
        return np.datetime64(value, "us")
    return value.replace(tzinfo=datetime.UTC) if utc and value is not None else value


def _points_texts(answers: Answers, records: Sequence[ValueTexts]) -> list[str]:
    """Return the points of each record that its label depends on as text; empty if it depends on none."""
    cards = answers.rule_set.scorecards
    if not cards:
        return [""] * len(records)
    groups, group = answers.points_groups()
    flags = [answers.all_covers.signs.flags(card) for card in cards]
    texts = []
    for i, (g, record) in enumerate(zip(group.tolist(), records, strict=True)):
        points = {}
        for card, (held, unknown) in zip(cards, flags, strict=True):
            signs = [_sign_text(sign.condition, record) for sign in card.signs]
            points[card] = CardPoints(
                card, np.flatnonzero(held[i]).tolist(), np.flatnonzero(unknown[i]).tolist(), signs
            )
        texts.append(record_text(groups[g][1], points))
    return texts


def _sign_text(condition: Condition, record: ValueTexts) -> str:
    """Return the condition of a sign with the value of the record, unless the condition names it."""
    is_named = isinstance(condition, Equals) or record[condition.column] == MISSING_TEXT
    return str(condition) if is_named else f"{condition} (it is {record[condition.column]})"


def _reason_lines(
    rule_set: RuleSet, deciding: int, label: Any, reason: str, record: ValueTexts, points: str
) -> list[str]:
    """Return the deciding rule, the values and points of the record that it tests, and its precision, a line each."""
    points_lines = [f"It has {points}."] if points else []
    if deciding == DEFAULT:
        return [f"{format_label(label)} (default label): {no_rule_text(rule_set)}.", *points_lines]
    if deciding == TOGETHER:
        return [f"{format_label(label)}: {reason}.", *points_lines]
    rule, is_fallback = rule_set.all_rules[deciding], deciding >= len(rule_set.rules)
    decider = f"rule {deciding + 1}"
    if is_fallback:
        decider = f"fallback rule {deciding + 1}, because no rule covers this record"
    lines = [f"{format_label(label)}, decided by {decider}: {rule}."]
    if rule_set.adds_counts and not is_fallback:
        lines = [f"{format_label(label)}: {reason}."]
    columns = [condition.column for condition in rule.conditions if condition.column in record]
    if columns:
        lines.append(f"In this record {_join([f'{format_name(name)} is {record[name]}' for name in columns], 'and')}.")
    lines += points_lines
    if rule.n_covered:
        records = f"{count_text(rule.n_covered)} training records that it {'decides' if is_fallback else 'covers'}"
        correct = f"{count_text(rule.n_correct)} were {format_label(rule.label)}"
        lines.append(f"Of {records}, {correct}{_weighted(rule_set, rule)}.")
    return lines


def _weighted(rule_set: RuleSet, rule: Rule) -> str:
    """Return the precision of a rule, as it is and by class weights, in brackets; empty without class weights."""
    share = weighted_share(rule_set, rule.label, rule_set.class_counts([rule])[0].tolist())
    if share is None or percent(share) == percent(rule.precision):
        return ""
    ways = {"balanced": "if all classes were equally frequent", "weighted": "by class weights"}
    return f" ({percent(rule.precision)}; {percent(share)} {ways[weight_word(rule_set)]})"


def _no_change_text(rule_set: RuleSet, wanted: Any, label: Any) -> str:
    """Return the reason why no change is reported for the label that the user gave."""
    if label == wanted:
        return f"It is {format_label(wanted)} already."
    if wanted in [*(rule.label for rule in rule_set.all_rules), rule_set.default]:
        return f"No change was found that gives the label {format_label(wanted)}."
    return f"No rule has the label {format_label(wanted)}."


def _join(texts: Sequence[str], last: str) -> str:
    """Return texts as a list in a sentence, with a word such as `and` before the last."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def _change_text(rule_set: RuleSet, change: Change, record: ValueTexts) -> str:
    """Return a sentence about a change: its conditions, the label, and the rules that would decide."""
    label = format_label(change.label)
    tests = [f"{_test(one)} (it is {record[one.column]})" for one in change.conditions]
    condition = f" if {_join(tests, 'and')}" if tests else ""
    points = "".join(f"{_altered_text(*one)}, " for one in change.points)
    if change.rule is None and change.deciding == (DEFAULT,):
        reason = no_rule_text(rule_set).replace("covers this record", "would cover it")
        return f"It would be {label}{condition}: {points}default label, because {reason}."
    deciders = _join(_deciders(rule_set, change.deciding), "or")
    if change.rule is None:
        return f"It would be {label}{condition}: {points}decided by {deciders}."
    start = f"Rule {change.rule + 1}, the nearest with label {label}"
    if not tests:
        return f"{start}, covers it already, but it is decided by {deciders}."
    return f"{start}, would cover it{condition}, but {deciders} would decide."


def _altered_text(column: ScorecardColumn, before: Any, after: Sequence[Any]) -> str:
    """Return the values of a column of a scorecard after and before a change, such as `4 points instead of 7`."""
    if column.part == LEADER:
        leaders = _join([format_list_label(label) for label in after], "or")
        return f"{column} for {leaders} instead of {format_list_label(before)}"
    low, high = min(after), max(after)
    numbers = f"{low} to {high}" if len(after) > 2 else _join([str(n) for n in sorted(after)], "or")
    if column.part == POINTS and column.label is None and column.scorecard.name == DEFAULT_NAME:
        return f"{numbers} point{'' if numbers == '1' else 's'} instead of {before}"
    return f"{column} {numbers} instead of {before}"


def _test(condition: Condition) -> str:
    """Return a condition as text; one that excludes no value holds for all but missing values."""
    if condition.excludes and not condition.values_named:
        return f"{format_name(condition.column)} is not missing"
    return str(condition)


def _deciders(rule_set: RuleSet, deciding: Sequence[int]) -> list[str]:
    """Return the names of the rules that may decide, such as `rule 1`, `2`, `fallback rule 4`."""
    n_rules = len(rule_set.rules)
    names = []
    for noun, positions in (
        ("rule ", [j for j in deciding if 0 <= j < n_rules]),
        ("fallback rule ", [j for j in deciding if j >= n_rules]),
    ):
        names += [f"{noun if k == 0 else ''}{j + 1}" for k, j in enumerate(positions)]
    return names + ["several rules together"] * (TOGETHER in deciding) + ["the default label"] * (DEFAULT in deciding)
