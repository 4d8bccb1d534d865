"""The report page: one HTML file about a rule set on a table, with search, sorting and a panel to try records."""

from __future__ import annotations

import base64
import hashlib
import json
import numbers
import os
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from diverse_rule_sets._input.checks import check_number, generator
from diverse_rule_sets._util.colours import GREY, MAX_DISTINCT, class_colours
from diverse_rule_sets._util.files import whole_file
from diverse_rule_sets.model._counts import Count, as_counts, count_text
from diverse_rule_sets.model._figures import percent, probability_text, weight_text, weight_word, weighted_share
from diverse_rule_sets.model._formatting import ANYTHING
from diverse_rule_sets.model._ranges import order_text
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._text import conflict_text, missing_text, never_default
from diverse_rule_sets.report._page_content import content
from diverse_rule_sets.report._plain_text import with_noun
from diverse_rule_sets.report._summary import Summary, summarise
from diverse_rule_sets.report._text_layout import distinct_names

_SCRIPTS = ("decide.js", "view.js", "table.js", "points.js", "try.js", "main.js")
# With more classes the columns of the confusion matrix have numbers instead of names, and no percentages.
_MAX_SHARES = 8
# Largest width of a class name in that table, in letters.
_MAX_NAME = 30
# Width of a printed page beside the names, and the padding of a cell, in letters.
_PAPER, _CELL = 115, 1.35
# Largest number of errors in the list of the most frequent errors.
_MAX_ERRORS = 10
# Columns of the table of rules: sort key, CSS class, heading.
_HEADINGS = (
    ("number", "number", "No."),
    ("conditions", "if", "If all conditions hold"),
    ("label", "then", "then"),
    ("precision", "mixed", "Precision"),
    ("covered", "figure", "Covers"),
    ("decided", "figure", "Decides"),
)


def html(
    clf: Any,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    n_samples: int = 10,
    random_state: Any = 0,
    sample_weight: Any = None,
) -> str:
    """Return the report page of a rule set on a table as one string of HTML.

    The parameters are those of :func:`write_html`.

    Examples
    --------
    >>> from diverse_rule_sets import Interval, Rule, RuleSet
    >>> rules = RuleSet((Rule((Interval("x0", low=2),), "high"),), ("high", "low"), "low", (1, 1), (0, 1))
    >>> page = html(rules, [[1.0], [3.0]], ["low", "high"], title="Two records")
    >>> page.startswith("<!DOCTYPE html>"), "<title>Two records</title>" in page
    (True, True)
    """
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string or None, got {title!r} ({type(title).__name__})")
    check_number("n_samples", n_samples, numbers.Integral, low=0, high=1000)
    rng = generator(random_state)
    environment = _environment()
    summary = summarise(clf, X, y, sample_weight)
    data = content(summary, int(n_samples), rng, _index(X))
    style = _page_file(environment, "page.css") + _class_styles(len(summary.classes))
    script = "\n".join(_page_file(environment, name) for name in _SCRIPTS)
    return str(
        environment.get_template("page.html").render(
            **data,
            **_template_values(summary, data),
            segments=_segmenter(data),
            title=(title or "Rule set report").encode("utf8", "replace").decode("utf8"),
            data=_json(data),
            style=style,
            script=script,
            policy=_policy(style, script),
        )
    )


