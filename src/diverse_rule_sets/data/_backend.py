"""The queries about the training records on which learning is based, as the protocol :class:`Backend`.

The learner never reads a record itself: it calls the methods below. To support another storage (shards on disk, a
database, other machines), implement this protocol and run the tests of ``tests/test_backends.py`` on it. A backend has
these public methods and no others.

Data model
----------
A record is a set of items and a class. Items are numbered from 0 to ``n_items - 1`` and classes from 0 to
``n_classes - 1``. The records have a fixed order. A *body* is a set of items, given as an ascending tuple or as one
list of a :class:`Lists`. It covers the records that have all its items; the empty body covers every record. A *cover*
is a set of records, represented by a handle. A handle is valid for the backend that returned it and for no other. "The
k-th record of a cover" counts from 0 in the order of the records.

Results and shards
------------------
The docstring of each method says how the result for all records follows from the results for shards, that is for
consecutive parts of the records:

- *Adds over shards*: the sum of the arrays of the shards, which are exact integers.
- *By shard*: the cover of all records is the tuple of the covers of the shards.
- *By position*: the k-th record lies in the shard found from the sizes of the cover in the shards.

:class:`~diverse_rule_sets.data._sharded.ShardedBackend` does this. No method takes a random number; the learner alone
draws them. Therefore one seed gives one rule set on any backend, any number of shards and any number of threads.

Weights
-------
Records may have weights, whole numbers of a unit. Then "number of records" means their total weight in every result:
int64 if the unit is 1, otherwise float64 that are exact multiples of the unit, so that sums do not depend on their
order. Positions count units of weight: a record of 3 units has three positions, one after the other. With unit 1 every
result is that of a table in which each record is repeated as often as its weight says. Where whole records are needed,
:attr:`Backend.by_record` counts each of them once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Flags, Integers, Lists

Body = tuple[int, ...]


# A handle for a set of records. Only the backend that returned it can use it.
Cover = Any


class DistinctRecords(NamedTuple):
    """The distinct sets of items among the records of a cover, and how often each occurs.

    Parameters
    ----------
    items : boolean array (n_distinct, n_items), rows in ascending lexicographic order, the first item most significant
    counts : int64 array (n_distinct,), number of records with exactly these items
    """

    items: Flags
    counts: Integers


class Leaders(NamedTuple):
    """Records grouped by the column with the largest sum of points, and by how far it is ahead.

    Parameters
    ----------
    leaders : for each column of points, the records in which its sum is the largest; of equal sums the first one
    leads : for each difference of the two largest sums that occurs, ascending, the records in which it occurs
    """

    leaders: Sequence[Cover]
    leads: Mapping[int, Cover]


class TooManyRecordsError(ValueError):
    """There are more distinct records than the caller allows."""


class Backend(Protocol):
    """Records as sets of items with a class each; see the description of the module."""

    @property
    def n_records(self) -> int:
        """Number of records. Adds over shards."""

    @property
    def unit(self) -> float:
        """The unit of weights: 1, or a power of 2 below it; the same in all shards."""

    @property
    def by_record(self) -> Backend:
        """The same records with the same covers, each of which counts once: the backend itself without weights."""

    @property
    def n_items(self) -> int:
        """Number of items; the same in all shards."""

    @property
    def n_classes(self) -> int:
        """Number of classes; the same in all shards, also if a shard has no record of some class."""

    @property
    def class_totals(self) -> Integers:
        """Number of records of each class: int64 array (n_classes,). Adds over shards."""

    # Counts

    def class_counts_of(self, bodies: Lists, within: Cover | None = None) -> Integers:
        """Count the records of each class that each body covers, among all records or within a cover.

        Returns an int64 array (bodies.size, n_classes), in the order of the bodies. Adds over shards.
        """

    def class_counts(self, cover: Cover) -> Integers:
        """Count the records of each class in a cover: int64 array (n_classes,). Adds over shards."""

    def shared_counts(self, bodies: Lists, covers: Sequence[Cover]) -> Integers:
        """Count the records that each body shares with each cover.

        Returns an int64 array (bodies.size, len(covers)). Adds over shards.
        """

    def sizes_within(self, covers: Sequence[Cover], within: Cover) -> Integers:
        """Count the records of each cover that lie within another one: int64 array (len(covers),). Adds over shards."""

    def class_counts_within(self, covers: Sequence[Cover], within: Cover) -> Integers:
        """Count the records of each class of several covers that lie within another one, as :meth:`class_counts`.

        Returns an int64 array (len(covers), n_classes). Adds over shards.
        """

    def extension_counts(self, bodies: Sequence[Body], marked: Cover) -> Integers:
        """Count the records of each body with each item added, by class, and how many of them are marked.

        Returns an int64 array (n_classes + 1, len(bodies), n_items + 1). Entry [c, j, i] is the number of records of
        class c that body j with item i added covers. The last index i = n_items is the body itself, without an added
        item. The last index c = n_classes is the number of these records, of any class, that lie in ``marked``. Adds
        over shards.
        """

    def extension_counts_within(self, bodies: Sequence[Body], cover: Cover) -> Integers:
        """Count the records of a cover that each body with each item added covers, by class.

        Returns an int64 array (n_classes, len(bodies), n_items + 1), indexed as ``extension_counts``. Adds over shards.
        """

    def fingerprints(self, bodies: Lists) -> NDArray[np.uint64]:
        """Return a hash of the records that each body covers: uint64 array (bodies.size,).

        Bodies that cover the same records have the same hash. Bodies that cover different records have different
        hashes, except with a probability of about 1 in 2**64. Adds over shards, modulo 2**64, if the hash of a shard
        depends on the position of its records among all records.
        """

    def fingerprint(self, cover: Cover) -> int:
        """Return the same hash of the records of a cover, from 0 to 2**64 - 1. Adds over shards, modulo 2**64."""

    # Covers

    @property
    def everything(self) -> Cover:
        """The cover of all records. By shard."""

    @property
    def nothing(self) -> Cover:
        """The cover without records. By shard."""

    def cover(self, body: Body) -> Cover:
        """Return the records that a body covers. By shard."""

    def of_class(self, label: int) -> Cover:
        """Return the records of a class. By shard."""

    def given_cover(self, number: int) -> Cover:
        """Return the records for which a given condition holds; it need not be an item. By shard.

        ``number`` counts the given conditions from 0. Raises IndexError if there is no such condition. The cover of a
        given rule is the intersection of the covers of its conditions, and the points of a given scorecard are the
        ``levels`` of the covers of its signs.
        """

    def union(self, one: Cover, other: Cover) -> Cover:
        """Return the records that lie in at least one of two covers. By shard."""

    def intersection(self, one: Cover, other: Cover) -> Cover:
        """Return the records that lie in both covers. By shard."""

    def difference(self, one: Cover, other: Cover) -> Cover:
        """Return the records of the first cover that do not lie in the second. By shard."""

    def levels(
        self, covers: Sequence[Cover], points: Sequence[int], wanted: Sequence[int] | None = None
    ) -> Mapping[int, Cover]:
        """Group all records by a sum of points: each record gets the points of every cover in which it lies.

        Parameters
        ----------
        covers : some covers; without covers all sums are 0
        points : an integer for each cover, possibly negative
        wanted : the sums to return; by default all that occur

        Returns
        -------
        dict from each sum to the cover of its records, ascending by sum; a wanted sum that does not occur has an empty
        cover. By shard; a sum that does not occur in a shard has the empty cover there.
        """

    def leaders(self, covers: Sequence[Cover], points: Integers, base: Integers) -> Leaders:
        """Group all records by the largest of several sums of points.

        Parameters
        ----------
        covers : some covers
        points : array (len(covers), n), at least two columns: the points that the records of each cover get in each sum
        base : array (n,), the points of every record in each sum

        Returns
        -------
        covers. By shard; a lead that does not occur in a shard has the empty cover there.
        """

    def with_items(self, covers: Sequence[Cover]) -> Backend:
        """Return a backend with further items, each of which holds for the records of a cover. By shard.

        The new items are numbered from ``n_items`` on. For example, the cover of "points >= t" is the union of the
        ``levels`` from t on. Covers of this backend are valid for the new one.
        """

    # Records chosen by position

    def n_positions(self, cover: Cover) -> int:
        """Return the number of positions of a cover: its records, or their weight in units. Adds over shards."""

    def items_at(self, cover: Cover, ks: Integers) -> Lists:
        """Return the items of the k-th record of a cover, for each k.

        Returns one ascending list for each entry of ``ks``, in that order; the entries may repeat. By position.
        """

    def items_of(self, drawn: Sequence[tuple[Cover, Integers]]) -> Lists:
        """Return the items of the records at some positions in several covers, as ``items_at`` one after the other.

        ``drawn`` are covers with positions in each. By position.
        """

    def classes_at(self, cover: Cover, ks: Integers) -> Integers:
        """Return the class of the k-th record of a cover, for each k: int64 array (ks.size,). By position."""

    def weights_at(self, cover: Cover, ks: Integers) -> NDArray[np.float64]:
        """Return the weight of the k-th record of a cover, for each k, also of ``by_record``. By position."""

    def contain(self, bodies: Lists, cover: Cover, ks: Integers) -> Flags:
        """Return whether the j-th body covers the ``ks[j]``-th record of a cover.

        There are as many bodies as entries of ``ks``. Returns a boolean array (ks.size,). By position.
        """

    def contain_all(self, bodies: Lists, cover: Cover, ks: Integers) -> Flags:
        """Return whether each body covers each of the k-th records of a cover.

        Returns a boolean array (bodies.size, ks.size). By position.
        """

    def pick(self, cover: Cover, ks: Integers) -> Cover:
        """Return the cover of the k-th records of a cover; a position that repeats counts once. By position."""

    def distinct(self, cover: Cover, most: int) -> DistinctRecords:
        """Return the distinct records of a cover; raises TooManyRecordsError if there are more than ``most``.

        Shards: equal rows of the shards are merged and their counts added; the limit applies to the merged rows.
        """

    # Queries of single methods

    def restrict(self, cover: Cover) -> Backend:
        """Return a backend of the records of a cover, in the same order. By shard.

        It has the same items and classes, also those without records; it has no given conditions.
        """

    def divide(self, drawn: Sequence[tuple[Cover, Integers]]) -> tuple[Backend, Backend]:
        """Return a backend of the records at some positions, and one of all other records.

        ``drawn`` are covers with positions in each, all different. A record that has several positions may be in both
        backends, with a part of its weight. Both have the same items and classes, and no given conditions. By position.
        """

    def claims(self, bodies: Lists, labels: Integers) -> Flags:
        """Return which rules are correct for a record that no earlier such rule covers (CBA's algorithm M1).

        The rules, a body and a label each, are processed in order, and all records are free at first. A rule gets True
        if it covers a free record of its label; then none of the records that it covers is free any more. Returns a
        boolean array (bodies.size,). Neither adds over shards nor splits by shard; it follows from ``cover``,
        ``intersection``, ``difference`` and ``class_counts``.
        """
