"""Columns of a few types: made of Python objects, or converted from one type to another.

The type of a column is found from its values, or it is given: then each value is converted by itself, and a value of
another type is an error. So the result for a record does not depend on the other records of the table.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.values import (
    BOOLEAN,
    BYTES,
    DATE,
    INSTANT,
    NUMBER,
    TEXT,
    as_float,
    canonical,
    identity,
    is_missing,
    microseconds,
    type_of,
    type_of_class,
)

# Columns of categories: numbers or dates that are not compared by order, and values of several types.
NUMBERS, DATES, INSTANTS = "category of numbers", "category of dates", "category of dates (UTC)"
CATEGORY, EMPTY = "category", "empty"
KINDS = (NUMBER, DATE, INSTANT, BOOLEAN, TEXT, BYTES, NUMBERS, DATES, INSTANTS, CATEGORY, EMPTY)
# Not a type of columns: the values are to be compared one by one, as categories, whatever their types.
VALUES = "values"
# Not a type of columns either: it only matters which values are missing, so that values of any types fit together.
ANY = "any"

# The types of values that a column of each type may hold.
_ALLOWED = {
    NUMBER: (NUMBER, BOOLEAN),
    NUMBERS: (NUMBER, BOOLEAN),
    DATES: (DATE,),
    INSTANTS: (INSTANT,),
    CATEGORY: (NUMBER, DATE, INSTANT, BOOLEAN, TEXT, BYTES),
    **{kind: (kind,) for kind in (DATE, INSTANT, BOOLEAN, TEXT, BYTES)},
}
_CATEGORIES_OF = {NUMBER: NUMBERS, DATE: DATES, INSTANT: INSTANTS}
_TYPE_OF_VALUES = {kind: one for one, kind in _CATEGORIES_OF.items()}


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : the column's name
    kind : the column type: ``"number"`` (values are float64, NaN is missing), ``"date"`` or ``"date (UTC)"``
        (datetime64[us], NaT is missing), ``"boolean"``, ``"text"``, ``"bytes"``, ``"category of numbers"``,
        ``"category of dates"``, ``"category of dates (UTC)"`` or ``"category"``, which holds values of several types
        (values are positions in ``categories``, -1 is missing), or ``"empty"`` (all values are missing)
    values : array (n_records,)
    categories : the distinct values, in order
    rounded : whether some integers may have been too large for float64
    order : all categories that the table declares, from the lowest to the highest; empty if they have no order
    booleans : whether some values of a column of numbers are booleans
    lows : in a summary, whose values are the largest of groups of neighbouring values: the smallest of each group
    """

    name: Hashable
    kind: str
    values: NDArray[Any]
    categories: tuple[Any, ...] = ()
    rounded: bool = False
    order: tuple[Any, ...] = ()
    booleans: bool = False
    lows: NDArray[Any] | None = None

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The position of each category, by its :func:`identity`."""
        if self.kind == TEXT:
            return {value: k for k, value in enumerate(self.categories)}
        return {identity(value): k for k, value in enumerate(self.categories)}

    @property
    def type_of_values(self) -> str:
        """The type of the values, such as ``"number"`` also for a category of numbers."""
        return type_of_values(self.kind)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Flags of the records without a value in this column."""
        if self.kind == NUMBER:
            return np.isnan(self.values)
        if self.kind in (DATE, INSTANT):
            return np.isnat(self.values)
        return np.asarray(self.values < 0)


def type_of_values(kind: str) -> str:
    """Return the type of the values of a column of a type."""
    return _TYPE_OF_VALUES.get(kind, kind)


