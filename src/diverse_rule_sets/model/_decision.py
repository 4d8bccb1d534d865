"""Which rule decides if several rules cover a record, and the class probabilities: arrays only, no conditions.

Every program that applies a rule set (this package, an exported SQL query, the report page in a browser) uses the same
:class:`Decision`. All sums are sums of integers, so that their order does not change the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets.model._counts import UNITS

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# How to decide if several rules cover a record: the value of the parameter `conflict`, and its printed form.
CONFLICTS = {
    "precision": "the one with the highest precision decides",
    "smoothed": "the one with the highest smoothed precision decides",
    "f1": "the one with the highest F1 score decides",
    "first": "the first one decides",
    "vote": "they vote, each weighted by its smoothed precision",
    "counts": "their class counts are added up and the largest class wins",
}
# A vote of weight 1, and the weight of the class with the largest weight, as integers.
_VOTE, _WEIGHT = 10**12, 10**9


@dataclass(frozen=True)
class Evidence:
    """The class counts of some rules, by position, and how to compute probabilities and scores from them.

    Parameters
    ----------
    counts : number of training records of each class that each rule covers, shape (n_rules, n_classes)
    labels : the label of each rule, a position among the classes
    totals : number of training records of each class
    weights : weight of a record of each class, or None
    smoothing : the class shares of a rule are computed as if the rule covered this many further records, with the
        class shares of the whole table
    """

    counts: Floats
    labels: Integers
    totals: Any
    weights: Floats | None
    smoothing: float

    @property
    def prior(self) -> Floats:
        """Share of each class among all training records; equal shares if there are none."""
        total = self.totals.sum()
        return np.asarray(self.totals / total if total else np.full(self.totals.size, 1 / self.totals.size))

    @property
    def added(self) -> Floats:
        """The number that smoothing adds to the count of each class."""
        return self.smoothing * self.prior

    @property
    def class_weights(self) -> Floats:
        """Weight of a record of each class, 1 if no weights are given."""
        return np.ones(self.totals.size) if self.weights is None else self.weights

    @property
    def unknown(self) -> Floats:
        """Class probabilities if no records are counted."""
        return np.asarray(self.shares(np.zeros((1, self.totals.size)))[0])

    def shares(self, counts: Floats) -> Floats:
        """Return class probabilities for each row of class counts: smoothed towards the class shares, and weighted."""
        covered = counts.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            mixed = (counts + self.added) / (covered + self.smoothing)
        shares = np.where(covered + self.smoothing > 0, mixed, self.prior)
        if self.weights is not None:
            shares = shares * self.weights
            shares = shares / shares.sum(axis=1, keepdims=True)
        # Equal probabilities become exactly equal here, so that no label depends on rounding errors.
        return np.asarray(np.round(shares, 12))

    @property
    def correct_counts(self) -> Floats:
        """Number of training records that each rule covers and that have its label."""
        return np.asarray(self.counts[np.arange(self.labels.size), self.labels])

    def precisions(self, smoothed: bool) -> Floats:
        """Return the precision of each rule; without smoothing, 0 for a rule that covers no record."""
        if smoothed:
            return np.asarray(self.shares(self.counts)[np.arange(self.labels.size), self.labels])
        sizes = self.counts.sum(axis=1)
        return np.asarray(self.correct_counts / np.where(sizes > 0, sizes, 1))

    def f1(self) -> Floats:
        """Return the F1 score of each rule, the harmonic mean of precision and recall, for the label of the rule."""
        sums = self.counts.sum(axis=1) + self.totals[self.labels]
        return np.asarray(2 * self.correct_counts / np.where(sums > 0, sums, 1))


@dataclass(frozen=True)
class Decision:
    """How the covering rules of a record determine its label.

    Parameters
    ----------
    order : positions of the rules, sorted by priority
    labels : the label of each rule, a position among the classes
    ballots : integers that each covering rule adds to each class, shape (n_rules, n_classes). The class with the
        largest sum wins, and the first covering rule in the order with this label decides. None: nothing is added up,
        and the first covering rule in the order decides
    preference : positions of the classes; of classes with equal sums the first in this order wins
    scale : the number that one record of each class adds to the ballots, if the ballots are class counts
    """

    order: Integers
    labels: Integers
    ballots: Integers | None
    preference: Integers
    scale: Integers | None = None

    def winners(self, patterns: Flags) -> Integers:
        """Return the class that wins for each combination of covering rules; only if there are ballots."""
        assert self.ballots is not None
        sums = (patterns.astype(np.int64) @ self.ballots)[:, self.preference]
        return np.asarray(self.preference[np.argmax(sums, axis=1)])

    def deciding_rules(self, patterns: Flags) -> Integers:
        """Return the deciding rule of each combination of covering rules; -1 if there is none."""
        if not patterns.shape[1]:
            return np.full(len(patterns), -1, np.int64)
        eligible = patterns[:, self.order]
        if self.ballots is not None:
            eligible = eligible & (self.labels[self.order] == self.winners(patterns)[:, None])
        return np.where(eligible.any(axis=1), self.order[np.argmax(eligible, axis=1)], -1)


def decide(conflict: str, evidence: Evidence) -> Decision:
    """Return the decision for a value of `conflict`.

    Of rules with equal scores the one that covers more records comes first, then the one with the lower position.
    """
    positions = np.arange(evidence.labels.size)
    classes = np.arange(evidence.totals.size)
    sizes = evidence.counts.sum(axis=1)
    if conflict == "first":
        return Decision(positions, evidence.labels, None, classes)
    if conflict == "counts":
        by_size = np.lexsort((classes, -evidence.totals))
        unit = 1 if (evidence.counts == np.rint(evidence.counts)).all() else UNITS
        scale = np.ones(classes.size, np.int64)
        if evidence.weights is not None:
            largest = min(_WEIGHT, 2**53 // max(int(evidence.counts.sum() * unit), 1))  # sums are exact as floats too
            scale = np.maximum(_to_integers(evidence.weights / evidence.weights.max(), largest), 1)
        ballots, scale = (evidence.counts * unit).astype(np.int64) * scale, scale * unit
        return Decision(np.lexsort((positions, -evidence.correct_counts)), evidence.labels, ballots, by_size, scale)
    scores = evidence.f1() if conflict == "f1" else evidence.precisions(smoothed=conflict != "precision")
    order = np.lexsort((positions, -sizes, -scores))
    if conflict != "vote":
        return Decision(order, evidence.labels, None, classes)
    ballots = np.zeros(evidence.counts.shape, np.int64)
    # At least 1, so that a class without any vote never wins.
    ballots[positions, evidence.labels] = np.maximum(_to_integers(scores, _VOTE), 1)
    return Decision(order, evidence.labels, ballots, classes)


def _to_integers(values: Any, scale: int) -> Integers:
    """Return values times a scale, rounded to integers."""
    return np.rint(np.asarray(values) * scale).astype(np.int64)
