"""The paper's five tables: from a folder, or downloaded once; and checked, wherever they come from."""

from __future__ import annotations

import hashlib
import io
import os
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import get_data_home, load_iris

UCI = "https://archive.ics.uci.edu/static/public"
CONTRACEPT = [
    "age",
    "education",
    "husband_education",
    "nchildren",
    "religion",
    "working",
    "husband_occupation",
    "living_index",
    "media_exposure",
]
CARDIO = [
    "LB",
    "AC",
    "FM",
    "UC",
    "ASTV",
    "MSTV",
    "ALTV",
    "MLTV",
    "DL",
    "DS",
    "DP",
    "Width",
    "Min",
    "Max",
    "Nmax",
    "Nzeros",
    "Mode",
    "Mean",
    "Median",
    "Variance",
    "Tendency",
]
AVILA = [
    "intercolumnar_distance",
    "upper_margin",
    "lower_margin",
    "exploitation",
    "row_number",
    "modular_ratio",
    "interlinear_spacing",
    "weight",
    "peak_number",
    "modular_ratio_interlinear_spacing",
]


IRIS = ["sepal.length", "sepal.width", "petal.length", "petal.width"]
ANURAN = [f"MFCCs_{j:2d}" for j in range(1, 23)]


class TableError(Exception):
    """A table is not there, or is not the one that the paper used."""


@dataclass(frozen=True)
class Known:
    """What is known of a table.

    Parameters
    ----------
    columns : the names of its columns, without the class
    class_counts : records of each class
    checksum : the start of :func:`checksum`
    parse : turns what was downloaded into a frame with the class in the last column
    url : where it is downloaded from; empty for what scikit-learn ships
    codes : columns whose numbers stand for categories
    """

    columns: list[str]
    class_counts: dict[str, int]
    checksum: str
    parse: Callable[[bytes], pd.DataFrame]
    url: str = ""
    codes: tuple[str, ...] = ()

    @property
    def n_records(self) -> int:
        """How many records the table has."""
        return sum(self.class_counts.values())


def _member(content: bytes, ending: str) -> bytes:
    """Return the file with that ending in an archive, or in an archive within it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        for name in names:
            if name.lower().endswith(ending.lower()):
                return archive.read(name)
        for name in names:
            if name.lower().endswith(".zip"):
                return _member(archive.read(name), ending)
    raise TableError(f"the archive holds no file {ending}, only {', '.join(names) or 'nothing'}")


def _iris(_: bytes) -> pd.DataFrame:
    bunch = load_iris(as_frame=True)
    frame = bunch.data.set_axis(IRIS, axis=1)
    return frame.assign(**{"class": [f"Iris-{name}" for name in bunch.target_names[bunch.target]]})


def _contracept(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(_member(content, "cmc.data")), header=None, names=[*CONTRACEPT, "class"])


def _cardio(content: bytes) -> pd.DataFrame:
    """Take the sheet of raw data; its last rows are sums, without a class."""
    raw = pd.read_excel(io.BytesIO(_member(content, "CTG.xls")), sheet_name="Raw Data")
    frame = raw[[*CARDIO, "NSP"]].dropna().rename(columns={"NSP": "class"}).reset_index(drop=True)
    return frame.assign(**{"class": frame["class"].astype(int)})


def _anuran(content: bytes) -> pd.DataFrame:
    frame = pd.read_csv(io.BytesIO(_member(content, "Frogs_MFCCs.csv")))
    return frame.drop(columns=["Genus", "Species", "RecordID"]).rename(columns={"Family": "class"})


def _avila(content: bytes) -> pd.DataFrame:
    parts = [
        pd.read_csv(io.BytesIO(_member(content, f"avila-{part}.txt")), header=None, names=[*AVILA, "class"])
        for part in ("tr", "ts")
    ]
    frame = pd.concat(parts, ignore_index=True)
    return frame[frame["class"].isin(["A", "E", "F", "I"])].reset_index(drop=True)


TABLES = {
    "iris": Known(
        IRIS,
        {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50},
        "f3c4b5de8d0852d3",
        _iris,
    ),
    "contracept": Known(
        CONTRACEPT,
        {"1": 629, "2": 333, "3": 511},
        "521e5ad3a3347962",
        _contracept,
        f"{UCI}/30/contraceptive+method+choice.zip",
        tuple(name for name in CONTRACEPT if name not in ("age", "nchildren")),
    ),
    "cardio": Known(
        CARDIO, {"1": 1655, "2": 295, "3": 176}, "85745d7f67a11ae3", _cardio, f"{UCI}/193/cardiotocography.zip"
    ),
    "anuran": Known(
        ANURAN,
        {"Bufonidae": 68, "Dendrobatidae": 542, "Hylidae": 2165, "Leptodactylidae": 4420},
        "e2d46d69ebcaa7a3",
        _anuran,
        f"{UCI}/406/anuran+calls+mfccs.zip",
    ),
    "avila": Known(
        AVILA, {"A": 8572, "E": 2190, "F": 3923, "I": 1663}, "c428743724e4f409", _avila, f"{UCI}/459/avila.zip"
    ),
}


def load(name: str, data: str | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    """Return records and labels of a table, with codes as strings.

    Parameters
    ----------
    name : iris, contracept, cardio, anuran or avila
    data : a folder that holds ``name.csv``, in it or in its folder ``paper``; None to download, once
    """
    known = TABLES[name]
    frame = _downloaded(name, known) if data is None else renamed(_from_folder(name, Path(data)))
    _check(name, known, frame)
    for column in known.codes:
        frame[column] = frame[column].astype(str)
    return frame.drop(columns="class"), frame["class"].astype(str).to_numpy(object)


def renamed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give a column of contracept one name, however the file writes it."""
    return frame.rename(columns={"living index": "living_index"})


