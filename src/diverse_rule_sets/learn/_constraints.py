"""Constraints on items: the given rules, and the items that learnt rules may and must have.

:mod:`~diverse_rule_sets.learn._constraint_input` translates the parameters of the user to these constraints. Samplers,
searches and fallback rules follow them.

The direction of a column is a constraint on single items: if rules may only require large values, every item with an
upper bound is banned, so no combination of items has an upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets.data._backend import Body, Cover


class GivenRule(NamedTuple):
    """A rule that the user gave; it is part of the rule set before the search begins."""

    label: int
    cover: Cover
    n_conditions: int


@dataclass(frozen=True, eq=False)
class Constraints:
    """The constraints on rules; none by default.

    Parameters
    ----------
    given : the given rules, in order; the other constraints do not apply to them
    columns : array (n_items,), the column of each item
    required : columns of which every learnt rule has an item
    banned : array (n_classes, n_items), the items that no rule of a label may have; None if all items are allowed
    """

    given: tuple[GivenRule, ...] = ()
    columns: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    required: tuple[int, ...] = ()
    banned: Flags | None = None

    @property
    def allow_all(self) -> bool:
        """Whether learnt rules may have any items; given rules do not matter here."""
        return not self.required and self.banned is None

    def has_required(self, body: Body) -> bool:
        """Return whether a body has an item of every required column."""
        return not self.required or set(self.required) <= set(self.columns[list(body)].tolist())

    def allow(self, body: Body, label: int) -> bool:
        """Return whether a rule with this body and label satisfies the constraints."""
        return self.has_required(body) and (self.banned is None or not self.banned[label, list(body)].any())

    def allow_added(self, body: Body, items: Integers, labels: Integers) -> Flags:
        """Return, for a body with each of some items added, whether it has no item that its label bans.

        Parameters
        ----------
        body : the body
        items : array (n,), the items to add, one at a time
        labels : array (n,), the label of the body with each item added
        """
        if self.banned is None:
            return np.ones(items.size, np.bool_)
        by_body: Flags = np.asarray(self.banned[:, list(body)].any(axis=1))
        return ~(self.banned[labels, items] | by_body[labels])

    def allow_extended(self, bodies: Sequence[Body], used: Flags, labels: Integers) -> Flags:
        """Return whether bodies with each item added and, last, the bodies themselves satisfy the constraints.

        Parameters
        ----------
        bodies : the bodies
        used : array (n_bodies, n_columns), the columns of which each body has an item
        labels : array (n_bodies, n_items + 1), the label of each body with each item added; the value is arbitrary
            for a body that is excluded for another reason
        """
        allowed = np.ones(labels.shape, np.bool_)
        if self.required:
            required = np.zeros(used.shape[1], np.bool_)
            required[list(self.required)] = True
            lacking = required & ~used
            n_lacking = lacking.sum(axis=1)[:, None]
            allowed[:, :-1] = n_lacking == lacking[:, self.columns]
            allowed[:, -1:] = n_lacking == 0
        if self.banned is not None:
            items = np.arange(labels.shape[1] - 1)
            for row, body, own in zip(allowed, bodies, labels, strict=True):
                row[:-1] &= self.allow_added(body, items, own[:-1])
                row[-1] &= not self.banned[own[-1], list(body)].any()
        return allowed

    def select_start(self, body: Body, max_items: int, max_conditions: int | None, rng: np.random.Generator) -> Body:
        """Return a random part of a body to start the local search from, with an item of every required column."""
        order = rng.permutation(body).tolist()
        column = {item: int(self.columns[item]) for item in order}
        item_of = {column[item]: item for item in order}
        start, used = {item_of[name] for name in self.required if name in item_of}, set(self.required)
        for item in order:
            fits = max_conditions is None or len(used | {column[item]}) <= max_conditions
            if fits and len(start) < max_items:
                start.add(item)
                used.add(column[item])
        return tuple(sorted(start))


UNCONSTRAINED = Constraints()
