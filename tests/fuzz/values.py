"""Random draws, pools of hostile values, and values as Python source."""

import datetime
import math
import string
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

UTC = datetime.UTC
BERLIN = ZoneInfo("Europe/Berlin")
INDIA = datetime.timezone(datetime.timedelta(hours=5, minutes=30))

HOSTILE = (
    *("", " ", "  ", "\t", "\n", "a\nb", "a\r\nb", "\x00", "a\x00b", "\x1b[31m", "\x7f", "\x85", "\u2028", "\ufeff"),
    *("'", '"', "`", "``", "\\", "\\'", '\\"', "a\\", '""" + x', "'; DROP TABLE records; --", "--", "/* x */", "]]>"),
    *("</script><img src=x onerror=alert(1)>", "<!--", "&amp;", "<b>", "{{7*7}}", "${x}", "{0}", "{", "}", "%s", "?"),
    *("__import__('os').system('x')", "lambda: 0", "import os", "print(1)", "NULL", "NaN", "nan", "None", "inf", "NaT"),
    *("True", "False", "true", "1", "01", "1.0", "1.5", "-1", "1e5", "2020-01-01", "2020-01-01 12:00:00Z", "12:00"),
    *("AND", "THEN", "IF", "OTHERWISE", "anything", "a AND b", "a THEN b", "is missing", "in", "not in", "a in {1}"),
    *("<=", "a <= 1", "a = 1", "[5]", "[x]", "(a)", "$1", "$$", "$x^2$", ":name", "a;b", "a,b", "^a.*$", "*", "^.*$"),
    *("ünïcode", "é", "e\u0301", "名前", "🦊", "👩‍👩‍👧", "\u202eabc", "עברית", "ا", "ﬁ", "ß", "ẞ", "İ", "ı", "A", "a"),
    *(" lead", "trail ", "a  b", "x0", "X0", "rule", "label", "predicted_label", "default", "majority", "a (cm)", "€"),
)
SURROGATES = ("\ud800", "a\udfff", "\udc80b")
EXTREMES = (
    *(0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 2.5, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, 1e-300, 1e-7),
    *(2.2250738585072014e-308, 2.0**53, 2.0**53 + 2, 1e15, 1e16, 1e22, 1e23, 123456789.12345679, 0.30000000000000004),
)
PLAIN_WORDS = ("a", "b", "c", "d", "clerk", "sales", "nurse", "F", "M", "yes", "no", "red", "blue")


