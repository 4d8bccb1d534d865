"""Predictions and explanations of Dask DataFrames: lazy, partition by partition.

Nothing here imports dask: the methods of the frame itself are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from diverse_rule_sets._input.checks import did_you_mean, list_text
from diverse_rule_sets._input.values import plain
from diverse_rule_sets.data._dask import is_dask_series

# The types of the columns of an explanation; the label has that of the classes.
_TYPES = {"rule": "Int64", "covering": object, "agreement": bool, "contradiction": bool, "reason": object}


def lazy_labels(clf: Any, X: Any) -> Any:
    """Return the labels as a Dask Series with the index of X."""
    check_is_fitted(clf)
    return X.map_partitions(_labels, clf, meta=_labels(X._meta, clf))


def _labels(frame: Any, clf: Any) -> Any:
    """Return the labels of a partition as a pandas series."""
    values = clf.predict(frame) if len(frame) else clf.classes_[:0]
    return frame.iloc[:, :0].assign(label=values)["label"].astype(_label_type(clf))


def _label_type(clf: Any) -> Any:
    """Return the type of a column of labels."""
    return clf.classes_.dtype if clf.classes_.dtype.kind in "biuf" else np.dtype(object)


def lazy_probabilities(clf: Any, X: Any) -> Any:
    """Return the class probabilities as a Dask DataFrame with the index of X and a column for each class."""
    check_is_fitted(clf)
    return X.map_partitions(_probabilities, clf, meta=_probabilities(X._meta, clf))


def _probabilities(frame: Any, clf: Any) -> Any:
    """Return the class probabilities of a partition as a pandas frame."""
    shares = clf.predict_proba(frame) if len(frame) else np.zeros((0, clf.classes_.size))
    out = frame.iloc[:, :0].copy()
    for k, label in enumerate(clf.classes_):
        out[plain(label)] = shares[:, k]
    return out


def lazy_explanations(clf: Any, X: Any) -> Any:
    """Return the reasons for the labels as a Dask DataFrame with the index of X."""
    check_is_fitted(clf)
    return X.map_partitions(_explanations, clf, meta=_explanations(X._meta, clf))


def _explanations(frame: Any, clf: Any) -> Any:
    """Return the reasons for the labels of a partition as a pandas frame; the types depend on no value."""
    types = {"label": _label_type(clf), **_TYPES}
    if not len(frame):
        return frame.iloc[:, :0].assign(**{name: [] for name in types}).astype(types)
    return clf.explain(frame).astype(types)


def accuracy_of_partitions(clf: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the share of records whose predicted label is that of y: a column of X, or a Dask Series."""
    check_is_fitted(clf)
    if sample_weight is not None:
        raise ValueError("sample_weight is not available for a Dask DataFrame; expected None")
    meta = X._meta.iloc[:, :0].assign(right=np.zeros(0, np.int64), n=np.zeros(0, np.int64))
    if is_dask_series(y):
        if y.npartitions != X.npartitions:
            raise ValueError(
                f"X has {X.npartitions} partitions, but y has {y.npartitions}; expected the same partitions"
            )
        counts = X.map_partitions(_count_right, y, clf, meta=meta, align_dataframes=False)
    else:
        if y not in X.columns:
            raise ValueError(
                f"y must be the name of a column of X, or a Dask Series, got {y!r}; the columns of X: "
                f"{list_text(list(X.columns))}{did_you_mean(y, list(X.columns))}"
            )
        counts = X.map_partitions(_count_right, y, clf, meta=meta)
    n_right, n = counts.sum().compute()[["right", "n"]].tolist()
    if not n:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: X has no records")
    return float(n_right / n)


def _count_right(frame: Any, y: Any, clf: Any) -> Any:
    """Return a pandas frame of one row: the numbers of correct and of all records of a partition."""
    labels = y if hasattr(y, "to_numpy") else frame[y]
    if len(labels) != len(frame):
        raise ValueError(f"a partition of X has {len(frame):,} records, but {len(labels):,} labels in y")
    n_right = round(clf.score(frame, labels) * len(frame)) if len(frame) else 0
    first = frame.iloc[:1, :0]
    return first.assign(right=np.full(len(first), n_right), n=np.full(len(first), len(frame)))
