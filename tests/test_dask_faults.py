"""Faults of a Dask cluster with processes: killed workers, other versions, a scheduler that is gone; never a hang."""

import gc
import os
import signal
import threading
import time

import pandas as pd
import pytest

from conftest import make_mixed
from internal import classifier

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")

from diverse_rule_sets.data._dask import DaskTasks  # noqa: E402

SECONDS = 300  # for one test

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


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


def cluster(**options):
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0, **options
    )


@pytest.fixture(scope="module")
def client():
    with cluster() as two_workers, distributed.Client(two_workers) as client:
        yield client


def table(n=240):
    X, y = make_mixed(n, seed=3)
    return pd.DataFrame(X).drop(columns="smoker").assign(y=list(y))


def as_dask(frame, n):
    cuts = [len(frame) * k // n for k in range(n + 1)]
    return dd.from_map(lambda k: frame[cuts[k] : cuts[k + 1]], range(n), meta=frame[:0])


def small():
    return classifier(random_state=0, max_rules=3, scorecards=None, min_evidence=0)


def kill_a_worker(client, number):
    """Kill the process of a worker; its nanny starts another one."""
    client.wait_for_workers(1, timeout=60)
    pids = sorted(client.run(os.getpid, on_error="ignore").values())
    os.kill(pids[number % len(pids)], signal.SIGKILL)


@pytest.fixture
def after_round_trips(monkeypatch):
    """Call a function after some numbers of round trips of a fit."""

    def install(numbers, function):
        result, n_calls = DaskTasks.result, [0]

        def counted(self, task):
            n_calls[0] += 1
            if n_calls[0] in numbers:
                function(n_calls[0])
            return result(self, task)

        monkeypatch.setattr(DaskTasks, "result", counted)
        return n_calls

    return install


def test_the_same_rules_on_processes(client):
    frame = table()
    got = small().fit(as_dask(frame, 5), "y")
    assert got.rule_set_.to_json() == small().fit(frame, "y").rule_set_.to_json()


@pytest.mark.parametrize("numbers", [(1, 4), (2, 9), (3, 20), (4, 15, 30), (10, 25, 40)])
def test_workers_that_are_killed(after_round_trips, numbers):
    """The lost partitions are read and packed again by the workers that are left."""
    frame = table()
    ref = small().fit(frame, "y")
    killed = []
    with cluster() as own, distributed.Client(own, set_as_default=False) as client:

        def kill(number):
            kill_a_worker(client, number)
            killed.append(number)

        after_round_trips(numbers, kill)
        got = small().fit(as_dask(frame, 5), "y", client=client)
    assert tuple(killed) == numbers
    assert got.rule_set_.to_json() == ref.rule_set_.to_json()


def test_nothing_is_left_on_the_workers_after_a_fit(client):
    """No future of a fit is left, so the workers keep nothing of it."""
    small().fit(as_dask(table(), 3), "y")
    gc.collect()
    for _ in range(50):
        kept = client.run(lambda dask_worker: list(map(str, dask_worker.data)))
        keys = [key for some in kept.values() for key in some if "drs-" in key]
        if not keys:
            break
        time.sleep(0.1)
    assert keys == []


def test_a_worker_with_another_version(client, monkeypatch):
    found = client.get_versions(packages=["diverse_rule_sets", "numpy"])
    address = next(iter(found["workers"]))
    for name in ("diverse_rule_sets", "numpy"):
        other = {**found["workers"][address]["packages"], name: "0.0.1"}
        wrong = {**found, "workers": {**found["workers"], address: {"packages": other}}}
        monkeypatch.setattr(client, "get_versions", lambda packages, wrong=wrong: wrong)
        with pytest.raises(ValueError, match=f"worker {address} has {name} 0.0.1, but the client has"):
            small().fit(as_dask(table(60), 2), "y", client=client)


def test_a_client_that_is_closed_in_a_fit(after_round_trips):
    with cluster() as own:
        client = distributed.Client(own, set_as_default=False)
        after_round_trips((12,), lambda _: client.close())
        clf = small()
        with pytest.raises(RuntimeError, match="the fit on the cluster ended: the client was closed"):
            clf.fit(as_dask(table(), 3), "y", client=client)
        assert not hasattr(clf, "rule_set_")


@pytest.mark.parametrize("what", ["scheduler", "workers"])
def test_a_cluster_that_is_gone(after_round_trips, monkeypatch, what):
    monkeypatch.setattr("diverse_rule_sets.data._dask.PATIENCE", 5.0)
    with dask.config.set({"distributed.comm.timeouts.connect": "3s"}):
        own = cluster()
        client = distributed.Client(own, set_as_default=False)
        end = own.close if what == "scheduler" else lambda: own.scale(0)
        after_round_trips((12,), lambda _: threading.Thread(target=end).start())
        with pytest.raises(RuntimeError, match="the fit on the cluster ended: "):
            small().fit(as_dask(table(), 3), "y", client=client)
        client.close()
        own.close()
