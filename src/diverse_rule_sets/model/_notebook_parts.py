"""Parts of the HTML for notebooks: the element with its style, conditions, labels, and text that is escaped."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape
from typing import Any

from diverse_rule_sets._util.colours import GREY, class_colour
from diverse_rule_sets.model._condition_base import Condition
from diverse_rule_sets.model._formatting import format_label, format_name

# A longer label is cut in the middle; its full text is shown when the mouse is over it.
_MAX_LABEL = 120
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
.{me}.{me} table.drs-card {{ width: auto; max-width: 100%; margin: .3em 0 1em; }}
.{me}.{me} table.drs-card th, .{me}.{me} table.drs-card td {{ padding: .2em .7em; }}
.{me}.{me} table.drs-card .drs-body {{ min-width: 12em; }}
.{me}.{me} table.drs-card .drs-sum td {{ border-bottom: 0; white-space: nowrap; }}
.{me}.{me} .drs-steps {{ display: flex; flex-wrap: wrap; align-items: flex-end; gap: .1em 1em; margin: .3em 0 0;
  font-size: .92em; }}
.{me}.{me} .drs-step {{ display: inline-flex; flex-direction: column; align-items: flex-end; white-space: nowrap;
  font-variant-numeric: tabular-nums; }}
.{me}.{me} .drs-wrap {{ max-width: 100%; overflow-x: auto; }}
.{me}.{me} .drs-and, .{me}.{me} .drs-muted {{ opacity: .72; }} .{me}.{me} summary {{ cursor: pointer; }}
@media (max-width: 600px) {{
.{me}.{me} {{ font-size: 12px; }} .{me}.{me} table .drs-body {{ min-width: 8em; }}
.{me}.{me} table th, .{me}.{me} table td, .{me}.{me} table.drs-card th, .{me}.{me} table.drs-card td {{
  padding: .3em .35em; }} .{me}.{me} table.drs-card .drs-body {{ min-width: 8em; }}
.{me}.{me} table .drs-label bdi {{ max-width: 7em; }} .{me}.{me} table .drs-bar {{ width: 5em; }} }}
"""


def element(text: str, parts: Sequence[str]) -> str:
    """Return an element with its own style; `text` is different for different contents."""
    me = "drs-" + hashlib.sha256(text.encode("utf8", "replace")).hexdigest()[:12]
    start = f'<div class="{me} tex2jax_ignore mathjax_ignore"><style>{_STYLE.format(me=me)}</style>'
    return "".join([start, *parts, "</div>"])


def condition_html(condition: Condition) -> str:
    """Return a condition, written from left to right whatever the direction of the name of its column."""
    text, name = str(condition), format_name(condition.column)
    if name.isascii() or name not in text:
        return text_html(text)
    before, after = (escape(part, quote=True) for part in text.split(name, 1))
    return f'<bdi dir="ltr">{before}{text_html(name)}{after}</bdi>'


def label_html(classes: Sequence[Any], label: Any) -> str:
    """Return a label with the colour of its class, if it is one of the classes."""
    rect = f'<rect width="100%" height="100%" fill="{colour_of(classes, label)}"/>'
    swatch = f'<svg aria-hidden="true">{rect}</svg>' if label in classes else ""
    text = format_label(label)
    if len(text) <= _MAX_LABEL:
        return f'<span class="drs-label">{swatch}{text_html(text)}</span>'
    short = f"{text[: _MAX_LABEL // 2]}…{text[-_MAX_LABEL // 4 :]}"
    return f'<span class="drs-label" title="{escape(text, quote=True)}">{swatch}{text_html(short)}</span>'


def colour_of(classes: Sequence[Any], label: Any) -> str:
    """Return the colour of a class; grey if the label is none of the classes."""
    return class_colour(classes.index(label)) if label in classes else GREY


def text_html(text: str) -> str:
    """Return text as HTML that shows it unchanged, escaped and isolated from the writing direction around it."""
    return f"<bdi>{escape(text, quote=True)}</bdi>"
