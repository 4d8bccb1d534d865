"""DRSClassifier: the method of "Diverse Rule Sets" (Zhang and Gionis, KDD 2020)."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from diverse_rule_sets._input.checks import Check, Choice, Flag, Number, warn
from diverse_rule_sets._util.progress import OnProgress
from diverse_rule_sets.estimators._reading import Training
from diverse_rule_sets.estimators._search_classifier import DIVERSITY, SHARED_CHECKS, SearchClassifier
from diverse_rule_sets.estimators._settings import Extensions, InternalSettings
from diverse_rule_sets.learn._deadline import Deadline
from diverse_rule_sets.learn._learner import learn_as_in_paper
from diverse_rule_sets.learn.samplers import MEASURES


class DRSClassifier(SearchClassifier):
    """The method of the paper "Diverse Rule Sets" (Zhang and Gionis, KDD 2020), with its settings as defaults.

    In each round ``n_candidates`` rules are drawn for every class, with probabilities that favour rules that cover
    uncovered records of the class and few others; the best of them is added, by quality and by its Jaccard distances to
    the rules chosen so far (Algorithm 2). A second pass chooses again among all candidates drawn, and the set with the
    higher objective is kept.

    It differs from :class:`DiverseRuleSetClassifier`, which is more accurate with fewer and shorter rules, in three
    respects. *Conditions*: each numeric column is cut into a few bins of equal width, and a condition names one bin or
    one category. *Search*: drawn rules are used as they are, and all classes count by their size. *Prediction*: the
    rule with the highest precision decides, and records that no rule covers get the default label.

    Parameters
    ----------
    max_rules : int, default=100
        Maximum number of rules.
    max_conditions : int or None, default=None
        Maximum number of conditions of a rule; the paper has no limit.
    max_overlap : float or dict, default=1.0
        Maximum share of a rule's training records that earlier rules may cover; the paper has no limit. A dict such as
        ``{"contradict": 0.01}`` is as for :class:`DiverseRuleSetClassifier`; a missing key has the value 1.
    min_support : int, default=1
        Minimum number of training records that a rule covers.
    n_candidates : int, default=500
        Number of rules drawn for each class in each round, at most 100,000.
    measure : {"pairs", "triples"}, default="pairs"
        The distribution of drawn rules, Eq. 8 or Eq. 7 of the paper; see :func:`diverse_rule_sets.sample_rules`.
    diversity : {"strict", "permissive", "none"} or float, default="strict"
        The weight lambda of the distances: the maximum (strict) or the mean (permissive) quality of rules drawn from
        the whole table, zero (none), or a number.
    min_recall_gain : float, default=0.01
        The paper's epsilon: a rule is added only if it newly covers more than this share of the records of its class.
    second_pass : bool, default=True
        Choose once more among all candidates drawn, and keep the better of the two sets.
    binning : {"uniform", "quantile", "supervised"} or dict, default="uniform"
        Cut points of numbers and dates: at equal widths, with about equally many records in each bin, or where the
        classes differ. A dict gives for some columns one of these words or the edges, as in ``{"age": [25, 60]}``; the
        other columns are cut by ``"uniform"``. For text that looks like an identifier see
        :class:`DiverseRuleSetClassifier`.
    n_bins : int, default=5
        Number of bins of a column whose edges are not given.
    missing_values : value, list of values, dict of column names, or None, default=None
        Codes that mean that a value is missing; see :class:`DiverseRuleSetClassifier`.
    conflict : {"precision", "smoothed", "f1", "first", "vote", "counts"} or callable, default="precision"
        Which rule decides if several cover a record; see :class:`DiverseRuleSetClassifier`.
    default : {"least_covered", "majority"} or label, default="least_covered"
        The label of records that no rule covers: the class whose own rules cover the smallest share of it, the
        likeliest class among such training records, or a label. A class with fewer than three records (or than
        ``min_support``), and less than a tenth of those of an average class with more, is the default label only if it
        is given; a warning names it. The search counts it as all classes.
    given_rules, forbidden, required, monotone : constraints, default=None
        As for :class:`DiverseRuleSetClassifier`.
    max_seconds, random_state, n_jobs, verbose
        As for :class:`DiverseRuleSetClassifier`.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in the units of the table; it has no fallback rules.
    classes_, lambda_, objective_, history_, stopped_early_, n_features_in_, feature_names_in_
        As for :class:`DiverseRuleSetClassifier`.

    Notes
    -----
    Over the candidates seen, the chosen set has at least half of the objective of the best set of as many rules, if
    ``max_overlap`` is 1. The label of a rule is the class it was drawn for, which need not be its likeliest class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DRSClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(DRSClassifier(max_rules=1, random_state=0).fit(X, y).rule_set_[0])
    IF petal length (cm) <= 2 THEN 0
    """

    _missing_overlap: ClassVar[float] = 1.0
    _internal: ClassVar[InternalSettings] = InternalSettings(
        learn_as_in_paper, thresholds=False, length_odds=1.0, split=False, skip_rare=False
    )
    _parameter_checks: ClassVar[Mapping[str, Check]] = {
        **SHARED_CHECKS,
        "n_candidates": Number(numbers.Integral, low=1, high=100_000),
        "measure": Choice(MEASURES),
        "diversity": DIVERSITY,
        "min_recall_gain": Number(numbers.Real, low=0, high=1),
        "second_pass": Flag(),
        "n_bins": Number(numbers.Integral, low=2, high=1000),
    }

    def __init__(
        self,
        *,
        # size of the rule set
        max_rules: int = 100,
        max_conditions: int | None = None,
        max_overlap: Any = 1.0,
        min_support: int = 1,
        # the paper's search
        n_candidates: int = 500,
        measure: str = "pairs",
        diversity: str | float = "strict",
        min_recall_gain: float = 0.01,
        second_pass: bool = True,
        # possible conditions
        binning: Any = "uniform",
        n_bins: int = 5,
        missing_values: Any = None,
        # prediction
        conflict: Any = "precision",
        default: Any = "least_covered",
        # constraints
        given_rules: Any = None,
        forbidden: Any = None,
        required: Any = None,
        monotone: Any = None,
        # running the fit
        max_seconds: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.max_overlap = max_overlap
        self.min_support = min_support
        self.n_candidates = n_candidates
        self.measure = measure
        self.diversity = diversity
        self.min_recall_gain = min_recall_gain
        self.second_pass = second_pass
        self.binning = binning
        self.n_bins = n_bins
        self.missing_values = missing_values
        self.conflict = conflict
        self.default = default
        self.given_rules = given_rules
        self.forbidden = forbidden
        self.required = required
        self.monotone = monotone
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, training: Training, labels: list[Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> dict[str, Any]:
        fitted = super()._learn(training, labels, on_progress, deadline)
        n_given = len(self.given_rules or ())
        limits = self._plan(len(labels), n_given).settings.limits
        limited = limits.max_conditions is not None or limits.limit_overlap or limits.min_support > 1
        limited &= not deadline.stopped
        if limited and len(fitted["rule_set_"]) == n_given < self.max_rules and len(labels) > 1:
            warn(
                f"no rule was found within max_conditions={self.max_conditions}, max_overlap={self.max_overlap}, "
                f"min_support={self.min_support}: the paper's method draws long rules and drops those beyond limits. "
                "Raise the limits or n_candidates, or use DiverseRuleSetClassifier"
            )
        return fitted

    def _settings(self) -> InternalSettings:
        return replace(
            self._internal,
            n_candidates=self.n_candidates,
            measure=self.measure,
            diversity=self.diversity,
            min_recall_gain=self.min_recall_gain,
            second_pass=self.second_pass,
            n_bins=self.n_bins,
        )

    def _extensions(self) -> Extensions:
        return Extensions()
