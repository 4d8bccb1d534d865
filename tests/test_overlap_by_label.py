"""``max_overlap`` as a dict: limits of their own for rules of the same label and for rules of other labels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from conftest import make_mixed
from covers import cover_of, flags_of
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, metrics
from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.learn._covered import CoveredRecords, within_overlap
from diverse_rule_sets.learn._limits import READING_PRICE, Limits
from diverse_rule_sets.learn._local_search import LocalSearch
from diverse_rule_sets.learn._measures import Measures
from diverse_rule_sets.report import OverlapDisplay
from diverse_rule_sets.report._summary import summarise
from internal import classifier

DICTS = [
    {"agree": 0.3, "contradict": 0.01},
    {"agree": 1, "contradict": 0.0},
    {"agree": 0.0, "contradict": 0.4},
    {"agree": 0.6},
    {"contradict": 0.2},
]


def mixed_table(n=400, seed=0):
    import pandas as pd

    table, y = make_mixed(n, seed)
    return pd.DataFrame(table), y


def random_table(seed, n=300):
    """A table with several causes of each of three classes, so that rules of one label overlap."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.normal(size=n) for name in "abd"} | {"c": rng.choice(list("vwx"), n)})
    first = ((X.a > 0.3) & (X.b < 0.8)) | ((X.c == "v") & (X.d > 0))
    second = (X.a < -0.8) | ((X.b > 1) & (X.c == "w"))
    y = np.select([first, second], ["one", "two"], "three")
    return X, np.where(rng.random(n) < 0.05, rng.choice(["one", "two", "three"], n), y)


def rules_of(clf, X):
    """Return the label and the records of each rule."""
    return [(rule.label, frozenset(np.flatnonzero(rule.covers(X)).tolist())) for rule in clf.rule_set_]


def check(clf, X, missing):
    """The limits hold for all learnt rules, by counts of single rules."""
    agree, contradict = (clf.max_overlap.get(key, missing) for key in ("agree", "contradict"))
    assert naive.within_overlap_by_label(rules_of(clf, X), len(clf.given_rules or ()), agree, contradict)
    assert len({cover for _, cover in rules_of(clf, X)}) == len(clf.rule_set_)


@pytest.mark.parametrize("max_overlap", DICTS, ids=str)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"scorecards": None, "min_evidence": 0},
        {"min_evidence": 0, "max_rules": 9, "class_weight": None},
        {"scorecards": None, "min_evidence": 0, "split": False},
        {"min_evidence": 0, "given_rules": ["IF a > 0.5 THEN one", "IF c = 'w' AND d > 0.2 THEN two"]},
        {"min_evidence": 0, "required": ["a"], "monotone": {"b": {"one": "decreasing"}}},
    ],
    ids=lambda params: ",".join(params) or "defaults",
)
def test_no_limit_is_exceeded(max_overlap, params):
    for seed in range(3):
        X, y = random_table(seed)
        clf = classifier(random_state=seed, max_overlap=max_overlap, **params).fit(X, y)
        check(clf, X, 0.01)


@pytest.mark.parametrize("max_overlap", DICTS, ids=str)
@pytest.mark.parametrize("params", [{}, {"given_rules": ["IF a > 0.5 THEN one"]}, {"second_pass": False}], ids=str)
def test_no_limit_is_exceeded_in_the_search_of_the_paper(max_overlap, params):
    n_rules = 0
    for seed in range(3):
        X, y = random_table(seed)
        clf = DRSClassifier(random_state=seed, n_candidates=60, max_rules=12, max_overlap=max_overlap, **params)
        check(clf.fit(X, y), X, 1)
        n_rules += len(clf.rule_set_)
    assert n_rules > 6


def test_rules_use_the_freedom():
    """Somewhere rules agree beyond the limit on contradiction; otherwise the tests above would show nothing."""
    X, y = random_table(0, 1500)
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, max_overlap={"agree": 0.5}).fit(X, y)
    assert metrics.overlap_share(clf.rule_set_, X, kind="agree") > 0.05
    assert metrics.overlap_share(clf.rule_set_, X, kind="contradict") < 0.01
    clf = DRSClassifier(random_state=0, n_candidates=100, max_overlap={"contradict": 0}).fit(X, y)
    assert metrics.overlap_share(clf.rule_set_, X, kind="agree") > 0.01
    assert metrics.overlap(clf.rule_set_, X, kind="contradict") == 0


@pytest.mark.parametrize("make", [DiverseRuleSetClassifier, lambda **params: DRSClassifier(n_candidates=60, **params)])
def test_without_limits_a_dict_is_the_number_1(make):
    X, y = mixed_table()
    found = [
        make(random_state=0, max_rules=8, max_overlap=value).fit(X, y)
        for value in (1.0, {"agree": 1, "contradict": 1.0})
    ]
    assert found[0].rule_set_ == found[1].rule_set_
    assert found[0].history_ == found[1].history_


