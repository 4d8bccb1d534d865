"""Checks of a fitted table: same answers for a record in any batch, limits, counts, constraints, text."""

import datetime

import numpy as np

import diverse_rule_sets as drs
from diverse_rule_sets import baselines

from . import exports
from .kinds import FITS, REFUSED, evaluate
from .names import has_repetition, is_plain
from .outcome import CaseError, CheckError, check_refusal, is_one_line, refusal, watched_warnings
from .tables import build, build_labels, slice_records, take_columns, take_records
from .values import Draw

NAMES = {**vars(drs), **{name: getattr(drs, name) for name in drs.__all__}}
NAMES |= {name: getattr(baselines, name) for name in ("CBAClassifier", "CN2Classifier", "IDSClassifier")}


class Fitted:
    """A fitted case, with the answers for its training records."""

    def __init__(self, case, X, y, new, clf):
        self.case, self.X, self.y, self.new, self.clf = case, X, y, new, clf
        self.rule_set = clf.rule_set_
        self.draw = Draw(case.seed)
        self.exempt = []

    def answer(self, X=None, model=None):
        """Return labels and probabilities of a table, by default of the training records."""
        model = self.clf if model is None else model
        X = self.X if X is None else X
        return model.predict(X).tolist(), model.predict_proba(X)

    def compare(self, found, what, code, expected=None, tolerance=1e-12):
        """Raise a CheckError unless labels are the same, and probabilities up to a tolerance."""
        labels, shares = found
        wanted, chances = self.answers if expected is None else expected
        if len(labels) != len(wanted):
            raise CheckError(f"{what}: {len(labels)} answers for {len(wanted)} records", code)
        for i, (a, b) in enumerate(zip(labels, wanted, strict=True)):
            if type(a) is not type(b) or a != b:
                raise CheckError(f"{what}: record {i} gets the label {a!r}, in one batch {b!r}", code)
        differ = np.flatnonzero(~(np.abs(np.asarray(shares) - chances) <= tolerance).all(axis=1))
        if differ.size:
            i = int(differ[0])
            raise CheckError(f"{what}: record {i} gets {shares[i]}, in one batch {chances[i]}", code)

    @property
    def answers(self):
        if not hasattr(self, "_answers"):
            self._answers = self.answer()
        return self._answers


def estimator(case):
    """Return the estimator of a case, not fitted."""
    return NAMES[case.estimator](**{name: evaluate(code, **NAMES) for name, code in case.parameters.items()})


def check_table(case):
    """Run a case. Return its outcome, the checks done and the exemptions; raises CaseError."""
    try:
        X, y = build(case), build_labels(case)
        new = build(case, "new") if case.columns[0].new else None
    except Exception:  # the library of the table itself refuses it
        return "not built", (), ()
    with watched_warnings() as check_warnings:
        clf, refused = estimator(case), None
        try:
            clf.fit(X, y)
        except Exception as error:
            refused = error
        if refused is not None:
            _do("fit", check_warnings, check_refusal, case, refused)
            return "refused", ("fit",), ()
        _do("fit", check_warnings, _check_accepted, case)
        run = Fitted(case, X, y, new, clf)
        for name in ("answers", *case.checks):
            _do(name, check_warnings, ALL_CHECKS[name], run)
        return "fitted", ("answers", *case.checks), tuple(run.exempt)


def _do(name, check_warnings, check, *arguments):
    """Call a check; any error in it, and any unknown warning, is a CaseError."""
    try:
        check(*arguments)
        check_warnings()
    except Exception as error:
        raise CaseError(name, error) from None


def _check_accepted(case):
    if case.fate == REFUSED:
        raise CheckError(f"fitted, although it must be refused: {[(c.name, c.kind.name) for c in case.columns]}")


