"""Functions that read the text of options: one of several words, `none`, values by key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def or_by_key(read: Callable[[str], Any], keys: Sequence[str]) -> Callable[[str], Any]:
    """Return a function that reads one value, or values by key such as `agree=0.3,contradict=0.01`, as a dict.

    Parameters
    ----------
    read : reads one value
    keys : the keys; each of them can be left out, but not all
    """

    def parse(text: str) -> Any:
        try:
            if "=" not in text:
                return read(text)
            pairs = [part.split("=", 1) for part in text.split(",")]
            values = {key.strip(): read(value.strip()) for key, value in pairs}
            if len(values) < len(pairs) or not values.keys() <= {*keys}:
                raise ValueError
            return values
        except ValueError:
            example = ",".join(f"{key}=SHARE" for key in keys)
            raise ValueError(f"a number, or {example} (or one of the two)") from None

    return parse


def or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that reads `none` as None, and other texts with the given function."""

    def parse(text: str) -> Any:
        if text.lower() == "none":
            return None
        try:
            return read(text)
        except ValueError as error:
            raise ValueError(f"{error} or none") from None

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a function that reads one of some words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return parse
