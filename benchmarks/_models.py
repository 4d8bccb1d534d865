"""The models of the frontier: variants of this package's classifier, other rule learners, rivals, and budgets."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import _rivals as rivals
from _measuring import Figures, Fitted, Split

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.estimators._settings import InternalSettings
from diverse_rule_sets.learn._learner import learn_as_in_paper

INTERNAL = {field.name for field in fields(InternalSettings)}
PARAMETERS = inspect.signature(DiverseRuleSetClassifier).parameters

# A variant is one line: parameters of the classifier, or internal settings of it.
MAIN: dict[str, dict[str, Any]] = {
    "default": {},
    "conjunctions": {"scorecards": None},
    "scorecards only": {"scorecards": "auto", "only_points": True},
    "5 rules, no fallbacks": {"max_rules": 5, "max_fallbacks": 0},
}
# The default with one idea changed or off.
ABLATIONS: dict[str, dict[str, Any]] = {
    "max_rules=5": {"max_rules": 5},
    "max_overlap=0": {"max_overlap": 0.0},
    "no overlap cap": {"max_overlap": 1.0},
    "bins, not thresholds": {"thresholds": False, "n_bins": 5},
    "quantile cuts": {"binning": "quantile"},
    "long bodies": {"length_odds": 1.0},
    "not refined": {"learner": learn_as_in_paper, "n_candidates": 500, "min_recall_gain": 0.01},
    "no evidence asked": {"min_evidence": 0.0},
    "no smoothing": {"smoothing": 0.01},
    "conditions free": {"condition_price": 0.0},
    "no class weights": {"class_weight": None},
    "no fallbacks": {"max_fallbacks": 0},
    "no splits": {"split": False},
    "no second pass": {"second_pass": False},
    "without negation": {"negation": False},
    "no refinement": {"refine": False},
    "min_evidence=1": {"min_evidence": 1.0},
    "max_signs=10": {"max_signs": 10},
    "overlap of one label allowed": {"max_overlap": {"agree": 1, "contradict": 0.01}},
    "4 candidates": {"n_candidates": 4},
    "16 candidates": {"n_candidates": 16},
    "32 candidates": {"n_candidates": 32},
    "64 candidates": {"n_candidates": 64},
    "128 candidates": {"n_candidates": 128},
}
VARIANTS = {**MAIN, **ABLATIONS}
# The variants that differ in the number of candidates for each rule only.
CANDIDATES: dict[str, int] = {
    "default": InternalSettings.n_candidates,
    **{name: changes["n_candidates"] for name, changes in VARIANTS.items() if [*changes] == ["n_candidates"]},
}
# The paper's method and its baselines, as in the paper and, the baselines, with this package's defaults.
OTHERS: dict[str, Callable[..., Any]] = {
    "as in the paper": DRSClassifier,
    "CBA": lambda random_state: CBAClassifier(),
    "CBA as in the paper": lambda random_state: CBAClassifier.as_in_paper(),
    "CN2": lambda random_state: CN2Classifier(),
    "CN2 as in the paper": lambda random_state: CN2Classifier.as_in_paper(),
    "IDS": partial(IDSClassifier, weights="tuned"),
    "IDS as in the paper": IDSClassifier.as_in_paper,
}
STATEMENTS = (3, 5, 10, 15, 20)
CONDITIONS = (10, 15, 20, 30)
LEAVES = (5, 10, 15, 20)
# max_statements and max_signs from which budgets of conditions are met; 0 signs: no scorecard.
LIMITS = ((3, 4, 5, 6, 8, 11, 16), (0, 2, 3, 5, 7, 10, 15))
# Rivals as large as a variant on the same split, and which number of the variant is their limit.
MATCHED: dict[str, tuple[str, Callable[[Split, int], Fitted]]] = {
    "tree, as many leaves": ("statements", rivals.tree_with_leaves),
    "tree, as many conditions": ("conditions", rivals.tree_with_conditions),
    "LicketySPLIT, as many leaves": ("statements", rivals.licketysplit),
    "imodels' small tree, as many leaves": ("statements", rivals.small_tree),
}
# How those of them that have leaves and a search of their own are named within budgets.
OTHER_TREES = {
    "LicketySPLIT, as many leaves": "LicketySPLIT",
    "imodels' small tree, as many leaves": "imodels' small tree",
}


@dataclass(frozen=True)
class Model:
    """A model of the benchmark.

    Parameters
    ----------
    name : its name in all results
    settings : its parameters as text; results with other settings are not mixed
    run : the figures on a split, given the figures of earlier models on it; None if there is no such model
    classes : ``"two"`` or ``"more"`` if it is run on such tables only, else None
    ours : whether it is of this package, so that its failure ends the run
    """

    name: str
    settings: str
    run: Callable[[Split, Mapping[str, Figures]], Figures | None]
    classes: str | None = None
    ours: bool = False

    def applies(self, n_classes: int) -> bool:
        """Return whether the model is run on a table with so many classes."""
        return self.classes is None or (self.classes == "two") == (n_classes == 2)


def missing_settings(name: str) -> list[str]:
    """Return the settings of a variant that the classifier of this version does not have."""
    return [setting for setting in VARIANTS.get(name, {}) if setting not in INTERNAL and setting not in PARAMETERS]


def make_variant(changes: Mapping[str, Any], seed: int) -> Any:
    """Return the classifier with some parameters and internal settings changed."""
    internal = {name: value for name, value in changes.items() if name in INTERNAL}
    parameters = {name: value for name, value in changes.items() if name not in INTERNAL}
    return DiverseRuleSetClassifier._with_internal(**internal)(random_state=seed, **parameters)


def as_text(changes: Mapping[str, Any]) -> str:
    """Return settings as text that is the same in every run."""
    return ", ".join(f"{name}={getattr(value, '__name__', repr(value))}" for name, value in sorted(changes.items()))


def ours(name: str, changes: Mapping[str, Any]) -> Model:
    """Return a variant of the classifier as a model."""
    return Model(name, as_text(changes), lambda split, _: split.measure(make_variant(changes, split.seed)), ours=True)


def other(name: str) -> Model:
    """Return another rule learner of this package as a model."""
    return Model(name, name, lambda split, _: split.measure(OTHERS[name](random_state=split.seed)), ours=True)


def matched(rival: str, variant: str) -> Model:
    """Return a rival as large as a variant on the same split."""
    number, fit = MATCHED[rival]

    def run(split: Split, earlier: Mapping[str, Figures]) -> Figures:
        return split.measure_rival(fit(split, int(earlier[variant][number])))

    return Model(f"{rival} ({variant})", f"at most the {number} of {variant}", run)


def fixed(name: str, fit: Callable[[Split], Fitted], classes: str | None = None) -> Model:
    """Return a rival whose size does not depend on a variant."""
    return Model(name, name, lambda split, _: split.measure_rival(fit(split)), classes)


def tree_models(leaves: Iterable[int], conditions: Iterable[int]) -> list[Model]:
    """Return trees of given sizes; those with a number of conditions for more than two classes."""
    return [
        *(fixed(f"tree, {n} leaves", partial(rivals.tree_with_leaves, leaves=n)) for n in leaves),
        *(
            fixed(f"tree, {n} conditions", partial(rivals.tree_with_conditions, conditions=n), "more")
            for n in conditions
        ),
    ]


def fixed_rivals(fasterrisk_python: str | None) -> list[Model]:
    """Return the rivals that are here and whose size does not depend on a variant."""
    models = tree_models(LEAVES, CONDITIONS)
    if rivals.has("imodels", "FastRiskScoreClassifier"):
        models += [fixed(f"risk score, {n} signs", partial(rivals.risk_score, signs=n), "two") for n in (5, 10)]
    if fasterrisk_python:
        run = partial(rivals.fasterrisk, python=fasterrisk_python)
        models += [fixed(f"FasterRisk, {n} signs", partial(run, signs=n), "two") for n in (5, 10)]
    return [*models, fixed("logistic regression", rivals.logistic), fixed("forest", rivals.forest)]


def matched_rivals() -> list[str]:
    """Return the names of rivals that are here and are as large as a variant."""
    needs = {
        "LicketySPLIT, as many leaves": ("licketysplit", None),
        "imodels' small tree, as many leaves": ("imodels", "FastSmallTreeClassifier"),
    }
    return [name for name in MATCHED if name not in needs or rivals.has(*needs[name])]


# --- budgets -------------------------------------------------------------------------------------------------------


def within_statements(name: str, budget: int) -> Model:
    """Return a variant with at most so many statements; one search finds the rules of all budgets."""

    def run(split: Split, _: Mapping[str, Figures]) -> Figures:
        def fit_all() -> list[tuple[float, Figures]]:
            return split.measure_statements(make_variant(VARIANTS[name], split.seed), STATEMENTS)

        return split.once(("statements", name), fit_all)[STATEMENTS.index(budget)][1]

    settings = as_text({**VARIANTS[name], "max_statements": budget})
    return Model(f"{name}, {budget} statements", settings, run, ours=True)


def within_conditions(name: str, budget: int) -> Model:
    """Return the variant within a budget of conditions that is best on the training records, of a fixed list of limits.

    It is chosen by its balanced accuracy on the training records (of equal ones, the smallest), as a user would who
    wants so many conditions; the test records have no part in it.
    """
    changes = VARIANTS[name]
    scored = changes.get("scorecards", PARAMETERS["scorecards"].default) not in (None, 0)
    statements, signs = LIMITS[0], [n for n in LIMITS[1] if scored or not n]

    def run(split: Split, _: Mapping[str, Figures]) -> Figures | None:
        def fit_all() -> list[tuple[float, Figures]]:
            limits = [{"max_signs": n} if n else {"scorecards": None} for n in signs]
            variants = [make_variant({**changes, **limit}, split.seed) for limit in limits]
            return [found for clf in variants for found in split.measure_statements(clf, statements)]

        found = split.once(("conditions", name), fit_all)
        small = [(training, -row["conditions"], row) for training, row in found if row["conditions"] <= budget]
        return max(small, key=lambda one: one[:2])[2] if small else None

    settings = f"{as_text(changes)}; best on training records of max_statements {statements}, max_signs {signs}"
    return Model(f"{name}, {budget} conditions", settings, run, "more", ours=True)


def budget_models(names: Iterable[str], rival_trees: Iterable[str]) -> list[Model]:
    """Return variants within budgets, and trees as large: those of scikit-learn, and others if they are among rivals.

    Parameters
    ----------
    names : the variants
    rival_trees : names of rivals that are as large as a variant
    """
    models = [within_statements(name, budget) for name in names for budget in STATEMENTS]
    models += [within_conditions(name, budget) for name in names for budget in CONDITIONS]
    if not models:
        return []
    others = [name for name in rival_trees if name in OTHER_TREES]
    models += [
        fixed(f"{OTHER_TREES[name]}, {n} leaves", partial(MATCHED[name][1], leaves=n))
        for name in others
        for n in STATEMENTS
    ]
    return models + tree_models(STATEMENTS, CONDITIONS)


# --- the plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """Which models are asked for; small enough to be sent to other processes.

    Parameters
    ----------
    variants : names of variants and other rule learners, each with rivals as large
    budgets : names of variants that are also run within budgets
    rivals : names of rivals, those of :func:`rival_names`; None for all
    fasterrisk_python : a Python interpreter that has FasterRisk, or None
    """

    variants: tuple[str, ...]
    budgets: tuple[str, ...] = ()
    rivals: tuple[str, ...] | None = None
    fasterrisk_python: str | None = None

    def _matched(self) -> list[str]:
        return [name for name in matched_rivals() if self.rivals is None or name in self.rivals]

    def _fixed(self) -> list[Model]:
        models = fixed_rivals(self.fasterrisk_python)
        return [model for model in models if self.rivals is None or model.name in self.rivals]

    def plan(self) -> list[Model]:
        """Return the models in the order in which they are run and printed."""
        models: list[Model] = []
        for name in self.variants:
            models.append(ours(name, VARIANTS[name]) if name in VARIANTS else other(name))
            models += [matched(rival, name) for rival in self._matched()]
        models += [*self._fixed(), *budget_models(self.budgets, self._matched())]
        return list({model.name: model for model in models}.values())

    def pairs(self) -> list[tuple[str, str]]:
        """Return which two models are compared: one of ours, and a rival."""
        found = []
        for name in self.variants:
            found += [(name, f"{rival} ({name})") for rival in self._matched()]
            found += [(name, model.name) for model in self._fixed()] if name in MAIN else []
            found += [(name, "default")] if name != "default" and "default" in self.variants else []
        return found

    def budget_pairs(self) -> list[tuple[str, str]]:
        """Return which two models are compared within each budget."""
        found = []
        for name in self.budgets:
            trees = ["tree", *(OTHER_TREES[rival] for rival in self._matched() if rival in OTHER_TREES)]
            found += [(f"{name}, {n} statements", f"{tree}, {n} leaves") for tree in trees for n in STATEMENTS]
            found += [(f"{name}, {n} conditions", f"tree, {n} conditions") for n in CONDITIONS]
        return found

    def listed(self) -> list[str]:
        """Return the models of the tables, without those within budgets, which have a table of their own."""
        return [model.name for model in replace(self, budgets=()).plan()]


def rival_names(fasterrisk_python: str | None = None) -> list[str]:
    """Return the names of all rivals that can be run here."""
    return [*matched_rivals(), *(model.name for model in fixed_rivals(fasterrisk_python))]


def available(names: Iterable[str]) -> tuple[str, ...]:
    """Return the variants that this version can run, and say which it cannot."""
    kept = []
    for name in names:
        missing = missing_settings(name)
        if missing:
            print(f"left out: {name}, which needs the setting {', '.join(missing)}", file=sys.stderr)
        else:
            kept.append(name)
    return tuple(kept)
