"""The door for labels: any usual vector of labels becomes sorted classes and a code per record."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from diverse_rule_sets._tables import any_missing


def encode_labels(y: Any, n_records: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted distinct labels, and the position of each record's label among them.

    Strings, integers, booleans, categoricals and pandas' own types are all taken; missing labels, numbers that are no
    classes, and a length other than that of X are refused.
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels = column_or_1d(_as_array(y), warn=True)
    if labels.size != n_records:
        raise ValueError(f"X has {n_records} records but y has {labels.size} labels, expected one label per record")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    if labels.dtype.kind == "M" and np.isnat(labels).any():
        raise ValueError(f"Input y contains {np.isnat(labels).sum()} missing labels; leave out those records")
    if labels.dtype == object:
        missing = any_missing(labels)
        if missing:
            raise ValueError(f"Input y contains NaN: {missing} missing labels; leave out those records")
        if not all(isinstance(label, str) for label in labels):
            labels = np.array(labels.tolist())  # numbers or booleans kept as objects
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.reshape(-1).astype(np.int64)


def _as_array(y: Any) -> Any:
    """Take pandas categoricals and strings by value; leave the rest to numpy."""
    if hasattr(y, "to_numpy"):
        return y.to_numpy()
    return y
