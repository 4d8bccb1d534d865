"""The search for the nearest changes of a record that would give it another label.

Every column is divided into pieces such that all values of a piece give the same label (:mod:`._regions`). A change is
verified by applying the rule set to one record in each piece.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.model._answers import Answers
from diverse_rule_sets.model._axes import MISSING, Axis, Codes
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._regions import MovedRecords
from diverse_rule_sets.model._rules import RuleSet

# Number of rules that are tried for a label, and of other labels that are reported if none is given.
_MAX_RULES, _MAX_LABELS = 5, 3
# Number of combinations of pieces that are tried together, and of values of moved records in memory at once.
_MAX_CELLS, _BLOCK = 64, 1 << 21
# Used instead of the position of a rule: the default label, and several rules that decide together.
DEFAULT, TOGETHER = -1, -2
Distances = list[NDArray[np.float64]]


@dataclass(frozen=True)
class Change:
    """A change that would give a record another label, for every value that meets the conditions.

    Parameters
    ----------
    label : the other label
    conditions : the conditions that the changed record meets, with its other values unchanged
    deciding : the rules that decide the changed record, positions in ``rule_set.all_rules``, or `DEFAULT` or `TOGETHER`
    rule : position of the rule that covers the changed record but does not decide; None if the record gets the label
    """

    label: Any
    conditions: tuple[Condition, ...]
    deciding: tuple[int, ...]
    rule: int | None = None

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
    nearest is used. For a label that no change of a single column gives, rules with this label are tried, those with
    the fewest failing conditions first. A change is verified in every piece: no value that meets its conditions gives
    another label. A change to a missing value is used only if no other change gives the label.

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


@dataclass(frozen=True)
class _Box:
    """Pieces of some columns that a record can be moved to.

    Parameters
    ----------
    record, label : the record, and the label that the move gives or is intended to give
    axes, pieces : the columns, and the pieces of each
    conditions : the conditions that hold in these pieces
    distance : the distance to the nearest of them
    rule : the rule that covers the moved record but does not decide; None if the move gives the label
    """

    record: int
    label: int
    axes: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...]
    conditions: tuple[Condition, ...]
    distance: float
    rule: int | None = None

    @property
    def order(self) -> tuple[bool, bool, int, float]:
        """The sort key: sufficient moves first, then those to present values, of fewer columns, and the nearest."""
        return self.rule is not None, self.distance >= MISSING, len(self.axes), self.distance


@dataclass(frozen=True)
class _Target:
    """A rule that could cover a record if the record is changed.

    Parameters
    ----------
    record, label, rule : the record, the label, and the rule with this label
    axes, conditions : the columns of the conditions that fail, and these conditions
    pieces, distances : the pieces in which each condition holds, the nearest first, and their distances
    """

    record: int
    label: int
    rule: int
    axes: tuple[int, ...]
    conditions: tuple[Condition, ...]
    pieces: tuple[Codes, ...]
    distances: tuple[NDArray[np.float64], ...]

    def restrict(self) -> _Target:
        """Return the target with the nearest pieces only, so few that all their combinations can be tried."""
        sizes = [len(pieces) for pieces in self.pieces]
        while math.prod(sizes) > _MAX_CELLS:
            largest = sizes.index(max(sizes))
            sizes[largest] = (sizes[largest] + 1) // 2
        pieces = [some[:size] for some, size in zip(self.pieces, sizes, strict=True)]
        distances = [some[:size] for some, size in zip(self.distances, sizes, strict=True)]
        return replace(self, pieces=tuple(pieces), distances=tuple(distances))


class _Search:
    """The search for the changes of some records, with the values that are computed once for all of them."""

    def __init__(self, rule_set: RuleSet, axes: Sequence[Axis], label: int | None) -> None:
        self.rule_set, self.axes, self.label = rule_set, axes, label
        self.codes = np.column_stack([axis.codes for axis in axes])
        self.steps = [(a, piece) for a, axis in enumerate(axes) for piece in axis.destinations]
        position = {axis.name: a for a, axis in enumerate(axes)}
        self.bodies = [
            [(position[one.column], one, axes[position[one.column]].pieces_of(one)) for one in rule.conditions]
            for rule in rule_set.rules
        ]

    def labels(self, codes: Codes) -> Codes:
        """Return the labels of moved records."""
        if not len(codes):
            return np.zeros(0, np.int64)
        return self.rule_set.answer(MovedRecords(self.axes, codes)).labels

    def find(self, block: slice, current: Codes) -> list[list[Change]]:
        """Find the changes of some records."""
        codes = self.codes[block]
        distances = [axis.distances(block) for axis in self.axes]
        boxes, remaining = self.find_moves(codes, current, distances)
        targets = self.choose(codes, self.find_targets(codes, distances, remaining))
        for box in self.find_boxes(codes, targets):
            boxes[box.record].append(box)
        return self.make_changes(codes, [self.best(some) for some in boxes])

    def best(self, boxes: Sequence[_Box]) -> list[_Box]:
        """Return the best move of a record for each label, the best first."""
        by_label: dict[int, _Box] = {}
        for box in sorted(boxes, key=lambda box: box.order):
            by_label.setdefault(box.label, box)
        return list(by_label.values())[: None if self.label is not None else _MAX_LABELS]

    def find_moves(
        self, codes: Codes, current: Codes, distances: Distances
    ) -> tuple[list[list[_Box]], list[list[int]]]:
        """Return the nearest moves along one column, and for each record the labels that no move to a value gives."""
        steps = np.array(self.steps, np.int64).reshape(-1, 2)
        moved = np.repeat(codes[:, None, :], len(steps), axis=1)
        moved[:, np.arange(len(steps)), steps[:, 0]] = steps[:, 1]
        labels = self.labels(moved.reshape(-1, codes.shape[1])).reshape(len(codes), len(steps))
        lengths = np.column_stack([distances[a][:, piece] for a, piece in self.steps] or [np.zeros((len(codes), 0))])
        others = range(len(self.rule_set.classes)) if self.label is None else [self.label]
        boxes: list[list[_Box]] = [[] for _ in codes]
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
                boxes[i].append(_Box(i, k, (a,), (pieces,), (self.axes[a].condition(pieces),), distance))
            if self.label is not None or sum(box.distance < MISSING for box in boxes[i]) < _MAX_LABELS:
                remaining[i] = [k for distance, k in found if distance >= MISSING]
        return boxes, remaining

    def find_targets(
        self, codes: Codes, distances: Distances, remaining: Sequence[Sequence[int]]
    ) -> list[list[_Target]]:
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
        by_label: dict[int, list[int]] = {}
        for j, rule in enumerate(self.rule_set.rules):
            by_label.setdefault(self.rule_set.classes.index(rule.label), []).append(j)
        targets = []
        for r, i in enumerate(rows):
            for k in remaining[i]:
                possible = [j for j in by_label.get(k, ()) if lengths[r, j] < math.inf]
                order = sorted((lengths[r, j] >= MISSING, n_failing[r, j], lengths[r, j], j) for j in possible)
                several = [j for _, n, _, j in order if n > 1][:_MAX_RULES]
                rules = dict.fromkeys([j for *_, j in order[:1]] + several)
                targets.append([self.make_target(i, k, j, codes[i], distances) for j in rules])
        return [some for some in targets if some]

    def make_target(self, i: int, k: int, j: int, codes: Codes, distances: Distances) -> _Target:
        """Return the conditions of a rule that fail for a record, and the pieces in which they hold."""
        failing = [(a, one, allowed) for a, one, allowed in self.bodies[j] if codes[a] not in allowed]
        order = [np.argsort(distances[a][i, allowed], kind="stable") for a, _, allowed in failing]
        pieces = [allowed[some] for (_, _, allowed), some in zip(failing, order, strict=True)]
        lengths = [distances[a][i, some] for (a, _, _), some in zip(failing, pieces, strict=True)]
        axes, conditions = tuple(a for a, _, _ in failing), tuple(one for _, one, _ in failing)
        return _Target(i, k, j, axes, conditions, tuple(pieces), tuple(lengths))

    def choose(self, codes: Codes, targets: Sequence[Sequence[_Target]]) -> list[_Target]:
        """Return for each record and label the first rule whose nearest pieces give the label, or else the nearest."""
        flat = [target for some in targets for target in some]
        moved = codes[[target.record for target in flat]]
        for row, target in zip(moved, flat, strict=True):
            row[list(target.axes)] = [pieces[0] for pieces in target.pieces]
        labels = iter(self.labels(moved).tolist())
        sufficient = [[next(labels) == target.label for target in some] for some in targets]
        positions = [flags.index(True) if True in flags else 0 for flags in sufficient]
        return [some[position] for some, position in zip(targets, positions, strict=True)]

    def find_boxes(self, codes: Codes, targets: Sequence[_Target]) -> list[_Box]:
        """Find the pieces to report: all combinations of the nearest pieces in which each rule covers are tried."""
        if not targets:
            return []
        near = [target.restrict() for target in targets]
        cells = [self.cells(codes[one.record], one.axes, one.pieces) for one in near]
        labels = self.labels(np.concatenate(cells))
        parts = np.split(labels, np.cumsum([len(some) for some in cells])[:-1])
        return [
            self.make_box(target, one, (part == one.label).reshape([len(pieces) for pieces in one.pieces]))
            for target, one, part in zip(targets, near, parts, strict=True)
        ]

    def cells(self, codes: Codes, axes: Sequence[int], pieces: Sequence[Sequence[int] | Codes]) -> Codes:
        """Return a record moved to every combination of some pieces."""
        grid = np.array(list(itertools.product(*pieces)), np.int64)
        moved = np.repeat(codes[None], len(grid), axis=0)
        moved[:, list(axes)] = grid
        return moved

    def make_box(self, target: _Target, near: _Target, good: NDArray[np.bool_]) -> _Box:
        """Return the pieces around the nearest combination that gives the label; all of them if none does."""
        distances = np.asarray(sum(np.ix_(*near.distances)))
        sufficient = bool((good & (distances < math.inf)).any())
        good = good if sufficient else ~good
        start = np.unravel_index(int(np.where(good, distances, math.inf).argmin()), good.shape)
        chosen = [[int(k)] for k in start]
        pieces, conditions = [], []
        for n, a in enumerate(near.axes):
            slices = np.moveaxis(good, n, 0)[np.ix_(range(good.shape[n]), *chosen[:n], *chosen[n + 1 :])]
            index = {int(p): k for k, p in enumerate(near.pieces[n]) if slices[k].all()}
            pieces.append(self.axes[a].expand(int(near.pieces[n][chosen[n][0]]), index))
            chosen[n] = [index[p] for p in pieces[-1]]
            own, all_pieces = target.conditions[n], len(pieces[-1]) == len(target.pieces[n])
            keep = all_pieces and not own.excludes
            conditions.append(own if keep else self.axes[a].condition(pieces[-1]))
        length, rule = float(distances[start]), None if sufficient else target.rule
        return _Box(target.record, target.label, target.axes, tuple(pieces), tuple(conditions), length, rule)

    def make_changes(self, codes: Codes, found: Sequence[Sequence[_Box]]) -> list[list[Change]]:
        """Return the changes for the boxes of each record, with the rules that decide in their pieces."""
        cells = [self.cells(codes[box.record], box.axes, box.pieces) for boxes in found for box in boxes]
        if not cells:
            return [[] for _ in found]
        answers = self.rule_set.answer(MovedRecords(self.axes, np.concatenate(cells)))
        deciding = deciding_or_together(answers)
        parts = iter(np.split(deciding, np.cumsum([len(some) for some in cells])[:-1]))
        classes = self.rule_set.classes
        return [
            [
                Change(classes[box.label], box.conditions, tuple(sorted(set(next(parts).tolist()))), box.rule)
                for box in boxes
            ]
            for boxes in found
        ]
