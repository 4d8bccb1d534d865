"""The facts about a rule set on a table: plain numbers and words, from which pages and pictures are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from diverse_rule_sets._input.labels import as_labels
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets.model._answers import Answers
from diverse_rule_sets.model._formatting import format_label
from diverse_rule_sets.model._rules import Rule, RuleSet

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Summary:
    """What a rule set does on a table.

    Parameters
    ----------
    rule_set : the rules
    table : the records
    codes : position of each record's label among the classes
    """

    rule_set: RuleSet
    table: Table
    codes: Integers

    @cached_property
    def _answers(self) -> Answers:
        """What the rule set answers for the records, from one pass over the table."""
        return self.rule_set.answer(self.table)

    @cached_property
    def covering(self) -> Flags:
        """Which rules cover which records, shape (n_records, n_rules)."""
        return self._answers.covers.flags()

    @property
    def deciding(self) -> Integers:
        """The rule that decides each record: a position in rules and fallbacks, -1 for none."""
        return self._answers.deciding

    @property
    def answers(self) -> Integers:
        """Position of each record's label among the classes."""
        return self._answers.labels

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Class probabilities of each record."""
        return self._answers.probabilities

    @property
    def depth(self) -> Integers:
        """How many rules cover each record."""
        return self._answers.depth

    @property
    def classes(self) -> list[str]:
        """The labels in words."""
        return [format_label(label) for label in self.rule_set.classes]

    @cached_property
    def class_counts(self) -> Integers:
        """Records of each class under each rule, shape (n_rules, n_classes)."""
        return np.array([self.counted(self.covering[:, j]) for j in range(len(self.rule_set))], np.int64).reshape(
            len(self.rule_set), len(self.rule_set.classes)
        )

    @cached_property
    def shared(self) -> Integers:
        """How many records each two rules share; on the diagonal how many a rule covers."""
        return np.asarray(self.shared_by_class.sum(axis=0))

    @cached_property
    def shared_by_class(self) -> Integers:
        """How many records of each class each two rules share, shape (n_classes, n_rules, n_rules)."""
        number: Any = (
            np.float32 if self.table.n_records < 1 << 24 else np.float64
        )  # whole numbers up to there are exact
        parts = (self.covering[self.codes == k].astype(number) for k in range(len(self.rule_set.classes)))
        return np.array([part.T @ part for part in parts]).astype(np.int64)

    def counted(self, records: Flags) -> Integers:
        """Count some records by class."""
        return np.bincount(self.codes[records], minlength=len(self.rule_set.classes)).astype(np.int64)

    def facts(self) -> dict[str, Any]:
        """Return all of it as a plain dict that JSON can hold."""
        n_classes = len(self.rule_set.classes)
        flat = np.bincount(self.codes * n_classes + self.answers, minlength=n_classes**2)
        confusion = flat.reshape(n_classes, n_classes)
        totals = confusion.sum(axis=1)
        recalls = confusion.diagonal()[totals > 0] / totals[totals > 0]
        nobody, unsure = self.depth == 0, (self.depth > 0) & (self.deciding == -1)
        return {
            "n_records": self.table.n_records,
            "classes": self.classes,
            "class_totals": totals.tolist(),
            "accuracy": float((self.answers == self.codes).mean()),
            "balanced_accuracy": float(recalls.mean()),
            "confusion": confusion.tolist(),
            "rules": [self._of_rule(j, rule) for j, rule in enumerate(self.rule_set.all_rules)],
            "default": {"label": format_label(self.rule_set.default), **self._said(nobody & (self.deciding == -1))},
            "together": self._said(unsure),  # rules cover these, but none of them has the label that wins
            "n_covered": int((self.depth > 0).sum()),
            "n_overlap": int((self.depth > 1).sum()),
            "uncovered_counts": self.counted(nobody).tolist(),
            "overlaps": self._overlaps(),
        }

    def _of_rule(self, j: int, rule: Rule) -> dict[str, Any]:
        """Return the facts about one rule or fallback."""
        is_rule = j < len(self.rule_set)
        covered = self.covering[:, j] if is_rule else self.deciding == j
        counts = self.counted(covered)
        own = self.rule_set.classes.index(rule.label)
        total = int((self.codes == own).sum())
        return {
            "number": j + 1,
            "fallback": not is_rule,
            "conditions": [str(condition) for condition in rule.conditions],
            "label": format_label(rule.label),
            "label_position": own,
            "class_counts": counts.tolist(),
            "n_covered": int(counts.sum()),
            "precision": _ratio(int(counts[own]), int(counts.sum())),
            "recall": _ratio(int(counts[own]), total),
            "n_alone": int((covered & (self.depth == 1)).sum()) if is_rule else int(counts.sum()),
            "training": {"n_covered": rule.n_covered, "precision": _ratio(rule.n_correct, rule.n_covered)},
            **self._said(self.deciding == j),
        }

    def _said(self, spoken: Flags) -> dict[str, Any]:
        """Return for how many of some records the answer is right."""
        right = int((self.answers[spoken] == self.codes[spoken]).sum())
        return {"n_speaks": int(spoken.sum()), "n_right": right, "spoken_counts": self.counted(spoken).tolist()}

    def _overlaps(self) -> list[dict[str, Any]]:
        """Return the pairs of rules that share records, those that share most first."""
        first, second = np.nonzero(np.triu(self.shared, 1))
        order = np.argsort(-self.shared[first, second], kind="stable")
        rules = self.rule_set.rules
        return [
            {
                "rules": [i + 1, j + 1],
                "n_shared": int(self.shared[i, j]),
                "class_counts": self.shared_by_class[:, i, j].tolist(),
                "contradiction": rules[i].label != rules[j].label,
            }
            for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True)
        ]


def summarise(rule_set: Any, X: Any, y: Any) -> Summary:
    """Check what the user gave, and return what the rules do on it.

    Parameters
    ----------
    rule_set : a RuleSet, or a fitted classifier
    X, y : records, and their labels among the classes of the rules
    """
    rules, table = taken(rule_set, X)
    # Kept once decoded: the report page reads columns for the rules and for the records that it shows.
    return Summary(rules, table.cached(), as_labels(y, rules.classes, table.n_records))


def taken(rule_set: Any, X: Any) -> tuple[RuleSet, Table]:
    """Return the rules of a RuleSet or a fitted classifier, and the table as the rules read it."""
    if isinstance(rule_set, RuleSet):
        return rule_set, as_table(X)
    if not isinstance(getattr(rule_set, "rule_set_", None), RuleSet):
        if hasattr(rule_set, "fit") and hasattr(rule_set, "_table"):  # a classifier of this package
            raise NotFittedError(f"this {type(rule_set).__name__} is not fitted yet; call fit(X, y) before")
        raise TypeError(f"expected a RuleSet or a fitted classifier of this package, got {type(rule_set).__name__}")
    return rule_set.rule_set_, rule_set._table(X)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
