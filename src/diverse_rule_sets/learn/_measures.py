"""What rules are worth: the paper's measures and those of the refined search, as pure functions of counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_SMALLEST = 1e-300  # stands for 0 in logarithms and below fractions


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


@dataclass(frozen=True, eq=False)
class Measures:
    """The measures of the refined search, for given classes.

    Parameters
    ----------
    class_totals : array (n_classes,), records of each class in the data
    class_weights : array (n_classes,), how much a record of each class counts
    smoothing : a rule's class shares are mixed with those of the whole data as if it covered so many records more
    price : share of its quality that a rule loses for each condition
    """

    class_totals: Integers
    class_weights: Floats
    smoothing: float
    price: float

    @cached_property
    def prior(self) -> Floats:
        """Share of each class in the data."""
        return np.asarray(self.class_totals / max(int(self.class_totals.sum()), 1))

    @cached_property
    def weights(self) -> Floats:
        """Class weights, scaled so that all records together weigh as much as they are."""
        total = float(self.prior @ self.class_weights)
        return self.class_weights / total if total > 0 else np.ones(self.class_weights.size)

    @cached_property
    def weighted_prior(self) -> Floats:
        """Share of each class in the weight of all records; equal for balanced weights."""
        return self.prior * self.weights

    def shares(self, class_counts: Integers) -> Floats:
        """Return the smoothed, weighted class shares under each rule."""
        weighted = (class_counts + self.smoothing * self.prior) * self.weights
        total = weighted.sum(axis=-1, keepdims=True)
        return np.asarray(np.where(total > 0, weighted / np.where(total > 0, total, 1.0), self.weighted_prior))

    def quality(
        self, class_counts: Integers, n_conditions: Integers | int, labels: Integers | None = None
    ) -> tuple[Floats, Integers]:
        """Return what each rule is worth, and its label: the class with the largest share, unless labels are given.

        ``share of all weight that lies in the rule and has its label * KL(shares || shares of the whole data) *
        (1 - price * conditions)``, in nats. Smoothing keeps pure rules of a handful of records from winning.
        """
        # Classes first: numpy adds up long rows much faster than many short ones.
        counts = np.ascontiguousarray(np.moveaxis(class_counts, -1, 0))
        column = (slice(None),) + (None,) * (counts.ndim - 1)
        weighted = (counts + (self.smoothing * self.prior)[column]) * self.weights[column]
        total = np.maximum(weighted.sum(axis=0), _SMALLEST)
        lift = weighted * np.log(np.maximum(weighted / np.maximum(self.weighted_prior, _SMALLEST)[column], _SMALLEST))
        divergence = np.maximum(lift.sum(axis=0) / total - np.log(total), 0.0)
        labels = np.argmax(weighted, axis=0) if labels is None else labels
        own = np.take_along_axis(counts, labels[None], 0)[0] * self.weights[labels]
        worth = own / max(int(self.class_totals.sum()), 1) * divergence
        return worth * np.maximum(1.0 - self.price * n_conditions, 0.0), labels

    def recall(self, class_counts: Integers, labels: Integers) -> Floats:
        """Return the share of its class that each rule covers."""
        own = np.take_along_axis(class_counts, labels[..., None], -1)[..., 0]
        return np.asarray(own / np.maximum(self.class_totals, 1)[labels])

    def evidence(self, class_counts: Integers) -> Floats:
        """Return how far the classes under each rule are from those of the whole data, in nats.

        The log-likelihood gained by using the rule's own class shares, counted in records or in weight, whichever is
        more; a weight above 1 counts as 1 there, as no record may testify twice.
        """
        plain = class_counts * _log_ratio(class_counts, self.prior)
        weighted = (
            class_counts * np.minimum(self.weights, 1.0) * _log_ratio(class_counts * self.weights, self.weighted_prior)
        )
        return np.maximum(plain.sum(axis=-1), weighted.sum(axis=-1))

    def log_likelihood(self, class_counts: Integers) -> Floats:
        """Return what each rule's own class shares add to the log-likelihood of its records."""
        return np.asarray((class_counts * _log_ratio(class_counts, self.prior)).sum(axis=-1))

    def weighted_gain(self, class_counts: Integers) -> Floats:
        """Return the same for smoothed, weighted shares and weighted records."""
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = np.where(class_counts > 0, np.log(self.shares(class_counts) / self.weighted_prior), 0.0)
        return np.asarray((class_counts * self.weights * lift).sum(axis=-1))


def _log_ratio(counts: Integers | Floats, prior: Floats) -> Floats:
    """Return the logarithm of each class's share among the counts over its prior; 0 where there are none."""
    total = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(counts > 0, np.log(counts / np.where(total > 0, total, 1) / prior), 0.0)
