"""The option `--missing-values`: texts of cells become codes for missing values, which the model keeps.

A code is the text of a cell. In a column of numbers, -9 is also the number -9, so that -9.0 is missing too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from diverse_rule_sets.sources._cells import Cells

# The texts of the codes of each column; those of None are codes of all columns.
CodeTexts = Mapping[str | None, Sequence[str]]


def texts_of(codes: CodeTexts, column: str) -> list[str]:
    """Return the texts of the codes of one column."""
    return list(dict.fromkeys([*codes.get(None, ()), *codes.get(column, ())]))


def typed_codes(codes: CodeTexts, X: pl.DataFrame, cells: Cells) -> dict[str, list[Any]]:
    """Return the codes of each column as values of its type, as the classifiers take them."""
    typed = {column.name: _values(texts_of(codes, column.name), column.dtype, cells) for column in X}
    return {name: values for name, values in typed.items() if values}


def kept_codes(codes: CodeTexts, X: pl.DataFrame, cells: Cells) -> dict[str, list[Any]]:
    """Return the codes of each column that the model keeps: values of its type, and other texts of cells."""
    typed, kept = typed_codes(codes, X, cells), {}
    for column in X:
        texts = texts_of(codes, column.name)
        others = [text for text in texts if not _values([text], column.dtype, cells)]
        if texts:
            kept[column.name] = [*typed.get(column.name, ()), *others]
    return kept


def _values(texts: Sequence[str], dtype: pl.DataType, cells: Cells) -> list[Any]:
    """Return those texts that are values of a type, as such values."""
    values = [_value(text, dtype, cells) for text in texts]
    return [value for value in values if value is not None]


def _value(text: str, dtype: pl.DataType, cells: Cells) -> Any:
    """Return a text as a value of a type; None if it is not."""
    if dtype.is_numeric():
        return cells.parse_number(text)
    if dtype == pl.Boolean:
        return {"true": True, "false": False}.get(text.lower())
    if dtype in (pl.Datetime, pl.Date):
        date = cells.parse_date(text)
        zoned = getattr(dtype, "time_zone", None) is not None
        return date if date is not None and (date.tzinfo is not None) == zoned else None
    return text if dtype in (pl.String, pl.Categorical, pl.Enum) else None


def texts_in_model(codes: Sequence[Any]) -> list[str]:
    """Return the texts of cells among the codes of a model."""
    return [code for code in codes if isinstance(code, str)]
