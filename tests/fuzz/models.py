"""Rule sets made at random, without a fit: hostile names, values, labels and numbers."""

import datetime
from dataclasses import replace
from functools import cache

from diverse_rule_sets import (
    Equals,
    Interval,
    IsIn,
    IsMissing,
    IsNotIn,
    PointsTable,
    Rule,
    RuleSet,
    Scorecard,
    Sign,
)
from diverse_rule_sets.model._point_probabilities import followed_column

from .parameters import CONFLICTS
from .values import EXTREMES, UTC, Draw, days, moments, reals, text, texts, whole

_POOLS = {
    "number": reals(),
    "date": moments(),
    "date (UTC)": moments(zone=UTC),
    "boolean": lambda draw, k: [False, True],
    "text": texts(surrogates=False),
}
_NAMES = (0, 5, -1, 2**70, 1.5, True, None, ("a", 1), (), datetime.datetime(2020, 1, 1))


def condition(draw, name, kind):
    """Return a condition on a column of a type."""
    pool = _POOLS[kind](draw, 4)
    if draw.chance(0.15):
        return IsMissing(name)
    if kind in ("number", "date", "date (UTC)"):
        low, high = sorted((draw.pick(pool), draw.pick(pool)))
        shape = draw.below(3)
        with_low, with_high = (True, True) if low == high else (draw.chance(0.3), draw.chance(0.7))
        return Interval(name, low if shape != 1 else None, high if shape != 2 else None, with_low, with_high)
    if draw.chance(0.5):
        return Equals(name, draw.pick(pool))
    values = tuple(dict.fromkeys(pool))[: draw.between(2, 4)]
    return (IsIn if len(values) > 1 and draw.chance(0.6) else IsNotIn)(name, values)


def rule(draw, columns, label, classes=()):
    """Return a rule on some of the columns, pairs of a name and a type, with class counts."""
    chosen = draw.some(columns, draw.between(0, 3))
    counts = tuple((one, draw.below(40)) for one in classes)
    return Rule(tuple(condition(draw, name, kind) for name, kind in chosen), label, counts)


def scorecard(draw, columns, classes):
    """Return a scorecard with signs on some of the columns, for one or several of the classes."""
    labels = draw.some(classes, draw.pick((1, 1, 2, 3)))
    made = {condition(draw, *draw.pick(columns)): None for _ in range(draw.between(1, 5))}
    signs = tuple(Sign(one, _points(draw, draw.some(labels, draw.between(1, len(labels))))) for one in made)
    base = _points(draw, draw.some(labels, draw.below(2))) if len(labels) > 1 else {}
    name = draw.pick(("points", "points (2)", "lead", "risk")) if draw.chance(0.6) else text(draw)
    return Scorecard(name if name.strip() else "x", signs, tuple(labels), base)


def _points(draw, labels):
    return {label: draw.pick((1, 2, 3, 9, -1, 1000)) for label in labels}


def scorecard_conditions(draw, card):
    """Return conditions on a scorecard, one for each of some of its derived columns."""
    made = []
    for column in draw.some(card.derived_columns(), draw.between(1, 2)):
        if not column.counts_points:
            made.append(Equals(column, draw.pick(card.labels)))
            continue
        low, high = sorted(draw.between(column.range[0] - 1, column.range[1] + 1) for _ in range(2))
        shape = draw.below(3)
        made.append(Interval(column, low if shape != 1 else None, high if shape != 2 else None, with_low=True))
    return tuple(made)


def with_scorecards(draw, made, cards):
    """Return a rule set whose rules also test scorecards, some with probabilities by points."""

    def changed(one):
        if draw.chance(0.3):
            return one
        tests = scorecard_conditions(draw, draw.pick(cards))
        body = (*tests, *one.conditions) if draw.chance(0.5) else (*one.conditions, *tests)
        longer = Rule(body, one.label, one.class_counts)
        followed = followed_column(body)
        if followed is None or draw.chance(0.3):
            return longer
        low, high = followed[0].range
        low = draw.between(low, high)
        shares = [[draw.below(5) + (k == 0) for k in range(len(made.classes))] for _ in range(draw.between(1, 5))]
        rows = tuple(tuple(n / sum(row) for n in row) for row in shares[: high - low + 1])
        return replace(longer, points_table=PointsTable(followed[0], low, rows))

    rules, fallbacks = (tuple(map(changed, some)) for some in (made.rules, made.fallbacks))
    try:
        return replace(made, rules=rules, fallbacks=fallbacks, kinds=())
    except ValueError:  # a scorecard has the name of a column or of another scorecard
        return made


