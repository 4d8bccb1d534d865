"""Boxes: pieces of some columns that a record can be moved to, around the nearest combination that gives a label."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.model._axes import MISSING, Axis, Codes
from diverse_rule_sets.model._conditions import Condition

# Number of combinations of pieces that are tried for one box.
_MAX_CELLS = 64
Distances = list[NDArray[np.float64]]


@dataclass(frozen=True)
class Box:
    """Pieces of some columns that a record can be moved to.

    Parameters
    ----------
    record, label : the record, and the label that the move gives or is intended to give
    axes, pieces : the columns, and the pieces of each
    conditions : the conditions that hold in these pieces
    distance : the distance to the nearest of them
    rule : the rule that covers the moved record but does not decide; None if the move gives the label
    """

    record: int
    label: int
    axes: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...]
    conditions: tuple[Condition, ...]
    distance: float
    rule: int | None = None

    @property
    def order(self) -> tuple[bool, bool, int, float]:
        """The sort key: sufficient moves first, then those to present values, of fewer columns, and the nearest."""
        return self.rule is not None, self.distance >= MISSING, len(self.axes), self.distance


@dataclass(frozen=True)
class Target:
    """Columns of a record to change, and the pieces to try.

    Parameters
    ----------
    record, label : the record, and the label that the change is intended to give
    rule : the rule with this label that is intended to cover the changed record; None if any rule may decide
    axes : the columns
    conditions : for each column the condition of the rule that fails; None if the rule has none on it
    pieces, distances : the pieces of each column to try, the intended one first, and their distances
    """

    record: int
    label: int
    rule: int | None
    axes: tuple[int, ...]
    conditions: tuple[Condition | None, ...]
    pieces: tuple[Codes, ...]
    distances: tuple[NDArray[np.float64], ...]

    @property
    def order(self) -> tuple[bool, int, float]:
        """The sort key: targets with present values first, then those with fewer columns, and the nearest."""
        length = float(sum(some[0] for some in self.distances))
        return length >= MISSING, len(self.axes), length

    def restrict(self) -> Target:
        """Return the target with the first pieces only, so few that all their combinations can be tried."""
        sizes = [len(pieces) for pieces in self.pieces]
        while math.prod(sizes) > _MAX_CELLS:
            largest = sizes.index(max(sizes))
            sizes[largest] = (sizes[largest] + 1) // 2
        pieces = [some[:size] for some, size in zip(self.pieces, sizes, strict=True)]
        distances = [some[:size] for some, size in zip(self.distances, sizes, strict=True)]
        return replace(self, pieces=tuple(pieces), distances=tuple(distances))

    def box(self, axes: Sequence[Axis], gives: NDArray[np.bool_], covered: NDArray[np.bool_], whole: Target) -> Box:
        """Return the pieces around the nearest combination that gives the label; if none does, that the rule covers.

        Parameters
        ----------
        axes : the columns of the table
        gives : whether each combination of the pieces gives the label
        covered : whether the rule covers the record that is moved to each combination
        whole : the target before it was restricted
        """
        distances = np.asarray(sum(np.ix_(*self.distances)))
        sufficient = bool((gives & (distances < math.inf)).any())
        good = gives if sufficient else ~gives & covered
        start = np.unravel_index(int(np.where(good, distances, math.inf).argmin()), good.shape)
        chosen = [[int(k)] for k in start]
        pieces: list[tuple[int, ...]] = []
        conditions: list[Condition] = []
        for n, a in enumerate(self.axes):
            slices = np.moveaxis(good, n, 0)[np.ix_(range(good.shape[n]), *chosen[:n], *chosen[n + 1 :])]
            index = {int(p): k for k, p in enumerate(self.pieces[n]) if slices[k].all()}
            pieces.append(axes[a].expand(int(self.pieces[n][chosen[n][0]]), index))
            chosen[n] = [index[p] for p in pieces[-1]]
            own, all_pieces = self.conditions[n], len(pieces[-1]) == len(whole.pieces[n])
            keep = own is not None and all_pieces and not own.excludes
            conditions.append(own if own is not None and keep else axes[a].condition(pieces[-1]))
        length, rule = float(distances[start]), None if sufficient else self.rule
        return Box(self.record, self.label, self.axes, tuple(pieces), tuple(conditions), length, rule)


def moved_to(codes: Codes, axes: Sequence[int], pieces: Sequence[Sequence[int] | Codes]) -> Codes:
    """Return the pieces of a record that is moved to every combination of some pieces, a row each."""
    grid = np.array(list(itertools.product(*pieces)), np.int64)
    moved = np.repeat(codes[None], len(grid), axis=0)
    moved[:, list(axes)] = grid
    return moved
