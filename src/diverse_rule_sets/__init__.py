"""Diverse rule sets: a classifier that one can read."""

from diverse_rule_sets import metrics
from diverse_rule_sets.classifier import DiverseRuleSetClassifier
from diverse_rule_sets.rules import Condition, Equals, Interval, IsMissing, Rule, RuleSet
from diverse_rule_sets.samplers import sample_rules

__version__ = "0.1.0"

__all__ = [
    "Condition",
    "DiverseRuleSetClassifier",
    "Equals",
    "Interval",
    "IsMissing",
    "Rule",
    "RuleSet",
    "metrics",
    "sample_rules",
]
