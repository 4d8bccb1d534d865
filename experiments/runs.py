"""Which fits there are to do, and how they are kept: one JSON line a fit, so that an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn

import diverse_rule_sets
from experiments import models
from experiments.models import MODELS, TREES, measured, settings
from experiments.printed import IDS_SETTINGS
from experiments.tables import load

LIMITS = (1, 2, 4, 8, 16, 32, 64)
LIMITED = ("CBA", "CN2", "IDS", "full method", "default")


class Fit(NamedTuple):
    """One fit: a model on a split of a table, with a limit on rules for the figure."""

    table: str
    split: int
    model: str
    k: int | None = None


def planned(tables: list[str], n_splits: int) -> Iterator[Fit]:
    """List all fits, split by split, so that the mean of those done says how long the rest will take."""
    for split in range(n_splits):
        for table in tables:
            for model in (*MODELS, *TREES):
                if model != "IDS, published settings" or table in IDS_SETTINGS:
                    yield Fit(table, split, model)
            for k in LIMITS:
                for model in LIMITED:
                    yield Fit(table, split, model, k)
                yield Fit(table, split, "tree like default", k)


class Ledger:
    """Finished fits, in a file with one JSON line each.

    Parameters
    ----------
    path : the file; it need not exist
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._done: dict[Fit, dict[str, Any]] = {}
        self._cut_short = False
        if path.exists():
            text = path.read_text(encoding="utf8", errors="replace")
            self._cut_short = bool(text) and not text.endswith("\n")
            for line in text.splitlines():
                try:
                    entry = json.loads(line)
                    self._done[Fit(entry["table"], entry["split"], entry["model"], entry["k"])] = entry
                except (ValueError, TypeError, KeyError):  # the last line of a run that was cut short
                    continue

    def get(self, fit: Fit) -> dict[str, Any] | None:
        """Return the figures of a fit, unless it was made with other settings or by other code."""
        entry = self._done.get(fit)
        return entry if entry is not None and entry.get("made with") == _made_with(fit) else None

    def add(self, fit: Fit, figures: dict[str, Any]) -> None:
        """Keep the figures of a finished fit."""
        entry = {**fit._asdict(), **figures, "made with": _made_with(fit)}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf8") as file:
            file.write(("\n" if self._cut_short else "") + json.dumps(entry) + "\n")
        self._cut_short = False
        self._done[fit] = json.loads(json.dumps(entry))


def _made_with(fit: Fit) -> dict[str, Any]:
    """Return what must be the same for a kept fit to count."""
    words = {"code": _code(), "sklearn": sklearn.__version__, **settings(fit.model, fit.table, fit.k)}
    return json.loads(json.dumps(words))


@cache
def _code() -> str:
    """Return a hash of the package and of the models of the comparison."""
    files = [*sorted(Path(diverse_rule_sets.__file__).parent.rglob("*.py")), Path(models.__file__)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def run(tables: list[str], data: str | None, n_splits: int, ledger: Ledger) -> pd.DataFrame:
    """Do all fits that are not kept yet, and return the figures of all."""
    fits = list(planned(tables, n_splits))
    loaded = {table: load(table, data) for table in tables}
    left = [fit for fit in fits if ledger.get(fit) is None]
    if len(left) < len(fits):
        print(f"{len(fits) - len(left):,} of {len(fits):,} fits are kept from an earlier run", file=sys.stderr)
    progress = _Progress(len(left))
    for fit in left:
        progress.begin(fit)
        X, y = loaded[fit.table]
        leaves = None
        if fit.model in TREES:
            like = ledger.get(Fit(fit.table, fit.split, TREES[fit.model], fit.k))
            assert like is not None, "a tree comes after the model it is to be as large as"
            leaves = like["rules"]
        ledger.add(fit, measured(fit.model, fit.table, X, y, fit.split, fit.k, leaves))
        progress.end()
    progress.close()
    rows = [ledger.get(fit) for fit in fits]
    frame = pd.DataFrame([{**row} for row in rows if row is not None]).drop(columns="made with")
    frame["k"] = frame["k"].astype("Float64")
    return frame.assign(seconds=frame["seconds"].astype(np.float64))


class _Progress:
    """Say which fit runs and how much time is left."""

    def __init__(self, n_fits: int) -> None:
        self._n_fits = n_fits
        self._n_done = 0
        self._start = self._said = time.monotonic()
        self._live = sys.stderr.isatty()

    def begin(self, fit: Fit) -> None:
        now = time.monotonic()
        if not self._n_fits or now - self._said < (0.2 if self._live else 10):
            return
        self._said = now
        rest = (now - self._start) / max(self._n_done, 1) * (self._n_fits - self._n_done)
        limit = "" if fit.k is None else f", at most {fit.k} rules"
        line = f"{self._n_done:,} of {self._n_fits:,} fits, about {_spell(rest)} left: "
        line += f"{fit.table}, split {fit.split + 1}, {fit.model}{limit}"
        sys.stderr.write(f"\r{line:<110}" if self._live else f"{line}\n")
        sys.stderr.flush()

    def end(self) -> None:
        self._n_done += 1

    def close(self) -> None:
        if self._n_fits:
            line = f"{self._n_done:,} fits in {_spell(time.monotonic() - self._start)}"
            sys.stderr.write(f"\r{line:<110}\n" if self._live else f"{line}\n")


def _spell(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
