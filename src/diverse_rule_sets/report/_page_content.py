"""The data that the report page embeds as JSON: figures, texts and a sample of records."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.report._page_model import Field, field_of, model_of, no_panel_reason
from diverse_rule_sets.report._page_scorecards import derived_fields, points_model, scorecard_texts, steps_of
from diverse_rule_sets.report._plain_text import name_of, phrase, sentence
from diverse_rule_sets.report._summary import Flags, Integers, Summary
from diverse_rule_sets.report._text_layout import distinct_names

# Columns that no rule uses are shown until this total number of columns is reached.
MAX_COLUMNS = 24
# Largest number of values of sampled records in the page.
_MAX_CELLS = 100_000
# Longer labels are shortened, in letters; the page shows the full text when the mouse is over them.
_MAX_LABEL = 100
# Largest number of pairs of rules in the table of overlaps.
MAX_OVERLAPS = 100


def content(
    summary: Summary, n_samples: int, rng: np.random.Generator, index: Sequence[Any] | None = None
) -> dict[str, Any]:
    """Return all data that the page embeds.

    Parameters
    ----------
    summary : the figures of the rules on the records
    n_samples : largest number of example records of each rule
    rng : random generator for the sample
    index : names of the records in the user's data frame, None if they are only numbered
    """
    rule_set = summary.rule_set
    names = _column_names(summary) if n_samples else list(rule_set.columns)
    n_each = min(n_samples, max(2, _MAX_CELLS // max(len(names), 1) // (len(rule_set.all_rules) + 2)))
    samples = [_sample(summary, records, label, n_each, rng) for records, label in _rule_records(summary)]
    uncovered = summary.depth == 0
    samples.append(_sample(summary, uncovered, summary.predicted, 2 * n_each, rng))
    records = np.unique(np.concatenate([part for pair in samples for part in pair.values()]).astype(np.int64))
    table, positions = summary.with_records(records)
    fields = [field_of(column, rule_set, positions) for column in _columns(table, rule_set, names)]
    by_name = {field.column.name: (j, field) for j, field in enumerate([*fields, *derived_fields(rule_set)])}
    phrases = [[phrase(c) for c in rule.conditions] for rule in rule_set.all_rules]
    reason = no_panel_reason(rule_set)
    examples = [{side: np.searchsorted(records, part).tolist() for side, part in pair.items()} for pair in samples]
    facts = summary.facts()
    return {
        "facts": facts | {"overlaps": facts["overlaps"][:MAX_OVERLAPS]},
        "n_pairs": len(facts["overlaps"]),
        "n_contradictions": sum(pair["contradiction"] for pair in facts["overlaps"]),
        "phrases": phrases,
        "sentences": [sentence(parts) for parts in phrases],
        "labels": [distinct_names(tuple(facts["classes"]), _MAX_LABEL)[name] for name in facts["classes"]],
        "colours": [f"c{k}" for k in range(len(rule_set.classes))],  # CSS classes
        "columns": [field.to_dict() for field in fields],
        "used_columns": [_used_columns(rule.conditions, by_name) for rule in rule_set.all_rules],
        "scorecards": scorecard_texts(rule_set),
        "steps": steps_of(rule_set),
        "records": _records(summary, [field.cells(positions) for field in fields], records, index),
        "examples": examples[:-1],
        "uncovered": examples[-1],
        "model": None if reason else model_of(rule_set, by_name) | points_model(rule_set, by_name),
        "no_panel_reason": reason,
    }


def _column_names(summary: Summary) -> list[Hashable]:
    """Return the names of the columns to show: those that rules use, then others up to MAX_COLUMNS in total."""
    used = list(summary.rule_set.columns)
    rest = [name for name in summary.table.names if name not in set(used)]
    return used + rest[: max(MAX_COLUMNS - len(used), 0)]


def _columns(table: Table, rule_set: RuleSet, names: Iterable[Hashable]) -> Iterable[Column]:
    """Return the columns to show; columns of unsupported types are left out if no rule uses them."""
    for name in names:
        try:
            yield table.column(name, rule_set.expected_kind(name))
        except TypeError:  # such as lists and durations
            if name in rule_set.columns:
                raise


def _rule_records(summary: Summary) -> Iterable[tuple[Flags, Integers]]:
    """Return for each rule, each fallback rule and the default label which records it applies to, and its label."""
    labels = summary.rule_set.labels_of(np.arange(len(summary.rule_set.all_rules) + 1))
    for j, label in enumerate(labels[:-1].tolist()):
        covered = summary.covering[:, j] if j < len(summary.rule_set) else summary.deciding == j
        yield covered, np.full(covered.size, label, np.int64)
    yield (summary.depth == 0) & (summary.deciding == -1), np.full(summary.codes.size, labels[-1], np.int64)


def _sample(
    summary: Summary, selection: Flags, labels: Integers, n_samples: int, rng: np.random.Generator
) -> dict[str, Integers]:
    """Draw records at random from a selection: if possible half with the right label and half with a wrong label."""
    right = np.flatnonzero(selection & (summary.codes == labels))
    wrong = np.flatnonzero(selection & (summary.codes != labels))
    n_wrong = min(wrong.size, max(n_samples // 2, n_samples - right.size))
    n_right = min(right.size, n_samples - n_wrong)
    sides = {"right": (right, n_right), "wrong": (wrong, n_wrong)}
    return {side: np.sort(rng.choice(group, n, replace=False)) for side, (group, n) in sides.items()}


def _used_columns(conditions: Iterable[Condition], by_name: Mapping[Hashable, tuple[int, Field]]) -> list[int]:
    """Return the positions of the columns of the table that conditions read."""
    return list(dict.fromkeys(by_name[column][0] for condition in conditions for column in condition.columns))


def _records(
    summary: Summary, cells: list[list[Any]], records: Integers, index: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Return the sampled records with their values, true and predicted labels; rows are counted from 1."""
    rows = records if summary.rows is None else summary.rows[records]
    return [
        {
            "row": row + 1,
            "name": None if index is None else name_of(str(index[row])),
            "actual": int(summary.codes[record]),
            "predicted": int(summary.predicted[record]),
            "deciding": int(summary.deciding[record]),
            "covered": bool(summary.depth[record]),
            "cells": [column[k] for column in cells],
        }
        for k, (record, row) in enumerate(zip(records.tolist(), rows.tolist(), strict=True))
    ]
