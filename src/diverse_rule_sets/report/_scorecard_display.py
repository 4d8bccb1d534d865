"""A plot of the classes of the records by their points, and of the points that rules test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from diverse_rule_sets._util.colours import class_colour, text_colour_on
from diverse_rule_sets._util.plotting import given_axes, mix, pyplot
from diverse_rule_sets.model._counts import Count, count_text
from diverse_rule_sets.model._figures import digits
from diverse_rule_sets.model._formatting import format_label, format_scorecard_name
from diverse_rule_sets.model._points_text import points_text
from diverse_rule_sets.model._scorecards import Scorecard
from diverse_rule_sets.report._display import RuleSetDisplay
from diverse_rule_sets.report._legends import (
    NORMAL,
    SMALL,
    bar_legend,
    class_bars,
    draw_message,
    label_ticks,
    set_title,
)
from diverse_rule_sets.report._plain_text import with_noun
from diverse_rule_sets.report._point_levels import Cut, Level, columns_of_cuts, find_cuts, find_levels
from diverse_rule_sets.report._summary import Summary
from diverse_rule_sets.report._text_layout import (
    distinct_names,
    draw_literally,
    escape_missing,
    left_to_right,
    shorten,
)

# Height of a bar, width of the bars with their figures, and width of a strip of a rule, in inches.
_BAR, _BARS, _STRIP = 0.2, 6.0, 0.26
# Width of the bars with their figures, as a multiple of the longest bar.
_WIDE = 1.24
# Largest number of rules that a note lists.
_MAX_LISTED = 8


@dataclass(eq=False, repr=False)
class ScorecardDisplay(RuleSetDisplay):
    """Classes of the records by their points, and the points that rules test.

    There is a panel for each scorecard that the rules use. If the scorecard is for one label, there is a bar for each
    number of points. If it is for several labels, the records are grouped by the label that leads, and there is a bar
    for each lead. Next to a bar are the share of the label and the number of records. The strips on the right are the
    rules that test the points, with their numbers, in the colour of their label; they are pale if a rule has further
    conditions. Dashed lines are the bounds of these conditions.

    Parameters
    ----------
    scorecards : the scorecards
    levels, cuts : the bars and the strips of each scorecard
    own : position among the classes of the label of each bar, for each scorecard
    undrawn : numbers of the rules that test a scorecard but have no strip, for each scorecard: those that test only
        the points of one of several labels
    classes : the labels as text
    n_records : number of records

    Attributes
    ----------
    ax_, axes_, figure_ : the axes of the first scorecard, all axes, and the figure of the plot

    Examples
    --------
    >>> from diverse_rule_sets import Rule, RuleSet, Scorecard
    >>> from diverse_rule_sets.report import ScorecardDisplay
    >>> card = Scorecard.parse("points (for ill): 3 if age > 55, 2 if smoker = 'yes'")
    >>> rule_set = RuleSet((Rule((card.between(low=3),), "ill"),), ("ill", "well"), "well", (2, 2), (0, 1))
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [60, 70, 20, 30], "smoker": ["yes", "no", "yes", "no"]})
    >>> display = ScorecardDisplay.from_rule_set(rule_set, X, ["ill", "ill", "ill", "well"])
    >>> [(level.low, level.class_counts) for level in display.levels[0] if sum(level.class_counts)]
    [(0, (0, 1)), (2, (1, 0)), (3, (1, 0)), (5, (1, 0))]
    >>> display.cuts[0][0].number, display.cuts[0][0].low
    (1, 3)
    """

    scorecards: tuple[Scorecard, ...]
    levels: list[list[Level]]
    cuts: list[list[Cut]]
    own: list[list[int]]
    undrawn: list[list[int]]
    classes: list[str]
    n_records: Count

    @classmethod
    def _from_summary(cls, summary: Summary) -> Self:
        rule_set = summary.rule_set
        found = [find_cuts(rule_set, card) for card in rule_set.scorecards]
        levels = [find_levels(summary, card, cuts) for card, (cuts, _) in zip(rule_set.scorecards, found, strict=True)]
        classes = summary.classes
        own = [
            [classes.index(format_label(card.labels[0]) if bar.leader is None else bar.leader) for bar in bars]
            for card, bars in zip(rule_set.scorecards, levels, strict=True)
        ]
        return cls(
            scorecards=rule_set.scorecards,
            levels=levels,
            cuts=[cuts for cuts, _ in found],
            own=own,
            undrawn=[undrawn for _, undrawn in found],
            classes=classes,
            n_records=summary.n_records,
        )

    def _content(self) -> str:
        return f"{with_noun(len(self.scorecards), 'scorecard')}, {with_noun(self.n_records, 'record')}"

    def plot(self, ax: Any = None, *, shares: bool = False) -> Self:
        """Draw the bars and the strips.

        Parameters
        ----------
        ax : axes to draw into, one or as many as there are scorecards; by default those of a new figure
        shares : draw all bars with the same length, to compare the shares of the classes
        """
        plt = pyplot()
        n_panels, own_figure = max(len(self.scorecards), 1), ax is None
        if ax is None:
            heights = [2 + _BAR * (_places(bars)[1] + 1) for bars in self.levels] or [2.0]
            width = _BARS + 2 + _STRIP * max((len(columns_of_cuts(cuts)) for cuts in self.cuts), default=0)
            _, ax = plt.subplots(
                n_panels, figsize=(width, sum(heights)), height_ratios=heights, layout="constrained", squeeze=False
            )
        axes = given_axes(ax, n_panels)
        if not self.scorecards:
            draw_message(axes[0], "No rule uses a scorecard")
        for k, panel in enumerate(axes[: len(self.scorecards)]):
            self._draw(panel, k, shares)
        if self.scorecards:
            bar_legend(axes[0], self.classes, below=own_figure)
        return self._set_axes(axes)

    def _draw(self, ax: Any, k: int, shares: bool) -> None:
        """Draw one scorecard."""
        bars, card = self.levels[k], self.scorecards[k]
        places, top = _places(bars)
        counts = np.array([bar.class_counts for bar in bars], np.float64).reshape(len(bars), len(self.classes))
        totals = counts.sum(axis=1)
        drawn = counts / np.where(totals > 0, totals, 1)[:, None] if shares else counts
        longest = float(drawn.sum(axis=1).max(initial=0)) or 1.0
        class_bars(ax, places, drawn, self.own[k], 0.78)
        for place, total, length, row, own in zip(places, totals, drawn.sum(axis=1), counts, self.own[k], strict=True):
            text = f" {digits(row[own] / total)} of {count_text(total)}" if total else " no records"
            ax.text(float(length) + 0.004 * longest, place, text, fontsize=SMALL, va="center")
        columns = columns_of_cuts(self.cuts[k])
        width = longest * _WIDE * _STRIP / _BARS
        for column, cuts in enumerate(columns):
            self._draw_cuts(ax, cuts, bars, places, longest * _WIDE + column * width, width)
        ax.set(xlim=(0, longest * _WIDE + (len(columns) + 0.2) * width), ylim=(-0.8, top + 0.8))
        ax.set_xlabel("share of the records" if shares else "records", fontsize=NORMAL, loc="left")
        label_ticks(ax.yaxis, places, [points_text(bar.low, bar.high) for bar in bars], fontsize=SMALL)
        ticks = np.linspace(0, 1, 6) if shares else [tick for tick in ax.get_xticks() if tick <= longest * 1.05]
        ax.set_xticks(ticks)
        ax.tick_params(axis="x", labelsize=SMALL)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(visible=False)
        self._write(ax, k, card, places)

    def _write(self, ax: Any, k: int, card: Scorecard, places: Sequence[float]) -> None:
        """Write the title, the name of the axis, and the headings of the labels that lead."""
        name = shorten(escape_missing(format_scorecard_name(card.name)), 30)
        names = distinct_names(tuple(map(escape_missing, self.classes)), 40)
        notes = ["next to each bar: share of the label and number of records"]
        if self.cuts[k]:
            strips = "strips: the rules that test the points, by number and in the colour of their label"
            pale = any(not cut.alone for cut in self.cuts[k])
            notes.append(f"{strips}{'; pale: with further conditions' if pale else ''}")
        if self.undrawn[k]:
            listed = ", ".join(map(str, self.undrawn[k][:_MAX_LISTED]))
            listed += ", ..." if len(self.undrawn[k]) > _MAX_LISTED else ""
            notes.append(f"no strips for rules that test the points of one label, but not the lead: {listed}")
        if card.has_leader:
            title, axis = f"Records by the label with the most {name} and its lead", "lead"
            bars = self.levels[k]
            for j in [j for j, bar in enumerate(bars) if j + 1 == len(bars) or bars[j + 1].leader != bar.leader]:
                text = left_to_right(f" most {name} for {names[escape_missing(str(bars[j].leader))]}:")
                draw_literally([ax.text(0, places[j] + 0.95, text, fontsize=SMALL, style="italic", va="center")])
        else:
            label = names[escape_missing(format_label(card.labels[0]))]
            title, axis = f"Records by {name} for {label}", name
        draw_literally([ax.set_ylabel(left_to_right(axis), fontsize=NORMAL)])
        set_title(ax, title, notes, 110)

    def _draw_cuts(
        self, ax: Any, cuts: Sequence[Cut], bars: Sequence[Level], places: Sequence[float], left: float, width: float
    ) -> None:
        """Draw strips of rules below one another, and dashed lines at their bounds."""
        from matplotlib.patches import Rectangle

        for cut in cuts:
            for leader in dict.fromkeys(bar.leader for bar in bars):
                if cut.leader is not None and cut.leader != leader:
                    continue
                group = [(bar, place) for bar, place in zip(bars, places, strict=True) if bar.leader == leader]
                bottom, top = _edge(group, cut.low, -0.5), _edge(group, cut.high, 0.5)
                colour = class_colour(cut.label)
                face = colour if cut.alone else mix(colour, ax.get_facecolor(), 0.35)
                size = (0.8 * width, top - bottom)
                ax.add_patch(Rectangle((left, bottom), *size, facecolor=face, edgecolor=colour, linewidth=1.2))
                style = {"ha": "center", "va": "center", "fontsize": SMALL, "color": text_colour_on(face)}
                ax.text(left + 0.4 * width, (bottom + top) / 2, str(cut.number), **style)
                for bound, edge in ((cut.low, bottom), (cut.high, top)):
                    if bound is not None:
                        ax.plot([0, left], [edge, edge], color=ax.xaxis.label.get_color(), lw=0.6, ls=(0, (4, 3)))


def _edge(group: Sequence[tuple[Level, float]], bound: int | None, side: float) -> float:
    """Return the position of a bound among the bars of one label; `side` is -0.5 below the points and 0.5 above."""
    bottom, top = group[0][1] - 0.5, group[-1][1] + 0.5
    if bound is None:
        return bottom if side < 0 else top
    end = bound + (side > 0)  # the strip begins or ends below these points
    for bar, place in group:
        if end <= bar.high:
            return place - 0.5 + max(end - bar.low, 0) / (bar.high - bar.low + 1)
    return top


def _places(bars: Sequence[Level]) -> tuple[list[float], float]:
    """Return the positions of the bars, with a gap above those of each label that leads, and that of the top."""
    places, place = [], 0.0
    for j, bar in enumerate(bars):
        if j and bars[j - 1].leader != bar.leader:
            place += 1.4
        places.append(place)
        place += 1
    return places, place - (0 if bars and bars[-1].leader is not None else 1)
