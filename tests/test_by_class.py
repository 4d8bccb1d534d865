"""Bits sorted by class, and rows that follow from others by subtraction."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets._bits import bitset, sorting
from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets.data import _local
from diverse_rule_sets.data._by_class import ByClass
from diverse_rule_sets.data._local import LocalBackend


def sorted_naively(flags, y, n_classes):
    """Sort the records of each row by class, one after the other; each class is filled up to whole words."""
    rows = []
    for row in flags:
        bits = []
        for label in range(n_classes):
            bits += [bool(bit) for bit, own in zip(row, y, strict=True) if own == label]
            bits += [False] * (-len(bits) % 64)
        rows.append(bits)
    return np.array(rows, np.bool_).reshape(len(flags), -1)


@pytest.mark.parametrize("max_steps", [1 << 22, 1])
@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(1, 12))
def test_rows_are_sorted_by_class(max_steps, seed, n_records, n_classes):
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(n_classes, size=n_records), rng.integers(n_classes, size=n_records))
    flags = rng.random((5, n_records)) < rng.random((5, 1))
    masks = np.stack([bitset.pack(y == label) for label in range(n_classes)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_MAX_STEPS", max_steps)
        sorter = sorting.WordSorter(masks)
    members = np.array([3, 0, 4])
    out = np.zeros((3, sorter.starts[-1]), np.uint64)
    sorter.sort(bitset.pack(flags), members, out, 2)
    ref = sorted_naively(flags[members], y, n_classes)
    assert (bitset.unpack(out, 64 * out.shape[1]) == ref).all()


def complements_naively(flags):
    """Find rows that hold where neither the row before nor one later row holds."""
    first, other, named = [-1] * len(flags), [-1] * len(flags), set()
    for j in range(1, len(flags)):
        i = j - 1
        if first[i] >= 0 or j in named or (flags[i] & flags[j]).any():
            continue
        rest = ~(flags[i] | flags[j])
        found = [m for m in range(j + 1, len(flags)) if (flags[m] == rest).all()][:1] if rest.any() else [-1]
        if found:
            first[j], other[j] = i, found[0]
            named |= {i, *found}
    return first, other


@given(st.integers(0, 2**32), st.integers(1, 200))
def test_complements_are_found(seed, n_records):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(4):  # two cuts of a column, then its missing values
        missing = rng.random(n_records) < rng.choice([0, 0, 0.3])
        values = rng.random(n_records)
        for cut in rng.random(2):
            rows += [(values <= cut) & ~missing, (values > cut) & ~missing]
        if missing.any():
            rows.append(missing)
    rows += [rng.random(n_records) < 0.5]
    flags = np.array(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "LONG", 0)
        first, other = sorting.complements(bitset.pack(flags), bitset.pack(np.ones(n_records, np.bool_)))
    assert (first.tolist(), other.tolist()) == complements_naively(flags)
    for j in np.flatnonzero(first >= 0):
        rest = ~flags[first[j]] if other[j] < 0 else ~flags[first[j]] & ~flags[other[j]]
        assert (flags[j] == rest).all()
        assert first[first[j]] < 0
        assert other[j] < 0 or first[other[j]] < 0


@given(st.integers(0, 2**32))
def test_counts_with_subtracted_rows_are_those_of_single_records(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(4, size=300)
    flags = np.array([values <= 1, (values > 1) & (values < 3), values == 3, rng.random(300) < 0.4])
    y = rng.integers(3, size=300)
    masks = np.stack([bitset.pack(y == label) for label in range(3)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "LONG", 0)
        by_class = ByClass(bitset.pack(flags), masks, 1)
        backend = LocalBackend(bitset.pack(flags), y, 3)
        bodies = [(), (0,), (1,), (1, 3), (2, 3)]
        counts = by_class.count(by_class.covers(bodies))
        for marked in (np.zeros(300, np.bool_), np.ones(300, np.bool_), rng.random(300) < 0.5):
            cover = _local.LocalCover(bitset.pack(marked))
            got = backend.extension_counts(bodies, cover)
            for j, body in enumerate(bodies):
                for i in range(5):
                    holds = np.logical_and.reduce([*flags[list(body)], *flags[i : i + 1], np.ones(300, np.bool_)])
                    ref = [np.count_nonzero(holds & (y == label)) for label in range(3)]
                    assert got[:, j, i].tolist() == [*ref, np.count_nonzero(holds & marked)]
                    assert counts[:, j, i].tolist() == ref
    assert by_class.rows.shape[0] < 5  # the second row is not stored


@given(st.integers(0, 2**32), st.integers(3, 9))
def test_bodies_are_counted_in_one_pass_for_many_classes(seed, n_classes):
    rng = np.random.default_rng(seed)
    flags, y = rng.random((6, 150)) < 0.6, rng.integers(n_classes, size=150)
    backend = LocalBackend(bitset.pack(flags), y, n_classes)
    bodies = [tuple(np.flatnonzero(rng.random(6) < 0.4).tolist()) for _ in range(10)]
    for some in (bodies, [body for body in bodies if body] or [(0,)]):
        got = backend.class_counts_of(Lists.of(some))
        for body, counts in zip(some, got.tolist(), strict=True):
            own = y[np.logical_and.reduce([*flags[list(body)], np.ones(150, np.bool_)])]
            assert counts == [np.count_nonzero(own == label) for label in range(n_classes)]


@pytest.mark.parametrize("seed", [0, 1])
def test_rules_are_the_same_with_and_without_subtraction(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
    X.loc[rng.random(600) < 0.1, "a"] = None
    X["e"] = rng.choice(["u", "v"], 600)
    y = np.where((X.a > 0) & (X.e == "u"), "p", np.where(X.b + rng.normal(size=600) > 0.5, "q", "r"))
    without = DiverseRuleSetClassifier(random_state=seed).fit(X, y).rule_set_.to_json()
    monkeypatch.setattr(sorting, "LONG", 0)
    assert DiverseRuleSetClassifier(random_state=seed).fit(X, y).rule_set_.to_json() == without


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_columns_of_large_tables_are_read_on_threads(n_jobs):
    from diverse_rule_sets._util.threads import WORTH_A_THREAD

    rng, n = np.random.default_rng(0), WORTH_A_THREAD
    X = pd.DataFrame({f"x{k}": rng.normal(size=n).round(2) for k in range(6)})
    X["id"] = np.arange(n) + 2**53  # gives a warning, which names the line below
    y = X.x0 + rng.normal(size=n) > 0
    with pytest.warns(UserWarning, match="compared as floating point") as found:
        clf = DiverseRuleSetClassifier(random_state=0, n_jobs=n_jobs).fit(X, y)
    assert {one.filename for one in found} == {__file__}
    X["x3"] = np.where(X.x3 > 1, np.inf, X.x3)
    with pytest.raises(ValueError, match="infinity in the column 'x3'"):
        clf.fit(X, y)


@pytest.mark.parametrize("n_masks", range(1, 10))
@pytest.mark.parametrize("n_threads", [1, 2])
def test_segments_are_counted_under_any_number_of_masks(n_masks, n_threads, monkeypatch):
    monkeypatch.setattr(bitset, "_WORTH_A_THREAD", 1)
    rng = np.random.default_rng(n_masks)
    rows = rng.integers(2**63, size=(7, 500), dtype=np.uint64)
    masks = rng.integers(2**63, size=(n_masks, 500), dtype=np.uint64)
    starts = np.array([0, 3, 3, 290, 500])
    got = bitset.count_segments(rows, masks, starts, n_threads)
    for s, (begin, end) in enumerate(itertools.pairwise(starts)):
        for m in range(n_masks):
            for i in range(7):
                both = rows[i, begin:end] & masks[m, begin:end]
                assert got[s, m, i] == sum(int(word).bit_count() for word in both)
