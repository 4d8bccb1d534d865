"""What all pictures share: matplotlib when it is needed, axes to draw into, colours that most eyes tell apart."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# The colours of Okabe and Ito; their black would vanish on a dark page, so grey stands for it.
_OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F")
# What is not told apart; seen on white and on black.
GREY = "#8F8F8F"
# What deserves attention.
ALARM = "#D55E00"
# Neighbouring colours of a long list differ by this part of the colour circle (the golden section).
_TURN = 0.61803398875


def pyplot() -> Any:
    """Return matplotlib.pyplot; an error says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib; install the extra: pip install 'diverse-rule-sets[report]'") from None
    return plt


def colours(n: int) -> list[str]:
    """Return n colours: up to 8 that colour-blind eyes tell apart, beyond that hues in turn, light and dark."""
    if n <= len(_OKABE_ITO):
        return list(_OKABE_ITO[:n])
    return [_hue(k) for k in range(n)]


def _hue(k: int) -> str:
    """Return the k-th colour of a long list."""
    parts = colorsys.hls_to_rgb((0.58 + k * _TURN) % 1.0, (0.38, 0.62, 0.5)[k % 3], (0.75, 0.6)[k % 2])
    return "#" + "".join(f"{round(255 * part):02X}" for part in parts)


def class_colours(n_classes: int, wanted: Iterable[int]) -> tuple[list[str], bool]:
    """Return a colour for each class, and whether grey stands for some of them.

    Up to 8 classes have a colour each; of more, the first 7 wanted ones have.
    """
    if n_classes <= len(_OKABE_ITO):
        return colours(n_classes), False
    chosen = list(dict.fromkeys(wanted))[: len(_OKABE_ITO) - 1]
    told = dict(zip(chosen, _OKABE_ITO, strict=False))
    return [told.get(k, GREY) for k in range(n_classes)], True


def ink_on(colour: Any) -> str:
    """Return black or white, whichever is read more easily on a colour."""
    from matplotlib.colors import to_rgb

    return "black" if float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114))) > 0.55 else "white"


def given_axes(ax: Any, n_panels: int, first_alone: bool = True) -> list[Any]:
    """Check the axes that a user gave: one for each panel, or one for the first panel alone."""
    axes = list(np.ravel(np.asarray(ax, object))) if isinstance(ax, Sequence | np.ndarray) else [ax]
    if len(axes) not in ((1, n_panels) if first_alone else (n_panels,)):
        expected = f"one axes or {n_panels}" if first_alone and n_panels > 1 else f"{n_panels} axes"
        raise ValueError(f"ax must be {expected}, got {len(axes)}")
    for one in axes:
        if not hasattr(one, "get_figure"):
            raise TypeError(f"ax must be matplotlib axes, got {type(one).__name__}")
    return axes
