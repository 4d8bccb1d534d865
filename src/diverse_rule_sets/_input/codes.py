"""Codes: values such as -9 or "?" that mean in some columns that a value is missing.

A code is compared with the values as they are stored, by type and value, before a column is converted to another type.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.columns import (
    CATEGORY,
    EMPTY,
    Column,
    categorical,
    has_rounded_integers,
    type_of_values,
)
from diverse_rule_sets._input.values import (
    BOOLEAN,
    DATE,
    INSTANT,
    NUMBER,
    TEXT,
    canonical,
    identity,
    is_missing,
    microseconds,
    type_of,
)

# The codes of each column, in their canonical form.
CodesByColumn = Mapping[Hashable, tuple[Any, ...]]
EXPECTED = "text, a number, a boolean, a date or bytes"


def as_codes(name: str, given: Any) -> tuple[Any, ...]:
    """Return the codes of a value or a list of values: different values in canonical form, without missing values.

    Parameters
    ----------
    name : where the codes come from, for errors
    given : the value or values
    """
    several = isinstance(given, list | tuple | set | frozenset | np.ndarray)
    if not several:
        return _codes([(name, given)])
    values = list(given.tolist() if isinstance(given, np.ndarray) and given.dtype.kind not in "Mm" else given)
    codes = _codes([(f"{name}[{k}]", value) for k, value in enumerate(values)])
    if isinstance(given, set | frozenset):  # whose order differs from run to run
        return tuple(sorted(codes, key=lambda code: (type_of(code), code)))
    return codes


def _codes(values: Iterable[tuple[str, Any]]) -> tuple[Any, ...]:
    """Return values, each with its place, as codes."""
    codes: dict[Any, Any] = {}
    for place, value in values:
        if is_missing(value):
            continue
        try:
            code = canonical(value)
        except TypeError:
            raise TypeError(f"{place} must be {EXPECTED}, got {value!r:.80} ({type(value).__name__})") from None
        except ValueError as error:
            raise ValueError(f"{place} {error}, got {value!r:.80}") from None
        codes.setdefault(identity(code), code)
    return tuple(codes.values())


def fits(code: Any, kind: str, holds_objects: bool) -> bool:
    """Return whether a code can be compared with the values of a column.

    Parameters
    ----------
    code : the code
    kind : the type of the column as it is stored; empty if it has none
    holds_objects : whether the column is stored as Python objects, which may be text beside values of another type
    """
    if kind in (CATEGORY, EMPTY, ""):
        return True
    own = type_of(code)
    return own == type_of_values(kind) or (holds_objects and (own == TEXT or (own, kind) == (BOOLEAN, NUMBER)))


def objects_without(values: list[Any], codes: Sequence[Any]) -> list[Any]:
    """Return Python objects with None instead of each value that is a code."""
    if not codes:
        return values
    coded = set(map(identity, codes))
    return [None if _key(value) in coded else value for value in values]


def _key(value: Any) -> Any:
    """Return the identity of any object; None if it is missing or no value of a table, which is an error later."""
    if type(value) is str:
        return value
    try:
        return None if is_missing(value) else identity(canonical(value))
    except (TypeError, ValueError, OverflowError):
        return None


def column_without(column: Column, codes: Sequence[Any], objects: Callable[[], list[Any]]) -> Column:
    """Return a column with missing values instead of codes.

    Parameters
    ----------
    column : the column, as it is stored
    codes : the codes; those of other types do not occur in the column
    objects : function that returns its values as Python objects, called if float64 does not represent them
    """
    if not codes:
        return column
    if column.kind == NUMBER:
        coded = _coded_numbers(column, codes, objects)
        values = np.where(coded, np.nan, column.values) if coded.any() else column.values
        return replace(column, values=values, rounded=column.rounded and has_rounded_integers(values))
    if column.kind in (DATE, INSTANT):
        moments = [np.datetime64(microseconds(code), "us") for code in codes if type_of(code) == column.kind]
        coded = np.isin(column.values, np.array(moments, "datetime64[us]"))
        return replace(column, values=np.where(coded, np.datetime64("NaT", "us"), column.values))
    return _without_categories(column, codes)


def _coded_numbers(column: Column, codes: Sequence[Any], objects: Callable[[], list[Any]]) -> NDArray[np.bool_]:
    """Return which numbers are codes; large integers are compared exactly."""
    numbers = [code for code in codes if type_of(code) == NUMBER]
    if column.rounded and numbers:
        coded = set(map(identity, numbers))
        return np.array([_key(value) in coded for value in objects()], np.bool_)
    return np.isin(column.values, np.array([float(code) for code in numbers if float(code) == code], np.float64))


def _without_categories(column: Column, codes: Sequence[Any]) -> Column:
    """Return a column of categories without those that are codes; its type is that of the others."""
    coded = set(map(identity, codes))
    order = tuple(value for value in column.order if identity(value) not in coded)
    order = order if len(order) > 1 else ()
    left_out = {column.positions[key] for key in coded if key in column.positions}
    if not left_out:
        return replace(column, order=order)
    kept = [k for k in range(len(column.categories)) if k not in left_out]
    rank = np.full(len(column.categories) + 1, -1, np.int32)
    rank[kept] = np.arange(len(kept))
    kept_column = categorical(column.name, [column.categories[k] for k in kept], rank[column.values], ordered=True)
    return replace(kept_column, order=order)
