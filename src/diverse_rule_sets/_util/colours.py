"""The colours of classes: the same in plots, in the report page and in notebooks, on light and on dark backgrounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# The colour of a class is that of its position among the sorted classes. All colours have a contrast of at least 3 with
# white and with dark grey (#212121), and differ from GREY. Readers with any common colour blindness can distinguish the
# first MAX_DISTINCT; each further colour is the one that differs most from those before it.
_PALETTE = (
    *("#2797ff", "#ed691b", "#117e58", "#a25d86", "#6458db", "#d31551", "#2da740", "#966000", "#008ca4", "#d567ca"),
    *("#ff4b78", "#699678", "#f000a5", "#2d78ff", "#1e78a5", "#c32d78", "#e11e1e", "#c36969", "#3c96c3", "#f0695a"),
    *("#4b783c", "#8769c3", "#a55a5a", "#87782d", "#1ea596", "#d27896", "#a578b4", "#ff1e3c", "#b44b69", "#8787e1"),
    *("#0f7878", "#c34b96", "#5a964b", "#2d7887", "#2d7869", "#f03ce1", "#b47887", "#1e965a", "#4b780f", "#4b9687"),
    *("#4b69b4", "#0f8778", "#a53cc3", "#1e87ff", "#966996", "#d23c78", "#ff4b96", "#b487a5", "#3c784b", "#e12d3c"),
    *("#c37869", "#789600", "#a587b4", "#7878e1", "#4ba578", "#b43c96", "#87692d", "#f0693c", "#f04bb4", "#96965a"),
)
# Up to this number of classes each part of a bar has the colour of its class.
MAX_DISTINCT = 10
# Colour of everything that is not a class, and of classes without a colour of their own.
GREY = "#8f8f8f"


def class_colour(position: int) -> str:
    """Return the colour of the class at a position among the sorted classes, such as ``"#2797ff"``."""
    return _PALETTE[position % len(_PALETTE)]


def class_colours(n_classes: int) -> list[str]:
    """Return the colours of all classes."""
    return [class_colour(k) for k in range(n_classes)]


def some_class_colours(n_classes: int, preferred: Iterable[int]) -> tuple[list[str], bool]:
    """Return the colour of each class in a plot without names next to the colours, and whether some are grey.

    Up to MAX_DISTINCT classes have a colour each. If there are more, only the first of `preferred` have one.
    """
    if n_classes <= MAX_DISTINCT:
        return class_colours(n_classes), False
    chosen = set(list(dict.fromkeys(preferred))[: MAX_DISTINCT - 1])
    return [class_colour(k) if k in chosen else GREY for k in range(n_classes)], True


def text_colour_on(background: str | Sequence[float]) -> str:
    """Return black or white, whichever has more contrast with a background colour.

    Parameters
    ----------
    background : a text such as ``"#2797ff"``, or the shares of red, green and blue, from 0 to 1

    Examples
    --------
    >>> text_colour_on("#2797ff"), text_colour_on((0.4, 0.3, 0.9, 1.0))
    ('black', 'white')
    """
    light = _luminance(background)
    return "black" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "white"


def _luminance(colour: str | Sequence[float]) -> float:
    """Return the relative luminance of a colour as WCAG defines it, from 0 for black to 1 for white."""
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] if isinstance(colour, str) else colour[:3]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in map(float, shares))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
