"""Bit rows in a file: written block by block, then mapped into memory for the search.

The file is temporary by default. It has no name in its folder from the start (on systems that allow this), so that it
vanishes when the process ends in any way. In a folder of the user's it is kept with a description of what it holds, and
used again by a fit on the same files with the same conditions.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from diverse_rule_sets._bits.bitset import BitRows, Flags, n_words, popcount
from diverse_rule_sets._bits.mapped import map_rows
from diverse_rule_sets._input.checks import warn
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._util.memory import MEMORY_SHARE, physical_memory
from diverse_rule_sets._util.progress import OnProgress, RecordProgress
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._encoder import Encoded, Encoder
from diverse_rule_sets.data._summary_table import SummaryTable
from diverse_rule_sets.sources._source import free_memory

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_BYTES = 8  # of a word
_VERSION = 1  # of the files in a folder of the user's


class Storage(NamedTuple):
    """Where the bits of a source are kept.

    Parameters
    ----------
    folder : a folder of the user's; None for a temporary file
    source_key : what tells whether the source has changed; None if nothing does
    on_progress : function that is called during the pass
    """

    folder: str | None = None
    source_key: tuple[Any, ...] | None = None
    on_progress: OnProgress | None = None


def encode(encoder: Encoder, table: Table, target: Target, n_copies: int = 0) -> Encoded:
    """Learn the conditions of a table, and return the bits of its records; those of a source are mapped from a file.

    ``n_copies`` is the number of copies of records, for which space is needed beside the records: those of
    :mod:`._copies` if records have weights.
    """
    if not isinstance(table, SummaryTable):
        return encoder.fit_transform(table, target)
    encoder.fit(table, target)
    table.forget(encoder.given_conditions.columns)
    return _pack(table, encoder, table.storage or Storage(), n_copies)


def _pack(table: SummaryTable, encoder: Encoder, storage: Storage, n_copies: int) -> Encoded:
    """Return the bits of all records; items that hold for no or for every record are removed from the encoder."""
    folder, source_key, on_progress = storage
    n_items, n_records = len(encoder.conditions), table.n_records
    n_rows = n_items + encoder.n_given
    place = folder if folder is not None else tempfile.gettempdir()
    path = _kept_path(folder, table, encoder, source_key)
    kept = None if path is None else _kept_items(path, n_items, encoder.n_given, n_records)
    _check_space((n_records if kept is None else 0, n_copies), n_rows, place)
    if kept is None:
        with _bit_file(place, path) as file:
            kept = _write(file, table, encoder, n_rows, on_progress)
            free_memory()
            if path is None:
                encoder.keep(kept)
                return _mapped_temporary(file, int(kept.sum()), encoder.n_given, n_words(n_records), place)
    assert path is not None
    encoder.keep(kept)
    n_kept = int(kept.sum())
    rows = _mapped(path, n_kept + encoder.n_given, n_records)
    return Encoded(rows[:n_kept], rows[n_kept:])


def _mapped_temporary(file: IO[bytes], n_items: int, n_given: int, width: int, place: str) -> Encoded:
    """Return the rows of a temporary file, to which further items can be added."""
    file.seek(n_items * width * _BYTES)
    given = np.frombuffer(file.read(n_given * width * _BYTES), np.uint64).reshape(n_given, width).copy()
    return Encoded(map_rows(file, n_items, width, place), given)


def rows_in_file(rows: Iterable[BitRows], n_rows: int, width: int, place: str) -> BitRows:
    """Write rows of bits into a temporary file in a folder, one after the other, and return them, mapped."""
    with _bit_file(place, None) as file:
        _reserve(file, n_rows * width * _BYTES)
        file.seek(0)
        for row in rows:
            _write_all(file, row.tobytes())
        return map_rows(file, n_rows, width, place)


def _kept_items(path: Path, n_items: int, n_given: int, n_records: int) -> Flags | None:
    """Return which items a file of an earlier fit holds; None if there is none, or it is damaged."""
    if not path.exists():
        return None
    with path.open("rb") as file:
        file.seek(-min(n_items, path.stat().st_size), os.SEEK_END)
        kept = np.frombuffer(file.read(), np.uint8)
    n_rows = int(kept.sum(dtype=np.int64)) + n_given
    whole = kept.size == n_items and path.stat().st_size == n_rows * n_words(n_records) * _BYTES + n_items
    return kept.astype(np.bool_) if whole else None


def _check_space(n_bits: tuple[int, int], n_rows: int, place: str) -> None:
    """Raise an error if the bits fit neither on the disk nor in memory.

    Parameters
    ----------
    n_bits : for each condition, number of bits for the records and for copies of weighted records
    n_rows : number of conditions
    place : the folder of the file
    """
    sizes = [n_rows * n_words(n) * _BYTES for n in n_bits]
    free = shutil.disk_usage(place).free
    advice = "leave out columns, group categories, or fit on a part of the records"
    if n_bits[1]:
        advice += ", or round the weights to few digits"
    if sum(sizes) > free:
        raise OSError(
            errno.ENOSPC,
            f"the bits of {n_rows:,} conditions need {sum(sizes) / 1e9:.2f} GB in {place!r}, where {free / 1e9:.2f} GB "
            f"are free; give cache_dir, a folder with more space, {advice}",
        )
    limit = MEMORY_SHARE * physical_memory()
    if max(sizes) > limit:
        raise MemoryError(
            f"the bits of {n_rows:,} conditions need {max(sizes) / 1e9:.1f} GB, more than {limit / 1e9:.1f} GB, "
            f"{MEMORY_SHARE:.0%} of the memory; {advice}"
        )


@contextmanager
def _bit_file(place: str, path: Path | None) -> Iterator[IO[bytes]]:
    """Open a file to write; it gets the path after the block, or else vanishes when it is closed."""
    try:
        if path is None:
            unnamed = tempfile.TemporaryFile(dir=place, buffering=0)  # noqa: SIM115
            try:
                yield unnamed
            except BaseException:
                unnamed.close()
                raise
            return
        handle, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=place)
        try:
            with os.fdopen(handle, "rb+", buffering=0) as file:
                yield file
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        if error.errno in _FULL and error.filename is None and "cache_dir" not in str(error):
            raise OSError(
                error.errno,
                f"{place!r} is full ({error.strerror}): nothing was kept; give cache_dir, a folder with more space, or "
                "leave out columns",
            ) from None
        raise


def _write(
    file: IO[bytes], table: SummaryTable, encoder: Encoder, n_rows: int, on_progress: OnProgress | None
) -> Flags:
    """Write the bits of all records, each row at its place, then which items are kept: not those that are constant."""
    width = n_words(table.n_records)
    _reserve(file, n_rows * width * _BYTES)
    progress = RecordProgress("packing", table.n_records, on_progress)
    sizes, begin = np.zeros(n_rows, np.int64), 0
    carried = np.zeros(n_rows, np.uint64)  # the last word of each row, which is not full yet
    for block in table.blocks(encoder.columns_tested(table)):
        encoded = _transformed(encoder, block)
        first, n_carried = begin // 64, begin % 64
        begin += block.n_records
        for number, row in enumerate(itertools.chain(encoded.rows, encoded.given)):
            sizes[number] += popcount(row)
            words = _after(carried[number], n_carried, row)
            n_full = begin // 64 - first
            carried[number] = words[n_full] if n_full < words.size else 0
            _write_at(file, words[:n_full], number * width + first)
        progress.add(block.n_records)
    for number in range(n_rows if begin % 64 else 0):
        _write_at(file, carried[number : number + 1], number * width + begin // 64)
    n_items = len(encoder.conditions)
    kept = (sizes[:n_items] > 0) & (sizes[:n_items] < table.n_records)
    if not kept.all():
        _move_rows(file, [*np.flatnonzero(kept).tolist(), *range(n_items, n_rows)], width)
    file.truncate((int(kept.sum()) + n_rows - n_items) * width * _BYTES)
    file.seek(0, os.SEEK_END)
    _write_all(file, kept.astype(np.uint8).tobytes())
    return kept


def _reserve(file: IO[bytes], size: int) -> None:
    """Reserve space on the disk, where the file system can; raise an error if there is too little."""
    try:
        if size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno in _FULL:
            raise


def _after(carried: np.uint64, n_carried: int, row: BitRows) -> BitRows:
    """Return the words of a row after the bits that are carried from earlier records."""
    if not n_carried:
        return row
    words = np.zeros(row.size + 1, np.uint64)
    words[:-1] = row << np.uint64(n_carried)
    words[1:] |= row >> np.uint64(64 - n_carried)
    words[0] |= carried
    return words


def _write_at(file: IO[bytes], words: BitRows, position: int) -> None:
    """Write some words at their place in the file."""
    if words.size:
        file.seek(position * _BYTES)
        _write_all(file, words.tobytes())


def _write_all(file: IO[bytes], content: bytes) -> None:
    """Write everything; a disk that is nearly full may take a part only."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) or 0 :]


