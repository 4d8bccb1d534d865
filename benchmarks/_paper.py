"""The paper's five tables for the benchmarks: from ``--data`` or the environment variable DRS_DATA, or downloaded."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.tables import TABLES, TableError, load, renamed

__all__ = ["CODES", "parser", "renamed", "tables"]

# Numbers that stand for categories.
CODES = {name: set(known.codes) for name, known in TABLES.items()}


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return an argument parser that knows where the tables are."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument(
        "--data", default=os.environ.get("DRS_DATA") or None, help="folder with iris.csv, contracept.csv, ..."
    )
    return made


def tables(data: str | None) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Return the tables that are there or can be downloaded, and say which cannot."""
    found = {}
    for name in TABLES:
        try:
            found[name] = load(name, data)
        except TableError as error:
            print(f"left out: {error}\n", file=sys.stderr)
    return found
