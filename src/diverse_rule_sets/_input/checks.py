"""Validation of arguments: every error names the argument, its value and what was expected."""

from __future__ import annotations

import difflib
import itertools
import math
import numbers
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np


def check_number(
    name: str,
    value: Any,
    kind: type,
    low: float | None = None,
    high: float | None = None,
    open_low: bool = False,
) -> None:
    """Raise an error unless the value is a number of that kind within the bounds; a boolean is not a number."""
    noun = "an integer" if kind is numbers.Integral else "a number"
    bounds = []
    if low is not None:
        bounds.append(f"above {low:g}" if open_low else f"at least {low:g}")
    if high is not None:
        bounds.append(f"at most {high:,.0f}" if kind is numbers.Integral and high >= 1e5 else f"at most {high:g}")
    expected = " ".join([noun, " and ".join(bounds)]).strip()
    if not isinstance(value, kind) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be {expected}, got {value!r} ({type(value).__name__})")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ValueError(f"{name} must be {expected}, got a number beyond the largest float") from None
    too_low = low is not None and (number <= low if open_low else number < low)
    if math.isnan(number) or math.isinf(number) or too_low or (high is not None and number > high):
        raise ValueError(f"{name} must be {expected}, got {value!r}")


def check_choice(name: str, value: Any, choices: Iterable[str], alternative: str = "") -> None:
    """Raise ValueError unless the value is one of some strings; ``alternative`` continues their list in the error."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}{alternative}, got {value!r}{did_you_mean(value, choices)}")


class Check(ABC):
    """A check of one parameter; each estimator has a table of them beside its ``__init__``."""

    @abstractmethod
    def __call__(self, name: str, value: Any) -> None:
        """Raise a ValueError or TypeError that names the parameter, its value and what was expected."""


@dataclass(frozen=True)
class Number(Check):
    """A number of some kind, within bounds."""

    kind: type
    low: float | None = None
    high: float | None = None
    open_low: bool = False

    def __call__(self, name: str, value: Any) -> None:
        check_number(name, value, self.kind, self.low, self.high, self.open_low)


@dataclass(frozen=True)
class Choice(Check):
    """One of some strings; ``alternative`` continues their list in the error."""

    choices: Iterable[str]
    alternative: str = ""

    def __call__(self, name: str, value: Any) -> None:
        check_choice(name, value, self.choices, self.alternative)


@dataclass(frozen=True)
class Flag(Check):
    """True or False."""

    def __call__(self, name: str, value: Any) -> None:
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} must be True or False, got {value!r}")


@dataclass(frozen=True)
class Optional(Check):
    """None, or a value that another check allows."""

    check: Check

    def __call__(self, name: str, value: Any) -> None:
        if value is not None:
            self.check(name, value)


@dataclass(frozen=True)
class ChoiceOr(Check):
    """One of some strings, or a value of some kind that another check allows."""

    choice: Choice
    kind: type
    check: Check

    def __call__(self, name: str, value: Any) -> None:
        is_other = isinstance(value, self.kind) and not isinstance(value, str)
        (self.check if is_other else self.choice)(name, value)


@dataclass(frozen=True)
class Anything(Check):
    """Any value: it is checked later, together with the table."""

    def __call__(self, name: str, value: Any) -> None:
        """Allow the value."""


@dataclass(frozen=True)
class Verbosity(Check):
    """A level of messages: an integer from 0, or a boolean."""

    def __call__(self, name: str, value: Any) -> None:
        check_number(name, int(value) if isinstance(value, bool) else value, numbers.Integral, low=0)


@dataclass(frozen=True)
class Jobs(Check):
    """A number of threads as in joblib: any integer up to 1000 except 0, or None."""

    def __call__(self, name: str, value: Any) -> None:
        if value is not None:
            check_number(name, value, numbers.Integral, high=1000)
            if value == 0:
                raise ValueError(f"{name} must not be 0; give a number of threads, -1 for all, or None")


def generator(random_state: Any) -> np.random.Generator:
    """Return a numpy Generator for any ``random_state`` that scikit-learn accepts.

    None means numpy's global RandomState, as in scikit-learn, so that ``np.random.seed`` makes results repeatable.
    """
    if random_state is None:
        from sklearn.utils import check_random_state

        random_state = check_random_state(None)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max, size=4))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        f"random_state must be None, an integer that is not negative, or a numpy Generator or "
        f"RandomState, got {random_state!r}"
    )


_thread = threading.local()


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Keep the warnings of a block instead of giving them: for work on another thread, which has no user's line."""
    _thread.messages = messages = list[str]()
    try:
        yield messages
    finally:
        del _thread.messages


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the location of the user's line that called this package."""
    if hasattr(_thread, "messages"):
        _thread.messages.append(message)
        return
    package = __name__.split(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_SIMILAR = 0.6  # the least similarity of a name that is suggested, as in difflib
_MAX_COMPARED, _MAX_LENGTH = 20_000, 100  # names that are compared, and their characters
_MAX_LISTED = 20  # names or labels that an error lists


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return the end of an error about an unknown name, with the known name that is most like it; empty if none is.

    Names that differ only by case, blanks, underscores and hyphens are the most similar ones. The time is linear in
    the number of names, also for many long names that are alike.

    Examples
    --------
    >>> did_you_mean("Incme", ["age", "income"]), did_you_mean("height", ["age", "income"])
    ("; did you mean 'income'?", '')
    """
    found = find_similar(name, known)
    return f"; did you mean {found[0]!r}?" if found else ""


def find_similar(name: object, known: Iterable[object]) -> list[Any]:
    """Return the known name that is most like a name, as a list; an empty list if none is."""
    folded: dict[str, object] = {}
    for other in known:
        folded.setdefault(_fold(other), other)
    wanted = _fold(name)
    found = wanted if wanted in folded else None
    if found is None and len(wanted) <= _MAX_LENGTH:
        short = itertools.islice((text for text in folded if len(text) <= _MAX_LENGTH), _MAX_COMPARED)
        found = _most_similar(wanted, short)
    return [] if found is None else [folded[found]]


def _fold(name: object) -> str:
    return "".join(character for character in str(name).casefold() if not character.isspace() and character not in "_-")


def _most_similar(wanted: str, texts: Iterable[str]) -> str | None:
    """Return the text that is most similar; None if none is similar. Only a few are compared in full."""
    matcher = difflib.SequenceMatcher(None, "", wanted)
    bounds = []
    for text in texts:
        matcher.set_seq1(text)
        if matcher.real_quick_ratio() >= _SIMILAR and (bound := matcher.quick_ratio()) >= _SIMILAR:
            bounds.append((bound, text))
    best, found = 0.0, None
    for bound, text in sorted(bounds, key=lambda pair: -pair[0])[:100]:
        if bound <= best:
            break
        matcher.set_seq1(text)
        if matcher.ratio() >= _SIMILAR and matcher.ratio() > best:
            best, found = matcher.ratio(), text
    return found


def list_text(values: Iterable[Any]) -> str:
    """Return names or labels as a list for an error, the first ones if there are many."""
    shown = list(itertools.islice(values, _MAX_LISTED + 1))
    return repr(shown) if len(shown) <= _MAX_LISTED else repr(shown[:-1])[:-1] + ", ...]"
