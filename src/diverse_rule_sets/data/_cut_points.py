"""Cut points that separate the classes: thresholds of numbers and dates, and sets of categories.

Numbers and dates are replaced by their ranks, so that cut points are exact for any unit. A column is first counted into
a table of values by classes, so that the work after that does not depend on the number of records.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.weights import sums_by

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Neighbouring values are merged into at most this many groups.
_MAX_GROUPS = 1024
# Minimum share of the weight of all records on each side of a cut point.
_MIN_SHARE = 0.002
# A cut point needs so much evidence, in nats, except for the best few of a column: what says nothing on its own
# may do so beside others. So columns of small tables have few cut points, and those of large tables many.
_MIN_EVIDENCE, _N_ALWAYS = 4.0, 4
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

    Classes of weight 0 do not count.

    Parameters
    ----------
    codes : the class of each record, or of each group of equal records
    weights : the weight of each class
    counts : number of records of each group, or the weight of each record: whole numbers, or multiples of a power of
        two, so that their sums are exact; None if each is one record
    """

    codes: Integers
    weights: Floats
    counts: NDArray[Any] | None = None

    def take(self, records: NDArray[np.bool_]) -> Target:
        """Return the classes of some of the records."""
        return Target(self.codes[records], self.weights, None if self.counts is None else self.counts[records])

    def count_by(self, numbers: Integers, size: int) -> NDArray[Any]:
        """Count the records with each number; ``numbers`` has one for each record or group."""
        return sums_by(numbers, size, self.counts)

    @property
    def n_records(self) -> float:
        """Number of records, or their weight."""
        return self.codes.size if self.counts is None else self.counts.sum().item()


def supervised_cuts(ranks: Integers, n_ranks: int, target: Target, n_cuts: int) -> Integers:
    """Return the splits of a small entropy tree on one column: cut c lies between the ranks c - 1 and c.

    Splits with little evidence are left out, except for the best four.

    Parameters
    ----------
    ranks : array (n_records,), the position of each record's value among the distinct values
    n_ranks : number of distinct values
    target : classes of the same records
    n_cuts : maximum number of cuts
    """
    from sklearn import config_context
    from sklearn.tree import DecisionTreeClassifier

    groups, starts = _groups(target.count_by(ranks, n_ranks).astype(np.float64))
    n_classes = target.weights.size
    counts = target.count_by(groups[ranks] * n_classes + target.codes, starts.size * n_classes)
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
    return starts[np.unique(np.ceil(_useful_thresholds(tree.tree_, target.n_records)).astype(np.int64))]


def _useful_thresholds(tree: Any, n_records: float) -> Floats:
    """Return the thresholds of the splits of a tree with enough evidence, and of the best few of the others.

    The evidence of a split is how much it raises the log-likelihood of the records, with a total weight of
    ``n_records``.
    """
    inner = np.flatnonzero(tree.feature >= 0)
    nats = tree.impurity * tree.weighted_n_node_samples * (math.log(2) * n_records / tree.weighted_n_node_samples[0])
    gains = np.round(nats[inner] - nats[tree.children_left[inner]] - nats[tree.children_right[inner]], 9)
    n_kept = max(np.count_nonzero(gains >= _MIN_EVIDENCE), _N_ALWAYS)
    return np.asarray(tree.threshold[inner[np.argsort(-gains, kind="stable")[:n_kept]]])


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
    pairs = codes.astype(np.int64) * n_classes + target.codes
    counts = target.count_by(pairs, n_codes * n_classes).reshape(n_codes, n_classes)
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
    sizes = target.count_by(own, 2)
    return Target(own, target.n_records / (2.0 * np.where(sizes > 0, sizes, 1)), target.counts)
