"""Fits from Parquet files of 10,000 to 10,000,000 records: time and peak memory by phase, beside other models.

    python benchmarks/scale.py [--largest 10000000] [--jobs 2] [--folder FOLDER] [--only-rules] [--figure scale.png]

The tables are made like real ones: 14 numeric and 6 categorical columns, missing values, values that occur often, and a
class of a tenth of the records. Every fit runs in a process of its own. "reading" is the first pass over the files
(types, labels, summaries of columns), "packing" the second (bits of the conditions into a file), "scorecards" includes
the conditions, "search" is the drawing and choosing of rules, "improving" all that follows. The memory of a phase is
the peak of the whole process so far, libraries included. "weighted" is a fit from the same files with a column of
weights. Beside them stand, up to 1,000,000 records and in the same run, a fit on the table in memory (the rules must be
the same), a DecisionTreeClassifier with 16 leaves and a full one, a HistGradientBoostingClassifier, and where they are
installed LightGBM and (up to 100,000 records) EBM of interpret, on the table as numbers, whose reading is not counted.
"growth" is the exponent of the time in the number of records, fitted to the sizes from 100,000 on: 1 is linear.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

PART = 500_000
CODE = """
import hashlib, json, resource, sys, time
import numpy as np, pandas as pd
from diverse_rule_sets import DiverseRuleSetClassifier

what, path, jobs = sys.argv[1], sys.argv[2], int(sys.argv[3])

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

small = pd.DataFrame({"a": [1, 2, 3, 4] * 10, "y": list("nnyy") * 10})
DiverseRuleSetClassifier(random_state=0, n_jobs=jobs).fit([small], "y")  # compiled kernels are loaded
found = {"libraries": peak()}
PHASES = {"reading weights": "reading", "reading": "reading", "reading again": "reading", "packing": "packing",
          "conditions": "scorecards", "scorecards": "scorecards", "first pass": "search", "second pass": "search"}
phases, memory = {}, {}
def enter(phase):
    global current, since
    now = time.perf_counter()
    phases[current] = phases.get(current, 0) + now - since
    memory[current] = peak()
    current, since = phase, now
def listen(progress):
    phase = PHASES.get(progress.stage.split(",")[0], "improving")
    if phase != current and not (phase == "scorecards" and current in ("search", "improving")):
        enter(phase)
if what in ("files", "weighted", "memory"):
    X = pd.read_parquet(path) if what == "memory" else path
    found["before"] = peak()
    current, since = "reading", time.perf_counter()
    start = since
    clf = DiverseRuleSetClassifier(random_state=0, n_jobs=jobs, forbidden=["w"] * (what != "weighted"))
    clf.fit(X, "y", "w" if what == "weighted" else None, on_progress=listen)
    enter("end")
    found |= {"seconds": since - start, "phases": phases, "memory by phase": memory}
    found["rules"] = hashlib.sha256(clf.rule_set_.to_json().encode()).hexdigest()
    found["n_rules"] = len(clf.rule_set_)
else:
    X = pd.read_parquet(path).drop(columns="w")
    y = (X.pop("y") == "bad").to_numpy()
    X = X.apply(lambda c: c if c.dtype.kind == "f" else c.astype("category").cat.codes).to_numpy(np.float32)
    found["before"] = peak()
    if what == "LightGBM":
        from lightgbm import LGBMClassifier as Model
        model = Model(random_state=0, n_jobs=jobs, verbose=-1)
    elif what == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier as Model
        model = Model(random_state=0, n_jobs=jobs)
    elif what == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier as Model
        model = Model(random_state=0)
    else:
        from sklearn.tree import DecisionTreeClassifier as Model
        model = Model(max_leaf_nodes=16 if what == "tree" else None, random_state=0)
    start = time.perf_counter()
    model.fit(X, y)
    found["seconds"] = time.perf_counter() - start
