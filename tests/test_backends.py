"""All backends against a boolean table, and the same rules from all of them."""

import inspect
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conftest import make_mixed
from covers import cover_of, flags_of
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from diverse_rule_sets._bits import bitset
from diverse_rule_sets._bits.bitset import Lists
from diverse_rule_sets.baselines import CBAClassifier, CN2Classifier, IDSClassifier
from diverse_rule_sets.data._backend import Backend, TooManyRecordsError
from diverse_rule_sets.data._local import LocalBackend
from diverse_rule_sets.data._remote import RemoteBackend
from diverse_rule_sets.data._sharded import ShardedBackend
from internal import classifier
from tests import naive
from tests.remote import remote_backend

# With more shards than records some shards are empty.
BACKENDS = {
    "local": LocalBackend,
    "one shard": partial(ShardedBackend.split, n_shards=1),
    "three shards": ShardedBackend.split,
    "many shards": partial(ShardedBackend.split, n_shards=40),
    "two remote shards": remote_backend,
    "remote shards that are lost": partial(remote_backend, n_shards=5, lost_every=3),
}
every_backend = pytest.mark.parametrize("make", BACKENDS.values(), ids=BACKENDS)


@st.composite
def tables(draw):
    """Records as boolean rows over items, classes, and flags of two covers and of two given conditions."""
    n, n_items = draw(st.integers(1, 90)), draw(st.integers(1, 6))
    items = draw(arrays(np.bool_, (n, n_items)))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 2)))
    one, other = (draw(arrays(np.bool_, n)) for _ in range(2))
    conditions = draw(arrays(np.bool_, (2, n)))
    bodies = draw(st.lists(st.lists(st.integers(0, n_items - 1), unique=True).map(sorted).map(tuple), max_size=5))
    return items, y, one, other, conditions, bodies


def backend_of(make, items, y, conditions=None):
    given_rows = None if conditions is None else bitset.pack(conditions)
    return make(bitset.pack(np.ascontiguousarray(items.T)), y, 3, 1, given_rows)


def holds(body, items):
    return items[:, list(body)].all(axis=1)


def by_class(flags, y):
    return np.bincount(y[flags], minlength=3).tolist()


@every_backend
@settings(max_examples=40)
@given(table=tables())
def test_counts(make, table):
    items, y, one, other, _, bodies = table
    backend = backend_of(make, items, y)
    a, b = cover_of(backend, one), cover_of(backend, other)
    lists = Lists.of(bodies)
    assert (backend.n_records, backend.n_items, backend.n_classes) == (*items.shape, 3)
    assert backend.class_totals.tolist() == by_class(y >= 0, y)
    assert backend.class_counts(a).tolist() == by_class(one, y)
    assert backend.class_counts_of(lists).tolist() == [by_class(holds(body, items), y) for body in bodies]
    assert backend.class_counts_of(lists, a).tolist() == [by_class(holds(body, items) & one, y) for body in bodies]
    ref = [[int((holds(body, items) & flags).sum()) for flags in (one, other)] for body in bodies]
    assert backend.shared_counts(lists, [a, b]).tolist() == ref
    assert backend.shared_counts(lists, [a, b]).shape == (len(bodies), 2)
    assert backend.sizes_within([a, b], a).tolist() == [int(one.sum()), int((one & other).sum())]
    assert backend.class_counts_within([a, b], b).tolist() == [by_class(one & other, y), by_class(other, y)]
    assert backend.class_counts_within([], b).shape == (0, backend.n_classes)
    counts = backend.extension_counts(bodies, a)
    within = backend.extension_counts_within(bodies, a)
    assert counts.shape == (4, len(bodies), items.shape[1] + 1)
    assert within.shape == (3, len(bodies), items.shape[1] + 1)
    for j, body in enumerate(bodies):
        for item in range(items.shape[1] + 1):
            flags = holds(body, items) & (items[:, item] if item < items.shape[1] else True)
            assert counts[:, j, item].tolist() == [*by_class(flags, y), int((flags & one).sum())]
            assert within[:, j, item].tolist() == by_class(flags & one, y)


