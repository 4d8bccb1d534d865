"""Edited rule sets: a rule is added, removed or replaced, and all counts are computed on given data."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.labels import as_labels
from diverse_rule_sets._input.named_columns import split_columns
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.weights import Weights, count_by
from diverse_rule_sets.model._answers import CoverPlan, Covers, find_covers, table_for
from diverse_rule_sets.model._batched_table import BatchedTable
from diverse_rule_sets.model._class_weights import are_balanced, balanced_weights
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._domains import Domain, domain_of, used_domains
from diverse_rule_sets.model._formatting import label_position
from diverse_rule_sets.model._point_probabilities import counts_by_points, followed_column, with_tables
from diverse_rule_sets.model._ranges import Orders, TableOrders
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rule_warnings import warn_about_rule
from diverse_rule_sets.model._rules import RuleSet, set_kinds
from diverse_rule_sets.sources._as_source import as_source
from diverse_rule_sets.sources._source import check_target
from diverse_rule_sets.sources._weights import with_weights

Integers = NDArray[np.int64]


class Examples(NamedTuple):
    """Records of positive weight with known labels.

    Parameters
    ----------
    table : the records; those of a source are read in batches
    codes : position of the label of each record among the classes
    weights : the weights of the records; None if they have none
    """

    table: Table | BatchedTable
    codes: Integers
    weights: Weights | None

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.codes.size

    def covers(self, plan: CoverPlan, expected: Mapping[Hashable, str]) -> Covers:
        """Return which of some rules cover which records."""
        if isinstance(self.table, BatchedTable):
            return self.table.covers(plan, expected)
        return find_covers(plan, self.table, expected)

    def counts(self, records: NDArray[np.bool_], n_classes: int) -> NDArray[Any]:
        """Count some of the records by class."""
        weights = None if self.weights is None else self.weights.take(records)
        return count_by(self.codes[records], n_classes, weights)


def examples_of(rule_set: RuleSet, X: Any, y: Any, sample_weight: Any = None) -> Examples:
    """Return records with their labels among the classes of a rule set, without those of weight 0."""
    if isinstance(X, Examples):
        return X
    source = as_source(X)
    if source is not None:
        check_target(y, source)
        weighted = with_weights(source, sample_weight, y)
        batched = BatchedTable(rule_set, weighted.source)
        return Examples(batched, batched.labels(y, rule_set.classes), weighted.weights)
    split = split_columns(as_table(X), y, sample_weight)
    records, weights = split.weighted()
    table = table_for(rule_set, split.table)
    codes = as_labels(split.y, rule_set.classes, table.n_records, records)
    return Examples(table if records is None else table.take(records), codes, weights)


def evaluated(rule_set: RuleSet, X: Any, y: Any, sample_weight: Any = None) -> RuleSet:
    """Return the same rules with all counts computed on given data; see :meth:`RuleSet.evaluated`."""
    examples = examples_of(rule_set, X, y, sample_weight)
    _, codes, weights = examples
    n_classes = len(rule_set.classes)
    totals = count_by(codes, n_classes, weights)
    rules, undecided = [], np.ones(examples.n_records, np.bool_)
    covers = examples.covers(rule_set.cover_plan, rule_set.expected_kinds)
    flags = iter(covers)
    by_points: dict[int, dict[int, Integers]] = {}

    def count_points(j: int, records: NDArray[np.bool_]) -> None:
        found = followed_column(rule_set.all_rules[j].conditions)
        if found is not None:
            own = None if weights is None else weights.take(records)
            by_points[j] = counts_by_points(covers.points[found[0]][records], codes[records], n_classes, own)

    for j, (rule, covered) in enumerate(zip(rule_set.rules, flags, strict=False)):
        rules.append(_with_counts(rule, rule_set, examples.counts(covered, n_classes)))
        count_points(j, covered)
        undecided &= ~covered
    uncovered = examples.counts(undecided, n_classes)
    fallbacks = []
    for j, (rule, covered) in enumerate(zip(rule_set.fallbacks, flags, strict=True), len(rules)):
        decided = covered & undecided  # the counts of a fallback rule are those of the records that it decides
        count_points(j, decided)
        fallbacks.append(_with_counts(rule, rule_set, examples.counts(decided, n_classes)))
        undecided &= ~decided
    changed = replace(
        rule_set,
        rules=tuple(rules),
        fallbacks=tuple(fallbacks),
        class_totals=tuple(totals.tolist()),
        uncovered_counts=tuple(uncovered.tolist()),
        class_weights=_weights(rule_set, totals),
    )
    return set_kinds(with_tables(changed, by_points), covers.kinds)


def _with_counts(rule: Rule, rule_set: RuleSet, counts: NDArray[Any]) -> Rule:
    """Return a rule with class counts."""
    return replace(rule, class_counts=tuple(zip(rule_set.classes, counts.tolist(), strict=True)))


def _weights(rule_set: RuleSet, totals: Integers) -> tuple[float, ...] | None:
    """Return the class weights for other data: balanced weights are balanced for it, other weights are unchanged."""
    weights = rule_set.class_weights
    if weights is None or not totals.all() or not are_balanced(weights, rule_set.class_totals):
        return weights
    balanced = balanced_weights(totals)
    return tuple((balanced / float(totals / totals.sum() @ balanced)).tolist())  # scaled as in a fit


def with_rule(
    rule_set: RuleSet, rule: Rule | str, X: Any, y: Any, position: int | None, sample_weight: Any = None
) -> RuleSet:
    """Return the rule set with one more rule; see :meth:`RuleSet.with_rule`."""
    position = len(rule_set.rules) if position is None else as_position("position", position, len(rule_set.rules) + 1)
    rules, examples = list(rule_set.rules), _cached(rule_set, X, y, sample_weight)
    rules.insert(position, _as_rule(rule, rule_set, examples.table))
    changed = recount(replace(rule_set, rules=tuple(rules)), likeliest_labels(rule_set), examples)
    _warn(changed, position, examples)
    return changed


def _cached(rule_set: RuleSet, X: Any, y: Any, sample_weight: Any) -> Examples:
    """Return records with known labels, whose columns are read once."""
    examples = examples_of(rule_set, X, y, sample_weight)
    table = examples.table
    return examples if isinstance(table, BatchedTable) else examples._replace(table=table.with_cache())


def without_rule(rule_set: RuleSet, rule: Rule | str | int, X: Any, y: Any, sample_weight: Any = None) -> RuleSet:
    """Return the rule set without one rule or fallback rule; see :meth:`RuleSet.without_rule`."""
    position, may_change = _find(rule, rule_set), likeliest_labels(rule_set)
    rules, fallbacks = list(rule_set.rules), list(rule_set.fallbacks)
    if position < len(rules):
        del rules[position]
    else:
        del fallbacks[position - len(rules)], may_change[position - len(rules)]
    examples = examples_of(rule_set, X, y, sample_weight)
    return recount(replace(rule_set, rules=tuple(rules), fallbacks=tuple(fallbacks)), may_change, examples)


def replace_rule(
    rule_set: RuleSet, rule: Rule | str | int, by: Rule | str, X: Any, y: Any, sample_weight: Any = None
) -> RuleSet:
    """Return the rule set with one rule replaced by another; see :meth:`RuleSet.replace`."""
    position, may_change = _find(rule, rule_set), likeliest_labels(rule_set)
    rules, fallbacks, examples = list(rule_set.rules), list(rule_set.fallbacks), _cached(rule_set, X, y, sample_weight)
    table = examples.table
    if position < len(rules):
        rules[position] = _as_rule(by, rule_set, table)
    else:
        fallbacks[position - len(rules)] = _as_rule(by, rule_set, table)
        may_change[position - len(rules)] = False  # the label that the user gave is not changed
    changed = recount(replace(rule_set, rules=tuple(rules), fallbacks=tuple(fallbacks)), may_change, examples)
    _warn(changed, position, examples)
    return changed


def _warn(rule_set: RuleSet, position: int, examples: Examples) -> None:
    """Warn if a new rule covers no record, or lists values that no record has."""
    rule, expected, table = rule_set.all_rules[position], rule_set.expected_kinds, examples.table
    covers_any = bool(examples.covers(CoverPlan((rule,)), expected).any_rule.any())
    if isinstance(table, BatchedTable):
        read = table.columns(list(plain_conditions([rule])), expected).__getitem__
        warn_about_rule(rule.conditions, covers_any, read, f"the rule {rule}")
        return
    warn_about_rule(rule.conditions, covers_any, lambda name: table.column(name, expected[name]), f"the rule {rule}")


def likeliest_labels(rule_set: RuleSet) -> list[bool]:
    """Return for each fallback rule and the default label whether it is the likeliest class of the counted records."""
    return [has_records and is_likeliest for has_records, is_likeliest, _ in _fallback_labels(rule_set)]


def _fallback_labels(rule_set: RuleSet) -> list[tuple[bool, bool, Any]]:
    """Return a tuple for each fallback rule and for the default label.

    It contains whether any records are counted, whether the label is their likeliest class, and the likeliest class.
    """
    n_rules, n_fallbacks = len(rule_set.rules), len(rule_set.fallbacks)
    counts = [*rule_set.class_counts(rule_set.fallbacks), rule_set.default_counts]
    labels = rule_set.labels_of(np.append(np.arange(n_rules, n_rules + n_fallbacks), -1))
    shares = rule_set.rule_probabilities[n_rules:]
    return [
        (any(class_counts), bool(row[k] == row.max()), rule_set.classes[int(np.argmax(row))])
        for class_counts, row, k in zip(counts, shares, labels.tolist(), strict=True)
    ]


def recount(rule_set: RuleSet, may_change: list[bool], examples: Examples) -> RuleSet:
    """Compute all counts, and set the labels of fallback rules, and the default label, to the likeliest class.

    Parameters
    ----------
    rule_set : the rules
    may_change : for each fallback rule and for the default label, whether its label may be changed
    examples : records, and their labels
    """
    changed = _with_domains(evaluated(rule_set, examples, None), examples)
    labels = [fallback.label for fallback in changed.fallbacks] + [changed.default]
    for j, (has_records, is_likeliest, likeliest) in enumerate(_fallback_labels(changed)):
        if may_change[j] and has_records and not is_likeliest:
            labels[j] = likeliest
    fallbacks = (replace(fallback, label=label) for fallback, label in zip(changed.fallbacks, labels[:-1], strict=True))
    relabelled = replace(changed, fallbacks=tuple(fallbacks), default=labels[-1])
    if relabelled.follows_points and relabelled.fallbacks != changed.fallbacks:
        return evaluated(relabelled, examples, None)  # the bounds of probabilities by points depend on the label
    return relabelled


def _with_domains(rule_set: RuleSet, examples: Examples) -> RuleSet:
    """Return the rule set with the values of some records in columns that are new to it or have values that are."""
    domains = dict(rule_set.domains)
    listed: dict[Hashable, list[Any]] = {}
    for condition in plain_conditions(rule_set.all_rules):
        listed.setdefault(condition.column, []).extend(condition.values_named)
    new = [
        name
        for name, values in listed.items()
        if (known := domains.get(name)) is None or not all(value in known for value in values)
    ]
    for name, found in _domains_of(rule_set, new, examples).items():
        before = domains.get(name)
        domains[name] = found if before is None else before.union(found)
    return replace(rule_set, domains=used_domains(domains, plain_conditions(rule_set.all_rules)))


def _domains_of(rule_set: RuleSet, names: Sequence[Hashable], examples: Examples) -> dict[Hashable, Domain]:
    """Return what is known about the values of some columns of records."""
    kinds, table = {name: rule_set.expected_kind(name) for name in names}, examples.table
    if isinstance(table, BatchedTable):
        return table.domains(kinds, examples.weights) if kinds else {}
    weights = None if examples.weights is None else examples.weights.values
    return {name: domain_of(table.column(name, kind), weights) for name, kind in kinds.items()}


def known_orders(rule_set: RuleSet, X: Any) -> Orders:
    """Return the orders of categories that a rule set or a table has; those of the rule set are preferred."""
    source = as_source(X)
    batched = X if isinstance(X, BatchedTable) else None if source is None else BatchedTable(rule_set, source)
    return TableOrders(table_for(rule_set, X) if batched is None else batched.first(), rule_set.orders)


def _as_rule(rule: Any, rule_set: RuleSet, table: Table | BatchedTable | None = None) -> Rule:
    """Return a rule, also from text, without counts; its label becomes the class with the same text."""
    if isinstance(rule, str):
        orders = rule_set.orders if table is None else known_orders(rule_set, table)
        rule = Rule.parse(rule, rule_set.scorecards, orders=orders)
    if not isinstance(rule, Rule):
        raise TypeError(f"rule must be a Rule or a text such as 'IF age <= 37 THEN good', got {rule!r}")
    position = label_position(rule.label, rule_set.classes)
    if position is None:
        raise ValueError(f"the rule {rule} has the label {rule.label!r}, expected one of {list(rule_set.classes)}")
    return replace(rule, label=rule_set.classes[position], class_counts=(), points_table=None)


def _find(rule: Any, rule_set: RuleSet) -> int:
    """Return the position of a rule or fallback rule, given by its printed number or by the rule itself."""
    all_rules = rule_set.all_rules
    if isinstance(rule, numbers.Integral) and not isinstance(rule, bool):
        return as_position("rule", rule, len(all_rules))
    if not isinstance(rule, Rule | str):
        raise TypeError(
            f"rule must be a number from 1 to {len(all_rules)}, as printed, a Rule or its text, got {rule!r}"
        )
    wanted = _as_rule(rule, rule_set)
    if wanted not in all_rules:
        raise ValueError(
            f"rule must be a rule of the rule set or its number, from 1 to {len(all_rules)}, as printed, got {wanted}"
        )
    return all_rules.index(wanted)


def as_position(name: str, number: Any, last: int) -> int:
    """Return the position for a printed number, which must be between 1 and the last number."""
    if not isinstance(number, numbers.Integral) or isinstance(number, bool) or not 1 <= int(number) <= last:
        raise ValueError(f"{name} must be a number from 1 to {last}, as printed, got {number!r}")
    return int(number) - 1
