"""Compiled loops for the model of sums of points: sums over records in floating point, by one thread in a fixed order.

No kernel divides its work among threads, and none allows the compiler to change the order of additions. So the results
do not depend on the number of threads. What the numbers mean is said in :mod:`diverse_rule_sets.learn._points_model`.

``bounds`` are, in all kernels, the weight of the penalty on squared coefficients, that of the penalty on squared
constants, the largest change of a parameter in one step, and the smallest slope.
"""

from __future__ import annotations

import math

import numpy as np

from diverse_rule_sets._bits.kernels import kernel, sums_by_group

_LARGEST_EXPONENT = 700.0  # of e, so that a power is a finite number
_SMALLEST = 1e-300  # replaces 0 in denominators


@kernel
def sum_points(items, pair_items, pair_labels, pair_points, out):  # type: ignore[no-untyped-def]
    """Add the points of each pair of an item and a class to the sums of the records that have the item."""
    for j in range(pair_items.shape[0]):
        row, sums, points = items[pair_items[j]], out[pair_labels[j]], pair_points[j]
        for i in range(row.shape[0]):
            sums[i] += points * row[i]


@kernel
def powers(constants, slope, n_points, out):  # type: ignore[no-untyped-def]
    """Compute ``exp(a_k + b * s)`` for each class k and each number of points s, divided by the largest of them."""
    largest = constants[0]
    for k in range(constants.shape[0]):
        largest = max(largest, constants[k])
    largest += slope * (n_points - 1)
    for k in range(constants.shape[0]):
        for s in range(n_points):
            out[k, s] = math.exp(max(constants[k] + slope * s - largest, -_LARGEST_EXPONENT))


@kernel
def class_shares(points, constants, slope, table, out):  # type: ignore[no-untyped-def]
    """Compute the probability of each class for each record: arrays (n_classes, n_records).

    ``table`` is a buffer with a column for each number of points.
    """
    n_classes, n_records = points.shape
    powers(constants, slope, table.shape[1], table)
    for i in range(n_records):
        total = 0.0
        for k in range(n_classes):
            out[k, i] = table[k, points[k, i]]
            total += out[k, i]
        total = max(total, _SMALLEST)
        for k in range(n_classes):
            out[k, i] /= total


@kernel
def fit_counts(counts, scale, squares, constant, slope, n_steps, bounds):  # type: ignore[no-untyped-def]
    """Fit a model of two classes to weighted class counts by points, and return its parameters and its loss."""
    ridge, of_constant, largest_step, smallest_slope = bounds
    penalty, of_constant, slope = ridge * squares / scale**2, 0.5 * of_constant, slope * scale
    for step in range(n_steps + 1):
        loss, g_constant, g_slope = 0.0, -of_constant * constant, -penalty * slope
        h_constant, h_both, h_slope = of_constant, 0.0, penalty + 1e-6
        for s in range(counts.shape[1]):
            total = counts[0, s] + counts[1, s]
            if total == 0.0:
                continue
            x = s / scale
            score = constant + slope * x
            power = math.exp(-abs(score))
            if step == n_steps:
                loss += total * (max(score, 0.0) + math.log1p(power)) - counts[1, s] * score
                continue
            share = (1.0 if score >= 0 else power) / (1.0 + power)
            residual, weight = counts[1, s] - total * share, total * share * (1.0 - share)
            g_constant += residual
            g_slope += residual * x
            h_constant += weight
            h_both += weight * x
            h_slope += weight * x * x
        if step == n_steps:
            break
        if slope <= smallest_slope and g_slope <= 0:  # the slope stays at its bound
            g_slope, h_both = 0.0, 0.0
        determinant = h_constant * h_slope - h_both * h_both
        d_constant = (h_slope * g_constant - h_both * g_slope) / determinant
        d_slope = (h_constant * g_slope - h_both * g_constant) / determinant
        damping = min(1.0, largest_step / max(abs(d_constant), abs(d_slope), 1e-12))
        constant += damping * d_constant
        slope = max(slope + damping * d_slope, smallest_slope)
    loss += 0.5 * penalty * slope**2 + 0.5 * of_constant * constant**2
    return constant, slope / scale, loss


@kernel
def count_by_points(points, codes, counted, inside, out):  # type: ignore[no-untyped-def]
    """Add what each record with a flag counts to the counts of its class and its points, for two classes."""
    for i in range(points.shape[0]):
        if inside[i]:
            out[codes[i], points[i]] += counted[i]


