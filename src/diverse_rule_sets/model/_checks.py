"""Checks of the parts of rules and rule sets. Every error names the part, what was expected, and the value.

The limits keep all arithmetic in :mod:`._decision` finite and all sums of counts exact.
"""

from __future__ import annotations

import math
import numbers
import reprlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from diverse_rule_sets._input.codes import CodesByColumn, as_codes
from diverse_rule_sets._input.columns import EMPTY, KINDS
from diverse_rule_sets._input.values import canonical, identity, plain
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._conditions import Condition
from diverse_rule_sets.model._counts import MAX_COUNT, Count, as_count
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._domains import Domain

# Class weights, and smoothing other than 0. A product of two of them and of a class share is neither 0 nor infinite.
SMALLEST, LARGEST = 1e-100, 1e100

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel = 3


def shown(value: Any) -> str:
    """Return a value as text of limited length in one line."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer of more than 4300 digits
        return f"a {type(value).__name__}"


def error(place: str, expected: str, value: Any) -> ValueError:
    """Return the error for a value that is not what was expected at a place."""
    return ValueError(f"{place} must be {expected}, got {shown(value)}")


def check_parts(rule_set: Any, rule_type: type[Any]) -> dict[str, Any]:
    """Return the parts of a rule set, converted to tuples and Python values; raises an error if one does not fit."""
    conflict, target = rule_set.conflict, rule_set.target
    if not callable(conflict) and (not isinstance(conflict, str) or conflict not in CONFLICTS):
        names = ", ".join(map(repr, CONFLICTS))
        raise error("conflict", f"one of {names}, or a function of the covering rules", conflict)
    if target is not None and not isinstance(target, str):
        raise error("target", "a string or None", target)
    classes = check_classes(rule_set.classes)
    totals = check_counts(rule_set.class_totals, len(classes), "class_totals")
    uncovered = check_counts(rule_set.uncovered_counts, len(classes), "uncovered_counts")
    if any(n > total for n, total in zip(uncovered, totals, strict=True)):
        raise error("uncovered_counts", f"at most the class_totals {shown(totals)}", uncovered)
    rules = check_rules(rule_set.rules, "rules", rule_type, classes, totals)
    fallbacks = check_rules(rule_set.fallbacks, "fallbacks", rule_type, classes, totals)
    check_covered(rules, fallbacks, classes, totals, uncovered)
    return {
        "classes": classes,
        "class_totals": totals,
        "uncovered_counts": uncovered,
        "default": find_label(rule_set.default, classes, "default"),
        "rules": rules,
        "fallbacks": fallbacks,
        "class_weights": check_weights(rule_set.class_weights, len(classes)),
        "smoothing": check_smoothing(rule_set.smoothing),
        "kinds": check_kinds(rule_set.kinds, rules + fallbacks),
        "domains": check_domains(rule_set.domains),
        "missing_values": check_missing_values(rule_set.missing_values, rules + fallbacks),
    }


def check_conditions(conditions: Any) -> tuple[Condition, ...]:
    """Return the conditions of a rule as a tuple; raises an error unless there is at most one for each column."""
    try:
        checked = tuple(conditions)
    except TypeError:
        raise TypeError(f"conditions must be a tuple of conditions, got {shown(conditions)}") from None
    if not all(isinstance(condition, Condition) for condition in checked):
        raise TypeError(f"conditions must be a tuple of conditions, got {shown(conditions)}")
    for condition in checked:
        if getattr(condition, "empty", False):
            raise ValueError(f"conditions must not have an interval that contains no value, got {condition!s:.80}")
    if len(checked) > 1 and len({condition.column for condition in checked}) < len(checked):
        by_column: dict[Hashable, Condition] = {}
        for condition in checked:
            first = by_column.setdefault(condition.column, condition)
            if first is not condition:
                raise ValueError(
                    f"conditions must have at most one condition for each column, got {first!s:.80} and "
                    f"{condition!s:.80}; combine them into one, as Rule.parse does"
                )
    return checked


def check_class_counts(class_counts: Any) -> tuple[tuple[Any, Count], ...]:
    """Return the class counts of a rule as pairs of a label and a count."""
    try:
        pairs = tuple(class_counts)
        labels, counts = [label for label, _ in pairs], [n for _, n in pairs]
        if not set(map(type, labels)) | set(map(type, counts)) <= _PYTHON_TYPES:
            labels, counts = [plain(label) for label in labels], [plain(n) for n in counts]
        if not set(map(type, counts)) <= {int} or min(counts, default=0) < 0 or max(counts, default=0) > MAX_COUNT:
            counts = [as_count(n) for n in counts]
        if not set(map(type, labels)) <= _LABEL_TYPES:
            labels = [check_label(label) for label in labels]
        if len(set(labels)) == len(labels):
            return tuple(zip(labels, counts, strict=True))
    except (TypeError, ValueError):
        pass
    raise error("class_counts", "pairs of (label, number of records at least 0), with different labels", class_counts)


# Types of labels and counts that need no conversion, and types of which all values can be labels.
_PYTHON_TYPES = {bool, bytes, float, int, str}
_LABEL_TYPES = {bool, int, str}


def check_classes(classes: Any, place: str = "classes") -> tuple[Any, ...]:
    """Return the labels as a tuple; raises ValueError unless they are different and of one type."""
    expected = "different labels, at least one: all text, all numbers or all booleans"
    try:
        labels = tuple(plain(label) for label in classes)
        one_type = len({_label_type(label) for label in labels}) == 1 and not isinstance(classes, str | bytes)
        if one_type and len(set(labels)) == len(labels):
            return labels
    except TypeError:
        pass
    raise error(place, expected, classes)


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Return labels in ascending order; raises ValueError unless they are of one type."""
    return sorted(check_classes(tuple(labels), "labels"))


