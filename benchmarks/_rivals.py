"""What a user might choose instead: trees, near-optimal trees, risk scores, logistic regression, a forest.

All are class-balanced, as the default of this package is: classes are weighted, or, for risk scores, the probabilities
are reweighted afterwards. Each runs on one thread.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _measuring import Fitted, Split, timed
from _trees import SmoothedTree, balanced_weights, leaf_weights, smoothed_shares, tree_conditions
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

# Prices of a leaf, from large to small; the smallest whose tree keeps its number of leaves is taken.
SPLIT_PRICES = tuple(float(f"{price:.3g}") for price in np.geomspace(0.2, 0.0005, 40))
SMALL_TREE_PRICES = (0.1, 0.05, 0.02, 0.01, 0.005)
# Seconds for one price, for a risk score of imodels, and for one of FasterRisk.
SMALL_TREE_SECONDS, RISK_SECONDS, FASTERRISK_SECONDS = 5, 20, 600


class NotPossibleError(Exception):
    """A rival cannot be as small as asked."""


# --- trees ---------------------------------------------------------------------------------------------------------


def _smoothed(split: Split, tree: DecisionTreeClassifier, seconds: float) -> Fitted:
    """Return a tree with smoothed leaves."""
    size = {"statements": int(tree.get_n_leaves()), "conditions": tree_conditions(tree, split.trees.column)}
    return Fitted(SmoothedTree(tree, split.trees.values, split.trees.codes), seconds, size)


def tree_with_leaves(split: Split, leaves: int) -> Fitted:
    """Return the tree with at most so many leaves."""
    return _smoothed(split, *split.trees.with_leaves(leaves))


def tree_with_conditions(split: Split, conditions: int) -> Fitted:
    """Return the largest tree with at most so many conditions, its leaves written as rules."""
    return _smoothed(split, *split.trees.with_conditions(conditions))


class LicketySplit:
    """LicketySPLIT on thresholds that boosted stumps use, with smoothed leaves."""

    def __init__(self, price: float, bins: Any, items: np.ndarray, split: Split):
        from licketysplit import LicketySPLITClassifier

        codes = split.train_codes
        self.bins, self.tree = bins, LicketySPLITClassifier(lambda_leaf=price, depth_budget=6, lookahead_k=1)
        self.tree.fit(items, codes, sample_weight=balanced_weights(codes))
        paths = [tuple(int(test) for test in path) for path in self.tree.get_tree_paths()[0]]
        nodes = [tuple(path[:depth] for depth in range(len(path) + 1)) for path in paths]
        leaves = self.tree._leaf_ids_from_paths(items)
        self.shares = smoothed_shares(leaf_weights(leaves, len(paths), codes), nodes)
        column = split.table.numbers.column[[int(place) for place, _ in bins.thresholds_]]
        self.size = {
            "statements": len(paths),
            "conditions": sum(len({int(column[abs(test) - 1]) for test in path}) for path in paths),
        }

    def _items(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.bins.transform(values.astype(float)))

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the position of the label of each record."""
        return self.tree.predict(self._items(values))

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """Return the class probabilities of each record."""
        return self.shares[self.tree._leaf_ids_from_paths(self._items(values))]


def licketysplit(split: Split, leaves: int) -> Fitted:
    """Return LicketySPLIT's tree with at most so many leaves."""

    def bins() -> tuple[Any, np.ndarray]:
        from licketysplit import ThresholdGuessBinarizer

        made = ThresholdGuessBinarizer(n_estimators=50, max_depth=1, random_state=0)
        return made, np.asarray(made.fit_transform(split.numbers()[0].astype(float), split.train_codes))

    def make(price: float) -> LicketySplit:
        return LicketySplit(price, *split.once("licketysplit bins", bins), split)

    return _within(split, "licketysplit", make, SPLIT_PRICES, leaves)


class SmallTree:
    """imodels' FastSmallTreeClassifier, the tree of least error and price of leaves, with smoothed leaves."""

    def __init__(self, price: float, split: Split):
        from imodels import FastSmallTreeClassifier

        values, codes = split.numbers()[0], split.train_codes
        limits = {"time_limit": SMALL_TREE_SECONDS, "memory_limit": 1 << 30}
        self.tree = FastSmallTreeClassifier(regularization=price, balance=True, **limits).fit(values, codes)
        inner = self.tree.estimator_
        self.smoothed = SmoothedTree(inner, values, codes)
        conditions = tree_conditions(inner, split.table.numbers.column)
        self.size = {"statements": int(inner.get_n_leaves()), "conditions": conditions}
        self.size["stopped"] = int(not self.tree.optimal_)

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the position of the label of each record."""
        return self.tree.predict(values)

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """Return the class probabilities of each record."""
        return self.smoothed.predict_proba(values)


def small_tree(split: Split, leaves: int) -> Fitted:
    """Return imodels' small tree with at most so many leaves."""
    return _within(split, "small tree", lambda price: SmallTree(price, split), SMALL_TREE_PRICES, leaves)


