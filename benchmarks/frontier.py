"""Accuracy against readability: the default, each idea off in turn, the paper's method, baselines, tree and forest.

    python benchmarks/frontier.py --data FOLDER [--tables NAME ...] [--splits 10] [--variants NAME ...]

Random stratified 80/20 splits; means over splits (standard deviation of balanced accuracy in brackets). ``FOLDER``
holds CSV files, in it or one level below, each with the target in the column ``class``; without it, scikit-learn's own
tables are used. Rules and conditions are those of the main rules; overlap and uncovered are shares of training records
under two or more rules and under none. The tree is class-balanced and has as many leaves as the default has rules on
that split; the forest is the ceiling. Labels and probabilities are of held-out records. ``--markdown FILE`` keeps the
tables.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from _paper import CODES, parser, renamed
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, metrics
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.estimators._search_classifier import InternalSettings
from diverse_rule_sets.learn._learner import learn_as_in_paper

# Parameters of the classifier, or internal settings of it.
VARIANTS = {
    "default": {},
    "max_rules=5": {"max_rules": 5},
    "max_overlap=0": {"max_overlap": 0.0},
    "no overlap cap": {"max_overlap": 1.0},
    "bins, not thresholds": {"thresholds": False, "n_bins": 5},
    "quantile cuts": {"binning": "quantile"},
    "long bodies": {"length_odds": 1.0},
    "not refined": {"learner": learn_as_in_paper, "n_candidates": 500, "min_recall_gain": 0.01},
    "no evidence asked": {"min_evidence": 0.0},
    "no smoothing": {"smoothing": 0.01},
    "conditions free": {"condition_price": 0.0},
    "no class weights": {"class_weight": None},
    "no fallbacks": {"max_fallbacks": 0},
    "no splits": {"split": False},
    "no second pass": {"second_pass": False},
    "with negation": {"negation": True},
}
INTERNAL = {field.name for field in fields(InternalSettings)}
# The paper's method and its baselines, as in the paper and, the baselines, with this package's defaults.
OTHERS = {
    "as in the paper": DRSClassifier,
    "CBA": lambda random_state: CBAClassifier(),
    "CBA as in the paper": lambda random_state: CBAClassifier.as_in_paper(),
    "CN2": lambda random_state: CN2Classifier(),
    "CN2 as in the paper": lambda random_state: CN2Classifier.as_in_paper(),
    "IDS": partial(IDSClassifier, weights="tuned"),
    "IDS as in the paper": IDSClassifier.as_in_paper,
}
COLUMNS = ("bacc", "acc", "auc", "log loss", "rules", "conditions", "overlap", "uncovered", "fallbacks", "seconds")


def tables(data, names):
    """Yield the name, records and labels of each table."""
    if data is None:
        print("No folder of tables (--data or DRS_DATA): scikit-learn's own.\n", file=sys.stderr)
        for name in ("iris", "wine", "breast_cancer", "digits"):
            bunch = getattr(datasets, f"load_{name}")(as_frame=True)
            if not names or name in names:
                yield name, bunch.data, bunch.target.astype(str).to_numpy(object)
        return
    found = sorted({*Path(data).glob("*.csv*"), *Path(data).glob("*/*.csv*")})
    missing = set(names or ()) - {path.name.split(".")[0] for path in found}
    if missing or not found:
        raise SystemExit(f"no table {', '.join(sorted(missing)) or '(*.csv)'} in {data}")
    for path in found:
        name = path.name.split(".")[0]
        if not names or name in names:
            yield name, *read(path, name)


def read(path, name):
    """Read one table; classes of fewer than five records cannot be split and are left out."""
    frame = renamed(pd.read_csv(path))
    for column in CODES.get(name, set()) & set(frame.columns):
        frame[column] = frame[column].astype(str)
    frame = frame[frame.groupby("class")["class"].transform("size") >= 5].reset_index(drop=True)
    return frame.drop(columns="class"), frame["class"].astype(str).to_numpy(object)


def judged(y, labels, probabilities, classes):
    probabilities = np.clip(probabilities, 1e-9, None)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    two = len(classes) == 2
    return {
        "bacc": balanced_accuracy_score(y, labels),
        "acc": accuracy_score(y, labels),
        "auc": roc_auc_score(y, probabilities[:, 1])
        if two
        else roc_auc_score(y, probabilities, multi_class="ovo", labels=classes),
        "log loss": log_loss(y, probabilities, labels=classes),
    }


def measured(clf, X, y, train, test):
    start = time.perf_counter()
    clf.fit(X.iloc[train], y[train])
    seconds = time.perf_counter() - start
    rule_set, inside = clf.rule_set_, X.iloc[train]
    return {
        **judged(y[test], clf.predict(X.iloc[test]), clf.predict_proba(X.iloc[test]), clf.classes_),
        "rules": len(rule_set),
        "conditions": metrics.mean_conditions(rule_set),
        "overlap": metrics.overlap_share(rule_set, inside),
        "uncovered": 1 - metrics.coverage(rule_set, inside),
        "fallbacks": len(rule_set.fallbacks),
        "seconds": seconds,
    }


def reference(model, numbers, y, train, test):
    classes, codes = np.unique(y.astype(str), return_inverse=True)
    start = time.perf_counter()
    model.fit(numbers[train], codes[train])
    seconds = time.perf_counter() - start
    labels = classes[model.predict(numbers[test])]
    return {**judged(y[test], labels, model.predict_proba(numbers[test]), classes), "seconds": seconds}


def variant(**changes):
    """Return what makes the classifier with some parameters and internal settings changed."""
    internal = {name: changes.pop(name) for name in INTERNAL & set(changes)}
    return partial(DiverseRuleSetClassifier._with_internal(**internal), **changes)


def one_split(X, y, numbers, seed, variants):
    """Return the figures of every model on one split."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    rows = {}
    for name in variants:
        make = OTHERS.get(name) or variant(**VARIANTS[name])
        rows[name] = measured(make(random_state=seed), X, y, train, test)
        if name in ("default", "max_rules=5"):
            leaves = max(2, rows[name]["rules"])
            tree = DecisionTreeClassifier(max_leaf_nodes=leaves, class_weight="balanced", random_state=seed)
            rows[f"tree as large ({name})"] = reference(tree, numbers, y, train, test)
    forest = RandomForestClassifier(200, class_weight="balanced", n_jobs=-1, random_state=seed)
    rows["forest"] = reference(forest, numbers, y, train, test)
    return rows


