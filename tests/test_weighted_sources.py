"""Weights of tables that are read in batches: the rules of the table in memory with the same weights."""

import errno
import os
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier, baselines
from diverse_rule_sets._bits.mapped import folder_of
from diverse_rule_sets._input.weights import weighted_records
from diverse_rule_sets.data import _bit_file, _category_counts, _copies, _value_counts
from diverse_rule_sets.data._weighted import WeightedBackend
from tests import test_sources
from tests.test_bad_sources import refused, temporary  # noqa: F401
from tests.test_sources import FRAME, SOURCES, Again, N, folder, make_frame, write_parquet

RNG = np.random.default_rng(7)
WEIGHTS = {
    "whole": RNG.integers(0, 4, N),
    "others": np.round(RNG.lognormal(0, 1.5, N), 3) * (RNG.random(N) < 0.9),
    "large": RNG.integers(1, 2**31 - 1, N),
    "equal": np.full(N, 0.25),
}
MAKE = {
    "default": lambda: DiverseRuleSetClassifier(random_state=0),
    "paper": lambda: DRSClassifier(random_state=0, n_candidates=30, max_rules=5),
    "CBA": lambda: baselines.CBAClassifier(max_candidates=2000),
    "CN2": lambda: baselines.CN2Classifier(max_rules=3),
    "IDS": lambda: baselines.IDSClassifier(random_state=0, max_candidates=200),
}
WITHOUT_Y = FRAME.drop(columns="y")


def weighted(kind):
    """Return the table with a column of weights in the middle."""
    frame = FRAME.copy()
    frame.insert(2, "w", WEIGHTS[kind])
    return frame


def expected_of(make, kind):
    return make().fit(WITHOUT_Y, FRAME.y, WEIGHTS[kind])


def check_same(clf, expected):
    assert clf.rule_set_.to_json() == expected.rule_set_.to_json()
    assert list(clf.feature_names_in_) == list(expected.feature_names_in_)
    assert getattr(clf, "history_", None) == getattr(expected, "history_", None)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", MAKE)
def test_a_column_of_weights_gives_the_rules_of_the_vector(name, kind, tmp_path):
    make, frame = MAKE[name], weighted(kind)
    expected = expected_of(make, kind)
    check_same(make().fit(frame, "y", sample_weight="w"), expected)
    check_same(make().fit(pl.from_pandas(frame), "y", "w"), expected)
    check_same(make().fit(frame.drop(columns="y"), FRAME.y, "w"), expected)
    check_same(make().fit(write_parquet(frame, tmp_path / "t.parquet"), "y", sample_weight="w"), expected)


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_takes_weights(kind, tmp_path, monkeypatch):
    frame = weighted("others")
    monkeypatch.setattr(test_sources, "FRAME", frame)
    monkeypatch.setattr(test_sources.csv, "__defaults__", (frame,))
    X, expected = SOURCES[kind](tmp_path), expected_of(MAKE["default"], "others")
    clf = MAKE["default"]().fit(X, "y", sample_weight="w")
    check_same(clf, expected)
    assert clf.score(X, "y", "w") == expected.score(WITHOUT_Y, FRAME.y, WEIGHTS["others"])
    assert clf.score(X, "y", "w") != clf.score(X, "y")
    np.testing.assert_array_equal(clf.predict(X), expected.predict(FRAME))


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.parametrize("kind", ["whole", "others"])
def test_the_size_of_batches_does_not_matter(size, kind):
    frame = weighted(kind)
    parts = Again([frame[begin : begin + size] for begin in range(0, N, size)])
    check_same(MAKE["default"]().fit(parts, "y", "w"), expected_of(MAKE["default"], kind))


def test_files_in_another_order_are_the_table_in_that_order(tmp_path, monkeypatch):
    frame = weighted("others")
    monkeypatch.setattr(test_sources, "FRAME", frame)
    paths = sorted(map(str, folder(tmp_path).glob("*.parquet")), reverse=True)
    joined = pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)
    expected = MAKE["default"]().fit(joined.drop(columns=["y", "w"]), joined.y, joined.w)
    check_same(MAKE["default"]().fit(paths, "y", "w"), expected)


def test_weight_2_is_two_copies_and_weight_0_is_absence():
    frame = weighted("whole").assign(late=None)
    copies = frame.loc[frame.index.repeat(frame.w)].reset_index(drop=True)
    expected = MAKE["default"]().fit([copies.drop(columns="w")], "y")
    check_same(MAKE["default"]().fit([frame[:300], frame[300:]], "y", "w"), expected)
    absent = frame.assign(y=np.where(frame.w == 0, None, frame.y), kids=frame.kids.where(frame.w > 0, 10**6))
    check_same(MAKE["default"]().fit([absent[:300], absent[300:]], "y", "w"), expected)


