"""IDS: interpretable decision sets (Lakkaraju, Bach and Leskovec, KDD 2016)."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets._input.checks import Check, Choice, Number, check_choice, check_number, generator
from diverse_rule_sets.data._backend import Backend, Cover
from diverse_rule_sets.estimators._baseline import BASELINE_CHECKS, BodyAndLabel, MiningBaseline, Report, Support
from diverse_rule_sets.estimators._ids_objective import N_TERMS, Floats, Pool, Selection
from diverse_rule_sets.estimators._translation import Items

# The values that the coordinate search tries for each weight, and the initial value, as in "Diverse Rule Sets".
_GRID = (1.0, 10.0, 100.0, 500.0, 1000.0)
_INITIAL_WEIGHT = 0.5
_VALIDATION_SHARE = 0.2
# Of at most so many records, counted by weight, single counts are drawn for validation.
_MAX_PERMUTED = 20_000_000
# The smooth local search draws so many sets at a time, and at most so many for one estimate.
_DRAWN, _MOST_DRAWN = 10, 200
_DELTA = 1 / 3

# Reports the progress of a search as text.
ReportText = Callable[[str], None]


@dataclass(frozen=True)
class TermWeights(Check):
    """``"tuned"``, or a number for each term of the objective."""

    def __call__(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            check_choice(name, value, ("tuned",), f", or {N_TERMS} numbers")
            return
        if not isinstance(value, list | tuple | np.ndarray) or len(value) != N_TERMS:
            raise ValueError(f"{name} must be 'tuned' or {N_TERMS} numbers, got {value!r}")
        for term, weight in enumerate(value):
            check_number(f"{name}[{term}]", weight, numbers.Real, low=0, high=1e9)


class IDSClassifier(MiningBaseline):
    """IDS: a set of frequent rules that maximises a weighted sum of seven terms.

    Every frequent body with every label is a candidate. Local search maximises a weighted sum of seven terms: few
    rules, short rules, little overlap between rules of the same label, little overlap between rules of different
    labels, a rule for every class, few records covered by rules with another label, many records covered by a rule with
    their label. If several rules cover a record, the one with the highest F1 score decides.

    Parameters
    ----------
    weights : sequence of 7 numbers, or "tuned", default=(1, 1, 1, 1, 1, 1, 1)
        The weights of the seven terms, in that order. ``"tuned"`` finds them by coordinate search: a fifth of the
        records is used for validation, and each weight in turn takes the value among 1, 10, 100, 500 and 1000 with the
        best balanced accuracy there (35 searches; then a last one on all records).
    search : {"deterministic", "smooth"}, default="deterministic"
        Deterministic local search adds or drops one rule at a time as long as the value rises enough. Smooth local
        search, which its authors recommend, returns a random set (see Notes).
    step : {"best", "first"}, default="best"
        The step of the deterministic search: the one with the largest gain, or the first one with a sufficient gain in
        the order of candidates (short bodies first).
    epsilon : float, default=0.001
        A step of the deterministic search must gain more than ``epsilon / n**2`` of the value, for n candidates.
    min_support : float, int or "auto", default="auto"
        Minimum number of records that a rule covers: a share of all records (a float), or a number (an int). ``"auto"``
        is a twentieth, or more if there would be more than ``max_candidates`` bodies; if there are too many even with a
        quarter, rules have fewer conditions.
    max_rules : int or None, default=None
        Maximum number of rules; those with the highest F1 score are kept.
    max_conditions : int or None, default=2
        Maximum number of conditions of a rule.
    max_candidates : int, default=5000
        Maximum number of frequent bodies, at most 10,000; each is a candidate with every label. The overlaps of all
        pairs of bodies are kept in one matrix (200 MB for 5,000 bodies), and the records of each body as bits. If more
        bodies reach a given ``min_support``, fit raises ValueError.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the validation records and of the smooth search.
    conditions, binning, n_bins, missing_values, n_jobs, verbose
        As for :class:`CBAClassifier`.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules, those with the highest F1 score first; ``conflict`` is ``"f1"``.
    weights_ : array of 7 numbers
        The weights that were used.
    terms_ : array of 7 numbers
        The seven terms of the set found (before it is shortened to ``max_rules``).
    objective_ : float
        Their weighted sum.
    n_candidates_ : int
        Number of candidate rules.
    min_support_, classes_, n_features_in_, feature_names_in_
        As for :class:`CBAClassifier`.

    Notes
    -----
    *As in the paper:* the seven terms with their additive constants, which make them non-negative; candidates from
    frequent bodies with every label; both local searches (Feige, Mirrokni and Vondrak, 2007); the F1 score in
    conflicts. The deterministic search reaches at least a third of the best value, the smooth one two fifths in
    expectation.

    *Not specified in the paper:* overlap is summed over pairs of different rules, as in the authors' program (the
    paper's sum would also count each rule with itself). A step of the deterministic search uses the candidate with the
    largest gain; in the authors' program it is the first with a sufficient gain, and ``epsilon`` is 0.05. If a body and
    its extension cover the same records, only the shorter one is a candidate. The default label is the likeliest class
    among training records that no rule covers. The smooth search draws at most 200 sets for an estimate, requires two
    standard errors beyond its threshold, and ends after twice as many steps as there are candidates.

    *Meaning of the guarantees:* the constants are of the order of records times candidates squared, far above the gain
    of any rule. Even the empty set has nearly the best value, so a third of it is not a useful guarantee. With all
    weights 1, a step of the deterministic search must gain ``epsilon`` times twice the number of records, so
    ``epsilon`` in effect sets how few records a rule may cover. In the smooth search a candidate would have to gain
    four times the number of records, which is impossible: none is added, and the result is a random third of all
    candidates, or all of them.

    *As in "Diverse Rule Sets"* (:meth:`as_in_paper`): support .1, tuned weights, the first step with a sufficient gain.
    That paper limits the candidates by a higher support and gets rules of one condition; here they have up to two. It
    tunes by AUC, this class by balanced accuracy.

    *Sample weights* are numbers of records: supports, overlaps, and records covered rightly or wrongly count by
    weight, in all terms of the objective, as if each record was repeated.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets.baselines import IDSClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = IDSClassifier().fit(X, y)
    >>> print(clf.rule_set_[0])
    IF petal length (cm) <= 2 THEN 0
    """

    _conflict: ClassVar[str] = "f1"
    _lowest: ClassVar[float] = 0.05
    _parameter_checks: ClassVar[Mapping[str, Check]] = {
        **BASELINE_CHECKS,
        "min_support": Support(),
        "max_candidates": Number(numbers.Integral, low=1, high=10_000),
        "search": Choice(("deterministic", "smooth")),
        "step": Choice(("best", "first")),
        "epsilon": Number(numbers.Real, low=0, high=1e9, open_low=True),
        "weights": TermWeights(),
    }
    _paper: ClassVar[dict[str, Any]] = {
        "weights": "tuned",
        "step": "first",
        "epsilon": 0.05,
        "min_support": 0.1,
        "binning": "uniform",
        "n_bins": 5,
    }

    def __init__(
        self,
        *,
        weights: Any = (1, 1, 1, 1, 1, 1, 1),
        search: str = "deterministic",
        step: str = "best",
        epsilon: float = 0.001,
        min_support: float | str = "auto",
        max_rules: int | None = None,
        max_conditions: int | None = 2,
        conditions: str = "bins",
        binning: Any = "supervised",
        n_bins: int = 5,
        missing_values: Any = None,
        max_candidates: int = 5000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.weights = weights
        self.search = search
        self.step = step
        self.epsilon = epsilon
        self.min_support = min_support
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.conditions = conditions
        self.binning = binning
        self.n_bins = n_bins
        self.missing_values = missing_values
        self.max_candidates = max_candidates
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _is_frequent(self, class_counts: Integers, support: int) -> Flags:
        return np.asarray(class_counts.sum(axis=1) >= support)

    def _find(self, items: Items, report: Report) -> tuple[list[BodyAndLabel], dict[str, Any]]:
        backend, columns = items.backend, items.encoder.columns
        rng = generator(self.random_state)
        mined, support = self._mine(items, report)
        bodies = mined.bodies
        lengths = np.array([np.unique(columns[list(body)]).size for body in bodies.tuples()], np.int64)
        pool = Pool(backend, bodies, lengths)
        weights = self._find_weights(pool, rng, report)
        choice = self._search(pool, weights, rng, lambda text: report("search", text))
        terms = pool.terms(choice)
        fitted = {
            "weights_": weights,
            "terms_": terms,
            "objective_": float(terms @ weights),
            "min_support_": support,
            "n_candidates_": pool.n_candidates,
        }
        return sort_by_f1(pool, choice)[: None if self.max_rules is None else int(self.max_rules)], fitted

    def _search(self, pool: Pool, weights: Floats, rng: np.random.Generator, report: ReportText) -> Flags:
        """Return the choice that the search finds."""
        if not pool.n_candidates or pool.shape[1] < 2:
            return np.zeros(pool.shape, np.bool_)
        if self.search == "smooth":
            return smooth_search(pool, weights, rng, report)
        return deterministic_search(pool, weights, float(self.epsilon), self.step == "first", report)

    def _find_weights(self, pool: Pool, rng: np.random.Generator, report: Report) -> Floats:
        """Return the weights given, or find them by coordinate search on validation records."""
        if not isinstance(self.weights, str):
            return np.array(self.weights, np.float64)
        weights = np.full(N_TERMS, _INITIAL_WEIGHT)
        backend = pool.backend
        validation, part = divide_for_validation(backend, rng)
        validation = validation if validation.n_records else part
        small = Pool(part, pool.bodies, pool.lengths)
        for term in range(N_TERMS):
            scores = []
            for step, value in enumerate(_GRID):
                report("tuning", f"search {term * len(_GRID) + step + 1} of {N_TERMS * len(_GRID)}")
                weights[term] = value
                choice = self._search(small, weights, rng, lambda _: None)
                scores.append(_balanced_accuracy(sort_by_f1(small, choice), part, validation))
            weights[term] = _GRID[int(np.argmax(scores))]
        return weights


def deterministic_search(
    pool: Pool, weights: Floats, epsilon: float, first: bool = False, report: ReportText = lambda _: None
) -> Flags:
    """Start with the best candidate; add one, or else drop one, as long as the gain is sufficient.

    With ``first`` a step uses the first candidate with a sufficient gain, else the one with the largest gain. Returns
    the choice found, or all other candidates if their value is higher.
    """
    selection = Selection(pool, weights, np.zeros(pool.shape, np.bool_))
    _flip(selection, int(np.argmax(selection.gains())))
    value = pool.value(selection.choice, weights)
    while True:
        report(f"{int(selection.choice.sum())} rules")
        choice, gains = selection.choice, selection.gains()
        least = epsilon / pool.n_candidates**2 * value
        for change in (np.where(choice, -np.inf, gains), np.where(choice, -gains, -np.inf)):
            position = int(np.argmax(change > least if first else change))
            if change.flat[position] > least:
                _flip(selection, position)
                value += float(change.flat[position])
                break
        else:
            break
    others = ~selection.choice
    return selection.choice if value >= pool.value(others, weights) else others


def smooth_search(pool: Pool, weights: Floats, rng: np.random.Generator, report: ReportText = lambda _: None) -> Flags:
    """Search among random sets that are biased towards a choice; return the better of two sets drawn at the end.

    A candidate is added or dropped if its mean gain is beyond the threshold by two standard errors of the estimate. The
    search ends after twice as many steps as there are candidates; without this limit it might never end.
    """
    least = pool.value(rng.random(pool.shape) < 0.5, weights) / pool.n_candidates**2
    choice = np.zeros(pool.shape, np.bool_)
    for _ in range(2 * pool.n_candidates):
        report(f"{int(choice.sum())} rules preferred")
        mean, error = mean_gains(pool, weights, choice, least, rng)
        bound = np.where(choice, -mean, mean) - 2 * error
        for change in (np.where(choice, -np.inf, bound), np.where(choice, bound, -np.inf)):
            position = int(np.argmax(change))
            if change.flat[position] > 2 * least:
                choice.flat[position] ^= True
                break
        else:
            break
    sets = [_draw_set(choice, delta, rng) for delta in (_DELTA, -1.0)]
    return max(sets, key=lambda one: pool.value(one, weights))


def mean_gains(
    pool: Pool, weights: Floats, choice: Flags, tolerance: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Estimate the mean gain of each candidate in a random set that is biased towards the choice.

    Returns the means and their standard errors. Sets are drawn until all errors are within the tolerance, at most 200.
    """
    total, squares, n = np.zeros(pool.shape), np.zeros(pool.shape), 0
    while True:
        for _ in range(_DRAWN):
            gains = Selection(pool, weights, _draw_set(choice, _DELTA, rng)).gains()
            total += gains
            squares += gains**2
        n += _DRAWN
        error = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0) / n)
        if n >= _MOST_DRAWN or error.max() <= tolerance:
            return np.asarray(total / n), np.asarray(error)


