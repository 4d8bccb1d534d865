"""The summary of a rule set on a table that is read in batches: all figures, and columns of some of the records."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np

from diverse_rule_sets._input.labels import as_labels
from diverse_rule_sets._input.tables import Table, as_table
from diverse_rule_sets._util.frames import join_frames, take_rows
from diverse_rule_sets.model._answers import Answers, table_for
from diverse_rule_sets.model._batches import answer_batch, batches_for, join_answers
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.report._summary import Integers, Summary
from diverse_rule_sets.sources._source import Source, check_target
from diverse_rule_sets.sources._weights import with_weights

# Number of records whose columns are kept, besides those that are shown.
_N_KEPT = 10_000


def summarise_batches(
    rule_set: RuleSet, answer: Callable[[Any], Answers], source: Source, y: Any, sample_weight: Any = None
) -> Summary:
    """Return the summary of a rule set on a source, which is read once; the page reads some records again.

    Parameters
    ----------
    rule_set : the rules
    answer : function that applies them to a batch
    source, y : the records, and the column with their labels
    sample_weight : the column with their weights; None if they have none
    """
    check_target(y, source)
    weighted = with_weights(source, sample_weight, y)
    labelled = weighted.source.with_labels(y)
    answers: list[Answers] = []
    codes: list[Integers] = []
    for batch in batches_for(rule_set, labelled, [y]):
        answers.append(answer_batch(batch, answer))
        table = as_table(batch.frame)
        codes.append(as_labels(table.native(y), rule_set.classes, table.n_records))
    if not answers:
        raise ValueError(f"{source.name} has no records")
    n_records = sum(part.size for part in codes)
    names = [name for name in labelled.names if name != y]
    table = _Unread(names, n_records)
    kept = _Kept(rule_set, labelled, names, n_records)
    known = np.concatenate(codes), join_answers(answers), kept
    return Summary(rule_set, table, *known, weights=weighted.weights, rows=weighted.records)


class _Unread(Table):
    """A table of which only the names and the number of records are known."""

    def __init__(self, names: list[Hashable], n_records: int) -> None:
        super().__init__(names, n_records, None, named=True)

    def column(self, name: Hashable, expected: str = "") -> Any:
        """Raise an error: the columns of a table that is read in batches are not in memory."""
        raise TypeError(
            f"the column {name!r} cannot be shown, because X is read in batches; give a part of the records"
        )


class _Kept:
    """Reads some records of a source, and a sample of the others."""

    def __init__(self, rule_set: RuleSet, source: Source, names: list[Hashable], n_records: int) -> None:
        self._rule_set, self._source, self._names, self._n_records = rule_set, source, names, n_records

    def __call__(self, records: Integers) -> tuple[Table, Integers]:
        """Return a table with the given records and a sample, and the positions of the given ones in it."""
        spread = np.linspace(0, self._n_records - 1, min(_N_KEPT, self._n_records)).astype(np.int64)
        wanted = np.union1d(records, spread)
        frame = join_frames(self._frames(wanted))
        table = table_for(self._rule_set, as_table(frame).select(self._names)).with_cache()
        return table, np.searchsorted(wanted, records)

    def _frames(self, wanted: Integers) -> Iterator[Any]:
        begin = 0
        for batch in batches_for(self._rule_set, self._source, every=True):
            end = begin + len(batch.frame)
            inside = wanted[(wanted >= begin) & (wanted < end)] - begin
            begin = end
            if inside.size:
                yield take_rows(batch.frame, inside.tolist())
