"""The progress of a fit on a terminal, shown as a bar."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import NamedTuple

from diverse_rule_sets import Progress
from diverse_rule_sets._util.progress import OnProgress


class ProgressOptions(NamedTuple):
    """How a fit reports its progress: the parameter `verbose`, and the function that it calls."""

    verbose: int
    on_progress: OnProgress | None


@contextlib.contextmanager
def show_progress(description: str, verbose: int) -> Iterator[ProgressOptions]:
    """Show the progress of the fit in the `with` block: as a bar on a terminal, or as lines if `verbose` is set."""
    if not sys.stderr.isatty() or verbose > 1:
        if verbose:
            sys.stderr.write(f"{description}\n")
        yield ProgressOptions(verbose, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24))
    detail_column = TextColumn("{task.fields[detail]}", markup=False)
    console = Console(file=sys.stderr)
    options = {"transient": True, "redirect_stdout": False, "redirect_stderr": True}
    with Bar(*columns, detail_column, TimeElapsedColumn(), console=console, **options) as bar:  # type: ignore[arg-type]
        task = bar.add_task(description, total=100.0, detail="")

        def update(progress: Progress) -> None:
            if progress.coverage is None:
                bar.update(task, detail=str(progress))
            else:
                detail = f"{progress.stage}, {progress.n_rules} rules"
                bar.update(task, completed=100 * progress.coverage, detail=detail)

        yield ProgressOptions(0, update)
