"""Who speaks where several rules cover a record, and with which probabilities: numbers only, no conditions.

Whoever answers for a rule set (this package, a database, a browser) follows the same :class:`Decision`. What is
added up is whole numbers, so that the order of adding changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

# Who speaks where several rules cover a record.
CONFLICTS = {
    "precision": "the most precise one speaks",
    "smoothed": "the most precise one speaks (precision smoothed towards the class shares)",
    "f1": "the one with the highest F1 score speaks",
    "first": "the first one speaks",
    "vote": "they vote, each with its smoothed precision",
    "counts": "their class counts are added up and the largest class wins",
}
# A vote of weight 1, and the weight of the heaviest class, as whole numbers.
_VOTE, _WEIGHT = 10**12, 10**9


@dataclass(frozen=True)
class Evidence:
    """What is known of some rules and classes: counts, by position.

    Parameters
    ----------
    counts : training records of each class under each rule, shape (n_rules, n_classes)
    labels : the class that each rule names
    totals : training records of each class
    weights : weight of a record of each class, or None
    smoothing : records of the whole table that each rule's shares are mixed with
    """

    counts: Floats
    labels: Integers
    totals: Integers
    weights: Floats | None
    smoothing: float

    @property
    def prior(self) -> Floats:
        """Share of each class in the table."""
        return np.asarray(self.totals / max(int(self.totals.sum()), 1))

    @property
    def added(self) -> Floats:
        """What smoothing adds to the count of each class."""
        return self.smoothing * self.prior

    @property
    def class_weights(self) -> Floats:
        """Weight of a record of each class, 1 where none is given."""
        return np.ones(self.totals.size) if self.weights is None else self.weights

    @property
    def unknown(self) -> Floats:
        """Class probabilities where nothing is counted."""
        return np.asarray(self.shares(np.zeros((1, self.totals.size)))[0])

    def shares(self, counts: Floats) -> Floats:
        """Return class probabilities: counts, smoothed towards the class shares and weighted; a row per row."""
        covered = counts.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            mixed = (counts + self.added) / (covered + self.smoothing)
        shares = np.where(covered + self.smoothing > 0, mixed, self.prior)
        if self.weights is not None:
            shares = shares * self.weights
            shares = shares / shares.sum(axis=1, keepdims=True)
        return np.asarray(np.round(shares, 12))  # classes that are as likely are so exactly: rounding decides no label

    @property
    def own(self) -> Floats:
        """Training records under each rule that have its label."""
        return np.asarray(self.counts[np.arange(self.labels.size), self.labels])

    def precisions(self, smoothed: bool) -> Floats:
        """Return the precision of each rule; 0 for one that covers nothing, unless smoothed."""
        if smoothed:
            return np.asarray(self.shares(self.counts)[np.arange(self.labels.size), self.labels])
        return np.asarray(self.own / np.maximum(self.counts.sum(axis=1), 1))

    def f1(self) -> Floats:
        """Return the harmonic mean of precision and recall of each rule, for its own label."""
        return np.asarray(2 * self.own / np.maximum(self.counts.sum(axis=1) + self.totals[self.labels], 1))


@dataclass(frozen=True)
class Decision:
    """How the covering rules of a record come to one answer.

    Parameters
    ----------
    order : positions of the rules in the order in which they are asked
    labels : the class that each rule names
    ballots : what each covering rule adds to each class, whole numbers, shape (n_rules, n_classes); None where nothing
        is added up and the first covering rule in the order speaks. Otherwise the class with the largest sum wins,
        and the first covering rule in the order that names it speaks
    preference : positions of the classes; of those with equal sums the first in this order wins
    scale : what one record of each class comes to in the ballots, where these are counts
    """

    order: Integers
    labels: Integers
    ballots: Integers | None
    preference: Integers
    scale: Integers | None = None

    def winners(self, patterns: Flags) -> Integers:
        """Return the class that wins under each combination of rules, where ballots are added up."""
        assert self.ballots is not None
        sums = (patterns.astype(np.int64) @ self.ballots)[:, self.preference]
        return np.asarray(self.preference[np.argmax(sums, axis=1)])

    def deciding(self, patterns: Flags) -> Integers:
        """Return the rule that speaks under each combination; -1 where no covering rule may."""
        if not patterns.shape[1]:
            return np.full(len(patterns), -1, np.int64)
        asked = patterns[:, self.order]
        if self.ballots is not None:
            asked = asked & (self.labels[self.order] == self.winners(patterns)[:, None])
        return np.where(asked.any(axis=1), self.order[np.argmax(asked, axis=1)], -1)


def decide(conflict: str, evidence: Evidence) -> Decision:
    """Return how rules settle contradictions; of equals the one that covers more is asked first, then the earlier."""
    places = np.arange(evidence.labels.size)
    classes = np.arange(evidence.totals.size)
    sizes = evidence.counts.sum(axis=1)
    if conflict == "first":
        return Decision(places, evidence.labels, None, classes)
    if conflict == "counts":
        by_size = np.lexsort((classes, -evidence.totals))
        scale = np.ones(classes.size, np.int64)
        if evidence.weights is not None:
            largest = min(_WEIGHT, 2**53 // max(int(evidence.counts.sum()), 1))  # sums are exact as floats too
            scale = np.maximum(_whole(evidence.weights / evidence.weights.max(), largest), 1)
        ballots = evidence.counts.astype(np.int64) * scale
        return Decision(np.lexsort((places, -evidence.own)), evidence.labels, ballots, by_size, scale)
    merit = evidence.f1() if conflict == "f1" else evidence.precisions(smoothed=conflict != "precision")
    order = np.lexsort((places, -sizes, -merit))
    if conflict != "vote":
        return Decision(order, evidence.labels, None, classes)
    ballots = np.zeros(evidence.counts.shape, np.int64)
    ballots[places, evidence.labels] = _whole(merit, _VOTE)
    return Decision(order, evidence.labels, ballots, classes)


def _whole(values: Any, scale: int) -> Integers:
    return np.rint(np.asarray(values) * scale).astype(np.int64)
