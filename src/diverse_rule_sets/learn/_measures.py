"""Quality, distance and evidence of rules, as functions of counts: for the paper's search and the default search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import ModuleType
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


@cache
def kernels() -> ModuleType:
    """Import the compiled loops on first use."""
    from diverse_rule_sets._bits import measure_kernels

    return measure_kernels


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
        counts, shape = _classes_first(class_counts)
        of_rules = np.zeros(counts.shape[1], np.int64) if labels is None else _flat(labels, shape)
        out = np.empty(counts.shape[1])
        kernels().qualities(counts, of_rules, labels is None, *self._terms, out)
        quality = out.reshape(shape) * np.maximum(1.0 - self.price * n_conditions, 0.0)
        return quality, of_rules.reshape(shape)

    def scores(
        self, counts: Integers, lengths: Integers, limits: tuple[int, float, int, float]
    ) -> tuple[Integers, Floats, Floats]:
        """Return the labels, qualities and scores of rules; those outside the limits have negative scores.

        The score is the quality times the share of the records that no earlier rule covers.

        Parameters
        ----------
        counts : array (n_classes + 1, ...), the class counts of rules and, last, how many of their records earlier
            rules cover
        lengths : array (...), number of conditions
        limits : the smallest number of records, the largest overlap, the largest number of conditions, and the share of
            the records of its label that a rule must cover more than
        """
        labels, qualities, scores = np.full(lengths.size, -1), np.zeros(lengths.size), np.full(lengths.size, -1.0)
        flat, of_rules = counts.reshape(len(counts), -1), np.ascontiguousarray(lengths.reshape(-1))
        terms = (self if self.rare is None else self._without_rare)._terms
        terms, shares = (self.searched.astype(np.int64), *terms[1:]), (self._smoothing_counts, self.weights)
        kernels().scores(
            flat, of_rules, limits, shares, terms, self.price, self.class_totals, labels, qualities, scores
        )
        return labels.reshape(lengths.shape), qualities.reshape(lengths.shape), scores.reshape(lengths.shape)

    @cached_property
    def _ones(self) -> Floats:
        """A weight of 1 for each class."""
        return np.ones(self.class_totals.size)

    @cached_property
    def _smoothing_counts(self) -> Floats:
        """What is added to the class counts of each rule."""
        return np.asarray(self.smoothing * self.prior)

    @cached_property
    def _terms(self) -> tuple[Integers, Floats, Floats, Floats, float]:
        """What the quality of a rule follows from, beside its counts."""
        searched = self.searched.astype(np.int64)
        return searched, self._smoothing_counts, self.weights, self.weighted_prior, float(self.n_records)

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
        counts, shape = _classes_first(class_counts)
        out = np.empty(counts.shape[1])
        kernels().evidence(counts, self._ones, self.weights, self.prior, self.weighted_prior, self.information, out)
        return out.reshape(shape)

    def log_likelihood(self, class_counts: Integers) -> Floats:
        """Return how much the class shares of each rule increase the log-likelihood of its records."""
        if self.rare is not None:
            return self._without_rare.log_likelihood(class_counts * self.searched)
        counts, shape = _classes_first(class_counts)
        out = np.zeros(counts.shape[1])
        kernels().log_likelihoods(counts, self._ones, self.prior, out)
        return out.reshape(shape)

    def refuse_weak_splits(self, *arguments: Any) -> None:
        """Set scores to -1 where plain conditions divide the records of conditions on points too little."""
        prior = self.prior if self.rare is None else self._without_rare.prior
        *bodies, per_condition, per_size, out = arguments
        kernels().refuse_weak_splits(*bodies, self.searched.astype(np.int64), prior, per_condition, per_size, out)

    def weighted_gain(self, class_counts: Integers, of_rule: Integers | None = None) -> Floats:
        """Return how much the smoothed, weighted class shares of each rule increase the weighted log-likelihood.

        The class shares are those of the records themselves, or those of the class counts ``of_rule``.
        """
        of_rule = class_counts if of_rule is None else of_rule
        if self.rare is not None:
            return self._without_rare.weighted_gain(class_counts * self.searched, of_rule * self.searched)
        counts, shape = _classes_first(class_counts)
        of_rules, out = _classes_first(of_rule)[0], np.empty(counts.shape[1])
        kernels().weighted_gains(counts, of_rules, self._smoothing_counts, self.weights, self.weighted_prior, out)
        return out.reshape(shape)


def _classes_first(class_counts: Integers) -> tuple[Integers, tuple[int, ...]]:
    """Return class counts as an array (n_classes, n_rules), and the shape of the rules."""
    shape, n_classes = class_counts.shape[:-1], class_counts.shape[-1]
    rules = class_counts if class_counts.ndim == 2 else class_counts.reshape(-1, n_classes)
    return np.ascontiguousarray(rules.T), shape


def _flat(labels: Integers, shape: tuple[int, ...]) -> Integers:
    """Return the labels of rules of some shape as one row."""
    return np.broadcast_to(labels, shape).flatten()
