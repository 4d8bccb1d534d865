"""From rules of items to a rule set in the units of the table, for every classifier."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets._input.checks import check_number, did_you_mean, list_text
from diverse_rule_sets._input.values import identity, plain
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.model._class_weights import balanced_weights
from diverse_rule_sets.model._conditions import Condition, Equals, IsIn, IsNotIn, merge_conditions
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import Conflict, RuleSet, set_kinds
from diverse_rule_sets.model._scorecards import POINTS, ScorecardColumn

Floats = NDArray[np.float64]


class Items(NamedTuple):
    """The training records as items."""

    encoder: Encoder
    backend: Backend


class ItemRule(Protocol):
    """A rule by the numbers of its items and of its class, with its class counts."""

    @property
    def body(self) -> Body:
        """The items."""

    @property
    def label(self) -> int:
        """The class."""

    @property
    def class_counts(self) -> Integers:
        """Number of training records of each class."""


class CountedRule(NamedTuple):
    """An :class:`ItemRule`."""

    body: Body
    label: int
    class_counts: Integers


def count_rules(backend: Backend, rules: Sequence[tuple[Body, int]]) -> tuple[list[CountedRule], Cover]:
    """Return rules of items with their class counts, and the cover of all rules together."""
    counts = backend.class_counts_of(Lists.of([body for body, _ in rules]))
    covered = backend.nothing
    for body, _ in rules:
        covered = backend.union(covered, backend.cover(body))
    return [CountedRule(body, label, row) for (body, label), row in zip(rules, counts, strict=True)], covered


def translate(items: Items, rules: Iterable[ItemRule], labels: Sequence[Any]) -> tuple[Rule, ...]:
    """Return rules of items as rules in the units of the table; a rule lists only values that some record has.

    A value is left out of ``column in {...}`` if no training record that the rule covers has it, and out of ``column
    not in {...}`` if no training record that meets the other conditions has it. The rule covers the same training
    records as before.
    """
    rules = tuple(rules)
    conditions = items.encoder.conditions
    bodies = [
        _own_points_first(merge_conditions(conditions[item] for item in rule.body), labels[rule.label])
        for rule in rules
    ]
    absent = _absent_values(items, [(rule.body, body) for rule, body in zip(rules, bodies, strict=True)])
    return tuple(
        Rule(
            tuple(_without_values(one, absent.get((j, n), ())) for n, one in enumerate(body)),
            labels[rule.label],
            label_counts(rule.class_counts, labels),
        )
        for j, (rule, body) in enumerate(zip(rules, bodies, strict=True))
    )


def _own_points_first(conditions: Sequence[Condition], label: Any) -> tuple[Condition, ...]:
    """Return conditions with that on the points for the label of the rule before those for other labels.

    The probabilities of a rule follow the points of its first condition on points.
    """
    of_label = [one for one in conditions if isinstance(one.column, ScorecardColumn) and one.column.part == POINTS]
    ordered = iter(sorted(of_label, key=lambda one: getattr(one.column, "label", None) != label))
    return tuple(next(ordered) if one in of_label else one for one in conditions)


def _absent_values(
    items: Items, bodies: Sequence[tuple[Body, Sequence[Condition]]]
) -> dict[tuple[int, int], list[Any]]:
    """Return the listed values that no record has which meets the other conditions.

    Parameters
    ----------
    items : the training records
    bodies : for each rule its items, and its conditions, one for each column

    Returns
    -------
    dict from the positions of a rule and of its condition to the values. They can be left out of all conditions of a
    rule together: after a ``not in``, the later ones are compared with the records that meet the conditions without it.
    """
    conditions = items.encoder.conditions
    single = {(one.column, identity(one.value)): k for k, one in enumerate(conditions) if isinstance(one, Equals)}
    asked: list[tuple[int, int, Any]] = []
    extended: list[Body] = []
    for j, (body, merged) in enumerate(bodies):
        ignored: set[Hashable] = set()
        for n, condition in enumerate(merged):
            if len(condition.values_named) < 2:
                continue
            if condition.excludes:
                ignored.add(condition.column)
            others = [item for item in body if not condition.excludes or conditions[item].column not in ignored]
            for value in condition.values_named:
                item = single.get((condition.column, identity(value)))
                if item is not None:
                    asked.append((j, n, value))
                    extended.append(tuple(sorted({*others, item})))
    absent: dict[tuple[int, int], list[Any]] = {}
    n_records = items.backend.class_counts_of(Lists.of(extended)).sum(axis=1).tolist() if extended else []
    for (j, n, value), count in zip(asked, n_records, strict=True):
        if not count:
            absent.setdefault((j, n), []).append(value)
    return absent


def _without_values(condition: Condition, absent: Sequence[Any]) -> Condition:
    """Return a condition without some of the values that it lists; unchanged if it would list none."""
    left_out = set(map(identity, absent))
    values = tuple(value for value in condition.values_named if identity(value) not in left_out)
    if not absent or not values or not isinstance(condition, IsIn | IsNotIn):
        return condition
    if len(values) == 1 and not condition.excludes:
        return Equals(condition.column, values[0], condition.mixed)
    return replace(condition, values=values)


def label_counts(class_counts: Integers, labels: Sequence[Any]) -> tuple[tuple[Any, int], ...]:
    """Return pairs of a label and its count."""
    return tuple(zip(labels, class_counts.tolist(), strict=True))


def make_rule_set(
    items: Items,
    labels: Sequence[Any],
    rules: tuple[Rule, ...],
    covered: Cover,
    *,
    conflict: Conflict,
    fallbacks: tuple[Rule, ...] = (),
    class_weights: Floats | None = None,
    smoothing: float | None = None,
    default: Callable[[RuleSet], Any] | None = None,
) -> RuleSet:
    """Return a rule set with its class counts and its default label.

    Parameters
    ----------
    items : the training records
    labels : the classes, in order
    rules : the rules, with their class counts
    covered : the records that at least one rule covers
    conflict, class_weights, smoothing : as for :class:`RuleSet`
    fallbacks : the fallback rules, in order
    default : function of the rule set that returns the default label; by default the likeliest class of the records
        that get the default label
    """
    totals = items.backend.class_totals
    rule_set = RuleSet(
        rules,
        tuple(labels),
        labels[0],
        tuple(totals.tolist()),
        tuple((totals - items.backend.class_counts(covered)).tolist()),
        conflict,
        fallbacks,
        None if class_weights is None else tuple(class_weights.tolist()),
        smoothing,
        missing_values=items.encoder.codes,
    )
    rule_set = set_kinds(rule_set, {name: items.encoder.kinds[name] for name in rule_set.columns})
    rule_set = replace(rule_set, domains=tuple((name, items.encoder.domains[name]) for name in rule_set.columns))
    return replace(rule_set, default=rule_set.likeliest_default if default is None else default(rule_set))


def weights_of_classes(class_weight: Any, labels: Sequence[Any], codes: Integers) -> Floats:
    """Return the weight of a record of each class.

    Parameters
    ----------
    class_weight : ``"balanced"``, a mapping of labels to weights, or None
    labels : the classes, in order
    codes : the class of each record
    """
    if isinstance(class_weight, Mapping):
        given = {plain(label): weight for label, weight in class_weight.items()}
        for label, weight in given.items():
            if label not in labels:
                raise ValueError(
                    f"class_weight names the label {label!r}, which y does not have; its labels: {list_text(labels)}"
                    f"{did_you_mean(label, labels)}"
                )
            check_number(f"class_weight[{label!r}]", weight, numbers.Real, low=0, high=1e9, open_low=True)
        return np.array([float(given.get(label, 1.0)) for label in labels])
    if class_weight is None:
        return np.ones(len(labels))
    return balanced_weights(np.bincount(codes, minlength=len(labels)))
