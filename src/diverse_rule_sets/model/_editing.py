"""Rule sets changed by hand: another rule, one less, one in place of another; all counts taken anew on given data."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.labels import as_labels
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.model._answers import find_covers
from diverse_rule_sets.model._formatting import label_position
from diverse_rule_sets.model._rules import Rule, RuleSet, note_kinds

Integers = NDArray[np.int64]


def evaluated(rule_set: RuleSet, X: Any, y: Any) -> RuleSet:
    """Return the same rules with all counts taken on given data; see :meth:`RuleSet.evaluated`."""
    table = as_table(X)
    codes = as_labels(y, rule_set.classes, table.n_records)
    n_classes = len(rule_set.classes)
    totals = np.bincount(codes, minlength=n_classes)
    rules, left = [], np.ones(table.n_records, np.bool_)
    covers = find_covers(rule_set.all_rules, table)
    flags = iter(covers)
    for rule, covered in zip(rule_set.rules, flags, strict=False):
        rules.append(_counted(rule, rule_set, codes[covered]))
        left &= ~covered
    uncovered = np.bincount(codes[left], minlength=n_classes)
    fallbacks = []
    for rule, covered in zip(rule_set.fallbacks, flags, strict=True):
        decided = covered & left  # a fallback rule counts the records for which it decides
        fallbacks.append(_counted(rule, rule_set, codes[decided]))
        left &= ~decided
    changed = replace(
        rule_set,
        rules=tuple(rules),
        fallbacks=tuple(fallbacks),
        class_totals=tuple(totals.tolist()),
        uncovered_counts=tuple(uncovered.tolist()),
        class_weights=_weights(rule_set, totals),
    )
    return note_kinds(changed, covers.kinds)


def _counted(rule: Rule, rule_set: RuleSet, codes: Integers) -> Rule:
    counts = np.bincount(codes, minlength=len(rule_set.classes))
    return replace(rule, class_counts=tuple(zip(rule_set.classes, counts.tolist(), strict=True)))


def _weights(rule_set: RuleSet, totals: Integers) -> tuple[float, ...] | None:
    """Return the class weights for other data: balanced ones are balanced again, others stay as they are."""
    weights = rule_set.class_weights
    if weights is None or not totals.all():
        return weights
    mass = np.array(weights) * np.array(rule_set.class_totals)
    if not mass.all() or mass.max() > 1.001 * mass.min():
        return weights
    return tuple((totals.sum() / (totals.size * totals)).tolist())


def with_rule(rule_set: RuleSet, rule: Rule | str, X: Any, y: Any, position: int | None) -> RuleSet:
    """Return the rule set with one more rule; see :meth:`RuleSet.with_rule`."""
    place = len(rule_set.rules) if position is None else _place("position", position, len(rule_set.rules) + 1)
    rules = list(rule_set.rules)
    rules.insert(place, _read(rule, rule_set))
    return _recounted(replace(rule_set, rules=tuple(rules)), _follow(rule_set), X, y)


def without_rule(rule_set: RuleSet, rule: Rule | str | int, X: Any, y: Any) -> RuleSet:
    """Return the rule set less one rule or fallback; see :meth:`RuleSet.without_rule`."""
    place, follow = _found(rule, rule_set), _follow(rule_set)
    rules, fallbacks = list(rule_set.rules), list(rule_set.fallbacks)
    if place < len(rules):
        del rules[place]
    else:
        del fallbacks[place - len(rules)], follow[place - len(rules)]
    return _recounted(replace(rule_set, rules=tuple(rules), fallbacks=tuple(fallbacks)), follow, X, y)


def with_replaced(rule_set: RuleSet, rule: Rule | str | int, by: Rule | str, X: Any, y: Any) -> RuleSet:
    """Return the rule set with one rule in place of another; see :meth:`RuleSet.replace`."""
    place, follow = _found(rule, rule_set), _follow(rule_set)
    rules, fallbacks = list(rule_set.rules), list(rule_set.fallbacks)
    if place < len(rules):
        rules[place] = _read(by, rule_set)
    else:
        fallbacks[place - len(rules)] = _read(by, rule_set)
        follow[place - len(rules)] = False  # its label is the user's word
    return _recounted(replace(rule_set, rules=tuple(rules), fallbacks=tuple(fallbacks)), follow, X, y)


def _follow(rule_set: RuleSet) -> list[bool]:
    """Tell of each fallback and of the default whether it names the likeliest class of the records that it counts."""
    return [counted and named for counted, named, _ in _spare(rule_set)]


def _spare(rule_set: RuleSet) -> list[tuple[bool, bool, Any]]:
    """Return for each fallback rule and the default: has it records, is its label their likeliest class, and which."""
    n_rules, n_fallbacks = len(rule_set.rules), len(rule_set.fallbacks)
    counts = [*rule_set.class_counts(rule_set.fallbacks), rule_set.default_counts]
    said = rule_set.labels_of(np.append(np.arange(n_rules, n_rules + n_fallbacks), -1))
    shares = rule_set.rule_probabilities[n_rules:]
    return [
        (any(own), bool(row[k] == row.max()), rule_set.classes[int(np.argmax(row))])
        for own, row, k in zip(counts, shares, said.tolist(), strict=True)
    ]


def _recounted(rule_set: RuleSet, follow: list[bool], X: Any, y: Any) -> RuleSet:
    """Take all counts anew; those fallbacks that follow, and the default if it does, name what is likeliest now."""
    changed = evaluated(rule_set, X, y)
    labels = [fallback.label for fallback in changed.fallbacks] + [changed.default]
    for place, (counted, named, likeliest) in enumerate(_spare(changed)):
        if follow[place] and counted and not named:
            labels[place] = likeliest
    fallbacks = (replace(fallback, label=label) for fallback, label in zip(changed.fallbacks, labels[:-1], strict=True))
    return replace(changed, fallbacks=tuple(fallbacks), default=labels[-1])


def _read(rule: Any, rule_set: RuleSet) -> Rule:
    """Take a rule, or one in words; its label becomes the class it names."""
    if isinstance(rule, str):
        rule = Rule.parse(rule)
    if not isinstance(rule, Rule):
        raise TypeError(f"rule must be a Rule, or one in words such as 'IF age <= 37 THEN good', got {rule!r}")
    position = label_position(rule.label, rule_set.classes)
    if position is None:
        raise ValueError(f"the rule {rule} has the label {rule.label!r}, expected one of {list(rule_set.classes)}")
    return replace(rule, label=rule_set.classes[position], class_counts=())


def _found(rule: Any, rule_set: RuleSet) -> int:
    """Return the place of a rule or fallback: by its number, as printed, or by what it says."""
    everyone = rule_set.all_rules
    if isinstance(rule, numbers.Integral) and not isinstance(rule, bool):
        return _place("rule", rule, len(everyone))
    if not isinstance(rule, Rule | str):
        raise TypeError(
            f"rule must be a number from 1 to {len(everyone)}, as printed, a Rule, or one in words, got {rule!r}"
        )
    wanted = _read(rule, rule_set)
    if wanted not in everyone:
        raise ValueError(f"there is no rule {wanted}; give its number, from 1 to {len(everyone)}, as printed")
    return everyone.index(wanted)


def _place(name: str, number: Any, last: int) -> int:
    if not isinstance(number, numbers.Integral) or isinstance(number, bool) or not 1 <= int(number) <= last:
        raise ValueError(f"{name} must be a number from 1 to {last}, as printed, got {number!r}")
    return int(number) - 1
