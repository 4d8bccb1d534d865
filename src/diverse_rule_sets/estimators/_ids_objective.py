"""The objective of interpretable decision sets (Lakkaraju, Bach and Leskovec, KDD 2016), kept up to date on bits.

A *candidate* is a body with a label, every body with every label; a *choice* is an array (n_bodies, n_classes) that
says which candidates are in the set.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import Flags, Integers, Lists, Words
from diverse_rule_sets.data._local import LocalBackend

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

    def __init__(self, backend: LocalBackend, bodies: Lists, lengths: Integers) -> None:
        self.backend = backend
        self.bodies = bodies
        self.correct = backend.class_counts_of(bodies)
        self.incorrect = self.correct.sum(axis=1, keepdims=True) - self.correct
        self.lengths = lengths
        self.covers: Words = np.empty((bodies.size, backend.rows.shape[1]), np.uint64)
        for place in range(bodies.size):
            self.covers[place] = backend.cover(bodies.one(place))
        self.singles = Lists(np.arange(bodies.size + 1), np.arange(bodies.size, dtype=np.int32))

    @property
    def shape(self) -> tuple[int, int]:
        """How many bodies and classes there are."""
        return self.correct.shape[0], self.correct.shape[1]

    @property
    def n_candidates(self) -> int:
        """How many candidates there are: |S| of the paper."""
        return self.correct.size

    @cached_property
    def overlaps(self) -> Floats:
        """Records that each two bodies share: whole numbers, as floats because products of those are fast."""
        shared = np.empty((self.shape[0], self.shape[0]))
        for begin in range(0, self.shape[0], _BLOCK):
            block = self.covers[begin : begin + _BLOCK]
            shared[:, begin : begin + _BLOCK] = bitset.count(self.covers, self.singles, block, self.backend.n_threads)
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
                (self.times(choice) > 0).sum(),
            ],
            np.float64,
        )

    def value(self, choice: Flags, weights: Floats) -> float:
        """Return the weighted sum of the terms."""
        return float(self.terms(choice) @ weights)

    def times(self, choice: Flags) -> Integers:
        """Count for each record the chosen candidates that cover it and name its class."""
        times = np.zeros(self.backend.n_records, np.int64)
        for label in range(self.shape[1]):
            bodies = np.flatnonzero(choice[:, label])
            for begin in range(0, bodies.size, _BLOCK):
                covers = self.covers[bodies[begin : begin + _BLOCK]] & self.backend.class_masks[label]
                times += bitset.unpack(covers, self.backend.n_records).sum(axis=0)
        return times

    def rightly(self, among: Flags) -> Integers:
        """Count for each candidate the records among those flagged that it covers and whose class it names."""
        masks = self.backend.class_masks & bitset.pack(among)
        return bitset.count(self.covers, self.singles, masks, self.backend.n_threads)


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
        self._times = pool.times(choice)
        self._never = pool.rightly(self._times == 0)

    def gains(self) -> Floats:
        """Return what each candidate adds to the value of the choice without it: the marginal of each."""
        w, pool, choice = self._weights, self._pool, self.choice
        own = choice * np.diagonal(pool.overlaps)[:, None]
        same = self._overlap - own
        different = self._overlap.sum(axis=1, keepdims=True) - self._overlap
        absent = choice.sum(axis=0) - choice == 0
        covered = np.where(choice, pool.rightly(self._times == 1), self._never) if choice.any() else self._never
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
        covered = self._pool.covers[body] & self._pool.backend.class_masks[label]
        self._times += sign * bitset.unpack(covered, self._times.size)
        self._never = self._pool.rightly(self._times == 0)
