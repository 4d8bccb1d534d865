"""The trade-off between accuracy, overlap, number of rules and number of conditions."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from diverse_rule_sets import metrics
from diverse_rule_sets._input.checks import check_number
from diverse_rule_sets._input.labels import encode_labels
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._util.colours import class_colour
from diverse_rule_sets._util.frames import frame_like
from diverse_rule_sets._util.plotting import given_axes, pyplot
from diverse_rule_sets.estimators._max_overlap import OverlapCheck, overlap_text
from diverse_rule_sets.estimators._search_classifier import SearchClassifier
from diverse_rule_sets.estimators._unwrap import Unwrapped, unwrap
from diverse_rule_sets.learn._learner import Budget
from diverse_rule_sets.model._rules import RuleSet

_FIGURES = ("balanced_accuracy", "accuracy", "rules", "conditions", "overlap", "uncovered", "fallbacks")
_MAX_RULES = (1, 2, 3, 5, 8, 12, 20, 30, 40)
_MAX_OVERLAP = (0.0, 0.01, 0.1, 1.0)


class PathPoint(NamedTuple):
    """Values of the three parameters, and the results: means over the folds, and the standard deviation of accuracy.

    Accuracies are measured on held-out records; ``overlap`` and ``uncovered`` are shares of training records.
    """

    max_rules: int
    max_overlap: float | dict[str, float]
    diversity: str | float
    balanced_accuracy: float
    balanced_accuracy_sd: float
    accuracy: float
    rules: float
    conditions: float
    overlap: float
    uncovered: float
    fallbacks: float


class DiversityPath(Sequence[PathPoint]):
    """The points of a path, with the methods ``plot`` and ``frame``; ``print`` shows a table."""

    def __init__(self, points: Iterable[PathPoint]) -> None:
        self._points = tuple(points)

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, index: Any) -> Any:
        return self._points[index]

    def frame(self, like: Any = None) -> Any:
        """Return the points as a data frame of the library of ``like``; by default pandas, or else polars."""
        columns = {name: [getattr(point, name) for point in self] for name in PathPoint._fields}
        columns["diversity"] = [str(value) for value in columns["diversity"]]
        if any(isinstance(value, dict) for value in columns["max_overlap"]):
            columns["max_overlap"] = [overlap_text(value) for value in columns["max_overlap"]]
        return frame_like(like, columns)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the points as a text table."""
        overlaps = [overlap_text(p.max_overlap) for p in self]
        width = max([11, *map(len, overlaps)])
        head = f"{'max_rules':>9} {'max_overlap':>{width}} {'diversity':>10}  {'balanced accuracy':>17} "
        head += f"{'rules':>6} {'conditions':>10} {'overlap':>8} {'uncovered':>9}"
        lines = [
            f"{p.max_rules:>9} {overlap:>{width}} {p.diversity!s:>10}  "
            f"{p.balanced_accuracy:>9.3f} ({p.balanced_accuracy_sd:.3f}) {p.rules:>6.1f} {p.conditions:>10.2f} "
            f"{p.overlap:>8.2%} {p.uncovered:>9.1%}"
            for p, overlap in zip(self, overlaps, strict=True)
        ]
        return "\n".join([head, *lines])

    def plot(self, axes: Any = None) -> Any:
        """Draw accuracy against the number of rules and against overlap; return the two matplotlib axes.

        Parameters
        ----------
        axes : two axes to draw into; a new figure by default
        """
        plt = pyplot()
        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
        left, right = given_axes(axes, 2, first_alone=False)
        lines = self._lines()
        for k, (name, points) in enumerate(lines.items()):
            accuracy = [point.balanced_accuracy for point in points]
            spread = [point.balanced_accuracy_sd for point in points]
            rules = [point.rules for point in points]
            large = 4 + min(2, 12 / len(lines)) * (len(lines) - k)  # points at the same place stay visible
            style = {"color": class_colour(k), "marker": "o", "ms": large, "elinewidth": 0.8, "capsize": 2}
            left.errorbar(rules, accuracy, spread, label=name, **style)
            shares = [100 * point.overlap for point in points]
            right.scatter(shares, accuracy, [6 * n + large**2 for n in rules], color=class_colour(k), alpha=0.6)
        left.set(xlabel="rules", ylabel="held-out balanced accuracy", title="accuracy against rules")
        right.set(
            xlabel="% of training records that two or more rules cover", title="and against overlap (large: many rules)"
        )
        handles, names = left.get_legend_handles_labels()
        if 0 < len(lines) <= 5:
            left.legend(handles, names, loc="lower right", fontsize="small")
        elif lines:  # beside the panels, so that a long legend hides no line
            right.legend(handles, names, loc="upper left", bbox_to_anchor=(1.02, 1), fontsize="small")
        left.xaxis.get_major_locator().set_params(integer=True)
        for ax in (left, right):
            ax.grid(alpha=0.3)
        return axes

    def _lines(self) -> dict[str, list[PathPoint]]:
        """Return the points of each line of a plot: the same parameters except ``max_rules``, fewest rules first."""
        several = len({point.diversity for point in self}) > 1
        lines: dict[str, list[PathPoint]] = {}
        for point in sorted(self, key=lambda point: point.max_rules):
            name = f"max_overlap={overlap_text(point.max_overlap)}"
            name += f", diversity={point.diversity}" if several else ""
            lines.setdefault(name, []).append(point)
        return dict(sorted(lines.items()))


