"""Quality, distance and evidence of rules, as functions of counts: for the paper's search and the default search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Products of integers below this number do not overflow.
_LARGE = 2**31
_SMALLEST = 1e-300  # replaces 0 in logarithms and denominators
# A rule that covers one class alone gains at most so many times the log-likelihood by weight that it gains by records.
_MAX_OVERSTATED = 4.0


def quality(class_counts: Integers, labels: Integers, class_totals: Integers) -> Floats:
    """Return the discriminative quality of rules (Eq. 1 of the paper).

    ``sqrt(|D_y(r)|) * [precision of r > prior of y] * KL(P_D(r) || P_D)``, in nats; 0 for a rule that covers
    no record.

    Parameters
    ----------
    class_counts : array (n_rules, n_classes), number of covered records of each class
    labels : array (n_rules,), the class that each rule predicts
    class_totals : array (n_classes,), number of records of each class in the data
    """
    covered = class_counts.sum(axis=1)
    own = class_counts[np.arange(labels.size), labels]
    total = class_totals.sum()
    share = class_counts / np.where(covered > 0, covered, 1)[:, None]
    prior = class_totals / total
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(class_counts > 0, share * np.log(share / prior), 0.0)
    # Compare integers: with floats, rounding could make a precision equal to the prior appear larger.
    above_prior = own * _factor(total) > _factor(class_totals)[labels] * covered
    return np.where(above_prior, np.sqrt(own) * np.maximum(terms.sum(axis=1), 0.0), 0.0)


def jaccard_distance(shared: Integers, size_a: Integers, size_b: Integers) -> Floats:
    """Return the Jaccard distance of two covers: 0 for the same records or if both are empty, 1 for disjoint ones."""
    union = size_a + size_b - shared
    return np.where(union > 0, 1.0 - shared / np.where(union > 0, union, 1), 0.0)


def _factor(counts: Any) -> Any:
    """Return counts as factors of other counts: as floats if the product of integers might overflow."""
    return counts.astype(np.float64) if np.max(counts, initial=0) >= _LARGE else counts


@dataclass(frozen=True, eq=False)
class Measures:
    """The measures of the default search, for given class totals and weights.

    Rules are learnt for all classes but the rare ones. Quality, evidence and gains are those of a table without the
    records of rare classes; class shares and labels are those of the whole table.

    Parameters
    ----------
    class_totals : array (n_classes,), number of records of each class in the data
    class_weights : array (n_classes,), weight of a record of each class
    smoothing : number of average records of the whole data that are added to the class counts of a rule
    price : share of its quality that a rule loses for each condition
    rare : array (n_classes,), flags of the rare classes; None if there are none
    """

    class_totals: Integers
    class_weights: Floats
    smoothing: float
    price: float
    rare: Flags | None = None

    @cached_property
    def searched(self) -> Flags:
        """Flags of the classes for which rules are learnt."""
        return np.ones(self.class_totals.size, np.bool_) if self.rare is None else ~self.rare

    @cached_property
    def _without_rare(self) -> Measures:
        """The measures of a table without the records of rare classes."""
        return replace(self, class_totals=self.class_totals * self.searched, rare=None)

    @cached_property
    def n_records(self) -> Any:
        """Number of records, or their weight; 1 if there are none."""
        return self.class_totals.sum() or 1

    @cached_property
    def prior(self) -> Floats:
        """Share of each class in the data."""
        return np.asarray(self.class_totals / self.n_records)

    @cached_property
    def weights(self) -> Floats:
        """Class weights, scaled so that the total weight of all records is their number."""
        total = float(self.prior @ self.class_weights)
        return self.class_weights / total if total > 0 else np.ones(self.class_weights.size)

    @cached_property
    def weighted_prior(self) -> Floats:
        """Share of each class in the total weight of all records; the same for all classes if weights are balanced."""
        return self.prior * self.weights

    @cached_property
    def information(self) -> float:
        """What a nat of weighted log-likelihood counts, compared with prices and limits in nats: 1 or less.

        A hundred records of a class that 99 of 100 records have show little. With equal total weights they gain 35 nats
        instead of 1, as if every second record were of another class. Such gains are scaled down until a rule that
        covers one class alone gains at most four times of what it gains by records. With balanced weights this is 1 if
        all classes have about as many records; of two classes, if the smaller one has at least one in eleven records.
        """
        if self.rare is not None:
            return self._without_rare.information
        some = (self.class_totals > 0) & (self.prior < 1)
        by_weight = np.minimum(self.weights, 1.0)[some] * np.log(np.maximum(self.weighted_prior[some], _SMALLEST))
        overstated = float((by_weight / np.log(self.prior[some])).max(initial=1.0))
        return min(1.0, _MAX_OVERSTATED / overstated)

    def shares(self, class_counts: Integers) -> Floats:
        """Return the smoothed, weighted class shares of each rule."""
        weighted = (class_counts + self.smoothing * self.prior) * self.weights
        total = weighted.sum(axis=-1, keepdims=True)
        return np.asarray(np.where(total > 0, weighted / np.where(total > 0, total, 1.0), self.weighted_prior))

    def quality(
        self, class_counts: Integers, n_conditions: Integers | int, labels: Integers | None = None
    ) -> tuple[Floats, Integers]:
        """Return the quality of each rule and its label: the class with the largest share, unless labels are given.

        ``share of the total weight that the covered records of the label have * KL(shares || shares of the whole
        data) * (1 - price * conditions)``, in nats. Smoothing lowers the quality of pure rules with few records. The
        quality of a rule with a rare class as label is 0.
        """
        if self.rare is not None:
            labels = np.argmax(self.shares(class_counts), axis=-1) if labels is None else labels
            return self._without_rare.quality(class_counts * self.searched, n_conditions, labels)
        # Classes are the first axis, because numpy sums a few long rows much faster than many short ones.
        counts = np.ascontiguousarray(np.moveaxis(class_counts, -1, 0))
        column = (slice(None),) + (None,) * (counts.ndim - 1)
        weighted = (counts + (self.smoothing * self.prior)[column]) * self.weights[column]
        total = np.maximum(weighted.sum(axis=0), _SMALLEST)
        lift = weighted * np.log(np.maximum(weighted / np.maximum(self.weighted_prior, _SMALLEST)[column], _SMALLEST))
        divergence = np.maximum(lift.sum(axis=0) / total - np.log(total), 0.0)
        labels = np.argmax(weighted, axis=0) if labels is None else labels
        own = np.take_along_axis(counts, labels[None], 0)[0] * self.weights[labels]
        quality = own / self.n_records * divergence
        return quality * np.maximum(1.0 - self.price * n_conditions, 0.0), labels

    def weight_right(self, class_counts: Integers) -> Floats:
        """Return the weight of the records that each rule predicts right if it predicts the class with most weight.

        The weight of all records is their number.
        """
        return np.asarray((class_counts * np.where(self.searched, self.weights, 0.0)).max(axis=-1))

    def recall(self, class_counts: Integers, labels: Integers) -> Floats:
        """Return the share of the records of its label that each rule covers."""
        own = np.take_along_axis(class_counts, labels[..., None], -1)[..., 0]
        return np.asarray(own / np.where(self.class_totals > 0, self.class_totals, 1)[labels])

    def evidence(self, class_counts: Integers) -> Floats:
        """Return the evidence of each rule: how much its class shares differ from those of the whole data, in nats.

        This is the gain in log-likelihood from the class shares of the rule, by records or by weight, whichever is
        larger. By weight, a weight above 1 counts as 1, so that no record counts more than once, and the gain is scaled
        by :attr:`information`.
        """
        if self.rare is not None:
            return self._without_rare.evidence(class_counts * self.searched)
        unweighted = class_counts * _log_ratio(class_counts, self.prior)
        weighted = (
            class_counts * np.minimum(self.weights, 1.0) * _log_ratio(class_counts * self.weights, self.weighted_prior)
        )
        return np.maximum(unweighted.sum(axis=-1), self.information * weighted.sum(axis=-1))

    def log_likelihood(self, class_counts: Integers) -> Floats:
        """Return how much the class shares of each rule increase the log-likelihood of its records."""
        if self.rare is not None:
            return self._without_rare.log_likelihood(class_counts * self.searched)
        return np.asarray((class_counts * _log_ratio(class_counts, self.prior)).sum(axis=-1))

    def weighted_gain(self, class_counts: Integers, of_rule: Integers | None = None) -> Floats:
        """Return how much the smoothed, weighted class shares of each rule increase the weighted log-likelihood.

        The class shares are those of the records themselves, or those of the class counts ``of_rule``.
        """
        of_rule = class_counts if of_rule is None else of_rule
        if self.rare is not None:
            return self._without_rare.weighted_gain(class_counts * self.searched, of_rule * self.searched)
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = np.where(class_counts > 0, np.log(self.shares(of_rule) / self.weighted_prior), 0.0)
        return np.asarray((class_counts * self.weights * lift).sum(axis=-1))


def _log_ratio(counts: Integers | Floats, prior: Floats) -> Floats:
    """Return the logarithm of the share of each class divided by its prior; 0 for classes without records."""
    total = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(counts > 0, np.log(counts / np.where(total > 0, total, 1) / prior), 0.0)
