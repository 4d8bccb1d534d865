"""The options that stand for the classifier's parameters: one table, from which the command line is made.

An option that is not given is not passed on, so that the classifier's own defaults count; those named here are for the
help, and a test compares them. A new parameter is a new row: ``list`` reads one that takes words as they are, several
times, ``directions`` one that says which way a column may go.
"""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from diverse_rule_sets.cli._errors import UsageError

NOT_GIVEN: Any = object()


@dataclass(frozen=True)
class Option:
    """One option: its name in Python, how its words are read, and what the help says.

    Parameters
    ----------
    name : the parameter; `max_rules` is `--max-rules` on the command line
    read : words -> value; None for a flag, which has no words
    shape : what stands for the words in the help
    help : one line
    default : the value where it is not given, as the help shows it
    many : may be given several times; ``read`` gets the list
    panel : the heading in the help
    """

    name: str
    read: Callable[[Any], Any] | None
    shape: str
    help: str
    default: Any = None
    many: bool = False
    panel: str = "Options"

    @property
    def flag(self) -> str:
        """The name on the command line."""
        return "--" + self.name.replace("_", "-")

    def parameter(self) -> inspect.Parameter:
        """Return the option as a parameter of a function that typer understands."""
        words = f"{self.help.rstrip('.')} [dim](default {_shown(self.default)})[/dim]"
        about: dict[str, Any] = {"help": words, "rich_help_panel": self.panel, "show_default": False}
        if self.read is None:
            info = typer.Option(f"{self.flag}/--no-{self.flag[2:]}", **about)
            return _keyword(self.name, Annotated[bool | None, info])
        info = typer.Option(self.flag, metavar=self.shape, **about)
        return _keyword(self.name, Annotated[list[str] | None if self.many else str | None, info])  # type: ignore[valid-type]

    def value(self, given: Any) -> Any:
        """Read what was given; ``NOT_GIVEN`` where nothing was."""
        if given is None or given == []:
            return NOT_GIVEN
        try:
            return given if self.read is None else self.read(given)
        except ValueError as error:
            raise UsageError(f"{self.flag} must be {error}, got {_words(given)}") from None


