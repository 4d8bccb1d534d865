"""Plots of the selection of rules during fit, and of the trade-off between accuracy, rules and overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._util.colours import GREY, some_class_colours
from diverse_rule_sets._util.plotting import given_axes, mix, pyplot
from diverse_rule_sets.estimators._unwrap import unwrap
from diverse_rule_sets.model._figures import percent
from diverse_rule_sets.path import DiversityPath, diversity_path
from diverse_rule_sets.report._display import Display
from diverse_rule_sets.report._legends import NORMAL, SMALL, class_entries, draw_message, legend, set_title
from diverse_rule_sets.report._plain_text import with_noun
from diverse_rule_sets.report._summary import Summary, summarise

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class FitPathDisplay(Display):
    """What each rule added when it was selected: to the objective, to the coverage, to the recall of its class.

    Parameters
    ----------
    quality : quality of each rule, in the order of selection
    distance_gain : sum of the distances of each rule to the rules before it
    recall_gain : share of the training records of its class that the rule covers and no rule before it does
    coverage : share of the records of X that this rule and the rules before it cover
    lambda_ : weight of the distances
    own : position of the label of each rule among the classes
    classes : the labels as text

    Attributes
    ----------
    axes_ : the axes of objective, coverage, quality, distance and recall
    ax_, figure_ : the first of the axes, and the figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier
    >>> from diverse_rule_sets.report import FitPathDisplay
    >>> clf = DiverseRuleSetClassifier(max_rules=3, random_state=0).fit(*load_iris(return_X_y=True))
    >>> display = FitPathDisplay.from_estimator(clf, *load_iris(return_X_y=True))
    >>> bool(np.isclose(display.objective[-1], clf.objective_))
    True
    """

    quality: Floats
    distance_gain: Floats
    recall_gain: Floats
    coverage: Floats
    lambda_: float
    own: list[int]
    classes: list[str]

    @classmethod
    def from_estimator(cls, clf: Any, X: Any, y: Any, *, ax: Any = None, sample_weight: Any = None) -> Self:
        """Draw how the rules of a fitted classifier were selected.

        Parameters
        ----------
        clf : a fitted :class:`~diverse_rule_sets.DiverseRuleSetClassifier`, or a Pipeline or a search such as
            GridSearchCV that ends in one; baselines have no ``history_``
        X, y : the records on which coverage is measured and their labels
        ax : axes to draw into, see ``plot``; by default those of a new figure
        sample_weight : weights of the records, as in ``fit``; coverage is then a share of their weight
        """
        summary, found = summarise(clf, X, y, sample_weight), unwrap(clf)
        history = getattr(found.model, "history_", None)
        if not isinstance(history, list):
            raise TypeError(
                f"clf must have the attribute history_, as a fitted DiverseRuleSetClassifier has, got {found}"
            )
        if [step["label"] for step in history] != [rule.label for rule in summary.rule_set]:
            raise ValueError("clf must have the rules of its fit, got a clf whose rule_set_ was changed after fit")
        return cls._from_history(summary, history, float(found.model.lambda_)).plot(ax)

    @classmethod
    def _from_history(cls, summary: Summary, history: Sequence[dict[str, Any]], lambda_: float) -> Self:
        gains = {name: np.array([step[name] for step in history], np.float64) for name in _GAINS}
        covered = np.logical_or.accumulate(summary.covering, axis=1)
        weights = np.ones(len(covered)) if summary.weights is None else summary.weights.values
        coverage = weights @ covered / weights.sum()
        own = [summary.rule_set.classes.index(rule.label) for rule in summary.rule_set]
        return cls(**gains, coverage=coverage, lambda_=lambda_, own=own, classes=summary.classes)

    @property
    def objective(self) -> Floats:
        """Objective of the rules up to each one: sum of qualities + lambda * sum of distances over pairs."""
        return np.asarray(np.cumsum(self.quality + self.lambda_ * self.distance_gain))

    @property
    def mean_distance(self) -> Floats:
        """Mean distance of each rule to the rules before it; NaN for the first."""
        n_before = np.arange(self.quality.size)
        return np.divide(self.distance_gain, n_before, out=np.full(n_before.size, np.nan), where=n_before > 0)

    def _content(self) -> str:
        value = f", objective {self.objective[-1]:.4g}, coverage {percent(self.coverage[-1])}" if self.own else ""
        return with_noun(len(self.own), "rule") + value

    def plot(self, ax: Any = None) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : axes to draw into: one for the objective only, or five; by default those of a new figure
        """
        plt = pyplot()
        own_figure, n = ax is None, self.quality.size
        if ax is None:
            width = min(max(10.0, 0.27 * n), 18.0)
            _, panels = plt.subplot_mosaic("AAABBB;CCDDEE", figsize=(width, 6.4), layout="constrained")
            ax = list(panels.values())
        axes = given_axes(ax, 5)
        if not n:
            for each in axes:
                draw_message(each, "There are no rules." if each is axes[0] else "")
            return self._set_axes(axes)
        self._draw_objective(axes[0])
        if len(axes) > 1:
            self._draw_coverage(axes[1])
            self._draw_gains(axes[2:])
            shades, others = some_class_colours(len(self.classes), self.own)
            listed = [k for k in range(len(self.classes)) if k in self.own or others]
            entries = class_entries([self.classes[k] for k in listed], [shades[k] for k in listed], others)
            legend(axes[2], entries, below=own_figure)
        return self._set_axes(axes)

    def _draw_gains(self, axes: Sequence[Any]) -> None:
        """Draw quality, mean distance and recall gain of each rule, in the colour of its class."""
        shades, _ = some_class_colours(len(self.classes), self.own)
        n, bar_colours = self.quality.size, [shades[k] for k in self.own]
        places = np.arange(1, n + 1)
        axes[0].bar(places, self.quality, color=bar_colours, width=0.8)
        axes[1].scatter(places, self.mean_distance, color=bar_colours, s=22)
        axes[2].bar(places, self.recall_gain, color=bar_colours, width=0.8)
        axes[1].set_ylim(0, 1.05)
        axes[2].set_ylim(0, 1.05 * max(float(self.recall_gain.max()), 0.01))
        for each, (title, note) in zip(axes, _PER_RULE, strict=True):
            _finish(each, n, title, note)

    def _draw_objective(self, ax: Any) -> None:
        """Draw the objective after each rule, as the sum of qualities and distances."""
        from matplotlib.patches import Patch

        n = self.quality.size
        places, quality = np.arange(1, n + 1), np.cumsum(self.quality)
        pale = mix(GREY, ax.get_facecolor(), 0.45)  # shades of grey, because colours belong to the classes
        ax.bar(places, quality, width=0.8, color=GREY)
        ax.bar(places, self.objective - quality, bottom=quality, width=0.8, color=pale)
        parts = [(Patch(color=pale), f"{self.lambda_:.3g} x distances"), (Patch(color=GREY), "qualities")]
        _finish(ax, n, "Objective after each rule", f"final value {self.objective[-1]:.4g}")
        legend(ax, parts, below=False)

    def _draw_coverage(self, ax: Any) -> None:
        """Draw the share of records that the rules up to each one cover."""
        n, colour = self.quality.size, ax.xaxis.label.get_color()
        ax.step(np.arange(n + 1), [0, *(100 * self.coverage)], where="post", color=colour, lw=1.8)
        ax.plot(np.arange(1, n + 1), 100 * self.coverage, "o", color=colour, ms=4)
        _finish(ax, n, "Coverage after each rule, in %", f"final value {percent(self.coverage[-1])}")
        ax.set_ylim(0, 105)


