"""Rules and figures to look at: in colour and as wide as the terminal, or as plain text for pipes.

What a table or a model says is text and never markup: no console here reads any.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diverse_rule_sets import Rule, RuleSet
from diverse_rule_sets.cli._errors import visible
from diverse_rule_sets.model._formatting import ANYTHING, format_label
from diverse_rule_sets.model._text import digits

_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "red", "bright_cyan", "bright_yellow", "bright_magenta")
_WIDEST = 120
_ENDLESS = 1_000_000


def console(file: IO[str] | None = None) -> Console:
    """Return a console on a stream; colours and width are those of the terminal, NO_COLOR is heeded."""
    return Console(file=file or sys.stdout, markup=False, highlight=False, emoji=False)


def show_rules(rule_set: RuleSet, plain: bool = False, file: IO[str] | None = None) -> None:
    """Print the rules: as a page for the terminal, or as plain text where that is asked for or there is none."""
    screen = console(file)
    if plain or not screen.is_terminal:
        screen.file.write(f"{rule_set}\n")
        return
    _Page(rule_set, screen).show()


class _Page:
    """The rules of one model on one console."""

    def __init__(self, rule_set: RuleSet, screen: Console) -> None:
        self._rules = rule_set
        self._screen = screen
        self._width = min(screen.width, _WIDEST)
        self._bar = 24 if self._width >= 100 else 16
        self._total = sum(rule_set.class_totals)
        self._number = len(str(len(rule_set.all_rules)))
        self._label = min(max(len(_label(label)) for label in rule_set.classes), 20)  # so that bars stand in line
        self._blocks = "█░" if "utf" in screen.encoding.lower() else "#."
        styles = (_COLOURS[k % len(_COLOURS)] for k in range(len(rule_set.classes)))
        self._style = dict(zip(rule_set.classes, styles, strict=True))

    def show(self) -> None:
        """Print head, rules, fallbacks, and what is said of all other records."""
        rules, fallbacks = self._rules.rules, self._rules.fallbacks
        words = "A bar shows the classes of a rule's records; then its precision, its records and their share of all."
        title = Text(f"{_count(len(rules), 'rule')} from {self._total:,} records", "bold")
        self._say(title, self._legend(), Text(words, "dim"))
        for j, rule in enumerate(rules, 1):
            self._show_rule(j, rule)
        head, tail = _notes(self._rules)
        self._say(*(Text(line, "italic") for line in head))
        for j, rule in enumerate(fallbacks, len(rules) + 1):
            self._show_rule(j, rule)
        self._say(*map(Text, tail))

    def _say(self, *lines: Text) -> None:
        """Print some lines with a blank one after them."""
        for line in lines:
            self._screen.print(line, width=self._width)
        if lines:
            self._screen.print()

    def _legend(self) -> Text:
        """Return the classes and how many records each has."""
        parts = [
            Text.assemble((self._blocks[0] * 2, self._style[label]), f" {_label(label)}: {total:,}")
            for label, total in zip(self._rules.classes, self._rules.class_totals, strict=True)
        ]
        return Text("   ").join(parts)

    def _show_rule(self, number: int, rule: Rule) -> None:
        """Print one rule: its number, its conditions, its label and how its records are distributed."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(justify="right", width=self._number, style="dim")
        grid.add_column(overflow="fold")
        grid.add_row(str(number), self._body(rule))
        grid.add_row("", self._answer(rule))
        self._screen.print(grid, width=self._width)
        self._screen.print()

    def _body(self, rule: Rule) -> RenderableType:
        """Return the conditions: on one line if they fit, or else a line each, what is wrapped set in."""
        words = [visible(str(condition)) for condition in rule.conditions] or [ANYTHING]
        if len(" AND ".join(words)) + 3 <= self._width - self._number - 3:
            parts = [
                Text.assemble((keyword, "bold"), word) for keyword, word in zip(_keywords(" "), words, strict=False)
            ]
            return Text(" ").join(parts)
        grid = Table.grid()
        grid.add_column(width=4, style="bold")
        grid.add_column(overflow="fold")
        for keyword, word in zip(_keywords(""), words, strict=False):
            grid.add_row(keyword, Text(word))
        return grid

    def _answer(self, rule: Rule) -> Text:
        """Return the label, a bar of the classes among the rule's records, and figures."""
        share = rule.n_covered / self._total if self._total else 0.0
        label = f"{_label(rule.label):<{self._label}}"
        text = Text.assemble(("THEN ", "bold"), (label, f"bold {self._style[rule.label]}"), "  ", self._bar_of(rule))
        if not rule.n_covered:
            return text.append("  covers none", "dim")
        return text.append(f"  {digits(rule.precision)} of {rule.n_covered:,} ({digits(share, '.1%')})", "dim")

    def _bar_of(self, rule: Rule) -> Text:
        """Return how the records under a rule are distributed: its own class first, then the largest."""
        others = [(label, n) for label, n in rule.class_counts if label != rule.label and n]
        own = [(label, n) for label, n in rule.class_counts if label == rule.label and n]
        counts = own + sorted(others, key=lambda pair: -pair[1])
        text = Text()
        for (label, _), cells in zip(counts, _cells([n for _, n in counts], self._bar), strict=True):
            text.append(self._blocks[label != rule.label] * cells, self._style[label])
        return text.append(" " * (self._bar - len(text)))


