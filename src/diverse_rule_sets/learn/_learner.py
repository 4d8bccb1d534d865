"""The steps from items to rules: draw, improve, choose, choose again, improve the set, make fallback rules."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets.data._backend import Backend
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.learn._constraints import Constraints
from diverse_rule_sets.learn._default_search import Trace, choose_again, first_pass, given_rules
from diverse_rule_sets.learn._fallbacks import Fallback, find_fallbacks
from diverse_rule_sets.learn._given_covers import GivenCovers
from diverse_rule_sets.learn._improvement import Improvement
from diverse_rule_sets.learn._limits import READING_PRICE, Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._paper_search import search
from diverse_rule_sets.learn._partitions import partitions
from diverse_rule_sets.learn._scorecard_data import ScorecardData
from diverse_rule_sets.learn._scorecard_levels import ScorecardLevels
from diverse_rule_sets.learn._selection import FoundRules, OnChoice, SearchSettings
from diverse_rule_sets.learn._value import Value
from diverse_rule_sets.learn.samplers import ConstrainedSampler, RejectionSampler
from diverse_rule_sets.model._scorecards import Scorecard

# If the rules leave more than this share of the records uncovered, rules that test points only are searched as well.
_MANY_UNCOVERED = 0.1
# Searches with and without scorecards are compared on tables with at most so many records; with more, it takes long.
_MAX_COMPARED = 20_000
# What a record that no rule covers costs in the comparison of searches, in nats.
_UNCOVERED_PRICE = 0.15
# What each rule must be worth for each record of the table, in nats, if the number of statements is limited.
_READING_PRICE_WITHIN_BUDGET = READING_PRICE / 4
# Within a limit on statements, sets with up to so many fallback rules are compared with sets of more rules.
_MAX_FALLBACKS_KEPT = 3
# Expected number of items of a drawn body if the odds are not given.
_EXPECTED_ITEMS = 2.0


@dataclass(frozen=True)
class Plan:
    """All settings of a fit, named as the parameters and internal settings of the classifiers.

    Parameters
    ----------
    settings : the settings of both searches
    measure : the distribution of drawn bodies, ``"pairs"`` or ``"triples"``
    length_odds : odds that each item of a record enters a drawn body; None for bodies of about two items
    smoothing : number of average records of the whole table that are added to the class counts of a rule
    min_evidence, condition_price, split, max_fallbacks, refine : settings of the default search only
    reading_price : what each rule must be worth for each record of the table, in nats
    """

    settings: SearchSettings
    measure: str
    length_odds: float | None
    smoothing: float
    min_evidence: float = 0.0
    condition_price: float = 0.0
    split: bool = False
    max_fallbacks: int = 0
    reading_price: float = READING_PRICE
    refine: bool = True

    def with_max_rules(self, max_rules: int) -> Plan:
        """Return the same plan with another ``max_rules``."""
        limits = self.settings.limits._replace(max_rules=max_rules)
        return replace(self, settings=replace(self.settings, limits=limits))

    def with_evidence(self, factor: float) -> Plan:
        """Return the plan in which rules need so many times the evidence."""
        return replace(self, min_evidence=factor * self.min_evidence)


class Data(NamedTuple):
    """The training records as items, the measures of rules, and the constraints on rules.

    Parameters
    ----------
    encoder, backend : the records as items, those of scorecards included
    measures, constraints : the measures of rules and the constraints on them
    not_default : flags of the classes that are not the default label unless the user gives it
    given : the records for which given conditions hold
    scorecards : the scorecards whose cuts are items; None without
    """

    encoder: Encoder
    backend: Backend
    measures: Measures
    constraints: Constraints
    not_default: NDArray[np.bool_]
    given: GivenCovers
    scorecards: ScorecardData | None = None
    without_scorecards: Data | None = None

    def with_scorecards(self, scorecards: ScorecardData) -> Data:
        """Return the data with the items of scorecards."""
        encoder, backend, constraints = scorecards.encoder, scorecards.backend, scorecards.constraints
        with_cards = self._replace(encoder=encoder, backend=backend, constraints=constraints, scorecards=scorecards)
        return with_cards._replace(without_scorecards=self)

    def only_points(self) -> Data:
        """Return the data with constraints by which learnt rules test points only; unchanged without scorecards."""
        if self.without_scorecards is None:
            return self
        plain = np.arange(self.backend.n_items) < self.without_scorecards.backend.n_items
        banned = np.tile(plain, (self.backend.n_classes, 1))
        if self.constraints.banned is not None:
            banned |= self.constraints.banned
        return self._replace(constraints=replace(self.constraints, banned=banned))

    def levels(self, card: Scorecard) -> ScorecardLevels:
        """Return the records by points of a scorecard, learnt or given."""
        known = None if self.scorecards is None else self.scorecards.levels.get(card)
        return self.given.levels(card) if known is None else known

    def uses_scorecards(self, found: FoundRules) -> bool:
        """Return whether a rule tests points; then so may its fallback rules."""
        return any(self.of_scorecard(item) for step in found.learnt for item in step.body)

    def of_scorecard(self, item: int) -> bool:
        """Return whether an item is a cut of a scorecard; these are the last items."""
        return self.without_scorecards is not None and item >= self.without_scorecards.backend.n_items


class LearntRules(NamedTuple):
    """The rules that a search found, and the fallback rules, by items."""

    found: FoundRules
    fallbacks: list[Fallback]


class Budget(NamedTuple):
    """How much of a rule set may be read.

    Parameters
    ----------
    max_rules : largest number of rules, given ones included
    max_statements : largest number of rules, fallback rules and the default label together; None for no limit
    """

    max_rules: int
    max_statements: int | None = None


# A function that learns a rule set for each of several budgets in one search. Each rule set equals the result of a
# search for this budget alone with the same seed, because the first rules that the greedy algorithm chooses do not
# depend on ``max_rules``, and sets of fewer statements are made from one larger set.
Learner = Callable[[Data, Plan, Sequence[Budget], np.random.Generator, OnChoice], list[LearntRules]]


def learn(
    data: Data, plan: Plan, budgets: Sequence[Budget], rng: np.random.Generator, on_choice: OnChoice
) -> list[LearntRules]:
    """Learn rules by the default search: bodies are drawn, improved and chosen, and the set is improved.

    Scorecards are worth their signs on some tables only. So, if there are not very many records, a search without
    scorecards is made as well, and a search for rules that test points only, if many records are uncovered. The set of
    the highest value (:meth:`_Search.value_of`) is kept and refined. If no rule uses a scorecard, the rules are those
    of the search without scorecards.

    Bodies are drawn once for all budgets. With and without a limit on statements, rules have different prices, so sets
    are chosen once for each number of rules with a limit, and once without.
    """
    within = replace(plan, reading_price=_READING_PRICE_WITHIN_BUDGET)
    draws = _Draws(plan.with_max_rules(max(budget.max_rules for budget in budgets)), rng, on_choice)
    groups: dict[tuple[int, bool], list[int]] = {}
    for n, most in budgets:
        groups.setdefault((n, most is not None), []).extend([] if most is None else [most])
    learnt: dict[Budget, LearntRules] = {}
    for (n, is_limited), limits in groups.items():
        one = (within if is_limited else plan).with_max_rules(n)
        search, best = _best_of_searches(data, one, draws, on_choice)
        if is_limited:
            learnt |= {Budget(n, most): rules for most, rules in search.within(best, limits).items()}
        else:
            learnt[Budget(n)] = search.with_fallbacks(best, plan.max_fallbacks)
    return [learnt[budget] for budget in budgets]


def _best_of_searches(data: Data, plan: Plan, draws: _Draws, on_choice: OnChoice) -> tuple[_Search, FoundRules]:
    """Return the best rules of searches with and without scorecards, refined, and the search that found them."""
    found = draws.choose(data, plan)
    search, plain = _Search(data, plan, on_choice), data.without_scorecards
    if plain is None:
        return search, search.refined(found)
    if plan.settings.limits.deadline.passed():
        return search, found
    compared, used = data.backend.n_records <= _MAX_COMPARED, data.uses_scorecards(found)
    if used and not compared:
        found = search.refined(found)
        if data.uses_scorecards(found):
            return search, found
    without = draws.choose(plain, plan, "without scorecards")
    sets = [found, without] if used and compared else [without]
    if compared and _uncovered_share(data, sets[0]) > _MANY_UNCOVERED:
        only = draws.choose(data.only_points(), plan, "points only")
        if data.uses_scorecards(only):  # otherwise it has no rules
            sets.append(only)
    divided = search.divided(found) if compared else None
    if divided is not None:
        sets.append(divided)
    best = max(sets, key=search.value_of) if len(sets) > 1 else sets[0]
    if best is not without:
        best = search.refined(best)
        if data.uses_scorecards(best):
            return search, best
    search = _Search(plain, plan, on_choice)
    return search, search.refined(without)


def _with_remark(on_choice: OnChoice, remark: str) -> OnChoice:
    """Return the listener of a further search; a remark follows the name of each pass."""
    return lambda stage, n_rules, covered: on_choice(f"{stage}, {remark}", n_rules, covered)


def _uncovered_share(data: Data, found: FoundRules) -> float:
    """Return the share of the records that no rule covers."""
    return 1.0 - float(data.backend.class_counts(found.covered).sum()) / (data.backend.n_records or 1)


class _Search:
    """A search for up to ``max_rules`` rules of a plan: what is done with the rules that it found."""

    def __init__(self, data: Data, plan: Plan, on_choice: OnChoice) -> None:
        self._data, self._plan = data, plan
        self._local_search = _make_local_search(data, plan, plan.settings.limits)
        self._value = _make_value(data, plan, self._local_search)
        self._improvement = _make_improvement(data, plan, self._local_search, on_choice)

    def refined(self, found: FoundRules) -> FoundRules:
        """Return the rules after exceptions and refits."""
        return self._improvement.refined(found) if self._plan.refine else found

    def divided(self, like: FoundRules) -> FoundRules | None:
        """Return the rules that divide all records by points; None if there are none."""
        cards = [] if self._data.scorecards is None else list(self._data.scorecards.levels)
        given = partial(given_rules, self._data.backend, self._local_search)
        divided = partitions(self._value, cards, like, given())
        return None if divided is None else self._improvement.apply(divided, self._plan.settings.limits.max_rules)

    def with_fallbacks(self, found: FoundRules, max_fallbacks: int) -> LearntRules:
        """Return rules with their fallback rules."""
        return LearntRules(found, _find_fallbacks(self._data, self._plan, found, max_fallbacks))

    def within(self, found: FoundRules, limits: Sequence[int]) -> dict[int, LearntRules]:
        """Return for each limit on statements the set of the highest value, of sets with fewer rules and fallbacks."""
        sizes = {most: range(max(most - 1 - _MAX_FALLBACKS_KEPT, 0), most) for most in limits}
        sets = self._improvement.reduced(found, {size for wanted in sizes.values() for size in wanted})
        within = {}
        for most, wanted in sizes.items():  # a set that only another limit needs is no option
            options = [one for n, one in sets.items() if n in wanted or n == len(found.steps) < most]
            options = options[-1:] if self._plan.settings.limits.deadline.passed() else options
            kept = [
                self.with_fallbacks(one, min(self._plan.max_fallbacks, most - 1 - len(one.steps))) for one in options
            ]
            within[most] = max(kept, key=lambda learnt: self.value_of(learnt.found, learnt.fallbacks))
        return within

    def value_of(self, found: FoundRules, fallbacks: Sequence[Fallback] | None = None) -> float:
        """Return the value of a rule set: gains of all statements, less prices of conditions, signs, uncovered records.

        Records are counted under the first rule that covers them, under a fallback rule (found anew unless given), or
        under the default label.
        """
        data, value = self._data, self._value
        backend = data.backend
        if fallbacks is None:
            fallbacks = _find_fallbacks(data, self._plan, found, self._plan.max_fallbacks)
        bodies = [step.body for step in found.learnt] + [fallback.body for fallback in fallbacks]
        covers = [rule.cover for rule in data.constraints.given] + [backend.cover(body) for body in bodies]
        left, total = backend.everything, -value.price(bodies)
        by_label = self._plan.settings.limits.by_label
        statements = [*[()] * found.n_given, *bodies, ()]
        for j, (cover, body) in enumerate(zip([*covers, backend.everything], statements, strict=True)):
            of_rule = cover if by_label and j < len(found.steps) else None
            total += value.gain(body, backend.intersection(cover, left), of_rule)
            left = backend.difference(left, cover)
        if data.scorecards is not None and any(data.of_scorecard(item) for body in bodies for item in body):
            total -= value.price_of_signs(sum(card.n_pairs for card in data.scorecards.levels))
        return total - _UNCOVERED_PRICE * _uncovered_share(data, found) * backend.n_records


class _Draws:
    """The bodies that are drawn for a search, once for all plans that differ only in what is chosen from them.

    Parameters
    ----------
    plan : the plan with the largest ``max_rules``
    rng : the random numbers; each search starts from the same state
    on_choice : called after each step
    """

    def __init__(self, plan: Plan, rng: np.random.Generator, on_choice: OnChoice) -> None:
        self._plan, self._rng, self._start, self._on_choice = plan, rng, copy.deepcopy(rng), on_choice
        self._traces: dict[str, tuple[LocalSearch, Trace]] = {}

    def choose(self, data: Data, plan: Plan, remark: str = "") -> FoundRules:
        """Return the rules of a plan, after splits, growth and merging; a remark names each search but the first."""
        on_choice = _with_remark(self._on_choice, remark) if remark else self._on_choice
        if remark not in self._traces:
            rng = copy.deepcopy(self._start) if remark else self._rng
            self._traces[remark] = _learn(data, self._plan, rng, on_choice)
        local_search, trace = self._traces[remark]
        chosen = choose_again(data.backend, local_search, trace, plan.settings, on_choice)
        improvement = _make_improvement(data, plan, local_search, on_choice)
        return improvement.apply(chosen, plan.settings.limits.max_rules)


def _learn(data: Data, plan: Plan, rng: np.random.Generator, on_choice: OnChoice) -> tuple[LocalSearch, Trace]:
    """Draw bodies, improve them and choose rules for the first time."""
    local_search = _make_local_search(data, plan, plan.settings.limits)
    sampler = _make_sampler(data, plan)
    return local_search, first_pass(data.backend, sampler, local_search, plan.settings, rng, on_choice)


def _make_improvement(data: Data, plan: Plan, local_search: LocalSearch, on_choice: OnChoice) -> Improvement:
    opposites = data.encoder.opposites if plan.split else None
    value = _make_value(data, plan, local_search)
    given = partial(given_rules, data.backend, local_search)
    return Improvement(data.backend, local_search, given, on_choice, opposites, data.encoder.wider_items, value)


def _make_local_search(data: Data, plan: Plan, limits: Limits) -> LocalSearch:
    prices = None if data.scorecards is None else data.scorecards.prices
    return LocalSearch(
        data.backend, data.encoder.columns, data.measures, limits, plan.min_evidence, data.constraints, prices
    )


def _make_value(data: Data, plan: Plan, local_search: LocalSearch) -> Value:
    return Value(data.backend, data.encoder, data.measures, local_search, data.levels, plan.reading_price)


def learn_as_in_paper(
    data: Data, plan: Plan, budgets: Sequence[Budget], rng: np.random.Generator, on_choice: OnChoice
) -> list[LearntRules]:
    """Learn rules by Algorithm 2 of the paper: drawn bodies are chosen without local search."""
    plans = [plan.with_max_rules(budget.max_rules) for budget in budgets]
    generators = [*(copy.deepcopy(rng) for _ in plans[1:]), rng]
    sampler, columns = _make_sampler(data, plan), data.encoder.columns
    sets = [
        search(data.backend, sampler, columns, one.settings, generator, on_choice, data.constraints)
        for one, generator in zip(plans, generators, strict=True)
    ]
    return [LearntRules(found, _find_fallbacks(data, plan, found, plan.max_fallbacks)) for found in sets]


def _make_sampler(data: Data, plan: Plan) -> RejectionSampler:
    """Return the sampler that draws bodies within the constraints."""
    odds = _odds(plan.length_odds, data.backend)
    if data.constraints.allow_all:
        return RejectionSampler(data.backend, plan.measure, odds)
    return ConstrainedSampler(data.backend, plan.measure, odds, data.constraints)


def _odds(length_odds: float | None, backend: Backend) -> float:
    """Return the odds that each item of a record enters a body: as given, or such that bodies have about two items."""
    if length_odds is not None:
        return length_odds
    if not backend.n_records:
        return 1.0
    total = backend.class_counts_of(Lists.of([(item,) for item in range(backend.n_items)])).sum()
    return min(1.0, _EXPECTED_ITEMS / max(float(total / backend.n_records), 1.0))


def _find_fallbacks(data: Data, plan: Plan, found: FoundRules, max_fallbacks: int) -> list[Fallback]:
    """Return fallback rules, made from learnt rules, for the records that neither learnt nor given rules cover."""
    bodies, limits = [step.body for step in found.learnt], plan.settings.limits
    columns = data.encoder.columns
    wider = {item: others for item, others in data.encoder.wider_items.items() if data.of_scorecard(item)}
    return find_fallbacks(
        data.backend, columns, data.measures, bodies, found.covered, limits, max_fallbacks, data.constraints, wider
    )


def own_recall(data: Data, found: FoundRules) -> NDArray[np.float64]:
    """Return the share of each class that rules of its own label cover."""
    backend, given = data.backend, [rule.cover for rule in data.constraints.given]
    covers = given + [backend.cover(step.body) for step in found.learnt]
    n_covered = np.zeros(backend.n_classes)
    for label in range(backend.n_classes):
        union = backend.nothing
        for step, cover in zip(found.steps, covers, strict=True):
            if step.label == label:
                union = backend.union(union, cover)
        n_covered[label] = backend.class_counts(union)[label]
    return n_covered / backend.class_totals
