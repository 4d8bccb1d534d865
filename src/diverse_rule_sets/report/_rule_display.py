"""A picture of rules as rectangles over the data, as in the first figure of the paper."""

from __future__ import annotations

import itertools
import numbers
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from diverse_rule_sets._input.checks import check_number, generator
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._util.plotting import class_colours, given_axes, ink_on, pyplot
from diverse_rule_sets.model._conditions import Condition, merged
from diverse_rule_sets.model._formatting import format_label, format_name
from diverse_rule_sets.model._rules import Rule
from diverse_rule_sets.report._axis_scales import AxisScale, scale_of, strip_scale
from diverse_rule_sets.report._display import Display
from diverse_rule_sets.report._legends import SMALL, class_entries, legend, titled
from diverse_rule_sets.report._summary import Flags, Integers, Summary, summarise
from diverse_rule_sets.report._text_layout import conditions_joined, names_of, readable, rule_words, told_apart

Features = tuple[Hashable | None, Hashable | None]
# Pairs of columns are looked for among so many.
_MAX_COLUMNS = 20
# Of so many rules it is said what further conditions they have.
_MAX_NOTES = 5
# Letters in a line of the title.
_TITLE = 70
# Room that the number of a rule takes, as a share of the axes.
_TAG = 0.045


class Box(NamedTuple):
    """One rectangle of a rule; a rule has several where categories that it allows do not stand side by side.

    Parameters
    ----------
    number : of the rule
    left, right, bottom, top : its sides, in the units of the axes
    """

    number: int
    left: float
    right: float
    bottom: float
    top: float


