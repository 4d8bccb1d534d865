"""The base classes of the baselines: encoding, mining within a limit on candidates, and the rule set."""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets._input.checks import (
    Check,
    Choice,
    Jobs,
    Number,
    Optional,
    Verbosity,
    check_choice,
    check_number,
    warn,
)
from diverse_rule_sets._input.missing import MissingValues
from diverse_rule_sets._util.progress import OnProgress, Progress
from diverse_rule_sets.data._backend import Body
from diverse_rule_sets.data._possible_conditions import CutOptions
from diverse_rule_sets.estimators._base import Binning, RuleSetEstimator
from diverse_rule_sets.estimators._bounds import MAX_CONDITIONS, MAX_RULES
from diverse_rule_sets.estimators._mining import FrequentBodies, Mining, TooManyBodiesError, frequent_bodies
from diverse_rule_sets.estimators._reading import Training
from diverse_rule_sets.estimators._translation import Items, count_rules, make_rule_set, translate
from diverse_rule_sets.learn._deadline import Deadline

# Reports the stage of a fit and its progress, as text.
Report = Callable[[str, str], None]
# The class shares of a rule are smoothed with this many records of the whole table. Counts are integers, so this only
# decides ties: it does not change the likeliest class of any other rule.
_SMOOTHING = 1.0


# A rule by the numbers of its items and of its class.
BodyAndLabel = tuple[Body, int]
CONDITIONS = ("thresholds", "bins")
# The parameters of all baselines.
BASELINE_CHECKS: dict[str, Check] = {
    "conditions": Choice(CONDITIONS),
    "binning": Binning(),
    "missing_values": MissingValues(),
    "n_bins": Number(numbers.Integral, low=2, high=1000),
    "max_conditions": Optional(Number(numbers.Integral, low=1, high=MAX_CONDITIONS)),
    "max_rules": Optional(Number(numbers.Integral, low=0, high=MAX_RULES)),
    "n_jobs": Jobs(),
    "verbose": Verbosity(),
}


