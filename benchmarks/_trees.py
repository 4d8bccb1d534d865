"""Class-balanced trees of a given size, their size when written as rules, and smoothed shares of their leaves."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from sklearn.tree import DecisionTreeClassifier

# A leaf is drawn towards its parent as if it had so many records more with the class shares of the parent.
PARENT_RECORDS = 10.0
# Trees of up to so many leaves are tried to meet a number of conditions.
MAX_LEAVES = 200


def balanced_weights(codes: np.ndarray) -> np.ndarray:
    """Return a weight for each record, so that all classes have the same total weight."""
    counts = np.bincount(codes)
    return (len(codes) / (np.count_nonzero(counts) * np.maximum(counts, 1)))[codes]


def fitted_tree(leaves: int, values: np.ndarray, codes: np.ndarray, seed: int) -> DecisionTreeClassifier:
    """Return a class-balanced tree with at most so many leaves; with one leaf it has no split."""
    smallest = len(codes) if leaves < 2 else 1
    tree = DecisionTreeClassifier(
        max_leaf_nodes=max(2, leaves), min_samples_leaf=smallest, class_weight="balanced", random_state=seed
    )
    return tree.fit(values, codes)


def tree_paths(tree: DecisionTreeClassifier) -> dict[int, tuple[int, ...]]:
    """Return for each leaf the nodes from the root to it."""
    structure, found = tree.tree_, {}
    stack: list[tuple[int, ...]] = [(0,)]
    while stack:
        path = stack.pop()
        left, right = structure.children_left[path[-1]], structure.children_right[path[-1]]
        if left < 0:
            found[path[-1]] = path
        else:
            stack += [(*path, int(right)), (*path, int(left))]
    return found


def tree_conditions(tree: DecisionTreeClassifier, column: np.ndarray) -> int:
    """Return the number of conditions if each leaf is written as a rule.

    All tests of one column of the table on the way to a leaf are one condition, as they are in a rule of ours:
    ``2 < age <= 5``, ``colour not in {"red", "blue"}``.

    Parameters
    ----------
    tree : a fitted tree
    column : the column of the table that each column of numbers comes from
    """
    feature = tree.tree_.feature
    return sum(len({int(column[feature[node]]) for node in path[:-1]}) for path in tree_paths(tree).values())


class Trees:
    """Trees on one training part, each fitted once.

    Parameters
    ----------
    values, codes : the training records as numbers, and the positions of their labels
    column : the column of the table that each column of ``values`` comes from
    seed : random_state of the trees
    """

    def __init__(self, values: np.ndarray, codes: np.ndarray, column: np.ndarray, seed: int):
        self.values, self.codes, self.column, self.seed = values, codes, column, seed
        self._fitted: dict[int, tuple[DecisionTreeClassifier, float]] = {}

    def with_leaves(self, leaves: int) -> tuple[DecisionTreeClassifier, float]:
        """Return the tree with at most so many leaves, and the seconds of its fit."""
        leaves = max(1, leaves)
        if leaves not in self._fitted:
            start = time.perf_counter()
            tree = fitted_tree(leaves, self.values, self.codes, self.seed)
            self._fitted[leaves] = tree, time.perf_counter() - start
        return self._fitted[leaves]

    def with_conditions(self, conditions: int) -> tuple[DecisionTreeClassifier, float]:
        """Return the largest tree with at most so many conditions, and the seconds of all trees tried.

        Each further leaf adds at least one condition, so the first tree that has too many is the last one tried.
        """
        best, total = self.with_leaves(1)
        for leaves in range(2, MAX_LEAVES + 1):
            tree, seconds = self.with_leaves(leaves)
            total += seconds
            if tree.get_n_leaves() < leaves or tree_conditions(tree, self.column) > conditions:
                break
            best = tree
        return best, total


def smoothed_shares(weights: np.ndarray, paths: Sequence[tuple[object, ...]]) -> np.ndarray:
    """Return class shares of leaves, drawn to their parents from the root down, as if they had ten records more.

    Parameters
    ----------
    weights : total weight of the records of each class (columns) in each leaf (rows)
    paths : for each leaf, the nodes from the root to it
    """
    totals: dict[object, np.ndarray] = {}
    for weight, path in zip(weights, paths, strict=True):
        for node in path:
            totals[node] = totals.get(node, 0.0) + weight
    shares: dict[object, np.ndarray] = {}
    for path in paths:
        for parent, node in zip((None, *path), path, strict=False):
            if parent is None:
                shares[node] = totals[node] / totals[node].sum()
            else:
                more = PARENT_RECORDS * shares[parent]
                shares[node] = (totals[node] + more) / (totals[node].sum() + PARENT_RECORDS)
    return np.array([shares[path[-1]] for path in paths])


def leaf_weights(leaves: np.ndarray, n_leaves: int, codes: np.ndarray) -> np.ndarray:
    """Return the total balanced weight of each class in each leaf, from the leaf of each training record."""
    weights = np.zeros((n_leaves, codes.max() + 1))
    np.add.at(weights, (leaves, codes), balanced_weights(codes))
    return weights


class SmoothedTree:
    """A tree of scikit-learn whose probabilities are smoothed shares of its leaves; its labels stay the same."""

    def __init__(self, tree: DecisionTreeClassifier, values: np.ndarray, codes: np.ndarray):
        self.tree, paths = tree, tree_paths(tree)
        self.position = np.zeros(tree.tree_.node_count, int)
        self.position[list(paths)] = np.arange(len(paths))
        self.shares = smoothed_shares(leaf_weights(self._leaves(values), len(paths), codes), list(paths.values()))

    def _leaves(self, values: np.ndarray) -> np.ndarray:
        return self.position[self.tree.apply(values)]

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the position of the label of each record."""
        return self.tree.predict(values)

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """Return the class probabilities of each record."""
        return self.shares[self._leaves(values)]
