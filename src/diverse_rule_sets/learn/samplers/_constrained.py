"""Drawing bodies that have an item of every required column, and no item that is banned for the label.

The distribution is that of :mod:`diverse_rule_sets.learn.samplers` over the items that are not banned. If columns are
required, a proposed body may lack some of them. Before it is accepted or rejected, it then gets one item of each such
column, drawn uniformly from the items of the record that the body was proposed from.
"""

from __future__ import annotations

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Lists
from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn.samplers._rejection import RejectionSampler


class _RequiredColumnsSampler(RejectionSampler):
    """Draws bodies that have an item of every required column.

    Parameters
    ----------
    backend, measure, length_odds, banned : as for :class:`RejectionSampler`
    constraints : has the required columns
    """

    def __init__(
        self, backend: Backend, measure: str, length_odds: float, banned: Flags | None, constraints: Constraints
    ) -> None:
        super().__init__(backend, measure, length_odds, banned)
        self._constraints = constraints

    def _draw_bodies(self, items: Lists, rng: np.random.Generator) -> tuple[Lists, Flags]:
        selected = self._draw_items(items, rng)
        owners = np.repeat(np.arange(items.size), items.lengths)
        possible = np.ones(items.size, np.bool_)
        for column in self._constraints.required:
            own = np.flatnonzero(self._constraints.columns[items.members] == column)
            lacks = np.ones(items.size, np.bool_)
            lacks[owners[own[selected[own]]]] = False
            # In a random order, the last item of each record is uniformly distributed among its items.
            shuffled = rng.permutation(own)
            pick = np.full(items.size, -1, np.int64)
            pick[owners[shuffled]] = shuffled
            selected[pick[lacks & (pick >= 0)]] = True
            possible &= ~lacks | (pick >= 0)
        return items.keep_members(selected), possible

    def _enumerate(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Return no bodies: with required columns there is no enumeration."""
        return Lists.of([])


class ConstrainedSampler(RejectionSampler):
    """Draws bodies within the constraints on rules.

    Parameters
    ----------
    backend, measure, length_odds : as for :class:`RejectionSampler`
    constraints : the constraints, on required columns and banned items
    """

    def __init__(self, backend: Backend, measure: str, length_odds: float, constraints: Constraints) -> None:
        super().__init__(backend, measure, length_odds)
        self._constraints = constraints
        self._by_label: dict[int, RejectionSampler] = {}

    def draw(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw n bodies for a label; fewer if no body has a positive probability or nearly all are rejected."""
        if label not in self._by_label:
            self._by_label[label] = self._make_sampler(label)
        return self._by_label[label].draw(label, n, covered, rng)

    def _make_sampler(self, label: int) -> RejectionSampler:
        """Return the sampler for a label."""
        banned = None if self._constraints.banned is None else self._constraints.banned[label]
        if self._constraints.required:
            return _RequiredColumnsSampler(self._backend, self._measure, self._alpha, banned, self._constraints)
        return RejectionSampler(self._backend, self._measure, self._alpha, banned)