found["memory"] = peak()
print(json.dumps(found))
"""


def make_part(n, seed):
    """Return some records of the table."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    columns = {
        "age": np.clip(rng.normal(45, 16, n).round(), 17, 95),
        "income": np.exp(rng.normal(10 + 0.4 * z[:, 0], 0.7)).round(2),
        "debt": np.where(rng.random(n) < 0.6, 0.0, np.exp(rng.normal(8, 1.5, n)).round(2)),
        **{f"x{k}": rng.normal(size=n) + 0.5 * z[:, k % 3] for k in range(8)},
        "hours": rng.poisson(38, n).astype(float),
        "children": rng.poisson(1.1, n).astype(float),
        "score": rng.beta(2, 5, n).round(3),
    }
    for name, k in (("job", 14), ("region", 50), ("plan", 4), ("channel", 6), ("device", 9), ("status", 5)):
        share = np.arange(k, 0, -1.0)
        names = np.array([f"{name}{j:02}" for j in range(k)], object)
        columns[name] = names[rng.choice(k, n, p=share / share.sum())]
    frame = pd.DataFrame(columns)
    logit = -3 + 0.8 * z[:, 0] + 0.03 * (frame.age - 45) + 1.2 * (frame.debt > 3000)
    logit += 1.5 * frame.job.isin(["job03", "job07"]) - 0.8 * (frame.plan == "plan01")
    for name in ("income", "x1", "hours", "region"):
        frame.loc[rng.random(n) < 0.05, name] = None
    frame["w"] = rng.integers(1, 4, n).astype(float)
    frame["y"] = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "bad", "good")
    return frame


def make_files(n, folder):
    """Write a table of n records as Parquet files, unless they exist."""
    place = Path(folder) / f"{n}"
    place.mkdir(parents=True, exist_ok=True)
    for number, begin in enumerate(range(0, n, PART)):
        path = place / f"{number:03}.parquet"
        if not path.exists():
            make_part(min(PART, n - begin), number).to_parquet(path, index=False)
    return str(place)


def run(what, path, jobs):
    done = subprocess.run([sys.executable, "-c", CODE, what, path, str(jobs)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", help="where the tables are written and kept; by default a temporary folder")
    parser.add_argument("--only-rules", action="store_true", help="only the fits of this package")
    parser.add_argument("--figure", help="a PNG file to write")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        measure(options, options.folder or temporary)


PHASES = ("reading", "packing", "scorecards", "search", "improving")
OWN = ("files", "weighted", "memory")
OTHERS = ("tree", "full tree", "boosting", "LightGBM", "EBM")
# The largest number of records of each model; EBM takes minutes with more.
LARGEST = {"files": math.inf, "weighted": math.inf, "EBM": 100_000}
PACKAGES = {"LightGBM": "lightgbm", "EBM": "interpret"}


def measure(options, folder):
    models = OWN if options.only_rules else (*OWN, *filter(is_installed, OTHERS))
    columns = ["records", *(f"{phase} s" for phase in PHASES), *(f"{model} s" for model in models)]
    columns += [*(f"{phase} MB" for phase in PHASES), *(f"{model} MB" for model in models), "same rules"]
    print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)
    sizes = [n for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= options.largest]
    results = {}
    for n in sizes:
        path = make_files(n, folder)
        wanted = [model for model in models if n <= LARGEST.get(model, 1_000_000)]
        found = results[n] = {model: run(model, path, options.jobs) for model in wanted}
        cells = [f"{n:,}", *(f"{found['files']['phases'].get(phase, 0):.1f}" for phase in PHASES)]
        cells += [f"{found[model]['seconds']:.1f}" if model in found else "" for model in models]
        cells += [f"{found['files']['memory by phase'].get(phase, 0) / 1e6:.0f}" for phase in PHASES]
        cells += [f"{found[model]['memory'] / 1e6:.0f}" if model in found else "" for model in models]
        cells += [str(found["memory"]["rules"] == found["files"]["rules"]) if "memory" in found else ""]
        print(f"| {' | '.join(cells)} |", flush=True)
    print_growth(results)
    if options.figure:
        from _scale_figure import draw

        draw(results, models, PHASES, options.figure)


def is_installed(model):
    return model not in PACKAGES or importlib.util.find_spec(PACKAGES[model]) is not None


def print_growth(results):
    times = {n: found["files"]["seconds"] for n, found in results.items() if n >= 100_000}
    if len(times) > 1:
        growth = np.polyfit([math.log(n) for n in times], [math.log(seconds) for seconds in times.values()], 1)[0]
        libraries = max(found["files"]["libraries"] for found in results.values())
        print(f"\nlibraries take {libraries / 1e6:.0f} MB; growth of the time from files: {growth:.2f}")
        for few, many in itertools.pairwise(times):
            print(f"{many:,} records take {times[many] / times[few]:.1f} times as long as {few:,}")


if __name__ == "__main__":
    main()