def _within(split: Split, name: str, make: Callable[[float], Any], prices: tuple[float, ...], leaves: int) -> Fitted:
    """Return the tree of the smallest price that has at most so many leaves; a price is tried once on a split."""
    best, total, stopped = None, 0.0, 0
    for price in prices:
        tree, seconds = split.once((name, price), lambda price=price: timed(lambda: make(price)))
        total += seconds
        stopped |= tree.size.get("stopped", 0)
        if tree.size["statements"] > leaves:
            break
        best = tree
    if best is None:
        raise NotPossibleError(f"no tree of {leaves} leaves")
    return Fitted(best, total, {**best.size, "stopped": stopped})


# --- risk scores, two classes --------------------------------------------------------------------------------------


def reweighted(risk: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return probabilities of both classes from the risk of the second, as if both classes were equally frequent."""
    counts = np.bincount(codes, minlength=2)
    both = np.column_stack([1 - risk, risk]) / counts
    return both / both.sum(axis=1, keepdims=True)


class RiskScore:
    """imodels' FastRiskScoreClassifier."""

    def __init__(self, signs: int, split: Split):
        from imodels import FastRiskScoreClassifier

        self.codes = split.train_codes
        self.score = FastRiskScoreClassifier(k=signs, time_limit=RISK_SECONDS)
        self.score.fit(self._named(split.numbers()[0]), self.codes)
        self.size = {"conditions": len(self.score.points_), "signs": len(self.score.points_)}
        self.size["stopped"] = int(self.score.stopped_early_)

    def _named(self, values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(values.astype(float), columns=[f"f{i}" for i in range(values.shape[1])])

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the position of the label of each record."""
        return self.predict_proba(values).argmax(axis=1)

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """Return the class probabilities of each record."""
        return reweighted(np.asarray(self.score.predict_proba(self._named(values)))[:, 1], self.codes)


def risk_score(split: Split, signs: int) -> Fitted:
    """Return a risk score of at most so many signs."""
    score, seconds = timed(lambda: RiskScore(signs, split))
    return Fitted(score, seconds, score.size)


def indicators(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``x <= t`` for the deciles t of each column of the training records, without those that are constant."""
    columns = []
    for place in range(train.shape[1]):
        cuts = np.unique(np.quantile(train[:, place], np.arange(1, 10) / 10, method="lower"))
        columns += [(place, cut) for cut in cuts if cut < train[:, place].max()]
    places, cuts = [place for place, _ in columns], np.array([cut for _, cut in columns])
    return (train[:, places] <= cuts).astype(float), (test[:, places] <= cuts).astype(float)


class KnownAnswers:
    """Probabilities of the test records that another process computed."""

    def __init__(self, probabilities: np.ndarray):
        self.probabilities = probabilities

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the position of the label of each test record."""
        return self.predict_proba(values).argmax(axis=1)

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """Return the class probabilities of each test record."""
        if len(values) != len(self.probabilities):
            raise ValueError(f"{len(self.probabilities)} test records are known, got {len(values)} records")
        return self.probabilities


def fasterrisk(split: Split, signs: int, python: str) -> Fitted:
    """Return FasterRisk's score of at most so many signs, which runs in an environment of its own."""
    train, test = indicators(*split.numbers())
    worker = Path(__file__).with_name("_fasterrisk.py")
    # The variables of this environment would make the other one find this one's packages.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "asked.npz", Path(folder) / "answer.npz"
        np.savez(asked, train=train, test=test, codes=split.train_codes, signs=signs)
        command = [python, str(worker), str(asked), str(answer)]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=FASTERRISK_SECONDS, check=False
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RuntimeError(f"FasterRisk ended with exit code {done.returncode}: {last}")
        with np.load(answer) as found:
            risk, n_signs, seconds = found["risk"], int(found["signs"]), float(found["seconds"])
    model = KnownAnswers(reweighted(risk, split.train_codes))
    return Fitted(model, seconds, {"conditions": n_signs, "signs": n_signs})


# --- not counted as readable ---------------------------------------------------------------------------------------


def logistic(split: Split) -> Fitted:
    """Return logistic regression on all columns, scaled and one-hot encoded."""
    model = make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True),
        StandardScaler(),
        LogisticRegression(max_iter=2000, class_weight="balanced"),
    )
    _, seconds = timed(lambda: model.fit(split.numbers(missing=True)[0], split.train_codes))
    return Fitted(model, seconds, {}, missing=True)


def forest(split: Split) -> Fitted:
    """Return a forest of 200 trees."""
    model = RandomForestClassifier(200, class_weight="balanced", random_state=split.seed, n_jobs=1)
    _, seconds = timed(lambda: model.fit(split.numbers()[0], split.train_codes))
    return Fitted(model, seconds, {})


def has(module: str, name: str | None = None) -> bool:
    """Return whether a module can be imported, and has a name."""
    if find_spec(module) is None:
        return False
    return name is None or hasattr(__import__(module), name)