def _move_rows(file: IO[bytes], rows: list[int], width: int) -> None:
    """Move some rows, ascending, to the start of the file."""
    for new, old in enumerate(rows):
        if new != old:
            file.seek(old * width * _BYTES)
            row = file.read(width * _BYTES)
            file.seek(new * width * _BYTES)
            _write_all(file, row)


def _transformed(encoder: Encoder, block: Any) -> Encoded:
    """Return the bits of a block; an error names the file."""
    try:
        return encoder.transform(block)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{block.origin}: {error}") from None


def _mapped(file: IO[bytes] | Path, n_rows: int, n_records: int) -> BitRows:
    """Return the rows of a file."""
    shape = (n_rows, n_words(n_records))
    if not n_rows:
        return np.zeros(shape, np.uint64)
    # A private map: it is not read-only, for which the kernels would be compiled again, but the file never changes.
    return np.asarray(np.memmap(file, np.uint64, "c", shape=shape))


def _kept_path(folder: str | None, table: SummaryTable, encoder: Encoder, source_key: Any) -> Path | None:
    """Return the file in a folder of the user's, named after what it holds; None if it is not kept."""
    if folder is None:
        return None
    if not os.path.isdir(folder):
        raise ValueError(f"cache_dir must be an existing folder, got {folder!r}")
    if source_key is None:
        warn(
            "cache_dir cannot be used again, because X is not a file: only the time of a file tells whether it changed"
        )
        return None
    given = [repr(one.condition) for one in encoder.given_conditions]
    content = [_VERSION, source_key, table.n_records, list(map(repr, encoder.conditions)), given]
    content += [sorted((repr(name), repr(codes)) for name, codes in table.codes.items())]
    key = hashlib.sha256(json.dumps(content, default=repr).encode("utf8", "surrogatepass")).hexdigest()
    return Path(folder) / f"bits-{key[:32]}.drs"
