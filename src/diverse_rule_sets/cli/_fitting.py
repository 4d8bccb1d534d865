"""The work of `drs fit`: records and labels of a table, held-out records, and the fit."""

from __future__ import annotations

import inspect
import math
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, RuleSet
from diverse_rule_sets._input.batch_labels import BatchLabels
from diverse_rule_sets._input.checks import did_you_mean
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets.cli._batches import is_large, source_of
from diverse_rule_sets.cli._codes import kept_codes, typed_codes
from diverse_rule_sets.cli._column_warnings import warn_about_columns
from diverse_rule_sets.cli._errors import InputError, UsageError, option_errors, print_message
from diverse_rule_sets.cli._options import COLUMN_PARAMETERS, LABEL_PARAMETERS
from diverse_rule_sets.cli._predicting import evaluation, figures
from diverse_rule_sets.cli._progress import show_progress
from diverse_rule_sets.cli._reading import LoadedTable, load
from diverse_rule_sets.cli._weights import read_weights
from diverse_rule_sets.sources._cells import Cells, as_labels
from diverse_rule_sets.sources._files import FileSource
from diverse_rule_sets.sources._selected import SelectedSource
from diverse_rule_sets.sources._weights import WeightedSource, with_weights

_MIN_RECORDS = 20  # with fewer records, each may have a class of its own
_MANY_CLASSES = 1000


@dataclass(frozen=True)
class Records:
    """The columns that rules may read, a label for each record, and how the cells were read."""

    X: pl.DataFrame
    y: pl.Series
    cells: Cells = field(default_factory=Cells)
    weights: Weights | None = None

    def select(self, rows: NDArray[np.int64]) -> Records:
        """Return the records at some positions."""
        weights = None if self.weights is None else self.weights.take(rows)
        return Records(self.X[rows], self.y[rows], self.cells, weights)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def types(self) -> pl.DataFrame:
        """A frame with the columns and their types."""
        return self.X

    @property
    def classes(self) -> list[Any]:
        """The different labels."""
        return self.y.unique().to_list()

    @property
    def training(self) -> tuple[Any, Any, Any]:
        """The arguments X, y and sample_weight of a fit."""
        return self.X, self.y, self.weights

    def figures(self, rule_set: RuleSet) -> dict[str, Any]:
        """Return the figures of a rule set on these records."""
        return evaluation(rule_set, self.X, self.y.to_list(), self.weights)


@dataclass(frozen=True)
class SourceRecords:
    """The same for a table that is read in batches.

    Parameters
    ----------
    source, target : the columns that rules may read, and the column with the labels
    y : the class of each record, as a number
    classes : the different labels
    types : some records, with the types of the columns
    cells : how cells were read
    records : flags of the records of the files that these are
    weights : the weights of these records; None if they have none
    """

    source: FileSource
    target: str
    dropped: tuple[str, ...]
    y: pl.Series
    classes: list[Any]
    types: pl.DataFrame
    cells: Cells
    records: NDArray[np.bool_]
    weights: Weights | None = None

    def select(self, rows: NDArray[np.int64]) -> SourceRecords:
        """Return the records at some positions, which ascend."""
        records = np.zeros(self.records.size, np.bool_)
        records[np.flatnonzero(self.records)[rows]] = True
        weights = None if self.weights is None else self.weights.take(rows)
        return replace(self, y=self.y[rows], records=records, weights=weights)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def training(self) -> tuple[Any, Any, Any]:
        """The arguments X, y and sample_weight of a fit."""
        records = None if self.records.all() else self.records
        return SelectedSource(self.source, self.dropped, records), self.target, self.weights

    def figures(self, rule_set: RuleSet) -> dict[str, Any]:
        """Return the figures of a rule set on these records."""
        from diverse_rule_sets.report._summary import summarise

        return figures(rule_set, summarise(rule_set, *self.training))


def read_records(
    path: str,
    reading: Mapping[str, Any],
    parameters: Mapping[str, Any],
    target: str,
    drop: Sequence[str],
    drop_unlabelled: bool,
    weight: str | None,
) -> Records | SourceRecords:
    """Read the records of a fit, in batches if the table is large; raise an error for options that do not fit them."""
    if is_large(path):
        source = source_records(source_of(path, reading), target, drop, drop_unlabelled, weight)
        check_columns(parameters, source.types.columns, target, drop, weight)
        return source
    table = replace(load(path, reading), codes=parameters.get("missing_values", {}))
    records = make_records(table, target, drop, drop_unlabelled, weight)
    check_columns(parameters, records.types.columns, target, drop, weight)
    warn_about_columns(table, records.types)
    return records


