"""The base class of DiverseRuleSetClassifier and DRSClassifier: parameters -> plan, found rules -> rule set."""

from __future__ import annotations

import inspect
import numbers
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from diverse_rule_sets._bits.bitset import Integers
from diverse_rule_sets._input.checks import (
    Anything,
    Check,
    Choice,
    ChoiceOr,
    Jobs,
    Number,
    Optional,
    Verbosity,
    check_choice,
    did_you_mean,
    generator,
    list_text,
    warn,
)
from diverse_rule_sets._input.missing import MissingValues
from diverse_rule_sets._input.tables import Table
from diverse_rule_sets._input.values import is_missing, plain
from diverse_rule_sets._input.weights import Weights
from diverse_rule_sets._util.progress import OnProgress, Progress
from diverse_rule_sets.data._backend import Cover
from diverse_rule_sets.data._possible_conditions import CutOptions
from diverse_rule_sets.estimators._base import Binning, RuleSetEstimator
from diverse_rule_sets.estimators._bounds import MAX_CONDITIONS, MAX_RULES, check_statements
from diverse_rule_sets.estimators._class_weights import ClassWeights, class_weights, paper_weights
from diverse_rule_sets.estimators._max_overlap import OverlapCheck, overlap_limits
from diverse_rule_sets.estimators._reading import Training, read_training
from diverse_rule_sets.estimators._scorecards import counts_by_points, cross_fitted, with_given, with_learnt
from diverse_rule_sets.estimators._settings import Extensions, InternalSettings
from diverse_rule_sets.estimators._translation import Items, label_counts, make_rule_set, translate
from diverse_rule_sets.learn._constraint_input import (
    CheckedConstraints,
    ConstraintParameters,
    check_constraints,
    item_constraints,
)
from diverse_rule_sets.learn._deadline import NO_DEADLINE, Deadline
from diverse_rule_sets.learn._given_covers import GivenCovers
from diverse_rule_sets.learn._given_scorecards import warn_about_given_rule
from diverse_rule_sets.learn._learner import Budget, Data, LearntRules, Plan, own_recall
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._scorecards import CrossFitted
from diverse_rule_sets.learn._selection import LAMBDA_MODES, FoundRules, SearchSettings
from diverse_rule_sets.model._decision import CONFLICTS
from diverse_rule_sets.model._point_probabilities import with_tables
from diverse_rule_sets.model._rules import RuleSet
from diverse_rule_sets.model._scorecards import scorecards_of

DEFAULTS = ("least_covered", "majority")
# Maximum number of cut points of all columns together, if the number of bins is not given.
_MAX_CUTS = 4000


@dataclass(frozen=True)
class ConflictCheck(Check):
    """The name of a way to decide conflicts, or a function."""

    def __call__(self, name: str, value: Any) -> None:
        if not callable(value):
            check_choice(name, value, CONFLICTS, ", or a function of the covering rules")
            return
        try:
            inspect.signature(value).bind(())
        except TypeError:
            raise TypeError(f"{name} must be a function of one argument, the covering rules, got {value!r}") from None
        except ValueError:  # some functions of extension modules have no signature
            return


# The parameters of both classifiers.
SHARED_CHECKS: dict[str, Check] = {
    "max_rules": Number(numbers.Integral, low=0, high=MAX_RULES),
    "min_support": Number(numbers.Integral, low=1),
    "max_overlap": OverlapCheck(),
    "max_conditions": Optional(Number(numbers.Integral, low=1, high=MAX_CONDITIONS)),
    "binning": Binning(),
    "missing_values": MissingValues(),
    "conflict": ConflictCheck(),
    "default": Anything(),
    "given_rules": Anything(),
    "forbidden": Anything(),
    "required": Anything(),
    "monotone": Anything(),
    "max_seconds": Optional(Number(numbers.Real, low=0, open_low=True)),
    "random_state": Anything(),
    "n_jobs": Jobs(),
    "verbose": Verbosity(),
}
DIVERSITY = ChoiceOr(Choice(LAMBDA_MODES, ", or a number"), numbers.Real, Number(numbers.Real, low=0, high=1e9))