def write_html(
    clf: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    n_samples: int = 10,
    random_state: Any = 0,
    sample_weight: Any = None,
) -> Path:
    """Write the report page of a rule set on a table: one HTML file that loads no other files.

    The page shows the accuracy, each rule with its figures on these records, the overlaps of rules, the records that no
    rule covers, and a panel that predicts the label of a record as ``predict`` does. The rules can be searched and
    sorted, and the page can be printed.

    Parameters
    ----------
    clf : a fitted classifier of this package, a Pipeline or a search such as GridSearchCV that ends in one, or a
        RuleSet. The earlier steps of a pipeline transform X, and the page shows the columns that they return
    X, y : records and their labels, preferably not the training data; each label must be a class of the rule set
    path : file to write. An existing file is replaced only after the new one is complete
    title : heading of the page
    n_samples : largest number of example records of each rule; fewer if there are very many rules or columns. The page
        contains the values of these records, frequent values of the columns that rules use, and the index of a data
        frame unless it only numbers the rows. 0: the page contains no records, for confidential data; the only values
        in it are those in rules, medians and, if rules contain them, most frequent values
    random_state : seed of the sample
    sample_weight : weights of the records, as in ``fit``; then all numbers of records are weights

    Returns
    -------
    Path : the path of the file

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from diverse_rule_sets import DiverseRuleSetClassifier
    >>> from diverse_rule_sets.report import write_html
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_html(clf, X, y, f"{folder}/iris.html", title="Irises")
    ...     "<title>Irises</title>" in page.read_text("utf8")
    True
    """
    target = _target(path)
    options = {"title": title, "n_samples": n_samples, "random_state": random_state}
    page = html(clf, X, y, **options, sample_weight=sample_weight)
    with whole_file(target) as file:
        file.write_bytes(page.encode("utf8", "replace"))  # single surrogates cannot be encoded
    return target


