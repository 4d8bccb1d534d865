"""The progress of a fit: the event that listeners get, and the listener for ``verbose``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One message about the progress of a fit; the argument of the function in ``fit(..., on_progress=...)``.

    Parameters
    ----------
    stage : the current step: ``"reading weights"``, ``"reading"``, ``"reading again"`` and ``"packing"`` if a table is
        read in batches,
        ``"conditions"``, ``"scorecards"``, ``"first pass"``, ``"second pass"``, ``"splitting"``, ``"growth"``,
        ``"merging"``, ``"exceptions"``, ``"refitting"``, the same with a remark for further searches (``"first pass,
        without scorecards"``), or for baselines others such as ``"mining"``; ``"done"`` in the last message
    n_rules : number of rules so far; None if the stage has no rules yet
    coverage : share of the records that these rules cover; None if the stage has no rules yet
    detail : further text, for stages without rules
    """

    stage: str
    n_rules: int | None = None
    coverage: float | None = None
    detail: str = ""

    def __str__(self) -> str:
        """Return the message as a line of text.

        Examples
        --------
        >>> print(Progress("first pass", 3, 0.5))
        first pass: 3 rules cover 50.0% of the records
        >>> print(Progress("mining", detail="200 frequent bodies"))
        mining: 200 frequent bodies
        """
        if self.n_rules is None or self.coverage is None:
            return f"{self.stage}: {self.detail}"
        found = f"{self.n_rules} rules cover {self.coverage:.1%} of the records"
        return found if self.stage == DONE else f"{self.stage}: {found}"


DONE = "done"
OnProgress = Callable[[Progress], None]


class RecordProgress:
    """Reports how many records a pass over a table has read, at most ten times per second.

    Parameters
    ----------
    stage : the name of the pass
    n_records : number of all records; None if it is not known
    on_progress : the listener; None for none
    """

    def __init__(self, stage: str, n_records: int | None, on_progress: OnProgress | None) -> None:
        self._stage, self._total, self._on_progress = stage, n_records, on_progress
        self._start = time.monotonic()
        self._last = 0.0
        self.n = 0

    def add(self, n: int) -> None:
        """Count further records."""
        self.n += n
        now = time.monotonic()
        if self._on_progress is not None and now - self._last >= 0.1:
            self._last = now
            self._on_progress(Progress(self._stage, detail=self._text(now - self._start)))

    def _text(self, seconds: float) -> str:
        """Return the number of records, their rate, and the time that is left."""
        rate = self.n / max(seconds, 1e-3)
        text = f"{self.n:,} records, {rate:,.0f} per second"
        if not self._total:
            return text
        left = max(self._total - self.n, 0) / max(rate, 1.0)
        return f"{text}, {min(self.n / self._total, 1.0):.0%}, {left:.0f} s left"


class ProgressPrinter:
    """Writes the progress of a fit to standard error, for the parameter ``verbose``.

    Level 1 updates one line on a terminal, and otherwise writes at most one line per second. Level 2 writes a line for
    every message.

    Parameters
    ----------
    level : 1 or 2
    """

    def __init__(self, level: int) -> None:
        self._level = level
        self._start = self._last = time.monotonic()
        self._open_line = False

    def __call__(self, progress: Progress) -> None:
        """Write a message, unless the previous one is too recent."""
        now = time.monotonic()
        line = f"{progress}, {now - self._start:.1f} s"
        if progress.stage == DONE:
            self._write(f"\r{line:<72}\n" if self._open_line else f"{line}\n", open_line=False)
            return
        live = sys.stderr.isatty() and self._level == 1
        if self._level == 1 and now - self._last < (0.1 if live else 1.0):
            return
        self._last = now
        self._write(f"\r{line:<72}" if live else f"{line}\n", open_line=live)

    def _write(self, text: str, open_line: bool) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
        self._open_line = open_line


def listeners(verbose: int, on_progress: OnProgress | None) -> OnProgress | None:
    """Return one function that calls all listeners; None if there are none."""
    functions = [listener for listener in (ProgressPrinter(verbose) if verbose else None, on_progress) if listener]
    if len(functions) < 2:
        return functions[0] if functions else None

    def call_all(progress: Progress) -> None:
        for listener in functions:
            listener(progress)

    return call_all
