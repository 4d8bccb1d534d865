"""Reading a rule set from JSON text, with a check of every key and every value.

Reading never executes code, and unknown keys are errors. If a file is cut off, changed, or written by a later version,
the error names the place and what was expected there.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from diverse_rule_sets._input.columns import CATEGORY, EMPTY, KINDS
from diverse_rule_sets._input.values import BOOLEAN, DATE, INSTANT, NUMBER, TEXT
from diverse_rule_sets.export._json_domains import DOMAIN_KEYS, domain_from_json
from diverse_rule_sets.export._json_scorecards import COLUMN_KEYS, OPTIONAL_COLUMN_KEYS, ScorecardReader
from diverse_rule_sets.model._checks import check_classes, check_counts, error, fits_kind, shown
from diverse_rule_sets.model._combination import combine_conditions
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.model._counts import Count
from diverse_rule_sets.model._domains import Domain
from diverse_rule_sets.model._ranges import IsInRange, category_range
from diverse_rule_sets.model._rule import Rule
from diverse_rule_sets.model._rules import RuleSet

# Version 1 has no target, no values of columns, and fewer types of columns; version 2 has no scorecards; version 3 has
# no ordered categories, no limits of whole numbers and no codes for missing values; version 4 has whole counts only.
FORMAT, VERSION = "diverse-rule-sets", 5
VERSION_WITHOUT_FRACTIONS, VERSION_OF_SCORECARDS, VERSION_WITHOUT_SCORECARDS = 4, 3, 2
MAX_CHARACTERS = 50_000_000
_KEYS = (
    *("format", "version", "classes", "class_totals", "class_weights", "smoothing", "conflict", "default"),
    *("uncovered_counts", "columns", "rules", "fallbacks"),
)
_OPTIONAL_KEYS: dict[int, tuple[str, ...]] = {1: ("checksum",), 2: ("checksum", "target", "similar_columns")}
_OPTIONAL_KEYS[3] = (*_OPTIONAL_KEYS[2], "scorecards")
_OPTIONAL_KEYS[4] = _OPTIONAL_KEYS[5] = (*_OPTIONAL_KEYS[3], "missing_values")
_KINDS_1 = (NUMBER, DATE, INSTANT, BOOLEAN, TEXT, CATEGORY, EMPTY)
_OPERATORS = (">", ">=", "<", "<=", "=", "in", "not in", "missing")


def from_json(text: str | bytes) -> RuleSet:
    """Read a rule set from JSON text; see :meth:`RuleSet.from_json`."""
    try:
        content = _load(text)
        _check_header(content)
        return _Reader(content).rule_set()
    except RecursionError:
        raise ValueError("not a rule set in JSON: it is nested too deeply") from None


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
    expected = f'not a rule set: expected an object with "format": "{FORMAT}", got'
    try:
        decoded = text if isinstance(text, str) else bytes(text).decode("utf-8-sig")
        if f'"{FORMAT}"' not in decoded:  # other texts are not read as JSON, which may take long
            raise ValueError(f"{expected} {shown(decoded)}")
        content = json.loads(decoded, object_pairs_hook=_check_unique, parse_constant=_reject_constant)
    except ValueError as problem:  # cut off, not JSON, not text, or an error of one of the functions below
        message = str(problem)
        raise ValueError(
            message if message.startswith("not a rule set") else f"not a rule set in JSON, or cut off: {message}"
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{expected} {shown(content)}")
    return content


def _check_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        for name, _ in pairs:
            if name not in content:
                raise ValueError(f"the key {shown(name)} occurs twice")
            del content[name]
    return content


def _reject_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number in JSON")


def _check_header(content: Mapping[str, Any]) -> None:
    """Check the version, the keys and the checksum."""
    version = content.get("version")
    if type(version) is not int or version < 1:
        raise error("version", "an integer at least 1", version)
    if version > VERSION:
        raise ValueError(
            f"the file is of version {shown(version)}, written by a later release; this one reads up to {VERSION}. "
            "Update diverse-rule-sets to read it"
        )
    _check_keys(content, "the file", _KEYS, _OPTIONAL_KEYS[version], version)
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
        self._version: int = content["version"]
        labels = [self._value(label, f"classes[{k}]") for k, label in enumerate(self._list(content, "classes"))]
        self._classes = check_classes(labels)
        self._labels = {(isinstance(label, bool), label): label for label in self._classes}
        self._scorecards = ScorecardReader(self._check_keys, self._label, self._plain_condition)

    def rule_set(self) -> RuleSet:
        """Return the rule set; RuleSet checks what concerns several parts of the file."""
        content = self._content
        totals, uncovered = (self._counts(content[key], key) for key in ("class_totals", "uncovered_counts"))
        self._scorecards.read(self._list({"scorecards": [], **content}, "scorecards"))
        rules, fallbacks = (tuple(self._rules(key)) for key in ("rules", "fallbacks"))
        self._scorecards.check_used()
        weights = content["class_weights"]
        return RuleSet(
            rules,
            self._classes,
            self._label(content["default"], "default"),
            totals,
            uncovered,
            content["conflict"],
            fallbacks,
            None if weights is None else tuple(self._list(content, "class_weights")),
            content["smoothing"],
            self._kinds(rules + fallbacks),
            content.get("target"),
            self._domains(),
            self._similar_columns(),
            self._missing_values(),
        )

    def _list(self, content: Mapping[str, Any], key: str, place: str = "") -> list[Any]:
        value = content[key]
        if not isinstance(value, list):
            raise error(place + key, "a list", value)
        return value

    def _check_keys(self, content: Any, place: str, needed: Sequence[str], optional: Sequence[str]) -> None:
        _check_keys(content, place, needed, optional, self._version)

    def _counts(self, value: Any, place: str) -> tuple[Count, ...]:
        return check_counts(value, len(self._classes), place, whole=self._version < VERSION)

    def _label(self, value: Any, place: str) -> Any:
        label = self._value(value, place)
        key = (isinstance(label, bool), label)
        if key not in self._labels:
            raise error(place, f"one of the classes {shown(list(self._classes))}", value)
        return self._labels[key]

    def _kinds(self, rules: Sequence[Rule]) -> tuple[tuple[Hashable, str], ...]:
        kinds: dict[Hashable, str] = {}
        allowed = ("", *(KINDS if self._version > 1 else _KINDS_1))
        for k, column in enumerate(self._list(self._content, "columns")):
            place = f"columns[{k}]"
            self._check_keys(column, place, ("name", "kind"), DOMAIN_KEYS[self._version])
            if column["kind"] not in allowed:
                raise error(f"{place}.kind", f"one of {', '.join(map(repr, allowed[1:]))}", column["kind"])
            name = self._value(column["name"], f"{place}.name")
            if name in kinds:
                raise ValueError(f"{place} lists the column {shown(name)} a second time")
            kinds[name] = column["kind"]
        wrong = set(kinds) ^ {condition.column for condition in plain_conditions(rules)}
        if wrong:
            names = ", ".join(sorted(map(shown, wrong))[:5])
            raise ValueError(f"columns must list exactly the columns that the rules read; see {names}")
        if self._version == 1:  # version 1 gave a column the type of the first condition on it
            conditions = (condition for rule in rules for condition in rule.conditions)
            misfits = {one.column for one in conditions if not fits_kind(one, kinds[one.column])}
            kinds = {name: "" if name in misfits else kind for name, kind in kinds.items()}
        return tuple((name, kind) for name, kind in kinds.items() if kind)

    def _domains(self) -> tuple[tuple[Hashable, Domain], ...]:
        """Return what is known about the values of the columns; :meth:`_kinds` has checked the keys."""
        domains = []
        for k, column in enumerate(self._list(self._content, "columns")):
            place = f"columns[{k}]"
            domain = domain_from_json(column, place, self._value)
            if domain is not None:
                domains.append((self._value(column["name"], f"{place}.name"), domain))
        return tuple(domains)

    def _similar_columns(self) -> tuple[Hashable, ...]:
        names = self._list({"similar_columns": [], **self._content}, "similar_columns")
        return tuple(self._value(name, f"similar_columns[{k}]") for k, name in enumerate(names))

    def _missing_values(self) -> tuple[tuple[Hashable, tuple[Any, ...]], ...]:
        """Return the codes for missing values of each column."""
        codes: dict[Hashable, tuple[Any, ...]] = {}
        for k, entry in enumerate(self._list({"missing_values": [], **self._content}, "missing_values")):
            place = f"missing_values[{k}]"
            self._check_keys(entry, place, ("columns", "values"), ())
            listed = self._list(entry, "values", f"{place}.")
            values = tuple(self._compared(value, f"{place}.values[{i}]") for i, value in enumerate(listed))
            if not values:
                raise error(f"{place}.values", "a list of at least one value", values)
            for i, column in enumerate(self._list(entry, "columns", f"{place}.")):
                name = self._value(column, f"{place}.columns[{i}]")
                if name in codes:
                    raise ValueError(f"{place}.columns[{i}] lists the column {shown(name)} a second time")
                codes[name] = values
        return tuple(codes.items())

    def _rules(self, key: str) -> Iterator[Rule]:
        for k, rule in enumerate(self._list(self._content, key)):
            place = f"{key}[{k}]"
            self._check_keys(rule, place, ("if", "then", "class_counts"), ("points_table",) * (self._version > 2))
            counts = self._counts(rule["class_counts"], f"{place}.class_counts")
            body = self._list(rule, "if", f"{place}.")
            conditions = tuple(self._condition(one, f"{place}.if[{i}]") for i, one in enumerate(body))
            label = self._label(rule["then"], f"{place}.then")
            try:
                if self._version == 1:  # which did not require one condition for each column
                    conditions = combine_conditions(conditions)
                made = Rule(conditions, label, tuple(zip(self._classes, counts, strict=True)))
            except ValueError as problem:
                raise ValueError(f"{place}.if: {problem}") from None
            yield self._with_table(made, rule["points_table"], place) if "points_table" in rule else made

    def _with_table(self, rule: Rule, content: Any, place: str) -> Rule:
        """Return a rule with its class probabilities by points."""
        table = self._scorecards.table(content, len(self._classes), f"{place}.points_table")
        try:
            return replace(rule, points_table=table)
        except ValueError as problem:
            raise ValueError(f"{place}: {problem}") from None

    def _condition(self, content: Any, place: str) -> Condition:
        """Read a condition on a column of the table or on a scorecard."""
        if self._version < 3 or not isinstance(content, dict) or "scorecard" not in content:
            return self._plain_condition(content, place)
        self._check_keys(content, place, COLUMN_KEYS, (*OPTIONAL_COLUMN_KEYS, *_OPERATORS))
        column = self._scorecards.column(content, place)
        tests = {key: value for key, value in content.items() if key in _OPERATORS}
        try:
            return self._scorecards.condition(column, self._plain_condition({"column": "", **tests}, place), place)
        except ValueError as problem:
            raise problem if str(problem).startswith(place) else ValueError(f"{place}: {problem}") from None

    def _plain_condition(self, content: Any, place: str) -> Condition:
        """Read a condition on a column of the table."""
        orders = ("order",) * (self._version > 3)
        self._check_keys(content, place, ("column",), (*_OPERATORS, "mixed", *orders))
        column = self._value(content["column"], f"{place}.column")
        mixed = content.get("mixed", False)
        if not isinstance(mixed, bool):
            raise error(f"{place}.mixed", "true or false", mixed)
        try:
            return self._test(column, mixed, content, place)
        except (TypeError, OverflowError) as problem:
            raise ValueError(f"{place}: {problem}") from None
        except ValueError as problem:
            raise problem if str(problem).startswith(place) else ValueError(f"{place}: {problem}") from None

    def _test(self, column: Hashable, mixed: bool, content: Mapping[str, Any], place: str) -> Condition:
        """Read the test of a condition."""
        tests = [key for key in content if key in _OPERATORS]
        if "order" in content:
            return self._range(column, mixed, content, place)
        if tests and set(tests) <= {">", ">=", "<", "<="}:
            return self._interval(column, content, place)
        if len(tests) != 1:
            raise error(place, f"one test, or a lower and an upper bound, of {', '.join(_OPERATORS)}", content)
        (test,) = tests
        if test == "missing":
            if content[test] is not True:
                raise error(f"{place}.missing", "true", content[test])
            return IsMissing(column)
        if test == "=":
            return Equals(column, self._compared(content[test], f"{place}.="), mixed)
        values = tuple(self._compared(v, f"{place}.{test}") for v in self._list(content, test, f"{place}."))
        return IsIn(column, values, mixed) if test == "in" else IsNotIn(column, values, mixed)

    def _interval(self, column: Hashable, content: Mapping[str, Any], place: str) -> Interval:
        lower, upper = ([test for test in tests if test in content] for tests in ((">", ">="), ("<", "<=")))
        if max(len(lower), len(upper)) > 1:
            raise error(place, "one lower and one upper bound at most", dict(content))
        bounds = {test: self._value(content[test], f"{place}.{test}") for test in lower + upper}
        low, high = (bounds[tests[0]] if tests else None for tests in (lower, upper))
        return Interval(column, low, high, lower == [">="], upper != ["<"])

    def _range(self, column: Hashable, mixed: bool, content: Mapping[str, Any], place: str) -> Condition:
        """Read a range of ordered categories."""
        order = tuple(self._compared(v, f"{place}.order") for v in self._list(content, "order", f"{place}."))
        tests = [key for key in content if key in _OPERATORS]
        if not tests or not set(tests) <= {">=", "<="}:
            raise error(place, ">= or <= or both beside order", dict(content))
        bounds = {test: self._compared(content[test], f"{place}.{test}") for test in tests}
        found = category_range(column, order, bounds.get(">="), bounds.get("<="), mixed=mixed)
        if not isinstance(found, IsInRange):
            raise error(place, "a range of two categories or more", dict(content))
        return found

    def _compared(self, value: Any, place: str) -> Any:
        """Return a value that a column can have."""
        checked = self._value(value, place)
        if checked is None or isinstance(checked, tuple):
            raise error(place, f"text, a number, true, false, or an object with one of {', '.join(_FORMS)}", value)
        return checked

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
        raise error(place, f"text, a number, true, false, or an object with one of {', '.join(_FORMS)}, tuple", value)


def _read_instant(text: str) -> datetime.datetime:
    """Read a date in UTC; one with another time zone is converted."""
    moment = datetime.datetime.fromisoformat(text)
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment.astimezone(datetime.UTC)


_FORMS: dict[str, Callable[[str], Any]] = {
    "datetime": datetime.datetime.fromisoformat,
    "instant": _read_instant,
    "date": datetime.date.fromisoformat,
    "bytes": bytes.fromhex,
    "number": lambda text: {"inf": math.inf, "-inf": -math.inf}[text],
}


def _convert(form: str, text: str, place: str) -> Any:
    try:
        value = _FORMS[form](text)
        if form == "datetime" and value.tzinfo is not None:
            raise ValueError
    except (KeyError, ValueError, OverflowError):
        raise error(place, f"a value of the form {form!r}", text) from None
    return value


def _check_keys(content: Any, place: str, needed: Sequence[str], optional: Sequence[str], version: int) -> None:
    """Raise ValueError unless the content is an object with all needed keys and without unknown keys."""
    if not isinstance(content, dict):
        raise error(place, "an object", content)
    for key in needed:
        if key not in content:
            raise ValueError(f"{place} lacks {key!r}")
    for key in content:
        if key not in needed and key not in optional:
            raise ValueError(f"{place} has {shown(key)}, which version {version} of the format does not have")
