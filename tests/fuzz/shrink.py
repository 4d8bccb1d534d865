"""Makes a failed case small: fewer records, columns and parameters, simpler names, labels and values."""

import time
from dataclasses import replace

from .labels import PLAIN
from .names import is_same
from .values import is_missing, source

_EASY = {"min_support": "1", "min_evidence": "0.0", "random_state": "0"}


class Shrinker:
    """Tries smaller cases as long as they fail in the same way.

    Parameters
    ----------
    fails : function that returns whether a case fails in the same way
    seconds : when to stop
    """

    def __init__(self, fails, seconds):
        self.fails, self._end = fails, time.monotonic() + seconds
        self.attempts = 0

    def _better(self, case, other):
        """Return the other case if it fails too, else the case."""
        if other is None or time.monotonic() > self._end:
            return case
        self.attempts += 1
        return other if self.fails(other) else case

    def table(self, case):
        """Return a small case that fails in the same way."""
        before = None
        while case is not before and time.monotonic() < self._end:
            before = case
            for step in (self._settings, self._columns, self._records, self._new, self._words, self._values):
                case = step(case)
        return case

    def _settings(self, case):
        """Drop parameters, the layout, the container of labels."""
        case = self._better(case, _changed(case, layout="X"))
        if case.estimator != "DiverseRuleSetClassifier" or case.parameters != _EASY:
            easy = _changed(case, estimator="DiverseRuleSetClassifier", parameters=_EASY)
            case = self._better(case, easy)
        for name in list(case.parameters):
            if _EASY.get(name) != case.parameters[name] and name != "random_state":
                rest = {key: code for key, code in case.parameters.items() if key != name}
                case = self._better(case, replace(case, parameters=rest))
        if case.estimator == "DiverseRuleSetClassifier":
            case = self._better(case, _changed(case, parameters={**case.parameters, **_EASY}))
        return case

    def _columns(self, case):
        for column in case.columns:
            if len(case.columns) > 1 and not _is_parameter(case, column.name):
                case = self._better(case, replace(case, columns=tuple(c for c in case.columns if c is not column)))
        return case

    def _records(self, case):
        """Drop records, by halves, quarters and so on."""
        size = case.n_records // 2
        while size:
            begin = 0
            while begin < case.n_records and case.n_records > size:
                kept = [i for i in range(case.n_records) if not begin <= i < begin + size]
                smaller = self._better(case, _take(case, kept))
                begin, case = (begin, smaller) if smaller is not case else (begin + size, case)
            size //= 2
        return case

    def _new(self, case):
        """Drop new records."""
        while case.other is not None and len(case.other.values) > 1:
            values = case.other.values
            options = [replace(case.other, values=values[:i] + values[i + 1 :]) for i in range(len(values))]
            smaller = next((c for c in (replace(case, other=o) for o in options) if self._better(case, c) is c), case)
            if smaller is case:
                break
            case = smaller
        case = self._better(case, _take_new(case, [])) if case.columns[0].new else case
        i = 0
        while i < len(case.columns[0].new):
            kept = [k for k in range(len(case.columns[0].new)) if k != i]
            smaller = self._better(case, _take_new(case, kept))
            i, case = (i, smaller) if smaller is not case else (i + 1, case)
        return case

    def _words(self, case):
        """Simplify the names of columns and the labels."""
        if case.library not in ("numpy", "lists"):
            for j, column in enumerate(case.columns):
                if column.name != chr(97 + j) and not _is_parameter(case, column.name):
                    case = self._better(case, _renamed(case, j, chr(97 + j)))
        different = list(dict.fromkeys(case.labels))
        plain = tuple(chr(97 + different.index(label) % 26) for label in case.labels)
        if case.label_kind is not PLAIN or plain != case.labels:
            case = self._better(case, replace(case, label_kind=PLAIN, labels=plain))
        different = list(dict.fromkeys(case.labels))
        for label in different[1:]:
            joined = tuple(different[0] if one is label else one for one in case.labels)
            case = self._better(case, replace(case, labels=joined))
        return case

    def _values(self, case):
        """Make values of a column equal, and missing ones present."""
        for j in range(len(case.columns)):
            for part in ("values", "new"):
                case = self._unify(case, j, part)
        return case

    def _unify(self, case, j, part):
        different = _different([*case.columns[j].values, *case.columns[j].new])
        for value in different[:12]:
            for other in different[:12]:
                values = getattr(case.columns[j], part)
                if (
                    other is value
                    or not any(v is value for v in values)
                    or (is_missing(other) and not is_missing(value))
                ):
                    continue
                if _rank(other) < _rank(value):
                    joined = tuple(other if v is value else v for v in values)
                    case = self._better(case, _with_column(case, j, replace(case.columns[j], **{part: joined})))
        return case

    def text(self, text):
        """Return a short text (or bytes) that fails in the same way: pieces are dropped, by halves and so on."""
        size = len(text) // 2
        while size:
            begin = 0
            while begin < len(text):
                shorter = self._better(text, text[:begin] + text[begin + size :])
                begin, text = (begin, shorter) if shorter is not text else (begin + size, text)
            size //= 2
        return text

    def tree(self, content):
        """Return a small JSON tree that fails in the same way: elements of lists and objects are dropped."""
        before = None
        while content is not before and time.monotonic() < self._end:
            before = content
            for path in sorted(_paths(content), key=len):
                content = self._better(content, _without(content, path))
        return content


def _paths(content, path=()):
    """Yield the place of each element of a JSON tree."""
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _paths(value, (*path, key))


def _without(content, path):
    """Return a JSON tree without one element; None if it has no such element."""
    key, *rest = path
    if not isinstance(content, dict | list) or (
        key not in content if isinstance(content, dict) else key >= len(content)
    ):
        return None
    if rest:
        inner = _without(content[key], rest)
        if inner is None:
            return None
        return {**content, key: inner} if isinstance(content, dict) else [*content[:key], inner, *content[key + 1 :]]
    if isinstance(content, dict):
        return {name: value for name, value in content.items() if name != key}
    return [*content[:key], *content[key + 1 :]]


def _different(values):
    """Return the different objects among values."""
    return list({id(value): value for value in values}.values())


def _rank(value):
    """Return how simple a value is: present before missing, then short before long."""
    return is_missing(value), len(repr(value)), repr(value)


def _is_parameter(case, name):
    """Return whether a parameter may name a column."""
    return any(source(name) in code for code in case.parameters.values())


def _changed(case, **changes):
    """Return the case with changes; None if it has them already."""
    return None if all(getattr(case, name) == value for name, value in changes.items()) else replace(case, **changes)


def _renamed(case, j, name):
    """Return the case with another name of a column."""
    other = case.other
    if other is not None and is_same(other.name, case.columns[j].name):
        other = replace(other, name=name)
    return replace(_with_column(case, j, replace(case.columns[j], name=name)), other=other)


def _with_column(case, j, column):
    return replace(case, columns=(*case.columns[:j], column, *case.columns[j + 1 :]))


def _take(case, kept):
    columns = tuple(replace(column, values=tuple(column.values[i] for i in kept)) for column in case.columns)
    return replace(case, columns=columns, labels=tuple(case.labels[i] for i in kept)) if kept else None


def _take_new(case, kept):
    return replace(case, columns=tuple(replace(c, new=tuple(c.new[i] for i in kept)) for c in case.columns))
