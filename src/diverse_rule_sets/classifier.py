"""The scikit-learn classifier: the door, and the order in which the rooms are walked through."""

from __future__ import annotations

import importlib
import numbers
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from diverse_rule_sets._bitset import Words
from diverse_rule_sets._checks import check_choice, check_number, generator
from diverse_rule_sets._labels import encode_labels
from diverse_rule_sets._progress import Progress
from diverse_rule_sets._tables import Table, as_table, plain
from diverse_rule_sets.backends import LocalBackend
from diverse_rule_sets.encoding import Encoding, encode
from diverse_rule_sets.rules import Rule, RuleSet, firing_groups
from diverse_rule_sets.samplers import MEASURES, RejectionSampler
from diverse_rule_sets.search import LAMBDA_MODES, Found, Settings, search

BINNINGS = ("uniform", "quantile")
CONFLICTS = ("precision", "smoothed", "vote")
DEFAULTS = ("least_covered", "majority")
# The paper's configuration; the length of bodies is free (length odds of 1).
PAPER = {
    "max_rules": 100,
    "diversity": "strict",
    "n_candidates": 500,
    "min_recall_gain": 0.01,
    "measure": "pairs",
    "second_pass": True,
    "binning": "uniform",
    "n_bins": 5,
    "conflict": "precision",
    "default": "least_covered",
}


