"""Fallback rules for records that no rule covers: the rules without one or more of their conditions, in order.

A record that satisfies all but one condition of a rule is likely to be similar to the records of the rule. Every rule
is shortened in every way (long rules in all ways that drop few conditions); a condition on points is also widened, such
as ``points >= 6`` to ``points >= 4``, which counts as one condition dropped. The shortened rules are ordered: those
with the fewest conditions dropped first, then those with the highest share of one class. Then they are pruned: one by
one, the fallback rule is dropped whose removal raises the log loss of the uncovered training records least, until each
one left lowers it enough and there are not too many.
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
from diverse_rule_sets.learn._growth import NONE_WIDER, WiderItems
from diverse_rule_sets.learn._limits import READING_PRICE, Limits
from diverse_rule_sets.learn._measures import Measures

Floats = NDArray[np.float64]
# Largest numbers of shortened rules to prune, and of uncovered records for the log loss; more do not change the result.
_MAX_SHORTENED = 400
_MAX_RECORDS = 5000
# Rules are shortened by n conditions only if there are at most this many ways to do so.
_MAX_COMBINATIONS = 100
# Weighted log loss (nats, over all uncovered records) that a fallback rule must save: one that saves less is mostly
# found by chance. On large tables it must be worth reading, like any rule.
_MIN_LOSS_SAVED = 3.0


class Fallback(NamedTuple):
    """A fallback rule by items, with the class counts of the training records for which it decides."""

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
    wider: WiderItems = NONE_WIDER,
) -> list[Fallback]:
    """Return the fallback rules, in order: the first one that covers a record decides.

    Parameters
    ----------
    backend : the data
    columns : array (n_items,), the column of each item
    measures : gives the class shares of rules
    bodies : the bodies of the rules
    covered : the records that the rules cover
    limits : a fallback rule decides for at least ``limits.min_support`` training records; without time left there are
        no fallback rules
    max_fallbacks : largest number of fallback rules
    constraints : the constraints on rules, which apply to fallback rules too
    wider : items that may replace an item, by item
    """
    uncovered = backend.difference(backend.everything, covered)
    uncovered_counts = backend.class_counts(uncovered)
    if max_fallbacks == 0 or not uncovered_counts.any() or limits.deadline.passed():
        return []
    n_dropped = _shorten(bodies, columns, constraints.required, wider)
    if not n_dropped:
        return []
    shortened = list(n_dropped)
    class_counts = backend.class_counts_of(Lists.of(shortened), uncovered)
    shares = measures.shares(class_counts)
    eligible = np.flatnonzero(class_counts.sum(axis=1) >= limits.min_support)
    if not constraints.allow_all:
        labels = shares.argmax(axis=1).tolist()
        eligible = np.array([j for j in eligible.tolist() if constraints.allow(shortened[j], labels[j])], np.int64)
    dropped = np.array([n_dropped[body] for body in shortened])
    order = eligible[np.lexsort((eligible, -shares[eligible].max(axis=1), dropped[eligible]))][:_MAX_SHORTENED]
    candidates = [shortened[j] for j in order.tolist()]
    default_shares = measures.shares(uncovered_counts)
    selected = _prune(backend, candidates, shares[order], default_shares, measures, uncovered, max_fallbacks)
    bodies = [candidates[j] for j in selected.tolist()]
    return list(_make_fallbacks(backend, measures, bodies, uncovered, limits.min_support, constraints))


def _shorten(
    bodies: list[Body], columns: Integers, required: tuple[int, ...] = (), wider: WiderItems = NONE_WIDER
) -> dict[Body, int]:
    """Return every body without one or more of its conditions, and the smallest number of conditions dropped for it.

    A condition on a required column is never dropped. A body with one item replaced by a wider one counts as a body
    without one condition; if the column has a second item, the item is also left out alone.
    """
    shortened: dict[Body, int] = {}
    for body in bodies:
        used = {int(columns[item]) for item in body}
        for item in body:
            rest = tuple(other for other in body if other != item)
            instead = [tuple(sorted((*rest, other))) for other in wider.get(item, ())]
            if item in wider and any(columns[other] == columns[item] for other in rest):
                instead.append(rest)
            shortened.update(dict.fromkeys(instead, 1))
        droppable = sorted(used - set(required))
        for n_dropped in range(1, min(len(droppable), len(used) - 1) + 1):
            if math.comb(len(droppable), n_dropped) > _MAX_COMBINATIONS:
                break
            for dropped in itertools.combinations(droppable, n_dropped):
                shorter = tuple(item for item in body if columns[item] not in dropped)
                shortened[shorter] = min(n_dropped, shortened.get(shorter, n_dropped))
    for body in bodies:
        shortened.pop(body, None)
    return shortened


def _prune(
    backend: Backend,
    bodies: list[Body],
    shares: Floats,
    default_shares: Floats,
    measures: Measures,
    uncovered: Cover,
    max_fallbacks: int,
) -> Integers:
    """Return the numbers of the bodies that remain after pruning, ascending.

    Parameters
    ----------
    backend : the data
    bodies : the shortened rules, in order
    shares : array (n_bodies, n_classes), the class shares of each
    default_shares : array (n_classes,), the class shares of the uncovered records
    measures : gives the class weights
    uncovered : the records that no rule covers
    max_fallbacks : largest number of bodies that remain
    """
    n_records = backend.n_positions(uncovered)
    records = np.arange(0, n_records, -(-n_records // _MAX_RECORDS))
    scale = n_records * backend.unit / records.size
    covers = np.ones((len(bodies) + 1, records.size), np.bool_)  # the last row, the default label, covers all records
    covers[:-1] = backend.contain_all(Lists.of(bodies), uncovered, records)
    labels = backend.classes_at(uncovered, records)
    all_shares = np.vstack([shares, default_shares])
    with np.errstate(divide="ignore"):
        # The loss of records of rare classes does not count: no rule is made for them.
        weights = np.where(measures.searched, measures.information * measures.weights, 0.0)
        losses = -np.log(np.maximum(all_shares, 1e-12))[:, labels] * (weights[labels] * scale)
    needed = max(_MIN_LOSS_SAVED, READING_PRICE * backend.n_records)
    active = np.ones(len(bodies) + 1, np.bool_)
    first, second = _first_two(covers)
    while active[:-1].any():
        columns = np.arange(records.size)
        decided = first < len(bodies)
        increase = losses[second[decided], columns[decided]] - losses[first[decided], columns[decided]]
        increases = np.bincount(first[decided], increase, minlength=len(bodies))
        increases[~active[:-1]] = np.inf
        least = int(np.argmin(increases))
        if increases[least] > needed and np.count_nonzero(active[:-1]) <= max_fallbacks:
            break
        active[least] = False
        covers[least] = False
        changed = np.flatnonzero((first == least) | (second == least))
        first[changed], second[changed] = _first_two(covers[:, changed])
    return np.flatnonzero(active[:-1])


def _make_fallbacks(
    backend: Backend,
    measures: Measures,
    bodies: list[Body],
    uncovered: Cover,
    min_support: int,
    constraints: Constraints,
) -> Iterator[Fallback]:
    """Yield a fallback rule for each body, with the class counts of the records for which it decides.

    Left out are bodies that decide for too few records, and those whose label the constraints do not allow.
    """
    for body in bodies:
        cover = backend.cover(body)
        class_counts = backend.class_counts(backend.intersection(cover, uncovered))
        label = int(np.argmax(measures.shares(class_counts)))
        if class_counts.sum() >= min_support and constraints.allow(body, label):
            yield Fallback(body, label, class_counts)
            uncovered = backend.difference(uncovered, cover)


def _first_two(covers: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return the first and the second row that is True in each column; the last row is always True."""
    first = np.argmax(covers, axis=0)
    others = covers.copy()
    others[first, np.arange(first.size)] = False
    others[-1] = True
    return first, np.argmax(others, axis=0)
