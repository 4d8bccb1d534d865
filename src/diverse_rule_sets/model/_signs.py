"""Signs: conditions that give points to labels."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from diverse_rule_sets._input.values import plain
from diverse_rule_sets.model._checks import error, shown
from diverse_rule_sets.model._conditions import Condition, DerivedColumn
from diverse_rule_sets.model._formatting import format_list_label

# The largest number of points that a sign gives.
MAX_POINTS = 1000


class Points(Mapping[Any, int]):
    """Whole numbers by label; a mapping that cannot be changed and is hashable."""

    __slots__ = ("_pairs",)

    def __init__(self, points: Mapping[Any, int]) -> None:
        self._pairs = tuple((plain(label), n) for label, n in points.items())

    def __getitem__(self, label: Any) -> int:
        for known, n in self._pairs:
            if known == label:
                return n
        raise KeyError(label)

    def __iter__(self) -> Iterator[Any]:
        return (label for label, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __hash__(self) -> int:
        return hash(frozenset(self._pairs))

    def __repr__(self) -> str:
        return repr(dict(self._pairs))

    def __reduce__(self) -> Any:
        return Points, (dict(self._pairs),)


@dataclass(frozen=True)
class Sign:
    """A condition, and the points that a record gets if the condition holds for it.

    A condition does not hold for a missing value, unless it is ``is missing``.

    Parameters
    ----------
    condition : a condition on a column of the table
    points : dict of labels to whole numbers other than 0, at most 1000; learnt ones are from 1 to 9

    Examples
    --------
    >>> from diverse_rule_sets import Interval
    >>> print(Sign(Interval("age", low=55), {"ill": 3}))
    3 for ill if age > 55
    """

    condition: Condition
    points: Mapping[Any, int]

    def __post_init__(self) -> None:
        if not isinstance(self.condition, Condition):
            raise TypeError(f"condition must be a condition such as Interval('age', low=55), got {self.condition!r}")
        if isinstance(self.condition.column, DerivedColumn):
            raise ValueError(f"a sign must test a column of the table, got the scorecard condition {self.condition}")
        object.__setattr__(self, "points", check_points(self.points, "points"))
        if not self.points:
            raise error("points", "a dict of labels to whole numbers, with at least one label", self.points)

    def __str__(self) -> str:
        return f"{points_text(self.points)} if {self.condition}"


def check_points(points: Any, place: str) -> Points:
    """Return points as a :class:`Points`; raises an error unless they are whole numbers other than 0, by label."""
    expected = f"a dict of labels to whole numbers other than 0, from {-MAX_POINTS} to {MAX_POINTS}"
    if not isinstance(points, Mapping):
        raise TypeError(f"{place} must be {expected}, got {shown(points)}")
    checked = {plain(label): plain(n) for label, n in points.items()}
    for label, n in checked.items():
        is_whole = isinstance(n, numbers.Integral) and not isinstance(n, bool)
        if not is_whole or n == 0 or abs(n) > MAX_POINTS:
            raise error(
                f"{place}[{label!r:.60}]", f"a whole number other than 0, from -{MAX_POINTS} to {MAX_POINTS}", n
            )
    return Points({label: int(n) for label, n in checked.items()})


def points_text(points: Mapping[Any, int]) -> str:
    """Return points as text such as ``3 for ill, 5 for dead``."""
    return ", ".join(f"{n} for {format_list_label(label)}" for label, n in points.items())
