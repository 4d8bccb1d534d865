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

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets._input.checks import check_choice, check_number, warn
from diverse_rule_sets._input.tables import Table, plain
from diverse_rule_sets._util.progress import Progress
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._encoder import Cutting, Encoding, encode
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.estimators._base import RuleSetEstimator
from diverse_rule_sets.estimators._mining import Mined, Mining, TooManyBodiesError, frequent_bodies
from diverse_rule_sets.model._conditions import merged
from diverse_rule_sets.model._rules import Rule, RuleSet

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
        """Return the configuration of the experiments in "Diverse Rule Sets" (KDD 2020).

        With it some of scikit-learn's estimator checks fail, which ask for more accuracy than these settings reach.
        """
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
        check_number("n_bins", self.n_bins, numbers.Integral, low=2, high=1000)
        self._check_cutting()
        self._check_running()
        if self.max_conditions is not None:
            check_number("max_conditions", self.max_conditions, numbers.Integral, low=1)
        if self.max_rules is not None:
            check_number("max_rules", self.max_rules, numbers.Integral, low=0)


class MiningRival(Rival):
    """A rival that chooses from frequent bodies."""

    # Where `min_support="auto"` begins, a share of the records, and ends.
    _lowest: ClassVar[float]
    _highest: ClassVar[float] = 0.25
    # The most that `max_candidates` may be.
    _most: ClassVar[int]

    @abstractmethod
    def _enough(self, class_counts: Integers, needed: int) -> Flags:
        """Tell which bodies reach a number of records."""

    def _final(self, class_counts: Integers) -> Flags:
        """Tell which bodies need not be made longer."""
        return np.zeros(len(class_counts), np.bool_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("max_candidates", self.max_candidates, numbers.Integral, low=1, high=self._most)
        if isinstance(self.min_support, str):
            check_choice("min_support", self.min_support, ("auto",), ", a number of records, or a share of them")
        elif isinstance(self.min_support, numbers.Integral):
            check_number("min_support", self.min_support, numbers.Integral, low=1)
        else:
            check_number("min_support", self.min_support, numbers.Real, low=0, high=1, open_low=True)

    def _mined(self, items: Items, progress: Progress) -> tuple[Mined, int]:
        """List the frequent bodies; return them and the number of records that made them frequent."""
        n_records = items.backend.n_records
        most = None if self.max_conditions is None else int(self.max_conditions)
        if isinstance(self.min_support, str):
            mined, needed = self._suited(items, most, progress)
        else:
            share = self.min_support
            needed = int(share) if isinstance(share, numbers.Integral) else least_count(float(share), n_records)
            try:
                mined = self._frequent(items, needed, most, progress)
            except TooManyBodiesError as error:
                raise ValueError(
                    f"more than max_candidates={self.max_candidates:,} bodies {error} min_support={share}; raise "
                    f"min_support, lower max_conditions (now {self.max_conditions}), or allow more candidates"
                ) from None
        if items.backend.n_items and not mined.bodies.size and items.backend.n_classes > 1:
            warn(f"no condition reaches a support of {needed:,} records, so there are no rules; lower min_support")
        return mined, needed

    def _suited(self, items: Items, most: int | None, progress: Progress) -> tuple[Mined, int]:
        """Find the lowest support within bounds that has not too many bodies; if none has, with fewer conditions."""
        low, high = (least_count(share, items.backend.n_records) for share in (self._lowest, self._highest))
        for longest in [most, *range(3 if most is None else most - 1, 0, -1)]:
            found = self._unless_too_many(items, low, longest, progress)
            if found is not None:
                return found, low
            found = self._unless_too_many(items, high, longest, progress)
            if found is not None:
                return self._bisected(items, longest, low, (found, high), progress)
        return self._frequent(items, items.backend.n_records, 1, progress), items.backend.n_records

    def _bisected(
        self, items: Items, longest: int | None, low: int, found: tuple[Mined, int], progress: Progress
    ) -> tuple[Mined, int]:
        """Come within a tenth of the lowest support for which there are not too many bodies; there are at ``low``."""
        while found[1] > 1.1 * low + 1:
            middle = round((low * found[1]) ** 0.5)
            better = self._unless_too_many(items, middle, longest, progress)
            if better is None:
                low = middle
            else:
                found = better, middle
        return found

    def _unless_too_many(self, items: Items, needed: int, longest: int | None, progress: Progress) -> Mined | None:
        try:
            return self._frequent(items, needed, longest, progress)
        except TooManyBodiesError:
            return None

    def _frequent(self, items: Items, needed: int, longest: int | None, progress: Progress) -> Mined:
        mining = Mining(
            lambda counts: self._enough(counts, needed),
            longest,
            int(self.max_candidates),
            exclusive=self.conditions == "bins",
            final=self._final,
        )
        columns = items.encoding.columns
        return frequent_bodies(items.backend, columns, mining, lambda words: progress.say(f"mining: {words}"))


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