class SearchClassifier(RuleSetEstimator):
    """A classifier that draws candidate rules at random and chooses a diverse set of them."""

    # Class attributes, not parameters.
    _internal: ClassVar[InternalSettings]
    _missing_overlap: ClassVar[float]  # what a missing key of a dict max_overlap stands for

    @abstractmethod
    def _settings(self) -> InternalSettings:
        """Return the internal settings, with the parameters of the classifier among them."""

    @abstractmethod
    def _extensions(self) -> Extensions:
        """Return the parameters that extend the paper's method."""

    @classmethod
    def _with_internal(cls, **changes: Any) -> type[Self]:
        """Return the same classifier with other internal settings, to measure their effect."""
        return type(cls.__name__, (cls,), {"_internal": replace(cls._internal, **changes), "__doc__": cls.__doc__})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._constraint_parameters.check(self.max_rules, self.max_conditions)
        n_given = len(self.given_rules) if isinstance(self.given_rules, list | tuple) else 0
        check_statements(self._extensions().max_statements, n_given)

    @property
    def _constraint_parameters(self) -> ConstraintParameters:
        """The constraints as the user gave them."""
        cards = self._extensions().given_scorecards
        return ConstraintParameters(self.given_rules, self.forbidden, self.required, self.monotone, cards)

    @property
    def _default_is_word(self) -> bool:
        """Whether ``default`` says how to find the default label; otherwise it is the label."""
        return isinstance(self.default, str) and self.default in DEFAULTS

    def _check_labels(self, labels: list[Any]) -> None:
        """Raise ValueError if ``default`` is not a label."""
        is_label = np.ndim(self.default) == 0 and not is_missing(self.default) and plain(self.default) in labels
        if not self._default_is_word and not is_label:
            listed = " or ".join(repr(word) for word in DEFAULTS)
            raise ValueError(
                f"default must be {listed} or one of the labels {list_text(labels)}, got {self.default!r}"
                f"{did_you_mean(self.default, [*DEFAULTS, *labels])}"
            )

    def _plan(self, n_classes: int, n_given: int, deadline: Deadline = NO_DEADLINE) -> Plan:
        """Return the plan of the search, from the parameters and internal settings."""
        internal, extensions = self._settings(), self._extensions()
        limits = Limits(
            max_rules=int(self.max_rules) if n_classes > 1 else n_given,
            max_conditions=None if self.max_conditions is None else int(self.max_conditions),
            min_support=int(self.min_support),
            min_recall_gain=float(internal.min_recall_gain),
            **overlap_limits(self.max_overlap, self._missing_overlap),
            deadline=deadline,
        )
        return Plan(
            settings=SearchSettings(int(internal.n_candidates), internal.diversity, bool(internal.second_pass), limits),
            measure=internal.measure,
            length_odds=internal.length_odds,
            smoothing=float(n_classes if extensions.smoothing is None else extensions.smoothing),
            min_evidence=float(extensions.min_evidence),
            condition_price=float(internal.condition_price),
            split=bool(internal.split),
            refine=bool(internal.refine),
            max_fallbacks=int(extensions.max_fallbacks),
        )

    def _cut_options(self, n_columns: int, constraints: CheckedConstraints) -> CutOptions:
        """Return how columns become conditions."""
        internal, n_bins = self._settings(), self._settings().n_bins
        if n_bins is None:
            n_bins = max(5, min(20, 1 + _MAX_CUTS // max(n_columns - len(constraints.forbidden), 1)))
        return CutOptions(
            self.binning,
            int(n_bins),
            internal.thresholds,
            bool(self._extensions().negation),
            "supervised" if internal.thresholds else "uniform",
            constraints.forbidden,
            constraints.named,
            "binning or required",
            frozenset(constraints.monotone),
        )

    def _prepare(
        self,
        table: Table,
        labels: list[Any],
        codes: Integers,
        on_progress: OnProgress | None,
        weights: Weights | None,
        deadline: Deadline = NO_DEADLINE,
    ) -> tuple[Plan, Data, tuple[Any, ...]]:
        """Return the plan, the table as items, and the given rules."""
        constraints = check_constraints(self._constraint_parameters, table, labels)
        constraints.conditions.check_codes(table.codes)
        plan = self._plan(len(labels), len(constraints.given), deadline)
        classes = self._class_weights(labels, codes, weights)
        options = self._cut_options(len(table.names), constraints)
        conditions = constraints.conditions
        encoder, backend = self._encode(table, codes, classes.for_search, options, conditions, weights)
        measures = Measures(backend.class_totals, classes.weights, plan.smoothing, plan.condition_price, classes.rare)
        covers = GivenCovers(backend, conditions)
        for rule in constraints.given:
            warn_about_given_rule(rule, covers, backend, table)
        for card in (*constraints.scorecards, *constraints.of_rules):
            card.warn(covers, backend, table)
        on_items = item_constraints(constraints, encoder, covers, labels)
        data = Data(encoder, backend, measures, on_items, classes.not_default, covers)
        if on_progress is not None:
            on_progress(Progress("conditions", detail=f"{backend.n_items:,} possible conditions"))
        used = plan.min_evidence > 0 or self._extensions().scorecards > 0
        learns = used and plan.settings.limits.max_rules > len(constraints.given)
        found = cross_fitted(data, plan.settings.limits, self._extensions().max_signs) if learns else None
        if found is not None:
            plan = plan.with_evidence(found.evidence_factor)
        with_cards = self._with_scorecards(data, plan, table, labels, constraints, found)
        if on_progress is not None and with_cards.scorecards is not None:
            cards = ", ".join(f"{len(card.signs)} signs" for card in with_cards.scorecards.levels)
            on_progress(Progress("scorecards", detail=cards))
        return plan, with_cards.only_points() if self._settings().only_points else with_cards, constraints.given

    def _with_scorecards(
        self,
        data: Data,
        plan: Plan,
        table: Table,
        labels: list[Any],
        constraints: CheckedConstraints,
        found: CrossFitted | None,
    ) -> Data:
        """Return the data with the items of scorecards, learnt or given; unchanged without scorecards."""
        limits, extensions = plan.settings.limits, self._extensions()
        if constraints.scorecards:
            return with_given(data, limits, labels, constraints)
        n_cards, max_signs = extensions.scorecards, extensions.max_signs
        return with_learnt(data, limits, table, labels, constraints, found, n_cards, max_signs)

    def _class_weights(self, labels: list[Any], codes: Integers, weights: Weights | None) -> ClassWeights:
        """Return the weights of the classes, and which of them are rare."""
        class_weight, min_support = self._extensions().class_weight, int(self.min_support)
        if self._settings().skip_rare:
            return class_weights(class_weight, labels, codes, min_support, weights)
        return paper_weights(class_weight, labels, codes, min_support, not self._default_is_word, weights)

    def _rule_sets(self, X: Any, y: Any, budgets: Sequence[Budget], sample_weight: Any = None) -> list[RuleSet]:
        """Return the rule sets of fits with several values of ``max_rules`` or ``max_statements``, from one search."""
        self._check_parameters()
        deadline = self._deadline()
        table, classes, codes, _, weights = read_training(X, y, self.missing_values, sample_weight=sample_weight)
        labels = [plain(label) for label in classes]
        self._check_labels(labels)
        plan, data, given = self._prepare(table, labels, codes, None, weights, deadline)
        fewest = min(budget.max_rules for budget in budgets)
        if fewest < len(given):
            raise ValueError(f"given_rules holds {len(given)} rules, more than max_rules={fewest}")
        for budget in budgets:
            check_statements(budget.max_statements, len(given))
        wanted = [budget if len(labels) > 1 else budget._replace(max_rules=len(given)) for budget in budgets]
        found = self._settings().learner(data, plan, wanted, generator(self.random_state), lambda *_: None)
        if deadline.stopped:
            self._warn_stopped(min(len(learnt.found.learnt) for learnt in found))
        return [self._rule_set(learnt, data, given, labels) for learnt in found]

    def _deadline(self) -> Deadline:
        return Deadline(self.max_seconds)

    def _learn(
        self, training: Training, labels: list[Any], on_progress: OnProgress | None, deadline: Deadline
    ) -> dict[str, Any]:
        """Learn from a table, and return the fitted attributes."""
        rng, (table, codes, weights) = generator(self.random_state), (training.table, training.codes, training.weights)
        plan, data, given = self._prepare(table, labels, codes, on_progress, weights, deadline)

        def report(stage: str, n_rules: int, covered: Cover) -> None:
            if on_progress is not None:
                n_covered = float(data.backend.class_counts(covered).sum())
                on_progress(Progress(stage, n_rules, n_covered / data.backend.n_records))

        budget = Budget(plan.settings.limits.max_rules, self._extensions().max_statements)
        learnt = self._settings().learner(data, plan, [budget], rng, report)[0]
        rule_set = self._rule_set(learnt, data, given, labels)
        if deadline.stopped:
            self._warn_stopped(len(learnt.found.learnt))
        return {
            "rule_set_": rule_set,
            "lambda_": learnt.found.lambda_,
            "objective_": learnt.found.objective,
            "history_": _history(learnt.found, rule_set),
            "stopped_early_": deadline.stopped,
        }

    def _warn_stopped(self, n_learnt: int) -> None:
        """Warn that the time of a fit is over."""
        result = f"the result is the best of the rules so far ({n_learnt:,})" if n_learnt else "no rule was found"
        warn(f"the search stopped early, after max_seconds={self.max_seconds:g}: {result}", ConvergenceWarning)

    def _rule_set(self, learnt: LearntRules, data: Data, given: tuple[Any, ...], labels: list[Any]) -> RuleSet:
        """Return the found rules in the units of the table; given rules are unchanged."""
        found, extensions, items = learnt.found, self._extensions(), Items(data.encoder, data.backend)
        rules = (
            *(
                replace(rule, class_counts=label_counts(step.class_counts, labels))
                for rule, step in zip(given, found.steps, strict=False)
            ),
            *translate(items, found.learnt, labels),
        )
        rule_set = make_rule_set(
            items,
            labels,
            rules,
            found.covered,
            conflict=self.conflict,
            fallbacks=translate(items, learnt.fallbacks, labels),
            class_weights=None if extensions.class_weight is None else data.measures.weights,
            smoothing=None if extensions.smoothing is None else float(extensions.smoothing),
            default=lambda rule_set: self._default_label(found, data, rule_set),
        )
        return with_tables(rule_set, counts_by_points(learnt, data, rule_set)) if rule_set.scorecards else rule_set

    def _default_label(self, found: FoundRules, data: Data, rule_set: RuleSet) -> Any:
        """Return the default label; a rare class only if it is given."""
        if not self._default_is_word:
            return rule_set.classes[rule_set.classes.index(plain(self.default))]
        score = rule_set.rule_probabilities[-1] if self.default == "majority" else -own_recall(data, found)
        return rule_set.classes[int(np.argmax(np.where(data.not_default, -np.inf, score)))]


def _history(found: FoundRules, rule_set: RuleSet) -> list[dict[str, Any]]:
    """Return what each chosen rule added to the objective and the coverage, as one dict per rule."""
    return [
        {
            "label": rule.label,
            "quality": step.quality,
            "distance_gain": step.distance_gain,
            "recall_gain": step.recall_gain,
            "pass": 0 if j < found.n_given else found.pass_,
            "phase": step.phase,
            "scorecards": [card.name for card in scorecards_of([rule])],
        }
        for j, (step, rule) in enumerate(zip(found.steps, rule_set, strict=True))
    ]