def columns_of(draw):
    """Return different columns: pairs of a name and a type."""
    found = {}
    for _ in range(draw.between(1, 4)):
        name = draw.pick(_NAMES) if draw.chance(0.15) else text(draw) or "x"
        found.setdefault(name, draw.pick(tuple(_POOLS)))
    return list(found.items())


def label_of(draw):
    """Return labels of one type, sorted."""
    style = draw.below(4)
    if style == 0:
        return sorted(whole(-(2**63), 2**63)(draw, 3))
    if style == 1:
        return [False, True]
    return sorted(draw.some(("a", "b", "yes", "no"), 3) if style == 2 else dict.fromkeys(text(draw) for _ in range(3)))


def rule_set(draw):
    """Return a rule set."""
    columns, classes = columns_of(draw), label_of(draw)
    rules = tuple(rule(draw, columns, draw.pick(classes), classes) for _ in range(draw.between(0, 5)))
    fallbacks = tuple(rule(draw, columns, draw.pick(classes), classes) for _ in range(draw.below(3)))
    uncovered = tuple(draw.between(80, 240) for _ in classes)  # two fallback rules decide less than 80
    totals = tuple(n + draw.between(40, 160) for n in uncovered)
    weights = None if draw.chance(0.5) else tuple(draw.pick((0.5, 1.0, 2.0, 1 / 3, 1e-9, 1e9)) for _ in classes)
    smoothing = draw.pick((None, 0.0, 1.0, 5.0, 1e100))
    used = {c.column for one in rules + fallbacks for c in one.conditions}
    kinds = tuple((name, kind) for name, kind in columns if name in used)
    default, conflict = draw.pick(classes), draw.pick(CONFLICTS)
    made = RuleSet(
        rules, tuple(classes), default, totals, uncovered, conflict, fallbacks, weights, smoothing, kinds
    )  # fmt: skip
    if draw.chance(0.4):
        made = with_codes(draw, made, columns)
    if draw.chance(0.5):
        return made
    return with_scorecards(draw, made, [scorecard(draw, columns, classes) for _ in range(draw.between(1, 2))])


def with_codes(draw, made, columns):
    """Return a rule set with codes for missing values of some columns."""
    codes = {}
    for name, kind in draw.some(columns, draw.between(1, 3)):
        codes[name] = tuple(_POOLS[kind](draw, draw.between(1, 2)) if draw.chance(0.8) else ["?", -9])
    try:
        return replace(made, missing_values=codes)
    except ValueError:  # a condition lists a code
        return made


@cache
def corpus():
    """Return the JSON text of some rule sets: fitted ones, and made ones."""
    return (*_fitted_texts(), *_made_texts())


def _made_texts():
    """Yield the JSON text of made rule sets."""
    for k in range(40):
        try:
            yield rule_set(Draw(77, k)).to_json()
        except ValueError:  # JSON cannot represent it
            continue


def _fitted_texts():
    """Yield the JSON text of fitted rule sets with at least one condition."""
    from .checks import estimator
    from .tables import build, build_labels, make_case

    found = number = 0
    while found < 12 and number < 400:
        number += 1
        try:
            case = make_case(99, number, lambda draw: ())
            if case.fate != "fits" or case.n_records > 60:
                continue
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = estimator(case).fit(build(case), build_labels(case)).rule_set_
            if len(fitted.columns) > 0:
                found += 1
                yield fitted.to_json()
        except Exception:  # the checks of tables report it
            continue


__all__ = ["EXTREMES", "corpus", "days", "rule", "rule_set"]
