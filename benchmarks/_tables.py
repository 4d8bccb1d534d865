"""The tables of the frontier: CSV files of a folder or tables that scikit-learn ships; their columns as numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from _paper import CODES, renamed
from sklearn import datasets

SHIPPED = ("iris", "wine", "breast_cancer", "digits")
# A stratified split needs a record of each class in the test part, which is a fifth of the table.
MIN_CLASS_SIZE = 5
# A column of text with more values than this is one-hot encoded by its most frequent values only.
MAX_LEVELS = 100


class TableNameError(Exception):
    """A table was asked for that is not there, or cannot be used."""


@dataclass(frozen=True)
class Table:
    """A table without classes that are too small to be split.

    Parameters
    ----------
    name : the name under which results are reported
    X : the columns as they are in the file
    y : the labels, as text
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray

    @cached_property
    def classes(self) -> np.ndarray:
        """The sorted labels."""
        return np.unique(self.y.astype(str)).astype(object)

    @cached_property
    def codes(self) -> np.ndarray:
        """The position of each label among the classes."""
        return np.searchsorted(self.classes.astype(str), self.y.astype(str))

    @cached_property
    def numbers(self) -> Numbers:
        """The columns as numbers, for models that read nothing else."""
        return as_numbers(self.X)

    @property
    def shape(self) -> dict[str, int]:
        """Number of records, columns and classes."""
        return {"records": len(self.y), "columns": self.X.shape[1], "classes": len(self.classes)}


@dataclass(frozen=True)
class Numbers:
    """Columns as numbers; text one-hot encoded.

    Parameters
    ----------
    values : one row per record; NaN where a number is missing
    column : for each column of ``values``, the position of the column of the table that it comes from
    """

    values: np.ndarray
    column: np.ndarray

    @cached_property
    def filled(self) -> np.ndarray:
        """The values with a number below all others of the column where one is missing."""
        values = self.values.copy()
        for column in np.flatnonzero(np.isnan(values).any(axis=0)):
            missing = np.isnan(values[:, column])
            values[missing, column] = 0.0 if missing.all() else values[~missing, column].min() - 1.0
        return values


def as_numbers(X: pd.DataFrame) -> Numbers:
    """Return the columns of a table as numbers. Missing text is a row of zeros. No label is used."""
    parts, column = [], []
    for position, name in enumerate(X):
        values = X[name]
        if pd.api.types.is_numeric_dtype(values):
            encoded = values.to_numpy(float, na_value=np.nan)[:, None]
        else:
            text = values.astype(str).where(values.notna())
            levels = sorted(text.value_counts().index[:MAX_LEVELS])
            encoded = (text.to_numpy(object)[:, None] == np.array(levels, object)[None, :]).astype(float)
        parts.append(encoded)
        column += [position] * encoded.shape[1]
    # Trees of scikit-learn compare float32.
    return Numbers(np.hstack(parts).astype(np.float32), np.array(column))


def without_small_classes(name: str, X: pd.DataFrame, y: pd.Series) -> Table:
    """Return a table without the classes of fewer than five records."""
    y = y.where(y.isna(), y.astype(str))
    keep = (y.map(y.value_counts()) >= MIN_CLASS_SIZE).to_numpy()
    labels = y[keep].to_numpy(object)
    if len(set(labels)) < 2:
        raise TableNameError(f"table {name} has fewer than two classes of {MIN_CLASS_SIZE} records or more")
    return Table(name, X[keep].reset_index(drop=True), labels)


def read(name: str, path: Path) -> Table:
    """Read a table from a CSV file whose last column, ``class``, is the target."""
    frame = renamed(pd.read_csv(path))
    if len(frame.columns) < 2 or frame.columns[-1] != "class":
        raise TableNameError(f"{path} must have the target in its last column, named class")
    for column in CODES.get(path.name.split(".")[0], set()) & set(frame.columns):
        frame[column] = frame[column].astype(str)
    return without_small_classes(name, frame.drop(columns="class"), frame["class"])


def shipped(name: str) -> Table:
    """Return a table that scikit-learn ships."""
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    return without_small_classes(name, bunch.data, bunch.target)


def files_in(folder: Path) -> dict[str, Path]:
    """Return the CSV files of a folder and its subfolders by name; two files of one name have their folder before it.

    A file is not opened before its table is used.
    """
    if not folder.is_dir():
        raise TableNameError(f"--data must be a folder, got {folder}")
    found = sorted(path for ending in ("*.csv", "*.csv.gz") for path in folder.rglob(ending))
    times = Counter(path.name.split(".")[0] for path in found)
    names = {}
    for path in found:
        name = path.name.split(".")[0]
        names[name if times[name] == 1 else (path.relative_to(folder).parent / name).as_posix()] = path
    return names


class Tables:
    """The chosen tables, read when they are asked for.

    Parameters
    ----------
    data : a folder, or None for the tables that scikit-learn ships
    chosen : names of tables, or of subfolders for all tables in them; empty for all
    excluded : names of tables or subfolders to leave out
    """

    def __init__(self, data: str | None, chosen: list[str] | None = None, excluded: list[str] | None = None):
        self.files: dict[str, Path | None] = dict.fromkeys(SHIPPED) if data is None else dict(files_in(Path(data)))
        where = "scikit-learn (give a folder with --data)" if data is None else str(data)
        if not self.files:
            raise TableNameError(f"no file *.csv or *.csv.gz in {where}")
        left_out = {name for asked in excluded or () for name in self._named(asked, where)}
        asked_for = [name for asked in chosen or () for name in self._named(asked, where)] or list(self.files)
        self.names = [name for name in dict.fromkeys(asked_for) if name not in left_out]
        if not self.names:
            raise TableNameError("--exclude leaves no table")

    def _named(self, asked: str, where: str) -> list[str]:
        """Return the names of tables that a name of a table or subfolder stands for."""
        if asked in self.files:
            return [asked]
        inside = [
            name for name, path in self.files.items() if path is not None and path.parent.name == asked.strip("/")
        ]
        if not inside:
            raise TableNameError(f"no table {asked!r} in {where}; there are: {', '.join(self.files)}")
        return inside

    def load(self, name: str) -> Table:
        """Return a table."""
        path = self.files[name]
        return shipped(name) if path is None else read(name, path)