@dataclass(eq=False)
class RuleDisplay(Display):
    """Rules as rectangles over the records, on two of their features.

    Records under a rule drawn are filled; those that meet what it says of the two features but not its further
    conditions are hollow; all others are faint. A side of a rectangle without a bound runs to the edge. Categories
    and a few whole numbers are spread out around their places; missing values stand in a strip of their own.

    Parameters
    ----------
    rules, numbers : the rules drawn, and their numbers as printed (fallbacks follow the rules)
    x, y : where the records drawn stand: ``x.positions``, ``y.positions``; see :meth:`boxes` for the rectangles
    records : which records are drawn, as positions in X
    codes : position of the label of each record drawn
    covered : whether a record drawn is under one of the rules
    within : whether a record drawn meets what one of the rules says of the two features
    class_counts : records of each class under each of the rules, of all records
    classes : the labels in words
    n_records : how many records there are

    Attributes
    ----------
    ax_, figure_ : where the picture was drawn

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier
    >>> from diverse_rule_sets.report import RuleDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DiverseRuleSetClassifier(max_rules=3, random_state=0).fit(X, y)
    >>> display = RuleDisplay.from_estimator(clf, X, y, rule=2)
    >>> print(display.rules[0])
    IF x2 <= 4.9 AND 0.8 < x3 <= 1.6 THEN 1
    >>> int(display.covered.sum())
    47
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
    ) -> Self:
        """Draw rules of a fitted classifier over records.

        Parameters
        ----------
        clf : a fitted classifier of this package, or a RuleSet
        X, y : the records, and their labels
        rule : number of a rule or fallback as printed, from 1, or several; None for all rules that can be drawn on the
            two features: they read both of them, or none but them
        features : names of two columns, or of one, along which records are then spread out; by default two that
            the rules read, and for a rule of one condition the column that other rules read most beside it
        max_points : the most records that are drawn; of more, some are chosen by chance, and the picture says so
        random_state : seed of that choice, and of how equal values are spread out
        ax : axes to draw into; a new figure by default
        """
        check_number("max_points", max_points, numbers.Integral, low=1)
        summary = summarise(clf, X, y)
        wanted = _rule_numbers(rule, len(summary.rule_set.all_rules))
        pair = _features(summary, wanted, features)
        if wanted is None:
            wanted = [j for j, one in enumerate(summary.rule_set, 1) if _can_be_drawn(one, pair)]
        return cls._of(summary, wanted, pair, int(max_points), generator(random_state)).plot(ax)

    @classmethod
    def from_rule_set(cls, rule_set: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw rules of a rule set over records; options as for :meth:`from_estimator`."""
        return cls.from_estimator(rule_set, X, y, **options)

    @classmethod
    def _of(
        cls, summary: Summary, wanted: Sequence[int], pair: Features, max_points: int, rng: np.random.Generator
    ) -> Self:
        table, rule_set = summary.table, summary.rule_set
        rules = tuple(rule_set.all_rules[j - 1] for j in wanted)
        covers = np.array([rule.covers(table) for rule in rules], np.bool_).reshape(len(rules), table.n_records)
        records = rng.permutation(table.n_records)[:max_points]  # in no order: no class is drawn over all others
        shown = [Rule(tuple(c for c in rule.conditions if c.column in pair), rule.label) for rule in rules]
        drawn = table.taken(records)
        meets = np.array([rule.covers(drawn) for rule in shown], np.bool_).reshape(len(rules), records.size)
        x, y = (_scale_along(table, name, records, rules, rng) for name in pair)
        return cls(
            rules=rules,
            numbers=tuple(wanted),
            x=x,
            y=y,
            records=records,
            codes=summary.codes[records],
            covered=np.any(covers[:, records], axis=0),
            within=np.any(meets, axis=0),
            class_counts=np.array([summary.counted(row) for row in covers], np.int64).reshape(
                len(rules), len(summary.classes)
            ),
            classes=summary.classes,
            n_records=table.n_records,
        )

    @property
    def boxes(self) -> list[Box]:
        """The rectangles, in the units of the axes."""
        return [
            Box(number, *across, *up)
            for number, rule in zip(self.numbers, self.rules, strict=True)
            for across, up in itertools.product(
                self.x.spans(_on(rule, self.x.name)), self.y.spans(_on(rule, self.y.name))
            )
        ]

    def plot(self, ax: Any = None) -> Self:
        """Draw the records and the rectangles.

        Parameters
        ----------
        ax : axes to draw into; a new figure by default
        """
        plt = pyplot()
        own_figure = ax is None
        if ax is None:
            high = 6.2 if self.y.name is not None else 3.6
            _, ax = plt.subplots(figsize=(8, high), layout="constrained")
        (ax,) = given_axes(ax, 1)
        named = [self._own(rule) for rule in self.rules]
        common = np.argsort(-np.bincount(self.codes, minlength=len(self.classes)), kind="stable").tolist()
        shades, others = class_colours(len(self.classes), [*named, *common])
        marks = self._draw_records(ax, shades)
        self._draw_boxes(ax, [shades[k] for k in named])
        self.x.draw(ax, "x")
        self.y.draw(ax, "y")
        ax.grid(visible=False)
        titled(ax, self._title(), self._notes(), 110)
        legend(ax, [*class_entries(self.classes, shades, others), *marks], below=own_figure, loc="upper right")
        return self._drawn([ax])

    def _own(self, rule: Rule) -> int:
        """Return the position of a rule's label among the classes."""
        return self.classes.index(format_label(rule.label))

    def _draw_records(self, ax: Any, shades: Sequence[str]) -> list[tuple[Any, str]]:
        """Draw the records: faint, hollow, filled; returns what a legend says of that."""
        from matplotlib.lines import Line2D

        n = max(self.records.size, 1)
        size, edge = float(np.clip(9000 / n, 4, 34)), ax.get_facecolor()
        ink = ax.xaxis.label.get_color()
        entries = []
        for flags, words, style in (
            (~self.within, "elsewhere", {"alpha": 0.35, "s": size * 0.6, "linewidths": 0}),
            (self.within & ~self.covered, "meets only what is drawn", {"s": size, "linewidths": 0.8}),
            (self.covered, "under a rule drawn", {"s": size, "linewidths": 0.3}),
        ):
            hollow = words.startswith("meets")
            told = np.array(shades, object)[self.codes[flags]].tolist()
            paint = {"facecolors": "none", "edgecolors": told} if hollow else {"facecolors": told, "edgecolors": edge}
            place = self.x.positions[flags], self.y.positions[flags]
            ax.scatter(*place, **paint, **style, rasterized=n > 2000, zorder=3 if words[0] == "u" else 2)
            if flags.any():
                fill = {"markerfacecolor": "none" if hollow else ink, "markeredgecolor": ink, "markersize": 5}
                fill |= {"alpha": 0.35, "markersize": 3.5} if words == "elsewhere" else {}
                entries.append((Line2D([], [], ls="", marker="o", **fill), words))
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
            style = {"ha": ha, "va": va, "color": ink_on(colour), "fontsize": SMALL, "zorder": 5}
            shift = (4 if ha == "left" else -4, 4 if va == "bottom" else -4)
            tag = {"facecolor": colour, "edgecolor": "none", "pad": 1.5}
            ax.annotate(str(box.number), (x, y), shift, textcoords="offset points", bbox=tag, **style)

    def _tags(self) -> list[tuple[float, float, str, str]]:
        """Return the corner of each rectangle where its number stands: the first that is free, if one is."""
        (left, right), (bottom, top) = self.x.ends, self.y.ends
        taken: list[tuple[float, float]] = []
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
            free = [all(max(abs(x - a), abs(y - b)) >= _TAG for a, b in taken) for x, y in places]
            k = int(np.argmax(free))
            taken.append(places[k])
            tags.append(corners[k])
        return tags

    def _title(self) -> str:
        """Say which rules are drawn."""
        if len(self.rules) == 1:
            return "Rule " + rule_words(self.numbers[0], self.rules[0], 190, _TITLE)
        names = tuple(readable(format_name(name)) for name in (self.x.name, self.y.name) if name is not None)
        on = " and ".join(told_apart(names, 40).values())
        if not self.rules:
            return f"No rule to draw on {on}"
        shown = ", ".join(map(str, self.numbers[:20])) + (", ..." if len(self.numbers) > 20 else "")
        return f"Rules {shown} on {on}"

    def _notes(self) -> list[str]:
        """Say what the rectangles do not show."""
        notes = []
        if len(self.rules) == 1:
            total, own = int(self.class_counts[0].sum()), int(self.class_counts[0, self._own(self.rules[0])])
            notes.append(f"covers {total:,} of {self.n_records:,} records, {own:,} of them of its own class")
        further = [
            (number, [c for c in rule.conditions if c.column not in (self.x.name, self.y.name)])
            for number, rule in zip(self.numbers, self.rules, strict=True)
        ]
        told = [(number, conditions) for number, conditions in further if conditions]
        for number, conditions in told[:_MAX_NOTES]:
            words = conditions_joined(conditions, 190 if len(self.rules) == 1 else 90, names_of(self.rules))
            notes.append(f"not drawn: AND {words}" if len(self.rules) == 1 else f"{number}: also {words}")
        if len(told) > _MAX_NOTES:
            notes.append(f"{len(told) - _MAX_NOTES} more rules have further conditions")
        if self.records.size < self.n_records:
            notes.append(f"{self.records.size:,} of {self.n_records:,} records are drawn, chosen by chance")
        return notes


