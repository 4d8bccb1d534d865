"""Greedy max-sum diversification over plain numbers; knows nothing of rules.

Given candidates with a quality each and a metric distance between any two, choose k that make
``sum of qualities + lambda * sum of distances over unordered pairs`` large. The non-oblivious greedy of
Borodin et al. (2012) adds the candidate with the largest ``quality / 2 + lambda * distance to all chosen``,
and reaches at least half of the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Distances, each in [0, 1], of some candidates (rows) to some others (columns).
Distances = Callable[[Integers, list[int]], Floats]

# How many candidates are brought up to date at a time.
_BATCH = 512


class Choice(NamedTuple):
    """What the greedy chose, in order, and the distance to those before that each one added."""

    chosen: list[int]
    distance_gains: list[float]


def best_candidate(qualities: Floats, distance_sums: Floats, lambda_: float) -> int:
    """Return the candidate that the greedy would add next; the first of equals."""
    return int(np.argmax(0.5 * qualities + lambda_ * distance_sums))


def objective(qualities: Floats, distance_gains: Floats, lambda_: float) -> float:
    """Value of a chosen set, from each member's quality and the distance that it added."""
    return float(np.sum(qualities) + lambda_ * np.sum(distance_gains))


def greedy(
    qualities: Floats,
    lambda_: float,
    k: int,
    distances: Distances,
    on_choice: Callable[[int], None] | None = None,
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
    on_choice : called with each chosen candidate as soon as it is chosen
    """
    n = qualities.size
    half = 0.5 * qualities
    sums = np.zeros(n)  # distance to chosen[:seen], per candidate
    seen = np.zeros(n, np.int64)
    free = np.ones(n, np.bool_)
    choice = Choice([], [])
    for _ in range(min(k, n)):
        best = _next(half, lambda_, sums, seen, free, choice.chosen, distances)
        choice.distance_gains.append(float(sums[best]))
        choice.chosen.append(best)
        free[best] = False
        if on_choice is not None:
            on_choice(best)
    return choice


def _next(
    half: Floats,
    lambda_: float,
    sums: Floats,
    seen: Integers,
    free: NDArray[np.bool_],
    chosen: list[int],
    distances: Distances,
) -> int:
    """Bring the promising candidates up to date until one is known to be the best."""
    while True:
        behind = len(chosen) - seen
        bound = np.where(free, half + lambda_ * (sums + behind), -np.inf)
        exact = np.where(behind == 0, bound, -np.inf)
        best = int(np.argmax(exact))
        # Rounding may put a bound a hair below what it bounds.
        reach = exact[best] - 1e-9 * abs(exact[best])
        stale = np.flatnonzero((behind > 0) & (bound >= reach) & free)
        if stale.size == 0:
            return best
        if stale.size > _BATCH:
            stale = np.sort(stale[np.argpartition(-bound[stale], _BATCH - 1)[:_BATCH]])
        for position in np.unique(seen[stale]).tolist():
            late = stale[seen[stale] == position]
            for column in distances(late, chosen[position:]).T:  # one by one: sums in order of choice
                sums[late] += column
            seen[late] = len(chosen)
