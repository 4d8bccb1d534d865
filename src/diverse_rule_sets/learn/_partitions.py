"""Rule sets that divide all records by the points of a scorecard: one rule for each part, and none uncovered.

With two labels a cut of the points divides the records in two, ``points >= t`` and ``points <= t - 1``; with more, the
label with the most points divides them into one part for each label. Such sets are the simplest ones that use a
scorecard. The search, which chooses the most precise rules first, seldom finds them: it leaves the records in between
to further rules. So they are compared with the sets of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from diverse_rule_sets.data._backend import Body
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.learn._selection import ChosenRules, FoundRules
from diverse_rule_sets.learn._splitting import rebuilt
from diverse_rule_sets.learn._value import Value
from diverse_rule_sets.model._conditions import Equals
from diverse_rule_sets.model._scorecards import Scorecard, ScorecardColumn

PARTITION = "partition"


def partitions(value: Value, cards: Sequence[Scorecard], like: FoundRules, given: ChosenRules) -> FoundRules | None:
    """Return the division of all records by points with the highest value; None if there is none within the limits.

    Parameters
    ----------
    value : the value of rules, with the data, the limits and the constraints
    cards : the scorecards
    like : the rules of a search, with the weight of the distances
    given : the given rules; if there are any, they cover records already, and there is no division
    """
    search = value.local_search
    if given.n_given or not search.limits.limit_overlap:
        return None
    best, highest = None, 0.0  # a division must be worth its price
    for card in cards:
        for bodies in _parts(value.encoder, card):
            worth = sum(value.gain(body, value.backend.cover(body)) for body in bodies) - value.price(bodies)
            if worth > highest and _allowed(value, bodies):
                best, highest = bodies, worth
    if best is None:
        return None
    return rebuilt(value.backend, search, best, [PARTITION] * len(best), like, given)


def _parts(encoder: Encoder, card: Scorecard) -> Iterator[list[Body]]:
    """Yield the bodies of each division of the records by the points of a scorecard."""
    own = [
        (item, condition)
        for item, condition in enumerate(encoder.conditions)
        if isinstance(condition.column, ScorecardColumn) and condition.column.scorecard == card
    ]
    if card.has_leader:
        yield [(item,) for item, condition in own if isinstance(condition, Equals)]
        return
    for item, _ in own:
        opposite = int(encoder.opposites[item])
        if opposite > item:
            yield [(item,), (opposite,)]


def _allowed(value: Value, bodies: Sequence[Body]) -> bool:
    """Return whether rules with these bodies keep all limits and constraints."""
    backend, search = value.backend, value.local_search
    if not bodies or len(bodies) > search.limits.max_rules:
        return False
    for body in bodies:
        counts = backend.class_counts(backend.cover(body))
        label = int(np.argmax(search.measures.shares(counts)))
        if counts.sum() < search.limits.min_support or not search.measures.searched[label]:
            return False
        if not search.constraints.has_required(body) or not search.constraints.allow(body, label):
            return False
    return True
