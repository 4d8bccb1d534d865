"""Reading model files, and writing outputs completely or not at all."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from diverse_rule_sets import RuleSet
from diverse_rule_sets._util.files import is_special, whole_file
from diverse_rule_sets.cli._errors import InputError, UsageError, escape_unprintable, failure_text

STANDARD = "-"
MAX_MODEL = 100_000_000  # bytes
_TABLES = (".csv", ".tsv", ".gz", ".parquet", ".arrow", ".feather")


def check_inputs(*paths: str) -> None:
    """Raise an error if an input has no name, or if more than one is the standard input."""
    if "" in paths:
        raise UsageError("expected the name of a file to read, got ''")
    if paths.count(STANDARD) > 1:
        raise UsageError("only one of the model and the table can be read from the standard input")


def standard_input() -> io.BufferedReader:
    """Return the standard input as bytes; raise an error if it is closed."""
    if sys.stdin is None:
        raise InputError("the standard input is closed; expected a table or a model from a pipe")
    return sys.stdin.buffer  # type: ignore[return-value]


def read_model(path: str) -> RuleSet:
    """Read a model file; `-` is the standard input."""
    content = _read_bytes(path)
    try:
        return RuleSet.from_json(content)
    except (ValueError, TypeError) as error:
        name = "the standard input" if path == STANDARD else path
        hint = " (a model file is given before a table)" if path.lower().endswith(_TABLES) else ""
        raise InputError(f"{name}: {error}{hint}") from error


def _read_bytes(path: str) -> bytes:
    if path == STANDARD:
        return _read_all(standard_input(), "the standard input")
    if os.path.isdir(path):
        raise InputError(f"{path}: expected a model file, got a folder")
    try:
        with open(path, "rb") as file:
            return _read_all(file, path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such model file; `drs fit table.csv -o {path}` makes one") from None


def _read_all(file: BinaryIO, name: str) -> bytes:
    """Return the content of a file, unless it is larger than any model file."""
    content = file.read(MAX_MODEL + 1)
    if len(content) > MAX_MODEL:
        raise InputError(f"{name}: is larger than {MAX_MODEL // 10**6} MB; expected a model file, written by drs fit")
    return content


def write_text(text: str, output: str | None) -> None:
    """Write text to a file, or to the standard output if the output is `-` or None."""
    if output is None or output == STANDARD:
        write_standard_output((text if text.endswith("\n") else text + "\n").encode("utf8"))
        return
    check_output(output)
    with write_errors(output), whole_file(output) as path:
        path.write_text(text, "utf8", newline="\n")


def write_standard_output(content: bytes) -> None:
    """Write text in UTF-8 to the standard output: unchanged, but to a terminal without its control sequences."""
    if sys.stdout.isatty():
        content = "".join(map(_escape_line, io.StringIO(content.decode("utf8"), newline="\n"))).encode("utf8")
    with write_errors(STANDARD):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def _escape_line(line: str) -> str:
    """Return a line whose text comes from a model or a table as a terminal may show it."""
    end = "\n" if line.endswith("\n") else ""
    return "\t".join(map(escape_unprintable, line.removesuffix("\n").split("\t"))) + end


@contextmanager
def write_errors(output: str) -> Iterator[None]:
    """Turn errors while an output is written into an error that names the output."""
    try:
        yield
    except OSError as error:
        found = re.search(r"\(os error (\d+)\)", str(error)) if error.errno is None else None  # an error of polars
        cause = OSError(int(found[1]), os.strerror(int(found[1]))) if found else error
        if isinstance(cause, BrokenPipeError):
            raise cause from error
        name = "the standard output" if output == STANDARD else output
        raise InputError(f"cannot write {name}: {failure_text(cause)}") from error


def check_output(output: str | None, *inputs: str) -> None:
    """Raise an error if an output cannot be written, or is one of the inputs, before any other work is done."""
    if output is None or output == STANDARD or is_special(output):
        return
    if not output:
        raise UsageError("--output must be the name of a file, got ''")
    for path in inputs:
        if _same_file(output, path):
            name = "the standard input" if path == STANDARD else repr(path)
            also = "" if path == output else f", the same file as {name}"
            raise UsageError(f"--output must be another file than those that are read, got {output!r}{also}")
    target = Path(os.path.realpath(output))
    if target.is_dir():
        raise InputError(f"{output}: expected the name of a file to write, got a folder")
    if not target.parent.is_dir():
        raise InputError(f"{output}: there is no folder {target.parent}; make it first")
    if not os.access(target.parent, os.W_OK):  # the new file is written next to the old one, then replaces it
        raise InputError(f"{output}: the folder {target.parent} cannot be written to")


def _same_file(output: str, path: str) -> bool:
    """Return whether an input is the output: also by another name, a link, or the standard input."""
    if not os.path.exists(output):
        return False
    if path != STANDARD:
        return os.path.exists(path) and os.path.samefile(output, path)
    try:
        number = standard_input().fileno()
    except (InputError, io.UnsupportedOperation):  # closed, or not a file: another program has replaced it
        return False
    return os.path.samestat(os.stat(output), os.fstat(number))
