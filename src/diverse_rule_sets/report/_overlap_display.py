"""A plot of the records that several rules cover."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.weights import count_by
from diverse_rule_sets._util.colours import GREY, text_colour_on
from diverse_rule_sets._util.plotting import given_axes, mix, pyplot
from diverse_rule_sets.model._answers import covering_groups
from diverse_rule_sets.model._counts import Count, as_counts, count_text
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.report._display import RuleSetDisplay
from diverse_rule_sets.report._legends import (
    NORMAL,
    SMALL,
    TINY,
    bar_legend,
    class_bars,
    draw_message,
    label_ticks,
    set_title,
)
from diverse_rule_sets.report._plain_text import with_noun
from diverse_rule_sets.report._summary import Integers, Summary
from diverse_rule_sets.report._text_layout import names_of, rule_lines

# Up to this number of rules the plot has numbers in the cells and the rules as text.
_FEW_RULES = 20
# Height of a combination; widths of the column of a rule and of the bars, by whether there are few rules; in inches.
_ROW = 0.26
_COLUMN = {True: 0.19, False: 0.13}
_BARS = {True: 3.4, False: 2.8}
# Largest width of a figure, largest side of the matrix of many rules, width of a small number; in inches.
_MAX_WIDTH, _MAX_SIDE, _NUMBER = 14.0, 7.0, 0.09


class _Scale(NamedTuple):
    """The colours of a kind of overlap: medium, and for many records on a light and on a dark background."""

    middle: str
    dark: str
    light: str


# No colours of classes: desaturated blue, and a red between those of the first classes.
_AGREE, _CONTRADICT = _Scale("#5B7C99", "#0C2033", "#E6EFF7"), _Scale("#BE3466", "#460A20", "#FFE3EC")


class Combination(NamedTuple):
    """A combination of rules, and the records that exactly these rules cover.

    Parameters
    ----------
    rules : numbers of the rules, from 1
    class_counts : number of these records of each class
    contradiction : whether the rules have different labels
    """

    rules: tuple[int, ...]
    class_counts: tuple[Count, ...]
    contradiction: bool

    @property
    def n_records(self) -> Count:
        """Number of records."""
        return as_counts([sum(self.class_counts)])[0]


@dataclass(eq=False, repr=False)
class OverlapDisplay(RuleSetDisplay):
    """Number of records that each two rules share, and the combinations of rules that cover the same records.

    The matrix shows the number of records that two rules share, on the diagonal the number that a rule covers. Pairs of
    rules with the same label, which agree, are grey-blue; pairs with different labels, which contradict each other, are
    red and have a cross. On the right or below are the combinations of rules that occur, sorted by their number of
    records, and the classes of these records. Up to 20 rules are shown as text, more as numbers.

    Parameters
    ----------
    rules : the rules
    classes : the labels as text
    shared : number of records that two rules share, shape (n_rules, n_rules); on the diagonal those that a rule covers
    combinations : the combinations of two or more rules that occur, sorted by number of records, largest first
    n_records : number of records

    Attributes
    ----------
    axes_ : the axes of the matrix, of the rules of the combinations, and of their records
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
    n_records: Count

    @classmethod
    def _from_summary(cls, summary: Summary) -> Self:
        return cls(
            rules=summary.rule_set.rules,
            classes=summary.classes,
            shared=summary.shared,
            combinations=_combinations(summary),
            n_records=summary.n_records,
        )

    @property
    def contradictions(self) -> NDArray[np.bool_]:
        """Flags: whether two rules share records and have different labels, shape (n_rules, n_rules)."""
        labels = [rule.label for rule in self.rules]
        differ = np.array([[one != other for other in labels] for one in labels], np.bool_)
        return np.asarray(differ.reshape(self.shared.shape) & (self.shared > 0))

    def _content(self) -> str:
        parts = [(len(self.rules), "rule"), (len(self.combinations), "combination"), (self.n_records, "record")]
        return ", ".join(with_noun(n, noun) for n, noun in parts)

    def plot(self, ax: Any = None, *, max_combinations: int = 20) -> Self:
        """Draw the matrix and the combinations.

        Parameters
        ----------
        ax : axes to draw into: one for the matrix only, or three; by default those of a new figure
        max_combinations : largest number of combinations to draw
        """
        pyplot()
        drawn = self.combinations[:max_combinations]
        own_figure = ax is None
        axes = self._new_axes(drawn) if ax is None else given_axes(ax, 3)
        self._draw_matrix(axes[0])
        if len(axes) == 3:
            self._draw_members(axes[1], drawn)
            self._draw_records(axes[2], drawn)
            if drawn:
                bar_legend(axes[2], self.classes, below=own_figure)
        return self._set_axes(axes)

    def _new_axes(self, drawn: Sequence[Combination]) -> list[Any]:
        """Return three axes in a new figure, whose size depends on the number of rules."""
        n_rules, n_members = len(self.rules), len({j for each in drawn for j in each.rules})
        few = n_rules <= _FEW_RULES
        side = max(0.42 * n_rules, 2.6) if few else min(0.115 * n_rules, _MAX_SIDE)
        width, height = side + (3.6 if few else 0.6), _ROW * len(drawn)
        pair = [max(_COLUMN[few] * n_members, 0.8), _BARS[few]] if drawn else [2.4, 0.1]
        style: dict[str, Any] = {"layout": "constrained"}
        if width + sum(pair) + 1.0 <= _MAX_WIDTH:
            size = (width + sum(pair) + 1.0, max(side, height) + 1.8)
            style |= {"width_ratios": [width, *pair]}
            return list(pyplot().subplot_mosaic("ABC", figsize=size, **style)[1].values())
        pair[0] = min(pair[0], _MAX_WIDTH - pair[1] - 1.0)
        size = (min(max(width, sum(pair)) + 1.0, _MAX_WIDTH), side + height + 3.4)
        style |= {"width_ratios": pair, "height_ratios": [side + 0.8, height + 0.8]}
        return list(pyplot().subplot_mosaic("AA;BC", figsize=size, **style)[1].values())

    def _draw_matrix(self, ax: Any) -> None:
        """Draw the number of records that each two rules share, below the diagonal."""
        from matplotlib.colors import PowerNorm

        n = len(self.rules)
        notes = ["diagonal: records that one rule covers"] if n <= _FEW_RULES else []
        set_title(ax, "Records that two rules share", [*notes, "grey-blue: same label; red, ×: different labels"], 60)
        ax.grid(visible=False)
        if not n:
            draw_message(ax, "There are no rules.")
            return
        # Square cells seldom fill their axes. If they were centred, constrained layout would use the gap beside them
        # for the tick labels and then remove this gap.
        ax.set_anchor("NW")
        below = np.tri(n, k=-1, dtype=np.bool_)
        base = np.where(below, 0.08, np.where(np.eye(n, dtype=np.bool_), 0.35, 0.0))
        ax.imshow(np.ones((n, n)), cmap=_one_colour(GREY), alpha=base, interpolation="nearest")
        norm = PowerNorm(0.5, 0, max(int(np.where(below, self.shared, 0).max()), 1))
        pair = [
            ax.imshow(
                np.ma.masked_where(~below | (self.shared == 0) | hidden, self.shared),
                cmap=_pale_to_strong(ax.get_facecolor(), colours),
                norm=norm,
                interpolation="nearest",
            )
            for hidden, colours in ((self.contradictions, _AGREE), (~self.contradictions, _CONTRADICT))
        ]
        self._write_cells(ax, pair)
        self._name_rules(ax)

    def _write_cells(self, ax: Any, pair: Sequence[Any]) -> None:
        """Write the numbers into the cells, or draw colour bars if there are many rules; mark contradictions.

        ``pair`` are the images of the pairs of rules with the same label and with different labels.
        """
        n = len(self.rules)
        rows, columns = np.nonzero(np.tril(self.contradictions, -1))

        def text_colour(i: Any, j: Any) -> str:
            image = pair[int(self.contradictions[i, j])]
            return text_colour_on(image.cmap(image.norm(self.shared[i, j])))

        if n <= _FEW_RULES:
            for i, j in zip(*np.nonzero(np.tril(self.shared)), strict=True):
                mark = "×" if self.contradictions[i, j] else ""
                style = {} if i == j else {"color": text_colour(i, j)}
                ax.text(
                    j, i, f"{count_text(self.shared[i, j])}{mark}", fontsize=SMALL, ha="center", va="center", **style
                )
            return
        colours = [text_colour(i, j) for i, j in zip(rows, columns, strict=True)]
        ax.scatter(columns, rows, marker="x", s=min(14.0, (36 * _MAX_SIDE / n) ** 2), color=colours, linewidth=0.8)
        names = ("shared records, same label", "shared records, different labels")
        drawn = [(image, name) for image, name in zip(pair, names, strict=True) if np.ma.count(image.get_array())]
        for k, (image, name) in enumerate(drawn):
            inset = ax.inset_axes((0.55, 0.93 - 0.13 * k, 0.4, 0.02))
            bar = ax.get_figure().colorbar(image, cax=inset, orientation="horizontal")
            bar.set_label(name, fontsize=SMALL)
            top = math.ceil(image.norm.vmax)
            ticks = [0, *(10**k for k in range(len(str(top))) if 0.03 * top < 10**k < 0.6 * top), top]
            bar.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks], minor=False, fontsize=SMALL)
            bar.minorticks_off()

    def _name_rules(self, ax: Any) -> None:
        """Write the rules next to the rows and their numbers below the columns; if there are many, numbers only."""
        n = len(self.rules)
        if n <= _FEW_RULES:
            known = names_of(self.rules)
            names = [rule_lines(j, rule, 92, 46, known) for j, rule in enumerate(self.rules, 1)]
            label_ticks(ax.yaxis, range(n), names, fontsize=SMALL)
            label_ticks(ax.xaxis, range(n), [str(j) for j in range(1, n + 1)], fontsize=SMALL)
        else:
            steps = range(0, n, math.ceil(_NUMBER * n / _MAX_SIDE))
            for axis, rotation in ((ax.yaxis, 0), (ax.xaxis, 90)):
                label_ticks(axis, steps, [str(j + 1) for j in steps], fontsize=TINY, rotation=rotation)
            ax.set_ylabel("rule, with its number as printed", fontsize=NORMAL)
        ax.set_xlabel("rule", fontsize=NORMAL)
        ax.spines[:].set_visible(False)

    def _draw_members(self, ax: Any, drawn: Sequence[Combination]) -> None:
        """Draw the rules of each combination: a row for each combination, a column for each rule."""
        ax.grid(visible=False)
        members = sorted({j for each in drawn for j in each.rules})
        if not drawn:
            draw_message(ax, "No record is covered\nby two or more rules." if self.rules else "")
            return
        column = {j: k for k, j in enumerate(members)}
        ax.scatter(*np.mgrid[0 : len(members), 0 : len(drawn)].reshape(2, -1), s=12, color=GREY, alpha=0.2)
        for row, each in enumerate(drawn):
            xs = [column[j] for j in each.rules]
            colour = (_CONTRADICT if each.contradiction else _AGREE).middle
            ax.plot(xs, [row] * len(xs), color=colour, marker="X" if each.contradiction else "o", ms=5.5, lw=1.5)
        ax.set(xlim=(-0.6, len(members) - 0.4), ylim=(_n_rows(ax, drawn) - 0.4, -0.6))
        step = math.ceil(_NUMBER * len(members) / (_MAX_WIDTH - _BARS[False] - 1.0))
        size = SMALL if len(self.rules) <= _FEW_RULES else TINY
        label_ticks(ax.xaxis, range(0, len(members), step), list(map(str, members[::step])), fontsize=size, rotation=90)
        ax.set_yticks([])
        ax.set_xlabel("rule", fontsize=NORMAL)
        ax.spines[:].set_visible(False)
        set_title(ax, "Rules", width=30)

    def _draw_records(self, ax: Any, drawn: Sequence[Combination]) -> None:
        """Draw the records of each combination, by class."""
        ax.grid(visible=False)
        if not drawn:
            ax.set_axis_off()
            return
        from matplotlib.ticker import MaxNLocator

        counts = np.array([each.class_counts for each in drawn])
        class_bars(ax, range(len(drawn)), counts, [self._common_label(each) for each in drawn], 0.72)
        totals = counts.sum(axis=1)
        for row, total in enumerate(totals.tolist()):
            ax.text(total, row, f" {count_text(total)}", fontsize=SMALL, va="center")
        ax.set(xlim=(0, 1.2 * totals.max()), ylim=(_n_rows(ax, drawn) - 0.4, -0.6), yticks=[])
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        ax.set_xlabel("records", fontsize=NORMAL)
        ax.tick_params(axis="x", labelsize=SMALL)
        ax.spines[["top", "right"]].set_visible(False)
        n_overlap = sum(each.n_records for each in self.combinations)
        rest = self.combinations[len(drawn) :]
        n_rest = sum(each.n_records for each in rest)
        agreeing = sum(each.n_records for each in self.combinations if self._agrees(each))
        contradicting = sum(each.n_records for each in self.combinations if each.contradiction)
        notes = [
            f"two or more rules cover {count_text(n_overlap)} of {count_text(self.n_records)} records",
            f"two or more of one label {count_text(agreeing)}; of different labels {count_text(contradicting)}",
        ]
        notes += [f"not drawn: {len(rest):,} combinations, {count_text(n_rest)} records"] if rest else []
        set_title(ax, "Records that they share", notes, 56)

    def _agrees(self, combination: Combination) -> bool:
        """Return whether two or more rules of a combination have the same label."""
        return len({self.rules[j - 1].label for j in combination.rules}) < len(combination.rules)

    def _common_label(self, combination: Combination) -> int:
        """Return the position of the label that all rules of a combination have; -1 if they have different labels."""
        if combination.contradiction:
            return -1
        return self.classes.index(format_label(self.rules[combination.rules[0] - 1].label))


