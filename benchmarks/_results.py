"""Runs of the frontier: one row per table, split and model, kept as JSON lines, so that a run can be continued."""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from _measuring import Split
from _models import Choice
from _rivals import has
from _tables import Table, Tables
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_limits

from diverse_rule_sets import DiverseRuleSetClassifier, __version__

Row = dict[str, Any]
Key = tuple[str, int, str]


class ResultsError(Exception):
    """A file of results cannot be used."""


def known(value: Any) -> bool:
    """Return whether a figure is known; JSON has no NaN."""
    return not (isinstance(value, float) and math.isnan(value))


def key(row: Row) -> Key:
    """Return what identifies a row."""
    return row["table"], row["split"], row["model"]


class Results:
    """The rows of a run, in memory and, if there is a path, in a file.

    Parameters
    ----------
    path : a file of JSON lines, or None
    resume : whether rows that the file has are kept; otherwise the file must not exist
    """

    def __init__(self, path: Path | None, *, resume: bool = False):
        self.path, self.rows = path, {}
        if path is not None and path.exists():
            if not resume:
                raise ResultsError(f"{path} exists; give --resume to continue it, or another name")
            self.rows = {key(row): row for row in read_rows(path) if "error" not in row}
            # An interrupted run may have left half a line.
            part = path.with_name(path.name + ".part")
            part.write_text("".join(json.dumps(row) + "\n" for row in self.rows.values()), "utf8")
            part.replace(path)

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.rows[key(row)] = row
        if self.path is not None:
            with self.path.open("a", encoding="utf8") as file:
                file.write(json.dumps(row, allow_nan=False) + "\n")

    def of(self, table: str, split: int) -> dict[str, Row]:
        """Return the rows of a split by model."""
        return {model: row for (name, number, model), row in self.rows.items() if (name, number) == (table, split)}


def read_rows(path: Path) -> Iterator[Row]:
    """Read the rows of a file; half a line at its end is left out."""
    lines = path.read_text("utf8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            key(row)
        except (ValueError, TypeError, KeyError) as error:
            if number == len(lines):
                return
            raise ResultsError(f"line {number} of {path} is not a row of results") from error
        yield row


@dataclass(frozen=True)
class Task:
    """All models on one split of a table.

    Parameters
    ----------
    data, table, split : the folder (or None), the name of the table and the number of the split
    choice : the models
    done : the rows that are already there, by model
    """

    data: str | None
    table: str
    split: int
    choice: Choice
    done: dict[str, Row]


@lru_cache(maxsize=2)
def load(data: str | None, name: str) -> Table:
    """Return a table; the last ones stay in memory."""
    return Tables(data, [name]).load(name)


@lru_cache(maxsize=1)
def warm_up(rivals: tuple[str, ...]) -> None:
    """Fit small models once, because compiling the loops would count as time of the first fit."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    for scorecards in (None, "auto"):
        DiverseRuleSetClassifier(scorecards=scorecards, random_state=0).fit(X[:100], y[:100].astype(str))
        DiverseRuleSetClassifier(scorecards=scorecards, random_state=0).fit(X, y.astype(str))
    if any("imodels" in name for name in rivals) and has("imodels", "FastSmallTreeClassifier"):
        from imodels import FastSmallTreeClassifier

        FastSmallTreeClassifier(regularization=0.1).fit(X[:100].to_numpy(), y[:100].to_numpy())
    if any("risk score" in name for name in rivals) and has("imodels", "FastRiskScoreClassifier"):
        from imodels import FastRiskScoreClassifier

        FastRiskScoreClassifier(k=2).fit(X[:100], y[:100])


def run(task: Task) -> Iterator[Row]:
    """Yield the rows of a task that are not yet there."""
    table = load(task.data, task.table)
    models = [model for model in task.choice.plan() if model.applies(len(table.classes))]
    split, earlier = Split(table, task.split), dict(task.done)
    common = {"table": task.table, "split": task.split, **table.shape, "version": __version__}
    for model in models:
        here = {"model": model.name, "settings": model.settings}
        if model.name in earlier:
            check_same(earlier[model.name], {**common, **here})
            continue
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            warm_up(tuple(model.name for model in models))
            try:
                figures = model.run(split, earlier)
            except Exception as error:
                if model.ours:
                    raise
                yield {**common, **here, "error": f"{type(error).__name__}: {error}"}
                continue
        if figures is None:
            yield {**common, **here, "absent": True}
            continue
        row = {**common, **here, **{name: value for name, value in figures.items() if known(value)}}
        earlier[model.name] = row
        yield row


def check_same(row: Row, expected: Row) -> None:
    """Raise ResultsError if a row of a file was made from another table or with other settings."""
    for name, value in expected.items():
        if row.get(name) != value:
            raise ResultsError(
                f"the file has {row['model']!r} on split {row['split']} of {row['table']!r} with {name} "
                f"{row.get(name)!r}, this run has {value!r}; give another file with --results"
            )


def run_whole(task: Task) -> list[Row]:
    """Return the rows of a task, in another process."""
    return list(run(task))


def run_all(tasks: Iterable[Task], results: Results, *, jobs: int = 1) -> None:
    """Run tasks and keep their rows; progress goes to stderr."""
    tasks, start = list(tasks), time.perf_counter()

    def show(task: Task, number: int, what: str) -> None:
        seconds = time.perf_counter() - start
        print(f"[{number}/{len(tasks)}, {seconds:.0f} s] {task.table}, split {task.split}: {what}", file=sys.stderr)

    def keep(row: Row, task: Task, number: int) -> None:
        results.add(row)
        if "error" in row:
            show(task, number, f"{row['model']} failed: {row['error']}")

    if jobs == 1:
        for number, task in enumerate(tasks, start=1):
            n_rows = 0
            for row in run(task):
                keep(row, task, number)
                n_rows += 1
            show(task, number, f"{n_rows} models run, {len(task.done)} known")
        return
    # Processes are started anew, because threads of numba do not survive a fork.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(run_whole, task): task for task in tasks}
        try:
            for number, future in enumerate(as_completed(waiting), start=1):
                rows = future.result()
                for row in rows:
                    keep(row, waiting[future], number)
                show(waiting[future], number, f"{len(rows)} models run, {len(waiting[future].done)} known")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
