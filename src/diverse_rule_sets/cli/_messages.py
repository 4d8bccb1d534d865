"""The figures of a rule set, printed as sentences and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from diverse_rule_sets import RuleSet
from diverse_rule_sets.cli._fitting import Records, SourceRecords
from diverse_rule_sets.cli._terminal import print_text, show_table
from diverse_rule_sets.model._counts import count_text
from diverse_rule_sets.model._figures import digits
from diverse_rule_sets.model._formatting import format_body

_MAX_CONFUSION_CLASSES = 10


def print_held_out(rule_set: RuleSet, test: Records | SourceRecords, n_train: int, file: IO[str]) -> None:
    """Print the figures of rules that were learnt from the training records, measured on the held-out records."""
    facts = test.figures(rule_set)
    n = len(test)
    print_text("", file)
    print_text(
        f"Measured on {n:,} records held out, with rules learnt from the other {n_train:,} records "
        f"(the rules above are learnt from all {n + n_train:,} records):",
        file,
    )
    show_table(_main_figures(facts), "lrw", file=file)
    if facts["accuracy"] < facts["baseline"]["accuracy"] and rule_set.class_weights is not None:
        print_text(
            "All classes have the same total weight, which can lower the accuracy; to weight all records equally, "
            "give --class-weight none.",
            file,
        )


def _main_figures(facts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the figures of a rule set on a table: name, value and meaning."""
    fallbacks = sum(rule["fallback"] for rule in facts["rules"])
    return [
        ("accuracy", digits(facts["accuracy"], ".3f"), _baseline(facts)),
        ("balanced accuracy", digits(facts["balanced_accuracy"], ".3f"), "mean of the recalls of the classes"),
        ("log loss", f"{facts['log_loss']:.3f}", "of the predicted probabilities"),
        (
            "rules",
            f"{len(facts['rules']) - fallbacks}",
            f"and {fallbacks} fallback {'rule' if fallbacks == 1 else 'rules'}",
        ),
        ("conditions", f"{facts['mean_conditions']:.1f}", "per rule on average"),
        *(
            (name, digits(facts[share], ".1%"), f"of the records are covered by {rules}")
            for name, share, rules in (
                ("overlap", "overlap_share", "two or more rules"),
                ("agreeing", "agree_share", "two or more rules of one label"),
                ("contradicting", "contradict_share", "rules of different labels"),
                ("uncovered", "uncovered_share", "no rule"),
            )
        ),
    ]


def _baseline(facts: Mapping[str, Any]) -> str:
    return f"always predicting {facts['baseline']['label']}: {digits(facts['baseline']['accuracy'], '.3f')}"


def print_evaluation(facts: Mapping[str, Any]) -> None:
    """Print the figures of a rule set on a table, the confusion matrix, and the figures of each rule."""
    print_text(f"Measured on {count_text(facts['n_records'])} records:")
    show_table(_main_figures(facts), "lrw")
    print_text("")
    _print_confusion(facts)
    print_text("")
    print_text("Precision of each rule and number of records that it covers, here and in training:")
    head = ("rule", "precision", "covers", "training", "covers", "THEN", "IF")
    show_table([_row(rule) for rule in facts["rules"]], "rrrrrll", head)
    default = facts["default"]
    print_text(
        f"  default label {default['label']}: correct for {count_text(default['n_right'])} of "
        f"{count_text(default['n_decided'])} records"
    )


def _print_confusion(facts: Mapping[str, Any]) -> None:
    """Print the confusion matrix as a table; if there are many classes, only the most frequent errors."""
    classes, confusion = facts["classes"], facts["confusion"]
    if len(classes) <= _MAX_CONFUSION_CLASSES:
        print_text("Number of records by true label (rows) and predicted label (columns):")
        rows = [(name, *map(count_text, counts)) for name, counts in zip(classes, confusion, strict=True)]
        show_table(rows, "l" + "r" * len(classes), ("", *classes))
        return
    errors = [(n, classes[k], classes[j]) for k, row in enumerate(confusion) for j, n in enumerate(row) if j != k and n]
    print_text("The most frequent errors:")
    worst = sorted(errors, key=lambda error: -error[0])[:10]
    rows = [(count_text(n), label, predicted) for n, label, predicted in worst]
    show_table(rows, "rlw", ("records", "true label", "predicted label"))


def _row(rule: Mapping[str, Any]) -> tuple[str, ...]:
    training = rule["training"]
    return (
        f"{rule['number']}",
        _share(rule["precision"]),
        count_text(rule["n_covered"]),
        _share(training["precision"]),
        count_text(training["n_covered"]),
        rule["label"],
        f"{'fallback rule: ' if rule['fallback'] else ''}{format_body(rule['conditions'])}",
    )


def _share(value: float | None) -> str:
    return "-" if value is None else digits(value)
