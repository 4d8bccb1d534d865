"""
Rules in DuckDB
===============

A rule set becomes one SQL query. It gives the same labels, deciding rules and probabilities as ``predict``, where the
records are.
"""

# %%
# Learn rules from the tumours of scikit-learn, scorecards included.
import duckdb
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from diverse_rule_sets import DiverseRuleSetClassifier

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data, cancer.target_names[cancer.target]
clf = DiverseRuleSetClassifier(max_signs=4, max_statements=4, random_state=0).fit(X, y)
query = clf.rule_set_.to_sql(dialect="duckdb", table="tumours", keep="*")
print(query[:600], "...")

# %%
# Run it in DuckDB, and compare.
database = duckdb.connect()
database.register("tumours", X)
answers = database.sql(query).df()
print("columns added:", [name for name in answers if name.startswith("predicted_")])
print("same labels:", (answers["predicted_label"] == clf.predict(X)).all())
position = list(clf.classes_).index("malignant")
difference = np.abs(answers["predicted_probability_malignant"] - clf.predict_proba(X)[:, position]).max()
print("largest difference of the probabilities below 1e-9:", difference < 1e-9)

# %%
# The answers are columns like others, so that the database can go on with them.
summary = database.sql(
    f'SELECT predicted_rule AS rule, count(*) AS n, avg("mean radius") AS radius FROM ({query}) GROUP BY 1 ORDER BY 1'
).df()
print(summary.round(2).to_string(index=False))

# %%
# Records by deciding rule, counted by the database:
plt.bar(summary["rule"].fillna(0).astype(int).astype(str), summary["n"])
plt.xlabel("deciding rule (0: default label)"), plt.ylabel("records")
