"""What `drs fit` does: a table to records and labels, figures of held-out records, then rules from all of them."""

from __future__ import annotations

import inspect
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, RuleSet
from diverse_rule_sets.cli._column_types import as_labels
from diverse_rule_sets.cli._errors import InputError, UsageError, complain, naming_options
from diverse_rule_sets.cli._options import OF_LABELS
from diverse_rule_sets.cli._progress import watched
from diverse_rule_sets.cli._reading import Loaded

_FEW = 20  # records: with fewer, all different says nothing
_MANY_CLASSES = 1000


@dataclass(frozen=True)
class Records:
    """The columns that rules may read, and a label for each record."""

    X: pl.DataFrame
    y: pl.Series

    def taken(self, rows: NDArray[np.int64]) -> Records:
        """Return some of the records."""
        return Records(self.X[rows], self.y[rows])


def records_of(table: Loaded, target: str, drop: Sequence[str], drop_unlabelled: bool) -> Records:
    """Part a table into records and labels, and say what looks wrong with them."""
    for name in (target, *drop):
        table.column(name)
    if target in drop:
        raise UsageError(f"--drop names the target, {target!r}")
    names = [name for name in table.frame.columns if name != target and name not in drop]
    if not names:
        raise InputError(f"{table.name}: besides the target {target!r} no column is left to make rules of")
    if table.frame.is_empty():
        raise InputError(f"{table.name}: the table has no records, only the names of its columns")
    X, y = pl.DataFrame([table.read(name) for name in names]), table.labels(target)
    if y.null_count():
        if not drop_unlabelled:
            raise InputError(
                f"{table.name}: {y.null_count():,} of {len(y):,} records have no value in the target {target!r}; "
                "leave them out with --drop-unlabelled"
            )
        X, y = X.filter(y.is_not_null()), y.drop_nulls()
    _check_labels(y, table.name)
    for name in names:
        comma = table.with_comma(name) if X[name].dtype == pl.String else None
        if comma is None:
            _warn_of_names(X[name])
        else:
            told = f"column {name!r} is text, but nearly all its values look like numbers with a decimal comma"
            complain(f"{told}, such as {comma!r}; to read them as numbers give --decimal ,", "warning")
    return Records(X, y)


def _check_labels(y: pl.Series, name: str) -> None:
    """Refuse a target that holds no classes."""
    n_classes = y.n_unique()
    if n_classes < 2:
        value = f"{y[0]!r} in all {len(y):,} records" if len(y) else "no value at all"
        raise InputError(f"{name}: the target {y.name!r} has {value}; expected two classes or more")
    fractions = y.filter(y != y.round()) if y.dtype.is_float() else y.clear()
    many = n_classes > _MANY_CLASSES or (len(y) >= _FEW and n_classes > len(y) // 2)
    if many or len(fractions):
        values = f"{n_classes:,} different values, such as {(fractions if len(fractions) else y)[0]!r}"
        quantity = "numbers with a fraction are taken for a quantity, " if len(fractions) else ""
        hint = "" if many else f" (--kind {shlex.quote(f'{y.name}=text')} makes each number a class)"
        raise InputError(f"{name}: the target {y.name!r} holds {values}; {quantity}expected a few classes{hint}")


def _warn_of_names(column: pl.Series) -> None:
    """Warn of a column that names each record, or counts them."""
    if column.dtype != pl.String and not column.dtype.is_integer():
        return
    values = column.drop_nulls()
    if len(values) < max(_FEW, len(column) // 2) or values.n_unique() < len(values):
        return
    counts = column.dtype.is_integer() and values.max() - values.min() == len(values) - 1  # type: ignore[operator]
    if column.dtype == pl.String or counts:
        what = "counts the records" if counts else "has a different text for each record"
        complain(f"column {column.name!r} {what}, as an id would; leave it out with --drop {column.name!r}", "warning")


def with_labels_of(parameters: Mapping[str, Any], y: pl.Series) -> dict[str, Any]:
    """Return the parameters with labels as the table has them: `1` on the command line is the number 1 there."""
    classes = y.unique().to_list()
    found = dict(parameters)
    for name in OF_LABELS:
        value = found.get(name)
        if isinstance(value, str):
            found[name] = as_labels(pl.Series([value]), classes)[0]
        elif isinstance(value, dict):
            found[name] = dict(zip(as_labels(pl.Series(list(value)), classes), value.values(), strict=True))
    return found


def ways_of_columns(ways: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the directions of columns as the table names them: `a:b=increasing` may mean a column called `a:b`."""
    found: dict[str, Any] = {}
    for column, way in ways.items():
        for label, one in way.items() if isinstance(way, dict) else ((None, way),):
            whole = column if label is None else f"{column}:{label}"
            if label is None or (column not in names and whole in names):
                found[whole] = one
            else:
                found.setdefault(column, {})[label] = one
    return found


def check_parameters(parameters: Mapping[str, Any], paper: bool) -> None:
    """Refuse parameters that make no sense on any table, before one is read."""
    known = inspect.signature(_estimator(paper)).parameters
    for name in parameters:
        if name not in known:
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} cannot be used with --as-in-paper" if paper else f"{flag} needs --as-in-paper")
    with naming_options(parameters):
        _estimator(paper)(**parameters)._check_parameters()


def _estimator(paper: bool) -> type[DRSClassifier] | type[DiverseRuleSetClassifier]:
    return DRSClassifier if paper else DiverseRuleSetClassifier


def learnt(records: Records, parameters: Mapping[str, Any], paper: bool, verbose: int, what: str) -> RuleSet:
    """Learn a rule set, with something to look at meanwhile."""
    chosen = {"random_state": 0, **with_labels_of(parameters, records.y)}
    if "monotone" in chosen:
        chosen["monotone"] = ways_of_columns(chosen["monotone"], records.X.columns)
    with naming_options(parameters), watched(what, verbose) as watching:
        clf = _estimator(paper)(**chosen, verbose=watching.verbose)
        return clf.fit(records.X, records.y, on_progress=watching.on_progress).rule_set_


def held_out(y: pl.Series, share: float, seed: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return which records to learn from and which to measure on, classes in proportion; None if there are too few.

    The only record of a class is for learning.
    """
    from sklearn.model_selection import train_test_split

    counts = y.value_counts(name="n of this label")
    lonely = counts.filter(pl.col("n of this label") < 2)[y.name].to_list()
    alone = y.is_in(lonely).to_numpy() if lonely else np.zeros(len(y), np.bool_)
    rest = np.flatnonzero(~alone)
    n_classes, n_outside = counts.height - len(lonely), math.ceil(share * rest.size)
    if not n_classes or min(n_outside, rest.size - n_outside) < n_classes:  # too few to have some of each class
        return None
    seed = None if seed is None else seed % 2**32  # scikit-learn takes no larger ones
    labels = y.gather(rest).to_numpy()
    inside, outside = train_test_split(rest, test_size=share, random_state=seed, stratify=labels)
    return np.sort(np.concatenate([inside, np.flatnonzero(alone)])), np.sort(outside)
