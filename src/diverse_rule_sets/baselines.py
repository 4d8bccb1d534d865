"""The baselines of "Diverse Rule Sets" (KDD 2020), with the same input and the same kind of rule sets."""

from diverse_rule_sets.estimators._cba import CBAClassifier
from diverse_rule_sets.estimators._cn2 import CN2Classifier
from diverse_rule_sets.estimators._ids import IDSClassifier

__all__ = ["CBAClassifier", "CN2Classifier", "IDSClassifier"]
