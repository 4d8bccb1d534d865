"""DiverseRuleSetClassifier: the main classifier of this package."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.checks import Check, Flag, Number, Optional
from diverse_rule_sets.estimators._bounds import MAX_RULES, MAX_STATEMENTS
from diverse_rule_sets.estimators._class_weights import ClassWeightCheck
from diverse_rule_sets.estimators._drs import DRSClassifier
from diverse_rule_sets.estimators._scorecards import ScorecardsCheck, given_scorecards
from diverse_rule_sets.estimators._search_classifier import SHARED_CHECKS, SearchClassifier
from diverse_rule_sets.estimators._settings import Extensions, InternalSettings
from diverse_rule_sets.learn._learner import learn


class DiverseRuleSetClassifier(SearchClassifier):
    """A small set of short if-then rules that hardly overlap.

    Candidate rules are drawn at random from records that no rule covers yet, as in "Diverse Rule Sets" (Zhang and
    Gionis, KDD 2020), and improved by local search: conditions are added, dropped and swapped while that raises the
    quality of the rule. Rules are chosen greedily so that the sum of their qualities plus ``lambda`` times the sum of
    their Jaccard distances is large, and so that no rule shares more than ``max_overlap`` of its records with the rules
    before it. Rules that still mix classes are split into parts with different labels, and at the end rules grow over
    records that no rule covers, where these mostly have their label. Rules of one label are merged, and rules that are
    not worth reading are dropped. Then the set is changed as a whole as long as its value rises: parts of a rule with
    another label become rules of their own (exceptions), and each rule is fitted again beside the others. Fallback
    rules decide the records that are left.

    Where weak signs add up, a scorecard is learnt first: conditions give whole points to labels, and rules may test the
    sums, as in ``points >= 6``.

    :class:`DRSClassifier` is the paper's own method. It differs in the conditions (fixed bins instead of thresholds and
    sets of categories), in the search (no scorecards, no local search, no splits, no growth, no class weights, no
    evidence) and in the prediction (no fallback rules, less smoothing).

    Tables may be numpy arrays or pandas, polars or Arrow tables with numbers, booleans, strings, categories, dates and
    missing values, under any column names. Conditions are in the units of the table.

    Parameters
    ----------
    max_statements : int or None, default=None
        Maximum number of rules, fallback rules and the default label together, at least 1; None for no limit. A larger
        set is found first. Then rules are dropped or merged, whatever lowers the value of the set least, until there
        are few enough; of sets with fewer rules and more fallback rules the best one is kept.
    max_rules : int, default=40
        Maximum number of rules, at most 10,000. Fewer rules leave more records to the fallback rules.
    max_conditions : int or None, default=5
        Maximum number of conditions of a rule, one per column; None for no limit. A condition on points counts as one.
    max_overlap : float or dict, default=0.01
        Maximum share of a rule's training records that earlier rules may cover. With 0 no training record is covered
        by two rules; 1 sets no limit. A dict such as ``{"agree": 0.3, "contradict": 0.01}`` sets the maximum share that
        earlier rules of the same label may cover, and that earlier rules of other labels may cover; a missing key has
        the value 0.01. A record that rules of both kinds cover counts for both. A number limits all earlier rules
        together, so ``0.3`` is stricter than a dict with 0.3 for both keys. With a dict, a rule that overlaps rules of
        its label must be right, with enough evidence, for the records that it adds to them.
    min_support : int, default=3
        Minimum number of training records that a rule covers. A class with fewer records, and less than a tenth of
        those of an average class with more, is rare: a warning names it, no rule is learnt for it, its records do not
        count in the search, and it is the default label only if it is given. It stays in ``classes_`` and in all class
        counts. A class with fewer records that is not rare gives a warning too.
    max_fallbacks : int, default=15
        Maximum number of fallback rules. A fallback rule is a rule without one or more of its conditions, or with a
        wider condition on points, for records that no rule covers; it must predict them clearly better. Its label is
        the likeliest class of the records that it decides, which need not be the label of the rule it comes from. With
        0 such records get the default label.
    class_weight : "balanced", dict of labels to weights, or None, default="balanced"
        Weight of a record of each class. Balanced weights give every class the same total weight, in the search, the
        labels and the probabilities, so that small classes get rules of their own. With n records of k classes, a
        record of a class with n_class records weighs ``n / (k * max(n_class, m))``, ``m = min(20, n / (10 * k))``: a
        class of fewer than 20 records, and less than a tenth of an average class, has less weight, so that a few
        records do not count as much as thousands. (Rare classes are left out of n and k; see ``min_support``. Their
        records weigh 1, and if there is only one other class, ten times as much as its records.) The weights are then
        scaled so that their sum over all records is n. None counts every record once, for plain accuracy and for
        probabilities that match the class frequencies of the table. A dict such as ``{"fraud": 30}`` gives the label
        "fraud" where at least one of 31 records is fraud; labels that it does not name weigh 1.
    min_evidence : float, default=0.25
        How much evidence a rule needs; it excludes spurious rules among the many that are tried. Higher values give
        fewer rules; 0 requires no evidence. Before the search, cross-fitting tests whether conditions found on some
        training records predict others. If they hardly do, rules need three times the evidence; if they do not, the
        table is mostly noise and rules need seven times the evidence. On pure noise there are then few rules or none.
    smoothing : float or None, default=5.0
        The class shares of a rule are mixed with those of the whole table as if the rule covered so many more records,
        so that pure rules with few records are not preferred. None: the number of classes.
    binning : {"supervised", "uniform", "quantile"} or dict, default="supervised"
        Cut points of numbers and dates: where the classes differ, at equal widths, or with about equally many records
        in each bin. A dict gives for some columns one of these words or the edges, as in ``{"age": [25, 60]}``; the
        other columns are cut by ``"supervised"``. Text that looks like an identifier (nearly every record has another
        value) is left out of learnt rules, with a warning, unless the column is named here, in ``required``, by a
        given rule or a given scorecard: ``{"ticket": "supervised"}``. Whether it is missing may still be a condition.
    negation : bool, default=True
        Allow conditions such as ``job != "clerk"`` and ``job not in {"clerk", "sales"}`` if they list fewer values.
        They also hold for categories that did not occur in training.
    missing_values : value, list of values, dict of column names, or None, default=None
        Codes that mean that a value is missing, such as ``-9`` or ``[-7, -8, "?"]``; None, NaN and the like are missing
        in any case. Codes are compared by type and value. A code applies to the columns of its type: a number to
        columns of numbers, text to columns of text and to columns of Python objects. A dict has codes for some columns,
        as in ``{"income": [-7, -8], "job": "?"}``; a code that does not fit the type of its column is an error. A code
        need not occur in training. The rule set keeps the codes of each column (``rule_set_.missing_values``) and
        applies them to every table.
    scorecards : "auto", int, list of Scorecard or str, or None, default="auto"
        Maximum number of scorecards that are learnt; ``"auto"`` means 1, and None or 0 means none: plain rules. A
        scorecard is a derived column: the sum of whole points, which conditions on the table (its signs) give to
        labels. Rules may then test ``points >= 6``, or with more than two labels ``most points for versicolor``. Signs,
        points and their number are chosen on the training records, and a scorecard is learnt only if it predicts
        records better that were not used to choose its signs. If no rule tests its points, the rules are those of
        ``scorecards=None``. A further scorecard has signs on other columns.
        A list gives scorecards that are used as they are, such as ``["points (for ill): 3 if age > 55, -1 if sport =
        True"]``, and none is learnt. Points may be any whole numbers, and signs need not be among the conditions that
        are learnt. A label may be written as text if only one label of y reads like it. Learnt rules test the points
        as they test a column; of more than 100 possible cuts, those are used that divide the records into about equal
        parts. A scorecard that no rule uses is not part of the rule set. It is an error if ``forbidden`` names a column
        of a sign, or if a column of the table is called like the scorecard. A warning names a sign that holds for no
        record or for every record, a value that no record has, and a scorecard with the same points for all records.
    max_signs : int, default=20
        Maximum number of signs of a learnt scorecard. A learnt sign gives 1 to 9 points to a label; with two labels the
        second one gets all points. Each sign holds and fails for at least ``min_support`` records.
    conflict : {"smoothed", "precision", "f1", "first", "vote", "counts"} or callable, default="smoothed"
        Which rule decides if several cover a record: the one with the highest precision, plain or smoothed (which
        trusts rules of few records less), or with the highest F1 score; the first one; the best rule of the label that
        wins a vote weighted by smoothed precision, or that has the most records when class counts are added up.
        A callable is given the tuple of covering rules and returns one of them.
    default : {"majority", "least_covered"} or label, default="majority"
        The label of records that neither rules nor fallback rules cover: the likeliest class among such training
        records, the class whose own rules cover the smallest share of it, or a label. (The two words are never
        interpreted as labels.)
    given_rules : list of Rule or str, or None, default=None
        Rules that are part of every result: they come first, in this order, and the search looks for further rules.
        They count in ``max_rules`` and in the overlap of learnt rules with earlier ones; no other limit applies to
        them, and they are neither dropped nor split. A label may be written as text if only one label of y reads like
        it. Rules may test the scorecards of the parameter ``scorecards``, as in ``IF points >= 6 THEN ill``; a
        :class:`Rule` may also test a scorecard of its own, which only given rules then use. Fallback rules are made
        from learnt rules alone. A warning names a rule that covers no record, and values that a rule lists but no
        record has.
    forbidden : list of column names or None, default=None
        Columns that no learnt rule and no fallback rule uses. The result is that of a table without them.
    required : list of column names or None, default=None
        Columns that every learnt rule and every fallback rule uses.
    monotone : dict of column names or None, default=None
        The direction in which numbers or dates may be used. With ``{"age": {"ill": "increasing"}}`` learnt rules and
        fallback rules of the label "ill" may contain ``age > 60`` but neither ``age <= 60`` nor ``40 < age <= 60``;
        ``"decreasing"`` is the opposite. Labels that are not named have no constraint. With two labels,
        ``{"age": "increasing"}`` applies to the second, and its opposite to the first. ``is missing`` is always
        allowed. Rules may test points only where this follows the directions of the columns of the signs.
    max_seconds : float or None, default=None
        Maximum time of a fit, in seconds; None for no limit. A search that is not finished by then ends with the best
        rules so far, a warning and ``stopped_early_``: all limits and constraints hold and all counts are right, but
        rules, fallback rules and scorecards may be missing. The time for reading the table counts, and so may use up
        all of it; it is not interrupted, and neither is a single step of the search, which takes seconds with ten
        million records. Rules then depend on the speed of the machine.
    random_state : int, Generator, RandomState or None, default=None
        Seed. The same seed gives the same rules, whatever ``n_jobs`` and the kind of table. None uses numpy's global
        random state, as in scikit-learn.
    n_jobs : int or None, default=None
        Number of threads for counting; None means 1 and -1 all. Useful from about 100,000 records.
    verbose : int, default=0
        1 shows the number of rules and their coverage during the fit, 2 writes a line for every rule.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in the units of the table, with ``rule_set_.fallbacks``; ``print(clf.rule_set_)`` shows them.
    classes_ : array of labels, sorted
    lambda_ : float
        The weight of the distances.
    objective_ : float
        Sum of qualities + ``lambda_`` * sum of distances over pairs of the chosen rules.
    history_ : list of dict
        For each rule, in order: its label, ``quality``, ``distance_gain`` to the rules before it, ``recall_gain``
        (share of its class newly covered), the ``pass`` that found it (1 or 2; 0 for given rules), the ``phase`` of
        the search (``"given"``, ``"first pass"``, ``"second pass"``, ``"splitting"``, ``"exceptions"`` or
        ``"refitting"``) and the names of the ``scorecards`` that it tests.
        ``pandas.DataFrame(clf.history_)`` shows it.
    stopped_early_ : bool
        Whether ``max_seconds`` ended the search.
    n_features_in_ : int
    feature_names_in_ : array of column names, only if X has them

    Notes
    -----
    Over the candidates seen, the chosen set has at least half of the objective of the best set of as many rules if
    ``max_overlap`` excludes none of them: with 1 always; with smaller values the greedy is a heuristic. Splits add
    rules and never lower the objective. Growth, merging, exceptions and refits may lower it, for coverage, for fewer
    rules and for a higher value of the set, but not if ``max_overlap`` is 1, or 1 for both keys.
    ``max_statements`` drops rules with any ``max_overlap``. Nothing is guaranteed for rules that were never drawn, nor
    for the accuracy on new records.

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

    _missing_overlap: ClassVar[float] = 0.01
    _internal: ClassVar[InternalSettings] = InternalSettings(learn)
    _parameter_checks: ClassVar[Mapping[str, Check]] = {
        **SHARED_CHECKS,
        "max_statements": Optional(Number(numbers.Integral, low=1, high=MAX_STATEMENTS)),
        "max_fallbacks": Number(numbers.Integral, low=0, high=MAX_RULES),
        "class_weight": ClassWeightCheck(),
        "min_evidence": Number(numbers.Real, low=0, high=1e6),
        "smoothing": Optional(Number(numbers.Real, low=0, high=1e9)),
        "negation": Flag(),
        "scorecards": ScorecardsCheck(),
        "max_signs": Number(numbers.Integral, low=1, high=100),
    }

    def __init__(
        self,
        *,
        # size of the rule set
        max_statements: int | None = None,
        max_rules: int = 40,
        max_conditions: int | None = 5,
        max_overlap: Any = 0.01,
        min_support: int = 3,
        max_fallbacks: int = 15,
        # quality of rules
        class_weight: Any = "balanced",
        min_evidence: float = 0.25,
        smoothing: float | None = 5.0,
        # possible conditions
        binning: Any = "supervised",
        negation: bool = True,
        missing_values: Any = None,
        # scorecards
        scorecards: Any = "auto",
        max_signs: int = 20,
        # prediction
        conflict: Any = "smoothed",
        default: Any = "majority",
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
        self.max_statements = max_statements
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.max_overlap = max_overlap
        self.min_support = min_support
        self.max_fallbacks = max_fallbacks
        self.class_weight = class_weight
        self.min_evidence = min_evidence
        self.smoothing = smoothing
        self.binning = binning
        self.negation = negation
        self.missing_values = missing_values
        self.scorecards = scorecards
        self.max_signs = max_signs
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

    @classmethod
    def as_in_paper(cls, **overrides: Any) -> DRSClassifier:
        """Return a :class:`DRSClassifier`: the paper's method with the settings of its experiments.

        Parameters
        ----------
        **overrides : parameters of DRSClassifier

        Examples
        --------
        >>> DiverseRuleSetClassifier.as_in_paper(random_state=0).default
        'least_covered'
        """
        return DRSClassifier(**overrides)

    def _settings(self) -> InternalSettings:
        return self._internal

    def _extensions(self) -> Extensions:
        given = given_scorecards(self.scorecards)
        n_scorecards = 1 if self.scorecards == "auto" else 0 if given else int(self.scorecards or 0)
        return Extensions(
            self.max_fallbacks,
            self.class_weight,
            self.min_evidence,
            self.smoothing,
            self.negation,
            n_scorecards,
            int(self.max_signs),
            given,
            None if self.max_statements is None else int(self.max_statements),
        )

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each record, columns as in ``classes_``.

        They are the class counts of the rule or fallback rule that decides, smoothed and weighted by class:
        ``w_k * (n_k + m * p_k)`` for class k, scaled to sum to 1. Here n_k is the number of its training records of
        class k, p_k the share of class k among all training records, m is ``smoothing`` and w_k the class weight. With
        ``class_weight="balanced"`` the probabilities are those of a table in which all classes are equally common, as
        in scikit-learn's classifiers, and the label is the class with the highest probability. For the frequencies of
        the table itself, fit with ``class_weight=None``. The probabilities of a rule that tests points follow the
        points of the record around these values; the label of the rule stays the likeliest class.
        """
        return super().predict_proba(X)