def check_label(label: Any) -> Any:
    """Return a label as a Python value; raises ValueError unless it is text, a finite number or a boolean."""
    label = plain(label)
    try:
        _label_type(label)
    except (TypeError, OverflowError):
        raise error("label", "text, a finite number or a boolean", label) from None
    return label


def _label_type(label: Any) -> str:
    """Return the type of a label; TypeError if it has none of the types that labels may have."""
    for name, kind in (("boolean", bool), ("text", str)):
        if isinstance(label, kind):
            return name
    if isinstance(label, numbers.Real) and math.isfinite(label):
        return "number"
    raise TypeError


def check_counts(counts: Any, n_classes: int, place: str, whole: bool = False) -> tuple[Count, ...]:
    """Return one count per class as a tuple; with ``whole`` all of them must be integers."""
    try:
        checked = tuple(as_count(plain(n), whole) for n in counts)
    except (TypeError, ValueError):
        checked = ()
    if len(checked) != n_classes or sum(checked) > MAX_COUNT:
        others = "" if whole else ", or multiples of 2**-10,"
        expected = f"{n_classes} integers at least 0{others} with a sum of at most 2**53, one per class"
        raise error(place, expected, counts)
    return checked


def check_weights(weights: Any, n_classes: int) -> tuple[float, ...] | None:
    """Return the class weights as floats, or None."""
    if weights is None:
        return None
    try:
        checked = tuple(plain(weight) for weight in weights)
    except TypeError:
        checked = ()
    if len(checked) != n_classes or not all(_is_factor(weight) for weight in checked):
        expected = f"{n_classes} numbers greater than 0, from {SMALLEST} to {LARGEST}, one per class; or None"
        raise error("class_weights", expected, weights)
    return tuple(float(weight) for weight in checked)


def check_smoothing(smoothing: Any) -> float | None:
    """Return the smoothing as a float, or None."""
    smoothing = plain(smoothing)
    is_zero = isinstance(smoothing, numbers.Real) and not isinstance(smoothing, bool) and smoothing == 0
    if smoothing is not None and not is_zero and not _is_factor(smoothing):
        raise error("smoothing", f"a number at least 0: 0, or from {SMALLEST} to {LARGEST}; or None", smoothing)
    return None if smoothing is None else float(smoothing)


def _is_factor(value: Any) -> bool:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return number and bool(SMALLEST <= value <= LARGEST)


def find_label(label: Any, classes: Sequence[Any], place: str) -> Any:
    """Return the class that equals a label; a boolean equals no number."""
    label = plain(label)
    try:
        return classes[_position(label, classes)]
    except (TypeError, ValueError):
        raise error(place, f"one of the classes {shown(list(classes))}", label) from None


def _position(label: Any, classes: Sequence[Any]) -> int:
    if isinstance(label, bool) != isinstance(classes[0], bool):
        raise ValueError
    return classes.index(label)


def check_rules(rules: Any, place: str, rule_type: type[Any], classes: Sequence[Any], totals: Sequence[Count]) -> Any:
    """Return the rules as a tuple; raises an error unless their labels and class counts fit the classes."""
    try:
        checked = tuple(rules)
    except TypeError:
        raise TypeError(f"{place} must be a tuple of rules, got {shown(rules)}") from None
    known = {(type(label) is bool, label) for label in classes}
    limits = dict(zip(classes, totals, strict=True))
    total: Count = 0
    for j, rule in enumerate(checked):
        if not isinstance(rule, rule_type):
            raise TypeError(f"{place}[{j}] must be a Rule, got {shown(rule)}")
        if not _is_known(rule.label, known):
            raise error(f"{place}[{j}].label", f"one of the classes {shown(list(classes))}", rule.label)
        for label, n in rule.class_counts:
            total += n
            if n > limits.get(label, -1):
                raise _count_error(rule, f"{place}[{j}].class_counts", limits)
    if total > MAX_COUNT:
        raise ValueError(f"the class counts of {place} must have a sum of at most 2**53, got {total}")
    return checked


def _is_known(label: Any, known: set[tuple[bool, Any]]) -> bool:
    try:
        return (type(label) is bool, label) in known
    except TypeError:
        return False


