"""
CBA, CN2 and IDS beside diverse rules
=====================================

The methods that the paper compares with are included, with the same input and the same rule sets as answers. Their
rules overlap on a large part of the records, or leave much uncovered.
"""

# %%
# The wines of scikit-learn, with the defaults of each method.
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from diverse_rule_sets import DiverseRuleSetClassifier, metrics, report
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target_names[wine.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
models = [CBAClassifier(), CN2Classifier(), IDSClassifier(), DiverseRuleSetClassifier(scorecards=None, random_state=0)]
rows = []
for clf in models:
    rules = clf.fit(X_train, y_train).rule_set_
    rows.append(
        {
            "method": type(clf).__name__,
            "rules": len(rules),
            "conditions": metrics.size(rules).conditions,
            "overlap": f"{metrics.overlap_share(rules, X_train):.0%}",
            "covered": f"{metrics.coverage(rules, X_train):.0%}",
            "held-out accuracy": round(clf.score(X_test, y_test), 3),
        }
    )
print(pd.DataFrame(rows).to_string(index=False))

# %%
# One table and one split are an illustration; the comparison page has figures on many tables.
#
# The rules of CN2 share records: the matrix has the number of records that each two rules share.
report.OverlapDisplay.from_estimator(models[1], X, y)

# %%
# The diverse rules hardly do.
report.OverlapDisplay.from_estimator(models[3], X, y)
