"""The labels, deciding rules and covering rules of the records of a table, from one pass that decodes each column once.

The pass stores packed bits, one for each rule and record. All results are computed from these bits without reading the
table again. If boolean arrays are needed, they are made for some records at a time, so that many rules on many records
fit into memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers
from diverse_rule_sets._input.columns import ANY, EMPTY, VALUES
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.model._point_probabilities import followed_column
from diverse_rule_sets.model._record_points import Columns, SignFlags, points_texts, tested_columns
from diverse_rule_sets.model._scorecards import PointSums, ScorecardColumn, scorecards_of
from diverse_rule_sets.model._text import other_rules_text, reason_of_counts, reasons_by_rule

if TYPE_CHECKING:
    from diverse_rule_sets.model._conditions import Condition
    from diverse_rule_sets.model._decision import Decision
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet

# Number of records times number of rules that are unpacked at a time.
_BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Covers:
    """Which of some rules cover which records of a table.

    Parameters
    ----------
    rows : a row of packed bits for each rule, see :mod:`diverse_rule_sets._bits.bitset`
    n_records : number of records of the table
    kinds : the type of each column that was read, in the order of first use
    points : the points of each record, for each column of points that rules follow
    signs : which signs of the scorecards hold for each record, and which are not known
    """

    rows: BitRows
    n_records: int
    kinds: dict[Hashable, str]
    points: Mapping[ScorecardColumn, Integers] = field(default_factory=dict)
    signs: SignFlags = field(default_factory=lambda: SignFlags((), 0))

    def __repr__(self) -> str:
        return f"<Covers: {len(self)} rules, {self.n_records} records>"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Flags]:
        """Iterate over the rules: for each, a boolean array of the records that it covers."""
        return (bitset.unpack(row, self.n_records) for row in self.rows)

    def __getitem__(self, rules: slice) -> Covers:
        """Return the covers of some of the rules."""
        return Covers(self.rows[rules], self.n_records, self.kinds, self.points, self.signs)

    def flags(self, records: slice = slice(None)) -> Flags:
        """Return a boolean array (n_records, n_rules), of all records or of a slice that begins at a multiple of 64."""
        begin, end, _ = records.indices(self.n_records)
        flags = bitset.unpack(self.rows[:, begin // 64 : bitset.n_words(end)], end - begin)
        return np.ascontiguousarray(flags.T)  # most results are computed record by record

    @property
    def depth(self) -> Integers:
        """The number of rules that cover each record."""
        depth = np.zeros(self.n_records, np.int64)
        for covered in self:
            depth += covered
        return depth

    @property
    def any_rule(self) -> BitRows:
        """The records that at least one of the rules covers, as one row of bits."""
        return np.asarray(np.bitwise_or.reduce(self.rows, axis=0, initial=np.uint64(0)))

    def blocks(self) -> Iterator[tuple[slice, Flags, Integers]]:
        """Iterate over blocks of records: the slice, the combinations of covering rules, and that of each record."""
        size = max(64, _BLOCK // (len(self) + 1) // 64 * 64)
        for begin in range(0, self.n_records, size):
            records = slice(begin, min(begin + size, self.n_records))
            yield records, *bitset.distinct_rows(self.flags(records))


def expected_kinds(rules: Iterable[Rule], kinds: Mapping[Hashable, str]) -> dict[Hashable, str]:
    """Return the type as which to read each column: its type in training, or else what the conditions on it need."""
    needed: dict[Hashable, set[str]] = {}
    for condition in plain_conditions(rules):
        needed.setdefault(condition.column, set()).add(condition.expected)
    return {name: _expected_kind(kinds.get(name, ""), some) for name, some in needed.items()}


def _expected_kind(kind: str, needed: set[str]) -> str:
    if kind not in ("", EMPTY):
        return kind
    compared = needed - {"", VALUES, ANY}
    if len(compared) < 2:
        return next((one for one in (*compared, VALUES, "") if one in needed), ANY)
    return ""  # some condition cannot be evaluated, and its error is the clearest


class CoverPlan:
    """What is needed of some rules to find their covers; a rule set computes it once.

    Parameters
    ----------
    rules : the rules
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.n_rules = len(rules)
        self.scorecards = scorecards_of(rules)
        # The derived columns that rules follow and those that they test.
        self.followed = list(dict.fromkeys(pair[0] for rule in rules if (pair := followed_column(rule.conditions))))
        positions: dict[Condition, list[int]] = {}
        for j, rule in enumerate(rules):
            for condition in rule.conditions:
                positions.setdefault(condition, []).append(j)
        self.tested = [one.column for one in positions if isinstance(one.column, ScorecardColumn)]
        # For each column its conditions, each with the positions of the rules that have it; derived columns last.
        self.by_column: dict[Hashable, list[tuple[Condition, list[int]]]] = {}
        for condition in dict.fromkeys([*plain_conditions(rules), *positions]):
            self.by_column.setdefault(condition.column, []).append((condition, positions.get(condition, [])))


