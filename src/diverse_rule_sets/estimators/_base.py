"""The base class of all classifiers of this package: input validation, fit, predictions, explanations."""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from diverse_rule_sets._input.checks import Check, check_choice, warn
from diverse_rule_sets._input.labels import comparable_labels
from diverse_rule_sets._input.named_columns import split_columns
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.values import plain
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets._util.frames import join_frames
from diverse_rule_sets._util.names import similar_names
from diverse_rule_sets._util.pickles import pickled_state, restored_state
from diverse_rule_sets._util.progress import DONE, OnProgress, Progress, listeners
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.data._bit_file import encode
from diverse_rule_sets.data._cluster import ClusterTable
from diverse_rule_sets.data._copies import n_copies
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._dask import is_dask_frame
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.data._given import NO_CONDITIONS, GivenConditions
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._possible_conditions import CutOptions
from diverse_rule_sets.data._weighted import WeightedBackend
from diverse_rule_sets.estimators._dask_frames import (
    accuracy_of_partitions,
    lazy_explanations,
    lazy_labels,
    lazy_probabilities,
)
from diverse_rule_sets.estimators._reading import Training, read_training
from diverse_rule_sets.estimators._translation import Items
from diverse_rule_sets.learn._deadline import NO_DEADLINE, Deadline
from diverse_rule_sets.model._answers import Answers
from diverse_rule_sets.model._batches import answer_batch, batches_for, joined
from diverse_rule_sets.model._checks import shown
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._text import as_frame
from diverse_rule_sets.sources._as_source import as_source
from diverse_rule_sets.sources._source import Batch, Source, check_target
from diverse_rule_sets.sources._weights import with_weights

BINNINGS = ("supervised", "uniform", "quantile")


