"""Errors and warnings as one line on standard error, and the exit code of the command."""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from diverse_rule_sets.sources._errors import InputError as InputError

DATA_ERROR, USAGE_ERROR, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
# A warning of scikit-learn about small tables; the figures are correct nevertheless.
_IGNORED_WARNING = "y_pred contains classes not in y_true"
_MAX_MESSAGE = 4000  # characters: a name in a file may have any length
# Errors of the standard output: errors of other outputs have a file name.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EBADF)


class UsageError(InputError):
    """An error in the arguments of a command."""

    exit_code = USAGE_ERROR


@contextmanager
def option_errors(parameters: Iterable[str]) -> Iterator[None]:
    """Turn an error about a parameter, whose text begins with its name, into a usage error about the option."""
    try:
        yield
    except InputError:  # its text begins with the name of a file
        raise
    except (ValueError, TypeError) as error:
        name = str(error).split(" ", 1)[0].split("[", 1)[0]
        if name not in parameters:
            raise
        message = str(error).replace(name, "--" + name.replace("_", "-"), 1)
        for name, noun in (("X", "the table"), ("y", "the target")):
            message = message.replace(f"{name} does not have", f"{noun} does not have")
        message = re.sub(r"by the parameter (\w+)", lambda found: f"with --{found[1].replace('_', '-')}", message)
        raise UsageError(message) from error


def run_safely(app: typer.Typer, arguments: list[str]) -> int:
    """Run the command and return its exit code; print an error as one line."""
    debug = "--debug" in arguments or bool(os.environ.get("DRS_DEBUG"))
    with warnings.catch_warnings(), _exit_on_termination():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", message=_IGNORED_WARNING)
        warnings.showwarning = _show_warning
        if isinstance(sys.stdout, io.TextIOWrapper):  # escape characters that its encoding cannot represent
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            command = typer.main.get_command(app)
            code = _invoke(command, arguments)
            sys.stdout.flush()
            return code
        except BaseException as error:
            if debug and not isinstance(error, SystemExit):
                _print_traceback()
            code = _print_error(error)
            _flush_stdout()
            return code


def _invoke(command: Any, arguments: list[str]) -> int:
    """Run the command; return its exit code if it ends without an error, as after printing the help."""
    try:
        with command.make_context("drs", arguments) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _print_traceback() -> None:
    for line in traceback.format_exc().splitlines():
        sys.stderr.write(f"{escape_unprintable(line)}\n")


def _print_error(error: BaseException) -> int:
    """Print an error as one line, unless it needs no message, and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else DATA_ERROR
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.write("drs: interrupted\n")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        _discard_stdout()
        return BROKEN_PIPE
    format_message = getattr(error, "format_message", None)  # only errors of the argument parser have it
    if format_message is not None:
        print_message(f"{_lower(format_message())} {_help_hint(error)}")
        return USAGE_ERROR
    print_message(_error_text(error))
    return error.exit_code if isinstance(error, InputError) else DATA_ERROR


def _error_text(error: BaseException) -> str:
    """Return the text of an error for users who do not know Python."""
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS and not error.filename:
        return f"cannot write the standard output: {failure_text(error)}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, InputError | ValueError | TypeError | ImportError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this table"
    return f"unexpected {type(error).__name__}: {error} (set DRS_DEBUG=1 for the details, and please report it)"


def failure_text(error: OSError) -> str:
    """Return why an output cannot be written."""
    return "it is closed" if error.errno == errno.EBADF else str(error.strerror or error)


def print_message(message: str, level: str = "error") -> None:
    """Print a message on standard error, always as one line of printable characters; a very long one is cut."""
    text = " ".join(message.split())
    text = text if len(text) <= _MAX_MESSAGE else f"{text[: _MAX_MESSAGE - 200]} ... {text[-200:]}"
    sys.stderr.write(f"drs: {level}: {escape_unprintable(text)}\n")
    sys.stderr.flush()


def escape_unprintable(text: str) -> str:
    """Return the text with control characters and invisible characters escaped, as in a Python string."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _lower(message: str) -> str:
    message = message.rstrip(".")
    return message[:1].lower() + message[1:]


def _help_hint(error: BaseException) -> str:
    context = getattr(error, "ctx", None)
    return f"(see {context.command_path if context is not None else 'drs'} --help)"


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning of the library, with options instead of parameters in its advice."""
    print_message(str(message).replace("in binning or required", "with --binning or --required"), "warning")


def _flush_stdout() -> None:
    """Write the rest of the buffer; if that fails too, discard it.

    Python flushes the standard output once more when it ends. If that fails, it prints a second message and changes the
    exit code to 120.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _discard_stdout()


def _discard_stdout() -> None:
    """Discard the rest of the output; otherwise Python prints another error when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


@contextmanager
def _exit_on_termination() -> Iterator[None]:
    """Turn the signal SIGTERM into an exception, as SIGINT is, so that unfinished files are removed."""

    def stop(number: int, _: Any) -> NoReturn:
        raise SystemExit(128 + number)

    try:
        previous = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # only the main thread can handle signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