def test_weights_of_1_are_no_weights():
    frame = FRAME.assign(w=1.0)
    check_same(MAKE["default"]().fit([frame], "y", "w"), MAKE["default"]().fit(WITHOUT_Y, FRAME.y))


@pytest.mark.parametrize(
    "parameters",
    [
        {"given_rules": ['IF kids > 6 AND job = "cook" THEN yes'], "forbidden": ["day"]},
        {"missing_values": {"kids": [0], "job": ["clerk"]}},
        {"scorecards": None, "n_jobs": 2},
        {"scorecards": ["points (for yes): 2 if kids > 6"]},
    ],
)
def test_parameters_mean_the_same_with_weights(parameters):
    frame = weighted("others")
    clf, expected = (DiverseRuleSetClassifier(random_state=0, **parameters) for _ in range(2))
    check_same(clf.fit([frame[:77], frame[77:]], "y", "w"), expected.fit(WITHOUT_Y, FRAME.y, frame.w))


@pytest.mark.parametrize("binning", ["supervised", "uniform", "quantile"])
@pytest.mark.parametrize("kind", ["whole", "others"])
def test_large_columns_with_weights(binning, kind, monkeypatch):
    """With small bounds, so that columns are counted in groups, and again where groups are heavy."""
    monkeypatch.setattr(_value_counts, "MIN_PAIRS", 64)
    monkeypatch.setattr(_value_counts, "MAX_PAIRS", 256)
    monkeypatch.setattr("diverse_rule_sets.data._summaries.MAX_VALUES", 100)
    monkeypatch.setattr(_category_counts.CategoryCounts.__init__, "__defaults__", (100,))
    monkeypatch.setattr("diverse_rule_sets.data._summaries.ColumnSummary.__init__.__defaults__", (100,))
    rng = np.random.default_rng(3)
    frame = weighted(kind).assign(
        place=[f"p{k}" for k in (rng.pareto(0.4, N) * 3).astype(int) % 700],
        wide=10.0 ** rng.uniform(-200, 200, N),
        late=None,
    )
    make = lambda: DiverseRuleSetClassifier(random_state=0, binning=binning)  # noqa: E731
    with warnings.catch_warnings(action="ignore"):
        expected = make().fit(frame.drop(columns=["y", "w"]), frame.y, frame.w)
        for size in (50, 400):
            check_same(make().fit([frame[k : k + size] for k in range(0, N, size)], "y", "w"), expected)
        if kind == "whole":
            copies = frame.loc[frame.index.repeat(frame.w)].reset_index(drop=True)
            check_same(make().fit([copies.drop(columns="w")], "y"), expected)


@pytest.mark.parametrize("kind", ["whole", "others"])
def test_groups_of_large_columns_hold_the_weights_of_their_records(kind):
    """Counts of values beyond the exact bound: every group has the exact weight of each class, and is small."""
    rng = np.random.default_rng(5)
    n, max_pairs = 30_000, 8_192
    values, classes = (
        np.where(rng.random(n) < 0.3, 1 + 1e-12 * rng.random(n), rng.normal(size=n)),
        rng.integers(0, 2, n),
    )
    given = rng.integers(1, 5, n) if kind == "whole" else rng.lognormal(0, 1, n)
    own = weighted_records(given, n).weights.values
    keys, counts = _value_counts.as_keys(values), _value_counts.ValueCounts(max_pairs)
    target, n_passes = counts, 0
    while target is not None:
        for part in np.array_split(rng.permutation(n), 7):
            target.add(keys[part], classes[part], own[part])
        target, n_passes = counts.finer(), n_passes + 1
    rows = counts.rows()
    assert n_passes > 1
    low, high = (_value_counts.from_keys(part, values.dtype) for part in (rows.low, rows.high))
    assert rows.counts.sum() == own.sum()
    heaviest = 0.0
    for begin, end, label, weight in zip(low[::50], high[::50], rows.classes[::50], rows.counts[::50], strict=True):
        inside = (values >= begin) & (values <= end)
        assert weight == own[inside & (classes == label)].sum()
        heaviest = max(heaviest, own[inside].sum() if begin < end else 0.0)
    assert 0 < heaviest <= _value_counts.MAX_GROUP_SHARE * own.sum()


