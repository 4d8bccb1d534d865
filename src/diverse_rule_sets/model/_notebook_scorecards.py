"""Scorecards as HTML tables for notebooks, and the probabilities of a rule by points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from diverse_rule_sets._util.colours import MAX_DISTINCT
from diverse_rule_sets.model._formatting import format_scorecard_name
from diverse_rule_sets.model._notebook_parts import condition_html, element, label_html, text_html

if TYPE_CHECKING:
    from diverse_rule_sets.model._scorecards import Scorecard

# The sentences about a scorecard of several labels.
_LEAD = (
    "The label with the most points leads; the lead is by how many points. "
    "Of labels with equally many points, the one that is listed first leads."
)


def scorecard_html(card: Scorecard) -> str:
    """Return one scorecard as HTML; its labels have no colours, because the classes of a rule set are not known."""
    return element(str(card), [card_table(card, ())])


def card_table(card: Scorecard, classes: Sequence[Any]) -> str:
    """Return a scorecard as a table of its signs and their points: a column for each label, if they are few."""
    labels = card.labels
    if len(labels) > MAX_DISTINCT:
        columns: list[Any] = [None]
        names = ["points"]
    else:
        columns = list(labels)
        names = [label_html(classes, label) for label in labels] if card.has_leader else ["points"]
    head = "".join(f'<th class="drs-narrow drs-figure">{name}</th>' for name in names)
    rows = [_row("always", card.base, columns, classes)] if card.base else []
    rows += [_row(condition_html(sign.condition), sign.points, columns, classes) for sign in card.signs]
    if columns != [None]:
        rows.append(_range_row(card, columns))
    name = f"Scorecard <b>{text_html(format_scorecard_name(card.name))}</b>"
    label = "" if card.has_leader else f" for {label_html(classes, labels[0])}"
    notes = f'<p class="drs-muted">{_LEAD}</p>' if card.has_leader else ""
    table = f'<table class="drs-card"><thead><tr><th>sign</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    title = f"{name}: a record gets the points{label} of all signs that hold for it."
    return f'<p>{title}</p><div class="drs-wrap">{table}</div>{notes}'


def _row(text: str, points: Mapping[Any, int], columns: Sequence[Any], classes: Sequence[Any]) -> str:
    """Return a sign, or the base points, as a row; ``text`` is HTML. The column None lists the labels."""
    if list(columns) == [None]:
        cells = [" ".join(f"{n} for {label_html(classes, label)}" for label, n in points.items())]
    else:
        cells = [str(points.get(label, "")) for label in columns]
    return f'<tr><td><div class="drs-body">{text}</div></td>{_cells(cells)}</tr>'


def _range_row(card: Scorecard, labels: Sequence[Any]) -> str:
    """Return the row with the smallest and the largest number of points of each label."""
    cells = _cells([_range(card, label) for label in labels])
    return f'<tr class="drs-sum"><td class="drs-muted">possible sums</td>{cells}</tr>'


def _range(card: Scorecard, label: Any) -> str:
    low, high = card.ranges[label]
    return str(low) if low == high else f"{low} to {high}"


def _cells(texts: Sequence[str]) -> str:
    return "".join(f'<td class="drs-narrow drs-figure">{text}</td>' for text in texts)


def steps_html(heading: str, figures: Sequence[tuple[str, str]], note: str) -> str:
    """Return probabilities by points, each below its points.

    Parameters
    ----------
    heading : what the figures are, as HTML
    figures : pairs of points and probability, as text
    note : text after the figures; may be empty
    """
    steps = (
        f'<span class="drs-step"><span class="drs-muted">{escape(points)}</span> <span>{escape(share)}</span></span>'
        for points, share in figures
    )
    end = f' <span class="drs-muted">{escape(note)}</span>' if note else ""
    return f'<div class="drs-steps"><span>{heading}:</span> {" ".join(steps)}{end}</div>'
