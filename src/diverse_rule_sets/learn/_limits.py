"""The limits that no rule set exceeds, whatever the search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Limits(NamedTuple):
    """What holds of every rule set that is returned.

    Parameters
    ----------
    max_rules : the most rules
    max_conditions : the most conditions of a rule; None: any number
    max_overlap : the largest share of a rule's records that the rules before it may cover
    min_support : the fewest records of a rule
    min_recall_gain : the first pass adds a rule only if it newly covers more than this share of its class
    """

    max_rules: int
    max_conditions: int | None = None
    max_overlap: float = 1.0
    min_support: int = 1
    min_recall_gain: float = 0.0

    def allow(self, n_conditions: Integers | int, sizes: Integers, shared: Integers) -> Flags:
        """Tell which rules keep within the limits.

        Parameters
        ----------
        n_conditions : conditions of each rule
        sizes : records that each covers
        shared : how many of them the rules before it cover
        """
        kept = (sizes >= self.min_support) & self.allow_overlap(sizes, shared)
        return kept if self.max_conditions is None else kept & (np.asarray(n_conditions) <= self.max_conditions)

    def allow_overlap(self, sizes: Integers, shared: Integers) -> Flags:
        """Tell which rules share no more than they may."""
        return np.asarray(shared <= self.max_overlap * sizes)
