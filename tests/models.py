"""Random rule sets and tables to test programs that must give the same labels as this package."""

import datetime
import math

import numpy as np
import polars as pl
from hypothesis import strategies as st

from diverse_rule_sets import Equals, Interval, IsIn, IsMissing, IsNotIn, Rule, RuleSet
from diverse_rule_sets.model._decision import CONFLICTS

HOSTILE = (
    *(
        "'; DROP TABLE records; --",
        '"',
        "'",
        "\\",
        "\\'",
        "a\\",
        "`",
        "``",
        "{{7*7}}",
        "${x}",
        "%s",
        "%(a)s",
        ":name",
        "?",
    ),
    *("</script><img src=x onerror=alert(1)>", "]]>", "<!--", "&amp;", "a;b", "--", "/* x */", "]", "[x]", "$1", "$$"),
    *("ünïcode", "名前", "🦊", "a b", " lead", "trail ", "A", "a", "NULL", "NaN", "None", "nan", "true", "1", "1.5"),
    *("x\ny", "x\ty", "x\r\ny", "__import__('os').system('x')", '""" + x', "{", "}", "{0}", "é", "e\u0301", "\u2028"),
)
EXTREME = (
    0.0,
    -0.0,
    1.0,
    0.1,
    1 / 3,
    -1e308,
    1.7976931348623157e308,
    5e-324,
    2.2250738585072014e-308,
    1e-7,
    2.0**53,
    1e15,
)
EXTREME += (1e16, 123456789.12345679, 4.35, 2.675, 1e22, 1e23, 9007199254740993.0, 0.30000000000000004, -1e-300)

ALL_KINDS = ("number", "text", "boolean", "date", "date (UTC)")
# Without lone surrogates and NUL, which databases cannot store.
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@st.composite
def values_of(draw, kind):
    """Draw a pool of values for a column of this type."""
    if kind == "number":
        numbers = (
            st.sampled_from(EXTREME) | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float)
        )
        return draw(st.lists(numbers, min_size=1, max_size=6, unique=True))
    if kind == "boolean":
        return [False, True]
    if kind in ("date", "date (UTC)"):
        moments = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)).map(whole_milliseconds)
        pool = draw(st.lists(moments, min_size=1, max_size=5, unique=True))
        return [moment.replace(tzinfo=datetime.UTC) for moment in pool] if kind != "date" else pool
    return draw(st.lists(TEXTS, min_size=1, max_size=6, unique=True))


