"""Diverse rule sets: a classifier that one can read."""

from diverse_rule_sets import baselines, metrics, report
from diverse_rule_sets.classifier import DiverseRuleSetClassifier
from diverse_rule_sets.conditions import Condition, Equals, Interval, IsIn, IsMissing, IsNotIn
from diverse_rule_sets.path import DiversityPath, diversity_path
from diverse_rule_sets.rules import Rule, RuleSet
from diverse_rule_sets.samplers import sample_rules

__version__ = "0.1.0"

__all__ = [
    "Condition",
    "DiverseRuleSetClassifier",
    "DiversityPath",
    "Equals",
    "Interval",
    "IsIn",
    "IsMissing",
    "IsNotIn",
    "Rule",
    "RuleSet",
    "baselines",
    "diversity_path",
    "metrics",
    "report",
    "sample_rules",
]
