"""What was asked of the rules, in items: which stand already, and what learnt ones may and must speak of.

The words of a person become this once, in :mod:`~diverse_rule_sets.learn._constraint_input`; samplers, searches and
fallbacks ask it.
A condition of the wrong direction is a matter of single items: of a rule that may only speak of large values
every item with an upper bound is banned, and so no two items can close an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets.data._backend import Body, Cover


class GivenRule(NamedTuple):
    """A rule that stands before the search begins."""

    label: int
    cover: Cover
    n_conditions: int


@dataclass(frozen=True, eq=False)
class Constraints:
    """What was asked of the rules; by default nothing.

    Parameters
    ----------
    given : rules that stand before the search begins, in order; nothing else here is asked of them
    columns : array (n_items,), the column of each item
    required : columns of which every learnt rule has an item
    banned : array (n_classes, n_items), the items that no rule of a label may have; None: any may
    """

    given: tuple[GivenRule, ...] = ()
    columns: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    required: tuple[int, ...] = ()
    banned: Flags | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether learnt rules may speak of whatever they like."""
        return not self.required and self.banned is None

    def complete(self, body: Body) -> bool:
        """Tell whether a body has an item of every required column."""
        return not self.required or set(self.required) <= set(self.columns[list(body)].tolist())

    def allows(self, body: Body, label: int) -> bool:
        """Tell whether a rule may be."""
        return self.complete(body) and (self.banned is None or not self.banned[label, list(body)].any())

    def allowed_with(self, body: Body, items: Integers, labels: Integers) -> Flags:
        """Tell of a body with each of some items added whether it may have its label."""
        if self.banned is None:
            return np.ones(items.size, np.bool_)
        by_body: Flags = np.asarray(self.banned[:, list(body)].any(axis=1))
        return ~(self.banned[labels, items] | by_body[labels])

    def allowed_around(self, bodies: Sequence[Body], used: Flags, labels: Integers) -> Flags:
        """Tell the same of bodies with each item added and, last, of the bodies themselves.

        Parameters
        ----------
        bodies : some bodies
        used : array (n_bodies, n_columns), the columns of which each has an item
        labels : array (n_bodies, n_items + 1), the label of each body with each item added; that of a body that is
            no rule may be any
        """
        allowed = np.ones(labels.shape, np.bool_)
        if self.required:
            needed = np.zeros(used.shape[1], np.bool_)
            needed[list(self.required)] = True
            lacking = needed & ~used
            n_lacking = lacking.sum(axis=1)[:, None]
            allowed[:, :-1] = n_lacking == lacking[:, self.columns]
            allowed[:, -1:] = n_lacking == 0
        if self.banned is not None:
            items = np.arange(labels.shape[1] - 1)
            for row, body, own in zip(allowed, bodies, labels, strict=True):
                row[:-1] &= self.allowed_with(body, items, own[:-1])
                row[-1] &= not self.banned[own[-1], list(body)].any()
        return allowed

    def start(self, body: Body, max_items: int, max_conditions: int | None, rng: np.random.Generator) -> Body:
        """Return a body to begin from: some items of the body, one of every required column among them."""
        order = rng.permutation(body).tolist()
        column = {item: int(self.columns[item]) for item in order}
        first = {column[item]: item for item in order}
        must = [first[name] for name in self.required if name in first]
        kept, used = set(must), set(self.required)
        for item in order:
            fits = max_conditions is None or len(used | {column[item]}) <= max_conditions
            if fits and len(kept) < max_items:
                kept.add(item)
                used.add(column[item])
        return tuple(sorted(kept))


UNCONSTRAINED = Constraints()
