"""One page that stands alone: a rule set on a table, to read, to search, to print, and to try a record on."""

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
from diverse_rule_sets._util.files import whole_file
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._formatting import ANYTHING
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._text import chance_words, percent, weight_words
from diverse_rule_sets.report._page_content import N_COLOURS, content
from diverse_rule_sets.report._summary import Summary, summarise
from diverse_rule_sets.report._text_layout import told_apart

_SCRIPTS = ("decide.js", "view.js", "table.js", "try.js", "main.js")
# More classes than these, and the table of answers goes by numbers and leaves out percentages.
_MAX_SHARES = 8
# Then class names are cut to so many letters, paper has room for so many beside them, and a cell takes that many more
# than its figures.
_MAX_NAME = 30
_PAPER, _CELL = 115, 1.35
# Mistakes that are named there, the most frequent.
_MAX_MISTAKES = 10
# Columns of the table of rules: what they are sorted by, how they are set, what they are called.
_HEADINGS = (
    ("number", "number", "No."),
    ("conditions", "if", "If all of this holds"),
    ("label", "then", "then"),
    ("precision", "mixed", "Right when it applies"),
    ("covered", "figure", "Covers"),
    ("speaks", "figure", "Speaks for"),
)


def html(clf: Any, X: Any, y: Any, *, title: str | None = None, n_samples: int = 10, random_state: Any = 0) -> str:
    """Return a page about a rule set on a table, as one string of HTML that needs nothing else.

    Parameters are those of :func:`write_html`.

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
    summary = summarise(clf, X, y)
    shown = content(summary, int(n_samples), rng, _index(X))
    style, script = _page_file(environment, "page.css"), "\n".join(_page_file(environment, name) for name in _SCRIPTS)
    return str(
        environment.get_template("page.html").render(
            **shown,
            **_derived(summary, shown),
            segments=_segmenter(shown),
            title=title or "A rule set, in plain words",
            data=_json(shown),
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
) -> Path:
    """Write a page about a rule set on a table: one file that loads nothing, for people who never saw Python.

    It shows how accurate the rules are, each rule in words with what it does on these records, where rules overlap,
    what none covers, and a panel that answers for a record as ``predict`` does. It can be searched, sorted and printed.

    Parameters
    ----------
    clf : a fitted classifier of this package, or a RuleSet
    X, y : records, and their labels among the classes of the rules; best some that the rules were not learnt from
    path : file to write. It is written whole or not at all
    title : heading of the page
    n_samples : records to show behind each rule, at most; the page holds their values, and frequent values of the
        columns that rules read; and a data frame's own index, where that is more than a count of the rows. 0: no
        records at all, for data that must not be passed on; of the values then only what rules name, and medians.
        Where there are very many rules or columns, fewer records are shown
    random_state : seed of the sample

    Returns
    -------
    the path

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
    page = html(clf, X, y, title=title, n_samples=n_samples, random_state=random_state)
    with whole_file(target) as place:
        place.write_bytes(page.encode("utf8", "replace"))  # half a surrogate pair is no character
    return target


def _target(path: Any) -> Path:
    """Check where to write, before anything is computed."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise TypeError(f"path must be the name of a file, got {path!r} ({type(path).__name__})")
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise ValueError(f"path must be a file in a folder that exists, got {os.fspath(path)!r}")
    return target


@cache
def _environment() -> Any:
    """Return what fills in templates: all that comes from data is escaped."""
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
    environment.filters.update(percent=percent, whole=_with_commas, counted=_with_noun)
    return environment


def _index(X: Any) -> Any:
    """Return the index of a pandas data frame; None where there is none, or it only counts the rows from 0."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or np.array_equal(np.asarray(index), np.arange(len(X))):
        return None
    return index


def _page_file(environment: Any, name: str) -> str:
    """Return a file of the page as it stands, lines ending as browsers read them."""
    return str(environment.loader.get_source(environment, name)[0]).replace("\r\n", "\n")