def _draw_set(choice: Flags, delta: float, rng: np.random.Generator) -> Flags:
    """Draw a set: chosen candidates with probability (1 + delta) / 2, others with (1 - delta) / 2."""
    return rng.random(choice.shape) < np.where(choice, (1 + delta) / 2, (1 - delta) / 2)


def _flip(selection: Selection, position: int) -> None:
    selection.flip(*divmod(position, selection.choice.shape[1]))


def sort_by_f1(pool: Pool, choice: Flags) -> list[BodyAndLabel]:
    """Return the chosen rules by descending F1 score; in ties by descending coverage, then in their order."""
    bodies, labels = np.nonzero(choice)
    hits = pool.correct[bodies, labels]
    covered = pool.correct[bodies].sum(axis=1)
    score = 2 * hits / np.maximum(covered + pool.backend.class_totals[labels], 1)
    order = np.lexsort((np.arange(bodies.size), -covered, -score))
    return [(pool.bodies.body(int(bodies[j])), int(labels[j])) for j in order.tolist()]


def divide_for_validation(backend: Backend, rng: np.random.Generator) -> tuple[Backend, Backend]:
    """Return the records for validation, and the others.

    Of records with weights that are no counts, or with very many counts, whole records are drawn.
    """
    if backend.unit == 1 and backend.n_records <= _MAX_PERMUTED:
        return backend.divide(draw_validation(backend, rng))
    by_record = backend.by_record
    validation = backend.nothing
    for cover, ks in draw_validation(by_record, rng):
        validation = backend.union(validation, by_record.pick(cover, ks))
    return backend.restrict(validation), backend.restrict(backend.difference(backend.everything, validation))


