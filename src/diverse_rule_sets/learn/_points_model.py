"""The model of sums of points: a logistic regression with one slope, for two classes and for more.

The probability of class k is proportional to ``exp(a_k + b * s_k)``, where s_k are the points of a record for class k,
b is the slope and a_k are constants. With two classes only the second one gets points. The loss of a model is

    sum over records of weight * -log(probability of its class)  +  ridge / 2 * b**2 * (sum of squared points).

The ridge penalty keeps a few lucky records from giving a sign many points, and makes the loss of a longer scorecard
comparable with that of a shorter one.

With two classes, records with the same points have the same probabilities. Such a *level* is described by its points
and its weighted class counts, so that many models are fitted together at little cost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Weight of the penalty on squared coefficients, in records; and of that on squared constants.
RIDGE, _RIDGE_CONSTANTS = 3.0, 0.1
# Steps of Newton's method from any start and from a model that is nearly right.
_STEPS, _FEW_STEPS = 8, 4
# The largest change of a parameter in one step, and the smallest slope, both in units of the largest points.
_LARGEST_STEP, _SMALLEST_SLOPE = 2.0, 0.01
_SMALLEST = 1e-300  # replaces 0 in logarithms


class Parameters(NamedTuple):
    """The constants and the slope of a model, and its loss."""

    constants: Floats
    slope: float
    loss: float


class Levels(NamedTuple):
    """Groups of records with the same points, for one model or for several: arrays (..., n_levels).

    Parameters
    ----------
    points : the points of each level for the second class
    first, second : weighted number of records of the first and of the second class
    """

    points: Floats
    first: Floats
    second: Floats


def probabilities(constants: Floats, slope: float, points: Any) -> Floats:
    """Return the probabilities of the classes, the first axis, which is also that of the points."""
    scores = constants[:, None] + slope * points
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return np.asarray(scores)


def fit_levels(levels: Levels, squares: Floats, start: Parameters | None = None) -> tuple[Floats, Floats, Floats]:
    """Fit the difference of the two constants and the slope by Newton's method, for several models at once.

    Parameters
    ----------
    levels : arrays (n_models, n_levels)
    squares : array (n_models,), the sum of the squared points of each model
    start : parameters to start from; by default the class shares and a small slope

    Returns
    -------
    constants, slopes and losses: arrays (n_models,)
    """
    points, _, second = levels
    total = levels.first + second
    scale = np.maximum(points.max(axis=1, initial=0.0), 1.0)  # in these units no parameter is very large
    points = points / scale[:, None]
    penalty, of_constant = RIDGE * squares / scale**2, 0.5 * _RIDGE_CONSTANTS
    constant = np.full(len(points), 0.0 if start is None else start.constants[1] - start.constants[0])
    slope = np.full(len(points), 1.0) if start is None else start.slope * scale
    for _ in range(_STEPS if start is None else _FEW_STEPS):
        shares = 1.0 / (1.0 + np.exp(-constant[:, None] - slope[:, None] * points))
        residuals = second - total * shares
        weights = total * shares * (1.0 - shares)
        weighted = weights * points
        g_constant = residuals.sum(axis=1) - of_constant * constant
        g_slope = (residuals * points).sum(axis=1) - penalty * slope
        h_constant = weights.sum(axis=1) + of_constant
        h_both = weighted.sum(axis=1)
        h_slope = (weighted * points).sum(axis=1) + penalty + 1e-6
        free = (slope > _SMALLEST_SLOPE) | (g_slope > 0)  # otherwise the slope stays at its bound
        g_slope, h_both = g_slope * free, h_both * free
        determinant = h_constant * h_slope - h_both * h_both
        d_constant = (h_slope * g_constant - h_both * g_slope) / determinant
        d_slope = (h_constant * g_slope - h_both * g_constant) / determinant
        largest = np.maximum(np.maximum(np.abs(d_constant), np.abs(d_slope)), 1e-12)
        damping = np.minimum(1.0, _LARGEST_STEP / largest)
        constant = constant + damping * d_constant
        slope = np.maximum(slope + damping * d_slope, _SMALLEST_SLOPE)
    scores = constant[:, None] + slope[:, None] * points
    loss = (total * np.logaddexp(0.0, scores) - second * scores).sum(axis=1)
    loss += 0.5 * penalty * slope**2 + 0.5 * of_constant * constant**2
    return constant, slope / scale, loss


def fit_records(
    points: Integers, codes: Integers, weights: Floats, squares: float, start: Parameters | None = None
) -> Parameters:
    """Fit constants and the slope of a model of more than two classes by Newton's method.

    Parameters
    ----------
    points : array (n_classes, n_records)
    codes : array (n_records,), the class of each record
    weights : array (n_records,), the weight of each record
    squares : the sum of the squared points of the signs
    start : parameters to start from; by default the class shares and a small slope
    """
    n_classes, records = len(points), np.arange(codes.size)
    scale = max(float(points.max(initial=0)), 1.0)
    scaled = points / scale
    penalty = RIDGE * squares / scale**2
    constants = np.zeros(n_classes) if start is None else start.constants
    slope = 1.0 if start is None else start.slope * scale
    own = np.bincount(codes, weights, minlength=n_classes)
    own_points = float((weights * scaled[codes, records]).sum())
    hessian = np.empty((n_classes + 1, n_classes + 1))
    # einsum, because products of matrices are divided among threads, which takes longer than the product itself.
    for _ in range(_STEPS if start is None else _FEW_STEPS):
        shares = probabilities(constants, slope, scaled)
        weighted = shares * weights
        expected = weighted * scaled
        mean = expected.sum(axis=0)  # weight * mean points
        g_slope = own_points - float(mean.sum()) - penalty * slope
        free = slope > _SMALLEST_SLOPE or g_slope > 0
        totals = weighted.sum(axis=1)
        gradient = np.append(own - totals - _RIDGE_CONSTANTS * constants, g_slope * free)
        hessian[:-1, :-1] = np.diag(totals + _RIDGE_CONSTANTS) - np.einsum("in,jn->ij", shares, weighted)
        hessian[:-1, -1] = hessian[-1, :-1] = (expected.sum(axis=1) - np.einsum("in,n->i", shares, mean)) * free
        spread = float((expected * scaled).sum()) - float((mean * mean / weights).sum())
        hessian[-1, -1] = spread + penalty + 1e-6
        step = np.linalg.solve(hessian, gradient)
        step *= min(1.0, _LARGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        constants = constants + step[:-1]
        slope = max(slope + float(step[-1]), _SMALLEST_SLOPE)
    shares = probabilities(constants, slope, scaled)
    loss = -float((weights * np.log(np.maximum(shares[codes, records], _SMALLEST))).sum())
    loss += 0.5 * penalty * slope**2 + 0.5 * _RIDGE_CONSTANTS * float((constants**2).sum())
    return Parameters(constants, slope / scale, loss)


def losses_of_addition(
    shares: Floats, own: Floats, weights: Floats, inside: NDArray[np.bool_], added: Floats
) -> Floats:
    """Return how much the loss changes if a class gets points for some records, without the ridge penalty.

    The constant of the class is fitted to each addition by Newton's method; everything else stays as it is.

    Parameters
    ----------
    shares : array (n_records,), the probability of the class for each record
    own : array (n_records,), the weight of the records of the class, 0 for the others
    weights : array (n_records,), the weight of each record
    inside : array (n_records,), the records that get the points
    added : array (n,), the changes of the score of the class to evaluate
    """
    odds = shares / np.maximum(1.0 - shares, _SMALLEST)
    total_own, own_inside = float(own.sum()), float(own[inside].sum())
    # The odds of the class after the points, for each addition; then after a shift of its constant.
    moved = np.where(inside, np.exp(added)[:, None], 1.0) * odds
    shift = np.zeros(added.size)
    for _ in range(2):
        now = moved * np.exp(shift)[:, None]
        now /= 1.0 + now
        gradient = total_own - (now * weights).sum(axis=1)
        curvature = (now * (1.0 - now) * weights).sum(axis=1) + _RIDGE_CONSTANTS
        shift += np.clip(gradient / curvature, -_LARGEST_STEP, _LARGEST_STEP)
    after = (np.log1p(moved * np.exp(shift)[:, None]) * weights).sum(axis=1)
    before = float((np.log1p(odds) * weights).sum())
    return np.asarray(after - before - shift * total_own - added * own_inside)
