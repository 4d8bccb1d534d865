"""What a kind of column or of labels is: source code that makes it from a list of Python values."""

import datetime
import functools
import zoneinfo
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import dateutil.tz
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

# What must happen to a table with such a column: it is fitted; it is refused with an error that names the column; or
# one of the two.
FITS, REFUSED, EITHER = "fits", "refused", "either"

NAMESPACE = {
    "dateutil": dateutil,
    **{"np": np, "pd": pd, "pl": pl, "pa": pa, "datetime": datetime},
    **{"Decimal": Decimal, "Fraction": Fraction, "ZoneInfo": zoneinfo.ZoneInfo},
}


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of column, of array or of labels.

    Parameters
    ----------
    name : the name in reports
    code : a Python expression of ``v``, the list of values (for arrays: the list of rows)
    pool : function of a Draw and a number k that returns at most k different values
    missing : the values that mean missing; empty if none can be missing
    fate : FITS, REFUSED or EITHER; a column without any value is always EITHER
    """

    name: str
    code: str
    pool: Callable[..., list[Any]]
    missing: tuple[Any, ...] = (None,)
    fate: str = FITS


@functools.cache
def _compiled(code):
    return compile(code, "<column>", "eval")


def evaluate(code, **names):
    """Return the value of a Python expression; the source that a report prints is the source that runs."""
    return eval(_compiled(code), {**NAMESPACE, **names})
