import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import Lists

matrices = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=150))


@given(matrices)
def test_pack_and_unpack_are_inverse_and_padding_is_zero(flags):
    words = bitset.pack(flags)
    np.testing.assert_array_equal(bitset.unpack(words, flags.shape[1]), flags)
    np.testing.assert_array_equal(bitset.popcount(words), flags.sum(axis=1))


@given(matrices, st.data())
def test_count_equals_a_loop_over_sets(flags, data):
    n_rows, n_bits = flags.shape
    lists = data.draw(st.lists(st.lists(st.integers(0, n_rows - 1), unique=True, max_size=4).map(sorted), max_size=6))
    masks = data.draw(arrays(np.bool_, (3, n_bits)))
    got = bitset.count(bitset.pack(flags), Lists.of(lists), bitset.pack(masks))
    rows = [{b for b in range(n_bits) if flags[r, b]} for r in range(n_rows)]
    for j, members in enumerate(lists):
        inside = set(range(n_bits)).intersection(*(rows[r] for r in members))
        assert got[j].tolist() == [len(inside & {b for b in range(n_bits) if mask[b]}) for mask in masks]


def test_count_over_several_blocks_and_threads_is_the_same(monkeypatch):
    monkeypatch.setattr(bitset, "_WORTH_A_THREAD", 1)
    rng = np.random.default_rng(0)
    flags = rng.random((20, 64 * 1200 + 17)) < 0.7  # more than two blocks of words, and a ragged end
    rows, masks = bitset.pack(flags), bitset.pack(rng.random((3, flags.shape[1])) < 0.5)
    lists = Lists.of([sorted(rng.choice(20, size, replace=False)) for size in rng.integers(1, 6, 37)])
    expected = [
        [int(bitset.popcount(np.bitwise_and.reduce(rows[lists.one(j)]) & mask)) for mask in masks]
        for j in range(lists.size)
    ]
    for n_threads in (1, 2, 5):
        np.testing.assert_array_equal(bitset.count(rows, lists, masks, n_threads), expected)


@given(matrices)
def test_members_and_containment(flags):
    rows = bitset.pack(flags)
    columns = np.arange(flags.shape[1])
    lists = bitset.members_of(rows, columns)
    assert list(lists.tuples()) == [tuple(np.flatnonzero(flags[:, b])) for b in columns]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bitset, "_MAX_BUFFER", 7)  # several parts
        assert list(bitset.members_of(rows, columns).tuples()) == list(lists.tuples())
    assert bitset.all_set(rows, lists, columns).all()
    shifted = np.roll(columns, 1)
    expected = [
        set(np.flatnonzero(flags[:, b])) <= set(np.flatnonzero(flags[:, c]))
        for b, c in zip(columns, shifted, strict=True)
    ]
    assert bitset.all_set(rows, lists, shifted).tolist() == expected


@given(matrices)
def test_the_kth_set_bit_and_bits_at_places(flags):
    for row in flags:
        words, places = bitset.pack(row), np.flatnonzero(row)
        sizes = np.bitwise_count(words).astype(np.int64)
        found = bitset.kth_set(words, np.cumsum(sizes) - sizes, np.arange(places.size))
        assert found.tolist() == places.tolist()
        every = np.arange(row.size)[::-1]
        assert bitset.at(words, every).tolist() == row[every].tolist()


def test_checksums_differ_and_add_up_over_parts():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2**63, (3000, 4), dtype=np.uint64) >> rng.integers(0, 64, (3000, 1), dtype=np.uint64)
    rows = np.unique(rows, axis=0)
    assert len({bitset.checksum(row) for row in rows}) == len(rows)
    for row in rows[:50]:
        assert (bitset.checksum(row[:1]) + bitset.checksum(row[1:], first=1)) % 2**64 == bitset.checksum(row)
        swapped = row[[1, 0, 2, 3]]
        assert (bitset.checksum(swapped) == bitset.checksum(row)) == np.array_equal(row, swapped)


@given(st.lists(st.lists(st.integers(0, 9), unique=True).map(sorted)), st.data())
def test_lists_take_concatenate_and_drop_like_python_lists(lists, data):
    made = Lists.of(lists)
    assert [list(one) for one in made.tuples()] == lists
    assert [list(one) for one in Lists.concatenate([made, made]).tuples()] == lists + lists
    chosen = data.draw(st.lists(st.integers(0, len(lists) - 1))) if lists else []
    assert [list(one) for one in made.take(np.array(chosen, np.int64)).tuples()] == [lists[j] for j in chosen]
    if lists:
        expected = [lists[j] == lists[0] for j in chosen]
        assert made.equal_to(made.one(0), np.array(chosen, np.int64)).tolist() == expected
    kept = made.members % 2 == 0
    assert [list(one) for one in made.keep_members(kept).tuples()] == [[i for i in one if i % 2 == 0] for one in lists]


def test_concatenating_no_lists():
    assert Lists.concatenate([]).size == 0


@pytest.mark.parametrize(("n_bits", "words"), [(1, 1), (64, 1), (65, 2)])
def test_number_of_words(n_bits, words):
    assert bitset.n_words(n_bits) == words


@given(matrices, st.data())
def test_claim_equals_a_loop_over_sets(flags, data):
    n_rows, n_bits = flags.shape
    one = st.lists(st.integers(0, n_rows - 1), unique=True, min_size=1, max_size=3).map(sorted)
    lists = data.draw(st.lists(one, max_size=6))
    masks = data.draw(arrays(np.bool_, (2, n_bits)))
    own = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(lists), max_size=len(lists))), np.int64)
    every = bitset.pack(np.ones(n_bits, np.bool_))
    claimed, left = bitset.claim(bitset.pack(flags), Lists.of(lists), bitset.pack(masks), own, every)
    rest = set(range(n_bits))
    for j, members in enumerate(lists):
        inside = {b for b in rest if all(flags[r, b] for r in members)}
        assert claimed[j] == any(masks[own[j], b] for b in inside)
        rest -= inside if claimed[j] else set()
    assert bitset.unpack(left, n_bits).nonzero()[0].tolist() == sorted(rest)
    assert bitset.popcount(every) == n_bits  # the argument is unchanged