def _cells(counts: Sequence[int], width: int) -> list[int]:
    """Share out the cells of a bar so that they add up: each ends where its running total does."""
    ends = [0, *(round(sum(counts[: k + 1]) / sum(counts) * width) for k in range(len(counts)))]
    return [end - start for start, end in itertools.pairwise(ends)]


def _notes(rule_set: RuleSet) -> tuple[list[str], list[str]]:
    """Return the lines of the printed page that are no rules: what stands before the fallbacks, and after them."""
    lines = str(rule_set).split("\n")
    head = [line for line in lines if line.startswith("Where no rule covers a record")]
    last = max(k for k, line in enumerate(lines) if line.strip().startswith("OTHERWISE"))
    return head, [line.strip() for line in lines[last:]]


def _label(label: Any) -> str:
    """Return a label as rules print it."""
    return visible(format_label(label))


def _keywords(gap: str) -> Iterator[str]:
    """Yield IF, and then AND for ever."""
    return itertools.chain([f"IF{gap}"], itertools.repeat(f"AND{gap}"))


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def show_table(
    rows: Sequence[Sequence[str]], justify: str, head: Sequence[str] = (), file: IO[str] | None = None
) -> None:
    """Print a table; ``justify`` has a letter for each column: left, right, or wrapped where it is too long.

    Where nothing is wrapped, the longest cells are cut until the table fits the terminal: text, that is, not figures.
    """
    table = Table(box=None, show_header=bool(head), header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    shown = [[Text(visible(cell)) for cell in row] for row in ([head] if head else []) + list(rows)]
    screen = console(file)
    if "w" not in justify and screen.is_terminal:
        _cut(shown, min(screen.width, _WIDEST) - 2)
    for k, letter in enumerate(justify):
        side: Any = "right" if letter == "r" else "left"
        table.add_column(shown[0][k] if head else "", justify=side, no_wrap=letter != "w", overflow="fold")
    for row in shown[bool(head) :]:
        table.add_row(*row)
    _print(Padding(table, (0, 0, 0, 2), expand=False), file)


def _cut(rows: list[list[Text]], width: int) -> None:
    """Shorten cells to one length, the largest at which all columns fit."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    room = width - 2 * len(widths)
    length = max((n for n in range(4, max(widths) + 1) if sum(min(n, w) for w in widths) <= room), default=4)
    for row in rows:
        for cell in row:
            cell.truncate(length, overflow="ellipsis")


def say(words: str, file: IO[str] | None = None, style: str = "") -> None:
    """Print a sentence, wrapped on a terminal and on one line elsewhere."""
    _print(Text(visible(words), style), file)


def show_reason(head: str, reason: str) -> None:
    """Print what a record is, and below it why it gets its label."""
    say(head, style="bold")
    lines = "\n".join(map(visible, reason.splitlines()))
    _print(Padding(Text(lines), (0, 0, 0, 4), expand=False), None)


def _print(thing: RenderableType, file: IO[str] | None) -> None:
    """Print on a terminal as wide as it is; elsewhere lines are as long as they are, without blanks at their ends."""
    screen = console(file)
    if screen.is_terminal:
        screen.print(thing, width=min(screen.width, _WIDEST))
        return
    screen.width = _ENDLESS
    with screen.capture() as captured:
        screen.print(thing)
    screen.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
