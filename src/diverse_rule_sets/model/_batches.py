"""Tables that are read in batches, for the methods of a rule set and of the classifiers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import n_words, pack, unpack
from diverse_rule_sets._input.columns import EMPTY
from diverse_rule_sets.model._condition_base import plain_conditions
from diverse_rule_sets.sources._as_source import as_source
from diverse_rule_sets.sources._source import Batch, ColumnTypes, Source

if TYPE_CHECKING:
    from diverse_rule_sets.model._answers import Answers, Covers
    from diverse_rule_sets.model._rules import RuleSet


def types_for(rule_set: RuleSet) -> ColumnTypes:
    """Return how the columns of text files are read: as in training."""
    values: dict[Hashable, list[Any]] = {}
    for condition in plain_conditions(rule_set.all_rules):
        values.setdefault(condition.column, []).extend(condition.values_named)
    kinds = {name: kind for name in rule_set.columns if (kind := rule_set.kind(name))}
    texts = {name: tuple(c for c in codes if isinstance(c, str)) for name, codes in rule_set.missing_values}
    return ColumnTypes(kinds, {name: tuple(some) for name, some in values.items()}, texts)


def batches_for(
    rule_set: RuleSet, source: Source, also: Sequence[Hashable] = (), every: bool = False
) -> Iterator[Batch]:
    """Iterate over the columns that the rules read.

    Parameters
    ----------
    rule_set, source : the rules and the records
    also : further columns to read
    every : whether to read all columns
    """
    typed = source.with_types(types_for(rule_set))
    return typed.batches(None if every else frozenset([*rule_set.columns, *also]))


def answers_of(rule_set: RuleSet, X: Any, answer: Callable[[Any], Answers]) -> Iterator[Answers]:
    """Iterate over the results of a table: one, or one for each batch; an error names the file."""
    source = as_source(X)
    if source is None:
        yield answer(X)
        return
    for batch in batches_for(rule_set, source):
        yield answer_batch(batch, answer)


@contextmanager
def errors_of(origin: str) -> Iterator[None]:
    """Add the name of the file or batch to errors about its records."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise type(error)(f"{origin}: {error}") from None


def answer_batch(batch: Batch, answer: Callable[[Any], Answers]) -> Answers:
    """Return the results of a batch; an error names the file."""
    with errors_of(batch.origin):
        return answer(batch.frame)


def joined(parts: Iterable[NDArray[Any]], name: str = "X") -> NDArray[Any]:
    """Return the results of batches as one array."""
    arrays = list(parts)
    if not arrays:
        raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required: {name} has no records")
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def join_answers(parts: Sequence[Answers]) -> Answers:
    """Return the results of batches as those of one table; without the signs of single records, which reasons need."""
    from diverse_rule_sets.model._answers import Answers

    return Answers(
        parts[0].rule_set,
        join_covers([part.all_covers for part in parts]),
        np.concatenate([part.deciding for part in parts]),
        np.concatenate([part.labels for part in parts]),
    )


def join_covers(parts: Sequence[Covers]) -> Covers:
    """Return the covers in batches as those in one table; without the signs of single records."""
    from diverse_rule_sets.model._answers import Covers

    n_records = sum(one.n_records for one in parts)
    rows = np.zeros((len(parts[0]), n_words(n_records)), np.uint64)
    for j in range(len(rows)):
        rows[j] = pack(np.concatenate([unpack(one.rows[j], one.n_records) for one in parts]))
    points = {column: np.concatenate([one.points[column] for one in parts]) for column in parts[0].points}
    kinds = {name: next((k for one in parts if (k := one.kinds[name]) != EMPTY), EMPTY) for name in parts[0].kinds}
    return Covers(rows, n_records, kinds, points)
