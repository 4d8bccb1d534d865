"""A picture of how many records of which classes each rule covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._util.plotting import given_axes, pyplot
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._rules import Rule
from diverse_rule_sets.model._text import digits
from diverse_rule_sets.report._display import RuleSetDisplay
from diverse_rule_sets.report._legends import SMALL, USUAL, bar_legend, class_bars, name_ticks, titled
from diverse_rule_sets.report._summary import Integers, Summary
from diverse_rule_sets.report._text_layout import names_of, readable, rule_words, told_apart

# Up to so many bars a rule may take two lines.
_FEW_BARS = 25


@dataclass(eq=False)
class CoverageDisplay(RuleSetDisplay):
    """How many records of which classes each rule covers; then the fallbacks, and what is left to the default.

    A bar is as long as there are records under the rule, those of its own class first. For a fallback they are the
    records for which it speaks; the last bar holds those for which neither a rule nor a fallback does.

    Parameters
    ----------
    rules : the rules, then the fallbacks
    n_rules : how many of them are rules
    default : the label of the last bar, in words
    classes : the labels in words
    counts : records of each class in each bar, shape (n_bars, n_classes)
    own : position of each bar's own class
    n_records : how many records there are

    Attributes
    ----------
    ax_, figure_ : where the picture was drawn

    Examples
    --------
    >>> from diverse_rule_sets import Rule, RuleSet
    >>> from diverse_rule_sets.report import CoverageDisplay
    >>> rule_set = RuleSet((Rule.parse("IF x0 > 1 THEN high"),), ("high", "low"), "low", (2, 2), (0, 1))
    >>> display = CoverageDisplay.from_rule_set(rule_set, [[1], [2], [3], [4]], ["low", "low", "high", "high"])
    >>> dict(zip(display.names, display.counts.tolist()))
    {'1. IF x0 > 1 THEN high': [2, 1], 'OTHERWISE low': [0, 1]}
    """

    rules: tuple[Rule, ...]
    n_rules: int
    default: str
    classes: list[str]
    counts: Integers
    own: list[int]
    n_records: int

    @classmethod
    def _of(cls, summary: Summary) -> Self:
        rule_set = summary.rule_set
        n_rules, rules = len(rule_set), rule_set.all_rules
        spare = [summary.counted(summary.deciding == j) for j in range(n_rules, len(rules))]
        left = summary.counted((summary.deciding == -1) & ~summary.covering.any(axis=1))
        labels = [*(rule.label for rule in rules), rule_set.default]
        return cls(
            rules=rules,
            n_rules=n_rules,
            default=format_label(rule_set.default),
            classes=summary.classes,
            counts=np.vstack([summary.class_counts, *spare, left]),
            own=[rule_set.classes.index(label) for label in labels],
            n_records=summary.table.n_records,
        )

    @property
    def names(self) -> list[str]:
        """What each bar stands for, in full."""
        return [f"{j}. {rule}" for j, rule in enumerate(self.rules, 1)] + [f"OTHERWISE {self.default}"]

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the records of each bar that have its own class; NaN where there are none."""
        totals = self.counts.sum(axis=1)
        mine = self.counts[np.arange(totals.size), self.own]
        return np.divide(mine, totals, out=np.full(totals.size, np.nan), where=totals > 0)

    def plot(self, ax: Any = None, *, shares: bool = False) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : axes to draw into; a new figure by default
        shares : draw all bars to the same length, to compare what is in them
        """
        plt = pyplot()
        own_figure, few = ax is None, self.counts.shape[0] <= _FEW_BARS
        names, places = self._tick_names(few), self._places()
        if ax is None:
            high = (0.36 if few else 0.2) * (places[-1] + 1) + 1.5
            _, ax = plt.subplots(figsize=(10 if few else 13, high), layout="constrained")
        (ax,) = given_axes(ax, 1)
        totals = self.counts.sum(axis=1)
        drawn = self.counts / np.maximum(totals, 1)[:, None] if shares else self.counts
        class_bars(ax, places, drawn, self.own, 0.72)
        longest = max(float(drawn.sum(axis=1).max()), 1e-9)
        for place, length, total, share in zip(places, drawn.sum(axis=1), totals, self.precision, strict=True):
            words = f" {digits(share)} of {total:,}" if total else " no records"
            ax.text(float(length) + 0.004 * longest, place, words, fontsize=SMALL, va="center")
        ax.set(xlim=(0, 1.2 * longest), ylim=(places[-1] + 0.7, -0.7))
        ax.set_xlabel("share of its records" if shares else "records", fontsize=USUAL)
        self._set_apart(ax, places)
        name_ticks(ax.yaxis, places, names, fontsize=SMALL)
        n_covered = self.n_records - int(totals[self.n_rules :].sum())
        told = f"{n_covered:,} of {self.n_records:,} records are under some rule"
        titled(
            ax, "Records under each rule, by class", [f"{told}; beside a bar: share of its own class, of how many"], 120
        )
        ax.spines[["top", "right"]].set_visible(False)
        if shares:
            ax.set_xticks(np.linspace(0, 1, 6))
        ax.tick_params(axis="x", labelsize=SMALL)
        ax.grid(visible=False)
        bar_legend(ax, self.classes, below=own_figure)
        return self._drawn([ax])

    def _places(self) -> list[float]:
        """Return where the bars stand: fallbacks and the default after a gap each."""
        n_bars = self.counts.shape[0]
        gaps = [(j >= self.n_rules) + (j == n_bars - 1 and n_bars - 1 > self.n_rules) for j in range(n_bars)]
        return [j + 0.9 * gap for j, gap in enumerate(gaps)]

    def _set_apart(self, ax: Any, places: Sequence[float]) -> None:
        """Say in the gaps what comes below them."""
        heads = {self.n_rules: "where no rule covers a record, the first of these fallbacks speaks"}
        last = len(places) - 1
        heads[last] = "neither a rule nor a fallback" if last > self.n_rules else "no rule"
        for j, words in heads.items():
            line = places[j] - 0.9
            ax.text(0, line, f" {words}", fontsize=SMALL, style="italic", va="center")

    def _tick_names(self, few: bool) -> list[str]:
        """Return the names of the bars, as long as there is room."""
        width, line = (100, 56) if few else (104, None)
        known, default = names_of(self.rules), readable(self.default)
        names = [rule_words(j, rule, width, line, known) for j, rule in enumerate(self.rules, 1)]
        return [*names, f"OTHERWISE {told_apart((*known, default), width // 2)[default]}"]
