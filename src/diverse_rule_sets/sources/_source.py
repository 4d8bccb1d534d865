"""What a source is: a table that is read in batches, as often as needed."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from diverse_rule_sets._input.checks import did_you_mean, list_text

# Maximum number of records of a batch, and of cells of a batch of many columns.
MAX_RECORDS, MAX_CELLS = 2**17, 2**22


class Batch(NamedTuple):
    """Some records of a source.

    Parameters
    ----------
    frame : a data frame of pandas, polars or Arrow, with at least one record
    origin : the file or the part of the source that has these records, for errors
    """

    frame: Any
    origin: str


class ColumnTypes(NamedTuple):
    """The types as which the columns of text files are read.

    Parameters
    ----------
    kinds : the type of each column
    values : the values that conditions name, by column; a text such as NA is a value if a condition names it
    missing : further texts of missing values, by column
    """

    kinds: Mapping[Hashable, str]
    values: Mapping[Hashable, tuple[Any, ...]]
    missing: Mapping[Hashable, tuple[str, ...]]


class Source(ABC):
    """A table that is read in batches, several times, always with the same records in the same order."""

    name: str  # in messages

    @property
    @abstractmethod
    def names(self) -> list[Hashable]:
        """The names of the columns."""

    @abstractmethod
    def batches(self, columns: Collection[Hashable] | None = None) -> Iterator[Batch]:
        """Iterate over the records.

        Parameters
        ----------
        columns : the columns to read; None for all. A batch may have others as well
        """

    @property
    def n_records(self) -> int | None:
        """The number of records, if it is known without reading them."""
        return None

    def fingerprint(self) -> tuple[Any, ...] | None:
        """Return what tells whether the source has changed, without reading it; None if nothing does."""
        return None

    def parts(self) -> list[Source] | None:
        """Return consecutive parts that other processes can read; None if the source cannot be read elsewhere."""
        return None

    @property
    def has_texts(self) -> bool:
        """Whether there are text columns, which have no types of their own."""
        return False

    def guesses(self) -> dict[Hashable, Any]:
        """Return what the cells of text columns tell about their types; empty for columns that have types."""
        return {}

    def with_kinds(self, kinds: Mapping[Hashable, str]) -> Source:
        """Return the same source, whose text columns have types that were found from all parts of a table."""
        return self

    def with_types(self, types: ColumnTypes) -> Source:
        """Return the same source, whose text columns are read as given types; other columns have their types."""
        return self

    def with_labels(self, target: Hashable) -> Source:
        """Return the same source, in which a column of text files holds labels."""
        return self


def batch_size(n_columns: int) -> int:
    """Return the number of records that are read at a time."""
    return max(1024, min(MAX_RECORDS, MAX_CELLS // max(n_columns, 1)))


def free_memory() -> None:
    """Give the memory back that pyarrow keeps for further batches."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()


def changed(source: Source) -> ValueError:
    """Return the error about a source that does not give the same records each time."""
    return ValueError(
        f"{source.name}: the records changed between two readings; a table must give the same records in the same "
        "order each time it is read"
    )


def check_target(y: Any, source: Source) -> None:
    """Raise an error unless y is the name of a column of a source."""
    if isinstance(y, np.ndarray | list | dict) or hasattr(y, "__len__") != isinstance(y, str | tuple):
        raise TypeError(
            f"y must be the name of the column of X with the labels, because X is read in batches ({source.name}), got "
            f"{type(y).__name__}"
        )
    if y not in source.names:
        raise ValueError(
            f"y must be the name of a column of {source.name}, got {y!r}; its columns: {list_text(source.names)}"
            f"{did_you_mean(y, source.names)}"
        )
