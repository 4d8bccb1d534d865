"""What a rule set answers for the records of a table: one pass that decodes each column once.

The pass keeps packed bits, one for each rule and record. All else is computed from these bits without reading the
table again; where whole rows of flags are needed, some records at a time, so that many rules on many records fit into
memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import BitRows, Flags, Integers
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets.model._text import rule_sentences, sentence_of_group

if TYPE_CHECKING:
    from diverse_rule_sets.model._conditions import Condition
    from diverse_rule_sets.model._decision import Decision
    from diverse_rule_sets.model._rules import Rule, RuleSet

# Records times rules that are unpacked at a time.
_BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Covers:
    """Which of some rules cover which records of a table.

    Parameters
    ----------
    rows : a row of packed bits for each rule, see :mod:`diverse_rule_sets._bits.bitset`
    n_records : how many records the table has
    kinds : the kind of each column that was read, in the order of first use
    """

    rows: BitRows
    n_records: int
    kinds: dict[Hashable, str]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Flags]:
        """Give for each rule which records it covers."""
        return (bitset.unpack(row, self.n_records) for row in self.rows)

    def __getitem__(self, rules: slice) -> Covers:
        """Return the covers of some of the rules."""
        return Covers(self.rows[rules], self.n_records, self.kinds)

    def flags(self, records: slice = slice(None)) -> Flags:
        """Return an array (n_records, n_rules), of all records or of some that begin at a multiple of 64."""
        begin, end, _ = records.indices(self.n_records)
        flags = bitset.unpack(self.rows[:, begin // 64 : bitset.n_words(end)], end - begin)
        return np.ascontiguousarray(flags.T)  # most is computed record by record

    @property
    def depth(self) -> Integers:
        """How many of the rules cover each record."""
        depth = np.zeros(self.n_records, np.int64)
        for covered in self:
            depth += covered
        return depth

    @property
    def any_rule(self) -> BitRows:
        """The records that some of the rules cover, as one row of bits."""
        return np.asarray(np.bitwise_or.reduce(self.rows, axis=0, initial=np.uint64(0)))

    def blocks(self) -> Iterator[tuple[slice, Flags, Integers]]:
        """Give the records block by block: which records, and their :func:`combinations` of rules."""
        size = max(64, _BLOCK // (len(self) + 1) // 64 * 64)
        for begin in range(0, self.n_records, size):
            records = slice(begin, min(begin + size, self.n_records))
            yield records, *combinations(self.flags(records))


def find_covers(rules: Sequence[Rule], table: Table) -> Covers:
    """Find which of some rules cover which records of a table. Each column is decoded once."""
    everything = bitset.pack(np.ones(table.n_records, np.bool_)).astype("<u8", copy=False)
    rows = np.tile(everything, (len(rules), 1))
    octets = rows.view(np.uint8)[:, : -(-table.n_records // 8)]
    by_column: dict[Hashable, dict[Condition, list[int]]] = {}
    for j, rule in enumerate(rules):
        for condition in rule.conditions:
            by_column.setdefault(condition.column, {}).setdefault(condition, []).append(j)
    kinds = {}
    for name, conditions in by_column.items():
        column = table.column(name)
        kinds[name] = column.kind
        for condition, where in conditions.items():
            octets[where] &= np.packbits(condition.holds(column), bitorder="little")  # faster than bitset.pack
    return Covers(rows.astype(np.uint64, copy=False), table.n_records, kinds)


def combinations(flags: Flags) -> tuple[Flags, Integers]:
    """Return the distinct rows of an array (n_records, n_rules), mostly few, and which of them each record has."""
    if not flags.shape[1]:
        return flags[:1], np.zeros(len(flags), np.int64)
    packed = np.ascontiguousarray(np.packbits(flags, axis=1))
    whole = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)  # a row as one value sorts faster
    _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    return flags[first], which.reshape(-1)


def covering_groups(fired: Flags) -> tuple[list[Integers], Integers]:
    """Return the combinations of rules that occur, as positions, and which of them each record has."""
    patterns, which = combinations(fired)
    return [np.flatnonzero(row) for row in patterns], which


@dataclass(frozen=True, eq=False)
class Answers:
    """What a rule set answers for each record of a table.

    Parameters
    ----------
    rule_set : the rules
    all_covers : which rules and which fallback rules cover which records
    deciding : the rule that decides, a position in ``rule_set.all_rules``, or -1. That is the default label, or, where
        class counts are added up, also that no covering rule has the label that wins
    labels : the label, a position in ``rule_set.classes``
    """

    rule_set: RuleSet
    all_covers: Covers
    deciding: Integers
    labels: Integers

    @property
    def covers(self) -> Covers:
        """Which rules cover which records, without fallback rules."""
        return self.all_covers[: len(self.rule_set.rules)]

    @cached_property
    def depth(self) -> Integers:
        """How many rules cover each record, without fallback rules."""
        return self.covers.depth

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each class, in the order of ``rule_set.classes``: an array (n_records, n_classes)."""
        shares = self.rule_set.rule_probabilities[self.deciding]
        if self.rule_set.adds_counts:
            evidence = self.rule_set.evidence
            for records, patterns, which in self.covers.blocks():
                together = evidence.shares(patterns @ evidence.counts)
                covered = np.asarray(patterns.any(axis=1))[which]
                shares[records][covered] = together[which[covered]]
        return np.asarray(shares)

    def predictions(self) -> NDArray[Any]:
        """Return the label of each record."""
        classes = np.empty(len(self.rule_set.classes), object)
        classes[:] = self.rule_set.classes
        return np.asarray(classes[self.labels])

    def reasons(self) -> list[str]:
        """Say for each record in one sentence why it gets its label."""
        reasons = np.array(rule_sentences(self.rule_set), object)[self.deciding]
        if self.rule_set.adds_counts:
            for records, patterns, which in self.covers.blocks():
                labels = self.rule_set.decision.winners(patterns).tolist()
                sentences = np.array(
                    [
                        sentence_of_group(self.rule_set, np.flatnonzero(row).tolist(), k)
                        for row, k in zip(patterns, labels, strict=True)
                    ],
                    object,
                )
                covered = np.asarray(patterns.any(axis=1))[which]
                reasons[records][covered] = sentences[which[covered]]
        return list(reasons)

    def covering_rules(self) -> tuple[list[list[int]], list[bool]]:
        """Return for each record the numbers of its rules, as printed, and whether these name different labels."""
        labels = [rule.label for rule in self.rule_set.rules]
        numbers: list[list[int]] = []
        contradictions: list[bool] = []
        for _, patterns, which in self.covers.blocks():
            groups = [np.flatnonzero(row).tolist() for row in patterns]
            differ = np.array([len({labels[j] for j in group}) > 1 for group in groups], np.bool_)
            numbers += [[j + 1 for j in groups[k]] for k in which.tolist()]
            contradictions += differ[which].tolist()
        return numbers, contradictions


