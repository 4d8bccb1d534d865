"""A rule set as an HTML table for notebooks: without scripts, with training figures, for light and dark themes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from diverse_rule_sets.model._formatting import ANYTHING, format_label
from diverse_rule_sets.model._text import class_counts_text, conflict_text, percent, weight_text

if TYPE_CHECKING:
    from diverse_rule_sets.model._rules import Rule, RuleSet

_MAX_ROWS = 100
# These colours have enough contrast both on white and on black.
COLOURS = ("#1f83c7", "#cf6a1f", "#17906d", "#b961a8", "#94803a", "#7d79d3", "#a8765a", "#808489")
_PALE = ' fill-opacity="0.55"'
_STYLE = """
.{me} {{ color: inherit; font-size: 13px; line-height: 1.45; max-width: 60em; }}
.{me} table.rules {{ border-collapse: collapse; width: 100%; margin: .5em 0; color: inherit; background: transparent; }}
.{me} table.rules th, .{me} table.rules td {{ text-align: left; vertical-align: top; white-space: normal;
  padding: .4em .7em; border: 0; border-bottom: 1px solid var(--jp-border-color2, rgba(128, 128, 128, .35));
  background: transparent; color: inherit; max-width: none; }}
.{me} table.rules .figure {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
.{me} table.rules td, .{me} p {{ overflow-wrap: anywhere; }} .{me} p {{ margin: .4em 0; }}
.{me} .classes {{ display: flex; flex-wrap: wrap; gap: 0 1.2em; }} .{me} .classes svg {{ display: inline-block;
  width: .8em; margin: 0 .35em 0 0; vertical-align: baseline; }}
.{me} svg {{ display: block; width: 9em; height: .8em; margin-top: .3em; }}
.{me} table.rules .label bdi {{ display: inline-block; width: max-content; max-width: 14em; overflow-wrap: anywhere; }}
.{me} .and, .{me} .muted {{ opacity: .72; }} .{me} summary {{ cursor: pointer; }}
"""


def table(rule_set: RuleSet) -> str:
    """Return the rules as an HTML table, the fallback rules in a closed details element, the default label last."""
    me = "drs-" + hashlib.sha256(str(rule_set).encode("utf8", "replace")).hexdigest()[:12]
    n_records = sum(rule_set.class_totals)
    parts = [f'<div class="{me} tex2jax_ignore mathjax_ignore"><style>{_STYLE.format(me=me)}</style>']
    parts.append(_legend(rule_set))
    if rule_set.rules:
        parts.append(_rows(rule_set, rule_set.rules, 1, n_records))
    n_uncovered = sum(rule_set.uncovered_counts)
    if rule_set.fallbacks:
        number = _count(len(rule_set.fallbacks), "fallback rule")
        condition = f"if no rule covers a record ({n_uncovered:,} of {n_records:,})"
        parts.append(f"<details><summary>{number}: {condition}, the first one that covers it decides</summary>")
        parts.append(_rows(rule_set, rule_set.fallbacks, len(rule_set) + 1, n_records) + "</details>")
    n_default = max(n_uncovered - sum(rule.n_covered for rule in rule_set.fallbacks), 0)
    figures = f"default label of {_count(n_default, 'record')}"
    if n_default:
        figures += class_counts_text(tuple(zip(rule_set.classes, rule_set.default_counts, strict=True)))
    parts.append(
        f'<p>OTHERWISE <b>{_text(format_label(rule_set.default))}</b> <span class="muted">({_text(figures)})</span></p>'
    )
    if len(rule_set) > 1:
        note = f"{conflict_text(rule_set)} All figures are for the training records."
        parts.append(f'<p class="muted">{escape(note)}</p>')
    weights = weight_text(rule_set)
    parts.append(f'<p class="muted">{_text(weights)}</p>' if weights else "")
    return "".join([*parts, "</div>"])


def _legend(rule_set: RuleSet) -> str:
    """Return a legend of the colours of the bars; empty if there are no bars."""
    if not any(rule.n_covered for rule in rule_set.all_rules):
        return ""
    names = [(_colour(rule_set.classes, label), "", format_label(label)) for label in rule_set.classes]
    if len(rule_set.classes) > len(COLOURS):
        names = [(COLOURS[0], "", "the label of the rule"), (COLOURS[0], _PALE, "all other classes")]
    swatch = '<svg aria-hidden="true"><rect width="100%" height="100%" fill="{}"{}/></svg>'
    entries = [f"<span>{swatch.format(colour, pale)}{_text(name)}</span>" for colour, pale, name in names]
    return f'<p class="classes">{"".join(entries)}</p>'


def _rows(rule_set: RuleSet, rules: Sequence[Rule], first: int, n_records: int) -> str:
    """Return some rules as the rows of a table."""
    head = '<tr><th></th><th>IF</th><th>THEN</th><th>precision</th><th class="figure">covers</th></tr>'
    rows = [_row(rule_set, rule, j, n_records) for j, rule in enumerate(rules[:_MAX_ROWS], first)]
    if len(rules) > _MAX_ROWS:
        more = f"and {len(rules) - _MAX_ROWS:,} more; print the rule set to see them all"
        rows.append(f'<tr><td></td><td colspan="4" class="muted">{more}</td></tr>')
    return f'<table class="rules"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def _row(rule_set: RuleSet, rule: Rule, number: int, n_records: int) -> str:
    """Return one rule as a row of a table."""
    body = ' <span class="and">AND</span> '.join(_text(str(condition)) for condition in rule.conditions)
    precision = percent(rule.precision) if rule.n_covered else "–"
    label = _text(format_label(rule.label))
    share = f'<br><span class="muted">{percent(rule.n_covered / n_records)}</span>' if n_records else ""
    return (
        f'<tr><td class="figure">{number}</td><td>{body or ANYTHING}</td><td class="label"><b>{label}</b></td>'
        f'<td>{precision}{_bar(rule_set, rule)}</td><td class="figure">{rule.n_covered:,}{share}</td></tr>'
    )


def _bar(rule_set: RuleSet, rule: Rule) -> str:
    """Return the class counts of a rule as a bar: the label of the rule first, the other classes in paler colours."""
    counts = {label: n for label, n in rule.class_counts if n}
    text = escape(class_counts_text(rule.class_counts).removeprefix(": "), quote=True)
    rects, before = [], 0
    for label, n in sorted(counts.items(), key=lambda pair: (pair[0] != rule.label, -pair[1])):
        colour = _colour(rule_set.classes, label)
        pale = "" if label == rule.label else _PALE
        x, width = 100 * before / rule.n_covered, 100 * n / rule.n_covered
        rects.append(f'<rect x="{x:.2f}%" width="{width:.2f}%" height="100%" fill="{colour}"{pale}/>')
        before += n
    return f'<svg role="img" aria-label="{text}"><title>{text}</title>{"".join(rects)}</svg>' if rects else ""


def _colour(classes: Sequence[Any], label: Any) -> str:
    """Return the colour of a class; the same colour for all if there are more classes than colours."""
    return COLOURS[classes.index(label)] if len(classes) <= len(COLOURS) else COLOURS[0]


def _text(text: str) -> str:
    """Return text as HTML that shows it unchanged, escaped and isolated from the writing direction around it."""
    return f"<bdi>{escape(text, quote=True)}</bdi>"


def _count(n: int, noun: str) -> str:
    """Return a number with its noun, such as `1 record` or `2 records`."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
