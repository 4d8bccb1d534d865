"""Figures in words and tables, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from diverse_rule_sets import RuleSet
from diverse_rule_sets.cli._fitting import Records
from diverse_rule_sets.cli._predicting import evaluation
from diverse_rule_sets.cli._terminal import say, show_table
from diverse_rule_sets.model._formatting import format_body
from diverse_rule_sets.model._text import digits

_WIDEST_CONFUSION = 10  # classes


def tell_held_out(rule_set: RuleSet, outside: Records, n_inside: int, file: IO[str]) -> None:
    """Say how rules learnt from a part of the records do on the others."""
    facts = evaluation(rule_set, outside.X, outside.y.to_list())
    n = facts["n_records"]
    say("", file)
    say(
        f"Measured on {n:,} records held out, by {len(rule_set)} rules learnt from the other {n_inside:,}; "
        f"the rules above are learnt from all {n + n_inside:,}.",
        file,
    )
    show_table(_head_figures(facts), "lrw", file=file)
    if facts["accuracy"] < facts["baseline"]["accuracy"] and rule_set.class_weights is not None:
        say("Rare classes count as much as common ones here; for plain accuracy give --class-weight none.", file)


def _head_figures(facts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the figures of a rule set on a table, with what they mean."""
    fallbacks = sum(rule["fallback"] for rule in facts["rules"])
    return [
        ("accuracy", digits(facts["accuracy"], ".3f"), _baseline(facts)),
        ("balanced accuracy", digits(facts["balanced_accuracy"], ".3f"), "mean of the classes' recalls"),
        ("log loss", f"{facts['log_loss']:.3f}", "of the probabilities"),
        ("rules", f"{len(facts['rules']) - fallbacks}", f"and {fallbacks} fallbacks"),
        ("conditions", f"{facts['mean_conditions']:.1f}", "a rule"),
        ("overlap", digits(facts["overlap_share"], ".1%"), "of the records are under two rules or more"),
        ("uncovered", digits(facts["uncovered_share"], ".1%"), "of the records are under no rule"),
    ]


def _baseline(facts: Mapping[str, Any]) -> str:
    return f"always saying {facts['baseline']['label']}: {digits(facts['baseline']['accuracy'], '.3f')}"


def tell_evaluation(facts: Mapping[str, Any]) -> None:
    """Print what a rule set does on a table: figures, confusions, and every rule."""
    say(f"On {facts['n_records']:,} records:")
    show_table(_head_figures(facts), "lrw")
    say("")
    _tell_confusions(facts)
    say("")
    say("Each rule on these records (precision and coverage; in training):")
    head = ("rule", "precision", "covers", "trained", "covered", "THEN", "IF")
    show_table([_row(rule) for rule in facts["rules"]], "rrrrrll", head)
    default = facts["default"]
    say(f"  otherwise {default['label']}: right for {default['n_right']:,} of {default['n_speaks']:,} records")


def _tell_confusions(facts: Mapping[str, Any]) -> None:
    """Print how many records of each class were called what: as a table, or the commonest errors of many classes."""
    classes, confusion = facts["classes"], facts["confusion"]
    if len(classes) <= _WIDEST_CONFUSION:
        say("Records by class (lines) and answer (columns):")
        rows = [(name, *(f"{n:,}" for n in counts)) for name, counts in zip(classes, confusion, strict=True)]
        show_table(rows, "l" + "r" * len(classes), ("", *classes))
        return
    errors = [(n, classes[k], classes[j]) for k, row in enumerate(confusion) for j, n in enumerate(row) if j != k and n]
    say("The commonest errors:")
    worst = sorted(errors, key=lambda error: -error[0])[:10]
    rows = [(f"{n:,}", label, answer) for n, label, answer in worst]
    show_table(rows, "rlw", ("records", "class", "answer"))


def _row(rule: Mapping[str, Any]) -> tuple[str, ...]:
    trained = rule["training"]
    return (
        f"{rule['number']}",
        _share(rule["precision"]),
        f"{rule['n_covered']:,}",
        _share(trained["precision"]),
        f"{trained['n_covered']:,}",
        rule["label"],
        f"{'no rule covers it, and ' if rule['fallback'] else ''}{format_body(rule['conditions'])}",
    )


def _share(value: float | None) -> str:
    return "-" if value is None else digits(value)
