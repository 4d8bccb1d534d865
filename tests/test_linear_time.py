"""Wide tables, unused categories and many rules take linear time; the bounds are generous, so that no machine is slow.

Processor times are compared with those of smaller input in the same run. What was quadratic took many times as long.
"""

import gc
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, Interval, Rule, RuleSet
from diverse_rule_sets._input.tables import as_table


def seconds(function, *arguments):
    """Return the processor time of a call."""
    gc.collect()
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def make_wide(n_columns, make=pd.DataFrame):
    """Return 30 records with many columns of numbers."""
    values = np.random.default_rng(0).random((n_columns, 30))
    return make({f"c{j}": row for j, row in enumerate(values)})


def read_columns(frame):
    """Read all columns of a table, one at a time."""
    table = as_table(frame)
    for name in table.names:
        table.column(name)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_a_wide_table_are_read_in_linear_time(make):
    """Eight times as many columns; where a column was looked up among all others, it took 33 to 200 times as long."""
    small, large = make_wide(2500, make), make_wide(20_000, make)
    read_columns(small)
    assert seconds(read_columns, large) < 20 * seconds(read_columns, small) + 0.5


def test_a_wide_table_is_fitted_in_linear_time():
    clf, y = DiverseRuleSetClassifier(random_state=0, max_rules=2), np.arange(30) % 2
    small, large = make_wide(1000), make_wide(4000)
    clf.fit(make_wide(50), y)  # compiled functions are loaded
    assert seconds(clf.fit, large, y) < 9 * seconds(clf.fit, small, y) + 0.5


def make_categories(n_unused, mixed):
    """Return records of a category with few values and many unused ones, and labels."""
    used = ["a", "b", 3] if mixed else ["a", "b", "c"]
    codes = np.random.default_rng(0).integers(0, 3, 1000)
    dtype = pd.CategoricalDtype(pd.Index([*used, *(f"unused {k}" for k in range(n_unused))], dtype=object))
    return pd.DataFrame({"m": pd.Categorical.from_codes(codes, dtype=dtype)}), codes == 0


@pytest.mark.parametrize("mixed", [False, True])
def test_a_million_unused_categories_take_no_time(mixed):
    few, y = make_categories(10, mixed)
    many, _ = make_categories(10**6, mixed)
    rules = RuleSet((Rule.parse('IF m = "a" THEN u'),), ("u", "v"), "v", (5, 5), (0, 5))

    def use(X):
        DiverseRuleSetClassifier(random_state=0).fit(X, y).predict(X)
        rules.predict(X)

    use(few)
    assert seconds(use, many) < 10 * seconds(use, few) + 1


def make_rules(n):
    """Return many rules on one column."""
    rules = tuple(Rule((Interval("x", float(j), j + 1.5),), "ab"[j % 2], (("ab"[j % 2], 1),)) for j in range(n))
    return RuleSet(rules, ("a", "b"), "a", (99_999, 99_999), (0, 0), "first")


def test_many_rules_are_written_as_sql_in_linear_time():
    small, large = make_rules(7_500), make_rules(30_000)
    small.to_sql()
    assert seconds(large.to_sql) < 10 * seconds(small.to_sql) + 0.5