_GAINS = ("quality", "distance_gain", "recall_gain")
_PER_RULE = (
    ("Quality of the rule", "in the colour of its class"),
    ("Mean distance to the rules before", "1: no shared records"),
    ("Newly covered share of its class", "of the training records"),
)


def _finish(ax: Any, n: int, title: str, note: str) -> None:
    """Set title, ticks and grid of a panel whose x axis is the rules."""
    from matplotlib.ticker import MaxNLocator

    set_title(ax, title, [note], 60)
    ax.set_xlim(0.4, n + 0.6)
    ax.xaxis.set_major_locator(MaxNLocator(min(n + 1, 12), integer=True, steps=[1, 2, 5, 10]))
    ax.set_xlabel("rule, in the order of selection", fontsize=NORMAL)
    ax.tick_params(labelsize=SMALL)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


@dataclass(eq=False, repr=False)
class TradeOffDisplay(Display):
    """The score against statements and against conditions or overlap, on held-out folds.

    Parameters
    ----------
    path : the points, a :class:`~diverse_rule_sets.DiversityPath`

    Attributes
    ----------
    axes_ : the axes of the score against statements, and of the score against conditions, or against overlap if several
        values of ``max_overlap`` are compared
    ax_, figure_ : the first of the axes, and the figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier, diversity_path
    >>> from diverse_rule_sets.report import TradeOffDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DiverseRuleSetClassifier(random_state=0)
    >>> path = diversity_path(clf, X, y, max_statements=[2, 3, 5], cv=2)
    >>> len(TradeOffDisplay.from_path(path).path)
    3
    """

    path: DiversityPath

    @classmethod
    def from_path(cls, path: DiversityPath, *, ax: Any = None) -> Self:
        """Draw an existing path.

        Parameters
        ----------
        path : the result of :func:`~diverse_rule_sets.diversity_path`
        ax : two axes to draw into; by default those of a new figure
        """
        if not isinstance(path, DiversityPath):
            raise TypeError(f"path must be a DiversityPath, got {type(path).__name__}")
        return cls(path).plot(ax)

    @classmethod
    def from_estimator(cls, clf: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Measure a path on held-out folds and draw it.

        Parameters
        ----------
        clf : the classifier whose other parameters are used, or a Pipeline that ends in it; it need not be fitted
        X, y : the records and their labels
        ax : two axes to draw into; by default those of a new figure
        **options : parameters of :func:`~diverse_rule_sets.diversity_path`
        """
        return cls.from_path(diversity_path(clf, X, y, **options), ax=ax)

    def _content(self) -> str:
        return with_noun(len(self.path), "point")

    def plot(self, ax: Any = None) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : two axes to draw into; by default those of a new figure
        """
        return self._set_axes(list(self.path.plot(ax)))
