"""Random rule sets and tables to test programs that must give the same labels as this package."""

import contextlib
import datetime
import math
from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import strategies as st

from diverse_rule_sets import Equals, Interval, IsIn, IsInRange, IsMissing, IsNotIn, Rule, RuleSet, Scorecard, Sign
from diverse_rule_sets.export._sql_dialects import SYSTEM_COLUMNS
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._point_probabilities import PointsTable, followed_column
from diverse_rule_sets.model._scorecards import check_scorecards

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
_SYSTEM_COLUMNS = frozenset.union(*SYSTEM_COLUMNS.values())
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


# Names of columns, other than those that every table of a database has.
NAMES = TEXTS.filter(lambda name: name and name not in _SYSTEM_COLUMNS)


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
    if kind == "text" and len(pool) > 1 and draw(st.booleans()):
        return draw(ranges_of(column, tuple(pool)))
    several = tuple(draw(st.lists(value, min_size=1, max_size=3, unique=True)))
    return draw(st.sampled_from([IsIn, IsNotIn]))(column, several)


@st.composite
def ranges_of(draw, column, order):
    """Draw a range of two or more ordered categories."""
    first = draw(st.integers(0, len(order) - 2))
    return IsInRange(column, order[first : draw(st.integers(first + 2, len(order)))], order=order)


@st.composite
def scorecards_over(draw, columns, classes, name):
    """Draw a scorecard over some of the columns, of one label or of several; points may be negative."""
    n_labels = draw(st.integers(1, len(classes)))
    labels = draw(st.permutations(classes))[:n_labels]
    points = st.integers(-3, 9).filter(bool)
    conditions = []
    for column in draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, max_size=5)):
        conditions.append(draw(conditions_on(column, *columns[column])))
    signs = []
    for condition in dict.fromkeys(conditions):
        given = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=3, unique=True))
        signs.append(Sign(condition, {label: draw(points) for label in given}))
    based = draw(st.lists(st.sampled_from(labels), max_size=2, unique=True)) if n_labels > 1 else []
    return Scorecard(name, tuple(signs), tuple(labels), {label: draw(points) for label in based})


@st.composite
def conditions_on_points(draw, column):
    """Draw a condition on a derived column of a scorecard; its bounds may be beyond the range of the points."""
    if not column.counts_points:
        return Equals(column, draw(st.sampled_from(column.scorecard.labels)))
    low, high = column.range
    bound = st.integers(low - 1, high + 1) | st.integers(low, high) | st.sampled_from([-1e300, 1e300])
    shape = draw(st.sampled_from(["low", "high", "both"]))
    low, high = sorted([draw(bound), draw(bound)])
    return Interval(column, None if shape == "high" else low, None if shape == "low" else high, with_low=True)


@st.composite
def rules_over(draw, columns, classes, scorecards=()):
    """Draw a rule with conditions on some of the columns, and on points of some of the scorecards."""
    names = draw(st.lists(st.sampled_from(sorted(columns)), max_size=3, unique=True)) if columns else []
    body = [draw(conditions_on(name, *columns[name])) for name in names[: 1 if scorecards else 3]]
    if scorecards:
        derived = [column for card in scorecards for column in card.derived_columns()]
        least = draw(st.sampled_from([1, 1, 1, 0]))
        chosen = draw(st.lists(st.sampled_from(derived), min_size=least, max_size=3, unique=True))
        body = draw(st.permutations([*body, *(draw(conditions_on_points(column)) for column in chosen)]))
    body = tuple(body)
    counts = tuple((label, draw(st.integers(0, 40))) for label in classes)
    return Rule(body, draw(st.sampled_from(classes)), counts)


def consistent_counts(rules, fallbacks, classes, n_covered, n_undecided):
    """Return class totals and uncovered counts that fit the counts of rules, with so many more records."""
    covered = [max([dict(rule.class_counts).get(label, 0) for rule in rules], default=0) for label in classes]
    decided = [sum(dict(rule.class_counts).get(label, 0) for rule in fallbacks) for label in classes]
    uncovered = tuple(map(sum, zip(decided, n_undecided, strict=True)))
    return tuple(map(sum, zip(covered, n_covered, uncovered, strict=True))), uncovered