@kernel
def fit_additions(  # type: ignore[no-untyped-def]
    points,
    codes,
    counted,
    everything,
    weights,
    items,
    pair_items,
    pair_points,
    squares,
    constant,
    slope,
    n_steps,
    bounds,
    own,
    moved,
    out,
):
    """Fit a model of two classes for each pair of an item and points that is added to the points of all records.

    ``everything`` are the counts of all records by points. ``out`` gets the constant, the slope and the loss of each
    model. Pairs of one item follow each other. ``own`` and ``moved`` are buffers.
    """
    n_levels = everything.shape[1]
    for j in range(pair_items.shape[0]):
        if j == 0 or pair_items[j] != pair_items[j - 1]:
            own[:] = 0.0
            count_by_points(points, codes, counted, items[pair_items[j]], own)
        added = pair_points[j]
        moved[:] = 0.0
        for c in range(2):
            for s in range(n_levels):
                moved[c, s] += (everything[c, s] - own[c, s]) * weights[c]
                moved[c, s + added] += own[c, s] * weights[c]
        scale = max(n_levels - 1.0 + added, 1.0)
        found = fit_counts(moved, scale, squares + added**2, constant, slope, n_steps, bounds)
        out[j, 0], out[j, 1], out[j, 2] = found


@kernel
def residuals_of_records(shares, codes, weights, labels, out):  # type: ignore[no-untyped-def]
    """Compute the weighted residual of each record for each of some classes, and, after these, the variances."""
    n_labels = labels.shape[0]
    for k in range(n_labels):
        own, residuals, variances = shares[labels[k]], out[k], out[n_labels + k]
        for i in range(codes.shape[0]):
            residuals[i] = (1.0 - own[i] if codes[i] == labels[k] else -own[i]) * weights[i]
            variances[i] = own[i] * (1.0 - own[i]) * weights[i]


@kernel
def sums_of_items(values, unit, part_of, items, starts, parts, units, by_part, out):  # type: ignore[no-untyped-def]
    """Round values (n, n_records) to multiples of 1 / unit, and add them up for each item and, last, for all records.

    ``part_of`` has the part of each record in each column, ``parts`` the parts in which each of the items holds.
    ``units`` and ``by_part`` are buffers; the second is 0.
    """
    for k in range(values.shape[0]):
        for i in range(values.shape[1]):
            units[i, k] = np.int64(np.rint(values[k, i] * unit))
            out[-1, k] += units[i, k]
    sums_by_group(part_of, units, by_part)
    for j in range(items.shape[0]):
        for p in range(starts[j], starts[j + 1]):
            for k in range(values.shape[0]):
                out[items[j], k] += by_part[parts[p], k]


@kernel
def gains_of_additions(sums, labels, available, unit, ridge, gains, coefficients):  # type: ignore[no-untyped-def]
    """Compute how much a Newton step for each available pair of an item and a class lowers the loss; its coefficient.

    ``sums`` are those of residuals and variances for the items and, last, for all records, in units.
    """
    n_labels = labels.shape[0]
    for item in range(available.shape[0]):
        for k in range(n_labels):
            gradient = sums[item, k] / unit
            if available[item, labels[k]] and gradient > 0:
                information, total = sums[item, n_labels + k] / unit, sums[-1, n_labels + k] / unit
                information = max(information - information**2 / max(total, 1e-9), 1e-3) + ridge
                coefficients[item, labels[k]] = gradient / information
                gains[item, labels[k]] = gradient * gradient / information / 2


