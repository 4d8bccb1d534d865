"""The refined search: draw short bodies, climb from each, choose, mark as covered; then split what is mixed.

Every round draws a few short bodies on new ground and improves each as far as the limits allow. The greedy adds the
best of all candidates seen so far. A second greedy over all of them follows, as in the paper's search, and
then rules whose records fall apart into classes are split in two. A split never lowers the objective: the two
parts are disjoint, so the sum of distances grows, and it is made only if the parts are worth at least the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn import _diversify as diversify
from diverse_rule_sets.learn._constraints import Given
from diverse_rule_sets.learn._local_search import Candidate, Refiner
from diverse_rule_sets.learn._measures import jaccard_distance
from diverse_rule_sets.learn._paper_search import (
    LAMBDA_MODES,
    Candidates,
    Chosen,
    Found,
    Report,
    Settings,
    better_of,
    second_pass,
)
from diverse_rule_sets.learn.samplers import RejectionSampler

# The best candidates of earlier rounds from which each round climbs again.
_N_OLD_STARTS = 3
# Items from which a climb starts at most.
_MAX_START = 8
# Rounds without a new rule, each with more starts than the one before, after which there is none.
_PATIENCE = 3


class Trace(NamedTuple):
    """What the first pass chose, in order, and all candidates it saw; its beginning is a search for fewer rules."""

    chosen: Chosen
    pool: _Pool
    n_seen: list[int]  # candidates seen when each rule was chosen
    lambda_: float


def first_pass(
    backend: Backend,
    sampler: RejectionSampler,
    refiner: Refiner,
    settings: Settings,
    rng: np.random.Generator,
    report: Report,
) -> Trace:
    """Draw, climb and choose, rule by rule, until there is no further rule within the limits.

    Parameters
    ----------
    backend, sampler : the data, and who draws bodies from it
    refiner : who improves them
    settings : see :class:`diverse_rule_sets.learn._paper_search.Settings`
    rng : the one source of chance
    report : called after each chosen rule with the name of the pass, the number of rules and what they cover
    """
    given = refiner.steering.given
    chosen = Chosen(backend)
    chosen.stand(given, partial(_worth_of_given, refiner))
    pool = _Pool(backend, chosen)
    trace = Trace(chosen, pool, [0] * len(given), _lambda(settings.diversity, pool))
    n_failed = 0
    while len(chosen.steps) < refiner.limits.max_rules and n_failed < _PATIENCE:
        refiner.turn_to(chosen.covered)
        starts: list[Body] = [(), *pool.best_bodies(refiner, _N_OLD_STARTS)]
        starts += _drawn(
            sampler, refiner, backend.n_classes, settings.n_candidates * (1 + n_failed), chosen.covered, rng
        )
        pool.add(refiner.climb(starts))
        if len(chosen.steps) == len(given):
            trace = trace._replace(lambda_=_lambda(settings.diversity, pool))
        if _choose(pool, chosen, trace.lambda_, refiner):
            n_failed = 0
            trace.n_seen.append(len(pool.candidates))
            report("first pass", len(chosen.steps), chosen.covered)
        else:
            n_failed += 1
    return trace


def finished(
    backend: Backend,
    refiner: Refiner,
    trace: Trace,
    settings: Settings,
    opposites: Integers | None,
    report: Report,
) -> Found:
    """Choose once more among all candidates seen, keep the better set, and split its rules.

    Parameters
    ----------
    backend, refiner : the data, and the limits and measures
    trace : a first pass
    settings : its limits say how many rules are wanted; fewer than in the trace are its first ones
    opposites : array (n_items,), the item that holds for the other records, or -1; None: do not split
    report : as for :func:`first_pass`
    """
    wanted = settings.limits.max_rules
    first = trace.chosen.found(trace.lambda_, 1, wanted)
    found = first
    if settings.second_pass and first.learnt:
        # Where the rules ran out, the candidates of the last rounds were seen as well.
        n_seen = trace.n_seen[wanted - 1] if wanted <= len(trace.n_seen) else len(trace.pool.candidates)
        pool = trace.pool.as_candidates(n_seen)
        begun = trace.chosen.begun()
        second = second_pass(backend, pool, trace.lambda_, len(first.learnt), settings.limits, report, begun)
        found = better_of(first, second)
    if opposites is None:
        return found
    return split(backend, refiner, opposites, found, wanted, report, trace.chosen.begun())


def _worth_of_given(refiner: Refiner, class_counts: Integers, rule: Given) -> float:
    """Return the quality of a rule that stands before the search, for its own label."""
    return float(refiner.scale.quality(class_counts, rule.n_conditions, np.array(rule.label))[0])


def _drawn(
    sampler: RejectionSampler, refiner: Refiner, n_classes: int, n: int, covered: Cover, rng: np.random.Generator
) -> list[Body]:
    """Draw about n bodies on new ground: as many for every class, or one for each of n classes."""
    each = max(1, round(n / n_classes))
    labels: Sequence[int] = range(n_classes)
    if n < n_classes:
        labels = sorted(rng.choice(n_classes, n, replace=False).tolist())
    drawn = [body for label in labels for body in sampler.draw(label, each, covered, rng).tuples()]
    if refiner.steering.required:
        most = refiner.limits.max_conditions
        return [refiner.steering.start(body, _MAX_START, most, rng) for body in drawn]
    # From a long body the way is long, and leads nowhere that a part of it does not lead.
    return [
        body if len(body) <= _MAX_START else tuple(rng.choice(body, _MAX_START, replace=False).tolist())
        for body in drawn
    ]


def _lambda(diversity: str | float, pool: _Pool) -> float:
    """Weight of the distances: a number as given, or taken from the candidates of the first round."""
    if not isinstance(diversity, str):
        return float(diversity)
    qualities = np.array([candidate.quality for candidate in pool.candidates])
    return LAMBDA_MODES[diversity](qualities) if qualities.size else 0.0


def _choose(pool: _Pool, chosen: Chosen, lambda_: float, refiner: Refiner) -> bool:
    """Add the best candidate that keeps within the limits; False if there is none."""
    for j in pool.order(lambda_, refiner):
        found = pool.candidates[j]
        step, cover = chosen.step(found.body, found.label, found.quality, float(pool.distances[j]))
        if step.recall_gain > refiner.limits.min_recall_gain:
            chosen.add(step, cover)
            pool.mark(j, cover, chosen.covered)
            return True
    return False


class _Pool:
    """All candidates seen, each with its distance to the chosen rules and the records it shares with them."""

    def __init__(self, backend: Backend, chosen: Chosen) -> None:
        self._backend = backend
        self._covers = chosen.covers
        self._covered = chosen.covered
        self._known: set[int] = set()
        self._taken: set[int] = set()
        self.candidates: list[Candidate] = []
        self.distances = np.zeros(0)
        self._shared = np.zeros(0, np.int64)
        self._sizes = np.zeros(0, np.int64)

    def add(self, found: list[Candidate]) -> None:
        """Take in those that are new."""
        new = []
        fingerprints = self._backend.fingerprints(Lists.of([candidate.body for candidate in found])).tolist()
        for candidate, records in zip(found, fingerprints, strict=True):
            if records not in self._known:  # other conditions for the same records are not new
                self._known.add(records)
                self.candidates.append(candidate)
                new.append(candidate)
        if not new:
            return
        bodies = Lists.of([candidate.body for candidate in new])
        sizes = np.array([candidate.class_counts.sum() for candidate in new], np.int64)
        counts = self._backend.shared(bodies, [*self._covers, self._covered])
        own_sizes = self._backend.sizes_within(self._covers, self._backend.everything)
        distances = diversify.added_up(jaccard_distance(counts[:, :-1], sizes[:, None], own_sizes))
        self.distances = np.append(self.distances, distances)
        self._shared = np.append(self._shared, counts[:, -1])
        self._sizes = np.append(self._sizes, sizes)

    def mark(self, j: int, cover: Cover, covered: Cover) -> None:
        """Note that a candidate was chosen, its cover, and all that is covered now."""
        self._taken.add(j)
        self._covers.append(cover)
        self._covered = covered
        counts = self._backend.shared(Lists.of([c.body for c in self.candidates]), [cover, covered])
        self.distances += jaccard_distance(counts[:, 0], self._sizes, self._sizes[j : j + 1])
        self._shared = counts[:, 1]

    def _open(self, refiner: Refiner) -> Integers:
        """Return the candidates that may still be chosen."""
        allowed = refiner.limits.allow_overlap(self._sizes, self._shared)
        allowed[list(self._taken)] = False
        return np.flatnonzero(allowed)

    def order(self, lambda_: float, refiner: Refiner) -> list[int]:
        """Return the candidates that may be chosen, in the order of the greedy."""
        some = self._open(refiner)
        qualities = np.array([self.candidates[j].quality for j in some.tolist()])
        scores = 0.5 * qualities + lambda_ * self.distances[some]
        return some[np.argsort(-scores, kind="stable")].tolist()

    def best_bodies(self, refiner: Refiner, n: int) -> list[Body]:
        """Return the bodies that are worth most of those that may still be chosen."""
        some = self._open(refiner)
        qualities = np.array([self.candidates[j].quality for j in some.tolist()])
        return [self.candidates[j].body for j in some[np.argsort(-qualities, kind="stable")][:n].tolist()]

    def as_candidates(self, n: int) -> Candidates:
        """Return the first n candidates as the second pass takes them."""
        pool = Candidates()
        for label in sorted({candidate.label for candidate in self.candidates[:n]}):
            own = [candidate for candidate in self.candidates[:n] if candidate.label == label]
            sizes = np.array([candidate.class_counts.sum() for candidate in own], np.int64)
            qualities = np.array([candidate.quality for candidate in own])
            pool.add(Lists.of([candidate.body for candidate in own]), label, sizes, qualities)
        return pool


class _Split(NamedTuple):
    """A rule in two parts, and the likelihood gained."""

    gain: float
    parts: tuple[Body, Body]
    fingerprints: frozenset[int]


def split(
    backend: Backend,
    refiner: Refiner,
    opposites: Integers,
    found: Found,
    max_rules: int,
    report: Report,
    begun: Chosen,
) -> Found:
    """Split rules in two while the evidence asks for it, the largest gain first.

    Parameters
    ----------
    backend, refiner : the data, and the limits and measures
    opposites : array (n_items,), the item that holds for the other records, or -1
    found : the rules; they come back in their order, the two parts of a rule where it was
    max_rules : the most rules
    report : as for :func:`first_pass`
    begun : the given rules, which stay as they are
    """
    bodies = [step.body for step in found.learnt]
    known: dict[tuple[Body, int], _Split | None] = {}
    while begun.n_given + len(bodies) < max_rules:
        before = begun.covered
        covers = [backend.cover(body) for body in bodies]
        there = {backend.fingerprint(cover) for cover in [*begun.covers, *covers]}
        options: list[tuple[float, int, _Split]] = []
        for j, (body, cover) in enumerate(zip(bodies, covers, strict=True)):
            key = (body, backend.fingerprint(backend.intersection(before, cover)))
            if key not in known:
                known[key] = _best_split(backend, refiner, opposites, body, before)
            option = known[key]
            if option is not None and not there & option.fingerprints:  # no rule twice
                options.append((option.gain, -j, option))
            before = backend.union(before, cover)
        if not options:
            break
        _, j, option = max(options, key=lambda one: one[:2])
        bodies[-j : -j + 1] = option.parts
        report("splitting", begun.n_given + len(bodies), before)
    if len(bodies) == len(found.learnt):
        return found
    return _rebuilt(backend, refiner, bodies, found, begun)


def _best_split(backend: Backend, refiner: Refiner, opposites: Integers, body: Body, before: Cover) -> _Split | None:
    """Return the split of a rule that gains most, if the evidence and the limits allow one."""
    counts = backend.extended([body], before)[:, 0].T
    whole = counts[-1, :-1]
    items = np.flatnonzero(opposites >= 0)
    one, other = counts[items], counts[opposites[items]]
    scale, limits = refiner.scale, refiner.limits
    evidence = scale.log_likelihood(one[:, :-1]) + scale.log_likelihood(other[:, :-1]) - scale.log_likelihood(whole)
    allowed = evidence >= refiner.needed(1, int((whole > 0).sum()), int(whole.sum()))
    n_now = refiner.n_conditions(body)
    lengths = n_now + ~np.isin(refiner.columns[items], refiner.columns[list(body)])
    worth = -scale.quality(whole, n_now)[0] * np.ones(items.size)
    for part, added in ((one, items), (other, opposites[items])):
        class_counts, shared = part[:, :-1], part[:, -1]
        allowed &= limits.allow(lengths, class_counts.sum(axis=1), shared)
        quality, labels = scale.quality(class_counts, lengths)
        allowed &= scale.recall(class_counts, labels) > limits.min_recall_gain
        allowed &= refiner.steering.allowed_with(body, added, labels)
        worth += quality
    allowed &= worth >= 0
    gains = scale.weighted_gain(one[:, :-1]) + scale.weighted_gain(other[:, :-1]) - scale.weighted_gain(whole)
    gains = np.where(allowed, gains, -1.0)
    if not gains.size or gains.max() <= 0:
        return None
    best = int(items[np.argmax(gains)])
    first, second = (refiner.shortened(tuple(sorted({*body, int(item)}))) for item in (best, opposites[best]))
    fingerprints = frozenset(backend.fingerprints(Lists.of([first, second])).tolist())
    return _Split(float(gains.max()), (first, second), fingerprints)


def _rebuilt(backend: Backend, refiner: Refiner, bodies: list[Body], found: Found, chosen: Chosen) -> Found:
    """Return those that stand and the rules with these bodies, in this order, measured anew."""
    for body in bodies:
        cover = backend.cover(body)
        worth, label = refiner.scale.quality(backend.class_counts(cover), refiner.n_conditions(body))
        chosen.add(*chosen.step(body, int(label), float(worth), chosen.distance_to(cover)))
    return chosen.found(found.lambda_, found.pass_)
