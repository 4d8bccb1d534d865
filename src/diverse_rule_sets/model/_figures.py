"""Figures of rules as text: shares, class counts, and what class weights change about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from diverse_rule_sets.model._counts import Count, count_text
from diverse_rule_sets.model._formatting import format_label

if TYPE_CHECKING:
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet

_SMALLEST = {".2f": 0.01, ".3f": 0.001, ".1%": 0.001, ".0%": 0.01}  # the smallest number above 0 in each format


def digits(share: float, form: str = ".2f") -> str:
    """Return a share rounded to a few digits; a share other than 0 and 1 is never rounded to 0 or 1.

    Examples
    --------
    >>> digits(1), digits(0.9956), digits(0.004), digits(0.9996, ".3f"), digits(0.0004, ".1%")
    ('1.00', '>0.99', '<0.01', '>0.999', '<0.1%')
    """
    text = format(share, form)
    if share < 1 and text == format(1, form):
        return ">" + format(1 - _SMALLEST[form], form)
    return "<" + format(_SMALLEST[form], form) if share > 0 and text == format(0, form) else text


def percent(share: float) -> str:
    """Return a share as a percentage; a share other than 0 and 1 is never rounded to 0% or 100%.

    Examples
    --------
    >>> percent(1), percent(0.916), percent(0.9999), percent(0.0001)
    ('100%', '91.6%', '>99.9%', '<0.1%')
    """
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{100 * share:.1f}%".replace(".0%", "%")


def class_counts_text(class_counts: Sequence[tuple[Any, Count]]) -> str:
    """Return class counts as text such as `: 38 virginica, 1 versicolor`, the largest first; empty without records."""
    present = sorted((pair for pair in class_counts if pair[1]), key=lambda pair: -pair[1])
    texts = (
        f"{count_text(n)} {'' if isinstance(label, str) else 'of class '}{format_label(label)}" for label, n in present
    )
    return ": " + ", ".join(texts) if present else ""


def weight_word(rule_set: RuleSet) -> str:
    """Return the word for figures that count records by class weights; empty if the weights are about equal."""
    weights = rule_set.class_weights
    if weights is None or max(weights) <= 1.1 * min(weights):
        return ""
    return "balanced" if _is_balanced(weights, rule_set.class_totals) else "weighted"


def weighted_share(rule_set: RuleSet, label: Any, counts: Sequence[Count]) -> float | None:
    """Return the share of a label in class counts, by class weights; None if that says no more than the counts do.

    Parameters
    ----------
    rule_set : the rules
    label : one of the classes
    counts : number of records of each class, in the order of ``rule_set.classes``
    """
    weights = rule_set.class_weights
    if weights is None or not weight_word(rule_set):
        return None
    mass = [weight * n for weight, n in zip(weights, counts, strict=True)]
    return mass[rule_set.classes.index(label)] / sum(mass) if sum(mass) > 0 else None


def weighted_precision(rule_set: RuleSet, rule: Rule, form: str = ".2f") -> str:
    """Return the precision of a rule by class weights as text such as ``balanced 0.76``; empty if it is the same."""
    counts = dict(rule.class_counts)
    share = weighted_share(rule_set, rule.label, [counts.get(label, 0) for label in rule_set.classes])
    if share is None or digits(share, form) == digits(rule.precision, form):
        return ""
    return f"{weight_word(rule_set)} {digits(share, form)}"


def weight_text(rule_set: RuleSet) -> str:
    """Return what is said about class weights below the rules; empty if they are about equal."""
    word = weight_word(rule_set)
    if word == "balanced":
        return (
            "Precision counts records as they are. Balanced figures and the labels of rules treat all classes as "
            "equally frequent: in the data, a rare class is less likely."
        )
    if not word:
        return ""
    pairs = zip(rule_set.classes, rule_set.class_weights or (), strict=True)
    texts = (f"{format_label(label)} {weight:.3g}" for label, weight in pairs)
    return (
        "Precision counts records as they are. Weighted figures and the labels of rules count every record by the "
        f"weight of its class: {', '.join(texts)}."
    )


def probability_text(rule_set: RuleSet) -> str:
    """Return a sentence about how class weights change the probabilities; empty if the weights are about equal."""
    return {
        "": "",
        "balanced": (
            "The probabilities treat all classes as equally frequent: in the data, a rare class is less likely."
        ),
        "weighted": (
            "The probabilities count every record by the weight of its class: in the data, the class shares differ."
        ),
    }[weight_word(rule_set)]


def _is_balanced(weights: Sequence[float], totals: Sequence[Count]) -> bool:
    """Return whether all classes have the same total weight."""
    mass = [weight * total for weight, total in zip(weights, totals, strict=True)]
    return max(mass) < 1.001 * min(mass)
