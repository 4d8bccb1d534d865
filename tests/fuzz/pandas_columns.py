"""Kinds of columns of pandas tables."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

from .arrow_columns import ENCODED, TYPES
from .kinds import EITHER, FITS, REFUSED, Kind
from .values import (
    BERLIN,
    ENDS_OF_TIME,
    INDIA,
    UTC,
    booleans,
    both,
    converted,
    days,
    decimals,
    fractions,
    listed,
    moments,
    raw_bytes,
    reals,
    texts,
    whole,
)

NAN = float("nan")
ANY_MISSING = (None, NAN, pd.NA, pd.NaT)


def _integers():
    for bits in (8, 16, 32, 64):
        for prefix, low, high in (("int", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1), ("uint", 0, 2**bits - 1)):
            pool, nullable = whole(low, high), f"{'UInt' if prefix == 'uint' else 'Int'}{bits}"
            yield Kind(f"pandas {prefix}{bits}", f"pd.Series(v, dtype='{prefix}{bits}')", pool, ())
            yield Kind(f"pandas {nullable}", f"pd.Series(v, dtype='{nullable}')", pool, (None, pd.NA))


_FLOATS = [
    Kind("pandas float16", "pd.Series(v, dtype='float16')", reals(6e4), (NAN,)),
    Kind("pandas float32", "pd.Series(v, dtype='float32')", reals(3e38), (NAN,)),
    Kind("pandas float64", "pd.Series(v, dtype='float64')", reals(), (NAN,)),
    Kind("pandas longdouble", "pd.Series(np.array(v, np.longdouble))", reals(), (NAN,)),
    Kind(
        "pandas longdouble beyond float64",
        "pd.Series(np.array(v, np.longdouble) * np.longdouble(10) ** 4000)",
        reals(),
        (NAN,),
        EITHER,
    ),
    Kind(
        "pandas infinite float64",
        "pd.Series(v, dtype='float64')",
        both(reals(), listed(float("inf"), float("-inf"))),
        (NAN,),
        EITHER,
    ),
    Kind("pandas big-endian float64", "pd.Series(np.array(v, '>f8'))", reals(), (NAN,)),
    Kind("pandas big-endian int32", "pd.Series(np.array(v, '>i4'))", whole(-(2**31), 2**31 - 1), ()),
    Kind("pandas Float32", "pd.Series(v, dtype='Float32')", reals(3e38), (None, pd.NA)),
    Kind("pandas Float64", "pd.Series(v, dtype='Float64')", reals(), (None, pd.NA)),
    Kind("pandas bool", "pd.Series(v, dtype=bool)", booleans, ()),
    Kind("pandas boolean", "pd.Series(v, dtype='boolean')", booleans, (None, pd.NA)),
    Kind("pandas complex", "pd.Series(v, dtype=complex)", listed(1j, 2 + 1j, 0j), (), REFUSED),
]

# Columns of Python objects: name, pool, fate.
_OBJECTS = [
    ("text", texts(), FITS),
    ("text with surrogates", texts(surrogates=True), FITS),
    ("np.str_", converted(texts(), np.str_), FITS),
    ("bool", booleans, FITS),
    ("np.bool_", listed(np.False_, np.True_), FITS),
    ("int and float", both(whole(-9, 9), reals()), FITS),
    ("int from 2**53", whole(2**53 - 2, 2**53 + 5), FITS),
    ("int from 2**63", whole(2**63 - 2, 2**64 + 5), FITS),
    ("int beyond float64", listed(10**400, 1, 2), EITHER),
    ("infinite float", listed(float("inf"), 1.0, 2.0, float("-inf")), EITHER),
    ("bool and int", listed(True, 1, 0, False, 2), FITS),
    ("bool and float", listed(True, 1.5, 0.0, False), FITS),
    ("bool and text", listed(True, "True", False, "a"), FITS),
    ("Decimal", decimals, FITS),
    ("Decimal and NaN", both(decimals, listed(Decimal("NaN"))), FITS),
    ("Decimal and sNaN", both(decimals, listed(Decimal("sNaN"))), EITHER),
    ("Decimal infinite", listed(Decimal("Infinity"), Decimal(1)), EITHER),
    ("Fraction", fractions, FITS),
    ("Decimal and text", both(decimals, texts()), FITS),
    ("Fraction and text", both(fractions, texts()), FITS),
    ("np scalars", listed(np.int8(1), np.float32(0.1), np.uint64(2**64 - 1), np.float16(2), np.int64(1)), FITS),
    ("np scalars and text", listed(np.int8(1), np.float32(0.1), np.str_("a"), np.bool_(True), "a"), FITS),
    ("bytes", raw_bytes, EITHER),
    ("bytes and text", listed(b"a", "a", b"b", "b"), EITHER),
    ("date", days, FITS),
    ("datetime", moments(extremes=ENDS_OF_TIME), FITS),
    ("datetime in UTC", moments(zone=UTC), FITS),
    ("datetime in three zones", both(moments(zone=UTC), moments(zone=BERLIN), moments(zone=INDIA)), FITS),
    ("datetime with and without zone", both(moments(zone=UTC), moments()), EITHER),
    ("date and datetime", both(days, moments()), FITS),
    ("date and zoned datetime", both(days, moments(zone=UTC)), EITHER),
    ("Timestamp", converted(moments(), pd.Timestamp), FITS),
    ("Timestamp in ns", converted(moments(), lambda d: pd.Timestamp(d).as_unit("ns") + pd.Timedelta(7, "ns")), FITS),
    ("Timestamp with zone", converted(moments(zone=BERLIN), pd.Timestamp), FITS),
    ("np.datetime64", converted(moments(), np.datetime64), FITS),
    (
        "np.datetime64[D] and NaT",
        listed(np.datetime64("2020-01-01"), np.datetime64("NaT"), np.datetime64("2021")),
        FITS,
    ),
    ("date and text", both(days, texts()), FITS),
    ("datetime and text", both(moments(), texts()), FITS),
    ("zoned datetime and text", both(moments(zone=BERLIN), texts()), EITHER),
    ("Timestamp and text", both(converted(moments(), pd.Timestamp), texts()), FITS),
    ("np.datetime64 and text", both(converted(moments(), np.datetime64), texts()), FITS),
    ("datetime and number", both(moments(), reals()), FITS),
    ("int and text", both(whole(-5, 5), texts()), FITS),
    ("large int and text", both(whole(2**53, 2**53 + 3), texts()), FITS),
    ("huge int and text", both(whole(2**63, 2**65), texts()), FITS),
    ("float and text", both(reals(), texts()), FITS),
    ("infinity and text", listed(float("inf"), "inf", "a"), EITHER),
    ("list", listed([1], [2, 3], []), REFUSED),
    ("dict", listed({"a": 1}, {}), REFUSED),
    ("set", listed({1}, {2}), REFUSED),
    ("tuple", listed((1,), (2, 3)), REFUSED),
    ("complex", listed(1j, 2j), REFUSED),
    ("object", listed(object()), REFUSED),
    ("timedelta", listed(datetime.timedelta(1), datetime.timedelta(2)), REFUSED),
    ("time", listed(datetime.time(1), datetime.time(2)), REFUSED),
    ("Timedelta", listed(pd.Timedelta(1, "D"), pd.Timedelta(2, "s")), REFUSED),
    ("Period", listed(pd.Period("2020"), pd.Period("2021")), REFUSED),
    ("Interval", listed(pd.Interval(0, 1), pd.Interval(1, 2)), REFUSED),
    ("list and text", listed([1], "a", "b"), EITHER),
    ("complex and text", listed(1j, "a", "b"), EITHER),
    ("time and text", listed(datetime.time(1), "a", "b"), EITHER),
    ("array", listed(np.array([1, 2])), EITHER),
    ("Decimal, Fraction and int", listed(Decimal(1), Fraction(1), 1, 1.0, Fraction(1, 2)), FITS),
]

_TEXTS = [
    Kind("pandas string[python]", "pd.Series(v, dtype='string[python]')", texts(), (None, pd.NA)),
    Kind("pandas string[pyarrow]", "pd.Series(v, dtype='string[pyarrow]')", texts(), (None, pd.NA)),
    Kind("pandas str", "pd.Series(v, dtype='str')", texts(), (None, NAN)),
]

_DATES = [
    *(
        Kind(f"pandas datetime64[{unit}]", f"pd.Series(np.array(v, 'M8[us]').astype('M8[{unit}]'))", pool)
        for unit, pool in (
            *(("s", moments(extremes=ENDS_OF_TIME)), ("ms", moments(extremes=ENDS_OF_TIME))),
            *(("us", moments(extremes=ENDS_OF_TIME)), ("ns", moments(1700, 2250))),
        )
    ),
    Kind(
        "pandas datetime64[s] beyond year 9999",
        "pd.Series(np.array(v, 'M8[s]'))",
        listed("20000-01-01", "-5000-01-01", "2020-01-01", "9999-12-31T23:59:59"),
        (None,),
        EITHER,
    ),
    *(
        Kind(
            f"pandas datetime64[{unit}] in {zone}",
            f"pd.Series(np.array(v, 'M8[{unit}]')).dt.tz_localize('UTC').dt.tz_convert({zone})",
            moments(1800, 2200),
        )
        for unit in ("ms", "us", "ns")
        for zone in (
            "'UTC'",
            "'Europe/Berlin'",
            "'+05:30'",
            "ZoneInfo('Asia/Tokyo')",
            "dateutil.tz.gettz('Europe/Paris')",
        )
    ),
    Kind("pandas timedelta64", "pd.Series(np.array(v, 'm8[s]'))", whole(-9, 9), (None,), REFUSED),
    Kind(
        "pandas Period", "pd.Series(pd.PeriodIndex(v, freq='D'))", listed("2020-01-01", "2021-01-01"), (None,), REFUSED
    ),
    Kind("pandas Interval", "pd.Series(pd.arrays.IntervalArray.from_tuples(v))", listed((0, 1), (1, 2)), (), REFUSED),
]

_PLAIN = "pd.Series(pd.Categorical(v))"
_ORDERED = "pd.Series(pd.Categorical(v, list(dict.fromkeys(x for x in v if not pd.isna(x))), ordered=True))"
_CATEGORIES = [
    ("text", texts(), FITS, "'unused'"),
    ("int", whole(-9, 9), FITS, "99"),
    ("int from 2**53", whole(2**53, 2**53 + 5), FITS, "99"),
    ("float", reals(), FITS, "99.5"),
    ("bool", booleans, FITS, ""),
    ("date", days, FITS, "datetime.date(1999, 1, 1)"),
    ("Timestamp", converted(moments(1800, 2200), pd.Timestamp), FITS, "pd.Timestamp('1999-01-01')"),
    (
        "zoned Timestamp",
        converted(moments(1800, 2200, UTC), pd.Timestamp),
        FITS,
        "pd.Timestamp('1999-01-01', tz='UTC')",
    ),
    ("int and text", both(whole(-3, 3), listed("a", "b", "")), FITS, "'unused'"),
    ("bool and int", listed(True, 2, 3), FITS, ""),
    ("bool and text", listed(True, "a", "True"), FITS, ""),
    ("date and text", both(days, texts()), FITS, ""),
    ("Decimal", decimals, FITS, ""),
    ("bytes", raw_bytes, EITHER, ""),
    ("timedelta", listed(pd.Timedelta(1, "D"), pd.Timedelta(2, "D")), REFUSED, ""),
    ("tuple", listed((1, 2), (3, 4)), EITHER, ""),
    ("infinity", listed(float("inf"), 1.0), EITHER, ""),
]


def _categories():
    for name, pool, fate, unused in _CATEGORIES:
        yield Kind(f"pandas category of {name}", _PLAIN, pool, (None, NAN), fate)
        yield Kind(f"pandas ordered category of {name}", _ORDERED, pool, (None,), fate)
        if unused:
            code = f"{_PLAIN}.cat.add_categories([{unused}])"
            yield Kind(f"pandas category of {name} with one unused", code, pool, (None,), fate)
    yield Kind("pandas category of Interval", "pd.Series(pd.cut(v, 3))", reals(1e6), (), EITHER)


_SPARSE = [
    Kind("pandas Sparse[float]", "pd.Series(pd.arrays.SparseArray(v, dtype='Sparse[float]'))", reals(), (NAN,)),
    Kind("pandas Sparse[int]", "pd.Series(pd.arrays.SparseArray(v, fill_value=0))", whole(0, 3), ()),
    Kind("pandas Sparse[bool]", "pd.Series(pd.arrays.SparseArray(v, fill_value=False))", booleans, (), EITHER),
]


def _objects():
    for name, pool, fate in _OBJECTS:
        yield Kind(f"pandas object: {name}", "pd.Series(v, dtype=object)", pool, ANY_MISSING, fate)


def _arrow():
    for code, pool, fate in TYPES:
        yield Kind(f"pandas ArrowDtype({code})", f"pd.Series(v, dtype=pd.ArrowDtype({code}))", pool, (None,), fate)
    for name, code, pool, fate in ENCODED:
        yield Kind(f"pandas Arrow {name}", f"pd.Series(pd.arrays.ArrowExtensionArray({code}))", pool, (None,), fate)


PANDAS = [*_integers(), *_FLOATS, *_objects(), *_TEXTS, *_DATES, *_categories(), *_SPARSE, *_arrow()]
