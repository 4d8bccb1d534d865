"""The paper's Algorithm 2 in item space: sample, choose, mark as covered, until no class gains enough.

In each round every class still in rotation draws candidates that cover its uncovered records and avoid all others. The
greedy adds the best of them all, unless it covers too small a share of new records of its class: then that
class leaves the rotation. A second greedy chooses as many rules among all candidates ever drawn, and the set
with the higher objective wins: over the candidates seen, it has at least half of the objective of the best set
of that size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn import _diversify as diversify
from diverse_rule_sets.learn._constraints import UNCONSTRAINED, Constraints, GivenRule
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._measures import jaccard_distance, quality
from diverse_rule_sets.learn.samplers import RejectionSampler

Floats = NDArray[np.float64]
# How lambda is taken from the qualities of rules sampled from the whole data.
LAMBDA_MODES: dict[str, Callable[[Floats], float]] = {
    "none": lambda _: 0.0,
    "permissive": lambda qualities: float(qualities.mean()),
    "strict": lambda qualities: float(qualities.max()),
}


@dataclass(frozen=True)
class SearchSettings:
    """What steers the search; the words are those of the classifier's parameters."""

    n_candidates: int
    diversity: str | float
    second_pass: bool
    limits: Limits


class Step(NamedTuple):
    """One chosen rule, and what it added to those before it; a given rule has no items, whatever it covers."""

    body: Body
    label: int
    class_counts: Integers
    quality: float
    distance_gain: float
    recall_gain: float


@dataclass
class FoundRules:
    """The rules that were found, in the order in which they were chosen; the first ``n_given`` stood before."""

    steps: list[Step]
    lambda_: float
    objective: float
    pass_: int
    covered: Cover
    n_given: int = 0

    @property
    def learnt(self) -> list[Step]:
        """The rules that the search found itself."""
        return self.steps[self.n_given :]


Report = Callable[[str, int, Cover], None]


def search(
    backend: Backend,
    sampler: RejectionSampler,
    columns: Integers,
    settings: SearchSettings,
    rng: np.random.Generator,
    report: Report,
    constraints: Constraints = UNCONSTRAINED,
) -> FoundRules:
    """Find a diverse set of rules.

    Parameters
    ----------
    backend, sampler : the data, and who draws candidates from it
    columns : array (n_items,), the column of each item
    settings : see :class:`SearchSettings`
    rng : the one source of chance
    report : called after each chosen rule with the name of the pass, the number of rules and what they cover
    constraints : what was asked of the rules; the sampler keeps to what it says of items
    """
    lambda_ = _lambda(backend, sampler, settings, rng)
    chosen = Chosen(backend)
    chosen.add_given(constraints.given, partial(_worth_of_given, backend.class_totals))
    first, pool = _first_pass(backend, sampler, columns, settings, lambda_, chosen, rng, report)
    if settings.second_pass and first.learnt:
        again = second_pass(backend, pool, lambda_, len(first.learnt), settings.limits, report, chosen.only_given())
        return better_of(first, again)
    return first


def _worth_of_given(class_totals: Integers, class_counts: Integers, rule: GivenRule) -> float:
    """Return the quality of a rule that stands before the search."""
    return float(quality(class_counts[None], np.array([rule.label]), class_totals)[0])


def better_of(first: FoundRules, second: FoundRules) -> FoundRules:
    """Return the set with the higher objective; the first unless the second is better by more than rounding."""
    return second if second.objective > first.objective * (1 + 1e-12) else first


@dataclass
class Candidates:
    """Candidates with what the greedy needs of each: label, number of records covered, quality."""

    bodies: list[Lists] = field(default_factory=list)
    labels: list[NDArray[np.int32]] = field(default_factory=list)
    sizes: list[Integers] = field(default_factory=list)
    qualities: list[Floats] = field(default_factory=list)

    def add(self, bodies: Lists, label: int, sizes: Integers, qualities: Floats) -> None:
        self.bodies.append(bodies)
        self.labels.append(np.full(bodies.size, label, np.int32))
        self.sizes.append(sizes)
        self.qualities.append(qualities)


class _Best(NamedTuple):
    """The best candidate of a round so far."""

    score: float
    body: Body
    label: int
    quality: float
    distance: float


