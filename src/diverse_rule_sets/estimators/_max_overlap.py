"""The parameter ``max_overlap``: one share, or shares for rules that agree and for rules that contradict each other."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diverse_rule_sets._input.checks import Check, check_number, did_you_mean

# The keys of a dict: overlap with rules of the same label, and with rules of other labels.
AGREE, CONTRADICT = "agree", "contradict"
_KEYS = (AGREE, CONTRADICT)
_EXPECTED = "a number at least 0 and at most 1, or a dict with the keys 'agree' and 'contradict'"


@dataclass(frozen=True)
class OverlapCheck(Check):
    """A share, or a dict of shares with one or both of the keys ``"agree"`` and ``"contradict"``."""

    def __call__(self, name: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            if not isinstance(value, numbers.Real) or isinstance(value, bool):
                raise TypeError(f"{name} must be {_EXPECTED}, got {value!r} ({type(value).__name__})")
            check_number(name, value, numbers.Real, low=0, high=1)
            return
        if not value:
            raise ValueError(f"{name} must be {_EXPECTED}, got a dict without keys")
        for key, share in value.items():
            if not isinstance(key, str) or key not in _KEYS:
                raise ValueError(f"{name} must be {_EXPECTED}, got the key {key!r}{did_you_mean(key, _KEYS)}")
            check_number(f"{name}[{key!r}]", share, numbers.Real, low=0, high=1)


def overlap_limits(value: Any, missing: float) -> dict[str, float]:
    """Return the limits on overlap by name, from a checked value; ``missing`` is the share of a missing key."""
    if not isinstance(value, Mapping):
        return {"max_overlap": float(value)}
    return {
        "max_agreeing": float(value.get(AGREE, missing)),
        "max_contradicting": float(value.get(CONTRADICT, missing)),
    }


def overlap_text(value: Any) -> str:
    """Return a checked value as text, as ``drs fit --max-overlap`` reads it.

    Examples
    --------
    >>> overlap_text(0.01), overlap_text({"contradict": 0.01, "agree": 1})
    ('0.01', 'agree=1,contradict=0.01')
    """
    if not isinstance(value, Mapping):
        return f"{value:g}"
    return ",".join(f"{key}={value[key]:g}" for key in _KEYS if key in value)
