"""What the page shows and embeds: facts, words, and a sample of records; plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from diverse_rule_sets._input.tables import Column
from diverse_rule_sets.report._page_model import Field, field_of, model_of, why_not
from diverse_rule_sets.report._plain_text import name_of, phrase, sentence
from diverse_rule_sets.report._summary import Flags, Integers, Summary

# Columns that no rule reads are shown up to so many columns in all.
MAX_COLUMNS = 24
# Values of sampled records in the page, whatever the number of rules and columns.
_MAX_CELLS = 100_000
# Pairs of rules that share records, those that share most.
MAX_OVERLAPS = 100
# Classes that colours can tell apart.
N_COLOURS = 8


def content(
    summary: Summary, n_samples: int, rng: np.random.Generator, index: Sequence[Any] | None = None
) -> dict[str, Any]:
    """Return all that the page embeds.

    Parameters
    ----------
    summary : what the rules do on the records
    n_samples : records to show behind each rule, at most
    rng : where the sample comes from
    index : what the records are called in the user's own table, if not by their place
    """
    rule_set = summary.rule_set
    names = _shown_names(summary) if n_samples else list(rule_set.columns)
    n_each = min(n_samples, max(2, _MAX_CELLS // max(len(names), 1) // (len(rule_set.all_rules) + 2)))
    behind = [_picked(summary, covered, said, n_each, rng) for covered, said in _records_behind(summary)]
    uncovered = summary.depth == 0
    behind.append(_picked(summary, uncovered, summary.answers, 2 * n_each, rng))
    records = np.unique(np.concatenate([part for pair in behind for part in pair.values()]).astype(np.int64))
    fields = [field_of(column, rule_set, records) for column in _columns(summary, names)]
    phrases = [[phrase(c) for c in rule.conditions] for rule in rule_set.all_rules]
    why = why_not(rule_set)
    samples = [{side: np.searchsorted(records, part).tolist() for side, part in pair.items()} for pair in behind]
    facts = summary.facts()
    return {
        "facts": facts | {"overlaps": facts["overlaps"][:MAX_OVERLAPS]},
        "n_pairs": len(facts["overlaps"]),
        "n_contradictions": sum(pair["contradiction"] for pair in facts["overlaps"]),
        "phrases": phrases,
        "sentences": [sentence(parts) for parts in phrases],
        "colours": _colours(len(rule_set.classes)),
        "columns": [field.told() for field in fields],
        "reads": [_reads(rule.conditions, fields) for rule in rule_set.all_rules],
        "records": _records(summary, fields, records, index),
        "behind": samples[:-1],
        "uncovered": samples[-1],
        "model": None if why else model_of(rule_set, fields),
        "why_not": why,
    }


def _shown_names(summary: Summary) -> list[Hashable]:
    """Return the columns to show: those that rules read, then others while there is room."""
    read = list(summary.rule_set.columns)
    rest = [name for name in summary.table.names if name not in set(read)]
    return read + rest[: max(MAX_COLUMNS - len(read), 0)]


def _columns(summary: Summary, names: Iterable[Hashable]) -> Iterable[Column]:
    """Return the columns to show; of those that no rule reads, the ones that hold plain values."""
    for name in names:
        try:
            yield summary.table.column(name)
        except TypeError:  # lists, durations: rules cannot speak of them, nor need the page
            if name in summary.rule_set.columns:
                raise


def _records_behind(summary: Summary) -> Iterable[tuple[Flags, Integers]]:
    """Return the records behind each rule and each fallback, and what it says of them; those of the default last."""
    said = summary.rule_set.labels_of(np.arange(len(summary.rule_set.all_rules) + 1))
    for j, label in enumerate(said[:-1].tolist()):
        covered = summary.covering[:, j] if j < len(summary.rule_set) else summary.deciding == j
        yield covered, np.full(covered.size, label, np.int64)
    yield (summary.depth == 0) & (summary.deciding == -1), np.full(summary.codes.size, said[-1], np.int64)


def _picked(
    summary: Summary, covered: Flags, said: Integers, n_samples: int, rng: np.random.Generator
) -> dict[str, Integers]:
    """Draw some records for which what is said is right and some for which it is wrong, half each if there are."""
    right = np.flatnonzero(covered & (summary.codes == said))
    wrong = np.flatnonzero(covered & (summary.codes != said))
    n_wrong = min(wrong.size, max(n_samples // 2, n_samples - right.size))
    n_right = min(right.size, n_samples - n_wrong)
    sides = {"right": (right, n_right), "wrong": (wrong, n_wrong)}
    return {side: np.sort(rng.choice(group, n, replace=False)) for side, (group, n) in sides.items()}


def _colours(n_classes: int) -> list[str]:
    """Return the colour of each class; where there are too many to tell apart, words alone do."""
    return [f"c{k}" for k in range(n_classes)] if n_classes <= N_COLOURS else ["many"] * n_classes


def _reads(conditions: Iterable[Any], fields: list[Field]) -> list[int]:
    """Return the positions of the columns that some conditions read."""
    place = {field.column.name: j for j, field in enumerate(fields)}
    return [place[condition.column] for condition in conditions]


def _records(
    summary: Summary, fields: list[Field], records: Integers, index: Sequence[Any] | None
) -> list[dict[str, Any]]:
    """Return the sampled records: their values, labels and answers; numbered as in the table, from 1."""
    cells = [field.cells(records) for field in fields]
    return [
        {
            "row": int(record) + 1,
            "name": None if index is None else name_of(str(index[record])),
            "actual": int(summary.codes[record]),
            "answer": int(summary.answers[record]),
            "speaker": int(summary.deciding[record]),
            "covered": bool(summary.depth[record]),
            "cells": [column[k] for column in cells],
        }
        for k, record in enumerate(records.tolist())
    ]
