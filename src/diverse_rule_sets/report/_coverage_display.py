"""A plot of the class counts of each rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._util.plotting import given_axes, pyplot
from diverse_rule_sets.model._counts import Count, count_text
from diverse_rule_sets.model._figures import digits
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._reachable import cover_everything
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.report._display import RuleSetDisplay
from diverse_rule_sets.report._legends import NORMAL, SMALL, bar_legend, class_bars, label_ticks, set_title
from diverse_rule_sets.report._plain_text import with_noun
from diverse_rule_sets.report._summary import Integers, Summary
from diverse_rule_sets.report._text_layout import distinct_names, escape_missing, names_of, rule_lines, rule_text

# Up to this number of bars the text of a rule can have several lines.
_FEW_BARS = 25
# Height of a line of text, and smallest distance of two bars, in inches.
_LINE, _PITCH = 0.14, 0.2


@dataclass(eq=False, repr=False)
class CoverageDisplay(RuleSetDisplay):
    """Number of records of each class that each rule covers, then of each fallback rule and the default label.

    The length of a bar is the number of records that the rule covers; records with the label of the rule come first.
    The bar of a fallback rule counts the records that it decides. The last bar counts the records that get the default
    label.

    Parameters
    ----------
    rules : the rules, then the fallback rules
    n_rules : number of rules without fallback rules
    default : the default label as text
    classes : the labels as text
    counts : number of records of each class in each bar, shape (n_bars, n_classes)
    own : position of the label of each bar among the classes
    n_records : number of records

    Attributes
    ----------
    ax_, figure_ : the axes and the figure of the plot

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
    n_records: Count

    @classmethod
    def _from_summary(cls, summary: Summary) -> Self:
        rule_set = summary.rule_set
        n_rules, rules = len(rule_set), rule_set.all_rules
        fallbacks = [summary.count_by_class(summary.deciding == j) for j in range(n_rules, len(rules))]
        default = summary.count_by_class((summary.deciding == -1) & ~summary.covering.any(axis=1))
        labels = [*(rule.label for rule in rules), rule_set.default]
        return cls(
            rules=rules,
            n_rules=n_rules,
            default=format_label(rule_set.default),
            classes=summary.classes,
            counts=np.vstack([summary.class_counts, *fallbacks, default]),
            own=[rule_set.classes.index(label) for label in labels],
            n_records=summary.n_records,
        )

    @property
    def names(self) -> list[str]:
        """The full text of each bar: its rule, or the default label."""
        return [f"{j}. {rule}" for j, rule in enumerate(self.rules, 1)] + [f"OTHERWISE {self.default}"]

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the records of each bar that have its label; NaN if there are no records."""
        totals = self.counts.sum(axis=1)
        correct = self.counts[np.arange(totals.size), self.own]
        return np.divide(correct, totals, out=np.full(totals.size, np.nan), where=totals > 0)

    def _content(self) -> str:
        parts = [(self.n_rules, "rule"), (len(self.rules) - self.n_rules, "fallback rule"), (self.n_records, "record")]
        return ", ".join(with_noun(n, noun) for n, noun in parts)

    def plot(self, ax: Any = None, *, shares: bool = False) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : axes to draw into; by default those of a new figure
        shares : draw all bars with the same length, to compare the shares of the classes
        """
        plt = pyplot()
        own_figure, few = ax is None, self.counts.shape[0] <= _FEW_BARS
        names, places = self._tick_names(few), self._places()
        if ax is None:
            pitch = _PITCH + _LINE * max(name.count("\n") for name in names) if few else _PITCH
            height = max(pitch, 0.36 if few else 0) * (places[-1] + 1) + 1.5
            _, ax = plt.subplots(figsize=(10 if few else 13, height), layout="constrained")
        (ax,) = given_axes(ax, 1)
        totals = self.counts.sum(axis=1)
        lengths = self.counts / np.where(totals > 0, totals, 1)[:, None] if shares else self.counts
        class_bars(ax, places, lengths, self.own, 0.72)
        longest = max(float(lengths.sum(axis=1).max()), 1e-9)
        for place, length, total, share in zip(places, lengths.sum(axis=1), totals, self.precision, strict=True):
            text = f" {digits(share)} of {count_text(total)}" if total else " no records"
            ax.text(float(length) + 0.004 * longest, place, text, fontsize=SMALL, va="center")
        ax.set(xlim=(0, 1.2 * longest), ylim=(places[-1] + 0.7, -0.7))
        ax.set_xlabel("share of the records" if shares else "records", fontsize=NORMAL)
        self._draw_headings(ax, places)
        label_ticks(ax.yaxis, places, names, fontsize=SMALL)
        n_covered = self.n_records - totals[self.n_rules :].sum()
        coverage = f"At least one rule covers {count_text(n_covered)} of {count_text(self.n_records)} records"
        note = f"{coverage}; next to each bar: precision and number of records"
        set_title(ax, "Records that each rule covers, by class", [note], 120)
        ax.spines[["top", "right"]].set_visible(False)
        if shares:
            ax.set_xticks(np.linspace(0, 1, 6))
        ax.tick_params(axis="x", labelsize=SMALL)
        ax.grid(visible=False)
        bar_legend(ax, self.classes, below=own_figure)
        return self._set_axes([ax])

    def _places(self) -> list[float]:
        """Return the positions of the bars, with a gap before the fallback rules and before the default label."""
        n_bars = self.counts.shape[0]
        gaps = [(j >= self.n_rules) + (j == n_bars - 1 and n_bars - 1 > self.n_rules) for j in range(n_bars)]
        return [j + 0.9 * gap for j, gap in enumerate(gaps)]

    def _draw_headings(self, ax: Any, places: Sequence[float]) -> None:
        """Write a heading into each gap."""
        headings = {self.n_rules: "if no rule covers a record, the first fallback rule that covers it decides:"}
        last = len(places) - 1
        nothing = "no rule and no fallback rule" if last > self.n_rules else "no rule"
        headings[last] = f"{nothing} covers the record: default label"
        if not self.counts[last].any() and cover_everything([rule.conditions for rule in self.rules]):
            headings[last] = "every possible record is covered, so none gets the default label"
        for j, text in headings.items():
            line = places[j] - 0.9
            ax.text(0, line, f" {text}", fontsize=SMALL, style="italic", va="center")

    def _tick_names(self, few: bool) -> list[str]:
        """Return the text of each bar, shortened to the width of the plot."""
        width = 100 if few else 104
        known, default = names_of(self.rules), escape_missing(self.default)
        listed = enumerate(self.rules, 1)
        names = [rule_lines(j, r, width, 56, known) if few else rule_text(j, r, width, None, known) for j, r in listed]
        return [*names, f"OTHERWISE {distinct_names((*known, default), width // 2)[default]}"]
