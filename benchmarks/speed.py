"""How long a fit takes, beside a decision tree and a forest of 200 trees fitted in the same run; start-up costs.

    python benchmarks/speed.py --data FOLDER

Fits of the default and of ``DRSClassifier``, once compiled, on whole tables: the median of 5, on one thread. The column
"paper's code" quotes the seconds of the authors' implementation, measured elsewhere, and is no part of the run. The
last table is made up: 5,000 records of 1,000 columns, three classes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from _paper import parser, tables
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier

PAPERS_CODE = {"contracept": "41", "cardio": "951", "anuran": "not finished", "avila": "88"}


def median_seconds(fit, repeats=5):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        fit()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


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


def main():
    options = parser(__doc__).parse_args()
    start_up()
    print(
        "| table | records x columns | default s | as in the paper s | tree s | forest s | default / forest | code s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    wide = make_classification(5000, 1000, n_informative=12, n_redundant=20, n_classes=3, random_state=0)
    for name, (X, y) in {**tables(options.data), "wide": wide}.items():
        numbers = OrdinalEncoder().fit_transform(X) if name == "contracept" else X
        repeats = 1 if name == "wide" else 5
        DRSClassifier(random_state=0).fit(X[:100], y[:100])
        DiverseRuleSetClassifier(random_state=0).fit(X[:100], y[:100])
        rules = median_seconds(lambda X=X, y=y: DiverseRuleSetClassifier(random_state=0).fit(X, y), repeats)
        paper = median_seconds(lambda X=X, y=y: DRSClassifier(random_state=0).fit(X, y), repeats)
        tree = median_seconds(lambda X=numbers, y=y: DecisionTreeClassifier(random_state=0).fit(X, y.astype(str)))
        forest = median_seconds(
            lambda X=numbers, y=y: RandomForestClassifier(200, random_state=0).fit(X, y.astype(str)), repeats=3
        )
        print(
            f"| {name} | {X.shape[0]} x {X.shape[1]} | {rules:.2f} | {paper:.2f} | {tree:.3f} | {forest:.2f} "
            f"| {rules / forest:.2f} | {PAPERS_CODE.get(name, '')} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
