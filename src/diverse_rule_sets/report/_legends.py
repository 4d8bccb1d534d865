"""Common parts of the plots: titles, tick labels, legends, bars by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._util.colours import GREY, MAX_DISTINCT, class_colour, class_colours
from diverse_rule_sets.report._text_layout import (
    distinct_names,
    draw_literally,
    escape_missing,
    left_to_right,
    width_of,
    wrap,
)

# Font sizes in points. They are fixed, because the sizes of figures are computed from the lengths of texts.
TINY, SMALL, NORMAL, LARGE = 6.0, 7.5, 9.0, 11.0
# Width of a small letter, in inches.
LETTER_WIDTH = 0.062


def set_title(ax: Any, title: str, notes: Sequence[str] = (), width: int = 90) -> None:
    """Set the title of axes, with notes in small letters below it."""
    small = left_to_right("\n".join(wrap(escape_missing(note), width) for note in notes if note))
    n_lines = small.count("\n") + 1 if small else 0
    large = left_to_right(wrap(escape_missing(title), round(width * SMALL / LARGE)))
    texts = [ax.set_title(large, fontsize=LARGE, loc="left", pad=6 + 1.3 * SMALL * n_lines)]
    if small:
        below = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
        texts.append(ax.annotate(small, (0, 1), (0, 4), fontsize=SMALL, **below))
    draw_literally(texts)


def draw_message(ax: Any, message: str) -> None:
    """Write a message into axes that have nothing else to show."""
    ax.set_axis_off()
    draw_literally([ax.text(0.5, 0.5, message, transform=ax.transAxes, fontsize=NORMAL, ha="center", va="center")])


def label_ticks(axis: Any, positions: Sequence[float], names: Sequence[str], **style: Any) -> None:
    """Write names at positions of an axis."""
    shown = [left_to_right(name) for name in names]
    axis.set_ticks(list(positions), labels=shown, parse_math=False, usetex=False, **style)  # both sides
    draw_literally(axis.get_ticklabels())


def legend(ax: Any, entries: Sequence[tuple[Any, str]], below: bool, loc: str = "best") -> None:
    """Add a legend, below the whole figure or inside the axes."""
    if not entries:
        return
    figure = ax.get_figure()
    handles, full = [handle for handle, _ in entries], tuple(escape_missing(name) for _, name in entries)
    names = [distinct_names(full, 30)[name] for name in full]
    style = {"fontsize": SMALL, "frameon": not below, "handlelength": 1.2, "numpoints": 1}
    blank = [str(k) for k in range(len(names))]  # matplotlib ignores names that start with an underscore
    if below:
        columns = max(1, int(figure.get_figwidth() / (LETTER_WIDTH * (max(map(width_of, names)) + 6))))
        added = figure.legend(handles, blank, loc="outside lower center", ncols=min(columns, len(names)), **style)
    else:
        added = ax.legend(handles, blank, loc=loc, ncols=1 + len(names) // 12, **style)
    for text, name in zip(added.get_texts(), names, strict=True):
        text.set_text(name)
    draw_literally(added.get_texts())


def class_entries(classes: Sequence[str], shades: Sequence[str], others: bool) -> list[tuple[Any, str]]:
    """Return the legend entries of the classes that have a colour; `others` adds one entry for all grey classes."""
    from matplotlib.patches import Patch

    entries = [(Patch(color=shade), name) for shade, name in zip(shades, classes, strict=True) if shade != GREY]
    n_others = len(classes) - len(entries)
    return [*entries, (Patch(color=GREY), f"{n_others} other classes")] if others and n_others else entries


def class_bars(ax: Any, positions: Sequence[float], counts: NDArray[Any], own: Sequence[int], height: float) -> None:
    """Draw horizontal bars of counts by class; each bar starts with its own class (-1: no own class).

    Up to MAX_DISTINCT classes have a colour each. If there are more, only the own class of each bar has a colour; all
    others are grey.
    """
    n_bars, n_classes = counts.shape
    style = {"edgecolor": ax.get_facecolor(), "linewidth": 0.4, "height": height}
    is_own = np.arange(n_classes) == np.array(own, np.int64).reshape(n_bars, 1)
    first = np.where(is_own, counts, 0).sum(axis=1)
    if n_classes > MAX_DISTINCT:
        ax.barh(positions, first, color=[class_colour(k) if k >= 0 else GREY for k in own], **style)
        ax.barh(positions, counts.sum(axis=1) - first, left=first, color=GREY, **style)
        return
    others = np.where(is_own, 0, counts)
    lefts = np.where(is_own, 0, first[:, None] + np.cumsum(others, axis=1) - others)
    for k, shade in enumerate(class_colours(n_classes)):
        ax.barh(positions, counts[:, k], left=lefts[:, k], color=shade, **style)


def bar_legend(ax: Any, classes: Sequence[str], below: bool) -> None:
    """Add the legend of :func:`class_bars`; parameters as in :func:`legend`."""
    from matplotlib.patches import Patch

    own = (Patch(color=class_colour(0)), "class of the bar, in colour")
    others = (Patch(color=GREY), "all other classes")
    few = class_entries(classes, class_colours(len(classes)), others=False)
    legend(ax, few if len(classes) <= MAX_DISTINCT else [own, others], below)
