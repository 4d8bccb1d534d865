"""Local search: add, drop or swap a condition of a candidate as long as its score increases, within the limits.

One call of the backend returns the class counts of a body with each item added. The same call for the bodies without
one of the items gives the counts for dropping and for swapping an item.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets.data._backend import Backend, Body
from diverse_rule_sets.learn._constraints import UNCONSTRAINED, Constraints
from diverse_rule_sets.learn._covered import CoveredRecords
from diverse_rule_sets.learn._limits import READING_PRICE, Limits
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._scorecard_prices import ScorecardPrices, only_points

_MAX_MOVES = 40
# Largest number of counts in one call of the backend.
_MAX_COUNTS = 100_000
_TOLERANCE = 1e-9
_NO_LIMIT = 1 << 62
# What a sign of a scorecard costs, as a share of what a condition costs: a condition is read again in every rule.
_SIGN_PRICE = 0.5
# Plain conditions beside conditions on points need so many times the evidence that a split needs.
_EVIDENCE_BESIDE_POINTS = 3.0


class Candidate(NamedTuple):
    """A body with its quality, and its score given the records that the chosen rules cover."""

    body: Body
    label: int
    class_counts: Integers
    quality: float
    score: float


class _Scores(NamedTuple):
    """Counts, labels, qualities and scores of several groups of bodies.

    ``counts`` is an array (n_classes + 1, n_groups, n_bodies), ``added`` has the class counts that are evidence for a
    body; the others are arrays (n_groups, n_bodies).
    """

    counts: Integers
    labels: Integers
    qualities: NDArray[np.float64]
    scores: NDArray[np.float64]
    added: Integers

    def candidates(self, groups: Integers, numbers: Integers, bodies: Sequence[Body]) -> list[Candidate | None]:
        """Return the candidates at some places, with the given bodies; None where the number is -1."""
        class_counts = np.ascontiguousarray(self.counts[:-1, groups, numbers].T)
        labels, qualities, scores = (some[groups, numbers].tolist() for some in self[1:4])
        found = zip(numbers.tolist(), bodies, labels, class_counts, qualities, scores, strict=True)
        return [None if number < 0 else Candidate(*rest) for number, *rest in found]


@dataclass
class _State:
    """The state of one local search: the current body, and its candidate if it is a rule within the limits."""

    body: Body
    current: Candidate | None


class _Neighbourhood(NamedTuple):
    """A body and the best body with one more item; None if there is no such rule within the limits."""

    itself: Candidate | None
    longer: Candidate | None


class LocalSearch:
    """Improves bodies by adding, dropping and swapping items.

    Parameters
    ----------
    backend : the data
    columns : array (n_items,), the column of each item
    measures : the quality of rules
    limits : the limits on rules
    min_evidence : how much evidence a rule needs, as a multiple (see :meth:`evidence_needed`)
    constraints : the constraints on rules
    prices : what the use of scorecards costs; None without scorecards
    """

    def __init__(
        self,
        backend: Backend,
        columns: Integers,
        measures: Measures,
        limits: Limits,
        min_evidence: float,
        constraints: Constraints = UNCONSTRAINED,
        prices: ScorecardPrices | None = None,
    ) -> None:
        self._backend = backend
        self.columns = columns
        self._column_of: list[int] = columns.tolist()
        self._n_columns = int(columns.max(initial=-1)) + 1
        self.measures, self.limits, self.constraints = measures, limits, constraints
        self._min_evidence = min_evidence
        self.n_labels = int(measures.searched.sum())  # number of classes for which rules are learnt
        self.n_free = self.n_labels - 1  # number of free class shares
        self._covered = CoveredRecords.nothing(backend)
        self._prices = prices
        self._chosen: Sequence[Body] = ()
        self._known: dict[Body, _Neighbourhood] = {}
        # The class counts of conditions on points with each item added.
        self._alone: dict[Body, Integers] = {}

    def set_covered(self, covered: CoveredRecords, bodies: Sequence[Body] = ()) -> None:
        """Set the records that the rules chosen so far cover, and the bodies of these rules."""
        self._covered, self._chosen = covered, bodies
        self._known.clear()

    def evidence_needed(self, n_conditions: Integers | int, n_free: int, n_records: Integers | int) -> Any:
        """Return the evidence (in nats) that a rule needs: half of its description length, times ``min_evidence``.

        The description length is the logarithm of the number of items for each condition, plus half of the logarithm of
        the number of records for each free class share (minimum description length).

        Parameters
        ----------
        n_conditions : number of conditions
        n_free : number of free class shares
        n_records : number of records
        """
        cost = n_conditions * math.log(max(self._backend.n_items, 2)) + 0.5 * n_free * np.log(np.maximum(n_records, 2))
        return 0.5 * self._min_evidence * cost

    def n_conditions(self, body: Body) -> int:
        """Return the number of conditions of a body; all items of one column count as one condition."""
        return len({self._column_of[item] for item in body})

    def within_length(self, body: Body) -> bool:
        """Return whether a body has at most ``max_conditions`` conditions."""
        most = self.limits.max_conditions
        return most is None or self.n_conditions(body) <= most

    def without_redundant_items(self, body: Body) -> Body:
        """Drop items without which the body covers the same records and has all required columns, first ones first."""
        required, waiting = self.constraints.has_required, list(body)
        while waiting:
            rests = [tuple(other for other in body if other != item) for item in waiting]
            # A shorter body covers all records of the longer one, so equal sizes mean equal records.
            sizes = self._backend.class_counts_of(Lists.of([body, *rests])).sum(axis=1)
            same = [k for k, rest in enumerate(rests) if rest and required(rest) and sizes[k + 1] == sizes[0]]
            body, waiting = (rests[same[0]], waiting[same[0] + 1 :]) if same else (body, [])
        return body

    def cuts_of_scorecards(self) -> list[Candidate]:
        """Return every cut of a scorecard that is a rule within the limits, as it is."""
        if self._prices is None:
            return []
        result, described = self._scored([()])
        cuts = np.flatnonzero((self._prices.of_item >= 0) & (result.scores[0, :-1] > 0))
        enough = self._has_evidence(result.added[:, 0, cuts].T, described[0, cuts])
        items = cuts[enough]
        found = result.candidates(np.zeros_like(items), items, [(item,) for item in items.tolist()])
        return [candidate for candidate in found if candidate is not None]

    def improve(self, starts: Iterable[Body]) -> list[Candidate]:
        """Improve each body until no move does; return the last candidate of each, without bodies that gave no rule.

        All local searches advance together, so that each call of the backend counts for many bodies.
        """
        states = [_State(body, None) for body in dict.fromkeys(tuple(sorted(set(start))) for start in starts)]
        self._evaluate(state.body for state in states)
        for state in states:
            state.current = self._known[state.body].itself
        active = states
        for _ in range(_MAX_MOVES):
            active = self._move(active)
            if not active or self.limits.deadline.passed():
                break
        return [state.current for state in states if state.current is not None]

    def _move(self, states: list[_State]) -> list[_State]:
        """Make the best move of each local search; return those that made one."""
        self._evaluate(state.body for state in states)
        not_extended = [state for state in states if not _is_better(self._known[state.body].longer, state.current)]
        self._evaluate(shorter for state in not_extended for shorter in _drop_each(state.body))
        moved = []
        for state in states:
            move = self._known[state.body].longer
            if not _is_better(move, state.current):
                move = self._swap_or_drop(state.body, state.current)
            if move is not None:
                state.body, state.current = move.body, move
                moved.append(state)
        return moved

    def _swap_or_drop(self, body: Body, current: Candidate | None) -> Candidate | None:
        """Return the best body with an item swapped, if it is better, or dropped, if it is at least as good."""
        best: Candidate | None = None
        for rest in _drop_each(body):
            known = self._known[rest]
            if _is_better(known.longer, current) and _is_better(known.longer, best):
                best = known.longer
            itself = known.itself
            as_good = itself is not None and (current is None or itself.score >= current.score * (1 - _TOLERANCE))
            if itself is not None and as_good and (best is None or itself.score > best.score):
                best = itself
        return best

    def _evaluate(self, bodies: Iterable[Body]) -> None:
        """Compute the neighbourhoods of the bodies for which they are not known yet."""
        new = [body for body in dict.fromkeys(bodies) if body not in self._known]
        step = max(1, _MAX_COUNTS // max(1, self._backend.n_items * (self._backend.n_classes + 1)))
        for begin in range(0, len(new), step):
            batch = new[begin : begin + step]
            self._known.update(zip(batch, self._neighbourhoods(batch), strict=True))

    def _scored(self, bodies: list[Body]) -> tuple[_Scores, Integers]:
        """Return the scores of bodies with each item added and, last, of the bodies themselves.

        Also returns the number of conditions of each for which evidence is needed.
        """
        used = np.zeros((len(bodies), self._n_columns), np.bool_)
        for row, body in zip(used, bodies, strict=True):
            row[self.columns[list(body)]] = True
        n_used = used.sum(axis=1)[:, None]
        lengths = np.hstack([n_used + ~used[:, self.columns], n_used])  # the last column is the body itself
        counts = self._backend.extension_counts(bodies, self._covered.records)
        result = self._score(counts, lengths)
        if self.limits.by_label:
            result = self._judge_added(bodies, result, lengths)
        described = lengths
        if self._prices is not None:
            result.scores[:] *= self._sign_prices(self._prices, bodies)
            self._refuse_weak_splits(self._prices, bodies, used, counts, result.scores)
            described = np.where(only_points(self._prices, bodies), 0, lengths)
        if not self.constraints.allow_all:
            result.scores[~self.constraints.allow_extended(bodies, used, result.labels)] = -1.0
        return result, described

    def _neighbourhoods(self, bodies: list[Body]) -> list[_Neighbourhood]:
        """Return the candidate of each body and the best candidate with one more item."""
        result, described = self._scored(bodies)
        itself = result.scores[:, -1].copy()
        itself[~self._has_evidence(result.added[:, :, -1].T, described[:, -1])] = -1.0
        result.scores[:, -1] = -1.0
        flat_counts = result.added.reshape(result.added.shape[0], -1)
        longer = self._best_with_evidence(result.scores.copy(), flat_counts, described)
        result.scores[:, -1] = itself
        own = np.where((itself > 0) & np.array([bool(body) for body in bodies]), described.shape[1] - 1, -1)
        extended = [tuple(sorted({*body, item})) for body, item in zip(bodies, longer.tolist(), strict=True)]
        groups = np.arange(len(bodies))
        found = (result.candidates(groups, *some) for some in ((own, bodies), (longer, extended)))
        return [_Neighbourhood(*pair) for pair in zip(*found, strict=True)]

    def _sign_prices(self, prices: ScorecardPrices, bodies: list[Body]) -> NDArray[np.float64]:
        """Return the share of the score that is left after bodies with each item added have paid for signs.

        The first rule that uses a scorecard pays for its signs.
        """
        unpaid = prices.n_signs * ~prices.used(self._chosen).any(axis=0)
        added = np.append(prices.of_item, -1)[:, None] == np.arange(unpaid.size)
        n_signs = (prices.used(bodies)[:, None, :] | added) @ unpaid
        return np.maximum(1.0 - _SIGN_PRICE * self.measures.price * n_signs, 0.0)

    def _refuse_weak_splits(
        self,
        prices: ScorecardPrices,
        bodies: list[Body],
        used: NDArray[np.bool_],
        counts: Integers,
        scores: NDArray[np.float64],
    ) -> None:
        """Set scores to -1 where plain conditions beside conditions on points have too little evidence of their own.

        Signs already contain most of what plain conditions say, so a plain condition that only makes a rule look purer
        would be a coincidence. The plain conditions of a body divide the records that meet its conditions on points in
        two; the class shares of the two parts must raise the log-likelihood enough, as in a split.

        Parameters
        ----------
        prices : which items are cuts of scorecards
        bodies : the bodies
        used : array (n_bodies, n_columns), the columns of which each body has an item
        counts : as for :meth:`_score`
        scores : array (n_bodies, n_items + 1)
        """
        is_cut = np.append(prices.of_item >= 0, False)  # the last entry stands for no added item
        flags, columns = is_cut.tolist(), self._column_of
        cuts = [tuple(item for item in body if flags[item]) for body in bodies]
        n_plain = np.array([len({columns[item] for item in body if not flags[item]}) for body in bodies], np.int64)
        numbers = {some: k for k, some in enumerate(dict.fromkeys(cuts))}
        new = [some for some in numbers if some not in self._alone]
        if new:
            counted = self._backend.extension_counts(new, self._backend.nothing)
            self._alone.update({some: counted[:-1, k] for k, some in enumerate(new)})
        alone = np.stack([self._alone[some] for some in numbers], axis=1)
        which, has_cuts = np.array([numbers[some] for some in cuts]), np.array([bool(some) for some in cuts])
        needed = 0.5 * self._min_evidence * _EVIDENCE_BESIDE_POINTS
        per_condition, per_size = needed * math.log(max(self._backend.n_items, 2)), needed * 0.5 * self.n_free
        self.measures.refuse_weak_splits(
            counts, alone, which, has_cuts, n_plain, used, self.columns, is_cut, per_condition, per_size, scores
        )

    def _score(self, counts: Integers, lengths: Integers) -> _Scores:
        """Return the labels, qualities and scores of several groups of bodies; scores outside the limits are negative.

        Parameters
        ----------
        counts : array (n_classes + 1, n_groups, n_bodies), the number of records of each class that each body covers
            and, last, of those that the rules chosen so far cover
        lengths : array (n_groups, n_bodies), number of conditions of each body
        """
        limits = self.limits
        most = _NO_LIMIT if limits.max_conditions is None else limits.max_conditions
        support = min(int(limits.min_support), np.iinfo(np.int64).max)
        single = support, float(limits.max_overlap), int(most), float(limits.min_recall_gain)
        return _Scores(counts, *self.measures.scores(counts, lengths, single), counts[:-1])

    def _judge_added(self, bodies: list[Body], result: _Scores, lengths: Integers) -> _Scores:
        """Score bodies by the records that they add to earlier rules of their label, within the limits by label."""
        added = self._covered.added_by_extended(bodies, result.counts, result.labels)
        agreeing = (result.counts[:-1] - added).sum(axis=0)
        beyond = ~self._covered.allow_extended(self.limits, bodies, result.counts, agreeing, result.labels)
        some = np.flatnonzero((result.scores > 0) & (agreeing > 0))
        new, labels = added.reshape(added.shape[0], -1)[:, some].T, result.labels.reshape(-1)[some]
        quality, _ = self.measures.quality(new, lengths.reshape(-1)[some], labels)
        covered = (result.counts[-1] - agreeing).reshape(-1)[some]  # by rules of other labels alone
        scores = quality * (1.0 - covered / np.maximum(new.sum(axis=1), 1))
        scores[np.argmax(self.measures.shares(new), axis=1) != labels] = -1.0
        result.scores.reshape(-1)[some] = scores
        result.scores[beyond] = -1.0
        return result._replace(added=added)

    def adds_enough(self, bodies: Sequence[Body], labels: Integers, added: Integers) -> NDArray[np.bool_]:
        """Return whether the records that each rule adds to earlier rules of its label mostly have its label.

        There must be enough evidence for it. Otherwise a rule would look good by the records of other rules alone.

        Parameters
        ----------
        bodies, labels : the rules
        added : array (n_rules, n_classes), the class counts of the records that no earlier rule of the label covers
        """
        lengths = np.array([self.n_conditions(body) for body in bodies], np.int64)
        if self._prices is not None:
            lengths[only_points(self._prices, bodies)[:, -1]] = 0
        return (np.argmax(self.measures.shares(added), axis=1) == labels) & self._has_evidence(added, lengths)

    def _best_with_evidence(self, scores: NDArray[np.float64], class_counts: Integers, lengths: Integers) -> Integers:
        """Return the body of each group with the highest score among those with enough evidence; -1 for none.

        The scores are changed.
        """
        n_groups, n_bodies = scores.shape
        best = np.full(n_groups, -1, np.int64)
        groups = np.arange(n_groups)
        while groups.size:
            items = np.argmax(scores[groups], axis=1)
            positive = scores[groups, items] > 0
            groups, items = groups[positive], items[positive]
            enough = self._has_evidence(class_counts[:, groups * n_bodies + items].T, lengths[groups, items])
            best[groups[enough]] = items[enough]
            groups, items = groups[~enough], items[~enough]
            scores[groups, items] = -1.0  # as well as all others of these groups without enough evidence
            if groups.size:
                rows = (groups[:, None] * n_bodies + np.arange(n_bodies)).reshape(-1)
                remaining = rows[scores.reshape(-1)[rows] > 0]
                weak = remaining[~self._has_evidence(class_counts[:, remaining].T, lengths.reshape(-1)[remaining])]
                scores.reshape(-1)[weak] = -1.0
        return best

    def _has_evidence(self, class_counts: Integers, n_conditions: Integers) -> NDArray[np.bool_]:
        """Return whether each body has enough evidence; on large tables a rule must also be worth reading."""
        if self._min_evidence == 0:
            return np.ones(n_conditions.shape, np.bool_)
        n_records = self._backend.n_records
        needed = self.evidence_needed(n_conditions, self.n_free, n_records) + READING_PRICE * n_records
        return np.asarray((n_conditions == 0) | (self.measures.evidence(class_counts) >= needed))


def _drop_each(body: Body) -> list[Body]:
    """Return the body without each of its items in turn."""
    return [body[:j] + body[j + 1 :] for j in range(len(body))]


def _is_better(move: Candidate | None, current: Candidate | None) -> bool:
    return move is not None and (current is None or move.score > current.score * (1 + _TOLERANCE))
