"""Draws that hold an item of every required column, and none that the label may not have.

The law is that of :mod:`diverse_rule_sets.learn.samplers` over the items that are left. Where columns are required, a
proposed body also takes, of each of them that it lacks, one item of the record that it was proposed from, each of them
as likely, before it is accepted or rejected.
"""

from __future__ import annotations

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Lists
from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn.samplers._rejection import RejectionSampler


class _RequiringSampler(RejectionSampler):
    """Draws bodies that hold an item of every required column.

    Parameters
    ----------
    backend, measure, length_odds, banned : as for :class:`RejectionSampler`
    constraints : its columns that are required
    """

    def __init__(
        self, backend: Backend, measure: str, length_odds: float, banned: Flags | None, constraints: Constraints
    ) -> None:
        super().__init__(backend, measure, length_odds, banned)
        self._constraints = constraints

    def _subsets(self, items: Lists, rng: np.random.Generator) -> tuple[Lists, Flags]:
        taken = super()._taken(items, rng)
        owners = np.repeat(np.arange(items.size), items.lengths)
        there = np.ones(items.size, np.bool_)
        for column in self._constraints.required:
            own = np.flatnonzero(self._constraints.columns[items.members] == column)
            lacks = np.ones(items.size, np.bool_)
            lacks[owners[own[taken[own]]]] = False
            # In a random order, the last item of a record is any of them with the same chance.
            offered = rng.permutation(own)
            pick = np.full(items.size, -1, np.int64)
            pick[owners[offered]] = offered
            taken[pick[lacks & (pick >= 0)]] = True
            there &= ~lacks | (pick >= 0)
        return items.keep_members(taken), there

    def _settle(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw no more: of records from which next to nothing is accepted, none is worth the listing."""
        return Lists.of([])


class ConstrainedSampler(RejectionSampler):
    """Draw bodies as a person asked for them.

    Parameters
    ----------
    backend, measure, length_odds : as for :class:`RejectionSampler`
    constraints : what bodies must and may hold
    """

    def __init__(self, backend: Backend, measure: str, length_odds: float, constraints: Constraints) -> None:
        super().__init__(backend, measure, length_odds)
        self._constraints = constraints
        self._by_label: dict[int, RejectionSampler] = {}

    def draw(self, label: int, n: int, covered: Cover, rng: np.random.Generator) -> Lists:
        """Draw n bodies for a label; fewer where the law has no mass, or next to none that can be found."""
        if label not in self._by_label:
            self._by_label[label] = self._sampler_of(label)
        return self._by_label[label].draw(label, n, covered, rng)

    def _sampler_of(self, label: int) -> RejectionSampler:
        """Return who draws for a label."""
        banned = None if self._constraints.banned is None else self._constraints.banned[label]
        if self._constraints.required:
            return _RequiringSampler(self._backend, self._measure, self._alpha, banned, self._constraints)
        return RejectionSampler(self._backend, self._measure, self._alpha, banned)
