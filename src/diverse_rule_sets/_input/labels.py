"""Validation of labels: a vector of labels becomes sorted classes and a code for each record."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from diverse_rule_sets._input.values import n_missing, plain

# Whole numbers within a smaller range are counted instead of sorted.
_MAX_RANGE = 1 << 16


def encode_labels(
    y: Any, n_records: int, records: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted distinct labels, and the position of each record's label among them.

    Labels may be strings, integers, booleans, categoricals or of pandas' own types. Raises ValueError if labels are
    missing, if they are continuous numbers, or if there are not as many as records in X. If numbers of records are
    given, the others are left out.
    """
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    if isinstance(y, np.ma.MaskedArray) and np.ma.is_masked(y):
        raise ValueError(f"Input y contains NaN: {int(y.mask.sum())} masked labels; leave out those records")
    labels = as_label_array(y)
    if getattr(labels, "dtype", np.dtype(object)).kind == "c":
        raise ValueError("Unknown label type: y holds complex numbers, expected strings, numbers or booleans")
    labels = column_or_1d(labels, warn=True)
    if labels.size != n_records:
        raise ValueError(f"X has {n_records} records but y has {labels.size} labels, expected one label per record")
    if records is not None:
        labels = labels[records]
    if labels.dtype.kind == "T":  # numpy's own strings
        labels = labels.astype(object)
    coded = _coded_strings(labels)
    if coded is not None:
        return coded
    missing = n_missing(labels.tolist()) if labels.dtype.kind in "OfM" else 0
    if missing:
        raise ValueError(f"Input y contains NaN: {missing} missing labels; leave out those records")
    if labels.dtype.kind not in "OUSbiuf":
        raise ValueError(f"Unknown label type: y holds {labels.dtype} values, expected strings, numbers or booleans")
    if labels.dtype == object:
        labels = _as_one_type(labels)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
        if np.abs(labels).max() >= 2.0**63:
            raise ValueError(f"Unknown label type: y holds the number {np.abs(labels).max()}, too large; use strings")
    classes, codes = _coded_integers(labels) or np.unique(labels, return_inverse=True)
    _check_targets(labels, classes)
    return classes, codes.reshape(-1).astype(np.int64, copy=False)


def _coded_strings(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return the classes and codes of objects that all are strings; None for other labels. Nothing is sorted."""
    if labels.dtype != object:
        return None
    values = labels.tolist()
    if set(map(type, values)) != {str}:
        return None
    distinct = sorted(set(values))
    classes = np.empty(len(distinct), object)
    classes[:] = distinct
    _check_targets(labels, classes)
    position = {label: k for k, label in enumerate(distinct)}
    return classes, np.fromiter(map(position.__getitem__, values), np.int64, len(values))


def _coded_integers(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return the classes and codes of whole numbers or booleans within a small range, by counting; otherwise None."""
    if labels.dtype.kind not in "bi" or not labels.size:
        return None
    low = int(labels.min())
    if int(labels.max()) - low >= min(labels.size, _MAX_RANGE):
        return None
    offsets = labels.astype(np.int64) - low
    counts = np.bincount(offsets)
    position = np.cumsum(counts > 0) - 1
    return (np.flatnonzero(counts) + low).astype(labels.dtype), position[offsets]


def _check_targets(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise ValueError if labels are continuous numbers; warn if more than half of many labels are different.

    The classes have the type of all labels. They are repeated, because each of them once would give the warning.
    """
    many = 2 * classes.size >= labels.size
    check_classification_targets(labels if many else np.repeat(classes, 3))


def _as_one_type(labels: NDArray[Any]) -> NDArray[Any]:
    """Return objects as an array of their type; strings stay objects. Raises ValueError if types are mixed."""
    kinds = {label_kind(label) for label in labels}
    if kinds == {"string"}:
        return labels
    if kinds in ({"boolean"}, {"number"}):
        values = labels.tolist()
        # numpy would convert large and small integers together to floats
        unsigned = all(isinstance(v, numbers.Integral) for v in values) and min(values) >= 0 and max(values) >= 2**63
        array = np.array(values, np.uint64 if unsigned and max(values) < 2**64 else None)
        exact = array.dtype != object and all(plain(a) == b for a, b in zip(array, labels.tolist(), strict=True))
        if not exact:
            largest = max(labels.tolist(), key=abs)
            raise ValueError(
                f"Unknown label type: y holds the number {largest!r:.40}, too large; use strings as labels"
            )
        return array
    raise ValueError(
        f"Unknown label type: y holds labels of kind {' and '.join(sorted(kinds))}, expected strings only, numbers "
        "only or booleans only"
    )


def label_kind(label: Any) -> str:
    """Return the kind of a label, for errors."""
    if isinstance(label, bool | np.bool_):
        return "boolean"
    if isinstance(label, str):
        return "string"
    return "number" if isinstance(label, numbers.Real) else type(label).__name__


def as_label_array(y: Any) -> Any:
    """Return the values of data frame columns and of lists as an array; anything else unchanged."""
    if hasattr(y, "to_pylist"):  # Arrow converts text and booleans to numpy only on request
        return _as_objects(y.to_pylist())
    if str(getattr(y, "dtype", "")) in ("Int128", "UInt128"):  # of polars, which numpy does not have
        return _as_objects(y.to_list())
    if hasattr(y, "to_numpy"):
        return y.to_numpy()
    if isinstance(y, list | tuple) and not any(isinstance(label, list | tuple | np.ndarray) for label in y):
        return _as_objects(list(y))  # numpy would convert all labels to one type
    return y


def comparable_labels(y: Any) -> Any:
    """Return labels in a form that the metrics of scikit-learn accept, for every y that a fit accepts."""
    labels = as_label_array(y)
    is_vector = isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype == object
    return _as_one_type(labels) if is_vector else labels


def _as_objects(labels: list[Any]) -> NDArray[Any]:
    """Return an array of Python objects."""
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def as_labels(
    y: Any, classes: Sequence[Any], n_records: int, records: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the position of each record's label among given classes; raises ValueError for unknown labels.

    If numbers of records are given, the others are left out.
    """
    labels = np.asarray(as_label_array(y), dtype=object).reshape(-1)
    if labels.size != n_records:
        raise ValueError(f"X has {n_records} records but y has {labels.size} labels, expected one label per record")
    if records is not None:
        labels = labels[records]
    position = {label: k for k, label in enumerate(classes)}
    unknown = sorted({repr(plain(label)) for label in labels.tolist() if label not in position})
    if unknown:
        more = ", ..." if len(unknown) > 10 else ""
        raise ValueError(
            f"y has labels that are not classes of the rule set: {', '.join(unknown[:10])}{more}; "
            f"its classes: {list(classes)}"
        )
    return np.array([position[label] for label in labels.tolist()], np.int64)
