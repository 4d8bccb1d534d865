"""Checks of arguments: every error names the argument, the value and what was expected."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Iterable
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
    """Raise unless the value is a number of that kind within the bounds; booleans are no numbers."""
    noun = "an integer" if kind is numbers.Integral else "a number"
    bounds = []
    if low is not None:
        bounds.append(f"above {low:g}" if open_low else f"at least {low:g}")
    if high is not None:
        bounds.append(f"at most {high:g}")
    expected = " ".join([noun, " and ".join(bounds)]).strip()
    if not isinstance(value, kind) or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be {expected}, got {value!r} ({type(value).__name__})")
    number = float(value)  # type: ignore[arg-type]
    too_low = low is not None and (number <= low if open_low else number < low)
    if math.isnan(number) or math.isinf(number) or too_low or (high is not None and number > high):
        raise ValueError(f"{name} must be {expected}, got {value!r}")


def check_choice(name: str, value: Any, choices: Iterable[str], otherwise: str = "") -> None:
    """Raise unless the value is one of the words."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {words}{otherwise}, got {value!r}")


def generator(random_state: Any) -> np.random.Generator:
    """Turn any usual ``random_state`` into one generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max, size=4))
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        f"random_state must be None, an integer that is not negative, or a numpy Generator or "
        f"RandomState, got {random_state!r}"
    )


def warn(message: str) -> None:
    """Warn, pointing at the line of the user that called into this package."""
    package = __name__.split(".")[0]
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
