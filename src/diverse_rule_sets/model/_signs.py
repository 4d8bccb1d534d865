"""Signs: conditions that give points to labels."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diverse_rule_sets._input.values import plain, type_of
from diverse_rule_sets.model._checks import check_label, error, shown
from diverse_rule_sets.model._conditions import Condition, DerivedColumn
from diverse_rule_sets.model._formatting import format_list_label

# The largest number of points that a sign gives, and the largest number of signs of a scorecard.
MAX_POINTS, MAX_SIGNS = 1000, 1000


class Points(Mapping[Any, int]):
    """Whole numbers by label; a mapping that cannot be changed and is hashable."""

    def __init__(self, points: Mapping[Any, int]) -> None:
        self._points = dict(points)

    def __getitem__(self, label: Any) -> int:
        return self._points[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)

    def __hash__(self) -> int:
        return hash(frozenset(self._points.items()))

    def __repr__(self) -> str:
        return repr(self._points)

    def __getstate__(self) -> dict[str, Any]:
        return {"pairs": tuple(self._points.items())}  # skops does not keep keys of a dict that are booleans

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._points = dict(state["pairs"])


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
    checked = {check_label(label): plain(n) for label, n in points.items()}
    for label, n in checked.items():
        is_whole = isinstance(n, numbers.Integral) and not isinstance(n, bool)
        if not is_whole or n == 0 or abs(n) > MAX_POINTS:
            raise error(
                f"{place}[{shown(label)}]", f"a whole number other than 0, from -{MAX_POINTS} to {MAX_POINTS}", n
            )
    return Points({label: int(n) for label, n in checked.items()})


def check_signs(signs: Any) -> tuple[Sign, ...]:
    """Return the signs of a scorecard as a tuple; raises an error unless they are signs with different conditions."""
    try:
        checked = tuple(signs)
    except TypeError:
        checked = (signs,)
    if not checked or not all(isinstance(sign, Sign) for sign in checked):
        raise TypeError(f"signs must be a tuple of one or more signs, got {shown(signs)}")
    if len(checked) > MAX_SIGNS:
        raise ValueError(f"signs must be at most {MAX_SIGNS:,} signs, got {len(checked):,}")
    known: set[Condition] = set()
    for sign in checked:
        if sign.condition in known:
            raise ValueError(f"signs must have different conditions, got {sign.condition!s:.80} twice")
        known.add(sign.condition)
    _check_types([sign.condition for sign in checked])
    return checked


def _check_types(conditions: Sequence[Condition]) -> None:
    """Raise ValueError if a column is compared by order, and also with a value of another type."""
    compared = {condition.column: condition.kind for condition in conditions if condition.comparisons}
    for condition in conditions:
        if condition.column in compared and not getattr(condition, "mixed", False):
            kind = compared[condition.column]
            types = [condition.kind] if condition.comparisons else map(type_of, condition.values_named)
            other = next((one for one in types if one != kind), None)
            if other is not None:
                raise ValueError(
                    f"signs compare the column {shown(condition.column)} with values of the types {kind!r} and "
                    f"{other!r}, expected one of them"
                )


def points_text(points: Mapping[Any, int]) -> str:
    """Return points as text such as ``3 for ill, 5 for dead``."""
    return ", ".join(f"{n} for {format_list_label(label)}" for label, n in points.items())
