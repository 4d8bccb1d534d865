"""What the rivals share: the items, the limit on candidates, and the way back to raw units."""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from diverse_rule_sets._bitset import Flags, Integers
from diverse_rule_sets._checks import check_choice, check_number
from diverse_rule_sets._progress import Progress
from diverse_rule_sets._tables import Table, plain
from diverse_rule_sets.backends import LocalBackend
from diverse_rule_sets.baselines._mining import Mined, TooManyBodiesError, frequent_bodies
from diverse_rule_sets.conditions import merged
from diverse_rule_sets.cutting import Target
from diverse_rule_sets.encoding import Cutting, Encoding, encode
from diverse_rule_sets.estimator import RuleSetEstimator
from diverse_rule_sets.rules import Rule, RuleSet

# A rule's class shares are mixed with those of the whole table as if it covered so many records more. Counts are whole
# numbers, so this changes no rule's likeliest class, and only settles ties.
_SMOOTHING = 1.0


class Items(NamedTuple):
    """The training records as items."""

    encoding: Encoding
    backend: LocalBackend


class ItemRule(NamedTuple):
    """A rule by the numbers of its items and its class."""

    body: tuple[int, ...]
    label: int


class Rival(RuleSetEstimator):
    """A rule learner of the literature on this package's items and bits."""

    # The configuration of the experiments in "Diverse Rule Sets" (KDD 2020).
    _paper: ClassVar[dict[str, Any]]
    # Which rule speaks where several cover a record.
    _conflict: ClassVar[str]

    @classmethod
    def as_in_paper(cls, **overrides: Any) -> Self:
        """Return the configuration of the experiments in "Diverse Rule Sets" (KDD 2020)."""
        return cls(**{**cls._paper, **overrides})

    @abstractmethod
    def _find(self, items: Items, progress: Progress) -> tuple[list[ItemRule], dict[str, Any]]:
        """Return the rules in order, and further fitted attributes."""

    def _learn(self, table: Table, classes: NDArray[Any], codes: NDArray[np.int64]) -> dict[str, Any]:
        progress = Progress(int(self.verbose))
        thresholds = self.conditions == "thresholds"
        cutting = Cutting(self.binning, int(self.n_bins), thresholds, otherwise="supervised")
        encoding = encode(table, cutting, Target(codes, np.ones(classes.size)))
        backend = LocalBackend(encoding.rows, codes, classes.size, effective_n_jobs(self.n_jobs))
        items = Items(encoding, backend)
        found, fitted = self._find(items, progress)
        rule_set = _translated(items, found, [plain(label) for label in classes], self._conflict)
        coverage = 1 - sum(rule_set.uncovered_counts) / table.n_records
        progress.close(f"{len(rule_set)} rules cover {coverage:.1%} of the records")
        return {"rule_set_": rule_set, **fitted}

    def _check_parameters(self) -> None:
        self._check_cutting()
        self._check_running()
        if self.n_bins is None:
            raise TypeError("n_bins must be an integer at least 2 and at most 1000, got None (NoneType)")
        if self.max_conditions is not None:
            check_number("max_conditions", self.max_conditions, numbers.Integral, low=1)
        if self.max_rules is not None:
            check_number("max_rules", self.max_rules, numbers.Integral, low=0)


class MiningRival(Rival):
    """A rival that chooses from frequent bodies."""

    # Where `min_support="auto"` begins.
    _lowest: ClassVar[float]
    # The most that `max_candidates` may be.
    _most: ClassVar[int]

    @abstractmethod
    def _enough(self, class_counts: Integers, needed: int) -> Flags:
        """Tell which bodies reach the support."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("max_candidates", self.max_candidates, numbers.Integral, low=1, high=self._most)
        if isinstance(self.min_support, str):
            check_choice("min_support", self.min_support, ("auto",), ", or a number above 0 and at most 1")
        else:
            check_number("min_support", self.min_support, numbers.Real, low=0, high=1, open_low=True)

    def _mined(self, items: Items, progress: Progress) -> tuple[Mined, float]:
        """List the frequent bodies; return them and the share that counted as frequent."""
        automatic = isinstance(self.min_support, str)
        share = self._lowest if automatic else float(self.min_support)
        while True:
            needed = least_count(share, items.backend.n_records)
            try:
                mined = frequent_bodies(
                    items.backend,
                    items.encoding.columns,
                    lambda counts, needed=needed: self._enough(counts, needed),  # type: ignore[misc]
                    None if self.max_conditions is None else int(self.max_conditions),
                    int(self.max_candidates),
                    lambda words: progress.say(f"mining: {words}"),
                )
            except TooManyBodiesError:
                if not automatic or share >= 1:
                    raise ValueError(self._advice()) from None
                share = min(1.0, 1.5 * share)
            else:
                return mined, share

    def _advice(self) -> str:
        return (
            f"more than max_candidates={self.max_candidates:,} bodies reach min_support={self.min_support}; raise "
            f"min_support, lower max_conditions (now {self.max_conditions}), or allow more candidates"
        )


def least_count(share: float, n_records: int) -> int:
    """Return the fewest records that are at least a share of all; a hair below counts as equal."""
    return max(1, math.ceil(share * n_records - 1e-9))


def _translated(items: Items, found: Iterable[ItemRule], labels: list[Any], conflict: str) -> RuleSet:
    """Turn rules of items into a rule set in raw units."""
    backend, covered, rules = items.backend, items.backend.nothing, []
    for body, label in found:
        cover = backend.cover(np.array(body, np.int32))
        covered |= cover
        counts: Integers = backend.class_counts(cover)
        conditions = merged(items.encoding.conditions[item] for item in body)
        rules.append(Rule(conditions, labels[label], tuple(zip(labels, counts.tolist(), strict=True))))
    totals = backend.class_totals
    uncovered = totals - backend.class_counts(covered)
    counted = (tuple(totals.tolist()), tuple(uncovered.tolist()))
    rule_set = RuleSet(tuple(rules), tuple(labels), labels[0], *counted, conflict, smoothing=_SMOOTHING)
    return replace(rule_set, default=rule_set.likeliest_default)
