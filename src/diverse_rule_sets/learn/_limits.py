"""The limits on rule sets, which both searches share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.learn._deadline import NO_DEADLINE, Deadline

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
# What a rule must be worth for each record of the table, in nats: on large tables the evidence for very small rules is
# strong, but they are not worth reading.
READING_PRICE = 0.002


class Limits(NamedTuple):
    """The limits on every rule set that a search returns.

    Parameters
    ----------
    max_rules : largest number of rules
    max_conditions : largest number of conditions of a rule; None for no limit
    max_overlap : largest share of the records of a rule that earlier rules may cover
    max_agreeing, max_contradicting : largest share that earlier rules of its label, and of other labels, may cover
    min_support : smallest number of records that a rule covers
    min_recall_gain : the first pass adds a rule only if it newly covers more than this share of its class
    deadline : when the search ends
    """

    max_rules: int
    max_conditions: int | None = None
    max_overlap: float = 1.0
    min_support: int = 1
    min_recall_gain: float = 0.0
    max_agreeing: float = 1.0
    max_contradicting: float = 1.0
    deadline: Deadline = NO_DEADLINE

    @property
    def by_label(self) -> bool:
        """Whether the limit on overlap depends on the labels of the rules."""
        return self.max_agreeing < 1 or self.max_contradicting < 1

    @property
    def limit_overlap(self) -> bool:
        """Whether there is any limit on overlap."""
        return self.max_overlap < 1 or self.by_label

    def allow(self, n_conditions: Integers | int, sizes: Integers, shared: Integers) -> Flags:
        """Return whether each rule is within the limits on single rules.

        Parameters
        ----------
        n_conditions : number of conditions of each rule
        sizes : number of records that each rule covers
        shared : how many of these records earlier rules cover
        """
        allowed = (sizes >= self.min_support) & self.allow_overlap(sizes, shared)
        return allowed if self.max_conditions is None else allowed & (np.asarray(n_conditions) <= self.max_conditions)

    def allow_overlap(self, sizes: Integers, shared: Integers) -> Flags:
        """Return whether the overlap of each rule with all earlier rules together is within ``max_overlap``."""
        return np.asarray(shared <= self.max_overlap * sizes)
