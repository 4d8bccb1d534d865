"""ClusterTable: a table whose parts are read by the workers of a cluster, and the passes over it.

How tasks are sent is hidden behind :class:`Tasks`, of which :mod:`._dask` has the implementation.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Integers, n_words
from diverse_rule_sets._input.checks import warn
from diverse_rule_sets._util.progress import OnProgress, Progress
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.data._parts import (
    PackPlan,
    PartPlan,
    PartScan,
    make_shard,
    merge_scans,
    pack_part,
    scan_part,
    sizes_of,
)
from diverse_rule_sets.data._remote import RemoteBackend, Shape
from diverse_rule_sets.data._scan import settled_codes
from diverse_rule_sets.data._session import Session
from diverse_rule_sets.data._shard import Message, Shard, combine
from diverse_rule_sets.data._summary_table import SummaryTable
from diverse_rule_sets.sources._source import Source

# Number of results that one task puts together.
_FAN_IN = 8


class Traffic:
    """What travelled between this process and the workers during a fit.

    Attributes
    ----------
    n_round_trips : number of times that this process waited for an answer
    n_sent, n_received : bytes of messages and plans, and of answers
    seconds : time of waiting
    """

    def __init__(self) -> None:
        self.n_round_trips = self.n_sent = self.n_received = 0
        self.seconds = 0.0

    def __str__(self) -> str:
        """Return the numbers as text."""
        return (
            f"{self.n_round_trips:,} round trips, {self.n_sent / 1e6:,.1f} MB sent, {self.n_received / 1e6:,.1f} MB "
            f"received, {self.seconds:.1f} s of waiting"
        )


class Tasks(Protocol):
    """Runs functions on workers. A task is a handle of a result that stays with the workers."""

    traffic: Traffic

    @property
    def n_workers(self) -> int:
        """Number of workers."""

    @property
    def n_threads(self) -> int:
        """Number of threads of the worker with the fewest."""

    def of_parts(self, name: str, function: Callable[..., Any], content: Any) -> list[Any]:
        """Start ``function(source, content, number)`` for each part of the table; return a task for each."""

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, worker: int | None = None) -> Any:
        """Start a function of arguments, some of which are tasks; ``worker`` is the number of the preferred worker."""

    def result(self, task: Any) -> Any:
        """Wait for a task, which returns bytes, and return them; one round trip."""

    def close(self) -> None:
        """Free everything that the workers keep."""


class PartTable(NamedTuple):
    """What a fit on a cluster knows after the first pass.

    Parameters
    ----------
    table : the summaries of the columns
    classes : the sorted labels
    totals : number of records of each class
    """

    table: ClusterTable
    classes: NDArray[Any]
    totals: Integers


def scan_on_cluster(
    tasks: Tasks, target: Hashable, missing_values: Any, on_progress: OnProgress | None = None
) -> PartTable:
    """Read all parts once, and again only where a column has very many values."""
    _report(on_progress, "reading", tasks)
    found: PartScan = _merged(tasks, PartPlan(target, missing_values))
    for message in found.warnings:
        warn(message)
    classes, order = found.labels.finish_classes(sum(found.sizes))
    while True:
        finer = {name: one for name, summary in found.summaries.items() if (one := summary.finer()) is not None}
        if not finer:
            break
        _report(on_progress, "reading again", tasks)
        templates = {name: one.for_part() for name, one in finer.items()}
        again: PartScan = _merged(tasks, PartPlan(target, missing_values, found.codes, templates))
        mapping = found.labels.merge(again.labels)
        for name, one in finer.items():
            one.merge(again.summaries[name], mapping)
    codes = settled_codes(found.names, found.codes, missing_values)
    totals = found.table_of_totals(order)
    table = ClusterTable(tasks, found, order, codes, target, classes, totals, on_progress)
    return PartTable(table, classes, totals.sum(axis=0))


def _merged(tasks: Tasks, plan: PartPlan) -> Any:
    """Return the merged scans of all parts, which are merged on the workers."""
    waiting = tasks.of_parts("summarise", _scan_part, plan)
    while len(waiting) > 1:
        groups = [waiting[j : j + _FAN_IN] for j in range(0, len(waiting), _FAN_IN)]
        waiting = [tasks.submit("merge", merge_scans, group) for group in groups]
    return pickle.loads(tasks.result(tasks.submit("summaries", pickle.dumps, waiting[0])))


def _scan_part(source: Source, plan: PartPlan, _: int) -> PartScan:
    return scan_part(source, plan)


def _report(on_progress: OnProgress | None, stage: str, tasks: Tasks) -> None:
    if on_progress is not None:
        on_progress(Progress(stage, detail=f"on {tasks.n_workers} workers"))


class ClusterTable(SummaryTable):
    """The summaries of the columns of a table whose parts are read by workers.

    Parameters
    ----------
    tasks : runs functions on workers
    found : the first pass over all parts
    order : the final number of each class of the summaries
    codes : the codes for missing values of each column
    target : the column that holds the labels
    classes : the sorted labels
    totals : array (n_parts, n_classes), number of records
    on_progress : function that is called during the second pass
    """

    def __init__(
        self,
        tasks: Tasks,
        found: PartScan,
        order: Integers,
        codes: Mapping[Hashable, tuple[Any, ...]],
        target: Hashable,
        classes: NDArray[Any],
        totals: Integers,
        on_progress: OnProgress | None,
    ) -> None:
        n_records, objects = sum(found.sizes), frozenset(found.objects)
        super().__init__(found.names, n_records, found.summaries, order, codes, objects, lambda _: iter(()))
        self.tasks = tasks
        self._target, self._class_labels, self._totals, self._on_progress = target, classes, totals, on_progress

    def backend(self, encoder: Encoder, n_threads: int) -> RemoteBackend:
        """Return the backend of all records, whose bits the workers keep; constant items leave the encoder."""
        _report(self._on_progress, "packing", self.tasks)
        self.forget(encoder.given_conditions.columns)
        tasks, n_classes = self.tasks, self._class_labels.size
        plan = PackPlan(encoder.for_transform(), self._target, self._class_labels, self.codes, self._totals)
        packed = tasks.of_parts("pack", pack_part, plan)
        sizes = self._sum_of_sizes(packed)
        kept = (sizes > 0) & (sizes < self.n_records)
        encoder.keep(kept)
        shards, first_word = [], 0
        for number, parts in enumerate(self._groups()):
            n = int(self._totals[parts].sum())
            arguments = kept, encoder.n_given, n_classes, min(n_threads, tasks.n_threads), first_word, number
            own = [packed[part] for part in parts]
            shards.append(tasks.submit("shard", make_shard, own, *arguments, worker=number))
            first_word += n_words(n)
        shape = Shape(int(kept.sum()), n_classes, encoder.n_given)
        return RemoteBackend(Session(_Sender(tasks, shards)), shape)

    def _sum_of_sizes(self, packed: Sequence[Any]) -> Integers:
        """Return the number of records of each item."""
        waiting = [self.tasks.submit("size", sizes_of, one) for one in packed]
        while len(waiting) > 1:
            groups = [waiting[j : j + _FAN_IN] for j in range(0, len(waiting), _FAN_IN)]
            waiting = [self.tasks.submit("add", _added, group) for group in groups]
        found: Integers = pickle.loads(self.tasks.result(self.tasks.submit("sizes", pickle.dumps, waiting[0])))
        return found

    def _groups(self) -> list[list[int]]:
        """Return the parts of each shard: consecutive parts with about as many records for each worker."""
        ends = list(accumulate(self._totals.sum(axis=1).tolist()))
        n_shards = max(1, min(self.tasks.n_workers, len(ends)))
        middles = [(end + begin) / 2 for begin, end in zip([0, *ends], ends, strict=False)]
        owners = [min(int(middle * n_shards / max(ends[-1], 1)), n_shards - 1) for middle in middles]
        groups = [[part for part, owner in enumerate(owners) if owner == k] for k in range(n_shards)]
        return [group for group in groups if group]


def _added(parts: Sequence[Integers]) -> Integers:
    return np.sum(parts, axis=0, dtype=np.int64)


class _Sender:
    """Sends messages to all shards; their answers are combined on the workers.

    Parameters
    ----------
    tasks : runs functions on workers
    shards : the task of each shard
    """

    def __init__(self, tasks: Tasks, shards: Sequence[Any]) -> None:
        self._tasks, self._shards = tasks, shards

    def __call__(self, message: Message) -> list[Any] | None:
        content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._tasks.traffic.n_sent += len(content) * len(self._shards)
        name = f"count-{message.questions[0].operation.replace('_', '-')}" if message.questions else "count"
        names = [question.combination for question in message.questions]
        waiting = [self._tasks.submit(name, _answer, shard, content, worker=k) for k, shard in enumerate(self._shards)]
        while len(waiting) > 1:
            groups = [waiting[j : j + _FAN_IN] for j in range(0, len(waiting), _FAN_IN)]
            waiting = [self._tasks.submit("combine", _combine, names, group) for group in groups]
        answers: list[Any] | None = pickle.loads(self._tasks.result(waiting[0]))
        return answers


def _answer(shard: Shard, content: bytes) -> bytes:
    """Return the answers of a shard to a message."""
    return pickle.dumps(shard.answer(pickle.loads(content)), pickle.HIGHEST_PROTOCOL)


def _combine(names: Sequence[str], parts: Sequence[bytes]) -> bytes:
    """Return the answers of several shards together."""
    return pickle.dumps(combine(names, [pickle.loads(part) for part in parts]), pickle.HIGHEST_PROTOCOL)