def with_random_tables(rule_set, seed):
    """Return the rule set with random probabilities by points, which need not begin or end where the points do."""
    rng = np.random.default_rng(seed)

    def changed(rule):
        followed = followed_column(rule.conditions)
        if followed is None or rng.random() < 0.2:
            return rule
        least, most = followed[0].range
        low = int(rng.integers(least, most + 1))
        rows = rng.dirichlet(np.ones(len(rule_set.classes)), rng.integers(1, min(5, most - low + 1) + 1))
        return replace(rule, points_table=PointsTable(followed[0], low, tuple(map(tuple, rows.tolist()))))

    rules, fallbacks = (tuple(map(changed, some)) for some in (rule_set.rules, rule_set.fallbacks))
    return replace(rule_set, rules=rules, fallbacks=fallbacks)


@st.composite
def rule_sets_with_tables(draw, rule_set, columns):
    """Draw probabilities by points: computed on random records, or random ones."""
    seed = draw(st.integers(0, 1000))
    if draw(st.booleans()):
        return with_random_tables(rule_set, seed)
    kinds = {name: kind for name, (kind, _) in columns.items()}
    X = as_polars(records_for(columns, seed, 60), kinds)
    codes = np.random.default_rng(seed).integers(0, len(rule_set.classes), 60)
    return rule_set.evaluated(X, [rule_set.classes[k] for k in codes])


@st.composite
def cards_over(draw, columns, classes):
    """Draw no scorecard, or one or two whose names are not those of columns."""
    reads_all, cards = Rule(tuple(map(IsMissing, columns)), classes[0]), []
    names = st.just("points") | TEXTS.filter(str.strip)
    for name in draw(st.lists(names, min_size=draw(st.sampled_from([1, 1, 0])), max_size=2, unique=True)):
        card = draw(scorecards_over(columns, classes, name))
        rules = [Rule((one.between(1, label=one.labels[0]),), classes[0]) for one in [*cards, card]]
        with contextlib.suppress(ValueError):  # the name is taken
            check_scorecards([reads_all, *rules], classes)
            cards.append(card)
    return cards


@st.composite
def missing_values_of(draw, rules, columns):
    """Draw codes for missing values of some columns: values of their pools that no condition lists."""
    listed = {}
    for condition in plain_conditions(rules):
        listed.setdefault(condition.column, set()).update(condition.values_named)
    codes = {}
    for name, (_, pool) in columns.items():
        offered = [value for value in pool if value not in listed.get(name, ())]
        if offered and draw(st.booleans()):
            codes[name] = tuple(draw(st.lists(st.sampled_from(offered), max_size=2, unique=True)))
    return codes


@st.composite
def rule_sets(draw, conflicts=tuple(CONFLICTS), kinds=ALL_KINDS, scorecards=False, codes=True):
    """Draw a rule set, and the pools of values of its columns: name -> (type, values).

    If ``scorecards`` is true, half of the rule sets have one or two scorecards, with probabilities by points. If
    ``codes`` is true, half of the rule sets have codes for missing values.
    """
    chosen = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=str.casefold))
    columns = {}
    for name in chosen:
        kind = draw(st.sampled_from(kinds))
        columns[name] = (kind, draw(values_of(kind)))
    texts = st.lists(TEXTS, min_size=1, max_size=4, unique=True)
    classes = draw(texts | st.lists(st.integers(-5, 5), min_size=1, max_size=4, unique=True) | st.just([False, True]))
    classes = sorted(classes)
    cards = draw(cards_over(columns, classes)) if scorecards else []
    rules = tuple(draw(st.lists(rules_over(columns, classes, cards), max_size=6)))
    fallbacks = tuple(draw(st.lists(rules_over(columns, classes, cards), max_size=3)))
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
    if codes and draw(st.booleans()):
        rule_set = replace(rule_set, missing_values=draw(missing_values_of(rule_set.all_rules, columns)))
    if rule_set.scorecards:
        rule_set = draw(rule_sets_with_tables(rule_set, columns))
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
