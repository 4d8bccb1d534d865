"""Errors about files and other sources of tables."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class InputError(ValueError):
    """An error that the user can correct, in a table, a model or a file; its text is one line."""

    exit_code = 1  # of the command drs


def optional(module: str, purpose: str) -> Any:
    """Import a module of an optional package; the error says what needs it, and how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.split(".", maxsplit=1)[0]
        raise ImportError(
            f"{purpose} needs {package}; install the extra: pip install 'diverse-rule-sets[files]'"
        ) from None
