"""The scikit-learn classifier: the door, and the order in which the rooms are walked through."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Words
from diverse_rule_sets._input.checks import check_choice, check_number, generator
from diverse_rule_sets._input.labels import encode_labels
from diverse_rule_sets._input.tables import Table, as_table, plain
from diverse_rule_sets._util.progress import Progress
from diverse_rule_sets.data._encoder import Cutting
from diverse_rule_sets.estimators._base import RuleSetEstimator
from diverse_rule_sets.learn._constraint_input import Asked, Wishes, checked
from diverse_rule_sets.learn._learner import (
    Data,
    Learnt,
    Plan,
    learn,
    learn_path,
    own_recall,
    prepare,
    rules_of,
    translated,
)
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._paper_search import LAMBDA_MODES, Found, Settings
from diverse_rule_sets.learn.samplers import MEASURES
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._rules import RuleSet

DEFAULTS = ("least_covered", "majority")
# Cuts of all columns together, where the number of bins is not given.
_MAX_CUTS = 4000
# The paper's configuration.
PAPER: dict[str, Any] = {
    "max_rules": 100,
    "max_conditions": None,
    "max_overlap": 1.0,
    "min_support": 1,
    "max_backups": 0,
    "class_weight": None,
    "conditions": "bins",
    "binning": "uniform",
    "n_bins": 5,
    "negation": False,
    "refine": False,
    "length_odds": 1.0,
    "n_candidates": 500,
    "measure": "pairs",
    "diversity": "strict",
    "min_recall_gain": 0.01,
    "min_evidence": 0.0,
    "smoothing": None,
    "second_pass": True,
    "split": False,
    "conflict": "precision",
    "default": "least_covered",
}


class DiverseRuleSetClassifier(RuleSetEstimator):
    """A small set of short if-then rules that hardly overlap.

    Rules are found by chance and improved by hand: short bodies are drawn from records that no rule covers yet, as in
    "Diverse Rule Sets" (Zhang and Gionis, KDD 2020); conditions are added, dropped and swapped while that makes the
    rule worth more; and rules are chosen greedily so that the sum of their qualities plus ``lambda`` times the sum of
    their Jaccard distances is large and no rule shares more than ``max_overlap`` of its records with those before it.
    :meth:`as_in_paper` is the paper's own method.

    Takes numpy arrays, pandas and polars tables with numbers, booleans, strings, categories, dates and missing
    values, under any column names. The rules speak in the units of the table.

    Parameters
    ----------
    max_rules : int, default=40
        The most rules. Fewer make a shorter page that leaves more records to the backups.
    max_conditions : int or None, default=5
        The most conditions of a rule, one per column; None for any number.
    max_overlap : float, default=0.01
        The largest share of a rule's training records that earlier rules may cover already. 0 means that no training
        record is ever under two rules; 1 sets no limit.
    min_support : int, default=3
        The fewest training records under a rule.
    max_backups : int, default=15
        The most backup rules: rules less one or more conditions, tried in order for records that no rule covers.
        Their labels are those of the records they answer for, not always that of the rule they come from. 0 leaves such
        records to the default label.
    class_weight : "balanced", dict of labels to weights, or None, default="balanced"
        How much a record of each class counts. Balanced gives every class the same weight in all, for rules, labels
        and probabilities alike, so that rare classes get rules of their own. None counts records as they are, for
        plain accuracy and probabilities that match the frequencies in the table.
    conditions : {"thresholds", "bins"}, default="thresholds"
        Thresholds let rules choose any interval between two cuts (``37 < age <= 60``) and sets of up to 8 categories
        (``job in {"clerk", "sales"}``). Bins are the paper's: the interval between two neighbouring cuts, and one
        category at a time.
    binning : {"supervised", "uniform", "quantile"} or dict, default="supervised"
        Where numbers and dates are cut: where the classes come apart, at equal widths, or with about equally many
        records in each bin. A dict gives for some columns one of these words or the edges themselves, as in
        ``{"age": [25, 60]}``; the others are cut as usual (uniformly for bins).
    n_bins : int or None, default=None
        Bins per column, where the edges are not given: one more than there are cuts. None means 20, and fewer, down to
        5, on tables of more than 200 columns.
    negation : bool, default=False
        Allow ``job not in {"clerk"}`` where that is shorter. It also holds for categories never seen in training.
    refine : bool, default=True
        Improve the drawn bodies by adding, dropping and swapping conditions. False takes them as drawn, which is
        the paper's method: rules are then found without ``class_weight``, ``min_evidence``, ``condition_price`` and
        ``split``, and a rule's label is the class it was drawn for.
    length_odds : float or None, default=None
        Odds of each condition of a record to enter a drawn body. None draws bodies of about two conditions, however
        wide the table; 1 is the paper's law, in which every subset of a record's conditions is as likely.
    n_candidates : int, default=8
        Bodies drawn for each rule, shared by the classes; without ``refine``, for each class. More take longer and
        may find slightly better rules.
    measure : {"pairs", "triples"}, default="pairs"
        The chances of drawn bodies, Eq. 8 or Eq. 7 of the paper; see :func:`diverse_rule_sets.sample_rules`.
    diversity : {"strict", "permissive", "none"} or float, default="strict"
        How much it counts that rules cover different records, within ``max_overlap``: the weight lambda is the largest
        (strict) or the mean (permissive) quality of the first candidates, or zero (none), or the number given.
    min_recall_gain : float, default=0.001
        The first pass adds a rule only if it newly covers more than this share of the records of its class. Larger
        values give fewer rules.
    min_evidence : float, default=1.0
        How much evidence a rule needs not to look like a chance find among the many that were looked at. The default
        measured best, and lets a few chance finds through on pure noise; 2 keeps them out and gives fewer rules; 0
        asks for none.
    condition_price : float, default=0.03
        Share of its quality that a rule loses for each condition, at most 0.5. Higher prices give shorter rules.
    smoothing : float or None, default=5.0
        A rule's class shares are mixed with those of the whole table as if it covered so many records more, so that
        pure rules of a handful of records do not win. None: as many as there are classes.
    second_pass : bool, default=True
        Choose once more among all candidates seen, and keep the better of the two sets.
    split : bool, default=True
        Split rules in two where the evidence asks for it, after all rules are chosen.
    conflict : {"smoothed", "precision", "f1", "first", "vote", "counts"} or callable, default="smoothed"
        Which rule speaks when several cover a record: the one with the highest precision, plain or smoothed (which
        trusts rules of few records less), or with the highest F1 score; the first one; the best one of the label that
        wins a vote weighted by smoothed precision, or that has the most records when class counts are added up.
        A callable is given the tuple of covering rules and returns one of them.
    default : {"majority", "least_covered"} or label, default="majority"
        The label of records that neither rules nor backups cover: the likeliest among such training records, or the
        class of which rules of its own cover the smallest share, or a label of your own. (The two words are never read
        as labels.)
    given_rules : list of Rule or str, or None, default=None
        Rules that stand, whatever the data say: they come first, in this order, and the search looks for rules beside
        them, as beside rules it chose itself. They count in ``max_rules`` and in the overlap of learnt rules with
        those before them; no other limit holds for them, and they are neither dropped nor split. A label may also be
        written as text, if it reads like one label of y only. Backups are made from learnt rules alone.
    forbidden : list of column names or None, default=None
        Columns that no learnt rule and no backup may speak of. The rules are those of a table without them.
    required : list of column names or None, default=None
        Columns of each of which every learnt rule and every backup has a condition.
    monotone : dict of column names or None, default=None
        The direction of numbers or dates. ``{"age": {"ill": "increasing"}}`` lets learnt rules and backups of the
        label "ill" say ``age > 60`` but neither ``age <= 60`` nor ``40 < age <= 60``; ``"decreasing"`` is the
        other way round. Labels that are not named are free. With two labels, ``{"age": "increasing"}`` speaks of the
        second, and the first gets the opposite. Whether a value is missing may always be said.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The same seed gives the same rules, whatever ``n_jobs`` and the kind of table.
    n_jobs : int or None, default=None
        Threads that share the counting; None means 1 and -1 all. Worth it from about 100,000 records.
    verbose : int, default=0
        1 shows how many rules there are and what they cover while fitting, 2 says so for every rule.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in raw units, and ``rule_set_.backups``. ``print(clf.rule_set_)`` is a page to read.
    classes_ : array of labels, sorted
    lambda_ : float
        The weight of the distances that was used.
    objective_ : float
        Sum of qualities + ``lambda_`` * sum of distances over pairs of the chosen rules.
    history_ : list of dict
        For each rule, in order: its label, ``quality``, ``distance_gain`` to the rules before it,
        ``recall_gain`` (share of its class newly covered), and the ``pass`` that won (1 or 2; 0 for given rules).
        ``pandas.DataFrame(clf.history_)`` shows it.
    n_features_in_ : int
    feature_names_in_ : array of column names, only where X had them

    Notes
    -----
    Over the candidates seen, the chosen set has at least half of the objective of the best set of as many rules, as
    long as ``max_overlap`` forbids none of them: at 1 always, below that the greedy is a good heuristic and no more.
    Splits add rules and never lower the objective. Nothing is promised of rules that were never drawn or met, nor of
    accuracy on new records.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DiverseRuleSetClassifier(max_rules=3, random_state=0).fit(X, y)
    >>> len(clf.rule_set_)
    3
    >>> clf.predict([[5.0, 3.4, 1.5, 0.2]])
    array([0])
    """

    def __init__(
        self,
        *,
        max_rules: int = 40,
        max_conditions: int | None = 5,
        max_overlap: float = 0.01,
        min_support: int = 3,
        max_backups: int = 15,
        class_weight: Any = "balanced",
        conditions: str = "thresholds",
        binning: Any = "supervised",
        n_bins: int | None = None,
        negation: bool = False,
        refine: bool = True,
        length_odds: float | None = None,
        n_candidates: int = 8,
        measure: str = "pairs",
        diversity: str | float = "strict",
        min_recall_gain: float = 0.001,
        min_evidence: float = 1.0,
        condition_price: float = 0.03,
        smoothing: float | None = 5.0,
        second_pass: bool = True,
        split: bool = True,
        conflict: Any = "smoothed",
        default: Any = "majority",
        given_rules: Any = None,
        forbidden: Any = None,
        required: Any = None,
        monotone: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.max_overlap = max_overlap
        self.min_support = min_support
        self.max_backups = max_backups
        self.class_weight = class_weight
        self.conditions = conditions
        self.binning = binning
        self.n_bins = n_bins
        self.negation = negation
        self.refine = refine
        self.length_odds = length_odds
        self.n_candidates = n_candidates
        self.measure = measure
        self.diversity = diversity
        self.min_recall_gain = min_recall_gain
        self.min_evidence = min_evidence
        self.condition_price = condition_price
        self.smoothing = smoothing
        self.second_pass = second_pass
        self.split = split
        self.conflict = conflict
        self.default = default
        self.given_rules = given_rules
        self.forbidden = forbidden
        self.required = required
        self.monotone = monotone
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def as_in_paper(cls, **overrides: Any) -> DiverseRuleSetClassifier:
        """Return a classifier with exactly the configuration of the paper's experiments.

        Five bins of equal width, pairs (Eq. 8), strict diversity, 500 candidates per class and round, recall
        gain over 0.01, a second pass, the most precise rule speaks, the least covered class is the default, at
        most 100 rules.

        Examples
        --------
        >>> DiverseRuleSetClassifier.as_in_paper(random_state=0).default
        'least_covered'
        """
        return cls(**{**PAPER, **overrides})

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return each record's class probabilities, columns as in ``classes_``.

        They are the smoothed class counts of the rule or backup that speaks, weighted by class:
        ``w_k * (n_k + m * p_k)`` for class k, scaled to sum to 1. Of the training records under it n_k are of class k,
        of all training records a share p_k, m is ``smoothing`` and w_k the class weight. With
        ``class_weight="balanced"`` they are therefore those of a table in which all classes are equally common, as in
        scikit-learn's own classifiers, and the label is the class with the highest probability; for the frequencies of
        the table itself, fit with ``class_weight=None``. (In the paper's method a rule's label is the class it was
        drawn for, likeliest or not.)
        """
        return super().predict_proba(X)

    def _check_parameters(self) -> None:
        """Refuse bad parameters by name, before anything is computed."""
        check_number("max_rules", self.max_rules, numbers.Integral, low=0)
        check_number("min_support", self.min_support, numbers.Integral, low=1)
        check_number("max_backups", self.max_backups, numbers.Integral, low=0)
        check_number("max_overlap", self.max_overlap, numbers.Real, low=0, high=1)
        check_number("n_candidates", self.n_candidates, numbers.Integral, low=1)
        check_number("min_recall_gain", self.min_recall_gain, numbers.Real, low=0, high=1)
        check_number("min_evidence", self.min_evidence, numbers.Real, low=0, high=1e6)
        check_number("condition_price", self.condition_price, numbers.Real, low=0, high=0.5)
        if self.max_conditions is not None:
            check_number("max_conditions", self.max_conditions, numbers.Integral, low=1)
        if self.length_odds is not None:
            check_number("length_odds", self.length_odds, numbers.Real, low=0, high=1e6, open_low=True)
        if self.smoothing is not None:
            check_number("smoothing", self.smoothing, numbers.Real, low=0, high=1e9)
        for name in ("negation", "refine", "second_pass", "split"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")
        self._check_words()
        self._check_cutting()
        self._check_running()
        self._asked.check(self.max_rules, self.max_conditions)

    @property
    def _asked(self) -> Asked:
        """What was asked of the rules."""
        return Asked(self.given_rules, self.forbidden, self.required, self.monotone)

    def _check_words(self) -> None:
        """Refuse bad parameters among those that take words."""
        check_choice("measure", self.measure, MEASURES)
        if isinstance(self.diversity, str) or not isinstance(self.diversity, numbers.Real):
            check_choice("diversity", self.diversity, LAMBDA_MODES, ", or a number")
        else:
            check_number("diversity", self.diversity, numbers.Real, low=0, high=1e9)
        if not callable(self.conflict):
            check_choice("conflict", self.conflict, CONFLICTS, ", or a function of the covering rules")
        if self.class_weight is not None and not isinstance(self.class_weight, Mapping):
            check_choice("class_weight", self.class_weight, ("balanced",), ", None, or a dict of labels")

    def _check_labels(self, labels: list[Any]) -> None:
        """Refuse a default that is no label."""
        is_word = isinstance(self.default, str) and self.default in DEFAULTS
        if not is_word and (np.ndim(self.default) > 0 or plain(self.default) not in labels):
            words = " or ".join(repr(word) for word in DEFAULTS)
            raise ValueError(f"default must be {words} or one of the labels {labels}, got {self.default!r}")

    def _plan(self, n_classes: int, n_columns: int, wishes: Wishes) -> Plan:
        """Return the parameters in the words of the learning."""
        limits = Limits(
            max_rules=int(self.max_rules) if n_classes > 1 else len(wishes.given),
            max_conditions=None if self.max_conditions is None else int(self.max_conditions),
            max_overlap=float(self.max_overlap),
            min_support=int(self.min_support),
            min_recall_gain=float(self.min_recall_gain),
        )
        thresholds = self.conditions == "thresholds"
        n_columns = max(n_columns - len(wishes.forbidden), 1)
        n_bins = max(5, min(20, 1 + _MAX_CUTS // n_columns)) if self.n_bins is None else int(self.n_bins)
        otherwise = "supervised" if thresholds else "uniform"
        return Plan(
            cutting=Cutting(self.binning, n_bins, thresholds, bool(self.negation), otherwise, wishes.forbidden),
            settings=Settings(int(self.n_candidates), self.diversity, bool(self.second_pass), limits),
            measure=self.measure,
            length_odds=None if self.length_odds is None else float(self.length_odds),
            refine=bool(self.refine),
            split=bool(self.split),
            max_backups=int(self.max_backups),
            min_evidence=float(self.min_evidence),
            condition_price=float(self.condition_price),
            smoothing=float(n_classes if self.smoothing is None else self.smoothing),
            wishes=wishes,
        )

    def _prepared(self, table: Table, classes: NDArray[Any], codes: NDArray[np.int64]) -> tuple[Plan, Data]:
        """Return the plan, and the table as items."""
        labels = [plain(label) for label in classes]
        plan = self._plan(classes.size, len(table.names), checked(self._asked, table, labels))
        weights = self._class_weights(classes, codes)
        return plan, prepare(table, codes, weights, plan, labels, effective_n_jobs(self.n_jobs))

    def _rule_sets(self, X: Any, y: Any, max_rules: Sequence[int]) -> list[RuleSet]:
        """Return the rule sets that fits with several values of ``max_rules`` would give, found in one search."""
        self._check_parameters()
        table = as_table(X)
        classes, codes = encode_labels(y, table.n_records)
        self._check_labels([plain(label) for label in classes])
        plan, data = self._prepared(table, classes, codes)
        n_given = self._asked.n_given
        if min(max_rules) < n_given:
            raise ValueError(f"given_rules holds {n_given} rules, more than max_rules={min(max_rules)}")
        wanted = [n if classes.size > 1 else n_given for n in max_rules]
        found = learn_path(data, plan, wanted, generator(self.random_state), lambda *_: None)
        return [self._rule_set(learnt, plan, data, classes) for learnt in found]

    def _learn(self, table: Table, classes: NDArray[Any], codes: NDArray[np.int64]) -> dict[str, Any]:
        """Walk through the rooms; returns the fitted attributes."""
        rng = generator(self.random_state)
        progress = Progress(int(self.verbose))
        plan, data = self._prepared(table, classes, codes)

        def report(stage: str, n_rules: int, covered: Words) -> None:
            if self.verbose:
                progress.report(stage, n_rules, data.backend.class_counts(covered).sum() / table.n_records)

        learnt = learn(data, plan, rng, report)
        rule_set = self._rule_set(learnt, plan, data, classes)
        coverage = 1 - sum(rule_set.uncovered_counts) / table.n_records
        progress.close(f"{len(rule_set)} rules cover {coverage:.1%} of the records")
        return {
            "rule_set_": rule_set,
            "lambda_": learnt.found.lambda_,
            "objective_": learnt.found.objective,
            "history_": _history(learnt.found, rule_set),
        }

    def _class_weights(self, classes: NDArray[Any], codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weight of a record of each class."""
        if isinstance(self.class_weight, Mapping):
            labels = [plain(label) for label in classes]
            given = {plain(label): weight for label, weight in self.class_weight.items()}
            for label, weight in given.items():
                if label not in labels:
                    raise ValueError(
                        f"class_weight names the label {label!r}, which y does not have; its labels: {labels}"
                    )
                check_number(f"class_weight[{label!r}]", weight, numbers.Real, low=0, high=1e9, open_low=True)
            return np.array([float(given.get(label, 1.0)) for label in labels])
        if self.class_weight is None:
            return np.ones(classes.size)
        return codes.size / (classes.size * np.bincount(codes, minlength=classes.size).astype(np.float64))

    def _rule_set(self, learnt: Learnt, plan: Plan, data: Data, classes: NDArray[Any]) -> RuleSet:
        """Translate what was learnt from items to raw units, once."""
        labels = [plain(label) for label in classes]
        totals = data.backend.class_totals
        uncovered = totals - data.backend.class_counts(learnt.found.covered)
        backups = tuple(translated(data, one, labels) for one in learnt.backups)
        rule_set = RuleSet(
            rules_of(data, plan, learnt.found, labels),
            tuple(labels),
            labels[0],
            tuple(totals.tolist()),
            tuple(uncovered.tolist()),
            self.conflict,
            backups,
            None if self.class_weight is None else tuple(data.scale.weights.tolist()),
            None if self.smoothing is None else float(self.smoothing),
        )
        return replace(rule_set, default=self._default_label(learnt.found, data, rule_set))

    def _default_label(self, found: Found, data: Data, rule_set: RuleSet) -> Any:
        if isinstance(self.default, str) and self.default == "majority":
            return rule_set.likeliest_default
        if isinstance(self.default, str) and self.default == "least_covered":
            return rule_set.classes[int(np.argmin(own_recall(data, found)))]
        return rule_set.classes[rule_set.classes.index(plain(self.default))]


def _history(found: Found, rule_set: RuleSet) -> list[dict[str, Any]]:
    """Return what each chosen rule added, one dict a rule."""
    return [
        {
            "label": rule.label,
            "quality": step.quality,
            "distance_gain": step.distance_gain,
            "recall_gain": step.recall_gain,
            "pass": 0 if j < found.n_given else found.pass_,
        }
        for j, (step, rule) in enumerate(zip(found.steps, rule_set, strict=True))
    ]