def _count_error(rule: Any, place: str, limits: dict[Any, Count]) -> ValueError:
    """Return the error for class counts of labels that do not exist, or for counts that are too large."""
    for label, _ in rule.class_counts:
        if label not in limits:
            return error(place, f"counts of the classes {shown(list(limits))}", label)
    counts = [dict(rule.class_counts).get(label, 0) for label in limits]
    return error(place, f"at most the class_totals {shown(tuple(limits.values()))}", counts)


def check_covered(
    rules: Sequence[Any],
    fallbacks: Sequence[Any],
    classes: Sequence[Any],
    totals: Sequence[Count],
    uncovered: Sequence[Count],
) -> None:
    """Raise ValueError if rules count records that no rule covers, or fallback rules records that rules cover."""
    covered = dict(zip(classes, (n - m for n, m in zip(totals, uncovered, strict=True)), strict=True))
    for j, rule in enumerate(rules):
        if any(n > covered[label] for label, n in rule.class_counts):
            limits = tuple(covered.values())
            counts = [dict(rule.class_counts).get(label, 0) for label in classes]
            expected = f"at most the class_totals without the uncovered_counts {shown(limits)}"
            raise error(f"rules[{j}].class_counts", expected, counts)
    decided: dict[Any, Count] = dict.fromkeys(classes, 0)
    for rule in fallbacks:
        for label, n in rule.class_counts:
            decided[label] += n
    sums = tuple(decided.values())
    if any(n > m for n, m in zip(sums, uncovered, strict=True)):
        expected = f"at most the uncovered_counts {shown(tuple(uncovered))}, because each decides records of its own"
        raise error("the sum of the class_counts of fallbacks", expected, sums)


def check_domains(domains: Any) -> tuple[tuple[Hashable, Domain], ...]:
    """Return the known values of columns as a tuple of pairs."""
    try:
        pairs = tuple((column, domain) for column, domain in domains)
        if len(dict(pairs)) == len(pairs) and all(isinstance(domain, Domain) for _, domain in pairs):
            return pairs
    except (TypeError, ValueError):
        pass
    raise error("domains", "pairs of (column, Domain), with different columns", domains)


def check_missing_values(codes: Any, rules: Iterable[Any]) -> tuple[tuple[Hashable, tuple[Any, ...]], ...]:
    """Return the codes for missing values as a tuple of pairs; raises an error if a rule lists a code as a value."""
    expected = "a dict, or pairs, of columns and their codes for missing values, with different columns"
    try:
        pairs = [(column, some) for column, some in (codes.items() if isinstance(codes, Mapping) else codes)]
        known = {column: as_codes(f"missing_values[{shown(column)}]", some) for column, some in pairs}
    except (TypeError, ValueError) as problem:
        if str(problem).startswith("missing_values["):
            raise
        raise error("missing_values", expected, codes) from None
    if len(known) < len(pairs):
        raise error("missing_values", expected, codes)
    check_no_codes(plain_conditions(rules), known)
    return tuple((column, some) for column, some in known.items() if some)


def check_no_codes(conditions: Iterable[Condition], codes: CodesByColumn, start: str = "") -> None:
    """Raise ValueError if a condition lists a value that is a code for missing values: it would never be equal."""
    for condition in conditions if codes else ():
        coded = set(map(identity, codes.get(condition.column, ())))
        for value in condition.values_named if coded else ():
            if identity(canonical(value)) in coded:
                raise ValueError(
                    f"{start}the condition {condition!s:.80} names {shown(value)}, which is a code for missing values "
                    f"of the column {shown(condition.column)}; test it by 'is missing'"
                )


def check_kinds(kinds: Iterable[Any], rules: Iterable[Any]) -> tuple[tuple[Hashable, str], ...]:
    """Return the types of columns as a tuple of pairs; raises ValueError if a comparison needs another type."""
    try:
        pairs = tuple((column, kind) for column, kind in kinds)
        fits = len(dict(pairs)) == len(pairs) and all(kind in KINDS for _, kind in pairs)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        expected = f"pairs of (column, type), with different columns and types of {', '.join(map(repr, KINDS))}"
        raise error("kinds", expected, kinds)
    known, compared = dict(pairs), dict[Hashable, str]()
    for condition in plain_conditions(rules):
        kind = known.get(condition.column, "")
        if not fits_kind(condition, kind):
            raise ValueError(
                f"kinds gives the column {shown(condition.column)} the type {kind!r}, which does not fit the "
                f"condition {condition!s:.80}"
            )
        if condition.comparisons and compared.setdefault(condition.column, condition.kind) != condition.kind:
            raise ValueError(
                f"rules compare the column {shown(condition.column)} with values of the types "
                f"{compared[condition.column]!r} and {condition.kind!r}, expected one of them"
            )
    return pairs


def fits_kind(condition: Condition, kind: str) -> bool:
    """Return whether a condition can be evaluated in a column of a type, if it compares values by order."""
    return not condition.comparisons or not condition.kind or kind in ("", EMPTY, condition.kind)
