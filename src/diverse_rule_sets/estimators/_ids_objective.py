"""The objective of interpretable decision sets (Lakkaraju, Bach and Leskovec, KDD 2016), kept up to date on bits.

A *candidate* is a body with a label, every body with every label; a *choice* is an array (n_bodies, n_classes) that
says which candidates are in the set.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Cover

Floats = NDArray[np.float64]
N_TERMS = 7
# Bodies that are unpacked or compared with all others in one go.
_BLOCK = 256


class Pool:
    """Candidates, what they cover, and how their bodies overlap.

    Parameters
    ----------
    backend : the records
    bodies : the bodies
    lengths : conditions of each body
    """

    def __init__(self, backend: Backend, bodies: Lists, lengths: Integers) -> None:
        self.backend = backend
        self.bodies = bodies
        self.correct = backend.class_counts_of(bodies)
        self.incorrect = self.correct.sum(axis=1, keepdims=True) - self.correct
        self.lengths = lengths

    @property
    def shape(self) -> tuple[int, int]:
        """How many bodies and classes there are."""
        return self.correct.shape[0], self.correct.shape[1]

    @property
    def n_candidates(self) -> int:
        """How many candidates there are: |S| of the paper."""
        return self.correct.size

    @cached_property
    def covers(self) -> list[Cover]:
        """What each body covers."""
        return [self.backend.cover(body) for body in self.bodies.tuples()]

    def correct_cover(self, body: int, label: int) -> Cover:
        """Return the records that a candidate covers and whose class it names."""
        return self.backend.intersection(self.covers[body], self.backend.of_class(label))

    @cached_property
    def overlaps(self) -> Floats:
        """Records that each two bodies share: whole numbers, as floats because products of those are fast."""
        shared = np.empty((self.shape[0], self.shape[0]))
        for begin in range(0, self.shape[0], _BLOCK):
            block = [self.covers[body] for body in range(begin, min(begin + _BLOCK, self.shape[0]))]
            shared[:, begin : begin + _BLOCK] = self.backend.shared(self.bodies, block)
        return shared

    def terms(self, choice: Flags) -> Floats:
        """Return the seven terms f1 to f7 of a choice (Eq. 1 to 7 of the paper), each to be made large."""
        n, size, longest = self.backend.n_records, self.n_candidates, int(self.lengths.max(initial=0))
        chosen = choice.astype(np.float64)
        shared = chosen.T @ self.overlaps @ chosen  # between classes; each pair of one class is in it twice
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
        """Return the records that no chosen candidate covers and names the class of, and those that just one does."""
        covers = [self.correct_cover(body, label) for body, label in np.argwhere(choice).tolist()]
        levels = self.backend.levels(covers, [1] * len(covers), wanted=(0, 1))
        return levels[0], levels[1]

    def rightly(self, among: Cover) -> Integers:
        """Count for each candidate the records of a cover that it covers and whose class it names."""
        return self.backend.class_counts_of(self.bodies, among)


class Chosen:
    """A choice that grows and shrinks, and what every candidate would add to it.

    Parameters
    ----------
    pool : the candidates
    weights : the weights of the seven terms
    choice : where to begin
    """

    def __init__(self, pool: Pool, weights: Floats, choice: Flags) -> None:
        self._pool = pool
        self._weights = weights
        self.choice = choice.copy()
        self._overlap = pool.overlaps @ choice.astype(np.float64)  # of each body with the chosen ones of each class
        self._none, self._one = pool.at_most_once(choice)  # records by how many chosen candidates are right about them
        self._never = pool.rightly(self._none)

    def gains(self) -> Floats:
        """Return what each candidate adds to the value of the choice without it: the marginal of each."""
        w, pool, choice = self._weights, self._pool, self.choice
        own = choice * np.diagonal(pool.overlaps)[:, None]
        same = self._overlap - own
        different = self._overlap.sum(axis=1, keepdims=True) - self._overlap
        absent = choice.sum(axis=0) - choice == 0
        covered = np.where(choice, pool.rightly(self._one), self._never) if choice.any() else self._never
        return np.asarray(
            w[4] * absent
            + w[6] * covered
            - w[0]
            - w[1] * pool.lengths[:, None]
            - w[2] * same
            - w[3] * different
            - w[5] * pool.incorrect
        )

    def flip(self, body: int, label: int) -> None:
        """Put a candidate in, or take it out."""
        sign = -1 if self.choice[body, label] else 1
        self.choice[body, label] = sign > 0
        self._overlap[:, label] += sign * self._pool.overlaps[body]
        backend = self._pool.backend
        if sign > 0:
            own = self._pool.correct_cover(body, label)
            fresh = backend.intersection(self._none, own)
            self._one = backend.union(backend.difference(self._one, own), fresh)
            self._none = backend.difference(self._none, own)
        else:
            self._none, self._one = self._pool.at_most_once(self.choice)
        self._never = self._pool.rightly(self._none)
