"""What both searches share: settings, candidates, chosen rules, and the second pass of the greedy algorithm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.learn import _diversify as diversify
from diverse_rule_sets.learn._constraints import GivenRule
from diverse_rule_sets.learn._covered import AddsEnough, CoveredRecords
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._measures import jaccard_distance

Floats = NDArray[np.float64]
# How lambda is computed from the qualities of rules.
LAMBDA_MODES: dict[str, Callable[[Floats], float]] = {
    "none": lambda _: 0.0,
    "permissive": lambda qualities: float(qualities.mean()),
    "strict": lambda qualities: float(qualities.max()),
}
# Maximum number of items of all candidates that are kept for the second pass.
_MAX_MEMBERS = 500_000_000
# The parts of a search.
GIVEN, FIRST_PASS, SECOND_PASS = "given", "first pass", "second pass"
SPLITTING, GROWTH, MERGING = "splitting", "growth", "merging"
EXCEPTIONS, REFITTING = "exceptions", "refitting"
# Called after each chosen rule with the name of the pass, the number of rules and the records that they cover.
OnChoice = Callable[[str, int, Cover], None]


@dataclass(frozen=True)
class SearchSettings:
    """The settings of a search, named as the parameters and internal settings of the classifiers."""

    n_candidates: int
    diversity: str | float
    second_pass: bool
    limits: Limits


class Step(NamedTuple):
    """A chosen rule, and what it added to the rules chosen before it; the body of a given rule is empty.

    ``phase`` is the part of the search that found it: ``"given"``, ``"first pass"``, ``"second pass"``,
    ``"splitting"``, ``"exceptions"`` or ``"refitting"``.
    """

    body: Body
    label: int
    class_counts: Integers
    quality: float
    distance_gain: float
    recall_gain: float
    phase: str


@dataclass
class FoundRules:
    """The result of a search: the rules in the order in which they were chosen; the first ``n_given`` are given."""

    steps: list[Step]
    lambda_: float
    objective: float
    pass_: int
    covered: Cover
    n_given: int = 0

    @property
    def learnt(self) -> list[Step]:
        """The rules without the given ones."""
        return self.steps[self.n_given :]


def better_of(first: FoundRules, second: FoundRules) -> FoundRules:
    """Return the set with the higher objective; the first unless the second is better by more than rounding."""
    return second if second.objective > first.objective * (1 + 1e-12) else first


@dataclass
class Candidates:
    """Candidates with the label, the number of covered records and the quality of each."""

    bodies: list[Lists] = field(default_factory=list)
    labels: list[NDArray[np.int32]] = field(default_factory=list)
    sizes: list[Integers] = field(default_factory=list)
    qualities: list[Floats] = field(default_factory=list)

    n_members: int = 0

    def add(self, bodies: Lists, label: int, sizes: Integers, qualities: Floats) -> None:
        """Add candidates of one label; raises MemoryError if all of them together have too many items."""
        self.n_members += bodies.members.size
        if self.n_members > _MAX_MEMBERS:
            raise MemoryError(
                f"the candidates for the second pass have over {_MAX_MEMBERS:,} items; lower n_candidates or "
                "max_rules, leave out columns, or set second_pass=False"
            )
        self.bodies.append(bodies)
        self.labels.append(np.full(bodies.size, label, np.int32))
        self.sizes.append(sizes)
        self.qualities.append(qualities)


class ChosenRules:
    """The rules chosen so far, and the records that they cover."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._covers: list[Cover] = []
        self._sizes: list[float] = []  # integers, unless records have weights
        self.steps: list[Step] = []
        self.n_given = 0
        self.earlier = CoveredRecords.nothing(backend)

    def add_given(self, given: Sequence[GivenRule], quality_of: Callable[[Integers, GivenRule], float]) -> None:
        """Add the given rules; ``quality_of`` returns the quality of a rule from its class counts."""
        for rule in given:
            quality = quality_of(self._backend.class_counts(rule.cover), rule)
            distance = self.distance_to(rule.cover)
            self.add(self._step((), rule.label, rule.cover, quality, distance, GIVEN), rule.cover)
        self.n_given = len(given)

    def only_given(self) -> ChosenRules:
        """Return a copy that has the given rules alone, for another pass."""
        copy = ChosenRules(self._backend)
        for step, cover in zip(self.steps[: self.n_given], self._covers, strict=False):
            copy.add(step, cover)
        copy.n_given = self.n_given
        return copy

    @property
    def covered(self) -> Cover:
        """The records that at least one rule covers."""
        return self.earlier.records

    def uncovered_shares(self) -> Floats:
        """Return the share of the records of each class that no rule covers."""
        totals = self._backend.class_totals
        return np.asarray(1.0 - self._backend.class_counts(self.covered) / np.where(totals > 0, totals, 1))

    @property
    def covers(self) -> list[Cover]:
        """The records that each rule covers."""
        return self._covers.copy()

    def best_of(
        self, bodies: Lists, sizes: Integers, qualities: Floats, lambda_: float, score_to_beat: float
    ) -> diversify.NextChoice | None:
        """Return the body that the greedy algorithm adds next, if its score exceeds the score to beat."""

        def distance_sums(candidates: Integers) -> Floats:
            return diversify.row_sums(self.distances(bodies.take(candidates), sizes[candidates]))

        return diversify.best_candidate(qualities, lambda_, len(self.steps), distance_sums, score_to_beat)

    def distances(self, bodies: Lists, sizes: Integers) -> Floats:
        """Return the distance of each body to each chosen rule."""
        if not self._covers:
            return np.zeros((bodies.size, 0))
        shared = self._backend.shared_counts(bodies, self._covers)
        return jaccard_distance(shared, sizes[:, None], np.array(self._sizes))

    def make_step(self, body: Body, label: int, quality: float, distance: float, phase: str) -> tuple[Step, Cover]:
        """Return what a rule would add, and the records that it covers, without adding it."""
        cover = self._backend.cover(body)
        return self._step(body, label, cover, quality, distance, phase), cover

    def _step(self, body: Body, label: int, cover: Cover, quality: float, distance: float, phase: str) -> Step:
        uncovered = self._backend.difference(cover, self.covered)
        class_counts = self._backend.class_counts(cover)
        new = self._backend.class_counts(uncovered)[label]
        recall_gain = float(new / (self._backend.class_totals[label] or 1))
        return Step(body, label, class_counts, quality, distance, recall_gain, phase)

    def distance_to(self, cover: Cover) -> float:
        """Return the sum of the distances of a cover to those of the chosen rules."""
        if not self._covers:
            return 0.0
        size = np.array([self._backend.class_counts(cover).sum()])
        shared = self._backend.sizes_within(self._covers, cover)
        return float(diversify.row_sums(jaccard_distance(shared, size, np.array(self._sizes))[None])[0])

    def add(self, step: Step, cover: Cover) -> None:
        """Add a rule."""
        self.steps.append(step)
        self._covers.append(cover)
        self._sizes.append(step.class_counts.sum().item())
        self.earlier = self.earlier.with_rule(step.label, cover)

    def result(self, lambda_: float, pass_: int, n_rules: int | None = None) -> FoundRules:
        """Return the chosen rules, or the first ``n_rules`` of them, as the result of a pass."""
        steps = self.steps[:n_rules]
        covered = self._backend.nothing
        for cover in self._covers[: len(steps)]:
            covered = self._backend.union(covered, cover)
        qualities = np.array([step.quality for step in steps])
        gains = np.array([step.distance_gain for step in steps])
        return FoundRules(steps, lambda_, diversify.objective(qualities, gains, lambda_), pass_, covered, self.n_given)


