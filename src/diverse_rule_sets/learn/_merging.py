"""Fewer rules at the end: rules of one label are merged, and rules that are not worth their price are dropped.

Two rules are merged into the rule with the conditions that hold for the records of both: of two bounds on one side the
wider one, and only conditions that both have. ``points <= 9`` and ``10 <= points <= 13`` become ``points <= 13``. A
rule is dropped if the records that it covers are predicted about as well by the default label. Both must raise the
value of the rule set (:mod:`._value`), and the limits on rules hold afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from diverse_rule_sets.data._backend import Body
from diverse_rule_sets.learn._growth import WiderItems
from diverse_rule_sets.learn._selection import MERGING, ChosenRules, FoundRules, OnChoice
from diverse_rule_sets.learn._set_search import Change, RuleSetSearch
from diverse_rule_sets.learn._value import Value


def merge(value: Value, found: FoundRules, wider: WiderItems, on_choice: OnChoice, given: ChosenRules) -> FoundRules:
    """Return the rules after merging and dropping as long as this raises their value, the largest gain first.

    Without a limit on overlap the rules are returned unchanged: then at least half of the best objective of as many
    rules is guaranteed.

    Parameters
    ----------
    value : the value of rules, with the data and the limits
    found : the rules
    wider : items of the same column that hold for more records, by item
    on_choice : called after each step
    given : the given rules, which are neither merged nor dropped
    """
    limits = value.local_search.limits
    if not limits.limit_overlap or limits.deadline.passed():
        return found
    rules = RuleSetSearch(value, found, given)
    while not limits.deadline.passed() and rules.step(fewer(rules, wider)):
        on_choice(MERGING, rules.n_rules, rules.covered)
    if len(rules.bodies) == len(found.learnt):
        return found
    return rules.result(given)


def fewer(rules: RuleSetSearch, wider: WiderItems) -> Iterator[Change]:
    """Yield the changes to one rule less: each rule dropped, and each two rules of one label merged."""
    for j in range(len(rules.bodies)):
        yield Change((j,), ())
    for i, j in itertools.combinations(range(len(rules.bodies)), 2):
        if rules.labels[i] == rules.labels[j]:
            hull = _hull(rules.bodies[i], rules.bodies[j], wider)
            if hull is not None and _keeps_label(rules, hull, rules.labels[i]):
                yield Change((i, j), (hull,))


def _keeps_label(rules: RuleSetSearch, body: Body, label: int) -> bool:
    counts = rules.backend.class_counts(rules.backend.cover(body))
    return int(np.argmax(rules.search.measures.shares(counts))) == label


def _hull(one: Body, other: Body, wider: WiderItems) -> Body | None:
    """Return the items that both bodies have, and of two bounds on one side the wider one; None without any."""
    items = {
        item
        for a, b in ((one, other), (other, one))
        for item in a
        if any(item == same or item in wider.get(same, ()) for same in b)
    }
    return tuple(sorted(items)) or None