@every_backend
@settings(max_examples=40)
@given(table=tables())
def test_covers(make, table):
    items, y, one, other, conditions, bodies = table
    backend = backend_of(make, items, y, conditions)
    a, b = cover_of(backend, one), cover_of(backend, other)
    expected = [
        (backend.everything, np.ones(y.size, bool)),
        (backend.nothing, np.zeros(y.size, bool)),
        (a, one),
        (backend.union(a, b), one | other),
        (backend.intersection(a, b), one & other),
        (backend.difference(a, b), one & ~other),
        (backend.of_class(1), y == 1),
        (backend.given_cover(0), conditions[0]),
        (backend.given_cover(1), conditions[1]),
        (backend.with_items([a]).given_cover(1), conditions[1]),
        *((backend.cover(body), holds(body, items)) for body in bodies),
    ]
    for cover, flags in expected:
        assert flags_of(backend, cover).tolist() == flags.tolist()
    prints = [backend.fingerprint(cover) for cover, _ in expected]
    same = [[p == q for q in prints] for p in prints]
    assert same == [[bool((f == g).all()) for _, g in expected] for _, f in expected]
    assert backend.fingerprints(Lists.of(bodies)).tolist() == prints[len(prints) - len(bodies) :]
    with pytest.raises(IndexError):
        backend.given_cover(2)


@every_backend
@settings(max_examples=40)
@given(table=tables(), points=st.lists(st.integers(-2, 5), min_size=2, max_size=2))
def test_levels_of_a_sum(make, table, points):
    items, y, one, other, _, _ = table
    backend = backend_of(make, items, y)
    sums = points[0] * one + points[1] * other
    levels = backend.levels([cover_of(backend, one), cover_of(backend, other)], points)
    assert list(levels) == sorted(set(sums.tolist()))
    for level, cover in levels.items():
        assert flags_of(backend, cover).tolist() == (sums == level).tolist()
    wanted = backend.levels([cover_of(backend, one)], [1], wanted=(0, 1))
    assert [flags_of(backend, wanted[k]).tolist() for k in (0, 1)] == [(~one).tolist(), one.tolist()]
    assert flags_of(backend, backend.levels([], [])[0]).all()


@every_backend
@settings(max_examples=40)
@given(table=tables(), points=arrays(np.int64, (2, 3), elements=st.integers(-2, 5)))
def test_leaders_of_several_sums(make, table, points):
    items, y, one, other, _, _ = table
    backend = backend_of(make, items, y)
    base = np.array([1, 0, 2])
    found = backend.leaders([cover_of(backend, one), cover_of(backend, other)], points, base)
    sums = [
        {k: int(base[k] + points[0, k] * a + points[1, k] * b) for k in range(3)}
        for a, b in zip(one, other, strict=True)
    ]
    leaders = [naive.leader(range(3), record) for record in sums]
    leads = [naive.lead(range(3), record) for record in sums]
    for k, cover in enumerate(found.leaders):
        assert flags_of(backend, cover).tolist() == [leader == k for leader in leaders]
    assert list(found.leads) == sorted(set(leads))
    for lead, cover in found.leads.items():
        assert flags_of(backend, cover).tolist() == [n == lead for n in leads]


