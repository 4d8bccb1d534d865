"""Runs cases in worker processes, each case within limits of time and memory."""

import contextlib
import functools
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

CASE_SECONDS = 20  # a case that needs more time of the processor is a failure
GRACE = 60  # seconds more after which a worker that does not react is killed
BATCH = 40
MEMORY = 4 << 30  # bytes that a worker may add to what it has after the imports
THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "ARROW_NUM_THREADS")


class TooSlowError(BaseException):
    """A case took longer than CASE_SECONDS; no handler of Exception catches it."""


@dataclass
class Totals:
    """What happened so far."""

    outcomes: Counter = field(default_factory=Counter)  # (family, word, outcome)
    checks: Counter = field(default_factory=Counter)
    exempt: Counter = field(default_factory=Counter)
    failures: dict = field(default_factory=lambda: defaultdict(list))  # (family, key) -> [(number, text, kinds)]

    @property
    def n_cases(self):
        return sum(self.outcomes.values())

    @property
    def n_failures(self):
        return sum(map(len, self.failures.values()))

    def add(self, family, number, result):
        """Add the result of a case: a tuple, or a dict about a failure."""
        if isinstance(result, dict):
            self.outcomes[family, result["word"], "failed"] += 1
            self.failures[family, result["key"]].append((number, result["text"], result["kinds"]))
            return
        word, outcome, checks, exempt = result
        self.outcomes[family, word, outcome] += 1
        self.checks.update((family, check) for check in checks)
        self.exempt.update((family, reason) for reason in exempt)


@functools.cache
def family_of(name):
    """Return a family of cases, and import the libraries that it needs."""
    if name == "faults":
        from .faults import Faults

        return Faults
    from .families import FAMILIES

    return FAMILIES[name]


def _limit_memory(extra):
    """Limit the memory of this process to what it uses and some bytes more; None removes the limit."""
    if sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard if extra is None else _address_space() + extra, hard))


def run_case(family, seed, number, seconds=CASE_SECONDS):
    """Run a case in this process, in its main thread; return its result for :meth:`Totals.add`."""
    from .outcome import CaseError

    before = signal.signal(signal.SIGPROF, _raise_too_slow)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            return family_of(family).run(seed, number)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except CaseError as failure:
        key, text = failure.key, str(failure)
    except TooSlowError:
        key, text = ("time", "", "", ""), f"takes longer than {seconds} seconds"
    except MemoryError:
        key, text = ("memory", "", "", ""), "needs too much memory"
    except Exception as error:  # an error of a generator or check
        failure = CaseError("harness", error)
        key, text = failure.key, str(failure)
    finally:
        signal.signal(signal.SIGPROF, before)
    return failed(family, seed, number, key, text)


def failed(family, seed, number, key, text):
    """Return the result of a failed case."""
    word, kinds = family_of(family).kinds(seed, number)
    return {"key": tuple(key), "text": text, "kinds": kinds, "word": word}


