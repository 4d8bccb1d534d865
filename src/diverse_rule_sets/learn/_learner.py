"""From a table to rules in item space: the order in which the rooms are walked through."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.tables import Table
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._encoder import Cutting, Encoding, encode
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn._constraint_input import Wishes, steering_of
from diverse_rule_sets.learn._constraints import Steering
from diverse_rule_sets.learn._fallbacks import Backup, find_backups
from diverse_rule_sets.learn._local_search import Refiner
from diverse_rule_sets.learn._measures import Scale
from diverse_rule_sets.learn._paper_search import Found, Report, Settings, Step, search
from diverse_rule_sets.learn._search import finished, first_pass
from diverse_rule_sets.learn.samplers import RejectionSampler, SteeredSampler
from diverse_rule_sets.model._conditions import merged
from diverse_rule_sets.model._rules import Rule

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
    wishes: Wishes

    def limited(self, max_rules: int) -> Plan:
        """Return the same plan for another number of rules."""
        limits = self.settings.limits._replace(max_rules=max_rules)
        return replace(self, settings=replace(self.settings, limits=limits))


class Data(NamedTuple):
    """The training records as items, and how their counts are measured."""

    encoding: Encoding
    backend: LocalBackend
    scale: Scale
    steering: Steering


class Learnt(NamedTuple):
    """The rules and backups, by items."""

    found: Found
    backups: list[Backup]


def prepare(
    table: Table,
    codes: NDArray[np.int64],
    class_weights: NDArray[np.float64],
    plan: Plan,
    labels: list[object],
    n_threads: int,
) -> Data:
    """Turn a table, and what was asked of its rules, into items."""
    encoding = encode(table, plan.cutting, Target(codes, class_weights))
    backend = LocalBackend(encoding.rows, codes, class_weights.size, n_threads)
    scale = Scale(backend.class_totals, class_weights, plan.smoothing, plan.condition_price)
    return Data(encoding, backend, scale, steering_of(plan.wishes, table, encoding, labels))


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
    backend, columns, steering = data.backend, data.encoding.columns, data.steering
    plans = [plan.limited(wanted) for wanted in max_rules]
    sampler = RejectionSampler(backend, plan.measure, _odds(plan.length_odds, backend))
    if not steering.is_free:
        sampler = SteeredSampler(backend, plan.measure, _odds(plan.length_odds, backend), steering)
    if not plan.refine:
        sources = [*(copy.deepcopy(rng) for _ in plans[1:]), rng]
        sets = [
            search(backend, sampler, columns, one.settings, source, report, steering)
            for one, source in zip(plans, sources, strict=True)
        ]
    else:
        limits = plan.limited(max(max_rules)).settings.limits
        refiner = Refiner(backend, columns, data.scale, limits, plan.min_evidence, steering)
        trace = first_pass(backend, sampler, refiner, plan.settings, rng, report)
        opposites = data.encoding.opposites if plan.split else None
        sets = [finished(backend, refiner, trace, one.settings, opposites, report) for one in plans]
    return [Learnt(found, backups_of(data, plan, found)) for found in sets]


def backups_of(data: Data, plan: Plan, found: Found) -> list[Backup]:
    """Find the backups of the rules that were learnt, for records that neither they nor given ones cover."""
    bodies, limits = [step.body for step in found.learnt], plan.settings.limits
    columns, most = data.encoding.columns, plan.max_backups
    return find_backups(data.backend, columns, data.scale, bodies, found.covered, limits, most, data.steering)


def _odds(length_odds: float | None, backend: LocalBackend) -> float:
    """Odds of each item of a record to enter a body: as given, or such that bodies hold about two."""
    if length_odds is not None:
        return length_odds
    return min(1.0, _DRAWN_ITEMS / max(float(backend.sizes.mean()), 1.0)) if backend.n_records else 1.0


def own_recall(data: Data, found: Found) -> NDArray[np.float64]:
    """Share of each class that rules of its own label cover."""
    backend, given = data.backend, [rule.cover for rule in data.steering.given]
    covers = given + [backend.cover(np.array(step.body, np.int32)) for step in found.learnt]
    own = np.zeros(backend.n_classes)
    for label in range(backend.n_classes):
        cover = backend.nothing
        for step, one in zip(found.steps, covers, strict=True):
            if step.label == label:
                cover = cover | one
        own[label] = backend.class_counts(cover)[label]
    return np.asarray(own / backend.class_totals)


def rules_of(data: Data, plan: Plan, found: Found, labels: list[object]) -> tuple[Rule, ...]:
    """Return the rules in raw units, the given ones as they were given, all with their class counts."""
    given = (
        replace(rule, class_counts=_named(step.class_counts, labels))
        for rule, step in zip(plan.wishes.given, found.steps, strict=False)
    )
    return (*given, *(translated(data, one, labels) for one in found.learnt))


def translated(data: Data, one: Step | Backup, labels: list[object]) -> Rule:
    """Turn a body into a rule in raw units."""
    conditions = merged(data.encoding.conditions[item] for item in one.body)
    return Rule(conditions, labels[one.label], _named(one.class_counts, labels))


def _named(class_counts: NDArray[np.int64], labels: list[object]) -> tuple[tuple[object, int], ...]:
    return tuple(zip(labels, class_counts.tolist(), strict=True))