# Errors


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1.0, "contains a negative number: record 3 has the weight -1.0, expected finite numbers of at least 0"),
        (np.nan, "contains NaN: record 3 has the weight nan"),
        (np.inf, "contains infinity: record 3 has the weight inf"),
    ],
)
def test_bad_weights_name_the_file_the_column_and_the_record(tmp_path, value, words, monkeypatch):
    frame = weighted("others")
    frame.loc[9, "w"] = value  # the third record of the second file with records
    monkeypatch.setattr(test_sources, "FRAME", frame)
    place = folder(tmp_path)
    refused(place, rf"02\.parquet: the column 'w' of sample_weight {words}", sample_weight="w")
    monkeypatch.setattr("diverse_rule_sets.sources._arrow_files.batch_size", lambda n: 2)
    refused(place, rf"02\.parquet: the column 'w' of sample_weight {words}", sample_weight="w")
    refused([frame[:7], frame[7:]], f"batch 2: the column 'w' of sample_weight {words}", sample_weight="w")
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = words.replace("record 3", "record 10")
    refused(tmp_path / "t.csv", rf"t\.csv: the column 'w' of sample_weight {words}", sample_weight="w")
    refused(frame, f"the column 'w' of sample_weight {words}", sample_weight="w")


def test_columns_that_are_no_weights(tmp_path):
    frame = weighted("whole").assign(zero=0.0, big=2.0**40)
    path = write_parquet(frame, tmp_path / "t.parquet")
    for X, name in ((path, r"t\.parquet"), ([frame], "the batches of X")):
        refused(X, rf"{name}.*: the column 'zero' of sample_weight is zero for every record", sample_weight="zero")
        refused(X, rf"{name}.*: the column 'big' of sample_weight has whole numbers", sample_weight="big")
        refused(X, f"sample_weight must be the name of a column of .*{name}.*, got 'W'; .*'w'", sample_weight="W")
        refused(X, "sample_weight names the column 'y', which holds the labels", sample_weight="y")
        for vector in (WEIGHTS["whole"], list(WEIGHTS["whole"]), frame.w, 2.0):
            refused(X, "sample_weight must be the name of the column", TypeError, sample_weight=vector)
    refused(path, r"t\.parquet: the column 'job' of sample_weight has the value", TypeError, sample_weight="job")
    refused(path, r"t\.parquet: the column 'day' of sample_weight holds values of", TypeError, sample_weight="day")
    refused(frame, "sample_weight must be a vector of weights or the name of a column of X, got 'W'", sample_weight="W")
    refused(frame, "sample_weight names the column 'y', which holds the labels", sample_weight="y")
    refused(frame, "the column 'zero' of sample_weight is zero for every record", sample_weight="zero")
    refused(frame, "the column 'job' of sample_weight has the value", TypeError, sample_weight="job")
    refused([frame[:0]], r"0 sample\(s\).*X has no records", sample_weight="w")
    refused(frame[["w", "y"]], "X has no column for rules", sample_weight="w")
    refused([frame[["w", "y"]]], "no column for rules", sample_weight="w")


