"""What makes a display: made from a classifier or a rule set, it keeps what it shows and where it was drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from diverse_rule_sets.report._summary import Summary, summarise


class Display(ABC):
    """A picture, as scikit-learn's displays are: what it shows is kept, and ``plot`` draws it."""

    ax_: Any
    axes_: Any
    figure_: Any

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw the picture."""

    def _drawn(self, axes: Sequence[Any]) -> Self:
        """Note where the picture was drawn."""
        self.axes_ = np.array([*axes, None], object)[:-1]  # numpy would look into axes, were they alone
        self.ax_, self.figure_ = axes[0], axes[0].get_figure()
        return self


class RuleSetDisplay(Display):
    """A picture of a rule set on a table."""

    @classmethod
    @abstractmethod
    def _of(cls, summary: Summary) -> Self:
        """Take what the picture shows from a summary."""

    @classmethod
    def from_estimator(cls, clf: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw the rules of a fitted classifier on records.

        Parameters
        ----------
        clf : a fitted classifier of this package
        X, y : the records, and their labels
        ax : axes to draw into, as for ``plot``; a new figure by default
        """
        return cls._of(summarise(clf, X, y)).plot(ax)

    @classmethod
    def from_rule_set(cls, rule_set: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Draw a rule set on records; see :meth:`from_estimator`."""
        return cls._of(summarise(rule_set, X, y)).plot(ax)
