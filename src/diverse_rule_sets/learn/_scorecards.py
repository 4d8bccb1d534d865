"""Learning scorecards: which items give how many points to which class, and whether that helps on other records.

Signs and points are learnt from a sample of the records (all of them, if there are few) by :mod:`._points`. The number
of signs is chosen by cross-fitting: the same search on a part of the sample, judged by the log loss of the other part.
Of all sizes whose loss is within half a standard error of the lowest, the smallest is taken; if no size is clearly
better than no signs, there is no scorecard. A class of which a random sample has few records is sampled more
completely, and its records weigh less.

The sample and its parts do not depend on ``random_state``: the search draws the same candidates with and without
scorecards.

Names of columns and labels, constant columns and copies of columns do not change a scorecard: of items that hold for
the same records, the first is used. In a table with its columns in another order the same signs get the same points,
unless two items lower the loss equally; signs with equally many points are listed in the order of the columns. Records
in another order are divided into other parts for cross-fitting, so that another number of signs may be chosen; signs
and points for a given number are the same, as long as all records are in the sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists, distinct_rows
from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn._deadline import NO_DEADLINE, Deadline
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._points import Pair, PointsSearch, Sample, Scored, log_losses, parameters
from diverse_rule_sets.learn._points_model import Parameters

Floats = NDArray[np.float64]
# Largest number of records that signs and points are learnt from, with two classes and with more.
_MAX_RECORDS = (5000, 3000)
# With more records than this, counted by weight, no random order of all records is made.
_MAX_PERMUTED = 1 << 25
# A class of which the sample has fewer records gets this number, or all of its records, with two classes and with more.
_MIN_OF_CLASS = (200, 100)
# Points of a sign are from 1 to this number.
MAX_POINTS = 9
# Number of pairs of a sign and a class, as a multiple of the number of signs, if there are more than two classes.
_PAIRS_PER_SIGN = 3
# With more classes than leave so many pairs for each of them, no scorecard is learnt: it could not tell them apart.
# With more classes than this number none is learnt either: one rule for each label would be too much to read.
_PAIRS_PER_LABEL, _MAX_LABELS = 2, 15
# Cross-fitting: number of parts, and how many sizes without a lower loss are tried before the search ends.
_N_FOLDS, _PATIENCE = 3, 8
# After how many additions signs are chosen again, with two classes and with more: in the end, and in cross-fitting.
_EVERY, _EVERY_IN_FOLDS = (4, 6), (5, 12)
# Of sizes whose loss is within so many standard errors of the lowest, the smallest is chosen.
_STANDARD_ERRORS = 0.5
# A scorecard is learnt only if signs lower the loss of other records by so many standard errors, the one-sided level of
# 5 %. On columns without any relation to the classes it is above this more often, because cut points have seen all
# labels; a higher bound cost small tables more than noise cost.
_MIN_SIGNAL = 1.64
# Rules need so many times the evidence if this signal is below a bound; the first bound that is above it counts.
_EVIDENCE_FACTORS = ((_MIN_SIGNAL, 7.0), (2.8, 3.0))
_TINY = 1e-9  # losses that differ by less are equal
# A sign holds and fails for at least this share of the records, or for this number, whichever is less.
_MIN_SHARE, _MIN_RECORDS = 0.05, 20


class LearntScorecard(NamedTuple):
    """A scorecard by items.

    Parameters
    ----------
    pairs : the items of its signs, the classes that get points, and the points
    base : the points of every record for each class, if more than one class gets points; otherwise empty
    """

    pairs: tuple[Pair, ...]
    base: tuple[int, ...]

    @property
    def items(self) -> tuple[int, ...]:
        """The items of the signs, those with the most points first."""
        most = {pair.item: 0 for pair in self.pairs}
        for pair in self.pairs:
            most[pair.item] = max(most[pair.item], pair.points)
        return tuple(sorted(most, key=lambda item: (-most[item], item)))


class CrossFitted(NamedTuple):
    """A sample of the records, and what cross-fitting says about scorecards on it.

    Parameters
    ----------
    sample : the records; their classes have the numbers 0, 1, ...
    labels : the classes by these numbers
    size : number of pairs of a sign and a class; 0 for no scorecard
    signal : how much signs lower the loss of other records, in standard errors of this difference
    """

    sample: Sample
    labels: Integers
    size: int
    signal: float

    @property
    def evidence_factor(self) -> float:
        """How many times the evidence rules need: more if signs found on some records hardly predict others."""
        return next((factor for bound, factor in _EVIDENCE_FACTORS if self.signal < bound), 1.0)


def cross_fit(
    backend: Backend,
    columns: Integers,
    measures: Measures,
    constraints: Constraints,
    min_support: int,
    max_signs: int,
    excluded: Sequence[int] = (),
    deadline: Deadline = NO_DEADLINE,
) -> CrossFitted | None:
    """Cross-fit scorecards; None if there are too few records, more than 15 classes, or too few signs for the classes.

    With more than two classes, there are up to three pairs of a sign and a class for each sign, and at least two pairs
    for each class are needed.

    Parameters
    ----------
    backend : the data
    columns : array (n_items,), the column of each item
    measures : gives the class weights, and the classes that are not rare
    constraints : items that are banned for a label give it no points
    min_support : each sign holds and fails for at least this number of records
    max_signs : largest number of signs
    excluded : items that are no signs
    deadline : when the search ends
    """
    labels = np.flatnonzero(measures.searched)
    max_pairs = max_signs if labels.size == 2 else _PAIRS_PER_SIGN * max_signs
    too_many = labels.size > 2 and (max_pairs < _PAIRS_PER_LABEL * labels.size or labels.size > _MAX_LABELS)
    if labels.size < 2 or too_many or not backend.n_items or max_signs < 1:
        return None
    allowed = _allowed(backend, constraints, labels, min_support)
    allowed[list(excluded)] = False
    sample = _draw(backend, measures, labels, allowed, columns)
    if np.bincount(sample.codes, minlength=labels.size).min() < _N_FOLDS:  # too few records for cross-fitting
        return None
    losses = cross_fitted_losses(sample, max_signs, max_pairs, deadline)
    signal = signal_of(losses)
    return CrossFitted(sample, labels, smallest_good_size(losses) if signal >= _MIN_SIGNAL else 0, signal)


def learn_scorecard(
    found: CrossFitted, n_classes: int, max_signs: int, deadline: Deadline = NO_DEADLINE
) -> LearntScorecard | None:
    """Learn a scorecard of the size that cross-fitting gave; None if it gave none, or if all signs are on one column.

    The points of signs on one column would say no more than conditions on this column.

    Parameters
    ----------
    found : the result of cross-fitting
    n_classes : number of classes, rare ones included
    max_signs : largest number of signs
    deadline : when the search ends; a scorecard that is not complete then has fewer signs
    """
    sample, labels = found.sample, found.labels
    every = _EVERY[labels.size > 2]
    grown = list(PointsSearch(sample, MAX_POINTS, every, deadline=deadline).grow(max_signs, found.size))
    if not grown or len({int(sample.columns[pair.item]) for pair in grown[-1].pairs}) < 2:
        return None
    pairs, model = grown[-1]
    base = () if labels.size == 2 else _base_points(model)
    pairs, base = _without_common_factor(pairs, base)
    named = tuple(pair._replace(label=int(labels[pair.label])) for pair in pairs)
    of_all = np.zeros(n_classes, np.int64)
    of_all[labels] = base or 0
    return LearntScorecard(named, tuple(of_all.tolist()) if base else ())


def _allowed(backend: Backend, constraints: Constraints, labels: Integers, min_support: int) -> Flags:
    """Return which items may give points to which classes; of two classes only the second gets points."""
    counts = backend.class_counts_of(Lists.of([(item,) for item in range(backend.n_items)])).sum(axis=1)
    least = max(min_support, min(math.ceil(_MIN_SHARE * backend.n_records), _MIN_RECORDS))
    supported = (counts >= least) & (backend.n_records - counts >= least)
    allowed = np.tile(supported[:, None], (1, labels.size))
    if constraints.banned is not None:
        allowed &= ~constraints.banned[labels].T
    if labels.size == 2:
        allowed[:, 0] = False
    return allowed


def _draw(backend: Backend, measures: Measures, labels: Integers, allowed: Flags, columns: Integers) -> Sample:
    """Return a sample of the records of some classes; the classes get the numbers 0, 1, ...

    The total weight is the number of records, unless some class has more records in the sample than its share: then it
    is larger, so that a record of the class that is sampled most completely keeps its weight. Records whose weights are
    counts are sampled as if they were repeated; other records are drawn without regard to their weights, and keep them.
    """
    counted = backend if backend.unit == 1 else backend.by_record
    if counted.n_records <= _MAX_PERMUTED:
        ks, factors = _sample_records(counted, labels)
        drawn = [(counted.everything, ks)]
    else:
        drawn, factors = _sample_classes(counted, labels)
    codes = np.searchsorted(labels, np.concatenate([counted.classes_at(*some) for some in drawn]))
    lists = Lists.concatenate([counted.items_at(*some) for some in drawn])
    own = None if counted is backend else np.concatenate([counted.weights_at(*some) for some in drawn])
    items = np.zeros((backend.n_items, codes.size), np.bool_)
    items[lists.members, np.repeat(np.arange(codes.size), lists.lengths)] = True
    weights, allowed = measures.weights[labels] * factors, _without_copies(items, allowed)
    scale = measures.information / float(factors.min())
    n_records = codes.size if own is None else float(own.sum())
    total = float((weights[codes] if own is None else weights[codes] * own).sum())
    return Sample(items, codes, scale * weights * n_records / max(total, 1e-9), allowed, columns, own)


def _sample_records(backend: Backend, labels: Integers) -> tuple[Integers, Floats]:
    """Return the numbers of sampled records of some classes, and a factor for the weight of a record of each class.

    Records are drawn from the whole table. The factor is below 1 for a class with few records among them, of which
    further records are added.
    """
    n_records, several = backend.n_records, labels.size > 2
    everything, n_drawn = backend.everything, min(n_records, _MAX_RECORDS[several])
    order = np.random.default_rng(0).permutation(n_records) if n_drawn < n_records else np.arange(n_records)
    drawn, left = order[:n_drawn], order[n_drawn:]
    codes = backend.classes_at(everything, drawn)
    parts, factors = [drawn[np.isin(codes, labels)]], np.ones(labels.size)
    for j, label in enumerate(labels.tolist() if left.size else []):
        total, n_own = int(backend.class_totals[label]), np.count_nonzero(codes == label)
        wanted = min(total, _MIN_OF_CLASS[several])
        if n_own < wanted:
            parts.append(left[backend.classes_at(everything, left) == label][: wanted - n_own])
            factors[j] = min(1.0, total * n_drawn / n_records / wanted)
    return np.sort(np.concatenate(parts)), factors


def _sample_classes(backend: Backend, labels: Integers) -> tuple[list[tuple[Cover, Integers]], Floats]:
    """Return the positions of sampled records in the covers of some classes, and a factor for the weight of each class.

    There is no list of all records. Of each class about as many are drawn as a sample of all records has.
    """
    rng, several = np.random.default_rng(0), labels.size > 2
    drawn, factors = list[tuple[Cover, Integers]](), np.ones(labels.size)
    for j, label in enumerate(labels.tolist()):
        total = int(backend.class_totals[label])
        share = total * _MAX_RECORDS[several] / backend.n_records
        wanted = min(total, max(round(share), _MIN_OF_CLASS[several]))
        drawn.append((backend.of_class(label), np.sort(rng.choice(total, wanted, replace=False, shuffle=False))))
        factors[j] = min(1.0, share / wanted)
    return drawn, factors


def _without_copies(items: Flags, allowed: Flags) -> Flags:
    """Return which items may give points to which classes: of items that hold for the same records, only the first."""
    _, which = distinct_rows(items)
    kept = np.zeros_like(allowed)
    for label in range(allowed.shape[1]):
        usable = np.flatnonzero(allowed[:, label])
        _, first = np.unique(which[usable], return_index=True)
        kept[usable[first], label] = True
    return kept


def cross_fitted_losses(sample: Sample, max_signs: int, max_pairs: int, deadline: Deadline = NO_DEADLINE) -> Floats:
    """Return the loss of each record with 0, 1, 2, ... pairs found on other records: an array (n_sizes, n_records).

    It ends some sizes after the lowest loss, or if there is no time left.
    """
    folds = _folds(sample.codes, sample.n_classes)
    inside = [sample.take(np.flatnonzero(folds != fold)) for fold in range(_N_FOLDS)]
    outside = [sample.take(np.flatnonzero(folds == fold)) for fold in range(_N_FOLDS)]
    every = _EVERY_IN_FOLDS[sample.n_classes > 2]
    growing = [PointsSearch(one, MAX_POINTS, every, deadline=deadline).grow(max_signs, max_pairs) for one in inside]
    found = [Scored((), parameters(one, ())) for one in inside]
    losses: list[Floats] = []
    best = 0
    while len(losses) <= max_pairs and len(losses) <= best + _PATIENCE and not (losses and deadline.passed()):
        found = [next(grown, before) for grown, before in zip(growing, found, strict=True)] if losses else found
        losses.append(np.empty(sample.codes.size))
        for fold, (pairs, model) in enumerate(found):
            losses[-1][folds == fold] = log_losses(outside[fold], pairs, model)
        if losses[-1].sum() < losses[best].sum() - _TINY:
            best = len(losses) - 1
    return np.array(losses)


def smallest_good_size(losses: Floats) -> int:
    """Return the smallest number of pairs whose loss is within half a standard error of the lowest loss.

    The standard error is that of the difference of the two losses: it is estimated from their differences on single
    records. Of equally low losses the first is the lowest.

    Parameters
    ----------
    losses : array (n_sizes, n_records), the loss of each record with 0, 1, 2, ... pairs
    """
    totals = losses.sum(axis=1)
    # Sums in another order differ by rounding errors, which must not matter.
    best = int(np.argmax(totals <= totals.min() + _TINY))
    differences = losses - losses[best]
    errors = differences.std(axis=1) * math.sqrt(losses.shape[1])
    return int(np.argmax(differences.sum(axis=1) <= _STANDARD_ERRORS * errors + _TINY))


def signal_of(losses: Floats) -> float:
    """Return how much the best size lowers the loss of no pairs, in standard errors of this difference.

    Parameters
    ----------
    losses : array (n_sizes, n_records), as for :func:`smallest_good_size`
    """
    totals = losses.sum(axis=1)
    gains = losses[0] - losses[int(np.argmax(totals <= totals.min() + _TINY))]
    return float(gains.sum() / max(gains.std() * math.sqrt(gains.size), _TINY))


def _folds(codes: Integers, n_classes: int) -> Integers:
    """Return the part of each record, from 0; every class is divided about equally."""
    folds = np.zeros(codes.size, np.int64)
    rng = np.random.default_rng(0)
    for label in range(n_classes):
        own = np.flatnonzero(codes == label)
        folds[own] = rng.permutation(own.size) % _N_FOLDS
    return folds


def _base_points(model: Parameters) -> tuple[int, ...]:
    """Return whole base points for each class: the constants of the model in units of points, at least 0."""
    real = model.constants / model.slope
    base = np.rint(real - real.min()).astype(np.int64)
    return tuple((base - base.min()).tolist())


def _without_common_factor(pairs: Sequence[Pair], base: Sequence[int]) -> tuple[tuple[Pair, ...], tuple[int, ...]]:
    """Divide all points by their greatest common divisor."""
    factor = math.gcd(*(pair.points for pair in pairs), *base)
    return tuple(pair._replace(points=pair.points // factor) for pair in pairs), tuple(n // factor for n in base)
