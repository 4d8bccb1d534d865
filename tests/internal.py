"""The classifiers with other internal settings, for tests of settings that are not parameters."""

from dataclasses import fields

from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets.estimators._search_classifier import InternalSettings
from diverse_rule_sets.learn._learner import learn_as_in_paper

NAMES = {field.name for field in fields(InternalSettings)}


def classifier(**params):
    """Return a DiverseRuleSetClassifier with parameters and internal settings; ``paper_search=True``: Algorithm 2."""
    internal = {name: params.pop(name) for name in NAMES & set(params)}
    if params.pop("paper_search", False):
        internal["learner"] = learn_as_in_paper
    kind = DiverseRuleSetClassifier._with_internal(**internal) if internal else DiverseRuleSetClassifier
    return kind(**params)
