"""Rules as HTML for notebooks: without scripts, with training figures, for light and dark themes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from diverse_rule_sets._util.colours import GREY, MAX_DISTINCT, class_colour
from diverse_rule_sets.model._formatting import ANYTHING, format_label, format_name
from diverse_rule_sets.model._text import class_counts_text, conflict_text, percent, weight_text

if TYPE_CHECKING:
    from diverse_rule_sets.model._conditions import Condition
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet

_MAX_ROWS = 100
# A longer label is cut in the middle; its full text is shown when the mouse is over it.
_MAX_LABEL = 120
# In a bar the class of the rule has the full height, the other classes have this part of it.
_LOW = 'y="25%" height="50%"'
# The headings of the columns after the conditions; figures are aligned on the right.
_HEADINGS = (("THEN", ""), ("precision", ""), ("covers", " drs-figure"))
# The name of the element is written twice, so that these rules are more specific than those of the notebook, wherever
# the notebook has its styles. Jupyter sets table-layout: fixed, which gives all columns the same width. The other names
# start with drs-, because the styles of notebooks use names such as label, too.
_STYLE = """
.{me}.{me} {{ color: inherit; font-size: 13px; line-height: 1.45; max-width: 68em; overflow-x: auto; }}
.{me}.{me} table {{ table-layout: auto; border-collapse: collapse; width: 100%; min-width: 0; margin: .5em 0;
  border: 0; color: inherit; font-size: inherit; background: transparent; }}
.{me}.{me} table th, .{me}.{me} table td {{ text-align: left; vertical-align: top; white-space: normal; width: auto;
  padding: .4em .7em; border: 0; border-bottom: 1px solid var(--jp-border-color2, rgba(128, 128, 128, .35));
  background: transparent; color: inherit; font-size: inherit; line-height: inherit; max-width: none; }}
