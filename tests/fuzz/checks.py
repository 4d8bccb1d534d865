"""Checks of a fitted table: same answers for a record in any batch, limits, counts, constraints, text."""

import warnings
from functools import partial

import numpy as np

import diverse_rule_sets as drs
from diverse_rule_sets import baselines

from . import exports, rule_checks
from .kinds import REFUSED, evaluate
from .names import as_python, has_repetition
from .outcome import ERRORS, CaseError, CheckError, check_refusal, names_column, refusal, watched_warnings
from .tables import build, build_labels, slice_records, take_columns, take_records
from .values import Draw

NAMES = {**vars(drs), **{name: getattr(drs, name) for name in drs.__all__}}
NAMES |= {name: getattr(baselines, name) for name in ("CBAClassifier", "CN2Classifier", "IDSClassifier")}


class Fitted:
    """A fitted case, with the answers for its training records."""

    def __init__(self, case, X, y, new, clf):
        self.case, self.X, self.y, self.new, self.clf = case, X, y, new, clf
        self.rule_set = clf.rule_set_
        self.codes = dict(clf.rule_set_.missing_values)
        self.draw = Draw(case.seed)
        self.exempt = []

    def answer(self, X=None, model=None):
        """Return labels and probabilities of a table, by default of the training records, from one pass over it."""
        model = self.clf if model is None else model
        X = self.X if X is None else X
        if isinstance(model, drs.RuleSet):
            found = model.answer(X)
            return found.predictions().tolist(), found.probabilities
        found = model._answer(X)  # what predict and predict_proba use; check_answers compares
        return model.classes_[found.labels].tolist(), found.probabilities

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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y = build(case), build_labels(case)
            new = build(case, "new") if case.columns[0].new else None
    except ERRORS:  # the library of the table itself refuses it
        return "not built", (), ()
    with watched_warnings() as check_warnings:
        clf, refused = estimator(case), None
        try:
            clf.fit(X, y)
        except ERRORS as error:
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
    except ERRORS as error:
        raise CaseError(name, error) from None


def _check_accepted(case):
    if case.fate == REFUSED:
        raise CheckError(f"fitted, although it must be refused: {[(c.name, c.kind.name) for c in case.columns]}")


def check_answers(run):
    """Labels are classes, probabilities are finite and sum to 1, and there is one answer for each record."""
    labels, shares = run.answers
    run.compare((run.clf.predict(run.X).tolist(), run.clf.predict_proba(run.X)), "predict", "print(clf.predict(X))")
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
    """New records of the same kinds of columns, with other values: see `_check_batch`."""
    if run.new is not None:
        _check_batch(run, run.new, len(run.case.columns[0].new))


def check_other_type(run):
    """New records with one column of another kind: see `_check_batch`."""
    case = run.case.with_other_type()
    if case is None:
        return
    try:
        new = build(case)
    except ERRORS:
        return
    _check_batch(run, new, case.n_records)


def _check_batch(run, new, n):
    """A table is refused if and only if one of its records is, and the error names a column; else answers agree."""
    batch, error = refusal(lambda: run.answer(new))
    if error is not None:
        run.exempt.append("new records refused")
        if not any(names_column(error, column.name) for column in run.case.columns):
            raise CheckError(f"the error names no column: {error}", "print(clf.predict(X_new))")
    refused = False
    for i in range(n):
        alone, own_error = refusal(lambda i=i: run.answer(slice_records(new, i, i + 1)))
        refused |= own_error is not None
        code = f"i = {i}\nprint(clf.predict({SLICE[run.case.library].replace('X', 'X_new')}), clf.predict(X_new))"
        if own_error is not None and error is None:
            raise CheckError(f"a new record alone is refused, but not in a batch: record {i}, {own_error}", code)
        if own_error is None and error is None:
            run.compare(alone, "new record alone", code, (batch[0][i : i + 1], batch[1][i : i + 1]))
    if error is not None and not refused:
        code = "print(clf.predict(X_new))"
        raise CheckError(f"the batch of new records is refused, but no record alone: {error}", code)


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
    used = [j for j in order if is_used(run, run.case.names[j])] or order[:1]
    try:
        other, needed = take_columns(run.X, order), take_columns(run.X, used)
    except Exception:
        run.exempt.append("no permutation of columns")
        return
    if other is not None and not has_repetition(run.case.names):
        run.compare(run.answer(other), "columns in another order", f"order = {order}  # of the columns")
        run.compare(run.answer(needed), "only the needed columns", f"used = {used}  # the columns that the rules use")


