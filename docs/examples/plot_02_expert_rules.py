"""
Rules of experts, and constraints
=================================

Experts know things that a table does not show. This example gives a rule, forbids columns, and fixes the direction of
others, on recordings of the heart rate before birth (table ``cardio``).
"""

# %%
# The classes are the judgement of three experts: normal, suspect, pathologic. ``AC`` counts accelerations of the heart
# rate, which are a good sign, ``DP`` prolonged decelerations, which are a bad one.
from pathlib import Path

import pandas as pd
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

from diverse_rule_sets import DiverseRuleSetClassifier, report

records = pd.read_csv(Path("..") / "data" / "cardio.csv")
X, y = records.drop(columns="class"), records["class"].map({1: "normal", 2: "suspect", 3: "pathologic"})
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# The given rule comes first and is kept. Columns that describe the histogram of the heart rate are forbidden, because
# they are not read from a paper strip. Accelerations must never be a reason for "pathologic".
clf = DiverseRuleSetClassifier(
    scorecards=None,
    max_statements=7,
    given_rules=["IF DP >= 3 THEN pathologic"],
    forbidden=["Width", "Min", "Max", "Nmax", "Nzeros", "Mode", "Mean", "Median", "Variance", "Tendency"],
    monotone={"AC": {"pathologic": "decreasing"}, "ASTV": {"pathologic": "increasing"}},
    random_state=0,
).fit(X_train, y_train)
print(clf.rule_set_)

# %%
# What do the constraints cost? The same size without them:
free = DiverseRuleSetClassifier(scorecards=None, max_statements=7, random_state=0).fit(X_train, y_train)
for name, model in (("with constraints", clf), ("without", free)):
    print(f"{name:17} {balanced_accuracy_score(y_test, model.predict(X_test)):.3f} balanced accuracy")

# %%
# The held-out records under each rule. Rule 1 is the given one.
report.CoverageDisplay.from_estimator(clf, X_test, y_test)
