"""Fewer rules at the end: rules of one label are merged, and rules that are not worth their price are dropped.

Two rules are merged into the rule with the conditions that hold for the records of both: of two bounds on one side the
wider one, and only conditions that both have. ``points <= 9`` and ``10 <= points <= 13`` become ``points <= 13``. A
rule is dropped if the records that it covers are predicted about as well by the default label. Both must raise the
value of the rule set (:mod:`._value`), and the limits on rules hold afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import reduce

import numpy as np

from diverse_rule_sets.data._backend import Body, Cover
from diverse_rule_sets.learn._covered import within_overlap
from diverse_rule_sets.learn._growth import WiderItems
from diverse_rule_sets.learn._selection import MERGING, ChosenRules, FoundRules, OnChoice
from diverse_rule_sets.learn._splitting import rebuilt
from diverse_rule_sets.learn._value import Value

# What a record that no rule covers costs, in nats: its only reason is that no rule covers it.
_UNCOVERED_PRICE = 1.0
_TOLERANCE = 1e-9


def merge(value: Value, found: FoundRules, wider: WiderItems, on_choice: OnChoice, given: ChosenRules) -> FoundRules:
    """Return the rules after merging and dropping as long as this raises their value, the largest gain first.

    Without a limit on overlap the rules are returned unchanged: then at least half of the best objective of as many
    rules is guaranteed.

    Parameters
    ----------
    value : the value of rules, with the data and the limits
    found : the rules
    wider : items of the same column that hold for more records, by item
    on_choice : called after each step
    given : the given rules, which are neither merged nor dropped
    """
    if not value.local_search.limits.limit_overlap:
        return found
    rules = _Rules(value, found, given, wider)
    while rules.step():
        on_choice(MERGING, given.n_given + len(rules.bodies), rules.covered)
    if len(rules.bodies) == len(found.learnt):
        return found
    return rebuilt(value.backend, value.local_search, rules.bodies, rules.phases, found, given)


class _Rules:
    """The rules while they are merged."""

    def __init__(self, value: Value, found: FoundRules, given: ChosenRules, wider: WiderItems) -> None:
        self._value, self._backend, self._wider = value, value.backend, {item: set(w) for item, w in wider.items()}
        self.bodies = [step.body for step in found.learnt]
        self.phases = [step.phase for step in found.learnt]
        self._labels = [step.label for step in found.learnt]
        self._given = given.earlier
        self._covers = [value.backend.cover(body) for body in self.bodies]
        self._gains: dict[tuple[Body, int], float] = {}  # by body and records, which mostly repeat

    @property
    def covered(self) -> Cover:
        """The records that at least one rule covers."""
        return reduce(self._backend.union, self._covers, self._given.records)

    def step(self) -> bool:
        """Make the step with the largest gain; return whether there is one."""
        before = self._total(self.bodies, self._covers)
        best: tuple[float, list[Body], list[int]] | None = None
        for bodies, kept in [*self._dropped(), *self._merged()]:
            covers = [
                self._covers[j] if body == self.bodies[j] else self._backend.cover(body)
                for body, j in zip(bodies, kept, strict=True)
            ]
            gain = self._total(bodies, covers) - before
            if gain > (_TOLERANCE if best is None else best[0]) and self._allowed(bodies, covers, kept):
                best = gain, bodies, kept
        if best is None:
            return False
        _, self.bodies, kept = best
        self.phases = [self.phases[j] for j in kept]
        self._labels = [self._labels[j] for j in kept]
        self._covers = [self._backend.cover(body) for body in self.bodies]
        return True

    def _dropped(self) -> list[tuple[list[Body], list[int]]]:
        """Return the rules without each one, and the positions of the others."""
        everything = range(len(self.bodies))
        return [([self.bodies[k] for k in everything if k != j], [k for k in everything if k != j]) for j in everything]

    def _merged(self) -> list[tuple[list[Body], list[int]]]:
        """Return the rules with two of one label merged, and the positions of the rules that remain."""
        found = []
        for i, j in itertools.combinations(range(len(self.bodies)), 2):
            if self._labels[i] == self._labels[j]:
                hull = self._hull(self.bodies[i], self.bodies[j])
                if hull is not None:
                    kept = [k for k in range(len(self.bodies)) if k != j]
                    found.append(([hull if k == i else self.bodies[k] for k in kept], kept))
        return found

    def _hull(self, one: Body, other: Body) -> Body | None:
        """Return the items that both bodies have, and of two bounds on one side the wider one; None without any."""
        items = {
            item
            for a, b in ((one, other), (other, one))
            for item in a
            if any(item == same or item in self._wider.get(same, ()) for same in b)
        }
        return tuple(sorted(items)) or None

    def _allowed(self, bodies: Sequence[Body], covers: Sequence[Cover], kept: Sequence[int]) -> bool:
        """Return whether changed rules keep their label, and all rules the constraints and the limit on overlap."""
        search, labels = self._value.local_search, [self._labels[j] for j in kept]
        for body, cover, j, label in zip(bodies, covers, kept, labels, strict=True):
            if body != self.bodies[j]:
                counts = self._backend.class_counts(cover)
                if int(np.argmax(search.measures.shares(counts))) != label or not search.constraints.allow(body, label):
                    return False
        if len({self._backend.fingerprint(cover) for cover in covers}) < len(covers):
            return False  # rules of one label may overlap, but no two rules cover the same records
        return within_overlap(search.limits, self._given, labels, covers)

    def _total(self, bodies: Sequence[Body], covers: Sequence[Cover]) -> float:
        """Return the value of rules and of the default label: gains less prices."""
        backend, left = self._backend, self._backend.difference(self._backend.everything, self._given.records)
        gain, by_label = 0.0, self._value.local_search.limits.by_label
        for body, cover in zip(bodies, covers, strict=True):
            gain += self._gain(body, backend.intersection(cover, left), cover if by_label else None)
            left = backend.difference(left, cover)
        gain += self._gain((), left) - _UNCOVERED_PRICE * float(backend.class_counts(left).sum())
        return gain - self._value.price(bodies)

    def _gain(self, body: Body, cover: Cover, of_rule: Cover | None = None) -> float:
        """Return the gain of a rule on some records; see :meth:`Value.gain`."""
        key = body, self._backend.fingerprint(cover)
        if key not in self._gains:
            self._gains[key] = self._value.gain(body, cover, of_rule)
        return self._gains[key]
