"""Random records and random rules within limits, for tests of steps that change a rule set as a whole."""

import itertools

import numpy as np
import pandas as pd

import naive
from covers import cover_of, flags_of
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._encoder import Encoder
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._possible_conditions import CutOptions
from diverse_rule_sets.learn._constraints import Constraints, GivenRule
from diverse_rule_sets.learn._default_search import given_rules
from diverse_rule_sets.learn._improvement import Improvement
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._selection import ChosenRules
from diverse_rule_sets.learn._set_search import RuleSetSearch
from diverse_rule_sets.learn._splitting import rebuilt
from diverse_rule_sets.learn._value import Value

EVIDENCE, SMOOTHING, PRICE, N, N_CLASSES = 0.4, 5.0, 0.03, 150, 3


class Setting:
    """Random records with items at three cut points of three columns, and random rules within limits.

    Parameters
    ----------
    seed : seed of records and rules
    n_rules : number of random rules
    columns : names of the columns; the first two decide most labels
    missing : share of missing values
    n_given : number of random given rules, which may overlap in any way
    required : columns that every rule has
    banned : array (n_classes, n_items) or None
    limits : other limits than those below
    """

    def __init__(
        self, seed, n_rules=6, columns="abc", missing=0.0, n_given=0, required=(), banned=None, cuts=3, **limits
    ):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.random((N, len(columns))).round(2), columns=list(columns))
        y = (X.a > 0.5).astype(int) + (X.b > 0.6)
        y = np.where(rng.random(N) < 0.2, rng.integers(0, N_CLASSES, N), y)
        self.X, self.y = X.mask(rng.random(X.shape) < missing), y.tolist()
        self.weights = (N / (N_CLASSES * np.bincount(y, minlength=N_CLASSES))).tolist()
        edges = [0.25, 0.5, 0.75] if cuts == 3 else [0.5]
        self.encoder = Encoder(CutOptions(dict.fromkeys(columns, edges), cuts + 1, thresholds=True))
        rows = self.encoder.fit_transform(as_table(self.X), Target(y, np.array(self.weights))).rows
        self.backend = LocalBackend(rows, y, N_CLASSES)
        self.columns = self.encoder.columns.tolist()
        flags = np.array([flags_of(self.backend, self.backend.cover((j,))) for j in range(self.backend.n_items)])
        self.records = [frozenset(np.flatnonzero(row).tolist()) for row in flags.T]
        self.wider = self.encoder.wider_items
        self.opposites = {j: k for j, k in enumerate(self.encoder.opposites.tolist()) if k >= 0}
        settings = {"max_rules": 10, "max_conditions": 3, "max_overlap": 0.1, "min_support": 3} | limits
        self.limits = Limits(**settings)
        self.required, self.banned, self._covers, self._labels = required, banned, {}, {}
        self.given_bodies = [self._body(rng) for _ in range(n_given)]
        given = tuple(
            GivenRule(k % N_CLASSES, cover_of(self.backend, self.flags(body)), len(body))
            for k, body in enumerate(self.given_bodies)
        )
        constraints = Constraints(given, self.encoder.columns, required, banned)
        measures = Measures(self.backend.class_totals, np.array(self.weights), SMOOTHING, PRICE)
        self.search = LocalSearch(self.backend, self.encoder.columns, measures, self.limits, EVIDENCE, constraints)
        self.value = Value(self.backend, self.encoder, measures, self.search, lambda card: None)
        self.bodies = self._rules(rng, n_rules)
        phases = ["first pass"] * len(self.bodies)
        empty = ChosenRules(self.backend).result(0.5, 1)
        self.found = rebuilt(self.backend, self.search, self.bodies, phases, empty, self.given)

    @property
    def given(self):
        """The given rules alone."""
        return given_rules(self.backend, self.search)

    def rules(self):
        """Return the rules as a search that changes them."""
        return RuleSetSearch(self.value, self.found, self.given)

    def improvement(self, on_choice=lambda *_: None):
        return Improvement(
            self.backend,
            self.search,
            lambda: self.given,
            on_choice,
            self.encoder.opposites,
            self.wider,
            self.value,
        )

    def _body(self, rng):
        size = rng.integers(1, 4)
        return tuple(sorted(rng.choice(self.backend.n_items, size, replace=False).tolist()))

    def _rules(self, rng, n_rules):
        bodies = []
        for _ in range(2000):
            if len(bodies) == n_rules:
                break
            after = [*bodies, self._body(rng)]
            bodies = after if self.allowed(after) else bodies
        return bodies

    def flags(self, body):
        return np.array([set(body) <= record for record in self.records])

    def cover(self, body):
        if body not in self._covers:
            self._covers[body] = naive.cover(body, self.records)
        return self._covers[body]

    def length(self, body):
        return len({self.columns[item] for item in body})

    def label(self, body):
        if body not in self._labels:
            self._labels[body] = naive.likeliest(self.cover(body), self.y, self.weights, SMOOTHING)
        return self._labels[body]

    def price(self, n_conditions):
        return naive.rule_price(n_conditions, len(self.columns), N_CLASSES, N, EVIDENCE)

    def naive_value(self, bodies):
        """Return the value of rules with these bodies, in this order."""
        rules = [(self.cover(body), self.length(body)) for body in bodies]
        given, by_label = [self.cover(body) for body in self.given_bodies], self.limits.by_label
        return naive.set_value(rules, self.y, self.weights, SMOOTHING, self.price, 1.0, given, by_label)

    def allowed(self, bodies):
        """Return whether rules with these bodies, in this order, are within all limits and constraints."""
        limits, given = self.limits, [(k % N_CLASSES, self.cover(body)) for k, body in enumerate(self.given_bodies)]
        covers, labels = [self.cover(body) for body in bodies], [self.label(body) for body in bodies]
        rules = given + list(zip(labels, covers, strict=True))
        return (
            len(rules) <= limits.max_rules
            and len(set(covers)) == len(covers)
            and all(len(cover) >= limits.min_support for cover in covers)
            and all(self.length(body) <= limits.max_conditions for body in bodies)
            and all({*self.required} <= {self.columns[item] for item in body} for body in bodies)
            and not any(
                self.banned is not None and self.banned[label, list(body)].any()
                for label, body in zip(labels, bodies, strict=True)
            )
            and naive.within_overlap([cover for _, cover in rules], len(given), limits.max_overlap)
            and naive.within_overlap_by_label(rules, len(given), limits.max_agreeing, limits.max_contradicting)
        )

    def hull(self, one, other):
        """Return the conditions on columns that both bodies bound on one side, with the wider bound of the two."""
        items = set()
        for a, b in itertools.product(one, other):
            first, second = self.encoder.conditions[a], self.encoder.conditions[b]
            if not first.comparisons or not second.comparisons:  # is missing
                items |= {a} & {b}
                continue
            (test, bound), (other_test, other_bound) = first.comparisons[0], second.comparisons[0]
            if first.column == second.column and test == other_test:
                wider = max if test.startswith("<") else min
                items.add(a if wider(bound, other_bound) == bound else b)
        return tuple(sorted(items))

    def fewer(self, bodies):
        """Return all sets with one rule less that dropping or merging gives, as (removed, new bodies, whole set)."""
        ways = [((j,), (), bodies[:j] + bodies[j + 1 :]) for j in range(len(bodies))]
        for i, j in itertools.combinations(range(len(bodies)), 2):
            hull = self.hull(bodies[i], bodies[j])
            if hull and self.label(bodies[i]) == self.label(bodies[j]) == self.label(hull):
                after = [hull if k == i else body for k, body in enumerate(bodies) if k != j]
                ways.append(((i, j), (hull,), after))
        return ways

    def estimate(self, bodies, removed, new):
        """Return the gain of a change if the rules that stay are counted first."""
        stay = [body for j, body in enumerate(bodies) if j not in removed]
        before = self.naive_value(stay + [bodies[j] for j in removed])
        return self.naive_value(stay + list(new)) - before
