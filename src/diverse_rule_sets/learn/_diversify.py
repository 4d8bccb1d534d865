"""Greedy max-sum diversification over plain numbers; knows nothing of rules.

Given candidates with a quality each and a metric distance between any two, choose k that make
``sum of qualities + lambda * sum of distances over unordered pairs`` large. The non-oblivious greedy of
Borodin et al. (2012) adds the candidate with the largest ``quality / 2 + lambda * distance to all chosen``,
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

# How many candidates are brought up to date at a time: of a pool of tens of thousands, and of some hundreds.
_BATCH = 512
_SMALL_BATCH = 64


class Choice(NamedTuple):
    """What the greedy chose, in order, and the distance to those before that each one added."""

    chosen: list[int]
    distance_gains: list[float]


class Next(NamedTuple):
    """A candidate to add, its score, and the sum of its distances to those chosen."""

    candidate: int
    score: float
    distance: float


def best_candidate(
    qualities: Floats,
    lambda_: float,
    n_chosen: int,
    distance_sums: Callable[[Integers], Floats],
    score_to_beat: float = -np.inf,
) -> Next | None:
    """Return the candidate that the greedy would add next, the first of equals; None if none beats the score.

    Parameters
    ----------
    qualities : array (n_candidates,)
    lambda_ : weight of the distances
    n_chosen : how many are chosen: no sum of distances is larger
    distance_sums : function of candidates that returns the sum of their distances to all chosen ones
    score_to_beat : a score that the candidate must exceed
    """
    half = 0.5 * qualities
    order = np.argsort(-half, kind="stable")
    best: Next | None = None
    for begin in range(0, order.size, _SMALL_BATCH):
        batch = order[begin : begin + _SMALL_BATCH]
        needed = score_to_beat if best is None else best.score
        bound = half[batch[0]] + lambda_ * n_chosen
        if bound < needed - 1e-9 * (1.0 + abs(needed)):  # rounding may put a bound a hair below what it bounds
            break
        sums = distance_sums(batch)
        scores = half[batch] + lambda_ * sums
        top = np.flatnonzero(scores == scores.max())
        j = int(top[np.argmin(batch[top])])
        found = Next(int(batch[j]), float(scores[j]), float(sums[j]))
        if best is None:
            best = found if found.score > score_to_beat else None
        elif (found.score, -found.candidate) > (best.score, -best.candidate):
            best = found
    return best


def added_up(distances: Floats) -> Floats:
    """Sum each row from left to right, so that sums made one by one are the same to the last bit."""
    return np.cumsum(distances, axis=1)[:, -1] if distances.shape[1] else np.zeros(distances.shape[0])


def objective(qualities: Floats, distance_gains: Floats, lambda_: float) -> float:
    """Value of a chosen set, from each member's quality and the distance that it added."""
    return float(np.sum(qualities) + lambda_ * np.sum(distance_gains))


def greedy(
    qualities: Floats,
    lambda_: float,
    k: int,
    distances: Distances,
    on_choice: Callable[[int], Integers] | None = None,
    before: Floats | None = None,
) -> Choice:
    """Choose up to k candidates by the non-oblivious greedy, asking for as few distances as it can.

    A distance is at most 1, so a candidate not yet compared with the latest choices has a known upper
    bound; only candidates whose bound reaches the best known score are compared. The choice is the same as
    if every candidate had been compared with every choice.

    Parameters
    ----------
    qualities : array (n_candidates,)
    lambda_ : weight of the distances, not negative
    k : how many to choose
    distances : function of (candidates, chosen ones) that returns a matrix of distances, each in [0, 1]
    on_choice : called with each chosen candidate as soon as it is chosen; returns the candidates that leave with
        it, such as copies of it
    before : array (n_candidates,), the sum of each one's distances to what stands before any is chosen; by default
        nothing does
    """
    pool = _Pool(qualities, lambda_, distances, before)
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
    """Candidates, each compared with the first ``seen`` of the chosen ones."""

    def __init__(self, qualities: Floats, lambda_: float, distances: Distances, before: Floats | None) -> None:
        self._half = 0.5 * qualities
        self._lambda = lambda_
        self._distances = distances
        self._seen = np.zeros(qualities.size, np.int64)
        self.sums = np.zeros(qualities.size) if before is None else before.copy()  # distances to chosen[:seen] too
        # Upper bound of the score, less lambda for every chosen one: it stays true as more are chosen.
        self._bound = self._half + lambda_ * self.sums

    def remove(self, gone: Any) -> None:
        """Take candidates out."""
        self._bound[gone] = -np.inf

    def best(self, chosen: list[int]) -> int | None:
        """Bring the promising candidates up to date until the best is known; None if none is left."""
        while True:
            top = self._bound.max(initial=-np.inf)
            if top == -np.inf:
                return None
            # Rounding may put a bound a hair below what it bounds.
            slack = 1e-9 * (1.0 + abs(top) + self._lambda * len(chosen))
            leaders = np.flatnonzero(self._bound >= top - slack)
            if (self._seen[leaders] == len(chosen)).all():
                scores = self._half[leaders] + self._lambda * self.sums[leaders]
                return int(leaders[np.argmax(scores)])
            self._update(self._stale(leaders, chosen), chosen)

    def _stale(self, leaders: Integers, chosen: list[int]) -> Integers:
        """Return the candidates to compare next: the leaders, and those close behind."""
        if leaders.size < _BATCH < self._bound.size:
            cut = np.partition(self._bound, -_BATCH)[-_BATCH]
            leaders = np.flatnonzero(self._bound >= max(cut, np.finfo(float).min))
        return leaders[self._seen[leaders] < len(chosen)]

    def _update(self, stale: Integers, chosen: list[int]) -> None:
        """Compare candidates with the chosen ones that they have not been compared with."""
        for position in np.unique(self._seen[stale]).tolist():
            late = stale[self._seen[stale] == position]
            for column in self._distances(late, chosen[position:]).T:  # one by one: sums in order of choice
                self.sums[late] += column
            self._seen[late] = len(chosen)
        self._bound[stale] = self._half[stale] + self._lambda * (self.sums[stale] - len(chosen))
