"""The default search: draw short bodies, improve each by local search, and add the best candidate.

All cuts of scorecards are candidates. In each round, a few short bodies are drawn among uncovered records, and each is
improved by local search within the limits. The greedy algorithm adds the best of all candidates found so far. A second
pass chooses once more among all candidates, as in the search of the paper. Then the rules are improved
(:mod:`._improvement`).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn import _diversify as diversify
from diverse_rule_sets.learn._constraints import GivenRule
from diverse_rule_sets.learn._covered import CoveredRecords
from diverse_rule_sets.learn._deadline import OutOfTimeError
from diverse_rule_sets.learn._local_search import Candidate, LocalSearch
from diverse_rule_sets.learn._measures import jaccard_distance
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

# How many of the best earlier candidates each round starts from again.
_N_OLD_STARTS = 3
# Largest number of items of a body that the local search starts from.
_MAX_START_ITEMS = 8
# With many classes, at least one body is drawn for so many of them in each round.
_CLASSES_PER_START = 4
# If bodies are drawn for some of many classes, the chance of a class is its uncovered share plus this number.
_LEAST_CHANCE = 0.05
# The search ends after this many successive rounds without a new rule; each of them has more starts than the previous.
_MAX_FAILED_ROUNDS = 3


class Trace(NamedTuple):
    """The rules that the first pass chose, in order, and all candidates; its beginning is a search for fewer rules."""

    chosen: ChosenRules
    pool: _Pool
    n_seen: list[int]  # number of candidates in the pool when each rule was chosen
    lambda_: float


def first_pass(
    backend: Backend,
    sampler: RejectionSampler,
    local_search: LocalSearch,
    settings: SearchSettings,
    rng: np.random.Generator,
    on_choice: OnChoice,
) -> Trace:
    """Draw candidates, improve them and add the best one, until there is no further rule within the limits.

    Parameters
    ----------
    backend : the data
    sampler : draws the bodies
    local_search : improves them
    settings : the settings of the search
    rng : the only source of random numbers
    on_choice : called after each chosen rule
    """
    given = local_search.constraints.given
    chosen = given_rules(backend, local_search)
    pool = _Pool(backend, chosen, local_search)
    trace = Trace(chosen, pool, [0] * len(given), _lambda(settings.diversity, pool))
    local_search.set_covered(chosen.earlier, [step.body for step in chosen.steps])
    pool.add(local_search.cuts_of_scorecards())
    n_starts = max(settings.n_candidates, local_search.n_labels // _CLASSES_PER_START)
    n_failed = 0
    limits = local_search.limits
    while len(chosen.steps) < limits.max_rules and n_failed < _MAX_FAILED_ROUNDS and not limits.deadline.passed():
        if not n_failed:  # otherwise nothing has changed, and neighbourhoods that are known can be used again
            local_search.set_covered(chosen.earlier, [step.body for step in chosen.steps])
        starts: list[Body] = [(), *pool.best_bodies(_N_OLD_STARTS)]
        starts += _draw_starts(sampler, local_search, n_starts * (1 + n_failed), chosen, rng)
        pool.add(local_search.improve(starts))
        if len(chosen.steps) == len(given):
            trace = trace._replace(lambda_=_lambda(settings.diversity, pool))
        if _choose(pool, chosen, trace.lambda_, local_search):
            n_failed = 0
            trace.n_seen.append(len(pool.candidates))
            on_choice(FIRST_PASS, len(chosen.steps), chosen.covered)
        else:
            n_failed += 1
    return trace


def choose_again(
    backend: Backend, local_search: LocalSearch, trace: Trace, settings: SearchSettings, on_choice: OnChoice
) -> FoundRules:
    """Choose once more among all candidates, and return the set with the higher objective.

    Parameters
    ----------
    backend : the data
    local_search : the local search of the first pass
    trace : the result of the first pass
    settings : its limits set the number of rules; if this is smaller than in the trace, the first rules are used
    on_choice : called after each chosen rule
    """
    max_rules = settings.limits.max_rules
    first = trace.chosen.result(trace.lambda_, 1, max_rules)
    if not settings.second_pass or not first.learnt or settings.limits.deadline.passed():
        return first
    # If the search ended with fewer rules, the candidates of the last rounds belong to the pool as well.
    n_seen = trace.n_seen[max_rules - 1] if max_rules <= len(trace.n_seen) else len(trace.pool.candidates)
    pool = trace.pool.to_candidates(n_seen)
    given = trace.chosen.only_given()
    adds_enough, n_learnt = local_search.adds_enough, len(first.learnt)
    try:
        second = second_pass(backend, pool, trace.lambda_, n_learnt, settings.limits, on_choice, given, adds_enough)
    except OutOfTimeError:
        return first
    return better_of(first, second)


def given_rules(backend: Backend, local_search: LocalSearch) -> ChosenRules:
    """Return the given rules, to which others can be added."""
    chosen = ChosenRules(backend)
    chosen.add_given(local_search.constraints.given, partial(_quality_of_given, local_search))
    return chosen


def _quality_of_given(local_search: LocalSearch, class_counts: Integers, rule: GivenRule) -> float:
    """Return the quality of a given rule for its own label."""
    return float(local_search.measures.quality(class_counts, rule.n_conditions, np.array(rule.label))[0])


def _draw_starts(
    sampler: RejectionSampler,
    local_search: LocalSearch,
    n: int,
    chosen: ChosenRules,
    rng: np.random.Generator,
) -> list[Body]:
    """Draw about n bodies among uncovered records: the same number for each class, or one for each of n classes.

    If there are more classes, those of which the rules cover little are drawn more often.
    """
    labels = np.flatnonzero(local_search.measures.searched)
    n_each = max(1, round(n / labels.size))
    if n < labels.size:
        chances = chosen.uncovered_shares()[labels] + _LEAST_CHANCE
        labels = np.sort(rng.choice(labels, n, replace=False, p=chances / chances.sum()))
    bodies = [body for label in labels.tolist() for body in sampler.draw(label, n_each, chosen.covered, rng).tuples()]
    constraints, max_conditions = local_search.constraints, local_search.limits.max_conditions
    if constraints.required:
        return [constraints.select_start(body, _MAX_START_ITEMS, max_conditions, rng) for body in bodies]
    # From a long body, the local search takes many moves and finds nothing better than from a part of it.
    return [
        body if len(body) <= _MAX_START_ITEMS else tuple(rng.choice(body, _MAX_START_ITEMS, replace=False).tolist())
        for body in bodies
    ]


def _lambda(diversity: str | float, pool: _Pool) -> float:
    """Return the weight of the distances: the given number, or computed from the candidates of the first round."""
    if not isinstance(diversity, str):
        return float(diversity)
    qualities = np.array([candidate.quality for candidate in pool.candidates])
    return LAMBDA_MODES[diversity](qualities) if qualities.size else 0.0


def _choose(pool: _Pool, chosen: ChosenRules, lambda_: float, local_search: LocalSearch) -> bool:
    """Add the best candidate within the limits to the chosen rules; return whether there is one."""
    for j in pool.greedy_order(lambda_):
        candidate = pool.candidates[j]
        distance = float(pool.distances[j])
        step, cover = chosen.make_step(candidate.body, candidate.label, candidate.quality, distance, FIRST_PASS)
        if step.recall_gain > local_search.limits.min_recall_gain:
            chosen.add(step, cover)
            pool.mark_chosen(j, cover, chosen.earlier)
            return True
    return False


class _Pool:
    """All candidates found, each with its distance to the chosen rules, and whether its overlap with them is allowed.

    Bodies that cover the same records are one candidate, the first one found.
    """

    def __init__(self, backend: Backend, chosen: ChosenRules, local_search: LocalSearch) -> None:
        self._backend = backend
        self._search = local_search
        self._covers = chosen.covers
        self._earlier = chosen.earlier
        self._fingerprints: set[int] = set()
        self._chosen: set[int] = set()
        self.candidates: list[Candidate] = []
        self.distances = np.zeros(0)
        self._allowed = np.zeros(0, np.bool_)
        self._sizes = np.zeros(0, np.int64)

    def add(self, candidates: list[Candidate]) -> None:
        """Add the candidates that cover other records than those in the pool."""
        new = []
        fingerprints = self._backend.fingerprints(Lists.of([candidate.body for candidate in candidates])).tolist()
        for candidate, fingerprint in zip(candidates, fingerprints, strict=True):
            if fingerprint not in self._fingerprints:
                self._fingerprints.add(fingerprint)
                self.candidates.append(candidate)
                new.append(candidate)
        if not new:
            return
        bodies = Lists.of([candidate.body for candidate in new])
        sizes = np.array([candidate.class_counts.sum() for candidate in new])
        counts = self._backend.shared_counts(bodies, [*self._covers, self._earlier.records])
        rule_sizes = self._backend.sizes_within(self._covers, self._backend.everything)
        distances = diversify.row_sums(jaccard_distance(counts[:, :-1], sizes[:, None], rule_sizes))
        self.distances = np.append(self.distances, distances)
        self._allowed = np.append(self._allowed, self._allow(new, bodies, sizes, counts[:, -1]))
        self._sizes = np.append(self._sizes, sizes)

    def mark_chosen(self, j: int, cover: Cover, earlier: CoveredRecords) -> None:
        """Mark a candidate as chosen, given its cover and all records that are covered now."""
        self._chosen.add(j)
        self._covers.append(cover)
        self._earlier = earlier
        bodies = Lists.of([candidate.body for candidate in self.candidates])
        counts = self._backend.shared_counts(bodies, [cover, earlier.records])
        self.distances += jaccard_distance(counts[:, 0], self._sizes, self._sizes[j : j + 1])
        self._allowed = self._allow(self.candidates, bodies, self._sizes, counts[:, 1])

    def _allow(self, candidates: list[Candidate], bodies: Lists, sizes: Integers, shared: Integers) -> Flags:
        """Return whether each candidate is within the limits on overlap with the chosen rules."""
        labels = np.array([candidate.label for candidate in candidates], np.int64)
        limits, adds_enough = self._search.limits, self._search.adds_enough
        return self._earlier.allow_bodies(limits, bodies, sizes, shared, labels, adds_enough)

    def _eligible(self) -> Integers:
        """Return the candidates that are not chosen and within the limits on overlap."""
        allowed = self._allowed.copy()
        allowed[list(self._chosen)] = False
        return np.flatnonzero(allowed)

    def greedy_order(self, lambda_: float) -> list[int]:
        """Return the eligible candidates, by descending score of the greedy algorithm."""
        eligible = self._eligible()
        qualities = np.array([self.candidates[j].quality for j in eligible.tolist()])
        scores = 0.5 * qualities + lambda_ * self.distances[eligible]
        return eligible[np.argsort(-scores, kind="stable")].tolist()

    def best_bodies(self, n: int) -> list[Body]:
        """Return the bodies of the n eligible candidates with the highest quality."""
        eligible = self._eligible()
        qualities = np.array([self.candidates[j].quality for j in eligible.tolist()])
        return [self.candidates[j].body for j in eligible[np.argsort(-qualities, kind="stable")][:n].tolist()]

    def to_candidates(self, n: int) -> Candidates:
        """Return the first n candidates in the form that the second pass needs."""
        pool = Candidates()
        for label in sorted({candidate.label for candidate in self.candidates[:n]}):
            own = [candidate for candidate in self.candidates[:n] if candidate.label == label]
            sizes = np.array([candidate.class_counts.sum() for candidate in own])
            qualities = np.array([candidate.quality for candidate in own])
            pool.add(Lists.of([candidate.body for candidate in own]), label, sizes, qualities)
        return pool
