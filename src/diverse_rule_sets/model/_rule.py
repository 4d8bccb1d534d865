"""Rules: conditions and a label, immutable values in the units of the table."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diverse_rule_sets._input.missing import codes_for
from diverse_rule_sets.model import _notebook
from diverse_rule_sets.model._answers import CoverPlan, expected_kinds, find_covers
from diverse_rule_sets.model._checks import check_class_counts, check_conditions, check_label
from diverse_rule_sets.model._conditions import Condition, Flags
from diverse_rule_sets.model._counts import Count, as_counts
from diverse_rule_sets.model._formatting import format_body, format_label
from diverse_rule_sets.model._grammar import parse_rule
from diverse_rule_sets.model._point_probabilities import PointsTable, check_points_table
from diverse_rule_sets.model._ranges import checked_orders
from diverse_rule_sets.model._scorecards import Scorecard
from diverse_rule_sets.sources._as_source import tables_of


@dataclass(frozen=True)
class Rule:
    """A rule: if all conditions hold for a record, its label is predicted.

    Two rules are equal if their conditions and labels are equal; class counts and probabilities are not compared.

    Parameters
    ----------
    conditions : tuple of Condition, at most one per column; an interval must contain a value
    label : the label that the rule predicts: text, a finite number or a boolean
    class_counts : pairs of (label, number of training records of that class that the rule covers); a label that is
        left out has the count 0. With sample weights it is their weight: an integer, or a float if it is not whole, a
        multiple of 2**-10
    points_table : the class probabilities by points, if the rule tests a scorecard; None: the same for all records

    Examples
    --------
    >>> from diverse_rule_sets import Equals, Interval
    >>> rule = Rule((Interval("age", high=37), Equals("sex", "F")), "good", (("bad", 1), ("good", 9)))
    >>> print(rule)
    IF age <= 37 AND sex = "F" THEN good
    >>> rule.n_covered, rule.precision
    (10, 0.9)
    >>> import numpy as np
    >>> Rule((Interval("x0", low=2),), "high").covers(np.array([[1.0], [3.0]]))
    array([False,  True])
    """

    conditions: tuple[Condition, ...]
    label: Any
    class_counts: tuple[tuple[Any, Count], ...] = field(default=(), compare=False)
    points_table: PointsTable | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", check_conditions(self.conditions))
        check_points_table(self.points_table, self.conditions)
        object.__setattr__(self, "label", check_label(self.label))
        object.__setattr__(self, "class_counts", check_class_counts(self.class_counts))

    @classmethod
    def parse(
        cls, text: str, scorecards: Iterable[Scorecard] = (), *, orders: Mapping[Hashable, Sequence[Any]] | None = None
    ) -> Rule:
        """Read a rule from text as ``str`` prints it.

        The rule has no class counts; :meth:`RuleSet.with_rule` computes them. In addition to the printed forms,
        ``'text'`` in single quotes, ``==``, ``!=``, ``>=`` and ``<`` are accepted. Names of columns are written
        unchanged, or in backticks if they begin with ``[`` or contain operators, quotes or the words AND and THEN.
        Names that are not strings are written in brackets, such as ``[5]`` or ``[('a', 1)]``; those of some types, such
        as fractions, cannot be read.

        Parameters
        ----------
        text : the rule
        scorecards : the scorecards that its conditions may test, such as ``points >= 6``; other names are columns of
            the table
        orders : the categories from the lowest to the highest of columns that are compared by order, such as
            ``{"grade": ["D", "C", "B", "A"]}`` for ``grade >= "B"``

        Examples
        --------
        >>> from diverse_rule_sets import Equals, Interval
        >>> rule = Rule.parse("IF age <= 37 AND sex = 'F' THEN good")
        >>> rule.conditions == (Interval("age", high=37), Equals("sex", "F"))
        True
        >>> print(rule)
        IF age <= 37 AND sex = "F" THEN good
        """
        return cls(*parse_rule(text, scorecards, checked_orders(orders)))

    @property
    def n_covered(self) -> Count:
        """The number of training records that the rule covers."""
        return as_counts([sum(count for _, count in self.class_counts)])[0]

    @property
    def n_correct(self) -> Count:
        """The number of training records that the rule covers and that have its label."""
        return as_counts([sum(count for label, count in self.class_counts if label == self.label)])[0]

    @property
    def precision(self) -> float:
        """The share of the covered training records that have the label of the rule; NaN if it covers none."""
        return self.n_correct / self.n_covered if self.n_covered else math.nan

    def covers(self, X: Any, *, missing_values: Any = None) -> Flags:
        """Return whether the rule covers each record of a table. Only the columns of its conditions are read.

        Parameters
        ----------
        X : the table, or one that is read in batches, as in ``fit`` of the classifiers
        missing_values : codes for missing values, as the classifiers take them; a rule has none of its own. Those of a
            rule set are ``dict(rule_set.missing_values)``; :meth:`RuleSet.covers` uses them
        """
        expected, plan = expected_kinds([self], {}), CoverPlan([self])
        covers = [
            find_covers(plan, table.with_codes(codes_for(missing_values, names)), expected)
            for table, names in tables_of(X, plan.by_column)
        ]
        return np.concatenate([next(iter(one)) for one in covers])

    def __str__(self) -> str:
        return f"IF {format_body(self.conditions)} THEN {format_label(self.label)}"

    def __repr__(self) -> str:
        return f"<Rule: {self}>"

    def _repr_html_(self) -> str:
        """Return the rule as HTML for notebooks."""
        return _notebook.rule_html(self)
