"""
A pipeline, and a grid search
=============================

The classifier follows the conventions of scikit-learn: pipelines, searches, cross-validation and metadata routing work.
Displays accept a pipeline or a search and show the columns that its earlier steps return.
"""

# %%
# Two ratios are added to the measurements of the penguins. Pipelines keep data frames with ``set_output``.
from pathlib import Path

import pandas as pd
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from diverse_rule_sets import DiverseRuleSetClassifier, report


def with_ratios(X):
    """Return the table with two further columns."""
    return X.assign(
        bill_ratio=X["bill_length_mm"] / X["bill_depth_mm"], mass_per_flipper=X["body_mass_g"] / X["flipper_length_mm"]
    )


penguins = pd.read_csv(Path("..") / "data" / "penguins.csv")
X, y = penguins.drop(columns=["species", "year", "island"]), penguins["species"]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
pipeline = make_pipeline(FunctionTransformer(with_ratios), DiverseRuleSetClassifier(scorecards=None, random_state=0))

# %%
# The search compares sizes of the rule set and the smallest number of records of a rule. ``diversity_path`` compares
# sizes faster; a search can compare anything.
name = "diverserulesetclassifier__"
search = GridSearchCV(
    pipeline,
    {f"{name}max_statements": [3, 4, 6], f"{name}min_support": [3, 10]},
    scoring="balanced_accuracy",
    cv=3,
).fit(X_train, y_train)
figures = pd.DataFrame(search.cv_results_)
figures.columns = figures.columns.str.replace(f"param_{name}", "")
print(figures[["max_statements", "min_support", "mean_test_score", "std_test_score"]].round(3).to_string(index=False))

# %%
# The rules of the best setting:
print(search.best_estimator_[-1].rule_set_)
print(f"balanced accuracy on held-out records {search.score(X_test, y_test):.3f}")

# %%
# The display takes the search as it is.
report.RuleDisplay.from_estimator(search, X_test, y_test, rule=None)
