"""Failures, good errors and known warnings: what the checks allow."""

import re
import traceback
import warnings
from contextlib import contextmanager

import polars as pl

from diverse_rule_sets.model._grammar import UnknownOrderError

from .kinds import FITS
from .names import as_python, has_repetition, is_doubtful
from .parameters import MAY_BE_REFUSED, WRONG_VALUES

PACKAGE = "diverse_rule_sets"
# What a check may raise: errors, and panics of polars, which are not subclasses of Exception.
ERRORS = (Exception, pl.exceptions.PanicException)

# The texts of warnings that are allowed.
KNOWN_WARNINGS = tuple(
    re.compile(text, re.DOTALL)
    for text in (
        r"required names .* on which no condition separates records; no rule can be learnt",
        r"no rule was found within max_conditions=",
        r"no condition reaches a support of .* records",
        r"column .* holds whole numbers from 2\*\*53 on, which are compared as floating point",
        r"column .* has .* different values; rules use only the .* most frequent",
        r"column .* looks like an identifier .*; (it is left out of the rules|rules use only whether it is missing)",
        r"column .* holds numbers as (text|categories) \(.*different values",
        r"y has fewer than (min_support=)?\d+ records of some labels, so ",
        r"given_rules has the rule .*: (no record (has|meets)|each of its conditions holds for some records)",
        r"given_rules has the rule .*: .* holds for no record",
        r"scorecards\[\d\] has the sign .*: (no record (has|meets)|.* holds for every record)",
        r"given_rules has the rule .*, whose scorecard .* has the sign .*: (no record |.* holds for every record)",
        r"scorecards\[\d\] has .* more signs that hold for no or for every record",
        r"scorecards\[\d\] gives the same points to every record",
        r"scorecards\[\d\] is used by no rule: max_rules=",
        # of exports, about a limit of the other program
        r"PMML compares the column .* as a double, which is rounded",
        r"^\w+ may answer differently for the column ",
        # of scikit-learn
        r"The number of unique classes is greater than 50% of the number of samples",
        r"A column-vector y was passed when a 1d array was expected",
    )
)


class CheckError(AssertionError):
    """A promise that does not hold.

    Parameters
    ----------
    message : what was found and what was expected
    code : lines of Python that show it, after the lines that fit the classifier
    """

    def __init__(self, message, code=""):
        super().__init__(message)
        self.code = code


class CaseError(Exception):
    """What went wrong in a case: the name of the check, the error, and lines of Python that show it.

    ``key`` groups failures: the check, the type of the error, and the function in which it was raised.
    """

    def __init__(self, check, error, code=""):
        super().__init__(check, error, code)
        self.check, self.error = check, error
        self.code = getattr(error, "code", "") or code
        self.what = "" if isinstance(error, CheckError) else type(error).__name__
        self.place = location(error) if self.what else ""
        self.trace = "".join(traceback.format_exception(error)[-6:])

    @property
    def key(self):
        text = "" if self.what else re.sub(r"(['\"]| \d|: ).*", "", str(self.error), flags=re.DOTALL)[:90]
        return self.check, self.what, self.place, text

    def __str__(self):
        message = str(self.error).strip().replace("\n", "\\n")
        return f"{self.check}: {f'{self.what} in {self.place}: ' if self.what else ''}{message[:300]}"


def location(error):
    """Return the innermost function of the package in the traceback of an error; else of any file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"/{PACKAGE}/" in frame.filename] or frames[-1:]
    if not own:
        return "?"
    file = own[-1].filename.rpartition(f"/{PACKAGE}/")[2] or own[-1].filename
    return f"{file}:{own[-1].name}"


def is_one_line(error):
    """Return whether an error is a ValueError or TypeError of the package or of Python, with one line of text."""
    text = str(error)
    return (
        type(error) in (ValueError, TypeError, UnknownOrderError) and bool(text.strip()) and len(text.splitlines()) == 1
    )


def check_refusal(case, error):
    """Raise a CheckError unless the error of a fit is a good one.

    A good error is a ValueError or TypeError itself (not a subclass) of one line. It names a part of the case that may
    be refused: a column of an unsupported kind or with an unusual name (as repr), y or a label, a parameter.
    """
    if not is_one_line(error):
        lines = len(str(error).splitlines())
        raise CheckError(f"a bad error, {type(error).__name__} in {location(error)}, {lines} lines: {error!r:.300}")
    text, parts = str(error), _blamable(case)
    if any(re.search(part, text) for part in parts):
        return
    for column in case.columns:
        if column.fate == FITS and re.search(_named(column.name), text):
            raise CheckError(f"refused {column.kind.name}, which is supported: {text[:300]}")
    if not parts:
        raise CheckError(f"refused, although every part of it is supported: {text[:300]}")
    raise CheckError(f"the error names no part that may be refused: {text[:300]} (none of {', '.join(parts)[:150]})")


def _blamable(case):
    """Return patterns of what an error about a case may name."""
    parts = []
    repeated = has_repetition(case.names)
    for column in case.columns:
        if repeated or column.fate != FITS or is_doubtful(column.name):
            parts.append(_named(column.name))
            if repeated or case.library in ("numpy", "lists"):
                parts.append(r"\bX\b")
    if case.label_kind.fate != FITS:
        parts.append(r"\by\b|\b[Ll]abels?\b")
    parts += [
        rf"\b{name}\b" for name, code in case.parameters.items() if name in MAY_BE_REFUSED or code in WRONG_VALUES
    ]
    return list(dict.fromkeys(parts))


def _named(name):
    """Return the pattern of a column in an error: its repr, not as a part of a longer word or number.

    numpy scalars may be written as Python values.
    """
    spellings = {repr(name), repr(as_python(name))}
    return rf"(?<![\w.'\"-])({'|'.join(map(re.escape, sorted(spellings)))})(?![\w.'\"-])"


def names_column(error, name):
    return re.search(_named(name), str(error)) is not None


def refusal(function):
    """Call a function that may refuse with a ValueError or TypeError of one line; return its result and the error."""
    try:
        return function(), None
    except (ValueError, TypeError) as error:
        if not is_one_line(error):
            raise
        return None, error


@contextmanager
def watched_warnings():
    """Record all warnings; yields a function that raises a CheckError for an unknown one and forgets the others."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")

        def check():
            found, seen[:] = list(seen), []
            for warning in found:
                text, own = str(warning.message), "/fuzz/" in warning.filename
                known = issubclass(warning.category, UserWarning) and any(k.search(text) for k in KNOWN_WARNINGS)
                if not known and not (own and not issubclass(warning.category, UserWarning)):
                    place = warning.filename.rpartition(f"/{PACKAGE}/")[2]
                    raise CheckError(f"{warning.category.__name__} in {place}: {text[:200]}")

        check.take = lambda: [seen.pop() for _ in range(len(seen))]
        yield check
