"""
How few rules are enough?
=========================

``diversity_path`` measures on held-out folds what each limit on statements is worth: rules, fallback rules and the
default label together.
"""

# %%
# One search for each fold gives the rule sets of all limits.
from pathlib import Path

import pandas as pd

from diverse_rule_sets import DiverseRuleSetClassifier, diversity_path

records = pd.read_csv(Path("..") / "data" / "cardio.csv")
X, y = records.drop(columns="class"), records["class"].map({1: "normal", 2: "suspect", 3: "pathologic"})
clf = DiverseRuleSetClassifier(scorecards=None, random_state=0)
path = diversity_path(clf, X, y, max_statements=[3, 5, 8, 12, None], cv=3)
print(path)

# %%
# The points of the path are available as a data frame.
print(path.frame()[["max_statements", "balanced_accuracy", "conditions", "uncovered"]].round(3).to_string(index=False))

# %%
# The plot shows score and AUC against the number of statements, and the score against conditions.
path.plot()