def source_records(
    source: FileSource, target: str, drop: Sequence[str], drop_unlabelled: bool, weight: str | None = None
) -> SourceRecords:
    """Return the records of a table that is read in batches; this reads the labels and the weights."""
    names = [str(name) for name in source.names]
    for name in (target, *drop, *([] if weight is None else [weight])):
        if name not in names:
            raise InputError(f"{source.name}: there is no column {name!r}; its columns are {names}"[:2000])
    if target in drop:
        raise UsageError(f"--drop names the target, {target!r}")
    labels = BatchLabels(target)
    codes = [
        labels.add(as_table(batch.frame).native(target), batch.origin)
        for batch in source.with_labels(target).batches([target])
    ]
    y = np.concatenate(codes) if codes else np.zeros(0, np.int64)
    known = y >= 0
    if not y.size:
        raise InputError(f"{source.name}: the table has no records, only column names")
    if not known.all() and not drop_unlabelled:
        raise _unlabelled(source.name, int((~known).sum()), y.size, target)
    weighted = _weights_of(source, known, target, weight)
    if weighted.records is not None:
        known[np.flatnonzero(known)[weighted.values == 0]] = False
    _, present = np.unique(y[known], return_index=True)  # a label may have weight 0 only
    classes = pl.Series(target, [labels.labels[k] for k in y[known][np.sort(present)].tolist()])
    _check_labels(classes, int(known.sum()), source.name)
    used = [name for name in names if name not in (target, weight) and name not in drop]
    if not used:
        raise InputError(f"{source.name}: no column is left for rules besides the target {target!r}")
    first: Any = next(source.batches(used)).frame
    types = (first if isinstance(first, pl.DataFrame) else pl.DataFrame(pl.from_arrow(first))).select(used)
    _, rank = np.unique(np.array(labels.labels), return_inverse=True)  # the parts depend on the order of the classes
    sorted_codes = pl.Series(target, rank.reshape(-1)[y[known]])
    dropped = (*drop, *([] if weight is None else [weight]))
    return SourceRecords(
        source, target, dropped, sorted_codes, classes.to_list(), types, source.reading.cells, known, weighted.weights
    )


def _weights_of(source: FileSource, known: NDArray[np.bool_], target: str, weight: str | None) -> WeightedSource:
    """Return the weights of the records with a label."""
    if weight is not None and weight == target:
        raise UsageError(f"--weight names the target, {weight!r}")
    try:
        return with_weights(SelectedSource(source, (), known), weight, target, argument="--weight")
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from None


def _unlabelled(name: str, n_missing: int, n_records: int, target: str) -> InputError:
    return InputError(
        f"{name}: {n_missing:,} of {n_records:,} records have no value in the target {target!r}; "
        "leave them out with --drop-unlabelled"
    )


def make_records(
    table: LoadedTable, target: str, drop: Sequence[str], drop_unlabelled: bool, weight: str | None = None
) -> Records:
    """Return the records and labels of a table, and their weights, without records of weight 0."""
    for name in (target, *drop):
        table.column(name)
    if target in drop:
        raise UsageError(f"--drop names the target, {target!r}")
    names = [name for name in table.frame.columns if name not in (target, weight, *drop)]
    if not names:
        raise InputError(f"{table.name}: no column is left for rules besides the target {target!r}")
    if table.frame.is_empty():
        raise InputError(f"{table.name}: the table has no records, only column names")
    X, y = pl.DataFrame([table.read(name) for name in names]), table.labels(target)
    if y.null_count():
        if not drop_unlabelled:
            raise _unlabelled(table.name, y.null_count(), len(y), target)
        table = replace(table, frame=table.frame.filter(y.is_not_null()))
        X, y = X.filter(y.is_not_null()), y.drop_nulls()
    rows, weights = read_weights(table, weight, target)
    if rows is not None:
        X, y = X[rows], y[rows]
    _check_labels(y.unique(maintain_order=True), len(y), table.name)
    return Records(X, y, table.cells, weights)


