"""Whole points for signs, found on a sample of records: greedy additions, each followed by re-choosing earlier signs.

The model is a multinomial logistic regression on sums of points: the probability of class k is proportional to
``exp(a_k + b * s_k)``, where s_k are the points that a record has for class k. With two classes only the second one
gets points. Records with the same points have the same probabilities, so they form a *cell*, and a cell is described by
its points and its class counts. Signs are chosen by how much they lower the loss

    sum over records of weight * -log(probability of its class)  +  ridge / 2 * b**2 * (sum of squared points).

The ridge penalty keeps a few lucky records from giving a sign many points, and makes the loss of a longer scorecard
comparable with that of a shorter one.

Sums over records are sums of whole numbers (class counts, and residuals in units of 2**-20), so the result does not
depend on the order in which they are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Weight of the penalty on squared coefficients, in records; and of that on squared constants.
_RIDGE, _RIDGE_CONSTANTS = 3.0, 0.1
# Residuals are rounded to multiples of 1 / _UNIT.
_UNIT = float(1 << 20)
# Number of pairs of item and class that are evaluated exactly for each choice.
_N_TRIED = 6
# Steps of Newton's method, the largest change of a parameter in one step, and the smallest slope.
_STEPS, _LARGEST_STEP, _SMALLEST_SLOPE = 5, 2.0, 0.01
# A change must lower the loss by more than this.
_TOLERANCE = 1e-6


class Pair(NamedTuple):
    """A sign and a class that it gives points to: the numbers of the item and of the class, and the points."""

    item: int
    label: int
    points: int


class Cells(NamedTuple):
    """Groups of records with the same points: points (n_cells, n_classes), weighted class counts of the same shape."""

    points: Floats
    counts: Floats


class Parameters(NamedTuple):
    """The constants and the slope of the model, and its loss."""

    constants: Floats
    slope: float
    loss: float


class Sample:
    """A sample of records, as the signs of a scorecard are learnt from it.

    Parameters
    ----------
    items : boolean array (n_items, n_records)
    codes : array (n_records,), the class of each record
    weights : array (n_classes,), the weight of a record of each class
    allowed : boolean array (n_items, n_classes), which items may give points to which classes
    """

    def __init__(self, items: Flags, codes: Integers, weights: Floats, allowed: Flags) -> None:
        self.items = items
        self.codes = codes
        self.weights = weights
        self.allowed = allowed
        self._matrix = items.astype(np.float64)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.weights.size

    def take(self, records: Integers) -> Sample:
        """Return the sample of some of the records."""
        return Sample(self.items[:, records], self.codes[records], self.weights, self.allowed)

    def points(self, pairs: Sequence[Pair]) -> Integers:
        """Return the points of each record for each class: an array (n_records, n_classes)."""
        sums = np.zeros((self.codes.size, self.n_classes), np.int64)
        for pair in pairs:
            sums[:, pair.label] += pair.points * self.items[pair.item]
        return sums

    def cells(self, points: Integers) -> tuple[Cells, Integers]:
        """Return the cells of records with the same points, and the cell of each record."""
        key = np.zeros(len(points), np.int64)
        for column in points.T:  # one number for each row; the numbers of rows stay small
            key = np.unique(key * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1].reshape(-1)
        n_cells = int(key.max(initial=-1)) + 1
        first = np.zeros(n_cells, np.int64)
        first[key[::-1]] = np.arange(len(key))[::-1]
        return Cells(points[first].astype(np.float64), self.count(key, n_cells)), key

    def count(self, cells: Integers, n_cells: int) -> Floats:
        """Return the weighted class counts of each cell."""
        flat = np.bincount(cells * self.n_classes + self.codes, minlength=n_cells * self.n_classes)
        return flat.reshape(n_cells, self.n_classes) * self.weights

    def sums(self, values: Floats) -> Floats:
        """Return the sum of values (n_records, n) over the records of each item; the values are rounded first."""
        return (self._matrix @ np.rint(values * _UNIT)) / _UNIT


def fit(cells: Cells, squares: Any, start: Parameters | None, ridge: float = _RIDGE) -> tuple[Floats, Floats, Floats]:
    """Fit constants and slopes by Newton's method, for one or for several models at once.

    Parameters
    ----------
    cells : points and weighted class counts, arrays (..., n_cells, n_classes) with one leading axis for several models
    squares : the sum of the squared points of each model
    start : parameters to start from; by default the class shares and a small slope
    ridge : weight of the penalty

    Returns
    -------
    constants (..., n_classes), slopes (...,) and losses (...,)
    """
    points, counts = cells
    shape, n_classes = points.shape[:-2], points.shape[-1]
    scale = np.maximum(points.max(axis=(-1, -2)), 1.0)  # in units of the largest points, no parameter is very large
    points = points / scale[..., None, None]
    penalty = ridge * np.broadcast_to(np.asarray(squares, np.float64), shape) / scale**2
    totals = counts.sum(axis=-1, keepdims=True)
    constants = np.zeros((*shape, n_classes)) + (0.0 if start is None else start.constants)
    slope = np.full(shape, 1.0) if start is None else start.slope * scale
    diagonal = np.arange(n_classes)
    for _ in range(_STEPS + 3 * (start is None)):
        shares = _softmax(constants[..., None, :] + slope[..., None, None] * points)
        residuals = counts - totals * shares
        of_slope = (residuals * points).sum(axis=(-1, -2)) - penalty * slope
        free = (slope > _SMALLEST_SLOPE) | (of_slope > 0)  # otherwise the slope stays at its bound
        gradient = np.concatenate(
            [residuals.sum(axis=-2) - _RIDGE_CONSTANTS * constants, (of_slope * free)[..., None]], axis=-1
        )
        weighted = totals * shares
        mean = (shares * points).sum(axis=-1, keepdims=True)
        spread = (shares * points * points).sum(axis=-1, keepdims=True) - mean * mean
        hessian = np.empty((*shape, n_classes + 1, n_classes + 1))
        hessian[..., :-1, :-1] = -np.swapaxes(shares, -1, -2) @ weighted
        hessian[..., diagonal, diagonal] += weighted.sum(axis=-2) + _RIDGE_CONSTANTS
        cross = (weighted * (points - mean)).sum(axis=-2) * free[..., None]
        hessian[..., :-1, -1] = hessian[..., -1, :-1] = cross
        hessian[..., -1, -1] = (totals * spread).sum(axis=(-1, -2)) + penalty + 1e-6
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        largest = np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1e-12)
        step = step * np.minimum(1.0, _LARGEST_STEP / largest)
        constants = constants + step[..., :-1]
        slope = np.maximum(slope + step[..., -1], _SMALLEST_SLOPE)
    shares = _softmax(constants[..., None, :] + slope[..., None, None] * points)
    loss = -(counts * np.log(np.maximum(shares, 1e-300))).sum(axis=(-1, -2))
    loss = loss + 0.5 * penalty * slope**2 + 0.5 * _RIDGE_CONSTANTS * (constants**2).sum(axis=-1)
    return constants, slope / scale, loss


def _softmax(scores: Floats) -> Floats:
    """Return the probabilities of classes, the last axis."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def parameters(sample: Sample, pairs: Sequence[Pair]) -> Parameters:
    """Return the parameters of the model with given signs."""
    cells, _ = sample.cells(sample.points(pairs))
    constants, slope, loss = fit(cells, _squares(pairs), None)
    return Parameters(constants, float(slope), float(loss))


