"""The chosen rules improved at the end: splits, growth and merging, then exceptions and refits, then fewer rules.

First, rules that cover several classes are split in two, rules grow to cover records that no rule covers, and rules of
one label are merged. Then the whole set is improved by single changes as long as its value rises. For a limit on
statements, the change that lowers the value least is made until the set is small enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.learn._exceptions import Exceptions
from diverse_rule_sets.learn._growth import NONE_WIDER, WiderItems, grow
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._merging import fewer, merge
from diverse_rule_sets.learn._refitting import Refits
from diverse_rule_sets.learn._selection import EXCEPTIONS, MERGING, REFITTING, ChosenRules, FoundRules, OnChoice
from diverse_rule_sets.learn._set_search import RuleSetSearch
from diverse_rule_sets.learn._splitting import split
from diverse_rule_sets.learn._value import Value

# Largest number of times that rules are grown and merged, or grown and refined.
_MAX_ROUNDS = 4


class Improvement(NamedTuple):
    """How the chosen rules are improved.

    Parameters
    ----------
    backend, local_search : the data; the limits, the measures and the constraints
    given : returns the given rules alone, to which others are added
    on_choice : called after each step
    opposites : array (n_items,), the item that holds for all other records, or -1; None for no splits and exceptions
    wider : items of the same column that hold for more records, by item
    value : the value of rules; None for neither merging nor refining
    """

    backend: Backend
    local_search: LocalSearch
    given: Callable[[], ChosenRules]
    on_choice: OnChoice
    opposites: Integers | None = None
    wider: WiderItems = NONE_WIDER
    value: Value | None = None

    def apply(self, found: FoundRules, max_rules: int) -> FoundRules:
        """Return the rules after splits, growth and merging."""
        if self.opposites is not None:
            given = self.given()
            found = split(self.backend, self.local_search, self.opposites, found, max_rules, self.on_choice, given)
        for _ in range(_MAX_ROUNDS):
            before = [step.body for step in found.learnt]
            found = self._grown(found)
            if self.value is not None:
                found = merge(self.value, found, self.wider, self.on_choice, self.given())
            if before == [step.body for step in found.learnt]:
                break
        return found

    def refined(self, found: FoundRules) -> FoundRules:
        """Return the rules after single changes of the set, as long as they raise its value.

        Without a limit on overlap the rules are returned unchanged: then at least half of the best objective of as many
        rules is guaranteed.
        """
        limits = self.local_search.limits
        if self.value is None or not limits.limit_overlap or limits.deadline.passed():
            return found
        refits = Refits()
        exceptions = None if self.opposites is None else Exceptions(self.opposites)
        for _ in range(_MAX_ROUNDS):
            rules, bodies = RuleSetSearch(self.value, found, self.given()), [step.body for step in found.learnt]
            while not limits.deadline.passed() and rules.step(
                itertools.chain(fewer(rules, self.wider), () if exceptions is None else exceptions.changes(rules))
            ):
                self.on_choice(EXCEPTIONS, rules.n_rules, rules.covered)
            while not limits.deadline.passed() and rules.step(refits.changes(rules)):
                self.on_choice(REFITTING, rules.n_rules, rules.covered)
            if rules.bodies == bodies:
                break
            found = self._grown(rules.result(self.given()))
        return found

    def reduced(self, found: FoundRules, sizes: set[int]) -> dict[int, FoundRules]:
        """Return the rules, and the sets of some smaller numbers of rules, by number, given rules included.

        Each is made from the next larger one by dropping or merging rules, whatever lowers the value least. If there is
        no time left, the largest of the sizes that are not reached yet has the first rules only.
        """
        n_given, deadline = self.given().n_given, self.local_search.limits.deadline
        sets = {len(found.steps): found}
        if self.value is None or not sizes:
            return sets
        rules = RuleSetSearch(self.value, found, self.given())
        fewest = max(min(sizes), n_given)
        while rules.n_rules > fewest and not deadline.passed() and rules.step(fewer(rules, self.wider), forced=True):
            self.on_choice(MERGING, rules.n_rules, rules.covered)
            if rules.n_rules in sizes:
                sets[rules.n_rules] = self._grown(rules.result(self.given()))
        if deadline.passed():
            for size in sorted(size for size in sizes if n_given <= size < rules.n_rules):
                sets[size] = rules.result(self.given(), size - n_given)
        return sets

    def _grown(self, found: FoundRules) -> FoundRules:
        return grow(self.backend, self.local_search, found, self.wider, self.on_choice, self.given())
