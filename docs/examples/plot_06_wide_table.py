"""
Wide tables
===========

With many columns, some look useful by chance. A rule therefore needs evidence, and more of it if there are more
conditions to choose from. This example adds columns of noise to a real table.
"""

# %%
# The tumours of scikit-learn have 30 columns. 70, then 470 columns of noise are added.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from diverse_rule_sets import DiverseRuleSetClassifier, metrics

cancer = load_breast_cancer(as_frame=True)
y = cancer.target_names[cancer.target]
noise = np.random.default_rng(0).normal(size=(len(y), 470))
noise = pd.DataFrame(noise, columns=[f"noise {k}" for k in range(noise.shape[1])])

# %%
# How many columns of noise do the rules use, and what do they cost?
rows = []
for n_noise in (0, 70, 470):
    X = pd.concat([cancer.data, noise.iloc[:, :n_noise]], axis=1)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    clf = DiverseRuleSetClassifier(scorecards=None, random_state=0).fit(X_train, y_train)
    used = [str(column) for column, _ in clf.rule_set_.kinds]
    rows.append(
        {
            "columns": X.shape[1],
            "columns used": len(used),
            "of them noise": sum(column.startswith("noise") for column in used),
            "statements": metrics.size(clf.rule_set_).statements,
            "held-out accuracy": round(clf.score(X_test, y_test), 3),
        }
    )
figures = pd.DataFrame(rows)
print(figures.to_string(index=False))

# %%
# A table of pure noise should give few rules or none:
labels = np.random.default_rng(1).permutation(y)
nothing = DiverseRuleSetClassifier(random_state=0).fit(noise, labels)
print("rules from pure noise:", len(nothing.rule_set_))

# %%
# The picture shows the columns used, by kind.
figures["of them real"] = figures["columns used"] - figures["of them noise"]
figures.plot.bar(x="columns", y=["of them real", "of them noise"], stacked=True, rot=0)
plt.ylabel("columns that the rules use")
