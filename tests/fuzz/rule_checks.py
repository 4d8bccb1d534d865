"""Checks of the rules of a fitted table: limits, counts, constraints, values, text, and the same rules again."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import diverse_rule_sets as drs

from .kinds import FITS
from .names import has_repetition, is_plain
from .outcome import ERRORS, CheckError, refusal
from .scorecard_checks import check_direction_of_points, check_scorecards


def check_limits(run):
    """Limits of the estimator and counts of the rules hold on the training records."""
    clf, rule_set = run.clf, run.rule_set
    y = plain_labels(run.y)
    n_given = len(getattr(clf, "given_rules", None) or ())
    if clf.max_rules is not None and len(rule_set) > clf.max_rules:
        raise CheckError(f"{len(rule_set)} rules, max_rules={clf.max_rules}", "print(clf.rule_set_)")
    if len(rule_set.fallbacks) > getattr(clf, "max_fallbacks", 0):
        raise CheckError(f"{len(rule_set.fallbacks)} fallback rules", "print(clf.rule_set_)")
    covered = np.zeros(len(y), bool)
    support = clf.min_support if run.case.estimator in ("DiverseRuleSetClassifier", "DRSClassifier") else 1
    by_label = {}
    for j, rule in enumerate(rule_set):
        covers = rule.covers(run.X, missing_values=run.codes)
        _check_counts(rule, covers, y, f"rule {j + 1}")
        if j >= n_given:
            _check_limit(
                clf.max_conditions is None or len(rule.conditions) <= clf.max_conditions, "max_conditions", rule
            )
            _check_limit(covers.sum() >= support, "min_support", rule)
            _check_overlap(clf, rule, covers, covered, by_label)
        covered |= covers
        by_label[rule.label] = by_label.get(rule.label, False) | covers
    for j, rule in enumerate(rule_set.fallbacks):
        covers = rule.covers(run.X, missing_values=run.codes) & ~covered
        _check_counts(rule, covers, y, f"fallback rule {j + 1}")
        covered |= covers
    if not covered.all() and run.answers[0][int(np.argmin(covered))] != rule_set.default:
        raise CheckError(f"record {int(np.argmin(covered))} is not covered, but does not get the default label")


def _check_overlap(clf, rule, covers, covered, by_label):
    """The records that earlier rules cover are within ``max_overlap``, in all or by label."""
    overlap, n = getattr(clf, "max_overlap", 1), covers.sum()
    if not isinstance(overlap, dict):
        _check_limit((covers & covered).sum() <= overlap * n + 1e-9, "max_overlap", rule)
        return
    missing = 0.01 if type(clf).__name__ == "DiverseRuleSetClassifier" else 1
    others = np.zeros(len(covers), bool)
    for label, earlier in by_label.items():
        others |= earlier if label != rule.label else False
    agreeing = (covers & by_label.get(rule.label, False)).sum()
    _check_limit(agreeing <= overlap.get("agree", missing) * n + 1e-9, "max_overlap['agree']", rule)
    contradicting = (covers & others).sum()
    _check_limit(contradicting <= overlap.get("contradict", missing) * n + 1e-9, "max_overlap['contradict']", rule)


def _check_limit(holds, name, rule):
    if not holds:
        raise CheckError(f"{name} is exceeded by the rule {rule}", "print(clf.rule_set_)")


def _check_counts(rule, covers, y, what):
    counts = {label: 0 for label, _ in rule.class_counts}
    for label, flag in zip(y, covers.tolist(), strict=True):
        if flag:
            counts[label] = counts.get(label, 0) + 1
    if counts != dict(rule.class_counts):
        raise CheckError(
            f"{what} counts {dict(rule.class_counts)}, it covers {counts}", f"print({what!r}, clf.rule_set_)"
        )


def plain_labels(y):
    """Return labels as a list of Python values."""
    y = next(iter(y.to_dict("list").values())) if hasattr(y, "iloc") and y.ndim == 2 else y
    y = y.to_series(0) if hasattr(y, "to_series") and hasattr(y, "columns") else y
    y = np.asarray(y).reshape(-1) if isinstance(y, np.ndarray) and not isinstance(y, np.ma.MaskedArray) else y
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(y, method):
            return getattr(y, method)()
    return [label.item() if isinstance(label, np.generic) else label for label in y]


def _plain(name):
    """Return a name as the Python value that conditions hold: numpy compares a scalar with each part of a tuple."""
    return name.item() if isinstance(name, np.generic) else name


def check_constraints(run):
    """Learnt rules and fallback rules respect forbidden, required and monotone columns; given rules are kept."""
    clf, rule_set = run.clf, run.rule_set
    given = list(getattr(clf, "given_rules", None) or ())
    for rule, known in zip(rule_set, given, strict=False):
        if rule.conditions != known.conditions:
            raise CheckError(f"the given rule {known} became {rule}", "print(clf.rule_set_)")
    for rule in (*rule_set.rules[len(given) :], *rule_set.fallbacks):
        used = [condition.column for condition in rule.conditions]
        if len(set(used)) < len(used):
            raise CheckError(f"two conditions on a column in {rule}", "print(clf.rule_set_)")
        read = {column for condition in rule.conditions for column in condition.columns}
        if any(_plain(name) in read for name in getattr(clf, "forbidden", None) or ()):
            raise CheckError(f"a forbidden column in {rule}", "print(clf.rule_set_)")
        if any(_plain(name) not in used for name in getattr(clf, "required", None) or ()):
            raise CheckError(f"no required column in {rule}", "print(clf.rule_set_)")
        for name, directions in (getattr(clf, "monotone", None) or {}).items():
            if not isinstance(directions, dict):
                second = rule.label == rule_set.classes[-1]
                directions = {rule.label: directions if second else _OPPOSITE[directions]}
            _check_direction(rule, name, directions.get(rule.label))
            check_direction_of_points(rule, _plain(name), directions.get(rule.label))


_OPPOSITE = {"increasing": "decreasing", "decreasing": "increasing"}


def _check_direction(rule, name, direction):
    banned = {"increasing": "<", "decreasing": ">", None: "no operator"}[direction]
    for condition in rule.conditions:
        if condition.column == _plain(name) and any(test.startswith(banned) for test, _ in condition.comparisons):
            raise CheckError(f"{name!r} is {direction} but {rule}", "print(clf.rule_set_)")


def check_text(run):
    """A rule is read back from its text; rules on columns of unusual types may be refused instead."""
    cards, orders = run.rule_set.scorecards, run.rule_set.orders
    for rule in run.rule_set.all_rules:
        code = f"rule = clf.rule_set_.all_rules[{run.rule_set.all_rules.index(rule)}]\n"
        code += "assert drs.Rule.parse(str(rule), clf.rule_set_.scorecards, orders=clf.rule_set_.orders) == rule"
        again, error = refusal(lambda rule=rule: drs.Rule.parse(str(rule), cards, orders=orders))
        if error is not None:
            if _is_readable(rule):
                raise CheckError(f"{str(rule)!r} is not read back: {error}", code)
        elif again != rule:
            raise CheckError(f"{str(rule)!r} is read back as {str(again)!r}", code)
        elif not (again.covers(run.X, missing_values=run.codes) == rule.covers(run.X, missing_values=run.codes)).all():
            raise CheckError(f"{str(rule)!r} read back covers other records", code)


def _is_readable(rule):
    """Return whether all values and names of a rule, signs of scorecards included, must be read back from text."""
    tested = [one for condition in rule.conditions for one in condition.plain_conditions]
    values = [value for condition in tested for value in condition.values_named]
    plain = all(isinstance(value, str | bool | int | float | datetime.date) for value in values)
    return plain and all(is_plain(condition.column) for condition in tested)


def check_values(run):
    """Values in conditions are plain: no numpy scalars, no pandas types, dates as datetimes without zone or in UTC."""
    for rule in run.rule_set.all_rules:
        signs = (one for condition in rule.conditions for one in condition.plain_conditions)
        for condition in dict.fromkeys((*rule.conditions, *signs)):
            for value in (*condition.values_named, *(bound for _, bound in condition.comparisons)):
                zoned = isinstance(value, datetime.datetime) and value.tzinfo not in (None, datetime.UTC)
                if type(value) not in _PLAIN_TYPES or zoned:
                    raise CheckError(
                        f"a {type(value).__name__} in a condition: {rule}", "print(repr(clf.rule_set_[0]))"
                    )


_PLAIN_TYPES = (str, bool, int, float, datetime.datetime, bytes, tuple)


def check_same_seed(run):
    """The same seed gives the same rules, also with two threads."""
    threads = 2 if run.draw.chance(0.2) else None
    again = type(run.clf)(**{**run.clf.get_params(), "n_jobs": threads}).fit(run.X, run.y).rule_set_
    if again != run.rule_set or str(again) != str(run.rule_set):
        raise CheckError(
            f"a second fit with n_jobs={threads} gives other rules", f"# fit once more with n_jobs={threads}"
        )


def check_evaluated(run):
    """Counts computed again on the training records are those of the fit."""
    again = run.rule_set.evaluated(run.X, run.y)
    counts = [[rule.class_counts for rule in rules.all_rules] for rules in (again, run.rule_set)]
    if counts[0] != counts[1] or again.uncovered_counts != run.rule_set.uncovered_counts:
        raise CheckError("evaluated gives other counts", "print(clf.rule_set_.evaluated(X, y))")


def check_other_library(run):
    """The same seed gives the same rules, whatever the library of the table."""
    other = _converted(run)
    if other is None:
        run.exempt.append("no other library")
        return
    names = other.column_names if isinstance(other, pa.Table) else other.columns
    if list(names) != run.case.names:  # polars gives a name to a column whose name is empty
        return
    code = "# fit X.to_arrow(), pl.from_arrow(X) or pl.from_pandas(X) instead of X"
    again = type(run.clf)(**run.clf.get_params()).fit(other, run.y).rule_set_
    if again != run.rule_set:
        raise CheckError(f"other rules from {type(other).__module__}: {again[:1]!r:.200}", code)
    run.compare(run.answer(other), f"as a table of {type(other).__module__}", code)


def _converted(run):
    """Return the table as one of another library, if all its columns keep their meaning; else None."""
    if has_repetition(run.case.names) or any(column.fate != FITS for column in run.case.columns):
        return None
    if any(isinstance(name, str) and "\0" in name for name in run.case.names):  # polars cannot convert such a name
        return None
    words = [word for column in run.case.columns for word in column.kind.name.split()[1:2]]
    try:
        if isinstance(run.X, pl.DataFrame):
            return None if any("Enum" in word for word in words) else run.X.to_arrow()
        if isinstance(run.X, pa.Table):
            return None if any("256" in word for word in words) else pl.from_arrow(run.X)
        if isinstance(run.X, pd.DataFrame) and all(type(name) is str for name in run.case.names):
            plain = all(getattr(dtype, "kind", "O") in "iufbM" for dtype in run.X.dtypes)
            return pl.from_pandas(run.X) if plain else None
    except ERRORS:  # the other library has no such type
        return None
    return None


CHECKS = [
    ("limits", check_limits, 0.6),
    ("constraints", check_constraints, 1.0),
    ("values", check_values, 1.0),
    ("text", check_text, 0.4),
    ("same seed", check_same_seed, 0.05),
    ("other library", check_other_library, 0.1),
    ("evaluated", check_evaluated, 0.2),
    ("scorecards", check_scorecards, 1.0),
]
