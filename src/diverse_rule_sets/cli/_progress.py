"""What a person sees while rules are learnt: a bar on a terminal, lines elsewhere if asked for."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator

_COVERED = re.compile(r"^(?P<stage>[^:]+): (?P<rules>\d+) rules cover (?P<share>[\d.]+)%")


@contextlib.contextmanager
def watched(what: str, verbose: int) -> Iterator[int]:
    """Show how far the fit inside is; yields the classifier's level of `verbose`."""
    if not sys.stderr.isatty() or verbose > 1:
        if verbose:
            sys.stderr.write(f"{what}\n")
        yield verbose
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24))
    words = TextColumn("{task.fields[words]}", markup=False)
    console = Console(file=sys.stderr)  # the stream as it is now, not the one put in its place below
    still = {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
    with Progress(*columns, words, TimeElapsedColumn(), console=console, **still) as progress:  # type: ignore[arg-type]
        task = progress.add_task(what, total=100.0, words="")

        def told(line: str) -> None:
            found = _COVERED.match(line)
            if found is not None:
                words = f"{found['stage']}, {found['rules']} rules"
                progress.update(task, completed=float(found["share"]), words=words)
            elif line.startswith("drs: "):
                console.out(line, highlight=False)

        with contextlib.redirect_stderr(_Listener(told)):
            yield 1


class _Listener:
    """An error stream that passes on what the classifier says of its progress, a line at a time."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told

    def write(self, text: str) -> int:
        """Take one line, which starts or ends with a mark."""
        self._told(text.strip())
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        """Tell the classifier to speak often."""
        return True
