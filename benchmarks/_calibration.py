"""Calibration: probabilities of held-out records against the shares that were observed, over tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _figures import BLACK, GREY, OURS, TREE
from _summary import GROUPS, groups, markdown

# What is drawn: the model, its name in the figure, its colour, mark and line.
DRAWN = (
    ("default", "rules", OURS[0], "o", "-"),
    ("tree, as many leaves (default)", "tree", TREE, "D", "--"),
    ("logistic regression", "logistic regression", BLACK, "X", ":"),
)
FIGURES = ("brier", "log loss", "weighted brier", "weighted log loss")
# Bins with a smaller share of the weight are not drawn: their shares are those of a few records.
MIN_WEIGHT = 0.005


def bins_by_table(frame: pd.DataFrame, model: str) -> dict[str, np.ndarray]:
    """Return for each table the weight, sum of probabilities and sum of observations of each bin, means over splits.

    Tables of which a split has no bins, because an earlier version measured it, are left out.
    """
    rows = frame[frame["model"] == model]
    found = {}
    for table, bins in rows["bins"].groupby(rows["table"]) if "bins" in rows else ():
        if bins.map(lambda value: isinstance(value, list)).all():
            found[table] = np.mean(np.array(bins.tolist(), float), axis=0)
    return found


def error(bins: np.ndarray) -> float:
    """Return the expected calibration error: the mean distance of probability and observed share, by weight of bins."""
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum())


def curve(by_table: dict[str, np.ndarray]) -> np.ndarray:
    """Return mean probability, observed share and weight of the bins, all tables with the same weight."""
    pooled = np.mean(list(by_table.values()), axis=0)
    pooled = pooled[pooled[:, 0] > MIN_WEIGHT * pooled[:, 0].sum()]
    return np.column_stack([pooled[:, 1] / pooled[:, 0], pooled[:, 2] / pooled[:, 0], pooled[:, 0]])


def section(frame: pd.DataFrame, order: Sequence[str]) -> list[str]:
    """Return a section with the calibration error, Brier score and log loss of models that have all tables of a group.

    Of rivals as large as a variant, only those of the default are in it. Returns an empty list if no model has bins.
    """
    order = [model for model in order if not model.endswith(")") or model.endswith("(default)")]
    found = [
        "### Calibration\n\nThe calibration error is the mean over tables of the mean distance between probability and "
        "observed share in ten bins (with two classes of the second class, with more of the predicted label), under "
        "the class weights that the probabilities are for; the weighted figures have the same weights."
    ]
    for group, part in groups(frame).items():
        lines, n_tables = [], part["table"].nunique()
        means = part.reindex(columns=["model", "table", *FIGURES]).groupby(["model", "table"])[list(FIGURES)].mean()
        for model in order:
            by_table = bins_by_table(part, model)
            if by_table and len(by_table) == n_tables:
                errors, mean = [error(bins) for bins in by_table.values()], means.loc[model].mean()
                spread = f" ({np.std(errors, ddof=1) / n_tables**0.5:.3f})" if n_tables > 1 else ""
                cells = [f"{np.mean(errors):.3f}{spread}", *(f"{mean[figure]:.3f}" for figure in FIGURES)]
                lines.append([model, *cells])
        if lines:
            found.append(markdown(f"{GROUPS[group]} ({n_tables})", ("calibration error", *FIGURES), lines))
    return found if len(found) > 1 else []


def draw(frame: pd.DataFrame, path: Path) -> None:
    """Draw the reliability curves, a panel for tables with two classes and one for those with more."""
    from matplotlib.figure import Figure

    parts = {group: part for group, part in groups(frame).items() if group != "all"}
    parts = {group: part for group, part in parts.items() if any(bins_by_table(part, model) for model, *_ in DRAWN)}
    if not parts:
        raise SystemExit(f"frontier.py: --calibration needs one of the models {', '.join(name for name, *_ in DRAWN)}")
    figure = Figure(figsize=(8.6, 4.35) if len(parts) > 1 else (4.8, 4.6), dpi=200, layout="constrained")
    grid = figure.subplots(1, len(parts), squeeze=False)[0]
    for axes, (group, part) in zip(grid, parts.items(), strict=True):
        _panel(axes, part, group)
    grid[0].set_ylabel("observed share of held-out records\n(classes weighted as the probabilities are)", fontsize=9.5)
    figure.suptitle("On the grey line, probabilities are right", fontsize=11, fontweight="bold")
    figure.savefig(path)


def _panel(axes: Any, frame: pd.DataFrame, group: str) -> None:
    """Draw the curves of a group of tables."""
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=4, alpha=0.3, zorder=1)
    for place, (model, name, colour, mark, style) in enumerate(DRAWN):
        by_table = bins_by_table(frame, model)
        if not by_table:
            continue
        x, y, weight = curve(by_table).T
        axes.plot(x, y, color=colour, linestyle=style, linewidth=1.6, zorder=2)
        # The area of a mark is the weight of its bin.
        look = {"color": colour, "marker": mark, "edgecolor": "white", "linewidth": 0.7}
        axes.scatter(x, y, 15 + 500 * weight, **look, clip_on=False, zorder=3)
        errors = [error(bins) for bins in by_table.values()]
        # Curves seldom reach the lower right corner: probabilities that are far too high.
        height = 0.19 - 0.065 * place
        where = {"transform": axes.transAxes, "va": "center", "fontsize": 8, "fontweight": "bold"}
        axes.text(0.36, height, f"{name} (error {np.mean(errors):.3f})", color=colour, **where)
        axes.plot(0.325, height, mark, color=colour, markersize=6, transform=axes.transAxes)
    what = "the second class" if group == "two" else "the predicted label"
    n_tables = frame["table"].nunique()
    axes.set_title(f"{GROUPS[group]}, {n_tables} table{'s' * (n_tables > 1)}", fontsize=10, loc="left")
    axes.set_xlabel(f"probability of {what}", fontsize=9.5)
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks], fontsize=9)
    axes.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks], fontsize=9)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
