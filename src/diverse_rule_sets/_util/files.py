"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def is_special(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is there and neither a plain file nor a folder: a pipe, a device."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def whole_file(output: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to; when all went well, what was written takes the place of the output at once.

    The old file, if there is one, stays as it is until then, and for ever if anything goes wrong; a new one gets its
    rights. A link stays a link. What is no plain file, such as a pipe, is written to directly.
    """
    if is_special(output):
        yield Path(output)
        return
    target = Path(os.path.realpath(output))
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=target.suffix or ".tmp", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
        _settle(Path(name), target)
    finally:
        Path(name).unlink(missing_ok=True)


def _settle(written: Path, target: Path) -> None:
    """Put a finished file in its place, with the rights that a new file, or the old one, has."""
    with written.open("rb+") as file:
        os.fsync(file.fileno())
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    written.chmod(mode)
    os.replace(written, target)
