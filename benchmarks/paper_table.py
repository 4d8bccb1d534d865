"""The paper's Table 3 for its own method: what this package gets on random stratified 80/20 splits, beside the print.

    python benchmarks/paper_table.py --data FOLDER [--splits 10] [--markdown FILE]

Balanced accuracy and the area under the curve (one against one, from hard labels as in the paper) on the held-out
fifth; rules, conditions and overlapping records on the training part. Each figure: mean (standard deviation over
splits).
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from _paper import PRINTED, parser, tables
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split

from diverse_rule_sets import DiverseRuleSetClassifier, metrics

COLUMNS = ("bacc", "auc", "rules", "conditions", "overlap", "first_pass_bacc")


def measure(X, y, seed):
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
    clf = DiverseRuleSetClassifier.as_in_paper(random_state=seed)
    start = time.perf_counter()
    clf.fit(X[train], y[train])
    seconds = time.perf_counter() - start
    first = DiverseRuleSetClassifier.as_in_paper(random_state=seed, second_pass=False).fit(X[train], y[train])
    answer = clf.predict(X[test])
    hard = (answer[:, None] == clf.classes_).astype(float)
    return {
        "bacc": balanced_accuracy_score(y[test], answer),
        "auc": roc_auc_score(y[test], hard, multi_class="ovo", labels=clf.classes_),
        "rules": len(clf.rule_set_),
        "conditions": metrics.mean_conditions(clf.rule_set_),
        "overlap": metrics.overlap(clf.rule_set_, X[train]),
        "first_pass_bacc": balanced_accuracy_score(y[test], first.predict(X[test])),
        "seconds": seconds,
    }


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--splits", type=int, default=10)
    arguments.add_argument("--markdown", help="also write the table there")
    options = arguments.parse_args()
    lines = [
        "| table | | bacc | auc | rules | conditions | overlap | bacc, first pass | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print(*lines, sep="\n", flush=True)
    for name, (X, y) in tables(options.data).items():
        rows = [measure(X, y, seed) for seed in range(options.splits)]
        ours, theirs = [], []
        for column in COLUMNS:
            values = [row[column] for row in rows]
            digits = 1 if column in ("rules", "conditions", "overlap") else 3
            ours.append(f"{np.mean(values):.{digits}f} ({np.std(values, ddof=1):.{digits}f})")
            theirs.append(f"{getattr(PRINTED[name], column):g}")
        seconds = f"{np.median([row['seconds'] for row in rows]):.2f}"
        added = [f"| {name} | here | {' | '.join(ours)} | {seconds} |", f"| | paper | {' | '.join(theirs)} | |"]
        print(*added, sep="\n", flush=True)
        lines += added
    if options.markdown:
        Path(options.markdown).write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
