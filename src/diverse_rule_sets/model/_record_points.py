"""The points of single records: which signs hold for them, which are not known, and the text that names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, distinct_rows
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._formatting import format_list_label, format_scorecard_name
from diverse_rule_sets.model._scorecards import DEFAULT_NAME, LEAD, LEADER, POINTS, Scorecard, ScorecardColumn
from diverse_rule_sets.model._signs import points_text

Octets = NDArray[np.uint8]
Columns = tuple[ScorecardColumn, ...]


class SignFlags:
    """Which signs hold for which records of a table, and which are not known, collected while columns are read.

    A sign is not known if the value of its column is missing, unless the sign tests for this. The flags are kept as
    packed bits, the lowest bit first.

    Parameters
    ----------
    scorecards : the scorecards
    n_records : number of records of the table
    """

    def __init__(self, scorecards: Iterable[Scorecard], n_records: int) -> None:
        self.n_records = n_records
        signs = (sign.condition for card in scorecards for sign in card.signs)
        self._held: dict[Condition, Octets] = dict.fromkeys(signs, np.zeros(0, np.uint8))
        self._missing: dict[Any, Octets | None] = {}

    def add(self, condition: Condition, held: Octets, column: Column) -> None:
        """Add the packed records for which a condition holds, and the column that it tests."""
        if condition not in self._held:
            return
        self._held[condition] = held
        if condition.column not in self._missing:
            missing = column.missing
            self._missing[condition.column] = np.packbits(missing, bitorder="little") if missing.any() else None

    def flags(self, scorecard: Scorecard) -> tuple[Flags, Flags]:
        """Return which signs of a scorecard hold and which are not known: two arrays (n_records, n_signs)."""
        conditions = [sign.condition for sign in scorecard.signs]
        held = [self._unpack(self._held[condition]) for condition in conditions]
        missing = [self._unpack(self._missing[condition.column]) for condition in conditions]
        unknown = [lacks & ~holds for lacks, holds in zip(missing, held, strict=True)]
        return np.column_stack(held), np.column_stack(unknown)

    def _unpack(self, octets: Octets | None) -> Flags:
        if octets is None:
            return np.zeros(self.n_records, np.bool_)
        return np.unpackbits(octets, count=self.n_records, bitorder="little").view(np.bool_)


def tested_columns(rules: Iterable[Any]) -> Columns:
    """Return the columns of scorecards that rules test, in the order of first use."""
    columns = dict.fromkeys(condition.column for rule in rules for condition in rule.conditions)
    return tuple(column for column in columns if isinstance(column, ScorecardColumn))


@dataclass(frozen=True)
class CardPoints:
    """The points of one record on one scorecard.

    Parameters
    ----------
    scorecard : the scorecard
    held, unknown : the positions of the signs that hold, and of those that are not known
    signs : the condition of each sign as text
    """

    scorecard: Scorecard
    held: Sequence[int]
    unknown: Sequence[int]
    signs: Sequence[str]

    def sum(self, label: Any) -> int:
        """Return the points of a label."""
        signs = self.scorecard.signs
        return self.scorecard.base.get(label, 0) + sum(signs[k].points.get(label, 0) for k in self.held)

    def details(self, label: Any) -> str:
        """Return what the points of a label are for, such as ``3 for age > 55, 2 for sex = "F"``."""
        base = self.scorecard.base.get(label, 0)
        given = [(self.scorecard.signs[k].points.get(label, 0), self.signs[k]) for k in self.held]
        parts = [f"{base} always"] if base else []
        return ", ".join([*parts, *(f"{n} for {sign}" for n, sign in given if n)])

    def text(self, columns: Columns) -> list[str]:
        """Return the values of the tested columns and what they are computed from, as parts of a sentence."""
        parts = self._of_labels(columns) if self.scorecard.has_leader else [self._total()]
        unknown = [f"{self.signs[k]} ({self._possible_points(k)})" for k in self.unknown]
        return [*parts, f"not known: {', '.join(unknown)}"] if unknown else parts

    def _total(self) -> str:
        """Return the points of the only label, such as ``7 of 9 points: 3 for age > 55, ...``."""
        (label,) = self.scorecard.labels
        low, high = self.scorecard.ranges[label]
        number, limits = self.sum(label), f" of {high}" if low == 0 else ""
        possible = "" if low == 0 else f" (possible: {low} to {high})"
        name = self.scorecard.name
        start = f"{format_scorecard_name(name)} {number}{limits}{possible}"
        if name == DEFAULT_NAME:
            start = f"{number}{limits} point{'' if number == 1 and not limits else 's'}{possible}"
        return f"{start}: {self.details(label) or 'no sign holds'}"

    def _of_labels(self, columns: Columns) -> list[str]:
        """Return the leader, the next label and the lead, if they are tested, and the points of tested labels."""
        card = self.scorecard
        sums = {label: self.sum(label) for label in card.labels}
        parts, shown = [], set()
        if any(column.part != POINTS for column in columns):
            first, second = sorted(card.labels, key=lambda label: -sums[label])[:2]
            lead = sums[first] - sums[second]
            shown = {first, second}
            parts = [
                f"{card.column(LEADER).format(first)}: {self._with_details(first)}",
                f"next {format_list_label(second)}: {self._with_details(second)}",
                f"{card.column(LEAD)} {lead}" + ("" if lead else " (the label that is listed first leads)"),
            ]
        for column in columns:
            if column.part == POINTS and column.label not in shown:
                parts.append(f"{column}: {self._with_details(column.label)}")
        return parts

    def _with_details(self, label: Any) -> str:
        details = self.details(label)
        return f"{self.sum(label)} ({details})" if details else str(self.sum(label))

    def _possible_points(self, k: int) -> str:
        """Return the points of a sign as text."""
        points = self.scorecard.signs[k].points
        if self.scorecard.has_leader:
            return points_text(points)
        (number,) = points.values()
        return f"{number} point{'' if abs(number) == 1 else 's'}"


def record_text(columns: Columns, points: Mapping[Scorecard, CardPoints]) -> str:
    """Return the points of a record in some tested columns as text; empty without columns."""
    by_card: dict[Scorecard, Columns] = {}
    for column in columns:
        by_card[column.scorecard] = (*by_card.get(column.scorecard, ()), column)
    return "; ".join(part for card, tested in by_card.items() for part in points[card].text(tested))


def points_texts(
    signs: SignFlags, scorecards: Sequence[Scorecard], groups: Sequence[tuple[str, Columns]], group: Integers
) -> NDArray[Any]:
    """Return the points of each record as text to add to a sentence; empty for records whose points do not matter.

    The text is made once for each distinct combination of signs.

    Parameters
    ----------
    signs : which signs hold for which records
    scorecards : the scorecards
    groups : the beginning of the text, and the tested columns, of each group of records
    group : the group of each record
    """
    flags = [part for card in scorecards for part in signs.flags(card)]
    patterns, which = distinct_rows(np.column_stack(flags))
    pairs, position = np.unique(group * len(patterns) + which, return_inverse=True)
    borders = np.cumsum([part.shape[1] for part in flags])[:-1]
    names = [[str(sign.condition) for sign in card.signs] for card in scorecards]
    texts = []
    for k in pairs.tolist():
        start, columns = groups[k // len(patterns)]
        parts = [np.flatnonzero(part).tolist() for part in np.split(patterns[k % len(patterns)], borders)]
        points = map(CardPoints, scorecards, parts[::2], parts[1::2], names)
        text = record_text(columns, dict(zip(scorecards, points, strict=True)))
        texts.append(f"{start}{text}" if text else "")
    return np.array(texts, object)[position.reshape(-1)]