class Draw:
    """Random choices that follow from a key of integers alone."""

    def __init__(self, *key):
        self.rng = np.random.default_rng(key)
        self._random = self.rng.random

    def chance(self, probability):
        return self._random() < probability

    def below(self, n):
        return int(self._random() * n)

    def between(self, low, high):
        """Return an integer from low to high, both included, of any size."""
        span = high - low + 1
        if span < 2**53:
            return low + int(self._random() * span)
        return low + int.from_bytes(self.rng.bytes((span.bit_length() + 15) // 8), "little") % span

    def pick(self, options):
        return options[int(self._random() * len(options))]

    def some(self, options, k):
        """Return at most k of the options, without repetition, in random order."""
        options = list(options)
        k = min(k, len(options))
        for j in range(k):
            other = j + int(self._random() * (len(options) - j))
            options[j], options[other] = options[other], options[j]
        return options[:k]

    def codes(self, n, k):
        """Return n integers from 0 to k - 1."""
        return (self.rng.random(n) * k).astype(int).tolist()


# A pool is a function of a Draw and a number k that returns at most k different values.


def whole(low, high):
    """Return a pool of integers within bounds, often at the bounds."""

    def pool(draw, k):
        if draw.chance(0.6):
            start = min(max(draw.between(-5, 20), low), max(low, high - k))
            return [v for v in range(start, start + k) if v <= high]
        ends = [v for v in (0, 1, -1, low, high, low + 1, high - 1, 2**53, 2**53 + 1, -(2**53) - 1) if low <= v <= high]
        drawn = [draw.pick(ends) if draw.chance(0.4) else draw.between(low, high) for _ in range(k)]
        return list(dict.fromkeys(drawn))

    return pool


def reals(largest=1.7976931348623157e308):
    """Return a pool of finite floats."""

    def pool(draw, k):
        if draw.chance(0.7):
            digits = draw.below(4)
            drawn = [round(v, digits) for v in (draw.rng.normal(size=k) * draw.pick((1, 10, 50))).tolist()]
        else:
            usable = [v for v in EXTREMES if abs(v) <= largest]
            drawn = [draw.pick(usable) if draw.chance(0.7) else float(draw.rng.normal()) for _ in range(k)]
        return list(dict.fromkeys(drawn))

    return pool


def texts(surrogates=False, nul=True):
    """Return a pool of strings, hostile ones among them."""

    def pool(draw, k):
        if draw.chance(0.5):
            return draw.some(PLAIN_WORDS, k) if k <= 12 else [f"value {j}" for j in range(k)]
        drawn = [text(draw) for _ in range(k)]
        if surrogates:
            drawn[0] = draw.pick(SURROGATES)
        return [t for t in dict.fromkeys(drawn) if nul or "\x00" not in t]

    return pool


def text(draw):
    """Return one string, often hostile."""
    kind = draw.below(8)
    if kind < 5:
        return draw.pick(HOSTILE)
    if kind == 5:
        return "".join(chr(draw.pick((32, 65, 0x300, 0x4E00, 0x1F600, 0x5D0, 0x7F)) + draw.below(60)) for _ in range(3))
    if kind == 6:
        return draw.pick(HOSTILE) + draw.pick(HOSTILE)
    return draw.pick(string.ascii_letters) * draw.pick((1, 3, 30, 300))


def moments(first=1900, last=2100, zone=None, extremes=()):
    """Return a pool of datetimes between two years, with or without a zone."""

    def pool(draw, k):
        unit = draw.pick((86400_000_000, 3600_000_000, 1_000_000, 1000, 1))
        span = (datetime.datetime(last, 1, 1) - datetime.datetime(first, 1, 1)) // datetime.timedelta(microseconds=unit)
        start = datetime.datetime(first, 1, 1)
        drawn = [start + datetime.timedelta(microseconds=unit * draw.between(0, span)) for _ in range(k)]
        if extremes and draw.chance(0.4):
            drawn[: len(extremes)] = list(extremes)[:k]
        drawn = list(dict.fromkeys(drawn))
        return [d.replace(tzinfo=zone) for d in drawn] if zone is not None else drawn

    return pool


ENDS_OF_TIME = (datetime.datetime.max, datetime.datetime.min, datetime.datetime(1, 1, 2), datetime.datetime(1970, 1, 1))


def days(draw, k):
    """Return dates."""
    if draw.chance(0.1):
        return [datetime.date.max, datetime.date.min, datetime.date(1970, 1, 1)][:k]
    return [datetime.date(2020, 1, 1) + datetime.timedelta(days=d) for d in dict.fromkeys(draw.codes(k, 900))]


def listed(*values):
    """Return a pool of given values."""
    return lambda draw, k: draw.some(values, max(k, 2))


def converted(pool, function):
    """Return a pool whose values are converted by a function."""
    return lambda draw, k: [function(v) for v in pool(draw, k)]


def both(*pools):
    """Return a pool with values of every given pool."""

    def pool(draw, k):
        each = max(1, -(-k // len(pools)))
        return [v for one in pools for v in one(draw, each)]

    return pool


booleans = listed(False, True)
decimals = converted(reals(1e20), lambda v: Decimal(repr(round(v, 3))))
fractions = converted(whole(-20, 20), lambda v: Fraction(v, 3))
raw_bytes = converted(texts(), lambda t: t.encode("utf8", "replace")[:20])


def is_missing(value):
    """Return whether a Python value means missing: None, NaN, NaT, NA."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def source(value):
    """Return a value as Python source, for the names datetime, np, pd, Decimal, Fraction, ZoneInfo."""
    if isinstance(value, float) and type(value) is float and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is pd.NA or value is pd.NaT:
        return "pd.NA" if value is pd.NA else "pd.NaT"
    if isinstance(value, pd.Timestamp | pd.Timedelta | pd.Period | pd.Interval):
        return f"pd.{value!r}"
    if type(value) in (list, tuple, set, frozenset):
        inner = ", ".join(map(source, value))
        if type(value) is tuple:
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if type(value) is list:
            return f"[{inner}]"
        return f"{type(value).__name__}([{inner}])"
    if type(value) is dict:
        return "{" + ", ".join(f"{source(k)}: {source(v)}" for k, v in value.items()) + "}"
    if isinstance(value, ZoneInfo) or getattr(value, "tzinfo", None) is not None:
        return repr(value).replace("zoneinfo.ZoneInfo(key=", "ZoneInfo(")
    if type(value) is object:
        return "object()"
    return repr(value)
