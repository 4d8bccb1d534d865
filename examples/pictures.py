"""Write all plots of a rule set to a folder: ``python examples/pictures.py FOLDER``. Needs the extra ``report``."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_wine

from diverse_rule_sets import DiverseRuleSetClassifier, report


def main(folder):
    """Fit rules to the wine data without and with overlap, and write one file for each plot."""
    folder.mkdir(parents=True, exist_ok=True)
    wines = load_wine()
    X, y = wines.data, wines.target_names[wines.target]
    clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    overlapping = DiverseRuleSetClassifier(random_state=0, max_overlap=1.0).fit(X, y)
    displays = {
        "coverage": report.CoverageDisplay.from_estimator(clf, X, y),
        "overlap": report.OverlapDisplay.from_estimator(overlapping, X, y),
        "fit_path": report.FitPathDisplay.from_estimator(overlapping, X, y),
        "trade_off": report.TradeOffDisplay.from_estimator(clf, X, y, max_statements=[1, 2, 3, 4, 5, 8], cv=3),
        "rule": report.RuleDisplay.from_estimator(clf, X, y, rule=1),
        "rules": report.RuleDisplay.from_estimator(overlapping, X, y, rule=None),
    }
    for name, display in displays.items():
        display.figure_.savefig(folder / f"{name}.png", dpi=150)
        print(folder / f"{name}.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
