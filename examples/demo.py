"""Fit tables that scikit-learn ships, print the rules, a tree of the same size, a path, an explanation; export to SQL.

Run by ``make demo``; needs nothing but the package.
"""

import sqlite3
import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, diversity_path, metrics

SEEDS = range(10)


def fit_both(X, y, seed):
    """Fit rules and a tree with as many leaves on the same split; return the models and their figures."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    start = time.perf_counter()
    rules = DiverseRuleSetClassifier(random_state=seed).fit(X_train, y_train)
    middle = time.perf_counter()
    tree = DecisionTreeClassifier(max_leaf_nodes=max(2, len(rules.rule_set_)), random_state=seed).fit(X_train, y_train)
    end = time.perf_counter()
    covered = rules.rule_set_.covers(X_test).any(axis=1)
    figures = {
        "rules": len(rules.rule_set_),
        "leaves": tree.get_n_leaves(),
        "conditions": metrics.mean_conditions(rules.rule_set_),
        "depth": mean_depth(tree),
        "overlap": metrics.overlap(rules.rule_set_, X_train),
        "diversity": metrics.diversity(rules.rule_set_, X_train),
        "coverage": metrics.coverage(rules.rule_set_, X_train),
        "rules_accuracy": balanced_accuracy_score(y_test, rules.predict(X_test)),
        "tree_accuracy": balanced_accuracy_score(y_test, tree.predict(X_test)),
        "covered_accuracy": np.mean(rules.predict(X_test)[covered] == np.asarray(y_test)[covered]),
        "rules_seconds": middle - start,
        "tree_seconds": end - middle,
    }
    return rules, figures


def mean_depth(tree):
    """Mean number of tests above a leaf: what a reader reads for one label."""
    left, right = tree.tree_.children_left, tree.tree_.children_right
    depths, stack = [], [(0, 0)]
    while stack:
        node, depth = stack.pop()
        if left[node] < 0:
            depths.append(depth)
        else:
            stack += [(left[node], depth + 1), (right[node], depth + 1)]
    return float(np.mean(depths))


def main():
    """Print the rules of one split, then the figures of ten."""
    iris = load_iris()
    X, y = iris.data, iris.target_names[iris.target]
    print(f"Iris: {X.shape[0]} flowers, {X.shape[1]} measurements, three species; 70 % to learn from, 30 % held out.\n")
    print("Compiling, once ...", end=" ", flush=True)
    start = time.perf_counter()
    fit_both(X, y, 0)
    print(f"{time.perf_counter() - start:.1f} s\n")
    clf, _ = fit_both(_named(X, iris.feature_names), y, 0)
    print(clf.rule_set_)
    rows = [fit_both(X, y, seed)[1] for seed in SEEDS]
    mean = {key: np.mean([row[key] for row in rows]) for key in rows[0]}
    spread = {key: np.std([row[key] for row in rows]) for key in rows[0]}
    print(f"\nMean of {len(rows)} random splits (standard deviation):\n")
    print(f"{'':34}{'rules':>16}{'decision tree':>18}")
    for text, own, other in (
        ("rules / leaves", f"{mean['rules']:.1f}", f"{mean['leaves']:.1f}"),
        ("conditions per rule / leaf", f"{mean['conditions']:.1f}", f"{mean['depth']:.1f}"),
        (
            "held-out balanced accuracy",
            f"{mean['rules_accuracy']:.3f} ({spread['rules_accuracy']:.3f})",
            f"{mean['tree_accuracy']:.3f} ({spread['tree_accuracy']:.3f})",
        ),
        ("held-out accuracy where covered", f"{mean['covered_accuracy']:.3f}", ""),
        ("records under two rules or more", f"{mean['overlap']:.1f}", "0 by design"),
        ("diversity (mean distance)", f"{mean['diversity']:.3f}", ""),
        ("records under some rule", f"{mean['coverage']:.1%}", "100.0%"),
        ("seconds to fit", f"{mean['rules_seconds']:.3f}", f"{mean['tree_seconds']:.3f}"),
    ):
        print(f"{text:34}{own:>16}{other:>18}")
    show_path()


def show_path():
    """Print a rule set, and what fewer or more statements would give."""
    cancer = load_breast_cancer()
    X, y = _named(cancer.data, cancer.feature_names), cancer.target_names[cancer.target]
    print(f"\n\nBreast cancer: {X.shape[0]} tumours, {X.shape[1]} measurements.\n")
    clf = DiverseRuleSetClassifier(random_state=0)
    print(clf.fit(X, y).rule_set_)
    print("\nWhat fewer or more statements (rules, fallback rules and the default label) give on held-out fifths:\n")
    print(diversity_path(clf, X, y))
    print("\nWhy one of these tumours gets its label:\n")
    print(clf.why(X[:1] if isinstance(X, np.ndarray) else X.iloc[0]))
    show_database(clf, X)


def show_database(clf, X):
    """Predict with the exported rules in SQLite, which comes with Python."""
    if isinstance(X, np.ndarray):
        return
    database = sqlite3.connect(":memory:")
    X.to_sql("tumours", database, index_label="number")
    query = clf.rule_set_.to_sql(dialect="sqlite", table="tumours", keep=["number"])
    answers = database.execute(f"SELECT predicted_label FROM ({query}) ORDER BY number").fetchall()
    same = np.mean([label for (label,) in answers] == clf.predict(X))
    print(f"\nThe same rules as SQL, run in SQLite: {same:.0%} of {len(X)} labels agree with predict.")


def _named(X, names):
    """Return the table with column names if pandas is installed; the rules then use these names."""
    try:
        import pandas as pd
    except ImportError:
        return X
    return pd.DataFrame(X, columns=names)


if __name__ == "__main__":
    main()
