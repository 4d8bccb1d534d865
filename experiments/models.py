"""The models of the comparison, and what is measured of each on one split."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, RuleSet, metrics
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from experiments.printed import IDS_SETTINGS

# The most rules where none are said: the paper's program gives 100 to every model but IDS.
MOST = 100

Model = Callable[[str, int, int | None], Any]


def _ids_published(table: str, seed: int, k: int | None) -> IDSClassifier:
    return IDSClassifier.as_in_paper(max_conditions=None, max_rules=k, random_state=seed, **IDS_SETTINGS[table])


# name -> function of table, seed and most rules. Trees are made in `fitted`, because they ask for a number of leaves.
MODELS: dict[str, Model] = {
    "CBA": lambda table, seed, k: CBAClassifier.as_in_paper(max_rules=k or MOST),
    "CN2": lambda table, seed, k: CN2Classifier.as_in_paper(max_rules=k or MOST),
    "IDS": lambda table, seed, k: IDSClassifier.as_in_paper(max_rules=k, random_state=seed),
    "IDS, published settings": _ids_published,
    "first pass": lambda table, seed, k: DRSClassifier(max_rules=k or MOST, second_pass=False, random_state=seed),
    "full method": lambda table, seed, k: DRSClassifier(max_rules=k or MOST, random_state=seed),
    "lambda none": lambda table, seed, k: DRSClassifier(diversity="none", random_state=seed),
    "lambda permissive": lambda table, seed, k: DRSClassifier(diversity="permissive", random_state=seed),
    "default": lambda table, seed, k: DiverseRuleSetClassifier(max_rules=k or 40, random_state=seed),
}
# A tree with as many leaves as the model named has rules.
TREES = {"tree like full method": "full method", "tree like default": "default"}


def settings(model: str, table: str, k: int | None) -> dict[str, Any]:
    """Return what a fit depends on beside table, split and code; for the record."""
    if model in TREES:
        return {"class_weight": "balanced", "leaves as": settings(TREES[model], table, k)}
    parameters = MODELS[model](table, 0, k).get_params()
    return {name: parameters[name] for name in sorted(parameters) if name not in ("random_state", "n_jobs", "verbose")}


def measured(
    model: str, table: str, X: pd.DataFrame, y: np.ndarray, split: int, k: int | None, leaves: int | None
) -> dict[str, Any]:
    """Fit on four fifths, judge on the last; return all figures.

    Parameters
    ----------
    model : one of MODELS or TREES
    table : its name
    X, y : all its records and labels
    split : the seed of the split, and of the fit
    k : the most rules, or None for what the paper has
    leaves : how many leaves a tree may have
    """
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=split)
    if model in TREES:
        assert leaves is not None
        return _tree(X, y, train, test, max(2, leaves), split)
    clf = MODELS[model](table, split, k)
    start = time.perf_counter()
    clf.fit(X.iloc[train], y[train])
    seconds = time.perf_counter() - start
    rule_set, inside = clf.rule_set_, X.iloc[train]
    figures = {
        **_judged(y[test], clf.predict(X.iloc[test]), clf.predict_proba(X.iloc[test]), clf.classes_),
        "rules": len(rule_set),
        "conditions": metrics.mean_conditions(rule_set),
        "diversity": metrics.diversity(rule_set, inside),
        "overlap": metrics.overlap(rule_set, inside),
        "uncovered": 1 - metrics.coverage(rule_set, inside),
        "seconds": seconds,
    }
    if hasattr(clf, "n_candidates_"):
        figures["candidates"] = clf.n_candidates_
    if model.startswith("IDS"):
        figures |= _ids_as_published(rule_set, y[train], X.iloc[test], y[test], clf)
    return figures


def _judged(y: np.ndarray, labels: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """Return balanced accuracy, and AUC (one against one) from hard labels as in the paper and from probabilities."""
    hard = (labels[:, None] == classes).astype(float)
    return {
        "bacc": balanced_accuracy_score(y, labels),
        "auc": roc_auc_score(y, hard, multi_class="ovo", labels=classes),
        "auc of probabilities": roc_auc_score(y, probabilities, multi_class="ovo", labels=classes),
    }


def least_precise(covering: tuple[Any, ...]) -> Any:
    """Let the least precise rule decide, as the paper's program does for IDS through a result it throws away."""
    return min(covering, key=lambda rule: rule.precision)


def _ids_as_published(
    rule_set: RuleSet, y_train: np.ndarray, X: pd.DataFrame, y: np.ndarray, clf: IDSClassifier
) -> dict[str, Any]:
    """Judge the same rules with the paper's program's way to predict, wrong and put right."""
    labels, counts = np.unique(y_train.astype(str), return_counts=True)
    majority = str(labels[np.argmax(counts)])
    found: dict[str, Any] = {"weights": clf.weights_.tolist()}
    for name, conflict in (("least precise", least_precise), ("most precise", "precision")):
        said = replace(rule_set, conflict=conflict, default=majority).predict(X)
        hard = (said[:, None] == clf.classes_).astype(float)
        found[f"bacc, {name}"] = balanced_accuracy_score(y, said)
        found[f"auc, {name}"] = roc_auc_score(y, hard, multi_class="ovo", labels=clf.classes_)
    return found


def _tree(
    X: pd.DataFrame, y: np.ndarray, train: np.ndarray, test: np.ndarray, leaves: int, seed: int
) -> dict[str, Any]:
    """Judge a class-balanced tree on the raw columns, categories as one column each."""
    text = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    numbers = pd.get_dummies(X, columns=text).astype("f4").to_numpy()
    classes, codes = np.unique(y.astype(str), return_inverse=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, class_weight="balanced", random_state=seed)
    start = time.perf_counter()
    tree.fit(numbers[train], codes[train])
    seconds = time.perf_counter() - start
    labels = classes[tree.predict(numbers[test])].astype(object)
    return {
        **_judged(y[test], labels, tree.predict_proba(numbers[test]), classes),
        "rules": int(tree.get_n_leaves()),
        "conditions": float(np.mean(_columns_above_leaves(tree.tree_))),
        "diversity": 1.0,
        "overlap": 0,
        "uncovered": 0.0,
        "seconds": seconds,
    }


def _columns_above_leaves(tree: Any) -> list[int]:
    """Count for each leaf the columns on the way to it: its conditions, as those of one column merge."""
    lengths, stack = [], [(0, frozenset())]
    while stack:
        node, columns = stack.pop()
        if tree.children_left[node] < 0:
            lengths.append(len(columns))
        else:
            below = columns | {int(tree.feature[node])}
            stack += [(tree.children_left[node], below), (tree.children_right[node], below)]
    return lengths
