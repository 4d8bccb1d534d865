"""Scorecards as JSON: the key ``scorecards`` of a file, conditions on them, and ``points_table`` of a rule.

A scorecard is written once; conditions and tables refer to one of its derived columns by ``scorecard`` (its name),
``part`` and, for the points of one of several labels, ``label``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from diverse_rule_sets.model._checks import error, shown
from diverse_rule_sets.model._conditions import Condition, Equals, Interval
from diverse_rule_sets.model._point_probabilities import PointsTable
from diverse_rule_sets.model._scorecards import LEADER, MAX_RANGE, Scorecard, ScorecardColumn
from diverse_rule_sets.model._signs import MAX_SIGNS, Sign

# The keys of a scorecard, of a sign, of a table; and those that refer to a derived column.
SCORECARD_KEYS, SIGN_KEYS, TABLE_KEYS = ("name", "labels", "base", "signs"), ("if", "points"), ("low", "rows")
COLUMN_KEYS, OPTIONAL_COLUMN_KEYS = ("scorecard", "part"), ("label",)
Value = Callable[[Any, str], Any]


def scorecard_to_json(
    card: Scorecard, json_value: Value, json_condition: Callable[[Condition], dict[str, Any]]
) -> dict[str, Any]:
    """Return a scorecard as JSON.

    Parameters
    ----------
    card : the scorecard
    json_value : function of a value and of its description that returns the value as JSON, or raises ValueError
    json_condition : function that returns a condition as JSON
    """

    def pairs(points: Mapping[Any, int]) -> list[list[Any]]:
        return [[json_value(label, "a label"), n] for label, n in points.items()]

    return {
        "name": json_value(card.name, "the name of a scorecard"),
        "labels": [json_value(label, "a label") for label in card.labels],
        "base": pairs(card.base),
        "signs": [{"if": json_condition(sign.condition), "points": pairs(sign.points)} for sign in card.signs],
    }


def column_to_json(column: ScorecardColumn, json_value: Value) -> dict[str, Any]:
    """Return the keys that refer to a derived column."""
    label = {} if column.label is None else {"label": json_value(column.label, "a label")}
    name = json_value(column.scorecard.name, "the name of a scorecard")
    return {"scorecard": name, "part": column.part, **label}


def table_to_json(table: PointsTable, json_value: Value) -> dict[str, Any]:
    """Return the class probabilities by points of a rule as JSON."""
    return {**column_to_json(table.column, json_value), "low": table.low, "rows": [list(row) for row in table.rows]}


class ScorecardReader:
    """Reads the scorecards of a file, and what refers to them.

    Parameters
    ----------
    check_keys : function of an object, its place, the keys that it must have and those that it may have
    read_label : function of a JSON value and of its place that returns one of the classes
    read_condition : function of a JSON value and of its place that returns a condition on a column of the table
    """

    def __init__(
        self,
        check_keys: Callable[[Any, str, tuple[str, ...], tuple[str, ...]], None],
        read_label: Value,
        read_condition: Callable[[Any, str], Condition],
    ) -> None:
        self._check_keys, self._label, self._condition = check_keys, read_label, read_condition
        self._cards: dict[str, Scorecard] = {}
        self._used: set[str] = set()

    def read(self, listed: list[Any]) -> None:
        """Read all scorecards; their names must be different."""
        for k, content in enumerate(listed):
            place = f"scorecards[{k}]"
            self._check_keys(content, place, SCORECARD_KEYS, ())
            card = self._scorecard(content, place)
            if card.name in self._cards:
                raise ValueError(f"{place}.name is {shown(card.name)} a second time")
            self._cards[card.name] = card

    def check_used(self) -> None:
        """Raise ValueError if no rule uses some scorecard."""
        unused = [name for name in self._cards if name not in self._used]
        if unused:
            raise ValueError(f"scorecards must list exactly the scorecards that the rules use; see {shown(unused[0])}")

    def column(self, content: Mapping[str, Any], place: str) -> ScorecardColumn:
        """Return the derived column that an object refers to."""
        name, part = content["scorecard"], content["part"]
        if not isinstance(name, str) or name not in self._cards:
            raise error(f"{place}.scorecard", f"one of the scorecards {shown(list(self._cards))}", name)
        card = self._cards[name]
        self._used.add(name)
        if not isinstance(part, str):
            raise error(f"{place}.part", "text", part)
        label = self._label(content["label"], f"{place}.label") if "label" in content else None
        try:
            column = card.column(part, label)
        except ValueError as problem:
            raise ValueError(f"{place}: {problem}") from None
        if "label" in content and column.label is None:
            raise ValueError(f"{place} has 'label', which is only for the points of one of several labels")
        return column

    def condition(self, column: ScorecardColumn, condition: Condition, place: str) -> Condition:
        """Return a condition on a derived column, given the same test of a column of the table."""
        if column.part == LEADER:
            if not isinstance(condition, Equals):
                raise ValueError(f"{place} must have = and a label, the one with the most points")
            return Equals(column, condition.value)
        if not isinstance(condition, Interval) or any(type(bound) is not int for _, bound in condition.comparisons):
            raise ValueError(f"{place} must have whole numbers as bounds of the points")
        return Interval(column, condition.low, condition.high, condition.with_low, condition.with_high)

    def table(self, content: Any, n_classes: int, place: str) -> PointsTable:
        """Return the class probabilities by points of a rule."""
        self._check_keys(content, place, (*COLUMN_KEYS, *TABLE_KEYS), OPTIONAL_COLUMN_KEYS)
        column, rows = self.column(content, place), content["rows"]
        if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_RANGE + 1:
            raise error(f"{place}.rows", f"a list of 1 to {MAX_RANGE + 1} rows", rows)
        for k, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != n_classes:
                raise error(f"{place}.rows[{k}]", f"a list of {n_classes} probabilities, one per class", row)
        try:
            return PointsTable(column, content["low"], rows)  # type: ignore[arg-type]
        except ValueError as problem:
            raise ValueError(f"{place}: {problem}") from None

    def _scorecard(self, content: Mapping[str, Any], place: str) -> Scorecard:
        labels, signs = content["labels"], content["signs"]
        for key, listed in (("labels", labels), ("signs", signs)):
            if not isinstance(listed, list) or not listed:
                raise error(f"{place}.{key}", "a list that is not empty", listed)
        if len(signs) > MAX_SIGNS:
            raise error(f"{place}.signs", f"at most {MAX_SIGNS:,} signs", signs)
        known = tuple(self._label(label, f"{place}.labels[{k}]") for k, label in enumerate(labels))
        base = self._points(content["base"], f"{place}.base")
        made = tuple(self._sign(sign, f"{place}.signs[{k}]") for k, sign in enumerate(signs))
        try:
            return Scorecard(content["name"], made, known, base)
        except ValueError as problem:
            raise ValueError(f"{place}: {problem}") from None

    def _sign(self, content: Any, place: str) -> Sign:
        self._check_keys(content, place, SIGN_KEYS, ())
        condition = self._condition(content["if"], f"{place}.if")
        try:
            return Sign(condition, self._points(content["points"], f"{place}.points"))
        except ValueError as problem:
            raise problem if str(problem).startswith(place) else ValueError(f"{place}: {problem}") from None

    def _points(self, content: Any, place: str) -> dict[Any, int]:
        """Return points by label, given as pairs; the numbers are checked later."""
        if not isinstance(content, list):
            raise error(place, "a list of pairs of a label and its points", content)
        points: dict[Any, int] = {}
        for k, pair in enumerate(content):
            if not isinstance(pair, list) or len(pair) != 2:
                raise error(f"{place}[{k}]", "a pair of a label and its points", pair)
            label = self._label(pair[0], f"{place}[{k}]")
            if label in points:
                raise ValueError(f"{place}[{k}] has the label {shown(label)} a second time")
            points[label] = pair[1]
        return points
