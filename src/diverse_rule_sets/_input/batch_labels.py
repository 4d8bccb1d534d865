"""Labels that come in batches: the same classes and codes as those of one vector of all labels."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.labels import as_label_array, encode_labels, label_kind
from diverse_rule_sets._input.values import is_missing

# More different labels are no classes.
MAX_LABELS = 10_000


class BatchLabels:
    """Collects labels batch by batch.

    Parameters
    ----------
    name : the column that holds the labels, for errors
    """

    def __init__(self, name: Any) -> None:
        self._name = name
        self._codes: dict[tuple[str, Any], int] = {}
        self._distinct: list[NDArray[Any]] = []  # new labels of each batch, as arrays of their type
        self.parts: list[NDArray[np.int32]] = []
        self._n_missing = 0
        self._first_missing = ""
        self._kinds: dict[str, str] = {}  # the first batch with each kind of labels

    def add(self, labels: Any, origin: str) -> NDArray[np.int64]:
        """Return a provisional code for each label of a batch: by the order of their first occurrence; -1 if missing.

        Parameters
        ----------
        labels : array or series
        origin : the file or batch, for errors
        """
        found, values, positions = _distinct(labels)
        codes = np.array([self._code(label, values[k], origin) for k, label in enumerate(found)], np.int64)
        self._check_number(origin)
        batch = codes[positions]
        n_missing = int((batch < 0).sum())
        if n_missing:
            self._n_missing += n_missing
            self._first_missing = self._first_missing or origin
        self.parts.append(batch.astype(np.int32))
        return batch

    def _code(self, label: Any, stored: Any, origin: str) -> int:
        """Return the code of a label; -1 if it is missing."""
        if is_missing(label):
            return -1
        kind = label_kind(label)
        code = self._codes.get((kind, label))
        if code is None:
            code = self._codes[kind, label] = len(self._codes)
            self._distinct.append(np.asarray(stored).reshape(1))
            self._kinds.setdefault(kind, origin)
            if len(self._kinds) > 1:
                (one, first), (other, second) = list(self._kinds.items())[:2]
                raise ValueError(
                    f"{second}: the target {self._name!r} holds labels of kind {other}, but {one} in {first}; expected "
                    "strings only, numbers only or booleans only"
                )
        return code

    def merge(self, other: BatchLabels) -> NDArray[np.int64]:
        """Add the labels of later batches; return the provisional code that each of their codes has here."""
        mapping = np.empty(len(other._codes), np.int64)
        for (kind, label), code in other._codes.items():
            mapping[code] = self._code(label, other._distinct[code][0], other._kinds[kind])
        self._check_number(next(iter(other._kinds.values()), ""))
        self._n_missing += other._n_missing
        self._first_missing = self._first_missing or other._first_missing
        return mapping

    def without_records(self) -> BatchLabels:
        """Return the labels without the code of each record."""
        labels = copy.copy(self)
        labels.parts = []
        return labels

    def _check_number(self, origin: str) -> None:
        """Raise an error if there are too many different labels."""
        if len(self._codes) > MAX_LABELS:
            raise ValueError(
                f"{origin}: the target {self._name!r} has more than {MAX_LABELS:,} different values, expected a few "
                "classes"
            )

    @property
    def labels(self) -> list[Any]:
        """The different labels, by their provisional codes."""
        return [label for _, label in self._codes]

    def finish(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return the sorted classes, the final code of each provisional code, and the final code of each record."""
        codes = np.concatenate(self.parts or [np.zeros(0, np.int32)])
        classes, order = self.finish_classes(codes.size)
        return classes, order, order[codes]

    def finish_classes(self, n_records: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the sorted classes, and the final code of each provisional code."""
        if self._n_missing:
            raise ValueError(
                f"Input y contains NaN: {self._n_missing} missing labels in the target {self._name!r}, the first in "
                f"{self._first_missing}; leave out those records"
            )
        if not n_records:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: X has no records")
        found = self._distinct
        is_object = any(one.dtype == object for one in found)
        labels = np.concatenate([one.astype(object) if is_object else one for one in found])
        # As often as in y, if this matters: many different labels give a warning.
        repeats = 1 if 2 * labels.size > n_records else 3
        classes, final = encode_labels(np.repeat(labels, repeats), repeats * labels.size)
        order = final[::repeats]
        return classes, order


def _distinct(labels: Any) -> tuple[list[Any], NDArray[Any], NDArray[np.int64]]:
    """Return the different labels as Python objects and as an array of their type, and the position of each label."""
    if hasattr(labels, "combine_chunks") and str(labels.type) in ("string", "large_string"):  # of Arrow
        encoded = labels.combine_chunks().dictionary_encode()
        if hasattr(encoded, "indices"):  # not too long for one array
            found = encoded.dictionary.to_pylist()
            positions = encoded.indices.fill_null(len(found)).to_numpy(zero_copy_only=False).astype(np.int64)
            found += [None] * bool(encoded.null_count)
            return found, _as_objects(found), positions
    array = np.asarray(as_label_array(labels))
    if array.dtype.kind in "biu" or (array.dtype.kind == "f" and not np.isnan(array).any()):
        values, inverse = np.unique(array, return_inverse=True)
        return values.tolist(), values, inverse.reshape(-1).astype(np.int64)
    objects = array.tolist()
    kinds = set(map(type, objects))
    keys = objects if len(kinds) == 1 and str in kinds else [_key(label) for label in objects]
    distinct = dict.fromkeys(keys)
    number = {key: k for k, key in enumerate(distinct)}
    found = [key if type(key) is str else key[1] for key in distinct]
    return found, _as_objects(found), np.fromiter(map(number.__getitem__, keys), np.int64, len(keys))


def _as_objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _key(label: Any) -> Any:
    """Return a key of a label: equal for equal labels of one kind."""
    if type(label) is str:
        return label
    return ("missing", None) if is_missing(label) else (label_kind(label), label)