class DiverseRuleSetClassifier(ClassifierMixin, BaseEstimator):
    """A small set of short if-then rules that hardly overlap.

    Learns rules by sampling, as in "Diverse Rule Sets" (Zhang and Gionis, KDD 2020): candidates are drawn at
    random with chances that favour accurate rules on records that no rule covers yet, and chosen greedily to
    make the sum of their qualities plus ``lambda`` times the sum of their Jaccard distances large.

    Takes numpy arrays, pandas and polars tables with numbers, booleans, strings, categories, dates and missing
    values, under any column names. The rules speak in the units of the table.

    Parameters
    ----------
    max_rules : int, default=100
        The most rules to choose. Fewer make a shorter page that leaves more records to the default.
    diversity : {"strict", "permissive", "none"} or float, default="strict"
        How much it counts that rules cover different records: the weight lambda is the largest (strict) or the
        mean (permissive) quality of rules sampled from the whole table, or zero (none), or the number given.
    n_candidates : int, default=500
        Candidates drawn per class for each rule. More give slightly better rules and take longer.
    min_recall_gain : float, default=0.01
        A class gets no further rule once the best one would newly cover at most this share of its records.
        Larger values give fewer rules.
    measure : {"pairs", "triples"}, default="pairs"
        The chances of the candidates, Eq. 8 or Eq. 7 of the paper; see :func:`diverse_rule_sets.sample_rules`.
    second_pass : bool, default=True
        Choose once more among all candidates seen, and keep the better of the two sets. The candidates are kept
        for that: with a hundred classes they may take a gigabyte.
    binning : {"uniform", "quantile"} or dict, default="uniform"
        How numbers and dates are cut into intervals: of equal width, or with about equally many records each. A
        dict gives for some columns one of these words or the edges themselves, as in ``{"age": [25, 60]}``; the others
        are cut uniformly. Strings and categories are taken value by value, and a missing value is a value of its own.
    n_bins : int, default=5
        Intervals per column, where the edges are not given.
    conflict : {"smoothed", "precision", "vote"} or callable, default="smoothed"
        Which rule speaks when several cover a record: the one with the highest precision, plain or smoothed (which
        trusts rules of few records less), or the best one of the label that wins a vote weighted by smoothed precision.
        A callable is given the tuple of covering rules and returns one of them.
    default : {"majority", "least_covered"} or label, default="majority"
        The label of records that no rule covers: the commonest among the uncovered training records, or the class of
        which rules of its own cover the smallest share, or a label of your own. (The two words are never read
        as labels.)
    random_state : int, Generator, RandomState or None, default=None
        Seed. The same seed gives the same rules, whatever ``n_jobs`` and the kind of table.
    n_jobs : int or None, default=None
        Threads that share the counting; None means 1 and -1 all. Worth it from about 100,000 records.
    verbose : int, default=0
        1 shows how many rules there are and what they cover while fitting, 2 says so for every rule.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in raw units. ``print(clf.rule_set_)`` is a page to read.
    classes_ : array of labels, sorted
    lambda_ : float
        The weight of the distances that was used.
    objective_ : float
        Sum of qualities + ``lambda_`` * sum of distances over pairs of the chosen rules.
    history_ : list of dict
        For each rule, in order: its label, ``quality``, ``distance_gain`` to the rules before it,
        ``recall_gain`` (share of its class newly covered), and the ``pass`` that won (1 or 2).
        ``pandas.DataFrame(clf.history_)`` shows it.
    n_features_in_ : int
    feature_names_in_ : array of column names, only where X had them

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
        max_rules: int = 100,
        diversity: str | float = "strict",
        n_candidates: int = 500,
        min_recall_gain: float = 0.01,
        measure: str = "pairs",
        second_pass: bool = True,
        binning: Any = "uniform",
        n_bins: int = 5,
        conflict: Any = "smoothed",
        default: Any = "majority",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.diversity = diversity
        self.n_candidates = n_candidates
        self.min_recall_gain = min_recall_gain
        self.measure = measure
        self.second_pass = second_pass
        self.binning = binning
        self.n_bins = n_bins
        self.conflict = conflict
        self.default = default
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(self, X: Any, y: Any) -> DiverseRuleSetClassifier:
        """Learn a rule set.

        Parameters
        ----------
        X : table (n_records, n_columns): array, nested list, pandas, polars or Arrow table
        y : vector of labels of any kind, without missing ones

        Returns
        -------
        self. If the fit fails or is interrupted, the estimator is as it was before.
        """
        self._check_parameters()
        table = as_table(X)
        classes, codes = encode_labels(y, table.n_records)
        self._check_default([plain(label) for label in classes])
        fitted = self._learn(table, classes, codes)
        self.__dict__.pop("feature_names_in_", None)
        if table.named:
            self.feature_names_in_ = np.empty(len(table.names), object)
            self.feature_names_in_[:] = table.names
        self.__dict__.update(fitted, classes_=classes, n_features_in_=len(table.names))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return each record's label: that of the rule that speaks, or the default."""
        table = self._table(X)
        return np.asarray(self.classes_[self.rule_set_.answers(table)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return each record's class probabilities, columns as in ``classes_``.

        They are the smoothed class counts of the rule that speaks, ``(n_k + c * p_k) / (n + c)``: of the n training
        records under it n_k are of class k, of all training records a share p_k, and c is the number of classes.
        For uncovered records the uncovered training records are counted. A rule's label is the class it was found
        for; where that class is rare, another class may well have the higher probability. The same holds of
        the default label unless it is ``"majority"``: the paper's ``"least_covered"`` is often not the likeliest.
        """
        table = self._table(X)
        return self.rule_set_.predict_proba(table)

    def explain(self, X: Any) -> Any:
        """Tell for each record why it gets its label.

        Returns
        -------
        frame with one row per record: ``label``; ``rule``, the number (from 1, as printed) of the rule that
        spoke, missing if none did; ``fired``, the numbers of all rules that cover the record;
        ``contradiction``, whether those rules name different labels; ``reason``, in words. It is of the same
        library as X (and has its index), pandas or else polars for arrays.
        """
        table = self._table(X)
        rules = self.rule_set_.rules
        fired = self.rule_set_.fires(table)
        speakers = self.rule_set_.speakers(fired)
        reasons = [*map(str, rules), f"no rule covers it: {self.rule_set_.default}"]
        groups, which = firing_groups(fired)
        numbered = [(group + 1).tolist() for group in groups]
        contradicts = np.array([len({rules[j].label for j in group}) > 1 for group in groups], np.bool_)
        columns = {
            "label": self.classes_[self.rule_set_.said_by(speakers)].tolist(),
            "rule": [None if j < 0 else j + 1 for j in speakers.tolist()],
            "fired": [numbered[k].copy() for k in which.tolist()],
            "contradiction": contradicts[which].tolist(),
            "reason": [reasons[j] for j in speakers.tolist()],
        }
        return _frame_like(X, columns)

    def _check_parameters(self) -> None:
        """Refuse bad parameters by name, before anything is computed."""
        check_number("max_rules", self.max_rules, numbers.Integral, low=0)
        check_number("n_candidates", self.n_candidates, numbers.Integral, low=1)
        check_number("n_bins", self.n_bins, numbers.Integral, low=2, high=1000)
        check_number("min_recall_gain", self.min_recall_gain, numbers.Real, low=0, high=1)
        check_number(
            "verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, numbers.Integral, low=0
        )
        check_choice("measure", self.measure, MEASURES)
        if isinstance(self.diversity, str):
            check_choice("diversity", self.diversity, LAMBDA_MODES, ", or a number")
        else:
            check_number("diversity", self.diversity, numbers.Real, low=0, high=1e9)
        if not isinstance(self.second_pass, bool | np.bool_):
            raise TypeError(f"second_pass must be True or False, got {self.second_pass!r}")
        if isinstance(self.binning, Mapping):
            for name, how in self.binning.items():
                if not isinstance(how, list | tuple | np.ndarray):
                    check_choice(f"binning[{name!r}]", how, BINNINGS, ", or a list of edges")
        else:
            check_choice("binning", self.binning, BINNINGS, ", or a dict of columns")
        if not callable(self.conflict):
            check_choice("conflict", self.conflict, CONFLICTS, ", or a function of the covering rules")
        if self.n_jobs is not None:
            check_number("n_jobs", self.n_jobs, numbers.Integral)
            if self.n_jobs == 0:
                raise ValueError("n_jobs must not be 0; give a number of threads, -1 for all, or None")

    def _check_default(self, labels: list[Any]) -> None:
        """Refuse a default that is no label."""
        is_word = isinstance(self.default, str) and self.default in DEFAULTS
        if not is_word and (np.ndim(self.default) > 0 or plain(self.default) not in labels):
            words = " or ".join(repr(word) for word in DEFAULTS)
            raise ValueError(f"default must be {words} or one of the labels {labels}, got {self.default!r}")

    def _learn(self, table: Table, classes: NDArray[Any], codes: NDArray[np.int64]) -> dict[str, Any]:
        """Walk through the rooms; returns the fitted attributes."""
        rng = generator(self.random_state)
        progress = Progress(int(self.verbose))
        encoding = encode(table, self.binning, self.n_bins)
        backend = LocalBackend(encoding.rows, codes, classes.size, effective_n_jobs(self.n_jobs))
        sampler = RejectionSampler(backend, self.measure)
        settings = Settings(
            n_candidates=int(self.n_candidates),
            max_rules=int(self.max_rules) if classes.size > 1 else 0,
            min_recall_gain=float(self.min_recall_gain),
            diversity=self.diversity,
            second_pass=bool(self.second_pass),
        )

        def report(stage: str, n_rules: int, covered: Words) -> None:
            if self.verbose:
                progress.report(stage, n_rules, backend.class_counts(covered).sum() / table.n_records)

        found = search(backend, sampler, settings, rng, report)
        rule_set = self._rule_set(found, encoding, backend, classes)
        coverage = 1 - sum(rule_set.uncovered_counts) / table.n_records
        progress.close(f"{len(rule_set)} rules cover {coverage:.1%} of the records")
        return {
            "rule_set_": rule_set,
            "lambda_": found.lambda_,
            "objective_": found.objective,
            "history_": _history(found, rule_set),
        }

    def _rule_set(self, found: Found, encoding: Encoding, backend: LocalBackend, classes: NDArray[Any]) -> RuleSet:
        """Translate the rules that were found from items to raw units, once."""
        labels = [plain(label) for label in classes]
        rules = tuple(
            Rule(
                tuple(encoding.conditions[item] for item in step.body),
                labels[step.label],
                tuple(zip(labels, step.class_counts.tolist(), strict=True)),
            )
            for step in found.steps
        )
        totals = backend.class_totals
        uncovered = totals - backend.class_counts(found.covered)
        return RuleSet(
            rules,
            tuple(labels),
            self._default_label(found, backend, uncovered, labels),
            tuple(totals.tolist()),
            tuple(uncovered.tolist()),
            self.conflict,
        )

    def _default_label(
        self, found: Found, backend: LocalBackend, uncovered: NDArray[np.int64], labels: list[Any]
    ) -> Any:
        if isinstance(self.default, str) and self.default == "majority":
            counts = uncovered if uncovered.any() else backend.class_totals
            return labels[int(np.argmax(counts))]
        if isinstance(self.default, str) and self.default == "least_covered":
            return labels[int(np.argmin(_own_recall(found, backend)))]
        return labels[labels.index(plain(self.default))]

    def _table(self, X: Any) -> Table:
        """Check a table to predict: columns by name, or by position where one of the two tables has no names."""
        check_is_fitted(self)
        table = as_table(X)
        names = getattr(self, "feature_names_in_", None)
        if table.named and names is not None:
            return table
        if len(table.names) != self.n_features_in_:
            raise ValueError(
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if table.named:
            warnings.warn(
                f"X has feature names, but {type(self).__name__} was fitted without feature names",
                UserWarning,
                stacklevel=3,
            )
        elif names is not None:
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names",
                UserWarning,
                stacklevel=3,
            )
        return table.renamed([f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names))


def _own_recall(found: Found, backend: LocalBackend) -> NDArray[np.float64]:
    """Share of each class that rules of its own label cover."""
    own = np.zeros(backend.n_classes)
    for label in range(backend.n_classes):
        cover = backend.nothing
        for step in found.steps:
            if step.label == label:
                cover = cover | backend.cover(np.array(step.body, np.int32))
        own[label] = backend.class_counts(cover)[label]
    return np.asarray(own / backend.class_totals)


def _history(found: Found, rule_set: RuleSet) -> list[dict[str, Any]]:
    """Return what each chosen rule added, one dict a rule."""
    return [
        {
            "label": rule.label,
            "quality": step.quality,
            "distance_gain": step.distance_gain,
            "recall_gain": step.recall_gain,
            "pass": found.pass_,
        }
        for step, rule in zip(found.steps, rule_set, strict=True)
    ]


def _frame_like(X: Any, columns: dict[str, list[Any]]) -> Any:
    """Return a frame of the library of X; pandas or else polars where X is an array."""
    module = _frame_library(X)
    if module.__name__ == "polars":
        return module.DataFrame(columns, schema_overrides={"rule": module.Int64, "fired": module.List(module.Int64)})
    if module.__name__ == "pyarrow":
        return module.table(columns)
    frame = module.DataFrame(columns, index=getattr(X, "index", None) if hasattr(X, "iloc") else None)
    return frame.astype({"rule": "Int64"})


def _frame_library(X: Any) -> Any:
    """Return the module that makes frames like X."""
    import narwhals as nw

    if isinstance(nw.from_native(X, pass_through=True), nw.DataFrame):
        library = nw.get_native_namespace(X)
        if library.__name__ in ("pandas", "polars", "pyarrow"):
            return library
    for name in ("pandas", "polars"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ImportError("explain returns a data frame; install pandas or polars")
