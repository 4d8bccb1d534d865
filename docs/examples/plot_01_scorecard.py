"""
A scorecard and the rules that test it
======================================

Many medical and financial tables have no single decisive condition: several weak signs add up. A scorecard writes them
as points, and rules test the sum. This example uses the tumours of scikit-learn.
"""

# %%
# Learn a scorecard of at most five signs. The last quarter of the records is not used for it.
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from diverse_rule_sets import DiverseRuleSetClassifier, metrics, report

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data, cancer.target_names[cancer.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

clf = DiverseRuleSetClassifier(max_signs=5, max_rules=3, max_fallbacks=0, random_state=0).fit(X_train, y_train)
print(clf.rule_set_)

# %%
# Each line of the scorecard is a sign: a condition and its points. Below a rule that tests points are its
# probabilities for each number of points.
print(f"held-out accuracy {clf.score(X_test, y_test):.3f}, {metrics.size(clf.rule_set_)}")

# %%
# ``explain`` counts the points of a record.
print(clf.explain(X_test.iloc[[0]])["reason"].iloc[0])

# %%
# The held-out tumours by their points. The strips on the right are the points that each rule tests.
report.ScorecardDisplay.from_estimator(clf, X_test, y_test)