def _keyword(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _shown(default: Any) -> str:
    """Return a default as one would type it."""
    return "none" if default is None else str(default).lower() if isinstance(default, bool) else str(default)


def _words(given: Any) -> str:
    return ", ".join(map(repr, given)) if isinstance(given, list) else repr(given)


def values_of(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of those options that were given."""
    read = {option.name: option.value(given[option.name]) for option in options}
    return {name: value for name, value in read.items() if value is not NOT_GIVEN}


def taking(**groups: Sequence[Option]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of some tables; it gets each group's values as one argument, a dict."""

    def decorate(work: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(work, eval_str=True)
        own = [p.replace(kind=p.KEYWORD_ONLY) for name, p in signature.parameters.items() if name not in groups]
        extra = [option.parameter() for options in groups.values() for option in options]

        def command(**given: Any) -> Any:
            packed = {
                group: values_of(options, {option.name: given.pop(option.name) for option in options})
                for group, options in groups.items()
            }
            return work(**given, **packed)

        command.__name__, command.__doc__ = work.__name__, work.__doc__
        command.__signature__ = signature.replace(parameters=[*own, *extra])  # type: ignore[attr-defined]
        command.__annotations__ = {}
        return command

    return decorate


def a_whole_number(text: str) -> int:
    """Read `12`."""
    try:
        return int(text)
    except ValueError:
        raise ValueError("a whole number") from None


def a_number(text: str) -> float:
    """Read `0.5`."""
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


def not_negative(text: str) -> int:
    """Read `0` or `12`: a seed, a number of things."""
    number = a_whole_number(text)
    if number < 0:
        raise ValueError("a whole number that is not negative")
    return number


def rows(given: list[str]) -> list[int]:
    """Read `17`, several times."""
    return [a_whole_number(text) for text in given]


def a_share_to_hold_out(text: str) -> float:
    """Read `0.25`; something must be left to learn from."""
    share = a_number(text)
    if not 0 <= share <= 0.9:
        raise ValueError("a number from 0 to 0.9")
    return share


def or_none(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Read `none` as None, and all else with the function given."""

    def reading(text: str) -> Any:
        if text.lower() == "none":
            return None
        try:
            return read(text)
        except ValueError as error:
            raise ValueError(f"{error} or none") from None

    return reading


def one_of(*choices: str) -> Callable[[str], str]:
    """Read one of some words."""

    def reading(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return reading


def a_word_or_number(*choices: str) -> Callable[[str], str | float]:
    """Read one of some words, or a number."""

    def reading(text: str) -> str | float:
        try:
            return text if text in choices else a_number(text)
        except ValueError:
            raise ValueError(f"one of {', '.join(choices)}, or a number") from None

    return reading


def pair(text: str, expected: str) -> tuple[str, str]:
    """Split `name=value` at the last equals sign: a name may hold one."""
    name, sign, value = text.rpartition("=")
    if not sign or not name or not value:
        raise ValueError(expected)
    return name, value


def class_weights(given: list[str]) -> Any:
    """Read `balanced`, `none`, or weights such as `good=2 bad=1`."""
    if given in (["balanced"], ["none"]):
        return None if given == ["none"] else "balanced"
    expected = "balanced, none, or label=weight, several times"
    weights = [pair(text, expected) for text in given]
    try:
        return {label: float(weight) for label, weight in weights}
    except ValueError:
        raise ValueError(expected) from None


BINNINGS = ("supervised", "uniform", "quantile")


def binnings(given: list[str]) -> Any:
    """Read one word for all columns, or for some columns a word or edges: `age=25,60`."""
    if len(given) == 1 and given[0] in BINNINGS:
        return given[0]
    expected = f"one of {', '.join(BINNINGS)}, or column=word or column=25,60, several times"
    pairs = [pair(text, expected) for text in given]
    return {name: how if how in BINNINGS else [_edge(part, expected) for part in how.split(",")] for name, how in pairs}


def _edge(text: str, expected: str) -> Any:
    for read in (int, float, datetime.datetime.fromisoformat):
        try:
            return read(text.strip())
        except ValueError:
            continue
    raise ValueError(expected)


def names_in_database(given: list[str]) -> dict[str, str]:
    """Read `age=AGE_YEARS`, several times."""
    expected = "column=name, several times"
    try:
        return dict(pair(text, expected) for text in given)
    except ValueError:
        raise UsageError(f"--columns must be {expected}, got {_words(given)}") from None


def directions(given: list[str]) -> dict[str, Any]:
    """Read `age=increasing`, or `age:good=increasing` for one label, several times."""
    expected = "column=increasing or column=decreasing, or column:label=increasing"
    found: dict[str, Any] = {}
    for text in given:
        name, way = pair(text, expected)
        if way not in ("increasing", "decreasing"):
            raise ValueError(expected)
        column, colon, label = name.rpartition(":")
        column = column if colon and column else name
        ways = found.setdefault(column, {} if column != name else way)
        if isinstance(ways, dict) != (column != name):
            raise ValueError(f"for the column {column!r} one direction, or one for each label")
        if column != name:
            ways[label] = way
    return found


_SIZE, _LOOK, _RUN = "How many rules", "What rules look like", "How it runs"
_WISHES = "Constraints"
_PAPER = "With --as-in-paper only"

PARAMETERS: tuple[Option, ...] = (
    Option("max_rules", a_whole_number, "N", "The most rules.", 40, panel=_SIZE),
    Option("max_conditions", or_none(a_whole_number), "N|none", "The most conditions of a rule.", 5, panel=_SIZE),
    Option(
        "max_overlap", a_number, "SHARE", "Most of a rule's records that earlier rules may cover.", 0.01, panel=_SIZE
    ),
    Option("min_support", a_whole_number, "N", "The fewest records under a rule.", 3, panel=_SIZE),
    Option("max_fallbacks", a_whole_number, "N", "Maximum number of fallback rules.", 15, panel=_SIZE),
    Option("min_evidence", a_number, "X", "Evidence a rule needs; 2 for fewer rules, 0 for none.", 1.0, panel=_SIZE),
    Option(
        "class_weight",
        class_weights,
        "WORD|LABEL=W",
        "balanced, none, or label=weight (repeat).",
        "balanced",
        True,
        _LOOK,
    ),
    Option(
        "binning",
        binnings,
        "WORD|COL=HOW",
        "supervised, uniform, quantile; or age=25,60 (repeat).",
        "supervised",
        True,
        _LOOK,
    ),
    Option("negation", None, "", "Allow conditions such as: job not in {...}.", False, panel=_LOOK),
    Option(
        "conflict",
        one_of("smoothed", "precision", "f1", "first", "vote", "counts"),
        "WORD",
        "Who speaks where several rules cover a record: smoothed, precision, f1, first, vote or counts.",
        "smoothed",
        panel=_LOOK,
    ),
    Option(
        "default", str, "WORD|LABEL", "Label of all else: majority, least_covered or a label.", "majority", panel=_LOOK
    ),
    Option(
        "smoothing", or_none(a_number), "X|none", "Records that pull a rule to the table's shares.", 5.0, panel=_LOOK
    ),
    Option("given_rules", list, "RULE", "A rule that stands: 'IF age > 60 THEN ill' (repeat).", None, True, _WISHES),
    Option("forbidden", list, "COL", "A column that no rule may use (repeat).", None, True, _WISHES),
    Option("required", list, "COL", "A column that every rule must use (repeat).", None, True, _WISHES),
    Option(
        "monotone",
        directions,
        "COL[:LABEL]=WAY",
        "The way a column may go: age=increasing, or age:ill=increasing for a label (repeat).",
        None,
        True,
        _WISHES,
    ),
    Option("random_state", or_none(not_negative), "N|none", "Seed of the rules and the split.", 0, panel=_RUN),
    Option("n_jobs", or_none(a_whole_number), "N|none", "Threads; -1 for all.", None, panel=_RUN),
)
# Parameters of the paper's method alone, with the defaults that it has.
PAPER_PARAMETERS: tuple[Option, ...] = (
    Option("n_candidates", a_whole_number, "N", "Rules drawn for each class in each round.", 500, panel=_PAPER),
    Option(
        "measure",
        one_of("pairs", "triples"),
        "WORD",
        "The law by which rules are drawn: pairs or triples.",
        "pairs",
        panel=_PAPER,
    ),
    Option(
        "diversity",
        a_word_or_number("strict", "permissive", "none"),
        "WORD|X",
        "Weight of the distances between rules: strict, permissive, none or a number.",
        "strict",
        panel=_PAPER,
    ),
    Option("min_recall_gain", a_number, "SHARE", "Minimum share of its class that a rule adds.", 0.01, panel=_PAPER),
    Option("second_pass", None, "", "Choose again among all candidates drawn.", True, panel=_PAPER),
    Option("n_bins", a_whole_number, "N", "Bins per column.", 5, panel=_PAPER),
)
# What some commands take besides.
TEST_SIZE = Option("test_size", a_share_to_hold_out, "SHARE", "Records held out to measure on; 0 for none.", 0.25)
ROW = Option("row", rows, "N", "A record, counted from 1 (repeat).", "all", many=True)
SHOWN = (
    Option("n_samples", not_negative, "N", "Records shown of each rule; 0: none leaves this machine.", 10),
    Option("random_state", not_negative, "N", "Seed of the records shown.", 0),
)
# Parameters whose labels become those of the table once it is read.
OF_LABELS = ("class_weight", "default")