def _target(path: Any) -> Path:
    """Validate the path of the file, before anything is computed."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise TypeError(f"path must be a string or path of a file, got {path!r} ({type(path).__name__})")
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise ValueError(f"path must be a file in an existing folder, got {os.fspath(path)!r}")
    return target


@cache
def _environment() -> Any:
    """Return the jinja2 environment of the templates; it escapes all values."""
    try:
        import jinja2
    except ImportError:
        raise ImportError(
            "the report page needs jinja2; install the extra: pip install 'diverse-rule-sets[report]'"
        ) from None
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("diverse_rule_sets.report", "page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(percent=percent, number=count_text, with_noun=with_noun)
    return environment


def _index(X: Any) -> Any:
    """Return the index of a pandas data frame; None if there is none, or if it only numbers the rows from 0."""
    index = getattr(X, "index", None) if hasattr(X, "iloc") else None
    if index is None or callable(index) or np.array_equal(np.asarray(index), np.arange(len(X))):
        return None
    return index


def _page_file(environment: Any, name: str) -> str:
    """Return the text of a file of the page, with the line ends that the browser hashes."""
    return str(environment.loader.get_source(environment, name)[0]).replace("\r\n", "\n")


def _class_styles(n_classes: int) -> str:
    """Return the CSS rules of the colours of the classes, and of all other classes in bars of many classes."""
    names = [*(f"c{k}" for k in range(n_classes)), "rest"]
    pairs = zip(names, [*class_colours(n_classes), GREY], strict=True)
    return "".join(f".{name} {{ fill: {colour}; background: {colour}; }}\n" for name, colour in pairs)


_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def _json(value: Any) -> str:
    """Return JSON with escapes, so that no text can end the HTML element that contains it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _policy(style: str, script: str) -> str:
    """Return a content security policy that allows only this style and this script, by their hashes, and no loading."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode("utf8")).digest()).decode("ascii") for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _template_values(summary: Summary, data: dict[str, Any]) -> dict[str, Any]:
    """Return the values that the template needs besides the embedded data."""
    rule_set, facts = summary.rule_set, data["facts"]
    return {
        "n_rules": len(rule_set),
        "n_fallbacks": len(rule_set.fallbacks),
        "tiles": _tiles(rule_set, facts, summary.weights is not None),
        "headings": _HEADINGS,
        "anything": ANYTHING,
        "default": rule_set.classes.index(rule_set.default),
        "never_default": never_default(rule_set),
        "weight_word": weight_word(rule_set),
        "weighted": [
            weighted_share(rule_set, rule.label, fact["class_counts"])
            for rule, fact in zip(rule_set.all_rules, facts["rules"], strict=True)
        ],
        "conflict": conflict_text(rule_set),
        "weights": weight_text(rule_set),
        "missing": missing_text(rule_set),
        "orders": [order_text(column, order) for column, order in rule_set.orders.items()],
        "probability_note": probability_text(rule_set),
        "many": len(facts["classes"]) > MAX_DISTINCT,
        "with_shares": len(facts["classes"]) <= _MAX_SHARES,
        "too_wide": _width(facts["confusion"]) > _PAPER,
        "short_names": [distinct_names(tuple(facts["classes"]), _MAX_NAME)[name] for name in facts["classes"]],
        **_errors(facts["confusion"]),
        "rule_labels": sorted({rule["label_position"] for rule in facts["rules"]}),
        "uncovered_classes": np.flatnonzero(facts["uncovered_counts"]).tolist(),
    }


def _width(confusion: list[list[Count]]) -> float:
    """Return the width of the figures in the confusion matrix, in letters."""
    return sum(max(len(count_text(n)) for n in (*column, 10)) + _CELL for column in zip(*confusion, strict=True))


def _errors(confusion: list[list[Count]]) -> dict[str, Any]:
    """Return the most frequent errors as (true class, predicted class, records), and the total numbers."""
    counts = np.array(confusion)
    np.fill_diagonal(counts, 0)
    actual, predicted = np.nonzero(counts)
    order = np.argsort(-counts[actual, predicted], kind="stable")[:_MAX_ERRORS]
    return {
        "n_errors": as_counts([counts.sum()])[0],
        "n_kinds": actual.size,
        "errors": [(int(actual[k]), int(predicted[k]), as_counts([counts[actual[k], predicted[k]]])[0]) for k in order],
    }


def _tiles(rule_set: RuleSet, facts: dict[str, Any], weighted: bool) -> list[tuple[str, str, str]]:
    """Return the figures at the top of the page: name, figure, explanation."""
    n_records, n_fallbacks = facts["n_records"], len(rule_set.fallbacks)
    lengths = [len(rule.conditions) for rule in rule_set]
    return [
        ("Accuracy", percent(facts["accuracy"]), "of the records get the right label"),
        ("Balanced accuracy", percent(facts["balanced_accuracy"]), "mean share of right labels over the classes"),
        ("Records", count_text(n_records), f"on which the rules are evaluated{', by weight' if weighted else ''}"),
        (
            "Rules",
            count_text(len(rule_set)),
            f"and {with_noun(n_fallbacks, 'fallback rule') if n_fallbacks else 'no fallback rules'}",
        ),
        ("Conditions per rule", f"{np.mean(lengths):.1f}" if lengths else "–", _conditions_text(rule_set)),
        ("Overlap", percent(facts["n_overlap"] / n_records), _overlap_text(facts)),
        ("Not covered", percent((n_records - facts["n_covered"]) / n_records), "of the records are covered by no rule"),
    ]


def _overlap_text(facts: dict[str, Any]) -> str:
    """Return the explanation of the overlap: how much of it is agreement, and how much contradiction."""
    text = "of the records are covered by two or more rules"
    if not facts["n_overlap"]:
        return text
    agree, contradict = (percent(facts[kind] / facts["n_records"]) for kind in ("n_agree", "n_contradict"))
    return f"{text} ({agree} agree, {contradict} contradict)"


def _conditions_text(rule_set: RuleSet) -> str:
    """Return the explanation of the number of conditions; with the number of signs if rules use scorecards."""
    n_signs, n_cards = sum(len(card.signs) for card in rule_set.scorecards), len(rule_set.scorecards)
    signs = f", and {with_noun(n_signs, 'sign')} in {with_noun(n_cards, 'scorecard')}" if n_cards else ""
    return f"on average{signs}"


def _segmenter(data: dict[str, Any]) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that divides a bar into classes: first those in `own`, then by size, largest first."""
    names, colours = data["labels"], data["colours"]
    few = len(names) <= MAX_DISTINCT

    def segments(counts: list[Count], own: Collection[int] = ()) -> list[dict[str, Any]]:
        order = sorted((k for k, n in enumerate(counts) if n), key=lambda k: (k not in own, -counts[k]))
        total, parts = sum(counts), []
        start: Count = 0
        for k in order:
            x, width = round(100 * start / total, 3), round(100 * counts[k] / total, 3)
            share, colour = percent(counts[k] / total), colours[k] if few or k in own else "rest"
            parts.append({"x": x, "width": width, "colour": colour, "own": k in own, "label": names[k], "share": share})
            start += counts[k]
        return parts

    return segments
