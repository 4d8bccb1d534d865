"""Rules and their answers in words: what ``print`` and ``explain`` say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._formatting import format_body, format_label

if TYPE_CHECKING:
    from diverse_rule_sets.model._rules import Rule, RuleSet


def page(rule_set: RuleSet) -> str:
    """Return the rules as a page to read, then the fallbacks, the default last."""
    uncovered = tuple(zip(rule_set.classes, rule_set.uncovered_counts, strict=True))
    total = sum(rule_set.class_totals)
    number = len(str(len(rule_set.all_rules)))
    pages = [f"{j:>{number}}. {_page(rule, total, number + 2)}" for j, rule in enumerate(rule_set.rules, 1)]
    n_uncovered = sum(rule_set.uncovered_counts)
    rest = f"no rule covers {n_uncovered:,} of {total:,} records{tally(uncovered)}"
    rest = rest if n_uncovered else f"some rule covers each of the {total:,} records"
    if rule_set.fallbacks:
        pages.append(f"Where no rule covers a record ({rest}), the first of these speaks:")
        for j, rule in enumerate(rule_set.fallbacks, len(rule_set.rules) + 1):
            pages.append(f"{j:>{number}}. {_fallback_text(rule, number + 2)}")
        n_left = n_uncovered - sum(rule.n_covered for rule in rule_set.fallbacks)
        left = tuple(zip(rule_set.classes, rule_set.default_counts, strict=True))
        are_left = "record is left" if n_left == 1 else "records are left"
        rest = f"{n_left:,} {are_left}{tally(left)}" if n_left else "no record is left"
    pages.append(f"{'':{number}}  OTHERWISE {format_label(rule_set.default)} ({rest})")
    if len(rule_set.rules) > 1:
        how = CONFLICTS.get(rule_set.conflict) if isinstance(rule_set.conflict, str) else None
        pages.append(f"Where several rules cover a record, {how or 'a function of those rules decides'}.")
    weights = weight_words(rule_set)
    return "\n".join([*pages, weights] if weights else pages)


def frame_columns(rule_set: RuleSet) -> dict[str, list[Any]]:
    """Return rules, fallbacks and the default as the columns of a table."""
    everyone = rule_set.all_rules
    n_left = sum(rule_set.uncovered_counts) - sum(rule.n_covered for rule in rule_set.fallbacks)
    counts = [*rule_set.class_counts(everyone).astype(int).tolist(), list(rule_set.default_counts)]
    if n_left <= 0:
        counts[-1] = [0] * len(rule_set.classes)
    sizes = [sum(row) for row in counts]
    labels = [*(rule.label for rule in everyone), rule_set.default]
    own = [row[rule_set.classes.index(label)] for row, label in zip(counts, labels, strict=True)]
    total = max(sum(rule_set.class_totals), 1)
    parts = ["rule"] * len(rule_set.rules) + ["fallback"] * len(rule_set.fallbacks)
    columns: dict[str, list[Any]] = {
        "rule": [*range(1, len(everyone) + 1), None],
        "part": [*parts, "default"],
        "if": [*(format_body(rule.conditions) for rule in everyone), "nothing else covers it"],
        "then": labels,
        "conditions": [*(len(rule.conditions) for rule in everyone), 0],
        "covers": sizes,
        "coverage": [size / total for size in sizes],
        "precision": [n / size if size else None for n, size in zip(own, sizes, strict=True)],
    }
    for k, label in enumerate(rule_set.classes):
        columns[f"n {format_label(label)}"] = [row[k] for row in counts]
    return columns


def rule_sentences(rule_set: RuleSet) -> list[str]:
    """Say what each rule, each fallback and the default say of a record."""
    numbered = [str(rule) for rule in rule_set.rules]
    numbered += [f"no rule covers it; the first fallback that does: {rule}" for rule in rule_set.fallbacks]
    nobody = "no rule and no fallback covers it" if rule_set.fallbacks else "no rule covers it"
    return [*numbered, f"{nobody}: {format_label(rule_set.default)}"]


def sentence_of_group(rule_set: RuleSet, group: Sequence[int], answer: int) -> str:
    """Say what the class counts of some rules come to; nothing for no rules."""
    if not group:
        return ""
    if len(group) == 1:
        rule = rule_set.rules[group[0]]
        sentence = f"{rule}{tally(rule.class_counts)}"
        hence = "" if rule.label == rule_set.classes[answer] else f", hence {format_label(rule_set.classes[answer])}"
        return sentence + hence
    added = rule_set.class_counts([rule_set.rules[j] for j in group]).sum(axis=0).astype(int)
    names = ", ".join(str(j + 1) for j in group[:-1]) + f" and {group[-1] + 1}"
    told = tally(tuple(zip(rule_set.classes, added.tolist(), strict=True)))
    return f"rules {names} together{told}, hence {format_label(rule_set.classes[answer])}"


_SMALLEST = {".2f": 0.01, ".3f": 0.001, ".1%": 0.001}  # above 0 that these formats can show


def digits(share: float, form: str = ".2f") -> str:
    """Return a share in a few digits; what is not all, or not nothing, does not read as if it were.

    Examples
    --------
    >>> digits(1), digits(0.9956), digits(0.004), digits(0.9996, ".3f"), digits(0.0004, ".1%")
    ('1.00', '>0.99', '<0.01', '>0.999', '<0.1%')
    """
    text = format(share, form)
    if share < 1 and text == format(1, form):
        return ">" + format(1 - _SMALLEST[form], form)
    return "<" + format(_SMALLEST[form], form) if share > 0 and text == format(0, form) else text


def _page(rule: Rule, total: int, indent: int) -> str:
    """Return one rule with its figures, wrapped."""
    margin = " " * indent
    one_line = f"IF {format_body(rule.conditions)}"
    body = one_line if len(one_line) <= 88 else "IF " + f"\n{margin}AND ".join(map(str, rule.conditions))
    figures = f"precision {digits(rule.precision)}, covers {rule.n_covered:,} of {total:,} records"
    figures = figures if rule.n_covered else f"covers none of {total:,} records"
    return f"{body}\n{margin}THEN {format_label(rule.label)} ({figures}{tally(rule.class_counts)})"


def weight_words(rule_set: RuleSet) -> str:
    """Say how classes are weighted; nothing where they count about alike."""
    weights = rule_set.class_weights
    if weights is None or max(weights) <= 1.1 * min(weights):
        return ""
    if _all_the_same(weights, rule_set.class_totals):
        return "Every class counts the same, whatever its size: a label is the class that is unusually common there."
    words = (f"{format_label(label)} {weight:.3g}" for label, weight in zip(rule_set.classes, weights, strict=True))
    return f"A record counts by its class: {', '.join(words)}."


def chance_words(rule_set: RuleSet) -> str:
    """Say of which records probabilities are, where classes are weighted; nothing where they count about alike."""
    if rule_set.class_weights is None or not weight_words(rule_set):
        return ""
    if _all_the_same(rule_set.class_weights, rule_set.class_totals):
        return "As if all classes were equally common: in the data a rare class is less likely than this."
    return "With every record counted by the weight of its class: in the data the classes are not as likely as this."


def _all_the_same(weights: Sequence[float], totals: Sequence[int]) -> bool:
    """Tell whether every class has the same weight in all."""
    mass = [weight * total for weight, total in zip(weights, totals, strict=True)]
    return max(mass) < 1.001 * min(mass)


def percent(share: float) -> str:
    """Return a share as a person would write it; never 0% or 100% of something that is not.

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


def _fallback_text(rule: Rule, indent: int) -> str:
    """Return one fallback with its figures, on one line if it fits."""
    body, answer = f"IF {format_body(rule.conditions)}", format_label(rule.label)
    figures = f"({digits(rule.precision)} of {rule.n_covered:,}{tally(rule.class_counts)})" if rule.n_covered else "(0)"
    gap = " " if len(body) + len(answer) + len(figures) < 100 else "\n" + " " * indent
    return f"{body}{gap}THEN {answer} {figures}"


def tally(class_counts: Sequence[tuple[Any, int]]) -> str:
    """Return `: 38 virginica, 1 versicolor`, the largest class first; nothing for no records."""
    present = sorted((pair for pair in class_counts if pair[1]), key=lambda pair: -pair[1])
    words = (f"{n:,} {'' if isinstance(label, str) else 'of class '}{format_label(label)}" for label, n in present)
    return ": " + ", ".join(words) if present else ""
