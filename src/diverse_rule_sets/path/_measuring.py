"""The figures of a rule set on a fold, and their means over folds."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from diverse_rule_sets import metrics
from diverse_rule_sets._input.batch_labels import BatchLabels
from diverse_rule_sets._input.labels import encode_labels
from diverse_rule_sets._input.named_columns import split_columns
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.weights import Weights, weighted_records
from diverse_rule_sets._util.frames import without_columns
from diverse_rule_sets.estimators._search_classifier import SearchClassifier
from diverse_rule_sets.estimators._unwrap import Unwrapped
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.path._points import PathPoint
from diverse_rule_sets.path._scoring import Scorer, scores_of
from diverse_rule_sets.sources._selected import SelectedSource
from diverse_rule_sets.sources._source import Source, check_target
from diverse_rule_sets.sources._weights import with_weights

_SMALLEST = float(np.finfo(np.float64).eps)  # replaces 0 in logarithms, as in sklearn.metrics.log_loss
# The figures of held-out records, which have a standard deviation.
_HELD_OUT = ("balanced_accuracy", "accuracy", "auc", "log_loss")


class Fold(NamedTuple):
    """The records of a fold.

    Parameters
    ----------
    training, held_out : the records as tables, after the earlier steps of a pipeline; or as parts of a source
    X : the held-out records for scorers: as the user gave them, or as the earlier steps of a pipeline return them
    training_labels, labels : the labels of the training records, and of the held-out records
    training_weights, weights : their weights; None if they have none
    target : the column with the labels of the training records, if they are part of a source
    """

    training: Any
    held_out: Any
    X: Any
    training_labels: NDArray[Any]
    labels: NDArray[Any]
    training_weights: Weights | None = None
    weights: NDArray[Any] | None = None
    target: Any = None

    @property
    def fitted(self) -> tuple[Any, Any]:
        """The arguments X and y of a fit."""
        return self.training, self.training_labels if self.target is None else self.target

    @property
    def names(self) -> list[Any] | None:
        """The names of the columns of the training records; None if they have none."""
        if isinstance(self.training, Source):
            return [name for name in self.training.names if name != self.target]
        return self.training.names if self.training.named else None

    @property
    def n_columns(self) -> int:
        """The number of columns that rules may read."""
        return len(self.names if self.names is not None else self.training.names)


class Records:
    """The records of a path; the earlier steps of a pipeline are fitted on the training records of each fold."""

    def __init__(self, found: Unwrapped, X: Any, y: Any, sample_weight: Any = None) -> None:
        self._found = found
        names = {name for name in (y, sample_weight) if isinstance(name, str)}
        self._table: Table | None = as_table(X) if names or not found.transformers else None
        if self._table is None:
            n_records, weighted = _num_samples(X), weighted_records(sample_weight, _num_samples(X))
        else:
            split = split_columns(self._table, y, sample_weight)
            self._table, y = split.table, split.y
            n_records, weighted = self._table.n_records, split.weighted()
        records, self._weights = weighted
        X = without_columns(X, names) if names else X
        self._table = None if found.transformers else self._table
        classes, self.codes = encode_labels(y, n_records, records)
        self._labels, self.n_records = classes[self.codes], self.codes.size
        self._X = X if records is None else _safe_indexing(X, records)
        if records is not None and self._table is not None:
            self._table = self._table.select_records(records)

    def fold(self, train: NDArray[np.int64], test: NDArray[np.int64], with_raw: bool) -> Fold:
        """Return the records of a fold; the held-out records for scorers only if ``with_raw``."""
        labels: tuple[Any, ...] = self._labels[train], self._labels[test]
        if self._weights is not None:
            labels = *labels, self._weights.take(train), self._weights.take(test).values
        if self._table is not None:
            raw = _safe_indexing(self._X, test) if with_raw else None
            return Fold(self._table.take(train), self._table.take(test).with_cache(), raw, *labels)
        parts = self._found.refit(_safe_indexing(self._X, train), labels[0], _safe_indexing(self._X, test))
        return Fold(as_table(parts[0]), as_table(parts[1]).with_cache(), parts[1], *labels)


class SourceRecords:
    """The records of a path that are read in batches: only their labels and weights are in memory."""

    def __init__(self, found: Unwrapped, source: Source, y: Any, sample_weight: Any = None) -> None:
        if found.transformers:
            raise TypeError(
                f"X is read in batches ({source.name}), which the earlier steps of {found} cannot do; give a table in "
                "memory, or the classifier itself"
            )
        check_target(y, source)
        self._target = y
        weighted = with_weights(source, sample_weight, y)
        self._source, self._weights = weighted.source, weighted.weights
        labels = BatchLabels(y)
        for batch in self._source.with_labels(y).batches([y]):
            labels.add(as_table(batch.frame).native(y), batch.origin)
        classes, _, self.codes = labels.finish()
        self._labels, self.n_records = classes[self.codes], self.codes.size

    def fold(self, train: NDArray[np.int64], test: NDArray[np.int64], with_raw: bool) -> Fold:
        """Return the records of a fold, as parts of the source; its records are in the order of the source."""
        train, test = np.sort(train), np.sort(test)
        held_out = self._part(test)
        weights: tuple[Any, Any] = (None, None)
        if self._weights is not None:
            weights = self._weights.take(train), self._weights.take(test).values
        labels = self._labels[train], self._labels[test]
        return Fold(self._part(train), held_out, held_out, *labels, *weights, self._target)

    def _part(self, records: NDArray[np.int64]) -> SelectedSource:
        flags = np.zeros(self.n_records, np.bool_)
        flags[records] = True
        return SelectedSource(self._source, (), flags)


def fitted_with(clf: SearchClassifier, rule_set: RuleSet, fold: Fold) -> SearchClassifier:
    """Return a copy of a classifier that predicts with a rule set, as if it was fitted on the training records."""
    classes, n_columns = np.unique(fold.training_labels), fold.n_columns
    fitted: SearchClassifier = clone(clf)
    if fold.names is not None:
        fitted.feature_names_in_ = np.empty(n_columns, object)
        fitted.feature_names_in_[:] = fold.names
    fitted.__dict__.update(rule_set_=rule_set, classes_=classes, n_features_in_=n_columns)
    return fitted


def measure(
    clf: SearchClassifier, rule_set: RuleSet, fold: Fold, training: Any, scorers: Mapping[str, Scorer]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the scores of a rule set on a fold, and its other figures; NaN for what cannot be computed.

    Parameters
    ----------
    clf : the classifier with the parameters of the rule set
    rule_set : the rules
    fold : the records
    training : the training records with a cache of columns
    scorers : the scorers by name
    """
    fitted = fitted_with(clf, rule_set, fold)
    figures = _held_out_figures(fitted, fold)
    overlap, coverage = metrics._shares(rule_set, training, fold.training_weights)
    figures |= {name: float(n) for name, n in metrics.size(rule_set)._asdict().items()}
    figures |= {"overlap": overlap, "uncovered": 1.0 - coverage}
    return scores_of(scorers, fitted, fold.X, fold.labels, figures["balanced_accuracy"], fold.weights), figures