def whole_milliseconds(moment):
    """Return a date rounded down to milliseconds, which databases and browsers can represent."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@st.composite
def conditions_on(draw, column, kind, pool):
    """Draw a condition on a column."""
    value = st.sampled_from(pool)
    if draw(st.integers(0, 6)) == 0:
        return IsMissing(column)
    if kind in ("number", "date", "date (UTC)") and draw(st.integers(0, 4)):
        low, high = draw(value), draw(value)
        flags = draw(st.booleans()), draw(st.booleans())
        shape = draw(st.sampled_from(["low", "high", "both"]))
        if shape == "both":
            low, high = sorted((low, high))
            flags = (True, True) if low == high else flags
        return Interval(column, None if shape == "high" else low, None if shape == "low" else high, *flags)
    if kind in ("date", "date (UTC)"):
        return Interval(column, low=draw(value))
    if draw(st.booleans()):
        return Equals(column, draw(value))
    several = tuple(draw(st.lists(value, min_size=1, max_size=3, unique=True)))
    return draw(st.sampled_from([IsIn, IsNotIn]))(column, several)


@st.composite
def rules_over(draw, columns, classes):
    """Draw a rule with conditions on some of the columns."""
    names = draw(st.lists(st.sampled_from(sorted(columns)), max_size=3, unique=True)) if columns else []
    body = tuple(draw(conditions_on(name, *columns[name])) for name in names)
    counts = tuple((label, draw(st.integers(0, 40))) for label in classes)
    return Rule(body, draw(st.sampled_from(classes)), counts)


def consistent_counts(rules, fallbacks, classes, n_covered, n_undecided):
    """Return class totals and uncovered counts that fit the counts of rules, with so many more records."""
    covered = [max([dict(rule.class_counts).get(label, 0) for rule in rules], default=0) for label in classes]
    decided = [sum(dict(rule.class_counts).get(label, 0) for rule in fallbacks) for label in classes]
    uncovered = tuple(map(sum, zip(decided, n_undecided, strict=True)))
    return tuple(map(sum, zip(covered, n_covered, uncovered, strict=True))), uncovered


@st.composite
def rule_sets(draw, conflicts=tuple(CONFLICTS), kinds=ALL_KINDS):
    """Draw a rule set, and the pools of values of its columns: name -> (type, values)."""
    chosen = draw(st.lists(TEXTS.filter(bool), min_size=1, max_size=4, unique_by=str.casefold))
    columns = {}
    for name in chosen:
        kind = draw(st.sampled_from(kinds))
        columns[name] = (kind, draw(values_of(kind)))
    texts = st.lists(TEXTS, min_size=1, max_size=4, unique=True)
    classes = draw(texts | st.lists(st.integers(-5, 5), min_size=1, max_size=4, unique=True) | st.just([False, True]))
    classes = sorted(classes)
    rules = tuple(draw(st.lists(rules_over(columns, classes), max_size=6)))
    fallbacks = tuple(draw(st.lists(rules_over(columns, classes), max_size=3)))
    many = len(classes)
    more = st.lists(st.integers(0, 200), min_size=many, max_size=many)
    totals, uncovered = consistent_counts(rules, fallbacks, classes, draw(more), draw(more))
    weights = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 2.0, 1 / 3, 0.1]), min_size=many, max_size=many))
    smoothing = draw(st.none() | st.sampled_from([0.0, 1.0, 5.0, 0.3]))
    conflict = draw(st.sampled_from(conflicts))
    rule_set = RuleSet(
        rules, tuple(classes), draw(st.sampled_from(classes)), totals, uncovered, conflict, fallbacks,
        None if weights is None else tuple(weights), smoothing,
        tuple((name, kind) for name, (kind, _) in columns.items()),
    )  # fmt: skip
    return rule_set, columns


def records_for(columns, seed, n=40):
    """Return records with values of the conditions, the next values, other values and missing values: lists by name."""
    rng = np.random.default_rng(seed)
    table = {}
    for name, (kind, pool) in columns.items():
        offered = [None, *pool]
        if kind == "number":
            offered += [math.inf, -math.inf, 0.5, *(math.nextafter(v, math.inf) for v in pool)]
            offered += [math.nextafter(v, -math.inf) for v in pool]
            offered = [v for v in offered if v is None or not math.isnan(v)]
        elif kind in ("date", "date (UTC)"):
            offered += [moment + datetime.timedelta(milliseconds=d) for moment in pool for d in (-1, 1)]
        elif kind == "text":
            offered += ["never seen", "", "'", *(v + " " for v in pool), *(v.swapcase() for v in pool)]
        table[name] = [offered[k] for k in rng.integers(0, len(offered), n)]
    return table


POLARS = {"number": pl.Float64, "text": pl.String, "boolean": pl.Boolean, "date": pl.Datetime("us")}
POLARS["date (UTC)"] = pl.Datetime("us", "UTC")


def as_polars(table, kinds):
    """Return a table of lists as a polars frame with columns of these types."""
    return pl.DataFrame(table, schema={name: POLARS[kind] for name, kind in kinds.items()}, strict=False)


def kinds_of(frame):
    """Return the type of each column of a polars frame."""
    kinds = {pl.Float64: "number", pl.String: "text", pl.Boolean: "boolean", pl.Datetime: "date"}
    return {name: kinds[dtype.base_type()] for name, dtype in frame.schema.items()}
