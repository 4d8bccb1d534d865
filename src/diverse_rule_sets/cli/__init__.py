"""The command `drs`: learn, show, predict, evaluate, explain, report and export rules from a terminal.

This folder reads and writes the files, and calls the public functions of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from diverse_rule_sets.cli._streams import replace_closed_streams

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : the arguments after `drs`; by default those of the process

    Returns
    -------
    int : 0 success; 1 an error in a table, a model or a file; 2 an error in the arguments; 130 interrupted;
        141 the reader of a pipe has closed it

    Examples
    --------
    >>> from diverse_rule_sets.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    drs ...
    0
    """
    with replace_closed_streams():
        if not all(map(_is_installed, ("typer", "rich", "polars"))):
            sys.stderr.write("drs: error: the command line needs an extra: pip install 'diverse-rule-sets[cli]'\n")
            return 1
        from diverse_rule_sets.cli._app import app
        from diverse_rule_sets.cli._errors import run_safely

        return run_safely(app, sys.argv[1:] if arguments is None else list(arguments))


def _is_installed(name: str) -> bool:
    """Return whether a package is installed, without importing it, which takes time."""
    try:
        return find_spec(name) is not None
    except ImportError:
        return False
