"""Fallback rules for records that no rule covers: the rules without one or more of their conditions, in order.

A record that meets all but one condition of a rule is likely to be similar to the records of the rule. Every rule is
shortened in every way (long ones in all ways that drop few conditions). The shortened rules are ordered: those with the
fewest conditions dropped first, then those with the highest share of one class. Then they are pruned: one by one, the
fallback rule is dropped whose removal raises the log loss of the uncovered training records least, until each one left
lowers it enough and they are few enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn._constraints import UNCONSTRAINED, Constraints
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._measures import Measures

Floats = NDArray[np.float64]
# Shortened rules to thin out, and uncovered records to ask, at most: beyond that more change nothing.
_MAX_OFFERS = 400
_MAX_RECORDS = 5000
# A long rule is shortened no further than where there are more ways to do it than this.
_MAX_WAYS = 100
# Weighted log loss (nats, over all uncovered records) that a fallback must save.
_MIN_SAVED = 0.1


class Fallback(NamedTuple):
    """A shortened rule, with the classes of the training records that it is the first to answer for."""

    body: Body
    label: int
    class_counts: Integers


def find_fallbacks(
    backend: Backend,
    columns: Integers,
    measures: Measures,
    bodies: list[Body],
    covered: Cover,
    limits: Limits,
    max_fallbacks: int,
    constraints: Constraints = UNCONSTRAINED,
) -> list[Fallback]:
    """Return the fallbacks of some rules, in the order in which they are to be asked.

    Parameters
    ----------
    backend : the data
    columns : array (n_items,), the column of each item
    measures : how counts become shares
    bodies : the rules
    covered : what they cover
    limits : a fallback answers for at least as many training records as a rule must cover
    max_fallbacks : the most to return
    constraints : what was asked of rules, and so of fallbacks
    """
    uncovered = backend.difference(backend.everything, covered)
    left = backend.class_counts(uncovered)
    if max_fallbacks == 0 or not left.any():
        return []
    offers = _shortened(bodies, columns, constraints.required)
    if not offers:
        return []
    found = list(offers)
    class_counts = backend.class_counts_of(Lists.of(found), uncovered)
    shares = measures.shares(class_counts)
    reached = np.flatnonzero(class_counts.sum(axis=1) >= limits.min_support)
    if not constraints.is_empty:
        labels = shares.argmax(axis=1).tolist()
        reached = np.array([j for j in reached.tolist() if constraints.allows(found[j], labels[j])], np.int64)
    dropped = np.array([offers[body] for body in found])
    order = reached[np.lexsort((reached, -shares[reached].max(axis=1), dropped[reached]))][:_MAX_OFFERS]
    rest = measures.shares(left)
    kept = order[
        _thinned(backend, [found[j] for j in order.tolist()], shares[order], rest, measures, uncovered, max_fallbacks)
    ]
    bodies = [found[j] for j in kept.tolist()]
    return list(_answering(backend, measures, bodies, uncovered, limits.min_support, constraints))


def _shortened(bodies: list[Body], columns: Integers, required: tuple[int, ...] = ()) -> dict[Body, int]:
    """Return every rule less one or more of its conditions, and the fewest conditions dropped to get there.

    A condition on a required column is never dropped.
    """
    offers: dict[Body, int] = {}
    for body in bodies:
        used = {int(columns[item]) for item in body}
        spare = sorted(used - set(required))
        for n_dropped in range(1, min(len(spare), len(used) - 1) + 1):
            if math.comb(len(spare), n_dropped) > _MAX_WAYS:
                break
            for dropped in itertools.combinations(spare, n_dropped):
                shorter = tuple(item for item in body if columns[item] not in dropped)
                offers[shorter] = min(n_dropped, offers.get(shorter, n_dropped))
    for body in bodies:
        offers.pop(body, None)
    return offers


def _thinned(
    backend: Backend,
    bodies: list[Body],
    shares: Floats,
    rest: Floats,
    measures: Measures,
    uncovered: Cover,
    max_fallbacks: int,
) -> Integers:
    """Return which of the ordered bodies to keep, ascending."""
    n_records = int(backend.class_counts(uncovered).sum())
    records = np.arange(0, n_records, -(-n_records // _MAX_RECORDS))
    scaled = n_records / records.size
    holds = np.ones((len(bodies) + 1, records.size), np.bool_)  # the last one, the default, always holds
    holds[:-1] = backend.contain_all(Lists.of(bodies), uncovered, records)
    labels = backend.classes_at(uncovered, records)
    with np.errstate(divide="ignore"):
        losses = -np.log(np.maximum(np.vstack([shares, rest]), 1e-12))[:, labels] * (measures.weights[labels] * scaled)
    alive = np.ones(len(bodies) + 1, np.bool_)
    first, following = _first_two(holds)
    while alive[:-1].any():
        each = np.arange(records.size)
        answered = first < len(bodies)
        extra = losses[following[answered], each[answered]] - losses[first[answered], each[answered]]
        missed = np.bincount(first[answered], extra, minlength=len(bodies))
        missed[~alive[:-1]] = np.inf
        least = int(np.argmin(missed))
        if missed[least] > _MIN_SAVED and np.count_nonzero(alive[:-1]) <= max_fallbacks:
            break
        alive[least] = False
        holds[least] = False
        touched = np.flatnonzero((first == least) | (following == least))
        first[touched], following[touched] = _first_two(holds[:, touched])
    return np.flatnonzero(alive[:-1])


def _answering(
    backend: Backend,
    measures: Measures,
    bodies: list[Body],
    uncovered: Cover,
    min_support: int,
    constraints: Constraints,
) -> Iterator[Fallback]:
    """Give each body the classes of the records that reach it and that it covers.

    Left out are those of too few records, and those of whose label nobody may say so.
    """
    for body in bodies:
        cover = backend.cover(body)
        class_counts = backend.class_counts(backend.intersection(cover, uncovered))
        label = int(np.argmax(measures.shares(class_counts)))
        if class_counts.sum() >= min_support and constraints.allows(body, label):
            yield Fallback(body, label, class_counts)
            uncovered = backend.difference(uncovered, cover)


def _first_two(holds: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return for each column the first row that is set, and the next one; the last row always is."""
    first = np.argmax(holds, axis=0)
    others = holds.copy()
    others[first, np.arange(first.size)] = False
    others[-1] = True
    return first, np.argmax(others, axis=0)