def second_pass(
    backend: Backend,
    pool: Candidates,
    lambda_: float,
    k: int,
    limits: Limits,
    on_choice: OnChoice,
    chosen: ChosenRules,
    adds_enough: AddsEnough | None = None,
) -> FoundRules:
    """Add up to k rules by the greedy algorithm over all candidates, within the limit on overlap.

    Parameters
    ----------
    backend : the data
    pool : the candidates; they are removed from it, to save memory
    lambda_ : weight of the distances
    k : how many rules to add
    limits : the limits on rules
    on_choice : called after each chosen rule
    chosen : the given rules, to which the others are added
    adds_enough : see :meth:`CoveredRecords.allow_bodies`

    Raises
    ------
    OutOfTimeError : if there is no time left
    """
    bodies, labels = Lists.concatenate(pool.bodies), np.concatenate(pool.labels).astype(np.int64)
    pool.bodies.clear()  # with many classes there are millions: do not keep them twice
    sizes, qualities = np.concatenate(pool.sizes), np.concatenate(pool.qualities)
    covers: dict[int, Cover] = {}
    earlier = chosen.earlier
    initial_sums = diversify.row_sums(chosen.distances(bodies, sizes)) if chosen.steps else None

    def distances(candidates: Integers, others: list[int]) -> Floats:
        shared = backend.shared_counts(bodies.take(candidates), [covers[j] for j in others])
        return jaccard_distance(shared, sizes[candidates][:, None], sizes[others])

    def candidates_to_remove(candidate: int) -> Integers:
        nonlocal earlier
        limits.deadline.check()
        covers[candidate] = backend.cover(bodies.body(candidate))
        earlier = earlier.with_rule(int(labels[candidate]), covers[candidate])
        on_choice(SECOND_PASS, chosen.n_given + len(covers), earlier.records)
        similar = np.flatnonzero((sizes == sizes[candidate]) & (labels == labels[candidate]))
        copies = similar[bodies.equal_to(bodies.one(candidate), similar)]
        if not limits.limit_overlap:
            return copies
        shared = backend.shared_counts(bodies, [earlier.records])[:, 0]
        allowed = earlier.allow_bodies(limits, bodies, sizes, shared, labels, adds_enough)
        allowed[copies] = False
        return np.flatnonzero(~allowed)  # the overlap of a candidate with the chosen rules never decreases

    choice = diversify.greedy(qualities, lambda_, k, distances, candidates_to_remove, initial_sums)
    for j, distance in zip(choice.chosen, choice.distance_gains, strict=True):
        chosen.add(*chosen.make_step(bodies.body(j), int(labels[j]), float(qualities[j]), distance, SECOND_PASS))
    return chosen.result(lambda_, 2)
