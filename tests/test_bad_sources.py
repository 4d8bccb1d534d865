"""Files and other sources that cannot be read: the error names the file, the column or the argument."""

import errno
import gzip
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diverse_rule_sets import DiverseRuleSetClassifier
from diverse_rule_sets._util import memory
from diverse_rule_sets.data import _bit_file
from tests.test_sources import FRAME, Again, N, arrow, folder, make_frame, write_parquet


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files of its own, in which nothing is left."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []


def refused(X, words, error=ValueError, y="y", **how):
    clf = DiverseRuleSetClassifier(random_state=0)
    before = dict(vars(clf))
    with pytest.raises(error, match=words):
        clf.fit(X, y, **how)
    assert vars(clf) == before  # nothing half-fitted


def test_a_missing_file_an_empty_folder_and_an_unknown_ending(tmp_path):
    refused(tmp_path / "none.parquet", r"none\.parquet: there is no such file or folder")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "empty: expected a folder of tables, but it has no files")
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    refused(tmp_path / "t.xlsx", r"t\.xlsx: the format is unknown; expected a file that ends in one of \.csv")
    refused([write_parquet(FRAME, tmp_path / "t.parquet"), tmp_path / "none"], "none: there is no such file")


def test_a_file_with_other_columns(tmp_path):
    place = folder(tmp_path)
    write_parquet(FRAME.drop(columns="kids").assign(extra=1), place / "02.parquet")
    refused(place, r"02\.parquet: has other columns than .*00\.parquet: it lacks \['kids'\] and also has \['extra'\]")


def test_a_file_whose_column_has_another_type(tmp_path):
    place = folder(tmp_path)
    write_parquet(FRAME[7:500].assign(kids="many"), place / "02.parquet")
    refused(place, r"02\.parquet: column 'kids' holds text values, but number values in .*00\.parquet")
    refused(
        [FRAME[:9], FRAME[9:].assign(day="x")], "batch 2: column 'day' holds text values, but date values in batch 1"
    )
    a = FRAME[:500].assign(job=pd.Categorical(FRAME.job[:500], ["cook", "clerk", "smith", "nurse", "ü"], ordered=True))
    b = FRAME[500:].assign(job=pd.Categorical(FRAME.job[500:], ["ü", "clerk", "smith", "nurse", "cook"], ordered=True))
    refused([a, b], "batch 2: column 'job' has the ordered categories 'ü', 'clerk', .*, but 'cook', .* in batch 1")


@pytest.mark.parametrize("keep", [0, 3, 100, 5000])
def test_a_truncated_parquet_file_in_the_middle(tmp_path, keep):
    place = folder(tmp_path)
    content = (place / "02.parquet").read_bytes()
    (place / "02.parquet").write_bytes(content[:keep])
    refused(place, r"02\.parquet: cannot be read as Parquet, it is cut off or damaged")


def test_damage_inside_a_parquet_file_is_found_while_it_is_read(tmp_path):
    path = Path(write_parquet(make_frame(5000), tmp_path / "t.parquet"))
    content = bytearray(path.read_bytes())
    content[2000:4000] = bytes(2000)
    path.write_bytes(bytes(content))
    refused(path, r"t\.parquet: cannot be read as Parquet")


def test_a_damaged_arrow_file(tmp_path):
    (tmp_path / "t.arrow").write_bytes(b"ARROW1" + bytes(100))
    refused(tmp_path / "t.arrow", r"t\.arrow: cannot be read as Arrow")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(tmp_path):
    place = folder(tmp_path)
    (place / "02.parquet").chmod(0)
    refused(place, r"02\.parquet: Permission denied")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_an_unreadable_file_in_the_middle(tmp_path, ending, monkeypatch):
    """The file can no longer be opened, on the first and on the second pass."""
    place = folder(tmp_path)
    if ending == "csv":
        for file in sorted(place.glob("*.parquet")):
            pd.read_parquet(file).to_csv(file.with_suffix(".csv"), index=False)
            file.unlink()
    (place / f"02.{ending}").rename(tmp_path / "elsewhere")
    (place / f"02.{ending}").symlink_to(tmp_path / "elsewhere")
    clf = DiverseRuleSetClassifier(random_state=0).fit(place, "y")
    refused_later = {"on_progress": lambda p: p.stage == "packing" and (tmp_path / "elsewhere").unlink(missing_ok=True)}
    monkeypatch.setattr("diverse_rule_sets.sources._arrow_files.batch_size", lambda n: 2)
    monkeypatch.setattr("diverse_rule_sets.sources._text_files._BLOCK", 2)
    refused(place, rf"02\.{ending}: No such file or directory", **refused_later)
    refused(place, rf"02\.{ending}: No such file or directory")
    with pytest.raises(ValueError, match=rf"02\.{ending}: No such file or directory"):
        clf.predict(place)


