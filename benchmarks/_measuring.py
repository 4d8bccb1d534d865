"""One split of a table, and the figures of a model on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from _tables import Table
from _trees import Trees
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from diverse_rule_sets import metrics

SIZES = metrics.Size._fields
QUALITY = ("bacc", "acc", "auc", "log loss", "brier")
FIGURES = (*QUALITY, *SIZES, "overlap", "uncovered", "seconds")


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

    def measure(self, clf: Any) -> dict[str, float]:
        """Fit a classifier of this package and return its figures."""
        (train, test), X, y = self.parts, self.table.X, self.table.y
        inside, outside = X.iloc[train], X.iloc[test]
        _, seconds = timed(lambda: clf.fit(inside, y[train]))
        rule_set = clf.rule_set_
        return {
            **quality(y[test], clf.predict(outside), clf.predict_proba(outside), clf.classes_),
            **metrics.size(rule_set)._asdict(),
            "overlap": metrics.overlap_share(rule_set, inside),
            "uncovered": 1 - metrics.coverage(rule_set, inside),
            "seconds": seconds,
        }

    def measure_with_training(self, clf: Any) -> tuple[float, dict[str, float]]:
        """Fit a classifier of this package; return its balanced accuracy on the training records, and its figures."""
        figures, train = self.measure(clf), self.parts[0]
        labels = np.asarray(clf.predict(self.table.X.iloc[train])).astype(str)
        return float(balanced_accuracy_score(self.table.y[train].astype(str), labels)), figures

    def measure_rival(self, fitted: Fitted) -> dict[str, float]:
        """Return the figures of a fitted rival."""
        values, classes = self.numbers(missing=fitted.missing)[1], self.table.classes
        labels = classes[np.asarray(fitted.model.predict(values), int)]
        y = self.table.y[self.parts[1]]
        figures = quality(y, labels, fitted.model.predict_proba(values), classes)
        return {**figures, **fitted.size, "seconds": fitted.seconds}


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and the seconds that it takes."""
    start = time.perf_counter()
    made = make()
    return made, time.perf_counter() - start


def quality(y: np.ndarray, labels: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Return how good labels and probabilities are.

    With more than two classes the AUC is the mean over all pairs of classes. The Brier score is the mean squared
    difference between probabilities and 0 or 1, summed over the classes; with two classes, of one of them.
    """
    y, names = np.asarray(y).astype(str), np.asarray(classes).astype(str)
    p = np.clip(np.asarray(probabilities, float), 1e-9, None)
    p /= p.sum(axis=1, keepdims=True)
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
