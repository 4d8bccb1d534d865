"""Checks of scorecards of a fitted table: limits of learnt ones, given ones kept, points, directions, text."""

import math
from collections import Counter

import numpy as np

import diverse_rule_sets as drs

from .names import is_plain
from .outcome import CheckError, refusal

_SHOW = "print(clf.rule_set_)"


def check_scorecards(run):
    """Learnt scorecards are within limits, given ones are as given, points add up, scorecards are read back."""
    given = getattr(run.clf, "scorecards", None)
    known = list(given) if isinstance(given, list | tuple) else []
    of_rules = [card for rule in getattr(run.clf, "given_rules", None) or () for card in _cards(rule)]
    for card in run.rule_set.scorecards:
        if card not in known and card not in of_rules:
            if known or given in (None, 0):
                raise CheckError(f"a scorecard was learnt, although scorecards={given!r:.100}: {card}", _SHOW)
            _check_learnt(run, card)
        _check_points(run, card)
        _check_text(card)


def _cards(rule):
    columns = [condition.column for condition in rule.conditions]
    return [column.scorecard for column in columns if hasattr(column, "scorecard")]


def _check_learnt(run, card):
    """At most max_signs signs, two for each column, 1 to 9 points without a common factor; each separates records."""
    signs = [len(card.signs), *Counter(sign.condition.column for sign in card.signs).values()]
    if signs[0] > run.clf.max_signs or max(signs[1:]) > 2:
        raise CheckError(f"a learnt scorecard has too many signs, max_signs={run.clf.max_signs}: {card}", _SHOW)
    points = [n for sign in card.signs for n in sign.points.values()]
    if not all(1 <= n <= 9 for n in points) or math.gcd(*points, *card.base.values()) != 1:
        raise CheckError(f"a learnt scorecard has other points than 1 to 9, or a common factor: {card}", _SHOW)
    for sign in card.signs:
        n_records = int(drs.Rule((sign.condition,), card.labels[0]).covers(run.X, missing_values=run.codes).sum())
        if not run.clf.min_support <= n_records <= run.case.n_records - run.clf.min_support:
            raise CheckError(f"a sign holds for {n_records} of {run.case.n_records} records: {sign}", _SHOW)


def _check_points(run, card):
    """The points of the training records are the sums of those of the signs that hold, one sign at a time."""
    sums = np.zeros((run.case.n_records, len(card.labels)), int) + [card.base.get(label, 0) for label in card.labels]
    for sign in card.signs:
        holds = drs.Rule((sign.condition,), card.labels[0]).covers(run.X, missing_values=run.codes)
        sums[holds] += [sign.points.get(label, 0) for label in card.labels]
    for j, rule in enumerate(run.rule_set.all_rules):
        expected = np.ones(run.case.n_records, bool)
        own = [condition for condition in rule.conditions if getattr(condition.column, "scorecard", None) == card]
        if not own or len(own) < len(rule.conditions):
            continue
        for condition in own:
            expected &= _holds(condition, card, sums)
        if (expected != rule.covers(run.X, missing_values=run.codes)).any():
            code = f"print(clf.rule_set_.all_rules[{j}].covers(X))"
            raise CheckError(f"{rule} covers other records than its points say", code)


def _holds(condition, card, sums):
    """Return for which points of records a condition on a scorecard holds."""
    column = condition.column
    if column.part == "leader":
        return np.array([list(row).index(max(row)) for row in sums]) == card.labels.index(condition.value)
    if column.part == "lead":
        values = np.array([sorted(row)[-1] - sorted(row)[-2] for row in sums])
    else:
        values = sums[:, 0 if column.label is None else card.labels.index(column.label)]
    return np.all([_compare(test, values, bound) for test, bound in condition.comparisons], axis=0)


def _compare(test, value, bound):
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}[test]


def _check_text(card):
    """A scorecard is read back from its text, if the names of its columns are plain."""
    orders = {sign.condition.column: sign.condition.order for sign in card.signs if hasattr(sign.condition, "order")}
    again, error = refusal(lambda: drs.Scorecard.parse(str(card), orders=orders))
    if error is None and again != card:
        raise CheckError(f"a scorecard is read back as {again}, from {card}", _SHOW)
    if error is not None and all(map(is_plain, card.columns)):
        raise CheckError(f"a scorecard is not read back: {error}; {card}", _SHOW)


def check_direction_of_points(rule, name, direction):
    """Raise a CheckError if larger numbers in a column, in its direction, can end a condition on points of a rule."""
    for condition in rule.conditions if direction else ():
        column = condition.column
        if not hasattr(column, "scorecard") or column.part == "lead":
            continue
        points = _by_value(column.scorecard, name)
        if points is None:
            continue
        points = points if direction == "increasing" else points[::-1]
        labels = list(column.scorecard.labels)
        if column.part == "leader":
            own = points[:, [labels.index(condition.value)]] - points
            falls = (np.diff(own, axis=0) < 0).any()
        else:
            steps = np.diff(points[:, 0 if column.label is None else labels.index(column.label)])
            tests = {test for test, _ in condition.comparisons}
            falls = (">=" in tests and (steps < 0).any()) or ("<=" in tests and (steps > 0).any())
        if falls:
            raise CheckError(f"{name!r} is {direction} but {rule}; {column.scorecard}", _SHOW)


def _by_value(card, name):
    """Return the points that signs on a column of numbers give to ascending values; None for other columns."""
    signs = [sign for sign in card.signs if sign.condition.column == name]
    bounds = sorted({bound for sign in signs for _, bound in sign.condition.comparisons if type(bound) in (int, float)})
    if not bounds or any(not sign.condition.comparisons for sign in signs if not _tests_missing(sign)):
        return None
    values = sorted({v for b in bounds for v in (math.nextafter(b, -math.inf), b, math.nextafter(b, math.inf))})
    rows = np.zeros((len(values), len(card.labels)), int)
    for sign in signs:
        if not _tests_missing(sign):
            holds = [all(_compare(test, v, b) for test, b in sign.condition.comparisons) for v in values]
            rows[holds] += [sign.points.get(label, 0) for label in card.labels]
    return rows


def _tests_missing(sign):
    return isinstance(sign.condition, drs.IsMissing)