.{me}.{me} table th {{ font-weight: bold; white-space: nowrap; vertical-align: bottom; }}
.{me}.{me} table .drs-narrow {{ width: 1px; white-space: nowrap; }}
.{me}.{me} table .drs-figure {{ text-align: right; font-variant-numeric: tabular-nums; }}
.{me}.{me} table .drs-body {{ min-width: 15em; overflow-wrap: anywhere; }}
.{me}.{me} .drs-condition {{ display: inline-block; max-width: 100%; }}
.{me}.{me} .drs-label {{ font-weight: bold; white-space: normal; }}
.{me}.{me} table .drs-label {{ display: inline-flex; align-items: baseline; }}
.{me}.{me} table .drs-label bdi {{ width: max-content; max-width: 12em; overflow-wrap: anywhere; }}
.{me}.{me} p {{ margin: .4em 0; text-align: left; overflow-wrap: anywhere; }}
.{me}.{me} .drs-classes {{ display: flex; flex-wrap: wrap; gap: 0 1.2em; }}
.{me}.{me} .drs-classes .drs-label {{ font-weight: normal; }}
.{me}.{me} svg {{ flex: none; display: block; width: 9em; height: .8em; max-width: none; margin: .3em 0 0; }}
.{me}.{me} .drs-label svg {{ display: inline-block; width: .8em; margin: 0 .35em 0 0; vertical-align: baseline; }}
.{me}.{me} > .drs-bar {{ width: 20em; max-width: 100%; }}
.{me}.{me} .drs-and, .{me}.{me} .drs-muted {{ opacity: .72; }} .{me}.{me} summary {{ cursor: pointer; }}
@media (max-width: 600px) {{
.{me}.{me} {{ font-size: 12px; }} .{me}.{me} table .drs-body {{ min-width: 8em; }}
.{me}.{me} table th, .{me}.{me} table td {{ padding: .4em .35em; }}
.{me}.{me} table .drs-label bdi {{ max-width: 7em; }} .{me}.{me} table .drs-bar {{ width: 5em; }} }}
"""


def table(rule_set: RuleSet) -> str:
    """Return the rules as an HTML table, the fallback rules in a closed details element, the default label last."""
    n_records = sum(rule_set.class_totals)
    parts = [_legend(rule_set)]
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
        figures += _counts(tuple(zip(rule_set.classes, rule_set.default_counts, strict=True)))
    default = _label(rule_set.classes, rule_set.default)
    parts.append(f'<p>OTHERWISE {default} <span class="drs-muted">({figures})</span></p>')
    if len(rule_set) > 1:
        note = f"{conflict_text(rule_set)} All figures are for the training records."
        parts.append(f'<p class="drs-muted">{escape(note)}</p>')
    weights = weight_text(rule_set)
    parts.append(f'<p class="drs-muted">{_text(weights)}</p>' if weights else "")
    return _element(str(rule_set), parts)


def rule_html(rule: Rule) -> str:
    """Return one rule as HTML: its conditions, its label, and the classes of the training records that it covers."""
    classes = tuple(label for label, _ in rule.class_counts)
    parts = [f"<p>IF {_body(rule)} THEN {_label(classes, rule.label)}</p>"]
    if rule.n_covered:
        figures = f"precision {escape(percent(rule.precision))}, covers {_count(rule.n_covered, 'training record')}"
        figures += _counts(rule.class_counts)
        parts.append(f'{_bar(classes, rule)}<p class="drs-muted">{figures}</p>')
    return _element(str(rule), parts)


def _element(text: str, parts: Sequence[str]) -> str:
    """Return an element with its own style; `text` is different for different contents."""
    me = "drs-" + hashlib.sha256(text.encode("utf8", "replace")).hexdigest()[:12]
    start = f'<div class="{me} tex2jax_ignore mathjax_ignore"><style>{_STYLE.format(me=me)}</style>'
    return "".join([start, *parts, "</div>"])


def _legend(rule_set: RuleSet) -> str:
    """Return a legend of the colours of the bars; empty if there are no bars."""
    if not any(rule.n_covered for rule in rule_set.all_rules):
        return ""
    if len(rule_set.classes) > MAX_DISTINCT:
        note = "In the bars the label of the rule has its colour, and all other classes are grey."
        return f'<p class="drs-muted">{note}</p>'
    return f'<p class="drs-classes">{"".join(_label(rule_set.classes, label) for label in rule_set.classes)}</p>'


def _rows(rule_set: RuleSet, rules: Sequence[Rule], first: int, n_records: int) -> str:
    """Return some rules as the rows of a table."""
    names = "".join(f'<th class="drs-narrow{kind}">{name}</th>' for name, kind in _HEADINGS)
    head = f'<tr><th class="drs-narrow"></th><th>IF</th>{names}</tr>'
    rows = [_row(rule_set, rule, j, n_records) for j, rule in enumerate(rules[:_MAX_ROWS], first)]
    if len(rules) > _MAX_ROWS:
        more = f"and {len(rules) - _MAX_ROWS:,} more; print the rule set to see them all"
        rows.append(f'<tr><td></td><td colspan="4" class="drs-muted">{more}</td></tr>')
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _row(rule_set: RuleSet, rule: Rule, number: int, n_records: int) -> str:
    """Return one rule as a row of a table."""
    precision = escape(percent(rule.precision)) if rule.n_covered else "–"
    share = f'<br><span class="drs-muted">{escape(percent(rule.n_covered / n_records))}</span>' if n_records else ""
    return (
        f'<tr><td class="drs-narrow drs-figure">{number}</td><td><div class="drs-body">{_body(rule)}</div></td>'
        f'<td class="drs-narrow">{_label(rule_set.classes, rule.label)}</td>'
        f'<td class="drs-narrow">{precision}{_bar(rule_set.classes, rule)}</td>'
        f'<td class="drs-narrow drs-figure">{rule.n_covered:,}{share}</td></tr>'
    )


def _body(rule: Rule) -> str:
    """Return the conditions of a rule."""
    texts = [_condition(condition) for condition in rule.conditions]
    texts[1:] = [f'<span class="drs-and">AND</span> {text}' for text in texts[1:]]
    return " ".join(f'<span class="drs-condition">{text}</span>' for text in texts) or ANYTHING


def _condition(condition: Condition) -> str:
    """Return a condition, written from left to right whatever the direction of the name of its column."""
    text, name = str(condition), format_name(condition.column)
    if name.isascii() or name not in text:
        return _text(text)
    before, after = (escape(part, quote=True) for part in text.split(name, 1))
    return f'<bdi dir="ltr">{before}{_text(name)}{after}</bdi>'


def _label(classes: Sequence[Any], label: Any) -> str:
    """Return a label with the colour of its class, if it is one of the classes."""
    rect = f'<rect width="100%" height="100%" fill="{_colour(classes, label)}"/>'
    swatch = f'<svg aria-hidden="true">{rect}</svg>' if label in classes else ""
    text = format_label(label)
    if len(text) <= _MAX_LABEL:
        return f'<span class="drs-label">{swatch}{_text(text)}</span>'
    short = f"{text[: _MAX_LABEL // 2]}…{text[-_MAX_LABEL // 4 :]}"
    return f'<span class="drs-label" title="{escape(text, quote=True)}">{swatch}{_text(short)}</span>'


def _bar(classes: Sequence[Any], rule: Rule) -> str:
    """Return the class counts of a rule as a bar: the label of the rule first, the other classes lower."""
    others = sorted(((n, label) for label, n in rule.class_counts if label != rule.label and n), key=lambda p: -p[0])
    parts = [(n, _colour(classes, label)) for n, label in others]
    if len(classes) > MAX_DISTINCT:
        parts = [(sum(n for n, _ in others), GREY)]
    rects, before = [], rule.n_correct
    if rule.n_correct:
        rects.append(_rect(0, rule.precision, 'height="100%"', _colour(classes, rule.label)))
    for n, colour in parts:
        if n:
            rects.append(_rect(before / rule.n_covered, n / rule.n_covered, _LOW, colour))
        before += n
    text = escape(class_counts_text(rule.class_counts).removeprefix(": "), quote=True)
    start = f'<svg class="drs-bar" role="img" aria-label="{text}"><title>{text}</title>'
    return f"{start}{''.join(rects)}</svg>" if rects else ""


def _counts(class_counts: Sequence[tuple[Any, int]]) -> str:
    """Return class counts as :func:`class_counts_text` does, with each label isolated from the figures around it."""
    texts = (class_counts_text([pair]).removeprefix(": ") for pair in sorted(class_counts, key=lambda pair: -pair[1]))
    return ": " + ", ".join(f'<bdi dir="ltr">{escape(text, quote=True)}</bdi>' for text in texts if text)


def _rect(left: float, width: float, height: str, colour: str) -> str:
    """Return a part of a bar; `left` and `width` are shares of the bar."""
    return f'<rect x="{100 * left:.2f}%" width="{100 * width:.2f}%" {height} fill="{colour}"/>'


def _colour(classes: Sequence[Any], label: Any) -> str:
    return class_colour(classes.index(label)) if label in classes else GREY


def _text(text: str) -> str:
    """Return text as HTML that shows it unchanged, escaped and isolated from the writing direction around it."""
    return f"<bdi>{escape(text, quote=True)}</bdi>"


def _count(n: int, noun: str) -> str:
    """Return a number with its noun, such as `1 record` or `2 records`."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
