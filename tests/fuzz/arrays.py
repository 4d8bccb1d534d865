"""Kinds of numpy arrays and nested lists: one expression for the whole table."""

import numpy as np

from .kinds import EITHER, FITS, REFUSED, Kind
from .pandas_columns import NAN
from .values import ENDS_OF_TIME, booleans, both, converted, days, decimals, listed, moments, reals, texts, whole

_MASKED = "np.ma.array([[{0!r} if c is None else c for c in r] for r in v], mask=[[c is None for c in r] for r in v])"
_MASKED_DATES = "np.ma.array(np.array(v, 'M8[us]'), mask=[[c is None for c in r] for r in v])"
_NAN_TEXTS = "np.array(v, np.dtypes.StringDType(na_object=np.nan))"
_STRUCTURED = "np.array([tuple(r) for r in v], [(f'a{j}', 'f8') for j in range(len(v[0]))])"
_MIXED = both(texts(), whole(-3, 3), reals())

ARRAYS = [
    Kind("numpy bool", "np.array(v, bool)", booleans, ()),
    Kind("numpy int8", "np.array(v, 'i1')", whole(-128, 127), ()),
    Kind("numpy int32", "np.array(v, 'i4')", whole(-(2**31), 2**31 - 1), ()),
    Kind("numpy int64", "np.array(v, 'i8')", whole(-(2**63), 2**63 - 1), ()),
    *(Kind(f"numpy uint{b}", f"np.array(v, 'u{b // 8}')", whole(0, 2**b - 1), ()) for b in (16, 64)),
    Kind("numpy float16", "np.array(v, 'f2')", reals(6e4), (NAN,)),
    Kind("numpy float32", "np.array(v, 'f4')", reals(3e38), (NAN,)),
    Kind("numpy float64", "np.array(v, 'f8')", reals(), (NAN,)),
    Kind("numpy longdouble", "np.array(v, np.longdouble)", reals(), (NAN,)),
    Kind("numpy big-endian float64", "np.array(v, '>f8')", reals(), (NAN,)),
    Kind("numpy big-endian int32", "np.array(v, '>i4')", whole(-9, 9), ()),
    Kind("numpy infinite float64", "np.array(v, 'f8')", both(reals(), listed(float("inf"))), (NAN,), EITHER),
    Kind("numpy complex", "np.array(v, complex)", listed(1j, 2 + 1j, 0j), (), REFUSED),
    Kind("numpy datetime64[D]", "np.array(v, 'M8[us]').astype('M8[D]')", moments(extremes=ENDS_OF_TIME)),
    Kind("numpy datetime64[s]", "np.array(v, 'M8[us]').astype('M8[s]')", moments(extremes=ENDS_OF_TIME)),
    Kind("numpy datetime64[us]", "np.array(v, 'M8[us]')", moments(extremes=ENDS_OF_TIME)),
    Kind("numpy datetime64[ns]", "np.array(v, 'M8[ns]')", moments(1700, 2250)),
    Kind("numpy datetime64[Y] beyond 9999", "np.array(v, 'M8[Y]')", listed("20000", "-5000", "2020"), (None,), EITHER),
    Kind("numpy timedelta64", "np.array(v, 'm8[s]')", whole(-9, 9), (), REFUSED),
    Kind("numpy bytes", "np.array(v, 'S')", listed(b"a", b"b", b"", b"abc"), (), EITHER),
    Kind("numpy str", "np.array(v, 'U')", texts(nul=False), ()),
    Kind("numpy StringDType", "np.array(v, np.dtypes.StringDType())", texts(nul=False), ()),
    Kind("numpy StringDType with None", "np.array(v, np.dtypes.StringDType(na_object=None))", texts(nul=False)),
    Kind("numpy StringDType with nan", _NAN_TEXTS, texts(nul=False), (NAN,)),
    Kind("numpy void", "np.array(v, 'V3')", listed(b"abc", b"def"), (), REFUSED),
    Kind("numpy structured", _STRUCTURED, whole(0, 3), (), REFUSED),
    Kind("numpy object: text", "np.array(v, object)", texts(), (None, NAN)),
    Kind("numpy object: text with surrogates", "np.array(v, object)", texts(surrogates=True), (None, NAN)),
    Kind("numpy object: numbers", "np.array(v, object)", both(whole(-3, 3), reals()), (None, NAN)),
    Kind("numpy object: int from 2**63", "np.array(v, object)", whole(2**63, 2**64 + 3)),
    Kind("numpy object: bool", "np.array(v, object)", booleans),
    Kind("numpy object: bool and int", "np.array(v, object)", listed(True, 1, 0, False, 2)),
    Kind("numpy object: date", "np.array(v, object)", days),
    Kind("numpy object: datetime and text", "np.array(v, object)", both(moments(), texts())),
    Kind("numpy object: np.datetime64", "np.array(v, object)", converted(moments(), np.datetime64)),
    Kind("numpy object: Decimal", "np.array(v, object)", decimals, (None,)),
    Kind("numpy object: mixed", "np.array(v, object)", _MIXED, (None, NAN)),
    Kind("numpy object: dict", "np.array(v, object)", listed({"a": 1}, {}), (), REFUSED),
    Kind("numpy object: complex and text", "np.array(v, object)", listed(1j, "a"), (), EITHER),
    Kind("numpy masked int", _MASKED.format(0), whole(-9, 9)),
    Kind("numpy masked float", _MASKED.format(0.0), reals()),
    Kind("numpy masked bool", _MASKED.format(False), booleans),
    Kind("numpy masked str", _MASKED.format(""), texts(nul=False)),
    Kind("numpy masked datetime64", _MASKED_DATES, moments()),
]  # fmt: skip

# Nested lists have a kind for each column; the expression is that of the whole list.
LISTS = [
    Kind(f"list: {name}", "v", pool, missing, fate)
    for name, pool, missing, fate in (
        ("int", whole(-9, 9), (None, NAN), FITS),
        ("large int", whole(2**53, 2**65), (None,), FITS),
        ("float", reals(), (None, NAN), FITS),
        ("text", texts(), (None, NAN), FITS),
        ("bool", booleans, (None,), FITS),
        ("date", days, (None,), FITS),
        ("datetime", moments(), (None,), FITS),
        ("Decimal", decimals, (None,), FITS),
        ("int and text", both(whole(-3, 3), texts()), (None,), FITS),
        ("bool and int", listed(True, 1, 0, False, 2), (None,), FITS),
        ("bytes", listed(b"a", b"b", b""), (), EITHER),
        ("complex", listed(1j, 2j), (), REFUSED),
        ("list", listed([1, 2], [3, 4]), (), REFUSED),
        ("dict", listed({"a": 1}, {}), (), REFUSED),
    )
]
