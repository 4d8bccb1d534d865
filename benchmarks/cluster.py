"""Fits on a Dask cluster of this machine against local fits: time, round trips and bytes.

Each worker has one thread. Times are ratios to the local fit on two threads in the same run. The table is made by the
workers, partition by partition, so that the client never holds it in the fits on the cluster.
"""

from __future__ import annotations

import argparse
import itertools
import time
from functools import partial

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from diverse_rule_sets import DiverseRuleSetClassifier

RECORDS_OF_A_PARTITION = 250_000


def part(number: int, size: int) -> pd.DataFrame:
    """Return a partition: eight numbers, two columns of categories, and labels that follow from some of them."""
    rng = np.random.default_rng([7, number])
    frame = pd.DataFrame({f"x{j}": rng.normal(size=size).round(3) for j in range(8)})
    frame["town"] = pd.Categorical.from_codes(rng.integers(0, 12, size), [f"town {k}" for k in range(12)])
    frame["sex"] = pd.Categorical.from_codes(rng.integers(0, 2, size), ["F", "M"])
    score = (frame["x0"] > 0.8) & (frame["x1"] < 0.5) | (frame["x2"] > 1.2) & (frame["sex"] == "F")
    frame["y"] = np.where(score ^ (rng.random(size) < 0.05), "yes", "no")
    return frame


def classifier(n_jobs: int | None, scorecards: str | None) -> DiverseRuleSetClassifier:
    return DiverseRuleSetClassifier(random_state=0, n_jobs=n_jobs, scorecards=scorecards)


def local(n: int, n_jobs: int, scorecards: str | None) -> tuple[float, str]:
    """Return the seconds of a local fit, reading included, and the rules."""
    start = time.perf_counter()
    frame = pd.concat([part(k, size) for k, size in enumerate(sizes(n))], ignore_index=True)
    clf = classifier(n_jobs, scorecards).fit(frame, "y")
    return time.perf_counter() - start, clf.rule_set_.to_json()


def on_cluster(n: int, n_workers: int, scorecards: str | None) -> tuple[float, str, DiverseRuleSetClassifier]:
    """Return the seconds of a fit on a cluster, the rules, and the classifier."""
    every = sizes(n)
    X = dd.from_map(partial(_of_sizes, every), range(len(every)), meta=part(0, 1)[:0])
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": 0}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster):
        some = dd.from_map(partial(_of_sizes, [2000] * 4 * n_workers), range(4 * n_workers), meta=part(0, 1)[:0])
        classifier(1, scorecards).fit(some, "y")  # compiles the kernels on all workers
        start = time.perf_counter()
        clf = classifier(1, scorecards).fit(X, "y")
        return time.perf_counter() - start, clf.rule_set_.to_json(), clf


def _of_sizes(every: list[int], number: int) -> pd.DataFrame:
    return part(number, every[number])


def sizes(n: int) -> list[int]:
    """Return the number of records of each partition."""
    cuts = [*range(0, n, RECORDS_OF_A_PARTITION), n]
    return [end - begin for begin, end in itertools.pairwise(cuts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="*", default=[1_000_000, 5_000_000])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--scorecards", action="store_true", help="learn scorecards, as the default does")
    options = parser.parse_args()
    cards = "auto" if options.scorecards else None
    local(1000, 1, cards)  # compiles the kernels
    for n in options.records:
        two, rules = local(n, 2, cards)
        one, _ = local(n, 1, cards)
        print(f"{n:,} records: local, 2 threads 1.00; local, 1 thread {one / two:.2f}  ({two:.1f} s)", flush=True)
        for n_workers in options.workers:
            seconds, found, clf = on_cluster(n, n_workers, cards)
            traffic, n_rules = clf._traffic, max(len(clf.rule_set_), 1)
            megabytes = (traffic.n_sent + traffic.n_received) / 1e6
            print(
                f"  {n_workers} workers: {seconds / two:.2f}, same rules: {found == rules}, {n_rules} rules, "
                f"{traffic.n_round_trips / n_rules:.1f} round trips and {megabytes / n_rules:.2f} MB a rule, "
                f"{traffic.seconds / seconds:.0%} of the time waiting ({traffic})",
                flush=True,
            )


if __name__ == "__main__":
    main()