def check_answers(run):
    """Labels are classes, probabilities are finite and sum to 1, and there is one answer for each record."""
    labels, shares = run.answers
    n = run.case.n_records
    if len(labels) != n or shares.shape != (n, len(run.clf.classes_)):
        raise CheckError(f"{len(labels)} labels and probabilities of shape {shares.shape} for {n} records")
    known = run.clf.classes_.tolist()
    strangers = [label for label in labels if label not in known]
    if strangers:
        raise CheckError(f"the label {strangers[0]!r} is not among the classes {known}")
    if not np.isfinite(shares).all() or (np.abs(shares.sum(axis=1) - 1) > 1e-9).any() or (shares < 0).any():
        raise CheckError(f"probabilities {shares.tolist()[:3]} are not finite, not positive or do not sum to 1")


def check_records(run):
    """The answer for a record does not depend on the other records of the batch."""
    labels, shares = run.answers
    for i in run.draw.some(range(run.case.n_records), 10**6 if run.case.thorough else 5):
        found = run.answer(slice_records(run.X, i, i + 1))
        code = f"i = {i}\nassert clf.predict({SLICE[run.case.library]}).tolist() == clf.predict(X).tolist()[i:i + 1]"
        run.compare(found, f"record {i} alone", code, (labels[i : i + 1], shares[i : i + 1]))


SLICE = {"pandas": "X.iloc[i:i + 1]", "arrow": "X.slice(i, 1)"} | dict.fromkeys(
    ("polars", "numpy", "lists"), "X[i:i + 1]"
)


def check_new_records(run):
    """A table of new records is refused if and only if one of its records is; otherwise answers are the same."""
    n, new = len(run.case.columns[0].new), run.new
    if new is None:
        return
    batch, error = refusal(lambda: run.answer(new))
    if error is not None:
        run.exempt.append("new records refused")
    refused = False
    for i in range(n):
        alone, own_error = refusal(lambda i=i: run.answer(slice_records(new, i, i + 1)))
        refused |= own_error is not None
        code = f"i = {i}\nprint(clf.predict({SLICE[run.case.library].replace('X', 'X_new')}), clf.predict(X_new))"
        if own_error is not None and error is None:
            raise CheckError(f"new record {i} alone is refused, but not in a batch: {own_error}", code)
        if own_error is None and error is None:
            run.compare(alone, f"new record {i} alone", code, (batch[0][i : i + 1], batch[1][i : i + 1]))
    if error is not None and not refused:
        raise CheckError(
            f"the batch of new records is refused, but no record alone: {error}", "print(clf.predict(X_new))"
        )


def check_order(run):
    """The answer does not depend on the order of the records, nor on that of named columns."""
    labels, shares = run.answers
    order = run.draw.some(range(run.case.n_records), run.case.n_records)
    try:
        shuffled = take_records(run.X, order)
    except Exception:  # the library of the table has no such operation for this type
        run.exempt.append("no permutation of records")
    else:
        code = f"order = {order}\nprint(clf.predict(X[order]), clf.predict(X)[order])  # the records in this order"
        run.compare(run.answer(shuffled), "records in another order", code, ([labels[i] for i in order], shares[order]))
    order = run.draw.some(range(len(run.case.columns)), len(run.case.columns))
    other = take_columns(run.X, order)
    if other is not None and not has_repetition(run.case.names):
        run.compare(run.answer(other), "columns in another order", f"order = {order}  # of the columns")