@every_backend
@settings(max_examples=40)
@given(table=tables(), data=st.data())
def test_records_chosen_by_position(make, table, data):
    items, y, one, _, _, bodies = table
    backend = backend_of(make, items, y)
    cover, records = cover_of(backend, one), np.flatnonzero(one)
    ks = np.array(data.draw(st.lists(st.integers(0, records.size - 1), max_size=7)) if records.size else [], np.int64)
    drawn = records[ks]
    held = [tuple(np.flatnonzero(items[i]).tolist()) for i in drawn]
    assert list(backend.items_at(cover, ks).tuples()) == held
    every = backend.items_of([(cover, ks), (backend.everything, np.array([0])), (cover, ks[:0]), (cover, ks[:2])])
    assert list(every.tuples()) == [*held, tuple(np.flatnonzero(items[0]).tolist()), *held[:2]]
    assert backend.classes_at(cover, ks).tolist() == y[drawn].tolist()
    lists = Lists.of(bodies)
    inside = [[bool(items[i, list(body)].all()) for i in drawn] for body in bodies]
    assert backend.contain_all(lists, cover, ks).tolist() == inside
    n = min(len(bodies), ks.size)
    pairs = backend.contain(lists.take(np.arange(n)), cover, ks[:n])
    assert pairs.tolist() == [inside[j][j] for j in range(n)]
    assert np.flatnonzero(flags_of(backend, backend.pick(cover, ks))).tolist() == sorted(set(drawn.tolist()))
    distinct = backend.distinct(cover, most=y.size)
    rows = [tuple(row) for row in items[one].tolist()]
    ref = sorted(set(rows))
    assert [tuple(row) for row in distinct.items.tolist()] == ref
    assert distinct.counts.tolist() == [rows.count(row) for row in ref]
    if ref:
        with pytest.raises(TooManyRecordsError, match="distinct records, more than"):
            backend.distinct(cover, most=len(ref) - 1)


@every_backend
@settings(max_examples=40)
@given(table=tables())
def test_restrict_and_claims(make, table):
    items, y, one, _, _, bodies = table
    backend = backend_of(make, items, y)
    part = backend.restrict(cover_of(backend, one))
    assert part.class_totals.tolist() == by_class(one, y)
    assert part.class_counts_of(Lists.of(bodies)).tolist() == [by_class(holds(b, items) & one, y) for b in bodies]
    labels = np.arange(len(bodies)) % 3
    left, ref = np.ones(y.size, bool), []
    for body, label in zip(bodies, labels.tolist(), strict=True):
        own = holds(body, items) & left
        ref.append(bool((y[own] == label).any()))
        left &= ~own | (not ref[-1])
    assert backend.claims(Lists.of(bodies), labels).tolist() == ref


