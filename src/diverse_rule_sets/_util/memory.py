"""The memory of the machine, before work that needs much of it."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os

# Maximum share of the machine's memory for the bit rows; the search may keep a second copy.
MEMORY_SHARE = 0.4


def physical_memory() -> float:
    """Return the memory in bytes of this machine, of its container, or that the process may use; the smallest known."""
    try:
        memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        memory = math.inf
    memory = min(memory, _address_space())
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit:
            return min(memory, float(limit.read()))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return memory


def _address_space() -> float:
    """Return the limit on the address space of the process (``ulimit -v``); infinity if there is none."""
    try:
        import resource
    except ImportError:  # not on Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else float(limit)


def free_unused() -> None:
    """Give unused memory back to the system, where the C library keeps it for each thread (glibc)."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
