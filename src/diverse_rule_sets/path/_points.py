"""A point of a path, and how points are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diverse_rule_sets.estimators._max_overlap import overlap_text

# The parameters that a path compares.
PARAMETERS = ("max_statements", "max_rules", "max_overlap", "diversity")
BALANCED_ACCURACY = "balanced_accuracy"


class PathPoint(NamedTuple):
    """Values of the parameters, and the results: means over the folds, and standard deviations over the folds.

    A figure that cannot be computed on a fold is left out of its mean; it is NaN if there is none on any fold.

    Parameters
    ----------
    max_statements, max_rules, max_overlap, diversity : values of the parameters; ``max_statements`` is None if the
        number of statements is not limited
    scores, scores_sd : by name, the scores of ``scoring`` on held-out records, and their standard deviations; the first
        is also :attr:`score`, which a plot shows
    balanced_accuracy, accuracy : of the labels of held-out records
    auc : area under the ROC curve of the probabilities of held-out records; with more than two classes, the mean over
        all pairs of classes
    log_loss : mean of the negative logarithm of the probability of the right label, on held-out records
    balanced_accuracy_sd, accuracy_sd, auc_sd, log_loss_sd : standard deviations of these figures
    statements, conditions, rules, fallbacks, signs : how much there is to read, see :class:`~.metrics.Size`
    overlap, uncovered : shares of the training records that two or more rules cover, and that no rule covers
    """

    max_statements: int | None
    max_rules: int
    max_overlap: float | dict[str, float]
    diversity: str | float
    scores: dict[str, float]
    scores_sd: dict[str, float]
    balanced_accuracy: float
    balanced_accuracy_sd: float
    accuracy: float
    accuracy_sd: float
    auc: float
    auc_sd: float
    log_loss: float
    log_loss_sd: float
    statements: float
    conditions: float
    rules: float
    fallbacks: float
    signs: float
    overlap: float
    uncovered: float

    @property
    def score(self) -> float:
        """The first of the scores."""
        return next(iter(self.scores.values()))

    @property
    def score_sd(self) -> float:
        """The standard deviation of the first of the scores."""
        return next(iter(self.scores_sd.values()))


def score_names(points: Sequence[PathPoint]) -> list[str]:
    """Return the names of the scores, the one that a plot shows first."""
    return list(points[0].scores) if points else []


def compared(points: Sequence[PathPoint]) -> list[str]:
    """Return the parameters that have several values."""
    return [name for name in PARAMETERS if len({value_text(point, name) for point in points}) > 1]


def lines(points: Sequence[PathPoint]) -> dict[str, list[PathPoint]]:
    """Return the points of each line of a plot by its name, in the order of the path.

    The points of a line differ in ``max_statements``, or else in ``max_rules``. The name of a line has the other
    parameters that are compared; it is empty for a single line.
    """
    several = compared(points)
    along = "max_statements" if "max_statements" in several else "max_rules"
    named = [name for name in ("max_overlap", "diversity", "max_rules") if name in several and name != along]
    found: dict[str, list[PathPoint]] = {}
    for point in points:
        found.setdefault(", ".join(f"{name}={value_text(point, name)}" for name in named), []).append(point)
    return found


def value_text(point: PathPoint, parameter: str) -> str:
    """Return the value of a parameter of a point as text."""
    value = getattr(point, parameter)
    return overlap_text(value) if parameter == "max_overlap" else str(value)
