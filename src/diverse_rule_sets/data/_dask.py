"""Dask: the parts of a table, and tasks on the workers of a cluster. The only module that imports dask.

A task that is lost with its worker is run again from the tasks that it needs, which Dask remembers; so nothing here
depends on which worker runs a task.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import sys
import time
import uuid
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from diverse_rule_sets._input.checks import did_you_mean, list_text
from diverse_rule_sets.data._cluster import Traffic
from diverse_rule_sets.data._parts import FrameSource, with_labels
from diverse_rule_sets.sources._as_source import as_source
from diverse_rule_sets.sources._source import Source, check_target

# A fit ends with an error if there is no worker, or no scheduler, for so many seconds.
PATIENCE = 60.0
# While the result of a task is awaited, the cluster is looked at every so many seconds.
_INTERVAL = 1.0
_CONNECT = 10.0  # seconds
_PACKAGES = ("diverse_rule_sets", "numpy")


def is_dask_frame(X: Any) -> bool:
    """Return whether X is a Dask DataFrame."""
    return _is(X, "DataFrame")


def is_dask_series(y: Any) -> bool:
    """Return whether y is a Dask Series."""
    return _is(y, "Series")


def _is(value: Any, name: str) -> bool:
    module = sys.modules.get("dask.dataframe")
    return module is not None and isinstance(value, getattr(module, name))


def client_for(client: Any, needed: bool) -> Any:
    """Return the client of a fit: the given one, or the current one; None if there is none and none is needed."""
    if client is None and "distributed" in sys.modules:
        client = _current_client()
    if client is None:
        if needed:
            raise ValueError(
                "X is a Dask DataFrame, but there is no cluster; make a client first: "
                "distributed.Client(ADDRESS), or distributed.Client() for workers on this machine; or give X.compute()"
            )
        return None
    return checked_client(client)


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a scheduler for the `with` block; raise an error if there is none."""
    try:
        import distributed
    except ImportError:
        raise _no_dask("--scheduler") from None
    try:
        client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        text = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"there is no Dask scheduler at {address!r}, expected one such as tcp://host:8786: {text}"
        ) from None
    with client:
        yield client


def _no_dask(name: str) -> ImportError:
    return ImportError(
        f"{name} needs the packages dask and distributed, which are not installed: "
        "pip install 'diverse-rule-sets[dask]'"
    )


def _current_client() -> Any:
    """Return the client of the user that was made last and is open; None inside a task of a worker."""
    import distributed

    try:
        distributed.get_worker()
    except ValueError:
        try:
            return distributed.default_client()
        except ValueError:
            return None
    return None


def checked_client(client: Any) -> Any:
    """Return a client that is open and synchronous; raise an error for anything else."""
    try:
        import distributed
    except ImportError:
        raise _no_dask("client") from None
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client must be a distributed.Client, or None, got {type(client)}")
    if client.status != "running":
        raise ValueError(f"client must be connected to a scheduler, but it is {client.status}; make a new Client")
    if client.asynchronous:
        raise ValueError("client must be synchronous, got a client with asynchronous=True")
    return client


def check_versions(client: Any) -> None:
    """Raise an error if a worker has another version of this package or of numpy, or if there is no worker."""
    found = client.get_versions(packages=list(_PACKAGES))
    if not found["workers"]:
        raise ValueError("the cluster of client has no workers; start some, or wait: client.wait_for_workers(1)")
    own = found["client"]["packages"]
    for address, worker in found["workers"].items():
        for name in _PACKAGES:
            theirs = worker["packages"].get(name)
            if theirs != own[name]:
                raise ValueError(
                    f"worker {address} has {name} {theirs or '(not installed)'}, but the client has {own[name]}; "
                    "install the same version on all workers"
                )


def cluster_tasks(X: Any, y: Any, client: Any) -> tuple[DaskTasks, Hashable, str | None] | None:
    """Return tasks on a cluster for a fit on X, the column of the labels, and their name; None for a local fit."""
    if is_dask_frame(X):
        parts = FrameParts.of(X, y)
        return DaskTasks(client_for(client, needed=True), parts), parts.target, parts.target_name
    found = client_for(client, needed=False)
    source = None if found is None else as_source(X)
    sources = None if source is None else source.parts()
    if source is not None and sources is not None:
        check_target(y, source)
        tasks = DaskTasks(found, SourceParts(sources, y))
        kinds = _kinds(tasks)
        return tasks.with_parts(SourceParts([one.with_kinds(kinds) for one in sources], y)), y, _text_or_none(y)
    if client is not None:
        raise TypeError(
            "client is for tables that workers can read: a Dask DataFrame, paths of files, or a pyarrow Dataset; got X "
            f"of type {type(X)}"
        )
    return None


