"""The parameter `missing_values`: codes of all columns or by column become the codes of each column of a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from diverse_rule_sets._input.checks import Check, did_you_mean, list_text
from diverse_rule_sets._input.codes import EXPECTED, as_codes, fits
from diverse_rule_sets._input.columns import values_text
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._input.values import TEXT, type_of


@dataclass(frozen=True)
class MissingValues(Check):
    """None, a code, a list of codes, or a dict from columns to codes; the table is checked later."""

    def __call__(self, name: str, value: Any) -> None:
        codes_by_name(name, value)


def codes_by_name(name: str, value: Any) -> tuple[tuple[Any, ...], dict[Hashable, tuple[Any, ...]]]:
    """Return the codes of all columns, and those of some columns, of the value of the parameter."""
    if isinstance(value, Mapping):
        return (), {column: as_codes(f"{name}[{column!r}]", codes) for column, codes in value.items()}
    if not _is_several(value):
        try:
            return as_codes(name, value), {}
        except TypeError:
            expected = f"None, a code for missing values ({EXPECTED}), a list of codes, or a dict of columns"
            raise TypeError(f"{name} must be {expected}, got {value!r:.80} ({type(value).__name__})") from None
    return as_codes(name, value), {}


def _is_several(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def codes_for(value: Any, names: Iterable[Hashable]) -> dict[Hashable, tuple[Any, ...]]:
    """Return the codes of some columns of any types, to be compared with their values by type and value."""
    of_all, by_column = codes_by_name("missing_values", value)
    return dict.fromkeys(names, of_all) if of_all else by_column


def settle_codes(value: Any, table: Table, name: str = "missing_values") -> dict[Hashable, tuple[Any, ...]]:
    """Return the codes of each column of a table: those that can be compared with its values.

    Codes for all columns that do not fit the type of a column are not used there.

    Parameters
    ----------
    value : the value of the parameter
    table : the training records
    name : the name of the parameter, for errors

    Raises
    ------
    ValueError : if a dict names a column that the table does not have, or a code that does not fit its type
    """
    of_all, by_column = codes_by_name(name, value)
    for column in by_column:
        if column not in table:
            raise ValueError(
                f"{name} names the column {column!r}, which X does not have; its columns: {list_text(table.names)}"
                f"{did_you_mean(column, table.names)}"
            )
    settled: dict[Hashable, tuple[Any, ...]] = {}
    for column in table.names if of_all else by_column:
        kind, holds_objects = _stored_kind(table, column), table.holds_objects(column)
        for code in by_column.get(column, ()):
            if not fits(code, kind, holds_objects):
                raise _wrong_code(name, column, code, kind)
        codes = tuple(code for code in of_all or by_column[column] if fits(code, kind, holds_objects))
        if codes:
            settled[column] = codes
    return settled


def _stored_kind(table: Table, name: Hashable) -> str:
    """Return the type of a column as it is stored, codes included; empty if it has none that rules can read."""
    try:
        return table.column(name).kind
    except (TypeError, ValueError):  # such as durations: an error only if the column is used
        return ""


def _wrong_code(name: str, column: Hashable, code: Any, kind: str) -> ValueError:
    hint = f"; did you mean the text {str(code)!r}?" if kind == TEXT and type_of(code) != TEXT else ""
    return ValueError(
        f"{name}[{column!r}] must hold codes of the type of the column, which has {values_text(kind)}, got {code!r} "
        f"({type_of(code)}){hint}"
    )
