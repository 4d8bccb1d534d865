"""The options for the parameters of the classifiers: tables from which the command line is generated.

An option that is not given is not passed to the classifier, which then uses its own default. The defaults in these
tables are for the help; a test compares them with those of the classifiers. For a new parameter, add a row. ``list``
reads an option with unchanged texts that can be given several times.
"""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from diverse_rule_sets.cli._errors import UsageError
from diverse_rule_sets.cli._option_readers import one_of, or_by_key, or_none

NOT_GIVEN: Any = object()


@dataclass(frozen=True)
class Option:
    """One option: the name of its parameter, how its text is read, and its help.

    Parameters
    ----------
    name : the parameter; `max_rules` is `--max-rules` on the command line
    read : function from text to value; None for a flag, which has no text
    shape : the placeholder for the text in the help
    help : one line
    default : the value if the option is not given, as the help shows it
    many : the option can be given several times; ``read`` gets the list of texts
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
        """Return the option as a parameter of a function, in the form that typer reads."""
        text = f"{self.help.rstrip('.')} [dim](default {_default_text(self.default)})[/dim]"
        settings: dict[str, Any] = {"help": text, "rich_help_panel": self.panel, "show_default": False}
        if self.read is None:
            info = typer.Option(f"{self.flag}/--no-{self.flag[2:]}", **settings)
            return _keyword(self.name, Annotated[bool | None, info])
        info = typer.Option(self.flag, metavar=self.shape, **settings)
        return _keyword(self.name, Annotated[list[str] | None if self.many else str | None, info])  # type: ignore[valid-type]

    def value(self, given: Any) -> Any:
        """Return the value of the given text; ``NOT_GIVEN`` if the option is not given."""
        if given is None or given == []:
            return NOT_GIVEN
        try:
            return given if self.read is None else self.read(given)
        except ValueError as error:
            raise UsageError(f"{self.flag} must be {error}, got {_given_text(given)}") from None


def _keyword(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _default_text(default: Any) -> str:
    """Return a default as a user types it."""
    return "none" if default is None else str(default).lower() if isinstance(default, bool) else str(default)


def _given_text(given: Any) -> str:
    """Return the text or the texts that the user has given, quoted, for errors."""
    return ", ".join(map(repr, given)) if isinstance(given, list) else repr(given)


def values_of(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options that are given."""
    values = {option.name: option.value(given[option.name]) for option in options}
    return {name: value for name, value in values.items() if value is not NOT_GIVEN}


