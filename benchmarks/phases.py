"""The time of a fit by phase, and what scorecards cost: ratios of fits with and without them in one run.

    python benchmarks/phases.py [--sizes 1000 10000 100000 1000000] [--classes 2 4] [--repeats 2] [--jobs 1]

The table has 14 numeric and 6 text columns with missing values. Several weak signs and one interaction decide the
class. Fits with and without scorecards alternate in one process, and the smallest time of each counts. "share" is the
part of the time of the fit with scorecards up to the first message of the next phase: reading the table and making
conditions, learning scorecards, and the search with everything after it. A decision tree with as many leaves as the
rules have statements stands beside, on the columns as numbers.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, metrics

COLUMNS = ("records", "classes", "without s", "with s", "ratio", "more s", "conditions", "scorecards", "search", "tree")


def make_table(n, n_classes, seed=0):
    """Return a table of 20 columns with missing values, and labels that depend on several signs and an interaction."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"n{j}": rng.normal(size=n).round(3) for j in range(14)})
    for j in range(6):
        X[f"c{j}"] = pd.Categorical.from_codes(rng.integers(0, 6, n), list("abcdef")).astype(str)
    score = 0.9 * (X.n0 > 0.4) + 0.8 * (X.n1 > -0.3) + 0.7 * (X.n2 < 0) + 0.6 * (X.n3 > 1) + 0.9 * X.c0.isin(["a", "b"])
    score += 0.7 * (X.c1 == "c") + 1.2 * ((X.n4 > 0) & (X.c2 == "d")) + rng.logistic(size=n) * 0.5
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.array([f"class {k}" for k in range(n_classes)])[np.searchsorted(cuts, score)]
    for name in ("n5", "n1", "c3"):
        X.loc[rng.random(n) < 0.1, name] = np.nan if name.startswith("n") else None
    return X, y


def timed_fit(X, y, jobs, **parameters):
    """Return a fitted classifier, the time, and the time up to the end of each phase."""
    ends = {}

    def listen(progress):
        ends.setdefault(progress.stage, time.perf_counter() - start)

    start = time.perf_counter()
    clf = DiverseRuleSetClassifier(random_state=0, n_jobs=jobs, **parameters).fit(X, y, on_progress=listen)
    return clf, time.perf_counter() - start, ends


def measure(n, n_classes, repeats, jobs):
    """Return one row of the table."""
    X, y = make_table(n, n_classes)
    best = {}
    for _ in range(repeats):
        for name, value in (("without", None), ("with", "auto")):
            found = timed_fit(X, y, jobs, scorecards=value)
            if name not in best or found[1] < best[name][1]:
                best[name] = found
    clf, whole, ends = best["with"]
    plain = best["without"][1]
    conditions, scorecards = ends["conditions"], ends.get("scorecards", ends["conditions"])
    numbers = pd.get_dummies(X).astype("f4").fillna(-999)
    start = time.perf_counter()
    leaves = max(2, metrics.size(clf.rule_set_).statements)
    DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0).fit(numbers, y)
    tree = time.perf_counter() - start
    parts = (conditions, scorecards - conditions, whole - scorecards)
    cells = [f"{n:,}", n_classes, f"{plain:.2f}", f"{whole:.2f}", f"{whole / plain:.2f}", f"{whole - plain:.2f}"]
    return [*cells, *(f"{part / whole:.0%}" for part in parts), f"{tree:.2f} s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--classes", type=int, nargs="*", default=[2, 4])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    print(f"| {' | '.join(COLUMNS)} |")
    print("| --- |" + " --- |" * (len(COLUMNS) - 1))
    timed_fit(*make_table(300, 2), options.jobs)  # compiles the kernels
    for n_classes in options.classes:
        for n in options.sizes:
            print(
                f"| {' | '.join(str(cell) for cell in measure(n, n_classes, options.repeats, options.jobs))} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
