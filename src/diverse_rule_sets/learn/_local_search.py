"""Local moves on one candidate: add, drop or swap a condition while it becomes worth more, within the limits.

The whole neighbourhood of a body is one question to the backend: the class counts of its cover with each item
added. Dropping a condition asks the same of the shorter body, which gives all swaps as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn._constraints import UNCONSTRAINED, Constraints
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._measures import Measures

_MAX_MOVES = 40
# Counts that are asked for at a time.
_MAX_LOOKED_AT = 100_000
_TINY = 1e-9


class Candidate(NamedTuple):
    """A body with what it is worth by itself, and what it is worth next to the rules chosen so far."""

    body: Body
    label: int
    class_counts: Integers
    quality: float
    score: float


class _Judged(NamedTuple):
    """Several groups of bodies with what each is worth: arrays (n_groups, n_bodies)."""

    counts: Integers
    labels: Integers
    qualities: NDArray[np.float64]
    scores: NDArray[np.float64]

    def candidate(self, group: int, number: int, body: Body) -> Candidate | None:
        """Return one of them under its body; None for the number -1."""
        if number < 0:
            return None
        at = group, number
        class_counts = self.counts[:-1, group, number].copy()
        return Candidate(body, int(self.labels[at]), class_counts, float(self.qualities[at]), float(self.scores[at]))


@dataclass
class _Climb:
    """Where a climb has come to."""

    body: Body
    current: Candidate | None


class _Around(NamedTuple):
    """A body, and the best body with one item more; None where the limits forbid it."""

    itself: Candidate | None
    longer: Candidate | None


class LocalSearch:
    """Climbs from a body to a better one.

    Parameters
    ----------
    backend : the data
    columns : array (n_items,), the column of each item
    measures : what a rule is worth
    limits : what no rule may exceed
    min_evidence : how much evidence a rule needs, as a multiple of what a search of this size needs (see
        :meth:`needed`)
    constraints : what was asked of the rules
    """

    def __init__(
        self,
        backend: Backend,
        columns: Integers,
        measures: Measures,
        limits: Limits,
        min_evidence: float,
        constraints: Constraints = UNCONSTRAINED,
    ) -> None:
        self._backend = backend
        self.columns = columns
        self._n_columns = int(columns.max(initial=-1)) + 1
        self.measures = measures
        self.limits = limits
        self.constraints = constraints
        self._min_evidence = min_evidence
        self._covered = backend.nothing
        self._known: dict[Body, _Around] = {}

    def set_covered(self, covered: Cover) -> None:
        """Tell which records the rules chosen so far cover."""
        self._covered = covered
        self._known.clear()

    def needed(self, n_conditions: Integers | int, n_free: int, n_records: int) -> Any:
        """Return the evidence (in nats) that a rule needs: half of what it costs to write it down.

        To name a condition costs the logarithm of the number of items; to tell the class shares half of the logarithm
        of the number of records for each free share (minimum description length).
        """
        cost = n_conditions * math.log(max(self._backend.n_items, 2)) + 0.5 * n_free * math.log(max(n_records, 2))
        return 0.5 * self._min_evidence * cost

    def n_conditions(self, body: Body) -> int:
        """Return how many conditions a body has when those on one column are one."""
        return len({int(self.columns[item]) for item in body})

    def shortened(self, body: Body) -> Body:
        """Leave out items without which the body covers the same records and may be, the earlier ones first."""
        for item in body:
            rest = tuple(other for other in body if other != item)
            if rest and self.constraints.complete(rest):
                # The shorter body covers all that the longer one does, so that sizes tell whether it covers more.
                sizes = self._backend.class_counts_of(Lists.of([body, rest])).sum(axis=1)
                body = rest if sizes[0] == sizes[1] else body
        return body

    def improve(self, starts: Iterable[Body]) -> list[Candidate]:
        """Improve each body until no move does; returns where the climbs end, without those that met no rule.

        All climbs go on side by side, so that their questions to the data are asked together.
        """
        climbers = [_Climb(body, None) for body in dict.fromkeys(tuple(sorted(set(start))) for start in starts)]
        self._look_at(climber.body for climber in climbers)
        for climber in climbers:
            climber.current = self._known[climber.body].itself
        going = climbers
        for _ in range(_MAX_MOVES):
            going = self._move(going)
            if not going:
                break
        return [climber.current for climber in climbers if climber.current is not None]

    def _move(self, climbers: list[_Climb]) -> list[_Climb]:
        """Let each climber make its best move; returns those that made one."""
        self._look_at(climber.body for climber in climbers)
        stuck = [one for one in climbers if not _better(self._known[one.body].longer, one.current)]
        self._look_at(shorter for one in stuck for shorter in _shorter(one.body))
        moved = []
        for climber in climbers:
            move = self._known[climber.body].longer
            if not _better(move, climber.current):
                move = self._swap_or_drop(climber.body, climber.current)
            if move is not None:
                climber.body, climber.current = move.body, move
                moved.append(climber)
        return moved

    def _swap_or_drop(self, body: Body, current: Candidate | None) -> Candidate | None:
        """Return the best body with one item less or another, if it is better, or shorter and as good."""
        best: Candidate | None = None
        for rest in _shorter(body):
            around = self._known[rest]
            if _better(around.longer, current) and _better(around.longer, best):
                best = around.longer
            itself = around.itself
            as_good = itself is not None and (current is None or itself.score >= current.score * (1 - _TINY))
            if itself is not None and as_good and (best is None or itself.score > best.score):
                best = itself
        return best

    def _look_at(self, bodies: Iterable[Body]) -> None:
        """Judge bodies and all bodies with one item more, those not yet known."""
        new = [body for body in dict.fromkeys(bodies) if body not in self._known]
        step = max(1, _MAX_LOOKED_AT // max(1, self._backend.n_items * (self._backend.n_classes + 1)))
        for begin in range(0, len(new), step):
            some = new[begin : begin + step]
            self._known.update(zip(some, self._around(some), strict=True))

    def _around(self, bodies: list[Body]) -> list[_Around]:
        """Judge some bodies and all bodies with one item more."""
        used = np.zeros((len(bodies), self._n_columns), np.bool_)
        for row, body in zip(used, bodies, strict=True):
            row[self.columns[list(body)]] = True
        n_used = used.sum(axis=1)[:, None]
        lengths = np.hstack([n_used + ~used[:, self.columns], n_used])  # the last one is the body itself
        counts = self._backend.extended(bodies, self._covered)
        judged = self._judged(counts, lengths)
        if not self.constraints.is_empty:
            judged.scores[~self.constraints.allowed_around(bodies, used, judged.labels)] = -1.0
        itself = judged.scores[:, -1].copy()
        itself[~self._enough_evidence(counts[:-1, :, -1].T, lengths[:, -1])] = -1.0
        judged.scores[:, -1] = -1.0
        longer = self._best_with_evidence(judged.scores.copy(), counts[:-1].reshape(counts.shape[0] - 1, -1), lengths)
        judged.scores[:, -1] = itself
        own = np.where(itself > 0, lengths.shape[1] - 1, -1)
        return [
            _Around(
                judged.candidate(k, own[k], body) if body else None,
                judged.candidate(k, longer[k], tuple(sorted({*body, int(longer[k])}))),
            )
            for k, body in enumerate(bodies)
        ]

    def _judged(self, counts: Integers, lengths: Integers) -> _Judged:
        """Judge several groups of bodies; those that the limits forbid score less than 0.

        Parameters
        ----------
        counts : array (n_classes + 1, n_groups, n_bodies), the records of each class under each body and, last, those
            that the rules chosen so far cover
        lengths : array (n_groups, n_bodies), conditions of each body
        """
        flat = counts.reshape(counts.shape[0], -1)
        sizes = flat[:-1].sum(axis=0)
        kept = np.flatnonzero(self.limits.allow(lengths.reshape(-1), sizes, flat[-1]))
        class_counts = flat[:-1, kept].T
        quality, labels = self.measures.quality(class_counts, lengths.reshape(-1)[kept])
        # On covered ground a rule is worth nothing new.
        scores = quality * (1.0 - flat[-1, kept] / np.maximum(sizes[kept], 1))
        scores[self.measures.recall(class_counts, labels) <= self.limits.min_recall_gain] = -1.0
        judged = _Judged(counts, *(np.full(lengths.shape, fill) for fill in (-1, 0.0, -1.0)))
        for whole, part in ((judged.labels, labels), (judged.qualities, quality), (judged.scores, scores)):
            whole.reshape(-1)[kept] = part
        return judged

    def _best_with_evidence(self, scores: NDArray[np.float64], class_counts: Integers, lengths: Integers) -> Integers:
        """Return the best body of each group that has evidence enough, -1 where there is none."""
        n_groups, n_bodies = scores.shape
        best = np.full(n_groups, -1, np.int64)
        groups = np.arange(n_groups)
        while groups.size:
            items = np.argmax(scores[groups], axis=1)
            there = scores[groups, items] > 0
            groups, items = groups[there], items[there]
            enough = self._enough_evidence(class_counts[:, groups * n_bodies + items].T, lengths[groups, items])
            best[groups[enough]] = items[enough]
            groups, items = groups[~enough], items[~enough]
            scores[groups, items] = -1.0  # and all others of these groups that lack evidence
            if groups.size:
                rows = (groups[:, None] * n_bodies + np.arange(n_bodies)).reshape(-1)
                open_ = rows[scores.reshape(-1)[rows] > 0]
                weak = open_[~self._enough_evidence(class_counts[:, open_].T, lengths.reshape(-1)[open_])]
                scores.reshape(-1)[weak] = -1.0
        return best

    def _enough_evidence(self, class_counts: Integers, n_conditions: Integers) -> NDArray[np.bool_]:
        """Tell which bodies have evidence enough."""
        if self._min_evidence == 0:
            return np.ones(n_conditions.shape, np.bool_)
        needed = self.needed(n_conditions, self._backend.n_classes - 1, self._backend.n_records)
        return np.asarray(self.measures.evidence(class_counts) >= needed)


def _shorter(body: Body) -> list[Body]:
    """Return the body without each of its items in turn."""
    return [body[:j] + body[j + 1 :] for j in range(len(body))]


def _better(move: Candidate | None, current: Candidate | None) -> bool:
    return move is not None and (current is None or move.score > current.score * (1 + _TINY))
