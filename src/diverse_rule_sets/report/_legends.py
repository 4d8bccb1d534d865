"""The parts of which the pictures are made: titles, ticks, legends, bars by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._util.plotting import GREY, class_colours, colours
from diverse_rule_sets.report._text_layout import as_written, readable, told_apart, width_of, wrapped

# Points of type; given, since figures are as large as their words.
TINY, SMALL, USUAL, LARGE = 6.0, 7.5, 9.0, 11.0
# A small letter, in inches.
LETTER = 0.062


def titled(ax: Any, title: str, notes: Sequence[str] = (), width: int = 90) -> None:
    """Give axes a title, and smaller words below it."""
    small = "\n".join(wrapped(readable(note), width) for note in notes if note)
    n_lines = small.count("\n") + 1 if small else 0
    words = wrapped(readable(title), round(width * SMALL / LARGE))
    drawn = [ax.set_title(words, fontsize=LARGE, loc="left", pad=6 + 1.3 * SMALL * n_lines)]
    if small:
        below = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
        drawn.append(ax.annotate(small, (0, 1), (0, 4), fontsize=SMALL, **below))
    as_written(drawn)


def write_alone(ax: Any, words: str) -> None:
    """Write words where there is nothing to draw."""
    ax.set_axis_off()
    as_written([ax.text(0.5, 0.5, words, transform=ax.transAxes, fontsize=USUAL, ha="center", va="center")])


def name_ticks(axis: Any, places: Sequence[float], names: Sequence[str], **style: Any) -> None:
    """Write names at places of an axis."""
    axis.set_ticks(list(places), labels=list(names), parse_math=False, usetex=False, **style)  # on both sides
    as_written(axis.get_ticklabels())


def legend(ax: Any, entries: Sequence[tuple[Any, str]], below: bool, loc: str = "best") -> None:
    """Name what is drawn, below the whole figure or within the axes."""
    if not entries:
        return
    figure = ax.get_figure()
    handles, full = [handle for handle, _ in entries], tuple(readable(name) for _, name in entries)
    names = [told_apart(full, 30)[name] for name in full]
    style = {"fontsize": SMALL, "frameon": not below, "handlelength": 1.2, "numpoints": 1}
    blank = [str(k) for k in range(len(names))]  # matplotlib leaves out names that begin with an underscore
    if below:
        columns = max(1, int(figure.get_figwidth() / (LETTER * (max(map(width_of, names)) + 6))))
        drawn = figure.legend(handles, blank, loc="outside lower center", ncols=min(columns, len(names)), **style)
    else:
        drawn = ax.legend(handles, blank, loc=loc, ncols=1 + len(names) // 12, **style)
    for text, name in zip(drawn.get_texts(), names, strict=True):
        text.set_text(name)
    as_written(drawn.get_texts())


def class_entries(classes: Sequence[str], shades: Sequence[str], others: bool) -> list[tuple[Any, str]]:
    """Return what a legend says of the classes; grey stands for others, if it does."""
    from matplotlib.patches import Patch

    told = [(Patch(color=shade), name) for shade, name in zip(shades, classes, strict=True) if shade != GREY]
    n_others = len(classes) - len(told)
    return [*told, (Patch(color=GREY), f"{n_others} other classes")] if others and n_others else told


def class_bars(ax: Any, places: Sequence[float], counts: NDArray[Any], own: Sequence[int], high: float) -> None:
    """Draw horizontal bars of counts by class, the own class first (-1: none is).

    Up to 8 classes have a colour each; of more, only the own class of each bar has, and grey stands for all others.
    """
    n_bars, n_classes = counts.shape
    style = {"edgecolor": ax.get_facecolor(), "linewidth": 0.4, "height": high}
    shades, many = class_colours(n_classes, ())
    mine = np.arange(n_classes) == np.array(own, np.int64).reshape(n_bars, 1)
    first = np.where(mine, counts, 0).sum(axis=1)
    if many:
        told = colours(n_classes)
        ax.barh(places, first, color=[told[k] if k >= 0 else GREY for k in own], **style)
        ax.barh(places, counts.sum(axis=1) - first, left=first, color=GREY, **style)
        return
    others = np.where(mine, 0, counts)
    lefts = np.where(mine, 0, first[:, None] + np.cumsum(others, axis=1) - others)
    for k, shade in enumerate(shades):
        ax.barh(places, counts[:, k], left=lefts[:, k], color=shade, **style)


def bar_legend(ax: Any, classes: Sequence[str], below: bool) -> None:
    """Name the colours of :func:`class_bars`, as :func:`legend` does."""
    from matplotlib.patches import Patch

    shades, many = class_colours(len(classes), ())
    own = (Patch(color=colours(len(classes))[0]), "its own class, in its colour")
    others = (Patch(color=GREY), "all other classes")
    legend(ax, [own, others] if many else class_entries(classes, shades, others=False), below)
