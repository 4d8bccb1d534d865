"""RemoteBackend: records in shards of other processes, with covers as numbers.

Making a cover sends nothing. A question goes to all shards in one message, together with the definitions of all
covers that were made since the last message; the answer also has the class counts, hashes and sizes of these covers, so
that they are known when they are needed. So a round of the search takes few messages, whatever the number of records.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists
from diverse_rule_sets.data._backend import Body, DistinctRecords, Leaders, TooManyRecordsError
from diverse_rule_sets.data._session import Handle, Session, with_refs
from diverse_rule_sets.data._shard import Facts, Positions, Question


class _CoverFacts(NamedTuple):
    """What is known about a cover: class counts, hash, and number of positions in each shard."""

    counts: NDArray[Any]
    fingerprint: int
    positions: Integers


# What is known about so many covers is remembered at most.
_MAX_FACTS = 100_000


class _FactTable:
    """What is known about covers, by identity, and the covers about which nothing is known yet."""

    def __init__(self) -> None:
        self.known: dict[int, _CoverFacts] = {}
        self.unknown: weakref.WeakSet[Handle] = weakref.WeakSet()

    def add(self, covers: Sequence[Handle], facts: Facts) -> None:
        """Keep what is known about some covers."""
        if len(self.known) > _MAX_FACTS:
            self.known.clear()
        for j, cover in enumerate(covers):
            self.known[cover.identity] = _CoverFacts(facts.counts[j], int(facts.fingerprints[j]), facts.positions[:, j])
            self.unknown.discard(cover)


class Shape(NamedTuple):
    """What is known about a backend without asking: numbers of items, classes and given conditions; unit of weights."""

    n_items: int
    n_classes: int
    n_given: int
    unit: float = 1.0


class RemoteBackend:
    """Records in shards of other processes; a :class:`~diverse_rule_sets.data._backend.Backend`.

    Parameters
    ----------
    session : the messages to the shards
    shape : what is known about the backend
    handle : the value that is this backend; by default all records
    facts : what is known about covers; shared by backends with the same records and weights
    """

    def __init__(
        self, session: Session, shape: Shape, handle: Handle | None = None, facts: _FactTable | None = None
    ) -> None:
        self._session, self._shape = session, shape
        self._handle = session.root if handle is None else handle
        self._facts = _FactTable() if facts is None else facts
        self._fixed: dict[Any, Handle] = {}  # covers that are asked for again and again

    # Values and questions

    def _cover(self, operation: str, *arguments: Any) -> Handle:
        """Return a new cover."""
        cover = self._session.define(self._handle, operation, *arguments)
        if cover.identity not in self._facts.known:
            self._facts.unknown.add(cover)
        return cover

    def _fixed_cover(self, operation: str, *arguments: Any) -> Handle:
        """Return a cover that is made once."""
        key = operation, *arguments
        if key not in self._fixed:
            self._fixed[key] = self._cover(operation, *arguments)
        return self._fixed[key]

    def _ask(self, operation: str, *arguments: Any, combination: str = "sum") -> Any:
        """Return the combined answer of all shards; the same message requests what is not known about new covers."""
        number = self._handle.known.number
        covers = list(self._facts.unknown)
        questions = [Question(number, operation, with_refs(arguments), combination)]
        if covers:
            questions.append(Question(number, "facts", ([cover.ref for cover in covers],), "facts"))
        answers = self._session.ask(*questions)
        if covers:
            self._facts.add(covers, answers[1])
        return answers[0]

    def _facts_of(self, *covers: Handle) -> list[_CoverFacts]:
        """Return what is known about some covers; if it must be asked, that of all new covers is."""
        known = self._facts.known
        missing = [cover for cover in covers if cover.identity not in known]
        if missing:
            asked = list({*missing, *self._facts.unknown})
            number = self._handle.known.number
            question = Question(number, "facts", ([cover.ref for cover in asked],), "facts")
            self._facts.add(asked, self._session.ask(question)[0])
            return self._facts_of(*covers)
        return [known[cover.identity] for cover in covers]

    def _positions(self, cover: Handle, ks: Integers) -> Positions:
        return Positions(np.asarray(ks, np.int64), np.cumsum(self._facts_of(cover)[0].positions))

    # Sizes

    @property
    def n_records(self) -> Any:
        """Number of records."""
        return self.class_totals.sum().item()

    @property
    def unit(self) -> float:
        """The smallest weight that counts."""
        return self._shape.unit

    @property
    def by_record(self) -> RemoteBackend:
        """The same records, each of which counts once."""
        if "by_record" not in self.__dict__:
            shape = self._shape._replace(unit=1.0)
            self.__dict__["by_record"] = RemoteBackend(
                self._session, shape, self._session.define(self._handle, "by_record")
            )
        return self.__dict__["by_record"]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self._shape.n_items

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self._shape.n_classes

    @property
    def class_totals(self) -> Any:
        """Number of records of each class."""
        return self._facts_of(self.everything)[0].counts.copy()

    # Counts

    def class_counts_of(self, bodies: Lists, within: Handle | None = None) -> Any:
        """Count the records of each class that each body covers, among all records or within a cover."""
        return self._ask("class_counts_of", bodies, within)

    def class_counts(self, cover: Handle) -> Any:
        """Count the records of each class in a cover."""
        return self._facts_of(cover)[0].counts.copy()

    def shared_counts(self, bodies: Lists, covers: Sequence[Handle]) -> Any:
        """Count the records that each body shares with each cover."""
        return self._ask("shared_counts", bodies, list(covers))

    def class_counts_within(self, covers: Sequence[Handle], within: Handle) -> Any:
        """Count the records of each class of several covers that lie within another one."""
        if not len(covers):
            return np.zeros((0, self.n_classes), self.class_totals.dtype)
        both = [self.intersection(cover, within) for cover in covers]
        return np.array([self.class_counts(cover) for cover in both])

    def sizes_within(self, covers: Sequence[Handle], within: Handle) -> Any:
        """Count the records of each cover that lie within another one."""
        if not len(covers):
            return np.zeros(0, self.class_totals.dtype)
        both = [self.intersection(cover, within) for cover in covers]
        return np.array([facts.counts.sum() for facts in self._facts_of(*both)])

    def extension_counts(self, bodies: Sequence[Body], marked: Handle) -> Any:
        """Count the records of each body with each item added, by class, and how many of them are marked."""
        return self._ask("extension_counts", tuple(bodies), marked)

    def extension_counts_within(self, bodies: Sequence[Body], cover: Handle) -> Any:
        """Count the records of a cover that each body with each item added covers, by class."""
        return self._ask("extension_counts_within", tuple(bodies), cover)

    def fingerprints(self, bodies: Lists) -> NDArray[np.uint64]:
        """Return a hash of the records that each body covers."""
        return np.asarray(self._ask("fingerprints", bodies))

    def fingerprint(self, cover: Handle) -> int:
        """Return a hash of the records of a cover."""
        return self._facts_of(cover)[0].fingerprint

    # Covers

    @property
    def everything(self) -> Handle:
        """The cover of all records."""
        return self._fixed_cover("everything")

    @property
    def nothing(self) -> Handle:
        """The cover without records."""
        return self._fixed_cover("nothing")

    def cover(self, body: Body) -> Handle:
        """Return the records that a body covers."""
        return self._cover("cover", tuple(body))

    def of_class(self, label: int) -> Handle:
        """Return the records of a class."""
        return self._fixed_cover("of_class", label)

    def given_cover(self, number: int) -> Handle:
        """Return the records for which a given condition holds."""
        n_given = self._shape.n_given
        if not -n_given <= number < n_given:
            raise IndexError(f"number must be that of one of {n_given} given conditions, got {number}")
        return self._fixed_cover("given_cover", number)

    def union(self, one: Handle, other: Handle) -> Handle:
        """Return the records that lie in at least one of two covers."""
        return one if one is other else self._cover("union", one, other)

    def intersection(self, one: Handle, other: Handle) -> Handle:
        """Return the records that lie in both covers."""
        return one if one is other else self._cover("intersection", one, other)

    def difference(self, one: Handle, other: Handle) -> Handle:
        """Return the records of the first cover that do not lie in the second."""
        return self._cover("difference", one, other)

    def levels(
        self, covers: Sequence[Handle], points: Sequence[int], wanted: Sequence[int] | None = None
    ) -> Mapping[int, Handle]:
        """Group the records by the sum of the points of the covers in which each record lies."""
        found = self._session.define(self._handle, "levels", list(covers), tuple(int(value) for value in points))
        if wanted is None:
            return self._listed_covers(found)
        return {number: self._cover("listed", found, number) for number in sorted(map(int, wanted))}

    def _listed_covers(self, found: Handle) -> dict[int, Handle]:
        """Return the covers by the numbers that occur in some shard, ascending."""
        numbers, facts = self._ask("facts_by_number", found, combination="facts_by_number")
        covers = {number: self._cover("listed", found, number) for number in numbers}
        self._facts.add(list(covers.values()), facts)
        return covers

    def leaders(self, covers: Sequence[Handle], points: Integers, base: Integers) -> Leaders:
        """Group the records by the largest of several sums of points."""
        found = self._session.define(self._handle, "leaders", list(covers), points, base)
        leaders = [self._cover("leader", found, k) for k in range(base.size)]
        return Leaders(leaders, self._listed_covers(found))

    def with_items(self, covers: Sequence[Handle]) -> RemoteBackend:
        """Return a backend with further items, each of which holds for the records of a cover."""
        shape = self._shape._replace(n_items=self.n_items + len(covers))
        handle = self._session.define(self._handle, "with_items", list(covers))
        return RemoteBackend(self._session, shape, handle, self._facts)

    # Records chosen by position

    def n_positions(self, cover: Handle) -> int:
        """Return the number of units of weight of a cover."""
        return int(self._facts_of(cover)[0].positions.sum())

    def items_at(self, cover: Handle, ks: Integers) -> Lists:
        """Return the items of the k-th record of a cover, for each k."""
        return self.items_of([(cover, ks)])

    def items_of(self, drawn: Sequence[tuple[Handle, Integers]]) -> Lists:
        """Return the items of the records at some positions in several covers, one after the other."""
        self._facts_of(*(cover for cover, _ in drawn))
        parts, n = [], 0
        for cover, ks in drawn:
            parts.append([cover, self._positions(cover, ks), n])
            n += len(ks)
        numbers, lists = self._ask("items_of", parts, combination="lists")
        return lists.take(np.argsort(numbers, kind="stable"))

    def _at(self, operation: str, *arguments: Any) -> Any:
        """Return an answer that has an entry for each position along its last axis, in the order of the positions."""
        numbers, found = self._ask(operation, *arguments, combination="entries")
        return found[..., np.argsort(numbers, kind="stable")]

    def classes_at(self, cover: Handle, ks: Integers) -> Integers:
        """Return the class of the k-th record of a cover, for each k."""
        return self._at("classes_at", cover, self._positions(cover, ks))

    def weights_at(self, cover: Handle, ks: Integers) -> NDArray[np.float64]:
        """Return the weight of the k-th record of a cover, for each k."""
        return self._at("weights_at", cover, self._positions(cover, ks))

    def contain(self, bodies: Lists, cover: Handle, ks: Integers) -> Flags:
        """Return whether the j-th body covers the ``ks[j]``-th record of a cover."""
        return self._at("contain", bodies, cover, self._positions(cover, ks))

    def contain_all(self, bodies: Lists, cover: Handle, ks: Integers) -> Flags:
        """Return whether each body covers each of the k-th records of a cover."""
        return self._at("contain_all", bodies, cover, self._positions(cover, ks))

    def pick(self, cover: Handle, ks: Integers) -> Handle:
        """Return the cover of the k-th records of a cover."""
        return self._cover("pick", cover, self._positions(cover, ks))

    def distinct(self, cover: Handle, most: int) -> DistinctRecords:
        """Return the distinct records of a cover; raises TooManyRecordsError if there are more than ``most``."""
        found = self._ask("distinct", cover, int(most), combination="distinct")
        if isinstance(found, str):
            raise TooManyRecordsError(found)
        if len(found.items) > most:
            raise TooManyRecordsError(f"{len(found.items):,} distinct records, more than {most:,}")
        return found

    # Queries of single methods

    def _part(self, operation: str, *arguments: Any) -> RemoteBackend:
        """Return a backend of other records, with the same items and classes."""
        handle = self._session.define(self._handle, operation, *arguments)
        return RemoteBackend(self._session, self._shape._replace(n_given=0), handle)

    def restrict(self, cover: Handle) -> RemoteBackend:
        """Return a backend of the records of a cover, with the same items and classes."""
        return self._part("restrict", cover)

    def divide(self, drawn: Sequence[tuple[Handle, Integers]]) -> tuple[RemoteBackend, RemoteBackend]:
        """Return a backend of the k-th records of some covers, and one of all other records."""
        self._facts_of(*(cover for cover, _ in drawn))
        parts = [[cover, self._positions(cover, ks)] for cover, ks in drawn]
        pair = self._session.define(self._handle, "divide", parts)
        return self._part("one_of", pair, 0), self._part("one_of", pair, 1)

    def claims(self, bodies: Lists, labels: Integers) -> Flags:
        """Return which rules are correct for a record that no earlier such rule covers."""
        out, left = np.zeros(bodies.size, np.bool_), self.everything
        for j, (body, label) in enumerate(zip(bodies.tuples(), labels.tolist(), strict=True)):
            cover = self.cover(body)
            out[j] = self.class_counts(self.intersection(cover, left))[label] > 0
            if out[j]:
                left = self.difference(left, cover)
        return out
