"""The order of the steps from items to rules: draw, improve, choose, choose again, split, fallback rules."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn._fallbacks import Fallback, find_fallbacks
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._paper_search import FoundRules, Report, SearchSettings, search
from diverse_rule_sets.learn._search import finish, first_pass
from diverse_rule_sets.learn.samplers import ConstrainedSampler, RejectionSampler

# Items that a drawn body is expected to hold, where the odds are not given.
_DRAWN_ITEMS = 2.0


@dataclass(frozen=True)
class Plan:
    """What the learning is told; the words are those of the classifiers' parameters.

    Parameters
    ----------
    settings : of both searches
    measure : the law of drawn bodies, ``"pairs"`` or ``"triples"``
    length_odds : odds of each item of a record to enter a drawn body; None for bodies of about two items
    smoothing : records of the whole table that are mixed into the class shares of a rule
    min_evidence, condition_price, split, max_fallbacks : of the default search alone
    """

    settings: SearchSettings
    measure: str
    length_odds: float | None
    smoothing: float
    min_evidence: float = 0.0
    condition_price: float = 0.0
    split: bool = False
    max_fallbacks: int = 0

    def limited(self, max_rules: int) -> Plan:
        """Return the same plan for another number of rules."""
        limits = self.settings.limits._replace(max_rules=max_rules)
        return replace(self, settings=replace(self.settings, limits=limits))


class Data(NamedTuple):
    """The training records as items, how their counts are measured, and the constraints on rules."""

    encoder: Encoder
    backend: Backend
    measures: Measures
    constraints: Constraints


class Learnt(NamedTuple):
    """The rules and fallbacks, by items."""

    found: FoundRules
    fallbacks: list[Fallback]


# Learns rule sets for several values of ``max_rules`` in one search. Each is the one that a search for that value alone
# would find with the same seed: the greedy chooses the same first rules whatever the number wanted.
Learner = Callable[[Data, Plan, Sequence[int], np.random.Generator, Report], list[Learnt]]


def learn(data: Data, plan: Plan, max_rules: Sequence[int], rng: np.random.Generator, report: Report) -> list[Learnt]:
    """Learn by the default search: drawn bodies are improved, chosen, and split; then fallback rules are made."""
    limits = plan.limited(max(max_rules)).settings.limits
    local_search = LocalSearch(
        data.backend, data.encoder.columns, data.measures, limits, plan.min_evidence, data.constraints
    )
    trace = first_pass(data.backend, _sampler(data, plan), local_search, plan.settings, rng, report)
    opposites = data.encoder.opposites if plan.split else None
    plans = [plan.limited(wanted) for wanted in max_rules]
    sets = [finish(data.backend, local_search, trace, one.settings, opposites, report) for one in plans]
    return [Learnt(found, fallbacks_of(data, plan, found)) for found in sets]


def learn_as_in_paper(
    data: Data, plan: Plan, max_rules: Sequence[int], rng: np.random.Generator, report: Report
) -> list[Learnt]:
    """Learn by the paper's Algorithm 2: drawn bodies are chosen as they are."""
    plans = [plan.limited(wanted) for wanted in max_rules]
    sources = [*(copy.deepcopy(rng) for _ in plans[1:]), rng]
    sampler, columns = _sampler(data, plan), data.encoder.columns
    sets = [
        search(data.backend, sampler, columns, one.settings, source, report, data.constraints)
        for one, source in zip(plans, sources, strict=True)
    ]
    return [Learnt(found, fallbacks_of(data, plan, found)) for found in sets]


def _sampler(data: Data, plan: Plan) -> RejectionSampler:
    """Return what draws bodies, within the constraints."""
    odds = _odds(plan.length_odds, data.backend)
    if data.constraints.is_empty:
        return RejectionSampler(data.backend, plan.measure, odds)
    return ConstrainedSampler(data.backend, plan.measure, odds, data.constraints)


def _odds(length_odds: float | None, backend: Backend) -> float:
    """Odds of each item of a record to enter a body: as given, or such that bodies hold about two."""
    if length_odds is not None:
        return length_odds
    if not backend.n_records:
        return 1.0
    held = backend.class_counts_of(Lists.of([(item,) for item in range(backend.n_items)])).sum()
    return min(1.0, _DRAWN_ITEMS / max(float(held / backend.n_records), 1.0))


def fallbacks_of(data: Data, plan: Plan, found: FoundRules) -> list[Fallback]:
    """Find the fallbacks of the rules that were learnt, for records that neither they nor given ones cover."""
    bodies, limits = [step.body for step in found.learnt], plan.settings.limits
    columns, most = data.encoder.columns, plan.max_fallbacks
    return find_fallbacks(data.backend, columns, data.measures, bodies, found.covered, limits, most, data.constraints)


def own_recall(data: Data, found: FoundRules) -> NDArray[np.float64]:
    """Share of each class that rules of its own label cover."""
    backend, given = data.backend, [rule.cover for rule in data.constraints.given]
    covers = given + [backend.cover(step.body) for step in found.learnt]
    own = np.zeros(backend.n_classes)
    for label in range(backend.n_classes):
        cover = backend.nothing
        for step, one in zip(found.steps, covers, strict=True):
            if step.label == label:
                cover = backend.union(cover, one)
        own[label] = backend.class_counts(cover)[label]
    return np.asarray(own / backend.class_totals)
