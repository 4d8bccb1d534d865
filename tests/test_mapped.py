"""Bit rows that are mapped from a file: rows are added without a copy, and released rows are read again."""

import errno
import os
import tempfile

import numpy as np
import pytest

from diverse_rule_sets._bits import mapped
from diverse_rule_sets.data import _bit_file
from diverse_rule_sets.data._local import LocalBackend

ROWS = np.random.default_rng(0).integers(0, 2**63, (5, 40), np.uint64)


@pytest.fixture(autouse=True)
def always_released(monkeypatch):
    monkeypatch.setattr(mapped, "KEPT", 0)


def mapped_rows():
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
    file.write(ROWS.tobytes())
    return mapped.map_rows(file, *ROWS.shape)


def test_rows_are_those_of_the_file_and_can_be_released():
    rows = mapped_rows()
    np.testing.assert_array_equal(rows, ROWS)
    mapped.release(rows)
    np.testing.assert_array_equal(rows, ROWS)
    mapped.release(ROWS)  # rows in memory stay as they are
    assert mapped.is_released(rows)
    assert not mapped.is_released(ROWS)


def test_rows_are_added_in_the_file_once_and_then_in_a_copy():
    rows, more = mapped_rows(), list(ROWS[:2] + np.uint64(1))
    extended = mapped.with_rows(rows, more)
    assert np.shares_memory(rows, extended)
    np.testing.assert_array_equal(extended, np.vstack([ROWS, more]))
    other = mapped.with_rows(rows, more[:1])  # the place is taken
    assert not np.shares_memory(rows, other)
    np.testing.assert_array_equal(other, np.vstack([ROWS, more[:1]]))
    again = mapped.with_rows(extended, more)
    assert np.shares_memory(extended, again)
    mapped.release(again)
    np.testing.assert_array_equal(again, np.vstack([ROWS, more, more]))
    np.testing.assert_array_equal(mapped.with_rows(ROWS, more), np.vstack([ROWS, more]))
    assert not np.shares_memory(mapped.with_rows(rows[1:], more), rows)  # not the first rows of the file


def test_a_full_disk_gives_a_copy(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    rows = mapped_rows()
    monkeypatch.setattr(os, "write", full)
    extended = mapped.with_rows(rows, [ROWS[0]])
    monkeypatch.undo()
    np.testing.assert_array_equal(extended, np.vstack([ROWS, ROWS[:1]]))


def test_a_backend_of_mapped_rows_counts_as_one_in_memory():
    n = 40 * 64
    y = np.random.default_rng(1).integers(0, 3, n)
    backends = [LocalBackend(rows, y, 3) for rows in (ROWS, mapped_rows())]
    found = []
    for backend in backends:
        more = backend.with_items([backend.cover((0, 1)), backend.of_class(1)])
        counts = more.extension_counts([(0,), (1, 5), ()], more.cover((2,)))
        levels = more.levels([more.cover((k,)) for k in range(7)], [1, 2, 3, 1, 1, 1, 1])
        found.append((counts.tolist(), [one.words.tolist() for one in levels.values()]))
        found[-1] += (list(more.items_at(more.everything, np.arange(0, n, 7)).tuples()),)
        found[-1] += (more.restrict(more.cover((6,))).class_counts_of(found_bodies(more)).tolist(),)
    assert found[0] == found[1]


def found_bodies(backend):
    from diverse_rule_sets._bits.bitset import Lists

    return Lists.of([(item,) for item in range(backend.n_items)])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EOPNOTSUPP])
def test_space_is_reserved_where_the_file_system_can(number, monkeypatch, tmp_path):
    def refuse(*_):
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with open(tmp_path / "t", "wb") as file:
        if number == errno.ENOSPC:
            with pytest.raises(OSError, match="refused"):
                _bit_file._reserve(file, 100)
        else:
            _bit_file._reserve(file, 100)


def test_rows_in_memory_get_further_rows_without_a_copy():
    rng = np.random.default_rng(0)
    whole = mapped.SpareRows((3, 5), np.uint64)
    whole[:] = rng.integers(2**63, size=(3, 5), dtype=np.uint64)
    before, more = np.array(whole[:2]), list(rng.integers(2**63, size=(4, 5), dtype=np.uint64))
    rows = mapped.rows_with_room(whole, 2)
    assert (rows == before).all()
    longer = mapped.with_rows(rows, more)
    assert np.shares_memory(rows, longer)
    assert (longer == [*before, *more]).all()
    others = mapped.with_rows(rows, more[:1])  # the room is in use
    assert not np.shares_memory(others, rows)
    assert (others == [*before, more[0]]).all()
    assert (longer == [*before, *more]).all()
    many = list(rng.integers(2**63, size=(100, 5), dtype=np.uint64))
    assert (mapped.with_rows(longer, many) == [*before, *more, *many]).all()  # more than there is room for
    assert not mapped.is_released(rows)