def column_of_objects(name: Hashable, values: list[Any], expected: str = "") -> Column:
    """Return a column of Python objects.

    Parameters
    ----------
    name, values : the column
    expected : the type of the column, if it is known: every value must have this type. By default the most specific
        type that fits all values; with ``VALUES`` one whose values are not compared by order; with ``ANY`` dates with
        and without a time zone are no error
    """
    found = _types(values)
    if not found:
        return empty_column(name, len(values))
    mixes_dates = set(found) == {DATE, INSTANT}
    if expected == VALUES or (expected == ANY and mixes_dates):
        return as_any_values(column_of_values(name, values))
    if not expected and mixes_dates:
        raise TypeError("mixes dates with and without a time zone; convert them to one of the two")
    kind = _common_kind(found) if expected in ("", ANY) else expected
    for one, example in found.items():
        if one not in _ALLOWED[kind]:
            raise _wrong_type(name, kind, one, example)
    if kind == NUMBER:
        return replace(_column_of_numbers(name, values), booleans=BOOLEAN in found)
    if kind in (DATE, INSTANT):
        dates = [None if is_missing(v) else np.datetime64(microseconds(v), "us") for v in values]
        return Column(name, kind, np.array(dates, "datetime64[us]"))
    if kind == BOOLEAN:
        codes = [-1 if is_missing(v) else int(v) for v in values]
        return Column(name, BOOLEAN, np.array(codes, np.int32), (False, True))
    if kind == NUMBERS and BOOLEAN in found:  # as 0 and 1, as in a column of numbers
        values = [int(v) if isinstance(v, bool | np.bool_) else v for v in values]
    return column_of_values(name, values, kind)


def _types(values: list[Any]) -> dict[str, Any]:
    """Return the types of the values that are not missing, each with an example."""
    classes: dict[type, Any] = {}
    for kind in set(map(type, values)):
        classes[kind] = next((v for v in values if type(v) is kind and not is_missing(v)), None)
    found: dict[str, Any] = {}
    for kind, example in classes.items():
        if example is not None:
            found.setdefault(type_of_class(kind, example), example)
    if DATE in found or INSTANT in found:  # some dates may have a time zone
        for value in values:
            if not is_missing(value):
                found.setdefault(type_of(value), value)
    return found


def _common_kind(found: Iterable[str]) -> str:
    """Return the type of a column whose values have some types."""
    types = set(found)
    if len(types) == 1:
        return types.pop()
    return NUMBER if types == {NUMBER, BOOLEAN} else CATEGORY


def _wrong_type(name: Hashable, expected: str, found: str, example: Any = None) -> ValueError:
    such_as = "" if example is None else f" such as {example!r:.60}"
    return ValueError(f"column {name!r} holds {values_text(found)}{such_as}, expected {values_text(expected)}")


def values_text(kind: str) -> str:
    """Return how an error calls the values of a column of a type.

    Examples
    --------
    >>> values_text("text"), values_text("category of numbers"), values_text("category")
    ('text values', 'values of a category of numbers', 'values of several types')
    """
    if kind == CATEGORY:
        return "values of several types"
    return f"values of a {kind}" if kind in _TYPE_OF_VALUES else f"{kind} values"


def _column_of_numbers(name: Hashable, values: list[Any]) -> Column:
    """Return a column of numbers and booleans that are Python objects."""
    floats = np.array([v if type(v) is float else np.nan if is_missing(v) else as_float(v) for v in values])
    return Column(name, NUMBER, floats, rounded=has_rounded_integers(floats) and not all(map(_is_float, values)))


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or value is None


def column_of_values(name: Hashable, values: Sequence[Any], kind: str = "") -> Column:
    """Return Python objects as a column of categories."""
    missing: Any = object()
    keys: list[Any] = [
        value if type(value) is str else missing if is_missing(value) else identity(canonical(value))
        for value in values
    ]
    distinct = [key for key in dict.fromkeys(keys) if key is not missing]
    position: dict[Any, int] = {key: k for k, key in enumerate(distinct)}
    position[missing] = -1
    codes = np.fromiter(map(position.__getitem__, keys), np.int32, len(keys))
    return categorical(name, [key if type(key) is str else key[1] for key in distinct], codes, kind=kind)