def printed(title, frame):
    """Print one table, the models in the order of their rows."""
    order = list(dict.fromkeys(frame["model"]))
    mean = frame.groupby("model")[list(COLUMNS)].mean().loc[order]
    spread = frame.groupby("model")["bacc"].std().fillna(0.0).loc[order]
    lines = [f"| {title} | " + " | ".join(COLUMNS) + " |", "| --- |" + " --- |" * len(COLUMNS)]
    for model in order:
        cells = [f"{mean.loc[model, 'bacc']:.3f} ({spread[model]:.3f})"]
        for column in COLUMNS[1:]:
            value = mean.loc[model, column]
            form = {"rules": "{:.1f}", "conditions": "{:.2f}", "fallbacks": "{:.1f}", "seconds": "{:.2f}"}
            form |= {"overlap": "{:.2%}", "uncovered": "{:.1%}"}
            cells.append("" if np.isnan(value) else form.get(column, "{:.3f}").format(value))
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    text = "\n".join(lines)
    print(text + "\n", flush=True)
    return text


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--splits", type=int, default=10)
    arguments.add_argument("--tables", nargs="*", help="only these")
    arguments.add_argument("--variants", nargs="*", help=f"only these of: {', '.join([*VARIANTS, *OTHERS])}")
    arguments.add_argument("--markdown", help="also write the tables there")
    options = arguments.parse_args()
    variants = options.variants or [*VARIANTS, *OTHERS]
    unknown = set(variants) - {*VARIANTS, *OTHERS}
    if unknown:
        arguments.error(f"unknown variants: {', '.join(sorted(unknown))}")
    warnings.simplefilter("ignore", UserWarning)
    rows, pages = [], []
    for name, X, y in tables(options.data, options.tables):
        text = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
        numbers = pd.get_dummies(X, columns=text).astype("f4").fillna(-999).to_numpy()
        for seed in range(options.splits):
            print(f"{name}, split {seed + 1} of {options.splits}", end="\r", file=sys.stderr, flush=True)
            for model, figures in one_split(X, y, numbers, seed, variants).items():
                rows.append({"table": name, "model": model, **dict.fromkeys(COLUMNS, np.nan), **figures})
        frame = pd.DataFrame([row for row in rows if row["table"] == name])
        pages.append(printed(f"{name}, {len(y):,} x {X.shape[1]}, {len(np.unique(y))} classes", frame))
    whole = pd.DataFrame(rows)
    if whole["table"].nunique() > 1:
        order = list(dict.fromkeys(whole["model"]))
        means = whole.groupby(["model", "table"])[list(COLUMNS)].mean().reset_index()
        means = means.sort_values("model", key=lambda names: names.map(order.index), kind="stable")
        pages.append(printed(f"mean of {whole['table'].nunique()} tables (deviation over tables)", means))
    if options.markdown:
        Path(options.markdown).write_text("\n\n".join(pages) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
