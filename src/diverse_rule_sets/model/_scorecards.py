"""Scorecards: columns that are the sum of whole points, which conditions on the table give to labels.

A scorecard gives points to one label (two-class problems: the more points, the likelier this label) or to several. In
the first case it is one derived column, its points. In the second case it has the points of each label, the *leader*
(the label with the most points) and the *lead* (by how many points). Conditions on these columns are ordinary
conditions: ``points >= 6``, ``most points for versicolor``, ``lead >= 2``, ``points for versicolor >= 4``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import CATEGORY, Column
from diverse_rule_sets._input.missing import codes_for
from diverse_rule_sets._input.values import NUMBER, plain
from diverse_rule_sets.model._checks import check_classes, error, shown
from diverse_rule_sets.model._conditions import Condition, DerivedColumn, Equals, Flags, Interval
from diverse_rule_sets.model._formatting import format_list_label, format_name, format_scorecard_name
from diverse_rule_sets.model._outcomes import possible_outcomes
from diverse_rule_sets.model._signs import Sign, check_points, check_signs, points_text
from diverse_rule_sets.sources._as_source import tables_of

# The largest difference between two sums of points.
MAX_RANGE = 10_000
# The parts of a scorecard that conditions may test.
POINTS, LEAD, LEADER = "points", "lead", "leader"
DEFAULT_NAME = "points"
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Scorecard:
    """Points that conditions on the table give to labels; rules may test their sums.

    Two scorecards are equal if their names, signs, labels and base points are equal.

    Parameters
    ----------
    name : the name under which rules use the points; it must not be the name of a column that the rules read
    signs : tuple of :class:`Sign`, with different conditions, at most 1000. Signs on one column add up
    labels : the labels that the signs give points to, in the order that settles ties: of labels with equally many
        points the first leads. By default the labels of the signs, in the order of first use
    base : dict of labels to the points that every record has; only for scorecards of several labels

    Examples
    --------
    >>> card = Scorecard.parse("points (for ill): 3 if age > 55, 2 if sex = 'F'")
    >>> print(card)
    Scorecard points (0 to 5 for ill):
       3 if age > 55
       2 if sex = "F"
    >>> import pandas as pd
    >>> card.points(pd.DataFrame({"age": [60, 40], "sex": ["F", None]})).tolist()
    [[5], [0]]
    """

    name: str
    signs: tuple[Sign, ...]
    labels: tuple[Any, ...] = ()
    base: Mapping[Any, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = plain(self.name)
        if not isinstance(name, str) or not name.strip():
            raise error("name", "a string that is not empty", name)
        signs = check_signs(self.signs)
        base = check_points(self.base, "base")
        used = tuple({_key(label): label for one in (base, *(s.points for s in signs)) for label in one}.values())
        labels = check_classes(self.labels or used, "labels")
        known = {_key(label) for label in labels}
        unknown = [label for label in used if _key(label) not in known]
        if unknown:
            raise error("points", f"points for the labels {shown(list(labels))}", unknown[0])
        if len(labels) == 1 and base:
            raise error("base", "an empty dict for a scorecard of one label", base)
        for part, value in (("name", str(name)), ("signs", signs), ("labels", labels), ("base", base)):
            object.__setattr__(self, part, value)
        if max(high - low for low, high in self.ranges.values()) > MAX_RANGE:
            raise error("signs", f"points whose sums differ by at most {MAX_RANGE:,}", self.ranges)

    @classmethod
    def parse(
        cls, text: str, *, label: Any = None, orders: Mapping[Hashable, Sequence[Any]] | None = None
    ) -> Scorecard:
        """Read a scorecard from text as ``str`` prints it; signs may also be separated by commas.

        Parameters
        ----------
        text : such as ``"points (for ill): 3 if age > 55, 2 if sex = 'F'"``, or with several labels ``"points: 3 for
            setosa if width <= 0.8, 2 for virginica if width > 1.7; 1 for virginica always"``
        label : the label that gets the points if the text names no label
        orders : as for :meth:`Rule.parse`
        """
        from diverse_rule_sets.model._ranges import checked_orders
        from diverse_rule_sets.model._scorecard_grammar import parse_scorecard

        return parse_scorecard(text, label, checked_orders(orders))

    @property
    def has_leader(self) -> bool:
        """Whether the scorecard gives points to several labels, so that one of them leads."""
        return len(self.labels) > 1

    @cached_property
    def columns(self) -> tuple[Hashable, ...]:
        """The columns of the table that the signs read, in the order of first use."""
        return tuple(dict.fromkeys(sign.condition.column for sign in self.signs))

    @cached_property
    def ranges(self) -> dict[Any, tuple[int, int]]:
        """The smallest and the largest number of points of each label that values of the columns can give."""
        by_column: dict[Hashable, list[Sign]] = {}
        for sign in self.signs:
            by_column.setdefault(sign.condition.column, []).append(sign)
        outcomes = [(signs, possible_outcomes([sign.condition for sign in signs])) for signs in by_column.values()]
        found = {label: (self.base.get(label, 0),) * 2 for label in self.labels}
        for signs, possible in outcomes:
            given: dict[Any, list[tuple[int, int]]] = {}
            for k, sign in enumerate(signs):
                for label, n in sign.points.items():
                    given.setdefault(label, []).append((k, n))
            for label, pairs in given.items():
                numbers, points = np.array(pairs).T
                sums = possible[:, numbers] @ points
                low, high = found[label]
                found[label] = (low + int(sums.min()), high + int(sums.max()))
        return found

    @cached_property
    def _positions(self) -> dict[tuple[bool, Any], int]:
        return {_key(label): k for k, label in enumerate(self.labels)}

    def position(self, label: Any) -> int:
        """Return the position of a label in ``labels``; raises ValueError if it is none of them."""
        label = plain(label)
        try:
            return self._positions[_key(label)]
        except (KeyError, TypeError):
            expected = f"one of the labels {shown(list(self.labels))} of the scorecard {shown(self.name)}"
            raise error("label", expected, label) from None

    @property
    def n_pairs(self) -> int:
        """The number of pairs of a sign and a label that it gives points to: what a reader reads."""
        return sum(len(sign.points) for sign in self.signs)

    def points(self, X: Any, *, missing_values: Any = None) -> Integers:
        """Return the points of each record of a table: an array (n_records, n_labels), columns as in ``labels``.

        ``missing_values`` are codes for missing values, as in :meth:`Rule.covers`.
        """
        parts, conditions = [], [sign.condition for sign in self.signs]
        for part, names in tables_of(X, [condition.column for condition in conditions]):
            table = part.with_codes(codes_for(missing_values, names)).with_cache()
            sums = PointSums([self.column(POINTS, self.labels[0])])
            for condition in conditions:
                sums.add(condition, condition.holds(table.column(condition.column, condition.expected)))
            parts.append(sums.sums(self))
        return np.concatenate(parts)

    def points_of(self, points: Mapping[Any, int]) -> Integers:
        """Return points by label as an array, in the order of ``labels``."""
        return np.array([points.get(label, 0) for label in self.labels], np.int32)

    def column(self, part: str = POINTS, label: Any = None) -> ScorecardColumn:
        """Return one of the derived columns: the points (of a label), the ``"lead"`` or the ``"leader"``."""
        return ScorecardColumn(self, part, label)

    def derived_columns(self) -> list[ScorecardColumn]:
        """Return all derived columns: the points, of each label if there are several, the lead and the leader."""
        if not self.has_leader:
            return [self.column()]
        return [*(self.column(POINTS, label) for label in self.labels), self.column(LEAD), self.column(LEADER)]

    def between(self, low: int | None = None, high: int | None = None, label: Any = None) -> Condition:
        """Return the condition that a record has from ``low`` to ``high`` points, of a label if there are several.

        Examples
        --------
        >>> card = Scorecard.parse("points (for ill): 3 if age > 55, 2 if sex = 'F'")
        >>> print(card.between(2, 3), card.between(low=5), sep="; ")
        2 <= points <= 3; points >= 5
        """
        return Interval(self.column(POINTS, label), low, high, with_low=True)

    def lead_between(self, low: int | None = None, high: int | None = None) -> Condition:
        """Return the condition that the leader has from ``low`` to ``high`` points more than any other label."""
        return Interval(self.column(LEAD), low, high, with_low=True)

    def leads(self, label: Any) -> Condition:
        """Return the condition that a label has the most points."""
        return Equals(self.column(LEADER), label)

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.signs, self.labels, self.base))

    def __hash__(self) -> int:
        return self._hash  # conditions are keys of dicts, and the hash of many signs takes long

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}  # the hash differs between processes

    def __str__(self) -> str:
        return "\n".join([f"Scorecard {self.heading()}:", *(f"   {line}" for line in self.lines())])

    def heading(self) -> str:
        """Return the name, and the labels that get points, as text; for one label with its range."""
        name = format_scorecard_name(self.name)
        if not self.has_leader:
            (label,) = self.labels
            low, high = self.ranges[label]
            return f"{name} ({low} to {high} for {format_list_label(label)})"
        return f"{name} (for {', '.join(map(format_list_label, self.labels))})"

    def lines(self) -> list[str]:
        """Return the signs as text, a line each."""
        if not self.has_leader:
            (label,) = self.labels
            return [f"{sign.points[label]} if {sign.condition}" for sign in self.signs]
        base = [f"{points_text(self.base)} always"] if self.base else []
        ties = (
            "Of labels with equally many points, the one that is listed first leads; "
            "the lead is how many more points it has than the next label."
        )
        return [*base, *map(str, self.signs), ties]

    def __repr__(self) -> str:
        return f"<Scorecard: {self.heading()}, {len(self.signs)} signs>"

    def _repr_html_(self) -> str:
        """Return the scorecard as an HTML table for notebooks."""
        from diverse_rule_sets.model._notebook_scorecards import scorecard_html

        return scorecard_html(self)


def _key(label: Any) -> tuple[bool, Any]:
    """Return a key that is different for True and 1."""
    return isinstance(label, bool), label


@dataclass(frozen=True)
class ScorecardColumn(DerivedColumn):
    """A derived column of a scorecard: its points, the points of a label, the lead, or the leader.

    Parameters
    ----------
    scorecard : the scorecard
    part : ``"points"``, ``"lead"`` or ``"leader"``
    label : the label whose points are tested, if the scorecard gives points to several labels
    """

    scorecard: Scorecard
    part: str = POINTS
    label: Any = None

    def __post_init__(self) -> None:
        card = self.scorecard
        if self.part not in (POINTS, LEAD, LEADER):
            raise error("part", f"one of {POINTS!r}, {LEAD!r}, {LEADER!r}", self.part)
        if self.part != POINTS and not card.has_leader:
            raise ValueError(
                f"the scorecard {shown(card.name)} gives points to one label only, so there is no {self.part}"
            )
        by_label = self.part == POINTS and card.has_leader
        object.__setattr__(self, "label", card.labels[card.position(self.label)] if by_label else None)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions of the signs."""
        return tuple(sign.condition for sign in self.scorecard.signs)

    @property
    def origin(self) -> Scorecard:
        """The scorecard."""
        return self.scorecard

    @property
    def counts_points(self) -> bool:
        """Whether the values are whole numbers; the leader is a label."""
        return self.part != LEADER

    def checked_value(self, value: Any) -> Any:
        """Return the label that a condition compares the leader with; raises ValueError if there is no such label."""
        if self.counts_points:
            raise ValueError(f"a condition on {self} must be an interval of points, got = {shown(value)}")
        return self.scorecard.labels[self.scorecard.position(value)]

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest value that can occur, of columns of points."""
        ranges = self.scorecard.ranges
        if self.part == POINTS:
            return ranges[self.scorecard.labels[0] if self.label is None else self.label]
        return 0, max(high for _, high in ranges.values()) - min(low for low, _ in ranges.values())

    def of_sums(self, sums: Integers) -> Column:
        """Return the values of the column, given the points of each record."""
        labels = self.scorecard.labels
        if self.part == LEADER:
            return Column(self, CATEGORY, np.argmax(sums, axis=1).astype(np.int32), labels)
        if self.part == LEAD:
            two = np.partition(sums, len(labels) - 2, axis=1)[:, -2:]
            return Column(self, NUMBER, (two[:, 1] - two[:, 0]).astype(np.float64))
        number = 0 if self.label is None else self.scorecard.position(self.label)
        return Column(self, NUMBER, sums[:, number].astype(np.float64))

    def format(self, value: Any = None) -> str:
        """Return the name of the column; with a label, the condition that this label leads."""
        name = format_scorecard_name(self.scorecard.name)
        if self.part == LEADER:
            return f"most {name} for {format_list_label(value)}" if value is not None else f"most {name}"
        if self.part == LEAD:
            return "lead" if self.scorecard.name == DEFAULT_NAME else f"lead of {name}"
        return name if self.label is None else f"{name} for {format_list_label(self.label)}"

    __str__ = DerivedColumn.__str__


class PointSums:
    """The points of all records of a table, added up while the columns are read one after the other.

    Parameters
    ----------
    columns : the derived columns that are needed
    """

    def __init__(self, columns: Iterable[ScorecardColumn]) -> None:
        self._sums: dict[Scorecard, Any] = {}
        self._given: dict[Condition, list[tuple[Scorecard, Integers]]] = {}
        for card in dict.fromkeys(column.scorecard for column in columns):
            self._sums[card] = card.points_of(card.base)
            for sign in card.signs:
                self._given.setdefault(sign.condition, []).append((card, card.points_of(sign.points)))

    def add(self, condition: Condition, holds: Flags) -> None:
        """Add the points of the signs with a condition; ``holds`` are the records for which it holds."""
        for card, points in self._given.get(condition, ()):
            self._sums[card] = self._sums[card] + holds[:, None] * points

    def sums(self, scorecard: Scorecard) -> Integers:
        """Return the points of each record: an array (n_records, n_labels)."""
        return np.asarray(self._sums[scorecard])

    def column(self, column: ScorecardColumn) -> Column:
        """Return a derived column, after the conditions of all its signs were added."""
        return column.of_sums(self._sums[column.scorecard])


def scorecards_of(rules: Iterable[Any]) -> tuple[Scorecard, ...]:
    """Return the scorecards that rules use, in the order of first use."""
    columns = (condition.column for rule in rules for condition in rule.conditions)
    return tuple(dict.fromkeys(column.scorecard for column in columns if isinstance(column, ScorecardColumn)))


def check_names(cards: Iterable[Scorecard]) -> None:
    """Raise ValueError if two different scorecards have the same name."""
    known: dict[str, Scorecard] = {}
    for card in cards:
        if known.setdefault(card.name, card) != card:
            raise ValueError(f"two different scorecards have the name {shown(card.name)}, expected one of them")


def check_scorecards(rules: Iterable[Any], classes: Sequence[Any]) -> None:
    """Raise ValueError if a name of a scorecard is that of another one or of a column, or if a label is unknown."""
    rules = tuple(rules)
    cards = scorecards_of(rules)
    if not cards:
        return
    columns = {column for rule in rules for condition in rule.conditions for column in condition.columns}
    texts = {format_name(column): column for column in columns}
    labels = {_key(label) for label in classes}
    check_names(cards)
    for card in cards:
        for label in card.labels:
            if _key(label) not in labels:
                place = f"a label of the scorecard {shown(card.name)}"
                raise error(place, f"one of the classes {shown(list(classes))}", label)
        for column in card.derived_columns():
            if str(column) in texts:
                raise ValueError(
                    f"the text {shown(str(column))} would mean a part of the scorecard {shown(card.name)} and also the "
                    f"column {shown(texts[str(column)])} that the rules read; rename the scorecard"
                )
    for rule in rules:
        if rule.points_table is not None and len(rule.points_table.rows[0]) != len(classes):
            raise error(
                "points_table.rows", f"{len(classes)} probabilities each, one per class", rule.points_table.rows[0]
            )