def find_covers(plan: CoverPlan, table: Table, expected: Mapping[Hashable, str]) -> Covers:
    """Find which of some rules cover which records of a table. Each column is decoded once.

    Parameters
    ----------
    plan, table : the rules and the records
    expected : the type as which to read each column, see :attr:`RuleSet.expected_kinds`
    """
    all_records = bitset.pack(np.ones(table.n_records, np.bool_)).astype("<u8", copy=False)
    rows = np.tile(all_records, (plan.n_rules, 1))
    octets = rows.view(np.uint8)[:, : -(-table.n_records // 8)]
    points, signs = PointSums(plan.tested), SignFlags(plan.scorecards, table.n_records)
    found: dict[Hashable, str] = {}
    for name, conditions in plan.by_column.items():
        if isinstance(name, ScorecardColumn):
            column = points.column(name)
        else:
            column = table.column(name, expected[name])
            found[name] = column.kind
        for condition, positions in conditions:
            holds = condition.holds(column)
            packed = np.packbits(holds, bitorder="little")  # faster than bitset.pack
            if plan.scorecards:
                points.add(condition, holds)
                signs.add(condition, packed, column)
            if positions:
                octets[positions] &= packed
    levels = {column: points.column(column).values.astype(np.int64) for column in plan.followed}
    return Covers(rows.astype(np.uint64, copy=False), table.n_records, found, levels, signs)


class CoveringRules(NamedTuple):
    """The rules that cover each record.

    Parameters
    ----------
    numbers : the printed numbers of the covering rules of each record
    agreement : whether two or more of them have the same label
    contradiction : whether two or more of them have different labels
    """

    numbers: list[list[int]]
    agreement: list[bool]
    contradiction: list[bool]


def overlap_kinds(covers: Covers, labels: Sequence[Any]) -> tuple[Flags, Flags]:
    """Return which records two or more rules of one label cover, and which records rules of different labels cover."""
    agreement = np.zeros(covers.n_records, np.bool_)
    n_labels = np.zeros(covers.n_records, np.int64)
    for label in dict.fromkeys(labels):
        own = Covers(covers.rows[[one == label for one in labels]], covers.n_records, {})
        depth = own.depth
        agreement |= depth > 1
        n_labels += depth > 0
    return agreement, n_labels > 1


def covering_groups(flags: Flags) -> tuple[list[Integers], Integers]:
    """Return the combinations of covering rules that occur, as positions, and which of them each record has."""
    patterns, which = bitset.distinct_rows(flags)
    return [np.flatnonzero(row) for row in patterns], which


@dataclass(frozen=True, eq=False)
class Answers:
    """The result of applying a rule set to a table.

    Parameters
    ----------
    rule_set : the rules
    all_covers : which rules and which fallback rules cover which records
    deciding : the deciding rule of each record, a position in ``rule_set.all_rules``, or -1. -1 means the default
        label, or, if class counts are added up, also that no covering rule has the label that wins
    labels : the label of each record, a position in ``rule_set.classes``
    """

    rule_set: RuleSet
    all_covers: Covers
    deciding: Integers
    labels: Integers

    def __repr__(self) -> str:
        return f"<Answers: {self.all_covers.n_records} records, rule set {self.rule_set!r}>"

    @property
    def covers(self) -> Covers:
        """Which rules cover which records, without fallback rules."""
        return self.all_covers[: len(self.rule_set.rules)]

    @cached_property
    def depth(self) -> Integers:
        """The number of rules that cover each record, without fallback rules."""
        return self.covers.depth

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``rule_set.classes``: an array (n_records, n_classes)."""
        shares = self.rule_set.rule_probabilities[self.deciding]
        if self.rule_set.follows_points:
            for j, rule in enumerate(self.rule_set.all_rules):
                if rule.points_table is not None:
                    records = self.deciding == j
                    points = self.all_covers.points[rule.points_table.column][records]
                    shares[records] = rule.points_table.probabilities(points)
        if self.rule_set.adds_counts:
            evidence = self.rule_set.evidence
            for records, patterns, which in self.covers.blocks():
                combined = evidence.shares(patterns @ evidence.counts)
                covered = np.asarray(patterns.any(axis=1))[which]
                shares[records][covered] = combined[which[covered]]
        return np.asarray(shares)

    def predictions(self) -> NDArray[Any]:
        """Return the label of each record."""
        classes = np.empty(len(self.rule_set.classes), object)
        classes[:] = self.rule_set.classes
        return np.asarray(classes[self.labels])

    def reasons(self) -> list[str]:
        """Return the reason for the label of each record, one sentence each, with the points that were tested."""
        reasons = self.deciders()
        if self.rule_set.scorecards:
            reasons += points_texts(self.all_covers.signs, self.rule_set.scorecards, *self.points_groups())
        if not self.rule_set.adds_counts:
            reasons += self._other_rules()
        return list(reasons)

    def _other_rules(self) -> NDArray[Any]:
        """Return for each record the text about the covering rules beside the deciding one; empty without any."""
        texts = np.full(self.covers.n_records, "", object)
        for records, patterns, which in self.covers.blocks():
            several = np.flatnonzero(np.asarray(patterns.sum(axis=1) > 1)[which])
            pairs = np.stack([which[several], self.deciding[records][several]], axis=1)
            distinct, number = np.unique(pairs, axis=0, return_inverse=True)
            some = [other_rules_text(self.rule_set, np.flatnonzero(patterns[k]).tolist(), j) for k, j in distinct]
            texts[records][several] = np.array(some, object)[number.reshape(-1)]
        return texts

    def deciders(self) -> NDArray[Any]:
        """Return for each record the text of what decides its label: the rule, several rules, or the default label."""
        reasons = np.array(reasons_by_rule(self.rule_set), object)[self.deciding]
        if self.rule_set.adds_counts:
            for records, patterns, which in self.covers.blocks():
                labels = self.rule_set.decision.winners(patterns).tolist()
                sentences = np.array(
                    [
                        reason_of_counts(self.rule_set, np.flatnonzero(row).tolist(), k)
                        for row, k in zip(patterns, labels, strict=True)
                    ],
                    object,
                )
                covered = np.asarray(patterns.any(axis=1))[which]
                reasons[records][covered] = sentences[which[covered]]
        return np.asarray(reasons)

    def points_groups(self) -> tuple[list[tuple[str, Columns]], Integers]:
        """Return the groups of records whose reasons name the same columns of scorecards, and that of each record.

        They are the columns that the deciding rules test; if no rule decides, those that any rule tests. The text in
        front of the points is part of the group.
        """
        rules = self.rule_set.all_rules
        groups = [*((": ", tested_columns([rule])) for rule in rules), ("; ", tested_columns(rules))]
        group = np.where(self.deciding < 0, len(rules), self.deciding)
        if self.rule_set.adds_counts:
            for records, patterns, which in self.covers.blocks():
                covered = np.asarray(patterns.any(axis=1))[which]
                group[records][covered] = len(groups) + which[covered]
                groups += [("; ", tested_columns([rules[j] for j in np.flatnonzero(row)])) for row in patterns]
        return groups, group

    def covering_rules(self) -> CoveringRules:
        """Return the covering rules of each record, and whether their labels agree."""
        labels = [rule.label for rule in self.rule_set.rules]
        numbers: list[list[int]] = []
        for _, patterns, which in self.covers.blocks():
            groups = [np.flatnonzero(row).tolist() for row in patterns]
            numbers += [[j + 1 for j in groups[k]] for k in which.tolist()]
        agreement, contradiction = overlap_kinds(self.covers, labels)
        return CoveringRules(numbers, agreement.tolist(), contradiction.tolist())


def no_answers(rule_set: RuleSet) -> Answers:
    """Return the result for a table without records."""
    empty = np.zeros(0, np.int64)
    tables = [rule.points_table for rule in rule_set.all_rules if rule.points_table is not None]
    points = {table.column: empty for table in tables}
    covers = Covers(np.zeros((len(rule_set.all_rules), 0), np.uint64), 0, {}, points)
    return Answers(rule_set, covers, empty, empty)


def table_for(rule_set: RuleSet, X: Any) -> Table:
    """Return a table in which the codes of a rule set for missing values are missing values."""
    return as_table(X).with_codes(dict(rule_set.missing_values))


def answer(rule_set: RuleSet, X: Any) -> Answers:
    """Find which rules cover each record of a table, which rule decides, and which label the record gets."""
    covers = find_covers(rule_set.cover_plan, table_for(rule_set, X), rule_set.expected_kinds)
    n_rules = len(rule_set.rules)
    deciding = np.full(covers.n_records, -1, np.int64)
    winners = None
    decision = None if callable(rule_set.conflict) else rule_set.decision
    undecided = np.full(covers.rows.shape[1], np.iinfo(np.uint64).max)
    if decision is not None and decision.ballots is None:
        undecided = _decide_in_order(covers, decision.order.tolist(), undecided, deciding)
    else:
        winners = _decide_by_combination(rule_set, decision, covers[:n_rules], deciding)
        undecided = ~covers[:n_rules].any_rule
    _decide_in_order(covers, range(n_rules, len(covers)), undecided, deciding)
    labels = rule_set.labels_of(deciding)
    return Answers(rule_set, covers, deciding, labels if winners is None else np.where(winners < 0, labels, winners))


def _decide_in_order(covers: Covers, order: Iterable[int], undecided: BitRows, deciding: Integers) -> BitRows:
    """Set the first covering rule in the order for each undecided record; return the records that no rule covers."""
    for j in order:
        decided = covers.rows[j] & undecided
        if decided.any():
            deciding[bitset.unpack(decided, covers.n_records)] = j
            undecided = undecided & ~decided
    return undecided


def _decide_by_combination(
    rule_set: RuleSet, decision: Decision | None, covers: Covers, deciding: Integers
) -> Integers | None:
    """Set the deciding rule of each record from all its covering rules; without a decision, by the user's function.

    If class counts are added up, returns the label that wins for each record, -1 if no rule covers it: this label need
    not be the label of any rule.
    """
    winners = np.full(covers.n_records, -1, np.int64) if rule_set.adds_counts else None
    for records, patterns, which in covers.blocks():
        if decision is None:
            chosen = np.array([_choose(rule_set, np.flatnonzero(row)) for row in patterns], np.int64)
        else:
            chosen = decision.deciding_rules(patterns)
        deciding[records] = chosen[which]
        if winners is not None and decision is not None:
            winners[records] = np.where(patterns.any(axis=1), decision.winners(patterns), -1)[which]
    return winners


def _choose(rule_set: RuleSet, covering: Integers) -> int:
    """Return which of the covering rules decides according to the user's function."""
    if covering.size < 2:
        return int(covering[0]) if covering.size else -1
    assert callable(rule_set.conflict)
    candidates = tuple(rule_set.rules[j] for j in covering)
    chosen = rule_set.conflict(candidates)
    if chosen not in candidates:
        raise ValueError(f"conflict returned {chosen!r}, expected one of the covering rules it was given")
    return int(covering[candidates.index(chosen)])
