"""Where to cut a column so that the classes come apart: thresholds of numbers, sets of categories.

Numbers and dates are seen by rank alone, so that a cut is exact whatever the unit, and a column is first counted into a
table of values by classes, so that the work after that does not depend on the number of records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Neighbouring values are put together until no more than this many groups remain.
_MAX_GROUPS = 1024
# Share of the weight of all records that must lie on each side of a cut.
_MIN_SHARE = 0.002
# A set names at most this many categories; longer ones are no help to a reader.
MAX_SET = 8
# Up to so many categories every cut of their order is offered, beyond it the best few.
_FEW = 12
_N_SET_CUTS = 8
# Cuts of the orders of all classes together, beyond which each order is cut less often.
_MANY = 48
# Records of the whole table that are mixed into the class shares of a category.
_SMOOTHING = 5.0


class Target(NamedTuple):
    """What the cuts are to tell apart: the class of each record, and the weight of each class."""

    codes: Integers
    weights: Floats


def supervised_cuts(ranks: Integers, n_ranks: int, target: Target, n_cuts: int) -> Integers:
    """Return where a small entropy tree on one column splits: cut c lies between the ranks c - 1 and c.

    Parameters
    ----------
    ranks : array (n_records,), the position of each record's value among the distinct values
    n_ranks : how many distinct values there are
    target : classes of the same records
    n_cuts : the most cuts to return
    """
    from sklearn import config_context
    from sklearn.tree import DecisionTreeClassifier

    groups, starts = _groups(np.bincount(ranks, minlength=n_ranks).astype(np.float64))
    n_classes = target.weights.size
    counts = np.bincount(groups[ranks] * n_classes + target.codes, minlength=starts.size * n_classes)
    weights = counts.reshape(starts.size, n_classes) * target.weights
    group, label = np.nonzero(weights)
    if starts.size < 2 or np.unique(label).size < 2:
        return np.zeros(0, np.int64)
    tree = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=n_cuts + 1, min_weight_fraction_leaf=_MIN_SHARE, random_state=0
    )
    # A table has many columns, and checking the arguments takes as long as growing a small tree.
    with config_context(skip_parameter_validation=True, assume_finite=True):
        tree.fit(group[:, None].astype(np.float32), label, sample_weight=weights[group, label])
    inner = tree.tree_.threshold[tree.tree_.feature >= 0]
    return starts[np.unique(np.ceil(inner).astype(np.int64))]


def _groups(sizes: Floats) -> tuple[Integers, Integers]:
    """Put neighbouring values together; returns the group of each value and the first value of each group."""
    if sizes.size <= _MAX_GROUPS:
        each = np.arange(sizes.size)
        return each, each
    before = np.cumsum(sizes) - sizes
    group = (before * (_MAX_GROUPS / sizes.sum())).astype(np.int64)
    _, starts, dense = np.unique(group, return_index=True, return_inverse=True)
    return dense.reshape(-1), starts


def category_sets(codes: Integers, present: Integers, target: Target) -> list[tuple[int, ...]]:
    """Return sets of categories that tell classes apart, each as an ascending tuple of positions.

    For every class the categories are put in the order of that class's share; the best split of two classes is then a
    cut of that order, and so both sides of a few cuts are offered. Single categories and whole columns are left out.

    Parameters
    ----------
    codes : array (n_records,), position of each record's category
    present : the positions that occur
    target : classes of the same records
    """
    if present.size < 3:
        return []
    counts = np.zeros((int(present.max()) + 1, target.weights.size))
    np.add.at(counts, (codes, target.codes), 1.0)
    shares = _class_shares(counts[present], target.weights)
    found: dict[tuple[int, ...], None] = {}
    if present.size <= _FEW:
        for one in present:
            found[tuple(present[present != one].tolist())] = None
    n_orders = target.weights.size if target.weights.size > 2 else 1
    rank = np.zeros(int(present.max()) + 1, np.int64)
    for label in range(n_orders):
        order = present[np.argsort(-shares[:, label], kind="stable")]
        rank[order] = np.arange(order.size)
        if order.size <= _FEW and order.size * n_orders <= _MANY:
            cuts = np.arange(1, order.size)
        else:
            n_cuts = max(1, min(_N_SET_CUTS, _MANY // n_orders))
            cuts = supervised_cuts(rank[codes], order.size, _one_against_rest(target, label), n_cuts)
        for cut in cuts.tolist():
            for part in (order[:cut], order[cut:]):
                found[tuple(np.sort(part).tolist())] = None
        if order.size > _FEW and n_orders <= _FEW:  # what is too long to name is offered in pieces
            for begin in range(0, order.size, MAX_SET):
                found[tuple(np.sort(order[begin : begin + MAX_SET]).tolist())] = None
    return [part for part in found if len(part) > 1]


def _class_shares(counts: Floats, weights: Floats) -> Floats:
    """Return the smoothed, weighted class shares of each category."""
    prior = counts.sum(axis=0) / max(counts.sum(), 1.0)
    shares = (counts + _SMOOTHING * prior) / (counts.sum(axis=1, keepdims=True) + _SMOOTHING) * weights
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def _one_against_rest(target: Target, label: int) -> Target:
    """Return the target with one class against all others, each side with half of the weight."""
    own = (target.codes == label).astype(np.int64)
    sizes = np.maximum(np.bincount(own, minlength=2), 1)
    return Target(own, own.size / (2.0 * sizes))
