"""Cut points that separate the classes: thresholds of numbers and dates, and sets of categories.

Numbers and dates are replaced by their ranks, so that cut points are exact for any unit. A column is first counted into
a table of values by classes, so that the work after that does not depend on the number of records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.weights import Weights, count_by

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Neighbouring values are merged into at most this many groups.
_MAX_GROUPS = 1024
# Minimum share of the weight of all records on each side of a cut point.
_MIN_SHARE = 0.002
# A tree on one column has no use for random numbers, but to make a random state takes a quarter of its time.
_ANY_STATE = np.random.RandomState(0)
# Maximum number of categories that a condition lists; longer lists are hard to read.
MAX_SET = 8
# Up to so many categories, every cut of their order is used; with more, only the best few cuts. With more classes than
# this, long sets are not divided.
_FEW = 12
_N_SET_CUTS = 8
# Maximum number of cuts over the orders of all classes.
_MAX_SET_CUTS = 48
# The class shares of a category are smoothed with this many records of the whole table.
_SMOOTHING = 5.0


class Target(NamedTuple):
    """The classes that cut points separate: the class of each record, and the weight of each class.

    Classes of weight 0 do not count. Records may have weights of their own, by which they are counted.
    """

    codes: Integers
    weights: Floats
    records: Weights | None = None

    def take(self, known: NDArray[np.bool_]) -> Target:
        """Return the classes of the records whose flag is set."""
        return Target(self.codes[known], self.weights, None if self.records is None else self.records.take(known))

    def sizes(self, numbers: Integers, n: int) -> NDArray[Any]:
        """Count the records by a number from 0 to n - 1 that each has."""
        return count_by(numbers, n, self.records)

    @property
    def total(self) -> Any:
        """The number of records."""
        return self.codes.size if self.records is None else self.records.values.sum()


def supervised_cuts(ranks: Integers, n_ranks: int, target: Target, n_cuts: int) -> Integers:
    """Return the splits of a small entropy tree on one column: cut c lies between the ranks c - 1 and c.

    Parameters
    ----------
    ranks : array (n_records,), the position of each record's value among the distinct values
    n_ranks : number of distinct values
    target : classes of the same records
    n_cuts : maximum number of cuts
    """
    from sklearn import config_context
    from sklearn.tree import DecisionTreeClassifier

    groups, starts = _groups(target.sizes(ranks, n_ranks).astype(np.float64))
    n_classes = target.weights.size
    counts = target.sizes(groups[ranks] * n_classes + target.codes, starts.size * n_classes)
    weights = counts.reshape(starts.size, n_classes) * target.weights
    group, label = np.nonzero(weights)
    if starts.size < 2 or np.unique(label).size < 2:
        return np.zeros(0, np.int64)
    tree = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=n_cuts + 1, min_weight_fraction_leaf=_MIN_SHARE, random_state=_ANY_STATE
    )
    # Checking the arguments takes longer than fitting a small tree, and a table may have thousands of columns.
    with config_context(skip_parameter_validation=True, assume_finite=True):
        tree.fit(group[:, None].astype(np.float32), label, sample_weight=weights[group, label], check_input=False)
    inner = tree.tree_.threshold[tree.tree_.feature >= 0]
    return starts[np.unique(np.ceil(inner).astype(np.int64))]


def _groups(sizes: Floats) -> tuple[Integers, Integers]:
    """Merge neighbouring values; returns the group of each value and the first value of each group."""
    if sizes.size <= _MAX_GROUPS:
        each = np.arange(sizes.size)
        return each, each
    before = np.cumsum(sizes) - sizes
    group = (before * (_MAX_GROUPS / sizes.sum())).astype(np.int64)
    _, starts, dense = np.unique(group, return_index=True, return_inverse=True)
    return dense.reshape(-1), starts


def category_sets(codes: Integers, present: Integers, target: Target) -> list[tuple[int, ...]]:
    """Return sets of categories that separate classes, each as an ascending tuple of positions.

    For every class the categories are sorted by the share of that class. The best split of two classes is a cut of that
    order, so both sides of a few cuts are returned. Single categories and whole columns are left out.

    Parameters
    ----------
    codes : array (n_records,), position of each record's category
    present : the positions that occur
    target : classes of the same records
    """
    if present.size < 3:
        return []
    n_classes, n_codes = target.weights.size, int(present.max()) + 1
    counts = target.sizes(codes * n_classes + target.codes, n_codes * n_classes).reshape(n_codes, n_classes)
    shares = _class_shares(counts[present], target.weights)
    found: dict[tuple[int, ...], None] = {}
    if present.size <= _FEW:
        for one in present:
            found[tuple(present[present != one].tolist())] = None
    classes = np.flatnonzero(target.weights)
    n_orders = classes.size if classes.size > 2 else 1
    rank = np.zeros(int(present.max()) + 1, np.int64)
    for label in classes[:n_orders].tolist():
        order = present[np.argsort(-shares[:, label], kind="stable")]
        rank[order] = np.arange(order.size)
        if order.size <= _FEW and order.size * n_orders <= _MAX_SET_CUTS:
            cuts = np.arange(1, order.size)
        else:
            n_cuts = max(1, min(_N_SET_CUTS, _MAX_SET_CUTS // n_orders))
            cuts = supervised_cuts(rank[codes], order.size, _one_against_rest(target, label), n_cuts)
        for cut in cuts.tolist():
            for part in (order[:cut], order[cut:]):
                found[tuple(np.sort(part).tolist())] = None
        if order.size > _FEW and n_orders <= _FEW:  # sets that are too long are divided
            for begin in range(0, order.size, MAX_SET):
                found[tuple(np.sort(order[begin : begin + MAX_SET]).tolist())] = None
    return [part for part in found if len(part) > 1]


def _class_shares(counts: Floats, weights: Floats) -> Floats:
    """Return the smoothed, weighted class shares of each category."""
    prior = counts.sum(axis=0) / (counts.sum() or 1.0)
    shares = (counts + _SMOOTHING * prior) / (counts.sum(axis=1, keepdims=True) + _SMOOTHING) * weights
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def _one_against_rest(target: Target, label: int) -> Target:
    """Return the target of one class against all others, each with half of the weight."""
    own = (target.codes == label).astype(np.int64)
    sizes = target.sizes(own, 2)
    return Target(own, target.total / (2.0 * np.where(sizes > 0, sizes, 1)), target.records)
