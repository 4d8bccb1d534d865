"""From rules of items to a rule set in the units of the table, for every classifier."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, Lists
from diverse_rule_sets._input.checks import check_number, did_you_mean, list_text
from diverse_rule_sets._input.values import plain
from diverse_rule_sets.data._backend import Backend, Body, Cover
from diverse_rule_sets.estimators._short_conditions import Items as Items
from diverse_rule_sets.estimators._short_conditions import with_shortest_lists, without_needless_bounds
from diverse_rule_sets.model._class_weights import balanced_weights
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._conditions import Condition, merge_conditions
from diverse_rule_sets.model._domains import used_domains
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import Conflict, RuleSet, set_kinds
from diverse_rule_sets.model._scorecards import POINTS, ScorecardColumn

Floats = NDArray[np.float64]


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
    """Return rules of items as rules in the units of the table, in the form that is easiest to read.

    A rule lists only values that can occur beside its other conditions, has no bound without effect, and tests columns
    of whole numbers in whole numbers. It covers the same training records as its items.
    """
    rules = tuple(rules)
    conditions, readable = items.encoder.conditions, items.encoder.readable
    bodies = without_needless_bounds(items, (rule.body for rule in rules))
    merged = [
        _own_points_first(merge_conditions(conditions[item] for item in body), labels[rule.label])
        for rule, body in zip(rules, bodies, strict=True)
    ]
    return tuple(
        Rule(tuple(map(readable, some)), labels[rule.label], label_counts(rule.class_counts, labels))
        for rule, some in zip(rules, with_shortest_lists(items, bodies, merged), strict=True)
    )


def _own_points_first(conditions: Sequence[Condition], label: Any) -> tuple[Condition, ...]:
    """Return conditions with that on the points for the label of the rule before those for other labels.

    The probabilities of a rule follow the points of its first condition on points.
    """
    of_label = [one for one in conditions if isinstance(one.column, ScorecardColumn) and one.column.part == POINTS]
    ordered = iter(sorted(of_label, key=lambda one: getattr(one.column, "label", None) != label))
    return tuple(next(ordered) if one in of_label else one for one in conditions)


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
    rule_set = replace(rule_set, domains=used_domains(items.encoder.domains, plain_conditions(rule_set.all_rules)))
    return replace(rule_set, default=rule_set.likeliest_default if default is None else default(rule_set))


def weights_of_classes(class_weight: Any, labels: Sequence[Any], totals: Integers) -> Floats:
    """Return the weight of a record of each class.

    Parameters
    ----------
    class_weight : ``"balanced"``, a mapping of labels to weights, or None
    labels : the classes, in order
    totals : number of records of each class
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
    return balanced_weights(totals)