def log_losses(sample: Sample, pairs: Sequence[Pair], model: Parameters) -> Floats:
    """Return the weighted log loss of each record of a sample."""
    cells, which = sample.cells(sample.points(pairs))
    shares = _softmax(model.constants + model.slope * cells.points)
    losses = -np.log(np.maximum(shares, 1e-300))[which, sample.codes]
    return np.asarray(losses * sample.weights[sample.codes])


def _squares(pairs: Sequence[Pair]) -> int:
    return sum(pair.points**2 for pair in pairs)


class PointsSearch:
    """The search for signs and their points on a sample of records.

    Parameters
    ----------
    sample : the records
    columns : array (n_items,), the column of each item
    max_points : the largest number of points of a sign for a class
    every : earlier pairs are chosen again after so many additions
    max_per_column : the largest number of signs on one column
    """

    def __init__(
        self, sample: Sample, columns: Integers, max_points: int, every: int = 3, max_per_column: int = 2
    ) -> None:
        self.sample = sample
        self.columns = columns
        self.max_points = max_points
        self.every = every
        self.max_per_column = max_per_column

    def grow(self, max_signs: int, max_pairs: int) -> Iterator[tuple[Pair, ...]]:
        """Yield a scorecard of each size: one pair of sign and class, two pairs, and so on.

        After some additions, and after the last one, each pair in turn is removed and the best pair is added in its
        place, which may be another one.
        """
        pairs: tuple[Pair, ...] = ()
        loss = np.inf
        while len(pairs) < max_pairs:
            best = self.best_addition(pairs, max_signs)
            if best is None or best[1] >= loss - _TOLERANCE:
                return
            pairs, loss = (*pairs, best[0]), best[1]
            if len(pairs) > 1 and (len(pairs) % self.every == 0 or len(pairs) == max_pairs):
                pairs, loss = self.choose_again(pairs, loss, max_signs)
            yield pairs

    def choose_again(self, pairs: tuple[Pair, ...], loss: float, max_signs: int) -> tuple[tuple[Pair, ...], float]:
        """Replace each pair in turn by the best one, if that lowers the loss."""
        for j in range(len(pairs)):
            rest = pairs[:j] + pairs[j + 1 :]
            best = self.best_addition(rest, max_signs)
            if best is not None and best[1] < loss - _TOLERANCE:
                pairs, loss = (*pairs[:j], best[0], *pairs[j + 1 :]), best[1]
        return pairs, loss

    def best_addition(self, pairs: Sequence[Pair], max_signs: int) -> tuple[Pair, float] | None:
        """Return the pair of sign and class whose addition gives the lowest loss, and this loss; None if there is none.

        All pairs are ranked by the decrease of the loss that a Newton step with a real coefficient predicts. The best
        few are evaluated exactly, with the nearest whole points and one more or less.
        """
        sample = self.sample
        points = sample.points(pairs)
        cells, which = sample.cells(points)
        constants, slope, loss = fit(cells, _squares(pairs), None)
        start = Parameters(constants, float(slope), float(loss))
        tried = self._ranked(pairs, max_signs, cells, which, start)
        if not tried:
            return None
        candidates = [self._split(cells, which, pair) for pair in tried]
        squares = np.array([_squares(pairs) + pair.points**2 for pair in tried])
        both = Cells(*(np.stack(part) for part in zip(*candidates, strict=True)))
        losses = np.round(fit(both, squares, start)[2], 9)
        best = int(np.argmin(losses))
        return tried[best], float(losses[best])

    def _ranked(
        self, pairs: Sequence[Pair], max_signs: int, cells: Cells, which: Integers, start: Parameters
    ) -> list[Pair]:
        """Return the pairs to evaluate."""
        sample = self.sample
        shares = _softmax(start.constants + start.slope * cells.points)[which]
        weights = sample.weights[sample.codes][:, None]
        classes = np.arange(sample.n_classes)
        residuals = ((sample.codes[:, None] == classes) - shares) * weights
        variances = shares * (1 - shares) * weights
        sums = sample.sums(np.hstack([residuals, variances]))
        gradient, information = sums[:, : classes.size], sums[:, classes.size :]
        total = np.maximum(np.rint(variances * _UNIT).sum(axis=0) / _UNIT, 1e-9)
        information = np.maximum(information - information**2 / total, 1e-3) + _RIDGE
        coefficients = gradient / information
        gains = np.where(self._available(pairs, max_signs) & (gradient > 0), gradient * coefficients / 2, 0.0)
        order = np.argsort(-np.round(gains, 9).reshape(-1), kind="stable")[:_N_TRIED]
        tried: list[Pair] = []
        for item, label in (divmod(int(position), classes.size) for position in order):
            if gains[item, label] > 0:
                near = round(float(coefficients[item, label]) / start.slope) if pairs else (self.max_points + 1) // 2
                near = min(max(near, 1), self.max_points)
                options = {max(near - 1, 1), near, min(near + 1, self.max_points)} if pairs else {near}
                tried += [Pair(item, label, n) for n in sorted(options)]
        return tried

    def _available(self, pairs: Sequence[Pair], max_signs: int) -> Flags:
        """Return which pairs of item and class may be added."""
        available = self.sample.allowed.copy()
        signs = dict.fromkeys(pair.item for pair in pairs)
        if len(signs) >= max_signs:
            others = np.ones(len(available), np.bool_)
            others[list(signs)] = False
            available[others] = False
        used = np.bincount(self.columns[list(signs)], minlength=int(self.columns.max(initial=-1)) + 1)
        full = used[self.columns] >= self.max_per_column
        full[list(signs)] = False
        available[full] = False
        for pair in pairs:
            available[pair.item, pair.label] = False
        return available

    def _split(self, cells: Cells, which: Integers, pair: Pair) -> Cells:
        """Return the cells after the addition of a pair: each cell without and with the points of the pair."""
        n_cells = len(cells.points)
        inside = which[self.sample.items[pair.item]]
        codes = self.sample.codes[self.sample.items[pair.item]]
        flat = np.bincount(inside * self.sample.n_classes + codes, minlength=n_cells * self.sample.n_classes)
        counts = flat.reshape(n_cells, self.sample.n_classes) * self.sample.weights
        raised = cells.points.copy()
        raised[:, pair.label] += pair.points
        return Cells(np.vstack([cells.points, raised]), np.vstack([cells.counts - counts, counts]))