def test_a_csv_file_with_a_bad_line(tmp_path):
    FRAME[["income", "kids", "y"]].to_csv(tmp_path / "a.csv", index=False)
    with open(tmp_path / "a.csv", "a") as file:
        file.write("1,2\n")
    refused(tmp_path / "a.csv", rf"a\.csv, line {N + 2}: 2 cells, expected 3 as in the first line")
    (tmp_path / "b.csv").write_bytes("income,y\n1,\xfc\n".encode("latin-1"))
    refused(tmp_path / "b.csv", r"b\.csv: is not utf-8 text .*use polars\.scan_csv")
    (tmp_path / "c.csv").write_text("")
    refused(tmp_path / "c.csv", r"c\.csv: the table is empty")


def test_a_text_cell_of_another_type_names_file_column_and_record(tmp_path):
    clf = DiverseRuleSetClassifier(random_state=0).fit(FRAME[["income", "kids", "y"]], "y")
    FRAME[["income", "kids"]].assign(kids=["?"] + ["1"] * (N - 1)).iloc[::-1].to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=rf"t\.csv: column 'kids', record {N:,}: expected a number, got '\?'$"):
        clf.predict(tmp_path / "t.csv")


def test_iterators_that_can_be_read_only_once():
    words = "an iterator that can be read only once.*; give a list of data frames"
    refused((FRAME[k : k + 100] for k in range(0, N, 100)), words)
    refused(iter([FRAME]), words)
    refused(arrow(FRAME).to_reader(), words)