def check_explain(run):
    """`explain` and `why` work and give the label of predict."""
    labels, _ = run.answers
    frame = run.clf.explain(run.X)
    column = frame["label"]
    found = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    if len(found) != len(labels) or any(a != b for a, b in zip(found, labels, strict=True)):
        raise CheckError(f"explain gives {found[:5]}, predict {labels[:5]}", "print(clf.explain(X))")
    texts = run.clf.why(slice_records(run.X, 0, 1))
    if not isinstance(texts, list) or len(texts) != 1 or not isinstance(texts[0], str) or not texts[0]:
        raise CheckError(f"why gives {texts!r:.100}, expected a list of one text", "print(clf.why(X)[0])")
    str(run.rule_set), run.rule_set._repr_html_()
    n_rows = len(run.rule_set.to_frame())
    if n_rows != len(run.rule_set.all_rules) + 1:
        raise CheckError(f"to_frame has {n_rows} rows", "print(clf.rule_set_.to_frame())")


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
    overlap = getattr(clf, "max_overlap", 1)
    for j, rule in enumerate(rule_set):
        covers = rule.covers(run.X)
        _check_counts(rule, covers, y, f"rule {j + 1}")
        if j >= n_given:
            _check_limit(
                clf.max_conditions is None or len(rule.conditions) <= clf.max_conditions, "max_conditions", rule
            )
            _check_limit(covers.sum() >= support, "min_support", rule)
            _check_limit((covers & covered).sum() <= overlap * covers.sum() + 1e-9, "max_overlap", rule)
        covered |= covers
    for j, rule in enumerate(rule_set.fallbacks):
        covers = rule.covers(run.X) & ~covered
        _check_counts(rule, covers, y, f"fallback rule {j + 1}")
        covered |= covers
    if not covered.all() and run.answers[0][int(np.argmin(covered))] != rule_set.default:
        raise CheckError(f"record {int(np.argmin(covered))} is not covered, but does not get the default label")


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
        if any(name in used for name in getattr(clf, "forbidden", None) or ()):
            raise CheckError(f"a forbidden column in {rule}", "print(clf.rule_set_)")
        if any(name not in used for name in getattr(clf, "required", None) or ()):
            raise CheckError(f"no required column in {rule}", "print(clf.rule_set_)")
        for name, directions in (getattr(clf, "monotone", None) or {}).items():
            if not isinstance(directions, dict):
                second = rule.label == rule_set.classes[-1]
                directions = {rule.label: directions if second else _OPPOSITE[directions]}
            _check_direction(rule, name, directions.get(rule.label))


_OPPOSITE = {"increasing": "decreasing", "decreasing": "increasing"}


def _check_direction(rule, name, direction):
    banned = {"increasing": "<", "decreasing": ">", None: "no operator"}[direction]
    for condition in rule.conditions:
        if condition.column == name and any(test.startswith(banned) for test, _ in condition.comparisons):
            raise CheckError(f"{name!r} is {direction} but {rule}", "print(clf.rule_set_)")


def check_text(run):
    """A rule is read back from its text; rules on columns of unusual types may be refused instead."""
    for rule in run.rule_set.all_rules:
        code = f"rule = clf.rule_set_.all_rules[{run.rule_set.all_rules.index(rule)}]\n"
        code += "assert drs.Rule.parse(str(rule)) == rule"
        again, error = refusal(lambda rule=rule: drs.Rule.parse(str(rule)))
        if error is not None:
            values = [value for condition in rule.conditions for value in condition.values_named]
            plain = all(isinstance(value, str | bool | int | float | datetime.date) for value in values)
            if plain and all(is_plain(condition.column) for condition in rule.conditions):
                raise CheckError(f"{str(rule)!r} is not read back: {error}", code)
        elif again != rule:
            raise CheckError(f"{str(rule)!r} is read back as {str(again)!r}", code)
        elif not (again.covers(run.X) == rule.covers(run.X)).all():
            raise CheckError(f"{str(rule)!r} read back covers other records", code)


def check_values(run):
    """Values in conditions are plain: no numpy scalars, no pandas types, dates as datetimes without zone or in UTC."""
    for rule in run.rule_set.all_rules:
        for condition in rule.conditions:
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


# Each check with the share of the cases in which it is done.
CHECKS = [
    ("records", check_records, 1.0),
    ("new records", check_new_records, 0.7),
    ("order", check_order, 0.5),
    ("explain", check_explain, 0.3),
    ("limits", check_limits, 0.6),
    ("constraints", check_constraints, 1.0),
    ("values", check_values, 1.0),
    ("text", check_text, 0.4),
    ("same seed", check_same_seed, 0.05),
    ("evaluated", check_evaluated, 0.2),
    *exports.CHECKS,
]
ALL_CHECKS = {"answers": check_answers, **{name: check for name, check, _ in CHECKS}}


def choose_checks(draw):
    """Return the names of the checks of a case."""
    return tuple(name for name, _, share in CHECKS if draw.chance(share))


__all__ = ["FITS", "check_table", "choose_checks", "is_one_line"]
