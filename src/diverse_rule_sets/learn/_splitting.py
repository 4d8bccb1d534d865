"""Splitting rules in two after all rules are chosen, where their records mix classes and the evidence allows it.

A split never lowers the objective: the two parts are disjoint, so that the sum of distances grows, and it is made only
if the parts together have at least the quality of the whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._paper_search import Chosen, FoundRules, Report


class _Split(NamedTuple):
    """A rule in two parts, and the likelihood gained."""

    gain: float
    parts: tuple[Body, Body]
    fingerprints: frozenset[int]


def split(
    backend: Backend,
    local_search: LocalSearch,
    opposites: Integers,
    found: FoundRules,
    max_rules: int,
    report: Report,
    only_given: Chosen,
) -> FoundRules:
    """Split rules in two while the evidence asks for it, the largest gain first.

    Parameters
    ----------
    backend, local_search : the data, and the limits and measures
    opposites : array (n_items,), the item that holds for the other records, or -1
    found : the rules; they come back in their order, the two parts of a rule where it was
    max_rules : the most rules
    report : as for :func:`first_pass`
    only_given : the given rules, which stay as they are
    """
    bodies = [step.body for step in found.learnt]
    known: dict[tuple[Body, int], _Split | None] = {}
    while only_given.n_given + len(bodies) < max_rules:
        before = only_given.covered
        covers = [backend.cover(body) for body in bodies]
        there = {backend.fingerprint(cover) for cover in [*only_given.covers, *covers]}
        options: list[tuple[float, int, _Split]] = []
        for j, (body, cover) in enumerate(zip(bodies, covers, strict=True)):
            key = (body, backend.fingerprint(backend.intersection(before, cover)))
            if key not in known:
                known[key] = _best_split(backend, local_search, opposites, body, before)
            option = known[key]
            if option is not None and not there & option.fingerprints:  # no rule twice
                options.append((option.gain, -j, option))
            before = backend.union(before, cover)
        if not options:
            break
        _, j, option = max(options, key=lambda one: one[:2])
        bodies[-j : -j + 1] = option.parts
        report("splitting", only_given.n_given + len(bodies), before)
    if len(bodies) == len(found.learnt):
        return found
    return _rebuilt(backend, local_search, bodies, found, only_given)


def _best_split(
    backend: Backend, local_search: LocalSearch, opposites: Integers, body: Body, before: Cover
) -> _Split | None:
    """Return the split of a rule that gains most, if the evidence and the limits allow one."""
    counts = backend.extended([body], before)[:, 0].T
    whole = counts[-1, :-1]
    items = np.flatnonzero(opposites >= 0)
    one, other = counts[items], counts[opposites[items]]
    measures, limits = local_search.measures, local_search.limits
    evidence = (
        measures.log_likelihood(one[:, :-1]) + measures.log_likelihood(other[:, :-1]) - measures.log_likelihood(whole)
    )
    allowed = evidence >= local_search.needed(1, int((whole > 0).sum()), int(whole.sum()))
    n_now = local_search.n_conditions(body)
    lengths = n_now + ~np.isin(local_search.columns[items], local_search.columns[list(body)])
    worth = -measures.quality(whole, n_now)[0] * np.ones(items.size)
    for part, added in ((one, items), (other, opposites[items])):
        class_counts, shared = part[:, :-1], part[:, -1]
        allowed &= limits.allow(lengths, class_counts.sum(axis=1), shared)
        quality, labels = measures.quality(class_counts, lengths)
        allowed &= measures.recall(class_counts, labels) > limits.min_recall_gain
        allowed &= local_search.constraints.allowed_with(body, added, labels)
        worth += quality
    allowed &= worth >= 0
    gains = measures.weighted_gain(one[:, :-1]) + measures.weighted_gain(other[:, :-1]) - measures.weighted_gain(whole)
    gains = np.where(allowed, gains, -1.0)
    if not gains.size or gains.max() <= 0:
        return None
    best = int(items[np.argmax(gains)])
    first, second = (local_search.shortened(tuple(sorted({*body, int(item)}))) for item in (best, opposites[best]))
    fingerprints = frozenset(backend.fingerprints(Lists.of([first, second])).tolist())
    return _Split(float(gains.max()), (first, second), fingerprints)


def _rebuilt(
    backend: Backend, local_search: LocalSearch, bodies: list[Body], found: FoundRules, chosen: Chosen
) -> FoundRules:
    """Return those that stand and the rules with these bodies, in this order, measured anew."""
    for body in bodies:
        cover = backend.cover(body)
        worth, label = local_search.measures.quality(backend.class_counts(cover), local_search.n_conditions(body))
        chosen.add(*chosen.step(body, int(label), float(worth), chosen.distance_to(cover)))
    return chosen.found(found.lambda_, found.pass_)
