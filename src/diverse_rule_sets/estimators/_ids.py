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
from diverse_rule_sets.estimators._baseline import BASELINE_CHECKS, BodyAndLabel, MiningBaseline, Say, Support
from diverse_rule_sets.estimators._ids_objective import N_TERMS, Chosen, Floats, Pool
from diverse_rule_sets.estimators._translation import Items

# What the coordinate search tries for each weight, and where it begins: as in the experiments of "Diverse Rule Sets".
_GRID = (1.0, 10.0, 100.0, 500.0, 1000.0)
_BEGIN = 0.5
_VALIDATION_SHARE = 0.2
# The smooth local search draws so many sets at a time, and at most.
_DRAWN, _MOST_DRAWN = 10, 200
_DELTA = 1 / 3

Tell = Callable[[str], None]


@dataclass(frozen=True)
class TermWeights(Check):
    """``"tuned"``, or a number for each term of the objective."""

    def __call__(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            check_choice(name, value, ("tuned",), f", or {N_TERMS} numbers")
            return
        if not isinstance(value, list | tuple | np.ndarray) or len(value) != N_TERMS:
            raise ValueError(f"{name} must be 'tuned' or {N_TERMS} numbers, got {value!r}")
        for place, weight in enumerate(value):
            check_number(f"{name}[{place}]", weight, numbers.Real, low=0, high=1e9)


class IDSClassifier(MiningBaseline):
    """IDS: the set of frequent rules that is best in seven respects at once.

    Every frequent body with every label is a candidate. Local search makes a weighted sum of seven terms large: few
    rules, short rules, little overlap between rules of the same label and between rules of different labels, a rule for
    every class, few records answered wrongly, many records answered rightly by some rule. Where several rules cover a
    record, the one with the highest F1 score speaks.

    Parameters
    ----------
    weights : sequence of 7 numbers, or "tuned", default=(1, 1, 1, 1, 1, 1, 1)
        The weights of the seven terms, in that order. ``"tuned"`` finds them by coordinate search: one fifth of the
        records is set aside, and each weight in turn takes the value among 1, 10, 100, 500 and 1000 with the best
        balanced accuracy there (35 searches; then a last one on all records).
    search : {"deterministic", "smooth"}, default="deterministic"
        How the set is found. Deterministic local search adds and drops one rule at a time while that pays. Smooth local
        search, the one its authors recommend, answers with a random set (see Notes).
    step : {"best", "first"}, default="best"
        Which step the deterministic search takes: the one that gains most, or the first that gains enough, in the order
        of candidates (short bodies come first).
    epsilon : float, default=0.001
        A step of the deterministic search must gain more than ``epsilon / n**2`` of the value, for n candidates.
    min_support : float, int or "auto", default="auto"
        The fewest records under a rule: a share of all (a float), or a number (an int). ``"auto"`` is a twentieth, or
        more if that takes more than ``max_candidates`` bodies; where even a quarter does, conditions are fewer.
    max_rules : int or None, default=None
        Keep only so many rules, those with the highest F1 score.
    max_conditions : int or None, default=2
        The most conditions of a rule.
    conditions : {"bins", "thresholds"}, default="bins"
        What is offered: bins between edges and single categories; or both sides of every edge and sets of categories,
        which makes many more candidates.
    binning : {"supervised", "uniform", "quantile"} or dict, default="supervised"
        Where columns are cut; a dict gives one of these words or a list of edges for each column.
    n_bins : int, default=5
        The most bins of a column.
    max_candidates : int, default=5000
        The most frequent bodies, at most 10,000; each is a candidate with every label. All overlaps between bodies are
        kept as one matrix (5,000 bodies: 200 MB), and the records under each as bits. If more reach a ``min_support``
        that was given, an error says what to raise.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the records set aside and of the smooth search.
    n_jobs : int or None, default=None
        Threads that share the counting; None means 1 and -1 all.
    verbose : int, default=0
        1 shows how far a fit is.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules, those with the highest F1 score first; ``conflict`` is ``"f1"``.
    weights_ : array of 7 numbers
        The weights that were used.
    terms_ : array of 7 numbers
        The seven terms of the set that was found (before ``max_rules`` cuts it).
    objective_ : float
        Their weighted sum.
    min_support_ : int
        The fewest records that were asked for.
    n_candidates_ : int
        How many candidate rules there were.
    classes_ : array of labels, sorted
    n_features_in_ : int
    feature_names_in_ : array of column names, only where X had them

    Notes
    -----
    *From the paper:* the seven terms with their additive constants, which make them non-negative; candidates from
    frequent bodies, with every label; both local searches (of Feige, Mirrokni and Vondrak, 2007); F1 in conflicts. The
    deterministic search ends with at least a third of the best value, the smooth one in expectation with two
    fifths.

    *Left open, and settled:* overlap is summed over pairs of different rules, as in the authors' program (the paper's
    sum would also count each rule with itself). A step of the deterministic search takes the candidate that gains most;
    in the authors' program it is the first that gains enough, and ``epsilon`` is 0.05. Of bodies that cover the same
    records, one made from the other, the shorter is a candidate. The default label is the likeliest among training
    records that no rule covers. The smooth search draws at most 200 sets for an estimate, asks for two standard errors
    beyond its threshold, and ends after twice as many steps as there are candidates.

    *What the guarantees are worth:* the constants are of the order of records times candidates squared, far above what
    any rule can add. Even the empty set has nearly all of the best value, and a third of it is no promise. With all
    weights 1, a step of the deterministic search must gain ``epsilon`` times twice the number of records, so that
    ``epsilon`` says in truth how small a rule may be; and in the smooth search a candidate would have to gain four
    times the number of records, more than any can: none enters, and the answer is a third of all candidates, drawn at
    random, or all of them.

    *As in "Diverse Rule Sets"* (:meth:`as_in_paper`): support .1, tuned weights, the first step that gains enough. That
    paper bounds candidates by raising the support and ends with rules of one condition; here they have up to two. It
    tunes by AUC, this class by balanced accuracy.

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
        self.max_candidates = max_candidates
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _enough(self, class_counts: Integers, needed: int) -> Flags:
        return np.asarray(class_counts.sum(axis=1) >= needed)

    def _find(self, items: Items, say: Say) -> tuple[list[BodyAndLabel], dict[str, Any]]:
        backend, columns = items.backend, items.encoder.columns
        rng = generator(self.random_state)
        mined, needed = self._mined(items, say)
        bodies = mined.bodies
        lengths = np.array([np.unique(columns[list(body)]).size for body in bodies.tuples()], np.int64)
        pool = Pool(backend, bodies, lengths)
        weights = self._weights(pool, rng, say)
        choice = self._searched(pool, weights, rng, lambda words: say("search", words))
        terms = pool.terms(choice)
        fitted = {
            "weights_": weights,
            "terms_": terms,
            "objective_": float(terms @ weights),
            "min_support_": needed,
            "n_candidates_": pool.n_candidates,
        }
        return by_f1(pool, choice)[: None if self.max_rules is None else int(self.max_rules)], fitted

    def _searched(self, pool: Pool, weights: Floats, rng: np.random.Generator, tell: Tell) -> Flags:
        if not pool.n_candidates or pool.shape[1] < 2:
            return np.zeros(pool.shape, np.bool_)
        if self.search == "smooth":
            return smooth_search(pool, weights, rng, tell)
        return deterministic_search(pool, weights, float(self.epsilon), self.step == "first", tell)

    def _weights(self, pool: Pool, rng: np.random.Generator, say: Say) -> Floats:
        """Return the weights given, or find them by coordinate search on records set aside."""
        if not isinstance(self.weights, str):
            return np.array(self.weights, np.float64)
        weights = np.full(N_TERMS, _BEGIN)
        backend = pool.backend
        aside = set_aside(backend, rng)
        part = backend.restricted(backend.difference(backend.everything, aside))
        held_out = backend.restricted(aside) if backend.class_counts(aside).any() else part
        small = Pool(part, pool.bodies, pool.lengths)
        for term in range(N_TERMS):
            scores = []
            for step, value in enumerate(_GRID):
                say("tuning", f"search {term * len(_GRID) + step + 1} of {N_TERMS * len(_GRID)}")
                weights[term] = value
                choice = self._searched(small, weights, rng, lambda _: None)
                scores.append(_balanced_accuracy(by_f1(small, choice), part, held_out))
            weights[term] = _GRID[int(np.argmax(scores))]
        return weights


def deterministic_search(
    pool: Pool, weights: Floats, epsilon: float, first: bool = False, tell: Tell = lambda _: None
) -> Flags:
    """Begin with the best candidate; add one, or else drop one, while that gains enough; or else all others.

    Of several that gain enough, ``first`` takes the first one, otherwise the one that gains most.
    """
    chosen = Chosen(pool, weights, np.zeros(pool.shape, np.bool_))
    _flip(chosen, int(np.argmax(chosen.gains())))
    value = pool.value(chosen.choice, weights)
    while True:
        tell(f"{int(chosen.choice.sum())} rules")
        gains = chosen.gains()
        least = epsilon / pool.n_candidates**2 * value
        for change in (np.where(chosen.choice, -np.inf, gains), np.where(chosen.choice, -gains, -np.inf)):
            place = int(np.argmax(change > least if first else change))
            if change.flat[place] > least:
                _flip(chosen, place)
                value += float(change.flat[place])
                break
        else:
            break
    others = ~chosen.choice
    return chosen.choice if value >= pool.value(others, weights) else others


def smooth_search(pool: Pool, weights: Floats, rng: np.random.Generator, tell: Tell = lambda _: None) -> Flags:
    """Search among random sets that lean towards a choice; return the better of two sets drawn at the end.

    A candidate enters or leaves when its mean gain is beyond the threshold by two standard errors of the estimate, and
    the search ends after twice as many steps as there are candidates: or else chance could move it for ever.
    """
    least = pool.value(rng.random(pool.shape) < 0.5, weights) / pool.n_candidates**2
    choice = np.zeros(pool.shape, np.bool_)
    for _ in range(2 * pool.n_candidates):
        tell(f"leaning towards {int(choice.sum())} rules")
        mean, error = mean_gains(pool, weights, choice, least, rng)
        sure = np.where(choice, -mean, mean) - 2 * error
        for change in (np.where(choice, -np.inf, sure), np.where(choice, sure, -np.inf)):
            place = int(np.argmax(change))
            if change.flat[place] > 2 * least:
                choice.flat[place] ^= True
                break
        else:
            break
    ends = [_leaning(choice, delta, rng) for delta in (_DELTA, -1.0)]
    return max(ends, key=lambda end: pool.value(end, weights))


def mean_gains(
    pool: Pool, weights: Floats, choice: Flags, tolerance: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Estimate what each candidate adds on average to a random set that leans towards the choice.

    Returns the means and their standard errors; sets are drawn until all errors are within the tolerance, or 200.
    """
    total, squares, n = np.zeros(pool.shape), np.zeros(pool.shape), 0
    while True:
        for _ in range(_DRAWN):
            gains = Chosen(pool, weights, _leaning(choice, _DELTA, rng)).gains()
            total += gains
            squares += gains**2
        n += _DRAWN
        error = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0) / n)
        if n >= _MOST_DRAWN or error.max() <= tolerance:
            return np.asarray(total / n), np.asarray(error)


