"""The models of the frontier: variants of this package's classifier, other rule learners, rivals, and budgets."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import _rivals as rivals
from _measuring import Fitted, Split

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.estimators._search_classifier import InternalSettings
from diverse_rule_sets.learn._learner import learn_as_in_paper

Figures = dict[str, float]
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
}
VARIANTS = {**MAIN, **ABLATIONS}
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
# max_rules and max_signs from which budgets of conditions are met, without fallback rules; 0 signs: no scorecard.
LIMITS = tuple(itertools.product((2, 3, 4, 5, 7, 10, 15), (0, 2, 3, 5, 7, 10)))
# Rivals as large as a variant on the same split, and which number of the variant is their limit.
MATCHED: dict[str, tuple[str, Callable[[Split, int], Fitted]]] = {
    "tree, as many leaves": ("statements", rivals.tree_with_leaves),
    "tree, as many conditions": ("conditions", rivals.tree_with_conditions),
    "LicketySPLIT, as many leaves": ("statements", rivals.licketysplit),
    "imodels' small tree, as many leaves": ("statements", rivals.small_tree),
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
    """Return a variant with at most so many statements."""
    if "max_statements" in PARAMETERS:
        limit = {"max_statements": budget}
    else:
        limit = {"max_rules": budget - 1, "max_fallbacks": 0}
    return ours(f"{name}, {budget} statements", {**VARIANTS[name], **limit})


def within_conditions(name: str, budget: int) -> Model:
    """Return the variant within a budget of conditions that is best on the training records, of a fixed list of limits.

    It is chosen by its balanced accuracy on the training records (of equal ones, the smallest), as a user would who
    wants so many conditions; the test records have no part in it.
    """
    changes = VARIANTS[name]
    scored = changes.get("scorecards", PARAMETERS["scorecards"].default) not in (None, 0)
    limits = [
        {"max_rules": n_rules, "max_fallbacks": 0, **({"max_signs": n_signs} if n_signs else {"scorecards": None})}
        for n_rules, n_signs in LIMITS
        if scored or not n_signs
    ]

    def run(split: Split, _: Mapping[str, Figures]) -> Figures | None:
        def fit_all() -> list[tuple[float, Figures]]:
            return [split.measure_with_training(make_variant({**changes, **one}, split.seed)) for one in limits]

        found = split.once(("conditions", name), fit_all)
        small = [(training, -row["conditions"], row) for training, row in found if row["conditions"] <= budget]
        return max(small, key=lambda one: one[:2])[2] if small else None

    listed = " ".join("/".join(map(str, limit.values())) for limit in limits)
    settings = f"{as_text(changes)}; best on training records of max_rules/max_fallbacks/max_signs {listed}"
    return Model(f"{name}, {budget} conditions", settings, run, "more", ours=True)


def budget_models(names: Iterable[str]) -> list[Model]:
    """Return variants within budgets, and trees as large."""
    models = [within_statements(name, budget) for name in names for budget in STATEMENTS]
    models += [within_conditions(name, budget) for name in names for budget in CONDITIONS]
    return models + tree_models(STATEMENTS, CONDITIONS) if models else []


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
        models += [*self._fixed(), *budget_models(self.budgets)]
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
            found += [(f"{name}, {n} statements", f"tree, {n} leaves") for n in STATEMENTS]
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
