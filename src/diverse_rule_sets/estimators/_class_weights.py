"""The weights of the classes in a fit, and the classes that are too rare for rules.

Balanced weights give every class the same total weight, so that a single mislabelled record would count as much as a
whole class. So a class is *rare* if it has fewer records than ``min_support`` and less than a tenth of the records of
an average class with more. Its records weigh as much as an average record, and the search does not count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers
from diverse_rule_sets._input.checks import warn
from diverse_rule_sets._input.values import plain
from diverse_rule_sets.estimators._translation import weights_of_classes

Floats = NDArray[np.float64]
# A rare class has less than an average class divided by this number.
_RATIO = 10
# Number of labels that a warning lists.
_MAX_LISTED = 5


class ClassWeights(NamedTuple):
    """The weight of a record of each class in labels and probabilities, and flags of the rare classes or None."""

    weights: Floats
    rare: Flags | None = None

    @property
    def for_search(self) -> Floats:
        """The weight of a record of each class in cut points; 0 for rare classes."""
        return self.weights if self.rare is None else np.where(self.rare, 0.0, self.weights)


def class_weights(class_weight: Any, labels: Sequence[Any], codes: Integers, min_support: int) -> ClassWeights:
    """Return the weights of the classes; warn about rare classes.

    A class whose weight the user gives is not rare. If there is only one other class, rules are learnt for the rare
    classes too, but with balanced weights a record of theirs weighs no more than ten records of the other class.

    Parameters
    ----------
    class_weight : ``"balanced"``, a mapping of labels to weights, or None
    labels : the classes, in order
    codes : the class of each record
    min_support : smallest number of records that a rule covers; 1 if no class is to be rare
    """
    weights = weights_of_classes(class_weight, labels, codes)
    totals = np.bincount(codes, minlength=len(labels))
    rare = _find_rare(totals, min_support)
    if isinstance(class_weight, Mapping):
        named = [plain(label) for label in class_weight]
        rare &= np.array([label not in named for label in labels], np.bool_)
    n_others, is_balanced = int((~rare).sum()), isinstance(class_weight, str)
    if not rare.any() or (n_others == 1 and not is_balanced):
        return ClassWeights(weights)
    if n_others == 1:
        _warn(labels, totals, rare, min_support, "their weight is limited")
        return ClassWeights(np.where(rare, _RATIO * weights[~rare], weights))
    if is_balanced:
        weights = np.where(rare, 1.0, totals[~rare].sum() / (n_others * totals))
    _warn(labels, totals, rare, min_support, "no rule is learnt for them")
    return ClassWeights(weights, rare)


def _find_rare(totals: Integers, min_support: int) -> Flags:
    """Return which classes are rare, from the number of records of each."""
    few = totals < min_support
    if few.all():
        return np.zeros(totals.size, np.bool_)
    return np.asarray(few & (_RATIO * totals < totals[~few].mean()))


def _warn(labels: Sequence[Any], totals: Integers, rare: Flags, min_support: int, result: str) -> None:
    """Warn about rare classes, with their numbers of records."""
    classes = np.flatnonzero(rare).tolist()
    texts = [f"{labels[k]!r} ({totals[k]} record{'s' if totals[k] > 1 else ''})" for k in classes[:_MAX_LISTED]]
    if len(classes) > _MAX_LISTED:
        texts.append(f"and {len(classes) - _MAX_LISTED:,} more")
    warn(
        f"y has fewer than min_support={min_support} records of some labels, so {result}: {', '.join(texts)}. "
        "Correct these labels if they are mistakes, or lower min_support"
    )
