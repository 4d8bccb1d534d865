"""Fits on a Dask cluster: the same rules as in memory, for any partitions; faults and wrong input."""

import ast
import itertools
import pickle
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conftest import make_mixed
from diverse_rule_sets import DiverseRuleSetClassifier, DRSClassifier
from internal import classifier

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")

SECONDS = 240  # for one test: a fit on a cluster that is lost must end


@pytest.fixture(autouse=True)
def time_limit():
    """End a test that hangs."""

    def stop(*_):
        raise TimeoutError(f"the test took more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def client():
    with (
        dask.config.set({"distributed.admin.system-monitor.gil.enabled": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def mixed(n=240, seed=3):
    """Return a table with columns of all types and the labels in the column y."""
    X, y = make_mixed(n, seed=seed)
    frame = pd.DataFrame(X)
    frame["smoker"] = frame["smoker"].astype("boolean")
    return frame.assign(y=list(y))


def as_dask(frames):
    """Return a Dask DataFrame with exactly these partitions."""
    return dd.from_map(lambda k: frames[k], range(len(frames)), meta=frames[0].iloc[:0])


def split(frame, n):
    """Return n consecutive parts of a frame; with more parts than records, some are empty."""
    cuts = np.linspace(0, len(frame), n + 1).astype(int)
    return [frame.iloc[begin:end] for begin, end in itertools.pairwise(cuts)]


def small(**params):
    """Return a classifier that asks few questions."""
    return classifier(**{"random_state": 0, "max_rules": 3, "scorecards": None, "min_evidence": 0} | params)


PARTITIONS = {
    "1": lambda frame: [frame],
    "2": lambda frame: split(frame, 2),
    "7": lambda frame: split(frame, 7),
    "50": lambda frame: split(frame, 50),
    "empty ones": lambda frame: [frame[:0], frame[:100], frame[:0], frame[:0], frame[100:], frame[:0]],
    "one record": lambda frame: [frame[:1], frame[1:2], frame[2:]],
    "a class each": lambda frame: [frame[frame["y"] == label] for label in sorted(frame["y"].unique())],
    "a category each": lambda frame: [part for _, part in frame.groupby("sex", dropna=False, sort=False)],
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_the_rules_of_the_local_fit_for_any_partitions(client, name):
    parts = PARTITIONS[name](mixed())
    ref = small().fit(pd.concat(parts), "y")
    got = small().fit(as_dask(parts), "y")
    assert len(ref.rule_set_) > 1
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()
    assert got.history_ == ref.history_
    assert got.feature_names_in_.tolist() == ref.feature_names_in_.tolist()
    assert got.classes_.tolist() == ref.classes_.tolist()


FITS = {
    "default": lambda: DiverseRuleSetClassifier(random_state=0, max_rules=2),
    "scorecard": lambda: small(scorecards="auto"),
    "threads": lambda: small(n_jobs=2),
    "paper": lambda: DRSClassifier(random_state=0, n_candidates=20, max_rules=3),
    "missing values": lambda: small(missing_values={"sex": "F"}),
    "given": lambda: small(
        given_rules=["IF age > 61.7 AND smoker = True THEN good"],
        monotone={"age": {"good": "increasing"}},
        forbidden=["size"],
    ),
    "given scorecards": lambda: small(
        scorecards=['points (for good): 3 if age > 61.7, -2 if smoker = True, 2 if sex = "F"'], max_rules=2
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_the_rules_of_the_local_fit_for_any_parameters(client, name):
    frame = mixed()
    ref = FITS[name]().fit(frame, "y")
    got = FITS[name]().fit(as_dask(split(frame, 3)), "y")
    assert len(ref.rule_set_) > 0
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()


def test_labels_as_a_series(client):
    frame = mixed()
    X = as_dask(split(frame, 3))
    ref = small().fit(frame.drop(columns="y"), frame["y"])
    got = small().fit(X.drop(columns="y"), X["y"])
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()


def test_categories_of_unlike_codes(client):
    """Each partition has the categories in another order, and some partitions lack some."""
    frame = mixed()[["age", "sex", "size", "y"]]
    parts = split(frame, 4)
    for k, part in enumerate(parts):
        values = [value for value in part["sex"].unique() if isinstance(value, str)]
        parts[k] = part.assign(sex=pd.Categorical(part["sex"], categories=values[::-1] if k % 2 else values))
    ref = small().fit(frame, "y")
    got = small().fit(as_dask(parts), "y")
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()


def test_ordered_categories(client):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 300)
    size = pd.Categorical.from_codes(codes, ["S", "M", "L", "XL"], ordered=True)
    frame = pd.DataFrame({"size": size, "x": rng.random(300), "y": (codes > 1) ^ (rng.random(300) < 0.1)})
    ref = small().fit(frame, "y")
    got = small().fit(as_dask(split(frame, 3)), "y")
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()


def test_columns_with_more_values_than_are_counted(client, monkeypatch):
    """Coarse summaries are counted again on the workers, in further passes."""
    from diverse_rule_sets.data import _category_counts, _encoder, _scan, _summaries

    for module in (_encoder, _scan):
        monkeypatch.setattr(module, "pairs_for", lambda _: 64)
    monkeypatch.setattr(_summaries.ColumnSummary.__init__, "__defaults__", (40,))
    monkeypatch.setattr(_summaries, "MAX_VALUES", 40)
    monkeypatch.setattr(_category_counts, "_N_BUCKETS", 32)
    rng = np.random.default_rng(1)
    n = 3000
    x, word = rng.lognormal(size=n), np.minimum(rng.geometric(0.02, n), 150)
    frame = pd.DataFrame({"x": x, "word": [f"w{k}" for k in word], "z": rng.normal(size=n)})
    frame["y"] = np.where((x > 1.2) ^ (word < 9), "a", "b")
    ref = small().fit(frame, "y")
    stages = []
    got = small().fit(as_dask(split(frame, 5)), "y", on_progress=lambda progress: stages.append(progress.stage))
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()
    assert "reading again" in stages


def test_dask_is_imported_by_one_module_only():
    import diverse_rule_sets

    source = Path(diverse_rule_sets.__file__).parent
    found = set()
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in ("dask", "distributed") for name in names):
                found.add(path.relative_to(source).as_posix())
    assert found == {"data/_dask.py"}


@pytest.mark.parametrize("kind", ["parquet", "csv", "dataset", "row groups"])
def test_files_with_a_client(client, tmp_path, kind, monkeypatch):
    pa_dataset = pytest.importorskip("pyarrow.dataset")
    frame = mixed()
    frame["smoker"] = frame["smoker"].astype(object).where(frame["smoker"].notna(), None)
    for k, part in enumerate(split(frame, 1 if kind == "row groups" else 3)):
        if kind == "csv":
            part.to_csv(tmp_path / f"{k}.csv", index=False)
        else:
            part.to_parquet(tmp_path / f"{k}.parquet", row_group_size=50, index=False)
    X = pa_dataset.dataset(tmp_path) if kind == "dataset" else str(tmp_path)
    monkeypatch.setattr("diverse_rule_sets.sources._arrow_files.MAX_RECORDS", 100)  # of a part of a Parquet file
    got = small().fit(X, "y", client=client)
    ref = _without_client(lambda: small().fit(X, "y"))
    assert got._traffic.n_round_trips > 0
    assert not hasattr(ref, "_traffic")
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()


def _without_client(function):
    """Call a function in a process-wide state without a current client."""
    from diverse_rule_sets.data import _dask

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_dask, "_current_client", lambda: None)
        return function()


@pytest.mark.parametrize("labels", ["words", "numbers", "booleans"])
def test_predictions_of_a_dask_frame_are_lazy(client, labels):
    frame = mixed()
    if labels != "words":
        codes = (frame["y"] == "good").astype(int)
        frame["y"] = codes if labels == "numbers" else codes.astype(bool)
    frame.index = frame.index * 3 + 5
    clf = small().fit(frame, "y")
    X = as_dask([frame[:0], *split(frame, 3)]).drop(columns="y")
    for method in ("predict", "predict_proba", "explain"):
        ref, lazy = getattr(clf, method)(frame.drop(columns="y")), getattr(clf, method)(X)
        got = lazy.compute()
        assert isinstance(lazy, dd.Series if method == "predict" else dd.DataFrame)
        assert got.index.tolist() == frame.index.tolist()
        if method == "predict":
            assert (lazy.name, lazy.dtype) == (got.name, got.dtype)
            assert got.tolist() == ref.tolist()
            continue
        assert lazy.dtypes.tolist() == got.dtypes.tolist()
        if method == "predict_proba":
            assert lazy.columns.tolist() == clf.classes_.tolist()
            assert np.array_equal(got.to_numpy(), ref)
        else:
            assert got["reason"].tolist() == ref["reason"].tolist()
            assert got["covering"].tolist() == ref["covering"].tolist()
            assert got["label"].tolist() == ref["label"].tolist()


def test_score_by_partition(client):
    frame = mixed()
    clf = small().fit(frame, "y")
    X = as_dask([*split(frame, 4), frame[:0]])
    assert clf.score(X, "y") == clf.score(frame, "y") < 1
    assert clf.score(X.drop(columns="y"), X["y"]) == clf.score(frame, "y")


def test_wrong_input_has_a_clear_error(client):
    frame = mixed(60)
    X = as_dask(split(frame, 2))
    labels = X["y"]
    cases = [
        (X, "z", {}, ValueError, "y must be the name of a column of X, got 'z'"),
        (X, frame["y"], {}, TypeError, "y must be the name of a column of X, or a Dask Series"),
        (X, "y", {"client": "tcp://127.0.0.1:8786"}, TypeError, "client must be a distributed.Client"),
        (X, "y", {"sample_weight": "age"}, ValueError, "sample_weight is not available on a cluster"),
        (X, "y", {"cache_dir": "."}, ValueError, "cache_dir is for fits on this machine"),
        (X, labels.repartition(npartitions=1), {}, ValueError, "X has 2 partitions, but y has 1"),
        (X, as_dask([frame["y"][:30], frame["y"][:20]]), {}, ValueError, "partition 2 of X has 30 records, but 20"),
        (X[["y"]], "y", {}, ValueError, "has no column for rules besides the target 'y'"),
        (as_dask([frame[:0], frame[:0]]), "y", {}, ValueError, "Found array with 0 sample"),
        (frame, "y", {"client": client}, TypeError, "client is for tables that workers can read"),
        (as_dask([frame[:30], frame[30:].assign(age="old")]), "y", {}, ValueError, "partition 2 of X: column 'age'"),
        (as_dask([frame[:30], frame[30:].assign(y=None)]), "y", {}, ValueError, "30 missing labels in the target 'y'"),
        (as_dask([frame[:30], frame[30:].drop(columns="age")]), "y", {}, ValueError, "different columns: 'age'"),
    ]
    for table, y, options, kind, text in cases:
        clf = small()
        with pytest.raises(kind, match=text):
            clf.fit(table, y, **options)
        assert not hasattr(clf, "rule_set_")


def test_a_frame_that_changes_is_an_error(client, tmp_path):
    frame = mixed(100)

    def read(k):
        again = (tmp_path / str(k)).exists()
        (tmp_path / str(k)).touch()
        return frame[50 * k : 50 * k + 49 + again]

    X = dd.from_map(read, range(2), meta=frame.iloc[:0])
    with pytest.raises(ValueError, match="the records changed between two readings"):
        small().fit(X, "y")


def test_a_partition_that_cannot_be_read_again(client, tmp_path):
    frame = mixed(100)

    def read(k):
        if (tmp_path / str(k)).exists() and k:
            raise OSError("the disk of partition 2 is gone")
        (tmp_path / str(k)).touch()
        return frame[50 * k : 50 * k + 50]

    X = dd.from_map(read, range(2), meta=frame.iloc[:0])
    with pytest.raises(OSError, match="the disk of partition 2 is gone"):
        small().fit(X, "y")


def test_no_cluster_and_a_closed_client():
    X = as_dask(split(mixed(60), 2))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", memory_limit=0
    ) as cluster:
        closed = distributed.Client(cluster, set_as_default=False)
        closed.close()
        with pytest.raises(ValueError, match="client must be connected to a scheduler, but it is closed"):
            small().fit(X, "y", client=closed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("diverse_rule_sets.data._dask._current_client", lambda: None)
        with pytest.raises(ValueError, match="X is a Dask DataFrame, but there is no cluster"):
            small().fit(X, "y")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_with_a_scheduler(client, tmp_path, ending, monkeypatch, capsys):
    """The types of the columns of text files are found from all files: the numbers of one file are text in another."""
    from diverse_rule_sets.cli import main

    frame = mixed().drop(columns="smoker").assign(code=lambda frame: np.arange(len(frame)).astype(str))
    frame.loc[200:, "code"] = "x"
    for k, part in enumerate(split(frame, 3)):
        (part.to_csv if ending == "csv" else part.to_parquet)(tmp_path / f"{k}.{ending}", index=False)
    monkeypatch.chdir(tmp_path.parent)
    options = f"fit {tmp_path} -t y --drop size --max-rules 2 --scorecards none --test-size 0 -o".split()
    address = client.scheduler.address
    assert main([*options, "cluster.json", "--scheduler", address]) == 0
    assert "rules that are learnt on a cluster are not measured" in capsys.readouterr().err
    assert _without_client(lambda: main([*options, "local.json"])) == 0
    assert Path("cluster.json").read_text("utf8") == Path("local.json").read_text("utf8")
    capsys.readouterr()
    for more, text in (
        (["--scheduler", address, "--weight", "age"], "--weight cannot be used with --scheduler"),
        (["--scheduler", address, "--drop", "nothing"], "--drop names 'nothing'"),
        (["--scheduler", "tcp://127.0.0.1:1"], "there is no Dask scheduler at 'tcp://127.0.0.1:1'"),
    ):
        monkeypatch.setattr("diverse_rule_sets.data._dask._CONNECT", 2.0)
        assert main([*options, "other.json", *more]) != 0
        assert text in capsys.readouterr().err
    assert not Path("other.json").exists()


def test_messages_do_not_grow_with_the_records(monkeypatch):
    """The same questions about a hundred times as many records take as many messages, of about as many bytes."""
    from diverse_rule_sets._bits.bitset import Lists, pack
    from diverse_rule_sets.data._session import Session
    from tests.remote import remote_backend

    n_bytes, ask = [], Session.ask

    def counted(self, *questions):
        answers = ask(self, *questions)
        n_bytes.append(len(pickle.dumps(questions)) + len(pickle.dumps(answers)))
        return answers

    monkeypatch.setattr(Session, "ask", counted)
    rng, found = np.random.default_rng(0), []
    items, y = rng.random((6, 200)) < 0.5, rng.integers(0, 3, 200)
    for n in (1, 100):
        n_bytes.clear()
        backend = remote_backend(pack(np.tile(items, n)), np.tile(y, n), 3)
        one, other = backend.cover((1, 2)), backend.of_class(1)
        covers = [backend.union(one, other), backend.difference(one, other)]
        assert backend.class_counts(covers[0]).sum() > backend.class_counts(covers[1]).sum() > 0
        backend.extension_counts([(0,), (1, 3)], covers[0])
        backend.items_at(covers[0], np.array([0, 5]))
        backend.shared_counts(Lists.of([(0,), (2, 4)]), covers)
        found.append((len(n_bytes), sum(n_bytes)))
    assert found[0][0] == found[1][0] == 4
    assert found[1][1] <= 1.1 * found[0][1]


def test_a_grid_search_on_the_backend_of_joblib(client):
    """Fits inside tasks of workers are local, also of a path."""
    import joblib
    from sklearn.model_selection import GridSearchCV

    frame = mixed().drop(columns="smoker")
    X, y = frame.drop(columns="y"), frame["y"]
    grid = {"max_rules": [1, 3]}
    ref = GridSearchCV(small(), grid, cv=2).fit(X, y)
    with joblib.parallel_backend("dask", client=client):
        got = GridSearchCV(small(), grid, cv=2).fit(X, y)
    assert got.cv_results_["mean_test_score"].tolist() == ref.cv_results_["mean_test_score"].tolist()
    assert got.best_estimator_.rule_set_.to_json() == ref.best_estimator_.rule_set_.to_json()
