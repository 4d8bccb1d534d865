"""Validation of sample weights, and weights as whole numbers of a unit.

Sums of weights are sums of integers, so that they do not depend on the order of adding, on threads or on shards.

- *Whole numbers* are counts: the unit is 1, and a record of weight 3 is three equal records. They are exact up to
  ``MAX_WEIGHT``.
- *Other weights* are scaled so that they sum to the number of records of positive weight, and rounded to multiples of
  ``2**-UNIT_BITS``, to at least one of them. What is counted differs from the scaled weight by less than ``2**-10``,
  about a thousandth of the weight of an average record, and by at most half of that if the scaled weight is at least
  ``2**-10``.
- A record of *weight 0* is left out before anything is learnt from the table.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# The largest weight that is a whole number, and the largest sum of whole weights: larger sums are not exact as floats.
MAX_WEIGHT, _MAX_TOTAL = 2**31 - 1, 2**53
# Other weights are multiples of 2**-UNIT_BITS of the weight of an average record.
UNIT_BITS = 10


class Weights(NamedTuple):
    """The weights of some records.

    Parameters
    ----------
    units : array (n_records,), the weight of each record in units, at least 1
    unit : 1 if all weights are whole numbers, otherwise ``2**-UNIT_BITS``
    """

    units: Integers
    unit: float

    @property
    def values(self) -> Any:
        """The weight of each record: int64 if the unit is 1, otherwise float64 and exact."""
        return self.units if self.unit == 1 else self.units * self.unit

    def take(self, records: Any) -> Weights:
        """Return the weights of some of the records."""
        return Weights(self.units[records], self.unit)


class Weighted(NamedTuple):
    """The records of positive weight.

    Parameters
    ----------
    records : their numbers; None for all records
    weights : their weights; None if all of them are 1
    """

    records: Integers | None
    weights: Weights | None


EVERY_RECORD = Weighted(None, None)


def check_weights(sample_weight: Any, n_records: int, name: str = "sample_weight") -> Floats:
    """Return weights as an array of floating-point numbers.

    Raises ValueError or TypeError, with the number of the record from 1, unless they are finite numbers of at least 0,
    one per record of X, not all 0.
    """
    array = as_numbers(sample_weight, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, a weight for each record, got shape {array.shape}")
    if array.size != n_records:
        raise ValueError(f"X has {n_records} records but {name} has {array.size} weights, expected one per record")
    check_finite(array, name)
    if not array.any():
        raise ValueError(f"{name} is zero for every record, expected a positive weight for at least one")
    return array


def check_finite(array: Floats, name: str, n_before: int = 0) -> None:
    """Raise ValueError unless weights are finite and at least 0; errors count records from ``n_before`` + 1."""
    for problem, wrong in (("NaN", np.isnan(array)), ("infinity", np.isinf(array)), ("a negative number", array < 0)):
        if wrong.any():
            j = int(np.argmax(wrong))
            raise ValueError(
                f"{name} contains {problem}: record {n_before + j + 1} has the weight {array[j]}, expected finite "
                "numbers of at least 0"
            )


def as_numbers(sample_weight: Any, name: str, n_before: int = 0) -> Floats:
    """Return weights of any container as floating-point numbers; errors count records from ``n_before`` + 1."""
    expected = "expected a vector of numbers, one per record"
    if isinstance(sample_weight, str | bytes | numbers.Number):
        raise TypeError(f"{name} is {sample_weight!r:.60}, {expected}")
    values = sample_weight
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return np.asarray(array, np.float64)
    if array.dtype != object:
        raise TypeError(f"{name} holds values of type {array.dtype}, {expected}")
    flat = [math.nan if value is None else value for value in array.reshape(-1).tolist()]
    for j, value in enumerate(flat):
        try:
            flat[j] = math.nan if isinstance(value, str | bytes) else float(value)
            wrong = isinstance(value, str | bytes)
        except (TypeError, ValueError, OverflowError):
            wrong = "NA" not in type(value).__name__
            flat[j] = math.nan
        if wrong:
            raise TypeError(f"{name} has the value {value!r:.60} for record {n_before + j + 1}, {expected}")
    return np.array(flat, np.float64).reshape(array.shape)


def weighted_records(sample_weight: Any, n_records: int, name: str = "sample_weight") -> Weighted:
    """Return the records of positive weight and their weights as whole numbers of a unit.

    Parameters
    ----------
    sample_weight : a vector of weights, or None
    n_records : number of records of the table
    name : how errors name the weights
    """
    if sample_weight is None:
        return EVERY_RECORD
    if isinstance(sample_weight, Weights):  # of some records, which keep the unit of the whole table
        return Weighted(None, sample_weight)
    array = check_weights(sample_weight, n_records, name)
    positive = np.flatnonzero(array)
    records = None if positive.size == array.size else positive
    return Weighted(records, _in_units(array[positive], positive, name))


def _in_units(array: Floats, numbers: Integers, name: str) -> Weights | None:
    """Return positive weights in units; None if all of them are 1."""
    if (array == np.floor(array)).all():
        largest = int(np.argmax(array))
        if array[largest] > MAX_WEIGHT or math.fsum(array) > _MAX_TOTAL:
            raise ValueError(
                f"{name} has whole numbers, which count records, but record {numbers[largest] + 1} has the weight "
                f"{array[largest]:.6g}, expected at most {MAX_WEIGHT:,}, and a sum of at most 2**53; divide them, for "
                "example by their mean"
            )
        weights = Weights(array.astype(np.int64), 1.0)
    else:
        scaled = array / array.max()  # so that the sum cannot overflow
        scaled *= array.size / math.fsum(scaled)  # fsum: the same in any order of the records
        units = np.maximum(np.rint(scaled * 2.0**UNIT_BITS), 1).astype(np.int64)
        weights = Weights(units, 2.0**-UNIT_BITS)
    return None if (weights.units * weights.unit == 1).all() else weights


def count_by(numbers: Integers, n: int, weights: Weights | None) -> NDArray[Any]:
    """Count records by a number from 0 to n - 1 that each has: integers, or exact floats if the unit is below 1."""
    return sums_by(numbers, n, None if weights is None else weights.values)


def sums_by(numbers: NDArray[Any], n: int, values: NDArray[Any] | None) -> NDArray[Any]:
    """Add up values of records by a number from 0 to n - 1 that each has; None: each record counts 1.

    The sums have the type of the values. They are exact if the values are integers, or multiples of a power of two, and
    sum to less than 2**53 units.
    """
    sums = np.bincount(numbers, values, minlength=n)
    return sums if values is None else sums.astype(values.dtype)
