"""Time per rule and peak memory from 62,500 to 1,000,000 records of 20 columns.

    python benchmarks/scaling.py [--largest 1000000] [--jobs 1]

Every size runs in a process of its own. "per rule" is the difference between fits with 12 and with 100 rules over 88:
sampling, counting and choosing, without reading the table. "x" is the ratio to the row above: 2 is linear. "memory" is
the peak of the process while fitting, less what it held before (the table, the libraries, the compiled kernels);
"packed items" is what the bits of all items take. The whole fits have both passes and exactly 12 and 100 rules.
A decision tree of 100 leaves on the same table stands beside.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

CODE = """
import json, resource, sys, time
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from diverse_rule_sets import DRSClassifier

n, jobs = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
X = np.empty((n, 20))
for j in range(20):
    X[:, j] = rng.random(n)
y = (X[:, 0] > 0.6).astype(np.int64) + (X[:, 1] > 0.8)

def fit(max_rules, n=n):
    clf = DRSClassifier(random_state=0, max_rules=max_rules, min_recall_gain=0.0, n_jobs=jobs)
    start = time.perf_counter()
    clf.fit(X[:n], y[:n])
    assert len(clf.rule_set_) == max_rules
    return time.perf_counter() - start

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

fit(3, 1000)
before = peak()
whole = fit(12)
whole_100 = fit(100)
memory = peak() - before
start = time.perf_counter()
DecisionTreeClassifier(max_leaf_nodes=100, random_state=0).fit(X, y)
tree = time.perf_counter() - start
print(json.dumps({
    "per_rule": (whole_100 - whole) / 88, "whole": whole, "whole_100": whole_100, "memory": memory,
    "packed": 100 * n / 8, "tree": tree, "table": X.nbytes,
}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print("| records | ms per rule | x | 12 rules s | 100 rules s | tree s | packed items MB | memory MB | table MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    before = None
    for halvings in (4, 3, 2, 1, 0):
        n = options.largest >> halvings
        time.sleep(0.2)
        command = [sys.executable, "-c", CODE, str(n), str(options.jobs)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        ratio = "" if before is None else f"{found['per_rule'] / before:.2f}"
        before = found["per_rule"]
        cells = [
            f"{n:,}",
            f"{1e3 * found['per_rule']:.1f}",
            ratio,
            f"{found['whole']:.2f}",
            f"{found['whole_100']:.1f}",
            f"{found['tree']:.1f}",
            f"{found['packed'] / 1e6:.1f}",
            f"{found['memory'] / 1e6:.1f}",
            f"{found['table'] / 1e6:.0f}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
