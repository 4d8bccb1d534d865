"""Writing files completely or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether a path exists and is neither a file nor a folder, such as a pipe or a device."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextmanager
def whole_file(output: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; after the `with` block the temporary file replaces the output.

    If an error occurs in the block, the output is unchanged. The new file has the permissions of the old one, if there
    is one. A link remains a link. An output such as a pipe or a device is written directly.
    """
    if is_special(output):
        yield Path(output)
        return
    target = Path(os.path.realpath(output))
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=target.suffix or ".tmp", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
        _replace_file(Path(name), target)
    finally:
        Path(name).unlink(missing_ok=True)


def _replace_file(source: Path, target: Path) -> None:
    """Replace the target by the source; the permissions are those of the target, or of a new file."""
    with source.open("rb+") as file:
        os.fsync(file.fileno())
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    source.chmod(mode)
    os.replace(source, target)
