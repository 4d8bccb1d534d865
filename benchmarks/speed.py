"""How long a fit takes, beside a decision tree and a forest of 100 trees fitted in the same run; start-up costs.

    python benchmarks/speed.py --data FOLDER
    python benchmarks/speed.py --folders FOLDER ... [--repeats 5]

Fits of the default and of ``DRSClassifier``, once compiled, on whole tables: the median processor time of 5, on one
thread. The column "code" quotes the seconds of the authors' implementation, measured elsewhere, and is no part of the
run. Without ``--folders`` the last table is made up: 5,000 records of 1,000 columns, three classes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _paper import parser, tables
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier

PAPERS_CODE = {"contracept": "41", "cardio": "951", "anuran": "not finished", "avila": "88"}


def fit_seconds(X, y, repeats):
    """Return the median processor time of fits of the default, the paper's method, a tree and a forest in turn."""
    Z = as_numbers(X)
    models = (
        (DiverseRuleSetClassifier(random_state=0), X),
        (DRSClassifier(random_state=0), X),
        (DecisionTreeClassifier(random_state=0), Z),
        (RandomForestClassifier(100, random_state=0, n_jobs=1), Z),
    )
    seconds = []
    for _ in range(repeats):
        for model, table in models:
            start = time.process_time()
            model.fit(table, y)
            seconds.append(time.process_time() - start)
    return np.median(np.reshape(seconds, (repeats, len(models))), axis=0).tolist()


def import_seconds():
    """Return what our import adds to scikit-learn's own, and that: the least of five fresh interpreters."""
    code = (
        "import time; a = time.perf_counter(); import sklearn.base, sklearn.utils.validation; b = time.perf_counter();"
        "import diverse_rule_sets; print(time.perf_counter() - b, b - a)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(5)]
    return tuple(min(float(run.stdout.split()[k]) for run in runs) for k in (0, 1))


def start_up():
    fit = (
        "import time; from sklearn.datasets import load_iris;"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D;"
        "X, y = load_iris(return_X_y=True); s = time.perf_counter(); D(random_state=0).fit(X, y);"
        "print(f'{time.perf_counter() - s:.2f}')"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        runs = [
            subprocess.run(
                [sys.executable, "-c", fit], check=True, env=environment, capture_output=True, text=True
            ).stdout
            for _ in range(2)
        ]
    added, base = import_seconds()
    print(f"first fit ever, compiling: {float(runs[0]):.2f} s; first fit of a later process: {float(runs[1]):.2f} s")
    print(f"import diverse_rule_sets adds {added:.2f} s to scikit-learn's own {base:.2f} s\n")


def tables_of_folders(folders):
    """Return the CSV files of some folders, by name: the table, and the labels, which are the last column."""
    found = {}
    for folder in folders:
        for path in sorted(Path(folder).glob("*.csv*")):
            X = pd.read_csv(path)
            found[path.name.split(".")[0]] = X, X.pop(X.columns[-1])
    return found


def as_numbers(X):
    """Return a table as the trees get it: categories by number."""
    if not isinstance(X, pd.DataFrame):
        return X
    return X.apply(lambda c: c if c.dtype.kind in "fiub" else c.astype("category").cat.codes).to_numpy(np.float32)


def main():
    made = parser(__doc__)
    made.add_argument("--folders", nargs="+", help="folders with CSV files instead, whose last column has the labels")
    made.add_argument("--repeats", type=int, default=5, help="number of fits of each model")
    options = made.parse_args()
    warnings.simplefilter("ignore")
    start_up()
    columns = ["table", "records x columns", "default s", "as in the paper s", "tree s", "forest s"]
    columns += ["default / forest", "paper / forest", "code s"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    known = tables_of_folders(options.folders) if options.folders else tables(options.data)
    X, y = next(iter(known.values()))
    for model in (DRSClassifier, DiverseRuleSetClassifier):
        model(random_state=0).fit(X, y)  # kernels are compiled or loaded
    if not options.folders:
        made_up = make_classification(5000, 1000, n_informative=12, n_redundant=20, n_classes=3, random_state=0)
        known = {**known, "wide": made_up}
    for name, (X, y) in known.items():
        rules, paper, tree, forest = fit_seconds(X, y, 1 if name == "wide" else options.repeats)
        print(
            f"| {name} | {X.shape[0]} x {X.shape[1]} | {rules:.3f} | {paper:.3f} | {tree:.3f} | {forest:.3f} "
            f"| {rules / forest:.2f} | {paper / forest:.2f} | {PAPERS_CODE.get(name, '')} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
