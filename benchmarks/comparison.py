"""Rules beside other methods, table by table, on the same splits.

    python benchmarks/comparison.py [--splits 3] [--data FOLDER] [--markdown benchmarks/comparison.md]

Tables are those that scikit-learn ships and those of ``docs/data``, or the CSV files of ``--data`` (as for
``frontier.py``). Methods whose package is not installed are left out and named: ``wittgenstein`` (RIPPER),
``interpret-core`` (EBM), ``licketysplit`` (near-optimal trees), ``imodels`` (risk scores, two classes). All methods
have their default settings, except that classes are balanced where a method can do that, and trees are as large as the
rules. The result names the date and the versions.
"""

from __future__ import annotations

import argparse
import datetime
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _measuring import Figures, Fitted, Split, timed
from _rivals import forest, has, licketysplit, logistic, risk_score, tree_with_conditions, tree_with_leaves
from _summary import markdown
from _tables import Table, read, shipped, without_small_classes

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier

ROOT = Path(__file__).parents[1]
OWN = "rules"
PACKAGES = ("wittgenstein", "interpret-core", "licketysplit", "imodels")
FIGURES = ("bacc", "auc", "statements", "conditions", "overlap")


class OneAgainstRest:
    """RIPPER for each class against all others; the rules of the class with the largest probability decide."""

    def __init__(self, split: Split):
        import wittgenstein

        values, codes = split.numbers()[0], split.train_codes
        self.models = []
        for label in range(len(split.table.classes)):
            model = wittgenstein.RIPPER(random_state=split.seed)
            model.fit(self._named(values), codes == label, pos_class=True)
            self.models.append(model)
        rules = [rule for model in self.models for rule in model.ruleset_.rules]
        self.size = {"statements": len(rules) + 1, "conditions": sum(len(rule.conds) for rule in rules)}

    def _named(self, values: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(values.astype(float), columns=[f"f{i}" for i in range(values.shape[1])])

    def predict_proba(self, values: np.ndarray) -> np.ndarray:
        """Return the class probabilities of each record."""
        parts = [np.asarray(model.predict_proba(self._named(values)), float)[:, -1] for model in self.models]
        both = np.clip(np.nan_to_num(np.column_stack(parts)), 1e-6, None)
        return both / both.sum(axis=1, keepdims=True)

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the position of the label of each record."""
        return self.predict_proba(values).argmax(axis=1)


def ripper(split: Split) -> Fitted:
    """Return RIPPER of wittgenstein."""
    model, seconds = timed(lambda: OneAgainstRest(split))
    return Fitted(model, seconds, model.size)


def boosting_machine(split: Split) -> Fitted:
    """Return an explainable boosting machine without interactions, with balanced classes."""
    from _trees import balanced_weights
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(interactions=0, random_state=split.seed, n_jobs=1)
    codes = split.train_codes
    _, seconds = timed(lambda: model.fit(split.numbers()[0], codes, sample_weight=balanced_weights(codes)))
    return Fitted(model, seconds, {})


def methods() -> dict[str, Callable[[Split, Figures | None], Figures]]:
    """Return a function for each method, of a split and the figures of the rules on it."""

    def rules(make: Callable[[int], Any]) -> Callable[[Split, Figures | None], Figures]:
        return lambda split, _: split.measure(make(split.seed))

    def rival(fit: Callable[..., Fitted], size: str | None = None) -> Callable[[Split, Figures | None], Figures]:
        return lambda split, own: split.measure_rival(fit(split, int(own[size])) if size else fit(split))

    return {
        OWN: rules(lambda seed: DiverseRuleSetClassifier(random_state=seed)),
        "rules, `max_statements=5`": rules(lambda seed: DiverseRuleSetClassifier(max_statements=5, random_state=seed)),
        "rules, `scorecards=None`": rules(lambda seed: DiverseRuleSetClassifier(scorecards=None, random_state=seed)),
        "`DRSClassifier` (paper)": rules(lambda seed: DRSClassifier(random_state=seed)),
        "CBA": rules(lambda _: CBAClassifier()),
        "CN2": rules(lambda _: CN2Classifier()),
        "IDS": rules(lambda seed: IDSClassifier(random_state=seed)),
        "RIPPER": rival(ripper),
        "tree, as many leaves": rival(tree_with_leaves, "statements"),
        "tree, as many conditions": rival(tree_with_conditions, "conditions"),
        "LicketySPLIT, as many leaves": rival(licketysplit, "statements"),
        "risk score, 10 signs": rival(lambda split: risk_score(split, 10)),
        "EBM": rival(boosting_machine),
        "logistic regression": rival(logistic),
        "forest": rival(forest),
    }


def absent() -> dict[str, str]:
    """Return the methods whose package is not installed."""
    needs = {
        "RIPPER": "wittgenstein",
        "LicketySPLIT, as many leaves": "licketysplit",
        "risk score, 10 signs": "imodels",
        "EBM": "interpret",
    }
    return {name: package for name, package in needs.items() if not has(package)}


def tables(data: str | None) -> list[Table]:
    """Return the tables."""
    if data is not None:
        return [read(path.stem.split(".")[0], path) for path in sorted(Path(data).rglob("*.csv*"))]
    found = [shipped(name) for name in ("iris", "wine", "breast_cancer")]
    penguins = pd.read_csv(ROOT / "docs/data/penguins.csv")
    found.append(without_small_classes("penguins", penguins.drop(columns=["species", "year"]), penguins["species"]))
    return [*found, *(read(name, ROOT / f"docs/data/{name}.csv") for name in ("cardio", "contracept"))]


def measure(table: Table, n_splits: int, first: int) -> pd.DataFrame:
    """Return the mean figures of each method over the splits of a table."""
    missing, rows = absent(), []
    for seed in range(first, first + n_splits):
        split, own = Split(table, seed), None
        for name, run in methods().items():
            if name in missing or (name.startswith("risk") and len(table.classes) > 2):
                continue
            try:
                figures = run(split, own)
            except Exception as error:  # another library's; its row says so by fewer splits
                print(f"{table.name}, split {seed}: {name} failed: {type(error).__name__}: {error}")
                continue
            own = figures if name == OWN else own
            rows.append({"method": name, **{key: figures.get(key) for key in FIGURES}})
    means = pd.DataFrame(rows).groupby("method", sort=False).mean()
    return means.assign(splits=pd.DataFrame(rows).groupby("method", sort=False).size())


def as_table(means: pd.DataFrame, n_splits: int) -> str:
    """Return the figures of a table as Markdown."""
    formats = {
        "bacc": ".3f",
        "auc": ".3f",
        "statements": ".1f",
        "conditions": ".1f",
        "overlap": ".1%",
    }
    rows = []
    for name, figures in means.iterrows():
        cells = ["" if pd.isna(figures[key]) else format(figures[key], shape) for key, shape in formats.items()]
        partly = "" if figures["splits"] == n_splits else f" ({int(figures['splits'])} of {n_splits} splits)"
        rows.append([f"{name}{partly}", *cells])
    return markdown("method", ["balanced accuracy", "AUC", "statements", "conditions", "overlap"], rows)


def page(results: dict[str, tuple[Table, pd.DataFrame]], n_splits: int, first: int) -> str:
    """Return the result as Markdown, with date and versions."""
    known = []
    for package in ("diverse-rule-sets", "scikit-learn", "numpy", *PACKAGES):
        try:
            known.append(f"{package} {version(package)}")
        except ModuleNotFoundError:
            known.append(f"without {package}")
    lines = [
        f"Made by `benchmarks/comparison.py` on {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, Python "
        f"{platform.python_version()}, {', '.join(known)}. Means of {n_splits} random stratified 80/20 splits "
        f"(numbers {first} to {first + n_splits - 1}). Overlap is of training records, all else of held-out records; "
        "conditions include the signs of scorecards.",
        "",
    ]
    shares = {name: means["bacc"] for name, (_, means) in results.items()}
    mean = pd.DataFrame(shares).dropna().mean(axis=1)
    mean = mean.reindex([name for name in methods() if name in mean.index])
    rows = [[name, f"{value:.3f}"] for name, value in mean.items()]
    better = [f"{name} ({value - mean[OWN]:+.3f})" for name, value in mean.items() if value > mean[OWN]]
    said = f"More accurate in the mean than the rules of the default: {', '.join(better) or 'none'}."
    heading = f"**Mean of {len(results)} tables**, methods that ran on all. {said}"
    lines += [heading, "", markdown("method", ["balanced accuracy"], rows), ""]
    for name, (table, means) in results.items():
        shape = table.shape
        heading = f"**{name}**: {shape['records']:,} records, {shape['columns']} columns, {shape['classes']} classes"
        lines += [heading, "", as_table(means, n_splits), ""]
    return "\n".join(lines)


def main() -> None:
    """Measure all methods on all tables and write the page."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data")
    options.add_argument("--splits", type=int, default=3)
    options.add_argument("--first-split", type=int, default=200)
    options.add_argument("--markdown", default=str(ROOT / "benchmarks/comparison.md"))
    asked = options.parse_args()
    for name, package in absent().items():
        print(f"left out: {name}, which needs {package}")
    results = {}
    for table in tables(asked.data):
        results[table.name] = table, measure(table, asked.splits, asked.first_split)
        print(f"{table.name}\n{results[table.name][1].round(3).to_string()}\n", flush=True)
    Path(asked.markdown).write_text(page(results, asked.splits, asked.first_split), "utf8")


if __name__ == "__main__":
    main()
