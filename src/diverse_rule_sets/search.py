"""The paper's Algorithm 2 in item space: sample, choose, mark as covered, until no class gains enough.

In each round every class still in rotation draws candidates that cover its uncovered records and avoid all others. The
greedy adds the best of them all, unless it covers too small a share of new records of its class: then that
class leaves the rotation. A second greedy chooses as many rules among all candidates ever drawn, and the set
with the higher objective wins: over the candidates seen, it has at least half of the objective of the best set
of that size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets import diversify
from diverse_rule_sets._bitset import Integers, Lists, Words
from diverse_rule_sets.backends import LocalBackend
from diverse_rule_sets.measures import jaccard_distance, quality
from diverse_rule_sets.samplers import RejectionSampler

Floats = NDArray[np.float64]
# How lambda is taken from the qualities of rules sampled from the whole data.
LAMBDA_MODES: dict[str, Callable[[Floats], float]] = {
    "none": lambda _: 0.0,
    "permissive": lambda qualities: float(qualities.mean()),
    "strict": lambda qualities: float(qualities.max()),
}


@dataclass(frozen=True)
class Settings:
    """What steers the search; the words are those of the classifier's parameters."""

    n_candidates: int
    max_rules: int
    min_recall_gain: float
    diversity: str | float
    second_pass: bool


class Step(NamedTuple):
    """One chosen rule, and what it added to those before it."""

    body: tuple[int, ...]
    label: int
    class_counts: Integers
    quality: float
    distance_gain: float
    recall_gain: float


@dataclass
class Found:
    """The rules that were found, in the order in which they were chosen."""

    steps: list[Step]
    lambda_: float
    objective: float
    pass_: int
    covered: Words


Report = Callable[[str, int, Words], None]


def search(
    backend: LocalBackend, sampler: RejectionSampler, settings: Settings, rng: np.random.Generator, report: Report
) -> Found:
    """Find a diverse set of rules.

    Parameters
    ----------
    backend, sampler : the data, and who draws candidates from it
    settings : see :class:`Settings`
    rng : the one source of chance
    report : called after each chosen rule with the name of the pass, the number of rules and what they cover
    """
    lambda_ = _lambda(backend, sampler, settings, rng)
    first, pool = _first_pass(backend, sampler, settings, lambda_, rng, report)
    if settings.second_pass and first.steps:
        second = _second_pass(backend, pool.joined(), lambda_, len(first.steps), report)
        if second.objective > first.objective * (1 + 1e-12):  # not by rounding alone
            return second
    return first


@dataclass
class _Candidates:
    """Every candidate drawn, with its label and class counts."""

    bodies: list[Lists] = field(default_factory=list)
    labels: list[Integers] = field(default_factory=list)
    class_counts: list[Integers] = field(default_factory=list)

    def add(self, bodies: Lists, labels: Integers, class_counts: Integers) -> None:
        self.bodies.append(bodies)
        self.labels.append(labels)
        self.class_counts.append(class_counts)

    def joined(self) -> tuple[Lists, Integers, Integers]:
        """Return all candidates, copies included, in the order in which they were drawn."""
        return Lists.joined(self.bodies), np.concatenate(self.labels), np.concatenate(self.class_counts)


class _Chosen:
    """The rules chosen so far and what they cover."""

    def __init__(self, backend: LocalBackend) -> None:
        self._backend = backend
        self._covers: list[Words] = []
        self._sizes: list[int] = []
        self.steps: list[Step] = []
        self.covered = backend.nothing

    def distance_sums(self, bodies: Lists, sizes: Integers) -> Callable[[Integers], Floats]:
        """Return a function that adds up the distances of some of the bodies to all chosen rules."""
        covers, own_sizes = np.array(self._covers, np.uint64), np.array(self._sizes, np.int64)

        def sums(some: Integers) -> Floats:
            if not own_sizes.size:
                return np.zeros(some.size)
            shared = self._backend.shared(bodies.take(some), covers)
            return diversify.added_up(jaccard_distance(shared, sizes[some][:, None], own_sizes))

        return sums

    def recall_gain(self, cover: Words, label: int) -> float:
        """Share of a class that a cover would newly cover."""
        new = self._backend.class_counts(cover & ~self.covered)[label]
        return float(new / self._backend.class_totals[label])

    def add(self, step: Step, cover: Words) -> None:
        self.steps.append(step)
        self._covers.append(cover)
        self._sizes.append(int(step.class_counts.sum()))
        self.covered = self.covered | cover

    def found(self, lambda_: float, pass_: int) -> Found:
        qualities = np.array([step.quality for step in self.steps])
        gains = np.array([step.distance_gain for step in self.steps])
        return Found(self.steps, lambda_, diversify.objective(qualities, gains, lambda_), pass_, self.covered)


