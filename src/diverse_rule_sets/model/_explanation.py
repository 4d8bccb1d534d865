"""Why a record gets its label, in words, and what would have had to differ for another one."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._input.tables import DATE, INSTANT, NUMBER, Column, Table, as_table
from diverse_rule_sets.model._conditions import Condition, IsNotIn
from diverse_rule_sets.model._formatting import format_label, format_name, label_position
from diverse_rule_sets.model._regions import Axis, Codes, Moved, axes_of
from diverse_rule_sets.model._rules import RuleSet

# Rules of a label that are tried, and other labels that are spoken of unless one is named.
_TRIED, _TOLD = 5, 3
# Pieces of several columns that are looked at together, and values of moved records that are in memory at once.
_CELLS, _BLOCK = 64, 1 << 21
# Who speaks where no rule, backup or default alone does.
_TOGETHER = -2
Record = dict[Hashable, Any]
Words = dict[Hashable, str]
Distances = list[NDArray[np.float64]]


@dataclass(frozen=True)
class Change:
    """What would give a record another label; it does for every value that meets the conditions.

    Parameters
    ----------
    label : the other label
    conditions : what the record would have to meet, its other values as they are
    speakers : who may speak then, positions in rules and backups; -1 is the default, -2 several rules together
    rule : position of the rule that then covers the record without being heard; None where it gets the label
    """

    label: Any
    conditions: tuple[Condition, ...]
    speakers: tuple[int, ...]
    rule: int | None = None

    @property
    def enough(self) -> bool:
        """Whether the record then gets the label."""
        return self.rule is None


def why(rule_set: RuleSet, X: Any, label: Any) -> Any:
    """Say why one record, or each record of a table, gets its label; see :meth:`RuleSet.why`."""
    if isinstance(X, np.ndarray) and X.ndim == 1:
        raise TypeError("one record must be a dict or a row of a pandas table, which name its values, got an array")
    if isinstance(X, Mapping) or _is_series(X):
        return told(rule_set, _one_record(rule_set, dict(X.items())), label)[0]
    return told(rule_set, as_table(X), label)


def _is_series(X: Any) -> bool:
    """Tell whether X is a row of a pandas table."""
    return hasattr(X, "index") and hasattr(X, "items") and getattr(X, "ndim", 0) == 1


def _one_record(rule_set: RuleSet, record: Record) -> Table:
    """Make a table of one record."""
    gone = [name for name in rule_set.columns if name not in record]
    if gone:
        raise ValueError(
            f"the record has no value for the column {gone[0]!r}, which the rules use (None if it is missing)"
        )
    return _table([record], list(record) or ["x"])


def _table(records: Sequence[Record], names: Sequence[Hashable]) -> Table:
    """Make a table of some records."""
    columns = []
    for name in names:
        values = np.empty(len(records), object)
        values[:] = [record.get(name) for record in records]
        columns.append(values)
    return Table(names, len(records), lambda j: columns[j], named=True)


def told(rule_set: RuleSet, table: Table, label: Any) -> list[str]:
    """Say for each record of a table why it gets its label."""
    if label is not None:
        position = label_position(label, rule_set.classes)
        if position is None:
            raise ValueError(f"label must be one of {list(rule_set.classes)}, got {label!r}")
        label = rule_set.classes[position]
    columns = {name: table.column(name) for name in rule_set.columns}
    spoke = rule_set.speakers(table).tolist()
    answers = [rule_set.classes[k] for k in rule_set.answers(table).tolist()]
    reasons = rule_set.reasons(table)
    axes = axes_of(rule_set, columns)
    pages = []
    records = _shown(axes, columns, table.n_records)
    for i, changes in enumerate(changed(rule_set, axes, answers, label)):
        record = records[i]
        lines = _spoken(rule_set, spoke[i], answers[i], reasons[i], record)
        if label is not None and not changes:
            said = format_label(label)
            there = label in [*(rule.label for rule in rule_set.rules + rule_set.backups), rule_set.default]
            nothing = f"No change was found that makes it {said}." if there else f"No rule says {said}."
            lines.append(f"It is {said} already." if answers[i] == label else nothing)
        pages.append("\n".join([*lines, *(_words(rule_set, change, record) for change in changes)]))
    return pages


def _shown(axes: Sequence[Axis], columns: Mapping[Hashable, Column], n_records: int) -> list[Words]:
    """Return the values of each record in words."""
    lists = [[axis.shown(value) for value in _raw(columns[axis.name])] for axis in axes]
    names = [axis.name for axis in axes]
    return [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)] if lists else [{}] * n_records


def _raw(column: Column) -> list[Any]:
    """Return the values of a column as Python values, None where one is missing."""
    values = column.values.tolist()  # of dates too, at microseconds
    if column.kind == INSTANT:
        values = [None if value is None else value.replace(tzinfo=datetime.UTC) for value in values]
    elif column.kind not in (NUMBER, DATE):
        values = [column.categories[k] if k >= 0 else None for k in values]
    return [None if gone else value for value, gone in zip(values, column.missing.tolist(), strict=True)]


def _spoken(rule_set: RuleSet, speaker: int, answer: Any, reason: str, record: Words) -> list[str]:
    """Say who spoke, with the record's own values beside the conditions, and how good that is."""
    if speaker < 0:
        return [f"{format_label(answer)}: {reason}."]
    rule = (rule_set.rules + rule_set.backups)[speaker]
    who = f"rule {speaker + 1}" if speaker < len(rule_set.rules) else f"backup {speaker + 1}, as no rule covers it"
    lines = [f"{format_label(answer)}, by {who}: {rule}."]
    values = [f"{format_name(condition.column)} is {record[condition.column]}" for condition in rule.conditions]
    if values:
        lines.append(f"Here {_listed(values)}.")
    if rule.n_covered:
        under = "under it" if speaker < len(rule_set.rules) else "that it answers for"
        lines.append(
            f"Of {rule.n_covered:,} training records {under}, {rule.n_correct:,} were {format_label(rule.label)}."
        )
    if rule_set.conflict == "counts" and speaker < len(rule_set.rules):
        lines[0] = f"{format_label(answer)}: {reason}."
    return lines


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _words(rule_set: RuleSet, change: Change, record: Words) -> str:
    """Say what would have had to differ."""
    tests = [f"{_test(one)} (it is {record[one.column]})" for one in change.conditions]
    where = f"if {_listed(tests)}" if tests else "as it is"
    who = _who(rule_set, change.speakers)
    if change.rule is None:
        return f"It would be {format_label(change.label)} {where}: {who}."
    but = "rules together would outweigh it" if change.speakers == (_TOGETHER,) else f"{who} would speak"
    return f"Rule {change.rule + 1}, the nearest that says {format_label(change.label)}, covers it {where}, but {but}."


