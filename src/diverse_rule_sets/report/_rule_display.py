"""A plot of rules as rectangles over the records, as in the first figure of the paper."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from diverse_rule_sets._input.checks import check_number, generator
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._util.colours import some_class_colours, text_colour_on
from diverse_rule_sets._util.plotting import given_axes, pyplot
from diverse_rule_sets.model._answers import CoverPlan, find_covers
from diverse_rule_sets.model._conditions import Condition, merge_conditions
from diverse_rule_sets.model._counts import Count, count_text
from diverse_rule_sets.model._formatting import format_label, format_name
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._scorecards import ScorecardColumn
from diverse_rule_sets.report._axis_scales import AxisScale, scale_of, strip_scale
from diverse_rule_sets.report._display import Display
from diverse_rule_sets.report._legends import SMALL, class_entries, legend, set_title
from diverse_rule_sets.report._plain_text import with_noun
from diverse_rule_sets.report._rule_selection import Features, can_draw, feature_pair, rule_numbers
from diverse_rule_sets.report._summary import Flags, Integers, Summary, summarise
from diverse_rule_sets.report._text_layout import (
    distinct_names,
    escape_missing,
    format_conditions,
    names_of,
    rule_text,
    shorten,
)

# Largest number of rules whose further conditions are listed.
_MAX_NOTES = 5
# Width of a line of the title, in letters.
_TITLE = 70
# Size of the number of a rule, as a share of the axes.
_TAG = 0.045
# Legend entries of the records.
_PALE, _EMPTY, _FILLED = "other records", "meets only drawn conditions", "covered by a drawn rule"


class Box(NamedTuple):
    """One rectangle of a rule. A rule has several if the categories that it allows are not neighbours.

    Parameters
    ----------
    number : number of the rule
    left, right, bottom, top : its sides, in the units of the axes
    """

    number: int
    left: float
    right: float
    bottom: float
    top: float


@dataclass(eq=False, repr=False)
class RuleDisplay(Display):
    """Rules as rectangles over the records, in the plane of two features.

    Records that a drawn rule covers are filled circles; records that meet its conditions on the two features but not
    its further conditions are empty circles; all others are pale. A side of a rectangle without a bound is at the edge
    of the axes. Categories and integers with few distinct values have random noise around their positions. Missing
    values are drawn in a separate strip.

    Parameters
    ----------
    rules, numbers : the drawn rules, and their numbers as printed (fallback rules follow the rules)
    x, y : the axes; ``x.positions`` and ``y.positions`` are the positions of the drawn records. :meth:`boxes` returns
        the rectangles
    records : the drawn records, as positions in X
    codes : position of the label of each drawn record among the classes
    covered : whether at least one of the rules covers each drawn record
    within : whether each drawn record meets the conditions of at least one of the rules on the two features
    class_counts : number of records of each class that each of the rules covers, drawn or not
    classes : the labels as text
    n_records : number of records in X, without those of weight 0
    total : number of records, or their weight

    Attributes
    ----------
    ax_, figure_ : the axes and the figure of the plot

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier
    >>> from diverse_rule_sets.report import RuleDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DiverseRuleSetClassifier(max_rules=3, scorecards=None, random_state=0).fit(X, y)
    >>> display = RuleDisplay.from_estimator(clf, X, y, rule=2)
    >>> print(display.rules[0])
    IF x3 > 1.7 THEN 2
    >>> int(display.covered.sum())
    46
    """

    rules: tuple[Rule, ...]
    numbers: tuple[int, ...]
    x: AxisScale
    y: AxisScale
    records: Integers
    codes: Integers
    covered: Flags
    within: Flags
    class_counts: Integers
    classes: list[str]
    n_records: int
    total: Count

    @classmethod
    def from_estimator(
        cls,
        clf: Any,
        X: Any,
        y: Any,
        *,
        rule: int | Sequence[int] | None = 1,
        features: Sequence[Hashable] | None = None,
        max_points: int = 20_000,
        random_state: Any = 0,
        ax: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Draw rules of a fitted classifier over records.

        Parameters
        ----------
        clf : a fitted classifier of this package, a Pipeline or a search such as GridSearchCV that ends in one, or a
            RuleSet. The earlier steps of a pipeline transform X, and the plot shows the columns that they return
        X, y : the records and their labels
        rule : number of a rule or fallback rule as printed, from 1, or several numbers; None for all rules that use
            both features or no other features
        features : names of two columns, or of one column; then the other axis has random positions. The points of a
            scorecard are named as in the rules, such as ``"points"`` or ``"lead"``. By default two columns that the
            rules use; for a rule with one condition also the column that other rules use most
        max_points : largest number of records to draw. If there are more, records are selected at random, and a note
            in the plot says so
        random_state : seed of this selection and of the noise of positions
        ax : axes to draw into; by default those of a new figure
        sample_weight : weights of the records, as in ``fit``; the number of records that a rule covers is their weight
        """
        check_number("max_points", max_points, numbers.Integral, low=1)
        summary = summarise(clf, X, y, sample_weight)
        selection = rule_numbers(rule, len(summary.rule_set.all_rules))
        pair = feature_pair(summary, selection, features)
        if selection is None:
            selection = [j for j, each in enumerate(summary.rule_set, 1) if can_draw(each, pair)]
        return cls._from_summary(summary, selection, pair, int(max_points), generator(random_state)).plot(ax)

    @classmethod
    def from_rule_set(cls, rule_set: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw rules of a rule set over records; options as in :meth:`from_estimator`."""
        return cls.from_estimator(rule_set, X, y, **options)

    @classmethod
    def _from_summary(
        cls, summary: Summary, selection: Sequence[int], pair: Features, max_points: int, rng: np.random.Generator
    ) -> Self:
        rule_set = summary.rule_set
        rules = tuple(rule_set.all_rules[j - 1] for j in selection)
        covers = summary.covers_of([j - 1 for j in selection])
        # In random order, so that no class is drawn over all others.
        records = rng.permutation(summary.codes.size)[:max_points]
        table, positions = summary.with_records(records)
        parts = [Rule(tuple(c for c in rule.conditions if c.column in pair), rule.label) for rule in rules]
        sample = table.take(positions)
        meets = find_covers(CoverPlan(parts), sample, rule_set.expected_kinds).flags().T
        drawn = _Drawn(summary, table, records, positions)
        x, y = (_make_scale(drawn, name, rules, rng) for name in pair)
        return cls(
            rules=rules,
            numbers=tuple(selection),
            x=x,
            y=y,
            records=records if summary.rows is None else summary.rows[records],
            codes=summary.codes[records],
            covered=np.any(covers[:, records], axis=0),
            within=np.any(meets, axis=0),
            class_counts=np.array([summary.count_by_class(row) for row in covers]).reshape(
                len(rules), len(summary.classes)
            ),
            classes=summary.classes,
            n_records=summary.codes.size,
            total=summary.n_records,
        )

    @property
    def boxes(self) -> list[Box]:
        """The rectangles of all rules, in the units of the axes."""
        return [
            Box(number, *across, *up)
            for number, rule in zip(self.numbers, self.rules, strict=True)
            for across, up in itertools.product(
                self.x.spans(_condition_on(rule, self.x.name)), self.y.spans(_condition_on(rule, self.y.name))
            )
        ]

    def _content(self) -> str:
        names = [shorten(format_name(name), 40) for name in (self.x.name, self.y.name) if name is not None]
        listed = f"{'rule' if len(self.rules) == 1 else 'rules'} {_list_numbers(self.numbers) or 'none'}"
        return f"{listed} on {' and '.join(names)}, {with_noun(self.n_records, 'record')}"

    def plot(self, ax: Any = None) -> Self:
        """Draw the records and the rectangles.

        Parameters
        ----------
        ax : axes to draw into; by default those of a new figure
        """
        plt = pyplot()
        own_figure = ax is None
        if ax is None:
            height = 6.2 if self.y.name is not None else 3.6
            _, ax = plt.subplots(figsize=(8, height), layout="constrained")
        (ax,) = given_axes(ax, 1)
        own = [self._label_position(rule) for rule in self.rules]
        frequent = np.argsort(-np.bincount(self.codes, minlength=len(self.classes)), kind="stable").tolist()
        shades, others = some_class_colours(len(self.classes), [*own, *frequent])
        marks = self._draw_records(ax, shades)
        self._draw_boxes(ax, [shades[k] for k in own])
        self.x.draw(ax, "x")
        self.y.draw(ax, "y")
        ax.grid(visible=False)
        set_title(ax, self._title(), self._notes(), 110)
        legend(ax, [*class_entries(self.classes, shades, others), *marks], below=own_figure, loc="upper right")
        return self._set_axes([ax])

    def _label_position(self, rule: Rule) -> int:
        """Return the position of the label of a rule among the classes."""
        return self.classes.index(format_label(rule.label))

    def _draw_records(self, ax: Any, shades: Sequence[str]) -> list[tuple[Any, str]]:
        """Draw the records as pale, empty and filled circles; return the legend entries."""
        from matplotlib.lines import Line2D

        n = max(self.records.size, 1)
        size, edge = float(np.clip(9000 / n, 4, 34)), ax.get_facecolor()
        text_colour = ax.xaxis.label.get_color()
        entries = []
        for flags, name, style in (
            (~self.within, _PALE, {"alpha": 0.35, "s": size * 0.6, "linewidths": 0}),
            (self.within & ~self.covered, _EMPTY, {"s": size, "linewidths": 0.8}),
            (self.covered, _FILLED, {"s": size, "linewidths": 0.3}),
        ):
            face = [shades[k] for k in self.codes[flags]]
            paint = (
                {"facecolors": "none", "edgecolors": face}
                if name == _EMPTY
                else {"facecolors": face, "edgecolors": edge}
            )
            points = self.x.positions[flags], self.y.positions[flags]
            ax.scatter(*points, **paint, **style, rasterized=n > 2000, zorder=3 if name == _FILLED else 2)
            if flags.any():
                fill = "none" if name == _EMPTY else text_colour
                marker = {"markerfacecolor": fill, "markeredgecolor": text_colour, "markersize": 5}
                marker |= {"alpha": 0.35, "markersize": 3.5} if name == _PALE else {}
                entries.append((Line2D([], [], ls="", marker="o", **marker), name))
        return entries[::-1] if self.rules else []

    def _draw_boxes(self, ax: Any, shades: Sequence[str]) -> None:
        """Draw the rectangles, each with the number of its rule."""
        from matplotlib.patches import Rectangle

        shade = dict(zip(self.numbers, shades, strict=True))
        for box in self.boxes:
            colour, size = shade[box.number], (box.right - box.left, box.top - box.bottom)
            ax.add_patch(Rectangle((box.left, box.bottom), *size, facecolor=colour, alpha=0.12, zorder=1))
            ax.add_patch(Rectangle((box.left, box.bottom), *size, fill=False, edgecolor=colour, lw=1.8, zorder=4))
        for box, (x, y, ha, va) in zip(self.boxes, self._tags(), strict=True):
            colour = shade[box.number]
            style = {"ha": ha, "va": va, "color": text_colour_on(colour), "fontsize": SMALL, "zorder": 5}
            shift = (4 if ha == "left" else -4, 4 if va == "bottom" else -4)
            tag = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
            ax.annotate(str(box.number), (x, y), shift, textcoords="offset points", bbox=tag, **style)

    def _tags(self) -> list[tuple[float, float, str, str]]:
        """Return the corner of each rectangle for its number: if possible one that overlaps no other number."""
        (left, right), (bottom, top) = self.x.ends, self.y.ends
        used: list[tuple[float, float]] = []
        tags = []
        for box in self.boxes:
            corners = [
                (x, y, ha, va)
                for y, va in ((box.top, "top"), (box.bottom, "bottom"))
                for x, ha in ((box.left, "left"), (box.right, "right"))
            ]
            places = [
                (
                    (x - left) / (right - left) - _TAG * (ha == "right"),
                    (y - bottom) / (top - bottom) - _TAG * (va == "top"),
                )
                for x, y, ha, va in corners
            ]
            free = [all(max(abs(x - a), abs(y - b)) >= _TAG for a, b in used) for x, y in places]
            k = int(np.argmax(free))
            used.append(places[k])
            tags.append(corners[k])
        return tags

    def _title(self) -> str:
        """Return the title: the rule, or the numbers of the rules and the two features."""
        if len(self.rules) == 1:
            return "Rule " + rule_text(self.numbers[0], self.rules[0], 190, _TITLE)
        names = tuple(escape_missing(format_name(name)) for name in (self.x.name, self.y.name) if name is not None)
        axes = " and ".join(distinct_names(names, 40).values())
        if not self.rules:
            return f"No rule to draw on {axes}"
        return f"Rules {_list_numbers(self.numbers)} on {axes}"

    def _notes(self) -> list[str]:
        """Return the notes below the title: coverage, further conditions, number of drawn records."""
        notes = []
        if len(self.rules) == 1:
            counts = self.class_counts[0]
            size, own, total = map(count_text, (counts.sum(), counts[self._label_position(self.rules[0])], self.total))
            notes.append(f"covers {size} of {total} records, {own} of them with its label")
        further = [
            (number, [c for c in rule.conditions if c.column not in (self.x.name, self.y.name)])
            for number, rule in zip(self.numbers, self.rules, strict=True)
        ]
        hidden = [(number, conditions) for number, conditions in further if conditions]
        for number, conditions in hidden[:_MAX_NOTES]:
            text = format_conditions(conditions, 190 if len(self.rules) == 1 else 90, names_of(self.rules))
            notes.append(f"not drawn: AND {text}" if len(self.rules) == 1 else f"rule {number} also has: {text}")
        if len(hidden) > _MAX_NOTES:
            notes.append(f"{len(hidden) - _MAX_NOTES} more rules have further conditions")
        if self.records.size < self.n_records:
            notes.append(f"{self.records.size:,} of {self.n_records:,} records are drawn, selected at random")
        return notes


def _list_numbers(rules: Sequence[int]) -> str:
    """Return the numbers of the rules as text, of many rules only the first."""
    return ", ".join(map(str, rules[:20])) + (", ..." if len(rules) > 20 else "")


class _Drawn(NamedTuple):
    """The records that are drawn: their numbers, and their positions in a table that has them."""

    summary: Summary
    table: Table
    records: Integers
    positions: Integers


def _make_scale(drawn: _Drawn, name: Hashable | None, rules: Iterable[Rule], rng: np.random.Generator) -> AxisScale:
    """Return the axis of a column, or an axis of random positions if there is no column."""
    summary = drawn.summary
    if name is None:
        return strip_scale(drawn.records.size, rng)
    conditions = [condition for rule in rules for condition in rule.conditions if condition.column == name]
    if isinstance(name, ScorecardColumn):
        return scale_of(summary.column(name), drawn.records, conditions, rng)
    column = drawn.table.column(name, summary.rule_set.expected_kind(name))
    return scale_of(column, drawn.positions, conditions, rng)


def _condition_on(rule: Rule, name: Hashable | None) -> Condition | None:
    """Return the condition of a rule on a column; None if there is none."""
    conditions = merge_conditions(condition for condition in rule.conditions if condition.column == name)
    return conditions[0] if conditions else None
