"""What a rule set does on a table with known labels: the numbers for the report page, the plots and the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from diverse_rule_sets._input.columns import Column
from diverse_rule_sets._input.labels import as_labels
from diverse_rule_sets._input.named_columns import split_columns
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._input.weights import Weights, count_by, weighted_records
from diverse_rule_sets.estimators._base import RuleSetEstimator
from diverse_rule_sets.estimators._unwrap import unwrap
from diverse_rule_sets.model._answers import Answers, overlap_kinds, table_for
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._counts import Count, as_counts
from diverse_rule_sets.model._formatting import format_label, format_name
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import PointSums, Scorecard, ScorecardColumn
from diverse_rule_sets.sources._as_source import as_source

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Summary:
    """What a rule set does on a table with known labels.

    Parameters
    ----------
    rule_set : the rules
    table : the records
    codes : position of the true label of each record among the classes
    known_answers : what the rules do on the records, if the table is read in batches; otherwise it is computed
    read : for a table that is read in batches, function that returns a table with some of the records
    weights : the weights of the records, by which all figures count them; None if they have none
    rows : the number of each record in the table of the user; None if no record was left out
    """

    rule_set: RuleSet
    table: Table
    codes: Integers
    known_answers: Answers | None = None
    read: Callable[[Integers], tuple[Table, Integers]] | None = None
    weights: Weights | None = None
    rows: Integers | None = None

    @cached_property
    def _answers(self) -> Answers:
        """The covering rules, deciding rules and labels of all records, computed in one pass over the table."""
        return self.rule_set.answer(self.table) if self.known_answers is None else self.known_answers

    def with_records(self, records: Integers) -> tuple[Table, Integers]:
        """Return a table that has some records, and their positions in it; other records of the table may lack."""
        return (self.table, records) if self.read is None else self.read(records)

    @cached_property
    def covering(self) -> Flags:
        """Flags: whether each rule covers each record, shape (n_records, n_rules)."""
        return self._answers.covers.flags()

    @property
    def deciding(self) -> Integers:
        """The rule that decides the label of each record: a position among rules and fallback rules, or -1 for none."""
        return self._answers.deciding

    @property
    def predicted(self) -> Integers:
        """Position of the predicted label of each record among the classes."""
        return self._answers.labels

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Class probabilities of each record."""
        return self._answers.probabilities

    @property
    def depth(self) -> Integers:
        """Number of rules that cover each record."""
        return self._answers.depth

    def column(self, name: Hashable) -> Column:
        """Return a column of the table with the type that the rules expect, or a derived column of a scorecard."""
        if isinstance(name, ScorecardColumn):
            return self._points.column(name)
        return self.table.column(name, self.rule_set.expected_kind(name))

    @cached_property
    def _points(self) -> PointSums:
        """The points of all records, of all scorecards that the rules use."""
        cards = self.rule_set.scorecards
        points = PointSums(column for card in cards for column in card.derived_columns())
        for condition in dict.fromkeys(sign.condition for card in cards for sign in card.signs):
            points.add(condition, condition.holds(self.column(condition.column)))
        return points

    @property
    def n_records(self) -> Count:
        """Number of records, or their weight."""
        return self.count(np.ones(self.codes.size, np.bool_))

    def count(self, records: Flags) -> Count:
        """Count the selected records, or add up their weights."""
        return int(records.sum()) if self.weights is None else as_counts([self.weights.values[records].sum()])[0]

    @property
    def classes(self) -> list[str]:
        """The labels as text."""
        return [format_label(label) for label in self.rule_set.classes]

    @cached_property
    def class_counts(self) -> Integers:
        """Number of records of each class that each rule covers, shape (n_rules, n_classes)."""
        counts = [self.count_by_class(self.covering[:, j]) for j in range(len(self.rule_set))]
        return np.array(counts).reshape(len(self.rule_set), len(self.rule_set.classes)) if counts else self._no_counts

    @property
    def _no_counts(self) -> Integers:
        """The class counts of no rules."""
        return np.zeros((0, len(self.rule_set.classes)), np.int64)

    @cached_property
    def shared(self) -> Integers:
        """Number of records that two rules share, shape (n_rules, n_rules); diagonal: records that a rule covers."""
        return np.asarray(self.shared_by_class.sum(axis=0))

    @cached_property
    def shared_by_class(self) -> Integers:
        """Number of records of each class that each two rules share, shape (n_classes, n_rules, n_rules)."""
        # float32 holds integers below 2**24 exactly; sums of weights are exact in float64.
        small = self.weights is None and self.table.n_records < 1 << 24
        dtype: Any = np.float32 if small else np.float64
        own = np.ones(1) if self.weights is None else self.weights.values
        shared = []
        for k in range(len(self.rule_set.classes)):
            part = self.covering[self.codes == k].astype(dtype)
            weighted = part if self.weights is None else part * own[self.codes == k, None]
            shared.append(part.T @ weighted)
        counts = np.array(shared)
        return counts if self.weights is not None and self.weights.unit < 1 else counts.astype(np.int64)

    def count_by_class(self, records: Flags) -> Integers:
        """Count the selected records by class; by weight, if they have weights."""
        weights = None if self.weights is None else self.weights.take(records)
        return count_by(self.codes[records], len(self.rule_set.classes), weights)

    def facts(self) -> dict[str, Any]:
        """Return all figures as a dict of values that JSON can represent."""
        n_classes = len(self.rule_set.classes)
        flat = count_by(self.codes * n_classes + self.predicted, n_classes**2, self.weights)
        confusion = flat.reshape(n_classes, n_classes)
        totals = confusion.sum(axis=1)
        recalls = confusion.diagonal()[totals > 0] / totals[totals > 0]
        agreement, contradiction = overlap_kinds(self._answers.covers, [rule.label for rule in self.rule_set])
        uncovered, together = self.depth == 0, (self.depth > 0) & (self.deciding == -1)
        return {
            "n_records": self.n_records,
            "classes": self.classes,
            "class_totals": as_counts(totals),
            "accuracy": self.count(self.predicted == self.codes) / self.n_records,
            "balanced_accuracy": float(recalls.mean()),
            "confusion": [as_counts(row) for row in confusion],
            "rules": [self._rule_facts(j, rule) for j, rule in enumerate(self.rule_set.all_rules)],
            "default": {
                "label": format_label(self.rule_set.default),
                **self._decision_counts(uncovered & (self.deciding == -1)),
            },
            "together": self._decision_counts(together),  # no covering rule has the label that wins
            "n_covered": self.count(self.depth > 0),
            "n_overlap": self.count(self.depth > 1),
            "n_agree": self.count(agreement),  # covered by two or more rules of one label
            "n_contradict": self.count(contradiction),  # covered by rules of different labels
            "uncovered_counts": as_counts(self.count_by_class(uncovered)),
            "overlaps": self._overlaps(),
        }

    def _rule_facts(self, j: int, rule: Rule) -> dict[str, Any]:
        """Return the figures of one rule or fallback rule."""
        is_rule = j < len(self.rule_set)
        covered = self.covering[:, j] if is_rule else self.deciding == j
        counts, n_covered = as_counts(self.count_by_class(covered)), self.count(covered)
        own = self.rule_set.classes.index(rule.label)
        total = self.count(self.codes == own)
        return {
            "number": j + 1,
            "fallback": not is_rule,
            "conditions": [str(condition) for condition in rule.conditions],
            "label": format_label(rule.label),
            "label_position": own,
            "class_counts": counts,
            "n_covered": n_covered,
            "precision": _ratio(counts[own], n_covered),
            "recall": _ratio(counts[own], total),
            "n_alone": self.count(covered & (self.depth == 1)) if is_rule else n_covered,
            "training": {"n_covered": rule.n_covered, "precision": _ratio(rule.n_correct, rule.n_covered)},
            **self._decision_counts(self.deciding == j),
        }

    def _decision_counts(self, records: Flags) -> dict[str, Any]:
        """Return the number of the selected records, how many have the right predicted label, and the class counts."""
        return {
            "n_decided": self.count(records),
            "n_right": self.count(records & (self.predicted == self.codes)),
            "decided_counts": as_counts(self.count_by_class(records)),
        }

    def _overlaps(self) -> list[dict[str, Any]]:
        """Return the pairs of rules that share records, sorted by the number of shared records, largest first."""
        first, second = np.nonzero(np.triu(self.shared, 1))
        order = np.argsort(-self.shared[first, second], kind="stable")
        rules = self.rule_set.rules
        return [
            {
                "rules": [i + 1, j + 1],
                "n_shared": as_counts([self.shared[i, j]])[0],
                "class_counts": as_counts(self.shared_by_class[:, i, j]),
                "contradiction": rules[i].label != rules[j].label,
            }
            for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True)
        ]


