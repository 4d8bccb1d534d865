"""What a database cannot hold: errors for a query that would be wrong, warnings for columns that it may read otherwise.

The query cannot see the table. What depends only on the table is described in :meth:`RuleSet.to_sql`.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from diverse_rule_sets._input.checks import warn
from diverse_rule_sets.export import _sql_dialects
from diverse_rule_sets.export._sql_dialects import folded_name
from diverse_rule_sets.model._rules import RuleSet


def check_different(names: Mapping[Hashable, str], dialect: str) -> None:
    """Raise ValueError if a column that the rules read has the name of another one or of a system column."""
    by_name: dict[str, list[str]] = {}
    for name, text in names.items():
        if text in _sql_dialects.SYSTEM_COLUMNS.get(dialect, ()):
            raise ValueError(
                f"{text!r} is a system column of {dialect}; give the name that {name!r} has in the database: "
                f"columns={{{name!r}: ...}}"
            )
        by_name.setdefault(folded_name(text, dialect), []).append(text)
    same = [text for texts in by_name.values() if len(texts) > 1 for text in texts]
    if same:
        raise ValueError(
            f"the columns {same} would be one column in a database ({dialect}); give them different names with "
            "columns={...}"
        )


def check_unambiguous(rule_set: RuleSet, names: Mapping[Hashable, str], dialect: str) -> None:
    """Raise ValueError if a name could mean another column of the training table, which a dialect cannot tell apart.

    Parameters
    ----------
    rule_set : the rule set, which knows such columns of its training table
    names : the name in the database of each column whose name was not given by the user
    dialect : the dialect
    """
    others: dict[str, list[Hashable]] = {}
    for name in rule_set.similar_columns:
        others.setdefault(folded_name(str(name), dialect), []).append(name)
    for name, text in names.items():
        found: Sequence[Hashable] = others.get(folded_name(text, dialect), ())
        if not found and dialect == "duckdb":  # it calls the second of a and A A_1, and so a column A_1 by another name
            found = others.get(folded_name(re.sub(r"(_\d+)+\Z", "", text), dialect), ())
        for other in found:
            if other != name:
                raise ValueError(
                    f"{dialect} cannot tell the columns {name!r} and {other!r} of the training table apart; give the "
                    f"name that {name!r} has in the database: columns={{{name!r}: ...}}"
                )


def check_added(added: Sequence[str], kept: Sequence[str], prefix: str, dialect: str) -> None:
    """Raise ValueError if the columns of the result would not have different names, in upper or lower case."""
    new: dict[str, str] = {}
    for name in added:
        first = new.setdefault(folded_name(name.casefold(), dialect), name)
        if first != name:
            raise ValueError(
                f"{dialect} cannot tell the new columns {first!r} and {name!r} apart; choose a shorter prefix than "
                f"{prefix!r}"
            )
    seen: set[str] = set()
    for name in kept:
        if folded_name(name.casefold(), dialect) in new:
            raise ValueError(f"keep names {name!r}, which the query adds itself; choose another prefix than {prefix!r}")
        if folded_name(name, dialect) in seen:
            raise ValueError(f"keep names the column {name!r} twice, got {list(kept)}")
        seen.add(folded_name(name, dialect))


def check_not_added(read: Sequence[str], added: Sequence[str], prefix: str, dialect: str) -> None:
    """Raise ValueError if the table has a column, which the rules read, with the name of a new one in any case."""
    new = {folded_name(name.casefold(), dialect): name for name in added}
    for name in read:
        if folded_name(name.casefold(), dialect) in new:
            raise ValueError(
                f"the rules read the column {name!r}, and the query adds a column of this name, so that the result "
                f"would have two; choose another prefix than {prefix!r}, or list the columns to keep"
            )


def check_carried(read: Sequence[str], kept: Sequence[str], points: Iterable[str], prefix: str, dialect: str) -> None:
    """Raise ValueError if a column that is read or kept would lose its name in the steps that compute points."""
    added = {folded_name(name.casefold(), dialect) for name in points}
    for name in read:
        if folded_name(name.casefold(), dialect) in added:
            raise ValueError(
                f"the rules read the column {name!r}, a name that the query gives to points; choose another prefix "
                f"than {prefix!r}"
            )
    for name in (*read, *kept):
        if name.casefold() in _sql_dialects.NAMES_LOST_IN_STEPS.get(dialect, ()):
            raise ValueError(
                f"{dialect} loses the column name {name!r} in a query of several steps, which scorecards need; give "
                "the column another name in the database"
            )


def check_n_columns(n_columns: int, dialect: str) -> None:
    """Raise ValueError if a dialect allows fewer columns in a query."""
    most = _sql_dialects.MAX_COLUMNS.get(dialect)
    if most is not None and n_columns > most:
        raise ValueError(
            f"the query would have {n_columns} columns in one of its steps, which are one for each rule that is added "
            f"up, each class and each column of keep; {dialect} allows {most}"
        )


def warn_about_values(values: Mapping[Hashable, Sequence[Any]], exact: set[Hashable], dialect: str) -> None:
    """Warn of columns whose comparisons a database may answer in another way than this package.

    Parameters
    ----------
    values : the values in the conditions on each column
    exact : the columns of numbers that are categories, whose values are not rounded to doubles
    dialect : the dialect
    """
    for column, compared in values.items():
        for value in compared:
            reason = _reason(value, column in exact, dialect)
            if reason:
                warn(f"{dialect} may answer differently for the column {column!r}, compared with {value!r}: {reason}")
                break


def _reason(value: Any, exact: bool, dialect: str) -> str:
    """Return why a database may compare a value differently; empty if it does not."""
    if isinstance(value, str) and dialect in _sql_dialects.LOOSE_TEXT:
        return "it ignores the case of text or blanks at the end, unless the column has an exact collation"
    if isinstance(value, datetime.date):
        return _reason_for_date(value, dialect)
    if isinstance(value, int) and exact and not is_exact_integer(value, dialect):
        return "its integers are smaller, and other numbers are rounded"
    return ""


def _reason_for_date(value: datetime.date, dialect: str) -> str:
    first, last = _sql_dialects.YEARS.get(dialect, (1, 9999))
    if not first <= value.year <= last:
        return f"its dates agree with those of Python from {first} to {last} only"
    digits = _sql_dialects.SECOND_DIGITS.get(dialect, 6)
    if getattr(value, "microsecond", 0) % 10 ** (6 - digits):
        return f"its timestamps have {digits} digits of a second, unless they are declared with more"
    return ""


def is_exact_integer(value: int, dialect: str) -> bool:
    """Return whether a dialect has an integer type that holds a value."""
    end = _sql_dialects.INTEGERS_END.get(dialect, _sql_dialects.DEFAULT_INTEGERS_END)
    return -end <= value < end
