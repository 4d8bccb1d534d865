"""The figure of the frontier: balanced accuracy, AUC and log loss against statements and against conditions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _models import CONDITIONS, OTHER_TREES, STATEMENTS
from _summary import GROUPS

# Colours of Okabe and Ito, which readers with any common colour blindness can distinguish; for a third and fourth
# variant two dark colours beside them.
OURS, TREE, RISK = ("#0072B2", "#56B4E9", "#8A6D00", "#882255"), "#D55E00", "#CC79A7"
SPLIT, SMALL = "#E69F00", "#009E73"
BLACK, GREY = "#000000", "#555555"
NAMES = {
    "conjunctions": "rules without\nscorecards",
    "default": "rules with\nscorecards",
}
ROWS = {"bacc": "balanced accuracy", "auc": "AUC", "log loss": "log loss"}
# Rules within so many statements are compared with trees in the title.
TITLE_BUDGET = 5
# Offsets of a label from a point, in points, with the alignment of the text; near ones first.
NEAR = [
    (8, 0, "left", "center"),
    (0, 8, "center", "bottom"),
    (0, -8, "center", "top"),
    (7, 7, "left", "bottom"),
    (7, -7, "left", "top"),
    (-7, 7, "right", "bottom"),
    (-7, -7, "right", "top"),
    (-8, 0, "right", "center"),
]
PLACES = [(far * x, far * y, across, along) for far in (1, 2, 3) for x, y, across, along in NEAR]


class Series(NamedTuple):
    """A line, marks, or a level: what is drawn of one kind of model.

    Parameters
    ----------
    label : the text beside it
    models : the names of its models, from small to large
    colour, marker, style : how it is drawn
    level : whether it is a horizontal line, for models whose size is not counted
    """

    label: str
    models: list[str]
    colour: str
    marker: str
    style: str
    level: bool = False


def all_series(budgets: Sequence[str], by_conditions: bool) -> list[Series]:
    """Return what is drawn; with budgets of conditions or of statements."""
    unit, sizes = ("conditions", CONDITIONS) if by_conditions else ("statements", STATEMENTS)
    trees = [f"tree, {n} conditions" if by_conditions else f"tree, {n} leaves" for n in sizes]
    styles = zip(budgets, OURS, "os^v", strict=False)
    return [
        *(
            Series(NAMES.get(v, v), [f"{v}, {n} {unit}" for n in sizes], colour, mark, "-")
            for v, colour, mark in styles
        ),
        Series("tree", trees, TREE, "D", "--"),
        Series("LicketySPLIT", [f"LicketySPLIT, {n} leaves" for n in STATEMENTS], SPLIT, "<", "--"),
        Series("small tree\n(imodels)", [f"imodels' small tree, {n} leaves" for n in STATEMENTS], SMALL, ">", "--"),
        Series("risk score\n(imodels)", [f"risk score, {n} signs" for n in (5, 10)], RISK, "P", ":"),
        Series("FasterRisk", [f"FasterRisk, {n} signs" for n in (5, 10)], BLACK, "X", ":"),
        Series("logistic\nregression", ["logistic regression"], GREY, "", "-.", True),
        Series("forest of\n200 trees", ["forest"], GREY, "", ":", True),
    ]


def points(frame: pd.DataFrame, models: Sequence[str], size: str, figure: str) -> np.ndarray:
    """Return mean size and mean figure of models over tables, without models that lack a split of any table."""
    n_splits = len(frame[["table", "split"]].drop_duplicates())
    found = []
    for model in models:
        rows = frame[frame["model"] == model]
        if len(rows) == n_splits:
            means = rows.groupby("table")[[size, figure]].mean().mean()
            found.append((means[size], means[figure]))
        elif len(rows):
            print(f"not in the figure, because not on all splits of all tables: {model}", file=sys.stderr)
    return np.array(found).reshape(-1, 2)


def finding(frame: pd.DataFrame, variant: str) -> str | None:
    """Return in words which trees are as accurate as rules within a few statements; None if trees as small are.

    Rules and all kinds of trees in the figure are compared by their mean balanced accuracy.
    """
    ours = points(frame, [f"{variant}, {TITLE_BUDGET} statements"], "statements", "bacc")
    kinds = ("tree", *OTHER_TREES.values())
    found = {n: points(frame, [f"{kind}, {n} leaves" for kind in kinds], "statements", "bacc") for n in STATEMENTS}
    trees = {n: some[:, 1].max() for n, some in found.items() if len(some)}
    if not len(ours) or not trees:
        return None
    # The figures of the tables have three digits; a smaller gap is none.
    as_good = [n for n, height in trees.items() if height > ours[0, 1] - 0.0005]
    if not as_good:
        return f"No tree of up to {max(trees)} leaves predicts as well as {TITLE_BUDGET} statements"
    if min(as_good) <= TITLE_BUDGET:
        return None
    return f"A tree needs {min(as_good)} leaves to predict as well as {TITLE_BUDGET} statements"


def draw(frame: pd.DataFrame, path: Path, budgets: Sequence[str], group: str = "all", title: str | None = None) -> None:
    """Draw the figure of a group of tables, as wide as a page of a README; without a title, it states the finding."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    chosen = {"two": frame["classes"] == 2, "more": frame["classes"] > 2, "all": frame["classes"] > 0}[group]
    frame = frame[chosen]
    if frame.empty:
        raise SystemExit(f"frontier.py: no table for the figure ({GROUPS[group]})")
    figure = Figure(figsize=(8, 9.6), dpi=200, layout="constrained")
    FigureCanvasAgg(figure)  # measures text, whatever the format of the file
    grid = figure.subplots(len(ROWS), 2, sharey="row", sharex="col")
    for row, (quality, name) in zip(grid, ROWS.items(), strict=True):
        for axes, size in zip(row, ("statements", "conditions"), strict=True):
            _panel(axes, frame, budgets, size, quality, group)
        row[0].set_ylabel(name, fontsize=10, fontweight="bold")
    # Up is better in every panel.
    grid[-1][0].invert_yaxis()
    grid[-1][0].set_ylabel(f"{ROWS['log loss']} (0, the best, is up)", fontsize=10, fontweight="bold")
    grid[-1][0].set_xlabel("statements: rules and default label,\nor leaves of a tree", fontsize=9.5)
    grid[-1][1].set_xlabel("conditions to read: of rules, signs and leaves\n(log scale)", fontsize=9.5)
    n_tables, n_splits = frame["table"].nunique(), frame["split"].nunique()
    kind = "" if group == "all" else f" with {GROUPS[group]}"
    tables = "1 table" if n_tables == 1 else f"{n_tables} tables"
    splits = "1 split" if n_splits == 1 else f"{n_splits} splits"
    title = title or (finding(frame, budgets[0]) if budgets else None) or "Accuracy and size of rules and other models"
    _titles(figure, title, f"Up and to the left is better. Held-out records, mean of {tables}{kind}, {splits}")
    for axes in grid[:, 1]:
        _label_levels(axes)
    _label(figure, grid[0])
    # Below the first row, colours and marks are known, and the other names would hide lines.
    _label(figure, grid[1:].ravel(), only=(*OURS, TREE))
    figure.savefig(path, bbox_inches=None)


