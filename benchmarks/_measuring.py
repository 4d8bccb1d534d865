"""One split of a table, and the figures of a model on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from _tables import Table
from _trees import Trees
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from diverse_rule_sets import RuleSet, metrics
from diverse_rule_sets.learn._learner import Budget

Figures = dict[str, Any]
SIZES = metrics.Size._fields
QUALITY = ("bacc", "acc", "auc", "log loss", "brier")
FIGURES = (*QUALITY, *SIZES, "overlap", "uncovered", "seconds")
# Bins of probabilities, of equal width.
N_BINS = 10


class Fitted(NamedTuple):
    """A fitted rival.

    Parameters
    ----------
    model : has ``predict`` (positions of labels) and ``predict_proba``, of records as numbers
    seconds : time of the fit
    size : what is known of its size, by the names of :class:`diverse_rule_sets.metrics.Size`; and ``stopped``, 1 if its
        search ended at a limit of time, so that another run may find another model
    missing : whether the model reads NaN for missing numbers
    """

    model: Any
    seconds: float
    size: dict[str, int]
    missing: bool = False


@dataclass
class Split:
    """A random stratified split of a table, four fifths for training.

    Parameters
    ----------
    table : the table
    seed : the number of the split, which is the random_state of the split and of all models
    kept : models that several rows need, by any key
    """

    table: Table
    seed: int
    kept: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The positions of training and test records."""
        everything = np.arange(len(self.table.y))
        train, test = train_test_split(everything, test_size=0.2, stratify=self.table.y, random_state=self.seed)
        return train, test

    @property
    def train_codes(self) -> np.ndarray:
        """The positions of the labels of the training records."""
        return self.table.codes[self.parts[0]]

    def numbers(self, *, missing: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return training and test records as numbers, with NaN for missing ones or with a low number instead."""
        values = self.table.numbers.values if missing else self.table.numbers.filled
        return values[self.parts[0]], values[self.parts[1]]

    @cached_property
    def trees(self) -> Trees:
        """Trees on the training records."""
        return Trees(self.numbers()[0], self.train_codes, self.table.numbers.column, self.seed)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what ``make`` returned when it was first called for this key."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def measure(self, clf: Any) -> Figures:
        """Fit a classifier of this package and return its figures."""
        train = self.parts[0]
        _, seconds = timed(lambda: clf.fit(self.table.X.iloc[train], self.table.y[train]))
        return self.measure_rules(clf.rule_set_, seconds)

    def measure_rules(self, rule_set: RuleSet, seconds: float) -> Figures:
        """Return the figures of a rule set that took so many seconds."""
        (train, test), X, y = self.parts, self.table.X, self.table.y
        inside, outside = X.iloc[train], X.iloc[test]
        answers = y[test], rule_set.predict(outside), rule_set.predict_proba(outside), np.array(rule_set.classes)
        shares = np.array(rule_set.class_totals, float)
        if rule_set.class_weights is not None:
            shares *= rule_set.class_weights
        return {
            **quality(*answers),
            **calibration(*answers, shares),
            **metrics.size(rule_set)._asdict(),
            "overlap": metrics.overlap_share(rule_set, inside),
            "uncovered": 1 - metrics.coverage(rule_set, inside),
            "seconds": seconds,
        }

    def measure_statements(self, clf: Any, limits: Sequence[int]) -> list[tuple[float, Figures]]:
        """Fit a classifier of this package within several numbers of statements, by one search.

        Returns the balanced accuracy on the training records and the figures of each fit. The seconds are those of the
        search.
        """
        train = self.parts[0]
        X, y = self.table.X.iloc[train], self.table.y[train]
        budgets = [Budget(clf.max_rules, limit) for limit in limits]
        rule_sets, seconds = timed(lambda: clf._rule_sets(X, y, budgets))
        found = []
        for rule_set in rule_sets:
            training = balanced_accuracy_score(y.astype(str), np.asarray(rule_set.predict(X)).astype(str))
            found.append((float(training), self.measure_rules(rule_set, seconds)))
        return found

    def measure_rival(self, fitted: Fitted) -> Figures:
        """Return the figures of a fitted rival."""
        values, classes = self.numbers(missing=fitted.missing)[1], self.table.classes
        labels = classes[np.asarray(fitted.model.predict(values), int)]
        y = self.table.y[self.parts[1]]
        answers = y, labels, fitted.model.predict_proba(values), classes
        # All rivals are class-balanced.
        balanced = calibration(*answers, np.ones(len(classes)))
        return {**quality(*answers), **balanced, **fitted.size, "seconds": fitted.seconds}


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and the seconds that it takes."""
    start = time.perf_counter()
    made = make()
    return made, time.perf_counter() - start


def _positive(probabilities: np.ndarray) -> np.ndarray:
    """Return probabilities without zeros, for which a single record would decide the log loss."""
    p = np.clip(np.asarray(probabilities, float), 1e-9, None)
    return p / p.sum(axis=1, keepdims=True)


def quality(y: np.ndarray, labels: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Return how good labels and probabilities are.

    With more than two classes the AUC is the mean over all pairs of classes. The Brier score is the mean squared
    difference between probabilities and 0 or 1, summed over the classes; with two classes, of one of them.
    """
    y, names = np.asarray(y).astype(str), np.asarray(classes).astype(str)
    p = _positive(probabilities)
    two = len(names) == 2
    squares = ((p - (y[:, None] == names[None, :])) ** 2).sum(axis=1).mean()
    return {
        "bacc": float(balanced_accuracy_score(y, np.asarray(labels).astype(str))),
        "acc": float(accuracy_score(y, np.asarray(labels).astype(str))),
        "auc": float(
            roc_auc_score(y == names[1], p[:, 1]) if two else roc_auc_score(y, p, multi_class="ovo", labels=names)
        ),
        "log loss": float(log_loss(y, p, labels=names)),
        "brier": float(squares / 2 if two else squares),
    }


def calibration(
    y: np.ndarray, labels: np.ndarray, probabilities: np.ndarray, classes: np.ndarray, shares: np.ndarray
) -> Figures:
    """Return how far probabilities are those that they are meant to be, under the class weights that they are for.

    With two classes these are the probabilities of the second class, with more those of the predicted label.

    Parameters
    ----------
    y, labels, probabilities, classes : as for :func:`quality`
    shares : total weight of each class for which the probabilities are meant, up to a factor: all equal if the model
        is class-balanced

    Returns
    -------
    ``"bins"``: for each of ten bins of equal width the total weight, sum of probabilities and sum of records that have
    the label; all weights sum to 1. Log loss and Brier score with the same weights, as in :func:`quality`.
    """
    names, p = np.asarray(classes).astype(str), _positive(probabilities)
    codes = np.searchsorted(names, np.asarray(y).astype(str))
    counts = np.bincount(codes, minlength=len(names))
    weights = (np.asarray(shares, float) / np.maximum(counts, 1))[codes]
    weights /= weights.sum()
    two, every = len(names) == 2, np.arange(len(codes))
    meant = np.ones_like(codes) if two else np.searchsorted(names, np.asarray(labels).astype(str))
    chosen = p[every, meant]
    bins = np.minimum((chosen * N_BINS).astype(int), N_BINS - 1)
    sums = [np.bincount(bins, weights * values, N_BINS) for values in (1.0, chosen, codes == meant)]
    squares = ((p - np.eye(len(names))[codes]) ** 2).sum(axis=1) / (2 if two else 1)
    return {
        "bins": [[round(float(value), 6) for value in part] for part in np.column_stack(sums)],
        "weighted log loss": float(weights @ -np.log(p[every, codes])),
        "weighted brier": float(weights @ squares),
    }
