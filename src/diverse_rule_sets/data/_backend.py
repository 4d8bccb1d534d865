"""The questions about the records that learning is based on, as a :class:`Backend`.

The learner never sees a record. Everything that it knows it learns through the methods below. An answer is one of

- integers that add over shards of records, so that every backend gives the same ones;
- the items or the classes of a few records that were drawn by count;
- a *cover*, a handle for a set of records that is valid for the backend that gave it, and for no other.

No method takes a random number: chance is in the learner alone. So one seed gives one rule set on any backend, any
number of shards and any number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists

Body = tuple[int, ...]


# A handle for a set of records. Only the backend that made it can say anything about it.
Cover = Any


class DistinctRecords(NamedTuple):
    """The different records of a cover: a row of truth values over the items each, and how often each occurs.

    The rows are in ascending order, the first item counting most.
    """

    items: Flags
    counts: Integers


class TooManyRecordsError(ValueError):
    """There are more distinct records than were allowed for."""


class Backend(Protocol):
    """Records as sets of items, with a class each; see the module's description.

    A *body* is a set of items and covers the records that have all of them; an empty body covers every record. Several
    bodies are passed as ``Lists``. Records are ordered, and "the k-th record of a cover" counts from 0 in that order.
    """

    @property
    def n_records(self) -> int:
        """Number of records."""

    @property
    def n_items(self) -> int:
        """Number of items."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    @property
    def class_totals(self) -> Integers:
        """Number of records of each class."""

    # Counts

    def class_counts_of(self, bodies: Lists, within: Cover | None = None) -> Integers:
        """Count the records of each class under each body, all or those within a cover: (n_bodies, n_classes)."""

    def class_counts(self, cover: Cover) -> Integers:
        """Count the records of each class in a cover: (n_classes,)."""

    def shared(self, bodies: Lists, covers: Sequence[Cover]) -> Integers:
        """Count the records under each body that lie in each cover: (n_bodies, n_covers)."""

    def sizes_within(self, covers: Sequence[Cover], within: Cover) -> Integers:
        """Count the records of each cover that lie within another one: (n_covers,)."""

    def extended(self, bodies: Sequence[Body], marked: Cover) -> Integers:
        """Count the records of each body with each item added, by class and, last, those that are marked.

        Returns an array (n_classes + 1, n_bodies, n_items + 1), whose last entries are of the bodies themselves.
        """

    def fingerprints(self, bodies: Lists) -> NDArray[np.uint64]:
        """Return an integer for each body that is the same for bodies that cover the same records.

        Bodies that cover different records have different integers, but for a chance of about 1 in 2**64.
        """

    def fingerprint(self, cover: Cover) -> int:
        """Return the same integer for a cover."""

    # Covers

    @property
    def everything(self) -> Cover:
        """All records."""

    @property
    def nothing(self) -> Cover:
        """No record."""

    def cover(self, body: Body) -> Cover:
        """Return the records that a body covers."""

    def of_class(self, label: int) -> Cover:
        """Return the records of a class."""

    def given_cover(self, number: int) -> Cover:
        """Return the records that a given rule covers, whose conditions need not be items."""

    def union(self, one: Cover, other: Cover) -> Cover:
        """Return the records that lie in either cover."""

    def intersection(self, one: Cover, other: Cover) -> Cover:
        """Return the records that lie in both covers."""

    def difference(self, one: Cover, other: Cover) -> Cover:
        """Return the records of the first cover that do not lie in the second."""

    def levels(
        self, covers: Sequence[Cover], points: Sequence[int], wanted: Sequence[int] | None = None
    ) -> Mapping[int, Cover]:
        """Group the records by a sum: the points of the covers that each record lies in.

        Parameters
        ----------
        covers : some covers
        points : whole points of each
        wanted : the sums to return; all that occur by default

        Returns
        -------
        the records of each sum, ascending by sum
        """

    # Records that are drawn by count

    def items_at(self, cover: Cover, ks: Integers) -> Lists:
        """List the items of the k-th record of a cover, for each k."""

    def classes_at(self, cover: Cover, ks: Integers) -> Integers:
        """Return the class of the k-th record of a cover, for each k."""

    def contain(self, bodies: Lists, cover: Cover, ks: Integers) -> Flags:
        """Tell whether the j-th body covers the ``ks[j]``-th record of a cover."""

    def contain_all(self, bodies: Lists, cover: Cover, ks: Integers) -> Flags:
        """Tell which bodies cover which of the k-th records of a cover: (n_bodies, n_ks)."""

    def pick(self, cover: Cover, ks: Integers) -> Cover:
        """Return the cover of the k-th records of a cover."""

    def distinct(self, cover: Cover, most: int) -> DistinctRecords:
        """Return the different records of a cover; TooManyRecordsError if there are more than ``most``."""

    # What single methods need

    def restricted(self, cover: Cover) -> Backend:
        """Return a backend of the records of a cover alone."""

    def claims(self, bodies: Lists, labels: Integers) -> Flags:
        """Tell which rules, in order, claim records: those that cover an unclaimed record of their own label.

        Such a rule claims all records that it covers.
        """
