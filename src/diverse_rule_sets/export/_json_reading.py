"""Reading a rule set from JSON text, with a check of every key and every value.

Reading never executes code, and unknown keys are errors. If a file is cut off, changed, or written by a later version,
the error names the place and what was expected there.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from diverse_rule_sets._input.tables import KINDS
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._rules import Rule, RuleSet

FORMAT, VERSION = "diverse-rule-sets", 1
MAX_CHARACTERS = 50_000_000
_MAX_DEPTH = 30
_MARKS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)  # linear time, also if a string has no end
_KEYS = (
    *("format", "version", "classes", "class_totals", "class_weights", "smoothing", "conflict", "default"),
    *("uncovered_counts", "columns", "rules", "fallbacks"),
)
_OPERATORS = (">", ">=", "<", "<=", "=", "in", "not in", "missing")


def from_json(text: str | bytes) -> RuleSet:
    """Read a rule set from JSON text; see :meth:`RuleSet.from_json`."""
    content = _load(text)
    _check_header(content)
    return _Reader(content).rule_set()


def checksum(content: Mapping[str, Any]) -> str:
    """Return a checksum of the content, independent of the order of the keys and of the layout."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _load(text: str | bytes) -> dict[str, Any]:
    """Read the text as JSON, and check that it is complete and a rule set."""
    if not isinstance(text, str | bytes | bytearray):
        raise TypeError(f"from_json takes the text of a file, got {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"the text is too long to be a rule set: {len(text):,}, at most {MAX_CHARACTERS:,} characters")
    try:
        decoded = text if isinstance(text, str) else bytes(text).decode("utf-8-sig")
        _check_depth(decoded)
        content = json.loads(decoded, object_pairs_hook=_check_unique, parse_constant=_reject_constant)
    except ValueError as error:  # cut off, not JSON, not text, or an error of one of the functions below
        raise ValueError(f"not a rule set in JSON, or cut off: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'not a rule set: expected an object with "format": "{FORMAT}", got {_excerpt(content)}')
    return content


def _check_depth(text: str) -> None:
    """Raise ValueError if the text is nested too deeply for the JSON reader, which is recursive."""
    depth = 0
    for found in _MARKS.finditer(text):
        if found[0] in "[{":
            depth += 1
        elif found[0] in "]}":
            depth -= 1
        if depth > _MAX_DEPTH:
            raise ValueError("the JSON is nested too deeply")


def _check_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for name, value in pairs:
        if name in content:
            raise ValueError(f"the key {name!r} occurs twice")
        content[name] = value
    return content


def _reject_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number in JSON")


def _excerpt(value: Any) -> str:
    text = repr(value) if not isinstance(value, dict | list) else f"{type(value).__name__} of {len(value)}"
    return text if len(text) <= 80 else text[:77] + "..."


def _check_header(content: Mapping[str, Any]) -> None:
    """Check the version, the keys and the checksum."""
    version = content.get("version")
    if type(version) is not int or version < 1:
        raise _error("version", "an integer at least 1", version)
    if version > VERSION:
        raise ValueError(
            f"the file is of version {version}, written by a later release; this one reads up to {VERSION}. "
            "Update diverse-rule-sets to read it"
        )
    _check_keys(content, "the file", _KEYS, ("checksum", "similar_columns"))
    others = {key: value for key, value in content.items() if key != "checksum"}
    if "checksum" in content and content["checksum"] != checksum(others):
        raise ValueError(
            "the file was changed after it was written: its checksum does not match. If you changed it on purpose, "
            'remove the line "checksum"'
        )


class _Reader:
    """Reads the content into a rule set; every error names the place."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        self._classes: tuple[Any, ...] = ()

    def rule_set(self) -> RuleSet:
        """Return the rule set."""
        content = self._content
        classes = [self._value(label, f"classes[{k}]") for k, label in enumerate(self._list(content, "classes"))]
        types = {type(label) for label in classes}
        one_type = types in ({str}, {bool}) or types <= {int, float}
        if not classes or not one_type or len(set(classes)) < len(classes):
            raise _error("classes", "different labels, at least one: all text, all numbers or all booleans", classes)
        self._classes = tuple(classes)
        totals, uncovered = (self._counts(content[key], key) for key in ("class_totals", "uncovered_counts"))
        if any(n > total for n, total in zip(uncovered, totals, strict=True)):
            raise _error("uncovered_counts", f"at most the class_totals {totals}", uncovered)
        if not isinstance(content["conflict"], str) or content["conflict"] not in CONFLICTS:
            raise _error("conflict", f"one of {', '.join(map(repr, CONFLICTS))}", content["conflict"])
        rules, fallbacks = (tuple(self._rules(key, totals)) for key in ("rules", "fallbacks"))
        rule_set = RuleSet(
            rules,
            self._classes,
            self._label(content["default"], "default"),
            totals,
            uncovered,
            content["conflict"],
            fallbacks,
            self._weights(content["class_weights"]),
            _smoothing(content["smoothing"]),
            (),
            self._similar_columns(),
        )
        object.__setattr__(rule_set, "kinds", self._kinds(rule_set))
        return rule_set

    def _list(self, content: Mapping[str, Any], key: str, place: str = "") -> list[Any]:
        value = content[key]
        if not isinstance(value, list):
            raise _error(place + key, "a list", value)
        return value

    def _counts(self, value: Any, place: str) -> tuple[int, ...]:
        n = len(self._classes)
        if (
            not isinstance(value, list)
            or len(value) != n
            or any(type(k) is not int or not 0 <= k < 2**53 for k in value)
        ):
            raise _error(place, f"{n} integers at least 0, one per class", value)
        return tuple(value)

    def _weights(self, value: Any) -> tuple[float, ...] | None:
        if value is None:
            return None
        n = len(self._classes)
        if not isinstance(value, list) or len(value) != n or not all(_is_number(w) and 0 < w <= 1e300 for w in value):
            raise _error("class_weights", f"null, or {n} numbers greater than 0, one per class", value)
        return tuple(float(w) for w in value)

    def _label(self, value: Any, place: str) -> Any:
        for label in self._classes:
            if label == value and isinstance(label, bool) == isinstance(value, bool):
                return label
        raise _error(place, f"one of the classes {_excerpt(list(self._classes))}", value)

    def _kinds(self, rule_set: RuleSet) -> tuple[tuple[Hashable, str], ...]:
        kinds: dict[Hashable, str] = {}
        for k, column in enumerate(self._list(self._content, "columns")):
            place = f"columns[{k}]"
            _check_keys(column, place, ("name", "kind"))
            if column["kind"] not in ("", *KINDS):
                raise _error(f"{place}.kind", f"one of {', '.join(map(repr, KINDS))}", column["kind"])
            name = self._value(column["name"], f"{place}.name")
            if name in kinds:
                raise ValueError(f"{place} lists the column {name!r} a second time")
            kinds[name] = column["kind"]
        if set(kinds) != set(rule_set.columns):
            wrong = set(kinds) ^ set(rule_set.columns)
            raise ValueError(
                f"columns must list exactly the columns that the rules read; see {sorted(map(repr, wrong))[:5]}"
            )
        return tuple((name, kind) for name, kind in kinds.items() if kind)

    def _similar_columns(self) -> tuple[Hashable, ...]:
        names = self._list({"similar_columns": [], **self._content}, "similar_columns")
        return tuple(self._value(name, f"similar_columns[{k}]") for k, name in enumerate(names))

    def _rules(self, key: str, totals: tuple[int, ...]) -> Iterator[Rule]:
        for k, rule in enumerate(self._list(self._content, key)):
            place = f"{key}[{k}]"
            _check_keys(rule, place, ("if", "then", "class_counts"))
            counts = self._counts(rule["class_counts"], f"{place}.class_counts")
            if any(n > total for n, total in zip(counts, totals, strict=True)):
                raise _error(f"{place}.class_counts", f"at most the class_totals {totals}", list(counts))
            body = self._list(rule, "if", f"{place}.")
            conditions = tuple(self._condition(one, f"{place}.if[{i}]") for i, one in enumerate(body))
            label = self._label(rule["then"], f"{place}.then")
            yield Rule(conditions, label, tuple(zip(self._classes, counts, strict=True)))

    def _condition(self, content: Any, place: str) -> Condition:
        _check_keys(content, place, ("column",), (*_OPERATORS, "mixed"))
        tests = [key for key in content if key in _OPERATORS]
        column = self._value(content["column"], f"{place}.column")
        mixed = content.get("mixed", False)
        if not isinstance(mixed, bool):
            raise _error(f"{place}.mixed", "true or false", mixed)
        if tests and set(tests) <= {">", ">=", "<", "<="}:
            return self._interval(column, content, place)
        if len(tests) != 1:
            raise _error(place, f"one test, or a lower and an upper bound, of {', '.join(_OPERATORS)}", content)
        (test,) = tests
        if test == "missing":
            if content[test] is not True:
                raise _error(f"{place}.missing", "true", content[test])
            return IsMissing(column)
        if test == "=":
            return Equals(column, self._value(content[test], f"{place}.="), mixed)
        values = tuple(self._value(v, f"{place}.{test}") for v in self._list(content, test, f"{place}."))
        return IsIn(column, values, mixed) if test == "in" else IsNotIn(column, values, mixed)

    def _interval(self, column: Hashable, content: Mapping[str, Any], place: str) -> Interval:
        lower, upper = ([test for test in tests if test in content] for tests in ((">", ">="), ("<", "<=")))
        if max(len(lower), len(upper)) > 1:
            raise _error(place, "one lower and one upper bound at most", dict(content))
        bounds = {test: self._value(content[test], f"{place}.{test}") for test in lower + upper}
        low, high = (bounds[tests[0]] if tests else None for tests in (lower, upper))
        try:
            return Interval(column, low, high, lower == [">="], upper != ["<"])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}: {error}") from None

    def _value(self, value: Any, place: str, depth: int = 0) -> Any:
        """Return a value: a JSON value, or the value of an object with one key."""
        if value is None or isinstance(value, str | bool):
            return value
        if isinstance(value, int | float) and abs(value) <= sys.float_info.max:
            return value
        if isinstance(value, dict) and len(value) == 1:
            ((form, inner),) = value.items()
            if form == "tuple" and isinstance(inner, list) and depth < 5:
                return tuple(self._value(part, place, depth + 1) for part in inner)
            if form in _FORMS and isinstance(inner, str):
                return _convert(form, inner, place)
        raise _error(place, f"text, a number, true, false, or an object with one of {', '.join(_FORMS)}, tuple", value)


_FORMS: dict[str, Callable[[str], Any]] = {
    "datetime": datetime.datetime.fromisoformat,
    "instant": lambda text: datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC),
    "date": datetime.date.fromisoformat,
    "bytes": bytes.fromhex,
    "number": lambda text: {"inf": math.inf, "-inf": -math.inf}[text],
}


def _convert(form: str, text: str, place: str) -> Any:
    try:
        value = _FORMS[form](text)
        if form == "datetime" and value.tzinfo is not None:
            raise ValueError
    except (KeyError, ValueError):
        raise _error(place, f"a {form}", text) from None
    return value


def _smoothing(value: Any) -> float | None:
    if value is not None and not (_is_number(value) and 0 <= value <= 1e300):
        raise _error("smoothing", "null or a number at least 0", value)
    return None if value is None else float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _check_keys(content: Any, place: str, needed: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Raise ValueError unless the content is an object with all needed keys and without unknown keys."""
    if not isinstance(content, dict):
        raise _error(place, "an object", content)
    for key in needed:
        if key not in content:
            raise ValueError(f"{place} lacks {key!r}")
    for key in content:
        if key not in needed and key not in optional:
            raise ValueError(f"{place} has {key!r}, which version {VERSION} of the format does not have")


def _error(place: str, expected: str, value: Any) -> ValueError:
    return ValueError(f"{place} must be {expected}, got {_excerpt(value)}")