def _kinds(tasks: DaskTasks) -> dict[Hashable, str]:
    """Return the types of the columns of text files, from the cells of all files."""
    if not any(source.has_texts for source in tasks.sources):
        return {}
    guesses = tasks.submit("types", _merged_guesses, tasks.of_parts("guess", _guess, None))
    found: dict[Hashable, str] = pickle.loads(tasks.result(guesses))
    return found


def _guess(source: Source, _: None, __: int) -> dict[Hashable, Any]:
    return source.guesses()


def _merged_guesses(parts: Sequence[dict[Hashable, Any]]) -> bytes:
    """Return the type of each column, by the cells of all parts."""
    first, *others = copy.deepcopy(list(parts))
    for other in others:
        for name, guess in other.items():
            if name in first:
                first[name].merge(guess)
            else:
                first[name] = guess
    return pickle.dumps({name: guess.kind for name, guess in first.items()})


def _text_or_none(y: Any) -> str | None:
    return y if isinstance(y, str) else None


class FrameParts(NamedTuple):
    """The partitions of a Dask DataFrame.

    Parameters
    ----------
    frames : a delayed pandas frame for each partition
    labels : a delayed series for each partition; None if the labels are a column
    target : the column that holds the labels
    target_name : the name of the labels; None if they have none
    """

    frames: list[Any]
    labels: list[Any] | None
    target: Hashable
    target_name: str | None

    @classmethod
    def of(cls, X: Any, y: Any) -> FrameParts:
        """Return the partitions of X; y is the name of a column, or a Dask Series with the same partitions."""
        if is_dask_series(y):
            if y.npartitions != X.npartitions:
                raise ValueError(
                    f"X has {X.npartitions} partitions, but y has {y.npartitions}; expected the same partitions: "
                    "take both from one DataFrame, or repartition them"
                )
            target = "y"
            while target in X.columns:
                target += "_"
            name = y.name if isinstance(y.name, str) and y.name else None
            return cls(X.to_delayed(), y.to_delayed(), target, name)
        if not isinstance(y, str) and (hasattr(y, "__len__") or not isinstance(y, Hashable)):
            raise TypeError(
                f"y must be the name of a column of X, or a Dask Series, because X is a Dask DataFrame, got {type(y)}"
            )
        if y not in X.columns:
            raise ValueError(
                f"y must be the name of a column of X, got {y!r}; its columns: {list_text(list(X.columns))}"
                f"{did_you_mean(y, list(X.columns))}"
            )
        return cls(X.to_delayed(), None, y, y if isinstance(y, str) else None)

    def delayed(self, function: Callable[..., Any], content: Any, name: str) -> list[Any]:
        """Return ``function(source, content, number)`` of each partition, delayed."""
        from dask import delayed

        shared = delayed(content, name=f"{name}-plan", traverse=False)
        call = delayed(_with_frame, pure=False)
        labels = self.labels or [None] * len(self.frames)
        return [
            call(function, frame, own, self.target, shared, k, dask_key_name=f"{name}-{k}")
            for k, (frame, own) in enumerate(zip(self.frames, labels, strict=True))
        ]


def _with_frame(
    function: Callable[..., Any], frame: Any, labels: Any, target: Hashable, content: Any, number: int
) -> Any:
    """Call a function of a partition."""
    origin = f"partition {number + 1} of X"
    if labels is not None:
        frame = with_labels(frame, labels, target, origin)
    return function(FrameSource(frame, origin), content, number)


class SourceParts(NamedTuple):
    """The parts of a source that workers read, such as files that all workers can open.

    Parameters
    ----------
    sources : the parts
    target : the column that holds the labels
    """

    sources: Sequence[Source]
    target: Hashable

    def delayed(self, function: Callable[..., Any], content: Any, name: str) -> list[Any]:
        """Return ``function(source, content, number)`` of each part, delayed."""
        from dask import delayed

        shared = delayed(content, name=f"{name}-plan", traverse=False)
        call = delayed(function, pure=False)
        return [
            call(delayed(source, traverse=False, name=f"{name}-source-{k}"), shared, k, dask_key_name=f"{name}-{k}")
            for k, source in enumerate(self.sources)
        ]


