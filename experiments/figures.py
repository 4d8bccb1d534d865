"""The pictures: Table 3 at a glance, and the paper's figure with a limited number of rules."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from experiments.printed import TABLE_3

# Colours that can be told apart by most eyes (Okabe and Ito).
STYLE = {
    "CBA": ("#E69F00", "o", "CBA"),
    "CN2": ("#56B4E9", "s", "CN2"),
    "IDS": ("#CC79A7", "^", "IDS, tuned"),
    "IDS, published settings": ("#8C4F73", "v", "IDS, published settings"),
    "first pass": ("#7FBF9F", "D", "DRS, first pass"),
    "full method": ("#009E73", "D", "DRS, full method"),
    "default": ("#D55E00", "*", "this package's default"),
    "tree like default": ("#7A7A7A", "x", "tree as large as the default"),
}
_ROWS = {
    "bacc": "balanced accuracy",
    "rules": "rules",
    "conditions": "conditions of a rule",
    "overlap": "overlapping records",
}


def compared(frame: pd.DataFrame, tables: list[str], path: Path) -> None:
    """Draw Table 3: each method's mean and spread, the paper's value as a hollow mark beside it."""
    models = list(STYLE)
    fig, grid = plt.subplots(len(_ROWS), len(tables), figsize=(2.7 * len(tables) + 1.2, 9.2), squeeze=False)
    for column, name in enumerate(tables):
        for row, (measure, title) in enumerate(_ROWS.items()):
            axes = grid[row][column]
            for place, model in enumerate(models):
                _dot(axes, frame, name, model, measure, place)
            if measure in ("overlap", "rules"):
                _spread_out(axes, lowest=0 if measure == "overlap" else 1)
            axes.set_xlim(-0.7, len(models) - 0.3)
            axes.set_xticks(range(len(models)), [""] * len(models))
            _tidy(axes, "y", title if column == 0 else "", name if row == 0 else "")
    handles = [
        plt.Line2D([], [], color=colour, marker=mark, linestyle="", markersize=7, label=label)
        for colour, mark, label in STYLE.values()
    ]
    handles.append(
        plt.Line2D([], [], color="#444444", marker="o", fillstyle="none", linestyle="", markersize=7, label="the paper")
    )
    fig.legend(handles=handles, loc="lower center", ncol=5, frameon=False, fontsize=10)
    fig.suptitle("Filled: here, with one standard deviation over splits. Hollow: the paper's print", fontsize=12)
    fig.tight_layout(rect=(0, 0.06, 1, 0.98))
    _save(fig, path)


def _tidy(axes: Axes, lines: str, side: str, top: str) -> None:
    """Give a panel its grid lines and titles, and no more ink than it needs."""
    axes.grid(axis=lines, color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8, length=2)
    axes.set_ylabel(side, fontsize=10)
    axes.set_title(top, fontsize=12)


def _spread_out(axes: Axes, lowest: int) -> None:
    """Show counts by their size, with room for marks at both ends."""
    top = axes.dataLim.y1
    if lowest:
        axes.set_yscale("log")
        axes.set_ylim(0.8, max(1.6 * top, 12))
    else:
        axes.set_yscale("symlog", linthresh=1, linscale=0.6)
        axes.set_ylim(-0.4, max(3 * top, 12))
    axes.yaxis.set_major_locator(FixedLocator([lowest, 1, 10, 100, 1000, 10_000]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _dot(axes: Axes, frame: pd.DataFrame, name: str, model: str, measure: str, place: int) -> None:
    colour, mark, _ = STYLE[model]
    values = frame.loc[(frame["table"] == name) & (frame["model"] == model), measure]
    if len(values):
        mean, spread = values.mean(), values.std(ddof=1)
        low = min(spread, 0.9 * mean) if measure in ("overlap", "rules") else spread
        axes.errorbar(
            place - 0.14, mean, yerr=[[low], [spread]], color=colour, marker=mark, markersize=6, elinewidth=1.2
        )
    printed = TABLE_3[name].get("IDS" if model.startswith("IDS") else model)
    if printed is not None:
        hollow = "o" if mark in ("x", "*") else mark
        axes.plot(place + 0.22, printed[measure], color=colour, marker=hollow, fillstyle="none", markersize=6)


def limited(frame: pd.DataFrame, tables: list[str], path: Path) -> None:
    """Draw balanced accuracy and AUC against the most rules allowed, a column a table."""
    measures = {"bacc": "balanced accuracy", "auc": "AUC, hard labels"}
    fig, grid = plt.subplots(len(measures), len(tables), figsize=(2.9 * len(tables) + 0.8, 6.4), squeeze=False)
    limits = np.sort(frame["k"].dropna().astype(int).unique())
    models = [model for model in STYLE if model in set(frame["model"])]
    for column, name in enumerate(tables):
        for row, (measure, title) in enumerate(measures.items()):
            axes = grid[row][column]
            for model in models:
                _line(axes, frame, name, model, measure)
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_locator(FixedLocator(limits))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xticklabels([str(k) for k in limits])
            _tidy(axes, "both", title if column == 0 else "", name if row == 0 else "")
            if row == len(measures) - 1:
                axes.set_xlabel("most rules allowed", fontsize=9)
    handles = [
        plt.Line2D([], [], color=STYLE[m][0], marker=STYLE[m][1], markersize=6, label=STYLE[m][2]) for m in models
    ]
    fig.legend(handles=handles, loc="lower center", ncol=len(models), frameon=False, fontsize=10)
    fig.tight_layout(rect=(0, 0.06, 1, 1))
    _save(fig, path)


def _line(axes: Axes, frame: pd.DataFrame, name: str, model: str, measure: str) -> None:
    colour, mark, _ = STYLE[model]
    part = frame[(frame["table"] == name) & (frame["model"] == model)]
    by_limit = part.groupby(part["k"].astype(int))[measure].agg(["mean", "std"])
    limits = by_limit.index.to_numpy()
    axes.plot(limits, by_limit["mean"], color=colour, marker=mark, markersize=4.5, linewidth=1.4)
    low, high = by_limit["mean"] - by_limit["std"], by_limit["mean"] + by_limit["std"]
    axes.fill_between(limits, low, high, color=colour, alpha=0.13, linewidth=0)


def _save(fig: plt.Figure, path: Path) -> None:
    fig.savefig(path, dpi=110, facecolor="white", metadata={"Software": None})
    plt.close(fig)
