"""From a table to rules in item space: the order in which the rooms are walked through."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._tables import Table
from diverse_rule_sets.backends import LocalBackend
from diverse_rule_sets.backups import Backup, find_backups
from diverse_rule_sets.conditions import merged
from diverse_rule_sets.cutting import Target
from diverse_rule_sets.encoding import Cutting, Encoding, encode
from diverse_rule_sets.grow import finished, first_pass
from diverse_rule_sets.measures import Scale
from diverse_rule_sets.refine import Refiner
from diverse_rule_sets.rules import Rule
from diverse_rule_sets.samplers import RejectionSampler
from diverse_rule_sets.search import Found, Report, Settings, search

# Items that a drawn body is expected to hold, where the odds are not given.
_DRAWN_ITEMS = 2.0


@dataclass(frozen=True)
class Plan:
    """What steers the learning; the words are those of the classifier's parameters."""

    cutting: Cutting
    settings: Settings
    measure: str
    length_odds: float | None
    refine: bool
    split: bool
    max_backups: int
    min_evidence: float
    condition_price: float
    smoothing: float

    def limited(self, max_rules: int) -> Plan:
        """Return the same plan for another number of rules."""
        limits = self.settings.limits._replace(max_rules=max_rules)
        return replace(self, settings=replace(self.settings, limits=limits))


class Data(NamedTuple):
    """The training records as items, and how their counts are measured."""

    encoding: Encoding
    backend: LocalBackend
    scale: Scale


class Learnt(NamedTuple):
    """The rules and backups, by items."""

    found: Found
    backups: list[Backup]


def prepare(
    table: Table, codes: NDArray[np.int64], class_weights: NDArray[np.float64], plan: Plan, n_threads: int
) -> Data:
    """Turn a table into items."""
    encoding = encode(table, plan.cutting, Target(codes, class_weights))
    backend = LocalBackend(encoding.rows, codes, class_weights.size, n_threads)
    scale = Scale(backend.class_totals, class_weights, plan.smoothing, plan.condition_price)
    return Data(encoding, backend, scale)


def learn(data: Data, plan: Plan, rng: np.random.Generator, report: Report) -> Learnt:
    """Find rules and their backups."""
    return learn_path(data, plan, [plan.settings.limits.max_rules], rng, report)[0]


def learn_path(
    data: Data, plan: Plan, max_rules: Sequence[int], rng: np.random.Generator, report: Report
) -> list[Learnt]:
    """Find rules and their backups for several values of ``max_rules`` in one search.

    Each set is the one that :func:`learn` would find for that value with the same seed: the greedy chooses the same
    first rules whatever the number wanted.
    """
    backend, columns = data.backend, data.encoding.columns
    plans = [plan.limited(wanted) for wanted in max_rules]
    sampler = RejectionSampler(backend, plan.measure, _odds(plan.length_odds, backend))
    if not plan.refine:
        sources = [*(copy.deepcopy(rng) for _ in plans[1:]), rng]
        sets = [
            search(backend, sampler, columns, one.settings, source, report)
            for one, source in zip(plans, sources, strict=True)
        ]
    else:
        limits = plan.limited(max(max_rules)).settings.limits
        refiner = Refiner(backend, columns, data.scale, limits, plan.min_evidence)
        trace = first_pass(backend, sampler, refiner, plan.settings, rng, report)
        opposites = data.encoding.opposites if plan.split else None
        sets = [finished(backend, refiner, trace, one.settings, opposites, report) for one in plans]
    return [Learnt(found, backups_of(data, plan, found)) for found in sets]


def backups_of(data: Data, plan: Plan, found: Found) -> list[Backup]:
    """Find the backups of some rules."""
    bodies, limits = [step.body for step in found.steps], plan.settings.limits
    columns = data.encoding.columns
    return find_backups(data.backend, columns, data.scale, bodies, found.covered, limits, plan.max_backups)


def _odds(length_odds: float | None, backend: LocalBackend) -> float:
    """Odds of each item of a record to enter a body: as given, or such that bodies hold about two."""
    if length_odds is not None:
        return length_odds
    return min(1.0, _DRAWN_ITEMS / max(float(backend.sizes.mean()), 1.0)) if backend.n_records else 1.0


def translated(data: Data, body: tuple[int, ...], label: int, counts: NDArray[np.int64], labels: list[object]) -> Rule:
    """Turn a body into a rule in raw units."""
    conditions = merged(data.encoding.conditions[item] for item in body)
    return Rule(conditions, labels[label], tuple(zip(labels, counts.tolist(), strict=True)))
