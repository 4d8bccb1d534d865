"""The weights of the classes in a fit, and the classes that are too rare for rules.

Balanced weights give every class the same total weight, so that a single mislabelled record would count as much as a
whole class. So a class is *rare* if it has fewer records than ``min_support`` and less than a tenth of the records of
an average class with more. Its records weigh as much as an average record, and the search does not count them. Other
classes with few records are searched, but their weight is limited (:mod:`diverse_rule_sets.model._class_weights`). The
paper's search counts all classes alike, but there too a rare class is not the default label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets._input.checks import Check, check_choice, warn
from diverse_rule_sets._input.values import plain
from diverse_rule_sets._input.weights import Weights, count_by
from diverse_rule_sets.estimators._translation import weights_of_classes
from diverse_rule_sets.model._class_weights import MAX_RATIO, balanced_weights
from diverse_rule_sets.model._counts import count_text

Floats = NDArray[np.float64]
# In the paper's method, whose ``min_support`` is 1, a rare class has fewer records than this, or than ``min_support``.
_MIN_RECORDS = 3
# In a table of at most so many records every class is small, and a class with few records gives no warning.
_SMALL_TABLE = 20
# Number of labels that a warning lists.
_MAX_LISTED = 5


@dataclass(frozen=True)
class ClassWeightCheck(Check):
    """``"balanced"``, None, or a mapping, which is checked later, together with the labels."""

    def __call__(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Mapping):
            check_choice(name, value, ("balanced",), ", None, or a dict of labels")


class ClassWeights(NamedTuple):
    """The weights of the classes in a fit.

    Parameters
    ----------
    weights : the weight of a record of each class in labels and probabilities
    rare : flags of the classes whose records the search does not count; None if there are none
    not_default : flags of the classes that are not the default label, unless it is given
    """

    weights: Floats
    rare: Flags | None
    not_default: Flags

    @property
    def for_search(self) -> Floats:
        """The weight of a record of each class in cut points; 0 for rare classes."""
        return self.weights if self.rare is None else np.where(self.rare, 0.0, self.weights)


def class_weights(
    class_weight: Any, labels: Sequence[Any], codes: Integers, min_support: int, records: Weights | None = None
) -> ClassWeights:
    """Return the weights of the classes; warn about rare classes, and about others with too few records for a rule.

    A class whose weight the user gives is not rare, and gives no warning. A class with few records in a table of at
    most 20 records gives no warning either. If there is only one other class, rules are learnt for the rare classes
    too, but with balanced weights a record of theirs weighs no more than ten records of the other class.

    Parameters
    ----------
    class_weight : ``"balanced"``, a mapping of labels to weights, or None
    labels : the classes, in order
    codes : the class of each record
    min_support : smallest number of records that a rule covers; 1 if no class is to be rare
    records : the weights of the records; None if they have none
    """
    totals = count_by(codes, len(labels), records)
    weights = weights_of_classes(class_weight, labels, totals)
    few, rare = totals < min_support, _find_rare(totals, min_support)
    if isinstance(class_weight, Mapping):
        named = [plain(label) for label in class_weight]
        not_named = np.array([label not in named for label in labels], np.bool_)
        few, rare = few & not_named, rare & not_named
    n_others, is_balanced = int((~rare).sum()), isinstance(class_weight, str)
    is_searched = n_others == 1 and not is_balanced  # then rare classes are as all others
    _warn_about_few(labels, totals, few if is_searched else few & ~rare, min_support)
    if not rare.any() or is_searched:
        return ClassWeights(weights, None, rare)
    if n_others == 1:
        _warn(labels, totals, rare, f"min_support={min_support}", "their weight is limited")
        return ClassWeights(np.where(rare, MAX_RATIO * weights[~rare], weights), None, rare)
    if is_balanced:
        weights = np.ones(rare.size)
        weights[~rare] = balanced_weights(totals[~rare])
    _warn(labels, totals, rare, f"min_support={min_support}", "no rule is learnt for them")
    return ClassWeights(weights, rare, rare)


def paper_weights(
    class_weight: Any,
    labels: Sequence[Any],
    codes: Integers,
    min_support: int,
    has_default: bool,
    records: Weights | None = None,
) -> ClassWeights:
    """Return the weights of a search that counts all classes; warn about classes that are not the default label.

    Parameters
    ----------
    class_weight, labels, codes, min_support, records : as for :func:`class_weights`
    has_default : whether the user gives the default label
    """
    totals = count_by(codes, len(labels), records)
    least = max(min_support, _MIN_RECORDS)
    rare = _find_rare(totals, least) & (not has_default)
    if rare.any():
        limit = f"min_support={min_support}" if min_support == least else str(least)
        _warn(labels, totals, rare, limit, "they are not the default label", "give default")
    _warn_about_few(labels, totals, (totals < min_support) & ~rare, min_support)
    return ClassWeights(weights_of_classes(class_weight, labels, totals), None, rare)


def _find_rare(totals: Integers, min_support: int) -> Flags:
    """Return which classes are rare, from the number of records of each; never all of them."""
    few = totals < min_support
    if few.all():
        return np.zeros(totals.size, np.bool_)
    return np.asarray(few & (MAX_RATIO * totals < totals[~few].mean()))


def _warn_about_few(labels: Sequence[Any], totals: Integers, few: Flags, min_support: int) -> None:
    """Warn about classes that are not rare, but have too few records for a rule; not in small tables."""
    if few.any() and len(labels) > 1 and totals.sum() > _SMALL_TABLE:
        _warn(labels, totals, few, f"min_support={min_support}", "rules may not find them")


def _warn(
    labels: Sequence[Any],
    totals: Integers,
    flags: Flags,
    limit: str,
    result: str,
    advice: str = "lower min_support",
) -> None:
    """Warn about some classes, with their numbers of records."""
    classes = np.flatnonzero(flags).tolist()
    texts = [
        f"{labels[k]!r} ({count_text(totals[k])} record{'' if totals[k] == 1 else 's'})" for k in classes[:_MAX_LISTED]
    ]
    if len(classes) > _MAX_LISTED:
        texts.append(f"and {len(classes) - _MAX_LISTED:,} more")
    warn(
        f"y has fewer than {limit} records of some labels, so {result}: {', '.join(texts)}. "
        f"Correct these labels if they are mistakes, or {advice}"
    )
