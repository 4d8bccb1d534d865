"""How long a fit with sample weights takes, beside the same fit without weights in the same run.

    python benchmarks/weights.py --records 1000000

The table is made up: 14 columns of numbers, 6 of categories. Weights change the rules, so that fits with weights may
also take longer because they find more rules. Fits take turns; the least time of each is used: with one thread that of
the processor, because other programs may run beside it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd

from diverse_rule_sets import DiverseRuleSetClassifier


def make_table(n, seed=0):
    """Return columns of numbers and categories, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"n{j}": rng.normal(size=n) for j in range(14)})
    for j in range(6):
        X[f"c{j}"] = rng.choice([f"v{k}" for k in range(8)], n)
    score = X["n0"] + X["n1"] / 2 + 1.5 * (X["c0"] == "v1") + 2 * ((X["n2"] > 0.5) & (X["n3"] < 0))
    return X, np.where(score + rng.normal(size=n) > 1, "b", "a")


def weights_of(n, seed=1):
    """Return the weights to compare, by name."""
    rng = np.random.default_rng(seed)
    return {
        "none": None,
        "whole, 0 to 3": rng.integers(0, 4, n),
        "whole, 1 to 255": rng.integers(1, 256, n),
        "whole, 1 to 65,535": rng.integers(1, 2**16, n),
        "log-normal": rng.lognormal(0, 1, n),
    }


def main():
    """Print the time of a fit with each kind of weights, as a ratio to one without weights."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, nargs="+", default=[3000, 100_000])
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--jobs", type=int, default=1)
    given = options.parse_args()
    now = time.process_time if given.jobs == 1 else time.perf_counter
    for n in given.records:
        X, y = make_table(n)
        kinds = weights_of(n)
        DiverseRuleSetClassifier(random_state=0).fit(X[:500], y[:500], kinds["log-normal"][:500])  # compiles
        seconds, rules = dict.fromkeys(kinds, np.inf), {}
        for _ in range(given.repeats):
            for name, weights in kinds.items():
                start = now()
                clf = DiverseRuleSetClassifier(random_state=0, n_jobs=given.jobs).fit(X, y, weights)
                seconds[name] = min(seconds[name], now() - start)
                rules[name] = len(clf.rule_set_)
        print(f"{n:,} records: {seconds['none']:.2f} s without weights", flush=True)
        for name in kinds:
            print(f"  {name:20} {seconds[name] / seconds['none']:5.1f} times, {rules[name]} rules", flush=True)


if __name__ == "__main__":
    main()