def checksum(frame: pd.DataFrame) -> str:
    """Return a hash of all values, whatever the way in which numbers were written."""
    digest = hashlib.sha256()
    for column in frame:
        values = frame[column]
        is_class = column == "class" or not pd.api.types.is_numeric_dtype(values)
        text = values.astype(str) if is_class else values.astype(float).map("{:.9g}".format)
        digest.update("\n".join(text).encode())
    return digest.hexdigest()[:16]


def _check(name: str, known: Known, frame: pd.DataFrame) -> None:
    """Refuse a table that is not the paper's."""
    if list(frame.columns) != [*known.columns, "class"]:
        found = ", ".join(map(str, frame.columns))
        raise TableError(f"{name} has the columns {found}; expected {', '.join(known.columns)}, class")
    counts = frame["class"].astype(str).value_counts().sort_index().to_dict()
    if len(frame) != known.n_records:
        raise TableError(f"{name} has {len(frame):,} records, expected {known.n_records:,}")
    if counts != known.class_counts:
        raise TableError(f"{name} has the classes {counts}, expected {known.class_counts}")
    found = checksum(frame)
    if found != known.checksum:
        raise TableError(f"{name} has other values than the paper's table: checksum {found}, expected {known.checksum}")


def _from_folder(name: str, folder: Path) -> pd.DataFrame:
    for path in (folder / f"{name}.csv", folder / "paper" / f"{name}.csv"):
        if path.exists():
            try:
                return pd.read_csv(path)
            except (ValueError, OSError) as error:
                raise TableError(f"{path} cannot be read as a table ({error})") from error
    raise TableError(f"{name}.csv is neither in {folder} nor in {folder / 'paper'}; without a folder it is downloaded")


def _downloaded(name: str, known: Known) -> pd.DataFrame:
    """Return a table from its source, kept in scikit-learn's data folder once it was right."""
    if not known.url:
        return known.parse(b"")
    kept = Path(get_data_home()) / "diverse-rule-sets" / f"{name}.csv"
    if kept.exists():
        try:
            frame = pd.read_csv(kept)
            _check(name, known, frame)
            return frame
        except (ValueError, OSError, TableError):
            pass  # damaged: download it again
    try:
        with urllib.request.urlopen(known.url, timeout=60) as answer:
            content = answer.read()
    except Exception as error:
        raise TableError(
            f"{name} could not be downloaded from {known.url} ({error}); "
            f"give a folder that holds {name}.csv with --data or in the environment variable DRS_DATA"
        ) from error
    try:
        frame = known.parse(content)
    except TableError:
        raise
    except Exception as error:  # whatever pandas, zipfile or xlrd make of a page that is no table
        raise TableError(f"what {known.url} sent could not be read as {name} ({error})") from error
    _check(name, known, frame)
    kept.parent.mkdir(parents=True, exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}.part")
    frame.to_csv(part, index=False)
    part.replace(kept)
    return frame