def test_a_missing_key_has_the_default_of_the_parameter():
    X, y = random_table(1)
    for make, missing in ((DiverseRuleSetClassifier, 0.01), (DRSClassifier, 1.0)):
        for key, other in (("agree", "contradict"), ("contradict", "agree")):
            short, full = (
                make(random_state=0, max_rules=8, max_overlap=value).fit(X, y).rule_set_
                for value in ({key: 0.3}, {key: 0.3, other: missing})
            )
            assert short == full


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(bitset, "_WORTH_A_THREAD", 1)
    X, y = mixed_table()
    found = [
        DiverseRuleSetClassifier(random_state=0, min_evidence=0, n_jobs=n, max_overlap={"agree": 0.5}).fit(X, y)
        for n in (1, 3)
    ]
    assert found[0].rule_set_ == found[1].rule_set_


def test_rules_that_agree_are_found_as_they_are():
    """Without agreement, the second cause of a class is found only in parts that the first one does not cover."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=8000) for name in "abdn"} | {"c": rng.choice(list("uvwx"), 8000)})
    y = np.where(((X.a > 0.4) & (X.b < 0.8)) | ((X.c == "v") & (X.d > 0)), "yes", "no")
    y = np.where(rng.random(8000) < 0.05, np.where(y == "yes", "no", "yes"), y)
    train, test = np.arange(8000) < 5000, np.arange(8000) >= 5000
    scores, columns, sizes = {}, {}, {}
    for name, value in {"apart": 0.01, "agree": {"agree": 1}}.items():
        clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, max_overlap=value).fit(X[train], y[train])
        scores[name], sizes[name] = clf.score(X[test], y[test]), metrics.size(clf.rule_set_)
        columns[name] = {frozenset(c.column for c in rule.conditions) for rule in clf.rule_set_ if rule.label == "yes"}
    assert columns["agree"] == {frozenset("ab"), frozenset("cd")}
    assert frozenset("cd") not in columns["apart"]
    assert scores["agree"] >= scores["apart"]
    assert sizes["agree"].conditions < sizes["apart"].conditions


def random_items(seed, n=150, n_items=12, n_classes=3):
    rng = np.random.default_rng(seed)
    items = rng.random((n, n_items)) < 0.5
    y = (items[:, 0] & items[:, 1]).astype(int) + (items[:, 2] & ~items[:, 3])
    y = np.where(rng.random(n) < 0.05, rng.integers(0, n_classes, n), y)
    y[:n_classes] = np.arange(n_classes)
    return items, y, LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, n_classes)


@settings(max_examples=60)
@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 11), min_size=1, max_size=3)), max_size=5),
    st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    st.sampled_from([0.0, 0.2, 0.6, 1.0]),
)
def test_allowed_overlap_equals_the_oracle(seed, rules, agree, contradict):
    items, _, backend = random_items(seed, n=60)
    limits = Limits(9, max_agreeing=agree, max_contradicting=contradict)
    sets = [(label, frozenset(np.flatnonzero(items[:, body].all(axis=1)).tolist())) for label, body in rules]
    covers = [backend.cover(tuple(sorted(set(body)))) for _, body in rules]
    labels = [label for label, _ in rules]
    for n_given in range(len(rules) + 1):
        before = CoveredRecords.nothing(backend)
        for label, cover in zip(labels[:n_given], covers, strict=False):
            before = before.with_rule(label, cover)
        expected = naive.within_overlap_by_label(sets, n_given, agree, contradict)
        assert within_overlap(limits, before, labels[n_given:], covers[n_given:]) == expected
        bodies = [tuple(pair) for pair in itertools.combinations(range(12), 2)]
        own = np.arange(len(bodies)) % 3
        records = [frozenset(np.flatnonzero(items[:, body].all(axis=1)).tolist()) for body in bodies]
        lists, sizes = Lists.of(bodies), np.array([len(some) for some in records])
        shared = backend.shared_counts(lists, [before.records])[:, 0]
        got = before.allow_bodies(limits, lists, sizes, shared, own)
        for label, cover, allowed in zip(own.tolist(), records, got.tolist(), strict=True):
            rest = [*sets[:n_given], (label, cover)]
            assert allowed == naive.within_overlap_by_label(rest, n_given, agree, contradict)


@pytest.mark.parametrize(
    ("agree", "contradict"), [(0.0, 0.3), (0.3, 0.3), (0.3, 0.0), (1.0, 0.3), (1.0, 0.0), (0.3, 1.0), (0.0, 1.0)]
)
@pytest.mark.parametrize("min_evidence", [0.0, 0.5])
def test_local_search_equals_the_oracle(agree, contradict, min_evidence):
    """A rule is scored by the records that no earlier rule of its label covers, and needs evidence on them."""
    n_found = n_agreeing = 0
    for seed in range(6):
        items, y, backend = random_items(seed)
        columns, totals = np.arange(12) // 2, np.bincount(y).tolist()
        weights = (y.size / (3 * np.bincount(y))).tolist()
        rng = np.random.default_rng(seed)
        earlier = {label: items[:, 11 - label] & (rng.random(y.size) < 0.3) for label in (0, 1)}
        limits = Limits(9, 3, 1.0, 4, 0.01, max_agreeing=agree, max_contradicting=contradict)
        measures = Measures(np.bincount(y), np.array(weights), smoothing=5.0, price=0.02)
        search = LocalSearch(backend, columns, measures, limits, min_evidence)
        covered = CoveredRecords.nothing(backend)
        for label, flags in earlier.items():
            covered = covered.with_rule(label, cover_of(backend, flags))
        search.set_covered(covered)
        records = [frozenset(np.flatnonzero(row).tolist()) for row in items]

        def score(body, y=y, columns=columns, records=records, earlier=earlier, weights=weights, totals=totals):
            inside = sorted(naive.cover(body, records)) if body else []
            length = len({int(columns[i]) for i in body})
            inner = [sum(y[i] == c for i in inside) for c in range(3)]
            _, label = naive.refined_quality(inner, totals, weights, 5.0, 0.02, length)
            same = {i for i in inside if label in earlier and earlier[label][i]}
            others = {i for i in inside if any(flags[i] for one, flags in earlier.items() if one != label)}
            new = [i for i in inside if i not in same]
            added = [sum(y[i] == c for i in new) for c in range(3)]
            quality, likeliest = naive.refined_quality(added, totals, weights, 5.0, 0.02, length)
            needed = 0.5 * min_evidence * (length * math.log(12) + 0.5 * 2 * math.log(y.size)) + READING_PRICE * y.size
            needed = needed if min_evidence else 0.0
            if (
                len(inside) < 4
                or length > 3
                or len(same) > agree * len(inside)
                or len(others) > contradict * len(inside)
                or inner[label] / totals[label] <= 0.01
                or likeliest != label
                or naive.evidence(added, totals, weights) < needed
            ):
                return None
            value = quality * (1 - len(others - same) / max(len(new), 1))
            return value if value > 0 else None

        starts = [(), (0,), (4, 7), (1, 2, 3)]
        expected = {naive.climb(start, range(12), score) for start in starts}
        expected = {(body, value) for body, value in expected if value is not None}
        found = search.improve(starts)
        assert {one.body for one in found} == {body for body, _ in expected}
        np.testing.assert_allclose(sorted({one.score for one in found}), sorted({value for _, value in expected}))
        n_found += len(found)
        for one in found:
            flags = flags_of(backend, backend.cover(one.body))
            n_agreeing += bool((flags & earlier[one.label]).any()) if one.label in earlier else 0
            assert one.class_counts.tolist() == np.bincount(y[flags], minlength=3).tolist()
    assert n_found >= 2
    assert n_agreeing > 0 or 0 in (agree, contradict)


def test_rules_are_judged_by_what_they_add():
    """A rule that is right only for records of an earlier rule of its label adds nothing that is right."""
    items = np.zeros((300, 2), bool)
    items[:100, 0] = True
    items[:120, 1] = True  # 20 more records, all of the other class
    y = np.where(items[:, 0], 0, 1)
    backend = LocalBackend(bitset.pack(np.ascontiguousarray(items.T)), y, 2)
    measures = Measures(np.bincount(y), np.ones(2), smoothing=1.0, price=0.0)
    search = LocalSearch(backend, np.arange(2), measures, Limits(5, max_contradicting=0.01), 1.0)
    assert {one.body for one in search.improve([(1,)])} <= {(1,), (0, 1), (0,)}
    assert search.improve([(1,)])
    search.set_covered(CoveredRecords.nothing(backend).with_rule(0, backend.cover((0,))))
    assert not search.improve([(1,)])
    assert search.adds_enough([(1,)], np.array([0]), np.array([[0, 20]])).tolist() == [False]
    assert search.adds_enough([(1,)], np.array([1]), np.array([[0, 20]])).tolist() == [True]


def test_facts_and_displays_tell_the_kinds_apart():
    X, y = random_table(2, 1500)
    clf = DiverseRuleSetClassifier(random_state=0, scorecards=None, max_overlap={"agree": 1, "contradict": 0.1})
    clf.fit(X, y)
    facts = summarise(clf, X, y).facts()
    assert facts["n_agree"] == metrics.overlap(clf.rule_set_, X, kind="agree") > 0
    assert facts["n_contradict"] == metrics.overlap(clf.rule_set_, X, kind="contradict") > 0
    kinds = facts["n_agree"], facts["n_contradict"]
    assert max(kinds) <= facts["n_overlap"] <= sum(kinds)
    display = OverlapDisplay.from_estimator(clf, X, y)
    _, agreeing, contradicting = display.ax_.images
    labels = [rule.label for rule in clf.rule_set_]
    for image, same in ((agreeing, True), (contradicting, False)):
        drawn = ~np.ma.getmaskarray(image.get_array())
        pairs = {(i, j) for i, j in itertools.product(range(len(labels)), repeat=2) if j < i and display.shared[i, j]}
        assert {*zip(*np.nonzero(drawn), strict=True)} == {p for p in pairs if (labels[p[0]] == labels[p[1]]) == same}
    title = " ".join(text.get_text() for text in display.figure_.findobj(lambda one: hasattr(one, "get_text")))
    assert f"two or more of one label {facts['n_agree']:,}; of different labels {facts['n_contradict']:,}" in title
