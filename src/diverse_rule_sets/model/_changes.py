"""The search for the nearest changes of a record that would give it another label.

Every column is divided into pieces such that all values of a piece give the same label (:mod:`._regions`). A change is
verified by applying the rule set to one record in each piece.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.model._answers import Answers
from diverse_rule_sets.model._axes import MISSING, Axis, Codes
from diverse_rule_sets.model._boxes import Box, Distances, Target, moved_to
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._point_moves import PiecePoints, combined_moves, opposites
from diverse_rule_sets.model._record_points import tested_columns
from diverse_rule_sets.model._regions import MovedRecords
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import ScorecardColumn

# Number of rules that are tried for a label, and of other labels that are reported if none is given.
_MAX_RULES, _MAX_LABELS = 5, 3
# Number of columns of which all changes together are tried, if the rules use scorecards.
_MAX_COLUMNS = 3
# Number of values of moved records in memory at once.
_BLOCK = 1 << 21
# Used instead of the position of a rule: the default label, and several rules that decide together.
DEFAULT, TOGETHER = -1, -2


@dataclass(frozen=True)
class Change:
    """A change that would give a record another label, for every value that meets the conditions.

    Parameters
    ----------
    label : the other label
    conditions : the conditions that the changed record meets, with its other values unchanged
    deciding : the rules that decide the changed record, positions in ``rule_set.all_rules``, or `DEFAULT` or `TOGETHER`
    rule : position of the rule that covers the changed record but does not decide; None if the record gets the label
    points : the columns of scorecards that the deciding rules test, before or after the change, and that the change
        alters; each with its value before the change and its values after it
    """

    label: Any
    conditions: tuple[Condition, ...]
    deciding: tuple[int, ...]
    rule: int | None = None
    points: tuple[tuple[ScorecardColumn, Any, tuple[Any, ...]], ...] = ()

    @property
    def is_sufficient(self) -> bool:
        """Whether the changed record gets the label."""
        return self.rule is None


def deciding_or_together(answers: Answers) -> Codes:
    """Return the deciding rule of each record, `DEFAULT`, or `TOGETHER` if only the sum of class counts decides."""
    if not answers.rule_set.adds_counts:
        return answers.deciding
    return np.where((answers.deciding < 0) & (answers.depth > 0), TOGETHER, answers.deciding)


def find_changes(rule_set: RuleSet, axes: Sequence[Axis], labels: Sequence[Any], label: Any) -> list[list[Change]]:
    """Find the changes of each record that would give it other labels, the nearest first.

    First every piece of every column is tried, with the other values unchanged; of the pieces that give a label the
    nearest is used. If the rules use scorecards, all combinations of pieces of two columns are tried for the labels
    that no change of a single column gives, then those of three columns (if there are more than 8192, those nearest to
    the record; none for so many columns that even these are more). For the labels that remain, rules with this label
    are tried, those with the fewest failing conditions first; conditions on scorecards are met by changing one column
    after the other. If the covering rules test points, it is also tried to break these conditions. A change is verified
    in every piece: no value that meets its conditions gives another label. A change to a missing value is used only if
    no other change gives the label.

    Parameters
    ----------
    rule_set : the rules
    axes : the columns that the rules read, with their pieces
    labels : the current label of each record
    label : the label to search for; None for the nearest others
    """
    if not axes:
        return [[] for _ in labels]
    position = {known: k for k, known in enumerate(rule_set.classes)}
    current = np.array([position[own] for own in labels], np.int64)
    search = _Search(rule_set, axes, None if label is None else position[label])
    size = max(1, _BLOCK // (max(len(search.steps), 1) * len(axes)))
    return [
        changes
        for begin in range(0, len(current), size)
        for changes in search.find(slice(begin, begin + size), current[begin : begin + size])
    ]


class _Search:
    """The search for the changes of some records, with the values that are computed once for all of them."""

    def __init__(self, rule_set: RuleSet, axes: Sequence[Axis], label: int | None) -> None:
        self.rule_set, self.axes, self.label = rule_set, axes, label
        self.codes = np.column_stack([axis.codes for axis in axes])
        self.steps = [(a, piece) for a, axis in enumerate(axes) for piece in axis.destinations]
        self.points = PiecePoints(axes, rule_set.scorecards)
        position = {axis.name: a for a, axis in enumerate(axes)}
        on_columns = [[one for one in rule.conditions if one.column in position] for rule in rule_set.rules]
        self.bodies = [
            [(position[one.column], one, axes[position[one.column]].pieces_of(one)) for one in conditions]
            for conditions in on_columns
        ]
        self.on_points = [on_scorecards(rule.conditions) for rule in rule_set.rules]
        self.by_label: dict[int, list[int]] = {}
        for j, k in enumerate(rule_set.labels_of(np.arange(len(rule_set.rules))).tolist()):
            self.by_label.setdefault(k, []).append(j)

    def answer(self, codes: Codes) -> Answers:
        """Apply the rule set to moved records."""
        return self.rule_set.answer(MovedRecords(self.axes, codes))

    def labels(self, codes: Codes) -> Codes:
        """Return the labels of moved records."""
        return self.answer(codes).labels if len(codes) else np.zeros(0, np.int64)

    def find(self, block: slice, current: Codes) -> list[list[Change]]:
        """Find the changes of some records."""
        codes = self.codes[block]
        distances = [axis.distances(block) for axis in self.axes]
        boxes, remaining = self.find_moves(codes, current, distances)
        for n_columns in range(2, _MAX_COLUMNS + 1) if self.points else ():
            targets = self.find_combined(codes, distances, remaining, n_columns)
            self.add_boxes(boxes, remaining, self.find_boxes(codes, targets))
        targets = self.choose(codes, self.find_targets(codes, distances, remaining))
        self.add_boxes(boxes, remaining, self.find_boxes(codes, targets))
        return self.make_changes(codes, [self.best(some) for some in boxes])

    def add_boxes(self, boxes: list[list[Box]], remaining: list[list[int]], found: Sequence[Box]) -> None:
        """Add moves to those of their records, and remove the labels that they give from those that remain."""
        for box in found:
            boxes[box.record].append(box)
            if box.rule is None and box.distance < MISSING:
                remaining[box.record] = [k for k in remaining[box.record] if k != box.label]
                if self.label is None and sum(one.distance < MISSING for one in boxes[box.record]) >= _MAX_LABELS:
                    remaining[box.record].clear()

    def best(self, boxes: Sequence[Box]) -> list[Box]:
        """Return the best move of a record for each label, the best first."""
        by_label: dict[int, Box] = {}
        for box in sorted(boxes, key=lambda box: box.order):
            by_label.setdefault(box.label, box)
        return list(by_label.values())[: None if self.label is not None else _MAX_LABELS]

    def find_moves(self, codes: Codes, current: Codes, distances: Distances) -> tuple[list[list[Box]], list[list[int]]]:
        """Return the nearest moves along one column, and for each record the labels that no move to a value gives."""
        steps = np.array(self.steps, np.int64).reshape(-1, 2)
        moved = np.repeat(codes[:, None, :], len(steps), axis=1)
        moved[:, np.arange(len(steps)), steps[:, 0]] = steps[:, 1]
        labels = self.labels(moved.reshape(-1, codes.shape[1])).reshape(len(codes), len(steps))
        lengths = np.column_stack([distances[a][:, piece] for a, piece in self.steps] or [np.zeros((len(codes), 0))])
        others = range(len(self.rule_set.classes)) if self.label is None else [self.label]
        boxes: list[list[Box]] = [[] for _ in codes]
        remaining: list[list[int]] = [[] for _ in codes]
        nearest = {}
        for k in others:
            reach = np.where(labels == k, lengths, math.inf)
            reach = np.column_stack([reach, np.full(len(codes), math.inf)])
            nearest[k] = reach.argmin(axis=1), reach.min(axis=1)
        for i, own in enumerate(current.tolist()):
            found = sorted((float(nearest[k][1][i]), k) for k in others if k != own)
            for distance, k in found[: None if self.label is not None else _MAX_LABELS]:
                if distance == math.inf:
                    continue
                a, start = self.steps[nearest[k][0][i]]
                steps_to_k = itertools.compress(self.steps, labels[i] == k)
                pieces = self.axes[a].expand(start, {piece for axis, piece in steps_to_k if axis == a})
                boxes[i].append(Box(i, k, (a,), (pieces,), (self.axes[a].condition(pieces),), distance))
            if self.label is not None or sum(box.distance < MISSING for box in boxes[i]) < _MAX_LABELS:
                remaining[i] = [k for distance, k in found if distance >= MISSING]
        return boxes, remaining

    def find_combined(
        self, codes: Codes, distances: Distances, remaining: Sequence[Sequence[int]], n_columns: int
    ) -> list[Target]:
        """Return for each record and label the nearest change of some columns together that gives the label."""
        rows = [i for i, labels in enumerate(remaining) if labels]
        if not rows or not self.steps:
            return []
        distinct, which = np.unique(codes[rows], axis=0, return_inverse=True)
        columns, pieces = np.array(self.steps, np.int64).T
        targets = []
        for g, own in enumerate(distinct):
            records = [rows[r] for r in np.flatnonzero(which.reshape(-1) == g).tolist()]
            moves = self.moves(own, [distances[a][records[0]] for a in range(len(self.axes))], n_columns)
            moved = np.repeat(own[None], len(moves), axis=0)
            np.put_along_axis(moved, columns[moves], pieces[moves], axis=1)
            labels = self.labels(moved)
            for i in records:
                lengths = np.array([distances[a][i, piece] for a, piece in self.steps])[moves].sum(axis=1)
                for k in remaining[i]:
                    reach = np.where(labels == k, lengths, math.inf)
                    if reach.min(initial=math.inf) < math.inf:
                        targets.append(self.target_at(i, k, None, codes[i], moved[reach.argmin()], distances))
        return targets

    def moves(self, own: Codes, distances: Distances, n_columns: int) -> Codes:
        """Return the combinations of steps of some columns to try, for records that are in the same pieces.

        The steps that are tried do not depend on the values within the pieces.
        """
        by_axis: list[list[tuple[bool, int, int]]] = [[] for _ in self.axes]
        for number, (a, piece) in enumerate(self.steps):
            if piece != own[a] and distances[a][piece] < math.inf:
                by_axis[a].append((bool(distances[a][piece] >= MISSING), abs(piece - int(own[a])), number))
        return combined_moves([[number for *_, number in sorted(some)] for some in by_axis], n_columns)

    def target_at(
        self, i: int, k: int, rule: int | None, own: Codes, moved: Codes | None, distances: Distances
    ) -> Target:
        """Return the target for the columns in which a moved record differs from the record itself.

        The conditions of the rule that fail for the record are part of the target, in the order of the rule. Without a
        moved record, it is moved to the nearest pieces in which these conditions hold.
        """
        body = () if rule is None else self.bodies[rule]
        failing = {a: (one, allowed) for a, one, allowed in body if own[a] not in allowed}
        changed = [] if moved is None else np.flatnonzero(moved != own).tolist()
        axes = list(dict.fromkeys([*failing, *changed]))
        pieces = []
        for a in axes:
            allowed = failing[a][1] if a in failing else np.array([p for p in self.axes[a].destinations if p != own[a]])
            nearest = allowed[np.argsort(distances[a][i, allowed], kind="stable")]
            if moved is not None and nearest[0] != moved[a]:
                nearest = np.append(moved[a], nearest[nearest != moved[a]])
            pieces.append(nearest)
        conditions = tuple(failing[a][0] if a in failing else None for a in axes)
        lengths = tuple(distances[a][i, some] for a, some in zip(axes, pieces, strict=True))
        return Target(i, k, rule, tuple(axes), conditions, tuple(pieces), lengths)

    def find_targets(
        self, codes: Codes, distances: Distances, remaining: Sequence[Sequence[int]]
    ) -> list[list[Target]]:
        """Return for each record and label the rules to try: the nearest, and some that need several changes."""
        rows = [i for i, labels in enumerate(remaining) if labels]
        if not rows:
            return []
        n_failing = np.zeros((len(rows), len(self.bodies)), np.int64)
        lengths = np.zeros(n_failing.shape)
        for j, body in enumerate(self.bodies):
            for a, _, allowed in body:
                fails = ~np.isin(codes[rows, a], allowed)
                least = distances[a][rows][:, allowed].min(axis=1, initial=math.inf)
                n_failing[:, j] += fails
                lengths[:, j] += np.where(fails, least, 0)
        escapes = self.find_escapes(codes[rows]) if self.points else [[] for _ in rows]
        targets = []
        for r, i in enumerate(rows):
            to_pieces = [some[i] for some in distances]
            left = [self.reach(codes[i], to_pieces, None, (one,)) for one in escapes[r]]
            for k in remaining[i]:
                own = [j for j in self.by_label.get(k, ()) if lengths[r, j] < math.inf]
                moved = {j: self.reach(codes[i], to_pieces, j, self.on_points[j]) for j in own if self.on_points[j]}
                for j, cell in moved.items():
                    changed = [] if cell is None else np.flatnonzero(cell != codes[i]).tolist()
                    n_failing[r, j] = len(changed)
                    lengths[r, j] = math.inf if cell is None else sum(to_pieces[a][cell[a]] for a in changed)
                some = [
                    self.target_at(i, k, j, codes[i], moved.get(j), distances)
                    for j in nearest_rules(own, n_failing[r], lengths[r])
                ]
                some += [self.target_at(i, k, None, codes[i], cell, distances) for cell in left if cell is not None]
                targets.append(sorted(some, key=lambda target: target.order) if left else some)
        return [some for some in targets if some]

    def find_escapes(self, codes: Codes) -> list[list[Condition]]:
        """Return for each record conditions on scorecards under which a rule that covers it no longer does."""
        rules = self.rule_set.all_rules
        covering = self.answer(codes).all_covers.flags()
        found = []
        for row in covering:
            conditions = [one for j in np.flatnonzero(row) for one in on_scorecards(rules[j].conditions)]
            found.append(list(dict.fromkeys(other for one in conditions for other in opposites(one)))[:_MAX_RULES])
        return found

    def reach(
        self, own: Codes, distances: Distances, rule: int | None, conditions: Sequence[Condition]
    ) -> Codes | None:
        """Return the pieces of a record that is moved so that it meets the conditions of a rule; None if not found.

        Parameters
        ----------
        own, distances : the pieces of the record, and the distances to all pieces
        rule : the rule whose conditions on columns are met
        conditions : the conditions on scorecards that are met
        """
        tested = {} if rule is None else {a: pieces for a, _, pieces in self.bodies[rule]}
        cell = own.copy()
        for a, pieces in tested.items():
            if own[a] not in pieces:
                cell[a] = pieces[int(np.argmin(distances[a][pieces]))]
        stay = [(a, piece) for a, piece in enumerate(own.tolist()) if self.axes[a].destinations]
        steps = [
            (a, piece)
            for a, piece in dict.fromkeys([*self.steps, *stay])
            if (a not in tested or piece in tested[a]) and distances[a][piece] < MISSING
        ]
        return self.points.reach(own, cell, steps, distances, conditions)

    def choose(self, codes: Codes, targets: Sequence[Sequence[Target]]) -> list[Target]:
        """Return for each record and label the first target whose nearest pieces give the label, or the first rule."""
        flat = [target for some in targets for target in some]
        moved = codes[[target.record for target in flat]]
        for row, target in zip(moved, flat, strict=True):
            row[list(target.axes)] = [pieces[0] for pieces in target.pieces]
        labels = iter(self.labels(moved).tolist())
        chosen = []
        for some in targets:
            sufficient = [target for target in some if next(labels) == target.label]
            chosen += [*sufficient, *(target for target in some if target.rule is not None)][:1]
        return chosen

    def find_boxes(self, codes: Codes, targets: Sequence[Target]) -> list[Box]:
        """Find the pieces to report: all combinations of the first pieces of each target are tried."""
        if not targets:
            return []
        near = [target.restrict() for target in targets]
        cells = [moved_to(codes[one.record], one.axes, one.pieces) for one in near]
        answers = self.answer(np.concatenate(cells))
        flags = answers.covers.flags()
        boxes, begin = [], 0
        for whole, one, some in zip(targets, near, cells, strict=True):
            part, shape = slice(begin, begin + len(some)), [len(pieces) for pieces in one.pieces]
            gives = (answers.labels[part] == one.label).reshape(shape)
            covered = np.ones(shape, np.bool_) if one.rule is None else flags[part, one.rule].reshape(shape)
            boxes.append(one.box(self.axes, gives, covered, whole))
            begin += len(some)
        return boxes

    def make_changes(self, codes: Codes, found: Sequence[Sequence[Box]]) -> list[list[Change]]:
        """Return the changes for the boxes of each record, with the rules that decide in their pieces."""
        cells = [moved_to(codes[box.record], box.axes, box.pieces) for boxes in found for box in boxes]
        if not cells:
            return [[] for _ in found]
        deciding = deciding_or_together(self.answer(np.concatenate(cells)))
        parts = np.split(deciding, np.cumsum([len(some) for some in cells])[:-1])
        before = deciding_or_together(self.answer(codes)).tolist() if self.points else [DEFAULT] * len(codes)
        moves = zip(cells, parts, strict=True)
        changes: list[list[Change]] = [[] for _ in found]
        for box, (moved, part) in zip(itertools.chain.from_iterable(found), moves, strict=True):
            after = tuple(sorted(set(part.tolist())))
            points = self.altered_points(codes[box.record], moved, {before[box.record], *after}) if self.points else ()
            label = self.rule_set.classes[box.label]
            changes[box.record].append(Change(label, box.conditions, after, box.rule, points))
        return changes

    def altered_points(
        self, own: Codes, moved: Codes, deciding: set[int]
    ) -> tuple[tuple[ScorecardColumn, Any, tuple[Any, ...]], ...]:
        """Return the columns of scorecards that a move alters; see `Change`. All columns if not only rules decide."""
        rules = self.rule_set.all_rules
        columns = tested_columns(rules if min(deciding) < 0 else [rules[j] for j in sorted(deciding)])
        found = []
        for column in columns:
            (before,), after = self.points.values(column, own[None]), self.points.values(column, moved)
            if before not in after:
                found.append((column, before, tuple(dict.fromkeys(after))))
        return tuple(found)


def on_scorecards(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return those of some conditions that test scorecards."""
    return tuple(condition for condition in conditions if isinstance(condition.column, ScorecardColumn))


def nearest_rules(rules: Sequence[int], n_failing: Codes, lengths: NDArray[np.float64]) -> list[int]:
    """Return the nearest of some rules, and some that need several changes, given the changes that each rule needs."""
    order = sorted((lengths[j] >= MISSING, n_failing[j], lengths[j], j) for j in rules if lengths[j] < math.inf)
    several = [j for _, n, _, j in order if n > 1][:_MAX_RULES]
    return list(dict.fromkeys([j for *_, j in order[:1]] + several))
