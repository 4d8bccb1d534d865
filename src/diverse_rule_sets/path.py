"""How accuracy, overlap, rules and conditions trade against one another, to choose by looking."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from diverse_rule_sets import metrics
from diverse_rule_sets._input.checks import check_number
from diverse_rule_sets._input.labels import encode_labels
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._util.frames import frame_like
from diverse_rule_sets._util.plotting import colours, given_axes, pyplot
from diverse_rule_sets.estimators._search import SearchClassifier
from diverse_rule_sets.model._rules import RuleSet

_FIGURES = ("balanced_accuracy", "accuracy", "rules", "conditions", "overlap", "uncovered", "fallbacks")
_MAX_RULES = (1, 2, 3, 5, 8, 12, 20, 30, 40)
_MAX_OVERLAP = (0.0, 0.01, 0.1, 1.0)


class PathPoint(NamedTuple):
    """One choice of the three parameters, and what it gives: means over the folds, and the spread of accuracy.

    Accuracies are of held-out records; overlap and uncovered are shares of training records.
    """

    max_rules: int
    max_overlap: float
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
    """The points of a path; ``print`` it, ``plot`` it, or take ``frame()``."""

    def __init__(self, points: Iterable[PathPoint]) -> None:
        self._points = tuple(points)

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, index: Any) -> Any:
        return self._points[index]

    def frame(self, like: Any = None) -> Any:
        """Return the points as a data frame of the library of ``like``, pandas or else polars by default."""
        columns = {name: [getattr(point, name) for point in self] for name in PathPoint._fields}
        columns["diversity"] = [str(value) for value in columns["diversity"]]
        return frame_like(like, columns)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Return the points as a table to read."""
        head = f"{'max_rules':>9} {'max_overlap':>11} {'diversity':>10}  {'balanced accuracy':>17} "
        head += f"{'rules':>6} {'conditions':>10} {'overlap':>8} {'uncovered':>9}"
        lines = [
            f"{p.max_rules:>9} {p.max_overlap:>11g} {p.diversity!s:>10}  "
            f"{p.balanced_accuracy:>9.3f} ({p.balanced_accuracy_sd:.3f}) {p.rules:>6.1f} {p.conditions:>10.2f} "
            f"{p.overlap:>8.2%} {p.uncovered:>9.1%}"
            for p in self
        ]
        return "\n".join([head, *lines])

    def plot(self, axes: Any = None) -> Any:
        """Draw accuracy against the number of rules and against overlap; returns the two matplotlib axes.

        Parameters
        ----------
        axes : two axes to draw into; a new figure by default
        """
        plt = pyplot()
        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
        left, right = given_axes(axes, 2, first_alone=False)
        lines = self._lines()
        shades = colours(len(lines))
        for k, (name, points) in enumerate(lines.items()):
            accuracy = [point.balanced_accuracy for point in points]
            spread = [point.balanced_accuracy_sd for point in points]
            rules = [point.rules for point in points]
            large = 4 + min(2, 12 / len(lines)) * (len(lines) - k)  # what coincides stays visible
            style = {"color": shades[k], "marker": "o", "ms": large, "elinewidth": 0.8, "capsize": 2}
            left.errorbar(rules, accuracy, spread, label=name, **style)
            shares = [100 * point.overlap for point in points]
            right.scatter(shares, accuracy, [6 * n + large**2 for n in rules], color=shades[k], alpha=0.6)
        left.set(xlabel="rules", ylabel="held-out balanced accuracy", title="accuracy against rules")
        right.set(
            xlabel="% of training records under two rules or more", title="and against overlap (large: many rules)"
        )
        named = left.get_legend_handles_labels()
        if 0 < len(lines) <= 5:
            left.legend(*named, loc="lower right", fontsize="small")
        elif lines:  # beside the panels, so that many lines hide none
            right.legend(*named, loc="upper left", bbox_to_anchor=(1.02, 1), fontsize="small")
        left.xaxis.get_major_locator().set_params(integer=True)
        for ax in (left, right):
            ax.grid(alpha=0.3)
        return axes

    def _lines(self) -> dict[str, list[PathPoint]]:
        """Group the points into the lines of a plot: all but ``max_rules`` the same, fewest rules first."""
        several = len({point.diversity for point in self}) > 1
        lines: dict[str, list[PathPoint]] = {}
        for point in sorted(self, key=lambda point: point.max_rules):
            name = f"max_overlap={point.max_overlap:g}" + (f", diversity={point.diversity}" if several else "")
            lines.setdefault(name, []).append(point)
        return dict(sorted(lines.items()))


