"""One shard of a backend that is divided over processes: values by number, and answers to messages.

A :class:`Shard` holds a backend of some of the records. Another process knows its covers by numbers only: it sends
*definitions*, each of which says by which method of which value a new value is computed, and *questions*, whose answers
are small. A value is computed when it is first needed, and is kept until it is dropped. A shard that was made anew, for
example on another machine, has no definitions; it says so, and gets all of them again.

The answers of the shards are combined as :mod:`diverse_rule_sets.data._backend` says. This module does not depend on
how messages travel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Backend, Cover, DistinctRecords, Leaders, TooManyRecordsError

# The number of the backend of all records of a shard.
ROOT = 0


class Ref(NamedTuple):
    """A value of a shard, by its number."""

    number: int


class Positions(NamedTuple):
    """Positions in a cover of all shards.

    Parameters
    ----------
    ks : the positions
    ends : for each shard, the number of positions in this shard and those before it
    """

    ks: Integers
    ends: Integers


class Own(NamedTuple):
    """The positions that lie in one shard: their numbers among all of them, and the position in the shard."""

    numbers: Integers
    ks: Integers


class Definition(NamedTuple):
    """How a value is computed: an operation on a backend of the shard, with arguments."""

    backend: int
    operation: str
    arguments: tuple[Any, ...]


class Question(NamedTuple):
    """A question to every shard: an operation on a backend, and how the answers are combined."""

    backend: int
    operation: str
    arguments: tuple[Any, ...]
    combination: str


class Message(NamedTuple):
    """What a shard is told and asked.

    Parameters
    ----------
    number : the number of this message, from 1
    is_complete : whether the definitions are all there are; otherwise those since the message before
    definitions : new values, by number
    dropped : values that are not used any more, but whose definitions others need
    forgotten : values that nothing needs any more
    questions : the questions
    """

    number: int
    is_complete: bool
    definitions: Mapping[int, Definition]
    dropped: Sequence[int]
    forgotten: Sequence[int]
    questions: Sequence[Question]


class Facts(NamedTuple):
    """What is known about some covers.

    Parameters
    ----------
    counts : array (n_covers, n_classes), number of records of each class
    fingerprints : uint64 array (n_covers,), hashes
    positions : int64 array (n_shards, n_covers), number of positions in each shard
    """

    counts: NDArray[Any]
    fingerprints: NDArray[np.uint64]
    positions: Integers


class Shard:
    """Some records, as a backend in this process; it answers messages.

    Parameters
    ----------
    backend : the records
    number : the number of the shard, from 0
    """

    def __init__(self, backend: Backend, number: int) -> None:
        self._root, self._number = backend, number
        self._lock = threading.Lock()
        self._start()

    def __getstate__(self) -> tuple[Backend, int]:
        return self._root, self._number  # a copy in another process begins without definitions

    def __setstate__(self, state: tuple[Backend, int]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def _start(self) -> None:
        self._last = 0  # the number of the last message
        self._definitions: dict[int, Definition] = {}
        self._values: dict[int, Any] = {ROOT: self._root}
        self._dropped: set[int] = set()

    @property
    def n_values(self) -> int:
        """Number of values that are kept."""
        return len(self._values)

    def answer(self, message: Message) -> list[Any] | None:
        """Return the answers of this shard; None if it does not know the definitions of earlier messages."""
        with self._lock:
            if message.is_complete:
                self._start()
            elif self._last not in (message.number - 1, message.number):  # a task may be run again
                return None
            self._last = message.number
            self._definitions |= message.definitions
            self._dropped |= set(message.dropped)
            answers = [self._computed(question)[0] for question in message.questions]
            for number in message.forgotten:
                self._definitions.pop(number, None)
                self._values.pop(number, None)
                self._dropped.discard(number)
            for number in self._dropped & self._values.keys():
                del self._values[number]
            return answers

    def _computed(self, one: Definition | Question) -> tuple[Any, Any]:
        """Return the result of an operation, and the backend."""
        self._compute_values([Ref(one.backend), *one.arguments])
        backend = self._values[one.backend]
        operation = OPERATIONS.get(one.operation)
        if operation is None:
            raise ValueError(f"the operation of a message must be one of {sorted(OPERATIONS)}, got {one.operation!r}")
        return operation(backend, *map(self._resolved, one.arguments)), backend

    def _compute_values(self, arguments: Sequence[Any]) -> None:
        """Compute the values that arguments refer to, and those that they need; without recursion, for long chains."""
        needed: set[int] = set()
        waiting = _numbers_in(arguments)
        while waiting:
            number = waiting.pop()
            if number not in self._values and number not in needed:
                needed.add(number)
                one = self._definitions[number]
                waiting += [one.backend, *_numbers_in(one.arguments)]
        for number in sorted(needed):  # a value has a larger number than those that it needs
            one = self._definitions[number]
            resolved = map(self._resolved, one.arguments)
            self._values[number] = OPERATIONS[one.operation](self._values[one.backend], *resolved)

    def _resolved(self, argument: Any) -> Any:
        """Return an argument with values in place of their numbers, and with the positions of this shard."""
        if isinstance(argument, Ref):
            return self._values[argument.number]
        if isinstance(argument, Positions):
            end = argument.ends[self._number]
            begin = argument.ends[self._number - 1] if self._number else 0
            own = np.flatnonzero((argument.ks >= begin) & (argument.ks < end))
            return Own(own, argument.ks[own] - begin)
        if isinstance(argument, list):
            return [self._resolved(one) for one in argument]
        return argument


def _numbers_in(arguments: Sequence[Any]) -> list[int]:
    """Return the numbers of the values that arguments refer to."""
    found: list[int] = []
    for one in arguments:
        if isinstance(one, Ref):
            found.append(one.number)
        elif isinstance(one, list):
            found += _numbers_in(one)
    return found


# Operations: functions of a backend of the shard and of resolved arguments


def _facts(backend: Backend, covers: Sequence[Cover]) -> Facts:
    """Return what is known about some covers in this shard."""
    counts = [backend.class_counts(cover) for cover in covers]
    sizes = [backend.n_positions(cover) for cover in covers]
    return Facts(
        np.array(counts).reshape(len(covers), backend.n_classes),
        np.array([backend.fingerprint(cover) for cover in covers], np.uint64),
        np.array([sizes], np.int64).reshape(1, len(covers)),
    )


def _facts_by_number(backend: Backend, found: Mapping[int, Cover] | Leaders) -> tuple[list[int], Facts]:
    """Return the numbers that covers are listed by, and what is known about these covers."""
    covers = found.leads if isinstance(found, Leaders) else found
    return list(covers), _facts(backend, list(covers.values()))


def _listed(backend: Backend, found: Mapping[int, Cover] | Leaders, number: int) -> Cover:
    """Return the cover that is listed by a number; the empty cover if there is none in this shard."""
    covers = found.leads if isinstance(found, Leaders) else found
    return covers.get(number, backend.nothing)


def _items_of(backend: Backend, drawn: Sequence[tuple[Cover, Own, int]]) -> tuple[Integers, Lists]:
    """Return the items of the records at some positions, and the number of each; covers come with a first number."""
    some = [(cover, own, first) for cover, own, first in drawn if own.ks.size]
    numbers = [np.zeros(0, np.int64), *(own.numbers + first for _, own, first in some)]
    return np.concatenate(numbers), backend.items_of([(cover, own.ks) for cover, own, _ in some])


def _at(name: str) -> Callable[..., Any]:
    """Return the operation of a method whose result has an entry for each position along its last axis."""

    def operation(backend: Backend, cover: Cover, own: Own) -> tuple[Integers, NDArray[Any]]:
        return own.numbers, getattr(backend, name)(cover, own.ks)

    return operation


def _contain(backend: Backend, bodies: Lists, cover: Cover, own: Own) -> tuple[Integers, Flags]:
    return own.numbers, backend.contain(bodies.take(own.numbers), cover, own.ks)


def _contain_all(backend: Backend, bodies: Lists, cover: Cover, own: Own) -> tuple[Integers, Flags]:
    return own.numbers, backend.contain_all(bodies, cover, own.ks)


def _distinct(backend: Backend, cover: Cover, most: int) -> DistinctRecords | str:
    """Return the distinct records of a cover; the text of the error if there are too many."""
    try:
        return backend.distinct(cover, most)
    except TooManyRecordsError as error:
        return str(error)


def _divide(backend: Backend, drawn: Sequence[Any]) -> tuple[Backend, Backend]:
    return backend.divide([(cover, own.ks) for cover, own in drawn])


def _method(name: str) -> Callable[..., Any]:
    def operation(backend: Backend, *arguments: Any) -> Any:
        return getattr(backend, name)(*arguments)

    return operation


_METHODS = (
    *("class_counts_of", "shared_counts", "sizes_within", "extension_counts", "extension_counts_within"),
    *("fingerprints", "cover", "of_class", "given_cover", "union", "intersection", "difference", "levels", "leaders"),
    *("with_items", "restrict"),
)
# What a message may ask for; nothing else is called.
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: _method(name) for name in _METHODS},
    "everything": lambda backend: backend.everything,
    "nothing": lambda backend: backend.nothing,
    "by_record": lambda backend: backend.by_record,
    "facts": _facts,
    "facts_by_number": _facts_by_number,
    "listed": _listed,
    "leader": lambda _, found, k: found.leaders[k],
    "pick": lambda backend, cover, own: backend.pick(cover, own.ks),
    "items_of": _items_of,
    "classes_at": _at("classes_at"),
    "weights_at": _at("weights_at"),
    "contain": _contain,
    "contain_all": _contain_all,
    "distinct": _distinct,
    "divide": _divide,
    "one_of": lambda _, pair, k: pair[k],
}


# Combinations: functions of the answers of consecutive shards, in their order


def _combined_facts(parts: Sequence[Facts]) -> Facts:
    return Facts(
        reduce(np.add, (one.counts for one in parts)),
        reduce(np.add, (one.fingerprints for one in parts)),
        np.concatenate([one.positions for one in parts]),
    )


def _combined_by_number(parts: Sequence[tuple[list[int], Facts]]) -> tuple[list[int], Facts]:
    numbers = sorted({number for found, _ in parts for number in found})
    place = {number: j for j, number in enumerate(numbers)}
    spread = []
    for found, facts in parts:
        where = [place[number] for number in found]
        counts = np.zeros((len(numbers), facts.counts.shape[1]), facts.counts.dtype)
        prints = np.zeros(len(numbers), np.uint64)
        positions = np.zeros((facts.positions.shape[0], len(numbers)), np.int64)
        counts[where], prints[where], positions[:, where] = facts
        spread.append(Facts(counts, prints, positions))
    return numbers, _combined_facts(spread)


def _combined_lists(parts: Sequence[tuple[Integers, Lists]]) -> tuple[Integers, Lists]:
    return np.concatenate([numbers for numbers, _ in parts]), Lists.concatenate([lists for _, lists in parts])


def _combined_entries(parts: Sequence[tuple[Integers, NDArray[Any]]]) -> tuple[Integers, NDArray[Any]]:
    return np.concatenate([numbers for numbers, _ in parts]), np.concatenate([found for _, found in parts], axis=-1)


def _combined_distinct(parts: Sequence[DistinctRecords | str]) -> DistinctRecords | str:
    error = next((one for one in parts if isinstance(one, str)), None)
    if error is not None:
        return error
    found = [one for one in parts if not isinstance(one, str)]
    counts = np.concatenate([one.counts for one in found])
    items, which = np.unique(np.concatenate([one.items for one in found]), axis=0, return_inverse=True)
    return DistinctRecords(items, np.bincount(which.reshape(-1), counts, minlength=len(items)).astype(counts.dtype))


COMBINATIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "sum": lambda parts: reduce(np.add, parts),
    "facts": _combined_facts,
    "facts_by_number": _combined_by_number,
    "lists": _combined_lists,
    "entries": _combined_entries,
    "distinct": _combined_distinct,
}


def combine(questions: Sequence[str], parts: Sequence[list[Any] | None]) -> list[Any] | None:
    """Return the answers of several shards together; None if one of them needs all definitions.

    Parameters
    ----------
    questions : how the answers to each question are combined
    parts : the answers of consecutive shards
    """
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return [COMBINATIONS[name]([part[j] for part in known]) for j, name in enumerate(questions)]
