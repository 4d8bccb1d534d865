"""The records that earlier rules cover, in all and by label, and which further rules the limits on overlap allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn._limits import Limits

# A function of some of the rules, by position, and a cover: how many records of the cover each of these rules covers.
CountShared = Callable[[Integers, Cover], Integers]
# A function of bodies, their labels and the class counts of the records that no earlier rule of the label covers.
AddsEnough = Callable[[Sequence[Body], Integers, Integers], Flags]

# The covers of so many possible changes are made before one is counted, so that a backend can count them together.
MADE_TOGETHER = 16


@dataclass(frozen=True, eq=False)
class CoveredRecords:
    """The records that earlier rules cover.

    Parameters
    ----------
    backend : the data
    records : the records that at least one rule covers
    by_label : the records that at least one rule of a label covers, by label; labels without rules are left out
    """

    backend: Backend
    records: Cover
    by_label: Mapping[int, Cover] = field(default_factory=dict)

    @classmethod
    def nothing(cls, backend: Backend) -> CoveredRecords:
        """Return the records that no rules cover: none."""
        return cls(backend, backend.nothing)

    def with_rule(self, label: int, cover: Cover) -> CoveredRecords:
        """Return the records that the earlier rules and one more rule cover."""
        union = self.backend.union
        own = union(self.by_label[label], cover) if label in self.by_label else cover
        return CoveredRecords(self.backend, union(self.records, cover), {**self.by_label, label: own})

    def by_others(self, label: int) -> Cover | None:
        """Return the records that rules of other labels cover; None if there are no such rules."""
        others = [cover for other, cover in self.by_label.items() if other != label]
        return reduce(self.backend.union, others) if others else None

    def allow(
        self,
        limits: Limits,
        sizes: Integers,
        shared: Integers,
        labels: Integers,
        count: CountShared,
        agreeing: Integers | None = None,
    ) -> Flags:
        """Return whether the overlap of each of several rules with the earlier rules is within the limits.

        Without limits by label, nothing more is counted. Otherwise, only rules that exceed a limit with all earlier
        rules together are counted by label.

        Parameters
        ----------
        limits : the limits
        sizes, shared, labels : arrays (n_rules,): the number of records of each rule, how many of them earlier rules
            cover, and its label
        count : counts the records that some of the rules share with a cover
        agreeing : array (n_rules,), how many records of each rule earlier rules of its label cover, if this is known
        """
        allowed = limits.allow_overlap(sizes, shared)
        if not limits.by_label:
            return allowed
        unclear = np.flatnonzero(allowed & (shared > min(limits.max_agreeing, limits.max_contradicting) * sizes))
        for label in np.unique(labels[unclear]).tolist():
            own = unclear[labels[unclear] == label]
            for cover, most, known in (
                (self.by_label.get(label), limits.max_agreeing, agreeing),
                (self.by_others(label), limits.max_contradicting, None),
            ):
                some = own[shared[own] > most * sizes[own]]
                if cover is not None and some.size:
                    known = shared if len(self.by_label) == 1 else known
                    n_shared = count(some, cover) if known is None else known[some]
                    allowed[some] &= n_shared <= most * sizes[some]
        return allowed

    def allow_bodies(
        self,
        limits: Limits,
        bodies: Lists,
        sizes: Integers,
        shared: Integers,
        labels: Integers,
        adds_enough: AddsEnough | None = None,
    ) -> Flags:
        """Return whether the overlap of rules with these bodies is within the limits; see :meth:`allow`.

        With limits by label, ``adds_enough`` must return True as well for a rule that overlaps rules of its label.
        """

        def count(some: Integers, cover: Cover) -> Integers:
            return self.backend.shared_counts(bodies.take(some), [cover])[:, 0]

        allowed = self.allow(limits, sizes, shared, labels, count)
        if limits.by_label and adds_enough is not None:
            for label, cover in self.by_label.items():
                own = np.flatnonzero(allowed & (labels == label) & (shared > 0))
                if not own.size:
                    continue
                some = bodies.take(own)
                added = self.backend.class_counts_of(some) - self.backend.class_counts_of(some, cover)
                allowed[own] = adds_enough(list(some.tuples()), labels[own], added)
        return allowed

    def added_by_extended(self, bodies: Sequence[Body], counts: Integers, labels: Integers) -> Integers:
        """Count the records, by class, that bodies with each item added add to earlier rules of their label.

        Parameters
        ----------
        bodies : the bodies
        counts : the counts of these bodies (:meth:`Backend.extension_counts`) with the records of the earlier rules
        labels : array (n_bodies, n_items + 1), the label of each body with each item added; -1 for those that are
            excluded for another reason

        Returns
        -------
        array (n_classes, n_bodies, n_items + 1)
        """
        added = counts[:-1].copy()
        for label, cover in self.by_label.items():
            own = (labels == label) & (counts[-1] > 0)
            groups = np.flatnonzero(own.any(axis=1))
            if groups.size:
                within = self.backend.extension_counts_within([bodies[k] for k in groups.tolist()], cover)
                added[:, groups] -= np.where(own[groups], within, 0)
        return added

    def allow_extended(
        self, limits: Limits, bodies: Sequence[Body], counts: Integers, agreeing: Integers, labels: Integers
    ) -> Flags:
        """Return whether the overlap of bodies with each item added is within the limits.

        Parameters
        ----------
        limits : the limits
        bodies, counts, labels : as for :meth:`added_by_extended`
        agreeing : array (n_bodies, n_items + 1), how many records earlier rules of the label cover
        """
        allowed = np.ones(labels.shape, np.bool_)
        wanted = np.flatnonzero(labels >= 0)
        groups, items = np.divmod(wanted, labels.shape[1])

        def count(some: Integers, cover: Cover) -> Integers:
            which, group = np.unique(groups[some], return_inverse=True)
            within = self.backend.extension_counts_within([bodies[k] for k in which.tolist()], cover)
            return np.asarray(within.sum(axis=0)[group, items[some]])

        sizes, shared, own, same = (
            array.reshape(-1)[wanted] for array in (counts[:-1].sum(axis=0), counts[-1], labels, agreeing)
        )
        allowed.reshape(-1)[wanted] = self.allow(limits, sizes, shared, own, count, same)
        return allowed

    def allow_cover(self, limits: Limits, label: int, cover: Cover) -> bool:
        """Return whether the overlap of a rule with this label and cover is within the limits."""
        size, shared = self.backend.sizes_within([cover, self.records], cover)[:, None]

        def count(_: Integers, other: Cover) -> Integers:
            return self.backend.sizes_within([other], cover)

        return bool(self.allow(limits, size, shared, np.array([label]), count)[0])


def within_overlap(
    limits: Limits, given: CoveredRecords, labels: Sequence[int], covers: Sequence[Cover], first: int = 0
) -> bool:
    """Return whether rules are within the limits on overlap with those before them.

    Parameters
    ----------
    limits : the limits
    given : the records that the given rules cover; the limits do not apply to these rules
    labels, covers : the learnt rules, in order
    first : the position of the first rule for which this is not known
    """
    return allow_all(limits, earlier_records(given, labels, covers, first))


def allow_all(limits: Limits, rules: Sequence[tuple[CoveredRecords, int, Cover, Cover]]) -> bool:
    """Return whether the overlap of each of several rules, from :func:`earlier_records`, is within the limits."""
    return all(before.allow_cover(limits, label, cover) for before, label, cover, _ in rules)


def earlier_records(
    given: CoveredRecords, labels: Sequence[int], covers: Sequence[Cover], first: int = 0
) -> list[tuple[CoveredRecords, int, Cover, Cover]]:
    """Return the records that earlier rules cover, label, cover and the records in both, for each rule from a first.

    All covers are made before one is counted, so that a backend can count them together.
    """
    found, before = [], given
    for number, (label, cover) in enumerate(zip(labels, covers, strict=True)):
        if number >= first:
            found.append((before, label, cover, given.backend.intersection(before.records, cover)))
        before = before.with_rule(label, cover)
    return found