def test_frames_that_change_between_two_readings():
    class Shuffled:
        def __init__(self):
            self.seed = 0

        def __iter__(self):
            self.seed += 1
            return iter([FRAME.sample(frac=1, random_state=self.seed)])

    refused(Shuffled(), "the records changed between two readings; a table must give the same records")

    class Shrinking(Shuffled):
        def __iter__(self):
            self.seed += 1
            return iter([FRAME[: N // self.seed]])

    refused(Shrinking(), "the records changed between two readings")


def test_batches_without_records_and_sources_without_batches():
    refused([FRAME[:0]], r"0 sample\(s\).*X has no records")
    refused(Again([]), "there are no batches")
    refused(Again([FRAME, 3]), "batch 2 of X must be a data frame", TypeError)
    refused([FRAME, FRAME.drop(columns="job")], "batch 2 of X has other columns than the first one: 'job'")


def test_the_target(tmp_path):
    path = write_parquet(FRAME, tmp_path / "t.parquet")
    refused(path, "y must be the name of a column of .*t.parquet, got 'Y'; its columns: .*; did you mean 'y'", y="Y")
    refused(FRAME, "y must be a vector of labels or the name of a column of X, got 'Y'; X has its columns", y="Y")
    refused(path, "y must be the name of the column of X with the labels", TypeError, y=list(FRAME.y))
    refused(path, "y must be the name of the column of X with the labels", TypeError, y=FRAME.y)
    refused(
        [FRAME, FRAME.assign(y=None)],
        r"Input y contains NaN: 1003 missing labels in the target 'y', the first in batch 2",
    )
    refused([FRAME, FRAME.assign(y=1)], "batch 2: the target 'y' holds labels of kind number, but string in batch 1")
    refused([FRAME.assign(y=np.random.default_rng(0).random(N))], "Unknown label type: continuous")
    wide = [pd.DataFrame({"a": range(k, k + 9000), "y": range(k, k + 9000)}) for k in (0, 9000)]
    refused(wide, "batch 2: the target 'y' has more than 10,000 different values, expected a few classes")
    refused([FRAME[["y"]]], "no column for rules besides the target 'y'")


def test_errors_about_values_name_the_batch():
    refused([FRAME, FRAME.assign(kids=np.inf)], "Input X contains infinity in the column 'kids'")
    refused([FRAME[:5], FRAME[5:].assign(kids=pd.Timedelta(1))], "batch 2: column 'kids' holds", TypeError)
    clf = DiverseRuleSetClassifier(random_state=0).fit(FRAME, "y")
    with pytest.raises(ValueError, match="batch 2: column 'kids' holds text values"):
        clf.predict([FRAME, FRAME.assign(kids="x")])
    with pytest.raises(ValueError, match="batch 1: X has no column 'kids'"):
        clf.predict([FRAME.drop(columns="kids")])


def test_a_package_that_is_missing_is_named(tmp_path):
    path = write_parquet(FRAME, tmp_path / "t.parquet")
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('pyarrow', 'polars'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "for path in sys.argv[1:]:\n"
        "    try: D().fit(path, 'y')\n"
        "    except ImportError as error: print(error)\n"
    )
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    run = subprocess.run(
        [sys.executable, "-c", code, path, str(tmp_path / "t.csv")], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == [
        "reading Parquet files needs pyarrow; install the extra: pip install 'diverse-rule-sets[files]'",
        "reading CSV files needs polars; install the extra: pip install 'diverse-rule-sets[files]'",
    ]


# Disk and memory


def test_too_little_space_on_the_disk_is_refused_before_the_bits_are_written(monkeypatch, temporary):
    usage = _bit_file.shutil.disk_usage(temporary)._replace(free=1000)
    monkeypatch.setattr(_bit_file.shutil, "disk_usage", lambda place: usage)
    refused(
        [FRAME],
        r"the bits of \d+ conditions need .* GB in .*temporary.*, where 0\.00 GB are free; give cache_dir",
        OSError,
    )


def test_too_little_memory_is_refused_before_the_bits_are_written(monkeypatch):
    monkeypatch.setattr(_bit_file, "physical_memory", lambda: 10_000.0)
    refused(
        [FRAME],
        r"the bits of \d+ conditions need 0\.0 GB, more than 0\.0 GB, 40% of the memory; leave out",
        MemoryError,
    )
    assert memory.physical_memory() > 1e8


@pytest.mark.parametrize("cached", [False, True])
def test_a_full_disk_is_an_error_that_leaves_nothing_behind(tmp_path, cached):
    """Files of the process may have 100,000 bytes, less than the bits need."""
    path = write_parquet(make_frame(20_000), tmp_path / "t.parquet")
    (tmp_path / "bits").mkdir()
    code = (
        "import sys, tempfile, resource\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "tempfile.tempdir = sys.argv[2]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        f"try: D().fit(sys.argv[1], 'y', cache_dir=sys.argv[2] if {cached} else None)\n"
        "except OSError as error: print(type(error).__name__, error.errno, error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code, path, str(tmp_path / "bits")], capture_output=True, text=True)
    assert run.stdout.startswith(f"OSError {errno.EFBIG}"), run.stderr
    assert "is full" in run.stdout
    assert list((tmp_path / "bits").iterdir()) == []


@pytest.mark.parametrize("cached", [False, True])
def test_a_full_disk_with_weights(tmp_path, cached):
    """The bits of the records fit into the limit, but not those of the copies of weighted records."""
    frame = make_frame(20_000).assign(w=np.random.default_rng(0).lognormal(0, 1, 20_000))
    path = write_parquet(frame, tmp_path / "t.parquet")
    (tmp_path / "bits").mkdir()
    code = (
        "import sys, tempfile, resource\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "tempfile.tempdir = sys.argv[2]\n"
        "clf = D(scorecards=None, forbidden=['day', 'income'])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        f"try: clf.fit(sys.argv[1], 'y', 'w', cache_dir=sys.argv[2] if {cached} else None)\n"
        "except OSError as error: print(type(error).__name__, error.errno, error, hasattr(clf, 'rule_set_'))\n"
    )
    run = subprocess.run([sys.executable, "-c", code, path, str(tmp_path / "bits")], capture_output=True, text=True)
    assert run.stdout.startswith(f"OSError {errno.EFBIG}"), run.stderr
    assert "is full" in run.stdout
    assert run.stdout.endswith("False\n")
    assert [file.suffix for file in (tmp_path / "bits").iterdir()] == [".drs"] * cached  # the bits without copies


def test_a_full_disk_while_a_file_is_decompressed(tmp_path):
    path = write_parquet(make_frame(20_000), tmp_path / "t.parquet")
    Path(f"{path}.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    (tmp_path / "bits").mkdir()
    code = (
        "import sys, tempfile, resource\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "tempfile.tempdir = sys.argv[2]\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))\n"
        "try: D().fit(sys.argv[1], 'y')\n"
        "except ValueError as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, f"{path}.gz", str(tmp_path / "bits")], capture_output=True, text=True
    )
    assert re.search(r"t\.parquet\.gz: cannot be decompressed: '.*bits', .*, is full \(File too large\)", run.stdout), (
        run
    )
    assert list((tmp_path / "bits").iterdir()) == []


def test_a_disk_that_is_really_full(tmp_path, monkeypatch):
    """A small file system of its own, where the system allows one; then as if other programs filled it later."""
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        path = write_parquet(make_frame(20_000), tmp_path / "t.parquet")
        refused(
            path,
            r"the bits of \d+ conditions need .* GB in '.*small', where 0\.00 GB are free",
            OSError,
            cache_dir=place,
        )
        monkeypatch.setattr(_bit_file, "_check_space", lambda *how: None)
        refused(path, r"small' is full \(No space left on device\): nothing was kept", OSError, cache_dir=place)
        monkeypatch.setattr(_bit_file, "_reserve", lambda *how: None)  # as where space cannot be reserved
        refused(path, r"small' is full \(No space left on device\): nothing was kept", OSError, cache_dir=place)
        assert list(place.iterdir()) == []
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_limit_on_the_memory_of_the_process_is_kept(tmp_path, weight):
    """The bits would take more than 40 % of the memory that ``ulimit -v`` allows."""
    path = write_parquet(make_frame(20_000).assign(w=1.5), tmp_path / "t.parquet")
    code = (
        "import sys, resource\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "from diverse_rule_sets._util import memory\n"
        "clf = D(scorecards=None)\n"
        "clf.fit(sys.argv[1], 'y')\n"
        "del clf.rule_set_\n"
        "resource.getrlimit = lambda kind: (100_000, 100_000)\n"
        f"try: clf.fit(sys.argv[1], 'y', {weight!r})\n"
        "except MemoryError as error: print(error, hasattr(clf, 'rule_set_'))\n"
    )
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert re.search(r"conditions need 0\.0 GB, more than 0\.0 GB, 40% of the memory; leave out columns", run.stdout), (
        run
    )
    assert run.stdout.endswith("False\n")


STAGES = ["reading weights", "reading", "packing", "conditions", "scorecards", "first pass", "second pass", "merging"]


@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_c_leaves_the_estimator_as_it_was(tmp_path, stage):
    """A signal in each phase of a fit with weights, of an estimator that is fitted and of one that is not."""
    rng = np.random.default_rng(0)
    X = rng.random((3000, 8)).round(2)
    y = np.where((X < 0.5).sum(axis=1) + rng.normal(0, 1, 3000) > 4.5, "yes", "no")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(y=y, w=rng.integers(0, 3, 3000))
    path = write_parquet(frame, tmp_path / "t.parquet")
    Path(f"{path}.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    place = tmp_path / "bits"
    place.mkdir()
    program = (
        "import os, signal, sys, tempfile, threading\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "tempfile.tempdir = sys.argv[2]\n"
        f"def stop(p): p.stage == {stage!r} and signal.raise_signal(signal.SIGINT)\n"
        "fitted = D(random_state=0).fit([[1.0], [2.0]] * 9, ['a', 'b'] * 9)\n"
        "for clf in (D(random_state=0, n_jobs=2), fitted):\n"
        "    before = dict(vars(clf))\n"
        "    for cache in (None, sys.argv[2]):\n"
        "        try: clf.fit(sys.argv[1], 'y', 'w', on_progress=stop, cache_dir=cache)\n"
        "        except KeyboardInterrupt: print('stopped', vars(clf) == before)\n"
        "print(len(threading.enumerate()))\n"
        "print([name for name in os.listdir(sys.argv[2]) if not name.endswith('.drs')])\n"
    )
    run = subprocess.run([sys.executable, "-c", program, f"{path}.gz", str(place)], capture_output=True, text=True)
    assert run.stdout.splitlines()[:4] == ["stopped True"] * 4, run
    assert run.stdout.splitlines()[5] == "[]"
    early = STAGES.index(stage) <= STAGES.index("packing")
    assert len(list(place.iterdir())) == (0 if early else 1)  # complete bits are kept in cache_dir


def test_an_interrupted_fit_leaves_nothing_behind(tmp_path):
    """Ctrl-C while the bits are written, and at the end a signal that cannot be handled."""
    path = write_parquet(make_frame(20_000), tmp_path / "t.parquet")
    for number, code in ((signal.SIGINT, -2), (signal.SIGKILL, -9)):
        place = tmp_path / f"bits{number}"
        place.mkdir()
        program = (
            "import os, sys, tempfile\n"
            "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
            "tempfile.tempdir = sys.argv[2]\n"
            f"def stop(p): p.stage == 'packing' and os.kill(os.getpid(), {int(number)})\n"
            "clf = D()\n"
            "try: clf.fit(sys.argv[1], 'y', on_progress=stop)\n"
            "except KeyboardInterrupt: assert not hasattr(clf, 'rule_set_'); raise\n"
        )
        run = subprocess.run([sys.executable, "-c", program, path, str(place)], capture_output=True, text=True)
        assert run.returncode == code, run.stderr
        assert list(place.iterdir()) == []


def test_a_cache_is_used_again_only_for_the_same_files_and_conditions(tmp_path, monkeypatch):
    path, cache = Path(write_parquet(FRAME, tmp_path / "t.parquet")), tmp_path / "cache"
    cache.mkdir()
    n_packed = []
    monkeypatch.setattr(_bit_file, "_write", lambda *how, own=_bit_file._write: n_packed.append(1) or own(*how))

    def fit(X=path, **parameters):
        clf = DiverseRuleSetClassifier(random_state=0, **parameters)
        return clf.fit(X, "y", cache_dir=cache).rule_set_.to_json()

    expected = DiverseRuleSetClassifier(random_state=0).fit(FRAME, "y").rule_set_.to_json()
    assert fit() == expected
    assert fit() == expected
    fit(max_rules=2)
    assert len(n_packed) == 1
    assert len(list(cache.iterdir())) == 1
    fit(forbidden=["kids"])
    assert len(n_packed) == 2
    fit(given_rules=["IF kids > 2.5 THEN yes"])
    assert len(n_packed) == 3
    os.utime(path, (1, 1))
    assert fit() == expected
    assert len(n_packed) == 4
    for file in cache.iterdir():
        file.write_bytes(file.read_bytes()[:-9])  # damaged: written again
    assert fit() == expected
    assert len(n_packed) == 5
    with pytest.warns(UserWarning, match="cache_dir cannot be used again"):
        assert fit([FRAME]) == expected
    refused(path, "cache_dir must be an existing folder, got '/none'", cache_dir="/none")
    refused(FRAME, "cache_dir is for tables that are read in batches", cache_dir=cache)


def test_the_peak_memory_of_a_fit_from_files_is_far_below_the_table(tmp_path):
    """The table takes 160 MB in memory, and a fit from the file hardly more than a fit on a small part."""
    rng = np.random.default_rng(0)
    names = [f"x{k}" for k in range(20)]
    with pq.ParquetWriter(
        tmp_path / "t.parquet", pa.schema([*((n, pa.float64()) for n in names), ("y", pa.int8())])
    ) as w:
        for _ in range(10):
            X = rng.normal(size=(100_000, 20)).round(2)
            columns = [*X.T, (X[:, 0] + X[:, 1] > 1).astype(np.int8)]
            w.write_table(pa.table(columns, schema=w.schema))
    table = pl.scan_parquet(tmp_path / "t.parquet").head(20_000).collect()
    table.write_parquet(tmp_path / "small.parquet")
    code = (
        "import sys, resource\n"
        "from diverse_rule_sets import DiverseRuleSetClassifier as D\n"
        "import pyarrow.parquet\n"
        "D(random_state=0, scorecards=None, max_rules=2).fit(sys.argv[1], 'y')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    peaks = [
        int(subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], capture_output=True, check=True).stdout)
        for name in ("small.parquet", "t.parquet")
    ]
    n_items = 2 * 19 * 20
    bits = 2 * n_items * 1_000_000 / 8  # once by record and once by class
    assert 1024 * (peaks[1] - peaks[0]) < bits + 100e6, peaks


def test_progress_names_the_phase_the_rate_and_the_time_left(tmp_path):
    found = []
    DiverseRuleSetClassifier(random_state=0).fit(folder(tmp_path), "y", on_progress=found.append)
    stages = list(dict.fromkeys(one.stage for one in found))
    assert stages[:3] == ["reading", "packing", "conditions"]
    assert found[0].detail.startswith("7 records, ")
    assert found[0].detail.endswith(" s left")
    assert " per second, 1%, " in found[0].detail
