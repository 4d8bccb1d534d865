"""The categories of a column that conditions use: the most frequent ones, and none of an identifier.

A column of categories looks like an *identifier* if it has more than 20 different values, fewer than two records for
each of them on average, and fewer than a tenth of its records have a value that occurs ten times or more. A rule that
lists such values holds for hardly any new record, so the column is left out, unless the user names it. Whether its
value is missing may still be a condition.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.checks import warn
from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.values import TEXT
from diverse_rule_sets.data._cut_points import Target

# Conditions use at most this many values of a category column, the most frequent ones.
MAX_CATEGORIES = 256
# An identifier has more different values than this.
_MIN_VALUES = 20
# A value that occurs so often is frequent; less than this share of the records of an identifier have such a value.
_FREQUENT, _FREQUENT_SHARE = 10, 0.1
# A column of text holds numbers if this share of its records do, among those with at most so many different values.
_NUMBERS_SHARE = 0.9
_MAX_PARSED = 10_000
# Number of values that a warning lists.
_MAX_LISTED = 3


class CategoryTotals(NamedTuple):
    """The size of a column of categories.

    Parameters
    ----------
    n_values : number of different values
    n_known : number of records that are not missing, or their weight
    n_frequent : number of records with a value that occurs ten times or more, or their weight
    """

    n_values: int
    n_known: float
    n_frequent: float


def totals_of(counts: NDArray[Any]) -> CategoryTotals:
    """Return the size of a column from the number of records of each value."""
    return CategoryTotals(counts.size, counts.sum().item(), counts[counts >= _FREQUENT].sum().item())


def select_categories(
    column: Column,
    asked_for: bool,
    named_in: str = "binning",
    target: Target | None = None,
    totals: CategoryTotals | None = None,
) -> Integers:
    """Return the positions of the categories to use in conditions, ascending; warn if these are not all.

    Parameters
    ----------
    column : a column of categories with at least one value
    asked_for : whether to use the column even if it looks like an identifier
    named_in : the parameters in which the user can name such a column, for the warning
    target : how many records each value of the column stands for; by default one
    totals : the size of the column, if the column does not list all categories
    """
    known = column.values >= 0
    subset = Target(column.values, np.ones(1)) if target is None else target
    counts = subset.take(known).count_by(column.values[known], len(column.categories))
    present = np.flatnonzero(counts)
    totals = totals or totals_of(counts[present])
    if not asked_for and _is_identifier(totals):
        warn(_identifier_text(column, counts, present, totals, named_in))
        return present[:0]
    if present.size > MAX_CATEGORIES:
        warn(_many_values_text(column, counts, present, totals))
        frequent = np.argsort(-counts[present], kind="stable")[:MAX_CATEGORIES]
        present = np.sort(present[frequent])
    return present


def _is_identifier(totals: CategoryTotals) -> bool:
    """Return whether a column looks like an identifier."""
    n_values, n_known, n_frequent = totals
    return n_values > _MIN_VALUES and 2 * n_values > n_known and n_frequent < _FREQUENT_SHARE * n_known


def _identifier_text(column: Column, counts: Integers, present: Integers, totals: CategoryTotals, named_in: str) -> str:
    """Return the text of the warning about a column that looks like an identifier."""
    size = f"({_number_text(present, totals)} different values in {round(totals.n_known):,} records)"
    result = "rules use only whether it is missing" if (column.values < 0).any() else "it is left out of the rules"
    numbers_text = _numbers_text(column, counts, present, size)
    if numbers_text:
        return f"{numbers_text}; {result}. Convert it to numbers; to use it as it is, name it in {named_in}"
    problem = f"column {column.name!r} looks like an identifier {size}"
    return f"{problem}; {result}. To use its values, group them, or name the column in {named_in}"


def _number_text(present: Integers, totals: CategoryTotals) -> str:
    """Return the number of different values; of a column that does not list them all, it is estimated."""
    return f"{totals.n_values:,}" if totals.n_values == present.size else f"about {totals.n_values:,}"


def _many_values_text(column: Column, counts: Integers, present: Integers, totals: CategoryTotals) -> str:
    """Return the text of the warning about a column with many values that occur several times."""
    result = f"rules use only the {MAX_CATEGORIES} most frequent"
    numbers_text = _numbers_text(column, counts, present, f"({_number_text(present, totals)} different values)")
    if numbers_text:
        return f"{numbers_text}; {result}. Convert it to numbers, or group its values"
    problem = f"column {column.name!r} has {_number_text(present, totals)} different values"
    return f"{problem}; {result}. Leave the column out if it is an identifier, or group its values"


def _numbers_text(column: Column, counts: Integers, present: Integers, size: str) -> str:
    """Return that a column holds numbers as text, and a few of its other values; empty if it does not."""
    share, others = _find_numbers(column, counts, present)
    if share < _NUMBERS_SHARE:
        return ""
    form = "text" if column.kind == TEXT else "categories"
    exceptions = f", except for values such as {', '.join(map(repr, others))}" if others else ""
    return f"column {column.name!r} holds numbers as {form} {size}{exceptions}"


def _find_numbers(column: Column, counts: Integers, present: Integers) -> tuple[float, list[Any]]:
    """Return the share of records whose value is a number or the text of one, and a few other values."""
    examined = present[:: -(-present.size // _MAX_PARSED)]
    is_number = np.array([_is_number(column.categories[k]) for k in examined.tolist()], np.bool_)
    share = counts[examined[is_number]].sum() / counts[examined].sum()
    others = examined[~is_number]
    frequent = others[np.argsort(-counts[others], kind="stable")][:_MAX_LISTED]
    return float(share), [column.categories[k] for k in frequent.tolist()]


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number or the text of one; commas are ignored."""
    if not isinstance(value, str):
        return isinstance(value, numbers.Real)
    try:
        return math.isfinite(float(value.replace(",", ""))) and "_" not in value
    except ValueError:
        return False
