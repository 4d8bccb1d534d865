"""DiversityPath: the points of a path as a table, a data frame and a plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from diverse_rule_sets._util.frames import frame_like
from diverse_rule_sets.estimators._max_overlap import overlap_text
from diverse_rule_sets.path._plot import draw
from diverse_rule_sets.path._points import BALANCED_ACCURACY, PathPoint, score_names
from diverse_rule_sets.path._table import as_text


class DiversityPath(Sequence[PathPoint]):
    """The points of a path, with the methods ``plot`` and ``frame``; ``print`` shows a table."""

    def __init__(self, points: Iterable[PathPoint]) -> None:
        self._points = tuple(points)

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, index: Any) -> Any:
        return self._points[index]

    def frame(self, like: Any = None) -> Any:
        """Return the points as a data frame of the library of ``like``; by default pandas, or else polars.

        The columns are the fields of a :class:`PathPoint`. Each score of ``scoring`` has the columns ``score_<name>``
        and ``score_<name>_sd``; balanced accuracy, which is measured in any case, has its own columns only.
        """
        columns = {name: [getattr(point, name) for point in self] for name in PathPoint._fields}
        columns["diversity"] = [str(value) for value in columns["diversity"]]
        if any(isinstance(value, dict) for value in columns["max_overlap"]):
            columns["max_overlap"] = [overlap_text(value) for value in columns["max_overlap"]]
        scores, spreads = columns.pop("scores"), columns.pop("scores_sd")
        for name in score_names(self):
            if name != BALANCED_ACCURACY:
                columns[f"score_{name}"] = [each[name] for each in scores]
                columns[f"score_{name}_sd"] = [each[name] for each in spreads]
        return frame_like(like, columns, max_statements="Int64")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the points as a text table of at most 120 columns; ``frame`` has all figures."""
        return as_text(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the score against the number of statements and of conditions; return the two matplotlib axes.

        The left panel also shows the AUC, dashed, if the score is a share (from 0 to 1) and not an AUC itself. If
        several values of ``max_overlap`` are compared, the right panel shows the score against overlap instead.

        Parameters
        ----------
        axes : two axes to draw into; a new figure by default
        """
        return draw(self, axes)
