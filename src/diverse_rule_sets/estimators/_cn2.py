"""CN2, unordered: rules of one class after the other by beam search (Clark and Boswell, EWSL 1991)."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets._input.checks import Check, Choice, Number
from diverse_rule_sets.data._backend import Cover
from diverse_rule_sets.estimators._baseline import BASELINE_CHECKS, Baseline, BodyAndLabel, Say
from diverse_rule_sets.estimators._translation import Items

Floats = NDArray[np.float64]


class CN2Classifier(Baseline):
    """CN2, unordered: for each class in turn, the best rule that a beam search finds, then the best for what is left.

    A beam of bodies is made longer one condition at a time; the best body met on the way becomes a rule, the records of
    the class that it covers are taken away, and the search starts again. Where several rules cover a record, their
    class counts are added up and the largest class wins.

    Parameters
    ----------
    evaluation : {"laplace", "entropy"}, default="laplace"
        What makes a body good: the Laplace estimate ``(p + 1) / (n + 2)`` of its precision, where p of the n records
        left under it are of the class; or low entropy of "this class or another", with more of the class than in
        the records left as a whole.
    beam_width : int, default=10
        How many bodies are made longer side by side.
    min_covered : int, default=5
        The fewest records of its class, among those left, under a rule.
    significance : float, default=1.0
        The level of a likelihood ratio test of each rule on the records left (chi-square with one degree of freedom); a
        rule must also have more of its class than the whole table. 1 asks for nothing.
    max_rules : int or None, default=None
        Keep only so many of the first rules; classes are taken in their sorted order.
    max_conditions : int or None, default=5
        The most conditions of a rule.
    conditions : {"bins", "thresholds"}, default="bins"
        What is offered: bins between edges and single categories; or both sides of every edge and sets of categories,
        which makes many more candidates.
    binning : {"supervised", "uniform", "quantile"} or dict, default="supervised"
        Where columns are cut; a dict gives one of these words or a list of edges for each column.
    n_bins : int, default=5
        The most bins of a column.
    n_jobs : int or None, default=None
        Threads that share the counting; None means 1 and -1 all.
    verbose : int, default=0
        1 shows how far a fit is.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in the order in which they were found; ``conflict`` is ``"counts"``.
    n_candidates_ : int
        How many bodies with enough records of the class were judged, in all searches together.
    classes_ : array of labels, sorted
    n_features_in_ : int
    feature_names_in_ : array of column names, only where X had them

    Notes
    -----
    *From the papers:* separate and conquer class by class, only covered records of the class being taken away (Clark
    and Boswell 1991); beam search from the empty body, Laplace or entropy as the heuristic, the likelihood ratio test
    (Clark and Niblett 1989); adding up the class counts of all covering rules.

    *Left open, and settled:* as in Orange, the Laplace estimate sets one class against all others (2, not the number of
    classes), ``min_covered`` counts records of the class, a longer body must change the class counts, and of equally
    good bodies the one met first stands. The test has one degree of freedom, for the class against the others, and a
    rule with less of its class than the table fails it. A rule's published counts are those of all training records
    under it. The default label is the likeliest among training records that no rule covers (Orange: among all).

    *Weak rules:* the search goes on until too few records of a class are left, so the last rules of a class may have
    less of it than the whole table (with Laplace; entropy refuses them). ``significance`` keeps them out.

    *Unlike Orange 3.40:* the beam never holds the same body twice (there, ``a AND b`` and ``b AND a`` take two places),
    every new body may become the rule (there, the first one made from each member of the beam is passed over), and
    where no body is left the class is done (there, an empty rule is added, which predictions ignore).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets.baselines import CN2Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(CN2Classifier().fit(X, y).rule_set_[0])
    IF petal length (cm) <= 2 THEN 0
    """

    _conflict: ClassVar[str] = "counts"
    _parameter_checks: ClassVar[Mapping[str, Check]] = {
        **BASELINE_CHECKS,
        "evaluation": Choice(("laplace", "entropy")),
        "beam_width": Number(numbers.Integral, low=1),
        "min_covered": Number(numbers.Integral, low=1),
        "significance": Number(numbers.Real, low=0, high=1, open_low=True),
    }
    _paper: ClassVar[dict[str, Any]] = {
        "evaluation": "laplace",
        "beam_width": 10,
        "min_covered": 15,
        "max_rules": 100,
        "binning": "uniform",
        "n_bins": 5,
    }

    def __init__(
        self,
        *,
        evaluation: str = "laplace",
        beam_width: int = 10,
        min_covered: int = 5,
        significance: float = 1.0,
        max_rules: int | None = None,
        max_conditions: int | None = 5,
        conditions: str = "bins",
        binning: Any = "supervised",
        n_bins: int = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.evaluation = evaluation
        self.beam_width = beam_width
        self.min_covered = min_covered
        self.significance = significance
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.conditions = conditions
        self.binning = binning
        self.n_bins = n_bins
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _find(self, items: Items, say: Say) -> tuple[list[BodyAndLabel], dict[str, Any]]:
        backend = items.backend
        most = backend.n_records if self.max_rules is None else int(self.max_rules)
        found: list[BodyAndLabel] = []
        search = _Search(
            items,
            EVALUATIONS[self.evaluation],
            int(self.beam_width),
            int(self.min_covered),
            float(self.significance),
            backend.n_items if self.max_conditions is None else int(self.max_conditions),
        )
        for label in range(backend.n_classes if backend.n_classes > 1 else 0):
            taken = backend.nothing
            while len(found) < most:
                body = search.best_body(label, taken)
                if body is None:
                    break
                found.append((body, label))
                own = backend.intersection(backend.cover(body), backend.of_class(label))
                taken = backend.union(taken, own)
                say(f"class {label + 1} of {backend.n_classes}", f"{len(found)} rules")
        return found, {"n_candidates_": search.n_candidates}


def laplace(inside: Integers, others: Integers, share: float) -> Floats:
    """Laplace estimate of the precision: as if one more record of each side lay under the body."""
    return np.asarray((inside + 1) / (inside + others + 2))


def low_entropy(inside: Integers, others: Integers, share: float) -> Floats:
    """Negative entropy in bits of the class against the others; minus infinity where it is not above its share."""
    p = inside / np.maximum(inside + others, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -np.nan_to_num(p * np.log2(p)) - np.nan_to_num((1 - p) * np.log2(1 - p))
    return np.asarray(np.where(p > share, -bits, -np.inf))


Evaluation = Callable[[Integers, Integers, float], Floats]
EVALUATIONS: dict[str, Evaluation] = {"laplace": laplace, "entropy": low_entropy}


class _Level(NamedTuple):
    """What is known of every body of the beam with every item added: arrays (n_bodies, n_items)."""

    quality: Floats
    valid: Flags
    significant: Flags


class _Search:
    """Beam search for one rule at a time."""

    def __init__(
        self,
        items: Items,
        evaluation: Evaluation,
        beam_width: int,
        min_covered: int,
        significance: float,
        max_conditions: int,
    ) -> None:
        self._backend = items.backend
        self._columns = items.encoder.columns
        self._evaluation = evaluation
        self._beam_width = beam_width
        self._min_covered = min_covered
        # Under chance the likelihood ratio is distributed as the square of a normal deviate.
        self._critical = NormalDist().inv_cdf(max(significance / 2, 1e-300)) ** 2 if significance < 1 else -np.inf
        self._max_conditions = max_conditions
        self.n_candidates = 0

    def best_body(self, label: int, taken: Cover) -> tuple[int, ...] | None:
        """Return the best body for a class whose records in ``taken`` do not count any more; None if there is none."""
        left = self._backend.class_totals.copy()
        left[label] -= self._backend.class_counts(taken)[label]
        share = left[label] / left.sum()
        beam: list[tuple[int, ...]] = [()]
        best, best_quality = None, -np.inf
        while beam and self._backend.n_items:
            level = self._extended(beam, label, taken, share)
            self.n_candidates += int(level.valid.sum())
            quality = np.where(level.valid & level.significant, level.quality, -np.inf)
            place = int(np.argmax(quality))
            if quality.flat[place] > best_quality:
                best, best_quality = _added(beam, place, self._backend.n_items), float(quality.flat[place])
            beam = self._next_beam(beam, level)
        return best

    def _extended(self, beam: list[tuple[int, ...]], label: int, taken: Cover, share: float) -> _Level:
        """Judge every body of the beam with every item added."""
        counts = self._backend.extended(beam, taken)
        counts[label] -= counts[-1]
        by_class, whole = counts[:-1, :, :-1], counts[:-1, :, -1:]
        inside = by_class[label]
        others = by_class.sum(axis=0) - inside
        valid = inside >= self._min_covered
        if beam != [()]:
            valid &= self._lengthened(np.array(beam)) & (by_class != whole).any(axis=0)
        quality = self._evaluation(inside, others, share)
        return _Level(quality, valid, self._significant(inside, others, label))

    def _lengthened(self, bodies: Integers) -> Flags:
        """Tell which items may be added to which bodies: not their own, and no further column beyond the most."""
        places = np.arange(len(bodies))[:, None]
        used = np.zeros((len(bodies), int(self._columns[-1]) + 1), np.bool_)
        used[places, self._columns[bodies]] = True
        may = used[:, self._columns] | (used.sum(axis=1, keepdims=True) < self._max_conditions)
        may[places, bodies] = False
        return np.asarray(may)

    def _significant(self, inside: Integers, others: Integers, label: int) -> Flags:
        """Tell which counts have more of the class than the whole table, by more than chance would have it."""
        if self._critical < 0:
            return np.ones(inside.shape, np.bool_)
        share = self._backend.class_totals[label] / self._backend.n_records
        covered = inside + others
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [n * np.log(n / (covered * p)) for n, p in ((inside, share), (others, 1 - share))]
        ratio = 2 * sum(np.nan_to_num(part) for part in parts)
        return np.asarray((ratio >= self._critical) & (inside > covered * share))

    def _next_beam(self, beam: list[tuple[int, ...]], level: _Level) -> list[tuple[int, ...]]:
        """Return the best bodies, each once; of equals those met first."""
        places = np.flatnonzero(level.valid)
        order = places[np.argsort(-level.quality.flat[places], kind="stable")]
        bodies: dict[tuple[int, ...], None] = {}
        for place in order:
            bodies.setdefault(_added(beam, int(place), self._backend.n_items))
            if len(bodies) == self._beam_width:
                break
        return list(bodies)


def _added(beam: list[tuple[int, ...]], place: int, n_items: int) -> tuple[int, ...]:
    """Return the body at a place of the flattened level."""
    return tuple(sorted((*beam[place // n_items], place % n_items)))
