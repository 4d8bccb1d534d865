"""Balanced class weights: all classes have the same total weight, except classes of a few records, which have less."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# A class of fewer records than this weighs as much for each record as a class of this size ...
FEW_RECORDS = 20
# ... but a weight of up to this number, relative to an average record, is always allowed.
MAX_RATIO = 10


def balanced_weights(class_totals: Sequence[float] | Integers) -> Floats:
    """Return the balanced weight of a record of each class: ``n / (k * max(n_class, m))``, m = min(20, n / (10 * k)).

    There are n records of k classes, n_class of the class. If all classes have at least m records, they have the same
    total weight. No weight is above 10 and above that of a class of 20 records: otherwise a few records, perhaps
    mislabelled ones, would count as much as thousands.

    Parameters
    ----------
    class_totals : number of records of each class, each at least 1

    Examples
    --------
    >>> balanced_weights([50, 150]).round(3).tolist()
    [2.0, 0.667]
    >>> balanced_weights([3990, 6000, 10]).round(3).tolist()
    [0.835, 0.556, 166.667]
    """
    totals = np.asarray(class_totals, np.float64)
    least = min(FEW_RECORDS, totals.sum() / (MAX_RATIO * totals.size))
    return np.asarray(totals.sum() / (totals.size * np.maximum(totals, least)))


def are_balanced(weights: Sequence[float], class_totals: Sequence[float]) -> bool:
    """Return whether weights are the balanced weights of these classes, times any number."""
    if not all(class_totals):
        return False
    ratios = np.array(weights) / balanced_weights(class_totals)
    return bool(ratios.max() < 1.001 * ratios.min())
