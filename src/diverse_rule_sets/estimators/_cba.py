"""CBA: classification based on associations (Liu, Hsu and Ma, KDD 1998)."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets._input.checks import Check, Number
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.estimators._baseline import BASELINE_CHECKS, BodyAndLabel, MiningBaseline, Say, Support
from diverse_rule_sets.estimators._mining import Mined
from diverse_rule_sets.estimators._translation import Items


class CBAClassifier(MiningBaseline):
    """CBA: class association rules in order of confidence, pruned by what they cover.

    All rules of enough support and confidence are put in a total order. In that order a rule is kept if it answers at
    least one record rightly that no earlier rule covers, and what it covers is taken away. The list is cut where rules
    and default label together make the fewest errors. The first rule that covers a record speaks.

    Parameters
    ----------
    min_support : float, int or "auto", default="auto"
        The fewest records that a rule covers and answers rightly: a share of all (a float), or a number (an int).
        ``"auto"`` is a hundredth, or more if that takes more than ``max_candidates`` bodies; where even a quarter does,
        conditions are fewer.
    min_confidence : float, default=0.5
        The smallest share of the records under a rule that it answers rightly.
    max_rules : int or None, default=None
        Keep only so many of the first rules.
    max_conditions : int or None, default=4
        The most conditions of a rule.
    conditions : {"bins", "thresholds"}, default="bins"
        What is offered: bins between edges and single categories; or both sides of every edge and sets of categories,
        which makes many more candidates.
    binning : {"supervised", "uniform", "quantile"} or dict, default="supervised"
        Where columns are cut; a dict gives one of these words or a list of edges for each column.
    n_bins : int, default=5
        The most bins of a column.
    max_candidates : int, default=2_000_000
        The most frequent bodies. If more reach a ``min_support`` that was given, an error says what to raise.
    n_jobs : int or None, default=None
        Threads that share the counting; None means 1 and -1 all.
    verbose : int, default=0
        1 shows how far a fit is.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in order; ``conflict`` is ``"first"``.
    min_support_ : int
        The fewest records that were asked for.
    n_candidates_ : int
        How many frequent bodies were looked at.
    n_association_rules_ : int
        How many class association rules were put in order.
    classes_ : array of labels, sorted
    n_features_in_ : int
    feature_names_in_ : array of column names, only where X had them

    Notes
    -----
    *From the paper:* support counts the records that the body covers and the label fits, over all records; the total
    order (confidence, then support, then generated earlier); algorithm M1 of CBA-CB with its cut at the lowest total of
    errors. M2 gives the same list with fewer passes over data on disk; on bits in memory M1 takes a
    fraction of the time of mining, so there is nothing to gain.

    *Left open, and settled:* "generated earlier" means fewer conditions (an interval with two ends counting twice),
    then the order of columns and values, then the larger class. The default label is the likeliest among the records
    left by the rules kept, in ties the larger class. ``max_rules`` cuts the finished list. The optional pruning of
    rules by pessimistic error is not done.

    *Faster, with the same result:* a rule that has a shorter rule in it, of the same label and at least its
    confidence, can never be kept: the shorter one comes earlier, and takes or leaves all that it could answer
    rightly. So bodies that cover the same records as a shorter one, or records of one class only, are not made longer.

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
        "max_candidates": Number(numbers.Integral, low=1, high=100_000_000),
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
        self.max_candidates = max_candidates
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _enough(self, class_counts: Integers, needed: int) -> Flags:
        return np.asarray((class_counts >= needed).any(axis=1))

    def _final(self, class_counts: Integers) -> Flags:
        """Tell which bodies cover records of one class only."""
        return np.asarray((class_counts > 0).sum(axis=1) <= 1)

    def _find(self, items: Items, say: Say) -> tuple[list[BodyAndLabel], dict[str, Any]]:
        backend = items.backend
        mined, needed = self._mined(items, say)
        bodies, labels = association_rules(mined, backend.class_totals, needed, float(self.min_confidence))
        say("choosing", f"among {labels.size:,} rules")
        chosen = covering(backend, mined.bodies.take(bodies), labels)
        most = 0 if backend.n_classes < 2 else self.max_rules
        found = [
            (mined.bodies.body(int(bodies[j])), int(labels[j])) for j in chosen[: None if most is None else int(most)]
        ]
        fitted = {
            "min_support_": needed,
            "n_candidates_": mined.bodies.size,
            "n_association_rules_": int(labels.size),
        }
        return found, fitted


def association_rules(mined: Mined, totals: Integers, needed: int, min_confidence: float) -> tuple[Integers, Integers]:
    """Return body and label of each class association rule, in CBA's total order.

    Rules that a parent with the same label and at least the same confidence makes superfluous are left out.
    """
    counts = mined.class_counts
    confidence = counts / counts.sum(axis=1, keepdims=True)
    worth = (counts >= needed) & (confidence >= min_confidence)
    longer = np.flatnonzero(mined.parents[:, 0] >= 0)
    for parent in mined.parents[longer].T:
        worth[longer] &= confidence[longer] > confidence[parent]
    bodies, labels = np.nonzero(worth)
    rank = np.empty(totals.size, np.int64)
    rank[np.argsort(-totals, kind="stable")] = np.arange(totals.size)
    order = np.lexsort((rank[labels], bodies, -counts[bodies, labels], -confidence[bodies, labels]))
    return bodies[order], labels[order]


def covering(backend: Backend, bodies: Lists, labels: Integers) -> Integers:
    """Return the places of the rules that CBA-CB keeps (M1): each right about some record left, up to the best cut."""
    chosen = np.flatnonzero(backend.claims(bodies, labels))
    left, wrong, errors = backend.everything, 0, []
    for j in chosen.tolist():
        cover = backend.cover(bodies.body(j))
        taken = backend.class_counts(backend.intersection(cover, left))
        left = backend.difference(left, cover)
        wrong += int(taken.sum() - taken[labels[j]])
        rest = backend.class_counts(left)
        errors.append(wrong + int(rest.sum() - rest.max()))
    return chosen[: int(np.argmin(errors)) + 1] if errors else chosen