def diversity_path(
    clf: SearchClassifier,
    X: Any,
    y: Any,
    *,
    max_rules: Sequence[int] | None = None,
    max_overlap: Sequence[float] | None = None,
    diversity: Sequence[str | float] | None = None,
    cv: Any = 5,
    random_state: int | None = 0,
) -> DiversityPath:
    """Measure how accuracy trades against the number of rules, their overlap and their diversity.

    Every combination of the values given is measured on held-out folds. All values of ``max_rules`` come out of one
    search; each further value of ``max_overlap`` or ``diversity`` costs one more.

    Parameters
    ----------
    clf : DiverseRuleSetClassifier or DRSClassifier, whose other parameters are used; it is not changed and need not be
        fitted
    X, y : the records
    max_rules : numbers of rules, given ones included; by default some up to the classifier's own
    max_overlap : shares of overlap; by default 0, 0.01, 0.1 and 1
    diversity : words or weights, for DRSClassifier only; by default the classifier's own
    cv : number of folds, shuffled and stratified, or a scikit-learn splitter
    random_state : seed of the folds, and of the classifier where it has none

    Returns
    -------
    DiversityPath : the points, to print or to plot

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier, diversity_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = diversity_path(DiverseRuleSetClassifier(), X, y, max_rules=[1, 3], max_overlap=[0])
    >>> [point.rules for point in path]
    [1.0, 3.0]
    """
    if not isinstance(clf, SearchClassifier):
        raise TypeError(f"clf must be a DiverseRuleSetClassifier or a DRSClassifier, got {type(clf).__name__}")
    if diversity is not None and "diversity" not in clf.get_params():
        raise ValueError(
            f"diversity can be compared for DRSClassifier only, which has that parameter, got {diversity!r}"
        )
    check_number("max_rules of clf", clf.max_rules, numbers.Integral, low=0)
    n_given = len(clf.given_rules) if isinstance(clf.given_rules, list | tuple) else 0
    counts = _values("max_rules", max_rules, [n for n in _MAX_RULES if n_given <= n < clf.max_rules] + [clf.max_rules])
    overlaps = [_number("max_overlap", share) for share in _values("max_overlap", max_overlap, list(_MAX_OVERLAP))]
    weights = _values("diversity", diversity, [clf._settings().diversity])
    for n in counts:
        check_number("max_rules", n, numbers.Integral, low=0)
    from sklearn.model_selection import StratifiedKFold, check_cv  # slow to import, and needed only here

    clf._check_parameters()
    table = as_table(X)
    classes, codes = encode_labels(y, table.n_records)
    labels = classes[codes]
    if cv is None or isinstance(cv, numbers.Integral):
        folds: Any = StratifiedKFold(5 if cv is None else int(cv), shuffle=True, random_state=random_state)
    else:
        folds = check_cv(cv, codes, classifier=True)
    measured: dict[tuple[Any, ...], list[tuple[float, ...]]] = {}
    for train, test in folds.split(np.zeros(table.n_records), codes):
        inside, outside = table.taken(train), table.taken(test)
        for overlap, weight in itertools.product(overlaps, weights):
            one = clone(clf).set_params(max_overlap=overlap)
            if diversity is not None:
                one.set_params(diversity=weight)
            if one.random_state is None:
                one.set_params(random_state=random_state)
            for n, rule_set in zip(counts, one._rule_sets(inside, labels[train], counts), strict=True):
                figures = _measured(rule_set, inside, outside, labels[test])
                measured.setdefault((n, overlap, weight), []).append(figures)
    return DiversityPath(_point(key, figures) for key, figures in measured.items())


def _values(name: str, given: Sequence[Any] | None, usual: list[Any]) -> list[Any]:
    if given is None:
        return usual
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of values to compare, got {given!r}")
    values = list(dict.fromkeys(given))
    if not values:
        raise ValueError(f"{name} must name at least one value, got {given!r}")
    return values


def _number(name: str, value: Any) -> float:
    check_number(name, value, numbers.Real, low=0, high=1)
    return float(value)


def _measured(rule_set: RuleSet, inside: Table, outside: Table, labels: NDArray[Any]) -> tuple[float, ...]:
    """Return the figures of a rule set, in the order of ``_FIGURES``."""
    from sklearn.metrics import balanced_accuracy_score

    predicted = rule_set.predict(outside)
    overlap, coverage = metrics._shares(rule_set, inside)
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