def _leaning(choice: Flags, delta: float, rng: np.random.Generator) -> Flags:
    """Draw a set: chosen candidates with probability (1 + delta) / 2, others with (1 - delta) / 2."""
    return rng.random(choice.shape) < np.where(choice, (1 + delta) / 2, (1 - delta) / 2)


def _flip(chosen: Chosen, place: int) -> None:
    chosen.flip(*divmod(place, chosen.choice.shape[1]))


def by_f1(pool: Pool, choice: Flags) -> list[BodyAndLabel]:
    """Return the chosen rules, the highest F1 score first; of equals the one that covers more, then the earlier."""
    bodies, labels = np.nonzero(choice)
    hits = pool.correct[bodies, labels]
    covered = pool.correct[bodies].sum(axis=1)
    score = 2 * hits / np.maximum(covered + pool.backend.class_totals[labels], 1)
    order = np.lexsort((np.arange(bodies.size), -covered, -score))
    return [(pool.bodies.body(int(bodies[j])), int(labels[j])) for j in order.tolist()]


def set_aside(backend: Backend, rng: np.random.Generator) -> Cover:
    """Draw a fifth of the records of each class; of a class of a single record none."""
    aside = backend.nothing
    for label, n in enumerate(backend.class_totals.tolist()):
        drawn = rng.permutation(n)[: round(n * _VALIDATION_SHARE) or int(n > 1)]
        aside = backend.union(aside, backend.pick(backend.of_class(label), drawn))
    return aside


def _balanced_accuracy(rules: list[BodyAndLabel], part: Backend, held_out: Backend) -> float:
    """Let the first covering rule decide, else the commonest class of what all rules leave in ``part``."""
    left_in_part, left = part.everything, held_out.everything
    right = np.zeros(held_out.n_classes, np.int64)
    for body, label in rules:
        cover = held_out.cover(body)
        right[label] += held_out.class_counts(held_out.intersection(cover, left))[label]
        left = held_out.difference(left, cover)
        left_in_part = part.difference(left_in_part, part.cover(body))
    rest = part.class_counts(left_in_part)
    default = int(np.argmax(rest if rest.any() else part.class_totals))
    right[default] += held_out.class_counts(left)[default]
    present = held_out.class_totals > 0
    return float((right[present] / held_out.class_totals[present]).mean())
