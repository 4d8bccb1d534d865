"""Exceptions: parts of the records of a rule that mostly have another label, as rules of their own.

A rule ``IF A THEN no`` may cover records of ``yes`` that only two further conditions together single out, such as ``e >
1 AND f > 1``; neither of them alone changes the label, so no split finds them. The rule is replaced by three rules that
cover the same records: the exception ``A AND e > 1 AND f > 1``, and the rest in two parts, ``A AND e > 1 AND f <= 1``
and ``A AND e <= 1``. Records without a value of e or f are left to other rules and fallback rules.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets.data._backend import Body
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._selection import EXCEPTIONS
from diverse_rule_sets.learn._set_search import Change, RuleSetSearch

# How many first conditions are followed by every second one, and how many exceptions of a rule are compared exactly.
_N_FIRST, _N_COMPARED = 8, 2

Parts = tuple[Body, ...]


class Exceptions:
    """Finds the best exceptions of rules; those of a rule depend on its records alone, and are found once.

    Parameters
    ----------
    opposites : array (n_items,), the item that holds for all other records, or -1
    """

    def __init__(self, opposites: Integers) -> None:
        self._opposites = opposites
        self._known: dict[Body, list[Parts]] = {}

    def changes(self, rules: RuleSetSearch) -> Iterator[Change]:
        """Yield the changes that replace a rule by an exception and the rest, within the limit on rules."""
        n_free = rules.search.limits.max_rules - rules.n_rules
        for j, (body, label) in enumerate(zip(rules.bodies, rules.labels, strict=True)):
            if body not in self._known:
                self._known[body] = self._best(rules, body, label)
            for parts in self._known[body]:
                if len(parts) - 1 <= n_free:
                    yield Change((j,), parts, EXCEPTIONS)

    def _best(self, rules: RuleSetSearch, body: Body, label: int) -> list[Parts]:
        """Return the best exceptions of a rule, each with the rest of the rule."""
        backend, search, opposites = rules.backend, rules.search, self._opposites
        measures = search.measures

        def gain(class_counts: Integers) -> NDArray[np.float64]:
            return measures.information * measures.weighted_gain(class_counts)

        usable = np.flatnonzero(opposites >= 0)
        if not usable.size:
            return []
        counts = backend.extension_counts([body], backend.nothing)[:-1, 0].T
        enough = self._enough(counts, usable, search.limits.min_support)
        firsts = usable[enough]
        alone = gain(counts[firsts]) + gain(counts[opposites[firsts]])
        firsts = firsts[np.argsort(-np.round(alone, 9), kind="stable")][:_N_FIRST]
        if not firsts.size:
            return []
        longer = backend.extension_counts([_with(body, item) for item in firsts.tolist()], backend.nothing)[:-1]
        found = []
        for k, first in enumerate(firsts.tolist()):
            parts_of = longer[:, k].T
            enough = self._enough(parts_of, usable, search.limits.min_support)
            enough &= measures.shares(parts_of[usable]).argmax(axis=1) != label
            enough &= _short_enough(search, _with(body, first), usable)
            gains = gain(parts_of[usable]) + gain(parts_of[opposites[usable]]) + gain(counts[opposites[first]])
            gains = np.where(enough, np.round(gains, 9), -np.inf)
            second = int(usable[np.argmax(gains)])
            parts = (
                _with(body, first, second),
                _with(body, first, int(opposites[second])),
                _with(body, int(opposites[first])),
            )
            worth = float(gains.max()) - float(gain(counts[-1])) - rules.value.price(parts) + rules.value.price([body])
            if worth > 0 and search.within_length(parts[-1]):
                found.append((worth, -k, parts))
        found.sort(reverse=True)
        return [tuple(map(search.without_redundant_items, parts)) for _, _, parts in found[:_N_COMPARED]]

    def _enough(self, counts: Integers, items: Integers, min_support: int) -> NDArray[np.bool_]:
        """Return for which items the records with and those without it are enough for a rule."""
        sizes = counts.sum(axis=1)
        return np.asarray((sizes[items] >= min_support) & (sizes[self._opposites[items]] >= min_support))


def _short_enough(search: LocalSearch, body: Body, items: Integers) -> NDArray[np.bool_]:
    """Return whether a body with each of some items added has at most ``max_conditions`` conditions."""
    most, used = search.limits.max_conditions, search.columns[list(body)]
    new = ~np.isin(search.columns[items], used)
    return np.asarray(new + search.n_conditions(body) <= (np.inf if most is None else most))


def _with(body: Body, *items: int) -> Body:
    return tuple(sorted({*body, *items}))