@kernel
def solve(matrix, vector):  # type: ignore[no-untyped-def]
    """Replace a vector by the solution of ``matrix @ x = vector``; the matrix is positive definite.

    Only its lower half is read. It is replaced by its factors: a triangle with ones on the diagonal, and a diagonal.
    """
    n = vector.shape[0]
    for j in range(n):
        for k in range(j):
            matrix[j, j] -= matrix[j, k] * matrix[j, k] * matrix[k, k]
        for i in range(j + 1, n):
            for k in range(j):
                matrix[i, j] -= matrix[i, k] * matrix[j, k] * matrix[k, k]
            matrix[i, j] /= matrix[j, j]
    for i in range(n):
        for k in range(i):
            vector[i] -= matrix[i, k] * vector[k]
    for i in range(n):
        vector[i] /= matrix[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            vector[i] -= matrix[k, i] * vector[k]


@kernel
def fit_records(  # type: ignore[no-untyped-def]
    by_record, codes, weights, squares, constants, slope, n_steps, bounds, table, shares, gradient, hessian
):
    """Fit a model of several classes by Newton's method; changes the constants, and returns the slope and the loss.

    The points are an array (n_records, n_classes). The last four arguments are buffers; ``table`` has a column for each
    number of points.
    """
    ridge, of_constants, largest_step, smallest_slope = bounds
    n_records, n_classes = by_record.shape
    scale = max(table.shape[1] - 1.0, 1.0)
    penalty, slope = ridge * squares / scale**2, slope * scale
    share, weighted = shares[0], shares[1]
    for step in range(n_steps + 1):
        powers(constants, slope / scale, table.shape[1], table)
        loss = 0.0
        gradient[:] = 0.0
        hessian[:] = 0.0
        for i in range(n_records):
            own, code, weight, total, mean, spread = by_record[i], codes[i], weights[i], 0.0, 0.0, 0.0
            for k in range(n_classes):
                share[k] = table[k, own[k]]
                total += share[k]
            total = max(total, _SMALLEST)
            if step == n_steps:
                loss -= weight * math.log(max(share[code] / total, _SMALLEST))
                continue
            for k in range(n_classes):
                share[k] /= total
                weighted[k] = share[k] * weight
                x = own[k] / scale
                mean += weighted[k] * x
                spread += weighted[k] * x * x
                gradient[k] -= weighted[k]
                hessian[k, k] += weighted[k]
            gradient[code] += weight
            gradient[n_classes] += weight * own[code] / scale - mean
            hessian[n_classes, n_classes] += spread - mean * mean / weight
            for k in range(n_classes):
                hessian[n_classes, k] += share[k] * (weight * own[k] / scale - mean)
                for m in range(k + 1):
                    hessian[k, m] -= share[k] * weighted[m]
        if step == n_steps:
            break
        for k in range(n_classes):
            gradient[k] -= of_constants * constants[k]
            hessian[k, k] += of_constants
        gradient[n_classes] -= penalty * slope
        hessian[n_classes, n_classes] += penalty + 1e-6
        if slope <= smallest_slope and gradient[n_classes] <= 0:  # the slope stays at its bound
            gradient[n_classes] = 0.0
            hessian[n_classes, :n_classes] = 0.0
        solve(hessian, gradient)
        largest = 1e-12
        for k in range(n_classes + 1):
            largest = max(largest, abs(gradient[k]))
        damping = min(1.0, largest_step / largest)
        for k in range(n_classes):
            constants[k] += damping * gradient[k]
        slope = max(slope + damping * gradient[n_classes], smallest_slope)
    loss += 0.5 * penalty * slope**2
    for k in range(n_classes):
        loss += 0.5 * of_constants * constants[k] ** 2
    return slope / scale, loss


@kernel
def losses_of_additions(  # type: ignore[no-untyped-def]
    shares, codes, weights, items, pair_items, pair_labels, pair_points, slope, bounds, odds, moved, out
):
    """Compute how much the loss changes with each pair of an item and a class; the constant of the class is fitted.

    Everything else of the model stays as it is. Pairs of one item and one class follow each other. ``odds`` and
    ``moved`` are buffers.
    """
    ridge, of_constants, largest_step, _ = bounds
    n_records = codes.shape[0]
    before, total_own, own_inside = 0.0, 0.0, 0.0
    for j in range(pair_items.shape[0]):
        inside, label, added = items[pair_items[j]], pair_labels[j], slope * pair_points[j]
        if j == 0 or pair_items[j] != pair_items[j - 1] or label != pair_labels[j - 1]:
            before, total_own, own_inside = 0.0, 0.0, 0.0
            for i in range(n_records):
                odds[i] = shares[label, i] / max(1.0 - shares[label, i], _SMALLEST)
                before += weights[i] * math.log(1.0 + odds[i])
                if codes[i] == label:
                    total_own += weights[i]
                    own_inside += weights[i] * inside[i]
        factor = math.exp(added)
        for i in range(n_records):
            moved[i] = odds[i] * factor if inside[i] else odds[i]
        shift = 0.0
        for _ in range(2):
            power, gradient, curvature = math.exp(shift), total_own, of_constants
            for i in range(n_records):
                now = moved[i] * power
                now /= 1.0 + now
                gradient -= now * weights[i]
                curvature += now * (1.0 - now) * weights[i]
            shift += min(max(gradient / curvature, -largest_step), largest_step)
        power, after = math.exp(shift), 0.0
        for i in range(n_records):
            after += weights[i] * math.log(1.0 + moved[i] * power)
        out[j] = after - before - shift * total_own - added * own_inside + 0.5 * ridge * added**2
