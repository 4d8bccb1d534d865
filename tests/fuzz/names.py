"""Names of columns: plain, hostile, and of other types than strings."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd

from .values import HOSTILE, SURROGATES, UTC, is_missing, text

# Names of other types than text; pandas allows any hashable value.
OTHER_TYPES = (
    *(0, 1, -1, 5, 2**64, 1.5, -0.5, float("inf"), True, False, None, float("nan"), pd.NaT, pd.NA, b"a", b""),
    *(
        (),
        ("a", float("nan")),
        ("a", np.datetime64("2020-01-01")),
        ("a",),
        ("a", "b"),
        ("a", 1),
        (1, 2),
        (("a",), 2),
        frozenset({"a"}),
        Decimal("1.5"),
        Decimal("NaN"),
    ),
    *(pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC"), datetime.datetime(2020, 1, 1, 12)),
    *(datetime.date(2020, 1, 31), datetime.datetime(2020, 1, 1, tzinfo=UTC), datetime.timedelta(days=1)),
    *(
        pd.Timedelta("1D"),
        np.int64(7),
        np.str_("np"),
        np.float32(0.5),
        np.datetime64("2020-01-01"),
        1j,
        pd.Period("2020"),
    ),
)


def names(draw, n, library):
    """Return n names of columns for a table of a library; they may repeat where the library allows it."""
    if library in ("numpy", "lists"):
        return [f"x{j}" for j in range(n)]
    style = draw.below(10)
    if style < 4:
        return [chr(97 + j) if j < 26 else f"c{j}" for j in range(n)]
    if library == "pandas" and draw.chance(0.05):  # they become a MultiIndex
        return [(draw.pick(("a", "b", "")), f"{j}") for j in range(n)]
    chosen = [_name(draw, library, style) for _ in range(n)]
    may_repeat = library in ("pandas", "arrow") and draw.chance(0.1)
    return chosen if may_repeat else _different(chosen)


def _name(draw, library, style):
    if library == "pandas" and style >= 8:
        return draw.pick(OTHER_TYPES) if draw.chance(0.7) else text(draw)
    if library == "pandas" and draw.chance(0.03):
        return draw.pick(SURROGATES)
    if style == 7:
        return draw.pick(("a", "A", "á", "a ", " a", "x0", "x1", "X0"))
    if style == 6 and library == "polars":  # patterns of columns in polars
        return draw.pick(("^a.*$", "*", "^.*$", "^b$", "^$", "a", "b", "^a", "a$"))
    if draw.chance(0.02):
        return "long " * 2000
    return draw.pick(HOSTILE) if draw.chance(0.7) else text(draw)


def _different(chosen):
    """Return the names, with a number added to those that equal an earlier one."""
    found = []
    for name in chosen:
        k = 2
        while any(is_same(name, other) for other in found):
            name, k = f"{name} {k}", k + 1
        found.append(name)
    return found


def is_same(a, b):
    """Return whether two names are the same key of a dict."""
    return b in {a}


def as_python(name):
    """Return the name as a Python value: of a numpy scalar, and a date as the start of the day."""
    name = name.item() if isinstance(name, np.generic) else name
    if isinstance(name, pd.Timestamp) and name is not pd.NaT:
        return name.to_pydatetime()
    is_day = isinstance(name, datetime.date) and not isinstance(name, datetime.datetime)
    return datetime.datetime(name.year, name.month, name.day) if is_day else name


def is_doubtful(name):
    """Return whether a name may be refused: one that means missing, such as NaN, or a date of numpy."""
    if isinstance(name, tuple):
        return any(map(is_doubtful, name))
    return is_missing(name) or isinstance(name, np.datetime64) or (isinstance(name, Decimal) and name.is_nan())


def has_repetition(chosen):
    return any(is_same(a, b) for j, a in enumerate(chosen) for b in chosen[:j])


def is_plain(name):
    """Return whether rules with this column must be read back from text: strings, finite numbers, tuples of them."""
    if isinstance(name, tuple):
        return all(is_plain(part) for part in name)
    if isinstance(name, float):
        return abs(name) < float("inf")
    return isinstance(name, str | int) and not isinstance(name, np.generic)