def categorical(
    name: Hashable, categories: list[Any], codes: NDArray[Any], ordered: bool = False, kind: str = ""
) -> Column:
    """Return a column of categories; unordered ones are sorted, so that the order of records does not matter.

    The kind is by default found from the types of the categories, which must be in their canonical form then.
    """
    codes = np.asarray(codes, np.int32)
    if not categories or not (codes >= 0).any():
        return empty_column(name, codes.size)
    if any(type(category) is not str for category in categories):
        categories, codes = _merge_equal([canonical(category) for category in categories], codes)
    if not ordered:
        order = sorted(range(len(categories)), key=lambda k: _sort_key(categories[k]))
        rank = np.empty(len(categories) + 1, np.int32)
        rank[order] = np.arange(len(categories))
        rank[-1] = -1
        codes, categories = rank[codes], [categories[k] for k in order]
    found = {TEXT if type(category) is str else type_of(category) for category in categories}
    natural = _CATEGORIES_OF.get(*found, *found) if len(found) == 1 else CATEGORY
    if natural == BOOLEAN and not kind:
        codes = np.array([*(int(category) for category in categories), -1], np.int32)[codes]
        return Column(name, BOOLEAN, codes, (False, True))
    return Column(name, kind or natural, codes, tuple(categories))


def _merge_equal(categories: list[Any], codes: NDArray[Any]) -> tuple[list[Any], NDArray[Any]]:
    """Return categories without repetitions: two may be the same after their conversion, such as 1 and 1.0."""
    position: dict[Any, int] = {}
    rank = [position.setdefault(identity(category), len(position)) for category in categories]
    if len(position) == len(categories):
        return categories, codes
    first = dict(reversed(list(zip(rank, categories, strict=True))))
    return [first[k] for k in range(len(position))], np.array([*rank, -1], np.int32)[codes]


def _sort_key(value: Any) -> tuple[str, Any]:
    return ("text", value) if type(value) is str else (type_of(value), value)


def empty_column(name: Hashable, n_records: int) -> Column:
    return Column(name, EMPTY, np.full(n_records, -1, np.int32))


def has_rounded_integers(floats: NDArray[np.float64]) -> bool:
    """Return whether some integer may have been rounded to float64; for example 2**53 + 1 becomes 2**53."""
    return bool(np.abs(floats).max(initial=0.0, where=~np.isnan(floats)) >= 2.0**53)


def as_any_values(column: Column) -> Column:
    """Return a column of categories as a column of several types, so that no condition on values is an error."""
    return replace(column, kind=CATEGORY) if column.categories else column


def convert(column: Column, objects: Callable[[], list[Any]], expected: str) -> Column:
    """Return a column as a column of the expected type; raises ValueError if its values have another type.

    Parameters
    ----------
    column : the column
    objects : function that returns its values as Python objects, called if float64 does not represent them
    expected : as for :func:`column_of_objects`
    """
    if expected in ("", ANY, column.kind) or column.missing.all():
        return column
    dates = column.kind in (DATE, INSTANT)
    if expected == VALUES:
        if dates:
            return _categories_of_dates(column, _CATEGORIES_OF[column.kind])
        return column_of_values(column.name, objects()) if column.rounded else column
    for one in {type_of(value) for value in column.categories} or {column.kind}:
        if one not in _ALLOWED[expected]:
            raise _wrong_type(column.name, expected, column.kind, _example(column, one))
    if expected == NUMBER:
        return Column(column.name, NUMBER, np.array([*map(as_float, column.categories), np.nan])[column.values])
    if expected in (DATE, INSTANT):
        moments = [np.datetime64(microseconds(value), "us") for value in column.categories]
        return Column(column.name, expected, np.array([*moments, None], "datetime64[us]")[column.values])
    if dates:
        return _categories_of_dates(column, expected)
    if column.kind == NUMBER:
        return column_of_values(column.name, objects(), expected)
    categories = tuple(map(int, column.categories)) if expected == NUMBERS else column.categories
    return replace(column, kind=expected, categories=categories)


def _example(column: Column, kind: str) -> Any:
    """Return the first value of a type in a column."""
    if not column.categories:
        return column.values[~column.missing][0].item()
    has_type = np.array([*(type_of(value) == kind for value in column.categories), False], np.bool_)
    found = column.values[has_type[column.values]]
    return column.categories[found[0]] if found.size else None


def _categories_of_dates(column: Column, kind: str) -> Column:
    """Return a column of dates as categories."""
    known = ~column.missing
    distinct, positions = np.unique(column.values[known], return_inverse=True)
    codes = np.full(column.values.size, -1, np.int32)
    codes[known] = positions.reshape(-1)
    zone = datetime.UTC if column.kind == INSTANT else None
    return Column(column.name, kind, codes, tuple(canonical(value).replace(tzinfo=zone) for value in distinct))
