"""Bit rows that are mapped from a file: more rows can be added without a copy of the others.

The pages of a file that is mapped count as memory of the process only as long as they are in use, and the system can
take them back at any time, because it can read them again.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from diverse_rule_sets._bits.bitset import BitRows

# Number of rows that can be added; they take no space before.
_N_SPARE = 1024
_BYTES = 8  # of a word
# Rows of fewer bytes are not released: to read them again takes longer than they are worth.
KEPT = 2**28


def map_rows(file: IO[bytes], n_rows: int, n_words: int, folder: str | None = None) -> BitRows:
    """Return the rows of an open temporary file, and close it; the last array that uses the rows removes them.

    ``folder`` is that of the file, for :func:`folder_of`.
    """
    with file:
        if not n_rows * n_words:
            return np.zeros((n_rows, n_words), np.uint64)
        file.truncate((n_rows + _N_SPARE) * n_words * _BYTES)
        whole: Any = np.memmap(file, np.uint64, "r+", shape=(n_rows + _N_SPARE, n_words))
        whole.rows_in_use, whole.rows_file = n_rows, os.dup(file.fileno())
        whole.rows_folder = folder
        weakref.finalize(whole, os.close, whole.rows_file)
        return np.asarray(whole)[:n_rows]


def folder_of(rows: BitRows) -> str | None:
    """Return the folder of the file from which rows are mapped; None for rows in memory."""
    base: Any = rows
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and isinstance(base.base, mmap.mmap):
            known = getattr(base, "rows_folder", None)
            return known or (os.path.dirname(base.filename) if isinstance(base.filename, str | os.PathLike) else None)
        base = base.base
    return None


def _whole(rows: BitRows) -> Any:
    """Return the map of which some rows are the first; None if they are no such rows."""
    base = rows
    while isinstance(base.base, np.ndarray):
        base = base.base
        if hasattr(base, "rows_in_use") and base.ctypes.data == rows.ctypes.data:
            return base
    return None


def with_rows(rows: BitRows, more: Sequence[BitRows]) -> BitRows:
    """Return rows with further rows: in the same file, if the rows are mapped and nothing was added yet; or a copy."""
    whole = _whole(rows)
    n_rows, n_new = rows.shape[0], len(more)
    if whole is not None and whole.rows_in_use == n_rows and n_rows + n_new <= whole.shape[0]:
        try:
            # Not through the map: a full disk would end the process.
            os.lseek(whole.rows_file, n_rows * rows.shape[1] * _BYTES, os.SEEK_SET)
            for row in more:
                content = memoryview(row.tobytes())
                while content:
                    content = content[os.write(whole.rows_file, content) :]
            whole.rows_in_use = n_rows + n_new
            return np.asarray(whole)[: n_rows + n_new]
        except OSError:  # the disk is full
            pass
    return np.vstack([rows, *(row[None] for row in more)])


def is_released(rows: BitRows) -> bool:
    """Return whether :func:`release` has an effect: the rows are mapped from a file, and large."""
    return rows.nbytes >= KEPT and _whole(rows) is not None


def release(rows: BitRows) -> None:
    """Tell the system that large mapped rows are not needed for now; they are read again when they are used."""
    whole = _whole(rows) if rows.nbytes >= KEPT else None
    if whole is not None and hasattr(mmap, "MADV_DONTNEED"):
        whole._mmap.madvise(mmap.MADV_DONTNEED)
