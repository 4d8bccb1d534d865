"""Progress of a fit, for people who wait."""

from __future__ import annotations

import sys
import time


class Progress:
    """Say on the error stream how far a fit is; silent at level 0.

    Level 1 keeps one line up to date on a terminal, and elsewhere writes one at most every second. Level 2 writes
    one for every rule.
    """

    def __init__(self, level: int) -> None:
        self._level = level
        self._start = self._last = time.monotonic()
        self._open_line = False

    def report(self, stage: str, n_rules: int, coverage: float) -> None:
        """Say which stage runs, how many rules there are, and the share of records that they cover."""
        self.say(f"{stage}: {n_rules} rules cover {coverage:.1%} of the records")

    def say(self, words: str) -> None:
        """Say how far it is, unless the last word was a moment ago."""
        now = time.monotonic()
        live = sys.stderr.isatty() and self._level == 1
        if self._level == 0 or (self._level == 1 and now - self._last < (0.1 if live else 1.0)):
            return
        self._last = now
        line = f"{words}, {now - self._start:.1f} s"
        self._write(f"\r{line:<72}" if live else f"{line}\n", open_line=live)

    def close(self, summary: str) -> None:
        """Say how it ended."""
        if self._level:
            line = f"{summary}, {time.monotonic() - self._start:.1f} s"
            self._write(f"\r{line:<72}\n" if self._open_line else f"{line}\n", open_line=False)

    def _write(self, text: str, open_line: bool) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
        self._open_line = open_line
