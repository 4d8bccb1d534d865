"""Two classes of very different sizes: rules beside trees, logistic regression and a forest.

Made tables have a conjunction, an additive signal or pure noise. In real tables, a class (of more than two, one against
the rest) is cut to a few training records. Figures are of other records, weighted to the class ratio of training:
balanced accuracy, AUC, average precision, share of the small class that gets its label (recall) and of the large class
(alarms). Differences are ours minus the rival: the mean over tables of the mean over seeds, and its standard error.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pandas as pd
from _tables import Tables, as_numbers
from _trees import SmoothedTree, fitted_tree
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from diverse_rule_sets import DiverseRuleSetClassifier, metrics

KINDS = ("conjunction", "additive", "noise")
FIGURES = ("bacc", "auc", "ap", "recall", "alarms", "statements", "conditions")
OURS = {"balanced": "balanced", "no weights": None}
# Numbers of training records of the small class of real tables; largest number of records of the other class.
SIZES, MAX_RECORDS = (4, 8, 16, 40, 150), 12_000
Part = tuple[pd.DataFrame, np.ndarray]


def make_table(kind: str, n_large: int, n_small: int, rng: np.random.Generator) -> Part:
    """Return a made table of so many records of each class."""
    y = np.repeat([0, 1], [n_large, n_small])
    X, c, b = rng.normal(size=(y.size, 8)), rng.choice(list("abcde"), (y.size, 2)), rng.random((y.size, 2)) < 0.3
    if kind == "additive":
        X[y == 1] += [0.7, 0.6, 0.5, 0.4, 0.4, 0.3, 0.0, 0.0]
        b[y == 1, 0] = rng.random(n_small) < 0.55
        c[(y == 1) & (rng.random(y.size) < 0.3), 0] = "b"
    if kind == "conjunction":
        which = rng.choice(3, y.size, p=[0.5, 0.3, 0.2])
        one, other = (y == 1) & (which == 0), (y == 1) & (which == 1)
        c[one, 0], b[other, 0] = rng.choice(["a", "b"], one.sum()), True
        for rows, above, below in ((one, 0, 2), (other, 3, 4)):
            X[rows, above], X[rows, below] = 0.8 + 0.6 * np.abs(X[rows, above]), -np.abs(X[rows, below])
    frame = pd.DataFrame(X.round(3)).add_prefix("x")
    for j in range(2):
        frame[f"c{j}"], frame[f"b{j}"] = c[:, j], b[:, j].astype(int)
    order = rng.permutation(y.size)
    return frame.iloc[order].reset_index(drop=True), y[order]


def made_splits(sizes: list[int], ratios: list[int], seeds: int) -> Iterator[tuple[str, str, int, Part, Part]]:
    """Yield the group, the name, the seed, training and test records of made tables."""
    for kind in KINDS:
        for n in sizes:
            for ratio in ratios:
                for seed in range(seeds):
                    rng = np.random.default_rng(seed)
                    n_small = max(n // ratio, 1)
                    inside = make_table(kind, n - n_small, n_small, rng)
                    yield kind, f"{n} records, 1:{ratio}", seed, inside, make_table(kind, 10_000, 2000, rng)


def real_splits(tables: Tables, seeds: int) -> Iterator[tuple[str, str, int, Part, Part]]:
    """Yield the group, the name, the seed, training and test records of tables with one class cut to few records."""
    for name in tables.names:
        table = tables.load(name)
        counts = np.bincount(table.codes)
        y = (table.codes == (np.argmin(counts) if counts.size == 2 else counts.size // 2)).astype(int)
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(y.size)
            small, large = order[y[order] == 1], order[y[order] == 0]
            n_large, n_small = int(0.6 * large.size), int(0.6 * small.size)
            test = np.append(large[n_large:][:MAX_RECORDS], small[n_small:])
            large = large[: min(n_large, MAX_RECORDS)]
            for size in SIZES:
                if size <= n_small and large.size / 1000 <= size <= large.size / 10:
                    train = np.sort(np.append(large, small[:size]))
                    group = "real, up to 8" if size <= 8 else "real, up to 40" if size <= 40 else "real, more"
                    yield group, name, seed, *((table.X.iloc[part], y[part]) for part in (train, test))


def figures(train: np.ndarray, y: np.ndarray, labels: np.ndarray, scores: np.ndarray) -> dict[str, float]:
    """Return the figures of labels and scores of test records, weighted to the class ratio of training."""
    ratio = (train == 0).sum() / (train == 1).sum() * (y == 1).sum() / (y == 0).sum()
    return {
        "bacc": balanced_accuracy_score(y, labels),
        "auc": roc_auc_score(y, scores),
        "ap": average_precision_score(y, scores, sample_weight=np.where(y == 1, 1.0, ratio)),
        "recall": labels[y == 1].mean(),
        "alarms": labels[y == 0].mean(),
    }


def measure(inside: Part, outside: Part, seed: int) -> dict[str, dict[str, float]]:
    """Return the figures of all models on one split."""
    (X, y), (X_test, y_test) = inside, outside
    found = {}
    for name, class_weight in OURS.items():
        clf = DiverseRuleSetClassifier(random_state=seed, class_weight=class_weight).fit(X, y)
        size = metrics.size(clf.rule_set_)
        found[name] = figures(y, y_test, clf.predict(X_test), clf.predict_proba(X_test)[:, 1])
        found[name] |= {"statements": size.statements, "conditions": size.conditions}
    values = as_numbers(pd.concat([X, X_test], ignore_index=True)).filled
    a, b = values[: len(y)], values[len(y) :]
    logistic = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=300))
    rivals = {
        "tree, as many leaves": SmoothedTree(fitted_tree(int(found["balanced"]["statements"]), a, y, seed), a, y),
        "logistic regression": logistic.fit(a, y),
        "forest": RandomForestClassifier(200, class_weight="balanced_subsample", random_state=seed).fit(a, y),
    }
    return found | {
        name: figures(y, y_test, model.predict(b), model.predict_proba(b)[:, 1]) for name, model in rivals.items()
    }


def report(runs: dict[str, dict[str, dict[str, list[dict[str, float]]]]]) -> None:
    """Print the means of each group of tables, and the differences from the default."""
    for group, models in runs.items():
        print(f"\n{group}: {len(models['balanced'])} tables")
        means = {
            name: {f: np.array([np.mean([run.get(f, np.nan) for run in of]) for of in by.values()]) for f in FIGURES}
            for name, by in models.items()
        }
        for name, mean in means.items():
            texts = [f"{f} {mean[f].mean():.3f}" for f in FIGURES if not np.isnan(mean[f]).any()]
            for f in ("bacc", "auc", "ap") if name != "balanced" else ():
                gap = means["balanced"][f] - mean[f]
                error = gap.std(ddof=1) / np.sqrt(gap.size) if gap.size > 1 else np.nan
                texts.append(f"| {f} {gap.mean():+.3f} ({error:.3f})")
            print(f"  {name:21s}", " ".join(texts))


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("DRS_DATA"), help="folder of CSV files, as for frontier.py")
    parser.add_argument("--tables", nargs="*", default=None, help="names of tables; none: only made tables")
    parser.add_argument("--exclude", nargs="*", default=[], help="names of tables to leave out")
    parser.add_argument("--made", nargs="*", type=int, default=[2000, 20_000, 100_000], help="sizes of made tables")
    parser.add_argument("--ratios", nargs="*", type=int, default=[20, 100, 500], help="ratios of made tables")
    parser.add_argument("--seeds", type=int, default=3, help="number of splits of each table")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    runs: dict = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    sources = [made_splits(given.made, given.ratios, given.seeds)]
    if given.tables != []:
        sources.append(real_splits(Tables(given.data, given.tables, given.exclude), given.seeds))
    for source in sources:
        for group, table, seed, inside, outside in source:
            for model, found in measure(inside, outside, seed).items():
                runs[group][model][table].append(found)
    report(runs)


if __name__ == "__main__":
    main()
