"""What is no parameter of both search classifiers: internal settings, and extensions of the paper's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from diverse_rule_sets.learn._learner import Learner
from diverse_rule_sets.model._scorecards import Scorecard


@dataclass(frozen=True)
class InternalSettings:
    """Settings of the search that are not parameters of DiverseRuleSetClassifier; some are parameters of DRSClassifier.

    ``benchmarks/frontier.py`` measures the effect of each.

    Parameters
    ----------
    learner : the default search or the paper's
    thresholds : True for both sides of every cut point and for sets of categories; False for the bins between cut
        points and for single categories
    n_bins : number of bins of a column without given edges; None: 20, and fewer, down to 5, on tables of more than 200
        columns
    n_candidates : number of bodies drawn for each rule, all classes together (in the paper's search: for each class)
    length_odds : odds that a condition of a record is part of a drawn body; None: bodies of about two conditions
    measure : the distribution of drawn bodies, ``"pairs"`` (Eq. 8 of the paper) or ``"triples"`` (Eq. 7)
    diversity : the weight lambda of the distances: ``"strict"``, ``"permissive"``, ``"none"`` or a number
    min_recall_gain : the first pass adds a rule only if it newly covers more than this share of its class
    condition_price : share of its quality that a rule loses for each condition
    second_pass : choose once more among all candidates seen, and keep the better of the two sets
    split : split rules in two if there is enough evidence, after all rules are chosen
    skip_rare : learn no rules for rare classes, and do not count their records
    only_points : learnt rules test points only, if there is a scorecard
    refine : improve the whole set at the end by exceptions and refits
    """

    learner: Learner
    thresholds: bool = True
    n_bins: int | None = None
    n_candidates: int = 8
    length_odds: float | None = None
    measure: str = "pairs"
    diversity: str | float = "strict"
    min_recall_gain: float = 0.001
    condition_price: float = 0.03
    second_pass: bool = True
    split: bool = True
    skip_rare: bool = True
    only_points: bool = False
    refine: bool = True


class Extensions(NamedTuple):
    """Parameters of DiverseRuleSetClassifier that the paper's method does not have, with the values that it uses.

    Parameters
    ----------
    max_fallbacks : maximum number of fallback rules
    class_weight : ``"balanced"``, a dict of labels to weights, or None for no weights
    min_evidence : how much evidence a rule needs
    smoothing : number of records of the whole table with which class shares are smoothed; None: the number of classes
    negation : whether to allow ``not in``
    scorecards : maximum number of learnt scorecards
    max_signs : maximum number of signs of a learnt scorecard
    given_scorecards : scorecards that are used as they are; then none is learnt
    max_statements : maximum number of rules, fallback rules and the default label together; None for no limit
    """

    max_fallbacks: int = 0
    class_weight: Any = None
    min_evidence: float = 0.0
    smoothing: float | None = None
    negation: bool = False
    scorecards: int = 0
    max_signs: int = 10
    given_scorecards: tuple[Scorecard, ...] = ()
    max_statements: int | None = None