def _is_shown(shown, label):
    """Return whether a data frame shows a label; polars and Arrow cannot hold half of a surrogate pair."""
    return shown == label or (
        isinstance(label, str) and shown == label.encode("utf8", "backslashreplace").decode("utf8")
    )


def is_used(run, name):
    """Return whether a rule has a condition on a column."""
    used = set(run.rule_set.columns)
    return name in used or as_python(name) in used


def check_explain(run):
    """`explain` and `why` work and give the label of predict."""
    labels, _ = run.answers
    frame = run.clf.explain(run.X)
    column = frame["label"]
    found = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    if len(found) != len(labels) or any(not _is_shown(a, b) for a, b in zip(found, labels, strict=True)):
        raise CheckError(f"explain gives {found[:5]}, predict {labels[:5]}", "print(clf.explain(X))")
    texts = run.clf.why(slice_records(run.X, 0, 1))
    if not isinstance(texts, list) or len(texts) != 1 or not isinstance(texts[0], str) or not texts[0]:
        raise CheckError(f"why gives {texts!r:.100}, expected a list of one text", "print(clf.why(X)[0])")
    str(run.rule_set), run.rule_set._repr_html_()
    n_rows = len(run.rule_set.to_frame())
    n_points = sum(card.n_pairs + len(card.base) for card in run.rule_set.scorecards)
    if n_rows != len(run.rule_set.all_rules) + 1 + n_points:
        raise CheckError(f"to_frame has {n_rows} rows", "print(clf.rule_set_.to_frame())")


def check_weights(run):
    """Weights that are whole numbers are numbers of copies, and 0 is absence: the same rules, or both are refused."""
    weights = [run.draw.pick([0, 1, 1, 2]) for _ in range(run.case.n_records)]
    if not any(weights):
        return
    copies = [i for i, weight in enumerate(weights) for _ in range(weight)]
    labels = run.y.to_numpy().reshape(-1) if hasattr(run.y, "columns") else run.y
    labels = labels.to_pylist() if hasattr(labels, "to_pylist") else list(labels)
    try:
        repeated = take_records(run.X, copies)
    except Exception:  # the library of the table has no such operation for this type
        run.exempt.append("no copies of records")
        return
    make = partial(type(run.clf), **run.clf.get_params())
    expected, error = refusal(lambda: make().fit(repeated, [labels[i] for i in copies]).rule_set_)
    got, own_error = refusal(lambda: make().fit(run.X, run.y, weights).rule_set_)
    code = f"weights = {weights}\nprint(clf.fit(X, y, weights).rule_set_)"
    if (error is None) != (own_error is None):
        raise CheckError(f"with weights: {own_error}; with copies: {error}", code)
    if error is None and (got != expected or str(got) != str(expected)):
        raise CheckError(f"other rules from weights than from copies: {got[:1]!r:.200}", code)


# Each check with the share of the cases in which it is done.
CHECKS = [
    ("records", check_records, 1.0),
    ("new records", check_new_records, 0.7),
    ("other type", check_other_type, 0.3),
    ("order", check_order, 0.5),
    ("explain", check_explain, 0.3),
    *rule_checks.CHECKS,
    *exports.CHECKS,
    ("weights", check_weights, 0.1),
]
ALL_CHECKS = {"answers": check_answers, **{name: check for name, check, _ in CHECKS}}


def choose_checks(draw):
    """Return the names of the checks of a case."""
    return tuple(name for name, _, share in CHECKS if draw.chance(share))
