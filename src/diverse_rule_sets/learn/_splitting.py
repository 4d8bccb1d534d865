"""Splitting rules that cover several classes in two parts with different labels, after all rules are chosen.

A split never lowers the objective: the two parts are disjoint, so the sum of distances increases, and a rule is
split only if the qualities of the parts add up to at least the quality of the rule.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn._covered import CoveredRecords, within_overlap
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._selection import SPLITTING, ChosenRules, FoundRules, OnChoice

# Smallest gain of a split in records predicted right, by weight, as a share of all records.
_MIN_GAIN = 0.003


class _Split(NamedTuple):
    """The two parts of a rule, their labels, the gain in weighted log-likelihood, and the fingerprints of the parts."""

    gain: float
    parts: tuple[Body, Body]
    labels: tuple[int, int]
    fingerprints: frozenset[int]


def split(
    backend: Backend,
    local_search: LocalSearch,
    opposites: Integers,
    found: FoundRules,
    max_rules: int,
    on_choice: OnChoice,
    given: ChosenRules,
) -> FoundRules:
    """Split rules in two as long as there is enough evidence, the largest gain first.

    Parameters
    ----------
    backend : the data
    local_search : has the limits, the measures and the constraints
    opposites : array (n_items,), the item that holds for all other records, or -1
    found : the rules; their order is preserved, and the two parts of a rule replace it
    max_rules : largest number of rules
    on_choice : called after each split
    given : the given rules, which are never split
    """
    bodies = [step.body for step in found.learnt]
    phases = [step.phase for step in found.learnt]
    labels = [step.label for step in found.learnt]
    known: dict[tuple[Body, tuple[int, ...]], _Split | None] = {}
    deadline = local_search.limits.deadline
    while given.n_given + len(bodies) < max_rules and not deadline.passed():
        before = given.earlier
        covers = [backend.cover(body) for body in bodies]
        fingerprints = {backend.fingerprint(cover) for cover in [*given.covers, *covers]}
        options: list[tuple[float, int, _Split]] = []
        for j, (body, cover) in deadline.until(enumerate(zip(bodies, covers, strict=True))):
            key = (body, _fingerprints_within(before, cover, local_search.limits))
            if key not in known:
                known[key] = _best_split(backend, local_search, opposites, body, before)
            option = known[key]
            if option is not None and not fingerprints & option.fingerprints:  # no two rules cover the same records
                options.append((option.gain, -j, option))
            before = before.with_rule(labels[j], cover)
        for _, negative, option in sorted(options, key=lambda entry: entry[:2], reverse=True):
            j = -negative
            after = [*labels[:j], *option.labels, *labels[j + 1 :]]
            # A later rule that agrees with the whole rule may contradict one of the parts.
            if local_search.limits.by_label:
                parts = [backend.cover(part) for part in option.parts]
                covers_after = [*covers[:j], *parts, *covers[j + 1 :]]
                if not within_overlap(local_search.limits, given.earlier, after, covers_after, j):
                    continue
            labels = after
            bodies[j : j + 1] = option.parts
            phases[j : j + 1] = [SPLITTING, SPLITTING]
            on_choice(SPLITTING, given.n_given + len(bodies), before.records)
            break
        else:
            break
    if len(bodies) == len(found.learnt):
        return found
    return rebuilt(backend, local_search, bodies, phases, found, given)


def _fingerprints_within(before: CoveredRecords, cover: Cover, limits: Limits) -> tuple[int, ...]:
    """Return what the limits on overlap depend on: hashes of the records of a cover that earlier rules cover."""
    backend, earlier = before.backend, [before.records]
    if limits.by_label:
        earlier = [before.by_label.get(label, backend.nothing) for label in range(backend.n_classes)]
    return tuple(backend.fingerprint(backend.intersection(one, cover)) for one in earlier)


def _best_split(
    backend: Backend, local_search: LocalSearch, opposites: Integers, body: Body, before: CoveredRecords
) -> _Split | None:
    """Return the split of a rule with the largest gain; None if evidence, limits and constraints allow none."""
    counts = backend.extension_counts([body], before.records)[:, 0].T
    whole = counts[-1, :-1]
    items = np.flatnonzero(opposites >= 0)
    one, other = counts[items], counts[opposites[items]]
    measures, limits = local_search.measures, local_search.limits
    evidence = (
        measures.log_likelihood(one[:, :-1]) + measures.log_likelihood(other[:, :-1]) - measures.log_likelihood(whole)
    )
    n_present = int(((whole > 0) & measures.searched).sum())
    allowed = evidence >= local_search.evidence_needed(1, n_present, whole.sum())
    n_conditions = local_search.n_conditions(body)
    lengths = n_conditions + ~np.isin(local_search.columns[items], local_search.columns[list(body)])
    quality_gain = -measures.quality(whole, n_conditions)[0] * np.ones(items.size)
    labels_of_parts = []
    for part, added in ((one, items), (other, opposites[items])):
        class_counts, shared = part[:, :-1], part[:, -1]
        allowed &= limits.allow(lengths, class_counts.sum(axis=1), shared)
        quality, labels = measures.quality(class_counts, lengths)
        if limits.by_label:
            count = partial(_shared_with, backend, body, added)
            allowed &= before.allow(limits, class_counts.sum(axis=1), shared, labels, count)
        allowed &= measures.recall(class_counts, labels) > limits.min_recall_gain
        allowed &= local_search.constraints.allow_added(body, added, labels) & measures.searched[labels]
        quality_gain += quality
        labels_of_parts.append(labels)
    # Two parts with the same label would be one more rule to read that changes no prediction.
    allowed &= (quality_gain >= 0) & (labels_of_parts[0] != labels_of_parts[1])
    right = measures.weight_right
    allowed &= right(one[:, :-1]) + right(other[:, :-1]) - right(whole) >= _MIN_GAIN * measures.class_totals.sum()
    gains = measures.weighted_gain(one[:, :-1]) + measures.weighted_gain(other[:, :-1]) - measures.weighted_gain(whole)
    gains = np.where(allowed, gains, -1.0)
    if not gains.size or gains.max() <= 0:
        return None
    number = int(np.argmax(gains))
    best, labels_of_best = int(items[number]), (int(labels_of_parts[0][number]), int(labels_of_parts[1][number]))
    first, second = (
        local_search.without_redundant_items(tuple(sorted({*body, int(item)}))) for item in (best, opposites[best])
    )
    fingerprints = frozenset(backend.fingerprints(Lists.of([first, second])).tolist())
    return _Split(float(gains.max()), (first, second), labels_of_best, fingerprints)


def _shared_with(backend: Backend, body: Body, items: Integers, some: Integers, cover: Cover) -> Integers:
    """Return how many records of a cover a body with each of some of the items covers."""
    return np.asarray(backend.extension_counts_within([body], cover)[:, 0, items[some]].sum(axis=0))


def rebuilt(
    backend: Backend,
    local_search: LocalSearch,
    bodies: list[Body],
    phases: list[str],
    found: FoundRules,
    chosen: ChosenRules,
) -> FoundRules:
    """Add the rules with these bodies, in this order, to the given rules; all measures are computed again."""
    for body, phase in zip(bodies, phases, strict=True):
        cover = backend.cover(body)
        quality, label = local_search.measures.quality(backend.class_counts(cover), local_search.n_conditions(body))
        chosen.add(*chosen.make_step(body, int(label), float(quality), chosen.distance_to(cover), phase))
    return chosen.result(found.lambda_, found.pass_)
