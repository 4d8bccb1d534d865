"""What the samplers share: the groups of records that bodies cover or exclude, and random subsets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets.data._backend import Backend, Cover

MEASURES = ("pairs", "triples")


def nonempty_subsets(sizes: Integers, alpha: float, rng: np.random.Generator) -> Flags:
    """Draw a non-empty subset of each of several sets, with probability proportional to alpha ** (its size).

    Parameters
    ----------
    sizes : array of set sizes, each at least 1
    alpha : odds of each member

    Returns
    -------
    flags of the selected members, the sets one after the other
    """
    log_not = -np.log1p(alpha)  # logarithm of the probability that a member is left out
    # The position of the first selected member has a truncated geometric distribution; later members are independent.
    first = (np.log1p(rng.random(sizes.size) * np.expm1(sizes * log_not)) / log_not).astype(np.int64)
    first = np.minimum(first, sizes - 1)
    ends = np.cumsum(sizes)
    position = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
    first = np.repeat(first, sizes)
    independent = rng.random(position.size) < alpha / (1.0 + alpha)
    return (position == first) | ((position > first) & independent)


class Part(NamedTuple):
    """Some records, and their number of positions: by weight, if they have weights."""

    cover: Cover
    size: int

    @classmethod
    def of(cls, backend: Backend, cover: Cover) -> Part:
        """Return the part of the records of a cover."""
        return cls(cover, backend.n_positions(cover))


class Parts(NamedTuple):
    """The records to cover, and groups of other records; a body must exclude a random record of each group."""

    positives: Part
    others: tuple[Part, ...]

    @classmethod
    def of(cls, backend: Backend, label: int, covered: Cover, measure: str) -> Parts:
        """Divide the records for a label; groups without records are left out."""
        own, everything = backend.of_class(label), backend.everything
        uncovered = backend.difference(own, covered)
        if measure == "pairs":
            groups = [backend.difference(everything, uncovered)]
        else:
            groups = [backend.difference(backend.difference(everything, own), covered), covered]
        positives, others = Part.of(backend, uncovered), [Part.of(backend, group) for group in groups]
        return cls(positives, tuple(part for part in others if part.size))