class DaskTasks:
    """Runs functions on the workers of a Dask cluster; see :class:`~diverse_rule_sets.data._cluster.Tasks`.

    Parameters
    ----------
    client : the client of the cluster
    parts : the parts of the table
    """

    def __init__(self, client: Any, parts: FrameParts | SourceParts) -> None:
        self._client, self._parts = client, parts
        self._token = uuid.uuid4().hex[:8]
        self._numbers = itertools.count()
        self.traffic = Traffic()
        check_versions(client)
        workers = client.scheduler_info(n_workers=-1)["workers"]
        self._workers = sorted(workers)
        self._n_threads = min(int(worker["nthreads"]) for worker in workers.values())

    @property
    def sources(self) -> Sequence[Source]:
        """The parts of a source; none for a Dask DataFrame."""
        return self._parts.sources if isinstance(self._parts, SourceParts) else ()

    def with_parts(self, parts: SourceParts) -> DaskTasks:
        """Return the same with other parts."""
        self._parts = parts
        return self

    @property
    def n_workers(self) -> int:
        """Number of workers."""
        return len(self._workers)

    @property
    def n_threads(self) -> int:
        """Number of threads of the worker with the fewest."""
        return self._n_threads

    def of_parts(self, name: str, function: Callable[..., Any], content: Any) -> list[Any]:
        """Start ``function(source, content, number)`` for each part of the table."""
        self.traffic.n_sent += len(pickle.dumps(content))
        key = f"drs-{name}-{self._token}-{next(self._numbers)}"
        futures: list[Any] = self._client.compute(self._parts.delayed(function, content, key))
        return futures

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, worker: int | None = None) -> Any:
        """Start a function of arguments, some of which are futures."""
        key = f"drs-{name}-{self._token}-{next(self._numbers)}"
        near = None if worker is None else [self._workers[worker % len(self._workers)]]
        return self._client.submit(
            function, *arguments, key=key, workers=near, allow_other_workers=near is not None, pure=False
        )

    def result(self, task: Any) -> Any:
        """Wait for a task, and return its result, which is bytes."""
        start = time.monotonic()
        try:
            self._wait(task)
            found = self._result(task)
        finally:
            self.traffic.seconds += time.monotonic() - start
        self.traffic.n_round_trips += 1
        self.traffic.n_received += len(found)
        return found

    def _wait(self, task: Any) -> None:
        """Wait until a task has ended; raise an error if the scheduler or all workers are gone."""
        import distributed

        last_seen = time.monotonic()
        while True:
            try:
                with self._client.as_current():
                    distributed.wait([task], timeout=_INTERVAL)
                return
            except TimeoutError:
                status = self._client.status
                if status == "closed":
                    raise _lost("the client was closed") from None
                if status == "running" and self._client.scheduler_info(n_workers=-1)["workers"]:
                    last_seen = time.monotonic()
                elif time.monotonic() - last_seen > PATIENCE:
                    gone = "there are no workers any more" if status == "running" else "the scheduler is gone"
                    raise _lost(f"{gone}, for {PATIENCE:g} seconds") from None
            except Exception as error:
                if self._client.status in ("closed", "closing", "connecting"):
                    raise _lost("the client was closed, or the scheduler is gone") from error
                raise

    def _result(self, task: Any) -> Any:
        """Return the result of a task that has ended; the errors of Dask itself become one error."""
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            return task.result(timeout=PATIENCE)
        except KilledWorker as error:
            raise _lost(
                f"the workers that ran a task were lost again and again ({str(error).splitlines()[0]})"
            ) from None
        except (FutureCancelledError, TimeoutError, OSError) as error:
            if isinstance(error, OSError) and self._client.status == "running":
                raise  # of the user's files
            raise _lost("the client was closed, or the scheduler is gone") from error

    def close(self) -> None:
        """Forget the parts; what the workers keep is freed when the last future is deleted."""
        self._parts = None  # type: ignore[assignment]


def _lost(reason: str) -> RuntimeError:
    return RuntimeError(f"the fit on the cluster ended: {reason}; the classifier is unchanged")