def _work(connection, state, seconds):
    """Run the tasks that arrive, until None arrives; `state` holds the number of the case and when it began."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection.send("ready")
    while (task := connection.recv()) is not None:
        job, family, seed, numbers, *rest = task
        answers = []
        _limit_memory(None)
        family_of(family)  # its imports are no part of a case
        _limit_memory(MEMORY)
        for number in numbers:
            state[0], state[1] = number, time.monotonic()
            if job == "shrink":
                answers.append((number, _shrink(family_of(family), seed, number, *rest)))
            elif job == "digest":
                answers.append((number, family_of(family).digest(seed, number)))
            else:
                answers.append((number, run_case(family, seed, number, seconds)))
        state[1] = 0.0
        connection.send(answers)


def _shrink(family, seed, number, key, seconds):
    """Return a small program for a failed case; an error in the shrinker itself becomes its text."""
    try:
        return family.shrink(seed, number, key, seconds)
    except Exception as error:
        return f"# not made small: {error!r:.200}", "", []


def _raise_too_slow(signum, frame):
    raise TooSlowError


def _address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


class Worker:
    """A process that runs tasks, and is started again if it dies or does not react."""

    _context = multiprocessing.get_context("spawn")

    def __init__(self, seconds=CASE_SECONDS, grace=GRACE, hash_seed=0):
        self.task, self._seconds, self._grace, self._hash_seed = None, seconds, grace, hash_seed
        self._tried = None  # the case that was lost and is tried once more
        self._start()

    def _start(self):
        self.state = self._context.Array("d", [0.0, 0.0], lock=False)
        self._connection, other = self._context.Pipe()
        self._process = self._context.Process(target=_work, args=(other, self.state, self._seconds))
        before = os.environ.get("PYTHONHASHSEED")
        os.environ["PYTHONHASHSEED"] = str(self._hash_seed)  # each worker has another order of sets
        self._process.start()
        os.environ.pop("PYTHONHASHSEED") if before is None else os.environ.update(PYTHONHASHSEED=before)
        other.close()
        self._ready = False

    def give(self, task):
        self.task = task
        self._sent = False

    def poll(self):
        """Return the answers of the task; None if it is not done. A lost case is an answer too."""
        with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
            if not self._ready and self._connection.poll():
                self._connection.recv()
                self._ready = True
            if self._ready and self.task is not None and not self._sent:
                self._connection.send(self.task)
                self._sent = True
            if self._ready and self.task is not None and self._connection.poll():
                answers, self.task = self._connection.recv(), None
                return answers
        if not self._process.is_alive():
            return self._lost(f"the process ended with code {self._process.exitcode}")
        shrinks = self.task is not None and self.task[0] == "shrink"
        seconds = (self.task[5] if shrinks else self._seconds) + self._grace
        if self.state[1] and time.monotonic() - self.state[1] > seconds:
            return self._lost(f"no answer after {seconds} seconds")
        return None

    def _lost(self, text):
        """Start again, and try the case that was running once more; return it as lost if it was tried before.

        The computer may have stopped for a while. The other numbers stay in the task: their results are lost too.
        """
        job, family, seed, numbers, *rest = self.task or ("run", "", 0, ())
        number = int(self.state[0])
        self.stop()
        self._start()
        self.task = None
        if number not in numbers:
            raise RuntimeError(f"a worker was lost before a case began: {text}")
        if job == "shrink":
            return [(number, (f"# not made small: {text}", text, []))]
        first = self._tried != number
        self._tried = number
        again = [number, *(n for n in numbers if n != number)] if first else [n for n in numbers if n != number]
        if again:
            self.give((job, family, seed, again, *rest))
        return [] if first else [(number, failed(family, seed, number, ("lost", "", "", ""), text))]

    def stop(self):
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
        self._connection.close()


def run(plan, seed, workers, seconds=None, show=print):
    """Run cases and return Totals; `plan` is a list of (family, first number, number of cases)."""
    tasks, totals = iter(_tasks(plan, seed)), Totals()
    start = shown = time.monotonic()
    running = True
    while running:
        running = False
        for worker in workers:
            if worker.task is None and (seconds is None or time.monotonic() - start < seconds):
                worker.give(next(tasks, None))
            running |= worker.task is not None
            if worker.task is not None:
                family, known = worker.task[1], len(totals.failures)
                for number, result in worker.poll() or ():
                    totals.add(family, number, result)
                if len(totals.failures) > known:
                    show(f"  {family}: {list(totals.failures.values())[-1][0][1][:150]}")
        if time.monotonic() - shown > 5:
            shown = time.monotonic()
            show(progress(totals, shown - start))
        time.sleep(0.002)
    show(progress(totals, time.monotonic() - start))
    return totals


def _tasks(plan, seed):
    """Return the tasks of all families, mixed so that all families advance at the same pace."""
    tasks = []
    for family, first, n in plan:
        for begin in range(0, n, BATCH):
            numbers = list(range(first + begin, first + min(begin + BATCH, n)))
            tasks.append((begin / n, ("run", family, seed, numbers)))
    return [task for _, task in sorted(tasks, key=lambda one: one[0])]


@contextlib.contextmanager
def started(jobs, seconds=CASE_SECONDS, grace=GRACE):
    """Start workers, with one thread each for the libraries; stop them at the end."""
    for name in THREADS:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("RUST_BACKTRACE", "0")
    with tempfile.TemporaryDirectory(prefix="drs-fuzz-", ignore_cleanup_errors=True) as folder:
        os.environ["DRS_FUZZ_FOLDER"] = folder
        workers = [Worker(seconds, grace, k) for k in range(jobs)]
        try:
            yield workers
        finally:
            for worker in workers:
                worker.stop()
            del os.environ["DRS_FUZZ_FOLDER"]


def compare_processes(totals, seed, workers, numbers):
    """Compare the rules of some tables between two processes, in which sets of strings have different orders."""
    answers = {}
    for worker in workers[:2]:
        worker.give(("digest", "tables", seed, list(numbers)))
    while len(answers) < len(workers[:2]):
        for k, worker in enumerate(workers[:2]):
            if k not in answers and (found := worker.poll()) is not None:
                answers[k] = dict(found)
        time.sleep(0.002)
    for number, digest in answers[0].items():
        if len(workers) > 1 and answers[1].get(number) != digest:
            text = "the same seed gives other rules in another process"
            totals.add("tables", number, failed("tables", seed, number, ("process", "", "", ""), text))
        elif len(workers) > 1:
            totals.checks["tables", "another process"] += 1


def progress(totals, seconds):
    rate = totals.n_cases / max(seconds, 1e-9)
    return f"{totals.n_cases:,} cases in {seconds:.0f} s ({rate:.0f}/s), {totals.n_failures:,} failures"


def shrink_failures(totals, seed, workers, each=6, seconds=12.0, show=print):
    """Shrink some cases of each failure; return a list of (failure, count, numbers, program, text, kinds)."""
    tasks = [
        (group, ("shrink", group[0], seed, [number], group[1], seconds))
        for group, found in totals.failures.items()
        for number in _various(found, each)
    ]
    results, running = [], {}
    while tasks or running:
        for worker in workers:
            if worker.task is None and worker not in running and tasks:
                running[worker], task = tasks.pop(0)
                worker.give(task)
            if worker in running and (answers := worker.poll()):
                results.append((running.pop(worker), *answers[0]))
        time.sleep(0.002)
    show(f"{len(results)} failed cases made small")
    return results


def _various(found, most):
    """Return the numbers of some failed cases with as many different kinds of columns as possible."""
    chosen, seen = [], set()
    for number, _, kinds in sorted(found, key=lambda one: len(one[2])):
        if len(chosen) < most and (not chosen or not set(kinds[:-1]) <= seen):
            chosen.append(number)
            seen |= set(kinds)
    return chosen
