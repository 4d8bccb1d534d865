"""Standard streams that are closed, as after `>&-` in a shell; Python represents them by None."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def replace_closed_streams() -> Iterator[None]:
    """Replace closed standard streams in the `with` block: messages are discarded, but writing results is an error.

    The descriptor of a closed stream is free: the next file that is opened would get it, and what a library prints
    would be written to that file. So the null device takes its place. The one for results is opened for reading, which
    makes writing to it the same error as writing to a closed stream. The standard input remains None.
    """
    descriptors = []  # in the order of the streams, because the lowest free descriptor is used
    replaced = []
    if sys.stdin is None:
        descriptors.append(os.open(os.devnull, os.O_RDONLY))
    for name, flags in (("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), "w", encoding="utf-8"))
            replaced.append(name)
    try:
        yield
    finally:
        for name in replaced:
            with suppress(OSError):
                getattr(sys, name).close()
            setattr(sys, name, None)
        for descriptor in descriptors:
            os.close(descriptor)
