"""Files: models read, and outputs that are there whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from diverse_rule_sets import RuleSet
from diverse_rule_sets.cli._boundary import InputError

STANDARD = "-"


def read_model(path: str) -> RuleSet:
    """Read a model file; `-` is the standard input."""
    content = sys.stdin.buffer.read() if path == STANDARD else _bytes(path)
    try:
        return RuleSet.from_json(content)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: {error}") from error


def _bytes(path: str) -> bytes:
    if os.path.isdir(path):
        raise InputError(f"{path}: expected a model file, got a folder")
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such model file; `drs fit table.csv -o {path}` makes one") from None


def write_text(text: str, output: str | None) -> None:
    """Write text to a file, or to the standard output for `-` or none."""
    if output is None or output == STANDARD:
        write_out((text if text.endswith("\n") else text + "\n").encode("utf8"))
        return
    with whole_file(output) as path:
        path.write_text(text, "utf8", newline="\n")


def write_out(content: bytes) -> None:
    """Write to the standard output as it is, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


@contextmanager
def whole_file(output: str) -> Iterator[Path]:
    """Give a path to write to; when all went well, what was written takes the place of the output at once.

    The old file, if there is one, stays as it is until then, and for ever if anything goes wrong. What is no plain
    file, such as a pipe, is written to directly.
    """
    target = Path(os.path.realpath(output))
    check_output(output)
    if target.exists() and not target.is_file():
        yield target
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=target.suffix or ".tmp", dir=target.parent)
    os.close(handle)
    try:
        yield Path(name)
        _settle(Path(name), target)
    finally:
        Path(name).unlink(missing_ok=True)


def check_output(output: str | None) -> None:
    """Refuse an output that cannot be written, before any work is done."""
    if output is None or output == STANDARD:
        return
    target = Path(os.path.realpath(output))
    if target.is_dir():
        raise InputError(f"{output}: expected the name of a file to write, got a folder")
    if not target.parent.is_dir():
        raise InputError(f"{output}: there is no folder {target.parent}; make it first")
    if not os.access(target.parent, os.W_OK) and not target.exists():
        raise InputError(f"{output}: the folder {target.parent} cannot be written to")


def write_report(rule_set: RuleSet, X: Any, y: Any, output: str) -> None:
    """Write the page about a rule set on a table."""
    from diverse_rule_sets.report import write_html  # type: ignore[attr-defined]

    with whole_file(output) as path:
        write_html(rule_set, X, y, path)


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
