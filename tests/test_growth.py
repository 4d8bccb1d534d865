"""Growth: at the end of the search, rules cover more of the records that no rule covers, where they are right."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import naive
from covers import flags_of
from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn import _improvement
from diverse_rule_sets.learn._constraints import Constraints, GivenRule
from diverse_rule_sets.learn._growth import grow
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._selection import GROWTH, ChosenRules
from diverse_rule_sets.learn._splitting import rebuilt
from internal import classifier

CUTS = (0.2, 0.35, 0.5, 0.65, 0.8)
N_COLUMNS, N_SETS = 3, 4


class Case:
    """A small random table of items, a few rules within the limits, and the same table for the oracle.

    Three columns have both sides of five cuts, four others one item each that has no wider one.
    """

    def __init__(self, seed, max_overlap, n=70, n_given=0, required=(), ban=False, rare=False):
        rng = np.random.default_rng(seed)
        X, sets = rng.random((n, N_COLUMNS)), rng.random((n, N_SETS)) < 0.6
        bounds = list(itertools.product(range(N_COLUMNS), CUTS))
        items = [side for j, cut in bounds for side in (X[:, j] <= cut, X[:, j] > cut)] + list(sets.T)
        self.columns = np.array(
            [j for j, _ in bounds for _ in range(2)] + [N_COLUMNS + k for k in range(N_SETS)], np.int64
        )
        self.n_items = len(items)
        self.limits = {"max_overlap": max_overlap}
        if isinstance(max_overlap, tuple):
            self.limits = dict(zip(("max_agreeing", "max_contradicting"), max_overlap, strict=True))
        n_classes = 3
        y = (X[:, 0] > 0.5).astype(int) + ((X[:, 1] > 0.5) & sets[:, 0])
        y = np.where(rng.random(n) < 0.15, rng.integers(0, n_classes, n), y)
        y[:n_classes] = np.arange(n_classes)
        self.rare = (n_classes,) if rare else ()
        if rare:
            y[-2:] = n_classes
            n_classes += 1
        self.weights = np.ones(n_classes) if seed % 2 else rng.uniform(0.5, 2.0, n_classes)
        self.y, self.records = y.tolist(), [frozenset(np.flatnonzero(row).tolist()) for row in np.array(items).T]
        self.backend = LocalBackend(bitset.pack(np.array(items)), y, n_classes)
        self.wider = {item: self._wider_of(item) for item in range(2 * len(bounds))}
        banned = rng.random((n_classes, self.n_items)) < 0.25 if ban else None
        given = [tuple(rng.choice(self.n_items, 2, replace=False).tolist()) for _ in range(n_given)]
        self.given = [naive.cover(body, self.records) for body in given]
        self.constraints = Constraints(
            tuple(GivenRule(int(rng.integers(n_classes)), self.backend.cover(body), 2) for body in given),
            self.columns,
            required,
            banned,
        )
        rare_flags = np.arange(n_classes) == n_classes - 1 if rare else None
        measures = Measures(self.backend.class_totals, self.weights, 2.0, 0.03, rare_flags)
        self.max_overlap = max_overlap
        if isinstance(max_overlap, tuple):
            given_labels = [rule.label for rule in self.constraints.given]

            def fits(labels, covers):
                rules = list(zip([*given_labels, *labels], covers, strict=True))
                return naive.within_overlap_by_label(rules, len(given_labels), *max_overlap)

            self.max_overlap = fits
        limits = Limits(20, **self.limits)
        self.search = LocalSearch(self.backend, self.columns, measures, limits, 0.0, self.constraints)
        self.rules = self._random_rules(rng)
        bodies = [body for body, _ in self.rules]
        empty = self.new_given().result(0.3, 1)
        phases = ["first pass"] * len(bodies)
        self.found = rebuilt(self.backend, self.search, bodies, phases, empty, self.new_given())
        assert [(step.body, step.label) for step in self.found.learnt] == self.rules

    def _wider_of(self, item):
        """Return the items of the same side of the same column that hold for more records, nearest first."""
        sides = [other for other in range(len(CUTS) * 2 * N_COLUMNS) if (other - item) % 2 == 0]
        own = naive.cover((item,), self.records)
        same = [other for other in sides if self.columns[other] == self.columns[item]]
        larger = [other for other in same if own < naive.cover((other,), self.records)]
        return tuple(sorted(larger, key=lambda other: len(naive.cover((other,), self.records))))

    def allowed(self, body, label):
        columns = {int(self.columns[item]) for item in body}
        banned = self.constraints.banned
        return set(self.constraints.required) <= columns and not (
            banned is not None and any(banned[label][item] for item in body)
        )

    def _random_rules(self, rng):
        """Return rules of two to four items within the limits, none of which covers all records."""
        rules, covers = [], list(self.given)
        for _ in range(150):
            body = {int(rng.integers(self.n_items)) for _ in range(int(rng.integers(2, 5)))}
            body |= {int(rng.choice(np.flatnonzero(self.columns == j))) for j in self.constraints.required}
            body = self.search.without_redundant_items(tuple(sorted(body)))
            cover = naive.cover(body, self.records)
            label = naive.likeliest(cover, self.y, self.weights.tolist(), 2.0)
            if callable(self.max_overlap):
                fits = self.max_overlap([*(one for _, one in rules), label], [*covers, cover])
            else:
                fits = naive.within_overlap([*covers, cover], len(self.given), self.max_overlap)
            if len(cover) >= 2 and label not in self.rare and fits and self.allowed(body, label):
                rules.append((body, label))
                covers.append(cover)
            if len(rules) == 4:
                break
        return rules

    def new_given(self):
        chosen = ChosenRules(self.backend)
        chosen.add_given(self.constraints.given, lambda counts, rule: 0.1)
        return chosen

    def grow(self, on_choice=lambda *_: None):
        return grow(self.backend, self.search, self.found, self.wider, on_choice, self.new_given())

    @property
    def oracle(self):
        """The arguments of the oracle after the rules."""
        table = self.given, self.records, self.y, self.columns.tolist()
        return *table, self.weights.tolist(), 2.0, self.wider, self.allowed, self.max_overlap, self.rare

    def covers(self, rules):
        return [*self.given, *(naive.cover(body, self.records) for body, _ in rules)]


KINDS = {
    "plain": {},
    "given rules": {"n_given": 2},
    "required column": {"required": (0,)},
    "banned items": {"ban": True},
    "rare class": {"rare": True},
    "all": {"n_given": 1, "required": (1,), "ban": True, "rare": True},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_overlap", [0.0, 0.01, 0.3, 1.0])
def test_growth_equals_the_oracle_and_keeps_all_limits(kind, max_overlap):
    n_grown = 0
    for seed in range(12):
        case = Case(seed, max_overlap, **KINDS[kind])
        found = case.grow()
        before, after = case.rules, [(step.body, step.label) for step in found.learnt]
        expected = naive.grow(before, *case.oracle)
        if max_overlap < 1 or after != before:  # without a limit, growth that lowers the objective is undone
            assert after == expected
        n_grown += after != before
        # What must hold, whatever the steps are.
        covers = case.covers(after)
        assert frozenset().union(*case.covers(before)) <= frozenset().union(*covers)
        assert set(np.flatnonzero(flags_of(case.backend, found.covered))) == frozenset().union(*covers)
        assert [label for _, label in after] == [label for _, label in before]
        for (old, _), (body, label) in zip(before, after, strict=True):
            assert len(body) <= len(old)
            assert case.search.n_conditions(body) <= case.search.n_conditions(old)
            assert case.allowed(body, label)
            assert naive.cover(old, case.records) <= naive.cover(body, case.records)
        assert naive.within_overlap(covers, len(case.given), max_overlap)
        assert [step.phase for step in found.steps] == ["given"] * len(case.given) + ["first pass"] * len(after)
        assert found.n_given == len(case.given)
        if max_overlap == 1:
            assert found.objective >= case.found.objective
    assert n_grown > 1


@pytest.mark.parametrize("kind", ["plain", "given rules", "all"])
@pytest.mark.parametrize("agree", [0.3, 1.0])
def test_growth_with_limits_by_label_equals_the_oracle(kind, agree):
    n_grown = n_agreeing = 0
    for seed in range(12):
        case = Case(seed, (agree, 0.05), **KINDS[kind])
        after = [(step.body, step.label) for step in case.grow().learnt]
        assert after == naive.grow(case.rules, *case.oracle)
        assert case.max_overlap([label for _, label in after], case.covers(after))
        n_grown += after != case.rules
        covers = [(label, naive.cover(body, case.records)) for body, label in after]
        n_agreeing += any(one[0] == other[0] and one[1] & other[1] for one, other in itertools.combinations(covers, 2))
    assert n_grown > 1
    assert n_agreeing > 0


@pytest.mark.parametrize("max_overlap", [0.0, 0.3])
def test_each_step_is_the_one_of_the_oracle(max_overlap):
    """The coverage after each step is reported."""
    n_steps = 0
    for seed in range(10):
        case, reported = Case(seed, max_overlap), []
        case.grow(lambda *event, reported=reported: reported.append(event))
        rules = case.rules
        for stage, n_rules, covered in reported:
            rules = naive.growth_step(rules, *case.oracle)
            assert (stage, n_rules) == (GROWTH, len(rules))
            assert set(np.flatnonzero(flags_of(case.backend, covered))) == frozenset().union(*case.covers(rules))
        assert naive.growth_step(rules, *case.oracle) is None
        n_steps += len(reported)
    assert n_steps > 10


def test_the_objective_is_that_of_the_rules_after_growth():
    for seed in range(6):
        case = Case(seed, 0.3)
        found = case.grow()
        totals, weights = case.backend.class_totals.tolist(), case.weights.tolist()
        expected = 0.3 * naive.dispersion(case.covers([(step.body, step.label) for step in found.steps]))
        for step in found.learnt:
            counts = [sum(case.y[i] == c for i in naive.cover(step.body, case.records)) for c in range(3)]
            assert step.class_counts.tolist() == counts
            n_conditions = case.search.n_conditions(step.body)
            quality, label = naive.refined_quality(counts, totals, weights, 2.0, 0.03, n_conditions)
            assert label == step.label
            expected += quality
        assert found.objective == pytest.approx(expected)


def test_without_a_limit_growth_that_lowers_the_objective_is_undone():
    """Two rules that grow over the same records become more alike; the distance between them counts more here."""
    undone = 0
    for seed in range(40):
        case = Case(seed, 1.0)
        case.found.lambda_ = 50.0
        case.found.objective += 49.7 * naive.dispersion(case.covers(case.rules))
        found = case.grow()
        grown = naive.grow(case.rules, *case.oracle)
        if grown != case.rules and found is case.found:
            undone += 1
            assert naive.dispersion(case.covers(grown)) < naive.dispersion(case.covers(case.rules))
    assert undone


def test_a_label_that_would_change_stops_growth():
    """With overlap, a rule that is right for the new records may reach records of another class, of other rules."""
    items = np.zeros((30, 3), bool)
    items[:4, 0] = True  # the rule: four records of class 1, and two further ones if it grows
    items[:30, 1] = True
    items[6:, 2] = True  # another rule has all records of class 0
    y = np.array([1] * 6 + [0] * 24)
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, 2)
    columns = np.array([0, 0, 1])
    banned = np.zeros((2, 3), bool)
    banned[0, 1] = True  # no rule of class 0 may have item 1
    constraints = Constraints((), columns, (), banned)
    measures = Measures(backend.class_totals, np.ones(2), 1.0, 0.0)
    search = LocalSearch(backend, columns, measures, Limits(5, max_overlap=0.9), 0.0, constraints)
    given = ChosenRules(backend)
    bodies = [(2,), (0,)]
    found = rebuilt(backend, search, bodies, ["first pass"] * 2, given.result(0.0, 1), given)
    after = grow(backend, search, found, {0: (1,)}, lambda *_: None, ChosenRules(backend))
    assert [(step.body, step.label) for step in after.steps] == [((2,), 0), ((0,), 1)]


def without_growth(patch):
    patch.setattr(_improvement, "grow", lambda backend, search, found, *_: found)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits])
@pytest.mark.parametrize("params", [{}, {"scorecards": None}, {"max_overlap": 0.3}, {"max_overlap": 1.0}])
def test_growth_in_a_fit(load, params, monkeypatch):
    """Coverage does not fall, rules and conditions do not become more, and labels stay, in every search of a fit."""
    X, y = load(return_X_y=True)
    searches = []

    def recorded(backend, local_search, found, *others):
        after = grow(backend, local_search, found, *others)
        searches.append((backend, local_search, found, after))
        return after

    monkeypatch.setattr(_improvement, "grow", recorded)
    clf = classifier(random_state=0, max_rules=12, **params).fit(X[:500], y[:500])
    assert len(clf.rule_set_) in {len(after.steps) for *_, after in searches}
    for backend, local_search, before, after in searches:
        assert [step.label for step in after.steps] == [step.label for step in before.steps]
        assert [step.phase for step in after.steps] == [step.phase for step in before.steps]
        for old, new in zip(before.steps, after.steps, strict=True):
            assert local_search.n_conditions(new.body) <= local_search.n_conditions(old.body)
            lost = backend.difference(backend.cover(old.body), backend.cover(new.body))
            assert not backend.class_counts(lost).any()
            assert (new.class_counts >= old.class_counts).all()
        assert not backend.class_counts(backend.difference(before.covered, after.covered)).any()
        if params.get("max_overlap") == 1:
            assert after.objective >= before.objective


def test_growth_covers_records_between_rules():
    """The cut that the search chose leaves a gap; the rule whose label the records in it have grows over it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(400), "b": rng.random(400)})
    y = np.where(X.a + 0.2 * X.b > 0.6, "yes", "no")
    params = {"random_state": 0, "scorecards": None, "max_rules": 4, "min_evidence": 1.0}
    grown = DiverseRuleSetClassifier(**params).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        without_growth(patch)
        before = DiverseRuleSetClassifier(**params).fit(X, y)
    n_before, n_after = (clf.rule_set_.covers(X).any(axis=1).sum() for clf in (before, grown))
    assert n_after > n_before