_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def _json(value: Any) -> str:
    """Return JSON in which nothing can end the element it stands in."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _policy(style: str, script: str) -> str:
    """Return what the browser may do: run and apply our own texts, known by their hashes, and load nothing."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode("utf8")).digest()).decode("ascii") for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _derived(summary: Summary, shown: dict[str, Any]) -> dict[str, Any]:
    """Return what the template says besides the facts."""
    rule_set, facts = summary.rule_set, shown["facts"]
    conflict = rule_set.conflict
    return {
        "n_rules": len(rule_set),
        "n_fallbacks": len(rule_set.fallbacks),
        "tiles": _tiles(rule_set, facts),
        "headings": _HEADINGS,
        "anything": ANYTHING,
        "default": rule_set.classes.index(rule_set.default),
        "conflict": CONFLICTS[conflict] if isinstance(conflict, str) else "a function of those rules decides",
        "weights": weight_words(rule_set),
        "chances": chance_words(rule_set),
        "many": len(facts["classes"]) > N_COLOURS,
        "shares_shown": len(facts["classes"]) <= _MAX_SHARES,
        "too_wide": _width(facts["confusion"]) > _PAPER,
        "short_names": [told_apart(tuple(facts["classes"]), _MAX_NAME)[name] for name in facts["classes"]],
        **_mistakes(facts["confusion"]),
        "said_labels": sorted({rule["label_position"] for rule in facts["rules"]}),
        "uncovered_classes": np.flatnonzero(facts["uncovered_counts"]).tolist(),
    }


def _width(confusion: list[list[int]]) -> float:
    """Return how wide the figures of the table of answers are, in letters."""
    return sum(max(len(_with_commas(n)) for n in (*column, 10)) + _CELL for column in zip(*confusion, strict=True))


def _mistakes(confusion: list[list[int]]) -> dict[str, Any]:
    """Return which classes are taken for which others: a few with the most records, and how many there are in all."""
    counts = np.array(confusion, np.int64)
    np.fill_diagonal(counts, 0)
    actual, answered = np.nonzero(counts)
    order = np.argsort(-counts[actual, answered], kind="stable")[:_MAX_MISTAKES]
    return {
        "n_mistakes": int(counts.sum()),
        "n_kinds": actual.size,
        "mistakes": [(int(actual[k]), int(answered[k]), int(counts[actual[k], answered[k]])) for k in order],
    }


def _tiles(rule_set: RuleSet, facts: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the headline figures: a name, a figure, and what it is of."""
    n_records, n_fallbacks = facts["n_records"], len(rule_set.fallbacks)
    lengths = [len(rule.conditions) for rule in rule_set]
    return [
        ("Accuracy", percent(facts["accuracy"]), "of the records get the right label"),
        ("Balanced accuracy", percent(facts["balanced_accuracy"]), "the same, every class counting alike"),
        ("Records", _with_commas(n_records), "that the rules were measured on"),
        (
            "Rules",
            _with_commas(len(rule_set)),
            f"and {_with_noun(n_fallbacks, 'fallback') if n_fallbacks else 'no fallbacks'}",
        ),
        ("Conditions per rule", f"{np.mean(lengths):.1f}" if lengths else "–", "on average"),
        ("Overlap", percent(facts["n_overlap"] / n_records), "of the records are under two rules or more"),
        ("Not covered", percent((n_records - facts["n_covered"]) / n_records), "of the records are under no rule"),
    ]


def _segmenter(shown: dict[str, Any]) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that cuts a bar into classes: a rule's own label, or those of some, first, then the largest."""
    names, colours = shown["facts"]["classes"], shown["colours"]

    def segments(counts: list[int], own: Collection[int] = ()) -> list[dict[str, Any]]:
        order = sorted((k for k, n in enumerate(counts) if n), key=lambda k: (k not in own, -counts[k]))
        total, before, parts = sum(counts), 0, []
        for k in order:
            x, width = round(100 * before / total, 3), round(100 * counts[k] / total, 3)
            share = percent(counts[k] / total)
            parts.append(
                {"x": x, "width": width, "colour": colours[k], "own": k in own, "label": names[k], "share": share}
            )
            before += counts[k]
        return parts

    return segments


def _with_commas(n: int) -> str:
    return f"{n:,}"


def _with_noun(n: int, noun: str, several: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{n:,} {noun if n == 1 else several or noun + 's'}"