def _scale_along(
    table: Table, name: Hashable | None, records: Integers, rules: Iterable[Rule], rng: np.random.Generator
) -> AxisScale:
    """Lay a column out along an axis, or spread records out along one."""
    if name is None:
        return strip_scale(records.size, rng)
    conditions = [condition for rule in rules for condition in rule.conditions if condition.column == name]
    return scale_of(table.column(name), records, conditions, rng)


def _on(rule: Rule, name: Hashable | None) -> Condition | None:
    """Return what a rule says of a column, if it does."""
    found = merged(condition for condition in rule.conditions if condition.column == name)
    return found[0] if found else None


def _rule_numbers(rule: Any, n_rules: int) -> list[int] | None:
    """Check the numbers of the rules to draw; None means all that can be."""
    if rule is None:
        return None
    given = list(rule) if isinstance(rule, Sequence | np.ndarray) and not isinstance(rule, str) else [rule]
    if not n_rules and given == [1]:
        return []  # there are no rules, and 1 is the default
    for number in given:
        check_number("rule", number, numbers.Integral, low=1, high=n_rules)
    return list(dict.fromkeys(int(number) for number in given))


def _features(summary: Summary, wanted: Sequence[int] | None, features: Any) -> Features:
    """Return the two columns to draw on; None in place of the second for a strip."""
    if features is not None:
        several = isinstance(features, Sequence | np.ndarray) and not isinstance(features, str)
        given = list(features) if several else [features]
        if len(given) not in (1, 2) or len(set(given)) < len(given):
            raise ValueError(f"features must name two columns, or one, got {features!r}")
        for name in given:
            if name not in summary.table.names:
                raise ValueError(f"features must name columns of X, and there is none called {name!r}")
        return (given[0], given[1] if len(given) == 2 else None)
    rule_set = summary.rule_set
    drawn = rule_set.rules if wanted is None else tuple(rule_set.all_rules[j - 1] for j in wanted)
    best = _best_pair(drawn)
    used = [*best, *(name for name in _by_use(rule_set.all_rules) if name not in best)]
    used = used or summary.table.names
    return (used[0], used[1] if len(used) > 1 else None)


def _best_pair(rules: Sequence[Rule]) -> list[Hashable]:
    """Return the two columns on which most of the rules can be drawn, the first columns first; or fewer."""
    names = _by_use(rules)[:_MAX_COLUMNS]
    if len(names) < 2:
        return names
    pairs = list(itertools.combinations(names, 2))
    drawn = [sum(_can_be_drawn(rule, pair) for rule in rules) for pair in pairs]
    return list(pairs[int(np.argmax(drawn))])


def _by_use(rules: Sequence[Rule]) -> list[Hashable]:
    """Return the columns that rules read, those that most of them read first."""
    uses = Counter(condition.column for rule in rules for condition in rule.conditions)
    return [name for name, _ in uses.most_common()]


def _can_be_drawn(rule: Rule, pair: Features) -> bool:
    """Tell whether a rule reads both columns, or none but these."""
    read = {condition.column for condition in rule.conditions}
    return bool(read) and (set(pair) <= read or read <= set(pair))
