"""The refined search: draw short bodies, climb from each, choose, mark as covered; then split what is mixed.

Every round draws a few short bodies on new ground and improves each as far as the limits allow. The greedy adds the
best of all candidates seen so far. A second greedy over all of them follows, as in the paper's search, and
then rules whose records mix classes are split in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn import _diversify as diversify
from diverse_rule_sets.learn._constraints import GivenRule
from diverse_rule_sets.learn._local_search import Candidate, LocalSearch
from diverse_rule_sets.learn._measures import jaccard_distance
from diverse_rule_sets.learn._paper_search import (
    LAMBDA_MODES,
    Candidates,
    Chosen,
    FoundRules,
    Report,
    SearchSettings,
    better_of,
    second_pass,
)
from diverse_rule_sets.learn._splitting import split
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
    local_search: LocalSearch,
    settings: SearchSettings,
    rng: np.random.Generator,
    report: Report,
) -> Trace:
    """Draw, climb and choose, rule by rule, until there is no further rule within the limits.

    Parameters
    ----------
    backend, sampler : the data, and who draws bodies from it
    local_search : who improves them
    settings : see :class:`diverse_rule_sets.learn._paper_search.SearchSettings`
    rng : the one source of chance
    report : called after each chosen rule with the name of the pass, the number of rules and what they cover
    """
    given = local_search.constraints.given
    chosen = Chosen(backend)
    chosen.add_given(given, partial(_worth_of_given, local_search))
    pool = _Pool(backend, chosen)
    trace = Trace(chosen, pool, [0] * len(given), _lambda(settings.diversity, pool))
    n_failed = 0
    while len(chosen.steps) < local_search.limits.max_rules and n_failed < _PATIENCE:
        local_search.set_covered(chosen.covered)
        starts: list[Body] = [(), *pool.best_bodies(local_search, _N_OLD_STARTS)]
        starts += _drawn(
            sampler, local_search, backend.n_classes, settings.n_candidates * (1 + n_failed), chosen.covered, rng
        )
        pool.add(local_search.improve(starts))
        if len(chosen.steps) == len(given):
            trace = trace._replace(lambda_=_lambda(settings.diversity, pool))
        if _choose(pool, chosen, trace.lambda_, local_search):
            n_failed = 0
            trace.n_seen.append(len(pool.candidates))
            report("first pass", len(chosen.steps), chosen.covered)
        else:
            n_failed += 1
    return trace


def finish(
    backend: Backend,
    local_search: LocalSearch,
    trace: Trace,
    settings: SearchSettings,
    opposites: Integers | None,
    report: Report,
) -> FoundRules:
    """Choose once more among all candidates seen, keep the better set, and split its rules.

    Parameters
    ----------
    backend, local_search : the data, and the limits and measures
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
        only_given = trace.chosen.only_given()
        second = second_pass(backend, pool, trace.lambda_, len(first.learnt), settings.limits, report, only_given)
        found = better_of(first, second)
    if opposites is None:
        return found
    return split(backend, local_search, opposites, found, wanted, report, trace.chosen.only_given())


def _worth_of_given(local_search: LocalSearch, class_counts: Integers, rule: GivenRule) -> float:
    """Return the quality of a rule that stands before the search, for its own label."""
    return float(local_search.measures.quality(class_counts, rule.n_conditions, np.array(rule.label))[0])


def _drawn(
    sampler: RejectionSampler,
    local_search: LocalSearch,
    n_classes: int,
    n: int,
    covered: Cover,
    rng: np.random.Generator,
) -> list[Body]:
    """Draw about n bodies on new ground: as many for every class, or one for each of n classes."""
    each = max(1, round(n / n_classes))
    labels: Sequence[int] = range(n_classes)
    if n < n_classes:
        labels = sorted(rng.choice(n_classes, n, replace=False).tolist())
    drawn = [body for label in labels for body in sampler.draw(label, each, covered, rng).tuples()]
    if local_search.constraints.required:
        most = local_search.limits.max_conditions
        return [local_search.constraints.start(body, _MAX_START, most, rng) for body in drawn]
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


def _choose(pool: _Pool, chosen: Chosen, lambda_: float, local_search: LocalSearch) -> bool:
    """Add the best candidate that keeps within the limits; False if there is none."""
    for j in pool.order(lambda_, local_search):
        found = pool.candidates[j]
        step, cover = chosen.step(found.body, found.label, found.quality, float(pool.distances[j]))
        if step.recall_gain > local_search.limits.min_recall_gain:
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

    def _open(self, local_search: LocalSearch) -> Integers:
        """Return the candidates that may still be chosen."""
        allowed = local_search.limits.allow_overlap(self._sizes, self._shared)
        allowed[list(self._taken)] = False
        return np.flatnonzero(allowed)

    def order(self, lambda_: float, local_search: LocalSearch) -> list[int]:
        """Return the candidates that may be chosen, in the order of the greedy."""
        some = self._open(local_search)
        qualities = np.array([self.candidates[j].quality for j in some.tolist()])
        scores = 0.5 * qualities + lambda_ * self.distances[some]
        return some[np.argsort(-scores, kind="stable")].tolist()

    def best_bodies(self, local_search: LocalSearch, n: int) -> list[Body]:
        """Return the bodies that are worth most of those that may still be chosen."""
        some = self._open(local_search)
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
