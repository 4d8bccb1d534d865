"""The search of the paper (Algorithm 2): draw candidates, add the best one, until no class gains enough.

In each round, candidates are drawn for every class that is still in rotation; the distribution favours candidates that
cover uncovered records of the class and no others. The greedy algorithm adds the best of all of them. If the best
candidate newly covers too small a share of its class, it is not added and the class leaves the rotation. In a second
pass, the greedy algorithm chooses as many rules among all candidates drawn. The result is the set with the higher
objective; this is at least half of the highest objective of any set of this size, over all candidates drawn.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body
from diverse_rule_sets.learn._constraints import UNCONSTRAINED, Constraints, GivenRule
from diverse_rule_sets.learn._covered import CoveredRecords
from diverse_rule_sets.learn._deadline import OutOfTimeError
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._measures import quality
from diverse_rule_sets.learn._selection import (
    FIRST_PASS,
    LAMBDA_MODES,
    Candidates,
    ChosenRules,
    FoundRules,
    OnChoice,
    SearchSettings,
    better_of,
    second_pass,
)
from diverse_rule_sets.learn.samplers import RejectionSampler

Floats = NDArray[np.float64]


def search(
    backend: Backend,
    sampler: RejectionSampler,
    columns: Integers,
    settings: SearchSettings,
    rng: np.random.Generator,
    on_choice: OnChoice,
    constraints: Constraints = UNCONSTRAINED,
) -> FoundRules:
    """Find a diverse set of rules.

    Parameters
    ----------
    backend : the data
    sampler : draws the candidates, within the constraints on items
    columns : array (n_items,), the column of each item
    settings : the settings of the search
    rng : the only source of random numbers
    on_choice : called after each chosen rule
    constraints : the constraints on rules
    """
    lambda_ = _lambda(backend, sampler, settings, rng)
    chosen = ChosenRules(backend)
    chosen.add_given(constraints.given, partial(_quality_of_given, backend.class_totals))
    first, pool = _first_pass(backend, sampler, columns, settings, lambda_, chosen, rng, on_choice)
    if not settings.second_pass or not first.learnt or settings.limits.deadline.passed():
        return first
    given = chosen.only_given()
    try:
        second = second_pass(backend, pool, lambda_, len(first.learnt), settings.limits, on_choice, given)
    except OutOfTimeError:
        return first
    return better_of(first, second)


def _quality_of_given(class_totals: Integers, class_counts: Integers, rule: GivenRule) -> float:
    """Return the quality of a given rule."""
    return float(quality(class_counts[None], np.array([rule.label]), class_totals)[0])


def _lambda(backend: Backend, sampler: RejectionSampler, settings: SearchSettings, rng: np.random.Generator) -> float:
    """Return the weight of the distances: the given number, or computed from rules drawn from the whole data."""
    if not isinstance(settings.diversity, str):
        return float(settings.diversity)
    if settings.diversity == "none":
        return 0.0
    qualities = [np.zeros(0)]
    for label in settings.limits.deadline.until(range(backend.n_classes)):
        bodies = sampler.draw(label, settings.n_candidates, backend.nothing, rng)
        qualities.append(_sizes_and_qualities(backend, bodies, label)[1])
    sample = np.concatenate(qualities)
    return LAMBDA_MODES[settings.diversity](sample) if sample.size else 0.0


class _Best(NamedTuple):
    """The best candidate of a round so far."""

    score: float
    body: Body
    label: int
    quality: float
    distance: float


def _first_pass(
    backend: Backend,
    sampler: RejectionSampler,
    columns: Integers,
    settings: SearchSettings,
    lambda_: float,
    chosen: ChosenRules,
    rng: np.random.Generator,
    on_choice: OnChoice,
) -> tuple[FoundRules, Candidates]:
    """Draw candidates for every class and add the best one, until no class gains enough; return also the candidates."""
    pool = Candidates()
    rotation = list(range(backend.n_classes))
    limits = settings.limits
    while rotation and len(chosen.steps) < limits.max_rules:
        best: _Best | None = None
        for label in limits.deadline.until(rotation.copy()):
            bodies = sampler.draw(label, settings.n_candidates, chosen.covered, rng)
            if not bodies.size:
                rotation.remove(label)
                continue
            sizes, qualities = _sizes_and_qualities(backend, bodies, label)
            allowed = _within_limits(limits, backend, bodies, label, columns, sizes, chosen.earlier)
            if not allowed.all():
                bodies, sizes, qualities = bodies.take(np.flatnonzero(allowed)), sizes[allowed], qualities[allowed]
            if settings.second_pass:
                pool.add(bodies, label, sizes, qualities)
            score_to_beat = -np.inf if best is None else best.score
            found = chosen.best_of(bodies, sizes, qualities, lambda_, score_to_beat)
            if found is not None:
                own_quality = float(qualities[found.candidate])
                best = _Best(found.score, bodies.body(found.candidate), label, own_quality, found.distance)
        if best is None or limits.deadline.passed():
            break
        step, cover = chosen.make_step(best.body, best.label, best.quality, best.distance, FIRST_PASS)
        if step.recall_gain <= limits.min_recall_gain:
            rotation.remove(best.label)
            continue
        chosen.add(step, cover)
        on_choice(FIRST_PASS, len(chosen.steps), chosen.covered)
    return chosen.result(lambda_, 1), pool


def _sizes_and_qualities(backend: Backend, bodies: Lists, label: int) -> tuple[Integers, Floats]:
    """Return the number of records that each body covers, and its quality for the label."""
    class_counts = backend.class_counts_of(bodies)
    labels = np.full(bodies.size, label, np.int64)
    return class_counts.sum(axis=1), quality(class_counts, labels, backend.class_totals)


def _within_limits(
    limits: Limits,
    backend: Backend,
    bodies: Lists,
    label: int,
    columns: Integers,
    sizes: Integers,
    earlier: CoveredRecords,
) -> NDArray[np.bool_]:
    """Return whether each body is within the limits."""
    if limits.max_conditions is None and not limits.limit_overlap and limits.min_support <= 1:
        return np.ones(bodies.size, np.bool_)
    shared = backend.shared_counts(bodies, [earlier.records])[:, 0]
    n_conditions = np.array([len(set(columns[list(body)].tolist())) for body in bodies.tuples()], np.int64)
    labels = np.full(bodies.size, label, np.int64)
    return limits.allow(n_conditions, sizes, shared) & earlier.allow_bodies(limits, bodies, sizes, shared, labels)
