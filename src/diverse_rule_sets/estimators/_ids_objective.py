"""The objective of interpretable decision sets (Lakkaraju, Bach and Leskovec, KDD 2016), updated incrementally.

A *candidate* is a body with a label; every body is combined with every label. A *choice* is a boolean array
(n_bodies, n_classes) of the candidates in the set.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Cover

Floats = NDArray[np.float64]
N_TERMS = 7
# Number of bodies that are compared with all others at a time.
_BLOCK = 256


class Pool:
    """The candidates, their covers, and the overlaps of their bodies.

    Parameters
    ----------
    backend : the records
    bodies : the bodies
    lengths : number of conditions of each body
    """

    def __init__(self, backend: Backend, bodies: Lists, lengths: Integers) -> None:
        self.backend = backend
        self.bodies = bodies
        self.correct = backend.class_counts_of(bodies)
        self.incorrect = self.correct.sum(axis=1, keepdims=True) - self.correct
        self.lengths = lengths

    @property
    def shape(self) -> tuple[int, int]:
        """Number of bodies and of classes."""
        return self.correct.shape[0], self.correct.shape[1]

    @property
    def n_candidates(self) -> int:
        """Number of candidates: |S| in the paper."""
        return self.correct.size

    @cached_property
    def covers(self) -> list[Cover]:
        """The records that each body covers."""
        return [self.backend.cover(body) for body in self.bodies.tuples()]

    def correct_cover(self, body: int, label: int) -> Cover:
        """Return the records that a candidate covers and that have its label."""
        return self.backend.intersection(self.covers[body], self.backend.of_class(label))

    @cached_property
    def overlaps(self) -> Floats:
        """Number of records that each two bodies share, as floats because matrix products of floats are fast."""
        shared = np.empty((self.shape[0], self.shape[0]))
        for begin in range(0, self.shape[0], _BLOCK):
            block = [self.covers[body] for body in range(begin, min(begin + _BLOCK, self.shape[0]))]
            shared[:, begin : begin + _BLOCK] = self.backend.shared_counts(self.bodies, block)
        return shared

    def terms(self, choice: Flags) -> Floats:
        """Return the seven terms f1 to f7 of a choice (Eq. 1 to 7 of the paper), each to be maximised."""
        n, size, longest = self.backend.n_records, self.n_candidates, int(self.lengths.max(initial=0))
        chosen = choice.astype(np.float64)
        shared = chosen.T @ self.overlaps @ chosen  # between classes; pairs of one class are counted twice
        alone = np.einsum("bc,b->", chosen, np.diagonal(self.overlaps))
        same = (np.trace(shared) - alone) / 2
        different = (shared.sum() - np.trace(shared)) / 2
        return np.array(
            [
                size - choice.sum(),
                longest * size - (choice.sum(axis=1) * self.lengths).sum(),
                n * size**2 - same,
                n * size**2 - different,
                choice.any(axis=0).sum(),
                n * size - self.incorrect[choice].sum(),
                n - self.backend.class_counts(self.at_most_once(choice)[0]).sum(),
            ],
            np.float64,
        )

    def value(self, choice: Flags, weights: Floats) -> float:
        """Return the weighted sum of the terms."""
        return float(self.terms(choice) @ weights)

    def at_most_once(self, choice: Flags) -> tuple[Cover, Cover]:
        """Return the records that no chosen candidate is correct for, and those that exactly one is correct for."""
        covers = [self.correct_cover(body, label) for body, label in np.argwhere(choice).tolist()]
        levels = self.backend.levels(covers, [1] * len(covers), wanted=(0, 1))
        return levels[0], levels[1]

    def count_correct(self, among: Cover) -> Integers:
        """Count for each candidate the records of a cover that it covers and that have its label."""
        return self.backend.class_counts_of(self.bodies, among)


class Selection:
    """A choice that changes by one candidate at a time, and the gain of every candidate.

    Parameters
    ----------
    pool : the candidates
    weights : the weights of the seven terms
    choice : the initial choice
    """

    def __init__(self, pool: Pool, weights: Floats, choice: Flags) -> None:
        self._pool = pool
        self._weights = weights
        self.choice = choice.copy()
        self._overlap = pool.overlaps @ choice.astype(np.float64)  # of each body with the chosen ones of each class
        self._none, self._one = pool.at_most_once(choice)  # records that none, or one, is correct for
        self._new_correct = pool.count_correct(self._none)

    def gains(self) -> Floats:
        """Return the gain of each candidate: the difference of the values of the choice with and without it."""
        w, pool, choice = self._weights, self._pool, self.choice
        own = choice * np.diagonal(pool.overlaps)[:, None]
        same = self._overlap - own
        different = self._overlap.sum(axis=1, keepdims=True) - self._overlap
        absent = choice.sum(axis=0) - choice == 0
        new = self._new_correct
        correct = np.where(choice, pool.count_correct(self._one), new) if choice.any() else new
        return np.asarray(
            w[4] * absent
            + w[6] * correct
            - w[0]
            - w[1] * pool.lengths[:, None]
            - w[2] * same
            - w[3] * different
            - w[5] * pool.incorrect
        )

    def flip(self, body: int, label: int) -> None:
        """Add a candidate to the choice, or drop it."""
        sign = -1 if self.choice[body, label] else 1
        self.choice[body, label] = sign > 0
        self._overlap[:, label] += sign * self._pool.overlaps[body]
        backend = self._pool.backend
        if sign > 0:
            own = self._pool.correct_cover(body, label)
            new = backend.intersection(self._none, own)
            self._one = backend.union(backend.difference(self._one, own), new)
            self._none = backend.difference(self._none, own)
        else:
            self._none, self._one = self._pool.at_most_once(self.choice)
        self._new_correct = self._pool.count_correct(self._none)
