"""CBA: classification based on associations (Liu, Hsu and Ma, KDD 1998)."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets._input.checks import Check, Number
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.estimators._baseline import BASELINE_CHECKS, BodyAndLabel, MiningBaseline, Report, Support
from diverse_rule_sets.estimators._mining import FrequentBodies
from diverse_rule_sets.estimators._translation import Items


class CBAClassifier(MiningBaseline):
    """CBA: class association rules sorted by confidence, and selected by the records that they cover.

    All rules with enough support and confidence are sorted. In that order, a rule is kept if it is correct for at least
    one record that no earlier kept rule covers. The list ends where the rules and the default label together make the
    fewest errors. If several rules cover a record, the first one decides.

    Parameters
    ----------
    min_support : float, int or "auto", default="auto"
        Minimum number of records that a rule covers and whose label it has: a share of all records (a float), or a
        number (an int). ``"auto"`` is a hundredth, or more if there would be more than ``max_candidates`` bodies; if
        there are too many even with a quarter, rules have fewer conditions.
    min_confidence : float, default=0.5
        Minimum share of the covered records that have the label of the rule.
    max_rules : int or None, default=None
        Maximum number of rules; the first ones are kept.
    max_conditions : int or None, default=4
        Maximum number of conditions of a rule.
    conditions : {"bins", "thresholds"}, default="bins"
        The possible conditions: bins between edges and single categories; or both sides of every edge and sets of
        categories, which gives many more candidates.
    binning : {"supervised", "uniform", "quantile"} or dict, default="supervised"
        Cut points of numbers and dates; a dict gives one of these words or a list of edges for each column. Text that
        looks like an identifier is left out, with a warning, unless the column is named here.
    n_bins : int, default=5
        Maximum number of bins of a column.
    missing_values : value, list of values, dict of column names, or None, default=None
        Codes that mean that a value is missing; see :class:`DiverseRuleSetClassifier`.
    max_candidates : int, default=2_000_000
        Maximum number of frequent bodies, at most 10,000,000. If more reach a given ``min_support``, fit raises
        ValueError.
    n_jobs : int or None, default=None
        Number of threads for counting; None means 1 and -1 all.
    verbose : int, default=0
        1 shows the progress of a fit.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in order; ``conflict`` is ``"first"``.
    min_support_ : int
        The minimum support that was used, as a number of records.
    n_candidates_ : int
        Number of frequent bodies.
    n_association_rules_ : int
        Number of class association rules.
    classes_ : array of labels, sorted
    n_features_in_ : int
    feature_names_in_ : array of column names, only if X has them

    Notes
    -----
    *As in the paper:* support is the share of all records that the body covers and that have the label; the order of
    rules (by confidence, then support, then generated earlier); algorithm M1 of CBA-CB, which ends the list at the
    lowest number of errors. Algorithm M2 gives the same list with fewer passes over data on disk; here M1 takes a small
    part of the time of mining.

    *Not specified in the paper:* "generated earlier" means fewer conditions (an interval with two ends counts twice),
    then the order of columns and values, then the larger class. The default label is the likeliest class among the
    records that no kept rule covers, in ties the larger class. ``max_rules`` shortens the final list. The optional
    pruning of rules by pessimistic error is not implemented.

    *Faster, with the same result:* a rule is never kept if a shorter rule with some of its conditions has the same
    label and at least its confidence: the shorter rule comes earlier and covers all its records. So bodies that cover
    the same records as a shorter one, or records of one class only, are not extended.

    *Sample weights* are numbers of records: supports, confidences, the records that a rule is correct for, and
    errors count by weight, as if each record was repeated.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets.baselines import CBAClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(CBAClassifier(max_rules=2).fit(X, y).rule_set_[0])
    IF petal length (cm) <= 2 THEN 0
    """

    _conflict: ClassVar[str] = "first"
    _lowest: ClassVar[float] = 0.01
    _parameter_checks: ClassVar[Mapping[str, Check]] = {
        **BASELINE_CHECKS,
        "min_support": Support(),
        "min_confidence": Number(numbers.Real, low=0, high=1),
        "max_candidates": Number(numbers.Integral, low=1, high=10_000_000),
    }
    _paper: ClassVar[dict[str, Any]] = {
        "min_support": 0.1,
        "min_confidence": 0.3,
        "max_rules": 100,
        "max_conditions": None,
        "binning": "uniform",
        "n_bins": 5,
    }

    def __init__(
        self,
        *,
        min_support: float | str = "auto",
        min_confidence: float = 0.5,
        max_rules: int | None = None,
        max_conditions: int | None = 4,
        conditions: str = "bins",
        binning: Any = "supervised",
        n_bins: int = 5,
        missing_values: Any = None,
        max_candidates: int = 2_000_000,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.conditions = conditions
        self.binning = binning
        self.n_bins = n_bins
        self.missing_values = missing_values
        self.max_candidates = max_candidates
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _is_frequent(self, class_counts: Integers, support: int) -> Flags:
        return np.asarray((class_counts >= support).any(axis=1))

    def _is_final(self, class_counts: Integers) -> Flags:
        """Return which bodies cover records of one class only."""
        return np.asarray((class_counts > 0).sum(axis=1) <= 1)

    def _find(self, items: Items, report: Report) -> tuple[list[BodyAndLabel], dict[str, Any]]:
        backend = items.backend
        mined, support = self._mine(items, report)
        bodies, labels = association_rules(mined, backend.class_totals, support, float(self.min_confidence))
        report("choosing", f"among {labels.size:,} rules")
        chosen = select_rules(backend, mined.bodies.take(bodies), labels)
        most = 0 if backend.n_classes < 2 else self.max_rules
        found = [
            (mined.bodies.body(int(bodies[j])), int(labels[j])) for j in chosen[: None if most is None else int(most)]
        ]
        fitted = {
            "min_support_": support,
            "n_candidates_": mined.bodies.size,
            "n_association_rules_": int(labels.size),
        }
        return found, fitted


def association_rules(
    mined: FrequentBodies, totals: Integers, support: int, min_confidence: float
) -> tuple[Integers, Integers]:
    """Return the body number and the label of each class association rule, in CBA's order.

    Rules are left out if the rule of a parent body with the same label has at least the same confidence.
    """
    counts = mined.class_counts
    confidence = counts / counts.sum(axis=1, keepdims=True)
    accepted = (counts >= support) & (confidence >= min_confidence)
    longer = np.flatnonzero(mined.parents[:, 0] >= 0)
    for parent in mined.parents[longer].T:
        accepted[longer] &= confidence[longer] > confidence[parent]
    bodies, labels = np.nonzero(accepted)
    rank = np.empty(totals.size, np.int64)
    rank[np.argsort(-totals, kind="stable")] = np.arange(totals.size)
    order = np.lexsort((rank[labels], bodies, -counts[bodies, labels], -confidence[bodies, labels]))
    return bodies[order], labels[order]


def select_rules(backend: Backend, bodies: Lists, labels: Integers) -> Integers:
    """Return the positions of the rules that CBA-CB keeps (algorithm M1), up to the fewest errors."""
    chosen = np.flatnonzero(backend.claims(bodies, labels))
    left, errors = backend.everything, []
    wrong: Any = 0
    for j in chosen.tolist():
        cover = backend.cover(bodies.body(j))
        decided = backend.class_counts(backend.intersection(cover, left))
        left = backend.difference(left, cover)
        wrong += decided.sum() - decided[labels[j]]
        uncovered = backend.class_counts(left)
        errors.append(wrong + uncovered.sum() - uncovered.max())
    return chosen[: int(np.argmin(errors)) + 1] if errors else chosen
