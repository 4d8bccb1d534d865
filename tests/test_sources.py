"""Tables that are read in batches: the same rules and answers as tables in memory, from every kind of source."""

import gzip
import itertools
import os
import warnings
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, baselines
from diverse_rule_sets._input.tables import as_table
from diverse_rule_sets.data import _category_counts, _value_counts
from diverse_rule_sets.data._cut_points import Target
from diverse_rule_sets.data._possible_conditions import CutOptions, possible_conditions
from diverse_rule_sets.data._summaries import summarised
from diverse_rule_sets.sources import _source
from diverse_rule_sets.sources._as_source import as_source

N = 1003


def make_frame(n=N, seed=0):
    """Return a table with columns of all types, missing values, and the target y."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.normal(size=n).round(3),
            "kids": rng.integers(0, 9, n),
            "job": rng.choice(["cook", "clerk", "smith", "nurse", "ü"], n),
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "paid": rng.random(n) < 0.4,
            "late": [None] * (n - 5) + ["x"] * 5,  # a category that appears late
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.1, "job"] = None
    likely = (frame.income.fillna(0) > 0.4) & frame.job.isin(["cook", "nurse"]) | (frame.kids > 6)
    frame["y"] = np.where(likely ^ (rng.random(n) < 0.05), "yes", "no")
    return frame


FRAME = make_frame()


def fitted(X=None, y=None, **parameters):
    X, y = (FRAME.drop(columns="y"), FRAME.y) if X is None else (X, y or "y")
    return DiverseRuleSetClassifier(random_state=0, **parameters).fit(X, y)


@pytest.fixture(scope="module")
def reference():
    return fitted()


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


def write_parquet(frame, path):
    pq.write_table(arrow(frame), path, row_group_size=100)
    return str(path)


def folder(tmp_path, cuts=(0, 7, 7, 500, 501, N)):
    """Write the table as files of different sizes, one of them without records."""
    place = tmp_path / "parts"
    place.mkdir()
    for k, (begin, end) in enumerate(itertools.pairwise(cuts)):
        write_parquet(FRAME[begin:end], place / f"{k:02}.parquet")
    (place / "_SUCCESS").write_text("")
    (place / ".hidden.csv").write_text("")
    return place


class Again:
    """An iterable of frames that can be read several times."""

    def __init__(self, frames):
        self.frames = frames

    def __iter__(self):
        return iter(self.frames)


def stream(path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, arrow(FRAME).schema) as writer:
        writer.write_table(arrow(FRAME), max_chunksize=90)
    return path


def compress(path):
    Path(f"{path}.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    return f"{path}.gz"


def csv(path, part=FRAME, **options):
    part.to_csv(path, index=False, **options)
    return str(path)


SOURCES = {
    "frame": lambda tmp: FRAME,
    "polars": lambda tmp: pl.from_pandas(FRAME),
    "parquet": lambda tmp: write_parquet(FRAME, tmp / "t.parquet"),
    "path": lambda tmp: tmp / os.path.basename(write_parquet(FRAME, tmp / "t.pq")),
    "parquet.gz": lambda tmp: compress(write_parquet(FRAME, tmp / "t.parquet")),
    "folder": folder,
    "paths": lambda tmp: sorted(map(str, folder(tmp).glob("*.parquet"))),
    "feather": lambda tmp: (pyarrow.feather.write_feather(arrow(FRAME), str(tmp / "t.feather")), tmp / "t.feather")[1],
    "stream": lambda tmp: stream(tmp / "t.arrows"),
    "csv": lambda tmp: csv(tmp / "t.csv"),
    "csv.gz": lambda tmp: csv(tmp / "t.csv.gz"),
    "tsv": lambda tmp: csv(tmp / "t.tsv", sep="\t"),
    "csv and parquet": lambda tmp: [csv(tmp / "a.csv", FRAME[:400]), write_parquet(FRAME[400:], tmp / "b.parquet")],
    "dataset": lambda tmp: pyarrow.dataset.dataset(folder(tmp), format="parquet"),
    "lazy": lambda tmp: pl.scan_parquet(write_parquet(FRAME, tmp / "t.parquet")),
    "relation": lambda tmp: duckdb.sql(f"SELECT * FROM '{write_parquet(FRAME, tmp / 't.parquet')}'"),
    "frames": lambda tmp: [FRAME[:400], FRAME[400:400], FRAME[400:]],
    "polars frames": lambda tmp: Again([pl.from_pandas(FRAME[:90]), pl.from_pandas(FRAME[90:])]),
    "arrow batches": lambda tmp: arrow(FRAME).to_batches(max_chunksize=77),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_rules_and_answers_of_the_table_in_memory(kind, tmp_path, reference):
    X = SOURCES[kind](tmp_path)
    clf = fitted(X)
    assert clf.rule_set_.to_json() == reference.rule_set_.to_json()
    assert clf.history_ == reference.history_
    assert list(clf.feature_names_in_) == list(reference.feature_names_in_)
    np.testing.assert_array_equal(clf.predict(X), reference.predict(FRAME))
    np.testing.assert_array_equal(clf.predict_proba(X), reference.predict_proba(FRAME))
    np.testing.assert_array_equal(clf.rule_set_.predict(X), reference.predict(FRAME))
    assert clf.score(X, "y") == reference.score(FRAME.drop(columns="y"), FRAME.y)
    explained, expected = clf.explain(X), reference.explain(FRAME)
    assert list(map(str, explained["reason"])) == list(expected["reason"])


@pytest.mark.parametrize("size", [1, 7, 1000, N])
def test_the_size_of_batches_does_not_matter(size, reference):
    clf = fitted(Again([FRAME[begin : begin + size] for begin in range(0, N, size)]))
    assert clf.rule_set_.to_json() == reference.rule_set_.to_json()


@pytest.mark.parametrize("size", [64, 65])
def test_the_size_of_batches_of_files_does_not_matter(size, tmp_path, reference, monkeypatch):
    monkeypatch.setattr("diverse_rule_sets.sources._arrow_files.batch_size", lambda n: size)
    assert fitted(folder(tmp_path)).rule_set_.to_json() == reference.rule_set_.to_json()


@pytest.mark.parametrize(
    "make",
    [
        lambda **how: DRSClassifier(random_state=0, **how),
        lambda **how: baselines.CBAClassifier(**how),
        lambda **how: baselines.CN2Classifier(max_rules=3, **how),
        lambda **how: baselines.IDSClassifier(random_state=0, max_candidates=200, **how),
    ],
)
def test_every_classifier_reads_files(make, tmp_path):
    columns = ["income", "job", "y"]
    X = write_parquet(FRAME[columns][:300], tmp_path / "t.parquet")
    assert (
        make().fit(X, "y").rule_set_.to_json()
        == make().fit(FRAME[columns[:2]][:300], FRAME.y[:300]).rule_set_.to_json()
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"binning": "uniform"},
        {"binning": "quantile"},
        {"binning": {"income": [0.5, 0.0], "kids": "uniform"}},
        {"given_rules": ['IF kids > 6 AND job = "cook" THEN yes'], "forbidden": ["day"]},
        {"scorecards": None},
        {"missing_values": {"kids": [0], "job": ["clerk"]}},
        {"missing_values": ["clerk", 3]},
        {"monotone": {"kids": {"yes": "increasing"}}},
        {"class_weight": None, "negation": False, "n_jobs": 2},
    ],
)
def test_parameters_mean_the_same_for_files(parameters, tmp_path):
    clf = fitted(folder(tmp_path), **parameters)
    expected = fitted(**parameters)
    assert clf.rule_set_.to_json() == expected.rule_set_.to_json()
    np.testing.assert_array_equal(clf.predict(tmp_path / "parts"), expected.predict(FRAME))


@pytest.mark.parametrize("cut", [1, 500, N - 1])
def test_types_are_settled_over_all_batches(cut):
    """A batch may hold no values, or only whole numbers; categories of a batch need not be those of another."""
    frame = FRAME.assign(
        half=[None] * cut + [0.5] * (N - cut), whole=np.r_[np.zeros(cut), np.full(N - cut, 0.25)], flag=None
    )
    parts = [frame[:cut].assign(whole=0), frame[cut:]]
    clf, expected = fitted(parts), fitted(frame.drop(columns="y"), list(frame.y))
    assert clf.rule_set_.rules == expected.rule_set_.rules


def test_numeric_and_boolean_labels_are_those_of_the_whole_table():
    for labels in (FRAME.y == "yes", (FRAME.y == "yes").astype(int), (FRAME.y == "yes").astype(float)):
        frame = FRAME.assign(y=labels)
        clf = fitted([frame[:100], frame[100:]])
        expected = DiverseRuleSetClassifier(random_state=0).fit(frame.drop(columns="y"), labels)
        assert clf.classes_.dtype == expected.classes_.dtype
        assert clf.rule_set_.to_json() == expected.rule_set_.to_json()
        assert clf.score([frame[:100], frame[100:]], "y") == expected.score(frame.drop(columns="y"), labels)


# Summaries


def counted(keys, classes, max_pairs, cuts):
    counts = _value_counts.ValueCounts(max_pairs)
    passes = 0
    target = counts
    while target is not None and passes < 20:
        for begin, end in itertools.pairwise([0, *cuts, keys.size]):
            target.add(keys[begin:end], classes[begin:end])
        target = counts.finer()
        passes += 1
    return counts.rows(), passes


COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, np.exp(rng.normal(size=n))),
    "clusters": lambda rng, n: np.where(
        rng.random(n) < 0.5, 1 + 1e-12 * rng.random(n), 10.0 ** rng.uniform(-300, 300, n)
    ),
    "negative": lambda rng, n: -np.exp(rng.normal(size=n) * 5),
    "whole": lambda rng, n: rng.integers(0, 50, n).astype(float),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_counts_of_values_are_exact_between_groups_and_groups_are_small(name):
    rng = np.random.default_rng(0)
    n, max_pairs = 60_000, 8_192  # at least 2,048 for each class
    values = COLUMNS[name](rng, n)
    classes = rng.integers(0, 3, n)
    keys = _value_counts.as_keys(values)
    np.testing.assert_array_equal(_value_counts.from_keys(keys, values.dtype), values)
    rows, n_passes = counted(keys, classes, max_pairs, [1, 700, 20_000])
    low, high = (_value_counts.from_keys(part, values.dtype) for part in (rows.low, rows.high))
    groups = sorted(set(zip(low.tolist(), high.tolist(), strict=True)))
    assert all(before[1] < after[0] for before, after in itertools.pairwise(groups))
    for a, b in groups[:: max(1, len(groups) // 200)]:
        inside = (values >= a) & (values <= b)
        assert {values[inside].min(), values[inside].max()} == {a, b}
        found = dict(zip(rows.classes[low == a].tolist(), rows.counts[low == a].tolist(), strict=True))
        assert found == {k: int((classes[inside] == k).sum()) for k in found}
        assert sum(found.values()) == inside.sum()
    assert name == "whole" or any(a < b for a, b in groups)
    sizes = [np.count_nonzero((values >= a) & (values <= b)) for a, b in groups if a < b]
    assert max(sizes, default=0) <= _value_counts.MAX_GROUP_SHARE * n
    assert n_passes > 1 or name != "clusters"  # a further pass divides the cluster


@pytest.mark.parametrize("name", COLUMNS)
def test_counts_of_values_do_not_depend_on_batches_or_on_the_order_of_records(name):
    rng = np.random.default_rng(1)
    values, classes = COLUMNS[name](rng, 20_000), rng.integers(0, 2, 20_000)
    keys = _value_counts.as_keys(values)
    expected, _ = counted(keys, classes, 1_000, [])
    for cuts in ([10], list(range(1000, 20_000, 1000)), [19_999]):
        order = rng.permutation(keys.size)
        found, _ = counted(keys[order], classes[order], 1_000, cuts)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_counts_of_categories_do_not_depend_on_batches_and_find_the_frequent_ones():
    rng = np.random.default_rng(2)
    names = np.array([f"k{k}" for k in range(5000)], object)
    share = 1 / np.arange(1, 5001)
    drawn = rng.choice(5000, 40_000, p=share / share.sum())
    classes = rng.integers(0, 2, drawn.size)

    def count(order, cuts):
        counts = _category_counts.CategoryCounts(500)
        target = counts
        while target is not None:
            for begin, end in itertools.pairwise([0, *cuts, drawn.size]):
                part, label = drawn[order][begin:end], classes[order][begin:end]
                table = np.bincount(part * 2 + label, minlength=10_000).reshape(-1, 2)
                present = np.flatnonzero(table.any(axis=1))
                target.add(names[present], table[present])
            target = counts.finer()
        values, table = counts.rows(2)
        return dict(zip(values, map(tuple, table.tolist()), strict=True)), counts.totals()

    expected, totals = count(np.arange(drawn.size), [])
    for cuts in ([5], [100, 3000, 3001]):
        assert count(rng.permutation(drawn.size), cuts) == (expected, totals)
    exact = np.bincount(drawn * 2 + classes, minlength=10_000).reshape(-1, 2)
    assert all(tuple(exact[int(name[1:])].tolist()) == row for name, row in expected.items())
    frequent = np.argsort(-exact.sum(axis=1), kind="stable")[:256]
    assert {names[k] for k in frequent} <= set(expected)
    n_values = np.count_nonzero(exact.sum(axis=1))
    assert totals.n_known == drawn.size
    assert 0.8 * n_values < totals.n_values < 1.25 * n_values


@pytest.mark.parametrize("binning", ["supervised", "uniform", "quantile"])
def test_large_columns_give_the_same_rules_from_files_as_in_memory(binning, monkeypatch):
    """With small bounds, so that columns are counted in groups."""
    monkeypatch.setattr(_value_counts, "MIN_PAIRS", 64)
    monkeypatch.setattr(_value_counts, "MAX_PAIRS", 256)
    monkeypatch.setattr("diverse_rule_sets.data._summaries.MAX_VALUES", 100)
    monkeypatch.setattr(_category_counts.CategoryCounts.__init__, "__defaults__", (100,))
    monkeypatch.setattr("diverse_rule_sets.data._summaries.ColumnSummary.__init__.__defaults__", (100,))
    rng = np.random.default_rng(3)
    frame = FRAME.assign(
        place=[f"p{k}" for k in (rng.pareto(0.4, N) * 3).astype(int) % 700],
        wide=10.0 ** rng.uniform(-200, 200, N),
        late=None,
    )
    with warnings.catch_warnings(action="ignore"):
        expected = DiverseRuleSetClassifier(random_state=0, binning=binning).fit(frame.drop(columns="y"), frame.y)
        for size in (50, 400):
            clf = fitted([frame[k : k + size] for k in range(0, N, size)], binning=binning)
            assert clf.rule_set_.to_json() == expected.rule_set_.to_json()


def information(cuts, values, y):
    """Return the mutual information, in nats, of a class and the intervals between cuts."""
    table = np.zeros((len(cuts) + 1, 2))
    np.add.at(table, (np.searchsorted(cuts, values), y), 1 / y.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nansum(table * np.log(table / table.sum(0) / table.sum(1, keepdims=True)))


def test_cut_points_of_groups_separate_the_classes_as_well_as_those_of_exact_counts():
    rng = np.random.default_rng(4)
    values = rng.normal(size=60_000)
    y = (rng.random(60_000) < 1 / (1 + np.exp(-3 * np.sin(3 * values)))).astype(np.int64)
    column, target = as_table(pd.DataFrame({"x": values})).column("x"), Target(y, np.ones(2))
    options = CutOptions("supervised", 20, thresholds=True)
    exact = sorted({c.high for c in possible_conditions(column, options, target) if c.high is not None})
    groups = summarised(column, target, 8_000)
    assert not groups.exact
    assert groups.target.counts.sum() == 60_000
    found = sorted({c.high for c in possible_conditions(groups.column, options, groups.target) if c.high is not None})
    assert abs(information(found, values, y) / information(exact, values, y) - 1) < 0.002


def test_which_arguments_are_sources(tmp_path):
    assert as_source(FRAME) is None
    assert as_source(FRAME.to_numpy()) is None
    assert as_source([[1, 2], [3, 4]]) is None
    assert as_source(pl.from_pandas(FRAME)) is None
    assert as_source(arrow(FRAME)) is None
    assert as_source({"a": [1]}) is None
    assert as_source([FRAME]).names == list(FRAME.columns)
    assert _source.batch_size(20) == 131_072
    assert _source.batch_size(10**6) == 1024