def summarise(clf: Any, X: Any, y: Any, sample_weight: Any = None, *, name: str = "clf") -> Summary:
    """Validate the input and return the summary of a rule set on a table.

    Parameters
    ----------
    clf : a RuleSet, a fitted classifier, or a fitted pipeline or search that ends in one
    X, y : records and their labels; each label must be a class of the rule set. y may be the name of a column, which
        a table that is read in batches needs
    sample_weight : weights of the records or the name of their column, as in ``fit``; records of weight 0 are left out
    name : name of the argument `clf` in error messages
    """
    source = as_source(X)
    if source is not None:
        from diverse_rule_sets.report._batch_summary import summarise_batches

        model = unwrap(clf).model
        if isinstance(model, RuleSet):
            return summarise_batches(model, model.answer, source, y, sample_weight)
        if not isinstance(model, RuleSetEstimator) or unwrap(clf).transformers:
            raise TypeError(f"{name} must be a RuleSet or a classifier of this package if X is read in batches")
        return summarise_batches(model.rule_set_, model._answer, source, y, sample_weight)
    split = None
    if isinstance(sample_weight, str) or (isinstance(y, str) and y in as_table(X)):
        split = split_columns(as_table(X), y, sample_weight)
        X, y = split.table, split.y
    rules, table = rules_and_table(clf, X, name)
    rows, weights = weighted_records(sample_weight, table.n_records) if split is None else split.weighted()
    codes = as_labels(y, rules.classes, table.n_records, rows)
    table = table_for(rules, table if rows is None else table.take(rows))
    # With a cache: the report page reads columns twice, for the rules and for the example records.
    return Summary(rules, table.with_cache(), codes, weights=weights, rows=rows)


