"""Base classes of the displays: plots that keep the data they draw and the axes they are drawn into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from diverse_rule_sets.report._summary import Summary, summarise


class Display(ABC):
    """Base class of all plots, as the displays of scikit-learn: it stores the data, and ``plot`` draws them."""

    ax_: Any
    axes_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw the plot."""

    @abstractmethod
    def _content(self) -> str:
        """Return what the plot shows, in a few words."""

    def __repr__(self) -> str:
        # One line: a notebook prints it above the plot if the display ends a cell.
        return f"<{type(self).__name__}: {self._content()}>"

    def _set_axes(self, axes: Sequence[Any]) -> Self:
        """Store the axes and the figure of the plot."""
        self.axes_ = np.array([*axes, None], object)[:-1]  # numpy would convert the axes without the None
        self.ax_, self.figure_ = axes[0], axes[0].get_figure()
        return self


class RuleSetDisplay(Display):
    """Base class of the plots that need a rule set and a table only."""

    @classmethod
    @abstractmethod
    def _from_summary(cls, summary: Summary) -> Self:
        """Create the display from a summary."""

    @classmethod
    def from_estimator(cls, clf: Any, X: Any, y: Any, *, ax: Any = None, sample_weight: Any = None) -> Self:
        """Draw the rules of a fitted classifier and what they do on a table.

        Parameters
        ----------
        clf : a fitted classifier of this package, or a Pipeline or a search such as GridSearchCV that ends in one. The
            earlier steps of a pipeline transform X, and the plot shows the columns that they return
        X, y : the records and their labels
        ax : axes to draw into, see ``plot``; by default those of a new figure
        sample_weight : weights of the records, as in ``fit``; then all numbers of records are weights
        """
        return cls._from_summary(summarise(clf, X, y, sample_weight)).plot(ax)

    @classmethod
    def from_rule_set(cls, rule_set: Any, X: Any, y: Any, *, ax: Any = None, sample_weight: Any = None) -> Self:
        """Draw the rules of a rule set; parameters as in :meth:`from_estimator`."""
        return cls._from_summary(summarise(rule_set, X, y, sample_weight, name="rule_set")).plot(ax)
