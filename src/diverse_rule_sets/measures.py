"""The paper's measures, as pure functions of counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def quality(class_counts: Integers, labels: Integers, class_totals: Integers) -> Floats:
    """Discriminative quality of rules (Eq. 1 of the paper).

    ``sqrt(|D_y(r)|) * [precision of r > prior of y] * KL(P_D(r) || P_D)``, in nats; 0 for a rule that covers
    nothing.

    Parameters
    ----------
    class_counts : array (n_rules, n_classes), covered records of each class
    labels : array (n_rules,), the class that each rule predicts
    class_totals : array (n_classes,), records of each class in the data
    """
    covered = class_counts.sum(axis=1)
    own = class_counts[np.arange(labels.size), labels]
    total = class_totals.sum()
    share = class_counts / np.maximum(covered, 1)[:, None]
    prior = class_totals / total
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(class_counts > 0, share * np.log(share / prior), 0.0)
    # Compared as integers, so that a rule as good as the prior is not let in by rounding.
    above_prior = own * total > class_totals[labels] * covered
    return np.where(above_prior, np.sqrt(own) * np.maximum(terms.sum(axis=1), 0.0), 0.0)


def jaccard_distance(shared: Integers, size_a: Integers, size_b: Integers) -> Floats:
    """Jaccard distance of two coverages: 0 the same records, 1 none in common, 0 if both are empty."""
    union = size_a + size_b - shared
    return np.where(union > 0, 1.0 - shared / np.maximum(union, 1), 0.0)
