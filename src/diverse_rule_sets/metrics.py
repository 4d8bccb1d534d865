"""Measures of a rule set, most of them on a table: overlap, diversity, coverage, size, and the paper's objective."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._input.checks import check_choice, check_number
from diverse_rule_sets._input.named_columns import split_columns
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets._input.weights import EVERY_RECORD, Weighted, count_by
from diverse_rule_sets.learn._measures import jaccard_distance, quality
from diverse_rule_sets.model._answers import CoverPlan, Covers, overlap_kinds
from diverse_rule_sets.model._batched_table import covers_of
from diverse_rule_sets.model._counts import Count, as_counts
from diverse_rule_sets.model._editing import examples_of
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.sources._as_source import as_source
from diverse_rule_sets.sources._weights import with_weights

__all__ = ["Size", "coverage", "diversity", "mean_conditions", "objective", "overlap", "overlap_share", "size"]


# Number of records whose covers are multiplied at a time.
_BLOCK = 1 << 16
# The kinds of overlap: any two rules, two rules of one label, two rules of different labels.
_KINDS = ("any", "agree", "contradict")


def overlap(rule_set: RuleSet, X: Any, *, kind: str = "any", sample_weight: Any = None) -> Count:
    r"""Return the number of records that two or more rules cover.

    Parameters
    ----------
    rule_set : the rules
    X : the records: a table, or one that is read in batches, as in ``fit``
    kind : ``"any"`` for any two rules; ``"agree"`` for records that two or more rules of one label cover;
        ``"contradict"`` for records that rules of different labels cover. A record may be of both kinds
    sample_weight : weights of the records or the name of their column, as in ``fit``; then the weight of these records
        is returned

    Examples
    --------
    >>> rules = ["IF x0 > 1 THEN yes", "IF x0 > 2 THEN yes", "IF x0 > 3 THEN no", "OTHERWISE no"]
    >>> rule_set, X = RuleSet.parse("\n".join(rules)), [[1], [2], [3], [4]]
    >>> [overlap(rule_set, X, kind=kind) for kind in ("any", "agree", "contradict")]
    [2, 2, 1]
    """
    X, weighted = _weighed(rule_set, X, sample_weight)
    return _count(_overlapping(_covers(rule_set, X), rule_set, kind), weighted)[0]


def overlap_share(rule_set: RuleSet, X: Any, *, kind: str = "any", sample_weight: Any = None) -> float:
    """Return the share of records, or of their weight, that two or more rules cover; parameters as :func:`overlap`."""
    X, weighted = _weighed(rule_set, X, sample_weight)
    part, whole = _count(_overlapping(_covers(rule_set, X), rule_set, kind), weighted)
    return part / whole


def _weighed(rule_set: RuleSet, X: Any, sample_weight: Any) -> tuple[Any, Weighted]:
    """Return the records without the column of weights, and the weights; X is not changed without weights."""
    _check(rule_set)
    if sample_weight is None:
        return X, EVERY_RECORD
    source = as_source(X)
    if source is not None:
        weighted = with_weights(source, sample_weight)
        return weighted.source, Weighted(None, weighted.weights)
    split = split_columns(as_table(X), None, sample_weight)
    return split.table, split.weighted()


def _count(flags: NDArray[np.bool_], weighted: Weighted) -> tuple[Count, Count]:
    """Return the number of records whose flag is set, or their weight, and that of all records."""
    if weighted.weights is None and weighted.records is None:
        return int(flags.sum()), flags.size
    weights, records = _weights(weighted, flags.size)
    part, whole = as_counts([weights[flags[records]].sum(), weights.sum()])
    return part, whole


def _weights(weighted: Weighted, n_records: int) -> tuple[NDArray[Any], Any]:
    """Return the positive weights of records, scaled as in a fit, and which records have them."""
    records, weights = weighted
    n_positive = n_records if records is None else records.size
    return np.ones(n_positive, np.int64) if weights is None else weights.values, slice(
        None
    ) if records is None else records


def _overlapping(covers: Covers, rule_set: RuleSet, kind: str) -> NDArray[np.bool_]:
    """Return which records two or more rules cover, by kind of overlap."""
    check_choice("kind", kind, _KINDS)
    if kind == "any":
        return covers.depth > 1
    agreement, contradiction = overlap_kinds(covers, [rule.label for rule in rule_set])
    return agreement if kind == "agree" else contradiction


def coverage(rule_set: RuleSet, X: Any, *, sample_weight: Any = None) -> float:
    """Return the share of records, or of their weight, that at least one rule covers."""
    return _shares(rule_set, X, sample_weight)[1]


def _shares(rule_set: RuleSet, X: Any, sample_weight: Any = None) -> tuple[float, float]:
    """Return :func:`overlap_share` and :func:`coverage`, from one pass over the table."""
    X, weighted = _weighed(rule_set, X, sample_weight)
    depth = _covers(rule_set, X).depth
    (several, whole), (some, _) = (_count(flags, weighted) for flags in (depth > 1, depth > 0))
    return several / whole, some / whole


def diversity(rule_set: RuleSet, X: Any, *, sample_weight: Any = None) -> float:
    """Return the mean Jaccard distance over unordered pairs of rules; 1 for a single rule or none.

    With ``sample_weight``, as in ``fit``, the distances are those of the weights of the records.
    """
    X, weighted = _weighed(rule_set, X, sample_weight)
    k = len(rule_set)
    return _dispersion(_covers(rule_set, X), weighted) / (k * (k - 1) / 2) if k > 1 else 1.0


def mean_conditions(rule_set: RuleSet) -> float:
    """Return the mean number of conditions of a rule; 0 for no rules."""
    _check(rule_set)
    return float(np.mean([len(rule.conditions) for rule in rule_set])) if len(rule_set) else 0.0


class Size(NamedTuple):
    """How much a reader of a rule set reads.

    Parameters
    ----------
    statements : number of rules and fallback rules, and 1 for the default label
    conditions : number of conditions of all rules and fallback rules; each pair of a sign of a scorecard and a label
        that it gives points to counts as one more condition, once, however many rules use the scorecard
    rules, fallbacks : number of rules and of fallback rules
    signs : number of signs of all scorecards
    """

    statements: int
    conditions: int
    rules: int
    fallbacks: int
    signs: int


def size(rule_set: RuleSet) -> Size:
    r"""Return how many statements and conditions a rule set has, those of its scorecards included: see :class:`Size`.

    Examples
    --------
    >>> lines = ["Scorecard points (for ill):", "   3 if age > 55", "   2 if sex = 'F'"]
    >>> lines += ["IF points >= 3 AND smoker = True THEN ill", "IF points >= 5 THEN ill", "OTHERWISE well"]
    >>> size(RuleSet.parse("\n".join(lines)))
    Size(statements=3, conditions=5, rules=2, fallbacks=0, signs=2)
    """
    _check(rule_set)
    cards = rule_set.scorecards
    return Size(
        statements=len(rule_set.all_rules) + 1,
        conditions=sum(len(rule.conditions) for rule in rule_set.all_rules) + sum(card.n_pairs for card in cards),
        rules=len(rule_set.rules),
        fallbacks=len(rule_set.fallbacks),
        signs=sum(len(card.signs) for card in cards),
    )


def objective(rule_set: RuleSet, X: Any, y: Any, *, lambda_: float, sample_weight: Any = None) -> float:
    """Return the paper's objective on a table: sum of qualities + lambda_ * sum of distances over pairs.

    Parameters
    ----------
    rule_set : the rules
    X, y : the records, with labels among ``rule_set.classes``; y may be the name of their column, as in ``fit``
    lambda_ : weight of the distances, such as ``clf.lambda_`` of a DRSClassifier; DiverseRuleSetClassifier measures
        quality on another scale, see ``clf.objective_``
    sample_weight : weights of the records, as in ``fit``
    """
    _check(rule_set)
    check_number("lambda_", lambda_, numbers.Real, low=0)
    examples = examples_of(rule_set, X, y, sample_weight)
    _, codes, weights = examples
    n_classes = len(rule_set.classes)
    covers = examples.covers(CoverPlan(rule_set.rules), rule_set.expected_kinds)
    own = [None if weights is None else weights.take(covered) for covered in covers]
    counts = np.array([count_by(codes[covered], n_classes, w) for covered, w in zip(covers, own, strict=True)])
    totals = count_by(codes, n_classes, weights)
    labels = np.array([rule_set.classes.index(rule.label) for rule in rule_set], np.int64)
    counts = counts.reshape(len(rule_set), n_classes)
    return float(quality(counts, labels, totals).sum() + lambda_ * _dispersion(covers, Weighted(None, weights)))


def _check(rule_set: Any) -> None:
    if not isinstance(rule_set, RuleSet):
        raise TypeError(f"rule_set must be a RuleSet, such as clf.rule_set_, got {type(rule_set).__name__}")


def _covers(rule_set: RuleSet, X: Any) -> Covers:
    """Return which rules cover which records, without the fallback rules and the columns that only they use."""
    _check(rule_set)
    return covers_of(rule_set, X, CoverPlan(rule_set.rules))


def _dispersion(covers: Covers, weighted: Weighted) -> float:
    """Return the sum of Jaccard distances over unordered pairs of rules."""
    rows = covers.rows
    shared = _shared_weights(covers, weighted) if weighted.weights is not None or weighted.records is not None else None
    sizes: Any = bitset.popcount(rows) if shared is None else shared.diagonal()
    total = 0.0
    for j in range(1, len(rows)):
        both: Any = bitset.popcount(rows[:j] & rows[j]) if shared is None else shared[:j, j]
        total += float(jaccard_distance(both, sizes[:j], sizes[j]).sum())
    return total


def _shared_weights(covers: Covers, weighted: Weighted) -> NDArray[np.float64]:
    """Return the weight of the records that each two rules share: exact sums, an array (n_rules, n_rules)."""
    flags = covers.flags()
    weights, records = _weights(weighted, len(flags))
    flags = flags[records]
    shared = np.zeros((flags.shape[1], flags.shape[1]))
    for begin in range(0, len(flags), _BLOCK):
        part = flags[begin : begin + _BLOCK].astype(np.float64)
        shared += part.T @ (part * weights[begin : begin + _BLOCK, None])
    return shared
