"""The model of sums of points: a logistic regression with one slope, for two classes and for more.

The probability of class k is proportional to ``exp(a_k + b * s_k)``, where s_k are the points of a record for class k,
b is the slope and a_k are constants. With two classes only the second one gets points. The loss of a model is

    sum over records of weight * -log(probability of its class)  +  ridge / 2 * b**2 * (sum of squared points).

The ridge penalty keeps a few lucky records from giving a sign many points, and makes the loss of a longer scorecard
comparable with that of a shorter one.

With two classes, records with the same points have the same probabilities. Such a *level* is described by its weighted
class counts, so that a model is fitted at little cost. The sums over levels and records are compiled
(:mod:`diverse_rule_sets._bits.point_kernels`).
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import NamedTuple

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
# These numbers as the compiled loops need them.
BOUNDS = (RIDGE, _RIDGE_CONSTANTS, _LARGEST_STEP, _SMALLEST_SLOPE)


class Parameters(NamedTuple):
    """The constants and the slope of a model, and its loss."""

    constants: Floats
    slope: float
    loss: float


@cache
def kernels() -> ModuleType:
    """Import the compiled loops on first use."""
    from diverse_rule_sets._bits import point_kernels

    return point_kernels


def probabilities(constants: Floats, slope: float, points: Integers) -> Floats:
    """Return the probabilities of the classes, the first axis, which is also that of the points."""
    out = np.empty(points.shape)
    if points.shape[1]:
        kernels().class_shares(points, constants, slope, np.empty((len(points), int(points.max()) + 1)), out)
    return out


def fit_levels(counts: Floats, squares: float, start: Parameters | None = None) -> Parameters:
    """Fit a model of two classes by Newton's method.

    Parameters
    ----------
    counts : array (2, n_levels), the weighted number of records of each class with 0, 1, 2, ... points
    squares : the sum of the squared points of the signs
    start : parameters to start from; by default the class shares and a small slope
    """
    scale = float(max(counts.shape[1] - 1, 1))  # in these units no parameter is very large
    return of_two(*kernels().fit_counts(counts, scale, squares, *start_of_two(start, scale), BOUNDS))


def start_of_two(start: Parameters | None, scale: float) -> tuple[float, float, int]:
    """Return the difference of the two constants and the slope to start from, and the number of steps."""
    if start is None:
        return 0.0, 1.0 / scale, _STEPS
    return float(start.constants[1] - start.constants[0]), start.slope, _FEW_STEPS


def of_two(constant: float, slope: float, loss: float) -> Parameters:
    """Return parameters by the difference of the two constants."""
    half = float(constant) / 2
    return Parameters(np.array([-half, half]), float(slope), float(loss))


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
    constants = np.zeros(len(points)) if start is None else start.constants.copy()
    n, most = len(points), int(points.max(initial=0))
    slope, n_steps = (1.0 / max(most, 1), _STEPS) if start is None else (start.slope, _FEW_STEPS)
    records = np.ascontiguousarray(points.T), codes, weights
    buffers = np.empty((n, most + 1)), np.empty((2, n)), np.empty(n + 1), np.empty((n + 1, n + 1))
    slope, loss = kernels().fit_records(*records, float(squares), constants, slope, n_steps, BOUNDS, *buffers)
    return Parameters(constants, float(slope), float(loss))