@pytest.mark.parametrize("max_overlap", [0, 0.01, 0.3])
def test_growth_keeps_the_constraints_of_a_fit(max_overlap):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    given = "IF mean radius > 19 THEN 0"
    monotone = {"worst area": {0: "increasing"}, "mean texture": {1: "decreasing"}}
    for scorecards in (None, "auto"):
        clf = DiverseRuleSetClassifier(
            max_overlap=max_overlap,
            given_rules=[given],
            required=["worst texture"],
            monotone=monotone,
            scorecards=scorecards,
            random_state=0,
        ).fit(X, y)
        rules = list(clf.rule_set_)
        assert str(rules[0]) == given
        assert len(rules) > 2
        for rule in [*rules[1:], *clf.rule_set_.fallbacks]:
            assert "worst texture" in {condition.column for condition in rule.conditions}
            for condition in rule.conditions:
                sides = {test[0] for test, _ in condition.comparisons}
                assert not (rule.label == 0 and condition.column == "worst area" and "<" in sides)
                assert not (rule.label == 1 and condition.column == "mean texture" and ">" in sides)
        covers = clf.rule_set_.covers(X)
        for j in range(1, len(rules)):
            assert (covers[:, j] & covers[:, :j].any(axis=1)).sum() <= max_overlap * covers[:, j].sum()
