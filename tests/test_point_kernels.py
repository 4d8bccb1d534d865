"""The compiled loops for models of sums of points: against numpy, and the same without the compiler."""

import math

import numpy as np
import pytest

from diverse_rule_sets._bits import point_kernels as kernels
from diverse_rule_sets.learn._points_model import BOUNDS


@pytest.mark.parametrize("seed", range(5))
def test_linear_equations(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    root = rng.normal(size=(n, n))
    matrix, expected = root @ root.T + np.eye(n), rng.normal(size=n)
    vector = matrix @ expected
    lower = np.where(np.tri(n) > 0, matrix, np.nan)  # the upper half is not read
    kernels.solve(lower, vector)
    np.testing.assert_allclose(vector, expected, rtol=1e-9, atol=1e-9)


def loss_of_two(counts, scale, squares, constant, slope):
    """Return the loss of a model of two classes, with both penalties."""
    ridge, of_constants, _, _ = BOUNDS
    loss = 0.5 * ridge * squares * slope**2 + 0.25 * of_constants * constant**2
    for s, (first, second) in enumerate(counts.T.tolist()):
        score = constant + slope * s
        loss += first * math.log1p(math.exp(score)) + second * math.log1p(math.exp(-score))
    return loss


@pytest.mark.parametrize("seed", range(5))
def test_a_model_of_two_classes_has_the_least_loss(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    counts = rng.integers(0, 30, (2, n)) + np.array([np.arange(n)[::-1], np.arange(n)])
    arguments = counts.astype(np.float64), float(n - 1), 14.0, 0.0, 1.0 / (n - 1), 30, BOUNDS
    constant, slope, loss = kernels.fit_counts(*arguments)
    plain = getattr(kernels.fit_counts, "py_func", kernels.fit_counts)
    np.testing.assert_allclose(plain(*arguments), (constant, slope, loss), rtol=1e-9)
    assert loss == pytest.approx(loss_of_two(counts, n - 1, 14.0, constant, slope), rel=1e-9)
    at_bound = slope <= BOUNDS[3] / (n - 1) * (1 + 1e-9)
    for d_constant, d_slope in ((0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), *(() if at_bound else ((0.0, -0.01),))):
        assert loss_of_two(counts, n - 1, 14.0, constant + d_constant, slope + d_slope) > loss


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_are_those_of_the_points(seed):
    rng = np.random.default_rng(seed)
    points, constants = rng.integers(0, 30, (4, 50)), rng.normal(size=4)
    found = np.empty(points.shape)
    kernels.class_shares(points, constants, 0.7, np.empty((4, points.max() + 1)), found)
    powers = np.exp(constants[:, None] + 0.7 * points)
    np.testing.assert_allclose(found, powers / powers.sum(axis=0), rtol=1e-9)