@dataclass(frozen=True)
class Support(Check):
    """``"auto"``, a number of records, or a share of the records."""

    def __call__(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            check_choice(name, value, ("auto",), ", a number of records, or a share of them")
        elif isinstance(value, numbers.Integral):
            check_number(name, value, numbers.Integral, low=1)
        else:
            check_number(name, value, numbers.Real, low=0, high=1, open_low=True)


class Baseline(RuleSetEstimator):
    """A rule learner from the literature that uses the encoder and the backends of this package."""

    # The configuration of the experiments in "Diverse Rule Sets" (KDD 2020).
    _paper: ClassVar[dict[str, Any]]
    # Which rule decides if several cover a record.
    _conflict: ClassVar[str]

    @classmethod
    def as_in_paper(cls, **overrides: Any) -> Self:
        """Return the configuration of the experiments in "Diverse Rule Sets" (KDD 2020).

        Some of scikit-learn's estimator checks fail with it, because they require a higher accuracy.
        """
        return cls(**{**cls._paper, **overrides})

    @abstractmethod
    def _find(self, items: Items, report: Report) -> tuple[list[BodyAndLabel], dict[str, Any]]:
        """Return the rules in order, and further fitted attributes; call ``report`` with the progress."""

    def _learn(
        self, training: Training, labels: list[Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> dict[str, Any]:
        def report(stage: str, detail: str) -> None:
            if on_progress is not None:
                on_progress(Progress(stage, detail=detail))

        thresholds = self.conditions == "thresholds"
        options = CutOptions(self.binning, int(self.n_bins), thresholds, default_binning="supervised")
        table, codes, weights = training.table, training.codes, training.weights
        items = self._encode(table, codes, np.ones(len(labels)), options, weights=weights)
        found, fitted = self._find(items, report)
        rules, covered = count_rules(items.backend, found)
        rule_set = make_rule_set(
            items,
            labels,
            translate(items, rules, labels),
            covered,
            conflict=self._conflict,
            smoothing=_SMOOTHING,
        )
        return {"rule_set_": rule_set, **fitted}


class MiningBaseline(Baseline):
    """A baseline that selects rules from frequent bodies."""

    # The lowest and the highest support, as shares of the records, that `min_support="auto"` tries.
    _lowest: ClassVar[float]
    _highest: ClassVar[float] = 0.25

    @abstractmethod
    def _is_frequent(self, class_counts: Integers, support: int) -> Flags:
        """Return which bodies reach a support, a number of records."""

    def _is_final(self, class_counts: Integers) -> Flags:
        """Return which bodies need not be extended."""
        return np.zeros(len(class_counts), np.bool_)

    def _mine(self, items: Items, report: Report) -> tuple[FrequentBodies, int]:
        """Return the frequent bodies, and the support that they reach as a number of records."""
        n_records = items.backend.n_records
        n_columns = int(items.encoder.columns.max(initial=0)) + 1
        most = None if self.max_conditions is None else min(int(self.max_conditions), n_columns)
        if isinstance(self.min_support, str):
            mined, support = self._mine_auto(items, most, report)
        else:
            share = self.min_support
            support = int(share) if isinstance(share, numbers.Integral) else least_count(float(share), n_records)
            try:
                mined = self._mine_at(items, support, most, report)
            except TooManyBodiesError as error:
                raise ValueError(
                    f"more than max_candidates={self.max_candidates:,} bodies {error} min_support={share}; raise "
                    f"min_support, lower max_conditions (now {self.max_conditions}), or allow more candidates"
                ) from None
        if items.backend.n_items and not mined.bodies.size and items.backend.n_classes > 1:
            warn(f"no condition reaches a support of {support:,} records, so there are no rules; lower min_support")
        return mined, support

    def _mine_auto(self, items: Items, most: int | None, report: Report) -> tuple[FrequentBodies, int]:
        """Mine at the lowest support within bounds with few enough bodies; if there is none, with fewer conditions."""
        low, high = (least_count(share, items.backend.n_records) for share in (self._lowest, self._highest))
        for longest in [most, *range(3 if most is None else most - 1, 0, -1)]:
            found = self._mine_within_limit(items, low, longest, report)
            if found is not None:
                return found, low
            found = self._mine_within_limit(items, high, longest, report)
            if found is not None:
                return self._bisect_support(items, longest, low, (found, high), report)
        return self._mine_at(items, items.backend.n_records, 1, report), items.backend.n_records

    def _bisect_support(
        self, items: Items, longest: int | None, low: int, found: tuple[FrequentBodies, int], report: Report
    ) -> tuple[FrequentBodies, int]:
        """Bisect between ``low``, with too many bodies, and ``found``, until they differ by about a tenth."""
        while found[1] > 1.1 * low + 1:
            middle = round((low * found[1]) ** 0.5)
            better = self._mine_within_limit(items, middle, longest, report)
            if better is None:
                low = middle
            else:
                found = better, middle
        return found

    def _mine_within_limit(
        self, items: Items, support: int, longest: int | None, report: Report
    ) -> FrequentBodies | None:
        """Return the bodies that reach a support; None if there are more than ``max_candidates``."""
        try:
            return self._mine_at(items, support, longest, report)
        except TooManyBodiesError:
            return None

    def _mine_at(self, items: Items, support: int, longest: int | None, report: Report) -> FrequentBodies:
        """Return the bodies of at most ``longest`` conditions that reach a support."""
        mining = Mining(
            lambda counts: self._is_frequent(counts, support),
            longest,
            int(self.max_candidates),
            exclusive=self.conditions == "bins",
            is_final=self._is_final,
        )
        return frequent_bodies(items.backend, items.encoder.columns, mining, lambda text: report("mining", text))


def least_count(share: float, n_records: int) -> int:
    """Return the smallest number of records that is at least a share of all, up to rounding errors."""
    return max(1, math.ceil(share * n_records - 1e-9))
