"""Rule sets and the reasons for labels as text, for ``print`` and ``explain``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from diverse_rule_sets._util.frames import frame_like
from diverse_rule_sets.model._counts import Count, as_counts, count_text, is_fractional
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._figures import class_counts_text, digits, weight_text, weighted_precision
from diverse_rule_sets.model._formatting import format_body, format_label, format_listed_name, format_value
from diverse_rule_sets.model._points_text import points_row
from diverse_rule_sets.model._ranges import order_text
from diverse_rule_sets.model._reachable import cover_everything

if TYPE_CHECKING:
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet
    from diverse_rule_sets.model._scorecards import Scorecard


def rule_set_text(rule_set: RuleSet) -> str:
    """Return the rules as text, then the fallback rules, the default label last."""
    width = len(str(len(rule_set.all_rules)))
    parts = list(map(str, rule_set.scorecards))
    shown = _points_rows(rule_set, width + 2)
    for j, rule in enumerate(rule_set.rules, 1):
        parts.append(f"{j:>{width}}. {_rule_text(rule, rule_set, width + 2)}{shown[j - 1]}")
    if rule_set.fallbacks:
        condition = f"if no rule covers a record ({_coverage_text(rule_set)})"
        parts.append(f"Fallback rules: {condition}, the first fallback rule that covers it decides:")
        for j, rule in enumerate(rule_set.fallbacks, len(rule_set.rules) + 1):
            parts.append(f"{j:>{width}}. {_fallback_text(rule, rule_set, width + 2)}{shown[j - 1]}")
    parts.append(f"{'':{width}}  {_default_text(rule_set)}")
    if len(rule_set.rules) > 1:
        parts.append(conflict_text(rule_set))
    notes = [note for note in (weight_text(rule_set), missing_text(rule_set)) if note]
    return "\n".join([*parts, *notes, *(order_text(column, order) for column, order in rule_set.orders.items())])


def _coverage_text(rule_set: RuleSet) -> str:
    """Return how many training records no rule covers."""
    n_uncovered, total = sum(rule_set.uncovered_counts), sum(rule_set.class_totals)
    if not n_uncovered:
        return f"some rule covers each of the {count_text(total)} records"
    uncovered = tuple(zip(rule_set.classes, rule_set.uncovered_counts, strict=True))
    texts = class_counts_text(uncovered)
    return f"no rule covers {count_text(n_uncovered)} of {count_text(total)} records{texts}"


def n_default(rule_set: RuleSet) -> Count:
    """Return the number of training records that get the default label."""
    return max(sum(rule_set.uncovered_counts) - sum(rule.n_covered for rule in rule_set.fallbacks), 0)


def never_default(rule_set: RuleSet) -> bool:
    """Return whether no possible record gets the default label: it is proved that some rule covers each of them."""
    return not n_default(rule_set) and cover_everything([rule.conditions for rule in rule_set.all_rules])


def never_default_text(rule_set: RuleSet, label: str) -> str:
    """Return the sentence that no record gets the default label; it is read back by :mod:`._scorecard_grammar`."""
    rules = "rules and fallback rules" if rule_set.fallbacks else "rules"
    return f"The {rules} cover every possible record: none gets the default label {label}"


def _default_text(rule_set: RuleSet) -> str:
    """Return the line of the default label: which training records get it, or that no record does."""
    label, total = format_label(rule_set.default), sum(rule_set.class_totals)
    if never_default(rule_set):
        return never_default_text(rule_set, label)
    nothing = "no rule and no fallback rule" if rule_set.fallbacks else "no rule"
    if not total:
        return f"OTHERWISE {label}"
    if not n_default(rule_set):
        return f"OTHERWISE {label} (for records that {nothing} covers: none of {count_text(total)} in training)"
    counts = rule_set.default_counts if rule_set.fallbacks else rule_set.uncovered_counts
    texts = class_counts_text(tuple(zip(rule_set.classes, counts, strict=True)))
    covers = f"{nothing} covers {count_text(n_default(rule_set))} of {count_text(total)} records"
    return f"OTHERWISE {label} ({covers}{texts})"


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
    rows = [points_row(rule, rule_set) for rule in rule_set.all_rules]
    return [margin + row if row else "" for row in rows]


def conflict_text(rule_set: RuleSet) -> str:
    """Return the sentence that states which rule decides if several rules cover a record."""
    known = CONFLICTS.get(rule_set.conflict) if isinstance(rule_set.conflict, str) else None
    return f"If several rules cover a record, {known or 'a user-defined function of these rules decides'}."


def frame_columns(rule_set: RuleSet) -> dict[str, list[Any]]:
    """Return the rules, the fallback rules, the default label and the signs as the columns of a table, a row each."""
    all_rules = rule_set.all_rules
    counts = [*map(as_counts, rule_set.class_counts(all_rules)), list(rule_set.default_counts)]
    if not n_default(rule_set):
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


def _rule_text(rule: Rule, rule_set: RuleSet, indent: int) -> str:
    """Return one rule with its figures as text, wrapped."""
    margin, total = " " * indent, sum(rule_set.class_totals)
    one_line = f"IF {format_body(rule.conditions)}"
    body = one_line if len(one_line) <= 88 else "IF " + f"\n{margin}AND ".join(map(str, rule.conditions))
    weighted = weighted_precision(rule_set, rule)
    precision = f"precision {digits(rule.precision)}, {weighted + ', ' if weighted else ''}"
    figures = f"{precision}covers {count_text(rule.n_covered)} of {count_text(total)} records"
    figures = figures if rule.n_covered else f"covers none of {count_text(total)} records"
    return f"{body}\n{margin}THEN {format_label(rule.label)} ({figures}{class_counts_text(rule.class_counts)})"


def _fallback_text(rule: Rule, rule_set: RuleSet, indent: int) -> str:
    """Return one fallback rule with its figures as text, on one line if it fits."""
    body, label = f"IF {format_body(rule.conditions)}", format_label(rule.label)
    weighted = weighted_precision(rule_set, rule)
    figures = f"{digits(rule.precision)} of {count_text(rule.n_covered)}{', ' + weighted if weighted else ''}"
    figures = f"({figures}{class_counts_text(rule.class_counts)})"
    figures = figures if rule.n_covered else "(decides no records)"
    separator = " " if len(body) + len(label) + len(figures) < 100 else "\n" + " " * indent
    return f"{body}{separator}THEN {label} {figures}"
