"""What the baselines share: the items, the limit on candidates, and the way back to raw units."""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

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
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._util.progress import OnProgress, Progress
from diverse_rule_sets.data._backend import Body
from diverse_rule_sets.data._offers import CutOptions
from diverse_rule_sets.estimators._base import Binning, RuleSetEstimator
from diverse_rule_sets.estimators._mining import Mined, Mining, TooManyBodiesError, frequent_bodies
from diverse_rule_sets.estimators._translation import Items, counted, make_rule_set, translate

# Is told the stage of a fit and how far it is, in words.
Say = Callable[[str, str], None]
# A rule's class shares are mixed with those of the whole table as if it covered so many records more. Counts are whole
# numbers, so this changes no rule's likeliest class, and only settles ties.
_SMOOTHING = 1.0


# A rule by the numbers of its items and its class.
BodyAndLabel = tuple[Body, int]
CONDITIONS = ("thresholds", "bins")
# The parameters that all baselines have.
BASELINE_CHECKS: dict[str, Check] = {
    "conditions": Choice(CONDITIONS),
    "binning": Binning(),
    "n_bins": Number(numbers.Integral, low=2, high=1000),
    "max_conditions": Optional(Number(numbers.Integral, low=1)),
    "max_rules": Optional(Number(numbers.Integral, low=0)),
    "n_jobs": Jobs(),
    "verbose": Verbosity(),
}


@dataclass(frozen=True)
class Support(Check):
    """``"auto"``, a number of records, or a share of them."""

    def __call__(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            check_choice(name, value, ("auto",), ", a number of records, or a share of them")
        elif isinstance(value, numbers.Integral):
            check_number(name, value, numbers.Integral, low=1)
        else:
            check_number(name, value, numbers.Real, low=0, high=1, open_low=True)


class Baseline(RuleSetEstimator):
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
    def _find(self, items: Items, say: Say) -> tuple[list[BodyAndLabel], dict[str, Any]]:
        """Return the rules in order, and further fitted attributes; ``say`` is told how far it is."""

    def _learn(
        self, table: Table, labels: list[Any], codes: NDArray[np.int64], on_progress: OnProgress | None
    ) -> dict[str, Any]:
        def say(stage: str, detail: str) -> None:
            if on_progress is not None:
                on_progress(Progress(stage, detail=detail))

        options = CutOptions(self.binning, int(self.n_bins), self.conditions == "thresholds", otherwise="supervised")
        items = self._encode(table, codes, np.ones(len(labels)), options)
        found, fitted = self._find(items, say)
        rules, covered = counted(items.backend, found)
        rule_set = make_rule_set(
            items.backend,
            labels,
            translate(items.encoder, rules, labels),
            covered,
            conflict=self._conflict,
            smoothing=_SMOOTHING,
        )
        return {"rule_set_": rule_set, **fitted}


class MiningBaseline(Baseline):
    """A baseline that chooses from frequent bodies."""

    # Where `min_support="auto"` begins, a share of the records, and ends.
    _lowest: ClassVar[float]
    _highest: ClassVar[float] = 0.25

    @abstractmethod
    def _enough(self, class_counts: Integers, needed: int) -> Flags:
        """Tell which bodies reach a number of records."""

    def _final(self, class_counts: Integers) -> Flags:
        """Tell which bodies need not be made longer."""
        return np.zeros(len(class_counts), np.bool_)

    def _mined(self, items: Items, say: Say) -> tuple[Mined, int]:
        """List the frequent bodies; return them and the number of records that made them frequent."""
        n_records = items.backend.n_records
        most = None if self.max_conditions is None else int(self.max_conditions)
        if isinstance(self.min_support, str):
            mined, needed = self._suited(items, most, say)
        else:
            share = self.min_support
            needed = int(share) if isinstance(share, numbers.Integral) else least_count(float(share), n_records)
            try:
                mined = self._frequent(items, needed, most, say)
            except TooManyBodiesError as error:
                raise ValueError(
                    f"more than max_candidates={self.max_candidates:,} bodies {error} min_support={share}; raise "
                    f"min_support, lower max_conditions (now {self.max_conditions}), or allow more candidates"
                ) from None
        if items.backend.n_items and not mined.bodies.size and items.backend.n_classes > 1:
            warn(f"no condition reaches a support of {needed:,} records, so there are no rules; lower min_support")
        return mined, needed

    def _suited(self, items: Items, most: int | None, say: Say) -> tuple[Mined, int]:
        """Find the lowest support within bounds that has not too many bodies; if none has, with fewer conditions."""
        low, high = (least_count(share, items.backend.n_records) for share in (self._lowest, self._highest))
        for longest in [most, *range(3 if most is None else most - 1, 0, -1)]:
            found = self._unless_too_many(items, low, longest, say)
            if found is not None:
                return found, low
            found = self._unless_too_many(items, high, longest, say)
            if found is not None:
                return self._bisected(items, longest, low, (found, high), say)
        return self._frequent(items, items.backend.n_records, 1, say), items.backend.n_records

    def _bisected(
        self, items: Items, longest: int | None, low: int, found: tuple[Mined, int], say: Say
    ) -> tuple[Mined, int]:
        """Come within a tenth of the lowest support for which there are not too many bodies; there are at ``low``."""
        while found[1] > 1.1 * low + 1:
            middle = round((low * found[1]) ** 0.5)
            better = self._unless_too_many(items, middle, longest, say)
            if better is None:
                low = middle
            else:
                found = better, middle
        return found

    def _unless_too_many(self, items: Items, needed: int, longest: int | None, say: Say) -> Mined | None:
        try:
            return self._frequent(items, needed, longest, say)
        except TooManyBodiesError:
            return None

    def _frequent(self, items: Items, needed: int, longest: int | None, say: Say) -> Mined:
        mining = Mining(
            lambda counts: self._enough(counts, needed),
            longest,
            int(self.max_candidates),
            exclusive=self.conditions == "bins",
            final=self._final,
        )
        return frequent_bodies(items.backend, items.encoder.columns, mining, lambda words: say("mining", words))


def least_count(share: float, n_records: int) -> int:
    """Return the fewest records that are at least a share of all; a hair below counts as equal."""
    return max(1, math.ceil(share * n_records - 1e-9))