def with_options(**groups: Sequence[Option]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds groups of options to a command, which gets the values of each group as a dict."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function, eval_str=True)
        own = [p.replace(kind=p.KEYWORD_ONLY) for name, p in signature.parameters.items() if name not in groups]
        extra = [option.parameter() for options in groups.values() for option in options]

        def command(**given: Any) -> Any:
            values = {
                group: values_of(options, {option.name: given.pop(option.name) for option in options})
                for group, options in groups.items()
            }
            return function(**given, **values)

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = signature.replace(parameters=[*own, *extra])  # type: ignore[attr-defined]
        command.__annotations__ = {}
        return command

    return decorate


def read_integer(text: str) -> int:
    """Return an integer such as `12`."""
    try:
        return int(_check_digits(text))
    except ValueError:
        raise ValueError("a whole number") from None


def read_number(text: str) -> float:
    """Return a number such as `0.5`."""
    try:
        return float(_check_digits(text))
    except ValueError:
        raise ValueError("a number") from None


def _check_digits(text: str) -> str:
    """Return the text; raise an error for numbers of Python that are text in a table, such as `1_000`."""
    if not text.isascii() or "_" in text:
        raise ValueError
    return text


def read_non_negative_integer(text: str) -> int:
    """Return an integer that is at least 0, for a seed or a count."""
    number = read_integer(text)
    if number < 0:
        raise ValueError("a whole number that is not negative")
    return number


def read_rows(given: list[str]) -> list[int]:
    """Return a list of integers."""
    return [read_integer(text) for text in given]


def read_test_size(text: str) -> float:
    """Return a share such as `0.25`; it is limited so that records are left to learn from."""
    share = read_number(text)
    if not 0 <= share <= 0.9:
        raise ValueError("a number from 0 to 0.9")
    return share


def word_or_number(*choices: str) -> Callable[[str], str | float]:
    """Return a function that reads one of some words, or a number."""

    def parse(text: str) -> str | float:
        try:
            return text if text in choices else read_number(text)
        except ValueError:
            raise ValueError(f"one of {', '.join(choices)}, or a number") from None

    return parse


def split_pair(text: str, expected: str) -> tuple[str, str]:
    """Split `name=value` at the last equals sign: a name may contain one."""
    name, sign, value = text.rpartition("=")
    if not sign or not name or not value:
        raise ValueError(expected)
    return name, value


def read_class_weights(given: list[str]) -> Any:
    """Return the class weights of `balanced`, `none`, or texts such as `good=2` and `bad=1`."""
    if given in (["balanced"], ["none"]):
        return None if given == ["none"] else "balanced"
    expected = "balanced, none, or label=weight, several times"
    weights = [split_pair(text, expected) for text in given]
    try:
        return {label: read_number(weight) for label, weight in weights}
    except ValueError:
        raise ValueError(expected) from None


BINNINGS = ("supervised", "uniform", "quantile")


def read_binnings(given: list[str]) -> Any:
    """Return one word for all columns, or a word or edges for some columns, such as `age=25,60`."""
    if len(given) == 1 and given[0] in BINNINGS:
        return given[0]
    expected = f"one of {', '.join(BINNINGS)}, or column=word or column=25,60, several times"
    pairs = [split_pair(text, expected) for text in given]
    return {
        name: binning if binning in BINNINGS else [_read_edge(part, expected) for part in binning.split(",")]
        for name, binning in pairs
    }


def _read_edge(text: str, expected: str) -> Any:
    for read in (read_integer, read_number, datetime.datetime.fromisoformat):
        try:
            return read(text.strip())
        except ValueError:
            continue
    raise ValueError(expected)


def read_scorecards(given: list[str]) -> Any:
    """Return the word auto, the maximum number of scorecards, None for none, or scorecards as text."""
    if len(given) > 1 or ":" in given[0] or given == ["auto"]:
        return given if given != ["auto"] else "auto"
    try:
        return or_none(read_integer)(given[0])
    except ValueError:
        raise ValueError("auto, a number, none, or text such as 'points (for ill): 3 if age > 55'") from None


def read_database_names(given: list[str]) -> dict[str, str]:
    """Return the names of columns in the database, from texts such as `age=AGE_YEARS`."""
    expected = "column=name, several times"
    try:
        return dict(split_pair(text, expected) for text in given)
    except ValueError:
        raise UsageError(f"--columns must be {expected}, got {_given_text(given)}") from None


def directions(given: list[str]) -> dict[str, Any]:
    """Return the directions of texts such as `age=increasing`, or `age:good=increasing` for one label."""
    expected = "column=increasing or column=decreasing, or column:label=increasing"
    by_column: dict[str, Any] = {}
    for text in given:
        name, direction = split_pair(text, expected)
        if direction not in ("increasing", "decreasing"):
            raise ValueError(expected)
        column, colon, label = name.rpartition(":")
        column = column if colon and column else name
        by_label = by_column.setdefault(column, {} if column != name else direction)
        if isinstance(by_label, dict) != (column != name):
            raise ValueError(f"for the column {column!r} one direction, or one for each label")
        if column != name:
            by_label[label] = direction
    return by_column


_SIZE, _FORM, _CONSTRAINTS, _RUN = "Number and size of rules", "Conditions and labels", "Constraints", "Computation"
_PAPER = "With --as-in-paper only"

PARAMETERS: tuple[Option, ...] = (
    Option(
        "max_statements",
        or_none(read_integer),
        "N|none",
        "Maximum number of rules, fallback rules and the default label together.",
        None,
        panel=_SIZE,
    ),
    Option("max_rules", read_integer, "N", "Maximum number of rules.", 40, panel=_SIZE),
    Option("max_conditions", or_none(read_integer), "N|none", "Maximum number of conditions per rule.", 5, panel=_SIZE),
    Option(
        "max_overlap",
        or_by_key(read_number, ("agree", "contradict")),
        "SHARE",
        "Maximum overlap of a rule with earlier rules; agree=SHARE,contradict=SHARE by label.",
        0.01,
        panel=_SIZE,
    ),
    Option("min_support", read_integer, "N", "Minimum number of records per rule.", 3, panel=_SIZE),
    Option("max_fallbacks", read_integer, "N", "Maximum number of fallback rules.", 15, panel=_SIZE),
    Option("min_evidence", read_number, "X", "Minimum evidence; 2 for fewer rules, 0 for no test.", 0.25, panel=_SIZE),
    Option(
        "class_weight",
        read_class_weights,
        "WORD|LABEL=W",
        "Class weights: balanced, none, or label=weight (repeat).",
        "balanced",
        True,
        _FORM,
    ),
    Option(
        "binning",
        read_binnings,
        "WORD|COL=HOW",
        "Cut points: supervised, uniform, quantile; or age=25,60 (repeat).",
        "supervised",
        True,
        _FORM,
    ),
    Option("negation", None, "", 'Allow conditions such as: job != "clerk".', True, panel=_FORM),
    Option(
        "scorecards",
        read_scorecards,
        "auto|N|none|CARD",
        "Sums of points that rules test: learn 1 or N, none, or give 'points (for ill): 3 if age > 55' (repeat).",
        "auto",
        True,
        _FORM,
    ),
    Option("max_signs", read_integer, "N", "Maximum number of conditions that give points.", 20, panel=_FORM),
    Option(
        "conflict",
        one_of("smoothed", "precision", "f1", "first", "vote", "counts"),
        "WORD",
        "If rules overlap, decide by: smoothed, precision, f1, first, vote or counts.",
        "smoothed",
        panel=_FORM,
    ),
    Option("default", str, "WORD|LABEL", "Default label: majority, least_covered or a label.", "majority", panel=_FORM),
    Option(
        "smoothing",
        or_none(read_number),
        "X|none",
        "Smoothing of class shares, in number of records.",
        5.0,
        panel=_FORM,
    ),
    Option(
        "given_rules", list, "RULE", "A rule to include: 'IF age > 60 THEN ill' (repeat).", None, True, _CONSTRAINTS
    ),
    Option("forbidden", list, "COL", "A column that no rule may use (repeat).", None, True, _CONSTRAINTS),
    Option("required", list, "COL", "A column that every rule must use (repeat).", None, True, _CONSTRAINTS),
    Option(
        "monotone",
        directions,
        "COL[:LABEL]=DIR",
        "Direction of a column: age=increasing or age:ill=increasing (repeat).",
        None,
        True,
        _CONSTRAINTS,
    ),
    Option("max_seconds", or_none(read_number), "X|none", "Maximum time of a fit, in seconds.", None, panel=_RUN),
    Option(
        "random_state",
        or_none(read_non_negative_integer),
        "N|none",
        "Seed of the rules and of the held-out records.",
        0,
        panel=_RUN,
    ),
    Option("n_jobs", or_none(read_integer), "N|none", "Number of threads; -1 for all cores.", None, panel=_RUN),
)
# Parameters that only the method of the paper has, with its defaults.
PAPER_PARAMETERS: tuple[Option, ...] = (
    Option("n_candidates", read_integer, "N", "Rules drawn for each class in each round.", 500, panel=_PAPER),
    Option(
        "measure",
        one_of("pairs", "triples"),
        "WORD",
        "Distribution of the drawn rules: pairs or triples.",
        "pairs",
        panel=_PAPER,
    ),
    Option(
        "diversity",
        word_or_number("strict", "permissive", "none"),
        "WORD|X",
        "Weight of diversity: strict, permissive, none or a number.",
        "strict",
        panel=_PAPER,
    ),
    Option("min_recall_gain", read_number, "SHARE", "Minimum share of its class that a rule adds.", 0.01, panel=_PAPER),
    Option("second_pass", None, "", "Select again from all drawn candidates.", True, panel=_PAPER),
    Option("n_bins", read_integer, "N", "Number of bins per column.", 5, panel=_PAPER),
)
# Further options of some commands.
TEST_SIZE = Option("test_size", read_test_size, "SHARE", "Share of records held out; 0 for none.", 0.25)
ROW = Option("row", read_rows, "N", "Number of a record, from 1 (repeat).", "all", many=True)
REPORT_OPTIONS = (
    Option("n_samples", read_non_negative_integer, "N", "Records shown per rule; 0 to show no data of records.", 10),
    Option("random_state", read_non_negative_integer, "N", "Seed of the choice of these records.", 0),
)
# Parameters with labels, which are converted to the type of the labels in the table.
LABEL_PARAMETERS = ("class_weight", "default")
# Parameters with names of columns.
COLUMN_PARAMETERS = ("forbidden", "required", "monotone", "binning", "missing_values")