def diversity_path(
    clf: Any,
    X: Any,
    y: Any,
    *,
    max_rules: Sequence[int] | None = None,
    max_overlap: Sequence[float | Mapping[str, float]] | None = None,
    diversity: Sequence[str | float] | None = None,
    cv: Any = 5,
    random_state: int | None = 0,
) -> DiversityPath:
    """Measure the trade-off between accuracy and the number of rules, their overlap and their diversity.

    Every combination of the values given is measured on held-out folds. One search gives the results for all values of
    ``max_rules``; each further value of ``max_overlap`` or ``diversity`` needs another search.

    Parameters
    ----------
    clf : DiverseRuleSetClassifier or DRSClassifier, whose other parameters are used; or a Pipeline that ends in one,
        whose earlier steps are fitted on the training records of each fold; or a fitted search such as GridSearchCV, of
        which ``best_estimator_`` is used. It is not changed, and a classifier or pipeline need not be fitted
    X, y : the records
    max_rules : numbers of rules, given rules included; by default some numbers up to that of the classifier
    max_overlap : values of that parameter, numbers or dicts such as ``{"agree": 0.3, "contradict": 0.01}``; by default
        0, 0.01, 0.1 and 1
    diversity : values of that parameter, for DRSClassifier only; by default that of the classifier
    cv : number of folds, shuffled and stratified, or a scikit-learn splitter
    random_state : seed of the folds, and of the classifier if it has none

    Returns
    -------
    DiversityPath : the points, to print or plot

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier, diversity_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = diversity_path(DiverseRuleSetClassifier(), X, y, max_rules=[1, 3], max_overlap=[0])
    >>> [point.rules for point in path]
    [1.0, 3.0]
    """
    found = unwrap(clf)
    if not isinstance(found.model, SearchClassifier):
        raise TypeError(
            f"clf must be a DiverseRuleSetClassifier or a DRSClassifier, or a Pipeline or a fitted search such as "
            f"GridSearchCV that ends in one, got {found}"
        )
    clf = found.model
    if diversity is not None and "diversity" not in clf.get_params():
        raise ValueError(
            f"diversity can be compared for DRSClassifier only, which has that parameter, got {diversity!r}"
        )
    check_number("max_rules of clf", clf.max_rules, numbers.Integral, low=0)
    n_given = len(clf.given_rules) if isinstance(clf.given_rules, list | tuple) else 0
    counts = _values("max_rules", max_rules, [n for n in _MAX_RULES if n_given <= n < clf.max_rules] + [clf.max_rules])
    overlaps = [_overlap(value) for value in _values("max_overlap", max_overlap, list(_MAX_OVERLAP))]
    weights = _values("diversity", diversity, [clf._settings().diversity])
    for n in counts:
        check_number("max_rules", n, numbers.Integral, low=0)
    from sklearn.model_selection import StratifiedKFold, check_cv  # slow to import, and needed only here

    clf._check_parameters()
    records = _Records(found, X)
    classes, codes = encode_labels(y, records.n_records)
    labels = classes[codes]
    if cv is None or isinstance(cv, numbers.Integral):
        folds: Any = StratifiedKFold(5 if cv is None else int(cv), shuffle=True, random_state=random_state)
    else:
        folds = check_cv(cv, codes, classifier=True)
    results: dict[tuple[Any, ...], list[tuple[float, ...]]] = {}
    for train, test in folds.split(np.zeros(records.n_records), codes):
        training, held_out = records.split(train, test, labels[train])
        for (k, overlap), weight in itertools.product(enumerate(overlaps), weights):
            one = clone(clf).set_params(max_overlap=overlap)
            if diversity is not None:
                one.set_params(diversity=weight)
            if one.random_state is None:
                one.set_params(random_state=random_state)
            for n, rule_set in zip(
                counts, one._rule_sets(training, labels[train], [Budget(n) for n in counts]), strict=True
            ):
                figures = _measure(rule_set, training, held_out, labels[test])
                results.setdefault((n, k, weight), []).append(figures)
    return DiversityPath(_point((n, overlaps[k], weight), rows) for (n, k, weight), rows in results.items())