def _test(condition: Condition) -> str:
    """Say what a condition asks for; one that leaves nothing out asks for a value."""
    if isinstance(condition, IsNotIn) and not condition.values:
        return f"{format_name(condition.column)} is not missing"
    return str(condition)


def _who(rule_set: RuleSet, speakers: Sequence[int]) -> str:
    """Name those who may speak."""
    if tuple(speakers) == (-1,):
        return "the default, as no rule covers it"
    n_rules = len(rule_set.rules)
    names = []
    for word, some in (
        ("rule", [j for j in speakers if 0 <= j < n_rules]),
        ("backup", [j for j in speakers if j >= n_rules]),
    ):
        names += [f"{word if k == 0 else ''} {j + 1}".strip() for k, j in enumerate(some)]
    names += ["rules together"] * (_TOGETHER in speakers) + ["the default"] * (-1 in speakers)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def changed(rule_set: RuleSet, axes: Sequence[Axis], answers: Sequence[Any], label: Any) -> list[list[Change]]:
    """Find for each record what would give it other labels, the nearest first.

    First every piece of every column is tried, with the other values as they are; of those that give a label the
    nearest is taken. For a label that no one column gives, rules that say so are tried, those with the fewest failing
    conditions first. What is stated is verified in every piece: no value that meets it gets another label.
    """
    if not axes:
        return [[] for _ in answers]
    position = {known: k for k, known in enumerate(rule_set.classes)}
    said = np.array([position[answer] for answer in answers], np.int64)
    search = _Search(rule_set, axes, None if label is None else position[label])
    size = max(1, _BLOCK // (max(len(search.steps), 1) * len(axes)))
    return [
        changes
        for begin in range(0, len(said), size)
        for changes in search.changes(slice(begin, begin + size), said[begin : begin + size])
    ]


@dataclass(frozen=True)
class _Box:
    """Pieces of some columns: the record, the label, axes, pieces of each, what it states, how near, a rule unheard."""

    record: int
    label: int
    axes: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...]
    conditions: tuple[Condition, ...]
    distance: float
    rule: int | None = None

    @property
    def order(self) -> tuple[bool, int, float]:
        """What is nearer comes first."""
        return self.rule is not None, len(self.axes), self.distance


@dataclass(frozen=True)
class _Target:
    """A rule that a record does not meet: the record, the label, the rule, and where conditions fail, what they allow.

    Pieces are sorted by their distance; `far` holds the distances.
    """

    record: int
    label: int
    rule: int
    axes: tuple[int, ...]
    conditions: tuple[Condition, ...]
    pieces: tuple[Codes, ...]
    far: tuple[NDArray[np.float64], ...]

    def narrowed(self) -> _Target:
        """Return the nearest pieces, so few that all their combinations can be looked at."""
        sizes = [len(pieces) for pieces in self.pieces]
        while math.prod(sizes) > _CELLS:
            largest = sizes.index(max(sizes))
            sizes[largest] = (sizes[largest] + 1) // 2
        cut = [pieces[:size] for pieces, size in zip(self.pieces, sizes, strict=True)]
        far = [some[:size] for some, size in zip(self.far, sizes, strict=True)]
        return replace(self, pieces=tuple(cut), far=tuple(far))


