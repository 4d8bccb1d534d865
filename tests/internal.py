"""The classifiers with other internal settings, for tests of settings that are not parameters."""

from dataclasses import fields

from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets.estimators._settings import InternalSettings
from diverse_rule_sets.learn._default_search import choose_again, given_rules
from diverse_rule_sets.learn._improvement import NONE_WIDER, Improvement
from diverse_rule_sets.learn._learner import learn_as_in_paper

NAMES = {field.name for field in fields(InternalSettings)}


def classifier(**params):
    """Return a DiverseRuleSetClassifier with parameters and internal settings; ``paper_search=True``: Algorithm 2."""
    internal = {name: params.pop(name) for name in NAMES & set(params)}
    if params.pop("paper_search", False):
        internal["learner"] = learn_as_in_paper
    kind = DiverseRuleSetClassifier._with_internal(**internal) if internal else DiverseRuleSetClassifier
    return kind(**params)


def finish(backend, local_search, trace, settings, opposites=None, wider=NONE_WIDER):
    """Choose again after the first pass of the default search, then split and grow rules; nothing is merged."""

    def ignore(*_):
        return None

    found = choose_again(backend, local_search, trace, settings, ignore)
    improvement = Improvement(
        backend, local_search, lambda: given_rules(backend, local_search), ignore, opposites, wider
    )
    return improvement.apply(found, settings.limits.max_rules)