def _lambda(backend: LocalBackend, sampler: RejectionSampler, settings: Settings, rng: np.random.Generator) -> float:
    """Weight of the distances: a number as given, or taken from rules sampled from the whole data."""
    if not isinstance(settings.diversity, str):
        return float(settings.diversity)
    if settings.diversity == "none":
        return 0.0
    qualities = [np.zeros(0)]
    for label in range(backend.n_classes):
        bodies = sampler.draw(label, settings.n_candidates, backend.nothing, rng)
        qualities.append(quality(backend.class_counts_of(bodies), np.full(bodies.size, label), backend.class_totals))
    sampled = np.concatenate(qualities)
    return LAMBDA_MODES[settings.diversity](sampled) if sampled.size else 0.0


def _first_pass(
    backend: LocalBackend,
    sampler: RejectionSampler,
    settings: Settings,
    lambda_: float,
    rng: np.random.Generator,
    report: Report,
) -> tuple[Found, _Candidates]:
    """Sample candidates for every class and add the best, until no class gains enough."""
    chosen, pool = _Chosen(backend), _Candidates()
    rotation = list(range(backend.n_classes))
    while rotation and len(chosen.steps) < settings.max_rules:
        draws = {label: sampler.draw(label, settings.n_candidates, chosen.covered, rng) for label in rotation}
        rotation = [label for label in rotation if draws[label].size]
        if not rotation:
            break
        bodies = Lists.joined([draws[label] for label in rotation])
        labels = np.repeat(rotation, [draws[label].size for label in rotation])
        class_counts = backend.class_counts_of(bodies)
        pool.add(bodies, labels, class_counts)
        qualities = quality(class_counts, labels, backend.class_totals)
        best, distance = diversify.best_candidate(
            qualities, lambda_, len(chosen.steps), chosen.distance_sums(bodies, class_counts.sum(axis=1))
        )
        label, cover = int(labels[best]), backend.cover(bodies.one(best))
        gain = chosen.recall_gain(cover, label)
        if gain <= settings.min_recall_gain:
            rotation.remove(label)
            continue
        body = tuple(bodies.one(best).tolist())
        chosen.add(Step(body, label, class_counts[best], float(qualities[best]), distance, gain), cover)
        report("first pass", len(chosen.steps), chosen.covered)
    return chosen.found(lambda_, 1), pool


def _second_pass(
    backend: LocalBackend, pool: tuple[Lists, Integers, Integers], lambda_: float, k: int, report: Report
) -> Found:
    """Choose k rules by the greedy among all candidates seen."""
    bodies, labels, class_counts = pool
    qualities = quality(class_counts, labels, backend.class_totals)
    sizes = class_counts.sum(axis=1)
    covers: dict[int, Words] = {}
    covered = backend.nothing

    def distances(candidates: Integers, others: list[int]) -> Floats:
        shared = backend.shared(bodies.take(candidates), np.array([covers[j] for j in others]))
        return jaccard_distance(shared, sizes[candidates][:, None], sizes[others])

    def on_choice(candidate: int) -> Integers:
        body = bodies.one(candidate)
        covers[candidate] = backend.cover(body)
        np.bitwise_or(covered, covers[candidate], out=covered)
        report("second pass", len(covers), covered)
        alike = np.flatnonzero((sizes == sizes[candidate]) & (labels == labels[candidate]))
        return alike[bodies.equal_to(body, alike)]

    choice = diversify.greedy(qualities, lambda_, k, distances, on_choice)
    chosen = _Chosen(backend)
    for j, distance_gain in zip(choice.chosen, choice.distance_gains, strict=True):
        label = int(labels[j])
        gain = chosen.recall_gain(covers[j], label)
        body = tuple(bodies.one(j).tolist())
        chosen.add(Step(body, label, class_counts[j], float(qualities[j]), distance_gain, gain), covers[j])
    return chosen.found(lambda_, 2)