class _Search:
    """What is asked again and again while changes are looked for."""

    def __init__(self, rule_set: RuleSet, axes: Sequence[Axis], label: int | None) -> None:
        self.rule_set, self.axes, self.label = rule_set, axes, label
        self.codes = np.column_stack([axis.codes for axis in axes])
        self.steps = [(a, piece) for a, axis in enumerate(axes) for piece in axis.offered]
        at = {axis.name: a for a, axis in enumerate(axes)}
        self.bodies = [
            [(at[one.column], one, axes[at[one.column]].allowed(one)) for one in rule.conditions]
            for rule in rule_set.rules
        ]

    def answers(self, codes: Codes) -> Codes:
        """Ask for the labels of moved records."""
        return self.rule_set.answers(Moved(self.axes, codes)) if len(codes) else np.zeros(0, np.int64)

    def changes(self, block: slice, said: Codes) -> list[list[Change]]:
        """Find the changes of some records."""
        codes = self.codes[block]
        far = [axis.distances(block) for axis in self.axes]
        boxes, wanted = self.single_moves(codes, said, far)
        targets = self.chosen(codes, self.targets(codes, far, wanted))
        for box in self.boxes_of(codes, targets):
            boxes[box.record].append(box)
        told = [sorted(some, key=lambda box: box.order)[: None if self.label is not None else _TOLD] for some in boxes]
        return self.spoken(codes, told)

    def single_moves(self, codes: Codes, said: Codes, far: Distances) -> tuple[list[list[_Box]], list[list[int]]]:
        """Return the nearest moves along one column, and for each record the labels that no such move gives."""
        steps = np.array(self.steps, np.int64).reshape(-1, 2)
        moved = np.repeat(codes[:, None, :], len(steps), axis=1)
        moved[:, np.arange(len(steps)), steps[:, 0]] = steps[:, 1]
        given = self.answers(moved.reshape(-1, codes.shape[1])).reshape(len(codes), len(steps))
        distances = np.column_stack([far[a][:, piece] for a, piece in self.steps] or [np.zeros((len(codes), 0))])
        labels = range(len(self.rule_set.classes)) if self.label is None else [self.label]
        boxes: list[list[_Box]] = [[] for _ in codes]
        wanted: list[list[int]] = [[] for _ in codes]
        nearest = {}
        for k in labels:
            there = np.where(given == k, distances, math.inf)
            there = np.column_stack([there, np.full(len(codes), math.inf)])
            nearest[k] = there.argmin(axis=1), there.min(axis=1)
        for i, own in enumerate(said.tolist()):
            found = sorted((float(nearest[k][1][i]), k) for k in labels if k != own)
            for distance, k in found[: None if self.label is not None else _TOLD]:
                if distance == math.inf:
                    continue
                a, start = self.steps[nearest[k][0][i]]
                good = {
                    p for (b, p), answer in zip(self.steps, given[i].tolist(), strict=True) if b == a and answer == k
                }
                pieces = self.axes[a].around(start, good)
                boxes[i].append(_Box(i, k, (a,), (pieces,), (self.axes[a].stated(pieces),), distance))
            if self.label is not None or len(boxes[i]) < _TOLD:
                wanted[i] = [k for distance, k in found if distance == math.inf]
        return boxes, wanted

    def targets(self, codes: Codes, far: Distances, wanted: Sequence[Sequence[int]]) -> list[list[_Target]]:
        """Return for each record and label the rules to be tried: the nearest, and some that several changes reach."""
        rows = [i for i, labels in enumerate(wanted) if labels]
        if not rows:
            return []
        fails = np.zeros((len(rows), len(self.bodies)), np.int64)
        away = np.zeros(fails.shape)
        for j, body in enumerate(self.bodies):
            for a, _, allowed in body:
                failed = ~np.isin(codes[rows, a], allowed)
                least = far[a][rows][:, allowed].min(axis=1, initial=math.inf)
                fails[:, j] += failed
                away[:, j] += np.where(failed, least, 0)
        by_label: dict[int, list[int]] = {}
        for j, rule in enumerate(self.rule_set.rules):
            by_label.setdefault(self.rule_set.classes.index(rule.label), []).append(j)
        targets = []
        for r, i in enumerate(rows):
            for k in wanted[i]:
                order = sorted((fails[r, j], away[r, j], j) for j in by_label.get(k, ()) if away[r, j] < math.inf)
                several = [j for n, _, j in order if n > 1][:_TRIED]
                tried = dict.fromkeys([j for _, _, j in order[:1]] + several)
                targets.append([self.target(i, k, j, codes[i], far) for j in tried])
        return [some for some in targets if some]

    def target(self, i: int, k: int, j: int, codes: Codes, far: Distances) -> _Target:
        """Return what a record would have to meet to fall under a rule."""
        failing = [(a, one, allowed) for a, one, allowed in self.bodies[j] if codes[a] not in allowed]
        order = [np.argsort(far[a][i, allowed], kind="stable") for a, _, allowed in failing]
        pieces = [allowed[some] for (_, _, allowed), some in zip(failing, order, strict=True)]
        lengths = [far[a][i, some] for (a, _, _), some in zip(failing, pieces, strict=True)]
        axes, conditions = tuple(a for a, _, _ in failing), tuple(one for _, one, _ in failing)
        return _Target(i, k, j, axes, conditions, tuple(pieces), tuple(lengths))

    def chosen(self, codes: Codes, targets: Sequence[Sequence[_Target]]) -> list[_Target]:
        """Return for each record and label the first rule whose nearest pieces give the label, or else the nearest."""
        tried = [target for some in targets for target in some]
        moved = codes[[target.record for target in tried]]
        for row, target in zip(moved, tried, strict=True):
            row[list(target.axes)] = [pieces[0] for pieces in target.pieces]
        given = iter(self.answers(moved).tolist())
        enough = [[next(given) == target.label for target in some] for some in targets]
        return [some[flags.index(True) if True in flags else 0] for some, flags in zip(targets, enough, strict=True)]

    def boxes_of(self, codes: Codes, targets: Sequence[_Target]) -> list[_Box]:
        """Look at all combinations of the nearest pieces that rules allow, and return what can be said of them."""
        if not targets:
            return []
        near = [target.narrowed() for target in targets]
        cells = [self.cells(codes[one.record], one.axes, one.pieces) for one in near]
        given = self.answers(np.concatenate(cells))
        parts = np.split(given, np.cumsum([len(some) for some in cells])[:-1])
        return [
            self.box(target, one, (part == one.label).reshape([len(pieces) for pieces in one.pieces]))
            for target, one, part in zip(targets, near, parts, strict=True)
        ]

    def cells(self, codes: Codes, axes: Sequence[int], pieces: Sequence[Sequence[int] | Codes]) -> Codes:
        """Return a record moved to every combination of some pieces."""
        grid = np.array(list(itertools.product(*pieces)), np.int64)
        moved = np.repeat(codes[None], len(grid), axis=0)
        moved[:, list(axes)] = grid
        return moved

    def box(self, target: _Target, near: _Target, good: NDArray[np.bool_]) -> _Box:
        """Return the pieces around the nearest combination that gives the label; all of them if none does."""
        enough = bool(good.any())
        good = good if enough else ~good
        far = np.asarray(sum(np.ix_(*near.far)))
        start = np.unravel_index(int(np.where(good, far, math.inf).argmin()), good.shape)
        chosen = [[int(k)] for k in start]
        pieces, conditions = [], []
        for n, a in enumerate(near.axes):
            slabs = np.moveaxis(good, n, 0)[np.ix_(range(good.shape[n]), *chosen[:n], *chosen[n + 1 :])]
            fine = {int(p): k for k, p in enumerate(near.pieces[n]) if slabs[k].all()}
            pieces.append(self.axes[a].around(int(near.pieces[n][chosen[n][0]]), fine))
            chosen[n] = [fine[p] for p in pieces[-1]]
            whole = len(pieces[-1]) == len(target.pieces[n])
            conditions.append(target.conditions[n] if whole else self.axes[a].stated(pieces[-1]))
        rule = None if enough else target.rule
        return _Box(target.record, target.label, target.axes, tuple(pieces), tuple(conditions), float(far[start]), rule)

    def spoken(self, codes: Codes, told: Sequence[Sequence[_Box]]) -> list[list[Change]]:
        """Ask who speaks in the pieces that are stated."""
        cells = [self.cells(codes[box.record], box.axes, box.pieces) for boxes in told for box in boxes]
        if not cells:
            return [[] for _ in told]
        moved = Moved(self.axes, np.concatenate(cells))
        speakers = self.rule_set.speakers(moved)
        if self.rule_set.conflict == "counts":
            speakers = np.where((speakers < 0) & self.rule_set.fires(moved).any(axis=1), _TOGETHER, speakers)
        parts = iter(np.split(speakers, np.cumsum([len(some) for some in cells])[:-1]))
        classes = self.rule_set.classes
        return [
            [
                Change(classes[box.label], box.conditions, tuple(sorted(set(next(parts).tolist()))), box.rule)
                for box in boxes
            ]
            for boxes in told
        ]