def rules_and_table(clf: Any, X: Any, name: str) -> tuple[RuleSet, Table]:
    """Return the rule set of a model, and X as the table that its rules can read, after the steps of a pipeline."""
    found = unwrap(clf)
    model = found.model
    if isinstance(model, RuleSet):
        return model, as_table(found.transform(X))
    if not isinstance(model, RuleSetEstimator):
        raise TypeError(
            f"{name} must be a RuleSet or a fitted classifier of this package, or a Pipeline or a search such as "
            f"GridSearchCV that ends in one, got {found}"
        )
    if not isinstance(getattr(model, "rule_set_", None), RuleSet):
        raise NotFittedError(f"this {found} is not fitted yet; call fit(X, y) first")
    table = model._table(found.transform(X))
    names = None if hasattr(model, "feature_names_in_") else found.names_out()
    fits = names is not None and len(names) == len({*names}) == len(table.names)
    if names is None or not fits or callable(model.rule_set_.conflict):  # the function may look at columns
        return model.rule_set_, table
    # The steps before the classifier gave it an array, whose columns are x0, x1, ... in its rules.
    return _rename(model.rule_set_, dict(zip(table.names, names, strict=True))), table.rename(names)


def _rename(rule_set: RuleSet, names: Mapping[Hashable, Hashable]) -> RuleSet:
    """Return the rule set with other names of the columns."""
    taken = {format_name(name) for name in names.values()}
    cards = {card: _rename_card(card, names, taken) for card in rule_set.scorecards}

    def rename_points(column: ScorecardColumn) -> ScorecardColumn:
        return replace(column, scorecard=cards[column.scorecard])

    def rename_condition(condition: Condition) -> Condition:
        column = condition.column
        renamed = rename_points(column) if isinstance(column, ScorecardColumn) else names[column]
        return replace(condition, column=renamed)

    def rename(rule: Rule) -> Rule:
        table = rule.points_table
        table = None if table is None else replace(table, column=rename_points(table.column))
        return replace(rule, conditions=tuple(map(rename_condition, rule.conditions)), points_table=table)

    return replace(
        rule_set,
        rules=tuple(map(rename, rule_set.rules)),
        fallbacks=tuple(map(rename, rule_set.fallbacks)),
        kinds=tuple((names[column], kind) for column, kind in rule_set.kinds),
        missing_values=tuple((names[name], codes) for name, codes in rule_set.missing_values if name in names),
    )


def _rename_card(card: Scorecard, names: Mapping[Hashable, Hashable], taken: set[str]) -> Scorecard:
    """Return a scorecard with other names of the columns; its own name has a number if a column has this name."""
    signs = (replace(s, condition=replace(s.condition, column=names[s.condition.column])) for s in card.signs)
    renamed, number = replace(card, signs=tuple(signs)), 1
    while taken & {str(column) for column in renamed.derived_columns()}:
        number += 1
        renamed = replace(renamed, name=f"{card.name} ({number})")
    taken |= {str(column) for column in renamed.derived_columns()}
    return renamed


def _ratio(part: Count, whole: Count) -> float | None:
    return part / whole if whole else None
