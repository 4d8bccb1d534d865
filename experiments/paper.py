"""Make the paper's tables and figures anew.

    python -m experiments.paper [--data FOLDER] [--splits 10] [--tables iris ...] [--results FOLDER] [--quick]

Every finished fit is a line of ``fits.jsonl`` in the folder of results; a run that was interrupted goes on from there.
``README.md`` there is the page to read, beside its pictures.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from experiments.runs import Ledger, run
from experiments.tables import TABLES, TableError

HERE = Path(__file__).parent


def main() -> None:
    """Read the command line, fit what is left to fit, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data",
        default=os.environ.get("DRS_DATA") or None,
        help="folder with iris.csv, contracept.csv, cardio.csv, anuran.csv and avila.csv; downloaded if not given",
    )
    parser.add_argument("--splits", type=int, help="random splits (10, or 2 with --quick)")
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES), help="only these")
    parser.add_argument("--results", type=Path, help="folder to write to")
    parser.add_argument("--quick", action="store_true", help="two splits, into a folder of their own")
    options = parser.parse_args()
    n_splits = options.splits if options.splits is not None else (2 if options.quick else 10)
    if n_splits < 2:
        parser.error(f"--splits must be at least 2, or there is no spread; got {n_splits}")
    results = options.results or HERE / ("results-quick" if options.quick else "results")
    if results.exists() and not results.is_dir():
        parser.error(f"--results must be a folder, got the file {results}")
    try:
        from experiments.page import write

        figures = run(options.tables, options.data, n_splits, Ledger(results / "fits.jsonl"))
        print(f"written: {write(figures, options.tables, n_splits, options.data, results)}")
    except TableError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
