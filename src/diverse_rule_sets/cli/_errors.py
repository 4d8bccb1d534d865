"""Where errors become one line and an exit code: the last to hear of anything that goes wrong."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

DATA_ERROR, USAGE_ERROR, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
# What scikit-learn says of small tables; the figures are right all the same.
_HUSHED = "y_pred contains classes not in y_true"
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class InputError(Exception):
    """Something that the user can mend, in one line: a table, a model, a file."""

    exit_code = DATA_ERROR


class UsageError(InputError):
    """A command that was not understood."""

    exit_code = USAGE_ERROR


@contextmanager
def naming_options(parameters: Iterable[str]) -> Iterator[None]:
    """Turn the refusal of a parameter, which begins with its name, into one of the option: it is not the table."""
    try:
        yield
    except (ValueError, TypeError) as error:
        name = str(error).split(" ", 1)[0].split("[", 1)[0]
        if name not in parameters:
            raise
        said = str(error).replace(name, "--" + name.replace("_", "-"), 1)
        raise UsageError(said.replace("X does not have", "the table does not have")) from error


def guarded(app: typer.Typer, arguments: list[str]) -> int:
    """Run the commands; whatever happens, return an exit code and say at most one line."""
    debug = "--debug" in arguments or bool(os.environ.get("DRS_DEBUG"))
    with warnings.catch_warnings(), _terminable():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", message=_HUSHED)
        warnings.showwarning = _show_warning
        if isinstance(sys.stdout, io.TextIOWrapper):  # what the terminal cannot show, it is told in other characters
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            command = typer.main.get_command(app)
            with command.make_context("drs", arguments) as context:
                command.invoke(context)
            sys.stdout.flush()
            return 0
        except BaseException as error:
            if debug and not isinstance(error, SystemExit | typer.Exit):
                traceback.print_exc()
            code = _told(error)
            _empty_stdout()
            return code


def _told(error: BaseException) -> int:
    """Say in one line what went wrong, if that needs saying, and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else DATA_ERROR
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.write("drs: interrupted\n")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        _let_go_of_stdout()
        return BROKEN_PIPE
    told = getattr(error, "format_message", None)  # what the parser of the command line raises
    if told is not None:
        complain(f"{_lower(told())} {_where_help_is(error)}")
        return USAGE_ERROR
    complain(words(error))
    return error.exit_code if isinstance(error, InputError) else DATA_ERROR


def words(error: BaseException) -> str:
    """Say what an error means to someone who does not read Python."""
    if isinstance(error, OSError) and error.errno in _FULL and not error.filename:  # all other outputs have a name
        return f"cannot write the standard output: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, InputError | ValueError | TypeError | ImportError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this table"
    return f"unexpected {type(error).__name__}: {error} (set DRS_DEBUG=1 for the details, and please report it)"


def complain(message: str, what: str = "error") -> None:
    """Say one line on the error stream, whatever the message holds."""
    sys.stderr.write(f"drs: {what}: {visible(' '.join(message.split()))}\n")
    sys.stderr.flush()


def visible(text: str) -> str:
    """Write characters that a terminal would act on, or that cannot be seen, as Python would in a string."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _lower(message: str) -> str:
    message = message.rstrip(".")
    return message[:1].lower() + message[1:]


def _where_help_is(error: BaseException) -> str:
    context = getattr(error, "ctx", None)
    return f"(see {context.command_path if context is not None else 'drs'} --help)"


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    complain(str(message), "warning")


def _empty_stdout() -> None:
    """Write what is still in the buffer; where that fails too, drop it.

    Python flushes the standard output once more when it ends. If that fails, it prints a second message and changes the
    exit code to 120.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _let_go_of_stdout()


def _let_go_of_stdout() -> None:
    """Send what is still to be written nowhere: or else Python complains when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a termination unwind like an interruption, so that unfinished files are cleared away."""

    def stop(number: int, _: Any) -> NoReturn:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # signals belong to the main thread; elsewhere they are left as they are
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
