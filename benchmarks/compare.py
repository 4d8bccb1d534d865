"""Compare the speed of this version with another one: ``make bench-compare REV=HEAD~1``.

    python benchmarks/compare.py REV [--rounds 5] [--only NAME ...]

The other version is extracted into a temporary folder. Each benchmark runs in both versions in turn, so that other
work on the machine meets both; the ratio of the smallest times is printed, below 1 where this version is faster. Tables
are small: scikit-learn's, and a made one of 20,000 records.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).parents[1]


def suite() -> dict[str, Callable[[], Any]]:
    """Return the benchmarks: functions that are timed. Everything they need is made before."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer, load_wine

    from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, RuleSet, sample_rules

    wine, cancer = load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    large = rng.normal(size=(20_000, 20))
    labels = (large[:, :5].sum(axis=1) + rng.normal(size=20_000) > 1).astype(int)
    fitted = DiverseRuleSetClassifier(random_state=0).fit(*cancer)
    rules = fitted.rule_set_
    text = rules.to_json()
    items = rng.random((5_000, 60)) < 0.3
    marks = rng.integers(0, 2, 5_000)
    return {
        "fit wine": lambda: DiverseRuleSetClassifier(random_state=0).fit(*wine),
        "fit cancer": lambda: DiverseRuleSetClassifier(random_state=0).fit(*cancer),
        "fit cancer, plain rules": lambda: DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(*cancer),
        "fit 20,000 records": lambda: DiverseRuleSetClassifier(random_state=0).fit(large, labels),
        "fit as in the paper": lambda: DRSClassifier(random_state=0).fit(*cancer),
        "predict": lambda: [fitted.predict(cancer[0]) for _ in range(100)],
        "probabilities": lambda: [fitted.predict_proba(cancer[0]) for _ in range(100)],
        "sampler": lambda: sample_rules(items, marks, 1, n=5_000, random_state=0),
        "to SQL": lambda: [rules.to_sql(dialect="duckdb", table="t") for _ in range(5)],
        "to JSON and back": lambda: [RuleSet.from_json(text).to_json() for _ in range(100)],
        "to Python": lambda: [rules.to_python() for _ in range(100)],
    }


def run(only: list[str]) -> None:
    """Time benchmarks once after a first call, and print the seconds as JSON."""
    import diverse_rule_sets

    source = Path(os.environ["PYTHONPATH"])
    if source not in Path(diverse_rule_sets.__file__).parents:
        raise RuntimeError(f"{diverse_rule_sets.__file__} is not in {source}")
    seconds = {}
    for name, function in suite().items():
        if only and name not in only:
            continue
        function()
        start = perf_counter()
        function()
        seconds[name] = perf_counter() - start
    print(json.dumps(seconds))


def timed_in(source: Path, only: list[str]) -> dict[str, float]:
    """Run this file in a process of its own with the package of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    command = [sys.executable, __file__, "--run", "--only", *only]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the benchmarks fail with the package in {source}:\n{done.stderr}")
    return json.loads(done.stdout)


def compare(revision: str, rounds: int, only: list[str]) -> str:
    """Return a table of the times of both versions and their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "other.tar"
        subprocess.run(["git", "-C", str(ROOT), "archive", "--output", str(archive), revision, "src"], check=True)
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        runs = [(timed_in(Path(folder), only), timed_in(ROOT, only)) for _ in range(rounds)]
    lines = [f"| benchmark | {revision} s | this version s | ratio |", "| --- | --- | --- | --- |"]
    for name in runs[0][1]:
        before, after = (min(times[side][name] for times in runs) for side in (0, 1))
        lines.append(f"| {name} | {before:.4f} | {after:.4f} | {after / before:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run:
        run(asked.only)
    else:
        print(compare(asked.revision, asked.rounds, asked.only))


if __name__ == "__main__":
    main()
