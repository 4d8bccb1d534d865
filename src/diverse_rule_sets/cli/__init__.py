"""The command `drs`: learn, show, predict, evaluate, explain, report and export rules from a terminal.

All reading and writing of files is here; the work is done by the public names of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code.

    Parameters
    ----------
    arguments : the words after `drs`; by default those that the process was given

    Returns
    -------
    int : 0 all is well; 1 a table, a model or a file is not as it should be; 2 the command was not understood;
        130 interrupted; 141 the reader of a pipe went away

    Examples
    --------
    >>> from diverse_rule_sets.cli import main
    >>> main(["--version"])  # doctest: +ELLIPSIS
    drs ...
    0
    """
    if not all(map(_is_there, ("typer", "rich", "polars"))):
        sys.stderr.write("drs: error: the command line needs an extra: pip install 'diverse-rule-sets[cli]'\n")
        return 1
    from diverse_rule_sets.cli._app import app
    from diverse_rule_sets.cli._errors import guarded

    return guarded(app, sys.argv[1:] if arguments is None else list(arguments))


def _is_there(name: str) -> bool:
    """Tell whether a package is installed, without the time that its import takes."""
    try:
        return find_spec(name) is not None
    except ImportError:
        return False
