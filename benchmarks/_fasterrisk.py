"""FasterRisk in an environment of its own: reads records from a file, writes the risks of others to a second file.

    PYTHON benchmarks/_fasterrisk.py ASKED.npz ANSWER.npz

``frontier.py --fasterrisk-python PYTHON`` runs it. It needs numpy and fasterrisk, and nothing of this package, because
fasterrisk requires old versions of numpy, pandas and scikit-learn.
"""

from __future__ import annotations

import sys
import time

import numpy as np


def main() -> None:
    """Learn a score on the training records and write the risks of the test records."""
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    asked = np.load(sys.argv[1])
    start = time.perf_counter()
    search = RiskScoreOptimizer(X=asked["train"], y=np.where(asked["codes"] == 1, 1.0, -1.0), k=int(asked["signs"]))
    search.optimize()
    multiplier, intercept, points = search.get_models(model_index=0)
    seconds = time.perf_counter() - start
    risk = RiskScoreClassifier(multiplier, intercept, points).predict_prob(asked["test"])
    np.savez(sys.argv[2], risk=risk, signs=np.count_nonzero(points), seconds=seconds)


if __name__ == "__main__":
    main()
