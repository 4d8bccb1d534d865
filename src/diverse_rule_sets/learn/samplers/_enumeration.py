"""The sampler that lists all pairs or triples of distinct records: the paper's way, made exact.

The paper's Algorithm 1 takes a non-empty part of the items of x+ that are in neither x- nor xu. That never
gives a body that escapes x- by one item and xu by another, though Eq. 7 counts it. Here a triple weighs as much
as all bodies in x+ that are in neither of the others: ``a**|x+| - a**|x+ & x-| - a**|x+ & xu| + a**|x+ & x- &
xu|`` with a = 1 + alpha.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Cover, TooManyRecordsError
from diverse_rule_sets.learn.samplers._parts import Part, Parts, nonempty_subsets

Floats = NDArray[np.float64]

# The most pairs or triples that are listed.
MAX_TUPLES = 4_000_000
# The most distinct records, times items, that are laid out.
_MAX_CELLS = 20_000_000
_ADVICE = 'method="enumeration" is for small tables; use method="rejection"'


class TooManyTuplesError(ValueError):
    """There are more pairs or triples of distinct records than can be listed."""


class EnumerationSampler:
    """Draw bodies by enumeration; parameters as for ``RejectionSampler``."""

    def __init__(
        self, backend: Backend, measure: str = "pairs", length_odds: float = 1.0, banned: Flags | None = None
    ) -> None:
        self._backend = backend
        self._measure = measure
        self._alpha = length_odds
        self._banned = banned

    def draw(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw n bodies for a label; none where the law has no mass."""
        parts = Parts.of(self._backend, label, covered, self._measure)
        if not parts.positives.size:
            return Lists.of([])
        positives, n_positives = self._distinct(parts.positives)
        groups = [self._distinct(group) for group in parts.others]
        rows = [rows for rows, _ in groups]
        shape = (len(positives), *(len(group) for group in rows))
        if np.prod(shape, dtype=np.float64) > MAX_TUPLES:
            raise TooManyTuplesError(
                f"{' x '.join(f'{size:,}' for size in shape)} tuples are too many to list; {_ADVICE}"
            )
        weights = self._weights(positives, rows)
        for axis, multiplicity in enumerate([n_positives, *(count for _, count in groups)]):
            weights *= multiplicity.reshape([-1 if a == axis else 1 for a in range(weights.ndim)])
        cumulative = np.cumsum(weights)
        if not cumulative[-1] > 0:
            return Lists.of([])
        drawn = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
        tuples = zip(*np.unravel_index(drawn, weights.shape), strict=True)
        return Lists.of(
            self._body(positives[p], [g[o] for g, o in zip(rows, other, strict=True)], rng) for p, *other in tuples
        )

    def _distinct(self, part: Part) -> tuple[Flags, Integers]:
        """Return the distinct records as rows of truth values over the items, and how often each occurs."""
        try:
            items, counts = self._backend.distinct(part.cover, _MAX_CELLS // max(self._backend.n_items, 1))
        except TooManyRecordsError as error:
            raise TooManyTuplesError(f"{error}; {_ADVICE}") from None
        if self._banned is not None:
            items[:, self._banned] = False
        return items, counts

    def _weights(self, positives: Flags, groups: list[Flags]) -> Floats:
        """Total ``alpha ** len(r)`` over the bodies r of each tuple, up to one common factor.

        Written as products that cannot be negative, so that a tuple without bodies weighs exactly nothing.
        """
        x = positives.astype(np.float64)
        sizes = x.sum(axis=1)
        log = np.log1p(self._alpha)

        def some(n_items: Floats) -> Floats:
            """Return the share of the subsets of so many items that are not empty."""
            return -np.expm1(-log * n_items)

        all_subsets = np.exp((sizes - sizes.max()) * log)
        if not groups:
            return all_subsets * some(sizes)
        in_first = x @ groups[0].T.astype(np.float64)
        if len(groups) == 1:
            return all_subsets[:, None] * some(sizes[:, None] - in_first)
        in_second = (x @ groups[1].T.astype(np.float64))[:, None, :]
        in_both = np.stack([(groups[0] & one) @ groups[1].T.astype(np.float64) for one in positives])
        in_first = in_first[:, :, None]
        one_item = some(sizes[:, None, None] - in_first - in_second + in_both)
        two_items = (1.0 - one_item) * some(in_first - in_both) * some(in_second - in_both)
        return all_subsets[:, None, None] * (one_item + two_items)

    def _body(self, positive: Flags, others: list[Flags], rng: np.random.Generator) -> list[int]:
        """Draw a body in the positive record and in none of the others, with chances alpha ** len."""
        # Items by the others that lack them: a body must hold, for every other, an item that it lacks.
        if not others:
            return self._union(rng, must=[positive], may=np.zeros_like(positive))
        if len(others) == 1:
            return self._union(rng, must=[positive & ~others[0]], may=positive & others[0])
        in_first, in_second = others
        neither = positive & ~in_first & ~in_second
        only_second, only_first = positive & ~in_first & in_second, positive & in_first & ~in_second
        both = positive & in_first & in_second
        log = np.log1p(self._alpha)
        none_of_neither = np.exp(-log * neither.sum())
        one_item = 1.0 - none_of_neither
        two_items = none_of_neither * np.expm1(-log * only_first.sum()) * np.expm1(-log * only_second.sum())
        if rng.random() * (one_item + two_items) < one_item:
            return self._union(rng, must=[neither], may=only_first | only_second | both)
        return self._union(rng, must=[only_first, only_second], may=both)

    def _union(self, rng: np.random.Generator, must: list[Flags], may: Flags) -> list[int]:
        """Draw a non-empty part of each of the `must` and any part of `may`, each item with odds alpha."""
        taken = may & (rng.random(may.size) < self._alpha / (1.0 + self._alpha))
        for pool in must:
            items = np.flatnonzero(pool)
            taken[items[nonempty_subsets(np.array([items.size]), self._alpha, rng)]] = True
        return [int(item) for item in np.flatnonzero(taken)]
