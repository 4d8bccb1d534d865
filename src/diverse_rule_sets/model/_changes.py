"""What would have had to differ for a record to get another label: the search for the nearest changes.

Every column is cut into pieces whose values are answered alike (:mod:`._regions`), so that a change is verified by
answering for one record in each piece.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._regions import Axis, Codes, Moved
from diverse_rule_sets.model._rules import RuleSet

# Rules of a label that are tried, and other labels that are reported unless one is named.
_TRIED, _REPORTED = 5, 3
# Pieces of several columns that are looked at together, and values of moved records that are in memory at once.
_CELLS, _BLOCK = 64, 1 << 21
# In place of the position of a rule: the default label, and several rules that decide together.
DEFAULT, TOGETHER = -1, -2
Distances = list[NDArray[np.float64]]


@dataclass(frozen=True)
class Change:
    """What would give a record another label; it does for every value that meets the conditions.

    Parameters
    ----------
    label : the other label
    conditions : what the record would have to meet, its other values as they are
    deciding : the rules that may decide then, positions in ``rule_set.all_rules``, or `DEFAULT` or `TOGETHER`
    rule : position of the rule that then covers the record but does not decide; None if the record gets the label
    """

    label: Any
    conditions: tuple[Condition, ...]
    deciding: tuple[int, ...]
    rule: int | None = None

    @property
    def enough(self) -> bool:
        """Whether the record then gets the label."""
        return self.rule is None


def find_changes(rule_set: RuleSet, axes: Sequence[Axis], answers: Sequence[Any], label: Any) -> list[list[Change]]:
    """Find for each record what would give it other labels, the nearest first.

    First every piece of every column is tried, with the other values as they are; of those that give a label the
    nearest is taken. For a label that no single column gives, rules with this label are tried, those with the fewest
    failing conditions first. What is stated is verified in every piece: no value that meets it gets another label.
    """
    if not axes:
        return [[] for _ in answers]
    position = {known: k for k, known in enumerate(rule_set.classes)}
    said = np.array([position[answer] for answer in answers], np.int64)
    search = _Search(rule_set, axes, None if label is None else position[label])
    size = max(1, _BLOCK // (max(len(search.steps), 1) * len(axes)))
    return [
        changes
        for begin in range(0, len(said), size)
        for changes in search.find(slice(begin, begin + size), said[begin : begin + size])
    ]


@dataclass(frozen=True)
class _Box:
    """Pieces of some columns that a record could be moved to.

    Parameters
    ----------
    record, label : the record, and the label that the move gives or is meant to give
    axes, pieces : the columns, and the pieces of each
    conditions : what holds in these pieces
    distance : how far the nearest of them is
    rule : the rule that covers the record there but does not decide; None if the move gives the label
    """

    record: int
    label: int
    axes: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...]
    conditions: tuple[Condition, ...]
    distance: float
    rule: int | None = None

    @property
    def order(self) -> tuple[bool, int, float]:
        """What is nearer comes first."""
        return self.rule is not None, len(self.axes), self.distance


@dataclass(frozen=True)
class _Target:
    """A rule that a record could be moved under.

    Parameters
    ----------
    record, label, rule : the record, the label, and the rule with this label
    axes, conditions : the columns of the conditions that fail, and these conditions
    pieces, far : the pieces in which each condition holds, the nearest first, and their distances
    """

    record: int
    label: int
    rule: int
    axes: tuple[int, ...]
    conditions: tuple[Condition, ...]
    pieces: tuple[Codes, ...]
    far: tuple[NDArray[np.float64], ...]

    def narrowed(self) -> _Target:
        """Return the nearest pieces, so few that all their combinations can be looked at."""
        sizes = [len(pieces) for pieces in self.pieces]
        while math.prod(sizes) > _CELLS:
            largest = sizes.index(max(sizes))
            sizes[largest] = (sizes[largest] + 1) // 2
        cut = [pieces[:size] for pieces, size in zip(self.pieces, sizes, strict=True)]
        far = [some[:size] for some, size in zip(self.far, sizes, strict=True)]
        return replace(self, pieces=tuple(cut), far=tuple(far))


class _Search:
    """The search for the changes of some records, and what it computes once for all of them."""

    def __init__(self, rule_set: RuleSet, axes: Sequence[Axis], label: int | None) -> None:
        self.rule_set, self.axes, self.label = rule_set, axes, label
        self.codes = np.column_stack([axis.codes for axis in axes])
        self.steps = [(a, piece) for a, axis in enumerate(axes) for piece in axis.offered]
        at = {axis.name: a for a, axis in enumerate(axes)}
        self.bodies = [
            [(at[one.column], one, axes[at[one.column]].allowed(one)) for one in rule.conditions]
            for rule in rule_set.rules
        ]

    def labels(self, codes: Codes) -> Codes:
        """Return the labels of moved records."""
        return self.rule_set.answers(Moved(self.axes, codes)) if len(codes) else np.zeros(0, np.int64)

    def find(self, block: slice, said: Codes) -> list[list[Change]]:
        """Find the changes of some records."""
        codes = self.codes[block]
        far = [axis.distances(block) for axis in self.axes]
        boxes, wanted = self.find_moves(codes, said, far)
        targets = self.choose(codes, self.find_targets(codes, far, wanted))
        for box in self.find_boxes(codes, targets):
            boxes[box.record].append(box)
        most = None if self.label is not None else _REPORTED
        return self.state(codes, [sorted(some, key=lambda box: box.order)[:most] for some in boxes])

    def find_moves(self, codes: Codes, said: Codes, far: Distances) -> tuple[list[list[_Box]], list[list[int]]]:
        """Return the nearest moves along one column, and for each record the labels that no such move gives."""
        steps = np.array(self.steps, np.int64).reshape(-1, 2)
        moved = np.repeat(codes[:, None, :], len(steps), axis=1)
        moved[:, np.arange(len(steps)), steps[:, 0]] = steps[:, 1]
        given = self.labels(moved.reshape(-1, codes.shape[1])).reshape(len(codes), len(steps))
        distances = np.column_stack([far[a][:, piece] for a, piece in self.steps] or [np.zeros((len(codes), 0))])
        labels = range(len(self.rule_set.classes)) if self.label is None else [self.label]
        boxes: list[list[_Box]] = [[] for _ in codes]
        wanted: list[list[int]] = [[] for _ in codes]
        nearest = {}
        for k in labels:
            there = np.where(given == k, distances, math.inf)
            there = np.column_stack([there, np.full(len(codes), math.inf)])
            nearest[k] = there.argmin(axis=1), there.min(axis=1)
        for i, own in enumerate(said.tolist()):
            found = sorted((float(nearest[k][1][i]), k) for k in labels if k != own)
            for distance, k in found[: None if self.label is not None else _REPORTED]:
                if distance == math.inf:
                    continue
                a, start = self.steps[nearest[k][0][i]]
                good = {
                    p for (b, p), answer in zip(self.steps, given[i].tolist(), strict=True) if b == a and answer == k
                }
                pieces = self.axes[a].around(start, good)
                boxes[i].append(_Box(i, k, (a,), (pieces,), (self.axes[a].stated(pieces),), distance))
            if self.label is not None or len(boxes[i]) < _REPORTED:
                wanted[i] = [k for distance, k in found if distance == math.inf]
        return boxes, wanted

    def find_targets(self, codes: Codes, far: Distances, wanted: Sequence[Sequence[int]]) -> list[list[_Target]]:
        """Return for each record and label the rules to try: the nearest, and some that need several changes."""
        rows = [i for i, labels in enumerate(wanted) if labels]
        if not rows:
            return []
        fails = np.zeros((len(rows), len(self.bodies)), np.int64)
        away = np.zeros(fails.shape)
        for j, body in enumerate(self.bodies):
            for a, _, allowed in body:
                failed = ~np.isin(codes[rows, a], allowed)
                least = far[a][rows][:, allowed].min(axis=1, initial=math.inf)
                fails[:, j] += failed
                away[:, j] += np.where(failed, least, 0)
        by_label: dict[int, list[int]] = {}
        for j, rule in enumerate(self.rule_set.rules):
            by_label.setdefault(self.rule_set.classes.index(rule.label), []).append(j)
        targets = []
        for r, i in enumerate(rows):
            for k in wanted[i]:
                order = sorted((fails[r, j], away[r, j], j) for j in by_label.get(k, ()) if away[r, j] < math.inf)
                several = [j for n, _, j in order if n > 1][:_TRIED]
                tried = dict.fromkeys([j for _, _, j in order[:1]] + several)
                targets.append([self.target(i, k, j, codes[i], far) for j in tried])
        return [some for some in targets if some]

    def target(self, i: int, k: int, j: int, codes: Codes, far: Distances) -> _Target:
        """Return what a record would have to meet to fall under a rule."""
        failing = [(a, one, allowed) for a, one, allowed in self.bodies[j] if codes[a] not in allowed]
        order = [np.argsort(far[a][i, allowed], kind="stable") for a, _, allowed in failing]
        pieces = [allowed[some] for (_, _, allowed), some in zip(failing, order, strict=True)]
        lengths = [far[a][i, some] for (a, _, _), some in zip(failing, pieces, strict=True)]
        axes, conditions = tuple(a for a, _, _ in failing), tuple(one for _, one, _ in failing)
        return _Target(i, k, j, axes, conditions, tuple(pieces), tuple(lengths))

    def choose(self, codes: Codes, targets: Sequence[Sequence[_Target]]) -> list[_Target]:
        """Return for each record and label the first rule whose nearest pieces give the label, or else the nearest."""
        tried = [target for some in targets for target in some]
        moved = codes[[target.record for target in tried]]
        for row, target in zip(moved, tried, strict=True):
            row[list(target.axes)] = [pieces[0] for pieces in target.pieces]
        given = iter(self.labels(moved).tolist())
        enough = [[next(given) == target.label for target in some] for some in targets]
        return [some[flags.index(True) if True in flags else 0] for some, flags in zip(targets, enough, strict=True)]

    def find_boxes(self, codes: Codes, targets: Sequence[_Target]) -> list[_Box]:
        """Find the pieces that can be stated: all combinations of the nearest pieces under each rule are tried."""
        if not targets:
            return []
        near = [target.narrowed() for target in targets]
        cells = [self.cells(codes[one.record], one.axes, one.pieces) for one in near]
        given = self.labels(np.concatenate(cells))
        parts = np.split(given, np.cumsum([len(some) for some in cells])[:-1])
        return [
            self.box(target, one, (part == one.label).reshape([len(pieces) for pieces in one.pieces]))
            for target, one, part in zip(targets, near, parts, strict=True)
        ]

    def cells(self, codes: Codes, axes: Sequence[int], pieces: Sequence[Sequence[int] | Codes]) -> Codes:
        """Return a record moved to every combination of some pieces."""
        grid = np.array(list(itertools.product(*pieces)), np.int64)
        moved = np.repeat(codes[None], len(grid), axis=0)
        moved[:, list(axes)] = grid
        return moved

    def box(self, target: _Target, near: _Target, good: NDArray[np.bool_]) -> _Box:
        """Return the pieces around the nearest combination that gives the label; all of them if none does."""
        enough = bool(good.any())
        good = good if enough else ~good
        far = np.asarray(sum(np.ix_(*near.far)))
        start = np.unravel_index(int(np.where(good, far, math.inf).argmin()), good.shape)
        chosen = [[int(k)] for k in start]
        pieces, conditions = [], []
        for n, a in enumerate(near.axes):
            slabs = np.moveaxis(good, n, 0)[np.ix_(range(good.shape[n]), *chosen[:n], *chosen[n + 1 :])]
            fine = {int(p): k for k, p in enumerate(near.pieces[n]) if slabs[k].all()}
            pieces.append(self.axes[a].around(int(near.pieces[n][chosen[n][0]]), fine))
            chosen[n] = [fine[p] for p in pieces[-1]]
            whole = len(pieces[-1]) == len(target.pieces[n])
            conditions.append(target.conditions[n] if whole else self.axes[a].stated(pieces[-1]))
        rule = None if enough else target.rule
        return _Box(target.record, target.label, target.axes, tuple(pieces), tuple(conditions), float(far[start]), rule)

    def state(self, codes: Codes, found: Sequence[Sequence[_Box]]) -> list[list[Change]]:
        """Return the changes, with the rules that decide in their pieces."""
        cells = [self.cells(codes[box.record], box.axes, box.pieces) for boxes in found for box in boxes]
        if not cells:
            return [[] for _ in found]
        answers = self.rule_set.answer(Moved(self.axes, np.concatenate(cells)))
        deciding = answers.deciding
        if self.rule_set.adds_counts:
            deciding = np.where((deciding < 0) & (answers.depth > 0), TOGETHER, deciding)
        parts = iter(np.split(deciding, np.cumsum([len(some) for some in cells])[:-1]))
        classes = self.rule_set.classes
        return [
            [
                Change(classes[box.label], box.conditions, tuple(sorted(set(next(parts).tolist()))), box.rule)
                for box in boxes
            ]
            for boxes in found
        ]
