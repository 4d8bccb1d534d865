"""The points of a path as a text table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from diverse_rule_sets.path._points import PARAMETERS, PathPoint, compared, score_names, value_text

_WIDTH = 120
_LONGEST_NAME = 24  # characters of the name of a score


class _Column(NamedTuple):
    """A column as text; columns of a high ``rank`` are left out first if the table is too wide."""

    name: str
    cells: list[str]
    rank: int

    @property
    def width(self) -> int:
        return max(map(len, [self.name, *self.cells]))


def as_text(points: Sequence[PathPoint]) -> str:
    """Return the points as a table of text lines of equal length, of at most 120 characters if possible.

    Parameters that are the same on all points are left out, except the one that the path is against.
    """
    columns = [*_parameters(points), *_scores(points), *_sizes(points)]
    while sum(column.width + 2 for column in columns) - 2 > _WIDTH and any(column.rank for column in columns):
        columns.remove(max(reversed(columns), key=lambda column: column.rank))
    rows = zip(*([column.name, *column.cells] for column in columns), strict=True)
    widths = [column.width for column in columns]
    return "\n".join("  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)


def _parameters(points: Sequence[PathPoint]) -> list[_Column]:
    several = compared(points) or ["max_statements" if any(point.max_statements for point in points) else "max_rules"]
    return [_Column(name, [value_text(point, name) for point in points], 0) for name in PARAMETERS if name in several]


def _scores(points: Sequence[PathPoint]) -> list[_Column]:
    """Return the first score with its standard deviation, the others, and the figures that are always measured."""
    names = score_names(points)
    first, rest = names[:1], names[1:]
    columns = [
        _Column(_short(name), [f"{_number(p.scores[name])} ({_number(p.scores_sd[name])})" for p in points], 0)
        for name in first
    ]
    columns += [_Column(_short(name), [_number(p.scores[name]) for p in points], 2) for name in rest]
    if "auc" not in names:
        columns.append(_figures(points, "auc", 1))
    columns.append(_figures(points, "log_loss", 6))
    return columns


def _sizes(points: Sequence[PathPoint]) -> list[_Column]:
    several_overlaps = "max_overlap" in compared(points)
    columns = [
        _Column(name, [f"{getattr(point, name):.1f}" for point in points], rank)
        for name, rank in (("statements", 0), ("rules", 3), ("conditions", 0), ("signs", 5))
    ]
    columns.append(_Column("overlap", [f"{point.overlap:.2%}" for point in points], 0 if several_overlaps else 3))
    columns.append(_Column("uncovered", [f"{point.uncovered:.1%}" for point in points], 4))
    return columns


def _figures(points: Sequence[PathPoint], name: str, rank: int) -> _Column:
    return _Column(name, [_number(getattr(point, name)) for point in points], rank)


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1e4 or value != value else f"{value:.3g}"


def _short(name: Any) -> str:
    """Return the name of a score on one line, shortened if it is long."""
    text = "".join(character if character.isprintable() else " " for character in str(name))
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."
