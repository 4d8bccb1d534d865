"""Rules and figures to look at: in colour and as wide as the terminal, or as plain text for pipes.

What a table or a model says is text and never markup: no console here reads any.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diverse_rule_sets import Rule, RuleSet
from diverse_rule_sets.cli._boundary import visible

_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "red", "bright_cyan", "bright_yellow", "bright_magenta")
_WIDEST = 120


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
        self._number = len(str(len(rule_set.rules) + len(rule_set.backups)))
        self._blocks = "█░" if "utf" in screen.encoding.lower() else "#."
        styles = (_COLOURS[k % len(_COLOURS)] for k in range(len(rule_set.classes)))
        self._style = dict(zip(rule_set.classes, styles, strict=True))

    def show(self) -> None:
        """Print head, rules, backups, and what is said of all other records."""
        rules, backups = self._rules.rules, self._rules.backups
        self._say(Text(f"{_count(len(rules), 'rule')} from {self._total:,} records", "bold"), self._legend())
        for j, rule in enumerate(rules, 1):
            self._show_rule(j, rule)
        head, tail = _notes(self._rules)
        self._say(*(Text(line, "italic") for line in head))
        for j, rule in enumerate(backups, len(rules) + 1):
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
            Text.assemble((self._blocks[0] * 2, self._style[label]), f"\N{NO-BREAK SPACE}{_label(label)} {total:,}")
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

    def _body(self, rule: Rule) -> Text:
        """Return the conditions: on one line if they fit, or else a line each."""
        words = [visible(str(condition)) for condition in rule.conditions] or ["anything"]
        one_line = len(" AND ".join(words)) + 3 <= self._width - self._number - 3
        text = Text.assemble(("IF ", "bold"), words[0])
        for condition in words[1:]:
            text.append(" " if one_line else "\n").append("AND ", "bold").append(condition)
        return text

    def _answer(self, rule: Rule) -> Text:
        """Return the label, a bar of the classes among the rule's records, and figures."""
        share = rule.n_covered / self._total if self._total else 0.0
        label = visible(_label(rule.label))
        text = Text.assemble(("THEN ", "bold"), (label, f"bold {self._style[rule.label]}"), "  ", self._bar_of(rule))
        return text.append(f"  {rule.precision:.2f} of {rule.n_covered:,} ({share:.1%})", "dim")

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
    """Return the lines of the printed page that are no rules: what stands before the backups, and after them."""
    lines = str(rule_set).split("\n")
    head = [line for line in lines if line.startswith("Where no rule covers a record")]
    last = max(k for k, line in enumerate(lines) if line.strip().startswith("OTHERWISE"))
    return head, [line.strip() for line in lines[last:]]


def _label(label: Any) -> str:
    """Return a label as rules print it."""
    return str(Rule((), label)).removeprefix("IF anything THEN ")


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def show_figures(rows: Iterable[tuple[str, str, str]], file: IO[str] | None = None) -> None:
    """Print names, figures and remarks in three columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "right", "left"):
        grid.add_column(justify=justify, overflow="fold")  # type: ignore[arg-type]
    for name, figure, remark in rows:
        grid.add_row(Text(visible(name)), Text(visible(figure), "bold"), Text(visible(remark), "dim"))
    screen = console(file)
    screen.print(Padding(grid, (0, 0, 0, 2)), width=min(screen.width, _WIDEST) if screen.is_terminal else 1000)


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]], file: IO[str] | None = None) -> None:
    """Print a table; the last column may wrap, figures stand at the right."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    for k, name in enumerate(head):
        wraps = k == len(head) - 1
        justify: Any = "left" if wraps else "right"
        table.add_column(Text(visible(name)), justify=justify, no_wrap=not wraps, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    screen = console(file)
    screen.print(Padding(table, (0, 0, 0, 2)), width=min(screen.width, _WIDEST) if screen.is_terminal else 1000)


def say(words: str, file: IO[str] | None = None) -> None:
    """Print a sentence, wrapped on a terminal and on one line elsewhere."""
    screen = console(file)
    screen.print(Text(visible(words)), width=min(screen.width, _WIDEST), soft_wrap=not screen.is_terminal)


def show_reason(head: str, reason: str) -> None:
    """Print what a record is, and below it why it gets its label."""
    screen = console()
    width = min(screen.width, _WIDEST)
    screen.print(Text(visible(head), "bold"), width=width, soft_wrap=not screen.is_terminal)
    body = Text(visible(reason))
    screen.print(
        Padding(body, (0, 0, 0, 4)) if screen.is_terminal else Text("    ") + body,
        width=width,
        soft_wrap=not screen.is_terminal,
    )
