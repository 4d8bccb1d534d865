"""
Codes for missing values
========================

Many tables write missing values as numbers such as -9 or as text such as "?". A model that reads -9 as a number learns
nonsense. This example uses the penguins, with their gaps written as such codes.
"""

# %%
# Two penguins were not measured, and the sex of eleven is not known. A file from another program has codes instead.
from pathlib import Path

import pandas as pd

from diverse_rule_sets import DiverseRuleSetClassifier, report

penguins = pd.read_csv(Path("..") / "data" / "penguins.csv")
y = penguins["species"]
gaps = penguins.drop(columns=["species", "year"])
coded = gaps.fillna(dict.fromkeys(gaps.select_dtypes("number"), -9)).fillna({"sex": "?"})
print(coded.iloc[[0, 3, 8]].to_string())

# %%
# The parameter ``missing_values`` names the codes. The model is the same as that of the table with real gaps.
settings = {"scorecards": None, "random_state": 0}
clf = DiverseRuleSetClassifier(missing_values=[-9, "?"], **settings).fit(coded, y)
same = DiverseRuleSetClassifier(**settings).fit(gaps, y)
print(clf.rule_set_)
print("the same rules:", clf.rule_set_.same_rules(same.rule_set_))

# %%
# Without the parameter, -9 is the smallest number, and "?" a further sex.
naive = DiverseRuleSetClassifier(**settings).fit(coded, y)
print("labels of the two penguins without measurements")
print("  codes named:    ", *clf.predict(coded.iloc[[3, 271]]))
print("  codes not named:", *naive.predict(coded.iloc[[3, 271]]))

# %%
# The rule set keeps the codes for new tables and for every export. A missing value meets only ``is missing``.
print(clf.why(coded.iloc[3]))

# %%
# In plots, missing values have a strip of their own.
report.RuleDisplay.from_estimator(clf, coded, y, rule=None, features=["bill_length_mm", "bill_depth_mm"])
