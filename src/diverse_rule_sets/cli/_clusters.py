"""`drs fit --scheduler`: a fit on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diverse_rule_sets.cli._errors import UsageError, option_errors, print_message

if TYPE_CHECKING:
    from diverse_rule_sets import RuleSet

Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Fit on a Dask cluster, whose workers read the files; the rules are not measured."
    ),
]
_NOT_AVAILABLE = "cannot be used with --scheduler"


def check_not_used(options: Mapping[str, Any]) -> None:
    """Raise an error for an option, by name, that is given but not available on a cluster."""
    for name, value in options.items():
        if value:
            raise UsageError(f"{name} {_NOT_AVAILABLE}")


def fit_on_cluster(
    address: str,
    path: str,
    reading: Mapping[str, Any],
    parameters: Mapping[str, Any],
    target: str,
    drop: Sequence[str],
    paper: bool,
    verbose: int,
) -> RuleSet:
    """Learn a rule set on a cluster; print that it is not measured."""
    from diverse_rule_sets.cli._batches import source_of
    from diverse_rule_sets.cli._fitting import check_columns, directions_by_column, estimator
    from diverse_rule_sets.cli._progress import show_progress
    from diverse_rule_sets.data._dask import connected
    from diverse_rule_sets.sources._selected import SelectedSource

    if path == "-":
        raise UsageError(f"the standard input {_NOT_AVAILABLE}: workers cannot read it")
    if parameters.get("missing_values"):
        raise UsageError(f"--missing-values {_NOT_AVAILABLE}")
    source = source_of(path, reading)
    names = [str(name) for name in source.names]
    check_columns(parameters, [name for name in names if name != target and name not in drop], target, drop)
    unknown = next((name for name in drop if name not in names), None)
    if unknown is not None:
        raise UsageError(f"--drop names {unknown!r}, which the table does not have as a column")
    arguments = {"random_state": 0, **parameters}
    if "monotone" in arguments:
        arguments["monotone"] = directions_by_column(arguments["monotone"], names)
    with option_errors(parameters), connected(address) as client, show_progress("on the cluster", verbose) as progress:
        clf = estimator(paper)(**arguments, verbose=progress.verbose)
        clf.fit(SelectedSource(source, drop), target, on_progress=progress.on_progress, client=client)
    print_message("rules that are learnt on a cluster are not measured; use drs evaluate", "warning")
    return clf.rule_set_
