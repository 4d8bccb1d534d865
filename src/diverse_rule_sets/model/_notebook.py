"""Rules as HTML for notebooks: without scripts, with training figures, for light and dark themes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from diverse_rule_sets._util.colours import GREY, MAX_DISTINCT
from diverse_rule_sets.model._counts import Count, count_text
from diverse_rule_sets.model._figures import class_counts_text, percent, weight_text, weighted_precision
from diverse_rule_sets.model._formatting import ANYTHING
from diverse_rule_sets.model._notebook_parts import colour_of, condition_html, element, label_html, text_html
from diverse_rule_sets.model._notebook_scorecards import card_table, steps_html
from diverse_rule_sets.model._points_text import gaps_text, points_groups, probability_name
from diverse_rule_sets.model._ranges import order_text
from diverse_rule_sets.model._scorecards import scorecards_of
from diverse_rule_sets.model._text import conflict_text, missing_text, n_default, never_default, never_default_text

if TYPE_CHECKING:
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet

_MAX_ROWS = 100
# In a bar the class of the rule has the full height, the other classes have this part of it.
_LOW = 'y="25%" height="50%"'
# The headings of the columns after the conditions; figures are aligned on the right.
_HEADINGS = (("THEN", ""), ("precision", ""), ("covers", " drs-figure"))


def table(rule_set: RuleSet) -> str:
    """Return the rules as an HTML table, the fallback rules in a closed details element, the default label last."""
    n_records = sum(rule_set.class_totals)
    parts = [_legend(rule_set), *(card_table(card, rule_set.classes) for card in rule_set.scorecards)]
    if rule_set.rules:
        parts.append(_rows(rule_set, rule_set.rules, 1, n_records))
    n_uncovered = sum(rule_set.uncovered_counts)
    if rule_set.fallbacks:
        number = _count(len(rule_set.fallbacks), "fallback rule")
        condition = f"if no rule covers a record ({count_text(n_uncovered)} of {count_text(n_records)})"
        parts.append(f"<details><summary>{number}: {condition}, the first one that covers it decides</summary>")
        parts.append(_rows(rule_set, rule_set.fallbacks, len(rule_set) + 1, n_records) + "</details>")
    parts.append(f"<p>{_default(rule_set)}</p>")
    if len(rule_set) > 1:
        note = f"{conflict_text(rule_set)} All figures are for the training records."
        parts.append(f'<p class="drs-muted">{escape(note)}</p>')
    notes = [note for note in (weight_text(rule_set), missing_text(rule_set)) if note]
    parts += [f'<p class="drs-muted">{text_html(note)}</p>' for note in notes]
    orders = "<br>".join(text_html(order_text(*pair)) for pair in rule_set.orders.items())
    parts.append(f'<p class="drs-muted">{orders}</p>' if orders else "")
    return element(str(rule_set), parts)


def _default(rule_set: RuleSet) -> str:
    """Return the default label and how many training records get it, or that no record does."""
    default, n_records = label_html(rule_set.classes, rule_set.default), n_default(rule_set)
    if never_default(rule_set):
        return f'<span class="drs-muted">{never_default_text(rule_set, "")}</span>{default}'
    figures = f"default label of {_count(n_records, 'record')}"
    if n_records:
        figures += _counts(tuple(zip(rule_set.classes, rule_set.default_counts, strict=True)))
    return f'OTHERWISE {default} <span class="drs-muted">({figures})</span>'


def rule_html(rule: Rule) -> str:
    """Return one rule as HTML: its conditions, its label, and the classes of the training records that it covers."""
    classes = tuple(label for label, _ in rule.class_counts)
    parts = [f"<p>IF {_body(rule)} THEN {label_html(classes, rule.label)}</p>"]
    if rule.n_covered:
        figures = f"precision {escape(percent(rule.precision))}, covers {_count(rule.n_covered, 'training record')}"
        figures += _counts(rule.class_counts)
        parts.append(f'{_bar(classes, rule)}<p class="drs-muted">{figures}</p>')
    if rule.points_table is not None and len(rule.points_table.rows[0]) == len(classes):
        parts.append(_steps(rule, sorted(classes), "probability"))  # rows are in the order of the sorted classes
    parts += [card_table(card, classes) for card in scorecards_of([rule])]
    return element(str(rule), parts)


def _legend(rule_set: RuleSet) -> str:
    """Return a legend of the colours of the bars; empty if there are no bars."""
    if not any(rule.n_covered for rule in rule_set.all_rules):
        return ""
    if len(rule_set.classes) > MAX_DISTINCT:
        note = "In the bars the label of the rule has its colour, and all other classes are grey."
        return f'<p class="drs-muted">{note}</p>'
    return f'<p class="drs-classes">{"".join(label_html(rule_set.classes, label) for label in rule_set.classes)}</p>'


def _rows(rule_set: RuleSet, rules: Sequence[Rule], first: int, n_records: Count) -> str:
    """Return some rules as the rows of a table."""
    names = "".join(f'<th class="drs-narrow{kind}">{name}</th>' for name, kind in _HEADINGS)
    head = f'<tr><th class="drs-narrow"></th><th>IF</th>{names}</tr>'
    rows = [_row(rule_set, rule, j, n_records) for j, rule in enumerate(rules[:_MAX_ROWS], first)]
    if len(rules) > _MAX_ROWS:
        more = f"and {len(rules) - _MAX_ROWS:,} more; print the rule set to see them all"
        rows.append(f'<tr><td></td><td colspan="4" class="drs-muted">{more}</td></tr>')
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _row(rule_set: RuleSet, rule: Rule, number: int, n_records: Count) -> str:
    """Return one rule as a row of a table."""
    precision = escape(percent(rule.precision)) if rule.n_covered else "–"
    share = f'<br><span class="drs-muted">{escape(percent(rule.n_covered / n_records))}</span>' if n_records else ""
    steps = _steps(rule, rule_set.classes, probability_name(rule_set)) if rule_set.follows_points else ""
    weighted = weighted_precision(rule_set, rule, ".0%")
    weighted = f'<br><span class="drs-muted">{escape(weighted)}</span>' if weighted else ""
    return (
        f'<tr><td class="drs-narrow drs-figure">{number}</td><td><div class="drs-body">{_body(rule)}</div>{steps}</td>'
        f'<td class="drs-narrow">{label_html(rule_set.classes, rule.label)}</td>'
        f'<td class="drs-narrow">{precision}{weighted}{_bar(rule_set.classes, rule)}</td>'
        f'<td class="drs-narrow drs-figure">{count_text(rule.n_covered)}{share}</td></tr>'
    )


def _steps(rule: Rule, classes: Sequence[Any], name: str) -> str:
    """Return the probability of the label of a rule by points; empty if the rule follows no points."""
    if rule.points_table is None:
        return ""
    groups = points_groups(rule, classes)
    figures = [(group.points_text, group.shares_text(".0%")) for group in groups]
    heading = f"{name} of {label_html(classes, rule.label)} by {text_html(str(rule.points_table.column))}"
    return steps_html(heading, figures, gaps_text(rule, groups))


def _body(rule: Rule) -> str:
    """Return the conditions of a rule."""
    texts = [condition_html(condition) for condition in rule.conditions]
    texts[1:] = [f'<span class="drs-and">AND</span> {text}' for text in texts[1:]]
    return " ".join(f'<span class="drs-condition">{text}</span>' for text in texts) or ANYTHING


def _bar(classes: Sequence[Any], rule: Rule) -> str:
    """Return the class counts of a rule as a bar: the label of the rule first, the other classes lower."""
    others = sorted(((n, label) for label, n in rule.class_counts if label != rule.label and n), key=lambda p: -p[0])
    parts = [(n, colour_of(classes, label)) for n, label in others]
    if len(classes) > MAX_DISTINCT:
        parts = [(sum(n for n, _ in others), GREY)]
    rects, before = [], rule.n_correct
    if rule.n_correct:
        rects.append(_rect(0, rule.precision, 'height="100%"', colour_of(classes, rule.label)))
    for n, colour in parts:
        if n:
            rects.append(_rect(before / rule.n_covered, n / rule.n_covered, _LOW, colour))
        before += n
    text = escape(class_counts_text(rule.class_counts).removeprefix(": "), quote=True)
    start = f'<svg class="drs-bar" role="img" aria-label="{text}"><title>{text}</title>'
    return f"{start}{''.join(rects)}</svg>" if rects else ""


def _counts(class_counts: Sequence[tuple[Any, Count]]) -> str:
    """Return class counts as :func:`class_counts_text` does, with each label isolated from the figures around it."""
    texts = (class_counts_text([pair]).removeprefix(": ") for pair in sorted(class_counts, key=lambda pair: -pair[1]))
    return ": " + ", ".join(f'<bdi dir="ltr">{escape(text, quote=True)}</bdi>' for text in texts if text)


def _rect(left: float, width: float, height: str, colour: str) -> str:
    """Return a part of a bar; `left` and `width` are shares of the bar."""
    return f'<rect x="{100 * left:.2f}%" width="{100 * width:.2f}%" {height} fill="{colour}"/>'


def _count(n: Count, noun: str) -> str:
    """Return a number with its noun, such as `1 record` or `2 records`."""
    return f"{count_text(n)} {noun}" + ("" if n == 1 else "s")
