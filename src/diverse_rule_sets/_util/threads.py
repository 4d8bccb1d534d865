"""Work that is divided among threads, with results in the order of the work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

# With fewer records, a column is read so fast that threads are not worth starting.
WORTH_A_THREAD = 50_000


def in_order(function: Callable[[T], R], arguments: Sequence[T], n_threads: int) -> Iterator[R]:
    """Yield the result of a function for each argument, in their order, computed on several threads.

    Only a few results are computed before they are asked for, so that they need little memory. The first error in the
    order of the arguments is raised.
    """
    if n_threads <= 1 or len(arguments) < 2:
        yield from map(function, arguments)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for argument in arguments:
                waiting.append(pool.submit(function, argument))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