def _check_labels(y: pl.Series, n_records: int, name: str) -> None:
    """Raise an error if the different values of the target are not classes."""
    n_classes = len(y)
    if n_classes < 2:
        records = "its only record" if n_records == 1 else f"all {n_records:,} records"
        value = f"{y[0]!r} in {records}" if len(y) else "no value at all"
        raise InputError(f"{name}: the target {y.name!r} has {value}; expected two classes or more")
    fractions = y.filter(y != y.round()) if y.dtype.is_float() else y.clear()
    many = n_classes > _MANY_CLASSES or (n_records >= _MIN_RECORDS and n_classes > n_records // 2)
    if many or len(fractions):
        values = f"{n_classes:,} different values, such as {(fractions if len(fractions) else y)[0]!r}"
        quantity = "numbers with a fraction are treated as a quantity, " if len(fractions) else ""
        hint = "" if many else f" (--kind {shlex.quote(f'{y.name}=text')} makes each number a class)"
        raise InputError(f"{name}: the target {y.name!r} holds {values}; {quantity}expected a few classes{hint}")


def convert_labels(parameters: Mapping[str, Any], classes: list[Any]) -> dict[str, Any]:
    """Return the parameters with labels of the types in the table: `1` on the command line can be the number 1."""
    converted = dict(parameters)
    for name in LABEL_PARAMETERS:
        value = converted.get(name)
        if isinstance(value, str):
            converted[name] = as_labels(pl.Series([value]), classes)[0]
        elif isinstance(value, dict):
            converted[name] = dict(zip(as_labels(pl.Series(list(value)), classes), value.values(), strict=True))
    return converted


def directions_by_column(directions: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the directions by the column names of the table: `a:b=increasing` may mean a column called `a:b`."""
    by_column: dict[str, Any] = {}
    for column, given in directions.items():
        for label, direction in given.items() if isinstance(given, dict) else ((None, given),):
            name = column if label is None else f"{column}:{label}"
            if label is None or (column not in names and name in names):
                by_column[name] = direction
            else:
                by_column.setdefault(column, {})[label] = direction
    return by_column


def check_parameters(parameters: Mapping[str, Any], paper: bool) -> None:
    """Raise an error for parameters that are invalid for every table, before a table is read."""
    known = inspect.signature(estimator(paper)).parameters
    for name in parameters:
        if name not in known:
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} cannot be used with --as-in-paper" if paper else f"{flag} needs --as-in-paper")
    with option_errors(parameters):
        estimator(paper)(**parameters)._check_parameters()


def check_columns(
    parameters: Mapping[str, Any], names: Sequence[str], target: str, drop: Sequence[str], weight: str | None = None
) -> None:
    """Raise an error for a parameter that names a column that rules cannot read."""
    left_out: dict[str | None, str] = {target: "the target", weight: "the column of --weight"}
    left_out |= dict.fromkeys(drop, "which --drop leaves out")
    for option in COLUMN_PARAMETERS:
        given = parameters.get(option, ())
        given = directions_by_column(given, names) if option == "monotone" and given else given
        for name in () if isinstance(given, str) else given:
            if name not in names and name is not None:  # None means all columns
                reason = f"which the table does not have as a column{did_you_mean(name, names)}"
                raise UsageError(f"--{option.replace('_', '-')} names {name!r}, {left_out.get(name, reason)}")


def estimator(paper: bool) -> type[DRSClassifier] | type[DiverseRuleSetClassifier]:
    """Return the classifier: that of the paper, or the default one."""
    return DRSClassifier if paper else DiverseRuleSetClassifier


def fit_rules(
    records: Records | SourceRecords, parameters: Mapping[str, Any], paper: bool, verbose: int, description: str
) -> RuleSet:
    """Learn a rule set and show the progress."""
    arguments = {"random_state": 0, **convert_labels(parameters, records.classes)}
    if "monotone" in arguments:
        arguments["monotone"] = directions_by_column(arguments["monotone"], records.types.columns)
    codes = arguments.pop("missing_values", {})
    if codes:
        arguments["missing_values"] = typed_codes(codes, records.types, records.cells)
    with option_errors(parameters), show_progress(description, verbose) as progress:
        clf = estimator(paper)(**arguments, verbose=progress.verbose)
        rule_set = clf.fit(*records.training, on_progress=progress.on_progress).rule_set_
        return replace(rule_set, missing_values=kept_codes(codes, records.types, records.cells)) if codes else rule_set


def fit_and_measure(
    records: Records | SourceRecords, parameters: Mapping[str, Any], paper: bool, verbose: int, test_size: float
) -> tuple[RuleSet, tuple[RuleSet, Records | SourceRecords, int] | None]:
    """Learn rules from all records; before, learn rules from a part of them, to be measured on the others.

    The second result is None if nothing is measured; otherwise these rules, the other records, and the number of
    records of the part.
    """
    parts = split_records(records.y, test_size, parameters.get("random_state", 0)) if test_size else None
    held_out: tuple[RuleSet, Records | SourceRecords, int] | None = None
    if parts is not None:
        train, test = (records.select(rows) for rows in parts)
        with warnings.catch_warnings(action="ignore"):  # the fit on all records gives the same warnings
            measured = fit_rules(train, parameters, paper, verbose, "learning from the training part")
        held_out = measured, test, len(train)
    elif test_size:
        print_message("too few records to hold out some of each class: the rules are not measured", "warning")
    return fit_rules(records, parameters, paper, verbose, "learning from all records"), held_out


def split_records(y: pl.Series, share: float, seed: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the positions of the training records and of the held-out records, stratified; None if there are too few.

    If a class has only one record, it is a training record.
    """
    from sklearn.model_selection import train_test_split

    counts = y.value_counts(name="n of this label")
    single = counts.filter(pl.col("n of this label") < 2)[y.name].to_list()  # classes of one record
    is_single = y.is_in(single).to_numpy() if single else np.zeros(len(y), np.bool_)
    others = np.flatnonzero(~is_single)
    n_classes, n_test = counts.height - len(single), math.ceil(share * others.size)
    if not n_classes or min(n_test, others.size - n_test) < n_classes:  # too few for some of each class in both parts
        return None
    seed = None if seed is None else seed % 2**32  # scikit-learn accepts no larger seeds
    labels = y.gather(others).to_numpy()
    train, test = train_test_split(others, test_size=share, random_state=seed, stratify=labels)
    return np.sort(np.concatenate([train, np.flatnonzero(is_single)])), np.sort(test)
