"""Printing rules and figures: in colour and with the width of the terminal, or as plain text to pipes.

Text of a table or a model is never interpreted as markup: the consoles here have markup switched off.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diverse_rule_sets import PointsTable, Rule, RuleSet, Scorecard
from diverse_rule_sets.cli._errors import escape_unprintable
from diverse_rule_sets.model._counts import Count, count_text
from diverse_rule_sets.model._figures import digits, weighted_precision
from diverse_rule_sets.model._formatting import ANYTHING, format_label, format_scorecard_name
from diverse_rule_sets.model._points_text import gaps_text, points_groups, probability_name

_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "red", "bright_cyan", "bright_yellow", "bright_magenta")
_LEAD = "The label with the most points leads, of equally many the one listed first; the lead is by how many."
_MAX_WIDTH = 120
_UNLIMITED_WIDTH = 1_000_000


def console(file: IO[str] | None = None) -> Console:
    """Return a console for a stream, with the colours and the width of the terminal; NO_COLOR switches colours off."""
    return Console(file=file or sys.stdout, markup=False, highlight=False, emoji=False)


def show_rules(rule_set: RuleSet, plain: bool = False, file: IO[str] | None = None) -> None:
    """Print the rules: with colours and bars on a terminal, or as plain text if ``plain`` or without a terminal."""
    screen = console(file)
    if plain or not screen.is_terminal:
        screen.file.write(f"{rule_set}\n")
        return
    _RulePrinter(rule_set, screen).show()


class _RulePrinter:
    """Prints the rules of one model on one console."""

    def __init__(self, rule_set: RuleSet, screen: Console) -> None:
        self._rules = rule_set
        self._screen = screen
        self._width = min(screen.width, _MAX_WIDTH)
        self._bar_width = 24 if self._width >= 100 else 16
        self._total = sum(rule_set.class_totals)
        self._number_width = len(str(len(rule_set.all_rules)))
        self._label_width = min(max(len(_label(label)) for label in rule_set.classes), 20)  # so that bars are aligned
        self._blocks = "█░" if "utf" in screen.encoding.lower() else "#."
        styles = (_COLOURS[k % len(_COLOURS)] for k in range(len(rule_set.classes)))
        self._style = dict(zip(rule_set.classes, styles, strict=True))

    def show(self) -> None:
        """Print the title, the rules, the fallback rules, and the notes about the default label and overlaps."""
        rules, fallbacks = self._rules.rules, self._rules.fallbacks
        legend = "Bar: classes of the covered records; then precision, records covered, coverage."
        title = Text(f"{_count(len(rules), 'rule')} from {count_text(self._total)} records", "bold")
        self._print_lines(title, self._classes(), Text(legend, "dim"))
        for card in self._rules.scorecards:
            self._show_scorecard(card)
        for j, rule in enumerate(rules, 1):
            self._show_rule(j, rule)
        heading, notes = _notes(self._rules)
        self._print_lines(*(Text(line, "italic") for line in heading))
        for j, rule in enumerate(fallbacks, len(rules) + 1):
            self._show_rule(j, rule)
        self._print_lines(*map(Text, notes))

    def _print_lines(self, *lines: Text) -> None:
        """Print some lines and a blank line after them."""
        for line in lines:
            self._screen.print(line, width=self._width)
        if lines:
            self._screen.print()

    def _classes(self) -> Text:
        """Return the classes, their colours and their numbers of records."""
        parts = [
            Text.assemble((self._blocks[0] * 2, self._style[label]), f" {_label(label)}: {count_text(total)}")
            for label, total in zip(self._rules.classes, self._rules.class_totals, strict=True)
        ]
        return Text("   ").join(parts)

    def _show_scorecard(self, card: Scorecard) -> None:
        """Print a scorecard: the points of each sign, in a column for each label if the columns fit."""
        self._screen.print(self._card_heading(card), width=self._width)
        names = [_label(label) for label in card.labels]
        widths = [max(len(name), 4) + 2 for name in names]
        one, fits = not card.has_leader, sum(widths) <= self._width // 2
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=1)  # the margin
        for label in card.labels if one or fits else ():
            grid.add_column(justify="right", style=f"bold {self._style[label]}", no_wrap=True)
        if not one and not fits:
            grid.add_column(overflow="fold", max_width=self._width // 2)
        grid.add_column(overflow="fold")
        if not one and fits:
            grid.add_row("", *map(Text, names), "")
        base = [("always", card.base)] if card.base else []
        for text, points in [*base, *((f"if {sign.condition}", sign.points) for sign in card.signs)]:
            cells = [Text(str(points.get(label, ""))) for label in card.labels]
            grid.add_row("", *(cells if one or fits else [self._points_list(points)]), Text(escape_unprintable(text)))
        self._screen.print(grid, width=self._width)
        if card.has_leader:
            self._screen.print(Text(_LEAD, "dim"), width=self._width)
        self._screen.print()

    def _card_heading(self, card: Scorecard) -> Text:
        """Return the name of a scorecard, and for one label the label and its possible points."""
        name = escape_unprintable(format_scorecard_name(card.name))
        text = Text.assemble(
            ("Scorecard ", "bold"), (name, "bold"), ": a record gets the points of all signs that hold"
        )
        if card.has_leader:
            return text
        (label,) = card.labels
        low, high = card.ranges[label]
        return text.append(f", {low} to {high} for ").append(_label(label), f"bold {self._style[label]}")

    def _points_list(self, points: Mapping[Any, int]) -> Text:
        """Return points as a list of labels, for scorecards of many labels."""
        parts = (Text.assemble(f"{n} ", (_label(label), self._style[label])) for label, n in points.items())
        return Text(", ").join(parts)

    def _show_rule(self, number: int, rule: Rule) -> None:
        """Print one rule: its number, its conditions, its label and its figures."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(justify="right", width=self._number_width, style="dim")
        grid.add_column(overflow="fold")
        grid.add_row(str(number), self._body(rule))
        grid.add_row("", self._label_line(rule))
        if self._rules.follows_points and rule.points_table is not None:
            grid.add_row("", self._figures(rule, rule.points_table))
        self._screen.print(grid, width=self._width)
        self._screen.print()

    def _figures(self, rule: Rule, table: PointsTable) -> Text:
        """Return the probabilities of a rule by points; a line ends between two figures."""
        column, groups = escape_unprintable(str(table.column)), points_groups(rule, self._rules.classes)
        lines, width = [f"{probability_name(self._rules)} of {_label(rule.label)} by {column}:"], self._width - 3
        texts = [f"{group.points_text}: {group.shares_text()}," for group in groups]
        texts[-1] = texts[-1].removesuffix(",")
        note = gaps_text(rule, groups)
        for text in [*texts, f"({note})"] if note else texts:
            longer = f"{lines[-1]} {text}"
            if len(longer) <= width - self._number_width:
                lines[-1] = longer
            else:
                lines.append(text)
        return Text("\n".join(lines), "dim")

    def _body(self, rule: Rule) -> RenderableType:
        """Return the conditions: on one line if they fit, or else on one line each."""
        texts = [escape_unprintable(str(condition)) for condition in rule.conditions] or [ANYTHING]
        if len(" AND ".join(texts)) + 3 <= self._width - self._number_width - 3:
            parts = [
                Text.assemble((keyword, "bold"), text) for keyword, text in zip(_keywords(" "), texts, strict=False)
            ]
            return Text(" ").join(parts)
        grid = Table.grid()
        grid.add_column(width=4, style="bold")
        grid.add_column(overflow="fold")
        for keyword, text in zip(_keywords(""), texts, strict=False):
            grid.add_row(keyword, Text(text))
        return grid

    def _label_line(self, rule: Rule) -> Text:
        """Return the label, a bar of the classes of the covered records, and figures."""
        share = rule.n_covered / self._total if self._total else 0.0
        label = f"{_label(rule.label):<{self._label_width}}"
        text = Text.assemble(("THEN ", "bold"), (label, f"bold {self._style[rule.label]}"), "  ", self._bar(rule))
        if not rule.n_covered:
            return text.append("  covers no records", "dim")
        weighted = weighted_precision(self._rules, rule)
        figures = f"  {digits(rule.precision)} of {count_text(rule.n_covered)} ({digits(share, '.1%')})"
        return text.append(f"{figures}{', ' + weighted if weighted else ''}", "dim")

    def _bar(self, rule: Rule) -> Text:
        """Return a bar of the classes of the covered records: the label of the rule first, then the largest class."""
        others = [(label, n) for label, n in rule.class_counts if label != rule.label and n]
        own = [(label, n) for label, n in rule.class_counts if label == rule.label and n]
        counts = own + sorted(others, key=lambda pair: -pair[1])
        text = Text()
        for (label, _), cells in zip(counts, _cells([n for _, n in counts], self._bar_width), strict=True):
            text.append(self._blocks[label != rule.label] * cells, self._style[label])
        return text.append(" " * (self._bar_width - len(text)))