@pytest.mark.parametrize("kind", [LocalBackend, ShardedBackend, RemoteBackend])
def test_a_backend_has_the_methods_of_the_protocol_and_no_others(kind):
    """Callers have no access to the bits, nor to the classes of all records."""
    protocol = {name for name in vars(Backend) if not name.startswith("_")}
    public = {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
    make = {LocalBackend: "local", ShardedBackend: "three shards", RemoteBackend: "two remote shards"}[kind]
    backend = backend_of(BACKENDS[make], np.eye(4, dtype=bool), np.arange(4) % 3)
    public |= {name for name in vars(backend) if not name.startswith("_")}
    assert public - {"split"} == protocol


def test_no_shard_is_an_error():
    with pytest.raises(ValueError, match="shards must hold at least one backend"):
        ShardedBackend([])


def mixed_table(seed):
    import pandas as pd

    table, y = make_mixed(seed=seed)
    return pd.DataFrame(table), y


ESTIMATORS = {
    "default": lambda: classifier(random_state=0),
    "scorecards": lambda: classifier(random_state=0, scorecards="auto", min_evidence=0),
    "statements": lambda: classifier(random_state=0, max_statements=6, min_evidence=0),
    "statements, plain": lambda: classifier(random_state=0, max_statements=4, scorecards=None),
    "overlapping": lambda: classifier(random_state=1, max_overlap=0.5, class_weight=None, max_rules=6),
    "agreeing": lambda: classifier(
        random_state=1,
        max_overlap={"agree": 0.5, "contradict": 0.05},
        min_evidence=0,
        given_rules=["IF age > 61.7 AND smoker = True THEN good"],
    ),
    "agreeing, scorecards": lambda: classifier(random_state=0, max_overlap={"agree": 1}, min_evidence=0),
    "agreeing, paper": lambda: DRSClassifier(
        random_state=0, n_candidates=60, max_rules=12, max_overlap={"agree": 0.6, "contradict": 0.2}
    ),
    "paper": lambda: DRSClassifier(random_state=0, n_candidates=60, max_rules=12),
    "triples": lambda: DRSClassifier(random_state=2, n_candidates=30, max_rules=6, measure="triples"),
    "constraints": lambda: classifier(
        random_state=0,
        given_rules=["IF age > 61.7 AND smoker = True THEN good"],
        required=["sex"],
        forbidden=["size"],
        monotone={"age": {"good": "increasing"}},
    ),
    "constraints, paper": lambda: DRSClassifier(
        random_state=0,
        n_candidates=40,
        given_rules=["IF age > 61.7 THEN good"],
        monotone={"age": {"good": "increasing"}},
        max_rules=6,
    ),
    "given scorecards": lambda: classifier(
        random_state=0,
        scorecards=[
            'points (for good): 3 if age > 61.7, -2 if smoker = True, 2 if sex = "F"',
            'risk (for bad, good): 2 for bad, -1 for good if age <= 50.3, 3 for good if sex = "F", 1 for bad always',
        ],
        given_rules=["IF points >= 5 AND age > 30 THEN good", "IF most risk for bad AND lead of risk >= 3 THEN bad"],
        monotone={"age": {"good": "increasing"}},
    ),
    "CBA": lambda: CBAClassifier(),
    "CN2": lambda: CN2Classifier(),
    "IDS": lambda: IDSClassifier(random_state=0),
    "IDS, tuned": lambda: IDSClassifier(weights="tuned", random_state=0, max_candidates=300),
}


# One question at a time; with shards that are lost again and again this would take minutes.
MANY_QUESTIONS = {"CBA", "CN2", "IDS", "IDS, tuned", "triples", "agreeing, paper"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_backends_give_the_same_rules(name, monkeypatch):
    """Rules, fallback rules, counts, default label and fitted attributes; all column types, with missing values."""
    X, y = mixed_table(3)
    found = {}
    for kind, make in BACKENDS.items():
        if name in MANY_QUESTIONS and "lost" in kind:
            continue
        clf = ESTIMATORS[name]()
        monkeypatch.setattr(type(clf), "_make_backend", staticmethod(make))
        clf.fit(X, y)
        found[kind] = (
            clf.rule_set_,
            [rule.class_counts for rule in clf.rule_set_.all_rules],
            getattr(clf, "objective_", None),
            getattr(clf, "history_", None),
            clf.predict_proba(X).tolist(),
        )
    assert len(found["local"][0]) > 1
    assert all(one == found["local"] for one in found.values())


def test_the_learner_is_given_its_backend():
    """No module below the estimators makes a backend, except the function with arrays as arguments."""
    from pathlib import Path

    import diverse_rule_sets

    source = Path(diverse_rule_sets.__file__).parent
    makers = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "LocalBackend" in path.read_text("utf8") and path.parent.name != "data"
    }
    assert makers == {"estimators/_base.py", "learn/samplers/_sample_rules.py"}
    assert DiverseRuleSetClassifier._make_backend is LocalBackend


def test_equal_bits_in_different_shards_of_some_records_are_different_covers():
    items = np.tile(np.array([[True], [False]]), (200, 1))
    backend = backend_of(partial(ShardedBackend.split, n_shards=2), items, np.zeros(400, np.int64))
    some = backend.restrict(backend.cover((0,)))
    whole = LocalBackend(bitset.pack(np.ones((1, 200), np.bool_)), np.zeros(200, np.int64), 3)
    covers = [some.pick(some.everything, np.array([k])) for k in (0, 100)]
    assert some.fingerprint(covers[0]) != some.fingerprint(covers[1])
    assert some.class_counts(some.everything).sum() == whole.class_counts(whole.everything).sum() == 200
