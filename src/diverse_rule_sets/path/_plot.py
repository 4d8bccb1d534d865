"""The plot of a path: the score against statements, and against conditions or overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diverse_rule_sets._util.colours import class_colour
from diverse_rule_sets._util.plotting import given_axes, pyplot
from diverse_rule_sets.path._points import PathPoint, compared, lines, score_names

_LONGEST_NAME = 40  # characters of the name of a score
_MAX_INSIDE = 5  # lines whose legend is inside a panel


def draw(points: Sequence[PathPoint], axes: Any = None) -> Any:
    """Draw the two panels; return the axes, those of a new figure by default."""
    plt = pyplot()
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    left, right = given_axes(axes, 2, first_alone=False)
    by_name, name = lines(points), _score_text(points)
    with_auc, several_overlaps = _draws_auc(points), "max_overlap" in compared(points)
    for k, (line, some) in enumerate(by_name.items()):
        size = 4 + min(2, 12 / len(by_name)) * (len(by_name) - k - 1)  # points at the same place stay visible
        style = {"color": class_colour(k), "marker": "o", "ms": size, "elinewidth": 0.8, "capsize": 2}
        _draw_score(left, "statements", some, line or name, style)
        if with_auc:
            _draw_auc(left, some, k, single=len(by_name) == 1)
        if several_overlaps:
            sizes = [4 * point.statements + size**2 for point in some]
            shares, score = [100 * point.overlap for point in some], [point.score for point in some]
            right.scatter(shares, score, sizes, color=class_colour(k), alpha=0.6, clip_on=False)
        else:
            _draw_score(right, "conditions", some, line or name, style)
    _name_axes(left, right, name, several_overlaps, dashed=with_auc and len(by_name) > 1)
    _set_limits(points, left, right, several_overlaps)
    _draw_legend(left, right, len(by_name))
    return axes


def _by(figure: str, points: Sequence[PathPoint]) -> list[PathPoint]:
    """Return the points in the order of a figure, so that a line never runs back: a larger limit may add nothing."""
    return sorted(points, key=lambda point: float(getattr(point, figure)))


def _draw_score(ax: Any, figure: str, points: Sequence[PathPoint], label: str, style: dict[str, Any]) -> None:
    """Draw the score against a figure, with its standard deviation."""
    points = _by(figure, points)
    places = [getattr(point, figure) for point in points]
    ax.errorbar(places, [point.score for point in points], [point.score_sd for point in points], label=label, **style)


def _draw_auc(ax: Any, points: Sequence[PathPoint], k: int, single: bool) -> None:
    """Draw the AUC, dashed: in a colour of its own if there is a single line, else in the colour of its line."""
    points = _by("statements", points)
    places, areas = [point.statements for point in points], [point.auc for point in points]
    if single:
        spread, style = [point.auc_sd for point in points], {"marker": "s", "ms": 4, "elinewidth": 0.8, "capsize": 2}
        ax.errorbar(places, areas, spread, color=class_colour(k + 1), ls="--", label="AUC", **style)
    else:
        ax.plot(places, areas, color=class_colour(k), ls="--", lw=1, label="_AUC")


def _draws_auc(points: Sequence[PathPoint]) -> bool:
    """Return whether the AUC has the scale of the score, and is not the score itself."""
    names = score_names(points)
    return (
        bool(names)
        and "auc" not in names[0]
        and all(0 <= point.score <= 1 for point in points if point.score == point.score)
        and any(point.auc == point.auc for point in points)
    )


def _name_axes(left: Any, right: Any, name: str, several_overlaps: bool, dashed: bool) -> None:
    left.set(xlabel="statements: rules, fallback rules and the default label", ylabel=f"{name}, held-out records")
    left.set_title("against statements" + (" (dashed: AUC)" if dashed else ""))
    if several_overlaps:
        right.set_xlabel("% of training records that two or more rules cover")
        right.set_title("against overlap (large: many statements)")
    else:
        right.set_xlabel("conditions of all statements, signs of scorecards included")
        right.set_title("against conditions")


def _set_limits(points: Sequence[PathPoint], left: Any, right: Any, several_overlaps: bool) -> None:
    """Start the axes of sizes and of overlap at 0, with whole numbers on the axes of sizes."""
    without_conditions = any(not point.conditions for point in points)  # such a point is drawn in full
    if several_overlaps:
        has_overlap = any(point.overlap for point in points)
        right.set_xlim(0, max(right.get_xlim()[1], 0.01) if has_overlap else 1)
    else:
        high = max([1.0, *(1.05 * point.conditions for point in points)])
        right.set_xlim(-0.03 * high if without_conditions else 0, high)
        right.xaxis.get_major_locator().set_params(integer=True)
    left.set_xlim(0, max([1.0, *(1.05 * point.statements for point in points)]))
    left.xaxis.get_major_locator().set_params(integer=True)
    for ax in (left, right):
        ax.grid(alpha=0.3)


def _draw_legend(left: Any, right: Any, n_lines: int) -> None:
    handles, names = left.get_legend_handles_labels()
    if 0 < n_lines <= _MAX_INSIDE:
        left.legend(handles, names, loc="best", fontsize="small")
    elif n_lines:  # beside the panels, so that a long legend hides no line
        right.legend(handles, names, loc="upper left", bbox_to_anchor=(1.02, 1), fontsize="small")


def _score_text(points: Sequence[PathPoint]) -> str:
    """Return the name of the score for a reader; a ``$`` in it starts no formula."""
    text = next(iter(score_names(points)), "score").replace("_", " ")
    text = text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."
    return text.replace("$", r"\$")
