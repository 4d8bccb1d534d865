"""Which items are cuts of scorecards, and what the first rule that uses a scorecard pays for its signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets.data._backend import Body


class ScorecardPrices(NamedTuple):
    """Which items are cuts of scorecards, and what the use of a scorecard costs.

    Parameters
    ----------
    of_item : array (n_items,), the number of the scorecard that an item is a cut of, -1 for other items
    n_signs : array (n_scorecards,), number of pairs of a sign and a class, which the first rule that uses it pays for
    """

    of_item: Integers
    n_signs: Integers

    def used(self, bodies: Sequence[Body]) -> NDArray[np.bool_]:
        """Return which scorecards each body uses: an array (n_bodies, n_scorecards)."""
        flags = np.zeros((len(bodies), self.n_signs.size + 1), np.bool_)
        for row, body in zip(flags, bodies, strict=True):
            row[self.of_item[list(body)]] = True  # the last column is for other items
        return flags[:, :-1]


def only_points(prices: ScorecardPrices, bodies: Sequence[Body]) -> NDArray[np.bool_]:
    """Return which bodies with each item added, and, last, which bodies themselves, have conditions on points only.

    Cross-fitting has shown the evidence for the scorecard before the search, so its cuts need no further evidence.
    """
    only = np.array([all(prices.of_item[item] >= 0 for item in body) for body in bodies])
    itself = only & np.array([bool(body) for body in bodies])
    return np.hstack([only[:, None] & (prices.of_item >= 0), itself[:, None]])
