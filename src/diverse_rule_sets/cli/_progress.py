"""The progress of a fit on a terminal: a bar that listens to the fit."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import NamedTuple

from diverse_rule_sets import Progress
from diverse_rule_sets._util.progress import OnProgress


class Watching(NamedTuple):
    """How a fit shows its progress: the classifier's `verbose`, and what it calls."""

    verbose: int
    on_progress: OnProgress | None


@contextlib.contextmanager
def watched(what: str, verbose: int) -> Iterator[Watching]:
    """Show the progress of the fit inside: a bar on a terminal, elsewhere lines if `verbose` asks for them."""
    if not sys.stderr.isatty() or verbose > 1:
        if verbose:
            sys.stderr.write(f"{what}\n")
        yield Watching(verbose, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24))
    detail = TextColumn("{task.fields[detail]}", markup=False)
    console = Console(file=sys.stderr)
    still = {"transient": True, "redirect_stdout": False, "redirect_stderr": True}
    with Bar(*columns, detail, TimeElapsedColumn(), console=console, **still) as bar:  # type: ignore[arg-type]
        task = bar.add_task(what, total=100.0, detail="")

        def update(progress: Progress) -> None:
            if progress.coverage is not None:
                rules = f"{progress.stage}, {progress.n_rules} rules"
                bar.update(task, completed=100 * progress.coverage, detail=rules)

        yield Watching(0, update)
