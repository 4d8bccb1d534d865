"""Compiled loops for the quality, the score and the evidence of rules: functions of class counts in floating point.

Each result follows from the counts of one rule, class by class, so that the order of rules and the number of threads do
not matter. The formulas are those of :mod:`diverse_rule_sets.learn._measures`. Class counts are arrays whose first axis
are the classes.
"""

from __future__ import annotations

import math

from diverse_rule_sets._bits.kernels import kernel

_SMALLEST = 1e-300  # replaces 0 in logarithms and denominators


@kernel
def largest_share(counts, j, added, weights):  # type: ignore[no-untyped-def]
    """Return the first class with the largest smoothed weight among the records of rule j."""
    best, most = 0, -1.0
    for k in range(counts.shape[0]):
        weighted = (counts[k, j] + added[k]) * weights[k]
        if weighted > most:
            best, most = k, weighted
    return best


@kernel
def quality(counts, j, label, searched, added, weights, prior, n_records):  # type: ignore[no-untyped-def]
    """Return the quality of rule j for a label, without the price of its conditions; only searched classes count."""
    total, lift = 0.0, 0.0
    for k in range(counts.shape[0]):
        weighted = (counts[k, j] * searched[k] + added[k]) * weights[k]
        total += weighted
        lift += weighted * math.log(max(weighted / max(prior[k], _SMALLEST), _SMALLEST))
    total = max(total, _SMALLEST)
    divergence = max(lift / total - math.log(total), 0.0)
    return counts[label, j] * searched[label] * weights[label] / n_records * divergence


@kernel
def qualities(counts, labels, find_labels, searched, added, weights, prior, n_records, out):  # type: ignore[no-untyped-def]
    """Compute the quality of rules for given labels, or for the labels with the largest share, which are stored."""
    for j in range(labels.shape[0]):
        if find_labels:
            labels[j] = largest_share(counts, j, added, weights)
        out[j] = quality(counts, j, labels[j], searched, added, weights, prior, n_records)


@kernel
def scores(  # type: ignore[no-untyped-def]
    counts, lengths, limits, shares, terms, price, class_totals, labels, values, out
):
    """Compute labels, qualities and scores of bodies within the limits; the last row of counts are covered records.

    ``limits`` are the smallest number of records, the largest overlap, the largest number of conditions, and the share
    of its class that a rule must cover more than. ``shares`` are the smoothing and weights that labels follow from,
    ``terms`` those of the quality.
    """
    n_classes = counts.shape[0] - 1
    min_support, max_overlap, max_conditions, min_recall = limits
    added, weights = shares
    searched, added_without_rare, weights_without_rare, prior, n_records = terms
    for j in range(lengths.shape[0]):
        size = 0
        for k in range(n_classes):
            size += counts[k, j]
        covered = counts[n_classes, j]
        if size < min_support or covered > max_overlap * size or lengths[j] > max_conditions:
            continue
        label = largest_share(counts[:n_classes], j, added, weights)
        own = counts[:n_classes]
        value = quality(own, j, label, searched, added_without_rare, weights_without_rare, prior, n_records)
        value *= max(1.0 - price * lengths[j], 0.0)
        labels[j], values[j] = label, value
        recall = counts[label, j] / max(class_totals[label], 1)
        out[j] = value * (1.0 - covered / max(size, 1)) if recall > min_recall else -1.0


@kernel
def likelihood(counts, total, weights, prior, k, j):  # type: ignore[no-untyped-def]
    """Return how much the class share of rule j raises the log-likelihood of its records of class k."""
    count = counts[k, j] * weights[k]
    return counts[k, j] * math.log(count / total / prior[k]) if count > 0 else 0.0


@kernel
def log_likelihoods(counts, ones, prior, out):  # type: ignore[no-untyped-def]
    """Compute how much the class shares of rules raise the log-likelihood of their records; all weights are 1."""
    for j in range(out.shape[0]):
        total = 0.0
        for k in range(counts.shape[0]):
            total += counts[k, j]
        for k in range(counts.shape[0]):
            out[j] += likelihood(counts, total, ones, prior, k, j)


@kernel
def evidence(counts, ones, weights, prior, weighted_prior, information, out):  # type: ignore[no-untyped-def]
    """Compute the evidence of rules: the gain in log-likelihood by records or by weight, whichever is larger."""
    for j in range(out.shape[0]):
        total, weight, by_records, by_weight = 0.0, 0.0, 0.0, 0.0
        for k in range(counts.shape[0]):
            total += counts[k, j]
            weight += counts[k, j] * weights[k]
        for k in range(counts.shape[0]):
            by_records += likelihood(counts, total, ones, prior, k, j)
            by_weight += min(weights[k], 1.0) * likelihood(counts, weight, weights, weighted_prior, k, j)
        out[j] = max(by_records, information * by_weight)


@kernel
def weighted_gains(counts, of_rules, added, weights, weighted_prior, out):  # type: ignore[no-untyped-def]
    """Compute how much the smoothed, weighted class shares of rules raise the log-likelihood of weighted records."""
    for j in range(out.shape[0]):
        total, gain = 0.0, 0.0
        for k in range(counts.shape[0]):
            total += (of_rules[k, j] + added[k]) * weights[k]
        for k in range(counts.shape[0]):
            if counts[k, j] > 0 and weights[k] > 0:
                share = (of_rules[k, j] + added[k]) * weights[k] / total
                gain += counts[k, j] * weights[k] * math.log(share / weighted_prior[k])
        out[j] = gain


@kernel
def split_gain(part, j, whole, i, searched, prior):  # type: ignore[no-untyped-def]
    """Return how much the log-likelihood of the records of body i rises if it is divided by rule j."""
    gain, n_part, n_whole = 0.0, 0, 0
    for k in range(whole.shape[0]):
        n_part += part[k, j] * searched[k]
        n_whole += whole[k, i] * searched[k]
    for k in range(whole.shape[0]):
        inside, every = part[k, j] * searched[k], whole[k, i] * searched[k]
        outside = every - inside
        if inside > 0:
            gain += inside * math.log(inside / n_part / prior[k])
        if outside > 0:
            gain += outside * math.log(outside / (n_whole - n_part) / prior[k])
        if every > 0:
            gain -= every * math.log(every / n_whole / prior[k])
    return gain


@kernel
def refuse_weak_splits(  # type: ignore[no-untyped-def]
    counts, alone, which, has_cuts, n_plain, used, columns, is_cut, searched, prior, per_condition, per_size, out
):
    """Set the scores of bodies to -1 if their plain conditions divide the records of the others too little.

    ``which`` is the column of ``alone`` that has the counts of the conditions on points of each body.
    """
    n_classes, n_bodies, n_items = alone.shape[0], out.shape[0], is_cut.shape[0]
    for b in range(n_bodies):
        for i in range(n_items):
            plain = n_plain[b]
            if i < n_items - 1 and not is_cut[i] and not used[b, columns[i]]:
                plain += 1
            if out[b, i] <= 0 or plain == 0 or not (has_cuts[b] or is_cut[i]):
                continue
            whole = alone[:, which[b]]
            at = i if is_cut[i] else n_items - 1  # an added plain item is not part of the conditions on points
            size = 0
            for k in range(n_classes):
                size += whole[k, at]
            needed = plain * per_condition + per_size * math.log(max(size, 2))
            if split_gain(counts[:, b], i, whole, at, searched, prior) < needed:
                out[b, i] = -1.0
