"""The backends of weighted records against the table in which each record is repeated."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets.data._backend import Backend, TooManyRecordsError
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._sharded import ShardedBackend
from diverse_rule_sets.data._weighted import WeightedBackend

BACKENDS = {
    "weighted": WeightedBackend.of,
    "one shard": partial(ShardedBackend.split, n_shards=1),
    "three shards": ShardedBackend.split,
    "many shards": partial(ShardedBackend.split, n_shards=40),
}
every_backend = pytest.mark.parametrize("make", BACKENDS.values(), ids=BACKENDS)
SETTINGS = settings(max_examples=40)


@st.composite
def tables(draw):
    """Records as boolean rows over items, classes, weights, flags of two covers and of two given conditions."""
    n, n_items = draw(st.integers(1, 70)), draw(st.integers(1, 6))
    items = draw(arrays(np.bool_, (n, n_items)))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 2)))
    units = draw(arrays(np.int64, n, elements=st.integers(1, draw(st.sampled_from([1, 3, 9])))))
    one, other = (draw(arrays(np.bool_, n)) for _ in range(2))
    conditions = draw(arrays(np.bool_, (2, n)))
    bodies = draw(st.lists(st.lists(st.integers(0, n_items - 1), unique=True).map(sorted).map(tuple), max_size=5))
    return items, y, units, one, other, conditions, bodies


def pack(items):
    return bitset.pack(np.ascontiguousarray(items.T))


def backends_of(make, table, unit=1.0):
    """Return the weighted backend, and that of the repeated records."""
    items, y, units, _, _, conditions, _ = table
    found = make(pack(items), y, 3, 1, bitset.pack(conditions), weights=Weights(units, unit))
    copies = np.repeat(np.arange(y.size), units)
    ref = LocalBackend(pack(items[copies]), y[copies], 3, 1, bitset.pack(conditions[:, copies]))
    return found, ref


def covers_of(found, ref, units, flags):
    """Return the cover of the records whose flag is set, in both backends."""
    by_record = found.by_record
    return (
        by_record.pick(by_record.everything, np.flatnonzero(flags)),
        ref.pick(ref.everything, np.flatnonzero(np.repeat(flags, units))),
    )


@every_backend
@SETTINGS
@given(table=tables())
def test_counts(make, table):
    _, _, units, one, other, _, bodies = table
    found, ref = backends_of(make, table)
    lists = Lists.of(bodies)
    assert (found.n_records, found.n_items, found.n_classes) == (ref.n_records, ref.n_items, 3)
    assert type(found.n_records) is int
    assert found.class_totals.dtype == np.int64
    a, b = (covers_of(found, ref, units, flags) for flags in (one, other))
    for query in (
        lambda backend, k: backend.class_totals,
        lambda backend, k: backend.class_counts(a[k]),
        lambda backend, k: backend.class_counts_of(lists),
        lambda backend, k: backend.class_counts_of(lists, a[k]),
        lambda backend, k: backend.shared_counts(lists, [a[k], b[k]]),
        lambda backend, k: backend.sizes_within([a[k], b[k]], a[k]),
        lambda backend, k: backend.class_counts_within([a[k], b[k]], b[k]),
        lambda backend, k: backend.extension_counts(bodies, a[k]),
        lambda backend, k: backend.extension_counts(bodies, backend.nothing),
        lambda backend, k: backend.extension_counts_within(bodies, a[k]),
    ):
        got, expected = query(found, 0), query(ref, 1)
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        assert got.tolist() == expected.tolist()


@every_backend
@SETTINGS
@given(table=tables())
def test_counts_in_units_below_1_are_exact_floats(make, table):
    _, _, units, one, _, _, bodies = table
    found, ref = backends_of(make, table, unit=2.0**-10)
    a = covers_of(found, ref, units, one)
    assert found.unit == 2.0**-10
    assert found.n_records == ref.n_records / 1024
    assert found.class_counts(a[0]).tolist() == (ref.class_counts(a[1]) / 1024).tolist()
    got, expected = found.extension_counts(bodies, a[0]), ref.extension_counts(bodies, a[1]) / 1024
    assert got.tolist() == expected.tolist()
    assert found.n_positions(a[0]) == ref.n_positions(a[1])


@every_backend
@SETTINGS
@given(table=tables(), points=st.lists(st.integers(-2, 5), min_size=2, max_size=2))
def test_covers(make, table, points):
    _, _, units, one, other, _, bodies = table
    found, ref = backends_of(make, table)
    a, b = (covers_of(found, ref, units, flags) for flags in (one, other))

    def expressions(backend, k):
        levels = backend.levels([a[k], b[k]], points)
        leaders = backend.leaders([a[k], b[k]], np.array([points, points[::-1]]), np.array([1, 0]))
        return [
            backend.everything,
            backend.nothing,
            a[k],
            backend.union(a[k], b[k]),
            backend.intersection(a[k], b[k]),
            backend.difference(a[k], b[k]),
            backend.of_class(1),
            backend.given_cover(0),
            backend.with_items([a[k]]).given_cover(1),
            backend.with_items([a[k]]).cover((backend.n_items,)),
            *(backend.cover(body) for body in bodies),
            *levels.values(),
            *leaders.leaders,
            *leaders.leads.values(),
        ], [list(levels), list(leaders.leads), list(backend.levels([a[k]], [1], wanted=(0, 1, 7)))]

    (got, numbers), (expected, expected_numbers) = expressions(found, 0), expressions(ref, 1)
    assert numbers == expected_numbers
    assert [found.class_counts(cover).tolist() for cover in got] == [
        ref.class_counts(cover).tolist() for cover in expected
    ]
    prints, others = ([backend.fingerprint(c) for c in covers] for backend, covers in ((found, got), (ref, expected)))
    assert [[p == q for q in prints] for p in prints] == [[p == q for q in others] for p in others]
    with pytest.raises(IndexError):
        found.given_cover(2)


@every_backend
@SETTINGS
@given(table=tables(), data=st.data())
def test_records_chosen_by_position(make, table, data):
    """The k-th record counts by weight, in the order of the records."""
    _, y, units, one, _, _, bodies = table
    found, ref = backends_of(make, table)
    a = covers_of(found, ref, units, one)
    size = found.n_positions(a[0])
    assert size == ref.n_positions(a[1]) == units[one].sum()
    ks = np.array(data.draw(st.lists(st.integers(0, size - 1), max_size=9)) if size else [], np.int64)
    lists = Lists.of(bodies)
    assert list(found.items_at(a[0], ks).tuples()) == list(ref.items_at(a[1], ks).tuples())
    assert found.classes_at(a[0], ks).tolist() == ref.classes_at(a[1], ks).tolist()
    assert found.weights_at(a[0], ks).tolist() == np.repeat(units[one], units[one])[ks].tolist()
    assert found.contain_all(lists, a[0], ks).tolist() == ref.contain_all(lists, a[1], ks).tolist()
    n = min(len(bodies), ks.size)
    first = lists.take(np.arange(n))
    assert found.contain(first, a[0], ks[:n]).tolist() == ref.contain(first, a[1], ks[:n]).tolist()
    got, expected = found.distinct(a[0], most=y.size), ref.distinct(a[1], most=int(units.sum()))
    assert got.items.tolist() == expected.items.tolist()
    assert got.counts.tolist() == expected.counts.tolist()
    if len(got.items):
        with pytest.raises(TooManyRecordsError, match="distinct records, more than"):
            found.distinct(a[0], most=len(got.items) - 1)
    by_record = found.by_record
    assert by_record.unit == 1
    assert by_record.n_records == y.size
    assert by_record.class_counts(a[0]).tolist() == np.bincount(y[one], minlength=3).tolist()
    every = np.arange(by_record.n_positions(a[0]))
    assert by_record.classes_at(a[0], every).tolist() == y[one].tolist()
    assert by_record.weights_at(a[0], every).tolist() == units[one].tolist()


@every_backend
@SETTINGS
@given(table=tables(), data=st.data())
def test_parts_and_claims(make, table, data):
    _, _, units, one, _, _, bodies = table
    found, ref = backends_of(make, table)
    a = covers_of(found, ref, units, one)
    lists = Lists.of(bodies)
    got, expected = found.restrict(a[0]), ref.restrict(a[1])
    assert got.class_counts_of(lists).tolist() == expected.class_counts_of(lists).tolist()
    size = found.n_positions(a[0])
    ks = np.array(sorted(data.draw(st.sets(st.integers(0, size - 1), max_size=9))) if size else [], np.int64)
    for part, expected in zip(found.divide([(a[0], ks)]), ref.divide([(a[1], ks)]), strict=True):
        assert part.n_records == expected.n_records
        assert part.class_counts_of(lists).tolist() == expected.class_counts_of(lists).tolist()
        every = np.arange(part.n_positions(part.everything))
        assert (
            part.classes_at(part.everything, every).tolist() == expected.classes_at(expected.everything, every).tolist()
        )
    labels = np.arange(len(bodies)) % 3
    assert found.claims(lists, labels).tolist() == ref.claims(lists, labels).tolist()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_large_weights_are_exact(n_threads):
    rng = np.random.default_rng(0)
    items, y = rng.random((3000, 40)) < 0.5, rng.integers(0, 3, 3000)
    units = rng.integers(1, 2**31, 3000)
    found = WeightedBackend.of(pack(items), y, 3, n_threads, weights=Weights(units, 1.0))
    bodies = [tuple(sorted(rng.choice(40, 2, replace=False).tolist())) for _ in range(500)]
    ref = [[int(units[items[:, list(b)].all(axis=1) & (y == k)].sum()) for k in range(3)] for b in bodies]
    assert found.class_counts_of(Lists.of(bodies)).tolist() == ref
    assert found.extension_counts(bodies[:50], found.nothing)[:3, :, -1].T.tolist() == ref[:50]


def test_a_weighted_backend_has_the_methods_of_the_protocol_and_no_others():
    protocol = {name for name in vars(Backend) if not name.startswith("_")}
    backend = WeightedBackend.of(
        pack(np.eye(4, dtype=bool)), np.arange(4) % 3, 3, weights=Weights(np.arange(1, 5), 1.0)
    )
    public = {name for name in (*dir(WeightedBackend), *vars(backend)) if not name.startswith("_")}
    assert public - {"of"} == protocol