def test_weights_that_change_between_two_readings():
    frame = weighted("whole")

    class Growing:
        n = 0

        def __iter__(self):
            self.n += 1
            return iter([pd.concat([frame] * self.n)])

    class Shrinking(Growing):
        def __iter__(self):
            self.n += 1
            return iter([frame[: N // self.n]])

    for X in (Growing(), Shrinking()):
        refused(X, "the records changed between two readings", sample_weight="w")
    ones = frame.assign(w=2)

    class GrowingWithoutZeros(Growing):
        def __iter__(self):
            self.n += 1
            return iter([pd.concat([ones] * self.n)])

    refused(GrowingWithoutZeros(), "the records changed between two readings", sample_weight="w")


# Bits on the disk


def test_the_bits_of_weighted_records_are_mapped_from_a_file(tmp_path, monkeypatch):
    found = []
    monkeypatch.setattr(WeightedBackend, "of", staticmethod(keep_backend(found, WeightedBackend.of)))
    monkeypatch.setattr(
        DiverseRuleSetClassifier,
        "_make_weighted_backend",
        staticmethod(lambda *how, **more: WeightedBackend.of(*how, **more)),
    )
    path = write_parquet(weighted("others"), tmp_path / "t.parquet")
    for cache in (None, tmp_path):
        DiverseRuleSetClassifier(random_state=0).fit(path, "y", "w", cache_dir=cache)
        rows = found[-1]._copies.rows
        assert folder_of(rows) == str(tmp_path / "temporary" if cache is None else tmp_path)
        in_memory = found[-1]._layout.arrange(np.zeros((1, -(-N // 64)), np.uint64))
        assert folder_of(in_memory) is None
    assert sorted(file.suffix for file in tmp_path.iterdir() if file.is_file()) == [".drs", ".parquet"]
    found.clear()


def keep_backend(found, make):
    def make_and_keep(*how, **more):
        backend = make(*how, **more)
        if how[0].shape[1] == -(-np.count_nonzero(WEIGHTS["others"]) // 64):
            found.append(backend)
        return backend

    return make_and_keep


@pytest.mark.parametrize("kind", ["whole", "others", "large"])
def test_the_number_of_copies_is_known_before(kind):
    _, weights = weighted_records(WEIGHTS[kind], N)
    layout = _copies.Layout.of(np.zeros(weights.units.size, np.int64), weights.units)
    assert _copies.n_copies(weights) == np.count_nonzero(layout.sources >= 0)
    assert _copies.n_copies(None) == 0


def test_space_for_copies_is_needed_before_the_bits_are_written(monkeypatch):
    frame, needed = weighted("others"), []
    monkeypatch.setattr(
        _bit_file, "_check_space", lambda *how, own=_bit_file._check_space: needed.append(how) or own(*how)
    )
    DiverseRuleSetClassifier(random_state=0).fit([frame], "y", "w")
    (n_records, n_copies), n_rows, place = needed[0]
    assert n_records == np.count_nonzero(frame.w)
    assert n_copies == _copies.n_copies(weighted_records(frame.w, N).weights) > n_records
    free = n_rows * 8 * (-(-n_records // 64) + -(-n_copies // 64)) - 1
    usage = _bit_file.shutil.disk_usage(place)._replace(free=free)
    monkeypatch.setattr(_bit_file.shutil, "disk_usage", lambda place: usage)
    refused([frame], "round the weights to few digits", OSError, sample_weight="w")


def test_a_disk_that_is_full_when_copies_are_written(monkeypatch):
    n_calls = []

    def reserve(file, size):
        n_calls.append(size)
        if len(n_calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_bit_file, "_reserve", reserve)
    refused([weighted("others")], "is full .*: nothing was kept; give cache_dir", OSError, sample_weight="w")
    assert len(n_calls) == 2


def test_a_cache_is_used_again_only_for_the_same_records(tmp_path, monkeypatch):
    frame = weighted("whole").assign(v=WEIGHTS["others"], u=np.where(WEIGHTS["whole"] > 0, 2.5, 0))
    path, cache = write_parquet(frame, tmp_path / "t.parquet"), tmp_path / "cache"
    cache.mkdir()
    n_packed = []
    monkeypatch.setattr(_bit_file, "_write", lambda *how, own=_bit_file._write: n_packed.append(1) or own(*how))

    def fit(name):
        others = [column for column in ("u", "v", "w") if column != name]
        how = {"random_state": 0, "binning": "uniform", "forbidden": others, "negation": False, "class_weight": None}
        clf = DiverseRuleSetClassifier(**how, scorecards=None).fit(path, "y", name, cache_dir=cache)
        expected = DiverseRuleSetClassifier(**how, scorecards=None).fit(frame, "y", name)
        assert clf.rule_set_.to_json() == expected.rule_set_.to_json()
        return len(n_packed)

    assert fit("w") == 1
    assert fit("w") == 1
    assert fit("v") == 2  # other records have weight 0
    assert fit("v") == 2
    assert len(list(cache.iterdir())) == 2


def test_the_peak_memory_of_weights_is_far_below_the_table(tmp_path):
    """The fit from the file keeps about 60 bytes for each record beside the bits, where the table has 240."""
    import subprocess
    import sys

    frame = pd.concat([make_frame(100_000, seed) for seed in range(5)], ignore_index=True)
    rng = np.random.default_rng(0)
    frame = frame.assign(
        w=rng.integers(1, 4, len(frame)), **{f"x{k}": rng.random(len(frame)).round(2) for k in range(20)}
    )
    write_parquet(frame, tmp_path / "t.parquet")
    write_parquet(frame[:20_000], tmp_path / "small.parquet")
    code = (
        "import sys, resource\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "import pyarrow.parquet\n"
        "clf = D(random_state=0, scorecards=None, max_rules=2).fit(sys.argv[1], 'y', 'w')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    peaks = [
        int(subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], capture_output=True, check=True).stdout)
        for name in ("small.parquet", "t.parquet")
    ]
    n_items = 2 * 19 * 24
    bits = 2 * n_items * 500_000 / 8 * 4 / 3
    assert 1024 * (peaks[1] - peaks[0]) < bits + 60 * 500_000 + 60e6, (peaks, bits)