def _titles(figure: Any, title: str, below: str) -> None:
    """Write a title in bold, and a line below it."""
    figure.suptitle(f"{title}\n", fontsize=13, fontweight="bold")
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.995))
    figure.text(0.5, 0.955, below, fontsize=10, ha="center", va="center", color=GREY)


def _panel(axes: Any, frame: pd.DataFrame, budgets: Sequence[str], size: str, quality: str, group: str) -> None:
    """Draw one panel, and remember what its labels belong to."""
    axes.named, axes.levels = [], []
    by_conditions = size == "conditions" and group == "more"
    for series in all_series(budgets, by_conditions):
        found = points(frame, series.models, size, quality)
        if series.level:
            for _, height in found:
                axes.axhline(height, color=series.colour, linestyle=series.style, linewidth=1.2, zorder=1)
                axes.levels.append((height, series.label))
            continue
        found = found[~np.isnan(found).any(axis=1)]
        if len(found):
            look = {"color": series.colour, "linestyle": series.style, "marker": series.marker}
            edge = series.colour if series.style == ":" else "white"
            # The first variant is what the figure is about.
            first = series.colour == OURS[0]
            look |= {"linewidth": 3, "markersize": 9, "zorder": 4} if first else {"linewidth": 1.8, "markersize": 7}
            axes.plot(*found.T, **look, markeredgecolor=edge)
            axes.named.append((series, found))
    if size == "conditions":
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        ticks = [tick for tick in (2, 3, 5, 10, 20, 30, 50, 100, 200) if low <= tick <= high]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
    else:
        axes.set_xticks(STATEMENTS)
    axes.locator_params(axis="y", nbins=5)
    axes.margins(x=0.12, y=0.14)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.tick_params(labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _label(figure: Any, panels: Sequence[Any], only: Sequence[str] | None = None) -> None:
    """Write the name of each series (of some colours only) beside it, where it hides least; longer names first."""
    figure.draw_without_rendering()
    for axes in panels:
        hidden = np.vstack([np.zeros((0, 2)), *(_on_screen(axes, values) for _, values in axes.named)])
        hidden = np.vstack([hidden, *(_level_on_screen(axes, height) for height, _ in axes.levels)])
        named = [(series, values) for series, values in axes.named if only is None or series.colour in only]
        for series, values in sorted(named, key=lambda one: -len(one[0].label)):
            box = _place(figure, axes, series, values, hidden)
            # Points in the label, so many that later labels stay away from it before they stay away from lines.
            inside = np.meshgrid(np.linspace(box.x0, box.x1, 200), np.linspace(box.y0, box.y1, 48))
            hidden = np.vstack([hidden, np.column_stack([part.ravel() for part in inside])])


def _label_levels(axes: Any) -> None:
    """Write the names of horizontal lines to the right of a panel, with room between them."""
    low, high = axes.get_ylim()
    levels, room = sorted(axes.levels), 0.11 * (high - low)
    places = [height for height, _ in levels]
    for upper in range(1, len(places)):
        near = max(0.0, room - (places[upper] - places[upper - 1])) / 2
        places[upper - 1 : upper + 1] = places[upper - 1] - near, places[upper] + near
    for place, (_, label) in zip(places, levels, strict=True):
        where = {"transform": axes.get_yaxis_transform(), "va": "center", "linespacing": 0.95}
        axes.text(1.03, place, label, **where, fontsize=9, color=GREY)


def _on_screen(axes: Any, values: np.ndarray) -> np.ndarray:
    """Return many points along a series, in pixels."""
    corners = axes.transData.transform(values)
    steps = [np.linspace(a, b, 40) for a, b in pairwise(corners)]
    # Marks are larger than the line.
    return np.vstack([*steps, *[corners + np.array(shift) for shift in ((0, 0), (9, 0), (-9, 0), (0, 9), (0, -9))]])


def _level_on_screen(axes: Any, height: float) -> np.ndarray:
    """Return many points along a horizontal line, in pixels."""
    box = axes.get_window_extent()
    level = axes.transData.transform([(1.0, height)])[0, 1]
    return np.column_stack([np.linspace(box.x0, box.x1, 100), np.full(100, level)])


def _distance(box: Any, places: np.ndarray) -> float:
    """Return the distance in pixels between a box and the nearest of some places."""
    beyond = np.maximum(np.array([box.x0, box.y0]) - places, places - np.array([box.x1, box.y1]))
    return float(np.linalg.norm(np.maximum(beyond, 0.0), axis=1).min())


def _place(figure: Any, axes: Any, series: Series, values: np.ndarray, hidden: np.ndarray) -> Any:
    """Write a name where it hides the fewest points, and return its box in pixels."""
    from matplotlib.patheffects import withStroke

    inside, best = axes.get_window_extent(), (np.inf, None, None)
    own = _on_screen(axes, values)
    others = [_on_screen(axes, points) for other, points in axes.named if other is not series]
    others = np.vstack([np.full((1, 2), np.inf), *others])
    # A white edge, so that a name that crosses a line can be read.
    look = {"fontsize": 9, "color": series.colour, "fontweight": "bold", "zorder": 5, "linespacing": 0.95}
    look["path_effects"] = [withStroke(linewidth=2.5, foreground="white")]
    for order, anchor in enumerate(values[::-1]):
        for place, (x, y, across, along) in enumerate(PLACES):
            text = axes.annotate(series.label, anchor, (x, y), textcoords="offset points", ha=across, va=along, **look)
            box = text.get_window_extent(figure.canvas.get_renderer())
            low, high = (box.x0 - 3, box.y0 - 2), (box.x1 + 3, box.y1 + 2)
            cost = float(((hidden > low) & (hidden < high)).all(axis=1).sum())
            outside = max(inside.x0 - box.x0, box.x1 - inside.x1, inside.y0 - box.y0, box.y1 - inside.y1, 0)
            cost += 20 * outside + 0.02 * place + 0.05 * order
            # A name nearer to another series than to its own would be read as the name of the other.
            cost += 15.0 * (_distance(box, others) <= _distance(box, own))
            if cost < best[0]:
                if best[1] is not None:
                    best[1].remove()
                best = (cost, text, box)
            else:
                text.remove()
    return best[2]
