"""The sampler that lists all pairs or triples of distinct records: a corrected version of the paper's Algorithm 1.

Algorithm 1 of the paper draws a non-empty subset of the items of x+ that are in neither x- nor xu. It never returns a
body that excludes x- by one item and xu by another, although Eq. 7 counts such bodies. Here the weight of a triple is
the total weight of all bodies that are contained in x+ and in neither of the others:
``a**|x+| - a**|x+ & x-| - a**|x+ & xu| + a**|x+ & x- & xu|`` with a = 1 + alpha.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Cover, TooManyRecordsError
from diverse_rule_sets.learn.samplers._parts import Part, Parts, nonempty_subsets

Floats = NDArray[np.float64]

# Largest number of pairs or triples to list.
MAX_TUPLES = 4_000_000
# Largest number of distinct records times items to store, and of all records times items to find the distinct ones.
_MAX_CELLS = 20_000_000
_MAX_BITS = 500_000_000
_ADVICE = 'method="enumeration" is for small tables; use method="rejection"'


class TooManyTuplesError(ValueError):
    """Raised if there are too many pairs or triples of distinct records to list."""


class EnumerationSampler:
    """Draws bodies by enumeration; parameters as for ``RejectionSampler``."""

    def __init__(
        self, backend: Backend, measure: str = "pairs", length_odds: float = 1.0, banned: Flags | None = None
    ) -> None:
        self._backend = backend
        self._measure = measure
        self._alpha = length_odds
        self._banned = banned

    def draw(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw n bodies for a label; none if no body has a positive probability."""
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
        numbers = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
        tuples = zip(*np.unravel_index(numbers, weights.shape), strict=True)
        return Lists.of(
            self._draw_body(positives[p], [g[o] for g, o in zip(rows, other, strict=True)], rng) for p, *other in tuples
        )

    def _distinct(self, part: Part) -> tuple[Flags, Integers]:
        """Return the distinct records as rows of flags over the items, and how often each occurs."""
        n_records, n_items = self._backend.n_records, self._backend.n_items
        if n_records * n_items > _MAX_BITS:
            raise TooManyTuplesError(
                f"{n_records:,} records x {n_items:,} items are too many to find the distinct records; {_ADVICE}"
            )
        try:
            items, counts = self._backend.distinct(part.cover, _MAX_CELLS // max(n_items, 1))
        except TooManyRecordsError as error:
            raise TooManyTuplesError(f"{error}; {_ADVICE}") from None
        if self._banned is not None:
            items[:, self._banned] = False
        return items, counts

    def _weights(self, positives: Flags, groups: list[Flags]) -> Floats:
        """Return the sum of ``alpha ** len(r)`` over the bodies r of each tuple, up to a common factor.

        The terms are products of numbers that are never negative, so that a tuple without bodies has weight exactly 0.
        """
        x = positives.astype(np.float64)
        sizes = x.sum(axis=1)
        log = np.log1p(self._alpha)

        def nonempty_share(n_items: Floats) -> Floats:
            """Return the share of the non-empty subsets in the weight of all subsets of so many items."""
            return -np.expm1(-log * n_items)

        all_subsets = np.exp((sizes - sizes.max()) * log)
        if not groups:
            return all_subsets * nonempty_share(sizes)
        in_first = x @ groups[0].T.astype(np.float64)
        if len(groups) == 1:
            return all_subsets[:, None] * nonempty_share(sizes[:, None] - in_first)
        in_second = (x @ groups[1].T.astype(np.float64))[:, None, :]
        in_both = np.stack([(groups[0] & one) @ groups[1].T.astype(np.float64) for one in positives])
        in_first = in_first[:, :, None]
        one_item = nonempty_share(sizes[:, None, None] - in_first - in_second + in_both)
        two_items = (1.0 - one_item) * nonempty_share(in_first - in_both) * nonempty_share(in_second - in_both)
        return all_subsets[:, None, None] * (one_item + two_items)

    def _draw_body(self, positive: Flags, others: list[Flags], rng: np.random.Generator) -> list[int]:
        """Draw a body in the positive record and in none of the others, with weight alpha ** len."""
        # Group the items by the others that lack them: for every other, a body must have an item that it lacks.
        if not others:
            return self._draw_union(rng, must=[positive], may=np.zeros_like(positive))
        if len(others) == 1:
            return self._draw_union(rng, must=[positive & ~others[0]], may=positive & others[0])
        in_first, in_second = others
        neither = positive & ~in_first & ~in_second
        only_second, only_first = positive & ~in_first & in_second, positive & in_first & ~in_second
        both = positive & in_first & in_second
        log = np.log1p(self._alpha)
        none_of_neither = np.exp(-log * neither.sum())
        one_item = 1.0 - none_of_neither  # one item suffices to exclude both
        two_items = none_of_neither * np.expm1(-log * only_first.sum()) * np.expm1(-log * only_second.sum())
        if rng.random() * (one_item + two_items) < one_item:
            return self._draw_union(rng, must=[neither], may=only_first | only_second | both)
        return self._draw_union(rng, must=[only_first, only_second], may=both)

    def _draw_union(self, rng: np.random.Generator, must: list[Flags], may: Flags) -> list[int]:
        """Draw a non-empty subset of each set in `must` and any subset of `may`, each item with odds alpha."""
        selected = may & (rng.random(may.size) < self._alpha / (1.0 + self._alpha))
        for group in must:
            items = np.flatnonzero(group)
            selected[items[nonempty_subsets(np.array([items.size]), self._alpha, rng)]] = True
        return [int(item) for item in np.flatnonzero(selected)]
