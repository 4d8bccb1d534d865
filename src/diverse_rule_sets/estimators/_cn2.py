"""CN2, unordered: rules for one class after another by beam search (Clark and Boswell, EWSL 1991)."""

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
from diverse_rule_sets.estimators._baseline import BASELINE_CHECKS, Baseline, BodyAndLabel, Report
from diverse_rule_sets.estimators._translation import Items

Floats = NDArray[np.float64]
# Maximum number of counts that are kept at a time.
_MAX_COUNTS = 10_000_000


class CN2Classifier(Baseline):
    """CN2, unordered: for each class, rules are found one after another by beam search.

    A beam of bodies is extended one condition at a time. The best body found becomes a rule, the records of the class
    that it covers are removed, and the search starts again. If several rules cover a record, their class counts are
    added up and the largest class wins.

    Parameters
    ----------
    evaluation : {"laplace", "entropy"}, default="laplace"
        The quality of a body: the Laplace estimate ``(p + 1) / (n + 2)`` of its precision, if it covers n remaining
        records and p of them are of the class; or low entropy of the class against the others, with a larger share of
        the class than among all remaining records.
    beam_width : int, default=10
        Number of bodies that are extended in each step, at most 1000.
    min_covered : int, default=5
        Minimum number of remaining records of its class that a rule covers.
    significance : float, default=1.0
        Level of a likelihood ratio test of each rule on the remaining records (chi-square with one degree of freedom);
        the share of the class must also be larger than in the whole table. 1 means no test.
    max_rules : int or None, default=None
        Maximum number of rules; the first ones are kept, classes in sorted order.
    max_conditions : int or None, default=5
        Maximum number of conditions of a rule.
    conditions, binning, n_bins, missing_values, n_jobs, verbose
        As for :class:`CBAClassifier`.

    Attributes
    ----------
    rule_set_ : RuleSet
        The rules in the order in which they were found; ``conflict`` is ``"counts"``.
    n_candidates_ : int
        Number of bodies with enough records of the class that were evaluated, in all searches together.
    classes_, n_features_in_, feature_names_in_
        As for :class:`CBAClassifier`.

    Notes
    -----
    *As in the papers:* separate and conquer for each class, where only covered records of the class are removed (Clark
    and Boswell 1991); beam search from the empty body, Laplace or entropy as the heuristic, the likelihood ratio test
    (Clark and Niblett 1989); addition of the class counts of all covering rules.

    *Not specified in the papers:* as in Orange, the Laplace estimate compares one class with all others (2, not the
    number of classes), ``min_covered`` counts records of the class, an extension must change the class counts, and of
    equally good bodies the first one is used. The test has one degree of freedom, for the class against the others,
    and a rule with a smaller share of its class than the table fails it. The class counts of a rule in the result are
    those of all training records that it covers. The default label is the likeliest class among training records that
    no rule covers (Orange: among all).

    *Weak rules:* the search for a class ends when too few of its records remain, so its last rules may have a smaller
    share of the class than the whole table (with Laplace; entropy excludes such rules). ``significance`` excludes them.

    *Different from Orange 3.40:* the beam never contains the same body twice (there, ``a AND b`` and ``b AND a`` are
    two bodies), every new body may become the rule (there, the first extension of each body of the beam is skipped),
    and if no body remains the class is finished (there, an empty rule is added, which predictions ignore).

    *Sample weights* are numbers of records: the Laplace estimate, the entropy, ``min_covered`` and the likelihood
    ratio test count by weight, as if each record was repeated.

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
        "beam_width": Number(numbers.Integral, low=1, high=1000),
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
        missing_values: Any = None,
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
        self.missing_values = missing_values
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _find(self, items: Items, report: Report) -> tuple[list[BodyAndLabel], dict[str, Any]]:
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
            removed = backend.nothing
            while len(found) < most:
                body = search.best_body(label, removed)
                if body is None:
                    break
                found.append((body, label))
                own = backend.intersection(backend.cover(body), backend.of_class(label))
                removed = backend.union(removed, own)
                report(f"class {label + 1} of {backend.n_classes}", f"{len(found)} rules")
        return found, {"n_candidates_": search.n_candidates}


def laplace(inside: Integers, others: Integers, share: float) -> Floats:
    """Return the Laplace estimate of the precision: one record of the class and one of the others are added."""
    return np.asarray((inside + 1) / (inside + others + 2))


def low_entropy(inside: Integers, others: Integers, share: float) -> Floats:
    """Return the negative entropy in bits of the class against the others; -inf if its share is at most ``share``."""
    p = inside / np.maximum(inside + others, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = -np.nan_to_num(p * np.log2(p)) - np.nan_to_num((1 - p) * np.log2(1 - p))
    return np.asarray(np.where(p > share, -bits, -np.inf))


Evaluation = Callable[[Integers, Integers, float], Floats]
EVALUATIONS: dict[str, Evaluation] = {"laplace": laplace, "entropy": low_entropy}


class _Level(NamedTuple):
    """The evaluation of every body of the beam with every item added: arrays (n_bodies, n_items)."""

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
        # If class and body are independent, the likelihood ratio is distributed as a squared normal variable.
        self._critical = NormalDist().inv_cdf(max(significance / 2, 1e-300)) ** 2 if significance < 1 else -np.inf
        self._max_conditions = max_conditions
        self.n_candidates = 0

    def best_body(self, label: int, removed: Cover) -> tuple[int, ...] | None:
        """Return the best body for a class, without its records in ``removed``; None if there is none."""
        left = self._backend.class_totals.copy()
        left[label] -= self._backend.class_counts(removed)[label]
        share = left[label] / left.sum()
        beam: list[tuple[int, ...]] = [()]
        best, best_quality = None, -np.inf
        while beam and self._backend.n_items:
            level = self._extend(beam, label, removed, share)
            self.n_candidates += int(level.valid.sum())
            quality = np.where(level.valid & level.significant, level.quality, -np.inf)
            position = int(np.argmax(quality))
            if quality.flat[position] > best_quality:
                best, best_quality = _body_at(beam, position, self._backend.n_items), float(quality.flat[position])
            beam = self._next_beam(beam, level)
        return best

    def _extend(self, beam: list[tuple[int, ...]], label: int, removed: Cover, share: float) -> _Level:
        """Evaluate every body of the beam with every item added, a block of bodies at a time."""
        size = max(1, _MAX_COUNTS // (self._backend.n_items * (self._backend.n_classes + 1)))
        blocks = [beam[begin : begin + size] for begin in range(0, len(beam), size)]
        levels = [self._extend_block(block, label, removed, share) for block in blocks]
        return levels[0] if len(levels) == 1 else _Level(*map(np.concatenate, zip(*levels, strict=True)))

    def _extend_block(self, beam: list[tuple[int, ...]], label: int, removed: Cover, share: float) -> _Level:
        """Evaluate some bodies of the beam with every item added."""
        counts = self._backend.extension_counts(beam, removed)
        counts[label] -= counts[-1]
        by_class, whole = counts[:-1, :, :-1], counts[:-1, :, -1:]
        inside = by_class[label]
        others = by_class.sum(axis=0) - inside
        valid = inside >= self._min_covered
        if beam != [()]:
            valid &= self._allowed_items(np.array(beam)) & (by_class != whole).any(axis=0)
        quality = self._evaluation(inside, others, share)
        return _Level(quality, valid, self._significant(inside, others, label))

    def _allowed_items(self, bodies: Integers) -> Flags:
        """Return which items may be added to which bodies: not their own, and no column beyond the maximum number."""
        numbers = np.arange(len(bodies))[:, None]
        used = np.zeros((len(bodies), int(self._columns[-1]) + 1), np.bool_)
        used[numbers, self._columns[bodies]] = True
        allowed = used[:, self._columns] | (used.sum(axis=1, keepdims=True) < self._max_conditions)
        allowed[numbers, bodies] = False
        return np.asarray(allowed)

    def _significant(self, inside: Integers, others: Integers, label: int) -> Flags:
        """Return which bodies have a significantly larger share of the class than the whole table."""
        if self._critical < 0:
            return np.ones(inside.shape, np.bool_)
        share = self._backend.class_totals[label] / self._backend.n_records
        covered = inside + others
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [n * np.log(n / (covered * p)) for n, p in ((inside, share), (others, 1 - share))]
        ratio = 2 * sum(np.nan_to_num(part) for part in parts)
        return np.asarray((ratio >= self._critical) & (inside > covered * share))

    def _next_beam(self, beam: list[tuple[int, ...]], level: _Level) -> list[tuple[int, ...]]:
        """Return the best bodies without repetition; of equally good ones the first."""
        positions = np.flatnonzero(level.valid)
        order = positions[np.argsort(-level.quality.flat[positions], kind="stable")]
        bodies: dict[tuple[int, ...], None] = {}
        for position in order:
            bodies.setdefault(_body_at(beam, int(position), self._backend.n_items))
            if len(bodies) == self._beam_width:
                break
        return list(bodies)


def _body_at(beam: list[tuple[int, ...]], position: int, n_items: int) -> tuple[int, ...]:
    """Return the body at a position of the flattened level."""
    return tuple(sorted((*beam[position // n_items], position % n_items)))
