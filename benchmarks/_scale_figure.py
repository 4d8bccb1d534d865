"""The figure of scale.py: time and peak memory against the number of records, and the share of each phase.

python benchmarks/_scale_figure.py TABLE.md FIGURE.png    # draws the figure again from a printed table
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

# Colours of Okabe and Ito, which readers with any common colour blindness can distinguish.
STYLES: dict[str, tuple[str, str, str]] = {  # by model: name, colour and marker
    "files": ("rules, from files", "#0072B2", "o"),
    "weighted": ("rules, from files, with weights", "#56B4E9", "s"),
    "memory": ("rules, table in memory", "#000000", "D"),
    "tree": ("tree, 16 leaves", "#D55E00", "^"),
    "full tree": ("tree, full", "#E69F00", "v"),
    "boosting": ("HistGradientBoosting", "#009E73", "P"),
    "LightGBM": ("LightGBM", "#CC79A7", "X"),
    "EBM": ("EBM", "#8A6D00", "*"),
}
SHADES = ("#08519C", "#3182BD", "#6BAED6", "#BDD7E7", "#E0E0E0")


def draw(results: dict[int, dict[str, Any]], models: Any, phases: Any, path: str) -> None:
    """Write the figure as PNG.

    Parameters
    ----------
    results : for each number of records and each model, what ``scale.py`` measured
    models, phases : the models and the phases in the order of the legend
    path : the file
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    for model in models:
        name, colour, marker = STYLES[model]
        sizes = [n for n, found in results.items() if model in found]
        for ax, key, unit in ((axes[0], "seconds", 1.0), (axes[1], "memory", 1e6)):
            values = [results[n][model][key] / unit for n in sizes]
            ax.plot(sizes, values, color=colour, marker=marker, label=name, linewidth=2 if model == "files" else 1.2)
    axes[0].set(title="time of a fit", ylabel="seconds")
    axes[1].set(title="peak memory of the process, libraries included", ylabel="MB")
    for ax in axes[:2]:
        ax.set(xscale="log", xlabel="records")
        ax.grid(alpha=0.3)
    axes[0].set_yscale("log")
    axes[1].set_ylim(bottom=0)
    draw_phases(axes[2], results, phases)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize="small", frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_phases(ax: Any, results: dict[int, dict[str, Any]], phases: Any) -> None:
    """Draw the share of each phase of the fits from files as stacked bars."""
    names = [f"{n:,}" for n in results]
    left = [0.0] * len(names)
    for phase, shade in zip(phases, SHADES, strict=True):
        found = [results[n]["files"] for n in results]
        shares = [100 * one["phases"].get(phase, 0.0) / one["seconds"] for one in found]
        ax.barh(names, shares, left=left, color=shade, edgecolor="white", label=phase)
        left = [a + b for a, b in zip(left, shares, strict=True)]
    ax.set(title="phases of a fit from files", xlabel="% of its time", ylabel="records", xlim=(0, 100))
    ax.invert_yaxis()
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=5, fontsize="x-small", frameon=False, columnspacing=0.9
    )


def read_table(text: str, phases: Any) -> dict[int, dict[str, Any]]:
    """Return the results that a printed table has, by number of records and model."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if " | " in line
    ]
    results: dict[int, dict[str, Any]] = {}
    for row in rows[1:]:
        if "---" in row[0]:
            continue
        cells = {name: float(cell) for name, cell in zip(rows[0][1:-1], row[1:-1], strict=True) if cell}
        found = {
            model: {"seconds": cells[f"{model} s"], "memory": 1e6 * cells[f"{model} MB"]}
            for model in STYLES
            if f"{model} s" in cells
        }
        found["files"]["phases"] = {phase: cells[f"{phase} s"] for phase in phases}
        results[int(row[0].replace(",", ""))] = found
    return results


if __name__ == "__main__":
    from scale import PHASES

    table = read_table(Path(sys.argv[1]).read_text(encoding="utf8"), PHASES)
    draw(table, [model for model in STYLES if any(model in found for found in table.values())], PHASES, sys.argv[2])
