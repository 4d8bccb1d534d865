import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import naive
from covers import flags_of
from diverse_rule_sets import DiverseRuleSetClassifier, metrics
from diverse_rule_sets._bits import bitset
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn import _default_search as default_search
from diverse_rule_sets.learn import _splitting as splitting
from diverse_rule_sets.learn._default_search import Improvement
from diverse_rule_sets.learn._limits import Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.learn._selection import ChosenRules, SearchSettings
from diverse_rule_sets.learn.samplers import RejectionSampler
from internal import classifier


def data(seed, n=240):
    """Return thresholds of four columns, both sides of each, and classes that depend on three columns."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    y = (X[:, 0] > 0.5).astype(int) + ((X[:, 1] > 0.6) & (X[:, 2] < 0.7))
    y = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), y)
    items, columns = [], []
    for j, cut in itertools.product(range(4), (0.2, 0.4, 0.5, 0.6, 0.7)):
        items += [X[:, j] <= cut, X[:, j] > cut]
        columns += [j, j]
    backend = LocalBackend(bitset.pack(np.array(items)), y, 3)
    opposites = np.arange(len(items)) ^ 1
    return y, np.array(items).T, np.array(columns), opposites, backend


def wider_of(columns):
    """Return the wider items of those of :func:`data`: on the same side of the same column, nearest first."""
    wider = {}
    for item, column in enumerate(columns.tolist()):
        same = [other for other in np.flatnonzero(columns == column).tolist() if (other - item) % 2 == 0]
        wider[item] = tuple(o for o in same if o > item) if item % 2 == 0 else tuple(o for o in same[::-1] if o < item)
    return wider


def run(seed, split=True, growth=False, **changes):
    y, _, columns, opposites, backend = data(seed)
    limits = Limits(**({"max_rules": 8, "max_conditions": 3, "max_overlap": 1.0, "min_support": 3} | changes))
    measures = Measures(backend.class_totals, y.size / (3.0 * np.bincount(y)), 5.0, 0.02)
    local_search = LocalSearch(backend, columns, measures, limits, min_evidence=0.3)
    settings = SearchSettings(6, "strict", True, limits)
    rng = np.random.default_rng(seed)
    trace = default_search.first_pass(
        backend, RejectionSampler(backend, "pairs", 0.2), local_search, settings, rng, lambda *_: None
    )
    with pytest.MonkeyPatch.context() as patch:
        if not growth:
            patch.setattr(default_search, "grow", lambda backend, local_search, found, *_: found)
        found = default_search.finish(
            backend,
            local_search,
            trace,
            settings,
            Improvement(opposites if split else None, wider_of(columns)),
            lambda *_: None,
        )
    return trace, found, backend


def covers_of(bodies, backend):
    return [frozenset(np.flatnonzero(flags_of(backend, backend.cover(b)))) for b in bodies]


def value(found, backend, lambda_):
    return sum(step.quality for step in found.steps) + lambda_ * naive.dispersion(
        covers_of([step.body for step in found.steps], backend)
    )


def test_the_objective_is_at_least_half_of_the_optimum_over_all_candidates():
    for seed in range(6):
        trace, found, backend = run(seed, split=False, max_rules=3)
        assert run(seed, split=False, growth=True, max_rules=3)[1].objective >= found.objective
        pool = trace.pool.candidates[: trace.n_seen[-1]]
        covers = covers_of([candidate.body for candidate in pool], backend)
        distance = [[naive.jaccard_distance(a, b) for b in covers] for a in covers]
        qualities = [candidate.quality for candidate in pool]
        best = naive.best_value(qualities, distance, trace.lambda_, len(found.steps))
        np.testing.assert_allclose(found.objective, value(found, backend, trace.lambda_))
        assert found.objective >= best / 2
        assert found.objective <= best * (1 + 1e-9)


def split_some(seed, max_overlap):
    """Split a few short random rules; return the rules before and after, the splits considered, and the data."""
    y, items, columns, opposites, backend = data(seed)
    limits = Limits(max_rules=12, max_conditions=3, max_overlap=max_overlap, min_support=3)
    measures = Measures(backend.class_totals, y.size / (3.0 * np.bincount(y)), 5.0, 0.02)
    local_search = LocalSearch(backend, columns, measures, limits, min_evidence=0.3)
    rng = np.random.default_rng(seed)
    bodies, covers = [], []
    for body in [tuple(sorted(rng.choice(40, 2, replace=False).tolist())) for _ in range(40)]:
        body = local_search.without_redundant_items(body)
        (cover,) = covers_of([body], backend)
        if len(cover) > 20 and cover not in covers and naive.within_overlap([*covers, cover], 0, max_overlap):
            bodies, covers = [*bodies, body], [*covers, cover]
    nothing, given = ChosenRules(backend).result(0.4, 1), ChosenRules(backend)
    before = splitting.rebuilt(backend, local_search, bodies[:5], ["first pass"] * len(bodies[:5]), nothing, given)
    splits, best_split, calls = [], splitting._best_split, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "_best_split", lambda *args: splits.append(best_split(*args)) or splits[-1])
        after = splitting.split(
            backend, local_search, opposites, before, 12, lambda *call: calls.append(call), ChosenRules(backend)
        )
    assert [(stage, n) for stage, n, _ in calls] == [
        ("splitting", len(before.steps) + 1 + k) for k in range(len(calls))
    ]
    return before, after, [option for option in splits if option is not None], backend, y, items


@pytest.mark.parametrize("max_overlap", [0.0, 0.02, 1.0])
def test_splits_never_lower_the_objective_and_respect_the_limits(max_overlap):
    n_split = 0
    for seed in range(8):
        before, after, _, backend, *_ = split_some(seed, max_overlap)
        assert after.objective >= before.objective
        np.testing.assert_allclose(after.objective, value(after, backend, 0.4))
        assert len(after.steps) <= 12
        n_split += len(after.steps) - len(before.steps)
        earlier = frozenset()
        for cover in covers_of([step.body for step in after.steps], backend):
            assert len(cover & earlier) <= max_overlap * len(cover)
            assert len(cover) >= 3
            earlier |= cover
    assert n_split > 2


def test_the_search_splits_rules_and_this_never_lowers_the_objective():
    n_split = 0
    for seed in range(8):
        trace, before, _ = run(seed, split=False, max_rules=12)
        _, after, backend = run(seed, max_rules=12)
        assert after.objective >= before.objective
        np.testing.assert_allclose(after.objective, value(after, backend, trace.lambda_))
        n_split += len(after.steps) - len(before.steps)
    assert n_split > 0


@pytest.mark.parametrize("max_overlap", [0.0, 0.02, 1.0])
def test_the_parts_of_a_split_have_different_labels(max_overlap):
    """One more rule with the same label would change no prediction."""
    n_split = 0
    for seed in range(8):
        before, after, splits, _, y, items = split_some(seed, max_overlap)
        weights = (y.size / (3.0 * np.bincount(y))).tolist()
        records = [frozenset(np.flatnonzero(row).tolist()) for row in items]
        labels = {step.body: step.label for step in after.steps}
        for option in splits:
            covers = [naive.cover(part, records) for part in option.parts]
            assert not covers[0] & covers[1]
            first, second = (naive.likeliest(cover, y.tolist(), weights, 5.0) for cover in covers)
            assert first != second
            if set(option.parts) <= set(labels):
                assert [labels[part] for part in option.parts] == [first, second]
                n_split += 1
        kept = [step.body for step in after.steps if step.phase == "first pass"]
        assert set(kept) <= {step.body for step in before.steps}
    assert n_split > 2


def test_each_step_of_the_first_pass_is_the_greedy_choice():
    """No candidate in the pool at the time of the choice has a higher score within the limits."""
    trace, _, backend = run(1, max_overlap=0.05)
    y = data(1)[0]
    steps, pool = trace.chosen.steps, trace.pool.candidates
    covers = dict(zip((c.body for c in pool), covers_of([c.body for c in pool], backend), strict=True))
    for k, step in enumerate(steps):
        earlier = [covers[s.body] for s in steps[:k]]
        union = frozenset().union(*earlier)

        def score(candidate, earlier=earlier):
            distance = sum(naive.jaccard_distance(covers[candidate.body], cover) for cover in earlier)
            return candidate.quality / 2 + trace.lambda_ * distance

        allowed = [
            c
            for c in pool[: trace.n_seen[k]]
            if len(covers[c.body] & union) <= 0.05 * len(covers[c.body]) and c.body not in {s.body for s in steps[:k]}
        ]
        gains = [len([i for i in covers[c.body] - union if y[i] == c.label]) for c in allowed]
        best = max(score(c) for c, gain in zip(allowed, gains, strict=True) if gain)
        chosen = next(c for c in allowed if c.body == step.body)
        assert score(chosen) == pytest.approx(best)


@pytest.mark.parametrize(
    "params", [{}, {"paper_search": True, "n_candidates": 40}, {"max_overlap": 0.2, "split": False}]
)
def test_one_search_gives_the_rule_sets_of_several_fits(params):
    X, y = load_breast_cancer(return_X_y=True)
    clf = classifier(random_state=0, **params)
    several = clf._rule_sets(X, y, [1, 2, 4])
    for n, rule_set in zip([1, 2, 4], several, strict=True):
        alone = classifier(random_state=0, **params, max_rules=n).fit(X, y).rule_set_
        assert str(alone) == str(rule_set)
        assert alone == rule_set


def test_wide_tables_have_short_rules():
    """The class depends on two of 102 columns: the rules use these two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 102))
    y = ((X[:, 3] > 0) & (X[:, 70] > -0.3)).astype(int)
    clf = DiverseRuleSetClassifier(random_state=0).fit(X[:400], y[:400])
    assert clf.score(X[400:], y[400:]) > 0.95
    assert metrics.mean_conditions(clf.rule_set_) <= 3
    assert {"x3", "x70"} <= set(clf.rule_set_.columns)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_class_weights_change_labels_and_probabilities(load):
    X, y = load(return_X_y=True)
    rare = np.flatnonzero(y == 0)[10:]
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
    balanced = DiverseRuleSetClassifier(random_state=0).fit(X, y)
    plain = DiverseRuleSetClassifier(random_state=0, class_weight=None).fit(X, y)
    heavy = DiverseRuleSetClassifier(random_state=0, class_weight={0: 50.0}).fit(X, y)
    share = (y == 0).mean()
    assert plain.predict_proba(X)[:, 0].mean() == pytest.approx(share, abs=0.05)  # natural frequencies
    assert balanced.predict_proba(X)[:, 0].mean() > share
    assert (heavy.predict(X) == 0).sum() >= (plain.predict(X) == 0).sum()
    for clf in (balanced, plain, heavy):
        np.testing.assert_array_equal(clf.predict(X), clf.classes_[np.argmax(clf.predict_proba(X), axis=1)])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("even", "class_weight must be one of 'balanced', None, or a dict of labels, got 'even'"),
        ({7: 1.0}, "class_weight names the label 7, which y does not have"),
        ({0: -1.0}, r"class_weight\[0\] must be"),
        ({0: "much"}, r"class_weight\[0\] must be"),
    ],
)
def test_invalid_class_weights_raise_errors(weight, message):
    X, y = load_wine(return_X_y=True)
    with pytest.raises((ValueError, TypeError), match=message):
        DiverseRuleSetClassifier(class_weight=weight).fit(X, y)


@pytest.mark.parametrize("params", [{"max_overlap": 1.0}, {"max_overlap": 1.0, "diversity": "none"}, {}])
def test_no_two_rules_cover_the_same_records(params):
    for load in (load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        rule_set = classifier(random_state=0, **params).fit(X, y).rule_set_
        assert len(set(rule_set)) == len(rule_set)
        assert len({flags.tobytes() for flags in rule_set.covers(X).T}) == len(rule_set)


def test_the_label_is_the_likeliest_class_even_on_noise():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 2)).round(1), rng.integers(0, 4, 30)
        clf = DiverseRuleSetClassifier(random_state=0).fit(X, y)
        np.testing.assert_array_equal(clf.predict(X), clf.classes_[clf.predict_proba(X).argmax(axis=1)])


def test_local_search_starts_from_at_most_eight_items():
    """Drawn bodies may have more items, on wide tables most of all."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 150))
    starts = []
    improve = LocalSearch.improve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalSearch, "improve", lambda self, some: starts.extend(some) or improve(self, some))
        classifier(random_state=0, length_odds=1.0, max_rules=2).fit(X, X[:, 0] > 0.5)
    assert max(map(len, starts)) == 8
