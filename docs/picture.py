"""Draw the picture of the README: overlapping rules beside diverse rules, on real records.

``python docs/picture.py`` writes ``docs/_static/rules.png``. Both rule sets are learnt from two columns of the wine
data of scikit-learn, with the same settings except for ``max_overlap``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from diverse_rule_sets import DiverseRuleSetClassifier, metrics, report

FOLDER = Path(__file__).parent
COLUMNS = ["flavanoids", "proline"]
SETTINGS = {"scorecards": None, "max_rules": 6, "max_fallbacks": 0, "random_state": 0}


def main():
    """Fit both rule sets and save the picture."""
    wine = load_wine(as_frame=True)
    X, y = wine.data[COLUMNS], wine.target_names[wine.target]
    figure, axes = plt.subplots(1, 2, figsize=(12, 5.2), layout="constrained")
    for ax, overlap, heading in zip(axes, (1.0, 0.01), ("Rules that overlap", "Diverse rules"), strict=True):
        clf = DiverseRuleSetClassifier(max_overlap=overlap, **SETTINGS).fit(X, y)
        report.RuleDisplay.from_estimator(clf, X, y, rule=None, features=COLUMNS, ax=ax)
        rules = clf.rule_set_
        share = metrics.overlap_share(rules, X)
        ax.set_title("", loc="left")  # the title of the display
        ax.set_title(f"{heading}: {share:.0%} of the records are covered by two rules or more", fontsize=10.5)
        ax.set_xlabel(f"flavanoids (max_overlap={overlap})")
    figure.savefig(FOLDER / "_static" / "rules.png", dpi=100)
    print(FOLDER / "_static" / "rules.png")


if __name__ == "__main__":
    main()
