"""Common parts of all plots: the import of matplotlib, validation of axes, colours for colour-blind readers."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# The colours of Okabe and Ito; grey replaces their black, which would be invisible on a dark background.
_OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F")
# Colour of classes without a colour of their own; visible on white and on black.
GREY = "#8F8F8F"
# Colour of contradictions.
HIGHLIGHT = "#D55E00"
# Difference of the hues of neighbouring colours in a long list, as a share of the colour circle (golden ratio).
_HUE_STEP = 0.61803398875


def pyplot() -> Any:
    """Return matplotlib.pyplot. Raises ImportError that names the extra to install if matplotlib is missing."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib; install the extra: pip install 'diverse-rule-sets[report]'") from None
    return plt


def colours(n: int) -> list[str]:
    """Return n colours: up to 8 that colour-blind readers can distinguish; if more, hues in light and dark shades."""
    if n <= len(_OKABE_ITO):
        return list(_OKABE_ITO[:n])
    return [_hue(k) for k in range(n)]


def _hue(k: int) -> str:
    """Return the k-th colour of a long list."""
    parts = colorsys.hls_to_rgb((0.58 + k * _HUE_STEP) % 1.0, (0.38, 0.62, 0.5)[k % 3], (0.75, 0.6)[k % 2])
    return "#" + "".join(f"{round(255 * part):02X}" for part in parts)


def class_colours(n_classes: int, preferred: Iterable[int]) -> tuple[list[str], bool]:
    """Return a colour for each class, and whether some classes are grey.

    Up to 8 classes have a colour each. If there are more, the first 7 of `preferred` have one, all others are grey.
    """
    if n_classes <= len(_OKABE_ITO):
        return colours(n_classes), False
    chosen = list(dict.fromkeys(preferred))[: len(_OKABE_ITO) - 1]
    shades = dict(zip(chosen, _OKABE_ITO, strict=False))
    return [shades.get(k, GREY) for k in range(n_classes)], True


def text_colour_on(colour: Any) -> str:
    """Return black or white, whichever has more contrast with a background colour."""
    from matplotlib.colors import to_rgb

    return "black" if float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114))) > 0.55 else "white"


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
