"""The exact sampler whose set-up is linear in the records: propose from a record, reject by chance meetings.

A positive record x is drawn with weight ``(1 + alpha) ** |x| - 1`` and a non-empty part of its items with chances
``alpha ** length``, which gives a body r with weight ``|D+(r)| * alpha ** |r|``. A record is then drawn from every
other group; r is kept unless it covers one of them, which multiplies its weight by the share of each group that r does
not cover. That is the law of :mod:`diverse_rule_sets.learn.samplers`, without listing pairs or triples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists, Words
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn.samplers._enumeration import EnumerationSampler, TooManyTuplesError
from diverse_rule_sets.learn.samplers._parts import Parts, nonempty_subsets

# Proposals per body asked for before the rest is settled by enumeration.
_PATIENCE = 64


class RejectionSampler:
    """Draw bodies by rejection.

    Parameters
    ----------
    backend : the data
    measure : ``"pairs"`` or ``"triples"``
    length_odds : alpha; below 1 shorter bodies are preferred
    """

    def __init__(self, backend: LocalBackend, measure: str = "pairs", length_odds: float = 1.0) -> None:
        self._backend = backend
        self._measure = measure
        self._alpha = length_odds

    def draw(self, label: int, n: int, covered: Words, rng: np.random.Generator) -> Lists:
        """Draw n bodies for a label; fewer where the law has no mass, or next to none that can be found."""
        parts = Parts.of(self._backend, label, covered, self._measure)
        if not parts.positives.size or not self._backend.sizes[parts.positives].any():
            return Lists.of([])
        chances = self._chances(parts.positives)
        accepted: list[Lists] = []
        n_accepted = n_proposed = 0
        rate = 1.0
        while n_accepted < n and n_proposed < _PATIENCE * n + 1024:
            size = min(int((n - n_accepted) / rate * 1.1) + 16, 4 * n + 64)
            kept = self._round(parts, chances, size, rng)
            n_proposed += size
            kept = kept.take(np.arange(min(kept.size, n - n_accepted)))
            n_accepted += kept.size
            accepted.append(kept)
            rate = max(n_accepted, 1) / n_proposed
        if n_accepted < n:
            accepted.append(self._settle(label, n - n_accepted, covered, rng))
        return Lists.joined(accepted)

    def _chances(self, positives: Integers) -> _Chances | None:
        """Chances of the positive records by their number of items; None if all have as many."""
        sizes = self._backend.sizes[positives]
        levels, counts = np.unique(sizes, return_counts=True)
        if levels.size == 1:
            return None
        log = np.log1p(self._alpha)
        each = np.exp((levels - float(levels[-1])) * log) * -np.expm1(-levels * log)
        return _Chances(counts, each, np.argsort(sizes, kind="stable"))

    def _round(self, parts: Parts, chances: _Chances | None, size: int, rng: np.random.Generator) -> Lists:
        """Propose so many bodies at once, and return those accepted."""
        n = parts.positives.size
        picked = rng.integers(n, size=size) if chances is None else chances.draw(size, rng)
        bodies, accepted = self._subsets(self._backend.items_of(parts.positives[picked]), rng)
        for group in parts.others:
            met = group[rng.integers(group.size, size=size)]
            accepted &= ~self._backend.contained(bodies, met)
        return bodies.take(np.flatnonzero(accepted))

    def _subsets(self, items: Lists, rng: np.random.Generator) -> tuple[Lists, Flags]:
        """Draw a body from the items of each record; returns also which of them are bodies."""
        return items.keep_members(self._taken(items, rng)), np.ones(items.size, np.bool_)

    def _taken(self, items: Lists, rng: np.random.Generator) -> Flags:
        """Tell which items of each record are taken, some of each."""
        return nonempty_subsets(items.lengths, self._alpha, rng)

    def _settle(self, label: int, n: int, covered: Words, rng: np.random.Generator) -> Lists:
        """Draw the rest by enumeration where that is feasible: perhaps nothing can be accepted at all."""
        try:
            return EnumerationSampler(self._backend, self._measure, self._alpha).draw(label, n, covered, rng)
        except TooManyTuplesError:
            return Lists.of([])


class _Chances(NamedTuple):
    """How likely records are drawn: how many there are of each number of items, the weight of each, their order.

    A number of items is drawn first, then a record among those that have as many.
    """

    counts: Integers
    each: NDArray[np.float64]
    order: Integers

    def draw(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw positions of records, each from one random number."""
        ends = np.cumsum(self.counts * self.each)
        at = rng.random(n) * ends[-1]
        level = np.minimum(np.searchsorted(ends, at, side="right"), ends.size - 1)
        inside = (at - (ends - self.counts * self.each)[level]) / np.where(self.each > 0, self.each, 1.0)[level]
        k = np.clip(inside.astype(np.int64), 0, self.counts[level] - 1)
        return self.order[(np.cumsum(self.counts) - self.counts)[level] + k]
