"""Kinds of columns of Arrow tables, which pandas has too."""

import datetime
from decimal import Decimal

from .kinds import EITHER, FITS, REFUSED, Kind
from .values import UTC, booleans, both, converted, days, decimals, listed, moments, raw_bytes, reals, texts, whole

_TIMES = listed(datetime.time(0), datetime.time(12, 30), datetime.time(23, 59, 59))
_SPANS = listed(datetime.timedelta(0), datetime.timedelta(days=1), datetime.timedelta(seconds=-5))
_ROUND = converted(decimals, lambda v: round(v % 10**6, 2))
_MS = converted(moments(), lambda d: d.replace(microsecond=d.microsecond // 1000 * 1000))
_S = converted(moments(), lambda d: d.replace(microsecond=0))
_FAR = moments(1, 9999)

# Arrow type, pool of values, fate.
TYPES = [
    *((f"pa.int{b}()", whole(-(2 ** (b - 1)), 2 ** (b - 1) - 1), FITS) for b in (8, 16, 32, 64)),
    *((f"pa.uint{b}()", whole(0, 2**b - 1), FITS) for b in (8, 16, 32, 64)),
    ("pa.float16()", reals(6e4), FITS),
    ("pa.float32()", reals(3e38), FITS),
    ("pa.float64()", reals(), FITS),
    ("pa.bool_()", booleans, FITS),
    ("pa.string()", texts(), FITS),
    ("pa.large_string()", texts(), FITS),
    ("pa.string_view()", texts(), FITS),
    ("pa.binary()", raw_bytes, EITHER),
    ("pa.large_binary()", raw_bytes, EITHER),
    ("pa.binary_view()", raw_bytes, EITHER),
    ("pa.binary(2)", listed(b"ab", b"cd", b"\x00\xff"), EITHER),
    ("pa.date32()", days, FITS),
    ("pa.date64()", days, FITS),
    ("pa.timestamp('s')", _S, FITS),
    ("pa.timestamp('s')", converted(_FAR, lambda d: d.replace(microsecond=0)), FITS),
    ("pa.timestamp('ms')", _MS, FITS),
    ("pa.timestamp('us')", moments(), FITS),
    ("pa.timestamp('us')", _FAR, FITS),
    ("pa.timestamp('ns')", moments(1700, 2200), FITS),
    ("pa.timestamp('us', 'UTC')", moments(zone=UTC), FITS),
    ("pa.timestamp('us', 'Europe/Berlin')", moments(zone=UTC), FITS),
    ("pa.timestamp('ms', '+05:30')", converted(_MS, lambda d: d.replace(tzinfo=UTC)), FITS),
    ("pa.timestamp('ns', 'America/New_York')", moments(1700, 2200, UTC), FITS),
    ("pa.time32('s')", _TIMES, REFUSED),
    ("pa.time64('us')", _TIMES, REFUSED),
    ("pa.duration('us')", _SPANS, REFUSED),
    ("pa.decimal32(9, 2)", _ROUND, EITHER),
    ("pa.decimal64(18, 2)", _ROUND, EITHER),
    ("pa.decimal128(20, 2)", _ROUND, FITS),
    ("pa.decimal256(60, 2)", _ROUND, FITS),
    ("pa.decimal128(38, 0)", listed(Decimal(2**53), Decimal(2**53 + 1), Decimal(2**100)), FITS),
    ("pa.null()", listed(None), FITS),
    ("pa.list_(pa.int8())", listed([1], [1, 2], []), REFUSED),
    ("pa.large_list(pa.string())", listed(["a"], []), REFUSED),
    ("pa.list_(pa.int8(), 2)", listed([1, 2], [3, 4]), REFUSED),
    ("pa.struct({'a': pa.int8()})", listed({"a": 1}, {"a": None}), REFUSED),
    ("pa.map_(pa.string(), pa.int8())", listed([("a", 1)], []), REFUSED),
    ("pa.uuid()", listed(b"0123456789abcdef", b"abcdef0123456789"), EITHER),
    ("pa.json_()", listed('{"a": 1}', "[]"), EITHER),
]

# Name, expression, pool, fate: arrays that are made in another way than from a type.
ENCODED = [
    ("dictionary of text", "pa.array(v, pa.string()).dictionary_encode()", texts(), FITS),
    ("dictionary of int", "pa.array(v, pa.int32()).dictionary_encode()", whole(-9, 9), EITHER),
    ("dictionary of date", "pa.array(v, pa.date32()).dictionary_encode()", days, EITHER),
    ("dictionary of bool", "pa.array(v, pa.int8()).dictionary_encode()", whole(0, 1), EITHER),
    ("dictionary of float", "pa.array(v, pa.float64()).dictionary_encode()", reals(), EITHER),
    (
        "dictionary with a null inside",
        "pa.DictionaryArray.from_arrays([None if c is None else c for c in v], ['a', None, 'b'])",
        whole(0, 2),
        EITHER,
    ),
    ("run-end encoded text", "pa.compute.run_end_encode(pa.array(v, pa.string()))", texts(), EITHER),
    ("run-end encoded int", "pa.compute.run_end_encode(pa.array(v, pa.int32()))", whole(-9, 9), EITHER),
    ("bool8", "pa.ExtensionArray.from_storage(pa.bool8(), pa.array(v, pa.int8()))", whole(0, 1), EITHER),
    ("infinite float64", "pa.array(v, pa.float64())", both(reals(), listed(float("inf"), float("-inf"))), EITHER),
    ("float64 with NaN and null", "pa.array(v, pa.float64(), from_pandas=False)", reals(), FITS),
]

ARROW = [Kind(f"arrow {code}", f"pa.array(v, {code})", pool, (None,), fate) for code, pool, fate in TYPES]
ARROW += [
    Kind(f"arrow {name}", code, pool, (None, float("nan")) if "NaN" in name else (None,), fate)
    for name, code, pool, fate in ENCODED
]
