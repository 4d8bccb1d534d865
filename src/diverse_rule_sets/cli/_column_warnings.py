"""Warnings of `drs fit` about columns that are probably not what they look like, with the option that helps."""

from __future__ import annotations

import re
import shlex
import warnings

import polars as pl

from diverse_rule_sets.cli._errors import print_message
from diverse_rule_sets.cli._reading import LoadedTable

_MIN_RECORDS = 20  # with fewer records, different integers do not show that a column is an id
_LISTED = 3  # cells in a message


def warn_about_columns(table: LoadedTable, X: pl.DataFrame) -> None:
    """Print a warning for each column that is text instead of numbers, or that counts the records.

    The library warns about text columns too, if they look like identifiers or have many values. If they hold numbers,
    its warning is not printed: it says the same, but not which option helps.
    """
    for column in X:
        message = _text_warning(table, column.name) if column.dtype == pl.String else ""
        if message:
            print_message(message, "warning")
            warnings.filterwarnings("ignore", message=re.escape(f"column {column.name!r} "))
        elif _counts_records(column):
            hint = f"leave it out with --drop {column.name!r}"
            print_message(f"column {column.name!r} counts the records, as an id would; {hint}", "warning")


def _text_warning(table: LoadedTable, name: str) -> str:
    """Return a warning about a text column with numbers; empty if it has none, or if the user chose its type."""
    if name in table.kinds:
        return ""
    example = table.cells_of(name).find_decimal_comma(table.column(name)) if table.is_text else None
    if example is not None:
        problem = f"column {name!r} is text, but nearly all its values look like numbers with a decimal comma"
        return f"{problem}, such as {example!r}; to read them as numbers give --decimal ,"
    exceptions = table.cells_of(name).find_exceptions(table.column(name))
    if not exceptions:
        return ""
    listed = ", ".join(map(repr, exceptions[:_LISTED]))
    more = f" and {len(exceptions) - _LISTED:,} more" if len(exceptions) > _LISTED else ""
    problem = f"column {name!r} is text, but nearly all its values are numbers; the others are {listed}{more}"
    return f"{problem}; to read it as numbers, without them, give {_options(table, name, exceptions)}"


def _options(table: LoadedTable, name: str, exceptions: list[str]) -> str:
    """Return the options that read a column as numbers, also when the model is used."""
    options = [f"--missing-values {shlex.quote(f'{name}={word}')}" for word in exceptions[:_LISTED]]
    if not table.is_text:
        options.insert(0, f"--kind {shlex.quote(f'{name}=number')}")
    return " ".join(options) + (", and so on" if len(exceptions) > _LISTED else "")


def _counts_records(column: pl.Series) -> bool:
    """Return whether a column holds consecutive integers, a different one for each record."""
    values = column.drop_nulls()
    if not column.dtype.is_integer() or len(values) < max(_MIN_RECORDS, len(column) // 2):
        return False
    return values.n_unique() == len(values) and values.max() - values.min() == len(values) - 1  # type: ignore[operator]
