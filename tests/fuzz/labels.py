"""Kinds of labels: values and the containers that hold them."""

import datetime
from decimal import Decimal

from .kinds import EITHER, FITS, REFUSED, Kind
from .values import booleans, both, listed, reals, texts, whole

# Container, and whether it is made for text, whole numbers and booleans (t, i, b).
_CONTAINERS = [
    ("v", "tib"),
    ("tuple(v)", "tib"),
    ("np.array(v)", "tib"),
    ("np.array(v, object)", "tib"),
    ("np.array(v).reshape(-1, 1)", "tib"),
    ("np.array(v, np.dtypes.StringDType())", "t"),
    ("np.array(v, 'i1')", "i"),
    ("np.array(v, '>i4')", "i"),
    ("pd.Series(v)", "tib"),
    ("pd.Series(v, dtype=object)", "tib"),
    ("pd.Index(v)", "tib"),
    ("pd.Series(v, index=range(len(v), 0, -1))", "tib"),
    ("pd.DataFrame({'y': v})", "tib"),
    ("pd.Categorical(v)", "tib"),
    ("pd.Series(v, dtype='category')", "tib"),
    ("pd.Series(v, dtype='category').cat.as_ordered()", "ti"),
    ("pd.Series(v, dtype='string[python]')", "t"),
    ("pd.Series(v, dtype='string[pyarrow]')", "t"),
    ("pd.Series(v, dtype='Int64')", "i"),
    ("pd.array(v, dtype='UInt8')", "i"),
    ("pd.Series(v, dtype='boolean')", "b"),
    ("pd.Series(v, dtype=pd.ArrowDtype(pa.string()))", "t"),
    ("pd.Series(v, dtype=pd.ArrowDtype(pa.int16()))", "i"),
    ("pd.Series(v, dtype=pd.ArrowDtype(pa.bool_()))", "b"),
    ("pl.Series(v)", "tib"),
    ("pl.Series(v, dtype=pl.Categorical)", "t"),
    ("pl.Series(v, dtype=pl.UInt8)", "i"),
    ("pl.DataFrame({'y': v})", "tib"),
    ("pa.array(v)", "tib"),
    ("pa.array(v, pa.large_string())", "t"),
    ("pa.array(v, pa.string_view())", "t"),
    ("pa.array(v, pa.uint8())", "i"),
    ("pa.array(v).dictionary_encode()", "ti"),
    ("pa.chunked_array([v[:1], v[1:]])", "tib"),
    ("pa.chunked_array([v])", "tib"),
]
_EITHER = ("DataFrame", "dictionary_encode")
_POOLS = {"t": texts(), "i": whole(0, 100), "b": booleans}
_WORDS = {"t": "text", "i": "int", "b": "bool"}

PLAIN = Kind("list of text", "v", texts(), ())
LABELS = [
    Kind(f"{code} of {_WORDS[sort]}", code, _POOLS[sort], (), EITHER if any(w in code for w in _EITHER) else FITS)
    for code, sorts in _CONTAINERS
    for sort in sorts
]
LABELS += [
    Kind("list of negative int", "v", whole(-(2**63), -1), ()),
    Kind("list of int from 2**63", "v", whole(2**63, 2**64 - 1), ()),
    Kind("list of int from 2**64", "v", whole(2**64, 2**70), (), EITHER),
    Kind("list of text with surrogates", "v", texts(surrogates=True), ()),
    Kind("array of int64", "np.array(v, 'i8')", whole(-(2**63), 2**63 - 1), ()),
    Kind("list of whole float", "v", listed(0.0, 1.0, 2.0, -1.0, -0.0, 1e15), ()),
    Kind("np.array(v) of whole float", "np.array(v)", listed(0.0, 1.0, 2.0), ()),
    Kind("pd.Series(v) of whole float", "pd.Series(v)", listed(0.0, 1.0, 2.0), ()),
    Kind("list of float", "v", reals(), (), EITHER),
    Kind("list of text and int", "v", both(whole(0, 3), texts()), (), EITHER),
    Kind("list of bool and int", "v", listed(True, 2, 3), (), EITHER),
    Kind("list of text with None", "v", both(texts(), listed(None)), (), EITHER),
    Kind("list of float with nan", "v", listed(float("nan"), 1.0, 2.0), (), EITHER),
    Kind("list of bytes", "v", listed(b"a", b"b"), (), EITHER),
    Kind("list of date", "v", listed(datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)), (), EITHER),
    Kind("list of Decimal", "v", listed(Decimal(1), Decimal(2)), (), EITHER),
    Kind("list of tuple", "v", listed((1, 2), (3, 4)), (), REFUSED),
    Kind("list of complex", "v", listed(1j, 2j), (), REFUSED),
    Kind("datetime64", "np.array(v, 'M8[D]')", listed("2020-01-01", "2021-01-01"), (), REFUSED),
    Kind("pd.Series with NA", "pd.Series(v, dtype='Int64')", listed(None, 1, 2), (), EITHER),
    Kind("masked array", "np.ma.array(v, mask=[k == 0 for k in range(len(v))])", whole(0, 3), (), EITHER),
]
