"""The time at which a search ends; it is handed down with the limits on rule sets."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")


class OutOfTimeError(Exception):
    """A step was left unfinished because there is no time left; the caller uses what it had before."""


class Deadline:
    """The end of the time for a search. Each part of the search asks whether time is left before its next step.

    A part that finds no time left returns what it has, which is valid: all limits hold, and all counts are final.

    Parameters
    ----------
    seconds : the time from now on; None for no limit
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.stopped = False  # whether some part of the search found no time left

    def passed(self) -> bool:
        """Return whether no time is left; the caller then leaves out its next step. Once passed, it stays so."""
        if self._end is not None and not self.stopped:
            self.stopped = time.monotonic() >= self._end
        return self.stopped

    def check(self) -> None:
        """Raise OutOfTimeError if no time is left."""
        if self.passed():
            raise OutOfTimeError

    def until(self, steps: Iterable[_T]) -> Iterator[_T]:
        """Iterate over steps as long as time is left."""
        for step in steps:
            if self.passed():
                return
            yield step


NO_DEADLINE = Deadline()
