"""
A report page, and the change that would help
=============================================

A model that decides about people must be explained to them. ``why`` says in words which change would give another
label; the report page shows it for any record, in a browser, without a connection.
"""

# %%
# Which contraceptive method do women use? A survey of 1,473 married women (table ``contracept``).
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from diverse_rule_sets import DiverseRuleSetClassifier, report

records = pd.read_csv(Path("..") / "data" / "contracept.csv")
X, y = records.drop(columns="class"), records["class"].map({1: "none", 2: "long-term", 3: "short-term"})
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
clf = DiverseRuleSetClassifier(max_statements=6, random_state=0).fit(X_train, y_train)

# %%
# The reason for one record:
print(clf.why(X_test.iloc[0]))

# %%
# And with another number of children? ``explain`` takes any table, so also made-up ones.
record = X_test.iloc[[0]]
others = pd.concat([record.assign(nchildren=n) for n in range(6)])
answers = clf.explain(others).assign(nchildren=others["nchildren"].to_numpy())
print(answers[["nchildren", "label", "rule"]].to_string(index=False))

# %%
# The page has all rules, their figures on the held-out records, and a form in which a record can be edited.
# ``report.write_html(clf, X_test, y_test, "survey.html")`` writes it to a file. Here it is shown in a frame.
from html import escape


class Frame:
    """A page in a frame, for notebooks and this gallery."""

    def __init__(self, page):
        self.page = page

    def _repr_html_(self):
        return f'<iframe class="page" title="report page" srcdoc="{escape(self.page)}"></iframe>'


Frame(report.html(clf, X_test, y_test, title="Survey: held-out records"))
