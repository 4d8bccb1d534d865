"""Common parts of all plots: the import of matplotlib, validation of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def pyplot() -> Any:
    """Return matplotlib.pyplot. Raises ImportError that names the extra to install if matplotlib is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib; install the extra: pip install 'diverse-rule-sets[report]'") from None
    return plt


def mix(colour: Any, background: Any, share: float) -> tuple[float, float, float]:
    """Return an opaque colour between a colour and the background; `share` is the share of the colour."""
    from matplotlib.colors import to_rgb

    pairs = zip(to_rgb(colour), to_rgb(background), strict=True)
    red, green, blue = (share * one + (1 - share) * other for one, other in pairs)
    return red, green, blue


def given_axes(ax: Any, n_panels: int, first_alone: bool = True) -> list[Any]:
    """Validate the axes that the user gave and return them: one for each panel, or one for the first panel only."""
    axes = list(np.ravel(np.asarray(ax, object))) if isinstance(ax, Sequence | np.ndarray) else [ax]
    if len(axes) not in ((1, n_panels) if first_alone else (n_panels,)):
        expected = f"one axes or {n_panels}" if first_alone and n_panels > 1 else f"{n_panels} axes"
        raise ValueError(f"ax must be {expected}, got {len(axes)}")
    for each in axes:
        if not hasattr(each, "get_figure"):
            raise TypeError(f"ax must be matplotlib axes, got {type(each).__name__}")
    return axes
