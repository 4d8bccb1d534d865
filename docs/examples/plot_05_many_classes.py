"""
Many classes
============

Ten digits as images of 8 by 8 pixels, 1,797 records. This example shows a limit: a table where hundreds of small
regions decide is not one for a few rules.
"""

# %%
# Every class needs at least one rule. ``max_rules`` is 40 by default; with more than about 25 classes set it to at
# least twice their number.
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from diverse_rule_sets import DiverseRuleSetClassifier, metrics

digits = load_digits(as_frame=True)
X, y = digits.data, digits.target
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
clf = DiverseRuleSetClassifier(max_rules=20, max_fallbacks=0, random_state=0).fit(X_train, y_train)
size = metrics.size(clf.rule_set_)
print(size)

# %%
# A tree with as many leaves, and a forest, on the same split:
tree = DecisionTreeClassifier(max_leaf_nodes=size.statements, random_state=0).fit(X_train, y_train)
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)
for name, model in (("rules", clf), ("tree, as many leaves", tree), ("forest", forest)):
    print(f"{name:21} {model.score(X_test, y_test):.3f}")

# %%
# Which digits are taken for each other?
ConfusionMatrixDisplay.from_predictions(y_test, clf.predict(X_test), colorbar=False)
plt.title("held-out digits")