def no_answers(rule_set: RuleSet) -> Answers:
    """Return the answers for a table without records."""
    none = np.zeros(0, np.int64)
    return Answers(rule_set, Covers(np.zeros((len(rule_set.all_rules), 0), np.uint64), 0, {}), none, none)


def answer(rule_set: RuleSet, X: Any) -> Answers:
    """Find which rules cover each record of a table, which one decides, and which label the record gets."""
    covers = find_covers(rule_set.all_rules, as_table(X))
    n_rules = len(rule_set.rules)
    deciding = np.full(covers.n_records, -1, np.int64)
    winners = None
    decision = None if callable(rule_set.conflict) else rule_set.decision
    left = np.full(covers.rows.shape[1], np.iinfo(np.uint64).max)
    if decision is not None and decision.ballots is None:
        left = _decide_in_order(covers, decision.order.tolist(), left, deciding)
    else:
        winners = _decide_by_combination(rule_set, decision, covers[:n_rules], deciding)
        left = ~covers[:n_rules].any_rule
    _decide_in_order(covers, range(n_rules, len(covers)), left, deciding)
    labels = rule_set.labels_of(deciding)
    return Answers(rule_set, covers, deciding, labels if winners is None else np.where(winners < 0, labels, winners))


def _decide_in_order(covers: Covers, order: Iterable[int], left: BitRows, deciding: Integers) -> BitRows:
    """Let the first rule in the order decide for each record that is left; return the records that none covers."""
    for j in order:
        decided = covers.rows[j] & left
        if decided.any():
            deciding[bitset.unpack(decided, covers.n_records)] = j
            left = left & ~decided
    return left


def _decide_by_combination(
    rule_set: RuleSet, decision: Decision | None, covers: Covers, deciding: Integers
) -> Integers | None:
    """Let all covering rules of a record decide together, or the user's function if there is no decision.

    Returns the label that wins where class counts are added up, -1 where no rule covers the record: that label need not
    be the label of any rule.
    """
    winners = np.full(covers.n_records, -1, np.int64) if rule_set.adds_counts else None
    for records, patterns, which in covers.blocks():
        if decision is None:
            chosen = np.array([_choose(rule_set, np.flatnonzero(row)) for row in patterns], np.int64)
        else:
            chosen = decision.deciding(patterns)
        deciding[records] = chosen[which]
        if winners is not None and decision is not None:
            winners[records] = np.where(patterns.any(axis=1), decision.winners(patterns), -1)[which]
    return winners


def _choose(rule_set: RuleSet, covering: Integers) -> int:
    """Return which of the covering rules decides, by the user's function."""
    if covering.size < 2:
        return int(covering[0]) if covering.size else -1
    assert callable(rule_set.conflict)
    offered = tuple(rule_set.rules[j] for j in covering)
    chosen = rule_set.conflict(offered)
    if chosen not in offered:
        raise ValueError(f"conflict returned {chosen!r}, expected one of the covering rules it was given")
    return int(covering[offered.index(chosen)])
