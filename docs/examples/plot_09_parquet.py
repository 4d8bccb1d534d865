"""
Parquet files that are read in batches
======================================

``fit`` takes a folder of Parquet files and reads it in batches, so that no column is ever in memory. The rules are
those of the table in memory.
"""

# %%
# A folder with eight files. Its records are those of the table ``cardio``, drawn with replacement: 200,000 of them. The
# same code works for hundreds of gigabytes.
import tempfile
from pathlib import Path

import pandas as pd

from diverse_rule_sets import DiverseRuleSetClassifier, report

records = pd.read_csv(Path("..") / "data" / "cardio.csv")
names = {1: "normal", 2: "suspect", 3: "pathologic"}
keeper = tempfile.TemporaryDirectory()
folder = Path(keeper.name)
for k in range(8):
    part = records.sample(25_000, replace=True, random_state=k)
    part.assign(**{"class": part["class"].map(names)}).to_parquet(folder / f"part{k}.parquet")

# %%
# ``y`` is the name of the column with the labels. ``on_progress`` reports the stages.
stages = []
clf = DiverseRuleSetClassifier(max_statements=6, random_state=0)
clf.fit(folder, "class", on_progress=lambda progress: stages.append(progress.stage))
print(*dict.fromkeys(stages), sep=", ")
print(clf.rule_set_)

# %%
# Predictions, scores and the displays read in batches, too.
test = folder / "part0.parquet"
print(clf.predict(test)[:5], f"accuracy {clf.score(test, 'class'):.3f}")

# %%
# The records of one file by rule.
report.CoverageDisplay.from_estimator(clf, test, "class")
