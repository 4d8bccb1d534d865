"""Diverse rule sets: classification by a small set of short rules that hardly overlap.

A name is imported on first use, so that a rule set that only predicts, or a command that only prints its help, does not
import scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diverse_rule_sets import baselines, metrics, report
    from diverse_rule_sets._util.progress import Progress
    from diverse_rule_sets.estimators._diverse import DiverseRuleSetClassifier
    from diverse_rule_sets.estimators._drs import DRSClassifier
    from diverse_rule_sets.learn.samplers import sample_rules
    from diverse_rule_sets.model._conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
    from diverse_rule_sets.model._point_probabilities import PointsTable
    from diverse_rule_sets.model._rule import Rule
    from diverse_rule_sets.model._rules import RuleSet
    from diverse_rule_sets.model._scorecards import Scorecard
    from diverse_rule_sets.model._signs import Sign
    from diverse_rule_sets.path import DiversityPath, diversity_path

__version__ = "0.2.0.dev0"

__all__ = [
    "Condition",
    "DRSClassifier",
    "DiverseRuleSetClassifier",
    "DiversityPath",
    "Equals",
    "Interval",
    "IsIn",
    "IsInRange",
    "IsMissing",
    "IsNotIn",
    "PointsTable",
    "Progress",
    "Rule",
    "RuleSet",
    "Scorecard",
    "Sign",
    "baselines",
    "diversity_path",
    "metrics",
    "report",
    "sample_rules",
]

_MODULES = {
    "_util.progress": ("Progress",),
    "estimators._diverse": ("DiverseRuleSetClassifier",),
    "estimators._drs": ("DRSClassifier",),
    "model._conditions": ("Condition", "Equals", "Interval", "IsIn", "IsMissing", "IsNotIn"),
    "model._ranges": ("IsInRange",),
    "path": ("DiversityPath", "diversity_path"),
    "model._point_probabilities": ("PointsTable",),
    "model._rule": ("Rule",),
    "model._rules": ("RuleSet",),
    "model._scorecards": ("Scorecard",),
    "model._signs": ("Sign",),
    "learn.samplers": ("sample_rules",),
}


def __getattr__(name: str) -> Any:
    """Import a public name or a public module on first use."""
    if name in ("baselines", "metrics", "report"):
        return import_module(f"{__name__}.{name}")
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
