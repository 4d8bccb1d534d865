"""Rule sets and the reasons for labels as text, for ``print`` and ``explain``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from diverse_rule_sets._util.frames import frame_like
from diverse_rule_sets.model._counts import Count, as_counts, count_text, is_fractional
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._formatting import format_body, format_label, format_listed_name, format_value
from diverse_rule_sets.model._ranges import order_text

if TYPE_CHECKING:
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet
    from diverse_rule_sets.model._scorecards import Scorecard


def rule_set_text(rule_set: RuleSet) -> str:
    """Return the rules as text, then the fallback rules, the default label last."""
    uncovered = tuple(zip(rule_set.classes, rule_set.uncovered_counts, strict=True))
    total = sum(rule_set.class_totals)
    width = len(str(len(rule_set.all_rules)))
    parts = list(map(str, rule_set.scorecards))
    shown = _points_rows(rule_set, width + 2)
    for j, rule in enumerate(rule_set.rules, 1):
        parts.append(f"{j:>{width}}. {_rule_text(rule, total, width + 2)}{shown[j - 1]}")
    n_uncovered = sum(rule_set.uncovered_counts)
    coverage = f"no rule covers {count_text(n_uncovered)} of {count_text(total)} records{class_counts_text(uncovered)}"
    coverage = coverage if n_uncovered else f"some rule covers each of the {count_text(total)} records"
    if rule_set.fallbacks:
        condition = f"if no rule covers a record ({coverage})"
        parts.append(f"Fallback rules: {condition}, the first fallback rule that covers it decides:")
        for j, rule in enumerate(rule_set.fallbacks, len(rule_set.rules) + 1):
            parts.append(f"{j:>{width}}. {_fallback_text(rule, width + 2)}{shown[j - 1]}")
        n_default = max(n_uncovered - sum(rule.n_covered for rule in rule_set.fallbacks), 0)
        default_counts = tuple(zip(rule_set.classes, rule_set.default_counts, strict=True))
        coverage = f"no rule and no fallback rule covers {count_text(n_default)} of {count_text(total)} records"
        coverage += class_counts_text(default_counts)
        coverage = (
            coverage if n_default else f"some rule or fallback rule covers each of the {count_text(total)} records"
        )
    parts.append(f"{'':{width}}  OTHERWISE {format_label(rule_set.default)} ({coverage})")
    if len(rule_set.rules) > 1:
        parts.append(conflict_text(rule_set))
    notes = [note for note in (weight_notes(rule_set), missing_text(rule_set)) if note]
    return "\n".join([*parts, *notes, *(order_text(column, order) for column, order in rule_set.orders.items())])


def missing_text(rule_set: RuleSet) -> str:
    """Return the codes for missing values of the columns that the rules read as a line; empty without codes.

    It is read back by :mod:`._scorecard_grammar`.
    """
    parts = [
        f"{format_listed_name(name)}: {', '.join(map(format_value, codes))}"
        for name, codes in rule_set.codes_read.items()
    ]
    return f"Missing values: {'; '.join(parts)}" if parts else ""


def _points_rows(rule_set: RuleSet, indent: int) -> list[str]:
    """Return for each rule the line with its probabilities by points; empty for a rule that follows no points."""
    margin = "\n" + " " * indent
    rows = [points_row(rule, rule_set.classes) if rule_set.follows_points else "" for rule in rule_set.all_rules]
    return [margin + row if row else "" for row in rows]


# Number of figures in a row of probabilities by points; of more, some are left out.
_MAX_FIGURES = 12


def points_row(rule: Rule, classes: Sequence[Any]) -> str:
    """Return the probability of the label of a rule by points as one line; empty if the rule follows no points."""
    table = rule.points_table
    if table is None:
        return ""
    texts = (f"{points}: {digits(p)}" for points, p in points_figures(rule, classes))
    return f"probability of {format_label(rule.label)} by {table.column}: {', '.join(texts)}"


def points_figures(rule: Rule, classes: Sequence[Any]) -> list[tuple[str, float]]:
    """Return the figures of :func:`points_groups`, each with its points as text such as ``3`` or ``5 to 7``."""
    return [(points_text(low, high), p) for low, high, p in points_groups(rule, classes)]


def points_text(low: int, high: int) -> str:
    """Return a range of points as text, such as ``3`` or ``5 to 7``."""
    return str(low) if low == high else f"{low} to {high}"


def points_groups(rule: Rule, classes: Sequence[Any]) -> list[tuple[int, int, float]]:
    """Return the probabilities of the label of a rule by points, at most a few: lowest points, highest points, figure.

    Numbers of points with equal figures, rounded to two digits, are one group; of many groups some are left out.
    """
    table = rule.points_table
    if table is None:
        return []
    k = list(classes).index(rule.label)
    groups: list[tuple[int, int, float]] = []
    for points, row in enumerate(table.rows, table.low):
        if groups and digits(groups[-1][2]) == digits(row[k]):
            groups[-1] = (groups[-1][0], points, groups[-1][2])
        else:
            groups.append((points, points, row[k]))
    step = -(-(len(groups) - 1) // (_MAX_FIGURES - 1)) if len(groups) > _MAX_FIGURES else 1
    return groups[::step] + ([groups[-1]] if (len(groups) - 1) % step else [])


def conflict_text(rule_set: RuleSet) -> str:
    """Return the sentence that states which rule decides if several rules cover a record."""
    known = CONFLICTS.get(rule_set.conflict) if isinstance(rule_set.conflict, str) else None
    return f"If several rules cover a record, {known or 'a user-defined function of these rules decides'}."


def frame_columns(rule_set: RuleSet) -> dict[str, list[Any]]:
    """Return the rules, the fallback rules, the default label and the signs as the columns of a table, a row each."""
    all_rules = rule_set.all_rules
    n_default = sum(rule_set.uncovered_counts) - sum(rule.n_covered for rule in rule_set.fallbacks)
    counts = [*map(as_counts, rule_set.class_counts(all_rules)), list(rule_set.default_counts)]
    if n_default <= 0:
        counts[-1] = [0] * len(rule_set.classes)
    sizes = as_counts(sum(row) for row in counts)
    labels = [*(rule.label for rule in all_rules), rule_set.default]
    correct = [row[rule_set.classes.index(label)] for row, label in zip(counts, labels, strict=True)]
    total = sum(rule_set.class_totals) or 1
    parts = ["rule"] * len(rule_set.rules) + ["fallback"] * len(rule_set.fallbacks)
    columns: dict[str, list[Any]] = {
        "rule": [*range(1, len(all_rules) + 1), None],
        "part": [*parts, "default"],
        "if": [*(format_body(rule.conditions) for rule in all_rules), "nothing else covers it"],
        "then": labels,
        "conditions": [*(len(rule.conditions) for rule in all_rules), 0],
        "covers": sizes,
        "coverage": [size / total for size in sizes],
        "precision": [n / size if size else None for n, size in zip(correct, sizes, strict=True)],
    }
    for k, label in enumerate(rule_set.classes):
        columns[f"n {format_label(label)}"] = [row[k] for row in counts]
    return _with_signs(columns, rule_set.scorecards) if rule_set.scorecards else columns


def _with_signs(columns: dict[str, list[Any]], scorecards: Sequence[Scorecard]) -> dict[str, list[Any]]:
    """Return the columns of a table with a row for each pair of a sign and a label, and for each base points."""
    rows = [
        {
            "part": part,
            "if": text,
            "then": label,
            "conditions": int(part == "sign"),
            "scorecard": card.name,
            "points": n,
        }
        for card in scorecards
        for part, text, points in [
            ("base", "always", card.base),
            *(("sign", str(sign.condition), sign.points) for sign in card.signs),
        ]
        for label, n in points.items()
    ]
    n_rules = len(columns["rule"])
    columns = columns | {"scorecard": [None] * n_rules, "points": [None] * n_rules}
    return {name: [*values, *(row.get(name) for row in rows)] for name, values in columns.items()}


def as_frame(like: Any, columns: dict[str, list[Any]], whole: Sequence[str] = ("rule",)) -> Any:
    """Return columns as a data frame of the library of a table, see :func:`frame_like`; ``whole`` are integers."""
    return frame_like(like, columns, **dict.fromkeys(whole, "Int64"))


def rules_frame(rule_set: RuleSet, like: Any) -> Any:
    """Return the rule set as a data frame of the library of a table."""
    columns = frame_columns(rule_set)
    counts = ["covers", *(f"n {format_label(label)}" for label in rule_set.classes)]
    counts = [] if is_fractional(n for name in counts for n in columns[name]) else counts
    whole = ["rule", *counts, "points"] if rule_set.scorecards else ["rule"]
    return as_frame(like, columns, whole)


def no_rule_text(rule_set: RuleSet) -> str:
    """Return the text that states that a record gets the default label because no rule covers it."""
    return f"no rule{' and no fallback rule' if rule_set.fallbacks else ''} covers this record"


def reasons_by_rule(rule_set: RuleSet) -> list[str]:
    """Return the reason for the label of a record that each rule, each fallback rule or the default label decides."""
    reasons = [str(rule) for rule in rule_set.rules]
    start = "no rule covers this record; the first fallback rule that does"
    reasons += [f"{start}: {rule}" for rule in rule_set.fallbacks]
    return [*reasons, f"{no_rule_text(rule_set)}: default label {format_label(rule_set.default)}"]


def reason_of_counts(rule_set: RuleSet, group: Sequence[int], label: int) -> str:
    """Return the reason for a label that the class counts of some rules give; empty without rules.

    Parameters
    ----------
    rule_set : the rules
    group : positions of the covering rules
    label : position of the label in ``rule_set.classes``
    """
    if not group:
        return ""
    result = f", so the label is {format_label(rule_set.classes[label])}"
    if len(group) == 1:
        rule = rule_set.rules[group[0]]
        ending = "" if rule.label == rule_set.classes[label] else result
        return f"{rule}{class_counts_text(rule.class_counts)}{ending}"
    sums = rule_set.class_counts([rule_set.rules[j] for j in group]).sum(axis=0)
    numbers = ", ".join(str(j + 1) for j in group[:-1]) + f" and {group[-1] + 1}"
    counts = class_counts_text(tuple(zip(rule_set.classes, as_counts(sums), strict=True)))
    return f"rules {numbers} together{counts}{result}"


def other_rules_text(rule_set: RuleSet, group: Sequence[int], deciding: int) -> str:
    """Return which of the covering rules agree with the deciding rule and which contradict it.

    The text continues a reason, as in ``"; rules 2 and 5 agree; rule 3 contradicts"``.

    Parameters
    ----------
    rule_set : the rules
    group : positions of the covering rules, at least two
    deciding : position of the deciding rule
    """
    label = rule_set.rules[deciding].label
    others = [j for j in group if j != deciding]
    text = ""
    for some, verb in (
        ([j + 1 for j in others if rule_set.rules[j].label == label], "agree"),
        ([j + 1 for j in others if rule_set.rules[j].label != label], "contradict"),
    ):
        if len(some) == 1:
            text += f"; rule {some[0]} {verb}s"
        elif some:
            text += f"; rules {', '.join(map(str, some[:-1]))} and {some[-1]} {verb}"
    return text


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


def _rule_text(rule: Rule, total: Count, indent: int) -> str:
    """Return one rule with its figures as text, wrapped."""
    margin = " " * indent
    one_line = f"IF {format_body(rule.conditions)}"
    body = one_line if len(one_line) <= 88 else "IF " + f"\n{margin}AND ".join(map(str, rule.conditions))
    figures = f"precision {digits(rule.precision)}, covers {count_text(rule.n_covered)} of {count_text(total)} records"
    figures = figures if rule.n_covered else f"covers none of {count_text(total)} records"
    return f"{body}\n{margin}THEN {format_label(rule.label)} ({figures}{class_counts_text(rule.class_counts)})"


def weight_text(rule_set: RuleSet) -> str:
    """Return a sentence about the class weights; empty if they are about equal."""
    weights = rule_set.class_weights
    if weights is None or max(weights) <= 1.1 * min(weights):
        return ""
    if _is_balanced(weights, rule_set.class_totals):
        return (
            "All classes have the same total weight: the label of a rule is the class that is unusually frequent in it."
        )
    texts = (f"{format_label(label)} {weight:.3g}" for label, weight in zip(rule_set.classes, weights, strict=True))
    return f"Weight of a record by class: {', '.join(texts)}."


def weight_notes(rule_set: RuleSet) -> str:
    """Return what is said about class weights below the rules; of probabilities too, if some are printed."""
    notes = (weight_text(rule_set), probability_text(rule_set) if rule_set.follows_points else "")
    return " ".join(note for note in notes if note)


def probability_text(rule_set: RuleSet) -> str:
    """Return a sentence about how class weights change the probabilities; empty if the weights are about equal."""
    if rule_set.class_weights is None or not weight_text(rule_set):
        return ""
    if _is_balanced(rule_set.class_weights, rule_set.class_totals):
        return "The probabilities treat all classes as equally frequent: in the data, a rare class is less likely."
    return "The probabilities count every record by the weight of its class: in the data, the class shares differ."


def _is_balanced(weights: Sequence[float], totals: Sequence[Count]) -> bool:
    """Return whether all classes have the same total weight."""
    mass = [weight * total for weight, total in zip(weights, totals, strict=True)]
    return max(mass) < 1.001 * min(mass)


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


def _fallback_text(rule: Rule, indent: int) -> str:
    """Return one fallback rule with its figures as text, on one line if it fits."""
    body, label = f"IF {format_body(rule.conditions)}", format_label(rule.label)
    figures = f"({digits(rule.precision)} of {count_text(rule.n_covered)}{class_counts_text(rule.class_counts)})"
    figures = figures if rule.n_covered else "(decides no records)"
    separator = " " if len(body) + len(label) + len(figures) < 100 else "\n" + " " * indent
    return f"{body}{separator}THEN {label} {figures}"


def class_counts_text(class_counts: Sequence[tuple[Any, Count]]) -> str:
    """Return class counts as text such as `: 38 virginica, 1 versicolor`, the largest first; empty without records."""
    present = sorted((pair for pair in class_counts if pair[1]), key=lambda pair: -pair[1])
    texts = (
        f"{count_text(n)} {'' if isinstance(label, str) else 'of class '}{format_label(label)}" for label, n in present
    )
    return ": " + ", ".join(texts) if present else ""
