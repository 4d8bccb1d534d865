"""Growing rules at the end, so that they cover records that no rule covers yet, where they are right.

A rule grows if one of its conditions or items is dropped, or an item is replaced by a wider one of the same column,
such as ``age > 60`` by ``age > 50``. The records that it newly covers must mostly be of its label, by weight, and the
limit on overlap holds for all rules afterwards. Steps that drop a condition are made first, then those with the largest
gain. The rules do not become longer, and there are no more of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn._covered import MADE_TOGETHER, CoveredRecords, allow_all, earlier_records
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._selection import GROWTH, ChosenRules, FoundRules, OnChoice
from diverse_rule_sets.learn._splitting import rebuilt

# Items of the same column that hold for more records than an item, by item, nearest first.
WiderItems = Mapping[int, Sequence[int]]
NONE_WIDER: WiderItems = {}


class _Growth(NamedTuple):
    """A rule, its new body and length, and the weight of its label less that of all others among the new records."""

    n_conditions: int
    gain: float
    rule: int
    body: Body


def grow(
    backend: Backend,
    local_search: LocalSearch,
    found: FoundRules,
    wider: WiderItems,
    on_choice: OnChoice,
    given: ChosenRules,
) -> FoundRules:
    """Return the rules after growth.

    Without a limit on overlap, the rules are returned unchanged if growth would lower the objective: then at least half
    of the best objective stays guaranteed.

    Parameters
    ----------
    backend : the data
    local_search : has the limits, the measures and the constraints
    found : the rules
    wider : items of the same column that hold for more records, by item
    on_choice : called after each step
    given : the given rules, which do not grow
    """
    deadline = local_search.limits.deadline
    if deadline.passed():
        return found
    rules = _Rules(backend, local_search, found, given, wider)
    while not deadline.passed() and rules.step():
        on_choice(GROWTH, given.n_given + len(rules.bodies), rules.covered)
    bodies, phases = rules.bodies, [step.phase for step in found.learnt]
    if bodies == [step.body for step in found.learnt]:
        return found
    bodies = [local_search.without_redundant_items(body) for body in bodies]
    grown = rebuilt(backend, local_search, bodies, phases, found, given)
    return found if not local_search.limits.limit_overlap and grown.objective < found.objective else grown


class _Rules:
    """The rules while they grow."""

    def __init__(
        self,
        backend: Backend,
        local_search: LocalSearch,
        found: FoundRules,
        given: ChosenRules,
        wider: WiderItems,
    ) -> None:
        self._backend, self._search, self._wider = backend, local_search, wider
        self.bodies = [step.body for step in found.learnt]
        self._labels = [step.label for step in found.learnt]
        self._given = given.earlier
        self._covers = [backend.cover(body) for body in self.bodies]

    @property
    def covered(self) -> Cover:
        """The records that at least one rule covers."""
        return reduce(self._backend.union, self._covers, self._given.records)

    def step(self) -> bool:
        """Make a step, if possible one that drops a condition, with the largest gain; return whether there is one."""
        uncovered = self._backend.difference(self._backend.everything, self.covered)
        if not self._backend.class_counts(uncovered).any():
            return False
        steps = self._steps(uncovered)
        lengths = [self._search.n_conditions(body) for body in self.bodies]
        steps.sort(key=lambda one: (one.n_conditions - lengths[one.rule], -one.gain, one.rule, one.body))
        for begin in range(0, len(steps), MADE_TOGETHER):
            some = steps[begin : begin + MADE_TOGETHER]
            for step, (cover, rules) in zip(some, list(map(self._after, some)), strict=True):
                if allow_all(self._search.limits, rules):
                    self.bodies[step.rule], self._covers[step.rule] = step.body, cover
                    return True
        return False

    def _after(self, step: _Growth) -> tuple[Cover, list[tuple[CoveredRecords, int, Cover, Cover]]]:
        """Return the new cover of a rule, and what the limits on overlap depend on from this rule on."""
        j, cover = step.rule, self._backend.cover(step.body)
        covers = [*self._covers[:j], cover, *self._covers[j + 1 :]]
        return cover, earlier_records(self._given, self._labels, covers, j)

    def _steps(self, uncovered: Cover) -> list[_Growth]:
        """Return the steps of all rules, which are counted together."""
        wider = [self._wider_bodies(j) for j in range(len(self.bodies))]
        lists = Lists.of([body for bodies in wider for body in bodies])
        if not lists.size:
            return []
        new, every = self._backend.class_counts_of(lists, uncovered), self._backend.class_counts_of(lists)
        ends = np.cumsum([len(bodies) for bodies in wider])[:-1]
        parts = zip(wider, np.split(new, ends), np.split(every, ends), strict=True)
        return [one for j, part in enumerate(parts) for one in self._steps_of(j, *part)]

    def _steps_of(self, j: int, bodies: list[Body], new: Integers, every: Integers) -> list[_Growth]:
        """Return the steps of a rule that are right for the records that are newly covered.

        Parameters
        ----------
        j : the rule
        bodies : its body with something dropped or widened
        new, every : arrays (n_bodies, n_classes), the newly covered and all records of these bodies
        """
        measures, label = self._search.measures, self._labels[j]
        if not bodies:
            return []
        weights = new * np.where(measures.searched, measures.weights, 0.0)
        gains = 2 * weights[:, label] - weights.sum(axis=1)
        right = (gains > 0) & (measures.shares(new).argmax(axis=1) == label)
        # With the records that other rules cover too: the label of a rule stays, and with it what is allowed for it.
        right &= measures.shares(every).argmax(axis=1) == label
        length = self._search.n_conditions
        return [
            _Growth(length(bodies[k]), round(float(gains[k]), 9), j, bodies[k]) for k in np.flatnonzero(right).tolist()
        ]

    def _wider_bodies(self, j: int) -> list[Body]:
        """Return the body of a rule with something dropped or widened, as the constraints allow."""
        body, constraints, columns = self.bodies[j], self._search.constraints, self._search.columns
        found: dict[Body, None] = {}
        for item in body:
            rest = tuple(other for other in body if other != item)
            without_column = tuple(other for other in body if columns[other] != columns[item])
            found.update(dict.fromkeys(shorter for shorter in (rest, without_column) if shorter))
            found.update(dict.fromkeys(tuple(sorted({*rest, other})) for other in self._wider.get(item, ())))
        return [wider for wider in found if constraints.allow(wider, self._labels[j])]
