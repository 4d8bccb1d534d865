"""Parquet and Arrow files, read in batches by pyarrow."""

from __future__ import annotations

import gzip
import itertools
import tempfile
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from diverse_rule_sets.sources._errors import InputError, optional
from diverse_rule_sets.sources._source import MAX_RECORDS, batch_size


@contextmanager
def arrow_errors(name: str, form: str) -> Iterator[None]:
    """Turn errors of pyarrow about a file into errors that name the file."""
    arrow = optional("pyarrow", f"reading {form} files")
    try:
        yield
    except (arrow.ArrowException, OSError, EOFError) as error:
        if isinstance(error, OSError) and error.errno is not None and error.strerror:
            raise InputError(f"{name}: {error.strerror}") from None
        text = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name}: cannot be read as {form}, it is cut off or damaged: {text:.300}") from None


def in_batches(batches: Iterator[Any], n_records: int) -> Iterator[Any]:
    """Return record batches as tables of a number of records; small ones are joined, large ones divided."""
    arrow = optional("pyarrow", "reading tables in batches")
    waiting: list[Any] = []
    size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        size += batch.num_rows
        while size >= n_records:
            table = arrow.Table.from_batches(waiting)
            yield table.slice(0, n_records)
            waiting = table.slice(n_records).to_batches()
            size -= n_records
    if size:
        yield arrow.Table.from_batches(waiting)


class _ArrowTable:
    """What Parquet and Arrow files have in common."""

    form: str
    n_records: int | None = None

    def __init__(self, path: str) -> None:
        self.path = path
        with self._read() as file:
            self.names = self._names(file)
        duplicate = next((name for j, name in enumerate(self.names) if name in self.names[:j]), None)
        if duplicate is not None:
            raise InputError(f"{path}: two columns are called {duplicate!r}; expected different names")

    @contextmanager
    def _read(self) -> Iterator[Any]:
        """Open the file; a compressed one is decompressed to a temporary file, because its parts are not in order."""
        with arrow_errors(self.path, self.form):
            with open(self.path, "rb") as file:
                is_packed = file.read(2) == b"\x1f\x8b"
            if not is_packed:
                with self._open(self.path) as content:
                    yield content
                return
            with tempfile.NamedTemporaryFile() as unpacked:
                with gzip.open(self.path) as packed:
                    self._copy(packed, unpacked)
                with self._open(unpacked.name) as content:
                    yield content

    def _copy(self, packed: Any, unpacked: Any) -> None:
        """Copy the content to a temporary file."""
        while content := packed.read(2**20):
            try:
                unpacked.write(content)
                unpacked.flush()
            except OSError as error:
                raise InputError(
                    f"{self.path}: cannot be decompressed: {tempfile.gettempdir()!r}, the folder for temporary files, "
                    f"is full ({error.strerror}); set TMPDIR to a folder with more space, or decompress the file"
                ) from None

    def _open(self, path: str) -> Any:
        raise NotImplementedError

    def _names(self, file: Any) -> list[str]:
        raise NotImplementedError

    def batches(self, columns: Collection[Hashable] | None) -> Iterator[Any]:
        """Iterate over the records as Arrow tables."""
        selected = [name for name in self.names if columns is None or name in columns] or self.names[:1]
        with self._read() as file:
            yield from in_batches(self._record_batches(file, selected), batch_size(len(selected)))

    def _record_batches(self, file: Any, selected: list[str]) -> Iterator[Any]:
        raise NotImplementedError


class ParquetFile(_ArrowTable):
    """A Parquet file.

    Parameters
    ----------
    path : the file
    row_groups : the row groups that are read; None for all
    """

    form = "Parquet"

    def __init__(self, path: str, row_groups: Sequence[int] | None = None) -> None:
        self._row_groups = row_groups
        super().__init__(path)

    def _open(self, path: str) -> Any:
        return optional("pyarrow.parquet", "reading Parquet files").ParquetFile(
            path, pre_buffer=False, memory_map=False
        )

    def _names(self, file: Any) -> list[str]:
        sizes = [file.metadata.row_group(k).num_rows for k in range(file.metadata.num_row_groups)]
        chosen = range(len(sizes)) if self._row_groups is None else self._row_groups
        self.n_records = sum(sizes[k] for k in chosen)
        self.groups_of_row_groups = _grouped([(k, sizes[k]) for k in chosen])
        return list(file.schema_arrow.names)

    def _record_batches(self, file: Any, selected: list[str]) -> Iterator[Any]:
        yield from file.iter_batches(batch_size(len(selected)), row_groups=self._row_groups, columns=selected)


def _grouped(sizes: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return consecutive row groups together that have at least as many records as a batch, given their sizes."""
    groups: list[list[int]] = [[]]
    n = 0
    for number, size in sizes:
        if n >= MAX_RECORDS:
            groups.append([])
            n = 0
        groups[-1].append(number)
        n += size
    return groups


class ArrowFile(_ArrowTable):
    """A file of Arrow's IPC format, also called Feather, or of its stream format.

    Parameters
    ----------
    path : the file
    """

    form = "Arrow"

    def _open(self, path: str) -> Any:
        ipc = optional("pyarrow.ipc", "reading Arrow files")
        file = optional("pyarrow", "reading Arrow files").OSFile(path)
        start = file.read(6)
        file.seek(0)
        return ipc.open_file(file) if start == b"ARROW1" else ipc.open_stream(file)

    def _names(self, file: Any) -> list[str]:
        return list(file.schema.names)

    def _record_batches(self, file: Any, selected: list[str]) -> Iterator[Any]:
        numbers = getattr(file, "num_record_batches", None)
        found = iter(file) if numbers is None else (file.get_batch(k) for k in range(numbers))
        for batch in itertools.chain(found):
            yield batch.select(selected)
