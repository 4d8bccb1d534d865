"""The exact sampler whose set-up is linear in the records: propose from a record, reject by chance meetings.

A positive record x is drawn with weight ``(1 + alpha) ** |x| - 1`` and a non-empty part of its items with chances
``alpha ** length``, which gives a body r with weight ``|D+(r)| * alpha ** |r|``. A record is then drawn from every
other group; r is kept unless it covers one of them, which multiplies its weight by the share of each group that r does
not cover. That is the law of :mod:`diverse_rule_sets.learn.samplers`, without listing pairs or triples.

Records are drawn by count: how many there are with each number of items, then the k-th of them. So a draw needs no list
of records.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.learn.samplers._enumeration import EnumerationSampler, TooManyTuplesError
from diverse_rule_sets.learn.samplers._parts import Part, Parts, nonempty_subsets

# Proposals per body asked for before the rest is settled by enumeration.
_PATIENCE = 64


class RejectionSampler:
    """Draw bodies by rejection.

    Parameters
    ----------
    backend : the data
    measure : ``"pairs"`` or ``"triples"``
    length_odds : alpha; below 1 shorter bodies are preferred
    banned : array (n_items,), items that no body may hold; none by default
    """

    def __init__(
        self, backend: Backend, measure: str = "pairs", length_odds: float = 1.0, banned: Flags | None = None
    ) -> None:
        self._backend = backend
        self._measure = measure
        self._alpha = length_odds
        self._banned = banned if banned is not None and banned.any() else None

    def draw(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw n bodies for a label; fewer where the law has no mass, or next to none that can be found."""
        parts = Parts.of(self._backend, label, covered, self._measure)
        positives = _Positives.of(self._backend, parts.positives, self._by_size, self._alpha)
        if not positives.any:
            return Lists.of([])
        accepted: list[Lists] = []
        n_accepted = n_proposed = 0
        rate = 1.0
        while n_accepted < n and n_proposed < _PATIENCE * n + 1024:
            size = min(int((n - n_accepted) / rate * 1.1) + 16, 4 * n + 64)
            kept = self._round(positives, parts.others, size, rng)
            n_proposed += size
            kept = kept.take(np.arange(min(kept.size, n - n_accepted)))
            n_accepted += kept.size
            accepted.append(kept)
            rate = max(n_accepted, 1) / n_proposed
        if n_accepted < n:
            accepted.append(self._settle(label, n - n_accepted, covered, rng))
        return Lists.joined(accepted)

    @cached_property
    def _by_size(self) -> Mapping[int, Cover]:
        """The records by the number of their items that bodies may hold."""
        allowed = range(self._backend.n_items) if self._banned is None else np.flatnonzero(~self._banned).tolist()
        covers = [self._backend.cover((item,)) for item in allowed]
        return self._backend.levels(covers, [1] * len(covers))

    def _round(self, positives: _Positives, others: tuple[Part, ...], size: int, rng: np.random.Generator) -> Lists:
        """Propose so many bodies at once, and return those accepted."""
        items = positives.draw(self._backend, size, rng)
        if self._banned is not None:
            items = items.keep_members(~self._banned[items.members])
        bodies, accepted = self._subsets(items, rng)
        for group in others:
            accepted &= ~self._backend.contain(bodies, group.cover, rng.integers(group.size, size=size))
        return bodies.take(np.flatnonzero(accepted))

    def _subsets(self, items: Lists, rng: np.random.Generator) -> tuple[Lists, Flags]:
        """Draw a body from the items of each record; returns also which of them are bodies."""
        return items.keep_members(self._taken(items, rng)), np.ones(items.size, np.bool_)

    def _taken(self, items: Lists, rng: np.random.Generator) -> Flags:
        """Tell which items of each record are taken, some of each."""
        return nonempty_subsets(items.lengths, self._alpha, rng)

    def _settle(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw the rest by enumeration where that is feasible: perhaps nothing can be accepted at all."""
        try:
            sampler = EnumerationSampler(self._backend, self._measure, self._alpha, self._banned)
            return sampler.draw(label, n, covered, rng)
        except TooManyTuplesError:
            return Lists.of([])


class _Positives(NamedTuple):
    """The records to draw from, by their number of items: how many there are of each, and the weight of each."""

    covers: list[Cover]
    counts: Integers
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, backend: Backend, part: Part, by_size: Mapping[int, Cover], alpha: float) -> _Positives:
        """Group the records of a part by size; those without items are left out if they are all there is."""
        counts = backend.sizes_within(list(by_size.values()), part.cover) if len(by_size) > 1 else np.array([part.size])
        there = [(size, n, level) for (size, level), n in zip(by_size.items(), counts.tolist(), strict=True) if n]
        if len(there) < 2:
            weights = np.array([1.0 if size else 0.0 for size, _, _ in there])
            return cls([part.cover] * len(there), np.array([n for _, n, _ in there], np.int64), weights)
        sizes = np.array([size for size, _, _ in there], np.int64)
        log = np.log1p(alpha)
        weights = np.exp((sizes - float(sizes[-1])) * log) * -np.expm1(-sizes * log)
        covers = [backend.intersection(level, part.cover) for _, _, level in there]
        return cls(covers, np.array([n for _, n, _ in there], np.int64), weights)

    @property
    def any(self) -> bool:
        """Whether some record holds an item."""
        return bool(self.weights.any())

    def draw(self, backend: Backend, n: int, rng: np.random.Generator) -> Lists:
        """Draw n records, each from one random number, and return their items."""
        if self.counts.size == 1:
            return backend.items_at(self.covers[0], rng.integers(self.counts[0], size=n))
        ends = np.cumsum(self.counts * self.weights)
        at = rng.random(n) * ends[-1]
        level = np.minimum(np.searchsorted(ends, at, side="right"), ends.size - 1)
        begins = ends - self.counts * self.weights
        inside = (at - begins[level]) / np.where(self.weights > 0, self.weights, 1.0)[level]
        k = np.clip(inside.astype(np.int64), 0, self.counts[level] - 1)
        order = np.argsort(level, kind="stable")
        parts = [backend.items_at(self.covers[j], k[level == j]) for j in np.unique(level).tolist()]
        return Lists.joined(parts).take(np.argsort(order, kind="stable"))