def _cells(counts: Sequence[Count], width: int) -> list[int]:
    """Return the number of cells of each part of a bar; rounding the ends of the parts makes them add up."""
    ends = [0, *(round(sum(counts[: k + 1]) / sum(counts) * width) for k in range(len(counts)))]
    return [end - start for start, end in itertools.pairwise(ends)]


def _notes(rule_set: RuleSet) -> tuple[list[str], list[str]]:
    """Return the printed lines that are not rules: the heading of the fallback rules, and the lines after them."""
    lines = str(rule_set).split("\n")
    heading = [line for line in lines if line.startswith("Fallback rules: ")]
    last = max(k for k, line in enumerate(lines) if line.strip().startswith(("OTHERWISE", "The rules ")))
    return heading, [line.strip() for line in lines[last:]]


def _label(label: Any) -> str:
    """Return a label as in the text of a rule."""
    return escape_unprintable(format_label(label))


def _keywords(gap: str) -> Iterator[str]:
    """Yield IF once, then AND without end."""
    return itertools.chain([f"IF{gap}"], itertools.repeat(f"AND{gap}"))


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def show_table(
    rows: Sequence[Sequence[str]], justify: str, head: Sequence[str] = (), file: IO[str] | None = None
) -> None:
    """Print a table; ``justify`` has a letter for each column: left, right, or wrapped.

    If no column is wrapped, the longest cells, which are text and not figures, are cut to fit the terminal.
    """
    table = Table(box=None, show_header=bool(head), header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    cells = [[Text(escape_unprintable(cell)) for cell in row] for row in ([head] if head else []) + list(rows)]
    screen = console(file)
    if "w" not in justify and screen.is_terminal:
        _cut(cells, min(screen.width, _MAX_WIDTH) - 2)
    for k, letter in enumerate(justify):
        side: Any = "right" if letter == "r" else "left"
        table.add_column(cells[0][k] if head else "", justify=side, no_wrap=letter != "w", overflow="fold")
    for row in cells[bool(head) :]:
        table.add_row(*row)
    _print(Padding(table, (0, 0, 0, 2), expand=False), file)


def _cut(rows: list[list[Text]], width: int) -> None:
    """Cut the cells to one length, the largest length with which all columns fit."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    available = width - 2 * len(widths)
    length = max((n for n in range(4, max(widths) + 1) if sum(min(n, w) for w in widths) <= available), default=4)
    for row in rows:
        for cell in row:
            cell.truncate(length, overflow="ellipsis")


def print_text(text: str, file: IO[str] | None = None, style: str = "") -> None:
    """Print text: wrapped on a terminal, otherwise on one line."""
    _print(Text(escape_unprintable(text), style), file)


def show_reason(heading: str, reason: str) -> None:
    """Print the heading of a record, and below it the explanation of its label."""
    print_text(heading, style="bold")
    lines = "\n".join(map(escape_unprintable, reason.splitlines()))
    _print(Padding(Text(lines), (0, 0, 0, 4), expand=False), None)


def _print(content: RenderableType, file: IO[str] | None) -> None:
    """Print with the width of the terminal; without a terminal, do not wrap lines and strip blanks at their ends."""
    screen = console(file)
    if screen.is_terminal:
        screen.print(content, width=min(screen.width, _MAX_WIDTH))
        return
    screen.width = _UNLIMITED_WIDTH
    with screen.capture() as captured:
        screen.print(content)
    screen.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