class _Records:
    """The records of a path; the earlier steps of a pipeline are fitted on the training records of each fold."""

    def __init__(self, found: Unwrapped, X: Any) -> None:
        self._found, self._X = found, X
        self._table = None if found.transformers else as_table(X)
        self.n_records = _num_samples(X) if self._table is None else self._table.n_records

    def split(self, train: NDArray[np.int64], test: NDArray[np.int64], labels: NDArray[Any]) -> tuple[Table, Table]:
        """Return the training records, which have the given labels, and the held-out records of a fold."""
        if self._table is not None:
            return self._table.take(train), self._table.take(test)
        parts = self._found.refit(_safe_indexing(self._X, train), labels, _safe_indexing(self._X, test))
        return as_table(parts[0]), as_table(parts[1])


def _values(name: str, given: Sequence[Any] | None, default: list[Any]) -> list[Any]:
    """Return the values to compare, without repetition."""
    if given is None:
        return default
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of values to compare, got {given!r}")
    values: list[Any] = []
    for value in given:  # dicts cannot be keys
        if value not in values:
            values.append(value)
    if not values:
        raise ValueError(f"{name} must name at least one value, got {given!r}")
    return values


def _overlap(value: Any) -> float | dict[str, float]:
    """Return a checked value of ``max_overlap``."""
    OverlapCheck()("max_overlap", value)
    return {key: float(share) for key, share in value.items()} if isinstance(value, Mapping) else float(value)


def _measure(rule_set: RuleSet, training: Table, held_out: Table, labels: NDArray[Any]) -> tuple[float, ...]:
    """Return the figures of a rule set, in the order of ``_FIGURES``."""
    from sklearn.metrics import balanced_accuracy_score

    predicted = rule_set.predict(held_out)
    overlap, coverage = metrics._shares(rule_set, training)
    return (
        float(balanced_accuracy_score(labels.astype(str), predicted.astype(str))),
        float(np.mean(labels.astype(str) == predicted.astype(str))),
        float(len(rule_set)),
        metrics.mean_conditions(rule_set),
        overlap,
        1.0 - coverage,
        float(len(rule_set.fallbacks)),
    )


def _point(key: tuple[Any, ...], figures: list[tuple[float, ...]]) -> PathPoint:
    means = dict(zip(_FIGURES, np.mean(figures, axis=0).tolist(), strict=True))
    means["balanced_accuracy_sd"] = float(np.std([row[0] for row in figures]))
    return PathPoint(*key, *(means[name] for name in PathPoint._fields[len(key) :]))