@dataclass(frozen=True)
class Binning(Check):
    """The name of a binning, or a dict from columns to such a name or to a list of edges."""

    def __call__(self, name: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            check_choice(name, value, BINNINGS, ", or a dict of columns")
            return
        for column, how in value.items():
            if not isinstance(how, list | tuple | np.ndarray):
                check_choice(f"{name}[{column!r}]", how, BINNINGS, ", or a list of edges")


class RuleSetEstimator(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A scikit-learn classifier whose fitted state is a :class:`RuleSet`.

    A subclass has parameters, a table of checks for them, and the method ``_learn``. The parameters ``binning``,
    ``missing_values``, ``n_jobs`` and ``verbose`` have the same meaning in all subclasses.
    """

    rule_set_: RuleSet
    classes_: NDArray[Any]
    n_features_in_: int

    # The check of each parameter.
    _parameter_checks: ClassVar[Mapping[str, Check]]
    # Makes a backend from the encoded records; every backend gives the same rules.
    _make_backend: ClassVar[Callable[..., Backend]] = LocalBackend
    _make_weighted_backend: ClassVar[Callable[..., Backend]] = WeightedBackend.of

    def _check_parameters(self) -> None:
        """Raise an error that names an invalid parameter, before anything is computed."""
        for name, check in self._parameter_checks.items():
            check(name, getattr(self, name))

    def _check_labels(self, labels: list[Any]) -> None:
        """Raise an error if a parameter does not fit the labels."""

    def _deadline(self) -> Deadline:
        """Return when the search of a fit that begins now ends."""
        return NO_DEADLINE

    @abstractmethod
    def _learn(
        self, training: Training, labels: list[Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> dict[str, Any]:
        """Return the fitted attributes, ``rule_set_`` among them."""

    def _encode(
        self,
        table: Table,
        codes: NDArray[np.int64],
        class_weights: NDArray[np.float64],
        options: CutOptions,
        given: GivenConditions = NO_CONDITIONS,
        weights: Weights | None = None,
    ) -> Items:
        """Return the records as items, and the bits of given conditions."""
        encoder = Encoder(options, given, effective_n_jobs(self.n_jobs))
        if isinstance(table, ClusterTable):
            encoder.fit(table, Target(codes, class_weights))
            return Items(encoder, table.backend(encoder, effective_n_jobs(self.n_jobs)))
        target = Target(codes, class_weights, None if weights is None else weights.values)
        encoded = encode(encoder, table, target, n_copies(weights))
        records = encoded.rows, codes, class_weights.size, effective_n_jobs(self.n_jobs), encoded.given
        if weights is None:
            return Items(encoder, type(self)._make_backend(*records))
        return Items(encoder, type(self)._make_weighted_backend(*records, weights=weights))

    def __getstate__(self) -> dict[str, Any]:
        return pickled_state(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(restored_state(state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        on_progress: OnProgress | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        client: Any = None,
    ) -> Self:
        """Learn a rule set.

        Parameters
        ----------
        X : table (n_records, n_columns): array, nested list, pandas, polars or Arrow table; or a table that is read in
            batches and need not fit into memory: the path of a file (Parquet, Arrow, CSV, TSV, also compressed by gzip)
            or of a folder of such files, a list of paths, a pyarrow Dataset, a LazyFrame of polars, a relation of
            DuckDB, or an iterable of data frames that can be read several times. The rules are the same
        y : vector of labels (strings, numbers or booleans), none missing; or the name of the column of X with the
            labels, which a table that is read in batches needs
        sample_weight : vector of weights, one per record, finite and at least 0; or the name of the column of X with
            the weights, which is then no column for rules; None: each record counts once. A table that is read in
            batches needs the name of a column.
            *Whole numbers* up to 2**31 - 1 are counts: the rules are exactly those of the table in which each record
            is repeated as often as its weight says. *Other weights* are scaled so that they sum to the number of
            records of positive weight, and rounded to multiples of 2**-10, to at least one of them: what is counted
            differs from the scaled weight by less than 2**-10, and by at most 2**-11 if the scaled weight is at least
            that. A record of weight 0 is left out, and so is a label that has no other records. What is drawn at random
            depends on the order of the records, with and without weights
        on_progress : function that is called with a :class:`diverse_rule_sets.Progress` during the fit
        client : a ``distributed.Client``, to fit on the workers of a Dask cluster: X is a Dask DataFrame (y is then the
            name of a column, or a Dask Series with the same partitions), paths that all workers can read, or a pyarrow
            Dataset. By default the current client, if there is one. The rules are the same
        cache_dir : an existing folder for the bits of a table that is read in batches, which are used again by a fit on
            the same, unchanged files with the same conditions; by default they are in a temporary file

        Returns
        -------
        self. If the fit fails or is interrupted, the estimator is unchanged, and temporary files are removed.

        Notes
        -----
        A table that is read in batches is read twice: for the types, values and labels of its columns, and for the bits
        of the conditions, 1 bit for each record and condition. These are kept in the folder for temporary files
        (``TMPDIR``) during the fit. A column of weights is read before; the bits of weighted records take as much space
        again for each digit of a weight in the non-adjacent form, about a third of its binary digits. The values of a
        column are counted exactly up to 262,144 pairs of a value and a class (fewer in tables of more than 32 columns).
        With more, neighbouring values are counted together, such that at most 1 in 1,024 of the records lie between two
        possible cut points (with up to 128 classes; 8 in tables of more than 512 columns). Of columns with more than
        131,072 categories, the most frequent ones are counted. The same holds for tables in memory.
        """
        self._check_parameters()
        if on_progress is not None and not callable(on_progress):
            raise TypeError(f"on_progress must be a function of a Progress, or None, got {on_progress!r}")
        listener, deadline = listeners(int(self.verbose), on_progress), self._deadline()
        training = read_training(X, y, self.missing_values, listener, cache_dir, sample_weight, client)
        table, classes = training.table, training.classes
        labels = [plain(label) for label in classes]
        self._check_labels(labels)
        fitted = self._learn(training, labels, listener, deadline)
        known = {"target": training.target, "similar_columns": similar_names(table.names)}
        rule_set = fitted["rule_set_"] = replace(fitted["rule_set_"], **known)
        if listener is not None:
            coverage = 1 - sum(rule_set.uncovered_counts) / sum(rule_set.class_totals)
            listener(Progress(DONE, len(rule_set), coverage))
        self.__dict__.pop("_traffic", None)
        if isinstance(table, ClusterTable):
            self._traffic = table.tasks.traffic
        self.__dict__.pop("feature_names_in_", None)
        if table.named:
            self.feature_names_in_ = np.empty(len(table.names), object)
            self.feature_names_in_[:] = table.names
        self.__dict__.update(fitted, rule_set_=rule_set, classes_=classes, n_features_in_=len(table.names))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each record: of the deciding rule or fallback rule, or else the default label.

        X may be any table that :meth:`fit` accepts; what is read in batches is predicted in batches. For a Dask
        DataFrame, the labels are a lazy Dask Series with its index.
        """
        if is_dask_frame(X):
            return lazy_labels(self, X)
        return joined(self._labels_of(answers) for answers in self._all_answers(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class probabilities of each record, columns as in ``classes_``.

        They are the class shares of the training records that the deciding rule covers, smoothed with the shares of
        the whole table. If the class counts of rules are added up, they are the shares of all covering rules together.
        The label of a rule need not be its likeliest class. For a Dask DataFrame, they are a lazy Dask DataFrame.
        """
        if is_dask_frame(X):
            return lazy_probabilities(self, X)
        return joined(self._probabilities_of(answers) for answers in self._all_answers(X))

    def _labels_and_probabilities(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return :meth:`predict` and :meth:`predict_proba`, from one pass over the table."""
        parts = [(self._labels_of(one), self._probabilities_of(one)) for one in self._all_answers(X)]
        return joined(labels for labels, _ in parts), joined(shares for _, shares in parts)

    def _labels_of(self, answers: Answers) -> NDArray[Any]:
        """Return the labels of some records."""
        return np.asarray(self.classes_[self._class_positions()[answers.labels]])

    def _probabilities_of(self, answers: Answers) -> NDArray[np.float64]:
        """Return the class probabilities of some records, columns as in ``classes_``."""
        return np.take(answers.probabilities, np.argsort(self._class_positions()), axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of records whose predicted label is that of y, or of the column y of X.

        With ``sample_weight``, a vector or the name of a column of X, the share of their weight.
        """
        if is_dask_frame(X):
            return accuracy_of_partitions(self, X, y, sample_weight)
        source = as_source(X)
        if source is not None:
            return accuracy_in_batches(self, source, y, sample_weight)
        split = split_columns(as_table(X), y, sample_weight)
        return float(super().score(split.table, comparable_labels(split.y), split.numbers()))

    def explain(self, X: Any) -> Any:
        """Return the reason for the label of each record, as a data frame.

        Returns
        -------
        frame with one row per record: ``label``; ``rule``, the number (from 1, as printed) of the rule or fallback rule
        that decides, which ``rule_set_.statement`` returns; missing if none does (if class counts are added up, also if
        no covering rule has the winning label); ``covering``, the numbers of all rules that cover the record;
        ``agreement``, whether two or more of these rules have the same label; ``contradiction``, whether some have
        different labels; ``reason``, a sentence, which names the points of the record if the deciding rule tests
        points, and the other covering rules that agree with the deciding rule or contradict it. The frame is of the
        same library as X (and has its index); for arrays it is pandas, or else polars; for a Dask DataFrame it is lazy.
        """
        if is_dask_frame(X):
            return lazy_explanations(self, X)
        source = as_source(X)
        if source is None:
            return as_frame(X, self._explained(self._answer(X)))
        parts: list[Any] = []
        for batch in self._batches(source):
            like = batch.frame if not parts or type(parts[0]) is type(batch.frame) else parts[0]
            parts.append(as_frame(like, self._explained(answer_batch(batch, self._answer))))
        return join_frames(parts)

    def _explained(self, answers: Answers) -> dict[str, list[Any]]:
        """Return the columns of :meth:`explain`."""
        covering = answers.covering_rules()
        return {
            "label": self._labels_of(answers).tolist(),
            "rule": [None if j < 0 else j + 1 for j in answers.deciding.tolist()],
            "covering": covering.numbers,
            "agreement": covering.agreement,
            "contradiction": covering.contradiction,
            "reason": answers.reasons(),
        }

    def why(self, X: Any, *, label: Any = None) -> Any:
        """Explain the label of a record, and which changes would give another label; see :meth:`RuleSet.why`."""
        check_is_fitted(self)
        as_given = isinstance(X, Mapping | str) or getattr(X, "ndim", 0) == 1 or as_source(X) is not None
        return self.rule_set_.why(X if as_given else self._table(X), label=label)

    def _all_answers(self, X: Any) -> Iterator[Answers]:
        """Iterate over the results of a table: one, or one for each batch."""
        source = as_source(X)
        if source is None:
            yield self._answer(X)
            return
        for batch in self._batches(source):
            yield answer_batch(batch, self._answer)

    def _batches(self, source: Source, also: Sequence[Hashable] = ()) -> Iterator[Batch]:
        """Iterate over the records of a source."""
        check_is_fitted(self)
        return batches_for(self.rule_set_, source, also, every=not hasattr(self, "feature_names_in_"))

    def _answer(self, X: Any) -> Answers:
        """Check a table to predict, and return labels, deciding rules and probabilities from one pass over it."""
        table = self._table(X)
        if not isinstance(self.rule_set_, RuleSet):
            raise TypeError(f"rule_set_ must be a RuleSet, got {shown(self.rule_set_)}")
        return self.rule_set_.answer(table)

    def _class_positions(self) -> NDArray[np.int64]:
        """Return the position in ``classes_`` of each class of the rule set; its classes may have another order."""
        position = {plain(label): k for k, label in enumerate(self.classes_)}
        classes = self.rule_set_.classes
        if len(classes) != len(position) or not all(label in position for label in classes):
            raise ValueError(
                f"rule_set_ has the classes {shown(list(classes))}, expected those of classes_ in any order: "
                f"{shown(list(position))}; a rule set with other classes predicts with rule_set_.predict"
            )
        return np.array([position[label] for label in classes], np.int64)

    def _table(self, X: Any) -> Table:
        """Check a table to predict: columns by name, or by position if one of the two tables has no names."""
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
            warn(f"X has feature names, but {type(self).__name__} was fitted without feature names")
        elif names is not None:
            warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names")
        return table.rename([f"x{j}" for j in range(self.n_features_in_)] if names is None else list(names))


def accuracy_in_batches(clf: RuleSetEstimator, source: Source, y: Any, sample_weight: Any = None) -> float:
    """Return the share of records, or of their weight, whose predicted label is that of the column y of a source."""
    check_target(y, source)
    weights = with_weights(source, sample_weight, y).values
    flags: list[NDArray[np.bool_]] = []
    for batch in clf._batches(source.with_labels(y), [y]):
        labels, predicted = (
            comparable_labels(as_table(batch.frame).native(y)),
            clf._labels_of(answer_batch(batch, clf._answer)),
        )
        accuracy_score(labels, predicted)  # raises the errors of scikit-learn
        flags.append(np.asarray(labels) == predicted)
    right = joined(flags)
    return float(np.average(right, weights=weights))
