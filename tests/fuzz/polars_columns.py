"""Kinds of columns of polars tables."""

import datetime

import polars as pl

from .kinds import EITHER, FITS, REFUSED, Kind
from .values import ENDS_OF_TIME, UTC, booleans, both, days, decimals, listed, moments, raw_bytes, reals, texts, whole

_SPANS = listed(datetime.timedelta(0), datetime.timedelta(days=1), datetime.timedelta(seconds=-5))
_TIMES = listed(datetime.time(0), datetime.time(12, 30), datetime.time(23, 59, 59))
_INFINITE = both(reals(), listed(float("inf")))
_CHUNKS = "pl.concat([pl.Series(v[:1], dtype=pl.String), pl.Series(v[1:], dtype=pl.String)], rechunk=False)"
_WORDS = ("a", "b", "c", "", " ", "1", "é", "'", '"')

# Type, pool, fate.
_TYPES = [
    *((f"pl.Int{b}", whole(-(2 ** (b - 1)), 2 ** (b - 1) - 1), FITS) for b in (8, 16, 32, 64, 128)),
    *((f"pl.UInt{b}", whole(0, 2**b - 1), FITS) for b in (8, 16, 32, 64, 128) if hasattr(pl, f"UInt{b}")),
    *((("pl.Float16", reals(6e4), FITS),) if hasattr(pl, "Float16") else ()),
    ("pl.Float32", reals(3e38), FITS),
    ("pl.Float64", reals(), FITS),
    ("pl.Boolean", booleans, FITS),
    ("pl.String", texts(), FITS),
    ("pl.Categorical", texts(), FITS),
    (f"pl.Enum({list(_WORDS)})", listed(*_WORDS), FITS),
    ("pl.Date", days, FITS),
    *((f"pl.Datetime('{unit}')", moments(extremes=ENDS_OF_TIME), FITS) for unit in ("ms", "us")),
    ("pl.Datetime('ns')", moments(1700, 2250), FITS),
    *((f"pl.Datetime('{unit}', 'UTC')", moments(1700, 2250, UTC), FITS) for unit in ("ms", "us", "ns")),
    ("pl.Datetime('us', 'Europe/Berlin')", moments(1900, 2200, UTC), FITS),
    ("pl.Decimal(30, 3)", decimals, FITS),
    ("pl.Null", listed(None), FITS),
    ("pl.Duration('us')", _SPANS, REFUSED),
    ("pl.Time", _TIMES, REFUSED),
    ("pl.Binary", raw_bytes, EITHER),
    ("pl.List(pl.Int8)", listed([1], [1, 2], []), REFUSED),
    ("pl.Array(pl.Int8, 2)", listed([1, 2], [3, 4]), REFUSED),
    ("pl.Struct({'a': pl.Int8})", listed({"a": 1}, {"a": 2}), REFUSED),
    ("pl.Object", both(texts(), whole(-3, 3)), EITHER),
    ("pl.Object", listed({1}, {2}), REFUSED),
]

POLARS = [
    Kind(f"polars {code.split('([')[0]}", f"pl.Series(v, dtype={code})", pool, (None,), fate)
    for code, pool, fate in _TYPES
]
POLARS += [
    Kind("polars infinite Float64", "pl.Series(v, dtype=pl.Float64)", _INFINITE, (None,), EITHER),
    Kind("polars Float64 with NaN and null", "pl.Series(v, dtype=pl.Float64)", reals(), (None, float("nan"))),
    Kind("polars in two chunks", _CHUNKS, texts()),
]