def _combinations(summary: Summary) -> list[Combination]:
    """Return the combinations of two or more rules that occur, sorted by number of records, largest first."""
    groups, which = covering_groups(summary.covering)
    n_classes = len(summary.classes)
    counts = count_by(which * n_classes + summary.codes, len(groups) * n_classes, summary.weights)
    labels = [rule.label for rule in summary.rule_set]
    combinations = [
        Combination(tuple((group + 1).tolist()), tuple(as_counts(row)), len({labels[j] for j in group}) > 1)
        for group, row in zip(groups, counts.reshape(-1, n_classes), strict=True)
        if group.size > 1
    ]
    return sorted(combinations, key=lambda each: (-each.n_records, each.rules))


def _n_rows(ax: Any, drawn: Sequence[Combination]) -> float:
    """Return the number of rows that fit into the axes, at least the number of combinations to draw."""
    height = ax.get_window_extent().height / ax.get_figure().dpi
    return max(len(drawn), height / _ROW)


def _pale_to_strong(background: Any, scale: _Scale) -> Any:
    """Return a colour map from a colour close to the background to one with a strong contrast."""
    from matplotlib.colors import LinearSegmentedColormap

    middle, strong = scale.middle, scale.dark if text_colour_on(background) == "black" else scale.light
    colours: list[Any] = [mix(middle, background, 0.2), middle, strong]
    return LinearSegmentedColormap.from_list("pale to strong", colours)


def _one_colour(colour: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([colour])
