"""The arguments X and y of a fit: tables in memory, and tables that are read in batches."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.labels import encode_labels
from diverse_rule_sets._input.missing import settle_codes
from diverse_rule_sets._input.named_columns import split_columns
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets._util.progress import OnProgress
from diverse_rule_sets.data._bit_file import Storage
from diverse_rule_sets.data._cluster import scan_on_cluster
from diverse_rule_sets.data._dask import DaskTasks, cluster_tasks
from diverse_rule_sets.data._scan import scan
from diverse_rule_sets.sources._as_source import as_source
from diverse_rule_sets.sources._source import check_target
from diverse_rule_sets.sources._weights import with_weights


class Training(NamedTuple):
    """The records of a fit.

    Parameters
    ----------
    table : the columns, of the records of positive weight; those of a source by their summaries
    classes : the sorted labels
    codes : the class of each record
    target : the name of the labels; None if they have none
    weights : the weights of the records; None if they have none. Of a table on a cluster, ``codes`` and ``weights``
        have an entry for each class: its number of records
    """

    table: Table
    classes: NDArray[Any]
    codes: Integers
    target: str | None
    weights: Weights | None = None


def read_training(
    X: Any,
    y: Any,
    missing_values: Any,
    on_progress: OnProgress | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    sample_weight: Any = None,
    client: Any = None,
) -> Training:
    """Return the records of a fit, in which codes for missing values are missing values.

    Parameters
    ----------
    X, y, on_progress, cache_dir, sample_weight, client : as for :meth:`RuleSetEstimator.fit`
    missing_values : the parameter of the classifiers
    """
    on_cluster = cluster_tasks(X, y, client)
    if on_cluster is not None:
        return _read_on_cluster(*on_cluster, missing_values, on_progress, cache_dir, sample_weight)
    source = as_source(X)
    if source is not None:
        folder = _folder(cache_dir)
        check_target(y, source)
        records = with_weights(source, sample_weight, y, on_progress)
        storage = Storage(folder, records.source.fingerprint(), on_progress)
        scanned = scan(records.source, y, missing_values, records.weights, on_progress)
        scanned.table.storage = storage
        return Training(*scanned, y if isinstance(y, str) else None, records.weights)
    if cache_dir is not None:
        raise ValueError(f"cache_dir is for tables that are read in batches, such as files, got X of type {type(X)}")
    split = split_columns(as_table(X), y, sample_weight)
    numbers, weights = split.weighted()
    table = split.table
    classes, codes = encode_labels(split.y, table.n_records, numbers)
    table = table if numbers is None else table.select_records(numbers)
    table = table.with_codes(settle_codes(missing_values, table))
    return Training(table, classes, codes, y if isinstance(y, str) else _name_of(y), weights)


def _read_on_cluster(
    tasks: DaskTasks,
    target: Hashable,
    name: str | None,
    missing_values: Any,
    on_progress: OnProgress | None,
    cache_dir: str | os.PathLike[str] | None,
    sample_weight: Any,
) -> Training:
    """Return the records of a fit on a cluster: their summaries, and the number of records of each class."""
    if cache_dir is not None:
        raise ValueError(f"cache_dir is for fits on this machine, but the workers keep the bits; got {cache_dir!r}")
    if sample_weight is not None:
        raise ValueError("sample_weight is not available on a cluster; expected None")
    table, classes, totals = scan_on_cluster(tasks, target, missing_values, on_progress)
    return Training(table, classes, np.arange(classes.size), name, Weights(totals, 1.0))


def _folder(cache_dir: str | os.PathLike[str] | None) -> str | None:
    """Return the folder of the user's; raise an error if it does not exist."""
    if cache_dir is None:
        return None
    if not isinstance(cache_dir, str | os.PathLike) or not os.path.isdir(cache_dir):
        raise ValueError(f"cache_dir must be an existing folder, got {cache_dir!r}")
    return os.fspath(cache_dir)


def _name_of(y: Any) -> str | None:
    """Return the name of a pandas or polars series of labels; None if it has none, or another name than text."""
    name = getattr(y, "name", None)
    return str(name) if isinstance(name, str) and name else None
