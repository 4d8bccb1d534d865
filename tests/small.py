"""Small tables for slow oracles."""

import numpy as np
import pandas as pd

from diverse_rule_sets import Equals


def table_of_letters(seed, n_columns=5, n_values=3, n=40, n_classes=3):
    """Return a table of letters in which the class depends on three columns, with some random labels."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_values, (n, n_columns))
    noise = rng.integers(0, n_classes, n)
    y = np.where(rng.random(n) < 0.3, noise, (values[:, 0] + values[:, 1] * (values[:, 2] > 0)) % n_classes)
    X = pd.DataFrame(values, columns=[f"c{j}" for j in range(n_columns)]).map(lambda v: "abcdef"[v])
    return X, y


def as_records(X):
    """Return records as sets of items, numbered as by the encoder (columns, then values), and the conditions."""
    names = sorted({(j, value) for j, column in enumerate(X) for value in X[column]})
    number = {name: item for item, name in enumerate(names)}
    records = [frozenset(number[j, value] for j, value in enumerate(row)) for row in X.itertuples(index=False)]
    return records, [Equals(X.columns[j], value) for j, value in names]


def named(rules, conditions):
    """Return rules of items as sets of conditions with a label."""
    return [({conditions[item] for item in body}, label) for body, label in rules]


def rules_of(clf):
    """Return the rules of a fitted classifier as sets of conditions with a label."""
    return [(set(rule.conditions), rule.label) for rule in clf.rule_set_]
