"""A picture of which rules share records, and which records they share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._util.plotting import ALARM, GREY, given_axes, ink_on, pyplot
from diverse_rule_sets.model._answers import covering_groups
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._rules import Rule
from diverse_rule_sets.report._display import RuleSetDisplay
from diverse_rule_sets.report._legends import (
    SMALL,
    TINY,
    USUAL,
    bar_legend,
    class_bars,
    name_ticks,
    titled,
    write_alone,
)
from diverse_rule_sets.report._summary import Integers, Summary
from diverse_rule_sets.report._text_layout import names_of, rule_words

# Up to so many rules the cells have room for numbers, and the rows for words.
_FEW_RULES = 20
# Height of a combination, width of a member's column and of the bars, where there are few rules and many; in inches.
_ROW = 0.26
_COLUMN = {True: 0.19, False: 0.13}
_BARS = {True: 3.4, False: 2.8}
# A figure is no wider; the matrix of many rules no larger. A small number needs so much.
_MAX_WIDTH, _MAX_SIDE, _NUMBER = 14.0, 7.0, 0.09


class Combination(NamedTuple):
    """Some rules, and the records that are under these and no others.

    Parameters
    ----------
    rules : numbers of the rules, from 1
    class_counts : how many of the records are of each class
    contradiction : the rules name different labels
    """

    rules: tuple[int, ...]
    class_counts: tuple[int, ...]
    contradiction: bool

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return sum(self.class_counts)


@dataclass(eq=False)
class OverlapDisplay(RuleSetDisplay):
    """How many records each two rules share, and which combinations of rules meet on how many records.

    On the left a matrix: records that two rules share, on the diagonal those that a rule covers; a cross marks rules
    of different labels. On the right or below the combinations of rules that occur, those with the most records
    first, and the classes of their records. Up to 20 rules are written out; of more the numbers are shown.

    Parameters
    ----------
    rules : the rules
    classes : the labels in words
    shared : records that each two rules share, shape (n_rules, n_rules); on the diagonal what a rule covers
    combinations : the combinations of two rules or more that occur, those with the most records first
    n_records : how many records there are

    Attributes
    ----------
    axes_ : the matrix; the rules of the combinations; their records
    ax_, figure_ : the first of the axes, and the figure

    Examples
    --------
    >>> from diverse_rule_sets import Rule, RuleSet
    >>> from diverse_rule_sets.report import OverlapDisplay
    >>> rules = Rule.parse("IF x0 > 1 THEN high"), Rule.parse("IF x0 <= 3 THEN low")
    >>> rule_set = RuleSet(rules, ("high", "low"), "low", (2, 2), (0, 0))
    >>> display = OverlapDisplay.from_rule_set(rule_set, [[1], [2], [3], [4]], ["low", "low", "high", "high"])
    >>> display.shared.tolist()
    [[3, 2], [2, 3]]
    >>> display.combinations
    [Combination(rules=(1, 2), class_counts=(1, 1), contradiction=True)]
    """

    rules: tuple[Rule, ...]
    classes: list[str]
    shared: Integers
    combinations: list[Combination]
    n_records: int

    @classmethod
    def _of(cls, summary: Summary) -> Self:
        return cls(
            rules=summary.rule_set.rules,
            classes=summary.classes,
            shared=summary.shared,
            combinations=_combinations(summary),
            n_records=summary.table.n_records,
        )

    @property
    def contradictions(self) -> NDArray[np.bool_]:
        """Which pairs of rules share records and name different labels, shape (n_rules, n_rules)."""
        labels = [rule.label for rule in self.rules]
        differ = np.array([[one != other for other in labels] for one in labels], np.bool_)
        return np.asarray(differ.reshape(self.shared.shape) & (self.shared > 0))

    def plot(self, ax: Any = None, *, max_combinations: int = 20) -> Self:
        """Draw the matrix and the combinations.

        Parameters
        ----------
        ax : axes to draw into: one for the matrix alone, or three; a new figure by default
        max_combinations : the most combinations that are drawn
        """
        pyplot()
        shown = self.combinations[:max_combinations]
        own_figure = ax is None
        axes = self._new_axes(shown) if ax is None else given_axes(ax, 3)
        self._draw_matrix(axes[0])
        if len(axes) == 3:
            self._draw_members(axes[1], shown)
            self._draw_records(axes[2], shown)
            if shown:
                bar_legend(axes[2], self.classes, below=own_figure)
        return self._drawn(axes)

    def _new_axes(self, shown: Sequence[Combination]) -> list[Any]:
        """Return three axes in a figure that is as large as there are rules."""
        n_rules, n_members = len(self.rules), len({j for one in shown for j in one.rules})
        few = n_rules <= _FEW_RULES
        side = max(0.42 * n_rules, 2.6) if few else min(0.115 * n_rules, _MAX_SIDE)
        wide, high = side + (3.6 if few else 0.6), _ROW * len(shown)
        pair = [max(_COLUMN[few] * n_members, 0.8), _BARS[few]] if shown else [2.4, 0.1]
        style: dict[str, Any] = {"layout": "constrained"}
        if wide + sum(pair) + 1.0 <= _MAX_WIDTH:
            size = (wide + sum(pair) + 1.0, max(side, high) + 1.8)
            style |= {"width_ratios": [wide, *pair]}
            return list(pyplot().subplot_mosaic("ABC", figsize=size, **style)[1].values())
        pair[0] = min(pair[0], _MAX_WIDTH - pair[1] - 1.0)
        size = (min(max(wide, sum(pair)) + 1.0, _MAX_WIDTH), side + high + 3.4)
        style |= {"width_ratios": pair, "height_ratios": [side + 0.8, high + 0.8]}
        return list(pyplot().subplot_mosaic("AA;BC", figsize=size, **style)[1].values())

    def _draw_matrix(self, ax: Any) -> None:
        """Draw how many records each two rules share, below the diagonal."""
        from matplotlib.colors import PowerNorm

        n = len(self.rules)
        note = "on the diagonal: that a rule covers; " if n <= _FEW_RULES else ""
        titled(ax, "Records that two rules share", [f"{note}× the rules contradict"], 60)
        ax.grid(visible=False)
        if not n:
            write_alone(ax, "There are no rules.")
            return
        # Square cells seldom fill their room. Were they in its middle, constrained layout would count on the gap beside
        # them when it makes room for the words, and then close it.
        ax.set_anchor("NW")
        below = np.tri(n, k=-1, dtype=np.bool_)
        base = np.where(below, 0.08, np.where(np.eye(n, dtype=np.bool_), 0.35, 0.0))
        ax.imshow(np.ones((n, n)), cmap=_one_colour(GREY), alpha=base, interpolation="nearest")
        visible = np.ma.masked_where(~below | (self.shared == 0), self.shared)
        image = ax.imshow(
            visible,
            cmap=_faint_to_strong(ax.get_facecolor()),
            norm=PowerNorm(0.5, 0, max(int(np.where(below, self.shared, 0).max()), 1)),
            interpolation="nearest",
        )
        self._write_cells(ax, image)
        self._name_rules(ax)

    def _write_cells(self, ax: Any, image: Any) -> None:
        """Write the numbers into the cells, or give a scale of colours where there are many; mark contradictions."""
        n = len(self.rules)
        rows, columns = np.nonzero(np.tril(self.contradictions, -1))
        if n <= _FEW_RULES:
            for i, j in zip(*np.nonzero(np.tril(self.shared)), strict=True):
                mark = "×" if self.contradictions[i, j] else ""
                style = {} if i == j else {"color": ink_on(image.cmap(image.norm(self.shared[i, j])))}
                ax.text(j, i, f"{self.shared[i, j]:,}{mark}", fontsize=SMALL, ha="center", va="center", **style)
            return
        inks = [ink_on(image.cmap(image.norm(self.shared[i, j]))) for i, j in zip(rows, columns, strict=True)]
        ax.scatter(columns, rows, marker="x", s=min(14.0, (36 * _MAX_SIDE / n) ** 2), color=inks, linewidth=0.8)
        if np.ma.count(image.get_array()):
            place = ax.inset_axes((0.55, 0.93, 0.4, 0.02))
            bar = ax.get_figure().colorbar(image, cax=place, orientation="horizontal")
            bar.set_label("records shared", fontsize=SMALL)
            top = int(image.norm.vmax)
            ticks = [0, *(10**k for k in range(len(str(top))) if 0.03 * top < 10**k < 0.6 * top), top]
            bar.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks], minor=False, fontsize=SMALL)
            bar.minorticks_off()

    def _name_rules(self, ax: Any) -> None:
        """Write the rules beside the rows, and their numbers below the columns; of many rules numbers alone."""
        n = len(self.rules)
        if n <= _FEW_RULES:
            known = names_of(self.rules)
            names = [rule_words(j, rule, 92, 46, known) for j, rule in enumerate(self.rules, 1)]
            name_ticks(ax.yaxis, range(n), names, fontsize=SMALL)
            name_ticks(ax.xaxis, range(n), [str(j) for j in range(1, n + 1)], fontsize=SMALL)
        else:
            shown = range(0, n, math.ceil(_NUMBER * n / _MAX_SIDE))
            for axis, turned in ((ax.yaxis, 0), (ax.xaxis, 90)):
                name_ticks(axis, shown, [str(j + 1) for j in shown], fontsize=TINY, rotation=turned)
            ax.set_ylabel("rule, numbered as printed", fontsize=USUAL)
        ax.set_xlabel("rule", fontsize=USUAL)
        ax.spines[:].set_visible(False)

    def _draw_members(self, ax: Any, shown: Sequence[Combination]) -> None:
        """Draw which rules make up each combination: a row each, a column a rule."""
        ax.grid(visible=False)
        members = sorted({j for one in shown for j in one.rules})
        if not shown:
            write_alone(ax, "No record is under\ntwo rules or more." if self.rules else "")
            return
        column = {j: k for k, j in enumerate(members)}
        ax.scatter(*np.mgrid[0 : len(members), 0 : len(shown)].reshape(2, -1), s=12, color=GREY, alpha=0.2)
        for row, one in enumerate(shown):
            at = [column[j] for j in one.rules]
            colour = ALARM if one.contradiction else GREY
            ax.plot(at, [row] * len(at), color=colour, marker="X" if one.contradiction else "o", ms=5.5, lw=1.5)
        ax.set(xlim=(-0.6, len(members) - 0.4), ylim=(_n_rows(ax, shown) - 0.4, -0.6))
        step = math.ceil(_NUMBER * len(members) / (_MAX_WIDTH - _BARS[False] - 1.0))
        size = SMALL if len(self.rules) <= _FEW_RULES else TINY
        name_ticks(ax.xaxis, range(0, len(members), step), list(map(str, members[::step])), fontsize=size, rotation=90)
        ax.set_yticks([])
        ax.set_xlabel("rule", fontsize=USUAL)
        ax.spines[:].set_visible(False)
        titled(ax, "Rules", width=30)

    def _draw_records(self, ax: Any, shown: Sequence[Combination]) -> None:
        """Draw the records of each combination, by class."""
        ax.grid(visible=False)
        if not shown:
            ax.set_axis_off()
            return
        from matplotlib.ticker import MaxNLocator

        counts = np.array([one.class_counts for one in shown], np.int64)
        class_bars(ax, range(len(shown)), counts, [self._named(one) for one in shown], 0.72)
        totals = counts.sum(axis=1)
        for row, total in enumerate(totals.tolist()):
            ax.text(total, row, f" {total:,}", fontsize=SMALL, va="center")
        ax.set(xlim=(0, 1.2 * totals.max()), ylim=(_n_rows(ax, shown) - 0.4, -0.6), yticks=[])
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        ax.set_xlabel("records", fontsize=USUAL)
        ax.tick_params(axis="x", labelsize=SMALL)
        ax.spines[["top", "right"]].set_visible(False)
        under = sum(one.n_records for one in self.combinations)
        rest = self.combinations[len(shown) :]
        more = f"not drawn: {len(rest):,} combinations, {sum(one.n_records for one in rest):,} records" if rest else ""
        titled(
            ax, "Records where they meet", [f"{under:,} of {self.n_records:,} are under two rules or more", more], 56
        )

    def _named(self, combination: Combination) -> int:
        """Return the position of the class that all rules of a combination name; -1 if they name several."""
        if combination.contradiction:
            return -1
        return self.classes.index(format_label(self.rules[combination.rules[0] - 1].label))


def _combinations(summary: Summary) -> list[Combination]:
    """Return the combinations of two rules or more that occur, those with the most records first."""
    groups, which = covering_groups(summary.covering)
    n_classes = len(summary.classes)
    counts = np.bincount(which * n_classes + summary.codes, minlength=len(groups) * n_classes)
    labels = [rule.label for rule in summary.rule_set]
    found = [
        Combination(tuple((group + 1).tolist()), tuple(row), len({labels[j] for j in group}) > 1)
        for group, row in zip(groups, counts.reshape(-1, n_classes).tolist(), strict=True)
        if group.size > 1
    ]
    return sorted(found, key=lambda one: (-one.n_records, one.rules))


def _n_rows(ax: Any, shown: Sequence[Combination]) -> float:
    """Return how many rows the axes have room for, and at least as many as there are to draw."""
    high = ax.get_window_extent().height / ax.get_figure().dpi
    return max(len(shown), high / _ROW)


def _faint_to_strong(ground: Any) -> Any:
    """Return a scale of colours in which little is hardly seen on its ground, and much stands out."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    middle, strong = ("#2B8CC4", "#08264A") if ink_on(ground) == "black" else ("#2B7DB8", "#E8F4FF")
    faint = 0.8 * np.array(to_rgb(ground)) + 0.2 * np.array(to_rgb(middle))
    return LinearSegmentedColormap.from_list("faint to strong", [tuple(faint), middle, strong])


def _one_colour(colour: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])
