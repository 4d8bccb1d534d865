"""The exact rejection sampler, whose set-up time is linear in the number of records.

A positive record x is drawn with weight ``(1 + alpha) ** |x| - 1``, then a non-empty subset of its items with
probability proportional to ``alpha ** length``. So a body r is proposed with weight ``|D+(r)| * alpha ** |r|``. Then a
record is drawn from every other group, and r is accepted unless it covers one of them. This multiplies the weight of r
by the share of each group that r does not cover. The result is the distribution of
:mod:`diverse_rule_sets.learn.samplers`, without a list of pairs or triples.

Records are drawn by count: first the number of items of the record, then the k-th record with this number of items. So
no list of records is needed.
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

# Proposals per body to draw, after which the remaining bodies are drawn by enumeration.
_MAX_PROPOSALS = 64
# Maximum number of items of the records that are drawn at a time.
_MAX_CELLS = 1 << 24


class RejectionSampler:
    """Draws bodies by rejection.

    Parameters
    ----------
    backend : the data
    measure : ``"pairs"`` or ``"triples"``
    length_odds : alpha; values below 1 favour shorter bodies
    banned : array (n_items,), items that no body may have; none by default
    """

    def __init__(
        self, backend: Backend, measure: str = "pairs", length_odds: float = 1.0, banned: Flags | None = None
    ) -> None:
        self._backend = backend
        self._measure = measure
        self._alpha = length_odds
        self._banned = banned if banned is not None and banned.any() else None

    def draw(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw n bodies for a label; fewer if no body has a positive probability or nearly all are rejected."""
        parts = Parts.of(self._backend, label, covered, self._measure)
        positives = _Positives.of(self._backend, parts.positives, self._by_size, self._alpha)
        if not positives.have_items:
            return Lists.of([])
        accepted: list[Lists] = []
        n_accepted = n_proposed = 0
        rate, most = 1.0, max(64, _MAX_CELLS // self._backend.n_items)
        while n_accepted < n and n_proposed < _MAX_PROPOSALS * n + 1024:
            size = min(int((n - n_accepted) / rate * 1.1) + 16, 4 * n + 64, most)
            bodies = self._propose(positives, parts.others, size, rng)
            n_proposed += size
            bodies = bodies.take(np.arange(min(bodies.size, n - n_accepted)))
            n_accepted += bodies.size
            accepted.append(bodies)
            rate = max(n_accepted, 1) / n_proposed
        if n_accepted < n:
            accepted.append(self._enumerate(label, n - n_accepted, covered, rng))
        return Lists.concatenate(accepted)

    @cached_property
    def _by_size(self) -> Mapping[int, Cover]:
        """The records by the number of their items that are not banned."""
        allowed = range(self._backend.n_items) if self._banned is None else np.flatnonzero(~self._banned).tolist()
        covers = [self._backend.cover((item,)) for item in allowed]
        return self._backend.levels(covers, [1] * len(covers))

    def _propose(self, positives: _Positives, others: tuple[Part, ...], size: int, rng: np.random.Generator) -> Lists:
        """Propose ``size`` bodies at once, and return the accepted ones."""
        items = positives.draw(self._backend, size, rng)
        if self._banned is not None:
            items = items.keep_members(~self._banned[items.members])
        bodies, accepted = self._draw_bodies(items, rng)
        for group in others:
            accepted &= ~self._backend.contain(bodies, group.cover, rng.integers(group.size, size=size))
        return bodies.take(np.flatnonzero(accepted))

    def _draw_bodies(self, items: Lists, rng: np.random.Generator) -> tuple[Lists, Flags]:
        """Draw a body from the items of each record; return the bodies, and flags of those that may be accepted."""
        return items.keep_members(self._draw_items(items, rng)), np.ones(items.size, np.bool_)

    def _draw_items(self, items: Lists, rng: np.random.Generator) -> Flags:
        """Return flags of the items to select, at least one of each record."""
        return nonempty_subsets(items.lengths, self._alpha, rng)

    def _enumerate(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw the remaining bodies by enumeration; none if there are too many tuples of distinct records."""
        try:
            sampler = EnumerationSampler(self._backend, self._measure, self._alpha, self._banned)
            return sampler.draw(label, n, covered, rng)
        except TooManyTuplesError:
            return Lists.of([])


class _Positives(NamedTuple):
    """The records to draw from, in groups with the same number of items: covers, sizes, and the weight of a record."""

    covers: list[Cover]
    counts: Integers
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, backend: Backend, part: Part, by_size: Mapping[int, Cover], alpha: float) -> _Positives:
        """Group the records of a part by their number of items; records without items have weight 0."""
        levels = [
            backend.intersection(level, part.cover) if len(by_size) > 1 else part.cover for level in by_size.values()
        ]
        counts = [backend.n_positions(level) if len(by_size) > 1 else part.size for level in levels]
        groups = [(size, n, level) for size, n, level in zip(by_size, counts, levels, strict=True) if n]
        if len(groups) < 2:
            weights = np.array([1.0 if size else 0.0 for size, _, _ in groups])
            return cls([part.cover] * len(groups), np.array([n for _, n, _ in groups], np.int64), weights)
        sizes = np.array([size for size, _, _ in groups], np.int64)
        log = np.log1p(alpha)
        weights = np.exp((sizes - float(sizes[-1])) * log) * -np.expm1(-sizes * log)
        return cls([level for _, _, level in groups], np.array([n for _, n, _ in groups], np.int64), weights)

    @property
    def have_items(self) -> bool:
        """Whether at least one record has an item."""
        return bool(self.weights.any())

    def draw(self, backend: Backend, n: int, rng: np.random.Generator) -> Lists:
        """Draw n records, each by one random number, and return their items."""
        if self.counts.size == 1:
            return backend.items_at(self.covers[0], rng.integers(self.counts[0], size=n))
        ends = np.cumsum(self.counts * self.weights)
        at = rng.random(n) * ends[-1]
        level = np.minimum(np.searchsorted(ends, at, side="right"), ends.size - 1)
        begins = ends - self.counts * self.weights
        inside = (at - begins[level]) / np.where(self.weights > 0, self.weights, 1.0)[level]
        k = np.clip(inside.astype(np.int64), 0, self.counts[level] - 1)
        order = np.argsort(level, kind="stable")
        items = backend.items_of([(self.covers[j], k[level == j]) for j in np.unique(level).tolist()])
        return items.take(np.argsort(order, kind="stable"))
