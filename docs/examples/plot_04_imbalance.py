"""
A rare class, and alerts
========================

One recording in twelve is pathologic. Which label a record gets depends on ``class_weight``, and for alerts the order
of the probabilities matters more than the label.
"""

# %%
# Two classes: pathologic or not.
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, precision_score, recall_score
from sklearn.model_selection import train_test_split

from diverse_rule_sets import DiverseRuleSetClassifier

records = pd.read_csv(Path("..") / "data" / "cardio.csv")
X, y = records.drop(columns="class"), np.where(records["class"] == 3, "pathologic", "other")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
print(pd.Series(y).value_counts(normalize=True).round(3).to_string())

# %%
# With ``"balanced"`` a record is called pathologic where the class is more frequent than in the whole table. With
# ``None`` it must be the likeliest class. A dict is between them: ``{"pathologic": 3}`` gives an alarm where at least
# one of four records is pathologic.
rows, models = [], {}
for weight in ("balanced", {"pathologic": 3, "other": 1}, None):
    clf = DiverseRuleSetClassifier(class_weight=weight, random_state=0).fit(X_train, y_train)
    label = clf.predict(X_test)
    score = clf.predict_proba(X_test)[:, list(clf.classes_).index("pathologic")]
    models[str(weight)] = score
    rows.append(
        {
            "class_weight": str(weight),
            "alarms": int((label == "pathologic").sum()),
            "precision": precision_score(y_test, label, pos_label="pathologic"),
            "recall": recall_score(y_test, label, pos_label="pathologic"),
            "average precision": average_precision_score(y_test == "pathologic", score),
        }
    )
print(pd.DataFrame(rows).round(2).to_string(index=False))

# %%
# If there is time to check 20, 40 or 60 of the held-out records, check those with the highest probability first.
positive = y_test == "pathologic"
for name, score in models.items():
    order = np.argsort(-score, kind="stable")
    plt.plot(np.arange(1, len(order) + 1), np.cumsum(positive[order]) / positive.sum(), label=f"class_weight={name}")
plt.xlim(0, 150)
plt.xlabel("records checked"), plt.ylabel("share of the pathologic records found"), plt.legend(loc="lower right")
plt.grid(alpha=0.3)
