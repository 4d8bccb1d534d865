"""The parts of the data between which a sampler tells apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bitset import Integers, Words
from diverse_rule_sets.backends import LocalBackend

MEASURES = ("pairs", "triples")


class Parts(NamedTuple):
    """Record numbers: those to cover, and the groups of others, from each of which a body must escape one."""

    positives: Integers
    others: tuple[Integers, ...]

    @classmethod
    def of(cls, backend: LocalBackend, label: int, covered: Words, measure: str) -> Parts:
        """Split the records for a label; groups without records are left out, as they exclude nothing."""
        is_covered = backend.flags(covered)
        is_label = backend.y == label
        positive = is_label & ~is_covered
        groups = [~positive] if measure == "pairs" else [~is_label & ~is_covered, is_covered]
        found = (np.flatnonzero(group) for group in groups)
        return cls(np.flatnonzero(positive), tuple(group for group in found if group.size))
