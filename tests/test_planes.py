"""Sums of points as planes of bits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.planes import levels_of, sums_as_planes


@given(st.integers(0, 2**32), st.integers(1, 300), st.lists(st.integers(-40, 40), max_size=80))
def test_levels_are_those_of_sums_of_single_records(seed, n_records, values):
    rng = np.random.default_rng(seed)
    flags = rng.random((len(values), n_records)) < rng.random((len(values), 1))
    used = rng.random(n_records) < 0.9
    planes, least = sums_as_planes([bitset.pack(row & used) for row in flags], values, bitset.pack(used))
    got = [(least + number, bitset.unpack(row, n_records)) for number, row in levels_of(planes, bitset.pack(used))]
    sums = [sum(value for value, row in zip(values, flags, strict=True) if row[k]) for k in range(n_records)]
    assert [level for level, _ in got] == sorted({sums[k] for k in np.flatnonzero(used)})
    for level, row in got:
        assert row.tolist() == [bool(used[k]) and sums[k] == level for k in range(n_records)]


def test_rows_longer_than_a_block_and_many_rows_are_added():
    rng = np.random.default_rng(0)
    flags = rng.random((70, 70_000)) < 0.5
    steps = []
    planes, least = sums_as_planes(
        list(bitset.pack(flags)), [1] * 70, bitset.pack(flags[0] | True), lambda: steps.append(1)
    )
    sums = flags.sum(axis=0)
    found = dict(levels_of(planes, bitset.pack(flags[0] | True)))
    assert (least, sorted(found), len(steps)) == (0, np.unique(sums).tolist(), 3)
    for level, row in found.items():
        assert (bitset.unpack(row, 70_000) == (sums == level)).all()
