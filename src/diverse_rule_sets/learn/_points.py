"""Whole points for signs, found on a sample of records: greedy additions, each followed by re-choosing earlier signs.

The model is that of :mod:`._points_model`; signs are chosen by how much they lower its loss.

Sums over the records of every item are needed for each addition. The items of a column divide its records into a few
*parts* (the bins between cut points, or the categories), so the sums are taken over the parts of each column, and then
added up for each item. They are sums of whole numbers (residuals in units of 2**-20), so the result does not depend on
the order in which they are added.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Lists, distinct_rows
from diverse_rule_sets.learn._deadline import NO_DEADLINE, Deadline
from diverse_rule_sets.learn._points_model import (
    BOUNDS,
    RIDGE,
    Parameters,
    fit_levels,
    fit_records,
    kernels,
    of_two,
    probabilities,
    start_of_two,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Residuals are rounded to multiples of 1 / _UNIT.
_UNIT = float(1 << 20)
# Number of pairs of item and class that are evaluated for each choice, with two classes and with more.
_N_TRIED, _N_TRIED_OF_MANY = 6, 4
# A change must lower the loss by more than this.
_TOLERANCE = 1e-6
# Signs are chosen from at most so many columns, those that separate the classes best on their own.
_MAX_COLUMNS = 64
# Two signs on one column differ for at least this share of the records: ``x > 16.8`` beside ``x > 17.7`` reads as a
# mistake.
_MIN_DIFFERENCE = 0.05


class Pair(NamedTuple):
    """A sign and a class that it gives points to: the numbers of the item and of the class, and the points."""

    item: int
    label: int
    points: int


class Sample:
    """A sample of records, as the signs of a scorecard are learnt from it.

    Parameters
    ----------
    items : boolean array (n_items, n_records)
    codes : array (n_records,), the class of each record
    weights : array (n_classes,), the weight of a record of each class
    allowed : boolean array (n_items, n_classes), which items may give points to which classes
    columns : array (n_items,), the column of each item
    counts : array (n_records,), what each record counts; None if each counts once
    """

    def __init__(
        self,
        items: Flags,
        codes: Integers,
        weights: Floats,
        allowed: Flags,
        columns: Integers,
        counts: Floats | None = None,
    ) -> None:
        self.items = items
        self.codes = codes
        self.weights = weights
        self.allowed = allowed
        self.columns = columns
        self.counts = counts
        self._set_weights()
        # The parts in which each item holds, in the order of ``_listed``; parts of all columns are numbered together.
        listed, lists, of_records = list[Integers](), list[Lists](), list[Integers]()
        n_parts = 0
        for column in np.unique(columns[allowed.any(axis=1)]).tolist():
            own = np.flatnonzero(columns == column)
            patterns, which = _distinct_columns(items[own])
            listed.append(own)
            lists.append(Lists.of([(np.flatnonzero(row) + n_parts).tolist() for row in patterns]))
            of_records.append(which + n_parts)
            n_parts += patterns.shape[1]
        self._n_parts = n_parts
        self._listed = np.concatenate([np.zeros(0, np.int64), *listed])
        self._parts = Lists.concatenate([Lists.of([]), *lists])
        # The part of each record in each column: array (n_columns, n_records).
        self._part_of = np.array(of_records, np.int64).reshape(len(of_records), codes.size)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.weights.size

    def _set_weights(self) -> None:
        """Set what each record counts, and its weight."""
        self.counted = np.ones(self.codes.size) if self.counts is None else self.counts
        self.record_weights = self.weights[self.codes] * self.counted

    def take(self, records: Integers) -> Sample:
        """Return the sample of some of the records."""
        part = copy.copy(self)
        part.items = np.ascontiguousarray(self.items[:, records])
        part._part_of = np.ascontiguousarray(self._part_of[:, records])
        part.codes = self.codes[records]
        part.counts = None if self.counts is None else self.counts[records]
        part._set_weights()
        return part

    def restrict(self, columns: Integers) -> Sample:
        """Return the sample in which only items of some columns may give points."""
        allowed = self.allowed & np.isin(self.columns, columns)[:, None]
        return Sample(self.items, self.codes, self.weights, allowed, self.columns, self.counts)

    def points(self, pairs: Sequence[Pair]) -> Integers:
        """Return the points of each record for each class: an array (n_classes, n_records)."""
        sums = np.zeros((self.n_classes, self.codes.size), np.int64)
        kernels().sum_points(self.items, *_by_part(pairs), sums)
        return sums

    def levels(self, points: Integers) -> Floats:
        """Return the weighted class counts of the records with 0, 1, 2, ... points of the second of two classes."""
        return self.counts_by_points(points) * self.weights[:, None]

    def counts_by_points(self, points: Integers) -> Floats:
        """Return what the records of each class with 0, 1, 2, ... points count."""
        counts = np.zeros((2, int(points.max(initial=0)) + 1))
        kernels().count_by_points(points, self.codes, self.counted, np.ones(points.size, np.bool_), counts)
        return counts

    def sums(self, values: Floats) -> Floats:
        """Return the sum of values (n, n_records) over the records of each item; the values are rounded first."""
        return self.units(values)[:-1] / _UNIT

    def units(self, values: Floats) -> Integers:
        """Return the sums of rounded values over the records of each item and, last, over all records, in units."""
        out = np.zeros((self.columns.size + 1, len(values)), np.int64)
        listed, (starts, parts) = self._listed, self._parts
        buffers = np.empty(values.T.shape, np.int64), np.zeros((self._n_parts, len(values)), np.int64)
        kernels().sums_of_items(values, _UNIT, self._part_of, listed, starts, parts, *buffers, out)
        return out


def _distinct_columns(flags: Flags) -> tuple[Flags, Integers]:
    """Return the distinct columns of a boolean matrix, and the number of its distinct column for each column."""
    rows, which = distinct_rows(np.ascontiguousarray(flags.T))
    return rows.T, which


def parameters(sample: Sample, pairs: Sequence[Pair], start: Parameters | None = None) -> Parameters:
    """Return the parameters of the model with given signs."""
    points, squares = sample.points(pairs), float(_squares(pairs))
    if sample.n_classes > 2:
        return fit_records(points, sample.codes, sample.record_weights, squares, start)
    return fit_levels(sample.levels(points[1]), squares, start)


def log_losses(sample: Sample, pairs: Sequence[Pair], model: Parameters) -> Floats:
    """Return the weighted log loss of each record of a sample."""
    shares = probabilities(model.constants, model.slope, sample.points(pairs))
    losses = -np.log(np.maximum(shares[sample.codes, np.arange(sample.codes.size)], 1e-300))
    return np.asarray(losses * sample.record_weights)


def _by_part(pairs: Sequence[Pair]) -> tuple[Integers, Integers, Integers]:
    """Return the items, the labels and the points of pairs."""
    items, labels, points = np.ascontiguousarray(np.array(pairs, np.int64).reshape(-1, 3).T)
    return items, labels, points


def _squares(pairs: Sequence[Pair]) -> int:
    return sum(pair.points**2 for pair in pairs)


class Scored(NamedTuple):
    """Pairs of signs and classes, and the model with them."""

    pairs: tuple[Pair, ...]
    model: Parameters


class PointsSearch:
    """The search for signs and their points on a sample of records.

    Parameters
    ----------
    sample : the records
    max_points : the largest number of points of a sign for a class
    every : earlier pairs are chosen again after so many additions; 0 for never
    max_per_column : the largest number of signs on one column
    deadline : when the search ends
    """

    def __init__(
        self,
        sample: Sample,
        max_points: int,
        every: int = 3,
        max_per_column: int = 2,
        deadline: Deadline = NO_DEADLINE,
    ) -> None:
        self.sample = _best_columns(sample)
        self.max_points = max_points
        self.every = every
        self.max_per_column = max_per_column
        self.deadline = deadline
        self._near: dict[int, Integers] = {}  # the near copies of each sign that was used

    def grow(self, max_signs: int, max_pairs: int) -> Iterator[Scored]:
        """Yield a scorecard of each size: one pair of sign and class, two pairs, and so on.

        After some additions, and after the last one, each pair in turn is removed and the best pair is added in its
        place, which may be another one.
        """
        found = Scored((), parameters(self.sample, ()))
        while len(found.pairs) < max_pairs and not self.deadline.passed():
            longer = self.best_addition(found, max_signs)
            if longer is None or longer.model.loss >= found.model.loss - _TOLERANCE:
                return
            found, n = longer, len(longer.pairs)
            if self.every and n > 1 and (n % self.every == 0 or n == max_pairs):
                found = self.choose_again(found, max_signs)
            yield found

    def choose_again(self, found: Scored, max_signs: int) -> Scored:
        """Replace each pair in turn by the best one, if that lowers the loss."""
        for j in self.deadline.until(range(len(found.pairs))):
            rest = found.pairs[:j] + found.pairs[j + 1 :]
            shorter = Scored(rest, parameters(self.sample, rest, found.model))
            best = self.best_addition(shorter, max_signs)
            if best is not None and best.model.loss < found.model.loss - _TOLERANCE:
                *others, new = best.pairs
                found = Scored((*others[:j], new, *others[j:]), best.model)
        return found

    def best_addition(self, found: Scored, max_signs: int) -> Scored | None:
        """Return the pairs with the further pair of sign and class that gives the lowest loss; None if there is none.

        All pairs are ranked by the decrease of the loss that a Newton step with a real coefficient predicts. The best
        few are evaluated with the nearest whole points and one more or less.
        """
        points = self.sample.points(found.pairs)
        shares = probabilities(found.model.constants, found.model.slope, points)
        tried = self._ranked(found, max_signs, shares)
        if not tried:
            return None
        if self.sample.n_classes == 2:
            return self._best_of_levels(found, points[1], tried)
        pairs = [pair for options in tried for pair in options]
        best = pairs[int(np.argmin(np.round(self._loss_changes(found, shares, pairs), 9)))]
        longer = (*found.pairs, best)
        return Scored(longer, parameters(self.sample, longer, found.model))

    def _best_of_levels(self, found: Scored, points: Integers, tried: Sequence[Sequence[Pair]]) -> Scored:
        """Return the pairs with the best of some further pairs, for two classes: each is fitted."""
        sample, pairs = self.sample, [pair for options in tried for pair in options]
        items, _, added = _by_part(pairs)
        out, squares, start = np.empty((len(pairs), 3)), float(_squares(found.pairs)), start_of_two(found.model, 1.0)
        counts = sample.counts_by_points(points)
        buffers = np.zeros_like(counts), np.empty((2, counts.shape[1] + int(added.max())))
        records = points, sample.codes, sample.counted, counts, sample.weights, sample.items
        kernels().fit_additions(*records, items, added, squares, *start, BOUNDS, *buffers, out)
        best = int(np.argmin(np.round(out[:, 2], 9)))
        return Scored((*found.pairs, pairs[best]), of_two(*out[best]))

    def _loss_changes(self, found: Scored, shares: Floats, pairs: Sequence[Pair]) -> Floats:
        """Return how much the loss changes with each of some pairs; those of one item and one class are in a row."""
        sample, out = self.sample, np.empty(len(pairs))
        records = shares, sample.codes, sample.record_weights, sample.items
        buffers = np.empty((2, sample.codes.size))
        kernels().losses_of_additions(*records, *_by_part(pairs), found.model.slope, BOUNDS, *buffers, out)
        return out

    def _ranked(self, found: Scored, max_signs: int, shares: Floats) -> list[list[Pair]]:
        """Return the pairs to evaluate; each list has the pairs of one item and one class."""
        gains, coefficients = _gains(self.sample, shares, self._available(found.pairs, max_signs))
        n_tried = _N_TRIED if self.sample.n_classes == 2 else _N_TRIED_OF_MANY
        order = np.argsort(-np.round(gains, 9).reshape(-1), kind="stable")[:n_tried]
        tried = []
        for item, label in (divmod(int(position), self.sample.n_classes) for position in order):
            if gains[item, label] > 0:
                points = self._options(float(coefficients[item, label]), found)
                tried.append([Pair(item, label, n) for n in points])
        return tried

    def _options(self, coefficient: float, found: Scored) -> list[int]:
        """Return the whole points to try for a real coefficient."""
        if not found.pairs:
            return [(self.max_points + 1) // 2]
        near = min(max(round(coefficient / found.model.slope), 1), self.max_points)
        return sorted({max(near - 1, 1), near, min(near + 1, self.max_points)})

    def _available(self, pairs: Sequence[Pair], max_signs: int) -> Flags:
        """Return which pairs of item and class may be added."""
        sample = self.sample
        available = sample.allowed.copy()
        signs = dict.fromkeys(pair.item for pair in pairs)
        if len(signs) >= max_signs:
            others = np.ones(len(available), np.bool_)
            others[list(signs)] = False
            available[others] = False
        used = np.bincount(sample.columns[list(signs)], minlength=int(sample.columns.max(initial=-1)) + 1)
        full = used[sample.columns] >= self.max_per_column
        full[list(signs)] = False
        available[full] = False
        for sign in signs:
            if sign not in self._near:
                self._near[sign] = self._near_copies(sign)
            available[self._near[sign]] = False
        for pair in pairs:
            available[pair.item, pair.label] = False
        return available

    def _near_copies(self, item: int) -> Integers:
        """Return the other items of the same column that hold, or fail, for nearly the same records as an item."""
        sample = self.sample
        same = np.flatnonzero(sample.columns == sample.columns[item])
        differing = np.count_nonzero(sample.items[same] != sample.items[item], axis=1)
        fewest = np.minimum(differing, sample.codes.size - differing)
        return same[(fewest < _MIN_DIFFERENCE * sample.codes.size) & (same != item)]


def _gains(sample: Sample, shares: Floats, available: Flags) -> tuple[Floats, Floats]:
    """Return how much each pair of item and class would lower the loss, and its real coefficient.

    Both follow from a Newton step for the coefficient and the constant of the class. Both are arrays (n_items,
    n_classes); the gain of a pair that is not available is 0.
    """
    labels = np.flatnonzero(available.any(axis=0))
    values = np.empty((2 * labels.size, sample.codes.size))
    kernels().residuals_of_records(shares, sample.codes, sample.record_weights, labels, values)
    gains, coefficients = np.zeros(available.shape), np.zeros(available.shape)
    kernels().gains_of_additions(sample.units(values), labels, available, _UNIT, RIDGE, gains, coefficients)
    return gains, coefficients


def _best_columns(sample: Sample) -> Sample:
    """Return the sample with the columns that separate the classes best, each on its own, if there are many."""
    columns = np.unique(sample.columns[sample.allowed.any(axis=1)])
    if columns.size <= _MAX_COLUMNS:
        return sample
    shares = probabilities(
        parameters(sample, ()).constants, 0.0, np.zeros((sample.n_classes, sample.codes.size), np.int64)
    )
    gains, _ = _gains(sample, shares, sample.allowed)
    best = np.zeros(int(sample.columns.max()) + 1)
    np.maximum.at(best, sample.columns, np.round(gains.max(axis=1), 9))
    order = columns[np.argsort(-best[columns], kind="stable")]
    return sample.restrict(np.sort(order[:_MAX_COLUMNS]))