def _held_out_figures(fitted: SearchClassifier, fold: Fold) -> dict[str, float]:
    from sklearn.metrics import balanced_accuracy_score  # slow to import, and needed only here

    labels, weights = fold.labels, fold.weights
    predicted, probabilities = fitted._labels_and_probabilities(fold.held_out)
    known = bool(np.isin(labels, fitted.classes_).all())
    with warnings.catch_warnings():  # labels that are predicted but not held out
        warnings.simplefilter("ignore")
        balanced = float(balanced_accuracy_score(labels, predicted, sample_weight=weights))
    return {
        "balanced_accuracy": balanced,
        "accuracy": float(np.average(labels == predicted, weights=weights)),
        "auc": _auc(labels, probabilities, fitted.classes_, weights) if known else math.nan,
        "log_loss": _log_loss(labels, probabilities, fitted.classes_, weights) if known else math.nan,
    }


def _auc(
    labels: NDArray[Any], probabilities: NDArray[np.float64], classes: NDArray[Any], weights: NDArray[Any] | None
) -> float:
    """Return the area under the ROC curve; NaN unless there are two classes and all of them are held out."""
    from sklearn.metrics import roc_auc_score

    codes = np.searchsorted(classes, labels)
    if classes.size < 2 or np.unique(codes).size < classes.size:
        return math.nan
    if classes.size == 2:
        return float(roc_auc_score(codes, probabilities[:, 1], sample_weight=weights))
    if weights is not None:  # which scikit-learn does not take for pairs of classes
        return _auc_of_pairs(codes, probabilities, weights)
    return float(roc_auc_score(codes, probabilities, multi_class="ovo", average="macro"))


def _auc_of_pairs(codes: NDArray[np.int64], probabilities: NDArray[np.float64], weights: NDArray[Any]) -> float:
    """Return the mean area under the ROC curve over pairs of classes, each with the probabilities of both classes."""
    from sklearn.metrics import roc_auc_score

    areas = []
    for pair in itertools.combinations(range(probabilities.shape[1]), 2):
        some = np.isin(codes, pair)
        areas += [roc_auc_score(codes[some] == k, probabilities[some, k], sample_weight=weights[some]) for k in pair]
    return float(np.mean(areas))


def _log_loss(
    labels: NDArray[Any], probabilities: NDArray[np.float64], classes: NDArray[Any], weights: NDArray[Any] | None
) -> float:
    """Return the mean of the negative logarithm of the probability of the label."""
    of_label = probabilities[np.arange(labels.size), np.searchsorted(classes, labels)]
    return float(np.average(-np.log(np.maximum(of_label, _SMALLEST)), weights=weights))


def point(key: tuple[Any, ...], folds: Sequence[tuple[dict[str, float], dict[str, float]]]) -> PathPoint:
    """Return a point from the values of its parameters and the scores and figures of each fold."""
    scores = {name: [fold[0][name] for fold in folds] for name in folds[0][0]}
    figures = {name: [fold[1][name] for fold in folds] for name in folds[0][1]}
    fields: dict[str, Any] = {name: _mean(values) for name, values in figures.items()}
    fields |= {f"{name}_sd": _spread(figures[name]) for name in _HELD_OUT}
    fields["scores"] = {name: _mean(values) for name, values in scores.items()}
    fields["scores_sd"] = {name: _spread(values) for name, values in scores.items()}
    return PathPoint(*key, **fields)


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _spread(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.std(known)) if known else math.nan
