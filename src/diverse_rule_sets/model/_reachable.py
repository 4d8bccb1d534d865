"""Which points records can have, and whether rules cover every possible record.

The outcomes of testing one column are known (:mod:`._outcomes`): signs exclude or imply each other, and a value may be
missing. Columns are independent of each other, so the sums of points are found column by column: every sum so far, plus
the points of every outcome of the next column. If there are too many different sums, nothing is said.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.values import type_of
from diverse_rule_sets.model._conditions import Condition, Equals, Flags, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._outcomes import possible_outcomes
from diverse_rule_sets.model._ranges import IsInRange
from diverse_rule_sets.model._scorecards import POINTS, Scorecard, ScorecardColumn

Integers = NDArray[np.int64]
# The largest number of sums (and of sets of rules that may still hold) that one column may lead to.
_MAX_STATES = 50_000
# Of other classes of conditions it is not known which can hold together.
_KNOWN = (Interval, Equals, IsIn, IsNotIn, IsMissing, IsInRange)
# Rules whose conditions hold so far are the bits of whole numbers, so many in each.
_BITS = 62


def reachable_points(column: ScorecardColumn, conditions: Sequence[Condition] = ()) -> list[int] | None:
    """Return the values of a column of points that records can have which meet some conditions, ascending.

    None if there are too many combinations of signs, or a condition is of an unknown class.

    Examples
    --------
    >>> card = Scorecard.parse("points (for ill): 2 if age > 55, 3 if age > 70, 4 if sex = 'F'")
    >>> reachable_points(card.column())
    [0, 2, 4, 5, 6, 9]
    >>> reachable_points(card.column(), [Interval("age", high=60), card.between(low=1)])
    [2, 4, 6]
    """
    states = _States([conditions], [column])
    if not states.run():
        return None
    held = states.derived_hold(conditions) & states.alive(0)
    return [int(value) for value in np.unique(states.column(column).values[held])]


def cover_everything(bodies: Sequence[Sequence[Condition]]) -> bool:
    """Return whether every possible record meets all conditions of at least one body; False if that is not known.

    Examples
    --------
    >>> from diverse_rule_sets import Interval, IsMissing
    >>> low, high = Interval("age", high=30), Interval("age", low=30)
    >>> cover_everything([[low], [high]]), cover_everything([[low], [high], [IsMissing("age")]])
    (False, True)
    """
    on_points = [body for body in bodies if all(isinstance(one.column, ScorecardColumn) for one in body)]
    return any(_cover(some) for some in (on_points, bodies) if some)


def _cover(bodies: Sequence[Sequence[Condition]]) -> bool:
    states = _States(bodies, (), only_uncovered=True)
    if not states.run():
        return False
    covered = np.zeros(states.n_states, np.bool_)
    for j, body in enumerate(bodies):
        covered |= states.alive(j) & states.derived_hold(body)
    return bool(covered.all())


class _States:
    """All different combinations of points, and of bodies whose conditions on the table hold.

    Parameters
    ----------
    bodies : lists of conditions
    columns : columns of scorecards that are needed besides those that the conditions test
    only_uncovered : whether combinations in which all conditions of a body hold are left out
    """

    def __init__(
        self, bodies: Sequence[Sequence[Condition]], columns: Iterable[ScorecardColumn], only_uncovered: bool = False
    ) -> None:
        self._bodies = bodies
        tested = [one.column for body in bodies for one in body if isinstance(one.column, ScorecardColumn)]
        self._pairs = _needed_pairs([*columns, *tested])
        self._only_uncovered = only_uncovered
        plain = [{one.column for one in body if not isinstance(one.column, ScorecardColumn)} for body in bodies]
        self._plain: list[set[Hashable]] = plain
        n_words = -(-len(bodies) // _BITS)
        base = [card.base.get(label, 0) for card, label in self._pairs]
        words = [(1 << min(_BITS, len(bodies) - k * _BITS)) - 1 for k in range(n_words)]
        self._rows: Integers = np.array([[*base, *words]], np.int64)

    @property
    def n_states(self) -> int:
        """The number of different combinations."""
        return len(self._rows)

    def run(self) -> bool:
        """Combine the outcomes of all columns of the table; return whether that was possible."""
        signs: dict[Hashable, dict[Condition, Integers]] = {}
        for card in dict.fromkeys(card for card, _ in self._pairs):
            for sign in card.signs:
                given = np.array([sign.points.get(label, 0) * (own == card) for own, label in self._pairs], np.int64)
                by_condition = signs.setdefault(sign.condition.column, {})
                by_condition[sign.condition] = by_condition.get(sign.condition, 0) + given
        names = dict.fromkeys([*signs, *(name for columns in self._plain for name in columns)])
        for k, name in enumerate(names):
            steps = self._steps(name, signs.get(name, {}))
            if steps is None or len(steps) * self.n_states > _MAX_STATES:
                return False
            self._combine(steps)
            if self._only_uncovered:
                self._drop_covered(set(list(names)[: k + 1]))
        return True

    def _steps(self, name: Hashable, given: dict[Condition, Integers]) -> Integers | None:
        """Return the different points, and the bodies that may still hold, that values of one column give."""
        tests = [one for body in self._bodies for one in body if one.column == name]
        conditions = list(dict.fromkeys([*given, *tests]))
        outcomes = _outcomes(conditions)
        if outcomes is None:
            return None
        n_signs, position = len(given), {condition: k for k, condition in enumerate(conditions)}
        points = outcomes[:, :n_signs] @ np.array(list(given.values()), np.int64).reshape(n_signs, len(self._pairs))
        words = np.full((len(outcomes), self._rows.shape[1] - len(self._pairs)), (1 << _BITS) - 1, np.int64)
        for j, body in enumerate(self._bodies):
            own = [position[one] for one in body if one.column == name]
            if own:
                fails = ~outcomes[:, own].all(axis=1)
                words[fails, j // _BITS] &= ~(1 << j % _BITS)
        if not self._only_uncovered:  # there is one body, and only records that meet it are of interest
            kept = (words & 1).all(axis=1)
            points, words = points[kept], words[kept]
        return _distinct(np.column_stack([points, words]))

    def _combine(self, steps: Integers) -> None:
        """Add the points of every outcome to every combination; a body holds if it held and holds now."""
        n = len(self._pairs)
        sums = self._rows[:, None, :n] + steps[None, :, :n]
        words = self._rows[:, None, n:] & steps[None, :, n:]
        self._rows = _distinct(np.concatenate([sums, words], axis=2).reshape(-1, self._rows.shape[1]))

    def _drop_covered(self, done: set[Hashable]) -> None:
        """Leave out combinations in which a body holds that has conditions on the given columns only."""
        for j, body in enumerate(self._bodies):
            if self._plain[j] <= done and not any(isinstance(one.column, ScorecardColumn) for one in body):
                self._rows = self._rows[~self.alive(j)]

    def alive(self, j: int) -> Flags:
        """Return for which combinations the conditions of a body on the table hold."""
        return (self._rows[:, len(self._pairs) + j // _BITS] >> j % _BITS & 1).astype(np.bool_)

    def column(self, column: ScorecardColumn) -> Column:
        """Return a column of a scorecard, with a value for each combination."""
        labels = column.scorecard.labels
        sums = np.zeros((self.n_states, len(labels)), np.int64)
        for k, (card, label) in enumerate(self._pairs):
            if card == column.scorecard:
                sums[:, card.position(label)] = self._rows[:, k]
        return column.of_sums(sums)

    def derived_hold(self, conditions: Sequence[Condition]) -> Flags:
        """Return for which combinations all those conditions hold that test scorecards."""
        flags = np.ones(self.n_states, np.bool_)
        for condition in conditions:
            if isinstance(condition.column, ScorecardColumn):
                flags &= condition.holds(self.column(condition.column))
        return flags


def _needed_pairs(columns: Iterable[ScorecardColumn]) -> list[tuple[Scorecard, Any]]:
    """Return the scorecards and labels whose points are needed: all labels, if it matters which one leads."""
    pairs: dict[tuple[Scorecard, int], None] = {}
    for column in columns:
        card = column.scorecard
        if column.part == POINTS:
            pairs[card, 0 if column.label is None else card.position(column.label)] = None
        else:
            pairs |= dict.fromkeys((card, k) for k in range(len(card.labels)))
    return [(card, card.labels[k]) for card, k in pairs]


def _outcomes(conditions: Sequence[Condition]) -> Flags | None:
    """Return the possible outcomes of testing one column; None if they are not known."""
    if any(type(condition) not in _KNOWN for condition in conditions):
        return None
    kinds = {condition.kind for condition in conditions if condition.comparisons}
    named = {type_of(v) for one in conditions if not getattr(one, "mixed", False) for v in one.values_named}
    if kinds and len(kinds | named) > 1:  # values of several types: one of the conditions is an error for any column
        return None
    return possible_outcomes(conditions)


def _distinct(rows: Integers) -> Integers:
    """Return the different rows of whole numbers; as one number each if they are small enough, which sorts faster."""
    if not len(rows):
        return rows
    low = rows.min(axis=0)
    spans = [int(span) + 1 for span in rows.max(axis=0) - low]
    size = 1
    for span in spans:
        size *= span
    if size >= 1 << 62:
        return np.unique(rows, axis=0)
    keys = np.zeros(len(rows), np.int64)
    for k, span in enumerate(spans):
        keys = keys * span + (rows[:, k] - low[k])
    _, first = np.unique(keys, return_index=True)
    return rows[first]
