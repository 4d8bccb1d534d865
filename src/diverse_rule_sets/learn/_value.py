"""The value of statements: how much they raise the log-likelihood of the training records, and what they cost to read.

Two rule sets are compared by their values, and a rule is kept only if it is worth its price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.learn._limits import READING_PRICE
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._scorecard_levels import ScorecardLevels
from diverse_rule_sets.model._point_probabilities import followed_column
from diverse_rule_sets.model._scorecards import Scorecard

# A rule must be worth so many times the evidence that it needs, and the price of reading it.
_EVIDENCE_FACTOR = 2.0
_SMALLEST = 1e-300  # replaces 0 in logarithms and denominators


class Value(NamedTuple):
    """Gains and prices of rules.

    Parameters
    ----------
    backend, encoder, measures : the data
    local_search : knows how much evidence a rule needs, which is its price
    levels : the records by points of a scorecard
    reading_price : what each rule costs for each record of the table, in nats; on large tables the evidence for very
        small rules is strong, but they are not worth reading
    """

    backend: Backend
    encoder: Encoder
    measures: Measures
    local_search: LocalSearch
    levels: Callable[[Scorecard], ScorecardLevels]
    reading_price: float = READING_PRICE

    def gain(self, body: Body, cover: Cover, of_rule: Cover | None = None) -> float:
        """Return how much a rule raises the weighted log-likelihood of the records for which it decides.

        If the rule tests points, the records are counted by points; the class shares of each number of points are
        smoothed with those of the rule.

        Parameters
        ----------
        body : the body of the rule
        cover : the records for which it decides
        of_rule : the records from which its class shares are counted; by default the same. If rules overlap much, a
            rule decides for few of its records, and these may be of another class than the others
        """
        measures, decided = self.measures, self.backend.class_counts(cover)
        counts = decided if of_rule is None else self.backend.class_counts(of_rule)
        followed = followed_column([self.encoder.conditions[item] for item in body])
        if followed is None:
            return measures.information * float(measures.weighted_gain(decided, counts))
        levels = self.levels(followed[0].scorecard)
        by_points = levels.counts_by_points(followed[0], cover)
        if not by_points:
            return 0.0
        of_points = by_points if of_rule is None else levels.counts_by_points(followed[0], of_rule)
        weighted = np.array(list(by_points.values())) * measures.weights
        shares = np.array([of_points[points] for points in by_points]) * measures.weights
        shares += measures.smoothing * measures.shares(counts)
        shares /= shares.sum(axis=1, keepdims=True)
        lift = np.log(np.maximum(shares, _SMALLEST) / np.maximum(measures.weighted_prior, _SMALLEST))
        return measures.information * float((weighted * lift)[:, measures.searched].sum())

    def price(self, bodies: Iterable[Body]) -> float:
        """Return the price of rules with these bodies: twice the evidence that they need, and the price of reading."""
        search, n_records = self.local_search, self.backend.n_records
        lengths = np.array([search.n_conditions(body) for body in bodies], np.int64)
        evidence = float(np.sum(search.evidence_needed(lengths, search.n_free, n_records)))
        return _EVIDENCE_FACTOR * evidence + self.reading_price * n_records * lengths.size

    def price_of_signs(self, n_signs: int) -> float:
        """Return the price of signs: half of that of as many conditions of one rule."""
        needed = self.local_search.evidence_needed
        return 0.5 * float(needed(n_signs, 0, self.backend.n_records))
