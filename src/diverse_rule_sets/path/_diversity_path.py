"""diversity_path: what a rule set is worth on held-out records, by how much there is to read and by overlap."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from diverse_rule_sets.estimators._bounds import check_statements
from diverse_rule_sets.estimators._max_overlap import OverlapCheck
from diverse_rule_sets.estimators._search_classifier import SearchClassifier
from diverse_rule_sets.estimators._unwrap import unwrap
from diverse_rule_sets.learn._learner import Budget
from diverse_rule_sets.path._measuring import Records, SourceRecords, measure, point
from diverse_rule_sets.path._path import DiversityPath
from diverse_rule_sets.path._scoring import as_scorers
from diverse_rule_sets.sources._as_source import as_source

# The values that are compared by default.
_MAX_STATEMENTS = (2, 3, 5, 8, 10, 15, 20)
_MAX_RULES = (1, 2, 3, 5, 8, 12, 20, 30, 40)
_MAX_OVERLAP = (0.0, 0.01, 0.1, 1.0)


def diversity_path(
    clf: Any,
    X: Any,
    y: Any,
    *,
    max_statements: Sequence[int | None] | None = None,
    max_rules: Sequence[int] | None = None,
    max_overlap: Sequence[float | Mapping[str, float]] | None = None,
    diversity: Sequence[str | float] | None = None,
    scoring: Any = None,
    cv: Any = 5,
    random_state: int | None = 0,
    sample_weight: Any = None,
) -> DiversityPath:
    """Measure the trade-off between accuracy and how much there is to read: statements, conditions, overlap.

    Every combination of the values given is measured on held-out folds. Each point has the figures of fits with these
    parameters on the training records of the folds. One search gives the rule sets for all values of
    ``max_statements`` and ``max_rules``; each further value of ``max_overlap`` or ``diversity`` needs another search.

    Parameters
    ----------
    clf : DiverseRuleSetClassifier or DRSClassifier, whose other parameters are used; or a Pipeline that ends in one,
        whose earlier steps are fitted on the training records of each fold; or a fitted search such as GridSearchCV, of
        which ``best_estimator_`` is used. It is not changed, and a classifier or pipeline need not be fitted
    X, y : the records; y may be the name of the column of X with the labels, which a table that is read in batches, as
        in ``fit``, needs. Such a table is read several times for each fold, and the folds do not depend on the batches
    max_statements : limits on rules, fallback rules and the default label together, None for no limit; for
        DiverseRuleSetClassifier only. By default 2, 3, 5, 8, 10, 15, 20, as far as they are below that of the
        classifier and not below the number of given rules + 1, and that of the classifier; if ``max_rules`` is given,
        only that of the classifier
    max_rules : numbers of rules, given rules included; by default that of the classifier, and for DRSClassifier also
        some smaller numbers
    max_overlap : values of that parameter, numbers or dicts such as ``{"agree": 0.3, "contradict": 0.01}``; by default
        that of the classifier, and for DRSClassifier 0, 0.01, 0.1 and 1
    diversity : values of that parameter, for DRSClassifier only; by default that of the classifier
    scoring : the scores of held-out records, as in scikit-learn's ``cross_validate``: the name of a scorer such as
        ``"average_precision"``, a function of an estimator, X and y that returns a number, or a list or dict of these.
        The first is the one that the plot shows; by default balanced accuracy. The estimator is a copy of ``clf`` (of
        the last step, if it is a Pipeline) that predicts with the rule set of the point; X has the held-out records of
        a fold as they were given (for a Pipeline, as the earlier steps return them), and y their labels
    cv : number of folds, shuffled and stratified, or a scikit-learn splitter
    random_state : seed of the folds, and of the classifier if it has none
    sample_weight : weights of the records or the name of their column, as in ``fit``. Records of weight 0 are left out
        before the folds are made. Folds consist of records: a record of weight 2 is in one fold. All figures are
        weighted, and so are the scores of scorers that take ``sample_weight``

    Returns
    -------
    DiversityPath : the points, to print or plot. Balanced accuracy, accuracy, AUC, log loss and sizes are measured with
        any ``scoring``. A figure that cannot be computed on a fold, because a class is missing among its training or
        held-out records, is left out of the mean

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier, diversity_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = diversity_path(DiverseRuleSetClassifier(), X, y, max_statements=[2, 3], scoring="roc_auc_ovo")
    >>> [point.statements for point in path]
    [2.0, 3.0]
    """
    found = unwrap(clf)
    if not isinstance(found.model, SearchClassifier):
        raise TypeError(
            f"clf must be a DiverseRuleSetClassifier or a DRSClassifier, or a Pipeline or a fitted search such as "
            f"GridSearchCV that ends in one, got {found}"
        )
    values = _compared(found.model, max_statements, max_rules, max_overlap, diversity)
    scorers = as_scorers(scoring)
    source = as_source(X)
    records: Any = (
        Records(found, X, y, sample_weight) if source is None else SourceRecords(found, source, y, sample_weight)
    )
    results: dict[tuple[Any, ...], list[Any]] = {}
    for train, test in _folds(cv, random_state, records):
        fold = records.fold(train, test, with_raw=bool(scorers))
        training = fold.training if source is not None else fold.training.with_cache()
        for (k, overlap), weight in itertools.product(enumerate(values.overlaps), values.weights):
            one = clone(found.model).set_params(max_overlap=overlap)
            if diversity is not None:
                one.set_params(diversity=weight)
            if one.random_state is None:
                one.set_params(random_state=random_state)
            rule_sets = one._rule_sets(*fold.fitted, values.budgets, fold.training_weights)
            for budget, rule_set in zip(values.budgets, rule_sets, strict=True):
                limited = _with_budget(one, budget)
                results.setdefault((budget, k, weight), []).append(measure(limited, rule_set, fold, training, scorers))
    return DiversityPath(
        point((budget.max_statements, budget.max_rules, values.overlaps[k], weight), rows)
        for (budget, k, weight), rows in results.items()
    )


class _Compared(NamedTuple):
    """The values that are compared."""

    budgets: list[Budget]
    overlaps: list[float | dict[str, float]]
    weights: list[str | float]


def _compared(
    clf: SearchClassifier, max_statements: Any, max_rules: Any, max_overlap: Any, diversity: Any
) -> _Compared:
    """Return the values to compare, checked: those given, or else the defaults."""
    for name, given, owner in (
        ("diversity", diversity, "DRSClassifier"),
        ("max_statements", max_statements, "DiverseRuleSetClassifier"),
    ):
        if given is not None and name not in clf.get_params():
            raise ValueError(f"{name} can be compared for {owner} only, which has that parameter, got {given!r}")
    clf._check_parameters()
    budgets = _budgets(clf, max_statements, max_rules)
    limits_statements = "max_statements" in clf.get_params()
    default = [clf.max_overlap] if limits_statements else list(_MAX_OVERLAP)
    overlaps = [_overlap(value) for value in _values("max_overlap", max_overlap, default)]
    return _Compared(budgets, overlaps, _values("diversity", diversity, [clf._settings().diversity]))


def _budgets(clf: SearchClassifier, max_statements: Any, max_rules: Any) -> list[Budget]:
    """Return the combinations of numbers of rules and of statements."""
    n_given = len(clf.given_rules) if isinstance(clf.given_rules, list | tuple) else 0
    own_rules, own = int(clf.max_rules), clf._extensions().max_statements
    limits_statements = "max_statements" in clf.get_params()
    smaller_rules = [] if limits_statements else [n for n in _MAX_RULES if n_given <= n < own_rules]
    smaller = [n for n in _MAX_STATEMENTS if n_given < n and (own is None or n < own)]
    if max_rules is not None or not limits_statements:
        smaller = []
    counts = _values("max_rules", max_rules, [*smaller_rules, own_rules])
    limits = _values("max_statements", max_statements, [*smaller, own])
    for n in counts:
        clf._parameter_checks["max_rules"]("max_rules", n)
    for limit in limits:
        if limit is not None:
            clf._parameter_checks["max_statements"]("max_statements", limit)
            check_statements(int(limit), n_given)
    return [Budget(int(n), None if limit is None else int(limit)) for n in counts for limit in limits]


def _with_budget(clf: SearchClassifier, budget: Budget) -> SearchClassifier:
    """Return a copy of the classifier with the limits of a budget."""
    limits = {name: value for name, value in budget._asdict().items() if name in clf.get_params()}
    return clone(clf).set_params(**limits)  # type: ignore[no-any-return]


def _folds(cv: Any, random_state: int | None, records: Any) -> Iterable[tuple[Any, Any]]:
    """Return the numbers of the training records and of the held-out records of each fold."""
    from sklearn.model_selection import StratifiedKFold, check_cv  # slow to import, and needed only here

    if cv is None or isinstance(cv, numbers.Integral):
        folds: Any = StratifiedKFold(5 if cv is None else int(cv), shuffle=True, random_state=random_state)
    else:
        folds = check_cv(cv, records.codes, classifier=True)
    return folds.split(np.zeros(records.n_records), records.codes)  # type: ignore[no-any-return]


def _values(name: str, given: Sequence[Any] | None, default: list[Any]) -> list[Any]:
    """Return the values to compare, without repetition."""
    if given is None:
        return default
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of values to compare, got {given!r}")
    values: list[Any] = []
    for value in given:  # dicts cannot be keys
        if value not in values:
            values.append(value)
    if not values:
        raise ValueError(f"{name} must name at least one value, got {given!r}")
    return values


def _overlap(value: Any) -> float | dict[str, float]:
    """Return a checked value of ``max_overlap``."""
    OverlapCheck()("max_overlap", value)
    return {key: float(share) for key, share in value.items()} if isinstance(value, Mapping) else float(value)
