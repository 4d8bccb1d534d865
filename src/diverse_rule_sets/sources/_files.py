"""Files as a source: a path, several paths, or a folder; Parquet, Arrow, CSV and TSV, also compressed by gzip."""

from __future__ import annotations

import os
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from diverse_rule_sets._input.checks import list_text
from diverse_rule_sets.sources._arrow_files import ArrowFile, ParquetFile
from diverse_rule_sets.sources._errors import InputError
from diverse_rule_sets.sources._source import Batch, ColumnTypes, Source

ENDINGS = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "arrows": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
}
TEXT_FORMATS = ("csv", "tsv")


def paths_of(X: Any) -> list[str]:
    """Return the files of a path, a folder, or a list of these, in the order in which they are read.

    The files of a folder, and of the folders in it, are sorted by name; hidden files and files whose names begin with
    an underscore are left out.
    """
    paths: list[str] = []
    for path in X if isinstance(X, list | tuple) else [X]:
        text = os.fspath(path)
        if os.path.isdir(text):
            found = sorted(str(file) for file in Path(text).rglob("*") if _is_table(file, text))
            if not found:
                raise InputError(f"{text}: expected a folder of tables, but it has no files")
            paths += found
        elif not os.path.exists(text):
            raise InputError(f"{text}: there is no such file or folder")
        else:
            paths.append(text)
    return paths


def _is_table(file: Path, folder: str) -> bool:
    """Return whether a file of a folder is part of the table; a link to a file that is gone is an error later."""
    is_file = file.is_file() or (file.is_symlink() and not file.exists())
    return is_file and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def format_of(path: str) -> str:
    """Return the format of a file, by the ending of its name."""
    ending = Path(path.lower().removesuffix(".gz")).suffix[1:]
    if ending not in ENDINGS:
        known = ", ".join(f".{one}" for one in ENDINGS)
        raise InputError(f"{path}: the format is unknown; expected a file that ends in one of {known}, or with .gz")
    return ENDINGS[ending]


class FileSource(Source):
    """The records of some files, one after the other. All files have the same columns, in any order.

    Parameters
    ----------
    paths : the files
    types : the types of columns of text files; by default found from all their cells
    target : the column of text files that holds labels
    reading : how text files are read; by default as UTF-8 with commas or tabs
    form : the format of all files; by default by the endings of their names
    row_groups : the row groups of Parquet files that are read; None for all
    """

    def __init__(
        self,
        paths: Sequence[str],
        types: ColumnTypes | None = None,
        target: Hashable | None = None,
        reading: Any = None,
        form: str | None = None,
        row_groups: Sequence[int] | None = None,
    ) -> None:
        self.reading, self._form, self._row_groups = reading, form, row_groups
        self.paths = list(paths)
        self.name = self.paths[0] if len(self.paths) == 1 else f"{len(self.paths):,} files"
        self._types, self._target = types, target
        self._files: list[Any] | None = None

    @property
    def files(self) -> list[Any]:
        """The files, opened and with their columns checked."""
        if self._files is None:
            self._files = self._open()
        return self._files

    def _open(self) -> list[Any]:
        formats = [self._form or format_of(path) for path in self.paths]
        files: list[Any] = []
        texts = None
        if set(formats) & set(TEXT_FORMATS):
            from diverse_rule_sets.sources._text_source import TextFile, TextTypes

            texts = TextTypes(self._types, self._target, self.reading)
        for path, form in zip(self.paths, formats, strict=True):
            if texts is not None and form in TEXT_FORMATS:
                files.append(TextFile(path, form, texts))
            else:
                files.append(ParquetFile(path, self._row_groups) if form == "parquet" else ArrowFile(path))
            _check_columns(files[0], files[-1])
        if texts is not None:
            texts.files = [file for file, form in zip(files, formats, strict=True) if form in TEXT_FORMATS]
        return files

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns."""
        return list(self.files[0].names)

    @property
    def n_records(self) -> int | None:
        """The number of records, if all files state it."""
        sizes = [file.n_records for file in self.files]
        return None if None in sizes else sum(sizes)

    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Iterate over the records of the files."""
        for file in self.files:
            for frame in file.batches(columns):
                yield Batch(frame, file.path)

    def fingerprint(self) -> tuple[Any, ...]:
        """Return the names, sizes and times of the files."""
        stats = [(os.path.abspath(path), os.stat(path)) for path in self.paths]
        return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats)

    def parts(self) -> list[Source]:
        """Return a source for each file, or for some row groups of a Parquet file."""
        parts: list[Source] = []
        for path, file in zip(self.paths, self.files, strict=True):
            for row_groups in getattr(file, "groups_of_row_groups", [None]):
                parts.append(self._copy(paths=[os.path.abspath(path)], row_groups=row_groups))
        return parts

    @property
    def has_texts(self) -> bool:
        """Whether some files hold text, whose columns have no types of their own."""
        return any((self._form or format_of(path)) in TEXT_FORMATS for path in self.paths)

    def guesses(self) -> dict[Hashable, Any]:
        """Return what the cells of text files tell about the types of columns."""
        texts = next((file.types for file in self.files if hasattr(file, "types")), None)
        return {} if texts is None else dict(texts.guesses(self.names))

    def with_kinds(self, kinds: Mapping[Hashable, str]) -> FileSource:
        """Return the same files; columns of text files have types that were found from all parts of a table."""
        if not kinds:
            return self
        from diverse_rule_sets.sources._text_source import TextReading

        reading = self.reading or TextReading()
        return self._copy(reading=replace(reading, kinds={**kinds, **reading.kinds}))

    def with_types(self, types: ColumnTypes) -> FileSource:
        """Return the same files, whose text columns are read as given types."""
        return self._copy(types=types)

    def with_labels(self, target: Hashable) -> FileSource:
        """Return the same files, in which a column of text files holds labels."""
        return self._copy(target=target)

    def _copy(self, **changes: Any) -> FileSource:
        """Return the same files, read in another way."""
        own = {"paths": self.paths, "types": self._types, "target": self._target, "reading": self.reading}
        return FileSource(**{**own, "form": self._form, "row_groups": self._row_groups, **changes})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_files": None}  # opened again by another process


def _check_columns(first: Any, file: Any) -> None:
    """Raise an error if a file has not the columns of the first one."""
    missing = [name for name in first.names if name not in set(file.names)]
    more = [name for name in file.names if name not in set(first.names)]
    if missing or more:
        parts = [f"lacks {list_text(missing)}"] if missing else []
        parts += [f"also has {list_text(more)}"] if more else []
        raise InputError(f"{file.path}: has other columns than {first.path}: it {' and '.join(parts)}")
