"""The rules of a set while the whole set is improved: changes of a few rules, and their gains in value.

A change replaces some rules by others, while all other rules stay as they are. The value of a set (:mod:`._value`)
counts all statements: each record is counted under the first rule that covers it, or under the default label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice
from typing import NamedTuple

import numpy as np

from diverse_rule_sets.data._backend import Body, Cover
from diverse_rule_sets.learn._covered import MADE_TOGETHER, CoveredRecords, within_overlap
from diverse_rule_sets.learn._selection import ChosenRules, FoundRules
from diverse_rule_sets.learn._splitting import rebuilt
from diverse_rule_sets.learn._value import Value

# What a record that no rule covers costs, in nats: its only reason is that no rule covers it.
UNCOVERED_PRICE = 1.0
_TOLERANCE = 1e-9
# How many changes are tried, the most promising first, until one is within the limits and raises the value.
_MAX_TRIED = 20


class Change(NamedTuple):
    """Rules to remove, by position, ascending, and the bodies that take the place of the first of them."""

    removed: tuple[int, ...]
    bodies: tuple[Body, ...]
    phase: str | None = None  # of the new bodies; None: that of the first removed rule


class _Decided(NamedTuple):
    """Rules in order, their covers, the records for which each decides, and those for which none does."""

    bodies: Sequence[Body]
    covers: Sequence[Cover]
    own: Sequence[Cover]
    left: Cover


class RuleSetSearch:
    """The rules of a set, which changes replace one after the other.

    Parameters
    ----------
    value : the value of rules, with the data, the limits and the constraints
    found : the rules
    given : the given rules, which are never changed
    """

    def __init__(self, value: Value, found: FoundRules, given: ChosenRules) -> None:
        self.value, self.backend, self.search = value, value.backend, value.local_search
        self.bodies = [step.body for step in found.learnt]
        self.phases = [step.phase for step in found.learnt]
        self.labels = [step.label for step in found.learnt]
        self.covers = [value.backend.cover(body) for body in self.bodies]
        self._found, self._n_given, self._given = found, given.n_given, given.earlier
        self._gains: dict[tuple[Body, int], float] = {}  # by body and records, which mostly repeat
        # By the positions of the rules that a change removes: the records that the other rules leave, for which of them
        # the removed rules decide, and the value of these rules on them.
        self._without: dict[tuple[int, ...], tuple[Cover, _Decided]] = {}
        self._values_before: dict[tuple[int, ...], float] = {}

    @property
    def n_rules(self) -> int:
        """Number of rules, given ones included."""
        return self._n_given + len(self.bodies)

    @property
    def covered(self) -> Cover:
        """The records that at least one rule covers."""
        return self.others(()).records

    def others(self, removed: Sequence[int]) -> CoveredRecords:
        """Return the records that the given rules and all rules except some cover."""
        covered = self._given
        for j, (label, cover) in enumerate(zip(self.labels, self.covers, strict=True)):
            if j not in removed:
                covered = covered.with_rule(label, cover)
        return covered

    def result(self, given: ChosenRules, n: int | None = None) -> FoundRules:
        """Return the rules, or the first ``n`` of them, with all their measures.

        ``given`` has the given rules alone, and the rules are added.
        """
        return rebuilt(self.backend, self.search, self.bodies[:n], self.phases[:n], self._found, given)

    def step(self, changes: Iterable[Change], forced: bool = False) -> bool:
        """Make the change with the largest gain that is within the limits; return whether there is one.

        The gain is estimated with the rules that stay counted first. The change is made if the value of the whole set
        rises. A forced step makes the change with the largest gain, even if it lowers the value. If the time ends, only
        the changes so far are compared.
        """
        self._without.clear()
        self._values_before.clear()
        least = -np.inf if forced else _TOLERANCE
        some = self.search.limits.deadline.until(enumerate(changes))
        estimates = self._estimates(some)
        promising = sorted((one for one in estimates if one[0] > least), key=lambda one: one[:2], reverse=True)
        before = self.total(self.bodies, self.covers)
        for _, _, change in promising[: None if forced else _MAX_TRIED]:
            bodies, kept = self._changed(change)
            covers = [self.backend.cover(body) if j is None else self.covers[j] for body, j in kept]
            if forced or self.total(bodies, covers) > before + _TOLERANCE:
                labels = self._allowed_labels(kept, covers)
                if labels is not None:
                    first = self.phases[change.removed[0]]
                    new = first if change.phase is None else change.phase
                    self.phases = [new if j is None else self.phases[j] for _, j in kept]
                    self.bodies, self.covers, self.labels = bodies, covers, labels
                    return True
        return False

    def _changed(self, change: Change) -> tuple[list[Body], list[tuple[Body, int | None]]]:
        """Return the bodies after a change, and each with the position of the rule that it was, None for new ones."""
        kept: list[tuple[Body, int | None]] = []
        for j, body in enumerate(self.bodies):
            if j == change.removed[0]:
                kept.extend((new, None) for new in change.bodies)
            if j not in change.removed:
                kept.append((body, j))
        return [body for body, _ in kept], kept

    def _allowed_labels(self, kept: Sequence[tuple[Body, int | None]], covers: Sequence[Cover]) -> list[int] | None:
        """Return the labels of the rules after a change; None if limits or constraints do not allow the change."""
        measures, labels = self.search.measures, []
        if len({self.backend.fingerprint(cover) for cover in covers}) < len(covers):
            return None  # no two rules cover the same records
        for (body, j), cover in zip(kept, covers, strict=True):
            if j is not None:
                labels.append(self.labels[j])
                continue
            counts = self.backend.class_counts(cover)
            label = int(np.argmax(measures.shares(counts)))
            if not measures.searched[label] or not self.search.constraints.allow(body, label):
                return None
            labels.append(label)
        return labels if within_overlap(self.search.limits, self._given, labels, covers) else None

    def _estimates(self, changes: Iterator[tuple[int, Change]]) -> list[tuple[float, int, Change]]:
        """Return the gain in value of changes if the rules that stay are counted first, with their negated numbers.

        The covers of several changes are made before one is counted, so that a backend can count them together.
        """
        found: list[tuple[float, int, Change]] = []
        while some := list(islice(changes, MADE_TOGETHER)):
            pairs = [self._decided_before_and_after(change) for _, change in some]
            for (before, after), (number, change) in zip(pairs, some, strict=True):
                if change.removed not in self._values_before:
                    self._values_before[change.removed] = self._value_of(before)
                value = self._value_of(after) - self._values_before[change.removed]
                found.append((value, -number, change))
        return found

    def _decided_before_and_after(self, change: Change) -> tuple[_Decided, _Decided]:
        """Return the records for which the rules of a change decide, before and after it."""
        if change.removed not in self._without:
            stay = (cover for j, cover in enumerate(self.covers) if j not in change.removed)
            left = self.backend.difference(
                self.backend.everything, reduce(self.backend.union, stay, self._given.records)
            )
            old = [self.bodies[j] for j in change.removed]
            before = self._decided(old, [self.covers[j] for j in change.removed], left)
            self._without[change.removed] = left, before
        left, before = self._without[change.removed]
        return before, self._decided(change.bodies, [self.backend.cover(body) for body in change.bodies], left)

    def total(self, bodies: Sequence[Body], covers: Sequence[Cover]) -> float:
        """Return the value of rules and of the default label: gains less prices."""
        left = self.backend.difference(self.backend.everything, self._given.records)
        return self._value_of(self._decided(bodies, covers, left))

    def _decided(self, bodies: Sequence[Body], covers: Sequence[Cover], left: Cover) -> _Decided:
        """Return the records of some for which each of several rules, in order, and the default label decide."""
        backend, own = self.backend, []
        for cover in covers:
            own.append(backend.intersection(cover, left))
            left = backend.difference(left, cover)
        return _Decided(bodies, covers, own, left)

    def _value_of(self, decided: _Decided) -> float:
        """Return the value of rules, in order, and of the default label on some records."""
        gain, by_label = 0.0, self.search.limits.by_label
        for body, cover, own in zip(decided.bodies, decided.covers, decided.own, strict=True):
            gain += self._gain(body, own, cover if by_label else None)
        left = decided.left
        gain += self._gain((), left) - UNCOVERED_PRICE * float(self.backend.class_counts(left).sum())
        return gain - self.value.price(decided.bodies)

    def _gain(self, body: Body, cover: Cover, of_rule: Cover | None = None) -> float:
        """Return the gain of a rule on some records; see :meth:`Value.gain`."""
        key = body, self.backend.fingerprint(cover)
        if key not in self._gains:
            self._gains[key] = self.value.gain(body, cover, of_rule)
        return self._gains[key]
