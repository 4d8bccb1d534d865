"""Greedy max-sum diversification of candidates with a quality each and distances; does not depend on rules.

Given a metric distance between any two candidates, choose k candidates that make
``sum of qualities + lambda * sum of distances over unordered pairs`` large. The non-oblivious greedy algorithm of
Borodin et al. (2012) adds the candidate with the largest ``quality / 2 + lambda * sum of distances to all chosen``,
and reaches at least half of the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Distances, each in [0, 1], of some candidates (rows) to some others (columns).
Distances = Callable[[Integers, list[int]], Floats]

# How many candidates are updated at a time, in a pool of tens of thousands and in one of some hundreds.
_BATCH = 512
_SMALL_BATCH = 64


class Choice(NamedTuple):
    """The chosen candidates, in order, and the sum of distances of each one to those chosen before it."""

    chosen: list[int]
    distance_gains: list[float]


class NextChoice(NamedTuple):
    """A candidate to add, its score, and the sum of its distances to the chosen ones."""

    candidate: int
    score: float
    distance: float


def best_candidate(
    qualities: Floats,
    lambda_: float,
    n_chosen: int,
    distance_sums: Callable[[Integers], Floats],
    score_to_beat: float = -np.inf,
) -> NextChoice | None:
    """Return the candidate that the greedy algorithm adds next; None if no candidate exceeds the score to beat.

    Among candidates with equal scores, it is the first one.

    Parameters
    ----------
    qualities : array (n_candidates,)
    lambda_ : weight of the distances
    n_chosen : how many are chosen, which is an upper bound of each sum of distances
    distance_sums : function of candidates that returns the sum of their distances to all chosen ones
    score_to_beat : a score that the candidate must exceed
    """
    half = 0.5 * qualities
    order = np.argsort(-half, kind="stable")
    best: NextChoice | None = None
    for begin in range(0, order.size, _SMALL_BATCH):
        batch = order[begin : begin + _SMALL_BATCH]
        score_needed = score_to_beat if best is None else best.score
        bound = half[batch[0]] + lambda_ * n_chosen
        # The tolerance allows for rounding, which can make a bound slightly too small.
        if bound < score_needed - 1e-9 * (1.0 + abs(score_needed)):
            break
        sums = distance_sums(batch)
        scores = half[batch] + lambda_ * sums
        top = np.flatnonzero(scores == scores.max())
        j = int(top[np.argmin(batch[top])])
        found = NextChoice(int(batch[j]), float(scores[j]), float(sums[j]))
        if best is None:
            best = found if found.score > score_to_beat else None
        elif (found.score, -found.candidate) > (best.score, -best.candidate):
            best = found
    return best


def row_sums(distances: Floats) -> Floats:
    """Sum each row from left to right, which gives exactly the floats of adding the columns one by one."""
    return np.cumsum(distances, axis=1)[:, -1] if distances.shape[1] else np.zeros(distances.shape[0])


def objective(qualities: Floats, distance_gains: Floats, lambda_: float) -> float:
    """Return the objective of a chosen set, from the quality and the distance gain of each member."""
    return float(np.sum(qualities) + lambda_ * np.sum(distance_gains))


def greedy(
    qualities: Floats,
    lambda_: float,
    k: int,
    distances: Distances,
    on_choice: Callable[[int], Integers] | None = None,
    initial_sums: Floats | None = None,
) -> Choice:
    """Choose up to k candidates by the non-oblivious greedy algorithm, with as few distances as possible.

    A distance is at most 1, so a candidate not yet compared with the latest choices has a known upper
    bound; only candidates whose bound reaches the best known score are compared. The choice is the same as
    if every candidate had been compared with every choice.

    Parameters
    ----------
    qualities : array (n_candidates,)
    lambda_ : weight of the distances, not negative
    k : how many to choose
    distances : function of (candidates, chosen ones) that returns a matrix of distances, each in [0, 1]
    on_choice : called with each candidate as soon as it is chosen; returns the candidates to remove with it, such as
        copies of it
    initial_sums : array (n_candidates,), the sum of the distances of each candidate to members that are already in the
        set; 0 by default
    """
    pool = _Pool(qualities, lambda_, distances, initial_sums)
    choice = Choice([], [])
    while len(choice.chosen) < k:
        best = pool.best(choice.chosen)
        if best is None:
            break
        choice.distance_gains.append(float(pool.sums[best]))
        choice.chosen.append(best)
        pool.remove(best)
        if on_choice is not None:
            pool.remove(on_choice(best))
    return choice


class _Pool:
    """Candidates, each compared with the first ``n_compared`` of the chosen ones."""

    def __init__(self, qualities: Floats, lambda_: float, distances: Distances, initial_sums: Floats | None) -> None:
        self._half = 0.5 * qualities
        self._lambda = lambda_
        self._distances = distances
        self._n_compared = np.zeros(qualities.size, np.int64)
        # The initial sum of each candidate and its distances to chosen[:n_compared].
        self.sums = np.zeros(qualities.size) if initial_sums is None else initial_sums.copy()
        # Upper bound of the score minus lambda times the number of chosen ones: it remains valid as more are chosen.
        self._bound = self._half + lambda_ * self.sums

    def remove(self, candidates: Any) -> None:
        """Remove candidates from the pool."""
        self._bound[candidates] = -np.inf

    def best(self, chosen: list[int]) -> int | None:
        """Return the candidate with the highest score; None if none is left.

        Only candidates whose bound could be the highest score are updated.
        """
        while True:
            top = self._bound.max(initial=-np.inf)
            if top == -np.inf:
                return None
            # Rounding can make a bound slightly too small.
            tolerance = 1e-9 * (1.0 + abs(top) + self._lambda * len(chosen))
            leaders = np.flatnonzero(self._bound >= top - tolerance)
            if (self._n_compared[leaders] == len(chosen)).all():
                scores = self._half[leaders] + self._lambda * self.sums[leaders]
                return int(leaders[np.argmax(scores)])
            self._update(self._outdated(leaders, chosen), chosen)

    def _outdated(self, leaders: Integers, chosen: list[int]) -> Integers:
        """Return the outdated candidates among the leaders and, if these are few, among the next highest bounds."""
        if leaders.size < _BATCH < self._bound.size:
            cut = np.partition(self._bound, -_BATCH)[-_BATCH]
            leaders = np.flatnonzero(self._bound >= max(cut, np.finfo(float).min))
        return leaders[self._n_compared[leaders] < len(chosen)]

    def _update(self, outdated: Integers, chosen: list[int]) -> None:
        """Compare candidates with the chosen ones that they have not been compared with."""
        for position in np.unique(self._n_compared[outdated]).tolist():
            candidates = outdated[self._n_compared[outdated] == position]
            # Distances are added one by one, in the order of choice, so that sums are reproducible.
            for column in self._distances(candidates, chosen[position:]).T:
                self.sums[candidates] += column
            self._n_compared[candidates] = len(chosen)
        self._bound[outdated] = self._half[outdated] + self._lambda * (self.sums[outdated] - len(chosen))