class Chosen:
    """The rules chosen so far and what they cover."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._covers: list[Cover] = []
        self._sizes: list[int] = []
        self.steps: list[Step] = []
        self.n_given = 0
        self.covered = backend.nothing

    def add_given(self, given: Sequence[GivenRule], worth: Callable[[Integers, GivenRule], float]) -> None:
        """Begin with rules that stand before the search; ``worth`` is given the class counts of each."""
        for rule in given:
            quality_ = worth(self._backend.class_counts(rule.cover), rule)
            self.add(self._step((), rule.label, rule.cover, quality_, self.distance_to(rule.cover)), rule.cover)
        self.n_given = len(given)

    def only_given(self) -> Chosen:
        """Return the given rules alone, to choose others once more."""
        again = Chosen(self._backend)
        for step, cover in zip(self.steps[: self.n_given], self._covers, strict=False):
            again.add(step, cover)
        again.n_given = self.n_given
        return again

    @property
    def covers(self) -> list[Cover]:
        """What each of the rules covers."""
        return self._covers.copy()

    def best_of(
        self, bodies: Lists, sizes: Integers, qualities: Floats, lambda_: float, score_to_beat: float
    ) -> diversify.Next | None:
        """Return the body that the greedy would add next, if it beats the score."""

        def distance_sums(some: Integers) -> Floats:
            return diversify.added_up(self.distances(bodies.take(some), sizes[some]))

        return diversify.best_candidate(qualities, lambda_, len(self.steps), distance_sums, score_to_beat)

    def distances(self, bodies: Lists, sizes: Integers) -> Floats:
        """Return the distance of each body to each of the rules chosen."""
        if not self._covers:
            return np.zeros((bodies.size, 0))
        shared = self._backend.shared(bodies, self._covers)
        return jaccard_distance(shared, sizes[:, None], np.array(self._sizes))

    def step(self, body: Body, label: int, worth: float, distance: float) -> tuple[Step, Cover]:
        """Return what a rule of some worth and distance would add, and its cover."""
        cover = self._backend.cover(body)
        return self._step(body, label, cover, worth, distance), cover

    def _step(self, body: Body, label: int, cover: Cover, worth: float, distance: float) -> Step:
        class_counts = self._backend.class_counts(cover)
        new = self._backend.class_counts(self._backend.difference(cover, self.covered))[label]
        gain = float(new / max(self._backend.class_totals[label], 1))
        return Step(body, label, class_counts, worth, distance, gain)

    def distance_to(self, cover: Cover) -> float:
        """Return the sum of the distances of a cover to those chosen."""
        if not self._covers:
            return 0.0
        size = np.array([self._backend.class_counts(cover).sum()], np.int64)
        shared = self._backend.sizes_within(self._covers, cover)
        return float(diversify.added_up(jaccard_distance(shared, size, np.array(self._sizes))[None])[0])

    def add(self, step: Step, cover: Cover) -> None:
        self.steps.append(step)
        self._covers.append(cover)
        self._sizes.append(int(step.class_counts.sum()))
        self.covered = self._backend.union(self.covered, cover)

    def found(self, lambda_: float, pass_: int, n_rules: int | None = None) -> FoundRules:
        """Return the chosen rules, or the first so many of them, as what a pass found."""
        steps = self.steps[:n_rules]
        covered = self._backend.nothing
        for cover in self._covers[: len(steps)]:
            covered = self._backend.union(covered, cover)
        qualities = np.array([step.quality for step in steps])
        gains = np.array([step.distance_gain for step in steps])
        return FoundRules(steps, lambda_, diversify.objective(qualities, gains, lambda_), pass_, covered, self.n_given)


def _lambda(backend: Backend, sampler: RejectionSampler, settings: SearchSettings, rng: np.random.Generator) -> float:
    """Weight of the distances: a number as given, or taken from rules sampled from the whole data."""
    if not isinstance(settings.diversity, str):
        return float(settings.diversity)
    if settings.diversity == "none":
        return 0.0
    qualities = [np.zeros(0)]
    for label in range(backend.n_classes):
        bodies = sampler.draw(label, settings.n_candidates, backend.nothing, rng)
        qualities.append(_judge(backend, bodies, label)[1])
    sampled = np.concatenate(qualities)
    return LAMBDA_MODES[settings.diversity](sampled) if sampled.size else 0.0


def _first_pass(
    backend: Backend,
    sampler: RejectionSampler,
    columns: Integers,
    settings: SearchSettings,
    lambda_: float,
    chosen: Chosen,
    rng: np.random.Generator,
    report: Report,
) -> tuple[FoundRules, Candidates]:
    """Sample candidates for every class and add the best to those chosen, until no class gains enough."""
    pool = Candidates()
    rotation = list(range(backend.n_classes))
    limits = settings.limits
    while rotation and len(chosen.steps) < limits.max_rules:
        best: _Best | None = None
        for label in rotation.copy():
            bodies = sampler.draw(label, settings.n_candidates, chosen.covered, rng)
            if not bodies.size:
                rotation.remove(label)
                continue
            sizes, qualities = _judge(backend, bodies, label)
            kept = _within(limits, backend, bodies, columns, sizes, chosen.covered)
            if not kept.all():
                bodies, sizes, qualities = bodies.take(np.flatnonzero(kept)), sizes[kept], qualities[kept]
            if settings.second_pass:
                pool.add(bodies, label, sizes, qualities)
            score_to_beat = -np.inf if best is None else best.score
            found = chosen.best_of(bodies, sizes, qualities, lambda_, score_to_beat)
            if found is not None:
                worth = float(qualities[found.candidate])
                best = _Best(found.score, bodies.body(found.candidate), label, worth, found.distance)
        if best is None:
            break
        step, cover = chosen.step(best.body, best.label, best.quality, best.distance)
        if step.recall_gain <= limits.min_recall_gain:
            rotation.remove(best.label)
            continue
        chosen.add(step, cover)
        report("first pass", len(chosen.steps), chosen.covered)
    return chosen.found(lambda_, 1), pool


def _judge(backend: Backend, bodies: Lists, label: int) -> tuple[Integers, Floats]:
    """Return how many records each body covers, and its quality for the label."""
    class_counts = backend.class_counts_of(bodies)
    labels = np.full(bodies.size, label, np.int64)
    return class_counts.sum(axis=1), quality(class_counts, labels, backend.class_totals)


def _within(
    limits: Limits, backend: Backend, bodies: Lists, columns: Integers, sizes: Integers, covered: Cover
) -> NDArray[np.bool_]:
    """Tell which bodies keep within the limits."""
    if limits.max_conditions is None and limits.max_overlap >= 1 and limits.min_support <= 1:
        return np.ones(bodies.size, np.bool_)
    shared = backend.shared(bodies, [covered])[:, 0]
    n_conditions = np.array([len(set(columns[list(body)].tolist())) for body in bodies.tuples()], np.int64)
    return limits.allow(n_conditions, sizes, shared)


def second_pass(
    backend: Backend,
    pool: Candidates,
    lambda_: float,
    k: int,
    limits: Limits,
    report: Report,
    chosen: Chosen,
) -> FoundRules:
    """Add up to k rules by the greedy among all candidates seen, without exceeding the overlap allowed."""
    bodies, labels = Lists.joined(pool.bodies), np.concatenate(pool.labels)
    pool.bodies.clear()  # millions where there are many classes: not to be held twice
    sizes, qualities = np.concatenate(pool.sizes), np.concatenate(pool.qualities)
    covers: dict[int, Cover] = {}
    covered = chosen.covered
    before = diversify.added_up(chosen.distances(bodies, sizes)) if chosen.steps else None

    def distances(candidates: Integers, others: list[int]) -> Floats:
        shared = backend.shared(bodies.take(candidates), [covers[j] for j in others])
        return jaccard_distance(shared, sizes[candidates][:, None], sizes[others])

    def on_choice(candidate: int) -> Integers:
        nonlocal covered
        covers[candidate] = backend.cover(bodies.body(candidate))
        covered = backend.union(covered, covers[candidate])
        report("second pass", chosen.n_given + len(covers), covered)
        if limits.max_overlap < 1:  # what shares too much now will not share less later
            return np.flatnonzero(~limits.allow_overlap(sizes, backend.shared(bodies, [covered])[:, 0]))
        alike = np.flatnonzero((sizes == sizes[candidate]) & (labels == labels[candidate]))
        return alike[bodies.equal_to(bodies.one(candidate), alike)]

    choice = diversify.greedy(qualities, lambda_, k, distances, on_choice, before)
    for j, distance in zip(choice.chosen, choice.distance_gains, strict=True):
        chosen.add(*chosen.step(bodies.body(j), int(labels[j]), float(qualities[j]), distance))
    return chosen.found(lambda_, 2)
