"""Fits and predictions of large tables in memory, on one thread and on two, beside a decision tree with 16 leaves.

    python benchmarks/large.py [--largest 1000000] [--repeats 3]

The tables are those of ``scale.py`` (14 numeric and 6 categorical columns, missing values). The tree gets the same
table as numbers, this package the data frame. Fits alternate in one process, once compiled, and the least time of the
repeats counts, because other programs on the machine only ever make a fit slower. Times are by the clock; "processor"
is the time of the processor, which other programs change less. Memory is what a fit on two threads in a process of its
own takes at most beyond what it has before, beside the size of the data frame (on Linux only).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
from scale import PART, make_part
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def make_table(n):
    """Return a table of n records, and their labels."""
    parts = [make_part(min(PART, n - begin), number) for number, begin in enumerate(range(0, n, PART))]
    X = pd.concat(parts, ignore_index=True)
    return X, X.pop("y")


def as_numbers(X):
    """Return the table as the tree gets it."""
    return X.apply(lambda c: c if c.dtype.kind == "f" else c.astype("category").cat.codes).to_numpy(np.float32)


def least(function, repeats):
    """Return the least times of some calls: by the clock, and of the processor."""
    times = []
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.process_time()
        function()
        times.append((time.perf_counter() - clock, time.process_time() - processor))
    return np.min(times, axis=0)


def resident(name):
    """Return the memory of this process in bytes: VmRSS now, or VmHWM at most."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))


def memory_of_fit(n, jobs):
    """Print the memory of a fit beyond what the process has before; the process runs nothing else."""
    X, y = make_table(n)
    DiverseRuleSetClassifier(random_state=0, n_jobs=jobs).fit(X[:2000], y[:2000])
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # VmHWM starts again from what is in use
    before = resident("VmRSS")
    DiverseRuleSetClassifier(random_state=0, n_jobs=jobs).fit(X, y)
    used = resident("VmHWM") - before
    print(json.dumps({"fit": used, "frame": int(X.memory_usage(deep=True).sum())}))


def measured_memory(n, jobs):
    """Return the memory of a fit in a process of its own, and of the data frame; nothing where it cannot be found."""
    if sys.platform != "linux":
        return {}
    code = f"import large; large.memory_of_fit({n}, {jobs})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=sys.path[0], check=True)
    return json.loads(done.stdout)


def measure(n, repeats):
    """Return the cells of a row."""
    X, y = make_table(n)
    Z, tree = as_numbers(X), DecisionTreeClassifier(max_leaf_nodes=16, random_state=0)
    one, two = (DiverseRuleSetClassifier(random_state=0, n_jobs=jobs) for jobs in (1, 2))
    times = {name: np.full(2, np.inf) for name in ("tree", "one", "two", "tree predicts", "rules predict")}
    calls = {
        "tree": lambda: tree.fit(Z, y),
        "one": lambda: one.fit(X, y),
        "two": lambda: two.fit(X, y),
        "tree predicts": lambda: tree.predict(Z),
        "rules predict": lambda: one.predict(X),
    }
    for _ in range(repeats):
        for name, call in calls.items():
            times[name] = np.minimum(times[name], least(call, 3 if "predict" in name else 1))
    if one.rule_set_.to_json() != two.rule_set_.to_json():
        raise SystemExit(f"{n:,} records: other rules on two threads")
    wall = {name: float(both[0]) for name, both in times.items()}
    test = make_part(100_000, 10_000)  # other records
    labels = test.pop("y")
    memory = measured_memory(n, 2)
    return [
        f"{n:,}",
        f"{wall['tree']:.2f}",
        f"{wall['one']:.2f}",
        f"{wall['two']:.2f}",
        f"{wall['one'] / wall['tree']:.2f}",
        f"{wall['two'] / wall['tree']:.2f}",
        f"{times['one'][1] / times['tree'][1]:.2f}",
        f"{wall['one'] / wall['two']:.2f}",
        f"{wall['rules predict'] / wall['tree predicts']:.2f}",
        f"{memory['fit'] / 1e6:.0f} / {memory['frame'] / 1e6:.0f}" if memory else "",
        f"{balanced_accuracy_score(labels, one.predict(test)):.3f}",
        f"{balanced_accuracy_score(labels, tree.predict(as_numbers(test))):.3f}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = make_table(2000)
    DiverseRuleSetClassifier(random_state=0, n_jobs=2).fit(X, y).predict(X)
    columns = [
        "records",
        "tree s",
        "one thread s",
        "two threads s",
        "one / tree",
        "two / tree",
        "one / tree, processor",
    ]
    columns += ["one / two", "predict / tree's", "memory of fit / frame, MB", "balanced accuracy", "tree's"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)
    for n in SIZES:
        if n <= options.largest:
            print(f"| {' | '.join(measure(n, options.repeats))} |", flush=True)


if __name__ == "__main__":
    main()