def draw_validation(backend: Backend, rng: np.random.Generator) -> list[tuple[Cover, Integers]]:
    """Draw a fifth of the records of each class, at least one, but none from a class with a single record.

    Returns the cover of each class, with the positions of the records that are drawn from it.
    """
    drawn = []
    for label, n in enumerate(backend.class_totals.tolist()):
        ks = rng.permutation(n)[: round(n * _VALIDATION_SHARE) or int(n > 1)]
        drawn.append((backend.of_class(label), ks))
    return drawn


def _balanced_accuracy(rules: list[BodyAndLabel], part: Backend, validation: Backend) -> float:
    """Return the accuracy on validation records: the first covering rule decides.

    The default label is the most frequent class among the records of ``part`` that no rule covers.
    """
    uncovered, left = part.everything, validation.everything
    correct = np.zeros_like(validation.class_totals)
    for body, label in rules:
        cover = validation.cover(body)
        correct[label] += validation.class_counts(validation.intersection(cover, left))[label]
        left = validation.difference(left, cover)
        uncovered = part.difference(uncovered, part.cover(body))
    counts = part.class_counts(uncovered)
    default = int(np.argmax(counts if counts.any() else part.class_totals))
    correct[default] += validation.class_counts(left)[default]
    present = validation.class_totals > 0
    return float((correct[present] / validation.class_totals[present]).mean())
