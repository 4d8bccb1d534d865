"""The code of a page: executed block by block, with shared variables, in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import shutil
import tempfile
import traceback
import warnings
import weakref
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


class CodeError(Exception):
    """Code of a page fails, or does not fail although the page says so."""


def is_aligned(printed: str) -> bool:
    """Return whether a text is a table of columns, whose lines must not wrap; rules and sentences may."""
    lines = printed.splitlines()
    return sum(bool(re.search(r"\S {2,}\S", line)) for line in lines) * 2 > len(lines)


class PageCode:
    """The variables of a page and its folder."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {"__name__": "__page__"}
        self.folder = Path(tempfile.mkdtemp())
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._number = 0
        for file in DATA.glob("*.csv"):
            shutil.copy(file, self.folder)

    def next_number(self) -> int:
        """Count the files of the page."""
        self._number += 1
        return self._number

    def execute(self, code: str, place: str, raises: str | None) -> str:
        """Execute code in the folder of the page and return what it prints."""
        printed = io.StringIO()
        name = f"<{place}>"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(code, name, "exec"), self.variables)
        except Exception as error:
            if raises != type(error).__name__:
                raise CodeError(traceback.format_exc()) from error
            print(f"{type(error).__name__}: {error}", file=printed)
        else:
            if raises:
                raise CodeError(f"the code does not raise {raises}")
        finally:
            os.chdir(before)
        return printed.getvalue().rstrip("\n")
